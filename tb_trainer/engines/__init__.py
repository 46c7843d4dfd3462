"""What writes a model's turns: one protocol, ids in, ids and log-probs out, many turns in flight at once.

An engine is asked for turns with `submit` and hands them back from `poll` as they are finished, in whatever order: a
caller that answers at once (`tb_trainer.runner`) keeps every slot busy, and a slow episode delays no other. Engines
never see text, tasks or rewards, and never tokenise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from tb_envs.errors import BackendError


class EngineError(BackendError):
    """What writes the turns is gone or answers nonsense; it says nothing about the policy."""


class Key(NamedTuple):
    """Names one rollout of a run; with the place in it, it keys every random number (`tb_trainer.engines.draws`)."""

    seed: int
    update: int
    group: int
    slot: int


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn.

    Attributes:
        temperature: divides the logits; 0 takes the likeliest token.
        top_p: mass of the likeliest tokens that are kept; 1 keeps all.
        top_k: how many of the likeliest tokens are kept; 0 keeps all.
        stop: ids that end a turn; the one that did is part of the turn.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    stop: tuple[int, ...] = ()


class Request(NamedTuple):
    """One turn to be written: whose, after which tokens (all of them, from the first), of how many new ones at most."""

    key: Key
    ids: Sequence[int]
    limit: int


class Turn(NamedTuple):
    """One written turn.

    `logprobs` are of the distribution each token was drawn from (after temperature and truncation), or, under greedy
    decoding, of the model's own. `finish` is ``stop`` or ``length``.
    """

    key: Key
    ids: list[int]
    logprobs: list[float]
    finish: Literal["stop", "length"]


class Engine(Protocol):
    """Writes turns. `version` counts the weights that were loaded; `sampling` may change while no turn is in flight."""

    version: int
    sampling: Sampling

    def submit(self, request: Request) -> None:
        """Take a turn into work; a key has at most one in flight."""
        ...

    def poll(self, wait: float | None = None) -> list[Turn]:
        """Work until at least one turn is finished, and return those that are; empty if nothing is in flight.

        Args:
            wait: seconds after which to come back even so, empty-handed; further polls go on where this one left off.
                An engine whose work cannot be left in the middle says so and comes back when it is done.

        Raises:
            EngineError: the engine is gone; what was in flight is lost and may be submitted again.
        """
        ...

    def release(self, key: Key) -> None:
        """Forget the key: its rollout is over or given up. Unknown keys are ignored."""
        ...

    def load(self, model: Any) -> None:
        """Take the weights of `model` for all further turns; nothing may be in flight."""
        ...
