"""Several session servers as one: the least loaded first, the unhealthy left out and tried again.

Refuses to move a session that is open: what a dead server held is a system error, and the next reset goes elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tb_envs.errors import BackendError
from tb_envs.session.remote import Full, RemoteBackend, connect
from tb_envs.session.wire import Endpoint

if TYPE_CHECKING:
    from tb_envs.task import Task

FIRST_REST, LONGEST_REST = 0.25, 5.0
"""Seconds that a server is left out after it failed: doubled with each failure in a row."""
FULL_PAUSE = 0.05
"""Seconds before full servers are asked again."""


@dataclass
class Host:
    """One server as this process sees it.

    Attributes:
        endpoint: where it is.
        ours: sessions that this process has open there, or is opening.
        others: sessions of others there, as it last said.
        failures: in a row.
        until: when it is asked again, in `time.monotonic`.
        reason: why it is left out.
    """

    endpoint: Endpoint
    ours: int = 0
    others: int = 0
    failures: int = 0
    until: float = 0.0
    reason: str = ""

    def failed(self, reason: str) -> None:
        """Leave it out for a while."""
        self.until = time.monotonic() + min(FIRST_REST * 2**self.failures, LONGEST_REST)
        self.failures += 1
        self.reason = reason

    def opened(self, backend: RemoteBackend) -> None:
        """It is well."""
        self.failures, self.until, self.reason = 0, 0.0, ""
        self.others = max(0, backend.reported - self.ours)

    def closed(self, backend: RemoteBackend) -> None:
        """It holds one session less."""
        self.ours -= 1


class Fleet:
    """The servers of one setting."""

    def __init__(self, urls: tuple[str, ...], token: str) -> None:
        self.hosts = [Host(Endpoint(url, token)) for url in dict.fromkeys(urls)]

    def healthy(self) -> list[Host]:
        """Those to ask now, in this order."""
        now = time.monotonic()
        return sorted((host for host in self.hosts if host.until <= now), key=lambda host: host.ours + host.others)

    async def open(self, task: Task, deadline: float) -> RemoteBackend:
        """A session on the first server that takes one; waits for a full or failed one until the deadline.

        Raises:
            BackendError: none took it before the deadline; the message says why each did not.
            UsageError: one refuses the token or has another version of the task.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + deadline
        while True:
            for host in self.healthy():
                left = until - loop.time()
                if left <= 0:
                    break
                host.ours += 1  # before it is open, so that who asks meanwhile goes elsewhere
                opened = False
                try:
                    backend = await connect(host.endpoint, task, deadline=deadline, opening=left, on_close=host.closed)
                except Full as error:
                    host.reason = str(error)
                except BackendError as error:
                    host.failed(str(error))
                else:
                    opened = True
                    host.opened(backend)
                    return backend
                finally:
                    host.ours -= not opened
            left = until - loop.time()
            if left <= 0:
                reasons = "; ".join(host.reason or f"{host.endpoint.url} was not asked" for host in self.hosts)
                raise BackendError(f"no session server took {task.id} in {deadline:g} s: {reasons}")
            await asyncio.sleep(min(FULL_PAUSE, left))


@lru_cache(maxsize=64)
def fleet_of(urls: tuple[str, ...], token: str) -> Fleet:
    """The process's one fleet for these servers: its counts are of all episodes."""
    return Fleet(urls, token)


os.register_at_fork(after_in_child=fleet_of.cache_clear)
