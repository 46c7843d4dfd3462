"""Chat template to token ids: the first prompt of an episode, then only what the environment adds. Token in, token out.

What the model sampled is never tokenised again, its thoughts included: a turn's ids stay as they are and the
environment's messages are rendered *behind a constant prefix* (instructions, a user's and an assistant's turn), from
which the prefix is cut off. Refuses a chat template for which that is not the same as rendering the whole conversation.
Special tokens written as plain text by a customer or a tool are defused: they never become special.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.parse import THOUGHTS, AssistantTurn, Parser, family_of
from tb_envs.parse.mistral import nine
from tb_envs.parse.turn import Tools
from tb_envs.task import Task
from tb_trainer.compact import COMPACT, compact_result, system_line
from tb_trainer.schema import TrainConfig
from tb_trainer.template import template_of

PREFIX = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "u"},
    {"role": "assistant", "content": "a"},
]
PROBES = (
    [{"role": "user", "content": "What is it?"}],
    [
        {"role": "tool", "name": "t", "tool_call_id": "call00001", "content": '{"ok":true}'},
        {"role": "tool", "name": "t", "tool_call_id": "call00002", "content": "no"},
    ],
)
TOOLS = [
    {
        "type": "function",
        "function": {"name": "t", "description": "A tool.", "parameters": {"type": "object", "properties": {}}},
    }
]
SWITCHES = {
    "preserve_thinking": True,  # Qwen3.6 and later: earlier turns keep their thoughts
    "date_string": "26 Jul 2024",  # Llama 3: without it, today's date by the machine's clock stands in every prompt
}
KEPT = 4096
"""Renderings of messages that are kept: of an update's, most."""
Items = tuple[tuple[tuple[str, Any], ...], ...]
WHAT_TO_DO = (
    "so a served model would read other prompts than it was trained on: set model.template to additive, or to the file "
    "of a template that keeps every turn as it was"
)


def make_renderer(config: TrainConfig, tokenizer: Any) -> Renderer:
    """The renderer of a run, for the tokenizer of `tb_trainer.policy.load_policy`."""
    return Renderer(tokenizer, config.environment.prompt, thinking=config.model.thinking, parser=config.model.parser)


def stop_ids(tokenizer: Any) -> tuple[int, ...]:
    """Ids that end a turn: the eos token and, where there is one, Llama's end of a message that calls a tool."""
    eos = int(tokenizer.convert_tokens_to_ids(tokenizer.eos_token))
    other = tokenizer.get_added_vocab().get("<|eom_id|>")
    return (eos,) if other is None or other == eos else (eos, int(other))


