"""GRPO's mathematics: advantages, the clipped surrogate, importance weights, and one number to divide by.

The loss of an update is the sum over all sampled tokens of all its episodes, divided by how many those are: on every
micro-batch and every process by the same number, so that neither the size of a micro-batch nor the number of processes
is in the gradient. (Shao et al. 2024, arXiv 2402.03300, eq. 3, with the token mean of DAPO, Yu et al. 2025, arXiv
2503.14476, eq. 8; dual clip: Ye et al. 2020, arXiv 1912.09729, eq. 4; importance weights: Yao et al. 2025, "Your
Efficient RL Framework Secretly Brings You Off-Policy RL Training".) Nothing here moves a weight or talks to a process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch.utils.checkpoint import checkpoint

from tb_trainer.tokens import Trajectory

EPS = 1e-6
Scale = Literal["group", "batch", "none"]


def advantages(rewards: Sequence[Sequence[float]], scale: Scale = "group") -> list[list[float]]:
    """How much better each attempt was than its group.

    Args:
        rewards: one row a group, at least two attempts each.
        scale: divide by the standard deviation (n - 1) of the ``group``, or of all rewards of the ``batch``, or not.

    Returns:
        (reward - mean of the group) / (deviation + 1e-6), in the same shape; 0 in a group whose rewards are equal.

    Raises:
        ValueError: a group of one attempt has no mean to compare with.
    """
    if any(len(row) < 2 for row in rewards):
        raise ValueError("a group needs at least two attempts")
    everything = [reward for row in rewards for reward in row]
    out: list[list[float]] = []
    for row in rewards:
        mean = sum(row) / len(row)
        if len(set(row)) == 1:
            out.append([0.0] * len(row))
            continue
        spread = {"group": lambda r=row: _deviation(r), "batch": lambda: _deviation(everything), "none": lambda: 1.0}
        divisor = spread[scale]() + (EPS if scale != "none" else 0.0)
        out.append([(reward - mean) / divisor for reward in row])
    return out


def _deviation(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5


class Example(NamedTuple):
    """A rollout to be trained on."""

    tokens: Trajectory
    advantage: float


@dataclass(frozen=True)
class Objective:
    """What is maximised.

    Attributes:
        clip_low, clip_high: how far the ratio may fall below and rise above 1.
        dual_clip: bound of the ratio where the advantage is negative; 0: none.
        importance_cap: largest weight for what the sampler thought less likely than the trainer; 0: no weights.
        kl: weight of the divergence from the reference model (k3: Schulman 2020, "Approximating KL Divergence").
        temperature: of the sampler; divides the logits here as there.
    """

    clip_low: float = 0.2
    clip_high: float = 0.2
    dual_clip: float = 0.0
    importance_cap: float = 2.0
    kl: float = 0.0
    temperature: float = 1.0


class Padded(NamedTuple):
    """Examples side by side, padded on the right; every tensor has the shape (rows, longest).

    `sampled`, `sampler` and `advantage` speak of the token at their place, not of the one that follows. In a slice of
    longer rows (`tb_trainer.sequence`) the first column stands at place `first` of the episodes, and the model does not
    read the last `beyond` ones: they are targets only.
    """

    ids: torch.Tensor
    seen: torch.Tensor
    sampled: torch.Tensor
    sampler: torch.Tensor
    advantage: torch.Tensor
    first: int = 0
    beyond: int = 0


def pad(examples: Sequence[Example], device: torch.device | str = "cpu", *, filler: int = 0) -> Padded:
    """Put examples side by side."""
    width = max(len(example.tokens) for example in examples)
    size = (len(examples), width)
    ids = torch.full(size, filler, dtype=torch.long)
    seen, sampled = torch.zeros(size, dtype=torch.long), torch.zeros(size, dtype=torch.bool)
    sampler, advantage = torch.zeros(size), torch.zeros(size)
    for row, (tokens, value) in enumerate(examples):
        length = len(tokens)
        ids[row, :length] = torch.tensor(tokens.ids)
        seen[row, :length] = 1
        sampled[row, :length] = torch.tensor(tokens.sampled, dtype=torch.bool)
        sampler[row, :length] = torch.tensor(tokens.logprobs)
        advantage[row, :length] = value
    sampled[:, 0] = False  # nothing comes before it that it could have been drawn from
    ids, seen, sampled, sampler, advantage = (t.to(device) for t in (ids, seen, sampled, sampler, advantage))
    return Padded(ids, seen, sampled, sampler, advantage)


class Scored(NamedTuple):
    """Of each sampled token, in the order of ``batch.sampled``: its log-probability, and the entropy of its draw."""

    logprobs: torch.Tensor
    entropy: torch.Tensor


def score(model: Any, batch: Padded, temperature: float, *, chunk: int = 1024) -> Scored:
    """Log-probabilities of the sampled tokens under `model`.

    Args:
        model: a causal language model, wrapped or not.
        batch: what to score.
        temperature: divides the logits.
        chunk: sampled tokens whose logits are held at once. The head of the model answers with log-probabilities while
            this runs, chunk by chunk, and again in the backward pass: the vocabulary costs memory for one chunk only.
            (It does so inside of the model's forward, where wrappers that spread weights have gathered the head's.)
    """
    places = batch.sampled.any(0).nonzero()[:, 0] - 1
    # Positions are those of right padding; given, because some models would count them from the mask.
    read = batch.ids.shape[1] - batch.beyond
    positions = torch.arange(batch.first, batch.first + read, device=batch.ids.device).expand(len(batch.ids), read)
    wanted = batch.sampled[:, places + 1]
    targets = batch.ids[:, places + 1][wanted].split(chunk)
    head = _inner(model).get_output_embeddings()
    apart = not any(getattr(_inner(model).config, name, None) for name in AFTER_HEAD)

    def answer(hidden: torch.Tensor) -> torch.Tensor:
        """(log-probabilities, entropies) in place of logits, shape (2, sampled tokens)."""
        parts = [
            checkpoint(_logprobs, part, ids, temperature, head if apart else None, use_reentrant=False)
            for part, ids in zip(hidden[wanted].split(chunk), targets, strict=True)
        ]
        return torch.stack([torch.cat(some) for some in zip(*parts, strict=True)])

    if apart:
        head.forward = answer
    try:
        out = model(
            input_ids=batch.ids[:, :read],
            attention_mask=batch.seen[:, :read],
            position_ids=positions,
            logits_to_keep=places,
            use_cache=False,
        )
    finally:
        if apart:
            del head.forward
    logprobs, entropy = out.logits if apart else answer(out.logits)
    return Scored(logprobs, entropy.detach())


AFTER_HEAD = ("final_logit_softcapping", "logit_scale", "logits_scaling")
"""Settings of models that change what their head said; theirs cannot answer with anything but logits."""


def _inner(model: Any) -> Any:
    """The model itself, without what accelerate put around it."""
    while hasattr(model, "module"):
        model = model.module
    return model


def _logprobs(
    rows: torch.Tensor, targets: torch.Tensor, temperature: float, head: Any = None
) -> tuple[torch.Tensor, torch.Tensor]:
    logits = rows if head is None else torch.nn.functional.linear(rows, head.weight, head.bias)
    every = (logits.float() / temperature).log_softmax(-1)
    with torch.no_grad():
        entropy = -(every.exp() * every).nan_to_num().sum(-1)
    return every.gather(-1, targets[:, None])[:, 0], entropy


class Loss(NamedTuple):
    """The summed loss of some tokens (not yet divided), and sums for the log, by name; ``…_max`` are maxima."""

    total: torch.Tensor
    sums: dict[str, float]


def surrogate(
    new: torch.Tensor,
    old: torch.Tensor,
    sampler: torch.Tensor,
    advantage: torch.Tensor,
    objective: Objective,
    reference: torch.Tensor | None = None,
) -> Loss:
    """The negative objective, summed over tokens.

    Args:
        new: log-probabilities with a gradient, shape (tokens,), as all others.
        old: the trainer's own before the first step on this batch: ``new / old`` is the ratio that is clipped.
        sampler: the sampler's: ``old / sampler``, capped, weighs each token for having been drawn elsewhere.
        advantage: of each token's episode.
        objective: bounds and weights.
        reference: the reference model's, for the divergence.
    """
    ratio = (new - old).exp()
    clipped = ratio.clamp(1 - objective.clip_low, 1 + objective.clip_high)
    gain = torch.minimum(ratio * advantage, clipped * advantage)
    if objective.dual_clip:
        gain = torch.where(advantage < 0, torch.maximum(gain, objective.dual_clip * advantage), gain)
    apart = old - sampler
    weight = torch.ones_like(apart)
    if objective.importance_cap:
        weight = apart.exp().clamp(max=objective.importance_cap)
    loss = -(weight * gain)
    with torch.no_grad():
        held = (ratio * advantage > clipped * advantage) & (advantage != 0)
        sums = {
            "tokens": float(len(new)),
            "ratio": float(ratio.sum()),
            "ratio_max": float(ratio.max()) if len(ratio) else 0.0,
            "clipped": float(held.sum()),
            "importance": float(weight.sum()),
            "importance_capped": float((apart.exp() > objective.importance_cap).sum())
            if objective.importance_cap
            else 0.0,
            # KL(sampler || trainer), estimated on what the sampler drew: k3, never negative.
            "mismatch_kl": float((apart.exp() - 1 - apart).sum()),
            "mismatch_max": float(apart.abs().max()) if len(apart) else 0.0,
        }
    if objective.kl and reference is not None:
        far = reference - new
        divergence = far.exp() - 1 - far
        loss = loss + objective.kl * divergence
        sums["kl"] = float(divergence.detach().sum())
    return Loss(loss.sum(), sums)
