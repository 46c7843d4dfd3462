"""Counting days, working days and minutes from the frozen clock. Decides nothing: what is late, a rule says."""

from calendar import monthrange
from datetime import date, timedelta

from tb_envs.authoring import Db, parse_time

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def day_of(moment: str) -> date:
    """The calendar day of a date or instant."""
    return date.fromisoformat(moment[:10])


def days_between(first: str, last: str) -> int:
    """Calendar days from one day to another, negative if the other is earlier."""
    return (day_of(last) - day_of(first)).days


def days_since(db: Db, moment: str) -> int:
    """Calendar days from a date or instant to today."""
    return days_between(moment, db.today)


def working_days(event: str, last: str) -> int:
    """Days from Monday to Friday after the day of an event, until another day, which counts itself."""
    return _working_days_until(day_of(last)) - _working_days_until(day_of(event))


def _working_days_until(day: date) -> int:
    """All of them up to a day, since Monday the first of January of the year 1."""
    weeks, rest = divmod(day.toordinal(), 7)
    return weeks * 5 + min(rest, 5)


def minutes_between(first: str, last: str) -> int:
    """Minutes that two instants are apart, whichever is earlier; a minute that has begun counts."""
    return -int(-abs((parse_time(last) - parse_time(first)).total_seconds()) // 60)


def minutes_since(db: Db, moment: str) -> int:
    """Minutes from an instant to now; a minute that has begun counts."""
    return minutes_between(moment, db.now_text)


def days_ago(db: Db, days: int) -> str:
    """The date that many days back."""
    return (db.now.date() - timedelta(days=days)).isoformat()


def age_in_years(db: Db, birth_date: str) -> int:
    """Full years since a birth; a birthday counts from its first minute."""
    born, today = day_of(birth_date), db.now.date()
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def month_end(db: Db, years: int) -> str:
    """The last day of the present month, some years on."""
    year, month = db.now.year + years, db.now.month
    return date(year, month, monthrange(year, month)[1]).isoformat()
