"""Rows of attempts without an episode behind them: what the tests of figures count. Every key of a row is in each."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tb_envs.evaluation.rows import KEYS

GUARD, EARNED = "nothing_else", "ticket_says_why"


def attempt_row(
    task_id: str = "hotel/made_up/0",
    attempt: int = 0,
    outcome: str = "success",
    *,
    guards: bool | None = None,
    earned: bool | None = None,
    **given: Any,
) -> dict[str, Any]:
    """An attempt that kept the guard and earned the record, or as said; `given` replaces any key of the row."""
    domain, family, _ = task_id.split("/")
    passed = outcome == "success"
    kept = guards if guards is not None else True
    done = earned if earned is not None else passed or not kept
    checks = [
        {"name": GUARD, "kind": "guard", "passed": kept, "expected": "nothing else changes", "found": "…"},
        {"name": EARNED, "kind": "earned", "passed": done, "expected": "a reason", "found": "…"},
    ]
    row: dict[str, Any] = {
        "v": 1,
        "task_id": task_id,
        "task_hash": f"hash of {task_id}",
        "domain": domain,
        "family": family,
        "split": "bench",
        "traps": ["approval"],
        "cell": "denied",
        "reference_length": 5,
        "attempt": attempt,
        "seed": 1,
        "agent": {"name": "made up", "kind": "chat", "sampling": {"temperature": 0.7}},
        "outcome": outcome,
        "ended_by": "error" if outcome.startswith("error:") else "agent",
        "error": "it broke" if outcome.startswith("error:") else "",
        "reward": float(passed),
        "turns": 4,
        "user_turns": 2,
        "tool_calls": 5,
        "tool_errors": 0,
        "malformed": 0,
        "user_faults": 0,
        "messages": [],
        "wrote": [],
        "finish": [],
        "log": [],
        "verdict": None if outcome.startswith("error:") else {"success": passed, "grader": "1", "checks": checks},
        "grader": "1",
        "package": "0.1.0",
        "tools_hash": "tools",
        "context": {"rule": "stop", "limit": 0, "dropped": 0},
        "tokens": {"agent": None, "user": None, "judge": None},
        "cost": {"agent": 0.0, "user": 0.0, "judge": 0.0},
        "retries": 0,
        "seconds": {"total": 1.0, "agent": 0.5},
    }
    row.update(given)
    assert tuple(row) == KEYS
    return row


def campaign(tasks: Mapping[str, str], **given: Any) -> Iterator[dict[str, Any]]:
    """Rows of tasks whose attempts are written as letters, in order: ``+`` passed, ``-`` failed, ``e`` a system error.

    ``g`` kept every guard and did not earn the record; ``b`` earned it and broke a guard.
    """
    for task_id, letters in tasks.items():
        for attempt, letter in enumerate(letters):
            match letter:
                case "+":
                    yield attempt_row(task_id, attempt, **given)
                case "-" | "g":
                    yield attempt_row(task_id, attempt, "failure", guards=letter == "g", earned=False, **given)
                case "b":
                    yield attempt_row(task_id, attempt, "failure", guards=False, earned=True, **given)
                case _:
                    yield attempt_row(task_id, attempt, "error:backend", **given)


def counted(successes: Iterable[int], n: int) -> dict[str, str]:
    """Tasks of the campaign with these numbers of successes, failures first."""
    return {f"hotel/made_up/{index}": "-" * (n - c) + "+" * c for index, c in enumerate(successes)}
