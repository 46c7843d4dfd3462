"""Section 7: split of a folio, disputed charges, prices of extras, double payments, duplicate bookings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal

from tb_envs.authoring import show_money
from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State, plain

from . import reckoning
from .episode import Episode
from .money import refunds_match
from .reckoning import captured, days_between, hours, in_time, moment, paid, percent_of, refunded, tier
from .records import Act

MEAL_LIMIT, DISPUTE_LIMIT = 6000, 4000
PARKING_NIGHT = 1800  # the current article on parking
PET_CLEANING, PET_NIGHT, PET_MOST = 3000, 1200, 15000  # the current article on pets
DISPUTABLE = ("minibar", "laundry", "restaurant")
EXTRAS = ("parking", "pet")
EXTRA_WORDS = {"parking": ("parking", "garage"), "pet": ("pets?", "dogs?", "cats?")}
MOST_CANDIDATES = 12


def company_pays(covers: str, charge: Row) -> bool:
    """Policy 7.1: whether a charge belongs on the company folio."""
    match charge["kind"]:
        case "room":
            return True
        case "breakfast":
            return covers in ("room_and_breakfast", "full_board")
        case "restaurant":
            return covers == "full_board" and charge["amount_cents"] <= MEAL_LIMIT
        case _:
            return False


def left_to_move(state: State, booking: Row) -> list[str]:
    """Policy 7.1: charges on a guest folio that the company takes."""
    covers = state.row("corporate_accounts", booking["corporate_account_id"]).get("covers", "")
    guest_folios = [folio["id"] for folio in reckoning.folios(state, booking["id"]) if folio["kind"] == "guest"]
    charges = [row for key in guest_folios for row in state.where("charges", folio_id=key)]
    return [row["id"] for row in charges if covers and company_pays(covers, row)]


def splits(episode: Episode) -> Iterator[Violation]:
    """Policy 7.1: exactly the company's charges go from the guest folio to the company folio, in time."""
    touched: dict[str, None] = {}
    for act in episode.of("open_folio", "move_charge"):
        booking = episode.start.row("bookings", act.booking_id)
        touched[booking["id"]] = None
        if not in_time(booking, "folio_split", episode.now):
            yield Violation("3.5", f"the split of {booking['id']} came more than 30 days after departure")
        if act.kind == "open_folio":
            continue
        target = episode.end.row("folios", act.change.after["folio_id"])
        covers = episode.start.row("corporate_accounts", booking["corporate_account_id"]).get("covers", "")
        if target["kind"] != "company" or not company_pays(covers, act.change.before):
            yield Violation("7.1", f"charge {act.change.key} ({act.reason}) was moved to a {target['kind']} folio")
    for key in touched:
        left = left_to_move(episode.end, episode.end.row("bookings", key))
        if left and "move_charge" not in episode.given_up:
            yield Violation("7.1", f"the company's charges {', '.join(left)} of {key} stayed with the guest")
        moved = any(act.booking_id == key for act in episode.of("move_charge"))
        if not moved and "move_charge" not in episode.given_up:
            yield Violation("7.1", f"a company folio was opened for {key} and nothing moved to it")


def dispute_relief(charges: Sequence[Row]) -> dict[str, int]:
    """Policy 7.2: charge → what is taken off, whole up to USD 40 in sum, else half of each."""
    amounts = {row["id"]: row["amount_cents"] - row["waived_cents"] for row in charges}
    whole = sum(amounts.values()) <= DISPUTE_LIMIT
    return {key: cents if whole else percent_of(cents, 50) for key, cents in amounts.items()}


def unsigned(state: State, booking_id: str) -> list[Row]:
    """Policy 7.2: charges of a booking that can be disputed with success."""
    return [
        row
        for row in _charges(state, booking_id)
        if row["kind"] in DISPUTABLE and row["evidence"] == "none" and row["amount_cents"] > row["waived_cents"]
    ]


