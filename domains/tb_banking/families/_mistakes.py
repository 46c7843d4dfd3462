"""Wrong ways to end a task of the bank's, made from the reference script by `tb_envs.parts.scripts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tb_banking.families._who import AGAIN_PLEASE, CODE_PLEASE
from tb_banking.world import Phone
from tb_envs.authoring import Call, Mistake, Step, call, mistake
from tb_envs.grading.expectations import Expectation, Order
from tb_envs.grading.verdict import NOTHING_ELSE
from tb_envs.parts import scripts
from tb_envs.parts.identity import misjudged
from tb_envs.parts.scripts import after_last_call, changing, first_call, postponed, with_arguments, without

CASE = ("open_case", "update_case")
RECORDS = ("send_secure_message", "add_contact_note", *CASE)
EARLY_CHECKS = frozenset(("checked before the freeze", "checked before the passcode"))
"""What fails too where the check comes last."""
PASSCODE = ("send_passcode", "confirm_passcode")


def common_mistakes(solution: Sequence[Step], expects: Sequence[Expectation]) -> dict[str, Mistake]:
    """The mistakes that every solution of this shape makes possible; each fails the checks it names."""
    return scripts.possible(_mistakes(solution, expects), solution, expects)


def plus(steps: Sequence[Step], *more: Step) -> list[Step]:
    """The script with these steps too, before message, note and case are written."""
    return scripts.before(steps, RECORDS, *more)


def tempted(steps: Sequence[Step], *wrongs: tuple[str, Expectation, Step]) -> dict[str, Mistake]:
    """One mistake for each (title, guard, step): the script does that too, and the guard says so."""
    return scripts.tempted(steps, RECORDS, *wrongs)


def after(steps: Sequence[Step], *tools: str) -> list[Step]:
    """The script with the calls of these tools moved behind all changes, before the case is written."""
    return postponed(steps, tools, CASE)


def on_device(steps: Sequence[Step], phone: Phone) -> dict[str, Mistake]:
    """The passcode goes to this device, which does not count: fails `step-up`.

    Give the device the code that the trusted one shows, so that the customer has said it: ``w.device(…, code=…)``.
    """
    wrong = with_arguments(steps, "send_passcode", device_id=phone.id)
    return {f"sends the passcode to {phone.name.lower()}": mistake(wrong, "step-up")}


def fee_mistakes(steps: Sequence[Step], account_id: str) -> dict[str, Mistake]:
    """What can be done wrongly with the fee of `common.replacement_fee`: `fee` and `charged after`, or `no fee`."""
    right = first_call(steps, "charge_fee")
    if right is None:
        charge = call("charge_fee", account_id=account_id, kind="replacement", amount="12.00")
        return {"charges for a card that is free": mistake(plus(steps, charge), "no fee")}
    early = scripts.before(without(steps, "charge_fee"), ("replace_card",), right)
    return scripts.forgotten(steps, "charge_fee") | {
        "charges half": mistake(with_arguments(steps, "charge_fee", amount="6.00"), "fee"),
        "charges before the card is replaced": mistake(early, "charged after"),
    }


def _mistakes(steps: Sequence[Step], expects: Sequence[Expectation]) -> Iterator[tuple[str, Mistake]]:
    ordered = {item.name for item in expects if isinstance(item, Order)}
    yield "forgets the message", mistake(without(steps, "send_secure_message"), "message", "omission")
    yield "forgets the note", mistake(without(steps, "add_contact_note"), "note", "omission")
    yield "closes with the wrong disposition", mistake(_otherwise(steps), "case", "omission")
    yield "opens a second case", mistake(_anew(steps), ("case", NOTHING_ELSE))
    for title, item in misjudged(
        steps,
        expects,
        "verify_caller",
        besides=("customer_id", "role", "surname"),
        wrong=({"email": "a@b.example"}, {"email": "b@a.example"}),
        records=CASE,
    ):
        late = EARLY_CHECKS & ordered if title == "verifies afterwards" else frozenset[str]()
        yield title, replace(item, fails=item.fails | late)
    yield "does without the passcode", mistake(without(steps, "list_devices", *PASSCODE), "step-up")
    if "step-up" in ordered:
        yield "confirms the passcode afterwards", mistake(postponed(steps, PASSCODE, CASE), "step-up")
    unheard = [step for step in steps if step not in (CODE_PLEASE, AGAIN_PLEASE)]
    yield "confirms a code that nobody said", mistake(unheard, "code heard")
    sent = _first(steps, "send_passcode")
    early = scripts.before([step for step in steps if step not in sent], ["verify_caller"], *sent)
    yield "sends the passcode before the check", mistake(early, "checked before the passcode")
    twice = scripts.before(steps, ["send_passcode"], *sent)
    yield "sends a second passcode without need", mistake(twice, "passcodes")
    new = scripts.before(without(steps, "replace_card"), ["file_dispute"], *_first(steps, "replace_card"))
    yield "replaces the card before it files", mistake(new, "filed before replaced")
    kept_frozen = any(item.name == "stays frozen" for item in expects)
    for title, name, wavering in _wavering(steps, kept_frozen):
        yield title, mistake(wavering, name)
    asking = ("request_sign_off", "get_sign_off")
    yield "asks the desk afterwards", mistake(after(steps, *asking), "answer read first")
    yield "does not read the answer", mistake(without(steps, "get_sign_off"), "answer read", "omission")
    yield "acts before reading the answer", mistake(after(steps, "get_sign_off"), "answer read first", "omission")
    other = with_arguments(steps, "request_sign_off", amount="99.99")
    yield "asks the desk for another amount", mistake(other, "sign-off")
    late = postponed(steps, ["freeze_card"], ("replace_card", *CASE))
    yield "freezes the card too late", mistake(late, "frozen first")
    yield "freezes for an unknown caller", mistake(_unchecked(steps), "checked before the freeze")
    handed = call("hand_over", team="service", summary="For your information.")
    yield "hands over what is settled", mistake(after_last_call(steps, handed), "not handed over")
    yield "sends every message there is", mistake(_spraying(steps), NOTHING_ELSE)
    yield "ends instead of handing over", mistake(without(steps, "hand_over"), "handed over", "omission")


def _otherwise(steps: Sequence[Step]) -> Sequence[Step]:
    def wrong(step: Call) -> Call:
        disposition = "customer_withdrew" if step.arguments["disposition"] != "customer_withdrew" else "done"
        return call(step.tool, **{**step.arguments, "disposition": disposition})

    for tool in CASE:
        steps = changing(steps, tool, wrong)
    return steps


def _anew(steps: Sequence[Step]) -> Sequence[Step]:
    """A new case for the same matter instead of the one that is open."""
    known, message = first_call(steps, "update_case"), first_call(steps, "list_cases")
    if known is None or message is None:
        return steps
    last = {name: known.arguments[name] for name in ("stage", "disposition", "queue")}
    fresh = {"customer_id": message.arguments["customer_id"], "subject": "account_access", "summary": "A new case."}
    return changing(without(steps, "list_cases"), "update_case", lambda _: call("open_case", **fresh, **last))


def _wavering(steps: Sequence[Step], kept_frozen: bool) -> Iterator[tuple[str, str, Sequence[Step]]]:
    """What is done, undone and done again, one at a time: title, check that fails, script."""
    for at, step in enumerate(steps):
        if not isinstance(step, Call):
            continue
        match step.tool, step.arguments:
            case "freeze_card", {"card_id": card}:
                name, back = "stays frozen" if kept_frozen else step.earns[0], call("unfreeze_card", card_id=card)
            case "set_control", {"state": state, **rest}:
                name, back = step.earns[0], call(step.tool, state="off" if state == "on" else "on", **rest)
            case "set_order_status", {"order_id": order, "status": "paused"}:
                name, back = step.earns[0], call(step.tool, order_id=order, status="active")
            case _:
                continue
        yield f"does, undoes and does again: {name}", name, [*steps[: at + 1], back, *steps[at:]]


def _first(steps: Sequence[Step], tool: str) -> Sequence[Step]:
    found = first_call(steps, tool)
    return [found] if found else []


def _unchecked(steps: Sequence[Step]) -> Sequence[Step]:
    """The card is frozen before the caller is checked, and that right afterwards."""
    checks = [step for step in steps if scripts.is_call(step, "verify_caller")]
    rest = without(steps, "verify_caller")
    at = next((at for at, step in enumerate(rest) if scripts.is_call(step, "freeze_card")), None)
    return steps if at is None else [*rest[: at + 1], *checks, *rest[at + 1 :]]


def _spraying(steps: Sequence[Step]) -> Sequence[Step]:
    """Two further messages with other templates, to the same customer."""
    told = first_call(steps, "open_case", "list_cases")
    if told is None:
        return steps
    names = ("security_warning", "documents_request")
    who = told.arguments["customer_id"]
    return plus(steps, *(call("send_secure_message", customer_id=who, template=name) for name in names))
