"""The bank's tools, called as an agent calls them: figures, bookings that keep the laws, refusals without a trace."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_banking import domain as DOMAIN
from tb_banking import policy
from tb_banking.models import PasscodeRule, kinds
from tb_banking.tools import TOOLSETS, _days, _interest, _kinds
from tb_banking.world import CLOCK, BankWorld
from tb_envs.authoring.toolset import Tool
from tb_envs.episode import drive
from tb_envs.session.local import LocalBackend
from tb_envs.store.image import build_pages
from tb_envs.store.journal import net_diff
from tb_envs.task import Task

TOOLS: dict[str, Tool] = {tool.name: tool for toolset in TOOLSETS for tool in toolset.tools.values()}
WRITES = {name: tool for name, tool in TOOLS.items() if tool.effect == "write"}


class Bank:
    """A bank with one customer's affairs in it, and the tools to work on them."""

    def __init__(self) -> None:
        w = self.w = BankWorld(DOMAIN.specs, stream=("banking", "tools", 0), now=CLOCK, base=DOMAIN.seed_rows)
        self.ida = w.customer(
            segment="plus", first_name="Ida", surname="Öström", phone="+1 (207) 555-0142", postcode="K1A 0B1", age=41
        )
        self.other = w.customer(segment="basic")
        self.acct = w.account(self.ida, opened_days=89, balance=4_000_00)
        self.savings = w.account(self.ida, kind="savings", balance=0)
        self.shut = w.account(self.ida, status="closed")
        self.foreign = w.account(self.other, balance=90_00)
        self.card = w.card(self.acct, ending="4821", abroad="on")
        self.frozen = w.card(self.acct, status="frozen", freeze_reason="lost", ending="7310")
        self.gone = w.card(self.acct, status="expired")
        self.shop = w.merchant("hotel")
        day = {"merchant": self.shop, "method": "online_plain"}
        self.payment = w.payment(self.acct, self.card, 84_55, at=w.moment(minutes=-3_000), **day)
        self.again = w.payment(self.acct, self.card, 84_55, at=w.moment(minutes=-2_970, seconds=1), **day)
        self.waits = w.payment(self.acct, self.card, 84_55, status="pending", at=w.moment(minutes=-1_560), **day)
        w.payment(self.acct, self.card, 84_55, at=w.moment(minutes=-3_000 - 24 * 60, seconds=-1), **day)
        w.payment(self.acct, self.frozen, 84_55, at=w.moment(minutes=-3_000), **day)
        bought = [w.payment(self.acct, self.card, cents, self.shop, days=40) for cents in (60_01, 19_99, 301_00)]
        self.filed = w.dispute(bought[0], "fraud", filed_days=8)
        self.small = w.dispute(bought[1], "wrong_amount", stage="contested", filed_days=30, credit="given")
        self.lost = w.dispute(bought[2], "duplicate", stage="lost", filed_days=38, settled_days=20)
        self.alert = w.alert(self.payment, "high")
        self.hold = w.hold(self.acct, 120_00, merchant=self.shop, days=7)
        self.fee = w.fee(self.acct, "overdraft", 29_00, days=61)
        self.new_fee = w.fee(self.acct, "overdraft", 24_50, days=3)
        w.fee(self.savings, "monthly", 9_00, days=300, reversed=9_00, reason="goodwill", reversed_days=299)
        self.deposit = w.deposit(self.acct, 2_400_00, rate=335, months=12, opened_days=100)
        self.young = w.deposit(self.acct, 1_000_00, rate=300, months=6, opened_days=14)
        w.fee(self.savings, "monthly", 9_00, days=100, reversed=9_00, reason="bank_error", reversed_days=90)
        self.payee = w.payee(self.ida)
        self.sent = w.transfer(self.acct, self.payee, 250_00, status="pending", minutes=1_441)
        self.planned = w.transfer(self.acct, self.payee, 99_00, status="scheduled")
        self.instant = w.transfer(self.acct, self.payee, 75_00, rail="instant", days=1)
        self.done = w.transfer(self.acct, self.payee, 31_00, days=5)
        self.order = w.order(self.acct, self.payee, 640_00, next_on=w.day(4))
        self.ended = w.order(self.acct, self.payee, 640_00, status="cancelled")
        self.income = w.incoming(self.acct, 310_00, "R. Vale: for the boat", days=6)
        self.salary = w.incoming(self.acct, 2_800_00, "Salary", kind="salary")
        self.complaint = w.complaint(
            self.acct, received_on=w.workday(-40), answered_on=w.workday(-22), finding="upheld", gravity="serious"
        )
        self.unanswered = w.complaint(self.acct, received_on=w.workday(-17))
        w.compensation(self.acct, "delay", 15_00, complaint=self.complaint, days=20)
        self.mandate = w.mandate(self.foreign, self.ida, "attorney", scope="pay")
        self.case = w.case(self.ida, "fee", self.acct)
        self.closed = w.case(self.ida, "limit", self.acct, stage="closed", disposition="done")
        self.phone = self.ida.device
        self.old_phone = w.device(self.ida, status="revoked")
        self.passcode = w.passcode(self.ida, self.phone, days=12)
        w.passcode(self.ida, self.phone, status="failed", days=2)
        w.note(self.ida, "Hardship until spring.", "hardship", days=30)
        w.note(self.ida, "Moves house in May.", days=3)
        w.message_from(self.ida, "Please call me.")
        w.desk_answers(self.acct, "limit", "denied")
        task = SimpleNamespace(
            domain=DOMAIN,
            tools=DOMAIN.tools,
            articles=DOMAIN.articles,
            pages=build_pages(DOMAIN.image, w),
            now=CLOCK,
            scenario=SimpleNamespace(tool_faults=()),
        )
        self.task = cast(Task, task)
        self.start()

    def start(self) -> None:
        """Begin anew with the rows as they were placed."""
        self.backend = LocalBackend(self.task)
        self.kept: list[Any] = []

    def do(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed; every law of the bank holds afterwards."""
        result = drive(self.backend.call(tool, arguments))
        assert result.ok, result.text
        if tool in WRITES:
            self.lawful()
        return result.data

    def refuse(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must refuse, and leave everything as it was; what it says."""
        self.kept += self.backend.take_changes()
        before = self.backend.dump()
        result = drive(self.backend.call(tool, arguments))
        assert not result.ok, (tool, result.text)
        assert self.backend.dump() == before and not self.backend.take_changes()
        return result.data["error"]["message"]

    def lawful(self) -> None:
        raw = self.backend.store.raw
        broken = {name: rows for name, law in DOMAIN.laws.items() if (rows := raw.execute(law).fetchall())}
        assert not broken and not raw.execute("PRAGMA foreign_key_check").fetchall()

    def changed(self) -> dict[str, int]:
        """Table → rows changed since the last look."""
        changes, self.kept = self.kept + self.backend.take_changes(), []
        return dict(Counter(change.table for change in net_diff(changes)))

    def money(self, acct: Any = None) -> tuple[int, int]:
        """Balance and held money of an account, in cents."""
        shown = self.do("get_account", account_id=(acct or self.acct).id)
        assert cents(shown["available"]) == cents(shown["balance"]) - cents(shown["held"])
        return cents(shown["balance"]), cents(shown["held"])

    def newest(self) -> tuple[str, int]:
        entry = max(self.backend.dump()["entries"].items())[1]
        places = DOMAIN.specs["entries"].places
        return entry[places["kind"]], entry[places["amount_cents"]]


def cents(shown: str) -> int:
    return round(float(shown) * 100)


@cache
def placed() -> Bank:
    return Bank()


@pytest.fixture
def bank() -> Iterator[Bank]:
    made = placed()
    made.start()
    yield made
    made.backend.close()


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item)


