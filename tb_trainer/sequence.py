"""Sequence parallel: the processes of a block share each episode, a slice of its tokens each, and exchange heads.

DeepSpeed-Ulysses (Jacobs et al. 2023, arXiv 2309.14509, section 3): what works token by token sees one slice; before a
token mixer a process gives its slice of the other heads away and gets all tokens of its own heads, and the reverse
behind it (`tb_trainer.mixers`). Blocks are consecutive processes. Their losses are sums over the tokens of a slice, so
they add up to what one process would have computed. Refuses processes that do not divide into blocks. Every exchange is
a collective call of the block, in the backward pass too: no process may leave one out because it has less to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed
from torch.nn.functional import pad as widen

from tb_envs.errors import UsageError
from tb_trainer.grpo import Padded

LEAST = 4
"""Tokens of a slice at least: a convolution over up to five tokens sees no further than the slice before."""


class SequenceGroup:
    """The processes that share an episode, as one of them sees it.

    Args:
        size: how many.
        rank: which slice this one has.
        share: which episodes: the number of its block.
        group: of torch.distributed; None where there is one process.
    """

    def __init__(self, size: int = 1, rank: int = 0, share: int = 0, group: Any = None) -> None:
        self.size, self.rank, self.share, self._group = size, rank, share, group

    def cut(self, batch: Padded) -> Padded:
        """This process's slice: the tokens it reads, and one more, which is only a target of the last of them."""
        if self.size == 1:
            return batch
        width = batch.ids.shape[1]
        each = max(-(-width // self.size), LEAST)
        first, more = self.rank * each, self.size * each + 1 - width
        ids, seen, sampled, sampler, advantage = (
            widen(tensor, (0, more))[:, first : first + each + 1].clone()
            for tensor in (batch.ids, batch.seen, batch.sampled, batch.sampler, batch.advantage)
        )
        sampled[:, 0] = False  # what it was drawn from lies in the slice before
        return Padded(ids, seen, sampled, sampler, advantage, first=first, beyond=1)

    def to_heads(self, x: torch.Tensor) -> torch.Tensor:
        """From a slice of the tokens of all heads to all tokens of a share of the heads.

        Args:
            x: shape (rows, tokens / size, heads, …); `size` divides the heads.

        Returns:
            Shape (rows, tokens, heads / size, …).
        """
        rows, tokens, heads, *rest = x.shape
        parts = x.reshape(rows, tokens, self.size, heads // self.size, *rest).movedim(2, 0)
        return self._swap(parts).movedim(0, 1).reshape(rows, self.size * tokens, heads // self.size, *rest)

    def to_tokens(self, x: torch.Tensor) -> torch.Tensor:
        """The reverse of `to_heads`."""
        rows, tokens, heads, *rest = x.shape
        parts = x.reshape(rows, self.size, tokens // self.size, heads, *rest).movedim(1, 0)
        return self._swap(parts).movedim(0, 2).reshape(rows, tokens // self.size, self.size * heads, *rest)

    def before(self, x: torch.Tensor, count: int) -> torch.Tensor:
        """The last `count` tokens of the slice before, zeros before the first one.

        Args:
            x: shape (rows, tokens / size, …).
            count: how many; at most `LEAST`.
        """
        last = x[:, x.shape[1] - count :][None]
        sent = [int(to == self.rank + 1) for to in range(self.size)]
        got = [int(by == self.rank - 1) for by in range(self.size)]
        found = _Exchange.apply(last[: sum(sent)], sent, got, self._group)
        # Joined, and not chosen: the first process has to be there in the backward pass, for what it gets then.
        return torch.cat([found, torch.zeros_like(last[: 1 - sum(got)])])[0]

    def _swap(self, parts: torch.Tensor) -> torch.Tensor:
        """Part i to process i of the block, from each the part for this one."""
        even = [1] * self.size
        return _Exchange.apply(parts, even, even, self._group)


class _Exchange(torch.autograd.Function):
    """`all_to_all_single` along the first dimension; its gradient goes the way back."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, sent: list[int], got: list[int], group: Any) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.sent, ctx.got, ctx.group = sent, got, group
        return _all_to_all(x, sent, got, group)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _all_to_all(gradient, ctx.got, ctx.sent, ctx.group), None, None, None


def _all_to_all(x: torch.Tensor, sent: Sequence[int], got: Sequence[int], group: Any) -> torch.Tensor:
    out = x.new_empty((sum(got), *x.shape[1:]))
    torch.distributed.all_to_all_single(out, x.contiguous(), list(got), list(sent), group=group)
    return out


def sequence_group(accelerator: Any, size: int, timeout: float) -> SequenceGroup:
    """The block of this process; a collective call of all processes.

    Args:
        accelerator: knows the processes.
        size: processes of a block (``parallel.sequence``).
        timeout: seconds that its collective calls wait at most.

    Raises:
        UsageError: `size` does not divide the processes of this launch.
    """
    world, rank = accelerator.num_processes, accelerator.process_index
    if world % size:
        raise UsageError(
            f"parallel.sequence {size} does not divide the {world} process{'es' * (world > 1)} of this launch: start "
            f"a multiple of {size} (accelerate launch --num_processes), or set parallel.sequence=1"
        )
    if size == 1:
        return SequenceGroup(share=rank)
    groups = [
        torch.distributed.new_group(range(first, first + size), timeout=timedelta(seconds=timeout))
        for first in range(0, world, size)
    ]
    return SequenceGroup(size, rank % size, rank // size, groups[rank // size])
