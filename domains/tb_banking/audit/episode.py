"""A finished episode as the rules read it: what was done, what was written, who was checked, what was said.

Refuses to judge: rules stand in the modules of their chapters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tb_banking.models import Base
from tb_envs.parts.reading import Change, Reading, Row, State, bare, plain

from .records import Act, ActKind, acts_of


class Check(NamedTuple):
    """One comparison of named facts with a profile."""

    call: int
    customer_id: str
    role: str
    matched: int
    passed: bool


class Code(NamedTuple):
    """What became of a passcode in one call: sent, confirmed or failed."""

    call: int
    customer_id: str
    device_id: str
    status: str


@dataclass(frozen=True)
class Episode(Reading):
    """A finished conversation of Marram Bank, read once for all rules."""

    base = Base
    reads = ("get_", "list_", "find_", "search_", "open_guide", "review_", "quote_")

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """Everything that was done besides paperwork, in order."""
        return acts_of(self.changes, self.end)

    def of(self, *kinds: ActKind) -> list[Act]:
        """Acts of these kinds."""
        return [act for act in self.acts if act.kind in kinds]

    def first(self, *kinds: ActKind, where: Callable[[Act], bool] = bool) -> Act | None:
        """The first act of these kinds for which `where` holds."""
        return next((act for act in self.of(*kinds) if where(act)), None)

    def at(self, act: Act) -> State:
        """The records just before the call that made an act."""
        return self.before(act.call)

    # -- paperwork

    @cached_property
    def cases(self) -> dict[str, Row]:
        """Cases that were opened or changed, or remarked on, as they are in the end."""
        keys = [change.key for change in self.changes if change.table == "cases"]
        return {key: self.end.row("cases", key) for key in dict.fromkeys(keys)}

    @property
    def record(self) -> Row:
        """The case of the conversation; empty when there is none, the last one when there are several."""
        return next(reversed(self.cases.values()), {})

    @cached_property
    def disposition(self) -> str:
        """How the case says the conversation ended."""
        return str(self.record.get("disposition") or "")

    @property
    def sent(self) -> list[Change]:
        """Secure messages that were sent to customers."""
        return [change for change in self.new("messages") if change.after["direction"] == "outbound"]

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """The checks of callers, in order."""
        rows = [(change.call, change.after) for change in self.new("verifications")]
        return tuple(
            Check(call, row["customer_id"], row["role"], row["facts_matched"], row["result"] == "passed")
            for call, row in rows
        )

    @cached_property
    def codes(self) -> tuple[Code, ...]:
        """What became of passcodes, in order."""
        rows = [(change.call, change.after) for change in self.changes if change.table == "passcodes" and change.after]
        return tuple(Code(call, row["customer_id"], row["device_id"], row["status"]) for call, row in rows)

    # -- words

    def was_told(self, words: str, call: int) -> bool:
        """Whether we said these words before a call."""
        return bare(words) in bare(self.said_before(call))

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether the customer said something of the kind at any time."""
        return pattern.search(plain(self.heard)) is not None

    def brings_news(self, pattern: re.Pattern[str]) -> bool:
        """Whether the customer may have named something new: as the words are labelled, else by words of the kind."""
        if self.labelled("unknown:news", "withheld:news"):
            return False
        words = re.sub(r"\be-?mail( address)? is\b", "", plain(self.heard))
        return self.labelled("gave:news") or pattern.search(words) is not None

    def looked_at(self, tool: str, argument: str) -> list[str]:
        """What a read tool was asked about, each once, in order."""
        found = [call.data.get(argument) for call in self.calls(tool)]
        return list(dict.fromkeys(str(value) for value in found if value))
