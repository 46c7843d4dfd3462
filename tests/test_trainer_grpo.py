"""The numbers of an update: advantages, the token mean, clipping, importance weights, and what moves no weight."""

from __future__ import annotations

import copy
import importlib
import json
import random
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from hypothesis import given, settings
from hypothesis import strategies as st
from trainer_parts import sharp_model

from tb_trainer import update
from tb_trainer.grpo import Example, Objective, advantages, pad, score, surrogate
from tb_trainer.tokens import Trajectory
from tb_trainer.update import Updater, pack, share


def example(rng: random.Random, advantage: float, *, shift: float = 0.0, longest: int = 60) -> Example:
    """A rollout of random tokens in turns; `shift` is how far the sampler's log-probs are off."""
    tokens = Trajectory()
    tokens.read([rng.randrange(500) for _ in range(rng.randint(2, 12))])
    for _ in range(rng.randint(1, 4)):
        count = rng.randint(1, 8)
        tokens.wrote([rng.randrange(500) for _ in range(count)], [shift] * count)
        if len(tokens) > longest:
            break
        tokens.read([rng.randrange(500) for _ in range(rng.randint(1, 9))])
    return Example(tokens, advantage)


def own_logprobs(model: Any, examples: list[Example], shift: float = 0.0) -> None:
    """Give the rollouts the model's own log-probs, moved by `shift`."""
    with torch.no_grad():
        for item in examples:
            batch = pad([item])
            own = score(model, batch, 1.0).logprobs + shift
            spots = [at for at, mine in enumerate(item.tokens.sampled) if mine]
            for at, value in zip(spots, own.tolist(), strict=True):
                item.tokens.logprobs[at] = value


def batch_of(count: int, seed: int = 0) -> list[Example]:
    rng = random.Random(seed)
    return [example(rng, rng.choice([-0.935, 0.935, 2.475, -0.354])) for _ in range(count)]


def gradient(
    examples: list[Example], micro_tokens: int, objective: Objective | None = None
) -> tuple[torch.Tensor, dict[str, Any]]:
    """The gradient that the optimizer is given, and the report."""
    model = sharp_model(positions=256)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    given_ = seen_by(optimizer)
    updater = Updater(
        Accelerator(cpu=True), model, optimizer, objective or Objective(), micro_tokens=micro_tokens, gradient_clip=1e9
    )
    report = updater.update(examples)
    return given_[-1], report


