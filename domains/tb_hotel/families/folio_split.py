"""A business traveller wants the company to pay its part: the right charges go to the company's folio, in time."""

from typing import Any, Literal, NamedTuple

from tb_envs.authoring import (
    Persona,
    Record,
    Scenario,
    Step,
    call,
    calls,
    changed,
    created,
    derived,
    either,
    family,
    kept,
    mistake,
    never_created,
    row_of,
    say,
    show_money,
    use,
)
from tb_envs.grading.expectations import Expectation
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Charge, ChargeKind, Collects, CorporateAccount, Coverage, Folio
from tb_hotel.world import HotelWorld, Stay

Cell = Literal["new folio", "existing folio", "too late"]


class Case(NamedTuple):
    """What the company covers, two meals, how many days ago the guest left (None: in house), whether it has a folio."""

    covers: Coverage
    meals: tuple[int, int]
    left: int | None
    has_folio: bool = False
    collects: Collects | None = None


CASES = (
    Case("full_board", (60_00, 60_01), 30),
    Case("full_board", (59_99, 82_50), None),
    Case("room_and_breakfast", (60_00, 34_75), 29),
    Case("room_only", (59_99, 41_20), None),
    Case("full_board", (60_01, 60_00), None, has_folio=True),
    Case("full_board", (59_99, 60_00), 29, has_folio=True, collects="hotel"),
    Case("room_and_breakfast", (60_01, 27_35), 30, has_folio=True),
    Case("room_only", (48_90, 60_00), 12, has_folio=True),
    Case("full_board", (60_01, 71_45), 4),
    Case("room_and_breakfast", (59_99, 60_01), None, collects="hotel"),
    Case("full_board", (60_00, 31_05), 31),
    Case("room_and_breakfast", (52_40, 60_00), 31, has_folio=True),
    Case("room_and_breakfast", (38_60, 60_01), None, has_folio=True),
    Case("full_board", (60_00, 59_99), 30, has_folio=True),
)

OPENS = {
    True: (
        "Booking {booking} was a business trip. Please put everything on a bill for my company.",
        "My company pays for {booking}. Kindly move the whole bill to them.",
    ),
    False: (
        "I travel for work, so my employer pays for my stay with you. Please make out the whole bill to them.",
        "I need the bill of my stay made out to my company, all of it.",
    ),
}
TIME = use("time", "now")


