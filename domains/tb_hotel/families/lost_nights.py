"""A member misses nights of a stay on the account; the stay, the account and what is posted already decide."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Persona,
    Record,
    Scenario,
    Step,
    call,
    created,
    derived,
    family,
    mistake,
    never_created,
    say,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import BookingNight, LoyaltyEntry, Reason
from tb_hotel.world import HotelWorld, Stay
from tb_hotel.world.company import HOUSE_BY_ID


class Case(NamedTuple):
    """Days since departure, days from arrival to the opening of the account (or long before), plan, what is posted."""

    ago: int
    joined: int | None = None
    plan: str = "FLEX"
    posted: Literal["nothing", "some", "all", "all in two"] = "nothing"


CASES = (
    Case(179),
    Case(180, plan="SEMI"),
    Case(181),
    Case(70, joined=29, plan="NRF"),
    Case(64, joined=30),
    Case(75, joined=31),
    Case(40, posted="some"),
    Case(25, posted="all"),
    Case(12, plan="GRP"),
    Case(90, plan="CORP", posted="some"),
    Case(33, posted="all in two"),
    Case(8, plan="CORP"),
)


@family(goal="missing loyalty nights", traps={"wrong_premise", "window", "stale_state"})
def lost_nights(w: HotelWorld) -> Scenario:
    """A member misses a stay on the account and counts one night more than the stay had.

    Trap: only nights that were not released count, points come of the full dollars of all of them together, and what
    is posted already is taken off. Some stays earn nothing, some claims come too late.
    Right end: one correction entry of what is missing, or none and a ticket that says why.
    """
    case = w.cycle(*CASES)
    stay, entries = place(w, case)
    guest, account = stay.guest, stay.guest.account
    assert account is not None
    earned = policy.loyalty_earned(
        stay.booking.channel, stay.arrival, date.fromisoformat(account.joined_on), stay.prices
    )
    nights = earned.nights - sum(entry.nights for entry in entries)
    points = earned.points - sum(entry.points for entry in entries)
    in_time = policy.claim_is_open("loyalty", stay.departure, w.today)
    missing = in_time and (nights > 0 or points > 0)
    reason: Reason = "within_policy" if missing else "already_done" if in_time and earned.nights else "policy_refused"

    touch = writes(LoyaltyEntry, loyalty_account_id=account.id) if missing else ()
    numbered = w.cycle(True, False)
    who = common.identify(guest, stay, then=touch) if numbered else common.identify_by_search(guest, then=touch)
    holder = use("booking", "guest_id") if numbered else use("found", "items.0.guest_id")
    member = use("guest", "loyalty_account_id")
    looks: list[Step] = []
    needs = [use("booking", "total")]
    if not numbered:
        looks += [
            call("search_bookings", guest_id=holder),
            call("get_booking", booking_id=stay.id, save="booking"),
        ]
    if in_time and stay.booking.channel != "group":
        looks += [
            call("get_guest", guest_id=holder, save="guest"),
            call("get_loyalty_account", loyalty_account_id=member, save="account"),
        ]
        needs.append(use("account", "joined_on"))
    if in_time and earned.nights:
        looks.append(call("list_loyalty_entries", loyalty_account_id=member, booking_id=stay.id, save="entries"))
        needs.append(use("entries", "total"))
    none = common.Part(expects=(never_created("no credit", LoyaltyEntry, loyalty_account_id=account.id),))
    given = credit(stay, nights, points, *needs) if missing else none
    end = common.tail(guest, stay, "loyalty", reason, found=() if missing else needs)
    stayed = f"The booking shows {earned.nights} nights. Shall I credit what is not posted yet, {nights} of them?"
    asked = [say(stayed)] if missing else []
    solution = [*who.steps, *looks, *asked, *given.steps, *end.steps, *outcome(reason, in_time, nights, points)]
    expects = [*who.expects, *given.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, *(step for part in middle for step in part.steps), *end.steps]

    claim = credit(stay, len(stay.prices) + 1, (stay.total + 99) // 100 * 10)
    wrong = common.common_mistakes(solution, expects)
    if missing:
        wrong["counts the night that was released"] = mistake(script(credit(stay, nights + 1, points)), "entry")
        wrong["rounds the dollars up"] = mistake(script(credit(stay, nights, points + 10)), "entry")
        wrong["credits the nights without points"] = mistake(script(credit(stay, nights, 0)), "entry")
        wrong["credits it twice"] = mistake(script(given, credit(stay, nights, points)), common.NOTHING_ELSE)
    else:
        wrong["credits what the guest claims"] = mistake(script(claim), "no credit")
        wrong["credits a night out of kindness"] = mistake(script(credit(stay, 1, 0)), "no credit")
    if missing and entries:
        wrong["credits all of it again"] = mistake(script(credit(stay, earned.nights, earned.points)), "entry")
    why = "does not count" if in_time else "too late"
    cells: dict[Reason, str] = {"within_policy": "rest" if entries else "all", "already_done": "already done"}
    return Scenario(
        customer=persona(w, stay, numbered),
        solution=solution,
        expects=expects,
        obeys=[*looks, *claim.steps, *common.served(guest, stay, "loyalty")],
        mistakes=wrong,
        about=[guest.id],
        cell=cells.get(reason, why),
        facts={"earned": earned, "posted": case.posted, "nights": nights, "points": points},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, list[Record]]:
    """The stay with a night that was released, what is posted for it, and another stay that is credited."""
    count = w.between(3, 5)
    prices = [w.between(85_00, 190_00) for _ in range(count - 1)]
    prices.append(w.between(90, 180) * 100 + w.pick(0, 99) - sum(prices) % 100)
    arrival = w.today - timedelta(days=case.ago + count)
    joined = (arrival + timedelta(days=case.joined)).isoformat() if case.joined else None
    guest = w.guest(tier=w.pick("silver", "gold", "platinum"), joined_on=joined)
    company = w.corporate_account() if case.plan == "CORP" else None
    group = None
    if case.plan == "GRP":
        group = w.group_block(w.lookalike(guest), contracted=6, picked_up=6, arrival=arrival, nights=count)
    stay = w.booking(
        guest, case.plan, arrival=arrival, prices=prices, status="checked_out", corporate=company, group=group,
        loyalty=False,
    )  # fmt: skip
    left = stay.booking.departure
    w.insert(
        BookingNight, id=f"{stay.id}.{left}", booking_id=stay.id, night=left, price_cents=prices[0], currency="USD",
        status="released",
    )  # fmt: skip
    w.booking(guest, "FLEX", status="checked_out", arrival=arrival - timedelta(days=60), nights=count)
    part, whole = sum(prices[:-1]) // 100 * 10, sum(prices) // 100 * 10
    posted = {
        "nothing": (),
        "some": ((count - 1, part),),
        "all": ((count, whole),),
        "all in two": ((count - 1, part), (1, whole - part)),
    }[case.posted]
    entries = [
        w.loyalty_entry(stay, nights, points, kind="correction" if place else "stay")
        for place, (nights, points) in enumerate(posted)
    ]
    return stay, entries


def credit(stay: Stay, nights: int, points: int, *needs: object) -> common.Part:
    """One entry of nights and points on the guest's account."""
    account = stay.guest.account
    assert account is not None
    row = {"loyalty_account_id": account.id, "booking_id": stay.id, "kind": "correction"}
    step = call(
        "add_loyalty_entry", **row, nights=derived(nights, *needs), points=derived(points, *needs), earns="entry"
    )
    return common.Part((step,), (created("entry", LoyaltyEntry, **row, nights=nights, points=points, status="posted"),))


