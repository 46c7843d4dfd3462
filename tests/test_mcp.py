"""The MCP faces: one session is one episode, judged as any other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp_parts import TASK, Control, client_of, process, text_of, without_words

from tb_envs.actions import parse_action
from tb_envs.agents import make_agent, script_agent
from tb_envs.episode import Episode
from tb_envs.errors import BackendError
from tb_envs.mcp import open_seat
from tb_envs.mcp.serve import running
from tb_envs.mcp.sessions import SAY
from tb_envs.session.local import LocalBackend
from tb_envs.task import Task, get_task


async def follow(
    task: Task, agent: Any, client: Client, say: Callable[[str], Coroutine[Any, Any, str]]
) -> tuple[Episode, list[str]]:
    """Play an embedded episode and do the same over MCP; every answer must be the same. What was answered."""
    episode = Episode()
    observation = await episode.reset(task)
    agent.start(episode, observation)
    answers: list[str] = []
    while not episode.over:
        turn = parse_action(agent.act(observation))
        observation = await episode.act(turn)
        for call in turn.calls:
            answers.append(text_of(await client.call_tool(call.name, dict(call.arguments))))
            assert answers[-1] == episode.messages[-1]["content"]
        if not turn.calls:
            answers.append(await say(turn.content))
            assert answers[-1] == observation
    return episode, answers


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_an_episode_over_http_is_the_embedded_one(mode: str) -> None:
    task = get_task(TASK)
    mistake = next(iter(task.scenario.mistakes.values()))

    async def body() -> None:
        async with running() as server:
            control = Control(server)
            for agent in (make_agent("reference"), make_agent("obedient"), script_agent(mistake.does)):
                opened = await control.start()
                path = f"/{opened['id']}"

                async def say(text: str, path: str = path) -> str:
                    return (await control.ask("POST", f"{path}/say", {"text": text})).data["observation"]

                async with client_of(server.url + opened["mcp"], mode) as client:
                    want, _ = await follow(task, agent, client, say)
                    assert opened["observation"] == want.messages[0]["content"]
                    over = [text_of(await client.call_tool(tool, {})) for tool in ("get_time", "nothing", "hand_over")]
                    assert len(set(over)) == 1 and "conversation is over" in over[0]
                found = (await control.ask("POST", f"{path}/finish", {})).data
                assert want.verdict is not None
                assert found["verdict"] == json.loads(json.dumps(want.verdict.to_json()))
                assert (found["outcome"], found["ended_by"], found["reward"], found["tool_calls"]) == (
                    want.outcome, want.ended_by, want.reward, want.tool_calls,
                )  # fmt: skip
                assert found["turns"] == sum(event.kind == "said" for event in want.log)
                assert found["record"]["messages"] == want.messages
                rows = (await control.ask("GET", f"{path}/journal")).data["changes"]
                assert rows == json.loads(json.dumps(want.changes))
                assert (await control.ask("DELETE", path)).status == 204
            assert (await control.ask("GET", "")).data["sessions"] == []

    asyncio.run(body())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_customer_as_a_tool(mode: str) -> None:
    """In memory: the whole talk goes through the client, and is worth the same."""
    task = get_task(TASK)

    async def body() -> None:
        async with open_seat(task, customer_tool=True) as seat, Client(seat.server, mode=mode, cache=None) as client:

            async def say(text: str) -> str:
                return json.loads(text_of(await client.call_tool(SAY, {"text": text})))["customer"]

            assert [tool.name for tool in (await client.list_tools()).tools] == [*task.tools, SAY]
            prompt = await client.get_prompt("conversation")
            assert [message.content.text for message in prompt.messages] == [  # pyright: ignore
                task.instructions,
                seat.session.opening,
            ]
            [resource] = (await client.list_resources()).resources
            [policy] = (await client.read_resource(resource.uri)).contents
            assert policy.text == task.domain.policy_text  # pyright: ignore
            assert "`text` is missing" in text_of(await client.call_tool(SAY, {}))
            want, _ = await follow(task, make_agent("reference"), client, say)
            assert "conversation is over" in text_of(await client.call_tool(SAY, {"text": "hello?"}))
            found = await seat.session.finish()
            assert found["outcome"] == want.outcome == "success"
            assert found["verdict"] == (want.verdict and want.verdict.to_json())
        async with open_seat(task) as seat, Client(seat.server, mode=mode, cache=None) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [*task.tools]
            assert "There is no tool" in text_of(await client.call_tool(SAY, {"text": "hello"}))

    asyncio.run(body())


def test_the_customer_as_a_tool_over_http(tmp_path: Path) -> None:
    """By the operator's `--customer-tool` or by the setting of who opens the session, which counts more."""
    task = get_task(TASK)

    async def play(control: Control, **more: Any) -> None:
        opened = await control.start(**more)
        async with client_of(control.url + opened["mcp"]) as client:

            async def say(text: str) -> str:
                return json.loads(text_of(await client.call_tool(SAY, {"text": text})))["customer"]

            assert [tool.name for tool in (await client.list_tools()).tools] == [*task.tools, SAY]
            want, answers = await follow(task, make_agent("reference"), client, say)
            assert answers and "conversation is over" in text_of(await client.call_tool(SAY, {"text": "hello?"}))
        found = (await control.ask("POST", f"/{opened['id']}/finish", {})).data
        assert want.verdict is not None and want.outcome == "success"
        assert found["verdict"] == json.loads(json.dumps(want.verdict.to_json()))
        assert found["turns"] == sum(event.kind == "said" for event in want.log)

    async def has_none(control: Control, **more: Any) -> None:
        async with client_of(control.url + (await control.start(**more))["mcp"]) as client:
            assert SAY not in [tool.name for tool in (await client.list_tools()).tools]
            assert "There is no tool" in text_of(await client.call_tool(SAY, {"text": "hello"}))

    async def body() -> None:
        async with process(tmp_path, "--customer-tool") as (_, endpoint):
            await play(Control(endpoint))
            await has_none(Control(endpoint), settings={"customer_tool": False})
            await has_none(Control(endpoint), mode="backend")
        async with running() as server:
            await play(Control(server), settings={"customer_tool": True})
            await has_none(Control(server))

    asyncio.run(body())


