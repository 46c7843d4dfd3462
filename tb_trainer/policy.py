"""The model that is trained, and its tokenizer: made from nothing, read from a folder, or with adapters put on.

A folder may hold adapters alone (`tb_trainer.adapters`); what is below them is then read too. Refuses a checkpoint
whose tokenizer is not the one it was trained with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tb_envs.errors import UsageError
from tb_envs.gguf_file import PREFIX, read_gguf, read_gguf_tokenizer
from tb_envs.registration import load_domain
from tb_envs.task import Task, get_task
from tb_trainer.adapters import base_of, put_on, put_on_saved
from tb_trainer.compact import COMPACT
from tb_trainer.compact.tokenizer import compact_texts, make_compact_tokenizer
from tb_trainer.schema import ModelConfig, TrainConfig
from tb_trainer.tasks.scope import within
from tb_trainer.template import use_template
from tb_trainer.tiny import make_model, make_tokenizer, texts_of


def load_policy(config: TrainConfig) -> tuple[Any, Any]:
    """The policy as configured: (model, tokenizer).

    Raises:
        UsageError: there is no such model, or it cannot be used as configured.
    """
    model = config.model
    if model.path or model.checkpoint:
        policy, tokenizer = _read(model, model.checkpoint or model.path)
        use_template(tokenizer, model.template)
        return policy, tokenizer
    tokenizer = _made_tokenizer(config)
    made: Any = make_model(model, tokenizer, positions=config.sampling.episode_tokens, seed=config.seed)
    made.to(dtype=dtype_of(model))
    return made, tokenizer


def load_tokenizer(config: TrainConfig) -> Any:
    """The policy's tokenizer alone, or None where it is not on this machine; asks no network, reads no weights."""
    from transformers import AutoTokenizer

    model = config.model
    path = model.checkpoint or model.path
    if not path:
        return _made_tokenizer(config)
    try:
        if path.startswith(PREFIX):
            tokenizer = read_gguf_tokenizer(path.removeprefix(PREFIX))
        else:
            tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, UsageError):
        return None
    use_template(tokenizer, model.template)
    return tokenizer


def _made_tokenizer(config: TrainConfig) -> Any:
    """The tiny model's, trained on what its tasks say."""
    prompt = config.environment.prompt
    if prompt in COMPACT:
        return make_compact_tokenizer(compact_texts(_tasks(config), prompt), config.model.vocabulary)
    return make_tokenizer(texts_of(_tasks(config)), config.model.vocabulary)


def _read(config: ModelConfig, path: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    below = base_of(path, config.path if path == config.checkpoint else "")
    if config.checkpoint and not below and not (Path(path) / "config.json").is_file():
        raise UsageError(f"model.checkpoint: {path} holds no model (no config.json)")
    source = below or path
    model: Any
    tokenizer: Any
    if source.startswith(PREFIX):
        model, tokenizer = read_gguf(source.removeprefix(PREFIX), dtype=dtype_of(config), attention=config.attention)
        if path != source:  # adapters over it carry the tokenizer they were trained with
            tokenizer = AutoTokenizer.from_pretrained(path)
    else:
        try:
            # The tokenizer, not a multimodal processor: a processor renders another template (and 3-D positions).
            tokenizer = AutoTokenizer.from_pretrained(path)
            model = AutoModelForCausalLM.from_pretrained(
                source, dtype=dtype_of(config), attn_implementation=config.attention
            )
        except (OSError, ValueError) as error:
            why = str(error).splitlines()[0]
            raise UsageError(f"model.path: cannot read a model from {source!r}: {why}") from None
    if len(tokenizer) > model.config.vocab_size:
        raise UsageError(
            f"{path}: the tokenizer has {len(tokenizer)} entries, the model only {model.config.vocab_size}"
        )
    if config.gradient_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if below:
        return put_on_saved(model, path, config.lora, dtype_of(config)), tokenizer
    return (put_on(model, config.lora, dtype_of(config)) if config.lora.rank else model), tokenizer


def _tasks(config: TrainConfig) -> list[Task]:
    """The tasks whose texts the tiny model's tokenizer is trained on, spread over the suites of the domains."""
    environment = config.environment
    ids = list(environment.tasks) or [
        task_id for name in environment.domains for task_id in load_domain(name).suite_ids[environment.split]
    ]
    ids = within(environment, ids)
    if not ids:
        raise UsageError("there are no tasks to make a tokenizer from; name some: --set 'environment.tasks=[…]'")
    spread = ids[:: max(1, len(ids) // config.model.texts)][: config.model.texts]
    return [get_task(task_id) for task_id in spread]


def dtype_of(config: ModelConfig) -> torch.dtype:
    """What weights are read and saved in."""
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[config.dtype]
