"""The bank before any task: merchants, rates, customers, their accounts, what was paid, and the desk's records.

Everything is built with `BankWorld`'s builders from one stream, so the laws hold by construction and two builds give
the same bytes. Names repeat on purpose: a surname alone never finds one customer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from tb_banking import policy
from tb_banking.models import Card, Entry, Merchant, SignOffRule
from tb_banking.models.kinds import (
    AlertLevel,
    AlertStatus,
    FreezeReason,
    KycStatus,
    Method,
    PayeeCheck,
    ReplaceReason,
    Scope,
    Segment,
    Switch,
    TransferStatus,
)
from tb_banking.seed_data import (
    CASES,
    COMPLAINTS,
    DISPUTES,
    FOREIGN,
    FROM_CUSTOMERS,
    FROM_MERCHANTS,
    NOTES,
    REMARKS,
    SENDERS,
    TO_CUSTOMERS,
)
from tb_banking.world import Acct, BankWorld, Person
from tb_banking.world.company import CURRENCIES, RATE_DAYS, SHOP_BY_ID, SHOPS, Shop
from tb_banking.world.names import EMPLOYERS, HOMES, SURNAMES
from tb_envs.authoring import Record

SEGMENTS: tuple[tuple[Segment, int], ...] = (("basic", 52), ("plus", 38), ("premier", 22))
"""How many grown-up customers each segment has."""

BALANCES: dict[Segment, tuple[int, int]] = {
    "basic": (60_00, 2_900_00),
    "plus": (700_00, 9_500_00),
    "premier": (4_000_00, 46_000_00),
}
OVERDRAFTS: dict[Segment, int] = {"basic": 300_00, "plus": 1_000_00, "premier": 3_000_00}
SALARIES: dict[Segment, tuple[int, int]] = {
    "basic": (1_700_00, 3_100_00),
    "plus": (3_000_00, 5_600_00),
    "premier": (6_100_00, 14_000_00),
}


@dataclass
class Home:
    """A customer's current account, its card, and the payments made from it."""

    person: Person
    acct: Acct
    card: Record
    payments: list[Record] = field(default_factory=list[Record])


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


def place_customers(w: BankWorld) -> list[Home]:
    """Customers of all segments, each with a current account and a card; some are near duplicates of another."""
    all_of_them: list[Segment] = [segment for segment, count in SEGMENTS for _ in range(count)]
    plan = w.rng.shuffled(all_of_them)
    homes: list[Home] = []
    for place, segment in enumerate(plan):
        surname = SURNAMES[place % len(SURNAMES)]
        kyc: KycStatus = "in_review" if place % 19 == 7 else "expired" if place % 23 == 11 else "verified"
        device = None if place % 17 == 5 else "trusted"
        alike = homes[place - len(SURNAMES)].person if place >= len(SURNAMES) and place % 3 == 0 else None
        if alike:
            person = w.lookalike(alike, segment=segment, kyc=kyc, device=device)
        else:
            city = HOMES[place % len(HOMES)].city if w.chance(0.5) else None
            person = w.customer(segment=segment, kyc=kyc, surname=surname, city=city, device=device)
        homes.append(place_home(w, person, opened_days=w.between(62, 88) if place % 15 == 4 else None))
    for home in homes[3::8]:
        w.device(home.person, status="new", minutes=w.between(60, 8_000))
    for home in homes[1::9]:
        w.device(home.person, status="revoked")
    for home in homes[6::12]:
        w.device(home.person, status="trusted", days=w.between(1, 30))
    return homes


def old(w: BankWorld, homes: list[Home], days: int) -> list[Home]:
    """Those whose account was opened longer ago."""
    return [home for home in homes if home.acct.account.opened_on < w.day(-days)]


