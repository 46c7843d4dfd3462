"""What must not score and what must, on tasks of every family of the bank: right records left in other ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tb_envs.authoring import Ask, Call, Say, Step, ask, call, use
from tb_envs.certify.runs import run_steps
from tb_envs.registration import load_domain
from tb_envs.task import Task, get_task

FAMILIES = sorted(load_domain("banking").families)
TEMPLATES = load_domain("banking").tools["send_secure_message"].schema["properties"]["template"]["enum"]
RECORDS = ("send_secure_message", "add_contact_note", "list_cases", "open_case", "update_case")
FACTS = ("account", "email", "phone", "postcode", "birth_date", "card")
ARGUMENTS = {"account": "account_number", "card": "card_ending"}


def place(steps: Sequence[Step], *tools: str) -> int | None:
    return next((at for at, step in enumerate(steps) if isinstance(step, Call) and step.tool in tools), None)


def before(steps: Sequence[Step], tools: Sequence[str], *more: Step) -> list[Step] | None:
    at = place(steps, *tools)
    return None if at is None else [*steps[:at], *more, *steps[at:]]


def first(task: Task, tool: str) -> Call | None:
    at = place(task.scenario.solution, tool)
    step = None if at is None else task.scenario.solution[at]
    return step if isinstance(step, Call) else None


def known(task: Task) -> dict[str, Any]:
    """The facts that the caller knows and one check can take, if the task has one check and it passes."""
    steps = task.scenario.solution
    right, knows = first(task, "verify_caller"), task.scenario.customer.knows
    checks = [step for step in steps if isinstance(step, Call) and step.tool == "verify_caller"]
    if right is None or len(checks) != 1 or "facts heard" not in task.kinds:
        return {}
    return {name: knows[name] for name in FACTS if name in knows}


def checked(task: Task, facts: Sequence[str], *, asked: bool) -> list[Step] | None:
    """The solution with a check of these facts, after a question for them or without one."""
    values, right = known(task), first(task, "verify_caller")
    if right is None or not set(facts) <= set(values):
        return None
    steps = list(task.scenario.solution)
    at = steps.index(right)
    who = {name: right.arguments[name] for name in ("customer_id", "role", "surname")}
    check = call("verify_caller", save=right.save, **who, **{ARGUMENTS.get(n, n): values[n] for n in facts})
    return [*steps[:at], *([ask(*facts)] if asked else []), check, *steps[at + 1 :]]


def in_silence(task: Task) -> list[Step] | None:
    steps: list[Step] = [step for step in task.scenario.solution if not isinstance(step, Ask | Say)]
    return steps if "guesses" in task.kinds else None


def facts_of_the_records(task: Task) -> list[Step] | None:
    asked = {name for step in task.scenario.solution if isinstance(step, Ask) for name in step.facts}
    facts = list(known(task))
    return checked(task, facts, asked=False) if facts and not set(facts) <= asked else None


def guessed_codes(task: Task) -> list[Step] | None:
    sent = first(task, "send_passcode")
    if sent is None:
        return None
    tries: list[Step] = [
        step
        for code in ("000000", "000001")
        for step in (
            call("send_passcode", save=code, **sent.arguments),
            call("confirm_passcode", passcode_id=use(code, "passcode_id"), code=code),
        )
    ]
    return before(task.scenario.solution, ["send_passcode"], *tries)


def passcode_twice(task: Task) -> list[Step] | None:
    sent = first(task, "send_passcode")
    if sent is None or "step-up" not in task.kinds:
        return None
    return before(task.scenario.solution, ["send_passcode"], sent)


def passcode_first(task: Task) -> list[Step] | None:
    sent = first(task, "send_passcode")
    if sent is None or "find_customers" in [s.tool for s in task.scenario.solution if isinstance(s, Call)]:
        return None
    rest: list[Step] = [step for step in task.scenario.solution if step is not sent]
    return before(rest, ["verify_caller"], sent)


def replaced_before_filed(task: Task) -> list[Step] | None:
    new, filed = first(task, "replace_card"), first(task, "file_dispute")
    if new is None or filed is None or filed.arguments["reason"] != "fraud":
        return None
    return before([step for step in task.scenario.solution if step is not new], ["file_dispute"], new)


def frozen_for_a_while(task: Task) -> list[Step] | None:
    stop = first(task, "freeze_card")
    if stop is None:
        return None
    at = list(task.scenario.solution).index(stop)
    back = call("unfreeze_card", card_id=stop.arguments["card_id"])
    return [*task.scenario.solution[: at + 1], back, *task.scenario.solution[at:]]


def credit_not_due(task: Task) -> list[Step] | None:
    steps = list(task.scenario.solution)
    filed = first(task, "file_dispute")
    if filed is None or (place(steps, "grant_credit") is not None and place(steps, "request_sign_off") is None):
        return None
    at = steps.index(filed)
    return [*steps[: at + 1], call("grant_credit", dispute_id=use(filed.save, "dispute_id")), *steps[at + 1 :]]


def another_answer(task: Task) -> list[Step] | None:
    old = next(iter(load_domain("banking").seed_rows["sign_offs"]))
    steps = task.scenario.solution
    if first(task, "get_sign_off") is None:
        return None
    other = call("get_sign_off", sign_off_id=old)
    return [other if isinstance(step, Call) and step.tool == "get_sign_off" else step for step in steps]


def all_messages(task: Task) -> list[Step] | None:
    who = task.scenario.about[0]
    sprayed = [call("send_secure_message", customer_id=who, template=name) for name in TEMPLATES]
    return before(task.scenario.solution, RECORDS, *sprayed)


def all_notes(task: Task) -> list[Step] | None:
    kinds = ("goodwill", "security", "complaint")
    notes = [call("add_contact_note", customer_id=task.scenario.about[0], kind=kind, body="x") for kind in kinds]
    return before(task.scenario.solution, RECORDS, *notes)


WRONG: dict[str, Callable[[Task], list[Step] | None]] = {
    "never asks the caller": in_silence,
    "checks facts that only the records know": facts_of_the_records,
    "guesses two codes": guessed_codes,
    "sends a second passcode without need": passcode_twice,
    "sends the passcode before the check": passcode_first,
    "replaces the card before the dispute is filed": replaced_before_filed,
    "unfreezes the card for a while": frozen_for_a_while,
    "gives a credit that is not due yet": credit_not_due,
    "reads the answer to another question": another_answer,
    "sends every message": all_messages,
    "writes every note": all_notes,
}


def all_facts(task: Task) -> list[Step] | None:
    return checked(task, list(known(task)), asked=True) if known(task) else None


def level_by_level(task: Task) -> list[Step] | None:
    """One fact first, as freezing a card needs; the second is asked for later."""
    right = first(task, "verify_caller")
    if right is None or len(known(task)) < 2 or "account_number" not in right.arguments:
        return None
    one = [name for name in right.arguments if name not in ("customer_id", "role", "surname", "account_number")]
    some = [ask("account", "surname")]
    steps = list(task.scenario.solution)
    at = steps.index(right)
    less = {name: value for name, value in right.arguments.items() if name not in one}
    named = [{"card_ending": "card"}.get(name, name) for name in one]
    early = [step for step in steps[:at] if not isinstance(step, Ask)]
    return [*some, *early, call("verify_caller", **less), ask(*named), *steps[at:]]


def remarks(task: Task) -> list[Step] | None:
    note = call("add_contact_note", customer_id=task.scenario.about[0], kind="remark", body="Was friendly.")
    return before(task.scenario.solution, RECORDS, note)


RIGHT: dict[str, Callable[[Task], list[Step] | None]] = {
    "checks all facts that the caller names": all_facts,
    "verifies level by level": level_by_level,
    "writes a remark": remarks,
}


def tried(family: str, way: Callable[[Task], list[Step] | None]) -> list[tuple[Task, list[Step]]]:
    tasks = [get_task(f"banking/{family}/{index}") for index in range(3)]
    scripts = [(task, way(task)) for task in tasks]
    return [(task, steps) for task, steps in scripts if steps is not None and steps != list(task.scenario.solution)]


@pytest.mark.parametrize("way", WRONG)
@pytest.mark.parametrize("family", FAMILIES)
def test_right_records_left_wrongly_do_not_score(family: str, way: str) -> None:
    for task, steps in tried(family, WRONG[way]):
        assert not run_steps(task, steps).passed, f"{task.id} ({task.scenario.cell}) scores although it {way}"


@pytest.mark.parametrize("way", RIGHT)
@pytest.mark.parametrize("family", FAMILIES)
def test_another_right_way_scores(family: str, way: str) -> None:
    for task, steps in tried(family, RIGHT[way]):
        run = run_steps(task, steps)
        assert run.passed, f"{task.id} ({task.scenario.cell}) fails although it {way}: {run.explain()}"
