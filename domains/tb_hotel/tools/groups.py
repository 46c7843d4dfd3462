"""Companies that send travellers, and rooms held for groups."""

from sqlalchemy import String, bindparam, func, select

from tb_envs.authoring import Db, Identifier, Json, Toolset, Words, require
from tb_envs.parts.views import Search, core_table, equal, table_viewer, viewer
from tb_hotel.models import CorporateAccount, Folio, GroupBlock, Guest, Property

from ._inventory import Nights, night_count, unblock
from ._kinds import PageNumber, Rooms

groups = Toolset("groups", "Corporate accounts and group blocks.")

BLOCKS, FOLIOS = core_table(GroupBlock), core_table(Folio)

_BRIEF = ["id", "name", "property_id", "organiser_id", "arrival", "departure", "status"]
_BLOCKS = Search(
    source=[BLOCKS.c[name] for name in _BRIEF],
    view=viewer("group_block", _BRIEF),
    order=[BLOCKS.c.id],
    filters={
        **equal(BLOCKS, "property_id", "organiser_id"),
        # No LIKE: SQLite prepares a LIKE on a bound pattern anew for each value, which costs a millisecond.
        "name": func.replace(func.lower(BLOCKS.c.name), bindparam("name", type_=String), "")
        != func.lower(BLOCKS.c.name),
    },
    owners={"property_id": Property, "organiser_id": Guest},
)
_MASTER_FOLIO = (
    select(FOLIOS.c.id)
    .where(FOLIOS.c.group_block_id == BLOCKS.c.id, FOLIOS.c.kind == "group_master")
    .order_by(FOLIOS.c.id)
    .limit(1)
    .correlate(BLOCKS)
    .scalar_subquery()
)
_BLOCK = select(BLOCKS, _MASTER_FOLIO.label("folio_id")).where(BLOCKS.c.id == bindparam("group_block_id"))

_company_view = table_viewer("corporate_account", CorporateAccount)
_block_view = viewer("group_block", _BLOCK.selected_columns.keys())


def _part_of_name(name: str) -> str:
    """The words to look for, as names are compared; never a pattern."""
    require(any(c.isalnum() for c in name), f"`name`: {name[:40]!r} has no letter or digit; give a part of the name.")
    return name.strip().lower()


def _shown(db: Db, group_block_id: str) -> Json:
    rows = db.query(_BLOCK, {"group_block_id": group_block_id})
    block = rows[0] if rows else db.one(GroupBlock, group_block_id)
    return {**_block_view(block), "nights": night_count(block.arrival, block.departure)}


@groups.read
def get_corporate_account(db: Db, corporate_account_id: Identifier) -> Json:
    """A company: discount on the public price, what it pays for its travellers, from when until when (both included).

    Args:
        corporate_account_id: the account, e.g. `CO-1007`, as in the booking.
    """
    return _company_view(db.one(CorporateAccount, corporate_account_id))


@groups.read
def search_group_blocks(
    db: Db,
    name: Words | None = None,
    property_id: Identifier | None = None,
    organiser_id: Identifier | None = None,
    page: PageNumber = 1,
) -> Json:
    """Find group blocks that match all the given values; without any, all blocks.

    Args:
        name: a part of the group's name; capitals do not matter.
        property_id: blocks at this property, e.g. `LIS`.
        organiser_id: blocks of this organiser, who is a guest, e.g. `GS-10231`.
        page: which page of 5 blocks, from 1.
    """
    pattern = _part_of_name(name) if name else None
    return _BLOCKS.page(db, page, name=pattern, property_id=property_id, organiser_id=organiser_id)


@groups.read
def get_group_block(db: Db, group_block_id: Identifier) -> Json:
    """A group block: rooms contracted, picked up, released and held, cut-off date, room price per night, nights, folio.

    Args:
        group_block_id: the block, e.g. `GB-7003`.
    """
    return _shown(db, group_block_id)


@groups.write
def release_group_rooms(db: Db, group_block_id: Identifier, rooms: Rooms) -> Json:
    """Return held rooms of an open group block to sale, on every night of the block. Moves no money.

    Args:
        group_block_id: the block, e.g. `GB-7003`.
        rooms: how many rooms are released now.
    """
    block = db.one(GroupBlock, group_block_id)
    require(block.status == "open", f"Group block {group_block_id} is {block.status}; only an open one releases rooms.")
    require(rooms <= block.held, f"`rooms`: group block {group_block_id} holds {block.held} rooms.")
    unblock(db, block.property_id, block.room_type_id, Nights(block.arrival, block.departure), rooms)
    db.update(GroupBlock, block.id, held=block.held - rooms, released=block.released + rooms)
    return _shown(db, block.id)
