"""Whether a wish that is restated goes against the wish that was uttered: "smaller" for "better", "more" for "back".

Refuses to look at the kind of request: that is `requests.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from .phrases import stem_set

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
_STAYS = frozenset(("remain", "untouch", "keep", "stai"))
_ENDS_STAY = frozenset(("as", "where", "in", "right", "okai", "correct", "and", "untouch", "so", "it", "is"))
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


def claims(rows: Iterable[Sequence[str]]) -> set[str]:
    """The stems of the rows, without what is said to stay as it is."""
    out: set[str] = set()
    for row in rows:
        left = set[int]()
        for at, word in enumerate(row):
            if word in _STAYS and (word != "stai" or at + 1 == len(row) or row[at + 1] in _ENDS_STAY):
                span = range(at + 1, min(at + 4, len(row))) if word == "keep" else range(max(0, at - 3), at)
                left.update(near for near in span if row[near] in _WHICH)
        out.update(word for at, word in enumerate(row) if at not in left)
    return out