def test_every_tool_is_flat_and_documented() -> None:
    assert Counter(tool.effect for tool in TOOLS.values()) == {"read": 38, "write": 33}
    for tool in TOOLS.values():
        assert tool.description.endswith("."), tool.name
        assert not {"policy", "handbook", "sign_off_rule", "passcode_rule"} & {*tool.description.lower().split()}
        for name, schema in tool.schema["properties"].items():
            assert schema.get("type") in ("string", "integer", "number"), (tool.name, name)
            assert len(schema["description"]) > 10, (tool.name, name)


def test_enumerations_are_those_of_the_models() -> None:
    for name, kind in vars(_kinds).items():
        if name[0].isupper() and hasattr(kinds, name):
            assert get_args(get_args(kind)[0]) == get_args(getattr(kinds, name)), name
    assert {*get_args(kinds.SentTemplate)} == {*get_args(kinds.Template)} - {"none"}
    assert {*get_args(kinds.ChargedFee)} < {*get_args(kinds.FeeKind)}


def test_reads_write_nothing_and_cover_every_read_tool(bank: Bank) -> None:
    w, ida, acct = bank.w, {"customer_id": bank.ida.id}, {"account_id": bank.acct.id}
    rate = {"currency": "eur", "day": w.day(-6)}
    reads: dict[str, dict[str, Any]] = {
        "get_clock": {},
        "find_customers": {
            "surname": "ÖSTRÖM", "email": bank.ida.email.upper(), "phone": "1-207-555-0142", "postcode": "k1a0b1"
        },
        "get_customer": ida,
        "list_devices": ida,
        "list_messages": {**ida, "direction": "Inbound"},
        "list_notes": {**ida, "kind": "hardship"},
        "list_cases": {**ida, "stage": "open"},
        "get_case": {"case_id": bank.case.id},
        "find_account": {"number": f" {bank.acct.number[:4]} {bank.acct.number[4:]}"},
        "get_account": acct,
        "list_mandates": {"account_id": bank.foreign.id},
        "list_entries": {
            **acct, "status": "posted", "kind": "card-payment", "merchant_id": bank.shop.id,
            "from_day": w.day(-2), "to_day": w.day(-2),
        },
        "get_entry": {"entry_id": bank.payment.id.lower()},
        "list_holds": acct,
        "list_limits": acct,
        "list_cards": acct,
        "get_card": {"card_id": bank.card.id},
        "get_merchant": {"merchant_id": bank.shop.id},
        "list_disputes": acct,
        "get_dispute": {"dispute_id": bank.small.id},
        "list_alerts": acct,
        "review_payment": {"entry_id": bank.payment.id},
        "review_dispute": {"dispute_id": bank.filed.id},
        "review_limit": {**acct, "kind": "daily cash"},
        "review_fees": acct,
        "quote_deposit": {"deposit_id": bank.deposit.id},
        "review_transfer": {"transfer_id": bank.sent.id},
        "review_order": {"order_id": bank.order.id},
        "review_complaint": {"complaint_id": bank.complaint.id},
        "get_rate": rate,
        "list_payees": ida,
        "list_transfers": {**acct, "status": "pending"},
        "list_orders": acct,
        "list_deposits": acct,
        "list_complaints": ida,
        "get_sign_off": {"sign_off_id": next(iter(DOMAIN.seed_rows["sign_offs"]))},
        "search_guide": {"query": "countries abroad"},
        "open_guide_page": {"page_id": next(iter(DOMAIN.articles.by_id)).lower()},
    }  # fmt: skip
    assert {*reads} == {name for name, tool in TOOLS.items() if tool.effect == "read"}
    before = bank.backend.dump()
    found = {name: bank.do(name, **arguments) for name, arguments in reads.items()}
    assert bank.backend.dump() == before and not bank.changed()
    assert not [key for key in keys_of(found) if key == "id" or key.endswith(("_cents", "_basis_points"))]
    codes = {row["code"] for row in DOMAIN.seed_rows["passcode_rules"].values()} | {bank.phone.code}
    shown = json.dumps(found)
    assert not [code for code in codes if f'"{code}"' in shown]
    assert [row["customer_id"] for row in found["find_customers"]["items"]] == [bank.ida.id]
    assert found["get_clock"] == {"now": CLOCK, "weekday": "Thursday"}
    assert found["get_customer"]["age"] == 41
    assert {*found["get_customer"]["account_ids"]} == {bank.acct.id, bank.savings.id, bank.shut.id}
    assert found["get_customer"]["mandate_account_ids"] == [bank.foreign.id]
    device = next(row for row in found["list_devices"]["items"] if row["device_id"] == bank.phone.id)
    assert device["last_confirmed_at"] == bank.passcode.sent_at
    assert found["find_account"] == found["get_account"]
    assert {card["ending"] for card in found["get_account"]["cards"]} >= {"4821", "7310"}
    assert found["list_entries"]["items"][0]["entry_id"] == bank.again.id
    assert found["list_entries"]["total"] == 3
    mandate = found["list_mandates"]["items"][0]
    assert (mandate["holder_id"], mandate["holder_surname"]) == (bank.ida.id, "Öström")
    assert found["list_mandates"]["account"]["youth_holder_birth_date"] is None
    assert float(found["get_rate"]["usd_per_unit"]) == pytest.approx(w.rate("EUR", rate["day"]).millionths / 1e6)


