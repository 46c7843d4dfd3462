"""What must not score: right records left in a way the policy forbids, tried on a task of every family."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tb_envs.authoring import Ask, Call, Say, Step, call
from tb_envs.certify.runs import run_steps
from tb_envs.registration import load_domain
from tb_envs.task import Task, get_task

FAMILIES = sorted(load_domain("hotel").families)
TEMPLATES = load_domain("hotel").tools["send_message"].schema["properties"]["template"]["enum"]


def has(steps: Sequence[Step], tool: str) -> bool:
    return any(isinstance(step, Call) and step.tool == tool for step in steps)


def before_records(task: Task, extra: Sequence[Step]) -> list[Step]:
    steps = list(task.scenario.solution)
    place = next(i for i, s in enumerate(steps) if isinstance(s, Call) and s.tool in ("open_ticket", "update_ticket"))
    return [*steps[:place], *extra, *steps[place:]]


def in_silence(task: Task) -> list[Step]:
    return [step for step in task.scenario.solution if not isinstance(step, Ask | Say)]


def all_messages(task: Task) -> list[Step]:
    return before_records(task, [call("send_message", guest_id=task.scenario.about[0], template=t) for t in TEMPLATES])


def all_notes(task: Task) -> list[Step]:
    kinds = ("goodwill", "security", "complaint")
    return before_records(
        task, [call("add_guest_note", guest_id=task.scenario.about[0], kind=kind, body="x") for kind in kinds]
    )


def six_guesses(task: Task) -> list[Step]:
    steps = list(task.scenario.solution)
    place = next(i for i, s in enumerate(steps) if isinstance(s, Call) and s.tool == "check_identity")
    right = steps[place]
    assert isinstance(right, Call)
    wrong = [call(right.tool, **{**right.arguments, "email": f"{n}@guess.example"}) for n in range(6)]
    return [*steps[:place], *wrong, *steps[place:]]


def handed_over(task: Task) -> list[Step]:
    steps = [step for step in task.scenario.solution if not isinstance(step, Say)]
    return [*steps, call("hand_over", team="front_desk", summary="x")]


def money_first(task: Task) -> list[Step]:
    steps = list(task.scenario.solution)
    money = [s for s in steps if isinstance(s, Call) and s.tool in ("refund_payment", "post_charge", "waive_charge")]
    place = next(i for i, s in enumerate(steps) if isinstance(s, Call) and s.tool == "check_identity")
    rest = [step for step in steps if step not in money]
    return [*rest[:place], *money, *rest[place:]]


WRONG: dict[str, Callable[[Task], list[Step]]] = {
    "never asks the caller": in_silence,
    "sends every message": all_messages,
    "writes every note": all_notes,
    "guesses six times": six_guesses,
    "hands over what is done": handed_over,
    "moves money before the check": money_first,
}


@pytest.mark.parametrize("way", WRONG)
@pytest.mark.parametrize("family", FAMILIES)
def test_right_records_left_wrongly_do_not_score(family: str, way: str) -> None:
    for index in range(3):
        task = get_task(f"hotel/{family}/{index}")
        if way == "hands over what is done" and has(task.scenario.solution, "hand_over"):
            continue
        if way in ("never asks the caller", "guesses six times") and "guesses" not in task.kinds:
            continue  # a caller who cannot be verified is to be turned away, whatever was asked
        steps = WRONG[way](task)
        if steps == list(task.scenario.solution):
            continue
        run = run_steps(task, steps)
        if way == "moves money before the check" and not {"refunds", "charges"} & {c.table for c in run.changes}:
            continue
        assert not run.passed, f"{task.id} ({task.scenario.cell}) scores although it {way}"
