"""A server's sessions: one is one episode, or one backend whose episode is the client's. Knows nothing of HTTP or MCP.

`Session.call` is all that an agent reaches. Everything else of a session is for the control plane. What is said to the
customer is a turn; a call is none, since nobody here knows which calls one answer of a model held: calls have a limit
of their own. Calls of a session run one after the other; an answer that was lost is given again by its key, and nothing
is done twice.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from tb_envs.actions import ToolCall, Turn
from tb_envs.authoring.toolset import Tool, make_tool
from tb_envs.authoring.values import Json, Text
from tb_envs.episode import Episode
from tb_envs.errors import BackendError, ToolError
from tb_envs.mcp.alarm import Timed
from tb_envs.mcp.metrics import Metrics
from tb_envs.session.backend import Backend, ToolResult, as_text, error_result
from tb_envs.session.local import LocalBackend
from tb_envs.settings import Settings
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange
from tb_envs.task import Task
from tb_envs.trace import episode_record

T = TypeVar("T")
REMEMBERED = 64
"""Answers that a session can give again, the last ones."""
SAY = "say_to_customer"
OVER = "The conversation is over; this call was not carried out."


def _customer_tool() -> Tool:
    def say_to_customer(db: Any, text: Text) -> Json:
        """Say something to the customer and return what the customer answers.

        Args:
            text: your words.
        """
        raise RuntimeError("an episode's session answers this tool itself")

    return make_tool(say_to_customer, "session")


CUSTOMER_TOOL = _customer_tool()
"""For clients that cannot hold the talk: the customer as a tool."""


class KeyMisused(Exception):
    """A key was sent with another call than before."""


class Session(ABC):
    """What both kinds share: an id that cannot be guessed, one call at a time, deadlines, answers given again.

    Attributes:
        id: it names the session to whoever holds it, and opens nothing else.
        task: what is played.
        deadline: seconds for one call.
        broken: what failed, empty if nothing did. A broken session is over, and ended by a system error.
        used: when it was last used, in `time.monotonic`.
        busy: requests that are being served.
    """

    mode = ""

    def __init__(self, task: Task, deadline: float, metrics: Metrics) -> None:
        self.id = secrets.token_urlsafe(24)
        self.task = task
        self.deadline = deadline
        self.broken = ""
        self.used = time.monotonic()
        self.busy = 0
        self._metrics = metrics
        self._lock = asyncio.Lock()
        self._answers: OrderedDict[str, tuple[str, asyncio.Task[ToolResult]]] = OrderedDict()

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools the agent sees."""
        return self.task.tools

    @property
    def over(self) -> bool:
        """Whether nothing can be called any more."""
        return bool(self.broken)

    @property
    def settled(self) -> bool:
        """Whether nobody needs it any more, though it was not closed: how it ended is known where that counts."""
        return self.over

    async def call(self, tool: str, arguments: Mapping[str, Any], key: str = "") -> ToolResult:
        """Call a tool, or give the answer of an earlier call with the same key.

        A call that has begun ends, even if who asked for it is gone.

        Raises:
            BackendError: a system error; the session is broken.
            KeyMisused: the key was another call's.
        """
        what = f"{tool} {json.dumps(dict(arguments), sort_keys=True)}" if key else ""
        known = self._answers.get(key) if key else None
        if known is not None:
            before, running = known
            if before != what:
                raise KeyMisused("this idempotency key was sent with another tool or other arguments; send a new one")
            self._metrics.replayed += 1
        else:
            running = asyncio.get_running_loop().create_task(self._timed_call(tool, arguments))
            running.add_done_callback(_heard)
            if key:
                self._answers[key] = (what, running)
                if len(self._answers) > REMEMBERED:
                    self._answers.popitem(last=False)
        return await asyncio.shield(running)

    async def _timed_call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        async with self._lock:
            began = time.perf_counter()
            try:
                result = await self._call(tool, arguments)
            except BaseException:
                self._metrics.called("system", time.perf_counter() - began)
                raise
            self._metrics.called("ok" if result.ok else "error", time.perf_counter() - began)
            return result

    @abstractmethod
    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Carry a call out, once, with the session's lock held."""

    async def _in_time(self, step: Coroutine[Any, Any, T]) -> T:
        """A step that ends by the deadline, whether or not it suspends; one that does not breaks the session."""
        try:
            async with asyncio.timeout(self.deadline):
                return await Timed(step, self.deadline)
        except TimeoutError:
            self.broken = f"a call did not end in {self.deadline:g} s"
            raise BackendError(self.broken) from None
        except BackendError as error:
            self.broken = str(error)
            raise

    @abstractmethod
    def changes(self) -> list[RowChange]:
        """The journal so far."""

    @abstractmethod
    def dump(self) -> Dump:
        """The whole database."""

    @property
    @abstractmethod
    def waits(self) -> bool:
        """Whether reading the database waits for another process."""

    async def dump_aside(self) -> Dump:
        """The whole database; the event loop does not wait for it."""
        async with self._lock:
            return await asyncio.to_thread(self.dump) if self.waits else self.dump()

    def state(self) -> dict[str, Any]:
        """A line of the list of sessions."""
        idle = round(time.monotonic() - self.used, 1)
        return {"id": self.id, "task_id": self.task.id, "mode": self.mode, "over": self.over, "idle_seconds": idle}

    @abstractmethod
    def close(self) -> None:
        """Free everything. Idempotent."""


def _heard(task: asyncio.Task[ToolResult]) -> None:
    """Take note of a call's error, which nobody may be waiting for any more."""
    if not task.cancelled():
        task.exception()


