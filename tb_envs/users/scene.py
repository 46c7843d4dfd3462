"""A clause under examination: what is held against what the customer knows, and what came of it.

Refuses to read values: that is the business of `restating.py`, `dating.py` and `naming.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .clauses import Clause
from .phrases import Span
from .values import Value, Values
from .words import each

_ANY = each("any every each")
_RULES = each(
    "groups rates policy policies tariff tariffs rule rules regular standard desk office bar pool restaurant"
    " housekeeping breakfast reception season contract contracts agreement cancellation changes departures arrivals"
    " terms visitors customers families children everybody everyone anybody anyone people travellers"
)
_FREE = (["free", "until"], ["free", "til"], ["free", "befor"], ["free", "up"])
_FILES = each("record system file data list book side end screen database computer note log register ledger folio")
_SHOWS = each("show list say count record hav")
_SHOWN = each("see hav find show")
_SEEN = each("was were count say read")
_SEERS = each("i it we there record system")
"""As in "it was only 4 nights", "I count only 4 nights": no rule."""
_OWN = each("booking stay")


class Restated:
    """Facts that were restated rightly and wrongly, and (position, cents) of every amount."""

    __slots__ = ("amounts", "right", "wrong")

    def __init__(self) -> None:
        self.right: list[str] = []
        self.wrong: list[str] = []
        self.amounts: list[tuple[int, int]] = []


@dataclass(slots=True)
class Scene:
    """A clause under examination. `asking`: silence about a wrong value would confirm it or consent to it."""

    clause: Clause
    found: list[Span]
    known: Values
    checking: bool
    asking: bool
    out: Restated
    named: dict[str, Span]
    """The facts it names, and where."""
    about: frozenset[str]
    """The facts that a check of the message names."""

    def names(self, value: Value) -> bool:
        """Whether the clause names the fact."""
        return value.group in self.named

    def judge(self, value: Value, is_right: bool, is_wrong: bool) -> None:
        """Note the fact as right, else as wrong, else not at all."""
        if is_right:
            self.out.right.append(value.fact)
        elif is_wrong:
            self.out.wrong.append(value.fact)


def deed(clause: Clause) -> bool:
    """A past deed has a date of its own: "your booking was cancelled on 3 March"."""
    return any(token.text.endswith("ed") or token.text in ("paid", "made", "sent") for token in clause.words)


def denied(row: list[str], at: int) -> bool:
    """As in "four nights, not five", "not for 5", "rather than 5"."""
    return "not" in row[max(0, at - 2) : at] or row[max(0, at - 2) : at] in (["rather", "than"], ["instead", "of"])


def impersonal(clause: Clause) -> bool:
    """Whether it tells a rule, a tariff or the hours of a desk, not what this customer has or wants."""
    row = clause.row
    if not _ANY.isdisjoint(row) or any(row[at : at + 2] in _FREE for at in range(len(row) - 1)):
        return True
    if "your" in clause.dets or "you" in row:
        return False
    if _SHOWS.isdisjoint(row) and any(det == "our" and row[at] not in _FILES for at, det in enumerate(clause.dets)):
        return True  # "our weekly pass is good for 7 nights"
    seen = not _SHOWN.isdisjoint(row) or (row[0] in _SEERS and row[1:2] != [] and row[1] in _SEEN)
    rule = clause.usual or (clause.general and not seen)
    return rule or clause.words[0].text == "guests" or any(token.text in _RULES for token in clause.words)


def personal(clause: Clause) -> bool:
    """Whether it speaks of the customer, or of the customer's booking."""
    return "your" in clause.dets or "you" in clause.row or not _OWN.isdisjoint(clause.row)
