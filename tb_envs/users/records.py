"""Whether a deed was done to a piece of data, and not to what was asked for.

Refuses to say what was asked for: a corrected name is an end where the name was the request, see `verdicts.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .phrases import stem_set
from .words import Is, each

DATA = stem_set(
    "name surname spelling address phone number detail details data information particulars entry correction identity"
    " verification birthday birth reason cause message enquiry inquiry contact preference mistake error field draft"
    " description statement remark profile postcode caller check entries typo search lookup authentication spelling"
    " examination holder note notes comment memo form concern"
)
"""What is kept, checked and put right on the way."""
_SOFT = stem_set("correction entry error mistake entries preference statement check reason examination note holder")
"""Data that are the thing itself where the clause names it: "the correction of your bill"."""
THINGS = stem_set(
    "booking stay room rooms night nights fee charge charges amount sum refund money credit invoice receipt folio bill"
    " parking upgrade suite dates deposit difference rate cancellation change upgrade checkout breakfast points"
    " overcharge reimbursement item items minibar payment departure arrival hour voucher extension group block"
    " duplicate"
    " limit card transfer order hold dispute mandate compensation balance overdraft penalty replacement freeze"
    " one first second request it that everything all they them both those these"
)
"""What requests are about."""
_FIGURES = (Is.AMOUNT, Is.DATE, Is.TIME, Is.ID)
GOODS = THINGS - each("it that they them both al everything one first second those")
MONEYS = stem_set(
    "refund money amount sum credit points nights fund difference reimbursement usd fee cash deposit cent compensation"
)
_STOPS = each("to in on for from with under at as by into of off onto via that which who so and because than")
_EVERY = each("all al both")
_PEOPLE = each("you us me yourself")
_AUX = each("is are was were hav been be get wil")


def object_of(clause: Clause, at: int) -> list[str]:
    """The words of the thing that the past form at `at` was done to: its subject in the passive, else its object."""
    row = clause.row
    first = next((here for here in range(at) if row[here] in _AUX), at)
    active = row[:1] in (["i"], ["we"]) or not first or row[first - 1] in ("i", "we", "she", "he", "they")
    if first < at and not active:
        start = max((comma for comma in clause.commas if comma <= first), default=0)
        start = start if start < first else 0
        found: list[str] = []
        for word in row[start:first]:
            if word in _STOPS:
                if found:
                    break
                continue
            found.append(word)
        return found
    end = min((comma for comma in clause.commas if comma > at), default=len(row))
    for here in range(at + 1, end):
        if row[here] in _STOPS and row[here] != "that":
            return row[at + 1 : here]
    return row[at + 1 : end]


def strange(clause: Clause, at: int) -> bool:
    """As in "I've moved your call", "the tariff board was changed": nothing that requests are about."""
    thing = object_of(clause, at)
    thing = [word for word in thing if word not in _EVERY] or thing
    if not thing or not THINGS.isdisjoint(thing) or not _PEOPLE.isdisjoint(thing):
        return False
    if any(clause.words[near].kind in _FIGURES for near in clause.values):
        return False
    return GOODS.isdisjoint(clause.row[at + 1 : at + 6])


def of_data(clause: Clause, at: int) -> bool:
    """As in "the address has been updated", "I've corrected the name in my notes"."""
    thing = object_of(clause, at)
    thing = [word for word in thing if word not in _EVERY] or thing
    named = DATA.intersection(thing)
    if not named or not THINGS.isdisjoint(thing):
        return False
    return named.isdisjoint(_SOFT) or THINGS.isdisjoint(clause.row[:at] + clause.row[at + 1 :])
