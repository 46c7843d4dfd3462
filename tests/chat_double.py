"""An OpenAI-compatible server's double: real HTTP on a real port, scripted turns, and trouble on request.

It recognises the task by the instructions and the customer's first words, and the turn by the assistant's messages so
far, so it needs no memory of a talk: a campaign that is killed and goes on is answered the same. An attempt is told by
the request's ``seed``, where it is sent. Trouble is a list by (task, turn) that is used up by visits of one attempt:
``429:SECONDS``, ``500``, ``401``, ``drop`` (the connection), ``cut`` (in the middle of the answer), ``empty`` (no
choices), ``null`` (no message), ``garbage`` (no JSON), ``slow:SECONDS``, ``filter``, ``refuse`` (400 by a content
filter), ``long`` (400, context); a word with ``!`` at its end happens at every visit.

    python tests/chat_double.py --tasks hotel/relocation/0 --think 0.5     in a process of its own, playing references
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tb_envs.actions import parse_action
from tb_envs.agents import make_agent, script_agent
from tb_envs.authoring.rng import stable_seed
from tb_envs.episode import Episode, drive
from tb_envs.task import get_task

Message = dict[str, Any]
SEEDS = 0x7FFF_FFFF
MOST_TURNS = 70


def message_of(action: Any, turn: int) -> Message:
    """An action as the assistant's message that a server sends."""
    read = parse_action(action)
    assert not read.problem, read.problem
    message: Message = {"role": "assistant", "content": read.content or None}
    if read.calls:
        message["tool_calls"] = [
            {"id": f"call_{turn}_{n}", "type": "function", "function": {"name": call.name, "arguments": call.written}}
            for n, call in enumerate(read.calls)
        ]
    return message


def turns_of(task_id: str, steps: Sequence[Any] | None = None) -> list[Message]:
    """The turns of the reference solution, or of a list of steps, as messages: played once, here."""
    agent, episode = script_agent(steps) if steps is not None else make_agent("reference"), Episode()
    observation = drive(episode.reset(task_id))
    agent.start(episode, observation)
    turns: list[Message] = []
    while not episode.over:
        action = agent.act(observation)
        turns.append(message_of(action, len(turns)))
        observation = drive(episode.act(action))
    episode.close()
    return turns


def called(name: str, arguments: str, turn: int = 99) -> Message:
    """A message that calls one tool, with arguments as they are written here."""
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": f"bad_{turn}", "function": function}]}


def said(text: str | None) -> Message:
    """A message of words."""
    return {"role": "assistant", "content": text}


class ChatDouble:
    """A server that is up until `stop`.

    Args:
        seed: of the campaign that will ask, to know its attempts by.
        think: seconds that an answer takes, half to one and a half of it; its message then says how long it ``took``.
    """

    def __init__(self, seed: int = 0, think: float = 0.0) -> None:
        self.seed, self.think = seed, think
        self.turns: dict[tuple[str, int], list[Message]] = {}
        """By task and attempt; attempt -1 for those that are not listed."""
        self.trouble: dict[tuple[str, int], list[str]] = {}
        self.broken = ""
        """An answer to everything: a word of trouble."""
        self.seen: Counter[str] = Counter()
        self.visits: Counter[tuple[str, int, int]] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keep = False
        self.keys: set[str] = set()
        self.asked = self.out = self.most_out = 0
        self.on_request: Callable[[int], None] = lambda number: None
        self._tasks: dict[tuple[str, str], str] = {}
        self._seeds: dict[int, tuple[str, int]] = {}
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None

    def plays(self, task_id: str, turns: Sequence[Message], attempt: int = -1, attempts: int = 0) -> None:
        """Answer at this task with these turns; with `attempts`, know that many attempts by their seeds."""
        episode = Episode()
        opening = drive(episode.reset(task_id))
        key = episode.instructions, opening
        episode.close()
        assert self._tasks.setdefault(key, task_id) == task_id, f"{task_id} begins like {self._tasks[key]}"
        self.turns[task_id, attempt] = list(turns)
        for number in range(attempts):
            base = stable_seed(self.seed, task_id, number)
            self._seeds |= {(base + turn) & SEEDS: (task_id, number) for turn in range(1, MOST_TURNS)}

    # -- life

    def start(self, port: int = 0) -> ChatDouble:
        """Serve from a thread of its own."""
        self._server = self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", port, backlog=1024))
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def stop(self) -> None:
        """Close the port and every connection."""
        assert self._thread is not None
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._writers)

    def hang_up(self) -> None:
        """Close those that are open and stay up."""
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()

    async def _hang_up(self) -> None:
        for writer in self._writers:
            writer.close()
        while self._writers:
            await asyncio.sleep(0)

    async def _close(self) -> None:
        self._server.close()
        talks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in talks:
            task.cancel()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*talks, return_exceptions=True)

    # -- HTTP

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                began = time.perf_counter()  # before the body is here and read: that is the server's time
                fields = {
                    name.lower(): value for name, _, value in (line.partition(": ") for line in head.split("\r\n"))
                }
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                self.keys.add(fields.get("authorization", ""))
                self.out += 1
                self.most_out = max(self.most_out, self.out)
                try:
                    reply = await self._reply(head.split(" ")[1], json.loads(body), began)
                finally:
                    self.out -= 1
                if reply is None:
                    writer.transport.abort()
                    return
                writer.write(reply)
                if reply.endswith(b"\x00"):  # cut off in the middle
                    writer.close()
                    return
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # cancelled by `stop` alone; a stream's own callback would print the traceback of a task that says so
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _reply(self, path: str, body: dict[str, Any], began: float) -> bytes | None:
        self.seen[path] += 1
        self.asked += 1
        self.on_request(self.asked)
        if self.keep:
            self.bodies.append(body)
        messages = body["messages"]
        task_id = self._tasks.get((messages[0]["content"], messages[1]["content"]), "")
        turn = sum(message["role"] == "assistant" for message in messages)
        attempt = self._seeds.get(body.get("seed", -1), (task_id, -1))[1]
        word = self.broken or self._trouble(task_id, attempt, turn)
        kind, _, number_ = word.partition(":")
        if kind:
            self.seen[kind] += 1
        if kind == "slow":
            await asyncio.sleep(float(number_))
        elif kind:
            return _trouble(kind, number_, self.seen[kind])
        turns = self.turns.get((task_id, attempt)) or self.turns.get((task_id, -1))
        if turns is None:
            return _http(404, {"error": {"message": f"no script for {messages[1]['content'][:60]!r}"}})
        message = turns[turn] if turn < len(turns) else called("end_conversation", '{"summary": "Done."}', turn)
        if self.think:  # spread, so that talks that began together do not stay in step
            think = self.think * (0.5 + self.asked * 0.618034 % 1)
            await asyncio.sleep(max(0.0, think - (time.perf_counter() - began)))
            message = {**message, "took": time.perf_counter() - began}
        return _http(200, _completion(body, message))

    def _trouble(self, task_id: str, attempt: int, turn: int) -> str:
        words = self.trouble.get((task_id, turn), [])
        if not words:
            return ""
        visit = self.visits[task_id, attempt, turn]
        self.visits[task_id, attempt, turn] += 1
        word = words[min(visit, len(words) - 1)]
        if word.endswith("!"):
            return word[:-1]
        return word if visit < len(words) else ""


