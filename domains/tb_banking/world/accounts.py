"""Builders of accounts and what stands on them: entries, holds, fees, limits, deposits; and the rates of the day.

An account's `balance` is what stands on it when the task begins. Whatever is placed on it afterwards belongs to its
past: a posted entry moves the opening balance, never the balance itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from tb_banking import policy
from tb_banking.models import Account, Balance, Deposit, Entry, Fee, Hold, Limit, Rate
from tb_banking.models.kinds import (
    AccountKind,
    AccountStatus,
    DepositStatus,
    EntryKind,
    EntryStatus,
    FeeKind,
    HoldKind,
    HoldStatus,
    LimitKind,
    ReverseReason,
)
from tb_banking.world.company import CURRENCIES, LIMITED, START_LIMITS, YOUTH_LIMITS
from tb_banking.world.people import People, Person
from tb_envs.authoring import DomainError, Record

_FEES: dict[FeeKind, str] = {
    "overdraft": "Overdraft fee",
    "returned_payment": "Fee for a returned payment",
    "foreign": "Foreign payment fee",
    "monthly": "Monthly account fee",
    "replacement": "Replacement card fee",
    "recall": "Recall fee",
}


@dataclass(frozen=True)
class Acct:
    """An account, its balance row and its holder. The account's columns are at hand: ``acct.account.opened_on``."""

    account: Record
    balance: Record
    holder: Person

    @property
    def id(self) -> str:
        """The account id."""
        return self.account.id

    @property
    def number(self) -> str:
        """The account number that its holder knows, eight digits."""
        return self.account.number


