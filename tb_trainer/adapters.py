"""Low-rank adapters (LoRA, Hu et al. 2021, arXiv 2106.09685) through peft: put on, saved alone, taken up, merged.

A checkpoint of a run with adapters holds these and no weights below them; what it was trained over is named in its
``adapter_config.json``. Refuses targets that name no layer, and to go on with adapters of another shape. Says on the
error stream which blocks' mixers get none: of a model that has gated delta rules beside attention, names such as
``q_proj`` reach one block in four.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tb_envs.errors import UsageError
from tb_trainer import zero
from tb_trainer.schema import LoraConfig
from tb_trainer.spread import spread_like

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


def has_adapters(model: Any) -> bool:
    """Whether the model is one of peft's."""
    return hasattr(model, "peft_config")


def base_of(folder: str, known: str = "") -> str:
    """What the adapters in a folder were trained over, by its path or hub name; empty if the folder holds none.

    Args:
        folder: of a checkpoint, or any name of a model.
        known: what to take in place of the base that the folder names, e.g. because it was moved.

    Raises:
        UsageError: neither is there.
    """
    if not (Path(folder) / CONFIG).is_file():
        return ""
    _installed(folder)
    from peft import PeftConfig

    base = known or str(PeftConfig.from_pretrained(folder).base_model_name_or_path or "")
    if not base:
        raise UsageError(
            f"{folder} holds adapters and does not say over which model: set model.path to that, and model.checkpoint "
            "to the adapters"
        )
    return base


def put_on(model: Any, lora: LoraConfig, dtype: torch.dtype) -> Any:
    """The model with new adapters, the same in every process; its own weights are frozen."""
    _installed("model.lora")
    from peft import LoraConfig as Config
    from peft import get_peft_model

    check_targets(model, lora.targets)
    _say(model, lora.targets)
    targets: Any = lora.targets[0] if lora.targets == ("all-linear",) else list(lora.targets)
    torch.manual_seed(0)  # the same first adapter on every process
    try:
        adapted = get_peft_model(
            model, Config(r=lora.rank, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules=targets)
        )
    except ValueError as error:
        raise UsageError(f"model.lora.targets: {str(error).splitlines()[0]}") from None
    return adapted.to(dtype)  # peft makes adapters in fp32, which FSDP refuses beside other types


def put_on_saved(model: Any, folder: str, lora: LoraConfig, dtype: torch.dtype) -> Any:
    """The model with the adapters of a folder: to be trained on if `lora` has a rank, else merged into its weights.

    Raises:
        UsageError: they are of another shape than `lora` says.
    """
    from peft import PeftConfig, PeftModel

    found: Any = PeftConfig.from_pretrained(folder)
    if lora.rank and (found.r, found.lora_alpha) != (lora.rank, lora.alpha):
        raise UsageError(
            f"{folder} holds adapters of rank {found.r} and alpha {found.lora_alpha}; to go on with them set "
            f"model.lora.rank={found.r} and model.lora.alpha={found.lora_alpha}, to merge them model.lora.rank=0"
        )
    if lora.rank and not isinstance(found.target_modules, str):  # which would be a pattern
        _say(model, sorted(found.target_modules or ()))
    adapted: Any = PeftModel.from_pretrained(model, folder, is_trainable=bool(lora.rank)).to(dtype)
    return adapted if lora.rank else adapted.merge_and_unload()


def is_target(name: str, targets: Sequence[str]) -> bool:
    """Whether a linear layer of this name gets an adapter, by peft's rule: a target is the end of its dotted name."""
    return tuple(targets) == ("all-linear",) or any(f".{name}".endswith(f".{target}") for target in targets)


def check_targets(model: Any, targets: Sequence[str]) -> None:
    """Refuse a target that no layer of a model is called.

    Raises:
        UsageError: with the names of its linear layers.
    """
    names = [name for name, _ in model.named_modules()]
    for target in targets:
        if target != "all-linear" and not any(is_target(name, (target,)) for name in names):
            linear = sorted(
                {name.split(".")[-1] for name, part in model.named_modules() if isinstance(part, nn.Linear)}
            )
            raise UsageError(
                f"model.lora.targets: no layer is called {target!r}; linear layers here: {', '.join(linear)}; "
                "or take all-linear"
            )


