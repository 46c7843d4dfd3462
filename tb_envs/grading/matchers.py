"""Matchers: what a field may hold at the right end. A plain value means equality; these say the rest.

Each is data with a description a person can read; none looks at anything but the one value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


class Matcher:
    """Base of all matchers; no ABC, since asking whether a value is one would cost more than comparing it."""

    def accepts(self, value: Any) -> bool:
        """Whether `value` is right."""
        raise NotImplementedError

    def describe(self) -> str:
        """What is accepted, in words."""
        raise NotImplementedError


@dataclass(frozen=True)
class OneOf(Matcher):
    """Any of several values."""

    options: tuple[Any, ...]

    def accepts(self, value: Any) -> bool:
        """Equal to one of the options."""
        return value in self.options

    def describe(self) -> str:
        """The options."""
        return "one of " + ", ".join(map(repr, self.options))


@dataclass(frozen=True)
class Within(Matcher):
    """A number within a tolerance."""

    value: int
    tolerance: int

    def accepts(self, value: Any) -> bool:
        """At most `tolerance` away."""
        return isinstance(value, int) and abs(value - self.value) <= self.tolerance

    def describe(self) -> str:
        """The value and its tolerance."""
        return f"{self.value} ± {self.tolerance}"


@dataclass(frozen=True)
class Matches(Matcher):
    """Text in which a regular expression is found, case ignored."""

    pattern: str

    def accepts(self, value: Any) -> bool:
        """The pattern is found."""
        return isinstance(value, str) and re.search(self.pattern, value, re.IGNORECASE) is not None

    def describe(self) -> str:
        """The pattern."""
        return f"text matching /{self.pattern}/"


@dataclass(frozen=True)
class SameSet(Matcher):
    """Comma-separated text that names exactly these items, in any order."""

    items: frozenset[str]

    def accepts(self, value: Any) -> bool:
        """The same items."""
        return (
            isinstance(value, str)
            and frozenset(part.strip() for part in value.split(",") if part.strip()) == self.items
        )

    def describe(self) -> str:
        """The items."""
        return "the set " + ", ".join(sorted(self.items))


@dataclass(frozen=True)
class AnyText(Matcher):
    """Any text that is not empty."""

    def accepts(self, value: Any) -> bool:
        """Some text."""
        return isinstance(value, str) and bool(value.strip())

    def describe(self) -> str:
        """Any text."""
        return "some text"


@dataclass(frozen=True)
class RowOf(Matcher):
    """The id of the row that another expectation of the same task creates."""

    expectation: str

    def accepts(self, value: Any) -> bool:
        """Resolved while rows are assigned; alone it accepts any id."""
        return isinstance(value, str)

    def describe(self) -> str:
        """The expectation it points to."""
        return f"the row of «{self.expectation}»"


def one_of(*options: Any) -> OneOf:
    """Any of several values."""
    return OneOf(options)


def within(value: int, tolerance: int = 1) -> Within:
    """A number of cents within a tolerance (one cent by default)."""
    return Within(value, tolerance)


def matches(pattern: str) -> Matches:
    """Text in which `pattern` is found, case ignored."""
    return Matches(pattern)


def same_set(items: Iterable[str]) -> SameSet:
    """Comma-separated text naming exactly these items."""
    return SameSet(frozenset(items))


def any_text() -> AnyText:
    """Any text that is not empty."""
    return AnyText()


def row_of(expectation: str) -> RowOf:
    """The id of the row another expectation creates."""
    return RowOf(expectation)


def accepts(matcher: Any, value: Any) -> bool:
    """Whether `value` is right for a matcher or a plain value."""
    return matcher.accepts(value) if isinstance(matcher, Matcher) else matcher == value


def describe(matcher: Any) -> str:
    """A matcher or a plain value, in words."""
    return matcher.describe() if isinstance(matcher, Matcher) else repr(matcher)
