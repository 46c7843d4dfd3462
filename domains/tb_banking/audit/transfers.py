"""Chapter 7: recalls and their fee, standing orders, closing an account, money sent back.

Left open: whether an order that is cancelled on the way to a closed account needs the two working days of 7.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Literal

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State

from .episode import Episode
from .reckoning import LIVE_DISPUTES, age, day, days_since, segment, usd, working_days
from .records import Act

RECALL_FEE, TRACED_DAYS, RETURN_DAYS, ORDER_DAYS = 1500, 10, 30, 2
ONE_DAY = timedelta(hours=24)
Recall = Literal["recall", "trace", "refuse"]


def recall(transfer: Row, episode: Episode) -> Recall:
    """Handbook 7.1: what becomes of a transfer that the customer wants back."""
    fresh = age(transfer["made_at"], episode.now) <= ONE_DAY
    match transfer["rail"], transfer["status"]:
        case _, "recalled":
            return "refuse"
        case "instant", status if status != "scheduled":
            return "trace" if fresh and transfer["payee_check"] != "match" else "refuse"
        case _, "scheduled":
            return "recall"
        case _, "pending" if fresh:
            return "recall"
        case _:
            return "trace" if days_since(transfer["made_at"], episode.now) <= TRACED_DAYS else "refuse"


def recall_fee(state: State, transfer: Row) -> int:
    """Handbook 7.1: the fee of a recall."""
    free = transfer["status"] == "scheduled" or transfer["payee_check"] == "no_match"
    return 0 if free or segment(state, transfer["account_id"]) == "premier" else RECALL_FEE


def recalls(episode: Episode) -> Iterator[Violation]:
    """Handbook 7.1: recalled only when it may be, with its fee afterwards."""
    for act in episode.of("recall"):
        if (end := recall(act.change.before, episode)) != "recall":
            yield Violation("7.1", f"{act.key} was recalled where the handbook says {end}")
    charged = [act for act in episode.of("charge") if act.detail == "recall"]
    for account_id in dict.fromkeys(act.account_id for act in (*episode.of("recall"), *charged)):
        recalled = [act for act in episode.of("recall") if act.account_id == account_id]
        right = sorted(cents for act in recalled if (cents := recall_fee(episode.start, act.change.before)))
        found = [act for act in charged if act.account_id == account_id]
        amounts = sorted(act.cents for act in found)
        if amounts != right and (amounts or "charge_fee" not in episode.given_up):
            shown, wanted = (" and ".join(map(usd, values)) or "nothing" for values in (amounts, right))
            yield Violation("7.1", f"charged {shown} for recalls on {account_id} where {wanted} was due")
        if found and recalled and found[0].call < recalled[0].call:
            yield Violation("7.1", f"the recall on {account_id} was charged before it was made")


def is_far_enough(order: Row, episode: Episode) -> bool:
    """Handbook 7.2: whether the next payment is 2 working days or more away."""
    return working_days(episode.now.date(), day(order["next_on"])) >= ORDER_DAYS


def daily_transfer(state: State, account_id: str) -> int | None:
    """The limit for transfers of an account; None without one."""
    rows = state.where("limits", account_id=account_id, kind="daily_transfer")
    return rows[0]["amount_cents"] if rows else None


def orders(episode: Episode) -> Iterator[Violation]:
    """Handbook 7.2: changed two working days ahead, never above the limit for transfers."""
    closed = {act.account_id for act in episode.of("close")}
    for act in episode.of("change_order", "order_status"):
        order = act.change.before
        if order["status"] == "cancelled":
            yield Violation("7.2", f"{act.key} was cancelled before and was changed")
        if not is_far_enough(order, episode) and act.account_id not in closed:
            yield Violation("7.2", f"{act.key} was changed, but its next payment is on {order['next_on']}")
        most = daily_transfer(episode.at(act), act.account_id)
        if act.kind == "change_order" and act.cents > order["amount_cents"] and most is not None and act.cents > most:
            yield Violation("7.2", f"{act.key} was raised to {usd(act.cents)}, the daily limit is {usd(most)}")


def obstacles(state: State, account_id: str) -> list[str]:
    """Handbook 7.3: what stands against closing an account, its orders aside."""
    found = [row["id"] for row in state.where("holds", account_id=account_id, status="active")]
    found += [row["id"] for row in state.where("disputes", account_id=account_id) if row["stage"] in LIVE_DISPUTES]
    transfers = state.where("transfers", account_id=account_id)
    found += [row["id"] for row in transfers if row["status"] in ("scheduled", "pending")]
    below = state.row("balances", account_id).get("booked_cents", 0) < 0
    return [*found, "a balance below zero"] if below else found


def closing(episode: Episode) -> Iterator[Violation]:
    """Handbook 7.3: orders first, then the account, its balance to the account named; with an obstacle nothing."""
    for act in episode.of("close"):
        if found := obstacles(episode.at(act), act.account_id):
            yield Violation("7.3", f"{act.key} was closed in spite of {', '.join(found)}")
        left = [
            row for row in episode.at(act).where("standing_orders", account_id=act.key) if row["status"] != "cancelled"
        ]
        if left:
            yield Violation("7.3", f"{act.key} was closed with {left[0]['id']} still {left[0]['status']}")
        yield from _paid_out(episode, act)
    closed = {act.account_id for act in episode.of("close")}
    for act in episode.of("order_status"):
        about = episode.record.get("subject") == "closing" and episode.record.get("account_id") == act.account_id
        if about and act.account_id not in closed and "close_account" not in episode.given_up:
            yield Violation("7.3", f"{act.key} was set {act.detail}, but {act.account_id} was not closed")


def _paid_out(episode: Episode, act: Act) -> Iterator[Violation]:
    """The balance goes to an account that the customer named, or to the only other one that the customer holds."""
    target = episode.arguments(act.call).get("payout_account_id")
    account = episode.start.row("accounts", target)
    if not account:
        return
    others = [row["id"] for row in episode.start.where("accounts", customer_id=act.customer_id) if row["id"] != act.key]
    digits = "".join(letter for letter in episode.heard_before(act.call) if letter.isdigit() or letter.isalpha())
    if account["number"] not in digits and others != [target]:
        yield Violation("7.3", f"the balance of {act.key} went to {target}, which the customer had not named")


def may_return(state: State, entry: Row, episode: Episode) -> bool:
    """Handbook 7.4: whether an incoming transfer may be sent back."""
    balance = state.row("balances", entry["account_id"])
    covered = balance["booked_cents"] - balance["held_cents"] >= entry["amount_cents"]
    return covered and days_since(entry["booked_at"], episode.now) <= RETURN_DAYS


def returns(episode: Episode) -> Iterator[Violation]:
    """Handbook 7.4: an incoming transfer of 30 days or less, if the free balance covers it, whole."""
    for act in episode.of("return"):
        entry = episode.start.row("entries", act.change.after["entry_id"])
        if entry["kind"] != "transfer_in" or entry["status"] != "posted":
            yield Violation("7.4", f"{entry['id']} is a {entry['status']} {entry['kind']} and was sent back")
        elif not may_return(episode.at(act), entry, episode):
            yield Violation("7.4", f"{entry['id']} was sent back; it is older than 30 days or not covered")
        if act.cents != entry["amount_cents"]:
            yield Violation("7.4", f"{usd(act.cents)} of {entry['id']} was sent back")
