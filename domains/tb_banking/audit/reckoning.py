"""Chapter 3 and the facts that other chapters share: days, working days, rounding, segment, what a payment is.

Refuses to judge; each function is one phrase of the handbook.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

from tb_envs.parts.reading import Row, State

LIVE_DISPUTES = ("filed", "contested", "escalated")
YEAR = 365


def usd(cents: int) -> str:
    """Integer cents as a reader writes them."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def moment(text: str) -> datetime:
    """A stored instant."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def day(text: str) -> date:
    """The day of a stored day or instant."""
    return date.fromisoformat(text[:10])


def days_since(text: str, now: datetime) -> int:
    """Handbook 3.1: calendar days from a stored day or instant to today; "in 60 days" is up to 60."""
    return (now.date() - day(text)).days


def days_until(text: str, now: datetime) -> int:
    """Calendar days from today to a stored day."""
    return -days_since(text, now)


def age(text: str, now: datetime) -> timedelta:
    """How long ago a stored instant was."""
    return now - moment(text)


def working_days(first: date, last: date) -> int:
    """Handbook 3.1: Monday to Friday from one day to another; the day after the first is day one."""
    return sum((first + timedelta(days=n)).weekday() < 5 for n in range(1, (last - first).days + 1))


def working_days_since(text: str, now: datetime) -> int:
    """Working days from a stored day or instant to today."""
    return working_days(day(text), now.date())


def rounded(numerator: int, denominator: int) -> int:
    """Handbook 3.2: a quotient, rounded half up."""
    return (2 * numerator + denominator) // (2 * denominator)


def percent_of(cents: int, percent: int) -> int:
    """Handbook 3.2: a percentage, rounded half up to the cent."""
    return rounded(cents * percent, 100)


def holder(state: State, account_id: str) -> Row:
    """The customer who holds an account."""
    return state.row("customers", state.row("accounts", account_id).get("customer_id"))


def segment(state: State, account_id: str) -> str:
    """Handbook 3.3: the segment of the account's holder."""
    return str(holder(state, account_id).get("segment", ""))


def accounts_of(state: State, customer_id: str) -> list[str]:
    """The accounts that a customer holds."""
    return [row["id"] for row in state.where("accounts", customer_id=customer_id)]


def of_customer(state: State, table: str, customer_id: str, **values: object) -> list[Row]:
    """Rows about any account that a customer holds."""
    return [row for key in accounts_of(state, customer_id) for row in state.where(table, account_id=key, **values)]


def is_minor(customer: Row, now: datetime) -> bool:
    """Handbook 2.5: whether the 18th birthday is still to come; on the birthday it is not."""
    born, today = day(customer["birth_date"]), now.date()
    return (today.year - born.year, today.month, today.day) < (18, born.month, born.day)


def is_card_payment(entry: Row) -> bool:
    """A payment made with a card."""
    return bool(entry) and entry["kind"] == "card_payment"


def is_posted(entry: Row) -> bool:
    """Whether an entry is posted."""
    return bool(entry) and entry["status"] == "posted"


def same_payment(one: Row, other: Row) -> bool:
    """Handbook 4.6: two posted payments of the same card, merchant and amount."""
    alike = all(one[name] == other[name] for name in ("card_id", "merchant_id", "amount_cents", "kind"))
    return alike and one["id"] != other["id"] and is_posted(one) and is_posted(other)


def open_alerts(state: State, **values: object) -> list[Row]:
    """Alerts that wait for an answer."""
    return state.where("alerts", status="open", **values)


def live_dispute(state: State, entry_id: str) -> Row:
    """The dispute about a payment that is not over; empty without one."""
    rows = state.where("disputes", entry_id=entry_id)
    return next((row for row in rows if row["stage"] in LIVE_DISPUTES), {})
