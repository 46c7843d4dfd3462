"""A guest holds a bill for parking against an old price list; today's article, nights and tier decide."""

from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Persona,
    Record,
    Scenario,
    Step,
    call,
    family,
    kept,
    mistake,
    never_created,
    say,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Charge, Reason, Refund, Tier
from tb_hotel.world import HotelWorld, Stay

ALL_NIGHTS = 999_999


class Case(NamedTuple):
    """Tier, nights, cents above the right price (or `ALL_NIGHTS` charged), whether the folio is open, the channel."""

    tier: Tier
    nights: int
    over: int
    folio: Literal["open", "settled"]
    channel: Literal["direct", "ota"] = "direct"


CASES = (
    Case("standard", 3, 1, "open"),
    Case("standard", 5, 0, "settled"),
    Case("gold", 4, ALL_NIGHTS, "settled"),
    Case("gold", 2, 0, "open"),
    Case("platinum", 6, ALL_NIGHTS, "open", "ota"),
    Case("silver", 9, 518_00, "settled"),
    Case("silver", 4, -1, "settled"),
    Case("gold", 3, 1, "settled", "ota"),
    Case("gold", 7, ALL_NIGHTS, "open"),
    Case("silver", 8, -12_00, "open"),
    Case("platinum", 2, ALL_NIGHTS, "settled"),
    Case("standard", 2, 36_50, "open"),
)
OLD_PRICE = 12_00


@family(goal="parking was charged too high", traps={"superseded", "arithmetic"})
def parking_price(w: HotelWorld) -> Scenario:
    """A guest has found an old price of USD 12 a night, free for good members, and wants the difference to it.

    Trap: the search finds the old article too. By the current one gold members park one night free, platinum members
    all; what was charged too little is not collected.
    Right end: exactly the surplus off the charge while the folio is open, or refunded once it is settled; else nothing.
    """
    case = w.cycle(*CASES)
    opens_with_number = w.cycle(True, False)
    stay, bill = place(w, case)
    guest, charged = stay.guest, bill.amount_cents
    ours = policy.handled_by(case.channel, "hotel", "extras_price") == "hotel"
    price = policy.parking_price(case.nights, guest.tier)
    due = max(charged - price, 0) if ours else 0
    kind = "waiver" if case.folio == "open" else "refund"
    w.manager_answers(stay, "granted", kind)
    asks = policy.approval_needed("price_correction", due, guest.tier)
    reason: Reason = "manager_granted" if asks else "within_policy" if due else "policy_refused"
    reason = reason if ours else "partner_owns"

    money = Charge if case.folio == "open" else Refund
    row = {"id": bill.id} if case.folio == "open" else {"payment_id": stay.payment.id}
    touch = writes(money, **row) if due else ()
    who = common.identify(guest, stay, then=touch)
    looks = [
        call("search_articles", query="parking price"),
        call("get_article", article_id="KB-04", save="article"),
        call("get_folio", folio_id=use("booking", "folio_ids.0"), save="folio"),
    ]
    needs = (use("article", "body"), charged, use("booking", "tier"), use("booking", "departure"))
    manager = common.approval(stay, due, "granted", *needs, kind=kind, then=touch) if asks else common.Part()

    def relief(cents: int, folio: str = case.folio) -> common.Part:
        if folio == "open":
            return common.waive(bill, cents, "price_correction", *needs)
        return common.refund(stay.payment, cents, "price_correction", *needs)

    off = relief(due) if due else common.Part(expects=(untouched(case, bill, stay),))
    found = () if due else (*needs[:1], use("folio", "charges_total"))
    end = common.tail(guest, stay, "extras_price", reason, found=found)
    solution = [*who.steps, *looks, *manager.steps, *off.steps, *end.steps, *told(due, price, kind)]
    expects = [*who.expects, *manager.expects, *off.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, *(step for part in middle for step in part.steps), *end.steps]

    old = charged if guest.tier in ("gold", "platinum") else charged - case.nights * OLD_PRICE
    check = off.expects[0].name
    sums = {
        "goes by the old price": old,
        "lets the first night of gold pay": charged - case.nights * 18_00 if guest.tier == "gold" else 0,
        "takes everything off": charged,
        "takes half of the surplus off": due // 2,
    }
    wrong = common.common_mistakes(solution, expects)
    for title, cents in sums.items():
        if cents > 0 and cents != due:
            wrong[title] = mistake(script(manager, relief(cents)), check)
    if due:
        other = relief(due, "settled" if case.folio == "open" else "open")
        wrong["takes it off the other way"] = mistake(
            script(manager, other), (check, common.NOTHING_ELSE) if case.folio == "open" else check
        )
        wrong["forgets the relief"] = mistake(script(manager), check, "omission")
    if due and not asks:
        ask_first = common.approval(stay, max(due, 500_01), "granted", kind=kind)
        wrong["asks approval without need"] = mistake(script(ask_first, off), common.NOTHING_ELSE)
    if charged < price and case.folio == "open":
        more = common.charge("parking", price - charged, folio=stay.folio)
        wrong["collects what is missing"] = mistake(script(more), common.NOTHING_ELSE)
    return Scenario(
        customer=persona(stay, case, old, opens_with_number),
        solution=solution,
        expects=expects,
        obeys=[
            *(who.steps if old != due else who.steps[:2]),
            *relief(old).steps,
            *common.served(guest, stay, "extras_price"),
        ],
        mistakes=wrong,
        about=[guest.id],
        cell=kind if due else "right" if charged == price else "too low",
        facts={"charged": charged, "right": price, "off": due},
    )


