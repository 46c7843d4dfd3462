"""All sessions of one server: how many there may be, how long one may be silent, and how the server ends.

Refuses to open a session for a task that it builds differently from who asks. What ends here before its conversation
did, by the idle limit or at the end of a drain, ends as a system error, never as a failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tb_envs import __version__
from tb_envs.errors import BackendError, DomainError, UsageError, UserError
from tb_envs.knobs import Knobs
from tb_envs.limits import Limits
from tb_envs.mcp.databases import leased, timed
from tb_envs.mcp.metrics import Metrics
from tb_envs.mcp.sessions import BackendSession, EpisodeSession, Session
from tb_envs.session.backend import Backend, open_backend
from tb_envs.settings import Settings
from tb_envs.task import Task, get_task

MODES = ("backend", "episode")
FIELDS = ("task_id", "task_hash", "knobs", "mode", "attempt", "settings")
SETTINGS = ("deadline", "limits", "reward", "user", "judge", "faults", "customer_tool")
"""What who opens a session may choose. Where the database is and what is written to disk are the server's own."""
SHORTEST_DEADLINE, LONGEST_DEADLINE = 0.05, 3600.0
CLOSED = "the server was closed"
TICK = 0.25
"""Seconds between two looks at who has been silent for too long."""


class Refused(Exception):
    """A session is not opened; `status` is the HTTP status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Rules:
    """How a server treats its sessions.

    Attributes:
        max_sessions: open at once.
        idle: seconds without a request after which a session ends.
        lease: the same for a session that is only a backend; who opened it says meanwhile that it is still there.
        deadline: seconds for one call, where who opened the session named none.
        settings: of every episode: the backend, for one.
        customer_tool: whether episodes have `say_to_customer`, where who opened the session did not say.
        users: customers besides the scripted one, by the name that who opens a session may choose.
        judges: the same for judges.
    """

    max_sessions: int = 256
    idle: float = 1800.0
    lease: float = 120.0
    deadline: float = 60.0
    settings: Settings = field(default_factory=Settings)
    customer_tool: bool = False
    users: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    judges: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    def __post_init__(self) -> None:
        if not SHORTEST_DEADLINE <= self.deadline <= LONGEST_DEADLINE:
            raise UsageError(f"deadline is {SHORTEST_DEADLINE} to {LONGEST_DEADLINE:g} seconds, got {self.deadline:g}")
        lasting = replace(self.settings, backend=leased(self.settings.backend, self.deadline))
        object.__setattr__(self, "settings", lasting)

    def silence(self, session: Session) -> float:
        """Seconds that this session may be silent."""
        return min(self.idle, self.lease) if isinstance(session, BackendSession) else self.idle


class Hub:
    """The sessions of one server.

    Attributes:
        draining: no further session is opened.
    """

    def __init__(self, rules: Rules, metrics: Metrics | None = None) -> None:
        self.rules = rules
        self.metrics = metrics or Metrics()
        self.draining = False
        self._sessions: dict[str, Session] = {}
        self._opening = 0

    @property
    def live(self) -> int:
        """Sessions that are open or being opened."""
        return len(self._sessions) + self._opening

    @property
    def unsettled(self) -> int:
        """Sessions that somebody will still ask something of."""
        return sum(not session.settled for session in self._sessions.values()) + self._opening

    def find(self, key: str) -> Session | None:
        """The session with this id."""
        return self._sessions.get(key)

    def all(self) -> list[Session]:
        """All sessions."""
        return list(self._sessions.values())

    @contextlib.contextmanager
    def using(self, session: Session) -> Any:
        """Marks a session as used, from the beginning of a request to its end."""
        session.busy += 1
        session.used = time.monotonic()
        try:
            yield
        finally:
            session.busy -= 1
            session.used = time.monotonic()

    def renew(self, keys: Sequence[str]) -> list[str]:
        """Who opened these sessions is still there; those of them that are not known."""
        now, gone = time.monotonic(), list[str]()
        for key in keys:
            session = self.find(key)
            if session is None:
                gone.append(key)
            else:
                session.used = now
        return gone

    async def open(self, asked: Any) -> Session:
        """Open a session.

        Args:
            asked: the request's object: ``task_id``, ``task_hash``, ``knobs``, ``mode``, ``attempt``, ``settings``.

        Raises:
            Refused: it is not opened.
        """
        try:
            return await self._open(asked)
        except Refused as error:
            closed = "draining" if self.draining else "full"
            self.metrics.refused[closed if error.status == 503 else "invalid"] += 1
            raise
        except (UsageError, DomainError) as error:
            self.metrics.refused["invalid"] += 1
            raise Refused(400, str(error)) from None
        except (BackendError, UserError) as error:
            self.metrics.refused["broken"] += 1
            raise Refused(500, str(error)) from None

    async def _open(self, asked: Any) -> Session:
        if self.draining:
            raise Refused(503, "the server is closing")
        if self.live >= self.rules.max_sessions:
            raise Refused(503, f"{self.rules.max_sessions} sessions are open, and no more may be")
        plan = _Plan.of(asked, self.rules)
        self._opening += 1
        try:
            session = await self._make(plan)
        finally:
            self._opening -= 1
        self._sessions[session.id] = session
        self.metrics.started[session.mode] += 1
        return session

    async def _make(self, plan: _Plan) -> Session:
        if plan.mode == "backend":
            backend: Backend = await open_backend(plan.task, plan.settings)
            return BackendSession(plan.task, backend, plan.deadline, self.metrics)
        session = EpisodeSession(
            plan.task, plan.settings, plan.deadline, self.metrics, customer_tool=plan.customer_tool
        )
        try:
            await session.start(plan.attempt)
        except BaseException:
            session.close()
            raise
        return session

    def close(self, session: Session, how: str) -> None:
        """End a session and forget it."""
        if self._sessions.pop(session.id, None) is not None:
            self.metrics.ended[how] += 1
            session.close()

    async def keep(self) -> None:
        """Ends sessions that were silent for too long, and measures how late the event loop is. Runs for ever."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK
            await asyncio.sleep(TICK)
            self.metrics.lag = max(0.0, loop.time() - due)
            now = time.monotonic()
            for session in self.all():
                silence = self.rules.silence(session)
                if not session.busy and now - session.used > silence:
                    session.broken = session.broken or f"no request for {silence:g} s"
                    self.close(session, "idle")

    async def drain(self, grace: float) -> None:
        """Open nothing more; wait until every session is settled, at most `grace` seconds, then end those not over."""
        self.draining = True
        until = time.monotonic() + grace
        while self.unsettled and time.monotonic() < until:
            await asyncio.sleep(0.02)
        for session in self.all():
            if not session.over:
                session.broken = CLOSED

    def clear(self) -> None:
        """End all sessions."""
        for session in self.all():
            self.close(session, "drained")


