"""Sequence parallel on gloo processes: the steps of one process, for softmax attention and for the gated delta rule."""

from __future__ import annotations

import copy
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig, Qwen3Config, Qwen3ForCausalLM

from tb_trainer.adapters import put_on
from tb_trainer.grpo import Example, Objective
from tb_trainer.schema import LoraConfig
from tb_trainer.sequence import SequenceGroup, sequence_group
from tb_trainer.spread import whole
from tb_trainer.tokens import Trajectory
from tb_trainer.update import Updater

torch.set_num_threads(1)
HERE = Path(__file__).parent
SIZES: dict[str, Any] = {
    "vocab_size": 128,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,  # which no two processes can share
    "head_dim": 8,
    "tie_word_embeddings": False,
}


@dataclass(frozen=True)
class Case:
    """A model, and how it is trained."""

    hybrid: bool
    spread: bool = False
    attention: str = "sdpa"
    checkpointing: bool = False
    rank: int = 0
    kl: float = 0.0
    steps: int = 1


CASES = {
    "plain": Case(False, kl=0.1, steps=2),
    "hybrid": Case(True, kl=0.1, steps=2),
    "eager": Case(False, attention="eager"),
    "blocks": Case(True, attention="blocks"),
    "plain, spread": Case(False, spread=True, checkpointing=True),
    "hybrid, spread": Case(True, spread=True, checkpointing=True, steps=2),
    "hybrid, spread, adapters": Case(True, spread=True, checkpointing=True, rank=4),
}
"""Those that are spread (FSDP2) last: a process does not come back from it."""


def tiny(case: Case) -> Any:
    """Random weights, far from uniform choices."""
    torch.manual_seed(3)
    if case.hybrid:
        kinds = ["linear_attention", "full_attention", "linear_attention"]
        linear = {"linear_num_key_heads": 3, "linear_num_value_heads": 6}
        linear |= {"linear_key_head_dim": 8, "linear_value_head_dim": 8}
        sizes: Any = Qwen3_5TextConfig(**SIZES, **linear, num_hidden_layers=3, layer_types=kinds)
        model: Any = Qwen3_5ForCausalLM._from_config(sizes, attn_implementation=case.attention)
    else:
        sizes = Qwen3Config(**SIZES, num_hidden_layers=2)
        model = Qwen3ForCausalLM._from_config(sizes, attn_implementation=case.attention)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(4.0)
    if case.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return put_on(model, LoraConfig(rank=case.rank, alpha=8), torch.float32) if case.rank else model


def episodes(seed: int) -> list[Example]:
    """Of many lengths; of the first the sampled tokens are at its end, of the second in its first half."""
    rng = random.Random(seed)
    out: list[Example] = []
    for read, wrote, after in [
        (50, 6, 0),
        (9, 12, 40),
        *((rng.randint(1, 30), rng.randint(1, 9), 3) for _ in range(8)),
    ]:
        tokens = Trajectory()
        tokens.read([rng.randrange(128) for _ in range(read)])
        tokens.wrote([rng.randrange(128) for _ in range(wrote)], [rng.uniform(-6, -4) for _ in range(wrote)])
        tokens.read([rng.randrange(128) for _ in range(after)])
        out.append(Example(tokens, rng.choice([-0.935, 0.935, 2.475, -0.354])))
    return out


def take(case: Case, accelerator: Any, sequence: SequenceGroup | None = None) -> tuple[dict[str, Any], list[Any]]:
    """The trained weights after two updates, whole, and what was reported."""
    model = tiny(case)
    reference = copy.deepcopy(model).eval() if case.kl else None
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-3, eps=1e-3)
    wrapped, optimizer = accelerator.prepare(model, optimizer)
    updater = Updater(
        accelerator,
        wrapped,
        optimizer,
        Objective(kl=case.kl),
        micro_tokens=130,
        steps=case.steps,
        gradient_clip=10.0,
        reference=reference,
        sequence=sequence,
    )
    reports = [updater.update(episodes(seed)) for seed in (1, 2)]
    plain = accelerator.unwrap_model(wrapped)
    assert plain.config._attn_implementation == case.attention, "the model is as it was"
    return {name: whole(p).detach().clone() for name, p in plain.named_parameters() if p.requires_grad}, reports


def work(out: Path, size: int, names: list[str]) -> None:
    """What each of several processes does."""
    import fsdp_double

    from tb_trainer import loop

    told = False
    for name in names:
        case = CASES[name]
        if case.spread and not told:
            fsdp_double.use_fsdp2()
            told = True
        os.environ["FSDP_TRANSFORMER_CLS_TO_WRAP"] = "Qwen3_5DecoderLayer" if case.hybrid else "Qwen3DecoderLayer"
        accelerator = loop.make_accelerator(str(out), cpu=True, timeout=120.0)
        found = take(case, accelerator, sequence_group(accelerator, size, 120.0))
        torch.save(found, out / f"{name}-{accelerator.process_index}.pt")
    accelerator.end_training()


def launch(folder: Path, processes: int, body: str) -> None:
    script = folder / "script.py"
    head = f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport conftest, test_trainer_sequence as here\n"
    script.write_text(f"{head}from pathlib import Path\n{body}\n", "utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc_per_node={processes}", "--standalone"]
    done = subprocess.run(
        [*command, str(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]


def same(name: str, folder: Path, processes: int) -> None:
    """Every process has the weights of one alone, to a hundred thousandth of the way, and its sums."""
    case = CASES[name]
    begun = {key: p.detach() for key, p in tiny(case).named_parameters()}
    alone, reports = take(case, Accelerator(cpu=True))
    moved = torch.cat([(value - begun[key]).flatten() for key, value in alone.items()]).norm()
    assert all(report["stepped"] and report["trained"] == report["tokens"] > 40 for report in reports)
    for rank in range(processes):
        weights, theirs = torch.load(folder / f"{name}-{rank}.pt", weights_only=False)
        assert set(weights) == set(alone)
        apart = torch.cat([(weights[key] - value).flatten() for key, value in alone.items()]).norm()
        print(f"{name}, process {rank}: {apart / moved:.1e} of the way")
        assert apart < 1e-5 * moved
        for one, two in zip(copy.deepcopy(reports), theirs, strict=True):
            assert one.pop("why") == two.pop("why") == ""
            assert two == pytest.approx(one, rel=1e-4, abs=1e-6)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    launch(folder, 2, f"here.work(Path({str(folder)!r}), 2, {list(CASES)!r})")
    return folder


@pytest.mark.parametrize("name", CASES)
def test_two_processes_that_share_each_episode_take_the_steps_of_one(name: str, two: Path) -> None:
    same(name, two, 2)
