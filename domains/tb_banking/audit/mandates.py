"""Chapter 2.5 and 12.1: whether the caller may ask for it on this account, and whether the customer's papers allow it.

Left open: freezing, which 1.4 puts before everything, is allowed to whoever has any mandate; whether a holder may close
an account or end a co-owner's mandate without the other owners; for a customer without papers whether a provisional
credit, the replacement that 4.3 asks for and an alert resolved as fraud count as part of the dispute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State

from .episode import Episode
from .identity import callers, level, level_needed
from .reckoning import holder, is_minor
from .records import Act, ActKind

VIEW: tuple[ActKind, ...] = ("freeze",)
PAY: tuple[ActKind, ...] = ("freeze", "change_order", "order_status", "recall", "charge", "reverse")
NEVER_FULL: tuple[ActKind, ...] = ("raise_limit", "end_mandate", "close")
MINOR: tuple[ActKind, ...] = ("freeze", "lower_limit")
WITHOUT_PAPERS: tuple[ActKind, ...] = (
    "freeze", "revoke", "file", "withdraw", "escalate", "settle", "credit", "compensate", "reopen",
)  # fmt: skip
SIGN_OFF_ACT: dict[str, ActKind] = {
    "provisional_credit": "credit", "limit": "raise_limit", "fee_return": "reverse", "compensation": "compensate",
}  # fmt: skip
_KIN = (
    r"(husband|wife|partner|mother|father|mum|mom|dad|son|daughter|brother|sister|boss|colleague|friend|client|uncle"
    r"|aunt|grand(mother|father|ma|pa|son|daughter)|parents|nephew|niece|neighbou?r|ward|employer|flatmate|landlord)"
)
_SOMEBODY_ELSE = re.compile(
    rf"\b(calling|writing|asking|speaking|contacting you|chatting|here|acting) (for|on behalf of) my (\w+ )?"
    rf"{_KIN}\b(?!')"
    rf"|\bon behalf of my (\w+ )?{_KIN}\b|\bi('?m| am) (his|her|their) ({_KIN}|attorney|guardian)\b"
    r"|\bi('?m| am) not the (account )?holder\b|\bi (have|hold) (a |the )?(full )?power of attorney\b"
)


def mandate(state: State, customer_id: str, account_id: str, now: str) -> list[Row]:
    """Handbook 2.5: the mandates of a caller that count today, first and last day included."""
    rows = state.where("mandates", account_id=account_id, holder_id=customer_id, status="active")
    return [
        row for row in rows if row["valid_from"] <= now and (row["valid_until"] is None or now <= row["valid_until"])
    ]


def objection(
    episode: Episode, state: State, customer_id: str, role: str, account_id: str, kind: ActKind, key: str = ""
) -> str:
    """Why a caller may not have something done on an account; empty if they may."""
    account, owner = state.row("accounts", account_id), holder(state, account_id)
    minor = account.get("kind") == "youth" and bool(owner) and is_minor(owner, episode.now)
    if owner.get("id") == customer_id:
        return "" if not minor or kind in MINOR else "the holder of a youth account may only freeze and lower limits"
    rows = mandate(state, customer_id, account_id, episode.now.date().isoformat())
    if not rows:
        return "the caller has no mandate that counts today"
    told = [row for row in rows if row["role"] == role]
    if not told:
        return f"the caller was checked as {role}, the mandate says {rows[0]['role']}"
    problems = [_beyond(state, row, kind, key, minor) for row in told]
    return "" if "" in problems else problems[0]


def _beyond(state: State, row: Row, kind: ActKind, key: str, minor: bool) -> str:
    """Why this is beyond one mandate; empty if it is not."""
    match row["role"], row["scope"]:
        case "joint_owner", _:
            other = state.row("mandates", key)
            ends_another = kind == "end_mandate" and other.get("role") == "joint_owner" and other["id"] != row["id"]
            return "it needs all owners" if kind == "close" or ends_another else ""
        case "attorney", "view":
            return "" if kind in VIEW else "a power to view opens information only"
        case "attorney", "pay":
            return "" if kind in PAY else "a power to pay opens no more than orders, recalls and fees"
        case "attorney", _:
            return "a full power does not open it" if kind in NEVER_FULL else ""
        case _:
            if not minor:
                return "the guardian's time is over, or it is no youth account"
            return "a guardian may not close the account" if kind == "close" else ""


def rights(episode: Episode) -> Iterator[Violation]:
    """Handbook 2.5: whoever had the level needed also had the right."""
    for act in episode.acts:
        if act.kind == "stray":
            continue
        able = [key for key in callers(episode, act.call) if level(episode, key, act.call) >= level_needed(act)]
        problems = [_act_objection(episode, act, key) for key in able]
        if problems and "" not in problems:
            yield Violation("2.5", f"{act.kind} of {act.key} was done, but {problems[0]}")
    for change in episode.new("sign_offs"):
        kind, account_id = SIGN_OFF_ACT[change.after["kind"]], change.after["account_id"]
        known = callers(episode, change.call)
        state = episode.before(change.call)
        problems = [objection(episode, state, key, role, account_id, kind) for key, role in known.items()]
        if problems and "" not in problems:
            yield Violation("2.5", f"sign-off {change.key} was asked, but {problems[0]}")


def _act_objection(episode: Episode, act: Act, customer_id: str) -> str:
    if act.kind == "revoke":
        return "" if act.customer_id == customer_id else "the device is somebody else's"
    role = callers(episode, act.call)[customer_id]
    return objection(episode, episode.at(act), customer_id, role, act.account_id, act.kind, act.key)


def own_profile(episode: Episode) -> Iterator[Violation]:
    """Handbook 2.5: a caller who says to be somebody else is not checked as the holder."""
    roles = {check.role for check in episode.checks}
    if roles == {"holder"} and episode.says(_SOMEBODY_ELSE):
        yield Violation("2.5", "the caller said to act for somebody else and was checked as the holder")


def papers(episode: Episode) -> Iterator[Violation]:
    """Handbook 12.1: without verified papers only freezing, disputes and complaints; all else waits."""
    for act in episode.acts:
        owner = holder(episode.start, act.account_id)
        if not owner or owner["kyc_status"] == "verified" or act.kind in WITHOUT_PAPERS:
            continue
        dispute = any(other.account_id == act.account_id for other in episode.of("file", "withdraw", "settle"))
        part_of_dispute = act.kind in ("replace", "charge") and act.detail in ("misused", "replacement") and dispute
        if not part_of_dispute and not (act.kind == "resolve" and act.detail == "fraud"):
            yield Violation("12.1", f"{act.kind} of {act.key} was done; the papers are {owner['kyc_status']}")
    for change in episode.new("sign_offs"):
        owner = holder(episode.start, change.after["account_id"])
        if owner.get("kyc_status") != "verified" and change.after["kind"] in ("limit", "fee_return"):
            yield Violation("12.1", f"sign-off {change.key} was asked; the papers are {owner.get('kyc_status')}")


def has_papers(state: State, account_id: str) -> bool:
    """Handbook 12.1: whether the holder's papers are verified."""
    return holder(state, account_id).get("kyc_status") == "verified"
