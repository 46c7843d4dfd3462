"""How hard an endpoint is asked: a gate that all requests pass, slower when the server is busy or in trouble.

* busy (429): nobody is let through before ``Retry-After`` is over, and half as many at once as before; each answer
  lets a little more through again (additive increase, multiplicative decrease). A busy server is never a failure.
* in trouble (`SUSPECT` failures in a row, of several tasks): one request at a time is let through, at growing
  distances, until one is answered. The others wait and do not use up their own tries.
* broken (`Breaker`): so many failures in a row, of several tasks, that to go on would only burn attempts.

The agent's model, the customer's and the judge's have a gate each (`OneTask` is how an episode sees one).
Refuses to send anything itself, and to know what a failure was.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque

from tb_envs.errors import ThinkingBoxError

SUSPECT = 4
"""Failures in a row from which on only one request at a time is tried."""
KINDS_OF_TASK = 3
"""Failures of fewer tasks than this are their own matter, not a broken endpoint."""
LONGEST = 30.0
"""Seconds between two tries at most."""
LONGEST_HOLD = 3600.0
"""Seconds that a server's ``Retry-After`` is kept at most; then it is asked whether it still means it."""
TOLD_FROM = 2.0
"""Seconds of waiting from which on somebody may want to know why."""


class CampaignStopped(ThinkingBoxError):
    """A campaign stopped because nothing works any more; the message holds the last failure's own words."""


class Gate:
    """Lets requests through to one endpoint, first come, first served.

    Args:
        width: requests at once, at most.
        first: seconds of the first wait after a failure; each further one is twice as long.
    """

    def __init__(self, width: int, first: float = 0.5) -> None:
        self._most = float(width)
        self._width = float(width)
        self._first = first
        self._flying = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._not_before = self._cut_at = self._asked_for = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._busy = self._failures = 0
        self._held_for = ""
        self._failing: set[str] = set()

    @property
    def width(self) -> int:
        """Requests that may be out at once just now."""
        return 1 if self._in_trouble else max(1, int(self._width))

    @property
    def _in_trouble(self) -> bool:
        return self._failures >= SUSPECT and len(self._failing) >= KINDS_OF_TASK

    async def enter(self) -> float:
        """Wait to be let through; returns the time of it, to be given back with what came of the request.

        Whoever is let through must call `leave`.
        """
        if self._waiting or self._flying >= self.width or time.monotonic() < self._not_before:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._let_through()
            try:
                await turn
            except asyncio.CancelledError:
                if turn.cancelled():
                    with contextlib.suppress(ValueError):
                        self._waiting.remove(turn)
                else:  # it was let through in the same moment
                    self.leave()
                raise
        else:
            self._flying += 1
        return time.monotonic()

    def leave(self) -> None:
        """A request is over, however it ended."""
        self._flying -= 1
        self._let_through()

    def answered(self) -> None:
        """The server answered."""
        self._busy = self._failures = 0
        self._failing.clear()
        self._width = min(self._most, self._width + 1 / self._width)
        self._let_through()

    def busy(self, since: float, retry_after: float | None) -> None:
        """A request that was let through at `since` was told to come later; `retry_after` is in seconds, if said."""
        if since >= self._cut_at:  # the others that were out with it say nothing new
            self._width = max(1.0, min(self._width, self._flying + 1) / 2)
            self._cut_at = time.monotonic()
            self._busy += 1
        self._hold(retry_after if retry_after is not None else self._pause(self._busy), "busy")

    def failed(self, task_id: str, retry_after: float | None = None) -> None:
        """A request failed that was made for this task."""
        self._failures += 1
        self._failing.add(task_id)
        if retry_after is not None:
            self._hold(retry_after, "in trouble")
        elif self._in_trouble:
            self._hold(self._pause(self._failures - SUSPECT + 1), "in trouble")

    def notice(self) -> str:
        """Why nothing is let through for a while, for people; empty where something is."""
        left = self._not_before - time.monotonic()
        if left < TOLD_FROM:
            return ""
        words = f"server {self._held_for}, next request in {span(left)}"
        return f"{words} (it said {span(self._asked_for)})" if self._asked_for > LONGEST_HOLD else words

    def _pause(self, nth: int) -> float:
        return min(LONGEST, self._first * 2 ** min(nth - 1, 16))

    def _hold(self, seconds: float, why: str) -> None:
        self._asked_for, self._held_for = seconds, why
        self._not_before = max(self._not_before, time.monotonic() + min(seconds, LONGEST_HOLD))

    def _let_through(self) -> None:
        wait = self._not_before - time.monotonic()
        if wait > 0:
            if self._waiting and self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(wait, self._again)
            return
        while self._waiting and self._flying < self.width:
            turn = self._waiting.popleft()
            if not turn.done():
                self._flying += 1
                turn.set_result(None)

    def _again(self) -> None:
        self._timer = None
        self._let_through()


class OneTask:
    """A gate as the requests that are made for one task pass it (`tb_envs.patience.Pace`).

    Args:
        gate: that all tasks' requests pass.
        task_id: the task.
    """

    def __init__(self, gate: Gate, task_id: str) -> None:
        self._gate, self._task_id = gate, task_id
        self.enter, self.leave, self.answered, self.busy = gate.enter, gate.leave, gate.answered, gate.busy

    def failed(self, retry_after: float | None = None) -> None:
        """A request brought no answer."""
        self._gate.failed(self._task_id, retry_after)


def span(seconds: float) -> str:
    """A length of time as a clock shows it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Breaker:
    """Counts failures in a row, by the part that failed, and says when there were too many.

    Args:
        most: failures in a row that stop the campaign.
        tasks: how many tasks the campaign has.
    """

    def __init__(self, most: int, tasks: int) -> None:
        self._most = most
        self._tasks = min(KINDS_OF_TASK, tasks)
        self._rows: dict[str, tuple[int, set[str]]] = {}
        self.tripped = asyncio.Event()
        self.words = ""
        """What stopped the campaign."""

    def fine(self, part: str = "") -> None:
        """This part worked; an attempt that is finished says it of all."""
        if part:
            self._rows.pop(part, None)
        else:
            self._rows.clear()

    def failed(self, part: str, task_id: str, words: str) -> None:
        """This part failed at a task, and said so in its own words."""
        count, tasks = self._rows.get(part, (0, set[str]()))
        count, tasks = count + 1, tasks | {task_id}
        self._rows[part] = count, tasks
        if count >= self._most and len(tasks) >= self._tasks and not self.tripped.is_set():
            self.words = f"{count} failures in a row ({part}), of {len(tasks)} tasks; the last: {words}"
            self.tripped.set()
