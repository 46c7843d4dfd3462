"""A finished episode as the rules read it: what was done, in which ticket, after which checks, words and failures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from tb_envs.authoring.audit import Case
from tb_envs.session.log import Event

from .records import Act, ActKind, Change, Row, State, acts_of, merged, named

READS = ("get_", "list_", "search_", "quote_", "compare_")


class Check(NamedTuple):
    """One identity check."""

    call: int
    guest_id: str
    caller: str
    matched: int
    passed: bool


@dataclass(frozen=True)
class Episode:
    """A finished episode, read once for all rules."""

    case: Case
    _states: dict[int, State] = field(default_factory=dict[int, State])

    # -- the records

    @property
    def now(self) -> datetime:
        """The moment of every request (3.1)."""
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

    def before(self, act: Act) -> State:
        """The records just before the call that made an act; a call may change consequences first."""
        if act.call not in self._states:
            earlier = [change for change in self.case.changes if change.call < act.call]
            tables = {change.table: dict(self.case.before.get(change.table, {})) for change in earlier}
            for change in earlier:
                if change.after is not None:
                    tables[change.table][change.key] = named(change.table, change.after)
                else:
                    tables[change.table].pop(change.key, None)
            self._states[act.call] = State({**self.case.before, **tables})
        return self._states[act.call]

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Row changes in order, those of one call to one row as one."""
        return merged(self.case.changes)

    def new(self, table: str) -> list[Change]:
        """Rows that were written in the conversation, in order."""
        return [change for change in self.changes if change.table == table and not change.before]

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """Everything that was done besides paperwork, in order."""
        return acts_of(self.changes, self.end)

    def of(self, *kinds: ActKind) -> list[Act]:
        """Acts of these kinds."""
        return [act for act in self.acts if act.kind in kinds]

    def refunds(self, booking_id: str | None, reason: str) -> list[Act]:
        """Refunds made on one booking for one reason."""
        return [act for act in self.of("refund") if act.booking_id == booking_id and act.reason == reason]

    def first_refunds(self, reason: str) -> list[tuple[str, Act]]:
        """For each booking refunded for a reason, its id and the first of the refunds."""
        found: dict[str, Act] = {}
        for act in self.of("refund"):
            if act.reason == reason and act.booking_id:
                found.setdefault(act.booking_id, act)
        return list(found.items())

    # -- paperwork

    @cached_property
    def tickets(self) -> dict[str, Row]:
        """Tickets that were opened or changed, as they are in the end."""
        keys = [change.key for change in self.changes if change.table == "tickets"]
        return {key: self.end.row("tickets", key) for key in dict.fromkeys(keys)}

    @property
    def ticket(self) -> Row:
        """The ticket of the conversation; empty when there is none, the last one when there are several."""
        return next(reversed(self.tickets.values()), {})

    @property
    def approvals(self) -> list[Change]:
        """Requests to the duty manager made in the conversation."""
        return self.new("approvals")

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """The identity checks, in order."""
        return tuple(
            Check(
                change.call,
                change.after["guest_id"],
                change.after["caller"],
                change.after["facts_matched"],
                change.after["result"] == "passed",
            )
            for change in self.new("identity_checks")
        )

    # -- the log

    @cached_property
    def places(self) -> dict[int, int]:
        """Where in the log each call stands."""
        return {event.call: at for at, event in enumerate(self.case.log) if event.kind == "call"}

    def heard_before(self, call: int) -> str:
        """All that the customer had said before a call."""
        log = self.case.log[: self.places.get(call, len(self.case.log))]
        return "\n".join(event.text for event in log if event.kind == "heard")

    @cached_property
    def heard(self) -> str:
        """All that the customer said."""
        return "\n".join(event.text for event in self.case.log if event.kind == "heard")

    def calls(self, tool: str) -> list[Event]:
        """Calls of one tool that succeeded, in order."""
        return [event for event in self.case.log if event.kind == "call" and event.name == tool and event.ok]

    def arguments(self, call: int) -> Mapping[str, Any]:
        """What a call was given."""
        found = (event.data for event in self.case.log if event.kind == "call" and event.call == call)
        return next(found, {})

    def last_argument(self, tool: str, booking_id: str, name: str) -> str:
        """An argument of the last call of a tool for a booking; empty without one."""
        found = [call.data.get(name) for call in self.calls(tool) if call.data.get("booking_id") == booking_id]
        return str(found[-1]) if found else ""

    @cached_property
    def labels(self) -> tuple[tuple[int, str], ...]:
        """What the customer's words were labelled as, e.g. ``consented``, each with its place in the log.

        Empty for a customer that labels nothing, whose words then are not judged by them.
        """
        found: list[tuple[int, str]] = []
        for at, event in enumerate(self.case.log):
            if event.kind == "heard" and isinstance(event.data, Mapping):
                found += [(at, str(label)) for label in event.data.get("acts", ())]
        return tuple(found)

    def labelled(self, *beginnings: str) -> bool:
        """Whether something the customer said was labelled with one of these beginnings."""
        return any(label.startswith(beginnings) for _, label in self.labels)

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

    def _timed_out(self) -> Iterator[Event]:
        calls = {event.call: event for event in self.case.log if event.kind == "call"}
        for event in self.case.log:
            if event.kind != "result" or event.ok or event.name.startswith(READS) or event.call not in calls:
                continue
            if isinstance(event.data, Mapping) and event.data.get("error", {}).get("type") == "temporary_failure":
                yield calls[event.call]

    @cached_property
    def given_up(self) -> dict[str, int]:
        """Tools of which one and the same call failed twice without effect, and the number of the second (11.1)."""
        found: dict[str, int] = {}
        seen: Counter[str] = Counter()
        for call in self.failures:
            seen[same_call(call)] += 1
            if seen[same_call(call)] == 2:
                found.setdefault(call.name, call.call)
        return found


def same_call(call: Event) -> str:
    """A text that is equal for two calls of one tool with the same arguments."""
    given = {key: value for key, value in dict(call.data).items() if value is not None and key != "description"}
    return call.name + json.dumps(given, sort_keys=True, default=str)
