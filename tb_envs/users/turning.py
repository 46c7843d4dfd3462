"""What a question that names no fact outright, or the caller, asks for, in the light of what was said before it.

Refuses to find facts: that is `wanting.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .associating import hollow
from .checking import NAMES, are_you
from .clauses import Clause
from .phrases import Span, stems
from .scene import Restated
from .values import Values
from .wishing import question_word
from .words import each

_NOTING = frozenset(stems("put write enter note record select state say"))
_POINTING = each("it that them both me one")
_USING = each("use enter note")
_ANAPHORS = each("it them that")
_CALLING = each("cal reach ring phone callback")
_NOT_POINTING = each("else goal whole")
_COUNTS = ("rooms", "nights", "guests")
_AFTER_MANY = each("would do should shal can may of you i we in al are is wil")
_TITLES = each("mr mrs ms miss dr")
_WHICH = (["which", "one"], ["what", "is", "your"], ["what", "are", "they"], ["what", "is", "it"], ["how", "is"])
"""As in "I need a booking number. Which one?", "there is a number on it: what is yours?"."""


_MAY = each("may can could might")
_LEFT = each(
    "which one of them that is are do did you your leav with us giv use book enter put regist hav at in on by under for"
    " when then to stat provid me here we should shal look tri go"
)
"""What a question consists of that asks for one of several values: "which one did you leave with us?"."""
_APART = frozenset(
    stems("apart differ difference distinguish identify identifies insist by via with search sort match")
)


def _receives(row: Sequence[str]) -> bool:
    """As in "may I have it?"."""
    return row[0] in _MAY and row[1:2] in (["i"], ["we"]) and "hav" in row[2:4]


def _which_one(heard: Sequence[Clause], found: Sequence[list[Span]], at: int) -> list[tuple[str, bool]]:
    """As in "the only thing that tells them apart is the e-mail. Which one is yours?"."""
    row, last = heard[at].row, heard[at - 1]
    if row[0] != "which" or not _LEFT.issuperset(row) or len(row) < 3 or _APART.isdisjoint(last.row):
        return []
    named = [s for s in found[at - 1] if not s.means.loose]
    if not named or "same" in last.row[named[-1].lo - 1 : named[-1].lo] or last.question:
        return []
    return [(named[-1].means.fact, False)]


def turned(
    heard: Sequence[Clause],
    found: Sequence[list[Span]],
    at: int,
    facts: list[tuple[str, bool]],
    mood: bool,
    leave: bool,
    checking: bool,
    values: Restated,
    known: Values,
) -> list[tuple[str, bool]]:
    """What the clause at `at` asks for, after all.

    Args:
        heard: all clauses of the message.
        found: the facts that each of them names.
        at: the clause's place.
        facts: what it seems to ask for.
        mood: it asks for something to be told.
        leave: it asks for a go-ahead.
        checking: the message checks something.
        values: what the clause restates; nothing is left of it where only the caller is asked for.
        known: the customer's values.
    """
    clause = heard[at]
    labels, row = clause.labels, clause.row
    if (
        mood
        and at
        and not (facts or found[at] or leave)
        and len(row) < 14
        and _NOT_POINTING.isdisjoint(labels)
        and hollow(clause)
    ):
        said, last = found[at - 1], heard[at - 1]
        if last.row[0] in ("that", "which") and at > 1 and heard[at - 2].sentence == last.sentence:
            said = found[at - 2]  # "the number …, and that you received by mail. Could I have it?"
        if not said and at > 1 and not _ANAPHORS.isdisjoint(last.row) and not last.question:
            said = found[at - 2]  # "It is under the same e-mail, but I can't see it. Would you type it out?"
        facts = [
            (s.means.fact, False)
            for n, s in enumerate(said)
            if not (n + 1 < len(said) and said[n + 1].lo == s.hi and s.hi not in last.commas)  # "your four-digit PIN"
            and (not s.means.loose or (said is found[at - 1] and last.row[s.lo :] == ["number"]))
            and ("alternative" not in labels or not _USING.isdisjoint(row) or "one" in row or _receives(row))
            and _POINTING.intersection(row)
            and not checking
        ]
    if at and clause.question and not (facts or leave or found[at]) and row[0] == "which":
        facts = _which_one(heard, found, at)
    if facts and row[:2] == ["are", "you"] and clause.question and are_you(set(row)):
        facts = [fact for fact in facts if fact[0] not in NAMES] or [("caller", False)]
    titled = clause.question and row[:2] == ["are", "you"] and not _TITLES.isdisjoint(row)
    if titled and any(value.group == "caller" for value in known.values()):
        facts, values.right, values.wrong = [("caller", False)], [], []
    if facts == [("caller", False)] and "what" in row:
        values.right, values.wrong = [], []  # "what are you to him, his wife?"
    if clause.question and row[-2:] == ["you", "are"] and len(row) < 4:
        facts = [("caller", False)]
    if row[:2] == ["how", "mani"] and not facts and (len(row) == 2 or row[2] in _AFTER_MANY):
        named = [s.means.fact for spans in found for s in spans if s.means.fact in _COUNTS]
        facts = [(fact, True) for fact in named[:1] or _COUNTS]
    if ("name", False) in facts and "that" in row and row[row.index("that") + 1 :][:1] == ["nam"]:
        meant = [s.means.fact for s in found[at - 1] if at and "nam" in heard[at - 1].row[s.lo : s.hi]]
        facts = [(meant[-1], False) if meant and fact == ("name", False) else fact for fact in facts]
    if row in _WHICH and at:
        last = found[at - 1] if "are" in row else found[at - 1][-1:]
        facts = [(span.means.fact, False) for span in last if not span.means.loose] or facts
    if ("booking", True) in facts and any(_CALLING.intersection(other.row) for other in heard) and "number" in row:
        facts = [("phone", False) if fact == ("booking", True) else fact for fact in facts]
    if (
        clause.question
        and not facts
        and not leave
        and at
        and "you" not in row
        and _NOTING.intersection(row)
        and question_word(clause, 0)
    ):
        outright = [span for span in found[at - 1] if not span.means.loose] or found[at - 1]
        facts = [(span.means.fact, False) for span in outright[-1:]]  # "a reason is needed. What shall I put?"
    return facts
