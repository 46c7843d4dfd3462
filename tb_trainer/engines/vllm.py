r"""The engine that asks vLLM servers over HTTP: token ids out, token ids and log-probs back. Never imports vllm.

Serve the model, in an environment of its own, with

    VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --logprobs-mode processed_logprobs --generation-config vllm \
        --weight-transfer-config '{"backend": "nccl"}'

Every turn is one request (`tb_trainer.engines.wire`), all of them in flight at once; a rollout stays with the server
that has its prefix cached while that one answers. What goes wrong on the way is the system's, never the policy's: turns
are kept and asked for again, with the same seed, for up to `patience` seconds with growing pauses, and only then does
`EngineError` say what to do. A server that was restarted has the base weights; it is found out before any of its turns
is handed on (`tb_trainer.engines.server`), given the weights once more, and asked again.

The same seed gives the same turn only on a server with ``VLLM_BATCH_INVARIANT=1``; without it rounding differs with the
batch, and a turn that is asked for again may differ as a turn of another run may. Log-probs are those of the
distribution that tokens were drawn from; a server that gives the raw model's is refused wherever the two differ.
Refuses new weights while turns are in flight: half of a turn would be of one policy and half of another.
"""

from __future__ import annotations

import asyncio
import queue
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tb_envs.errors import UsageError
from tb_trainer.engines import EngineError, Key, Request, Sampling, Turn
from tb_trainer.engines.server import Restarted, Server
from tb_trainer.engines.sync import WeightSync
from tb_trainer.engines.wire import Away, Nonsense, Refused

T = TypeVar("T")
LONGEST_PAUSE = 15.0
NONSENSE = 3
"""How often one turn's answer may be nonsense before the server is given up."""


@dataclass(eq=False)
class _Job:
    """One turn in flight."""

    request: Request
    sampling: Sampling
    server: Server
    future: Future[Any] | None = None


@dataclass
class _Lost:
    """News: a server needs the weights again."""

    server: Server


@dataclass
class _Failed:
    """News: it will not go on by itself."""

    error: BaseException


@dataclass
class _Retry:
    """When something began to fail and how long to wait before it is tried again."""

    pause: float
    patience: float
    since: float = field(default_factory=time.monotonic)
    tries: int = 0

    def next(self) -> float | None:
        """Seconds to wait; None when patience is at its end. Three tries are granted however long each takes."""
        self.tries += 1
        if self.tries > 3 and time.monotonic() - self.since > self.patience:
            return None
        return min(self.pause * 2 ** (self.tries - 1), LONGEST_PAUSE)


