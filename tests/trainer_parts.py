"""What the trainer's tests share: tiny models, runners on the toy library, written policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch

from tb_envs.limits import Limits as EpisodeLimits
from tb_envs.settings import Settings
from tb_envs.task import get_task
from tb_trainer.config import check
from tb_trainer.engines import Engine, Key, Sampling
from tb_trainer.reference import WrittenEngine, reference_turns
from tb_trainer.render import Renderer
from tb_trainer.runner import Limits, Runner
from tb_trainer.schema import ModelConfig, TrainConfig
from tb_trainer.tiny import make_model, make_tokenizer, texts_of

torch.set_num_threads(1)
TASKS = [f"library/halve_fee/{index}" for index in range(8)]
IDLE = ['<tool_call>\n{"name": "end_conversation", "arguments": {"summary": "Nothing was done."}}\n</tool_call>']
CHATTER = ["Let me see."]
SIZES = ModelConfig(hidden=64, layers=2, heads=4, vocabulary=512, texts=8)


@lru_cache(maxsize=1)
def tokenizer() -> Any:
    """One for all tests; whoever changes its template makes another."""
    return make_tokenizer(texts_of([get_task(task) for task in TASKS]), 512)


def sharp_model(seed: int = 3, positions: int = 4096) -> Any:
    """Random weights, far from uniform choices."""
    model = make_model(SIZES, tokenizer(), positions=positions, seed=seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
    return model.eval()


def sampling(temperature: float = 1.0) -> Sampling:
    """Sampling that stops at the end of a turn."""
    return Sampling(temperature=temperature, stop=(tokenizer().eos_token_id,))


def runner(engine: Engine, *, turn: int = 64, episode: int = 4096, prompt: str = "full", **changes: Any) -> Runner:
    """A runner on the library."""
    settings = Settings(limits=EpisodeLimits(turns=changes.pop("turns", 8)), faults=changes.pop("faults", None))
    limits = Limits(turn, episode, changes.pop("deadline", 60.0))
    return Runner(engine, Renderer(tokenizer(), prompt), settings, limits, **changes)


def written(turns: Callable[[Key], Sequence[str]], prompt: str = "full") -> WrittenEngine:
    """An engine that plays a table."""
    return WrittenEngine(Renderer(tokenizer(), prompt), turns)


def reference(task_id: str) -> Sequence[str]:
    """The reference solution's turns."""
    return reference_turns(get_task(task_id))


def config(**changes: dict[str, Any]) -> TrainConfig:
    """A run on the library: 3 tasks × 4 attempts."""
    base: dict[str, dict[str, Any]] = {
        "environment": {"domains": ["library"], "tasks": TASKS, "turns": 8, "tool_calls": 60, "pause": 0.01},
        "model": {"hidden": 32, "vocabulary": 512, "texts": 8},
        "sampling": {"turn_tokens": 64, "episode_tokens": 2048},
        "grpo": {"updates": 2, "groups": 3, "group_size": 4, "learning_rate": 1e-3},
        "curriculum": {"kind": "shuffled"},
        "evaluation": {"every": 0},
        "saving": {"trackers": []},
    }
    parts = {**base, **{part: {**base.get(part, {}), **values} for part, values in changes.items()}}
    return check({"name": "library", **parts})


def sets(*overrides: str) -> list[str]:
    """Command-line arguments for overrides."""
    return [part for override in overrides for part in ("--set", override)]
