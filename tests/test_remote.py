"""``backend="remote"``: one session server or a fleet; what really fails there ends as what is injected does."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import httpx2
import pytest
from backend_kinds import in_thread
from llm_double import ModelDouble
from mcp_parts import client_of, end_of, memory_of, process, text_of

from tb_envs.actions import call
from tb_envs.background import Loop, shared, wait_for
from tb_envs.endpoints import Endpoint as ModelEndpoint
from tb_envs.episode import Episode
from tb_envs.errors import BackendError, UsageError
from tb_envs.limits import Limits
from tb_envs.mcp.hub import Rules
from tb_envs.mcp.serve import Options, Served, running
from tb_envs.openai_client import ask
from tb_envs.session import fleet as fleets
from tb_envs.session.fleet import fleet_of
from tb_envs.session.local import LocalBackend
from tb_envs.session.remote import RemoteBackend, connect, open_remote
from tb_envs.session.wire import Endpoint
from tb_envs.settings import Settings
from tb_envs.task import get_task

TASKS = [f"hotel/late_cancellation/{index}" for index in range(4)]
TASK = TASKS[0]
NOTE = {"kind": "preference", "body": "wants a quiet room"}


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    """The control token of every server here."""
    monkeypatch.setenv("TBX_TOKEN", "a-token-for-tests-only")
    return "a-token-for-tests-only"


def settings(*urls: str, **options: Any) -> Settings:
    return Settings(backend={"kind": "remote", "urls": list(urls), **options})


def note(index: int = 0) -> dict[str, str]:
    return {"guest_id": get_task(TASKS[index % len(TASKS)]).scenario.about[0], **NOTE}


async def settled(condition: Callable[[], bool]) -> None:
    """Goodbyes are said in the background: wait for them."""
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def test_a_loop_that_closes_leaves_no_connection() -> None:
    """Not to a session server, and not to a model's."""
    model = ModelDouble(["Hello."]).start()

    async def use(server: Served) -> list[bool]:
        endpoint = Endpoint(server.url, server.token)
        until = asyncio.get_running_loop().time() + 30
        assert (await endpoint.request("GET", "/control/sessions", until=until)).status == 200
        asked = ask(ModelEndpoint("m", model.url), {"messages": [{"role": "user", "content": "Hello?"}]})
        return [(await asked).text == "Hello.", server.connections() == 1, len(model._writers) == 1]

    async def body() -> None:
        async with in_thread(Options()) as server:
            loop = Loop()
            assert all(await asyncio.wrap_future(loop.submit(use(server)).future))
            await asyncio.to_thread(loop.close)
            await settled(lambda: server.connections() == 0 and not model._writers)

    try:
        asyncio.run(body())
    finally:
        model.stop()


def test_a_gymnasium_environment_plays_on_a_server(token: str) -> None:
    """The synchronous face, over HTTP, gives what it gives embedded."""
    loop_thread = in_thread(Options(token=token))
    server = wait_for(loop_thread.__aenter__())
    try:
        played: list[list[Any]] = []
        for backend in ("embedded", {"kind": "remote", "urls": server.url, "deadline": 30}):
            env = gymnasium.make("ThinkingBox/Hotel-v0", backend=backend)
            seen: list[Any] = [env.reset(options={"task_id": TASK})]
            for action in ("What is your booking number?", call("add_guest_note", **note()), call("nothing"),
                           call("end_conversation", summary="Done.")):  # fmt: skip
                seen.append(env.step(action))
            env.close()
            played.append(seen)
        assert played[0] == played[1]
        wait_for(settled(lambda: not server.hub.live))
        assert server.hub.metrics.ended == {"deleted": 1}
    finally:
        wait_for(loop_thread.__aexit__(None, None, None))


