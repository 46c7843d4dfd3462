"""One forward pass over tokens of several talks, each at its own place and with its own keys and values.

The tokens of all rows lie one behind the other in a single sequence. What works on each token alone (projections, MLP,
norms) runs over all of them at once; attention runs row by row, over exactly the row's own tokens. So nothing is
padded, and no row's numbers depend on what the other rows hold. Refuses models for which this is not what the model
itself computes: that is measured when the pass is made, on a few tokens, and not believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tb_envs.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

ATTENTION = "tbx_ragged"
GROW = 256
"""Places that a row's store of keys and values grows by, at least."""
TOLERANCE = {"torch.float32": 2e-3, "torch.float16": 5e-2, "torch.bfloat16": 2.5e-1}
"""Largest difference of two logits, in standard deviations of them, that is rounding; by the weights' type."""
WHAT_TO_DO = "serve it (vLLM, llama.cpp, SGLang) and give --base-url"


class Stored(NamedTuple):
    """Keys and values of some places of a row, a pair of tensors ``[heads, places, size]`` for each layer."""

    layers: list[tuple[Tensor, Tensor]]

    @property
    def bytes(self) -> int:
        """Memory of them all."""
        return sum(part.numel() * part.element_size() for pair in self.layers for part in pair)


@dataclass
class Row:
    """The keys and values of one talk so far: `length` tokens."""

    length: int = 0
    layers: list[tuple[Tensor, Tensor]] = field(default_factory=list[Any])

    def put(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store what a layer has of new tokens behind the others; returns all of that layer, with room cut off."""
        end = self.length + keys.shape[1]
        while len(self.layers) <= layer:
            self.layers.append((keys[:, :0], values[:, :0]))
        held = self.layers[layer]
        if held[0].shape[1] < end:
            room = end + max(GROW, end // 8)
            grown = [old.new_empty((old.shape[0], room, old.shape[2])) for old in held]
            for new, old in zip(grown, held, strict=True):
                new[:, : self.length] = old[:, : self.length]
            held = self.layers[layer] = (grown[0], grown[1])
        held[0][:, self.length : end] = keys
        held[1][:, self.length : end] = values
        return held[0][:, :end], held[1][:, :end]

    def append(self, stored: Stored) -> None:
        """Go on with keys and values that another row has computed of the same tokens."""
        for layer, (keys, values) in enumerate(stored.layers):
            self.put(layer, keys, values)
        self.length += stored.layers[0][0].shape[1]

    def copy(self, start: int, end: int) -> Stored:
        """Some places, to be kept."""
        return Stored([(k[:, start:end].clone(), v[:, start:end].clone()) for k, v in self.layers])


class Part(NamedTuple):
    """Tokens of one row in a pass: which row, where they lie in the sequence, and how many."""

    row: Row
    place: int
    tokens: int


class Ragged:
    """The pass of one model.

    Args:
        model: of transformers; it computes with this attention from now on.

    Raises:
        UsageError: the model computes something else.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.config = model.config.get_text_config()
        self.positions = int(getattr(self.config, "max_position_embeddings", 0) or 0) or 1 << 20
        self._name = type(model).__name__
        self._check_kind()
        self._install()

    def feed(self, ids: Sequence[int], parts: Sequence[Part], *, last: bool) -> Tensor:
        """Logits ``[places, vocabulary]`` of tokens that follow what their rows hold, which then hold them too.

        Args:
            ids: the whole sequence; tokens of no part are filling, and nothing of theirs is meant.
            parts: where the rows' tokens lie in it.
            last: of the last token only.
        """
        import torch

        places = [0] * len(ids)
        for row, at, count in parts:
            places[at : at + count] = range(row.length, row.length + count)
        device = self.model.device
        with torch.inference_mode():
            out = self.model(
                input_ids=torch.tensor([ids], device=device),
                position_ids=torch.tensor([places], device=device),
                use_cache=False,
                logits_to_keep=1 if last else 0,
                parts=parts,
            )
        for row, _, count in parts:
            row.length += count
        return out.logits[0]

    def _check_kind(self) -> None:
        kinds = set(getattr(self.config, "layer_types", None) or ["full_attention"])
        rope: dict[str, Any] = getattr(self.config, "rope_parameters", None) or {}
        by_kind = [cast("dict[str, Any]", part) for part in rope.values() if isinstance(part, dict)]
        turned = {str(part.get("rope_type")) for part in (rope, *by_kind)}
        if kinds - {"full_attention", "sliding_attention"}:
            raise self._refusal(f"has layers of another kind ({', '.join(sorted(kinds))})")
        if turned & {"dynamic", "longrope"}:
            raise self._refusal("turns positions by the longest talk of a batch")

    def _install(self) -> None:
        """Put the attention in, and compare with the model's own."""
        import torch
        from transformers import AttentionInterface

        interface: Any = AttentionInterface
        interface.register(ATTENTION, attend)
        size = self.config.vocab_size
        ids = [(7919 * place + 13) % size for place in range(24)]
        model, device = self.model, self.model.device
        try:
            with torch.inference_mode():
                asked = torch.tensor([ids[:11], ids[11:22]], device=device)
                wanted = model(input_ids=asked, use_cache=False).logits.float()
            model.set_attn_implementation(ATTENTION)
            one, other = Row(), Row()
            got = [self.feed(ids[:5] + ids[11:18] + [0], [Part(one, 0, 5), Part(other, 5, 7)], last=False)[:12]]
            got.append(self.feed([0, *ids[5:11], *ids[18:22]], [Part(one, 1, 6), Part(other, 7, 4)], last=False)[1:])
        except (TypeError, ValueError, KeyError, AttributeError, RuntimeError) as error:
            raise self._refusal(f"does not take another attention ({type(error).__name__}: {error})") from None
        first = torch.cat((got[0][:5], got[1][:6])).float()
        second = torch.cat((got[0][5:12], got[1][6:])).float()
        off = float((torch.stack((first, second)) - wanted).abs().max() / wanted.std().clamp_min(1e-9))
        if not off <= TOLERANCE.get(str(model.dtype), TOLERANCE["torch.float32"]):
            raise self._refusal(f"computes other numbers with attention row by row (off by {off:.2g} deviations)")

    def _refusal(self, why: str) -> UsageError:
        return UsageError(f"{self._name} {why}, so talks cannot be batched here; {WHAT_TO_DO}")


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    parts: Sequence[Part],
    scaling: float | None = None,
    sliding_window: int | None = None,
    **more: Any,
) -> tuple[Tensor, None]:
    """Attention row by row, as transformers calls it.

    Raises:
        ValueError: the layer asks for what this does not do.
    """
    import torch

    strange = [name for name in ("softcap", "s_aux", "position_bias") if more.get(name) is not None]
    if strange or attention_mask is not None:
        raise ValueError(f"an attention with {strange[0] if strange else 'a mask'}")
    out = torch.zeros((query.shape[2], query.shape[1], value.shape[-1]), dtype=query.dtype, device=query.device)
    for row, at, count in parts:
        here = slice(at, at + count)
        keys, values = row.put(module.layer_idx, key[0, :, here], value[0, :, here])
        out[here] = _one(query[0, :, here], keys, values, scaling, sliding_window or 0).transpose(0, 1)
    return out[None], None


def _one(query: Tensor, keys: Tensor, values: Tensor, scale: float | None, window: int) -> Tensor:
    """Causal attention of a row's last tokens over all of them, ``[heads, tokens, size]``.

    Heads that share keys become further queries of one head, so that keys are not repeated.
    """
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    heads, count, size = query.shape
    shared = heads // keys.shape[0]
    if window and count == 1:
        keys, values = keys[:, -window:], values[:, -window:]
    mask = None
    if count > 1:
        total = keys.shape[1]
        own = torch.arange(total - count, total, device=query.device)[:, None]
        every = torch.arange(total, device=query.device)
        mask = every <= own
        if window:
            mask &= every > own - window
        mask = mask.repeat(shared, 1)
    grouped = query.reshape(keys.shape[0], shared * count, size)
    out = scaled_dot_product_attention(grouped[None], keys[None], values[None], attn_mask=mask, scale=scale)
    return out[0].reshape(heads, count, -1)
