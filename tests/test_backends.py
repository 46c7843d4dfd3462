"""Every backend is the embedded one: the same tools, results, errors, journal, database and verdict."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from backend_kinds import KIND_PARAMS, KINDS, Opener, definitions, listing
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from services import skip_or_fail

from tb_envs.agents import make_agent, script_agent
from tb_envs.authoring.rng import Rng
from tb_envs.episode import Episode, Settings, drive
from tb_envs.limits import Limits
from tb_envs.registration import load_domain
from tb_envs.sampling import ArgumentSampler
from tb_envs.session.backend import Backend, ToolResult
from tb_envs.session.local import LocalBackend
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange
from tb_envs.task import Task, get_task

ROOT = Path(__file__).parent.parent
DOMAINS = ("hotel", "banking")
LENGTH = 10
Calls = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Played:
    """A sequence of calls and what the embedded backend made of it."""

    task: Task
    calls: Calls
    results: list[ToolResult]
    changes: list[RowChange]
    dump: Dump


def wrong(rng: Rng, tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A call with something wrong about it."""
    name = next(iter(arguments), "")
    return rng.pick(
        (f"{tool}s", arguments),
        ("hand_over", {"team": "nobody", "summary": "x"}),
        (tool, {**arguments, "colour": "blue"}),
        (tool, {key: value for key, value in arguments.items() if key != name}),
        (tool, {**arguments, name or "x": {"deep": [1, None, "\u0000 é 🙂"]}}),
        (tool, {**arguments, name or "x": "9" * 5000}),
    )


def draw(rng: Rng, sampler: ArgumentSampler, task: Task) -> tuple[str, dict[str, Any]]:
    tool = rng.pick(*[tool for tool in task.tools.values() if tool.effect != "session"])
    arguments = sampler.arguments(tool)
    return wrong(rng, tool.name, arguments) if rng.chance(0.15) else (tool.name, arguments)


def informed(task: Task, rng: Rng) -> ArgumentSampler:
    """Draws from what the customer knows, too."""
    sampler = ArgumentSampler(rng)
    for name, known in task.scenario.customer.knows.items():
        value = str(getattr(known, "value", known))
        sampler.see(json.dumps({name: value, f"{name}_id": value}))
    return sampler


@cache
def played(domain: str, number: int) -> Played:
    """Random sequence `number`, on a task of the domain's families in turn."""
    families = [*load_domain(domain).families]
    task = get_task(f"{domain}/{families[number % len(families)]}/3")
    rng = Rng("conformance", domain, number)
    sampler = informed(task, rng)
    backend = LocalBackend(task)
    calls: Calls = []
    results: list[ToolResult] = []
    changes: list[RowChange] = []
    for _ in range(LENGTH):
        calls.append(draw(rng, sampler, task))
        results.append(drive(backend.call(*calls[-1])))
        sampler.see(results[-1].text)
        changes += backend.take_changes()
    dump = backend.dump()
    backend.close()
    return Played(task, calls, results, changes, dump)


def with_kind(name: str, body: Callable[[Opener], Awaitable[None]]) -> None:
    """Run `body` with a kind started. Where it cannot be, the test is skipped with the reason; in CI it fails."""
    kind = KINDS[name]
    skip_or_fail(kind.missing())

    async def run() -> None:
        async with kind.start() as opener:
            await body(opener)

    asyncio.run(run())


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", KIND_PARAMS)
def test_random_sequences_give_the_same_results_and_journal(kind: str, domain: str) -> None:
    async def body(opener: Opener) -> None:
        seen: Counter[str] = Counter()
        for number in range(KINDS[kind].sequences):
            want = played(domain, number)
            backend = await opener(want.task)
            changes: list[RowChange] = []
            for (tool, arguments), expected in zip(want.calls, want.results, strict=True):
                assert await backend.call(tool, arguments) == expected, (number, tool, arguments)
                changes += backend.take_changes()
                seen["ok" if expected.ok else expected.data["error"]["type"]] += 1
            assert changes == want.changes
            if number % 10 == 0:
                assert await asyncio.to_thread(backend.dump) == want.dump
            if number == 0 and (listed := listing(backend)) is not None:
                assert await listed == [*want.task.tool_definitions]
            seen["rows"] += len(changes)
            backend.close()
        assert seen.keys() >= {"ok", "refused", "invalid_arguments", "unknown_tool", "rows"}, seen

    with_kind(kind, body)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", KIND_PARAMS)
