"""Servers of models that answer strangely: each is taken for what it is, said in words, and kept in the row."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_double import ChatDouble, Message, _completion, _http, called, said
from llm_double import ModelDouble

from tb_envs import sending
from tb_envs.actions import parse_action
from tb_envs.cli import campaign_bar, main
from tb_envs.endpoints import Endpoint
from tb_envs.episode import Episode
from tb_envs.errors import UsageError
from tb_envs.evaluation.chat import CUT
from tb_envs.evaluation.pacing import LONGEST_HOLD, Gate
from tb_envs.evaluation.report.episodes import steps
from tb_envs.evaluation.rows import read_rows
from tb_envs.evaluation.running import Running
from tb_envs.openai_client import Answer, RequestFailed, ask, close_clients
from tb_envs.play import play
from tb_envs.settings import Settings
from tb_envs.thoughts import spoken

TASK = "hotel/relocation/0"
HALF = "\ud83d"
TOO_LONG = [
    "Input is too long for requested model.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "Requested token count exceeds the model's maximum context length of 4096 tokens.",
    "Your input exceeds the context window of this model.",
    "the request exceeds the available context size, try increasing it",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Please reduce the length of the messages or completion.",
]


class Odd(ChatDouble):
    """Answers the first turn of each talk with `first`, a whole response or a completion, and then ends the talk."""

    first: Any = b""

    def start(self) -> Odd:
        super().start()
        return self

    async def _reply(self, path: str, body: dict[str, Any], began: float) -> bytes | None:
        self.asked += 1
        self.bodies.append(body)
        if any(message["role"] == "assistant" for message in body["messages"]):
            return _http(200, _completion(body, called("end_conversation", '{"summary": "Done."}')))
        return self.first if isinstance(self.first, bytes) else _http(200, self.first)


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[Odd]:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-tests")
    monkeypatch.setattr(sys, "path", list(sys.path))
    server = Odd().start()
    yield server
    server.stop()


def chosen(message: Message, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish, **more}]}


def asked(base_url: str, **body: Any) -> Answer:
    async def one() -> Answer:
        try:
            return await ask(
                Endpoint("m", base_url, deadline=10.0), {"messages": [{"role": "user", "content": "Hello."}], **body}
            )
        finally:
            await close_clients()

    return asyncio.run(one())


def failed(base_url: str, **body: Any) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        asked(base_url, **body)
    return caught.value


def row_of(odd: Odd, folder: Path, first: Any) -> dict[str, Any]:
    odd.first = first
    argv = ["eval", "--model", "m", "--base-url", odd.url, "--tasks", TASK, "--attempts", "1", "--out", str(folder)]
    assert main([*argv, "--backoff", "0.005", "--request-retries", "1", "--retries", "0", "--json"]) == 0
    (row,) = read_rows(folder)
    return row


@pytest.mark.parametrize(
    "message",
    [
        said(f"Hi {HALF} there"),
        said('{"tool_calls": [{"na ' + HALF),
        called("get_booking", '{"booking_id": "' + HALF),
        called("get_booking", '{"booking_id": "\\ud83d"}'),
        called(f"get_{HALF}", '{"\\ud83d": "x"}'),
        {**said(HALF), "tool_calls": {"a": HALF}},
    ],
)
def test_half_characters_end_no_campaign(odd: Odd, tmp_path: Path, message: Message) -> None:
    row = row_of(odd, tmp_path / "c", chosen(message))
    assert row["ended_by"] == "agent", row["error"]
    assert "\\ud83d" not in json.dumps([row, odd.bodies]), "it is neither kept nor sent back"


def test_whole_characters_stay() -> None:
    turn = parse_action(called("get_booking", json.dumps({"guest": "👍 é"})))
    assert turn.calls[0].arguments == {"guest": "👍 é"} and json.loads(turn.calls[0].written) == {"guest": "👍 é"}


def test_a_request_that_is_no_json_is_wrong(odd: Odd) -> None:
    assert failed(odd.url, temperature=float("nan")).kind == "wrong" and not odd.asked


@pytest.mark.parametrize("words", TOO_LONG)
def test_what_servers_say_of_too_long_talks(odd: Odd, words: str) -> None:
    odd.first = _http(400, {"error": {"message": words}})
    assert failed(odd.url).too_long


def test_too_long_by_code_and_status(odd: Odd, tmp_path: Path) -> None:
    odd.first = _http(400, {"error": {"message": "no", "code": "context_length_exceeded"}})
    assert failed(odd.url).too_long
    odd.first = _http(413, {"error": {"message": "Limit 6000 tokens per minute (TPM), requested 10000"}})
    assert not failed(odd.url).too_long
    odd.first = _http(400, {"error": {"message": "unknown field: tools"}})
    assert not failed(odd.url).too_long
    row = row_of(odd, tmp_path / "c", _http(413, b"<html>413 Request Entity Too Large</html>"))
    assert (row["outcome"], row["ended_by"]) == ("failure", "limit:context")
    assert row["wrote"][0]["message"] == len(row["messages"]) and "413" in row["wrote"][0]["text"]


@pytest.mark.parametrize(
    "body",
    [
        chosen(said(""), "error", error={"code": 502, "message": "Upstream died"}),
        chosen(said("I will now ca"), None, error={"message": "Upstream died"}),
        chosen(said(""), {"type": "abort", "message": "Upstream died"}),
        chosen(said("I will now ca"), "abort"),
        {**chosen(said("I will now ca")), "error": {"message": "Upstream died"}},
    ],
)
def test_a_server_that_breaks_inside_an_answer_is_down(odd: Odd, body: dict[str, Any]) -> None:
    odd.first = body
    found = failed(odd.url)
    assert found.kind == "down" and ("Upstream died" in str(found) or "abort" in str(found))


def test_cut_turns_say_so(odd: Odd, tmp_path: Path) -> None:
    row = row_of(odd, tmp_path / "said", chosen(said("I was going to"), "length"))
    assert row["finish"] == [{"message": 1, "finish": "length"}] and not row["wrote"]
    assert row["messages"][1]["content"] == "I was going to"
    cut = chosen({**called("get_booking", '{"booking_id": "BK-1'), "reasoning_content": "Hm. " * 5000}, "length")
    row = row_of(odd, tmp_path / "called", cut)
    assert CUT.strip() in row["messages"][2]["content"]
    assert row["wrote"][0]["thought"].startswith("Hm.") and len(row["wrote"][0]["thought"]) == 4000
    row = row_of(odd, tmp_path / "thought", chosen({**said(None), "reasoning_content": "I think"}, "length"))
    assert CUT.strip() in row["messages"][2]["content"] and row["wrote"][0]["thought"] == "I think"
    row = row_of(odd, tmp_path / "whole", chosen(said(None)))
    assert not row["finish"] and CUT.strip() not in row["messages"][2]["content"]


def test_a_model_that_only_refuses_has_refused(odd: Odd, tmp_path: Path) -> None:
    row = row_of(odd, tmp_path / "c", chosen({**said(None), "refusal": "I can't help with that."}))
    assert (row["outcome"], row["ended_by"], row["malformed"]) == ("failure", "refused", 0)
    assert row["wrote"] == [{"message": 1, "text": "I can't help with that."}]
    assert steps(row)[-1] == {"k": "notice", "t": "I can't help with that."}, "the report shows it"
    row = row_of(odd, tmp_path / "says", chosen({**said("Hello."), "refusal": "No."}))
    assert row["ended_by"] == "agent", "it said something"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<think>hm</think>Hello", "Hello"),
        ("secret</think>Hello", "Hello"),
        ("<thinking>a</thinking>\n<think>b</think>Hello", "Hello"),
        ("<REASONING>hm", ""),
        ("Hello <think>hm</think>", "Hello <think>hm</think>"),
    ],
)
def test_thoughts_are_not_spoken(text: str, words: str) -> None:
    assert spoken(text) == words


def test_a_customers_thoughts_are_not_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ["My secret is a half.</think>I see.", "I see <think>hm</think>.", f"I see {HALF}."]
    double = ModelDouble(answers).start()

    class Talker:
        def start(self, episode: Episode, observation: str) -> None: ...

        def act(self, observation: str) -> str:
            return (
                "One moment, please." if double.asked < 3 else json.dumps(called("end_conversation", '{"summary": ""}'))
            )

    try:
        settings = Settings(user={"kind": "llm", "model": "m", "base_url": double.url})
        episode = play(TASK, Talker(), episode=Episode(settings))
    finally:
        double.stop()
    assert [m["content"] for m in episode.messages if m["role"] == "user"][1:3] == ["I see.", "I see ?."]
    assert [event.data["faults"] for event in episode.log if event.kind == "heard" and "faults" in event.data] == [
        ("role_break",)
    ]


def test_a_long_wait_is_bounded_and_told() -> None:
    async def hold(seconds: float) -> str:
        gate = Gate(2)
        began = await gate.enter()
        gate.busy(began, seconds)
        gate.leave()
        return gate.notice()

    assert asyncio.run(hold(0.5)) == ""
    assert asyncio.run(hold(125.0)) == "server busy, next request in 2:05"
    assert asyncio.run(hold(86400.0)) == "server busy, next request in 1:00:00 (it said 24:00:00)"
    assert LONGEST_HOLD == 3600.0


def test_waiting_is_told_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(campaign_bar, "LOOK_EVERY", 0.01)
    running = Running(3)
    asked = []

    def notice() -> str:
        asked.append(1)
        return "server busy, next request in 2:05"

    running.notice = notice
    with campaign_bar.campaign_bar(running, "m"):
        until = time.monotonic() + 10
        while len(asked) < 3 and time.monotonic() < until:
            time.sleep(0.01)
    assert capsys.readouterr().err == "m: 0/3 · server busy, next request in 2:05\n", "once a minute"
    assert running.show().startswith("server busy, next request in 2:05")


def test_an_endless_answer_is_given_up(odd: Odd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "LARGEST", 2**20)
    odd.first = chosen(said("a" * 2**20))
    found = failed(odd.url)
    assert found.kind == "down" and "longer than 1,024 KiB" in str(found)


@pytest.mark.parametrize("amount", [-1.0, float("nan"), float("inf"), "2", True])
def test_prices_are_numbers_from_0(amount: Any) -> None:
    with pytest.raises(UsageError, match="price: output"):
        Endpoint("m", "http://127.0.0.1:1/v1", price={"input": 1.0, "cached_input": 1.0, "output": amount})


def test_wrong_addresses_say_what_would_be_right(odd: Odd) -> None:
    odd.first = _http(307, b"", {"Location": "http://127.0.0.1:9/v1/chat/completions"})
    assert "http://127.0.0.1:9/v1/chat/completions" in str(failed(odd.url))
    odd.first = _http(404, b"<h1>404 Not Found</h1>")
    assert f"is {odd.url} meant?" in str(failed(odd.url.removesuffix("/v1")))
    assert "meant?" not in str(failed(odd.url))


def test_the_share_of_broken_customers_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user = {"kind": "llm", "model": "u", "base_url": "http://127.0.0.1:9/v1", "retries": 0}
    argv = [
        "eval",
        "--agent",
        "talker",
        "--tasks",
        TASK,
        "--attempts",
        "1",
        "--user",
        json.dumps(user),
        "--out",
        str(tmp_path / "c"),
    ]
    assert main([*argv, "--retries", "0", "--backoff", "0.005"]) == 0
    assert "broke 100.0 % of all 1 attempts (error:user)" in " ".join(capsys.readouterr().out.split())
