"""The kinds of arguments that only the bank's tools take: its enumerations as agents may spell them, and pages."""

from typing import Annotated

from pydantic import Field

from tb_banking.models import kinds
from tb_envs.authoring import EnumSpelling

ChargedFee = Annotated[kinds.ChargedFee, EnumSpelling]
CompensationKind = Annotated[kinds.CompensationKind, EnumSpelling]
Control = Annotated[kinds.Control, EnumSpelling]
Direction = Annotated[kinds.Direction, EnumSpelling]
DisputeReason = Annotated[kinds.DisputeReason, EnumSpelling]
DisputeResult = Annotated[kinds.DisputeResult, EnumSpelling]
Disposition = Annotated[kinds.Disposition, EnumSpelling]
EntryKind = Annotated[kinds.EntryKind, EnumSpelling]
EntryStatus = Annotated[kinds.EntryStatus, EnumSpelling]
Finding = Annotated[kinds.Finding, EnumSpelling]
FreezeReason = Annotated[kinds.FreezeReason, EnumSpelling]
LimitKind = Annotated[kinds.LimitKind, EnumSpelling]
NoteKind = Annotated[kinds.NoteKind, EnumSpelling]
OrderStatus = Annotated[kinds.OrderStatus, EnumSpelling]
Queue = Annotated[kinds.Queue, EnumSpelling]
ReplaceReason = Annotated[kinds.ReplaceReason, EnumSpelling]
ReverseReason = Annotated[kinds.ReverseReason, EnumSpelling]
Role = Annotated[kinds.Role, EnumSpelling]
SentTemplate = Annotated[kinds.SentTemplate, EnumSpelling]
SignOffKind = Annotated[kinds.SignOffKind, EnumSpelling]
Segment = Annotated[kinds.Segment, EnumSpelling]
Stage = Annotated[kinds.Stage, EnumSpelling]
Subject = Annotated[kinds.Subject, EnumSpelling]
Switch = Annotated[kinds.Switch, EnumSpelling]
TransferStatus = Annotated[kinds.TransferStatus, EnumSpelling]

PageNumber = Annotated[int, Field(ge=1, le=10_000)]
"""Which page of a list, from 1."""
