"""Adapters: trained alone, saved alone, resumed bit for bit, and served as the merged weights that they stand for."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from test_trainer_loop import _untimed, table
from trainer_parts import TASKS, config, runner, sampling, sharp_model, tokenizer
from transformers import AutoConfig, AutoModelForCausalLM

from tb_envs.errors import UsageError
from tb_trainer import checkpoint, cli
from tb_trainer.adapters import put_on
from tb_trainer.config import load
from tb_trainer.dryrun import plan
from tb_trainer.engines import Key
from tb_trainer.engines.cpu import CpuEngine
from tb_trainer.engines.hf import HfEngine
from tb_trainer.engines.make import make_engine
from tb_trainer.engines.sync import FileSync
from tb_trainer.grpo import Example, pad, score
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.memory import shape_of
from tb_trainer.play import play_all
from tb_trainer.policy import load_policy
from tb_trainer.runner import Job
from tb_trainer.schema import LoraConfig, ModelConfig, TrainConfig


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    sharp_model().save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def adapted(base: Path, **changes: Any) -> TrainConfig:
    parts: dict[str, dict[str, Any]] = {
        "environment": {"prompt": "compact"},
        "model": {"path": str(base), "lora": {"rank": 4, "alpha": 8, "dropout": 0.1}},
        "grpo": {"updates": 4, "learning_rate": 1e-2},
        "saving": {"every": 1, "keep": 0},
    }
    return config(**{name: {**parts.get(name, {}), **changes.get(name, {})} for name in {*parts, *changes}})


def trained_policy(base: Path) -> Any:
    """Adapters that say something: new ones add nothing."""
    policy, _ = load_policy(adapted(base, model={"lora": {"rank": 4, "alpha": 8}}))
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in policy.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.2)
    return policy.eval()


def merged(policy: Any) -> Any:
    return copy.deepcopy(policy).merge_and_unload().eval()


def test_a_resumed_run_goes_on_with_the_same_adapters(tmp_path: Path, base: Path) -> None:
    settings = adapted(base)
    whole = Run(settings, tmp_path / "whole", engine=table(settings))
    frozen = {n: p.detach().clone() for n, p in whole.model.named_parameters() if not p.requires_grad}
    whole.train()
    assert all(torch.equal(dict(whole.model.named_parameters())[name], kept) for name, kept in frozen.items())
    Run(adapted(base, grpo={"updates": 2}), tmp_path / "cut", engine=table(settings)).train()
    again = Run(settings, tmp_path / "cut", engine=table(settings), resume=True)
    assert again.done == 2
    again.train()
    for update in range(1, 5):
        folder = checkpoint.folder_of(tmp_path / "whole", update)
        assert {path.suffix for path in folder.iterdir()} >= {".safetensors", ".pt", ".json"}
        assert [path.name for path in folder.glob("*.safetensors")] == ["adapter_model.safetensors"]
        ours, theirs = (
            load_file(checkpoint.folder_of(tmp_path / out, update) / "adapter_model.safetensors")
            for out in ("cut", "whole")
        )
        assert all("lora_" in name for name in theirs)
        assert all(torch.equal(ours[name], tensor) for name, tensor in theirs.items())
        assert any(tensor.any() for name, tensor in theirs.items() if "lora_B" in name)
    first, last = (load_file(checkpoint.folder_of(tmp_path / "whole", n) / "adapter_model.safetensors") for n in (2, 4))
    assert any(not torch.equal(first[name], last[name]) for name in first)
    states = [
        torch.load(checkpoint.folder_of(tmp_path / out, 4) / "optimizer.pt", weights_only=True)["state"]
        for out in ("cut", "whole")
    ]
    for at, state in states[1].items():
        assert all(torch.equal(states[0][at][name], value) for name, value in state.items())
    assert _untimed(read_rows(tmp_path / "cut/log.jsonl")) == _untimed(read_rows(tmp_path / "whole/log.jsonl"))
    start = read_rows(tmp_path / "whole/log.jsonl")[0]
    assert start["trained_parameters"] == sum(t.numel() for t in last.values()) < start["parameters"] / 3


@pytest.mark.parametrize("kind", ["cpu", "hf"])
def test_engines_play_the_merged_weights(kind: str, base: Path) -> None:
    """Log-probs of whole episodes are those of the model with its adapters added, also after they have changed."""
    policy = trained_policy(base)
    engine = make_engine(
        adapted(base, engine={"kind": kind}, sampling={"episode_tokens": 2048}), policy, tokenizer(), training=True
    )
    assert type(engine) is {"cpu": CpuEngine, "hf": HfEngine}[kind]
    for scale in (1.0, -1.5):
        with torch.no_grad():
            for name, parameter in policy.named_parameters():
                if "lora_B" in name:
                    parameter.mul_(scale)
        engine.load(policy)
        jobs = [Job(Key(0, 0, group, 0), TASKS[group]) for group in range(3)]
        rollouts = play_all(runner(engine, turn=16, prompt="compact"), jobs)
        batch = pad([Example(rollout.tokens, 1.0) for rollout in rollouts])
        with torch.no_grad():
            plain, own = (score(model, batch, 1.0).logprobs for model in (merged(policy), policy))
            bare = score(sharp_model(), batch, 1.0).logprobs
        assert (batch.sampler[batch.sampled] - plain).abs().max() < 1e-4
        assert (own - plain).abs().max() < 1e-4  # what is trained is what is played
        assert (bare - plain).abs().max() > 1e-2


def test_a_server_is_given_the_merged_weights(tmp_path: Path, base: Path) -> None:
    policy = trained_policy(base)
    before = {name: tensor.detach().clone() for name, tensor in policy.named_parameters()}
    sync = FileSync(tmp_path, scale=8 / 4)
    sync.keep(policy, 1)
    given = load_file(tmp_path / "weights-1/model-00001.safetensors")
    expected = dict(merged(policy).named_parameters())
    assert set(given) == set(expected)
    assert all(torch.allclose(given[name], tensor, atol=1e-6) for name, tensor in expected.items())
    assert all(torch.equal(before[name], tensor) for name, tensor in policy.named_parameters())


def test_a_checkpoint_of_adapters_can_be_begun_from(tmp_path: Path, base: Path) -> None:
    settings = adapted(base, grpo={"updates": 2})
    run = Run(settings, tmp_path / "run", engine=table(settings))
    run.train()
    folder = checkpoint.folder_of(tmp_path / "run", 2)
    saved = load_file(folder / "adapter_model.safetensors")
    for model in ({"path": str(folder)}, {"path": str(base), "checkpoint": str(folder)}):
        go_on, _ = load_policy(adapted(base, model={**settings.to_json()["model"], **model}))
        parameters = {name.replace(".default", ""): value for name, value in go_on.named_parameters()}
        assert all(torch.equal(parameters[name], tensor) for name, tensor in saved.items())
        assert all(parameters[name].requires_grad for name in saved)
        plain, _ = load_policy(adapted(base, model={**model, "lora": {"rank": 0}}))
        assert type(plain) is type(sharp_model())
        right = dict(merged(run.model).named_parameters())
        assert all(torch.allclose(right[name], value, atol=1e-6) for name, value in plain.named_parameters())
    with pytest.raises(UsageError, match=r"rank 4 and alpha 8; to go on with them set model.lora.rank=4"):
        load_policy(adapted(base, model={"path": str(folder), "lora": {"rank": 8}}))


def test_adapters_that_cannot_be_are_refused(base: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"targets: no layer is called 'nothing'; linear layers here: .*q_proj"):
        load_policy(adapted(base, model={"lora": {"rank": 4, "targets": ["q_proj", "nothing"]}}))
    settings = adapted(base, grpo={"updates": 1})
    run = Run(settings, tmp_path, engine=table(settings))
    run.train()
    weights = checkpoint.folder_of(tmp_path, 1) / "adapter_model.safetensors"
    save_file({"base_model.model.other.lora_A.weight": torch.zeros(2)}, weights)
    with pytest.raises(UsageError, match="holds adapters of other layers"):
        Run(settings, tmp_path, engine=table(settings), resume=True)
    embedded, _ = load_policy(adapted(base, model={"lora": {"rank": 4, "targets": ["embed_tokens"]}}))
    with pytest.raises(UsageError, match="reads linear layers and LoRA on them, not Embedding; use engine `hf`"):
        CpuEngine(embedded, sampling())
    changed = trained_policy(base)
    changed.get_base_model().model.layers[0].mlp.up_proj = torch.nn.Bilinear(2, 2, 2)
    with pytest.raises(UsageError, match="not Bilinear; use engine `hf`"):
        CpuEngine(changed, sampling())


def test_targets_that_leave_mixers_out_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a model with two kinds of mixers: names of one kind's layers leave the other kind's blocks frozen."""
    sizes: dict[str, Any] = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 8, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
        "linear_key_head_dim": 8, "linear_value_head_dim": 8, "vocab_size": 64,
    }  # fmt: skip
    cases: dict[tuple[str, ...], str] = {
        ("q_proj", "v_proj"): "linear_attn of 6 of the 8 blocks (0-2, 4-6; layers in_proj_a, in_proj_b, in_proj_qkv,",
        ("self_attn.o_proj", "up_proj"): "linear_attn of 6 of the 8 blocks (0-2, 4-6;",
        ("linear_attn.out_proj",): "self_attn of 2 of the 8 blocks (3, 7; layers k_proj, o_proj, q_proj, v_proj)",
        ("down_proj",): "self_attn of 2 of the 8 blocks",
        ("q_proj", "out_proj"): "",
        ("all-linear",): "",
    }
    for targets, words in cases.items():
        made = AutoModelForCausalLM.from_config(AutoConfig.for_model("qwen3_5_text", **sizes))
        model = put_on(made, LoraConfig(rank=2, targets=targets), torch.float32)
        said = capsys.readouterr().err
        blocks = model.get_base_model().model.layers
        learning = [
            any(
                parameter.requires_grad
                for name, parameter in block.named_parameters()
                if name.startswith(("self_attn", "linear_attn"))
            )
            for block in blocks
        ]
        assert all(learning) is not bool(said), targets
        assert words in said
        shape = shape_of(
            ModelConfig(shape={"model_type": "qwen3_5_text", **sizes}, lora=LoraConfig(2, targets=targets))
        )
        assert shape.trained == sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
        assert words in shape.frozen and bool(shape.frozen) is bool(said)
    knobs = ["model.lora.rank=8", "model.lora.targets=[q_proj, v_proj]"]
    remarks = plan(load("reference-24xh100-plus", knobs))["remarks"]
    assert any("leaves frozen: linear_attn of 48 of the 64 blocks" in remark for remark in remarks)


def test_without_peft_adapters_are_refused_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], base: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr("tb_trainer.built.find_spec", lambda name: None)
    arguments = ["--preset", "smoke", "--set", f"model.path={base}", "--set", "model.lora.rank=4"]
    assert cli.main([*arguments, "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == (
        "tbx train: model.lora needs peft: pip install 'thinkingbox-gym[train]', or set model.lora.rank=0\n"
    )
    assert not (tmp_path / "run").exists()
