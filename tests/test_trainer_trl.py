"""TRL's own `GRPOTrainer` over whole episodes: steps on rewards of the database, what broke, what is refused."""

from __future__ import annotations

import importlib
import re
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from trainer_parts import CHATTER, IDLE, TASKS, config, reference, runner, sharp_model, tokenizer, written

from tb_envs.adapters.trl import as_trl_rollout_func, env_reward, task_rows
from tb_envs.errors import BackendError, UsageError
from tb_trainer.config import load
from tb_trainer.engines import Key, Request
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer
from tb_trainer.runner import Job, Rollout
from tb_trainer.tasks.training import training_tasks
from tb_trainer.trl_player import TrlPlayer, make_trl_player

PAGE = Path(__file__).parent.parent / "docs/trainer.md"


class Half(WrittenEngine):
    """Even slots play the reference solution of their task, odd ones idle; tasks by the place that TRL gives them."""

    def __init__(self) -> None:
        self.tasks: dict[tuple[int, int], str] = {}
        self.keys: list[Key] = []
        super().__init__(Renderer(tokenizer(), "compact"), self.turns)

    def turns(self, key: Key) -> Sequence[str]:
        return IDLE if key.slot % 2 else reference(self.tasks[key.update, key.group])

    def submit(self, request: Request) -> None:
        if request.key not in self.keys:
            self.keys.append(request.key)
        super().submit(request)


