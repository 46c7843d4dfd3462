"""Chapter 15 but for the truth of the disposition: the case, its last state, the message, the notes, the end.

Left open: notes that a tool's failure left undone; the account of a case about nothing in particular.
"""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring.audit import Violation

from .episode import Episode
from .identity import MOST_CODES, failed_codes
from .records import SUBJECTS, Act

CLOSED = ("closed", "service")
FINAL = {
    "done": CLOSED, "done_signed_off": CLOSED, "sign_off_denied": CLOSED, "policy_refused": CLOSED,
    "part_done": CLOSED, "recognised": CLOSED, "already_settled": CLOSED, "customer_withdrew": CLOSED,
    "no_mandate": CLOSED, "sign_off_pending": ("waiting", "controls"), "not_verified": ("closed", "security"),
    "step_up_failed": ("closed", "security"), "documents_needed": ("waiting", "onboarding"),
    "system_fault": ("referred", "technology"),
}  # fmt: skip
SIGNED = {
    "provisional_credit": ("provisional_credit", "card_dispute", "alert"), "limit": ("limit",), "fee_return": ("fee",),
    "compensation": ("complaint",),
}  # fmt: skip
"""The subjects (15.1) that a request whose sign-off was asked may have."""
TEAMS = ("security", "disputes", "payments", "account_services", "complaints", "legal")
NOTICE = {
    "sign_off_pending": "sign_off_waiting", "team_review": "referral_notice", "system_fault": "referral_notice",
    "documents_needed": "documents_request", "not_verified": "security_warning", "step_up_failed": "security_warning",
}  # fmt: skip
CONFIRMED = ("done", "done_signed_off", "part_done")
CONFIRMATION = {
    "file": "dispute_update", "escalate": "dispute_update", "settle": "dispute_update", "withdraw": "dispute_update",
    "replace": "card_update", "freeze": "card_update", "unfreeze": "card_update", "control_on": "card_update",
    "control_off": "card_update", "raise_limit": "change_confirmed", "lower_limit": "change_confirmed",
    "change_order": "change_confirmed", "order_status": "change_confirmed", "end_mandate": "change_confirmed",
    "revoke": "change_confirmed", "resolve": "change_confirmed", "close": "change_confirmed",
    "reverse": "money_confirmed", "credit": "money_confirmed", "compensate": "money_confirmed",
    "release": "money_confirmed", "recall": "money_confirmed", "break": "money_confirmed", "return": "money_confirmed",
    "reopen": "change_confirmed", "charge": "money_confirmed",
}  # fmt: skip
PROTECTION = ("freeze", "revoke")
DUE_NOTES = ("security", "goodwill", "complaint")


def case_subject(episode: Episode) -> Iterator[Violation]:
    """Handbook 15.1: the holder of the account concerned, that account, and the subject of the first request."""
    record = episode.record
    if not record:
        return
    account = episode.start.row("accounts", record["account_id"])
    if account and account["customer_id"] != record["customer_id"]:
        yield Violation("15.1", f"the case names {record['customer_id']}, who does not hold {account['id']}")
    device = record["subject"] == "device"
    if device and account:
        yield Violation("15.1", f"the case is about a device and names the account {account['id']}")
    if not account and not device and any(act.account_id for act in episode.acts):
        yield Violation("15.1", f"the case names no account, yet {episode.acts[0].kind} was done on one")
    done = [act for act in episode.acts if act.kind != "stray"]
    asked = [change.after for change in episode.new("sign_offs")]
    for row in asked:
        if row["account_id"] != record["account_id"] or (not done and record["subject"] not in SIGNED[row["kind"]]):
            yield Violation("15.1", f"the case names {record['subject']}, a sign-off was asked for {row['kind']}")
    strangers = sorted({act.customer_id for act in done if act.kind != "revoke"} - {record["customer_id"]})
    if strangers:
        yield Violation(
            "15.1", f"something was done for {', '.join(strangers)}, the case is of {record['customer_id']}"
        )
    whole = episode.disposition in ("done", "done_signed_off", "sign_off_denied", "sign_off_pending")
    if whole and done and not any(record["subject"] in SUBJECTS[act.kind] for act in done):
        kinds = ", ".join(dict.fromkeys(act.kind for act in done))
        yield Violation("15.1", f"the case is about {record['subject']}, done was {kinds}")
    about = {act.account_id for act in done if record["subject"] in SUBJECTS[act.kind] and act.account_id}
    if about and account and account["id"] not in about:
        yield Violation("15.1", f"the case names {account['id']}, {record['subject']} was done on {', '.join(about)}")


