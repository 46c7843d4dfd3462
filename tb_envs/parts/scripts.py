"""Scripts of steps: parts that join, and wrong scripts made from right ones by leaving out, moving, changing a call.

Refuses to know which calls a policy asks for: a domain names its tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tb_envs.authoring import Call, Mistake, Step, call, mistake
from tb_envs.grading.expectations import Expectation
from tb_envs.grading.verdict import NOTHING_ELSE


@dataclass(frozen=True)
class Part:
    """Steps, and the expectations that hold because of them."""

    steps: tuple[Step, ...] = ()
    expects: tuple[Expectation, ...] = ()

    def __add__(self, other: Part) -> Part:
        return Part(self.steps + other.steps, self.expects + other.expects)


def is_call(step: Step, *tools: str) -> bool:
    """Whether the step calls one of these tools."""
    return isinstance(step, Call) and step.tool in tools


def first_call(steps: Sequence[Step], *tools: str) -> Call | None:
    """The first call of one of these tools."""
    return next((step for step in steps if isinstance(step, Call) and step.tool in tools), None)


def without(steps: Sequence[Step], *tools: str) -> list[Step]:
    """The script without the calls of these tools."""
    return [step for step in steps if not (isinstance(step, Call) and step.tool in tools)]


def changing(steps: Sequence[Step], tool: str, change: Callable[[Call], Call]) -> list[Step]:
    """The script with each call of a tool replaced."""
    return [change(step) if isinstance(step, Call) and step.tool == tool else step for step in steps]


def with_arguments(steps: Sequence[Step], tool: str, **arguments: Any) -> list[Step]:
    """The script with other arguments in the calls of a tool; None takes an argument out."""
    return changing(steps, tool, lambda step: call(tool, save=step.save, **{**step.arguments, **arguments}))


def before(steps: Sequence[Step], tools: Sequence[str], *more: Step) -> list[Step]:
    """The script with these steps too, before the first call of one of `tools`, or at the end."""
    place = next((at for at, step in enumerate(steps) if isinstance(step, Call) and step.tool in tools), len(steps))
    return [*steps[:place], *more, *steps[place:]]


def after_last_call(steps: Sequence[Step], *more: Step) -> list[Step]:
    """The script with these steps too, right after its last call, or at the end."""
    last = max((at for at, step in enumerate(steps) if isinstance(step, Call)), default=len(steps) - 1)
    return [*steps[: last + 1], *more, *steps[last + 1 :]]


def postponed(steps: Sequence[Step], tools: Sequence[str], until: Sequence[str]) -> list[Step]:
    """The script with the calls of `tools` moved, in their order, to just before the first call of `until`."""
    late = [step for step in steps if isinstance(step, Call) and step.tool in tools]
    return before(without(steps, *tools), until, *late)


def possible(
    mistakes: Iterable[tuple[str, Mistake]], solution: Sequence[Step], expects: Sequence[Expectation]
) -> dict[str, Mistake]:
    """Those of these mistakes, by title, that do something else than the solution and fail only checks that it has."""
    names, right = {item.name for item in expects} | {NOTHING_ELSE}, list(solution)
    return {title: item for title, item in mistakes if item.fails <= names and list(item.does) != right}


def tempted(
    steps: Sequence[Step], records: Sequence[str], *wrongs: tuple[str, Expectation, Step]
) -> dict[str, Mistake]:
    """One mistake for each (title, guard, step): the script does that too, before its `records`; the guard says so."""
    return {title: mistake(before(steps, records, step), guard.name) for title, guard, step in wrongs}


def forgotten(steps: Sequence[Step], *tools: str) -> dict[str, Mistake]:
    """One mistake for each call of these tools: it is left out, and what it earns is missing."""
    calls = [step for step in steps if isinstance(step, Call) and step.tool in tools]
    return {
        f"forgets the {step.earns[0]}": mistake([s for s in steps if s is not step], step.earns[0], "omission")
        for step in calls
    }
