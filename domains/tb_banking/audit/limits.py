"""Chapter 6: limits, their ceilings, and what a denied sign-off leaves.

Left open: whether the seventh day of a temporary limit is counted from today or tomorrow.
"""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import State

from .episode import Episode
from .reckoning import days_since, days_until, segment, usd

CEILINGS = {
    "daily_transfer": {"basic": 400000, "plus": 1000000, "premier": 2500000},
    "daily_cash": {"basic": 50000, "plus": 100000, "premier": 200000},
    "card_spend": {"basic": 300000, "plus": 800000, "premier": 2000000},
}
YOUNG_DAYS, TEMPORARY_DAYS = 90, 7


def ceiling(state: State, account_id: str, kind: str, episode: Episode) -> int:
    """Handbook 6.1 and 6.2: what a limit may be raised to without a sign-off."""
    full = CEILINGS[kind][segment(state, account_id)]
    young = days_since(state.row("accounts", account_id)["opened_on"], episode.now) < YOUNG_DAYS
    return full // 2 if young else full


def raises(episode: Episode) -> Iterator[Violation]:
    """Handbook 6.1 to 6.4: up to the ceiling; above it at most twice, for 7 days; never after a denied sign-off."""
    for act in episode.of("raise_limit", "lower_limit"):
        state, until = episode.at(act), act.change.after["until"]
        most = ceiling(state, act.account_id, act.detail, episode)
        denied = state.where("sign_offs", account_id=act.account_id, kind="limit", decision="denied")
        if any(row["id"] not in episode.start.rows("sign_offs") for row in denied):
            yield Violation("6.4", f"{act.key} was set to {usd(act.cents)} after the sign-off was denied")
        if act.kind == "lower_limit" or act.cents <= most:
            continue
        if act.cents > 2 * most:
            yield Violation("6.3", f"{act.key} was set to {usd(act.cents)}, more than twice {usd(most)}")
        elif until is None or not 0 <= days_until(until, episode.now) <= TEMPORARY_DAYS:
            yield Violation("6.3", f"{act.key} was set above {usd(most)} until {until}, which is not 7 days or less")
