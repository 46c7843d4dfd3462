"""A guest moves a stay to other dates: a fee by plan and tier, and the difference in price, one way or the other."""

from datetime import timedelta
from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Call,
    Consent,
    Mistake,
    Persona,
    Scenario,
    Step,
    ask,
    call,
    calls,
    changed,
    family,
    mistake,
    never_created,
    order,
    say,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Charge, Tier
from tb_hotel.world import HotelWorld, Stay
from tb_hotel.world.company import PLAN_BY_ID

Cell = Literal["charged", "free", "back", "granted", "denied", "pending", "refused", "declined"]
H, FAR = 60, 233 * 60


class Case(NamedTuple):
    """A side of a boundary: minutes of notice, changes made before, and how far the new total lies above the old."""

    cell: Cell
    plan: str
    tier: Tier
    minutes: int
    changes: int
    difference: int


CASES = (
    Case("charged", "SEMI", "standard", 48 * H - 1, 0, 120_35),
    Case("charged", "SEMI", "gold", 48 * H, 1, 88_01),
    Case("declined", "SEMI", "silver", 48 * H + 1, 0, 210_45),
    Case("free", "SEMI", "platinum", 48 * H - 1, 1, -60_10),
    Case("charged", "SEMI", "silver", 30 * H + 25, 0, -75_20),
    Case("charged", "NRF", "gold", 336 * H, 0, 33_33),
    Case("charged", "NRF", "platinum", 336 * H + 1, 1, 0),
    Case("refused", "NRF", "standard", 336 * H - 1, 0, 64_90),
    Case("back", "FLEX", "silver", FAR, 0, -500_00),
    Case("granted", "CORP", "gold", FAR, 1, -500_01),
    Case("pending", "FLEX", "platinum", FAR, 0, -750_01),
    Case("denied", "FLEX", "standard", FAR, 0, -640_27),
    Case("refused", "FLEX", "gold", FAR, 2, -112_40),
    Case("refused", "SEMI", "platinum", FAR, 3, 71_15),
)


