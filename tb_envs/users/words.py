"""Cut free text into words, stems and values; bounded, total, the same on every machine.

Refuses to understand anything: a token is a word, a punctuation mark or a value (id, e-mail, amount,
date part, number), nothing more. At most the first `HEAD` and the last `TAIL` characters are read.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from .spelling import DETERMINERS, FILLERS, GENERAL, HEDGES, POLITE, SHORT, STEMS
from .spelling import each as each
from .typos import mended

_ENDINGS = {"n't": "not", "'ll": "will", "'ve": "have", "'re": "are", "'m": "am", "'d": "would"}
_IS = each("what that it who here there where when how he she why which this everything all")
HEAD, TAIL, CHUNK = 3000, 1200, 64
KEPT = 16384
"""Chunks and stems remembered at most."""


_TENTHS = "fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth"
_TEENS = "seventeenth eighteenth nineteenth twentieth"
_ONES = "first second third fourth fifth sixth seventh eighth ninth"
ORDINALS = {
    **{name: f"{at}th" for at, name in enumerate(f"{_TENTHS} {_TEENS}".split(), 4)},
    **{f"twenty-{name}": f"{at}th" for at, name in enumerate(_ONES.split(), 21)},
    "thirtieth": "30th",
    "thirty-first": "31th",
}
"""Days of a month in words; "first" to "third" are more often no numbers."""


class Is(IntEnum):
    """What a token is."""

    WORD = 0
    MARK = 1
    NUMBER = 2
    ID = 3
    EMAIL = 4
    AMOUNT = 5
    DATE = 6
    TIME = 7


WORD, LINK, VALUE, DETERMINER, FILLER, PLEASE, NOW, AGAIN, RULE, HEDGE, MARK = range(11)
"""The part that a token plays in its clause; a `LINK` is a word that may begin or join one, or be a slip."""
ALWAYS_SPLIT = each("but because although whereas however")
SPLIT_BEFORE_SUBJECT = each("and or so then nor yet plus")
PAIRED = {("all", "right"): "alright", ("doubl", "check"): "recheck"}
"""Two stems that are one word when the second follows the first."""
SLIPS = each("'re you tel")
"""Words that may stand for another one: "you're number", "you surname", "tel no"."""
_LINKS = ALWAYS_SPLIT | SPLIT_BEFORE_SUBJECT | {stem for pair in PAIRED for stem in pair} | {"no"}


class Token(NamedTuple):
    """One word, mark or value.

    `text` is lower case; `stem` is for comparison only; `value` is cents for an amount, the number
    for a number, (year or 0, month, day) for a date, minutes for a time of the day;
    `capital`: it began with a capital letter; `part`: see `WORD` and the following.
    """

    text: str
    stem: str
    kind: Is = Is.WORD
    value: int | tuple[int, int, int] | None = None
    capital: bool = False
    part: int = VALUE


_ABBREVIATED = each("no nr mr mrs ms dr e.g i.e ref tel approx vs etc st num p.m a.m prof res conf resv rsvn bkg addr")
_EDGE_LEFT = "\"'([{<*•·–—-_~`“”«»‘’…>|=.,;:!?"
_MARKS = dict(zip("?!.;:,)(…—–-？。", "?..;:,,,.---?.", strict=True))
_EMAIL = re.compile(r"[\w.+'%-]{1,40}@[\w-]{1,40}(?:\.[\w-]{1,20}){1,4}", re.ASCII)
_ID = re.compile(r"[a-z]{1,6}[-_#./]?\d[\da-z]{1,14}(?:-[\da-z]{1,8})?|\d{1,4}[a-z]{1,3}[-]?\d{2,8}", re.ASCII)
_PARTS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+(?:st|nd|rd|th)\b|\d+(?:[.,]\d+)*|[?!.;:,/–—-]")
_AMOUNT = re.compile(r"\+?(?:us|c|a)?[$€£¥](\d[\d,.]*)|(\d[\d,.]*)[$€£¥]", re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})[/.](\d{1,2})(?:[/.](\d{2,4}))?", re.ASCII)
_TIME = re.compile(r"([01]?\d|2[0-3])[:h]([0-5]\d)(?::00)?(am|pm|h)?", re.ASCII)
_DIGITS = re.compile(r"\+?\d[\d().-]*", re.ASCII)
_ITEMS = dict(zip(["a", "b", "c", "d", "i", "ii", "iii", "iv"], "12341234", strict=True))
"""How items of a list are counted: "(a) your name, (b) your e-mail"."""


@lru_cache(maxsize=KEPT)
def stem(word: str) -> str:
    """A crude stem, good enough to compare an author's word with an agent's."""
    known = STEMS.get(word)
    if known is not None:
        return known
    if len(word) > 3:
        if word.endswith("ies") and len(word) > 4:
            word = word[:-3] + "y"
        elif word.endswith(("sses", "ches", "shes", "xes")):
            word = word[:-2]
        elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
        if word.endswith("ing") and len(word) > 5:
            word = word[:-3]
        elif word.endswith("ed") and len(word) > 4:
            word = word[:-2]
        elif word.endswith("ation") and len(word) > 8:
            word = word[:-5]
        if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
            word = word[:-1]
        word = word[:-1] + "i" if len(word) > 3 and word[-1] == "y" else word
        word = word[:-1] if len(word) > 3 and word[-1] == "e" else word
    return STEMS.get(word, word)


_TELLING = {"now": NOW, "again": AGAIN}


def plain_word(word: str, capital: bool = False) -> Token:
    """A token of a word."""
    root = stem(word)
    part = LINK if root in _LINKS or word in SLIPS else WORD
    if word in DETERMINERS:
        part = DETERMINER
    elif word in POLITE:
        part = PLEASE
    elif word in GENERAL:
        part = RULE
    elif word in HEDGES:
        part = HEDGE
    elif word in FILLERS:
        part = _TELLING.get(word, FILLER)
    return Token(word, root, capital=capital, part=part)


def mark(text: str) -> Token:
    """A token of punctuation."""
    return Token(text, "", Is.MARK, part=MARK)


def cents(digits: str) -> int | None:
    """`"1,234.50"` → 123450, also `"1.234,50"`; None when it is no amount."""
    digits = digits.rstrip(".,")
    whole, mark, part = digits, "", ""
    for sign in ".,":
        head, found, tail = digits.rpartition(sign)
        if found and len(tail) in (1, 2):
            whole, mark, part = head, sign, tail
    number = whole.replace(",", "").replace(".", "")
    if not number.isdecimal() or not number.isascii() or len(number) > 12:
        return None
    return int(number) * 100 + (int(part.ljust(2, "0")) if mark else 0)


def _plain(word: str, capital: bool) -> Token:
    return Token(word, "are", capital=capital, part=LINK) if word == "'re" else plain_word(word, capital)


def _word(text: str, capital: bool = False) -> tuple[Token, ...]:
    if text in ORDINALS:
        return (_number(ORDINALS[text]),)
    plain = SHORT.get(text)
    if plain is not None:
        return tuple(_plain(word, capital) for word in plain.split())
    if "'" in text:
        if text.endswith("n't"):
            return (*_word(text[:-3], capital), plain_word("not"))
        head, _, tail = text.partition("'")
        if tail == "s":
            return (*_word(head, capital), plain_word("is")) if head in _IS else _word(head, capital)
        ending = _ENDINGS.get("'" + tail)
        if ending and head:
            follow = plain_word(ending)
            return (*_word(head, capital), follow._replace(text="'re", part=LINK) if ending == "are" else follow)
        text = head or tail
        if not text:
            return ()
    return (plain_word(mended(text), capital),)


def _number(text: str) -> Token:
    plain = text.rstrip("stndrh") if text[-1:].isalpha() else text
    plain = plain.replace(",", "")
    value = int(plain) if plain.isdecimal() and plain.isascii() and len(plain) < 16 else None
    return Token(text, text, Is.NUMBER, value)


def _core(text: str, capital: bool) -> tuple[Token, ...]:
    if text in SHORT or text.isalpha() or text in ORDINALS:
        return _word(text, capital)
    if "@" in text and (found := _EMAIL.search(text)):
        return (Token(found.group(), found.group(), Is.EMAIL),)
    if (found := _AMOUNT.fullmatch(text)) and (value := cents(found.group(1) or found.group(2))) is not None:
        return (Token(text, text, Is.AMOUNT, value),)
    if found := _DATE.fullmatch(text):
        year, month, day, first, second, late = found.groups()
        if year:
            return (Token(text, text, Is.DATE, (int(year), int(month), int(day))),)
        if int(first) and int(second) and (late or "/" in text) and min(int(first), int(second)) <= 12:
            years = int(late) if late else 0
            return (Token(text, text, Is.DATE, (years, -int(first), int(second))),)
    if found := _TIME.fullmatch(text):
        hour = int(found.group(1))
        hour = hour % 12 + 12 if found.group(3) == "pm" else hour
        return (Token(text, text, Is.TIME, hour * 60 + int(found.group(2))),)
    if _ID.fullmatch(text) and not re.fullmatch(r"\d+(?:st|nd|rd|th|am|pm|x|h)\d*", text):
        return (Token(text, text, Is.ID),)
    if _DIGITS.fullmatch(text) and sum(map(str.isdigit, text)) > 6:
        return (Token(text, text, Is.NUMBER),)
    out: list[Token] = []
    for part in _PARTS.findall(text)[:24]:
        if part in _MARKS:
            out.append(mark(_MARKS[part]))
        elif part == "/":
            out.append(plain_word("or"))
        elif part[0].isdigit():
            out.append(_number(part))
        else:
            out.extend(_word(part, capital))
    return tuple(
        token
        for at, token in enumerate(out)
        if token.text != "-" or (0 < at < len(out) - 1 and out[at - 1].kind and out[at + 1].kind)
    )


def _chunk(chunk: str) -> tuple[Token, ...]:
    """The tokens of one run of non-space characters (at most `CHUNK` of them)."""
    if chunk.isalpha():
        return _word(chunk.lower(), chunk[0].isupper())
    text = chunk.lower().replace("’", "'").replace("‘", "'").replace("‐", "-").replace("‑", "-")
    if text in SHORT:
        return _word(text)
    if text[-1] == ")" and len(text) < 6 and (item := _ITEMS.get(text.strip("()"))):
        return (mark(","), _number(item)) if text[0] == "(" else (_number(item),)
    core = text.lstrip(_EDGE_LEFT)
    before = text[: len(text) - len(core)]
    bare = core.rstrip("\"').,;:!?]}>*…”»’-–—_`|。？")
    after = core[len(bare) :]
    out: list[Token] = []
    if before and any(mark in before for mark in "(*•·–—-"):
        out.append(mark("-" if not core or before in ("–", "—", "-") else ","))
    elif before and any(mark in before for mark in ".?!;"):
        out.append(mark("?" if "?" in before else "."))
    if bare:
        position = len(before)
        out.extend(_core(bare, chunk[position : position + 1].isupper()))
    marks = [_MARKS[mark] for mark in after if mark in _MARKS]
    if marks:
        strongest = next((mark for mark in "?.;:," if mark in marks), "-")
        if not (strongest == "." and after in (".", ".,", ".)") and (bare in _ABBREVIATED or _initial(chunk))):
            out.append(mark(strongest))
        elif after == ".,":
            out.append(mark(","))
    return tuple(out)


def _initial(chunk: str) -> bool:
    """As in "T. Berg": one capital letter."""
    return len(chunk) == 2 and chunk[0].isupper() and chunk[0] != "I"


def tokens(text: str) -> list[Token]:
    """All tokens of `text` in order; a line break is a mark of its own."""
    if len(text) > HEAD + TAIL:
        text = text[:HEAD] + "\n" + text[-TAIL:]
    if "no." in text:
        text = _REFUSED.sub(r"\1 no !", text)
    out: list[Token] = []
    for line in text.split("\n"):
        if out:
            out.append(_BREAK)
        out += chain.from_iterable(map(_CUT, line.split()))
    return out


class _Chunks(dict[str, tuple[Token, ...]]):
    """The tokens of chunks, cut when first met: a plain look-up each, where most words have been heard before."""

    def __missing__(self, chunk: str) -> tuple[Token, ...]:
        if len(chunk) > CHUNK:
            return self[chunk[:CHUNK]]
        if len(self) >= KEPT:
            self.clear()
        found = self[chunk] = _chunk(chunk)
        return found


_CUT = _Chunks().__getitem__


_REFUSED = re.compile(r"\b(is|it's|a|or|remains|stays|still|said|says|answered|or) no\.(?=\s+[A-Z]|\s*$)")
"""A "no" at the end of a sentence, which is no number."""
_BREAK = mark("\n")