def seen_by(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """Fills with the gradient of each step, flat."""
    given_: list[torch.Tensor] = []

    def keep(optimizer: Any, *_: Any) -> None:
        given_.append(
            torch.cat([p.grad.flatten().clone() for group in optimizer.param_groups for p in group["params"]])
        )

    optimizer.register_step_pre_hook(keep)
    return given_


# -- advantages


@pytest.mark.parametrize(("solved", "good", "bad"), [(1, 2.475, -0.354), (4, 0.935, -0.935), (7, 0.354, -2.475)])
def test_advantages_of_eight_binary_rewards(solved: int, good: float, bad: float) -> None:
    (row,) = advantages([[1.0] * solved + [0.0] * (8 - solved)])
    assert row == pytest.approx([good] * solved + [bad] * (8 - solved), abs=5e-4)


@given(st.lists(st.lists(st.floats(0, 1, width=16), min_size=4, max_size=4), min_size=1, max_size=6), st.randoms())
def test_advantages_are_about_the_own_group_only(rewards: list[list[float]], rng: random.Random) -> None:
    out = advantages(rewards)
    for row, values in zip(rewards, out, strict=True):
        assert advantages([row])[0] == values
        assert sum(values) == pytest.approx(0, abs=1e-4)
        assert all(values[a] >= values[b] for a in range(4) for b in range(4) if row[a] >= row[b])
        if len(set(row)) == 1:
            assert values == [0.0] * 4
    order = list(range(4))
    rng.shuffle(order)
    assert advantages([[row[i] for i in order] for row in rewards])[0] == pytest.approx([out[0][i] for i in order])
    plain, batch = advantages(rewards, "none"), advantages(rewards, "batch")
    assert plain[0] == pytest.approx([r - sum(rewards[0]) / 4 for r in rewards[0]], abs=1e-9)
    assert [[x > 0 for x in row] for row in batch] == [[x > 0 for x in row] for row in plain]
    with pytest.raises(ValueError, match="at least two"):
        advantages([[1.0]])


# -- one number to divide by


def test_the_gradient_does_not_depend_on_micro_batches() -> None:
    examples = batch_of(16)
    whole, report = gradient(examples, 10**6)
    assert report["tokens"] == sum(item.tokens.actions for item in examples) == report["trained"]
    longest = max(len(item.tokens) for item in examples)
    for micro_tokens in (8 * longest, 4 * longest, 1):
        parts, again = gradient(examples, micro_tokens)
        assert (parts - whole).norm() < 1e-5 * whole.norm()
        assert again["grad_norm"] == pytest.approx(report["grad_norm"], rel=1e-5)
    assert [len(p) for p in pack(examples, 1)] == [1] * 16


def test_one_by_sixteen_two_by_eight_and_four_by_four_take_one_step() -> None:
    rng, length = random.Random(7), 40
    examples: list[Example] = []
    for advantage in (2.475, -0.354, 0.935, -0.935) * 4:
        tokens, own = Trajectory(), rng.randint(1, length - 1)
        tokens.read([rng.randrange(500) for _ in range(length - own)])
        tokens.wrote([rng.randrange(500) for _ in range(own)], [0.0] * own)
        examples.append(Example(tokens, advantage))
    whole, report = gradient(examples, 16 * length)
    for shape in ([16], [8, 8], [4, 4, 4, 4]):
        assert [len(part) for part in pack(examples, shape[0] * length)] == shape
        parts, again = gradient(examples, shape[0] * length)
        assert (parts - whole).norm() < 1e-5 * whole.norm()
        assert again["tokens"] == report["tokens"] == sum(item.tokens.actions for item in examples)


def test_the_gradient_is_trls_dapo_on_the_same_rollouts() -> None:
    """TRL's own loss, fed with our batch, gives the gradient that our update takes."""
    trl = importlib.import_module("trl.trainer.grpo_trainer")
    examples = batch_of(12, seed=2)
    model = sharp_model(positions=256)
    own_logprobs(model, examples)
    ours, report = gradient(examples, 10**6)
    batch = pad(examples)
    width = batch.ids.shape[1] - 1
    inputs = {
        "prompt_ids": batch.ids[:, :1],
        "prompt_mask": batch.seen[:, :1],
        "completion_ids": batch.ids[:, 1:],
        "completion_mask": batch.seen[:, 1:],
        "tool_mask": batch.sampled[:, 1:].long(),
        "advantages": torch.tensor([item.advantage for item in examples]),
        "num_items_in_batch": torch.tensor(report["tokens"]),
    }
    theirs = _trl_trainer(trl.GRPOTrainer, model)
    loss = theirs._compute_loss(model, inputs)
    model.zero_grad()
    loss.backward()
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    assert width == inputs["completion_ids"].shape[1]
    assert (ours - flat).norm() < 1e-5 * flat.norm()


def _trl_trainer(kind: Any, model: Any) -> Any:
    from datasets import Dataset
    from trainer_parts import tokenizer
    from trl.trainer.grpo_config import GRPOConfig

    arguments = GRPOConfig(
        output_dir="unused",
        per_device_train_batch_size=12,
        num_generations=4,
        loss_type="dapo",
        beta=0.0,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        report_to="none",
    )
    data = Dataset.from_list([{"prompt": "x"}] * 12)
    trainer = kind(
        model=model, reward_funcs=lambda **_: [0.0], args=arguments, train_dataset=data, processing_class=tokenizer()
    )
    trainer.current_gradient_accumulation_steps = 1
    return trainer


def test_episodes_without_an_advantage_count_below_the_line_only() -> None:
    examples = batch_of(8, seed=3)
    flat = [item._replace(advantage=0.0) for item in batch_of(8, seed=4)]
    alone, few = gradient(examples, 10**6)
    beside, many = gradient([*examples, *flat], 10**6)
    assert many["tokens"] > few["tokens"] == many["trained"]
    assert (beside * many["tokens"] - alone * few["tokens"]).norm() < 1e-5 * (alone * few["tokens"]).norm()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 400))
def test_shares_and_packs_hold_every_episode_once(count: int, world: int, budget: int) -> None:
    examples = batch_of(count, seed=count)
    shares = share(examples, world)
    assert sorted(map(id, [e.tokens for part in shares for e in part])) == sorted(id(e.tokens) for e in examples)
    loads = [sum(len(e.tokens) for e in part) for part in shares]
    assert max(loads) - min(loads) <= max(len(e.tokens) for e in examples)
    packs = pack(examples, budget)
    assert sorted(id(e.tokens) for part in packs for e in part) == sorted(id(e.tokens) for e in examples)
    assert all(len(part) == 1 or len(part) * max(len(e.tokens) for e in part) <= budget for part in packs)


# -- ratio, clipping, importance


