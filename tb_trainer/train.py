"""The thinnest honest GRPO: TRL's `GRPOTrainer` over whole episodes, the reward from each episode's database.

TRL draws the tasks, normalises rewards in their group and takes the step; `tb_trainer.rollout` plays the episodes and
`tb_envs.adapters.trl` is the seam. What this cannot do, the project's own loop will: TRL takes an optimizer step even
if no group has variance (without weight decay or momentum it moves nothing), replaces no broken group, writes no
checkpoint here, and trains the tiny model only, in one process on a CPU.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
import trl
from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from tb_envs.adapters.trl import as_trl_rollout_func, env_reward, task_rows
from tb_envs.episode import Settings
from tb_envs.errors import UsageError
from tb_envs.limits import Limits
from tb_envs.registration import env_id, load_domain
from tb_envs.task import get_task
from tb_trainer.config import TrainConfig
from tb_trainer.generate import ModelTurns
from tb_trainer.render import Renderer
from tb_trainer.rollout import Batch, Collector, Generator, Rollout
from tb_trainer.tiny import make_model, make_tokenizer, texts_of

Row = dict[str, Any]
COUNTS = ("turns", "user_turns", "tool_calls", "tool_errors", "malformed", "cut_off")


class Run:
    """A configured run: tasks, tokenizer, model, collector and TRL's trainer, and the log it writes.

    Args:
        config: every knob.
        out: the run's folder: ``config.json``, and ``log.jsonl`` with a row for each update between start and end.
        on_update: called with each update's row.

    Attributes:
        generator: writes the turns; whoever puts `WrittenTurns` here trains the model on those.
        batch: the episodes of the last update.
    """

    def __init__(self, config: TrainConfig, out: Path, *, on_update: Callable[[Row], None] | None = None) -> None:
        began = time.perf_counter()
        environment, sampling = config.environment, config.sampling
        self.config, self.out, self._on_update = config, out, on_update
        self.tasks = _tasks(config)
        spread = self.tasks[:: max(1, len(self.tasks) // config.model.texts)][: config.model.texts]
        texts = texts_of([get_task(task_id) for task_id in spread])
        self.tokenizer = make_tokenizer(texts, config.model.vocabulary)
        self.model = make_model(config.model, self.tokenizer, positions=sampling.episode_tokens, seed=config.seed)
        self.collector = Collector(
            Renderer(self.tokenizer, environment.prompt),
            Settings(
                limits=Limits(turns=environment.turns, tool_calls=environment.tool_calls),
                reward=environment.reward,
                faults=environment.faults or None,
            ),
            turn_tokens=sampling.turn_tokens,
            episode_tokens=sampling.episode_tokens,
            retries=environment.retries,
        )
        self.generator: Generator = ModelTurns(self.model, sampling, self.tokenizer)
        self.trainer = self._make_trainer()
        self.rows: list[Row] = []
        self.batch: Batch | None = None
        self._played_at = 0.0
        self._setup = time.perf_counter() - began

    def train(self) -> list[Row]:
        """Run all updates and return their rows."""
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "config.json").write_text(json.dumps(self.config.to_json(), indent=2) + "\n", "utf-8")
        (self.out / "log.jsonl").unlink(missing_ok=True)
        self._write(
            event="start",
            note=self.config.note,
            environment=env_id(self.config.environment.domain),
            tasks=len(self.tasks),
            parameters=sum(p.numel() for p in self.model.parameters()),
            vocabulary=len(self.tokenizer),
            setup_seconds=round(self._setup, 2),
            versions={module.__name__: str(module.__version__) for module in (torch, transformers, trl)},
        )
        try:
            self.trainer.train()
        except BaseException as error:
            self._write(event="failed", updates=len(self.rows), error=f"{type(error).__name__}: {error}")
            raise
        self._write(event="end", updates=len(self.rows), note=self.config.note)
        return self.rows

    def _play(self, task_ids: list[str], trainer: Any) -> list[Rollout]:
        self.batch = self.collector.collect(task_ids, self.generator, update=len(self.rows))
        self._played_at = time.perf_counter()
        return self.batch.rollouts

    def _make_trainer(self) -> GRPOTrainer:
        grpo, sampling = self.config.grpo, self.config.sampling
        os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
        # transformers renames settings of TRL's own configuration class; nobody who reads a log can act on that.
        warnings.filterwarnings("ignore", ".*_checkpointing` is deprecated", FutureWarning)
        args = GRPOConfig(
            output_dir=str(self.out),
            max_steps=grpo.updates,
            per_device_train_batch_size=grpo.micro_batch,
            gradient_accumulation_steps=self.config.episodes // grpo.micro_batch,
            num_generations=grpo.group_size,
            loss_type="dapo",
            scale_rewards=grpo.scale,
            beta=grpo.kl,
            epsilon=grpo.clip,
            temperature=sampling.temperature,
            max_completion_length=sampling.episode_tokens,
            learning_rate=grpo.learning_rate,
            lr_scheduler_type="constant",
            weight_decay=grpo.weight_decay,
            adam_beta1=grpo.adam_betas[0],
            adam_beta2=grpo.adam_betas[1],
            max_grad_norm=grpo.gradient_clip,
            seed=self.config.seed,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            dataloader_pin_memory=False,
            logging_steps=1,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
        )
        trainer = GRPOTrainer(
            model=self.model,
            reward_funcs=env_reward,
            args=args,
            train_dataset=Dataset.from_list(task_rows(self.tasks)),
            processing_class=self.tokenizer,
            rollout_func=as_trl_rollout_func(self._play),
            callbacks=[_AfterUpdate(self._updated)],
        )
        trainer.remove_callback(PrinterCallback)
        return trainer

    def _updated(self, numbers: Row, stepped_at: float) -> None:
        """Log the update that TRL just took."""
        assert self.batch is not None
        seconds = {**self.batch.seconds, "update": stepped_at - self._played_at}
        self.rows.append(
            {
                "update": len(self.rows) + 1,
                **summary(self.batch, self.config.grpo.group_size),
                "optimizer": {k: numbers.get(k) for k in ("loss", "grad_norm", "learning_rate", "entropy")},
                "seconds": {phase: round(value, 3) for phase, value in seconds.items()},
            }
        )
        self._write(event="update", **self.rows[-1])
        if self._on_update is not None:
            self._on_update(self.rows[-1])

    def _write(self, **row: Any) -> None:
        with (self.out / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(row, ensure_ascii=False) + "\n")


class _AfterUpdate(TrainerCallback):
    """Hands on TRL's numbers of each update, and when its step was done."""

    def __init__(self, then: Callable[[Row, float], None]) -> None:
        self._then = then

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._stepped_at = time.perf_counter()

    def on_log(self, args: Any, state: Any, control: Any, logs: Row | None = None, **kwargs: Any) -> None:
        if logs and "loss" in logs:
            self._then(logs, self._stepped_at)


