"""Chapter 4 but for credits: which payments may be disputed, what a fraud asks besides, how a contested one goes on.

Left open: 4.1 is asked only of payments that the customer does not know (`fraud`), since whoever misses goods or sees
a payment twice knows the shop; the promised day of 4.4, which no record holds; whether a dispute filed in this very
conversation counts for 4.7; whether a message that tells of a cancellation is about this merchant when it names none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State, bare, plain

from .episode import Episode
from .reckoning import (
    days_since,
    holder,
    is_card_payment,
    is_posted,
    live_dispute,
    moment,
    of_customer,
    same_payment,
    usd,
)
from .records import Act

IN_TIME = {"fraud": 120, "not_received": 90}
IN_TIME_ELSE, TOO_MANY, YEAR = 60, 4, 365
ONLY_CUSTOMER = ("chip_pin", "online_confirmed")
APART = timedelta(minutes=30)
SMALL = 2500
_CANCELLED = re.compile(
    r"\bcancel|\bterminat|\bended\b|\b(end|stop|quit|close|leave|leaving) (my|the|our)\b|\bunsubscri|\bresign"
    r"|\bgave notice\b|\bgive notice\b|\bnot renew|\bwithdr[ae]w"
)
_NEWS = re.compile(
    r"\b(receipt|messages?|witness(es)?|e-?mails?|photos?|pictures?|letter|confirmation|screenshots?|invoice|texts?|chat"
    r"|tracking|proof|evidence|slip|statement|document|contract|copy)\b"
)
_RECOGNISED = re.compile(
    r"\b(i|we) (do |did |now )?(recogni[sz]e|remember|recall) (it|that|this|them|now|the (shop|place|payment|name))\b"
    r"|\bthat (was|is|'?s) (me|us|mine|ours|my (own )?(order|purchase|payment))\b"
    r"|\bnow i (know|remember|recogni[sz]e)\b"
    r"|\bi (did )?(buy|bought|ordered|shopped) (it|there|that|something)\b|\bi know (it|that one|them|the shop)\b"
    r"|\b(it|that)('s| is| was) (mine|ours) (then|after all)\b"
)


def in_time(entry: Row, reason: str, now: datetime) -> bool:
    """Handbook 4.2: whether a payment may still be disputed, the last day included."""
    return days_since(entry["booked_at"], now) <= IN_TIME.get(reason, IN_TIME_ELSE)


def only_customer_could(state: State, entry: Row) -> bool:
    """Handbook 4.3: whether a payment is refused as fraud: confirmed by the customer, and no high alert open for it."""
    alarmed = state.where("alerts", entry_id=entry["id"], level="high", status="open")
    return entry["method"] in ONLY_CUSTOMER and not alarmed


def is_duplicate(state: State, entry: Row) -> bool:
    """Handbook 4.6: the later of two equal posted payments, 30 minutes or less apart."""
    others = [row for row in state.where("entries", card_id=entry["card_id"]) if same_payment(row, entry)]
    gaps = [moment(entry["booked_at"]) - moment(row["booked_at"]) for row in others]
    return any(timedelta(0) <= gap <= APART for gap in gaps)


def tells_cancellation(state: State, customer_id: str, entry: Row) -> bool:
    """Handbook 4.5: the customer's own message, or a note of kind merchant, that is older than the payment."""
    customer = state.row("customers", customer_id)
    mail = [
        (row["body"], row["sent_at"])
        for row in state.where("messages", customer_id=customer_id, direction="inbound")
        if not _is_merchants(state, row, customer)
    ]
    notes = state.where("contact_notes", customer_id=customer_id, kind="merchant")
    texts = [*mail, *((row["body"], row["written_at"]) for row in notes)]
    merchant = state.row("merchants", entry["merchant_id"])
    others = [row for key, row in state.rows("merchants").items() if key != entry["merchant_id"]]
    for body, at in texts:
        words = plain(body)
        strange = any(_names(words, row) for row in others) and not _names(words, merchant)
        if _CANCELLED.search(words) and moment(at) < moment(entry["booked_at"]) and not strange:
            return True
    return False


def _is_merchants(state: State, message: Row, customer: Row) -> bool:
    """Whether a message is surely not the customer's own."""
    sender = plain(message["sender"])
    merchants = {plain(row["email"]) for row in state.rows("merchants").values()}
    return plain(customer.get("email", "")) not in sender and any(email in sender for email in merchants)


def _names(words: str, merchant: Row) -> bool:
    names = [bare(str(merchant.get(name, ""))) for name in ("statement_name", "trading_name")]
    return any(name and name in bare(words) for name in names)


def problem(episode: Episode, state: State, entry: Row, reason: str) -> str:
    """Why a payment may not be disputed for a reason; empty if it may, as far as the records tell."""
    customer_id = holder(state, entry["account_id"]).get("id", "")
    if not is_card_payment(entry) or not is_posted(entry):
        return "4.2: it is no posted card payment"
    if not in_time(entry, reason, episode.now):
        return f"4.2: it was posted {days_since(entry['booked_at'], episode.now)} days ago"
    if filed_in_a_year(episode.start, customer_id, episode.now) >= TOO_MANY:
        return "4.7: the customer filed 4 disputes or more in 365 days"
    match reason:
        case "fraud" if only_customer_could(episode.start, entry):
            return f"4.3: it was made with {entry['method']}"
        case "cancelled_subscription" if not tells_cancellation(episode.start, customer_id, entry):
            return "4.5: nothing older than it tells of a cancellation"
        case "duplicate" if not is_duplicate(state, entry):
            return "4.6: it is not the later of two payments within 30 minutes"
        case _:
            return ""


