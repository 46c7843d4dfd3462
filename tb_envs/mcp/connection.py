"""One connection of a client, watched from its first moment: what is silent, or takes no answer, is closed.

A request must have arrived whole in `Connection.silent` seconds, and an answer must have been taken in as many; the
kernel asks after peers that vanished. Between the two a call has its own deadline, and an idle connection uvicorn's.
"""

from __future__ import annotations

import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from tb_envs.mcp.metrics import Metrics

SILENT = 30.0
"""Seconds in which a request must have arrived whole once its connection is open, or has begun."""


class Connection(H11Protocol):
    """A connection that is closed when a request or an answer on it takes too long, or when there are too many.

    Attributes:
        silent: seconds for either; set by the server, as are the next two.
        most: connections that may be open.
        metrics: where it counts what was closed.
    """

    silent = SILENT
    most = 0
    metrics: Metrics

    def connection_made(self, transport: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Watch it; let the kernel ask after peers that say nothing."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # then it says of every byte that waits to be taken
        _ask_after_peer(transport.get_extra_info("socket"))
        self._began: float | None = self.loop.time()
        self._untaken: float | None = None
        self._watch = self.loop.call_later(self.silent, self._look)
        if len(self.connections) > self.most:
            self._reap()

    def data_received(self, data: bytes) -> None:
        """Something arrived: of a request that has begun, or the beginning of the next one."""
        if self._began is None:
            self._began = self.loop.time()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """The next request begins when something of it is there."""
        self._began = None
        super().on_response_complete()
        if self._began is None and self.conn.trailing_data[0]:
            self._began = self.loop.time()

    def pause_writing(self) -> None:
        """Something of an answer waits to be taken."""
        self._untaken = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """All of it was taken."""
        self._untaken = None
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is left to watch."""
        self._watch.cancel()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Close it now if its answer is not taken: nobody waits for that any longer."""
        if self._untaken is not None:
            self._reap()

    def _look(self) -> None:
        cycle: Any = self.cycle
        answering = cycle is not None and not cycle.response_complete and not cycle.more_body
        asked = None if answering else self._began  # without either it rests, and uvicorn's own limit is running
        since = min((moment for moment in (asked, self._untaken) if moment is not None), default=self.loop.time())
        left = since + self.silent - self.loop.time()
        if left <= 0:
            self._reap()
        else:
            self._watch = self.loop.call_later(max(0.01, left), self._look)

    def _reap(self) -> None:
        self.metrics.reaped += 1
        self.transport.abort()


def _ask_after_peer(connection: socket.socket | None) -> None:
    if connection is None or connection.family == socket.AF_UNIX:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
