"""Engines from a configuration, and what a server is given: what fits together, and what is refused."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from trainer_parts import sharp_model, tokenizer
from vllm_double import VllmDouble

from tb_envs.errors import UsageError
from tb_trainer.config import check
from tb_trainer.engines import Key, Request
from tb_trainer.engines.cpu import CpuEngine
from tb_trainer.engines.hf import HfEngine
from tb_trainer.engines.make import make_engine, urls_of
from tb_trainer.engines.sync import FileSync, NcclSync, NoSync, merged, named
from tb_trainer.engines.vllm import VllmEngine
from tb_trainer.engines.wire import Refused, seed_of
from tb_trainer.schema import TrainConfig

PROMPT = [40, 41, 42, 43, 44]


@pytest.fixture(scope="module")
def model() -> Any:
    return sharp_model(seed=2)


def configured(**changes: Any) -> TrainConfig:
    return check({"name": "library", "sampling": {"turn_tokens": 64, "episode_tokens": 2048}, **changes})


def test_engines_by_name(model: Any, tmp_path: Path) -> None:
    double = VllmDouble(model)
    made = {
        kind: make_engine(
            configured(
                engine={"kind": kind, "url": f" {double.url}/ ", "sync": "files", "sync_folder": str(tmp_path)},
                model={"path": "x"},
            ),
            model,
            tokenizer(),
        )
        for kind in ("cpu", "hf", "vllm")
    }
    assert [type(engine) for engine in made.values()] == [CpuEngine, HfEngine, VllmEngine]
    for engine in made.values():
        assert engine.sampling.stop == (tokenizer().eos_token_id,)
        engine.load(model)
        engine.submit(Request(Key(0, 0, 0, 0), PROMPT, 4))
        (turn,) = engine.poll()
        assert len(turn.ids) == len(turn.logprobs) > 0
    served = made["vllm"]
    assert isinstance(served, VllmEngine)
    served.close()
    double.stop()
    alone = make_engine(
        configured(engine={"kind": "vllm", "sync": "none"}, model={"path": "x"}), model, tokenizer(), training=False
    )
    assert isinstance(alone, VllmEngine)
    assert isinstance(alone._sync, NoSync)
    assert urls_of(configured(engine={"url": "http://a:1, https://b:2/"}).engine) == ["http://a:1", "https://b:2"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"engine": {"kind": "vllm"}}, "serves the model of model.path"),
        ({"engine": {"kind": "vllm", "sync": "none"}, "model": {"path": "x"}}, "set nccl or files"),
        ({"engine": {"kind": "vllm", "sync": "files"}, "model": {"path": "x"}}, "needs engine.sync_folder"),
        ({"engine": {"kind": "vllm", "sync": "nccl"}, "model": {"path": "x"}}, "engine.sync nccl"),
        ({"engine": {"kind": "vllm", "url": "localhost:8000"}, "model": {"path": "x"}}, "not like http://"),
        ({"engine": {"kind": "vllm", "url": "http://a:1/v1"}, "model": {"path": "x"}}, "no path"),
        ({"engine": {"kind": "vllm", "url": "http://a:1,http://a:1/"}, "model": {"path": "x"}}, "each server once"),
        ({"engine": {"kind": "vllm", "url": " , "}, "model": {"path": "x"}}, "each server once"),
        ({"sampling": {"turn_tokens": 64, "episode_tokens": 5000}}, "the model has 4096 positions"),
        ({"sampling": {"top_k": 5000}}, "sampling.top_k is 5000"),
    ],
)
def test_what_does_not_fit_together_is_refused(model: Any, changes: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        make_engine(configured(**changes), model, tokenizer())
    assert "\n" not in str(refused.value)


def test_adapters_are_added_to_the_weights_below_them() -> None:
    torch.manual_seed(0)
    weight, a, b, bias = torch.randn(6, 4), torch.randn(2, 4), torch.randn(6, 2), torch.randn(6)
    tensors = [
        ("model.embed.weight", torch.ones(2)),
        ("model.q_proj.base_layer.weight", weight),
        ("model.q_proj.base_layer.bias", bias),
        ("model.q_proj.lora_A.default.weight", a),
        ("model.q_proj.lora_B.default.weight", b),
        ("model.o_proj.base_layer.weight", bias),
    ]
    found = dict(merged(tensors, 16.0))
    assert set(found) == {"model.embed.weight", "model.q_proj.weight", "model.q_proj.bias", "model.o_proj.weight"}
    x = torch.randn(4)
    assert torch.allclose(found["model.q_proj.weight"] @ x, weight @ x + 16.0 * (b @ (a @ x)), atol=1e-4)
    assert found["model.q_proj.bias"] is bias
    with pytest.raises(UsageError, match="LoRA on linear layers only"):
        list(merged([("model.embed.lora_embedding_A", a)], 1.0))


def test_files_are_whole_and_only_the_last_version_is_kept(tmp_path: Path, model: Any) -> None:
    sync = FileSync(tmp_path / "w")
    for version in range(3):
        sync.keep(model, version)
        assert [path.name for path in (tmp_path / "w").iterdir()] == [f"weights-{version}"]
    sync.close()
    assert list((tmp_path / "w").iterdir()) == []


def test_names_are_those_of_the_plain_model(model: Any) -> None:
    wrapped = torch.nn.ModuleDict({"module": model})
    assert [name for name, _ in named(wrapped)] == [name for name, _ in model.named_parameters()]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 10**9)] * 5), unique=True, min_size=2, max_size=20))
def test_each_place_has_a_seed_of_its_own(places: list[tuple[int, ...]]) -> None:
    seeds = [seed_of(Key(*place[:4]), place[4]) for place in places]
    assert len(set(seeds)) == len(places)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seed_of(Key(42, 1, 2, 3), 100) == 3825114684146555599  # the same on every machine


def test_a_server_that_trls_client_cannot_use_is_refused_at_once(monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
    real = importlib.import_module("trl.generation.vllm_client").VLLMClient
    bare = type("Bare", (real,), {"__init__": lambda self, **_: setattr(self, "base_url", "http://a:1")})
    monkeypatch.setattr(bare, "get_server_info", lambda self: {"weight_transfer_config": None})
    monkeypatch.setattr("trl.generation.vllm_client.VLLMClient", bare)
    sync = NcclSync(51216, device="cpu")
    sync.keep(model, 0)
    with pytest.raises(Refused, match="--weight-transfer-config"):
        sync.push("http://a:1")
