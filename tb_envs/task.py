"""A task: one index of one family, made real. Building is deterministic; a built task is immutable and shared.

``hotel/late_cancellation/7`` names it. Any index can be built; frozen suites hold some of them by content hash.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import timedelta
from functools import cached_property, lru_cache
from typing import Any, cast

from tb_envs.authoring.domain import Domain
from tb_envs.authoring.persona import Manner
from tb_envs.authoring.rng import Rng, stable_seed
from tb_envs.authoring.scenario import Family, Scenario
from tb_envs.authoring.toolset import Tool
from tb_envs.authoring.values import parse_time, show_time
from tb_envs.authoring.world import World
from tb_envs.errors import DomainError, UsageError
from tb_envs.grading.expectations import Judged, acts_read, criteria_of
from tb_envs.grading.grade import kinds_of
from tb_envs.knobs import NONE, Knobs
from tb_envs.registration import load_domain
from tb_envs.store.articles import Articles
from tb_envs.store.dump import canonical_json
from tb_envs.store.image import Pages, build_pages


@dataclass(frozen=True, eq=False)
class Task:
    """One task, ready to be played."""

    id: str
    domain: Domain
    family: Family
    index: int
    scenario: Scenario
    world: World
    now: str
    knobs: Knobs = NONE

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools an agent sees, by name."""
        return self.domain.toolbox(self.knobs.distractors).tools

    @property
    def tool_definitions(self) -> tuple[dict[str, Any], ...]:
        """The tools as function definitions; one object for all episodes."""
        return self.domain.toolbox(self.knobs.distractors).definitions

    @property
    def articles(self) -> Articles:
        """The knowledge base."""
        return self.domain.articles_with(self.knobs.stale_articles)

    @cached_property
    def pages(self) -> Pages:
        """What its rows change of the seed image."""
        return build_pages(self.domain.image, self.world)

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """Check name → guard or earned, as found on the untouched database."""
        return kinds_of(self.scenario.expects, self.domain.specs)

    @cached_property
    def criteria(self) -> tuple[Judged, ...]:
        """What of its right end only a judge can tell."""
        return criteria_of(self.scenario.expects)

    @property
    def needs_judge(self) -> bool:
        """Whether it can be played only where there is a judge."""
        return bool(self.criteria)

    @cached_property
    def acts_read(self) -> frozenset[str]:
        """Acts of the customer that its right end reads."""
        return acts_read(self.scenario.expects)

    @cached_property
    def instructions(self) -> str:
        """What the agent is told before the customer speaks: its role, the time, how to act, the policy."""
        moment = parse_time(self.now)
        return (
            f"{self.domain.role}\n"
            f"It is {moment:%A}, {moment:%Y-%m-%d %H:%M} UTC, and it stays that time for the whole conversation.\n"
            "Speak to the customer in plain text, or call tools; one turn is one or the other. "
            "What counts is what the records say at the end. When all is done, call end_conversation; "
            "to pass the conversation to a colleague, call hand_over.\n\n"
            f"{self.domain.policy_text}"
        )

    @cached_property
    def user_seed(self) -> int:
        """Seed of the customer's phrasings."""
        return stable_seed(self.id, "user")

    @cached_property
    def traps(self) -> tuple[str, ...]:
        """The traps this task carries."""
        return tuple(sorted(self.scenario.traps or self.family.traps))

    @cached_property
    def hash(self) -> str:
        """Content hash: placed rows, customer, right end, scripts, time, knobs. What changes it is another task."""
        inserts, updates = self.world.patch()
        parts = [self.id, self.now, inserts, updates, plain(self.scenario), self.traps]
        if self.knobs:
            parts.append(self.knobs.to_json())
        return hashlib.sha256(canonical_json(parts).encode()).hexdigest()


def plain(value: Any) -> Any:
    """Dataclasses, sets and mappings as JSON-able data with one canonical form."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"_": type(value).__name__, **{f.name: plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in cast("set[Any]", value)), key=canonical_json)
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[Any]", value)]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def build_task(domain: Domain, family: Family, index: int, knobs: Knobs = NONE) -> Task:
    """Build a task from scratch, whatever was built before."""
    stream = (domain.name, family.name, index)
    offset = Rng(*stream, "clock").between(0, 8 * 12) * 5
    now = show_time(parse_time(domain.clock) + timedelta(minutes=offset))
    world = domain.world(domain.specs, stream=(*stream[:2], index), now=now, index=index, base=domain.seed_rows)
    try:
        scenario = _turned(domain, world, family.build(world), knobs)
    except Exception as error:
        where = f"{domain.name}/{family.name}/{index}"
        raise DomainError(f"{where}: the family breaks: {type(error).__name__}: {error}") from error
    names = [item.name for item in scenario.expects]
    if len(set(names)) != len(names):
        raise DomainError(f"{domain.name}/{family.name}/{index}: two expectations share a name: {names}")
    return Task(
        f"{domain.name}/{family.name}/{index}", domain, family, index, scenario, world, show_time(world.now), knobs
    )


def _turned(domain: Domain, world: World, scenario: Scenario, knobs: Knobs) -> Scenario:
    """The scenario in another manner, and a crowd round its people."""
    if knobs.lookalikes:
        if domain.crowd is None:
            raise DomainError(f"domain {domain.name} has no `crowd`, which the knob lookalikes needs")
        domain.crowd(world, scenario.about, knobs.lookalikes)
    if knobs.manner:
        customer = replace(scenario.customer, manner=cast("Manner", knobs.manner))
        scenario = replace(scenario, customer=customer)
    return scenario


def get_task(task_id: str, knobs: Knobs = NONE) -> Task:
    """The task with this id, built once per process and setting of the knobs.

    Raises:
        UsageError: no such domain, family or index; the message names near matches.
    """
    return _built(str(task_id), knobs)  # one entry, whether the knobs were named or not


@lru_cache(maxsize=4096)
def _built(task_id: str, knobs: Knobs) -> Task:
    parts = task_id.split("/")
    if len(parts) != 3:
        raise UsageError(
            f"unknown task {task_id!r}; a task id reads domain/family/index, e.g. hotel/late_cancellation/0"
        )
    domain = load_domain(parts[0])
    if parts[1] not in domain.families:
        near = difflib.get_close_matches(parts[1], domain.families, 3, 0.4) or list(domain.families)
        raise UsageError(
            f"unknown task {task_id!r}; near matches: {', '.join(f'{parts[0]}/{n}/{parts[2]}' for n in near)}"
        )
    if not (parts[2].isascii() and parts[2].isdigit() and len(parts[2]) < 10 and str(int(parts[2])) == parts[2]):
        raise UsageError(f"unknown task {task_id!r}; the index is a plain number, e.g. {parts[0]}/{parts[1]}/0")
    return build_task(domain, domain.families[parts[1]], int(parts[2]), knobs)
