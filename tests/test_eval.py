"""`tbx eval` against a scripted server: every row right, counted right, nothing lost, whatever goes wrong."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attempt_rows import attempt_row
from chat_double import ChatDouble, Message, called, said, turns_of, usage
from llm_double import ModelDouble
from test_judge import KEPT, TOLD, answer, with_criteria
from test_llm_users import scripted_brain

from tb_envs.authoring.rng import stable_seed
from tb_envs.cli import main
from tb_envs.episode import Episode, drive
from tb_envs.errors import UsageError
from tb_envs.evaluation.chat import _answer
from tb_envs.evaluation.context import LEFT_OUT, ContextRule
from tb_envs.evaluation.pacing import KINDS_OF_TASK, SUSPECT, Gate
from tb_envs.evaluation.play import play_campaign
from tb_envs.evaluation.prices import read_prices
from tb_envs.evaluation.rows import FILE, KEYS, Appender, line_of, read_rows
from tb_envs.openai_client import Answer as Completion
from tb_envs.settings import Settings
from tb_envs.task import Task, get_task
from tb_envs.trace import episode_record

FAMILIES = ("corporate_rate", "fresh_booking", "name_on_booking", "partner_booking", "pet_and_dates", "relocation")
TASKS = [f"hotel/{family}/{n}" for n in range(2) for family in FAMILIES]
BANK = ["banking/closing_down/0", "banking/going_abroad/0", "banking/flagged_payment/0"]
SECRET = "tbx-test-key-7b1f0c"
PRICES = '[models."m"]\ninput = 2.0\ncached_input = 0.5\noutput = 8.0\ndated = 2026-01-31\nsource = "a test"\n'
MALFORMED: list[Message] = [
    called("get_booking", '{"booking_id": "BK-1'),
    called("book_the_moon", "{}"),
    said(None),
    said("```json\n{}\n```"),
    said('{"tool_calls": [{"name": 3}]}'),
]
FAST = ("--backoff", "0.005", "--timeout", "20", "--max-errors", "40")


@pytest.fixture
def double() -> Iterator[ChatDouble]:
    server = ChatDouble()
    yield server.start()
    server.stop()


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))


Eval = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def tbx(capsys: pytest.CaptureFixture[str]) -> Eval:
    """`tbx eval` with ``--json``; exit code, the object if there is one, errors."""

    def run(*argv: Any) -> tuple[int, Any, str]:
        code = main(["eval", *map(str, argv), "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err

    return run


def rows_of(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["task_id"], row["attempt"]): row for row in read_rows(folder)}


def without_seconds(folder: Path) -> list[bytes]:
    """All lines as bytes, but for what may differ between equal campaigns."""
    rows = [json.loads(line) for line in (folder / FILE).read_bytes().splitlines()]
    return sorted(line_of({**row, "seconds": None}) for row in rows)


def action_of(message: Message) -> Any:
    calls = message.get("tool_calls")
    return {"content": message["content"] or "", "tool_calls": calls} if calls else message["content"] or ""


def played(task_id: str, turns: Sequence[Message], most: int = 10_000) -> Episode:
    """The same turns, played here; ended by nobody after `most` of them."""
    episode = Episode()
    drive(episode.reset(task_id))
    last = repeat(called("end_conversation", '{"summary": "Done."}'))
    for message in chain(turns, last):
        if episode.over or episode.turns >= most:
            break
        drive(episode.act(action_of(message)))
    episode.close()
    return episode


def mistake_of(task_id: str) -> list[Message]:
    return turns_of(task_id, next(iter(get_task(task_id).scenario.mistakes.values())).does)


# -- every row is right


def test_every_row_is_right_whatever_the_server_does(double: ChatDouble, tbx: Eval, tmp_path: Path) -> None:
    ids = [*TASKS, *BANK]
    scripts: dict[tuple[str, int], list[Message]] = {}
    for place, task_id in enumerate(ids):
        solved = turns_of(task_id)
        scripts[task_id, 0] = scripts[task_id, 1] = solved
        if place in (1, 2):  # right in one attempt, wrong in the other
            scripts[task_id, place % 2] = mistake_of(task_id)
        if place in (3, 4):  # five turns that nobody can read, then right
            scripts[task_id, 0] = [solved[0], *MALFORMED, *solved[1:]]
        for attempt in (0, 1):
            double.plays(task_id, scripts[task_id, attempt], attempt, 2)
    transient = ["429:0.02", "500", "drop", "cut", "empty", "null", "garbage", "503", "429:", "slow:0.05"]
    for place, word in enumerate(transient):
        double.trouble[ids[place % 7], place % 5] = [word]
    double.trouble[ids[5], 3] = ["429:0.01", "500", "429:", "drop", "empty"]  # one after the other at one turn
    broken, filtered, refused, long, dropped = ids[7:12]
    double.trouble |= {(broken, 2): ["500!"], (dropped, 1): ["drop!"], (filtered, 2): ["filter!"]}
    double.trouble |= {(refused, 1): ["refuse!"], (long, 3): ["long!"]}
    double.keep = True
    (tmp_path / "prices.toml").write_text(PRICES)
    code, report, err = tbx(
        *("--model", "m", "--base-url", double.url, "--send-seed", "--tasks", *ids, "--attempts", 2, "--seed", 0),
        *("--out", tmp_path / "c", "--prices", tmp_path / "prices.toml", "--concurrency", 8, "--retries", 2, *FAST),
        *("--sampling", 'temperature=0.7,top_p=0.9,stop=["a,b"]', "--request-retries", 3),
    )
    assert (code, err) == (0, "")
    rows = rows_of(tmp_path / "c")
    assert set(rows) == {(task_id, attempt) for task_id in ids for attempt in (0, 1)}
    ends = {filtered: (2, "refused"), refused: (1, "refused"), long: (3, "limit:context")}
    for (task_id, attempt), row in rows.items():
        assert tuple(row) == KEYS
        turns = scripts[task_id, attempt]
        where = (task_id, attempt)
        assert row["seed"] == stable_seed(0, task_id, attempt), where
        sampled = {"temperature": 0.7, "top_p": 0.9, "stop": ["a,b"]}
        assert row["agent"] == {"name": "m", "kind": "chat", "sampling": sampled}, where
        if task_id in (broken, dropped):
            assert (row["outcome"], row["ended_by"], row["verdict"]) == ("error:agent", "error", None), where
            assert ("CUDA out of memory" if task_id == broken else "broke off") in row["error"], row["error"]
            assert (row["retries"], row["reward"]) == (2, 0.0), where
            continue
        most, by = ends.get(task_id, (10_000, ""))
        episode = played(task_id, turns, most)
        record = json.loads(json.dumps(episode_record(episode)))
        assert row["messages"] == record["messages"], where
        assert (row["turns"], row["tool_calls"], row["user_turns"]) == (
            episode.turns,
            episode.tool_calls,
            episode.user_turns,
        ), where
        if by:
            assert (row["outcome"], row["ended_by"]) == ("failure", by), where
            assert row["log"][:-1] == record["log"] and row["log"][-1]["name"] == by, where
            continue
        assert row["log"] == record["log"] and row["verdict"] == record["verdict"], where
        assert (row["outcome"], row["ended_by"]) == (episode.outcome, episode.ended_by), where
        assert (row["error"], row["retries"]) == ("", 0), where
        assert row["malformed"] == (4 if turns[1:6] == MALFORMED else 0), where
    assert {row["outcome"] for row in rows.values()} == {"success", "failure", "error:agent"}
    wrong = rows[ids[1], 1]
    assert wrong["outcome"] == "failure" and rows[ids[1], 0]["outcome"] == "success"

    unread = rows[ids[3], 0]
    texts = [wrote["text"] for wrote in unread["wrote"]]
    assert len(texts) == 4 and "BK-1" in texts[0] and texts[1] == "" and texts[2].startswith("```json")
    for wrote in unread["wrote"]:  # each is answered by an observation that says what was wrong
        after = unread["messages"][wrote["message"] + 1]["content"]
        assert "JSON" in after or "empty" in after or "name" in after, after
    assert unread["outcome"] == "success"

    bodies = [body for body in double.bodies if body["messages"][1] == unread["messages"][0]]
    assert all(set(body) == {"model", "messages", "tools", "temperature", "top_p", "stop", "seed"} for body in bodies)
    assert all(body["tools"] == list(get_task(ids[3]).tool_definitions) for body in bodies)
    assert all(body["messages"][0]["content"] == get_task(ids[3]).instructions for body in bodies)
    assert double.keys == {f"Bearer {SECRET}"}
    assert all(SECRET not in path.read_text("utf-8") for path in (tmp_path / "c").iterdir())

    clean = rows[ids[0], 1]
    asked = [b for b in double.bodies if b["messages"][1] == clean["messages"][0]]
    seeds = {(stable_seed(0, ids[0], 1) + turn) & 0x7FFF_FFFF: turn for turn in range(1, 70)}
    by_turn = {
        seeds[b["seed"]]: usage(b, scripts[ids[0], 1][seeds[b["seed"]] - 1]) for b in asked if b["seed"] in seeds
    }
    assert clean["tokens"]["agent"] == {
        "input": sum(u["prompt_tokens"] for u in by_turn.values()),
        "cached_input": sum(u["prompt_tokens_details"]["cached_tokens"] for u in by_turn.values()),
        "output": sum(u["completion_tokens"] for u in by_turn.values()),
        "reasoning": sum(u["completion_tokens_details"]["reasoning_tokens"] for u in by_turn.values()),
    }
    price = read_prices(tmp_path / "prices.toml")
    assert all(row["cost"]["agent"] == price.cost("m", row["tokens"]["agent"]) for row in rows.values())
    assert all(row["cost"]["user"] == row["cost"]["judge"] == 0.0 for row in rows.values())

    summary = report["summary"]
    assert (summary["attempts"], summary["system_errors"], summary["counted"]) == (30, 4, 26)
    assert summary["passed"] == sum(row["outcome"] == "success" for row in rows.values())
    assert {name: part["attempts"] for name, part in summary["ended_by"].items()}["refused"] == 4
    assert sum(row["seconds"]["slowed"] for row in rows.values()) == double.seen["429"]
    assert double.most_out <= 8


@pytest.mark.parametrize(
    ("content", "spoken"),
    [
        ("Hello.", "Hello."),
        ("<think>\nhm\n</think>\n\nHello.", "\n\nHello."),
        ("I should greet.\n</think>\nHello.", "\nHello."),
        (" <think>a</think> <think>b</think>Hello.", "Hello."),
        ("<think>never done", ""),
        ("Say <think> or </think>", "Say <think> or </think>"),
        (None, ""),
    ],
)
def test_thoughts_are_not_spoken(content: str | None, spoken: str) -> None:
    answer = _answer(Completion(said(content), "stop", None))
    assert (answer.action, answer.written) == (spoken, content or "")


# -- killed at any moment


def start(double: ChatDouble, out: Path, *more: str) -> subprocess.Popen[str]:
    code = "import sys; from tb_envs.cli import main; sys.exit(main())"
    arguments = ["eval", "--model", "m", "--base-url", double.url, "--send-seed", "--out", str(out), *more]
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=out.parent,
    )


def test_killed_at_ten_moments_it_ends_like_one_that_was_not(double: ChatDouble, tmp_path: Path) -> None:
    """The union of what the killed runs wrote is the uninterrupted campaign, byte for byte but for its measures."""
    ids, needed = TASKS[:8], dict[tuple[str, int], int]()
    for place, task_id in enumerate(ids):
        for attempt in range(3):
            wrong = (place + attempt) % 3 == 0
            turns = [*MALFORMED[: place % 3], *(mistake_of(task_id) if wrong else turns_of(task_id))]
            double.plays(task_id, turns, attempt, 3)
            needed[task_id, attempt] = min(len(turns), {3: 2, 4: 1, 5: 2}.get(place, 99))
    double.trouble = {(ids[1], 2): ["500", "429:0.01"], (ids[2], 1): ["drop"], (ids[3], 2): ["500!"]}
    double.trouble |= {(ids[4], 1): ["filter!"], (ids[5], 2): ["long!"], (ids[6], 2): ["null", "slow:0.05"]}
    more = ("--tasks", *ids, "--attempts", "3", "--concurrency", "3", "--retries", "1", "--request-retries", "1", *FAST)
    whole = start(double, tmp_path / "whole", *more)
    assert whole.wait(180) == 0, whole.stderr and whole.stderr.read()
    double.visits.clear()  # the killed runs meet the same trouble, not what the whole one has used up
    met = double.seen.copy()
    rng, out = Random(5), tmp_path / "killed"
    file = out / FILE
    for number in range(10):
        left = sum(turns for key, turns in needed.items() if not file.exists() or key not in read_rows(out))
        last = double.asked + rng.randrange(1, max(2, left // 3))  # before it could end
        running = start(double, out, *more)
        double.on_request = lambda n, last=last, pid=running.pid: os.kill(pid, signal.SIGKILL) if n == last else None
        assert running.wait(180) == -signal.SIGKILL, running.stderr and running.stderr.read()
        before = file.read_bytes() if file.exists() else b""
        if number % 2 and before:  # as if it had been killed while it wrote its last line
            start_of_last = before.rfind(b"\n", 0, len(before) - 1) + 1
            file.write_bytes(before[: rng.randrange(start_of_last + 1, len(before))])
    assert 4 < len(read_rows(out)) < 24
    double.on_request = lambda number: None
    last_one = start(double, out, *more)
    assert last_one.wait(180) == 0, last_one.stderr and last_one.stderr.read()
    assert without_seconds(out) == without_seconds(tmp_path / "whole")
    assert len(without_seconds(out)) == 24 and not read_rows(out).replaced
    assert all(double.seen[word] > met[word] for word in ("500", "429", "drop", "filter", "long", "null", "slow"))
    asked = double.asked
    again = start(double, out, *more)
    assert again.wait(180) == 0
    assert double.asked == asked, "what was finished was asked for again"


def test_a_torn_end_is_cut_off_and_nothing_else(tmp_path: Path) -> None:
    """Wherever the last line is cut off, the rows before it stay and can be added to."""
    rows = [attempt_row(f"hotel/x/{n}", n, cell='é\u2028\n"attempt":9') for n in range(3)]
    whole = b"".join(map(line_of, rows))
    file, last = tmp_path / FILE, len(line_of(rows[2]))
    for cut in sorted({*range(0, last + 1, 7), 1, 2, last - 2, last - 1, last}):
        file.write_bytes(whole[: len(whole) - cut])
        left = 3 if not cut else 2
        found = read_rows(tmp_path)
        assert list(found) == rows[:left] and found.torn == (0 < cut < last)
        appender = Appender(file)
        assert appender.cut == (last - cut if found.torn else 0)
        with pytest.raises(UsageError, match="another process is writing"):
            Appender(file)
        appender.append(rows[2])
        appender.close()
        assert list(read_rows(tmp_path)) == rows
        assert len(list(read_rows(tmp_path).every())) == left + 1
    file.write_bytes(whole[:40] + b"\n" + whole)
    with pytest.raises(UsageError, match=rf"{FILE}:1 is no row"):
        read_rows(tmp_path)


# -- refusals and stops


def test_other_settings_are_refused_by_name(
    double: ChatDouble, tbx: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    double.plays(TASKS[0], turns_of(TASKS[0]))
    base = ["--model", "m", "--base-url", double.url, "--tasks", TASKS[0], "--out", tmp_path / "c", *FAST]
    kept = ["--attempts", 2, "--sampling", "temperature=0.7"]
    assert tbx(*base, *kept)[0] == 0
    code, report, _ = tbx(*base, *kept, "--concurrency", 3, "--retries", 7)
    assert code == 0 and report["resumed"] and double.asked > 0
    others: list[tuple[list[Any], str]] = [
        (["--attempts", 3, "--sampling", "temperature=0.7"], "attempts: 2 → 3"),
        (["--attempts", 2, "--sampling", "temperature=1.0"], "agent.sampling.temperature: 0.7 → 1.0"),
        ([*kept, "--context", "stop:9000"], 'context.rule: "none" → "stop"; context.limit: 0 → 9000'),
        ([*kept, "--limits", "turns=5"], "limits.turns: 60 → 5"),
        ([*kept, "--knobs", "distractors=3"], "knobs.distractors: null → 3"),
        ([*kept, "--send-seed"], "agent.seeded: false → true"),
        ([*kept, "--seed", 4], "seed: 0 → 4"),
    ]
    for argv, words in others:
        code, report, err = tbx(*base, *argv)
        assert code == 2 and report is None and words in err and "--out" in err, err
    code, _, err = tbx(*base, *kept, "--tasks", TASKS[0], TASKS[1])
    assert code == 2 and f"tasks: 1 added ({TASKS[1]})" in err
    monkeypatch.setattr("tb_envs.evaluation.manifest.GRADER", "2")
    monkeypatch.setattr("tb_envs.evaluation.manifest.__version__", "9.9")
    code, _, err = tbx(*base, *kept)
    assert code == 2 and 'grader: "1" → "2"' in err and '→ "9.9"' in err
    monkeypatch.undo()
    (tmp_path / "c" / "campaign.json").unlink()
    code, _, err = tbx(*base, *kept)
    assert code == 2 and "no campaign.json" in err


def test_a_broken_endpoint_stops_the_campaign_in_its_own_words_and_keeps_everything(
    double: ChatDouble, tbx: Eval, tmp_path: Path
) -> None:
    ids = TASKS[:6]
    for task_id in ids:
        double.plays(task_id, turns_of(task_id))
    limit = 70

    def breaks(number: int) -> None:
        if number > limit:
            double.broken = "401"

    double.on_request = breaks
    argv = ("--model", "m", "--base-url", double.url, "--tasks", *ids, "--attempts", 2, "--out", tmp_path / "c")
    more = ("--backoff", "0.002", "--max-errors", "9", "--concurrency", 3, "--retries", 50)
    code, report, err = tbx(*argv, *more)
    assert code == 1 and report is None
    assert "9 failures in a row" in err and "answered 401: no such key: [key]" in err and "sk-" not in err
    kept = read_rows(tmp_path / "c")
    assert f"{len(kept)} of 12 attempts are kept" in err and f"tbx eval --model m --base-url {double.url}" in err
    assert 0 < len(kept) < 12 and all(row["outcome"] == "success" for row in kept)
    assert double.seen["401"] <= 9 + 2 * 3  # those that were out, or on their way, when it stopped

    double.on_request, double.broken = lambda number: None, ""
    code, report, _ = tbx(*argv, *more)
    assert code == 0 and report["summary"]["passed"] == 12 and report["resumed"]

    double.broken = "drop"  # no answer at all, from the first request on
    code, report, err = tbx(*argv[:-1], tmp_path / "d", *more, "--request-retries", 2)
    assert code == 1 and "cannot be reached or broke off" in err and len(read_rows(tmp_path / "d")) == 0


def test_an_answer_that_takes_too_long_is_asked_for_again_and_then_a_system_error(
    double: ChatDouble, tbx: Eval, tmp_path: Path
) -> None:
    late, never = TASKS[:2]
    for task_id in (late, never):
        double.plays(task_id, turns_of(task_id))
    double.trouble |= {(late, 1): ["slow:60"], (never, 1): ["slow:60!"]}
    argv = ("--model", "m", "--base-url", double.url, "--attempts", 1, "--backoff", "0.005", "--timeout", "1.5")
    code, report, _ = tbx(*argv, "--tasks", late, "--out", tmp_path / "late")
    row = read_rows(tmp_path / "late").row(late, 0)
    assert code == 0 and (row["outcome"], row["retries"]) == ("success", 0)
    assert row["seconds"]["retried"] >= 1 and row["seconds"]["agent"] >= 1.5
    assert row["log"] == json.loads(json.dumps(episode_record(played(late, turns_of(late)))["log"]))
    argv = (*argv, "--request-retries", 1, "--retries", 0)
    code, report, _ = tbx(*argv, "--tasks", never, "--out", tmp_path / "never")
    row = read_rows(tmp_path / "never").row(never, 0)
    assert code == 0 and (report["summary"]["system_errors"], report["summary"]["counted"]) == (1, 0)
    assert (row["outcome"], row["ended_by"], row["verdict"]) == ("error:agent", "error", None)
    assert "did not answer within 1.5 s" in row["error"] and row["seconds"]["retried"] == 1


def test_the_double_stops_without_a_word_though_somebody_waits_for_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    double = ChatDouble().start()
    double.broken = "slow:60"
    with socket.create_connection(("127.0.0.1", double.port)) as asks, socket.create_connection(asks.getpeername()):
        body = json.dumps({"messages": [said(""), said("")]}).encode()
        asks.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        until = time.monotonic() + 30
        while (not double.out or double.connections < 2) and time.monotonic() < until:
            time.sleep(0.001)
        assert (double.out, double.connections) == (1, 2)
        double.stop()
    assert not caplog.records, caplog.text


def test_a_poisoned_task_is_an_error_of_its_own(double: ChatDouble, tbx: Eval, tmp_path: Path) -> None:
    """However often it fails, the campaign goes on; other attempts do not wait for it."""
    ids = TASKS[:3]
    for task_id in ids:
        double.plays(task_id, turns_of(task_id))
    double.trouble[ids[1], 1] = ["500!"]
    double.keep = True
    argv = ("--model", "m", "--base-url", double.url, "--tasks", *ids, "--attempts", 4, "--out", tmp_path / "c")
    more = ("--backoff", "0.2", "--max-errors", "3", "--concurrency", 1, "--retries", 2, "--request-retries", 0)
    code, report, _ = tbx(*argv, *more)
    assert code == 0 and (report["summary"]["passed"], report["summary"]["system_errors"]) == (8, 4)
    opening = read_rows(tmp_path / "c").row(ids[1], 0)["messages"][0]
    failed = next(n for n, b in enumerate(double.bodies) if b["messages"][1] == opening and len(b["messages"]) > 2)
    assert double.bodies[failed + 1]["messages"][1] != opening, "an attempt that is tried again held up the others"
    double.trouble.clear()
    asked = double.asked
    code, report, _ = tbx(*argv, *more)
    assert code == 0 and double.asked == asked
    code, report, _ = tbx(*argv, *more, "--retry-errors")
    summary = report["summary"]
    assert (code, summary["passed"], summary["system_errors"], summary["replaced"]) == (0, 12, 0, 4)


def test_interrupted_it_keeps_every_row_and_says_how_to_go_on(double: ChatDouble, tmp_path: Path) -> None:
    for task_id in TASKS:
        double.plays(task_id, turns_of(task_id))
    more = ("--tasks", *TASKS, "--attempts", "2", "--concurrency", "4", *FAST)
    running = start(double, tmp_path / "c", *more)
    double.on_request = lambda n: os.kill(running.pid, signal.SIGINT) if n == 90 else None
    _, err = running.communicate(timeout=180)
    assert running.returncode == 130, err
    kept = (tmp_path / "c" / FILE).read_bytes()
    assert kept.endswith(b"\n") and 0 < kept.count(b"\n") < 24
    assert f"{len(read_rows(tmp_path / 'c'))} of 24 attempts are kept" in err
    assert "to go on: tbx eval --model m --base-url" in err and "Traceback" not in err
    again = start(double, tmp_path / "c", *more)
    assert again.wait(180) == 0 and len(read_rows(tmp_path / "c")) == 24


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_bar_in_a_terminal_and_a_line_now_and_then_in_a_log(
    double: ChatDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for task_id in TASKS[:4]:
        double.plays(task_id, turns_of(task_id))
    double.trouble[TASKS[0], 3] = ["slow:0.6"]
    double.trouble[TASKS[1], 1] = ["500!"]
    (tmp_path / "prices.toml").write_text(PRICES)
    argv = ["eval", "--model", "m", "--base-url", double.url, "--tasks", *TASKS[:4], "--attempts", "2", *FAST]
    argv += ["--prices", str(tmp_path / "prices.toml"), "--retries", "0", "--request-retries", "0"]
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main([*argv, "--out", str(tmp_path / "bar")]) == 0
    shown = terminal.getvalue()
    for part in ("/8", "pass@1 100.0 % [100–100]", "2 system errors", "tok/s", "$0.", " left"):
        assert part in shown, part
    out = capsys.readouterr().out
    assert "m: pass@1 100.0 %" in out and "2 attempts ended in system errors" in out and "cost $" in out
    monkeypatch.setattr("tb_envs.cli.campaign_bar.LINE_EVERY", 0.0)
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    assert main([*argv, "--out", str(tmp_path / "log")]) == 0
    lines = log.getvalue().splitlines()
    assert len(lines) == 8 and lines[-1].startswith("m: 8/8 · pass@1 100.0 %")


# -- other agents


def test_python_functions_play(
    tbx: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plain and async ones; what they raise is their fault, names its place, and loses nothing."""
    monkeypatch.chdir(tmp_path)
    body = """
from tb_envs.evaluation.players import AgentBroke
SEEN = []
def plain(observation, info):
    SEEN.append((observation, sorted(info)))
    return '{"tool_calls": [{"name": "end_conversation", "arguments": {"summary": "No."}}]}'
async def later(observation, info):
    return plain(observation, info)
def down(observation, info):
    raise AgentBroke("my own server is down")
def bad(observation, info):
    if len(SEEN) > 5:
        return {}["answer"]
    return plain(observation, info)
"""
    (tmp_path / "own_agents.py").write_text(body)
    monkeypatch.delitem(sys.modules, "own_agents", raising=False)
    argv = ("--tasks", *TASKS[:4], "--attempts", 2, *FAST)
    first = None
    for name in ("plain", "later"):
        code, report, err = tbx("--agent", f"own_agents:{name}", *argv, "--out", tmp_path / name)
        assert (code, err, report["summary"]["passed"], report["summary"]["counted"]) == (0, "", 0, 8)
        found = [line.replace(f"own_agents:{name}".encode(), b"who") for line in without_seconds(tmp_path / name)]
        first = first or found
        assert found == first
        assert read_rows(tmp_path / name).row(TASKS[0], 1)["cost"] == {"agent": None, "user": 0.0, "judge": 0.0}
        assert report["summary"]["cost"]["total"] is report["summary"]["tokens"]["agent"] is None, "it may have paid"
    assert main(["eval", "--agent", "own_agents:plain", *map(str, argv), "--out", str(tmp_path / "plain")]) == 0
    assert "cost unknown: what a Python function pays" in capsys.readouterr().out
    seen = sys.modules["own_agents"].SEEN
    assert seen[0][1] == ["instructions", "messages", "tools"], "by a task's id it could look up the solution"
    seen.clear()
    code, report, err = tbx("--agent", "own_agents:bad", *argv, "--out", tmp_path / "bad", "--concurrency", 1)
    line = body.splitlines().index('        return {}["answer"]') + 1
    assert code == 2 and f"KeyError: 'answer' ({tmp_path}/own_agents.py:{line})" in err
    assert "6 of 8 attempts are kept" in err and len(read_rows(tmp_path / "bad")) == 6
    seen.clear()
    code, report, err = tbx("--agent", "own_agents:down", *argv, "--out", tmp_path / "down", "--retries", 0)
    assert (code, report["summary"]["system_errors"], report["summary"]["outcomes"]) == (0, 8, {"error:agent": 8})


