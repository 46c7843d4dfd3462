"""Whole episodes for TRL's own `GRPOTrainer`: the player that `tb_envs.adapters.trl.as_trl_rollout_func` asks for.

The episodes, their tokens and their retries are those of every other run here; groups, advantages and the update are
TRL's. Each process plays what TRL gives it. Refuses weights that are spread over processes, servers that several
processes would have to fill, and a temperature that is not the one of TRL's loss. It cannot give TRL what that has no
place for: refilled groups and a correction for sampling that was cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tb_envs.errors import UsageError
from tb_trainer.engines import Key
from tb_trainer.engines.make import make_engine
from tb_trainer.episodes import make_runner
from tb_trainer.evaluate import TRIALS
from tb_trainer.play import play_all
from tb_trainer.runner import Job, Rollout, Runner
from tb_trainer.schema import TrainConfig
from tb_trainer.spread import is_sharded

ANEW = 1_000_000
"""Between the groups' numbers of two generations in one step of the optimizer."""


class TrlPlayer:
    """Plays one episode for each task id that TRL hands over, with the trainer's weights as they are then.

    Args:
        runner: plays; its engine is given the weights.
        seed: of the random numbers, which are keyed by (seed, optimizer step, group, slot).
        retries: attempts after the first that an episode gets when a system error broke it; one that stays broken has
            no reward (None), and `as_trl_rollout_func` hands it over with nothing to learn.
        slots: episodes in play at once at most.
        served: whether the engine is a server, which only one process may give weights to.
    """

    def __init__(
        self, runner: Runner, *, seed: int = 0, retries: int = 8, slots: int = 256, served: bool = False
    ) -> None:
        self.runner, self.seed, self.retries, self.slots, self.served = runner, seed, retries, slots, served
        self._calls: Counter[int] = Counter()

    def __call__(self, task_ids: Sequence[str], trainer: Any) -> list[Rollout]:
        """The rollouts of these tasks, in order.

        Args:
            task_ids: as TRL repeats them: each as often as it has attempts, one after the other.
            trainer: TRL's.

        Raises:
            UsageError: the trainer is launched or set in a way that this cannot serve; the message says what to set.
        """
        accelerator, engine = trainer.accelerator, self.runner.engine
        model = accelerator.unwrap_model(trainer.model)
        if is_sharded(model) or accelerator.distributed_type in ("FSDP", "DEEPSPEED"):
            raise UsageError("the weights are spread over processes, and each plays by itself: launch TRL without them")
        if accelerator.num_processes > 1 and self.served:
            raise UsageError("several processes would fill the same servers: set engine.kind to hf or cpu")
        if engine.sampling.temperature != trainer.args.temperature:
            raise UsageError(
                f"episodes are sampled at temperature {engine.sampling.temperature:g}, and TRL's loss divides by "
                f"{trainer.args.temperature:g}: set GRPOConfig(temperature=…) and sampling.temperature alike"
            )
        training = bool(model.training)
        update = int(trainer.state.global_step) if training else TRIALS
        size = trainer.num_generations if training else trainer.num_generations_eval
        first = accelerator.process_index * len(task_ids)
        anew = ANEW * self._calls[update] if training else 0
        self._calls[update] += 1
        jobs = [
            Job(Key(self.seed, update, anew + place // size, place % size), task_id)
            for place, task_id in enumerate(task_ids, first)
        ]
        try:
            engine.load(model)
            return play_all(self.runner, jobs, self.retries, slots=self.slots)
        finally:
            model.train(training)  # an engine that plays the model itself has turned dropout off

    def close(self) -> None:
        """Free what the episodes hold."""
        self.runner.close()


def make_trl_player(config: TrainConfig, model: Any, tokenizer: Any) -> TrlPlayer:
    """The player of a configuration: its `environment`, `engine` and `sampling`; `grpo` and all else are TRL's.

    Args:
        config: e.g. of `tb_trainer.config.load`.
        model: the policy that TRL will train.
        tokenizer: its tokenizer.

    Raises:
        UsageError: they do not fit together.
    """
    engine = make_engine(config, model, tokenizer)
    runner = make_runner(config, engine, tokenizer)
    retries, slots, served = config.environment.retries, config.engine.slots, config.engine.kind == "vllm"
    return TrlPlayer(runner, seed=config.seed, retries=retries, slots=slots, served=served)
