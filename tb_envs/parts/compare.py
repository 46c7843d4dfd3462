"""How what a person says is compared with what the records hold: names, addresses, numbers."""

import re
import unicodedata


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
