"""Thoughts that a server leaves in a model's words (`<think>…</think>`): what is said is what comes after them.

Refuses to look for them anywhere but at the beginning: later the tags are the model's own words.
"""

from __future__ import annotations

import re

_NAMES = "think|thinking|reasoning"
_BEGINNING = re.compile(
    rf"\A(?:\s*<({_NAMES})>.*?(?:</\1>|\Z))+|\A(?:(?!<(?:{_NAMES})>).)*?</(?:{_NAMES})>", re.DOTALL | re.IGNORECASE
)
"""The opening tag may be in the prompt, and the closing one lost where the answer was cut off."""
TAG = re.compile(rf"</?(?:{_NAMES})>", re.IGNORECASE)
"""What is left of thoughts where they stand in the middle of words."""


def spoken(text: str) -> str:
    """The words without the thoughts before them."""
    return _BEGINNING.sub("", text, count=1)