def persona(w: HotelWorld, stay: Stay, numbered: bool) -> Persona:
    """The member, who counts the day of departure as a night."""
    house, claimed = HOUSE_BY_ID[stay.booking.property_id], len(stay.prices) + 1
    number = " The booking was {booking}." if numbered and w.chance(0.5) else ""
    return Persona(
        opens=(
            f"My {claimed} nights at {house.name} from {{arrival}} are not on my Halden Circle account.{number}",
            f"I stayed at {house.name} from {{arrival}}, and not all of my {claimed} nights were credited.{number}",
        ),
        knows=common.persona_facts(
            stay.guest, stay if numbered else None, arrival=stay.booking.arrival, nights=str(claimed)
        ),
        lacks=() if numbered else {"booking": "I threw the confirmation away, sorry."},
        mistaken={"nights": ("Oh. Then I have counted the day I left.", "Really? I must have counted one too many.")},
        presses=[f"I was there for {claimed} nights, and I want all of them."],
        gives_in="Then I have to accept it.",
        settles_for="what the stay has earned",
    )


def outcome(reason: Reason, in_time: bool, nights: int, points: int) -> list[Step]:
    """What the member is told at the end."""
    match reason:
        case "within_policy":
            return [say(f"I have credited {nights} night{'s' * (nights > 1)} and {points} points to your account.")]
        case "already_done":
            return [say("This stay was credited already, with all it has earned. I cannot add anything to it.")] * 2
        case _:
            why = "a stay like this earns nothing for the account" if in_time else "the claim comes too late"
            return [say(f"I am sorry, I cannot credit this stay: {why}.")] * 2
