"""One optimizer step on the episodes of one update, in one process or in many, in as many micro-batches as fit.

Every process is given the same examples and takes its share, so nothing has to be exchanged but gradients; and heads,
between those that share long episodes (`tb_trainer.sequence`). Refuses to step when no group has variance (the momentum
of AdamW would move the weights for no reason) and when the gradient is not finite; both count as updates and are told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed

from tb_trainer.grpo import Example, Objective, Padded, Scored, pad, score, surrogate
from tb_trainer.mixers import Mixers
from tb_trainer.sequence import SequenceGroup


class Updater:
    """Takes optimizer steps.

    Args:
        accelerator: of accelerate; knows the processes and how the model is spread over them.
        model: the policy, as ``accelerator.prepare`` returned it.
        optimizer: prepared likewise.
        objective: what is maximised.
        micro_tokens: tokens of a micro-batch at most, padding included; a longer episode goes alone.
        steps: optimizer steps on each batch; with more than one, the ratio is taken to the weights before the first.
        gradient_clip: largest norm of the gradient.
        reference: the model of the divergence, if there is one.
        sequence: the processes that share each episode with this one; by itself if there are none.

    Raises:
        UsageError: the model cannot be spread over `sequence`.
    """

    def __init__(
        self,
        accelerator: Any,
        model: Any,
        optimizer: Any,
        objective: Objective,
        *,
        micro_tokens: int,
        steps: int = 1,
        gradient_clip: float = 1.0,
        reference: Any = None,
        sequence: SequenceGroup | None = None,
    ) -> None:
        self._sequence = sequence or SequenceGroup(share=accelerator.process_index)
        self._mixers = Mixers(self._sequence, [model] if reference is None else [model, reference])
        self.accelerator, self.model, self.optimizer, self.objective = accelerator, model, optimizer, objective
        self.reference = reference
        self._micro_tokens, self._steps, self._gradient_clip = micro_tokens, steps, gradient_clip

    def update(self, examples: Sequence[Example]) -> dict[str, Any]:
        """Step on the examples, which must be the same in every process.

        Returns:
            ``stepped``, ``why`` not (or not as often as asked), ``grad_norm``, and means over the trained tokens:
            ``ratio``, ``clip_share``, ``importance``, ``importance_capped``, ``mismatch_kl``, ``entropy``, ``kl``;
            maxima ``ratio_max`` and ``mismatch_max``; ``tokens`` in the denominator and ``trained`` ones (those with
            an advantage).
        """
        tokens = sum(example.tokens.actions for example in examples)
        # An episode without an advantage has no gradient, unless a divergence pulls it; it counts below the line.
        useful = [e for e in examples if e.tokens.actions and (e.advantage or self.objective.kl)]
        if not useful or not any(e.advantage for e in useful):
            return {"stepped": False, "why": "no group has variance", "tokens": tokens, "trained": 0}
        sequence, device = self._sequence, self.accelerator.device
        shares = share(useful, self.accelerator.num_processes // sequence.size)
        packs = [pack(part, self._micro_tokens) for part in shares]
        rounds = max(map(len, packs))
        mine = [(sequence.cut(pad(part, device)), 1.0) for part in packs[sequence.share]]
        while len(mine) < rounds:  # collective calls need the same number of passes everywhere
            mine.append((sequence.cut(pad(useful[:1], device)), 0.0))
        try:
            with self._mixers:
                return self._step(mine, tokens)
        finally:
            # Or, after an error on the way, all of accelerate's optimizers would neither step nor forget gradients.
            self.accelerator.sync_gradients = True

    def _step(self, mine: Sequence[tuple[Padded, float]], tokens: int) -> dict[str, Any]:
        """Steps on this process's micro-batches, of which some only keep the others company (weight 0)."""
        sums: dict[str, float] = {}
        report: dict[str, Any] = {"stepped": True, "why": "", "tokens": tokens, "trained": 0}
        self.model.train()
        olds = [self._old(batch) for batch, _ in mine] if self._steps > 1 else [None] * len(mine)
        references, passes = [self._refer(batch) for batch, _ in mine], 0
        for _ in range(self._steps):
            passes += 1
            self.optimizer.zero_grad()
            for at, (batch, weight) in enumerate(mine):
                last = at == len(mine) - 1
                self.accelerator.sync_gradients = last  # DeepSpeed steps by itself, with the last one's backward pass
                # Where weights are spread, gradients are summed up each time: put off, they would be whole everywhere.
                now = last or self.accelerator.distributed_type in ("FSDP", "DEEPSPEED")
                with nullcontext() if now else self.accelerator.no_sync(self.model):
                    total = self._loss(batch, olds[at], references[at], weight, sums)
                    # Gradients are averaged over the processes; what is wanted is their sum.
                    self.accelerator.backward(total * (self.accelerator.num_processes / tokens))
            norm = float(self.accelerator.clip_grad_norm_(self.model.parameters(), self._gradient_clip))
            report["grad_norm"] = norm
            if not math.isfinite(norm):
                self.optimizer.zero_grad()
                report |= {"stepped": passes > 1, "why": "the gradient is not finite"}
                break
            self.optimizer.step()
        self.optimizer.zero_grad()
        return report | _means(self._summed(sums), passes)

    def _loss(
        self,
        batch: Padded,
        old: torch.Tensor | None,
        reference: torch.Tensor | None,
        weight: float,
        sums: dict[str, float],
    ) -> torch.Tensor:
        new = self._score(self.model, batch)
        picked = batch.sampled
        loss = surrogate(
            new.logprobs,
            new.logprobs.detach() if old is None else old,
            batch.sampler[picked],
            batch.advantage[picked],
            self.objective,
            reference,
        )
        if weight:
            more = {**loss.sums, "entropy": float(new.entropy.sum())}
            for name, value in more.items():
                merge = max if name.endswith("_max") else float.__add__
                sums[name] = merge(sums.get(name, 0.0), value)
        return loss.total * weight

    @torch.no_grad()
    def _old(self, batch: Padded) -> torch.Tensor:
        return self._score(self.model, batch).logprobs

    @torch.no_grad()
    def _refer(self, batch: Padded) -> torch.Tensor | None:
        if self.reference is None or not self.objective.kl:
            return None
        return self._score(self.reference, batch).logprobs

    def _score(self, model: Any, batch: Padded) -> Scored:
        scored = score(model, batch, self.objective.temperature)
        self._mixers.check(model)
        return scored

    def _summed(self, sums: dict[str, float]) -> dict[str, float]:
        """Over all processes."""
        if self.accelerator.num_processes == 1:
            return sums
        everyone: list[Any] = [None] * self.accelerator.num_processes
        torch.distributed.all_gather_object(everyone, sums)
        out: dict[str, float] = {}
        for part in everyone:
            for name, value in part.items():
                merge = max if name.endswith("_max") else float.__add__
                out[name] = merge(out.get(name, 0.0), value)
        return out