@dataclass(frozen=True)
class _Plan:
    """A request for a session, checked."""

    task: Task
    mode: str
    attempt: int
    settings: Settings
    deadline: float
    customer_tool: bool

    @classmethod
    def of(cls, asked: Any, rules: Rules) -> _Plan:
        given = _mapping(asked, "the request", FIELDS)
        mode = given.get("mode", "episode")
        if mode not in MODES:
            raise Refused(400, f"mode is one of {', '.join(MODES)}, got {mode!r}")
        task = get_task(str(given.get("task_id", "")), Knobs.of(given.get("knobs")))
        theirs = given.get("task_hash")
        if theirs is not None and theirs != task.hash:
            raise Refused(
                409,
                f"task {task.id} is another one here: hash {task.hash[:12]} in version {__version__} of the server, "
                f"{str(theirs)[:12]} where it was asked for; install one version on both sides",
            )
        attempt = given.get("attempt", 0)
        if type(attempt) is not int:
            raise Refused(400, f"attempt is a whole number, got {attempt!r}")
        chosen = _mapping(given.get("settings") or {}, "settings", SETTINGS)
        if mode == "backend":
            _of_a_backend(chosen)
        deadline = _deadline(chosen.get("deadline", rules.deadline))
        settings = replace(
            rules.settings,
            backend=timed(rules.settings.backend, deadline),
            limits=Limits.of(chosen.get("limits"), rules.settings.limits),
            **{name: chosen[name] for name in ("reward", "faults") if chosen.get(name) is not None},
            **_models(chosen, rules),
        )
        customer_tool = chosen.get("customer_tool", rules.customer_tool)
        if not isinstance(customer_tool, bool):
            raise Refused(400, f"customer_tool is true or false, got {customer_tool!r}")
        return cls(task, mode, attempt, settings, deadline, customer_tool)


def _deadline(value: Any) -> float:
    """A session's deadline. One that is too long is refused: whoever asked would believe that it is kept."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not SHORTEST_DEADLINE <= value <= LONGEST_DEADLINE:
        valid = f"at least {SHORTEST_DEADLINE} and at most {LONGEST_DEADLINE:g}"
        raise Refused(400, f"deadline is a number of seconds, {valid}, got {str(value)[:40]}")
    return float(value)


def _of_a_backend(chosen: Mapping[str, Any]) -> None:
    """Refuse what only a conversation has: it would change nothing."""
    for name, value in chosen.items():
        if name != "deadline" and value is not None:
            raise Refused(
                400,
                f"settings.{name} is for mode episode; in mode backend customer, limits, faults and grader are held by "
                "who opens the session, and only deadline may be set",
            )


def _models(chosen: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """Customer and judge by the names that the operator gave.

    Their options stay on the server: they name its files and the variables of its environment.
    """
    found: dict[str, Any] = {}
    for name, known in (("user", rules.users), ("judge", rules.judges)):
        wanted = chosen.get(name)
        if wanted is None or (name == "user" and wanted in ("scripted", {"kind": "scripted"})):
            continue
        if not isinstance(wanted, str) or wanted not in known:
            valid = ", ".join([*(["scripted"] if name == "user" else []), *known]) or "none here"
            raise Refused(
                400,
                f"settings.{name} is a name that the server's operator gave (tbx serve --{name} NAME=JSON), "
                f"not a model's options; valid: {valid}; got {str(wanted)[:80]!r}",
            )
        found[name] = known[wanted]
    return found


def _mapping(value: Any, what: str, valid: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Refused(400, f"{what} must be an object with some of {', '.join(valid)}")
    found = cast("Mapping[str, Any]", value)
    for name in found:
        if name not in valid:
            raise Refused(400, f"{what}: unknown field {str(name)[:60]!r}; valid: {', '.join(valid)}")
    return found
