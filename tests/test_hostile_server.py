"""What a session server that was taken over may answer: each of it is a system error of its episode, and no more."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_envs.episode import Episode
from tb_envs.errors import BackendError
from tb_envs.registration import load_domain
from tb_envs.session.answers import read_changes, read_dump, read_json, read_opened, read_result
from tb_envs.session.local import LocalBackend
from tb_envs.session.remote import connect
from tb_envs.session.wire import LONGEST, Endpoint
from tb_envs.settings import Settings
from tb_envs.task import get_task

TASK = "hotel/late_cancellation/0"
ID = "abcdefghijklmnopqrstuvwx"
SPECS = load_domain("hotel").specs
WIDTH = len(SPECS["guest_notes"].columns)
ROW: list[Any] = ["x"] * WIDTH
OPENED = {"id": ID, "mcp": f"/episodes/{ID}/mcp", "live": 1}
RESULT: dict[str, Any] = {"content": [{"type": "text", "text": "{}"}], "structuredContent": {}, "isError": False}
CHANGE: list[Any] = [1, 1, "guest_notes", "K", None, ROW]

Reply = bytes | Callable[[asyncio.StreamWriter], Any]


def http(body: Any, status: str = "200 OK", kind: str = "") -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\n{kind}content-length: {len(content)}\r\n\r\n".encode() + content


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        await writer.drain()


class Hostile:
    """A server whose answers to the opening, to calls and to the journal are chosen; it notes what it was asked."""

    def __init__(self, opening: Reply, call: Reply, journal: Reply) -> None:
        self.replies = {"opening": opening, "call": call, "journal": journal}
        self.asked: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = head.partition("content-length: ")[2].partition("\r")[0]
                await reader.readexactly(int(length or 0))
                method, path, _ = head.partition("\r")[0].split(" ")
                self.asked.append(f"{method} {path}")
                kind = "call" if path.endswith("/mcp") else "journal" if "/journal" in path else "opening"
                reply = self.replies[kind]
                if isinstance(reply, bytes):
                    writer.write(reply)
                    await writer.drain()
                else:
                    await reply(writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def result(**changed: Any) -> bytes:
    return http({"jsonrpc": "2.0", "id": 1, "result": {**RESULT, **changed}})


def changes(*rows: Any) -> bytes:
    return http({"changes": [*rows]})


def changed(**places: Any) -> bytes:
    names = ("sequence", "call", "table", "key", "before", "after")
    return changes([places.get(name, value) for name, value in zip(names, CHANGE, strict=True)])


DEEP = b'{"a":' * 900 + b"1" + b"}" * 900
EVIL: dict[str, dict[str, Reply]] = {
    "an endless answer": {"opening": endless},
    "an endless result": {"call": endless},
    "a bomb": {"call": http(gzip.compress(b" " * (64 << 20)), kind="content-encoding: gzip\r\n")},
    "brackets": {"opening": http(b"[" * 200_000)},
    "a deep object": {"opening": http(DEEP)},
    "a deep result": {"call": http(b'{"result":' + DEEP + b"}")},
    "a huge number": {"journal": http(b'{"changes":[[' + b"9" * 5000 + b"]]}")},
    "no JSON": {"call": http(b"<html>")},
    "a list": {"call": http([])},
    "nothing": {"call": http(b"")},
    "no UTF-8": {"call": http(b'{"result": "\xff"}')},
    "half a character": {"call": result(content=[{"type": "text", "text": "\ud800"}])},
    "a path for an id": {"opening": http({**OPENED, "id": "../../containers/victim/kill?signal=KILL#"})},
    "a short id": {"opening": http({**OPENED, "id": "abc"})},
    "an id in lines": {"opening": http({**OPENED, "id": ID + "\n"})},
    "an id that is a number": {"opening": http({**OPENED, "id": 7})},
    "words for a number": {"opening": http({**OPENED, "live": "x"})},
    "fewer than none": {"opening": http({**OPENED, "live": -1})},
    "another status": {"opening": http(OPENED, "302 Found", "location: http://localhost/elsewhere\r\n")},
    "an error that is none": {"call": http({"error": [1, {"message": {}}]})},
    "a result that is text": {"call": http({"result": "ok"})},
    "text that is a number": {"call": result(content=[{"type": "text", "text": 5}])},
    "no content": {"call": result(content=[])},
    "structure that is text": {"call": result(structuredContent="x")},
    "an error in words": {"call": result(isError="no")},
    "no journal": {"journal": http({})},
    "a journal that is an object": {"journal": http({"changes": {}})},
    "a change of two": {"journal": changes([1, 2])},
    "a change that is text": {"journal": changes("abcdef")},
    "no such table": {"journal": changed(table="no_such")},
    "a table that is a list": {"journal": changed(table=[])},
    "a key that is an object": {"journal": changed(key={})},
    "a short row": {"journal": changed(after=["a"])},
    "a row that is text": {"journal": changed(after="x" * WIDTH)},
    "a value that is a list": {"journal": changed(after=[[], *ROW[1:]])},
    "a value that is no number": {"journal": changed(after=[float("nan"), *ROW[1:]])},
    "a number that is text": {"journal": changed(sequence="1")},
    "a number that is true": {"journal": changed(sequence=True)},
    "out of order": {"journal": changes(CHANGE, CHANGE)},
    "no change": {"journal": changed(after=None)},
}


def play(folder: Path, monkeypatch: pytest.MonkeyPatch, **replies: Reply) -> tuple[Episode, list[str]]:
    """One call of an episode whose server answers like that where it is not told otherwise: rightly."""
    monkeypatch.setenv("TBX_TOKEN", "a-token")
    hostile = Hostile(**{"opening": http(OPENED), "call": result(), "journal": changes(CHANGE), **replies})
    place = f"{folder}/s"

    async def body() -> Episode:
        async with await asyncio.start_unix_server(hostile.serve, place):
            if "opening" in replies:  # an episode would ask again until its deadline
                backend = await connect(Endpoint(f"unix:{place}", "a-token"), get_task(TASK))
                backend.close()
            episode = Episode(Settings(backend={"kind": "remote", "urls": f"unix:{place}", "deadline": 30}))
            await episode.reset(get_task(TASK))
            if not episode.over:
                guest = get_task(TASK).scenario.about[0]
                await episode.call("add_guest_note", guest_id=guest, kind="preference", body="Quiet.")
            return episode

    return asyncio.run(body()), hostile.asked


def test_a_right_answer_is_taken_and_paths_are_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the refusals below are of what is wrong in each. A path that a server names is not asked."""
    elsewhere = http({**OPENED, "mcp": "/containers/victim/kill?signal=KILL"})
    episode, asked = play(tmp_path, monkeypatch, opening=elsewhere)
    assert not episode.over and next(iter(episode.changes)).table == "guest_notes"
    told = [each for each in asked if not each.startswith("delete ")]
    assert told == [
        *["post /control/sessions"] * 2,
        f"post /episodes/{ID}/mcp",
        f"get /control/sessions/{ID}/journal?after=0",
    ]


