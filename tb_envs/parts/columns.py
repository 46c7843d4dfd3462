"""Constraints that tables of all companies have: enumerations and amounts."""

from typing import Any, get_args

from sqlalchemy import CheckConstraint


def one_of(column: str, values: Any) -> CheckConstraint:
    """The column holds one of the members of a ``Literal``.

    Written with OR: for an IN list SQLite would build a table of its members in every statement that writes the column.
    """
    listed = " OR ".join(f"{column}='{value}'" for value in get_args(values))
    return CheckConstraint(listed, name=f"{column}_is_known")


def not_negative(column: str) -> CheckConstraint:
    """The amount or count is zero or more."""
    return CheckConstraint(f"{column} >= 0", name=f"{column}_not_negative")
