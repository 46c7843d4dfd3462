"""Demonstrations as tokens: a task's own scripts, played with the scripted customer, through the trainer's renderer.

What a demonstration holds is token for token what the model would read and write in the same talk. Refuses a
demonstration that its database does not grade as it should: a reference solution scores 1, a mistake 0.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from tb_envs.agents import ScriptAgent, make_agent
from tb_envs.authoring.rng import Rng
from tb_envs.episode import Episode, drive
from tb_envs.errors import DomainError, UsageError
from tb_envs.limits import Limits as EpisodeLimits
from tb_envs.parse import Parser
from tb_envs.settings import Settings
from tb_envs.task import Task, get_task
from tb_trainer.engines import Key
from tb_trainer.play import play_all
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import make_renderer
from tb_trainer.runner import Job, Limits, Rollout, Runner
from tb_trainer.schema import TrainConfig


def demonstrations(
    config: TrainConfig, tokenizer: Any, task_ids: Sequence[str], noise: float = 0.0, habits: Sequence[str] = ()
) -> list[Rollout]:
    """One demonstration of each task, in order.

    Args:
        config: of the run: prompt, limits, seed.
        tokenizer: of the policy.
        task_ids: what to demonstrate; a task may be named again.
        noise: share that ends in a mistake of its task, drawn by (seed, place in the list).
        habits: if given, the only mistakes, in order: a task makes the first of them that it has, or none.

    Raises:
        DomainError: a script does not end as it should.
    """
    renderer = make_renderer(config, tokenizer)
    chosen = [_script(config.seed, place, task_id, noise, habits) for place, task_id in enumerate(task_ids)]
    turns = [
        script_turns(get_task(task_id), name, renderer.parser) for task_id, name in zip(task_ids, chosen, strict=True)
    ]
    runner = Runner(
        WrittenEngine(renderer, lambda key: turns[key.group]),
        renderer,
        Settings(limits=EpisodeLimits(turns=200, tool_calls=400)),
        Limits(config.sampling.turn_tokens, config.sampling.episode_tokens),
    )
    jobs = [Job(Key(config.seed, 0, place, 0), task_id) for place, task_id in enumerate(task_ids)]
    rollouts = play_all(runner, jobs)
    for rollout, name in zip(rollouts, chosen, strict=True):
        if rollout.cut_off or rollout.ended_by == "limit:tokens":
            raise DomainError(
                f"{rollout.job.task_id}: a demonstration does not fit: sampling.turn_tokens "
                f"{config.sampling.turn_tokens}, sampling.episode_tokens {config.sampling.episode_tokens}"
            )
        if rollout.reward != float(not name):
            raise DomainError(f"{rollout.job.task_id}: its {name or 'reference solution'} scores {rollout.reward}")
    return rollouts


def check_habits(habits: Sequence[str], task_ids: Sequence[str]) -> None:
    """Refuse a habit that none of the tasks has as a mistake.

    Raises:
        UsageError: with what is near.
    """
    known = {name for task_id in task_ids for name in get_task(task_id).scenario.mistakes} if habits else set[str]()
    for name in habits:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), 3, 0.5) or sorted(known)
            raise UsageError(f"warmstart.habits: no task makes the mistake {name!r}; there are {', '.join(near)}")


def _script(seed: int, place: int, task_id: str, noise: float, habits: Sequence[str]) -> str:
    """The name of a mistake, or nothing for the reference solution."""
    rng = Rng("demonstration", seed, place)
    mistakes = get_task(task_id).scenario.mistakes
    names = [name for name in habits if name in mistakes][:1] if habits else sorted(mistakes)
    return rng.pick(*names) if names and rng.chance(noise) else ""


def script_turns(task: Task, mistake: str = "", parser: Parser | None = None) -> list[str]:
    """The turns of the reference solution, or of a mistake, as a model of the parser's family would write them."""
    parser, tools = parser or Parser("hermes"), task.domain.tool_definitions
    steps = task.scenario.mistakes[mistake].does if mistake else ()
    agent = ScriptAgent(lambda _: steps) if mistake else make_agent("reference")
    episode, turns = Episode(), list[str]()
    observation = drive(episode.reset(task))
    agent.start(episode, observation)
    while not episode.over:
        turns.append(parser.write(agent.act(observation), tools))
        observation = drive(episode.act(parser.read(turns[-1], tools).action))
    episode.close()
    if episode.error:
        raise DomainError(f"{task.id}: a script met a system error: {episode.error}")
    return turns
