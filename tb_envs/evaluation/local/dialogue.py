"""A talk as a model's tokens, and a model's tokens as a turn: by its own chat template and its own format of calls.

Each turn's prompt is rendered anew from the messages, as a server renders it: earlier thoughts are not in it, earlier
words and calls are. Special tokens that a customer or a tool writes as plain text are defused. Refuses templates that
show no tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from tb_envs.errors import UsageError
from tb_envs.evaluation.context import Message
from tb_envs.evaluation.local.options import Options
from tb_envs.parse import THOUGHTS, AssistantTurn, Parser, family_of
from tb_envs.parse.mistral import nine
from tb_envs.parse.template import CHATML, SIGNATURES, template_of


class Prompt(NamedTuple):
    """What the model reads before a turn; `inside` is the tag that ends a thought which the prompt has opened."""

    ids: list[int]
    inside: str


class Dialogue:
    """Renders and reads for one tokenizer.

    Args:
        tokenizer: of transformers.
        options: of the model.
        stops: ids that end a turn.

    Raises:
        UsageError: the chat template cannot be used.
    """

    def __init__(self, tokenizer: Any, options: Options, stops: Sequence[int]) -> None:
        self._tokenizer, self._options, self._stops = tokenizer, options, frozenset(stops)
        self.template = _template(tokenizer, options.chat_template)
        self._family = family_of(self.template) if options.parser == "auto" else options.parser
        added: dict[str, int] = tokenizer.get_added_vocab()
        self._defuse = {token: f"{token[0]} {token[1:]}" for token in added if len(token) > 1}
        known: dict[int, Any] = tokenizer.added_tokens_decoder
        self._special = [str(token.content) for token in known.values() if token.special]
        self._parsers = {inside: self._parser(inside) for inside in ("", *THOUGHTS.values())}

    def _parser(self, inside: str) -> Parser:
        return Parser(self._family, inside=inside, special=self._special)

    def prompt(self, instructions: str, tools: Sequence[Mapping[str, Any]], messages: Sequence[Message]) -> Prompt:
        """What the model reads before its next turn.

        Raises:
            UsageError: the template refuses the talk.
        """
        from jinja2.exceptions import TemplateError

        talk = [{"role": "system", "content": instructions}, *map(self._shown, messages)]
        try:
            text = str(
                self._tokenizer.apply_chat_template(
                    talk,
                    tools=list(tools),
                    chat_template=self.template,
                    tokenize=False,
                    add_generation_prompt=True,
                    **self._options.switches(),
                )
            )
        except (TemplateError, TypeError) as error:
            raise UsageError(f"the chat template refuses a conversation with a customer and tools: {error}") from None
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False, verbose=False)
        head = text[-40:].rstrip()
        return Prompt(list(ids), next((close for tag, close in THOUGHTS.items() if head.endswith(tag)), ""))

    def written(self, ids: Sequence[int]) -> str:
        """What the model wrote, special tokens included, without the one that ended its turn."""
        own = ids[:-1] if ids and ids[-1] in self._stops else ids
        return str(self._tokenizer.decode(list(own), clean_up_tokenization_spaces=False))

    def read(self, text: str, tools: Sequence[Mapping[str, Any]], *, inside: str, ended: bool) -> AssistantTurn:
        """A written turn: what was thought, said and called."""
        return self._parsers[inside].read(text, tools, ended=ended)

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(self._tokenizer.encode(text, add_special_tokens=False, verbose=False)) if text else 0

    def _shown(self, message: Message) -> dict[str, Any]:
        """A message as templates take it."""
        content = str(message.get("content") or "")
        if message["role"] != "assistant":
            for token, harmless in self._defuse.items():
                content = content.replace(token, harmless)
        shown: dict[str, Any] = {**message, "content": content}
        if calls := message.get("tool_calls"):
            shown["tool_calls"] = [self._call(call) for call in calls]
        if "tool_call_id" in message:
            shown["tool_call_id"] = self._id(str(message["tool_call_id"]))
        return shown

    def _call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """A call with its arguments as an object, which templates write in their own way; as text if they are none."""
        function = cast("Mapping[str, Any]", call["function"])
        arguments: Any = function["arguments"]
        try:
            value: Any = json.loads(arguments) if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):
            value = arguments
        kept: Any = cast("Any", value) if isinstance(value, dict) else arguments
        return {**call, "id": self._id(str(call.get("id") or "")), "function": {**function, "arguments": kept}}

    def _id(self, identity: str) -> str:
        return nine(identity) if self._family.startswith("mistral") else identity


def _template(tokenizer: Any, choice: str) -> str:
    if choice == "own":
        own = template_of(tokenizer)
        if "tool" in own:
            return own
        if "<|im_start|>" in own:
            return CHATML
        raise UsageError("the model's chat template shows no tools: --sampling chat_template=FILE.jinja")
    if choice == "signatures":
        if "<|im_start|>" not in tokenizer.get_added_vocab():
            raise UsageError("chat_template=signatures is ChatML, and this model's tokenizer has no <|im_start|>")
        return SIGNATURES
    return Path(choice).read_text("utf-8")
