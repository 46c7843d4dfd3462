"""What a campaign comes to before it plays: its tasks and those left out, its settings, its manifest, what it pays.

Refuses to play, and to write anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.evaluation.context import ContextRule
from tb_envs.evaluation.manifest import build_manifest
from tb_envs.evaluation.models import left_out, model_names, with_files
from tb_envs.evaluation.prices import Prices
from tb_envs.settings import Settings
from tb_envs.task import Task


@dataclass(frozen=True)
class Plan:
    """A campaign that can begin.

    Attributes:
        folder: where it is kept.
        tasks: ids, in the order of play.
        excluded: task id → why it is not played.
        settings: of the episodes, with the campaign's own files.
        prices: of models; None where they are not known.
        manifest: what must be equal to go on with it.
    """

    folder: Path
    tasks: list[str]
    excluded: dict[str, str]
    settings: Settings
    prices: Prices | None
    manifest: dict[str, Any]

    def price(self, part: str, model: str, tokens: Mapping[str, int] | None) -> float | None:
        """Dollars of ``agent`` (this `model`), ``user`` or ``judge`` for tokens; None where that is unknown."""
        if self.prices is None:
            return None
        return self.prices.cost(model if part == "agent" else model_names(self.settings)[part], tokens)


def make_plan(
    folder: Path,
    agent: Mapping[str, Any],
    tasks: Sequence[Task],
    *,
    attempts: int,
    seed: int,
    settings: Settings,
    context: ContextRule,
    prices: Prices | None = None,
) -> Plan:
    """Lay out a campaign; `agent` is what the manifest says of it.

    Raises:
        UsageError: no task is left to be played.
    """
    excluded = left_out(tasks, settings)
    played = [task for task in tasks if task.id not in excluded]
    if not played:
        raise UsageError(f"none of the {len(tasks)} tasks can be played: {'; '.join(sorted(set(excluded.values())))}")
    manifest = build_manifest(
        agent=agent,
        tasks=played,
        attempts=attempts,
        seed=seed,
        settings=settings,
        context=context.to_json(),
        prices=prices.to_json() if prices else None,
        excluded=excluded,
    )
    return Plan(folder, [task.id for task in played], excluded, with_files(settings, folder), prices, manifest)
