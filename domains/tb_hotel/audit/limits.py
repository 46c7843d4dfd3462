"""Sections 10 to 12: what the partner decides, what happens when a tool fails, what needs the duty manager."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tb_envs.authoring import show_money
from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Change, Row, State

from .before_arrival import cancellation_fee, cancellation_refund
from .episode import Episode
from .folios import MOST_CANDIDATES, dispute_relief, unsigned
from .reckoning import refunded_before, tier
from .records import Act
from .stays import complaint_due, early_return, no_show_due

LIMIT, PLATINUM_LIMIT = 50000, 75000
ALWAYS_OURS = ("late_checkout", "folio_split", "charge_dispute", "extras_price", "relocation")
OURS_IF_HOTEL_COLLECTS = ("room_change", "name_change", "service_complaint")
NO_RECORDS = ("get_time", "get_article", "search_articles")
NEVER_APPROVED = ("double_payment", "duplicate_booking", "price_correction", "corporate_rate", "relocation")


def partner_decides(state: State, booking: Row, topic: str) -> bool:
    """Policy 10.1: whether a request about a booking is the partner's."""
    if booking.get("channel") != "ota" or topic in ALWAYS_OURS:
        return False
    collects = state.row("partners", booking["partner_id"]).get("collects")
    return not (topic in OURS_IF_HOTEL_COLLECTS and collects == "hotel")


def partner_bookings(episode: Episode) -> Iterator[Violation]:
    """Policy 10.1: nothing that the partner decides is done by us."""
    for act in episode.acts:
        booking = episode.start.row("bookings", act.booking_id)
        if act.topic and partner_decides(episode.start, booking, act.topic):
            yield Violation("10.1", f"{act.topic} of {act.booking_id} is the partner's, yet {act.kind} was done")


def tool_failures(episode: Episode) -> Iterator[Violation]:
    """Policy 11.1: a write is repeated once, and only when it was not done; then the case goes to IT."""
    repeats: dict[str, int] = {}
    for failed in episode.failures:
        repeats.setdefault(episode.same_call(failed), failed.call)
    for text, first in repeats.items():
        later = [e for e in episode.case.log if e.kind == "call" and e.call > first and episode.same_call(e) == text]
        if len(later) > 1 and later[0].call in {failed.call for failed in episode.failures}:
            yield Violation("11.1", f"{later[0].name} was repeated {len(later)} times after it had failed")
    for done in episode.hidden_successes:
        again = [e for e in episode.case.log if e.kind == "call" and e.call > done.call]
        if any(episode.same_call(event) == episode.same_call(done) for event in again):
            yield Violation("11.1", f"{done.name} was repeated though it had been carried out")
    yield from _records_first(episode)
    stopped = min(episode.given_up.values(), default=0)
    topics = {act.topic for act in episode.acts if act.call < stopped}
    for act in episode.acts:
        if stopped and act.call > stopped and (act.topic in topics or act.kind in ("refund", "waive")):
            yield Violation("11.1", f"{act.kind} was done after a tool had failed twice")
    gave_it_to_it = episode.ticket.get("reason") == "system_fault"
    if gave_it_to_it and not episode.given_up:
        yield Violation("11.1", "the case went to IT though no write failed twice without effect")
    if episode.given_up and episode.ticket and not gave_it_to_it:
        yield Violation("11.1", f"{', '.join(episode.given_up)} failed twice and the case did not go to IT")


def _records_first(episode: Episode) -> Iterator[Violation]:
    """Policy 11.1: after a failure the records are looked at before anything else is written."""
    for failed in (*episode.failures, *episode.hidden_successes):
        for event in episode.case.log[episode.places[failed.call] + 1 :]:
            if event.kind == "call" and event.name.startswith(episode.reads) and event.name not in NO_RECORDS:
                break
            if event.kind == "call" and not event.name.startswith(episode.reads):
                yield Violation(
                    "11.1", f"{event.name} followed the failure of {failed.name} before a look at the records"
                )
                break


def limit_for(state: State, guest_id: str) -> int:
    """Policy 12.1: what may be returned on one booking without approval."""
    return PLATINUM_LIMIT if tier(state, guest_id) == "platinum" else LIMIT


def approvals_on(episode: Episode, booking_id: str) -> list[Row]:
    """All requests for approval of a booking, earlier ones included."""
    return episode.end.where("approvals", booking_id=booking_id)


def approvals(episode: Episode) -> Iterator[Violation]:
    """Policy 12: asked where the sum is over the limit and only there, once, exactly, before; and obeyed."""
    requests = {change.after["booking_id"] for change in episode.approvals}
    changed = {act.booking_id for act in episode.of("refund", "waive", "cancel", "shorten") if act.booking_id}
    for booking_id in sorted(requests | changed):
        yield from _approval_of(episode, booking_id)


