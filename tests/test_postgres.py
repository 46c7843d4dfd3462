"""PostgreSQL as the store: everything as with SQLite, episodes apart, and nothing left behind by whoever is killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import wait
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from mcp.shared.exceptions import MCPError
from mcp_parts import Control, client_of, process, text_of, whole_episode
from postgres_server import until, url_or_skip
from sqlalchemy import bindparam, func, select

from tb_envs.agents import BUILT_IN, make_agent, script_agent
from tb_envs.authoring import Db, Json
from tb_envs.authoring.rng import Rng
from tb_envs.background import wait_for
from tb_envs.cli import main
from tb_envs.env import ThinkingBoxEnv
from tb_envs.episode import Episode
from tb_envs.errors import BackendError, UsageError
from tb_envs.knobs import Knobs
from tb_envs.mcp.hub import Rules
from tb_envs.mcp.serve import Options, running
from tb_envs.registration import load_domain
from tb_envs.sampling import ArgumentSampler
from tb_envs.session.local import LocalBackend
from tb_envs.session.postgres import THREADS, PostgresBackend, _threads, open_postgres
from tb_envs.settings import Settings
from tb_envs.store.postgres import slots
from tb_envs.store.postgres.server import SETTINGS, Server, server
from tb_envs.task import Task, get_task

DOMAINS = ("hotel", "banking")
FAMILIES = [f"{name}/{family}/0" for name in DOMAINS for family in load_domain(name).families]


@pytest.fixture(scope="module")
def url() -> str:
    return url_or_skip()


def opened(task: Task, url: str) -> PostgresBackend:
    return wait_for(open_postgres(task, {"store": url}))


def databases(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname ~ '^tbx_(slot|build)_'").fetchall()
    return {name for (name,) in rows}


def connections(url: str) -> int:
    with psycopg.connect(url) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE datname ~ '^tbx_'").fetchall()
    return count


def test_many_episodes_leave_databases_and_connections_flat(url: str) -> None:
    """As many as are played at once, and some whose end is still on its way, however many came before."""
    task, counts = get_task("hotel/late_cancellation/0"), list[tuple[int, int, int]]()

    async def play() -> None:
        for number in range(160):
            pair = [await open_postgres(task, {"store": url}) for _ in range(2)]
            for backend in pair:
                assert (await backend.call("get_time", {})).ok
                backend.close()
            if number % 40 == 20:
                await asyncio.to_thread(wait, [_threads().submit(int) for _ in range(64)])  # goodbyes are said there
                counts.append((len(databases(url)), connections(url), len(os.listdir("/proc/self/fd"))))

    asyncio.run(play())
    assert counts[0][0] >= 2 and counts[0][1] >= 2
    most = THREADS + 2  # goodbyes at once, and what is played; 320 episodes are ten times as many
    assert all(now <= first + most for later in counts[1:] for now, first in zip(later, counts[0], strict=True)), counts
    assert sum(thread.name.startswith("postgres") for thread in threading.enumerate()) <= THREADS


# -- as with SQLite


def sampler_of(task: Task, rng: Rng) -> ArgumentSampler:
    sampler = ArgumentSampler(rng)
    sampler.see(task.instructions)
    for rows in task.domain.seed_rows.values():
        sampler.see(" ".join(list(rows)[:60]))
    for _, row in task.world.patch()[0]:
        sampler.see(" ".join(str(value) for value in row.values()))
    return sampler


async def compared(task: Task, url: str, seed: int, calls: int) -> int:
    """Play random calls on both stores; how many were carried out."""
    one, other = LocalBackend(task), await open_postgres(task, {"store": url})
    rng, done = Rng(seed), 0
    sampler, tools = sampler_of(task, rng), list(task.tools.values())
    for _ in range(calls):
        tool = rng.pick(*tools)
        arguments = sampler.arguments(tool)
        expected, found = await one.call(tool.name, arguments), await other.call(tool.name, arguments)
        assert (found.text, found) == (expected.text, expected), (task.id, tool.name, arguments)
        journal = one.take_changes()
        assert repr(other.take_changes()) == repr(journal), (task.id, tool.name, arguments)  # 1 is not True nor 1.0
        sampler.see(found.text)
        done += found.ok
    dump = one.dump()
    assert repr(other.dump()) == repr(dump)
    one.close()
    other.close()
    return done


@pytest.mark.parametrize("domain", DOMAINS)
def test_random_calls_of_all_tools_give_the_same(domain: str, url: str) -> None:
    families = list(load_domain(domain).families)

    async def all_of_them() -> int:
        done = 0
        for seed in range(24):
            task = get_task(f"{domain}/{families[seed % len(families)]}/{seed // len(families)}", Knobs(distractors=15))
            done += await compared(task, url, seed, 14)
        return done

    assert asyncio.run(all_of_them()) > 50


async def played(task: Task, agent_name: str, settings: Settings) -> tuple[Any, ...]:
    episode = Episode(settings)
    agent = make_agent(agent_name) if agent_name in BUILT_IN else script_agent(task.scenario.mistakes[agent_name].does)
    observation = await episode.reset(task)
    agent.start(episode, observation)
    while not episode.over:
        observation = await episode.act(agent.act(observation))
    episode.close()
    assert not episode.error
    return episode.outcome, episode.verdict, episode.log, episode.messages, episode.changes


def test_verdicts_are_the_same(url: str) -> None:
    settings = Settings(backend={"kind": "embedded", "store": url})

    async def all_of_them() -> None:
        for task_id in FAMILIES:
            task = get_task(task_id)
            mistake = Rng(task_id).pick(*task.scenario.mistakes)
            for agent in ("reference", "obedient", mistake):
                expected = await played(task, agent, Settings())
                assert await played(task, agent, settings) == expected, (task_id, agent)
                assert expected[0] == ("success" if agent == "reference" else "failure")

    asyncio.run(all_of_them())


def test_the_synchronous_face_plays_on_it(url: str) -> None:
    env = ThinkingBoxEnv("hotel", backend={"kind": "embedded", "store": url})
    _, info = env.reset(options={"task_id": "hotel/late_cancellation/0"})
    _, _, terminated, truncated, info = env.step('{"tool_calls": [{"name": "get_time", "arguments": {}}]}')
    assert not terminated and not truncated and not info["error"]
    env.close()


# -- apart


def note(task: Task, body: str) -> dict[str, str]:
    return {"guest_id": task.scenario.about[0], "kind": "preference", "body": body}


def test_48_episodes_at_once_never_mix(url: str) -> None:
    task = get_task("hotel/late_cancellation/0")
    guest = task.scenario.about[0]

    async def one(number: int, all_in: asyncio.Barrier) -> None:
        backend = await open_postgres(task, {"store": url})
        await all_in.wait()
        for turn in range(3):  # the same rows and the same new ids in every one
            assert (await backend.call("add_guest_note", note(task, f"mark {number} {turn}"))).ok
            assert (await backend.call("record_goodwill", {"guest_id": guest})).ok
        await all_in.wait()
        found = await backend.call("list_guest_notes", {"guest_id": guest})
        marks = [item["body"] for item in found.data["items"] if "mark" in item["body"]]
        dumped = [row for row in backend.dump()["guest_notes"].values() if "mark" in str(row)]
        assert len(dumped) == 3 and all(f"mark {number} " in mark for mark in marks)
        backend.close()

    async def all_of_them() -> None:
        all_in = asyncio.Barrier(48)
        await asyncio.gather(*(one(number, all_in) for number in range(48)))

    asyncio.run(all_of_them())


def test_a_slot_keeps_nothing_of_the_episode_before(url: str) -> None:
    first, second = get_task(FAMILIES[0]), get_task(FAMILIES[1])
    clean = {task.id: LocalBackend(task).dump() for task in (first, second)}
    used = set[str]()
    for turn in range(2 * slots.SWEPT + 2):
        task = (first, second)[turn % 2]
        backend = opened(task, url)
        used.add(backend.store.slot.name)
        assert (turn > 4 and turn % 25) or backend.dump() == clean[task.id]
        guest = task.scenario.about[0]
        assert wait_for(backend.call("add_guest_note", note(task, "x"))).data["note_id"] == "NT-90001"
        wait_for(backend.call("record_goodwill", {"guest_id": guest}))
        backend.close()
        backend.close()
        with pytest.raises(BackendError, match="closed"):
            wait_for(backend.call("get_time", {}))
        until(lambda backend=backend: backend.store.closed)
        with pytest.raises(BackendError, match="closed"):
            backend.dump()
    assert len(used) < 5


def test_a_call_given_up_ends_before_its_database_is_anothers(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = get_task("hotel/late_cancellation/0")
    sleep = select(func.pg_sleep(bindparam("seconds")))
    tool = task.tools["record_goodwill"]

    def slow(db: Db, guest_id: str) -> Json:
        result = tool.function(db, guest_id)
        db.query(sleep, {"seconds": 0.5})
        return result

    monkeypatch.setitem(cast("dict[str, Any]", task.tools), tool.name, replace(tool, function=slow))

    async def given_up() -> PostgresBackend:
        backend = await open_postgres(task, {"store": url})
        step = asyncio.ensure_future(backend.call(tool.name, {"guest_id": task.scenario.about[0]}))
        await asyncio.sleep(0.1)
        step.cancel()
        backend.close()
        assert not backend.store.closed
        return backend

    backend = asyncio.run(given_up())
    until(lambda: backend.store.closed)
    slot = backend.store.slot
    again = [opened(task, url) for _ in range(3)]
    assert slot in [other.store.slot for other in again]
    assert all(other.dump() == LocalBackend(task).dump() for other in again)
    for other in again:
        other.close()


def test_a_hung_statement_ends_at_its_deadline(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SETTINGS, "statement_timeout", "300ms")
    task = get_task("hotel/late_cancellation/0")
    backend = opened(task, f"{url}{'&' if '?' in url else '?'}fallback_application_name=hung")
    tool = task.tools["record_goodwill"]

    def hang(db: Db, guest_id: str) -> Json:
        tool.function(db, guest_id)
        return {"rows": len(db.query(select(func.pg_sleep(600))))}

    with monkeypatch.context() as patched:
        patched.setitem(cast("dict[str, Any]", task.tools), tool.name, replace(tool, function=hang))
        with pytest.raises(BackendError, match="statement timeout"):
            wait_for(backend.call(tool.name, {"guest_id": task.scenario.about[0]}))
    assert backend.dump() == LocalBackend(task).dump()
    backend.close()


def test_a_session_of_a_server_has_its_own_deadline_for_statements_too(url: str) -> None:
    """A longer one than a connection's, and a shorter one; the next episode in the same database has the usual one."""
    task = get_task(FAMILIES[0])
    tool = task.tools["get_time"]

    def ask(db: Db) -> Json:
        limit = db.query(select(func.current_setting("statement_timeout")))[0][0]
        return {"limit": limit, "slept": len(db.query(select(func.pg_sleep(0.0 if limit == "45s" else 600))))}

    def sleeping() -> int:
        with psycopg.connect(url) as connection:
            found = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%%pg_sleep(%%'"
            rows = connection.execute(f"{found} AND pid <> pg_backend_pid()").fetchall()
        return rows[0][0]

    async def body() -> list[str]:
        place = Rules(settings=Settings(backend={"kind": "embedded", "store": url}))
        said: list[str] = []
        async with running(Options(rules=place)) as served:
            for deadline in (45, 0.5):
                opened = await Control(served).start(task.id, mode="backend", settings={"deadline": deadline})
                async with client_of(served.url + opened["mcp"]) as client:
                    try:
                        said.append(text_of(await client.call_tool("get_time", {})))
                    except MCPError as error:
                        said.append(str(error))
        return said

    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(cast("dict[str, Any]", task.tools), tool.name, replace(tool, function=ask))
        long, short = asyncio.run(body())
    assert json.loads(long) == {"limit": "45s", "slept": 1}
    assert "did not end in 0.5 s" in short or "statement timeout" in short
    until(lambda: not sleeping(), 10)  # the server's own statement is over too, not only the wait for it
    backend = opened(task, url)
    assert backend.store.slot.connection.execute(b"SHOW statement_timeout").fetchall() == [("30s",)]
    backend.close()


def test_tbx_run_plays_on_it(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--agent", "reference", "--tasks", FAMILIES[0], "--store", url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pass_at_1"] == 1.0


# -- what breaks, and what is left


def test_wrong_options_and_servers_are_told(url: str) -> None:
    task = get_task(FAMILIES[0])
    for options, words in (
        ({}, "postgresql://user@host/database"),
        ({"store": "mysql://x"}, "postgresql://user@host/database"),
        ({"store": "postgresql://u@h/x?nonsense=1"}, "not a PostgreSQL URL"),
        ({"store": url, "pool": 3}, "unknown option pool.*valid: store, deadline"),
        ({"store": url, "deadline": 0}, "deadline is a number of seconds"),
    ):
        with pytest.raises(UsageError, match=words):
            wait_for(open_postgres(task, options))
    with pytest.raises(BackendError, match="cannot be reached") as error:
        wait_for(open_postgres(task, {"store": "postgresql://u:secret@127.0.0.1:1/x"}))
    assert "secret" not in str(error.value)


def test_without_the_driver_it_is_said_what_to_install() -> None:
    code = """
import sys
sys.modules["psycopg"] = None
from tb_envs.background import wait_for
from tb_envs.session.backend import open_backend
from tb_envs.settings import Settings
wait_for(open_backend(None, Settings(backend={"kind": "embedded", "store": "postgresql://x"})))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "UsageError: " in done.stderr and "pip install 'thinkingbox-gym[postgres]'" in done.stderr


def test_a_full_server_says_what_to_raise(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE ROLE tbx_few LOGIN CREATEDB CONNECTION LIMIT 3")
        few = url.replace("postgresql://tbx@", "postgresql://tbx_few@")
        if few == url:
            pytest.skip("the server's URL names another user than tbx")
        try:
            task = get_task(FAMILIES[0])
            backends = [opened(task, few), opened(task, few)]
            with pytest.raises(BackendError, match="max_connections"):
                opened(task, few)
            for backend in backends:
                assert wait_for(backend.call("get_time", {})).ok
                backend.close()
                until(lambda backend=backend: backend.store.closed)
        finally:
            slots.drop_idle()
            home = server(few)
            for name in home.templates:
                home.drop(name)
            home.close()
            until(lambda: not admin.execute("SELECT 1 FROM pg_stat_activity WHERE usename='tbx_few'").fetchall())
            admin.execute("DROP ROLE tbx_few")


def test_a_lost_connection_is_a_system_error_of_one_episode(url: str) -> None:
    task = get_task("hotel/late_cancellation/0")
    lost, other = opened(task, url), opened(task, url)
    with psycopg.connect(url, autocommit=True) as admin:
        kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        admin.execute(kill, [lost.store.slot.name])
    for _ in range(2):
        with pytest.raises(BackendError, match="PostgreSQL"):
            wait_for(lost.call("add_guest_note", note(task, "x")))
    assert wait_for(other.call("add_guest_note", note(task, "x"))).ok
    name = lost.store.slot.name
    for backend in (lost, other):
        backend.close()
    until(lambda: name not in databases(url))
    with psycopg.connect(url, autocommit=True) as admin:  # and all of them, as when the server starts again
        kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE %s"
        admin.execute(kill, [f"tbx {os.getpid()}@%"])
    for _ in range(2):
        again = opened(task, url)
        assert again.dump() == LocalBackend(task).dump()
        again.close()


CHILD = """
import asyncio, sys
from tb_envs.session.postgres import open_postgres
from tb_envs.task import get_task

async def main():
    task = get_task("hotel/late_cancellation/0")
    backends = [await open_postgres(task, {"store": sys.argv[1]}) for _ in range(3)]
    note = {"guest_id": task.scenario.about[0], "kind": "preference", "body": "x"}
    for backend in backends:
        assert (await backend.call("add_guest_note", note)).ok
    backends[0].close()
    print(*(backend.store.slot.name for backend in backends), flush=True)
    if sys.argv[2] == "wait":
        await asyncio.sleep(600)
    for backend in backends:
        backend.close()

asyncio.run(main())
"""


def child(url: str, how: str) -> tuple[subprocess.Popen[str], set[str]]:
    process = subprocess.Popen([sys.executable, "-c", CHILD, url, how], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, set(process.stdout.readline().split())


def test_an_orderly_end_leaves_nothing(url: str) -> None:
    process, names = child(url, "end")
    assert process.wait(60) == 0 and len(names) == 3
    assert not names & databases(url)


def test_what_a_killed_process_left_is_dropped_by_the_next(url: str) -> None:
    process, names = child(url, "wait")
    living, others = child(url, "wait")
    assert names <= databases(url)
    process.send_signal(signal.SIGKILL)
    process.wait()
    home = Server(url)  # a new process, as far as the server knows
    try:
        until(lambda: bool(home.reap()) or not names & databases(url))
        assert not names & databases(url)
        assert others <= databases(url), "databases of a living process were dropped"
    finally:
        home.close()
        living.send_signal(signal.SIGKILL)
        living.wait()
        until(lambda: not (server(url).reap(), others & databases(url))[1])


def test_a_forked_child_plays_on_connections_of_its_own(url: str) -> None:
    task = get_task("hotel/late_cancellation/0")
    backend = opened(task, url)
    backend.close()
    until(lambda: backend.store.closed)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if opened(task, url).store.slot.name != backend.store.slot.name else 2
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    again = opened(task, url)
    assert again.dump() == LocalBackend(task).dump()
    again.close()


def test_an_episode_is_played_through_a_server_process_with_a_store(url: str, tmp_path: Path) -> None:
    async def body() -> None:
        async with process(tmp_path, "--store", url) as (server, endpoint):
            await whole_episode(endpoint)
            with psycopg.connect(url) as admin:
                asked = "SELECT datname FROM pg_stat_activity WHERE application_name LIKE %s"
                held = admin.execute(asked, (f"tbx {server.pid}@%",)).fetchall()
            assert any(name.startswith("tbx_slot_") for (name,) in held), held

    asyncio.run(body())
