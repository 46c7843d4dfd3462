"""Expectations: what a task's right end is, as named data over the net diff and the log.

Authors write them (`changed`, `created`, `kept`, `order`, …); `tb_envs.grading.grade` judges them. Whether an
expectation is a *guard* (holds on the untouched database) or is *earned* is found by evaluating it there. What each
asks is put in words once: a task is shared by all its episodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from tb_envs.authoring.models import table_of
from tb_envs.errors import DomainError
from tb_envs.grading.matchers import RowOf, describe

EventKind = Literal["call", "row", "said", "heard"]


@dataclass(frozen=True)
class Changed:
    """This row ends with these fields; its other graded fields stay as they were."""

    name: str
    table: str
    key: str
    fields: Mapping[str, Any]
    free: frozenset[str] = frozenset()

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"{self.table} {self.key} ends with {_words(self.fields)}"


@dataclass(frozen=True)
class Created:
    """Exactly one new row like this."""

    name: str
    table: str
    fields: Mapping[str, Any]

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"a new row in {self.table} with {_words(self.fields)}"

    @cached_property
    def linked(self) -> bool:
        """Whether it points to the row of another expectation."""
        return any(isinstance(matcher, RowOf) for matcher in self.fields.values())


@dataclass(frozen=True)
class Removed:
    """This row is gone."""

    name: str
    table: str
    key: str

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"{self.table} {self.key} is removed"


@dataclass(frozen=True)
class Kept:
    """This row was never touched, not even for a moment."""

    name: str
    table: str
    key: str

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"{self.table} {self.key} stays as it is"


@dataclass(frozen=True)
class NeverCreated:
    """No row like this was ever inserted."""

    name: str
    table: str
    fields: Mapping[str, Any]

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"no new row in {self.table} with {_words(self.fields)}"


@dataclass(frozen=True)
class Pattern:
    """Events of one kind: a call of a tool, a row change, something said or heard.

    `fields` are matched against a call's arguments, a row's values after the change, or ``text`` / ``act`` of speech.
    A call that failed is like a pattern only with `any_result`.
    """

    kind: EventKind
    name: str
    fields: Mapping[str, Any]
    any_result: bool = False

    @cached_property
    def words(self) -> str:
        """The events it means, in words."""
        subject = {"call": self.name, "row": f"a row of {self.name}", "said": "saying", "heard": "hearing"}[self.kind]
        return f"{subject} ({_words(self.fields)})" if self.fields else subject


@dataclass(frozen=True)
class Order:
    """Each event like one of `then` has an event like `first` before it."""

    name: str
    first: Pattern
    then: tuple[Pattern, ...]

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"{self.first.words} before {' or '.join(pattern.words for pattern in self.then)}"


@dataclass(frozen=True)
class Happened:
    """Events like this are in the log, `times` of them or more."""

    name: str
    pattern: Pattern
    times: int = 1

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"{self.pattern.words} happens{f' {self.times} times' if self.times > 1 else ''}"


@dataclass(frozen=True)
class AtMost:
    """No more than `times` events like this are in the log."""

    name: str
    pattern: Pattern
    times: int

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"{self.pattern.words} happens {f'at most {self.times} times' if self.times else 'never'}"


@dataclass(frozen=True)
class Named:
    """Before the first event like `then` the customer has said at least so many of these values.

    What an agent is told, not what it could have looked up: facts of an identity check come from the caller.
    """

    name: str
    values: tuple[str, ...]
    at_least: int
    then: Pattern

    @cached_property
    def spelled(self) -> tuple[tuple[str, str], ...]:
        """The values, each with how it is looked for: in small letters."""
        return tuple((value, value.lower()) for value in self.values)

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"the customer names {self.at_least} of {', '.join(self.values)} before {self.then.words}"


@dataclass(frozen=True)
class Judged:
    """A language model says whether this narrow statement about the talk is true (`holds`) or not.

    Only for what no row and no word shows, e.g. that the customer was told why. Tasks with such a criterion are played
    only where there is a judge. Where the agent said nothing, the statement is not true, and nobody is asked.
    """

    name: str
    criterion: str
    holds: bool = True

    @cached_property
    def expected(self) -> str:
        """What it asks, in words."""
        return f"a judge finds it {'true' if self.holds else 'not true'} that: {self.criterion}"


@dataclass(frozen=True)
class Either:
    """One of several ends that the policy allows; each is a tuple of expectations."""

    name: str
    ways: tuple[tuple[Expectation, ...], ...]


Expectation: TypeAlias = (
    Changed | Created | Removed | Kept | NeverCreated | Order | Happened | AtMost | Named | Judged | Either
)


def criteria_of(expects: Iterable[Expectation]) -> tuple[Judged, ...]:
    """What only a judge can tell, of all the ways to the right end, each statement once."""
    return tuple(dict.fromkeys(item for item in _flat(expects) if isinstance(item, Judged)))


def acts_read(expects: Iterable[Expectation]) -> frozenset[str]:
    """The customer's acts that the expectations look for."""
    found: set[str] = set()
    for item in _flat(expects):
        if isinstance(item, Order):
            patterns = (item.first, *item.then)
        elif isinstance(item, Happened | AtMost):
            patterns = (item.pattern,)
        else:
            patterns = (item.then,) if isinstance(item, Named) else ()
        found.update(pattern.fields["act"] for pattern in patterns if "act" in pattern.fields)
    return frozenset(found)


