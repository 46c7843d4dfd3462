"""Plays episodes for a trainer: many at once, each turn written by an engine, each answer given by its environment.

A slot never waits for another: whatever turn the engine finishes first is played first, and the answer goes back at
once, or within `TICK` while the engine is at work on other turns. Episodes that do no I/O are driven inline; others run
on one event loop in a thread of its own, which lives as long as the runner. What a step took is measured there, when it
ends: that the engine was busy meanwhile is no fault of the episode. Refuses to retry and to group: what a system error
broke is returned as such, with its cause.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from tb_envs.authoring.rng import stable_seed
from tb_envs.background import Loop, Step
from tb_envs.costs import PARTS, Cost, Part
from tb_envs.episode import Episode, drive
from tb_envs.errors import BackendError, UsageError, UserError
from tb_envs.settings import Settings
from tb_envs.task import get_task
from tb_envs.transcript import transcript
from tb_trainer.engines import Engine, Key, Request, Turn
from tb_trainer.render import Renderer
from tb_trainer.tokens import Trajectory

Status = Literal["ok", "policy_error", "system_error"]
HARNESS = "[system] "
"""How a message of the environment begins that neither the customer nor a tool wrote."""
TICK = 0.01
"""Seconds that the engine works at most before it is looked whether an environment has answered."""


class Job(NamedTuple):
    """An episode to be played: its name, its task, and which attempt it is (injected faults differ by attempt)."""

    key: Key
    task_id: str
    attempt: int = 0


@dataclass
class Rollout:
    """One played episode.

    Attributes:
        job: what was asked for.
        status: ``ok``; ``policy_error`` if a limit ended it (graded and trained on like any other); ``system_error``
            if it says nothing about the policy (no reward, nothing to train on).
        tokens: everything the model read and wrote.
        reward: from the database; None after a system error.
        outcome, ended_by: as of the episode; ``limit:tokens`` when the context had no room for another turn.
        error: the cause of a system error.
        malformed: turns that the environment could not read as an action.
        cut_off: turns that reached the limit of new tokens.
        checks: names of the checks that failed.
        transcript: the episode as text with its verdict, where `Runner.transcripts` asks for it.
        waited: seconds spent waiting for the environment.
    """

    job: Job
    status: Status = "ok"
    tokens: Trajectory = field(default_factory=Trajectory)
    reward: float | None = None
    outcome: str = ""
    ended_by: str = ""
    error: str = ""
    turns: int = 0
    user_turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    malformed: int = 0
    cut_off: int = 0
    checks: tuple[str, ...] = ()
    transcript: str = ""
    waited: float = 0.0

    @property
    def prompt_ids(self) -> list[int]:
        """Everything before the first sampled token."""
        return self.tokens.ids[: self.tokens.prompt]

    @property
    def completion_ids(self) -> list[int]:
        """From the first sampled token on."""
        return self.tokens.ids[self.tokens.prompt :]

    @property
    def logprobs(self) -> list[float]:
        """The sampler's, parallel to `completion_ids`; 0 where the environment spoke."""
        return self.tokens.logprobs[self.tokens.prompt :]

    @property
    def mask(self) -> list[int]:
        """1 for each sampled token of `completion_ids`, 0 for each other."""
        return self.tokens.sampled[self.tokens.prompt :]


@dataclass(frozen=True)
class Limits:
    """Bounds of the trainer's own, in tokens and seconds; turns and calls are bounded by the episode's settings.

    Attributes:
        turn: new tokens in one turn at most.
        episode: tokens of a whole rollout at most, prompt included.
        deadline: seconds that an episode may wait for its environment, all steps together. Past it the episode is a
            system error; the time that the engine takes does not count. A step on the event loop is broken off then;
            one that is driven inline cannot be, and ends the episode once it is over.
        prompt: tokens of the first prompt at most; 0: whatever the episode allows.
    """

    turn: int
    episode: int
    deadline: float = 600.0
    prompt: int = 0

    def problem(self, prompt: int) -> str:
        """Why a first prompt of so many tokens cannot be played, with the knobs to turn; nothing if it can."""
        if self.prompt and prompt > self.prompt:
            knob, least, is_now = "sampling.prompt_tokens", prompt, self.prompt
        elif prompt + self.turn > self.episode:
            knob, least, is_now = "sampling.episode_tokens", prompt + self.turn, self.episode
        else:
            return ""
        return f"{knob} must be at least {least} (it is {is_now}), or environment.prompt `compact`"


class _Seat:
    """One episode in play."""

    def __init__(self, job: Job, episode: Episode) -> None:
        self.job, self.episode = job, episode
        self.rollout = Rollout(job)
        self.full = False  # no room for another turn: its episode is being finished
        self.since = 0.0  # when its step began
        self.step: Step | None = None


class _Answer(NamedTuple):
    """News from the event loop: a step is over; `at` is the moment it ended."""

    seat: _Seat
    step: Step
    at: float


