"""The tools of Marram Bank, in the order agents see them."""

from . import accounts, callers, cards, customers, desk, disputes, figures, guide, payments, redress, savings

TOOLSETS = [
    callers.callers,
    customers.customers,
    accounts.accounts,
    cards.cards,
    disputes.disputes,
    figures.figures,
    payments.payments,
    savings.savings,
    redress.redress,
    desk.desk,
    guide.guide,
]
