"""Campaigns for tests and pictures, played for real by scripts of uneven skill: no model, and always the same."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tb_envs.agents import Agent, IdleAgent, RandomAgent, TalkerAgent, script_agent
from tb_envs.authoring.rng import stable_seed
from tb_envs.costs import Tokens
from tb_envs.episode import Episode
from tb_envs.evaluation.manifest import build_manifest, open_folder
from tb_envs.evaluation.meter import Meter
from tb_envs.evaluation.pacing import Breaker
from tb_envs.evaluation.players import AgentBroke, Answer
from tb_envs.evaluation.runner import Campaign, run_campaign
from tb_envs.evaluation.running import Running
from tb_envs.registration import load_domain
from tb_envs.settings import Settings
from tb_envs.task import get_task

PRICE = {"input": 1.0, "cached_input": 0.1, "output": 4.0}
"""Dollars per million tokens; no model's price."""
UNREADABLE = '{"content": null, "tool_calls": [{"name": "get_booking", "arguments": {'


def dev_tasks(count: int, domains: Sequence[str] = ("hotel", "banking")) -> list[str]:
    """The first `count` tasks of each domain's dev suite."""
    return [task for name in domains for task in load_domain(name).suite_ids["dev"][:count]]


class UnevenPlayer:
    """Plays a task's reference solution more or less often, and else one of its wrong ways.

    Args:
        skill: how often it plays right, at a task of middle hardness.
        words: said before anything else is done, in place of being silent.
        errors: share of attempts that break as a model's endpoint does.
        slips: share of attempts that begin with something that is no action.
        plan: task and attempt → ``right`` or ``wrong``, where that is given.
    """

    calls_model = True

    def __init__(
        self,
        skill: float = 0.5,
        *,
        words: str = "",
        errors: float = 0.0,
        slips: float = 0.0,
        plan: Callable[[str, random.Random], bool] | None = None,
    ) -> None:
        self.skill, self.words, self.errors, self.slips = skill, words, errors, slips
        self.plan = plan or self._right

    def _right(self, task: str, draw: random.Random) -> bool:
        """Tasks differ in how hard they are, the same for all players."""
        hardness = random.Random(stable_seed(task, "hardness")).uniform(-0.5, 0.5)
        return draw.random() < min(1.0, max(0.0, self.skill + hardness))

    def sit(self, episode: Episode, observation: str, seed: int, meter: Meter) -> UnevenSeat:
        """Choose what to play by the attempt's seed."""
        draw = random.Random(seed)
        task = episode.task
        assert task is not None
        scenario = task.scenario
        agent: Agent
        if self.plan(task.id, draw):
            agent = script_agent(scenario.solution)
        else:
            scripts = [scenario.obeys, *(mistake.does for mistake in scenario.mistakes.values())]
            agents: list[Agent] = [IdleAgent(), TalkerAgent(), RandomAgent()]
            agent = draw.choice(agents) if draw.random() < 0.12 else script_agent(draw.choice(scripts))
        agent.start(episode, observation)
        return UnevenSeat(self, agent, episode, draw, meter)

    async def close(self) -> None:
        """Nothing to free."""


class UnevenSeat:
    """One attempt."""

    dropped = 0

    def __init__(self, player: UnevenPlayer, agent: Agent, episode: Episode, draw: random.Random, meter: Meter) -> None:
        self._agent, self._episode, self._meter = agent, episode, meter
        self._breaks = draw.random() < player.errors
        self._first: list[Any] = [UNREADABLE] if draw.random() < player.slips else []
        if player.words:
            self._first.append(player.words)

    async def act(self, observation: str) -> Answer:
        """The next turn; what is read and written is counted as some tokens."""
        self._meter.answered(Tokens(input=900 + len(observation) // 4, cached_input=800, output=len(observation) // 9))
        if self._breaks and self._episode.turns > 1:
            raise AgentBroke("the endpoint answered 500 four times; the last words were: upstream connect error")
        if self._first:
            action = self._first.pop(0)
            return Answer(action, written=action)
        return Answer(self._agent.act(observation))


def make_campaign(
    folder: Path,
    player: UnevenPlayer,
    tasks: Sequence[str],
    attempts: int,
    *,
    seed: int = 0,
    priced: bool = True,
    settings: Settings | None = None,
) -> Path:
    """Play a campaign into `folder`, as ``tbx eval`` does, and return the folder."""
    settings = settings or Settings()
    agent = {"kind": "callable", "name": f"uneven, skill {player.skill}"}
    campaign = Campaign(
        folder=folder,
        tasks=tasks,
        attempts=attempts,
        player=player,
        settings=settings,
        breaker=Breaker(10**6, len(tasks)),
        price=_price if priced else (lambda part, tokens: None),
        agent=agent,
        seed=seed,
        concurrency=1,
        retries=0,
    )
    manifest = build_manifest(
        agent=agent,
        tasks=[get_task(task) for task in tasks],
        attempts=attempts,
        seed=seed,
        settings=settings,
        context=campaign.context.to_json(),
    )
    open_folder(folder, manifest)
    asyncio.run(run_campaign(campaign, Running(len(tasks) * attempts)))
    return folder


def _price(part: str, tokens: Any) -> float | None:
    if tokens is None:
        return None
    fresh = tokens["input"] - tokens["cached_input"]
    counts = {"input": fresh, "cached_input": tokens["cached_input"], "output": tokens["output"]}
    return sum(PRICE[kind] * count for kind, count in counts.items()) / 1e6


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """All rows of a campaign."""
    return [json.loads(line) for line in (folder / "attempts.jsonl").read_text("utf-8").splitlines()]
