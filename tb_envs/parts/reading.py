"""What an audit reads: the records at one moment, row changes call by call, and the log, whatever the company.

Refuses to judge, and to know any table: a domain's audit says what its rows and tools mean.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

from sqlalchemy.orm import DeclarativeBase

from tb_envs.authoring.audit import Case, Rows
from tb_envs.session.log import Event
from tb_envs.store.journal import RowChange

Row = Mapping[str, Any]


def plain(text: str) -> str:
    """Text without case and accents, apostrophes straight, blanks made single."""
    letters = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).split())


def bare(text: str) -> str:
    """Letters and digits only, without case and accents."""
    return re.sub(r"[\W_]", "", plain(text))


class Change(NamedTuple):
    """What one call did to one row in the end; `before` is empty for a new row, `after` for a removed one."""

    table: str
    key: str
    call: int
    sequence: int
    before: Row
    after: Row

    @property
    def columns(self) -> set[str]:
        """The columns that changed."""
        return {name for name, value in self.before.items() if self.after.get(name) != value}


@dataclass(frozen=True)
class State:
    """The records at one moment."""

    tables: Mapping[str, Rows]

    def rows(self, table: str) -> Rows:
        """All rows of a table."""
        return self.tables.get(table, {})

    def row(self, table: str, key: Any) -> Row:
        """One row; empty when there is none."""
        return self.rows(table).get(key, {})

    def where(self, table: str, **values: Any) -> list[Row]:
        """Rows with these values, in order of their ids."""
        rows = self.rows(table)
        return [rows[key] for key in sorted(rows) if all(rows[key][name] == value for name, value in values.items())]


@dataclass(frozen=True)
class Reading:
    """A finished episode, read once for all rules. A domain's audit subclasses it and sets the class variables."""

    case: Case
    _states: dict[int, State] = field(default_factory=dict[int, State])
    base: ClassVar[type[DeclarativeBase]]
    """The declarative base of the domain's tables."""
    reads: ClassVar[tuple[str, ...]]
    """How the names of tools that only read begin."""
    free_words: ClassVar[tuple[str, ...]] = ()
    """Arguments in which agents write what they like: two calls that differ only there are the same call."""

    # -- the records

    @property
    def now(self) -> datetime:
        """The moment of every request."""
        now = self.case.now
        return now if now.tzinfo is not None else now.replace(tzinfo=UTC)

    @cached_property
    def start(self) -> State:
        """The records before the conversation."""
        return State(self.case.before)

    @cached_property
    def end(self) -> State:
        """The records after it."""
        return State(self.case.after)

    def before(self, call: int) -> State:
        """The records just before a call; a call may change consequences first."""
        if call not in self._states:
            earlier = [change for change in self.case.changes if change.call < call]
            tables = {change.table: dict(self.case.before.get(change.table, {})) for change in earlier}
            for change in earlier:
                if change.after is not None:
                    tables[change.table][change.key] = self._named(change.table, change.after)
                else:
                    tables[change.table].pop(change.key, None)
            self._states[call] = State({**self.case.before, **tables})
        return self._states[call]

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Row changes in order, those of one call to one row as one."""
        return self._merged(self.case.changes)

    def new(self, table: str) -> list[Change]:
        """Rows that were written in the conversation, in order."""
        return [change for change in self.changes if change.table == table and not change.before]

    def changed(self, table: str) -> list[Change]:
        """Rows that were there and were changed, in order."""
        return [change for change in self.changes if change.table == table and change.before]

    # -- the log

    @cached_property
    def places(self) -> dict[int, int]:
        """Where in the log each call stands."""
        return {event.call: at for at, event in enumerate(self.case.log) if event.kind == "call"}

    @cached_property
    def heard(self) -> str:
        """All that the customer said."""
        return "\n".join(event.text for event in self.case.log if event.kind == "heard")

    def heard_before(self, call: int) -> str:
        """All that the customer had said before a call."""
        log = self.case.log[: self.places.get(call, len(self.case.log))]
        return "\n".join(event.text for event in log if event.kind == "heard")

    def said_before(self, call: int) -> str:
        """All that the agent had said before a call."""
        log = self.case.log[: self.places.get(call, len(self.case.log))]
        return "\n".join(event.text for event in log if event.kind == "said")

    def calls(self, tool: str) -> list[Event]:
        """Calls of one tool that succeeded, in order."""
        return [event for event in self.case.log if event.kind == "call" and event.name == tool and event.ok]

    def arguments(self, call: int) -> Mapping[str, Any]:
        """What a call was given."""
        found = (event.data for event in self.case.log if event.kind == "call" and event.call == call)
        return _fields(next(found, None))

    @cached_property
    def labels(self) -> tuple[tuple[int, str], ...]:
        """What the customer's words were labelled as, e.g. ``consented``, each with its place in the log.

        Empty for a customer that labels nothing, whose words then are not judged by them.
        """
        found: list[tuple[int, str]] = []
        for at, event in enumerate(self.case.log):
            if event.kind == "heard":
                found += [(at, str(label)) for label in _fields(event.data).get("acts", ())]
        return tuple(found)

    def labelled(self, *beginnings: str) -> bool:
        """Whether something the customer said was labelled with one of these beginnings."""
        return any(label.startswith(beginnings) for _, label in self.labels)

    def same_call(self, call: Event) -> str:
        """A text that is equal for two calls of one tool with the same arguments, free words aside."""
        return same_call(call, *self.free_words)

    # -- failures

    @cached_property
    def failures(self) -> tuple[Event, ...]:
        """Writes that failed for a time and changed nothing."""
        done = {change.call for change in self.changes}
        return tuple(call for call in self._timed_out() if call.call not in done)

    @cached_property
    def hidden_successes(self) -> tuple[Event, ...]:
        """Writes that seemed to fail but were carried out."""
        done = {change.call for change in self.changes}
        return tuple(call for call in self._timed_out() if call.call in done)

    @cached_property
    def given_up(self) -> dict[str, int]:
        """Tools of which one and the same call failed twice without effect, and the number of the second."""
        found: dict[str, int] = {}
        seen: Counter[str] = Counter()
        for call in self.failures:
            text = self.same_call(call)
            seen[text] += 1
            if seen[text] == 2:
                found.setdefault(call.name, call.call)
        return found

    # -- inside

    def _timed_out(self) -> Iterator[Event]:
        calls = {event.call: event for event in self.case.log if event.kind == "call"}
        for event in self.case.log:
            if event.kind != "result" or event.ok or event.name.startswith(self.reads) or event.call not in calls:
                continue
            if _fields(_fields(event.data).get("error")).get("type") == "temporary_failure":
                yield calls[event.call]

    def _named(self, table: str, values: tuple[Any, ...] | None) -> Row:
        if values is None:
            return {}
        return dict(zip(self.base.metadata.tables[table].columns.keys(), values, strict=True))

    def _merged(self, changes: Iterable[RowChange]) -> tuple[Change, ...]:
        found: dict[tuple[int, str, str], Change] = {}
        for change in sorted(changes, key=lambda item: item.sequence):
            place = (change.call, change.table, change.key)
            known = found.get(place)
            before = known.before if known else self._named(change.table, change.before)
            sequence = known.sequence if known else change.sequence
            after = self._named(change.table, change.after)
            found[place] = Change(change.table, change.key, change.call, sequence, before, after)
        return tuple(change for change in found.values() if change.before != change.after)


def _fields(data: Any) -> Mapping[str, Any]:
    """An event's data if it has named fields; else none."""
    return cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}


def same_call(call: Event, *free_words: str) -> str:
    """A text that is equal for two calls of one tool with the same arguments, these aside."""
    given = {key: value for key, value in dict(call.data).items() if value is not None and key not in free_words}
    return call.name + json.dumps(given, sort_keys=True, default=str)
