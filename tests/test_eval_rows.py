"""Rows and folders of campaigns under a full disk, other hands, edited code, interrupts: all is told, nothing mixes."""

from __future__ import annotations

import errno
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from services import skip_or_fail

from tb_envs.cli import main
from tb_envs.errors import UsageError
from tb_envs.evaluation import rows as rows_module
from tb_envs.evaluation.compare import compare
from tb_envs.evaluation.manifest import FILE as MANIFEST
from tb_envs.evaluation.report.campaigns import Campaign
from tb_envs.evaluation.row_form import FORM, LATER
from tb_envs.evaluation.rows import FILE, KEYS, Appender, RowNotKept, line_of, read_rows
from tb_envs.evaluation.summary import summarize
from tb_envs.evaluation.view import Live, make_server

TASKS = ["hotel/fresh_booking/0", "hotel/relocation/0", "hotel/corporate_rate/0"]
PLAY = ("--tasks", *TASKS, "--attempts", "2", "--concurrency", "2", "--json")
AGENTS = """
import asyncio, time
END = {"tool_calls": [{"name": "end_conversation", "arguments": {"summary": "Nothing."}}]}
DONE = []
def plain(observation, info):
    return END
async def later(observation, info):
    await asyncio.sleep(0)
    return END
wrapped = lambda observation, info: later(observation, info)
def blocked(observation, info):
    DONE.append(observation)
    if len(DONE) > 2:
        print("blocked", flush=True)
        time.sleep(60)
    return END
def leaves(observation, info):
    raise SystemExit(3)
async def cancels(observation, info):
    raise asyncio.CancelledError("mine")
async def leaves_later(observation, info):
    raise SystemExit("now")
def mumbles(observation, info):
    return END if len(info["messages"]) > 1 else 42
"""

