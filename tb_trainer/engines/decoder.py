"""The forward pass behind the CPU engine: rows of different lengths over one cache of keys and values.

It is the decoder that Llama, Mistral, Qwen2 and Qwen3 share (RMS norm, rotary positions, grouped queries, SwiGLU; with
Qwen3's norms of queries and keys and Qwen2's biases), with the projections that read the same input fused. Numbers
agree with transformers' to rounding; adapters (LoRA) are added to its copy of the weights below them. Refuses other
architectures, sliding windows and other adapters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from tb_envs.errors import UsageError
from tb_trainer.adapters import plain_weight

KNOWN = ("qwen3", "qwen2", "llama", "mistral")


class _Layer(NamedTuple):
    """One block's weights; biases and norms of queries and keys where there are any."""

    before: torch.Tensor
    qkv: torch.Tensor
    qkv_bias: torch.Tensor | None
    q_norm: torch.Tensor | None
    k_norm: torch.Tensor | None
    out: torch.Tensor
    after: torch.Tensor
    gate_up: torch.Tensor
    down: torch.Tensor


class Decoder:
    """A model's weights and the cache of its rows.

    Args:
        model: a ``…ForCausalLM`` of transformers on the CPU.

    Attributes:
        positions: tokens in a row at most.
        vocabulary: number of token ids.
    """

    def __init__(self, model: Any) -> None:
        config = model.config
        if config.model_type not in KNOWN:
            raise UsageError(f"the cpu engine knows {', '.join(KNOWN)}, not {config.model_type!r}; use engine `hf`")
        if any(kind != "full_attention" for kind in getattr(config, "layer_types", None) or ()):
            raise UsageError("the cpu engine has no sliding-window attention; use engine `hf`")
        if getattr(config, "hidden_act", "silu") != "silu":
            raise UsageError(f"the cpu engine has no activation {config.hidden_act!r}; use engine `hf`")
        self.positions = int(config.max_position_embeddings)
        self.vocabulary = int(config.vocab_size)
        self._heads = int(config.num_attention_heads)
        self._kv_heads = int(config.num_key_value_heads)
        self._size = int(getattr(config, "head_dim", None) or config.hidden_size // self._heads)
        self._eps = float(config.rms_norm_eps)
        self.load(model)

    def load(self, model: Any) -> None:
        """Copy the weights of `model`, which may go on changing, and forget the cache."""
        model = getattr(model, "get_base_model", lambda: model)()  # below adapters, which are added to the copy
        body = model.model
        with torch.no_grad():
            self._layers = [_layer(block) for block in body.layers]
            if type(body.embed_tokens) is not torch.nn.Embedding:
                found = type(body.embed_tokens).__name__
                raise UsageError(f"the cpu engine reads linear layers and LoRA on them, not {found}; use engine `hf`")
            self._embed = body.embed_tokens.weight.detach().clone()
            self._norm = body.norm.weight.detach().clone()
            self._head = _weight(model.lm_head).clone()
            turns = torch.outer(torch.arange(self.positions + 1).float(), body.rotary_emb.inv_freq.float())
            both = torch.cat((turns, turns), dim=-1)
            scale = float(getattr(body.rotary_emb, "attention_scaling", 1.0))
            self._cos = (both.cos() * scale).to(self._embed.dtype)
            self._sin = (both.sin() * scale).to(self._embed.dtype)
        # Of all layers in one block for each row, (rows, layers, keys and values, heads, places, size), so that a row
        # moves in one piece; and each layer's keys and values as views of it.
        self._block = torch.empty(0)
        self._cache: list[tuple[torch.Tensor, torch.Tensor]] = []

    @torch.inference_mode()
    def feed(self, lo: int, tokens: Sequence[Sequence[int]], starts: Sequence[int]) -> torch.Tensor:
        """Read tokens into neighbouring rows and return the logits after the last one of each.

        Args:
            lo: the first row.
            tokens: for each row what it reads, of any lengths.
            starts: for each row how many tokens it has read before.

        Returns:
            Logits, shape (rows, vocabulary).
        """
        count, width = len(tokens), max(map(len, tokens))
        ends = [start + len(ids) for start, ids in zip(starts, tokens, strict=True)]
        reach = max(ends) + 1  # the last place is nobody's: what fills a row up may be written there
        self._grow(lo + count, reach)
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in tokens])
        # What fills a shorter row up stands at places that its own next tokens will overwrite, and nobody looks at.
        places = (torch.tensor(starts)[:, None] + torch.arange(width)).clamp_(max=reach - 1)
        x = self._embed[ids]
        cos, sin = self._cos[places][:, None], self._sin[places][:, None]
        seen = torch.arange(reach)[None, None, :] <= places[:, :, None]
        share = self._heads // self._kv_heads
        mask = seen[:, None].repeat(1, 1, share, 1)
        rows = torch.arange(lo, lo + count)[:, None]
        for layer, (keys, values) in zip(self._layers, self._cache, strict=True):
            x = x + self._attend(layer, x, keys, values, rows, places, cos, sin, mask, reach)
            gate, up = functional.linear(self._rms(x, layer.after), layer.gate_up).chunk(2, dim=-1)
            x = x + functional.linear(functional.silu(gate) * up, layer.down)
        last = torch.tensor([end - start - 1 for end, start in zip(ends, starts, strict=True)])
        return functional.linear(self._rms(x[torch.arange(count), last], self._norm), self._head)

    @torch.inference_mode()
    def swap(self, one: int, other: int, used: tuple[int, int]) -> None:
        """Exchange two rows of the cache, of which so many places each are in use."""
        kept = self._part(one, used[0]).clone()
        self.move(other, one, used[1])
        self._part(other, used[0]).copy_(kept)

    @torch.inference_mode()
    def move(self, source: int, target: int, used: int) -> None:
        """Put a row in the place of another, which is lost."""
        self._part(target, used).copy_(self._part(source, used))

    def _part(self, row: int, used: int) -> torch.Tensor:
        """What a row has in its first places, of all layers."""
        self._grow(row + 1, used)
        return self._block[row, :, :, :, :used]

    def _attend(
        self,
        layer: _Layer,
        x: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        rows: torch.Tensor,
        places: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        mask: torch.Tensor,
        reach: int,
    ) -> torch.Tensor:
        count, width, _ = x.shape
        heads, kv, size = self._heads, self._kv_heads, self._size
        mixed = functional.linear(self._rms(x, layer.before), layer.qkv, layer.qkv_bias)
        q, k, v = mixed.view(count, width, heads + 2 * kv, size).split((heads, kv, kv), dim=2)
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = self._rms(q, layer.q_norm), self._rms(k, layer.k_norm)
        q, k = q.transpose(1, 2), k.transpose(1, 2)
        q, k = q * cos + _half_turned(q) * sin, k * cos + _half_turned(k) * sin
        keys[rows, :, places] = k.transpose(1, 2)
        values[rows, :, places] = v
        lo, hi = int(rows[0, 0]), int(rows[-1, 0]) + 1
        # The query heads that share a key head stand one after the other, as if they were further tokens.
        q = q.reshape(count, kv, heads // kv * width, size)
        out = functional.scaled_dot_product_attention(q, keys[lo:hi, :, :reach], values[lo:hi, :, :reach], mask)
        out = out.view(count, heads, width, size).transpose(1, 2).reshape(count, width, heads * size)
        return functional.linear(out, layer.out)

    def _rms(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, self._eps)

    def _grow(self, rows: int, places: int) -> None:
        """Make room; what is there stays."""
        had, held = (self._block.shape[0], self._block.shape[4]) if self._cache else (0, 0)
        if rows <= had and places <= held:
            return
        rows = had if rows <= had else max(rows, 2 * had)
        places = held if places <= held else min(self.positions + 1, max(places, 2 * held, 64))
        shape = (rows, len(self._layers), 2, self._kv_heads, places, self._size)
        grown = torch.zeros(shape, dtype=self._embed.dtype)
        if self._cache:
            grown[:had, :, :, :, :held] = self._block
        self._block, self._cache = grown, [(grown[:, at, 0], grown[:, at, 1]) for at in range(len(self._layers))]


def _layer(block: Any) -> _Layer:
    attention, mlp = block.self_attn, block.mlp
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    biases = [part.bias for part in projections]
    norms = [getattr(attention, name, None) for name in ("q_norm", "k_norm")]
    return _Layer(
        block.input_layernorm.weight.detach().clone(),
        torch.cat([_weight(part) for part in projections]),
        None if biases[0] is None else torch.cat([bias.detach() for bias in biases]),
        None if norms[0] is None else norms[0].weight.detach().clone(),
        None if norms[1] is None else norms[1].weight.detach().clone(),
        _weight(attention.o_proj).clone(),
        block.post_attention_layernorm.weight.detach().clone(),
        torch.cat([_weight(mlp.gate_proj), _weight(mlp.up_proj)]),
        _weight(mlp.down_proj).clone(),
    )


def _weight(part: Any) -> torch.Tensor:
    try:
        return plain_weight(part)
    except TypeError as error:
        raise UsageError(f"the cpu engine reads linear layers and LoRA on them, not {error}; use engine `hf`") from None


def _half_turned(x: torch.Tensor) -> torch.Tensor:
    one, other = x.chunk(2, dim=-1)
    return torch.cat((-other, one), dim=-1)