def frozen_mixers(model: Any, targets: Sequence[str]) -> str:
    """Which blocks' token mixers (attention, gated delta rule) get no adapter at all, in words; empty: none of them.

    Args:
        model: without adapters; its weights may be on the meta device.
        targets: as in `LoraConfig`.
    """
    bare: dict[str, list[int]] = {}
    layers: dict[str, set[str]] = {}
    blocks: list[Any] = list(getattr(model.get_decoder(), "layers", ()))
    for place, block in enumerate(blocks):
        for child, mixer in block.named_children():
            linear = [f"{child}.{name}" for name, part in mixer.named_modules() if isinstance(part, nn.Linear)]
            if linear and "mlp" not in child and not any(is_target(name, targets) for name in linear):
                bare.setdefault(child, []).append(place)
                layers.setdefault(child, set()).update(name.split(".")[-1] for name in linear)
    said = [
        f"{child} of {len(bare[child])} of the {len(blocks)} blocks ({_spans(bare[child])}; layers {', '.join(names)})"
        for child, names in ((child, sorted(layers[child])) for child in bare)
    ]
    return " and ".join(said)


def save(model: Any, folder: Path, state: dict[str, torch.Tensor] | None = None) -> None:
    """Write a model's weights, of a model with adapters these alone.

    Args:
        model: whole, or spread over processes.
        folder: to write into.
        state: the weights, if the model is spread.
    """
    options: dict[str, Any] = {} if state is None else {"state_dict": state}
    if has_adapters(model):
        options["save_embedding_layers"] = False  # whether they were resized would be asked of the hub; they never are
    model.save_pretrained(folder, **options)


def restore(model: Any, folder: Path) -> None:
    """Give a model the weights, or the adapters, that `save` wrote; adapters also to a model that is spread.

    Raises:
        UsageError: they are not those of this model.
    """
    if not has_adapters(model):
        model.load_state_dict(type(model).from_pretrained(folder).state_dict())
        return
    from peft import get_peft_model_state_dict, set_peft_model_state_dict
    from safetensors.torch import load_file

    saved = load_file(folder / WEIGHTS)
    apart = any(map(zero.is_zero, model.parameters()))
    if apart:
        trained = ((name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad)
        current = {name.replace(f".{model.active_adapter}.", "."): parameter for name, parameter in trained}
    else:
        current = get_peft_model_state_dict(model, save_embedding_layers=False)
    if set(saved) != set(current):
        raise UsageError(f"{folder / WEIGHTS} holds adapters of other layers than model.lora.targets names")
    if apart:
        for name, parameter in current.items():
            zero.put(parameter, saved[name])
        return
    set_peft_model_state_dict(model, {name: spread_like(saved[name], now) for name, now in current.items()})


def plain_weight(part: Any) -> torch.Tensor:
    """A linear layer's weight as an engine needs it: with its adapter added, a copy that is no part of the training.

    Raises:
        TypeError: it is neither a plain layer nor one with plain LoRA.
    """
    if type(part) is torch.nn.Linear:
        return part.weight.detach()
    below = getattr(part, "base_layer", None)
    if type(below) is not torch.nn.Linear or not hasattr(part, "lora_A") or any(getattr(part, "lora_variant", {})):
        raise TypeError(type(part).__name__)
    whole = below.weight.detach().float()
    for name in part.active_adapters:
        a, b = part.lora_A[name].weight.detach().float(), part.lora_B[name].weight.detach().float()
        whole = whole + part.scaling[name] * (b @ a)
    return whole.to(below.weight.dtype)


def _say(model: Any, targets: Sequence[str]) -> None:
    """What stays frozen, on the error stream; each process of a run says it."""
    frozen = frozen_mixers(model, targets)
    if frozen:
        named = f"model.lora.targets [{', '.join(targets)}]"
        print(f"{named} leaves frozen: {frozen}; name layers of these too, or take all-linear", file=sys.stderr)


def _spans(places: Sequence[int]) -> str:
    """Numbers as in ``0-2, 4``."""
    spans: list[list[int]] = []
    for place in places:
        if spans and place == spans[-1][1] + 1:
            spans[-1][1] = place
        else:
            spans.append([place, place])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def _installed(what: str) -> None:
    from importlib.util import find_spec

    if find_spec("peft") is None:
        raise UsageError(f"{what} needs peft: pip install 'thinkingbox-gym[train]'")
