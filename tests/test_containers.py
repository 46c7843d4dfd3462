"""Episodes in containers: what an image holds, what a container may do, who ends it, and what becomes of the others.

Those that need an engine are marked `containers`, and run by `make test-containers`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import itertools
import json
import os
import posixpath
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import gymnasium as gym
import httpx2
import pytest
from backend_kinds import definitions
from container_parts import TakenOver, attack, found, no_engine, ready_image, taken_over
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_parts import Control, client_of, memory_of, process, whole_episode
from services import skip_or_fail

import tb_envs
import tb_envs.session.docker as docker_backend
from tb_envs.cli import main as tbx
from tb_envs.containers import prune
from tb_envs.containers.container import FOLDERS, OWNER, remove_folder, socket_folder
from tb_envs.containers.engine import LABEL, OWNED, engine
from tb_envs.containers.images import SCRATCH, build_image, find_image
from tb_envs.containers.interpreter import pack_python
from tb_envs.containers.options import ContainerOptions
from tb_envs.containers.owner import is_dead, owner
from tb_envs.containers.placed import pack, unpack
from tb_envs.containers.plain_http import Refused, Request
from tb_envs.containers.pool import Pool, make_pool
from tb_envs.containers.proof import facts
from tb_envs.containers.prune import Leftover, clear, leftovers
from tb_envs.containers.routes import find
from tb_envs.containers.server import LEASE, MANIFEST, ROUTES, SEED, SOCKET, TOKEN
from tb_envs.containers.source import Source, closure, source_of
from tb_envs.errors import BackendError, UsageError
from tb_envs.mcp.databases import timed, try_it
from tb_envs.mcp.hub import Rules
from tb_envs.mcp.serve import Options, running
from tb_envs.registration import load_domain
from tb_envs.session.docker import DockerBackend, open_docker
from tb_envs.session.local import LocalBackend
from tb_envs.session.remote import connect
from tb_envs.session.wire import Endpoint
from tb_envs.settings import Settings
from tb_envs.store.dump import Dump
from tb_envs.store.image import PAGE, _comparison, changed_pages
from tb_envs.task import Task, get_task

ROOT = Path(__file__).parent.parent
TASK = "hotel/late_cancellation/0"
needs_engine = pytest.mark.containers


def until(condition: Callable[[], Any], seconds: float, what: str) -> float:
    """Wait for it; how long it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return time.monotonic() - began


BOMBS = {
    "forks": "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
    "memory": "heap = []\nwhile True:\n    heap.append(bytearray(1 << 22))\n",
    "hangs": "import re\nre.match('(a*)*$', 'a' * 40 + 'b')\n",
    "exits": "import os\nos._exit(0)\n",
    "stops": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n",
}


# -- without an engine: the server as a plain process, on exactly the files of an image


def unpacked(source: Source, folder: Path) -> list[str]:
    """Lay an image's files out; where its code and its libraries are, and nothing else that is installed here."""
    for name, content in source.files.items():
        path = folder / "code" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / MANIFEST).write_text(json.dumps({"entry": source.entry, "digest": source.digest}))
    (folder / SEED).write_bytes(source.domain.image)
    site = folder / "site"
    site.mkdir()
    for library in source.libraries:
        for top in {item.parts[0] for item in library.files or ()} - {"..", "__pycache__"}:
            (site / top).symlink_to(str(library.locate_file(top)))
    return [str(folder / "code"), str(site)]


class Inside:
    """The server of a domain, run from its image's files."""

    def __init__(self, folder: Path, lease: float = 30.0, source: Source | None = None, owned: bool = False) -> None:
        source = source or source_of("hotel")
        paths = unpacked(source, folder)
        self.socket = folder / "s"
        self.token = "the-token"
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-m", "tb_envs.containers"],
            cwd=folder,
            env={
                "PYTHONPATH": os.pathsep.join(paths),
                SOCKET: str(self.socket), TOKEN: self.token, LEASE: str(lease),
            },
        )  # fmt: skip
        until(self.listens, 20, "the server listens")
        self.owner = self.lifeline() if owned else None

    def listens(self) -> bool:
        """Whether somebody can connect: the socket's file is there a moment earlier."""
        with socket.socket(socket.AF_UNIX) as line:
            return line.connect_ex(str(self.socket)) == 0

    def raw(self, head: str, body: bytes = b"") -> bytes:
        """Send bytes, read one answer's bytes."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(10)
            line.connect(str(self.socket))
            line.sendall(head.encode() + b"\r\n\r\n" + body)
            return line.recv(1 << 20)

    def lifeline(self) -> socket.socket:
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(10)
        line.connect(str(self.socket))
        line.sendall(f"GET /control/lifeline HTTP/1.1\r\nauthorization: Bearer {self.token}\r\n\r\n".encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 200 ")
        return line


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    server = Inside(tmp_path_factory.mktemp("inside"))
    yield server
    server.process.kill()
    server.process.wait()


PROOF = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import tb_envs.containers.__main__, tb_envs.containers.proof
tb_envs.containers.proof.main()
print(json.dumps([module.__file__ for module in sys.modules.values() if getattr(module, "__file__", None)]))
"""


