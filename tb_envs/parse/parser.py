"""A turn's text, read from left to right: thoughts, calls, visible text; and an action written as text.

Whatever the text is, reading never raises, no thought and no part of a call becomes visible, and special tokens never
do. A thought that was not opened (the prompt opens it, or the model left the tag out) ends at its closing tag all the
same: what stands before is thought. Refuses to write what it would not read back as the same action.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from tb_envs.actions import Turn, looks_like_call, parse_action
from tb_envs.errors import UsageError
from tb_envs.parse.cast import cast_arguments
from tb_envs.parse.families import FAMILIES
from tb_envs.parse.reading import BLANK, as_text, skip
from tb_envs.parse.turn import AssistantTurn, Call, Malformed, OnlyThought, Tools

THOUGHTS = {"<think>": "</think>", "[THINK]": "[/THINK]"}
"""Tags around a thought: Qwen's (and most others'), Magistral's."""

_TAGS = "|".join(re.escape(tag) for pair in THOUGHTS.items() for tag in pair)
_RESIDUE = re.compile(
    rf"{_TAGS}|</?tool_call\b|</?function\b|</?parameter\b|\[TOOL_CALLS\]|\[ARGS\]|<\|python_tag\|>|"
    r'\{\s*"(?:name|function)"\s*:',
    re.IGNORECASE,
)
"""What no visible text holds: parts of calls, in any format, and of thoughts."""


class Parser:
    """Reads and writes the turns of one family of models.

    Args:
        family: a name of `tb_envs.parse.families.FAMILIES`.
        inside: the tag that ends a thought which the prompt has opened; empty if it opens none.
        lead: what is written before an answer without a thought, e.g. an empty thought; a thought is put into it.
        special: texts of the tokenizer's special tokens, which never become visible.

    Raises:
        UsageError: there is no such family.
    """

    def __init__(self, family: str, *, inside: str = "", lead: str = "", special: Collection[str] = ()) -> None:
        if family not in FAMILIES:
            raise UsageError(f"model.parser: there is no {family!r}; valid: auto, {', '.join(FAMILIES)}")
        self.family, self._inside = FAMILIES[family], inside
        self._lead = lead or (f"\n{inside}\n\n" if inside else "")
        self._marks = re.compile(f"{_TAGS}|{re.escape(self.family.opens)}")
        hidden = sorted(filter(None, special), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, hidden))) if hidden else None

    def read(self, text: str, tools: Tools = (), *, ended: bool = True) -> AssistantTurn:
        """A turn.

        Args:
            text: everything that was sampled, special tokens included, without the one that ended it.
            tools: the definitions by which untyped arguments are cast.
            ended: whether the model ended the turn itself.
        """
        thoughts: list[str] = []
        try:
            said, calls = self._scan(text, tools, thoughts)
            content = self._visible(said)
            self._refuse(said, content, calls, thoughts)
        except Malformed as problem:
            lost = isinstance(problem, OnlyThought)
            cut = "" if ended else " Your turn was cut off by the limit of tokens."
            return AssistantTurn(
                "thinking" if lost else "malformed", _joined(thoughts), problem=f"{problem}{cut}", cut_off=not ended
            )
        state = "calls" if calls else "content"
        return AssistantTurn(state, _joined(thoughts), content, tuple(calls), cut_off=not ended)

    def write(self, action: Any, tools: Tools = (), *, thinking: str = "") -> str:
        """A valid action as the model would write it: the opposite of `read`.

        Args:
            action: whatever the environment takes.
            tools: as in `read`.
            thinking: what the model thinks first.

        Raises:
            UsageError: the action is wrong, or this family cannot write it.
        """
        turn = parse_action(action)
        if turn.problem:
            raise UsageError(f"this is no action: {turn.problem}")
        text = turn.content
        if turn.calls:
            text = self.family.write(turn.calls)
            if turn.content:
                head = "" if text.startswith(self.family.opens) else self.family.opens
                text = f"{turn.content}{self.family.gap}{head}{text}"
        text = self._before(thinking) + text
        read = self.read(text, tools).action
        if read.problem or (read.content, self._deeds(read)) != (turn.content.strip(BLANK), self._deeds(turn, tools)):
            raise UsageError(f"the format {self.family.name} cannot write this turn: {text[:200]!r}")
        return text

    def _deeds(self, turn: Turn, tools: Tools | None = None) -> list[tuple[str, str, str]]:
        """What a turn does, without ids; with tools, as they would take arguments that lost their types."""
        deeds: list[tuple[str, str, str]] = []
        for call in turn.calls:
            written = call.written
            if self.family.untyped and tools is not None:
                texts = {key: as_text(value) for key, value in call.arguments.items()}
                written = json.dumps(cast_arguments(call.name, texts, tools))
            deeds.append((call.name, written, call.problem))
        return deeds

    def _before(self, thinking: str) -> str:
        if not thinking:
            return self._lead
        lead = self._lead or "<think>\n\n</think>\n\n"
        close = next(close for close in THOUGHTS.values() if close in lead)
        head, _, tail = lead.partition(close)
        return head.removesuffix("\n") + thinking + f"\n{close}{tail}"

    def _scan(self, text: str, tools: Tools, thoughts: list[str]) -> tuple[str, list[Call]]:
        """Visible text and calls; thoughts go into the list as they end."""
        said: list[str] = []
        calls: list[Call] = []
        place, inside = 0, self._inside
        while True:
            if inside:
                end = text.find(inside, place)
                thoughts.append(text[place:] if end < 0 else text[place:end])
                if end < 0:
                    raise OnlyThought("Your turn ended inside a thought, so nothing was said and nothing called.")
                place, inside = end + len(inside), ""
            found = self._marks.search(text, place)
            start = found.start() if found else len(text)
            bare = skip(text, place)
            if self.family.bare and not calls and not "".join(said).strip(BLANK) and text.startswith("{", bare):
                start = bare
            elif found is None:
                return "".join([*said, text[place:]]), calls
            elif found[0] in THOUGHTS:
                said.append(text[place:start])
                place, inside = found.end(), THOUGHTS[found[0]]
                continue
            elif found[0] in THOUGHTS.values():
                if calls:
                    raise Malformed("A thought ends after your tool call, which was therefore not carried out.")
                thoughts += [*said, text[place:start]]
                said.clear()
                place = found.end()
                continue
            said.append(text[place:start])
            new, place = self.family.read(text, start, tools)
            calls += new

    def _refuse(self, said: str, content: str, calls: Sequence[Call], thoughts: Sequence[str]) -> None:
        if _RESIDUE.search(said) or _RESIDUE.search(content):
            raise Malformed("Your text holds a part of a tool call or of a thought, so nothing was said or called.")
        if not calls and looks_like_call(content):
            raise Malformed("This begins like a call and is not in your format for tool calls.")
        if not calls and not content:
            if _joined(thoughts):
                raise OnlyThought("You thought, and then neither spoke nor called a tool.")
            raise Malformed("Your turn was empty.")

    def _visible(self, text: str) -> str:
        # A blank in place of each: what stood on both sides of it never grows together into another tag.
        return (self._special.sub(" ", text) if self._special else text).strip(BLANK)


def _joined(thoughts: Sequence[str]) -> str:
    return "\n".join(filter(None, (thought.strip(BLANK) for thought in thoughts)))
