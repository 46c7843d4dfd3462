"""DeepSpeed's ZeRO 3 in gloo processes: the step of one, checkpoints that go on, adapters alone, weights for servers.

Launched as the documentation says, with the file that is shipped; only the library of the collective calls is not a
GPU's. `make test-long` makes the environment that has DeepSpeed; only what is launched runs in it.
"""

from __future__ import annotations

import fcntl
import math
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.utils.launch import prepare_deepspeed_cmd_env
from safetensors.torch import load_file
from spread_parts import check_one_goes_on, check_resumed, check_steps_of_one
from test_trainer_fsdp2 import Served, settings_of
from test_trainer_loop import table
from test_trainer_lora import adapted
from trainer_parts import CHATTER, sharp_model, tokenizer, written

from tb_envs.errors import BackendError, UsageError
from tb_trainer import checkpoint, update
from tb_trainer.config import check
from tb_trainer.loop import Run
from tb_trainer.policy import load_policy
from tb_trainer.ranks import PeerError
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer
from tb_trainer.schema import TrainConfig
from tb_trainer.zero import configure, precise, whole

HERE = Path(__file__).parent
FILE_OPTIONS = ["--config_file", str(HERE.parent / "tb_trainer/launch/deepspeed_zero3.yaml")]
KINDS: dict[str, dict[str, Any]] = {
    "adapters": {"grpo": {"steps": 2}},
    # Several micro-batches in every process, and gradients above their bound.
    "all": {"grpo": {"micro_tokens": 700, "gradient_clip": 0.05}, "model": {"gradient_checkpointing": True}},
}
pytestmark = pytest.mark.long


def settings_for(base: Path, kind: str, *, updates: int = 2, strategy: str = "deepspeed") -> TrainConfig:
    made = settings_of(base, adapters=kind == "adapters", updates=updates, parallel={"strategy": strategy})
    return _with(made, KINDS[kind])


def _with(config: TrainConfig, changes: dict[str, dict[str, Any]]) -> TrainConfig:
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


def launch(tmp_path: Path, processes: int, body: str) -> subprocess.CompletedProcess[str]:
    """From another folder than the project's, as accelerate starts it."""
    script = tmp_path / "script.py"
    head = (
        "import conftest, deepspeed, test_trainer_deepspeed as here\n"
        "deepspeed.ops.__compatible_ops__.clear()\n"  # on CPUs it would compile calls of its own, where gloo does
    )
    script.write_text(f"{head}from pathlib import Path\n{body}\n", "utf-8")
    python = sys.executable if find_spec("deepspeed") else str(HERE.parent / ".venv-deepspeed/bin/python")
    command = [python, "-m", "accelerate.commands.launch", *FILE_OPTIONS, "--num_processes", str(processes)]
    command += ["--main_process_port", "0", str(script)]
    below = os.pathsep.join(sys.path)  # this project as it is here, whatever that environment stands on
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": below}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=environment, cwd=tmp_path
    )


@pytest.fixture(scope="session")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where two processes did all that is asserted here; made once, by the first of pytest's workers that needs it."""
    temporary = tmp_path_factory.getbasetemp()
    folder = (temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary) / "zero3"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "edges").exists():
            sharp_model().save_pretrained(folder / "base")
            tokenizer().save_pretrained(folder / "base")
            places = f"Path({str(folder / 'base')!r}), Path({str(folder)!r})"
            done = launch(folder, 2, f"here.go({places})\nprint('runs are done', flush=True)\nhere.edges({places})")
            assert "runs are done" in done.stdout, done.stderr[-3000:]
            (folder / "edges").write_text("" if done.returncode == 0 else done.stderr[-3000:], "utf-8")
    return folder


@pytest.fixture
def base(out: Path) -> Path:
    return out / "base"


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_that_spread_the_weights_take_the_steps_of_one(
    kind: str, base: Path, out: Path, tmp_path: Path
) -> None:
    settings = settings_for(base, kind, strategy="ddp")
    alone, start = check_steps_of_one(kind, settings, out, tmp_path)
    if kind == "all":
        assert all(row["optimizer"]["grad_norm"] > settings.grpo.gradient_clip for row in alone.rows)
    assert start["trained_parameters"] == sum(p.numel() for p in alone.model.parameters() if p.requires_grad)


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_goes_on_bit_for_bit(kind: str, out: Path) -> None:
    check_resumed(out / kind)


def test_a_checkpoint_is_one_that_a_process_alone_can_go_on_with(base: Path, out: Path, tmp_path: Path) -> None:
    check_one_goes_on(settings_for(base, "adapters", updates=3, strategy="ddp"), base, out, tmp_path)


