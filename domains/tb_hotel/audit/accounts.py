"""Sections 8 and 9: missing loyalty nights, corporate rate, release of group rooms, relocation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State

from .before_arrival import public_prices
from .episode import Episode
from .money import charge_matches, refunds_match
from .reckoning import (
    account,
    days_between,
    first_night,
    hours,
    in_time,
    less_percent,
    nights,
    notice,
    on_day,
    paid,
    percent_of,
    plan,
    refunded_before,
)
from .records import Act

POINTS_PER_DOLLAR, JOINED_WITHIN_DAYS = 10, 30
SMALLEST_CORRECTION = 100
FREE_SHARE, EARLY_RELEASE, LATE_RELEASE, CUT_OFF_HOUR = 20, 50, 80, 18
RELOCATION_POINTS = {"standard": 5000, "silver": 7500, "gold": 10000, "platinum": 15000}  # the current article


class Missing(NamedTuple):
    """Nights and points not yet credited."""

    nights: int
    points: int


def missing_loyalty(state: State, booking: Row) -> Missing | None:
    """Policy 8.1: what was earned less what is posted; None for a stay that earns nothing."""
    member = account(state, booking["guest_id"])
    if booking["status"] != "checked_out" or booking["channel"] not in ("direct", "corporate") or not member:
        return None
    if days_between(booking["arrival"], member["joined_on"]) > JOINED_WITHIN_DAYS:
        return None
    held = nights(state, booking["id"])
    points = POINTS_PER_DOLLAR * (sum(row["price_cents"] for row in held) // 100)
    posted = state.where("loyalty_entries", booking_id=booking["id"], status="posted")
    return Missing(
        max(0, len(held) - sum(row["nights"] for row in posted)),
        max(0, points - sum(row["points"] for row in posted)),
    )


def loyalty_corrections(episode: Episode) -> Iterator[Violation]:
    """Policy 8.1: one correction of exactly what is missing, in time."""
    for act in episode.of("entry"):
        if act.reason != "correction":
            continue
        state, booking = episode.before(act.call), episode.start.row("bookings", act.booking_id)
        missing = missing_loyalty(state, booking)
        if missing is None:
            yield Violation("8.1", f"points were credited for {booking['id']}, a stay that earns nothing")
        elif (given := Missing(act.change.after["nights"], act.change.after["points"])) != missing:
            yield Violation("8.1", f"credited {given} where {missing} was due for {booking['id']}")
        if not in_time(booking, "loyalty", episode.now):
            yield Violation("3.5", f"points for {booking['id']} were claimed more than 180 days after departure")


def corporate_due(state: State, booking: Row) -> int:
    """Policy 8.2: per night inside the validity, what was paid above the public price less the discount."""
    company = state.row("corporate_accounts", booking["corporate_account_id"])
    if not company or plan(state, booking) == "corporate":
        return 0
    due = 0
    for row in nights(state, booking["id"]):
        if company["valid_from"] <= row["night"] <= company["valid_until"]:
            for price in public_prices(state, booking["property_id"], booking["room_type_id"], [row["night"]]):
                over = row["price_cents"] - less_percent(price, company["discount_percent"])
                due += over if over >= SMALLEST_CORRECTION else 0
    return due


def corporate_rates(episode: Episode) -> Iterator[Violation]:
    """Policy 8.2: the sum of the nights overpaid, in time."""
    for key, act in episode.first_refunds("corporate_rate"):
        state, booking = episode.before(act.call), episode.start.row("bookings", key)
        due = max(0, corporate_due(state, booking) - refunded_before(state, key, "corporate_rate"))
        yield from refunds_match(episode, "8.2", key, "corporate_rate", due, min(due, paid(state, key)))
        if not in_time(booking, "corporate_rate", episode.now):
            yield Violation("3.5", f"the corporate rate of {key} was claimed more than 60 days after departure")


def release_fee(block: Row, rooms: int, at: datetime) -> int:
    """Policy 9.1: the fee for giving back rooms."""
    price = block["room_price_cents"] * days_between(block["arrival"], block["departure"])
    if at > on_day(block["cutoff_date"], CUT_OFF_HOUR):
        return percent_of(rooms * price, LATE_RELEASE)
    free = max(0, block["contracted"] * FREE_SHARE // 100 - block["released"])
    return percent_of(max(0, rooms - free) * price, EARLY_RELEASE)


def releases(episode: Episode) -> Iterator[Violation]:
    """Policy 9.1: group rooms are released at the fee of the block."""
    for act in episode.of("release"):
        block = act.change.before
        rooms = act.change.after["released"] - block["released"]
        yield from charge_matches(episode, "9.1", act, "group_release", release_fee(block, rooms, episode.now))


def group_travellers(episode: Episode) -> Iterator[Violation]:
    """Policy 9.1: a single booking picked up from a block is not cancelled or changed for the traveller."""
    for act in episode.of("cancel", "move", "upgrade", "rename", "shorten", "void"):
        of_group = plan(episode.start, act.change.before) == "group"
        if of_group and act.topic != "relocation":
            yield Violation("9.1", f"{act.change.key} belongs to a group block and was changed ({act.kind})")


class Sister(NamedTuple):
    """Where a guest is relocated to."""

    property_id: str
    room_type_id: str


def is_unusable(state: State, booking: Row) -> bool:
    """Policy 9.2: whether the guest's room is blocked as unusable during the stay."""
    if not booking["room_id"]:
        return False
    blocks = state.where("room_blocks", room_id=booking["room_id"], severity="unusable")
    return any(row["first_night"] < booking["departure"] and row["last_night"] >= booking["arrival"] for row in blocks)


