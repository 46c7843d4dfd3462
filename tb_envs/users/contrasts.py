"""Whether a wish that is restated goes against the wish that was uttered: "smaller" for "better", "more" for "back".

Refuses to look at the kind of request: that is `requests.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from .phrases import stem_set
from .words import each

_AXES = tuple(
    (stem_set(one), stem_set(other))
    for one, other in (
        (
            "better bigger larger upgrade suite deluxe superior nicer higher finer",
            "smaller cheaper cheap downgrade simpler simple basic worse lower modest",
        ),
        ("later longer extend after", "earlier early sooner shorter before"),
        ("back return release fewer less drop cancel", "more additional extra another further add"),
        ("missing miss lack absent", "book buy purchase spend redeem"),
        ("remove drop twice duplicate", "add third another"),
    )
)
_THINGS = tuple(
    stem_set(words)
    for words in (
        "minibar drinks drink",
        "restaurant dinner lunch meal bar",
        "spa massage sauna wellness",
        "laundry ironing",
        "parking garage",
        "breakfast",
        "film movie television tv",
        "taxi shuttle transfer",
        "wifi internet",
        "pet dog cat",
        "damage broken",
        "no-show noshow",
    )
)
_ELSEWISE = stem_set("stock refill restock replenish deactivate")
_STARTS = stem_set("book reserve order close open make hire rent buy purchase refill restock replenish complain delete")
_BOOKED = stem_set("booked reserved hired rented")
_NEWLY = each("new booking order another room tabl")
_WANT = each("lik want wish need lov")
_STAYS = frozenset(("remain", "untouch", "keep", "stai"))
_ENDS_STAY = frozenset(("as", "where", "in", "right", "okai", "correct", "and", "untouch", "so", "it", "is"))
_ALL = each("both all al everything")
_WHICH = stem_set("first second later earlier other last")


def contrary(mine: Set[str], theirs: Set[str]) -> bool:
    """Whether `theirs` names the opposite of what `mine` names, or another thing of the same kind."""
    for one, other in _AXES:
        for here, there in ((one, other), (other, one)):
            if mine & here and not mine & there and theirs & there and not theirs & here:
                return True
    meant = [words for words in _THINGS if mine & words]
    named = [words for words in _THINGS if theirs & words]
    return bool(meant and named) and not any(theirs & words for words in meant)


def elsewise(mine: Set[str], rows: Iterable[Sequence[str]]) -> bool:
    """Whether a wish is told that begins something which was never spoken of: a new booking, an order."""
    for row in rows:
        if not _ELSEWISE.isdisjoint(row) and mine.isdisjoint(_ELSEWISE):
            return True
        for at, word in enumerate(row):
            if word == "fil" and row[at + 1 : at + 2] == ["up"] and mine.isdisjoint(_ELSEWISE):
                return True
            if word in _WANT:
                if not _BOOKED.intersection(row[at + 2 : at + 7]) <= mine:
                    return True  # "you want a second night booked"
                to = next((near for near in range(at + 1, min(at + 4, len(row))) if row[near] == "to"), 0)
                verb = row[to + 1] if to and to + 1 < len(row) else ""
                if (
                    verb in _STARTS
                    and verb not in mine
                    and (verb != "mak" or not _NEWLY.isdisjoint(row[to + 2 : to + 5]))
                ):
                    return True
    return False


def claims(rows: Iterable[Sequence[str]]) -> set[str]:
    """The stems of the rows, without what is said to stay as it is."""
    out: set[str] = set()
    for row in rows:
        left = set[int]()
        for at, word in enumerate(row):
            if word in _STAYS and (word != "stai" or at + 1 == len(row) or row[at + 1] in _ENDS_STAY):
                lo = max(0, at - 3)
                lo = at if not _ALL.isdisjoint(row[lo:at]) else lo  # "we drop the later one or both stay"
                span = range(at + 1, min(at + 4, len(row))) if word == "keep" else range(lo, at)
                left.update(near for near in span if row[near] in _WHICH)
        out.update(word for at, word in enumerate(row) if at not in left)
    return out
