"""Wrong ways to end a task of the hotel's, made from the reference script by `tb_envs.parts.scripts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tb_envs.authoring import Call, Mistake, Step, call, mistake
from tb_envs.grading.expectations import Expectation
from tb_envs.grading.verdict import NOTHING_ELSE
from tb_envs.parts import scripts
from tb_envs.parts.identity import misjudged
from tb_envs.parts.scripts import after_last_call, changing, first_call, postponed, with_arguments, without

TICKET = ("open_ticket", "update_ticket")
RECORDS = ("send_message", *TICKET)


def common_mistakes(solution: Sequence[Step], expects: Sequence[Expectation]) -> dict[str, Mistake]:
    """The mistakes of the family guide's list that this solution makes possible; each fails the one check it names."""
    return scripts.possible(_mistakes(solution, expects), solution, expects)


def plus(steps: Sequence[Step], *more: Step) -> list[Step]:
    """The script with these steps too, before the message and the ticket are written."""
    return scripts.before(steps, RECORDS, *more)


def tempted(steps: Sequence[Step], *wrongs: tuple[str, Expectation, Step]) -> dict[str, Mistake]:
    """One mistake for each (title, guard, step): the script does that too, and the guard says so."""
    return scripts.tempted(steps, RECORDS, *wrongs)


def after(steps: Sequence[Step], *tools: str) -> list[Step]:
    """The script with the calls of these tools moved behind all changes, before the ticket is written."""
    return postponed(steps, tools, TICKET)


def _mistakes(steps: Sequence[Step], expects: Sequence[Expectation]) -> Iterator[tuple[str, Mistake]]:
    yield "forgets the message", mistake(without(steps, "send_message"), "message", "omission")
    yield "closes with the wrong reason", mistake(_wrong_reason(steps), "ticket", "omission")
    yield from misjudged(
        steps,
        expects,
        "check_identity",
        besides=("guest_id", "caller", "surname"),
        wrong=({"email": "a@b.example"}, {"email": "b@a.example"}),
        records=TICKET,
    )
    yield "asks approval afterwards", mistake(after(steps, "request_approval", "get_approval"), "answer read first")
    yield "does not read the answer", mistake(without(steps, "get_approval"), "answer read", "omission")
    yield "acts before reading the answer", mistake(after(steps, "get_approval"), "answer read first", "omission")
    handed = call("hand_over", team="front_desk", summary="For your information.")
    yield "hands over what is done", mistake(after_last_call(steps, handed), "not handed over")
    yield "sends every message there is", mistake(_spraying(steps), NOTHING_ELSE)
    other = with_arguments(steps, "request_approval", amount="99.99")
    yield "asks approval for another amount", mistake(other, "approval")
    yield "ends instead of handing over", mistake(without(steps, "hand_over"), "handed over", "omission")


def _spraying(steps: Sequence[Step]) -> list[Step]:
    """Two further messages with other templates, to the same guest."""
    ticket = first_call(steps, "open_ticket")
    if ticket is None:
        return list(steps)
    guest = ticket.arguments["guest_id"]
    names = ("security_notice", "review_opened")
    return plus(steps, *(call("send_message", guest_id=guest, template=name) for name in names))


def _wrong_reason(steps: Sequence[Step]) -> Sequence[Step]:
    def wrong(step: Call) -> Call:
        reason = "guest_declined" if step.arguments["reason"] != "guest_declined" else "already_done"
        return call(step.tool, **{**step.arguments, "reason": reason})

    for tool in TICKET:
        steps = changing(steps, tool, wrong)
    return steps
