"""A campaign from Python: an agent plays tasks into a folder, as ``tbx eval`` does from the command line.

For built-in agents and Python functions. Refuses what the command refuses: another campaign's folder, and rows of other
settings; and leaves out what it leaves out, tasks that need a judge where none is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from tb_envs.evaluation.context import ContextRule
from tb_envs.evaluation.manifest import open_folder
from tb_envs.evaluation.pacing import Breaker
from tb_envs.evaluation.planning import make_plan
from tb_envs.evaluation.runner import Campaign, run_campaign
from tb_envs.evaluation.running import Running
from tb_envs.evaluation.seating import Asked, describe, open_player
from tb_envs.settings import Settings
from tb_envs.task import get_task

MAX_ERRORS = 20
"""Failures in a row that stop a campaign."""


def play_campaign(
    folder: str | Path,
    agent: str,
    tasks: Sequence[str],
    *,
    attempts: int = 1,
    seed: int = 0,
    settings: Settings | None = None,
    concurrency: int = 16,
    on_row: Callable[[], None] = lambda: None,
) -> Running:
    """Play, or go on with, a campaign; not from within a running event loop.

    Args:
        folder: where it is kept; `tb_envs.evaluation.rows.read_rows` reads it, ``tbx report`` shows it.
        agent: a built-in agent or ``module:callable``, as of `tb_envs.agents.make_agent`.
        tasks: ids, in the order of play.
        attempts: at each task.
        seed: of the campaign.
        settings: of the episodes.
        concurrency: attempts at a time.
        on_row: is called after each row.

    Returns:
        The counts.

    Raises:
        UsageError: the folder holds another campaign, or there is no such agent or task.
        CampaignStopped: too many failures in a row; what was finished is kept.
    """
    asked, context = Asked(agent=agent), ContextRule()
    settings = settings or Settings()
    found = [get_task(task_id, settings.knobs) for task_id in tasks]
    plan = make_plan(
        Path(folder), describe(asked), found, attempts=attempts, seed=seed, settings=settings, context=context
    )
    open_folder(plan.folder, plan.manifest)
    running = Running(len(plan.tasks) * attempts)
    running.on_change = on_row

    async def play() -> None:
        breaker = Breaker(MAX_ERRORS, len(plan.tasks))  # belongs to the loop that it is made in
        player = open_player(asked, concurrency=concurrency, breaker=breaker)
        campaign = Campaign(
            folder=plan.folder,
            tasks=plan.tasks,
            attempts=attempts,
            player=player,
            settings=plan.settings,
            breaker=breaker,
            price=lambda part, tokens: plan.price(part, "", tokens),
            agent=plan.manifest["agent"],
            seed=seed,
            context=context,
            concurrency=concurrency,
        )
        await run_campaign(campaign, running)

    asyncio.run(play())
    return running
