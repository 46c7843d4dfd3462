"""Verdicts that were made again are what a report, a comparison and a view show when they are given that file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import dev_tasks, rows_of
from page_parts import Tags

from tb_envs.cli import main
from tb_envs.evaluation.report.campaigns import open_campaigns
from tb_envs.evaluation.rows import line_of
from tb_envs.evaluation.view import Live
from tb_envs.grading.verdict import GRADER

REGRADED = "attempts.regraded.jsonl"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Four tasks at which the idle agent fails; an older grader let it pass the first."""
    folder = tmp_path / "run"
    tasks = dev_tasks(4, ["hotel"])
    assert main(["eval", "--agent", "idle", "--tasks", *tasks, "--attempts", "1", "--out", str(folder), "--json"]) == 0
    first, *rest = rows_of(folder)
    checks = [{**check, "passed": True} for check in first["verdict"]["checks"]]
    verdict = {"success": True, "grader": "0", "checks": checks}
    first |= {"outcome": "success", "reward": 1.0, "grader": "0", "verdict": verdict}
    (folder / "attempts.jsonl").write_bytes(b"".join(map(line_of, [first, *rest])))
    return folder


def told(capsys: pytest.CaptureFixture[str], *words: Any) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def outcomes(page: Path) -> list[tuple[int, str, str, set[bool]]]:
    """Of each episode in a page: its run, task, outcome, and whether the checks that are shown with it passed."""
    blocks = Tags(page.read_text("utf-8")).blocks
    listed = [dict(zip(blocks["about"]["columns"], line, strict=True)) for line in blocks["entries"]["entries"]]
    return [
        (one["run"], one["task"], one["outcome"], {check["passed"] for check in checks})
        for one in listed
        for checks in [blocks[f"chunk-{one['chunk']}"][one["place"]]["checks"]]
    ]


def test_a_report_is_on_the_file_that_is_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = rows_of(run)[0]["task_id"]
    old = told(capsys, "report", run)
    assert main(["regrade", str(run)]) == 0
    assert f"to read them: tbx report {run / REGRADED}" in capsys.readouterr().out
    new = told(capsys, "report", run / REGRADED)
    assert old["out"] == str(run / "report.html") and new["out"] == str(run / "attempts.regraded.html")
    assert [one["runs"][0]["summary"]["passed"] for one in (old, new)] == [1, 0]
    assert [one["runs"][0]["name"] for one in (old, new)] == ["run", f"run/{REGRADED}"]
    assert (0, task, "success", {True}) in outcomes(run / "report.html")
    shown = outcomes(run / "attempts.regraded.html")
    assert {outcome for _, _, outcome, _ in shown} == {"failure"} and all(False in passed for *_, passed in shown)
    assert f"Evaluation: run/{REGRADED}" in (run / "attempts.regraded.html").read_text("utf-8")

    both = told(capsys, "report", run, run / "attempts.jsonl", run / REGRADED, "--out", run.parent / "both.html")
    assert [one["run"] for one in both["runs"]] == [str(run), str(run / REGRADED)], "one campaign named twice is one"
    live = Live(open_campaigns([run / REGRADED]))
    assert len(live.state(0, "")["entries"]) == 4
    episode = live.episode(0, task, 0)
    assert episode is not None and episode["facts"]["grader"] == GRADER
    assert not all(check["passed"] for check in episode["checks"])


def test_a_comparison_is_of_the_files_that_are_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task, page = rows_of(run)[0]["task_id"], run.parent / "compared.html"
    assert main(["regrade", str(run)]) == 0
    found = told(capsys, "compare", run, run / REGRADED, "--html", page)
    assert found["names"] == {"a": "run", "b": f"run/{REGRADED}"}
    assert [one["task_id"] for one in found["dependable"]["lost"]] == [task]
    assert {(number, outcome) for number, at, outcome, _ in outcomes(page) if at == task} == {
        (0, "success"),
        (1, "failure"),
    }
    assert f"run → run/{REGRADED}" in page.read_text("utf-8")
    assert main(["compare", str(run), str(run / "attempts.jsonl")]) == 2
    assert "are the same campaign" in capsys.readouterr().err


def test_what_is_missing_is_said(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    away = run.parent / "away.jsonl"
    assert main(["regrade", str(run), "--out", str(away)]) == 0
    assert "tbx report" not in capsys.readouterr().out.splitlines()[-1]
    for words, says in (
        (["report", away], f"{away} has no campaign.json beside it"),
        (["view", away], f"{away} has no campaign.json beside it"),
        (["compare", run, away, "--html", run.parent / "x.html"], f"{away} has no campaign.json beside it"),
        (["report", run / "nope"], f"{run / 'nope'} does not exist; name the folder of a campaign"),
        (["report", run, run / "nope.jsonl"], "nope.jsonl does not exist"),
        (["view", run / "nope"], f"{run / 'nope'} does not exist; name a campaign's folder"),
        (["report", run / "campaign.json"], "campaign.json:1 is no row of a campaign"),
    ):
        assert main([*map(str, words)]) == 2
        assert says in capsys.readouterr().err
