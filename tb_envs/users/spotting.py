"""Values in free text, found by their form: e-mails, dates, times, amounts, ids, phones, long numbers.

For words that a language model wrote for a customer. Refuses to know whose values they are, and to find values that
have no form of their own (names, places, reasons): those are compared as words, where they are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from .values import MONTHS, Day, digits, same_day, squash
from .words import cents

Form = Literal["email", "date", "time", "amount", "id", "phone", "digits"]

LONG = 4
"""Digits from which on a bare number is a value and no mere count."""
ROUNDED = 100
"""Cents by which a customer may be off when it names a price."""
_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS) + "|Sept"
_NUMBER_OF = {form.lower(): at for at, name in enumerate(MONTHS, 1) for form in (name, name[:3])} | {"sept": 9}
_MONEY = r"(?:US|C|A)?[$€£¥]|\b(?:USD|EUR|GBP|CHF|CAD|AUD|JPY)"
_UNITS = r"(?:dollars?|euros?|pounds?|bucks|USD|EUR|GBP|CHF|CAD|AUD)\b|[$€£]"
_FIGURE = r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d+(?:[.,]\d{1,2})?(?!\d)"
_RUN = r"\d(?:[ ()./-]{0,2}\d)*"
_FORMS: tuple[tuple[Form, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[\w.+'%-]{1,64}@[\w-]{1,60}(?:\.[\w-]{1,30}){1,4}", re.ASCII)),
    ("date", re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b", re.ASCII)),
    (
        "date",
        re.compile(
            rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<name>{_MONTH})\b\.?(?:,? (?P<y>(?:19|20|21)\d\d)\b)?",
            re.IGNORECASE | re.ASCII,
        ),
    ),
    (
        "date",
        re.compile(
            rf"\b(?P<name>{_MONTH})\.? (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y>(?:19|20|21)\d\d)\b)?",
            re.IGNORECASE | re.ASCII,
        ),
    ),
    ("date", re.compile(r"\b(?P<m>\d{1,2})[/.](?P<d>\d{1,2})[/.](?P<y>\d{4}|\d{2})\b", re.ASCII)),
    ("amount", re.compile(rf"(?:{_MONEY}) ?(?P<n>{_FIGURE})|\b(?P<n2>{_FIGURE}) ?(?:{_UNITS})", re.I | re.A)),
    ("time", re.compile(r"\b(?P<h>[01]?\d|2[0-3])[:h](?P<min>[0-5]\d) ?(?P<half>[ap]\.?m\b\.?)?", re.I | re.A)),
    ("time", re.compile(r"\b(?P<h>1[0-2]|[1-9])\.(?P<min>[0-5]\d) ?(?P<half>[ap]\.?m\b\.?)", re.I | re.A)),
    ("time", re.compile(r"\b(?P<h>1[0-2]|[1-9]) ?(?P<half>[ap]\.?m\b\.?)", re.IGNORECASE | re.ASCII)),
    (
        "id",
        re.compile(
            r"\b[A-Z]{1,6}[-_#/ ]?\d[\dA-Z]{2,14}(?:-[\dA-Z]{1,10})*\b|\b\d{1,4}[A-Z]{1,3}-?\d{2,8}\b", re.ASCII
        ),
    ),
    ("phone", re.compile(r"\+?\(?\d(?:[ ()./-]{0,2}\d){6,16}", re.ASCII)),
    ("digits", re.compile(rf"\b\d{{{LONG},}}\b", re.ASCII)),
)


class Spotted(NamedTuple):
    """One value: its form, where it stands, and what it is compared by."""

    form: Form
    text: str
    start: int
    end: int
    day: Day = (0, 0, 0)
    number: int = 0


def spotted(text: str) -> list[Spotted]:
    """The values in a text, in order, none overlapping."""
    taken = bytearray(len(text))
    out: list[Spotted] = []
    for form, pattern in _FORMS:
        for found in pattern.finditer(text):
            start, end = found.span()
            value = _value(form, found)
            if value is None or any(taken[start:end]):
                continue
            taken[start:end] = b"\1" * (end - start)
            out.append(value)
    return sorted(out, key=lambda value: value.start)


def _value(form: Form, found: re.Match[str]) -> Spotted | None:
    start, end = found.span()
    plain = Spotted(form, found.group(), start, end)
    parts = found.groupdict()
    if form == "date":
        year, day = int(parts["y"] or 0), int(parts["d"])
        month = _NUMBER_OF[parts["name"].lower()] if parts.get("name") else int(parts["m"])
        if not 1 <= day <= 31 or not 1 <= month <= 31:
            return None
        unsure = found.re.pattern.startswith(r"\b(?P<m>")  # 03/04: either may be the month
        return plain._replace(day=(year, -month if unsure else month, day))
    if form == "time":
        hour, half = int(parts["h"]), (parts["half"] or "").lower()
        if half.startswith("p") and hour < 12:
            hour += 12
        elif half.startswith("a") and hour == 12:
            hour = 0
        return plain._replace(number=hour * 60 + int(parts.get("min") or 0))
    if form == "amount":
        value = cents(parts["n"] or parts["n2"])
        return None if value is None else plain._replace(number=value)
    return plain


class Pool:
    """Values and words that somebody has had before: a persona's, or what was said so far."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._days: list[Day] = []
        self._numbers: dict[str, set[int]] = {"time": set(), "amount": set()}
        self._emails: set[str] = set()
        self._squashed = self._digits = ""
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take up a text."""
        for value in spotted(text):
            if value.form == "date":
                self._days.append(value.day)
            elif value.form in ("time", "amount"):
                self._numbers[value.form].add(value.number)
            elif value.form == "email":
                self._emails.add(value.text.lower())
        self._numbers["amount"].update(
            number for figure in re.findall(_FIGURE, text) if (number := cents(figure)) is not None
        )
        self._squashed += f"\0{squash(text)}"
        self._digits += "".join(f"\0{digits(run)}" for run in re.findall(_RUN, text))

    def has(self, value: Spotted) -> bool:
        """Whether it knows a value, in whatever spelling."""
        if value.form == "date":
            return any(same_day(value.day, day) for day in self._days)
        if value.form == "time":
            return value.number in self._numbers["time"]
        if value.form == "amount":  # people round: "more than 300 dollars?"
            return any(abs(value.number - number) <= ROUNDED for number in self._numbers["amount"])
        if value.form == "email":
            return value.text.lower() in self._emails
        if value.form == "id":
            return squash(value.text) in self._squashed
        number = digits(value.text)
        return number in self._digits or (value.form == "phone" and number.lstrip("0") in self._digits)


def holds(text: str, value: str) -> bool:
    """Whether a text names a value: by its form where it has one, else by its words in their order."""
    if wanted := spotted(value):
        return all(map(Pool([text]).has, wanted))
    words = "".join(rf"\W+{re.escape(word)}" for word in re.findall(r"\w+", value.lower()))
    return bool(words) and re.search(rf"(?<!\w){words[3:]}(?!\w)", text.lower()) is not None


def in_own_spelling(text: str, values: Iterable[str]) -> str:
    """The text with these values spelled as they are here: a grader finds them as the records have them."""
    for value in values:
        text = _respelled(text, value)
    return text


def _respelled(text: str, value: str) -> str:
    own = spotted(value)
    if len(own) == 1 and own[0].text == value and own[0].form == "date":
        for found in reversed(spotted(text)):
            if found.form == "date" and found.day[1] > 0 and same_day(found.day, own[0].day):
                text = text[: found.start] + value + text[found.end :]
        return text
    letters = "".join(filter(str.isalnum, value))
    if own and own[0].form == "email":
        spread = re.escape(value)
    elif _loose(own) or len(letters) < LONG or not any(map(str.isdigit, letters)):
        return text
    else:
        spread = r"\(?" + r"[\s().\-–/_#]{0,2}".join(map(re.escape, letters))
    edge = r"\(?\+?" if value[0] == "+" else ""
    return re.sub(rf"(?<!\w){edge}{spread}(?!\w)", lambda _: value, text, flags=re.IGNORECASE)


def _loose(own: list[Spotted]) -> bool:
    """Whether other spellings are left as they are: of a span of dates, of times and of amounts."""
    return len(own) > 1 or any(value.form in ("time", "amount") for value in own)
