"""What models beside the agent's own cost in an episode: one that plays the customer, one that judges.

Whoever calls such a model says so with `Episode.spend`. The scripted customer and the grader call none. A cost is a
measure and part of no result: not of rewards, and of no hash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Part = Literal["user", "judge"]
PARTS: tuple[Part, ...] = ("user", "judge")


@dataclass(frozen=True, slots=True)
class Cost:
    """What was paid, in US dollars, and for how many tokens, read and written together."""

    dollars: float = 0.0
    tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.dollars + other.dollars, self.tokens + other.tokens)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.dollars - other.dollars, self.tokens - other.tokens)
