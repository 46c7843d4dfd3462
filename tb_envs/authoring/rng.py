"""Seeded choices that give the same values on every Python version, machine and PYTHONHASHSEED.

Only `random.Random.random` is used underneath: its stream is guaranteed stable, that of `choice` or `sample` is not.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def stable_seed(*parts: object) -> int:
    """A 64-bit seed from the text of its parts."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


class Rng:
    """One reproducible stream of choices."""

    __slots__ = ("_random",)

    def __init__(self, *parts: object) -> None:
        self._random = random.Random(stable_seed(*parts)).random

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        if high < low:
            raise ValueError(f"between({low}, {high}): the upper end is below the lower")
        return low + int(self._random() * (high - low + 1))

    def pick(self, *options: T) -> T:
        """One of the options."""
        return options[int(self._random() * len(options))]

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random() < probability

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A new list in random order (Fisher-Yates)."""
        out = list(items)
        for last in range(len(out) - 1, 0, -1):
            other = int(self._random() * (last + 1))
            out[last], out[other] = out[other], out[last]
        return out
