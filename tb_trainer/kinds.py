"""Kinds of numbers in the tree of settings, and its base. Refuses to name a setting."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(gt=0, le=1)]
NotNegative = Annotated[float, Field(ge=0)]
AboveZero = Annotated[float, Field(gt=0)]


class Strict:
    """Base of the tree: unknown names are refused."""

    __pydantic_config__ = ConfigDict(extra="forbid")
