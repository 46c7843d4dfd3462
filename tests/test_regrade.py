"""Rows judged again from their logs: the same verdicts by the same grader, moved ones named, the rest left alone."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm_double import ModelDouble

from tb_envs.cli import main
from tb_envs.evaluation import regrade as module
from tb_envs.evaluation.play import play_campaign
from tb_envs.evaluation.regrade import regrade
from tb_envs.evaluation.rows import line_of, read_rows
from tb_envs.grading import grade as grader
from tb_envs.grading.expectations import judged
from tb_envs.grading.verdict import GRADER
from tb_envs.knobs import Knobs
from tb_envs.settings import Settings
from tb_envs.task import get_task

TASKS = ("hotel/*/0", "banking/*/1")
KNOBS = "distractors=5,lookalikes=2,manner=terse"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Campaigns of built-in agents in both domains, by agent; `harder` is played with knobs, `broken` meets faults."""
    folder = tmp_path_factory.mktemp("campaigns")
    options: dict[str, Sequence[str]] = {
        "harder": ("--agent", "reference", "--knobs", KNOBS),
        "broken": ("--agent", "reference", "--faults", "timeout=0.1", "--retries", "0"),
    }
    for name in ("reference", "obedient", "random", "harder", "broken"):
        words = ["eval", "--tasks", *TASKS, "--attempts", "1", "--out", str(folder / name), "--json"]
        assert main([*words, *options.get(name, ("--agent", name))]) == 0
    return folder


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return list(read_rows(folder))


@pytest.mark.parametrize("name", ["reference", "obedient", "random", "broken"])
def test_the_same_grader_says_the_same(played: Path, name: str) -> None:
    rows, kept = rows_of(played / name), list[dict[str, Any]]()
    report = regrade(rows, keep=kept.append)
    assert kept == rows
    assert (report["rows"], report["moved"], report["left_alone"]) == (len(rows), [], [])
    errors = sum(row["outcome"].startswith("error:") for row in rows)
    assert (report["system_errors"], report["regraded"]) == (errors, len(rows) - errors)
    assert bool(errors) == (name == "broken"), "the test needs system errors, and only there"
    assert report["graders"] == {GRADER: len(rows)}


def test_tasks_made_harder_are_found_by_their_knobs(played: Path) -> None:
    rows = rows_of(played / "harder")
    report = regrade(rows, knobs=Knobs(distractors=5, lookalikes=2, manner="terse"))
    assert (report["regraded"], report["moved"]) == (len(rows), [])
    plain = regrade(rows)
    assert plain["regraded"] == 0
    assert {one["reason"] for one in plain["left_alone"]} == {"the task is another one today: its hash differs"}


def test_verdicts_of_an_older_grader_move_and_are_named(played: Path) -> None:
    rows = rows_of(played / "obedient")
    lenient = dict(rows[0], outcome="success", reward=1.0, grader="0")
    passing = [{**check, "passed": True} for check in rows[0]["verdict"]["checks"] if check["name"] != "nothing_else"]
    lenient["verdict"] = {"success": True, "grader": "0", "checks": passing}
    kept: list[dict[str, Any]] = []
    report = regrade([lenient, *rows[1:]], keep=kept.append)
    assert kept == rows
    assert report["graders"] == {"0": 1, GRADER: len(rows) - 1}
    assert report["passed"] == {"before": 1, "after": 0}
    assert report["moves"] == {"success → failure": 1}
    (moved,) = report["moved"]
    assert (moved["task_id"], moved["attempt"], moved["grader"]) == (rows[0]["task_id"], 0, "0")
    checks = {check["name"]: (check["before"], check["after"]) for check in moved["checks"]}
    now = {check["name"]: check["passed"] for check in rows[0]["verdict"]["checks"]}
    expected = {name: (True, False) for name, passed in now.items() if not passed}
    assert checks == expected | {"nothing_else": (None, now["nothing_else"])}


