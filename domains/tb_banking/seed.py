"""The bank before any task: merchants, rates, customers, their accounts, what was paid, and the desk's records.

Everything is built with `BankWorld`'s builders from one stream, so the laws hold by construction and two builds give
the same bytes. Names repeat on purpose: a surname alone never finds one customer.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from tb_banking import policy
from tb_banking.models import Card, Entry, Merchant, SignOffRule
from tb_banking.models.kinds import AlertLevel, AlertStatus, FreezeReason, Method, PayeeCheck, TransferStatus
from tb_banking.seed_data import (
    CASES,
    COMPLAINTS,
    DISPUTED,
    DISPUTES,
    FOREIGN,
    FROM_CUSTOMERS,
    FROM_MERCHANTS,
    NOTES,
    REMARKS,
    SENDERS,
    TO_CUSTOMERS,
)
from tb_banking.seed_homes import BALANCES, Home, old, pay, place_activity, place_customers, place_families
from tb_banking.world import BankWorld
from tb_banking.world.company import CURRENCIES, RATE_DAYS, SHOP_BY_ID, SHOPS


def seed(w: BankWorld) -> None:
    """Fill a world with the bank's rows."""
    place_bank(w)
    homes = place_customers(w)
    place_families(w, homes)
    place_activity(w, homes)
    place_fees(w, homes)
    place_holds(w, homes)
    place_disputes(w, homes)
    place_alerts(w, homes)
    place_freezes(w, homes)
    place_transfers(w, homes)
    place_savings(w, homes)
    place_complaints(w, homes)
    place_records(w, homes)


