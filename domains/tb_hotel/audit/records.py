"""What the judge reads an episode as: states, acts, identity checks, requests for approval, words.

An act is one change that the policy speaks of, taken from the row changes and not from the calls, so that a call that
timed out after it was carried out counts as done. Rows that a tool changes as a consequence (inventory, nights, totals,
pending loyalty entries) belong to the act of the same call; a change that belongs to none is a stray act.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from typing import Any, Literal, NamedTuple

from tb_envs.authoring.audit import Case, Rows
from tb_envs.session.log import Event
from tb_hotel.models import Base

Row = Mapping[str, Any]
ActKind = Literal[
    "cancel", "void", "relocate", "move", "shorten", "upgrade", "late", "rename",
    "open_folio", "move_charge", "charge", "waive", "refund",
    "entry", "release", "goodwill", "stray",
]  # fmt: skip

BOOKING_KINDS: frozenset[ActKind] = frozenset(
    ("cancel", "void", "relocate", "move", "shorten", "upgrade", "late", "rename")
)
MONEY_KINDS: frozenset[ActKind] = frozenset(("charge", "waive", "refund", "entry"))
TOPIC_OF: Mapping[str, str] = {
    "cancel": "cancellation", "void": "duplicate_booking", "relocate": "relocation", "move": "date_change",
    "shorten": "early_departure", "upgrade": "room_change", "late": "late_checkout", "rename": "name_change",
    "open_folio": "folio_split", "move_charge": "folio_split", "release": "group_block", "goodwill": "no_show",
}  # fmt: skip
TOPIC_OF_RETURN: Mapping[str, str] = {
    "cancellation": "cancellation", "rate_difference": "date_change", "early_departure": "early_departure",
    "no_show": "no_show", "double_payment": "payment_error", "duplicate_booking": "duplicate_booking",
    "corporate_rate": "corporate_rate", "dispute": "charge_dispute", "price_correction": "extras_price",
    "compensation": "service_complaint", "relocation": "relocation",
}  # fmt: skip
TOPIC_OF_CHARGE: Mapping[str, str] = {
    "change_fee": "date_change", "rate_difference": "date_change", "upgrade": "room_change",
    "transfer_fee": "name_change", "late_checkout": "late_checkout", "group_release": "group_block",
}  # fmt: skip
TOPIC_OF_ENTRY: Mapping[str, str] = {"correction": "loyalty", "relocation": "relocation"}
_CONSEQUENCES = frozenset(("inventory_nights", "booking_nights", "loyalty_accounts", "loyalty_entries"))
_PAPERWORK = frozenset(("tickets", "ticket_comments", "guest_notes", "messages", "identity_checks", "approvals"))


class Change(NamedTuple):
    """What one call did to one row in the end; `before` is empty for a new row, `after` for a removed one."""

    table: str
    key: str
    call: int
    sequence: int
    before: Row
    after: Row


@dataclass(frozen=True)
class Act:
    """One change that the policy speaks of.

    Attributes:
        reason: of a refund or waiver; the kind of a charge or loyalty entry.
        cents: returned, taken off or charged.
    """

    kind: ActKind
    topic: str
    guest_id: str
    booking_id: str | None
    change: Change
    reason: str = ""
    cents: int = 0

    @property
    def call(self) -> int:
        """The number of the tool call that made it."""
        return self.change.call


class Check(NamedTuple):
    """One identity check."""

    call: int
    guest_id: str
    caller: str
    matched: int
    passed: bool


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
class Episode:
    """A finished episode, read once for all rules."""

    case: Case
    _states: dict[int, State] = field(default_factory=dict[int, State])

    @property
    def now(self) -> datetime:
        """The moment of every request (3.1)."""
        now = self.case.now
        return now if now.tzinfo is not None else now.replace(tzinfo=timezone.utc)

    @cached_property
    def start(self) -> State:
        """The records before the conversation."""
        return State(self.case.before)

    @cached_property
    def end(self) -> State:
        """The records after it."""
        return State(self.case.after)

    def before(self, act: Act) -> State:
        """The records just before an act."""
        at = act.change.sequence
        if at not in self._states:
            tables = {name: dict(rows) for name, rows in self.case.before.items() if name in self._touched}
            for change in self.case.changes:
                if change.sequence < at and change.after is not None:
                    tables.setdefault(change.table, {})[change.key] = _named(change.table, change.after)
            self._states[at] = State({**self.case.before, **tables})
        return self._states[at]

    @cached_property
    def _touched(self) -> frozenset[str]:
        return frozenset(change.table for change in self.case.changes)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Row changes, those of one call to one row as one."""
        merged: dict[tuple[int, str, str], Change] = {}
        for change in sorted(self.case.changes, key=lambda item: item.sequence):
            place = (change.call, change.table, change.key)
            known = merged.get(place)
            before = known.before if known else _named(change.table, change.before)
            sequence = known.sequence if known else change.sequence
            after = _named(change.table, change.after)
            merged[place] = Change(change.table, change.key, change.call, sequence, before, after)
        return tuple(change for change in merged.values() if change.before != change.after)

    def new(self, table: str) -> list[Change]:
        """Rows that were written in the conversation, in order."""
        return [change for change in self.changes if change.table == table and not change.before]

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """Everything that was done besides paperwork, in order."""
        found = [act for change in self.changes if (act := self._act(change)) is not None]
        explained = {act.call for act in found if act.kind != "stray"}
        for change in self.changes:
            consequence = change.table in _CONSEQUENCES and not _is_entry(change)
            if consequence and change.call not in explained:
                found.append(Act("stray", "", "", None, change))
        return tuple(sorted(found, key=lambda act: act.change.sequence))

    def of(self, *kinds: ActKind) -> list[Act]:
        """Acts of these kinds."""
        return [act for act in self.acts if act.kind in kinds]

    def refunds(self, booking_id: str | None, reason: str) -> list[Act]:
        """Refunds made on one booking for one reason."""
        return [act for act in self.of("refund") if act.booking_id == booking_id and act.reason == reason]

    def _act(self, change: Change) -> Act | None:
        if change.table in _PAPERWORK:
            return None
        if change.table in _CONSEQUENCES and not _is_entry(change):
            return None
        match change.table:
            case "bookings":
                kind = _booking_kind(change)
                topic = TOPIC_OF.get(kind, "")
                if kind == "cancel" and change.after["cancel_reason"] == "relocation_declined":
                    topic = "relocation"
                return Act(kind, topic, (change.before or change.after)["guest_id"], change.key, change)
            case "folios" if not change.before and change.after["kind"] == "company":
                return self._on_booking("open_folio", change.after["booking_id"], change, "folio_split")
            case "charges":
                return self._charge(change)
            case "refunds" if not change.before:
                return self._refund(change)
            case "loyalty_entries":
                row = change.after
                return self._on_booking(
                    "entry", row["booking_id"], change, TOPIC_OF_ENTRY.get(row["kind"], ""), row["kind"]
                )
            case "group_blocks" if change.before and change.after.get("released", 0) > change.before["released"]:
                return Act("release", "group_block", change.before["organiser_id"], None, change)
            case "guests" if change.before and _differences(change) == {"last_goodwill_on"}:
                return Act("goodwill", "no_show", change.key, None, change)
            case _:
                return Act("stray", "", "", None, change)

    def _charge(self, change: Change) -> Act:
        row = change.after or change.before
        owner = self.owner(row["folio_id"])
        booking_id, guest_id = owner.get("booking_id"), owner.get("guest_id", "")
        if not change.before:
            topic = TOPIC_OF_CHARGE.get(row["kind"], "")
            return Act("charge", topic, guest_id, booking_id, change, row["kind"], row["amount_cents"])
        changed = _differences(change)
        if changed == {"folio_id"}:
            return Act("move_charge", "folio_split", guest_id, booking_id, change, row["kind"], row["amount_cents"])
        if change.after and changed <= {"waived_cents", "waive_reason"}:
            cents = row["waived_cents"] - change.before["waived_cents"]
            reason = row["waive_reason"] or ""
            return Act("waive", TOPIC_OF_RETURN.get(reason, ""), guest_id, booking_id, change, reason, cents)
        return Act("stray", "", guest_id, booking_id, change)

    def _refund(self, change: Change) -> Act:
        row = change.after
        owner = self.owner(self.end.row("payments", row["payment_id"]).get("folio_id"))
        booking_id = owner.get("booking_id")
        topic = TOPIC_OF_RETURN.get(row["reason"], "")
        declined = self.end.row("bookings", booking_id).get("cancel_reason") == "relocation_declined"
        if topic == "cancellation" and declined:
            topic = "relocation"
        return Act("refund", topic, owner.get("guest_id", ""), booking_id, change, row["reason"], row["amount_cents"])

    def _on_booking(self, kind: ActKind, booking_id: str, change: Change, topic: str, reason: str = "") -> Act:
        guest_id = self.end.row("bookings", booking_id).get("guest_id", "")
        return Act(kind, topic, guest_id, booking_id, change, reason)

    def owner(self, folio_id: Any) -> Row:
        """The booking, block and guest that a folio belongs to."""
        folio = self.end.row("folios", folio_id)
        booking = self.end.row("bookings", folio.get("booking_id"))
        block = self.end.row("group_blocks", folio.get("group_block_id"))
        return {
            "booking_id": folio.get("booking_id"),
            "group_block_id": folio.get("group_block_id"),
            "guest_id": booking.get("guest_id") or block.get("organiser_id") or "",
        }

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
        return "\n".join(
            e.text for e in self.case.log[: self.places.get(call, len(self.case.log))] if e.kind == "heard"
        )

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

    @cached_property
    def failures(self) -> tuple[Event, ...]:
        """Calls that failed for a time and changed nothing."""
        done = {change.call for change in self.changes}
        return tuple(call for call in self._timed_out() if call.call not in done)

    @cached_property
    def hidden_successes(self) -> tuple[Event, ...]:
        """Calls that failed for the eye but were carried out."""
        done = {change.call for change in self.changes}
        return tuple(call for call in self._timed_out() if call.call in done)

    def _timed_out(self) -> Iterator[Event]:
        calls = {event.call: event for event in self.case.log if event.kind == "call"}
        for event in self.case.log:
            if event.kind != "result" or event.ok or event.call not in calls:
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


