"""The server of MCP sessions: openings that it refuses, silence, hung tools, signals, the command line."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from mcp_parts import ROOT, TASK, Control, client_of, process, text_of
from sqlalchemy import text

from tb_envs.cli import main
from tb_envs.errors import UsageError
from tb_envs.mcp import hub, serve
from tb_envs.mcp.alarm import install
from tb_envs.mcp.hub import Rules
from tb_envs.mcp.serve import Options, listen, running
from tb_envs.registration import load_domain
from tb_envs.session.local import LocalBackend
from tb_envs.task import get_task
from tb_hotel.models.people import Guest

MODEL = {"kind": "llm", "model": "m", "base_url": "http://127.0.0.1:9/v1"}


def test_wrong_openings_say_what_would_be_right() -> None:
    async def body() -> None:
        async with running(Options(rules=Rules(max_sessions=2, judges={"fair": MODEL}))) as server:
            control = Control(server)
            for asked, status, words in (
                ({"task_id": "hotel/nothing/1"}, 400, "near matches"),
                ({"task_id": TASK, "task_hash": "00"}, 409, "install one version on both sides"),
                ({"task_id": TASK, "mode": "all"}, 400, "backend, episode"),
                ({"task_id": TASK, "settings": {"trace_dir": "/tmp/x"}}, 400, "unknown field 'trace_dir'"),
                ({"task_id": TASK, "settings": {"limits": {"turns": 0}}}, 400, "at least 1"),
                ({"task_id": TASK, "settings": {"deadline": float("nan")}}, 400, "number of seconds, at least 0.05"),
                ({"task_id": TASK, "settings": {"deadline": 1e-9}}, 400, "number of seconds, at least 0.05"),
                ({"task_id": TASK, "settings": {"deadline": 3601}}, 400, "at most 3600, got 3601"),
                ({"task_id": TASK, "settings": {"user": MODEL | {"record": "/tmp/x"}}}, 400, "valid: scripted"),
                ({"task_id": TASK, "settings": {"user": {"kind": "recorded", "path": "/x"}}}, 400, "operator gave"),
                ({"task_id": TASK, "settings": {"judge": MODEL}}, 400, "tbx serve --judge NAME=JSON"),
                ({"task_id": TASK, "settings": {"judge": "other"}}, 400, "valid: fair"),
                ({"task_id": TASK, "knobs": {"tools": 3}}, 400, "unknown knob"),
                *(
                    (
                        {"task_id": TASK, "mode": "backend", "settings": {name: value}},
                        400,
                        f"settings.{name} is for mode",
                    )
                    for name, value in (
                        ("faults", {"crash": 1.0}),
                        ("reward", "dense"),
                        ("limits", {"turns": 3}),
                        ("judge", "fair"),
                        ("user", "scripted"),
                        ("customer_tool", True),
                    )
                ),
                ([], 400, "must be a JSON object"),
            ):
                answer = await control.ask("POST", "", asked)
                assert answer.status == status and words in answer.data["error"], (asked, answer)
            first = await control.start(mode="backend", knobs={"distractors": 5})
            await control.start(settings={"judge": "fair", "user": "scripted"})
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
                for path in ("/healthz", "/metrics", "/control/sessions"):
                    elsewhere = await http.get(path, headers={"host": "rebound.example"})
                    assert elsewhere.status_code == 421  # another name for this machine is a page's trick
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
            whole = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            halves = ["", begun, f"{begun}authorization: Bearer {server.token}\r\ncontent-length: 50\r\n\r\n{{"]
            halves += [whole + begun, begun]
            host, port = server.url.removeprefix("http://").split(":")
            held = [await asyncio.open_connection(host, int(port)) for _ in halves]
            for (_, writer), half in zip(held, halves, strict=True):
                writer.write(half.encode())
            dripping = asyncio.create_task(_drip(held[-1][1]))
            for reader, writer in held:  # the server ends them, with or without words
                await asyncio.wait_for(_until_closed(reader), 10)
                writer.close()
            await dripping
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


async def _drip(writer: asyncio.StreamWriter) -> None:
    """A request that never becomes whole, though something of it arrives all the time."""
    with contextlib.suppress(ConnectionError):
        while not writer.is_closing():
            writer.write(b"x: y\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)


def test_an_answer_that_nobody_takes_holds_neither_connection_nor_session() -> None:
    """A client that asks on and on and never reads."""

    async def body() -> None:
        async with running(Options(rules=Rules(idle=0.5), silent=0.5)) as server:
            opened = await Control(server).start()
            asking = asyncio.create_task(_ask_and_never_read(server.url, opened["mcp"]))
            async with asyncio.timeout(30):
                while not server.hub.metrics.reaped:
                    await asyncio.sleep(0.01)
                while server.hub.live:
                    await asyncio.sleep(0.01)
            assert server.hub.metrics.reaped == 1 and server.hub.metrics.ended == {"idle": 1}
            await asyncio.wait_for(asking, 10)

    asyncio.run(body())


async def _ask_and_never_read(url: str, path: str) -> None:
    """Until the server closes the connection."""
    host, port = url.removeprefix("http://").split(":")
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n"
    head += f"accept: application/json, text/event-stream\r\ncontent-length: {len(message)}\r\n\r\n"
    with contextlib.closing(socket.socket()) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # full sooner
        held.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(held, (host, int(port)))
        with contextlib.suppress(ConnectionError):
            while True:
                await loop.sock_sendall(held, (head + message).encode())


def test_an_idle_connection_is_closed_and_the_kernel_asks_after_its_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "KEEP_ALIVE", 0.4)

    async def body() -> None:
        async with running() as server:
            host, port = server.url.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in await reader.readline()
            [connection] = server._server.server_state.connections
            accepted = connection.transport.get_extra_info("socket")
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            if hasattr(socket, "TCP_KEEPIDLE"):
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
            await asyncio.wait_for(_until_closed(reader), 10)
            writer.close()
            assert server.hub.metrics.reaped == 0  # it had nothing to ask: it was only at rest

    asyncio.run(body())


def test_there_are_only_so_many_connections() -> None:
    async def body() -> None:
        async with running(Options(connections=3)) as server:
            host, port = server.url.removeprefix("http://").split(":")
            held = [await asyncio.open_connection(host, int(port)) for _ in range(4)]
            await asyncio.wait_for(_until_closed(held[3][0]), 10)
            assert server.connections() == 3
            for _, writer in held:
                writer.close()

    asyncio.run(body())


def test_nobody_is_left_with_a_session_that_was_not_asked_for_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who opened one and is gone before it is there; and a trainer that was killed, by its lease."""
    begun, go = asyncio.Event(), asyncio.Event()
    inner = hub.open_backend

    async def slowly(task: Any, settings: Any) -> Any:
        begun.set()
        await go.wait()
        return await inner(task, settings)

    monkeypatch.setattr(hub, "open_backend", slowly)

    async def body() -> None:
        async with running(Options(rules=Rules(lease=0.4))) as server:
            control = Control(server)
            asked = asyncio.create_task(control.start(mode="backend"))
            await begun.wait()
            asked.cancel()  # closes its connection
            while server.connections():
                await asyncio.sleep(0.01)
            go.set()
            while server.hub.live:
                await asyncio.sleep(0.01)
            assert server.hub.metrics.ended == {"unclaimed": 1}
            opened = await control.start(mode="backend")
            assert opened["lease"] == 0.4
            until = asyncio.get_running_loop().time() + 30
            for _ in range(8):
                await asyncio.sleep(0.1)
                keys = {"sessions": [opened["id"], "nothing"]}
                answer = await control.endpoint.request("POST", "/control/renew", keys, until=until)
                assert answer.data == {"gone": ["nothing"]}
            while server.hub.live:
                await asyncio.sleep(0.02)
            assert server.hub.metrics.ended == {"unclaimed": 1, "idle": 1}

    asyncio.run(body())


