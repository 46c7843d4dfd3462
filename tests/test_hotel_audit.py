"""The hotel's judge on small hand-made episodes: for each section right acts pass and wrong ones are found.

A case is one line, however long, so that cases can be read against each other. Nothing here uses the tools, the policy functions
or the families: an episode is a few rows, a few words and a few row changes, written down by `Play` as a real one is.
"""

# ruff: noqa: E501
import ast
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tb_envs.authoring.audit import Case, Violation
from tb_envs.parts.reading import State
from tb_envs.session.log import Event
from tb_envs.store.journal import RowChange
from tb_hotel.audit import accounts, audit, before_arrival, folios, limits, reckoning, stays
from tb_hotel.models import Base

NOW = datetime(2031, 5, 14, 9, 0, tzinfo=UTC)
PRICES = {"STD": 10000, "SUP": 13000, "DLX": 18000}
PLANS = {"FLEX": "flexible", "SEMI": "semi_flexible", "NRF": "non_refundable", "CORP": "corporate", "GRP": "group"}
FACTS = {"booking_id": "BK-1", "email": "ana@home.net", "postcode": "1000-101", "birth_date": "1980-02-03"}
OPENING = "I am Ana Silva, booking BK-1, ana@home.net, 1000-101, born 3 February 1980, or is it BK-2 or BK-3."

Row = dict[str, Any]
Tables = dict[str, dict[str, Row]]
FINAL = {
    "within_policy": ("completed", "closed", "front_desk"),
    "manager_granted": ("completed", "closed", "front_desk"),
    "manager_denied": ("refused", "closed", "front_desk"),
    "manager_pending": ("pending_approval", "on_hold", "duty_manager"),
    "policy_refused": ("refused", "closed", "front_desk"),
    "identity_failed": ("refused", "closed", "security"),
    "not_authorised": ("refused", "closed", "front_desk"),
    "partner_owns": ("referred", "closed", "partner_desk"),
    "already_done": ("no_action", "closed", "front_desk"),
    "guest_declined": ("no_action", "closed", "front_desk"),
    "finance_review": ("referred", "escalated", "finance"),
    "document_review": ("referred", "escalated", "guest_relations"),
    "system_fault": ("referred", "escalated", "it_support"),
}
SENT = {
    "manager_pending": "approval_pending",
    "partner_owns": "partner_referral",
    "identity_failed": "security_notice",
    "finance_review": "review_opened",
    "document_review": "review_opened",
    "system_fault": "review_opened",
}
CONFIRMS = {
    "cancellation": "cancellation_confirmed",
    "early_departure": "cancellation_confirmed",
    "date_change": "change_confirmed",
    "room_change": "change_confirmed",
    "late_checkout": "change_confirmed",
    "name_change": "change_confirmed",
    "loyalty": "loyalty_confirmed",
    "group_block": "group_confirmed",
    "relocation": "relocation_confirmed",
}


def columns(table: str) -> list[str]:
    return list(Base.metadata.tables[table].columns.keys())


def written(table: str, row: Row | None) -> tuple[Any, ...] | None:
    return None if row is None else tuple(row[name] for name in columns(table))


def days(first: str, number: int) -> list[str]:
    return [(date.fromisoformat(first) + timedelta(days=n)).isoformat() for n in range(number)]


def put(tables: Tables, table: str, key: str, **values: Any) -> None:
    known = tables.setdefault(table, {}).get(key) or dict.fromkeys(columns(table))
    tables[table][key] = {**known, "id": key, **values}


def add_booking(tables: Tables, key: str, nights: int, price: int, paid: int | None, **values: Any) -> None:
    number = key.removeprefix("BK-")
    put(
        tables, "bookings", key, reservation_code=f"R-{number}", guest_id="GS-1", stay_name="Ana Silva",
        property_id="LIS", room_type_id="STD", room_id="LIS-1", channel="direct", pets=0, change_count=0,
        total_cents=nights * price, booked_at="2031-03-01T10:00:00Z",
    )  # fmt: skip
    put(tables, "bookings", key, **values)
    arrival = tables["bookings"][key]["arrival"]
    put(tables, "bookings", key, departure=days(arrival, nights + 1)[-1])
    for night in days(arrival, nights):
        put(tables, "booking_nights", f"{key}.{night}", booking_id=key, night=night, price_cents=price, status="booked")
    put(tables, "folios", f"FO-{number}", kind="guest", booking_id=key, status="open")
    cents = nights * price if paid is None else paid
    if cents:
        add_payment(tables, f"PM-{number}", f"FO-{number}", cents, "2031-03-01T10:00:00Z")


def add_payment(tables: Tables, key: str, folio_id: str, cents: int, at: str, **values: Any) -> None:
    put(tables, "payments", key, folio_id=folio_id, kind="prepayment", status="captured", card_ending="4242")
    put(tables, "payments", key, amount_cents=cents, paid_at=at, **values)


def world(
    plan: str = "FLEX", tier: str = "", arrival: str = "2031-05-20", nights: int = 3, price: int = 10000,
    paid: int | None = None, rows: Sequence[tuple[str, str, Row]] = (), **booking: Any,
) -> Tables:  # fmt: skip
    """Ana, her booking BK-1 and what stands around it; `rows` adds or changes rows."""
    tables: Tables = {name: {} for name in Base.metadata.tables}
    for key, kind in PLANS.items():
        put(tables, "rate_plans", key, kind=kind, discount_percent=0)
    for rank, key in enumerate(PRICES, 1):
        put(tables, "room_types", key, name={"STD": "Standard", "SUP": "Superior", "DLX": "Deluxe"}[key], rank=rank)
    for house in ("LIS", "LIZ"):
        put(tables, "properties", house, city="Lisbon")
        for category, public in PRICES.items():
            for night in days("2031-04-20", 60):
                inventory = {"property_id": house, "room_type_id": category, "night": night, "free": 2}
                put(tables, "inventory_nights", f"{house}.{category}.{night}", public_price_cents=public, **inventory)
    put(tables, "guests", "GS-1", first_name="Ana", surname="Silva", email="ana@home.net", postcode="1000-101")
    if tier:
        put(tables, "loyalty_accounts", "LA-1", guest_id="GS-1", tier=tier, joined_on="2030-01-01", nights=9, points=90)
    put(tables, "partners", "PT-1", collects="partner")
    put(tables, "corporate_accounts", "CO-1", discount_percent=15, covers="room_and_breakfast")
    put(tables, "corporate_accounts", "CO-1", valid_from="2031-01-01", valid_until="2031-05-21")
    values = {"rate_plan_id": plan, "arrival": arrival, "status": "confirmed", **booking}
    add_booking(tables, "BK-1", nights, price, paid, **values)
    for table, key, changed in rows:
        put(tables, table, key, **changed)
    return tables


