"""``backend="docker"``: an episode's tools and database in a hardened container of a warm pool.

The session in there is the one that `tb_envs.session.remote` speaks with; what is here decides which container, and
what becomes of it afterwards: kept for the next episode, or ended, after enough of them or after anything went wrong.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tb_envs.containers.container import Container
from tb_envs.containers.options import ContainerOptions
from tb_envs.containers.placed import pack
from tb_envs.containers.pool import Pool, known_pool, make_pool
from tb_envs.containers.source import Source, source_of
from tb_envs.errors import BackendError, UsageError
from tb_envs.session.backend import Backend, ToolResult
from tb_envs.session.remote import RemoteBackend, connect
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange

if TYPE_CHECKING:
    from tb_envs.task import Task

TRIES = 3
"""Containers that are asked for a session; one that waited may have ended meanwhile."""


async def open_docker(task: Task, options: Mapping[str, Any]) -> Backend:
    """A session in a container that plays nothing else meanwhile.

    Args:
        task: what is played.
        options: see `tb_envs.containers.options.ContainerOptions`.

    Raises:
        BackendError: no engine answers, or no container could be had.
        UsageError: the options are wrong, the image is not built, or the Docker SDK is not installed.
    """
    chosen = ContainerOptions.of(options)
    source = source_of(task.domain.name)
    image = chosen.image or source.image
    pool = known_pool(image, chosen) or await asyncio.to_thread(_make, image, chosen, source)
    more = {"placed": pack(task), "source": source.digest}
    for left in reversed(range(TRIES)):
        container = await pool.take()
        waited = container.episodes > 0
        pool.began(container)
        try:
            inner = await connect(container.endpoint, task, deadline=chosen.deadline, more=more)
        except (BackendError, UsageError) as error:
            pool.give_back(container, broken=True)
            if not waited:
                raise
            if not left:  # what played before may speak through it: no reason to end a training
                raise BackendError(str(error)) from None
        except BaseException:
            pool.give_back(container, broken=True)
            raise
        else:
            return DockerBackend(inner, container, pool)
    raise AssertionError("the last try returned or raised")


def _make(image: str, options: ContainerOptions, source: Source) -> Pool:
    from tb_envs.containers.images import has_image

    if not has_image(image):
        what = f"image {image!r} (option 'image')" if options.image else "image of its source as it is now"
        name = source.domain.name
        raise UsageError(f"domain {name} has no {what}; build it: tbx images build --domain {name}")
    return make_pool(image, options)


class DockerBackend:
    """One session in a container.

    Attributes:
        container: where it is.
    """

    def __init__(self, inner: RemoteBackend, container: Container, pool: Pool) -> None:
        self.container = container
        self._inner = inner
        self._closed = False
        self._unclosed = weakref.finalize(self, pool.lose, container)
        self._unclosed.atexit = False
        self._pool = pool

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool there."""
        if self._closed:
            raise BackendError("this session is closed")
        return await self._inner.call(tool, arguments)

    def take_changes(self) -> list[RowChange]:
        """Row changes since the last time this was asked."""
        return self._inner.take_changes()

    def dump(self) -> Dump:
        """The whole database, canonically. Waits for the container: for proofs, not for an event loop."""
        if self._closed:
            raise BackendError("this session is closed")
        return self._inner.dump()

    def close(self) -> None:
        """Give the container back. Idempotent; never waits. The next session there begins on a fresh database."""
        if not self._closed:
            self._closed = True
            self._unclosed.detach()
            self._pool.give_back(self.container, broken=bool(self._inner.broken))