def test_a_key_is_one_calls() -> None:
    async def body() -> None:
        async with running() as server:
            opened = await Control(server).start()
            async with httpx2.AsyncClient(trust_env=False) as http:

                async def call(key: str, tool: str, **arguments: Any) -> Any:
                    params = {"name": tool, "arguments": arguments}
                    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                    headers = {"accept": "application/json, text/event-stream", "idempotency-key": key}
                    return (await http.post(server.url + opened["mcp"], json=message, headers=headers)).json()

                first = await call("a", "get_time")
                assert first == await call("a", "get_time") and not first["result"]["isError"]
                for other in (call("a", "list_articles"), call("a", "get_time", zone="UTC")):
                    assert "another tool or other arguments" in (await other)["error"]["message"]
                assert "at most 200 characters" in (await call("a" * 201, "get_time"))["error"]["message"]

    asyncio.run(body())


def test_the_socket_of_a_killed_server_is_no_obstacle(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    listen(Options(unix=path)).close()  # as a killed process leaves it

    async def body() -> None:
        async with running(Options(unix=path)) as server:
            assert (await Control(server).start())["id"]
            with pytest.raises(UsageError, match="cannot listen"):
                listen(Options(unix=path))  # somebody is there

    asyncio.run(body())


COUNTING = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 200000000) SELECT count(*) FROM n"
"""One statement that takes half a minute."""


