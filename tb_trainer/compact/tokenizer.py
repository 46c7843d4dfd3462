"""The tokenizer of the compact rendering: a byte-level BPE with JSON keys, heads of calls and half sentences as pieces.

It is trained on reference solutions as the compact rendering shows them. What may become one token: the head of a call
with its first key, a key with the marks on both sides of it, the end of a call, a run of small words (so that the usual
sentences are two or three tokens), a word that begins with a capital, a month with its year, the prefix of an id.
Digits stay single, and names, e-mail addresses and ids are cut at the same places wherever they stand, so that they can
be copied token by token. Each message begins with one token for its role; one token ends the agent's turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from transformers import PreTrainedTokenizerFast

from tb_envs.agents import make_agent
from tb_envs.episode import Episode, drive
from tb_envs.errors import DomainError
from tb_envs.parse import Parser
from tb_envs.task import Task
from tb_trainer.compact.results import compact_result, system_line
from tb_trainer.tiny import trained_tokenizer

PAD, END = "<|pad|>", "<|end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")
MARKS = r'["\[\]{},]'
PIECES = "|".join(
    (
        r'<tool_call>\{"name":"\w+","arguments":\{(?:"\w+":"?)?',
        r'"?\}\}</tool_call>',
        rf'{MARKS}*"\w+":(?:\[?"(?!\w+":))?',  # a key, the marks before it, the quote that opens its value
        rf"{MARKS}+",
        r"\p{Lu}{2,3}-(?=\d)",  # BK- of BK-20418
        r"20[23]\d-[01]\d-(?=\d\d)",  # 2031-05- of 2031-05-14
        r"T[012]\d:(?=\d\d)",  # T15: of T15:01:00Z
        r"\+\d{1,3}(?= )",  # the country of a phone number
        r"USD ",
        r"@",  # alone, so that the domain is preceded by the same token wherever it stands
        # The first letter of an e-mail address and of its domain are tokens of their own: four domains that are one
        # token each look alike to a model that has not yet learned to copy them, and it never does.
        r"(?<![\p{L}\p{N}.])\p{Ll}(?=[\p{Ll}.]*\d*@)",
        r"(?<=@)\p{Ll}|(?<=@\p{Ll})\p{Ll}+\.\p{Ll}+",
        r"(?<![\d.])0\.00(?!\d)",
        r"(?<=\d) ?\p{N}|\p{N}",  # in phone numbers the blank goes with the digit
        r":00Z",
        r"\p{Lu}\p{L}*",
        r"(?:(?![\p{Ll}.]+\d*@)[\p{Ll} _,.;:?!'’-])+",  # small words, up to where an e-mail address begins
        r"\p{L}+",
        r"(?:\\n)+",
        r"[\s\S]",
    )
)

CHAT_TEMPLATE = """\
{%- for message in messages %}
{{- '<|' + message.role + '|>' + (message.content or '') }}
{%- if message.role == 'system' and tools %}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>{"name":"' + call.function.name + '","arguments":' }}
{{- call.function.arguments if call.function.arguments is string
    else call.function.arguments | tojson(separators=(',', ':')) }}
{{- '}</tool_call>' }}
{%- endfor %}
{%- if message.role == 'assistant' %}{{- '<|end|>' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"""


def make_compact_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A tokenizer of at most `vocabulary` entries, trained on `texts`, with the template that goes with it."""
    return trained_tokenizer(texts, vocabulary, PIECES, [PAD, END, *ROLES], END, CHAT_TEMPLATE)


def compact_texts(tasks: Sequence[Task], prompt: str = "tiny") -> list[str]:
    """What is read and written in the reference solutions of some tasks, message by message."""
    return [text for task in tasks for text in _transcript(task, prompt)]


def _transcript(task: Task, prompt: str) -> list[str]:
    episode, agent, parser = Episode(), make_agent("reference"), Parser("hermes_compact")
    observation, texts = drive(episode.reset(task)), [system_line(task)]
    agent.start(episode, observation)
    texts += [message["content"] for message in episode.messages]
    while not episode.over:
        texts.append(parser.write(agent.act(observation)))
        observation = drive(episode.act(parser.read(texts[-1]).action))
        texts += [plain(task.domain.name, message, prompt) for message in episode.new_messages]
    episode.close()
    if episode.error:
        raise DomainError(f"{task.id}: the reference agent met a system error: {episode.error}")
    return texts


def plain(domain: str, message: Any, prompt: str = "tiny") -> str:
    """The content of a message as it is shown."""
    if message["role"] == "tool":
        return compact_result(domain, message["name"], message["content"], prompt)
    return str(message["content"])
