"""What a checkpoint holds of the weights and of the optimizer: written by all processes together, and taken up by them.

Every process makes the same calls, also the one that only helps to gather. Refuses nothing: `tb_trainer.checkpoint`
says which folder is whole, and whose.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

from tb_trainer import adapters
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
    state = gathered_state(optimizer, keep=first)
    if first:
        torch.save(state, folder / "optimizer.pt")


def load_weights(accelerator: Any, model: Any, optimizer: Any, folder: Path) -> None:
    """Take up what `save_weights` wrote."""
    if is_sharded(model) and not adapters.has_adapters(model):
        accelerator.load_state(str(folder))
        return
    adapters.restore(model, folder)
    take_state(optimizer, torch.load(folder / "optimizer.pt", weights_only=True, map_location="cpu"))
