"""Refusals told as a state: what is past its time, was rightly charged, was had once already.

Refuses to be asked first: it is consulted only about statements in which nothing else was found.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import KEPT, REFUSED, RULE
from .words import Is, each

_TERMS = each("window period tim deadlin limit term right")
_LAPSED = ("closed", "passed", "over", "expired", "ended", "lapsed", "up", "out", "past", "elapsed")
_COSTS = each("fee charg interest penalti amount sum")
_ACCORDING = (["in", "lin"], ["accord", "to"], ["as", "agre"], ["under", "term"])
_USED = ("used", "had", "received")
_YOURS = each("yours your it that one")
_NO = each("not no never if")
_TRIGGERS = _TERMS | _COSTS | {"us", "hav", "you"}


def barred(clause: Clause, found: set[str]) -> None:
    """Adds the refusal that the clause tells as a state."""
    row = clause.row
    if _TRIGGERS.isdisjoint(row) or clause.hyp < len(row) or clause.hedged or not _NO.isdisjoint(row):
        return
    if _lapsed(clause):
        found.add(REFUSED)
    elif not _COSTS.isdisjoint(row) and _due(clause):
        found.add(KEPT)
    elif row[:2] == ["you", "hav"] and _had(clause):
        found.add(RULE)


def _lapsed(clause: Clause) -> bool:
    """As in "the window for disputes has closed", "the time for that is up"."""
    row = clause.row
    at = next((at for at, word in enumerate(row[:3]) if word in _TERMS), 9)
    if at < 3 and len(row) > 2 and any(token.text == "ran" for token in clause.words[1:-1]):
        return "out" in row  # "the time for a dispute ran out in June"
    if at > 2 or clause.words[-1].text not in _LAPSED or len(row) < 3:
        return False
    return not {"hav", "is", "are", "was"}.isdisjoint(row[at + 1 :]) and "you" not in row[:1]


def _due(clause: Clause) -> bool:
    """As in "the fee was rightly charged", "it was charged in line with the terms"."""
    row = clause.row
    charged = any(token.text in ("charged", "levied", "booked", "due", "correct") for token in clause.words)
    if not charged or row[0] in ("i", "we") or any(token.kind is Is.DATE for token in clause.words):
        return False
    if any(row[at : at + 2] in _ACCORDING for at in range(1, len(row) - 1)):
        return True
    return any(token.text in ("rightly", "correctly", "properly", "rightfully", "lawfully") for token in clause.words)


def _had(clause: Clause) -> bool:
    """As in "you have used yours", "you've had one this year"."""
    row = clause.row
    return (
        len(row) < 9
        and clause.words[2:3] != []
        and clause.words[2].text in _USED
        and row[3:4] != []
        and row[3] in _YOURS
    )
