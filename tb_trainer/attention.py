"""The attention `blocks`: causal, in blocks of queries, for small heads on a CPU; the same numbers as `sdpa`.

torch's fused kernel is slow on a CPU where heads are small: forward and backward of one layer (16 rows of 490
tokens, four heads of 32, one core, bfloat16) took 139 ms, here 79; in float32 there is no gain (114 and 125). A block
of queries meets only the keys before its end, so half of the work is never done. Rows are padded on the right, as
everywhere in this trainer, so a causal mask is all that is needed; refuses dropout and tokens that follow a cache.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface

from tb_envs.errors import UsageError

NAME = "blocks"
BLOCK = 96
"""Queries at once."""


def blocks(
    module: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Any, scaling: float = 1.0, **options: Any
) -> tuple[torch.Tensor, None]:
    """Attention as transformers calls it; tensors of the shape (rows, heads, tokens, size)."""
    rows, heads, tokens, size = q.shape
    if options.get("dropout") or k.shape[2] != tokens:
        raise UsageError("model.attention blocks is for whole rows without dropout; set sdpa")
    share = heads // k.shape[1]
    k, v = (part.repeat_interleave(share, 1).reshape(rows * heads, tokens, size) for part in (k, v))
    q = q.reshape(rows * heads, tokens, size)
    out: list[torch.Tensor] = []
    for start in range(0, tokens, BLOCK):
        end = min(tokens, start + BLOCK)
        future = torch.full((end - start, end), float("-inf"), dtype=q.dtype, device=q.device).triu(1 + start)
        wide = future.expand(rows * heads, end - start, end)
        scores = torch.baddbmm(wide, q[:, start:end], k[:, :end].transpose(1, 2), alpha=scaling)
        out.append(scores.softmax(-1) @ v[:, :end])
    return torch.cat(out, 1).view(rows, heads, tokens, size).transpose(1, 2), None


def no_mask(*args: Any, **options: Any) -> None:
    """The mask of attention that is causal by itself."""
    return None


AttentionInterface.register(NAME, blocks)
AttentionMaskInterface.register(NAME, no_mask)
