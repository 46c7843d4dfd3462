"""What is counted while one attempt is played: tokens, requests, seconds by phase, turns that were no action.

It goes on over the tries that a system error ended, since those were paid for too. Refuses to know prices and verdicts.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tb_envs.costs import PARTS, Cost, Part, Tokens

WRITTEN = 4_000
"""Characters kept of a turn that could not be read."""


@dataclass
class Meter:
    """The counts of one attempt.

    Attributes:
        task_id: the attempt's task.
        calls_model: whether the agent is a model, so that no answer at all is no token rather than an unknown number;
            None where that is not known, and nor are its tokens.
        agent: what the agent's model took, without dollars; its `seconds` are those of requests in flight.
        others: what models took that played the customer or judged.
        waiting: seconds that the agent's requests waited for their turn, or for a server that was busy or down.
        slowed: how often the agent's server said that it is busy; that of the others is in their costs.
        environment: seconds in the episode, its customer's and judge's models and the verdict left out.
        grading: seconds spent on verdicts, a judge's model left out.
        malformed: turns that could not be read as an action, in this try.
        wrote: what those turns were, by their place in the messages, and what ended the attempt in place of a turn.
        finish: why turns ended, where that was not as usual.
    """

    task_id: str
    calls_model: bool | None = False
    agent: Cost = field(default_factory=Cost)
    others: dict[Part, Cost] = field(default_factory=dict[Part, Cost])
    waiting: float = 0.0
    slowed: int = 0
    environment: float = 0.0
    grading: float = 0.0
    malformed: int = 0
    wrote: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    finish: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def next_try(self) -> None:
        """Forget what belongs to the try that a system error ended, and keep what it took."""
        self.malformed = 0
        self.wrote, self.finish = [], []

    def answered(self, tokens: Tokens | None) -> None:
        """The agent's model answered a request, with these tokens; None where it does not say how many."""
        self.agent += Cost(kinds=tokens or Tokens(), requests=1, unreported=int(tokens is None))

    def sent_again(self) -> None:
        """A request of the agent was sent again after a failure."""
        self.agent += Cost(retried=1)

    @contextmanager
    def in_flight(self) -> Generator[None]:
        """The time of a request, from its start to its end."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.agent += Cost(seconds=time.perf_counter() - began)

    def could_not_read(self, place: int, text: str, thought: str = "") -> None:
        """The turn at this place of the messages was no action, but this."""
        self.malformed += 1
        self.ended_by(place, text, thought)

    def ended_by(self, place: int, text: str, thought: str = "") -> None:
        """In place of a turn came this, which is kept."""
        note: dict[str, Any] = {"message": place, "text": _kept(text)}
        self.wrote.append({**note, "thought": _kept(thought)} if thought else note)

    def finished(self, place: int, why: str) -> None:
        """The turn at this place of the messages ended for this reason."""
        self.finish.append({"message": place, "finish": why})

    def book(self, costs: Mapping[Part, Cost]) -> None:
        """Add what the models beside the agent's took in a try."""
        for part, cost in costs.items():
            self.others[part] = self.others.get(part, Cost()) + cost

    def tokens(self) -> dict[str, dict[str, int] | None]:
        """Tokens by who used them and by kind; None where no model was asked or a server does not say."""
        agent = self.agent.kinds.to_json() if self.calls_model and not self.agent.unreported else None
        others = {part: self.others[part].known_tokens() if part in self.others else None for part in PARTS}
        return {"agent": agent, **others}

    def seconds(self, total: float) -> dict[str, float | int]:
        """The measures of a row, in seconds unless they are counts, for an attempt that lasted `total`."""
        user, judge = (self.others.get(part, Cost()).seconds for part in PARTS)
        measured = {
            "total": total,
            "agent": self.agent.seconds,
            "environment": self.environment,
            "user": user,
            "judge": judge,
            "grading": self.grading,
            "waiting": self.waiting,
        }
        counted = {"requests": self.agent.requests, "retried": self.agent.retried, "slowed": self.slowed}
        for part in PARTS:
            cost = self.others.get(part, Cost())
            counted |= {f"{part}_retried": cost.retried, f"{part}_slowed": cost.slowed}
        return {**{name: round(value, 6) for name, value in measured.items()}, **counted}


def _kept(text: str) -> str:
    """As much of it as is kept, without half characters, which no request can hold."""
    return text[:WRITTEN].encode("utf-8", "replace").decode("utf-8")
