"""Chat template to token ids: the first prompt of an episode, then only what the environment adds. Token in, token out.

What the model sampled is never tokenised again: a turn's ids stay as they are and the environment's messages are
rendered *behind a constant prefix* (a user's and an assistant's turn), from which the prefix is cut off. Refuses a chat
template for which that is not the same as rendering the whole conversation. Special tokens written as plain text by a
customer or a tool are defused: they never become special.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.task import Task

PREFIX = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]
PROBES = (
    [{"role": "user", "content": "What is it?"}],
    [{"role": "tool", "name": "t", "content": '{"ok": true}'}, {"role": "tool", "name": "t", "content": "no"}],
)


class Renderer:
    """Renders one domain's episodes for one tokenizer.

    Args:
        tokenizer: any of transformers' with a chat template whose end-of-turn token is its ``eos_token``.
        prompt: ``full``: the instructions with the whole policy, and each tool's description and JSON schema.
            ``compact``: *leaves out the policy text, every tool's description, and the types, enums, help and limits of
            its arguments*; what stays is the agent's role, the time, how to act, and the names of the tools and of
            their arguments. A model trained on it has not read the rules, so it cannot know them: for smoke tests.

    Raises:
        UsageError: the template is not additive; the message says what broke.
    """

    def __init__(self, tokenizer: Any, prompt: str = "compact") -> None:
        self.tokenizer = tokenizer
        self.prompt = prompt
        self.eos = str(tokenizer.eos_token)
        self.eos_id = int(tokenizer.convert_tokens_to_ids(self.eos))
        self._defuse = {token: f"{token[0]} {token[1:]}" for token in tokenizer.get_added_vocab() if len(token) > 1}
        whole = self._text(PREFIX)
        place = whole.rfind(self.eos)
        if place < 0:
            raise UsageError(f"the chat template does not end an assistant's turn with the eos token {self.eos!r}")
        self._prefix = whole[: place + len(self.eos)]
        for probe in PROBES:
            together = self.encode(self._text([*PREFIX, *probe], add_generation_prompt=True))
            if together != self.encode(self._prefix) + self.added(probe, closed=True):
                raise UsageError("the chat template renders a message differently when others follow it")

    def first(self, task: Task, opening: Sequence[Mapping[str, Any]]) -> list[int]:
        """Ids up to the model's first turn: instructions, tools, the customer's first words."""
        instructions, tools = task.instructions, list(task.domain.tool_definitions)
        if self.prompt == "compact":
            instructions = instructions.removesuffix(task.domain.policy_text).rstrip()
            tools = [_signature(tool["function"]) for tool in tools]
        system = {"role": "system", "content": instructions}
        return self.encode(self._text([system, *self._safe(opening)], tools=tools, add_generation_prompt=True))

    def added(self, messages: Sequence[Mapping[str, Any]], *, closed: bool) -> list[int]:
        """Ids of new messages and of the head of the model's next turn, to follow a turn of the model.

        Args:
            messages: what the environment said since.
            closed: whether the model ended its turn itself; if it was cut off, the end is added here, unsampled.
        """
        text = self._text([*PREFIX, *self._safe(messages)], add_generation_prompt=True)
        if not text.startswith(self._prefix):
            raise UsageError("the chat template renders a turn differently when messages follow it")
        return self.encode(("" if closed else self.eos) + text[len(self._prefix) :])

    def encode(self, text: str) -> list[int]:
        """Ids of rendered text, special tokens read as such."""
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a sampled turn, without the token that ended it."""
        own = ids[:-1] if ids and ids[-1] == self.eos_id else ids
        return str(self.tokenizer.decode(list(own), clean_up_tokenization_spaces=False))

    def _text(self, messages: Sequence[Mapping[str, Any]], **kwargs: Any) -> str:
        return str(self.tokenizer.apply_chat_template([dict(m) for m in messages], tokenize=False, **kwargs))

    def _safe(self, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        safe = [dict(message) for message in messages]
        for message in safe:
            for token, harmless in self._defuse.items():
                message["content"] = message["content"].replace(token, harmless)
        return safe


def _signature(function: Mapping[str, Any]) -> dict[str, str]:
    return {function["name"]: ", ".join(function["parameters"].get("properties", {}))}
