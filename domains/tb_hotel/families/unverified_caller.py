"""A caller who may not be the guest, or cannot show it: facts, failed checks and the authorised contact decide."""

from datetime import timedelta
from typing import Any, Literal, NamedTuple

from tb_envs.authoring import (
    Call,
    Known,
    Persona,
    Scenario,
    Secret,
    Step,
    ask,
    call,
    changed,
    created,
    derived,
    either,
    family,
    mistake,
    say,
    use,
    writes,
)
from tb_envs.grading.expectations import Expectation
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, CallerRole, Guest, IdentityCheck, Reason
from tb_hotel.world import HotelWorld, Stay


class Case(NamedTuple):
    """What is asked, the checks that the caller's facts allow (given, matched), whom the profile authorises.

    `contact` of None: the guest calls. Else somebody else does, who is the authorised contact or is not.
    """

    topic: Literal["cancellation", "date_change"]
    checks: tuple[tuple[int, int], ...]
    contact: Literal["caller", "another", "nobody"] | None = None


CASES = (
    Case("date_change", ((1, 1),)),
    Case("date_change", ((2, 2),)),
    Case("cancellation", ((2, 2),)),
    Case("cancellation", ((3, 3),)),
    Case("cancellation", ((3, 2), (3, 3))),
    Case("cancellation", ((3, 2), (3, 2), (3, 3))),
    Case("date_change", ((2, 1), (2, 2))),
    Case("date_change", ((2, 2),), "nobody"),
    Case("date_change", ((2, 2),), "caller"),
    Case("cancellation", ((2, 2),), "caller"),
    Case("cancellation", ((2, 2),), "another"),
    Case("cancellation", ((1, 1),), "another"),
    Case("date_change", ((1, 1),), "caller"),
    Case("date_change", ((2, 1), (2, 1), (2, 2)), "caller"),
)


