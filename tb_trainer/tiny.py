"""A tiny model made on the spot: its own BPE tokenizer, a chat template with tools, a Qwen3 architecture. All seeded.

The tokenizer is trained on what the agent will read and write (instructions, tool schemas, reference transcripts), so
a prompt is short. The template is ChatML with Hermes tool calls as Qwen3 has it, but additive: what follows a message
never changes how it was rendered. The weights are random: nothing is downloaded, and nothing is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

import tb_trainer.attention  # noqa: F401  (registers `blocks`)
from tb_envs.parse.template import CHATML
from tb_envs.task import Task
from tb_trainer.reference import reference_transcript

if TYPE_CHECKING:
    from tb_trainer.schema import ModelConfig

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
TAGS = ("<tools>", "</tools>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
PIECES = r" ?[\p{L}_]+|\p{N}| ?[^\s\p{L}\p{N}_]+|\s+"
"""What may become one token: a word, or a name of a tool or an argument; a single digit, so that no id and no amount is
one token that was seen in one task only; a run of marks; a run of blanks."""


def make_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of at most `vocabulary` entries, trained on `texts`."""
    return trained_tokenizer(texts, vocabulary, PIECES, [PAD, START, END, *TAGS], END, CHATML)


def trained_tokenizer(
    texts: Iterable[str], vocabulary: int, pieces: str, special: Sequence[str], end: str, template: str
) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer.

    Args:
        texts: what it is trained on.
        vocabulary: entries at most.
        pieces: regular expression of what may become one token.
        special: special tokens; the first one pads.
        end: the one that ends a turn.
        template: the chat template that goes with them.
    """
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pieces), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token=end, pad_token=special[0])
    tokenizer.chat_template = template
    return tokenizer


def texts_of(tasks: Sequence[Task]) -> list[str]:
    """What an agent reads and writes in these tasks: instructions, tool schemas, reference transcripts."""
    shared = {task.instructions for task in tasks}
    shared |= {json.dumps(tool) for task in tasks for tool in task.domain.tool_definitions}
    return sorted(shared) + [text for task in tasks for text in reference_transcript(task)]


def make_model(config: ModelConfig, tokenizer: Any, *, positions: int, seed: int) -> Qwen3ForCausalLM:
    """A Qwen3 with random weights for this tokenizer."""
    torch.manual_seed(seed)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=config.hidden,
            intermediate_size=3 * config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=max(1, config.heads // 2),
            head_dim=config.hidden // config.heads,
            max_position_embeddings=positions,
            tie_word_embeddings=config.tied,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.set_attn_implementation(config.attention)
    return model
