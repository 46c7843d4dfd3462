"""Builders of money: charges on folios, payments, refunds, and the company's share of a folio."""

from __future__ import annotations

from tb_envs.authoring import Record
from tb_hotel.models import (
    Charge,
    ChargeKind,
    Evidence,
    Folio,
    FolioStatus,
    Payment,
    PaymentKind,
    PaymentStatus,
    Refund,
    RefundReason,
)
from tb_hotel.world.inventory import Inventory

_WORDS: dict[ChargeKind, str] = {
    "room": "Room and tax",
    "breakfast": "Breakfast buffet",
    "restaurant": "Dinner in the restaurant",
    "minibar": "Minibar",
    "laundry": "Laundry service",
    "parking": "Parking, whole stay",
    "pet": "Pet, whole stay",
    "late_checkout": "Late check-out",
    "change_fee": "Change of dates",
    "rate_difference": "Difference of rate",
    "upgrade": "Better category",
    "transfer_fee": "Transfer to another person",
    "group_release": "Release of group rooms",
    "no_show": "No-show",
}


class Money(Inventory):
    """Charges, payments, refunds."""

    def charge(
        self,
        folio: Record,
        kind: ChargeKind,
        cents: int,
        *,
        evidence: Evidence = "none",
        on: str | None = None,
        description: str | None = None,
    ) -> Record:
        """A charge on a folio, made `on` a date (today if not said)."""
        return self.insert(
            Charge,
            folio_id=folio.id,
            kind=kind,
            amount_cents=cents,
            waived_cents=0,
            waive_reason=None,
            currency="USD",
            evidence=evidence,
            charged_on=on or self.day(0),
            description=_WORDS[kind] if description is None else description,
        )

    def payment(
        self,
        folio: Record,
        cents: int,
        *,
        kind: PaymentKind = "prepayment",
        status: PaymentStatus = "captured",
        paid_at: str | None = None,
        card_ending: str | None = None,
    ) -> Record:
        """A card payment on a folio, made `paid_at` a time (one to nine days ago if not said)."""
        return self.insert(
            Payment,
            folio_id=folio.id,
            kind=kind,
            status=status,
            amount_cents=cents,
            currency="USD",
            card_ending=card_ending or self.card_ending(),
            paid_at=paid_at or self.moment(hours=-self.between(24, 216), minutes=-self.between(0, 59)),
        )

    def refund(self, payment: Record, cents: int, reason: RefundReason, *, created_at: str | None = None) -> Record:
        """Money already returned on a payment."""
        return self.insert(
            Refund,
            payment_id=payment.id,
            amount_cents=cents,
            currency="USD",
            reason=reason,
            created_at=created_at or self.moment(hours=-self.between(24, 96), minutes=-self.between(0, 59)),
        )

    def company_folio(self, booking: Record, *, status: FolioStatus = "open") -> Record:
        """A folio of the booking in its company's name."""
        return self.insert(
            Folio,
            kind="company",
            booking_id=booking.id,
            corporate_account_id=booking.corporate_account_id,
            status=status,
        )

    def card_ending(self) -> str:
        """Last four digits of a card; a few endings are common, so that one does not name a person."""
        return self.pick("4417", "0092", "7730", "5128", f"{self.between(0, 9999):04d}")

    def odd_cents(self, low: int, high: int) -> int:
        """An amount between two bounds with odd cents, so that half of it is no whole cent."""
        return self.between(low // 2, (high - 1) // 2) * 2 + 1

    def split_total(self, total: int, nights: int) -> list[int]:
        """Prices of nights that add up to a total and differ a little."""
        if nights == 1:
            return [total]
        even = total // nights
        prices = [even + self.between(-even // 12, even // 12) for _ in range(nights - 1)]
        return [*prices, total - sum(prices)]
