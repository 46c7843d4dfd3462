"""The bank's world builder: what the seed and the families place, in the bank's words.

`BankWorld` joins the builders by subject: clock, people, accounts, cards, payments, desk. Every builder leaves the
world lawful (`tb_banking.laws`); it refuses (`DomainError`) what could not be so.
"""

from tb_banking.world.accounts import Acct
from tb_banking.world.company import CLOCK
from tb_banking.world.desk import Desk
from tb_banking.world.people import Person, Phone


class BankWorld(Desk):
    """The seeded world of one banking task."""


__all__ = ["CLOCK", "Acct", "BankWorld", "Person", "Phone"]
