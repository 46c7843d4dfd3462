"""What the customer asked for and how each request stands.

Refuses to speak: it holds what is owed, which refusals were answered, and what comes next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tb_envs.authoring.persona import Lines, Persona, Request

from .heard import Phrase, phrases
from .lexicon import ACTION_OF, COMMON
from .phrases import stem_set, stems
from .words import each

_BOTH = frozenset(("both", "everything"))
_SINGLE = frozenset(("one", "first", "second", "later", "only", "single", "earlier"))


_EMPTY = stem_set(
    "booking stay room hotel request want wish like need right correct understand take sure confirm case guest mr mrs"
    " ask asking help please thing something today day night order contact call get"
)
_IMPLIED = {
    stem_set("better suite"): "upgrade",
    stem_set("longer later"): "extend",
    stem_set("dates"): "change",
    stem_set("twice drop duplicate"): "cancel",
    stem_set("back money"): "refund",
}
_CONCEPTS = tuple(
    stem_set(words)
    for words in (
        "cancel cancellation drop annul stop",
        "dates move reschedule postpone",
        "upgrade suite better deluxe",
        "late later extend longer out",
        "early",
        "refund money reimburse",
        "release block choir group",
        "breakfast",
        "parking car",
        "minibar",
        "dog cat pet",
        "name spelling surname",
        "points loyalty nights",
        "invoice receipt",
        "book reserve",
        "twin bed cot",
        "company corporate rate",
        "raise raised higher increase",
        "lower lowered decrease reduce",
    )
)
_MOVING = each("go put bring tak turn")
_OPPOSITE = (stem_set("first earlier"), stem_set("later second last"))
MAIN = frozenset(("cancel", "change", "upgrade", "extend"))
"""Kinds of request of which nobody means one by naming another."""


def content_of(words: Iterable[str]) -> set[str]:
    """The words that say what it is about."""
    return {word for word in words if len(word) > 2 and word.isalpha() and word not in COMMON and word not in _EMPTY}


def differs(mine: set[str], theirs: set[str]) -> bool:
    """Whether the words name another kind of thing, or the other one of two."""
    if swapped(mine, theirs):
        return True
    if not _MOVING.isdisjoint(mine):  # "must go up", "put it down"
        mine = mine | ({"rais"} if "up" in mine else {"lower"} if "down" in mine else set[str]())
    if {"go", "up"} <= theirs or {"go", "down"} <= theirs:
        theirs = theirs | ({"rais"} if "up" in theirs else {"lower"})
    meant = {at for at, words in enumerate(_CONCEPTS) if mine & words}
    named = {at for at, words in enumerate(_CONCEPTS) if theirs & words}
    return bool(meant and named) and not meant & named


def swapped(mine: set[str], theirs: set[str]) -> bool:
    """Whether the words name the other one of two, or both."""
    one, two = _OPPOSITE
    if theirs & _BOTH and not mine & _BOTH and mine & _SINGLE:
        return True
    for here, there in ((one, two), (two, one)):
        if mine & here and not mine & there and theirs & there and not theirs & here:
            return True
    return False


@dataclass(slots=True)
class Errand:
    """One request: its words and its state (`waiting`, `open`, `settled`)."""

    opens: Lines
    after: str = ""
    topic: tuple[Phrase, ...] = ()
    presses: Sequence[Lines] = ()
    gives_in: Lines = ()
    knows: Mapping[str, object] = field(default_factory=dict[str, object])
    replaces: bool = False
    state: str = "waiting"
    pressed: int = 0
    end: str = ""
    """How it ended, as last heard."""
    gave_in: bool = False
    _words: set[str] | None = None

    def fresh(self) -> Errand:
        """The same request in another talk."""
        return Errand(
            self.opens,
            self.after,
            self.topic,
            self.presses,
            self.gives_in,
            self.knows,
            self.replaces,
            self.state,
            _words=self.words,
        )

    @property
    def actions(self) -> set[str]:
        """The kinds of action its words name."""
        words = self.words
        return {ACTION_OF[word] for word in words if word in ACTION_OF} | {
            action for pair, action in _IMPLIED.items() if not pair.isdisjoint(words)
        }

    @property
    def content(self) -> set[str]:
        """The words that its wording does not share with every other request."""
        return content_of(self.words)

    @property
    def words(self) -> set[str]:
        """All its words."""
        if self._words is None:
            lines = [self.opens] if isinstance(self.opens, str) else self.opens
            self._words = {stem for line in lines for stem in stems(line)}.union(*self.topic)
        return self._words


def errands(persona: Persona) -> list[Errand]:
    """All requests of the persona, the first one open."""
    first = Errand(persona.opens, "", (), persona.presses, persona.gives_in, state="open")
    further = persona.requests
    out = [first, *(errand(request) for request in further)]
    if further:
        first.topic = tuple(phrases(persona.topic))
        for one in out:
            if not one.topic:
                one.topic = _own_words(one, out)
    return out


def errand(request: Request) -> Errand:
    """The state of a further request."""
    topic = tuple(phrases(request.topic))
    return Errand(
        request.opens, request.after, topic, request.presses, request.gives_in, request.knows, request.replaces
    )


def _own_words(one: Errand, others: Sequence[Errand]) -> tuple[Phrase, ...]:
    """A topic from the request's own words, less those that the other requests share."""
    mine = _words(one)
    for other in others:
        if other is not one:
            mine = mine - _words(other)
    return tuple(frozenset((word,)) for word in sorted(mine))


def _words(one: Errand) -> frozenset[str]:
    lines = [one.opens] if isinstance(one.opens, str) else one.opens
    return frozenset(word for line in lines for word in stems(line) if word not in COMMON and len(word) > 3)
