"""The journal equals a full comparison, failing tools leave no trace, laws hold after any calls, forks are apart."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tb_envs.agents import make_agent
from tb_envs.authoring.rng import Rng
from tb_envs.episode import Episode, drive
from tb_envs.errors import BackendError
from tb_envs.registration import load_domain
from tb_envs.sampling import ArgumentSampler
from tb_envs.session.local import LocalBackend
from tb_envs.store.image import PAGE
from tb_envs.store.journal import net_diff
from tb_envs.task import get_task

DOMAIN = load_domain("hotel")
TASKS = [f"hotel/{family}/0" for family in DOMAIN.families]
SLOW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def full_comparison(before: dict, after: dict) -> list[tuple]:  # type: ignore[type-arg]
    """What changed, found by comparing every row."""
    out = []
    for table in before:
        for key in sorted(set(before[table]) | set(after[table])):
            old, new = before[table].get(key), after[table].get(key)
            if old != new:
                out.append((table, key, old, new))
    return sorted(out, key=lambda item: item[:2])


@given(st.sampled_from(TASKS), st.integers(0, 10**9), st.integers(5, 40))
@SLOW
def test_random_calls_keep_journal_and_laws(task_id: str, seed: int, length: int) -> None:
    backend = LocalBackend(get_task(task_id))
    rng = Rng(seed)
    sampler = ArgumentSampler(rng)
    sampler.see(get_task(task_id).instructions)
    for rows in DOMAIN.seed_rows.values():
        sampler.see(" ".join(list(rows)[: 40 + seed % 40]))
    for _, row in get_task(task_id).world.patch()[0]:
        sampler.see(" ".join(str(value) for value in row.values()))
    before, changes, state = backend.dump(), [], backend.dump()
    tools = [tool for tool in DOMAIN.tools.values() if tool.effect == "write" or rng.chance(0.2)]
    for _ in range(length):
        tool = rng.pick(*tools)
        result = drive(backend.call(tool.name, sampler.arguments(tool)))
        sampler.see(result.text)
        new = backend.take_changes()
        changes += new
        if not result.ok:
            assert new == [], "a refused call left rows"
            assert backend.dump() == state, "a refused call left a trace"
        else:
            state = backend.dump()
    assert [tuple(change) for change in net_diff(changes)] == full_comparison(before, state)
    for name, law in DOMAIN.laws.items():
        assert backend.store.raw.execute(law).fetchone() is None, f"law broken: {name}"
    backend.close()


def test_ids_roll_back_with_a_failed_call() -> None:
    task = get_task("hotel/late_cancellation/0")
    backend = LocalBackend(task)
    guest = task.scenario.about[0]
    note = {"guest_id": guest, "kind": "preference", "body": "x"}
    first = drive(backend.call("add_guest_note", note)).data
    drive(
        backend.call("open_ticket", {"guest_id": guest, "topic": "cancellation", "summary": "x", "booking_id": "BK-1"})
    )
    second = drive(backend.call("add_guest_note", note)).data
    numbers = [int(str(result[next(k for k in result if k.endswith("_id"))])[3:]) for result in (first, second)]
    assert numbers[1] == numbers[0] + 1


def test_episodes_never_mix() -> None:
    ids = TASKS[:8] * 8
    backends = [LocalBackend(get_task(task_id)) for task_id in ids]
    for number, backend in enumerate(backends):
        guest = backend.task.scenario.about[0]
        note = {"guest_id": guest, "kind": "preference", "body": f"mark {number}"}
        assert drive(backend.call("add_guest_note", note)).ok
    for number, backend in enumerate(backends):
        bodies = [row for row in backend.dump()["guest_notes"].values() if "mark" in str(row)]
        assert len(bodies) == 1 and f"mark {number}" in str(bodies[0])
        backend.close()


def test_a_connection_given_back_keeps_nothing() -> None:
    task = get_task(TASKS[0])
    clean = LocalBackend(task).dump()
    for _ in range(3):
        backend = LocalBackend(task)
        drive(backend.call("add_guest_note", {"guest_id": task.scenario.about[0], "kind": "preference", "body": "x"}))
        backend.store.begin()
        backend.store.raw.execute("UPDATE guests SET city = 'left open'")
        backend.close()
        backend.close()
        with pytest.raises(BackendError, match="closed"):
            drive(backend.call("get_time", {}))
        with pytest.raises(BackendError, match="closed"):
            backend.dump()
    assert LocalBackend(task).dump() == clean


def placed_rows(task_id: str) -> dict:  # type: ignore[type-arg]
    """What a task's database holds at first, from its rows alone: no image, no connection."""
    inserts, updates = get_task(task_id).world.patch()
    rows = {name: dict(seeded) for name, seeded in DOMAIN.seed_rows.items()}
    for name, row in [*inserts, *updates]:
        rows[name] = {**rows[name], row["id"]: row}
    return {
        name: {key: tuple(rows[name][key][column] for column in spec.columns) for key in rows[name]}
        for name, spec in DOMAIN.specs.items()
    }


