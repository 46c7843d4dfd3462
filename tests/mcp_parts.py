"""A server in a process of its own, its control plane, and the SDK's client, for the tests of the MCP faces."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import ssl
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tb_envs.actions import parse_action
from tb_envs.agents import make_agent
from tb_envs.episode import Episode
from tb_envs.mcp.serve import Served
from tb_envs.session.wire import Answer, Endpoint
from tb_envs.trace import episode_record

ROOT = Path(__file__).parent.parent
TLS = ssl.create_default_context()
"""One for all clients: making one costs 20 ms."""
TASK = "hotel/late_cancellation/5"


class Control:
    """The control plane of a server, for tests."""

    def __init__(self, server: Served | Endpoint) -> None:
        self.endpoint = server if isinstance(server, Endpoint) else Endpoint(server.url, server.token)
        self.url = self.endpoint.url

    async def ask(self, method: str, path: str, body: Any = None) -> Answer:
        until = asyncio.get_running_loop().time() + 30
        return await self.endpoint.request(method, f"/control/sessions{path}", body, until=until)

    async def start(self, task: str = TASK, **more: Any) -> dict[str, Any]:
        answer = await self.ask("POST", "", {"task_id": task, **more})
        assert answer.status == 201, answer
        return answer.data


async def end_of(episode: Episode, tool: str = "get_time", **arguments: Any) -> dict[str, Any]:
    """Call a tool in whose middle the backend fails: all that is known afterwards but what it was that failed."""
    answers = [await episode.call(tool, **arguments), await episode.call(tool, **arguments)]
    assert episode.error
    return {"answers": answers, "record": without_words(episode_record(episode))}


def without_words(record: dict[str, Any]) -> dict[str, Any]:
    """A record of an episode without the words of its error."""
    log = [{**event, "text": ""} if event["kind"] == "ended" else event for event in record["log"]]
    return {**record, "error": "", "log": log}


@asynccontextmanager
async def client_of(url: str, mode: str = "2026-07-28") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(timeout=30, trust_env=False, verify=TLS) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, cache=None) as client,
    ):
        yield client


def text_of(result: Any) -> str:
    [content] = result.content
    return content.text


def memory_of(pid: int) -> int:
    """Bytes of a process's resident memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


async def whole_episode(endpoint: Endpoint) -> None:
    """The reference agent plays a task on a server, over MCP and the control plane, and succeeds."""
    control, episode = Control(endpoint), Episode()
    agent, observation = make_agent("reference"), await episode.reset(TASK)
    agent.start(episode, observation)
    opened = await control.start()
    path = f"/{opened['id']}"
    async with client_of(control.url + opened["mcp"]) as client:
        while not episode.over:
            turn = parse_action(agent.act(observation))
            observation = await episode.act(turn)
            for call in turn.calls:
                answer = text_of(await client.call_tool(call.name, dict(call.arguments)))
                assert answer == episode.messages[-1]["content"]
            if not turn.calls:
                said = await control.ask("POST", f"{path}/say", {"text": turn.content})
                assert said.data["observation"] == observation
    found = (await control.ask("POST", f"{path}/finish", {})).data
    assert found["outcome"] == episode.outcome == "success" and found["record"]["messages"] == episode.messages
    rows = (await control.ask("GET", f"{path}/journal")).data["changes"]
    assert rows == json.loads(json.dumps(episode.changes)) and rows
    assert (await control.ask("DELETE", path)).status == 204


@asynccontextmanager
async def process(folder: Path, *words: str) -> AsyncIterator[tuple[subprocess.Popen[bytes], Endpoint]]:
    """`tbx serve` as a process of its own."""
    token, log = folder / "token", folder / "log"
    path = os.pathsep.join([str(ROOT), str(ROOT / "domains")])
    command = [sys.executable, "-m", "tbx", "serve", "--http", "127.0.0.1:0", "--token-file", str(token), *words]
    with log.open("wb") as errors:
        server = subprocess.Popen(command, stderr=errors, env={**os.environ, "PYTHONPATH": path})
    try:
        while "tbx serve: " not in log.read_text("utf-8"):
            assert server.poll() is None, log.read_text("utf-8")
            await asyncio.sleep(0.02)
        url = log.read_text("utf-8").partition("tbx serve: ")[2].partition(";")[0]
        assert stat.S_IMODE(token.stat().st_mode) == 0o600 and token.read_text() not in log.read_text()
        yield server, Endpoint(url, token.read_text("utf-8"))
    finally:
        server.kill()
        server.wait()
