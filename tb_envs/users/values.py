"""Values that a customer knows, and dates in free text.

Refuses relative dates ("tomorrow"): they are not read at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any, Generic, TypeVar

from .phrases import stems
from .words import MARK, Is, Token, cents, each, tokens

T = TypeVar("T")
Day = tuple[int, int, int]
"""Year or 0, month, day."""
_MONTHS = "january february march april may june july august september october november december"
MONTHS = tuple(name.capitalize() for name in _MONTHS.split())
_MONTH_OF = {word: at for at, name in enumerate(_MONTHS.split(), 1) for word in (name, name[:3])} | {"sept": 9}
_COUNT = "zero one two three four five six seven eight nine ten eleven twelve"
_TO = frozenset(("to", "and", "until", "till"))
_BEFORE_DAY = each(
    "on to until till through from by and is date day arriving leaving departing checking out in"
    " monday tuesday wednesday thursday friday saturday sunday"
)
_AFTER_DAY = each(
    "check out three two and to until till is right correct yes at instead or in leaving departing of which that"
)
NUMBERS = {word: at for at, word in enumerate(_COUNT.split())}
_PARTS_OF_DAY = each("morning afternoon evening")
_NAMED_HOURS = {"noon": 12, "midday": 12, "midnight": 24}
SKIP = each("is are was the of for in at on to and or as under with it that")
_FEW = {"first": 1, "second": 2, "third": 3}
"""Ordinals that are numbers only beside a month."""
_HALVES = {("half", "past"): 30, ("quarter", "past"): 15, ("quarter", "to"): -15}
_HALF_DAYS = each("am pm clock h hrs")
_AT = each("at until til till around by about")
_AFTER_HOUR = each("on in to is would right correct yes at sharp and or instead then for as which that it latest")
LEAST = 4
"""Letters of a name from which on another word can be a slip of it."""
_RELATIONS = frozenset(
    stems(
        "wife husband spouse daughter son mother father sister brother aunt uncle cousin niece nephew assistant"
        " secretary colleague friend partner lawyer attorney agent boss employee neighbour parent child fiance fiancee"
        " grandmother grandfather grandson granddaughter employer accountant carer girlfriend boyfriend"
    )
)
"""What a caller can be to a guest."""
_ROOMS = each("single double twin king queen suite deluxe studio penthouse triple")


class _once(Generic[T]):
    """A value computed at its first use and kept; `functools.cached_property` without its lock."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name = make, make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, holder: Any, owner: Any = None) -> T:
        value = holder.__dict__[self._name] = self._make(holder)
        return value


class Value:
    """One value that the customer knows; what is compared with it is prepared when first needed."""

    def __init__(
        self, fact: str, group: str, kind: str, text: str, values: Sequence[str] = (), same_as: Sequence[str] = ()
    ) -> None:
        self.fact, self.group, self.kind, self.text = fact, group, kind, text
        self._values, self._same_as = values, same_as
        self.contested = False

    @property
    def plain(self) -> bool:
        """Whether only its own words can tell it: no other spelling, no list of what else there is."""
        return not self._same_as and not self._values and self.group not in ("room", "room_type", "caller")

    @property
    def spelled_otherwise(self) -> bool:
        """Whether it has other spellings: those its author gave, or those of a number plate."""
        return bool(self._same_as) or (self.kind == "text" and any(map(str.isdigit, self.text)))

    @_once
    def key(self) -> str:
        """Letters and digits, or for a phone or a card digits only."""
        return (digits(self.text) if self.kind in ("phone", "digits") else "") or squash(self.text)

    @_once
    def same(self) -> tuple[str, ...]:
        """Other spellings that are as good."""
        return tuple(squash(spelled) for spelled in self._same_as)

    @_once
    def days(self) -> tuple[Day, ...]:
        """The dates in it."""
        return tuple(day for spelled in (self.text, *self._same_as) for day in _days(spelled))

    @_once
    def number(self) -> int | None:
        """Cents of an amount, else the number in it."""
        out: int | None = None
        for token in tokens(self.text):
            if token.kind is Is.AMOUNT and isinstance(token.value, int):
                out = token.value
            elif token.kind is Is.NUMBER and self.kind == "amount":
                out = cents(token.text)
            elif token.kind is Is.NUMBER and isinstance(token.value, int):
                out = token.value
            elif token.text in NUMBERS and out is None:
                out = NUMBERS[token.text]
        return out

    @_once
    def minutes(self) -> tuple[int, ...]:
        """The hours of the day in it, in minutes."""
        return tuple(minutes for _, minutes in times([token for token in tokens(self.text) if token.part != MARK]))

    @_once
    def heard_as(self) -> frozenset[str]:
        """Its words as they are."""
        return frozenset(self.text.lower().split())

    @_once
    def texts(self) -> frozenset[str]:
        """Its words as they are heard, for names."""
        return _texts(self.text)

    @_once
    def numbered(self) -> bool:
        """Whether it is told by digits (a number plate): then other spellings fit too."""
        return len(self.key) > 3 and any(letter.isdigit() for letter in self.key)

    @_once
    def words(self) -> frozenset[str]:
        """Its stems."""
        return _words(self.text)

    @_once
    def others(self) -> frozenset[str]:
        """Stems of other values of this kind in the domain."""
        if self.group == "caller":
            return _RELATIONS - self.words if not _RELATIONS.isdisjoint(self.words) else frozenset()
        others = (*self._values, *_ROOMS) if self.group in ("room", "room_type") else self._values
        return frozenset[str]().union(*map(_all_stems, others)) - self.words


