"""Variants of a reference script that must keep its score, and additions that must lose it. Only rewrites scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from tb_envs.authoring.domain import Revision
from tb_envs.authoring.steps import Call, Derived, Step, Use, use, uses
from tb_envs.authoring.toolset import Tool
from tb_envs.certify.runs import Run
from tb_envs.grading.expectations import Order
from tb_envs.task import Task

Variant = tuple[str, list[Step]]


def tolerated(task: Task, reference: Run) -> Iterator[Variant]:
    """Scripts that differ from the reference in what must not matter."""
    steps = list(task.scenario.solution)
    yield "extra reads", _extra_reads(task, steps)
    last = max(index for index, step in enumerate(steps) if isinstance(step, Call))
    for who in task.scenario.about:
        yield f"a harmless note about {who}", [*steps[: last + 1], *task.domain.proofs.note(who), *steps[last + 1 :]]
        break
    yield "other spellings", [_respell(task, step) for step in steps]
    for index in _swappable(task, steps, reference):
        swapped = [*steps[:index], steps[index + 1], steps[index], *steps[index + 2 :]]
        yield f"calls {_name(steps[index])} and {_name(steps[index + 1])} swapped", swapped
    for revision in task.domain.proofs.revisions:
        for index, step in enumerate(steps):
            if isinstance(step, Call) and step.tool == revision.create:
                yield f"{step.tool} in two steps", _in_two_steps(steps, index, step, revision)


def strays(task: Task) -> Iterator[Variant]:
    """The reference with one unrelated write, kept or undone; neither may score."""
    steps = list(task.scenario.solution)
    first = next(index for index, step in enumerate(steps) if isinstance(step, Call))
    proofs = task.domain.proofs
    yield "an unrelated write", [*steps[:first], *proofs.stray(task.world), *steps[first:]]
    yield "an unrelated write, undone", [*steps[:first], *proofs.stray_undone(task.world), *steps[first:]]


def without(steps: Sequence[Step], index: int) -> list[Step]:
    """The script without one step and without the calls that need its result."""
    saved: set[str] = set()
    out: list[Step] = []
    for place, step in enumerate(steps):
        if place == index:
            continue
        if isinstance(step, Call):
            if not set[str]().union(*(uses(value) for value in step.arguments.values())) <= saved:
                continue
            saved.add(step.save)
        out.append(step)
    return out


def _extra_reads(task: Task, steps: list[Step]) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        out.append(step)
        if isinstance(step, Call) and task.tools[step.tool].effect == "read" and not _faulty(task, step):
            out.append(Call(step.tool, step.arguments))
    return out


def _faulty(task: Task, step: Call) -> bool:
    return any(fault.tool == step.tool for fault in task.scenario.tool_faults)


def _respell(task: Task, step: Step) -> Step:
    if not isinstance(step, Call):
        return step
    tool = task.tools[step.tool]
    return Call(step.tool, {n: _other_spelling(tool, n, v) for n, v in step.arguments.items()}, step.save)


def _other_spelling(tool: Tool, name: str, value: Any) -> Any:
    if isinstance(value, Use):
        return value
    if isinstance(value, Derived):
        return Derived(_other_spelling(tool, name, value.value), value.needs)
    if isinstance(value, list | tuple):
        return [_other_spelling(tool, name, item) for item in cast("list[Any]", value)]
    node = tool.schema["properties"].get(name, {})
    node = node.get("items", node)
    if isinstance(value, bool):
        return value
    if node.get("type") == "number":
        return f"${float(value):,.2f}"
    if node.get("type") == "integer":
        return str(value)
    if not isinstance(value, str):
        return value
    if "enum" in node:
        return value.replace("_", " ").title()
    if "@" in value:
        return value.upper()
    if node.get("type") == "string" and not {"maxLength", "format"} & set(node):
        return f" {value.lower()} "
    return value


def _swappable(task: Task, steps: list[Step], reference: Run) -> Iterator[int]:
    """Places of adjacent calls that are independent: both read, or they touch different tables and no order rule."""
    touched = _touched(reference)
    number = 0
    for index, step in enumerate(steps[:-1]):
        if not isinstance(step, Call):
            continue
        number += 1
        other = steps[index + 1]
        if not isinstance(other, Call) or (step.save and any(step.save in uses(v) for v in other.arguments.values())):
            continue
        if _faulty(task, step) or _faulty(task, other):
            continue
        effects = {task.tools[step.tool].effect, task.tools[other.tool].effect}
        if effects == {"read"}:
            yield index
        elif effects == {"write"}:
            mine, theirs = touched.get(number, set()), touched.get(number + 1, set())
            if not mine & theirs and not _ordered(task, (step.tool, mine), (other.tool, theirs)):
                yield index


def _touched(run: Run) -> dict[int, set[str]]:
    out: dict[int, set[str]] = {}
    for change in run.changes:
        out.setdefault(change.call, set()).add(change.table)
    return out


def _ordered(task: Task, first: tuple[str, set[str]], second: tuple[str, set[str]]) -> bool:
    def matches(pattern: Any, side: tuple[str, set[str]]) -> bool:
        return pattern.name == side[0] or pattern.name in side[1]

    return any(
        isinstance(item, Order)
        and matches(item.first, first)
        and any(matches(pattern, second) for pattern in item.then)
        for item in task.scenario.expects
    )


def _in_two_steps(steps: list[Step], index: int, step: Call, revision: Revision) -> list[Step]:
    save = step.save or "two_steps"
    later = {name: step.arguments[name] for name in revision.draft if name in step.arguments}
    keep = {name: value for name, value in step.arguments.items() if name not in revision.draft}
    draft = {name: value for name, value in revision.draft.items() if value is not None}
    first = Call(step.tool, {**keep, **draft}, save)
    then = Call(revision.update, {revision.id_argument: use(save, revision.id_result), **later})
    return [*steps[:index], first, then, *steps[index + 1 :]]


def _name(step: Step) -> str:
    return step.tool if isinstance(step, Call) else type(step).__name__
