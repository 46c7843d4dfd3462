"""What tokens cost: a price table that its user keeps, and the rule that what is not in it is unknown.

A table is a TOML file (`prices.example.toml` beside this one shows it): for each model US dollars per million tokens of
input, cached input and output, the day it was looked up and where. None is shipped: prices change, and an invented one
would be believed. A model that the table does not name has an unknown cost, which is None and never 0.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, cast

from tb_envs.errors import UsageError

PER = 1_000_000
"""Tokens that a price is for."""
EXAMPLE = Path(__file__).with_name("prices.example.toml")
KINDS = ("input", "cached_input", "output")
FIELDS = (*KINDS, "dated", "source")


@dataclass(frozen=True)
class Price:
    """One model's price.

    Attributes:
        input: US dollars per million tokens read that were not cached.
        cached_input: likewise, read from the server's cache; a server without such a discount asks the same as above.
        output: likewise, written, reasoning included.
        dated: the day it was looked up, ``YYYY-MM-DD``.
        source: where it was looked up.
    """

    input: float
    cached_input: float
    output: float
    dated: str
    source: str

    def cost(self, tokens: Mapping[str, int | None] | None) -> float | None:
        """US dollars for these tokens; None where the server did not say how many.

        ``((input - cached_input) · p_in + cached_input · p_cached + output · p_out) / 1,000,000``: as servers report
        them, ``input`` includes ``cached_input``, and ``output`` includes ``reasoning``. A server that names no cached
        tokens is taken to have cached none.
        """
        if tokens is None or tokens.get("input") is None or tokens.get("output") is None:
            return None
        read, cached, written = (tokens.get(kind) or 0 for kind in KINDS)
        cached = min(cached, read)
        return ((read - cached) * self.input + cached * self.cached_input + written * self.output) / PER


@dataclass(frozen=True)
class Prices:
    """A table: model name, exactly as the server knows it → price."""

    models: Mapping[str, Price]

    def cost(self, model: str, tokens: Mapping[str, int | None] | None) -> float | None:
        """US dollars for a model's tokens; None where its price or the tokens are unknown."""
        price = self.models.get(model)
        return None if price is None else price.cost(tokens)

    def to_json(self) -> dict[str, dict[str, Any]]:
        """The table as plain data, for a campaign's manifest; `Prices.of` reads it back."""
        return {name: vars(price) for name, price in self.models.items()}

    @classmethod
    def of(cls, value: Any, where: str = "the price table") -> Prices:
        """A table from plain data: model name → ``{input, cached_input, output, dated, source}``.

        Raises:
            UsageError: something is missing, unknown or no price; the message names the model and the field.
        """
        if not isinstance(value, Mapping):
            raise UsageError(f"{where}: a table of models is meant, got {value!r}")
        models = cast("Mapping[str, Any]", value)
        return cls({name: _price(entry, f"{where}: model {name!r}") for name, entry in models.items()})


def read_prices(path: Path | str) -> Prices:
    """Read a price table.

    Raises:
        UsageError: the file cannot be read or is no price table; the message says where and what would be right.
    """
    where = str(path)
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"price table {where}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"price table {where} is no TOML: {error}") from None
    unknown = [name for name in content if name != "models"]
    if unknown:
        raise UsageError(f'price table {where}: unknown entry {unknown[0]!r}; prices stand under [models."NAME"]')
    if not content.get("models"):
        raise UsageError(f"price table {where} names no model; see {EXAMPLE.name} for how it is written")
    return Prices.of(content["models"], f"price table {where}")


def _price(entry: Any, where: str) -> Price:
    if not isinstance(entry, Mapping):
        raise UsageError(f"{where}: write {', '.join(FIELDS)}, got {entry!r}")
    given = cast("Mapping[str, Any]", entry)
    for name in given:
        if name not in FIELDS:
            raise UsageError(f"{where}: unknown field {name!r}; valid: {', '.join(FIELDS)}")
    for name in FIELDS:
        if name not in given:
            raise UsageError(f"{where} has no {name!r}; needed: {', '.join(FIELDS)}")
    for kind in KINDS:
        amount = given[kind]
        right = isinstance(amount, int | float) and not isinstance(amount, bool) and math.isfinite(amount)
        if not right or amount < 0:
            raise UsageError(f"{where}: {kind} is US dollars per million tokens, a number from 0, got {amount!r}")
    source = given["source"]
    if not isinstance(source, str) or not source.strip():
        raise UsageError(f"{where}: source says where the price was looked up, got {source!r}")
    return Price(*(float(given[kind]) for kind in KINDS), dated=_day(given["dated"], where), source=source)


def _day(value: Any, where: str) -> str:
    """A TOML date, or one written as text."""
    try:
        if type(value) is date:
            return value.isoformat()
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise UsageError(f"{where}: dated is a day such as 2026-01-31, got {value!r}") from None