Tbx = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tbx(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tbx:
    """`tbx` in a folder with agents; exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "row_agents.py").write_text(AGENTS)
    monkeypatch.delitem(sys.modules, "row_agents", raising=False)

    def run(*argv: Any) -> tuple[int, str, str]:
        code = main([*map(str, argv)])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that is finished."""
    folder = tmp_path_factory.mktemp("whole") / "c"
    assert main(["eval", "--agent", "idle", *PLAY, "--out", str(folder)]) == 0
    return folder


def copied(whole: Path, to: Path, change: Callable[[list[bytes]], None] = lambda lines: None) -> Path:
    shutil.copytree(whole, to)
    lines = (to / FILE).read_bytes().splitlines(keepends=True)
    change(lines)
    (to / FILE).write_bytes(b"".join(lines))
    return to


def changed(number: int, **values: Any) -> Callable[[list[bytes]], None]:
    def change(lines: list[bytes]) -> None:
        lines[number - 1] = line_of(json.loads(lines[number - 1]) | values)

    return change


# -- writing


def test_a_row_that_cannot_be_written_whole_leaves_nothing_and_is_the_last(
    tbx: Tbx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = [0]

    def full(file: int, data: Any) -> int:
        writes[0] += 1
        if writes[0] == 3:
            return os.write(file, bytes(data)[:1000])
        if writes[0] > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(file, data)

    class Os:
        write = staticmethod(full)

        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

    with monkeypatch.context() as patch:
        patch.setattr(rows_module, "os", Os())
        code, _, err = tbx("eval", "--agent", "row_agents:plain", *PLAY, "--out", "c")
    assert code == 1 and "No space left on device" in err and "2 of 6 attempts are kept in c" in err
    assert f"c/{FILE}" in err and "to go on: tbx eval --agent row_agents:plain" in err
    assert writes[0] == 4, "no other worker writes after it"
    assert (tmp_path / "c" / FILE).read_bytes().count(b"\n") == 2 and not read_rows(tmp_path / "c").torn
    assert tbx("eval", "--agent", "row_agents:plain", *PLAY, "--out", "c")[0] == 0
    assert len(read_rows(tmp_path / "c")) == 6 and not read_rows(tmp_path / "c").replaced


def test_a_removed_file_is_noticed(tmp_path: Path, tbx: Tbx, monkeypatch: pytest.MonkeyPatch) -> None:
    appender = Appender(tmp_path / "c" / FILE)
    appender.append({"a": 1})
    appender.sync()
    shutil.rmtree(tmp_path / "c")
    with pytest.raises(RowNotKept, match=r"attempts\.jsonl was removed while it was written"):
        appender.sync()
    with pytest.raises(RowNotKept, match="removed"):
        appender.append({"a": 2})
    appender.close()
    (tmp_path / "own_rm.py").write_text(
        "import shutil\nSEEN = []\n" + AGENTS + "def removes(observation, info):\n"
        "    SEEN.append(1)\n    len(SEEN) == 3 and shutil.rmtree('d')\n    return END\n"
    )
    monkeypatch.setattr(rows_module, "SYNC_EVERY", 0.0)
    code, _, err = tbx("eval", "--agent", "own_rm:removes", *PLAY, "--out", "d", "--concurrency", 1)
    assert code == 1 and "was removed while it was written" in err and "nothing is kept in d" in err
    assert len(sys.modules["own_rm"].SEEN) == 3


def test_full_disks_are_told_with_the_path_and_leave_no_drafts(
    tbx: Tbx, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_or_fail("" if os.path.exists("/dev/full") else "no device that is always full")
    real = Path.open

    def opened(path: Path, mode: str = "r", *args: Any, **named: Any) -> Any:
        return real(path, mode, *args, **named) if "w" not in mode else _full(real(path, mode, *args, **named), path)

    def _full(file: Any, path: Path) -> Any:
        file.close()
        return real(Path("/dev/full"), "wb" if path.suffix == ".tmp" and "regraded" in path.name else "w")

    run = copied(whole, tmp_path / "run")
    monkeypatch.setattr(Path, "open", opened)
    commands = {
        f"new/{MANIFEST}": ("eval", "--agent", "idle", *PLAY, "--out", "new"),
        "r.html": ("report", run, "--out", "r.html"),
        "attempts.regraded.jsonl": ("regrade", run),
    }
    for named, words in commands.items():
        code, _, err = tbx(*words)
        assert code in (1, 2) and named in err and "No space left on device" in err, (words, err)
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(left) == sorted(["row_agents.py", MANIFEST, FILE])


# -- reading


BROKEN: dict[str, tuple[Callable[[list[bytes]], None], str]] = {
    "cut": (lambda lines: lines.__setitem__(2, lines[2][: len(lines[2]) // 2] + b"\n"), "is no row: "),
    "junk": (lambda lines: lines.insert(2, b"hello\n"), "is no row of a campaign: b'hello"),
    "lacks": (
        lambda lines: lines.__setitem__(2, line_of({k: v for k, v in json.loads(lines[2]).items() if k != "grader"})),
        "it has no 'grader'",
    ),
    "null log": (changed(3, log=None), "log is null; a list is meant"),
    "null cost": (changed(3, cost=None), "cost is null; an object is meant"),
    "text": (changed(3, turns="3"), "turns is a text; a whole number is meant"),
    "check": (changed(3, verdict={"checks": [None]}), "verdict.checks[0] is null; an object is meant"),
    "outcome": (changed(3, outcome="great"), "outcome is 'great'; valid: success, failure, error:PART"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_row_in_the_middle_is_named_by_every_reader(kind: str, tbx: Tbx, whole: Path, tmp_path: Path) -> None:
    change, words = BROKEN[kind]
    run = copied(whole, tmp_path / "run", change)
    before = (run / FILE).read_bytes()
    for command in (
        ("report", run),
        ("regrade", run),
        ("compare", run, whole),
        ("compare", whole, run),
        ("eval", "--agent", "idle", *PLAY, "--out", run),
    ):
        code, _, err = tbx(*command)
        assert code == 2 and f"{run / FILE}:3 " in err and words in err, (command, err)
    assert (run / FILE).read_bytes() == before
    with pytest.raises(UsageError, match=r":3 "):
        Live([Campaign(run)]).state(0, "")


def test_the_form_of_a_row_has_all_its_keys() -> None:
    assert tuple(FORM) == KEYS


def test_rows_of_earlier_versions_are_read_as_before(whole: Path, tmp_path: Path, tbx: Tbx) -> None:
    """Without the keys that came later they are whole: the same summary, and a campaign that goes on with them."""

    def older(lines: list[bytes]) -> None:
        rows = [{key: value for key, value in json.loads(line).items() if key not in LATER} for line in lines]
        assert all("agent" not in row for row in rows)
        lines[:] = [line_of(row) for row in rows[:-1]]

    old = copied(whole, tmp_path / "old", older)
    new = copied(whole, tmp_path / "new", lambda lines: lines.__delitem__(-1))
    assert summarize(read_rows(old)) == summarize(read_rows(new))
    assert tbx("eval", "--agent", "idle", *PLAY, "--out", old)[0] == 0
    rows = list(read_rows(old))
    assert len(rows) == 6 and [("agent" in row) for row in rows] == [False] * 5 + [True]
    for command in (("regrade", old, "--json"), ("compare", old, whole, "--json")):
        assert tbx(*command)[0] == 0


STRANGE: dict[str, tuple[dict[str, Any], str]] = {
    "content": ({"task_hash": "0" * 64}, "another content of"),
    "attempt": ({"attempt": 99}, "it is attempt 99"),
    "task": ({"task_id": "hotel/fresh_booking/1"}, "not among its tasks"),
    "verdict": ({"outcome": "success"}, "it ended as success, and its checks say otherwise"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_rows_of_another_campaign_are_refused_before_anything_is_played(
    kind: str, tbx: Tbx, whole: Path, tmp_path: Path
) -> None:
    values, words = STRANGE[kind]
    run = copied(whole, tmp_path / "run", lambda lines: (changed(2, **values)(lines), lines.pop())[0])
    before = (run / FILE).read_bytes()
    code, _, err = tbx("eval", "--agent", "idle", *PLAY, "--out", run)
    assert code == 2 and f"{run / FILE}:2 is no row of this campaign" in err and words in err
    assert (run / FILE).read_bytes() == before and "attempts are kept" not in err


# -- agents


def test_edited_code_and_recordings_do_not_mix(tbx: Tbx, tmp_path: Path) -> None:
    words = ("eval", "--agent", "row_agents:plain", *PLAY, "--out", "c")
    assert tbx(*words)[0] == 0 and tbx(*words)[0] == 0
    (tmp_path / "row_agents.py").write_text(AGENTS + "# another line\n")
    code, _, err = tbx(*words)
    assert code == 2 and "agent.code.row_agents: " in err and "do not mix" in err
    (tmp_path / "said.jsonl").write_text("")
    user = json.dumps({"kind": "recorded", "path": "said.jsonl"})
    words = ("eval", "--agent", "idle", *PLAY, "--out", "d", "--user", user, "--max-errors", "100", "--retries", "0")
    assert tbx(*words)[0] in (0, 1)
    (tmp_path / "said.jsonl").write_text("{}\n")
    code, _, err = tbx(*words)
    assert code == 2 and "user.sha256: " in err
    llm = {"kind": "llm", "model": "m", "base_url": "http://127.0.0.1:9/v1", "max_tokens": 5}
    price = {"input": 1.0, "cached_input": 1.0, "output": 1.0}
    words = ("eval", "--agent", "idle", *PLAY, "--out", "e", "--max-errors", "1", "--retries", "0")
    tbx(*words, "--user", json.dumps(llm | {"retries": 0}))
    code, _, err = tbx(*words, "--user", json.dumps(llm | {"retries": 0, "price": price}))
    assert code == 2 and "user.price: null → " in err


def test_what_a_plain_function_returns_is_awaited(tbx: Tbx) -> None:
    code, out, _ = tbx("eval", "--agent", "row_agents:wrapped", *PLAY, "--out", "c")
    summary = json.loads(out)["summary"]
    assert (code, summary["counted"], summary["tool_errors"]["malformed"]) == (0, 6, 0)


def test_an_agent_that_leaves_or_does_not_load_is_named(tbx: Tbx, tmp_path: Path) -> None:
    for name, said in (("leaves", "SystemExit: 3"), ("leaves_later", "SystemExit: now"), ("cancels", "CancelledError")):
        code, _, err = tbx("eval", "--agent", f"row_agents:{name}", *PLAY, "--out", name)
        assert code == 2 and f"raised {said}" in err and f"{tmp_path}/row_agents.py:" in err
        assert "0 of 6 attempts are kept" in err
    bodies = {"boom": "1\nraise RuntimeError('boom')", "exits": "raise SystemExit(4)", "odd": "def f(:\n"}
    for name, body in bodies.items():
        (tmp_path / f"agents_{name}.py").write_text(body)
        code, _, err = tbx("eval", "--agent", f"agents_{name}:f", *PLAY, "--out", "x")
        assert code == 2 and f"agent 'agents_{name}:f' cannot be loaded" in err and f"agents_{name}.py" in err
    assert "boom (" in tbx("eval", "--agent", "agents_boom:f", *PLAY, "--out", "x")[2]
    assert not (tmp_path / "x").exists()


def test_turns_that_could_not_be_read_are_told(tbx: Tbx) -> None:
    words = [word for word in PLAY if word != "--json"]
    code, out, _ = tbx("eval", "--agent", "row_agents:mumbles", *words, "--out", "c")
    assert code == 0 and "6 turns in 6 attempts could not be read" in out


# -- interrupts


def test_an_interrupt_does_not_wait_for_functions_that_are_stuck(tbx: Tbx, tmp_path: Path) -> None:
    words = [word for word in PLAY if word != "--json"]
    command = [sys.executable, "-m", "tbx_here", "eval", "--agent", "row_agents:blocked", *words, "--out", "c"]
    (tmp_path / "tbx_here.py").write_text("import sys\nfrom tb_envs.cli import main\nsys.exit(main())\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=-1, stderr=-1, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        assert running.stdout.readline() == "blocked\n"
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
        assert time.monotonic() - began < 20
        err = running.stderr.read()
    assert "of 6 attempts are kept in c" in err and "to go on: tbx eval" in err and "Traceback" not in err
    assert (tmp_path / "c" / FILE).read_bytes()[-1:] in (b"", b"\n")


def test_an_interrupt_while_starting_says_that_rows_are_kept(
    tbx: Tbx, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    for place in ("tb_envs.evaluation.planning.left_out", "tb_envs.evaluation.runner.read_rows"):
        with monkeypatch.context() as patch:
            patch.setattr(place, interrupted)
            code, _, err = tbx("eval", "--agent", "idle", *PLAY, "--out", whole)
        assert code == 130 and f"{whole} is as it was, and its rows are kept; to go on: tbx eval" in err


# -- reports


def test_system_errors_count_as_failures_over_all_common_tasks(whole: Path) -> None:
    rows = list(read_rows(whole))
    passed = [
        row | {"outcome": "success", "verdict": {"success": True, "checks": [], "notes": []}, "error": ""}
        for row in rows
    ]
    broken = [
        row | {"outcome": "error:agent", "verdict": None} if row["task_id"] == TASKS[0] else row for row in passed
    ]
    found = compare(passed, broken)["headline"]
    said = summarize(broken, anchored=False)["headline"]
    assert said["pass_at_1"]["estimate"] == found["pass_at_1"]["b"]["estimate"] == 1.0
    both = found["pass_at_1_all"]
    assert both["b"]["estimate"] == said["pass_at_1_all"]["estimate"] == pytest.approx(2 / 3)
    assert both["tasks"] == 3 and found["pass_at_1"]["tasks"] == 2


def test_report_knows_both_kinds_of_folders(tbx: Tbx, whole: Path, tmp_path: Path) -> None:
    code, out, _ = tbx("report", "--help")
    assert code == 0 and "campaigns (`tbx eval`)" in out and "training runs" in out and "--compare" in out
    (tmp_path / "empty").mkdir()
    code, _, err = tbx("report", "empty")
    assert code == 2 and "campaign.json" in err and "log.jsonl" in err
    run = copied(whole, tmp_path / "run")
    assert tbx("report", run / FILE)[0] == 0 and (run / "report.html").is_file()
    words = ("compare", run / FILE, whole, "--html", "both.html", "--json")
    assert tbx(*words)[0] == 0 and "<html" in (tmp_path / "both.html").read_text()[:200]
    (tmp_path / "empty" / FILE).write_bytes((run / FILE).read_bytes())
    code, _, err = tbx("report", f"empty/{FILE}")
    assert code == 2 and "no campaign.json beside it" in err
    code, _, err = tbx("report", run, "empty")
    assert code == 2 and "empty" in err


def test_files_of_tasks_come_from_any_editor(tbx: Tbx, tmp_path: Path) -> None:
    files = {
        "bom.txt": "\ufeff" + "\n".join(TASKS),
        "crlf.txt": "# mine\r\n" + "\r\n".join(TASKS) + "\r\n",
        "bom.json": "\ufeff" + json.dumps(TASKS),
    }
    words = ("--attempts", 1, "--json", "--agent", "idle")
    for name, text in files.items():
        (tmp_path / name).write_bytes(text.encode())
        code, out, _ = tbx("eval", "--suite", name, *words, "--out", f"of-{name}")
        assert code == 0 and json.loads(out)["summary"]["tasks"] == 3
    for name, data in {"a.bin": b"\x89PNG\xff\xfe\n", "b.bin": b"hotel\0\0\n", "c.bin": "x".encode("utf-16")}.items():
        (tmp_path / name).write_bytes(data)
        code, _, err = tbx("eval", "--suite", name, *words, "--out", "x")
        assert code == 2 and name in err and "task id" in err


def test_a_page_says_when_its_file_is_gone_and_answers_strange_requests(whole: Path, tmp_path: Path) -> None:
    run = copied(whole, tmp_path / "run")
    server = make_server(Live([Campaign(run)]))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def ask(path: str, host: str = "127.0.0.1") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
        connection.request("GET", path, headers={"Host": host})
        answer = connection.getresponse()
        found = answer.status, answer.read().decode()
        connection.close()
        return found

    try:
        assert ask("/", "[::1")[0] == 400 and ask("//[x/")[0] in (400, 404) and ask("/", "evil.com")[0] == 403
        assert len(json.loads(ask("/state")[1])["entries"]) == 6
        lines = (run / FILE).read_bytes().splitlines(keepends=True)
        (run / FILE).write_bytes(b"".join(lines[:2]))
        code, said = ask("/state")
        assert code == 409 and "was cut off: 4 attempts are gone" in said and str(run / FILE) in said
        shutil.rmtree(run)
        code, said = ask("/state")
        assert code == 409 and "was removed" in said
        assert ask(f"/episode?run=0&task={TASKS[0]}&attempt=0")[0] == 409
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
