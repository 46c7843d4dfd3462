"""DeepSpeed's ZeRO 3 in gloo processes: the step of one, checkpoints that go on, adapters alone, weights for servers.

Launched as the documentation says, with the file that is shipped; only the library of the collective calls is not a
GPU's. Run by `make test-long`, with an interpreter that has DeepSpeed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from test_trainer_fsdp2 import LORA, Served, base, settings_of
from test_trainer_loop import _untimed, table
from test_trainer_lora import adapted

from tb_envs.errors import UsageError
from tb_trainer import checkpoint
from tb_trainer.engines import Engine
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.policy import load_policy
from tb_trainer.schema import TrainConfig

HERE = Path(__file__).parent
FILE = HERE.parent / "tb_trainer/launch/deepspeed_zero3.yaml"
KINDS: dict[str, dict[str, Any]] = {
    "adapters": {},
    # Several micro-batches in every process, gradients above their bound, two steps on each batch.
    "all": {"grpo": {"micro_tokens": 700, "gradient_clip": 0.05, "steps": 2}, "model": {"gradient_checkpointing": True}},
}
assert base
pytestmark = pytest.mark.long


def settings_for(base: Path, kind: str, *, updates: int = 2, strategy: str = "deepspeed") -> TrainConfig:
    made = settings_of(base, adapters=kind == "adapters", updates=updates, parallel={"strategy": strategy})
    return _with(made, KINDS[kind])


def _with(config: TrainConfig, changes: dict[str, dict[str, Any]]) -> TrainConfig:
    from tb_trainer.config import check

    tree = config.to_json()
    for part, values in changes.items():
        tree[part] |= values
    return check(tree)


def go(base: Path, out: Path) -> None:
    """What each of the two processes does."""
    for kind in KINDS:
        settings = settings_for(base, kind)
        served: Any = Served(table(settings), out / kind / "served")
        Run(settings, out / kind / "whole", engine=served).train()
        Run(settings_for(base, kind, updates=1), out / kind / "cut", engine=table(settings)).train()
        again = Run(settings, out / kind / "cut", engine=table(settings), resume=True)
        assert again.done == 1
        again.train()
    again.accelerator.end_training()


def launch(tmp_path: Path, processes: int, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    """From another folder than the project's, as accelerate starts it."""
    script = tmp_path / "script.py"
    head = (
        f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport conftest, deepspeed, test_trainer_deepspeed as here\n"
        "deepspeed.ops.__compatible_ops__.clear()\n"  # on CPUs it would compile calls of its own, where gloo does
    )
    script.write_text(f"{head}from pathlib import Path\n{body}\n", "utf-8")
    command = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(FILE), *options]
    command += ["--num_processes", str(processes), "--main_process_port", "0", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=environment, cwd=tmp_path
    )


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, base: Path) -> Path:
    folder = tmp_path_factory.mktemp("zero3")
    done = launch(folder, 2, f"here.go(Path({str(base)!r}), Path({str(folder)!r}))")
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_that_spread_the_weights_take_the_steps_of_one(
    kind: str, base: Path, out: Path, tmp_path: Path
) -> None:
    settings = settings_for(base, kind, strategy="ddp")
    alone = Run(settings, tmp_path, engine=table(settings))
    begun = {name: value.detach().clone() for name, value in alone.model.named_parameters() if value.requires_grad}
    alone.train()
    file = "adapter_model.safetensors" if kind == "adapters" else "model.safetensors"
    for update in (1, 2):
        ours, theirs = (
            load_file(checkpoint.folder_of(folder, update) / file) for folder in (out / kind / "whole", tmp_path)
        )
        assert set(ours) == set(theirs)
        apart = torch.cat([(ours[name] - value).flatten() for name, value in theirs.items()]).norm()
        moved = torch.cat([(theirs[name.replace(".default", "")] - v).flatten() for name, v in begun.items()]).norm()
        print(f"{kind}, update {update}: {apart / moved:.1e} of the way")
        assert moved > 1e-3
        assert apart < 1e-5 * moved
    rows = [row for row in read_rows(out / kind / "whole/log.jsonl") if row["event"] == "update"]
    for one, two in zip(alone.rows, rows, strict=True):
        assert one["optimizer"]["stepped"] and one["optimizer"]["trained"] == two["optimizer"]["trained"]
        assert one["optimizer"]["grad_norm"] == pytest.approx(two["optimizer"]["grad_norm"], rel=1e-4)
        if kind == "all":
            assert one["optimizer"]["grad_norm"] > settings.grpo.gradient_clip
    start = read_rows(out / kind / "whole/log.jsonl")[0]
    assert (start["processes"], start["parameters"]) == (2, sum(p.numel() for p in alone.model.parameters()))
    assert start["trained_parameters"] == sum(p.numel() for p in alone.model.parameters() if p.requires_grad)


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_goes_on_bit_for_bit(kind: str, out: Path) -> None:
    folders = [checkpoint.folder_of(out / kind / name, 2) for name in ("cut", "whole")]
    (file,) = folders[0].glob("*.safetensors")
    ours, theirs = (load_file(folder / file.name) for folder in folders)
    assert all(torch.equal(ours[name], value) for name, value in theirs.items())
    logs = [_untimed(read_rows(out / kind / name / "log.jsonl")) for name in ("cut", "whole")]
    assert logs[0] == logs[1]
