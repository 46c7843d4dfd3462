"""A plain supervised loop for tiny models: the same loss as `SFTTrainer`'s, without what a step of theirs costs.

A step of a million parameters is over in half a second on one core, and there SFTTrainer's own work counts: logits of
every token, read ones included, in float32, its entropy and accuracy over them, collation, callbacks. Here only learned
tokens get logits, and rows of like length go together. Refuses nothing; whoever can use `trl` should.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from tb_envs.authoring.rng import Rng
from tb_envs.errors import UsageError
from tb_trainer.grpo import Example, pad
from tb_trainer.schema import TrainConfig
from tb_trainer.sharing import Team, together
from tb_trainer.tokens import Trajectory

TOLD = 100
"""Steps after which the loss is told."""
NEIGHBOURS = 8
"""Batches whose rows are sorted by length before they are dealt."""


def fit(
    config: TrainConfig,
    model: Any,
    optimizers: Callable[[TrainConfig, Any], tuple[Any, Any]],
    clean: Sequence[Trajectory],
    noisy: Sequence[Trajectory],
    keep: Path | None = None,
) -> list[float]:
    """Train in place, first on `clean` and then, for ``warmstart.noisy_steps``, on `noisy`.

    Args:
        config: `warmstart` of it, and the seed.
        model: the policy.
        optimizers: makes an optimizer and its schedule; the noisy steps begin with new ones. A function of a module.
        clean, noisy: what is learned.
        keep: a folder for the model as it is when the clean steps are done and noisy ones follow.

    Returns:
        The loss of each step.
    """
    return together(config.warmstart.processes, learn, config, model, optimizers, clean, noisy, keep)


def learn(
    config: TrainConfig,
    model: Any,
    optimizers: Callable[[TrainConfig, Any], tuple[Any, Any]],
    clean: Sequence[Trajectory],
    noisy: Sequence[Trajectory],
    keep: Path | None,
    *,
    team: Team,
) -> list[float]:
    """One process's part of `fit`."""
    options, losses = config.warmstart, list[float]()
    model.train()
    for rows, steps, name in ((clean, options.steps, "clean"), (noisy, options.noisy_steps, "noisy")):
        optimizer, schedule = optimizers(config, model)
        if name == "noisy":
            if steps and keep and team.rank == 0:
                model.save_pretrained(keep)
            schedule.base_lrs = [rate * options.noisy_rate for rate in schedule.base_lrs]
        dealt = batches(rows, options.batch, Rng("warm start", config.seed, name))
        if name == "clean":
            dealt = chain(islice(beginnings(config, rows), options.short_steps), dealt)
        for batch in islice(dealt, steps):
            tokens = sum(sum(row.sampled[1:]) for row in batch)
            mine, loss = team.share(batch), 0.0
            if mine:
                with torch.autocast("cpu", torch.bfloat16, enabled=options.autocast):
                    part = loss_of(model, mine) / tokens
                part.backward()
                loss = float(part.detach())
            losses.append(team.sum(model, loss))
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            if team.rank == 0 and len(losses) % TOLD == 0:
                mean = sum(losses[-TOLD:]) / TOLD
                print(f"step {len(losses)} of {options.steps + options.noisy_steps}: loss {mean:.4f}", file=sys.stderr)
    model.eval()
    return losses


def beginnings(config: TrainConfig, rows: Sequence[Trajectory]) -> Iterator[list[Trajectory]]:
    """Batches, without end, of the first tokens of demonstrations.

    Raises:
        UsageError: nothing is learned in them.
    """
    options = config.warmstart
    parts = [beginning(row, options.short_tokens) for row in rows]
    learned = [part for part in parts if 1 in part.sampled[1:]]
    if not learned:
        raise UsageError(f"warmstart.short_tokens {options.short_tokens}: nothing is learned so early in a talk")
    yield from batches(learned, options.short_batch, Rng("warm start", config.seed, "short"))


def beginning(row: Trajectory, tokens: int) -> Trajectory:
    """The first tokens of a demonstration."""
    return Trajectory(row.ids[:tokens], row.sampled[:tokens], row.logprobs[:tokens], row.turns[:tokens])


def loss_of(model: Any, rows: Sequence[Trajectory]) -> torch.Tensor:
    """Sum over all learned tokens."""
    batch = pad([Example(row, 0.0) for row in rows])
    # What fills a shorter row up stands on its right, where nothing that is learned looks.
    hidden = model.model(input_ids=batch.ids, use_cache=False).last_hidden_state
    wanted = batch.sampled[:, 1:]
    logits = model.lm_head(hidden[:, :-1][wanted])
    return functional.cross_entropy(logits.float(), batch.ids[:, 1:][wanted], reduction="sum")


def batches(rows: Sequence[Trajectory], size: int, rng: Rng) -> Iterator[list[Trajectory]]:
    """Without end: every row once in random order, then again; neighbours in length share a batch."""
    while True:
        order = rng.shuffled(range(len(rows)))
        for start in range(0, len(order), size * NEIGHBOURS):
            near = sorted(order[start : start + size * NEIGHBOURS], key=lambda at: len(rows[at]))
            for cut in rng.shuffled(range(0, len(near), size)):
                yield [rows[at] for at in near[cut : cut + size]]