@pytest.mark.parametrize("domain", ["hotel", "banking"])
def test_an_image_needs_all_of_its_files_and_nothing_else(domain: str, tmp_path: Path) -> None:
    source = source_of(domain)
    words = [sys.executable, "-I", "-S", "-c", PROOF, json.dumps(unpacked(source, tmp_path))]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    told, loaded = map(json.loads, done.stdout.splitlines())
    assert told == facts(source.domain)
    ours = {name for name in source.files if name.startswith("tb_envs/") and name.endswith(".py")}
    assert {f"{tmp_path}/code/{name}" for name in ours} <= {*loaded}, "what no server imports stays out of an image"


@pytest.mark.parametrize("domain", ["hotel", "banking"])
def test_pages_are_compared_alike_with_and_without_numpy(domain: str) -> None:
    seed = load_domain(domain).image
    for changed in ({}, {0: 2}, {5: 1, 6: 1, 40: 3}, {len(seed) // PAGE: 4}):
        image = bytearray(seed)
        for page, count in changed.items():
            start = page * PAGE
            image[start : start + count * PAGE] = bytes(
                255 - byte for byte in image[start : start + count * PAGE].ljust(count * PAGE, b"-")
            )
        expected = [page * PAGE for first, count in changed.items() for page in range(first, first + count)]
        assert changed_pages(seed, bytes(image)) == _comparison()(seed, bytes(image)) == expected


def test_libraries_with_shared_objects_of_their_own_are_packed_once(tmp_path: Path) -> None:
    """NumPy brings some that its modules find by paths with dots in them."""
    skip_or_fail("" if shutil.which("ldd") else "an image of this machine's Python needs ldd")
    with (tmp_path / "python.tar").open("w+b") as archive:
        environment = pack_python(archive, closure(("numpy",)))
        archive.seek(0)
        with tarfile.open(fileobj=archive) as packed:
            names = packed.getnames()
    assert len({posixpath.normpath(name) for name in names}) == len(names)
    assert any(name.startswith("app/site/numpy/") for name in names)
    assert ".." not in environment["LD_LIBRARY_PATH"]


def dump_of(task: Task) -> Dump:
    backend = LocalBackend(task)
    dump = backend.dump()
    backend.close()
    return dump


def opening(task: Task) -> dict[str, Any]:
    return {"placed": pack(task), "source": source_of(task.domain.name).digest}


@pytest.mark.parametrize("domain", ["hotel", "banking"])
def test_a_task_arrives_as_it_was_packed(domain: str) -> None:
    for task_id in load_domain(domain).suite_ids["train"][::7]:
        task = get_task(task_id)
        packed = pack(task)
        arrived = unpack(task.domain, json.loads(json.dumps(packed)))
        assert dump_of(cast("Task", arrived)) == dump_of(task)
        assert arrived.scenario.tool_faults == tuple(task.scenario.tool_faults)
        said = json.dumps(packed)
        assert all(item.name not in packed for item in task.scenario.expects)
        assert str(task.scenario.customer.opens) not in said


def test_the_lean_server_speaks_mcp(inside: Inside) -> None:
    task = get_task(TASK)

    async def talk(mode: str) -> None:
        endpoint = Endpoint(f"unix:{inside.socket}", inside.token)
        backend = await connect(endpoint, task, more=opening(task))
        transport = httpx2.AsyncHTTPTransport(uds=str(inside.socket))
        async with httpx2.AsyncClient(transport=transport, trust_env=False) as connections:
            url = f"http://localhost{backend._mcp}"
            async with Client(streamable_http_client(url, http_client=connections), mode=mode) as client:
                assert await definitions(client) == [*task.tool_definitions]
                result = await client.call_tool("get_time", {})
                expected = LocalBackend(task)
                with pytest.raises(StopIteration) as done:
                    expected.call("get_time", {}).send(None)
                [content] = result.content
                assert content.type == "text" and content.text == done.value.value.text
                assert (await client.call_tool("get_tims", {})).is_error
                with pytest.raises(Exception, match="unknown method"):
                    await client.list_prompts()

    for mode in ("auto", "legacy", "2026-07-28"):
        asyncio.run(talk(mode))


RULES = {
    ("POST", "/episodes/{id}/mcp"): "agent",
    ("GET", "/control/lifeline"): "control",
    ("POST", "/control/sessions"): "control",
    ("GET", "/control/sessions"): "control",
    ("GET", "/control/sessions/{id}/journal"): "control",
    ("GET", "/control/sessions/{id}/dump"): "control",
    ("DELETE", "/control/sessions/{id}"): "control",
    ("GET", "/healthz"): "open",
    ("GET", "/readyz"): "open",
    ("GET", "/metrics"): "open",
}
"""Who may use each route of the server inside. A new one fails the tests below until it has a rule here."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "CONNECT")


def test_every_route_of_the_server_inside_has_a_rule() -> None:
    """And is found by its own path alone."""
    assert [(route.method, route.path) for route in ROUTES] == [*RULES]
    for (method, path), route in zip(RULES, ROUTES, strict=True):
        for place in ("k", "", "a/b", "..", "k/"):
            asked = Request(method, path.replace("{id}", place), "", {}, b"")
            try:
                found_route, key = find(ROUTES, asked)
            except Refused as error:
                assert error.status == 404 and "{id}" in path and place in ("", "a/b", "k/"), asked
            else:
                assert found_route is route and key == (place if "{id}" in path else "")
                assert "{id}" not in path or place in ("k", "..")


def test_nothing_but_the_session_is_behind_its_path(inside: Inside) -> None:
    """Every method on every route, and on paths beside them, with every token that an agent may hold."""
    task = get_task(TASK)

    async def attack_it() -> None:
        endpoint = Endpoint(f"unix:{inside.socket}", inside.token)
        backend = await connect(endpoint, task, more=opening(task))
        session = backend._control.rpartition("/")[2]
        soon = asyncio.get_running_loop().time() + 60
        routes = {(method, path.replace("{id}", session)): who for (method, path), who in RULES.items()}
        paths = {path for _, path in routes} | {path.replace("{id}", f"{session}x") for _, path in RULES}
        paths |= {f"/control/sessions/{session}/finish", "/control", "/control/", "/control/../control/sessions",
                  "/control/sessions/", f"/episodes/{session}", "/episodes//mcp", "/app/seed.sqlite", "/", "/healthz/",
                  f"/episodes/{session}/mcp/journal", f"/episodes/{session}/mcp/", "//healthz"}  # fmt: skip
        for token, path, method in itertools.product(("", "wrong", session), sorted(paths), METHODS):
            authority = f"authorization: Bearer {token}\r\n" if token else ""
            head = f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{authority}content-length: 2"
            answer = (await asyncio.to_thread(inside.raw, head, b"{}")).decode()
            status = int(answer.split()[1])
            if path.startswith("/control"):
                assert status == 401 and answer.endswith("\r\n\r\n"), (token, method, path)
            elif (method, path) in routes:
                assert status == 200, (token, method, path)
            else:
                assert status in (404, 405), (token, method, path)
        for method in ("reset", "control/dump", "resources/list", "prompts/get", "completion/complete", "sampling/x"):
            said = {"jsonrpc": "2.0", "id": 1, "method": method}
            answer = await endpoint.request("POST", f"/episodes/{session}/mcp", said, until=soon, control=False)
            assert answer.data["error"]["code"] == -32601
        assert (await backend.call("get_time", {})).ok
        mine = await connect(endpoint, task, more=opening(task))  # the next session ends the one before
        with pytest.raises(BackendError, match="no longer knows"):
            await backend.call("get_time", {})
        assert (await mine.call("get_time", {})).ok
        with pytest.raises(UsageError, match="holds source"):
            await connect(endpoint, task, more={**opening(task), "source": "0" * 64})

    asyncio.run(attack_it())
    metrics = inside.raw("GET /metrics HTTP/1.1").decode()
    assert "tbx_sessions_opened_total" in metrics and inside.token not in metrics


def test_a_key_does_a_call_once(inside: Inside) -> None:
    task = get_task(TASK)

    async def play() -> None:
        endpoint = Endpoint(f"unix:{inside.socket}", inside.token)
        backend = await connect(endpoint, task, more=opening(task))
        guest = next(row["id"] for name, row in pack(task)["inserts"] if name == "guests")
        params = {"name": "add_guest_note", "arguments": {"guest_id": guest, "kind": "preference", "body": "Called."}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        soon = asyncio.get_running_loop().time() + 30
        answers = [
            (await endpoint.request("POST", backend._mcp, body, until=soon, control=False, headers=headers)).data
            for headers in ({"idempotency-key": "a"}, {"idempotency-key": "a"}, {"idempotency-key": "b"}, {})
        ]
        assert not answers[0]["result"]["isError"], answers[0]
        assert answers[0] == answers[1]
        journal = await endpoint.request("GET", f"{backend._control}/journal?after=0", until=soon)
        assert len(journal.data["changes"]) == 3

    asyncio.run(play())


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [
        ("NONSENSE", b"", 400),
        ("GET / SPDY/3", b"", 400),
        ("POST /control/sessions HTTP/1.1\r\ncontent-length: x", b"", 400),
        ("POST /control/sessions HTTP/1.1\r\ncontent-length: -5", b"", 400),
        ("POST / HTTP/1.1\r\ntransfer-encoding: chunked", b"0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\ncontent-length: 99999999", b"", 413),
        ("GET / HTTP/1.1\r\nx: " + "y" * 20_000, b"", 413),
        ("POST /control/sessions HTTP/1.1\r\nauthorization: Bearer the-token\r\ncontent-length: 3", b"{}}", 400),
        ("POST /control/sessions HTTP/1.1\r\nauthorization: Bearer the-token\r\ncontent-length: 2", b"[]", 400),
    ],
)
def test_whatever_is_sent_is_answered(inside: Inside, head: str, body: bytes, status: int) -> None:
    assert inside.raw(head, body).startswith(f"HTTP/1.1 {status} ".encode())
    assert inside.raw("GET /healthz HTTP/1.1").startswith(b"HTTP/1.1 200 ")


def test_a_server_ends_with_its_owner_or_its_lease(tmp_path: Path) -> None:
    evil = TakenOver(load_domain("hotel"))
    owned, hung, unowned = (Inside(tmp_path / name, 1.5, evil, name != "unowned") for name in ("a", "b", "unowned"))

    async def hang() -> None:
        endpoint = Endpoint(f"unix:{hung.socket}", hung.token)
        more = {"placed": pack(get_task(TASK)), "source": evil.digest}
        backend = await connect(endpoint, get_task(TASK), more=more)
        with pytest.raises(BackendError):
            await backend.call("end_conversation", attack(BOMBS["hangs"]))

    assert unowned.process.wait(10) == -signal.SIGALRM
    asyncio.run(hang())  # in C code that never lets Python run again: the kernel's alarm does not ask
    assert hung.process.wait(10) == -signal.SIGALRM
    assert owned.process.poll() is None, "whoever is owned lives longer than a lease"
    assert owned.owner is not None and hung.owner is not None
    owned.owner.close()
    hung.owner.close()
    assert owned.process.wait(5) == 0


def test_options_are_checked_in_words() -> None:
    for given, words in (
        ({"pools": 3}, "Did you mean 'pool'"),
        ({"pool": 0}, "a whole number above 0"),
        ({"cpus": "two"}, "a number above 0"),
        ({"image": 7}, "is text"),
        ({"deadline": 60}, "longer than lease"),
        ({"store": "postgresql://localhost"}, "no network"),
    ):
        with pytest.raises(UsageError, match=words):
            ContainerOptions.of(given)


def test_an_owner_is_dead_only_if_that_is_certain() -> None:
    boot, namespace, process, started = owner().split("/")
    ended = subprocess.run(
        [sys.executable, "-c", "from tb_envs.containers.owner import owner; print(owner())"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert is_dead(ended.stdout.strip())
    assert is_dead(f"{boot}/{namespace}/{process}/{int(started) + 1}"), "another process has the number now"
    assert is_dead(f"an-earlier-boot/{namespace}/{process}/{started}")
    for living in (owner(), f"{boot}/another/{process}/{started}", "", "x", f"{boot}/{namespace}//"):
        assert not is_dead(living), living


def test_a_folder_elsewhere_is_noted_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = Path(tempfile.mkdtemp(prefix="tbx", dir="/tmp"))  # pytest's own is too long for a socket
    long = tmp_path / ("x" * 80)
    for folder in (tmp_path / "tmp", long):
        folder.mkdir()
    boot, namespace, process, started = owner().split("/")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(prune, "engine", Empty)
    try:
        kept, left = (socket_folder(str(elsewhere)) for _ in range(2))
        with pytest.raises(UsageError, match="too long"):
            socket_folder(str(long))
        assert not [*long.iterdir()] and leftovers() == []
        note = tmp_path / "tmp" / left.name
        for folder in (left, note):
            (folder / OWNER).write_text(f"{boot}/{namespace}/{process}/{int(started) + 1}")
        assert [item.name for item in leftovers()] == [str(left), str(note)]
        (left / OWNER).write_text(owner())
        assert [item.name for item in leftovers()] == [str(note)], "a living owner's is not touched, whatever is noted"
        clear([Leftover("folder", str(left), "", ""), *leftovers()])
        assert not left.exists() and not note.exists() and kept.exists()
        remove_folder(kept)
        assert not [*elsewhere.iterdir()] and not [*(tmp_path / "tmp").iterdir()]
    finally:
        shutil.rmtree(elsewhere)


class Empty:
    """An engine that has nothing."""

    @property
    def api(self) -> Empty:
        return self

    def containers(self, **filters: Any) -> list[Any]:
        return []


def test_make_runs_every_test_that_needs_an_engine() -> None:
    [recipe] = [line for line in (ROOT / "Makefile").read_text().splitlines() if "-m containers" in line]
    marked = [path.name for path in Path(__file__).parent.glob("*.py") if "mark.containers" in path.read_text("utf-8")]
    assert marked and all(f"tests/{name.replace('backend_kinds', 'test_backends')}" in recipe for name in marked)


# -- with an engine


@pytest.fixture(scope="module")
def images() -> dict[str, str]:
    skip_or_fail(no_engine())
    return {name: ready_image(name).name for name in ("hotel", "banking")}


@pytest.fixture
def evil(images: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Source:
    """Hotels are played in containers whose tool runs an attacker's code."""
    monkeypatch.setattr(docker_backend, "source_of", lambda name: taken_over())
    return taken_over()


@pytest.fixture
def pools() -> Iterator[Callable[..., Pool]]:
    """Pools that end with the test."""
    made: list[Pool] = []

    def make(image: str, **options: Any) -> Pool:
        made.append(make_pool(image, ContainerOptions.of(options)))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


def ours() -> list[dict[str, Any]]:
    """Containers of this project, as the engine lists them."""
    return engine().api.containers(all=True, filters={"label": OWNED})


def gone(container: str) -> bool:
    return all(item["Id"] != container for item in ours())


@needs_engine
def test_an_image_is_kept_until_its_source_changes(images: dict[str, str]) -> None:
    class Changed(Source):
        @property
        def files(self) -> dict[str, bytes]:  # pyright: ignore[reportIncompatibleVariableOverride]
            return {**source_of("hotel").files, "tb_hotel/tools/more.py": b"# another line\n"}

    again = build_image(source_of("hotel"))
    assert again.name == images["hotel"] and again.base == SCRATCH and not again.built
    changed = Changed(load_domain("hotel"))
    assert changed.image != images["hotel"] and find_image(changed) is None
    [base] = [name for name in _history(images["hotel"]) if name.startswith("thinkingbox-gym/python:")]
    try:
        on_base = build_image(changed, base)
        assert on_base.built and on_base.base == base
        assert not build_image(changed, base).built
        assert (again := find_image(changed)) is not None and again.base == base
    finally:
        engine().images.remove(changed.image, force=True)
    with pytest.raises(UsageError, match="no image nowhere:1"):
        build_image(changed, "nowhere:1")
    empty = io.BytesIO()
    with tarfile.open(fileobj=empty, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("nothing"))
    engine().api.import_image_from_data(empty.getvalue(), repository="thinkingbox-gym/test-empty", tag="1")
    try:
        with pytest.raises((UsageError, BackendError), match="python3"):
            build_image(changed, "thinkingbox-gym/test-empty:1")
        assert find_image(changed) is None
    finally:
        engine().images.remove("thinkingbox-gym/test-empty:1", force=True)


def _history(image: str) -> list[str]:
    return [name for layer in engine().images.get(image).history() for name in layer["Tags"] or ()]


@needs_engine
@pytest.mark.parametrize("domain", ["hotel", "banking"])
def test_an_image_holds_no_task_and_nothing_that_judges(images: dict[str, str], domain: str) -> None:
    made = engine().containers.create(images[domain], network_mode="none")
    try:
        archive = io.BytesIO(b"".join(made.get_archive("/app")[0]))
    finally:
        made.remove()
    with tarfile.open(fileobj=archive) as packed:
        names = packed.getnames()
        modules = [
            item for item in packed if item.name.startswith(f"app/code/tb_{domain}/") and item.name.endswith(".py")
        ]
        texts = [packed.extractfile(item) for item in modules]
        text = b"".join(file.read() for file in texts if file)
    code = [name for name in names if name.startswith("app/code/")]
    assert any(name.endswith(f"tb_{domain}/tools/__init__.py") for name in code)
    for word in (
        *(f"tb_{domain}/{part}" for part in ("families", "suites", "audit", "decision")),
        *(f"tb_envs/{part}" for part in ("users", "certify", "episode", "grading/grade", "cli")),
        "tb_trainer",
    ):
        assert not [name for name in code if name.startswith(f"app/code/{word}")], word
    assert b".read\ndef search_" in text and b"@family(" not in text


@needs_engine
def test_what_code_in_a_container_can_do(evil: Source) -> None:
    looks = """
        import json, os, socket
        status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
        def writes(folder):
            try:
                open(folder + "/x", "w").close(); os.unlink(folder + "/x"); return True
            except OSError:
                return False
        def runs_from_tmp():
            with open("/tmp/run", "w") as file: file.write("#!/usr/bin/python3\\n")
            os.chmod("/tmp/run", 0o755)
            try:
                os.execv("/tmp/run", ["run"])
            except PermissionError:
                return False
        def mounts():
            import ctypes
            return ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0
        found = {
            "uid": [os.getuid(), os.geteuid(), os.getgid()],
            "caps": [status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
            "privileges": status["NoNewPrivs"].strip(), "seccomp": status["Seccomp"].strip(),
            "interfaces": [name for _, name in socket.if_nameindex()],
            "routes": len(open("/proc/net/route").readlines()) - 1,
            "writes": [name for name in ("/", "/app", "/app/code", "/usr", "/etc", "/tmp", "/run/ep") if writes(name)],
            "runs_from_tmp": runs_from_tmp(), "mounts": mounts(),
            "token": [name for name in os.environ if "TOKEN" in name],
            "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
            "engine": os.path.exists("/var/run/docker.sock"),
        }
    """

    async def play() -> Any:
        backend = await open_docker(get_task(TASK), {"episodes": 1})
        try:
            return found(await backend.call("end_conversation", attack(looks)))
        finally:
            backend.close()

    seen = asyncio.run(play())
    assert seen["uid"] == [10001, 10001, 10001]
    assert set(seen["caps"]) == {"0" * 16}
    assert (seen["privileges"], seen["seccomp"]) == ("1", "2")
    assert seen["interfaces"] == ["lo"] and seen["routes"] == 0
    assert seen["writes"] == ["/tmp"]
    assert not seen["runs_from_tmp"] and not seen["mounts"] and not seen["engine"]
    assert seen["processes"] == 2 and seen["token"] == []


@needs_engine
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_ends_its_own_container_only(evil: Source, bomb: str) -> None:
    options = {"deadline": 2.0, "lease": 20.0, "memory": 128}
    env, sibling = (gym.make("ThinkingBox/Hotel-v0", backend={"kind": "docker", **options}) for _ in range(2))
    env.reset(options={"task_id": TASK})
    sibling.reset(options={"task_id": TASK})
    container: str = env.unwrapped.episode.backend.container.id  # type: ignore[attr-defined]
    *_, truncated, info = env.step(tb_envs.call("end_conversation", **attack(BOMBS[bomb])))
    assert truncated and info["outcome"] == "error:backend" and info["error"]
    assert "get_time" in sibling.step(tb_envs.call("get_time"))[0]
    observation, _ = env.reset(options={"task_id": TASK})  # gives the broken one back; a new one takes over
    assert observation and "get_time" in env.step(tb_envs.call("get_time"))[0]
    until(lambda: gone(container), 10, "the bomb's container is gone")
    assert "get_time" in sibling.step(tb_envs.call("get_time"))[0]
    env.close()
    sibling.close()


@needs_engine
def test_a_container_killed_in_mid_call(evil: Source) -> None:
    waits = "import time\ntime.sleep(15)\n"
    options: dict[str, Any] = {"kind": "docker", "pool": 2, "lease": 21.0}
    env, sibling = (gym.make("ThinkingBox/Hotel-v0", backend=options) for _ in range(2))
    env.reset(options={"task_id": TASK})
    sibling.reset(options={"task_id": TASK})
    victim: str = env.unwrapped.episode.backend.container.id  # type: ignore[attr-defined]
    killer = threading.Timer(0.7, lambda: engine().api.kill(victim))
    killer.start()
    began = time.monotonic()
    *_, truncated, info = env.step(tb_envs.call("end_conversation", **attack(waits)))
    assert time.monotonic() - began < 10, "a killed container is noticed at once, not at the deadline"
    assert truncated and info["outcome"] == "error:backend"
    assert "get_time" in sibling.step(tb_envs.call("get_time"))[0]
    env.reset(options={"task_id": TASK})
    assert "get_time" in env.step(tb_envs.call("get_time"))[0]
    env.close()
    sibling.close()
    killer.join()


@needs_engine
def test_an_idle_container_that_died_is_no_error(images: dict[str, str]) -> None:
    async def play() -> None:
        for _ in range(3):
            backend = await open_docker(get_task(TASK), {"pool": 1, "lease": 22.0})
            assert isinstance(backend, DockerBackend) and (await backend.call("get_time", {})).ok
            backend.close()
            engine().api.kill(backend.container.id)

    asyncio.run(play())


TRAINER = """
    import multiprocessing, os, sys, time
    import gymnasium as gym, tb_envs

    def play(env):
        env.reset(options={"task_id": "hotel/late_cancellation/0"})
        assert "get_time" in env.step(tb_envs.call("get_time"))[0]

    def child(ready):
        env = gym.make("ThinkingBox/Hotel-v0", backend={"kind": "docker", "lease": 3.0, "deadline": 3.0})
        play(env)  # a forked child has containers of its own
        ready.set()
        time.sleep(600)

    env = gym.make("ThinkingBox/Hotel-v0", backend={"kind": "docker", "pool": 2, "lease": 3.0, "deadline": 3.0})
    play(env)
    forks = multiprocessing.get_context("fork")
    ready = forks.Event()
    helper = forks.Process(target=child, args=(ready,))
    helper.start()
    assert ready.wait(60)
    play(env)
    print(os.getpid(), helper.pid, flush=True)
    time.sleep(600)
"""


def _owned_by(process: int) -> list[str]:
    return [item["Id"] for item in ours() if item["Labels"][OWNED].split("/")[2] == str(process)]


@needs_engine
def test_a_killed_trainer_leaves_no_container(images: dict[str, str]) -> None:
    trainer = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(TRAINER)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "domains")])},
    )  # fmt: skip
    assert trainer.stdout is not None
    parent, child = map(int, trainer.stdout.readline().split())
    try:
        until(lambda: len(_owned_by(parent)) >= 2, 20, "the second of the pool")
        assert len(_owned_by(child)) == 1
        trainer.kill()
        took = until(lambda: not _owned_by(parent), 3 + 3, "no container of the parent's, though its child lives")
        assert len(_owned_by(child)) == 1, "the child's own is not touched"
    finally:
        trainer.kill()
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    until(lambda: not _owned_by(child), 3 + 3, "no container of the child's")
    print(f"gone {took:.2f} s after SIGKILL")
    left = [item for item in leftovers() if item.owner.split("/")[2] in (str(parent), str(child))]
    assert {item.kind for item in left} == {"folder"}, "what the next owner, or `tbx prune`, clears away"
    clear(left)
    assert not [item for item in left if Path(item.name).exists()]