def place_bank(w: BankWorld) -> None:
    """Merchants, and the rates of the last weeks."""
    for shop in SHOPS:
        plain = "".join(sign for sign in shop.trading_name.lower() if sign.isalnum())
        w.insert(
            Merchant,
            id=shop.id,
            statement_name=shop.statement_name,
            trading_name=shop.trading_name,
            sells=shop.sells,
            city=shop.city,
            email=f"billing@{plain}.example",
        )
    for currency, usual in CURRENCIES.items():
        level = usual
        for back in range(RATE_DAYS, -1, -1):
            level += w.between(-usual // 400, usual // 400)
            w.rate(currency, w.day(-back), level)


def place_fees(w: BankWorld, homes: list[Home]) -> None:
    """Fees of all kinds, some of them returned."""
    overdrawn = [home for home in homes if home.acct.account.overdraft_cents]
    for place, home in enumerate(overdrawn[:20]):
        payment = w.pick(*home.payments)
        w.fee(home.acct, "overdraft", w.pick(18_50, 24_00, 29_00), at=payment.booked_at, entry=payment)
        if place % 4 == 0:
            cents, days = w.odd_cents(18_00, 35_00), w.between(70, 190)
            back = policy.percent(cents, policy.GOODWILL_SHARE[home.person.segment])
            w.fee(home.acct, "overdraft", cents, days=days, reversed=back, reason="goodwill", reversed_days=days - 4)
    for home in homes[::13]:
        w.fee(home.acct, "returned_payment", w.pick(11_00, 14_50), days=w.between(5, 120))
    for home in homes[7::16]:
        cents = policy.monthly_fee("current", home.person.segment)
        for back in (18, 48):
            if cents:
                w.fee(home.acct, "monthly", cents, days=back)
    for home in homes:
        abroad = [payment for payment in home.payments if payment.foreign_currency]
        for payment in abroad[:1]:
            rate = w.rate(payment.foreign_currency, payment.booked_at[:10]).millionths
            cents = policy.foreign_fee(Decimal(payment.foreign_amount), rate, home.person.segment)
            if cents:
                w.fee(home.acct, "foreign", cents, at=payment.booked_at, entry=payment)
    lost = [card for card in w.all(Card, status="replaced") if card.replace_reason == "lost"]
    for home in homes:
        if home.card.replaces in {card.id for card in lost} and home.person.segment != "premier":
            w.fee(home.acct, "replacement", policy.REPLACEMENT_FEE, at=f"{home.card.issued_on}T09:15:00Z")


def place_holds(w: BankWorld, homes: list[Home]) -> None:
    """Authorisations of hotels and fuel stations, some with their pending payments; checks of deposits; rarer kinds."""
    for place, home in enumerate(homes[1::6]):
        shop = w.pick(*(s for s in SHOPS if s.trade in ("hotel", "fuel") and s.city not in FOREIGN))
        merchant, cents, back = w.get(Merchant, shop.id), w.between(*shop.usual), w.between(0, 9)
        status = "released" if place % 5 == 4 else "active"
        w.hold(home.acct, cents, merchant=merchant, days=back, status=status)
        if place % 3 == 0:
            w.payment(home.acct, home.card, cents, merchant, method="chip_pin", status="pending")
    for home in homes[9::20]:
        shop = w.pick(*(s for s in SHOPS if s.city not in FOREIGN))
        w.payment(home.acct, home.card, w.between(*shop.usual), w.get(Merchant, shop.id), status="pending")
    for home in homes[6::18]:
        w.hold(home.acct, w.between(150_00, 2_400_00), kind="deposit_check", days=w.between(1, 8))
    for home, kind in zip(homes[11::29], ("fraud", "legal", "fraud", "legal"), strict=False):
        w.hold(home.acct, w.between(80_00, 900_00), kind=kind, days=w.between(2, 30))


def place_disputes(w: BankWorld, homes: list[Home]) -> None:
    """Disputes of every reason and stage; small ones that were lost were written off."""
    for place, text in enumerate(DISPUTES * 2):
        home = homes[(place * 7 + 2) % len(homes)]
        shop = w.pick(*(s for s in SHOPS if s.trade in DISPUTED[text.reason]))
        small = w.odd_cents(7_00, 22_00) if text.stage == "lost" and place % 3 == 1 else None
        method: Method | None = w.pick("online_plain", "swipe") if text.reason == "fraud" else None
        payment = pay(w, home, shop, days=w.between(20, 58), cents=small, method=method)
        age = w.between(2, 18)
        dispute = w.dispute(
            payment, text.reason, stage=text.stage, filed_days=age, credit=text.credit, evidence=text.evidence,
            respond_by=w.day(w.between(-3, 14)) if text.stage == "contested" else None,
        )  # fmt: skip
        if small:
            ago = (w.today - date.fromisoformat(dispute.settled_on)).days
            w.compensation(home.acct, "write_off", -payment.amount_cents, dispute=dispute, days=ago)


def place_alerts(w: BankWorld, homes: list[Home]) -> None:
    """Alerts of both levels; the card of one that is open at level high is frozen."""
    free = [home for home in homes if home.card.status == "active" and home.payments]
    for place, home in enumerate(free[3::6][:18]):
        level: AlertLevel = ("low", "high")[place % 2]
        status: AlertStatus = ("open", "genuine", "fraud")[place % 3]
        payment = pay(
            w, home, w.pick(*(s for s in SHOPS if s.trade in ("electronics", "tickets"))), days=w.between(1, 6)
        )
        alert = w.alert(payment, level, status=status)
        if (level, status) == ("high", "open"):
            last = max(entry.booked_at for entry in w.all(Entry, card_id=home.card.id))
            frozen = w.after(max(last, alert.raised_at), minutes=1)
            w.update(Card, home.card.id, status="frozen", frozen_at=frozen, freeze_reason="precaution")


def place_freezes(w: BankWorld, homes: list[Home]) -> None:
    """Cards that were frozen after their last payment."""
    for place, home in enumerate(homes[5::13]):
        paid = [entry.booked_at for entry in w.all(Entry, card_id=home.card.id)]
        if home.card.status == "active" and paid:
            reason: FreezeReason = ("lost", "precaution", "stolen")[place % 3]
            at = w.after(max(paid), minutes=w.between(4, 30))
            w.update(Card, home.card.id, status="frozen", frozen_at=at, freeze_reason=reason)


def place_transfers(w: BankWorld, homes: list[Home]) -> None:
    """Payees, transfers on both rails in all states, standing orders (some to one payee), and payments sent back."""
    checks: tuple[PayeeCheck, ...] = ("match", "match", "match", "close_match", "no_match")
    states: tuple[TransferStatus, ...] = ("completed", "completed", "pending", "completed", "scheduled", "completed")
    for place, home in enumerate(homes[::2]):
        payees = [w.payee(home.person) for _ in range(w.between(1, 3))]
        low, high = BALANCES[home.person.segment]
        for turn in range(w.between(1, 2)):
            cents, payee = w.between(20_00, max(90_00, (low + high) // 12)), w.pick(*payees)
            kind = (place + turn) % 6
            if kind in (0, 3):
                minutes = w.between(30, 2_800) if kind == 3 else None
                w.transfer(home.acct, payee, cents, rail="instant", minutes=minutes, check=w.pick(*checks))
            else:
                w.transfer(home.acct, payee, cents, status=states[kind], check=w.pick(*checks))
        if place % 13 == 6:
            back = w.transfer(home.acct, payees[0], w.between(40_00, 300_00), status="recalled", days=w.between(3, 40))
            if cents := policy.recall_fee("pending", "match", home.person.segment):
                w.fee(home.acct, "recall", cents, at=w.after(back.made_at, hours=5, minutes=1))
        if place % 3 == 0:
            rent = w.between(9, 60) * 20_00
            w.order(home.acct, payees[0], rent)
            if place % 6 == 0:
                w.order(home.acct, payees[0], rent // 4, rhythm="weekly", next_in=w.between(1, 6))
        if place % 8 == 5:
            w.order(home.acct, payees[-1], w.between(10_00, 90_00), status=w.pick("paused", "cancelled"))
    for place, home in enumerate(homes[3::21]):
        entry = w.incoming(home.acct, w.between(25_00, 900_00), w.pick(*SENDERS), days=w.between(4, 20))
        if place % 2:
            w.sent_back(entry)


def place_savings(w: BankWorld, homes: list[Home]) -> None:
    """Savings accounts and term deposits."""
    for home in homes[::4]:
        acct = w.account(home.person, kind="savings", balance=w.between(300_00, 21_000_00))
        w.incoming(acct, w.between(2_00, 61_00), "Interest", kind="interest", days=18)
    for place, home in enumerate(old(w, homes, 1_060)[1::3]):
        months = (3, 6, 12, 12, 24)[place % 5]
        cents, rate = w.between(12, 240) * 100_00, 180 + months * 7 + w.between(0, 6) * 5
        if place % 8 == 3:
            w.deposit(home.acct, cents, rate=rate, months=months, status="matured")
        elif place % 8 == 6:
            penalty = policy.deposit_penalty(cents, rate, months, 40, 60) or 0
            w.deposit(home.acct, cents, rate=rate, months=months, status="broken", penalty=penalty, opened_days=60)
        else:
            w.deposit(home.acct, cents, rate=rate, months=months)


def place_complaints(w: BankWorld, homes: list[Home]) -> None:
    """Complaints, open and answered; for some, compensation was paid."""
    known = old(w, homes, 340)
    for place in range(24):
        home = known[(place * 5 + 1) % len(known)]
        gravity, finding, took = COMPLAINTS[place % len(COMPLAINTS)]
        if not took:
            w.complaint(home.acct, gravity=gravity, received_on=w.workday(-w.between(2, 14)))
            continue
        answered = w.day(-w.between(6, 300))
        came = w.workday(-took, answered)
        complaint = w.complaint(home.acct, gravity=gravity, received_on=came, answered_on=answered, finding=finding)
        paid = policy.delay_compensation(took, home.person.segment, paid=0)
        if paid:
            w.compensation(home.acct, "delay", paid, complaint=complaint, days=w.between(1, 5))
        if finding == "upheld" and place % 2:
            cents = policy.trouble_compensation(gravity, finding, paid=0)
            w.compensation(home.acct, "trouble", cents, complaint=complaint, days=w.between(1, 5))


def place_records(w: BankWorld, homes: list[Home]) -> None:
    """Cases, remarks, notes, messages, checks, passcodes and sign-offs of the last weeks."""
    for place in range(48):
        text, home = CASES[place % len(CASES)], homes[(place * 11 + 3) % len(homes)]
        case = w.case(
            home.person, text.subject, home.acct, stage=text.stage, disposition=text.disposition, queue=text.queue,
            summary=text.summary,
        )  # fmt: skip
        if text.disposition in ("sign_off_pending", "sign_off_denied"):
            place_sign_off(w, home, pending=text.disposition == "sign_off_pending")
        for _ in range(w.between(0, 2)):
            w.remark(case, w.pick(*REMARKS))
    for _ in range(60):
        kind, body = w.pick(*NOTES)
        w.note(w.pick(*homes).person, body, kind)
    for _ in range(44):
        home = w.pick(*homes)
        w.message_from(home.person, w.pick(*FROM_CUSTOMERS), acct=home.acct if w.chance(0.4) else None)
    for place, body in enumerate(FROM_MERCHANTS * 3):
        home = homes[(place * 17 + 5) % len(homes)]
        sender = w.get(Merchant, w.pick(*SHOP_BY_ID)).email
        w.message_from(home.person, body, sender, acct=home.acct)
    for _ in range(40):
        home = w.pick(*homes)
        w.message_to(home.person, w.pick(*TO_CUSTOMERS), acct=home.acct)
    for _ in range(50):
        given = w.between(1, 3)
        w.verification(w.pick(*homes).person, given=given, matched=given - (1 if w.chance(0.12) else 0))
    known = [home.person for home in homes if home.person.trusted]
    for _ in range(44):
        w.passcode(w.pick(*known), status=w.pick("confirmed", "confirmed", "confirmed", "failed"))


def place_sign_off(w: BankWorld, home: Home, *, pending: bool) -> None:
    """A question of an earlier conversation, with or without an answer."""
    if w.all(SignOffRule, account_id=home.acct.id, kind="limit"):
        return
    decision = "pending" if pending else "denied"
    w.desk_answers(home.acct, "limit", decision)
    w.sign_off(
        home.acct, "limit", 2 * w.between(4, 14) * 500_00, decision, grounds="Customer moves house and pays late."
    )
