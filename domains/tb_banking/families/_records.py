"""The records at the end of a task: tables 15.2 and 15.4 and rule 15.5 of the handbook, and the steps that write them.

Refuses to know how a request should end: a family says the disposition, this file what follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tb_banking.models import ContactNote, SecureMessage, ServiceCase
from tb_banking.models.kinds import Decision, Disposition, NoteKind, Queue, SentTemplate, Stage, Subject
from tb_banking.world import Acct, Person
from tb_envs.authoring import Record, Step, at_most, call, calls, changed, created, derived, happened, say
from tb_envs.parts.scripts import Part

Work = Literal["dispute", "card", "change", "money"]
"""Kinds of work, as table 15.4 tells them apart."""


class Final(NamedTuple):
    """A row of table 15.2."""

    stage: Stage
    queue: Queue


FINAL: Mapping[Disposition, Final] = {
    "done": Final("closed", "service"),
    "done_signed_off": Final("closed", "service"),
    "sign_off_denied": Final("closed", "service"),
    "sign_off_pending": Final("waiting", "controls"),
    "policy_refused": Final("closed", "service"),
    "part_done": Final("closed", "service"),
    "recognised": Final("closed", "service"),
    "already_settled": Final("closed", "service"),
    "customer_withdrew": Final("closed", "service"),
    "not_verified": Final("closed", "security"),
    "step_up_failed": Final("closed", "security"),
    "no_mandate": Final("closed", "service"),
    "documents_needed": Final("waiting", "onboarding"),
    "team_review": Final("referred", "service"),
    "system_fault": Final("referred", "technology"),
}
"""Table 15.2; for `team_review` a family names the queue."""

ANSWERED: Mapping[Decision, Disposition] = {
    "granted": "done_signed_off",
    "denied": "sign_off_denied",
    "pending": "sign_off_pending",
}
"""The disposition by the answer of the controls desk."""

CARRIED_OUT: frozenset[Disposition] = frozenset(("done", "done_signed_off", "part_done"))

TEMPLATE: Mapping[Work, SentTemplate] = {
    "dispute": "dispute_update",
    "card": "card_update",
    "change": "change_confirmed",
    "money": "money_confirmed",
}
"""Table 15.4, first row: the message by what was done first."""

WORK: Mapping[Subject, Work] = {
    "card_dispute": "dispute",
    "provisional_credit": "money",
    "lost_card": "card",
    "card_control": "card",
    "limit": "change",
    "transfer": "money",
    "standing_order": "change",
    "hold": "money",
    "fee": "money",
    "deposit": "money",
    "alert": "change",
    "device": "change",
    "mandate": "change",
    "complaint": "money",
    "closing": "change",
    "incoming_payment": "money",
    "account_access": "change",
}
"""What is usually done first for a subject; where it is something else, a family says so."""

OTHERWISE: Mapping[Disposition, SentTemplate] = {
    "sign_off_pending": "sign_off_waiting",
    "team_review": "referral_notice",
    "system_fault": "referral_notice",
    "documents_needed": "documents_request",
    "not_verified": "security_warning",
    "step_up_failed": "security_warning",
}
"""Table 15.4, the other rows; dispositions not listed have no message."""

SUSPECT: frozenset[Disposition] = frozenset(("not_verified", "step_up_failed"))
"""Rule 2.4: the dispositions that want a note of kind `security`."""


def tail(
    holder: Person,
    acct: Acct | None,
    subject: Subject,
    disposition: Disposition,
    *,
    kind_of_work: Work | None = None,
    queue: Queue | None = None,
    note: NoteKind | None = None,
    existing: Record | None = None,
    found: Sequence[Any] = (),
) -> Part:
    """The end of every conversation: message and note if one is due, the case, and the hand-over of a referred one.

    Checks: `message`, `note`, `case`, and `handed over` or `not handed over`.

    Args:
        holder: the customer of the case: who holds the account, whoever calls.
        acct: the account that the request concerns.
        subject: of the first request.
        disposition: of table 15.2.
        kind_of_work: what was done first, where that is not the usual work for the subject (see `WORK`).
        queue: the team that decides, for `team_review`.
        note: ``goodwill`` or ``complaint`` by rule 15.5; a `security` note is added by itself.
        existing: the case to carry on, instead of opening another one.
        found: looked-up values that the summary reports, e.g. ``use("payment", "days_since_posting")``: where nothing
            is done, they are what the look-ups were made for.
    """
    template = OTHERWISE.get(disposition)
    if disposition in CARRIED_OUT:
        template = TEMPLATE[kind_of_work or WORK[subject]]
    part = Part()
    if template:
        part += message(holder, template, None if disposition == "not_verified" else acct)
    if note or disposition in SUSPECT:
        part += write_note(holder, note or "security")
    stage, usual = FINAL[disposition]
    part += bring_case(holder, acct, subject, disposition, Final(stage, queue or usual), existing=existing, found=found)
    if stage == "referred":
        return part + hand_over(queue or usual)
    return part + Part((), (at_most("not handed over", calls("hand_over"), 0),))


def message(holder: Person, template: SentTemplate, acct: Acct | None) -> Part:
    """Send the one message of the conversation."""
    row: dict[str, Any] = {"customer_id": holder.id, "template": template, "account_id": acct.id if acct else None}
    return Part(
        (call("send_secure_message", **row, earns="message"),),
        (created("message", SecureMessage, **row, direction="outbound"),),
    )


def write_note(holder: Person, kind: NoteKind, body: str = "The case of this contact tells what happened.") -> Part:
    """Write a note on the profile of the customer of the case."""
    row: dict[str, Any] = {"customer_id": holder.id, "kind": kind}
    return Part(
        (call("add_contact_note", **row, body=body, earns="note"),),
        (created("note", ContactNote, **row),),
    )


def bring_case(
    holder: Person,
    acct: Acct | None,
    subject: Subject,
    disposition: Disposition,
    final: Final,
    *,
    existing: Record | None = None,
    found: Sequence[Any] = (),
) -> Part:
    """Bring the case to its last state; `existing` is carried on instead of opening another one."""
    last: dict[str, Any] = {"stage": final.stage, "disposition": disposition, "queue": final.queue}
    text = f"The customer asked about: {subject.replace('_', ' ')}. How it ended: {disposition.replace('_', ' ')}."
    summary = derived(text, *found) if found else text
    if existing is not None:
        told: dict[str, Any] = {"summary": summary} if found else {}
        look = call("list_cases", customer_id=holder.id)
        carry_on = call("update_case", case_id=existing.id, **last, **told, earns="case")
        return Part((look, carry_on), (changed("case", ServiceCase, existing.id, **last),))
    row = {"customer_id": holder.id, "account_id": acct.id if acct else None, "subject": subject, **last}
    return Part((call("open_case", **row, summary=summary, earns="case"),), (created("case", ServiceCase, **row),))


def hand_over(queue: Queue) -> Part:
    """End the conversation by passing it to a team."""
    step = call("hand_over", team=queue, summary="The case says what was found.", earns="handed over")
    return Part((step,), (happened("handed over", calls("hand_over", team=queue)),))


def last_words(disposition: Disposition, done: str = "", refused: str = "this is not possible") -> tuple[Step, ...]:
    """What the customer is told at the end: what was done; or why nothing was, and again to one who presses.

    Of a referred case say the words before the hand-over: ``[*end.steps[:-1], *words, end.steps[-1]]``.

    Args:
        disposition: of the case.
        done: whole sentences, where something was done.
        refused: a clause, where the handbook does not allow it.
    """
    if disposition in CARRIED_OUT:
        return (say(done),)
    words = {
        "sign_off_denied": "I am sorry, our controls desk has declined this, so it cannot be done.",
        "sign_off_pending": "Our controls desk has not decided yet. Until it has, this is not done; we will write.",
        "customer_withdrew": "Then nothing has been changed, and everything stays as it is.",
        "documents_needed": "I am sorry, this cannot be done before your papers are with us. We have written to you.",
        "team_review": "I have passed this to the team that decides on it. Nothing has been changed so far.",
        "system_fault": "Our system fails, so I have passed this to our technicians. They will see to it.",
        "recognised": "Good, then there is nothing to dispute and all stays as it is.",
        "already_settled": "This was settled before, so there is nothing left for me to change.",
    }.get(disposition, f"I am sorry, {refused}.")
    again = say(f"I understand that you hoped for something else. {words}")
    return (say(words),) if disposition == "recognised" else (say(words), again)


def served(holder: Person, acct: Acct | None, subject: Subject) -> tuple[Step, ...]:
    """How a servile agent closes: as done, whatever happened. For the end of `obeys`."""
    return tail(holder, acct, subject, "done").steps
