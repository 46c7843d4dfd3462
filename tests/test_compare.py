"""Two campaigns paired by task: differences by hand, tasks gained and lost, what is left out, the command."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attempt_rows import attempt_row, campaign, counted
from page_parts import tables_of
from test_summary import BASE, TRAINED, successes

from tb_envs.cli import main
from tb_envs.errors import UsageError
from tb_envs.evaluation import bootstrap_over_tasks
from tb_envs.evaluation.compare import compare, differing
from tb_envs.evaluation.rows import line_of


def compared(a: Mapping[str, str], b: Mapping[str, str], **given: Any) -> dict[str, Any]:
    return compare(campaign(a), campaign(b), draws=200, **given)


def test_by_hand() -> None:
    found = compared(
        {"hotel/a/0": "++", "hotel/a/1": "--", "banking/b/0": "+-"},
        {"hotel/a/0": "+-", "hotel/a/1": "++", "banking/b/0": "++"},
    )
    assert (found["tasks"]["paired"], found["k"]) == (3, 2)
    pass_1 = found["headline"]["pass_at_1"]
    assert [pass_1[side]["estimate"] for side in ("a", "b", "difference")] == pytest.approx([1 / 2, 5 / 6, 1 / 3])
    dependable, breadth = found["dependable"], found["breadth"]
    assert (dependable["a"], dependable["b"], dependable["tasks"]) == (1, 2, 3)
    assert [task["task_id"] for task in dependable["gained"]] == ["hotel/a/1", "banking/b/0"], "largest gain first"
    assert dependable["lost"] == [
        {
            "task_id": "hotel/a/0", "domain": "hotel", "family": "a", "split": "bench", "traps": ["approval"],
            "a": {"n": 2, "c": 2, "errors": 0}, "b": {"n": 2, "c": 1, "errors": 0}, "difference": -0.5,
        }
    ]  # fmt: skip
    assert [task["task_id"] for task in breadth["gained"]] == ["hotel/a/1"] and not breadth["lost"]
    assert [task["task_id"] for task in found["per_task"]] == ["hotel/a/1", "banking/b/0", "hotel/a/0"]
    hotel = found["by"]["domain"]["hotel"]
    assert (hotel["tasks"], hotel["a"], hotel["b"], hotel["difference"]["estimate"]) == (2, 0.5, 0.75, 0.25)
    assert hotel["dependable"] == {"tasks": 2, "a": 1, "b": 1, "gained": 1, "lost": 1}
    assert found["by"]["trap"]["approval"]["tasks"] == 3


def test_the_interval_is_paired() -> None:
    # Hard and easy tasks, each a little better: of the difference one is sure, of either side one is not.
    a = {f"hotel/a/{i}": "+" * (i % 10) + "-" * (10 - i % 10) for i in range(40)}
    b = {task: letters.replace("-", "+", 1) for task, letters in a.items()}
    pair = compared(a, b)["headline"]["pass_at_1"]
    assert pair["difference"] == pytest.approx({"low": 0.1, "estimate": 0.1, "high": 0.1})
    assert pair["a"]["high"] - pair["a"]["low"] > 0.1
    moved = {task: (letters.count("+") - (index % 3)) / 10 for index, (task, letters) in enumerate(a.items())}
    c = {task: "+" * round(10 * max(rate, 0)) + "-" * (10 - round(10 * max(rate, 0))) for task, rate in moved.items()}
    found = compare(campaign(a), campaign(c), draws=300, seed=4)["headline"]["pass_at_1"]["difference"]
    differences = {task: (c[task].count("+") - a[task].count("+")) / 10 for task in a}
    assert list(found.values()) == pytest.approx(list(bootstrap_over_tasks(differences, draws=300, seed=4)))


def test_the_published_gain_follows_from_its_counts() -> None:
    found = compared(counted(successes(**BASE), 20), counted(successes(**TRAINED), 20))
    gain = found["headline"]["pass_at_1"]["difference"]
    assert round(100 * gain["estimate"], 2) == 9.08
    assert gain["low"] > 0
    dependable, breadth = found["dependable"], found["breadth"]
    assert (dependable["a"], dependable["b"], breadth["a"], breadth["b"]) == (38, 107, 453, 446)
    assert len(dependable["gained"]) - len(dependable["lost"]) == 69
    assert (len(breadth["gained"]), len(breadth["lost"])) == (0, 7)
    assert round(100 * found["headline"]["pass_at_k"]["difference"]["estimate"], 2) == -1.38


def test_unequal_attempts_and_system_errors() -> None:
    a = {f"hotel/a/{i}": "+++-" for i in range(9)} | {"hotel/a/9": "+"}
    b = {f"hotel/a/{i}": "+e++e" for i in range(9)} | {"hotel/a/9": "--"}
    found = compared(a, b)
    assert found["k"] == 3, "nine of ten tasks have three counted attempts on both sides"
    assert [pair["tasks"] for pair in found["curves"]["pass_hat_k"]] == [10, 9, 9]
    assert found["headline"]["pass_at_1"]["b"]["estimate"] == pytest.approx(9 / 10)
    assert found["headline"]["pass_at_1_all"]["b"]["estimate"] == pytest.approx(9 * 0.6 / 10)
    assert found["headline"]["pass_hat_k"]["a"]["estimate"] == pytest.approx(1 / 4)
    assert (found["dependable"]["tasks"], found["dependable"]["a"], found["dependable"]["b"]) == (9, 9, 9)
    assert (found["b"]["counted"], found["b"]["system_errors"]) == (29, 18)


def test_what_cannot_be_paired_is_named() -> None:
    a = [attempt_row("hotel/a/0"), attempt_row("hotel/a/1"), attempt_row("hotel/a/2"), attempt_row("hotel/a/3")]
    b = [
        attempt_row("hotel/a/0"),
        attempt_row("hotel/a/1", task_hash="repaired"),
        attempt_row("hotel/a/2", outcome="error:user"),
        attempt_row("hotel/a/4"),
    ]
    found = compare(a, b, draws=50)
    assert found["tasks"] == {
        "paired": 1,
        "only_a": ["hotel/a/3"],
        "only_b": ["hotel/a/4"],
        "uncounted": ["hotel/a/2"],
        "changed": [{"task_id": "hotel/a/1", "a": "hash of hotel/a/1", "b": "repaired"}],
    }
    with pytest.raises(UsageError, match="2 are in both, 1 of those with another content and 1 without a counted"):
        compare(a[1:], b[1:])


def test_unlike_sides_are_warned_of() -> None:
    a, b = [attempt_row()], [attempt_row(grader="2", tools_hash="others")]
    found = compare(
        a, b, settings=({"agent": {"name": "x", "t": 1}}, {"agent": {"name": "y", "t": 1}, "seed": 3}), draws=50
    )
    assert found["settings"] == {"agent.name": {"a": "x", "b": "y"}, "seed": {"a": None, "b": 3}}
    assert found["versions"] == {
        "grader": {"a": ["1"], "b": ["2"]},
        "tools": {"hotel": {"a": ["tools"], "b": ["others"]}},
    }
    assert "tbx regrade" in found["warnings"][0] and "other tools in hotel" in found["warnings"][1]
    assert differing({"a": {"b": 1}}, {"a": {"b": 1}}) == {}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two campaigns on disk."""
    made: list[Path] = []
    for name, letters in (("before", ["++-", "---", "+++"]), ("after", ["+++", "+-e", "---"])):
        folder = tmp_path / name
        folder.mkdir()
        tasks = {f"hotel/late_cancellation/{index}": each for index, each in enumerate(letters)}
        rows = campaign(tasks, cost={"agent": 0.5, "user": 0.0, "judge": 0.0 if name == "before" else None})
        (folder / "attempts.jsonl").write_bytes(b"".join(map(line_of, rows)))
        manifest = {"agent": {"name": name}, "tasks": {task: "" for task in tasks}, "attempts": 3, "excluded": {}}
        (folder / "campaign.json").write_text(json.dumps(manifest))
        made.append(folder)
    return made[0], made[1]


