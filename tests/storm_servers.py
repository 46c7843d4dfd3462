"""The two servers of the storm, each in a process of its own, so that they can be killed: an engine's and a customer's.

    python tests/storm_servers.py engine PORT MODEL TABLE      a vLLM double that answers from a table
    python tests/storm_servers.py customer PORT TASK …         an OpenAI-compatible double that speaks as the scripts do

The customer's takes two words of its own: ``POST /v1/outage`` begins one with the next request, and ``POST /v1/told``
says what it counted. Refuses what is not in its table: nobody here makes anything up.
"""

from __future__ import annotations

import json
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from chat_double import _http
from llm_double import ModelDouble, scripted_brain
from vllm_double import VllmDouble

from tb_envs.task import get_task
from tb_envs.users.llm import opening_of
from tb_envs.users.prompt import briefing

Table = dict[tuple[int, ...], list[list[int]]]
"""What may be written after a prompt."""


def chosen(table: Table, prompt: Sequence[int], seed: int) -> list[int]:
    """The policy: one of the table's turns after this prompt, by the turn's seed."""
    turns = table[tuple(prompt)]
    return turns[seed % len(turns)]


class Written(VllmDouble):
    """Turns from a table, as sure choices; what it is asked to show its mode and its health, its model writes."""

    choices: Table

    def complete(self, body: dict[str, Any], kind: str | None) -> dict[str, Any]:
        prompt = tuple(body["prompt"])
        if prompt not in self.choices:
            return super().complete(body, kind) if len(prompt) == 4 else {"choices": []}
        ids = chosen(self.choices, prompt, body["seed"])
        given = {"token_logprobs": [0.0] * len(ids), "tokens": [f"token_id:{token}" for token in ids]}
        choice = {"index": 0, "text": "", "finish_reason": "stop", "token_ids": ids, "prompt_token_ids": body["prompt"]}
        with self.lock:
            assert not self.stale, "asked for a turn with prefixes of old weights in the cache"
            self.bodies.clear()
        return {"model": body["model"], "choices": [{**choice, "logprobs": given}]}


class Customers(ModelDouble):
    """Speaks for the customers of some tasks, and is away for a minute when it is told to be."""

    MINUTE = 60.0

    def __init__(self, tasks: Sequence[str]) -> None:
        super().__init__(self._speak)
        self.refused, self.answered, self.armed = 0, 0, False
        self.began: float | None = None  # when the outage's first request was refused
        self.away = 0.0  # seconds from the first refusal to the last
        self._brains: dict[str, Any] = {}
        for task_id in tasks:
            task = get_task(task_id)
            told = briefing(task.scenario.customer, opening_of(task).text)
            assert told not in self._brains, f"{task_id} is briefed like another"
            self._brains[told] = scripted_brain(task_id)
        self._remembered = lru_cache(maxsize=None)(self._answer)

    def _speak(self, messages: list[dict[str, str]]) -> str:
        return self._remembered(tuple((message["role"], message["content"]) for message in messages))

    def _answer(self, talk: tuple[tuple[str, str], ...]) -> str:
        return self._brains[talk[0][1]]([{"role": role, "content": content} for role, content in talk])

    async def _reply(self, path: str, body: dict[str, Any], began: float) -> bytes | None:
        if path == "/v1/outage":
            self.armed = True
        if path in ("/v1/outage", "/v1/told"):
            told = {"refused": self.refused, "answered": self.answered, "away": self.away}
            return _http(200, json.dumps(told).encode())
        if self.armed:
            now = time.monotonic()
            self.began = now if self.began is None else self.began
            self.refused, self.away = self.refused + 1, now - self.began
            self.armed = self.away < self.MINUTE  # the last one refused comes a whole minute after the first, or later
            return _http(500, {"error": {"message": "the customers' model is out of memory"}})
        self.answered += 1
        reply = await super()._reply(path, body, began)
        self.bodies.clear()
        return reply


# -- from the test's side


class Process:
    """One of them, from outside."""

    def __init__(self, *arguments: object) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._words = [str(argument) for argument in (arguments[0], self.port, *arguments[1:])]
        self.starts = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin; whoever asks before it listens is turned away."""
        self.starts += 1
        self._process = subprocess.Popen([sys.executable, __file__, *self._words])

    def kill(self) -> None:
        """As a machine that goes: no word of farewell."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def wait(self) -> None:
        """Until it listens."""
        deadline = time.monotonic() + 60
        while self._process.poll() is None and time.monotonic() < deadline:
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", self.port)):
                    return
            time.sleep(0.05)
        raise AssertionError(f"{self._words[0]} does not listen")

    def tell(self, word: str) -> dict[str, Any]:
        """One of the customer's two words."""
        request = urllib.request.Request(f"{self.url}/v1/{word}", b"{}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())


def main() -> None:
    """Serve until killed."""
    kind, port, *rest = sys.argv[1:]
    if kind == "engine":
        from transformers import AutoModelForCausalLM

        Written.choices = pickle.loads(Path(rest[1]).read_bytes())
        Written(AutoModelForCausalLM.from_pretrained(rest[0]), positions=8192, port=int(port))
    else:
        Customers(rest).start(int(port))
    threading.Event().wait()


if __name__ == "__main__":
    main()