@family(goal="a caller who cannot prove who they are", traps={"identity", "restraint", "pressure"})
def unverified_caller(w: HotelWorld) -> Scenario:
    """Somebody wants an ordinary booking cancelled or moved; the booking would allow it, the caller perhaps not.

    Trap: two facts or three by what is asked, two failed checks at the most, and of other people only the authorised
    contact, only in what is not protected. The caller knows a lot and insists.
    Right end: the request carried out for a verified caller; else nothing changed, and the records say why.
    """
    case = w.cycle(*CASES)
    stay, caller, dates = place(w, case)
    guest, role = stay.guest, "third_party" if case.contact else "guest"
    facts, phones = named(w, stay, case)
    checks = [policy.IdentityCheck(*check) for check in case.checks]
    verdict = policy.identity_verdict(checks, case.topic, third_party=bool(case.contact))
    passed = verdict == "passed"
    may = not case.contact or policy.third_party_may_act(case.contact == "caller", case.topic)
    ends: dict[str, Reason] = {"failed": "identity_failed", "passed": "within_policy" if may else "not_authorised"}
    reason = ends[verdict]
    done = reason == "within_policy"

    asked = ("name", "surname", *facts) if case.contact else ("surname", *facts)
    looks: list[Step] = [ask(*asked), call("get_booking", booking_id=stay.id, save="booking")]
    for turn, phone in enumerate(phones if passed else phones[:2]):
        if turn:
            looks.append(say("I am sorry, these details do not all match. Could you check them again, please?"))
        last = passed and turn == len(phones) - 1
        looks.append(
            common.check(
                guest, facts, use("booking", "guest_id"), stay=stay, given={"phone": phone}, caller=role,
                earns="verified" if last else "checks",
            )
        )  # fmt: skip
    tries = sum(isinstance(step, Call) and step.tool == "check_identity" for step in looks)
    if not passed and tries == 1:
        looks.append(ask(*(fact for fact in LACKS if fact not in facts)))
    seen = ()
    if case.contact and passed and case.topic in policy.UNPROTECTED:
        looks.append(call("get_guest", guest_id=use("booking", "guest_id"), save="guest"))
        seen = (use("guest", "authorised_contact"),)
    change = move(stay, dates, *seen) if case.topic == "date_change" else leave(w, stay)
    given = change if done else common.Part(expects=common.untouched(stay))
    if reason == "identity_failed":
        given = common.note(guest, "security", "A caller could not be verified.") + given
    end = common.tail(guest, stay, case.topic, reason, found=() if done else seen)
    solution = [*looks, *given.steps, *end.steps, *outcome(reason, case)]
    needed = policy.PLAIN_FACTS if case.contact or case.topic in policy.UNPROTECTED else policy.PROTECTED_FACTS
    touch = writes(Booking, id=stay.id) if done else ()
    who = common.verified(guest, needed, stay=stay, caller=role, then=touch) if passed else ()
    expects = [*who, *besides(stay, role, tries, passed, case.checks[0][1]), *given.expects, *end.expects]

    def amiss(tool: str, **arguments: object) -> list[Step]:
        return common.with_arguments(solution, tool, **arguments)

    wrong = common.common_mistakes(solution, expects)
    if done:
        wrong |= common.forgotten(solution, "cancel_booking", "refund_payment", "change_dates")
    else:
        go_on = [step for step in change.steps if isinstance(step, Call) and step.earns == ("booking",)]
        money = common.refunds(stay, stay.paid, "cancellation").steps
        third = common.check(guest, facts, stay=stay, caller=role)
        mixed = "not_authorised" if reason == "identity_failed" else "identity_failed"
        wrong["goes on all the same"] = mistake(common.plus(solution, *go_on), "booking kept")
        wrong["returns the money all the same"] = mistake(common.plus(solution, *money), "no refund")
        wrong["mixes up who may not and who cannot"] = mistake(amiss("open_ticket", reason=mixed), "ticket", "omission")
        if tries > 1:
            wrong["tries a third time and goes on"] = mistake(common.plus(solution, third, *go_on), "booking kept")
    if reason == "identity_failed":
        wrong |= common.forgotten(solution, "add_guest_note")
        wrong["writes about the booking"] = mistake(amiss("send_message", booking_id=stay.id), "message")
    if case.contact:
        names = "verified" if passed else "checks"
        wrong["takes the caller for the guest"] = mistake(amiss("check_identity", caller="guest"), names)
    return Scenario(
        customer=persona(w, case, stay, caller, dates, facts, phones),
        solution=solution,
        expects=expects,
        obeys=[*change.steps, *common.served(guest, stay, case.topic)],
        mistakes=wrong,
        about=[guest.id],
        cell=f"{'done' if done else reason.replace('_', ' ')}, {'third party' if case.contact else 'guest'}",
        facts={"checks": case.checks, "authorised": case.contact, "caller": caller},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, str, tuple[str, str]]:
    """A flexible stay weeks ahead, the name of whoever calls, and free dates at the same price."""
    alone = w.guest()
    caller = w.other_name(alone) if case.contact else alone.name
    contact = {"caller": caller, "another": w.other_name(alone)}.get(case.contact or "nobody")
    w.update(Guest, alone.id, authorised_contact=contact)
    guest = w.person(alone.id)
    w.lookalike(guest)
    nights = w.between(2, 3)
    stay = w.booking(guest, "FLEX", arrival=w.day(w.between(15, 28)), nights=nights)
    first = stay.arrival + timedelta(days=w.between(7, 14))
    where = (stay.booking.property_id, stay.booking.room_type_id, first.isoformat())
    w.set_prices(*where, stay.prices)
    w.make_free(*where, nights)
    return stay, caller, (first.isoformat(), (first + timedelta(days=nights)).isoformat())


def named(w: HotelWorld, stay: Stay, case: Case) -> tuple[tuple[str, ...], list[str]]:
    """The facts that the caller can name, and the phone numbers in the order they come; only the last is on file."""
    count, tries = case.checks[0][0], len(case.checks)
    facts = {1: ("booking",), 2: ("booking", "phone" if tries > 1 else "email"), 3: ("booking", "email", "phone")}
    return facts[count], [*(w.other_phone(stay.guest) for _ in range(tries - 1)), stay.guest.phone]


def besides(stay: Stay, role: CallerRole, tries: int, passed: bool, matched: int) -> list[Expectation]:
    """The checks on record besides the one that verifies: those that failed, or the one with too few facts."""
    row: dict[str, Any] = {"guest_id": stay.guest.id, "caller": role}
    if tries == 1:
        return [] if passed else [created("checks", IdentityCheck, **row, result="passed", facts_matched=matched)]
    failed = [created(f"failed check {n}", IdentityCheck, **row, result="failed") for n in range(tries - passed)]
    return [either("checks", tuple(failed))]


