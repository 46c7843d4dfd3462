"""What a question that names no fact outright, or the caller, asks for, in the light of what was said before it.

Refuses to find facts: that is `wanting.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .associating import hollow
from .checking import NAMES, are_you
from .clauses import Clause
from .lexicon import TITLES
from .phrases import Span, stem_set, stems
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
_WHICH = (["which", "one"], ["what", "is", "your"], ["what", "are", "they"], ["what", "is", "it"], ["how", "is"])
"""As in "I need a booking number. Which one?", "there is a number on it: what is yours?"."""


_ENDING = each("is was it and")
_DATED = each("dates new_dates arrival departure")
_AND = each("and so then but")
_KINDS = {
    "number": ("phone", "loyalty", "member", "booking", "group"),
    "address": ("email", "phone"),
    "addres": ("email", "phone"),
    "date": ("birth_date",),
    "digit": ("card",),
}
"""Of what kind of thing a fact is: "which number", "which date"."""
_CHOIRS = stem_set("choir choirs club team ensemble orchestra band association delegation society group party")
_SPEAKING = stem_set("speak talk chat deal")
_AFTER_NAME = each("himself herself in on who that i or and from yourself correct right")
_SELF = each("himself herself")
_ON_LINE = stem_set("writing calling line")
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


def _of_that_kind(heard: Sequence[Clause], found: Sequence[list[Span]], at: int) -> list[tuple[str, bool]]:
    """As in "I have to compare the phone number. Which number did you leave with us?"."""
    row, last = heard[at].row, heard[at - 1]
    lo = 1 if row[0] in _AND else 0
    if row[lo : lo + 1] not in (["which"], ["what"]) or row[lo + 1 : lo + 2] == [] or last.values or last.question:
        return []
    thing = row[lo + 1]
    if thing not in _KINDS or heard[at].dets[lo + 1] or any(not span.means.loose for span in found[at]):
        return []
    if thing == "number" and row[lo + 2 : lo + 3] == ["of"]:
        return []
    named = [s.means.fact for s in found[at - 1] if not s.means.loose and s.means.fact in _KINDS[thing]]
    return [(named[-1], False)] if len(set(named)) == 1 else []


def _which_group(heard: Sequence[Clause], at: int, facts: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """As in "A choir, how nice! Which one?", "three choirs are here: which is yours?"."""
    clause = heard[at]
    row = clause.row
    to = row.index("which")
    follow = row[to + 1 : to + 2]
    mine = follow in ([], ["one"]) or (follow == ["is"] and row[to + 2 : to + 3] in (["you"], ["your"], ["it"]))
    mine = mine and (follow != ["one"] or to + 2 == len(row) or row[to + 2] in _ENDING or to + 2 in clause.commas)
    if not mine or ("group", False) in facts or row[to + 2 : to + 3] == ["would"]:
        return facts
    near = [earlier for earlier in heard[max(0, at - 2) : at] if not _CHOIRS.isdisjoint(earlier.row)]
    return [("group", False), *facts] if near and "or" not in near[-1].row else facts


def _to_person(clause: Clause) -> bool:
    """As in "are you Mr Berg?", "is it you who are Mr Berg?", "do I have Mr Berg himself on the line?"."""
    row = clause.row
    if row[:2] == ["are", "you"]:
        return clause.question
    if not clause.question and row[:2] != ["you", "are"]:
        return False
    name = next(at for at, word in enumerate(row) if word in TITLES) + 1
    if name + 1 < len(row) and name + 1 not in clause.commas and row[name + 1] not in _AFTER_NAME:
        return row[:2] == ["are", "you"] and clause.question  # "you are Mr Berg's assistant?"
    if "are" in row and "you" in row:
        to = row.index("are")
        return not TITLES.isdisjoint(row[to + 1 : to + 3])
    if "i" in row and not _SPEAKING.isdisjoint(row):
        return True
    return not _SELF.isdisjoint(token.text for token in clause.words) or (
        not _ON_LINE.isdisjoint(row[2:]) and row[name - 2] != "to"
    )


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
            and (not s.means.loose or (said is found[at - 1] and last.row[s.lo : s.lo + 1] == ["number"] and s.lo < 4))
            and ("alternative" not in labels or not _USING.isdisjoint(row) or "one" in row or _receives(row))
            and _POINTING.intersection(row)
            and not checking
        ]
    if at and clause.question and not (facts or leave or found[at]) and row[0] == "which":
        facts = _which_one(heard, found, at)
    if at and clause.question and not leave:
        facts = _of_that_kind(heard, found, at) or facts
    if at and "which" in row and "group" in known.groups and not leave:
        facts = _which_group(heard, at, facts)
    if facts and row[:2] == ["are", "you"] and clause.question and are_you(set(row)):
        facts = [fact for fact in facts if fact[0] not in NAMES] or [("caller", False)]
    if not TITLES.isdisjoint(row) and _to_person(clause) and any(value.group == "caller" for value in known.values()):
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
    if clause.question and not facts and row[-2:] == ["new", "one"] and len(row) < 5 and at:
        dated = any(span.means.fact in _DATED for span in found[at - 1])
        facts = [("new_dates", False)] if dated else facts  # "The old dates I have. And the new ones?"
    if row in _WHICH and at:
        before = found[at - 1] if "are" in row else found[at - 1][-1:]
        facts = [(span.means.fact, False) for span in before if not span.means.loose] or facts
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
