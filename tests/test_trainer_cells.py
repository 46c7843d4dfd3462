"""Outcome cells that fall to half of their start are drawn more often until they are back; said in the log, resumed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trainer_parts import IDLE, config, reference, written

from tb_envs.errors import UsageError
from tb_trainer.config import load
from tb_trainer.engines import Key
from tb_trainer.groups import Batch, Group
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.runner import Job, Rollout
from tb_trainer.tasks.cells import CellWatch
from tb_trainer.tasks.source import Posterior, make_source
from tb_trainer.tasks.training import training_tasks

CELLS = {
    f"d/f/{cell}{number}": cell for cell, size in {"a": 8, "b": 32, "c": 24, "e": 16}.items() for number in range(size)
}
GROUPS, SIZE = 16, 4


def source(balanced: bool, watch: int = 32) -> Posterior:
    labels = {task: ("d", "f", cell) for task, cell in CELLS.items()} if balanced else None
    watched = CellWatch(CELLS, watch) if watch else None
    return Posterior(list(CELLS), GROUPS, seed=7, labels=labels, floor=0.2, watch=watched)


def batch_of(tasks: Sequence[str], update: int) -> Batch:
    """A written policy: half of the attempts pass; in updates 21 to 60 none of cell ``a``, 3 of 8 of ``e``."""
    groups: list[Group] = []
    for place, task in enumerate(tasks):
        fallen = CELLS[task] == "a" and 21 <= update <= 60
        passes = 0 if fallen else 1 + (place + update) % 2 if CELLS[task] == "e" and 21 <= update <= 60 else 2
        rollouts = [
            Rollout(Job(Key(0, update, place, slot), task), outcome=("failure", "success")[slot < passes])
            for slot in range(SIZE)
        ]
        groups.append(Group(task, rollouts))
    return Batch(groups)


def drawn(one: Posterior, update: int) -> list[str]:
    return [one.draw(update, group, 0) for group in range(GROUPS)]


def of_a(tasks: Sequence[str]) -> int:
    return sum(CELLS[task] == "a" for task in tasks)


@pytest.mark.parametrize("balanced", [False, True])
def test_a_fallen_cell_is_drawn_twice_as_often_until_it_is_back(balanced: bool) -> None:
    watched, plain = source(balanced), source(balanced, watch=0)
    raised: dict[int, list[str]] = {}
    shares: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
    for update in range(1, 121):
        before = list(watched.watch.fallen) if watched.watch else []
        with_, without = drawn(watched, update), drawn(plain, update)
        assert len(set(with_)) == GROUPS
        shares[bool(before)].append((of_a(with_), of_a(without)))
        if not before:
            assert with_ == without, "nothing has fallen, or is back: nothing is changed"
        again = source(balanced)
        again.restore(json.loads(json.dumps(watched.state())))
        assert drawn(again, update) == with_
        assert again.row() == watched.row()
        batch = batch_of(with_, update)
        watched.seen(update, batch)
        plain.seen(update, batch)
        raised[update] = watched.row()["raised_cells"]
        assert plain.row() == {}
    first = next(update for update, cells in raised.items() if cells)
    last = max(update for update, cells in raised.items() if cells)
    assert 21 <= first < 40 and 60 < last < 80
    assert all(cells == (["a"] if first <= update <= last else []) for update, cells in raised.items())
    more, usual = (sum(counts[side] for counts in shares[True]) for side in (0, 1))
    natural = usual / (GROUPS * len(shares[True]))
    assert more / (GROUPS * len(shares[True])) == pytest.approx(1 - (1 - natural) ** 2, rel=0.2)
    assert more > 1.5 * usual


def rolled(cell: str, passed: int, tried: int) -> list[Rollout]:
    task = next(task for task, own in CELLS.items() if own == cell)
    return [
        Rollout(Job(Key(0, 1, 0, slot), task), outcome=("failure", "success")[slot < passed]) for slot in range(tried)
    ]


def test_when_a_cell_has_fallen_to_the_letter() -> None:
    def fallen(*updates: tuple[int, int], attempts: int = 8) -> bool:
        watch = CellWatch(CELLS, attempts)
        for passed, tried in updates:
            watch.seen(rolled("a", passed, tried))
            watch.seen(rolled("b", tried, tried))
        assert "b" not in watch.fallen
        return "a" in watch.fallen

    assert fallen((4, 8), (2, 8)), "half of the start is fallen"
    assert not fallen((4, 8), (3, 8))
    assert not fallen((4, 8), (0, 7)), "too few attempts since"
    assert fallen((4, 4), (0, 4), (2, 4), (0, 4)), "the start is whole updates, as many as hold 8 attempts"
    assert not fallen((0, 8), (0, 8)), "what was never solved cannot fall"
    assert not fallen((4, 8), (0, 8), (3, 8)), "and it comes back"
    assert not fallen((4, 8), (0, 8), (3, 4), (0, 4)) and fallen((4, 8), (3, 8), (0, 4), (2, 4))
    with pytest.raises(UsageError, match="one attempt at least"):
        CellWatch(CELLS, 0)


@given(st.permutations([*rolled("a", 2, 8), *rolled("e", 1, 8)]))
def test_the_order_of_rollouts_does_not_matter(rollouts: list[Rollout]) -> None:
    watch = CellWatch(CELLS, 8)
    watch.seen([*rolled("a", 5, 8), *rolled("e", 8, 8)])
    watch.seen(rollouts)
    assert (watch.state(), watch.fallen) == ({"a": [[5, 8], [[2, 8]]], "e": [[8, 8], [[1, 8]]]}, {"a", "e"})


def test_a_run_says_which_cells_are_raised_and_goes_on_with_them(tmp_path: Path) -> None:
    """All tasks of one cell are solved in two updates and in none after: it falls behind the fourth."""

    def train(out: Path, updates: int, resume: bool = False) -> None:
        settings = config(
            environment={"prompt": "compact"},
            curriculum={"kind": "posterior", "watch": 24},
            grpo={"updates": updates},
            saving={"every": 1},
        )

        def turns(key: Key) -> Sequence[str]:
            return reference(run.source.draw(key.update, key.group, 0)) if key.update <= 2 and key.slot < 3 else IDLE

        run = Run(settings, out, resume=resume, engine=written(turns, "compact"))
        run.train()

    train(tmp_path / "whole", 5)
    train(tmp_path / "cut", 3)
    train(tmp_path / "cut", 5, resume=True)
    rows = [read_rows(tmp_path / name / "log.jsonl") for name in ("whole", "cut")]
    ours, theirs = ([row for row in log if row["event"] == "update"] for log in rows)
    assert [row["raised_cells"] for row in ours] == [[], [], [], [*ours[0]["cells"]], [*ours[0]["cells"]]]
    for name in ("raised_cells", "cells", "families", "pass_rate", "tokens"):
        assert [row[name] for row in ours] == [row[name] for row in theirs]


def test_where_cells_are_watched() -> None:
    for preset, on in {
        "one-gpu": True, "node-8xh100": True, "reference-24xh100-plus": True, "reference-24xh100": False,
        "cpu-demo": False, "smoke": False,
    }.items():  # fmt: skip
        assert bool(load(preset).curriculum.watch) is on, preset
    settings = load("one-gpu")
    made: Any = make_source(settings, training_tasks(settings))
    assert made.row() == {"raised_cells": []}
    assert len(Counter(made.watch.cells.values())) > 20
    with pytest.raises(UsageError, match=r"curriculum.watch raises shares of draws by curriculum.kind posterior"):
        load("one-gpu", ["curriculum.kind=shuffled"])
