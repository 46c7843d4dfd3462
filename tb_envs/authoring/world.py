"""The seeded world of one task: what a family places in the company's database, and the choices it makes.

The same class seeds the company itself (`Domain.seed`) and each task on top of it; a domain subclasses it with builders
in its own words (``w.guest(tier="gold")``). A world only collects rows: it never touches a database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from operator import itemgetter
from typing import Any, TypeVar

from tb_envs.authoring.models import TableSpec, table_of
from tb_envs.authoring.rng import Rng
from tb_envs.authoring.values import parse_time, show_time
from tb_envs.errors import DomainError

T = TypeVar("T")
Row = dict[str, Any]
FIRST_NEW_NUMBER = 90_001
"""Ids that an episode creates count up from here; placed rows stay below."""


class Record:
    """A placed row: its columns are its attributes."""

    def __init__(self, row: Row) -> None:
        self.__dict__ = row

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this row has no column {name!r}; columns: {', '.join(self.__dict__)}")


class SeedRows(dict[str, Mapping[str, Row]]):
    """A company's rows, table → id → row, found by any column too. They are all tasks' own: nobody changes them."""

    def __init__(self, rows: Mapping[str, Mapping[str, Row]]) -> None:
        super().__init__(rows)
        self._columns: dict[tuple[str, str], dict[Any, list[Row]]] = {}

    def column(self, table: str, name: str) -> Mapping[Any, Sequence[Row]]:
        """Each value that a column has → the rows that have it."""
        found = self._columns.get((table, name))
        if found is None:
            found = self._columns[table, name] = {}
            for row in self.get(table, {}).values():
                found.setdefault(row[name], []).append(row)
        return found

    def like(self, table: str, equal: Mapping[str, Any]) -> Sequence[Row]:
        """The rows whose columns have the given values."""
        if not equal:
            return list(self.get(table, {}).values())
        (first, value), *rest = equal.items()
        rows = self.column(table, first).get(value, ())
        return [row for row in rows if all(row[name] == value for name, value in rest)] if rest else rows


class World:
    """Rows and choices of one task (or of the seed), reproducible from its stream."""

    def __init__(
        self,
        specs: Mapping[str, TableSpec],
        *,
        stream: Sequence[object],
        now: str,
        index: int = 0,
        base: Mapping[str, Mapping[str, Row]] | None = None,
    ) -> None:
        self.specs = specs
        self.rng = Rng(*stream)
        self.index = index
        self.now: datetime = parse_time(now)
        self.placed: dict[str, dict[str, Row]] = {}
        self.edited: dict[str, dict[str, Row]] = {}
        self._base = base if isinstance(base, SeedRows) else SeedRows(base or {})
        self._stream = tuple(stream[:-1])
        self._cycles = 0

    # -- choices

    def pick(self, *options: T) -> T:
        """One of the options, at random."""
        return self.rng.pick(*options)

    def between(self, low: int, high: int) -> int:
        """An integer between two bounds, both included."""
        return self.rng.between(low, high)

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.rng.chance(probability)

    def cycle(self, *options: T) -> T:
        """One of the options, balanced: every block of ``len(options)`` consecutive indices gets each option once.

        Use it for outcome cells and for the sides of a boundary, so that a suite has them all.
        """
        self._cycles += 1
        block, place = divmod(self.index, len(options))
        return Rng(*self._stream, "cycle", self._cycles, block).shuffled(options)[place]

    # -- time

    @property
    def today(self) -> date:
        """The day of the frozen clock."""
        return self.now.date()

    def day(self, offset: int) -> str:
        """The date `offset` days from today, as text."""
        return (self.today + timedelta(days=offset)).isoformat()

    def moment(self, **offset: float) -> str:
        """The time `offset` (``hours=``, ``days=``, ``minutes=``) from now, as text."""
        return show_time(self.now + timedelta(**offset))

    # -- rows

    def insert(self, model: Any, **values: Any) -> Record:
        """Place a row; a missing `id` is drawn, other missing columns take the model's default or NULL."""
        spec = self._spec(model)
        unknown = set(values) - set(spec.columns)
        if unknown:
            raise DomainError(f"{spec.name} has no column {', '.join(sorted(unknown))}")
        if "id" not in values:
            values["id"] = self.new_id(model)
        row: Row = {**spec.defaults, **values}
        if self._find(spec.name, row["id"]) is not None:
            raise DomainError(f"{spec.name} {row['id']} is placed twice")
        self.placed.setdefault(spec.name, {})[row["id"]] = row
        return Record(row)

    def update(self, model: Any, key: str, **values: Any) -> Record:
        """Change columns of a placed or seeded row."""
        spec = self._spec(model)
        if key in self.placed.get(spec.name, {}):
            row = self.placed[spec.name][key]
        elif key in self.edited.get(spec.name, {}):
            row = self.edited[spec.name][key]
        elif key in self._base.get(spec.name, {}):
            row = self.edited.setdefault(spec.name, {}).setdefault(key, dict(self._base[spec.name][key]))
        else:
            raise DomainError(f"{spec.name} {key}: no such row to update")
        unknown = set(values) - set(row)
        if unknown:
            raise DomainError(f"{spec.name} has no column {', '.join(sorted(unknown))}")
        row.update(values)
        return Record(row)

    def get(self, model: Any, key: str) -> Record:
        """A placed or seeded row by id."""
        name = self._spec(model).name
        row = self._find(name, key)
        if row is None:
            raise DomainError(f"{name} {key}: no such row")
        return Record(row)

    def all(self, model: Any, **equal: Any) -> list[Record]:
        """All rows whose columns have the given values, placed and seeded, by id."""
        return [Record(row) for row in sorted(self._like(self._spec(model).name, equal), key=itemgetter("id"))]

    def taken(self, model: Any, column: str) -> set[Any]:
        """All values of a column, placed and seeded."""
        name = self._spec(model).name
        return {*self._base.column(name, column), *(row[column] for row in self.placed.get(name, {}).values())}

    def new_id(self, model: Any) -> str:
        """An unused id that looks like any other of its table."""
        spec = self._spec(model)
        if spec.prefix is None:
            raise DomainError(f"{spec.name} has natural ids: give `id=`")
        while True:
            key = f"{spec.prefix}-{self.rng.between(10_000, FIRST_NEW_NUMBER - 2)}"
            if self._find(spec.name, key) is None:
                return key

    def patch(self) -> tuple[list[tuple[str, Row]], list[tuple[str, Row]]]:
        """Rows to insert (parents first) and rows to update, in a fixed order."""
        inserts = [(name, row) for name in self.specs for row in self.placed.get(name, {}).values()]
        updates = [(name, self.edited[name][key]) for name in self.specs for key in sorted(self.edited.get(name, {}))]
        return inserts, updates

    def _spec(self, model: Any) -> TableSpec:
        name = model if isinstance(model, str) else table_of(model)
        if name not in self.specs:
            raise DomainError(f"table {name!r} is not of this domain")
        return self.specs[name]

    def _find(self, table: str, key: str) -> Row | None:
        for layer in (self.placed, self.edited, self._base):
            row = layer.get(table, {}).get(key)
            if row is not None:
                return dict(row) if layer is self._base else row
        return None

    def _like(self, table: str, equal: Mapping[str, Any]) -> Iterator[Row]:
        """Rows with these values; of one that is as it was seeded, a copy."""
        edited = self.edited.get(table, {})
        for layer in (self.placed.get(table, {}), edited):
            yield from (row for row in layer.values() if all(row[name] == value for name, value in equal.items()))
        for row in self._base.like(table, equal):
            if row["id"] not in edited:
                yield dict(row)
