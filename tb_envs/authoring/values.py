"""The kinds of values a tool takes: money, dates, timestamps, identifiers, counts, text; and how they are written.

Each is a pydantic annotation, so the type of a tool's parameter is at once its JSON schema, its check and its help.
They accept what a person might write for the same value (``"$1,200.00"``, ``" bk-20418 "``) and nothing that could
mean another one.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

Json = dict[str, Any]
"""What a tool returns: a JSON object."""

_MONEY = re.compile(
    r"^(?:usd|us\$|\$)?\s*(-?)\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d{1,2}0*)?\s*(?:usd)?$", re.IGNORECASE | re.ASCII
)
MAX_CENTS = 10_000_000_00


def usd(amount: int | str | Decimal) -> int:
    """Dollars to integer cents, half up: ``usd(500) == 50000``."""
    return int((Decimal(str(amount)) * 100).quantize(Decimal(1), ROUND_HALF_UP))


def show_money(cents: int) -> str:
    """Integer cents as tools print them: ``123450`` → ``"1234.50"``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def _parse_money(value: Any) -> int:
    if isinstance(value, bool) or value is None:
        raise _no_money()
    if isinstance(value, str):
        match = _MONEY.match(value.strip()[:40])
        if match is None:
            raise _no_money()
        value = match[1] + match[2].replace(",", "") + (match[3] or "")
    try:
        exact = Decimal(str(value)) * 100
        cents = int(exact)
    except (InvalidOperation, ValueError, OverflowError):
        raise _no_money() from None
    if exact != cents:
        raise _no_money()
    if not 0 <= cents <= MAX_CENTS:
        raise PydanticCustomError("money", "expected an amount from 0 to 10,000,000.00")
    return cents


def _no_money() -> PydanticCustomError:
    return PydanticCustomError("money", "expected an amount in USD with at most two decimals, such as 123.45")


_DATE = re.compile(r"^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$")
_MIDNIGHT = re.compile(r"[T ]00:00(:00)?Z?$")


def _parse_date(value: Any) -> str:
    match = _DATE.match(_MIDNIGHT.sub("", value.strip()[:40])) if isinstance(value, str) else None
    try:
        if match is not None:
            return date(int(match[1]), int(match[2]), int(match[3])).isoformat()
    except ValueError:
        pass
    raise PydanticCustomError("date", "expected a date written YYYY-MM-DD, such as 2031-05-14")


def _parse_timestamp(value: Any) -> str:
    try:
        if isinstance(value, str):
            return show_time(datetime.fromisoformat(value.strip()[:40].upper().replace("Z", "+00:00")))
    except (ValueError, OverflowError):
        pass
    raise PydanticCustomError("timestamp", "expected a UTC time written YYYY-MM-DDTHH:MM:SSZ")


def _parse_identifier(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise PydanticCustomError("identifier", "expected an id as the tools print it, such as AB-12345")
    text = value.strip()
    if len(text) > 80:
        raise PydanticCustomError("identifier", "expected an id of at most 80 characters")
    return clean_text(text).upper()


def clean_text(value: Any) -> Any:
    """Text the database can hold: lone surrogates and NUL become the replacement character."""
    if not isinstance(value, str):
        return value
    text = value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\x00", "\ufffd")


_BLANKS = re.compile(r"[\s\-]+")


def _enum_spelling(value: Any) -> Any:
    """``"On hold"``, ``"ON-HOLD"`` and ``on_hold`` are one value."""
    return _BLANKS.sub("_", value.strip()[:80].lower()) if isinstance(value, str) else value


@lru_cache(maxsize=4096)
def parse_time(text: str) -> datetime:
    """A stored timestamp as an aware datetime."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def show_time(moment: datetime) -> str:
    """An aware (or UTC naive) datetime as it is stored: ``2031-05-14T09:30:00Z``."""
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return f"{moment.replace(tzinfo=None, microsecond=0).isoformat()}Z"


Money = Annotated[
    int,
    PlainValidator(_parse_money),
    WithJsonSchema({"type": "number", "minimum": 0, "description": "an amount in USD, e.g. 123.45"}),
]
"""An amount: dollars on the outside (``123.45``), integer cents inside."""

Date = Annotated[str, PlainValidator(_parse_date), WithJsonSchema({"type": "string", "format": "date"})]
"""A calendar day ``YYYY-MM-DD``, kept as text."""

Timestamp = Annotated[str, PlainValidator(_parse_timestamp), WithJsonSchema({"type": "string", "format": "date-time"})]
"""A UTC time ``YYYY-MM-DDTHH:MM:SSZ``, kept as text."""

Identifier = Annotated[str, PlainValidator(_parse_identifier), WithJsonSchema({"type": "string"})]
"""An id as the tools print it; case and outer blanks do not matter."""

Text = Annotated[str, Field(max_length=4000), BeforeValidator(clean_text)]
"""Free text of at most 4,000 characters."""

Words = Annotated[str, Field(min_length=1, max_length=200), BeforeValidator(clean_text)]
"""A search query: plain words, never search syntax."""

Count = Annotated[int, Field(ge=0, le=100_000)]
"""A small whole number."""

Limit = Annotated[int, Field(ge=1, le=50)]
"""How many rows a search returns at most."""

Offset = Annotated[int, Field(ge=0, le=100_000)]
"""How many rows a search passes over."""

EnumSpelling = BeforeValidator(_enum_spelling)
"""Put round a `Literal`: ``Status = Annotated[Literal["open", "on_hold"], EnumSpelling]``."""


def _email_spelling(value: Any) -> Any:
    return clean_text(value).strip().lower() if isinstance(value, str) else value


Email = Annotated[str, Field(max_length=200), BeforeValidator(_email_spelling)]
"""An e-mail address; case does not matter."""
