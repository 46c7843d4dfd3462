"""What an episode costs on each kind of backend, side by side: reset and call, wall time and CPU time, medians.

    python benchmarks/backends.py [--domain hotel] [--repeat 100] [--only http,remote] [--store postgresql://…] [--json]

Each kind opens fresh sessions for the same task, calls the same read and write three times, and closes. CPU time is
that of client and server together (of a container or a database server it is not read). ``http-144`` has 144 sessions
open and calling at once, and gives what one of them takes; ``docker-new`` waits for a new container with every reset.
Kinds that this machine cannot run are named with the reason. Exits 1 if a call over MCP takes more than its budget of
CPU time, or a new container more than its budget until it can be called (``--no-check``). Timings need a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tb_envs.authoring.steps import Call as CallStep
from tb_envs.errors import BackendError, UsageError
from tb_envs.registration import load_domain
from tb_envs.session.backend import Backend, open_backend
from tb_envs.settings import Settings
from tb_envs.task import Task, get_task

ROOT = Path(__file__).parent.parent
Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


class Seat(NamedTuple):
    """One session of a kind: how it is called, and how it is left."""

    call: Call
    leave: Callable[[], Awaitable[None]]


class Kind(NamedTuple):
    """A kind that runs.

    Attributes:
        open: opens a session.
        elsewhere: the CPU seconds that its other processes took so far.
        crowd: sessions that are open and calling at once.
    """

    open: Callable[[Task], Awaitable[Seat]]
    elsewhere: Callable[[], float]
    crowd: int = 1


def _nowhere() -> float:
    return 0.0


def _cpu_of(pid: int) -> float:
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9


def _seat(backend: Backend) -> Seat:
    async def leave() -> None:
        backend.close()

    return Seat(backend.call, leave)


@asynccontextmanager
async def of_settings(backend: Any) -> AsyncIterator[Kind]:
    """A kind that settings name."""
    settings = Settings(backend=backend)

    async def opened(task: Task) -> Seat:
        return _seat(await open_backend(task, settings))

    yield Kind(opened, _nowhere)


@asynccontextmanager
async def memory() -> AsyncIterator[Kind]:
    """The MCP SDK's client and server in this process."""
    from mcp.client.client import Client

    from tb_envs.mcp import open_seat

    async def opened(task: Task) -> Seat:
        stack = AsyncExitStack()
        seat = await stack.enter_async_context(open_seat(task))
        client = await stack.enter_async_context(Client(seat.server, cache=None))
        return Seat(client.call_tool, stack.aclose)

    yield Kind(opened, _nowhere)


@asynccontextmanager
async def server() -> AsyncIterator[tuple[str, str, Callable[[], float]]]:
    """`tbx serve` as a process: where, its token, its CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        token, log = Path(folder) / "token", Path(folder) / "log"
        command = [sys.executable, "-m", "tbx", "serve", "--http", "127.0.0.1:0", "--token-file", str(token)]
        with log.open("wb") as errors:
            process = subprocess.Popen(command, stderr=errors, cwd=ROOT)
        try:
            while "tbx serve: " not in log.read_text("utf-8"):
                if process.poll() is not None:
                    raise BackendError(f"the server did not start: {log.read_text('utf-8')}")
                await asyncio.sleep(0.02)
            url = log.read_text("utf-8").partition("tbx serve: ")[2].partition(";")[0]
            yield url, token.read_text("utf-8"), lambda: _cpu_of(process.pid)
        finally:
            process.kill()
            process.wait()


@asynccontextmanager
async def http(crowd: int = 1) -> AsyncIterator[Kind]:
    """The MCP SDK's client over streamable HTTP."""
    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    from tb_envs.session.wire import Endpoint

    async with server() as (url, token, elsewhere):
        tls = httpx2.create_ssl_context()
        endpoint, loop = Endpoint(url, token), asyncio.get_running_loop()

        async def opened(task: Task) -> Seat:
            stack = AsyncExitStack()
            until = loop.time() + 60
            answer = await endpoint.request("POST", "/control/sessions", {"task_id": task.id}, until=until)
            # A pool looks through its connections for each request: sessions that call at once have one each
            connections = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False, timeout=60, verify=tls))
            transport = streamable_http_client(url + answer.data["mcp"], http_client=connections)
            client = await stack.enter_async_context(Client(transport, mode="2026-07-28", cache=None))

            async def leave() -> None:
                await stack.aclose()
                await endpoint.request("DELETE", f"/control/sessions/{answer.data['id']}", until=loop.time() + 60)

            return Seat(client.call_tool, leave)

        yield Kind(opened, elsewhere, crowd)


