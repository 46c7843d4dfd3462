"""Section 13: the ticket's final state held against what was done, the message, the notes, the end."""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring.audit import Violation

from .conduct import (
    FACTS_NEEDED,
    MOST_FAILURES,
    UNPROTECTED,
    facts_needed,
    failed_checks,
    is_authorised_contact,
    is_third_party,
    is_verified,
)
from .episode import Episode
from .folios import payment_error
from .limits import approvals_on, partner_decides
from .reckoning import folios, in_time
from .refusals import unfounded
from .stays import no_show_due

FINAL = {
    "within_policy": ("completed", "closed", "front_desk"),
    "manager_granted": ("completed", "closed", "front_desk"),
    "manager_denied": ("refused", "closed", "front_desk"),
    "manager_pending": ("pending_approval", "on_hold", "duty_manager"),
    "policy_refused": ("refused", "closed", "front_desk"),
    "identity_failed": ("refused", "closed", "security"),
    "not_authorised": ("refused", "closed", "front_desk"),
    "partner_owns": ("referred", "closed", "partner_desk"),
    "already_done": ("no_action", "closed", "front_desk"),
    "guest_declined": ("no_action", "closed", "front_desk"),
    "finance_review": ("referred", "escalated", "finance"),
    "document_review": ("referred", "escalated", "guest_relations"),
    "system_fault": ("referred", "escalated", "it_support"),
}
PARTLY = ("partly_completed", "closed", "front_desk")
CARRIED_OUT = ("within_policy", "manager_granted")
CONFIRMATION = {
    "cancellation": "cancellation_confirmed",
    "early_departure": "cancellation_confirmed",
    "date_change": "change_confirmed",
    "room_change": "change_confirmed",
    "late_checkout": "change_confirmed",
    "name_change": "change_confirmed",
    "loyalty": "loyalty_confirmed",
    "group_block": "group_confirmed",
    "relocation": "relocation_confirmed",
}
NOTICE = {
    "manager_pending": "approval_pending",
    "partner_owns": "partner_referral",
    "finance_review": "review_opened",
    "document_review": "review_opened",
    "system_fault": "review_opened",
    "identity_failed": "security_notice",
}


def done_topics(episode: Episode) -> list[str]:
    """Topics of what was carried out, in order."""
    return list(dict.fromkeys(act.topic for act in episode.acts if act.topic))


def ticket_subject(episode: Episode) -> Iterator[Violation]:
    """Policy 13.1: the guest and the booking of the ticket are those of the request."""
    ticket = episode.ticket
    if not ticket:
        return
    booking = episode.start.row("bookings", ticket["booking_id"])
    if booking and booking["guest_id"] != ticket["guest_id"]:
        yield Violation("13.1", f"the ticket names {ticket['booking_id']}, a booking of another guest")
    if (ticket["topic"] == "group_block") != (ticket["booking_id"] is None) and ticket["reason"] != "identity_failed":
        yield Violation("13.1", f"a ticket about {ticket['topic']} names the booking {ticket['booking_id']}")
    strangers = sorted({act.guest_id for act in episode.acts if act.guest_id} - {ticket["guest_id"]})
    if strangers:
        yield Violation(
            "13.1", f"something was done for {', '.join(strangers)}, the ticket is about {ticket['guest_id']}"
        )
    topics = ("cancellation", "duplicate_booking") if ticket["topic"] == "duplicate_booking" else (ticket["topic"],)
    about = {act.booking_id for act in episode.acts if act.topic in topics and act.kind != "goodwill"}
    if about and ticket["booking_id"] not in about:
        yield Violation("13.1", f"the ticket names {ticket['booking_id']}, {ticket['topic']} was done on {about}")
    if ticket["outcome"] == "completed" and (ticket["topic"] == "group_block") != (
        "group_block" in done_topics(episode)
    ):
        yield Violation("13.1", f"the ticket is about {ticket['topic']}, done was {', '.join(done_topics(episode))}")
    replaced = not episode.labels or episode.labelled("changed_mind", "accepted:")
    if ticket["outcome"] == "completed" and not replaced and not {*topics} & {*done_topics(episode)}:
        yield Violation("13.1", f"the ticket is about {ticket['topic']}, done was {', '.join(done_topics(episode))}")
    checked = {check.guest_id for check in episode.checks}
    if checked and ticket["guest_id"] not in checked:
        yield Violation("13.1", f"the ticket is about {ticket['guest_id']}, who was never checked")