def case_state(episode: Episode) -> Iterator[Violation]:
    """Handbook 15.2: stage and queue belong to the disposition."""
    record = episode.record
    if not record:
        return
    state = (record["stage"], record["queue"])
    if episode.disposition == "team_review":
        right = state[0] == "referred" and state[1] in TEAMS
        wanted = "referred to the team of the rule"
    else:
        right = state == FINAL.get(episode.disposition)
        wanted = f"{FINAL.get(episode.disposition)}"
    if not right:
        yield Violation("15.2", f"the case ends as {episode.disposition or 'nothing'}: {state} where {wanted} was due")


def _templates(episode: Episode) -> set[str]:
    """Handbook 15.4: the templates that may be sent; empty when none may."""
    if episode.disposition not in CONFIRMED:
        return {NOTICE[episode.disposition]} if episode.disposition in NOTICE else set()
    acts = [act for act in episode.acts if act.kind not in ("stray", "charge")]
    more = [act for act in acts if act.kind != "freeze"]
    return {CONFIRMATION[act.kind] for act in (more or acts)[:1]}


def message(episode: Episode) -> Iterator[Violation]:
    """Handbook 15.4 and 15.6: exactly one message of the right template to the customer of the case, or none."""
    record = episode.record
    if not record:
        return
    templates = _templates(episode)
    if len(episode.sent) != bool(templates):
        yield Violation("15.4", f"{len(episode.sent)} messages were sent where {int(bool(templates))} was due")
    about = None if episode.disposition == "not_verified" else record["account_id"]
    for row in (change.after for change in episode.sent):
        if templates and row["template"] not in templates:
            yield Violation("15.4", f"{row['template']} was sent where {' or '.join(sorted(templates))} was due")
        if row["customer_id"] != record["customer_id"]:
            yield Violation("15.4", f"the message went to {row['customer_id']}")
        if row["account_id"] != about:
            yield Violation("15.6", f"the message names the account {row['account_id']} where {about} was due")


def notes(episode: Episode) -> Iterator[Violation]:
    """Handbook 15.5: security by 2.3 and 2.4, goodwill after 9.2, complaint after compensation; no others of these."""
    record = episode.record
    wanted: set[tuple[str, str]] = set()
    for act in episode.of("reverse"):
        if act.detail == "goodwill":
            wanted.add((act.customer_id, "goodwill"))
    for act in episode.of("compensate"):
        wanted.add((act.customer_id, "complaint"))
    written = {(change.after["customer_id"], change.after["kind"]) for change in episode.new("contact_notes")}
    if _turned_away(episode):
        wanted.add((record.get("customer_id", ""), "security"))
    for customer_id, kind in sorted(wanted - written):
        if not episode.given_up:
            yield Violation("15.5", f"a note of kind {kind} is missing for {customer_id}")
    for customer_id, kind in sorted(written - wanted):
        if kind in DUE_NOTES:
            yield Violation("15.5", f"a note of kind {kind} was written for {customer_id} without cause")
    kinds = [change.after["kind"] for change in episode.new("contact_notes") if change.after["kind"] in DUE_NOTES]
    if len(kinds) > len(set(kinds)):
        yield Violation("15.5", "a note was written twice")


def _turned_away(episode: Episode) -> bool:
    """Handbook 2.3 and 2.4: whether the caller was not verified, or level C was closed."""
    if episode.disposition in ("not_verified", "step_up_failed"):
        return True
    return any(failed_codes(episode, check.customer_id) >= MOST_CODES for check in episode.checks)


def end(episode: Episode) -> Iterator[Violation]:
    """Handbook 15.6: a referred case is handed over to its queue, every other conversation is ended."""
    ended_by = next((event.name for event in reversed(episode.case.log) if event.kind == "ended"), "")
    handed = episode.calls("hand_over")
    referred = episode.record.get("stage") == "referred"
    if referred and not any(call.data.get("team") == episode.record["queue"] for call in handed):
        yield Violation("15.6", f"the conversation was not handed over to {episode.record['queue']}")
    if not referred and handed:
        yield Violation("15.6", f"the conversation was handed over though the case is {episode.record.get('stage')}")
    if not referred and not handed and ended_by != "customer" and not episode.calls("end_conversation"):
        yield Violation("15.6", "the conversation was not ended")


def requests_done(episode: Episode) -> list[Act]:
    """Handbook 15.3: acts that make a request done; protection alone does not."""
    return [act for act in episode.acts if act.kind not in (*PROTECTION, "stray")]