def test_a_payment_is_reviewed_with_what_looks_the_same(bank: Bank) -> None:
    found = bank.do("review_payment", entry_id=bank.payment.id)
    assert (found["amount"], found["days_since_posting"], found["segment"]) == ("84.55", 2, "plus")
    assert (found["open_alert_level"], found["dispute_id"]) == ("high", None)
    assert (found["disputes_filed_in_365_days"], found["disputes_lost_in_365_days"]) == (3, 1)
    assert found["trading_name"] == bank.shop.trading_name
    assert [(row["entry_id"], row["status"], row["minutes_apart"]) for row in found["same_again"]] == [
        (bank.again.id, "posted", 31),
        (bank.waits.id, "pending", 24 * 60),
    ]
    assert bank.do("review_payment", entry_id=bank.waits.id)["days_since_posting"] is None
    bank.do("resolve_alert", alert_id=bank.alert.id, finding="fraud")
    filed = bank.do("file_dispute", entry_id=bank.payment.id, reason="fraud")["dispute_id"]
    found = bank.do("review_payment", entry_id=bank.payment.id)
    assert (found["open_alert_level"], found["dispute_id"], found["disputes_filed_in_365_days"]) == (None, filed, 4)


def test_histories_end_after_a_year_and_with_the_customer(bank: Bank) -> None:
    w = bank.w
    assert (w.day(-365), w.day(-366)) == ("2030-09-18", "2030-09-17")
    figures = bank.do("review_dispute", dispute_id=bank.filed.id)
    assert (figures["working_days_since_filing"], figures["disputes_lost_in_365_days"]) == (6, 1)
    assert (figures["amount"], figures["segment"], figures["write_offs_in_365_days"]) == ("60.01", "plus", 0)
    bank.do("settle_dispute", dispute_id=bank.small.id, result="lost")
    bank.do("pay_compensation", account_id=bank.acct.id, kind="write_off", amount=19.99, dispute_id=bank.small.id)
    figures = bank.do("review_dispute", dispute_id=bank.filed.id)
    assert (figures["disputes_lost_in_365_days"], figures["write_offs_in_365_days"]) == (2, 1)
    raw = bank.backend.store.raw
    for day, lost, filed in ((w.day(-365), 2, 3), (w.day(-366), 1, 2)):
        raw.execute("UPDATE disputes SET settled_on=?, filed_on=? WHERE id=?", (day, day, bank.lost.id))
        found = bank.do("review_payment", entry_id=bank.payment.id)
        assert (found["disputes_lost_in_365_days"], found["disputes_filed_in_365_days"]) == (lost, filed)
    for at, count in ((f"{w.day(-365)}T00:00:00Z", 1), (f"{w.day(-366)}T23:59:59Z", 0)):
        raw.execute("UPDATE compensations SET paid_at=? WHERE dispute_id=?", (at, bank.small.id))
        assert bank.do("review_dispute", dispute_id=bank.filed.id)["write_offs_in_365_days"] == count


def test_other_figures(bank: Bank) -> None:
    w, acct = bank.w, {"account_id": bank.acct.id}
    limit = bank.do("review_limit", **acct, kind="daily_transfer")
    assert (limit["account_age_days"], limit["segment"], limit["kyc_status"]) == (89, "plus", "verified")
    fees = bank.do("review_fees", **acct)
    assert [(fee["fee_id"], fee["days_since_charged"]) for fee in fees["fees"]] == [
        (bank.new_fee.id, 3),
        (bank.fee.id, 61),
    ]
    assert fees["last_goodwill_on"] == w.day(-299)
    assert bank.do("review_fees", account_id=bank.foreign.id)["last_goodwill_on"] is None
    deposit = bank.do("quote_deposit", deposit_id=bank.deposit.id)
    assert (deposit["rate_percent"], deposit["days_held"], deposit["hardship_note_on"]) == ("3.35", 100, w.day(-30))
    assert cents(deposit["interest"]) == policy.deposit_interest(2_400_00, 335, 100)
    assert bank.do("quote_deposit", deposit_id=bank.young.id)["interest"] == "0.00"
    sent = bank.do("review_transfer", transfer_id=bank.sent.id)
    assert (sent["age_minutes"], sent["age_days"], sent["payee_name"]) == (1_441, 1, bank.payee.name)
    order = bank.do("review_order", order_id=bank.order.id)
    assert (order["working_days_to_next"], order["daily_transfer_limit"]) == (2, limit["amount"])
    complaint = bank.do("review_complaint", complaint_id=bank.complaint.id)
    assert (complaint["working_days_taken"], complaint["compensation_paid"]["delay"]) == (18, "15.00")
    assert complaint["days_since_answer"] == (w.today - date.fromisoformat(bank.complaint.answered_on)).days
    late = bank.do("review_complaint", complaint_id=bank.unanswered.id)
    assert (late["working_days_taken"], late["days_since_answer"]) == (17, None)
    hold = bank.do("list_holds", **acct)["items"][0]
    assert (hold["days_since_placed"], hold["working_days_since_placed"]) == (7, 5)