def untouched(case: Case, bill: Record, stay: Stay) -> common.Expectation:
    """The guard where nothing is due."""
    if case.folio == "open":
        return kept("charge kept", Charge, bill.id)
    return never_created("no refund", Refund, payment_id=stay.payment.id)


def place(w: HotelWorld, case: Case) -> tuple[Stay, Record]:
    """A stay in house, or over and settled, with one charge for parking."""
    guest = w.guest(tier=case.tier)
    partner = w.partner("hotel") if case.channel == "ota" else None
    in_house = case.folio == "open"
    stay = w.booking(
        guest,
        "FLEX",
        nights=case.nights,
        partner=partner,
        status="in_house" if in_house else "checked_out",
        total=w.odd_cents(92_00, 168_00) * case.nights,
    )
    paying = {"gold": case.nights - 1, "platinum": 0}.get(case.tier, case.nights)
    cents = case.nights * 18_00 if case.over == ALL_NIGHTS else paying * 18_00 + case.over
    bill = w.charge(stay.folio, "parking", cents, on=stay.booking.arrival)
    breakfast = w.charge(stay.folio, "breakfast", w.odd_cents(14_00, 39_00), on=stay.booking.arrival)
    if not in_house:
        paid_at = f"{stay.booking.departure}T09:{w.between(10, 59)}:00Z"
        owed = cents + breakfast.amount_cents
        stay.payments.append(w.payment(stay.folio, owed, kind="settlement", paid_at=paid_at))
    return stay, bill


def persona(stay: Stay, case: Case, old: int, opens_with_number: bool) -> Persona:
    """A guest with an old list of prices."""
    if case.tier in ("gold", "platinum"):
        wish = f"Parking is free for {case.tier} members, it says so on your list"
    else:
        wish = "Your list says that a night of parking costs USD 12"
    about = "on my bill for {booking}" if opens_with_number else "on my bill"
    return Persona(
        opens=(
            f"The parking {about} is far too high. {wish}, so please give me the {common.dollars(old)} back.",
            f"I have just read what you charged for the garage {about}, and that cannot be. {wish}; "
            f"I want {common.dollars(old)} off.",
        ),
        knows=common.persona_facts(stay.guest, stay, charge="the parking"),
        presses=(f"{wish}. I have it here in black and white!",),
        gives_in="Then my list must be an old one. Fine.",
        settles_for="the price of today",
    )


def told(due: int, price: int, kind: str) -> list[Step]:
    """What the guest hears at the end, and after insisting."""
    if due:
        done = "refunded" if kind == "refund" else "waived"
        return [
            say(
                f"Today, parking costs {common.dollars(price)} for your stay, whatever the old list says. "
                f"I have {done} {common.dollars(due)} of the charge."
            )
        ]
    return [
        say("I am sorry, that list is no longer valid. The charge is not too high, so I cannot take anything off."),
        say("I understand, but only the prices of today count, and the charge has to stay as it is."),
    ]
