"""The records of Marram Bank, a bank without branches.

Money is integer cents beside a currency, negative where it leaves an account; dates are text ``YYYY-MM-DD``, instants
text ``YYYY-MM-DDTHH:MM:SSZ``, all in UTC. Enumerations are declared once, in `kinds`, and become CHECK constraints.
"""

from tb_banking.models import kinds
from tb_banking.models.accounts import Account, Balance, Deposit, Entry, Fee, Hold, Limit, Rate
from tb_banking.models.base import Base
from tb_banking.models.cards import Alert, Card, Dispute, Merchant
from tb_banking.models.desk import (
    CaseRemark,
    Compensation,
    Complaint,
    ContactNote,
    Passcode,
    PasscodeRule,
    SecureMessage,
    ServiceCase,
    SignOff,
    SignOffRule,
    Verification,
)
from tb_banking.models.payments import Payee, Return, StandingOrder, Transfer
from tb_banking.models.people import Customer, Device, Mandate

__all__ = [
    "Account",
    "Alert",
    "Balance",
    "Base",
    "Card",
    "CaseRemark",
    "Compensation",
    "Complaint",
    "ContactNote",
    "Customer",
    "Deposit",
    "Device",
    "Dispute",
    "Entry",
    "Fee",
    "Hold",
    "Limit",
    "Mandate",
    "Merchant",
    "Passcode",
    "PasscodeRule",
    "Payee",
    "Rate",
    "Return",
    "SecureMessage",
    "ServiceCase",
    "SignOff",
    "SignOffRule",
    "StandingOrder",
    "Transfer",
    "Verification",
    "kinds",
]
