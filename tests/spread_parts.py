"""What holds of weights that are spread over processes, whoever spreads them; FSDP2's and ZeRO 3's tests ask it.

Two processes have played ``KIND/whole``, and ``KIND/cut``, which was ended after one update and resumed.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from test_trainer_loop import _untimed, table
from test_trainer_lora import adapted

from tb_trainer import checkpoint
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.policy import load_policy
from tb_trainer.schema import TrainConfig

LORA = {"rank": 4, "alpha": 8}


def check_steps_of_one(kind: str, settings: TrainConfig, out: Path, tmp_path: Path) -> tuple[Run, dict[str, Any]]:
    """Two processes have taken the steps of one; the run of one, and how the log of two begins."""
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
    log = read_rows(out / kind / "whole/log.jsonl")
    for one, two in zip(alone.rows, [row for row in log if row["event"] == "update"], strict=True):
        assert one["optimizer"]["stepped"] and one["optimizer"]["trained"] == two["optimizer"]["trained"]
        assert one["optimizer"]["grad_norm"] == pytest.approx(two["optimizer"]["grad_norm"], rel=1e-4)
    assert (log[0]["processes"], log[0]["parameters"]) == (2, sum(p.numel() for p in alone.model.parameters()))
    return alone, log[0]


def check_resumed(folder: Path) -> None:
    """A run that was resumed has the weights and the log of one that was not, bit for bit."""
    folders = [checkpoint.folder_of(folder / name, 2) for name in ("cut", "whole")]
    (file,) = folders[0].glob("*.safetensors")
    ours, theirs = (load_file(found / file.name) for found in folders)
    assert all(torch.equal(ours[name], value) for name, value in theirs.items())
    logs = [_untimed(read_rows(folder / name / "log.jsonl")) for name in ("cut", "whole")]
    assert logs[0] == logs[1]


def check_one_goes_on(settings: TrainConfig, base: Path, out: Path, tmp_path: Path) -> None:
    """Adapters alone, and an optimizer's state that knows of no processes; other weights as transformers reads.

    Args:
        settings: of a run of three updates in one process, with adapters.
    """
    folder = checkpoint.folder_of(out / "adapters/whole", 2)
    assert {path.name for path in folder.iterdir()} >= {"adapter_config.json", "optimizer.pt", "state.json"}
    assert [path.name for path in folder.glob("*.safetensors")] == ["adapter_model.safetensors"]
    assert not [path for path in folder.iterdir() if path.is_dir()], "parts of processes"
    shutil.copytree(out / "adapters/whole/checkpoints", tmp_path / "checkpoints")
    on = Run(settings, tmp_path, engine=table(settings), resume=True)
    assert [row["update"] for row in on.train()] == [3]
    for kind, lora in (("adapters", LORA), ("all", {"rank": 0})):
        found = checkpoint.folder_of(out / kind / "whole", 2)
        model, _ = load_policy(adapted(base, model={"checkpoint": str(found), "lora": lora}))
        saved = load_file(next(found.glob("*.safetensors")))
        read = {name.replace(".default", ""): value for name, value in model.named_parameters() if value.requires_grad}
        assert set(saved) == set(read)
        assert all(torch.equal(read[name], value) for name, value in saved.items())
