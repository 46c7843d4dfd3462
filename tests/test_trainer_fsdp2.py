"""FSDP2 on two gloo processes: the step of one, checkpoints that go on, adapters alone, weights for servers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from spread_parts import LORA, check_one_goes_on, check_resumed, check_steps_of_one
from test_trainer_loop import table
from test_trainer_lora import adapted
from trainer_parts import sharp_model, tokenizer

from tb_envs.errors import UsageError
from tb_trainer import checkpoint
from tb_trainer.engines.sync import FileSync
from tb_trainer.loop import Run
from tb_trainer.policy import load_policy
from tb_trainer.reference import WrittenEngine
from tb_trainer.schema import TrainConfig

pytestmark = pytest.mark.long
HERE = Path(__file__).parent
SPREAD = {"strategy": "fsdp2"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    sharp_model().save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def settings_of(base: Path, *, adapters: bool, updates: int = 2, **changes: Any) -> TrainConfig:
    """A run that AdamW moves by its gradients and not by their rounding."""
    grpo = {"updates": updates, "micro_tokens": 4096, "learning_rate": 1e-2, "adam_eps": 1e-3}
    return adapted(base, model={"lora": LORA if adapters else {"rank": 0}}, grpo=grpo, **changes)


class Served:
    """Writes what a server would be given, and plays written turns."""

    def __init__(self, engine: WrittenEngine, folder: Path) -> None:
        self._engine, self._sync = engine, FileSync(folder, scale=LORA["alpha"] / LORA["rank"])

    def load(self, model: Any) -> None:
        self._engine.load(model)
        self._sync.keep(model, self._engine.version)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def go(base: Path, out: Path) -> None:
    """What each of the two processes does."""
    for adapters in (True, False):
        settings = settings_of(base, adapters=adapters, parallel=SPREAD)
        kind = "adapters" if adapters else "all"
        served: Any = Served(table(settings), out / kind / "served")
        Run(settings, out / kind / "whole", engine=served).train()
        cut = settings_of(base, adapters=adapters, updates=1, parallel=SPREAD)
        Run(cut, out / kind / "cut", engine=table(cut)).train()
        again = Run(settings, out / kind / "cut", engine=table(settings), resume=True)
        assert again.done == 1
        again.train()
    with pytest.raises(UsageError, match=r"engine.kind cpu plays in the first process, but this launch spreads"):
        Run(settings, out / "refused")
    again.accelerator.end_training()


def launch(tmp_path: Path, processes: int, body: str, *, precision: str = "no") -> None:
    script = tmp_path / "script.py"
    head = f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport conftest, fsdp_double, test_trainer_fsdp2 as here\n"
    script.write_text(f"{head}from pathlib import Path\nfsdp_double.use_fsdp2({precision!r})\n{body}\n", "utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc_per_node={processes}", "--standalone"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(script)], capture_output=True, text=True, timeout=300, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, base: Path) -> Path:
    folder = tmp_path_factory.mktemp("fsdp2")
    launch(folder, 2, f"here.go(Path({str(base)!r}), Path({str(folder)!r}))")
    return folder


@pytest.mark.parametrize("kind", ["adapters", "all"])
def test_two_processes_that_spread_the_weights_take_the_steps_of_one(
    kind: str, base: Path, out: Path, tmp_path: Path
) -> None:
    check_steps_of_one(kind, settings_of(base, adapters=kind == "adapters"), out, tmp_path)


@pytest.mark.parametrize("kind", ["adapters", "all"])
def test_a_resumed_run_goes_on_bit_for_bit(kind: str, out: Path) -> None:
    check_resumed(out / kind)


def test_a_checkpoint_is_one_that_a_process_alone_can_go_on_with(base: Path, out: Path, tmp_path: Path) -> None:
    check_one_goes_on(settings_of(base, adapters=True, updates=3), base, out, tmp_path)


def test_a_server_is_given_whole_merged_weights(base: Path, out: Path) -> None:
    found = checkpoint.folder_of(out / "adapters/whole", 2)
    merged, _ = load_policy(adapted(base, model={"checkpoint": str(found), "lora": {"rank": 0}}))
    (folder,) = (out / "adapters/served").iterdir()
    given = load_file(folder / "model-00001.safetensors")
    right = dict(merged.named_parameters())
    assert set(given) == set(right)
    assert all(torch.allclose(given[name], value, atol=1e-6) for name, value in right.items())


def alone(base: Path, out: Path) -> None:
    """One process under FSDP2, as on one GPU: nothing is spread, and the model itself plays."""
    settings = adapted(
        base,
        model={"lora": LORA, "dtype": "bfloat16"},
        engine={"kind": "hf"},
        grpo={"updates": 1, "groups": 1, "group_size": 2},
        environment={"turns": 2},
        sampling={"turn_tokens": 4},
        parallel=SPREAD,
    )
    run = Run(settings, out)
    assert {parameter.dtype for parameter in run.model.parameters() if parameter.requires_grad} == {torch.float32}
    (row,) = run.train()
    assert row["episodes"] == 2
    Run(settings, out, resume=True).accelerator.end_training()


def test_one_process_under_fsdp2_can_play_itself_in_bf16(base: Path, tmp_path: Path) -> None:
    launch(tmp_path, 1, f"here.alone(Path({str(base)!r}), Path({str(tmp_path / 'run')!r}))", precision="bf16")
    saved = load_file(checkpoint.folder_of(tmp_path / "run", 1) / "adapter_model.safetensors")
    assert {value.dtype for value in saved.values()} == {torch.float32}  # or a resume would lose small steps
