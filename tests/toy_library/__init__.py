"""A toy company for tests of the framework: a lending library with four tables. Shaped like any domain."""

from __future__ import annotations

from typing import Annotated, Literal

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from tb_envs.authoring import (
    Db,
    EnumSpelling,
    Fact,
    Identifier,
    Json,
    Money,
    Text,
    Toolset,
    Vocabulary,
    World,
    call,
    free,
    guarded,
    narrative,
    require,
    show_money,
)
from tb_envs.authoring.domain import Domain, Proofs, Revision


class Base(DeclarativeBase):
    pass


class Member(Base):
    __tablename__ = "members"
    __table_args__ = (guarded(prefix="MB"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    email: Mapped[str]


class Loan(Base):
    __tablename__ = "loans"
    __table_args__ = (CheckConstraint("fee_cents >= 0"), guarded(prefix="LN"))
    id: Mapped[str] = mapped_column(primary_key=True)
    member_id: Mapped[str] = mapped_column(ForeignKey("members.id"))
    title: Mapped[str]
    status: Mapped[str]
    fee_cents: Mapped[int]


class Ticket(Base):
    __tablename__ = "tickets"
    __table_args__ = (guarded(prefix="TK", revisable=True),)
    id: Mapped[str] = mapped_column(primary_key=True)
    member_id: Mapped[str] = mapped_column(ForeignKey("members.id"))
    outcome: Mapped[str]
    summary: Mapped[str] = free()


class Note(Base):
    __tablename__ = "notes"
    __table_args__ = (narrative(prefix="NT", about="member_id"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    member_id: Mapped[str] = mapped_column(ForeignKey("members.id"))
    body: Mapped[str] = free()


Outcome = Annotated[Literal["open", "done", "refused"], EnumSpelling]
desk = Toolset("desk", "Loans and tickets.")


@desk.read
def get_loan(db: Db, loan_id: Identifier) -> Json:
    """One loan.

    Args:
        loan_id: as printed on the slip.
    """
    loan = db.one(Loan, loan_id)
    return {
        "loan_id": loan.id,
        "member_id": loan.member_id,
        "title": loan.title,
        "status": loan.status,
        "fee": show_money(loan.fee_cents),
    }


@desk.write
def set_fee(db: Db, loan_id: Identifier, amount: Money) -> Json:
    """Set the fee of a loan.

    Args:
        loan_id: as printed on the slip.
        amount: the new fee.
    """
    db.update(Loan, db.one(Loan, loan_id).id, fee_cents=amount)
    return get_loan(db, loan_id)


@desk.write
def open_ticket(db: Db, member_id: Identifier, outcome: Outcome, summary: Text = "") -> Json:
    """Open a ticket.

    Args:
        member_id: whose it is.
        outcome: how it ended.
        summary: in a sentence.
    """
    row = db.insert(Ticket, member_id=db.one(Member, member_id).id, outcome=outcome, summary=summary)
    return {"ticket_id": row.id, "outcome": row.outcome}


@desk.write
def update_ticket(db: Db, ticket_id: Identifier, outcome: Outcome) -> Json:
    """Change a ticket.

    Args:
        ticket_id: the ticket.
        outcome: how it ended.
    """
    return {"ticket_id": db.update(Ticket, db.one(Ticket, ticket_id).id, outcome=outcome).id}


@desk.write
def add_note(db: Db, member_id: Identifier, body: Text) -> Json:
    """Write a note.

    Args:
        member_id: whose it is.
        body: what to remember.
    """
    return {"note_id": db.insert(Note, member_id=db.one(Member, member_id).id, body=body).id}


@desk.write
def break_down(db: Db, member_id: Identifier) -> Json:
    """Write something, then fail as a bug would.

    Args:
        member_id: whose it is.
    """
    add_note(db, member_id, "half done")
    raise ZeroDivisionError("a bug in a tool")


@desk.write
def overflow(db: Db, member_id: Identifier) -> Json:
    """Write something, then send the database what it cannot hold.

    Args:
        member_id: whose it is.
    """
    add_note(db, member_id, "half done")
    db.update(Loan, next(iter(db.rows(Loan))).id, fee_cents=10**30)
    return {}


def seed(w: World) -> None:
    for number in range(5):
        member = w.insert(Member, name=f"Member {number}", email=f"m{number}@example.org")
        w.insert(Loan, member_id=member.id, title=f"Book {number}", status="lent", fee_cents=500)
        require(member.id.startswith("MB-"), "ids have the table's prefix")


def _stray(w: World) -> list:  # type: ignore[type-arg]
    return [call("set_fee", loan_id=next(key for key in w._base["loans"]), amount="9.99")]


domain = Domain(
    name="library",
    title="The Library",
    role="You work at the desk of a library.",
    base=Base,
    toolsets=[desk],
    package="toy_library",
    vocabulary=Vocabulary((Fact("loan", asked_as=("loan number",), kind="id"),)),
    seed=seed,
    world=World,
    clock="2031-01-06T08:00:00Z",
    teams=("desk", "director"),
    proofs=Proofs(
        note=lambda who: [call("add_note", member_id=who, body="a friendly person")],
        stray=_stray,
        stray_undone=lambda w: [*_stray(w), call("set_fee", loan_id=next(k for k in w._base["loans"]), amount="5.00")],
        revisions=(Revision("open_ticket", "update_ticket", "ticket_id", "ticket_id", {"outcome": "open"}),),
    ),
    laws={"fees are whole": "SELECT id FROM loans WHERE fee_cents < 0"},
)