def test_the_ratio_is_one_before_the_first_step_and_another_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is taken to the weights from before the first step, whatever the sampler thought."""
    seen = list[tuple[torch.Tensor, torch.Tensor]]()

    def watched(new: torch.Tensor, old: torch.Tensor, *rest: Any) -> Any:
        seen.append((new.detach().clone(), old.clone()))
        return surrogate(new, old, *rest)

    monkeypatch.setattr("tb_trainer.update.surrogate", watched)
    model, examples = sharp_model(positions=256), batch_of(8)

    def now() -> torch.Tensor:
        own_logprobs(model, examples)
        mine = [
            p for item in examples for p, ours in zip(item.tokens.logprobs, item.tokens.sampled, strict=True) if ours
        ]
        return torch.tensor(mine).sort().values

    before = now()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    once = Updater(Accelerator(cpu=True), model, optimizer, Objective(), micro_tokens=10**6)
    report = once.update(examples)
    assert report["ratio"] == report["ratio_max"] == 1.0
    assert torch.allclose(seen[0][1].sort().values, before, atol=1e-5)
    assert (report["clip_share"], report["importance"]) == (0.0, pytest.approx(1.0, abs=1e-5))
    assert report["mismatch_kl"] < 1e-8
    moved = once.update(examples)  # the sampler's log-probs are now those of older weights
    assert moved["mismatch_kl"] > 1e-6
    assert not torch.allclose(seen[1][1].sort().values, before, atol=1e-3)
    before = now()
    own_logprobs(model, examples, shift=0.3)
    seen.clear()
    twice = Updater(
        Accelerator(cpu=True), model, optimizer, Objective(clip_low=0.01, clip_high=0.01), micro_tokens=10**6, steps=3
    )
    report = twice.update(examples)
    assert report["ratio_max"] > 1.0
    assert report["clip_share"] > 0.05
    assert report["trained"] == report["tokens"]  # however often they were stepped on
    first, second, third = seen
    assert torch.equal(*first), "the ratio is exactly 1 in the first pass"
    assert torch.allclose(first[1].sort().values, before, atol=1e-5)
    for new, old in (second, third):
        assert torch.equal(old, first[1])
        assert (new - old).abs().max() > 1e-3


def test_clipping_cuts_the_gradient_and_not_the_other_side() -> None:
    old = torch.zeros(4)
    new = torch.tensor([0.5, -0.5, 0.5, -0.5], requires_grad=True)  # ratios 1.65 and 0.61
    advantage = torch.tensor([1.0, 1.0, -1.0, -1.0])
    loss = surrogate(new, old, old, advantage, Objective())
    loss.total.backward()
    ratio = new.detach().exp()
    assert new.grad is not None
    assert new.grad.tolist() == pytest.approx([0.0, -ratio[1].item(), ratio[2].item(), 0.0])
    assert loss.total.item() == pytest.approx(-(1.2 + ratio[1].item() - ratio[2].item() - 0.8))
    assert loss.sums["clipped"] == 2
    far = torch.tensor([3.0], requires_grad=True)
    bounded = surrogate(far, torch.zeros(1), torch.zeros(1), torch.tensor([-1.0]), Objective(dual_clip=3.0))
    bounded.total.backward()
    assert bounded.total.item() == pytest.approx(3.0)
    assert far.grad is not None
    assert far.grad.item() == 0.0


def test_importance_weights_are_capped_constants() -> None:
    new = torch.zeros(3, requires_grad=True)
    old, sampler = torch.zeros(3), torch.tensor([-2.0, 0.0, 1.0])
    loss = surrogate(new, old, sampler, torch.ones(3), Objective(importance_cap=2.0))
    loss.total.backward()
    assert new.grad is not None
    assert new.grad.tolist() == pytest.approx([-2.0, -1.0, -torch.tensor(-1.0).exp().item()])
    assert loss.sums["importance_capped"] == 1
    plain = surrogate(new, old, sampler, torch.ones(3), Objective(importance_cap=0.0))
    assert plain.total.item() == pytest.approx(-3.0)
    assert plain.sums["mismatch_max"] == pytest.approx(2.0)


def test_the_divergence_pulls_towards_the_reference() -> None:
    start, examples = sharp_model(positions=256), [item._replace(advantage=0.0) for item in batch_of(6)]
    examples[0] = examples[0]._replace(advantage=1e-9)
    model = copy.deepcopy(start)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    updater = Updater(Accelerator(cpu=True), model, optimizer, Objective(kl=1.0), micro_tokens=10**6, reference=start)
    first = updater.update(examples)["kl"]
    for _ in range(5):
        last = updater.update(examples)["kl"]
    assert 0 < last < first


# -- what moves nothing


def test_without_variance_no_step_is_taken_though_momentum_would() -> None:
    model, examples = sharp_model(positions=256), batch_of(6)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    updater = Updater(Accelerator(cpu=True), model, optimizer, Objective(), micro_tokens=10**6)
    assert updater.update(examples)["stepped"]
    before = [p.detach().clone() for p in model.parameters()]
    report = updater.update([item._replace(advantage=0.0) for item in examples])
    assert (report["stepped"], report["why"]) == (False, "no group has variance")
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert updater.update(examples)["stepped"]


def test_a_gradient_that_is_not_finite_is_told_and_moves_nothing() -> None:
    model, examples = sharp_model(positions=256), batch_of(4)
    examples[1] = examples[1]._replace(advantage=float("nan"))
    before = [p.detach().clone() for p in model.parameters()]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    report = Updater(Accelerator(cpu=True), model, optimizer, Objective(), micro_tokens=10**6).update(examples)
    assert (report["stepped"], report["why"]) == (False, "the gradient is not finite")
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_an_update_that_was_broken_off_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither gradients of its first micro-batches, nor optimizers that are told to wait for the last one."""
    examples, flat = batch_of(12), list[torch.Tensor]()
    for broken in (False, True):
        model = sharp_model(positions=256)
        accelerator = Accelerator(cpu=True)
        wrapped, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=1.0))
        updater = Updater(accelerator, wrapped, optimizer, Objective(), micro_tokens=64, gradient_clip=1e9)
        if broken:
            calls = count(1)

            def fails(*arguments: Any, calls: Any = calls) -> Any:
                if next(calls) == 3:
                    raise KeyboardInterrupt
                return score(*arguments)

            monkeypatch.setattr(update, "score", fails)
            with pytest.raises(KeyboardInterrupt):
                updater.update(examples)
            assert accelerator.sync_gradients
            monkeypatch.undo()
        updater.update(examples)
        flat.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    assert torch.equal(*flat)


