"""Episode: one conversation on one fresh backend, the product that every face of the suite shows.

It is asynchronous (`reset`, `act`, or `say` and `call`, then `finish`) and never suspends with the embedded backend and
the scripted customer, so synchronous faces drive it inline with `drive`. It grades once, at the end, from the database;
what only a judge can tell is asked before, and its answers stand in the log.
A system error ends it as ``error:*`` and is never a failure; what the agent does wrong is never a system error.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tb_envs.actions import ToolCall, Turn, parse_action
from tb_envs.costs import Cost, Part
from tb_envs.driving import drive as drive  # whoever plays an episode finds it here
from tb_envs.errors import BackendError, CheckerError, EpisodeError, UsageError, UserError
from tb_envs.grading.grade import Evidence, grade
from tb_envs.grading.verdict import Verdict
from tb_envs.limits import Limits
from tb_envs.session.backend import Backend, ToolResult, error_result, open_backend
from tb_envs.session.faults import FaultyBackend
from tb_envs.session.local import LocalBackend
from tb_envs.session.log import Event, Log
from tb_envs.session.tools import END, HAND_OVER
from tb_envs.settings import Settings
from tb_envs.store.journal import RowChange
from tb_envs.task import Task, get_task
from tb_envs.trace import write_trace
from tb_envs.users.customer import Customer, make_user
from tb_envs.users.reply import Reply
from tb_envs.users.scripted import ScriptedUser

if TYPE_CHECKING:
    from tb_envs.patience import Pace

T = TypeVar("T")
OPTIONS = ("task_id", "split", "user", "limits")
OVER = "The conversation is over; reset the environment to start another."
SYSTEM_ERROR = "[system] The episode ended by a system error ({}); it does not count."


class Episode:
    """One attempt at one task.

    Attributes:
        task: the task being played.
        messages: the whole transcript as chat messages (``user``, ``assistant``, ``tool``).
        log: everything in one sequence, row changes included; not for the agent.
        outcome: ``""`` while it runs, then ``success | failure | error:backend | error:user | error:checker``.
        ended_by: ``agent | customer | handover | limit:turns | limit:tool_calls | limit:tokens |
            limit:user_turns | error``.
        verdict: every check by name, at the end; None after a system error.
        reward: at the end, from the database; 0.0 after a system error.
        grading_seconds: of the wall clock, spent on the verdict; a measure, and part of no result.
        costs: what models that play the customer or judge took, by part; empty where nobody calls one.
        user_faults: answers of a model that played the customer which were not let through; see `users.guards`.
        paces: what requests to such models pass, by part, where many episodes ask them at once; empty where each asks
            by itself. Whoever plays the episodes sets it, before the reset.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.paces: Mapping[Part, Pace] = {}
        self.backend: Backend | None = None
        self.user: Customer
        self.task: Task | None = None
        self._clear()

    def _clear(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.log: Log = []
        self.changes: list[RowChange] = []
        self.turns = self.user_turns = self.tool_calls = self.user_faults = self._characters = 0
        self.outcome = self.ended_by = self.error = ""
        self.verdict: Verdict | None = None
        self.reward = self.grading_seconds = 0.0
        self.costs: dict[Part, Cost] = {}

    # -- life

    async def reset(self, task: str | Task, *, limits: Limits | None = None, attempt: int = 0) -> str:
        """Start `task` on a fresh database and return the customer's first words.

        Args:
            task: a task or its id.
            limits: in place of the settings' limits.
            attempt: seeds injected faults, so that a retry meets others, and names a recording's attempt.

        Raises:
            UsageError: the task needs a judge and there is none, or cannot be played with this customer.
        """
        self.close()
        self._clear()
        self.task = task if isinstance(task, Task) else get_task(task, self.settings.knobs)
        if self.task.needs_judge and self.settings.judge is None:
            names = ", ".join(item.name for item in self.task.criteria)
            raise UsageError(f"{self.task.id} has criteria that only a judge can tell ({names}), and no judge is set")
        self.limits = limits or self.settings.limits
        try:
            return await self._open(attempt)
        except BackendError as error:
            observation = self._fail("backend", error)
        except UserError as error:
            observation = self._fail("user", error)
        self._trace()
        if self.settings.strict:
            raise EpisodeError(self.error)
        return observation

    async def _open(self, attempt: int) -> str:
        assert self.task is not None
        settings = self.settings
        self.backend = (
            LocalBackend(self.task) if settings.backend == "embedded" else await open_backend(self.task, settings)
        )
        if settings.faults:
            self.backend = FaultyBackend(self.backend, settings.faults, self.task.id, attempt)
        if settings.user == "scripted":
            self.user = ScriptedUser(self.task.scenario.customer, self.task.domain.vocabulary, self.task.user_seed)
        else:
            self.user = make_user(self, attempt)
        reply = self.user.opening()
        return self._hear(reply if isinstance(reply, Reply) else await reply)

    async def act(self, action: Any, *, turns: int = 1) -> str:
        """Take one turn of the agent and return what it should read next; never raises for what the agent does.

        Args:
            action: words or calls, in any form that `parse_action` reads.
            turns: as how many it counts; 0 for a face that cannot know which calls are one turn's.
        """
        if self.task is None:
            raise UsageError("reset the episode before the first action")
        if self.ended_by:
            return OVER
        if self.backend is None:
            raise UsageError("the episode is closed; reset it before the next action")
        self.turns += turns
        turn = parse_action(action)
        start = len(self.messages)
        try:
            observation = await self._take(turn)
        except BackendError as error:
            observation = self._fail("backend", error)
        except UserError as error:
            observation = self._fail("user", error)
        if not self.ended_by:
            self._check_limits()
        if self.ended_by and not self.outcome:
            await self._judge()
        self.new_messages = tuple({**m} for m in self.messages[start:] if m["role"] != "assistant")
        self._trace()
        if self.error and self.settings.strict:
            raise EpisodeError(self.error)
        return observation

    async def say(self, text: str) -> str:
        """Say `text` to the customer."""
        return await self.act({"content": text, "tool_calls": []})

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """Call one tool."""
        return await self.act({"content": None, "tool_calls": [{"name": tool, "arguments": arguments}]})

    async def finish(self) -> Verdict | None:
        """End the conversation as the agent, if it still runs, and return the verdict."""
        if self.task is None:
            raise UsageError("reset the episode before finishing it")
        if not self.outcome:
            if not self.ended_by:
                self._end("agent")
            if not self.outcome:
                await self._judge()
            self._trace()
        return self.verdict

    def fail_backend(self, error: BackendError) -> str:
        """End it, if it still runs, by a system error that its owner met, such as a deadline. For no moment in a call.

        Returns what the agent reads, as after any other.
        """
        if self.task is not None and not self.outcome:
            self._fail("backend", error)
            self._trace()
        return SYSTEM_ERROR.format("backend")

    def close(self) -> None:
        """Free the backend. Idempotent."""
        if self.backend is not None:
            self.backend.close()
            self.backend = None

    def spend(self, part: Part, cost: Cost) -> None:
        """Book what a model that plays the customer (``user``) or judges (``judge``) took; also if it failed then."""
        self.costs[part] = self.costs.get(part, Cost()) + cost

    # -- one turn

    async def _take(self, turn: Turn) -> str:
        if turn.problem:
            self.messages.append({"role": "assistant", "content": ""})
            return self._tell(turn.problem)
        if not turn.calls:
            self.messages.append({"role": "assistant", "content": turn.content})
            self._note(Event("said", "", turn.content, {}, True, 0))
            if self.limits.user_turns and self.user_turns >= self.limits.user_turns:
                self._end("limit:user_turns")
                return OVER
            reply = self.user.reply(turn.content)
            if not isinstance(reply, Reply):
                reply = await reply
            observation = self._hear(reply)
            if reply.leaves:
                self._end("customer")
            return observation
        return await self._run(turn)

    async def _run(self, turn: Turn) -> str:
        calls = [(call.id or f"call_{self.tool_calls + n}", call) for n, call in enumerate(turn.calls, 1)]
        self.messages.append(
            {
                "role": "assistant",
                "content": turn.content,
                "tool_calls": [
                    {"id": key, "type": "function", "function": {"name": call.name, "arguments": call.written}}
                    for key, call in calls
                ],
            }
        )
        lines: list[str] = []
        for key, call in calls:
            if self.ended_by:
                result = error_result("refused", "The conversation has ended; this call was not carried out.")
            elif self.tool_calls >= self.limits.tool_calls:
                self._end("limit:tool_calls")
                result = error_result("refused", "The limit of tool calls is reached; this call was not carried out.")
            else:
                result = await self._call(call)
            self.messages.append({"role": "tool", "tool_call_id": key, "name": call.name, "content": result.text})
            lines.append(f"[{call.name[:80]}] {result.text}")
        return "\n".join(lines)

    async def _call(self, call: ToolCall) -> ToolResult:
        assert self.backend is not None
        self.tool_calls += 1
        number = self.tool_calls
        try:
            if call.problem:
                result = error_result("invalid_arguments", call.problem)
            else:
                result = await self.backend.call(call.name, call.arguments)
        finally:
            changes = self.backend.take_changes()
            self.changes += changes
        arguments = result.arguments or call.arguments
        self._note(Event("call", call.name, call.written, arguments, result.ok, number))
        self.log += [Event("row", change.table, change.key, change, True, number) for change in changes]
        self._note(Event("result", call.name, result.text, result.data, result.ok, number))
        if result.ok and call.name == END:
            self._end("agent")
        elif result.ok and call.name == HAND_OVER:
            self._end("handover")
        return result

    def _hear(self, reply: Reply) -> str:
        self.user_turns += 1
        data = {"acts": reply.acts, "faults": reply.faults} if reply.faults else {"acts": reply.acts}
        self._note(Event("heard", "", reply.text, data, True, 0))
        self.messages.append({"role": "user", "content": reply.text})
        return reply.text

    def _tell(self, text: str) -> str:
        """Something the harness tells the agent; the customer neither says nor hears it."""
        self._characters += len(text)
        self.messages.append({"role": "user", "content": f"[system] {text}"})
        return f"[system] {text}"

    def _note(self, event: Event) -> None:
        self._characters += len(event.text)
        self.log.append(event)

    # -- the end

    def _check_limits(self) -> None:
        if self.turns >= self.limits.turns:
            self._end("limit:turns")
        elif self.tool_calls >= self.limits.tool_calls:
            self._end("limit:tool_calls")
        elif self.limits.tokens and self._characters // 4 >= self.limits.tokens:
            self._end("limit:tokens")

    def _end(self, by: str) -> None:
        """The conversation is over. It is graded at once, or by `_judge` where a judge has to be asked first."""
        assert self.task is not None
        self.ended_by = by
        self.log.append(Event("ended", by, "", {}, True, 0))
        if not self.task.needs_judge:
            self._grade()

    def _grade(self) -> None:
        assert self.task is not None
        scenario, specs = self.task.scenario, self.task.domain.specs
        began = time.perf_counter()
        try:
            evidence = Evidence(specs, self.changes, self.log, scenario.about)
            self.verdict = grade(scenario.expects, evidence, self.task.kinds)
        except Exception as error:
            self._fail("checker", CheckerError(f"the grader broke: {type(error).__name__}: {error}"))
            return
        finally:
            self.grading_seconds = time.perf_counter() - began
        self.outcome = "success" if self.verdict.success else "failure"
        self.reward = self.verdict.reward(self.settings.reward)

    async def _judge(self) -> None:
        """Ask the judge what only it can tell, write its answers into the log, and grade."""
        from tb_envs.endpoints import model_options
        from tb_envs.grading.judge import Judge, judged_event

        assert self.task is not None and self.settings.judge is not None
        criteria = self.task.criteria
        if any(event.kind == "said" for event in self.log):
            judge = Judge(*model_options("judge", self.settings.judge))
            try:
                answers = await judge.answers(
                    criteria, self.log, lambda cost: self.spend("judge", cost), self.paces.get("judge")
                )
            except CheckerError as error:
                self._fail("checker", error)
                return
            self.log += [judged_event(item, answer) for item, answer in zip(criteria, answers, strict=True)]
        self._grade()

    def _trace(self) -> None:
        if self.outcome and self.settings.trace_dir:
            write_trace(self, Path(self.settings.trace_dir))

    def _fail(self, part: str, error: Exception) -> str:
        self.outcome, self.ended_by, self.error = f"error:{part}", "error", str(error) or type(error).__name__
        self.verdict, self.reward = None, 0.0
        if not any(event.kind == "ended" for event in self.log):
            self.log.append(Event("ended", "error", self.error, {}, False, 0))
        return SYSTEM_ERROR.format(part)

    # -- what the agent may know

    @property
    def over(self) -> bool:
        """Whether the conversation has ended."""
        return bool(self.outcome)

    @property
    def terminated(self) -> bool:
        """Ended by the agent, a hand-over or the customer."""
        return self.ended_by in ("agent", "handover", "customer")

    @property
    def truncated(self) -> bool:
        """Ended by a limit or a system error."""
        return bool(self.ended_by) and not self.terminated

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """Function definitions of the tools; one object for all episodes of a domain."""
        assert self.task is not None
        return self.task.tool_definitions

    @property
    def instructions(self) -> str:
        """The agent's instructions, the policy included."""
        assert self.task is not None
        return self.task.instructions


def choose_task(ids: Sequence[str], draw: int) -> str:
    """The task a random draw means; `UsageError` for an empty suite."""
    if not ids:
        raise UsageError("this split has no frozen tasks; name one by options={'task_id': ...}")
    return ids[draw % len(ids)]
