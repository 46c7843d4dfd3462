"""Chat templates: which one a tokenizer has, and two for ChatML models whose own template knows no tools.

Both write calls as Hermes does. Refuses to choose: who renders says which, and says so to the user.
"""

from __future__ import annotations

from typing import Any, cast

from tb_envs.errors import UsageError

_RESULT = """\
{%- for message in messages %}
{%- if message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
{{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\\n' }}{%- endif %}
{%- else %}
"""
_HOW = """\
# Tools\\n\\nTo call a tool, write a JSON object with its name and arguments between tags:\\n' }}
{{- '<tool_call>\\n{"name": <name>, "arguments": <object>}\\n</tool_call>\\n<tools>' }}
"""
_CALLS = """\
{%- for call in message.tool_calls or [] %}
{{- '\\n' if message.content or not loop.first else '' }}
{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""

CHATML = (
    _RESULT
    + """\
{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- if message.role == 'system' and tools %}
{{- '\\n\\n"""
    + _HOW
    + """\
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools>' }}
{%- endif %}
"""
    + _CALLS
)
"""ChatML with every tool's whole definition behind the instructions, and additive: what follows a message never changes
how it was rendered."""

SIGNATURES = (
    _RESULT
    + """\
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'system' and tools %}
{{- '"""
    + _HOW
    + """\
{%- for tool in tools %}
{%- set parameters = tool.function.parameters %}
{{- '\\n' + tool.function.name + '(' }}
{%- for name, kind in (parameters.properties or {}).items() %}
{{- name + ('' if name in (parameters.required or []) else '?') + ': ' + (kind.type or 'any') }}
{%- if not loop.last %}{{- ', ' }}{%- endif %}
{%- endfor %}
{{- ')' }}
{%- endfor %}
{{- '\\n</tools>\\n\\n' }}
{%- endif %}
{{- message.content or '' }}
"""
    + _CALLS
)
"""The same with tools as signatures (``get_guest(guest_id: string)``) before the instructions, for models whose window
is too small for the whole. *Left out are descriptions, allowed values and limits.*"""


def template_of(tokenizer: Any) -> str:
    """The tokenizer's chat template; of several named ones, that for tools.

    Raises:
        UsageError: there is none.
    """
    own: Any = tokenizer.chat_template
    if isinstance(own, dict):
        named = cast("dict[str, Any]", own)
        own = named.get("tool_use") or named.get("default")
    if not own:
        raise UsageError(
            "the tokenizer has no chat template (a base model?): set model.template "
            "(tbx eval: --sampling chat_template=…) to a .jinja file"
        )
    return str(own)
