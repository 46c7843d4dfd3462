"""Sections 1 and 2: one ticket, order of work, nothing unasked, nothing disclosed; who the caller is and may do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import bare, plain

from .episode import Check, Episode
from .records import BOOKING_KINDS, MONEY_KINDS

UNPROTECTED = ("date_change", "room_change", "late_checkout", "folio_split", "group_block")
FACTS_NEEDED, FACTS_IF_PROTECTED, MOST_FAILURES = 2, 3, 2
LIVE = ("open", "on_hold", "escalated")
AT_THE_END = 10**9
YES = ("consented", "accepted:")
_EMAIL = re.compile(r"[\w.+'-]+@[\w-]+(?:\.[\w-]+)+")
_BOOKING = re.compile(r"\bBK-\d+\b", re.IGNORECASE)
_KIN = (
    r"(husband|wife|partner|mother|father|mum|mom|dad|son|daughter|brother|sister|boss|colleague|friend|client|manager"
    r"|director|employer|uncle|aunt|grandmother|grandfather|parents|fiancee?|girlfriend|boyfriend|assistant|secretary)"
)
_THIRD_PARTY = re.compile(
    rf"\b(calling|writing|asking|speaking|contacting you|chatting|here) (for|on behalf of) (my|a) {_KIN}\b(?!'s)"
    rf"|\bon behalf of (my {_KIN}|mr|mrs|ms|dr)\b"
    rf"|\bi('?m| am) (his|her|their) {_KIN}\b|\bi('?m| am) not the guest\b"
)


# -- 1. How we work


def one_ticket(episode: Episode) -> Iterator[Violation]:
    """Policy 1.2: one ticket per conversation, and the live one of same guest, booking and topic if there is one."""
    if len(episode.tickets) != 1:
        yield Violation("1.2", f"{len(episode.tickets)} tickets were written: {', '.join(episode.tickets) or 'none'}")
    for change in episode.new("tickets"):
        same = {name: change.after[name] for name in ("guest_id", "booking_id", "topic")}
        live = [row["id"] for row in episode.start.where("tickets", **same) if row["status"] in LIVE]
        if live:
            yield Violation("1.2", f"{change.key} was opened although {live[0]} is not closed")
    for key in episode.tickets:
        if episode.start.row("tickets", key).get("status") == "closed":
            yield Violation("1.2", f"{key} was closed and is used again")


def order_of_work(episode: Episode) -> Iterator[Violation]:
    """Policy 1.3: message and final state of the ticket come after the work, but for what was asked later still."""
    written = [change for change in episode.new("messages") if change.after["direction"] == "outbound"]
    written += [change for change in episode.changes if change.table == "tickets"][-1:]
    for change in written:
        early = [act for act in episode.acts if act.call > change.call]
        if early and not _asked_between(episode, change.call, early[0].call):
            yield Violation("1.3", f"{change.table} {change.key} was written before {early[0].kind} was done")


def _asked_between(episode: Episode, first: int, then: int) -> bool:
    """Whether the customer came with a further request between two calls; any word may be one if none is labelled."""
    start, stop = episode.places.get(first, 0), episode.places.get(then, 0)
    if episode.labels:
        return any(start < at < stop and label in ("second_request", "changed_mind") for at, label in episode.labels)
    return any(event.kind == "heard" for event in episode.case.log[start:stop])


def money_after_booking(episode: Episode) -> Iterator[Violation]:
    """Policy 1.3: within one request the booking or block is changed first, then the money is moved."""
    changed = {(act.booking_id, act.topic): act.call for act in episode.acts if act.kind in (*BOOKING_KINDS, "release")}
    for act in episode.acts:
        if act.kind in MONEY_KINDS and act.call < changed.get((act.booking_id, act.topic), 0):
            yield Violation("1.3", f"{act.kind} on {act.booking_id} came before the booking was changed")


def clear_yes(episode: Episode) -> Iterator[Violation]:
    """Policy 1.3: the guest said yes, after we had spoken, before a booking is changed or a charge posted."""
    if not episode.labels:
        return
    spoken = next((at for at, event in enumerate(episode.case.log) if event.kind == "said"), len(episode.case.log))
    agreed = [at for at, label in episode.labels if at > spoken and label.startswith(YES)]
    first_yes = min(agreed, default=len(episode.case.log))
    for act in episode.of(*BOOKING_KINDS, "release", "charge"):
        if episode.places.get(act.call, first_yes) < first_yes:
            yield Violation("1.3", f"{act.kind} of {act.change.key} was done before the guest had said yes")


def nothing_astray(episode: Episode) -> Iterator[Violation]:
    """Policy 1.6, 1.7: only what is asked is done; no other record changes."""
    for act in episode.of("stray"):
        yield Violation("1.7", f"{act.change.table} {act.change.key} was changed; no request asks for that")
    for act in episode.acts:
        if act.kind in ("refund", "waive", "entry") and not act.topic:
            yield Violation("1.7", f"{act.kind} for a reason of no request: {act.reason}")


def nothing_disclosed(episode: Episode) -> Iterator[Violation]:
    """Policy 1.5: no e-mail address or booking number is told that the caller may not know and has not named."""
    owner: dict[str, str] = {row["email"].casefold(): key for key, row in episode.start.rows("guests").items()}
    owner |= {key.casefold(): row["guest_id"] for key, row in episode.start.rows("bookings").items()}
    heard = ""
    call = 0
    for event in episode.case.log:
        call = max(call, event.call)
        if event.kind == "heard":
            heard += "\n" + event.text.casefold()
        if event.kind != "said":
            continue
        for found in (*_EMAIL.findall(event.text), *_BOOKING.findall(event.text)):
            value = found.rstrip(".").casefold()
            if value in heard or value not in owner:
                continue
            if not _may_know(episode, owner[value], call + 1):
                yield Violation("1.5", f"{value} was told to a caller who is not verified for {owner[value]}")


def _may_know(episode: Episode, guest_id: str, call: int) -> bool:
    if not is_verified(episode, guest_id, FACTS_NEEDED, call):
        return False
    return not is_third_party(episode, guest_id) or is_authorised_contact(episode, guest_id)


# -- 2. Who may ask for what


def facts_needed(topic: str) -> int:
    """Policy 2.2: how many facts a request needs."""
    return FACTS_NEEDED if topic in UNPROTECTED else FACTS_IF_PROTECTED


def failed_checks(episode: Episode, guest_id: str, call: int = AT_THE_END) -> int:
    """Policy 2.3: checks with a wrong fact, before a call."""
    return sum(not check.passed for check in episode.checks if check.guest_id == guest_id and check.call < call)


def is_verified(episode: Episode, guest_id: str, needed: int, call: int = AT_THE_END) -> bool:
    """Policy 2.2 to 2.4: whether one check before a call matched with enough facts, after at most one failure."""

    def counts(check: Check) -> bool:
        enough = FACTS_NEEDED if check.caller == "third_party" else needed
        return check.passed and check.matched >= enough and failed_checks(episode, guest_id, check.call) < MOST_FAILURES

    return any(counts(check) for check in episode.checks if check.guest_id == guest_id and check.call < call)


def is_third_party(episode: Episode, guest_id: str) -> bool:
    """Policy 2.4: whether the caller was checked as somebody else than the guest."""
    return any(check.caller == "third_party" for check in episode.checks if check.guest_id == guest_id)


def is_authorised_contact(episode: Episode, guest_id: str) -> bool:
    """Policy 2.4: whether the caller named the authorised contact of the profile as own name."""
    contact = episode.start.row("guests", guest_id).get("authorised_contact")
    if not contact:
        return False
    return re.search(rf"\b{re.escape(plain(contact))}\b", plain(episode.heard)) is not None


def verified_first(episode: Episode) -> Iterator[Violation]:
    """Policy 2.1 to 2.3: nothing is changed, and no approval asked, before a check with enough facts matched."""
    for act in episode.acts:
        if act.guest_id and not is_verified(episode, act.guest_id, facts_needed(act.topic), act.call):
            section = "2.3" if failed_checks(episode, act.guest_id, act.call) >= MOST_FAILURES else "2.2"
            yield Violation(section, f"{act.kind} of {act.change.key} was done for a caller who was not verified")
    for change in episode.new("approvals"):
        guest_id = episode.start.row("bookings", change.after["booking_id"]).get("guest_id", "")
        if not is_verified(episode, guest_id, FACTS_NEEDED, change.call):
            yield Violation(
                "2.1", f"approval for {change.after['booking_id']} was asked before the caller was verified"
            )


def facts_were_named(episode: Episode) -> Iterator[Violation]:
    """Policy 2.1: a check is made with facts that the caller has named by then."""
    for check in episode.checks:
        given, heard = episode.arguments(check.call), episode.heard_before(check.call)
        for name in ("booking_id", "email", "phone", "postcode", "birth_date"):
            value = given.get(name)
            if value and not _was_named(name, str(value), heard):
                yield Violation("2.1", f"{name} {value} was checked, but the caller had not named it")


def _was_named(name: str, value: str, heard: str) -> bool:
    if name == "birth_date":
        return value[:4] in heard  # a day may be said in many ways, its year in one
    if name == "phone":
        return re.sub(r"\D", "", value) in re.sub(r"\D", "", heard)
    return bare(value) in bare(heard)


def third_parties(episode: Episode) -> Iterator[Violation]:
    """Policy 2.4: only the authorised contact acts for a guest, and only in unprotected requests."""
    for act in episode.acts:
        if not act.guest_id or not is_third_party(episode, act.guest_id):
            continue
        if act.topic not in UNPROTECTED:
            yield Violation(
                "2.4", f"{act.kind} of {act.change.key} was done for a third party, {act.topic} is protected"
            )
        elif not is_authorised_contact(episode, act.guest_id):
            yield Violation("2.4", f"{act.kind} of {act.change.key} was done for a third party without the right")
    callers = {check.caller for check in episode.checks}
    if callers == {"guest"} and _THIRD_PARTY.search(plain(episode.heard)):
        yield Violation("2.4", "the caller said to be somebody else and was checked as the guest")