@family(goal="the company pays its part", traps={"partial", "window", "completion"})
def folio_split(w: HotelWorld) -> Scenario:
    """A traveller wants the whole bill to go to the company.

    Trap: the company takes only what its account covers, a meal only up to a limit; each charge is moved whole and
    once, and none is forgotten; after 30 days it is finance's matter.
    Right end: exactly the company's charges on its folio, or a ticket handed over to finance.
    """
    case, opens = w.cycle(*CASES), OPENS[w.cycle(True, False)]
    stay, rows = place(w, case)
    guest, account = stay.guest, stay.booking.corporate_account_id
    old = w.company_folio(stay.booking) if case.has_folio else None
    ours = policy.handled_by(stay.booking.channel, case.collects, "folio_split") == "hotel"
    in_time = ours and (case.left is None or policy.claim_is_open("folio_split", stay.departure, w.today))
    payer = {name: policy.folio_payer(case.covers, row.kind, row.amount_cents) for name, row in rows.items()}
    moving = [name for name in rows if in_time and payer[name] == "company"]
    staying = [name for name in rows if not in_time or payer[name] == "guest"]

    target = old.id if old else use("company", "folio_id")
    opening = call(
        "open_company_folio",
        booking_id=stay.id,
        corporate_account_id=use("booking", "corporate_account_id"),
        save="company",
        earns="room",
    )
    opened = () if old else (opening,)
    known = [use("account", "covers"), *([] if case.left is None else [TIME])]
    touch = [calls(step.tool) for step in opened] + [calls("move_charge")] if in_time else ()
    who = common.identify(guest, stay, facts=common.facts_needed("folio_split"), then=touch)
    clock = () if case.left is None else (call("get_time", save="time"),)
    done, looks = common.Part(), clock
    if in_time:
        folio = sorted(row.id for row in (stay.folio, *([old] if old else []))).index(stay.folio.id)
        looks = (
            call("get_corporate_account", corporate_account_id=use("booking", "corporate_account_id"), save="account"),
            call("get_folio", folio_id=use("booking", f"folio_ids.{folio}")),
            *clock,
            say(
                f"Your company takes: {', '.join(moving)}. Shall I move that to its bill, and leave the rest on yours?"
            ),
        )
        moves = tuple(move(rows[name], target, name, *known) for name in moving)
        done = common.Part((*opened, *moves), moved(stay, rows, moving, old))
    reason = "within_policy" if in_time else "finance_review"
    end = common.tail(guest, stay, "folio_split", reason, found=() if in_time else [TIME])
    solution = [*who.steps, *looks, *done.steps, *told(end.steps, in_time)]

    wrongs: list[tuple[str, Expectation, Step]] = []
    if in_time or old:
        for name in staying:
            guard = kept(f"{name} stays", Charge, rows[name].id)
            wrongs.append((f"moves the {name} too", guard, move(rows[name], target, name)))
    else:
        guard = never_created("no company folio", Folio, booking_id=stay.id)
        wrongs.append(("opens a folio all the same", guard, opening))
    expects = [*who.expects, *done.expects, *(guard for _, guard, _ in wrongs), *end.expects]
    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "move_charge")
    if in_time:
        again = call("post_charge", folio_id=target, kind="room", amount=show_money(rows["room"].amount_cents))
        mistakes["posts the room again"] = mistake(common.plus(solution, again), common.NOTHING_ELSE)
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay, company=w.get(CorporateAccount, account).name),
            presses=("They have always paid everything for me, the drinks in the room too.",),
            gives_in="Fine, if those are the terms of our company.",
            settles_for="the company's part" if in_time else "a review by finance",
        ),
        solution=solution,
        expects=expects,
        obeys=[
            *who.steps,
            *opened,
            *(move(row, target, name) for name, row in rows.items()),
            *common.served(guest, stay, "folio_split"),
        ],
        mistakes=mistakes,
        about=[guest.id],
        cell="too late" if not in_time else "existing folio" if old else "new folio",
        facts={"company pays": moving},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, dict[str, Record]]:
    """A stay for a company, and the charges on the guest's folio by name."""
    guest = w.guest(tier=w.pick("standard", "silver", "gold", "platinum"))
    company = w.corporate_account(covers=case.covers)
    nights = w.between(2, 4)
    stay = w.booking(
        guest,
        "FLEX" if case.collects else "CORP",
        arrival=None if case.left is None else w.day(-case.left - nights),
        nights=nights,
        status="in_house" if case.left is None else "checked_out",
        corporate=company,
        partner=w.partner(case.collects) if case.collects else None,
    )
    rows = {"room": w.all(Charge, folio_id=stay.folio.id)[0]}
    extras: tuple[tuple[str, ChargeKind, int], ...] = (
        ("breakfast", "breakfast", w.odd_cents(31_00, 64_00)),
        ("first dinner", "restaurant", case.meals[0]),
        ("second dinner", "restaurant", case.meals[1]),
        ("minibar", "minibar", w.odd_cents(7_00, 29_00)),
        ("laundry", "laundry", w.odd_cents(12_00, 39_00)),
    )
    for name, kind, cents in extras:
        rows[name] = w.charge(stay.folio, kind, cents, evidence="signed", on=stay.booking.arrival)
    if case.left is not None:
        owed = sum(cents for _, _, cents in extras)
        w.payment(stay.folio, owed, kind="settlement", paid_at=f"{stay.booking.departure}T10:20:00Z")
    return stay, rows


def move(row: Record, target: Any, name: str, *known: Any) -> Step:
    """Move a charge to the company's folio."""
    return call("move_charge", charge_id=derived(row.id, row.id, *known), to_folio_id=target, earns=name)


def moved(stay: Stay, rows: dict[str, Record], moving: list[str], old: Record | None) -> tuple[Expectation, ...]:
    """Each of these charges is on the company's folio; a new one is opened for the first of them, the room."""
    target = old.id if old else row_of("company folio")
    found: list[Expectation] = [changed(name, Charge, rows[name].id, folio_id=target) for name in moving]
    if old is None:
        account = stay.booking.corporate_account_id
        folio = created("company folio", Folio, kind="company", booking_id=stay.id, corporate_account_id=account)
        found[0] = either("room", (folio, changed("room charge", Charge, rows["room"].id, folio_id=target)))
    return tuple(found)


def told(end: tuple[Step, ...], in_time: bool) -> list[Step]:
    """The records, and what the guest is told; a hand-over comes last."""
    if in_time:
        return [*end, say("I have moved your company's part to its own bill. The rest is on yours.")]
    return [*end[:-1], say("Your stay is too long ago for me; our finance team will decide on it."), end[-1]]
