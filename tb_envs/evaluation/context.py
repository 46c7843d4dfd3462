"""What happens when a talk gets longer than the agent's model can read: an explicit rule, named in every row.

* ``none``: everything is sent; where the server then says that it is too long, the attempt ends (``limit:context``);
* ``drop-tool-results:N``: the oldest tool results are replaced by `LEFT_OUT` until the rest fits into N tokens; those
  of the last turn stay, and where all this is not enough the attempt ends;
* ``stop:N``: the attempt ends.

An attempt that ends so is graded from the database like any other. Tokens are estimated as one per four characters of
all that is sent: instructions, tools, messages. Refuses to change what was said, by either side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from tb_envs.errors import UsageError

Rule = Literal["none", "drop-tool-results", "stop"]
RULES: tuple[Rule, ...] = ("none", "drop-tool-results", "stop")
LEFT_OUT = "[This earlier result was left out: the conversation is too long. Call the tool again if it is needed.]"
CHARACTERS_PER_TOKEN = 4

Message = Mapping[str, Any]


class View(NamedTuple):
    """What is sent of a talk: its messages, how many tool results were left out, and whether it fits."""

    messages: list[Message]
    dropped: int
    fits: bool


@dataclass(frozen=True)
class ContextRule:
    """A rule and its limit in tokens, 0 for none."""

    rule: Rule = "none"
    limit: int = 0

    @classmethod
    def of(cls, text: str) -> ContextRule:
        """A rule as it is written: ``none``, ``drop-tool-results:32000``, ``stop:32000``.

        Raises:
            UsageError: it is not written so.
        """
        name, mark, number = text.partition(":")
        counted = name in RULES[1:] and number.isascii() and number.isdigit() and int(number) > 0
        if not counted and text != "none":
            raise UsageError(f"--context is none, drop-tool-results:32000 or stop:32000 (tokens), got {text!r}")
        return cls(cast("Rule", name), int(number) if mark else 0)

    def to_json(self) -> dict[str, Any]:
        """The rule as it stands in rows and manifests."""
        return {"rule": self.rule, "limit": self.limit}

    def view(self, messages: Sequence[Message], fixed: int) -> View:
        """What is sent of these messages beside `fixed` characters of instructions and tools."""
        if self.rule == "none":
            return View(list(messages), 0, True)
        over = fixed + sum(map(length, messages)) - self.limit * CHARACTERS_PER_TOKEN
        sent, dropped = list(messages), 0
        if self.rule == "drop-tool-results":
            for place in range(_last_turn(messages)):
                if over <= 0:
                    break
                content = messages[place].get("content") or ""
                if messages[place]["role"] == "tool" and len(content) > len(LEFT_OUT):
                    sent[place] = {**messages[place], "content": LEFT_OUT}
                    over -= len(content) - len(LEFT_OUT)
                    dropped += 1
        return View(sent, dropped, over <= 0)


def length(message: Message) -> int:
    """Characters of a message: its text and its calls."""
    calls = message.get("tool_calls") or ()
    called = sum(len(call["function"]["name"]) + len(call["function"]["arguments"]) for call in calls)
    return len(message.get("content") or "") + called


def fixed_length(instructions: str, tools: Sequence[Mapping[str, Any]]) -> int:
    """Characters that every request of an attempt begins with."""
    return len(instructions) + len(json.dumps(tools))


def _last_turn(messages: Sequence[Message]) -> int:
    """Place of the agent's last turn."""
    return next((place for place in reversed(range(len(messages))) if messages[place]["role"] == "assistant"), 0)
