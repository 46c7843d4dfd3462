"""How a domain's SQLAlchemy models say what grading may do with their tables. Knows nothing of any domain.

A table is *guarded* (nothing but the expected changes), *narrative* (further rows about the task's own customer are
welcome) or *derived* (written only as the cascade of another table's change, held by the domain's laws and not graded).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from sqlalchemy import Table
from sqlalchemy.orm import DeclarativeBase, MappedColumn, mapped_column

from tb_envs.errors import DomainError

Role = Literal["guarded", "narrative", "derived"]


def guarded(prefix: str | None = None, *, revisable: bool = False) -> dict[str, Any]:
    """Table options: rows change only as a task expects.

    Args:
        prefix: two letters that new ids begin with (``BK`` gives ``BK-90001``); None for natural ids.
        revisable: whether a row may pass through other values before its right end (a ticket may; a payment may not).
    """
    return {"info": {"role": "guarded", "prefix": prefix, "revisable": revisable}}


def narrative(
    prefix: str | None = None, *, about: str, only: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Table options: an agent may add rows freely as long as column `about` names the task's own customer.

    Args:
        prefix: of new ids.
        about: the column that names the customer.
        only: column → values that are free to write; rows with others must be expected, as in a guarded table.
    """
    return {"info": {"role": "narrative", "prefix": prefix, "about": about, "only": dict(only or {})}}


def derived(prefix: str | None = None) -> dict[str, Any]:
    """Table options: no tool writes it directly; its rows follow from other tables and are not graded."""
    return {"info": {"role": "derived", "prefix": prefix}}


def free(*args: Any, **kwargs: Any) -> MappedColumn[Any]:
    """A `mapped_column` whose content grading ignores: free text, summaries, time stamps."""
    return mapped_column(*args, info={"free": True}, **kwargs)


@dataclass(frozen=True)
class TableSpec:
    """What the framework needs to know of one table, read once from its model."""

    name: str
    columns: tuple[str, ...]
    role: Role
    prefix: str | None
    about: str | None
    revisable: bool
    only: Mapping[str, Sequence[str]]
    free: frozenset[str]
    table: Table

    @cached_property
    def places(self) -> dict[str, int]:
        """Column → its place in a row's values."""
        return {name: place for place, name in enumerate(self.columns)}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Column → its model's default, or None; in the order of the columns."""
        return {name: getattr(self.table.c[name].default, "arg", None) for name in self.columns}

    @classmethod
    def of(cls, table: Table) -> TableSpec:
        """Read a table's spec; raise `DomainError` if it breaks a convention."""
        keys = [column.name for column in table.primary_key.columns]
        if keys != ["id"]:
            raise DomainError(f"table {table.name}: the primary key must be one column `id`, found {keys or 'none'}")
        info = table.info
        if info.get("role") not in ("guarded", "narrative", "derived"):
            raise DomainError(f"table {table.name}: say guarded(), narrative() or derived() last in __table_args__")
        about = info.get("about")
        if about is not None and about not in table.columns:
            raise DomainError(f"table {table.name}: narrative(about={about!r}) names no column of it")
        loose = frozenset(column.name for column in table.columns if column.info.get("free"))
        return cls(
            name=table.name,
            columns=tuple(column.name for column in table.columns),
            role=info["role"],
            prefix=info.get("prefix"),
            about=about,
            revisable=bool(info.get("revisable")),
            only=info.get("only") or {},
            free=loose,
            table=table,
        )


def table_specs(base: type[DeclarativeBase]) -> dict[str, TableSpec]:
    """Specs of all tables of a declarative base, parents before children."""
    return {table.name: TableSpec.of(table) for table in base.metadata.sorted_tables}


def table_of(model: Any) -> str:
    """The table name of a model class."""
    name = getattr(model, "__tablename__", None)
    if not isinstance(name, str):
        raise DomainError(f"{model!r} is not a model class with a table")
    return name
