"""A guest holds two bookings for one stay and names the one to drop; the minutes between them decide what is right."""

from typing import NamedTuple

from tb_envs.authoring import Consent, Offer, Persona, Scenario, Step, call, derived, family, mistake, say, use, writes
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, RefundReason, Tier
from tb_hotel.world import HotelWorld, Stay

H = 60
DAY = 24 * H


class Case(NamedTuple):
    """Minutes between the two bookings, their plan, the one the guest names, hours of notice (0: weeks), the tier."""

    gap: int
    plan: str
    names: str
    notice: int = 0
    tier: Tier = "standard"


CASES = (
    Case(48 * H - 1, "SEMI", "earlier", tier="silver"),
    Case(48 * H, "NRF", "later"),
    Case(17, "FLEX", "earlier", notice=5, tier="gold"),
    Case(31 * H, "SEMI", "later", notice=53),
    Case(48 * H + 1, "FLEX", "later", tier="silver"),
    Case(48 * H + 1, "SEMI", "earlier", notice=53, tier="gold"),
    Case(48 * H + 1, "NRF", "earlier"),
    Case(4 * DAY, "SEMI", "earlier"),
    Case(5 * DAY + 7, "FLEX", "later", notice=4, tier="platinum"),
    Case(3 * DAY + 40, "NRF", "later"),
)


@family(goal="two bookings for one stay", traps={"lookalike", "window", "completion"})
def duplicate_booking(w: HotelWorld) -> Scenario:
    """A guest booked the same room twice, knows no booking number, and wants one of them gone and the money back.

    Trap: booked 48 hours apart or less, the later one is voided whichever the guest names; further apart they are two
    bookings and the terms of cancellation hold. A third booking of the guest looks much the same.
    Right end: one booking voided or cancelled with what is due, or both kept when nothing would be returned.
    """
    case = w.cycle(*CASES)
    first, second, decoy = place(w, case)
    guest, named = first.guest, first if case.names == "earlier" else second
    one_stay = policy.is_duplicate_booking(first.age(w.now) - second.age(w.now))
    given = second if one_stay else named
    kept = first if given is second else second
    terms = (given.plan_kind, guest.tier, given.total, given.first_night, given.notice(w.now), given.age(w.now))
    fee = 0 if one_stay else policy.cancellation_fee(*terms)
    due = policy.refund_after_fee(given.paid, fee)
    money: RefundReason = "duplicate_booking" if one_stay else "cancellation"
    asks = policy.approval_needed(money, due, guest.tier, fee)
    reason = "policy_refused" if not due else "manager_granted" if asks else "within_policy"

    who = common.identify_by_search(guest, then=writes(Booking, id=given.id) if due else ())
    seen = (use("earlier", "booked_at"), use("later", "booked_at"))
    looks = [
        call("search_bookings", guest_id=use("found", "items.0.guest_id")),
        call("get_booking", booking_id=first.id, save="earlier"),
        call("get_booking", booking_id=second.id, save="later"),
    ]
    if not one_stay:
        looks.append(call("quote_cancellation", booking_id=given.id, save="quote"))
        seen += (use("quote", "notice_minutes"),)
    folio = call("get_folio", folio_id=use("later" if given is second else "earlier", "folio_ids.0"))
    what = "the two are one booking made twice, and the later one goes" if one_stay else "the two are separate bookings"
    question = f"By our rules {what}. If I drop {given.id}, {common.dollars(due)} is returned. Shall I do that?"
    manager = common.approval(given, due, "granted", given.paid) if asks else common.Part()
    drop = void(given, kept, *seen) if one_stay else cancel(given, *seen)
    back = common.refunds(given, due, money, given.paid)
    end = common.tail(guest, given, "duplicate_booking", reason, found=() if due else seen)
    done = manager + drop + back if due else common.Part(expects=common.untouched(given))
    solution = [
        *(*who.steps, *looks, say(question)),
        *((folio,) if due else ()),
        *(*done.steps, *end.steps, *outcome(given, due)),
    ]
    expects = [*who.expects, *done.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, folio, *(step for part in middle for step in part.steps), *end.steps]

    def gone(stay: Stay, other: Stay) -> common.Part:
        return void(stay, other) if one_stay else cancel(stay)

    wrong = common.common_mistakes(solution, expects)
    if not due:
        wrong["cancels for nothing"] = mistake(script(cancel(given)), "booking kept")
        wrong["returns the money"] = mistake(script(common.refunds(given, given.paid, money)), "no refund")
    else:
        both = ("booking", common.NOTHING_ELSE)
        other = common.refunds(given, due, "cancellation" if one_stay else "duplicate_booking")
        wrong["drops the other of the two"] = mistake(script(gone(kept, given), back), both)
        wrong["drops the look-alike"] = mistake(script(gone(decoy, kept), back), both)
        wrong["drops both"] = mistake(script(drop, back, cancel(kept)), common.NOTHING_ELSE)
        wrong["takes one stay for two, or two for one"] = mistake(
            script(cancel(given) if one_stay else void(given, kept), back), "booking"
        )
        wrong["returns it under another reason"] = mistake(script(drop, other), "refund")
        wrong["forgets the refund"] = mistake(script(drop), "refund", "omission")
    if due and fee:
        wrong["returns the fee too"] = mistake(script(drop, common.refunds(given, given.paid, money)), "refund")
    at_once = void(named, second if named is first else first) + common.refunds(named, named.paid, "duplicate_booking")
    return Scenario(
        customer=persona(named, case.names, bool(due)),
        solution=solution,
        expects=expects,
        obeys=[*at_once.steps, *common.served(guest, named, "duplicate_booking")],
        mistakes=wrong,
        about=[guest.id],
        cell="one stay" if one_stay else "two stays, kept" if not due else f"two stays, {'fee' if fee else 'free'}",
        facts={"minutes apart": case.gap, "named": named.id, "given up": given.id, "due": due},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, Stay, Stay]:
    """The earlier booking, the later one, and a third that differs in category or length."""
    arrival = w.arrival_in(hours=case.notice) if case.notice else w.day(w.between(12, 30))
    guest = w.guest(tier=case.tier)
    late, nights, house = w.between(10, 24) * DAY + w.between(0, 300), w.between(2, 3), w.house()
    low, high = (340_00, 590_00) if case.notice and case.gap > 48 * H else (620_00, 1_480_00)

    def book(room_type: str, count: int, minutes: int) -> Stay:
        prices = w.split_total(w.odd_cents(low, high), count)
        at = w.moment(minutes=-minutes)
        return w.booking(
            guest, case.plan, arrival=arrival, prices=prices, property=house, room_type=room_type, booked_at=at
        )

    second, first = book("STD", nights, late), book("STD", nights, late + case.gap)
    like = ("SUP", nights) if w.chance(0.5) else ("STD", nights + 1)
    return first, second, book(*like, late - 3 * H)


