"""What kind of message it is, before its clauses are read one by one: does it check, and where does it ask for a go?

Refuses to look at values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .checking import NAMES, points
from .clauses import Clause
from .consents import PLEAS, consents_to
from .lexicon import QUESTION_WORDS
from .moods import CHECKED, UNSURE, checks, tag
from .phrases import Span
from .readings import MINE, plans, plans_it
from .recalling import framed, names_it, wishes
from .words import each

_WOULD_YOU = ["would", "you", "lik"]
WHAT_YOU = ["is", "that", "what", "you"]
_NOTED = each("dates date nam surnam number detail spel address email")
_BE = each("is was would")
_NOTHING = frozenset[str]()


@dataclass(slots=True)
class Frame:
    """What is known of the clauses of a message as a whole; lists have an entry for each clause."""

    tags: list[str]
    pointing: list[bool]
    checked: list[bool]
    consents: list[bool]
    wished: list[bool]
    """Where it tells what the customer wants."""
    checking: bool = False
    sure: bool = False
    """It asks whether a request is restated rightly."""
    sentence: int = -1
    """The sentence that is one check: "do I understand correctly that …?"."""
    sure_at: int = -1
    """The last sentence with a tag in it: "…, is that right?"."""
    others: tuple[int, ...] = ()
    """Where something else than what was asked for is wished."""
    about: frozenset[str] = _NOTHING
    """The facts that its checks name."""


def frame_of(heard: Sequence[Clause], found: Sequence[list[Span]]) -> Frame:
    """The frame of a message.

    Args:
        heard: its clauses.
        found: the facts that each of them names.
    """
    size = len(heard)
    out = Frame([""] * size, [False] * size, [False] * size, [False] * size, [False] * size)
    for at, clause in enumerate(heard):
        if clause.question:
            told = out.tags[at] = tag(clause)
            if told == CHECKED:
                out.sure_at = clause.sentence
            out.pointing[at] = points(clause)
            out.checked[at] = told == CHECKED or checks(clause, told) or _names(heard, found, at)
        elif "check" in clause.labels:
            out.checked[at] = checks(clause, "")
    if True in out.pointing or True in out.checked:
        out.checking = True
        out.about = _about(heard, found, out)
    for at, clause in enumerate(heard):
        if clause.question and clause.row[0] == "it" and wishes(clause):
            out.checking = True  # "it's the fee that you want to have refunded?"
        if clause.sentence != out.sentence and framed(clause) and QUESTION_WORDS.isdisjoint(clause.row):
            out.sentence = clause.sentence
            out.checking = out.sure = True
        out.wished[at] = wishes(clause)
        if clause.question or "consent" in clause.labels or not PLEAS.isdisjoint(clause.row):
            out.consents[at] = _asks_leave(heard, at, out)
    return out


def _asks_leave(heard: Sequence[Clause], at: int, out: Frame) -> bool:
    """Whether the clause asks for a go-ahead, in the light of those before it."""
    clause = heard[at]
    row = clause.row
    leave = clause.sentence != out.sentence and not out.pointing[at] and consents_to(clause)
    if leave and row[:4] == WHAT_YOU and True in out.wished and not any(map(plans, heard)):
        leave, out.checking = False, True  # "you'd like to move it. Is that what you want?"
    told = leave and row[0] in ("is", "are") and not _NOTED.isdisjoint(row) and "if" not in row
    if told and not any(map(plans, heard)):
        leave, out.checking = False, True  # "… are both dates fine?"
    if leave and row[0] == "you" and at and "me" not in row:  # "if I understand you well, you want to cancel?"
        leave = heard[at - 1].sentence != clause.sentence or "check" not in heard[at - 1].labels
    if leave and "instead" in row and "you" in row[:3] and not clause.values:
        leave = not MINE.isdisjoint(row)  # "would you like to move it instead?"
        out.others += () if leave else (at,)
    if clause.question and not leave:
        if row == ["yes"] or out.tags[at] == UNSURE:
            leave = any(plans(earlier) for earlier in heard[: at + 1] if earlier.sentence + 1 >= clause.sentence)
            out.checking = out.checking or (not leave and row != ["yes"])
        elif row[:3] == _WOULD_YOU and row[3:] in (["it"], ["that"]):
            leave = any(map(plans_it, heard[:at]))
    return leave


def _names(heard: Sequence[Clause], found: Sequence[list[Span]], at: int) -> bool:
    clause = heard[at]
    if not clause.capitals or clause.row[0] not in _BE:
        return False
    earlier = at > 0 and heard[at - 1].sentence == clause.sentence and _named(found[at - 1])
    return names_it(clause, found[at], earlier)


def _about(heard: Sequence[Clause], found: Sequence[list[Span]], out: Frame) -> frozenset[str]:
    asking = {c.sentence for at, c in enumerate(heard) if c.question and (out.checked[at] or out.pointing[at])}
    return frozenset(
        span.means.fact
        for at, clause in enumerate(heard)
        if found[at] and clause.sentence in asking
        for span in found[at]
        if not span.means.loose
    )


def _named(found: Sequence[Span]) -> bool:
    return any(span.means.fact in NAMES for span in found)
