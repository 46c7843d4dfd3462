"""The bank before and below its tasks: the seed meets the floors, and whatever a builder places is lawful."""

import sqlite3
from collections import Counter
from datetime import date, timedelta
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_banking import policy
from tb_banking.laws import LAWS
from tb_banking.models import Base, Card, Device, Dispute, Entry, Fee, Limit, Rate, StandingOrder, kinds
from tb_banking.seed import seed
from tb_banking.world import CLOCK, BankWorld
from tb_banking.world.company import CURRENCIES, RATE_DAYS
from tb_envs.authoring import DomainError
from tb_envs.authoring.models import table_specs
from tb_envs.store.image import build_pages, build_seed

SPECS = table_specs(Base)


def seeded() -> BankWorld:
    w = BankWorld(SPECS, stream=("banking", "seed", 0), now=CLOCK)
    seed(w)
    return w


SEED = seeded()
ROWS = {name: SEED.placed.get(name, {}) for name in SPECS}
IMAGE = build_seed(Base, SPECS, SEED)


def a_world(index: int = 0) -> BankWorld:
    return BankWorld(SPECS, stream=("banking", "test", index), now=CLOCK, index=index, base=ROWS)


def broken_laws(image: bytes) -> dict[str, list]:
    raw = sqlite3.connect(":memory:")
    raw.deserialize(image)
    found = {name: raw.execute(statement).fetchmany(3) for name, statement in LAWS.items()}
    found["foreign keys"] = raw.execute("PRAGMA foreign_key_check").fetchall()
    raw.close()
    return {name: rows for name, rows in found.items() if rows}


def placed_image(w: BankWorld) -> bytes:
    raw = sqlite3.connect(":memory:")
    build_pages(IMAGE, w).load(raw, IMAGE)
    image = raw.serialize()
    raw.close()
    return image


def test_the_seed_meets_the_floors():
    assert 2_000 <= sum(map(len, ROWS.values())) <= 4_500
    assert not [name for name, table in ROWS.items() if not table]
    assert len(ROWS["customers"]) >= 100
    assert len(ROWS["entries"]) >= 900
    assert len(IMAGE) <= 600 * 1024


@pytest.mark.parametrize(
    ("table", "column", "values"),
    [
        ("customers", "segment", kinds.Segment),
        ("customers", "kyc_status", kinds.KycStatus),
        ("devices", "status", kinds.DeviceStatus),
        ("mandates", "role", kinds.MandateRole),
        ("mandates", "status", kinds.MandateStatus),
        ("accounts", "kind", kinds.AccountKind),
        ("accounts", "status", kinds.AccountStatus),
        ("entries", "kind", kinds.EntryKind),
        ("entries", "method", kinds.Method),
        ("holds", "kind", kinds.HoldKind),
        ("fees", "kind", kinds.FeeKind),
        ("deposits", "status", kinds.DepositStatus),
        ("cards", "status", kinds.CardStatus),
        ("disputes", "stage", kinds.DisputeStage),
        ("disputes", "reason", kinds.DisputeReason),
        ("disputes", "credit", kinds.Credit),
        ("alerts", "status", kinds.AlertStatus),
        ("transfers", "rail", kinds.Rail),
        ("transfers", "status", kinds.TransferStatus),
        ("transfers", "payee_check", kinds.PayeeCheck),
        ("standing_orders", "status", kinds.OrderStatus),
        ("complaints", "gravity", kinds.Gravity),
        ("complaints", "finding", kinds.ComplaintFinding),
        ("compensations", "kind", kinds.CompensationKind),
        ("cases", "stage", kinds.Stage),
        ("contact_notes", "kind", kinds.NoteKind),
    ],
)
def test_every_state_is_there_to_be_met(table: str, column: str, values: object):
    assert {row[column] for row in ROWS[table].values()} == set(get_args(values))


def test_the_seed_is_lawful():
    assert broken_laws(IMAGE) == {}


