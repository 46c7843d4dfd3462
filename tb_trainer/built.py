"""What cannot be trained, though it can be written or planned: refused from the settings, before anything is loaded.

Each refusal says what to set instead. Imports nothing heavy.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from tb_envs.errors import UsageError
from tb_trainer.backlog import pause_of
from tb_trainer.episodes import episode_settings
from tb_trainer.layout import NOT_UNDER_DEEPSPEED
from tb_trainer.schema import TrainConfig
from tb_trainer.trackers import check_trackers

LAUNCH_FILES = {"ddp": "ddp.yaml", "fsdp2": "fsdp2.yaml", "deepspeed": "deepspeed_zero3.yaml"}
"""Of each `parallel.strategy`, in tb_trainer/launch."""


def under_deepspeed() -> bool:
    """Whether `accelerate launch` was told to use DeepSpeed."""
    return launched_strategy() == "deepspeed"


def launched_strategy() -> str:
    """The `parallel.strategy` that `accelerate launch` was told; ``ddp`` where it was told none, or did not launch."""
    for strategy, name in (("deepspeed", "ACCELERATE_USE_DEEPSPEED"), ("fsdp2", "ACCELERATE_USE_FSDP")):
        if os.environ.get(name, "").lower() in ("true", "1"):
            return strategy
    return "ddp"


def check_built(config: TrainConfig) -> None:
    """Refuse settings that no code stands behind, or whose library is missing.

    Raises:
        UsageError: with what would be right.
    """
    parallel = config.parallel
    episode_settings(config.environment)
    launched = launched_strategy()
    if parallel.sequence > 1 and "deepspeed" in (launched, parallel.strategy):
        raise UsageError(f"parallel.sequence {parallel.sequence} {NOT_UNDER_DEEPSPEED}")
    if parallel.strategy == "deepspeed" and find_spec("deepspeed") is None:
        raise UsageError(
            "parallel.strategy deepspeed needs DeepSpeed: pip install 'thinkingbox-gym[train,deepspeed]', or set "
            "parallel.strategy=fsdp2 and launch with tb_trainer/launch/fsdp2.yaml"
        )
    if parallel.strategy != launched:
        raise UsageError(
            f"parallel.strategy is {parallel.strategy}, and this process was launched with {launched}: accelerate "
            f"launch --config_file tb_trainer/launch/{LAUNCH_FILES[parallel.strategy]} --no_python tbx train …, or set "
            f"parallel.strategy={launched}{_bfloat16(config, launched)}"
        )
    check_patience(config, int(os.environ.get("WORLD_SIZE") or 1))
    if config.model.lora.rank and find_spec("peft") is None:
        raise UsageError("model.lora needs peft: pip install 'thinkingbox-gym[train]', or set model.lora.rank=0")
    check_trackers(config.saving.trackers)


def check_patience(config: TrainConfig, processes: int) -> None:
    """Refuse several processes that wait for the first one less than one episode may last, played again and again.

    Raises:
        UsageError: with the least `parallel.timeout`.
    """
    environment, timeout = config.environment, config.parallel.timeout
    if processes < 2 or not episode_settings(environment).suspends:
        return
    pauses = sum(pause_of(attempt, environment.pause) for attempt in range(1, environment.retries + 1))
    least = environment.deadline * (1 + environment.retries) + pauses
    if timeout < least:
        raise UsageError(
            f"parallel.timeout is {timeout:g} s, but one episode may wait for its environment {least:g} s "
            f"(environment.deadline {environment.deadline:g} s, {1 + environment.retries} times, and pauses): set "
            f"parallel.timeout={least:.0f} or more, or lower environment.deadline or environment.retries"
        )


def _bfloat16(config: TrainConfig, launched: str) -> str:
    """What else to set, where nobody keeps fp32 copies of the weights."""
    return " and model.dtype=float32" if launched == "ddp" and config.model.dtype == "bfloat16" else ""