class BackendSession(Session):
    """A database and its tools; customer, log and grader are the client's."""

    mode = "backend"

    def __init__(self, task: Task, backend: Backend, deadline: float, metrics: Metrics) -> None:
        super().__init__(task, deadline, metrics)
        self._backend = backend
        self._changes: list[RowChange] = []

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        if self.broken:
            raise BackendError(f"this session broke before: {self.broken}")
        return await self._in_time(self._backend.call(tool, arguments))

    def changes(self) -> list[RowChange]:
        """The journal so far."""
        self._changes += self._backend.take_changes()
        return self._changes

    def dump(self) -> Dump:
        """The whole database."""
        return self._backend.dump()

    @property
    def waits(self) -> bool:
        """Whether reading the database waits for another process."""
        return not isinstance(self._backend, LocalBackend)

    def close(self) -> None:
        """Free the database."""
        self._backend.close()


class EpisodeSession(Session):
    """A whole episode: customer, database, log and grader.

    Attributes:
        episode: not for the agent.
        opening: the customer's first words.
        customer_tool: whether the agent speaks to the customer by a tool.
    """

    mode = "episode"

    def __init__(
        self,
        task: Task,
        settings: Settings,
        deadline: float,
        metrics: Metrics,
        *,
        customer_tool: bool = False,
    ) -> None:
        super().__init__(task, deadline, metrics)
        self.episode = Episode(settings)
        self.customer_tool = customer_tool
        self.opening = ""
        self._fetched = False

    async def start(self, attempt: int = 0) -> None:
        """Begin the conversation.

        Raises:
            BackendError: a system error.
        """
        self.opening = await self._in_time(self.episode.reset(self.task, attempt=attempt))
        if self.episode.error:
            raise BackendError(self.episode.error)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools the agent sees."""
        return {**self.task.tools, SAY: CUSTOMER_TOOL} if self.customer_tool else self.task.tools

    @property
    def over(self) -> bool:
        """Whether the conversation has ended."""
        return bool(self.broken) or self.episode.over

    @property
    def settled(self) -> bool:
        """Whether its verdict was fetched."""
        return self._fetched

    @property
    def outcome(self) -> str:
        """As of the episode; a broken session's is a system error, whatever a call that was under way did meanwhile."""
        return "error:backend" if self.broken else self.episode.outcome

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        if self.over:
            return error_result("refused", OVER)
        if tool == SAY and self.customer_tool:
            return await self._say_by_tool(arguments)
        known = len(self.episode.log)
        call = ToolCall("", tool, arguments, json.dumps(dict(arguments)))
        try:
            observation = await self._in_time(self.episode.act(Turn("", (call,)), turns=0))
        except BackendError as error:
            observation = self.episode.fail_backend(error)
        for event in self.episode.log[known:]:
            if event.kind == "result":
                return ToolResult(event.ok, event.data, event.text, {})
        last = self.episode.messages[-1]
        if last["role"] == "tool":  # a limit was reached: it was not carried out
            return ToolResult(False, json.loads(last["content"]), last["content"], {})
        return error_result("refused", observation)

    async def _say_by_tool(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            text = CUSTOMER_TOOL.validate(arguments)["text"]
        except ToolError as error:
            return error_result("invalid_arguments", str(error))
        try:
            answer = await self._in_time(self.episode.say(text))
        except BackendError as error:
            return error_result("refused", self.episode.fail_backend(error))
        data = {"customer": answer, "conversation": "over" if self.over else "open"}
        return ToolResult(True, data, as_text(data), {})

    async def say(self, text: str) -> str:
        """Control: say something to the customer and return the answer.

        Raises:
            BackendError: a system error.
        """
        async with self._lock:
            if self.over:
                return OVER
            return await self._in_time(self.episode.say(text))

    async def finish(self) -> dict[str, Any]:
        """Control: end the conversation if it still runs; the verdict and the record of everything."""
        async with self._lock:
            if not self.broken:
                try:
                    await self._in_time(self.episode.finish())
                except BackendError as error:
                    self.broken = str(error)
            if self.broken:
                self.episode.fail_backend(BackendError(self.broken))
            self._fetched = True
            return self.result()

    async def abandon(self, why: str) -> None:
        """Control: what plays it goes away; if the conversation still runs, it ends as a system error."""
        async with self._lock:
            if not self.over:
                self.broken = why

    def result(self) -> dict[str, Any]:
        """Control: how it ended so far."""
        episode = self.episode
        verdict = episode.verdict.to_json() if episode.verdict and not self.broken else None
        return {
            "outcome": self.outcome,
            "ended_by": "error" if self.broken else episode.ended_by,
            "error": episode.error or self.broken,
            "reward": 0.0 if self.broken else episode.reward,
            "turns": episode.turns,
            "tool_calls": episode.tool_calls,
            "verdict": verdict,
            "record": episode_record(episode),
        }

    def changes(self) -> list[RowChange]:
        """The journal so far."""
        return self.episode.changes

    def dump(self) -> Dump:
        """The whole database."""
        if self.episode.backend is None:
            raise BackendError("this session is closed")
        return self.episode.backend.dump()

    @property
    def waits(self) -> bool:
        """Whether reading the database waits for another process."""
        return self.episode.settings.backend != "embedded"

    def state(self) -> dict[str, Any]:
        """A line of the list of sessions."""
        return {**super().state(), "outcome": self.outcome, "turns": self.episode.turns}

    def close(self) -> None:
        """Free the database."""
        self.episode.close()