def test_built_in_agents_mark_the_floor_and_the_ceiling(tbx: Eval, tmp_path: Path) -> None:
    for name, passed in (("idle", 0), ("reference", 12)):
        code, report, _ = tbx("--agent", name, "--tasks", *TASKS, "--attempts", 1, "--out", tmp_path / name)
        assert code == 0 and report["summary"]["passed"] == passed
        agents = [row["agent"] for row in rows_of(tmp_path / name).values()]
        assert agents == [{"name": name, "kind": "built-in", "sampling": None}] * 12
        assert report["summary"]["cost"]["total"] == 0, "no model was asked"
    argv = ("--agent", "reference", "--tasks", *TASKS, "--attempts", 2, "--out", tmp_path / "faults", *FAST)
    code, report, _ = tbx(*argv, "--faults", "timeout=0.05", "--retries", 12, "--max-errors", 1000)
    rows = rows_of(tmp_path / "faults")
    assert code == 0 and report["summary"]["passed"] == 24, "a system error was counted as a failure"
    assert sum(row["retries"] for row in rows.values()) > 0
    plain = rows_of(tmp_path / "reference")
    assert all(rows[key]["log"] == row["log"] for key, row in plain.items())


def test_tasks_come_from_suites_files_and_globs(tbx: Eval, tmp_path: Path) -> None:
    def ids(*argv: Any) -> list[str]:
        out = tmp_path / str(len(list(tmp_path.iterdir())))
        assert tbx("--agent", "idle", "--attempts", 1, "--out", out, *argv)[0] == 0
        return [row["task_id"] for row in read_rows(out)]

    assert len(ids("--suite", "bench", "--domains", "hotel")) == 102
    assert set(ids("--tasks", "*/relocation/*", "--suite", "bench")) == set(ids("--tasks", "hotel/relocation/*"))
    (tmp_path / "some.txt").write_text(f"# mine\n{TASKS[0]}\n\n{TASKS[1]}  # and this\n")
    (tmp_path / "some.json").write_text(json.dumps({"tasks": [{"id": TASKS[0]}, TASKS[1]]}))
    for name in ("some.txt", "some.json"):
        assert ids("--suite", tmp_path / name) == TASKS[:2]
    for argv, words in (
        (("--agent", "idle", "--suite", tmp_path / "none.txt"), "unknown suite"),
        (("--agent", "idle", "--model", "m"), "say who plays"),
        ((), "say who plays"),
        (("--model", "/no/such/path"), "no path on this machine"),
        (("--model", "m", "--base-url", "http://me:pw@127.0.0.1:1/v1"), "carries credentials"),
        (("--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--sampling", "seed=3"), "--send-seed"),
        (("--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--context", "stop"), "--context is none"),
        (("--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--api-key-env", "NOT_SET"), "NOT_SET is not set"),
        (("--agent", "idel"), "unknown agent 'idel'"),
    ):
        code, _, err = tbx(*argv, "--tasks", TASKS[0], "--out", tmp_path / "x") if "--suite" not in argv else tbx(*argv)
        assert code == 2 and words in err and "pw" not in err, err


