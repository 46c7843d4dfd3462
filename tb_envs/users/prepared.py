"""What of a customer is the same in each of its talks, made ready once for each persona.

Refuses to hold anything of a talk: what changes in one is copied before it does.
"""

from __future__ import annotations

from typing import NamedTuple

from tb_envs.authoring.persona import Lines, Persona, Secret, Vocabulary

from .heard import Phrase, phrases
from .memory import Memory
from .proposals import Proposals
from .requests import Errand, errands
from .vocabulary import compiled

KEPT = 4096
"""Personas at most; as many as there are tasks kept."""


class Prepared(NamedTuple):
    """A persona, ready to be played; `fresh` copies of the first three are a talk's own."""

    memory: Memory
    errands: list[Errand]
    proposals: Proposals
    secrets: list[tuple[Secret, list[Phrase]]]
    about: list[tuple[list[Phrase], Lines]]


_KEPT: dict[tuple[int, int], tuple[Persona, Vocabulary | None, Prepared]] = {}


def prepared(persona: Persona, vocabulary: Vocabulary | None) -> Prepared:
    """The persona made ready, once as long as it is among the last ones asked for."""
    key = id(persona), id(vocabulary)
    kept = _KEPT.get(key)
    if kept is not None:  # the objects are held, so that nothing else can have their addresses
        return kept[2]
    ready = Prepared(
        Memory(persona, compiled(vocabulary)),
        errands(persona),
        Proposals(persona),
        [(secret, phrases(secret.only_if)) for secret in persona.secrets],
        [(phrases(key.split("|")), line) for key, line in persona.about.items()],
    )
    if len(_KEPT) >= KEPT:
        del _KEPT[next(iter(_KEPT))]
    _KEPT[key] = persona, vocabulary, ready
    return ready
