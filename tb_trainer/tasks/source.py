"""Which task a group plays: two sources for `tb_trainer.groups.GroupCollector`, and how draws are balanced.

`Shuffled` deals: each task once before any comes again. `Posterior` draws by what each task is expected to teach, as
far as the rollouts tell. In both, no task is drawn twice in one update, whatever is dropped and replaced in whatever
order: each update is planned in rows, row r holding every group's task after r replacements, without repetition. Once
the rows have used up the pool, a group gets its own earlier tasks again. `Posterior` can also raise the share of
outcome cells that have fallen (`tb_trainer.tasks.cells`). Refuses fewer tasks than groups, and the state
of another pool or seed.
"""

from __future__ import annotations

import hashlib
import math
import random
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar

from tb_envs.authoring.rng import Rng, stable_seed
from tb_envs.errors import UsageError
from tb_envs.task import get_task
from tb_trainer.evaluate import cell_of
from tb_trainer.groups import Batch
from tb_trainer.schema import TrainConfig
from tb_trainer.tasks.cells import CellWatch
from tb_trainer.tasks.pool import read_counts
from tb_trainer.tasks.posterior import Beta, jeffreys

Label = tuple[str, ...]
"""Where a task belongs, from the widest to the narrowest: ``("hotel", "late_cancellation")``; empty: nowhere."""


def make_source(config: TrainConfig, task_ids: Sequence[str]) -> Shuffled | Posterior:
    """The configured source. With a pool file, `Posterior` begins with what its probe saw."""
    curriculum, groups = config.curriculum, config.grpo.groups
    labels = {task_id: label_of(task_id, curriculum.balance) for task_id in task_ids}
    if curriculum.kind == "shuffled":
        return Shuffled(task_ids, groups, seed=config.seed, labels=labels)
    pool = config.environment.pool
    cells = {task_id: cell_of(task_id) for task_id in task_ids} if curriculum.watch else {}
    return Posterior(
        task_ids,
        groups,
        seed=config.seed,
        labels=labels,
        floor=curriculum.floor,
        decay=curriculum.decay,
        start=read_counts(Path(pool)) if pool else {},
        watch=CellWatch(cells, curriculum.watch) if curriculum.watch else None,
    )


def label_of(task_id: str, balance: str) -> Label:
    """What `balance` (``none``, ``domain``, ``family``, ``cell``) makes equal for a task."""
    domain, family, _ = task_id.split("/")
    match balance:
        case "domain":
            return (domain,)
        case "family":
            return (domain, family)
        case "cell":
            return (domain, family, get_task(task_id).scenario.cell)
        case _:
            return ()


class Rotation:
    """Takes labels in turn: a round of draws has each domain once, a round of one domain's draws each of its families.

    And so on, as deep as the labels go. The order within each round is random.
    """

    def __init__(self, labels: Mapping[str, Label], seed: int) -> None:
        self._seed = seed
        self.members: dict[Label, list[str]] = {}
        for task_id in sorted(labels):
            self.members.setdefault(labels[task_id], []).append(task_id)
        self._children: dict[Label, list[Label]] = {}
        for label in sorted(self.members):
            for depth in range(len(label)):
                below = self._children.setdefault(label[:depth], [])
                if label[: depth + 1] not in below:
                    below.append(label[: depth + 1])

    def at(self, position: int) -> Label:
        """The label of the draw with this number. Depends on the seed and the labels only."""
        here: Label = ()
        while here in self._children:
            children = self._children[here]
            position, place = divmod(position, len(children))
            here = Rng(self._seed, "rotation", here, position).shuffled(children)[place]
        return here


@dataclass
class _Plan:
    """The draws of one update: row after row, in each at most one task a group."""

    update: int
    rows: list[list[str | None]] = field(default_factory=list[list[str | None]])
    taken: set[str] = field(default_factory=set[str])