def test_a_changed_grader(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(played / "reference")
    monkeypatch.setattr(module, "GRADER", "2")
    monkeypatch.setattr(grader, "_nothing_else", lambda evidence, claimed: grader.Result(False, "less", "something"))
    kept: list[dict[str, Any]] = []
    report = regrade(rows, keep=kept.append)
    assert report["moves"] == {"success → failure": len(rows)}
    assert all([c["name"] for c in one["checks"]] == ["nothing_else"] for one in report["moved"])
    assert {(row["grader"], row["outcome"], row["reward"]) for row in kept} == {("2", "failure", 0.0)}
    same = ("messages", "log", "tokens", "seconds", "task_hash")
    assert all(old[name] == new[name] for old, new in zip(rows, kept, strict=True) for name in same)


def test_rows_that_cannot_be_judged_are_left_alone(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(played / "reference")[:3]
    rows[0] = {**rows[0], "task_hash": "another"}
    rows[1] = {**rows[1], "task_id": "airline/lost_bag/0"}
    monkeypatch.setattr(module, "GRADER", "2")
    kept: list[dict[str, Any]] = []
    report = regrade(rows, keep=kept.append)
    assert kept[:2] == rows[:2] and kept[2]["grader"] == "2"
    assert [one["task_id"] for one in report["left_alone"]] == [rows[0]["task_id"], "airline/lost_bag/0"]
    assert "hash differs" in report["left_alone"][0]["reason"]
    assert "unknown domain 'airline'" in report["left_alone"][1]["reason"]

    def breaks(*_: Any) -> Any:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(module, "grade", breaks)
    (broken,) = regrade(rows[2:])["left_alone"]
    assert broken["reason"] == "the grader breaks on it: ZeroDivisionError: oh"


def test_a_judge_s_answers_in_the_log_are_judged_again_without_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tb_envs.patience.FIRST_WAIT", 0.01)
    plain = get_task("library/halve_fee/0")
    told = judged("told the fee", "The agent told the reader the fee.")
    kept = judged("kept the rule", "The agent told the reader how fees are made.", holds=False)
    task = replace(plain, scenario=replace(plain.scenario, expects=[*plain.scenario.expects, told, kept]))
    for name in ("tb_envs.evaluation.play", "tb_envs.evaluation.runner", "tb_envs.evaluation.regrade"):
        monkeypatch.setattr(f"{name}.get_task", lambda task_id, knobs=None: task)
    answers = [{"statement": 1, "true": True, "because": "a"}, {"statement": 2, "true": True, "because": "b"}]
    double = ModelDouble([json.dumps({"verdicts": answers})]).start()
    try:
        settings = Settings(judge={"model": "j", "base_url": double.url, "retries": 0})
        play_campaign(tmp_path, "reference", [task.id], settings=settings)
        asked = double.asked
    finally:
        double.stop()
    (row,) = rows_of(tmp_path)
    assert asked == 1 and [event["data"]["true"] for event in row["log"] if event["kind"] == "judged"] == [True, True]
    failed = [check["name"] for check in row["verdict"]["checks"] if not check["passed"]]
    assert (row["outcome"], failed) == ("failure", ["kept the rule"])
    again: list[dict[str, Any]] = []
    report = regrade([row], keep=again.append)
    assert (again, report["regraded"], report["moved"], report["left_alone"]) == ([row], 1, [], [])
    (answer,) = (event for event in row["log"] if (event["kind"], event["name"]) == ("judged", "kept the rule"))
    answer["data"]["true"] = False
    assert regrade([row])["moves"] == {"failure → success": 1}, "the verdict follows from the log"


@pytest.fixture
def older(played: Path, tmp_path: Path) -> Iterator[Path]:
    """A campaign one of whose rows an older grader let pass, and one that was replaced later."""
    rows = rows_of(played / "obedient")
    checks = [{**check, "passed": True} for check in rows[0]["verdict"]["checks"]]
    verdict = {"success": True, "grader": "0", "checks": checks}
    old = {**rows[0], "outcome": "success", "reward": 1.0, "grader": "0", "verdict": verdict}
    replaced = {**rows[1], "outcome": "error:backend", "verdict": None, "reward": 0.0, "ended_by": "error"}
    folder = tmp_path / "older"
    folder.mkdir()
    (folder / "campaign.json").write_text(json.dumps({"tasks": {}, "knobs": {}}))
    (folder / "attempts.jsonl").write_bytes(b"".join(map(line_of, [replaced, old, *rows[1:]])) + b'{"v":1,"task_id')
    yield folder


def test_the_command_writes_beside_and_only_over_when_told(
    older: Path, played: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    file, beside = older / "attempts.jsonl", older / "attempts.regraded.jsonl"
    before = file.read_bytes()
    assert main(["regrade", str(older)]) == 0
    out = capsys.readouterr().out
    rows = rows_of(played / "obedient")
    assert "1 verdict moved  1 success → failure" in out
    assert f"{rows[0]['task_id']} attempt 0: success → failure" in out
    assert "1 system error left as it is" in out
    assert file.read_bytes() == before
    expected = [*(row for row in rows[1:2]), rows[0], *rows[1:]]
    written = [json.loads(line) for line in beside.read_bytes().splitlines()]
    assert written[1:] == expected[1:] and written[0]["outcome"] == "error:backend"

    assert main(["regrade", str(older)]) == 2
    assert "attempts.regraded.jsonl exists" in capsys.readouterr().err
    assert main(["regrade", str(older), "--write", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (len(report["moved"]), report["out"]) == (1, str(file))
    assert file.read_bytes() == beside.read_bytes()
    assert sorted(path.name for path in older.iterdir()) == [
        "attempts.jsonl", "attempts.regraded.jsonl", "campaign.json",
    ]  # fmt: skip
