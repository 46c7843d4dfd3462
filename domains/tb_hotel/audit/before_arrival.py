"""Sections 4 and 5: cancellation, and changes of dates, category and name before arrival."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State, plain

from .episode import Episode
from .money import charge_matches, refunds_match
from .reckoning import (
    first_night,
    hours,
    less_percent,
    letters_apart,
    moment,
    nights,
    notice,
    paid,
    percent_of,
    plan,
    tier,
)
from .records import Act

MOST_DATE_CHANGES = 2
FREE_LETTERS = 3
SEMI_FEE, NON_REFUNDABLE_FEE, TRANSFER_FEE = 3500, 6000, 2500
UPGRADE_DISCOUNT = {"silver": 10, "gold": 20, "platinum": 35}
LATE_UPGRADE_DISCOUNT = 40
_LEGAL_CHANGE = re.compile(
    r"\b(got|just|am|was|have|were|being) (\w+ )?(married|divorced)\b|\bmarriage\b|\bdivorce\b|\bmaiden name\b"
    r"|\bby court\b|\bcourt (order|decision)\b|\bdeed poll\b|\blegally changed\b|\bchanged my (sur|last )?name\b"
)


def cancellation_fee(state: State, booking: Row, at: datetime) -> int:
    """Policy 4.2 to 4.4: the fee of a booking cancelled at a moment."""
    total, left = booking["total_cents"], notice(booking, at)
    rank = tier(state, booking["guest_id"])
    if at - moment(booking["booked_at"]) <= hours(24) and left >= hours(168):
        return 0
    match plan(state, booking):
        case "flexible":
            free = hours(12) if rank == "platinum" else hours(24)
            return 0 if left >= free else first_night(state, booking["id"])
        case "corporate":
            return 0 if left >= hours(6) else first_night(state, booking["id"])
        case "semi_flexible":
            if left >= hours(72):
                return 0
            half = 25 if rank in ("gold", "platinum") else 50
            return percent_of(total, half) if left >= hours(24) else total
        case _:
            return total


def cancellation_refund(state: State, booking: Row, at: datetime) -> int:
    """Policy 4.5: what was paid less the fee, never below zero."""
    return max(0, paid(state, booking["id"]) - cancellation_fee(state, booking, at))


def cancellations(episode: Episode) -> Iterator[Violation]:
    """Policy 4: a booking is cancelled at the guest's request with the right refund."""
    for act in episode.of("cancel"):
        state, booking = episode.before(act.call), act.change.before
        if booking["status"] != "confirmed":
            yield Violation("4.1", f"{act.change.key} was {booking['status']}; only a confirmed booking is cancelled")
        if act.topic == "cancellation":
            due = cancellation_refund(state, booking, episode.now)
            yield from refunds_match(episode, "4.5", act.change.key, "cancellation", due)
    yield from _named_rooms(episode)


def _named_rooms(episode: Episode) -> Iterator[Violation]:
    """Policy 4.7: of rooms reserved together only those that the guest named are cancelled."""
    gone = {act.change.key: act.change.before for act in episode.of("cancel") if act.topic == "cancellation"}
    everything = re.search(r"\b(all|both|each|every|everything|entire|whole)\b", plain(episode.heard))
    for key, booking in gone.items():
        together = episode.start.where("bookings", reservation_code=booking["reservation_code"], status="confirmed")
        others = [row for row in together if not (everything and row["id"] in gone)]
        better = [row["id"] for row in others if _mentions(episode, row) > _mentions(episode, booking)]
        if better:
            yield Violation("4.7", f"{key} was cancelled, but what the guest said fits {better[0]} better")


def _mentions(episode: Episode, booking: Row) -> int:
    """How many of number, category and name of this booking the guest named."""
    category = episode.start.row("room_types", booking["room_type_id"]).get("name", booking["room_type_id"])
    heard = plain(episode.heard)
    return sum(plain(str(value)) in heard for value in (booking["id"], category, booking["stay_name"]))


def may_move(state: State, booking: Row, at: datetime) -> str:
    """Policy 5.1: why a booking may not be moved; empty if it may."""
    if booking["status"] != "confirmed":
        return f"it is {booking['status']}"
    if booking["change_count"] >= MOST_DATE_CHANGES:
        return f"it was changed {booking['change_count']} times already"
    if plan(state, booking) == "non_refundable" and notice(booking, at) < hours(336):
        return "it is non-refundable and less than 336 hours remain"
    return ""


def move_fee(state: State, booking: Row, at: datetime) -> int:
    """Policy 5.2: the fee for a change of dates."""
    match plan(state, booking):
        case "semi_flexible":
            free = notice(booking, at) >= hours(48) or tier(state, booking["guest_id"]) == "platinum"
            return 0 if free else SEMI_FEE
        case "non_refundable":
            return NON_REFUNDABLE_FEE
        case _:
            return 0


