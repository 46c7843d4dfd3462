"""Chapter 10: term deposits broken early.

Left open: whether half a penalty is rounded once or after the whole; in the first 14 days, when neither penalty nor
interest is due, whether the interest is left out or taken as the penalty: what is paid out is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State

from .episode import Episode
from .reckoning import YEAR, days_since, days_until, rounded, usd

PENALTY_DAYS = ((6, 30), (12, 60))
PENALTY_DAYS_LONGER, GRACE_DAYS, HARDSHIP_DAYS, LAST_DAYS = 90, 14, 180, 7


def interest(deposit: Row, days: int) -> int:
    """Handbook 10.1: interest on the whole principal for so many days."""
    return rounded(deposit["principal_cents"] * deposit["rate_basis_points"] * days, 10000 * YEAR)


def in_grace(deposit: Row, now: datetime) -> bool:
    """Handbook 10.2: whether the first 14 days still run."""
    return days_since(deposit["opened_on"], now) <= GRACE_DAYS


def is_almost_due(deposit: Row, now: datetime) -> bool:
    """Handbook 10.2: whether it is paid out by itself in 7 days or less."""
    return days_until(deposit["matures_on"], now) <= LAST_DAYS


def has_hardship(state: State, account_id: str, now: datetime) -> bool:
    """Handbook 10.2: whether our hardship team wrote of this customer in the last 180 days."""
    customer_id = state.row("accounts", account_id).get("customer_id")
    notes = state.where("contact_notes", customer_id=customer_id, kind="hardship")
    return any(days_since(row["written_at"], now) <= HARDSHIP_DAYS for row in notes)


def penalties(state: State, deposit: Row, now: datetime) -> set[int]:
    """Handbook 10.1 and 10.2: what breaking it costs; two amounts where rounding allows both."""
    earned = interest(deposit, days_since(deposit["opened_on"], now))
    if in_grace(deposit, now):
        return {0, earned}
    days = next((days for months, days in PENALTY_DAYS if deposit["term_months"] <= months), PENALTY_DAYS_LONGER)
    whole = min(interest(deposit, days), earned)
    if not has_hardship(state, deposit["account_id"], now):
        return {whole}
    days = min(days, days_since(deposit["opened_on"], now))
    exact = rounded(deposit["principal_cents"] * deposit["rate_basis_points"] * days, 2 * 10000 * YEAR)
    return {rounded(whole, 2), exact}


def broken(episode: Episode) -> Iterator[Violation]:
    """Handbook 10: at the right penalty, not in the last 7 days, and in the first 14 without interest."""
    for act in episode.of("break"):
        deposit, state = act.change.before, episode.at(act)
        if is_almost_due(deposit, episode.now):
            yield Violation("10.2", f"{act.key} was broken, but matures on {deposit['matures_on']}")
        right, taken = penalties(state, deposit, episode.now), act.change.after["penalty_cents"] or 0
        if taken not in right:
            wanted = " or ".join(map(usd, sorted(right)))
            yield Violation("10.1", f"{act.key} was broken at {usd(taken)} where {wanted} was due")
        entries = [change.after for change in episode.new("entries") if change.call == act.call]
        out = [row["amount_cents"] for row in entries if row["kind"] == "deposit_payout"]
        if in_grace(deposit, episode.now) and sum(out) != deposit["principal_cents"]:
            yield Violation("10.2", f"{act.key} paid out {usd(sum(out))} in its first 14 days, interest included")