def test_the_seed_has_the_same_bytes_twice():
    assert build_seed(Base, SPECS, seeded()) == IMAGE


def test_first_hits_are_often_the_wrong_ones():
    customers, cards = ROWS["customers"].values(), ROWS["cards"].values()
    assert min(Counter(row["surname"] for row in customers).values()) >= 2
    assert min(Counter(row["city"] for row in customers).values()) >= 5
    assert Counter(row["ending"] for row in cards).most_common(1)[0][1] >= 8
    orders = Counter((row["account_id"], row["payee_id"]) for row in ROWS["standing_orders"].values())
    assert orders.most_common(1)[0][1] >= 2


def test_what_must_be_unique_is():
    for table, column in (("customers", "email"), ("customers", "phone"), ("accounts", "number")):
        values = [row[column] for row in ROWS[table].values()]
        assert len(set(values)) == len(values), (table, column)
    names = [(row["statement_name"], row["trading_name"]) for row in ROWS["merchants"].values()]
    assert all(shown.casefold() != known.casefold() for shown, known in names)
    assert len({shown for shown, _ in names}) == len(names)


def test_nothing_of_the_seed_lies_ahead_of_its_clock():
    ahead = [
        (name, row["id"], column)
        for name, table in ROWS.items()
        for row in table.values()
        for column in row
        if column.endswith("_at") and row[column] and row[column] > CLOCK
    ]
    assert ahead == []


def test_nothing_happens_on_an_account_or_a_card_before_it_is_there():
    accounts, cards, entries = ROWS["accounts"], ROWS["cards"], ROWS["entries"].values()
    for entry in entries:
        assert entry["booked_at"][:10] >= accounts[entry["account_id"]]["opened_on"], entry
        if entry["card_id"]:
            assert entry["booked_at"][:10] >= cards[entry["card_id"]]["issued_on"], entry
            frozen = cards[entry["card_id"]]["frozen_at"]
            assert frozen is None or entry["booked_at"] <= frozen, entry


def test_a_payment_abroad_is_worth_what_its_day_says():
    abroad = [row for row in ROWS["entries"].values() if row["foreign_currency"]]
    assert len(abroad) >= 40
    for row in abroad:
        rate = ROWS["rates"][f"{row['foreign_currency']}.{row['booked_at'][:10]}"]["millionths"]
        assert abs(-row["amount_cents"] * 10_000 - float(row["foreign_amount"]) * rate) <= 5_001


def test_there_is_a_rate_for_every_day_of_the_last_weeks():
    today = date.fromisoformat(CLOCK[:10])
    days = {(today - timedelta(days=back)).isoformat() for back in range(RATE_DAYS + 1)}
    assert set(ROWS["rates"]) == {f"{currency}.{day}" for currency in CURRENCIES for day in days}


