"""The judge of the guest service policy: a second opinion on every finished episode.

It reads the state before, the state after, the row changes and the log, and imports neither `policy.py` nor the
families; its constants and rules were written from the text of the policy and the current articles alone. One module
holds one or a few sections, one function a rule. What the records cannot tell (which charges a guest meant, whether a
promise was kept in words) is not judged; where the text allows two readings, both pass, and the rule says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tb_envs.authoring.audit import Case, Violation

from . import accounts, before_arrival, closing, conduct, folios, limits, money, stays
from .episode import Episode

Rule = Callable[[Episode], Iterator[Violation]]

RULES: tuple[Rule, ...] = (
    conduct.one_ticket,
    conduct.order_of_work,
    conduct.money_after_booking,
    conduct.clear_yes,
    conduct.nothing_astray,
    conduct.nothing_disclosed,
    conduct.verified_first,
    conduct.facts_were_named,
    conduct.third_parties,
    before_arrival.changed_once,
    before_arrival.cancellations,
    before_arrival.date_changes,
    before_arrival.room_changes,
    before_arrival.name_changes,
    stays.early_departures,
    stays.late_checkouts,
    stays.complaints,
    stays.no_shows,
    folios.splits,
    folios.disputes,
    folios.price_corrections,
    folios.double_payments,
    folios.duplicates,
    accounts.loyalty_corrections,
    accounts.corporate_rates,
    accounts.releases,
    accounts.group_travellers,
    accounts.relocations,
    accounts.entries_have_a_cause,
    money.money_has_a_cause,
    limits.partner_bookings,
    limits.tool_failures,
    limits.approvals,
    closing.ticket_subject,
    closing.ticket_state,
    closing.ticket_reason,
    closing.message,
    closing.notes,
    closing.end,
)
"""Every rule, in the order of the policy's sections."""


def audit(case: Case) -> list[Violation]:
    """All breaches of the policy that a finished episode shows; none for one that a careful agent ended rightly."""
    episode = Episode(case)
    return [violation for rule in RULES for violation in rule(episode)]
