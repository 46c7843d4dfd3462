"""One traveller of a party stays at home: only that room is cancelled, and every room is reckoned on its own."""

from typing import Literal, NamedTuple

from tb_envs.authoring import Known, Persona, Scenario, Step, ask, call, family, mistake, say, use, writes
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Tier
from tb_hotel.world import HotelWorld, Stay

Cell = Literal["small", "free", "nothing", "two rooms", "granted", "denied", "pending"]
FACTS = ("email", "phone", "postcode")
H = 60


class Case(NamedTuple):
    """A side of a boundary: minutes of notice, what the room is drawn to give back, and a second room's sum."""

    cell: Cell
    plan: str
    tier: Tier
    minutes: int
    due: int
    second: int = 0


CASES = (
    Case("small", "SEMI", "silver", 72 * H - 1, 500_00),
    Case("small", "SEMI", "gold", 24 * H, 431_27),
    Case("granted", "SEMI", "gold", 66 * H, 500_01),
    Case("denied", "SEMI", "silver", 24 * H + 1, 612_33),
    Case("pending", "FLEX", "gold", 24 * H - 1, 533_90),
    Case("two rooms", "SEMI", "silver", 30 * H, 500_00, 317_45),
    Case("two rooms", "SEMI", "gold", 72 * H - 1, 498_99, 500_00),
    Case("free", "SEMI", "gold", 72 * H, 702_11),
    Case("free", "FLEX", "silver", 24 * H, 533_85),
    Case("nothing", "SEMI", "gold", 24 * H - 1, 0),
    Case("small", "FLEX", "silver", 3 * H, 288_47),
    Case("free", "FLEX", "gold", 24 * H + 1, 640_09),
    Case("free", "SEMI", "silver", 72 * H + 1, 376_53),
    Case("granted", "SEMI", "silver", 47 * H, 500_01),
)


class Room(NamedTuple):
    """A room that the guest gives up, the fee kept and what is due back."""

    stay: Stay
    fee: int
    due: int

    @property
    def name(self) -> str:
        """The traveller's name."""
        return self.stay.booking.stay_name


