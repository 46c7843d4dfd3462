"""What FSDP2 and ZeRO 3 spread over processes, weights and optimizer: gathered to be served or saved, and spread again.

Whatever gathers is a collective call: every process has to make it. What one process alone could hold is never asked of
it without need: adapters and their optimizer state are gathered whole, the optimizer state of all weights stays spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from tb_trainer import zero


def is_sharded(model: Any) -> bool:
    """Whether no process has the whole model."""
    return any(is_part(parameter) for parameter in model.parameters())


def is_part(tensor: Any) -> bool:
    """Whether no process has the whole tensor."""
    return hasattr(tensor, "full_tensor") or zero.is_zero(tensor)


def count(parameter: Any) -> int:
    """How many numbers a parameter has in all processes together."""
    return int(parameter.ds_numel if zero.is_zero(parameter) else parameter.numel())


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor whole, in every process."""
    if zero.is_zero(tensor):
        return zero.whole(tensor)
    gather = getattr(tensor, "full_tensor", None)
    return tensor if gather is None else gather()


def spread_like(tensor: torch.Tensor, example: Any) -> torch.Tensor:
    """This process's part of a tensor that all have whole, as `example` is spread."""
    if not hasattr(example, "full_tensor") or tensor.shape != example.shape:
        return tensor
    from torch.distributed.tensor import distribute_tensor

    there = tensor.to(device=example.device, dtype=example.dtype)
    return distribute_tensor(there, example.device_mesh, example.placements, src_data_rank=None)


class FullWeights:
    """A model spread over processes, as one: `named_parameters` gathers each in turn, in all processes at once.

    Can be gone through once. Every process has to come to the end: whoever may have stopped before it calls `drain`.
    """

    def __init__(self, model: Any) -> None:
        self._left = iter(model.named_parameters())
        self.config = model.config

    def named_parameters(self) -> Iterator[tuple[str, torch.Tensor]]:
        """(name, whole tensor) of every parameter that is left."""
        for name, parameter in self._left:
            yield name, whole(parameter).detach()

    def drain(self) -> None:
        """Gather what is left, for the others."""
        for _ in self.named_parameters():
            pass


def gathered(model: Any, *, keep: bool, dtype: torch.dtype | None = None) -> dict[str, torch.Tensor]:
    """The state of a model by name, whole and on the CPU; of a model with adapters these alone.

    Args:
        model: spread over processes.
        keep: whether this process wants it; the others help and get nothing.
        dtype: that floating-point numbers are kept in; None: all that the optimizer knows of them.
    """
    state, seen = dict[str, torch.Tensor](), set[int]()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) in seen or (hasattr(model, "peft_config") and not tensor.requires_grad):
            continue
        seen.add(id(tensor))  # of tied weights the first
        full = (zero.precise(tensor) if dtype is None and zero.is_zero(tensor) else whole(tensor)).detach()
        if keep:
            state[name] = full.to("cpu", dtype if full.is_floating_point() else None)
    return state


def gathered_state(optimizer: Any, *, keep: bool) -> dict[str, Any]:
    """``optimizer.state_dict()`` as one process alone would have it."""
    state = optimizer.state_dict()
    parts: dict[int, dict[str, Any]] = {}
    for place, values in state["state"].items():
        full = {name: whole(value) if torch.is_tensor(value) else value for name, value in values.items()}
        if keep:
            parts[place] = {name: value.cpu() if torch.is_tensor(value) else value for name, value in full.items()}
    return {**state, "state": parts}


def take_state(optimizer: Any, state: Mapping[str, Any]) -> None:
    """Give an optimizer the state that `gathered_state` made."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    parts = {
        place: {
            name: spread_like(value, parameters[place]) if torch.is_tensor(value) else value
            for name, value in values.items()
        }
        for place, values in state["state"].items()
    }
    optimizer.load_state_dict({**state, "state": parts})