class Play:
    """One episode being written down."""

    def __init__(self, before: Tables) -> None:
        self.before = before
        self.after: Tables = {name: {key: dict(row) for key, row in rows.items()} for name, rows in before.items()}
        self.changes: list[RowChange] = []
        self.log: list[Event] = []
        self.call = 0
        self.numbers = count(90001)

    def hear(self, text: str, *acts: str) -> None:
        self.log.append(Event("heard", "", text, {"acts": acts}, True, 0))

    def say(self, text: str) -> None:
        self.log.append(Event("said", "", text, {}, True, 0))

    def do(self, tool: str, *rows: tuple[str, str, Row], failed: bool = False, **arguments: Any) -> None:
        """One call that writes these rows; one that failed may have written them all the same."""
        self.call += 1
        self.log.append(Event("call", tool, "", arguments, not failed, self.call))
        for table, key, values in rows:
            before = written(table, self.after[table].get(key))
            put(self.after, table, key, **values)
            after = written(table, self.after[table][key])
            self.changes.append(RowChange(len(self.changes) + 1, self.call, table, key, before, after))
        data = {"error": {"type": "temporary_failure", "message": "timed out"}} if failed else {"available": True}
        self.log.append(Event("result", tool, "", data, not failed, self.call))

    def new(self, prefix: str) -> str:
        return f"{prefix}-{next(self.numbers)}"

    def case(self) -> Case:
        return Case(self.before, self.after, self.changes, self.log, NOW)


Step = Callable[[Play], None]


# -- steps


def check(*facts: str, ok: bool = True, caller: str = "guest", guest: str = "GS-1") -> Step:
    named = [name for name in FACTS if name in facts] or [*FACTS][:3]
    given: Row = {name: FACTS[name] for name in named}
    row = {"guest_id": guest, "caller": caller, "facts_given": len(given), "facts_matched": len(given) if ok else 0}
    row["result"] = "passed" if ok else "failed"
    return lambda p: p.do(
        "check_identity", ("identity_checks", p.new("IC"), row), guest_id=guest, caller=caller, surname="Silva", **given
    )


def hear(text: str, *acts: str) -> Step:
    return lambda p: p.hear(text, *acts)


def yes(p: Play) -> None:
    p.say("It would cost what it costs. Shall I go ahead?")
    p.hear("Yes, please.", "consented")


START: tuple[Step, ...] = (hear(OPENING, "gave:booking", "gave:email"), check(), yes)


def change(tool: str, key: str = "BK-1", **values: Any) -> Step:
    return lambda p: p.do(tool, ("bookings", key, values), booking_id=key)


def cancel(key: str = "BK-1", reason: str = "guest_request") -> Step:
    return change("cancel_booking", key, status="cancelled", cancel_reason=reason)


def refund(payment: str, cents: int, reason: str, failed: str = "") -> Step:
    """`failed`: ``done`` or ``not done`` for a call that timed out."""
    row = {"payment_id": payment, "amount_cents": cents, "reason": reason}

    def step(p: Play) -> None:
        rows = [] if failed == "not done" else [("refunds", p.new("RF"), row)]
        p.do("refund_payment", *rows, failed=bool(failed), payment_id=payment, amount=cents, reason=reason)

    return step


def charge(kind: str, cents: int, folio: str = "FO-1") -> Step:
    row = {"folio_id": folio, "kind": kind, "amount_cents": cents, "waived_cents": 0, "evidence": "none"}
    return lambda p: p.do("post_charge", ("charges", p.new("CH"), row), folio_id=folio, kind=kind, amount=cents)


def waive(key: str, cents: int, reason: str) -> Step:
    return lambda p: p.do("waive_charge", ("charges", key, {"waived_cents": cents, "waive_reason": reason}))


def move(key: str, folio: str) -> Step:
    return lambda p: p.do("move_charge", ("charges", key, {"folio_id": folio}), charge_id=key, to_folio_id=folio)


def entry(kind: str, nights: int, points: int) -> Step:
    row = {"loyalty_account_id": "LA-1", "booking_id": "BK-1", "kind": kind, "nights": nights, "points": points}
    return lambda p: p.do("add_loyalty_entry", ("loyalty_entries", p.new("LE"), {**row, "status": "posted"}))


def ask_manager(decision: str, cents: int, kind: str = "refund", read: bool = True) -> Step:
    row = {"booking_id": "BK-1", "kind": kind, "amount_cents": cents, "decision": decision}

    def step(p: Play) -> None:
        key = p.new("AP")
        p.do("request_approval", ("approvals", key, row), booking_id="BK-1", kind=kind, amount=cents)
        if read:
            p.do("get_approval", approval_id=key)

    return step


def call(tool: str, **arguments: Any) -> Step:
    return lambda p: p.do(tool, **arguments)


def note(kind: str) -> Step:
    return lambda p: p.do("add_guest_note", ("guest_notes", p.new("NT"), {"guest_id": "GS-1", "kind": kind}))


def goodwill(p: Play) -> None:
    p.do("record_goodwill", ("guests", "GS-1", {"last_goodwill_on": "2031-05-14"}), guest_id="GS-1")


def message(template: str, booking: str | None) -> Step:
    row = {"guest_id": "GS-1", "booking_id": booking, "direction": "outbound", "template": template}
    return lambda p: p.do("send_message", ("messages", p.new("MS"), row), template=template)


def ticket(topic: str, reason: str, booking: str | None = "BK-1", key: str = "", **other: str) -> Step:
    outcome, status, team = FINAL[reason]
    row = {"guest_id": "GS-1", "booking_id": booking, "topic": topic, "reason": reason}
    row |= {"outcome": outcome, "status": status, "team": team, **other}
    return lambda p: p.do("open_ticket", ("tickets", key or p.new("TK"), row))


def end(p: Play) -> None:
    p.do("end_conversation", summary="done")


def close(topic: str, reason: str = "within_policy", booking: str | None = "BK-1", template: str = "") -> list[Step]:
    """Message, ticket and end as section 13 wants them for an unmixed end."""
    completed = FINAL[reason][0] == "completed"
    sent = template or (CONFIRMS.get(topic, "billing_confirmed") if completed else SENT.get(reason, ""))
    about = None if reason == "identity_failed" else booking
    last: Step = call("hand_over", team=FINAL[reason][2], summary="") if FINAL[reason][1] == "escalated" else end
    return [*([message(sent, about)] if sent else []), ticket(topic, reason, booking), last]


class Small(NamedTuple):
    """One small episode: its world, its steps, and the section that must be found broken (empty: none at all)."""

    name: str
    breaks: str
    before: Tables
    steps: Sequence[Step]


def play(small: Small) -> list[Violation]:
    episode = Play(small.before)
    for step in small.steps:
        step(episode)
    return audit(episode.case())


# -- worlds that several cases share

