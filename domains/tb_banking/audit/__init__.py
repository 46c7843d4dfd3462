"""The judge of the servicing handbook: a second opinion on every finished conversation.

It reads the state before, the state after, the row changes and the log, and imports neither the policy functions nor
the families; its constants and rules were written from the handbook and the current guide pages alone. One module
holds one chapter or two, one function a rule. What the records cannot tell is not judged; where the text allows two
readings, both pass, and the module's first lines say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tb_envs.authoring.audit import Case, Violation

from . import (
    alerts,
    cards,
    complaints,
    conduct,
    contested,
    credits,
    deposits,
    disputes,
    ends,
    failures,
    holds_fees,
    identity,
    limits,
    mandates,
    paperwork,
    refusals,
    sign_offs,
    transfers,
)
from .episode import Episode

Rule = Callable[[Episode], Iterator[Violation]]

RULES: tuple[Rule, ...] = (
    conduct.one_case,
    conduct.order_of_work,
    conduct.clear_yes,
    conduct.protection_first,
    conduct.reported_is_frozen,
    conduct.done_once,
    conduct.nothing_astray,
    conduct.nothing_disclosed,
    identity.levels,
    identity.facts_were_named,
    identity.passcodes,
    mandates.rights,
    mandates.own_profile,
    mandates.papers,
    disputes.filings,
    disputes.unknown_is_frozen,
    disputes.fraud_is_complete,
    contested.contested,
    contested.write_offs,
    credits.credits_given,
    credits.credit_at_once,
    cards.replacements,
    cards.found_again,
    cards.controls,
    limits.raises,
    transfers.recalls,
    transfers.orders,
    transfers.closing,
    transfers.returns,
    holds_fees.releases,
    holds_fees.reversals,
    deposits.broken,
    sign_offs.sign_offs,
    alerts.resolved,
    alerts.merchant_not_named,
    alerts.devices,
    complaints.compensations,
    complaints.reopened,
    failures.tool_failures,
    paperwork.case_subject,
    paperwork.case_state,
    paperwork.message,
    paperwork.notes,
    paperwork.end,
    ends.done_is_true,
    ends.caller_is_true,
    ends.papers_are_true,
    ends.team_is_true,
    refusals.unfounded,
)
"""Every rule, in the order of the handbook's chapters."""


def audit(case: Case) -> list[Violation]:
    """All breaches of the handbook in a finished conversation; none in one that a careful agent ended rightly."""
    episode = Episode(case)
    return [violation for rule in RULES for violation in rule(episode)]