def test_what_an_agent_writes_is_never_a_system_error(token: str) -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    wild = ({"guest_id": "\ud800"}, {"guest_id": "x" * 5_000_000}, {"guest_id": deep}, {"guest_id": 10**4000},
            {"\ud800": "\x00"}, {"guest_id": float("1e400")}, {**note(), "body": "\ud800\x00"})  # fmt: skip

    async def body() -> None:
        async with running(Options(token=token)) as server:
            here, there = Episode(), Episode(settings(server.url))
            for episode in (here, there):
                await episode.reset(TASK)
            for arguments in wild:
                try:
                    want = await here.call("add_guest_note", **arguments)
                except Exception as error:  # what breaks the embedded one is that one's to mend
                    pytest.fail(f"embedded: {error!r}")
                assert await there.call("add_guest_note", **arguments) == want
            assert await there.call("x\ud800") == await here.call("x\ud800")
            assert not there.outcome and there.changes == here.changes
            there.close()

    asyncio.run(body())


def test_what_really_fails_ends_an_episode_as_what_is_injected(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is gone, one that hangs, a tool that breaks: the agent reads the same, the record is the same."""
    tools = get_task(TASK).domain.toolbox(0).tools

    async def slow(self: LocalBackend, tool: str, arguments: Any) -> Any:
        await asyncio.sleep(30)

    def breaks(db: Any) -> Any:
        raise RuntimeError("broken")

    async def ended(settings: Settings, between: Callable[[], Any] = int) -> dict[str, Any]:
        episode = Episode(settings)
        await episode.reset(TASK)
        if waited := between():
            await waited
        found = await end_of(episode)
        episode.close()
        return found

    async def body() -> None:
        want = await ended(Settings(faults={"crash": 1.0}))
        assert want == await ended(Settings(faults={"timeout": 1.0}))
        assert want["record"]["outcome"] == "error:backend" and "ended by a system error" in want["answers"][0]
        stack = AsyncExitStack()
        server = await stack.enter_async_context(running(Options(token=token)))
        assert await ended(settings(server.url, deadline=20), stack.aclose) == want
        async with running(Options(token=token)) as server:
            with monkeypatch.context() as patch:
                patch.setattr(LocalBackend, "call", slow)
                assert await ended(settings(server.url, deadline=0.3)) == want
            with monkeypatch.context() as patch:
                patch.setitem(tools, "get_time", dataclasses.replace(tools["get_time"], function=breaks))  # pyright: ignore
                assert await ended(settings(server.url)) == want
                assert await ended(Settings()) == want

    asyncio.run(body())


@pytest.mark.parametrize("mode", ["backend", "episode"])
def test_whatever_an_agent_sent_its_verdict_can_be_fetched(mode: str, token: str, tmp_path: Path) -> None:
    """Over HTTP, byte by byte: answers of both planes and the trace are JSON that any reader takes."""
    wild = ("1e999", "-1e999", "NaN", '[{"b": Infinity}]', '"\\ud800"', "[" * 150 + "]" * 150, "1" * 4000, '"\\u0000"')

    def read(answer: httpx2.Response) -> Any:
        return json.loads(answer.content, parse_constant=pytest.fail)

    async def body() -> None:
        rules = Rules(settings=Settings(trace_dir=str(tmp_path)))
        async with (
            running(Options(token=token, rules=rules)) as server,
            httpx2.AsyncClient(base_url=server.url, timeout=30, trust_env=False) as http,
        ):
            bearer = {"authorization": f"Bearer {token}"}
            opened = read(await http.post("/control/sessions", json={"task_id": TASK, "mode": mode}, headers=bearer))
            told = 0
            for tool, value in itertools.product(("get_time", "add_guest_note", "nothing"), wild):
                message = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "{tool}", '
                message += f'"arguments": {{"a": {value}}}}}}}'
                headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
                answer = await http.post(opened["mcp"], content=message, headers=headers)
                assert answer.status_code in (200, 400), (value, answer)
                told += answer.status_code == 200 and json.loads(answer.content)["result"]["isError"]
            assert told >= 12
            session = f"/control/sessions/{opened['id']}"
            assert read(await http.get(f"{session}/journal", headers=bearer)) == {"changes": []}
            gone = await http.post("/control/renew", content='{"sessions": ["\\ud800"]}', headers=bearer)
            assert read(gone) == {"gone": ["\ud800"]}
            no_task = await http.post("/control/sessions", content='{"task_id": "\\ud800"}', headers=bearer)
            assert no_task.status_code == 400 and read(no_task)["error"]
            if mode == "episode":
                said = await http.post(f"{session}/say", content='{"text": "Hello \\ud800"}', headers=bearer)
                assert not read(said)["over"]
                ended = read(await http.post(f"{session}/finish", headers=bearer))
                assert ended["outcome"] == "failure" and ended["verdict"]
                found = [event["data"]["a"] for event in ended["record"]["log"] if event["kind"] == "call"]
                assert {"Infinity", "-Infinity", "NaN"} <= {value for value in found if isinstance(value, str)}
                [trace] = tmp_path.iterdir()
                assert json.loads(trace.read_bytes(), parse_constant=pytest.fail) == ended["record"]
            assert (await http.delete(session, headers=bearer)).status_code == 204

    asyncio.run(body())


class Unreliable:
    """A way to a server that breaks off some answers after they were given: the request was carried out."""

    def __init__(self, server: Served) -> None:
        self.host, self.port = server.url.removeprefix("http://").split(":")
        self.lose = 0
        self.lost = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward, back = await asyncio.open_connection(self.host, int(self.port))
        try:
            while data := await reader.read(100_000):
                back.write(data)
                answer = await onward.read(100_000)
                if self.lose and b"tools/call" in data:
                    self.lose -= 1
                    self.lost += 1
                    break
                writer.write(answer)
        finally:
            back.close()
            writer.close()


def test_a_lost_answer_is_fetched_and_nothing_is_done_twice(token: str) -> None:
    async def body() -> None:
        async with running(Options(token=token)) as server:
            way = Unreliable(server)
            listener = await asyncio.start_server(way.serve, "127.0.0.1", 0)
            async with listener:
                url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
                backend = await connect(Endpoint(url, token), get_task(TASK), deadline=20)
                assert (await backend.call("add_guest_note", note())).ok
                way.lose = 2
                lost = await backend.call("add_guest_note", note())
                assert lost.ok and way.lost == 2 and server.hub.metrics.replayed == 2
                read = await backend.call("list_guest_notes", {"guest_id": note()["guest_id"]})
                assert read.text.count(NOTE["body"]) == 2
                changes = backend.take_changes()
                assert [change.call for change in changes] == [1, 2]
                way.lose = 99  # now for good
                with pytest.raises(BackendError, match="broke off POST"):
                    await backend.call("get_time", {})
                assert backend.broken
                with pytest.raises(BackendError, match="broke before"):
                    await backend.call("get_time", {})

    asyncio.run(body())


def test_a_server_that_hangs_is_given_up_at_the_deadline(token: str) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def body() -> None:
        listener = await asyncio.start_server(silent, "127.0.0.1", 0)
        async with listener:
            url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
            episode = Episode(settings(url, deadline=0.3))
            began = time.monotonic()
            await episode.reset(TASK)
            assert episode.outcome == "error:backend" and "did not answer" in episode.error
            assert time.monotonic() - began < 10

    asyncio.run(body())


def test_a_killed_server_is_a_system_error_for_its_sessions_alone(token: str, tmp_path: Path) -> None:
    """Killed in mid-call; siblings elsewhere go on, and the next reset goes there, or back once it is up again."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    async def body() -> None:
        async with AsyncExitStack() as stack:
            first, one = await stack.enter_async_context(process(tmp_path / "a", "--token-env", "TBX_TOKEN"))
            _, two = await stack.enter_async_context(process(tmp_path / "b", "--token-env", "TBX_TOKEN"))
            both = settings(one.url, two.url, deadline=20)
            episodes = [Episode(both) for _ in range(8)]
            await asyncio.gather(*(each.reset(TASKS[n % 4]) for n, each in enumerate(episodes)))
            places = [_of(each).endpoint.url for each in episodes]
            assert sorted(places) == sorted([one.url, two.url] * 4)  # the least loaded one each time

            async def play(episode: Episode, number: int) -> None:
                while not episode.over and episode.tool_calls < 40:
                    await episode.call("add_guest_note", **note(number))
                await episode.finish()

            running_ = asyncio.gather(*(play(each, n) for n, each in enumerate(episodes)))
            await asyncio.sleep(0.05)
            first.kill()
            await running_
            for episode, place in zip(episodes, places, strict=True):
                assert episode.outcome == ("error:backend" if place == one.url else "failure"), episode.error
                assert episode.error if place == one.url else episode.tool_calls == 40
            again = Episode(both)
            for _ in range(3):
                await again.reset(TASK)
                assert not again.outcome and _of(again).endpoint.url == two.url
            again.close()
            assert [host.failures > 0 for host in fleet_of((one.url, two.url), token).hosts] == [True, False]

            # it comes back at the same place, and is tried again
            port = one.url.rpartition(":")[2]
            await stack.enter_async_context(in_thread(Options(token=token, port=int(port))))
            async with asyncio.timeout(30):
                while True:
                    await again.reset(TASK)
                    if _of(again).endpoint.url == one.url:
                        break
                    await asyncio.sleep(0.1)
            for each in (*episodes, again):
                each.close()

    asyncio.run(body())


def test_sigterm_lets_episodes_on_a_server_end_and_makes_no_failure_of_the_rest(token: str, tmp_path: Path) -> None:
    """Of a trainer: one ends within the grace and is judged, one goes on for too long, one asks when all is over."""

    async def body() -> None:
        async with process(tmp_path, "--token-env", "TBX_TOKEN", "--grace", "4") as (server, endpoint):
            long = dataclasses.replace(settings(endpoint.url), limits=Limits(turns=10_000, tool_calls=10_000))
            ending, late, silent = (Episode(long) for _ in range(3))
            for each in (ending, late, silent):
                await each.reset(TASK)
                await each.call("add_guest_note", **note())
            server.send_signal(signal.SIGTERM)
            async with httpx2.AsyncClient(base_url=endpoint.url, trust_env=False) as http:
                while (await http.get("/readyz")).text != "closing":
                    await asyncio.sleep(0.01)
            await ending.call("add_guest_note", **note())
            await ending.call("end_conversation", summary="Done.")
            assert (ending.outcome, len(ending.changes)) == ("failure", 2) and ending.verdict is not None
            ending.close()
            while not late.over:
                await late.call("get_time")
                await asyncio.sleep(0.02)
            assert await asyncio.to_thread(server.wait, 30) == 0
            await silent.call("get_time")
            for each in (late, silent):
                assert (each.outcome, each.verdict, each.reward) == ("error:backend", None, 0.0), each.error
                each.close()

    asyncio.run(body())


def _of(episode: Episode) -> RemoteBackend:
    assert isinstance(episode.backend, RemoteBackend)
    return episode.backend


def test_a_full_fleet_is_waited_for(token: str) -> None:
    async def body() -> None:
        async with running(Options(token=token, rules=Rules(max_sessions=1))) as server:
            first, second = Episode(settings(server.url)), Episode(settings(server.url))
            await first.reset(TASK)
            waiting = asyncio.create_task(second.reset(TASK))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            first.close()
            await waiting
            assert not second.outcome and server.hub.live == 1
            third = Episode(settings(server.url, deadline=0.3))
            await third.reset(TASK)
            assert third.outcome == "error:backend" and "1 sessions are open" in third.error
            second.close()

    asyncio.run(body())


def test_one_server_of_a_fleet_does_not_stop_the_others(token: str) -> None:
    """One hangs, one has another token: sessions open elsewhere, and soon."""

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def body() -> None:
        hung = await asyncio.start_server(silent, "127.0.0.1", 0)
        async with hung, running(Options(token="another-token")) as other, running(Options(token=token)) as server:
            url = f"http://127.0.0.1:{hung.sockets[0].getsockname()[1]}"
            fleet = settings(url, other.url, server.url, deadline=3)
            episode = Episode(fleet)
            with pytest.warns(RuntimeWarning, match="left out: .* refuses the token"):
                await episode.reset(TASK)
            assert not episode.outcome and _of(episode).endpoint.url == server.url
            hosts = fleet_of((url, other.url, server.url), token).hosts
            assert [host.failures for host in hosts] == [1, 0, 0]
            assert hosts[0].until - time.monotonic() > 1  # it costs the next ones nothing
            began = time.monotonic()
            for _ in range(3):
                await episode.reset(TASK)
                assert _of(episode).endpoint.url == server.url
            assert time.monotonic() - began < 1
            with pytest.raises(UsageError, match="refuses the token"):
                await Episode(settings(other.url)).reset(TASK)
            episode.close()

    asyncio.run(body())


def test_a_session_is_renewed_while_it_is_held_and_closed_when_it_is_dropped(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleets, "RENEWED", 0.1)

    async def body() -> None:
        async with running(Options(token=token, rules=Rules(lease=0.5))) as server:
            episode = Episode(settings(server.url))
            await episode.reset(TASK)
            await asyncio.sleep(1.0)  # an agent that thinks for longer than the lease
            await episode.call("get_time")
            assert not episode.outcome and server.hub.live == 1
            del episode
            gc.collect()
            await settled(lambda: not server.hub.live)
            assert server.hub.metrics.ended == {"deleted": 1}

    asyncio.run(body())


def test_wrong_settings_are_told(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = get_task(TASK)

    async def body() -> None:
        async with running(Options(token=token)) as server:
            for options, words in (
                ({}, "needs urls"),
                ({"urls": [server.url], "speed": 3}, "unknown option 'speed'.*urls, token_env, deadline"),
                ({"urls": [server.url], "token_env": "NOT_SET"}, "environment variable NOT_SET"),
                ({"urls": ["localhost:80"]}, "write http://host:port"),
                ({"urls": ["http://127.0.0.1:abc"]}, "write http://host:port"),
                ({"urls": [server.url, "http://127.0.0.1:99999"]}, "write http://host:port"),
                ({"urls": [server.url], "deadline": -1}, "number of seconds"),
            ):
                with pytest.raises(UsageError, match=words):
                    await open_remote(task, options)
            with pytest.raises(UsageError, match="refuses the token"):
                await connect(Endpoint(server.url, "wrong"), task)
            other = dataclasses.replace(task)
            object.__setattr__(other, "hash", "0" * 64)  # as another version would build it
            with pytest.raises(UsageError, match=r"another one here.*install one version on both sides"):
                await connect(Endpoint(server.url, token), other)

    asyncio.run(body())
    with pytest.raises(UsageError, match="embedded, docker, remote"):
        Settings(backend="cloud")


def cpu_of(pid: int) -> float:
    """CPU seconds of a process so far."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9


SESSIONS, ROUNDS = 144, 4


def test_144_sessions_at_once_do_not_mix(token: str, tmp_path: Path) -> None:
    """With the SDK's client, in one server process: each reads its own writes back, and what it costs."""

    async def body() -> None:
        async with process(tmp_path, "--token-env", "TBX_TOKEN") as (server, endpoint):
            loop = asyncio.get_running_loop()
            for task in TASKS:  # built once
                await _start(endpoint, task, loop.time() + 60)
            before = memory_of(server.pid)
            opened = [await _start(endpoint, TASKS[n % 4], loop.time() + 60) for n in range(SESSIONS)]
            barrier = asyncio.Barrier(SESSIONS + 1)

            async def play(number: int) -> None:
                guest = note(number)["guest_id"]
                async with client_of(endpoint.url + opened[number]["mcp"]) as client:
                    for turn in range(ROUNDS):
                        await barrier.wait()
                        mine = {"guest_id": guest, "kind": "preference", "body": f"note {turn} of session {number}."}
                        assert not (await client.call_tool("add_guest_note", mine)).is_error
                        read = text_of(await client.call_tool("list_guest_notes", {"guest_id": guest}))
                        assert read.count("of session") == read.count(f"of session {number}.") == turn + 1
                    await barrier.wait()

            def spent() -> float:
                return time.process_time() + cpu_of(server.pid)

            async with asyncio.timeout(240), asyncio.TaskGroup() as players:
                for number in range(SESSIONS):
                    players.create_task(play(number))
                await barrier.wait()
                marks = [spent()]
                for _ in range(ROUNDS):
                    await barrier.wait()
                    marks.append(spent())
            costs = [(after - before) / (2 * SESSIONS) for before, after in pairwise(marks)]
            grown = (memory_of(server.pid) - before) / SESSIONS
            print(f"{[round(1000 * cost, 2) for cost in costs]} ms CPU a call, {grown / 2**20:.2f} MiB a session")
            # CPU time too grows on a busy machine: here what would be wrong anywhere is caught, twice the budget of
            # 3 ms in the quietest round; `benchmarks/backends.py` holds the budget itself.
            assert min(costs) <= 0.006 and grown <= 2 * 2**20, (costs, grown)

    asyncio.run(body())


async def _start(endpoint: Endpoint, task: str, until: float) -> dict[str, Any]:
    answer = await endpoint.request("POST", "/control/sessions", {"task_id": task}, until=until)
    assert answer.status == 201, answer
    return answer.data


def test_1000_episodes_leave_nothing_behind(token: str) -> None:
    """One after the other, client and server in this process: descriptors, tasks, threads, memory, sessions."""

    async def held(server: Served) -> tuple[int, ...]:
        await settled(lambda: not server.hub.live)
        gc.collect()
        tasks = [len(asyncio.all_tasks(loop)) for loop in (shared().loop, theirs.loop)]
        return len(os.listdir("/proc/self/fd")), threading.active_count(), *tasks, server.connections()

    theirs = Loop()
    loop_thread = in_thread(Options(token=token), theirs)
    server = wait_for(loop_thread.__aenter__())
    env = gymnasium.make("ThinkingBox/Hotel-v0", backend={"kind": "remote", "urls": [server.url]})
    try:
        start: tuple[int, ...] = ()
        memory = 0
        for number in range(1000):
            env.reset(options={"task_id": TASKS[number % 4]})
            env.step(call("add_guest_note", **note(number)))
            assert env.step(call("end_conversation", summary="Done."))[4]["outcome"] == "failure"
            if number == 99:
                env.close()
                start, memory = wait_for(held(server)), memory_of(os.getpid())
        env.close()
        end = wait_for(held(server))
        assert all(after <= before + 2 for before, after in zip(start, end, strict=True)), (start, end)
        grown = memory_of(os.getpid()) - memory
        assert grown < 12 * 2**20, grown
        assert server.hub.metrics.ended == {"deleted": 1000}
    finally:
        env.close()
        wait_for(loop_thread.__aexit__(None, None, None))


def test_200_episodes_over_mcp_leave_nothing_behind(token: str) -> None:
    """Mode `episode`, with the SDK's client: the server holds whole episodes, and nothing of one that was deleted."""
    theirs = Loop()

    async def body() -> None:
        async with in_thread(Options(token=token), theirs) as server:
            endpoint = Endpoint(server.url, token)

            def held() -> tuple[int, ...]:
                tasks = [len(asyncio.all_tasks(loop)) for loop in (asyncio.get_running_loop(), theirs.loop)]
                return len(os.listdir("/proc/self/fd")), threading.active_count(), *tasks, server.connections()

            start: tuple[int, ...] = ()
            memory = 0
            for number in range(200):
                soon = asyncio.get_running_loop().time() + 60
                opened = await _start(endpoint, TASKS[number % 4], soon)
                path = f"/control/sessions/{opened['id']}"
                async with client_of(server.url + opened["mcp"]) as client:
                    assert not (await client.call_tool("add_guest_note", note(number))).is_error
                    assert not (await client.call_tool("end_conversation", {"summary": "Done."})).is_error
                assert (await endpoint.request("POST", f"{path}/finish", {}, until=soon)).data["outcome"] == "failure"
                assert (await endpoint.request("DELETE", path, until=soon)).status == 204
                if number == 49:
                    await settled(lambda: server.connections() <= 1)
                    gc.collect()
                    start, memory = held(), memory_of(os.getpid())
            await settled(lambda: server.connections() <= 1)
            gc.collect()
            end = held()
            assert all(after <= before + 2 for before, after in zip(start, end, strict=True)), (start, end)
            assert memory_of(os.getpid()) - memory < 12 * 2**20
            assert not server.hub.live and server.hub.metrics.ended == {"deleted": 200}

    asyncio.run(body())