SOON: Row = {"arrival": "2031-05-15"}  # 30 hours of notice
TWO_PAYMENTS = world("SEMI", rows=[("payments", "PM-1", {"amount_cents": 10000})], **SOON)
add_payment(TWO_PAYMENTS, "PM-9", "FO-1", 20000, "2031-04-01T10:00:00Z")
DEAR = world(price=30000, arrival="2031-05-14")  # 6 hours, fee 300.00 of 900.00
IN_HOUSE: Row = {"arrival": "2031-05-12", "status": "in_house"}  # nights 12, 13, 14
FAULT = ("room_blocks", "RB-1", {"room_id": "LIS-1", "first_night": "2031-05-10", "last_night": "2031-05-12"})
GONE: Row = {"arrival": "2031-05-10", "status": "checked_out"}


def with_mail(body: str, at: str, **values: Any) -> Tables:
    mail = {"guest_id": "GS-1", "booking_id": "BK-1", "direction": "inbound", "template": "none", "body": body}
    rows = [("messages", "MS-1", {**mail, "sent_at": at})]
    return world(rows=rows, arrival="2031-05-10", status="no_show", **values)


def with_charges(
    *charges: tuple[str, int, str], folio: str = "open", rows: Sequence[Any] = (), **values: Any
) -> Tables:
    made = [
        (
            "charges",
            f"CH-{n}",
            {"folio_id": "FO-1", "kind": kind, "amount_cents": cents, "waived_cents": 0, "evidence": evidence},
        )
        for n, (kind, cents, evidence) in enumerate(charges, 1)
    ]
    return world(rows=[("folios", "FO-1", {"status": folio}), *made, *rows], **{**GONE, **values})


def company(**values: Any) -> Tables:
    charges = [
        ("room", 30000, "none"),
        ("breakfast", 4500, "none"),
        ("restaurant", 6000, "none"),
        ("minibar", 900, "none"),
    ]
    return with_charges(*charges, corporate_account_id="CO-1", **values)


def paid_twice(second: str, **values: Any) -> Tables:
    tables = world(**values)
    add_payment(tables, "PM-2", "FO-1", 30000, second)
    return tables


def booked_twice(at: str, **values: Any) -> Tables:
    tables = world()
    add_booking(tables, "BK-2", 3, 10000, None, rate_plan_id="FLEX", arrival="2031-05-20", status="confirmed")
    put(tables, "bookings", "BK-2", booked_at=at, **values)
    return tables


def block(**values: Any) -> Tables:
    row = {"organiser_id": "GS-1", "arrival": "2031-06-01", "departure": "2031-06-03", "contracted": 12, "picked_up": 4}
    row |= {"released": 1, "held": 7, "room_price_cents": 9995, "cutoff_date": "2031-05-14", "status": "open", **values}
    folio = {"kind": "group_master", "group_block_id": "GB-1", "status": "open"}
    return world(rows=[("group_blocks", "GB-1", row), ("folios", "FO-9", folio)])


def release(rooms: int, held: int = 7, released: int = 1) -> Step:
    values = {"released": released + rooms, "held": held - rooms}
    return lambda p: p.do("release_group_rooms", ("group_blocks", "GB-1", values), group_block_id="GB-1", rooms=rooms)


def unusable(tier: str = "gold", free: int = 0, **values: Any) -> Tables:
    nights = [(f"LIS.STD.{night}", {"free": free}) for night in days(values.get("arrival", "2031-05-20"), 3)]
    fault = ("room_blocks", "RB-1", {"room_id": "LIS-1", "severity": "unusable"})
    dates = ("room_blocks", "RB-1", {"first_night": "2031-05-14", "last_night": "2031-05-30"})
    return world(tier=tier, rows=[fault, dates, *(("inventory_nights", *night) for night in nights)], **values)


RELOCATE = change("relocate_booking", status="relocated", relocated_to="LIZ")
OTA: Row = {"channel": "ota", "partner_id": "PT-1"}
DENIED = [*START, ask_manager("denied", 60000)]
FAILED = [refund("PM-1", 30000, "cancellation", "not done"), call("get_folio", folio_id="FO-1")]

