"""What a checkpoint holds of the weights and of the optimizer: written by all processes together, and taken up by them.

Every process makes the same calls, also the one that only helps to gather. `tb_trainer.checkpoint` says which folder
is whole, and whose; refused here is one that was written under another strategy, or whose parts cannot be spread anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

from tb_envs.errors import UsageError
from tb_trainer import adapters, checkpoint, zero
from tb_trainer.built import under_deepspeed
from tb_trainer.spread import gathered, gathered_state, is_sharded, take_state


def save_weights(accelerator: Any, model: Any, optimizer: Any, folder: Path, dtype: torch.dtype) -> None:
    """Weights and the state of the optimizer.

    Args:
        accelerator: knows the processes; the first one writes.
        model: without what accelerate put around it.
        optimizer: as accelerate prepared it.
        folder: a draft, the same in all processes.
        dtype: that whole weights are kept in where they were spread.
    """
    transformers.utils.logging.disable_progress_bar()
    first, state = bool(accelerator.is_main_process), None
    if is_sharded(model):
        # Adapters are resumed from this file; other weights, in full precision, from each process's part.
        state = gathered(model, keep=first, dtype=None if adapters.has_adapters(model) else dtype)
    if first:
        adapters.save(model, folder, state)
    if is_sharded(model) and not adapters.has_adapters(model):
        accelerator.save_state(str(folder))  # each process its part
        return
    if is_sharded(model) and under_deepspeed():
        state = zero.optimizer_state(model, optimizer, keep=first)
    else:
        state = gathered_state(optimizer, keep=first)
    if first:
        torch.save(state, folder / "optimizer.pt")


def load_weights(accelerator: Any, model: Any, optimizer: Any, folder: Path) -> None:
    """Take up what `save_weights` wrote.

    Raises:
        UsageError: it was written by processes that this launch has not got.
    """
    zero3 = is_sharded(model) and under_deepspeed()
    if is_sharded(model) and not adapters.has_adapters(model):
        _check_parts(accelerator, folder, zero3=zero3)
        accelerator.load_state(str(folder))
        return
    _check_there(folder, "optimizer.pt")
    adapters.restore(model, folder)
    state = torch.load(folder / "optimizer.pt", weights_only=True, map_location="cpu")
    if zero3:
        zero.take_optimizer_state(model, optimizer, state)
    else:
        take_state(optimizer, state)


def _check_parts(accelerator: Any, folder: Path, *, zero3: bool) -> None:
    _check_there(folder, "pytorch_model" if zero3 else "pytorch_model_fsdp_0")
    written, now = checkpoint.read_state(folder)["processes"], accelerator.num_processes
    if zero3 and written != now:  # DeepSpeed cannot spread them anew; FSDP2 can
        raise UsageError(
            f"{folder} was written by {written} processes under DeepSpeed, here are {now}; {_else(folder)}"
        )


def _check_there(folder: Path, name: str) -> None:
    if not (folder / name).exists():
        raise UsageError(f"{folder} was written with another parallel.strategy (it has no {name}); {_else(folder)}")


def _else(folder: Path) -> str:
    return f"resume as it was begun, or start a new run from its weights: --set model.checkpoint={folder}"
