"""The tools of Marram Bank, in the order agents see them."""

from . import (
    accounts,
    callers,
    card_figures,
    cards,
    closing,
    customers,
    desk,
    disputes,
    figures,
    guide,
    payments,
    redress,
    savings,
)

TOOLSETS = [
    callers.callers,
    customers.customers,
    accounts.accounts,
    cards.cards,
    disputes.disputes,
    card_figures.card_figures,
    figures.figures,
    payments.payments,
    savings.savings,
    redress.redress,
    closing.closing,
    desk.desk,
    guide.guide,
]
