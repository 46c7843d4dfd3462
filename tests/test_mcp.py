"""The MCP faces: one session is one episode, judged as any other; and nothing else can be reached from inside it."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp_parts import ROOT, TASK, Control, client_of, process, text_of
from starlette.routing import BaseRoute, Mount, Route

from tb_envs.actions import parse_action
from tb_envs.agents import make_agent, script_agent
from tb_envs.cli import main
from tb_envs.episode import Episode
from tb_envs.mcp import open_seat
from tb_envs.mcp.alarm import install
from tb_envs.mcp.app import make_app
from tb_envs.mcp.hub import Hub, Rules
from tb_envs.mcp.serve import Options, running
from tb_envs.mcp.sessions import SAY
from tb_envs.registration import load_domain
from tb_envs.task import Task, get_task

Run = Callable[[Coroutine[Any, Any, None]], None]


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
                assert (found["outcome"], found["ended_by"], found["reward"], found["turns"]) == (
                    want.outcome, want.ended_by, want.reward, want.turns,
                )  # fmt: skip
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


def test_limits_and_system_errors_end_an_episode_as_anywhere() -> None:
    async def body() -> None:
        async with running() as server:
            control = Control(server)
            few = await control.start(settings={"limits": {"tool_calls": 2}})
            broken = await control.start(settings={"faults": {"crash": 1.0}})
            async with client_of(server.url + few["mcp"]) as client:
                answers = [text_of(await client.call_tool("get_time", {})) for _ in range(3)]
                assert "over" not in answers[0] and "conversation is over" in answers[2]
            async with client_of(server.url + broken["mcp"]) as client:
                first = await client.call_tool("get_time", {})
                assert first.is_error and "crash" not in text_of(first)
                assert "conversation is over" in text_of(await client.call_tool("get_time", {}))
            ended = [(await control.ask("POST", f"/{each['id']}/finish", {})).data for each in (few, broken)]
            assert [each["outcome"] for each in ended] == ["failure", "error:backend"]
            assert [each["ended_by"] for each in ended] == ["limit:tool_calls", "error"]
            assert ended[1]["verdict"] is None and ended[1]["reward"] == 0.0

    asyncio.run(body())


RULES = {
    ("/episodes/{id}/mcp", "POST"): "agent",
    ("/control/sessions", "POST"): "control",
    ("/control/sessions", "GET"): "control",
    ("/control/sessions/{id}/journal", "GET"): "control",
    ("/control/sessions/{id}/dump", "GET"): "control",
    ("/control/sessions/{id}/say", "POST"): "control",
    ("/control/sessions/{id}/finish", "POST"): "control",
    ("/control/sessions/{id}", "DELETE"): "control",
    ("/healthz", "GET"): "open",
    ("/readyz", "GET"): "open",
    ("/metrics", "GET"): "open",
}
"""Who may use each route. A new route fails the tests below until it has a rule here."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")


def routes_of(routes: Iterable[BaseRoute], above: str = "") -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for route in routes:
        if isinstance(route, Mount):
            found |= routes_of(route.app.routes, above + route.path)  # pyright: ignore
        else:
            assert isinstance(route, Route) and route.methods, route
            found |= {(above + route.path, method) for method in route.methods - {"HEAD"}}
    return found


def test_every_route_has_a_rule() -> None:
    assert routes_of(make_app(Hub(Rules()), "token").routes) == set(RULES)


def guesses(own: str, other: str) -> list[str]:
    """Paths that somebody inside the session `own` may try."""
    ids = (own, other, "0", "1", "..", "*", "%2e%2e", "")
    paths = {path.replace("{id}", key) for (path, _), key in itertools.product(RULES, ids)}
    words = ("reset", "state", "checks", "expected", "verdict", "score", "finish", "journal", "dump", "say", "admin")
    paths |= {f"/episodes/{own}/{word}" for word in words} | {f"/episodes/{own}/mcp/{word}" for word in words}
    paths |= {f"/{word}" for word in (*words, "docs", "openapi.json", "sessions", "episodes", ".env", "debug", "")}
    paths |= {
        f"/episodes/{own}/mcp/../../../control/sessions", f"/episodes/{own}/..%2f..%2fcontrol%2fsessions",
        "//control/sessions", "/control//sessions", "/%63ontrol/sessions", "/CONTROL/sessions", "/control/sessions/",
        "/control", "/control/", f"/control/sessions/{own}", f"/episodes/{own}/mcp/", f"/episodes/{own[:-1]}/mcp",
        f"/episodes/{own}/mcp?token=", f"/episodes/{own};{other}/mcp", f"/episodes/{own}%00/mcp", "/static/../control",
    }  # fmt: skip
    return sorted(paths)


