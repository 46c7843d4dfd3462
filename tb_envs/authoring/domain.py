"""A domain: one company as the framework sees it. Everything derived from its parts is computed once, on first use.

A domain package exposes one `Domain` object through the entry-point group ``tb_envs.domains``. Families are found by
looking through its `families` package, so a new family is a new file and nothing else.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from sqlalchemy.orm import DeclarativeBase

from tb_envs.authoring.models import TableSpec, table_specs
from tb_envs.authoring.persona import Vocabulary
from tb_envs.authoring.scenario import Family
from tb_envs.authoring.steps import Step
from tb_envs.authoring.toolset import Tool, Toolset
from tb_envs.authoring.world import SeedRows, World
from tb_envs.errors import DomainError, UsageError
from tb_envs.settings import SPLITS
from tb_envs.store.articles import Articles
from tb_envs.store.dump import canonical_json
from tb_envs.store.editions import stale
from tb_envs.store.image import build_seed

SUITE_SIZES = {"train": 160, "dev": 60, "bench": 102}


class Toolbox(NamedTuple):
    """Tools by name, and as function definitions."""

    tools: Mapping[str, Tool]
    definitions: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Revision:
    """How a record may also be made in two steps: `create` with draft values, then `update` with the right ones.

    Attributes:
        create: the tool that makes the record.
        update: the tool that changes it.
        id_argument: the update's argument that takes the id.
        id_result: the key of the id in the create's result.
        draft: argument → value used first; the update then writes the reference's value.
    """

    create: str
    update: str
    id_argument: str
    id_result: str
    draft: Mapping[str, Any]


@dataclass(frozen=True)
class Proofs:
    """What the certificate needs to know of a domain to vary its tasks.

    Attributes:
        note: steps that leave a harmless narrative row about a customer id.
        stray: steps that change an unrelated guarded row (given the world's seeded rows).
        stray_undone: the same change, then back.
        revisions: records that may be made in two steps.
    """

    note: Callable[[str], Sequence[Step]]
    stray: Callable[[World], Sequence[Step]]
    stray_undone: Callable[[World], Sequence[Step]]
    revisions: Sequence[Revision] = ()


@dataclass(frozen=True, eq=False)
class Domain:
    """One company.

    Attributes:
        name: as in task ids and entry points, e.g. ``hotel``.
        title: the company's name.
        role: one sentence that tells the agent what it is.
        base: the declarative base of its models.
        toolsets: its tools, in the order agents see them.
        package: its import package, which holds ``policy.md``, ``articles/``, ``families/`` and ``suites/``.
        vocabulary: what its customers can know and how agents ask for it.
        seed: fills a `World` with the company's rows.
        world: the domain's builder, a subclass of `World`.
        clock: the frozen time of the seed, ``YYYY-MM-DDTHH:MM:SSZ``.
        teams: where a conversation can be handed over to.
        proofs: how the certificate may vary its tasks.
        laws: SQL that must return no row in any state: name → select (conservation laws).
        distractors: 15 further tools that no task needs, for the knob of that name.
        crowd: places so many near duplicates beside each of these customers, for the knob ``lookalikes``.
    """

    name: str
    title: str
    role: str
    base: type[DeclarativeBase]
    toolsets: Sequence[Toolset]
    package: str
    vocabulary: Vocabulary
    seed: Callable[[Any], None]
    world: type[World]
    clock: str
    teams: Sequence[str]
    proofs: Proofs
    laws: Mapping[str, str] = field(default_factory=dict[str, str])
    distractors: Toolset | None = None
    crowd: Callable[[Any, Sequence[str], int], None] | None = None
    _toolboxes: dict[int, Toolbox] = field(default_factory=dict[int, "Toolbox"], init=False, repr=False)
    _knowledge: dict[int, Articles] = field(default_factory=dict[int, Articles], init=False, repr=False)

    @cached_property
    def folder(self) -> Path:
        """Where the package's files are."""
        origin = importlib.import_module(self.package).__file__
        if origin is None:
            raise DomainError(f"{self.package} has no files on disk")
        return Path(origin).parent

    @cached_property
    def specs(self) -> dict[str, TableSpec]:
        """Its tables, parents first."""
        return table_specs(self.base)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool an agent sees, by name, in order; the session tools come last."""
        return self.toolbox().tools

    @property
    def tool_definitions(self) -> tuple[dict[str, Any], ...]:
        """The tools as function definitions; one object for all episodes."""
        return self.toolbox().definitions

    def toolbox(self, distractors: int = 0) -> Toolbox:
        """The tools with the first `distractors` of those that no task needs, one object for all episodes.

        Raises:
            DomainError: two tools share a name, or the domain has not so many distractors.
        """
        if distractors not in self._toolboxes:
            self._toolboxes[distractors] = self._toolbox(distractors)
        return self._toolboxes[distractors]

    def _toolbox(self, distractors: int) -> Toolbox:
        from tb_envs.session.tools import session_tools

        spare = list(self.distractors.tools.values()) if self.distractors else []
        if len(spare) < distractors:
            raise DomainError(f"domain {self.name} has {len(spare)} distractors, {distractors} are asked for")
        needed = (tool for toolset in self.toolsets for tool in toolset.tools.values())
        out: dict[str, Tool] = {}
        for tool in (*needed, *spare[:distractors], *session_tools(self.teams)):
            if tool.name in out:
                raise DomainError(f"domain {self.name}: two tools are called {tool.name}")
            out[tool.name] = tool
        return Toolbox(out, tuple(tool.definition for tool in out.values()))

    @cached_property
    def policy_text(self) -> str:
        """The written policy."""
        return (self.folder / "policy.md").read_text("utf-8")

    @cached_property
    def articles(self) -> Articles:
        """The knowledge base."""
        return self.articles_with(0)

    def articles_with(self, stale_editions: int) -> Articles:
        """The knowledge base with superseded editions of its articles among them (see `tb_envs.knobs`)."""
        found = self._knowledge.get(stale_editions)
        if found is None:
            base = Articles.read(self.folder / "articles") if not stale_editions else self.articles
            more = stale(base.by_id, stale_editions)
            found = self._knowledge[stale_editions] = Articles([*base.by_id.values(), *more]) if more else base
        return found

    @cached_property
    def families(self) -> dict[str, Family]:
        """All families, by name."""
        package = importlib.import_module(f"{self.package}.families")
        found: dict[str, Family] = {}
        for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda item: item.name):
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            for item in vars(module).values():
                if isinstance(item, Family):
                    if found.get(item.name, item) is not item:
                        raise DomainError(f"domain {self.name}: two families are called {item.name}")
                    found[item.name] = item
        return dict(sorted(found.items()))

    @cached_property
    def seed_rows(self) -> SeedRows:
        """The company's rows before any task: table → id → row. Do not change them."""
        world = self.world(self.specs, stream=(self.name, "seed", 0), now=self.clock)
        self.seed(world)
        return SeedRows({name: world.placed.get(name, {}) for name in self.specs})

    @cached_property
    def image(self) -> bytes:
        """The seed image."""
        world = self.world(self.specs, stream=(self.name, "image", 0), now=self.clock)
        world.placed = {name: {key: dict(row) for key, row in rows.items()} for name, rows in self.seed_rows.items()}
        return build_seed(self.base, self.specs, world)

    @cached_property
    def digest(self) -> str:
        """Content hash of what all tasks share: schema, seed rows, tools, policy and articles."""
        schema = {name: list(spec.columns) for name, spec in self.specs.items()}
        articles = [[a.id, a.title, a.status, a.body] for a in self.articles.by_id.values()]
        parts = [schema, self.seed_rows, self.tool_definitions, self.policy_text, articles, self.clock]
        return hashlib.sha256(canonical_json(parts).encode()).hexdigest()

    def module(self, name: str) -> ModuleType:
        """One of the package's modules, e.g. ``policy`` or ``audit``."""
        return importlib.import_module(f"{self.package}.{name}")

    @cached_property
    def suites(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The frozen suites: split → task id → entry (hash, traps, cell, certificate)."""
        out: dict[str, dict[str, dict[str, Any]]] = {}
        for split in SPLITS:
            path = self.folder / "suites" / f"{split}.json"
            entries: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["tasks"] if path.exists() else []
            out[split] = {entry["id"]: entry for entry in entries}
        return out

    @cached_property
    def suite_ids(self) -> dict[str, tuple[str, ...]]:
        """Split → task ids, in the suite's order."""
        return {split: tuple(entries) for split, entries in self.suites.items()}

    def split_of(self, task_id: str) -> str:
        """The suite that holds a task; empty for a task of none."""
        return next((split for split, entries in self.suites.items() if task_id in entries), "")

    def planned_ids(self, split: str) -> list[str]:
        """The ids a suite is to hold: consecutive indices of its families, families in turn."""
        if split not in SPLITS:
            raise UsageError(f"unknown split {split!r}; valid: {', '.join(SPLITS)}")
        wanted = "bench" if split == "bench" else "train"
        names = [name for name, item in self.families.items() if item.split == wanted]
        start = 10 if split == "dev" else 0
        ids = [f"{self.name}/{name}/{start + turn}" for turn in range(SUITE_SIZES[split]) for name in names]
        return sorted(ids[: SUITE_SIZES[split]], key=lambda key: (key.split("/")[1], int(key.split("/")[2])))