@settings(max_examples=25, deadline=None)
@given(
    index=st.integers(0, 10_000),
    calls=st.lists(
        st.tuples(
            st.sampled_from(get_args(kinds.Segment)),
            st.sampled_from(get_args(kinds.DisputeStage)),
            st.sampled_from(get_args(kinds.TransferStatus)),
            st.sampled_from(get_args(kinds.DepositStatus)),
            st.sampled_from(["active", "frozen", "expired"]),
            st.booleans(),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_whatever_is_built_is_lawful(index: int, calls: list[tuple]):
    w = a_world(index)
    for segment, stage, state, deposit, card_status, flag in calls:
        person = w.customer(segment=segment, device="trusted" if flag else None)
        other = w.lookalike(person)
        acct = w.account(person, balance=w.between(-200_00, 5_000_00), opened_days=900)
        card = w.card(acct, status=card_status)
        payment = w.payment(acct, card, w.odd_cents(3_00, 900_00), foreign=("EUR", 12_34) if flag else None)
        failed = stage in ("lost", "withdrawn")
        credit: kinds.Credit = w.pick("none", "taken_back" if failed else "given")
        dispute = w.dispute(payment, "fraud", stage=stage, credit=credit)
        w.payment(acct, card, 5_01, status="pending")
        w.card(acct, replaces=card, replace_reason="misused")
        w.card(acct, other)
        w.alert(payment, "high", status="open" if flag else "fraud")
        w.transfer(acct, w.payee(person), 77_77, status=state, rail="instant" if state == "completed" else "standard")
        w.order(acct, w.payee(person), 50_00, next_on=w.workday(2))
        w.fee(
            acct, "overdraft", 30_01, entry=payment, reversed=15_01 if flag else 0, reason="goodwill" if flag else None
        )
        w.deposit(acct, 900_00, status=deposit, months=6, penalty=1_00 if deposit == "broken" else None)
        w.hold(acct, 44_00, merchant=w.merchant("hotel"), status="active" if flag else "released")
        entry = w.incoming(acct, 81_00, "Somebody: something")
        if flag:
            w.sent_back(entry)
            w.passcode(person)
        complaint = w.complaint(acct, answered_on=w.day(-3) if flag else None)
        w.compensation(acct, "delay", 5_00, complaint=complaint)
        w.compensation(acct, "write_off", 5_00, dispute=dispute)
        w.remark(w.case(person, "fee", acct), "Customer called.")
        w.mandate(acct, other, "attorney")
        w.desk_answers(acct, "limit", "granted" if flag else None)
        w.rate("EUR", w.day(-3), 1_100_000)
        w.set_balance(acct, 1_234_56)
        assert acct.balance.booked_cents == 1_234_56
    assert broken_laws(placed_image(w)) == {}


def test_what_stands_on_an_account_stays_whatever_is_placed_in_its_past():
    w = a_world()
    acct = w.account(w.customer(), balance=500_00)
    card = w.card(acct)
    w.payment(acct, card, 120_01)
    w.incoming(acct, 3_000_00, "Employer: salary", kind="salary")
    w.fee(acct, "monthly", 4_00)
    w.hold(acct, 30_00)
    assert (acct.balance.booked_cents, acct.balance.held_cents) == (500_00, 30_00)
    assert acct.balance.opening_cents == 500_00 + 120_01 - 3_000_00 + 4_00


def test_a_customer_has_a_device_of_long_ago_and_its_code():
    w = a_world()
    person = w.customer(first_name="Nina", surname="Osei", segment="plus")
    device = w.get(Device, person.device.id)
    assert device.status == "trusted" and device.registered_at <= w.day(-90)
    assert len(person.device.code) == 6 and person.device.code.isdigit()
    assert w.person(person.id).device.code == person.device.code
    nobody = w.customer(device=None)
    with pytest.raises(DomainError):
        _ = nobody.device
    new = w.device(nobody, status="new", days=1, code="123456")
    assert (new.code, new.record.customer_id) == ("123456", nobody.id)


def test_limits_are_those_of_the_segment_unless_said():
    w = a_world()
    acct = w.account(w.customer(segment="premier"), limits={"daily_cash": 700_00})
    assert {row.kind for row in w.all(Limit, account_id=acct.id)} == set(get_args(kinds.LimitKind))
    assert w.get(Limit, f"{acct.id}.daily_cash").amount_cents == 700_00
    w.limit(acct, "daily_cash", 900_00, until=w.day(4))
    assert w.get(Limit, f"{acct.id}.daily_cash").until == w.day(4)


def test_a_replacement_ends_the_card_before_it():
    w = a_world()
    acct = w.account(w.customer())
    old = w.card(acct, ending="4821")
    new = w.card(acct, replaces=old, replace_reason="lost")
    assert (w.get(Card, old.id).status, w.get(Card, old.id).replace_reason) == ("replaced", "lost")
    assert new.replaces == old.id and new.ending != "4821"
    with pytest.raises(DomainError):
        w.card(acct, status="replaced")


def test_days_and_minutes_are_exact():
    w = a_world()
    acct = w.account(w.customer())
    card = w.card(acct)
    assert w.payment(acct, card, 1_00, days=60).booked_at[:10] == w.day(-60)
    first = w.payment(acct, card, 1_00, minutes=95)
    assert first.booked_at == w.moment(minutes=-95)
    assert w.after(first.booked_at, minutes=31) == w.moment(minutes=-64)
    transfer = w.transfer(acct, w.payee(acct.holder), 5_00, status="pending", minutes=24 * 60)
    assert transfer.made_at == w.moment(hours=-24)


@pytest.mark.parametrize("hour", [0, 5, 14, 23])
@pytest.mark.parametrize("count", [1, 2, 5, 10, 15, 16])
def test_working_days_are_those_of_the_handbook(hour: int, count: int):
    w = a_world()
    w.set_time(hour)
    assert f"{w.now:%Y-%m-%dT%H:%M:%SZ}" >= CLOCK
    back, ahead = (date.fromisoformat(w.workday(offset)) for offset in (-count, count))
    assert policy.working_days_between(back, w.today) == count == policy.working_days_between(w.today, ahead)
    assert back.weekday() < 5 and ahead.weekday() < 5
    placed = w.account(w.customer(), opened_days=30)
    with pytest.raises(DomainError):
        w.set_time(9)
    assert w.incoming(placed, 1_00, "x", days=3).booked_at[:10] == w.day(-3)


def test_somebody_is_as_old_as_said():
    w = a_world()
    for years, in_days, minor in ((18, 0, False), (18, 1, True), (18, -1, False)):
        child = w.customer(birth_date=w.birthday(years, in_days))
        assert policy.is_minor(date.fromisoformat(child.birth_date), w.today) is minor
    born = date.fromisoformat(w.customer(age=40).birth_date)
    assert (w.today - born).days // 365 == 40


def test_a_lookalike_differs_where_it_matters():
    w = a_world()
    person = w.customer(first_name="Alice", surname="Dray")
    other = w.lookalike(person)
    assert (other.first_name, other.surname, other.city) == ("Alicia", "Dray", person.city)
    assert other.id != person.id and other.email != person.email and other.phone != person.phone


def test_builders_refuse_what_could_not_be():
    w = a_world()
    acct, elsewhere = w.account(w.customer()), w.account(w.customer())
    card = w.card(acct)
    pending = w.payment(acct, card, 9_00, status="pending")
    posted = w.payment(acct, card, 9_00)
    payee = w.payee(acct.holder)
    w.dispute(posted, "fraud")
    for wrong in (
        lambda: w.payment(elsewhere, card, 9_00),
        lambda: w.dispute(pending, "fraud"),
        lambda: w.dispute(posted, "duplicate"),
        lambda: w.dispute(w.payment(acct, card, 1_00), "fraud", stage="lost", credit="given"),
        lambda: w.dispute(w.payment(acct, card, 1_00), "fraud", credit="taken_back"),
        lambda: w.transfer(acct, payee, 1_00, rail="instant", status="pending"),
        lambda: w.fee(acct, "monthly", 4_00, reversed=4_00),
        lambda: w.mandate(acct, acct.holder, "attorney"),
        lambda: w.mandate(acct, elsewhere.holder, "guardian"),
        lambda: w.deposit(acct, 1_00, status="broken"),
        lambda: w.complaint(acct, finding="upheld"),
        lambda: w.passcode(acct.holder, elsewhere.holder.device),
    ):
        with pytest.raises(DomainError):
            wrong()
    assert len(w.all(Dispute, account_id=acct.id)) == 1
    assert not w.all(StandingOrder, account_id=acct.id) and not w.all(Fee, account_id=acct.id)
    assert w.all(Entry, account_id=acct.id) and w.all(Rate, currency="EUR")