class Source(ABC):
    """What both sources share.

    Args:
        tasks: ids, in any order.
        groups: in an update.
        seed: of the run.
        labels: task id → `Label`; draws are balanced over labels.
        first: number of the first update.

    Raises:
        UsageError: fewer tasks than groups.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        tasks: Sequence[str],
        groups: int,
        *,
        seed: int = 0,
        labels: Mapping[str, Label] | None = None,
        first: int = 1,
    ) -> None:
        self.tasks, self.groups, self.seed, self.first = sorted(set(tasks)), groups, seed, first
        if len(self.tasks) < groups:
            raise UsageError(f"an update of {groups} groups needs as many tasks, and there are {len(self.tasks)}")
        self.rotation = Rotation({task_id: (labels or {}).get(task_id, ()) for task_id in self.tasks}, seed)
        self.last = first - 1
        self._plan: _Plan | None = None

    def draw(self, update: int, group: int, redraw: int) -> str:
        """The task of a group; `redraw` counts the groups that were given up in its place."""
        if not (update >= self.first and 0 <= group < self.groups and redraw >= 0):
            raise ValueError(f"there is no draw ({update}, {group}, {redraw})")
        if self._plan is None or self._plan.update != update:
            self._plan = _Plan(update)
        plan = self._plan
        while len(plan.rows) <= redraw and len(plan.taken) < len(self.tasks):
            plan.rows.append(self._row(plan, len(plan.rows)))
        own = [task for row in plan.rows if (task := row[group]) is not None]
        return own[redraw % len(own)]

    def seen(self, update: int, batch: Batch) -> None:
        """Hear what an update's groups did. To be told of every update once, in order.

        Raises:
            ValueError: this update, or a later one, was told already.
        """
        if update <= self.last:
            raise ValueError(f"update {update} was told already (the last one was {self.last})")
        self.last = update
        self._plan = None

    def row(self) -> dict[str, Any]:
        """What an update's row in the log says of the source, behind `seen`."""
        return {}

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as plain JSON."""
        return {"kind": self.kind, "seed": self.seed, "groups": self.groups, "tasks": self._digest, "last": self.last}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up a `state`.

        Raises:
            UsageError: it is of another kind of source, seed, number of groups or pool.
        """
        for name, mine in self.state().items():
            if name in ("kind", "seed", "groups", "tasks") and state.get(name) != mine:
                raise UsageError(f"the task source was saved with another {name}: {state.get(name)!r}, not {mine!r}")
        self.last = int(state["last"])
        self._plan = None

    @property
    def _digest(self) -> str:
        return hashlib.sha256("\n".join(self.tasks).encode()).hexdigest()[:16]

    def _row(self, plan: _Plan, redraw: int) -> list[str | None]:
        """Row `redraw` of a plan whose earlier rows are there: a fresh task a group, as long as there are any."""
        row: list[str | None] = []
        for group in range(self.groups):
            free = self._free(plan, (plan.update - self.first) * self.groups + group)
            task = self._choose(plan, group, redraw, free) if free else None
            row.append(task)
            plan.taken |= {task} if task else set()
        return row

    def _free(self, plan: _Plan, position: int) -> list[str]:
        """Tasks not in the plan yet: of the label whose turn it is, or of all labels if that has none left."""
        mine = [task for task in self.rotation.members[self.rotation.at(position)] if task not in plan.taken]
        return mine or [task for task in self.tasks if task not in plan.taken]

    @abstractmethod
    def _choose(self, plan: _Plan, group: int, redraw: int, free: Sequence[str]) -> str:
        """One of the `free` tasks, by random numbers of (seed, update, group, redraw)."""

    def _numbers(self, plan: _Plan, group: int, redraw: int) -> random.Random:
        return random.Random(stable_seed(self.seed, "draw", plan.update, group, redraw))


class Shuffled(Source):
    """Deals tasks as cards: each once before any comes again, each label's tasks a deck of their own.

    The order of a deck hangs on the seed, the label and the epoch alone. Where an update reaches from one epoch into
    the next, tasks that it has already wait for the next update. What replaces a group that was given up is drawn
    besides, uniformly, and keeps its turn.
    """

    kind = "shuffled"

    def __init__(self, tasks: Sequence[str], groups: int, **options: Any) -> None:
        super().__init__(tasks, groups, **options)
        self._dealt: list[list[str | None]] = []
        self._decks: dict[Label, list[str]] = {label: [] for label in self.rotation.members}
        self._epochs = dict.fromkeys(self.rotation.members, 0)

    def _row(self, plan: _Plan, redraw: int) -> list[str | None]:
        if redraw:
            return super()._row(plan, redraw)
        while len(self._dealt) <= plan.update - self.first:
            self._dealt.append(self._deal())
        row = self._dealt[plan.update - self.first]
        plan.taken |= {task for task in row if task}
        return row

    def _choose(self, plan: _Plan, group: int, redraw: int, free: Sequence[str]) -> str:
        return free[int(self._numbers(plan, group, redraw).random() * len(free))]

    def _deal(self) -> list[str | None]:
        """The next update's tasks."""
        dealt: list[str | None] = []
        every = sorted(self._decks)
        for group in range(self.groups):
            turn = every.index(self.rotation.at(len(self._dealt) * self.groups + group))
            for label in (*every[turn:], *every[:turn]):
                task = self._top(label, dealt)
                if task is not None:
                    dealt.append(task)
                    break
        return dealt

    def _top(self, label: Label, dealt: Sequence[str | None]) -> str | None:
        """The first card of a deck that was not dealt in this update; None if all its tasks were."""
        deck, members = self._decks[label], self.rotation.members[label]
        if all(task in dealt for task in members):
            return None
        # A deck that still has cards has one that can be dealt: cards that cannot were dealt in this update at the end
        # of the epoch before, so this epoch began in this update and its other cards were dealt in it too.
        if not deck:
            deck += Rng(self.seed, "deck", label, self._epochs[label]).shuffled(members)
            self._epochs[label] += 1
        task = next(task for task in deck if task not in dealt)
        deck.remove(task)
        return task