def disputes(episode: Episode) -> Iterator[Violation]:
    """Policy 7.2 and 7.4: the relief fits some choice of unsigned charges; which ones, only the guest can say."""
    for key in _booking_ids(episode, "charge_dispute"):
        state, booking = episode.start, episode.start.row("bookings", key)
        if not in_time(booking, "charge_dispute", episode.now):
            yield Violation("3.5", f"the dispute about {key} came more than 14 days after departure")
        waived = _waived(episode, key, "dispute")
        for charge_id in waived:
            row = state.row("charges", charge_id)
            if row["kind"] not in DISPUTABLE or row["evidence"] == "signed":
                yield Violation("7.2", f"charge {charge_id} ({row['kind']}, {row['evidence']}) was taken off")
        refund = sum(act.cents for act in episode.refunds(key, "dispute"))
        if not _fits(state, unsigned(state, key), waived, refund, plain(episode.heard)):
            shown = ", ".join(f"{charge} {show_money(cents)}" for charge, cents in waived.items())
            yield Violation(
                "7.2", f"no choice of unsigned charges of {key} gives {shown or 'no waiver'} and {show_money(refund)}"
            )
        if refund:
            yield from refunds_match(episode, "7.2", key, "dispute", refund)
        spoken = [kind for kind in DISPUTABLE if kind in plain(episode.heard)]
        of_kind = {kind: [row for row in _charges(state, key) if row["kind"] == kind] for kind in spoken}
        signed = [kind for kind, rows in of_kind.items() if rows and all(row["evidence"] == "signed" for row in rows)]
        if signed and episode.ticket.get("outcome") == "completed":
            yield Violation("7.2", f"{signed[0]} was signed and stays, so the request is only partly completed")
        if _is_in_pieces(episode.refunds(key, "dispute")):
            yield Violation("7.4", f"the relief for {key} was not one refund of the sum")


def _fits(state: State, charges: Sequence[Row], waived: dict[str, int], refund: int, heard: str) -> bool:
    """Whether some choice of charges, of every kind that the guest spoke of, gives these waivers and this refund."""
    named = [
        row for row in charges if row["kind"] in heard.replace("mini bar", "minibar").replace("mini-bar", "minibar")
    ]
    certain = [row for row in charges if row["id"] in waived]
    if len(certain) < len(waived):
        return False
    settled = [row for row in named or charges if row["id"] not in waived and not _is_open(state, row)]
    for size in range(len(settled) + 1):
        for more in combinations(settled[:MOST_CANDIDATES], size):
            relief = dispute_relief([*certain, *more])
            covers = {row["kind"] for row in named} <= {row["kind"] for row in (*certain, *more)}
            waivers_fit = all(relief[key] == cents for key, cents in waived.items())
            if covers and waivers_fit and refund == sum(relief[row["id"]] for row in more):
                return True
    return False


def extra_price(state: State, booking: Row, kind: str) -> int:
    """Policy 7.3: the right price of parking or pets for the stay."""
    nights = days_between(booking["arrival"], booking["departure"])
    rank = tier(state, booking["guest_id"])
    if kind == "parking":
        paid_nights = {"platinum": 0, "gold": nights - 1}.get(rank, nights)
        return PARKING_NIGHT * paid_nights
    return min(PET_MOST, PET_CLEANING + PET_NIGHT * booking["pets"] * nights) if booking["pets"] else 0


def charged_too_much(state: State, booking: Row) -> dict[str, int]:
    """Policy 7.3: charge of an extra → what is too much of it; further charges of a kind count whole."""
    too_much: dict[str, int] = {}
    for kind in EXTRAS:
        right = extra_price(state, booking, kind)
        for row in [row for row in _charges(state, booking["id"]) if row["kind"] == kind]:
            charged = row["amount_cents"] - row["waived_cents"]
            too_much[row["id"]] = max(0, charged - right)
            right = max(0, right - charged)
    return {key: cents for key, cents in too_much.items() if cents}


def named_extras(heard: str) -> set[str]:
    """The extras that a guest spoke of."""
    return {kind for kind, words in EXTRA_WORDS.items() if any(re.search(rf"\b{word}\b", heard) for word in words)}


def price_corrections(episode: Episode) -> Iterator[Violation]:
    """Policy 7.3 and 7.4: exactly what was charged too much is taken off, or refunded in one sum once settled."""
    named = named_extras(plain(episode.heard))
    for key in _booking_ids(episode, "extras_price"):
        state, booking = episode.start, episode.start.row("bookings", key)
        too_much = charged_too_much(state, booking)
        charges = {row["id"]: row for row in _charges(state, key)}
        waived = _waived(episode, key, "price_correction")
        asked = {row for row in too_much if not named or charges[row]["kind"] in named}
        is_open = {row for row in charges if _is_open(state, charges[row])}
        must = asked & is_open if named else set[str]()
        for charge_id in sorted(waived.keys() | must):
            cents, due = waived.get(charge_id, 0), too_much.get(charge_id, 0)
            if cents != due:
                yield Violation(
                    "7.3", f"{show_money(cents)} was taken off {charge_id} where {show_money(due)} was too much"
                )
        settled = [too_much[row] for row in sorted(asked - is_open)]
        parts = [sum(part) for size in range(len(settled)) for part in combinations(settled, size)]
        yield from refunds_match(episode, "7.3", key, "price_correction", sum(settled), *([] if named else parts))
        if _is_in_pieces(episode.refunds(key, "price_correction")):
            yield Violation("7.4", f"the relief for {key} was not one refund of the sum")


