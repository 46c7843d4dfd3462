"""Chapter 12.2 and 12.3: alerts, and devices that the customer does not know.

Left open: whether the customer's "yes, that was mine" was heard; whether an alerted payment that the customer did not
make is disputed when it is pending, too old, or the disputes team's.
"""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State, bare

from .disputes import problem
from .episode import Episode
from .mandates import has_papers
from .reckoning import days_since, live_dispute, open_alerts
from .records import Act

CONFIRMED_WITHIN = 30


def names_of(state: State, entry_id: str) -> list[str]:
    """The names by which a payment's merchant is known."""
    merchant = state.row("merchants", state.row("entries", entry_id).get("merchant_id"))
    return [merchant[name] for name in ("statement_name", "trading_name")] if merchant else []


def named_untold(episode: Episode, entry_id: str, call: int) -> bool:
    """Handbook 12.2: whether the customer named the merchant before a call, and we had not."""
    names = [bare(name) for name in names_of(episode.start, entry_id)]
    for event in episode.case.log[: episode.places.get(call, len(episode.case.log))]:
        if event.kind == "said" and any(name in bare(event.text) for name in names):
            return False
        if event.kind == "heard" and any(name in bare(event.text) for name in names):
            return True
    return False


def resolved(episode: Episode) -> Iterator[Violation]:
    """Handbook 12.2: a high one genuine only if the customer named the merchant; the card unfrozen, or replaced."""
    for act in episode.of("resolve"):
        alert = act.change.before
        if alert["status"] != "open":
            yield Violation("12.2", f"{act.key} was {alert['status']} and was resolved again")
        if act.detail == "genuine":
            if alert["level"] == "high" and not named_untold(episode, alert["entry_id"], act.call):
                yield Violation("12.2", f"{act.key} is high; the customer had not named the merchant untold")
            yield from _card_is_back(episode, act, alert)
        else:
            yield from _fraud(episode, act, alert)


def _card_is_back(episode: Episode, act: Act, alert: Row) -> Iterator[Violation]:
    card = episode.at(act).row("cards", alert["card_id"])
    on_alert = card.get("status") == "frozen" and (card["frozen_at"] or "")[:10] >= alert["raised_at"][:10]
    others = [row for row in open_alerts(episode.end, card_id=card.get("id"))]
    if on_alert and not others and episode.end.row("cards", card["id"])["status"] == "frozen" and not episode.given_up:
        yield Violation("12.2", f"{card['id']} stayed frozen though {act.key} was genuine")


def _fraud(episode: Episode, act: Act, alert: Row) -> Iterator[Violation]:
    if episode.given_up or not has_papers(episode.start, act.account_id):
        return
    card, entry = episode.end.row("cards", alert["card_id"]), episode.start.row("entries", alert["entry_id"])
    if card.get("status") in ("active", "frozen"):
        yield Violation("12.2", f"{act.key} was fraud, but {card['id']} is {card['status']}, not replaced")
    open_ = not problem(episode, episode.start, entry, "fraud")
    if open_ and not live_dispute(episode.end, entry["id"]):
        yield Violation("12.2", f"{act.key} was fraud, but {entry['id']} was not disputed")


def merchant_not_named(episode: Episode) -> Iterator[Violation]:
    """Handbook 12.2: in a conversation about an alert we never name its merchant before the customer does."""
    if episode.record.get("subject") != "alert" and not episode.of("resolve"):
        return
    about = [act.change.before for act in episode.of("resolve")]
    about = about or open_alerts(episode.start, account_id=episode.record.get("account_id"))
    for alert in about:
        for name in names_of(episode.start, alert["entry_id"]):
            for at, event in enumerate(episode.case.log):
                heard = "".join(bare(item.text) for item in episode.case.log[:at] if item.kind == "heard")
                if event.kind == "said" and bare(name) in bare(event.text) and bare(name) not in heard:
                    yield Violation("12.2", f"{name}, the merchant of {alert['id']}, was named to the customer")
                    break


def was_confirmed_on(episode: Episode, device_id: str) -> bool:
    """Handbook 12.3: whether a passcode was confirmed on a device in the last 30 days, before this conversation."""
    rows = episode.start.where("passcodes", device_id=device_id, status="confirmed")
    return any(days_since(row["sent_at"], episode.now) <= CONFIRMED_WITHIN for row in rows)


def devices(episode: Episode) -> Iterator[Violation]:
    """Handbook 12.3: after a passcode was confirmed on it, all active cards are frozen and security goes on."""
    for act in episode.of("revoke"):
        if not was_confirmed_on(episode, act.key):
            continue
        loose = [row["id"] for row in episode.end.where("cards", customer_id=act.customer_id, status="active")]
        if loose and not episode.given_up:
            yield Violation("12.3", f"{act.key} was in use and revoked, but {', '.join(loose)} stayed active")
        ends = (episode.disposition, episode.record.get("queue"))
        if ends[0] not in ("not_verified", "system_fault") and ends != ("team_review", "security"):
            yield Violation("12.3", f"{act.key} was in use and revoked, but security did not get the case")