@asynccontextmanager
async def stdio() -> AsyncIterator[Kind]:
    """A process per session; its CPU time cannot be read once it is gone and is left out."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    with open(os.devnull, "w", encoding="utf-8") as quiet:

        async def opened(task: Task) -> Seat:
            words = ["-m", "tbx", "mcp", task.id]
            process = StdioServerParameters(command=sys.executable, args=words, cwd=ROOT, env={**os.environ})
            stack = AsyncExitStack()
            client = await stack.enter_async_context(Client(stdio_client(process, errlog=quiet), cache=None))
            return Seat(client.call_tool, stack.aclose)

        yield Kind(opened, _nowhere)


@asynccontextmanager
async def remote() -> AsyncIterator[Kind]:
    """``backend="remote"`` on a server process."""
    async with server() as (url, token, elsewhere):
        os.environ["TBX_BENCHMARK_TOKEN"] = token
        settings = {"kind": "remote", "urls": [url], "token_env": "TBX_BENCHMARK_TOKEN"}
        async with of_settings(settings) as kind:
            yield Kind(kind.open, elsewhere)


KINDS: dict[str, Callable[[argparse.Namespace], AbstractAsyncContextManager[Kind]]] = {
    "embedded": lambda args: of_settings("embedded"),
    "memory": lambda args: memory(),
    "http": lambda args: http(),
    "http-144": lambda args: http(144),
    "stdio": lambda args: stdio(),
    "remote": lambda args: remote(),
    "docker": lambda args: of_settings("docker"),
    "docker-new": lambda args: of_settings({"kind": "docker", "pool": 1, "episodes": 1}),
    "postgres": lambda args: of_settings({"kind": "embedded", "store": _store(args)}),
}
BUDGET_MS = 3.0
"""CPU time of a call over MCP, client and server together."""
BUDGETED = ("memory", "http", "http-144")
FIRST_MS = 1000.0
"""Wall time of a new container's reset and its first call, on two cores."""
SLOW = {"stdio": 5, "docker": 30, "docker-new": 5}
"""A kind whose sessions are processes is opened at most so often for each figure."""


def _store(args: argparse.Namespace) -> str:
    if not args.store:
        raise UsageError("name a server: --store postgresql://…")
    return args.store


def calls_for(task: Task) -> tuple[tuple[str, dict[str, Any]], tuple[str, dict[str, Any]]]:
    """A read and a write that succeed on the untouched database."""
    note = next(iter(task.domain.proofs.note(task.scenario.about[0])))
    assert isinstance(note, CallStep)
    reads = [tool.name for tool in task.tools.values() if tool.effect == "read" and not tool.schema.get("required")]
    return (reads[0], {}), (note.tool, dict(note.arguments))