@given(st.lists(st.tuples(st.sampled_from(TASKS), st.integers(0, 10**9)), min_size=2, max_size=5))
@settings(SLOW, max_examples=40)
def test_a_recycled_database_is_the_tasks_own(visits: list[tuple[str, int]]) -> None:
    for task_id, seed in visits:
        backend = LocalBackend(get_task(task_id))
        assert backend.dump() == placed_rows(task_id)
        rng = Rng(seed)
        sampler = ArgumentSampler(rng)
        for _, row in get_task(task_id).world.patch()[0]:
            sampler.see(" ".join(str(value) for value in row.values()))
        for _ in range(15):
            tool = rng.pick(*DOMAIN.tools.values())
            sampler.see(drive(backend.call(tool.name, sampler.arguments(tool))).text)
        if rng.chance(0.3):  # as a call that is cut off leaves it
            backend.store.begin()
            backend.store.raw.execute("DELETE FROM messages")
        backend.close()


def test_reference_episodes_fit_into_the_image() -> None:
    for task_id in TASKS:
        episode, agent = Episode(), make_agent("reference")
        observation = drive(episode.reset(task_id))
        assert isinstance(episode.backend, LocalBackend)
        raw = episode.backend.store.raw
        (before,) = raw.execute("PRAGMA page_count").fetchone()
        agent.start(episode, observation)
        while not episode.over:
            observation = drive(episode.act(agent.act(observation)))
        assert raw.execute("PRAGMA page_count").fetchone() == (before,), task_id
        episode.close()


def test_unknown_values_are_refused_by_the_schema() -> None:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    raw.deserialize(DOMAIN.image)
    for column in ("status", "channel", "cancel_reason"):
        with pytest.raises(sqlite3.IntegrityError, match=f"{column}_is_known"):
            raw.execute(f"UPDATE bookings SET {column} = 'no such thing'")
    raw.execute("UPDATE bookings SET cancel_reason = NULL WHERE status = 'confirmed'")


def test_the_async_face_works_inside_a_running_loop() -> None:
    async def talk() -> str:
        episode = Episode()
        await episode.reset(TASKS[0])
        await episode.call("get_time")
        await episode.say("Hello, how can I help?")
        await episode.finish()
        episode.close()
        return episode.outcome

    assert asyncio.run(talk()) == "failure"


def test_the_image_is_ordinary_sqlite() -> None:
    raw = sqlite3.connect(":memory:")
    raw.deserialize(DOMAIN.image)
    assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert raw.execute("PRAGMA foreign_key_check").fetchone() is None


def test_a_cursor_that_a_broken_call_leaves_reads_in_no_other_episode() -> None:
    """SQLite ends the process when a cursor reads on over an image that was replaced below it."""
    task = get_task(TASKS[0])
    for breaks in (KeyboardInterrupt(), ZeroDivisionError()):
        backend, left = LocalBackend(task), list[sqlite3.Cursor]()

        def break_off(db: object, at: Any = (backend, left, breaks)) -> None:
            backend, cursors, error = at
            cursors.append(backend.store.raw.execute("SELECT id FROM inventory_nights"))
            assert cursors[0].fetchone()
            raise error

        tool = next(tool for tool in DOMAIN.tools.values() if tool.effect == "read" and not tool.schema["properties"])
        backend.tools = {tool.name: replace(tool, function=break_off)}
        with pytest.raises((KeyboardInterrupt, BackendError)):
            drive(backend.call(tool.name, {}))
        raw = backend.store.raw
        backend.close()
        others = [LocalBackend(task) for _ in range(3)]
        assert raw not in [other.store.raw for other in others]
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            left[0].fetchone()
        for other in others:
            other.close()


def test_a_connection_that_waits_holds_no_episode() -> None:
    backend = LocalBackend(get_task(TASKS[0]))
    raw = backend.store.raw
    backend.close()
    assert len(raw.serialize()) == PAGE
    again = LocalBackend(get_task(TASKS[1]))
    assert again.store.raw is raw
    assert again.dump() == LocalBackend(get_task(TASKS[1])).dump()