def summary(batch: Batch, group_size: int) -> Row:
    """The numbers of one update's episodes: of whole ones only, except where system errors are counted."""
    whole = [rollout for rollout in batch.rollouts if rollout.reward is not None]
    rewards = [rollout.reward or 0.0 for rollout in whole]
    groups = [batch.rollouts[at : at + group_size] for at in range(0, len(batch.rollouts), group_size)]
    errors = [error for rollout in batch.rollouts for error in rollout.errors]
    ended = Counter(rollout.ended_by for rollout in whole)
    unresolved = len(batch.rollouts) - len(whole)
    return {
        "episodes": len(whole),
        "reward_mean": sum(rewards) / len(whole) if whole else None,
        "pass_rate": sum(rollout.outcome == "success" for rollout in whole) / len(whole) if whole else None,
        "groups": len(groups),
        "informative_groups": sum(len({r.reward for r in group if r.reward is not None}) > 1 for group in groups),
        "tokens": {
            "prompt": sum(len(rollout.prompt_ids) for rollout in whole),
            "action": sum(rollout.action_tokens for rollout in whole),
            "observation": sum(len(rollout.mask) - rollout.action_tokens for rollout in whole),
        },
        **{name: sum(getattr(rollout, name) for rollout in whole) for name in COUNTS},
        "ended_by": dict(sorted(ended.items())),
        "limits_hit": sum(count for name, count in ended.items() if name.startswith("limit:")),
        "system_errors": dict(sorted(Counter(error.split(": ")[0].removeprefix("error:") for error in errors).items())),
        "retries": len(errors) - unresolved,
        "unresolved": unresolved,
    }


def _tasks(config: TrainConfig) -> list[str]:
    environment = config.environment
    domain = load_domain(environment.domain)
    tasks = list(environment.tasks or domain.suite_ids[environment.split])
    if not tasks:
        raise UsageError(
            f"domain {domain.name!r} has no frozen suite {environment.split!r}; name tasks instead: "
            f"--set 'environment.tasks=[{domain.name}/<family>/0, …]'"
        )
    if len(tasks) < config.grpo.groups:
        raise UsageError(f"grpo.groups is {config.grpo.groups}, but there are only {len(tasks)} tasks")
    for task_id in environment.tasks:
        if get_task(task_id).domain is not domain:
            raise UsageError(f"environment.tasks: {task_id!r} is not of domain {domain.name!r}")
    return tasks
