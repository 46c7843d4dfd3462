"""The booked room cannot be used: a sister property, the first night back and points, or everything back and goodbye."""

from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Offer,
    Persona,
    Scenario,
    Step,
    call,
    calls,
    changed,
    created,
    derived,
    family,
    happened,
    mistake,
    say,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, LoyaltyEntry, Reason, Tier
from tb_hotel.world import HotelWorld, Stay

H = 60


class Case(NamedTuple):
    """Whether the guest moves, tier and account, minutes of notice, where the fault lies, how the sister stands."""

    then: Literal["moves", "leaves", "stays"]
    tier: Tier
    minutes: int
    account: bool = True
    fault: Literal["first night", "last night", "night before", "major"] = "first night"
    better: bool = False
    ota: bool = False


CASES = (
    Case("moves", "standard", 24 * H - 1),
    Case("moves", "gold", 24 * H, fault="last night"),
    Case("moves", "silver", 24 * H + 1, better=True),
    Case("moves", "platinum", 5 * H),
    Case("moves", "standard", 20 * H, account=False),
    Case("leaves", "silver", 40 * H),
    Case("stays", "gold", 24 * H),
    Case("moves", "silver", 24 * H - 1, ota=True),
    Case("moves", "standard", 24 * H, better=True),
    Case("moves", "platinum", 72 * H, fault="last night", ota=True),
    Case("leaves", "platinum", 9 * H, ota=True),
    Case("stays", "standard", 30 * H, account=False, fault="night before"),
    Case("moves", "gold", 24 * H - 1, better=True),
)
