"""The booked room cannot be used: a sister house, the first night back and points; or everything back and goodbye."""

from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Offer,
    Persona,
    Scenario,
    Step,
    call,
    calls,
    changed,
    created,
    derived,
    either,
    family,
    happened,
    mistake,
    say,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, LoyaltyEntry, Reason, Tier
from tb_hotel.world import HotelWorld, Stay, nights_of

H = 60


class Case(NamedTuple):
    """What the guest does, tier and account, minutes of notice, and the night of the fault.

    `better`: the sister house has only a better category free. `dear`: a night costs more than agents may return.
    """

    then: Literal["moves", "leaves", "stays"]
    tier: Tier
    minutes: int
    account: bool = True
    fault: Literal["first night", "last night", "night before"] = "first night"
    better: bool = False
    ota: bool = False
    dear: bool = False


CASES = (
    Case("moves", "standard", 24 * H - 1, dear=True),
    Case("moves", "gold", 24 * H, fault="last night"),
    Case("moves", "silver", 24 * H + 1, better=True),
    Case("moves", "platinum", 5 * H),
    Case("moves", "standard", 20 * H, account=False),
    Case("leaves", "silver", 40 * H),
    Case("stays", "gold", 24 * H),
    Case("moves", "silver", 24 * H - 1, ota=True),
    Case("moves", "standard", 24 * H, better=True),
    Case("moves", "platinum", 72 * H, fault="last night", ota=True),
    Case("leaves", "platinum", 9 * H, ota=True),
    Case("stays", "standard", 30 * H, account=False, fault="night before"),
    Case("moves", "gold", 24 * H - 1, better=True),
)


