"""The parts that tasks are divided into: by domain, family, trap, length of the reference, suite, outcome cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tb_envs.authoring.scenario import TRAPS
from tb_envs.evaluation.counts import Mask
from tb_envs.evaluation.tally import TaskTally
from tb_envs.settings import SPLITS

DIMENSIONS: dict[str, tuple[Callable[[TaskTally], Sequence[str]], Sequence[str]]] = {
    "domain": (lambda task: [task.domain], ()),
    "family": (lambda task: [f"{task.domain}/{task.family}"], ()),
    "trap": (lambda task: task.traps or ["none"], TRAPS),
    "reference_length": (lambda task: ["none" if task.reference_length is None else str(task.reference_length)], ()),
    "split": (lambda task: [task.split], SPLITS),
    "cell": (lambda task: [f"{task.domain}/{task.family}: {task.cell or 'none'}"], ()),
}
"""Dimension → the names that a task has in it, and the order of the names where there is one."""


def members(tasks: Sequence[TaskTally], dimension: str) -> dict[str, Mask]:
    """The names in a dimension, in order, each with the tasks that have it; a task may have several."""
    names_of, order = DIMENSIONS[dimension]
    found: dict[str, Mask] = {}
    for place, task in enumerate(tasks):
        for name in names_of(task):
            found.setdefault(name, np.zeros(len(tasks), dtype=np.bool_))[place] = True
    places = {name: place for place, name in enumerate(order)}
    return {name: found[name] for name in sorted(found, key=lambda name: (places.get(name, len(order)), natural(name)))}


def natural(name: str) -> tuple[int, int, str]:
    """An order in which numbers go by size, before words."""
    return (0, int(name), "") if name.isdigit() else (1, 0, name)