class VllmEngine:
    """Writes turns with one server or several.

    Args:
        urls: of the servers, without a path; each serves one copy of the model.
        model: the policy; given to the servers with the first turn or `load`, whichever comes first.
        sampling: how tokens are drawn; may be set anew between turns.
        sync: gives weights to servers.
        patience: seconds that a server may be away.
        turn_seconds: that one turn may take.
        pause: seconds before the first repetition; they double from one to the next.

    Attributes:
        counts: turns asked for again (``retries``), servers found to be ``restarts``, answers that were ``nonsense``.
    """

    def __init__(
        self,
        urls: Sequence[str],
        model: Any,
        sampling: Sampling,
        sync: WeightSync,
        *,
        patience: float = 300.0,
        turn_seconds: float = 600.0,
        pause: float = 0.5,
    ) -> None:
        self.sampling, self.version, self.counts = sampling, 0, Counter[str]()
        self._urls, self._model, self._sync = tuple(urls), model, sync
        self._patience, self._turn_seconds, self._pause = patience, turn_seconds, pause
        self._run = secrets.token_hex(8)  # two runs on one server do not take each other's weights for theirs
        self._servers: list[Server] = []
        self._kept = self._given = False
        self._homes: dict[Key, Server] = {}
        self._jobs: dict[Key, _Job] = {}
        self._news: queue.SimpleQueue[tuple[_Job, Turn] | _Lost | _Failed] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._watches: dict[Server, asyncio.Task[None]] = {}

    # -- the protocol

    def load(self, model: Any) -> None:
        """Give the weights of `model` to every server.

        Until the next call the model must not change: a server that is restarted is given it again.

        Raises:
            UsageError: turns are in flight.
            EngineError: a server did not take them.
        """
        if self._jobs:
            raise UsageError("load new weights only when no turn is in flight")
        self.version += 1
        self._sync.keep(model, self.version)
        self._kept = True
        self._give()

    def submit(self, request: Request) -> None:
        """Take a turn into work.

        Raises:
            UsageError: the key has a turn in flight, the turn does not fit, or the server's log-probs are of another
                distribution than the one that tokens are drawn from.
            EngineError: no server could be reached.
        """
        if request.key in self._jobs:
            raise UsageError(f"{request.key} has a turn in flight already")
        if not request.ids or request.limit < 1:
            raise UsageError("a request needs at least one token to read and one to write")
        if not self._given:
            self._give()
        home = self._homes.get(request.key) or self._least_busy(self._servers)
        if home.positions and len(request.ids) + request.limit > home.positions:
            raise UsageError(
                f"{len(request.ids)} tokens and {request.limit} new ones do not fit the {home.positions} that "
                f"{home.url} serves; raise --max-model-len there or lower sampling.episode_tokens"
            )
        self._check_mode(home)
        self._homes[request.key] = home
        job = self._jobs[request.key] = _Job(request, self.sampling, home)
        job.future = self._start(self._ask(job))

    def poll(self, wait: float | None = None) -> list[Turn]:
        """Wait until a turn is finished or `wait` is over; see `tb_trainer.engines.Engine`.

        A server that has lost its weights is given them first, however long that takes.

        Raises:
            EngineError: patience is at its end, or a server will never answer; nothing is in flight any more.
        """
        turns: list[Turn] = []
        until = None if wait is None else time.monotonic() + wait
        while self._jobs:
            left = None if until is None else max(0.0, until - time.monotonic())
            try:
                news = self._news.get(block=not turns, timeout=left)
            except queue.Empty:
                break
            if isinstance(news, _Failed):
                self._give_up()
                raise news.error
            if isinstance(news, _Lost):
                self.counts["restarts"] += 1
                try:
                    self._push(news.server)
                except BaseException:
                    self._give_up()
                    raise
                continue
            job, turn = news
            if self._jobs.get(turn.key) is job:
                del self._jobs[turn.key]
                turns.append(turn)
        return turns

    def release(self, key: Key) -> None:
        """Forget the key. A turn in flight is given up: its connection is dropped, and vLLM stops writing."""
        self._homes.pop(key, None)
        job = self._jobs.pop(key, None)
        if job is not None and job.future is not None:
            job.future.cancel()

    def close(self) -> None:
        """Give up what is in flight and let go of all connections. Idempotent."""
        loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        self._give_up()

        async def end() -> None:
            for watch in self._watches.values():
                watch.cancel()
            await asyncio.gather(*(server.close() for server in self._servers))

        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()
        self._servers = []
        self._sync.close()

    # -- weights, in the caller's thread

    def _give(self) -> None:
        """Give every server the current weights: those of the first model if no other was loaded."""
        if not self._kept:
            self._sync.keep(self._model, self.version)
            self._kept = True
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="vllm", daemon=True)
            self._thread.start()
            self._servers = [Server(url, self._turn_seconds) for url in self._urls]
        for server in self._servers:
            self._push(server)
        self._forget_news()
        self._given = True

    def _push(self, server: Server) -> None:
        """Give one server the weights and make sure that it writes with them."""

        def once() -> None:
            self._on_loop(server.open())
            self._check_mode(server)
            self._sync.push(server.url)
            self._on_loop(server.settle(f"{self._run}-{self.version}"))

        self._on_loop(self._unwatch(server))
        self._patiently(server, once)
        server.ready = True

    def _check_mode(self, server: Server) -> None:
        sampling = self.sampling
        if not server.processed and (sampling.temperature not in (0, 1) or sampling.top_p < 1 or sampling.top_k):
            raise UsageError(
                f"{server.url} gives the raw model's log-probs; serve with --logprobs-mode processed_logprobs"
            )

    def _patiently(self, server: Server, once: Callable[[], None]) -> None:
        retry = _Retry(self._pause, self._patience)
        while True:
            try:
                return once()
            except Refused as error:
                raise EngineError(f"{server.url} cannot be used: {error}") from None
            except (Away, Nonsense, Restarted) as error:
                pause = retry.next()
                if pause is None:
                    raise self._gone(server, error) from None
                time.sleep(pause)

    def _gone(self, server: Server, error: Exception) -> EngineError:
        return EngineError(
            f"{server.url} has been away for {self._patience:g} s ({error}): start it again, or raise "
            "engine.patience; this update does not count, resume from the last checkpoint"
        )

    def _give_up(self) -> None:
        """Nothing is in flight any more, and nothing is taken for granted of the servers."""
        self._given = False
        for key in list(self._jobs):
            self.release(key)
        self._forget_news()

    def _forget_news(self) -> None:
        while not self._news.empty():
            self._news.get_nowait()

    # -- turns, on the event loop

    async def _ask(self, job: _Job) -> None:
        """See one turn through."""
        try:
            turn = await self._until_written(job)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._news.put(_Failed(error))
        else:
            self._news.put((job, turn))

    async def _until_written(self, job: _Job) -> Turn:
        retry: _Retry | None = None
        nonsense = 0
        while True:
            await self._place(job)
            server = job.server
            try:
                return await server.turn(job.request, job.sampling)
            except Refused as error:
                raise EngineError(f"{server.url} refused a turn: {error}") from None
            except Nonsense as error:
                nonsense += 1
                self.counts["nonsense"] += 1
                if nonsense == NONSENSE:
                    raise EngineError(
                        f"{server.url} answered nonsense {nonsense} times: {error}; look at its log and its weights"
                    ) from None
            except (Away, Restarted) as error:
                self._watch(server, error)
            self.counts["retries"] += 1
            retry = retry or _Retry(self._pause, self._patience)
            pause = retry.next()
            if pause is None:
                raise EngineError(
                    f"{server.url} did not write a turn in {retry.tries} tries over {self._patience:g} s; "
                    "look at its log, or raise engine.turn_seconds"
                )
            await asyncio.sleep(pause)

    async def _place(self, job: _Job) -> None:
        """Wait until a server may be asked; the job's own is preferred."""
        while not job.server.ready:
            others = [server for server in self._servers if server.ready]
            if others:
                job.server = self._least_busy(others)
                return
            await asyncio.sleep(min(self._pause, 0.05))

    def _least_busy(self, servers: Sequence[Server]) -> Server:
        busy = Counter(id(job.server) for job in list(self._jobs.values()))
        return min(servers, key=lambda server: (not server.ready, busy[id(server)]))

    def _watch(self, server: Server, error: Exception) -> None:
        """Ask the server for no turns until it is seen to answer."""
        if server.ready:
            server.ready = False
            self._watches[server] = asyncio.get_running_loop().create_task(self._until_back(server, error))

    async def _until_back(self, server: Server, error: Exception) -> None:
        retry = _Retry(self._pause, self._patience)
        while True:
            try:
                await server.answers()
                await server.check()
            except Restarted:
                self._news.put(_Lost(server))
                return
            except (Away, Nonsense, Refused) as new:  # a server that is starting may refuse at first
                error = new
            else:
                server.ready = True
                return
            pause = retry.next()
            if pause is None:
                self._news.put(_Failed(self._gone(server, error)))
                return
            await asyncio.sleep(pause)

    async def _unwatch(self, server: Server) -> None:
        watch = self._watches.pop(server, None)
        if watch is not None:
            watch.cancel()
        server.ready = False
        await server.interrupt()

    # -- between the two threads

    def _start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return self._start(work).result()