def test_the_command(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ["compare", *map(str, folders)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "A  before: 9 attempts at 3 tasks" in out
    assert "B  after: 8 attempts at 3 tasks, 1 system error" in out
    assert "3/3 → 0/3  hotel/late_cancellation/2" in out
    assert "agent.name  before → after" in out
    assert "per success" in out and "unknown" in out
    assert "cannot be met: pass@1" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["names"] == {"a": "before", "b": "after"}
    assert (found["a"]["cost"]["total"], found["b"]["cost"]["total"], found["b"]["cost"]["known"]) == (4.5, None, 4.5)
    assert found["html"] is None


def test_the_command_refuses(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["compare", str(folders[0]), str(folders[0])]) == 2
    assert "the same campaign" in capsys.readouterr().err
    assert main(["compare", str(folders[0]), str(tmp_path / "none")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_the_page_of_two_real_campaigns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = ["hotel/late_cancellation/0", "banking/closing_down/0"]
    for agent in ("idle", "reference"):
        words = ["eval", "--agent", agent, "--attempts", "2", "--out", str(tmp_path / agent), "--json"]
        assert main([*words, "--tasks", *tasks]) == 0
    page = tmp_path / "moved.html"
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "idle"), str(tmp_path / "reference"), "--html", str(page), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["html"] == str(page)
    assert found["settings"] == {"agent.name": {"a": "idle", "b": "reference"}}
    assert found["headline"]["pass_at_1"]["difference"] == {"low": 1.0, "estimate": 1.0, "high": 1.0}
    assert sorted(task["task_id"] for task in found["dependable"]["gained"]) == sorted(tasks)
    text = page.read_text("utf-8")
    assert all(task in text for task in tasks) and "idle → reference" in text
    page.write_text("my notes")
    assert main(["compare", str(tmp_path / "idle"), str(tmp_path / "reference"), "--html", str(page)]) == 2
    assert page.read_text() == "my notes"


def test_floor_and_ceiling_stand_beside_every_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for agent in ("obedient", "random"):
        words = ["eval", "--agent", agent, "--attempts", "2", "--out", str(tmp_path / agent)]
        assert main([*words, "--tasks", "hotel/*/0", "library/*/0"]) == 0
        assert "at these tasks the floor (idle) is 0.0 %, the ceiling (reference) 100.0 %" in capsys.readouterr().out
    folders = [str(tmp_path / agent) for agent in ("obedient", "random")]
    report, compared = tmp_path / "report.html", tmp_path / "compared.html"
    assert main(["report", *folders, "--out", str(report)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split()[-2:] == ["floor", "ceiling"]
    assert [line.split()[-4:] for line in out[2:4]] == [["0.0", "%", "100.0", "%"]] * 2
    assert main(["compare", *folders, "--html", str(compared), "--all"]) == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines() if not line.startswith("report: "))
    assert ["floor", "(idle)", *["0.0", "%"] * 2] in [line.split()[:6] for line in out.splitlines()]
    assert ["ceiling", "(reference)", *["100.0", "%"] * 2] in [line.split()[:6] for line in out.splitlines()]
    parts = [line for line in out.splitlines() if line.startswith(("hotel ", "library ", "approval "))]
    assert len(parts) == 3 and all(line.split()[2] == "0–100" for line in parts)

    for page in (report, compared):
        for head, *rows in filter(None, (rows for _, rows in tables_of(page))):
            if any("pass@1" in title for title in head):
                assert head[-2:] == ["floor", "ceiling"], head
                assert all(row[-2:] == ["0.0 %", "100.0 %"] for row in rows), rows
            elif any(row[0].startswith("pass@1") for row in rows):
                named = {row[0].split()[0]: row[1:3] for row in rows}
                assert (named["floor"], named["ceiling"]) == (["0.0 %"] * 2, ["100.0 %"] * 2)
    firsts = [rows[0] for _, rows in tables_of(compared) if rows]
    assert sum(head[-2:] == ["floor", "ceiling"] for head in firsts) >= 8, "parts of each run, and of the comparison"