# -- long talks and busy servers


def test_rules_for_long_talks(double: ChatDouble, tbx: Eval, tmp_path: Path) -> None:
    task_id = TASKS[0]
    task, solved = get_task(task_id), turns_of(TASKS[0])
    double.plays(task_id, solved)
    double.keep = True
    fixed = len(task.instructions) + len(json.dumps(task.tool_definitions))
    talk = played(task_id, solved).messages
    size = sum(len(m["content"] or "") for m in talk)
    limit = (fixed + size * 2 // 3) // 4
    argv = ("--model", "m", "--base-url", double.url, "--tasks", task_id, "--attempts", 1, *FAST)
    code, report, _ = tbx(*argv, "--context", f"drop-tool-results:{limit}", "--out", tmp_path / "drop")
    row = read_rows(tmp_path / "drop").row(task_id, 0)
    assert code == 0 and row["outcome"] == "success" and row["messages"] == json.loads(json.dumps(talk))
    assert row["context"] == {"rule": "drop-tool-results", "limit": limit, "dropped": row["context"]["dropped"]}
    assert row["context"]["dropped"] > 0 and report["summary"]["context"]["dropped"] == row["context"]["dropped"]
    last = double.bodies[-1]["messages"]
    assert sum(m["content"] == LEFT_OUT for m in last) == row["context"]["dropped"]
    assert [m["content"] for m in last[1:] if m["role"] != "tool"] == [
        m["content"] for m in talk[: len(last) - 1] if m["role"] != "tool"
    ]
    sent = [sum(len(m["content"] or "") for m in body["messages"][1:]) + fixed for body in double.bodies]
    assert max(sent) <= 4 * limit
    code, _, _ = tbx(*argv, "--context", f"stop:{limit}", "--out", tmp_path / "stop")
    row = read_rows(tmp_path / "stop").row(task_id, 0)
    assert (row["outcome"], row["ended_by"], row["context"]["dropped"]) == ("failure", "limit:context", 0)
    assert row["verdict"] and 0 < row["turns"] < len(solved)


def test_what_is_dropped_is_the_oldest_and_stays_dropped() -> None:
    rng = Random(3)
    for _ in range(200):
        messages: list[Message] = [{"role": "user", "content": "x" * 50}]
        before: set[int] = set()
        rule = ContextRule("drop-tool-results", rng.randrange(200, 900))
        for turn in range(rng.randrange(1, 15)):
            names = range(rng.randrange(1, 3))
            calls = [{"id": f"{turn}{n}", "function": {"name": "look", "arguments": "{}"}} for n in names]
            messages.append({"role": "assistant", "content": "", "tool_calls": calls})
            messages += [{"role": "tool", "content": "r" * rng.randrange(0, 900)} for _ in names]
            view = rule.view(messages, 100)
            gone = {n for n, m in enumerate(view.messages) if m is not messages[n]}
            droppable = [n for n, m in enumerate(messages[: -len(names)]) if len(m["content"]) > len(LEFT_OUT)]
            tools = [n for n in droppable if messages[n]["role"] == "tool"]
            assert gone == set(tools[: len(gone)]) and view.dropped == len(gone) and before <= gone
            size = 100 + sum(len(m["content"]) + 6 * len(m.get("tool_calls", ())) for m in view.messages)
            assert view.fits == (size <= 4 * rule.limit) and (view.fits or len(gone) == len(tools))
            before = gone


def test_a_busy_server_is_left_alone_for_as_long_as_it_says(double: ChatDouble, tbx: Eval, tmp_path: Path) -> None:
    """Nobody asks again before ``Retry-After`` is over, though other attempts had nothing to do with it."""
    for task_id in TASKS:
        double.plays(task_id, turns_of(task_id))
    double.trouble[TASKS[4], 2] = ["429:0.4", "429:0.3", "429:0.2"]
    argv = ("--model", "m", "--base-url", double.url, "--tasks", *TASKS, "--attempts", 1, "--out", tmp_path / "c")
    code, report, _ = tbx(*argv, *FAST, "--concurrency", 12)
    assert code == 0 and report["summary"]["passed"] == 12 and report["summary"]["seconds"]["slowed"] == 3
    waited = {row["task_id"]: row["seconds"]["waiting"] for row in read_rows(tmp_path / "c")}
    assert waited[TASKS[4]] >= 0.9 and sum(seconds >= 0.5 for seconds in waited.values()) >= 8, waited


def test_the_gate() -> None:
    """Never more at a time than its width, nobody while it is held, one at a time when nothing works."""

    async def crowd() -> None:
        gate, out, most, entered = Gate(8, first=0.02), 0, 0, list[float]()

        async def one(work: float) -> None:
            nonlocal out, most
            entered.append(await gate.enter())
            out += 1
            most = max(most, out)
            await asyncio.sleep(work)
            out -= 1
            gate.leave()

        await asyncio.gather(*(one(0.001) for _ in range(40)))
        assert most == 8 and len(entered) == 40
        since = await gate.enter()
        before = time.monotonic()
        gate.busy(since, 0.2)
        gate.busy(since, 0.1)  # was out with the other: neither a new cut nor an earlier end
        gate.leave()
        assert gate.width == 1
        given_up = [asyncio.create_task(one(0.0)) for _ in range(3)]
        await asyncio.sleep(0.01)
        for task in given_up:
            task.cancel()
        entered.clear()
        await asyncio.gather(*(one(0.0) for _ in range(5)), return_exceptions=True)
        assert len(entered) == 5 and min(entered) - before >= 0.2
        for _ in range(200):
            gate.answered()
        assert gate.width == 8
        for _ in range(SUSPECT):
            gate.failed("only one task")
        assert gate.width == 8, "a task that always fails slowed the others"
        for number in range(KINDS_OF_TASK):
            gate.failed(f"task {number}")
        most, held = 0, time.monotonic()
        entered.clear()
        await asyncio.gather(*(one(0.001) for _ in range(4)))
        assert gate.width == 1 and most == 1 and min(entered) - held >= 0.05
        gate.answered()
        assert gate.width == 8

    asyncio.run(crowd())


# -- models beside the agent's


def test_a_customers_model_is_recorded_and_the_campaign_played_again_without_it(tbx: Eval, tmp_path: Path) -> None:
    task_id = "hotel/late_cancellation/0"
    server = ModelDouble(scripted_brain(task_id)).start()
    (tmp_path / "prices.toml").write_text(PRICES)
    user = json.dumps({"kind": "llm", "model": "m", "base_url": server.url})
    argv = ("--agent", "reference", "--tasks", task_id, "--attempts", 3, *FAST, "--prices", tmp_path / "prices.toml")
    try:
        code, report, err = tbx(*argv, "--user", user, "--out", tmp_path / "asked")
    finally:
        server.stop()
    assert (code, err, report["summary"]["passed"]) == (0, "", 3)
    asked = rows_of(tmp_path / "asked")
    price = read_prices(tmp_path / "prices.toml")
    for row in asked.values():
        assert row["tokens"]["agent"] is None and row["tokens"]["user"]["input"] > 0
        assert row["cost"] == {"agent": 0.0, "user": price.cost("m", row["tokens"]["user"]), "judge": 0.0}
        assert 0 < row["seconds"]["user"] <= row["seconds"]["total"]
    manifest = json.loads((tmp_path / "asked" / "campaign.json").read_text())
    assert manifest["user"]["model"] == "m" and "record" not in manifest["user"]
    recorded = json.dumps({"kind": "recorded", "path": str(tmp_path / "asked" / "user.jsonl")})
    code, report, _ = tbx(*argv, "--user", recorded, "--out", tmp_path / "again")
    again = rows_of(tmp_path / "again")
    assert code == 0 and set(again) == set(asked)
    for key, row in again.items():
        assert {**row, "seconds": 0, "tokens": 0, "cost": 0} == {**asked[key], "seconds": 0, "tokens": 0, "cost": 0}


def test_a_busy_customers_model_slows_all_and_fails_none(
    tbx: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it says to wait, which is kept up to an hour (here: 0.4 s), and however little patience it was given."""
    monkeypatch.setattr("tb_envs.evaluation.pacing.LONGEST_HOLD", 0.4)
    monkeypatch.setattr("tb_envs.evaluation.pacing.TOLD_FROM", 0.0)
    monkeypatch.setattr("tb_envs.cli.campaign_bar.LOOK_EVERY", 0.01)
    monkeypatch.setattr("tb_envs.patience.FIRST_WAIT", 0.01)
    task_id = "hotel/late_cancellation/0"
    server = ModelDouble(scripted_brain(task_id)).start()
    server.next_trouble = ["429:900", "500"]
    user = json.dumps({"kind": "llm", "model": "m", "base_url": server.url, "patience": 1})
    argv = ["eval", "--agent", "reference", "--tasks", task_id, "--attempts", "6", *FAST, "--retries", "0"]
    argv += ["--user", user, "--out", str(tmp_path / "c"), "--concurrency", "6"]
    try:
        assert main(argv) == 0
    finally:
        server.stop()
    err = capsys.readouterr().err
    assert "the customer's model: server busy, next request in 0:00 (it said 15:00)" in err
    rows = [row["seconds"] | row for row in read_rows(tmp_path / "c")]
    assert [row["outcome"] for row in rows] == ["success"] * 6, [row["error"] for row in rows]
    assert (sum(row["user_slowed"] for row in rows), sum(row["user_retried"] for row in rows)) == (1, 1)
    assert sum(row["slowed"] + row["retried"] + row["judge_slowed"] for row in rows) == 0
    waits = [row["seconds"]["user"] for row in rows]
    assert sum(wait >= 0.3 for wait in waits) >= 4, f"they did not wait for one another: {waits}"
    code, report, _ = tbx(*argv[1:])
    seconds = report["summary"]["seconds"]
    assert (code, seconds["user_slowed"], seconds["user_retried"], seconds["slowed"]) == (0, 1, 1, 0)


def test_a_busy_judge_slows_all_and_fails_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tb_envs.evaluation.pacing.LONGEST_HOLD", 0.1)
    task = with_criteria(TOLD, KEPT)
    for name in ("tb_envs.evaluation.play", "tb_envs.evaluation.runner"):
        monkeypatch.setattr(f"{name}.get_task", lambda task_id, knobs=None: task)
    server = ModelDouble([answer(True, False)]).start()
    server.next_trouble = ["429:900", "429:900"]
    settings = Settings(judge={"model": "j", "base_url": server.url, "patience": 0})
    try:
        play_campaign(tmp_path / "c", "reference", [task.id], attempts=2, settings=settings, concurrency=1)
    finally:
        server.stop()
    rows = list(read_rows(tmp_path / "c"))
    assert [row["outcome"] for row in rows] == ["success"] * 2 and server.asked == 3, "the second has the same talk"
    assert [row["seconds"]["judge_slowed"] for row in rows] == [2, 0] and rows[0]["seconds"]["judge"] >= 0.2


def test_tasks_that_cannot_be_judged_are_left_out_and_counted(
    tbx: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Task, "needs_judge", property(lambda task: task.id == TASKS[0]))
    argv = ("--agent", "idle", "--attempts", 1, "--out", tmp_path / "c")
    code, report, _ = tbx(*argv, "--tasks", *TASKS[:3])
    assert code == 0 and report["summary"]["excluded"] == {"needs a judge, and none is given": 1}
    assert {row["task_id"] for row in read_rows(tmp_path / "c")} == set(TASKS[1:3])
    code, _, err = tbx(*argv, "--tasks", TASKS[0])
    assert code == 2 and "none of the 1 tasks can be played: needs a judge" in err


def test_the_benchmark_measures_what_it_says(tmp_path: Path) -> None:
    script = Path(__file__).parent.parent / "benchmarks" / "campaign.py"
    options = ("--turns", "240", "--concurrency", "12", "--think", "0.05", "--no-check", "--json")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script), *options], capture_output=True, text=True, timeout=180, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["lost_attempts"] == 0 and found["turns"] > 100
    assert 0 < found["overhead_ms_median"] <= found["overhead_ms_p95"]
    assert found["wall_s"] * 1000 * 12 / found["turns"] >= 40  # a turn cannot take less than the server's time
