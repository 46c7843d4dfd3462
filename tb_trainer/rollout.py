"""Whole episodes as tokens: many at once in lockstep, with the customer's words as the user's turns.

A rollout is one buffer of ids that is only appended to; its mask is 1 on exactly the tokens that were sampled. A system
error never becomes a rollout: the episode starts again on a fresh backend, up to `retries` times, and is then returned
*unresolved*, with no reward and nothing to train on. What a limit ends is graded like any other. Not here: a KV cache
across turns, deadlines, refilling a group (the slowest episode holds the batch).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tb_envs.episode import Episode, Settings, drive
from tb_envs.errors import BackendError, UsageError, UserError
from tb_envs.task import get_task
from tb_trainer.parse import action_of
from tb_trainer.render import Renderer

HARNESS = "[system] "
"""How a message of the environment begins that neither the customer nor a tool wrote."""


class Sample(NamedTuple):
    """One turn of the model: its ids, the end-of-turn token included unless it was cut off, and their log-probs."""

    ids: list[int]
    logprobs: list[float]


class Place(NamedTuple):
    """Whose turn is asked for: the task, the episode's number in the batch, which attempt of it, which turn."""

    task_id: str
    slot: int
    attempt: int
    turn: int


class Generator(Protocol):
    """What writes the turns: a model, or a table of written ones."""

    def __call__(self, contexts: Sequence[Sequence[int]], places: Sequence[Place]) -> Sequence[Sample]:
        """One turn for each context."""
        ...


@dataclass
class Rollout:
    """One episode. `completion_ids`, `logprobs` and `mask` are parallel; the mask is 1 where the model chose.

    Attributes:
        reward: from the database; None if no attempt was free of system errors (nothing of it may be trained on).
        outcome, ended_by: as of the episode; ``limit:tokens`` when the context had no room for another turn.
        malformed: turns that the environment could not read as an action.
        cut_off: turns that reached the limit of new tokens.
        errors: the system errors met on the way, one an attempt that was thrown away.
    """

    task_id: str
    slot: int
    prompt_ids: list[int] = field(default_factory=list[int])
    completion_ids: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    mask: list[int] = field(default_factory=list[int])
    reward: float | None = None
    outcome: str = ""
    ended_by: str = ""
    turns: int = 0
    user_turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    malformed: int = 0
    cut_off: int = 0
    errors: list[str] = field(default_factory=list[str])

    @property
    def action_tokens(self) -> int:
        """How many tokens the model chose."""
        return sum(self.mask)

    def append(self, ids: Sequence[int], logprobs: Sequence[float] | None = None) -> None:
        """Add a turn of the model, or, without log-probs, what the environment said."""
        self.completion_ids += ids
        self.logprobs += [0.0] * len(ids) if logprobs is None else logprobs
        self.mask += [int(logprobs is not None)] * len(ids)


@dataclass
class Batch:
    """The rollouts of one call, in the order of the tasks, and where the time went."""

    rollouts: list[Rollout]
    seconds: dict[str, float]


@dataclass(frozen=True)
class Collector:
    """Plays episodes for a trainer.

    Attributes:
        renderer: ids of prompts and observations.
        settings: of every episode: limits, injected faults, reward.
        turn_tokens: new tokens in one turn at most; the generator keeps to it, the collector counts on it.
        episode_tokens: prompt and completion together at most.
        retries: attempts after the first that an episode gets when the system, not the agent, broke it.
    """

    renderer: Renderer
    settings: Settings
    turn_tokens: int
    episode_tokens: int
    retries: int = 8

    def collect(self, task_ids: Sequence[str], generate: Generator, *, update: int = 0) -> Batch:
        """Play every task once; name a task several times for a group of attempts at it.

        Args:
            task_ids: one for each slot.
            generate: writes the turns.
            update: only keys injected faults, so that each update meets others.
        """
        seats = [_Seat(self, Rollout(task, slot), update * len(task_ids) + slot) for slot, task in enumerate(task_ids)]
        seconds = {"generate": 0.0, "environment": 0.0}
        clock = time.perf_counter()
        try:
            for seat in seats:
                seat.begin()
            while live := [seat for seat in seats if not seat.done]:
                clock = _lap(seconds, "environment", clock)
                samples = generate([seat.context for seat in live], [seat.place for seat in live])
                clock = _lap(seconds, "generate", clock)
                for seat, sample in zip(live, samples, strict=True):
                    seat.take(sample)
        finally:
            for seat in seats:
                seat.close()
        _lap(seconds, "environment", clock)
        return Batch([seat.rollout for seat in seats], seconds)


