"""Token mixers under sequence parallel: softmax attention and the gated delta rule, over episodes that lie in slices.

Inside of `Mixers` two things find whole episodes and a share of the heads: the attention a model is configured with,
and what its gated delta rule calls (transformers' ``causal_conv1d_fn`` and ``torch_chunk_gated_delta_rule``: there
are the fast kernels). Outside nothing is changed: the model plays and is saved as ever. Rows are padded on the right
and all mixers are causal, so no mask is needed. Refuses models with other token mixers before anything is trained, and
once more behind the first forward pass, if a mixer did not pass by here.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from inspect import unwrap
from types import ModuleType
from typing import Any

import torch
import transformers
from transformers import AttentionInterface, AttentionMaskInterface

from tb_envs.errors import UsageError
from tb_trainer.attention import no_mask
from tb_trainer.memory import repeats
from tb_trainer.sequence import LEAST, SequenceGroup

NAME = "sequence_parallel"
CONVOLUTION, DELTA = "causal_conv1d_fn", "torch_chunk_gated_delta_rule"
INSTEAD = "set parallel.sequence=1, or take a model of softmax attention and gated delta rule blocks (Qwen3, Qwen3.5)"


class Mixers:
    """A context in which the models' token mixers exchange heads for tokens.

    Args:
        group: the processes that share an episode; of one alone the context does nothing.
        models: the policy and whatever else reads slices; as transformers made them, wrapped or not.

    Raises:
        UsageError: a model cannot be spread over this group.
    """

    def __init__(self, group: SequenceGroup, models: Sequence[Any]) -> None:
        self._group, self._met, self._undo = group, Counter[str](), list[Callable[[], None]]()
        self._parts = [_parts(model, group.size) for model in models] if group.size > 1 else []
        self._unsure = {id(model): parts for model, parts in zip(models, self._parts, strict=False)}

    def __enter__(self) -> Mixers:
        modules: dict[str, ModuleType] = {}
        for attention, linear in self._parts:
            modules |= {name: sys.modules[name] for name in {type(mixer).__module__ for mixer in linear}}
            for config in {id(mixer.config): mixer.config for mixer in attention}.values():
                self._use(config)
        for module in modules.values():
            self._replace(module, CONVOLUTION, self._convolution(getattr(module, CONVOLUTION)))
            self._replace(module, DELTA, self._delta(getattr(module, DELTA)))
        return self

    def __exit__(self, *_: Any) -> None:
        self._met.clear()
        while self._undo:
            self._undo.pop()()

    def check(self, model: Any) -> None:
        """Whether in its first forward pass each block's mixer has exchanged; nothing after the next ones.

        Args:
            model: one of `models`, behind a forward pass.

        Raises:
            UsageError: some have not, and were blind to the other slices.
        """
        met = Counter(self._met)
        self._met.clear()
        if id(model) not in self._unsure:
            return
        attention, linear = self._unsure.pop(id(model))
        wanted = Counter({NAME: len(attention), CONVOLUTION: len(linear), DELTA: len(linear)})
        if met != wanted:
            raise UsageError(
                f"parallel.sequence {self._group.size}: the model's token mixers were not all met (of {dict(wanted)} "
                f"{dict(met)}), so they cannot be spread; {INSTEAD}"
            )

    def _use(self, config: Any) -> None:
        """Have a configuration name our attention, over the one that it named."""
        inner = config._attn_implementation
        AttentionInterface.register(NAME, self._attention(inner))
        AttentionMaskInterface.register(NAME, no_mask)
        config._attn_implementation = NAME
        self._undo.append(lambda: setattr(config, "_attn_implementation", inner))

    def _replace(self, module: ModuleType, name: str, function: Any) -> None:
        was = getattr(module, name)
        setattr(module, name, function)
        self._undo.append(lambda: setattr(module, name, was))

    def _attention(self, name: str) -> Callable[..., tuple[torch.Tensor, None]]:
        """The attention of `name` as transformers calls it; tensors of the shape (rows, heads, tokens, size)."""

        def attend(
            module: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Any, **options: Any
        ) -> tuple[torch.Tensor, None]:
            self._met[NAME] += 1
            # Positions are in queries and keys already; flash attention would take a slice's for packed episodes.
            del mask
            known = {key: options[key] for key in ("dropout", "scaling", "softcap") if key in options}
            heads, times = self._group.to_heads, repeats(k.shape[1], q.shape[1], self._group.size)
            q, k, v = (part.transpose(1, 2) for part in (q, k, v))
            q, k, v = (heads(part).transpose(1, 2) for part in (q, _repeated(k, times), _repeated(v, times)))
            like = _Like(
                module,
                num_key_value_groups=q.shape[1] // k.shape[1],
                config=_Like(module.config, _attn_implementation=name),
            )
            eager: Any = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
            future = _future(q) if name == "eager" else None  # the others are causal where there is no mask
            out, _ = AttentionInterface().get_interface(name, eager)(like, q, k, v, future, is_causal=True, **known)
            return self._group.to_tokens(out), None

        return attend

    def _convolution(self, inner: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        """The causal convolution, shape (rows, channels, tokens), with what the slice before ends in."""

        def convolve(x: torch.Tensor, weight: torch.Tensor, *rest: Any, **options: Any) -> torch.Tensor:
            self._met[CONVOLUTION] += 1
            tokens, back = x.transpose(1, 2), weight.shape[-1] - 1
            whole = torch.cat([self._group.before(tokens, back), tokens], 1)
            return inner(whole.transpose(1, 2), weight, *rest, **options)[:, :, back:]

        return convolve

    def _delta(self, inner: Callable[..., Any]) -> Callable[..., tuple[torch.Tensor, None]]:
        """The gated delta rule over whole episodes; tensors of the shape (rows, tokens, heads, …)."""

        def apply(
            q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, g: torch.Tensor, beta: torch.Tensor, **options: Any
        ) -> tuple[torch.Tensor, None]:
            self._met[DELTA] += 1
            times = repeats(k.shape[2], v.shape[2], self._group.size)
            q, k = (_repeated(part, times) for part in (q, k))
            q, k, v, g, beta = (self._group.to_heads(part) for part in (q, k, v, g, beta))
            out, _ = inner(q, k, v, g=g, beta=beta, **options)
            return self._group.to_tokens(out), None

        return apply


class _Like:
    """An object with some attributes different."""

    def __init__(self, other: Any, **different: Any) -> None:
        self._other = other
        vars(self).update(different)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._other, name)


def _repeated(x: torch.Tensor, times: int) -> torch.Tensor:
    """Heads of the shape (rows, tokens, heads, size), each of them so often."""
    return x if times == 1 else x.repeat_interleave(times, 2)


def _future(q: torch.Tensor) -> torch.Tensor:
    """What a token may not look at, to be added to the scores."""
    tokens = q.shape[2]
    return torch.full((1, 1, tokens, tokens), float("-inf"), dtype=q.dtype, device=q.device).triu(1)


def _parts(model: Any, size: int) -> tuple[list[Any], list[Any]]:
    """The blocks' mixers: (softmax attention, gated delta rules).

    Raises:
        UsageError: there are others, or `size` processes cannot share them.
    """
    while hasattr(model, "module"):  # what accelerate put around it
        model = model.module
    attention, linear = list[Any](), list[Any]()
    for place, block in enumerate(getattr(model.get_decoder(), "layers", None) or [model]):
        inside = list(block.modules())
        softmax = [module for module in inside if hasattr(module, "num_key_value_groups")]
        deltas = [module for module in inside if type(module).__name__.endswith("GatedDeltaNet") and _is_known(module)]
        own = {id(module) for delta in deltas for module in delta.modules()}
        strange = [module for module in inside if isinstance(module, torch.nn.Conv1d) and id(module) not in own]
        if len(softmax) + len(deltas) != 1 or strange:
            raise UsageError(f"parallel.sequence {size}: block {place} of the model has another token mixer; {INSTEAD}")
        attention += softmax
        linear += deltas
    if not all(DELTA in unwrap(type(mixer).forward).__code__.co_names for mixer in linear):
        raise UsageError(
            f"parallel.sequence {size}: in transformers {transformers.__version__} gated delta rules hold functions "
            "of their own, which cannot be replaced; take transformers 5.17 or newer, or set parallel.sequence=1"
        )
    config = model.config.get_text_config()
    why = _unfit(config, size, softmax=bool(attention), linear=bool(linear))
    if why:
        raise UsageError(f"parallel.sequence {size} {why}")
    return attention, linear


def _unfit(config: Any, size: int, *, softmax: bool, linear: bool) -> str:
    """Why a model of this configuration cannot be spread; nothing if it can."""
    kinds = list(getattr(config, "layer_types", None) or ())
    partly = sorted({*kinds} - {"full_attention", "linear_attention"})
    rope = (getattr(config, "rope_parameters", None) or {}).get("rope_type")
    if partly or (not kinds and getattr(config, "sliding_window", None)):
        return (
            f"needs attention over whole episodes, the model has {', '.join(partly) or 'a sliding window'}; {INSTEAD}"
        )
    if rope in ("dynamic", "longrope"):
        return f"slices episodes, on whose length the model's rotary embeddings depend ({rope}); {INSTEAD}"
    if softmax and config.num_attention_heads % size:
        return f"does not divide the model's {config.num_attention_heads} attention heads"
    if linear and config.linear_num_value_heads % size:
        return f"does not divide the model's {config.linear_num_value_heads} heads of linear attention"
    if linear and config.linear_conv_kernel_dim > LEAST + 1:
        return f"is for convolutions over {LEAST + 1} tokens at most, the model has {config.linear_conv_kernel_dim}"
    return ""


def _is_known(mixer: Any) -> bool:
    """Whether a gated delta rule calls the two functions by name."""
    module = sys.modules[type(mixer).__module__]
    return hasattr(module, CONVOLUTION) and hasattr(module, DELTA)
