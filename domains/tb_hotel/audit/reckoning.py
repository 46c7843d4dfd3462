"""Section 3: time, notice, rounding, tiers, what was paid, how long a claim is open. Facts for all other sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tb_envs.parts.reading import Row, State, plain

CHECK_IN_HOUR = 15
CLAIM_DAYS = {
    "service_complaint": 7,
    "charge_dispute": 14,
    "folio_split": 30,
    "corporate_rate": 60,
    "loyalty": 180,
}


def hours(number: int) -> timedelta:
    """So many hours."""
    return timedelta(hours=number)


def moment(text: str) -> datetime:
    """A stored instant."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def on_day(day: str, hour: int, days: int = 0) -> datetime:
    """A full hour of a stored day, or of a day so many days later."""
    return datetime.fromisoformat(day).replace(hour=hour, tzinfo=UTC) + timedelta(days=days)


def days_between(first: str, last: str) -> int:
    """Days from one stored day to another."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def check_in(booking: Row) -> datetime:
    """Policy 3.2: check-in starts at 15:00 on the arrival date."""
    return on_day(booking["arrival"], CHECK_IN_HOUR)


def notice(booking: Row, at: datetime) -> timedelta:
    """Policy 3.2: the time from the request to check-in."""
    return check_in(booking) - at


def percent_of(cents: int, percent: int) -> int:
    """Policy 3.3: a percentage, rounded half up to the cent."""
    return (cents * percent + 50) // 100


def less_percent(cents: int, percent: int) -> int:
    """Policy 3.3: the price that remains after a discount, rounded half up to the cent."""
    return percent_of(cents, 100 - percent)


def plan(state: State, booking: Row) -> str:
    """The kind of the booking's rate plan."""
    return state.row("rate_plans", booking["rate_plan_id"]).get("kind", "")


def account(state: State, guest_id: str) -> Row:
    """A guest's loyalty account; empty without one."""
    return next(iter(state.where("loyalty_accounts", guest_id=guest_id)), {})


def tier(state: State, guest_id: str) -> str:
    """Policy 3.7: the tier in the loyalty account, else standard."""
    return account(state, guest_id).get("tier", "standard")


def nights(state: State, booking_id: str) -> list[Row]:
    """The nights a booking holds, in order."""
    return sorted(state.where("booking_nights", booking_id=booking_id, status="booked"), key=lambda row: row["night"])


def first_night(state: State, booking_id: str) -> int:
    """The price of the first night, also of a stay whose nights were released."""
    booking = state.row("bookings", booking_id)
    held = nights(state, booking_id) or [
        row
        for row in state.where("booking_nights", booking_id=booking_id)
        if booking["arrival"] <= row["night"] < booking["departure"]
    ]
    return min(held, key=lambda row: row["night"])["price_cents"] if held else 0


def folios(state: State, booking_id: Any) -> list[Row]:
    """The folios of a booking."""
    return state.where("folios", booking_id=booking_id) if booking_id else []


def captured(state: State, folio_ids: Iterable[str]) -> list[Row]:
    """Captured payments on these folios, the newest first."""
    wanted = set(folio_ids)
    found = [row for row in state.where("payments", status="captured") if row["folio_id"] in wanted]
    return sorted(found, key=lambda row: row["paid_at"], reverse=True)


def refunded(state: State, payment_id: str, reason: str = "") -> int:
    """What was returned of a payment."""
    rows = state.where("refunds", payment_id=payment_id)
    return sum(row["amount_cents"] for row in rows if not reason or row["reason"] == reason)


def paid(state: State, booking_id: str) -> int:
    """Policy 3.4: captured payments on the folios of the booking less the refunds already made on them."""
    payments = captured(state, (folio["id"] for folio in folios(state, booking_id)))
    return sum(row["amount_cents"] - refunded(state, row["id"]) for row in payments)


def refunded_before(state: State, booking_id: str, reason: str) -> int:
    """What was returned on a booking for one reason so far."""
    payments = captured(state, (folio["id"] for folio in folios(state, booking_id)))
    return sum(refunded(state, row["id"], reason) for row in payments)


def newest_first(state: State, payments: Iterable[Row], cents: int, taken: Mapping[str, int]) -> dict[str, int]:
    """Policy 3.4: payment → what a refund of `cents` takes from it; of equally new payments any may come first."""
    order = sorted(payments, key=lambda row: (row["paid_at"], taken.get(row["id"], 0)), reverse=True)
    shares: dict[str, int] = {}
    for row in order:
        share = min(cents, row["amount_cents"] - refunded(state, row["id"]))
        if share > 0:
            shares[row["id"]] = share
            cents -= share
    return shares


def in_time(booking: Row, topic: str, now: datetime) -> bool:
    """Policy 3.5: whether a claim of this topic is still open, the last day included."""
    allowed = CLAIM_DAYS.get(topic)
    return allowed is None or days_between(booking["departure"], now.date().isoformat()) <= allowed


def letters_apart(one: str, other: str) -> int:
    """Article on names: letters added, taken away or replaced; capitals, blanks and accents do not count."""
    first, second = plain(one).replace(" ", ""), plain(other).replace(" ", "")
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        above = [i]
        for j, right in enumerate(second, 1):
            above.append(min(row[j] + 1, above[j - 1] + 1, row[j - 1] + (left != right)))
        row = above
    return row[-1]