def ticket_state(episode: Episode) -> Iterator[Violation]:
    """Policy 13.2 and 13.3: reason, outcome, status and team belong together, and fit what was done."""
    ticket = episode.ticket
    if not ticket:
        return
    reason, done = ticket["reason"], bool(episode.acts)
    state = (ticket["outcome"], ticket["status"], ticket["team"])
    partly = ticket["outcome"] == "partly_completed"
    wanted = PARTLY if partly else FINAL.get(reason)
    if state != wanted or (partly and (reason in CARRIED_OUT or reason is None)):
        yield Violation("13.2", f"the ticket ends as {reason}: {state} where {wanted} was due")
    if ticket["outcome"] in ("completed", "partly_completed") and not done:
        yield Violation("13.2", f"the ticket is {ticket['outcome']}, but nothing was done")
    if ticket["outcome"] in ("refused", "no_action", "referred") and done and reason != "system_fault":
        yield Violation("13.3", f"the ticket is {ticket['outcome']}, but {', '.join(done_topics(episode))} was done")
    if ticket["outcome"] == "completed":
        granted = any(change.after["decision"] == "granted" for change in episode.approvals)
        earlier = any(
            row["decision"] == "granted" for act in episode.acts for row in approvals_on(episode, act.booking_id or "")
        )
        if (reason == "manager_granted" and not earlier) or (reason == "within_policy" and granted):
            yield Violation("13.2", f"the ticket is completed as {reason}, which the approvals do not bear out")


def ticket_reason(episode: Episode) -> Iterator[Violation]:
    """Policy 13.2: the reason is true, as far as the records tell."""
    ticket = episode.ticket
    if not ticket:
        return
    yield from _caller(episode)
    partly = ticket["outcome"] == "partly_completed"
    if not partly and (problem := _untrue(episode)):
        yield Violation("13.2", f"the ticket ends as {ticket['reason']}, but {problem}")
    if ticket["outcome"] in ("refused", "no_action") and not episode.acts:
        yield from unfounded(episode)


def _caller(episode: Episode) -> Iterator[Violation]:
    """Policy 2: who the caller is agrees with how the ticket ends."""
    reason, topic, guest_id = (episode.ticket[name] for name in ("reason", "topic", "guest_id"))
    verified = is_verified(episode, guest_id, facts_needed(topic))
    failures = failed_checks(episode, guest_id)
    third = is_third_party(episode, guest_id)
    entitled = is_authorised_contact(episode, guest_id) and topic in UNPROTECTED
    ends = f"the ticket ends as {reason}, but"
    match reason:
        case "identity_failed":
            if verified:
                yield Violation("13.2", f"{ends} the caller was verified")
            elif not any(check.guest_id == guest_id for check in episode.checks):
                yield Violation("2.3", f"{ends} no check was run")
            elif failures < MOST_FAILURES and not _had_no_more(episode):
                yield Violation("2.3", f"{ends} the caller was not asked for more")
        case "not_authorised":
            if not third or not is_verified(episode, guest_id, FACTS_NEEDED):
                yield Violation("2.4", f"{ends} no third party passed a check")
            elif entitled and topic != "group_block" and episode.ticket["outcome"] != "partly_completed":
                yield Violation("2.4", f"{ends} the caller is the authorised contact and the request unprotected")
        case _:
            if not verified:
                section = "2.3" if failures >= MOST_FAILURES else "2.2"
                yield Violation(section, f"{ends} the caller was not verified for {topic}")
            if third and not entitled:
                yield Violation("2.4", f"{ends} the caller is a third party without the right")


def _untrue(episode: Episode) -> str:
    """What contradicts the reason of a ticket about a single end; empty when nothing does."""
    ticket = episode.ticket
    reason, topic = ticket["reason"], ticket["topic"]
    booking = episode.start.row("bookings", ticket["booking_id"])
    partners = partner_decides(episode.start, booking, topic)
    if partners and reason not in ("partner_owns", "identity_failed", "not_authorised"):
        return f"{topic} of {booking['id']} is the partner's (10.1)"
    decisions = {row["decision"] for row in approvals_on(episode, ticket["booking_id"] or "")}
    decisions |= {change.after["decision"] for change in episode.approvals}
    match reason:
        case "manager_denied" | "manager_pending" if reason.removeprefix("manager_") not in decisions:
            return f"the manager's answers are {sorted(decisions) or 'none'}"
        case "partner_owns" if not partners:
            return "the request is not the partner's"
        case "document_review" if topic != "name_change":
            return "no name was to be changed"
        case "finance_review" if not _finance_decides(episode):
            return "finance has nothing to decide"
        case _:
            return ""