class Posterior(Source):
    """Draws tasks by expected variance E[p(1 - p)] of what is believed of each (`tb_trainer.tasks.posterior`).

    Args:
        floor: share of draws that are uniform.
        decay: what an attempt counts an update later, in proportion.
        start: task id → (solved, failed) attempts known beforehand, e.g. of the probe.
        watch: of outcome cells. While some have fallen, each draw is made twice, the second time for a label of any
            turn, and the second task is taken if it is of a fallen cell and the first is not: a share s of the draws
            becomes 1 - (1 - s)^2, which is twice as much where it is small, however draws are balanced. While none
            has fallen, draws are those without a watch.
    """

    kind = "posterior"

    def __init__(
        self,
        tasks: Sequence[str],
        groups: int,
        *,
        floor: float = 0.1,
        decay: float = 0.9,
        start: Mapping[str, tuple[float, float]] | None = None,
        watch: CellWatch | None = None,
        **options: Any,
    ) -> None:
        super().__init__(tasks, groups, **options)
        if not (0 <= floor <= 1 and 0 < decay <= 1):
            raise UsageError(f"floor {floor} must be from 0 to 1, decay {decay} above 0 and at most 1")
        self.floor, self.decay, self.watch = floor, decay, watch
        begun = start or {}
        self._counts = {task: begun.get(task, (0.0, 0.0)) for task in self.tasks}

    def belief(self, task_id: str) -> Beta:
        """What is believed of a task now."""
        return jeffreys(*self._counts[task_id])

    def seen(self, update: int, batch: Batch) -> None:
        """Let all counts fade, then add this update's attempts: of its groups, and of those replaced as uniform.

        A reward r between 0 and 1 counts as r of a success.
        """
        super().seen(update, batch)
        rewards: dict[str, list[float]] = {}
        for group in (*batch.groups, *batch.uniform):
            rewards.setdefault(group.task_id, []).extend(group.rewards)
        for task, (solved, failed) in self._counts.items():
            new = rewards.get(task, [])
            more = math.fsum(new)  # exact, so the order of the rollouts cannot matter
            self._counts[task] = (self.decay * solved + more, self.decay * failed + (len(new) - more))
        if self.watch is not None:
            self.watch.seen(rollout for group in (*batch.groups, *batch.uniform) for rollout in group.rollouts)

    def row(self) -> dict[str, Any]:
        """``raised_cells``, if cells are watched: those whose share is raised from the next update on."""
        return {} if self.watch is None else {"raised_cells": sorted(self.watch.fallen)}

    def state(self) -> dict[str, Any]:
        """As of `Source.state`, with the counts of every task and cell that was seen."""
        counts = {task: list(pair) for task, pair in self._counts.items() if any(pair)}
        cells = {} if self.watch is None else {"cells": self.watch.state()}
        return {**super().state(), "counts": counts, **cells}

    def restore(self, state: Mapping[str, Any]) -> None:
        """As of `Source.restore`."""
        super().restore(state)
        counts: Mapping[str, Sequence[float]] = state["counts"]
        self._counts = {task: (0.0, 0.0) for task in self.tasks}
        self._counts |= {task: (float(pair[0]), float(pair[1])) for task, pair in counts.items()}
        if self.watch is not None:
            self.watch.restore(state["cells"])

    def _choose(self, plan: _Plan, group: int, redraw: int, free: Sequence[str]) -> str:
        task = self._pick(self._numbers(plan, group, redraw), free)
        if self.watch is None or not self.watch.fallen or self.watch.has_fallen(task):
            return task
        numbers = random.Random(stable_seed(self.seed, "second draw", plan.update, group, redraw))
        second = self._pick(numbers, self._free(plan, numbers.getrandbits(48)))
        return second if self.watch.has_fallen(second) else task

    def _pick(self, numbers: random.Random, free: Sequence[str]) -> str:
        blind, place = numbers.random() < self.floor, numbers.random()
        if blind:
            return free[int(place * len(free))]
        heights = list(accumulate(self.belief(task).expected_variance for task in free))
        return free[min(bisect_right(heights, place * heights[-1]), len(free) - 1)]