def test_right_servile_and_mistaken_agents_get_the_same_verdict(kind: str, domain: str) -> None:
    name = {"hotel": "late_cancellation", "banking": "attorney_call"}[domain]
    task = get_task(f"{domain}/{name}/5")
    mistakes = [(key, mistake.does) for key, mistake in task.scenario.mistakes.items()]
    agents = [make_agent("reference"), make_agent("obedient"), *(script_agent(steps) for _, steps in mistakes[:3])]
    plain = Settings()

    async def body(opener: Opener) -> None:
        for place, agent in enumerate(agents):
            want = await play(task, agent, plain)
            got = await play(task, agent, Settings(backend="remote"), opener)
            assert (got.outcome, got.ended_by, got.error) == (want.outcome, want.ended_by, "")
            assert want.outcome == ("failure" if place else "success")
            assert got.verdict == want.verdict and got.messages == want.messages and got.log == want.log

    with_kind(kind, body)


@pytest.mark.parametrize("kind", KIND_PARAMS)
def test_injected_faults_are_the_same_everywhere(kind: str) -> None:
    task = get_task("hotel/late_cancellation/5")

    async def body(opener: Opener) -> None:
        ends: set[str] = set()
        for attempt in range(6):
            faults: Mapping[str, float] = {"timeout": 0.08, "crash": 0.05}
            want = await play(task, make_agent("reference"), Settings(faults=faults), attempt=attempt)
            got = await play(
                task, make_agent("reference"), Settings(backend="remote", faults=faults), opener, attempt=attempt
            )
            assert (got.outcome, got.error, got.reward) == (want.outcome, want.error, want.reward)
            assert [row for row in got.changes] == want.changes
            ends.add(got.outcome)
        assert ends == {"success", "error:backend"}

    with_kind(kind, body)


async def play(
    task: Task, agent: Any, settings: Settings, opener: Opener | None = None, *, attempt: int = 0
) -> Episode:
    """One episode, on a backend of `opener` if there is one."""

    async def open_backend(task: Task, settings: Settings) -> Backend:
        assert opener is not None
        return await opener(task)

    episode = Episode(settings)
    with patch("tb_envs.episode.open_backend", open_backend):
        observation = await episode.reset(task, attempt=attempt)
    agent.start(episode, observation)
    while not episode.over:
        observation = await episode.act(agent.act(observation))
    episode.close()
    return episode


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_stdio_process_gives_the_same_results_journal_and_verdict(domain: str, tmp_path: Path) -> None:
    """A session is a process, so 100 random sequences are one session's; the embedded episode is given the same."""
    task = played(domain, 0).task
    rng = Rng("stdio", domain)
    sampler = informed(task, rng)
    limits = "turns=100000,tool_calls=100000"

    async def body() -> None:
        episode = Episode(Settings(limits=Limits(100_000, 100_000)))
        await episode.reset(task)
        process = stdio_process(task.id, "--traces", str(tmp_path), "--limits", limits)
        async with Client(process, cache=None) as client:
            assert await definitions(client) == [*task.tool_definitions]
            for _ in range(100 * LENGTH):
                tool, arguments = draw(rng, sampler, task)
                result = await client.call_tool(tool, arguments)
                await episode.call(tool, **arguments)
                expected = next(event for event in reversed(episode.log) if event.kind == "result")
                [content] = result.content
                assert content.type == "text" and content.text == expected.text
                assert (not result.is_error, result.structured_content) == (expected.ok, expected.data)
                sampler.see(content.text)
            await client.call_tool("end_conversation", {"summary": "Done."})
        await episode.call("end_conversation", summary="Done.")
        [trace] = tmp_path.glob("*.json")
        found = json.loads(trace.read_text("utf-8"))
        rows = [
            [*change[:4], change.before and [*change.before], change.after and [*change.after]]
            for change in episode.changes
        ]
        assert [[*event["data"].values()] for event in found["log"] if event["kind"] == "row"] == rows and rows
        assert episode.verdict is not None
        assert found["verdict"] == json.loads(json.dumps(episode.verdict.to_json()))
        assert found["outcome"] == episode.outcome == "failure"

    asyncio.run(body())


def stdio_process(*words: str) -> StdioServerParameters:
    path = os.pathsep.join([str(ROOT), str(ROOT / "domains")])
    environment = {**os.environ, "PYTHONPATH": path}
    return StdioServerParameters(command=sys.executable, args=["-m", "tbx", "mcp", *words], env=environment)


def test_injected_faults_are_the_same_in_a_stdio_process(tmp_path: Path) -> None:
    task = get_task("hotel/late_cancellation/5")

    async def body() -> None:
        episode = Episode(Settings(faults={"crash": 1.0}))
        await episode.reset(task)
        said = await episode.call("get_time")
        faulty = stdio_process(task.id, "--faults", "crash=1.0", "--traces", str(tmp_path))
        async with Client(faulty, cache=None) as client:
            answer = await client.call_tool("get_time", {})
        assert answer.is_error and answer.structured_content == {"error": {"type": "refused", "message": said}}
        [trace] = tmp_path.glob("*.json")
        assert json.loads(trace.read_text("utf-8"))["outcome"] == episode.outcome == "error:backend"

    asyncio.run(body())
