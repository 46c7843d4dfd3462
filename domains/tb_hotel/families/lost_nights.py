"""A member misses nights of a stay on the account; the stay, the account and what is posted already decide."""

from typing import Literal, NamedTuple

from tb_envs.authoring import Persona, Scenario, Step, call, created, derived, family, mistake, never_created, say, use
from tb_envs.authoring import writes
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import BookingNight, LoyaltyEntry, Reason
from tb_hotel.world import HotelWorld, Stay

Posted = Literal["nothing", "some", "all", "all in two"]


class Case(NamedTuple):
    """Days since departure, days from arrival to the opening of the account (or long before), plan, what is posted."""

    ago: int
    joined: int | None = None
    plan: str = "FLEX"
    posted: Posted = "nothing"


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
    joined = date.fromisoformat(account.joined_on)
    earned = policy.loyalty_earned(stay.booking.channel, stay.arrival, joined, stay.prices)
    nights = earned.nights - sum(entry.nights for entry in entries)
    points = earned.points - sum(entry.points for entry in entries)
    open_ = policy.claim_is_open("loyalty", stay.departure, w.today)
    missing = open_ and (nights > 0 or points > 0)
    reason: Reason = "within_policy" if missing else "already_done" if open_ and earned.nights else "policy_refused"

    touch = writes(LoyaltyEntry, loyalty_account_id=account.id) if missing else ()
    numbered = w.cycle(True, False)
    who = common.identify(guest, stay, then=touch) if numbered else common.identify_by_search(guest, then=touch)
    holder = use("booking" if numbered else "found", "guest_id" if numbered else "items.0.guest_id")
    to_stay = [] if numbered else [
        call("search_bookings", guest_id=holder), call("get_booking", booking_id=stay.id, save="booking")
    ]  # fmt: skip
    member = use("guest", "loyalty_account_id")
    to_account = [
        call("get_guest", guest_id=holder, save="guest"),
        call("get_loyalty_account", loyalty_account_id=member, save="account"),
    ]
    to_entries = [call("list_loyalty_entries", loyalty_account_id=member, booking_id=stay.id, save="entries")]
    needs = (use("booking", "total"), use("account", "joined_on"), use("entries", "total"))
    looks, found = {
        "within_policy": ([*to_stay, *to_account, *to_entries], ()),
        "already_done": ([*to_stay, to_account[0], *to_entries], needs[::2]),
        "policy_refused": ([*to_stay, *to_account], needs[:2]),
    }[reason]
    if not open_ or stay.booking.channel == "group":
        looks, found = to_stay, needs[:1]
    none = common.Part(expects=(never_created("no credit", LoyaltyEntry, loyalty_account_id=account.id),))
    end = common.tail(guest, stay, "loyalty", reason, found=found)
    given = credit(stay, nights, points, *needs) if missing else none
    solution = [*who.steps, *looks, *given.steps, *end.steps, *outcome(case, reason, nights, points)]
    expects = [*who.expects, *given.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, *(step for part in middle for step in part.steps), *end.steps]

    claimed = credit(stay, len(stay.prices) + 1, (stay.total + 99) // 100 * 10)
    wrong = common.common_mistakes(solution, expects)
    if missing:
        wrong["counts the night that was released"] = mistake(script(credit(stay, nights + 1, points)), "entry")
        wrong["rounds the dollars up"] = mistake(script(credit(stay, nights, points + 10)), "entry")
        wrong["credits the nights without points"] = mistake(script(credit(stay, nights, 0)), "entry")
        wrong["credits it twice"] = mistake(script(given, credit(stay, nights, points)), common.NOTHING_ELSE)
    else:
        wrong["credits what the guest claims"] = mistake(script(claimed), "no credit")
        wrong["credits one night out of kindness"] = mistake(script(credit(stay, 1, 0)), "no credit")
    if missing and entries:
        wrong["credits all again"] = mistake(script(credit(stay, earned.nights, earned.points)), "entry")
    return Scenario(
        customer=persona(w, stay, numbered),
        solution=solution,
        expects=expects,
        obeys=[*looks, *claimed.steps, *common.served(guest, stay, "loyalty")],
        mistakes=wrong,
        about=[guest.id],
        cell=cell(reason, open_, bool(entries)),
        facts={"earned": earned, "posted": case.posted, "missing": (nights, points)},
    )
