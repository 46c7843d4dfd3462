"""One token from one row of logits: greedy, or drawn with the turn's own random numbers.

Everything is computed from that row alone, in float64 on the CPU. Refuses logits that are no numbers.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tb_envs.evaluation.local.options import Options

if TYPE_CHECKING:
    from torch import Tensor


def draw(logits: Tensor, options: Options, rng: Random) -> int:
    """A token id.

    Kept are the `top_k` likeliest tokens, and of these the fewest whose probability is at least `top_p` (nucleus
    sampling, Holtzman et al. 2020, arXiv 1904.09751); of the kept ones one is drawn by inverting their cumulative
    distribution.

    Raises:
        ValueError: the logits are not finite.
    """
    import torch

    row = logits.detach().to("cpu", torch.float64)
    if not bool(torch.isfinite(row).all()):
        raise ValueError("its logits are not finite")
    if options.temperature == 0:
        return int(row.argmax())
    chance = torch.softmax(row / options.temperature, 0)
    if options.top_k or options.top_p < 1:
        chance, names = torch.sort(chance, descending=True, stable=True)
        kept = len(chance) if not options.top_k else min(options.top_k, len(chance))
        chance = chance[:kept] / chance[:kept].sum()
        before = chance.cumsum(0) - chance
        chance = chance * (before < options.top_p)
        return int(names[_invert(chance, rng)])
    return _invert(chance, rng)


def _invert(chance: Tensor, rng: Random) -> int:
    import torch

    summed = chance.cumsum(0)
    place = int(torch.searchsorted(summed, rng.random() * float(summed[-1]), right=True))
    return min(place, int(chance.nonzero()[-1]))
