"""Is a request that the agent restates the one that was made?

Refuses to speak: it gives a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence

from .contrasts import claims, contrary, elsewise, replaces
from .heard import Understood
from .lexicon import ACTION_OF
from .phrases import stem_set
from .requests import MAIN, Errand, content_of, differs, swapped
from .words import each

_WANTING = stem_set("want wish like to be have it the")
_RISES = frozenset(("upgrade", "extend"))
_WANTED = (["do", "you", "want"], ["would", "you", "lik"])
_POINTED = (["that"], ["it"])
_ELSE = stem_set(
    "instead alternatively rather but other another voucher credit half part partly percent points discount coupon"
)
_BETTER = stem_set("better bigger larger higher nicer suite deluxe superior")
_PAIRS = {
    ("cal", "off"): "cancel",
    ("want", "out"): "cancel",
    ("rid", "of"): "cancel",
    **{(size, "room"): "upgrade" for size in each("different bigger better nicer larger smaller quieter cheaper")},
}
"""Actions that two words tell."""


def _has(row: Sequence[str], pair: tuple[str, str]) -> bool:
    first, second = pair
    return first in row and second in row[row.index(first) + 1 : row.index(first) + 4]


def _denied(row: Sequence[str]) -> list[str]:
    """The kinds of action that are not wanted: "you want it cancelled, not moved"."""
    out: list[str] = []
    for at, word in enumerate(row):
        if word == "not":
            follow = next((near for near in row[at + 1 : at + 5] if near not in _WANTING), "")
            if follow in ACTION_OF:
                out.append(follow)
    return out


def restated_request(named: Sequence[Errand], heard: Understood) -> str:
    """`confirmed`, `corrected`, or `unknown` where only a value is told that no request speaks of.

    Args:
        named: the requests that were uttered.
        heard: the message that restates one.
    """
    mine = set[str]().union(*(errand.actions for errand in named))
    rows = [sentence.row for sentence in heard.sentences]
    theirs = content_of(word for row in rows for word in row)
    shared = any(not errand.content.isdisjoint(theirs) for errand in named)
    actions = heard.actions | {action for row in rows for pair, action in _PAIRS.items() if _has(row, pair)}
    main = actions & MAIN
    if main == {"change"} and "upgrade" in mine and any(not _BETTER.isdisjoint(row) for row in rows):
        main = {"upgrade"}  # "you'd like to be moved to a better room"
    if main:
        other = not main & mine and (bool(mine & MAIN) or not shared or (main <= _RISES and "refund" in mine))
    else:
        other = bool(actions) and not actions & mine and not shared
    said = claims(rows)
    if not other and not (main and main & mine):
        other = all(differs(errand.words, said) for errand in named)
    other = other or any(ACTION_OF[word] in mine for row in rows if "not" in row for word in _denied(row))
    other = other or (bool(named) and all(swapped(errand.words, said) for errand in named))
    other = other or all(contrary(errand.words, said) for errand in named)
    if not other and any("both" in row for row in rows):
        other = all(differs(errand.words, {"both"}) for errand in named)
    other = other or elsewise(set[str]().union(*(errand.words for errand in named)), rows)
    if heard.valued and not actions & mine and not shared and not other and not heard.wishes:
        return "unknown"
    return "corrected" if other else "confirmed"


def replaced(named: Sequence[Errand], heard: Understood) -> bool:
    """As in "we could give you a credit rather than a refund. Would you take that?"."""
    words = set[str]().union(*(errand.words for errand in named if errand.state == "open"))
    if main := heard.actions & MAIN:
        mine = MAIN & set[str]().union(*(errand.actions for errand in named if errand.state == "open"))
        if mine and not main & mine and heard.sentences[-1].row[:3] in _WANTED:
            return True  # "do you want it moved?", of somebody who would cancel
    return replaces(words, [sentence.row for sentence in heard.sentences])


def offers_it(named: Sequence[Errand], heard: Understood) -> bool:
    """As in "it can be refunded as an exception. Would you like that?": what is offered was asked for."""
    if not heard.alternative or not heard.actions or heard.ends:
        return False
    last, before = heard.sentences[-1].row, [sentence.row for sentence in heard.sentences[:-1]]
    if last[-1:] not in _POINTED or len(last) > 5 or any(not _ELSE.isdisjoint(row) for row in before):
        return False
    mine = set[str]().union(*(errand.actions for errand in named if errand.state == "open"))
    return heard.actions <= mine
