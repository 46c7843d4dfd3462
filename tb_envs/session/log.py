"""The log of one episode: everything said, heard, called, answered and changed, in one sequence.

It is what order rules, audits and readers see. It is append-only and the agent cannot reach it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Kind = Literal["said", "heard", "call", "result", "row", "ended", "judged"]


class Event(NamedTuple):
    """One entry.

    Attributes:
        kind: ``said`` (agent to customer), ``heard`` (customer to agent), ``call``, ``result``, ``row``, ``ended``;
            after the end ``judged``, a judge's answer to a criterion.
        name: the tool of a call or result, the table of a row, the way it ended, the expectation; empty for speech.
        text: what was said or heard, a call's arguments as the agent wrote them, or a result as it read it.
        data: a call's arguments as checked; a result's object; ``{"acts": (...)}`` of the customer, and ``faults`` of a
            model that played it; a `RowChange`; ``{"criterion", "true"}`` of a judge.
        ok: False for a tool's error result.
        call: number of the tool call it belongs to, 0 for speech.
    """

    kind: Kind
    name: str
    text: str
    data: Any
    ok: bool
    call: int


Log = list[Event]