@given(st.dates(date(2029, 1, 1), date(2033, 1, 1)), st.integers(0, 400))
def test_working_days_are_counted_as_the_handbook_counts(event: date, days: int) -> None:
    later = event + timedelta(days=days)
    counted = _days.working_days(f"{event}T23:59:00Z", later.isoformat())
    assert counted == policy.working_days_between(event, later)
    assert _days.working_days(later.isoformat(), event.isoformat()) == -counted


@pytest.mark.parametrize(
    ("born", "age"), [("2013-09-18", 18), ("2013-09-19", 17), ("2013-10-01", 17), ("2012-12-31", 18)]
)
def test_a_birthday_counts_from_its_first_minute(bank: Bank, born: str, age: int) -> None:
    bank.backend.store.raw.execute("UPDATE customers SET birth_date=? WHERE id=?", (born, bank.ida.id))
    assert bank.do("get_customer", customer_id=bank.ida.id)["age"] == age


@given(st.integers(1, 10**9), st.integers(1, 900), st.integers(1, 1_500))
def test_interest_is_that_of_the_handbook(principal: int, rate: int, days: int) -> None:
    assert _interest.interest(principal, rate, days) == policy.interest(principal, rate, days)


def test_cards_are_frozen_replaced_and_carry_their_controls_over(bank: Bank) -> None:
    frozen = bank.do("freeze_card", card_id=bank.card.id, reason="Stolen")
    assert (frozen["status"], frozen["frozen_at"], frozen["freeze_reason"]) == ("frozen", CLOCK, "stolen")
    assert bank.changed() == {"cards": 1}
    bank.do("unfreeze_card", card_id=bank.card.id)
    bank.do("set_control", card_id=bank.card.id, control="online", state="off")
    new = bank.do("replace_card", card_id=bank.card.id, reason="misused")
    assert (new["status"], new["online"], new["abroad"]) == ("active", "off", "on")
    assert (new["replaces"], new["expires_on"]) == (bank.card.id, "2035-09-30")
    assert new["ending"] != bank.card.ending
    old = bank.do("get_card", card_id=bank.card.id)
    assert (old["status"], old["replace_reason"]) == ("replaced", "misused")
    assert bank.changed() == {"cards": 2}


def test_a_dispute_gets_its_credit_once_and_loses_it_in_the_end(bank: Bank) -> None:
    start = bank.money()
    dispute = {"dispute_id": bank.do("file_dispute", entry_id=bank.again.id, reason="duplicate")["dispute_id"]}
    assert bank.changed() == {"disputes": 1}
    given_credit = bank.do("grant_credit", **dispute)
    assert (given_credit["credit"], given_credit["credit_amount"]) == ("given", "84.55")
    assert bank.money() == (start[0] + 84_55, start[1])
    assert "given already" in bank.refuse("grant_credit", **dispute)
    assert bank.do("withdraw_dispute", **dispute)["credit"] == "taken_back"
    assert bank.money() == start and bank.newest() == ("credit_taken_back", -84_55)
    assert "is withdrawn" in bank.refuse("withdraw_dispute", **dispute)
    bank.do("file_dispute", entry_id=bank.again.id, reason="fraud")
    assert bank.changed() == {"disputes": 2, "entries": 2}


def test_a_contested_dispute_ends(bank: Bank) -> None:
    start, small = bank.money(), {"dispute_id": bank.small.id}
    assert bank.do("escalate_dispute", **small, evidence="A receipt.")["stage"] == "escalated"
    assert "is escalated" in bank.refuse("escalate_dispute", **small, evidence="A receipt.")
    lost = bank.do("settle_dispute", **small, result="lost")
    assert (lost["stage"], lost["credit"], lost["settled_on"]) == ("lost", "taken_back", CLOCK[:10])
    assert bank.money()[0] == start[0] - 19_99
    assert bank.changed() == {"disputes": 1, "entries": 1, "balances": 1}
    assert "is filed" in bank.refuse("settle_dispute", dispute_id=bank.filed.id, result="won")


def test_a_dispute_that_is_won_keeps_its_credit(bank: Bank) -> None:
    start = bank.money()
    assert bank.do("settle_dispute", dispute_id=bank.small.id, result="won")["credit"] == "given"
    assert bank.money() == start and bank.changed() == {"disputes": 1}


def test_fees_are_charged_and_returned_with_their_entries(bank: Bank) -> None:
    start = bank.money()
    fee = bank.do("charge_fee", account_id=bank.acct.id, kind="replacement", amount="$12", entry_id=bank.payment.id)
    assert (fee["amount"], fee["entry_id"], bank.newest()) == ("12.00", bank.payment.id, ("fee", -12_00))
    back = bank.do("reverse_fee", fee_id=bank.new_fee.id, amount=18.38, reason="goodwill")
    assert (back["reversed"], back["reverse_reason"]) == ("18.38", "goodwill")
    assert bank.money() == (start[0] - 12_00 + 18_38, start[1])
    assert "18.38 was returned already" in bank.refuse(
        "reverse_fee", fee_id=bank.new_fee.id, amount=1, reason="bank_error"
    )
    assert bank.do("review_fees", account_id=bank.acct.id)["last_goodwill_on"] == CLOCK[:10]
    assert bank.changed() == {"fees": 2, "entries": 2, "balances": 1}


def test_a_hold_is_released(bank: Bank) -> None:
    start = bank.money()
    assert bank.do("release_hold", hold_id=bank.hold.id)["status"] == "released"
    assert bank.money() == (start[0], start[1] - 120_00)
    assert bank.changed() == {"holds": 1, "balances": 1}
    assert "released already" in bank.refuse("release_hold", hold_id=bank.hold.id)


