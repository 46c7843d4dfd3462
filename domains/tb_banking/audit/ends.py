"""Chapter 15.2 and 15.3: whether the disposition is true, as far as the records and the words tell.

Left open: whether a customer whose card was frozen, or device revoked, and nothing more, had asked for nothing else;
who a caller without a profile of ours is; what a customer who "does not want it any more" had been offered, unless it
could never have been had; what a complaint opened again becomes when compensation is paid besides.
"""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring.audit import Violation

from . import alerts, disputes, transfers
from .episode import Episode
from .identity import MOST_CODES, MOST_FAILURES, B, C, callers, failed_checks, failed_codes, level, may_step_up
from .mandates import has_papers, mandate, objection
from .paperwork import requests_done
from .reckoning import days_since, holder, open_alerts
from .records import ActKind

NOTHING_DONE = (
    "policy_refused", "recognised", "already_settled", "customer_withdrew", "no_mandate", "not_verified",
    "step_up_failed", "documents_needed",
)  # fmt: skip
BESIDES: dict[str, tuple[ActKind, ...]] = {
    "sign_off_denied": ("file", "replace", "resolve"),
    "sign_off_pending": ("file", "replace", "resolve"),
    "team_review": ("reopen",),
}
"""What may have been done although the request was not, besides protection."""
ASKED: dict[str, ActKind] = {
    "card_dispute": "file", "provisional_credit": "credit", "lost_card": "replace", "card_control": "control_on",
    "limit": "raise_limit", "transfer": "recall", "standing_order": "change_order", "hold": "release", "fee": "reverse",
    "deposit": "break", "alert": "resolve", "mandate": "end_mandate", "complaint": "compensate", "closing": "close",
    "incoming_payment": "return",
}  # fmt: skip
"""The act that a subject asks for, where it is one."""
NO_PAPERS_NEEDED = ("card_dispute", "provisional_credit", "complaint", "device", "account_access")
PROTECTING = ("lost_card", "card_control", "device", "account_access")


def done_is_true(episode: Episode) -> Iterator[Violation]:
    """Handbook 15.3: done, partly done and not done agree with what was done, and with the desk's answers."""
    if not episode.record:
        return
    end, done = episode.disposition, requests_done(episode)
    decisions = {change.after["decision"] for change in episode.new("sign_offs")}
    protected = end == "done" and episode.of("freeze", "revoke") and episode.record["subject"] in PROTECTING
    if end in ("done", "done_signed_off", "part_done") and not done and not protected:
        yield Violation("15.3", f"the case ends as {end}, but no request was carried out")
    besides = BESIDES.get(end, ())
    if end == "team_review" and episode.of("reopen"):
        besides = (*besides, "compensate")
    if (end in NOTHING_DONE or end in BESIDES) and (more := [act.kind for act in done if act.kind not in besides]):
        yield Violation("15.3", f"the case ends as {end}, but {more[0]} was done")
    if end == "done" and decisions:
        yield Violation("15.2", f"the case ends as done, but the desk was asked and {sorted(decisions)} was its answer")
    known = {row["decision"] for row in episode.end.where("sign_offs", account_id=episode.record["account_id"])}
    if end == "done_signed_off" and "granted" not in decisions | known:
        yield Violation("15.2", "the case ends as done_signed_off, but the desk granted nothing")
    if end.startswith("sign_off_") and end.removeprefix("sign_off_") not in decisions | known:
        yield Violation("15.2", f"the case ends as {end}; the desk's answers are {sorted(decisions | known) or 'none'}")


def caller_is_true(episode: Episode) -> Iterator[Violation]:
    """Handbook 2: who the caller is agrees with how the case ends."""
    record = episode.record
    if not record:
        return
    ends = f"the case ends as {episode.disposition}, but"
    best = max((level(episode, key) for key in callers(episode)), default=0)
    match episode.disposition:
        case "not_verified":
            yield from _not_verified(episode, best, ends)
        case "step_up_failed":
            yield from _step_up_failed(episode, best, ends)
        case "no_mandate":
            yield from _no_mandate(episode, best, ends)
        case _:
            failures = max((failed_checks(episode, check.customer_id) for check in episode.checks), default=0)
            if best < B:
                section = "2.4" if failures >= MOST_FAILURES else "2.2"
                yield Violation(section, f"{ends} the caller had not reached level B")
            elif not _is_somebody(episode, record["account_id"]):
                yield Violation("2.5", f"{ends} the caller neither holds the account nor has a mandate")
            elif _code_stopped(episode) and episode.disposition not in ("part_done", "team_review", "system_fault"):
                yield Violation("2.3", f"{ends} two codes were wrong")


def _not_verified(episode: Episode, best: int, ends: str) -> Iterator[Violation]:
    failures = max((failed_checks(episode, check.customer_id) for check in episode.checks), default=0)
    if best >= B:
        yield Violation("15.2", f"{ends} the caller was verified")
    elif not episode.checks:
        yield Violation("2.4", f"{ends} no check was run")
    elif failures < MOST_FAILURES and not _had_no_more(episode):
        yield Violation("2.4", f"{ends} the caller was not asked for more")


