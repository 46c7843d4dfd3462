"""A list of episodes, played once each: for evaluation, for probing tasks, and for trainers of one's own.

Unlike `tb_trainer.groups` it never replaces a task: what cannot be played is returned as a system error, in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tb_trainer.backlog import PAUSE, Backlog
from tb_trainer.runner import Job, Rollout, Runner


def play_all(
    runner: Runner,
    jobs: Sequence[Job],
    retries: int = 8,
    *,
    slots: int = 256,
    pause: float = PAUSE,
    on_rollout: Callable[[Rollout], None] | None = None,
) -> list[Rollout]:
    """Play every job and return the rollouts in the order of the jobs.

    Args:
        runner: plays.
        jobs: each with a key of its own.
        retries: how often a job is played again after system errors of one cause, with the same random numbers.
        slots: episodes in play at once at most.
        pause: seconds before it is played again a second time, as of `tb_trainer.backlog`.
        on_rollout: called with each episode that is done with (system errors once they are final).
    """
    waiting = Backlog(jobs, retries, pause)
    done: dict[object, Rollout] = {}
    try:
        while len(done) < len(jobs):
            while runner.live < slots and (next_ := waiting.next()) is not None:
                runner.start(next_)
            if not runner.live:
                waiting.rest()
            for rollout in runner.poll(until=waiting.due):
                job = rollout.job
                if rollout.status == "system_error" and waiting.again(rollout):
                    continue
                done[job.key] = rollout
                if on_rollout is not None:
                    on_rollout(rollout)
    except BaseException:
        for job in jobs:
            runner.cancel(job.key)
        raise
    return [done[job.key] for job in jobs]
