"""Chapter 5: replacement and its fee, cards found again, use abroad.

Left open: whether a card that was frozen as a precaution is later lost, stolen or misused; countries that no page
names; whether 7 days are counted by days or hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State, plain

from .episode import Episode
from .pages import FORMER_COUNTRIES, OPEN_COUNTRIES
from .reckoning import age, days_since, days_until, open_alerts, segment, usd
from .records import Act

REPLACEMENT_FEE, FREE_BEFORE_EXPIRY, FOUND_WITHIN = 1200, 30, 7
FREE_REASONS = ("stolen", "misused")
CASH_SEGMENTS = ("plus", "premier")
_STOLEN = re.compile(
    r"\bst[oe]le|\bsteal|\btheft\b|\bthie(f|ves)\b|\brobb|\bpickpocket|\bsnatch|\bburgl|\bbroke into\b"
    r"|\btook my\b|\bmugg"
)


def replacement_fee(state: State, card: Row, reason: str, episode: Episode) -> int:
    """Handbook 5.1: what a replacement costs."""
    soon = days_until(card["expires_on"], episode.now) <= FREE_BEFORE_EXPIRY
    free = reason in FREE_REASONS or soon or segment(state, card["account_id"]) == "premier"
    return 0 if free else REPLACEMENT_FEE


def replacements(episode: Episode) -> Iterator[Violation]:
    """Handbook 5.1: with the reason given, and the fee charged after it, once, or not at all."""
    for act in episode.of("replace"):
        frozen = [other for other in episode.of("freeze") if other.key == act.key and other.call < act.call]
        given = frozen[-1].detail if frozen else ""
        if given in ("lost", "stolen", "misused") and act.detail != given:
            yield Violation("5.1", f"{act.key} was reported {given} and replaced as {act.detail}")
        if act.detail == "stolen" and not episode.says(_STOLEN):
            yield Violation("5.1", f"{act.key} was replaced as stolen, which the customer never said")
        if act.detail == "misused" and not _misused(episode, act):
            yield Violation("5.1", f"{act.key} was replaced as misused, but no payment of it was disputed as fraud")
    yield from _fees(episode)


def _misused(episode: Episode, act: Act) -> bool:
    """Whether a fraud is on record for a card: a dispute, an alert, or a payment that cannot be disputed yet."""
    entries = [row["id"] for row in episode.end.where("entries", card_id=act.key)]
    disputed = any(episode.end.where("disputes", entry_id=key, reason="fraud") for key in entries)
    pending = episode.start.where("entries", card_id=act.key, status="pending")
    return disputed or bool(pending) or bool(episode.end.where("alerts", card_id=act.key, status="fraud"))


def _fees(episode: Episode) -> Iterator[Violation]:
    charged = [act for act in episode.of("charge") if act.detail == "replacement"]
    for account_id in dict.fromkeys(act.account_id for act in (*episode.of("replace"), *charged)):
        replaced = [act for act in episode.of("replace") if act.account_id == account_id]
        due = [replacement_fee(episode.at(act), act.change.before, act.detail, episode) for act in replaced]
        found = [act for act in charged if act.account_id == account_id]
        amounts, right = sorted(act.cents for act in found), sorted(cents for cents in due if cents)
        if amounts != right and (amounts or "charge_fee" not in episode.given_up):
            shown, wanted = (" and ".join(map(usd, values)) or "nothing" for values in (amounts, right))
            yield Violation("5.1", f"charged {shown} for replacements on {account_id} where {wanted} was due")
        if found and replaced and found[0].call < replaced[0].call:
            yield Violation("5.1", f"the replacement on {account_id} was charged before it was made")


def found_again(episode: Episode) -> Iterator[Violation]:
    """Handbook 5.2 and 12.2: frozen 7 days ago or less and no alert open, or the alert was just found genuine."""
    for act in episode.of("unfreeze"):
        state, card = episode.at(act), act.change.before
        if open_alerts(state, card_id=act.key):
            yield Violation("5.2", f"{act.key} was unfrozen while an alert is open for it")
        if not frozen_lately(card, episode) and not cleared(episode, act.key, act.call):
            yield Violation("5.2", f"{act.key} was unfrozen {days_since(card['frozen_at'], episode.now)} days after")


def frozen_lately(card: Row, episode: Episode) -> bool:
    """Handbook 5.2: whether a card was frozen 7 days ago or less, by either way of counting."""
    at = card.get("frozen_at")
    return at is not None and days_since(at, episode.now) <= FOUND_WITHIN


def surely_older(card: Row, episode: Episode) -> bool:
    """Handbook 5.2: whether a card was frozen more than 7 days ago, by both ways of counting."""
    at = card.get("frozen_at")
    return at is not None and age(at, episode.now).days > FOUND_WITHIN


def cleared(episode: Episode, card_id: str, call: int) -> bool:
    """Handbook 12.2: whether an alert was resolved as genuine before a call, the card frozen on its day or later."""
    card = episode.start.row("cards", card_id)
    alerts = [act.change.before for act in episode.of("resolve") if act.detail == "genuine" and act.call < call]
    return any(row["card_id"] == card_id and (card["frozen_at"] or "")[:10] >= row["raised_at"][:10] for row in alerts)


def controls(episode: Episode) -> Iterator[Violation]:
    """Handbook 5.3 and GP-05: for a journey to an open country that was named; cash only for plus and premier."""
    for act in episode.of("control_on"):
        if act.detail not in ("abroad", "cash_abroad"):
            continue
        level = segment(episode.start, act.account_id)
        if act.detail == "cash_abroad" and level not in CASH_SEGMENTS:
            yield Violation("5.3", f"cash abroad was switched on for {act.key}, whose holder is {level}")
        if not named_countries(episode.heard_before(act.call), OPEN_COUNTRIES):
            yield Violation("5.3", f"{act.key} was opened abroad; no open country was named")
    wished = named_countries(episode.heard, FORMER_COUNTRIES)
    if wished and episode.of("control_on") and episode.disposition == "done" and not episode.labelled("changed_mind"):
        yield Violation("15.3", f"{wished[0]} is not open, so only a part was done")


def named_countries(heard: str, of: tuple[str, ...]) -> list[str]:
    """Which of these countries the customer named."""
    return [name for name in of if re.search(rf"\b{name.casefold()}\b", plain(heard))]
