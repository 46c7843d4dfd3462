"""A finished episode as the hotel's rules read it: what was done, in which ticket, after which checks."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from tb_envs.parts.reading import Change, Reading, Row
from tb_hotel.models import Base

from .records import Act, ActKind, acts_of


class Check(NamedTuple):
    """One identity check."""

    call: int
    guest_id: str
    caller: str
    matched: int
    passed: bool


class Episode(Reading):
    """A finished episode in the hotel's words."""

    base = Base
    reads = ("get_", "list_", "search_", "quote_", "compare_")
    free_words = ("description",)

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

    def last_argument(self, tool: str, booking_id: str, name: str) -> str:
        """An argument of the last call of a tool for a booking; empty without one."""
        found = [call.data.get(name) for call in self.calls(tool) if call.data.get("booking_id") == booking_id]
        return str(found[-1]) if found else ""
