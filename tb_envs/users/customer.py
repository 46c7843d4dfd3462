"""What an episode needs of a customer, and which kinds there are besides the scripted one.

A customer is told the persona and what the agent says, nothing else: never the database, and never the verdict.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol

from tb_envs.errors import UsageError

from .reply import Reply

if TYPE_CHECKING:
    from tb_envs.episode import Episode


class Customer(Protocol):
    """One customer in one talk. A customer who does input and output answers with awaitables."""

    def opening(self) -> Reply | Awaitable[Reply]:
        """The first words."""
        ...

    def reply(self, text: str) -> Reply | Awaitable[Reply]:
        """The answer to what the agent said. `UserError` is a system error."""
        ...


def make_user(episode: Episode, attempt: int) -> Customer:
    """The customer that the episode's settings name, for its task; `attempt` tells repeated attempts apart.

    Raises:
        UsageError: its options are wrong, or what it needs is not installed.
    """
    raise UsageError(f"unknown user {episode.settings.user!r}")