def _flat(expects: Iterable[Expectation]) -> Iterator[Expectation]:
    for item in expects:
        if isinstance(item, Either):
            for way in item.ways:
                yield from _flat(way)
        else:
            yield item


def _words(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{column} = {describe(matcher)}" for column, matcher in fields.items()) or "any values"


def changed(name: str, model: Any, key: str, *, free: tuple[str, ...] = (), **fields: Any) -> Changed:
    """Row `key` ends with these fields; columns in `free` may change too, all others must not."""
    if not fields:
        raise DomainError(f"changed({name!r}): name at least one field")
    return Changed(name, table_of(model), key, fields, frozenset(free))


def created(name: str, model: Any, **fields: Any) -> Created:
    """One new row with these fields; columns not named are not graded."""
    if not fields:
        raise DomainError(f"created({name!r}): name at least one field")
    return Created(name, table_of(model), fields)


def removed(name: str, model: Any, key: str) -> Removed:
    """Row `key` is gone."""
    return Removed(name, table_of(model), key)


def kept(name: str, model: Any, key: str) -> Kept:
    """Row `key` is never touched."""
    return Kept(name, table_of(model), key)


def never_created(name: str, model: Any, **fields: Any) -> NeverCreated:
    """No such row is ever inserted."""
    return NeverCreated(name, table_of(model), fields)


def calls(tool: str, **arguments: Any) -> Pattern:
    """A successful call of `tool` whose checked arguments match."""
    return Pattern("call", tool, arguments)


def tries(tool: str, **arguments: Any) -> Pattern:
    """A call of `tool` whose checked arguments match, whether it succeeded or failed."""
    return Pattern("call", tool, arguments, any_result=True)


def writes(model: Any, **fields: Any) -> Pattern:
    """A row of `model` that is inserted or updated to match."""
    return Pattern("row", table_of(model), fields)


def says(text: Any) -> Pattern:
    """Something the agent says, matched on its whole text."""
    return Pattern("said", "", {"text": text})


def hears(act: str) -> Pattern:
    """Something the customer does in words: ``consented``, ``accepted:upgrade``, ``gave:email``."""
    return Pattern("heard", "", {"act": act})


def order(name: str, first: Pattern, *then: Pattern) -> Order:
    """`first` before every event like one of `then`."""
    if not then:
        raise DomainError(f"order({name!r}): say what has to come after")
    return Order(name, first, then)


def at_most(name: str, pattern: Pattern, times: int) -> AtMost:
    """The log has no more than `times` events like this; 0 means never."""
    return AtMost(name, pattern, times)


def named(name: str, values: Iterable[str], *, at_least: int, then: Pattern) -> Named:
    """The customer says at least so many of these values before the first `then`."""
    return Named(name, tuple(values), at_least, then)


def happened(name: str, pattern: Pattern, *, times: int = 1) -> Happened:
    """The log has `times` events like this, or more."""
    return Happened(name, pattern, times)


def judged(name: str, criterion: str, *, holds: bool = True) -> Judged:
    """A judge finds this statement about the talk true, or with ``holds=False`` not true."""
    if not criterion.strip():
        raise DomainError(f"judged({name!r}): say what the judge is to find")
    return Judged(name, criterion, holds)


def either(name: str, *ways: tuple[Expectation, ...]) -> Either:
    """Any one of several complete ends."""
    return Either(name, ways)
