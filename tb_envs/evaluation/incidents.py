"""What happened in attempts besides passing and failing: how they ended, errors of tools, systems and customers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tb_envs.evaluation.tally import Played

LISTED = 20
"""Different system errors that are listed."""


def ended_by(played: Sequence[Played]) -> dict[str, dict[str, int]]:
    """How often an attempt ended in which way, and how many of those count and failed; most frequent first."""
    all_of = Counter(one.ended_by for one in played)
    failed = Counter(one.ended_by for one in played if one.counted and not one.passed)
    names = sorted(all_of, key=lambda name: (-all_of[name], name))
    return {name: {"attempts": all_of[name], "failed": failed[name]} for name in names}


def errors(played: Sequence[Played]) -> list[dict[str, Any]]:
    """The system errors in their own words, most frequent first."""
    found = Counter((one.outcome, one.error) for one in played if not one.counted)
    listed = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:LISTED]
    return [{"outcome": outcome, "error": error, "count": count} for (outcome, error), count in listed]


def tool_errors(played: Sequence[Played]) -> dict[str, Any]:
    """Error results of tools, and turns that were no valid action."""
    calls, wrong = sum(one.tool_calls for one in played), sum(one.tool_errors for one in played)
    return {
        "calls": calls,
        "errors": wrong,
        "rate": wrong / calls if calls else None,
        "attempts_with": sum(one.tool_errors > 0 for one in played),
        "malformed": sum(one.malformed for one in played),
        "attempts_malformed": sum(one.malformed > 0 for one in played),
    }


def user_faults(played: Sequence[Played]) -> dict[str, Any]:
    """How often a language model that plays the customer had to be corrected; 0 for a scripted one."""
    turns, faults = sum(one.user_turns for one in played), sum(one.user_faults for one in played)
    having = sum(one.user_faults > 0 for one in played)
    return {
        "attempts": len(played),
        "attempts_with": having,
        "rate": having / len(played) if played else None,
        "faults": faults,
        "user_turns": turns,
        "per_user_turn": faults / turns if turns else None,
        "errors": sum(one.outcome == "error:user" for one in played),
    }
