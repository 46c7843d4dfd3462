"""What ``--sampling`` may say for a model on this machine: how it is read, how it samples, where it computes.

All of it is recorded in the campaign's manifest. Refuses fields that it does not know: none is asked for in
vain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.parse import FAMILIES

DTYPES = ("auto", "float32", "bfloat16", "float16")
SEEN = {"date_string": "26 Jul 2024"}
"""For templates: Llama 3's puts the machine's date into every prompt where nobody says one."""


@dataclass(frozen=True)
class Options:
    """Fields of ``--sampling``.

    Attributes:
        temperature: divides the logits; 0 takes the likeliest token.
        top_p: mass of the likeliest tokens that are kept; 1 keeps all.
        top_k: how many of the likeliest tokens are kept; 0 keeps all.
        max_tokens: of one turn; a turn that reaches it is cut off there.
        chat_template: ``own``, the model's, and where that is ChatML and knows no tools, the same with tools;
            ``signatures``, ChatML with the tools' names, arguments and types alone; or a ``.jinja`` file.
        chat_template_kwargs: what the template is told beside messages and tools, e.g. ``{"enable_thinking": false}``.
        parser: format of tool calls, one of `tb_envs.parse.FAMILIES`; ``auto``: what the template shows.
        dtype: of the weights; ``auto``: as they were saved.
        device: as torch names it; ``auto``: the GPU, if there is one.
        width: turns that are written at the same time, at most. It changes the shape of each computation and so,
            in the last bits, its result; `concurrency` does not.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int = 1024
    chat_template: str = "own"
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parser: str = "auto"
    dtype: str = "auto"
    device: str = "auto"
    width: int = 8

    @classmethod
    def of(cls, sampling: Mapping[str, Any]) -> Options:
        """The options in the fields of ``--sampling``.

        Raises:
            UsageError: there is no such field, or it cannot have this value.
        """
        known = {f.name for f in fields(cls)}
        strange = sorted(set(sampling) - known)
        if strange:
            raise UsageError(
                f"--sampling {strange[0]}: a model on this machine does not read it; valid: {', '.join(sorted(known))}"
            )
        options = cls(**sampling)
        options.check()
        return options

    def check(self) -> None:
        """Refuse values that mean nothing."""
        rules = {
            "temperature": (_number(self.temperature) and 0 <= self.temperature <= 100, "0 to 100"),
            "top_p": (_number(self.top_p) and 0 < self.top_p <= 1, "above 0, at most 1"),
            "top_k": (_whole(self.top_k, 0), "a whole number, 0 for all"),
            "max_tokens": (_whole(self.max_tokens, 1), "a whole number from 1"),
            "width": (_whole(self.width, 1), "a whole number from 1"),
            "dtype": (self.dtype in DTYPES, f"one of {', '.join(DTYPES)}"),
            "chat_template_kwargs": (_is(self.chat_template_kwargs, Mapping), "a JSON object"),
            "chat_template": (_is(self.chat_template, str), "own, signatures or a .jinja file"),
            "device": (_is(self.device, str), "auto, cpu, cuda, cuda:1, …"),
        }
        for name, (right, wanted) in rules.items():
            if not right:
                raise UsageError(f"--sampling {name}={getattr(self, name)!r}: valid is {wanted}")
        if self.parser != "auto" and self.parser not in FAMILIES:
            raise UsageError(f"--sampling parser: there is no {self.parser!r}; valid: auto, {', '.join(FAMILIES)}")
        template = self.chat_template
        if template not in ("own", "signatures") and not (template.endswith(".jinja") and Path(template).is_file()):
            raise UsageError(
                f"--sampling chat_template={template!r}: valid are own, signatures, or an existing .jinja file"
            )

    def switches(self) -> dict[str, Any]:
        """What the template is told beside messages and tools."""
        return {**SEEN, **self.chat_template_kwargs}


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
