"""One vLLM server: whether it answers, what it serves, and whether it is still the process that the weights went to.

A server that is restarted comes back with the base weights and answers as if nothing had happened. So its identity is
read when the weights are in, and a turn counts only if the identity is the same in a look that began *after* the turn
arrived; however many turns wait for a look, one serves them all. The identity is the best of

1. ``GET /weight_info``: the version that we gave it with ``POST /update_weight_version``; a new process says
   ``default`` (vLLM since vllm-project/vllm#49040 of July 2026, with ``VLLM_SERVER_DEV_MODE=1``);
2. ``process_start_time_seconds`` in ``GET /metrics`` (from prometheus_client; vLLM with one API process);
3. what it answers to a fixed prompt, to rounding. That tells one update from the next only if it moved something, so
   here any lost connection, too, is taken for a restart.

Runs on one event loop; refuses to retry, which is `tb_trainer.engines.vllm`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from typing import Any, NamedTuple

import httpx2

from tb_trainer.engines import Request, Sampling, Turn
from tb_trainer.engines.wire import (
    Away,
    Nonsense,
    Refused,
    credentials,
    is_processed,
    mode_probe,
    probe,
    probed,
    question,
    turn_of,
)

LATER = (408, 409, 425, 429)
"""Statuses below 500 after which the same request may succeed."""

SHORT = 30.0
"""Seconds that a server may take for anything but a turn."""

ROUNDING = 0.1
"""Largest difference of two log-probs of the same weights, in bfloat16 and in batches of other sizes."""


class Restarted(Exception):
    """The server is another process than the one that was given the weights."""


class Identity(NamedTuple):
    """Which process with which weights answers: ``version``, ``start`` or ``answer``, and its value."""

    kind: str
    value: Any

    def same(self, other: Identity) -> bool:
        """Whether both are of one process, as far as its kind can tell."""
        if self.kind != "answer" or other.kind != "answer":
            return self == other
        (ids, logprobs), (others, other_logprobs) = self.value, other.value
        return ids == others and all(
            abs(one - two) < ROUNDING for one, two in zip(logprobs, other_logprobs, strict=True)
        )


class Server:
    """A server at `url`.

    Args:
        url: without a path.
        seconds: that one turn may take.

    Attributes:
        model: the name that it serves the policy under.
        positions: tokens of prompt and turn together at most.
        processed: whether its log-probs are of the distribution that tokens are drawn from.
        ready: whether it may be asked for turns.
    """

    def __init__(self, url: str, seconds: float) -> None:
        self.url = url
        self.model, self.positions, self.processed = "", 0, False
        self.ready = False
        self.identity: Identity | None = None
        self._lost = False
        self._seconds = seconds
        self._writing: set[asyncio.Task[Any]] = set()
        self._look, self._looked = asyncio.Lock(), -1.0
        # Turns hold a connection each, for as long as they are written: dropping it is how one is given up.
        self._http = httpx2.AsyncClient(
            base_url=url,
            headers=credentials(),
            timeout=httpx2.Timeout(SHORT, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            follow_redirects=True,
            trust_env=False,
        )

    async def close(self) -> None:
        """Drop all connections, and with them what is in flight."""
        await self._http.aclose()

    async def interrupt(self) -> None:
        """Give up the turns in flight: each of them ends as `Restarted`."""
        for task in self._writing:
            task.cancel()

    async def turn(self, request: Request, sampling: Sampling) -> Turn:
        """A turn, of the weights that the server was given.

        Raises:
            Away, Refused, Nonsense: as in `tb_trainer.engines.wire`.
            Restarted: it may be of other weights.
        """
        asked = self.identity
        body = question(self.model, request, sampling)
        task = asyncio.ensure_future(self._json("POST", "/v1/completions", body, self._seconds))
        self._writing.add(task)
        try:
            turn = turn_of(await task, request, sampling)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            raise Restarted("it is being given weights") from None
        finally:
            self._writing.discard(task)
        arrived = asyncio.get_running_loop().time()
        async with self._look:
            if self._looked < arrived:
                began = asyncio.get_running_loop().time()
                await self.check()
                self._looked = began
        if self.identity is not asked:
            raise Restarted("it was given weights meanwhile")
        return turn

    async def answers(self) -> tuple[list[int], list[float]]:
        """Four tokens after a fixed prompt, each the likeliest: shows that the server writes at all."""
        return probed(await self._json("POST", "/v1/completions", probe(self.model, 4)))

    async def check(self) -> None:
        """Look whether it is still the same.

        Raises:
            Restarted: it is not.
        """
        known = self.identity
        if known is None:
            raise Restarted("it has not been given the weights")
        if known.kind == "answer" and self._lost:
            raise Restarted("its connection was lost")
        try:
            seen = await self._who(known.kind)
        except Refused as error:
            raise Restarted(f"it no longer says who it is: {error}") from None
        if not known.same(seen):
            raise Restarted("it was restarted")

    async def open(self) -> None:
        """Ask what it serves."""
        listed = await self._json("GET", "/v1/models")
        try:
            entry = listed["data"][0]
            self.model, self.positions = str(entry["id"]), int(entry.get("max_model_len") or 0)
        except (KeyError, IndexError, TypeError, ValueError):
            raise Refused("its /v1/models lists no model") from None
        self.processed = is_processed(await self._json("POST", "/v1/completions", mode_probe(self.model)))

    async def settle(self, version: str) -> None:
        """After it was given weights: forget cached prefixes of the old ones, take its identity, have it write."""
        self.identity = None
        with contextlib.suppress(Refused):  # without dev mode there is no such path, nor a way to give it weights
            done = await self._json("POST", "/reset_prefix_cache")
            if isinstance(done, dict) and done.get("success") is False:
                raise Away("it could not forget what it had cached of the old weights")
        await self.answers()
        self._lost = False
        kind = "version"
        try:
            await self._json("POST", "/update_weight_version", {"new_version": version})
        except Refused:
            kind = "start"
        try:
            identity = await self._who(kind)
        except Refused:
            identity = await self._who("answer")
        if kind == "version" and identity.value != version:
            raise Away(f"it says that it has the weights {identity.value!r}, not {version!r}")
        self.identity = identity

    async def _who(self, kind: str) -> Identity:
        if kind == "version":
            return Identity(kind, (await self._json("GET", "/weight_info")).get("weight_version"))
        if kind == "start":
            found = re.search(r"^process_start_time_seconds (\S+)", await self._text("GET", "/metrics"), re.MULTILINE)
            if found is None:
                raise Refused("its metrics have no start time")
            return Identity(kind, found[1])
        return Identity("answer", await self.answers())

    async def _json(self, method: str, path: str, body: Any = None, seconds: float = SHORT) -> Any:
        text = await self._text(method, path, body, seconds)
        if not text.strip():
            return None
        try:
            return json.loads(text)  # reads NaN, too, which a server may write
        except ValueError:
            raise Nonsense(f"it answered {path} with {text[:80]!r}") from None

    async def _text(self, method: str, path: str, body: Any = None, seconds: float = SHORT) -> str:
        try:
            response = await self._http.request(
                method, path, json=body, timeout=httpx2.Timeout(seconds, connect=min(seconds, SHORT), pool=None)
            )
        except httpx2.TimeoutException:
            raise Away(f"no answer to {path} in {seconds:g} s") from None
        except httpx2.TransportError as error:
            self._lost = True
            raise Away(f"{type(error).__name__}: {error}".rstrip(": ")) from None
        if response.status_code >= 500 or response.status_code in LATER:
            raise Away(f"status {response.status_code} from {path}: {response.text[:200]}".rstrip(": "))
        if response.status_code >= 400:
            raise Refused(f"status {response.status_code} from {path}: {response.text[:300]}".rstrip(": "))
        return response.text
