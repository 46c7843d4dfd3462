"""Several session servers as one: the least loaded first, the unhealthy left out and tried again.

While sessions are open, their servers are told from time to time that this process is still there. Refuses to move a
session that is open: what a dead server held is a system error, and the next reset goes elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from tb_envs.background import shared
from tb_envs.errors import BackendError, UsageError
from tb_envs.session.remote import Full, RemoteBackend, connect
from tb_envs.session.wire import Endpoint, NotSent

if TYPE_CHECKING:
    from tb_envs.task import Task

FIRST_REST, LONGEST_REST = 0.25, 5.0
"""Seconds that a server is left out after it failed: doubled with each failure in a row."""
LONGEST_HUNG = 60.0
"""The longest rest of a server that took a connection and did not answer, while others do."""
ATTEMPT = 5.0
"""Seconds for one attempt at one server of several; doubled after each that was too short."""
APART = 60.0
"""Seconds for which a server that refused to play is asked after all others."""
FULL_PAUSE = 0.05
"""Seconds before full servers are asked again."""
RENEWED = 15.0
"""Seconds between two words to a server that its sessions are still wanted; its lease must be well above."""


@dataclass(eq=False)
class Host:
    """One server as this process sees it.

    Attributes:
        endpoint: where it is.
        ours: sessions that this process has open there, or is opening.
        others: sessions of others there, as it last said.
        failures: in a row.
        hung: of these, those that did not answer.
        until: when it is asked again, in `time.monotonic`.
        alone: the same where no other server is well.
        apart: until when it is asked last, since it refused to play.
        reason: why it is left out.
        keys: the sessions that are open there.
    """

    endpoint: Endpoint
    ours: int = 0
    others: int = 0
    failures: int = 0
    hung: int = 0
    until: float = 0.0
    alone: float = 0.0
    apart: float = 0.0
    reason: str = ""
    keys: set[str] = field(default_factory=set[str], repr=False)
    _renewing: asyncio.Task[None] | None = None

    def failed(self, error: BackendError) -> None:
        """Leave it out for a while: longer if it does not answer, which costs an opening its time."""
        now = time.monotonic()
        hung = not isinstance(error, NotSent)
        rest = (ATTEMPT if hung else FIRST_REST) * 2.0 ** min(self.failures, 16)
        self.alone = now + min(FIRST_REST * 2.0 ** min(self.failures, 16), LONGEST_REST)
        self.until = now + min(rest, LONGEST_HUNG if hung else LONGEST_REST)
        self.failures += 1
        self.hung += hung
        self.reason = str(error)

    def refused(self, error: UsageError) -> None:
        """It has another version or token: others may play, and a person should know."""
        if self.apart <= time.monotonic():
            warnings.warn(f"a session server is left out: {error}", RuntimeWarning, stacklevel=3)
        self.apart = time.monotonic() + APART
        self.reason = str(error)

    def opened(self, backend: RemoteBackend) -> None:
        """It is well."""
        self.failures, self.hung, self.until, self.apart, self.reason = 0, 0, 0.0, 0.0, ""
        self.others = max(0, backend.reported - self.ours)
        self.keys.add(backend.id)
        shared().loop.call_soon_threadsafe(self._keep_renewing)

    def closed(self, key: str) -> None:
        """It holds one session less."""
        self.ours -= 1
        self.keys.discard(key)

    def _keep_renewing(self) -> None:
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.get_running_loop().create_task(self._renew())

    async def _renew(self) -> None:
        """As long as sessions are open: on the shared loop, which lives and dies with the process."""
        loop = asyncio.get_running_loop()
        while self.keys:
            await asyncio.sleep(RENEWED)
            if keys := list(self.keys):
                with suppress(BackendError):  # what it means for a session, its next call says
                    until = loop.time() + RENEWED
                    await self.endpoint.request("POST", "/control/renew", {"sessions": keys}, until=until)


class Fleet:
    """The servers of one setting."""

    def __init__(self, urls: tuple[str, ...], token: str) -> None:
        self.hosts = [Host(Endpoint(url, token)) for url in dict.fromkeys(urls)]

    def healthy(self) -> list[Host]:
        """Those to ask now, in this order."""
        now = time.monotonic()
        well = [host for host in self.hosts if host.until <= now] or [host for host in self.hosts if host.alone <= now]
        return sorted(well, key=lambda host: (host.apart > now, host.ours + host.others))

    async def open(self, task: Task, deadline: float) -> RemoteBackend:
        """A session on the first server that takes one; waits for a full or failed one until the deadline.

        Raises:
            BackendError: none took it before the deadline; the message says why each did not.
            UsageError: every one refuses the token or has another version of the task.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + deadline
        refusing: set[Host] = set()
        while True:
            for host in self.healthy():
                left = until - loop.time()
                if left <= 0:
                    break
                if host in refusing:
                    continue
                backend = await self._ask(host, task, deadline, left, refusing)
                if backend is not None:
                    return backend
            left = until - loop.time()
            if left <= 0:
                reasons = "; ".join(host.reason or f"{host.endpoint.url} was not asked" for host in self.hosts)
                raise BackendError(f"no session server took {task.id} in {deadline:g} s: {reasons}")
            await asyncio.sleep(min(FULL_PAUSE, left))

    async def _ask(
        self, host: Host, task: Task, deadline: float, left: float, refusing: set[Host]
    ) -> RemoteBackend | None:
        """One attempt at one server, which may not spend the time of the others."""
        several = len(self.hosts) - len(refusing)
        limit = left if several == 1 else min(ATTEMPT * 2.0 ** min(host.hung, 16), left / several)
        host.ours += 1  # before it is open, so that who asks meanwhile goes elsewhere
        backend = None
        try:
            backend = await connect(host.endpoint, task, deadline=deadline, opening=limit, on_close=host.closed)
            host.opened(backend)
        except Full as error:
            host.reason = str(error)
        except BackendError as error:
            host.failed(error)
        except UsageError as error:
            refusing.add(host)
            if len(refusing) == len(self.hosts):
                raise
            host.refused(error)
        finally:
            host.ours -= backend is None
        return backend


@lru_cache(maxsize=64)
def fleet_of(urls: tuple[str, ...], token: str) -> Fleet:
    """The process's one fleet for these servers: its counts are of all episodes."""
    return Fleet(urls, token)


os.register_at_fork(after_in_child=fleet_of.cache_clear)
