"""A model behind an OpenAI-compatible endpoint as the agent: chat completions with tools, one request a turn.

Requests pass a `Gate` that all attempts share, so a busy server slows all of them and fails none. What fails for a
while is asked again (`TRIES`); what stays broken is `AgentBroke`. A content filter's refusal, a model's own (`refusal`
in place of words) and a talk that the model cannot hold end the attempt as its own doing. Nothing is sent that was not
asked for: no temperature, no seed. Thoughts that a server leaves in the text (`<think>…</think>`) are not said to the
customer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tb_envs.actions import Turn, parse_action
from tb_envs.authoring.rng import Rng
from tb_envs.endpoints import Endpoint
from tb_envs.evaluation.context import Message
from tb_envs.evaluation.meter import Meter
from tb_envs.evaluation.pacing import LONGEST, Breaker, Gate
from tb_envs.evaluation.players import AgentBroke, Answer
from tb_envs.openai_client import Answer as Completion
from tb_envs.openai_client import RequestFailed, ask, close_clients, need_openai
from tb_envs.sending import Prepared
from tb_envs.thoughts import spoken

PART = "requests to the agent's model"
"""What a breaker watches here."""
USUAL = ("", "stop", "tool_calls", "function_call")
"""Reasons for a turn's end that say nothing."""
CUT = " Your turn was cut off by the limit of tokens."
"""Said of a turn that nobody can read because of it."""


class ChatModel:
    """A model behind an endpoint.

    Args:
        endpoint: where it is; its `retries` are how often a request is sent again after a failure.
        gate: that its requests pass.
        breaker: that hears of failures and answers.
        first_wait: seconds before a request is sent again, doubled each time.
        send_seed: send a ``seed`` with each request, for servers that sample reproducibly.

    Raises:
        UsageError: the package `openai` is not installed.
    """

    def __init__(
        self, endpoint: Endpoint, gate: Gate, breaker: Breaker, *, first_wait: float = 0.5, send_seed: bool = False
    ) -> None:
        need_openai()
        self.endpoint, self.gate, self.breaker = endpoint, gate, breaker
        self._first_wait, self._send_seed = first_wait, send_seed
        self._tools: dict[int, tuple[Sequence[Mapping[str, Any]], Prepared]] = {}

    async def act(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        instructions: str,
        *,
        seed: int,
        meter: Meter,
    ) -> Answer:
        """The model's next turn; `AgentBroke` when there is none to be had."""
        talk = [_system(instructions), *map(_sent, messages)]
        body: dict[str, Any] = {"messages": talk, "tools": self._prepared(tools)}
        if self._send_seed:
            body["seed"] = seed
        tries, rng = 0, Rng("backoff", meter.task_id, seed)
        while True:
            began = await self._enter(meter)
            try:
                with meter.in_flight():
                    completion = await ask(self.endpoint, body)
                self._worked()
                meter.answered(completion.tokens)
                return _answer(completion)
            except RequestFailed as failed:
                if failed.tokens is not None:
                    meter.answered(failed.tokens)
                if (ends := self._ended_by(failed)) is not None:
                    return ends
                if failed.kind == "busy":
                    meter.slowed += 1
                    self.gate.busy(began, failed.retry_after)
                    continue
                self.breaker.failed(PART, meter.task_id, str(failed))
                if failed.kind == "down":
                    self.gate.failed(meter.task_id, failed.retry_after)
                if failed.kind == "wrong" or tries >= self.endpoint.retries:
                    raise AgentBroke(str(failed)) from None
            finally:
                self.gate.leave()
            wait = min(LONGEST, self._first_wait * 2**tries) * (0.5 + rng.between(0, 500) / 1000)
            tries += 1
            meter.sent_again()
            meter.waiting += wait
            await asyncio.sleep(wait)

    def _prepared(self, tools: Sequence[Mapping[str, Any]]) -> Prepared:
        """Tools as they are sent: encoded once for all attempts that are shown the same object, which is kept here."""
        found = self._tools.get(id(tools))
        if found is None:
            found = self._tools[id(tools)] = tools, Prepared(tools)
        return found[1]

    async def _enter(self, meter: Meter) -> float:
        loop = asyncio.get_running_loop()
        before = loop.time()
        try:
            return await self.gate.enter()
        finally:
            meter.waiting += loop.time() - before

    def _worked(self) -> None:
        self.gate.answered()
        self.breaker.fine(PART)

    def _ended_by(self, failed: RequestFailed) -> Answer | None:
        """The end of the attempt that a failed request means, if it is one; the endpoint itself works then."""
        if failed.kind != "refused" and not failed.too_long:
            return None
        self._worked()
        return Answer(ends="refused" if failed.kind == "refused" else "limit:context", written=str(failed))

    def notice(self) -> str:
        """Why nothing is asked just now; empty where it is."""
        return self.gate.notice()

    async def close(self) -> None:
        """Close the connections."""
        await close_clients()


@lru_cache(256)
def _system(instructions: str) -> Prepared:
    return Prepared({"role": "system", "content": instructions})


def _sent(message: Message) -> dict[str, Any]:
    """A message with the keys that the protocol knows; some servers refuse others."""
    return {key: value for key, value in message.items() if key != "name"}


def _answer(completion: Completion) -> Answer:
    """A completion as a turn: its calls as the model wrote them, else its text."""
    calls = completion.message.get("tool_calls")
    text = spoken(completion.text)
    finish = "" if completion.finish in USUAL else completion.finish[:40]
    if completion.refusal:
        return Answer(ends="refused", written=completion.refusal, finish=finish, thought=completion.reasoning)
    action = {"content": text, "tool_calls": calls} if calls else text
    written = json.dumps(action, ensure_ascii=False) if calls else completion.text
    read = _cut(parse_action(action)) if finish == "length" else action
    return Answer(read, written=written, finish=finish, thought=completion.reasoning)


def _cut(turn: Turn) -> Turn:
    """A turn that was cut off; what of it cannot be read is said to be so because of that."""
    calls = tuple(call._replace(problem=call.problem + CUT) if call.problem else call for call in turn.calls)
    return turn._replace(problem=turn.problem and turn.problem + CUT, calls=calls)