def date_changes(episode: Episode) -> Iterator[Violation]:
    """Policy 5.1 to 5.4: dates, change fee, difference."""
    for act in episode.of("move"):
        state, booking, key = episode.before(act.call), act.change.before, act.change.key
        if problem := may_move(state, booking, episode.now):
            yield Violation("5.1", f"the dates of {key} were changed, but {problem}")
        yield from charge_matches(episode, "5.2", act, "change_fee", move_fee(state, booking, episode.now))
        difference = act.change.after["total_cents"] - booking["total_cents"]
        yield from charge_matches(episode, "5.3", act, "rate_difference", max(0, difference))
        returns = plan(state, booking) in ("flexible", "corporate")
        back = min(max(0, -difference), paid(state, key)) if returns else 0
        yield from refunds_match(episode, "5.3", key, "rate_difference", back)
        posted = [item for item in episode.of("charge") if item.booking_id == key]
        fee, rest = (
            [item.call for item in posted if item.reason == kind] for kind in ("change_fee", "rate_difference")
        )
        if fee and rest and min(rest) < max(fee):
            yield Violation("5.4", f"the difference of {key} was charged before the change fee")


def public_prices(state: State, property_id: str, room_type_id: str, on: list[str]) -> list[int]:
    """Public prices of a category on these nights, as far as the inventory has them."""
    rows = {
        row["night"]: row for row in state.where("inventory_nights", property_id=property_id, room_type_id=room_type_id)
    }
    return [rows[night]["public_price_cents"] for night in on if night in rows]


def upgrade_price(state: State, booking: Row, room_type_id: str, at: datetime) -> int:
    """Policy 5.5: the difference in public prices less the higher of the two discounts."""
    held = [row["night"] for row in nights(state, booking["id"])]
    old = public_prices(state, booking["property_id"], booking["room_type_id"], held)
    new = public_prices(state, booking["property_id"], room_type_id, held)
    discount = UPGRADE_DISCOUNT.get(tier(state, booking["guest_id"]), 0)
    if notice(booking, at) <= hours(48):
        discount = max(discount, LATE_UPGRADE_DISCOUNT)
    return less_percent(max(0, sum(new) - sum(old)), discount)


def is_better(state: State, booking: Row, room_type_id: str) -> bool:
    """Whether a category ranks above the booked one."""
    old, new = (state.row("room_types", key).get("rank", 0) for key in (booking["room_type_id"], room_type_id))
    return new > old


def room_changes(episode: Episode) -> Iterator[Violation]:
    """Policy 5.5: a better category for the same dates."""
    for act in episode.of("upgrade"):
        state, booking, new = episode.before(act.call), act.change.before, act.change.after["room_type_id"]
        if booking["status"] != "confirmed":
            yield Violation("5.5", f"{act.change.key} was {booking['status']}, its category may not be changed")
        if not is_better(state, booking, new):
            yield Violation("5.5", f"{act.change.key} was moved to {new}, which is no better category")
        chosen = _last_choice(episode, act)
        if chosen and new not in chosen:
            yield Violation(
                "1.7", f"{act.change.key} was moved to {new}, the guest's last word was {' or '.join(chosen)}"
            )
        yield from charge_matches(episode, "5.5", act, "upgrade", upgrade_price(state, booking, new, episode.now))


def _last_choice(episode: Episode, act: Act) -> list[str]:
    """Policy 1.7: the categories in the last words of the guest that name another one than the booked."""
    types = {key: plain(row["name"]) for key, row in episode.start.rows("room_types").items()}
    types.pop(act.change.before["room_type_id"], None)
    for text in reversed(episode.heard_before(act.call).split("\n")):
        words = plain(text)
        if found := [key for key, name in types.items() if re.search(rf"\b({name}|{key.lower()})\b", words)]:
            return found
    return []


def says_legal_change(episode: Episode) -> bool:
    """Policy 5.6: whether the guest said that the name changed by marriage, divorce or court."""
    return _LEGAL_CHANGE.search(plain(episode.heard)) is not None


def may_rename(state: State, booking: Row, name: str, at: datetime) -> str:
    """Policy 5.6: why a booking may not carry another name; empty if it may."""
    if letters_apart(booking["stay_name"], name) <= FREE_LETTERS:
        return ""
    if plan(state, booking) not in ("flexible", "corporate"):
        return "the plan allows no transfer"
    return "" if notice(booking, at) >= hours(24) else "less than 24 hours remain for a transfer"


def name_changes(episode: Episode) -> Iterator[Violation]:
    """Policy 5.6: corrections are free, transfers cost a fee, a change by law is not ours."""
    for act in episode.of("rename"):
        state, booking, name = episode.before(act.call), act.change.before, act.change.after["stay_name"]
        if says_legal_change(episode):
            yield Violation("5.6", f"the name on {act.change.key} was changed although it changed by law")
        if problem := may_rename(state, booking, name, episode.now):
            yield Violation("5.6", f"the name on {act.change.key} was changed, but {problem}")
        transfer = letters_apart(booking["stay_name"], name) > FREE_LETTERS
        yield from charge_matches(episode, "5.6", act, "transfer_fee", TRANSFER_FEE if transfer else 0)


def changed_once(episode: Episode) -> Iterator[Violation]:
    """Policy 1.7: a dropped choice leaves no trace, so nothing is changed twice."""
    seen: set[tuple[str, str]] = set()
    for act in episode.acts:
        if act.kind not in ("move", "upgrade", "late", "rename", "shorten", "release", "move_charge", "goodwill"):
            continue
        if (act.kind, act.change.key) in seen:
            yield Violation("1.7", f"{act.change.key} was changed twice ({act.kind})")
        seen.add((act.kind, act.change.key))
