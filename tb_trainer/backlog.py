"""Jobs that wait to be played: new ones in their order, and those that a system error broke after a growing pause.

One crash is played again at once. An endpoint that is down answers every attempt with an error within milliseconds, and
would use up all of them in a second; so from the second attempt after the first on each waits twice as long as the one
before. With the default of eight retries that is a minute and a half. Others play on meanwhile. Refuses to count
attempts: whoever puts a job back says which attempt it is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

from tb_trainer.runner import Job

PAUSE = 1.0
"""Seconds before the second time that a job is played again; they double from one to the next."""
LONGEST = 30.0


def pause_of(attempt: int, pause: float = PAUSE) -> float:
    """Seconds before an attempt (the first one is 0)."""
    return 0.0 if attempt < 2 else min(LONGEST, pause * 2 ** (attempt - 2))


class Backlog:
    """Waiting jobs.

    Args:
        jobs: new ones.
        pause: as `PAUSE`.
    """

    def __init__(self, jobs: Iterable[Job], pause: float = PAUSE) -> None:
        self._now, self._pause = deque(jobs), pause
        self._later: list[tuple[float, Job]] = []

    def first(self, jobs: Iterable[Job]) -> None:
        """Put new jobs before all others."""
        self._now.extendleft(reversed(list(jobs)))

    def again(self, job: Job) -> None:
        """Put a job back that a system error broke, with the number of its next attempt."""
        wait = pause_of(job.attempt, self._pause)
        if wait:
            self._later.append((time.monotonic() + wait, job))
        else:
            self._now.appendleft(job)

    def next(self) -> Job | None:
        """A job that may be played now, those that have waited first; None if there is none."""
        now = time.monotonic()
        due = min(self._later, key=lambda one: one[0], default=None)
        if due is not None and due[0] <= now:
            self._later.remove(due)
            return due[1]
        return self._now.popleft() if self._now else None

    @property
    def due(self) -> float | None:
        """When the next job's pause is over, on the monotonic clock; None if no job pauses."""
        return min((when for when, _ in self._later), default=None)

    def rest(self) -> None:
        """Wait until a job may be played. For when nothing else is in play."""
        if self.due is not None and not self._now:
            time.sleep(max(0.0, self.due - time.monotonic()))
