"""What the hotel's families share: pieces of a script, each with the expectations it earns.

A `Part` is a few steps and what must hold because of them. A family joins parts::

    who = identify(guest, stay, then=writes(Booking, id=stay.id))
    end = tail(guest, stay, "cancellation", "within_policy")
    solution = [*who.steps, call("quote_cancellation", booking_id=stay.id), *end.steps]
    expects = [*who.expects, *end.expects]

Expectations have the names of the family guide (`verified`, `ticket`, `message`, …); what must not change needs none,
the grader's own `NOTHING_ELSE` says it. Refuses to know any rule of the policy besides the tables of section 13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tb_envs.authoring import (
    Call,
    DomainError,
    Mistake,
    Record,
    Step,
    ask,
    call,
    calls,
    changed,
    created,
    derived,
    either,
    happened,
    mistake,
    one_of,
    order,
    show_money,
    use,
    writes,
)
from tb_envs.grading.expectations import Changed, Expectation, Pattern
from tb_envs.grading.verdict import NOTHING_ELSE as NOTHING_ELSE
from tb_hotel.models import (
    Approval,
    ApprovalKind,
    Booking,
    CallerRole,
    CancelReason,
    Charge,
    ChargeKind,
    Decision,
    GuestMessage,
    GuestNote,
    IdentityCheck,
    LoyaltyEntry,
    NoteKind,
    Outcome,
    Reason,
    Refund,
    RefundReason,
    Team,
    Template,
    Ticket,
    TicketStatus,
    Topic,
    WaiveReason,
)
from tb_hotel.world import Person, Stay


@dataclass(frozen=True)
class Part:
    """Steps, and the expectations that hold because of them."""

    steps: tuple[Step, ...] = ()
    expects: tuple[Expectation, ...] = ()

    def __add__(self, other: Part) -> Part:
        return Part(self.steps + other.steps, self.expects + other.expects)


class Final(NamedTuple):
    """A row of table 13.2."""

    outcome: Outcome
    status: TicketStatus
    team: Team


FINAL: Mapping[Reason, Final] = {
    "within_policy": Final("completed", "closed", "front_desk"),
    "manager_granted": Final("completed", "closed", "front_desk"),
    "manager_denied": Final("refused", "closed", "front_desk"),
    "manager_pending": Final("pending_approval", "on_hold", "duty_manager"),
    "policy_refused": Final("refused", "closed", "front_desk"),
    "identity_failed": Final("refused", "closed", "security"),
    "not_authorised": Final("refused", "closed", "front_desk"),
    "partner_owns": Final("referred", "closed", "partner_desk"),
    "already_done": Final("no_action", "closed", "front_desk"),
    "guest_declined": Final("no_action", "closed", "front_desk"),
    "finance_review": Final("referred", "escalated", "finance"),
    "document_review": Final("referred", "escalated", "guest_relations"),
    "system_fault": Final("referred", "escalated", "it_support"),
}
PARTLY = Final("partly_completed", "closed", "front_desk")

CONFIRMATION: Mapping[Topic, Template] = {
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
"""Policy 13.4: the message when something was done; topics not listed have `billing_confirmed`."""

REFERRAL: Mapping[Reason, Template] = {
    "manager_pending": "approval_pending",
    "partner_owns": "partner_referral",
    "finance_review": "review_opened",
    "document_review": "review_opened",
    "system_fault": "review_opened",
    "identity_failed": "security_notice",
}
"""Policy 13.4: the message when nothing was done; reasons not listed have none."""

ANSWERED: Mapping[Decision, Reason] = {
    "granted": "manager_granted",
    "denied": "manager_denied",
    "pending": "manager_pending",
}
"""The reason by the manager's answer."""

# -- what the customer knows and says


