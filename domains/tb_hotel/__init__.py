"""Halden House Hotels: guests, stays, folios, and the desk that serves them, as one domain of the suite."""

from typing import get_args

from tb_envs.authoring.domain import Domain
from tb_hotel.crowd import crowd
from tb_hotel.laws import LAWS
from tb_hotel.models import Base, Team
from tb_hotel.proofs import proofs
from tb_hotel.seed import seed
from tb_hotel.tools import TOOLSETS
from tb_hotel.tools.spare import spare
from tb_hotel.vocabulary import vocabulary
from tb_hotel.world import CLOCK, HotelWorld

domain = Domain(
    name="hotel",
    title="Halden House Hotels",
    role="You are a service agent of Halden House Hotels and answer guests, travellers and organisers of groups.",
    base=Base,
    toolsets=TOOLSETS,
    package="tb_hotel",
    vocabulary=vocabulary,
    seed=seed,
    world=HotelWorld,
    clock=CLOCK,
    teams=get_args(Team),
    proofs=proofs,
    laws=LAWS,
    distractors=spare,
    crowd=crowd,
)
