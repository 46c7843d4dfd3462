"""The server inside a container: one domain, one session at a time, on a unix socket.

It speaks the wire of `tbx serve`: a control plane behind a token, and for the session an agent's plane of MCP under a
path that cannot be guessed. It ends with its lease: an owner holds the lease by an open connection
(``/control/lifeline``). When that ends, the server ends; when nobody takes it, or a tool hangs, the kernel's alarm ends
the process, whatever Python is doing. Imports little: a new container answers only when all of this is loaded.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import secrets
import signal
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs

from tb_envs.containers import rpc
from tb_envs.containers.placed import PlacedTask, unpack
from tb_envs.containers.plain_http import Answer, Refused, Request, answer, listen
from tb_envs.containers.routes import Route, find
from tb_envs.errors import BackendError, DomainError
from tb_envs.session.backend import ToolResult
from tb_envs.session.local import LocalBackend

if TYPE_CHECKING:
    from tb_envs.authoring.domain import Domain
    from tb_envs.task import Task

MANIFEST, SEED = "image.json", "seed.sqlite"
"""Beside the code: which domain the image serves and the hash of its source; the company's database."""
SOCKET, TOKEN, LEASE = "TBX_SOCKET", "TBX_TOKEN", "TBX_LEASE"
"""Environment variables: the socket's path, the control plane's token, the lease in seconds."""
LOADING = 30.0
"""Seconds, besides the lease, in which a server must have loaded; a machine may be busy."""
FAILURE = "failure"
"""File beside the socket that says why the server did not start."""
KEYS = 64
"""Tasks kept as pages, and answers kept for calls whose answer was lost."""


class Session:
    """One task's tool session, and the answers it gave."""

    def __init__(self, key: str, task_id: str, task: PlacedTask) -> None:
        self.key = key
        self.task_id = task_id
        self.task = task
        self.backend = LocalBackend(cast("Task", task))  # all that it needs of one
        self.changes: list[tuple[Any, ...]] = []
        self.broken = ""
        self._answers: OrderedDict[str, dict[str, Any] | None] = OrderedDict()

    def tools(self) -> list[dict[str, Any]]:
        """The tools as MCP lists them."""
        return rpc.tool_list(self.task.tool_definitions)

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool; nothing suspends in here."""
        if self.broken:
            raise rpc.SystemFault(f"this session broke before: {self.broken}")
        step = self.backend.call(name, arguments)
        try:
            step.send(None)
        except StopIteration as done:
            result: ToolResult = done.value
        except BackendError as error:
            self.broken = str(error)
            raise rpc.SystemFault(self.broken) from None
        else:
            raise AssertionError("an embedded session does not suspend")
        self.changes += self.backend.take_changes()
        return result

    def answer(self, request: Request) -> Answer:
        """One message of the agent's plane; one with a known key is answered as it was, and done once."""
        try:
            message = json.loads(request.body)
        except ValueError:
            return Answer(400, rpc.encode(rpc.unreadable()))
        key = request.headers.get("idempotency-key", "")
        if key and key in self._answers:
            known = self._answers[key]
            told = cast("dict[str, Any]", message).get("id") if isinstance(message, dict) else None
            response = None if known is None else {**known, "id": told}
        else:
            response = rpc.respond(message, self.tools, self.call)
            if key:
                self._answers[key] = response
                if len(self._answers) > KEYS:
                    self._answers.popitem(last=False)
        return Answer(202, b"") if response is None else Answer(200, rpc.encode(response))


