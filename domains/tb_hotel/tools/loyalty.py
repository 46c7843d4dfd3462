"""Halden Circle: the guests' loyalty accounts."""

from tb_envs.authoring import Count, Db, Identifier, Json, Toolset, require
from tb_envs.parts.views import Search, core_table, equal, table_viewer
from tb_hotel.models import Booking, LoyaltyAccount, LoyaltyEntry

from ._kinds import AddedEntryKind, PageNumber, Points

loyalty = Toolset("loyalty", "Loyalty accounts and their entries.")

ENTRIES = core_table(LoyaltyEntry)

_account_view = table_viewer("loyalty_account", LoyaltyAccount)
_entry_view = table_viewer("loyalty_entry", LoyaltyEntry)
_ENTRIES = Search(
    source=ENTRIES,
    view=_entry_view,
    order=[ENTRIES.c.id],
    filters=equal(ENTRIES, "loyalty_account_id", "booking_id"),
    owners={"loyalty_account_id": LoyaltyAccount, "booking_id": Booking},
)


@loyalty.read
def get_loyalty_account(db: Db, loyalty_account_id: Identifier) -> Json:
    """A loyalty account: its guest, tier, the day it was opened, and the balance of nights and points.

    Args:
        loyalty_account_id: the account, e.g. `LA-60411`, as in the guest's profile.
    """
    return _account_view(db.one(LoyaltyAccount, loyalty_account_id))


@loyalty.read
def list_loyalty_entries(
    db: Db, loyalty_account_id: Identifier, booking_id: Identifier | None = None, page: PageNumber = 1
) -> Json:
    """Nights and points written to an account. Only entries of status `posted` are in the balance.

    Args:
        loyalty_account_id: the account, e.g. `LA-60411`.
        booking_id: only entries for this booking.
        page: which page of 5 entries, from 1.
    """
    return _ENTRIES.page(db, page, loyalty_account_id=loyalty_account_id, booking_id=booking_id)


@loyalty.write
def add_loyalty_entry(
    db: Db, loyalty_account_id: Identifier, booking_id: Identifier, kind: AddedEntryKind, nights: Count, points: Points
) -> Json:
    """Post nights and points to a loyalty account, for a booking of its guest. The balance rises by them.

    Args:
        loyalty_account_id: the account, e.g. `LA-60411`.
        booking_id: the booking they are for, e.g. `BK-20418`.
        kind: what the entry is.
        nights: how many nights, 0 or more.
        points: how many points, 0 or more.
    """
    account, booking = db.one(LoyaltyAccount, loyalty_account_id), db.one(Booking, booking_id)
    require(
        booking.guest_id == account.guest_id,
        f"`booking_id`: {booking_id} is not a booking of the guest of account {loyalty_account_id}.",
    )
    require(nights or points, "`nights` and `points` are both 0; give at least one of them.")
    db.update(LoyaltyAccount, account.id, nights=account.nights + nights, points=account.points + points)
    entry = db.insert(
        LoyaltyEntry,
        loyalty_account_id=account.id,
        booking_id=booking.id,
        kind=kind,
        nights=nights,
        points=points,
        status="posted",
        created_at=db.now_text,
    )
    return _entry_view(entry)
