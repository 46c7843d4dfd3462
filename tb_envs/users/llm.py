"""A customer whose words a language model writes, with the persona as its private context.

Its first words are the persona's own; each of its answers is held against the persona (`guards`), asked for once more
with the fault named, and then a `UserError`: a system error, never the agent's failure. Its acts are found by comparing
(`labels`). Refuses to show the model anything but the persona and what was said: no tool call, no record, no verdict.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tb_envs.endpoints import Endpoint
from tb_envs.errors import UsageError, UserError
from tb_envs.openai_client import RequestFailed, need_openai
from tb_envs.patience import paid_ask
from tb_envs.thoughts import spoken

from .guards import fault_in
from .labels import FOUND, acts_in
from .ledger import READ, Ledger
from .prompt import ANSWERED, HANG_UP, briefing
from .recorded import Recorder
from .reply import Reply
from .scripted import ScriptedUser

if TYPE_CHECKING:
    from tb_envs.episode import Episode
    from tb_envs.task import Task

TRIES = 2
"""Answers that are asked for in one turn: the first, and one regeneration."""
_HANGS_UP = re.compile(r"[\[(<*]{1,2}\s*hang(?:s|ing)?[ _-]*up\s*[\])>*]{1,2}", re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:\*\*)?(?:customer|caller|user|guest|me)(?:\*\*)?\s*:(?:\*\*)?\s*", re.IGNORECASE)


class ModelUser:
    """One customer in one talk."""

    def __init__(self, episode: Episode, attempt: int, endpoint: Endpoint, record: str | None) -> None:
        task = episode.task
        assert task is not None
        self._episode, self._endpoint, self._tools = episode, endpoint, task.tools.keys()
        self._task = task
        self._recorder = Recorder(task, attempt, Path(record) if record else None)

    def opening(self) -> Reply:
        """The first words, which are the persona's own whoever plays it."""
        first = opening_of(self._task)
        persona, vocabulary = self._task.scenario.customer, self._task.domain.vocabulary
        self._ledger = Ledger(persona, vocabulary, first.text, first.acts)
        self._talk: list[dict[str, Any]] = [
            {"role": "system", "content": briefing(persona, first.text)},
            {"role": "user", "content": ANSWERED},
            {"role": "assistant", "content": first.text},
        ]
        self._recorder.begin(first.text)
        return first

    async def reply(self, text: str) -> Reply:
        """The answer to what the agent said.

        Raises:
            UserError: the endpoint did not answer, or the model said twice what no customer may say.
        """
        self._ledger.hear(text)
        self._talk.append({"role": "user", "content": text[:READ]})
        faults: list[str] = []
        again: list[dict[str, Any]] = []
        for _ in range(TRIES):
            words, leaves, cut = await self._ask(again)
            words = self._ledger.spelled(words)
            fault = fault_in(words, leaves, self._ledger, self._tools, cut)
            if fault is None:
                return self._said(text, Reply(words, leaves, acts_in(words, leaves, self._ledger), tuple(faults)))
            faults.append(fault.name)
            self._episode.user_faults += 1
            again = [
                {"role": "assistant", "content": words or "…"},
                {"role": "user", "content": f"(Nobody heard that. {fault.hint} Write the customer's words anew.)"},
            ]
        raise UserError(f"the model that plays the customer said twice what no customer says: {', '.join(faults)}")

    def _said(self, heard: str, reply: Reply) -> Reply:
        self._ledger.take(reply.text, reply.acts)
        self._talk.append({"role": "assistant", "content": reply.text})
        self._recorder.add(heard, reply)
        return reply

    async def _ask(self, again: list[dict[str, Any]]) -> tuple[str, bool, bool]:
        """The model's next words, whether it hangs up with them, and whether it was cut off."""
        body = {"messages": [*self._talk, *again]}
        try:
            pace = self._episode.paces.get("user")
            answer = await paid_ask(self._endpoint, body, lambda cost: self._episode.spend("user", cost), pace)
        except RequestFailed as failed:
            raise UserError(f"the model that plays the customer: {failed}") from None
        text = spoken(answer.text)
        leaves = _HANGS_UP.search(text) is not None
        words = _LABEL.sub("", _HANGS_UP.sub("", text)).strip()
        if len(words) > 1 and words[0] + words[-1] in ('""', "“”") and '"' not in words[1:-1]:
            words = words[1:-1].strip()
        if not words and leaves:
            words = "Goodbye."
        return words, leaves, answer.finish == "length"


def opening_of(task: Task) -> Reply:
    """The customer's first words, whoever plays it."""
    return ScriptedUser(task.scenario.customer, task.domain.vocabulary, task.user_seed).opening()


def open_model_user(episode: Episode, attempt: int, endpoint: Endpoint, record: str | None) -> ModelUser:
    """A customer played by a model.

    Raises:
        UsageError: the package `openai` is missing.
    """
    need_openai()
    return ModelUser(episode, attempt, endpoint, record)


def check_acts(task: Task) -> None:
    """Refuse a task whose right end reads an act of the customer's that cannot be found in words (`labels.FOUND`).

    Raises:
        UsageError: it does.
    """
    unread = sorted(act for act in task.acts_read if not act.startswith(FOUND))
    if unread:
        raise UsageError(
            f"{task.id} is graded by what the customer does ({', '.join(unread)}), which only the scripted customer "
            f"reports; play it with user='scripted'"
        )


__all__ = ["HANG_UP", "ModelUser", "check_acts", "open_model_user", "opening_of"]
