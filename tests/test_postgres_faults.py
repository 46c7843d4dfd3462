"""PostgreSQL when processes fork, when a transaction is lost, and when several processes meet on one server."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from postgres_server import until, url_or_skip
from psycopg.conninfo import make_conninfo

from tb_envs.actions import call
from tb_envs.background import wait_for
from tb_envs.env import ThinkingBoxEnv
from tb_envs.errors import BackendError
from tb_envs.session.local import LocalBackend
from tb_envs.session.postgres import PostgresBackend, open_postgres
from tb_envs.store.postgres import slots
from tb_envs.store.postgres.server import Server
from tb_envs.task import get_task

TASK = "hotel/late_cancellation/0"


@pytest.fixture(scope="module")
def url() -> str:
    return url_or_skip()


def note(body: str) -> dict[str, str]:
    return {"guest_id": get_task(TASK).scenario.about[0], "kind": "preference", "body": body}


def opened(url: str) -> PostgresBackend:
    return wait_for(open_postgres(get_task(TASK), {"store": url}))


def named(url: str, like: str) -> set[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname ~ %s", [like]).fetchall()
    return {name for (name,) in rows}


def backend_of(env: ThinkingBoxEnv) -> Any:
    episode: Any = env._episode  # pyright: ignore[reportPrivateUsage]
    return episode.backend


def in_a_fork(does: Callable[[], None]) -> None:
    """Run it in a forked child, which must not fail."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            does()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


def test_a_forked_child_leaves_its_parents_episode_alone(url: str) -> None:
    env = ThinkingBoxEnv("hotel", backend={"kind": "embedded", "store": url})
    env.reset(options={"task_id": TASK})
    backend = backend_of(env)
    env.step(call("add_guest_note", **note("BEFORE-MARK")))
    assert sum("BEFORE-MARK" in str(row) for row in backend.dump()["guest_notes"].values()) == 1
    expected = backend.dump()

    def play_and_close() -> None:
        with pytest.raises(BackendError, match="belongs to the process that opened it"):
            wait_for(backend.call("get_time", {}))
        with pytest.raises(BackendError, match="belongs to the process that opened it"):
            backend.dump()
        env.close()
        with pytest.raises(psycopg.Error):  # also whoever goes around all this reaches nobody
            backend.store.slot.script("ROLLBACK")
        backend.store.slot.connection.close()

    in_a_fork(play_and_close)
    assert backend.dump() == expected
    info = env.step(call("add_guest_note", **note("AFTER-MARK")))[4]
    assert not info["error"]
    assert sum("AFTER-MARK" in str(row) for row in backend.dump()["guest_notes"].values()) == 1
    info = env.step(call("end_conversation", summary="x"))[4]
    assert info["outcome"] == "failure" and not info["error"]
    env.close()
    until(lambda: backend.store.closed)
    again = opened(url)
    assert again.dump() == LocalBackend(get_task(TASK)).dump()
    again.close()


def roll_back_unseen(slot: slots.Slot) -> None:
    """As a process that shares the socket would: the driver learns nothing of it."""
    if slot.connection.pgconn.ssl_in_use:
        pytest.skip("the connection is encrypted")
    words = b"ROLLBACK\0"
    socket = slot.connection.fileno()
    os.write(socket, b"Q" + struct.pack("!I", 4 + len(words)) + words)
    told = b""
    while not told.endswith(b"Z\0\0\0\5I"):  # ready, in no transaction
        select.select([socket], [], [], 20)
        told += os.read(socket, 4096)


@pytest.mark.parametrize("then", ["read", "write", "dump", "close"])
def test_a_lost_transaction_is_a_system_error_and_its_slot_is_dropped(url: str, then: str) -> None:
    env = ThinkingBoxEnv("hotel", backend={"kind": "embedded", "store": url})
    env.reset(options={"task_id": TASK})
    backend = backend_of(env)
    slot = backend.store.slot
    env.step(call("add_guest_note", **note("BEFORE-MARK")))
    roll_back_unseen(slot)
    if then == "dump":
        with pytest.raises(BackendError, match="the episode's transaction is IDLE"):
            backend.dump()
    elif then != "close":
        about = note("would stay for ever")
        does = {"read": call("list_guest_notes", guest_id=about["guest_id"]), "write": call("add_guest_note", **about)}
        info = env.step(does[then])[4]
        assert info["outcome"] == "error:backend" and "transaction is IDLE" in info["error"]
    env.close()
    until(lambda: backend.store.closed)
    assert slot.name not in named(url, "^tbx_slot_")
    again = opened(url)
    assert again.store.slot is not slot and again.dump() == LocalBackend(get_task(TASK)).dump()
    again.close()


def test_an_idle_slot_in_an_odd_state_is_not_played_on(url: str) -> None:
    backend = opened(url)
    backend.close()
    until(lambda: backend.store.closed)
    slot = backend.store.slot
    slot.script("BEGIN")
    others = [opened(url) for _ in range(4)]
    assert slot not in [other.store.slot for other in others]
    for other in others:
        other.close()
    assert slot.spoilt and slot.name not in named(url, "^tbx_slot_")


def test_processes_of_another_database_of_the_server_are_seen_to_live(url: str) -> None:
    one = Server(url)
    made = one.create("slot", "template0")
    assert made is not None
    other = Server(elsewhere(url))
    assert one.exists(made), "a living process's database was dropped"
    one.close()
    until(lambda: bool(other.reap()) or not other.exists(made))
    assert not other.exists(made)
    other.close()


def elsewhere(url: str) -> str:
    """The URL of another database of the server, as keywords and values."""
    return make_conninfo(url, dbname="template1")


BUILDER = """
import os, sys
sys.path.append(sys.argv[1])
from toy_house import HOUSE
from tb_envs.store.postgres.slots import take
children = []
for url in sys.argv[2:]:
    children.append(os.fork())
    if not children[-1]:
        slot = take(url, HOUSE)
        os.write(1, slot.template.encode() + b"\\n")
        slot.drop()
        os._exit(0)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


def test_eight_processes_build_one_template(url: str) -> None:
    """Whatever order their sets have, and whichever database their URLs name."""
    home = Server(url)
    for name in named(url, "^tbx_seed_house_"):
        home.drop(name)
    command = [sys.executable, "-c", BUILDER, os.path.dirname(__file__), *[url, elsewhere(url)] * 2]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    ]
    told = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert [len(names) for names in told] == [4, 4]
    assert {name for names in told for name in names} == named(url, "^tbx_seed_house_")
    assert len(named(url, "^tbx_seed_house_")) == 1
    until(lambda: not (home.reap(), named(url, "^tbx_build_"))[1])
    home.close()
