"""Whether an offer's words are meant by other words: "at no charge" for "free of charge", "the second" for "the later".

Refuses to be asked first: it is consulted where an offer's own words are not found, and only for a sentence that
proposes something.
"""

from __future__ import annotations

from collections.abc import Sequence

from .contrasts import claims
from .heard import without_replaced
from .phrases import stem_set
from .prices import COSTS, free

_NOTHING = stem_set("no without nothing not zero never")
_BESIDES = stem_set("else more further extra additional other")
"""As in "there would be nothing else to pay": beside what was told."""
_PARTS = stem_set("only some few those which part one two three four five six rest other others remaining remain")
_SAME = tuple(
    stem_set(words)
    for words in (
        "later second newer latter recent",
        "earlier first older former",
        "drop cancel remove delete release return surrender give hand annul",
        "move shift postpone reschedule",
        "twin double",
        "cheaper cheapest lowest",
        "voucher coupon",
        "breakfast morning",
        "parking garage",
    )
)
_KEEPS = stem_set("keep stays remain remains stay kept")


def alike(phrases: Sequence[frozenset[str]], row: Sequence[str], marked: bool, pointing: bool) -> bool:
    """Whether the row says one of the phrases in other words.

    Args:
        phrases: the offer's own words.
        row: the stems of a sentence.
        marked: whether the message proposes something else than what was asked for.
        pointing: whether it asks about what a sentence before named ("Do you want it?").
    """
    kept = without_replaced(row)
    here = frozenset(claims([kept]))
    return any(_means(phrase, here, kept, marked, pointing) for phrase in phrases)


def costless(row: Sequence[str]) -> bool:
    """Whether the row speaks of something that costs nothing."""
    if free(row) or "free" in row:
        return True
    for at, word in enumerate(row):
        if word in COSTS:
            near = row[max(0, at - 3) : at + 2]
            if not _NOTHING.isdisjoint(near) and _BESIDES.isdisjoint(near):
                return True
    return False


def _means(phrase: frozenset[str], here: frozenset[str], row: Sequence[str], marked: bool, pointing: bool) -> bool:
    if "free" in phrase or not (_NOTHING.isdisjoint(phrase) or COSTS.isdisjoint(phrase)):
        partly = not _PARTS.isdisjoint(here) or any(word.isdecimal() for word in row)
        return partly and costless(row)
    if phrase <= here:
        return marked or pointing
    if not marked or not _KEEPS.isdisjoint(here):
        return False  # "keep the second" is no offer to drop it
    return all(word in here or not _class(word).isdisjoint(here) for word in phrase)


def _class(word: str) -> frozenset[str]:
    for words in _SAME:
        if word in words:
            return words
    return frozenset[str]()
