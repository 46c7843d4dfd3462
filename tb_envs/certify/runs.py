"""Runs of a task for its certificate: a script played to its end, and what it left. Proves nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tb_envs.agents import Agent, script_agent
from tb_envs.authoring.audit import Case, Violation
from tb_envs.authoring.domain import Domain
from tb_envs.authoring.steps import Step
from tb_envs.authoring.values import parse_time
from tb_envs.episode import Episode
from tb_envs.play import play
from tb_envs.session.log import Event, Log
from tb_envs.store.journal import RowChange, net_diff
from tb_envs.task import Task


@dataclass(frozen=True)
class Run:
    """One finished episode of a task."""

    task: Task
    outcome: str
    failed: frozenset[str]
    log: Log
    changes: list[RowChange]
    found: Mapping[str, str]
    error: str

    @property
    def passed(self) -> bool:
        """It scored 1."""
        return self.outcome == "success"

    def errors(self) -> list[Event]:
        """The error results the agent got."""
        return [event for event in self.log if event.kind == "result" and not event.ok]

    def explain(self) -> str:
        """The failed checks with what was found."""
        return (
            self.error
            or "; ".join(f"{name}: {self.found[name]}" for name in sorted(self.failed))
            or "all checks passed"
        )


def run_agent(task: Task, agent: Agent) -> Run:
    """Play one episode."""
    episode = play(task, agent, episode=Episode())
    verdict = episode.verdict
    found = {check.name: check.found for check in verdict.checks} if verdict else {}
    failed = verdict.failed if verdict else frozenset[str]()
    return Run(task, episode.outcome, failed, episode.log, episode.changes, found, episode.error)


def run_steps(task: Task, steps: Sequence[Step]) -> Run:
    """Play a script."""
    return run_agent(task, script_agent(steps))


@cache
def _seed_state(domain: Domain) -> dict[str, dict[str, dict[str, Any]]]:
    return {name: {key: dict(row) for key, row in rows.items()} for name, rows in domain.seed_rows.items()}


def state_before(task: Task) -> dict[str, dict[str, dict[str, Any]]]:
    """All rows of a task before its first turn: table → id → row. Shares rows with the seed: read only."""
    state = {name: dict(rows) for name, rows in _seed_state(task.domain).items()}
    inserts, updates = task.world.patch()
    for name, row in (*inserts, *updates):
        state[name][row["id"]] = row
    return state


def state_after(before: Mapping[str, Mapping[str, Any]], run: Run) -> dict[str, dict[str, dict[str, Any]]]:
    """All rows after a run: its net diff applied to the state before."""
    state = {name: dict(rows) for name, rows in before.items()}
    for change in net_diff(run.changes):
        if change.after is None:
            del state[change.table][change.key]
        else:
            columns = run.task.domain.specs[change.table].columns
            state[change.table][change.key] = dict(zip(columns, change.after, strict=True))
    return state


def violations(run: Run, before: Mapping[str, Mapping[str, Any]]) -> list[Violation]:
    """What the domain's audit says of a run."""
    case = Case(before, state_after(before, run), run.changes, run.log, parse_time(run.task.now))
    return run.task.domain.module("audit").audit(case)