def test_only_money_that_had_left_comes_back(bank: Bank) -> None:
    start = bank.money()
    assert bank.do("recall_transfer", transfer_id=bank.planned.id)["status"] == "recalled"
    assert bank.money() == start
    bank.do("recall_transfer", transfer_id=bank.sent.id)
    assert bank.money() == (start[0] + 250_00, start[1]) and bank.newest() == ("recall", 250_00)
    for transfer in (bank.instant, bank.done, bank.sent):
        bank.refuse("recall_transfer", transfer_id=transfer.id)
    assert bank.changed() == {"transfers": 2, "entries": 1, "balances": 1}


def test_standing_orders_change_until_they_are_cancelled(bank: Bank) -> None:
    order = {"order_id": bank.order.id}
    changed = bank.do("change_order", **order, amount="655.20", next_on=bank.w.day(30))
    assert (changed["amount"], changed["next_on"]) == ("655.20", bank.w.day(30))
    for status in ("paused", "active", "cancelled"):
        bank.do("set_order_status", **order, status=status)
    assert "for good" in bank.refuse("set_order_status", **order, status="active")
    assert "is cancelled" in bank.refuse("change_order", **order, amount=1)
    assert bank.changed() == {"standing_orders": 1}


def test_a_deposit_is_broken_with_and_without_interest(bank: Bank) -> None:
    start, interest = bank.money()[0], policy.deposit_interest(2_400_00, 335, 100)
    broken = bank.do("break_deposit", deposit_id=bank.deposit.id, penalty=13.22)
    assert cents(broken["paid_out"]) == 2_400_00 + interest - 13_22
    assert bank.money()[0] == start + 2_400_00 + interest - 13_22
    assert bank.do("break_deposit", deposit_id=bank.young.id, penalty=0)["paid_out"] == "1000.00"
    assert "broken already" in bank.refuse("break_deposit", deposit_id=bank.young.id, penalty=0)
    assert "is broken" in bank.refuse("quote_deposit", deposit_id=bank.young.id)
    shown = {row["deposit_id"]: row for row in bank.do("list_deposits", account_id=bank.acct.id)["items"]}
    assert shown[bank.deposit.id]["penalty"] == "13.22" and shown[bank.young.id]["penalty"] == "0.00"
    assert bank.changed() == {"deposits": 2, "entries": 2, "balances": 1}


def test_a_payment_is_sent_back_once(bank: Bank) -> None:
    start = bank.money()
    assert bank.do("return_payment", entry_id=bank.income.id)["amount"] == "310.00"
    assert bank.money() == (start[0] - 310_00, start[1]) and bank.newest() == ("returned", -310_00)
    assert "RT-90001" in bank.refuse("return_payment", entry_id=bank.income.id)
    assert "posted salary" in bank.refuse("return_payment", entry_id=bank.salary.id)
    assert bank.changed() == {"returns": 1, "entries": 1, "balances": 1}


def test_compensation_and_complaints(bank: Bank) -> None:
    start, acct, complaint = bank.money(), {"account_id": bank.acct.id}, {"complaint_id": bank.complaint.id}
    bank.do("pay_compensation", **acct, kind="trouble", amount=80, **complaint)
    assert bank.money()[0] == start[0] + 80_00
    paid = bank.do("review_complaint", **complaint)["compensation_paid"]
    assert paid == {"delay": "15.00", "trouble": "80.00"}
    again = bank.do("reopen_complaint", **complaint, news="A letter of ours.")
    assert (again["status"], again["finding"], again["answered_on"]) == ("open", "none", None)
    assert "is open already" in bank.refuse("reopen_complaint", **complaint, news="More.")
    assert bank.changed() == {"compensations": 1, "complaints": 1, "entries": 1, "balances": 1}


def test_an_account_is_closed_when_nothing_is_in_the_way(bank: Bank) -> None:
    close = {"account_id": bank.acct.id, "payout_account_id": bank.savings.id}
    for words, steps in (
        ("hold", [("release_hold", {"hold_id": bank.hold.id})]),
        (
            "dispute",
            [
                ("withdraw_dispute", {"dispute_id": bank.filed.id}),
                ("settle_dispute", {"dispute_id": bank.small.id, "result": "won"}),
            ],
        ),
        ("transfer", [("recall_transfer", {"transfer_id": row.id}) for row in (bank.planned, bank.sent)]),
        ("standing order", [("set_order_status", {"order_id": bank.order.id, "status": "paused"})]),
        ("standing order", [("set_order_status", {"order_id": bank.order.id, "status": "cancelled"})]),
    ):
        assert words in bank.refuse("close_account", **close)
        for tool, arguments in steps:
            bank.do(tool, **arguments)
    balance = bank.money()[0]
    assert "`payout_account_id`" in bank.refuse("close_account", account_id=bank.acct.id)
    for wrong in (bank.acct, bank.shut, bank.foreign):
        bank.refuse("close_account", account_id=bank.acct.id, payout_account_id=wrong.id)
    bank.changed()
    closed = bank.do("close_account", **close)
    assert (closed["status"], closed["balance"], closed["payout_to"]) == ("closed", "0.00", bank.savings.id)
    assert {card["status"] for card in closed["cards"]} == {"expired"}
    assert bank.money(bank.savings)[0] == balance
    assert bank.changed() == {"accounts": 1, "balances": 2, "cards": 2, "entries": 2}
    for tool, arguments in (
        ("close_account", close),
        ("reverse_fee", {"fee_id": bank.fee.id, "amount": 1, "reason": "goodwill"}),
        ("charge_fee", {"account_id": bank.acct.id, "kind": "recall", "amount": 15}),
        ("set_limit", {"account_id": bank.acct.id, "kind": "daily_cash", "amount": 15}),
    ):
        assert "is closed" in bank.refuse(tool, **arguments)


def test_a_balance_below_zero_keeps_an_account_open(bank: Bank) -> None:
    bank.do("charge_fee", account_id=bank.savings.id, kind="recall", amount=15)
    message = bank.refuse("close_account", account_id=bank.savings.id, payout_account_id=bank.acct.id)
    assert "-15.00" in message