def test_from_inside_a_session_nothing_else_can_be_reached() -> None:
    """Every method on every path, with every credential an agent may hold; every method and tool of MCP."""
    task = get_task(TASK)
    note = {"guest_id": task.scenario.about[0], "kind": "preference", "body": "MARKER-OF-ANOTHER-EPISODE"}

    async def body() -> None:
        async with running() as server:
            control = Control(server)
            own, other = await control.start(), await control.start()
            async with client_of(server.url + other["mcp"]) as client:
                assert not (await client.call_tool("add_guest_note", note)).is_error
            journal = (await control.ask("GET", f"/{other['id']}/journal")).data
            assert "MARKER" in str(journal)
            secrets = {
                server.token, other["id"], "MARKER-OF-ANOTHER-EPISODE", *task.scenario.mistakes,
                *(f'"name":"{check.name}"' for check in task.scenario.expects),
                "/control/sessions/", '"verdict"', '"outcome"', '"changes"', "tool_faults",
            }  # fmt: skip

            def reveals(answer: httpx2.Response, asked: str) -> list[str]:
                said = f"{answer.text} {dict(answer.headers)}".replace(asked, "").replace('": "', '":"')
                return [secret for secret in secrets if secret in said]

            allowed = {(path.replace("{id}", own["id"]), m) for (path, m), who in RULES.items() if who != "control"}
            credentials = [{}, {"authorization": f"Bearer {own['id']}"}, {"authorization": "Bearer"},
                           {"authorization": f"Bearer {server.token[:-1]}"}, {"mcp-session-id": other["id"]},
                           {"cookie": f"token={own['id']}"}]  # fmt: skip
            async with httpx2.AsyncClient(base_url=server.url, timeout=30, trust_env=False) as http:
                for path, method in itertools.product(guesses(own["id"], "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), METHODS):
                    for headers in credentials if "control" in path else credentials[:1]:
                        raw = {"target": path.encode() or b"/"}  # as written: a client would tidy it up
                        sent = {"headers": headers, "json": {"task_id": TASK}, "extensions": raw}
                        answer = await http.request(method, "/", **sent)
                        found = reveals(answer, own["id"])
                        assert not found, (method, path, headers, found)
                        if answer.status_code < 300:
                            assert (path, "GET" if method == "HEAD" else method) in allowed, (method, path)
                        if path.startswith("/control/sessions"):
                            assert answer.status_code == 401 and not answer.content, (method, path, answer)
                await attack_mcp(http, own, reveals)
            assert (await control.ask("GET", f"/{other['id']}/journal")).data == journal
            assert (await control.ask("GET", f"/{own['id']}/journal")).data == {"changes": []}
            listed = (await control.ask("GET", "")).data["sessions"]
            assert {each["id"] for each in listed} == {own["id"], other["id"]}
            assert not any(each["over"] for each in listed)

    asyncio.run(body())


async def attack_mcp(http: httpx2.AsyncClient, own: dict[str, Any], reveals: Any) -> None:
    """Every MCP method and tool name that comes to mind, raw."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    names = ["reset", "finish", "score", "grade", "verdict", "expected", "checks", "journal", "dump", "sql", "query",
             "list_sessions", "start", "say", "__init__", "call", "close", "eval", "take_changes", "control/sessions",
             "say_to_customer", "", "*", "../dump"]  # fmt: skip
    calls = [("tools/call", {"name": name, "arguments": {"id": own["id"], "text": "x"}}) for name in names]
    methods = ["resources/templates/list", "resources/subscribe", "completion/complete", "logging/setLevel",
               "subscriptions/listen", "sampling/createMessage", "roots/list", "elicitation/create", "tasks/list",
               "tasks/get", "server/discover", "ping", "control/finish", "rpc.discover", "initialize"]  # fmt: skip
    uris = ["policy://banking/policy.md", "file:///etc/passwd", "policy://hotel/../expected", "journal://", "db://"]
    calls += [(method, {}) for method in methods]
    calls += [("resources/read", {"uri": uri}) for uri in uris]
    calls += [("prompts/get", {"name": name}) for name in ("expected", "../policy", "verdict", "customer")]
    for method, params in calls:
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "accept": "application/json"}
        named = params.get("name") or params.get("uri")
        if named:
            headers["mcp-name"] = named
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        answer = await http.post(own["mcp"], json=message, headers=headers)
        assert not reveals(answer, own["id"]), (method, params)
        found = answer.json() if answer.content else {"error": {}}
        if method == "tools/call" and "result" in found:
            assert found["result"]["structuredContent"]["error"]["type"] == "unknown_tool"
        elif "result" in found:
            assert method in ("server/discover", "ping") and set(found["result"]) <= {
                "supportedVersions", "capabilities", "serverInfo", "instructions", "resultType", "ttlMs", "cacheScope",
                "_meta",
            }, found  # fmt: skip
        else:
            assert "error" in found, (method, params, found)


def test_wrong_openings_say_what_would_be_right() -> None:
    async def body() -> None:
        async with running(Options(rules=Rules(max_sessions=2))) as server:
            control = Control(server)
            for asked, status, words in (
                ({"task_id": "hotel/nothing/1"}, 400, "near matches"),
                ({"task_id": TASK, "task_hash": "00"}, 409, "install one version on both sides"),
                ({"task_id": TASK, "mode": "all"}, 400, "backend, episode"),
                ({"task_id": TASK, "settings": {"trace_dir": "/tmp/x"}}, 400, "unknown field 'trace_dir'"),
                ({"task_id": TASK, "settings": {"limits": {"turns": 0}}}, 400, "at least 1"),
                ({"task_id": TASK, "knobs": {"tools": 3}}, 400, "unknown knob"),
                ([], 400, "must be a JSON object"),
            ):
                answer = await control.ask("POST", "", asked)
                assert answer.status == status and words in answer.data["error"], (asked, answer)
            first = await control.start(mode="backend", knobs={"distractors": 5})
            await control.start()
            full = await control.ask("POST", "", {"task_id": TASK})
            assert full.status == 503 and "2 sessions are open" in full.data["error"]
            say = await control.ask("POST", f"/{first['id']}/say", {"text": "hello"})
            assert say.status == 409 and "held by who opened it" in say.data["error"]
            async with httpx2.AsyncClient(base_url=server.url, trust_env=False) as http:
                assert (await http.get("/readyz")).status_code == 503
                assert (await http.get("/healthz")).text == "ok"
                metrics = (await http.get("/metrics")).text
                assert 'tbx_sessions_refused_total{why="full"} 1' in metrics and "tbx_sessions_live 2" in metrics
                web = await http.post(first["mcp"], json={}, headers={"origin": "http://evil.example"})
                assert web.status_code in (400, 403)  # a page in the user's browser is nobody's agent
                await control.ask("DELETE", f"/{first['id']}")
                assert (await http.get("/readyz")).status_code == 200
                assert (await http.post(first["mcp"], json={})).status_code == 404

    asyncio.run(body())


def test_a_silent_session_ends_and_a_silent_connection_is_closed() -> None:
    async def body() -> None:
        async with running(Options(rules=Rules(idle=0.5), silent=0.4)) as server:
            control = Control(server)
            opened = await control.start()
            begun = "POST /control/sessions HTTP/1.1\r\nHost: localhost\r\n"
            halves = ["", begun, f"{begun}authorization: Bearer {server.token}\r\ncontent-length: 50\r\n\r\n{{"]
            host, port = server.url.removeprefix("http://").split(":")
            held = [await asyncio.open_connection(host, int(port)) for _ in halves]
            for (_, writer), half in zip(held, halves, strict=True):
                writer.write(half.encode())
            for reader, writer in held:  # the server ends them, with or without words
                await asyncio.wait_for(_until_closed(reader), 10)
                writer.close()
            while server.hub.live:
                await asyncio.sleep(0.02)
            assert server.hub.metrics.reaped == len(halves)
            assert server.hub.metrics.ended == {"idle": 1}
            assert (await control.ask("POST", f"/{opened['id']}/finish", {})).status == 404

    asyncio.run(body())


async def _until_closed(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(1000):
            pass
    except ConnectionError:
        pass


def test_a_hung_tool_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = load_domain("hotel").toolbox(0).tools

    def hang(db: Any, **arguments: Any) -> dict[str, Any]:
        time.sleep(30)
        return {}

    monkeypatch.setitem(tools, "get_time", dataclasses.replace(tools["get_time"], function=hang))  # pyright: ignore
    before = signal.getsignal(signal.SIGALRM)

    async def body() -> None:
        install()
        async with running() as server:
            control = Control(server)
            hung, well = await control.start(settings={"deadline": 0.3}), await control.start()
            began = time.monotonic()
            async with client_of(server.url + hung["mcp"]) as client:
                assert (await client.call_tool("get_time", {})).is_error
                assert "conversation is over" in text_of(await client.call_tool("list_articles", {}))
            assert time.monotonic() - began < 10
            async with client_of(server.url + well["mcp"]) as client:
                assert "There is no tool" in text_of(await client.call_tool("nothing", {}))
            ended = [(await control.ask("POST", f"/{each['id']}/finish", {})).data for each in (hung, well)]
            assert [each["outcome"] for each in ended] == ["error:backend", "failure"]

    try:
        asyncio.run(body())
    finally:
        signal.signal(signal.SIGALRM, before)


def test_sigterm_lets_conversations_end_and_makes_no_failure_of_the_rest(tmp_path: Path) -> None:
    async def body() -> None:
        async with process(tmp_path, "--grace", "3") as (server, endpoint):
            control = Control(endpoint)
            ending, left = await control.start(), await control.start()
            async with client_of(control.url + ending["mcp"]) as client, client_of(control.url + left["mcp"]) as other:
                server.send_signal(signal.SIGTERM)
                async with httpx2.AsyncClient(base_url=control.url, trust_env=False) as http:
                    while (await http.get("/readyz")).text != "closing":
                        await asyncio.sleep(0.01)
                assert (await control.ask("POST", "", {"task_id": TASK})).status == 503
                assert not (await client.call_tool("get_time", {})).is_error
                assert not (await client.call_tool("end_conversation", {"summary": "Done."})).is_error
                assert (await control.ask("POST", f"/{ending['id']}/finish", {})).data["outcome"] == "failure"
                assert not (await other.call_tool("get_time", {})).is_error
                while "over" not in text_of(await other.call_tool("list_articles", {})):
                    await asyncio.sleep(0.05)
                assert (await control.ask("POST", f"/{left['id']}/finish", {})).data["outcome"] == "error:backend"
            assert await asyncio.to_thread(server.wait, 30) == 0

    asyncio.run(body())


def test_importing_the_package_loads_none_of_it() -> None:
    script = (
        "import sys, tb_envs; print([name for name in sys.modules if name.partition('.')[0] in"
        " ('mcp', 'mcp_types', 'starlette', 'uvicorn', 'httpx2', 'anyio')])"
    )
    path = os.pathsep.join([str(ROOT), str(ROOT / "domains")])
    said = subprocess.check_output([sys.executable, "-c", script], text=True, env={**os.environ, "PYTHONPATH": path})
    assert said.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve", "--http", "here"], "HOST:PORT, such as 127.0.0.1:8765"),
        (["serve", "--token-env", "NOT_SET"], "must hold a token of at least 16 characters"),
        (["serve", "--http", "192.0.2.1:80"], "cannot listen on 192.0.2.1:80"),
        (["mcp", "hotel/nothing/1"], "near matches"),
    ],
)
def test_wrong_command_lines_are_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "uvicorn"] + ["tb_envs.mcp.serve"]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)  # as if it were not installed
    assert main(["serve"]) == 2
    assert "pip install 'thinkingbox-gym[mcp]'" in capsys.readouterr().err
