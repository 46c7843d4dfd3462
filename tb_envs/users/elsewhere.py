"""Deeds by others, for others or long ago: what a past form tells beside the deed that was asked for.

Refuses to say what was asked for: that is `finishing.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import APPROVE, MONEY, TICKETS
from .lexicon import THIRD
from .phrases import stem_set
from .records import THINGS, object_of
from .words import Is, each

FUNDS = MONEY | each("usd eur gbp card account fee differenc")
_STRONG = stem_set(
    "remove cancel refund credit waive reverse delete correct strike release upgrade extend return move change reduce"
    " drop reimburse rectify fix add"
)
ACTORS = THIRD | each("housekeep recept colleagu they she he")
_MISTAKES = each("mistak mistakenli wrongli accident accidentali error twice")
CASES = TICKETS | each("claim matter complaint fil question")
_CLAIMS = stem_set("claim inquiry enquiry request case complaint dispute query investigation application ticket report")
_FORMER = each("previous former last past")
_PERSON = stem_set(
    "guest guests somebody someone group customer family party person people mr mrs ms miss lady gentleman caller"
)
_ONCE = each("onc before twic already")
_CONFIRMED = stem_set("suite upgrade cancellation refund change extension deluxe out departure release")
_WITH = each("for no at until til from to with")
_YEARS = frozenset(map(str, range(2000, 2100)))
_PERIODS = stem_set("year month week season time summer winter spring autumn years months weeks days")
_HOUSEHOLD = stem_set(
    "lift elevator sign signs flight flights garage programme programmes program programs computer system"
    " heating pool carpet wifi wi-fi restaurant kitchen website building roof door window printer"
    " server lobby lounge gym spa bar"
    " software app car weather train trains road roads menu"
)
_QUANTITIES = each("all al both one first second it that they them everything those that park")
_SOME = each("some several mani other few certain")
_BEFOREHAND = each("confirm book mak order")
_COSTLY = each("fee charg penalti suit")
_SEASONS = stem_set(
    "january february march april may june july august september october november december spring summer autumn winter"
)


def for_another(row: list[str]) -> bool:
    """As in "I cancelled a booking for another Ms Berg"."""
    at = row.index("another")
    return row[at - 1 : at] in (["for"], ["of"]) and not _PERSON.isdisjoint(row[at + 1 : at + 3])


def confirms(clause: Clause, at: int) -> bool:
    """As in "suite confirmed for your stay": a headline about the thing itself."""
    row = clause.row
    if not 0 < at < 4 or clause.words[at].text != "confirmed" or clause.dets[0] or row[0] == "booking":
        return False
    return not _CONFIRMED.isdisjoint(row[:at]) and (at + 1 == len(row) or row[at + 1] in _WITH)


def long_ago(clause: Clause, at: int) -> bool:
    """Whether something unnamed was done, or something booked or confirmed, in a month or on a day gone by."""
    row = clause.row
    once = row[at + 1 : at + 3] if row[at + 1 : at + 2] != ["before"] else row[at + 1 :] if at + 2 == len(row) else ()
    if row[0] in _FORMER or not _ONCE.isdisjoint(once):
        return True  # "your previous stay was cancelled", "it was changed once before"
    first = next((near for near in range(at) if row[near] in ("was", "were")), at)
    if once_upon(clause, first):
        return True
    if clause.dets[0] not in ("a", "an") and row[0] not in _SOME and row[at] not in _BEFOREHAND:
        return False
    return any(
        (word in ("in", "on") and (clause.words[near].kind is Is.DATE or not _SEASONS.isdisjoint(row[near : near + 2])))
        or (word in ("by", "via") and row[near] == "email")
        for near, word in enumerate(row[at + 1 : -1], at + 2)
    )


def once_upon(clause: Clause, at: int) -> bool:
    """As in "… was changed last year", "… was signed in January", "… was sent when you left": a time long gone."""
    row = clause.row
    for near in range(at + 1, len(row) - 1):
        word, follow = row[near], row[near + 1]
        if word == "in" and (follow in _SEASONS or clause.words[near + 1].text in _YEARS):
            return True
        if (word == "last" and follow in _PERIODS) or (word == "when" and follow == "you"):
            return True
        if follow == "ago" and word in _PERIODS:
            return True
    return False


def of_the_house(clause: Clause, at: int) -> bool:
    """As in "the lift has been repaired", "lots of flights were cancelled": a thing of no request."""
    thing = object_of(clause, at)
    return not _HOUSEHOLD.isdisjoint(thing) and (THINGS - _QUANTITIES).isdisjoint(thing)


def ours(clause: Clause, at: int, rest: list[str]) -> bool:
    """Whether it was done to a thing of the house, or something new was given to the thing itself."""
    if clause.dets[at + 1] == "our":
        return FUNDS.isdisjoint(rest[:3]) and _COSTLY.isdisjoint(rest[:3])
    given = clause.row[at] == "giv" and clause.dets[at + 1] in ("a", "an") and clause.row[at - 1] == "been"
    return given and "you" not in clause.row[:at] and THINGS.isdisjoint(rest[:3])


def whole_case(rest: list[str]) -> bool:
    """Whether what was handed to them is the case, or all of it."""
    return rest[1:2] in (["everything"], ["it"], ["al"], ["detail"]) or not CASES.isdisjoint(rest[:4])


def usual_deed(clause: Clause, at: int, rest: list[str]) -> bool:
    """Whether the present passive tells who does such things."""
    return clause.row[at] not in APPROVE and not clause.now and not ACTORS.isdisjoint(rest[1:5])


def by_staff(clause: Clause, at: int, rest: list[str]) -> bool:
    """As in "a colleague removed the charges this morning": a deed of one of the house, told in the plain past."""
    row = clause.row
    return (
        (row[at] in _STRONG or row[at] == "tak")
        and at > 0
        and row[at - 1] in ACTORS
        and not THINGS.isdisjoint(rest)
        and _MISTAKES.isdisjoint(row)
    )


def with_others(clause: Clause, at: int) -> bool:
    """As in "I've filed a claim for the missing nights with the loyalty office"."""
    row = clause.row
    near = next((near for near in range(at + 2, min(at + 9, len(row))) if row[near] == "with"), 0)
    return near > 0 and not THIRD.isdisjoint(row[near + 1 : near + 5]) and not _CLAIMS.isdisjoint(row[at + 1 : near])


def third(clause: Clause, at: int, rest: list[str]) -> bool:
    """Whether somebody else of the house is named after the verb; "your account" is nobody."""
    return any(
        here in THIRD and not (here == "account" and clause.dets[at + 1 + near] == "your")
        for near, here in enumerate(rest)
    )
