"""Whether episodes have room: tokens of the first prompt and of whole right solutions, before anything is loaded.

Counted with the policy's tokenizer where it is on this machine, and otherwise from characters, at ratios that were
measured and are said with the number. Looks at some tasks of each family, not at all; refuses what ends at once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.limits import Limits as EpisodeLimits
from tb_envs.settings import Settings
from tb_envs.task import Task, get_task
from tb_trainer.engines import Key
from tb_trainer.evaluate import spread
from tb_trainer.play import play_all
from tb_trainer.reference import WrittenEngine, reference_transcript
from tb_trainer.render import make_renderer, told
from tb_trainer.runner import Job, Limits, Runner
from tb_trainer.schema import TrainConfig
from tb_trainer.tasks.training import training_tasks

TOLD, TALK = 3.5, 2.3
"""Characters of one token in instructions with tools, and in a talk with its tools' results. Measured on hotel and
banking: 3.7 to 3.8 and 2.6 with Qwen3's tokenizer (151,643 entries), 3.5 and 2.3 with SmolLM2's (49,152): the lower."""
AROUND = 12
"""Tokens of a template around a turn and its answer."""
LOOKED_AT = 16
"""Tasks, spread over the families."""
ENDLESS = 10**9


@dataclass(frozen=True)
class Room:
    """Tokens of the tasks that were looked at.

    Attributes:
        prompt: of the longest first prompt.
        task: whose that is.
        whole: of the longest right solution, prompt included.
        read, sampled: of a right solution in the mean.
        source: how they were counted.
        about: whether they are estimates.
    """

    prompt: int
    task: str
    whole: int
    read: float
    sampled: float
    source: str
    about: bool


def room_of(config: TrainConfig) -> Room:
    """The tokens that a configuration's episodes need at least.

    Raises:
        UsageError: there are no such tasks, or the chat template cannot be used.
    """
    from tb_trainer.policy import load_tokenizer

    environment = config.environment
    if environment.pool and not Path(environment.pool).exists():  # planned before `tbx select` has written it
        config = replace(config, environment=replace(environment, pool=""))
    tasks = [get_task(task_id) for task_id in spread(training_tasks(config), LOOKED_AT)]
    tokenizer = load_tokenizer(config)
    counts = _estimated(config, tasks) if tokenizer is None else _counted(config, tokenizer, tasks)
    longest = max(range(len(tasks)), key=lambda place: counts[place][0])
    source = f"{len(tasks)} tasks, " + (
        f"at {TOLD} characters a token for what is told, {TALK} for the talk: no tokenizer here"
        if tokenizer is None
        else "counted with the policy's tokenizer"
    )
    return Room(
        prompt=counts[longest][0],
        task=tasks[longest].id,
        whole=max(prompt + read + sampled for prompt, read, sampled in counts),
        read=fmean(prompt + read for prompt, read, _ in counts),
        sampled=fmean(sampled for *_, sampled in counts),
        source=source,
        about=tokenizer is None,
    )


def check_room(config: TrainConfig, room: Room) -> None:
    """Refuse settings under which an episode would end before its first turn.

    Raises:
        UsageError: with the knob to turn.
    """
    sampling = config.sampling
    problem = Limits(sampling.turn_tokens, sampling.episode_tokens, prompt=sampling.prompt_tokens).problem(room.prompt)
    if problem:
        about = "about " if room.about else ""
        raise UsageError(f"the first prompt of {room.task} has {about}{room.prompt} tokens ({room.source}): {problem}")


def _counted(config: TrainConfig, tokenizer: Any, tasks: Sequence[Task]) -> list[tuple[int, int, int]]:
    """(prompt, read after it, sampled) of each task's reference solution, played."""
    from tb_trainer.demonstrations import script_turns

    renderer = make_renderer(config, tokenizer)
    turns = [script_turns(task, parser=renderer.parser) for task in tasks]
    runner = Runner(
        WrittenEngine(renderer, lambda key: turns[key.group]),
        renderer,
        Settings(limits=EpisodeLimits(turns=200, tool_calls=400)),
        Limits(ENDLESS, 2 * ENDLESS),
    )
    rollouts = play_all(runner, [Job(Key(0, 0, place, 0), task.id) for place, task in enumerate(tasks)])
    return [
        (len(rollout.prompt_ids), len(rollout.completion_ids) - rollout.tokens.actions, rollout.tokens.actions)
        for rollout in rollouts
    ]


@lru_cache(maxsize=64)
def _talk(task: Task) -> list[str]:
    return reference_transcript(task)


def _estimated(config: TrainConfig, tasks: Sequence[Task]) -> list[tuple[int, int, int]]:
    """The same from characters."""
    counts: list[tuple[int, int, int]] = []
    for task in tasks:
        instructions, tools = told(task, config.environment.prompt)
        opening, *talk = _talk(task)
        words = len(instructions) + sum(len(json.dumps(tool, ensure_ascii=False)) + 1 for tool in tools or ())
        own, others = talk[::2], talk[1::2]
        counts.append(
            (
                round(words / TOLD + len(opening) / TALK) + 2 * AROUND,
                round(sum(map(len, others)) / TALK) + AROUND * len(own),
                round(sum(map(len, own)) / TALK),
            )
        )
    return counts
