"""The suite's floor and ceiling: what an agent that does nothing scores at a task, and what the reference scores.

For a task whose certificate is about this very content (its hash, its domain's digest, today's grader) both follow from
the proof: the idle agent fails it, the reference passes it. Any other task is played, once each, with the built-in
agents; that takes some milliseconds and always gives the same. A task that is another one today, or whose domain is not
installed, has neither, and the reason is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from tb_envs.errors import DomainError, UsageError
from tb_envs.grading.verdict import GRADER
from tb_envs.knobs import NONE, Knobs

FLOOR, CEILING = "idle", "reference"
PROOFS = {"reference", "idle, talker, random"}
"""What a certificate must have proved so that nothing need be played."""


class Anchor(NamedTuple):
    """What the two agents score at one task, 0.0 or 1.0; None where that is unknown."""

    floor: float | None
    ceiling: float | None
    source: Literal["certified", "played", "unknown"]
    reason: str = ""


@lru_cache(maxsize=65536)
def anchor(task_id: str, task_hash: str, knobs: Knobs = NONE) -> Anchor:
    """Floor and ceiling of the task with this id and content hash."""
    try:
        if _certified(task_id, task_hash):
            return Anchor(0.0, 1.0, "certified")
        return _played(task_id, task_hash, knobs)
    except (UsageError, DomainError) as error:
        return Anchor(None, None, "unknown", str(error))


def of_tasks(tasks: Iterable[tuple[str, str]], knobs: Knobs = NONE, asked: bool = True) -> list[Anchor]:
    """An anchor for each task.

    Args:
        tasks: id and content hash of each.
        knobs: what they were played with.
        asked: if not, all are unknown, and no task is played.
    """
    nothing = Anchor(None, None, "unknown", "not asked for")
    return [anchor(task_id, task_hash, knobs) if asked else nothing for task_id, task_hash in tasks]


def score(anchors: Iterable[Anchor], agent: str) -> float | None:
    """The mean score of one of the two agents over tasks where it is known; None where it is for none.

    Args:
        anchors: one for each task.
        agent: `FLOOR` or `CEILING`.
    """
    scores = _scores(anchors, agent)
    return sum(scores) / len(scores) if scores else None


def summary(anchors: Iterable[Anchor], agent: str) -> dict[str, Any]:
    """`score`, with where it is from."""
    found = list(anchors)
    unknown: dict[str, int] = {}
    for one in found:
        if one.source == "unknown":
            unknown[one.reason] = unknown.get(one.reason, 0) + 1
    return {
        "agent": agent,
        "pass_at_1": score(found, agent),
        "tasks": len(_scores(found, agent)),
        "certified": sum(one.source == "certified" for one in found),
        "played": sum(one.source == "played" for one in found),
        "unknown": unknown,
    }


def _scores(anchors: Iterable[Anchor], agent: str) -> list[float]:
    found = (one.floor if agent == FLOOR else one.ceiling for one in anchors)
    return [value for value in found if value is not None]


def _certified(task_id: str, task_hash: str) -> bool:
    from tb_envs.registration import load_domain

    domain = load_domain(task_id.split("/")[0])
    for entries in domain.suites.values():
        entry = entries.get(task_id)
        if entry is not None:
            proof = entry["certificate"]
            same = entry["hash"] == task_hash and proof["grader"] == GRADER and proof["domain"] == domain.digest
            return same and set(proof["proofs"]) >= PROOFS
    return False


def _played(task_id: str, task_hash: str, knobs: Knobs) -> Anchor:
    from tb_envs.agents import make_agent
    from tb_envs.play import play
    from tb_envs.task import get_task

    task = get_task(task_id, knobs)
    if task.hash != task_hash:
        return Anchor(None, None, "unknown", "the task is another one today: its hash differs")
    scores: list[float] = []
    for agent in (FLOOR, CEILING):
        episode = play(task, make_agent(agent))
        if episode.verdict is None:
            return Anchor(None, None, "unknown", f"the {agent} agent met a system error: {episode.error}")
        scores.append(float(episode.verdict.success))
    return Anchor(scores[0], scores[1], "played")