@lru_cache(maxsize=4096)
def _texts(text: str) -> frozenset[str]:
    return frozenset(token.text for token in tokens(text) if token.part != MARK)


@lru_cache(maxsize=4096)
def _all_stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    own = _all_stems(text) - SKIP
    return (own - {"room"}) or own


class Values(dict[str, Value]):
    """All values that a customer knows, by fact and by kind."""

    def __init__(self, known: Mapping[str, Value], groups: Iterable[str] = ()) -> None:
        super().__init__(known)
        self.groups = frozenset(groups)
        """The facts it is aware of, also those that it cannot give, by the name agents ask for them."""
        self.of: defaultdict[str, list[Value]] = defaultdict(list)
        for value in known.values():
            self.of[value.kind].append(value)
        self.contested = any(value.contested for value in known.values())
        self.wordy = [value for kind in ("name", "place", "text") for value in self.of[kind]]

    @_once
    def worded(self) -> frozenset[str]:
        """The words of all names, places and texts."""
        return frozenset(text for value in self.wordy for text in value.heard_as)

    @_once
    def odd(self) -> list[Value]:
        """The names, places and texts that can be told by other words than their own."""
        return [value for value in self.wordy if value.spelled_otherwise]

    @_once
    def called(self) -> frozenset[str]:
        """The words of all names."""
        return frozenset(text for value in self.of["name"] for text in value.texts)

    @_once
    def slipped(self) -> list[tuple[Value, list[str]]]:
        """Every name with those of its words that are long enough to be recognised with a slip in them."""
        return [(value, [text for text in sorted(value.texts) if len(text) >= LEAST]) for value in self.of["name"]]


def squash(text: str) -> str:
    """Letters and digits only."""
    return "".join(filter(str.isalnum, text.lower()))


def digits(text: str) -> str:
    """ASCII digits only."""
    return "".join(filter("0123456789".__contains__, text))


def said(value: object) -> str:
    """A value as the customer says it."""
    if isinstance(value, date):
        return f"{value.day} {MONTHS[value.month - 1]} {value.year}"
    return str(value)


def dates(words: list[Token], places: Sequence[int]) -> list[tuple[int, int, Day]]:
    """(from, to, (year or 0, month, day)) for every date in `words`; an unsure order has a month < 0.

    Args:
        words: tokens without marks.
        places: where they are no plain words.
    """
    out: list[tuple[int, int, Day]] = []
    months: set[int] = set()
    for at in places:
        token = words[at]
        if token.kind is Is.DATE and isinstance(token.value, tuple):
            out.append((at, at + 1, token.value))
        elif token.kind is Is.NUMBER:
            months.update(near for near in (at - 1, at + 1, at + 2) if _month(words, near))
    for at, token in enumerate(words):
        if token.text in _FEW:  # "the first of May", no "the first may go"
            near = at + 2 if at + 1 < len(words) and words[at + 1].text == "of" else at - 1
            if _month(words, near) and (words[near].text != "may" or words[near].capital):
                months.add(near)
    for at in sorted(months):
        out += _at_month(words, at)
    if len(places) > len(out):
        out += _short(words, places, out)
    return sorted(out) if len(out) > 1 else out


def _short(words: list[Token], places: Sequence[int], full: list[tuple[int, int, Day]]) -> list[tuple[int, int, Day]]:
    """Days without a month beside full dates: "from 20 June 2031 to the 23rd"."""
    out: list[tuple[int, int, Day]] = []
    for at in places:
        token = words[at]
        if token.kind is not Is.NUMBER or not token.text[-1].isalpha() or not _day(token):
            continue
        if any(lo <= at < hi for lo, hi, _ in full) or not at:
            continue
        ranged = at + 1 < len(words) and words[at + 1].text in _TO and at + 2 in places
        noted = at + 1 < len(words) and words[at + 1].text == "as"  # "I have the 12th as your new arrival"
        if words[at - 1].text not in _BEFORE_DAY and not ranged and not noted:
            continue
        if noted or at + 1 == len(words) or words[at + 1].text in _AFTER_DAY:
            told = [date for date in full if date[0] < at] or full[:1]
            year, month, _ = max(told)[2] if told else (0, 0, 0)
            if month >= 0:
                out.append((at, at + 1, (year, month, _day(token))))
    return out


