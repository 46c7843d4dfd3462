"""FSDP2 on CPU processes: accelerate keeps it for GPUs, so it is told, once it has joined the others over gloo.

All else is the real thing: accelerate's preparation and torch's `fully_shard`, of which only device and library of the
collective calls differ from a GPU's. `accelerate launch` says the same in environment variables (``LAUNCHED``).
"""

from __future__ import annotations

import os
from typing import Any

import tb_trainer.loop
from tb_trainer import ranks

LAUNCHED = {
    "ACCELERATE_USE_FSDP": "true",
    "FSDP_VERSION": "2",
    "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP",
    "FSDP_RESHARD_AFTER_FORWARD": "true",
    "FSDP_STATE_DICT_TYPE": "SHARDED_STATE_DICT",
}
"""What `tb_trainer/launch/fsdp2.yaml` comes to, without its bf16."""


def use_fsdp2(precision: str = "no") -> None:
    """Have the runs of this process spread their weights."""
    from accelerate import Accelerator, FullyShardedDataParallelPlugin
    from accelerate.state import AcceleratorState, PartialState
    from accelerate.utils import DistributedType

    os.environ |= LAUNCHED | {"ACCELERATE_MIXED_PRECISION": precision}
    usual = ranks.make_accelerator

    def make(*args: Any, **kwargs: Any) -> Accelerator:
        accelerator = usual(*args, **kwargs)
        plugin = FullyShardedDataParallelPlugin()
        if precision != "no":
            plugin.set_mixed_precision(precision)
        for state in (PartialState, AcceleratorState):
            state._shared_state["distributed_type"] = DistributedType.FSDP
        AcceleratorState._shared_state["fsdp_plugin"] = plugin
        assert accelerator.is_fsdp2
        return accelerator

    tb_trainer.loop.make_accelerator = make