def _approval_of(episode: Episode, booking_id: str) -> Iterator[Violation]:
    booking = episode.start.row("bookings", booking_id)
    limit = limit_for(episode.start, booking.get("guest_id", ""))
    returned = [act for act in episode.of("refund", "waive") if act.booking_id == booking_id]
    counted = [act for act in returned if not _exempt(episode, act)]
    total, certain = sum(a.cents for a in counted), sum(a.cents for a in counted if not _debatable(episode, a))
    known = approvals_on(episode, booking_id)
    new = [change for change in episode.approvals if change.after["booking_id"] == booking_id]
    if certain > limit and not any(row["decision"] == "granted" for row in known):
        yield Violation("12.1", f"{show_money(total)} was returned on {booking_id} without approval")
    binding = known if total > limit else [change.after for change in new]
    refused = [row["decision"] for row in binding if row["decision"] != "granted"]
    if refused:
        yield from _obeyed(episode, booking_id, counted, refused[0])
    if len(new) > max(1, len({act.kind for act in counted})):
        yield Violation("12.3", f"approval for {booking_id} was asked more than once")
    if counted and new:
        yield from _asked_rightly(episode, booking_id, counted, new)
    amount = sum(change.after["amount_cents"] for change in new)
    claims = {total} if counted else set[int]() if returned else _claims(episode, booking_id)
    if new and (amount <= limit or claims == set()):
        yield Violation("12.2", f"approval of {show_money(amount)} was asked for {booking_id}, which needs none")
    elif new and not counted and claims is not None and amount not in claims:
        shown = " or ".join(map(show_money, sorted(claims)[:3]))
        yield Violation("12.3", f"approval of {show_money(amount)} was asked where {shown} was due for {booking_id}")


def _obeyed(episode: Episode, booking_id: str, counted: list[Act], decision: str) -> Iterator[Violation]:
    """Policy 12.3: denied or pending, nothing is changed on the booking and its payments."""
    for act in counted:
        yield Violation("12.3", f"{show_money(act.cents)} was returned on {booking_id} although approval is {decision}")
    if episode.ticket.get("outcome") != "partly_completed":
        for act in episode.of("cancel", "shorten", "move", "void"):
            if act.booking_id == booking_id:
                yield Violation("12.3", f"{booking_id} was changed ({act.kind}) although approval is {decision}")


def _asked_rightly(episode: Episode, booking_id: str, counted: list[Act], new: list[Change]) -> Iterator[Violation]:
    """Policy 12.3: the right kind, the exact amount, before anything is changed, and the answer read."""
    topics = {act.topic for act in counted}
    bound = [act for act in episode.acts if act.booking_id == booking_id and act.topic in topics]
    first = min(act.call for act in bound)
    total = sum(act.cents for act in counted)
    for change in new:
        row = change.after
        kind = "refund" if row["kind"] == "refund" else "waive"
        of_kind = sum(act.cents for act in counted if act.kind == kind)
        if row["amount_cents"] not in (of_kind, total) and not episode.given_up:
            yield Violation(
                "12.3", f"approval of {show_money(row['amount_cents'])} was asked and {show_money(total)} returned"
            )
        if not of_kind and not episode.given_up:
            yield Violation(
                "12.3", f"approval of kind {row['kind']} was asked for {booking_id}, the money moved otherwise"
            )
        if change.call > first:
            yield Violation("12.3", f"approval was asked after {booking_id} had been changed")
        reads = [call for call in episode.calls("get_approval") if dict(call.data).get("approval_id") == change.key]
        if not any(change.call < call.call < first for call in reads):
            yield Violation("12.3", f"{booking_id} was changed before the manager's answer was read")


def _exempt(episode: Episode, act: Act) -> bool:
    """Policy 12.2: what needs no approval, whatever the amount."""
    if act.reason in NEVER_APPROVED or act.topic == "relocation":
        return True
    if act.reason != "cancellation":
        return False
    booking = episode.start.row("bookings", act.booking_id)
    return cancellation_fee(episode.start, booking, episode.now) == 0


def _debatable(episode: Episode, act: Act) -> bool:
    """Policy 12.2: a no-show that counts as cancelled without fee may pass for a cancellation without fee."""
    if act.reason != "no_show":
        return False
    return no_show_due(episode.before(act.call), episode.start.row("bookings", act.booking_id), episode.now).fee == 0


def _claims(episode: Episode, booking_id: str) -> set[int] | None:
    """What a request that was not carried out may have returned; None where the records alone do not say."""
    state, booking = episode.start, episode.start.row("bookings", booking_id)
    if not booking or episode.ticket.get("booking_id") != booking_id:
        return None
    match episode.ticket.get("topic"):
        case "cancellation" if booking["status"] == "confirmed":
            free = cancellation_fee(state, booking, episode.now) == 0
            return set() if free else {cancellation_refund(state, booking, episode.now)}
        case "early_departure" if booking["status"] == "in_house":
            days = [call.data["departure"] for call in episode.calls("quote_early_departure")]
            return {early_return(state, booking, day, episode.now) for day in days} or None
        case "no_show":
            return {no_show_due(state, booking, episode.now).cents}
        case "service_complaint":
            return {complaint_due(state, booking) - refunded_before(state, booking_id, "compensation")}
        case "charge_dispute":
            charges = unsigned(state, booking_id)[:MOST_CANDIDATES]
            parts = (part for size in range(len(charges)) for part in combinations(charges, size + 1))
            return {sum(dispute_relief(part).values()) for part in parts}
        case _:
            return None