def is_free(state: State, property_id: str, room_type_id: str, booking: Row) -> bool:
    """Whether a room of a category is free on every night of the stay."""
    rows = state.where("inventory_nights", property_id=property_id, room_type_id=room_type_id)
    wanted = [row for row in rows if booking["arrival"] <= row["night"] < booking["departure"]]
    complete = len(wanted) == days_between(booking["arrival"], booking["departure"])
    return complete and all(row["free"] > 0 for row in wanted)


def relocates(state: State, booking: Row) -> bool:
    """Policy 9.2: whether the guest is to be relocated at all."""
    own = (booking["property_id"], booking["room_type_id"])
    return is_unusable(state, booking) and not is_free(state, *own, booking)


def sister_of(state: State, booking: Row) -> Sister | None:
    """Policy 9.2: the sister property in the city, in the same category or else in the next better one."""
    city = state.row("properties", booking["property_id"]).get("city")
    houses = [row["id"] for row in state.where("properties", city=city) if row["id"] != booking["property_id"]]
    rank = state.row("room_types", booking["room_type_id"]).get("rank", 0)
    better = sorted((row["rank"], key) for key, row in state.rows("room_types").items() if row["rank"] >= rank)
    for _, category in better:
        for house in houses:
            if is_free(state, house, category, booking):
                return Sister(house, category)
    return None


def relocations(episode: Episode) -> Iterator[Violation]:
    """Policy 9.2: relocated with the first night and points, or cancelled with everything returned."""
    for act in episode.of("relocate"):
        state, booking, key = episode.before(act.call), act.change.before, act.change.key
        if not relocates(state, booking):
            yield Violation("9.2", f"{key} was relocated though its room can be used or another is free")
        category = episode.arguments(act.call).get("room_type_id", "")
        wanted = sister_of(state, booking)
        if wanted is None or act.change.after["relocated_to"] != wanted.property_id:
            yield Violation("9.2", f"{key} was relocated to {act.change.after['relocated_to']}, not to {wanted}")
        elif category and category != wanted.room_type_id:
            yield Violation("9.2", f"{key} was relocated in {category} where {wanted.room_type_id} was due")
        night = first_night(state, key)
        yield from refunds_match(episode, "9.2", key, "relocation", night, min(night, paid(state, key)))
        yield from _points(episode, act, state)
    for act in episode.of("cancel"):
        if act.topic == "relocation":
            state, key = episode.before(act.call), act.change.key
            if not relocates(state, act.change.before):
                yield Violation("9.2", f"{key} was cancelled as a declined relocation, but there was none to offer")
            yield from refunds_match(episode, "9.2", key, "cancellation", paid(state, key))
        elif episode.ticket.get("topic") == "relocation" and relocates(episode.before(act.call), act.change.before):
            yield Violation("9.2", f"{act.change.key} was cancelled at the guest's request where a relocation was due")


def _points(episode: Episode, act: Act, state: State) -> Iterator[Violation]:
    booking = act.change.before
    member = account(state, booking["guest_id"])
    due = RELOCATION_POINTS[member["tier"]] if member else 0
    if notice(booking, episode.now) >= hours(24):
        due //= 2
    entries = [
        entry for entry in episode.of("entry") if entry.reason == "relocation" and entry.booking_id == booking["id"]
    ]
    given = [Missing(entry.change.after["nights"], entry.change.after["points"]) for entry in entries]
    if given != ([Missing(0, due)] if due else []) and (given or not episode.given_up):
        yield Violation("9.2", f"credited {given} where {due} points were due for {booking['id']}")


def entries_have_a_cause(episode: Episode) -> Iterator[Violation]:
    """Policy 9.2: points for a relocation only with a relocation."""
    for act in episode.of("entry"):
        moved = [other for other in episode.of("relocate") if other.change.key == act.booking_id]
        if act.reason == "relocation" and not moved:
            yield Violation("9.2", f"points for a relocation of {act.booking_id}, which was not relocated")