Twice = Literal["twice", "returned", "apart", "once"]


def payment_twice(state: State, first: Row, second: Row) -> Twice:
    """Policy 7.5: what two captured payments, the older first, are."""
    same = all(first[name] == second[name] for name in ("folio_id", "kind", "amount_cents", "card_ending"))
    if not same:
        return "once"
    if refunded(state, second["id"], "double_payment") or refunded(state, first["id"], "double_payment"):
        return "returned"
    apart = moment(second["paid_at"]) - moment(first["paid_at"])
    return "twice" if apart <= hours(24) else "apart"


def payment_error(state: State, folio_ids: Sequence[str]) -> Twice:
    """Policy 7.5: the worst that is found among the payments of these folios."""
    payments = captured(state, folio_ids)[::-1]
    found = {payment_twice(state, first, second) for first, second in combinations(payments, 2)}
    order: tuple[Twice, ...] = ("twice", "returned", "apart", "once")
    return next(case for case in order if case in {*found, "once"})


def double_payments(episode: Episode) -> Iterator[Violation]:
    """Policy 7.5: the later of two equal payments within 24 hours is returned whole."""
    seen: set[str] = set()
    for act in episode.of("refund"):
        if act.reason != "double_payment":
            continue
        state = episode.before(act.call)
        payment = state.row("payments", act.change.after["payment_id"])
        others = [row for row in captured(state, [payment["folio_id"]]) if row["id"] != payment["id"]]
        earlier = [row for row in others if row["paid_at"] <= payment["paid_at"]]
        if not any(payment_twice(state, row, payment) == "twice" for row in earlier) or payment["id"] in seen:
            yield Violation("7.5", f"payment {payment['id']} is not the later of two taken within 24 hours")
        if act.cents != payment["amount_cents"]:
            yield Violation("7.5", f"refunded {show_money(act.cents)} of {payment['id']} where the whole was due")
        seen.add(payment["id"])


def is_duplicate(state: State, one: Row, other: Row) -> bool:
    """Policy 7.6: two confirmed direct bookings alike, booked 48 hours apart or less."""
    names = ("guest_id", "property_id", "room_type_id", "arrival", "departure")
    alike = all(one[name] == other[name] for name in names) and one["id"] != other["id"]
    ours = all(row["status"] == "confirmed" and row["channel"] == "direct" for row in (one, other))
    return alike and ours and abs(moment(one["booked_at"]) - moment(other["booked_at"])) <= hours(48)


def twins(state: State, booking: Row) -> list[Row]:
    """Policy 7.6: the duplicates of a booking."""
    same = state.where("bookings", guest_id=booking["guest_id"], arrival=booking["arrival"])
    return [row for row in same if is_duplicate(state, booking, row)]


def duplicates(episode: Episode) -> Iterator[Violation]:
    """Policy 7.6: the later duplicate is voided and all that was paid on it returned; no duplicate is cancelled."""
    for act in episode.of("void"):
        state, booking = episode.before(act.call), act.change.before
        kept = state.row("bookings", act.change.after["duplicate_of"])
        if not is_duplicate(state, booking, kept):
            yield Violation("7.6", f"{booking['id']} was voided, but {kept['id']} is not the same booking made twice")
        if booking["booked_at"] < kept["booked_at"]:
            yield Violation("7.6", f"{booking['id']} was voided, but {kept['id']} was booked later")
        yield from refunds_match(episode, "7.6", booking["id"], "duplicate_booking", paid(state, booking["id"]))
    for act in episode.of("cancel"):
        if episode.ticket.get("topic") == "duplicate_booking" and twins(episode.before(act.call), act.change.before):
            yield Violation("7.6", f"{act.change.key} is a duplicate and was cancelled where it is voided")


def _charges(state: State, booking_id: str) -> list[Row]:
    return [
        row for folio in reckoning.folios(state, booking_id) for row in state.where("charges", folio_id=folio["id"])
    ]


def _is_open(state: State, charge: Row) -> bool:
    return state.row("folios", charge["folio_id"]).get("status") == "open"


def _is_in_pieces(refunds: Sequence[Act]) -> bool:
    return len(refunds) > len({act.change.after["payment_id"] for act in refunds})


def _waived(episode: Episode, booking_id: str, reason: str) -> dict[str, int]:
    waived: dict[str, int] = {}
    for act in episode.of("waive"):
        if act.booking_id == booking_id and act.reason == reason:
            waived[act.change.key] = waived.get(act.change.key, 0) + act.cents
    return waived


def _booking_ids(episode: Episode, topic: str) -> list[str]:
    acts: list[Act] = [act for act in episode.of("waive", "refund") if act.topic == topic and act.booking_id]
    return list(dict.fromkeys(str(act.booking_id) for act in acts))