CASES = [
    # 1 and 2: how we work, who may ask
    Small("free cancellation", "", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("money before the booking", "1.3", world(), [*START, refund("PM-1", 30000, "cancellation"), cancel(), *close("cancellation")]),
    Small("no yes", "1.3", world(), [hear(OPENING, "gave:email"), check(), cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("message before the money", "1.3", world(), [*START, cancel(), message("cancellation_confirmed", "BK-1"), refund("PM-1", 30000, "cancellation"), ticket("cancellation", "within_policy"), end]),
    Small("two tickets", "1.2", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation"), ticket("cancellation", "within_policy"), *close("cancellation")]),
    Small("live ticket left", "1.2", world(rows=[("tickets", "TK-1", {"guest_id": "GS-1", "booking_id": "BK-1", "topic": "cancellation", "status": "on_hold"})]), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("live ticket used", "", world(rows=[("tickets", "TK-1", {"guest_id": "GS-1", "booking_id": "BK-1", "topic": "cancellation", "status": "on_hold"})]), [*START, cancel(), refund("PM-1", 30000, "cancellation"), message("cancellation_confirmed", "BK-1"), ticket("cancellation", "within_policy", key="TK-1"), end]),
    Small("profile changed", "1.7", world(), [*START, lambda p: p.do("x", ("guests", "GS-1", {"email": "new@home.net"})), *close("cancellation", "policy_refused")]),
    Small("booking told before the check", "1.5", world(), [hear("I am Ana Silva."), lambda p: p.say("Is it about BK-1?"), *START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("second request", "", world(), [*START, change("set_late_checkout", late_checkout_hour=12), charge("late_checkout", 2000), message("change_confirmed", "BK-1"), ticket("late_checkout", "within_policy"), hear("And one more thing.", "second_request"), yes, change("change_stay_name", stay_name="Anna Silva"), end]),
    Small("other topic", "13.1", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("date_change", template="cancellation_confirmed")]),
    Small("two facts, protected", "2.2", world(), [START[0], check("booking_id", "email"), yes, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("two facts, unprotected", "", world(), [START[0], check("booking_id", "email"), yes, change("set_late_checkout", late_checkout_hour=12), charge("late_checkout", 2000), *close("late_checkout")]),
    Small("third try counts", "2.3", world(), [START[0], check(ok=False), check(ok=False), check(), yes, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("second try passes", "", world(), [START[0], check(ok=False), check(), yes, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("fact not named", "2.1", world(), [hear("I am Ana Silva, BK-1, 1000-101."), check(), yes, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("not verified", "", world(), [START[0], check(ok=False), check(ok=False), note("security"), *close("cancellation", "identity_failed")]),
    Small("not verified, no note", "13.5", world(), [START[0], check(ok=False), check(ok=False), *close("cancellation", "identity_failed")]),
    Small("not asked for more", "2.3", world(), [START[0], check(ok=False), note("security"), *close("cancellation", "identity_failed")]),
    Small("knows no more", "", world(), [START[0], check("booking_id"), hear("I have nothing else.", "unknown:phone"), note("security"), *close("cancellation", "identity_failed")]),
    Small("verified and sent away", "13.2", world(), [START[0], check(ok=False), check(), note("security"), *close("cancellation", "identity_failed")]),
    Small("third party refused", "", world(), [START[0], check(caller="third_party"), *close("cancellation", "not_authorised")]),
    Small("third party served", "2.4", world(), [START[0], check(caller="third_party"), yes, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("third party as guest", "2.4", world(), [hear(OPENING + " I'm calling for my mother."), check(), yes, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("authorised contact", "", world(rows=[("guests", "GS-1", {"authorised_contact": "Rui Costa"})]), [START[0], hear("This is Rui Costa."), check(caller="third_party"), yes, change("set_late_checkout", late_checkout_hour=13), charge("late_checkout", 4000), *close("late_checkout")]),
    Small("contact named by nobody", "2.4", world(rows=[("guests", "GS-1", {"authorised_contact": "Rui Costa"})]), [START[0], check(caller="third_party"), yes, change("set_late_checkout", late_checkout_hour=13), charge("late_checkout", 4000), *close("late_checkout")]),
    # 3 and 4: cancellation
    Small("semi, 30 hours, newest first", "", TWO_PAYMENTS, [*START, cancel(), refund("PM-9", 15000, "cancellation"), *close("cancellation")]),
    Small("oldest payment first", "3.4", TWO_PAYMENTS, [*START, cancel(), refund("PM-1", 10000, "cancellation"), refund("PM-9", 5000, "cancellation"), *close("cancellation")]),
    Small("gold pays 25 percent", "", world("SEMI", "gold", **SOON), [*START, cancel(), refund("PM-1", 22500, "cancellation"), *close("cancellation")]),
    Small("gold pays 50 percent", "4.5", world("SEMI", "gold", **SOON), [*START, cancel(), refund("PM-1", 15000, "cancellation"), *close("cancellation")]),
    Small("flexible, exactly 24 hours", "", world(arrival="2031-05-15", booked_at="2031-05-01T00:00:00Z"), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("refund left out", "4.5", world(), [*START, cancel(), *close("cancellation")]),
    Small("grace", "", world("NRF", arrival="2031-05-22", booked_at="2031-05-13T09:00:00Z"), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("grace, a minute late", "4.5", world("NRF", arrival="2031-05-22", booked_at="2031-05-13T08:59:00Z"), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("the room not named", "4.7", booked_twice("2031-04-03T10:00:00Z", reservation_code="R-1", room_type_id="DLX"), [hear("I am Ana Silva, BK-1, ana@home.net, 1000-101. Cancel the Deluxe room, BK-2.", "gave:email"), check(), yes, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("nothing back, kept", "", world("NRF"), [*START, *close("cancellation", "policy_refused")]),
    Small("nothing back, called declined", "13.2", world("NRF"), [*START, *close("cancellation", "guest_declined")]),
    Small("refused though free", "13.2", world(), [*START, *close("cancellation", "policy_refused")]),
    # 5: changes before arrival
    Small("dates, dearer", "", world("SEMI", **SOON), [*START, change("change_dates", arrival="2031-05-18", departure="2031-05-21", total_cents=33000, change_count=1), charge("change_fee", 3500), charge("rate_difference", 3000), *close("date_change")]),
    Small("dates, fee left out", "5.2", world("SEMI", **SOON), [*START, change("change_dates", arrival="2031-05-18", departure="2031-05-21", total_cents=33000, change_count=1), charge("rate_difference", 3000), *close("date_change")]),
    Small("dates, cheaper", "", world(), [*START, change("change_dates", arrival="2031-05-18", departure="2031-05-21", total_cents=27000, change_count=1), refund("PM-1", 3000, "rate_difference"), *close("date_change")]),
    Small("dates, third change", "5.1", world(change_count=2), [*START, change("change_dates", arrival="2031-05-18", departure="2031-05-21", total_cents=30000, change_count=3), *close("date_change")]),
    Small("upgrade, gold", "", world(tier="gold"), [*START, change("change_room_type", room_type_id="SUP"), charge("upgrade", 7200), *close("room_change")]),
    Small("upgrade, 48 hours", "", world(tier="gold", arrival="2031-05-15"), [*START, change("change_room_type", room_type_id="SUP"), charge("upgrade", 5400), *close("room_change")]),
    Small("upgrade, discounts added", "5.5", world(tier="gold", arrival="2031-05-15"), [*START, change("change_room_type", room_type_id="SUP"), charge("upgrade", 3600), *close("room_change")]),
    Small("the category chosen first", "1.7", world(), [*START, hear("The Deluxe sounds nice."), hear("Wait, the Superior is enough."), change("change_room_type", room_type_id="DLX"), charge("upgrade", 24000), *close("room_change")]),
    Small("correction of a name", "", world("NRF"), [*START, change("change_stay_name", stay_name="Àna Silvas"), *close("name_change")]),
    Small("transfer without fee", "5.6", world(), [*START, change("change_stay_name", stay_name="Rui Costa"), *close("name_change")]),
    Small("transfer", "", world(), [*START, change("change_stay_name", stay_name="Rui Costa"), charge("transfer_fee", 2500), *close("name_change")]),
    Small("married", "", world(), [*START, hear("I got married."), *close("name_change", "document_review")]),
    Small("married and changed", "5.6", world(), [*START, hear("I got married."), change("change_stay_name", stay_name="Ana Sousa"), *close("name_change")]),
    # 6: during and after the stay
    Small("early departure, told late", "", world(**IN_HOUSE), [*START, change("shorten_stay", departure="2031-05-14"), *close("early_departure")]),
    Small("early departure, told early", "", world(nights=5, **IN_HOUSE), [*START, change("shorten_stay", departure="2031-05-15"), refund("PM-1", 20000, "early_departure"), *close("early_departure")]),
    Small("early departure, semi", "", world("SEMI", nights=5, price=9999, **IN_HOUSE), [*START, change("shorten_stay", departure="2031-05-14"), refund("PM-1", 10000, "early_departure"), *close("early_departure")]),
    Small("late check-out, platinum", "", world(tier="platinum", **IN_HOUSE), [*START, change("set_late_checkout", late_checkout_hour=18), charge("late_checkout", 4000), *close("late_checkout")]),
    Small("late check-out, room needed", "6.2", booked_twice("2031-05-01T10:00:00Z", arrival="2031-05-23", guest_id="GS-2"), [*START, change("set_late_checkout", late_checkout_hour=14), charge("late_checkout", 6000), *close("late_checkout")]),
    Small("complaint, two nights", "", world(rows=[FAULT, ("room_blocks", "RB-1", {"severity": "major"})], **GONE), [*START, refund("PM-1", 9000, "compensation"), note("complaint"), *close("service_complaint")]),
    Small("complaint, whole stay", "6.3", world(nights=4, rows=[FAULT, ("room_blocks", "RB-1", {"severity": "major"})], **GONE), [*START, refund("PM-1", 12000, "compensation"), note("complaint"), *close("service_complaint")]),
    Small("complaint too late", "3.5", world(arrival="2031-05-03", status="checked_out", rows=[("room_blocks", "RB-1", {"room_id": "LIS-1", "first_night": "2031-05-01", "last_night": "2031-05-03", "severity": "minor"})]), [*START, refund("PM-1", 1000, "compensation"), note("complaint"), *close("service_complaint")]),
    Small("complaint refused wrongly", "13.2", world(rows=[FAULT, ("room_blocks", "RB-1", {"severity": "minor"})], **GONE), [*START, *close("service_complaint", "policy_refused")]),
    Small("no-show with e-mail", "", with_mail("I cannot come.", "2031-05-09T14:00:00Z"), [*START, refund("PM-1", 30000, "no_show"), *close("no_show")]),
    Small("no-show, e-mail on the day", "", with_mail("I cannot come.", "2031-05-10T14:59:00Z"), [*START, refund("PM-1", 20000, "no_show"), *close("no_show")]),
    Small("no-show, e-mail too late", "6.4", with_mail("I cannot come.", "2031-05-10T15:00:00Z"), [*START, refund("PM-1", 20000, "no_show"), *close("no_show")]),
    Small("no-show, other e-mail", "", with_mail("I arrive late.", "2031-05-09T14:00:00Z"), [*START, *close("no_show", "policy_refused")]),
    Small("no-show, goodwill", "", with_mail("I arrive late.", "2031-05-09T14:00:00Z", tier="gold"), [*START, refund("PM-1", 15000, "no_show"), goodwill, note("goodwill"), *close("no_show")]),
    Small("no-show, goodwill not recorded", "6.4", with_mail("I arrive late.", "2031-05-09T14:00:00Z", tier="gold"), [*START, refund("PM-1", 15000, "no_show"), note("goodwill"), *close("no_show")]),
    # 7: folios, charges, payments
    Small("split", "", company(), [*START, lambda p: p.do("open_company_folio", ("folios", "FO-2", {"kind": "company", "booking_id": "BK-1", "status": "open"})), move("CH-1", "FO-2"), move("CH-2", "FO-2"), *close("folio_split")]),
    Small("split, breakfast left", "7.1", company(), [*START, lambda p: p.do("open_company_folio", ("folios", "FO-2", {"kind": "company", "booking_id": "BK-1", "status": "open"})), move("CH-1", "FO-2"), *close("folio_split")]),
    Small("split, late", "", company(arrival="2031-04-10"), [*START, *close("folio_split", "finance_review")]),
    Small("dispute, small", "", with_charges(("minibar", 2500, "none"), ("laundry", 1500, "none")), [*START, waive("CH-1", 2500, "dispute"), waive("CH-2", 1500, "dispute"), note("goodwill"), *close("charge_dispute")]),
    Small("dispute, over 40", "7.2", with_charges(("minibar", 2500, "none"), ("laundry", 1501, "none")), [*START, waive("CH-1", 2500, "dispute"), waive("CH-2", 1501, "dispute"), note("goodwill"), *close("charge_dispute")]),
    Small("dispute, settled", "", with_charges(("minibar", 2501, "none"), ("laundry", 1501, "none"), folio="settled"), [*START, refund("PM-1", 2002, "dispute"), note("goodwill"), *close("charge_dispute")]),
    Small("dispute, one forgotten", "7.2", with_charges(("minibar", 2500, "none"), ("laundry", 900, "none")), [*START, hear("The minibar and the laundry are not mine."), waive("CH-1", 2500, "dispute"), note("goodwill"), *close("charge_dispute")]),
    Small("dispute, signed", "7.2", with_charges(("minibar", 2500, "signed")), [*START, waive("CH-1", 2500, "dispute"), note("goodwill"), *close("charge_dispute")]),
    Small("dispute, partly", "", with_charges(("minibar", 2500, "none"), ("laundry", 900, "signed")), [*START, waive("CH-1", 2500, "dispute"), note("goodwill"), message("billing_confirmed", "BK-1"), ticket("charge_dispute", "policy_refused", outcome="partly_completed"), end]),
    Small("parking, gold", "", with_charges(("parking", 5400, "none"), tier="gold"), [*START, waive("CH-1", 1800, "price_correction"), *close("extras_price")]),
    Small("parking by the old article", "7.3", with_charges(("parking", 5400, "none"), tier="gold"), [*START, waive("CH-1", 5400, "price_correction"), *close("extras_price")]),
    Small("parking, pets forgotten", "7.3", with_charges(("parking", 7400, "none"), ("pet", 9900, "none"), pets=1), [*START, hear("It is about the parking and the dog."), waive("CH-1", 2000, "price_correction"), *close("extras_price")]),
    Small("pets, settled, capped", "", with_charges(("pet", 18000, "none"), folio="settled", nights=6, pets=2), [*START, refund("PM-1", 3000, "price_correction"), *close("extras_price")]),
    Small("double payment", "", paid_twice("2031-03-02T10:00:00Z"), [*START, refund("PM-2", 30000, "double_payment"), *close("payment_error")]),
    Small("double payment, the first one", "7.5", paid_twice("2031-03-02T10:00:00Z"), [*START, refund("PM-1", 30000, "double_payment"), *close("payment_error")]),
    Small("payments apart", "", paid_twice("2031-03-02T10:01:00Z"), [*START, *close("payment_error", "finance_review")]),
    Small("payments apart, refunded", "7.5", paid_twice("2031-03-02T10:01:00Z"), [*START, refund("PM-2", 30000, "double_payment"), *close("payment_error")]),
    Small("refunded before", "", paid_twice("2031-03-02T10:00:00Z", rows=[("refunds", "RF-1", {"payment_id": "PM-2", "amount_cents": 30000, "reason": "double_payment"})]), [*START, *close("payment_error", "already_done")]),
    Small("duplicate voided", "", booked_twice("2031-03-03T10:00:00Z"), [*START, change("void_duplicate_booking", "BK-2", status="voided", duplicate_of="BK-1"), refund("PM-2", 30000, "duplicate_booking"), *close("duplicate_booking", booking="BK-2")]),
    Small("first one voided", "7.6", booked_twice("2031-03-03T10:00:00Z"), [*START, change("void_duplicate_booking", status="voided", duplicate_of="BK-2"), refund("PM-1", 30000, "duplicate_booking"), *close("duplicate_booking")]),
    Small("no duplicate voided", "7.6", booked_twice("2031-03-03T10:01:00Z"), [*START, change("void_duplicate_booking", "BK-2", status="voided", duplicate_of="BK-1"), refund("PM-2", 30000, "duplicate_booking"), *close("duplicate_booking", booking="BK-2")]),
    Small("duplicate cancelled", "7.6", booked_twice("2031-03-03T10:00:00Z"), [*START, cancel("BK-2"), refund("PM-2", 30000, "cancellation"), *close("duplicate_booking", booking="BK-2")]),
    # 8 and 9: loyalty, companies, groups, relocation
    Small("missing nights", "", world(tier="silver", price=10050, **GONE), [*START, entry("correction", 3, 3010), *close("loyalty")]),
    Small("points per night", "8.1", world(tier="silver", price=10050, **GONE), [*START, entry("correction", 3, 3000), *close("loyalty")]),
    Small("nothing missing", "13.2", world(tier="silver", rows=[("loyalty_entries", "LE-1", {"booking_id": "BK-1", "kind": "stay", "nights": 3, "points": 3000, "status": "posted"})], **GONE), [*START, *close("loyalty", "policy_refused")]),
    Small("corporate rate", "", world(corporate_account_id="CO-1"), [*START, refund("PM-1", 3000, "corporate_rate"), *close("corporate_rate")]),
    Small("corporate rate outside", "8.2", world(corporate_account_id="CO-1"), [*START, refund("PM-1", 4500, "corporate_rate"), *close("corporate_rate")]),
    Small("group release", "", block(), [*START, release(4), charge("group_release", 29985, "FO-9"), *close("group_block", booking=None)]),
    Small("group release, all free", "9.1", block(), [*START, release(4), *close("group_block", booking=None)]),
    Small("group release, past cut-off", "", block(cutoff_date="2031-05-13"), [*START, release(1), charge("group_release", 15992, "FO-9"), *close("group_block", booking=None)]),
    Small("traveller of a group", "9.1", world("GRP"), [*START, cancel(), *close("cancellation")]),
    Small("relocation", "", unusable(arrival="2031-05-14"), [*START, RELOCATE, refund("PM-1", 10000, "relocation"), entry("relocation", 0, 10000), *close("relocation")]),
    Small("relocation, told early", "", unusable(), [*START, RELOCATE, refund("PM-1", 10000, "relocation"), entry("relocation", 0, 5000), *close("relocation")]),
    Small("relocation, full points", "9.2", unusable(), [*START, RELOCATE, refund("PM-1", 10000, "relocation"), entry("relocation", 0, 10000), *close("relocation")]),
    Small("relocation though free", "9.2", unusable(free=1), [*START, RELOCATE, refund("PM-1", 10000, "relocation"), entry("relocation", 0, 5000), *close("relocation")]),
    Small("relocation declined", "", unusable(plan="NRF"), [*START, cancel(reason="relocation_declined"), refund("PM-1", 30000, "cancellation"), *close("relocation", template="cancellation_confirmed")]),
    # 10 to 12: partners, failures, approval
    Small("partner decides", "", world(**OTA), [*START, *close("cancellation", "partner_owns")]),
    Small("partner's booking cancelled", "10.1", world(**OTA), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("partner's guest, late check-out", "", world(**OTA), [*START, change("set_late_checkout", late_checkout_hour=12), charge("late_checkout", 2000), *close("late_checkout")]),
    Small("time-out, repeated once", "", world(), [*START, cancel(), *FAILED, refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("time-out, repeated blindly", "11.1", world(), [*START, cancel(), FAILED[0], refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("time-out, done, seen", "", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation", "done"), FAILED[1], *close("cancellation")]),
    Small("time-out, done, repeated", "11.1", world(nights=1, paid=20000), [*START, cancel(), refund("PM-1", 10000, "cancellation", "done"), refund("PM-1", 10000, "cancellation"), *close("cancellation")]),
    Small("failed twice", "", world(), [*START, cancel(), *FAILED, *FAILED, *close("cancellation", "system_fault")]),
    Small("third attempt", "11.1", world(), [*START, cancel(), *FAILED, *FAILED, refund("PM-1", 30000, "cancellation"), *close("cancellation")]),
    Small("given up at once", "11.1", world(), [*START, cancel(), *FAILED, *close("cancellation", "system_fault")]),
    Small("approval granted", "", DEAR, [*START, ask_manager("granted", 60000), cancel(), refund("PM-1", 60000, "cancellation"), *close("cancellation", "manager_granted")]),
    Small("no approval", "12.1", DEAR, [*START, cancel(), refund("PM-1", 60000, "cancellation"), *close("cancellation")]),
    Small("approval after the change", "12.3", DEAR, [*START, cancel(), ask_manager("granted", 60000), refund("PM-1", 60000, "cancellation"), *close("cancellation", "manager_granted")]),
    Small("answer not read", "12.3", DEAR, [*START, ask_manager("granted", 60000, read=False), cancel(), refund("PM-1", 60000, "cancellation"), *close("cancellation", "manager_granted")]),
    Small("other amount approved", "12.3", DEAR, [*START, ask_manager("granted", 90000), cancel(), refund("PM-1", 60000, "cancellation"), *close("cancellation", "manager_granted")]),
    Small("platinum needs none", "12.2", world(tier="platinum", price=30000, arrival="2031-05-14"), [*START, ask_manager("granted", 60000), cancel(), refund("PM-1", 60000, "cancellation"), *close("cancellation", "manager_granted")]),
    Small("free cancellation needs none", "12.2", world(price=30000), [*START, ask_manager("granted", 90000), cancel(), refund("PM-1", 90000, "cancellation"), *close("cancellation", "manager_granted")]),
    Small("denied", "", DEAR, [*DENIED, *close("cancellation", "manager_denied")]),
    Small("denied and less", "12.3", DEAR, [*DENIED, cancel(), refund("PM-1", 50000, "cancellation"), *close("cancellation")]),
    Small("denied and cancelled", "12.3", DEAR, [*DENIED, cancel(), *close("cancellation", "manager_denied")]),
    Small("pending", "", DEAR, [*START, ask_manager("pending", 60000), *close("cancellation", "manager_pending")]),
    Small("pending, called denied", "13.2", DEAR, [*START, ask_manager("pending", 60000), *close("cancellation", "manager_denied")]),
    # 13: records
    Small("completed, nothing done", "13.2", world(), [*START, *close("cancellation")]),
    Small("refused, yet done", "13.3", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation", "policy_refused")]),
    Small("wrong team", "13.2", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation"), message("cancellation_confirmed", "BK-1"), ticket("cancellation", "within_policy", team="finance"), end]),
    Small("wrong template", "13.4", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation"), *close("cancellation", template="billing_confirmed")]),
    Small("no message", "13.4", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation"), ticket("cancellation", "within_policy"), end]),
    Small("no ticket", "1.2", world(), [*START, cancel(), refund("PM-1", 30000, "cancellation"), message("cancellation_confirmed", "BK-1"), end]),
    Small("not handed over", "13.6", paid_twice("2031-03-02T10:01:00Z"), [*START, message("review_opened", "BK-1"), ticket("payment_error", "finance_review"), end]),
    Small("other booking on the ticket", "13.1", booked_twice("2031-04-03T10:00:00Z"), [*START, cancel("BK-2"), refund("PM-2", 30000, "cancellation"), *close("cancellation")]),
]  # fmt: skip


# -- boundaries: what the judge reckons, on both sides of every limit (arrival 2031-05-20, 3 nights at 100.01)


def before_check_in(hours: int, minutes: int = 0) -> datetime:
    return datetime(2031, 5, 20, 15, 0, tzinfo=UTC) - timedelta(hours=hours, minutes=minutes)


def fee(plan: str, tier: str, hours: int, minutes: int = 0, booked_hours_before: int = 1000) -> int:
    at = before_check_in(hours, minutes)
    booked = (at - timedelta(hours=booked_hours_before)).strftime("%Y-%m-%dT%H:%M:%SZ")
    tables = world(plan, tier, price=10001, booked_at=booked)
    return before_arrival.cancellation_fee(State(tables), tables["bookings"]["BK-1"], at)


def move_fee(plan: str, tier: str, hours: int, minutes: int = 0) -> int:
    tables = world(plan, tier)
    return before_arrival.move_fee(State(tables), tables["bookings"]["BK-1"], before_check_in(hours, minutes))


def may_move(plan: str, changes: int, hours: int, minutes: int = 0) -> bool:
    tables = world(plan, change_count=changes)
    return not before_arrival.may_move(State(tables), tables["bookings"]["BK-1"], before_check_in(hours, minutes))


def may_rename(plan: str, name: str, hours: int, minutes: int = 0) -> bool:
    tables = world(plan)
    booking = tables["bookings"]["BK-1"]
    return not before_arrival.may_rename(State(tables), booking, name, before_check_in(hours, minutes))


def upgrade(tier: str, hours: int, minutes: int = 0) -> int:
    tables = world(tier=tier)
    return before_arrival.upgrade_price(
        State(tables), tables["bookings"]["BK-1"], "SUP", before_check_in(hours, minutes)
    )


def early_return(plan: str, hour: int, minute: int = 0) -> int:
    tables = world(plan, price=10001, nights=5, status="in_house")
    at = datetime(2031, 5, 21, hour, minute, tzinfo=UTC)
    return stays.early_return(State(tables), tables["bookings"]["BK-1"], "2031-05-22", at)


def late_price(tier: str, hour: int) -> int:
    tables = world(tier=tier)
    return stays.late_price(State(tables), tables["bookings"]["BK-1"], hour)


def complaint(*blocks: tuple[str, str, str]) -> int:
    rows = [
        ("room_blocks", f"RB-{n}", {"room_id": "LIS-1", "severity": severity, "first_night": first, "last_night": last})
        for n, (severity, first, last) in enumerate(blocks)
    ]
    tables = world(price=10005, rows=rows)
    return stays.complaint_due(State(tables), tables["bookings"]["BK-1"])


def goodwill_of(tier: str, last: str | None) -> int:
    tables = world(tier=tier, price=10001, status="no_show", rows=[("guests", "GS-1", {"last_goodwill_on": last})])
    return stays.no_show_due(State(tables), tables["bookings"]["BK-1"], NOW).cents


def takes(covers: str, kind: str, cents: int = 1000) -> bool:
    return folios.company_pays(covers, {"kind": kind, "amount_cents": cents})


def relief(*cents: int) -> list[int]:
    charges = [{"id": str(n), "amount_cents": amount, "waived_cents": 0} for n, amount in enumerate(cents)]
    return list(folios.dispute_relief(charges).values())


def extra(kind: str, tier: str = "", pets: int = 1, nights: int = 3) -> int:
    tables = world(tier=tier, pets=pets, nights=nights)
    return folios.extra_price(State(tables), tables["bookings"]["BK-1"], kind)


def corporate(price: int) -> int:
    tables = world(price=price, corporate_account_id="CO-1")  # right: 85.00 on 20 and 21 May, 22 May is outside
    return accounts.corporate_due(State(tables), tables["bookings"]["BK-1"])


def group_fee(rooms: int, hour: int = 18, minute: int = 0, released: int = 0) -> int:
    tables = block(contracted=14, released=released, room_price_cents=9999)  # 2 nights, 2 rooms free
    at = datetime(2031, 5, 14, hour, minute, tzinfo=UTC)
    return accounts.release_fee(tables["group_blocks"]["GB-1"], rooms, at)


def missing(joined: str, channel: str = "direct", posted: int = 0) -> tuple[int, int] | None:
    rows = [
        ("loyalty_accounts", "LA-1", {"joined_on": joined}),
        ("loyalty_entries", "LE-1", {"booking_id": "BK-1", "nights": 1, "points": posted, "status": "posted"}),
    ]
    tables = world(tier="silver", price=3350, status="checked_out", channel=channel, rows=rows)
    return accounts.missing_loyalty(State(tables), tables["bookings"]["BK-1"])


def in_time(topic: str, days_after: int) -> bool:
    return reckoning.in_time({"departure": "2031-05-01"}, topic, datetime(2031, 5, 1, 23) + timedelta(days=days_after))


def partners(topic: str, collects: str = "partner") -> bool:
    tables = world(rows=[("partners", "PT-1", {"collects": collects})], **OTA)
    return limits.partner_decides(State(tables), tables["bookings"]["BK-1"], topic)


BOUNDARIES: list[tuple[str, Any, Any]] = [
    # 4.2 to 4.4
    ("flexible", [fee("FLEX", "", 24), fee("FLEX", "gold", 23, 59)], [0, 10001]),
    ("flexible, platinum", [fee("FLEX", "platinum", 12), fee("FLEX", "platinum", 11, 59)], [0, 10001]),
    ("corporate", [fee("CORP", "platinum", 6), fee("CORP", "platinum", 5, 59)], [0, 10001]),
    ("semi, free", [fee("SEMI", "", 72), fee("SEMI", "", 71, 59)], [0, 15002]),
    ("semi, whole", [fee("SEMI", "", 24), fee("SEMI", "", 23, 59)], [15002, 30003]),
    ("semi, tiers", [fee("SEMI", tier, 48) for tier in ("silver", "gold", "platinum")], [15002, 7501, 7501]),
    ("semi, gold, late", fee("SEMI", "gold", 23, 59), 30003),
    ("non-refundable", fee("NRF", "platinum", 900), 30003),
    ("grace, age", [fee("NRF", "", 168, 0, 24), fee("NRF", "", 168, 0, 25)], [0, 30003]),
    ("grace, notice", [fee("SEMI", "", 168, 0, 24), fee("NRF", "", 167, 59, 24)], [0, 30003]),
    # 5
    ("moved before", [may_move("FLEX", 1, 1), may_move("FLEX", 2, 900)], [True, False]),
    ("non-refundable moved", [may_move("NRF", 0, 336), may_move("NRF", 0, 335, 59)], [True, False]),
    ("semi fee", [move_fee("SEMI", "", 48), move_fee("SEMI", "gold", 47, 59)], [0, 3500]),
    ("semi fee, platinum", move_fee("SEMI", "platinum", 1), 0),
    ("no fee", [move_fee("FLEX", "", 1), move_fee("CORP", "", 1)], [0, 0]),
    ("non-refundable fee", move_fee("NRF", "platinum", 900), 6000),
    ("upgrade", [upgrade(tier, 48, 1) for tier in ("", "silver", "gold", "platinum")], [9000, 8100, 7200, 5850]),
    ("upgrade, last 48 hours", [upgrade("", 48), upgrade("platinum", 48)], [5400, 5400]),
    ("three letters", [may_rename("NRF", "Ana Silvadoo", 1), may_rename("NRF", "Ana Silvadooo", 900)], [True, False]),
    ("transfer", [may_rename("FLEX", "Rui Costa", 24), may_rename("CORP", "Rui Costa", 23, 59)], [True, False]),
    ("letters", [reckoning.letters_apart("José  da Silva", "jose DASILVA"), reckoning.letters_apart("ab", "ba")], [0, 2]),
    # 6
    ("told at 12:00", [early_return("FLEX", 12), early_return("CORP", 12, 1)], [30003, 20002]),
    ("semi, early departure", [early_return("SEMI", 1), early_return("SEMI", 23)], [10002, 10002]),
    ("non-refundable, early departure", early_return("NRF", 1), 0),
    ("late check-out", [late_price(tier, 13) for tier in ("", "silver", "gold", "platinum")], [4000, 4000, 0, 0]),
    ("late check-out, 17:00", [late_price(tier, 17) for tier in ("", "gold", "platinum")], [12000, 8000, 2000]),
    ("shares", [complaint((kind, "2031-05-20", "2031-05-20")) for kind in ("minor", "major", "unusable")], [1001, 3002, 10005]),
    ("each night rounded", complaint(("minor", "2031-05-01", "2031-05-30")), 3003),
    ("worst fault", complaint(("minor", "2031-05-20", "2031-05-21"), ("major", "2031-05-21", "2031-05-21")), 4003),
    ("night before and after", complaint(("major", "2031-05-19", "2031-05-19"), ("major", "2031-05-23", "2031-05-23")), 0),
    ("goodwill again", [goodwill_of("gold", "2030-05-14"), goodwill_of("gold", "2030-05-15")], [15002, 0]),
    ("goodwill, tiers", [goodwill_of(tier, None) for tier in ("silver", "gold", "platinum")], [0, 15002, 15002]),
    # 7
    ("room only", [takes("room_only", kind) for kind in ("room", "breakfast", "restaurant")], [True, False, False]),
    ("breakfast", [takes("room_and_breakfast", kind) for kind in ("breakfast", "restaurant")], [True, False]),
    ("full board", [takes("full_board", "restaurant", 6000), takes("full_board", "restaurant", 6001)], [True, False]),
    ("never the company's", [takes("full_board", kind) for kind in ("minibar", "laundry", "parking", "pet")], [False] * 4),
    ("dispute", [relief(4000), relief(4001), relief(2001, 2001)], [[4000], [2001], [1001, 1001]]),
    ("parking", [extra("parking", tier) for tier in ("", "silver", "gold", "platinum")], [5400, 5400, 3600, 0]),
    ("pets", [extra("pet"), extra("pet", pets=2, nights=5), extra("pet", "platinum", 2, 6), extra("pet", pets=0)], [6600, 15000, 15000, 0]),
    # 8 and 9
    ("corporate rate", [corporate(8600), corporate(8599), corporate(8400)], [200, 0, 0]),
    ("points", [missing("2031-06-19", "corporate"), missing("2031-06-20"), missing("2031-01-01", "ota")], [(2, 1000), None, None]),
    ("points posted", missing("2031-01-01", posted=1000), (2, 0)),
    ("group, free rooms", [group_fee(2), group_fee(3), group_fee(2, released=1)], [0, 9999, 9999]),
    ("group, cut-off", [group_fee(2, 18, 0), group_fee(2, 18, 1)], [0, 31997]),
    # 3.5 and 10.1
    ("last day", [in_time(topic, last) for topic, last in reckoning.CLAIM_DAYS.items()], [True] * 5),
    ("a day later", [in_time(topic, last + 1) for topic, last in reckoning.CLAIM_DAYS.items()], [False] * 5),
    ("days", list(reckoning.CLAIM_DAYS.items()), [("service_complaint", 7), ("charge_dispute", 14), ("folio_split", 30), ("corporate_rate", 60), ("loyalty", 180)]),
    ("no limit", [in_time("extras_price", 999), in_time("payment_error", 999)], [True, True]),
    ("always ours", [partners(topic) for topic in ("late_checkout", "folio_split", "charge_dispute", "extras_price", "relocation")], [False] * 5),
    ("hotel collects", [partners(topic, "hotel") for topic in ("room_change", "name_change", "service_complaint", "date_change")], [False] * 3 + [True]),
    ("partner collects", [partners(topic) for topic in ("room_change", "name_change", "service_complaint", "payment_error")], [True] * 4),
    # 12.1 and the current article on relocation
    ("limits", [limits.limit_for(State(world(tier=tier)), "GS-1") for tier in ("gold", "platinum")], [50000, 75000]),
    ("relocation", list(accounts.RELOCATION_POINTS.items()), [("standard", 5000), ("silver", 7500), ("gold", 10000), ("platinum", 15000)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "found", "right"), BOUNDARIES, ids=[row[0] for row in BOUNDARIES])
def test_the_judge_reckons_by_the_text(name: str, found: Any, right: Any) -> None:
    assert found == right


@pytest.mark.parametrize("small", CASES, ids=lambda small: small.name)
def test_the_judge_finds_the_breach_and_only_then(small: Small) -> None:
    found = play(small)
    if small.breaks:
        assert small.breaks in {violation.section for violation in found}, found
    else:
        assert found == []


def test_the_judge_is_independent() -> None:
    folder = Path(__file__).parent.parent / "domains" / "tb_hotel" / "audit"
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert not str(node.module).startswith("tb_hotel") or node.module == "tb_hotel.models", path.name
