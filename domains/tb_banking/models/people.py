"""Whom the bank serves: customers, the devices they trust, and who may act for whom."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from tb_banking.models.base import Base
from tb_banking.models.kinds import DeviceStatus, KycStatus, MandateRole, MandateStatus, Scope, Segment
from tb_envs.authoring.models import guarded
from tb_envs.parts.columns import one_of


class Customer(Base):
    """A person with a profile: account holders, and those who act for one."""

    __tablename__ = "customers"
    __table_args__ = (one_of("segment", Segment), one_of("kyc_status", KycStatus), guarded(prefix="CU"))
    id: Mapped[str] = mapped_column(primary_key=True)
    first_name: Mapped[str]
    surname: Mapped[str] = mapped_column(index=True)
    email: Mapped[str] = mapped_column(index=True)
    phone: Mapped[str]
    postcode: Mapped[str]
    city: Mapped[str]
    birth_date: Mapped[str]
    segment: Mapped[str]
    kyc_status: Mapped[str]
    since: Mapped[str]


class Device(Base):
    """A phone or tablet with the bank's app; passcodes go to it."""

    __tablename__ = "devices"
    __table_args__ = (one_of("status", DeviceStatus), guarded(prefix="DV"))
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    name: Mapped[str]
    status: Mapped[str]
    registered_at: Mapped[str]


class Mandate(Base):
    """The right of one customer to act on another one's account, or as a further owner of it."""

    __tablename__ = "mandates"
    __table_args__ = (
        one_of("role", MandateRole),
        one_of("scope", Scope),
        one_of("status", MandateStatus),
        CheckConstraint("(role = 'attorney') = (scope IS NOT NULL)", name="only_attorneys_have_scopes"),
        guarded(prefix="MA"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    holder_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    role: Mapped[str]
    scope: Mapped[str | None]
    valid_from: Mapped[str]
    valid_until: Mapped[str | None]
    status: Mapped[str]
