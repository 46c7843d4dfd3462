"""Random numbers by name: which rollout of which update, and which token of it. No stream, no state.

A rollout that is played again, later or beside others meets the numbers it would have met before, so neither a retry
nor the order of events changes what any other samples. `uniforms` is SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) on a
hash of the name, the same on every machine; `draw` inverts the cumulative distribution, in float64.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch

from tb_trainer.engines import Key, Sampling

_GAMMA, _ONE, _TWO = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@lru_cache(maxsize=65536)
def _seed_of(key: Key) -> int:
    return int.from_bytes(hashlib.blake2b(repr(tuple(key)).encode(), digest_size=8).digest(), "little")


def uniforms(keys: Sequence[Key], places: Sequence[int]) -> np.ndarray:
    """One number in [0, 1) for the token at each place of each rollout. Shape (n,), float64."""
    state = np.array([_seed_of(key) for key in keys], dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = state + np.uint64(_GAMMA) * (np.array(places, dtype=np.uint64) + np.uint64(1))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(_ONE)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_TWO)
        mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def truncated(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Logits (…, vocabulary) at the temperature, with what top-k and top-p cut off at minus infinity."""
    scaled = logits.float() / (sampling.temperature or 1.0)
    if sampling.top_k and sampling.top_k < scaled.shape[-1]:
        least = scaled.topk(sampling.top_k, dim=-1).values[..., -1:]
        scaled = scaled.masked_fill(scaled < least, -torch.inf)
    if sampling.top_p < 1.0:
        ordered, order = scaled.sort(dim=-1, descending=True)
        before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
        cut = torch.zeros_like(scaled, dtype=torch.bool).scatter(-1, order, before >= sampling.top_p)
        scaled = scaled.masked_fill(cut, -torch.inf)
    return scaled


def draw(logits: torch.Tensor, sampling: Sampling, numbers: np.ndarray) -> tuple[list[int], list[float]]:
    """A token for each row of logits (n, vocabulary), and its log-probability.

    Args:
        logits: of the next token.
        sampling: how to draw.
        numbers: in [0, 1), one a row: the place in the cumulative distribution.
    """
    logprobs = truncated(logits, sampling).log_softmax(-1)
    if sampling.temperature == 0:
        chosen = logprobs.argmax(-1)
    else:
        heights = logprobs.double().exp().cumsum(-1)
        targets = torch.from_numpy(numbers).to(heights.device)[:, None] * heights[:, -1:]
        chosen = torch.searchsorted(heights, targets, right=True)[:, 0].clamp_(max=logits.shape[-1] - 1)
    picked = logprobs.gather(-1, chosen[:, None])[:, 0]
    return chosen.tolist(), picked.tolist()