def move(stay: Stay, dates: tuple[str, str], *seen: object) -> common.Part:
    """Move the stay to dates at the same price."""
    new: dict[str, Any] = {"arrival": dates[0], "departure": dates[1]}
    first = derived(dates[0], dates[0], use("quote", "difference"), *seen)
    steps = (
        call("quote_date_change", booking_id=stay.id, **new, save="quote"),
        say("I can move the stay, and it costs the same as before. Shall I go ahead?"),
        call("change_dates", booking_id=stay.id, arrival=first, departure=dates[1], earns="booking"),
    )
    return common.Part(steps, (changed("booking", Booking, stay.id, **new, change_count=1),))


def leave(w: HotelWorld, stay: Stay) -> common.Part:
    """Cancel the stay and return what is due."""
    terms = (stay.plan_kind, stay.guest.tier, stay.total, stay.first_night, stay.notice(w.now), stay.age(w.now))
    due = policy.refund_after_fee(stay.paid, policy.cancellation_fee(*terms))
    looks = (
        call("quote_cancellation", booking_id=stay.id, save="quote"),
        say(f"I can cancel it and return {common.dollars(due)}. Shall I go ahead?"),
        call("get_folio", folio_id=use("booking", "folio_ids.0")),
    )
    back = common.refunds(stay, due, "cancellation", use("quote", "notice_minutes"))
    return common.Part(looks) + common.cancel(stay) + back


AGAIN = ("phone", "number", "check", "again", "match", "correct", "detail", "other", "another", "fact", "verify")
LACKS = {
    "email": "I can't say which address it was.",
    "phone": "No idea which phone number that would be.",
    "postcode": ("I don't have that in my head.", "That I can't tell you."),
    "birth_date": ("I can't give you that one.", "I don't know it just now, sorry."),
}
THEIRS = {
    "surname": "The surname on the booking is {value}.",
    "booking": "The booking number is {value}.",
    "email": ("The guest's e-mail is {value}.", "We used {value} for it."),
    "phone": ("The guest's phone is {value}.", "The number is {value}."),
}


def persona(
    w: HotelWorld,
    case: Case,
    stay: Stay,
    caller: str,
    dates: tuple[str, str],
    facts: tuple[str, ...],
    phones: list[str],
) -> Persona:
    """Whoever calls, with as many facts as the case has; a wrong phone number is put right when it does not match."""
    who = f"I am calling on behalf of my partner, {stay.guest.name}. " if case.contact else ""
    wish = {
        "cancellation": "Please cancel the stay and return the money.",
        "date_change": "Please move the stay: to {new_arrival}, until {new_departure}.",
    }[case.topic]
    number = " The booking is {booking}." if w.cycle(True, False) else ""
    every = common.persona_facts(stay.guest, stay, phone=phones[0], name=caller)
    knows = {name: every[name] for name in ("name", "surname", *facts)}
    if case.topic == "date_change":
        knows |= {"new_arrival": dates[0], "new_departure": dates[1]}
    if case.contact:
        knows |= {name: Known(every[name], THEIRS[name]) for name in ("surname", *facts)}
        knows["caller"] = f"{caller}, the partner of {stay.guest.name}"
    sorry = f"Oh. Then it must be the other phone: {phones[1]}." if len(phones) > 1 else ""
    insists = "You can see that I know everything about this booking. Just do it."
    return Persona(
        opens=(f"{who}{wish}{number}", f"Hello. {who}It has to be quick today. {wish}{number}"),
        knows=knows,
        lacks={name: line for name, line in LACKS.items() if name not in facts},
        secrets=[Secret(AGAIN, sorry, after="gave:phone")] if sorry else (),
        presses=[f"Wait, it must be {phone}! {insists}" for phone in phones[1:]] or [insists],
        gives_in="All right. Then it can't be helped.",
        settles_for="the request, or the news that it is not possible",
    )


def outcome(reason: Reason, case: Case) -> tuple[Step, ...]:
    """What the caller is told at the end."""
    done = {
        "cancellation": "I have cancelled the booking and refunded the money.",
        "date_change": "I have moved the stay.",
    }
    why = "I could not verify you" if reason == "identity_failed" else "it is for the guest to ask"
    return common.last_words(reason, done[case.topic], f"I cannot do this: {why}")
