"""Jobs that wait to be played: new ones in their order, and those that a system error broke after a growing pause.

One crash is played again at once. An endpoint that is down answers every attempt with an error within milliseconds, and
would use up all of them in a second; so from the second attempt after the first on each waits twice as long as the one
before. With the default of eight retries that is a minute and a half. Others play on meanwhile. Each cause is counted
apart: what an outage of the customer's endpoint used up is not missing when a backend crashes afterwards. Refuses to
decide what becomes of a job that has no retry left.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable

from tb_trainer.engines import Key
from tb_trainer.runner import Job, Rollout

PAUSE = 1.0
"""Seconds before the second time that a job is played again; they double from one to the next."""
LONGEST = 30.0


def pause_of(retry: int, pause: float = PAUSE) -> float:
    """Seconds before a retry (the first one is 1)."""
    return 0.0 if retry < 2 else min(LONGEST, pause * 2 ** (retry - 2))


class Backlog:
    """Waiting jobs.

    Args:
        jobs: new ones.
        retries: how often a job is played again after system errors of one cause.
        pause: as `PAUSE`.
    """

    def __init__(self, jobs: Iterable[Job], retries: int, pause: float = PAUSE) -> None:
        self._now, self._retries, self._pause = deque(jobs), retries, pause
        self._broken: Counter[tuple[Key, str]] = Counter()
        self._later: list[tuple[float, Job]] = []

    def first(self, jobs: Iterable[Job]) -> None:
        """Put new jobs before all others."""
        self._now.extendleft(reversed(list(jobs)))

    def again(self, broken: Rollout) -> bool:
        """Put a job back that a system error broke, as its next attempt; False if its cause has no retry left."""
        job, cause = broken.job, broken.outcome
        self._broken[job.key, cause] += 1
        retry = self._broken[job.key, cause]
        if retry > self._retries:
            return False
        job = job._replace(attempt=job.attempt + 1)
        wait = pause_of(retry, self._pause)
        if wait:
            self._later.append((time.monotonic() + wait, job))
        else:
            self._now.appendleft(job)
        return True

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
