"""Chapter 2.1 to 2.4: levels A, B and C, facts that were named, passcodes.

Left open: how a day of birth is said (its year must have been heard); the surname, which is no fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, bare

from .episode import Episode
from .reckoning import days_since
from .records import Act, ActKind

A, B, C = 1, 2, 3
LETTER = {A: "A", B: "B", C: "C"}
LEVEL_OF: Mapping[ActKind, int] = {
    "freeze": A, "revoke": A,
    "charge": B, "reverse": B, "release": B, "reopen": B, "compensate": B, "change_order": B, "order_status": B,
    "lower_limit": B, "control_off": B,
}  # fmt: skip
LEVEL_OF_ATTEMPT = {"grant_credit": C, "reverse_fee": B, "pay_compensation": B, "recall_transfer": C, "replace_card": C}
"""What a write that failed for a time had needed, of those that are known to fail."""
LEVEL_OF_SIGN_OFF = {"provisional_credit": C, "limit": C, "fee_return": B, "compensation": B}
MOST_FAILURES, MOST_CODES, DEVICE_DAYS = 2, 2, 7
AT_THE_END = 10**9
FACTS = ("email", "phone", "postcode", "birth_date", "account_number", "card_ending")


def level_needed(act: Act) -> int:
    """Handbook 2.2: the level that an act needs; a write-off belongs to its dispute."""
    if act.kind == "compensate" and act.detail == "write_off":
        return C
    return LEVEL_OF.get(act.kind, C)


def failed_checks(episode: Episode, customer_id: str, call: int = AT_THE_END) -> int:
    """Handbook 2.4: checks with a wrong fact, before a call."""
    return sum(not check.passed for check in episode.checks if check.customer_id == customer_id and check.call < call)


def failed_codes(episode: Episode, customer_id: str, call: int = AT_THE_END) -> int:
    """Handbook 2.3: wrong codes, before a call."""
    codes = [code for code in episode.codes if code.customer_id == customer_id and code.call < call]
    return sum(code.status == "failed" for code in codes)


def is_eligible(device: Row, episode: Episode) -> bool:
    """Handbook 2.3: a trusted device that was registered 7 days ago or earlier."""
    return device.get("status") == "trusted" and days_since(device["registered_at"], episode.now) >= DEVICE_DAYS


def confirmed(episode: Episode, customer_id: str, call: int = AT_THE_END) -> bool:
    """Handbook 2.3: a passcode of an eligible own device was confirmed before a call, after one wrong code at most."""
    for code in episode.codes:
        if code.call < call and code.status == "confirmed" and code.customer_id == customer_id:
            device = episode.before(code.call).row("devices", code.device_id)
            own = device.get("customer_id") == customer_id and is_eligible(device, episode)
            if own and failed_codes(episode, customer_id, code.call) < MOST_CODES:
                return True
    return False


def level(episode: Episode, customer_id: str, call: int = AT_THE_END) -> int:
    """Handbook 2.2: the level that a caller has reached before a call; 0 for none."""
    facts = [
        check.matched
        for check in episode.checks
        if check.customer_id == customer_id
        and check.call < call
        and check.passed
        and failed_checks(episode, customer_id, check.call) < MOST_FAILURES
    ]
    reached = min(B, max(facts, default=0))
    return C if reached == B and confirmed(episode, customer_id, call) else reached


def callers(episode: Episode, call: int = AT_THE_END) -> dict[str, str]:
    """Who passed a check before a call, with the role of the last check passed."""
    return {check.customer_id: check.role for check in episode.checks if check.call < call and check.passed}


def levels(episode: Episode) -> Iterator[Violation]:
    """Handbook 2.2 to 2.4: every act, and every question to the desk, comes after the level that it needs."""
    for act in episode.acts:
        needed = level_needed(act)
        if act.kind != "stray" and _highest(episode, act.call) < needed:
            yield Violation("2.2", f"{act.kind} of {act.key} needs level {LETTER[needed]}, which nobody had reached")
    for call in episode.failures:
        needed = LEVEL_OF_ATTEMPT.get(call.name, A)
        if call.name in LEVEL_OF_ATTEMPT and _highest(episode, call.call) < needed:
            yield Violation("2.2", f"{call.name} was tried before level {LETTER[needed]} was reached")
    for change in episode.new("sign_offs"):
        needed = LEVEL_OF_SIGN_OFF[change.after["kind"]]
        if _highest(episode, change.call) < needed:
            yield Violation("2.2", f"sign-off {change.key} was asked before level {LETTER[needed]} was reached")


def _highest(episode: Episode, call: int) -> int:
    return max((level(episode, key, call) for key in callers(episode, call)), default=0)


def facts_were_named(episode: Episode) -> Iterator[Violation]:
    """Handbook 2.1 and 2.3: facts and codes were heard from the caller before they were tried."""
    for check in episode.checks:
        given, heard = episode.arguments(check.call), episode.heard_before(check.call)
        for name in FACTS:
            value = given.get(name)
            if value and not _was_named(name, str(value), heard):
                yield Violation("2.1", f"{name} {value} was checked, but the caller had not named it")
    for call in [event for event in episode.case.log if event.kind == "call" and event.name == "confirm_passcode"]:
        code = str(dict(call.data).get("code", ""))
        if bare(code) not in bare(episode.heard_before(call.call)):
            yield Violation("2.3", f"code {code} was tried, but the caller had not read it out")


def _was_named(name: str, value: str, heard: str) -> bool:
    if name == "birth_date":
        return value[:4] in heard
    if name in ("phone", "account_number", "card_ending"):
        return re.sub(r"\D", "", value) in re.sub(r"\D", "", heard)
    return bare(value) in bare(heard)


def passcodes(episode: Episode) -> Iterator[Violation]:
    """Handbook 2.3: to an old enough trusted device of a caller who passed a check; after a wrong code one more."""
    sent = [code for code in episode.codes if code.status == "sent"]
    for place, code in enumerate(sent):
        device = episode.before(code.call).row("devices", code.device_id)
        if not is_eligible(device, episode):
            yield Violation("2.3", f"a passcode went to {code.device_id}, which is no trusted device of 7 days or more")
        if not level(episode, code.customer_id, code.call):
            yield Violation("1.6", f"a passcode was sent to {code.customer_id}, for whom no check had passed")
        earlier = sum(other.customer_id == code.customer_id for other in sent[:place])
        if earlier >= MOST_CODES or earlier > failed_codes(episode, code.customer_id, code.call):
            yield Violation("2.3", f"a further passcode was sent to {code.customer_id} without a wrong one before")


def may_step_up(episode: Episode, customer_id: str) -> bool:
    """Handbook 2.3: whether the caller has a device that is good for a passcode."""
    return any(is_eligible(device, episode) for device in episode.start.where("devices", customer_id=customer_id))
