"""Several seeds in one command: each a run of its own, one report; what broke goes on, what fails is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_trainer_chain import WORDS
from test_trainer_loop import HERE, LIBRARY_SETS, _untimed
from trainer_parts import sets

from tb_envs.errors import ThinkingBoxError
from tb_trainer import cli
from tb_trainer.log import read_rows
from tb_trainer.stages import ENTRY, Spent, Stages

SMALL = [*LIBRARY_SETS, "grpo.groups=2", "grpo.group_size=2"]


def command(out: Path, *more: str) -> list[str]:
    return ["--preset", "smoke", *sets(*SMALL), "--out", str(out), "--seeds", "1,2,3", *more]


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy is installed in the processes of the runs too."""
    toy = f"import sys; sys.path.insert(0, {str(HERE)!r}); import conftest; "
    monkeypatch.setattr("tb_trainer.stages.ENTRY", toy + ENTRY)


@pytest.mark.long
def test_three_seeds_of_which_one_fails_and_one_breaks_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second fails, and is told; then the third is as a kill would have left it before its first checkpoint."""
    out, real, asked = tmp_path / "all", Stages.do, list[list[str]]()

    def do(self: Stages, name: str, argv: Sequence[str]) -> Spent:
        asked.append(list(argv))
        return real(self, name, [*argv, *(["--set", "grpo.groups=99"] if name == broken else [])])

    broken = "seed 2"
    monkeypatch.setattr(Stages, "do", do)
    assert cli.main(command(out)) == 1
    shown = capsys.readouterr()
    assert "1 of 3 seeds failed" in shown.err and "seed 2 ended with 2" in shown.err and "only 8 tasks" in shown.err
    assert "mean" in shown.out and "2 seeds" in shown.out and "mechanics only" in shown.out
    assert "seed 1" in (out / "report.html").read_text("utf-8")
    assert cli.main(command(out)) == 2
    assert "already holds a run; name a new folder, or go on with --resume" in capsys.readouterr().err
    assert cli.main([*command(out), "--resume", *sets("grpo.groups=3")]) == 2
    assert "grpo.groups was 2 and is 3" in capsys.readouterr().err

    third = out / "seed-3"
    rows = read_rows(third / "log.jsonl")
    shutil.rmtree(third / "checkpoints")
    (third / ".ended").unlink()
    (third / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:2]), "utf-8")
    first = (out / "seed-1/log.jsonl").read_text("utf-8")
    asked.clear()
    broken = ""
    assert cli.main(command(out, "--resume", "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(argv[-1], "--resume" in argv) for argv in asked] == [
        (str(out / "seed-2"), False), (str(third), True)
    ]  # fmt: skip
    assert (out / "seed-1/log.jsonl").read_text("utf-8") == first
    assert _untimed(read_rows(third / "log.jsonl")) == _untimed(rows)
    assert [row["seed"] for row in told["seeds"]] == [1, 2, 3] and told["failed"] == {}
    assert {row["state"] for row in told["seeds"]} == {"finished"}
    assert [json.loads((out / f"seed-{n}/config.json").read_text("utf-8"))["seed"] for n in (1, 2, 3)] == [1, 2, 3]
    for row in told["seeds"]:
        last = [one for one in read_rows(out / f"seed-{row['seed']}/log.jsonl") if one["event"] == "update"][-1]
        assert row["trained"] == last["pass_rate"]
    assert "3 runs that differ only in their seed: 1, 2, 3" in (out / "report.html").read_text("utf-8")


@pytest.mark.long
def test_seeds_of_a_run_from_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "all"
    words = ["--preset", "cpu-demo-short", *sets(*WORDS), "--out", str(out), "--seeds", "5", "--json"]
    assert cli.main(words) == 0
    (row, *_) = json.loads(capsys.readouterr().out)["seeds"]
    assert row["seed"] == 5 and row["tasks"].startswith("fresh:1") and None not in (row["start"], row["trained"])
    assert (out / "seed-5/report.html").exists() and (out / "report.html").exists()


def test_seeds_that_cannot_be_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, more, says in (
        ("1,x", [], "write whole numbers, e.g. --seeds 1,2,3"),
        ("1,,2", [], "write whole numbers"),
        ("1,2,1", [], "a seed comes twice"),
        ("1,2", sets("seed=3"), "--seeds and --set seed=… exclude each other"),
        ("1,2", ["--resume", "--out", str(tmp_path / "none")], "holds no run that was begun so"),
    ):
        assert cli.main(["--seeds", text, *more]) == 2
        assert says in capsys.readouterr().err
    with monkeypatch.context() as launched:
        launched.setenv("WORLD_SIZE", "2")
        for words, what in ((["--seeds", "1,2"], "--seeds"), (["--preset", "cpu-demo"], "from_nothing")):
            assert cli.main(words) == 2
            assert f"{what} starts its own processes, and this launch has 2" in capsys.readouterr().err
    assert cli.main(["--seeds", "1,2", "--dry-run"]) == 0
    assert "2 seeds, one after the other: 2 times the time of this one run" in capsys.readouterr().out
    assert cli.main(["--seeds", "1,2", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seeds"] == [1, 2]

    def fails(*_: Any) -> Spent:
        raise ThinkingBoxError("no memory")

    monkeypatch.setattr(Stages, "do", fails)
    assert cli.main(command(tmp_path / "all")) == 1
    told = capsys.readouterr().err
    assert "3 of 3 seeds failed" in told and told.count("no memory") == 3