def times(words: list[Token], bare: bool = False) -> list[tuple[int, int]]:
    """(place, minutes) of every hour of the day: "16:00", "4 pm", "four in the afternoon", "5 o'clock".

    With `bare` also "leave at four"; an hour that may be one of the morning or of the afternoon is listed as both.
    """
    out: list[tuple[int, int]] = []
    for at, token in enumerate(words):
        hour = token.value if token.kind is Is.NUMBER else NUMBERS.get(token.text)
        if token.kind is Is.TIME and isinstance(token.value, int):
            hour, minute = divmod(token.value, 60)
        elif token.text in _NAMED_HOURS:
            hour, minute = _NAMED_HOURS[token.text], 0
        elif isinstance(hour, int) and 0 <= hour < 25:
            minute = 0
        else:
            continue
        after = [word.text for word in words[at + 1 : at + 5]]
        half = next((word for word in after[:1] if word in _HALF_DAYS), "")
        part = next((word for word in after if word in _PARTS_OF_DAY), "")
        past = _HALVES.get((words[at - 2].text, words[at - 1].text), 0) if at > 1 else 0
        if token.kind is not Is.TIME and token.text not in _NAMED_HOURS and not half and not part:
            told = bare and at and words[at - 1].text in _AT and (not after or after[0] in _AFTER_HOUR)
            if past or (told and 0 < hour < 13 and not (after and after[0] == "of")):
                out += [(at, hour * 60 + past), (at, (hour * 60 + past + 720) % 1440)]
            continue
        if half == "clock" and not part and 0 < hour < 12 and token.kind is not Is.TIME:
            out += [(at, hour * 60 + past), (at, (hour + 12) * 60 + past)]
            continue
        if hour < 12 and (half == "pm" or (part and part != "morning")):
            hour += 12
        elif hour == 12 and half == "am":
            hour = 0
        out.append((at, hour * 60 + minute + past))
    return out


def _at_month(words: list[Token], at: int) -> list[tuple[int, int, Day]]:
    """The dates around the name of a month: one, or the two of a range ("3–5 May", "May 3 to 5")."""
    day, lo, hi = _around(words, at)
    if not day:
        return []
    month, year, size = _MONTH_OF[words[at].text], 0, len(words)
    if hi < size and _year(words[hi]):
        year, hi = _year(words[hi]), hi + 1
    out = [(lo, hi, (year, month, day))]
    if lo < at:
        if lo and _day(words[lo - 1]):
            out.insert(0, (lo - 1, lo, (year, month, _day(words[lo - 1]))))
        elif lo > 1 and words[lo - 1].text in _TO and _day(words[lo - 2]):
            out.insert(0, (lo - 2, lo - 1, (year, month, _day(words[lo - 2]))))
    elif hi < size and not year and _day(words[hi]):
        out.append((hi, hi + 1, (0, month, _day(words[hi]))))
    elif hi + 1 < size and words[hi].text in _TO and _day(words[hi + 1]) and not _month(words, hi + 2):
        out.append((hi + 1, hi + 2, (0, month, _day(words[hi + 1]))))
    return out


@lru_cache(maxsize=4096)
def _days(text: str) -> tuple[Day, ...]:
    words = [token for token in tokens(text) if token.part != MARK]
    places = [at for at, token in enumerate(words) if token.kind is not Is.WORD]
    return tuple(day for _, _, day in dates(words, places))


def _year(token: Token) -> int:
    known = token.value if token.kind is Is.NUMBER else None
    return known if isinstance(known, int) and 1900 < known < 2200 else 0


def _month(words: list[Token], at: int) -> bool:
    return 0 <= at < len(words) and words[at].text in _MONTH_OF


def _day(token: Token) -> int:
    if token.kind is not Is.NUMBER:
        return _FEW.get(token.text, 0)
    plain = token.text.rstrip("stndrh")
    number = int(plain) if plain.isdecimal() and plain.isascii() and len(plain) < 3 else 0
    return number if 1 <= number <= 31 else 0


def _around(words: list[Token], at: int) -> tuple[int, int, int]:
    """The day beside the month at `at`: (day, from, to)."""
    if at and _day(words[at - 1]):
        return _day(words[at - 1]), at - 1, at + 1
    if at > 1 and words[at - 1].text == "of" and _day(words[at - 2]):
        return _day(words[at - 2]), at - 2, at + 1
    if at + 1 < len(words) and _day(words[at + 1]):
        return _day(words[at + 1]), at, at + 2
    return 0, at, at


def same_day(one: Day, other: Day) -> bool:
    """Equal as far as both say (month 0: only the day is told); `03/04` fits in either order."""
    if one[0] and other[0] and one[0] != other[0]:
        short = min(one[0], other[0])
        if short > 99 or short != max(one[0], other[0]) % 100:  # "30/11/79"
            return False
    if not (one[1] and other[1]):
        return one[2] == other[2]  # "on the 12th"
    if one[1] < 0:
        return (-one[1], one[2]) in ((other[1], other[2]), (other[2], other[1]))
    if other[1] < 0:
        return same_day(other, one)
    return one[1:] == other[1:]
