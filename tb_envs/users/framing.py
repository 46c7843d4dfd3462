"""What kind of message it is, before its clauses are read one by one: does it check, and where does it ask for a go?

Refuses to look at values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .checking import NAMES, points
from .clauses import Clause, trails
from .consents import PLEAS, consents_to
from .grasping import (
    CHECKING,
    FRAMES,
    FRAMING,
    STATING,
    called_it,
    cleft,
    framed,
    grasp,
    grasped,
    matched,
    named_for,
    polar,
    prelude,
    states,
    trailing,
    what_you_want,
    wishes,
)
from .lexicon import ACTION_OF, QUESTION_WORDS
from .moods import CHECKED, TAGS_ON, TO_BE, UNSURE, checks, tag
from .parting import HOLDING, holds
from .phrases import Span
from .readings import MINE, plans, plans_it
from .recalling import names_it
from .recognising import RECOGNISING, recognises
from .values import NUMBERS
from .words import Is, each

_WOULD_YOU = ["would", "you", "lik"]
WHAT_YOU = ["is", "that", "what", "you"]
_TOLD_US = each("tel say claim mean report describ complain disput")
_NOTED = each("dates date nam surnam number detail spel address email")
_TAGGING = TO_BE | each("can could would")
_BE = each("is was would")
_OFFERED = each("i we me us or instead rather another")
_ACCEPTED = each("is are that both all everything it okai alright fin good agre do you so")
_SHOWN = each("see system screen record fil not")
_IS_IT = ["is", "it"]
_IT_IS = ["it", "is"]
_IN_MIND = ["in", "mind"]
_IS_ABOUT = ["is", "about"]
_POINTED = each("it that so")
_PROCEEDING = each("proceed ahead continu accept agre confirm know hear see go pay")
_ARE_YOU = ["are", "you"]
_POINTERS = each("it that they what there all")
_ENTITLED = each("authoris allow entitl")
_NOTHING = frozenset[str]()
_SURNAME = frozenset(("surname",))


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
    grasps, named = set[int](), False
    for at, clause in enumerate(heard):
        if clause.question:
            if not RECOGNISING.isdisjoint(clause.row):
                clause.recognises = recognises(clause)
                if clause.recognises:
                    clause.labels = {}
                    continue
            told = out.tags[at] = tag(clause) or _tagged_on(heard, at)
            if told == CHECKED:
                out.sure_at = clause.sentence
                if grasp(clause):
                    grasps.add(clause.sentence)
            elif trailing(heard, at):
                grasps.add(clause.sentence)
            out.pointing[at] = points(clause)
            out.checked[at] = told == CHECKED or checks(clause, told) or matched(clause) or _names(heard, found, at)
            if clause.row[0] in STATING and not out.checked[at]:
                out.checked[at] = states(clause, found[at])
            if clause.row[0] in CHECKING:
                out.checked[at] = out.checked[at] or cleft(clause) or polar(clause) or called_it(clause)
                if named_for(clause):
                    out.checked[at] = named = True
            if out.checked[at] and clause.labels.get("goal", 0) > 1 and "what" not in clause.row[:2]:
                del clause.labels["goal"]  # "four is what you have in mind, right?"
        elif clause.row[0] == "check" and clause.polite and any(c.values for c in heard[at : at + 3]):
            out.checked[at] = True  # "please check: booking BK-1, arrival 3 May"
        elif "check" in clause.labels:
            out.checked[at] = checks(clause, "") or matched(clause)
    if True in out.pointing or True in out.checked:
        out.checking = True
        out.about = _about(heard, found, out) | (_SURNAME if named else _NOTHING)
    for at, clause in enumerate(heard):
        row = clause.row
        wished = out.wished[at] = wishes(clause) if "you" in row else row[1:3] == _IS_ABOUT and row[0] in _POINTERS
        if clause.question and wished and row[0] == "it":
            out.checking = True  # "it's the fee that you want to have refunded?"
        elif clause.question and row[:2] == _IT_IS and "should" in row and "that" in row:
            out.checking = out.sure = out.checked[at] = True  # "so it's the older one that should go?"
        elif clause.question and wished and row[:2] == _IS_IT and not clause.values and "that" in row:
            out.checking = out.sure = out.checked[at] = True  # "is it one more night that you'd like?"
        if clause.sentence != out.sentence and (
            clause.sentence in grasps
            or (
                (row[0] in FRAMING or "if" in row[1:4])
                and (
                    ((clause.question or row[0] in FRAMES) and framed(clause) and QUESTION_WORDS.isdisjoint(row))
                    or (at + 1 < size and heard[at + 1].sentence == clause.sentence and grasped(heard, at))
                )
            )
        ):
            out.sentence = clause.sentence
            out.checking = out.sure = True
        if clause.question and ((wished and _restates(heard, found, at, out.wished)) or what_you_want(clause)):
            out.sentence = clause.sentence
            out.checking = out.sure = True
        if (
            clause.question
            and clause.row[:4] == WHAT_YOU
            and (True in out.wished[:at] or row[-2:] == _IN_MIND or not _TOLD_US.isdisjoint(clause.row[4:]))
            and not any(map(plans, heard))
        ):
            out.checking = out.sure = out.checked[at] = True  # "you'd like to move up. Is that what you ask for?"
        if clause.question or "consent" in clause.labels or not PLEAS.isdisjoint(clause.row):
            out.consents[at] = _asks_leave(heard, at, out)
    return out


def _tagged_on(heard: Sequence[Clause], at: int) -> str:
    """As in "you stayed five nights, did you?", "Ms Berg, is it?": a tag on a clause with a value in it."""
    row = heard[at].row
    if len(row) != 2 or not at or row[0] not in _TAGGING or row[1] not in TAGS_ON:
        return ""
    before = heard[at - 1]
    if before.sentence != heard[at].sentence:
        return ""
    if "not" in before.row:
        before.question = before.question or before.row[0] == "you"  # "you don't have your booking number, do you?"
        return ""
    told = before.values or len(before.capitals) > 1 or any(token.text in NUMBERS for token in before.words)
    return CHECKED if told else ""


def _asks_leave(heard: Sequence[Clause], at: int, out: Frame) -> bool:
    """Whether the clause asks for a go-ahead, in the light of those before it."""
    clause = heard[at]
    row = clause.row
    if clause.recognises:
        return False
    if clause.question and not HOLDING.isdisjoint(row) and (held := holds(clause)) >= 0:
        clause.labels["wait"] = held  # "could I put you on hold?"
        return False
    leave = clause.sentence != out.sentence and not out.pointing[at] and consents_to(clause)
    if leave and row[:2] == _ARE_YOU and row[2:3] != [] and row[2] in _ENTITLED:
        leave = False  # "are you authorised to act for him?"
    if leave and (
        row[-1] in QUESTION_WORDS or _completed(clause) or (row[:2] == ["do", "you"] and clause.words[0].text == "did")
    ):
        leave = False  # "it would go back to the card ending in...?", "did you pay for both?"
    if leave and row[:4] == WHAT_YOU and True in out.wished and not any(map(plans, heard)):
        leave, out.checking = False, True  # "you'd like to move it. Is that what you want?"
    told = leave and row[0] in ("is", "are") and not _NOTED.isdisjoint(row) and "if" not in row
    if told and not any(map(plans, heard)):
        leave, out.checking = False, True  # "… are both dates fine?"
    if clause.question and len(row) < 5 and _ACCEPTED.issuperset(row) and at and _tells_values(heard[:at]):
        leave, out.checking = False, True  # "Card 4417, booking BK-90001. Okay?"
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


def _completed(clause: Clause) -> bool:
    """As in "it would go back to the card ending in...?"."""
    row = clause.row
    if row[-2:-1] == ["end"] or row[-1] in ("until", "til"):
        return trails(clause)
    return row[-1] in ("is", "are") and row[-2] not in _POINTERS and trails(clause)


def _restates(heard: Sequence[Clause], found: Sequence[list[Span]], at: int, wished: Sequence[bool]) -> bool:
    """As in "just so I get it: you want the fee back?", "you want the fee back?"."""
    clause = heard[at]
    row = clause.row
    if "you" not in row or not QUESTION_WORDS.isdisjoint(row) or row[-1] in ("until", "til"):
        return False
    you = row.index("you")
    if not _OFFERED.isdisjoint(row[you:]):
        return False
    if you:
        return prelude(row[:you])  # "in other words you want to add rooms?"
    before = at - 1
    while before >= 0 and wished[before] and heard[before].sentence == clause.sentence:
        before -= 1
    if before >= 0 and heard[before].sentence == clause.sentence:
        return not (found[before] or heard[before].question) and prelude(heard[before].row)
    if clause.values or len(row) < 4 or row[-1] in _POINTED:
        return False
    if row[1] in ("want", "wish") and row[2:3] != ["to"]:
        return True
    return _PROCEEDING.isdisjoint(row) and not any(map(plans, heard[:at]))


def _tells_values(heard: Sequence[Clause]) -> bool:
    """Whether an id, an address or what the records show is told, and nothing planned."""
    told = False
    for clause in heard:
        if not ACTION_OF.keys().isdisjoint(clause.row) or plans(clause):
            return False
        told = told or (bool(clause.colons) and bool(clause.values or clause.capitals) and len(clause.row) < 6)
        kinds = [clause.words[place].kind for place in clause.values]
        told = told or Is.ID in kinds or Is.EMAIL in kinds or (bool(kinds) and not _SHOWN.isdisjoint(clause.row))
    return told


def _names(heard: Sequence[Clause], found: Sequence[list[Span]], at: int) -> bool:
    clause = heard[at]
    if not clause.capitals or clause.row[0] not in _BE:
        return False
    earlier = at > 0 and heard[at - 1].sentence == clause.sentence and _named(found[at - 1])
    return names_it(clause, found[at], earlier)


def _about(heard: Sequence[Clause], found: Sequence[list[Span]], out: Frame) -> frozenset[str]:
    asking = {
        c.sentence
        for at, c in enumerate(heard)
        if (c.question or c.row[0] == "check") and (out.checked[at] or out.pointing[at])
    }
    return frozenset(
        span.means.fact
        for at, clause in enumerate(heard)
        if found[at] and clause.sentence in asking
        for span in found[at]
        if not span.means.loose
    )


def _named(found: Sequence[Span]) -> bool:
    return any(span.means.fact in NAMES for span in found)
