"""The plan of a run: memory held against measured peaks, layouts that divide or are refused, presets, launch files."""

from __future__ import annotations

import json
import re
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import Qwen3Config, Qwen3ForCausalLM

from tb_envs.errors import UsageError
from tb_trainer import cli
from tb_trainer.built import check_built
from tb_trainer.config import check, load, presets
from tb_trainer.dryrun import describe, plan
from tb_trainer.engines import Sampling
from tb_trainer.engines.hf import HfEngine
from tb_trainer.grpo import Example, pad, score
from tb_trainer.layout import layout_of
from tb_trainer.machine import machine_memory
from tb_trainer.memory import Load, cache_bytes, shape_of, training_bytes
from tb_trainer.schema import LoraConfig, ModelConfig
from tb_trainer.tokens import Trajectory

LAUNCH = Path(cli.__file__).parent / "launch"
PLANNED = (
    "smoke",
    "one-gpu",
    "node-8xh100",
    "reference-24xh100",
    "reference-24xh100-plus",
    "smollm2",
    "cpu-demo",
    "cpu-demo-short",
)
EIGHT = {"nodes": 1, "gpus": 8, "serving": 2, "strategy": "fsdp2", "gpu_memory": 80}
SIZES: dict[str, dict[str, Any]] = {
    "narrow": {"hidden_size": 128, "intermediate_size": 384, "num_hidden_layers": 4, "num_attention_heads": 4},
    "wide": {"hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 8},
}
VOCABULARY = {"narrow": 512, "wide": 4096}


@pytest.fixture(autouse=True)
def eight_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans for CPUs are those of a small machine, whatever machine the tests run on."""
    monkeypatch.setattr("tb_trainer.fit.machine_memory", lambda: 7 * 2**30 + 2**29)


class Meter(TorchDispatchMode):
    """Counts the bytes of all living tensors, by their storages: exact, whatever else the machine does."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[int, int] = {}
        self.live = self.peak = 0

    def hold(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self.sizes:
            self.sizes[key] = storage.nbytes()
            self.live += storage.nbytes()
            self.peak = max(self.peak, self.live)
            weakref.finalize(storage, self.drop, key)

    def drop(self, key: int) -> None:
        self.live -= self.sizes.pop(key)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                self.hold(leaf)
        return out


class Adapter(nn.Module):
    """A low-rank adapter as peft makes it, without peft."""

    def __init__(self, below: nn.Linear, rank: int) -> None:
        super().__init__()
        self.below = below
        self.a = nn.Linear(below.in_features, rank, bias=False, dtype=below.weight.dtype)
        self.b = nn.Linear(rank, below.out_features, bias=False, dtype=below.weight.dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.below(x) + self.b(self.a(x))


def adapt(model: Any, rank: int) -> None:
    model.requires_grad_(False)
    for block in model.model.layers:
        for name, module in list(block.named_modules()):
            if isinstance(module, nn.Linear):
                parent, _, leaf = name.rpartition(".")
                setattr(block.get_submodule(parent), leaf, Adapter(module, rank))


def episode(length: int, vocabulary: int, share: float) -> Trajectory:
    tokens, written = Trajectory(), int(length * share)
    tokens.read([at * 7919 % vocabulary for at in range(length - written)])
    tokens.wrote([at * 104729 % vocabulary for at in range(written)], [-1.0] * written)
    return tokens


@pytest.mark.parametrize(("size", "dtype"), [("narrow", torch.float32), ("wide", torch.bfloat16)])
def test_the_cache_of_rollouts_takes_what_the_plan_says(size: str, dtype: torch.dtype) -> None:
    """Exactly: after a prompt, and after a token more, as the hf engine holds them."""
    sizes = {**SIZES[size], "vocab_size": VOCABULARY[size], "num_key_value_heads": 2, "head_dim": 32}
    shape = shape_of(ModelConfig(shape={"model_type": "qwen3", **sizes}))
    model: Any = Qwen3ForCausalLM(Qwen3Config(**sizes))
    model, cache = model.to(dtype).eval(), None
    rows, tokens, name = 3, 0, HfEngine(model, Sampling())._cache
    for more in (57, 1):
        with torch.no_grad():
            cache = model(torch.ones(rows, more, dtype=torch.long), use_cache=True, **{name: cache})[name]
        tokens += more
        held = sum(tensor.nbytes for layer in cache.layers for tensor in (layer.keys, layer.values))
        assert held == cache_bytes(shape, dtype.itemsize, rows * tokens, rows)


@pytest.mark.parametrize(
    ("size", "dtype", "lengths", "options"),
    [
        ("narrow", torch.float32, [512, 512], {}),
        ("narrow", torch.bfloat16, [512, 512], {"checkpointing": True}),
        ("narrow", torch.float32, [512, 452, 392], {}),
        ("narrow", torch.float32, [512, 512], {"attention": "eager"}),
        ("narrow", torch.bfloat16, [512, 512], {"rank": 8}),
        ("wide", torch.float32, [512, 512], {"checkpointing": True}),
        ("wide", torch.bfloat16, [512, 512], {}),
        ("wide", torch.float32, [64], {}),
    ],
)
def test_the_memory_formula_is_within_a_fifth_of_what_an_update_takes(
    size: str, dtype: torch.dtype, lengths: list[int], options: dict[str, Any]
) -> None:
    sizes = {**SIZES[size], "num_key_value_heads": 2, "head_dim": 32, "vocab_size": VOCABULARY[size]}
    sizes |= {"tie_word_embeddings": True}
    attention, rank = options.get("attention", "sdpa"), options.get("rank", 0)
    torch.manual_seed(0)
    made: Any = Qwen3ForCausalLM._from_config(Qwen3Config(**sizes), attn_implementation=attention)
    model = made.to(dtype)
    if rank:
        adapt(model, rank)
    if options.get("checkpointing"):
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    trained = [parameter for parameter in model.train().parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    batch = pad([Example(episode(length, sizes["vocab_size"], 0.3), 1.0) for length in lengths])
    meter = Meter()
    for parameter in model.parameters():
        meter.hold(parameter)
    with meter:
        for _ in range(2):  # the second update finds the optimizer's state, its second micro-batch gradients
            optimizer.zero_grad()
            for _ in range(2):
                score(model, batch, 1.0).logprobs.sum().backward()
            optimizer.step()

    shape = shape_of(ModelConfig(shape=sizes, lora=LoraConfig(rank=rank)))
    assert (shape.trained, shape.adapters) == (sum(map(torch.Tensor.numel, trained)), bool(rank))
    parts = training_bytes(
        shape,
        Load(
            bytes=dtype.itemsize,
            strategy="ddp",
            ranks=1,
            tokens=batch.ids.numel(),
            sampled=int(batch.sampled.sum()),
            longest=max(lengths),
            mixed=len(set(lengths)) > 1,
            attention=attention,
            checkpointing=bool(options.get("checkpointing")),
        ),
    )
    assert sum(parts.values()) == pytest.approx(meter.peak, rel=0.2)
    state = sum(parts.values()) - parts["activations"]
    held = sum(p.nbytes for p in model.parameters()) + sum(p.grad.nbytes for p in trained if p.grad is not None)
    moments = [value for state in optimizer.state.values() for value in state.values() if value.dim()]
    assert state == held + sum(value.nbytes for value in moments)


def test_scoring_holds_the_vocabulary_for_one_chunk_only() -> None:
    sizes = {**SIZES["narrow"], "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 16384}
    model = Qwen3ForCausalLM(Qwen3Config(**sizes)).train()
    batch = pad([Example(episode(256, 16384, 0.9), 1.0)])
    with Meter() as small:
        score(model, batch, 1.0, chunk=16).logprobs.sum().backward()
    model.zero_grad()
    with Meter() as large:
        score(model, batch, 1.0, chunk=256).logprobs.sum().backward()
    logits = int(batch.sampled.sum()) * 16384 * 4
    assert large.peak - small.peak > 2 * logits
    assert "forward" not in vars(model.get_output_embeddings())


@given(
    nodes=st.integers(1, 4),
    gpus=st.integers(1, 8),
    serving=st.integers(0, 8),
    tensor=st.sampled_from([1, 2, 4, 8]),
    sequence=st.sampled_from([1, 2, 4]),
    groups=st.integers(1, 24),
)
@settings(max_examples=200, deadline=None)
def test_a_layout_uses_every_gpu_once_or_is_refused_with_a_knob(
    nodes: int, gpus: int, serving: int, tensor: int, sequence: int, groups: int
) -> None:
    copies = nodes * serving // tensor
    config = check(
        {
            "model": {"path": "x"},
            "engine": {
                "kind": "vllm",
                "tensor_parallel": tensor,
                "url": ",".join(f"http://h:{8000 + at}" for at in range(max(copies, 1))),
            },
            "grpo": {"groups": groups, "group_size": 8},
            "parallel": {
                "nodes": nodes, "gpus": gpus, "serving": serving, "sequence": sequence, "strategy": "fsdp2",
            },
        }
    )  # fmt: skip
    divides = serving < gpus and serving % tensor == 0 and nodes * (gpus - serving) % sequence == 0
    divides = divides and groups * 8 % max(nodes * (gpus - serving) // sequence, 1) == 0
    if not divides:
        with pytest.raises(UsageError, match=r"(parallel|engine|grpo)\.\w+") as refusal:
            layout_of(config)
        assert "\n" not in str(refusal.value)
        return
    layout = layout_of(config)
    assert sorted((*layout.training, *layout.serving)) == list(range(gpus))
    assert (layout.ranks, layout.copies) == (nodes * len(layout.training), copies)
    assert config.episodes % layout.data == 0


def eight(**changes: dict[str, Any]) -> list[str]:
    return [f"{part}.{name}={json.dumps(value)}" for part, knobs in changes.items() for name, value in knobs.items()]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"parallel": {"serving": 3}, "engine": {"tensor_parallel": 2}}, "set parallel.serving to 2"),
        ({"parallel": {"serving": 2}, "engine": {"tensor_parallel": 4}}, "set it to 1 or 2"),
        ({"parallel": {"serving": 8}}, "leaves none of the 8 GPUs"),
        (
            {"parallel": {"sequence": 4}},
            "parallel.sequence 4 does not divide the 6 training GPUs; set it to 1 or 2 or 3",
        ),
        ({"grpo": {"groups": 17}}, "set grpo.groups to a multiple of 3"),
        ({"engine": {"url": "http://a:1"}}, "engine.url names 1 server, the layout has 2"),
        ({"engine": {"kind": "hf"}, "parallel": {"serving": 0}}, "fsdp2 spreads the weights over 8"),
        ({"parallel": {"colocated": True, "serving": 0}}, "engine.sync nccl cannot join two programs on one GPU"),
        ({"parallel": {"serving_nodes": 1, "serving": 0}}, "leaves none of the 1 machines to train"),
        ({"parallel": {"serving_nodes": 1}}, "parallel.serving and parallel.serving_nodes exclude each other"),
        ({"parallel": {"strategy": "ddp"}}, "what would: parallel.strategy=fsdp2"),
        ({"model": {"gradient_checkpointing": False}}, "model.gradient_checkpointing=true"),
        ({"sampling": {"episode_tokens": 65536}}, "more than the model's 40960 positions"),
        ({"engine": {"memory_share": 0.2}}, "raise engine.tensor_parallel or engine.memory_share"),
        ({"model": {"shape": {"hidden_size": 64}}}, "model.shape lacks intermediate_size"),
        ({"model": {"shape": {}}}, "no folder with a config.json on this machine"),
        ({"parallel": {"expect": {"generate": 100}}}, "parallel.expect.source must say"),
    ],
)
def test_what_does_not_divide_or_fit_is_refused_in_a_line_that_names_the_knob(
    changes: dict[str, Any], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [part for change in eight(**changes) for part in ("--set", change)]
    assert cli.main(["--preset", "node-8xh100", "--dry-run", *sets]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error


def test_processes_wait_for_an_episode_as_long_as_it_may_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Played again at every system error, with pauses; only where it waits for something, and others wait for it."""
    remote = ["environment.backend={kind: remote, urls: [http://10.0.0.5:8765]}", "environment.deadline=900"]
    least = 9 * 900 + 1 + 2 + 4 + 8 + 16 + 30 + 30
    with pytest.raises(UsageError, match=rf"may wait for its environment {least} s .*parallel.timeout={least} or more"):
        plan(load("node-8xh100", remote))
    plan(load("node-8xh100", [*remote, f"parallel.timeout={least}"]))
    plan(load("node-8xh100", remote[1:]))
    plan(load("one-gpu", remote))
    launched = load("smoke", remote)
    check_built(launched)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="may wait for its environment"):
        check_built(launched)
    known = ["parallel.expect.read=9000", "parallel.expect.sampled=4000", "parallel.expect.source=x"]
    for speed, said in ((10, True), (10_000, False)):
        remarks = plan(load("node-8xh100", [*known, f"parallel.expect.generate={speed}"]))["remarks"]
        assert any("wait parallel.timeout 7200 s" in remark for remark in remarks) is said


def test_what_is_said_to_help_does_help() -> None:
    tight = ["parallel.gpu_memory=40", "environment.prompt=compact"]
    with pytest.raises(UsageError) as refusal:
        plan(load("node-8xh100", tight))
    helpful = str(refusal.value).split("what would: ")[1].split("; or ")
    assert len(helpful) > 1
    for change in helpful:
        plan(load("node-8xh100", [*tight, *change.split(" and ")]))
    with pytest.raises(UsageError) as refusal:  # the whole prompt has no room in half of the tokens
        plan(load("node-8xh100", tight[:1]))
    assert "sampling.episode_tokens" in " ".join(helpful) and "sampling.episode_tokens" not in str(refusal.value)


def test_without_gpus_the_machines_memory_is_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The control group's, if that is lower. What may fit is planned, with a remark; what cannot is refused."""
    large = ["model.hidden=512", "model.layers=12", "sampling.episode_tokens=8192"]
    monkeypatch.setattr("tb_trainer.fit.machine_memory", lambda: 0)  # nothing says how much there is
    needed = int(plan(load("cpu-demo", large))["memory_gib"]["training_total"] * 2**30)
    for limit, planned, remarked in (
        (2 * needed, True, False),
        (int(needed / 1.15), True, True),
        (needed // 2, False, True),
    ):
        group = tmp_path / f"{limit}"
        (group / "sys/fs/cgroup/a/b").mkdir(parents=True)
        (group / "proc/self").mkdir(parents=True)
        (group / "proc/self/cgroup").write_text("0::/a/b\n")
        (group / "sys/fs/cgroup/a/b/memory.max").write_text("max\n")
        (group / "sys/fs/cgroup/a/memory.max").write_text(f"{limit}\n")
        assert machine_memory(group) == min(limit, machine_memory(tmp_path))
        monkeypatch.setattr("tb_trainer.fit.machine_memory", lambda limit=limit: limit)
        sets = [part for change in large for part in ("--set", change)]
        assert cli.main(["--preset", "cpu-demo", "--dry-run", *sets]) == (0 if planned else 2)
        said = capsys.readouterr()
        assert ("this machine has less memory" in said.out) is (planned and remarked)
    assert re.fullmatch(
        r"tbx train: a training process would need [\d.]+ GiB \(.*activations.*\), [\d.]+ is what this machine, or its "
        r"control group, has; what would: .*\n",
        said.err,
    )
    helps = said.err.split("what would: ")[1].strip().split("; or ")
    assert any("engine.slots=8" in change or "gradient_checkpointing" in change for change in helps)
    for change in helps:
        plan(load("cpu-demo", [*large, *change.split(" and ")]))


@pytest.mark.parametrize("preset", PLANNED)
def test_every_preset_is_planned_and_says_what_it_can_show(preset: str) -> None:
    config = load(preset)
    made = plan(config)
    assert preset in presets()
    assert len(config.note) > 80
    layout, memory = made["layout"], made["memory_gib"]
    assert config.episodes % layout["data"] == 0
    assert 0 < memory["training_total"] <= memory["limit"] * (1 if config.parallel.gpus else 1.2)
    assert memory["limit"] < config.parallel.gpu_memory
    text = describe(config)
    for name in ("grpo.learning_rate", *memory["training"], "tokens, at most"):
        assert name in text
    assert json.loads(json.dumps(made))["layout"] == json.loads(json.dumps(layout))
    assert json.loads(json.dumps(made)).keys() == made.keys()
    if config.parallel.gpus:
        assert "not measured" in text
        assert made["expected"]["seconds"] == {"generate": None, "update": None, "both": None}
    else:
        assert made["expected"]["read"] and made["expected"]["sampled"] and made["expected"]["seconds"]["generate"]
    assert made["room"]["left"] > config.sampling.turn_tokens
    assert made["room"]["whole"] <= config.sampling.episode_tokens  # a right solution has room


def test_the_demonstrations_update_is_planned_as_it_was_measured() -> None:
    """462 tokens an episode, 17 to 21 seconds an update: what benchmarks/results/cpu-demo.md says."""
    expected = plan(load("cpu-demo"))["expected"]
    assert (expected["read"] + expected["sampled"]) / 144 == pytest.approx(462, rel=0.01)
    assert 15 < expected["seconds"]["both"] < 22
    assert {"read", "sampled", "generate", "update"} == set(expected["sources"])


def test_parameters_are_those_that_the_models_are_named_for() -> None:
    billions = {name: plan(load(name))["model"]["parameters"] / 1e9 for name in PLANNED[1:6]}
    assert billions == pytest.approx(
        {
            "one-gpu": 1.72,
            "node-8xh100": 8.19,
            "reference-24xh100": 26.9,
            "reference-24xh100-plus": 26.9,
            "smollm2": 0.1345,
        },
        rel=0.001,
    )


def test_the_reference_is_to_the_letter() -> None:
    config = load("reference-24xh100")
    grpo, sampling, parallel = config.grpo, config.sampling, config.parallel
    assert (grpo.groups, grpo.group_size, config.episodes, grpo.updates, grpo.steps) == (18, 8, 144, 50, 1)
    assert (grpo.learning_rate, grpo.warmup, grpo.weight_decay, grpo.adam_betas) == (1e-6, 0, 0, (0.9, 0.999))
    assert (grpo.clip_low, grpo.clip_high, grpo.dual_clip, grpo.gradient_clip) == (0.2, 0.2, 3, 1)
    assert (grpo.kl, grpo.importance_cap, grpo.scale, config.seed) == (0, 0, "group", 42)
    assert (sampling.temperature, sampling.top_p, sampling.top_k, sampling.turn_tokens) == (1, 0.95, 20, 8192)
    assert (sampling.prompt_tokens, sampling.episode_tokens) == (26624, 26624 + 106496)
    assert grpo.refills > 0
    assert config.environment.user_turns == 10
    assert "187 tasks are its own" in " ".join(config.note.split())  # no task of the reference is here
    assert (parallel.nodes * parallel.gpus, parallel.sequence, config.engine.tensor_parallel) == (24, 4, 4)
    ours = load("reference-24xh100-plus")
    assert (ours.curriculum.kind, ours.grpo.importance_cap, ours.grpo.kl) == ("posterior", 2, 0)
    assert (ours.sampling.top_p, ours.sampling.top_k, ours.evaluation.split) == (1, 0, "dev")
    assert ours.evaluation.every > 0
    assert (ours.grpo.learning_rate, ours.episodes, ours.parallel) == (1e-6, 144, parallel)


def test_time_is_what_was_measured_or_not_measured(tmp_path: Path) -> None:
    assert plan(load("node-8xh100"))["expected"]["seconds"]["both"] is None
    knobs = ["parallel.expect.read=200", "parallel.expect.sampled=100", "parallel.expect.source=counted by hand"]
    expected = plan(load("smoke", knobs))["expected"]
    assert expected["seconds"]["generate"] == pytest.approx(12 * 100 / 7570)
    assert expected["seconds"]["update"] == pytest.approx(12 * 300 / 18900)
    assert "rates.yaml" in expected["sources"]["generate"]
    assert expected["sources"]["read"] == "counted by hand"
    assert plan(load("smoke", [*knobs, "model.hidden=256"]))["expected"]["seconds"]["both"] is None  # too far a size
    rows = [
        {
            "event": "update",
            "episodes": 12,
            "tokens": {"prompt": 1200, "observation": 1200, "action": 600},
            "seconds": {"generate": seconds, "update": 2 * seconds},
        }
        for seconds in (50, 3, 5)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    expected = plan(load("smoke", [f"parallel.expect.log={log}"]))["expected"]
    assert (expected["read"], expected["sampled"]) == (2400, 600)
    assert expected["seconds"] == pytest.approx({"generate": 4, "update": 8, "both": 12})


def test_the_command_prints_a_plan_and_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["--preset", "node-8xh100", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "machine 0, GPU 0-5     train: ranks 0-5; rank 0 plays" in shown
    assert "machine 0, GPU 7       serve: server 1" in shown
    assert cli.main(["--preset", "node-8xh100", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["layout"]["ranks"] == 6
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["ddp", "fsdp2", "deepspeed_zero3"])
def test_accelerate_reads_the_launch_files(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser
    from accelerate.utils.launch import prepare_deepspeed_cmd_env, prepare_multi_gpu_env

    monkeypatch.chdir(LAUNCH.parent.parent)
    options = ["--config_file", str(LAUNCH / f"{name}.yaml"), "--num_processes", "6", "--no_python", "tbx", "train"]
    arguments, *_ = _validate_launch_command(launch_command_parser().parse_args(options))
    assert (arguments.num_processes, arguments.num_machines) == (6, 1)
    assert [arguments.multi_gpu, arguments.use_fsdp, arguments.use_deepspeed] == [
        name == "ddp", name == "fsdp2", name == "deepspeed_zero3",
    ]  # fmt: skip
    if name == "fsdp2":
        environment = prepare_multi_gpu_env(arguments)
        assert environment["FSDP_VERSION"] == "2"
        assert environment["ACCELERATE_MIXED_PRECISION"] == "bf16"
        assert environment["FSDP_AUTO_WRAP_POLICY"] == "TRANSFORMER_BASED_WRAP"
    if name == "deepspeed_zero3":  # all else is said by the run's settings
        arguments.deepspeed_fields_from_accelerate_config = ""
        _, environment = prepare_deepspeed_cmd_env(arguments)
        assert environment["ACCELERATE_DEEPSPEED_ZERO_STAGE"] == "3"
        assert environment["ACCELERATE_DEEPSPEED_ZERO3_INIT"] == "false"
        assert "ACCELERATE_DEEPSPEED_CONFIG_FILE" not in environment
        assert "ACCELERATE_GRADIENT_CLIPPING" not in environment


def test_the_page_about_launching_names_presets_files_and_settings_that_exist() -> None:
    page = (LAUNCH.parent.parent / "docs/launching.md").read_text("utf-8")
    assert set(re.findall(r"--preset ([\w-]+)", page)) <= set(presets())
    for path in re.findall(r"tb_trainer/launch/[\w.-]+", page):
        assert (LAUNCH.parent.parent / path).exists(), path
    for override in re.findall(r"--set '?([\w.]+=[^\s'`]+)", page):
        assert load("node-8xh100", [override.replace("$SERVE", "node-2")])
