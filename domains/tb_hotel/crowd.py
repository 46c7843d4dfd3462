"""The hotel's side of the knob ``lookalikes``: people who are easily taken for the guests of a task, each with a stay.

Refuses to touch what the task needs: their stays are over and take no room that is on sale.
"""

from __future__ import annotations

from collections.abc import Sequence

from tb_hotel.world import HotelWorld


def crowd(w: HotelWorld, guest_ids: Sequence[str], count: int) -> None:
    """Place `count` near duplicates of each guest."""
    for guest_id in guest_ids:
        for place in range(count):
            double = w.lookalike(
                w.person(guest_id), tier=w.pick("standard", "silver", "gold"), same_name=place % 2 == 1
            )
            w.booking(double, w.pick("FLEX", "SEMI"), status="checked_out", arrival=w.day(-w.between(20, 90)), nights=2)