async def measure(kind: Kind, task: Task, repeat: int) -> dict[str, float]:
    """Medians of one kind, in milliseconds, for one session each; a session's ``first`` call is apart."""
    read, write = calls_for(task)
    wall: dict[str, list[float]] = {what: [] for what in ("reset", "first", "read", "write")}
    spent: dict[str, list[float]] = {what: [] for what in wall}

    async def timed(what: str, steps: Sequence[Awaitable[Any]]) -> list[Any]:
        other = kind.elsewhere()  # to ask costs CPU time of this process, which is not the call's
        clock, cpu = time.perf_counter(), time.process_time()
        found = await asyncio.gather(*steps) if len(steps) > 1 else [await steps[0]]
        wall[what].append((time.perf_counter() - clock) / len(steps))
        cpu = time.process_time() - cpu
        spent[what].append((cpu + kind.elsewhere() - other) / len(steps))
        return found

    await (await kind.open(task)).leave()  # what is made once
    for _ in range(max(min(3, repeat), repeat // kind.crowd)):
        # one after the other, and closed from the last to the first: the SDK's clients belong to the task they began in
        seats: list[Seat] = [(await timed("reset", [kind.open(task)]))[0] for _ in range(kind.crowd)]
        results: list[Any] = []
        for seat in seats:
            await timed("first", [seat.call(*read)])  # a client's also learns what the server is
        for call in (read, write) * 3:
            results += await timed("read" if call is read else "write", [seat.call(*call) for seat in seats])
        if any(result[0] is False if isinstance(result, tuple) else result.is_error for result in results):
            raise BackendError(f"a call failed: {results}")
        for seat in reversed(seats):
            await seat.leave()
    out = {f"{what}_ms": round(1000 * statistics.median(times), 3) for what, times in wall.items()}
    return out | {f"{what}_cpu_ms": round(1000 * statistics.median(times), 3) for what, times in spent.items()}


async def measure_all(args: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """The figures of every kind, or why there are none."""
    domain = load_domain(args.domain)
    task = get_task(f"{domain.name}/{next(iter(domain.families))}/0")
    found: dict[str, Any] = {}
    for name in names:
        try:
            async with KINDS[name](args) as kind:
                found[name] = await measure(kind, task, min(args.repeat, SLOW.get(name, args.repeat)))
        except (BackendError, UsageError, ImportError) as error:
            found[name] = {"missing": " ".join(str(error).split())}
    return {"task_id": task.id, "repeat": args.repeat, "kinds": found}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--domain", default="hotel")
    parser.add_argument("--repeat", type=int, default=100, metavar="N", help="sessions of each kind")
    parser.add_argument("--only", default=",".join(KINDS), metavar="KINDS", help=f"some of {', '.join(KINDS)}")
    parser.add_argument("--store", default="", metavar="URL", help="a PostgreSQL server, for the kind postgres")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-check", action="store_true", help="exit 0 whatever was measured")
    args = parser.parse_args()
    names = args.only.split(",")
    if unknown := set(names) - KINDS.keys():
        parser.error(f"unknown kind {', '.join(sorted(unknown))}; valid: {', '.join(KINDS)}")
    report = asyncio.run(measure_all(args, names))
    missed = [] if args.no_check else over_budget(report)
    if args.json:
        print(json.dumps({**report, "over_budget": missed}, indent=2))
        return int(bool(missed))
    print(f"{report['task_id']}, {args.repeat} sessions; medians in ms: wall (CPU)\n")
    print(f"{'kind':<12}" + "".join(f"{what:>18}" for what in ("reset", "read", "write")))
    for name, row in report["kinds"].items():
        if "missing" in row:
            print(f"{name:<12}  not here: {row['missing'][:100]}")
            continue
        cells = (f"{row[f'{what}_ms']:>9.3f} ({row[f'{what}_cpu_ms']:.2f})" for what in ("reset", "read", "write"))
        print(f"{name:<12}" + "".join(f"{cell:>18}" for cell in cells))
    print(*missed, sep="\n")
    return int(bool(missed))


def over_budget(report: dict[str, Any]) -> list[str]:
    """What took longer than it may, in words."""
    missed = [
        f"{name}: a {what} takes {row[f'{what}_cpu_ms']} ms of CPU; the budget is {BUDGET_MS:g}"
        for name, row in report["kinds"].items()
        for what in ("read", "write")
        if name in BUDGETED and row.get(f"{what}_cpu_ms", 0) > BUDGET_MS
    ]
    new = report["kinds"].get("docker-new", {})
    first = new.get("reset_ms", 0) + new.get("first_ms", 0)
    if first > FIRST_MS:
        missed.append(f"docker-new: reset and first call take {first:g} ms; the budget is {FIRST_MS:g}")
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
