"""The builder's clock: when a task begins, and moments and days before and after it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from tb_envs.authoring import DomainError, World, parse_time, show_time


class Clock(World):
    """Moments and days, as text."""

    def set_time(self, hour: int, minute: int = 0) -> None:
        """Let the task begin at this time of day. To be called before any row is placed."""
        if self.placed or self.edited:
            raise DomainError("set the clock before placing rows: their dates hang on it")
        moment = datetime.combine(self.today, time(hour, minute), self.now.tzinfo)
        self.now = moment if moment >= self.now else moment + timedelta(days=1)

    def ago(self, days: int = 0, *, hours: int = 0, minutes: int | None = None) -> str:
        """A moment before now.

        With `hours` or `minutes` it is exact to the minute. With `days` alone it lies on that date, at a time of day
        not later than now's, so that dates and full days give the same count.
        """
        if hours or minutes is not None:
            return self.moment(days=-days, hours=-hours, minutes=-(minutes or 0))
        past = self.now.hour * 60 + self.now.minute
        early = min(6 * 60, past)
        return self.moment(days=-days, minutes=-self.between(0, past - early))

    def after(self, moment: str, **offset: float) -> str:
        """A moment later than another one (``minutes=``, ``hours=``, ``days=``)."""
        return show_time(parse_time(moment) + timedelta(**offset))

    def workday(self, offset: int, start: str | None = None) -> str:
        """The date `offset` working days after (or before, if negative) a date, which is today if not given."""
        day = date.fromisoformat(start) if start else self.today
        step = timedelta(days=1 if offset > 0 else -1)
        left = abs(offset)
        while left:
            left -= (day if offset < 0 else day + step).weekday() < 5
            day += step
        while offset < 0 and day.weekday() > 4:
            day += step
        return day.isoformat()

    def birthday(self, years: int, in_days: int = 0) -> str:
        """The birth date of somebody who is `years` old in so many days from today."""
        day = self.today + timedelta(days=in_days)
        if (day.month, day.day) == (2, 29):
            raise DomainError("this birthday would fall on 29 February: choose another day")
        return day.replace(year=day.year - years).isoformat()

    def odd_cents(self, low: int, high: int) -> int:
        """An amount between two bounds with odd cents, so that half of it is no whole cent."""
        return self.between(low // 2, (high - 1) // 2) * 2 + 1

    # -- inside

    def _digits(self, pattern: str) -> str:
        return "".join(str(self.between(0, 9)) if sign == "#" else sign for sign in pattern)
