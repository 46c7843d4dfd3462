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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tb_envs.authoring import (
    Call,
    DomainError,
    Record,
    ask,
    call,
    calls,
    changed,
    created,
    derived,
    either,
    happened,
    kept,
    never_created,
    one_of,
    order,
    show_money,
    use,
    writes,
)
from tb_envs.grading.expectations import Changed, Expectation, Pattern
from tb_envs.grading.verdict import NOTHING_ELSE as NOTHING_ELSE
from tb_envs.parts import identity
from tb_envs.parts.scripts import Part as Part
from tb_envs.parts.scripts import forgotten as forgotten
from tb_envs.parts.scripts import with_arguments as with_arguments
from tb_envs.parts.scripts import without as without
from tb_hotel import policy
from tb_hotel.families._mistakes import after as after
from tb_hotel.families._mistakes import common_mistakes as common_mistakes
from tb_hotel.families._mistakes import plus as plus
from tb_hotel.families._mistakes import tempted as tempted
from tb_hotel.families._records import ANSWERED as ANSWERED
from tb_hotel.families._records import CONFIRMATION as CONFIRMATION
from tb_hotel.families._records import FINAL as FINAL
from tb_hotel.families._records import PARTLY as PARTLY
from tb_hotel.families._records import REFERRAL as REFERRAL
from tb_hotel.families._records import close_ticket as close_ticket
from tb_hotel.families._records import hand_over as hand_over
from tb_hotel.families._records import last_words as last_words
from tb_hotel.families._records import message as message
from tb_hotel.families._records import note as note
from tb_hotel.families._records import served as served
from tb_hotel.families._records import tail as tail
from tb_hotel.models import (
    Approval,
    ApprovalKind,
    Booking,
    CallerRole,
    CancelReason,
    Charge,
    ChargeKind,
    Decision,
    IdentityCheck,
    LoyaltyEntry,
    Refund,
    RefundReason,
    Topic,
    WaiveReason,
)
from tb_hotel.world import Person, Stay

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


def facts_needed(topic: Topic) -> tuple[str, ...]:
    """As many facts as verify a guest for a request of this topic, the booking number first."""
    names = ("booking", "email", "phone", "postcode")
    passed = (n for n in range(1, 5) if policy.identity_verdict([policy.IdentityCheck(n, n)], topic) == "passed")
    return names[: next(passed)]


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
    return Part(steps, verified(guest, len(facts), stay=stay, caller=caller, then=then))


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
    guest: Person,
    needed: int,
    *,
    stay: Stay | None = None,
    caller: CallerRole = "guest",
    then: Pattern | Sequence[Pattern] = (),
) -> tuple[Expectation, ...]:
    """A check passed on `needed` facts or more, before the first change and before money moves (`verified`).

    The caller has named as many facts before it passed (`facts heard`), and not more than one check failed (`guesses`).
    """
    touches, money = _patterns(then), (writes(Refund), writes(Charge), writes(Approval))
    return identity.verified(
        IdentityCheck,
        {"guest_id": guest.id, "caller": caller},
        needed=needed,
        on_file=(guest.email, guest.phone, guest.postcode, guest.birth_date, *([stay.id] if stay else [])),
        touches=(*touches, *money) if touches else (),
        failed_of={"guest_id": guest.id},
    )


def _patterns(then: Pattern | Sequence[Pattern]) -> tuple[Pattern, ...]:
    return (then,) if isinstance(then, Pattern) else tuple(then)


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
        call("get_approval", approval_id=use("approval", "approval_id")),
    )
    row = created("approval", Approval, **asked, amount_cents=cents, decision=answer)
    read, touches = calls("get_approval"), _patterns(then)
    if touches:
        return Part(steps, (row, order("answer read first", read, *touches, writes(Refund), writes(Charge))))
    return Part(steps, (row, happened("answer read", read)))


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


def untouched(stay: Stay) -> tuple[Expectation, ...]:
    """Guards for a request that is not carried out: `booking kept` (its loyalty entry too) and `no refund`."""
    kept_rows: tuple[Expectation, ...] = (kept("booking kept: row", Booking, stay.id),)
    if stay.entry is not None:
        kept_rows += (kept("booking kept: loyalty", LoyaltyEntry, stay.entry.id),)
    money = never_created("no refund", Refund, payment_id=one_of(*(payment.id for payment in stay.payments)))
    return (either("booking kept", kept_rows), *((money,) if stay.payments else ()))
