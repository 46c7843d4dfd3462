"""Twenty updates through a storm: every update whole, no system error in a baseline, the same weights as without it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from trainer_parts import IDLE, config, reference
from vllm_double import VllmDouble

from tb_envs.actions import parse_action
from tb_envs.episode import Episode
from tb_envs.errors import UserError
from tb_envs.settings import Settings
from tb_trainer.backlog import Backlog, pause_of
from tb_trainer.config import load
from tb_trainer.engines import Key, Request
from tb_trainer.groups import Batch, OutageError
from tb_trainer.loop import Run
from tb_trainer.play import play_all
from tb_trainer.policy import load_policy
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer, make_renderer
from tb_trainer.runner import Job, Limits, Runner
from tb_trainer.schema import TrainConfig
from tb_trainer.tasks.source import make_source

POOL = [f"library/halve_fee/{index}" for index in range(36)]
UPDATES, GROUPS, SIZE = 20, 18, 8


class CutOff(Episode):
    """The customer's endpoint answers 500 for a while: to every call of it until so many were refused."""

    refusing = 0

    async def act(self, action: Any) -> str:
        speaks = not parse_action(action).calls
        if speaks and CutOff.refusing:
            CutOff.refusing -= 1
            raise UserError("the user endpoint answered 500")
        return await super().act(action)


def settings_for(**environment: Any) -> TrainConfig:
    return config(
        environment={"tasks": POOL, "prompt": "compact", "retries": 12, **environment},
        grpo={"updates": UPDATES, "groups": GROUPS, "group_size": SIZE, "micro_tokens": 16384},
    )


def played(out: Path, settings: TrainConfig, outage: int = 0) -> tuple[list[str], list[dict[str, Any]], torch.Tensor]:
    """A digest of each update's episodes, the run's rows, its weights."""
    source = make_source(settings, POOL)

    def turns(key: Key) -> Sequence[str]:
        task_id = source.draw(key.update, key.group % 1_000_000, key.group // 1_000_000)
        index = int(task_id.rpartition("/")[2])
        return reference(task_id) if key.slot < (SIZE // 2 if index % 9 == 0 else SIZE) else IDLE

    run = Run(settings, out)
    run.runner.engine = run.engine = WrittenEngine(Renderer(run.tokenizer, "compact"), turns)
    run.runner._episodes = CutOff

    def before(update: int) -> None:
        CutOff.refusing = outage if update == 7 else 0

    return trained(run, before)


def trained(run: Run, before: Callable[[int], None]) -> tuple[list[str], list[dict[str, Any]], torch.Tensor]:
    """The same of any run; `before` is called with each update's number."""
    digests: list[str] = []
    collect, groups, size = run.collector.collect, run.config.grpo.groups, run.config.grpo.group_size

    def watched(update: int) -> Batch:
        before(update)
        batch = collect(update)
        assert [len(group.rollouts) for group in batch.groups] == [size] * groups
        assert all(rollout.status != "system_error" and rollout.reward is not None for rollout in batch.rollouts)
        text = repr([(r.job.task_id, r.job.key, r.tokens.ids, r.tokens.sampled, r.reward) for r in batch.rollouts])
        digests.append(hashlib.sha256(text.encode()).hexdigest())
        return batch

    object.__setattr__(run, "collector", type("Watched", (), {"collect": staticmethod(watched)})())
    rows = run.train()
    weights = torch.cat([parameter.detach().flatten() for parameter in run.model.parameters()])
    return digests, rows, weights


@pytest.mark.long
def test_a_storm_leaves_every_update_as_it_would_have_been(tmp_path: Path) -> None:
    calm, quiet, weights = played(tmp_path / "calm", settings_for())
    storm = settings_for(faults={"timeout": 0.05, "crash": 0.01})
    stormy, rough, blown = played(tmp_path / "stormy", storm, outage=150)
    assert len(stormy) == UPDATES
    assert stormy == calm
    assert torch.equal(weights, blown)
    assert [row["episodes"] for row in rough] == [GROUPS * SIZE] * UPDATES
    assert [row["pass_rate"] for row in rough] == [row["pass_rate"] for row in quiet]
    assert [row["dropped_groups"] for row in rough] == [0] * UPDATES
    assert all(not row["system_errors"] for row in quiet)
    for row in rough:
        assert row["retries"] == sum(row["system_errors"].values())
        assert row["system_errors"]["backend"] > 10
    assert rough[6]["system_errors"]["user"] == 150
    assert any(row["optimizer"]["stepped"] for row in rough)


# -- the hotel, a server that samples, and bounds as they are by default

SEATS = [f"hotel/late_cancellation/{index}" for index in (2000, 2001)]


class Wavering(VllmDouble):
    """Five turns of six as they are written, where they are, and each sixth as the model samples it."""

    def complete(self, body: dict[str, Any], kind: str | None) -> dict[str, Any]:
        with self.lock:
            written, self.table = self.table, self.table if body.get("seed", 0) % 6 else {}
            try:
                return super().complete(body, kind)
            finally:
                self.table = written


class Down(Episode):
    """The customer's endpoint answers 500 for so many seconds from the first call on."""

    away, until, refused = 0.0, 0.0, 0

    async def act(self, action: Any) -> str:
        speaks = not parse_action(action).calls
        if speaks and Down.away:
            Down.away, Down.until = 0.0, time.monotonic() + Down.away
        if speaks and time.monotonic() < Down.until:
            Down.refused += 1
            raise UserError("the user endpoint answered 500")
        return await super().act(action)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[int, ...], list[int]]]:
    """The tiny model of the preset `smoke` as a folder, and the reference solutions' turns by what was read before."""
    folder, settings = tmp_path_factory.mktemp("model"), load("smoke")
    model, words = load_policy(settings)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    replies: dict[tuple[int, ...], list[int]] = {}
    renderer = make_renderer(settings, words)
    engine = WrittenEngine(renderer, lambda key: reference(SEATS[key.group]))
    submit = engine.submit

    def note(request: Request) -> None:
        submit(request)
        replies[tuple(request.ids)] = list(engine._done[-1].ids)

    engine.submit = note
    jobs = [Job(Key(0, 0, group, 0), task_id) for group, task_id in enumerate(SEATS)]
    done = play_all(Runner(engine, renderer, Settings(), Limits(256, 8192)), jobs)
    assert [rollout.reward for rollout in done] == [1.0, 1.0]
    return folder, replies


