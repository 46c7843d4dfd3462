"""A run that was killed before its first checkpoint, what a kill cannot take, and who may be in a folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from test_trainer_loop import HERE, LIBRARY_SETS, _untimed, make_run, settings_for, weights
from trainer_parts import sets

import tb_envs.whole
from tb_envs.errors import UsageError
from tb_trainer import checkpoint, cli
from tb_trainer.begun import alone
from tb_trainer.log import RunLog, read_rows
from tb_trainer.schema import TrainConfig

KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import conftest
from pathlib import Path
from test_trainer_resume import make_run, seldom_saved
def die():
    os.kill(os.getpid(), signal.SIGKILL)
run = make_run(Path({out!r}), seldom_saved(), resume={resume})
{body}
run.train()
"""
NOTE = "note = run._note\nrun._note = lambda **row: ({when} and die(), note(**row))\n"
DIES = {
    "before the first row": (NOTE.format(when="row['event'] == 'start'"), 0),
    "while update 1 is played": ("run.runner.poll = lambda **k: die()\n", 0),
    "in the step of update 2": (
        "step = run.optimizer.step\nrun.optimizer.step = lambda *a, **k: (step(*a, **k), run.done == 1 and die())\n",
        0,
    ),
    "before the row of update 2": (NOTE.format(when="row.get('update') == 2"), 0),
    "in the first checkpoint": (
        "import torch\nsave = torch.save\ntorch.save = lambda *a, **k: (run.done == 5 and die(), save(*a, **k))\n",
        0,
    ),
    "in the step of update 7": (
        "step = run.optimizer.step\nrun.optimizer.step = lambda *a, **k: (step(*a, **k), run.done == 6 and die())\n",
        5,
    ),
}
ALWAYS = ("while update 1 is played",)


def seldom_saved() -> TrainConfig:
    """Seven updates, of which the fifth and the last are saved."""
    return settings_for(grpo={"updates": 7}, saving={"every": 5}, curriculum={"kind": "posterior"})


