"""What a term deposit has earned. Knows no penalty: that is given to the tool that breaks a deposit."""

from tb_envs.authoring import Db
from tb_envs.store.db import Found

from ._days import days_since

UNPAID_DAYS = 14
"""A deposit that ends in its first days pays no interest."""
_YEAR = 365 * 10_000


def interest(principal_cents: int, rate_basis_points: int, days: int) -> int:
    """Interest of some days of a year of 365, rounded half up to the cent."""
    return (2 * principal_cents * rate_basis_points * days + _YEAR) // (2 * _YEAR)


def earned(db: Db, deposit: Found) -> int:
    """What the deposit would pay on top of its principal if it ended today, before any penalty."""
    held = days_since(db, deposit.opened_on)
    return interest(deposit.principal_cents, deposit.rate_basis_points, held) if held > UNPAID_DAYS else 0
