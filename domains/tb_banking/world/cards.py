"""Builders of cards, merchants, card payments, disputes about them, and alerts."""

from __future__ import annotations

from typing import Any

from tb_banking.models import Alert, Card, Dispute, Entry, Merchant
from tb_banking.models.kinds import (
    AlertLevel,
    AlertStatus,
    CardStatus,
    Credit,
    DisputeReason,
    DisputeStage,
    EntryStatus,
    FreezeReason,
    Method,
    ReplaceReason,
    Switch,
)
from tb_banking.world.accounts import Accounts, Acct
from tb_banking.world.company import SHOPS, Trade
from tb_banking.world.people import Person
from tb_envs.authoring import DomainError, Record

_ENDINGS = ("3308", "8841", "0627", "5590")
LIVE = ("filed", "contested", "escalated")
"""Stages of a dispute that is not over."""


class Cards(Accounts):
    """Cards, payments, disputes, alerts."""

    def card(
        self,
        acct: Acct,
        person: Person | None = None,
        *,
        ending: str | None = None,
        status: CardStatus = "active",
        freeze_reason: FreezeReason | None = None,
        frozen_days: int | None = None,
        frozen_minutes: int | None = None,
        issued_days: int | None = None,
        expires_in: int | None = None,
        replaces: Record | None = None,
        replace_reason: ReplaceReason | None = None,
        online: Switch = "on",
        contactless: Switch = "on",
        abroad: Switch = "off",
        cash_abroad: Switch = "off",
    ) -> Record:
        """A debit card of an account.

        Args:
            acct: the account it pays from.
            person: whose card it is; the holder of the account if not given.
            ending: its last four digits; drawn so that no other card of the account or the person has them.
            status: active, frozen or expired; a card becomes replaced when another one `replaces` it.
            freeze_reason: of a frozen card; ``precaution`` if not given.
            frozen_days: how long ago it was frozen; drawn 1 to 5 days.
            frozen_minutes: further minutes; the moment is then exact.
            issued_days: how long ago it was issued; drawn 60 to 900 days, not before the account was opened.
            expires_in: in how many days it expires; drawn 200 to 1,100 (in the past, for an expired one).
            replaces: the card that this one came for.
            replace_reason: why that card was replaced; needed with `replaces`.
            online: a control, as are the others.
            contactless: a control.
            abroad: a control.
            cash_abroad: a control.
        """
        owner = person or acct.holder
        if status == "replaced" or (replaces is None) != (replace_reason is None):
            raise DomainError("replace a card by placing another one with `replaces` and `replace_reason`")
        frozen = status == "frozen"
        until = expires_in if expires_in is not None else -self.between(5, 90) if status == "expired" else None
        drawn = self.day(-self.between(60, 900))
        if replaces is not None:
            self.update(Card, replaces.id, status="replaced", replace_reason=replace_reason)
        return self.insert(
            Card,
            account_id=acct.id,
            customer_id=owner.id,
            ending=ending or self._ending(acct, owner),
            status=status,
            issued_on=self.day(-issued_days) if issued_days is not None else max(drawn, acct.account.opened_on),
            expires_on=self.day(until if until is not None else self.between(200, 1_100)),
            frozen_at=self._time(frozen_days, frozen_minutes, 1, 5) if frozen else None,
            freeze_reason=(freeze_reason or "precaution") if frozen else None,
            replaces=replaces.id if replaces else None,
            replace_reason=None,
            online=online,
            contactless=contactless,
            abroad=abroad,
            cash_abroad=cash_abroad,
        )

    def merchant(
        self,
        trade: Trade | None = None,
        *,
        statement_name: str | None = None,
        trading_name: str | None = None,
        sells: str | None = None,
        city: str | None = None,
        email: str | None = None,
    ) -> Record:
        """A merchant: with a `statement_name` a new one, else one of those on record, of that trade if it is given."""
        if statement_name is None:
            return self.get(Merchant, self.pick(*(s.id for s in SHOPS if trade in (None, s.trade))))
        known = trading_name or statement_name.title()
        plain = "".join(sign for sign in known.lower() if sign.isascii() and sign.isalnum())
        return self.insert(
            Merchant,
            statement_name=statement_name,
            trading_name=known,
            sells=sells or "goods of all kinds",
            city=city or self.pick(*(shop.city for shop in SHOPS)),
            email=email or f"service@{plain}.example",
        )

    def payment(
        self,
        acct: Acct,
        card: Record,
        cents: int,
        merchant: Record | None = None,
        *,
        method: Method | None = None,
        status: EntryStatus = "posted",
        days: int | None = None,
        minutes: int | None = None,
        at: str | None = None,
        foreign: tuple[str, int] | None = None,
    ) -> Record:
        """A card payment of so many cents (its entry is negative).

        Args:
            acct: the account it was paid from.
            card: with which card.
            cents: the amount in cents of a dollar.
            merchant: one of those on record if not given.
            method: drawn if not given.
            status: a pending one leaves the balance alone.
            days: how long ago it was booked; drawn 2 to 25 days (at most a day, for a pending one).
            minutes: further minutes; the moment is then exact.
            at: the moment itself.
            foreign: currency and amount in hundredths of it, ``("EUR", 84_50)``.
        """
        shop = merchant or self.merchant()
        if card.account_id != acct.id:
            raise DomainError(f"card {card.id} is not one of account {acct.id}")
        if at is None and days is None and minutes is None and status == "pending":
            minutes = self.between(40, 1_300)
        columns: dict[str, Any] = {
            "card_id": card.id,
            "merchant_id": shop.id,
            "method": method or self.pick("chip_pin", "contactless", "contactless", "online_confirmed", "online_plain"),
            "foreign_currency": foreign[0] if foreign else None,
            "foreign_amount": f"{foreign[1] // 100}.{foreign[1] % 100:02d}" if foreign else None,
        }
        when = at or self._time(days, minutes, 2, 25)
        return self.book(acct.id, "card_payment", -cents, when, shop.statement_name, status=status, **columns)

    def dispute(
        self,
        entry: Record,
        reason: DisputeReason,
        *,
        stage: DisputeStage = "filed",
        filed_days: int | None = None,
        filed_on: str | None = None,
        respond_by: str | None = None,
        credit: Credit = "none",
        settled_days: int | None = None,
        evidence: str = "Told us so in chat.",
    ) -> Record:
        """A dispute about a posted card payment, with the entries of its provisional credit.

        Args:
            entry: the payment.
            reason: of the dispute.
            stage: where it stands.
            filed_days: how long ago it was filed; drawn between the payment and now.
            filed_on: the day itself.
            respond_by: until when the customer may answer the merchant; 10 days ahead for a contested one.
            credit: none, given, or taken back; always the whole amount.
            settled_days: for a dispute that is over, how long ago that was; drawn between filing and now.
            evidence: what the customer told us.
        """
        over = stage not in LIVE
        if entry.kind != "card_payment" or entry.status != "posted":
            raise DomainError("only a posted card payment can be disputed")
        if credit == ("taken_back" if not over else "given") and stage != "won":
            raise DomainError(f"a dispute that is {stage} has no credit that is {credit}")
        if not over and [d for d in self.all(Dispute, entry_id=entry.id) if d.stage in LIVE]:
            raise DomainError(f"payment {entry.id} is disputed already")
        paid_on = entry.booked_at[:10]
        filed = filed_on or self.day(-(self._within(paid_on) if filed_days is None else filed_days))
        if filed < paid_on:
            raise DomainError(f"the dispute is filed on {filed}, before the payment on {paid_on}")
        settled = max(filed, self.day(-(self._within(filed) if settled_days is None else settled_days)))
        answer = respond_by or (self.day(10) if stage == "contested" else None)
        amount = -entry.amount_cents
        row = self.insert(
            Dispute,
            entry_id=entry.id,
            account_id=entry.account_id,
            reason=reason,
            stage=stage,
            filed_on=filed,
            respond_by=answer,
            settled_on=settled if over else None,
            credit=credit,
            credit_cents=0 if credit == "none" else amount,
            currency="USD",
            evidence=evidence,
        )
        if credit != "none":
            at = max(entry.booked_at, min(f"{filed}T12:20:00Z", self.ago()))
            self.book(entry.account_id, "provisional_credit", amount, at, f"Provisional credit for {entry.text}")
        if credit == "taken_back":
            at = max(entry.booked_at, min(f"{settled}T12:30:00Z", self.ago()))
            self.book(entry.account_id, "credit_taken_back", -amount, at, f"Credit for {entry.text} taken back")
        return row

    def alert(
        self,
        entry: Record,
        level: AlertLevel,
        *,
        status: AlertStatus = "open",
        at: str | None = None,
    ) -> Record:
        """A card payment that looked wrong to the bank; raised 4 minutes after it if not said."""
        if entry.card_id is None:
            raise DomainError("alerts are about card payments")
        raised = at or min(self.after(entry.booked_at, minutes=4), self.moment())
        return self.insert(
            Alert,
            account_id=entry.account_id,
            card_id=entry.card_id,
            entry_id=entry.id,
            level=level,
            status=status,
            raised_at=raised,
        )

    def the_entry(self, entry_id: str) -> Record:
        """An entry that is there already."""
        return self.get(Entry, entry_id)

    # -- inside

    def _ending(self, acct: Acct, owner: Person) -> str:
        """Last four digits; a few are common, so that they do not name a card."""
        taken = {card.ending for card in (*self.all(Card, account_id=acct.id), *self.all(Card, customer_id=owner.id))}
        while (found := self.pick(*_ENDINGS, *(self._digits("####") for _ in range(6)))) in taken:
            pass
        return found

    def _within(self, day: str) -> int:
        """How many days ago something was that happened between a date and today."""
        return self.between(0, (self.today.toordinal() - self._ordinal(day)))

    def _ordinal(self, day: str) -> int:
        return type(self.today).fromisoformat(day).toordinal()
