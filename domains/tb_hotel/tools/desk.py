"""The desk's own records: tickets, their comments, and requests to the duty manager."""

from tb_envs.authoring import Db, Identifier, Json, Money, Text, ToolError, Toolset, require
from tb_envs.parts.views import Search, core_table, equal, table_viewer
from tb_hotel.models import Approval, ApprovalRule, Booking, Guest, Ticket, TicketComment

from ._kinds import ApprovalKind, Outcome, PageNumber, Reason, Team, TicketStatus, Topic

desk = Toolset("desk", "Tickets and approvals.")

TICKETS = core_table(Ticket)

_ticket_view = table_viewer("ticket", Ticket)
_comment_view = table_viewer("comment", TicketComment)
_approval_view = table_viewer("approval", Approval)
_TICKETS = Search(
    source=TICKETS,
    view=_ticket_view,
    order=[TICKETS.c.id],
    filters=equal(TICKETS, "guest_id", "status"),
    owners={"guest_id": Guest},
)


@desk.read
def search_tickets(db: Db, guest_id: Identifier, status: TicketStatus | None = None, page: PageNumber = 1) -> Json:
    """The tickets of a guest.

    Args:
        guest_id: the guest, e.g. `GS-10231`.
        status: only tickets in this state.
        page: which page of 5 tickets, from 1.
    """
    return _TICKETS.page(db, page, guest_id=guest_id, status=status)


@desk.read
def get_ticket(db: Db, ticket_id: Identifier) -> Json:
    """One ticket with its comments.

    Args:
        ticket_id: the ticket, e.g. `TK-80125`.
    """
    ticket = db.one(Ticket, ticket_id)
    comments = db.rows(TicketComment, ticket_id=ticket_id)
    return {**_ticket_view(ticket), "comments": [_comment_view(row) for row in comments]}


@desk.read
def get_approval(db: Db, approval_id: Identifier) -> Json:
    """A request to the duty manager and the answer: `granted`, `denied` or `pending`.

    Args:
        approval_id: the request, e.g. `AP-90001`.
    """
    return _approval_view(db.one(Approval, approval_id))


@desk.write
def request_approval(
    db: Db, booking_id: Identifier, kind: ApprovalKind, amount: Money, justification: Text = ""
) -> Json:
    """Ask the duty manager to approve money for a booking; read the answer with `get_approval`.

    A booking can have one request of each kind.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        kind: `refund` for money returned, `waiver` for charges taken off.
        amount: the exact amount in USD, e.g. 642.50.
        justification: why it should be approved.
    """
    db.one(Booking, booking_id)
    require(amount > 0, "`amount` must be more than 0.00.")
    old = db.first(Approval, booking_id=booking_id, kind=kind)
    if old is not None:
        raise ToolError(f"A {kind} was requested for {booking_id} already: read {old.id} with get_approval.")
    rule = db.first(ApprovalRule, booking_id=booking_id, kind=kind)
    approval = db.insert(
        Approval,
        booking_id=booking_id,
        kind=kind,
        amount_cents=amount,
        currency="USD",
        decision=rule.decision if rule else "pending",
        justification=justification,
        requested_at=db.now_text,
    )
    return {"approval_id": approval.id, "state": "submitted"}


@desk.write
def open_ticket(
    db: Db,
    guest_id: Identifier,
    topic: Topic,
    summary: Text,
    booking_id: Identifier | None = None,
    team: Team = "front_desk",
    status: TicketStatus = "open",
    outcome: Outcome | None = None,
    reason: Reason | None = None,
) -> Json:
    """Open a ticket about a guest's request.

    Args:
        guest_id: the guest it concerns, e.g. `GS-10231`.
        topic: what was asked.
        summary: what happened, in a sentence or two.
        booking_id: the booking it concerns, if any.
        team: who has it now.
        status: the state it is in.
        outcome: how the request ended, once it did.
        reason: why it ended so.
    """
    db.one(Guest, guest_id)
    if booking_id:
        db.one(Booking, booking_id)
    ticket = db.insert(
        Ticket,
        guest_id=guest_id,
        booking_id=booking_id,
        topic=topic,
        status=status,
        outcome=outcome,
        reason=reason,
        team=team,
        summary=summary,
        created_at=db.now_text,
        updated_at=db.now_text,
    )
    return _ticket_view(ticket)


@desk.write
def update_ticket(
    db: Db,
    ticket_id: Identifier,
    status: TicketStatus | None = None,
    outcome: Outcome | None = None,
    reason: Reason | None = None,
    team: Team | None = None,
    summary: Text | None = None,
) -> Json:
    """Change fields of a ticket that is not closed; a closed ticket cannot be changed or opened again.

    Args:
        ticket_id: the ticket, e.g. `TK-80125`.
        status: the state it is in from now on.
        outcome: how the request ended.
        reason: why it ended so.
        team: who has it now.
        summary: what happened, in a sentence or two.
    """
    ticket = db.one(Ticket, ticket_id)
    require(ticket.status != "closed", f"Ticket {ticket_id} is closed and cannot be changed.")
    fields = {"status": status, "outcome": outcome, "reason": reason, "team": team, "summary": summary}
    given = {name: value for name, value in fields.items() if value is not None}
    require(given, "Give at least one of status, outcome, reason, team, summary.")
    return _ticket_view(db.update(Ticket, ticket_id, **given, updated_at=db.now_text))


@desk.write
def add_ticket_comment(db: Db, ticket_id: Identifier, body: Text) -> Json:
    """Write a remark on a ticket.

    Args:
        ticket_id: the ticket, e.g. `TK-80125`.
        body: the text of the remark.
    """
    ticket = db.one(Ticket, ticket_id)
    comment = db.insert(TicketComment, ticket_id=ticket.id, guest_id=ticket.guest_id, body=body, created_at=db.now_text)
    return _comment_view(comment)
