"""An organiser gives back rooms of a group; the contract's allowance, earlier releases and the cut-off decide."""

from datetime import date
from typing import NamedTuple

from tb_envs.authoring import (
    Consent,
    Offer,
    Persona,
    Scenario,
    Step,
    ask,
    call,
    changed,
    derived,
    family,
    kept,
    mistake,
    say,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import GroupBlock
from tb_hotel.world import Block, HotelWorld, Stay
from tb_hotel.world.names import GROUP_NAMES


class Case(NamedTuple):
    """Minutes from 18:00 today (or any time), days to the cut-off, rooms contracted, released, beyond the free rest.

    `before` of -1 is more than the allowance. `then` is what the organiser does on hearing a fee.
    """

    at: int | None
    cut_off: int
    contracted: int
    before: int
    over: int
    then: str = "pays"


CASES = (
    Case(0, 0, contracted=24, before=0, over=0),
    Case(-1, 0, contracted=29, before=2, over=1),
    Case(1, 0, contracted=17, before=0, over=-1),
    Case(None, 6, contracted=44, before=0, over=3),
    Case(None, 9, contracted=40, before=1, over=-1),
    Case(None, 4, contracted=39, before=0, over=4, then="reduces"),
    Case(1, 0, contracted=34, before=1, over=0, then="declines"),
    Case(None, 3, contracted=18, before=-1, over=2),
    Case(0, 0, contracted=48, before=1, over=2, then="declines"),
    Case(None, -3, contracted=21, before=0, over=1),
    Case(-1, 0, contracted=27, before=1, over=1, then="reduces"),
    Case(None, 12, contracted=25, before=2, over=1),
)


@family(goal="give back rooms of a group", traps={"window", "arithmetic", "change_of_mind"})
def group_release(w: HotelWorld) -> Scenario:
    """An organiser returns some of the rooms held for a group and is sure that half of them can go for free.

    Trap: a fifth of the contracted rooms is free, rounded down and less what went back before, and only until 18:00 on
    the cut-off date. A block of almost the same name belongs to somebody else.
    Right end: the rooms released, with one charge on the master folio if any is due; fewer rooms, or none, if the
    organiser thinks again on hearing the fee.
    """
    case = w.cycle(*CASES)
    group, other, own, wants = place(w, case)
    block, guest = group.block, group.organiser

    def fee(rooms: int, before: int = block.released) -> int:
        size = (block.contracted, before, rooms, group.nights, block.room_price_cents)
        return policy.group_release_fee(*size, w.now, date.fromisoformat(block.cutoff_date))

    free = max((rooms for rooms in range(wants + 1) if not fee(rooms)), default=0)
    rooms = {"pays": wants, "reduces": free, "declines": 0}[case.then] if fee(wants) else wants
    due = fee(rooms) if rooms else 0
    touch = writes(GroupBlock, id=block.id) if rooms else ()
    plain = policy.identity_verdict([policy.IdentityCheck(2, 2)], "group_block") == "passed"
    facts = ("email", "phone") if plain else ("email", "phone", "birth_date")
    who = common.identify_by_search(guest, facts=facts, then=touch)
    named = w.chance(0.5)
    looks: list[Step] = [
        *(() if named else (ask("group"),)),
        call("search_group_blocks", name=block.name),
        call("get_group_block", group_block_id=block.id, save="block"),
    ]
    seen = (use("block", "cutoff_date"), use("block", "room_price"))
    given = release(group, rooms, *seen)
    bill = common.charge("group_release", due, *seen, folio=group.folio) if due else common.Part()
    done = given + bill if rooms else common.Part(expects=(kept("block kept", GroupBlock, block.id),))
    end = common.tail(
        guest, None, "group_block", "within_policy" if rooms else "guest_declined", found=() if rooms else seen
    )
    solution = [*who.steps, *looks, question(wants, free, fee(wants)), *done.steps, *end.steps, outcome(rooms, due)]
    expects = [*who.expects, *done.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, *(step for part in middle for step in part.steps), *end.steps]

    def billed(cents: int, part: common.Part = given) -> list[Step]:
        return script(part, common.charge("group_release", cents, folio=group.folio) if cents else common.Part())

    room, every = group.nights * block.room_price_cents, release(group, wants)
    wrong = common.common_mistakes(solution, expects)
    wrong["names the organiser's own booking in the ticket"] = mistake(
        common.with_arguments(solution, "open_ticket", booking_id=own.id), "ticket", "omission"
    )
    if not rooms:
        wrong["releases all the same"] = mistake(billed(fee(wants), every), ("block kept", NOTHING_ELSE))
        wrong["releases without the fee"] = mistake(script(every), "block kept")
    else:
        wrong["releases rooms of the other group"] = mistake(
            script(release(other, rooms), bill), ("block", NOTHING_ELSE)
        )
        wrong["releases one room more"] = mistake(script(release(group, rooms + 1), bill), "block")
    if rooms and rooms < wants:
        wrong["releases all that was asked first"] = mistake(script(every), "block")
    if rooms and not due:
        wrong["charges half of the price"] = mistake(billed(policy.percent(rooms * room, 50)), NOTHING_ELSE)
    if due:
        wrong["posts no charge"] = mistake(script(given), CHARGE, "omission")
        wrong["charges the whole price"] = mistake(billed(rooms * room), CHARGE)
        wrong["gives one room more for free"] = mistake(billed(due - policy.percent(room, 50)), CHARGE)
        wrong["charges the organiser's own folio"] = mistake(
            script(given, common.charge("group_release", due, folio=own.folio)), CHARGE
        )
    if due and fee(rooms, 0) != due:
        wrong["forgets the rooms released before"] = mistake(billed(fee(rooms, 0)), CHARGE)
    return Scenario(
        customer=persona(group, wants, named, case.then if fee(wants) else "pays"),
        solution=solution,
        expects=expects,
        obeys=[*looks, *every.steps, *common.served(guest, None, "group_block")],
        mistakes=wrong,
        about=[guest.id],
        cell=case.then if rooms < wants else "pays" if due else "free",
        facts={"wants": wants, "free": free, "fee": fee(wants), "released": rooms, "charged": due},
    )


NOTHING_ELSE = common.NOTHING_ELSE
CHARGE = "group release"


def place(w: HotelWorld, case: Case) -> tuple[Block, Block, Stay, int]:
    """The organiser's block, another one of nearly the same name, the organiser's own booking, and the rooms to go."""
    if case.at is not None:
        w.set_time(*divmod(18 * 60 + case.at, 60))
    contracted, fifth = case.contracted, case.contracted // 5
    before = case.before if case.before >= 0 else fifth + 2
    guest = w.guest(tier=w.pick("standard", "silver"))
    name = w.pick(*(name for name in GROUP_NAMES if not w.all(GroupBlock, name=name)))
    cut_off, nights = w.day(case.cut_off), w.between(2, 4)
    group = w.group_block(
        guest, name=name, contracted=contracted, released=before, picked_up=3, cutoff_date=cut_off, nights=nights
    )
    other = w.group_block(w.lookalike(guest), name=f"{name} {w.pick('II', 'Friends', 'Extra')}", contracted=contracted)
    own = w.booking(guest, "GRP", group=group, arrival=group.block.arrival, nights=nights)
    return group, other, own, max(fifth - before, 0) + case.over


def release(group: Block, rooms: int, *seen: object) -> common.Part:
    """Give rooms of a block back."""
    block = group.block
    step = call("release_group_rooms", group_block_id=block.id, rooms=derived(rooms, *seen), earns="block")
    ends = {"held": block.held - rooms, "released": block.released + rooms}
    return common.Part((step,), (changed("block", GroupBlock, block.id, **ends),))


def persona(group: Block, wants: int, named: bool, then: str) -> Persona:
    """The organiser, who does not expect to pay."""
    fewer = "That is too much. Then give back only as many as are free of charge."
    none = "I will not pay for that. Then we keep the rooms, all of them."
    offers = {
        "pays": (),
        "reduces": (Offer("the free ones", ("free",), says=("Then only the free ones, please.", fewer)),),
        "declines": (Offer("fewer", ("free",), answer="decline", says=("No, it is all of them or none. " + none)),),
    }[then]
    consents = {"pays": True, "reduces": Consent(up_to=0, says_no=fewer), "declines": Consent(up_to=0, says_no=none)}
    about = " of {group}" if named else " of my group"
    return Persona(
        opens=(
            f"I organise a group with you, and {{rooms}} rooms{about} are too many. Please take them back.",
            f"We are fewer than planned: {{rooms}} rooms{about} have to go. By contract half of them can go free.",
        ),
        knows=common.persona_facts(group.organiser, group=group.block.name, rooms=str(wants)),
        mistaken={"rooms": ("I see.", "Okay.")},
        offers=offers,
        consents=consents[then],
        presses=["But our contract lets me give back half of the rooms for free."] if then != "declines" else (),
        gives_in="Well, if that is what it says.",
        settles_for={"pays": "the rooms given back", "reduces": "the free ones", "declines": "keeping the rooms"}[then],
    )


def question(wants: int, free: int, fee: int) -> Step:
    """What the organiser is asked before anything is released."""
    if not fee:
        return say(f"These {wants} rooms can go for free. Shall I release them?")
    price = f"Releasing {wants} rooms costs {common.dollars(fee)}."
    less = f" You could give back {free} rooms for free." if free else ""
    return say(f"{price}{less} Shall I release all {wants} for that price?")


def outcome(rooms: int, due: int) -> Step:
    """What the organiser is told at the end."""
    if not rooms:
        return say("All rooms stay held for the group; nothing was changed.")
    price = f"{common.dollars(due)} has been charged to the group's folio" if due else "nothing was charged"
    return say(f"I have released {rooms} rooms, and {price}.")