class Runner:
    """Plays jobs.

    Args:
        engine: writes the turns.
        renderer: ids of prompts and observations.
        settings: of every episode.
        limits: bounds in tokens and seconds.
        episodes: makes an episode; by default ``Episode(settings)``.
        inline: whether episodes never do I/O (as with the embedded backend and the scripted customer).

    Attributes:
        transcripts: of which jobs the episode is kept as text; of none until it is set.
        seconds: spent so far on `generate`, `environment` (customer, tools, database) and `grade`; the latter two are
            sums over episodes, which wait beside each other where they are not inline.
        costs: of models that played the customer or judged, so far: in all episodes, also those that broke.
    """

    def __init__(
        self,
        engine: Engine,
        renderer: Renderer,
        settings: Settings,
        limits: Limits,
        *,
        episodes: Callable[[Settings], Episode] = Episode,
        inline: bool = True,
    ) -> None:
        self.engine, self.renderer, self.settings, self.limits = engine, renderer, settings, limits
        self.transcripts: Callable[[Job], bool] = lambda job: False
        self.seconds = {"generate": 0.0, "environment": 0.0, "grade": 0.0}
        self.costs: dict[Part, Cost] = {part: Cost() for part in PARTS}
        self._episodes = episodes
        self._seats: dict[Key, _Seat] = {}
        self._finished: list[Rollout] = []
        self._writing: set[Key] = set()  # whose turn is in the engine; all others wait for their environment
        self._answered: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        self._loop = None if inline else Loop()

    @property
    def live(self) -> int:
        """Episodes in play."""
        return len(self._seats)

    def start(self, job: Job) -> None:
        """Begin an episode on a fresh backend.

        Raises:
            UsageError: an episode of this name is in play, or there is no such task.
        """
        if job.key in self._seats:
            raise UsageError(f"an episode {job.key} is in play already")
        task = get_task(job.task_id)
        seat = self._seats[job.key] = _Seat(job, self._episodes(self.settings))
        # Injected faults are drawn by attempt: each rollout of a group, and each try at it, meets others.
        self._do(seat, seat.episode.reset(task, attempt=stable_seed(*job.key, job.attempt)))

    def poll(self, *, until: float | None = None) -> list[Rollout]:
        """Play on until an episode is over, and return those that are; empty if none is in play.

        Args:
            until: on the monotonic clock: then come back with empty hands. Turns in flight stay so.
        """
        while self._seats and not self._finished and (until is None or time.monotonic() < until):
            if self._writing:
                clock = time.perf_counter()
                turns = self.engine.poll(self._patience(until))
                self.seconds["generate"] += time.perf_counter() - clock
                self._writing.difference_update(turn.key for turn in turns)
                for turn in turns:
                    self._take(self._seats[turn.key], turn)
            self._collect(block=not self._writing and not self._finished)
        done, self._finished = self._finished, []
        return done

    def cancel(self, key: Key) -> None:
        """Give an episode up; unknown names are ignored."""
        seat = self._seats.get(key)
        if seat is not None:
            self._leave(seat)

    def close(self) -> None:
        """Free all backends and the event loop. Idempotent."""
        for key in list(self._seats):
            self.cancel(key)
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def _patience(self, until: float | None) -> float | None:
        """Seconds that the engine may work before others are looked after; None: until a turn is finished."""
        wait = TICK if len(self._writing) < len(self._seats) else None
        if until is None:
            return wait
        left = max(0.0, until - time.monotonic())
        return left if wait is None else min(left, wait)

    # -- the environment's half of a turn

    def _do(self, seat: _Seat, step: Coroutine[Any, Any, Any]) -> None:
        """Run one step of the episode, now or on the event loop."""
        seat.since = time.perf_counter()
        if self._loop is not None:
            running = seat.step = self._loop.submit(step)
            # The clock is read on the loop's thread: this one may be with the engine for a long time yet.
            running.future.add_done_callback(lambda _: self._answered.put(_Answer(seat, running, time.perf_counter())))
            return
        try:
            drive(step)
        except (BackendError, UserError) as error:
            self._stepped(seat, error, time.perf_counter())
        else:
            self._stepped(seat, None, time.perf_counter())

    def _collect(self, *, block: bool) -> None:
        """Go on with the episodes whose environment has answered; give up those whose time is over."""
        if self._loop is None:
            return
        wait = 0.05 if block else 0.0
        while True:
            try:
                seat, step, at = self._answered.get(timeout=wait) if wait else self._answered.get_nowait()
            except queue.Empty:
                break
            wait = 0.0
            if seat.step is not step:  # it was given up
                continue
            seat.step = None
            cancelled = BackendError("its environment broke a step off") if step.future.cancelled() else None
            error = cancelled or step.future.exception()
            if error is not None and not isinstance(error, BackendError | UserError):
                raise error
            self._stepped(seat, error, at)
        now = time.perf_counter()
        # A step that is over is not among them: its answer says when it ended, if it has not been collected yet.
        for seat in [seat for seat in self._seats.values() if seat.step is not None and not seat.step.future.done()]:
            if seat.rollout.waited + now - seat.since > self.limits.deadline:
                self._waited(seat, now)
                self._late(seat)

    def _stepped(self, seat: _Seat, error: BaseException | None, at: float) -> None:
        """The environment has answered, at that moment."""
        episode = seat.episode
        self._waited(seat, at)
        if error is not None:
            kind = "user" if isinstance(error, UserError) else "backend"
            self._broke(seat, f"error:{kind}", str(error))
        elif episode.outcome.startswith("error:"):
            self._broke(seat, episode.outcome, episode.error)
        elif seat.rollout.waited > self.limits.deadline:
            self._late(seat)
        elif seat.full:
            self._end(seat, "limit:tokens")
        elif episode.over:
            self._end(seat, episode.ended_by)
        elif not seat.rollout.tokens.ids:
            self._open(seat)
        else:
            self._answer(seat)

    # -- the model's half

    def _open(self, seat: _Seat) -> None:
        assert seat.episode.task is not None
        prompt = self.renderer.first(seat.episode.task, seat.episode.messages)
        problem = self.limits.problem(len(prompt))
        if problem:
            self.cancel(seat.job.key)
            raise UsageError(f"the first prompt of {seat.job.task_id} has {len(prompt)} tokens: {problem}")
        seat.rollout.tokens.read(prompt)
        self._ask(seat)

    def _ask(self, seat: _Seat) -> None:
        self.engine.submit(Request(seat.job.key, seat.rollout.tokens.ids, self.limits.turn))
        self._writing.add(seat.job.key)

    def _take(self, seat: _Seat, turn: Turn) -> None:
        """Give the model's turn to the episode."""
        rollout = seat.rollout
        rollout.tokens.wrote(turn.ids, turn.logprobs)
        rollout.cut_off += turn.finish == "length"
        self._do(seat, seat.episode.act(self.renderer.read(turn.ids, seat.episode.tools).action))

    def _answer(self, seat: _Seat) -> None:
        """Append what the environment said and ask for the next turn, if it fits."""
        rollout, new = seat.rollout, seat.episode.new_messages
        rollout.malformed += _harness(new)
        assert seat.episode.task is not None
        domain = seat.episode.task.domain.name
        ids = self.renderer.added(new, closed=self.renderer.ends(rollout.tokens.ids), domain=domain)
        if len(rollout.tokens) + len(ids) + self.limits.turn <= self.limits.episode:
            rollout.tokens.read(ids)
            self._ask(seat)
            return
        seat.full = True
        self._do(seat, seat.episode.finish())  # as any step: a judge may take its time, and holds nobody up

    # -- the end

    def _waited(self, seat: _Seat, at: float) -> None:
        """Book the seconds of a step that ended then; the verdict, which is part of an episode's last step, apart."""
        took, episode = max(0.0, at - seat.since), seat.episode
        seat.rollout.waited += took
        graded = episode.grading_seconds if episode.over else 0.0
        self.seconds["environment"] += max(0.0, took - graded)
        self.seconds["grade"] += graded

    def _end(self, seat: _Seat, ended_by: str) -> None:
        episode, rollout = seat.episode, seat.rollout
        if ended_by != "limit:tokens":
            rollout.malformed += _harness(episode.new_messages)
        rollout.status = "policy_error" if ended_by.startswith("limit:") else "ok"
        rollout.reward, rollout.outcome, rollout.ended_by = episode.reward, episode.outcome, ended_by
        rollout.turns, rollout.user_turns = episode.turns, episode.user_turns
        rollout.tool_calls = episode.tool_calls
        rollout.tool_errors = sum(event.kind == "result" and not event.ok for event in episode.log)
        if episode.verdict is not None:
            rollout.checks = tuple(check.name for check in episode.verdict.checks if not check.passed)
        if self.transcripts(seat.job):
            rollout.transcript = transcript(episode)
        self._finished.append(rollout)
        self._leave(seat)

    def _late(self, seat: _Seat) -> None:
        self._broke(seat, "error:deadline", f"its environment took longer than {self.limits.deadline:g} s")

    def _broke(self, seat: _Seat, outcome: str, error: str) -> None:
        waited = seat.rollout.waited
        seat.rollout = Rollout(seat.job, "system_error", outcome=outcome, ended_by="error", error=error, waited=waited)
        self._finished.append(seat.rollout)
        self._leave(seat)

    def _leave(self, seat: _Seat) -> None:
        del self._seats[seat.job.key]
        self._writing.discard(seat.job.key)
        for part, cost in seat.episode.costs.items():
            self.costs[part] += cost
        self.engine.release(seat.job.key)
        step, seat.step = seat.step, None
        if step is not None:
            step.give_up(seat.episode.close)
        else:
            seat.episode.close()


def _harness(messages: Any) -> int:
    return int(any(m["role"] == "user" and m["content"].startswith(HARNESS) for m in messages))