@needs_engine
def test_a_container_that_refuses_after_an_episode_is_replaced(evil: Source) -> None:
    """What was taken over may say that it has another version; that ends no training."""
    code = """
        from tb_envs.containers import plain_http, server
        def refuse(self):
            raise plain_http.Refused(409, "another version")
        found = callable(server.Server._close)  # what a new session there begins with
        server.Server._close = refuse
    """

    async def play() -> None:
        options = {"pool": 1, "lease": 21.0}
        first = await open_docker(get_task(TASK), options)
        assert isinstance(first, DockerBackend)
        assert found(await first.call("end_conversation", attack(code)))
        first.close()
        second = await open_docker(get_task(TASK), options)
        assert isinstance(second, DockerBackend) and second.container is not first.container
        assert (await second.call("get_time", {})).ok
        second.close()

    asyncio.run(play())


@needs_engine
def test_prune_shows_and_removes_what_dead_owners_left(
    images: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot, namespace, process, started = owner().split("/")
    dead = f"{boot}/{namespace}/{process}/{int(started) + 1}"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name, whose in (("a", dead), ("b", owner())):
        (tmp_path / f"{FOLDERS}{name}").mkdir()
        (tmp_path / f"{FOLDERS}{name}" / OWNER).write_text(whose)
    labels = ({OWNED: dead}, {OWNED: owner()}, {})
    left, living, foreign = (
        engine().api.create_container(images["hotel"], labels=each)["Id"] for each in labels
    )  # never started, so no lease ends them
    try:
        assert tbx(["prune", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert not shown["removed"]
        names = [item["name"] for item in shown["found"]]
        assert left in names and str(tmp_path / f"{FOLDERS}a") in names
        assert not {living, foreign, str(tmp_path / f"{FOLDERS}b")} & set(names)
        assert tbx(["prune"]) == 0  # nobody is there to agree
        assert "Nothing was removed" in capsys.readouterr().out and not gone(left)
        assert tbx(["prune", "--yes"]) == 0
        assert gone(left) and not gone(living) and not (tmp_path / f"{FOLDERS}a").exists()
        assert engine().containers.get(foreign).status == "created"
        assert (tmp_path / f"{FOLDERS}b").exists()
    finally:
        for name in (left, living, foreign):
            with contextlib.suppress(Exception):
                engine().api.remove_container(name, force=True)


@needs_engine
def test_many_episodes_leave_everything_flat(images: dict[str, str], pools: Callable[..., Pool]) -> None:
    options = {"episodes": 40, "lease": 23.0}
    pool = pools(images["hotel"], **options)
    env = gym.make("ThinkingBox/Hotel-v0", backend={"kind": "docker", **options})
    used: set[str] = set()
    counts: list[tuple[int, int]] = []
    sizes: list[int] = []
    for number in range(200):
        env.reset(seed=number)
        assert "get_time" in env.step(tb_envs.call("get_time"))[0]
        used.add(env.unwrapped.episode.backend.container.id)  # type: ignore[attr-defined]
        if number % 40 == 20:  # in the middle of a container's life, so no successor is on its way
            until(lambda: len(list(pool.folder.iterdir())) == 2, 10, "one socket's folder, and the owner's file")
            until(lambda: len(_in(pool)) == 1, 10, "one container")
            counts.append((len(os.listdir("/proc/self/fd")), threading.active_count()))
            gc.collect()
            sizes.append(memory_of(os.getpid()))
    assert len(used) == 5
    assert sizes[-1] - sizes[1] < 12 * 2**20, sizes
    assert max(counts) <= (counts[0][0] + 4, counts[0][1] + 1), counts
    env.close()
    pool.close()
    assert not pool.folder.exists()
    until(lambda: not _in(pool), 10, "no container")


def _in(pool: Pool) -> list[str]:
    return [item["Id"] for item in ours() if item["Labels"].get(f"{LABEL}.folder", "").startswith(f"{pool.folder}/")]


@needs_engine
def test_an_episode_is_played_through_a_server_process(images: dict[str, str], tmp_path: Path) -> None:
    async def body() -> None:
        async with process(tmp_path, "--backend", "docker") as (server, endpoint):
            await whole_episode(endpoint)
            assert _owned_by(server.pid), "it was played in a container of the server's"

    asyncio.run(body())


@needs_engine
def test_a_pool_keeps_what_was_needed_at_once(images: dict[str, str], pools: Callable[..., Pool]) -> None:
    options = {"pool": 1, "lease": 24.0}
    pool = pools(images["hotel"], **options)
    lost: list[str] = []

    async def play() -> None:
        backends = await asyncio.gather(*(open_docker(get_task(TASK), options) for _ in range(3)))
        tokens = {backend.container.endpoint.token for backend in backends}  # type: ignore[attr-defined]
        assert len(tokens) == 3
        guests = [await backend.call("search_guests", {"surname": "Brandt"}) for backend in backends]
        assert all(answer == guests[0] for answer in guests)
        for backend in backends:
            backend.close()
        await open_and_close(options)
        assert pool.started == 3, "those that are there play on"
        waiting = asyncio.create_task(pool.take())
        await asyncio.sleep(0)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            pool.give_back(await waiting)
        backends = await asyncio.gather(*(open_docker(get_task(TASK), options) for _ in range(3)))
        assert pool.started == 3, "a request that was given up leaves none taken"
        for backend in backends[1:]:
            backend.close()
        assert isinstance(backends[0], DockerBackend)
        lost.append(backends[0].container.id)

    asyncio.run(play())  # with it goes the one session that nobody closed: its container is not trusted again
    gc.collect()
    asyncio.run(open_and_close(options))
    until(lambda: gone(lost[0]), 20, "the lost session's container is gone")
    until(lambda: pool.started == 4 and len(_in(pool)) == 3, 20, "and replaced")


async def open_and_close(options: dict[str, Any]) -> None:
    (await open_docker(get_task(TASK), options)).close()


@needs_engine
def test_a_new_container_answers_soon(images: dict[str, str], pools: Callable[..., Pool]) -> None:
    pool = pools(images["hotel"], pool=1, lease=25.0, episodes=1)
    walls: list[float] = []

    async def play() -> float:
        began = time.perf_counter()
        container = await pool.take()
        task = get_task(TASK)
        backend = await connect(container.endpoint, task, more=opening(task))
        assert (await backend.call("get_time", {})).ok
        walls.append(time.perf_counter() - began)
        used = (
            engine().api.stats(container.id, stream=False, one_shot=True)["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9
        )
        container.episodes = 1
        pool.give_back(container)
        return used

    used = min(asyncio.run(play()) for _ in range(3))
    print(f"a new container: {used:.2f} s of CPU inside, first call after {min(walls):.2f} s at best")
    assert used < 0.8, "what the server imports decides this; wall clock is the machine's"


@needs_engine
def test_a_server_keeps_its_sessions_deadlines_in_containers_too(images: dict[str, str]) -> None:
    """`tbx serve --backend '{"kind": "docker", …}'`: one pool for all; what a container cannot keep is said."""

    async def body() -> None:
        assert images["hotel"]
        place: dict[str, Any] = {"kind": "docker", "pool": 2, "lease": 51.0, "memory": 200}
        try_it(timed(place, 45))
        async with running(Options(rules=Rules(settings=Settings(backend=place)))) as served:
            control = Control(served)
            told: list[Any] = []
            for deadline in (45, 6):
                opened = await control.start(TASK, mode="backend", settings={"deadline": deadline})
                session = served.hub.find(opened["id"])
                told.append(session._backend)  # pyright: ignore
                async with client_of(served.url + opened["mcp"]) as client:
                    assert not (await client.call_tool("get_time", {})).is_error
            assert [each._inner.deadline for each in told] == [45.0, 6.0]
            assert told[0]._pool is told[1]._pool and told[0]._pool.options.memory == 200
            long = {"task_id": TASK, "mode": "backend", "settings": {"deadline": 52}}
            answer = await control.ask("POST", "", long)
            assert answer.status == 400 and "deadline 52 is longer than lease 51" in answer.data["error"]
        told[0]._pool.close()

    asyncio.run(body())


@needs_engine
def test_what_is_missing_is_said(images: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Unbuilt(Source):
        @property
        def digest(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
            return "0" * 64

    task = get_task(TASK)
    with pytest.raises(UsageError, match="no image 'nowhere:1'"):
        asyncio.run(open_docker(task, {"image": "nowhere:1"}))
    monkeypatch.setattr(docker_backend, "source_of", lambda name: Unbuilt(load_domain(name)))
    with pytest.raises(UsageError, match="tbx images build --domain hotel"):
        asyncio.run(open_docker(task, {}))
    with pytest.raises(UsageError, match="no image 'nowhere:1'; build one: tbx images build"):
        try_it({"kind": "docker", "image": "nowhere:1"})
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(BackendError, match="no Docker engine answers at unix:///nowhere"):
        asyncio.run(open_docker(task, {}))