class Accounts(People):
    """Accounts and their money."""

    def account(
        self,
        holder: Person,
        *,
        kind: AccountKind = "current",
        opened_days: int | None = None,
        balance: int | None = None,
        overdraft: int = 0,
        status: AccountStatus = "active",
        limits: dict[LimitKind, int] | None = None,
    ) -> Acct:
        """An account with its limits.

        Args:
            holder: the customer whose it is.
            kind: current, savings, youth.
            opened_days: how long ago it was opened; drawn 200 to 2,400 days, not before the holder came.
            balance: in cents, what stands on it now; drawn 600 to 7,000 dollars. A closed account has none.
            overdraft: how far it may go below zero, in cents.
            status: active or closed.
            limits: limits in cents where they differ from what accounts of the segment start with.
        """
        number = self._digits("########")
        while number in self.taken(Account, "number") or number[0] == "0":
            number = self._digits("########")
        drawn = max(self.day(-self.between(200, 2_400)), holder.profile.since)
        opened = drawn if opened_days is None else self.day(-opened_days)
        self.known_since(holder, opened)
        account = self.insert(
            Account,
            number=number,
            customer_id=holder.id,
            kind=kind,
            status=status,
            opened_on=opened,
            overdraft_cents=overdraft,
            currency="USD",
        )
        cents = 0 if status == "closed" else balance if balance is not None else self.between(600_00, 7_000_00)
        money = self.insert(Balance, id=account.id, opening_cents=cents, booked_cents=cents, held_cents=0)
        usual = (YOUTH_LIMITS if kind == "youth" else START_LIMITS[holder.segment]) | (limits or {})
        for limited in LIMITED[kind]:
            self.insert(
                Limit,
                id=f"{account.id}.{limited}",
                account_id=account.id,
                kind=limited,
                amount_cents=usual[limited],
                currency="USD",
                until=None,
            )
        return Acct(account, money, holder)

    def set_balance(self, acct: Acct, cents: int) -> None:
        """Let exactly this stand on the account now."""
        row = self.get(Balance, acct.id)
        moved = cents - row.booked_cents
        self.update(Balance, acct.id, booked_cents=cents, opening_cents=row.opening_cents + moved)

    def limit(self, acct: Acct, kind: LimitKind, cents: int, *, until: str | None = None) -> Record:
        """Set a limit of an account; with a last day it is a temporary one."""
        return self.update(Limit, f"{acct.id}.{kind}", amount_cents=cents, until=until)

    def incoming(
        self,
        acct: Acct,
        cents: int,
        text: str,
        *,
        kind: EntryKind = "transfer_in",
        days: int | None = None,
        minutes: int | None = None,
        at: str | None = None,
    ) -> Record:
        """Money that came in, with what its sender wrote; 2 to 25 days ago if not said. A salary has its own `kind`."""
        return self.book(acct.id, kind, cents, at or self._time(days, minutes, 2, 25), text)

    def cash(self, acct: Acct, card: Record, cents: int, *, days: int | None = None, text: str = "Cash") -> Record:
        """Cash taken from a machine; 2 to 40 days ago if not said."""
        at = self._time(days, None, 2, 40)
        return self.book(acct.id, "cash", -cents, at, text, card_id=card.id, method="chip_pin")

    def hold(
        self,
        acct: Acct,
        cents: int,
        *,
        kind: HoldKind = "card_authorisation",
        merchant: Record | None = None,
        status: HoldStatus = "active",
        days: int | None = None,
        minutes: int | None = None,
        at: str | None = None,
    ) -> Record:
        """Money set aside, 1 to 5 days ago if not said; an active hold adds to what is held of the balance."""
        row = self.insert(
            Hold,
            account_id=acct.id,
            kind=kind,
            status=status,
            amount_cents=cents,
            currency="USD",
            placed_at=at or self._time(days, minutes, 1, 5),
            merchant_id=merchant.id if merchant else None,
        )
        if status == "active":
            self.update(Balance, acct.id, held_cents=self.get(Balance, acct.id).held_cents + cents)
        return row

    def fee(
        self,
        acct: Acct,
        kind: FeeKind,
        cents: int,
        *,
        days: int | None = None,
        minutes: int | None = None,
        at: str | None = None,
        entry: Record | None = None,
        reversed: int = 0,
        reason: ReverseReason | None = None,
        reversed_days: int | None = None,
    ) -> Record:
        """A fee and its entry; and what was returned of it, with the entry of that.

        Args:
            acct: the account it was charged to.
            kind: of the fee.
            cents: its amount.
            days: how long ago it was charged; drawn 3 to 50 days.
            minutes: further minutes; the moment is then exact.
            at: the moment itself.
            entry: what it was charged for.
            reversed: cents returned of it.
            reason: why they were returned; needed with `reversed`.
            reversed_days: how long ago that was; drawn between the fee and now.
        """
        if bool(reversed) != bool(reason):
            raise DomainError("a fee that was returned has an amount and a reason")
        charged = at or self._time(days, minutes, 3, 50)
        back: str | None = None
        if reversed:
            last = (self.today - date.fromisoformat(charged[:10])).days
            back = max(charged, self.ago(self.between(0, last) if reversed_days is None else reversed_days))
        row = self.insert(
            Fee,
            account_id=acct.id,
            kind=kind,
            amount_cents=cents,
            currency="USD",
            charged_at=charged,
            entry_id=entry.id if entry else None,
            reversed_cents=reversed,
            reverse_reason=reason,
            reversed_at=back,
        )
        self.book(acct.id, "fee", -cents, charged, _FEES[kind])
        if back:
            self.book(acct.id, "fee_reversal", reversed, back, f"{_FEES[kind]} returned")
        return row

    def deposit(
        self,
        acct: Acct,
        cents: int,
        *,
        rate: int = 310,
        months: int = 12,
        opened_days: int | None = None,
        opened_on: str | None = None,
        matures_in: int | None = None,
        status: DepositStatus = "active",
        penalty: int | None = None,
    ) -> Record:
        """A term deposit paid from the account.

        Args:
            acct: the account it was paid from and is paid out to.
            cents: the principal.
            rate: in basis points, 310 for 3.10 percent.
            months: its term.
            opened_days: how long ago it was opened; drawn within the term (before it, for one that has matured).
            opened_on: the day itself.
            matures_in: instead, in how many days it matures (negative for one that has).
            status: a broken or matured one has its payout on the account.
            penalty: what breaking it cost; needed if it is broken.
        """
        if (status == "broken") != (penalty is not None):
            raise DomainError("a deposit has a penalty if and only if it is broken")
        if matures_in is not None:
            opened_on = _months_on(date.fromisoformat(self.day(matures_in)), -months).isoformat()
        if opened_on is None:
            term = months * 30
            drawn = self.between(term + 20, term + 300) if status == "matured" else self.between(30, term - 12)
            opened_on = self.day(-(opened_days if opened_days is not None else drawn))
        first = date.fromisoformat(opened_on)
        last = date.fromisoformat(self.day(matures_in)) if matures_in is not None else _months_on(first, months)
        if (last <= self.today) != (status == "matured") and status != "broken":
            raise DomainError(f"a deposit that matures on {last} is not {status}")
        row = self.insert(
            Deposit,
            account_id=acct.id,
            principal_cents=cents,
            currency="USD",
            rate_basis_points=rate,
            term_months=months,
            opened_on=opened_on,
            matures_on=last.isoformat(),
            status=status,
            penalty_cents=penalty,
        )
        self.book(acct.id, "transfer_out", -cents, f"{opened_on}T07:00:00Z", f"To term deposit {row.id}")
        if status != "active":
            end = last if status == "matured" else first + (min(last, self.today) - first) * 2 // 3
            paid = cents + policy.deposit_interest(cents, rate, (end - first).days) - (penalty or 0)
            self.book(acct.id, "deposit_payout", paid, f"{end}T07:00:00Z", f"Term deposit {row.id} paid out")
        return row

    def rate(self, currency: str, day: str, millionths: int | None = None) -> Record:
        """What a unit of a currency was worth on a day; set if given, else the one on record, else drawn."""
        key = f"{currency}.{day}"
        if self._find("rates", key) is None:
            usual = CURRENCIES[currency]
            drawn = usual + self.between(-usual // 60, usual // 60)
            return self.insert(Rate, id=key, currency=currency, day=day, millionths=millionths or drawn)
        return self.update(Rate, key, millionths=millionths) if millionths else self.get(Rate, key)

    def book(
        self,
        account_id: str,
        kind: EntryKind,
        cents: int,
        at: str,
        text: str,
        *,
        status: EntryStatus = "posted",
        **columns: Any,
    ) -> Record:
        """An entry; money that leaves is negative. A posted one belongs to the past: what stands there now stays."""
        values: dict[str, Any] = {"method": "none"} | columns
        if status == "posted":
            opening = self.get(Balance, account_id).opening_cents
            self.update(Balance, account_id, opening_cents=opening - cents)
        return self.insert(
            Entry,
            account_id=account_id,
            kind=kind,
            status=status,
            amount_cents=cents,
            currency="USD",
            booked_at=at,
            text=text,
            **values,
        )

    # -- inside

    def _time(self, days: int | None, minutes: int | None, low: int, high: int) -> str:
        """The moment that a builder's `days` and `minutes` say, or one between two numbers of days ago."""
        if days is None and minutes is None:
            days = self.between(low, high)
        return self.ago(days or 0, minutes=minutes)


def _months_on(day: date, months: int) -> date:
    """The same day of the month so many months later (or earlier), or the last one of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = (date(year + (month == 11), (month + 1) % 12 + 1, 1) - date(year, month + 1, 1)).days
    return date(year, month + 1, min(day.day, last))
