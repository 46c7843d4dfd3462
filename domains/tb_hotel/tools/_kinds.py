"""The kinds of arguments that only the hotel's tools take: its enumerations as agents may spell them, hours, points."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from tb_envs.authoring import EnumSpelling
from tb_hotel import models

ApprovalKind = Annotated[models.ApprovalKind, EnumSpelling]
BookingStatus = Annotated[models.BookingStatus, EnumSpelling]
CallerRole = Annotated[models.CallerRole, EnumSpelling]
CancelReason = Annotated[models.CancelReason, EnumSpelling]
ChargeKind = Annotated[models.ChargeKind, EnumSpelling]
Direction = Annotated[models.Direction, EnumSpelling]
NoteKind = Annotated[models.NoteKind, EnumSpelling]
Outcome = Annotated[models.Outcome, EnumSpelling]
Reason = Annotated[models.Reason, EnumSpelling]
RefundReason = Annotated[models.RefundReason, EnumSpelling]
Team = Annotated[models.Team, EnumSpelling]
TicketStatus = Annotated[models.TicketStatus, EnumSpelling]
Topic = Annotated[models.Topic, EnumSpelling]
WaiveReason = Annotated[models.WaiveReason, EnumSpelling]

AddedEntryKind = Annotated[Literal["correction", "relocation"], EnumSpelling]
"""The kinds of loyalty entries that people write; entries of kind ``stay`` come from the stay itself."""

SentTemplate = Annotated[models.SentTemplate, EnumSpelling]
"""Every template but ``none``, which marks what a guest wrote."""


def _full_hour(value: Any) -> Any:
    """``"14:00"`` is 14."""
    return value.strip().removesuffix(":00") if isinstance(value, str) else value


CheckOutHour = Annotated[int, Field(ge=12, le=23), BeforeValidator(_full_hour)]
"""A full hour after the regular check-out: 14, or ``"14:00"``."""

Points = Annotated[int, Field(ge=0, le=10_000_000)]
"""Loyalty points."""

Rooms = Annotated[int, Field(ge=1, le=1_000)]
"""A number of rooms."""

PageNumber = Annotated[int, Field(ge=1, le=10_000)]
"""Which page of a list, counted from 1."""
