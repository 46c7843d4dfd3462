"""For benchmarks: an engine whose model computes every token, and whose draws are then replaced by written ones.

So the talks have the length of real ones, whatever the weights know. Refuses engines other than `cpu` and `hf`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import torch

from tb_envs.task import get_task
from tb_trainer.demonstrations import script_turns
from tb_trainer.engines import Key, Request, Sampling, Turn, cpu, hf
from tb_trainer.engines.draws import draw, uniforms
from tb_trainer.render import Renderer

Turns = Callable[[Key], list[list[int]]]
MODULES: dict[str, ModuleType] = {"CpuEngine": cpu, "HfEngine": hf}


class ForcedEngine:
    """Plays written turns through a real engine.

    Args:
        engine: computes.
        turns: the ids of each turn of a whole episode by its key; after the last one it is played again.
        exact: give the written token's own log-probability, at the price of one more soft-max a step; otherwise that of
            the token that was drawn, which costs nothing and suffices for timing.
    """

    def __init__(self, engine: Any, turns: Turns, *, exact: bool = False) -> None:
        self._engine, self._turns, self._exact = engine, turns, exact
        self.version, self.sampling = int(engine.version), engine.sampling
        self._played: dict[Key, int] = {}
        self._begun: dict[Key, tuple[int, list[int]]] = {}
        self._now: tuple[Sequence[Key], Sequence[int]] = ((), ())
        module: Any = MODULES[type(engine).__name__]
        module.uniforms, module.draw = self._uniforms, self._draw

    def load(self, model: Any) -> None:
        """Hand on."""
        self._engine.load(model)
        self.version = self._engine.version

    def submit(self, request: Request) -> None:
        """Begin the next written turn of the episode."""
        turns, turn = self._turns(request.key), self._played.get(request.key, 0)
        self._played[request.key] = turn + 1
        self._begun[request.key] = (len(request.ids), turns[min(turn, len(turns) - 1)])
        self._engine.submit(request)

    def poll(self, wait: float | None = None) -> list[Turn]:
        """Hand on."""
        return self._engine.poll(wait)

    def release(self, key: Key) -> None:
        """Forget the episode."""
        self._played.pop(key, None)
        self._engine.release(key)

    def _uniforms(self, keys: Sequence[Key], places: Sequence[int]) -> np.ndarray:
        self._now = (keys, places)
        return uniforms(keys, places)

    def _draw(self, logits: torch.Tensor, sampling: Sampling, numbers: np.ndarray) -> tuple[list[int], list[float]]:
        chosen, logprobs = draw(logits, sampling, numbers)
        self.replace(chosen)
        if self._exact:
            every = (logits.float() / (sampling.temperature or 1.0)).log_softmax(-1)
            logprobs = every.gather(-1, torch.tensor(chosen, device=logits.device)[:, None])[:, 0].tolist()
        return chosen, logprobs

    def replace(self, chosen: list[int]) -> None:
        """Put the written tokens in the place of those that were drawn; no part of what is measured."""
        for row, (key, place) in enumerate(zip(*self._now, strict=True)):
            start, ids = self._begun[key]
            if place - start < len(ids):  # past its end a turn of a padded batch is closed, and nobody looks at it
                chosen[row] = ids[place - start]


def scripts(source: Callable[[Key], str], renderer: Renderer) -> Turns:
    """Turns for `ForcedEngine`: every other attempt solves its task, the others make the task's mistakes, each its own.

    Args:
        source: names the task of an episode.
        renderer: for the ids. Turns are written when they are first asked for: ask before the clock runs.
    """
    written: dict[tuple[str, str], list[list[int]]] = {}

    def turns(key: Key) -> list[list[int]]:
        name = source(key)
        task = get_task(name)
        mistakes = sorted(task.scenario.mistakes)
        made = mistakes[key.slot // 2 % len(mistakes)] if key.slot % 2 and mistakes else ""
        if (name, made) not in written:
            texts = script_turns(task, made, renderer.parser)
            written[name, made] = [renderer.encode(text + renderer.eos) for text in texts]
        return written[name, made]

    return turns
