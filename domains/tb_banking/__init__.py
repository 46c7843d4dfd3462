"""Marram Bank: customers, accounts, cards, payments, and the desk that serves them, as one domain of the suite."""

from typing import get_args

from tb_banking.crowd import crowd
from tb_banking.laws import LAWS
from tb_banking.models import Base
from tb_banking.models.kinds import Queue
from tb_banking.proofs import proofs
from tb_banking.seed import seed
from tb_banking.tools import TOOLSETS
from tb_banking.tools.spare import spare
from tb_banking.vocabulary import vocabulary
from tb_banking.world import CLOCK, BankWorld
from tb_envs.authoring.domain import Domain

domain = Domain(
    name="banking",
    title="Marram Bank",
    role="You serve the customers of Marram Bank, a bank without branches, and those who act for them, in chat.",
    base=Base,
    toolsets=TOOLSETS,
    package="tb_banking",
    vocabulary=vocabulary,
    seed=seed,
    world=BankWorld,
    clock=CLOCK,
    teams=get_args(Queue),
    proofs=proofs,
    laws=LAWS,
    distractors=spare,
    crowd=crowd,
)
