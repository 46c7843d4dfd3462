"""What one message of the agent amounts to: its sentences, and what it wants of the customer.

Refuses to understand: that is `understanding.py`, which fills this in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .contrasts import claims
from .phrases import stem_set, stems

_STAYING = stem_set("keep remain stay untouched")
_SPANS = stem_set(
    "little bit somewhat few minute minutes hour hours day days week weeks time soon you back again or until"
)
Phrase = frozenset[str]


@dataclass(slots=True)
class Sentence:
    """One sentence: its stems, whether it asks, the amounts in it, how requests end in it."""

    stems: set[str] = field(default_factory=set[str])
    row: list[str] = field(default_factory=list[str])
    open: list[str] = field(default_factory=list[str])
    """The stems of its clauses that tell no end of a request."""
    asks: bool = False
    proposes: bool = False
    closed: bool = False
    recognises: bool = False
    """It asks whether the customer recognises what is spoken of."""
    gone: bool = False
    """It tells that something is no longer to be had."""
    wishes: bool = False
    """It tells what the customer wants."""
    inquires: bool = False
    """It has a question mark."""
    paid: list[int] = field(default_factory=list[int])
    """Where something "was paid"."""
    usual: list[int] = field(default_factory=list[int])
    """Where an amount is told that holds as a rule."""
    ends: set[str] = field(default_factory=set[str])
    amounts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def offers(self, phrases: Sequence[Phrase]) -> bool:
        """Whether all words of one of the phrases stand in it where it refuses nothing."""
        heard = frozenset(self.open) if self.gone or self.ends & {"refused", "inable"} else self.stems
        if "instead" in heard or "rather" in heard:
            heard = frozenset(without_replaced(self.row)) & heard
        if not _STAYING.isdisjoint(heard):
            heard = claims([self.row]) & heard  # "keep the later one"
        if "later" in heard and _by_and_by(self.row):
            heard = heard - {"later"}
        return any(phrase <= heard for phrase in phrases)

    def has(self, phrases: Sequence[Phrase]) -> bool:
        """Whether all words of one of the phrases stand in it."""
        return any(phrase <= self.stems for phrase in phrases)


@dataclass(slots=True)
class Understood:
    """What one message of the agent amounts to."""

    sentences: list[Sentence] = field(default_factory=list[Sentence])
    asks: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    whole: bool = False
    contact: bool = False
    goal: bool = False
    checking: bool = False
    right: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    consent: bool = False
    pleads: bool = False
    """It asks for the go-ahead in other words than "you want me to …"."""
    wishes: bool = False
    """It tells what the customer wants."""
    sure: bool = False
    """"Is that correct?" about no value."""
    alternative: bool = False
    question: bool = False
    lost: bool = False
    """It asks for something, too, that is none of the customer's facts."""
    known: bool = False
    """Some of it is about business, or at least English."""
    second: bool = False
    """It asks what the further request is."""
    valued: bool = False
    """It names a value of some kind."""
    either: bool = False
    """It asks which of several things is wanted."""
    claimed: list[str] = field(default_factory=list[str])
    """Facts it names in a check, with a value or not."""
    cues: set[str] = field(default_factory=set[str])
    ends: set[str] = field(default_factory=set[str])
    actions: set[str] = field(default_factory=set[str])

    @property
    def amounts(self) -> list[int]:
        """All amounts of money, in cents, in order."""
        return [cents for sentence in self.sentences for _, cents in sentence.amounts]


def phrases(lines: Sequence[str]) -> list[Phrase]:
    """An author's phrases, each as the set of stems that must all be heard."""
    listed = [lines] if isinstance(lines, str) else lines
    return [phrase for line in listed for phrase in [frozenset(stems(line)) - {"the", "a"}] if phrase]


def _by_and_by(row: Sequence[str]) -> bool:
    """As in "a little later", "I'll call you later": no later one is meant."""
    return all(at and row[at - 1] in _SPANS for at, word in enumerate(row) if word == "later")


def without_replaced(row: Sequence[str]) -> list[str]:
    """The row without what something else takes the place of: "a balcony instead of the suite"."""
    out = list(row)
    for at in range(len(row) - 1, 0, -1):
        if (row[at - 1], row[at]) in (("instead", "of"), ("rather", "than")):
            del out[at + 1 : at + 3]
    return out