@family(goal="cancel one room of a reservation", traps={"partial", "lookalike", "approval"})
def one_room_of_several(w: HotelWorld) -> Scenario:
    """One or two of a party cannot come; the guest names them and the reservation code, and wants everything back.

    Trap: the rooms share a code and two of them a category; only the one in the traveller's name goes. Fee, refund and
    approval are worked out for each room by itself, never on the sum.
    Right end: that room cancelled with what is due for it, or kept when the manager does not agree; the others stay.
    """
    case = w.cycle(*CASES)
    opens_with_code = w.cycle(True, False)
    stays, twin = place(w, case)
    given = [reckon(w, stay) for stay in stays[: 2 if case.second else 1]]
    stay, fee, due = given[0]
    guest = stay.guest
    answer = w.manager_answers(stay, case.cell if case.cell in ("denied", "pending") else "granted") or "granted"
    asks = policy.approval_needed("cancellation", due, guest.tier, fee)
    reason = common.ANSWERED[answer] if asks else "within_policy"
    carried_out = reason in ("within_policy", "manager_granted")

    touch = [writes(Booking, id=room.stay.id) for room in given] if carried_out else ()
    start = [
        ask("booking", "traveller", "surname", *FACTS),
        call("search_bookings", reservation_code=stay.booking.reservation_code, save="rooms"),
        common.check(guest, FACTS, use("rooms", "items.0.guest_id")),
        *(call("quote_cancellation", booking_id=room.stay.id, save=f"quote {room.stay.id}") for room in given),
        say(terms(given, asks)),
    ]
    folios = [step for room in given for step in folio_of(room.stay)]
    manager = common.approval(stay, due, answer, *needs(stay), then=touch) if asks else common.Part()
    gone = [cancel(room.stay, name) for room, name in zip(given, ("booking", "second booking"), strict=False)]
    back = [
        common.refunds(room.stay, room.due, "cancellation", *needs(room.stay), name=name)
        for room, name in zip(given, ("refund", "second refund"), strict=False)
    ]
    done = sum((one + money for one, money in zip(gone, back, strict=True)), common.Part())
    if not carried_out:
        done = common.Part(expects=common.untouched(stay))
    end = common.tail(guest, stay, "cancellation", reason, found=() if due else needs(stay))
    looks = folios if due and carried_out else []
    solution = [*start, *looks, *manager.steps, *done.steps, *end.steps, *told(reason, given)]
    expects = [*common.verified(guest, 3, then=touch), *manager.expects, *done.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*start, *folios, *(step for part in middle for step in part.steps), *end.steps]

    def rooms(*which: Stay) -> common.Part:
        return sum((common.cancel(one) for one in which), common.Part())

    def money(one: Stay, cents: int) -> common.Part:
        return common.refunds(one, cents, "cancellation")

    wrong = common.common_mistakes(solution, expects)
    if carried_out:
        kept = [one for one in stays if one not in [room.stay for room in given]]
        wrong["cancels all rooms"] = mistake(
            script(manager, done, rooms(*kept)), common.NOTHING_ELSE, "policy" if due else "omission"
        )
        wrong["cancels the other room of the category"] = mistake(
            script(manager, rooms(twin), *gone[1:], *back), ("booking", common.NOTHING_ELSE)
        )
        wrong["forgets to cancel"] = mistake(script(manager, *gone[1:], *back), "booking", "omission")
        other = policy.percent(stay.total, 25 if fee * 2 >= stay.total else 50)
        for title, cents in {"returns the fee too": stay.paid, "keeps another percentage": stay.paid - other}.items():
            if fee and cents != due:
                sums = script(manager, *gone, money(stay, cents), *back[1:])
                wrong[title] = mistake(sums, "refund" if due else common.NOTHING_ELSE)
    else:
        wrong["cancels all the same"] = mistake(script(manager, *gone), "booking kept")
        wrong["returns the money all the same"] = mistake(script(manager, *back), "no refund")
    if carried_out and not asks:
        together = common.approval(stay, sum(room.due for room in given) or stay.paid, "granted")
        wrong["asks approval for the sum of the rooms"] = mistake(script(together, done), common.NOTHING_ELSE)
    if case.second:
        wrong["forgets the second refund"] = mistake(script(*gone, back[0]), "second refund", "omission")
        wrong["forgets the second room"] = mistake(script(gone[0], *back), "second booking", "omission")
    everything = rooms(*stays) + sum((money(one, one.paid) for one in stays), common.Part())
    return Scenario(
        customer=persona(opens_with_code, given, len(stays)),
        solution=solution,
        expects=expects,
        obeys=[*start[:-1], *everything.steps, *common.served(guest, stay, "cancellation")],
        mistakes=wrong,
        about=[guest.id],
        cell=case.cell,
        facts={"rooms": len(stays), "given up": [room.stay.id for room in given], "due": [room.due for room in given]},
    )


