"""Cards and the merchants they pay: freezing, replacing, switching controls."""

from sqlalchemy import bindparam, select

from tb_banking.models import Account, Card, Merchant
from tb_envs.authoring import Db, Identifier, Json, Toolset, require
from tb_envs.parts.views import core_table, table_viewer
from tb_envs.store.db import Found

from ._days import month_end
from ._kinds import Control, FreezeReason, ReplaceReason, Switch
from ._links import under

cards = Toolset("cards", "Cards and merchants.")

CARDS = core_table(Card)
YEARS_VALID = 4
CONTROLS = ("online", "contactless", "abroad", "cash_abroad")

_CARDS = select(CARDS).where(CARDS.c.account_id == bindparam("key")).order_by(CARDS.c.id)
_card_view = table_viewer("card", Card)
_merchant_view = table_viewer("merchant", Merchant)


def _card_in_use(db: Db, card_id: str) -> Found:
    card = db.one(Card, card_id)
    require(card.status in ("active", "frozen"), f"Card {card_id} is {card.status}; it is not in use any more.")
    return card


@cards.read
def list_cards(db: Db, account_id: Identifier) -> Json:
    """All cards of an account, former ones too: status, last four digits, last day, controls.

    `customer_id` is the person who carries the card. `replaces` is the card before it, `replace_reason` why a card was
    itself replaced.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    return under(db, Account, account_id, _CARDS, _card_view)


@cards.read
def get_card(db: Db, card_id: Identifier) -> Json:
    """One card: status, since when and why it is frozen, last day, controls.

    Args:
        card_id: the card, e.g. `CD-20418`.
    """
    return _card_view(db.one(Card, card_id))


@cards.read
def get_merchant(db: Db, merchant_id: Identifier) -> Json:
    """Who takes card payments: the name on statements, the trading name, what they sell, city, and their own e-mail.

    Args:
        merchant_id: the merchant, e.g. `ME-30112`.
    """
    return _merchant_view(db.one(Merchant, merchant_id))


@cards.write
def freeze_card(db: Db, card_id: Identifier, reason: FreezeReason) -> Json:
    """Freeze an active card: it pays nothing until it is unfrozen.

    Args:
        card_id: the card, e.g. `CD-20418`.
        reason: why it is frozen.
    """
    card = db.one(Card, card_id)
    require(card.status == "active", f"Card {card_id} is {card.status}; only an active card can be frozen.")
    return _card_view(db.update(Card, card_id, status="frozen", frozen_at=db.now_text, freeze_reason=reason))


@cards.write
def unfreeze_card(db: Db, card_id: Identifier) -> Json:
    """Make a frozen card active again.

    Args:
        card_id: the card, e.g. `CD-20418`.
    """
    card = db.one(Card, card_id)
    require(card.status == "frozen", f"Card {card_id} is {card.status}; only a frozen card can be unfrozen.")
    return _card_view(db.update(Card, card_id, status="active", frozen_at=None, freeze_reason=None))


@cards.write
def replace_card(db: Db, card_id: Identifier, reason: ReplaceReason) -> Json:
    """End a card and send its carrier a new one with other digits and the same controls; shows the new one.

    Charges nothing.

    Args:
        card_id: the active or frozen card that ends, e.g. `CD-20418`.
        reason: why it is replaced.
    """
    card = _card_in_use(db, card_id)
    new = db.insert(
        Card,
        account_id=card.account_id,
        customer_id=card.customer_id,
        ending=f"{(3 * int(card.ending) + 1709) % 10_000:04d}",
        status="active",
        issued_on=db.today,
        expires_on=month_end(db, YEARS_VALID),
        frozen_at=None,
        freeze_reason=None,
        replaces=card_id,
        replace_reason=None,
        **{name: getattr(card, name) for name in CONTROLS},
    )
    db.update(Card, card_id, status="replaced", replace_reason=reason)
    return _card_view(new)


@cards.write
def set_control(db: Db, card_id: Identifier, control: Control, state: Switch) -> Json:
    """Switch a control of an active or frozen card on or off.

    Args:
        card_id: the card, e.g. `CD-20418`.
        control: `online`, `contactless`, `abroad` for payments abroad, `cash_abroad` for cash from machines abroad.
        state: `on` or `off`.
    """
    card = _card_in_use(db, card_id)
    require(getattr(card, control) != state, f"`state`: {control} of card {card_id} is {state} already.")
    return _card_view(db.update(Card, card_id, **{control: state}))
