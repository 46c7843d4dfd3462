"""docs/mcp.md is true: its clients run against a real server, its loop plays an episode, its configuration starts."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from backend_kinds import in_thread
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from tb_envs.actions import parse_action
from tb_envs.agents import make_agent
from tb_envs.background import wait_for
from tb_envs.episode import Episode, drive
from tb_envs.mcp.serve import Options

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "mcp.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


class Message(SimpleNamespace):
    def model_dump(self, exclude_none: bool = False) -> dict[str, Any]:
        return {"role": "assistant", "content": self.content}


class ReferenceModel:
    """Answers as the OpenAI client does, with the reference agent's turns: it plays beside the loop."""

    def __init__(self, task_id: str) -> None:
        self.episode = Episode()
        self.observation = drive(self.episode.reset(task_id))
        self.agent = make_agent("reference")
        self.agent.start(self.episode, self.observation)
        self.chat = SimpleNamespace(completions=self)
        self.asked: list[list[dict[str, Any]]] = []

    async def create(self, model: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Any:
        assert tools == [*self.episode.tools] and messages[0]["content"] == self.episode.instructions
        self.asked.append([*messages])
        turn = parse_action(self.agent.act(self.observation))
        self.observation = drive(self.episode.act(turn))
        calls = [
            SimpleNamespace(id=f"c{n}", function=SimpleNamespace(name=call.name, arguments=call.written))
            for n, call in enumerate(turn.calls)
        ]
        return SimpleNamespace(choices=[SimpleNamespace(message=Message(content=turn.content, tool_calls=calls))])


def test_its_python_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    context = in_thread(Options(token="a-token-for-tests-only"))
    server = wait_for(context.__aenter__())
    try:
        monkeypatch.setenv("TBX_TOKEN", server.token)
        monkeypatch.setenv("TBX_URL", server.url)
        space: dict[str, Any] = {}
        for block in blocks("python"):
            exec(compile(block, "docs/mcp.md", "exec"), space)
        assert space["ended"]["outcome"] == "failure" and "59 tools" in capsys.readouterr().out
        assert space["info"]["turns"] == 1 and not space["truncated"]
        model = ReferenceModel("hotel/late_cancellation/0")
        ended = asyncio.run(space["attempt"]("hotel/late_cancellation/0", model, "any"))
        assert ended["outcome"] == model.episode.outcome == "success"
        assert [m["content"] for m in model.asked[-1] if m["role"] == "tool"] == [
            m["content"] for m in model.episode.messages if m["role"] == "tool"
        ][:-1]
    finally:
        wait_for(context.__aexit__(None, None, None))


def test_its_configuration_starts_an_episode(tmp_path: Path) -> None:
    [text] = blocks("json")
    [entry] = json.loads(text)["mcpServers"].values()
    assert entry["command"] == "tbx" and entry["args"][-2] == "--traces"
    words = ["-m", "tbx", *entry["args"][:-1], str(tmp_path)]
    path = os.pathsep.join([str(ROOT), str(ROOT / "domains")])

    async def body() -> None:
        process = StdioServerParameters(command=sys.executable, args=words, env={**os.environ, "PYTHONPATH": path})
        async with Client(process, cache=None) as client:
            prompt = await client.get_prompt("conversation")
            assert len(prompt.messages) == 2
            assert [str(each.uri) for each in (await client.list_resources()).resources] == ["policy://hotel/policy.md"]
            said = await client.call_tool("say_to_customer", {"text": "Could you please tell me your booking number?"})
            assert said.structured_content["conversation"] == "open"

    asyncio.run(body())
    [trace] = tmp_path.glob("*.json")
    found = json.loads(trace.read_text("utf-8"))
    assert (found["outcome"], found["ended_by"]) == ("failure", "agent")  # the client left without ending the talk
    assert [event["kind"] for event in found["log"]] == ["heard", "said", "heard", "ended"]