class Player(TrlPlayer):
    """Tells the written engine which tasks it is about, and keeps what was played."""

    def __call__(self, task_ids: Sequence[str], trainer: Any) -> list[Rollout]:
        engine: Any = self.runner.engine
        update = trainer.state.global_step
        engine.tasks |= {(update, place // 4): task for place, task in enumerate(task_ids)}
        self.played = super().__call__(task_ids, trainer)
        return self.played


def trl_trainer(play: Any, out: Path, *, model: Any = None, tasks: Sequence[str] = TASKS[:3], **arguments: Any) -> Any:
    """TRL's trainer, one update of three tasks by four attempts unless told otherwise; nothing of it is replaced."""
    from datasets import Dataset

    options: dict[str, Any] = {
        "output_dir": str(out),
        "per_device_train_batch_size": 4 * len(tasks),
        "num_generations": 4,
        "max_steps": 1,
        "loss_type": "dapo",
        "learning_rate": 1e-3,
        "lr_scheduler_type": "constant",
        "beta": 0.0,
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "report_to": "none",
        "save_strategy": "no",
        "logging_steps": 1,
        "shuffle_dataset": False,
        **arguments,
    }
    trl = importlib.import_module("trl")
    trainer = trl.GRPOTrainer(
        model=model if model is not None else sharp_model(),
        reward_funcs=env_reward,
        rollout_func=as_trl_rollout_func(play),
        processing_class=tokenizer(),
        train_dataset=Dataset.from_list(task_rows(tasks)),
        args=trl.GRPOConfig(**options),
    )
    scored = trainer._generate_and_score_completions
    trainer.scored = {}
    trainer._generate_and_score_completions = lambda inputs: trainer.scored.update(scored(inputs)) or {**trainer.scored}
    return trainer


def flat(model: Any) -> torch.Tensor:
    return torch.cat([parameter.detach().clone().flatten() for parameter in model.parameters()])


def test_trl_steps_on_rewards_of_the_database(tmp_path: Path) -> None:
    """Groups, masks and log-probs reach TRL as they were played; its advantages are those of the verdicts."""
    engine = Half()
    play = Player(runner(engine, prompt="compact"))
    trainer = trl_trainer(play, tmp_path, max_steps=2)
    before = flat(trainer.model)
    trainer.train()
    assert (flat(trainer.model) - before).abs().max() > 1e-4
    assert engine.version == 2  # the weights as they were at each generation
    assert sorted(engine.keys) == [
        Key(0, update, group, slot) for update in (0, 1) for group in range(3) for slot in range(4)
    ]
    assert [rollout.reward for rollout in play.played] == [1.0, 0.0, 1.0, 0.0] * 3
    assert {rollout.job.task_id for rollout in play.played} == set(TASKS[:3])
    scored = trainer.scored
    assert scored["advantages"].view(3, 4).tolist() == [pytest.approx([0.866, -0.866] * 2, abs=1e-3)] * 3
    mask = scored["completion_mask"] * scored["tool_mask"]
    for rollout, row, ids in zip(play.played, mask, scored["completion_ids"], strict=True):
        length = len(rollout.mask)
        assert row[:length].tolist() == rollout.mask and not row[length:].any()
        assert ids[:length].tolist() == rollout.completion_ids
    assert int(scored["num_items_in_batch"]) == sum(sum(rollout.mask) for rollout in play.played)
    assert [row["reward"] for row in trainer.state.log_history if "reward" in row] == [0.5, 0.5]


def test_an_episode_that_the_system_broke_teaches_nothing(tmp_path: Path) -> None:
    """One task's attempts are broken now and then and not played again: no reward, no mean, no token of the loss."""
    play = Player(runner(Half(), prompt="compact", faults={"crash": 0.3}), retries=0)
    trainer = trl_trainer(play, tmp_path)
    trainer.train()
    broken = torch.tensor([rollout.reward is None for rollout in play.played])
    assert 0 < int(broken.sum()) < 12
    assert {rollout.outcome for rollout, bad in zip(play.played, broken, strict=True) if bad} == {"error:backend"}
    scored = trainer.scored
    mask = scored["completion_mask"] * scored["tool_mask"]
    assert not scored["advantages"][broken].any() and not mask[broken].any()
    assert int(scored["num_items_in_batch"]) == sum(
        sum(rollout.mask) for rollout in play.played if rollout.reward is not None
    )
    for group, rewards in zip(scored["advantages"].view(3, 4), _groups(play.played), strict=True):
        whole = [reward for reward in rewards if reward is not None]
        mean = sum(whole) / max(len(whole), 1)
        for advantage, reward in zip(group.tolist(), rewards, strict=True):
            assert (advantage > 0) == (reward is not None and reward > mean)
    assert flat(trainer.model).isfinite().all()
    retried = Player(runner(Half(), prompt="compact", faults={"crash": 0.1}))
    trl_trainer(retried, tmp_path).train()
    assert [rollout.reward for rollout in retried.played] == [1.0, 0.0, 1.0, 0.0] * 3
    outage = Player(runner(Half(), prompt="compact", faults={"crash": 1.0}), retries=1)
    with pytest.raises(BackendError, match=r"no episode of this update could be played to its end: error:backend"):
        trl_trainer(outage, tmp_path).train()


def _groups(rollouts: Sequence[Rollout]) -> list[list[float | None]]:
    rewards = [rollout.reward for rollout in rollouts]
    return [rewards[place : place + 4] for place in range(0, len(rewards), 4)]


@pytest.mark.parametrize("kind", ["cpu", "hf"])
def test_the_model_that_trl_trains_plays_and_its_log_probs_are_trls(kind: str, tmp_path: Path) -> None:
    """No written turn: the policy itself plays, before a step and after it, and stays a model that trains."""
    settings = config(
        environment={"turns": 3, "prompt": "compact"},
        engine={"kind": kind},
        sampling={"turn_tokens": 12, "episode_tokens": 4096, "temperature": 0.7},
    )
    model, played = sharp_model(), list[tuple[torch.Tensor, list[Rollout]]]()
    inner = make_trl_player(settings, model, tokenizer())

    def play(task_ids: Sequence[str], trainer: Any) -> list[Rollout]:
        rollouts = inner(task_ids, trainer)
        assert trainer.model.training
        ids = torch.tensor([rollouts[0].tokens.ids])
        with torch.no_grad():
            logits = trainer.model.eval()(input_ids=ids).logits[0, :-1].float() / 0.7
        trainer.model.train()
        again = logits.log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0][len(rollouts[0].prompt_ids) - 1 :]
        played.append((again, rollouts))
        return rollouts

    # A model of random weights earns nothing: what moves the weights here is a made-up reward.
    trainer = trl_trainer(play, tmp_path, model=model, max_steps=2, temperature=0.7)
    trainer.reward_funcs[0] = lambda completion_ids, **_: [float(sum(ids) % 7) for ids in completion_ids]
    before = flat(model)
    trainer.train()
    assert (flat(model) - before).abs().max() > 1e-4
    assert len(played) == 2
    for again, rollouts in played:
        first = rollouts[0]
        own = torch.tensor(first.mask, dtype=torch.bool)
        assert own.sum() > 12
        assert (torch.tensor(first.logprobs) - again)[own].abs().max() < 1e-4
    assert played[0][1][0].tokens.ids != played[1][1][0].tokens.ids
    assert inner.runner.live == 0
    inner.close()


def test_what_trl_cannot_do_is_refused_in_words(tmp_path: Path) -> None:
    asked: list[list[str]] = []
    trainer: Any = types.SimpleNamespace(
        processing_class=types.SimpleNamespace(pad_token_id=0), model=types.SimpleNamespace(training=False)
    )

    def nothing(tasks: list[str], trainer: Any) -> list[Any]:
        asked.append(tasks)
        return []

    with pytest.raises(UsageError, match=r"0 rollouts for 4 prompts .they are already repeated"):
        as_trl_rollout_func(nothing)(["a", "a", "b", "b"], trainer)
    with pytest.raises(UsageError, match="already repeated"):
        as_trl_rollout_func(nothing, tasks={"Hi.": "a"})([[{"role": "user", "content": "Hi."}]], trainer)
    assert asked == [["a", "a", "b", "b"], ["a"]]
    with pytest.raises(UsageError, match="names no task"):
        as_trl_rollout_func(nothing, tasks={})(["x"], trainer)
    with pytest.raises(UsageError, match="a prompt is text or a list of messages"):
        as_trl_rollout_func(nothing)([7], trainer)
    with pytest.raises(UsageError, match="env_mask"):
        as_trl_rollout_func(nothing)(["a"], types.SimpleNamespace(tools=[print]))
    uneven = types.SimpleNamespace(completion_ids=[1, 2], logprobs=[0.0], mask=[1, 1], reward=1.0, outcome="success")
    with pytest.raises(UsageError, match="equally long"):
        as_trl_rollout_func(lambda tasks, _: [uneven])(["a"], trainer)  # type: ignore[list-item]

    play = Player(runner(written(lambda key: CHATTER)))
    with pytest.raises(UsageError, match=r"sampled at temperature 1, and TRL's loss divides by 0.5"):
        TrlPlayer.__call__(play, TASKS[:1], trl_trainer(play, tmp_path, temperature=0.5))
    several = trl_trainer(play, tmp_path)
    many = types.SimpleNamespace(
        num_processes=2, process_index=1, distributed_type="MULTI_CPU", unwrap_model=lambda model: model
    )
    several.accelerator, whole = many, several.accelerator
    with pytest.raises(UsageError, match="several processes would fill the same servers"):
        TrlPlayer(play.runner, served=True)(TASKS[:1], several)
    many.distributed_type = "FSDP"
    with pytest.raises(UsageError, match="the weights are spread over processes"):
        TrlPlayer(play.runner)(TASKS[:1], several)
    several.accelerator = whole


def test_trl_trains_on_nothing_that_overlaps_the_benchmark(tmp_path: Path) -> None:
    """Neither through its rows nor past them: by id, by family, and where a prompt only stands for a task."""
    benchmark = training_tasks(load("smoke", ["environment.split=bench"]))
    for ids in (benchmark, ["hotel/date_change/0", "hotel/relocation/4711"]):
        with pytest.raises(UsageError, match=r"hotel/\w+/\d+ is .*say i_am_training_on_the_benchmark=True"):
            task_rows(ids)
    rows = task_rows(benchmark[:1], evaluation=True)
    assert (
        rows
        == task_rows(benchmark[:1], i_am_training_on_the_benchmark=True)
        == [{"prompt": benchmark[0], "task_id": benchmark[0]}]
    )
    asked: list[list[str]] = []

    def broken(task_ids: list[str], trainer: Any) -> list[Rollout]:
        asked.append(task_ids)
        return [Rollout(Job(Key(0, 0, 0, 0), task_id), outcome="error:backend") for task_id in task_ids]

    trainer = trl_trainer(broken, tmp_path)
    cases: list[tuple[str, dict[str, Any]]] = [
        (benchmark[0], {}),
        ("hotel/relocation/4711", {}),
        ("Good day.", {"tasks": {"Good day.": benchmark[0]}}),
    ]
    for prompt, ways in cases:
        trainer.train_dataset = [{"prompt": prompt}] * 3
        trainer.rollout_func = as_trl_rollout_func(broken, **ways)
        with pytest.raises(UsageError, match="benchmark"):
            trainer.train()
        assert not asked, "it is refused before anything is played"
        trainer.rollout_func = as_trl_rollout_func(broken, **ways, i_am_training_on_the_benchmark=True)
        with pytest.raises(BackendError):
            trainer.train()
        assert set(asked.pop()) == {ways.get("tasks", {}).get(prompt, prompt)}
    trainer.model.eval()
    with pytest.raises(BackendError):
        as_trl_rollout_func(broken)([benchmark[0]], trainer)
    assert asked, "it may be evaluated on"


def test_the_page_on_trl_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The document's own lines, on the toy library and for one step."""
    section = PAGE.read_text("utf-8").partition("## TRL's own trainer")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    small = (
        f'load("smoke", ["environment.domains=[library]", "environment.tasks=[{", ".join(TASKS)}]", '
        '"environment.turns=2", "model.hidden=32", "model.vocabulary=512", "sampling.turn_tokens=8"])'
    )
    block, count = re.subn(r'load\("smoke"\)', lambda _: small, block)
    assert count == 1
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    exec(compile(block, "docs/trainer.md", "exec"), space)
    history = space["trainer"].state.log_history
    assert [row["reward"] for row in history if "reward" in row] == [0.0, 0.0]