class Renderer:
    """Renders one domain's episodes for one tokenizer, and reads its turns.

    Args:
        tokenizer: any of transformers' with a chat template whose end-of-turn token is its ``eos_token``.
        prompt: ``full``: the instructions with the whole policy, and each tool's description and JSON schema.
            ``compact``: *leaves out the policy text, every tool's description, and the types, enums, help and limits of
            its arguments*; what stays is the agent's role, the time, how to act, and the names of the tools and of
            their arguments. A model trained on it has not read the rules, so it cannot know them: for smoke tests.
            ``tiny``: *leaves out instructions, policy and tools altogether*, and of tools' results what no rule needs
            (`tb_trainer.compact`): for a tiny model that learns the rules from demonstrations and reward.
            ``spare``: so, with a shorter list for a few families.
        thinking: whether the model may think, by the template's own switch.
        parser: the format of tool calls, or ``auto`` for the one that the template shows.

    Attributes:
        parser: reads and writes turns.
        switches: what the template is rendered with besides messages and tools; a server that renders must be given the
            same (``chat_template_kwargs``).

    Raises:
        UsageError: the template is not additive, or cannot do what is asked; the message says what broke.
    """

    def __init__(
        self, tokenizer: Any, prompt: str = "compact", *, thinking: bool = False, parser: str = "auto"
    ) -> None:
        self.tokenizer = tokenizer
        self.prompt = prompt
        self.eos = str(tokenizer.eos_token)
        self.stops = stop_ids(tokenizer)
        self.eos_id = self.stops[0]
        self.switches = {**SWITCHES, "enable_thinking": thinking, "thinking": thinking}
        self._template = template_of(tokenizer)
        self._added = lru_cache(maxsize=KEPT)(self._rendered)
        # What is behind a fast tokenizer does the same with less around it; `_check` compares.
        self._quick: Any = getattr(tokenizer, "backend_tokenizer", None)
        if thinking and "think" not in self._template.lower():
            raise UsageError("model.thinking is on, and the chat template knows no thoughts")
        self._defuse = {token: f"{token[0]} {token[1:]}" for token in tokenizer.get_added_vocab() if len(token) > 1}
        family = family_of(self._template) if parser == "auto" else parser
        self._nine = family.startswith("mistral")
        special = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
        whole = self._text(PREFIX)
        place = whole.rfind(self.eos)
        if place < 0:
            raise UsageError(f"the chat template does not end an assistant's turn with the eos token {self.eos!r}")
        self._prefix = whole[: place + len(self.eos)]
        head = self._check()
        inside = self._opened(head, thinking)
        told = self._text(PREFIX, tools=TOOLS)
        lead = told[len(head) : told.rfind(self.eos)].removesuffix(str(PREFIX[-1]["content"]))
        self.parser = Parser(family, inside=inside, lead=lead, special=special)

    def first(self, task: Task, opening: Sequence[Mapping[str, Any]]) -> list[int]:
        """Ids up to the model's first turn: instructions, tools, the customer's first words."""
        instructions, tools = told(task, self.prompt)
        system = {"role": "system", "content": instructions}
        return self.encode(self._text([system, *self._safe(opening)], tools=tools, add_generation_prompt=True))

    def added(self, messages: Sequence[Mapping[str, Any]], *, closed: bool, domain: str = "") -> list[int]:
        """Ids of new messages and of the head of the model's next turn, to follow a turn of the model.

        Args:
            messages: what the environment said since.
            closed: whether the model ended its turn itself; if it was cut off, the end is added here, unsampled.
            domain: whose tools answered; the prompts ``tiny`` and ``spare`` show their results by it.
        """
        return list(self._added(tuple(tuple(message.items()) for message in messages), closed, domain))

    def _rendered(self, items: Items, closed: bool, domain: str) -> list[int]:
        """What `added` answers. The attempts at a task meet the same words again and again: each is rendered once."""
        messages: Sequence[Mapping[str, Any]] = [dict(pairs) for pairs in items]
        if self.prompt in COMPACT:
            messages = [_shortened(domain, message, self.prompt) for message in messages]
        text = self._text([*PREFIX, *self._safe(messages)], add_generation_prompt=True)
        if not text.startswith(self._prefix):
            raise UsageError(f"the chat template renders a turn differently when messages follow it, {WHAT_TO_DO}")
        return self.encode(("" if closed else self.eos) + text[len(self._prefix) :])

    def encode(self, text: str) -> list[int]:
        """Ids of rendered text, special tokens read as such."""
        if self._quick is not None:
            return self._quick.encode(text, add_special_tokens=False).ids
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a sampled turn, special tokens and thoughts included, without the token that ended it."""
        own = ids[:-1] if ids and ids[-1] in self.stops else ids
        return str(self.tokenizer.decode(list(own), clean_up_tokenization_spaces=False))

    def read(self, ids: Sequence[int], tools: Tools) -> AssistantTurn:
        """A sampled turn: what it thought, said and called."""
        return self.parser.read(self.decode(ids), tools, ended=self.ends(ids))

    def ends(self, ids: Sequence[int]) -> bool:
        """Whether the model ended its turn itself."""
        return bool(ids) and ids[-1] in self.stops

    def write(self, action: Any, tools: Tools = (), *, thinking: str = "") -> str:
        """An action as the model would write it behind the head of its turn, without the token that ends it."""
        return self.parser.write(action, tools, thinking=thinking)

    # -- what the template does

    def _opened(self, head: str, thinking: bool) -> str:
        """The tag that ends the thought which the head of a turn opens; empty if it opens none."""
        inside = next((close for tag, close in THOUGHTS.items() if head.rstrip().endswith(tag)), "")
        if inside and not thinking:
            raise UsageError("the chat template opens a thought and has no switch against it: set model.thinking=true")
        return inside

    def _check(self) -> str:
        """Render at once and bit by bit, without tools and with them, and compare; the head of a first turn."""
        head = self._text(PREFIX[:2], tools=TOOLS, add_generation_prompt=True)
        told = self._text(PREFIX, tools=TOOLS)
        if not told.startswith(head):
            raise UsageError(f"the chat template renders an earlier turn differently than it begins one, {WHAT_TO_DO}")
        told = told[: told.rfind(self.eos) + len(self.eos)]
        if self._quick is not None and self.encode(told) != list(self.tokenizer.encode(told, add_special_tokens=False)):
            self._quick = None
        for probe in PROBES:
            delta = self.added(probe, closed=True)
            together = self.encode(self._text([*PREFIX, *probe], add_generation_prompt=True))
            if together != self.encode(self._prefix) + delta:
                raise UsageError(f"the chat template renders a message differently when others follow, {WHAT_TO_DO}")
            together = self.encode(self._text([*PREFIX, *probe], tools=TOOLS, add_generation_prompt=True))
            if together != self.encode(told) + delta:
                raise UsageError(f"the chat template renders the tools differently when messages follow, {WHAT_TO_DO}")
        return head

    def _text(self, messages: Sequence[Mapping[str, Any]], **kwargs: Any) -> str:
        from jinja2.exceptions import TemplateError

        plain = [dict(m) for m in messages]
        try:
            return str(
                self.tokenizer.apply_chat_template(
                    plain, chat_template=self._template, tokenize=False, **self.switches, **kwargs
                )
            )
        except TemplateError as error:
            raise UsageError(f"the chat template refuses a conversation with a customer and tools: {error}") from None

    def _safe(self, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        safe = [dict(message) for message in messages]
        for message in safe:
            for token, harmless in self._defuse.items():
                message["content"] = message["content"].replace(token, harmless)
            if self._nine and "tool_call_id" in message:
                message["tool_call_id"] = nine(message["tool_call_id"])
        return safe


def told(task: Task, prompt: str) -> tuple[str, list[dict[str, Any]] | None]:
    """What the agent is told before anybody speaks, by the kind of prompt: instructions, and tools or none."""
    instructions, tools = task.instructions, list(task.tool_definitions)
    if prompt in COMPACT:
        return system_line(task), None
    if prompt == "compact":
        short = instructions.removesuffix(task.domain.policy_text).rstrip()
        return short, [_signature(tool["function"]) for tool in tools]
    return instructions, tools


def _shortened(domain: str, message: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    if message["role"] != "tool":
        return {**message}
    return {**message, "content": compact_result(domain, message["name"], message["content"], prompt)}


def _signature(function: Mapping[str, Any]) -> dict[str, Any]:
    return {function["name"]: ", ".join(function["parameters"].get("properties", {}))}
