"""What cannot be trained, though it can be written or planned: refused from the settings, before anything is loaded.

Each refusal says what to set instead. Imports nothing heavy.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from tb_envs.errors import UsageError
from tb_trainer.episodes import episode_settings
from tb_trainer.schema import TrainConfig


def check_built(config: TrainConfig) -> None:
    """Refuse settings that no code stands behind, or whose library is missing.

    Raises:
        UsageError: with what would be right.
    """
    parallel = config.parallel
    episode_settings(config.environment)
    deepspeed = os.environ.get("ACCELERATE_USE_DEEPSPEED", "").lower() in ("true", "1")
    if parallel.sequence > 1 and (deepspeed or parallel.strategy == "deepspeed"):
        raise UsageError(
            f"parallel.sequence {parallel.sequence} was never tried with DeepSpeed: set parallel.strategy=fsdp2 and "
            "launch with tb_trainer/launch/fsdp2.yaml, or set parallel.sequence=1"
        )
    if parallel.strategy == "deepspeed" or deepspeed:
        where = "parallel.strategy deepspeed" if parallel.strategy == "deepspeed" else "a launch with DeepSpeed"
        raise UsageError(
            f"{where} can be planned (--dry-run) and is not built: weights that ZeRO 3 spread are not gathered for the "
            "engine and for checkpoints. Set parallel.strategy=fsdp2 and launch with tb_trainer/launch/fsdp2.yaml, "
            "which spreads the same numbers; for adapters or a small model parallel.strategy=ddp, "
            "tb_trainer/launch/ddp.yaml"
        )
    if config.model.lora.rank and find_spec("peft") is None:
        raise UsageError("model.lora needs peft: pip install 'thinkingbox-gym[train]', or set model.lora.rank=0")
