"""The declarative base, and the constraint that all amounts of this company share."""

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import DeclarativeBase

from tb_envs.parts.columns import one_of
from tb_hotel.models.kinds import Currency


def in_usd() -> CheckConstraint:
    """This company keeps all its books in US dollars."""
    return one_of("currency", Currency)


class Base(DeclarativeBase):
    """All tables of the hotel company."""
