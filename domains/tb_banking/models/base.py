"""The declarative base of the bank's tables."""

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import DeclarativeBase

from tb_banking.models.kinds import Currency
from tb_envs.parts.columns import one_of


def in_usd() -> CheckConstraint:
    """The bank keeps its books in US dollars."""
    return one_of("currency", Currency)


class Base(DeclarativeBase):
    """All tables of the bank."""
