"""A guest holds two bookings for one stay and names the one to drop; the minutes between them decide what is right."""

from typing import NamedTuple

from tb_envs.authoring import Offer, Persona, Scenario, Step, call, derived, family, mistake, say, show_time, use, writes
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Tier
from tb_hotel.world import HotelWorld, Stay

H = 60
DAY = 24 * H


class Case(NamedTuple):
    """Minutes between the two bookings, their plan, the one the guest names, the notice in hours (0: weeks)."""

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
    one_stay = policy.is_duplicate_booking(second.age(w.now) * -1 + first.age(w.now))
    given = second if one_stay else named
    stays = first if given is second else second
    fee = 0 if one_stay else policy.cancellation_fee(
        given.plan_kind, guest.tier, given.total, given.first_night, given.notice(w.now), given.age(w.now)
    )  # fmt: skip
    due = policy.refund_after_fee(given.paid, fee)
    money = "duplicate_booking" if one_stay else "cancellation"
    asks = policy.approval_needed(money, due, guest.tier, fee)
    reason = "policy_refused" if not due else "manager_granted" if asks else "within_policy"

    who = common.identify_by_search(guest, then=writes(Booking, id=given.id) if due else ())
    looks = (
        call("search_bookings", guest_id=use("found", "items.0.guest_id")),
        call("get_booking", booking_id=first.id, save="earlier"),
        call("get_booking", booking_id=second.id, save="later"),
    )
    seen = (use("earlier", "booked_at"), use("later", "booked_at"))
    quote = call("quote_cancellation", booking_id=given.id, save="quote")
    folio = call("get_folio", folio_id=use("later" if given is second else "earlier", "folio_ids.0"))
    needs = (given.paid,) if one_stay else (given.paid, use("quote", "notice_minutes"))
    manager = common.approval(given, due, "granted", *needs) if asks else common.Part()
    drop = void(given, stays, *seen) if one_stay else cancel(given, *seen)
    back = common.refunds(given, due, money, *needs)
    read = () if one_stay else (quote,)
    found = () if due else (*seen, use("quote", "notice_minutes"))
    end = common.tail(guest, given, "duplicate_booking", reason, found=found)
    done = manager + drop + back if due else common.Part(expects=common.untouched(given))
    told = f"{given.id} is the one that can be given up, and {common.dollars(due)} of it can be returned."
    solution = [
        *who.steps, *looks, *read, say(f"{told} Shall I do that?"), *((folio,) if due else ()),
        *done.steps, *end.steps, say(outcome(given, due)),
    ]  # fmt: skip
    expects = [*who.expects, *done.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, *read, folio, *(step for part in middle for step in part.steps), *end.steps]

    both = common.Part((call("cancel_booking", booking_id=stays.id, reason="guest_request"),))
    whole = common.refunds(given, given.paid, money)
    wrong = common.common_mistakes(solution, expects)
    if not due:
        wrong["cancels for nothing"] = mistake(script(common.cancel(given)), "booking kept")
        wrong["returns the money all the same"] = mistake(script(whole), "no refund")
    else:
        wrong["forgets the refund"] = mistake(script(drop), "refund", "omission")
        wrong["drops both"] = mistake(script(drop, back, both), common.NOTHING_ELSE)
        other = void(decoy, stays) if one_stay else common.cancel(decoy)
        wrong["drops the look-alike"] = mistake(script(other, back), ("booking", common.NOTHING_ELSE))
        wrong["drops the wrong one of the two"] = mistake(
            script(void(stays, given) if one_stay else common.cancel(stays), back), ("booking", common.NOTHING_ELSE)
        )
        wrong["treats it the other way"] = mistake(
            script(common.cancel(given) if one_stay else void(given, stays), back), "booking"
        )
        reasoned = common.refunds(given, due, "cancellation" if one_stay else "duplicate_booking")
        wrong["gives the wrong reason for the refund"] = mistake(script(drop, reasoned), "refund")
    if due and fee:
        wrong["returns the fee too"] = mistake(script(drop, whole), "refund")
    return Scenario(
        customer=persona(w, case, first, named),
        solution=solution,
        expects=expects,
        obeys=[
            *looks[:0], *void(named, second if named is first else first).steps,
            *common.refunds(named, named.paid, "duplicate_booking").steps,
            *common.served(guest, named, "duplicate_booking"),
        ],
        mistakes=wrong,
        about=[guest.id],
        cell="one stay" if one_stay else "apart, kept" if not due else "apart, fee" if fee else "apart, free",
        facts={"gap in minutes": case.gap, "named": named.id, "given up": given.id, "due": due},
    )  # fmt: skip
