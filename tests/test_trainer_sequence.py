"""Sequence parallel on gloo processes: the steps of one process, for softmax attention and for the gated delta rule."""

from __future__ import annotations

import copy
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file
from test_trainer_fsdp2 import settings_of
from test_trainer_loop import _untimed, table
from test_trainer_plan import Meter, episode
from trainer_parts import tokenizer
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    Qwen3_5ForCausalLM,
    Qwen3_5TextConfig,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tb_envs.errors import UsageError
from tb_trainer import checkpoint, sequence
from tb_trainer.adapters import put_on
from tb_trainer.built import check_built
from tb_trainer.config import check
from tb_trainer.dryrun import plan
from tb_trainer.grpo import Example, Objective, pad, score
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.memory import Load, shape_of, training_bytes
from tb_trainer.mixers import Mixers
from tb_trainer.schema import LoraConfig, ModelConfig, TrainConfig
from tb_trainer.sequence import SequenceGroup, sequence_group
from tb_trainer.spread import whole
from tb_trainer.tokens import Trajectory
from tb_trainer.update import Updater

torch.set_num_threads(1)
HERE = Path(__file__).parent
VOCABULARY = 128
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,  # which no two processes can share
    "head_dim": 8,
    "tie_word_embeddings": False,
}
LINEAR: dict[str, Any] = {
    "linear_num_key_heads": 3,  # nor these
    "linear_num_value_heads": 6,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "num_hidden_layers": 3,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
}
WIDE: dict[str, Any] = {
    "vocab_size": 512,
    "hidden_size": 128,
    "intermediate_size": 384,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "tie_word_embeddings": True,
}
ROW = 1024
"""Tokens of the episode whose memory is measured."""


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


def tiny(case: Case, vocabulary: int = VOCABULARY) -> Any:
    """Random weights, far from uniform choices."""
    torch.manual_seed(3)
    if case.hybrid:
        sizes: Any = Qwen3_5TextConfig(**{**SIZES, **LINEAR, "vocab_size": vocabulary})
        model: Any = Qwen3_5ForCausalLM._from_config(sizes, attn_implementation=case.attention)
    else:
        sizes = Qwen3Config(**{**SIZES, "num_hidden_layers": 2})
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


def measure(sequence: SequenceGroup, *, checkpointing: bool) -> tuple[int, int]:
    """Bytes of the weights with their gradients, and the peak of two micro-batches of one long episode."""
    model: Any = Qwen3ForCausalLM._from_config(Qwen3Config(**WIDE), attn_implementation="sdpa")
    if checkpointing:
        model.train().gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    batch, meter = sequence.cut(pad([Example(episode(ROW, 512, 0.9), 1.0)])), Meter()
    for parameter in model.parameters():
        meter.hold(parameter)
    with meter, Mixers(sequence, [model]):
        for _ in range(2):
            score(model, batch, 1.0).logprobs.sum().backward()
    return 2 * sum(parameter.nbytes for parameter in model.parameters()), meter.peak


def settings(base: Path, updates: int = 2, strategy: str = "ddp") -> TrainConfig:
    parallel = {"nodes": 2, "sequence": 2, "strategy": strategy}
    return settings_of(base, adapters=False, updates=updates, parallel=parallel)


def go(base: Path, out: Path) -> None:
    """What each of two processes does: the cases, the measurements, and whole runs, one of them broken off."""
    accelerator = Accelerator(cpu=True)
    group = sequence_group(accelerator, 2, 120.0)
    torch.save([measure(group, checkpointing=on) for on in (False, True)], out / f"peaks-{group.rank}.pt")
    work(out, 2, list(CASES))
    ours, begun = settings(base, strategy="fsdp2"), settings(base, updates=1, strategy="fsdp2")  # as `work` leaves it
    Run(ours, out / "whole", engine=table(ours)).train()
    Run(begun, out / "cut", engine=table(begun)).train()
    again = Run(ours, out / "cut", engine=table(ours), resume=True)
    assert again.done == 1
    again.train()
    again.accelerator.end_training()


