"""Text as it is compared, and amounts as they are written."""

from __future__ import annotations

import re
import unicodedata


def plain(text: str) -> str:
    """Text without case and accents, apostrophes straight, blanks made single."""
    letters = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).split())


def bare(text: str) -> str:
    """Letters and digits only, without case and accents."""
    return re.sub(r"[\W_]", "", plain(text))


def usd(cents: int) -> str:
    """Integer cents as a reader writes them."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"
