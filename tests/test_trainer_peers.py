"""More processes than one are one run: the same steps, the same point; one that is lost ends all of them in words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from test_trainer_loop import make_run, settings_for, weights

from tb_trainer import checkpoint
from tb_trainer.log import read_rows
from tb_trainer.schema import TrainConfig

HERE = Path(__file__).parent
RANKS = """
import os, sys, threading, time
sys.path.insert(0, {tests!r})
import conftest
from pathlib import Path
from tb_trainer import checkpoint
from test_trainer_peers import make_run, settings
rank, out = int(os.environ["RANK"]), Path({out!r})
{before}
run = make_run(out, settings(), resume={resume})
{body}
run.train()
run.accelerator.end_training()
"""


def settings() -> TrainConfig:
    """A run that AdamW moves by its gradients and not by their rounding."""
    grpo = {"updates": 3, "micro_tokens": 4096, "learning_rate": 1e-2, "adam_eps": 1e-3}
    return settings_for(grpo=grpo, saving={"every": 1})


def launch(
    script: Path, out: Path, body: str = "", *, before: str = "", resume: bool = False
) -> subprocess.CompletedProcess[str]:
    """Two processes, as torchrun starts them."""
    text = RANKS.format(tests=str(HERE), out=str(out), body=body, before=before, resume=resume)
    script.write_text(text, "utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def flat(tensors: dict[str, torch.Tensor]) -> torch.Tensor:
    return torch.cat([tensors[name].flatten() for name in sorted(tensors)])


LEARNS = """
source_update = run.updater.update
def update(examples):
    if run.done == 1 and not run.first: os._exit(9)
    return source_update(examples)
run.updater.update = update
"""
BUSY = """
busy = out / "busy"
def when_busy():
    while not busy.exists(): time.sleep(0.02)
    os._exit(9)
def stay_busy(*_):
    busy.touch()
    time.sleep(250)  # much longer than anybody has patience: it is the signal that ends it
if not run.first: threading.Thread(target=when_busy, daemon=True).start()
"""
PLAYS = (
    BUSY
    + """
poll = getattr(run, "runner", None) and run.runner.poll
if run.first: run.runner.poll = lambda **k: stay_busy() if run.done == 1 else poll(**k)
"""
)
SAVES = (
    BUSY
    + """
finish = checkpoint.finish
checkpoint.finish = lambda *a: stay_busy() if run.done == 2 else finish(*a)
"""
)


@pytest.mark.long
def test_two_processes_are_one_run_and_a_dead_one_ends_it_with_a_checkpoint(tmp_path: Path) -> None:
    alone = make_run(tmp_path / "one", settings())
    begun = {name: tensor.detach().clone() for name, tensor in alone.model.state_dict().items()}
    alone.train()
    done = launch(tmp_path / "dies.py", tmp_path / "two", LEARNS)
    assert done.returncode != 0
    assert checkpoint.whole(tmp_path / "two") == [1]
    assert "--resume" in done.stderr
    done = launch(tmp_path / "goes_on.py", tmp_path / "two", resume=True)
    assert done.returncode == 0, done.stderr[-3000:]
    ours, theirs = weights(tmp_path / "one", 3), weights(tmp_path / "two", 3)
    way = flat(ours) - flat({name: begun[name] for name in ours})
    assert way.norm() > 1e-2
    assert (flat(theirs) - flat(ours)).norm() < 1e-4 * way.norm()
    rows = [row for row in read_rows(tmp_path / "two/log.jsonl") if row["event"] == "update"]
    assert [row["update"] for row in rows] == [1, 2, 3]
    assert [row["pass_rate"] for row in rows] == [row["pass_rate"] for row in alone.rows]
    assert read_rows(tmp_path / "two/log.jsonl")[0]["processes"] == 2


@pytest.mark.long
@pytest.mark.parametrize(("moment", "events"), [(PLAYS, 2), (SAVES, 3)], ids=["plays", "saves"])
def test_the_one_that_is_busy_says_that_another_is_dead(tmp_path: Path, moment: str, events: int) -> None:
    """It takes part in no collective call, so only its launcher can tell it."""
    done = launch(tmp_path / "dies.py", tmp_path / "run", moment)
    assert done.returncode != 0
    assert "PeerError: this process was told to end (SIGTERM), as launchers do when another process" in done.stderr
    assert "start the run again with --resume" in done.stderr
    assert checkpoint.whole(tmp_path / "run") == [1]
    rows = read_rows(tmp_path / "run/log.jsonl")
    assert [row["event"] for row in rows] == ["start", *["update", "checkpoint", "update"][:events], "failed"]
    assert rows[-1]["error"].startswith("PeerError: this process was told to end")


APART = """
source_update = run.updater.update
def update(examples):
    report = source_update(examples)
    if rank == 1: next(run.model.parameters()).data[0] += 1e-4
    return report
run.updater.update = update
"""


@pytest.mark.long
def test_processes_that_are_not_at_the_same_point_are_told_what_differs(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = launch(tmp_path / "drifts.py", tmp_path / "drifts", APART)
    assert done.returncode != 0
    assert "the processes of this run are not at the same point: hash of the weights is" in done.stderr
    assert "update is" not in done.stderr
    assert checkpoint.whole(tmp_path / "drifts") == []  # what has drifted is not saved
    make_run(out, settings()).train()
    done = launch(tmp_path / "older.py", out, before="if rank: checkpoint.whole = lambda out: [2]", resume=True)
    assert done.returncode != 0
    assert "update is 3 in process 0 and 2 in process 1" in done.stderr
    done = launch(tmp_path / "lost.py", out, before="if rank: checkpoint.whole = lambda out: []", resume=True)
    assert done.returncode != 0
    assert "PeerError: process 1 could not begin: UsageError: --resume: " in done.stderr
