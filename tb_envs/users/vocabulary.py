"""A domain's `Vocabulary` and the generic facts as one searchable tree, built once per domain.

Refuses to know any persona: it answers which facts a phrase may ask for, best first, and how each is
said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tb_envs.authoring.persona import Fact, Vocabulary

from .facts import GENERIC, IDENTIFYING
from .phrases import Node, grow, rows

_PLAIN = Fact("", (), ("It's {value}.", "{value}."))
_COMMON = frozenset("booking number stay date day room card account name order ticket case charge policy claim item".split())


class Mention(NamedTuple):
    """What a phrase stands for: a fact, and whether the phrase asks for it only loosely."""

    fact: str
    loose: bool


class Compiled:
    """The facts by name, the tree of phrases, and what stands in for an unknown fact."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.tree: Node = {}
        self.facts: dict[str, Fact] = {}
        self.alias: dict[str, str] = {}
        self.else_: dict[str, tuple[str, ...]] = {}
        own = {fact.name: fact for fact in vocabulary.facts}
        for fact in own.values():
            self._teach(fact.name, fact.asked_as)
            self.facts[fact.name] = fact
        for generic in GENERIC:
            name = generic.fact.name
            self._teach(name, generic.fact.asked_as)
            self._teach(name, generic.loosely, loose=True)
            self.facts[name] = merged(generic.fact, own[name]) if name in own else generic.fact
            self.else_[name] = generic.else_
            for other in generic.names:
                if other in own:  # a domain's own fact, and a stand-in for the generic one
                    self.else_[name] = (*self.else_[name], other)
                    self.facts[other] = merged(generic.fact, own[other])
                elif other not in self.facts:
                    self.alias.setdefault(other, name)
        for fact in own.values():
            if not fact.asked_as:
                self._teach(fact.name, (fact.name.replace("_", " "),))

    def _teach(self, name: str, phrases: str | Sequence[str], loose: bool = False) -> None:
        teach(self.tree, name, phrases, loose)

    def group(self, known_as: str) -> str:
        """The fact that a persona's own word for it belongs to."""
        return known_as if known_as in self.facts else self.alias.get(known_as, known_as)

    def fact(self, known_as: str) -> Fact:
        """How that fact is asked for and said."""
        return self.facts.get(self.group(known_as), _PLAIN)


def teach(tree: Node, name: str, phrases: str | Sequence[str], loose: bool = False) -> None:
    """Teach `tree` the phrases of a fact; "X number" also as "number of X"."""
    listed: tuple[str, ...] = (phrases,) if isinstance(phrases, str) else tuple(phrases)
    for phrase in listed:
        for row in sorted(rows(phrase)):
            lone = len(row) == 1 and row[0] in _COMMON and name != "name"
            grow(tree, row, Mention(name, loose or lone))
            if len(row) == 2 and not loose and "of" not in row:
                for between in ("of", "for", "on"):
                    grow(tree, (row[1], between, row[0]), Mention(name, False))


def merged(generic: Fact, own: Fact) -> Fact:
    """The generic fact with what the domain's own sets."""
    return Fact(own.name, own.asked_as, own.said_as or generic.said_as, own.kind if own.kind != "text" else generic.kind, own.values)


def identifying(fact: Fact) -> bool:
    """Whether it serves to identify a customer in general."""
    return fact.kind in IDENTIFYING


_RECENT: list[tuple[Vocabulary | None, Compiled]] = []


def compiled(vocabulary: Vocabulary | None) -> Compiled:
    """The compiled form of `vocabulary`, made once per vocabulary object."""
    for known, result in _RECENT:
        if known is vocabulary:
            return result
    result = Compiled(vocabulary or Vocabulary())
    _RECENT.insert(0, (vocabulary, result))
    del _RECENT[32:]
    return result