def test_limits_and_system_errors_end_an_episode_as_anywhere() -> None:
    async def body() -> None:
        async with running() as server:
            control = Control(server)
            few = await control.start(settings={"limits": {"tool_calls": 2}})
            talk = await control.start(settings={"limits": {"turns": 2, "tool_calls": 9}})
            broken = await control.start(settings={"faults": {"crash": 1.0}})
            async with client_of(server.url + few["mcp"]) as client:
                answers = [text_of(await client.call_tool("get_time", {})) for _ in range(3)]
                assert "over" not in answers[0] and "conversation is over" in answers[2]
            async with client_of(server.url + talk["mcp"]) as client:
                answers = [text_of(await client.call_tool("get_time", {})) for _ in range(5)]
                assert len(set(answers)) == 1  # calls are no turns; what is said to the customer is
                said = [await control.ask("POST", f"/{talk['id']}/say", {"text": "Hello?"}) for _ in range(2)]
                assert [each.data["over"] for each in said] == [False, True]
            async with client_of(server.url + broken["mcp"]) as client:
                first = await client.call_tool("get_time", {})
                assert first.is_error and "crash" not in text_of(first)
                assert "conversation is over" in text_of(await client.call_tool("get_time", {}))
            ended = [(await control.ask("POST", f"/{each['id']}/finish", {})).data for each in (few, talk, broken)]
            assert [each["outcome"] for each in ended] == ["failure", "failure", "error:backend"]
            assert [each["ended_by"] for each in ended] == ["limit:tool_calls", "limit:turns", "error"]
            assert ended[2]["verdict"] is None and ended[2]["reward"] == 0.0

    asyncio.run(body())


def test_a_deadline_ends_an_episode_over_mcp_as_an_injected_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does a tool that breaks: the agent's words, the result and the record are the same, but for what failed."""
    inner = LocalBackend.call

    async def fails(self: LocalBackend, tool: str, arguments: Any) -> Any:
        if tool == "list_articles":
            raise BackendError("it broke")
        if tool == "get_time":
            await asyncio.sleep(30)
        return await inner(self, tool, arguments)

    async def end(control: Control, tool: str, **settings: Any) -> dict[str, Any]:
        opened = await control.start(settings=settings)
        async with client_of(control.url + opened["mcp"]) as client:
            answers = [await client.call_tool(tool, {}) for _ in range(2)]
        found = (await control.ask("POST", f"/{opened['id']}/finish", {})).data
        assert found["error"] and answers[0].is_error
        said = [text_of(answer).replace(tool, "TOOL") for answer in answers]
        record = json.loads(json.dumps(without_words(found["record"])).replace(tool, "TOOL"))
        return {**found, "error": "", "record": record, "answers": said}

    async def body() -> None:
        async with running() as server:
            control = Control(server)
            want = await end(control, "get_time", faults={"crash": 1.0})
            assert want["record"]["outcome"] == want["outcome"] == "error:backend"
            assert "ended by a system error (backend)" in want["answers"][0] and "is over" in want["answers"][1]
            with monkeypatch.context() as patch:
                patch.setattr(LocalBackend, "call", fails)
                assert await end(control, "get_time", deadline=0.3) == want
                assert await end(control, "list_articles") == want

    asyncio.run(body())
