"""What cannot be trained, though it can be written or planned: refused from the settings, before anything is loaded.

Each refusal says what to set instead. Imports nothing heavy.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from tb_envs.errors import UsageError
from tb_trainer.episodes import episode_settings
from tb_trainer.layout import NOT_UNDER_DEEPSPEED
from tb_trainer.schema import TrainConfig


def under_deepspeed() -> bool:
    """Whether `accelerate launch` was told to use DeepSpeed."""
    return os.environ.get("ACCELERATE_USE_DEEPSPEED", "").lower() in ("true", "1")


def check_built(config: TrainConfig) -> None:
    """Refuse settings that no code stands behind, or whose library is missing.

    Raises:
        UsageError: with what would be right.
    """
    parallel = config.parallel
    episode_settings(config.environment)
    launched = under_deepspeed()
    if parallel.sequence > 1 and (launched or parallel.strategy == "deepspeed"):
        raise UsageError(f"parallel.sequence {parallel.sequence} {NOT_UNDER_DEEPSPEED}")
    if launched and parallel.strategy != "deepspeed":
        raise UsageError(
            f"this launch is one with DeepSpeed, and parallel.strategy is {parallel.strategy}: set "
            "parallel.strategy=deepspeed, or launch with tb_trainer/launch/"
            f"{parallel.strategy}.yaml"
        )
    if parallel.strategy == "deepspeed" and find_spec("deepspeed") is None:
        raise UsageError(
            "parallel.strategy deepspeed needs DeepSpeed: pip install 'thinkingbox-gym[train,deepspeed]', or set "
            "parallel.strategy=fsdp2 and launch with tb_trainer/launch/fsdp2.yaml"
        )
    if parallel.strategy == "deepspeed" and not launched:
        raise UsageError(
            "parallel.strategy is deepspeed, and this launch is none with DeepSpeed: accelerate launch --config_file "
            "tb_trainer/launch/deepspeed_zero3.yaml --no_python tbx train …, or set the strategy that it was launched "
            "with (fsdp2, ddp)"
        )
    if config.model.lora.rank and find_spec("peft") is None:
        raise UsageError("model.lora needs peft: pip install 'thinkingbox-gym[train]', or set model.lora.rank=0")