def filed_in_a_year(state: State, customer_id: str, now: datetime) -> int:
    """Handbook 4.7: how many disputes a customer filed in the last 365 days."""
    return sum(days_since(row["filed_on"], now) <= YEAR for row in of_customer(state, "disputes", customer_id))


def filings(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.1 to 4.7: what was disputed could be, and a payment that the customer knows now was not."""
    for act in episode.of("file"):
        state = episode.at(act)
        entry = state.row("entries", act.change.after["entry_id"])
        if found := problem(episode, state, entry, act.detail):
            section, _, words = found.partition(": ")
            yield Violation(section, f"{entry['id']} was disputed as {act.detail}, but {words}")
        if live_dispute(state, entry["id"]):
            yield Violation("4.2", f"{entry['id']} was disputed already")
        if act.detail == "fraud" and not episode.start.where("alerts", entry_id=entry["id"], status="open"):
            merchant = state.row("merchants", entry["merchant_id"])
            if merchant and not episode.was_told(merchant["trading_name"], act.call):
                yield Violation("4.1", f"{entry['id']} was disputed before {merchant['trading_name']} was named")
            if _RECOGNISED.search(plain(episode.heard_before(act.call))):
                yield Violation("4.1", f"{entry['id']} was disputed though the customer recognised it")


def fraud_is_complete(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.3: with a fraud dispute the card is frozen, and replaced as misused."""
    for act in episode.of("file"):
        if act.detail != "fraud":
            continue
        entry = episode.start.row("entries", act.change.after["entry_id"])
        card = episode.end.row("cards", entry["card_id"])
        restricted = holder(episode.start, act.account_id).get("kyc_status") != "verified"
        if card.get("status") == "active" or (
            card.get("status") == "frozen" and not restricted and not episode.given_up
        ):
            yield Violation("4.3", f"{card['id']} is {card['status']} after a fraud was disputed; it is to be replaced")
        if any(other.key == card.get("id") and other.detail != "misused" for other in episode.of("replace")):
            yield Violation("4.3", f"{card['id']} was not replaced as misused")


def contested(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.9: escalated in time with something new; else lost; small ones lost and written off."""
    for act in episode.of("escalate", "settle"):
        row, entry = act.change.before, episode.start.row("entries", act.change.before["entry_id"])
        if row["stage"] != "contested":
            yield Violation("4.9", f"{act.key} was {row['stage']}; only what the merchant has contested goes on")
        late = row["respond_by"] is not None and days_since(row["respond_by"], episode.now) > 0
        small, news = -entry["amount_cents"] <= SMALL, episode.says(_NEWS)
        if act.kind == "escalate" and (late or small):
            why = "the last day is over" if late else f"it is {usd(-entry['amount_cents'])} only"
            yield Violation("4.9", f"{act.key} was escalated, but {why}")
        if act.kind == "escalate" and not news:
            yield Violation("4.9", f"{act.key} was escalated, but the customer named nothing new")
        if act.kind == "settle" and act.detail != "lost":
            yield Violation("4.9", f"{act.key} was settled as {act.detail}; we settle only as lost")
        if (
            act.kind == "settle"
            and small
            and not _needs_no_write_off(episode, act)
            and not _written_off(episode, act.key)
        ):
            yield Violation("4.9", f"{act.key} was settled, but not written off")


def _needs_no_write_off(episode: Episode, act: Act) -> bool:
    """Handbook 4.9: whether the customer had a write-off in 365 days before this act, or a tool failed for good."""
    return bool(episode.given_up) or had_write_off(episode.start, act.customer_id, episode.now)


def had_write_off(state: State, customer_id: str, now: datetime) -> bool:
    """Handbook 4.9: whether a customer had a write-off in the last 365 days."""
    rows = of_customer(state, "compensations", customer_id, kind="write_off")
    return any(days_since(row["paid_at"], now) <= YEAR for row in rows)


def _written_off(episode: Episode, dispute_id: str) -> bool:
    return any(act.change.after["dispute_id"] == dispute_id for act in episode.of("compensate"))


def write_offs(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.9: the whole of a small lost dispute, once in 365 days for a customer."""
    for act in episode.of("compensate"):
        if act.detail != "write_off" and act.change.after["dispute_id"] is None:
            continue
        dispute = episode.end.row("disputes", act.change.after["dispute_id"])
        entry = episode.start.row("entries", dispute.get("entry_id"))
        if act.detail != "write_off" or not dispute or dispute["stage"] != "lost":
            yield Violation(
                "4.9", f"{usd(act.cents)} ({act.detail}) was paid for {dispute.get('id')}, which is no write-off"
            )
            continue
        amount = -entry["amount_cents"]
        if amount > SMALL or act.cents != amount:
            yield Violation("4.9", f"{usd(act.cents)} was written off for a payment of {usd(amount)}")
        if had_write_off(episode.at(act), act.customer_id, episode.now):
            yield Violation("4.9", f"{act.customer_id} had a write-off in the last 365 days")
