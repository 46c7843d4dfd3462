"""Requests turned down: whether the records show that the guest was entitled, or that another end was due.

Only what the records decide is judged. Which hour, which charges or which dates a guest had in mind is taken from the
calls of quotes, and where no call tells, the refusal is believed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring import show_money
from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, plain

from . import accounts, before_arrival, folios, stays
from .episode import Episode
from .reckoning import folios as folios_of
from .reckoning import in_time, plan, refunded_before

PRICELESS = (
    "loyalty", "payment_error", "corporate_rate", "extras_price", "folio_split", "no_show", "service_complaint",
)  # fmt: skip


def unfounded(episode: Episode) -> Iterator[Violation]:
    """Policy 13.2: a refusal, `already_done` or `guest_declined` that the records contradict."""
    ticket = episode.ticket
    booking = episode.start.row("bookings", ticket["booking_id"])
    reason, topic = ticket["reason"], ticket["topic"]
    if reason == "guest_declined":
        if topic in PRICELESS:
            yield Violation("13.2", f"{topic} has no price that a guest could decline")
        elif booking and (problem := _forbidden(episode, booking, topic)):
            yield Violation("13.2", f"the ticket ends as guest_declined, but {problem}")
    if not booking or reason not in ("policy_refused", "already_done"):
        return
    group = plan(episode.start, booking) == "group"
    if not group and in_time(booking, topic, episode.now) and (due := _due(episode, booking, topic)):
        yield Violation("13.2", f"{topic} of {booking['id']} ends as {reason}, but {due}")
    if (right := _other_end(episode, booking, topic)) and reason != right:
        yield Violation("13.2", f"{topic} of {booking['id']} ends as {reason} where {right} was due")


def _forbidden(episode: Episode, booking: Row, topic: str) -> str:
    """Why a guest had no price to decline: the change was not possible, or nothing would be returned (4.6, 6.1)."""
    state, now, key = episode.start, episode.now, booking["id"]
    match topic:
        case "date_change":
            return before_arrival.may_move(state, booking, now)
        case "name_change" if name := episode.last_argument("compare_names", key, "new_name"):
            return before_arrival.may_rename(state, booking, name, now)
        case "room_change" if wanted := episode.last_argument("quote_room_change", key, "room_type_id"):
            return "" if before_arrival.is_better(state, booking, wanted) else f"{wanted} is no better category"
        case "cancellation" if booking["status"] == "confirmed":
            returned = before_arrival.cancellation_refund(state, booking, now)
            return "" if returned else "nothing would be returned, which is policy_refused"
        case "early_departure":
            nothing = plan(state, booking) == "non_refundable"
            return "nothing would be returned, which is policy_refused" if nothing else ""
        case _:
            return ""


def _due(episode: Episode, booking: Row, topic: str) -> str:
    """What the guest was entitled to; empty when nothing is certain."""
    state, now, key = episode.start, episode.now, booking["id"]
    cents = 0
    match topic:
        case "cancellation" if booking["status"] == "confirmed":
            free = before_arrival.cancellation_fee(state, booking, now) == 0
            cents = before_arrival.cancellation_refund(state, booking, now) if free else 0
        case "no_show" if booking["status"] == "no_show":
            cents = stays.no_show_due(state, booking, now).cents
        case "service_complaint" if booking["status"] in ("in_house", "checked_out"):
            cents = stays.complaint_due(state, booking)
            cents -= _returned(episode, key, "compensation")
        case "corporate_rate":
            cents = accounts.corporate_due(state, booking) - _returned(episode, key, "corporate_rate")
        case "extras_price":
            cents = _named_extras(episode, booking)
        case "folio_split" if left := folios.left_to_move(state, booking):
            return f"the company takes {', '.join(left)}"
        case "charge_dispute":
            return _disputable(episode, booking)
        case "payment_error" if _payments(episode, key) == "twice":
            return "a payment was taken twice"
        case "duplicate_booking" if twins := folios.twins(state, booking):
            return f"{twins[0]['id']} is the same booking"
        case "loyalty" if any(accounts.missing_loyalty(state, booking) or ()):
            return f"{accounts.missing_loyalty(state, booking)} is missing"
        case "relocation" if booking["status"] == "confirmed" and accounts.relocates(state, booking):
            return "the guest is to be relocated" if accounts.sister_of(state, booking) else ""
        case "date_change" | "room_change" | "name_change":
            return _possible(episode, booking, topic)
        case _:
            pass
    return f"{show_money(cents)} was due" if cents > 0 else ""


def _possible(episode: Episode, booking: Row, topic: str) -> str:
    """Whether the change that was quoted last was allowed and available."""
    state, now = episode.start, episode.now
    if booking["status"] != "confirmed":
        return ""
    match topic:
        case "date_change":
            quoted = [e for e in episode.case.log if e.kind == "result" and e.name == "quote_date_change" and e.ok]
            available = bool(quoted) and bool(quoted[-1].data.get("available"))
            return (
                "the dates could be changed" if available and not before_arrival.may_move(state, booking, now) else ""
            )
        case "room_change":
            wanted = episode.last_argument("quote_room_change", booking["id"], "room_type_id")
            free = wanted and accounts.is_free(state, booking["property_id"], wanted, booking)
            return (
                "the category is better and free" if free and before_arrival.is_better(state, booking, wanted) else ""
            )
        case _:
            name = episode.last_argument("compare_names", booking["id"], "new_name")
            allowed = name and not before_arrival.may_rename(state, booking, name, now)
            return "the name could be changed" if allowed and not before_arrival.says_legal_change(episode) else ""


def _other_end(episode: Episode, booking: Row, topic: str) -> str:
    """The reason that the records ask for, where a request was refused or found done."""
    match topic:
        case "payment_error":
            ends = {"returned": "already_done", "apart": "finance_review", "once": "policy_refused"}
            return ends.get(_payments(episode, booking["id"]), "")
        case "loyalty":
            earned = accounts.missing_loyalty(episode.start, booking)
            late = not in_time(booking, topic, episode.now)
            return "policy_refused" if earned is None or late else "already_done"
        case "folio_split" if not in_time(booking, topic, episode.now):
            return "finance_review" if folios.left_to_move(episode.start, booking) else ""
        case "name_change" if before_arrival.says_legal_change(episode):
            return "document_review"
        case _:
            return ""


def _payments(episode: Episode, booking_id: str) -> folios.Twice:
    return folios.payment_error(episode.start, [row["id"] for row in folios_of(episode.start, booking_id)])


def _returned(episode: Episode, booking_id: str, reason: str) -> int:
    return refunded_before(episode.start, booking_id, reason)


def _disputable(episode: Episode, booking: Row) -> str:
    """A dispute is due for certain only when nothing that can be disputed was signed."""
    state = episode.start
    charges = [
        row
        for folio in folios_of(state, booking["id"])
        for row in state.where("charges", folio_id=folio["id"])
        if row["kind"] in folios.DISPUTABLE
    ]
    certain = bool(charges) and all(row["evidence"] == "none" and not row["waived_cents"] for row in charges)
    return "none of the charges was signed" if certain and not _returned(episode, booking["id"], "dispute") else ""


def _named_extras(episode: Episode, booking: Row) -> int:
    """What was charged too much for the extras that the guest spoke of."""
    too_much = folios.charged_too_much(episode.start, booking)
    named = folios.named_extras(plain(episode.heard))
    rows = episode.start.rows("charges")
    cents = sum(cents for key, cents in too_much.items() if rows[key]["kind"] in named)
    return cents - _returned(episode, booking["id"], "price_correction")