def kill(tmp_path: Path, out: Path, body: str, *, resume: bool = False) -> None:
    """Begin a run that kills itself."""
    path = tmp_path / "script.py"
    path.write_text(KILLED.format(tests=str(HERE), out=str(out), body=body, resume=resume), "utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    out = tmp_path_factory.mktemp("whole")
    make_run(out, seldom_saved()).train()
    return out


@pytest.mark.parametrize(
    "moment",
    [pytest.param(name, marks=[] if name in ALWAYS else [pytest.mark.long]) for name in DIES],
)
def test_a_run_that_was_killed_at_any_update_has_the_updates_of_one_that_was_not(
    tmp_path: Path, whole: Path, moment: str
) -> None:
    out, (body, saved) = tmp_path / "run", DIES[moment]
    kill(tmp_path, out, body)
    assert (checkpoint.whole(out) or [0])[-1] == saved
    begun = [row for row in read_rows(out / "log.jsonl") if row["event"] == "start"]
    run = make_run(out, seldom_saved(), resume=True)
    assert run.done == saved
    run.train()
    rows = read_rows(out / "log.jsonl")
    assert _untimed(rows) == _untimed(read_rows(whole / "log.jsonl"))
    for name, tensor in weights(whole, 7).items():
        assert torch.equal(weights(out, 7)[name], tensor)
    starts = [row for row in rows if row["event"] == "start"]
    assert [row.get("begun_again", False) for row in starts] == [not saved]
    assert saved == 0 or starts == begun
    assert [row["update"] for row in rows if row["event"] == "checkpoint"] == [5, 7]


@pytest.mark.long
def test_a_run_may_be_killed_twice_before_it_has_saved_anything(tmp_path: Path, whole: Path) -> None:
    kill(tmp_path, tmp_path / "run", DIES["in the step of update 2"][0])
    kill(tmp_path, tmp_path / "run", DIES["before the first row"][0], resume=True)
    assert read_rows(tmp_path / "run/log.jsonl") == []
    make_run(tmp_path / "run", seldom_saved(), resume=True).train()
    assert _untimed(read_rows(tmp_path / "run/log.jsonl")) == _untimed(read_rows(whole / "log.jsonl"))


def test_only_the_run_that_was_begun_there_begins_again(tmp_path: Path) -> None:
    settings = settings_for()
    run = make_run(tmp_path / "run", settings)
    run._begin()
    config = tmp_path / "other/config.json"  # killed before its first row
    config.parent.mkdir()
    config.write_text((tmp_path / "run/config.json").read_text("utf-8"), "utf-8")
    for folder in ("run", "other"):
        with pytest.raises(UsageError, match="was begun with another configuration; resume with the settings"):
            make_run(tmp_path / folder, settings_for(grpo={"learning_rate": 2e-3}), resume=True)
    log = tmp_path / "run/log.jsonl"
    (row,) = read_rows(log)
    log.write_text(json.dumps({**row, "hashes": {**row["hashes"], "tasks": "x"}}) + "\n", "utf-8")
    with pytest.raises(UsageError, match="was begun with another tasks"):
        make_run(tmp_path / "run", settings, resume=True)
    saved = {"event": "checkpoint", "update": 5, "path": "checkpoints/update-5"}
    log.write_text(json.dumps(row) + "\n" + json.dumps(saved) + "\n", "utf-8")
    with pytest.raises(UsageError, match="holds no whole checkpoint, though its log tells of some"):
        make_run(tmp_path / "run", settings, resume=True)
    assert len(read_rows(log)) == 2
    config.write_text("{", "utf-8")
    for folder in ("other", "nothing"):
        with pytest.raises(UsageError, match="holds no run; start it without --resume"):
            make_run(tmp_path / folder, settings, resume=True)


def test_a_log_that_is_cut_back_is_never_half_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = RunLog(tmp_path)
    for update in range(3):
        log.write(event="update", update=update)
    rows = read_rows(log.path)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    for step in ("fsync", "replace"):  # when the rest is written, and when it is about to take the old one's place
        with monkeypatch.context() as patched:
            patched.setattr(tb_envs.whole.os, step, killed)
            with pytest.raises(KeyboardInterrupt):
                RunLog(tmp_path, 1)
        assert read_rows(log.path) == rows
    RunLog(tmp_path, 1)
    assert read_rows(log.path) == rows[:2]


# -- one process in a folder

HELD = """
import sys
sys.path.insert(0, {tests!r})
import conftest
from tb_envs.cli import main
from tb_trainer import loop
def one(run):
    print("training", flush=True)
    sys.stdin.read()
loop.Run._one = one
sys.exit(main(sys.argv[1:]))
"""


def test_a_second_command_in_the_folder_of_a_living_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--preset", "smoke", *sets(*LIBRARY_SETS), "--out", str(tmp_path / "run")]
    command = [sys.executable, "-c", HELD.format(tests=str(HERE)), "train", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as living:
        try:
            assert living.stdout is not None and living.stdout.readline() == "training\n"
            assert cli.main([*arguments, "--resume"]) == 2
            told = capsys.readouterr().err
            assert f"another process (its number: {living.pid}) does its training there" in told
            assert told.count("\n") == 1
        finally:
            living.kill()
    assert cli.main([*arguments, "--resume"]) == 0  # the system takes the hold from whoever dies
    assert [row["event"] for row in read_rows(tmp_path / "run/log.jsonl")] == [
        "start", "update", "update", "checkpoint", "end"
    ]  # fmt: skip


def test_a_folder_into_which_nothing_was_put_is_not_left(tmp_path: Path) -> None:
    with alone(tmp_path / "run", "training"):
        assert (tmp_path / "run").is_dir()
        with pytest.raises(UsageError, match=f"number: {os.getpid()}"), alone(tmp_path / "run", "training"):
            pass
        with alone(tmp_path / "run", "chain"):  # other work
            pass
    assert not (tmp_path / "run").exists()
