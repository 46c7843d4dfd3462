"""How a thing stands now that was asked for: the limit is USD 9,500, the money is available, the case is with others.

Refuses deeds and refusals: see `outcomes.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import AVAILABLE, PRICES
from .lexicon import THIRD
from .records import DATA, THINGS
from .words import Is, each

CASES = each("case request claim matter question decid issu refund point ticket answer outcom")
JUDGING = each("decid decision answer review verdict approv investig examin assess rul look consid result")
_STATES = each("is are hav run start begin end last appli work stand")
LYING = each("park is are li lie lay rest sit stai wait rest remain")
_MATTERS = CASES | each("cancel chang modifi upgrad wish complaint bil")
_WISHES = each("wish request cas claim matter fil complaint")
_USING = each("us pay send withdraw spend transfer draw shop")
_GETTING = each("get receiv")
_AROUND = each("quiet busi late lat earli warm cold hot rain dark calm night morning evening time winter summer spring")
_TO_THEM = (["them"], ["him"], ["her"])


def stands_so(clause: Clause) -> bool:
    """As in "the limit is now USD 9,500.00", where nothing but the deed that was asked for leads to it."""
    row = clause.row
    return (
        row[0] not in ("i", "we", "they", "he", "she", "nobodi", "noon", "someon", "let", "what", "so", "here", "there")
        and not ("hav" in row[1:] and not _has(row))
        and row[:3] != ["you", "are", "at"]
        and row[:4] != ["it", "is", "up", "to"]
        and not handed(clause)
        and (DATA.isdisjoint(row) or not THINGS.isdisjoint(row[:4]))
        and "not" not in row
        and not _STATES.isdisjoint(row)
        and _of_a_request(clause)
        and not ("last" in row and "nam" in row)
        and not any(
            token.text.endswith("ing") and token.text not in ("booking", "parking", "standing")
            for token in clause.words
        )
        and not PRICES.intersection(row[:4])
        and not any(word in AVAILABLE and row[at + 1 : at + 2] != ["of"] for at, word in enumerate(row))
    ) or _to_hand(clause)


def _to_hand(clause: Clause) -> bool:
    """As in "the USD 8,000 is available now", "you can now send up to USD 9,500 a day"."""
    row = clause.row
    if row[:2] == ["you", "can"]:
        return row[2:3] != [] and row[2] in _USING and "not" not in row and "by" not in row
    if clause.now and row[0] not in ("i", "we", "you") and not _GETTING.isdisjoint(row[1:4]):
        return any(token.kind is Is.AMOUNT or token.text == "usd" for token in clause.words)  # "they now get USD 925"
    return (
        row[-1] in AVAILABLE
        and row[-2:-1] == ["is"]
        and len(row) < 7
        and any(token.kind is Is.AMOUNT or token.text in ("money", "usd") for token in clause.words[:-2])
    )


def _of_a_request(clause: Clause) -> bool:
    """Whether what is so now is a thing that requests are about: not "the system is fine now", "it's quiet now"."""
    row = clause.row
    at = next((at for at, word in enumerate(row) if at and word in _STATES), 0)  # not the "standing order"
    if row[:1] == ["it"] and not _AROUND.isdisjoint(row[at:]):
        return False
    return row[0] == "you" or not THINGS.isdisjoint(row[:at]) or any(place < at for place in clause.values)


def _has(row: list[str]) -> bool:
    """Whether what has something is a thing of a request: "the bill now has no fee", not "they have it now"."""
    if row[0] == "you":
        return "should" in row
    if row[row.index("hav", 1) - 1] == "you":
        return False  # "the dates you have now were confirmed in May"
    return not THINGS.isdisjoint(row[: row.index("hav", 1)])


def handed(clause: Clause) -> bool:
    """As in "your request is with our bookings team"."""
    row = clause.row
    if "with" not in row:  # "the refund is at head office now"
        at = row.index("at") if "at" in row else 0
        rest = row[at + 1 : at + 4]
        there = at > 1 and row[at - 1] in LYING and row[at - 2] in _MATTERS
        return there and "desk" not in rest and not THIRD.isdisjoint(rest)
    at = row.index("with")
    if not at or row[at - 1] not in LYING:
        return False
    if row[0] in ("i", "we") and not (clause.commas and max(clause.commas) <= at - 2 > 1):
        return False
    rest = row[at + 1 :]
    if row[at - 1] == "park" and _MATTERS.isdisjoint(row[:at]):
        return False
    return (
        not THIRD.isdisjoint(rest[:3])
        or rest[:1] == ["housekeep"]
        or (
            (rest[:1] in _TO_THEM or rest[:1] == ["for"])
            and (not _WISHES.isdisjoint(row) or not JUDGING.isdisjoint(rest))
        )
    )
