"""One turn of the model, read: what it thought, what it said, what it calls, or why it could not be read.

A thought is never spoken and is no answer. A turn that cannot be read is an action that the environment refuses with an
explanation; nothing here repairs a call, drops one or says one to the customer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tb_envs.actions import HOW as JSON_HOW
from tb_envs.actions import Turn, parse_action

Call = dict[str, Any]
"""``name``, ``arguments`` and, where the model wrote one, ``id``."""
Tools = Sequence[Mapping[str, Any]]
"""Function definitions as chat templates take them: ``{"type": "function", "function": {"name", "parameters"}}``."""

HOW = "Write each tool call exactly in your format for tool calls, or plain text to speak to the customer."


class Malformed(ValueError):
    """A turn that cannot be read; its text says why, in words for the model."""


class OnlyThought(Malformed):
    """A turn that never got past a thought."""


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """One assistant turn.

    Attributes:
        state: what the turn came to; ``thinking`` if it never got past a thought, which is no answer.
        thinking: thoughts, without their tags; never spoken.
        content: visible text; said to the customer if there are no calls, else only kept in the log.
        calls: in the order they were written.
        problem: why the turn cannot be read, for the model; then `content` and `calls` are empty.
        cut_off: whether the limit of new tokens ended it, not the model.
    """

    state: Literal["thinking", "content", "calls", "malformed"]
    thinking: str = ""
    content: str = ""
    calls: tuple[Call, ...] = ()
    problem: str = ""
    cut_off: bool = False

    @property
    def action(self) -> Turn:
        """What the environment is given."""
        if self.problem:
            return Turn("", (), f"{self.problem} {HOW}")
        turn = parse_action({"content": self.content, "tool_calls": list(self.calls)})
        return turn._replace(problem=turn.problem.replace(JSON_HOW, HOW))
