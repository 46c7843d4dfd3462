"""What a domain's `audit.py` gets and gives: a finished episode as state before, state after and log, and violations.

An audit is the second opinion on every accepted end. It imports neither the families nor `policy.py`, so a rule that
was understood wrongly in one place is caught by the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from tb_envs.session.log import Event
from tb_envs.store.journal import RowChange

Rows = Mapping[str, Mapping[str, Any]]
"""Rows of one table by id, each a mapping of column to value."""


class Violation(NamedTuple):
    """One breach of the written policy."""

    section: str
    message: str


@dataclass(frozen=True)
class Case:
    """A finished episode.

    Attributes:
        before, after: table → id → row.
        changes: every row change in order, undone ones included; values in the order of the table's columns.
        log: everything said, heard, called, answered and changed, in one sequence.
        now: the frozen clock.
    """

    before: Mapping[str, Rows]
    after: Mapping[str, Rows]
    changes: Sequence[RowChange]
    log: Sequence[Event]
    now: datetime