def sleeps(db: Any, **arguments: Any) -> dict[str, Any]:
    time.sleep(30)
    return {}


def counts(db: Any, **arguments: Any) -> dict[str, Any]:
    db._raw.execute(COUNTING).fetchall()
    return {}


def writes_and_counts(db: Any, guest_id: str, **arguments: Any) -> dict[str, Any]:
    db.update(Guest, guest_id, surname="NOBODY")
    db.connection.execute(text(COUNTING)).fetchall()
    return {}


@pytest.mark.parametrize("hang", [sleeps, counts, writes_and_counts])
def test_a_hung_tool_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch, hang: Any) -> None:
    """Asleep, or in one SQL statement; nothing of it stays, and the other sessions go on."""
    tools = load_domain("hotel").toolbox(0).tools
    name = "add_guest_note" if hang is writes_and_counts else "get_time"
    guest = get_task(TASK).scenario.about[0]
    arguments = {"guest_id": guest, "kind": "preference", "body": "x"} if hang is writes_and_counts else {}
    monkeypatch.setitem(tools, name, dataclasses.replace(tools[name], function=hang))  # pyright: ignore
    before = signal.getsignal(signal.SIGALRM)

    async def body() -> None:
        install()
        async with running() as server:
            control = Control(server)
            hung, well = await control.start(settings={"deadline": 0.3}), await control.start()
            rows = await control.start(mode="backend", settings={"deadline": 0.3})
            untouched = (await control.ask("GET", f"/{well['id']}/dump")).data
            began = time.monotonic()
            async with client_of(server.url + hung["mcp"]) as client:
                answer = await client.call_tool(name, arguments)
                assert answer.is_error and "ended by a system error (backend)" in text_of(answer)
                assert "conversation is over" in text_of(await client.call_tool("list_articles", {}))
            async with client_of(server.url + rows["mcp"]) as client:
                with pytest.raises(MCPError, match="did not end in"):
                    await client.call_tool(name, arguments)
            assert time.monotonic() - began < 10
            for each in (hung, rows):
                assert (await control.ask("GET", f"/{each['id']}/dump")).data == untouched
                assert (await control.ask("GET", f"/{each['id']}/journal")).data == {"changes": []}
            async with client_of(server.url + well["mcp"]) as client:
                assert "There is no tool" in text_of(await client.call_tool("nothing", {}))
            ended = [(await control.ask("POST", f"/{each['id']}/finish", {})).data for each in (hung, well)]
            assert [each["outcome"] for each in ended] == ["error:backend", "failure"]

    try:
        asyncio.run(body())
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_call_that_waits_ends_alone_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No timer rings while the loop waits; siblings keep their own, whichever ends first."""
    inner = LocalBackend.call

    async def wait(self: LocalBackend, tool: str, arguments: Any) -> Any:
        if tool == "get_time":
            await asyncio.sleep(30)
        if tool == "list_articles":
            await asyncio.sleep(0.05)
            time.sleep(30)  # after it was resumed, it does not suspend again
        return await inner(self, tool, arguments)

    monkeypatch.setattr(LocalBackend, "call", wait)
    before = signal.getsignal(signal.SIGALRM)

    async def body() -> None:
        install()
        async with running() as server:
            control = Control(server)
            slow = {"deadline": 0.3}
            sessions = [await control.start(settings=slow), await control.start(settings=slow), await control.start()]

            async def call(opened: dict[str, Any], tool: str) -> str:
                async with client_of(server.url + opened["mcp"]) as client:
                    return text_of(await client.call_tool(tool, {}))

            began = time.monotonic()
            answers = await asyncio.gather(*map(call, sessions, ("get_time", "list_articles", "nothing")))
            assert time.monotonic() - began < 10
            assert answers[0] == answers[1] and "ended by a system error" in answers[1]
            assert "There is no tool" in answers[2]
            await asyncio.sleep(0.4)  # a timer that is still set would ring here
            ended = [(await control.ask("POST", f"/{each['id']}/finish", {})).data for each in sessions]
            assert [each["outcome"] for each in ended] == ["error:backend", "error:backend", "failure"]

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


def test_after_sigterm_a_verdict_can_be_fetched_within_the_grace(tmp_path: Path) -> None:
    """A conversation that is over is not done with; when its verdict was fetched the server does not wait for more."""

    async def body() -> None:
        async with process(tmp_path, "--grace", "60") as (server, endpoint):
            control = Control(endpoint)
            fetched, deleted = await control.start(), await control.start()
            for each in (fetched, deleted):
                async with client_of(control.url + each["mcp"]) as client:
                    assert not (await client.call_tool("end_conversation", {"summary": "Done."})).is_error
            server.send_signal(signal.SIGTERM)
            await asyncio.sleep(2 * serve.AFTER_DRAIN)  # a server that waited for conversations alone is gone now
            assert (await control.ask("DELETE", f"/{deleted['id']}")).status == 204
            ended = await control.ask("POST", f"/{fetched['id']}/finish", {})
            assert ended.data["outcome"] == "failure" and ended.data["verdict"]
            assert (await control.ask("POST", f"/{fetched['id']}/finish", {})).data == ended.data
            assert await asyncio.to_thread(server.wait, 30) == 0

    asyncio.run(body())


def test_sigterm_does_not_wait_for_who_takes_no_answer(tmp_path: Path) -> None:
    async def body() -> None:
        async with process(tmp_path, "--grace", "1") as (server, endpoint):
            control = Control(endpoint)
            opened = await control.start()
            asking = asyncio.create_task(_ask_and_never_read(control.url, opened["mcp"]))
            while (await control.ask("GET", "")).data["sessions"][0]["idle_seconds"] < 0.5:
                await asyncio.sleep(0.1)  # it still answers
            server.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(server.wait, 30) == 0
            await asyncio.wait_for(asking, 10)
        assert "Traceback" not in (tmp_path / "log").read_text("utf-8")

    asyncio.run(body())


def test_ctrl_c_ends_the_server_in_order(tmp_path: Path) -> None:
    async def body() -> None:
        async with process(tmp_path, "--grace", "0") as (server, endpoint):
            opened = await Control(endpoint).start()
            server.send_signal(signal.SIGINT)
            assert opened["id"] and await asyncio.to_thread(server.wait, 30) == 0

    asyncio.run(body())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_stdio_process_and_makes_no_failure_of_its_episode(
    number: signal.Signals, tmp_path: Path
) -> None:
    """Also while nothing comes from the client; what was said and done is kept."""
    words = [sys.executable, "-m", "tbx", "mcp", TASK, "--traces", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "domains")])}
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, text=True) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}) + "\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        server.send_signal(number)
        assert server.wait(30) == 0
        assert server.stderr.read() == "tbx mcp: error:backend (ended by error)\n"
    [trace] = tmp_path.iterdir()
    kept = json.loads(trace.read_text("utf-8"))
    assert (kept["outcome"], kept["error"], kept["verdict"]) == (
        "error:backend",
        f"the process was ended by {number.name}",
        None,
    )


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
        (["serve", "--user", "strict"], "--user is NAME=JSON"),
        (["serve", "--judge", 'fair={"kind": "llm", "modle": "m"}'], "unknown"),
        (["serve", "--deadline", "4000"], "0.05 to 3600 seconds"),
        (["serve", "--backend", "remote"], "valid: embedded, docker"),
        (["serve", "--backend", '{"kind": "docker"'], "--backend is no JSON"),
        (["serve", "--backend", '{"kind": "docker", "pools": 3}'], "Did you mean 'pool'"),
        (["serve", "--backend", '{"kind": "docker", "deadline": 5}'], "write --deadline SECONDS"),
        (["serve", "--backend", '{"kind": "docker", "lease": 50}'], "deadline 60 is longer than lease 50"),
        (["serve", "--backend", "docker", "--store", "postgresql://u@h/x"], "--store is for --backend embedded"),
        (["serve", "--backend", '{"kind": "embedded", "pool": 3}'], "valid: store"),
        (["serve", "--store", "mysql://x"], "postgresql://user@host/database"),
        (["serve", "--store", "postgresql://u@127.0.0.1:1/x"], "PostgreSQL at 127.0.0.1/x cannot be reached"),
        (["mcp", "hotel/nothing/1"], "near matches"),
    ],
)
def test_wrong_command_lines_are_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_missing_engine_is_told_before_anything_is_served(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert main(["serve", "--backend", '{"kind": "docker", "pool": 2}']) == 2
    assert "no Docker engine answers at unix:///nowhere" in capsys.readouterr().err


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "uvicorn"] + ["tb_envs.mcp.serve"]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)  # as if it were not installed
    assert main(["serve"]) == 2
    assert "pip install 'thinkingbox-gym[mcp]'" in capsys.readouterr().err
