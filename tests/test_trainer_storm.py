"""Twenty updates through a storm: every update whole, no system error in a baseline, the same weights as without it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from trainer_parts import IDLE, config, reference

from tb_envs.actions import parse_action
from tb_envs.episode import Episode
from tb_envs.errors import UserError
from tb_trainer.engines import Key
from tb_trainer.groups import Batch
from tb_trainer.loop import Run
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer
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
    digests: list[str] = []
    collect = run.collector.collect

    def watched(update: int) -> Batch:
        CutOff.refusing = outage if update == 7 else 0
        batch = collect(update)
        assert [len(group.rollouts) for group in batch.groups] == [SIZE] * GROUPS
        assert all(rollout.status != "system_error" and rollout.reward is not None for rollout in batch.rollouts)
        text = repr([(r.job.task_id, r.job.key, r.tokens.ids, r.tokens.sampled, r.reward) for r in batch.rollouts])
        digests.append(hashlib.sha256(text.encode()).hexdigest())
        return batch

    object.__setattr__(run, "collector", type("Watched", (), {"collect": staticmethod(watched)})())
    rows = run.train()
    weights = torch.cat([parameter.detach().flatten() for parameter in run.model.parameters()])
    return digests, rows, weights


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
