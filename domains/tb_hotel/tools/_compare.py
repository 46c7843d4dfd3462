"""How what a person says is compared with what the records hold: names, numbers, the facts of an identity check."""

import re
import unicodedata

from tb_envs.authoring import Db
from tb_envs.store.db import Found
from tb_hotel.models import Booking


def fold(text: str) -> str:
    """A name or address without capitals, accents and blanks."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(plain.casefold().split())


def digits(text: str) -> str:
    """The digits of a phone number."""
    return re.sub(r"[^0-9]", "", text)


def spellings(text: str) -> list[str]:
    """What SQL's `lower` may make of a name, whichever capitals it has: databases differ beyond ASCII."""
    lower = text.strip().lower()
    return list(dict.fromkeys((lower, re.sub("[A-Z]", lambda found: found[0].lower(), lower.title()))))


def letters_apart(one: str, other: str) -> int:
    """How many letters must be added, taken away or replaced to get from one name to the other."""
    first, second = fold(one), fold(other)
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        corner, row[0] = row[0], i
        for j, right in enumerate(second, 1):
            corner, row[j] = row[j], min(corner + (left != right), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def matching_facts(
    db: Db,
    guest: Found,
    booking_id: str | None,
    email: str | None,
    phone: str | None,
    postcode: str | None,
    birth_date: str | None,
) -> list[bool]:
    """For each fact the caller named, whether it is what the records hold; a blank is no fact."""
    matches: list[bool] = []
    if booking_id:
        booking = db.get(Booking, booking_id)
        matches.append(booking is not None and booking.guest_id == guest.id)
    if email and email.strip():
        matches.append(fold(email) == fold(guest.email))
    if phone and phone.strip():
        matches.append(digits(phone) == digits(guest.phone))
    if postcode and postcode.strip():
        matches.append(fold(postcode) == fold(guest.postcode))
    if birth_date:
        matches.append(birth_date == guest.birth_date)
    return matches
