"""Wrong ways to end a task, made from the reference script: a call left out, moved, or given another argument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tb_envs.authoring import Ask, Call, Mistake, Step, call, mistake
from tb_envs.grading.expectations import Expectation, Order
from tb_envs.grading.verdict import NOTHING_ELSE


def common_mistakes(solution: Sequence[Step], expects: Sequence[Expectation]) -> dict[str, Mistake]:
    """The mistakes of the family guide's list that this solution makes possible; each fails the one check it names."""
    names, right = {item.name for item in expects} | {NOTHING_ELSE}, list(solution)
    ordered = any(isinstance(item, Order) and item.name == "verified" for item in expects)
    return {
        title: item for title, item in _mistakes(right, ordered) if item.fails <= names and list(item.does) != right
    }


def _mistakes(steps: list[Step], ordered: bool) -> Iterator[tuple[str, Mistake]]:
    yield "forgets the message", mistake(without(steps, "send_message"), "message", "omission")
    yield "closes with the wrong reason", mistake(_wrong_reason(steps), "ticket", "omission")
    yield "checks too few facts", mistake(_one_fact_less(steps), "verified")
    if ordered:
        yield "verifies afterwards", mistake(after(steps, "check_identity"), "verified")
    yield "takes the facts from the profile", mistake([s for s in steps if not isinstance(s, Ask)], "facts heard")
    yield "keeps guessing until a check passes", mistake(_guessing(steps), "guesses")
    yield "asks approval afterwards", mistake(after(steps, "request_approval", "get_approval"), "answer read first")
    yield "does not read the answer", mistake(without(steps, "get_approval"), "answer read", "omission")
    yield "acts before reading the answer", mistake(after(steps, "get_approval"), "answer read first", "omission")
    yield "hands over what is done", mistake(_handing_over(steps), "not handed over")
    yield "sends every message there is", mistake(_spraying(steps), NOTHING_ELSE)
    yield (
        "asks approval for another amount",
        mistake(with_arguments(steps, "request_approval", amount="99.99"), "approval"),
    )
    yield "ends instead of handing over", mistake(without(steps, "hand_over"), "handed over", "omission")


def _guessing(steps: list[Step]) -> list[Step]:
    """Two checks with a wrong fact before the right one."""
    place = next((i for i, s in enumerate(steps) if isinstance(s, Call) and s.tool == "check_identity"), None)
    if place is None:
        return steps
    right = steps[place]
    assert isinstance(right, Call)
    wrong = [call(right.tool, **{**right.arguments, "email": mail}) for mail in ("a@b.example", "b@a.example")]
    return [*steps[:place], *wrong, *steps[place:]]


def _handing_over(steps: list[Step]) -> list[Step]:
    """A hand-over right after the last record."""
    last = max(i for i, s in enumerate(steps) if isinstance(s, Call))
    return [
        *steps[: last + 1],
        call("hand_over", team="front_desk", summary="For your information."),
        *steps[last + 1 :],
    ]


def _spraying(steps: list[Step]) -> list[Step]:
    """A further message with another template, to the same guest."""
    sent = next((s for s in steps if isinstance(s, Call) and s.tool == "open_ticket"), None)
    guest = sent.arguments["guest_id"] if sent else None
    if guest is None:
        return steps
    return plus(
        steps, *(call("send_message", guest_id=guest, template=name) for name in ("security_notice", "review_opened"))
    )


def without(steps: Sequence[Step], *tools: str) -> list[Step]:
    """The script without the calls of these tools."""
    return [step for step in steps if not (isinstance(step, Call) and step.tool in tools)]


def with_arguments(steps: Sequence[Step], tool: str, **arguments: Any) -> list[Step]:
    """The script with other arguments in the calls of a tool; None takes an argument out."""
    return [
        call(tool, save=step.save, **{**step.arguments, **arguments})
        if isinstance(step, Call) and step.tool == tool
        else step
        for step in steps
    ]


def plus(steps: Sequence[Step], *more: Step) -> list[Step]:
    """The script with these steps too, before the message and the ticket are written."""
    records = ("send_message", "open_ticket", "update_ticket")
    place = next((i for i, s in enumerate(steps) if isinstance(s, Call) and s.tool in records), len(steps))
    return [*steps[:place], *more, *steps[place:]]


def forgets(steps: Sequence[Step], *tools: str) -> dict[str, Mistake]:
    """One mistake for each call of these tools: it is left out, and what it earns is missing."""
    found = [step for step in steps if isinstance(step, Call) and step.tool in tools]
    return {
        f"forgets the {step.earns[0]}": mistake([s for s in steps if s is not step], step.earns[0], "omission")
        for step in found
    }


def tempted(steps: Sequence[Step], *wrongs: tuple[str, Expectation, Step]) -> dict[str, Mistake]:
    """One mistake for each (title, guard, step): the script does that too, and the guard says so."""
    return {title: mistake(plus(steps, step), guard.name) for title, guard, step in wrongs}


def after(steps: Sequence[Step], *tools: str) -> list[Step]:
    """The script with the calls of these tools moved behind all changes, before the ticket is written."""
    late = [step for step in steps if isinstance(step, Call) and step.tool in tools]
    rest = without(steps, *tools)
    place = next(
        (i for i, s in enumerate(rest) if isinstance(s, Call) and s.tool in ("open_ticket", "update_ticket")), len(rest)
    )
    return [*rest[:place], *late, *rest[place:]]


def _wrong_reason(steps: list[Step]) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if isinstance(step, Call) and step.tool in ("open_ticket", "update_ticket"):
            wrong = "guest_declined" if step.arguments["reason"] != "guest_declined" else "already_done"
            step = call(step.tool, **{**step.arguments, "reason": wrong})
        out.append(step)
    return out


def _one_fact_less(steps: list[Step]) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if isinstance(step, Call) and step.tool == "check_identity":
            facts = [name for name in step.arguments if name not in ("guest_id", "caller", "surname")]
            step = call(step.tool, **{name: v for name, v in step.arguments.items() if name != facts[-1]})
        out.append(step)
    return out