def _means(sums: dict[str, float], passes: int) -> dict[str, float]:
    """Of sums over all tokens of all passes; ``trained`` are the tokens of one."""
    count = sums.pop("tokens", 0.0)
    named = {"clipped": "clip_share"}
    means = {
        named.get(name, name): value if name.endswith("_max") else value / max(count, 1.0)
        for name, value in sums.items()
    }
    return {"trained": int(count) // passes, **means}


def share(examples: Sequence[Example], world: int) -> list[list[Example]]:
    """The examples spread over processes by their length: the longest first, each to whoever has least."""
    loads, out = [0] * world, [list[Example]() for _ in range(world)]
    for at in sorted(range(len(examples)), key=lambda at: (-len(examples[at].tokens), at)):
        least = loads.index(min(loads))
        out[least].append(examples[at])
        loads[least] += len(examples[at].tokens)
    return out


def pack(examples: Sequence[Example], budget: int) -> list[list[Example]]:
    """Micro-batches of neighbours in length, each of at most `budget` tokens when padded (or one episode)."""
    out: list[list[Example]] = []
    for example in sorted(examples, key=lambda example: -len(example.tokens)):
        if out and (len(out[-1]) + 1) * len(out[-1][0].tokens) <= budget:
            out[-1].append(example)
        else:
            out.append([example])
    return out