def place(w: HotelWorld, case: Case) -> tuple[list[Stay], Stay]:
    """Three or four rooms under one code, those given up first; and the one that looks like the first of them."""
    arrival = w.arrival_in(minutes=case.minutes)
    guest = w.guest(tier=case.tier)
    house, code, nights = w.house(), w.new_code(), w.between(2, 3)
    name = w.other_name(guest)
    like = f"{w.similar_name(name.split()[0])} {name.split()[1]}"
    kept = 0 if case.cell == "free" else 25 if case.tier == "gold" else 50

    def book(category: str, name: str, due: int) -> Stay:
        near = due * 100 // (100 - kept)
        total = max(t for t in range(near - 2, near + 3) if t - (t * kept + 50) // 100 == due)
        prices = w.split_total(total if due else w.odd_cents(310_00, 690_00), nights)
        if case.plan == "FLEX":
            first = [] if case.cell == "free" else [w.odd_cents(95_00, 180_00)]
            prices = [*first, *w.split_total(due, nights)]
        return w.booking(
            guest, case.plan, arrival=arrival, prices=prices, property=house, room_type=category,
            stay_name=name, reservation_code=code,
        )  # fmt: skip

    stays = [book("STD", name, case.due)]
    if case.second or w.chance(0.5):
        stays.append(book("SUP", w.other_name(guest), case.second or w.odd_cents(210_00, 330_00)))
    twin = book("STD", like, case.due)
    return [*stays, twin, book("DLX", guest.name, w.odd_cents(340_00, 490_00))], twin


def reckon(w: HotelWorld, stay: Stay) -> Room:
    """The fee and the refund of one room."""
    terms = (stay.plan_kind, stay.guest.tier, stay.total, stay.first_night, stay.notice(w.now), stay.age(w.now))
    fee = policy.cancellation_fee(*terms)
    return Room(stay, fee, policy.refund_after_fee(stay.paid, fee))


def needs(stay: Stay) -> list[object]:
    """What the refund of a room is computed from."""
    return [use(f"quote {stay.id}", name) for name in ("notice_minutes", "total", "paid")]


def folio_of(stay: Stay) -> list[Step]:
    """The way to the payment of a room."""
    saved = f"booking {stay.id}"
    return [call("get_booking", booking_id=stay.id, save=saved), call("get_folio", folio_id=use(saved, "folio_ids.0"))]


def cancel(stay: Stay, name: str) -> common.Part:
    """Cancel a room, under the name of its check."""
    reason = "guest_request"
    step = call("cancel_booking", booking_id=stay.id, reason=reason, earns=name)
    return common.Part((step,), (common.cancelled(stay, name=name, status="cancelled", cancel_reason=reason),))


def persona(opens_with_code: bool, given: list[Room], rooms: int) -> Persona:
    """The guest who reserved for all."""
    stay = given[0].stay
    code = Known(stay.booking.reservation_code, ("All our rooms have the one code {value}.", "I only have {value}."))
    that, who = ("those rooms", "two of us") if len(given) > 1 else ("that room", "one of us")
    return Persona(
        opens=(
            f"We are a party with {rooms} rooms, reservation {{booking}}, and {who} cannot come. Please cancel {that}, "
            "and as we are so many, refund the lot.",
            f"About our reservation {{booking}}: {who} fell ill. Cancel {that} for me; I expect every cent of it back.",
        )
        if opens_with_code
        else (
            f"I reserved {rooms} rooms for us, and now {who} cannot come. Please cancel {that} and pay it all back.",
            f"There was an accident and {who} must stay at home. Could you cancel {that} and return the whole price?",
        ),
        knows=common.persona_facts(
            stay.guest, booking=code, traveller=" and ".join(room.name for room in given), reason="an accident"
        ),
        presses=(f"We take {rooms - len(given)} other rooms. Surely you can make an exception for {that}.",),
        gives_in="Very well. Then that is how it is.",
        settles_for="what is due for the rooms named" if given[0].due else "the room cancelled without a refund",
    )


def terms(given: list[Room], asks: bool) -> str:
    """What the guest is told before anything is changed."""
    sums = " ".join(
        f"For {room.name}, {common.dollars(room.stay.paid)} was paid and {common.dollars(room.due)} can be returned."
        for room in given
    )
    if asks:
        return f"{sums} Such a sum needs the duty manager. Shall I cancel the room if it is granted?"
    return f"{sums} Shall I cancel {'these two rooms' if len(given) > 1 else 'this room'} and leave the others?"


def told(reason: str, given: list[Room]) -> list[Step]:
    """What the guest hears at the end, and after insisting."""
    names = " and ".join(room.name for room in given)
    match reason:
        case "manager_denied":
            end = "I am sorry, the duty manager has declined the refund. The room stays booked as it is."
            return [say(end), say("I understand, but the decision stands and nothing has been changed.")]
        case "manager_pending":
            end = "The duty manager has not decided yet and will call you back. Nothing has been changed so far."
            return [say(end), say("The duty manager will decide and call you back; I cannot do more today.")]
        case _:
            sums = " and ".join(common.dollars(room.due) for room in given)
            back = f"refunded {sums}" if given[0].due else "there is nothing to return"
            return [say(f"I have cancelled the booking of {names} and {back}. All other rooms stay booked.")]
