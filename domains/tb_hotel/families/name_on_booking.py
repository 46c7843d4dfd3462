"""A guest wants another name on a booking and calls it a typo; letters, plan and hours decide, unless the law does."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Known,
    Persona,
    Scenario,
    Step,
    ask,
    call,
    changed,
    created,
    family,
    mistake,
    never_created,
    say,
    use,
    writes,
)
from tb_envs.authoring.steps import Use
from tb_envs.grading.expectations import Expectation
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Charge, Collects, IdentityCheck, Reason, Tier
from tb_hotel.world import HotelWorld, Person, Stay

Cell = Literal["correction", "transfer", "refused", "by law", "partner", "unverified"]
H, FAR = 60, 290 * 60


class Case(NamedTuple):
    """The plan, minutes of notice, letters between the names; who collects, or what the guest cannot name."""

    cell: Cell
    plan: str
    minutes: int
    letters: int
    tier: Tier = "standard"
    collects: Collects | None = None
    facts: tuple[str, ...] = ("booking", "email", "phone")


CASES = (
    Case("correction", "SEMI", 24 * H - 1, 3, "gold"),
    Case("correction", "NRF", FAR, 2, facts=("booking", "email", "birth_date")),
    Case("correction", "FLEX", FAR, 3, "silver", collects="hotel"),
    Case("transfer", "FLEX", 24 * H, 4, facts=("booking", "email", "postcode")),
    Case("transfer", "CORP", 24 * H + 1, 6, "silver"),
    Case("refused", "FLEX", 24 * H - 1, 4, "platinum"),
    Case("refused", "SEMI", FAR, 4),
    Case("refused", "NRF", FAR, 5, "gold"),
    Case("by law", "FLEX", FAR, 6, "silver"),
    Case("by law", "SEMI", 30 * H, 1),
    Case("partner", "FLEX", FAR, 2, collects="partner"),
    Case("unverified", "FLEX", FAR, 3, facts=("booking", "email")),
)

NAMES: dict[int, tuple[tuple[str, str], ...]] = {
    2: (("Katrin Kolwits", "Katrin Kollwitz"), ("Delia Abernail", "Delia Abernale"), ("Nadia Janssen", "Nadja Jansen")),
    3: (("Jona Halvorsson", "Jonas Halvorsen"), ("Nils Ekholm", "Nora Ekholm"), ("Emil Iversen", "Emilia Iverson")),
    4: (("Rafael Pelettier", "Raphael Pelletier"), ("Marek Zielin", "Milan Zielin"), ("Lucas Barrow", "Clara Barrow")),
    5: (("Hugo Vasari", "Elena Vasari"), ("Edgar Falkner", "Fiona Falkner")),
    6: (("Viktor Nakano", "Wanda Nakano"), ("Wanda Sandoval", "Viktor Sandoval")),
}
"""Letters apart: the name on the booking, and the one wanted."""

LAW: dict[int, tuple[tuple[str, str, str], ...]] = {
    1: (("Ferrant", "Ferrand", "I got married in April"), ("Keswik", "Keswick", "a court order has just come through")),
    6: (("Amsel", "Corvin", "I got married in March"), ("Rahmani", "Dunmore", "I use it since my divorce")),
}
"""Letters apart: the surname on the booking, the new one, and what happened."""

OPENS = {
    True: (
        "There is a typo in the name on {booking}. Please put it right.",
        "Booking {booking} has a spelling mistake in the name, can you mend that?",
    ),
    False: (
        "The name on my booking has a typo in it. I'd like that corrected.",
        "I see that a name is misspelt on a booking of mine. Just a typo, can you fix it?",
    ),
}


@family(goal="another name on the booking", traps={"identity", "window", "restraint"}, split="bench")
def name_on_booking(w: HotelWorld) -> Scenario:
    """A guest calls every change of a name a typo; some are, some are another traveller, and some are a wedding.

    Trap: up to three letters are a correction; more are a transfer, for a fee, on some plans, until 24 hours before; a
    name changed by law is for guest relations however short the change; a partner may own the booking; a name needs
    three facts of the caller.
    Right end: the name changed, with the fee if one is due, or unchanged and in the right hands.
    """
    case, opens = w.cycle(*CASES), OPENS[w.cycle(True, False)]
    stay, new_name, law = place(w, case)
    guest, count = stay.guest, len(case.facts)
    known = policy.identity_verdict([policy.IdentityCheck(count, count)], "name_change") == "passed"
    ours = policy.handled_by(stay.booking.channel, case.collects, "name_change") == "hotel"
    fee = policy.name_change_fee(stay.plan_kind, case.letters, stay.notice(w.now))
    reason: Reason = "policy_refused" if fee is None else "within_policy"
    reason = "document_review" if law else reason if ours else "partner_owns"
    reason = reason if known else "identity_failed"
    changes = reason == "within_policy"

    touch = writes(Booking, id=stay.id) if changes else ()
    who = common.identify(guest, stay, facts=case.facts, then=touch) if known else turned_away(guest, stay)
    looks, done, seen = way(stay, new_name, reason, fee or 0)
    end = common.tail(guest, stay, "name_change", reason, found=seen)
    if not known:
        end = common.note(guest, "security") + end
    solution = [*who.steps, *looks, *done.steps, *told(end.steps, reason, new_name)]

    wrongs = list(temptations(stay, new_name, changes, fee))
    expects = [*who.expects, *done.expects, *(guard for _, guard, _ in wrongs), *end.expects]
    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "change_stay_name", "post_charge", "add_guest_note")
    if not known:
        named = common.with_arguments(solution, "send_message", booking_id=stay.id)
        mistakes["names the booking in the notice"] = mistake(named, "message")
        mistakes["turns the caller away unchecked"] = mistake(common.without(solution, "check_identity"), "checked")
    return Scenario(
        customer=persona(stay, case, new_name, law, opens),
        solution=solution,
        expects=expects,
        obeys=[ask("booking", "new_name"), renamed(stay, new_name), *common.served(guest, stay, "name_change")],
        mistakes=mistakes,
        about=[guest.id],
        cell=case.cell,
        facts={"booked": stay.booking.stay_name, "wanted": new_name, "letters": case.letters, "fee": fee},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, str, str]:
    """The booking, the name wanted, and what happened if it changed by law."""
    arrival = w.arrival_in(minutes=case.minutes)
    law = ""
    if case.cell == "by law":
        surname, new, law = w.pick(*LAW[case.letters])
        guest = w.guest(tier=case.tier, surname=surname)
        names = guest.name, f"{guest.first_name} {new}"
    else:
        guest, names = w.guest(tier=case.tier), w.pick(*NAMES[case.letters])
    company = w.corporate_account() if case.plan == "CORP" else None
    partner = w.partner(case.collects) if case.collects else None
    stay = w.booking(
        guest,
        case.plan,
        arrival=arrival,
        corporate=company,
        partner=partner,
        stay_name=names[0],
        nights=w.between(1, 4),
    )
    return stay, names[1], law


def turned_away(guest: Person, stay: Stay) -> common.Part:
    """A check with the two facts there are, which match, and no third."""
    steps = (
        ask("surname", "booking", "email"),
        call("get_booking", booking_id=stay.id, save="booking"),
        common.check(guest, ("booking", "email"), use("booking", "guest_id"), stay=stay, earns="checked"),
        ask("phone", "postcode", "birth_date"),
    )
    row = created("checked", IdentityCheck, guest_id=guest.id, caller="guest", result="passed", facts_matched=2)
    return common.Part(steps, (row,))


def way(stay: Stay, new_name: str, reason: Reason, fee: int) -> tuple[list[Step], common.Part, tuple[Use, ...]]:
    """What is looked at and said; what is done; what of it the ticket reports."""
    wanted, letters = ask("new_name"), use("names", "letters")
    partner = call("get_partner", partner_id=use("booking", "partner_id"), save="partner")
    compare = call("compare_names", booking_id=stay.id, new_name=new_name, save="names")
    match reason:
        case "identity_failed":
            return [], common.Part(), ()
        case "document_review":
            return [wanted], common.Part(), ()
        case "partner_owns":
            return [partner], common.Part(), (use("partner", "collects"),)
        case "policy_refused":
            return (
                [wanted, compare],
                common.Part(),
                (letters, use("names", "plan_kind"), use("names", "notice_minutes")),
            )
        case _:
            price = f"That is a transfer to another person, for {common.dollars(fee)}." if fee else "That is free."
            row = changed("booking", Booking, stay.id, stay_name=new_name)
            done = common.Part((renamed(stay, new_name),), (row,))
            if fee:
                done += common.charge("transfer_fee", fee, letters, folio=stay.folio)
            asked = say(f"{price} Shall I write {new_name} on the booking?")
            return [wanted, compare, asked], done, () if fee else (letters,)


def temptations(stay: Stay, new_name: str, changes: bool, fee: int | None) -> Iterator[tuple[str, Expectation, Step]]:
    """What must not be done here: in words, the guard that says so, and the step that breaks it."""
    if not changes:
        yield "changes the name all the same", common.untouched(stay)[0], renamed(stay, new_name)
    elif not fee:
        row = {"folio_id": stay.folio.id, "kind": "transfer_fee"}
        yield (
            "charges a correction as a transfer",
            never_created("no fee", Charge, **row),
            call("post_charge", **row, amount="25.00"),
        )


def renamed(stay: Stay, new_name: str) -> Step:
    """The other name on the booking, rightly or not."""
    return call("change_stay_name", booking_id=stay.id, new_name=new_name, earns="booking")


def told(steps: tuple[Step, ...], reason: Reason, new_name: str) -> list[Step]:
    """The records, and what the guest is told of them; a hand-over comes last."""
    if reason == "document_review":
        words = "guest relations will write to you about the documents. So far nothing is changed."
        return [*steps[:-1], say(f"I have passed this on: {words}"), say(f"I understand, but {words}"), steps[-1]]
    refused = TRANSFER if reason == "policy_refused" else UNKNOWN
    return [*steps, *common.last_words(reason, f"I have changed the name on your booking to {new_name}.", refused)]


TRANSFER = "so many letters make it a transfer to another person, and that is not possible for this booking"
UNKNOWN = "two details that match are too few for this request, so nothing can be changed"


def persona(stay: Stay, case: Case, new_name: str, law: str, opens: tuple[str, ...]) -> Persona:
    """The guest, who knows the facts of the case, and says what happened to the name when asked for the new one."""
    lines = f"It should read {{value}}; {law}.", f"{{value}}, please. You know, {law}."
    knows = common.persona_facts(stay.guest, stay, new_name=Known(new_name, says=lines if law else ()))
    lost = [fact for fact in LACKS if len(case.facts) < 3 or (fact == "phone" and "phone" not in case.facts)]
    knows = {fact: value for fact, value in knows.items() if fact not in lost}
    return Persona(
        opens=opens,
        knows=knows,
        lacks={fact: LACKS[fact] for fact in lost},
        presses=("But it is only a typo! Any child can see what was meant.",),
        gives_in="Then so be it. What a fuss about a few letters.",
        settles_for="the new name" if case.cell in ("correction", "transfer") else "an answer",
    )


LACKS = {
    "phone": "I have had several numbers, I can't say which one you have.",
    "postcode": "I have moved so often. I don't know the one you have.",
    "birth_date": "I don't give my date of birth to hotels.",
}
"""What a guest says who cannot name a fact."""
