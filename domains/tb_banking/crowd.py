"""The bank's side of the knob ``lookalikes``: people who are easily taken for the customers of a task, with accounts.

Refuses to touch what the task needs: they have profiles, accounts and cards of their own, and nothing that is open.
"""

from __future__ import annotations

from collections.abc import Sequence

from tb_banking.world import BankWorld


def crowd(w: BankWorld, customer_ids: Sequence[str], count: int) -> None:
    """Place `count` near duplicates of each customer."""
    for customer_id in customer_ids:
        for place in range(count):
            double = w.lookalike(
                w.person(customer_id), segment=w.pick("basic", "plus", "premier"), same_name=place % 2 == 1
            )
            acct = w.account(double, opened_days=w.between(200, 2_000), balance=w.odd_cents(120_00, 4_800_00))
            w.card(acct)
