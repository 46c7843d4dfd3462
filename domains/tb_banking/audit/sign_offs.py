"""Chapter 11: what the controls desk must allow, asked once, exactly and before, the answer read and obeyed.

Left open: whether compensation for delay and for trouble is summed for the USD 150; whether the sum of fees is asked
for by account; an amount that no record shows when nothing was carried out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Change, Row, State

from .episode import Episode
from .limits import CEILINGS, ceiling
from .mandates import SIGN_OFF_ACT
from .reckoning import segment, usd
from .records import Act, ActKind

CREDIT, CREDIT_PREMIER, FEES, COMPENSATION = 100000, 250000, 7500, 15000
BOUND: dict[str, tuple[ActKind, ...]] = {
    "provisional_credit": ("credit", "replace", "charge"),
    "limit": ("raise_limit", "lower_limit"),
    "fee_return": ("reverse",),
    "compensation": ("compensate",),
}
"""What must wait for the answer (11.2); freezing, filing and resolving an alert need not."""


class Need(NamedTuple):
    """Amounts for which a sign-off was needed, and those for which it may have been asked."""

    certain: set[int]
    possible: set[int]


def threshold(state: State, account_id: str, kind: str) -> int:
    """Handbook 11.1: up to which amount no sign-off is needed."""
    if kind == "provisional_credit":
        return CREDIT_PREMIER if segment(state, account_id) == "premier" else CREDIT
    return {"fee_return": FEES, "compensation": COMPENSATION}.get(kind, 0)


def need(episode: Episode, account_id: str, kind: str) -> Need:
    """Handbook 11.1: what the acts on an account needed."""
    acts, most = _acts(episode, account_id, kind), threshold(episode.start, account_id, kind)
    amounts = {act.cents for act in acts}
    match kind:
        case "limit":
            above = {act.cents for act in acts if act.cents > ceiling(episode.start, account_id, act.detail, episode)}
            return Need(above, above)
        case "fee_return":
            total = sum(act.cents for act in acts)
            return Need({total} if total > most else set(), {total} if total > most else set())
        case "compensation":
            total = sum(act.cents for act in acts)
            single = {cents for cents in amounts if cents > most}
            return Need(single, single | ({total} if total > most else set()))
        case _:
            above = {cents for cents in amounts if cents > most}
            return Need(above, above)


def _acts(episode: Episode, account_id: str, kind: str) -> list[Act]:
    acts = [act for act in episode.of(SIGN_OFF_ACT[kind]) if act.account_id == account_id]
    return [act for act in acts if act.kind != "compensate" or act.detail != "write_off"]


def sign_offs(episode: Episode) -> Iterator[Violation]:
    """Handbook 11: needed and given, exact, before, read, obeyed; none where none is needed."""
    new = episode.new("sign_offs")
    places = {(change.after["account_id"], change.after["kind"]) for change in new}
    places |= {(act.account_id, kind) for kind, of in SIGN_OFF_ACT.items() for act in episode.of(of)}
    for account_id, kind in sorted(places):
        asked = [c for c in new if (c.after["account_id"], c.after["kind"]) == (account_id, kind)]
        yield from _of_account(episode, account_id, kind, asked)


def _of_account(episode: Episode, account_id: str, kind: str, asked: list[Change]) -> Iterator[Violation]:
    known = episode.end.where("sign_offs", account_id=account_id, kind=kind)
    needed, acts = need(episode, account_id, kind), _acts(episode, account_id, kind)
    granted = {row["amount_cents"] for row in known if row["decision"] == "granted"}
    ungranted = needed.certain - granted
    if ungranted and not (kind == "compensation" and needed.possible & granted):
        yield Violation("11.1", f"{usd(max(ungranted))} ({kind}) on {account_id} was done without a sign-off of it")
    for change in asked:
        row, amount = change.after, change.after["amount_cents"]
        if row["decision"] != "granted":
            for act in acts:
                yield Violation("11.2", f"{act.kind} of {act.key} was done though the sign-off is {row['decision']}")
        elif acts and amount not in needed.possible and not episode.given_up:
            yield Violation("11.2", f"{usd(amount)} ({kind}) was asked, which is not what was done on {account_id}")
        if why := _needless(episode, row):
            yield Violation("11.1", f"a sign-off of {usd(amount)} ({kind}) was asked, {why}")
        yield from _asked_first(episode, change)
    if len(asked) > 1:
        yield Violation("11.2", f"the desk was asked {len(asked)} times about {kind} on {account_id}")


def _needless(episode: Episode, row: Row) -> str:
    """Why no sign-off is asked for an amount; empty if it may be."""
    kind, amount, account_id = row["kind"], row["amount_cents"], row["account_id"]
    if kind == "limit":
        wanted = [name for name in episode.looked_at("review_limit", "kind") if name in CEILINGS] or [*CEILINGS]
        marks = [ceiling(episode.start, account_id, name, episode) for name in wanted]
        if not any(most < amount <= 2 * most for most in marks):
            return "which is not above a ceiling or more than twice it"
    elif amount <= threshold(episode.start, account_id, kind):
        return "which needs none"
    if kind == "provisional_credit":
        rows = episode.before(_last_call(episode)).where("disputes", account_id=account_id)
        entries = [episode.start.row("entries", dispute["entry_id"]) for dispute in rows]
        if amount not in {-entry["amount_cents"] for entry in entries}:
            return "which no dispute on the account is about"
    return ""


def _last_call(episode: Episode) -> int:
    return max((change.call for change in episode.changes), default=0) + 1


def _asked_first(episode: Episode, change: Change) -> Iterator[Violation]:
    """Handbook 11.2: before anything is carried out, and the answer read before anything that waits for it."""
    kind, account_id = change.after["kind"], change.after["account_id"]
    bound = [act for act in episode.of(*BOUND[kind]) if act.account_id == account_id]
    reads = [call.call for call in episode.calls("get_sign_off") if dict(call.data).get("sign_off_id") == change.key]
    if not any(call > change.call for call in reads):
        yield Violation("11.2", f"the answer to {change.key} was never read")
    for act in bound:
        if act.call < change.call:
            yield Violation("11.2", f"{act.kind} of {act.key} was done before the desk was asked ({kind})")
        elif act.kind == SIGN_OFF_ACT[kind] and not any(change.call < call < act.call for call in reads):
            yield Violation("11.2", f"{act.kind} of {act.key} was done before the answer was read")