def plain(text: str) -> str:
    """Text without case and accents, blanks made single."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).split())


def bare(text: str) -> str:
    """Letters and digits only, without case and accents."""
    return re.sub(r"[\W_]", "", plain(text))


def usd(cents: int) -> str:
    """Integer cents as a reader writes them."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def _named(table: str, values: tuple[Any, ...] | None) -> Row:
    if values is None:
        return {}
    return dict(zip(Base.metadata.tables[table].columns.keys(), values, strict=True))


def _differences(change: Change) -> set[str]:
    return {name for name, value in change.before.items() if change.after.get(name) != value}


def _is_entry(change: Change) -> bool:
    return change.table == "loyalty_entries" and not change.before


def _booking_kind(change: Change) -> ActKind:
    if not change.before or not change.after:
        return "stray"
    changed = _differences(change)
    ends: Mapping[str, ActKind] = {"cancelled": "cancel", "voided": "void", "relocated": "relocate"}
    if "status" in changed:
        return ends.get(change.after["status"], "stray")
    if "room_type_id" in changed:
        return "upgrade"
    if changed & {"arrival", "departure", "change_count"}:
        return "shorten" if change.before["status"] == "in_house" else "move"
    if "late_checkout_hour" in changed:
        return "late"
    return "rename" if "stay_name" in changed else "stray"