def usage(body: dict[str, Any], message: Message) -> dict[str, Any]:
    """Tokens by what was sent and written: one for four characters; the instructions count as cached."""
    read = sum(len(m.get("content") or "") + len(json.dumps(m.get("tool_calls") or "")) for m in body["messages"])
    written = len(json.dumps(message))
    return {
        "prompt_tokens": read // 4,
        "completion_tokens": written // 4,
        "prompt_tokens_details": {"cached_tokens": len(body["messages"][0]["content"]) // 4},
        "completion_tokens_details": {"reasoning_tokens": written // 40},
    }


def _completion(body: dict[str, Any], message: Message) -> dict[str, Any]:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return {"object": "chat.completion", "model": body["model"], "choices": choices, "usage": usage(body, message)}


def _trouble(kind: str, number: str, nth: int) -> bytes | None:
    match kind:
        case "429":
            return _http(429, {"error": {"message": "slow down"}}, {"Retry-After": number} if number else {})
        case "500" | "401" | "503":
            words = {"500": "CUDA out of memory on rank 3", "401": "no such key: sk-abcdef0123456789", "503": "loading"}
            return _http(int(kind), {"error": {"message": words[kind]}})
        case "drop":
            return None
        case "cut":
            return _http(200, b'{"choices": [{"message": {"role"' + b" " * 500)[:-200] + b"\x00"
        case "empty":
            return _http(200, {"object": "chat.completion", "choices": []})
        case "null":
            return _http(200, {"choices": [{"index": 0, "message": None, "finish_reason": "stop"}]})
        case "garbage":
            return _http(200, b"<html>upstream error</html>")
        case "filter":
            choices = [{"index": 0, "message": said(None), "finish_reason": "content_filter"}]
            return _http(200, {"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 0}})
        case "refuse":
            return _http(400, {"error": {"message": "held back", "code": "content_filter"}})
        case "long":
            words = "This model's maximum context length is 4096 tokens."
            return _http(400, {"error": {"message": words, "code": "context_length_exceeded"}})
    raise AssertionError(f"no such trouble: {kind} ({nth})")


def _http(status: int, body: Any, headers: dict[str, str] | None = None) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Said", "Content-Type: application/json", f"Content-Length: {len(data)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def main() -> None:
    """Serve references until the process ends; prints the address."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", nargs="+", required=True)
    parser.add_argument("--think", type=float, default=0.0)
    options = parser.parse_args()
    double = ChatDouble(think=options.think)
    for task_id in options.tasks:
        double.plays(get_task(task_id).id, turns_of(task_id))
    double.start()
    print(double.url, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
