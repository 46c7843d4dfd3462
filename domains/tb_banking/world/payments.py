"""Builders of money that is sent: payees, transfers, standing orders, payments sent back; and of mandates."""

from __future__ import annotations

from tb_banking.models import Mandate, Payee, Return, StandingOrder, Transfer
from tb_banking.models.kinds import (
    MandateRole,
    MandateStatus,
    OrderStatus,
    PayeeCheck,
    Rail,
    Rhythm,
    Scope,
    TransferStatus,
)
from tb_banking.world.accounts import Acct
from tb_banking.world.cards import Cards
from tb_banking.world.names import BANKS, PAYEES
from tb_banking.world.people import Person
from tb_envs.authoring import DomainError, Record

_BUSINESS = ("invoice", "monthly rate", "account due", "second reminder", "contract", "balance of the year")
_FRIENDLY = ("thank you", "for the car", "dinner on Friday", "birthday", "share of the trip", "concert", "as agreed")


class Payments(Cards):
    """Payees, transfers, orders, returns, mandates."""

    def payee(
        self,
        person: Person,
        *,
        name: str | None = None,
        bank: str | None = None,
        number: str | None = None,
        added_days: int | None = None,
    ) -> Record:
        """Somebody whom a customer pays; a company or a person that is not among the payees yet if not named."""
        used = {payee.name for payee in self.all(Payee, customer_id=person.id)}
        free = [option for option in PAYEES if option not in used]
        return self.insert(
            Payee,
            customer_id=person.id,
            name=name or (self.pick(*free) if free and self.chance(0.6) else self.other_name(person)),
            bank=bank or self.pick(*BANKS),
            account_number=number or self._digits("7#######"),
            added_on=self.day(-(added_days if added_days is not None else self.between(30, 900))),
        )

    def transfer(
        self,
        acct: Acct,
        payee: Record,
        cents: int,
        *,
        rail: Rail = "standard",
        status: TransferStatus = "completed",
        days: int | None = None,
        minutes: int | None = None,
        at: str | None = None,
        check: PayeeCheck = "match",
        executes_in: int | None = None,
        reference: str | None = None,
    ) -> Record:
        """Money sent to a payee. It leaves the account when it is executed: a scheduled transfer has no entry yet.

        Args:
            acct: the account it goes from.
            payee: one of the holder's.
            cents: the amount.
            rail: instant or standard.
            status: scheduled, pending, completed, or recalled (then the money is back).
            days: how long ago it was made; drawn 2 to 25 days (within the day, for a pending one).
            minutes: further minutes; the moment is then exact.
            at: the moment itself.
            check: what the payee's bank said of the name.
            executes_in: in how many days a scheduled one is executed; drawn 2 to 12.
            reference: what the sender wrote.
        """
        if rail == "instant" and status != "completed":
            raise DomainError("an instant transfer is completed at once")
        if at is None and days is None and minutes is None and status == "pending":
            minutes = self.between(45, 1_300)
        made = at or self._time(days, minutes, 2, 25)
        on = self.day(executes_in if executes_in is not None else self.between(2, 12))
        if status == "scheduled" and on <= self.day(0):
            raise DomainError("a scheduled transfer is executed on a later day")
        drawn = self.pick(*(_BUSINESS if payee.name in PAYEES else _FRIENDLY))
        row = self.insert(
            Transfer,
            account_id=acct.id,
            payee_id=payee.id,
            amount_cents=cents,
            currency="USD",
            rail=rail,
            status=status,
            payee_check=check,
            made_at=made,
            executes_on=on if status == "scheduled" else made[:10],
            reference=reference if reference is not None else drawn,
        )
        if status != "scheduled":
            self.book(acct.id, "transfer_out", -cents, made, f"{payee.name}: {row.reference}")
        if status == "recalled":
            self.book(acct.id, "recall", cents, min(self.after(made, hours=5), self.moment()), f"Recall, {payee.name}")
        return row

    def order(
        self,
        acct: Acct,
        payee: Record,
        cents: int,
        *,
        next_in: int | None = None,
        next_on: str | None = None,
        rhythm: Rhythm = "monthly",
        status: OrderStatus = "active",
    ) -> Record:
        """A payment that repeats; the next one in `next_in` days or on a date, 5 to 26 days ahead if not said.

        A date so many working days ahead is ``next_on=w.workday(2)``.
        """
        drawn = self.between(5, 26)
        return self.insert(
            StandingOrder,
            account_id=acct.id,
            payee_id=payee.id,
            amount_cents=cents,
            currency="USD",
            rhythm=rhythm,
            next_on=next_on or self.day(next_in if next_in is not None else drawn),
            status=status,
        )

    def sent_back(self, entry: Record, *, days: int | None = None) -> Record:
        """An incoming payment that was returned to its sender, and the entry of that."""
        if entry.kind != "transfer_in":
            raise DomainError("only an incoming transfer is sent back")
        at = max(self.after(entry.booked_at, hours=1), self.ago(self.between(0, 2) if days is None else days))
        row = self.insert(
            Return,
            entry_id=entry.id,
            account_id=entry.account_id,
            amount_cents=entry.amount_cents,
            currency="USD",
            returned_at=min(at, self.moment()),
        )
        self.book(entry.account_id, "returned", -entry.amount_cents, row.returned_at, f"Returned: {entry.text}")
        return row

    def mandate(
        self,
        acct: Acct,
        person: Person,
        role: MandateRole,
        *,
        scope: Scope | None = None,
        valid_from: str | None = None,
        valid_until: str | None = None,
        status: MandateStatus = "active",
    ) -> Record:
        """The right of a customer to act on another one's account.

        Args:
            acct: the account.
            person: who may act; never the holder.
            role: joint owner, attorney, guardian.
            scope: of an attorney, ``full`` if not given; the others have none.
            valid_from: its first day; drawn 100 to 900 days ago.
            valid_until: its last day; open if not given.
            status: active or ended.
        """
        if person.id == acct.holder.id:
            raise DomainError("the holder of an account needs no mandate for it")
        if role == "guardian" and acct.account.kind != "youth":
            raise DomainError("guardians act on youth accounts")
        return self.insert(
            Mandate,
            account_id=acct.id,
            holder_id=person.id,
            role=role,
            scope=(scope or "full") if role == "attorney" else scope,
            valid_from=valid_from or self.day(-self.between(100, 900)),
            valid_until=valid_until,
            status=status,
        )
