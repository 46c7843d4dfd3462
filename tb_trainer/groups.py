"""Whole groups for an update: P tasks, G attempts at each, every one of them played to its end.

A system error says nothing about the policy, so the *same* task is played again in the same slot, on a fresh backend,
with the same random numbers, a bounded number of times and with growing pauses (`tb_trainer.backlog`). If that does not
help, the whole group is dropped, counted, and another task drawn in its place: an update never holds a part of a group,
and a failing backend cannot choose which tasks are trained on unseen. When nothing works any more, `OutageError` says
so and the update does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tb_envs.costs import PARTS, Cost, Part
from tb_envs.errors import BackendError
from tb_trainer.backlog import PAUSE, Backlog
from tb_trainer.engines import Key
from tb_trainer.runner import Job, Rollout, Runner


class OutageError(BackendError):
    """The system, not the policy, kept an update from being collected."""


class TaskSource(Protocol):
    """Chooses tasks. Must depend on nothing but its arguments and what `seen` has told it."""

    def draw(self, update: int, group: int, redraw: int) -> str:
        """The task of a group; `redraw` counts the groups that were dropped in its place."""
        ...


@dataclass
class Group:
    """G attempts at one task, in the order of their slots."""

    task_id: str
    rollouts: list[Rollout]

    @property
    def rewards(self) -> list[float]:
        """The reward of each attempt."""
        return [rollout.reward or 0.0 for rollout in self.rollouts]

    @property
    def informative(self) -> bool:
        """Whether the attempts differ in reward."""
        return len(set(self.rewards)) > 1


@dataclass
class Batch:
    """The episodes of one update.

    Attributes:
        groups: exactly as many as asked for, each whole.
        uniform: groups without variance that were replaced by others (only with a filter).
        errors: system errors by cause (``backend``, ``user``, ``checker``, ``deadline``).
        retries: episodes that were played again.
        dropped: tasks whose group was given up, with the last cause.
        seconds: spent generating and in the environment.
        costs: of models that played the customer or judged, in these episodes and in those that were played in vain.
    """

    groups: list[Group] = field(default_factory=list[Group])
    uniform: list[Group] = field(default_factory=list[Group])
    errors: Counter[str] = field(default_factory=Counter[str])
    retries: int = 0
    dropped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    costs: dict[Part, Cost] = field(default_factory=lambda: {part: Cost() for part in PARTS})

    @property
    def rollouts(self) -> list[Rollout]:
        """All of them, group by group."""
        return [rollout for group in self.groups for rollout in group.rollouts]

    @property
    def played(self) -> list[Rollout]:
        """These, and those of whole groups that were replaced: all that was seen of the policy."""
        return [rollout for group in (*self.groups, *self.uniform) for rollout in group.rollouts]


@dataclass
class _Forming:
    """A group on its way."""

    place: int
    redraw: int
    task_id: str
    slots: list[Rollout | None]
    uniform: int = 0

    def key(self, seed: int, update: int, slot: int) -> Key:
        # A group that replaces another has numbers of its own.
        return Key(seed, update, self.place + 1_000_000 * self.redraw, slot)


@dataclass(frozen=True)
class GroupCollector:
    """Collects updates.

    Attributes:
        runner: plays the episodes.
        tasks: chooses tasks.
        groups: P, groups in an update.
        size: G, attempts in a group.
        seed: of the run; keys the random numbers.
        retries: how often an episode is played again after system errors of one cause.
        drops: groups that may be given up in one update before it is called an outage.
        refills: how many uniform groups, one after the other, may be replaced in one place; 0 keeps them. Counted by
            place, so that it does not matter which group is ready first.
        slots: episodes in play at once at most.
        pause: seconds before the second of these attempts, as of `tb_trainer.backlog`.
    """

    runner: Runner
    tasks: TaskSource
    groups: int
    size: int
    seed: int = 0
    retries: int = 8
    drops: int = 8
    refills: int = 0
    slots: int = 256
    pause: float = PAUSE

    def collect(self, update: int, *, on_rollout: Callable[[Rollout], None] | None = None) -> Batch:
        """The episodes of one update.

        Args:
            update: its number; keys tasks and random numbers.
            on_rollout: called with each whole episode as it comes in.

        Raises:
            OutageError: more than `drops` groups could not be played.
            UsageError: a task or a limit that cannot work.
        """
        batch = Batch()
        forming = {place: self._form(update, place, 0) for place in range(self.groups)}
        whole: dict[int, Group] = {}
        jobs = (job for place in sorted(forming) for job in self._jobs(update, forming[place]))
        waiting = Backlog(jobs, self.retries, self.pause)
        before, paid = dict(self.runner.seconds), dict(self.runner.costs)
        try:
            while forming:
                while self.runner.live < self.slots and (job := waiting.next()) is not None:
                    if self._wanted(forming, update, job):
                        self.runner.start(job)
                if not self.runner.live:
                    waiting.rest()
                for rollout in self.runner.poll(until=waiting.due):
                    self._sort_in(rollout, update, batch, forming, whole, waiting)
                    if on_rollout is not None and rollout.status != "system_error":
                        on_rollout(rollout)
        except BaseException:
            for group in forming.values():
                for slot in range(self.size):
                    self.runner.cancel(group.key(self.seed, update, slot))
            raise
        batch.groups = [whole[place] for place in range(self.groups)]
        batch.seconds = {name: spent - before[name] for name, spent in self.runner.seconds.items()}
        batch.costs = {part: cost - paid[part] for part, cost in self.runner.costs.items()}
        return batch

    def _form(self, update: int, place: int, redraw: int) -> _Forming:
        task_id = self.tasks.draw(update, place, redraw)
        return _Forming(place, redraw, task_id, [None] * self.size)

    def _jobs(self, update: int, group: _Forming) -> list[Job]:
        return [Job(group.key(self.seed, update, slot), group.task_id) for slot in range(self.size)]

    def _wanted(self, forming: dict[int, _Forming], update: int, job: Job) -> bool:
        """Whether the job's group is still on its way (it may have been dropped while the job waited)."""
        group = forming.get(job.key.group % 1_000_000)
        return group is not None and group.key(self.seed, update, job.key.slot) == job.key

    def _sort_in(
        self,
        rollout: Rollout,
        update: int,
        batch: Batch,
        forming: dict[int, _Forming],
        whole: dict[int, Group],
        waiting: Backlog,
    ) -> None:
        job = rollout.job
        place, slot = job.key.group % 1_000_000, job.key.slot
        group = forming.get(place)
        if group is None or not self._wanted(forming, update, job):
            return
        if rollout.status == "system_error":
            batch.errors[rollout.outcome.removeprefix("error:")] += 1
            if waiting.again(rollout):
                batch.retries += 1
                return
            batch.dropped.append((group.task_id, rollout.error))
            if len(batch.dropped) > self.drops:
                causes = ", ".join(f"{count} {name}" for name, count in batch.errors.most_common())
                raise OutageError(
                    f"update {update}: {len(batch.dropped)} groups could not be played ({causes}; the last of "
                    f"{group.task_id}: {rollout.error}); the update does not count"
                )
            self._replace(group, update, forming, waiting)
            return
        group.slots[slot] = rollout
        rollouts = [done for done in group.slots if done is not None]
        if len(rollouts) < self.size:
            return
        ready = Group(group.task_id, rollouts)
        if not ready.informative and group.uniform < self.refills:
            batch.uniform.append(ready)
            group.uniform += 1
            self._replace(group, update, forming, waiting)
            return
        whole[place] = ready
        del forming[place]

    def _replace(self, group: _Forming, update: int, forming: dict[int, _Forming], waiting: Backlog) -> None:
        """Another task in the group's place."""
        for slot in range(self.size):
            self.runner.cancel(group.key(self.seed, update, slot))
        fresh = forming[group.place] = self._form(update, group.place, group.redraw + 1)
        fresh.uniform = group.uniform
        waiting.first(self._jobs(update, fresh))
