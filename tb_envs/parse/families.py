"""The families of tool-call formats, by name, and which of them a chat template speaks.

A new family is a module with ``read`` and ``write`` and one line in `FAMILIES`. Refuses to guess: a template that shows
no format known here needs its family named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tb_envs.actions import ToolCall
from tb_envs.errors import UsageError
from tb_envs.parse import hermes, llama, mistral, qwen3_xml
from tb_envs.parse.turn import Call, Tools


class Family(NamedTuple):
    """One format.

    Attributes:
        name: as in the configuration.
        opens: the text that begins a call.
        read: text, place of the opening, tools → the calls there and where they end; raises `Malformed`.
        write: calls → text.
        gap: between visible text and the first call.
        bare: whether a brace at the beginning of a turn begins a call, too.
        untyped: whether arguments are written without their types, so that reading casts them by the tool's schema.
    """

    name: str
    opens: str
    read: Callable[[str, int, Tools], tuple[list[Call], int]]
    write: Callable[[Sequence[ToolCall]], str]
    gap: str = "\n"
    bare: bool = False
    untyped: bool = False


FAMILIES = {
    family.name: family
    for family in (
        Family("hermes", hermes.OPEN, hermes.read, hermes.write),
        Family("hermes_compact", hermes.OPEN, hermes.read, hermes.write_compact, gap=""),
        Family("qwen3_xml", qwen3_xml.OPEN, qwen3_xml.read, qwen3_xml.write, gap="\n\n", untyped=True),
        Family("llama", llama.TAG, llama.read, llama.write, gap="", bare=True),
        Family("mistral", mistral.OPEN, mistral.read, mistral.write_list, gap=""),
        Family("mistral_args", mistral.OPEN, mistral.read, mistral.write_named, gap=""),
        Family("mistral_call_id", mistral.OPEN, mistral.read, mistral.write_with_id, gap=""),
    )
}


def family_of(template: str) -> str:
    """The family whose calls a chat template renders.

    Raises:
        UsageError: none of them.
    """
    if "<function=" in template and "<parameter=" in template:
        return "qwen3_xml"
    if "<tool_call>" in template and "arguments" in template:
        return "hermes_compact" if '<tool_call>{"name":"' in template else "hermes"
    if mistral.OPEN in template:
        if mistral.CALL_ID in template:
            return "mistral_call_id"
        return "mistral_args" if mistral.ARGS in template else "mistral"
    if "<|start_header_id|>" in template and '"parameters"' in template:
        return "llama"
    raise UsageError(
        "the chat template shows no format of tool calls that is known here: set model.parser to one of "
        f"{', '.join(FAMILIES)} (tbx eval: --sampling parser=…)"
    )