def dies(base: Path, out: Path) -> None:
    """What each of two processes does, of which the second is gone in the middle of a pass."""
    run = Run(settings(base), out / "run", engine=table(settings(base)))
    exchange, calls = sequence._all_to_all, count(1)

    def last(*arguments: Any) -> torch.Tensor:
        if next(calls) == 14 and not run.first:
            os._exit(9)
        return exchange(*arguments)

    sequence._all_to_all = last
    run.train()


def launch(folder: Path, processes: int, body: str, *, fails: bool = False) -> str:
    """What several processes said."""
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
    assert bool(done.returncode) == fails, done.stderr[-3000:]
    return done.stderr


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
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hybrid model that can play."""
    folder = tmp_path_factory.mktemp("base")
    tiny(Case(True), len(tokenizer())).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, base: Path) -> Path:
    folder = tmp_path_factory.mktemp("two")
    launch(folder, 2, f"here.go(Path({str(base)!r}), Path({str(folder)!r}))")
    return folder


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_two_processes_that_share_each_episode_take_the_steps_of_one(name: str, two: Path) -> None:
    same(name, two, 2)


@pytest.mark.long
def test_so_do_two_blocks_of_two(tmp_path: Path) -> None:
    names = ["hybrid", "plain, spread", "hybrid, spread"]
    launch(tmp_path, 4, f"here.work(Path({str(tmp_path)!r}), 2, {names!r})")
    for name in names:
        same(name, tmp_path, 4)


@pytest.mark.long
def test_so_do_four_that_share_each_episode(tmp_path: Path) -> None:
    launch(tmp_path, 4, f"here.work(Path({str(tmp_path)!r}), 4, ['plain, spread'])")
    same("plain, spread", tmp_path, 4)


@pytest.mark.long
@pytest.mark.parametrize("checkpointing", [False, True])
def test_the_memory_of_tokens_is_halved_as_the_plan_says(checkpointing: bool, two: Path) -> None:
    shape = shape_of(ModelConfig(shape={"model_type": "qwen3", **WIDE}))
    held, alone = measure(SequenceGroup(), checkpointing=checkpointing)
    for rank in range(2):
        _, peak = torch.load(two / f"peaks-{rank}.pt")[checkpointing]
        print(f"{(peak - held) / 2**20:.2f} of {(alone - held) / 2**20:.2f} MiB, checkpointing {checkpointing}")
        assert (peak - held) / (alone - held) == pytest.approx(0.5, abs=0.1)
        load = Load(4, "ddp", 1, ROW // 2, ROW // 2, ROW, checkpointing=checkpointing, sequence=2)
        parts = training_bytes(shape, load)
        assert parts["weights"] + parts["gradients"] + parts["activations"] == pytest.approx(peak, rel=0.2)


@pytest.mark.long
def test_a_run_goes_on_bit_for_bit_and_takes_the_steps_of_one_process(two: Path, base: Path, tmp_path: Path) -> None:
    ours, theirs = (load_file(checkpoint.folder_of(two / name, 2) / "model.safetensors") for name in ("cut", "whole"))
    assert all(torch.equal(ours[name], value) for name, value in theirs.items())
    logs = [_untimed(read_rows(two / name / "log.jsonl")) for name in ("cut", "whole")]
    assert logs[0] == logs[1]
    alone = Run(settings_of(base, adapters=False), tmp_path, engine=table(settings(base)))
    begun = {name: value.detach().clone() for name, value in alone.model.named_parameters()}
    alone.train()
    weights = dict(alone.model.named_parameters())
    assert set(weights) == set(theirs)
    apart = torch.cat([(value - theirs[name]).flatten() for name, value in weights.items()]).norm()
    moved = torch.cat([(value - begun[name]).flatten() for name, value in weights.items()]).norm()
    print(f"a run: {apart / moved:.1e} of the way")
    assert apart < 1e-4 * moved
    assert [row["optimizer"]["trained"] for row in alone.rows] == [row["optimizer"]["trained"] for row in logs[1]]


@pytest.mark.long
def test_one_that_is_gone_in_the_middle_of_a_pass_ends_the_other_in_words(base: Path, tmp_path: Path) -> None:
    said = launch(tmp_path, 2, f"here.dies(Path({str(base)!r}), Path({str(tmp_path)!r}))", fails=True)
    gone = "PeerError: another process of the run is gone"
    assert gone in said
    assert read_rows(tmp_path / "run/log.jsonl")[-1]["error"].startswith(gone)


# -- what is refused


def made(kind: str, **changes: Any) -> Any:
    sizes = {**SIZES, "num_hidden_layers": 2, **changes}
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes))


@pytest.mark.parametrize(
    ("kind", "changes", "size", "says"),
    [
        ("qwen3", {"num_attention_heads": 6}, 4, "does not divide the model's 6 attention heads"),
        ("qwen3_5_text", LINEAR, 4, "does not divide the model's 6 heads of linear attention"),
        ("qwen3_5_text", {**LINEAR, "linear_conv_kernel_dim": 7}, 2, "over 5 tokens at most, the model has 7"),
        ("mistral", {"sliding_window": 16}, 2, "the model has a sliding window; set parallel.sequence=1, or take"),
        ("gemma3_text", {"num_hidden_layers": 6}, 2, "the model has sliding_attention"),
        ("lfm2", {"layer_types": ["conv", "full_attention"]}, 2, "block 0 of the model has another token mixer"),
        ("mamba", {}, 2, "block 0 of the model has another token mixer"),
        ("falcon_h1", {"mamba_n_heads": 4, "mamba_d_ssm": 64, "mamba_d_head": 16}, 2, "has another token mixer"),
        ("gpt2", {"n_embd": 32, "n_head": 4, "n_layer": 1}, 2, "block 0 of the model has another token mixer"),
        (
            "qwen3",
            {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}},
            2,
            "the model's rotary embeddings depend (dynamic)",
        ),
    ],
)
def test_a_model_that_cannot_be_spread_is_refused(kind: str, changes: dict[str, Any], size: int, says: str) -> None:
    with pytest.raises(UsageError, match=f"parallel.sequence {size}") as refusal:
        Mixers(SequenceGroup(size), [made(kind, **changes)])
    assert says in str(refusal.value)


def test_a_mixer_that_was_passed_by_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or its block would be blind to the other slices, and the rest be trained on that."""
    model, reference = tiny(Case(False)), tiny(Case(False))
    with Mixers(SequenceGroup(2), [model, reference]) as mixers:
        for each in (reference, model):  # whichever reads first does not vouch for the other
            with pytest.raises(UsageError, match="mixers were not all met"):
                mixers.check(each)
            mixers.check(each)
    assert model.config._attn_implementation == "sdpa"


def test_a_gated_delta_rule_that_holds_its_functions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As before transformers 5.17: to replace what its module calls would change nothing."""
    model = tiny(Case(True))
    held = lambda self, x, **options: self.chunk_gated_delta_rule(x, **options)  # noqa: E731
    monkeypatch.setattr(type(model.model.layers[0].linear_attn), "forward", held)
    with pytest.raises(UsageError, match=r"take transformers 5\.17 or newer, or set parallel\.sequence=1"):
        Mixers(SequenceGroup(2), [model])


def test_processes_that_do_not_divide_are_refused(tmp_path: Path, base: Path) -> None:
    with pytest.raises(UsageError, match="sequence 2 does not divide the 1 process of this launch: start a multiple"):
        Run(settings(base), tmp_path / "run")
    with pytest.raises(UsageError, match=r"does not divide the 1 training process \(parallel.nodes"):
        plan(check({"name": "x", "parallel": {"sequence": 2}}))
    for refuse in (check_built, plan):
        with pytest.raises(UsageError, match=r"is not built for DeepSpeed: set parallel.strategy=fsdp2"):
            refuse(check({"name": "x", "parallel": {"nodes": 2, "sequence": 2, "strategy": "deepspeed"}}))
    assert not (tmp_path / "run").exists()