@pytest.mark.parametrize(
    ("facts", "counts"),
    [
        ({"email": "email", "phone": "1 207 555 0142"}, (2, 2, "passed")),
        ({"postcode": "k1a 0b1", "birth_date": "birth_date", "account_number": "own"}, (3, 3, "passed")),
        ({"account_number": "entrusted", "card_ending": "4821"}, (2, 2, "passed")),
        ({"card_ending": "7310"}, (1, 1, "passed")),
        ({"card_ending": "expired"}, (1, 0, "failed")),
        ({"email": "email", "account_number": "strange"}, (2, 1, "failed")),
        ({"email": "email", "phone": "1 207 555 0143"}, (2, 1, "failed")),
        ({"email": "email", "postcode": "K1A 0B1", "surname": "Ostrom"}, (2, 2, "passed")),
        ({"email": "email", "postcode": "K1A 0B1", "surname": "Oström-Berg"}, (2, 0, "failed")),
        ({"phone": " "}, (0, 0, "failed")),
        ({}, (0, 0, "failed")),
    ],
)
def test_callers_are_verified(bank: Bank, facts: dict[str, str], counts: tuple[int, int, str]) -> None:
    stranger = next(row["number"] for row in DOMAIN.seed_rows["accounts"].values())
    known = {
        "email": bank.ida.email.title(),
        "birth_date": bank.ida.birth_date,
        "own": f"{bank.acct.number[:4]} {bank.acct.number[4:]}",
        "entrusted": bank.foreign.number,
        "strange": stranger,
        "expired": bank.gone.ending,
    }
    named = {"surname": "öström", **{name: known.get(value, value) for name, value in facts.items()}}
    check = bank.do("verify_caller", customer_id=bank.ida.id, role="Joint owner", **named)
    assert (check["facts_given"], check["facts_matched"], check["result"]) == counts
    assert bank.changed() == {"verifications": 1}


def test_a_wrong_fact_is_not_given_away(bank: Bank) -> None:
    right = {"email": bank.ida.email, "postcode": bank.ida.postcode, "account_number": bank.acct.number}
    wrong = {"email": "nobody@nowhere.example", "postcode": "99999", "account_number": "12345678"}
    told = []
    for name in right:
        check = bank.do("verify_caller", customer_id=bank.ida.id, role="holder", surname="Öström",
                        **{**right, name: wrong[name]})  # fmt: skip
        told.append({key: value for key, value in check.items() if key != "verification_id"})
    assert told[0] == told[1] == told[2]


def test_passcodes_are_read_to_us_never_by_us(bank: Bank) -> None:
    sent = bank.do("send_passcode", device_id=bank.phone.id)
    assert sent["status"] == "sent" and bank.phone.code not in json.dumps(sent)
    code = bank.phone.code
    assert bank.do("confirm_passcode", passcode_id=sent["passcode_id"], code=f"{code[:3]} {code[3:]}")["status"] == (
        "confirmed"
    )
    assert "confirmed already" in bank.refuse("confirm_passcode", passcode_id=sent["passcode_id"], code=code)
    again = bank.do("send_passcode", device_id=bank.phone.id)["passcode_id"]
    wrong = bank.do("confirm_passcode", passcode_id=again, code="000000" if code != "000000" else "1")
    assert wrong["status"] == "failed" and code not in json.dumps(wrong)
    assert "failed already" in bank.refuse("confirm_passcode", passcode_id=again, code=code)
    devices = {row["device_id"]: row for row in bank.do("list_devices", customer_id=bank.ida.id)["items"]}
    assert devices[bank.phone.id]["last_confirmed_at"] == CLOCK
    assert devices[bank.old_phone.id]["last_confirmed_at"] is None
    bank.do("revoke_device", device_id=bank.phone.id)
    assert "is revoked" in bank.refuse("send_passcode", device_id=bank.phone.id)
    assert "revoked already" in bank.refuse("revoke_device", device_id=bank.old_phone.id)
    assert bank.changed() == {"passcodes": 2, "devices": 1}


def test_a_device_without_a_rule_confirms_nothing(bank: Bank) -> None:
    sent = bank.do("send_passcode", device_id=bank.phone.id)["passcode_id"]
    bank.backend.store.raw.execute("DELETE FROM passcode_rules WHERE device_id=?", (bank.phone.id,))
    assert bank.do("confirm_passcode", passcode_id=sent, code=bank.phone.code)["status"] == "failed"
    assert bank.w.all(PasscodeRule, device_id=bank.phone.id)


def test_the_desks_answer_is_read_not_told(bank: Bank) -> None:
    ask = {"account_id": bank.acct.id, "kind": "Limit", "amount": "12,000.00", "grounds": "A car."}
    assert bank.do("request_sign_off", **ask) == {"sign_off_id": "SG-90001", "state": "asked"}
    assert bank.do("get_sign_off", sign_off_id="sg-90001")["decision"] == "denied"
    assert "SG-90001" in bank.refuse("request_sign_off", **{**ask, "amount": 1})
    bank.do("request_sign_off", **{**ask, "kind": "compensation"})
    assert bank.do("get_sign_off", sign_off_id="SG-90002")["decision"] == "pending"
    assert bank.changed() == {"sign_offs": 2}


def test_cases_close_for_good(bank: Bank) -> None:
    opened = bank.do("open_case", customer_id=bank.ida.id, subject="card-dispute", summary="Asked.")
    assert (opened["case_id"], opened["stage"], opened["queue"]) == ("CS-90001", "open", "service")
    bank.do("update_case", case_id="CS-90001", stage="closed", disposition="done")
    assert "is closed" in bank.refuse("update_case", case_id="CS-90001", stage="open")
    bank.do("add_remark", case_id="CS-90001", body="Called back.")
    assert [row["body"] for row in bank.do("get_case", case_id="CS-90001")["remarks"]] == ["Called back."]
    assert bank.do("list_cases", customer_id=bank.ida.id)["items"][0]["case_id"] == "CS-90001"