def place_home(w: BankWorld, person: Person, *, opened_days: int | None) -> Home:
    """A current account with a card; now and then the card is new, or open for payments abroad."""
    low, high = BALANCES[person.segment]
    overdrawn = w.chance(0.1)
    acct = w.account(
        person,
        opened_days=opened_days,
        balance=-w.between(9_00, OVERDRAFTS[person.segment] // 2) if overdrawn else w.between(low, high),
        overdraft=OVERDRAFTS[person.segment] if overdrawn or w.chance(0.3) else 0,
    )
    abroad: Switch = w.pick("on", "off", "off")
    card = w.card(acct, abroad=abroad, cash_abroad="on" if abroad == "on" and w.chance(0.4) else "off")
    if w.chance(0.14):
        reason: ReplaceReason = w.pick("lost", "stolen", "damaged", "misused")
        card = w.card(acct, replaces=card, replace_reason=reason, issued_days=w.between(9, 55), abroad=abroad)
    return Home(person, acct, card)


def place_families(w: BankWorld, homes: list[Home]) -> None:
    """Young customers with guardians, joint owners with cards of their own, attorneys, and closed accounts."""
    parents = [home for home in homes if home.person.birth_date < "1993"]
    for place, home in enumerate(parents[2::8][:10]):
        age = (12, 13, 14, 15, 15, 16, 16, 17, 17, 18)[place % 10]
        child = w.customer(age=age, surname=home.person.surname, city=home.person.city, since=w.day(-480))
        acct = w.account(child, kind="youth", balance=w.between(15_00, 640_00))
        card = w.card(acct)
        w.mandate(acct, home.person, "guardian")
        w.incoming(acct, w.between(1, 4) * 10_00, f"{home.person.name}: pocket money", days=w.between(1, 20))
        for _ in range(3):
            pay(w, Home(child, acct, card))
    for home in homes[5::11]:
        other = w.pick(*(h.person for h in homes if h.person.id != home.person.id))
        w.mandate(home.acct, other, "joint_owner")
        w.card(home.acct, other)
    for place, home in enumerate(homes[8::14]):
        helper = w.pick(*(h.person for h in homes if h.person.id != home.person.id))
        until = (None, w.day(200), w.day(-40), None)[place % 4]
        status = "ended" if place % 4 == 3 else "active"
        scope: Scope = w.pick("view", "pay", "full")
        w.mandate(home.acct, helper, "attorney", scope=scope, valid_until=until, status=status)
    for home in homes[10::24]:
        gone = w.account(home.person, kind=w.pick("current", "savings"), status="closed")
        w.card(gone, status="expired", expires_in=-w.between(10, 300))


def pay(w: BankWorld, home: Home, shop: Shop | None = None, *, days: int | None = None) -> Record:
    """A card payment as usual at a shop; in another currency where the shop is abroad."""
    where = shop or w.pick(*SHOPS)
    low, high = where.usual
    cents, back = w.between(low, high), days if days is not None else w.between(1, 58)
    currency = FOREIGN.get(where.city)
    foreign = (currency, cents) if currency else None
    if currency:
        rate = w.rate(currency, w.day(-back)).millionths if back <= RATE_DAYS else CURRENCIES[currency]
        cents = policy.convert(Decimal(cents) / 100, rate)
    confirmed: Method = w.pick("online_confirmed", "online_plain")
    at_till: Method = w.pick("chip_pin", "contactless", "contactless", "swipe")
    online = where.trade in ("streaming", "software", "tickets", "flowers", "books", "electronics", "furniture")
    newer = home.card.replaces and w.day(-back) < home.card.issued_on
    entry = w.payment(
        home.acct,
        w.get(Card, home.card.replaces) if newer else home.card,
        cents,
        w.get(Merchant, where.id),
        method=confirmed if online else at_till,
        days=back,
        foreign=foreign,
    )
    home.payments.append(entry)
    return entry


def place_activity(w: BankWorld, homes: list[Home]) -> None:
    """Salaries, subscriptions, shopping and cash of the last weeks."""
    for home in homes:
        usual = [w.pick(*SHOPS) for _ in range(4)]
        low, high = SALARIES[home.person.segment]
        if w.chance(0.6):
            salary, employer = w.between(low, high), w.pick(*EMPLOYERS)
            for back in (19, 49):
                w.incoming(home.acct, salary, f"{employer}: salary", kind="salary", days=back)
        elif w.chance(0.5):
            w.incoming(home.acct, w.between(20_00, 380_00), w.pick(*SENDERS))
        for _ in range(w.between(2, 5)):
            pay(w, home, w.pick(*usual))
        if w.chance(0.2):
            w.cash(home.acct, home.card, w.between(2, 15) * 20_00)
    for home in [h for h in homes if not h.card.replaces][::10]:
        shop = w.pick(*(s for s in SHOPS if s.trade in ("streaming", "fitness", "software")))
        fixed = w.between(*shop.usual)
        for back in (7, 37):
            w.payment(home.acct, home.card, fixed, w.get(Merchant, shop.id), method="online_plain", days=back)
    for home in homes[4::15]:
        twice = pay(w, home, w.pick(*(s for s in SHOPS if s.city not in FOREIGN)), days=w.between(2, 30))
        later = w.after(twice.booked_at, minutes=w.between(3, 300))
        w.payment(
            home.acct,
            w.get(Card, twice.card_id),
            -twice.amount_cents,
            w.get(Merchant, twice.merchant_id),
            method=twice.method,
            at=later,
        )


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
        trade = w.pick("electronics", "clothing", "furniture", "tickets", "toys", "fitness")
        payment = pay(w, home, w.pick(*(s for s in SHOPS if s.trade == trade)), days=w.between(20, 58))
        age = w.between(2, 18)
        dispute = w.dispute(
            payment, text.reason, stage=text.stage, filed_days=age, credit=text.credit, evidence=text.evidence,
            respond_by=w.day(w.between(-3, 14)) if text.stage == "contested" else None,
        )  # fmt: skip
        if text.stage == "lost" and place % 3 == 0:
            w.compensation(
                home.acct, "write_off", dispute.credit_cents or w.odd_cents(7_00, 24_00), dispute=dispute, days=0
            )


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
            frozen = w.after(alert.raised_at, minutes=1)
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
        paid = policy.delay_compensation(took, home.person.segment)
        if paid:
            w.compensation(home.acct, "delay", paid, complaint=complaint, days=w.between(1, 5))
        if finding == "upheld" and place % 2:
            cents = policy.trouble_compensation(gravity, finding)
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
