"""What was returned and charged, held against what was due: amounts, payments (3.4), folios, and money out of nothing."""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring.audit import Violation

from .reckoning import captured, folios, newest_first, shares_taken, state_before_refunds
from .records import Act, ActKind, Episode, usd

RETURN_NEEDS: dict[str, ActKind] = {
    "cancellation": "cancel",
    "early_departure": "shorten",
    "duplicate_booking": "void",
    "relocation": "relocate",
    "rate_difference": "move",
}
CHARGE_NEEDS: dict[str, ActKind] = {
    "change_fee": "move",
    "rate_difference": "move",
    "upgrade": "upgrade",
    "transfer_fee": "rename",
    "late_checkout": "late",
    "group_release": "release",
}


def refunds_match(
    episode: Episode, section: str, booking_id: str, reason: str, due: int, *more: int
) -> Iterator[Violation]:
    """The refunds of one booking for one reason come to `due` (or to one of `more`), the newest payment first."""
    made = episode.refunds(booking_id, reason)
    total = sum(act.cents for act in made)
    state = state_before_refunds(episode, made)
    taken = shares_taken(made)
    everything = captured(state, (folio["id"] for folio in folios(state, booking_id)))
    folio_ids = {state.row("payments", payment)["folio_id"] for payment in taken}
    if total not in (due, *more) and not ("refund_payment" in episode.given_up and total < due):
        yield Violation(section, f"refunded {usd(total)} ({reason}) where {usd(due)} was due for {booking_id}")
        return
    cents = total if total in (due, *more) else due
    ways = [
        newest_first(everything, state, cents, taken),
        newest_first(captured(state, folio_ids), state, cents, taken),
    ]
    if total == cents and taken not in ways:
        yield Violation("3.4", f"the refund for {booking_id} was not taken from the newest payments: {taken}")
    if total != cents and not any(taken.items() <= way.items() for way in ways):
        yield Violation(
            "11.1", f"after the tool had failed, the refund for {booking_id} was tried another way: {taken}"
        )


def charge_matches(episode: Episode, section: str, act: Act, kind: str, due: int, *more: int) -> Iterator[Violation]:
    """The act is followed by one charge of `due` on the right folio, or by none when nothing is due."""
    posted = [item for item in episode.of("charge") if item.reason == kind and _same_owner(episode, item, act)]
    amounts = [item.cents for item in posted]
    if amounts not in [[cents] if cents else [] for cents in (due, *more)]:
        if amounts or "post_charge" not in episode.given_up:
            found = " and ".join(map(usd, amounts)) or "nothing"
            yield Violation(section, f"charged {found} ({kind}) where {usd(due)} was due for {act.change.key}")
    wanted = "group_master" if act.kind == "release" else "guest"
    for item in posted:
        folio = episode.end.row("folios", item.change.after["folio_id"])
        if folio["kind"] != wanted:
            yield Violation(section, f"{kind} was posted on the {folio['kind']} folio of {act.change.key}")


def _same_owner(episode: Episode, charge: Act, act: Act) -> bool:
    owner = episode.owner(charge.change.after["folio_id"])
    return act.change.key in (owner["booking_id"], owner["group_block_id"])


def money_has_a_cause(episode: Episode) -> Iterator[Violation]:
    """Policy 1.6, 1.7: money that belongs to a change of a booking is moved only when that change was made."""
    for act in episode.of("refund"):
        if act.booking_id is None and act.reason != "double_payment":
            yield Violation("1.7", f"refunded {usd(act.cents)} ({act.reason}) on a payment of no booking")
        needed = RETURN_NEEDS.get(act.reason)
        if needed and not any(other.change.key == act.booking_id for other in episode.of(needed)):
            yield Violation("1.7", f"refunded {usd(act.cents)} ({act.reason}), but {act.booking_id} was not changed so")
    for act in episode.of("charge"):
        needed = CHARGE_NEEDS.get(act.reason)
        if needed is None:
            yield Violation("1.7", f"a charge of kind {act.reason} is never posted on request")
        elif not any(_same_owner(episode, act, other) for other in episode.of(needed)):
            yield Violation("1.7", f"charged {usd(act.cents)} ({act.reason}) though nothing was changed for it")