def test_messages_notes_mandates_limits(bank: Bank) -> None:
    ida = {"customer_id": bank.ida.id}
    for account_id in (bank.acct.id, bank.foreign.id):
        sent = bank.do("send_secure_message", **ida, template="card update", account_id=account_id, body="Hello")
        assert (sent["direction"], sent["account_id"]) == ("outbound", account_id)
    assert bank.do("list_messages", **ida)["items"][0]["message_id"] == "SM-90002"
    bank.do("add_contact_note", **ida, kind="security", body="Two codes were wrong.")
    assert bank.do("list_notes", **ida)["items"][0]["kind"] == "security"
    assert bank.do("end_mandate", mandate_id=bank.mandate.id)["status"] == "ended"
    assert "ended already" in bank.refuse("end_mandate", mandate_id=bank.mandate.id)
    raised = {"account_id": bank.acct.id, "kind": "daily_cash"}
    shown = bank.do("set_limit", **raised, amount=900, until=bank.w.day(0))
    assert (shown["amount"], shown["until"]) == ("900.00", bank.w.day(0))
    assert bank.do("set_limit", **raised, amount=0)["until"] is None
    assert bank.changed() == {"messages": 2, "contact_notes": 1, "mandates": 1, "limits": 1}


def test_the_mechanism_does_not_judge(bank: Bank) -> None:
    """What only the handbook forbids, the tools do."""
    bank.do("file_dispute", entry_id=bank.waits.id, reason="fraud")
    bank.do("send_passcode", device_id=bank.w.all("devices", status="new")[0].id)
    bank.do("set_limit", account_id=bank.acct.id, kind="daily_cash", amount=90_000)
    bank.do("set_control", card_id=bank.frozen.id, control="cash_abroad", state="on")
    bank.do("grant_credit", dispute_id=bank.filed.id)
    bank.do("reverse_fee", fee_id=bank.fee.id, amount=29, reason="goodwill")
    bank.do("open_case", customer_id=bank.other.id, subject="fee", summary="x", account_id=bank.acct.id, stage="closed")
    bank.do("break_deposit", deposit_id=bank.deposit.id, penalty=500)


def test_refusals_say_why_and_leave_no_trace(bank: Bank) -> None:
    w, acct, far = bank.w, {"account_id": bank.acct.id}, {"account_id": bank.foreign.id}
    fee, dispute, entry = {"fee_id": bank.fee.id}, {"dispute_id": bank.filed.id}, {"entry_id": bank.payment.id}
    paid = {**acct, "kind": "trouble", "amount": 5}
    for tool, arguments, words in [
        ("get_account", {"account_id": "AC-1"}, "no account 'AC-1'"),
        ("find_account", {"number": "12"}, "`number`"),
        ("get_customer", {"customer_id": "CU-1"}, "no customer 'CU-1'"),
        ("list_notes", {"customer_id": "CU-1"}, "no customer 'CU-1'"),
        ("list_cards", {"account_id": "AC-1"}, "no account 'AC-1'"),
        ("list_mandates", {"account_id": "AC-1"}, "no account 'AC-1'"),
        ("list_devices", {"customer_id": "CU-1"}, "no customer 'CU-1'"),
        ("list_entries", {**acct, "merchant_id": "ME-1"}, "no merchant 'ME-1'"),
        ("find_customers", {}, "at least one"),
        ("find_customers", {"email": ""}, "at least one"),
        ("review_payment", {"entry_id": bank.salary.id}, "is a salary"),
        ("review_payment", {"entry_id": "EN-1"}, "no entry 'EN-1'"),
        ("review_dispute", {"dispute_id": "DP-1"}, "no dispute 'DP-1'"),
        ("review_limit", {"account_id": bank.savings.id, "kind": "daily_cash"}, "has no limit daily_cash"),
        ("review_limit", {"account_id": "AC-1", "kind": "daily_cash"}, "no account 'AC-1'"),
        ("review_fees", {"account_id": "AC-1"}, "no account 'AC-1'"),
        ("get_rate", {"currency": "EUR", "day": "2001-01-01"}, "no rate of 'EUR'"),
        ("open_guide_page", {"page_id": "GP-99"}, "search_guide"),
        ("verify_caller", {"customer_id": "CU-1", "role": "holder", "surname": "X"}, "no customer 'CU-1'"),
        ("verify_caller", {"customer_id": bank.ida.id, "role": "friend", "surname": "X"}, "one of holder"),
        ("confirm_passcode", {"passcode_id": "PC-1", "code": "1"}, "no passcode 'PC-1'"),
        ("freeze_card", {"card_id": bank.frozen.id, "reason": "lost"}, "is frozen"),
        ("unfreeze_card", {"card_id": bank.card.id}, "is active"),
        ("replace_card", {"card_id": bank.gone.id, "reason": "lost"}, "is expired"),
        ("set_control", {"card_id": bank.gone.id, "control": "abroad", "state": "on"}, "is expired"),
        ("set_control", {"card_id": bank.card.id, "control": "abroad", "state": "on"}, "`state`"),
        ("set_limit", {**acct, "kind": "daily_cash", "amount": 1, "until": w.day(-1)}, "`until`"),
        ("set_limit", {**acct, "kind": "monthly", "amount": 1}, "one of daily_transfer"),
        ("set_limit", {**acct, "kind": "daily_cash", "amount": "ten"}, "`amount`"),
        ("set_limit", {"account_id": bank.savings.id, "kind": "daily_cash", "amount": 1}, "has no limit"),
        ("file_dispute", {"entry_id": bank.salary.id, "reason": "fraud"}, "no card payment"),
        ("file_dispute", {"entry_id": bank.filed.entry_id, "reason": "fraud"}, bank.filed.id),
        ("escalate_dispute", {**dispute, "evidence": "x"}, "is filed"),
        ("escalate_dispute", {"dispute_id": bank.small.id, "evidence": "  "}, "`evidence`"),
        ("grant_credit", {"dispute_id": bank.lost.id}, "is lost"),
        ("charge_fee", {**acct, "kind": "overdraft", "amount": 5}, "one of replacement, recall"),
        ("charge_fee", {**acct, "kind": "recall", "amount": 0}, "more than 0.00"),
        ("charge_fee", {**far, "kind": "recall", "amount": 5, **entry}, "no entry of account"),
        ("reverse_fee", {**fee, "amount": 29.01, "reason": "goodwill"}, "only 29.00"),
        ("reverse_fee", {**fee, "amount": 0, "reason": "goodwill"}, "more than 0.00"),
        ("reverse_fee", {**fee, "amount": -1, "reason": "goodwill"}, "`amount`"),
        ("change_order", {"order_id": bank.order.id}, "`amount`, `next_on`"),
        ("change_order", {"order_id": bank.order.id, "next_on": w.day(0)}, "`next_on`"),
        ("change_order", {"order_id": bank.order.id, "amount": 0}, "more than 0.00"),
        ("set_order_status", {"order_id": bank.order.id, "status": "active"}, "`status`"),
        ("set_order_status", {"order_id": bank.ended.id, "status": "active"}, "for good"),
        ("break_deposit", {"deposit_id": bank.young.id, "penalty": 1000.01}, "`penalty`"),
        ("return_payment", {"entry_id": bank.payment.id}, "no incoming transfer"),
        ("close_account", {"account_id": bank.shut.id}, "is closed"),
        ("pay_compensation", paid, "Give either"),
        ("pay_compensation", {**paid, "complaint_id": bank.complaint.id, **dispute}, "Give either"),
        ("pay_compensation", {**paid, **dispute}, "`kind`"),
        ("pay_compensation", {**paid, "kind": "write_off", "complaint_id": bank.complaint.id}, "`kind`"),
        ("pay_compensation", {**paid, **far, "complaint_id": bank.complaint.id}, "`complaint_id`"),
        ("reopen_complaint", {"complaint_id": bank.complaint.id, "news": " "}, "`news`"),
        ("request_sign_off", {**acct, "kind": "limit", "amount": 0, "grounds": "x"}, "more than 0.00"),
        ("open_case", {"customer_id": bank.ida.id, "subject": "fee", "summary": "x", "account_id": "AC-1"}, "'AC-1'"),
        ("update_case", {"case_id": bank.closed.id, "queue": "legal"}, "is closed"),
        ("update_case", {"case_id": bank.case.id}, "at least one"),
        ("send_secure_message", {"customer_id": bank.other.id, "template": "card_update", **acct}, "`account_id`"),
        ("send_secure_message", {"customer_id": bank.ida.id, "template": "none"}, "one of dispute_update"),
    ]:
        assert words in bank.refuse(tool, **arguments), tool
    assert not bank.changed()


