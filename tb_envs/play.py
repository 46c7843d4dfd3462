"""Playing tasks with agents: one attempt, or a run of many with system errors retried and counted apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tb_envs.agents import Agent, make_agent
from tb_envs.driving import complete
from tb_envs.episode import Episode, Settings
from tb_envs.task import Task, get_task

RETRIES = 8
"""New attempts after a system error, at most; each on a fresh backend."""


@dataclass(frozen=True)
class Attempt:
    """How one attempt ended."""

    task_id: str
    outcome: str
    ended_by: str
    reward: float
    turns: int
    tool_calls: int
    failed: tuple[str, ...]
    retries: int
    error: str = ""

    @property
    def is_system_error(self) -> bool:
        """It does not count as an attempt of the agent."""
        return self.outcome.startswith("error:")


@dataclass
class RunSummary:
    """A run's attempts, with both denominators."""

    attempts: list[Attempt] = field(default_factory=list[Attempt])

    @property
    def counted(self) -> list[Attempt]:
        """Attempts without system errors."""
        return [attempt for attempt in self.attempts if not attempt.is_system_error]

    def to_json(self) -> dict[str, Any]:
        """The stable keys of ``tbx run --json``."""
        passed = sum(attempt.outcome == "success" for attempt in self.counted)
        return {
            "attempts": len(self.attempts),
            "passed": passed,
            "failed": len(self.counted) - passed,
            "system_errors": len(self.attempts) - len(self.counted),
            "pass_at_1": passed / len(self.counted) if self.counted else None,
        }


def play(task: str | Task, agent: Agent, *, episode: Episode | None = None, attempt: int = 0) -> Episode:
    """Play one attempt to its end and return the finished episode (its database is freed)."""
    episode = episode or Episode()
    suspends = episode.settings.suspends
    observation = complete(episode.reset(task, attempt=attempt), suspends)
    agent.start(episode, observation)
    while not episode.over:
        observation = complete(episode.act(agent.act(observation)), suspends)
    episode.close()
    return episode


def run(
    task_ids: Sequence[str],
    agent_name: str,
    *,
    settings: Settings | None = None,
    retries: int = RETRIES,
    first: int = 0,
    on_attempt: Callable[[Attempt], None] | None = None,
) -> RunSummary:
    """Play every task once with a fresh agent each; a system error is retried, then reported as one.

    Args:
        task_ids: the tasks.
        agent_name: as of `make_agent`.
        settings: of the episodes.
        retries: new attempts after a system error, at most.
        first: number of the first attempt; it only seeds injected faults, so that rounds meet different ones.
        on_attempt: hears of each attempt as it ends.
    """
    summary = RunSummary()
    for attempt in attempts(task_ids, agent_name, settings=settings, retries=retries, first=first):
        summary.attempts.append(attempt)
        if on_attempt is not None:
            on_attempt(attempt)
    return summary


def attempts(
    task_ids: Iterable[str],
    agent_name: str,
    *,
    settings: Settings | None = None,
    retries: int = RETRIES,
    first: int = 0,
) -> Iterable[Attempt]:
    """The attempts of `run`, one by one."""
    agent = make_agent(agent_name)
    episode = Episode(settings)
    for task_id in task_ids:
        task = get_task(task_id, episode.settings.knobs)
        tried = 0
        play(task, agent, episode=episode, attempt=first)
        while episode.outcome.startswith("error:") and tried < retries:
            tried += 1
            play(task, agent, episode=episode, attempt=first + tried)
        yield Attempt(
            task_id=task.id,
            outcome=episode.outcome,
            ended_by=episode.ended_by,
            reward=episode.reward,
            turns=episode.turns,
            tool_calls=episode.tool_calls,
            failed=tuple(sorted(episode.verdict.failed)) if episode.verdict else (),
            retries=tried,
            error=episode.error,
        )
