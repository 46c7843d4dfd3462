"""What was given away and is back, told in other ways than by a finished verb.

Refuses to be asked first: see `events.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import MODAL
from .records import MONEYS, THINGS
from .words import Is, each

_BACKWARD = each("com go flow travel return find")
_FETCHED = ("got", "called", "fetched", "brought", "pulled", "had", "held")
STILL = each("not never no nothing still pending wil")
OBJECTS = THINGS | each("it that those them one al both you earlier first later full whol")


def got_back(clause: Clause) -> bool:
    """As in "I got it back for you", "I've called the transfer back"."""
    row, words = clause.row, clause.words
    at = 2 if row[1:2] == ["hav"] else 1
    if row[0] not in ("i", "we") or "back" not in row[at + 1 : at + 6] or row[at + 1 : at + 2] in (["you"], ["to"]):
        return False
    return words[at].text in _FETCHED and not OBJECTS.isdisjoint(row[at + 1 : row.index("back", at + 1)])


def has_back(clause: Clause) -> bool:
    """As in "you have your USD 35 back", "you have the money in your account now"."""
    row = clause.row
    if MONEYS.isdisjoint(row[2:5]) and not any(token.kind is Is.AMOUNT for token in clause.words[2:5]):
        return False
    if not STILL.isdisjoint(row) or not MODAL.isdisjoint(row):
        return False
    return row[-1] == "back" or "back" in row[3:6] or (clause.now and row[-2:] == ["in", "account"])


def goes_back(row: list[str]) -> bool:
    """As in "the difference goes back to your card", "the money come back to you"."""
    if "back" not in row[1:]:
        return False
    at = row.index("back", 1)
    before = row[:at]
    return (
        row[at - 1] in _BACKWARD
        and not MONEYS.isdisjoint(before)
        and MODAL.isdisjoint(before)
        and STILL.isdisjoint(before)
        and row[at + 1 : at + 2] in (["to"], ["on"], ["onto"], [])
    )


def get_back(clause: Clause) -> bool:
    """As in "so that you get back USD 132"."""
    row = clause.row
    at = row.index("get") if "get" in row else 0
    return (
        at > 0
        and row[at - 1] == "you"
        and "back" in row[at + 1 : at + 6]
        and any(token.kind is Is.AMOUNT for token in clause.words[at:])
        and MODAL.isdisjoint(row[:at])
        and STILL.isdisjoint(row[:at])
    )