def hotel_run(tmp_path: Path, served: Any, trouble: dict[int, str], away: dict[int, float], *overrides: str) -> Any:
    """Two updates of 2 x 4 episodes; in some the customer's endpoint is away at first, for so many seconds."""
    folder, replies = served
    double = Wavering(load_policy(load("smoke"))[0], trouble=lambda turn: trouble.get(turn), table=replies)
    words = ["engine.kind=vllm", f"engine.url={double.url}", "engine.sync=files", f"model.path={folder}"]
    words += [f"engine.sync_folder={tmp_path / 'served'}", f"environment.tasks=[{', '.join(SEATS)}]"]
    words += ["environment.turns=10", "sampling.turn_tokens=128", "sampling.episode_tokens=8192"]
    words += ["grpo.groups=2", "grpo.updates=2", "grpo.learning_rate=1e-3"]
    run = Run(load("smoke", [*words, *overrides]), tmp_path / "run")
    run.runner._episodes = Down
    Down.refused = 0

    def before(update: int) -> None:
        Down.away, Down.until = away.get(update, 0.0), 0.0
        if trouble and update == 2:  # by now it has learned, and so has lost more by it
            trouble[double.asked + 5] = "restart unseen"

    try:
        engine: Any = run.engine
        return *trained(run, before), engine.counts, run.config.environment
    finally:
        double.stop()


@pytest.mark.long
def test_a_storm_over_servers_customers_and_backends_changes_nothing_at_default_bounds(
    tmp_path: Path, served: Any
) -> None:
    calm, quiet, weights, _, _ = hotel_run(tmp_path / "calm", served, {}, {})
    storm = "environment.faults={timeout: 0.05, crash: 0.02}"
    trouble = {9: "restart", 30: "500"}
    stormy, rough, blown, counts, bounds = hotel_run(tmp_path / "stormy", served, trouble, {2: 2.0}, storm)
    assert (bounds.retries, bounds.drops) == (8, 8)
    assert stormy == calm
    assert torch.equal(weights, blown)
    assert [row["pass_rate"] for row in rough] == [row["pass_rate"] for row in quiet]
    assert quiet[0]["optimizer"]["stepped"]
    assert [row["dropped_groups"] for row in rough] == [0, 0]
    assert counts["restarts"] == 2
    assert sum(row["system_errors"].get("backend", 0) for row in rough) > 2
    assert rough[1]["system_errors"]["user"] == Down.refused >= 2
    assert all(not row["system_errors"] for row in quiet)


def test_without_a_pause_an_endpoint_that_is_away_for_seconds_is_an_outage(tmp_path: Path, served: Any) -> None:
    with pytest.raises(OutageError, match=r"update 1: 1 groups could not be played .*500"):
        hotel_run(tmp_path, served, {}, {1: 600.0}, "environment.pause=0", "environment.drops=0")


def test_pauses_grow_and_new_jobs_do_not_wait_for_those_that_pause() -> None:
    assert [pause_of(attempt) for attempt in range(9)] == [0, 0, 1, 2, 4, 8, 16, 30, 30]
    assert sum(map(pause_of, range(9))) > 60  # seconds that an outage may last
    first, second, third = (Job(Key(0, 0, group, 0), "x") for group in range(3))
    backlog = Backlog([first, second], pause=0.2)
    assert backlog.next() == first
    backlog.again(first._replace(attempt=2))
    backlog.first([third])
    assert [backlog.next(), backlog.next(), backlog.next()] == [third, second, None]
    due = backlog.due
    assert due is not None
    backlog.rest()
    assert time.monotonic() >= due
    assert (backlog.next(), backlog.due) == (first._replace(attempt=2), None)
    backlog.again(first._replace(attempt=1))
    assert backlog.next() == first._replace(attempt=1)  # at once