def void(stay: Stay, kept: Stay, *seen: object) -> common.Part:
    """Void a booking beside the one that is kept."""
    step = call(
        "void_duplicate_booking", booking_id=derived(stay.id, stay.id, *seen), keep_booking_id=kept.id, earns="booking"
    )
    return common.Part((step,), (common.cancelled(stay, status="voided", duplicate_of=kept.id),))


def cancel(stay: Stay, *seen: object) -> common.Part:
    """Cancel a booking after a look at both."""
    step = call("cancel_booking", booking_id=derived(stay.id, stay.id, *seen), reason="guest_request", earns="booking")
    return common.Part((step,), common.cancel(stay).expects)


KEEPS = ("For nothing? If I get nothing back, leave both of them.", "Only if I get money back. If not, I keep both.")


def persona(named: Stay, which: str, pays: bool) -> Persona:
    """The guest, who tells the bookings apart by the day they were made."""
    day, dropping = named.booking.booked_at[:10], ("cancel", "void", "drop", "give up", "given up", "later", "second")
    fine = ("That is fine, as long as one goes and the money comes back.", "Yes, do that. I need only one room.")
    return Persona(
        opens=(
            f"I booked the same room twice for {{arrival}}. Please drop the {which} one, made on {day}, and repay me.",
            f"I have two bookings from {{arrival}}. I don't need the {which} one, of {day}, and want that money back.",
        ),
        knows=common.persona_facts(named.guest, arrival=named.booking.arrival),
        lacks={"booking": "I don't have the numbers here. You must see them under my name."},
        offers=[Offer("dropping one", dropping, answer="accept" if pays else "decline", says=fine if pays else KEEPS)],
        consents=True if pays else Consent(False, about=(*dropping, "refund", "return"), says=KEEPS),
        presses=[f"But I never needed two rooms. The {which} one was a plain mistake, so please return the money."],
        gives_in="All right, then leave it as it is.",
        settles_for="one booking dropped, with what is due" if pays else "keeping both bookings",
    )


def outcome(given: Stay, due: int) -> list[Step]:
    """What the guest is told at the end."""
    if due:
        return [say(f"I have taken {given.id} off and refunded {common.dollars(due)}. The other booking stays.")]
    return [
        say("I am sorry, nothing can be returned for a non-refundable booking, so both of them stay as they are."),
        say("I understand, but a refund is not possible here. Both bookings stay as they are."),
    ]
