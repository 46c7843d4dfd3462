"""DeepSpeed's ZeRO 3 (Rajbhandari et al. 2020, arXiv 1910.02054): what it is told, and what it spread, gathered again.

DeepSpeed steps, clips and keeps fp32 copies by itself; here it is told by the run's settings, so that nothing has to
be said twice. The optimizer is the loop's own (torch's AdamW), also where its state is kept on the CPU: no compiler is
needed. Whatever gathers is a collective call, as in `tb_trainer.spread`. Refuses other stages, other optimizers, fp16,
disks, and a file for DeepSpeed that contradicts the run's settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import deepcopy
from importlib import import_module
from typing import Any

import torch

from tb_envs.errors import UsageError

FILE = "tb_trainer/launch/deepspeed_zero3.yaml"
MOMENTS = ("exp_avg", "exp_avg_sq")


def configure(accelerator: Any, *, dtype: torch.dtype, clip: float) -> None:
    """Tell DeepSpeed what the run's settings say, before a model is loaded.

    Args:
        accelerator: of a launch with DeepSpeed.
        dtype: of the weights; bfloat16 gets an fp32 copy, and gradients are summed in fp32.
        clip: largest norm of the gradient.

    Raises:
        UsageError: the launch asks for what is not built, or for something else than the run.
    """
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    plugin = accelerator.state.deepspeed_plugin
    settings: dict[str, Any] = plugin.deepspeed_config
    if not hasattr(plugin, "launched_with"):
        plugin.launched_with = deepcopy(settings)
    settings.clear()  # of an earlier run in this process
    settings |= deepcopy(plugin.launched_with)
    spread: dict[str, Any] = settings["zero_optimization"]
    if spread.get("stage") != 3:
        raise UsageError(
            f"this launch asks DeepSpeed for ZeRO stage {spread.get('stage')}, built is stage 3: set zero_stage: 3 "
            f"(as {FILE} does), or launch with tb_trainer/launch/ddp.yaml and parallel.strategy=ddp"
        )
    for part in ("offload_param", "offload_optimizer"):
        if (spread.get(part) or {}).get("device") == "nvme":
            raise UsageError(f"this launch has DeepSpeed's {part}_device nvme, which is not built: set cpu or none")
    told = {
        "optimizer": "grpo.learning_rate, grpo.adam_betas, grpo.adam_eps and grpo.weight_decay",
        "scheduler": "grpo.warmup",
    }
    for name, where in told.items():
        if name in settings:
            raise UsageError(f"DeepSpeed's file of this launch holds {name!r}: leave it out, {where} say it")
    ours = str(dtype).removeprefix("torch.")
    for name, same in (("fp16", False), ("bf16", dtype is torch.bfloat16)):
        if (settings.get(name) or {}).get("enabled") is True and not same:
            raise UsageError(f"this launch sets {name} (mixed_precision): leave it out, model.dtype is {ours}")
    for name, value, why in (
        ("gradient_clipping", clip, f"grpo.gradient_clip is {clip:g}"),
        ("gradient_accumulation_steps", 1, "micro-batches are counted by grpo.micro_tokens"),
    ):
        if settings.get(name, "auto") not in ("auto", value):
            raise UsageError(f"this launch sets DeepSpeed's {name} to {settings[name]}: leave it out, {why}")
        settings[name] = value
    settings |= {
        "train_micro_batch_size_per_gpu": 1,  # of samples: only for its own counts
        "train_batch_size": "auto",
        "bf16": {"enabled": dtype is torch.bfloat16},
        "data_types": {"grad_accum_dtype": "fp32"},
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
    }
    for name in ("reduce_bucket_size", "stage3_prefetch_bucket_size", "stage3_param_persistence_threshold"):
        spread.setdefault(name, "auto")  # from the model's width, by accelerate
    warnings.filterwarnings("ignore", "`torch.distributed.*` is deprecated", FutureWarning)  # said at each call
    # Or transformers would spread whatever it loads: adapters are put on whole weights, and a reference stays whole.
    unset_hf_deepspeed_config()
    plugin.dschf = None


def is_zero(tensor: Any) -> bool:
    """Whether DeepSpeed has this tensor."""
    return hasattr(tensor, "ds_id")


def whole(parameter: Any) -> torch.Tensor:
    """A copy of a parameter, whole, in every process, in the type it computes in."""
    with _deepspeed().zero.GatheredParameters([parameter]):
        return parameter.detach().clone()


def precise(parameter: Any) -> torch.Tensor:
    """As `whole`, of a trained parameter in the precision that the optimizer keeps."""
    if not parameter.requires_grad:
        return whole(parameter)
    return _deepspeed().utils.safe_get_full_fp32_param(parameter)


def put(parameter: Any, value: torch.Tensor) -> None:
    """Give a trained parameter a value that every process has whole."""
    deepspeed = _deepspeed()
    with torch.no_grad(), deepspeed.zero.GatheredParameters([parameter], modifier_rank=0):
        parameter.copy_(value)
    deepspeed.utils.safe_set_full_fp32_param(parameter, value.to(parameter.device, torch.float32))


def optimizer_state(model: Any, optimizer: Any, *, keep: bool) -> dict[str, Any]:
    """``state_dict()`` of the loop's optimizer as one process alone would have it.

    Args:
        model: whose trained parameters the optimizer was made for, in their order.
        optimizer: as accelerate prepared it.
        keep: whether this process wants it; the others help.
    """
    own, trained = _own(optimizer), _trained(model)
    parts: dict[int, dict[str, Any]] = {}
    for place, parameter in enumerate(trained if own.state else []):
        full = {name: _deepspeed().utils.safe_get_full_optimizer_state(parameter, name) for name in MOMENTS}
        if keep:
            step = next(iter(own.state.values()))["step"].detach().cpu().clone()
            parts[place] = {"step": step, **{name: value.cpu() for name, value in full.items()}}
    groups = [{**group, "params": list(range(len(trained)))} for group in own.param_groups]
    return {"state": parts, "param_groups": groups}


def take_optimizer_state(model: Any, optimizer: Any, state: Mapping[str, Any]) -> None:
    """Give the loop's optimizer the state that `optimizer_state` made."""
    own, parts = _own(optimizer), state["state"]
    for group, saved in zip(own.param_groups, state["param_groups"], strict=True):
        group |= {name: value for name, value in saved.items() if name != "params"}
    own.state.clear()
    if not parts:
        return
    for flat in optimizer.optimizer.fp32_partitioned_groups_flat:
        own.state[flat] = {"step": parts[0]["step"].clone(), **{name: torch.zeros_like(flat) for name in MOMENTS}}
    for place, parameter in enumerate(_trained(model)):
        for name in MOMENTS:
            value = parts[place][name].to(parameter.device)
            _deepspeed().utils.safe_set_full_optimizer_state(parameter, value, name)


def _deepspeed() -> Any:
    return import_module("deepspeed")


def _own(optimizer: Any) -> Any:
    """The loop's optimizer, below accelerate's and DeepSpeed's."""
    return optimizer.optimizer.optimizer


def _trained(model: Any) -> list[Any]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
