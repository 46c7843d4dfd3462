"""How rows look to an agent: ``booking_id`` for `id`, dollars for cents; and lists, whole or page by page.

Refuses to know what a row means: a domain names the thing and chooses the columns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Integer, Select, Table, bindparam, func, select

from tb_envs.authoring import Db, Json, show_money
from tb_envs.store.db import Found

PAGE_ROWS = 5

View = Callable[[Found], Json]


def core_table(model: Any) -> Table:
    """The table of a model, for statements that know nothing of the ORM."""
    return model.__table__


def viewer(thing: str, columns: Iterable[str]) -> View:
    """A function that shows rows which begin with these columns: `id` as `<thing>_id`, `x_cents` as dollars in `x`."""
    names = list(columns)
    keys = [f"{thing}_id" if name == "id" else name.removesuffix("_cents") for name in names]
    money = [key for key, name in zip(keys, names, strict=True) if name.endswith("_cents")]

    def view(row: Found) -> Json:
        shown: Json = dict(zip(keys, row, strict=False))
        for key in money:
            shown[key] = show_money(shown[key])
        return shown

    return view


def table_viewer(thing: str, model: Any) -> View:
    """A function that shows every column of a model's rows."""
    return viewer(thing, model.__table__.columns.keys())


def listed(rows: Sequence[Found], view: View) -> Json:
    """A list that is never long, whole."""
    return {"items": [view(row) for row in rows], "total": len(rows)}


@dataclass(frozen=True, eq=False)
class Search:
    """A list that agents read page by page, with one statement for each set of filters that was ever given.

    Attributes:
        source: the table, or the columns, to read.
        view: how a row is shown.
        order: the order of rows, without ties.
        filters: name → condition on a bound value of that name; all that are given must hold.
        owners: name of a filter → model whose id it takes; an unknown id is an error, not an empty list.
    """

    source: FromClause | Sequence[ColumnElement[Any]]
    view: View
    order: Sequence[ColumnElement[Any]]
    filters: Mapping[str, ColumnElement[bool]]
    owners: Mapping[str, Any] = field(default_factory=dict[str, Any])
    _statements: dict[tuple[str, ...], Select[Any]] = field(default_factory=dict[tuple[str, ...], Select[Any]])

    def page(self, db: Db, number: int, **wanted: Any) -> Json:
        """One page of the rows that match every filter which is not None."""
        given = {name: value for name, value in wanted.items() if value is not None}
        rows = self._rows(db, given, number)
        total = rows[0].rows_in_all if rows else self._count(db, given, number)
        pages = max(1, -(-total // PAGE_ROWS))
        return {"items": [self.view(row) for row in rows], "page": number, "pages": pages, "total": total}

    def _count(self, db: Db, given: Mapping[str, Any], number: int) -> int:
        rows = self._rows(db, given, 1) if number > 1 else []
        if rows:
            return rows[0].rows_in_all
        for name, value in given.items():
            if name in self.owners:
                db.one(self.owners[name], value)
        return 0

    def _rows(self, db: Db, given: Mapping[str, Any], number: int) -> list[Found]:
        names = tuple(given)
        if names not in self._statements:
            self._statements[names] = self._build(names)
        return db.query(self._statements[names], {**given, "rows_before": (number - 1) * PAGE_ROWS})

    def _build(self, names: tuple[str, ...]) -> Select[Any]:
        columns = [self.source] if isinstance(self.source, FromClause) else list(self.source)
        return (
            select(*columns, func.count().over().label("rows_in_all"))
            .where(*(self.filters[name] for name in names))
            .order_by(*self.order)
            .limit(PAGE_ROWS)
            .offset(bindparam("rows_before", type_=Integer))
        )


def equal(table: FromClause, *names: str) -> dict[str, ColumnElement[bool]]:
    """Filters that compare columns with values of the same name."""
    return {name: table.c[name] == bindparam(name) for name in names}
