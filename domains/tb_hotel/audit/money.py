"""Money held against what was due: amounts, the payments they are taken from (3.4), folios, money without a cause."""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring import show_money
from tb_envs.authoring.audit import Violation

from .episode import Episode
from .reckoning import captured, folios, newest_first
from .records import Act, ActKind, owner_of

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


def shares_taken(refunds: list[Act]) -> dict[str, int]:
    """Payment → what these refunds took from it."""
    taken: dict[str, int] = {}
    for act in refunds:
        payment = act.change.after["payment_id"]
        taken[payment] = taken.get(payment, 0) + act.cents
    return taken


def refunds_match(
    episode: Episode, section: str, booking_id: str, reason: str, due: int, *more: int
) -> Iterator[Violation]:
    """The refunds of one booking for one reason come to `due` (or to one of `more`), the newest payment first.

    After a tool has failed twice less may have been returned, but of the right payments (11.1).
    """
    made = episode.refunds(booking_id, reason)
    total, taken = sum(act.cents for act in made), shares_taken(made)
    complete = total in (due, *more)
    if not complete and not ("refund_payment" in episode.given_up and total < due):
        yield Violation(
            section, f"refunded {show_money(total)} ({reason}) where {show_money(due)} was due for {booking_id}"
        )
        return
    state = episode.before(made[0].call) if made else episode.end
    everywhere = [folio["id"] for folio in folios(state, booking_id)]
    on_these = [state.row("payments", payment)["folio_id"] for payment in taken]
    cents = total if complete else due
    ways = [newest_first(state, captured(state, keys), cents, taken) for keys in (everywhere, on_these)]
    if complete and taken not in ways:
        yield Violation("3.4", f"the refund for {booking_id} was not taken from the newest payments: {taken}")
    if not complete and not any(taken.items() <= way.items() for way in ways):
        yield Violation("11.1", f"after the tool had failed, {booking_id} was refunded another way: {taken}")


def charge_matches(episode: Episode, section: str, act: Act, kind: str, due: int, *more: int) -> Iterator[Violation]:
    """An act comes with one charge of `due` (or one of `more`) on the right folio, or with none if nothing is due."""
    posted = [item for item in episode.of("charge") if item.reason == kind and _belongs(episode, item, act)]
    amounts = [item.cents for item in posted]
    right = amounts in [[cents] if cents else [] for cents in (due, *more)]
    if not right and (amounts or "post_charge" not in episode.given_up):
        found = " and ".join(map(show_money, amounts)) or "nothing"
        yield Violation(section, f"charged {found} ({kind}) where {show_money(due)} was due for {act.change.key}")
    wanted = "group_master" if act.kind == "release" else "guest"
    for item in posted:
        folio = episode.end.row("folios", item.change.after["folio_id"])
        if folio["kind"] != wanted:
            yield Violation(section, f"{kind} was posted on the {folio['kind']} folio of {act.change.key}")


def _belongs(episode: Episode, charge: Act, act: Act) -> bool:
    owner = owner_of(episode.end, charge.change.after["folio_id"])
    return act.change.key in (owner.booking_id, owner.group_block_id)


def money_has_a_cause(episode: Episode) -> Iterator[Violation]:
    """Policy 1.6, 1.7: money that belongs to a change of a booking is moved only when that change was made."""
    for act in episode.of("refund"):
        needed = RETURN_NEEDS.get(act.reason)
        if act.booking_id is None and act.reason != "double_payment":
            yield Violation("1.7", f"refunded {show_money(act.cents)} ({act.reason}) on a payment of no booking")
        elif needed and not any(other.change.key == act.booking_id for other in episode.of(needed)):
            yield Violation(
                "1.7", f"refunded {show_money(act.cents)} ({act.reason}), but {act.booking_id} was not changed so"
            )
    for act in episode.of("charge"):
        needed = CHARGE_NEEDS.get(act.reason)
        if needed is None:
            yield Violation("1.7", f"a charge of kind {act.reason} is never posted on request")
        elif not any(_belongs(episode, act, other) for other in episode.of(needed)):
            yield Violation("1.7", f"charged {show_money(act.cents)} ({act.reason}) though nothing was changed for it")
