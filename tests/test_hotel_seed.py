"""The hotel before and below its tasks: the seed meets the floors, and whatever a builder places is lawful."""

import sqlite3
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_envs.authoring import DomainError
from tb_envs.store.image import build_pages, build_seed
from tb_hotel import domain
from tb_hotel.models import Booking, Guest, InventoryNight, LoyaltyAccount, Payment
from tb_hotel.world import HotelWorld, nights_of

STATES = ["confirmed", "in_house", "checked_out", "no_show", "cancelled", "voided", "relocated"]


def a_world(index: int = 0) -> HotelWorld:
    return HotelWorld(
        domain.specs, stream=("hotel", "test", index), now=domain.clock, index=index, base=domain.seed_rows
    )


def broken_laws(image: bytes) -> dict[str, list]:
    raw = sqlite3.connect(":memory:")
    raw.deserialize(image)
    found = {name: raw.execute(statement).fetchmany(3) for name, statement in domain.laws.items()}
    found["foreign keys"] = raw.execute("PRAGMA foreign_key_check").fetchall()
    raw.close()
    return {name: rows for name, rows in found.items() if rows}


def placed_image(w: HotelWorld) -> bytes:
    raw = sqlite3.connect(":memory:")
    build_pages(domain.image, w).load(raw, domain.image)
    image = raw.serialize()
    raw.close()
    return image


def test_the_seed_meets_the_floors():
    rows = domain.seed_rows
    assert len(domain.specs) >= 16
    assert 2_500 <= sum(map(len, rows.values())) <= 4_500
    assert not [name for name, table in rows.items() if not table]
    assert len(rows["guests"]) >= 150
    assert len(rows["loyalty_accounts"]) >= 110
    assert len(rows["bookings"]) >= 170
    assert {row["status"] for row in rows["bookings"].values()} == set(STATES)


def test_the_seed_is_lawful():
    assert broken_laws(domain.image) == {}


def test_the_seed_has_the_same_bytes_twice():
    again = HotelWorld(domain.specs, stream=("hotel", "seed", 0), now=domain.clock)
    domain.seed(again)
    assert build_seed(domain.base, domain.specs, again) == domain.image


def test_first_hits_are_often_the_wrong_ones():
    guests, payments = domain.seed_rows["guests"].values(), domain.seed_rows["payments"].values()
    assert min(Counter(row["surname"] for row in guests).values()) >= 2
    assert min(Counter(row["city"] for row in guests).values()) >= 5
    assert Counter(row["card_ending"] for row in payments).most_common(1)[0][1] >= 10
    assert len({row["email"] for row in guests}) == len(guests)


def test_nothing_of_the_seed_lies_ahead_of_its_clock():
    ahead = [
        (name, row["id"], column)
        for name, table in domain.seed_rows.items()
        for row in table.values()
        for column in row
        if column.endswith("_at") and row[column] > domain.clock
    ]
    assert ahead == []


@settings(max_examples=25, deadline=None)
@given(
    index=st.integers(0, 10_000),
    calls=st.lists(
        st.tuples(
            st.sampled_from(STATES),
            st.sampled_from(["FLEX", "SEMI", "NRF", "CORP", "GRP"]),
            st.sampled_from(["standard", "gold", "platinum"]),
            st.sampled_from([None, "partner", "hotel"]),
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_whatever_is_built_is_lawful(index: int, calls: list[tuple[str, str, str, str | None]]):
    w = a_world(index)
    for status, plan, tier, collects in calls:
        guest = w.guest(tier=tier)  # type: ignore[arg-type]
        partner = w.partner(collects) if collects and plan in ("FLEX", "NRF") else None  # type: ignore[arg-type]
        group = w.group_block(w.lookalike(guest), contracted=w.between(11, 48), released=2) if plan == "GRP" else None
        stay = w.booking(
            guest,
            plan,
            status=status,  # type: ignore[arg-type]
            partner=partner,
            corporate=w.corporate_account() if plan == "CORP" else None,
            group=group,
            paid=w.pick("full", 0, 120_01, [90_00, 110_01]),
        )
        if stay.payments:
            w.refund(stay.payments[0], 1, "cancellation")
        if guest.account and stay.entry is None:
            w.loyalty_entry(stay, 1, 100, kind="correction")
        if status == "confirmed":
            w.sell_out(stay.booking.property_id, "STD", stay.booking.arrival, 2)
            w.make_free(stay.booking.property_id, "STD", stay.booking.arrival, 2, at_least=3)
    assert broken_laws(placed_image(w)) == {}


def test_a_booking_takes_its_rooms_and_bills_its_guest():
    w = a_world()
    night = w.day(9)
    key = f"LIS.DLX.{night}"
    before = w.get(InventoryNight, key).free
    w.make_free("LIS", "DLX", night, 1, at_least=before + 1)
    stay = w.booking(
        w.guest(tier="gold"), "FLEX", arrival=night, prices=[199_99, 201_01], property="LIS", room_type="DLX"
    )
    assert w.get(InventoryNight, key).free == before
    assert stay.total == stay.paid == 401_00
    assert stay.entry
    assert (stay.entry.nights, stay.entry.points, stay.entry.status) == (2, 4_010, "pending")
    assert [row.night for row in stay.nights] == nights_of(night, 2)
    assert w.all(Booking, guest_id=stay.guest.id)[0].id == stay.id


def test_a_posted_stay_raises_the_balance():
    w = a_world()
    guest = w.guest(tier="silver")
    w.booking(guest, "FLEX", status="checked_out", prices=[100_00, 100_99])
    [account] = w.all(LoyaltyAccount, guest_id=guest.id)
    assert (account.nights, account.points) == (2, 2_000)


@pytest.mark.parametrize("minutes", [24 * 60 - 1, 24 * 60, 24 * 60 + 1, 12 * 60, 72 * 60, 336 * 60])
def test_the_clock_can_be_set_to_the_minute_of_a_boundary(minutes: int):
    w = a_world()
    stay_arrival = w.arrival_in(minutes=minutes)
    stay = w.booking(w.guest(), "SEMI", arrival=stay_arrival)
    assert stay.notice(w.now).total_seconds() == minutes * 60
    assert f"{w.now:%Y-%m-%dT%H:%M:%SZ}" >= domain.clock
    with pytest.raises(DomainError):
        w.set_time(12)


def test_a_lookalike_differs_where_it_matters():
    w = a_world()
    guest = w.guest(first_name="Anna", surname="Falkner")
    other = w.lookalike(guest)
    assert (other.first_name, other.surname, other.city) == ("Anne", "Falkner", guest.city)
    assert other.id != guest.id and other.email != guest.email


def test_payments_come_in_order_and_never_after_now():
    w = a_world()
    stay = w.booking(w.guest(), "SEMI", total=600_00, nights=3, paid=[150_00, 250_00, 200_00])
    times = [payment.paid_at for payment in stay.payments]
    assert times == sorted(times) and len(set(times)) == 3
    assert stay.payment.amount_cents == 200_00
    assert all(payment.paid_at <= f"{w.now:%Y-%m-%dT%H:%M:%SZ}" for payment in w.all(Payment, folio_id=stay.folio.id))
    assert w.all(Guest, id=stay.guest.id)
