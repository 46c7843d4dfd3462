"""Chapter 4.1 to 4.7: which payments may be disputed, and what a fraud asks besides.

Left open: a promised day (4.4) that was not said as a date beside a word for coming or delivery; whether a message that
tells of a cancellation is about this merchant when it names none; words of the customer that do not clearly say that a
payment is known, or unknown.
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
)

IN_TIME = {"fraud": 120, "not_received": 90}
IN_TIME_ELSE, TOO_MANY, YEAR = 60, 4, 365
ONLY_CUSTOMER = ("chip_pin", "online_confirmed")
APART, WAIT_FOR_GOODS = timedelta(minutes=30), 15
_COMING = re.compile(r"\b(come|came|deliver(y|ed)?|arrive[ds]?|promised|due|expected)\b")
_CANCELLED = re.compile(
    r"\bcancel|\bterminat|\bended\b|\b(end|stop|quit|close|leave|leaving) (my|the|our)\b|\bunsubscri|\bresign"
    r"|\bgave notice\b|\bgive notice\b|\bnot renew|\bwithdr[ae]w"
)
_RECOGNISED = re.compile(
    r"\b(i|we) (do |did |now )?(recogni[sz]e|remember|recall) (it|that|this|them|now|the (shop|place|payment|name))\b"
    r"|\bthat (was|is|'?s) (me|us|mine|ours|my (own )?(order|purchase|payment))\b"
    r"|\bnow i (know|remember|recogni[sz]e)\b"
    r"|\bi (did )?(buy|bought|ordered|shopped) (it|there|that|something)\b|\bi know (it|that one|them|the shop)\b"
    r"|\b(it|that)('s| is| was) (mine|ours) (then|after all)\b"
)
_UNKNOWN = re.compile(
    r"\b(don't|do not|didn't|did not|never|cannot|can't) (recogni[sz]e|know|remember|recall|buy|bought|order|ordered"
    r"|make|made|place|placed|authori[sz]e|hear|heard|been|shopped|used)\b"
    r"|\b(not|isn't|wasn't) (mine|me|my (purchase|payment|order))\b|\bunknown\b|\bno idea\b|\bfraud"
)
_REASONS = {
    "fraud": _UNKNOWN,
    "duplicate": re.compile(r"\b(twice|doubled?|duplicate|two times|second time|same (line|thing|payment))\b"),
    "cancelled_subscription": re.compile(r"\b(cancelled|quit|gave up|left|ended)\b|\bmembership\b|\bsubscription\b"),
    "not_received": re.compile(r"\b(parcel|never (came|arrived)|not (come|arrived|received)|delivery)\b"),
    "wrong_amount": re.compile(r"\b(far |much |too |more )(more |much )?than\b|\bwrong amount\b"),
}


def in_time(entry: Row, reason: str, now: datetime) -> bool:
    """Handbook 4.2: whether a payment may still be disputed, the last day included."""
    return days_since(entry["booked_at"], now) <= IN_TIME.get(reason, IN_TIME_ELSE)


def only_customer_could(state: State, entry: Row) -> bool:
    """Handbook 4.3: whether a payment is refused as fraud: confirmed by the customer, and no high alert open for it."""
    alarms = state.where("alerts", entry_id=entry["id"], level="high")
    return entry["method"] in ONLY_CUSTOMER and not any(row["status"] in ("open", "fraud") for row in alarms)


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
    if filed_in_a_year(episode.start, customer_id, episode.now) >= TOO_MANY:
        return "4.7: the customer filed 4 disputes or more in 365 days"
    if not is_card_payment(entry) or not is_posted(entry):
        return "4.2: it is no posted card payment"
    if not in_time(entry, reason, episode.now):
        return f"4.2: it was posted {days_since(entry['booked_at'], episode.now)} days ago"
    match reason:
        case "fraud" if only_customer_could(state, entry):
            return f"4.3: it was made with {entry['method']}"
        case "not_received" if (promised := promised_day(episode)) and days_since(
            promised, episode.now
        ) < WAIT_FOR_GOODS:
            return f"4.4: it was promised for {promised}"
        case "cancelled_subscription" if not tells_cancellation(episode.start, customer_id, entry):
            return "4.5: nothing older than it tells of a cancellation"
        case "duplicate" if not is_duplicate(state, entry):
            return "4.6: it is not the later of two payments within 30 minutes"
        case _:
            return ""


def promised_day(episode: Episode) -> str:
    """Handbook 4.4: the day for which the customer says that delivery was promised; empty if no date was told."""
    sentences = [text for text in re.split(r"[.!?](?:\s|$)|\n", episode.heard) if _COMING.search(plain(text))]
    days = [day for text in sentences for day in re.findall(r"\d{4}-\d\d-\d\d", text)]
    return days[-1] if days else ""


def spoken_reason(episode: Episode) -> str:
    """The reason that the customer's words give for a dispute, if they give just one; else empty."""
    words = plain(episode.heard)
    found = {reason for reason, pattern in _REASONS.items() if pattern.search(words)}
    if _RECOGNISED.search(words):
        found -= {"fraud"}
    return found.pop() if len(found) == 1 else ""


def is_due(episode: Episode, entry: Row) -> bool:
    """Whether a payment could be disputed today for the reason that the customer gave."""
    reason = spoken_reason(episode)
    return bool(reason) and not problem(episode, episode.start, entry, reason)


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


def unknown_is_frozen(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.3: the card of a payment that stays unknown is frozen, even where the dispute is forbidden."""
    looked = [episode.start.row("entries", key) for key in episode.looked_at("review_payment", "entry_id")]
    ends = ("policy_refused", "team_review")
    if len(looked) != 1 or episode.disposition not in ends or episode.record.get("subject") != "card_dispute":
        return
    entry, words = looked[0], plain(episode.heard)
    unknown = _UNKNOWN.search(words) and not _RECOGNISED.search(words) and is_card_payment(entry)
    loose = episode.end.row("cards", entry.get("card_id")).get("status") == "active"
    if unknown and loose and not only_customer_could(episode.start, entry):
        yield Violation("4.3", f"{entry['id']} stayed unknown, and {entry['card_id']} was not frozen")


def fraud_is_complete(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.3: with a fraud dispute the card is frozen, and then replaced as misused."""
    for act in episode.of("file"):
        if act.detail != "fraud":
            continue
        entry = episode.start.row("entries", act.change.after["entry_id"])
        card = episode.end.row("cards", entry["card_id"])
        if card.get("status") == "active" or (card.get("status") == "frozen" and not episode.given_up):
            yield Violation("4.3", f"{card['id']} is {card['status']} after a fraud was disputed; it is to be replaced")
        for other in episode.of("replace"):
            if other.key == card.get("id") and (other.detail != "misused" or other.call < act.call):
                yield Violation("4.3", f"{card['id']} was not replaced as misused after the dispute")
