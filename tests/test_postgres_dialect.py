"""What SQLite and PostgreSQL understand differently unless told, on a company made of such things."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, cast

import pytest
from postgres_server import url_or_skip
from pydantic import Field
from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, bindparam, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from tb_envs.authoring import Db, Identifier, Json, Toolset
from tb_envs.authoring.models import guarded
from tb_envs.authoring.world import World
from tb_envs.errors import ToolError
from tb_envs.session.local import LocalBackend
from tb_envs.session.postgres import open_postgres
from tb_envs.task import Task


@pytest.fixture(scope="module")
def url() -> str:
    return url_or_skip()


class Base(DeclarativeBase):
    pass


class Owner(Base):
    __tablename__ = "owners"
    __table_args__ = (guarded(prefix="OW"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str | None]


class Thing(Base):
    __tablename__ = "things"
    __table_args__ = (
        CheckConstraint("size <> 13", name="zz_no_thirteen"),
        CheckConstraint("size < 100", name="aa_small"),
        CheckConstraint("size <> 500"),
        UniqueConstraint("owner_id", "name"),
        UniqueConstraint("code", name="one_code"),
        guarded(prefix="TH"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("owners.id"))
    name: Mapped[str]
    code: Mapped[str | None]
    size: Mapped[int]
    weight: Mapped[float | None]
    order: Mapped[bool] = mapped_column(default=False)


THINGS, OWNERS = cast(Any, Thing.__table__), cast(Any, Owner.__table__)
_LIKE = select(OWNERS).where(OWNERS.c.name.contains(bindparam("part"))).order_by(OWNERS.c.id)
_BY_NAME = select(OWNERS).order_by(OWNERS.c.name, OWNERS.c.id.desc())
_BY_NAME_BACK = select(OWNERS).order_by(OWNERS.c.name.desc(), OWNERS.c.id)
_SUM = select(func.sum(THINGS.c.size).label("total"), func.avg(THINGS.c.size).label("mean"))
_AMONG = select(OWNERS.c.id).where(OWNERS.c.id.in_(bindparam("ids", expanding=True))).order_by(OWNERS.c.id)
_GROW = THINGS.update().values(size=THINGS.c.size + bindparam("by"))
odd = Toolset("odd", "Odd things.")
Whole = Annotated[int, Field(ge=-(10**30), le=10**30)]


@odd.read
def by_name(db: Db, part: str | None = None) -> Json:
    """Owners.

    Args:
        part: of the name.
    """
    rows = db.query(_LIKE, {"part": part}) if part else [*db.query(_BY_NAME), *db.query(_BY_NAME_BACK)]
    return {"items": [list(row) for row in rows]}


@odd.read
def figures(db: Db) -> Json:
    """Sums and lists."""
    [row] = db.query(_SUM)
    among = [row.id for row in db.query(_AMONG, {"ids": ["OW-1", "OW-3", "OW-9"]})]
    none = db.query(_AMONG, {"ids": []})
    return {"total": row.total, "mean": row.mean, "among": among, "none": none, "repr": repr(tuple(row))}


@odd.write
def add(db: Db, owner_id: Identifier, name: str, size: Whole, code: str | None = None, key: str | None = None) -> Json:
    """Add a thing.

    Args:
        owner_id: whose.
        name: how it is called.
        size: how large.
        code: its code.
        key: its id.
    """
    more = {"id": key} if key else {}
    values = {"owner_id": owner_id, "name": name, "code": code, "size": size, "weight": size % 7 + 0.5, "order": True}
    return {"thing": list(db.insert(Thing, **more, **values))}


@odd.write
def grow(db: Db, by: Whole) -> Json:
    """Grow all things, or rename the owners if that cannot be.

    Args:
        by: how much.
    """
    db.insert(Owner, name="before")
    try:
        db.write(_GROW, {"by": by})
    except ToolError as error:
        db.insert(Owner, name=str(error))
    return {"owner": db.insert(Owner, name="after").id}


@odd.write
def spoil(db: Db, how: Literal["nothing", "name", "gone", "raw"]) -> Json:
    """Break a rule.

    Args:
        how: which.
    """
    db.insert(Owner, name="spoilt")
    if how == "name":
        db.insert(Thing, owner_id="OW-1", name=None, code=None, size=1, weight=None)
    elif how == "gone":
        db.delete(Owner, "OW-1")
    elif how == "raw":
        db.insert(Owner, name="\ud800")
    return {}


def odd_seed(w: World) -> None:
    for number, name in enumerate([None, "b\\c", "É", "a%", "B_", "e", "Ab", None], 1):
        w.insert(Owner, id=f"OW-{number}", name=name)
    for number in range(1, 5):
        w.insert(Thing, id=f"TH-{number}", owner_id=f"OW-{number}", name="it's", code=None, size=number, weight=0.5)


def odd_task() -> Task:
    from toy_house import HOUSE, task_of

    from tb_envs.authoring.domain import Domain

    domain = Domain(**{name: getattr(HOUSE, name) for name in ("title", "role", "package", "vocabulary", "world",
                    "clock", "teams", "proofs")}, name="odd", base=Base, toolsets=[odd], seed=odd_seed)  # fmt: skip
    world = World(domain.specs, stream=("odd", 0), now=domain.clock, base=domain.seed_rows)
    world.insert(Owner, id="OW-9", name="the task's")
    world.update(Owner, "OW-6", name="E")
    like = task_of()
    return Task("odd/odd/0", domain, like.family, 0, like.scenario, world, domain.clock)


SIZES = (13, 500, 101, 2**31, 2**63, -(2**70))
ODD: list[tuple[str, dict[str, Any]]] = [
    ("by_name", {}),
    *(("by_name", {"part": part}) for part in ("b\\", "\\", "%", "_", "É", "é", "AB", "'", "x\x00y", "\ud800", "")),
    ("figures", {}),
    ("add", {"owner_id": "OW-1", "name": "new", "size": 5, "code": "c"}),
    ("add", {"owner_id": "OW-2", "name": "new\x00 and \ud800 'quoted' \\ %s $1 😀", "size": 6}),
    ("add", {"owner_id": "OW-1", "name": "new", "size": 5}),
    ("add", {"owner_id": "OW-3", "name": "other", "size": 5, "code": "c"}),
    ("add", {"owner_id": "OW-3", "name": "other", "size": 5, "key": "TH-1"}),
    ("add", {"owner_id": "OW-77", "name": "other", "size": 5}),
    *(("add", {"owner_id": "OW-3", "name": f"n {size}", "size": size}) for size in SIZES),
    ("add", {"owner_id": "OW-3", "name": "long" * 600, "size": -(2**40)}),
    ("grow", {"by": 1}),
    ("grow", {"by": 200}),
    *(("spoil", {"how": how}) for how in ("nothing", "name", "gone", "raw")),
    ("by_name", {}),
    ("figures", {}),
]  # fmt: skip


def test_what_the_databases_understand_differently_is_settled(url: str) -> None:
    task = odd_task()

    async def both() -> None:
        one, other = LocalBackend(task), await open_postgres(task, {"store": url})
        assert repr(other.dump()) == repr(one.dump())
        for tool, arguments in ODD:
            before = one.dump()
            expected, found = await one.call(tool, arguments), await other.call(tool, arguments)
            assert (found.text, found) == (expected.text, expected), (tool, str(arguments)[:200])
            assert repr(other.take_changes()) == repr(one.take_changes()), (tool, str(arguments)[:200])
            assert repr(other.dump()) == repr(one.dump()), (tool, str(arguments)[:200])
            assert expected.ok or one.dump() == before
        endless = {
            "owner_id": "OW-3",
            "name": "".join(map(chr, range(0x4E00, 0x9E00))),
            "size": 1,
        }  # an index has limits
        assert "a text is too long" in (await other.call("add", endless)).text
        assert repr(other.dump()) == repr(one.dump())
        one.close()
        other.close()

    asyncio.run(both())