@family(goal="move a stay to other dates", traps={"arithmetic", "order", "window"})
def date_change(w: HotelWorld) -> Scenario:
    """A guest wants other dates and has heard that moving a stay is free for everybody.

    Trap: plan, tier, minutes and earlier changes decide on the fee; the difference is a charge of its own, is kept, or
    is returned, and then the manager may have a say.
    Right end: moved with exactly what is owed either way, or not moved at all and a ticket that says why.
    """
    case = w.cycle(*CASES)
    opens_with_number = w.cycle(True, False)
    stay, arrival, departure, total = place(w, case)
    guest = stay.guest
    fee = policy.date_change_fee(stay.plan_kind, guest.tier, stay.notice(w.now), case.changes)
    owed = 0 if fee is None else policy.date_change_balance(stay.plan_kind, stay.total, total)
    asks = policy.approval_needed("rate_difference", max(-owed, 0), guest.tier)
    answer = w.manager_answers(stay, case.cell if case.cell in ("denied", "pending") else "granted") or "granted"
    declines = case.cell == "declined"
    reason = "policy_refused" if fee is None else "guest_declined" if declines else "within_policy"
    reason = common.ANSWERED[answer] if asks else reason
    moves = reason in ("within_policy", "manager_granted")

    touch = writes(Booking, id=stay.id) if moves else ()
    who = common.identify(guest, stay, facts=("booking", "email"), then=touch)
    dates = {"booking_id": stay.id, "arrival": arrival, "departure": departure}
    quote = call("quote_date_change", **dates, save="quote")
    agreed = say(price(fee, owed)) if fee is not None else None
    difference = use("quote", "difference")
    manager = common.approval(stay, -owed, answer, difference, then=touch) if asks else common.Part()
    money = settle(stay, fee or 0, owed)
    move = common.Part(
        (call("change_dates", **dates, earns="booking"),),
        (
            changed(
                "booking",
                Booking,
                stay.id,
                arrival=arrival,
                departure=departure,
                total_cents=total,
                change_count=case.changes + 1,
                room_id=None,
            ),
            order("quoted first", calls("quote_date_change", booking_id=stay.id), writes(Booking, id=stay.id)),
        ),
    )
    figures = () if moves else (use("quote", "change_count"), use("quote", "notice_minutes"), difference)
    end = common.tail(guest, stay, "date_change", reason, found=figures)
    done = move + money if moves else common.Part(expects=common.untouched(stay))
    looks = [ask("new_arrival", "new_departure"), quote, *([agreed] if agreed else [])]
    solution = [*who.steps, *looks, *manager.steps, *done.steps, *end.steps, *told(reason, fee or 0, owed)]
    expects = [*who.expects, *manager.expects, *done.expects, *guards(stay, fee, owed, moves), *end.expects]
    return Scenario(
        customer=Persona(
            opens=opening(opens_with_number),
            knows=common.persona_facts(guest, stay, new_arrival=arrival, new_departure=departure),
            consents=Consent(up_to=owed - w.between(20_00, 60_00)) if declines else True,
            presses=("A friend of mine moved his stay for nothing. Changing is free for everybody, isn't it?",),
            gives_in="Well, if there is no other way, then let us leave it at that.",
            settles_for={"declined": "the old dates", "refused": "the old dates", "pending": "a call back"}.get(
                case.cell, "the new dates at their price"
            ),
        ),
        solution=solution,
        expects=expects,
        obeys=[
            *(who.steps[:2] if case.cell == "free" else who.steps),
            move.steps[0],
            *common.served(guest, stay, "date_change"),
        ],
        mistakes=common.common_mistakes(solution, expects) | mistakes(solution, stay, move, fee, owed, moves),
        about=[guest.id],
        cell=case.cell,
        facts={"fee": fee, "balance": owed, "answer": answer if asks else None},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, str, str, int]:
    """The booking, the new dates, and what the new dates cost."""
    arrival = w.arrival_in(minutes=case.minutes)
    guest = w.guest(tier=case.tier)
    company = w.corporate_account() if case.plan == "CORP" else None
    house, room_type, nights = w.house(), w.pick("STD", "SUP"), w.between(3, 4)
    public = [w.odd_cents(118_00, 174_00) for _ in range(nights)]
    first = w.now.date() + timedelta(days=w.between(20, 34))
    w.set_prices(house, room_type, first.isoformat(), public)
    w.make_free(house, room_type, first.isoformat(), nights)
    discount = company.discount_percent if company else PLAN_BY_ID[case.plan].discount_percent
    total = sum(policy.percent(cents, 100 - discount) for cents in public)
    stay = w.booking(
        guest,
        case.plan,
        arrival=arrival,
        property=house,
        room_type=room_type,
        prices=w.split_total(total - case.difference, nights),
        corporate=company,
        change_count=case.changes,
    )
    return stay, first.isoformat(), (first + timedelta(days=nights)).isoformat(), total


def settle(stay: Stay, fee: int, owed: int) -> common.Part:
    """The fee, then the difference, as two charges; or the difference back on the payment."""
    part = common.Part()
    if fee:
        part += common.charge("change_fee", fee, use("quote", "notice_minutes"), folio=stay.folio)
    if owed > 0:
        part += common.charge("rate_difference", owed, use("quote", "difference"), folio=stay.folio)
    if owed < 0:
        look = call("get_folio", folio_id=use("booking", "folio_ids.0"))
        part += common.Part((look,)) + common.refund(
            stay.payment, -owed, "rate_difference", use("quote", "difference")
        )
    return part


def guards(stay: Stay, fee: int | None, owed: int, moves: bool) -> list[common.Expectation]:
    """What must not be posted or returned."""
    return []


def mistakes(
    solution: list[Step], stay: Stay, move: common.Part, fee: int | None, owed: int, moves: bool
) -> dict[str, Mistake]:
    """What goes wrong."""
    return {}