@family(goal="the booked room cannot be used", traps={"order", "completion", "tiering"}, split="bench")
def relocation(w: HotelWorld) -> Scenario:
    """A guest was told that the room is out of order and demands a suite or the whole stay for free.

    Trap: the article's points are halved with a day's notice and go to members only; the first night is returned, not
    an average one, and no manager is asked. One who declines is cancelled under a reason of its own, all paid back.
    Right end: relocated, refunded and credited; or cancelled and refunded; or nothing, if a room of the kind is free.
    """
    case = w.cycle(*CASES)
    opens_with_number = w.cycle(True, False)
    stay, sister, category = place(w, case)
    guest, paid, first = stay.guest, stay.paid, stay.first_night
    ours = policy.handled_by(stay.booking.channel, "hotel", "relocation") == "hotel"
    points = policy.relocation_points(guest.tier, stay.notice(w.now)) if guest.account else 0
    due, money = (first, "relocation") if case.then == "moves" else (paid, "cancellation")
    asks = policy.approval_needed(money, due, guest.tier, 0)
    w.manager_answers(stay, "granted")
    reason: Reason = "policy_refused" if case.then == "stays" else "manager_granted" if asks else "within_policy"
    reason = reason if ours else "partner_owns"

    who = common.identify(guest, stay, then=writes(Booking, id=stay.id) if case.then != "stays" else ())
    quote = call("quote_relocation", booking_id=stay.id, save="quote")
    figures = [use("quote", "room_unusable"), use("quote", "free_same_type")]
    rule = [
        call("search_articles", query="relocation points"),
        call("get_article", article_id="KB-07", save="article"),
    ]
    folio = call("get_folio", folio_id=use("booking", "folio_ids.0"))
    member = call("get_guest", guest_id=use("booking", "guest_id"), save="guest")
    looks: list[Step] = [quote]
    if case.then == "moves":
        looks += [member, *(rule if points else []), folio]
    elif case.then == "leaves":
        looks.append(folio)
    looks += talk(case.then, first, points, paid)
    move, leave = relocate(stay, sister, category, *figures), common.cancel(stay, "relocation_declined")
    back = common.refunds(stay, due, money, use("quote", "first_night"), use("quote", "paid"))
    entry = credit(stay, points)
    manager = common.approval(stay, due, "granted", *figures) if asks else common.Part()
    done = {
        "moves": manager + move + back + entry,
        "leaves": manager + leave + back,
        "stays": common.Part(expects=common.untouched(stay)),
    }[case.then]
    template = "cancellation_confirmed" if case.then == "leaves" else None
    found = [use("guest", "loyalty_account_id")] if case.then == "moves" else figures
    end = common.tail(guest, stay, "relocation", reason, template=template, found=found)
    solution = [*who.steps, *looks, *done.steps, *end.steps, *told(case.then, due, points)]
    expects = [*who.expects, *done.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, *(step for part in middle for step in part.steps), *end.steps]

    def pay(cents: int) -> common.Part:
        return common.refunds(stay, cents, money)

    wrong = common.common_mistakes(solution, expects)
    if case.then == "stays":
        wrong["moves the guest all the same"] = mistake(script(move), "booking kept")
        wrong["cancels all the same"] = mistake(script(leave), "booking kept")
        wrong["returns the first night all the same"] = mistake(
            script(common.refunds(stay, first, "relocation")), "no refund"
        )
    elif case.then == "leaves":
        wrong["cancels at the guest's request"] = mistake(script(common.cancel(stay), back), "booking")
        wrong["keeps the first night"] = mistake(script(leave, pay(paid - first)), "refund")
        wrong["returns it as a relocation"] = mistake(script(leave, common.refunds(stay, paid, "relocation")), "refund")
        wrong["gives points all the same"] = mistake(script(leave, back, credit(stay, 5_000)), common.NOTHING_ELSE)
    else:
        wrong["returns an average night"] = mistake(script(move, pay(paid // len(stay.nights)), entry), "refund")
        wrong["returns the whole stay"] = mistake(script(move, pay(paid), entry), "refund")
        wrong["takes a suite"] = mistake(script(relocate(stay, sister, "STE"), back, entry), "booking")
        wrong["forgets the refund"] = mistake(script(move, entry), "refund", "omission")
    if case.then == "moves" and points:
        other = points * 2 if points < policy.RELOCATION_POINTS[guest.tier] else points // 2
        wrong["gives half or twice the points"] = mistake(script(move, back, credit(stay, other)), "points")
        wrong["counts the nights too"] = mistake(script(move, back, credit(stay, points, len(stay.nights))), "points")
        wrong["forgets the points"] = mistake(script(move, back), "points", "omission")
    if case.then != "stays":
        wrong["asks the manager"] = mistake(script(common.approval(stay, paid, "granted"), done), common.NOTHING_ELSE)
    return Scenario(
        customer=persona(stay, case.then, opens_with_number),
        solution=solution,
        expects=expects,
        obeys=[*who.steps, *move.steps, *pay(paid).steps, *common.served(guest, stay, "relocation")],
        mistakes=wrong,
        about=[guest.id],
        cell=cell_of(case, points),
        facts={"sister": sister, "category": category, "points": points, "due": due if case.then != "stays" else 0},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, str, str]:
    """The booking, its room's fault, the house sold out in that category, and where a room is free instead."""
    arrival = w.arrival_in(minutes=case.minutes)
    guest = w.guest(tier=case.tier, account=case.account)
    house, category = w.house(), "DLX" if case.dear else w.pick("STD", "SUP")
    sister, better = w.sister(house), w.better_types(category)[0]
    extra = 290_00 if case.dear else 0
    prices = [w.odd_cents(231_00, 274_00) + extra, *(w.odd_cents(181_00, 215_00) + extra for _ in range(3))]
    stay = w.booking(
        guest, w.pick("FLEX", "NRF"), arrival=arrival, prices=prices, property=house, room_type=category, room=True,
        partner=w.partner("hotel") if case.ota else None,
    )  # fmt: skip
    nights = [night.night for night in stay.nights]
    before = nights_of(w.day(-3), 40)
    first, last = {
        "first night": (before[0], nights[0]),
        "last night": (nights[-1], w.day(38)),
        "night before": (before[0], before[before.index(nights[0]) - 1]),
    }[case.fault]
    w.room_block(stay.booking.room_id, "unusable", first, last)
    full = w.pick(*nights)
    w.make_free(house, category, arrival, len(nights))
    w.sell_out(house, category, full, 1)
    if case.then == "stays" and case.fault != "night before":
        w.make_free(house, category, full, 1)
    for room_type in (category, better, "STE"):
        w.make_free(sister, room_type, arrival, len(nights))
    if case.better:
        w.sell_out(sister, category, full, 1)
    return stay, sister, better if case.better else category


def relocate(stay: Stay, sister: str, category: str, *seen: object) -> common.Part:
    """Move the guest; the category is told by the call alone."""
    step = call(
        "relocate_booking",
        booking_id=stay.id,
        property_id=derived(sister, *seen, use("quote", "sister_property_id")) if seen else sister,
        room_type_id=derived(category, use("quote", "sister_room_type_id")) if seen else category,
        earns="booking",
    )
    row = changed("booking: row", Booking, stay.id, status="relocated", relocated_to=sister)
    asked = happened("booking: category", calls("relocate_booking", property_id=sister, room_type_id=category))
    return common.Part((step,), (either("booking", (row, asked)),))


def credit(stay: Stay, points: int, nights: int = 0) -> common.Part:
    """Points for the trouble, to members only."""
    account = stay.guest.account
    if not points or account is None:
        return common.Part()
    values = {"kind": "relocation", "nights": nights, "points": points}
    needs = (use("quote", "tier"), use("quote", "notice_minutes"), use("article", "body"))
    step = call(
        "add_loyalty_entry",
        loyalty_account_id=derived(account.id, use("guest", "loyalty_account_id")),
        booking_id=stay.id,
        **{**values, "points": derived(points, *needs)},
        earns="points",
    )
    row = {"loyalty_account_id": account.id, "booking_id": stay.id, **values}
    return common.Part((step,), (created("points", LoyaltyEntry, **row),))


def talk(then: str, first: int, points: int, paid: int) -> list[Step]:
    """What is offered, and the guest's choice."""
    if then == "stays":
        return []
    extra = f" and {points} points for your loyalty account" if points and then == "moves" else ""
    offer = say(
        f"I can offer you a room in our sister house in the same city, with {common.dollars(first)} back for the first "
        f"night{extra}. Shall I move you to the sister house?"
    )
    if then == "moves":
        return [offer]
    return [offer, say(f"Then the {common.dollars(paid)} you paid can be returned. Shall I cancel the booking?")]


def persona(stay: Stay, then: str, opens_with_number: bool) -> Persona:
    """A guest who has had a call from the house."""
    room = "the room of my booking {booking}" if opens_with_number else "the room I booked"
    no_house = ("No. I chose this house and no other; then I would rather cancel.", "No, not another house. I cancel.")
    return Persona(
        opens=(
            f"Your colleague called me: {room} cannot be used. I expect a suite for that, or the whole stay for free.",
            f"I hear that there is a fault and {room} is closed. Then give me a suite, or all my money and a bed.",
        ),
        knows=common.persona_facts(stay.guest, stay),
        offers=[
            Offer(
                "moving",
                ("sister house", "sister property", "sister hotel", "other house", "move"),
                answer="decline" if then == "leaves" else "accept",
                says=no_house if then == "leaves" else ("All right, then the other house it is.", "Fine, I take it."),
            ),
            Offer(
                "cancelling",
                ("cancel",),
                answer="accept" if then == "leaves" else "decline",
                says=() if then == "leaves" else "No, I do want to travel.",
            ),
        ],
        presses=("A suite is the least that I expect after such a call!",),
        gives_in="Well. As long as I have a bed.",
        settles_for={"moves": "the sister house", "leaves": "all the money back"}.get(then, "the booking as it is"),
    )


def told(then: str, due: int, points: int) -> list[Step]:
    """What the guest hears at the end, and after insisting."""
    if then == "moves":
        extra = f" and credited {points} points" if points else ""
        return [say(f"I have moved you to the sister house, refunded {common.dollars(due)}{extra}.")]
    if then == "leaves":
        return [say(f"I have cancelled your booking and refunded {common.dollars(due)}.")]
    return [
        say("I am sorry, I cannot give you a suite or money: your booking is safe, a room of your category is there."),
        say("I understand, but a suite or money is not possible, and your booking stays as it is."),
    ]


def cell_of(case: Case, points: int) -> str:
    """The cell, by how it ends."""
    if case.then != "moves":
        return {"leaves": "declines", "stays": "no relocation"}[case.then]
    return "no account" if not points else "full points" if case.minutes < 24 * H else "half points"