class _Seat:
    """One slot of a batch: an episode, its tokens, and its attempts."""

    def __init__(self, collector: Collector, rollout: Rollout, number: int) -> None:
        self._with = collector
        self._episode = Episode(collector.settings)
        self._number = number
        self.rollout = rollout
        self.done = False

    @property
    def context(self) -> list[int]:
        return self.rollout.prompt_ids + self.rollout.completion_ids

    @property
    def place(self) -> Place:
        return Place(self.rollout.task_id, self.rollout.slot, len(self.rollout.errors), self.rollout.turns)

    def begin(self) -> None:
        """Start an attempt on a fresh backend with an empty buffer."""
        have, most = self._with, self._with.episode_tokens
        while not self.done:
            attempt = self._number * (have.retries + 1) + len(self.rollout.errors)
            task = get_task(self.rollout.task_id)
            try:
                drive(self._episode.reset(task, attempt=attempt))
            except (BackendError, UserError) as error:
                self._broke(f"error:{'user' if isinstance(error, UserError) else 'backend'}", str(error))
                continue
            prompt = have.renderer.first(task, self._episode.messages)
            if len(prompt) + have.turn_tokens > most:
                raise UsageError(
                    f"the first prompt of {task.id} has {len(prompt)} tokens: sampling.episode_tokens must be at least "
                    f"{len(prompt) + have.turn_tokens} (it is {most}), or environment.prompt `compact`"
                )
            self.rollout = Rollout(task.id, self.rollout.slot, prompt, errors=self.rollout.errors)
            return

    def take(self, sample: Sample) -> None:
        """Give the model's turn to the episode and append what it answers."""
        rollout, render = self.rollout, self._with.renderer
        closed = sample.ids[-1] == render.eos_id
        rollout.append(sample.ids, sample.logprobs)
        rollout.cut_off += not closed
        drive(self._episode.act(action_of(render.decode(sample.ids))))
        rollout.turns = self._episode.turns
        new = self._episode.new_messages
        rollout.malformed += any(m["role"] == "user" and m["content"].startswith(HARNESS) for m in new)
        if not self._episode.over:
            answer = render.added(new, closed=closed)
            if len(self.context) + len(answer) + self._with.turn_tokens <= self._with.episode_tokens:
                rollout.append(answer)
                return
            drive(self._episode.finish())
            self._end("limit:tokens")
        else:
            self._end(self._episode.ended_by)

    def close(self) -> None:
        """Free the backend."""
        self._episode.close()

    def _end(self, ended_by: str) -> None:
        episode, rollout = self._episode, self.rollout
        episode.close()
        if episode.outcome.startswith("error:"):
            self._broke(episode.outcome, episode.error)
            self.begin()
            return
        rollout.reward, rollout.outcome, rollout.ended_by = episode.reward, episode.outcome, ended_by
        rollout.turns, rollout.user_turns = episode.turns, episode.user_turns
        rollout.tool_calls = episode.tool_calls
        rollout.tool_errors = sum(event.kind == "result" and not event.ok for event in episode.log)
        self.done = True

    def _broke(self, outcome: str, error: str) -> None:
        """Throw the attempt away; after the last one the slot stays unresolved."""
        errors = [*self.rollout.errors, f"{outcome}: {error}"]
        self.done = len(errors) > self._with.retries
        self.rollout = Rollout(self.rollout.task_id, self.rollout.slot, errors=errors)
        if self.done:
            self.rollout.outcome, self.rollout.ended_by = outcome, "error"


def _lap(seconds: dict[str, float], phase: str, since: float) -> float:
    now = time.perf_counter()
    seconds[phase] += now - since
    return now
