"""A campaign from Python: an agent plays tasks into a folder, as ``tbx eval`` does from the command line.

For built-in agents, Python functions and players of your own. Refuses what the command refuses: another campaign's
folder, and rows of other settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from tb_envs.evaluation.manifest import build_manifest, open_folder
from tb_envs.evaluation.pacing import Breaker
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
    settings, place, asked = settings or Settings(), Path(folder), Asked(agent=agent)
    manifest = build_manifest(
        agent=describe(asked),
        tasks=[get_task(task_id, settings.knobs) for task_id in tasks],
        attempts=attempts,
        seed=seed,
        settings=settings,
        context=asked.context.to_json(),
    )
    open_folder(place, manifest)
    running = Running(len(tasks) * attempts)
    running.on_change = on_row
    asyncio.run(_play(place, asked, tasks, attempts, seed, settings, concurrency, running))
    return running


async def _play(
    folder: Path,
    asked: Asked,
    tasks: Sequence[str],
    attempts: int,
    seed: int,
    settings: Settings,
    concurrency: int,
    running: Running,
) -> None:
    breaker = Breaker(MAX_ERRORS, len(tasks))  # belongs to the loop it is made in
    campaign = Campaign(
        folder=folder,
        tasks=tasks,
        attempts=attempts,
        player=open_player(asked, concurrency=concurrency, breaker=breaker),
        settings=settings,
        breaker=breaker,
        price=lambda part, tokens: None,
        seed=seed,
        concurrency=concurrency,
    )
    await run_campaign(campaign, running)