def _had_no_more(episode: Episode) -> bool:
    """Handbook 2.4: whether the caller could or would not name a further fact."""
    return not episode.labels or episode.labelled("unknown", "withheld")


def _step_up_failed(episode: Episode, best: int, ends: str) -> Iterator[Violation]:
    who = [key for key in callers(episode) if level(episode, key) >= B]
    if best >= C:
        yield Violation("15.2", f"{ends} a passcode was confirmed")
    elif not who:
        yield Violation("2.2", f"{ends} the caller had not reached level B")
    elif not _code_stopped(episode) and any(may_step_up(episode, key) for key in who) and not _cannot_read(episode):
        yield Violation("2.3", f"{ends} the caller has a device, and two codes were not wrong")


def _code_stopped(episode: Episode) -> bool:
    return any(failed_codes(episode, check.customer_id) >= MOST_CODES for check in episode.checks)


def _cannot_read(episode: Episode) -> bool:
    """Handbook 2.3: whether the caller could not, or would not, read a code."""
    return not episode.labels or episode.labelled("unknown:code", "withheld:code", "unknown", "withheld")


def _is_somebody(episode: Episode, account_id: str | None) -> bool:
    """Whether a caller at level B holds the account or has a mandate for it; any customer where no account is named."""
    if not account_id:
        return True
    owner, today = holder(episode.start, account_id).get("id"), episode.now.date().isoformat()
    able = [key for key in callers(episode) if level(episode, key) >= B]
    return any(key == owner or mandate(episode.start, key, account_id, today) for key in able)


def _no_mandate(episode: Episode, best: int, ends: str) -> Iterator[Violation]:
    record = episode.record
    if episode.checks and best < B:
        yield Violation("2.2", f"{ends} the caller had not reached level B")
    asked = ASKED.get(record["subject"])
    if asked is None or not record["account_id"]:
        return
    for key, role in callers(episode).items():
        kinds: tuple[ActKind, ...] = ("raise_limit", "lower_limit") if asked == "raise_limit" else (asked,)
        problems = [objection(episode, episode.start, key, role, record["account_id"], kind) for kind in kinds]
        if "" in problems and all(not problem for problem in problems):
            yield Violation("2.5", f"{ends} the caller may ask for {record['subject']}")


def papers_are_true(episode: Episode) -> Iterator[Violation]:
    """Handbook 12.1: `documents_needed` exactly where papers are missing for what was asked."""
    record, account_id = episode.record, episode.record.get("account_id")
    if not record or not account_id:
        return
    verified = has_papers(episode.start, account_id)
    if episode.disposition == "documents_needed" and verified:
        yield Violation("12.1", "the case waits for papers, but they are verified")
    if episode.disposition == "documents_needed" and record["subject"] in NO_PAPERS_NEEDED:
        yield Violation("12.1", f"the case waits for papers, which {record['subject']} does not need")
    if record["queue"] == "account_services":
        return
    wanting = record["subject"] in ASKED and record["subject"] not in (*NO_PAPERS_NEEDED, "alert")
    if not verified and wanting and episode.disposition in ("policy_refused", "team_review", "already_settled"):
        yield Violation("12.1", f"{record['subject']} ends as {episode.disposition}, but papers are missing")


def team_is_true(episode: Episode) -> Iterator[Violation]:
    """Handbook 2.5, 4.7, 7.1, 7.4, 8.3, 12.2, 12.3, 13.3: a team gets only what its rule gives it."""
    record = episode.record
    if episode.disposition == "team_review" and not _team_has(episode, str(record["queue"])):
        yield Violation("15.2", f"the case went to {record['queue']}, which has nothing to decide in it")


def _team_has(episode: Episode, queue: str) -> bool:
    state, now = episode.start, episode.now
    account_id, subject = episode.record["account_id"], episode.record["subject"]
    customer_id = str(episode.record["customer_id"])
    holds = {row["kind"] for row in state.where("holds", account_id=account_id, status="active")}
    match queue:
        case "disputes":
            return disputes.filed_in_a_year(state, customer_id, now) >= disputes.TOO_MANY
        case "account_services":
            return subject in ("closing", "mandate") and "joint_owner" in callers(episode).values()
        case "payments":
            moved = state.where("transfers", account_id=account_id)
            traced = any(transfers.recall(row, episode) == "trace" for row in moved)
            entries = state.where("entries", account_id=account_id, kind="transfer_in", status="posted")
            kept = any(not transfers.may_return(state, row, episode) for row in entries)
            return (subject == "transfer" and traced) or (subject == "incoming_payment" and kept)
        case "security":
            alarmed = [row for row in open_alerts(state, account_id=account_id) if row["level"] == "high"]
            used = any(alerts.was_confirmed_on(episode, act.key) for act in episode.of("revoke"))
            return "fraud" in holds or bool(alarmed) or used
        case "legal":
            return "legal" in holds
        case _:
            return bool(episode.of("reopen")) or _reopens(episode)


def _reopens(episode: Episode) -> bool:
    rows = episode.end.where("complaints", customer_id=episode.record["customer_id"], status="open")
    known = episode.start.rows("complaints")
    return any(
        known[row["id"]]["status"] == "answered" and days_since(known[row["id"]]["answered_on"], episode.now) <= 180
        for row in rows
    )
