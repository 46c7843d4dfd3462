r"""Tool calls in tags, as Qwen3-Coder and Qwen3.5 and later write them.

``<tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>``. Values are text
over any number of lines, without types and without escapes, so they are cast by the tool's schema
(`tb_envs.parse.cast`). A value ends at the first ``</parameter>`` that another parameter or the function's end
follows. Written are texts as they are and everything else as JSON, as Qwen3.6's and Qwen3.8's templates do (older ones
write ``True`` and ``None``, which are read, too).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tb_envs.actions import ToolCall
from tb_envs.parse.cast import cast_arguments
from tb_envs.parse.reading import as_text, skip
from tb_envs.parse.turn import Call, Malformed, Tools

OPEN, CLOSE = "<tool_call>", "</tool_call>"
FUNCTION, END = "<function=", "</function>"
PARAMETER = "<parameter="
_VALUE_END = re.compile(r"</parameter>(?=[ \t\r\n]*(?:<parameter=|</function>))")
_NAME = re.compile(r"[^<>\n]*")


def read(text: str, place: int, tools: Tools) -> tuple[list[Call], int]:
    """The call whose block opens at `place`, and where the block ends."""
    name, place = _tag(text, skip(text, place + len(OPEN)), FUNCTION, "a function")
    arguments: dict[str, str] = {}
    while not text.startswith(END, place := skip(text, place)):
        key, place = _tag(text, place, PARAMETER, "a parameter or the end of the function")
        if key in arguments:
            raise Malformed(f"Your tool call gives the parameter {key[:40]!r} twice.")
        ends = _VALUE_END.search(text, place)
        if ends is None:
            raise Malformed(f"In your tool call the parameter {key[:40]!r} is not closed.")
        arguments[key] = text[place : ends.start()].removeprefix("\n").removesuffix("\n")
        place = ends.end()
    end = skip(text, place + len(END))
    if not text.startswith(CLOSE, end):
        raise Malformed("After the end of the function the block of your tool call is not closed.")
    return [{"name": name, "arguments": cast_arguments(name, arguments, tools)}], end + len(CLOSE)


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as the model would write them."""
    return "\n".join(map(_block, calls))


def _tag(text: str, place: int, tag: str, what: str) -> tuple[str, int]:
    if not text.startswith(tag, place):
        raise Malformed(f"Where {what} should begin, your tool call goes on with {text[place : place + 20]!r}.")
    found = _NAME.match(text, place + len(tag))
    name = found[0].strip() if found else ""
    if found is None or not name or not text.startswith(">", found.end()):
        raise Malformed(f"In your tool call the tag of {what} has no name.")
    return name, found.end() + 1


def _block(call: ToolCall) -> str:
    lines = [f"{PARAMETER}{key}>\n{as_text(value)}\n</parameter>\n" for key, value in call.arguments.items()]
    return f"{OPEN}\n{FUNCTION}{call.name}>\n{''.join(lines)}{END}\n{CLOSE}"
