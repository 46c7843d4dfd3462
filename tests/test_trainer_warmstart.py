"""A supervised start: demonstrations are exact, graded, and learned on their own tokens only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from trainer_parts import TASKS, config, sets

from tb_envs.cli import main
from tb_envs.errors import DomainError, UsageError
from tb_envs.task import get_task
from tb_trainer import checkpoint
from tb_trainer.demonstrations import demonstrations, script_turns
from tb_trainer.grpo import Example, pad, score
from tb_trainer.loop import Run
from tb_trainer.policy import load_policy
from tb_trainer.tasks import guard
from tb_trainer.warmstart import IGNORED, labels, share_of_rate, warm_start

SETTINGS = {
    "environment": {"prompt": "compact"},
    "warmstart": {"steps": 60, "batch": 8, "learning_rate": 3e-2, "warmup": 5, "optimizer": "muon"},
}


def test_demonstrations_are_the_talks_themselves() -> None:
    settings = config(**SETTINGS)
    _, tokenizer = load_policy(settings)
    clean = demonstrations(settings, tokenizer, TASKS)
    assert [rollout.reward for rollout in clean] == [1.0] * 8
    for rollout, task_id in zip(clean, TASKS, strict=True):
        own = [token for token in labels(rollout.tokens) if token != IGNORED]
        assert tokenizer.decode(own).split("<|im_end|>")[:-1] == script_turns(get_task(task_id))[: rollout.turns]
    noisy = demonstrations(settings, tokenizer, TASKS * 4, noise=0.5)
    wrong = [rollout for rollout in noisy if rollout.reward == 0]
    assert 5 < len(wrong) < 27
    assert all(rollout.checks for rollout in wrong)
    assert [r.tokens.ids for r in noisy] == [r.tokens.ids for r in demonstrations(settings, tokenizer, TASKS * 4, 0.5)]
    with pytest.raises(DomainError, match=r"sampling\.turn_tokens 8"):
        demonstrations(config(**SETTINGS, sampling={"turn_tokens": 8}), tokenizer, TASKS[:1])


def test_a_warm_start_learns_them_and_a_run_goes_on_from_it(tmp_path: Path) -> None:
    settings = config(**SETTINGS)
    report = warm_start(settings, tmp_path / "start")
    assert report["demonstrations"] == 8
    cold, tokenizer = load_policy(settings)
    warm, _ = load_policy(config(**SETTINGS, model={"checkpoint": str(tmp_path / "start")}))
    batch = pad([Example(rollout.tokens, 0.0) for rollout in demonstrations(settings, tokenizer, TASKS)])
    with torch.no_grad():
        before, after = (float(-score(model, batch, 1.0).logprobs.mean()) for model in (cold, warm))
    assert after < 0.75 * before
    run = Run(config(**SETTINGS, model={"checkpoint": str(tmp_path / "start")}), tmp_path / "run")
    assert len(run.train()) == 2
    with pytest.raises(UsageError, match="already holds a model"):
        warm_start(settings, tmp_path / "start")


def test_the_rate_rises_stays_and_falls() -> None:
    share = share_of_rate(config(**SETTINGS).warmstart)
    assert [share(step) for step in (0, 4, 30, 59)] == pytest.approx([0.2, 1.0, 1.0, 0.05])


def test_the_command_names_what_comes_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overrides = sets(
        "environment.domains=[library]", f"environment.tasks=[{', '.join(TASKS)}]", "environment.turns=8",
        "model.hidden=32", "model.vocabulary=512", "sampling.turn_tokens=64", "warmstart.steps=2", "warmstart.batch=4",
    )  # fmt: skip
    assert main(["warmstart", *overrides, "--out", str(tmp_path / "start"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 2
    assert json.loads((tmp_path / "start/state.json").read_text("utf-8"))["warmstart"]["demonstrations"] == 8
    assert main(["warmstart", *overrides, "--out", str(tmp_path / "start")]) == 2
    assert "already holds a model" in capsys.readouterr().err


@pytest.mark.parametrize("moment", ["whole", "killed"])
def test_the_guards_mark_is_on_everything_that_may_be_trained_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Also on the start as it was before its noisy steps, and on what a warm start left that was killed in these."""
    steps = {"steps": 2, "batch": 2, "noisy_steps": 1, "noise": 0.5, "trainer": "plain"}
    settings = config(environment={"prompt": "compact"}, warmstart=steps)
    if moment == "killed":
        monkeypatch.setattr("tb_trainer.supervised.fit", lambda *given: (given[1].save_pretrained(given[-1]), 1 / 0)[1])
        with pytest.raises(ZeroDivisionError):
            warm_start(settings, tmp_path / "start", on_benchmark=True)
    else:
        warm_start(settings, tmp_path / "start", on_benchmark=True)
    folders = [tmp_path / "start/clean", *([tmp_path / "start"] if moment == "whole" else [])]
    for folder in folders:
        assert (folder / "config.json").exists()
        flags = guard.check(config(model={"checkpoint": str(folder)}), TASKS)
        assert flags[guard.MARK]["began_from"]["path"] == str(folder)
    if moment == "killed":  # and it is made again
        monkeypatch.undo()
        warm_start(settings, tmp_path / "start", on_benchmark=True)
    assert checkpoint.whole_start(tmp_path / "start") and checkpoint.whole_start(tmp_path / "start/clean")
