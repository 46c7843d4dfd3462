"""`tbx`, end to end: what it prints, its JSON keys, its exit codes, and what is kept when it is stopped."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tb_envs
from tb_envs.agents import make_agent
from tb_envs.certify.domain_proofs import Proof
from tb_envs.certify.lint import Finding
from tb_envs.certify.runner import Result
from tb_envs.cli import COMMANDS, main
from tb_envs.cli import certify as certify_command
from tb_envs.cli import demo as demo_command
from tb_envs.cli import lint as lint_command
from tb_envs.cli.screen import records
from tb_envs.cli.selection import suite
from tb_envs.cli.typed import read_typed
from tb_envs.errors import UsageError
from tb_envs.knobs import Knobs
from tb_envs.play import play
from tb_envs.registration import load_domain
from tb_envs.task import get_task

HOTEL = load_domain("hotel")
TASK = "hotel/late_cancellation/0"
TBX = [sys.executable, "-c", "import sys; from tb_envs.cli import main; sys.exit(main())"]


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def tbx(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command line; exit code, output, errors."""

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(list(argv))
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def tbx_json(tbx: Callable[..., tuple[int, str, str]]) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Run a command line with ``--json``; exit code and the one object it printed."""

    def run(*argv: str) -> tuple[int, dict[str, Any]]:
        code, out, err = tbx(*argv, "--json")
        assert err == ""
        return code, json.loads(out)

    return run


def type_in(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def write_agent(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch, name: str = "own_agent") -> str:
    """A module with a callable `act` in the current directory; its name as ``--agent`` takes it."""
    sys.modules.pop(name, None)
    monkeypatch.chdir(folder)
    (folder / f"{name}.py").write_text(f"def act(observation, info):\n{body}\n", "utf-8")
    return f"{name}:act"


# -- the top


def test_help_and_version_are_quick_and_name_every_command(tbx: Callable[..., tuple[int, str, str]]) -> None:
    code = (
        "import sys; from tb_envs.cli import main; main(['--version']); main(['--help']); "
        "heavy = {'sqlalchemy', 'pydantic', 'rich', 'torch'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"tbx {tb_envs.__version__}\n")
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    assert tbx()[0] == 0


SPEAKS_ON_STDOUT = {"mcp": "standard output is the protocol's; --traces keeps the episode"}
"""Commands that report nothing, and why: all others take ``--json``."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, tbx: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = tbx(command, "--help")
    assert (code, err) == (0, "")
    assert f"usage: tbx {command}" in out
    assert ("--json" in out) == (command not in SPEAKS_ON_STDOUT)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["runn"], "did you mean run?"),
        (["xyz"], "valid: demo, tasks, show"),
        (["--josn"], "unknown option --josn"),
        (["tasks", "--splt", "dev"], "did you mean --split?"),
        (["tasks", "--split", "tarin"], "'train', 'dev', 'bench'"),
        (["tasks", "--trap", "presure"], "did you mean pressure?"),
        (["tasks", "--domain", "hotle"], "Did you mean 'hotel'?"),
        (["show"], "say what to show: a TASK"),
        (["show", "hotel/late_cancelation/0"], "near matches: hotel/late_cancellation/0"),
        (["show", "hotel"], "a task id reads domain/family/index"),
        (["show", "hotel/late_cancellation/x"], "the index is a plain number"),
        (["show", TASK, "--domain", "library"], "leave --domain out"),
        (["show", "--table", "bokings", "--domain", "hotel"], "did you mean bookings"),
        (["show", "--tools", "--policy"], "not allowed with"),
        (["play"], "required: TASK"),
        (["play", TASK, "extra"], "unexpected argument 'extra'"),
        (["run", "--agent", "refrence", "--tasks", TASK], "valid: reference, idle, talker, obedient, random"),
        (["run", "--agent", "json:nothing", "--tasks", TASK], "has no attribute 'nothing'"),
        (["run", "--agent", "idle", "--tasks", "hotel/late_cancelation/*"], "near matches: hotel/late_cancellation/*"),
        (["run", "--agent", "idle", "--tasks", "hotle/*/0"], "Did you mean 'hotel'?"),
        (["run", "--agent", "idle", "--tasks", "hotel/late_cancellation"], "'hotel/late_cancellation/*'"),
        (["run", "--agent", "idle", "--limit", "0"], "a whole number of at least 1"),
        (["run", "--agent", "idle", "--faults", "timeout"], "write it like timeout=0.02,crash=0.01"),
        (["run", "--agent", "idle", "--faults", "fire=1"], "valid: timeout, crash"),
        (["run", "--agent", "idle", "--limits", "turn=3"], "valid: turns, tool_calls, tokens, user_turns"),
        (["certify", "--freeze", "--suite", "dev"], "--freeze rewrites whole suites"),
        (["certify", "--task", TASK, "--domain", "hotel"], "leave --domain out"),
        (["certify", "--fresh", "-3"], "a whole number of at least 1"),
        (["domain", "hotl"], "Did you mean 'hotel'?"),
        (["lint", "--domain", "hotl"], "Did you mean 'hotel'?"),
    ],
)
def test_wrong_usage_is_one_line_and_2(argv: list[str], says: str, tbx: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = tbx(*argv)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and err.endswith("\n")
    assert err.startswith("tbx") and says in err


def test_a_file_that_cannot_be_used_is_one_line(tmp_path: Path, tbx: Callable[..., tuple[int, str, str]]) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = tbx("run", "--agent", "idle", "--tasks", TASK, "--out", str(tmp_path / "file" / "rows.jsonl"))
    assert code == 2 and err.count("\n") == 1 and str(tmp_path / "file") in err


def test_a_closed_pipe_is_quiet() -> None:
    with subprocess.Popen(
        [*TBX, "show", "--policy", "--domain", "hotel"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) in (0, 141)


# -- looking


def test_tasks_by_suite_and_trap(tbx_json: Callable[..., Any], tbx: Callable[..., Any]) -> None:
    code, listed = tbx_json("tasks", "--domain", "hotel", "--split", "dev")
    assert code == 0 and listed["count"] == len(listed["tasks"]) == len(suite(HOTEL, "dev"))
    assert {"id", "split", "traps", "cell", "frozen"} <= set(listed["tasks"][0])
    _, some = tbx_json("tasks", "--domain", "hotel", "--trap", "pressure", "--limit", "5")
    assert len(some["tasks"]) == 5 and all("pressure" in task["traps"] for task in some["tasks"])
    for task in some["tasks"]:
        assert "pressure" in get_task(task["id"]).traps
    _, out, _ = tbx("tasks", "--domain", "hotel", "--trap", "pressure", "--limit", "5")
    assert all(task["id"] in out for task in some["tasks"]) and "5 tasks" in out


def test_show_reads_like_a_page(tbx: Callable[..., Any]) -> None:
    code, out, _ = tbx("show", TASK)
    assert code == 0 and max(map(len, out.splitlines())) <= 80
    task = get_task(TASK)
    parts = (
        "Customer", "Hidden facts", "Records placed for it", "Expected end", "Reference solution", "Obeys", "Mistakes",
        "Certificate",
    )  # fmt: skip
    assert all(f"\n{part}" in out for part in parts)
    for words in (
        task.family.goal,
        *task.traps,
        *task.scenario.mistakes,
        *(item.name for item in task.scenario.expects),
    ):
        assert words in out
    assert str(task.scenario.customer.knows["booking"]) in out


def test_show_as_json(tbx_json: Callable[..., Any]) -> None:
    code, shown = tbx_json("show", TASK)
    assert code == 0
    assert {
        "id", "domain", "family", "split", "goal", "story", "traps", "cell", "now", "hash", "customer", "facts",
        "placed", "changed", "tool_faults", "expected", "solution", "obeys", "mistakes", "certificate",
    } <= set(shown)  # fmt: skip
    assert shown["hash"] == get_task(TASK).hash
    assert {check["kind"] for check in shown["expected"]} == {"guard", "earned"}


@pytest.mark.parametrize("family", sorted(HOTEL.families))
def test_every_family_can_be_shown(family: str, tbx: Callable[..., Any]) -> None:
    code, out, err = tbx("show", f"hotel/{family}/3")
    assert (code, err) == (0, "") and max(map(len, out.splitlines())) <= 80


def test_show_policy_tools_and_rows(tbx: Callable[..., Any], tbx_json: Callable[..., Any]) -> None:
    assert tbx("show", "--policy", "--domain", "hotel")[1].rstrip("\n") == HOTEL.policy_text.rstrip("\n")
    _, tools, _ = tbx("show", TASK, "--tools")
    assert all(f"\n{name}  (" in tools for name in HOTEL.tools)
    _, listed = tbx_json("show", "--tools", "--domain", "hotel")
    assert [tool["name"] for tool in listed["tools"]] == list(HOTEL.tools)
    _, rows = tbx_json("show", "--table", "bookings", "--domain", "hotel", "--limit", "3")
    assert len(rows["rows"]) == 3 and rows["total"] == len(HOTEL.seed_rows["bookings"])
    assert list(rows["rows"][0]) == list(HOTEL.specs["bookings"].columns)
    _, out, _ = tbx("show", "--table", "bookings", "--domain", "hotel", "--limit", "3")
    assert all(row["id"] in out for row in rows["rows"]) and max(map(len, out.splitlines())) <= 80
    _, own = tbx_json("show", TASK, "--table", "bookings", "--limit", "100000")
    assert own["total"] > rows["total"]


def test_domain_counts(tbx: Callable[..., Any], tbx_json: Callable[..., Any]) -> None:
    code, counts = tbx_json("domain", "hotel")
    keys = (
        "tables", "seed_rows", "read_tools", "write_tools", "policy_words", "articles", "families_train",
        "families_bench", "traps", "tasks_bench", "tasks_train", "tasks_dev",
    )  # fmt: skip
    assert code == 0 and all(isinstance(counts[key], int) for key in keys)
    assert counts["tables"] == len(HOTEL.specs) and counts["seed_rows"] > 2000
    _, out, _ = tbx("domain", "hotel")
    assert all(name in out for name in (*HOTEL.specs, *HOTEL.families)) and max(map(len, out.splitlines())) <= 80


def test_rows_that_do_not_fit_become_blocks() -> None:
    assert len(records(("id", "a"), [("X-1", 1)], 80)) == 1
    wide = records(("id", *"abcdefgh"), [("X-1", *["y" * 20] * 7, None)], 80)
    assert len(wide) == 2


# -- playing


def test_a_person_plays_and_is_judged(tbx: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    type_in(
        monkeypatch, "Could you please tell me your booking number?", "/tools get_booking", "/policy", "/help",
        "/polcy", "get_booking", "get_bookin booking_id=BK-1", "get_booking booking_id=BK-00000",
        "get_booking BK-00000", "{oops", '{"name": "get_time", "arguments": {}}',
    )  # fmt: skip
    code, out, err = tbx("play", TASK)
    assert (code, err) == (0, "")
    for words in (
        "customer: ", "agent> Could you please", "get_booking  (read)", HOTEL.policy_text[:60], "did you mean /policy?",
        "`booking_id` is missing", "did you mean get_booking", "get_booking: refused", "write it like: get_booking",
        "not valid JSON", "get_time\n", "Records changed\n  none", "ended by agent", "FAIL", "found:",
        "FAILURE, reward 0",
    ):  # fmt: skip
        assert words in out, words


def test_the_reference_typed_in_succeeds(tbx: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    for message in play(TASK, make_agent("reference")).messages:
        if message["role"] == "assistant":
            calls = message.get("tool_calls", ())
            lines += [f"{call['function']['name']} {call['function']['arguments']}" for call in calls]
            lines += [] if calls else [message["content"]]
    type_in(monkeypatch, *lines)
    code, out, _ = tbx("play", TASK)
    assert code == 0 and "SUCCESS, reward 1" in out and "FAIL" not in out
    assert "created:" in out.partition("Records changed")[2]
    type_in(monkeypatch, *lines)
    assert json.loads(tbx("play", TASK, "--json")[1])["outcome"] == "success"


def test_play_keeps_to_limits(tbx_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    type_in(monkeypatch, "Hello.", "Hello.", "Hello.")
    _, record = tbx_json("play", TASK, "--limits", "turns=2")
    assert record["ended_by"] == "limit:turns" and record["turns"] == 2


def test_what_is_typed() -> None:
    tools = HOTEL.tools
    assert json.loads(read_typed('get_booking booking_id="BK 1"', tools))["tool_calls"] == [
        {"name": "get_booking", "arguments": {"booking_id": "BK 1"}}
    ]
    assert read_typed("I'm afraid a=b is not the point", tools) == "I'm afraid a=b is not the point"
    assert read_typed("get well soon", tools) == "get well soon"
    assert read_typed('get_booking {"booking_id": 1}', tools) == tb_envs.call("get_booking", booking_id=1)
    for wrong in ("get_bookin booking_id=1", "get_booking now", 'get_booking {"', "[1]", "```x", '{"name": 3}'):
        with pytest.raises(UsageError):
            read_typed(wrong, tools)


# -- running


def test_run_reports_both_denominators(tbx_json: Callable[..., Any], tbx: Callable[..., Any]) -> None:
    code, report = tbx_json("run", "--agent", "reference", "--domain", "hotel", "--split", "dev", "--limit", "20")
    assert code == 0
    assert {key: report[key] for key in ("attempts", "passed", "failed", "system_errors", "pass_at_1")} == {
        "attempts": 20, "passed": 20, "failed": 0, "system_errors": 0, "pass_at_1": 1.0,
    }  # fmt: skip
    _, idle = tbx_json("run", "--agent", "idle", "--tasks", "hotel/late_cancellation/*", "--split", "dev")
    assert idle["pass_at_1"] == 0.0 and idle["failed"] == idle["attempts"] == idle["tasks"] > 0
    assert sum(idle["failed_checks"].values()) >= idle["attempts"]
    code, out, _ = tbx("run", "--agent", "obedient", "--tasks", TASK)
    assert code == 0 and "pass@1" in out and "hotel/late_cancellation" in out and "What failed most" in out


def test_shuffling_is_by_the_seed(tbx: Callable[..., Any], tmp_path: Path) -> None:
    orders: list[list[str]] = []
    for number, seed in enumerate(("1", "1", "2")):
        out = tmp_path / f"{number}.jsonl"
        tbx("run", "--agent", "idle", "--domain", "hotel", "--limit", "12", "--seed", seed, "--out", str(out))
        orders.append([json.loads(line)["task_id"] for line in out.read_text().splitlines()])
    assert orders[0] == orders[1] != orders[2] and len(set(orders[0])) == 12


def test_a_row_per_attempt(tbx: Callable[..., Any], tbx_json: Callable[..., Any], tmp_path: Path) -> None:
    out = tmp_path / "deep" / "rows.jsonl"
    argv = ("run", "--agent", "reference", "--tasks", TASK, "hotel/late_cancellation/4000", "--attempts", "3")
    code, report = tbx_json(*argv, "--out", str(out), "--traces", str(tmp_path / "traces"))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert code == 0 and report["attempts"] == len(rows) == 6
    assert report["pass_at_3"] == report["pass_hat_3"] == 1.0
    assert {"task_id", "attempt", "agent", "outcome", "reward", "failed", "retries", "task_hash", "grader"} <= set(
        rows[0]
    )
    assert [row["attempt"] for row in rows] == [1, 1, 2, 2, 3, 3]
    assert len(list((tmp_path / "traces").iterdir())) == 6
    code, _, err = tbx(*argv, "--out", str(out))
    assert code == 2 and "exists" in err and len(out.read_text().splitlines()) == 6


def test_injected_faults_are_system_errors(tbx_json: Callable[..., Any], tbx: Callable[..., Any]) -> None:
    argv = ("run", "--agent", "reference", "--domain", "hotel", "--split", "dev", "--limit", "3")
    code, report = tbx_json(*argv, "--faults", "crash=1", "--retries", "1")
    assert code == 0
    assert (report["attempts"], report["system_errors"], report["passed"], report["failed"]) == (3, 3, 0, 0)
    assert report["pass_at_1"] is None and report["errors"] == {"error:backend": 3} and report["retries"] == 3
    _, mild = tbx_json(*argv, "--faults", "timeout=0.02,crash=0.01")
    assert (mild["passed"], mild["system_errors"]) == (3, 0)
    _, out, _ = tbx(*argv, "--faults", "crash=1", "--retries", "0")
    assert "3 attempts ended in system errors and do not count" in out


def test_an_agent_of_ones_own(tbx_json: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        "    assert sorted(info) == ['instructions', 'messages', 'tools'] and all(info.values())\n"
        '    return \'{"tool_calls": [{"name": "end_conversation", "arguments": {"summary": "bye"}}]}\''
    )
    agent = write_agent(tmp_path, body, monkeypatch)
    code, report = tbx_json("run", "--agent", agent, "--tasks", TASK)
    assert (code, report["failed"], report["agent"]) == (0, 1, agent)


def test_an_agent_that_raises_is_one_line(
    tbx: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = write_agent(tmp_path, "    return {}['x']", monkeypatch, "broken_agent")
    code, _, err = tbx("run", "--agent", agent, "--tasks", TASK)
    assert code == 2 and err.count("\n") == 1 and "raised KeyError: 'x'" in err and "broken_agent.py:2" in err


def test_an_interrupted_run_keeps_its_rows(
    tbx: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "    act.calls = getattr(act, 'calls', 0) + 1\n"
        "    if act.calls == 3:\n        raise KeyboardInterrupt\n"
        '    return \'{"tool_calls": [{"name": "end_conversation", "arguments": {"summary": "bye"}}]}\''
    )
    agent = write_agent(tmp_path, body, monkeypatch, "stopping_agent")
    tasks = [f"hotel/late_cancellation/{index}" for index in range(4)]
    code, out, err = tbx("run", "--agent", agent, "--tasks", *tasks, "--out", "rows.jsonl")
    assert (code, out, err) == (130, "", "tbx run: interrupted; 2 of 4 attempts are kept in rows.jsonl\n")
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 2


def test_ctrl_c_of_the_process(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\ndef act(observation, info):\n    time.sleep(0.05)\n    return 'Hello.'\n"
    )
    argv = [*TBX, "run", "--agent", "slow:act", "--domain", "hotel", "--limits", "turns=2", "--out", "rows.jsonl"]
    # A job started in the background inherits an ignored SIGINT; a person at a terminal does not.
    listens = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(argv, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=listens) as running:
        until = time.monotonic() + 60
        while time.monotonic() < until and running.poll() is None:
            if (tmp_path / "rows.jsonl").exists() and (tmp_path / "rows.jsonl").read_text():
                break
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err.count("\n") == 1 and "kept in rows.jsonl" in err
    assert all(json.loads(line)["outcome"] for line in (tmp_path / "rows.jsonl").read_text().splitlines())


# -- the demonstration


def test_demo(tbx_json: Callable[..., Any], tbx: Callable[..., Any], tmp_path: Path) -> None:
    code, report = tbx_json("demo", "--no-train", "--out", str(tmp_path))
    assert code == 0 and report["as_promised"] and report["tasks"] == 60 and report["training"] == "left out"
    reached = {name: row["pass_at_1"] for name, row in report["agents"].items()}
    assert reached["reference"] == 1 and reached["obedient"] <= 0.35
    assert reached["idle"] == reached["talker"] == reached["random"] == 0
    folder = Path(report["folder"])
    assert folder == tmp_path / "1"
    assert report["report"] == str(folder / "report.html") and (folder / "report.html").is_file()
    assert len(list((folder / "transcripts").iterdir())) == 5
    assert json.loads((folder / "agents.json").read_text())["agents"] == report["agents"]
    code, out, _ = tbx("demo", "--no-train", "--out", str(tmp_path))
    assert code == 0 and (tmp_path / "2" / "agents.json").exists()
    page = tmp_path / "2" / "report.html"
    assert "".join(out.split()).endswith(str(page.resolve())) and "Evaluation: " in page.read_text("utf-8"), (
        "it ends with a page"
    )
    for words in (
        "customer: ",
        "agent: ",
        "call ",
        "row ",
        "Five agents",
        "tbx play",
        "verdict: success",
        "verdict: failure",
    ):
        assert words in " ".join(out.split()), words


def test_demo_that_is_not_as_promised_fails(
    tbx: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(demo_command.PROMISED, "idle", ("100 %", lambda share: share == 1))
    monkeypatch.setattr(demo_command, "TASKS", 3)
    code, out, _ = tbx("demo", "--no-train", "--out", str(tmp_path))
    assert code == 1 and "NOT AS PROMISED" in out


@pytest.mark.parametrize(("exits", "code", "training"), [(0, 0, "done"), (1, 1, "failed"), (130, 130, "")])
def test_demo_trains(
    exits: int, code: int, training: str, tbx: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def train(argv: list[str]) -> int:
        seen.append(argv)
        print("update 1: well")
        return exits

    monkeypatch.setattr("tb_trainer.cli.main", train)
    monkeypatch.setattr("tb_trainer.cli.NEEDS", ("json",))
    monkeypatch.setattr(demo_command, "TASKS", 2)
    got, out, err = tbx("demo", "--out", str(tmp_path))
    assert got == code and "update 1: well" in out
    assert seen == [["--preset", "cpu-demo-short", "--out", str(tmp_path / "1" / "training")]]
    assert (tmp_path / "1" / "training.log").read_text() == "update 1: well\n"
    assert (f"what was done so far is in {tmp_path / '1'}" in err) == (code == 130)
    if training == "failed":
        assert "the training failed" in out


def test_demo_without_the_training_libraries(
    tbx_json: Callable[..., Any], tbx: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tb_trainer.cli.NEEDS", ("no_such_library",))
    monkeypatch.setattr(demo_command, "TASKS", 2)
    code, report = tbx_json("demo", "--out", str(tmp_path))
    assert (code, report["training"]) == (0, "not installed")
    assert "pip install 'thinkingbox-gym[train]'" in tbx("demo", "--out", str(tmp_path))[1]


def test_train_hands_its_arguments_on(tbx: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr("tb_trainer.cli.main", lambda argv: seen.append(argv) or 0)
    assert tbx("train", "--preset", "smoke", "--set", "grpo.updates=4")[0] == 0
    assert seen == [["--preset", "smoke", "--set", "grpo.updates=4"]]


# -- proving


def result(task_id: str, *, proved: bool) -> Result:
    failures = () if proved else ("idle passes",)
    return Result(task_id, "", {"reference": True, "idle": proved}, failures, 5, 2, 3)


@pytest.fixture
def fake_proofs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Certifying that proves nothing, quickly; `bad` fails, `asked` and `frozen` tell what was asked for."""
    seen: dict[str, Any] = {"bad": set(), "asked": [], "frozen": [], "proof": True}

    def certify_tasks(
        task_ids: list[str], *, jobs: int, knobs: Knobs, on_result: Callable[[Result], None]
    ) -> list[Result]:
        assert jobs > 0
        seen["asked"] += task_ids
        results = [result(name, proved=name not in seen["bad"]) for name in task_ids]
        for each in results:
            on_result(each)
        return results

    def certify_domain(domain: Any, *, jobs: int, on_progress: Callable[[str], None]) -> list[Proof]:
        on_progress("laws")
        return [Proof("laws", seen["proof"], "" if seen["proof"] else "one cent is missing; two are left")]

    monkeypatch.setattr(certify_command, "certify_tasks", certify_tasks)
    monkeypatch.setattr(certify_command, "certify_domain", certify_domain)
    monkeypatch.setattr(
        certify_command, "freeze", lambda domain, results: seen["frozen"].append((domain.name, results))
    )
    yield seen


def test_certify_a_real_task(tbx_json: Callable[..., Any], tbx: Callable[..., Any]) -> None:
    code, report = tbx_json("certify", "--task", TASK, "--jobs", "1")
    assert (code, report["tasks"], report["proved"], report["failures"]) == (0, 1, 1, [])
    assert report["domain"] == [] and all(count["failed"] == 0 for count in report["proofs"].values())
    code, out, _ = tbx("certify", "--task", TASK)
    assert code == 0 and "1 of 1 tasks proved" in out


def test_certify_everything(fake_proofs: dict[str, Any], tbx_json: Callable[..., Any], tbx: Callable[..., Any]) -> None:
    code, report = tbx_json("certify", "--domain", "hotel")
    assert code == 0 and report["tasks"] == report["proved"] == len(fake_proofs["asked"])
    assert {name.split("/")[0] for name in fake_proofs["asked"]} == {"hotel"}
    assert set(fake_proofs["asked"]) == {name for split in ("train", "dev", "bench") for name in suite(HOTEL, split)}
    assert report["domain"] == [{"domain": "hotel", "proof": "laws", "passed": True, "detail": ""}]
    fake_proofs["bad"].add(TASK)
    code, report = tbx_json("certify", "--domain", "hotel")
    assert code == 1 and report["failures"] == [{"task": TASK, "failures": ["idle passes"]}]
    code, out, _ = tbx("certify", "--domain", "hotel")
    assert code == 1 and f"{TASK}\n  idle passes" in out and "1 failed" in out
    fake_proofs["bad"].clear()
    fake_proofs["proof"] = False
    code, out, _ = tbx("certify", "--domain", "hotel")
    assert code == 1 and "one cent is missing" in out and "FAILED" in out


def test_certify_fresh_indices_of_all_families(fake_proofs: dict[str, Any], tbx_json: Callable[..., Any]) -> None:
    count = 2 * len(HOTEL.families) + 1
    code, report = tbx_json("certify", "--domain", "hotel", "--fresh", str(count))
    assert (code, report["tasks"], report["domain"]) == (0, count, [])
    assert all(int(name.split("/")[2]) >= 1000 for name in fake_proofs["asked"])
    assert {name.split("/")[1] for name in fake_proofs["asked"]} == set(HOTEL.families)


def test_freezing_needs_every_task_proved(fake_proofs: dict[str, Any], tbx: Callable[..., Any]) -> None:
    code, out, _ = tbx("certify", "--domain", "hotel", "--freeze")
    assert code == 0 and "frozen: hotel" in out
    [(name, results)] = fake_proofs["frozen"]
    planned = {task_id for split in ("train", "dev", "bench") for task_id in HOTEL.planned_ids(split)}
    assert name == "hotel" and {each.task_id for each in results} == planned
    fake_proofs["frozen"].clear()
    fake_proofs["bad"].add(TASK)
    code, out, _ = tbx("certify", "--domain", "hotel", "--freeze")
    assert code == 1 and fake_proofs["frozen"] == [] and "frozen: nothing" in out


def test_interrupted_certifying(tbx: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(task_ids: list[str], *, jobs: int, knobs: Knobs, on_result: Callable[[Result], None]) -> list[Result]:
        on_result(result(task_ids[0], proved=True))
        raise KeyboardInterrupt

    monkeypatch.setattr(certify_command, "certify_tasks", stop)
    code, out, err = tbx("certify", "--domain", "hotel", "--suite", "dev")
    assert (code, out) == (130, "") and err.count("\n") == 1
    assert f"1 of {len(suite(HOTEL, 'dev'))} tasks were checked; no file was changed" in err


def test_lint(tbx: Callable[..., Any], tbx_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_command, "lint_domain", lambda domain: [Finding("numbers", "policy.md", "42 is nowhere")])
    code, report = tbx_json("lint", "--domain", "hotel")
    assert (code, report["findings"]) == (
        1,
        [{"domain": "hotel", "rule": "numbers", "where": "policy.md", "message": "42 is nowhere"}],
    )
    code, out, _ = tbx("lint", "--domain", "hotel")
    assert code == 1 and "42 is nowhere" in out
    monkeypatch.setattr(lint_command, "lint_domain", lambda domain: [])
    assert tbx_json("lint", "--domain", "hotel") == (0, {"findings": []})


def test_output_survives_a_narrow_encoding() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "TERM": "dumb", "COLUMNS": "80"}
    done = subprocess.run([*TBX, "show", TASK], capture_output=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, b"") and b"Reference solution" in done.stdout


# -- the console entry


def test_an_interrupt_while_the_suite_is_imported_is_one_line_and_130(tmp_path: Path) -> None:
    """As pip would start it; a module that the suite imports first hangs, and is interrupted there."""
    root = Path(__file__).parent.parent
    entry = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]["tbx"]
    module, _, function = entry.partition(":")
    script = f"import sys; from {module} import {function}; sys.exit({function}())"
    (tmp_path / "gymnasium.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(root)])}
    listens = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(
        [sys.executable, "-c", script, "tasks"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listens,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "importing\n"
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "tbx: interrupted; nothing was begun\n")
    done = subprocess.run([sys.executable, "-c", script, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("tbx ")
