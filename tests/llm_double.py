"""The chat server's double, answering as a customer's or a judge's model: words by a function of what it is asked.

The function gets the request's messages and returns the answer's words. Trouble is a list of words of `chat_double`,
one used up by each request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from chat_double import ChatDouble, _completion, _http, _trouble

from tb_envs.task import get_task
from tb_envs.users.prompt import HANG_UP
from tb_envs.users.scripted import ScriptedUser

Writes = Callable[[list[dict[str, str]]], str]


def scripted_brain(task_id: str) -> Any:
    """What the scripted customer of a task would say to the agent's words in a request, as a model's answer."""

    def writes(messages: list[dict[str, str]]) -> str:
        task = get_task(task_id)
        user = ScriptedUser(task.scenario.customer, task.domain.vocabulary, task.user_seed)
        user.opening()
        said = [m["content"] for m in messages[2:] if m["role"] == "user"]
        reply = [user.reply(text) for text in said][-1]
        return f"{reply.text} {HANG_UP}" if reply.leaves else reply.text

    return writes


class ModelDouble(ChatDouble):
    """A server that is up until `stop`.

    Args:
        writes: the answer to a request's messages; a list is used up from its front, its last word stays.
        think: seconds that each answer takes.
    """

    def __init__(self, writes: Writes | Sequence[str], think: float = 0.0) -> None:
        super().__init__(think=think)
        self.writes, self.keep = writes, True
        self.next_trouble: list[str] = []
        self.finish = "stop"
        self.usage = True
        self.refused = ""
        """A field of requests that it answers with 400."""

    def start(self, port: int = 0) -> ModelDouble:
        super().start(port)
        return self

    def _written(self, messages: list[dict[str, str]]) -> str:
        if callable(self.writes):
            return self.writes(messages)
        words = list(self.writes)
        self.writes = words[1:] or words
        return words[0]

    async def _reply(self, path: str, body: dict[str, Any], began: float) -> bytes | None:
        self.asked += 1
        self.bodies.append(body)
        kind, _, number = (self.next_trouble.pop(0) if self.next_trouble else "").partition(":")
        if kind == "slow":
            await asyncio.sleep(float(number))
        elif kind:
            return _trouble(kind, number, self.asked)
        if self.refused in body:
            return _http(400, {"error": {"message": f"Unrecognized request argument supplied: {self.refused}"}})
        if self.think:
            await asyncio.sleep(self.think)
        data = _completion(body, {"role": "assistant", "content": self._written(body["messages"])})
        data["choices"][0]["finish_reason"] = self.finish
        if not self.usage:
            del data["usage"]
        return _http(200, json.dumps(data).encode())
