"""Builders of the desk's records: cases, messages, notes, checks, complaints, compensation, and the desk's answers."""

from __future__ import annotations

from tb_banking.models import (
    CaseRemark,
    Compensation,
    Complaint,
    ContactNote,
    SecureMessage,
    ServiceCase,
    SignOff,
    SignOffRule,
    Verification,
)
from tb_banking.models.kinds import (
    CompensationKind,
    ComplaintFinding,
    Decision,
    Direction,
    Disposition,
    Gravity,
    NoteKind,
    Queue,
    Role,
    SignOffKind,
    Stage,
    Subject,
    Template,
)
from tb_banking.world.accounts import Acct
from tb_banking.world.payments import Payments
from tb_banking.world.people import Person
from tb_envs.authoring import DomainError, Record

_COMPLAINTS = (
    "Waited long for an answer to a letter.", "A card came to an old address.", "Was cut off twice on the phone.",
    "The app did not show a payment for a day.", "Was told two different things about a fee.",
)  # fmt: skip


class Desk(Payments):
    """Cases, messages, notes, checks, sign-offs, complaints, compensation."""

    def case(
        self,
        person: Person,
        subject: Subject,
        acct: Acct | None = None,
        *,
        stage: Stage = "open",
        disposition: Disposition | None = None,
        queue: Queue = "service",
        summary: str | None = None,
        days: int | None = None,
        minutes: int | None = None,
    ) -> Record:
        """A case that is there before the conversation, opened 1 to 12 days ago if not said."""
        opened = self._time(days, minutes, 1, 12)
        return self.insert(
            ServiceCase,
            customer_id=person.id,
            account_id=acct.id if acct else None,
            subject=subject,
            stage=stage,
            disposition=disposition,
            queue=queue,
            summary=summary or f"Customer wrote about: {subject.replace('_', ' ')}.",
            opened_at=opened,
            updated_at=opened,
        )

    def remark(self, case: Record, body: str, *, at: str | None = None) -> Record:
        """A line on a case."""
        when = at or case.opened_at
        return self.insert(CaseRemark, case_id=case.id, customer_id=case.customer_id, body=body, written_at=when)

    def note(
        self,
        person: Person,
        body: str,
        kind: NoteKind = "remark",
        *,
        days: int | None = None,
        minutes: int | None = None,
        at: str | None = None,
    ) -> Record:
        """A note on a customer's profile, 2 to 90 days old if not said."""
        when = at or self._time(days, minutes, 2, 90)
        return self.insert(ContactNote, customer_id=person.id, kind=kind, body=body, written_at=when)

    def message_from(
        self,
        person: Person,
        body: str,
        sender: str | None = None,
        *,
        acct: Acct | None = None,
        days: int | None = None,
        minutes: int | None = None,
        at: str | None = None,
    ) -> Record:
        """A message in a customer's inbox that came from them, or from another `sender` about them (an address)."""
        when = at or self._time(days, minutes, 1, 20)
        return self._message(person, body, "inbound", "none", sender or person.email, acct, when)

    def message_to(
        self,
        person: Person,
        template: Template,
        *,
        acct: Acct | None = None,
        body: str = "",
        days: int | None = None,
        minutes: int | None = None,
    ) -> Record:
        """A message that we sent before this conversation."""
        return self._message(
            person, body, "outbound", template, "service@marram.example", acct, self._time(days, minutes, 1, 20)
        )

    def verification(
        self, person: Person, *, given: int, matched: int, role: Role = "holder", days: int | None = None
    ) -> Record:
        """A check of an earlier conversation."""
        return self.insert(
            Verification,
            customer_id=person.id,
            role=role,
            facts_given=given,
            facts_matched=matched,
            result="passed" if given and matched == given else "failed",
            checked_at=self._time(days, None, 2, 90),
        )

    def desk_answers(self, acct: Acct, kind: SignOffKind, decision: Decision | None) -> Decision | None:
        """Fix how the controls desk will answer a question about an account; None fixes nothing. Returns the answer."""
        if decision is not None:
            self.insert(SignOffRule, account_id=acct.id, kind=kind, decision=decision)
        return decision

    def sign_off(
        self,
        acct: Acct,
        kind: SignOffKind,
        cents: int,
        decision: Decision = "pending",
        *,
        days: int | None = None,
        grounds: str = "Customer asks for it.",
    ) -> Record:
        """A question of an earlier conversation and its answer."""
        if self.all(SignOff, account_id=acct.id, kind=kind):
            raise DomainError(f"the desk was asked about {kind} of {acct.id} already")
        return self.insert(
            SignOff,
            account_id=acct.id,
            kind=kind,
            amount_cents=cents,
            currency="USD",
            decision=decision,
            grounds=grounds,
            asked_at=self._time(days, None, 1, 3),
        )

    def complaint(
        self,
        acct: Acct,
        *,
        subject: str | None = None,
        gravity: Gravity = "minor",
        received_on: str | None = None,
        answered_on: str | None = None,
        finding: ComplaintFinding | None = None,
        person: Person | None = None,
    ) -> Record:
        """A complaint about an account; answered if it has a day of the answer.

        Args:
            acct: the account it is about.
            subject: what it is about; drawn.
            gravity: minor, serious, severe.
            received_on: drawn 3 to 12 days ago (20 to 200 before an answer); ``w.workday(-16)`` counts working days.
            answered_on: the day of the answer.
            finding: upheld or not; drawn for an answered one, ``none`` for an open one.
            person: whose complaint it is; the holder's if not given.
        """
        if answered_on is None and finding not in (None, "none"):
            raise DomainError("an open complaint has no finding")
        came = received_on or self.day(-self.between(3, 12))
        if answered_on is not None:
            came = received_on or self.workday(-self.between(3, 12), answered_on)
            finding = finding or self.pick("upheld", "not_upheld")
            if answered_on < came:
                raise DomainError("a complaint is answered after it came")
        return self.insert(
            Complaint,
            customer_id=(person or acct.holder).id,
            account_id=acct.id,
            subject=subject or self.pick(*_COMPLAINTS),
            gravity=gravity,
            status="answered" if answered_on else "open",
            finding=finding or "none",
            received_on=came,
            answered_on=answered_on,
        )

    def compensation(
        self,
        acct: Acct,
        kind: CompensationKind,
        cents: int,
        *,
        complaint: Record | None = None,
        dispute: Record | None = None,
        days: int | None = None,
    ) -> Record:
        """Money paid before, for a complaint or a dispute, and its entry; 1 to 100 days ago if not said."""
        if (complaint is None) == (dispute is None):
            raise DomainError("compensation is for a complaint or for a dispute")
        if (kind == "write_off") != (dispute is not None):
            raise DomainError("a write-off is for a dispute, delay and trouble are for a complaint")
        at = self._time(days, None, 1, 100)
        row = self.insert(
            Compensation,
            account_id=acct.id,
            kind=kind,
            amount_cents=cents,
            currency="USD",
            complaint_id=complaint.id if complaint else None,
            dispute_id=dispute.id if dispute else None,
            paid_at=at,
        )
        self.book(acct.id, "compensation", cents, at, f"Compensation ({kind.replace('_', ' ')})")
        return row

    def _message(
        self,
        person: Person,
        body: str,
        direction: Direction,
        template: Template,
        sender: str,
        acct: Acct | None,
        at: str,
    ) -> Record:
        return self.insert(
            SecureMessage,
            customer_id=person.id,
            account_id=acct.id if acct else None,
            direction=direction,
            template=template,
            sender=sender,
            body=body,
            sent_at=at,
        )