def test_a_later_step_that_is_not_finite_does_not_deny_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights have moved, so whoever plays has to be given them."""
    model, examples, calls = sharp_model(positions=256), batch_of(4), count(1)
    before = [p.detach().clone() for p in model.parameters()]
    updater = Updater(
        Accelerator(cpu=True),
        model,
        torch.optim.AdamW(model.parameters(), lr=1e-3),
        Objective(),
        micro_tokens=10**6,
        steps=2,
    )

    def poisoned(*arguments: Any) -> Any:
        scored = score(*arguments)  # first for the old log-probabilities, then for each step
        return scored._replace(logprobs=scored.logprobs * torch.inf) if next(calls) == 3 else scored

    monkeypatch.setattr(update, "score", poisoned)
    report = updater.update(examples)
    assert (report["stepped"], report["why"]) == (True, "the gradient is not finite")
    assert not all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


# -- more than one process

WORKER = """
import json, os, sys
sys.path.insert(0, {tests!r})
import torch
import conftest
from accelerate import Accelerator
from test_trainer_grpo import batch_of, seen_by
from trainer_parts import sharp_model
from tb_trainer.grpo import Objective
from tb_trainer.update import Updater
accelerator = Accelerator(cpu=True)
model = sharp_model(positions=256)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
given = seen_by(optimizer)
wrapped, optimizer = accelerator.prepare(model, optimizer)
updater = Updater(accelerator, wrapped, optimizer, Objective(), micro_tokens={budget}, gradient_clip=1e9)
report = updater.update(batch_of({count}))
torch.save((given[-1], report), f"{out}/rank{{accelerator.process_index}}.pt")
accelerator.end_training()
"""


@pytest.mark.parametrize(("count", "budget"), [(16, 10**6), (7, 1)])
def test_two_processes_take_the_step_of_one(tmp_path: Path, count: int, budget: int) -> None:
    """Also with an odd number of micro-batches, when one process has a pass less to do."""
    script = tmp_path / "worker.py"
    script.write_text(
        WORKER.format(tests=str(Path(__file__).parent), budget=budget, count=count, out=tmp_path), "utf-8"
    )
    launch = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc_per_node=2",
        "--master_port=0",
        "--standalone",
        str(script),
    ]
    done = subprocess.run(launch, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    alone, report = gradient(batch_of(count), budget)
    for rank in range(2):
        moved, theirs = torch.load(tmp_path / f"rank{rank}.pt", weights_only=False)
        assert (moved - alone).norm() < 1e-5 * alone.norm()
        assert json.dumps(sorted(theirs)) == json.dumps(sorted(report))
        assert theirs["trained"] == report["trained"]
        assert theirs["grad_norm"] == pytest.approx(report["grad_norm"], rel=1e-4)