@pytest.mark.parametrize("what", EVIL)
def test_an_answer_that_is_none_is_a_system_error(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if "opening" in EVIL[what]:
        with pytest.raises(BackendError) as refused:
            play(tmp_path, monkeypatch, **EVIL[what])
        error = str(refused.value)
    else:
        episode, _ = play(tmp_path, monkeypatch, **EVIL[what])
        assert episode.outcome == "error:backend"
        error = episode.error
    assert 0 < len(error) < 1000 and "in time" not in error
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB
    assert grown * 1024 < 12 * LONGEST, "what is read of an answer is bounded"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from([*SPECS, ID]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.sampled_from(["content", "text", "x"]), inner),
    max_leaves=12,
)


def put(place: int, value: Any) -> list[Any]:
    return [*CHANGE[:place], value, *CHANGE[place + 1 :]]


@given(JSON)
def test_whatever_is_answered_is_read_or_refused(value: Any) -> None:
    readers: list[Callable[[], Any]] = [
        lambda: read_opened({"id": value}),
        lambda: read_opened({"id": ID, "live": value}),
        lambda: read_result({"result": value}, "get_time", {}),
        lambda: read_result({"result": {**RESULT, "content": value}}, "get_time", {}),
        lambda: read_changes({"changes": value}, SPECS, 0, 1),
        lambda: read_changes({"changes": [value]}, SPECS, 0, 1),
        *(lambda n=n: read_changes({"changes": [put(n, value)]}, SPECS, 0, 1) for n in range(6)),
        lambda: read_dump({"dump": value}, SPECS),
        lambda: read_dump({"dump": {name: value for name in SPECS}}, SPECS),
    ]  # fmt: skip
    for read in readers:
        try:
            read()
        except BackendError as error:
            assert "cannot be used" in str(error)


def test_a_whole_database_is_read_as_it_was() -> None:
    backend = LocalBackend(get_task(TASK))
    dump = backend.dump()
    backend.close()
    assert read_dump(read_json(json.dumps({"dump": dump}).encode()), SPECS) == dump
