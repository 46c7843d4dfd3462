"""The one space of observations and actions: any text, in any script, and for actions also an action object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

_LINES = (
    "Hello, how can I help you?",
    "Could you tell me a little more about it?",
    "Thank you. One moment, please.",
    "I see. Is there anything else I should know?",
)


class Message(gymnasium.Space[Any]):
    """Any `str`, or a mapping that is meant as an action; `sample()` is a harmless sentence to a customer."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A harmless sentence; `mask` and `probability` mean nothing here."""
        return _LINES[int(self.np_random.integers(len(_LINES)))]

    def contains(self, x: Any) -> bool:
        """Any text; any mapping."""
        return isinstance(x, str | Mapping)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no fixed array form."""
        return False

    def __repr__(self) -> str:
        return "Message()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message)

    def __hash__(self) -> int:
        return hash(Message)
