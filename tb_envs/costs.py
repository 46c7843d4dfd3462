"""What models beside the agent's own cost in an episode: one that plays the customer, one that judges.

Whoever calls such a model says so with `Episode.spend`. The scripted customer and the grader call none. A cost is a
measure and part of no result: not of rewards, and of no hash. Refuses to know prices: dollars are None where nobody
said them, and never 0 for that.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

Part = Literal["user", "judge"]
PARTS: tuple[Part, ...] = ("user", "judge")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one or more requests, as servers report them.

    Attributes:
        input: read, cached ones included.
        cached_input: of those, taken from the server's cache.
        output: written, hidden reasoning included.
        reasoning: of those, hidden reasoning.
    """

    input: int = 0
    cached_input: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))

    @property
    def total(self) -> int:
        """Read and written."""
        return self.input + self.output

    def to_json(self) -> dict[str, int]:
        """By kind."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a model took.

    Attributes:
        dollars: paid, in US dollars; None: nobody knows the price.
        kinds: tokens by kind, as far as they were reported.
        requests: answered requests.
        unreported: of those, the ones whose tokens the server did not report.
        retried: requests that were sent again after a failure.
        slowed: requests that were sent again because the server was busy.
        seconds: of the wall clock, spent waiting for the model.
    """

    dollars: float | None = 0.0
    kinds: Tokens = Tokens()
    requests: int = 0
    unreported: int = 0
    retried: int = 0
    seconds: float = 0.0
    slowed: int = 0

    def __add__(self, other: Cost) -> Cost:
        unknown = self.dollars is None or other.dollars is None
        return Cost(
            None if unknown else (self.dollars or 0.0) + (other.dollars or 0.0),
            self.kinds + other.kinds,
            self.requests + other.requests,
            self.unreported + other.unreported,
            self.retried + other.retried,
            self.seconds + other.seconds,
            self.slowed + other.slowed,
        )

    def __sub__(self, other: Cost) -> Cost:
        unknown = self.dollars is None or other.dollars is None
        return Cost(
            None if unknown else (self.dollars or 0.0) - (other.dollars or 0.0),
            self.kinds - other.kinds,
            self.requests - other.requests,
            self.unreported - other.unreported,
            self.retried - other.retried,
            self.seconds - other.seconds,
            self.slowed - other.slowed,
        )

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.kinds.total

    def known_tokens(self) -> dict[str, int] | None:
        """Tokens by kind; None where nothing was asked, or a server did not say them."""
        return self.kinds.to_json() if self.requests and not self.unreported else None
