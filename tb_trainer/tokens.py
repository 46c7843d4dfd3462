"""One rollout as tokens: a buffer that is only appended to, with who wrote each token.

Nothing is ever tokenised again, cut or rewritten here: what was sampled stays as it was sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Trajectory:
    """Parallel lists over the tokens of one rollout, from the first token of its prompt.

    Attributes:
        ids: token ids.
        sampled: 1 where the model chose the token, 0 where it only read it.
        logprobs: the sampler's log-probability of each sampled token; 0.0 elsewhere.
        turns: the model's turn that a sampled token belongs to, from 0; -1 elsewhere.
    """

    ids: list[int] = field(default_factory=list[int])
    sampled: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    turns: list[int] = field(default_factory=list[int])

    def __len__(self) -> int:
        return len(self.ids)

    def read(self, ids: Sequence[int]) -> None:
        """Append what the model reads."""
        self.ids += ids
        self.sampled += [0] * len(ids)
        self.logprobs += [0.0] * len(ids)
        self.turns += [-1] * len(ids)

    def wrote(self, ids: Sequence[int], logprobs: Sequence[float]) -> None:
        """Append a turn of the model.

        Raises:
            ValueError: not one log-probability for each token.
        """
        if len(ids) != len(logprobs):
            raise ValueError(f"{len(logprobs)} log-probs for {len(ids)} sampled tokens")
        turn = max(self.turns, default=-1) + 1
        self.ids += ids
        self.sampled += [1] * len(ids)
        self.logprobs += logprobs
        self.turns += [turn] * len(ids)

    @property
    def prompt(self) -> int:
        """How many tokens stand before the first sampled one; all, if there is none."""
        return self.sampled.index(1) if 1 in self.sampled else len(self.ids)

    @property
    def actions(self) -> int:
        """How many tokens were sampled."""
        return sum(self.sampled)
