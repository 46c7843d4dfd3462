"""Section 6: early departure, late check-out, service complaint, no-show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State, plain

from .before_arrival import cancellation_fee
from .episode import Episode
from .money import charge_matches, refunds_match
from .reckoning import (
    check_in,
    days_between,
    in_time,
    moment,
    nights,
    on_day,
    paid,
    percent_of,
    plan,
    refunded_before,
    tier,
)
from .records import Act

HOUR_PRICE = 2000  # the current article on late check-out
CHECK_OUT, LATEST, LATEST_IF_NEEDED = 11, 18, 13
FREE_UNTIL = {"gold": 13, "platinum": 16}
SHARE = {"minor": 10, "major": 30, "unusable": 100}
GOODWILL_DAYS = 365
_ABSENT = (
    r"come|coming|arrive|arriving|travel|travelling|stay|staying|be there|be with you|check(ing)? in|show(ing)? up"
    r"|(make|use|need|take) (it|the|this|our|my)"
)
_NOT_COMING = re.compile(
    rf"(?<!may )(?<!might )(?<!could )(\bnot|n't|\bcannot|\bunable to|\bno longer)( \w+){{0,3}} ({_ABSENT})\b"
    r"(?! (\w+ ){0,4}(before|until|till|earlier|on time)\b)"
    r"|(?<!not )(?<!n't )(?<!without )\bcancel(ling)? (it|the|this|my|our|that)\b"
    r"|\b(please|must|have to|need to|want to|wish to|like to) cancel\b"
)


def early_return(state: State, booking: Row, departure: str, at: datetime) -> int:
    """Policy 6.1: what is returned of the unused nights, never more than was paid."""
    unused = [row["price_cents"] for row in nights(state, booking["id"]) if row["night"] >= departure]
    match plan(state, booking):
        case "flexible" | "corporate":
            told_early = at <= on_day(departure, 12, days=-1)
            back = sum(unused if told_early else unused[1:])
        case "semi_flexible":
            back = sum(percent_of(price, 50) for price in unused[1:])
        case _:
            back = 0
    return min(back, paid(state, booking["id"]))


def early_departures(episode: Episode) -> Iterator[Violation]:
    """Policy 6.1: the stay of a guest in house is shortened and the unused nights are returned by plan."""
    for act in episode.of("shorten"):
        due = early_return(episode.before(act.call), act.change.before, act.change.after["departure"], episode.now)
        yield from refunds_match(episode, "6.1", act.change.key, "early_departure", due)


def room_needed(state: State, booking: Row) -> bool:
    """Policy 6.2: whether another confirmed booking arrives in the room on the departure date."""
    if not booking["room_id"]:
        return False
    others = state.where("bookings", room_id=booking["room_id"], arrival=booking["departure"], status="confirmed")
    return any(row["id"] != booking["id"] for row in others)


def late_price(state: State, booking: Row, hour: int) -> int:
    """Policy 6.2: the price of a departure at this hour."""
    free = FREE_UNTIL.get(tier(state, booking["guest_id"]), CHECK_OUT)
    return max(0, hour - free) * HOUR_PRICE


def late_checkouts(episode: Episode) -> Iterator[Violation]:
    """Policy 6.2: the latest hour, and the price of each hour after the free one."""
    for act in episode.of("late"):
        state, booking, hour = episode.before(act.call), act.change.before, act.change.after["late_checkout_hour"]
        latest = LATEST_IF_NEEDED if room_needed(state, booking) else LATEST
        if hour is None or hour > latest:
            yield Violation("6.2", f"late check-out of {act.change.key} was set to {hour}; {latest} is the latest hour")
            continue
        price, agreed = late_price(state, booking, hour), booking["late_checkout_hour"]
        further = price - late_price(state, booking, agreed) if agreed else price
        yield from charge_matches(episode, "6.2", act, "late_checkout", price, max(0, further))


def complaint_due(state: State, booking: Row) -> int:
    """Policy 6.3: for each night with a recorded fault of the room, a share of its price by the worst fault."""
    if not booking["room_id"]:
        return 0
    blocks = state.where("room_blocks", room_id=booking["room_id"])
    due = 0
    for night in nights(state, booking["id"]):
        shares = [SHARE[row["severity"]] for row in blocks if row["first_night"] <= night["night"] <= row["last_night"]]
        due += percent_of(night["price_cents"], max(shares, default=0))
    return due


def complaints(episode: Episode) -> Iterator[Violation]:
    """Policy 6.3: compensation by recorded faults only, in time, as a refund."""
    for act in episode.of("waive"):
        if act.reason == "compensation":
            yield Violation("6.3", f"compensation was taken off charge {act.change.key}; it is returned")
    for key, act in episode.first_refunds("compensation"):
        state, booking = episode.before(act.call), episode.start.row("bookings", key)
        if not in_time(booking, "service_complaint", episode.now):
            yield Violation("3.5", f"the complaint about {booking['id']} came more than 7 days after departure")
        due = max(0, complaint_due(state, booking) - refunded_before(state, booking["id"], "compensation"))
        yield from refunds_match(episode, "6.3", key, "compensation", due, min(due, paid(state, key)))


class NoShow(NamedTuple):
    """What a no-show gets back: by an e-mail in time (less `fee`), or as goodwill."""

    cents: int
    goodwill: bool
    fee: int | None


def no_show_due(state: State, booking: Row, at: datetime) -> NoShow:
    """Policy 6.4: what was paid less the fee at the moment of the e-mail, or half for gold and platinum, or nothing."""
    inbound = state.where("messages", guest_id=booking["guest_id"], booking_id=booking["id"], direction="inbound")
    told = [
        moment(row["sent_at"])
        for row in inbound
        if moment(row["sent_at"]) < check_in(booking) and _NOT_COMING.search(plain(row["body"]))
    ]
    money = paid(state, booking["id"])
    if told:
        fee = cancellation_fee(state, booking, min(told))
        return NoShow(max(0, money - fee), False, fee)
    last = state.row("guests", booking["guest_id"]).get("last_goodwill_on")
    rested = last is None or days_between(last, at.date().isoformat()) >= GOODWILL_DAYS
    if rested and tier(state, booking["guest_id"]) in ("gold", "platinum"):
        return NoShow(percent_of(money, 50), True, None)
    return NoShow(0, False, None)


def no_shows(episode: Episode) -> Iterator[Violation]:
    """Policy 6.4: refunds of no-shows, and the goodwill recorded exactly where one was given."""
    granted: dict[str, Act] = {}
    for key, act in episode.first_refunds("no_show"):
        state, booking = episode.before(act.call), episode.start.row("bookings", key)
        if booking["status"] != "no_show":
            yield Violation("6.4", f"{booking['id']} is {booking['status']}, not a no-show")
        due = no_show_due(state, booking, episode.now)
        yield from refunds_match(episode, "6.4", booking["id"], "no_show", due.cents)
        if due.goodwill:
            granted[booking["guest_id"]] = act
    recorded = {act.change.key: act for act in episode.of("goodwill")}
    for guest_id in granted.keys() - recorded.keys():
        if not episode.given_up:
            yield Violation("6.4", f"goodwill was given to {guest_id} but not recorded")
    for guest_id in recorded.keys() - granted.keys():
        yield Violation("6.4", f"goodwill was recorded for {guest_id} though none was given by 6.4")
    for guest_id in recorded.keys() & granted.keys():
        if recorded[guest_id].call < granted[guest_id].call:
            yield Violation("6.4", f"goodwill was recorded for {guest_id} before the refund")