def test_a_checkpoint_of_parts_is_refused_by_a_process_alone(base: Path, out: Path, tmp_path: Path) -> None:
    settings = settings_for(base, "all", updates=3, strategy="ddp")
    shutil.copytree(out / "all/whole/checkpoints", tmp_path / "checkpoints")
    with pytest.raises(
        UsageError, match=r"another parallel.strategy \(it has no optimizer.pt\); resume as it was begun"
    ):
        Run(settings, tmp_path, engine=table(settings), resume=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_is_given_whole_merged_weights(kind: str, base: Path, out: Path) -> None:
    found = checkpoint.folder_of(out / kind / "whole", 2)
    merged, _ = load_policy(adapted(base, model={"checkpoint": str(found), "lora": {"rank": 0}}))
    (folder,) = (out / kind / "served").iterdir()
    given = load_file(folder / "model-00001.safetensors")
    right = dict(merged.named_parameters())
    assert set(given) == set(right)
    assert all(torch.allclose(given[name], value, atol=1e-6) for name, value in right.items())


class Broken(WrittenEngine):
    """Fails while it is given the weights."""

    def load(self, model: Any) -> None:
        next(iter(model.named_parameters()))
        raise BackendError("no room for weights")


def edges(base: Path, out: Path) -> None:
    """What two processes do where something is not as it should be."""
    settings = settings_for(base, "all", updates=2)
    score = update.score

    def poisoned(model: Any, batch: Any, temperature: float) -> Any:
        scored = score(model, batch, temperature)
        return scored._replace(logprobs=scored.logprobs * torch.inf) if poison else scored

    update.score = poisoned
    poison = True
    run = Run(_with(settings, {"grpo": {"updates": 1}}), out / "poisoned", engine=table(settings))
    begun = [whole(parameter) for parameter in run.model.parameters()]
    (row,) = run.train()
    assert (row["optimizer"]["stepped"], row["optimizer"]["why"]) == (False, "the gradient is not finite")
    assert all(torch.equal(whole(now), then) for now, then in zip(run.model.parameters(), begun, strict=True))
    poison = False
    run = Run(settings, out / "poisoned", engine=table(settings), resume=True)
    (row,) = run.train()
    assert row["optimizer"]["stepped"] and math.isfinite(row["optimizer"]["grad_norm"])
    assert not torch.equal(whole(next(run.model.parameters())), begun[0])

    same = Run(settings, out / "same", engine=written(lambda key: CHATTER, "compact"))
    assert [row["optimizer"]["why"] for row in same.train()] == ["no group has variance"] * 2

    half = _with(settings, {"model": {"dtype": "bfloat16"}})
    Run(half, out / "half", engine=table(half)).train()
    Run(_with(half, {"grpo": {"updates": 1}}), out / "half cut", engine=table(half)).train()
    run = Run(half, out / "half cut", engine=table(half), resume=True)
    run.train()
    parameter = next(parameter for parameter in run.model.parameters())
    assert (parameter.dtype, precise(parameter).dtype) == (torch.bfloat16, torch.float32)
    assert run.optimizer.optimizer.gradient_accumulation_dtype == torch.float32
    files = [load_file(checkpoint.folder_of(out / name, 2) / "model.safetensors") for name in ("half", "half cut")]
    assert all(torch.equal(value, files[1][name]) for name, value in files[0].items())
    assert not torch.equal(precise(parameter), whole(parameter).float())

    with pytest.raises(UsageError, match=r"engine.kind cpu plays in the first process, but this launch spreads"):
        Run(settings, out / "refused")
    with pytest.raises(UsageError, match=r"fsdp2.yaml --no_python tbx train …, or set parallel.strategy=deepspeed"):
        Run(_with(settings, {"parallel": {"strategy": "fsdp2"}}), out / "refused")
    first = run.first
    with pytest.raises(BackendError if first else PeerError):
        Run(settings, out / "broken", engine=Broken(Renderer(tokenizer(), "compact"), lambda key: CHATTER)).train()


def test_what_goes_wrong_is_told_and_leaves_nobody_waiting(out: Path) -> None:
    """What `edges` asserts, in both processes."""
    assert (out / "edges").read_text("utf-8") == ""


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--zero_stage", "2"], "asks DeepSpeed for ZeRO stage 2, built is stage 3"),
        (
            ["--gradient_clipping", "0.5"],
            "DeepSpeed's gradient_clipping to 0.5: leave it out, grpo.gradient_clip is",
        ),
        (["--mixed_precision", "bf16"], "sets bf16 .mixed_precision.: leave it out, model.dtype is float32"),
        (["--gradient_accumulation_steps", "4"], "gradient_accumulation_steps to 4: leave it out, micro-batches"),
        (["--offload_param_device", "nvme"], "offload_param_device nvme, which is not built: set cpu or none"),
    ],
)
def test_a_launch_that_contradicts_the_settings_is_refused(
    options: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accelerate import DeepSpeedPlugin

    monkeypatch.chdir(tmp_path)
    arguments, *_ = _validate_launch_command(launch_command_parser().parse_args([*FILE_OPTIONS, *options, "tbx"]))
    arguments.deepspeed_fields_from_accelerate_config = ""
    for name, value in prepare_deepspeed_cmd_env(arguments)[1].items():
        if name.startswith("ACCELERATE_"):
            monkeypatch.setenv(name, value)
    plugin = DeepSpeedPlugin()
    plugin.set_mixed_precision(os.environ["ACCELERATE_MIXED_PRECISION"])
    accelerator: Any = SimpleNamespace(state=SimpleNamespace(deepspeed_plugin=plugin))
    with pytest.raises(UsageError, match=says):
        configure(accelerator, dtype=torch.float32, clip=1.0)
