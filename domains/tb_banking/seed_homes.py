"""The bank's customers before any task: accounts, cards, devices, who acts for whom, and what they pay from day to day.

What comes out of it later (fees, disputes, cases) is placed by `tb_banking.seed`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from tb_banking import policy
from tb_banking.models import Card, Merchant
from tb_banking.models.kinds import KycStatus, Method, ReplaceReason, Scope, Segment, Switch
from tb_banking.seed_data import FOREIGN, SENDERS
from tb_banking.world import Acct, BankWorld, Person
from tb_banking.world.company import SHOPS, Shop
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


def pay(
    w: BankWorld,
    home: Home,
    shop: Shop | None = None,
    *,
    days: int | None = None,
    cents: int | None = None,
    method: Method | None = None,
) -> Record:
    """A card payment as usual at a shop, at any hour; in another currency where the shop is abroad."""
    where = shop or w.pick(*SHOPS)
    low, high = where.usual
    cents, back = cents or w.between(low, high), days or w.between(1, 58)
    currency = FOREIGN.get(where.city)
    foreign = (currency, cents) if currency else None
    if currency:
        cents = policy.convert(Decimal(cents) / 100, w.rate(currency, w.day(-back)).millionths)
    confirmed: Method = w.pick("online_confirmed", "online_plain")
    at_till: Method = w.pick("chip_pin", "contactless", "contactless", "swipe")
    online = where.trade in ("streaming", "software", "tickets", "flowers", "books", "electronics", "furniture")
    newer = home.card.replaces and w.day(-back) < home.card.issued_on
    entry = w.payment(
        home.acct,
        w.get(Card, home.card.replaces) if newer else home.card,
        cents,
        w.get(Merchant, where.id),
        method=method or (confirmed if online else at_till),
        at=f"{w.day(-back)}T{w.between(7, 21):02d}:{w.between(0, 59):02d}:00Z",
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
            w.cash(home.acct, home.card, w.between(2, 15) * 20_00, days=w.between(2, 8))
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
