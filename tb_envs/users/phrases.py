"""Find known phrases in a row of stems, in one pass, whatever their number.

Refuses to weigh what it finds: overlaps and moods are the business of the callers.

A phrase is written as plain words with alternatives: `"(can|could) (|not) you"`. Determiners and
fillers are dropped from phrases and from what is heard alike, so "could you please just" is "could you".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

from .spelling import DROPPED
from .words import tokens


class Span(NamedTuple):
    """A phrase found at stems `lo` to `hi` (exclusive), and what it stands for."""

    lo: int
    hi: int
    means: Any


Node = dict[Any, Any]
"""stem → node; the key `None` holds what a phrase that ends here stands for."""


def stems(text: str) -> list[str]:
    """The stems of an author's words, prepared as heard words are."""
    return [token.stem for token in tokens(text) if token.stem and token.text not in DROPPED]


def stem_set(listed: str) -> frozenset[str]:
    """The stems of a list of words."""
    return frozenset(stem for word in listed.split() for stem in stems(word))


def rows(pattern: str) -> set[tuple[str, ...]]:
    """`"(a|b) c"` → the rows of stems it stands for: `{("a", "c"), ("b", "c")}`."""
    parts: list[list[tuple[str, ...]]] = []
    rest = pattern
    while rest:
        head, found, rest = rest.partition("(")
        if head.strip():
            parts.append([tuple(stems(head))])
        if found:
            inner, _, rest = rest.partition(")")
            parts.append(list(dict.fromkeys(tuple(stems(part)) for part in inner.split("|"))))
    return {tuple(chain.from_iterable(choice)) for choice in product(*parts)} - {()}


def said_aloud(pattern: str) -> str:
    """The first of the wordings that a phrase stands for: `"(|what|which) phone number"` → `"phone number"`."""
    return " ".join(re.sub(r"\(([^|)]*)[^)]*\)", r"\1", pattern).split())


def grow(root: Node, row: Sequence[str], means: Any) -> Node:
    """Teach `root` a row of stems; the first meaning of a row stays. Returns the row's last node."""
    node = root
    for word in row:
        node = node.setdefault(word, {})
    node.setdefault(None, means)
    return node


def compiled(phrases: Mapping[str, Sequence[str]]) -> Node:
    """Label → phrases, as one tree; what ends at a node is a tuple of labels."""
    root: Node = {}
    for label, patterns in phrases.items():
        listed: set[tuple[str, ...]] = set()
        for row in sorted(listed.union(*map(rows, patterns))):
            node = root
            for word in row:
                node = node.setdefault(word, {})
            node[None] = (*node.get(None, ()), label)
    return root


def labels_of(root: Node, row: Sequence[str]) -> dict[str, int]:
    """The labels of all phrases in `row`, overlaps included, and where each stands first."""
    found: dict[str, int] = {}
    size = len(row)
    for lo, first in enumerate(row):
        node = root.get(first)
        hi = lo + 1
        while node is not None:
            if None in node:
                for label in node[None]:
                    if label not in found:
                        found[label] = lo
            if hi == size:
                break
            node = node.get(row[hi])
            hi += 1
    return found


def longest(root: Node, row: Sequence[str], over: Node | None = None) -> list[Span]:
    """The longest phrase at each place, none overlapping; `over` is asked first where it knows as much."""
    found: list[Span] = []
    size, end = len(row), 0
    for lo, first in enumerate(row):
        if lo < end or (first not in root and (not over or first not in over)):
            continue
        end, means = lo, None
        for tree in (over, root) if over else (root,):
            node, hi = tree.get(first), lo + 1
            while node is not None:
                if hi > end and None in node:
                    end, means = hi, node[None]
                if hi == size:
                    break
                node = node.get(row[hi])
                hi += 1
        if end > lo:
            found.append(Span(lo, end, means))
    return found
