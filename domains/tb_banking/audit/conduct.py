"""Chapter 1: one case, the order of work, protection first, nothing that nobody asked for, nothing told to strangers.

Left open: one clear yes, after we have spoken, is enough for all that follows; a dispute that is filed, escalated or
settled and an alert or complaint that is answered need none; what is said about the end, and when, is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Change, State

from .episode import Episode
from .identity import AT_THE_END, B, callers, level
from .mandates import mandate, objection
from .records import Act, ActKind

LIVE = ("open", "waiting", "referred")
YES = ("consented", "accepted:")
NO_YES: tuple[ActKind, ...] = ("freeze", "revoke", "file", "escalate", "settle", "resolve", "reopen", "stray")
ONCE: tuple[ActKind, ...] = ("raise_limit", "lower_limit", "control_on", "control_off", "change_order", "order_status")
REPORTED = ("lost", "stolen", "misused")
DUE_NOTES = ("security", "goodwill", "complaint")
_GONE = re.compile(r"\b(lost|lose|stolen|stole|gone|missing|disappeared|snatched|robbed|pickpocket|thief)\b")
_EMAIL = re.compile(r"[\w.+'-]+@[\w-]+(?:\.[\w-]+)+")
_ACCOUNT = re.compile(r"(?<!\d)\d{4}[ -]?\d{4}(?!\d)")
_CODE = re.compile(r"(?<!\d)\d{3}[ -]?\d{3}(?!\d)")


def one_case(episode: Episode) -> Iterator[Violation]:
    """Handbook 1.2: one case, and the live one of same customer, account and subject if there is one."""
    if len(episode.cases) != 1:
        yield Violation("1.2", f"{len(episode.cases)} cases were written: {', '.join(episode.cases) or 'none'}")
    for change in episode.new("cases"):
        same = {name: change.after[name] for name in ("customer_id", "account_id", "subject")}
        live = [row["id"] for row in episode.start.where("cases", **same) if row["stage"] in LIVE]
        if live:
            yield Violation("1.2", f"{change.key} was opened although {live[0]} is not closed")
    for key in episode.cases:
        if episode.start.row("cases", key).get("stage") == "closed":
            yield Violation("1.2", f"{key} was closed and is used again")


def order_of_work(episode: Episode) -> Iterator[Violation]:
    """Handbook 1.3: act, send the message, write the note, bring the case to its last stage; later requests aside."""
    last = [change for change in episode.changes if change.table == "cases"][-1:]
    notes = [change for change in episode.new("contact_notes") if change.after["kind"] in DUE_NOTES]
    for change in (*episode.sent, *last):
        early = [act for act in episode.acts if act.call > change.call]
        if early and not _asked_between(episode, change.call, early[0].call):
            yield Violation("1.3", f"{change.table} {change.key} was written before {early[0].kind} was done")
    steps: list[tuple[list[Change], list[Change]]] = [(episode.sent, notes), ([*episode.sent, *notes], last)]
    for first, then in steps:
        for one, other in ((one, other) for one in first for other in then):
            if one.call > other.call and not _asked_between(episode, other.call, one.call):
                yield Violation("1.3", f"{other.table} {other.key} was written before {one.table} {one.key}")


def _asked_between(episode: Episode, first: int, then: int) -> bool:
    """Whether the customer came with a further request between two calls; any word may be one if none is labelled."""
    start, stop = episode.places.get(first, 0), episode.places.get(then, 0)
    if episode.labels:
        return any(start < at < stop and label in ("second_request", "changed_mind") for at, label in episode.labels)
    return any(event.kind == "heard" for event in episode.case.log[start:stop])


def clear_yes(episode: Episode) -> Iterator[Violation]:
    """Handbook 1.3: the customer said yes, after we had spoken, before money, limits, orders or cards are touched."""
    if not episode.labels:
        return
    spoken = next((at for at, event in enumerate(episode.case.log) if event.kind == "said"), len(episode.case.log))
    agreed = [at for at, label in episode.labels if at > spoken and label.startswith(YES)]
    first_yes = min(agreed, default=len(episode.case.log))
    for act in episode.acts:
        if act.kind not in NO_YES and episode.places.get(act.call, first_yes) < first_yes:
            yield Violation("1.3", f"{act.kind} of {act.key} was done before the customer had said yes")


def protection_first(episode: Episode) -> Iterator[Violation]:
    """Handbook 1.4: a reported card is frozen before all else: before its replacement, before a passcode."""
    for act in episode.of("replace"):
        if act.detail in REPORTED and act.change.before["status"] != "frozen":
            yield Violation("1.4", f"{act.key} was replaced as {act.detail} without having been frozen first")
    for act in episode.of("file"):
        card = episode.at(act).row("cards", _card_of(episode.start, act))
        if act.detail == "fraud" and card.get("status") == "active":
            yield Violation("1.4", f"a payment was disputed as fraud while {card['id']} was active")
    freeze = episode.first("freeze", where=lambda act: act.detail in REPORTED)
    later = [label for label in ("second_request", "changed_mind") if episode.labelled(label)]
    if freeze and episode.record.get("subject") == "lost_card" and not later:
        sent = [code for code in episode.codes if code.status == "sent" and code.call < freeze.call]
        if sent:
            yield Violation("1.4", f"{freeze.key} was frozen only after a passcode had been sent")


def reported_is_frozen(episode: Episode) -> Iterator[Violation]:
    """Handbook 1.4: whoever reports a card lost or stolen at level A, and has a right here, leaves it frozen."""
    record = episode.record
    if record.get("subject") != "lost_card" or not record["account_id"] or not episode.says(_GONE):
        return
    kinds = {row["status"] for row in episode.end.where("cards", account_id=record["account_id"])}
    known = callers(episode)
    able = [key for key in known if level(episode, key)]
    barred = [objection(episode, episode.start, key, known[key], record["account_id"], "freeze") for key in able]
    if kinds == {"active"} and "" in barred and not episode.of("freeze", "replace"):
        yield Violation("1.4", f"a card of {record['account_id']} was reported gone and none was frozen")


def _card_of(state: State, act: Act) -> str:
    return str(state.row("entries", act.change.after["entry_id"]).get("card_id"))


def done_once(episode: Episode) -> Iterator[Violation]:
    """Handbook 1.7 and 1.8: a dropped choice leaves no trace, so nothing is changed twice."""
    seen: set[tuple[str, str, str]] = set()
    for act in episode.of(*ONCE):
        place = (act.change.table, act.key, act.detail if act.change.table == "cards" else "")
        if place in seen:
            yield Violation("1.8", f"{act.key} was changed twice ({act.kind})")
        seen.add(place)


def nothing_astray(episode: Episode) -> Iterator[Violation]:
    """Handbook 1.7 and 1.8: only what is asked is done; no other record changes."""
    for act in episode.of("stray"):
        yield Violation("1.8", f"{act.change.table} {act.key} was changed; no request asks for that")


def nothing_disclosed(episode: Episode) -> Iterator[Violation]:
    """Handbook 1.6: no e-mail, account number or code is told that the caller may not know and has not named."""
    state = episode.start
    owner = {row["email"].casefold(): (key, "") for key, row in state.rows("customers").items()}
    owner |= {row["number"]: (row["customer_id"], key) for key, row in state.rows("accounts").items()}
    codes = {row["code"] for row in state.rows("passcode_rules").values()}
    heard, call = "", 0
    for event in episode.case.log:
        call = max(call, event.call)
        if event.kind == "heard":
            heard += "\n" + event.text.casefold()
        if event.kind != "said":
            continue
        digits = re.sub(r"[ -]", "", heard)
        numbers = [re.sub(r"\D", "", found) for found in _ACCOUNT.findall(event.text)]
        for value in (*(found.rstrip(".").casefold() for found in _EMAIL.findall(event.text)), *numbers):
            if (
                value in owner
                and value not in heard
                and value not in digits
                and not _may_know(episode, *owner[value], call)
            ):
                yield Violation("1.6", f"{value} was told to a caller who may not know it")
        for value in (re.sub(r"\D", "", found) for found in _CODE.findall(event.text)):
            if value in codes and value not in digits:
                yield Violation("1.6", f"passcode {value} was read out")


def _may_know(episode: Episode, customer_id: str, account_id: str, call: int = AT_THE_END) -> bool:
    state, today = episode.start, episode.now.date().isoformat()
    accounts = [account_id] if account_id else [row["id"] for row in state.where("accounts", customer_id=customer_id)]
    for caller in callers(episode, call + 1):
        known = caller == customer_id or any(mandate(state, caller, key, today) for key in accounts)
        if known and level(episode, caller, call + 1) >= B:
            return True
    return False
