"""Asking a model until it answers: how often and how long, alone (`ask_again`) or where many ask it at once (`Pace`).

Alone, patience with a busy server has an end, so that nobody who drives one episode waits for ever. With a pace, all
who share it come later together and a busy server is never a failure. Refuses to know what an answer is for.
"""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tb_envs.costs import Cost, Tokens
from tb_envs.endpoints import Endpoint
from tb_envs.openai_client import Answer, RequestFailed, ask

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before the first retry, doubled each time, and at most."""


class Pace(Protocol):
    """What the requests of one episode to one model pass, where others ask the same model (`evaluation.pacing`)."""

    async def enter(self) -> float:
        """Wait to be let through; returns the time of it."""
        ...

    def leave(self) -> None:
        """A request that was let through is over, however it ended."""
        ...

    def answered(self) -> None:
        """The server answered."""
        ...

    def busy(self, since: float, retry_after: float | None) -> None:
        """A request that was let through at `since` was told to come later, after so many seconds if they were said."""
        ...

    def failed(self, retry_after: float | None = None) -> None:
        """A request brought no answer."""
        ...


@dataclass
class Asked:
    """What `ask_again` took, filled while it runs, so that it also holds when it fails or is cancelled.

    Attributes:
        retried: requests sent again after a failure; those sent again after a busy server are in `slowed`.
        slowed: how often the server said that it is busy.
        seconds: of the wall clock, waiting included.
        waited: of those, seconds that the server (429), the back-off or others at the same model made us wait.
    """

    retried: int = 0
    slowed: int = 0
    seconds: float = 0.0
    waited: float = 0.0


async def ask_again(
    endpoint: Endpoint, body: Mapping[str, Any], asked: Asked | None = None, pace: Pace | None = None
) -> Answer:
    """`ask`, sent again while that may help: after ``down`` `retries` times, after ``busy`` until patience is gone.

    Back-off doubles, is spread by the request's content, and is at least what ``Retry-After`` says. With a pace,
    patience with a busy server has no end: the pace says when the next request is let through.

    Raises:
        RequestFailed: as of the last request.
    """
    asked = asked or Asked()
    began = time.monotonic()
    try:
        while True:
            try:
                return await (ask(endpoint, body) if pace is None else _in_turn(endpoint, body, asked, pace))
            except RequestFailed as failed:
                wait = _wait(failed, asked, body)
                if failed.kind == "busy" and (pace is not None or asked.waited + wait <= endpoint.patience):
                    asked.slowed += 1
                    wait = wait if pace is None else 0.0
                elif failed.kind == "down" and asked.retried < endpoint.retries:
                    asked.retried += 1
                    wait = _bounded(wait, endpoint)
                else:
                    raise
                asked.waited += wait
            await asyncio.sleep(wait)
    finally:
        asked.seconds += time.monotonic() - began


async def _in_turn(endpoint: Endpoint, body: Mapping[str, Any], asked: Asked, pace: Pace) -> Answer:
    """`ask` when it is let through, and tell the pace what came of it."""
    before = time.monotonic()
    try:
        since = await pace.enter()
    finally:
        asked.waited += time.monotonic() - before
    try:
        answer = await ask(endpoint, body)
    except RequestFailed as failed:
        if failed.kind == "busy":
            pace.busy(since, failed.retry_after)
        elif failed.kind == "down":
            pace.failed(failed.retry_after)
        elif failed.kind == "refused" or failed.too_long:  # that is an answer too
            pace.answered()
        raise
    else:
        pace.answered()
        return answer
    finally:
        pace.leave()


async def paid_ask(
    endpoint: Endpoint, body: Mapping[str, Any], spend: Callable[[Cost], None], pace: Pace | None = None
) -> Answer:
    """`ask_again`, and what it took is booked with `spend`, also if it fails or is cancelled.

    Raises:
        RequestFailed: as of the last request.
    """
    asked, cost = Asked(), Cost(dollars=0.0)
    try:
        answer = await ask_again(endpoint, body, asked, pace)
        known = answer.tokens or Tokens()
        cost = Cost(endpoint.dollars(answer.tokens), known, requests=1, unreported=int(answer.tokens is None))
        return answer
    except RequestFailed as failed:
        if failed.tokens is not None:
            cost = Cost(endpoint.dollars(failed.tokens), failed.tokens, requests=1)
        raise
    finally:
        spend(replace(cost, retried=asked.retried, slowed=asked.slowed, seconds=asked.seconds))


def _wait(failed: RequestFailed, asked: Asked, body: Mapping[str, Any]) -> float:
    turn = asked.retried + asked.slowed
    spread = zlib.crc32(json.dumps([turn, body.get("messages")], default=str).encode()) / 2**32
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(turn, 16)) * (0.5 + spread / 2)
    return max(wait, failed.retry_after or 0.0)


def _bounded(wait: float, endpoint: Endpoint) -> float:
    """A server that is down may not ask for more patience than one that is busy."""
    return min(wait, max(LONGEST_WAIT, endpoint.patience))
