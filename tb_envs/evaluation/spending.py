"""What a campaign cost, agent, customer and judge apart. Unknown is null, never 0.

A row tells dollars for each role: null for an unknown price or unknown tokens, 0.0 where no model was called. The money
of system errors and of replaced rows was spent too, and is counted. The keys::

    total            US dollars of the whole campaign; null as soon as one row's cost of one role is unknown
    known            dollars of what is known: total is at least this
    by_role          {"agent", "user", "judge": {"dollars": number or null, "known", "attempts_unknown"}}
    per_run          total / mean attempts per task: one attempt at every task
    per_attempt      total / attempts, system errors included
    per_success      total / successful attempts
    per_dependable   total / dependable tasks (all of the headline's k attempts succeeded)

The last four are null where the total is, or where there is nothing to divide by. With ``A`` attempts at each of ``T``
tasks, run cost = total / A, cost per success = run cost / (T · pass@1), cost per dependable task = total / dependable.
"""

from __future__ import annotations

from math import fsum
from typing import Any

from tb_envs.evaluation.tally import ROLES, TOKENS, Tally


def cost(tally: Tally, *, attempts: int, passed: int, dependable: int) -> dict[str, Any]:
    """The cost of the rows counted in `tally`; see the module for the keys.

    Args:
        tally: the rows.
        attempts: attempts, system errors included, replaced rows not.
        passed: attempts that succeeded.
        dependable: tasks that passed every attempt looked at.
    """
    roles: dict[str, dict[str, Any]] = {}
    for role in ROLES:
        spent = tally.spent[role]
        dollars = None if spent.dollars_unknown else spent.dollars
        roles[role] = {"dollars": dollars, "known": spent.dollars, "attempts_unknown": spent.dollars_unknown}
    known = fsum(spent.dollars for spent in tally.spent.values())
    total = known if tally.rows and all(part["dollars"] is not None for part in roles.values()) else None
    return {
        "total": total,
        "known": known,
        "by_role": roles,
        "per_run": _per(total, attempts / len(tally.tasks) if tally.tasks else 0),
        "per_attempt": _per(total, attempts),
        "per_success": _per(total, passed),
        "per_dependable": _per(total, dependable),
    }


def tokens(tally: Tally) -> dict[str, dict[str, int] | None]:
    """Tokens by role and kind; null for a role of which no row tells."""
    return {
        role: {
            **{kind: spent.tokens[kind] for kind in TOKENS},
            "attempts": spent.known,
            "attempts_unknown": spent.unknown,
        }
        if spent.known
        else None
        for role, spent in tally.spent.items()
    }


def _per(total: float | None, count: float) -> float | None:
    return total / count if total is not None and count else None
