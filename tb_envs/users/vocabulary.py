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
from .spelling import DROPPED
from .words import each, stem, tokens

_PLAIN = Fact("", (), ("It's {value}.", "{value}."))
_COMMON = each("booking number stay date day room card account name order ticket case charge policy claim item")


CODE = "code"
"""The fact that is a code and nothing else: no other number answers for it."""
CODES = each("code codes passcode passcodes")


class Mention(NamedTuple):
    """What a phrase stands for.

    `loose`: it asks for the fact only next to a question word or a request. `rivals`: other facts of the
    domain that share the phrase but for its exact words ("reservation code" beside "booking number").
    `coded`: the phrase speaks of a code, which "number" is not always; `plain`: what it means without one.
    """

    fact: str
    loose: bool = False
    rivals: tuple[tuple[tuple[str, ...], str], ...] = ()
    coded: bool = False
    plain: Mention | None = None

    def among(self, words: Sequence[str]) -> Mention:
        """The meaning of these exact words."""
        for rival, fact in self.rivals:
            if list(rival) == list(words):
                return Mention(fact, self.loose)
        return self


class Compiled:
    """The facts by name, the tree of phrases, and what stands in for an unknown fact."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.tree: Node = {}
        self.facts: dict[str, Fact] = {}
        self.alias: dict[str, str] = {}
        self.else_: dict[str, tuple[str, ...]] = {}
        own = {fact.name: fact for fact in vocabulary.facts}
        for fact in own.values():
            self.facts[fact.name] = fact
            for rival in teach(self.tree, fact.name, fact.asked_as or (fact.name.replace("_", " "),)):
                self._stands_in(rival, fact.name)
                self._stands_in(fact.name, rival)
        for generic in GENERIC:
            name = generic.fact.name
            teach(self.tree, name, generic.fact.asked_as)
            teach(self.tree, name, generic.loosely, loose=True)
            self.facts[name] = merged(generic.fact, own[name]) if name in own else generic.fact
            for other in generic.else_:
                self._stands_in(name, other)
            for other in generic.names:
                if other in own:  # a domain's own fact, and a stand-in for the generic one
                    self._stands_in(name, other)
                    self._stands_in(other, name)
                    self.facts[other] = merged(generic.fact, own[other])
                elif other not in self.facts:
                    self.alias.setdefault(other, name)
        for fact in own.values():
            if "_" not in fact.name:
                teach(self.tree, fact.name, (fact.name,), loose=True)

    def _stands_in(self, name: str, other: str) -> None:
        self.else_[name] = (*self.else_.get(name, ()), other)

    def means(self, words: Sequence[str]) -> str:
        """The fact that the words name outright; empty: none."""
        node: Node | None = self.tree
        for word in words:
            node = node.get(stem(word)) if node else None
        mention: Mention | None = node.get(None) if node else None
        return mention.fact if mention and not mention.loose else ""

    def group(self, known_as: str) -> str:
        """The fact that a persona's own word for it belongs to."""
        return known_as if known_as in self.facts else self.alias.get(known_as, known_as)

    def fact(self, known_as: str) -> Fact:
        """How that fact is asked for and said."""
        return self.facts.get(self.group(known_as), _PLAIN)


def teach(tree: Node, name: str, phrases: str | Sequence[str], loose: bool = False) -> list[str]:
    """Teach `tree` the phrases of a fact; "X number" also as "number of X"; returns the facts it rivals."""
    listed: tuple[str, ...] = (phrases,) if isinstance(phrases, str) else tuple(phrases)
    rivals: list[str] = []
    for phrase in listed:
        coded = name == CODE and "code" in phrase
        for row in sorted(rows(phrase)):
            lone = len(row) == 1 and row[0] in _COMMON and name != "name"
            mention = Mention(name, loose or lone, coded=coded and "number" in row)
            node = grow(tree, row, mention)
            there: Mention = node[None]
            if there.coded and there.fact != name:
                node[None] = there._replace(plain=there.plain or mention)
                continue
            if there.fact != name and "(" not in phrase:
                exact = tuple(token.text for token in tokens(phrase) if token.stem and token.text not in DROPPED)
                node[None] = there._replace(rivals=(*there.rivals, (exact, name)))
                rivals.append(there.fact)
            if len(row) == 2 and not loose and "of" not in row:
                for between in ("of", "for", "on"):
                    grow(tree, (row[1], between, row[0]), Mention(name))
    return rivals


def merged(generic: Fact, own: Fact) -> Fact:
    """The generic fact with what the domain's own sets."""
    kind = own.kind if own.kind != "text" else generic.kind
    return Fact(own.name, own.asked_as, own.said_as or generic.said_as, kind, own.values)


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
