"""What an episode needs of a customer, and which kinds there are besides the scripted one.

A customer is told the persona and what the agent says, nothing else: never the database, and never the verdict.
"""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tb_envs.endpoints import model_options
from tb_envs.settings import USERS, kind_of, options_of

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

    ``llm``: a language model writes its words (`llm.ModelUser`). ``recorded``: it says what one said before.

    Raises:
        UsageError: its options are wrong, what it needs is not installed, or the task is none for it.
    """
    assert episode.task is not None
    user = episode.settings.user
    kind = kind_of("user", user, USERS)
    if kind == "scripted":
        from .scripted import ScriptedUser

        task = episode.task
        return ScriptedUser(task.scenario.customer, task.domain.vocabulary, task.user_seed)
    from .llm import check_acts, open_model_user

    check_acts(episode.task)
    if kind == "recorded":
        from .recorded import RecordedUser

        return RecordedUser(episode, attempt, Path(options_of(user)["path"]))
    endpoint, record = model_options("user", user)
    return open_model_user(episode, attempt, endpoint, record)
