"""A warm pool: containers of one image that wait for the next episode, in this process.

As many are kept as were ever needed at once, and at least the option `pool`. One plays one episode at a time and is
replaced after `episodes` of them, or after anything went wrong; its successor is started while nobody waits. Refuses to
be shared by processes: a forked child begins with pools of its own, and a container ends with the process that owns it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tb_envs.containers.container import Container, remove_folder, socket_folder
from tb_envs.containers.options import ContainerOptions
from tb_envs.containers.prune import clear, leftovers
from tb_envs.errors import BackendError

STARTERS = 4
"""Containers that are started at once: more would only wait for the engine."""


class Pool:
    """The containers of one image and one set of options."""

    def __init__(self, image: str, options: ContainerOptions) -> None:
        self.image = image
        self.options = options
        self.folder = socket_folder(options.folder)
        self.started = 0
        self._lock = threading.Lock()
        self._idle: deque[Container] = deque()
        self._waiting: deque[Future[Container]] = deque()
        self._lost: deque[Container] = deque()
        self._all: set[Container] = set()
        self._starting = 0
        self._wanted = options.pool
        self.closed = False
        self._workers = ThreadPoolExecutor(STARTERS, "tbx-containers")

    async def take(self) -> Container:
        """A container that waits, or the next that is ready.

        Raises:
            BackendError: none could be started.
        """
        place: Future[Container] = Future()
        with self._lock:
            if self.closed:
                raise BackendError("this pool of containers is closed")
            self._find()
            while self._idle:
                container = self._idle.pop()
                if container.alive():
                    return container
                self._drop(container)
            self._waiting.append(place)
            self._wanted = max(self._wanted, len(self._all) + len(self._waiting))
            self._fill()
        try:
            return await asyncio.wrap_future(place)
        except asyncio.CancelledError:
            with self._lock, contextlib.suppress(ValueError):
                self._waiting.remove(place)
            if place.done() and not place.cancelled() and place.exception() is None:
                self.give_back(place.result())
            raise

    def give_back(self, container: Container, *, broken: bool = False) -> None:
        """The episode is over: keep the container for the next one, or replace it. Returns at once."""
        with self._lock:
            self._find()
            if container not in self._all:
                return
            if broken or self.closed or container.episodes >= self.options.episodes or not container.alive():
                self._drop(container, broken=broken)
                self._fill()
            else:
                self._hand_out(container)

    def lose(self, container: Container) -> None:
        """Its session was dropped without being closed: end it at the next occasion.

        The garbage collector calls this, in any thread and at any moment, so no lock may be taken here.
        """
        self._lost.append(container)

    def _find(self) -> None:
        while self._lost:
            container = self._lost.popleft()
            if container in self._all:
                self._drop(container, broken=True)
        self._fill()

    def _hand_out(self, container: Container) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if place.set_running_or_notify_cancel():
                place.set_result(container)
                return
        self._idle.append(container)

    def _drop(self, container: Container, *, broken: bool = False) -> None:
        """End a container; one that may hang is killed by a worker."""
        self._all.discard(container)
        container.let_go()
        if broken:
            self._work(_kill, container)

    def began(self, container: Container) -> None:
        """An episode has begun there. If it is the last one, the successor is started meanwhile."""
        container.episodes += 1
        if container.episodes >= self.options.episodes:
            with self._lock:
                self._fill()

    def _fill(self) -> None:
        """Start what is missing; those that play their last episode do not count."""
        lasting = sum(container.episodes < self.options.episodes for container in self._all)
        while not self.closed and lasting + self._starting < self._wanted and self._work(self._start):
            self._starting += 1

    def _work(self, job: Callable[..., None], *values: Any) -> bool:
        """Let a worker do it; False when the interpreter is ending and there are no workers any more."""
        try:
            self._workers.submit(job, *values)
        except RuntimeError:
            return False
        return True

    def _start(self) -> None:
        try:
            container = Container(self.image, self.options, self.folder)
        except Exception as error:
            with self._lock:
                self._starting -= 1
                while len(self._waiting) > self._starting:  # this one was for the first of them
                    place = self._waiting.popleft()
                    if place.set_running_or_notify_cancel():
                        place.set_exception(error)
                        return
            return
        with self._lock:
            self._starting -= 1
            self.started += 1
            if self.closed:
                container.let_go()
                return
            self._all.add(container)
            self._hand_out(container)

    def close(self) -> None:
        """End all containers, those that play as well. Idempotent."""
        with self._lock:
            self.closed = True
            for container in list(self._all):
                self._drop(container)
            self._idle.clear()
            while self._waiting:
                place = self._waiting.popleft()
                if place.set_running_or_notify_cancel():
                    place.set_exception(BackendError("this pool of containers is closed"))
        self._workers.shutdown(wait=False)
        remove_folder(self.folder)

    def disown(self) -> None:
        """In a forked child: forget it all; nothing of the parent's ends by that."""
        for container in self._all:
            container.disown()


def _kill(container: Container) -> None:
    with contextlib.suppress(BackendError):  # its lease ends it, if the engine does not
        container.kill()


_pools: dict[tuple[str, ContainerOptions], Pool] = {}
_making = threading.Lock()


def known_pool(image: str, options: ContainerOptions) -> Pool | None:
    """The process's pool, if it has been made."""
    pool = _pools.get((image, options))
    return None if pool is None or pool.closed else pool


def make_pool(image: str, options: ContainerOptions) -> Pool:
    """The process's pool, made if need be; whoever makes the first one clears away what dead processes left."""
    with _making:
        if not _pools:
            clear(leftovers())
        pool = known_pool(image, options)
        if pool is None:
            pool = _pools[image, options] = Pool(image, options)
        return pool


@atexit.register
def close_all() -> None:
    """End every container of this process. They would end with it anyway; so their folders go as well."""
    with _making:
        while _pools:
            _pools.popitem()[1].close()


def _after_fork() -> None:
    global _making
    _making = threading.Lock()
    for pool in _pools.values():
        pool.disown()
    _pools.clear()


os.register_at_fork(after_in_child=_after_fork)
