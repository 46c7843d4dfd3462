"""Is a request that the agent restates the one that was made?

Refuses to speak: it gives a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence

from .contrasts import claims, contrary, elsewise
from .heard import Understood
from .lexicon import ACTION_OF
from .phrases import stem_set
from .requests import MAIN, Errand, content_of, differs

_WANTING = stem_set("want wish like to be have it the")
_BETTER = stem_set("better bigger larger higher nicer suite deluxe superior")


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
    main = heard.actions & MAIN
    if main == {"change"} and "upgrade" in mine and any(not _BETTER.isdisjoint(row) for row in rows):
        main = {"upgrade"}  # "you'd like to be moved to a better room"
    if main:
        other = not main & mine and (bool(mine & MAIN) or not shared)
    else:
        other = bool(heard.actions) and not heard.actions & mine and not shared
    said = claims(rows)
    if not other and not (main and main & mine):
        other = all(differs(errand.words, said) for errand in named)
    other = other or any(ACTION_OF[word] in mine for row in rows if "not" in row for word in _denied(row))
    other = other or all(contrary(errand.words, said) for errand in named)
    if not other and any("both" in row for row in rows):
        other = all(differs(errand.words, {"both"}) for errand in named)
    other = other or elsewise(set[str]().union(*(errand.words for errand in named)), rows)
    if heard.valued and not heard.actions & mine and not shared and not other and not heard.wishes:
        return "unknown"
    return "corrected" if other else "confirmed"