class Server:
    """The session of a container, and its lease."""

    def __init__(self, domain: Domain, digest: str, token: str, lease: float) -> None:
        self.domain = domain
        self.digest = digest
        self.token = token
        self.lease = lease
        self.session: Session | None = None
        self.opened = self.calls = 0
        self._tasks: OrderedDict[str, PlacedTask] = OrderedDict()

    # -- the lease

    def renew(self) -> None:
        """Let the alarm go off one lease from now. Its default action ends the process, in any state it is in."""
        signal.setitimer(signal.ITIMER_REAL, self.lease)

    async def keep(self) -> None:
        """Renew the lease while an owner is there; asked often enough that one late turn does no harm."""
        while True:
            self.renew()
            await asyncio.sleep(self.lease / 4)

    def taken(self, request: Request, key: str) -> Answer:
        """The owner's connection: it has no end but the owner's."""
        self._keeper = asyncio.get_running_loop().create_task(self.keep())
        return Answer(200, b"", holds=lambda: os._exit(0))

    # -- requests

    def handle(self, request: Request) -> Answer:
        """Answer one request. Whatever is below ``/control`` is told nothing but 401 without the token."""
        if request.path.strip("/").split("/")[0] == "control":
            given = request.headers.get("authorization", "")
            if not secrets.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
                return Answer(401, b"")
        route, key = find(ROUTES, request)
        return route.answer(self, request, key)

    def mcp(self, request: Request, key: str) -> Answer:
        """A message of the agent's plane."""
        session = self._known(key)
        self.calls += 1
        return session.answer(request)

    def healthy(self, request: Request, key: str) -> Answer:
        """That it lives, and takes sessions."""
        return answer({"status": "ok"})

    def metrics(self, request: Request, key: str) -> Answer:
        """What it has done, for Prometheus."""
        lines = (f"tbx_sessions_opened_total {self.opened}", f"tbx_mcp_requests_total {self.calls}", "")
        return Answer(200, "\n".join(lines).encode(), "text/plain; version=0.0.4")

    def sessions(self, request: Request, key: str) -> Answer:
        """The session there is."""
        return answer({"sessions": [{"id": s.key, "task_id": s.task_id} for s in self._all()]})

    def journal(self, request: Request, key: str) -> Answer:
        """The row changes so far."""
        after = int(parse_qs(request.query).get("after", ["0"])[0])
        return answer({"changes": [change for change in self._known(key).changes if change[0] > after]})

    def dump(self, request: Request, key: str) -> Answer:
        """The whole database."""
        return answer({"dump": self._known(key).backend.dump()})

    def delete(self, request: Request, key: str) -> Answer:
        """End the session."""
        self._known(key)
        self._close()
        return answer({})

    def open(self, request: Request, key: str) -> Answer:
        """Begin a session; the one before ends."""
        asked = request.json()
        if not isinstance(asked, dict):
            raise Refused(400, "a session is asked for by an object")
        told = cast("dict[str, Any]", asked)
        if told.get("mode") != "backend":
            raise Refused(400, "a container holds tools and rows; customer and grader stay with who owns it")
        if told.get("source") != self.digest:
            raise Refused(409, f"this image holds source {self.digest[:20]}, not {str(told.get('source'))[:20]}")
        self._close()
        task_hash = str(told["task_hash"])
        task = self._tasks.pop(task_hash, None) or unpack(self.domain, told["placed"])
        self._tasks[task_hash] = task
        if len(self._tasks) > KEYS:
            self._tasks.popitem(last=False)
        self.session = Session(secrets.token_urlsafe(24), str(told["task_id"]), task)
        self.opened += 1
        return answer({"id": self.session.key, "mcp": f"/episodes/{self.session.key}/mcp", "live": 1})

    def _close(self) -> None:
        if self.session is not None:
            self.session.backend.close()
            self.session = None

    def _all(self) -> list[Session]:
        return [self.session] if self.session else []

    def _known(self, key: str) -> Session:
        if self.session is None or not secrets.compare_digest(self.session.key.encode(), key.encode()):
            raise Refused(404, "there is no such session")
        return self.session


ROUTES = (
    Route("POST", "/episodes/{id}/mcp", Server.mcp),
    Route("GET", "/control/lifeline", Server.taken),
    Route("POST", "/control/sessions", Server.open),
    Route("GET", "/control/sessions", Server.sessions),
    Route("GET", "/control/sessions/{id}/journal", Server.journal),
    Route("GET", "/control/sessions/{id}/dump", Server.dump),
    Route("DELETE", "/control/sessions/{id}", Server.delete),
    Route("GET", "/healthz", Server.healthy),
    Route("GET", "/readyz", Server.healthy),
    Route("GET", "/metrics", Server.metrics),
)
"""Everything that can be asked; a test holds a rule against each."""


def load(folder: Path = Path()) -> tuple[Domain, str]:
    """The image's domain, with everything done that the first session would have to wait for; and its source's hash."""
    from tb_envs.authoring.domain import Domain

    told = json.loads((folder / MANIFEST).read_text())
    module, _, name = str(told["entry"]).partition(":")
    domain = getattr(importlib.import_module(module), name)
    if not isinstance(domain, Domain):
        raise DomainError(f"{told['entry']} is no Domain")
    domain.__dict__["image"] = (folder / SEED).read_bytes()  # what the cached property would hold
    domain.toolbox()
    domain.specs.keys()
    domain.articles.by_id.keys()
    return domain, str(told["digest"])


async def _serve(socket: Path, token: str, lease: float) -> None:
    domain, digest = load()
    server = Server(domain, digest, token, lease)
    gc.freeze()
    gc.enable()
    listening = await listen(str(socket), server.handle)
    server.renew()
    await listening.serve_forever()


def main() -> None:
    """Serve until the lease ends."""
    socket, token, lease = Path(os.environ[SOCKET]), os.environ.pop(TOKEN), float(os.environ[LEASE])
    signal.setitimer(signal.ITIMER_REAL, LOADING + lease)
    try:
        asyncio.run(_serve(socket, token, lease))
    except Exception:
        socket.with_name(FAILURE).write_text(traceback.format_exc())
        raise