@pytest.mark.parametrize("sign", ["%", "_", "%%", "*", "' OR 1=1 --", "50_ Percent", "\\%"])
def test_signs_in_a_search_are_plain_signs(bank: Bank, sign: str) -> None:
    for field in ("surname", "phone", "postcode", "email"):
        assert bank.do("find_customers", **{field: sign})["total"] == 0
    assert "`number`" in bank.refuse("find_account", number=sign)


class Pools:
    """Values for the arguments of random calls: ids that exist, or will, and some that fit nothing."""

    def __init__(self, bank: Bank) -> None:
        accounts = [bank.acct.id, bank.savings.id, bank.foreign.id, bank.shut.id]
        self.ids: dict[str, list[str]] = {
            "account_id": accounts,
            "payout_account_id": accounts,
            "customer_id": [bank.ida.id, bank.other.id],
            "card_id": [bank.card.id, bank.frozen.id, bank.gone.id, "CD-90001"],
            "entry_id": [row.id for row in (bank.payment, bank.again, bank.waits, bank.income, bank.salary)],
            "dispute_id": [bank.filed.id, bank.small.id, bank.lost.id, "DP-90001"],
            "fee_id": [bank.fee.id, bank.new_fee.id, "FE-90001"],
            "hold_id": [bank.hold.id],
            "transfer_id": [row.id for row in (bank.sent, bank.planned, bank.instant, bank.done)],
            "order_id": [bank.order.id, bank.ended.id],
            "deposit_id": [bank.deposit.id, bank.young.id],
            "complaint_id": [bank.complaint.id, bank.unanswered.id],
            "alert_id": [bank.alert.id],
            "device_id": [bank.phone.id, bank.old_phone.id],
            "passcode_id": ["PC-90001"],
            "mandate_id": [bank.mandate.id],
            "case_id": [bank.case.id, bank.closed.id, "CS-90001"],
        }
        self.texts = {"code": [bank.phone.code, "000000"], "surname": ["Öström"], "email": [bank.ida.email]}

    def arguments(self, draw: Any, tool: Tool) -> dict[str, Any]:
        """Arguments that have the right form; optional ones now and then."""
        needed = tool.schema.get("required", [])
        names = [name for name in tool.schema["properties"] if name in needed or draw(st.booleans())]
        return {name: draw(self._values(name, tool.schema["properties"][name])) for name in names}

    def _values(self, name: str, schema: dict[str, Any]) -> Any:
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        if name in self.ids:
            return st.sampled_from(self.ids[name])
        if schema["type"] == "number":
            return st.sampled_from([0, "0.01", "12.00", 29, "84.55", 5_000])
        if schema.get("format") == "date":
            return st.sampled_from(["2031-09-17", "2031-09-18", "2031-10-01"])
        return st.sampled_from(self.texts.get(name, ["4821", "some words"]))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_whatever_is_called_in_whatever_order_the_laws_hold(data: st.DataObject) -> None:
    bank = placed()
    bank.start()
    pools = Pools(bank)
    for _ in range(12):
        tool = data.draw(st.sampled_from([*WRITES.values()]))
        result = drive(bank.backend.call(tool.name, pools.arguments(data.draw, tool)))
        if result.ok:
            bank.lawful()
        else:
            assert result.data["error"]["type"] == "refused", result.text
            assert not result.data["error"]["message"].startswith("The records"), result.text
            assert not bank.backend.take_changes()
        bank.backend.take_changes()
    bank.backend.close()
