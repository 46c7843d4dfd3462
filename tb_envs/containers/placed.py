"""A task as a container knows it: which rows lie there, when it is, which tools fail. Not who calls, nor what is right.

`pack` makes it on the trainer's side, `unpack` reads it inside. Refuses nothing: the two sides hold the same source.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from tb_envs.authoring.scenario import ToolFault
from tb_envs.store.image import Pages, build_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tb_envs.authoring.domain import Domain
    from tb_envs.authoring.toolset import Tool
    from tb_envs.authoring.world import Row, World
    from tb_envs.store.articles import Articles
    from tb_envs.task import Task

Patch = tuple[list[tuple[str, "Row"]], list[tuple[str, "Row"]]]


def pack(task: Task) -> dict[str, Any]:
    """What of a task a container is told."""
    inserts, updates = task.world.patch()
    return {
        "now": task.now,
        "inserts": inserts,
        "updates": updates,
        "tool_faults": [[f.tool, f.applied, f.nth, f.says] for f in task.scenario.tool_faults],
        "distractors": task.knobs.distractors,
        "stale_articles": task.knobs.stale_articles,
    }


@dataclass(frozen=True)
class Faults:
    """The one part of a scenario that a session plays."""

    tool_faults: tuple[ToolFault, ...]


@dataclass(frozen=True)
class Rows:
    """Rows to write into the seed: what a world gives when it has been filled."""

    _patch: Patch

    def patch(self) -> Patch:
        """New rows, and changed ones."""
        return self._patch


@dataclass(frozen=True)
class PlacedTask:
    """What `tb_envs.session.local.LocalBackend` needs of a task."""

    domain: Domain
    world: Rows
    now: str
    scenario: Faults
    distractors: int = 0
    stale_articles: int = 0

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools an agent sees, by name."""
        return self.domain.toolbox(self.distractors).tools

    @property
    def tool_definitions(self) -> tuple[dict[str, Any], ...]:
        """The tools as function definitions."""
        return self.domain.toolbox(self.distractors).definitions

    @property
    def articles(self) -> Articles:
        """The knowledge base."""
        return self.domain.articles_with(self.stale_articles)

    @cached_property
    def pages(self) -> Pages:
        """What its rows change of the seed image."""
        return build_pages(self.domain.image, cast("World", self.world))


def unpack(domain: Domain, placed: Mapping[str, Any]) -> PlacedTask:
    """The task of a packed one."""
    inserts, updates = ([(str(name), dict(row)) for name, row in placed[key]] for key in ("inserts", "updates"))
    faults = tuple(ToolFault(tool, applied, nth, says) for tool, applied, nth, says in placed["tool_faults"])
    return PlacedTask(
        domain,
        Rows((inserts, updates)),
        str(placed["now"]),
        Faults(faults),
        int(placed["distractors"]),
        int(placed["stale_articles"]),
    )