def _had_no_more(episode: Episode) -> bool:
    """Policy 2.3: whether the caller could or would not name a further fact."""
    return not episode.labels or episode.labelled("unknown", "withheld")


def _finance_decides(episode: Episode) -> bool:
    """Policy 3.5 and 7.5: a late split, or two equal payments further apart."""
    ticket = episode.ticket
    booking = episode.start.row("bookings", ticket["booking_id"])
    if ticket["topic"] == "folio_split":
        return bool(booking) and not in_time(booking, "folio_split", episode.now)
    keys = [folio["id"] for folio in folios(episode.start, ticket["booking_id"])]
    return ticket["topic"] == "payment_error" and payment_error(episode.start, keys) == "apart"


def _templates(episode: Episode) -> set[str]:
    """Policy 13.4: the templates that may be sent; empty when none may."""
    ticket = episode.ticket
    if ticket["outcome"] not in ("completed", "partly_completed"):
        return {NOTICE[ticket["reason"]]} if ticket["reason"] in NOTICE else set()
    topics = done_topics(episode)
    first = [ticket["topic"]] if ticket["topic"] in topics else topics
    if ticket["topic"] == "duplicate_booking":
        first = ["duplicate_booking", *(topic for topic in topics if topic == "cancellation")]
    found = {CONFIRMATION.get(topic, "billing_confirmed") for topic in first}
    if "relocation" in first and not episode.of("relocate"):
        return (found - {"relocation_confirmed"}) | {"cancellation_confirmed"}
    return found


def message(episode: Episode) -> Iterator[Violation]:
    """Policy 13.4: exactly one message of the right template to the guest of the ticket, or none."""
    ticket = episode.ticket
    if not ticket:
        return
    sent = [change.after for change in episode.new("messages") if change.after["direction"] == "outbound"]
    templates = _templates(episode)
    if len(sent) != bool(templates):
        yield Violation("13.4", f"{len(sent)} messages were sent where {int(bool(templates))} was due")
    booking_id = None if ticket["reason"] == "identity_failed" else ticket["booking_id"]
    for row in sent:
        if templates and row["template"] not in templates:
            yield Violation("13.4", f"{row['template']} was sent where {' or '.join(sorted(templates))} was due")
        if (row["guest_id"], row["booking_id"]) != (ticket["guest_id"], booking_id):
            yield Violation("13.4", f"the message went to {row['guest_id']} about {row['booking_id']}")


def notes(episode: Episode) -> Iterator[Violation]:
    """Policy 13.5: a note after relief by 6.3, 6.4 or 7.2, and a security note for a caller who was not verified."""
    wanted: set[tuple[str, str]] = set()
    for act in episode.of("refund", "waive"):
        if act.topic == "service_complaint":
            wanted.add((act.guest_id, "complaint"))
        if act.topic == "charge_dispute":
            wanted.add((act.guest_id, "goodwill"))
        if act.topic == "no_show":
            booking = episode.start.row("bookings", act.booking_id)
            if no_show_due(episode.before(act.call), booking, episode.now).goodwill:
                wanted.add((act.guest_id, "goodwill"))
    if episode.ticket.get("reason") == "identity_failed":
        wanted.add((episode.ticket["guest_id"], "security"))
    written = {(change.after["guest_id"], change.after["kind"]) for change in episode.new("guest_notes")}
    for guest_id, kind in sorted(wanted - written):
        if not episode.given_up:
            yield Violation("13.5", f"a note of kind {kind} is missing for {guest_id}")
    if "security" in {kind for _, kind in written - wanted}:
        yield Violation("13.5", "a security note was written though the caller was not turned away")


def end(episode: Episode) -> Iterator[Violation]:
    """Policy 13.6: an escalated ticket is handed over to its team, every other conversation is ended."""
    ended_by = next((event.name for event in reversed(episode.case.log) if event.kind == "ended"), "")
    handed = episode.calls("hand_over")
    escalated = episode.ticket.get("status") == "escalated"
    if escalated and not any(call.data.get("team") == episode.ticket["team"] for call in handed):
        yield Violation("13.6", f"the conversation was not handed over to {episode.ticket['team']}")
    if not escalated and handed:
        yield Violation("13.6", f"the conversation was handed over though the ticket is {episode.ticket.get('status')}")
    if not escalated and not handed and ended_by != "customer" and not episode.calls("end_conversation"):
        yield Violation("13.6", "the conversation was not ended")