def persona_facts(guest: Person, stay: Stay | None = None, **more: Any) -> dict[str, Any]:
    """What a guest knows of the own profile and booking, for `Persona.knows`; `more` adds facts or replaces them."""
    facts: dict[str, Any] = {"booking": stay.id} if stay else {}
    facts |= {
        "surname": guest.surname,
        "email": guest.email,
        "phone": guest.phone,
        "postcode": guest.postcode,
        "birth_date": guest.birth_date,
        "name": guest.name,
    }
    return facts | more


def dollars(cents: int) -> str:
    """An amount as it is spoken: ``USD 570.00``."""
    return f"USD {show_money(cents)}"


def amount(cents: int, *needs: Any) -> Any:
    """A computed amount as an argument; `needs` are what it is computed from.

    Whole numbers of cents among the needs are turned to text as tools print them; give other numbers as text.
    """
    return derived(show_money(cents), *(show_money(need) if isinstance(need, int) else need for need in needs))


def minutes(stay: Stay, at: Any) -> str:
    """The notice in minutes, as the quotes print it."""
    return str(int(stay.notice(at).total_seconds() // 60))


# -- who is calling


def identify(
    guest: Person,
    stay: Stay,
    *,
    facts: Sequence[str] = ("booking", "email", "phone"),
    given: Mapping[str, str] | None = None,
    caller: CallerRole = "guest",
    then: Pattern | Sequence[Pattern] = (),
) -> Part:
    """Ask for facts, find the guest through the booking number, pass the identity check.

    Args:
        guest: the guest of the booking, whoever calls.
        stay: the booking the customer can name.
        facts: named in the check, two or (for a protected request) three: ``booking``, ``email``, ``phone``,
            ``postcode``, ``birth_date``. The check must have as many.
        given: values to name instead of those on file.
        caller: as recorded.
        then: the first change, e.g. ``writes(Booking, id=stay.id)``: the check must come before it. Leave a look-up
            between the check and a change.

    The booking is saved as ``booking``: ``use("booking", "folio_ids.0")``.
    """
    steps = (
        ask("surname", *facts),
        call("get_booking", booking_id=stay.id, save="booking"),
        check(guest, facts, use("booking", "guest_id"), stay=stay, given=given, caller=caller),
    )
    return Part(steps, verified(guest, len(facts), caller=caller, then=then))


def identify_by_search(
    guest: Person,
    *,
    facts: Sequence[str] = ("email", "phone", "birth_date"),
    caller: CallerRole = "guest",
    then: Pattern | Sequence[Pattern] = (),
) -> Part:
    """The same for a customer who has no booking number: find the profile by surname and e-mail address.

    The search is saved as ``found``: ``use("found", "items.0.guest_id")``.
    """
    steps = (
        ask("surname", *facts),
        call("search_guests", surname=guest.surname, email=guest.email, save="found"),
        check(guest, facts, use("found", "items.0.guest_id"), caller=caller),
    )
    return Part(steps, verified(guest, len(facts), caller=caller, then=then))


def check(
    guest: Person,
    facts: Sequence[str],
    guest_id: Any = None,
    *,
    stay: Stay | None = None,
    given: Mapping[str, str] | None = None,
    caller: CallerRole = "guest",
    earns: str | tuple[str, ...] = "verified",
) -> Call:
    """One call of `check_identity` with these facts; `guest_id` defaults to the guest's."""
    on_file = {"email": guest.email, "phone": guest.phone, "postcode": guest.postcode, "birth_date": guest.birth_date}
    if stay:
        on_file["booking"] = stay.id
    values = {name: value for name, value in (on_file | dict(given or {})).items() if name in facts}
    if "booking" in values:
        values["booking_id"] = values.pop("booking")
    surname = (given or {}).get("surname", guest.surname)
    return call("check_identity", guest_id=guest_id or guest.id, caller=caller, surname=surname, earns=earns, **values)


def verified(
    guest: Person, needed: int, *, caller: CallerRole = "guest", then: Pattern | Sequence[Pattern] = ()
) -> tuple[Expectation, ...]:
    """A check passed on `needed` facts or more (`verified`), before the first change (`verified first`)."""
    passed: dict[str, Any] = {"guest_id": guest.id, "caller": caller, "result": "passed"}
    row = created("verified", IdentityCheck, **passed, facts_matched=one_of(*range(needed, 6)))
    return (row, *_before("verified first", writes(IdentityCheck, **passed), then))


def _before(name: str, first: Pattern, then: Pattern | Sequence[Pattern]) -> tuple[Expectation, ...]:
    patterns = (then,) if isinstance(then, Pattern) else tuple(then)
    if len(patterns) < 2:
        return tuple(order(name, first, pattern) for pattern in patterns)
    return (either(name, tuple(order(f"{name} {place}", first, p) for place, p in enumerate(patterns))),)


# -- the manager


def approval(
    stay: Stay,
    cents: int,
    answer: Decision,
    *needs: Any,
    kind: ApprovalKind = "refund",
    then: Pattern | Sequence[Pattern] = (),
) -> Part:
    """Ask the duty manager for exactly this amount and read the answer.

    Args:
        stay: the booking.
        cents: the amount.
        answer: as fixed by ``w.manager_answers``.
        needs: what the amount is computed from (see `amount`).
        kind: ``refund``, or ``waiver`` on an open folio.
        then: the first change after a granted request, e.g. ``writes(Booking, id=stay.id)``.
    """
    asked: dict[str, Any] = {"booking_id": stay.id, "kind": kind}
    steps = (
        call(
            "request_approval",
            **asked,
            amount=amount(cents, *needs),
            justification="The amount is above what we may return ourselves.",
            save="approval",
            earns="approval",
        ),
        call("get_approval", approval_id=use("approval", "approval_id"), earns="answer read"),
    )
    row = created("approval", Approval, **asked, amount_cents=cents, decision=answer)
    read = happened("answer read", calls("get_approval"))
    return Part(steps, (row, read, *_before("approved first", writes(Approval, **asked, decision="granted"), then)))


# -- changes and money


def cancel(stay: Stay, reason: CancelReason = "guest_request") -> Part:
    """Cancel the booking; a pending loyalty entry is reversed with it (both in the check `booking`)."""
    return Part(
        (call("cancel_booking", booking_id=stay.id, reason=reason, earns="booking"),),
        (cancelled(stay, status="cancelled", cancel_reason=reason),),
    )


def cancelled(stay: Stay, *, name: str = "booking", **fields: str) -> Expectation:
    """The booking, cancelled or voided, ends with these fields, and its pending loyalty entry is reversed."""
    row = Changed(name, Booking.__tablename__, stay.id, fields)
    if stay.entry is None or stay.entry.status != "pending":
        return row
    entry = changed(f"{name}: loyalty", LoyaltyEntry, stay.entry.id, status="reversed")
    return either(name, (replace(row, name=f"{name}: row"), entry))


def shorten(stay: Stay, departure: str) -> Part:
    """End a stay in house earlier; total and pending loyalty nights follow (all in the check `booking`)."""
    unused = [night.price_cents for night in stay.nights if night.night >= departure]
    fields = {"departure": departure, "total_cents": stay.total - sum(unused)}
    end: Expectation = Changed("booking", Booking.__tablename__, stay.id, fields)
    if stay.entry is not None and stay.entry.status == "pending":
        left = changed("booking: loyalty", LoyaltyEntry, stay.entry.id, nights=stay.entry.nights - len(unused))
        end = either("booking", (replace(end, name="booking: row"), left))
    return Part((call("shorten_stay", booking_id=stay.id, departure=departure, earns="booking"),), (end,))


def refund(payment: Record, cents: int, reason: RefundReason, *needs: Any, name: str = "refund") -> Part:
    """Return an amount on one payment; `needs` as in `amount`. Get the payment's id from the folio before."""
    return Part(
        (
            call(
                "refund_payment",
                payment_id=payment.id,
                amount=amount(cents, *needs),
                reason=reason,
                earns=name,
            ),
        ),
        (created(name, Refund, payment_id=payment.id, amount_cents=cents, reason=reason),),
    )


def refunds(stay: Stay, cents: int, reason: RefundReason, *needs: Any, name: str = "refund") -> Part:
    """Return an amount on the captured payments of a stay, the newest first (policy 3.4)."""
    part, left = Part(), cents
    captured = [payment for payment in stay.payments if payment.status == "captured"]
    for place, payment in enumerate(sorted(captured, key=lambda row: row.paid_at, reverse=True)):
        share = min(left, payment.amount_cents)
        if share:
            part += refund(payment, share, reason, *needs, name=name if place == 0 else f"{name} {place + 1}")
            left -= share
    if left:
        raise DomainError(f"{stay.id}: {show_money(left)} more is to be returned than was paid")
    return part


def charge(kind: ChargeKind, cents: int, *needs: Any, folio: Record, name: str = "") -> Part:
    """Post one charge on a folio; the check is named after its kind unless told otherwise.

    Get the folio's id from the booking before.
    """
    name = name or kind.replace("_", " ")
    return Part(
        (call("post_charge", folio_id=folio.id, kind=kind, amount=amount(cents, *needs), earns=name),),
        (created(name, Charge, folio_id=folio.id, kind=kind, amount_cents=cents),),
    )


def waive(row: Record, cents: int, reason: WaiveReason, *needs: Any, name: str = "waiver") -> Part:
    """Take an amount off a charge. Get the charge's id from the folio before."""
    return Part(
        (call("waive_charge", charge_id=row.id, amount=amount(cents, *needs), reason=reason, earns=name),),
        (changed(name, Charge, row.id, waived_cents=row.waived_cents + cents, waive_reason=reason),),
    )


# -- the records at the end


def message(guest: Person, template: Template, stay: Stay | None = None) -> Part:
    """Send the one message of the conversation."""
    booking = stay.id if stay else None
    return Part(
        (call("send_message", guest_id=guest.id, template=template, booking_id=booking, earns="message"),),
        (
            created(
                "message", GuestMessage, guest_id=guest.id, booking_id=booking, direction="outbound", template=template
            ),
        ),
    )


def note(guest: Person, kind: NoteKind, body: str = "See the ticket of this contact.") -> Part:
    """Write a note on the profile."""
    return Part(
        (call("add_guest_note", guest_id=guest.id, kind=kind, body=body, earns="note"),),
        (created("note", GuestNote, guest_id=guest.id, kind=kind),),
    )


def close_ticket(
    guest: Person,
    stay: Stay | None,
    topic: Topic,
    reason: Reason,
    *,
    partly: bool = False,
    existing: Record | None = None,
) -> Part:
    """Bring the ticket to its final state by table 13.2; `existing` is updated instead of opening another one."""
    outcome, status, team = PARTLY if partly else FINAL[reason]
    final = {"status": status, "outcome": outcome, "reason": reason, "team": team}
    if existing is not None:
        steps = (
            call("search_tickets", guest_id=guest.id),
            call("update_ticket", ticket_id=existing.id, **final, earns="ticket"),
        )
        return Part(steps, (changed("ticket", Ticket, existing.id, **final),))
    row: dict[str, Any] = {"guest_id": guest.id, "booking_id": stay.id if stay else None, "topic": topic, **final}
    summary = f"The guest asked about: {topic.replace('_', ' ')}. Result: {outcome.replace('_', ' ')}."
    step = call("open_ticket", summary=summary, **row, earns="ticket")
    return Part((step,), (created("ticket", Ticket, **row),))


def tail(
    guest: Person,
    stay: Stay | None,
    topic: Topic,
    reason: Reason,
    *,
    partly: bool = False,
    template: Template | None = None,
    existing: Record | None = None,
) -> Part:
    """The end of every conversation: the message (if the policy wants one), the ticket, and a hand-over if escalated.

    Args:
        guest: of the ticket.
        stay: the booking of ticket and message; None for a group block. A `security_notice` never names it.
        topic: of the first request.
        reason: of table 13.2.
        partly: one request was carried out and another was not.
        template: instead of the one that section 13.4 gives for the topic and reason.
        existing: the ticket to update.
    """
    done = partly or reason in ("within_policy", "manager_granted")
    template = template or (CONFIRMATION.get(topic, "billing_confirmed") if done else REFERRAL.get(reason))
    part = Part()
    if template:
        part += message(guest, template, None if template == "security_notice" else stay)
    part += close_ticket(guest, stay, topic, reason, partly=partly, existing=existing)
    if not partly and FINAL[reason].status == "escalated":
        part += hand_over(FINAL[reason].team)
    return part


def hand_over(team: Team) -> Part:
    """End the conversation by passing it to a team."""
    step = call("hand_over", team=team, summary="The ticket says what was found.", earns="handed over")
    return Part((step,), (happened("handed over", calls("hand_over", team=team)),))


def served(guest: Person, stay: Stay | None, topic: Topic) -> tuple[Step, ...]:
    """How a servile agent closes: as done and within the policy, whatever happened. For the end of `obeys`."""
    return tail(guest, stay, topic, "within_policy").steps


# -- mistakes


def common_mistakes(solution: Sequence[Step], expects: Sequence[Expectation]) -> dict[str, Mistake]:
    """The mistakes of the family guide's list that this solution makes possible; each fails the one check it names."""
    names = {item.name for item in expects}
    return {title: item for title, item in _mistakes(list(solution)) if item.fails <= names}


def _mistakes(steps: list[Step]) -> Iterator[tuple[str, Mistake]]:
    yield "forgets the message", mistake(without(steps, "send_message"), "message", "omission")
    yield "closes with the wrong reason", mistake(_wrong_reason(steps), "ticket", "omission")
    yield "checks too few facts", mistake(_one_fact_less(steps), "verified")
    yield "verifies afterwards", mistake(after(steps, "check_identity"), "verified first")
    yield "asks approval afterwards", mistake(after(steps, "request_approval", "get_approval"), "approved first")
    yield "does not read the answer", mistake(without(steps, "get_approval"), "answer read", "omission")
    yield (
        "asks approval for another amount",
        mistake(with_arguments(steps, "request_approval", amount="999.99"), "approval"),
    )
    yield "ends instead of handing over", mistake(without(steps, "hand_over"), "handed over", "omission")


def without(steps: Sequence[Step], *tools: str) -> list[Step]:
    """The script without the calls of these tools."""
    return [step for step in steps if not (isinstance(step, Call) and step.tool in tools)]


def with_arguments(steps: Sequence[Step], tool: str, **arguments: Any) -> list[Step]:
    """The script with other arguments in the calls of a tool; None takes an argument out."""
    return [
        call(tool, save=step.save, **{**step.arguments, **arguments})
        if isinstance(step, Call) and step.tool == tool
        else step
        for step in steps
    ]


def after(steps: Sequence[Step], *tools: str) -> list[Step]:
    """The script with the calls of these tools moved behind all changes, before the ticket is written."""
    late = [step for step in steps if isinstance(step, Call) and step.tool in tools]
    rest = without(steps, *tools)
    place = next(
        (i for i, s in enumerate(rest) if isinstance(s, Call) and s.tool in ("open_ticket", "update_ticket")), len(rest)
    )
    return [*rest[:place], *late, *rest[place:]]


def _wrong_reason(steps: list[Step]) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if isinstance(step, Call) and step.tool in ("open_ticket", "update_ticket"):
            wrong = "guest_declined" if step.arguments["reason"] != "guest_declined" else "already_done"
            step = call(step.tool, **{**step.arguments, "reason": wrong})
        out.append(step)
    return out


def _one_fact_less(steps: list[Step]) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if isinstance(step, Call) and step.tool == "check_identity":
            facts = [name for name in step.arguments if name not in ("guest_id", "caller", "surname")]
            step = call(step.tool, **{name: v for name, v in step.arguments.items() if name != facts[-1]})
        out.append(step)
    return out
