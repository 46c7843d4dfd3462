"""Values in what was heard, and whether they are the customer's own.

Refuses to guess: a value is right, wrong, or none of the customer's business (an example, the
company's own address, another record's id). Relative dates ("tomorrow") are never judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from .clauses import Clause
from .lexicon import EXAMPLES, OTHERS
from .phrases import DROPPED, Span, stems
from .words import Is, Token, cents, tokens

MONTHS = "January February March April May June July August September October November December".split()
_MONTHS = {
    name: at // 2 + 1
    for at, name in enumerate("january jan february feb march mar april apr may may june jun july jul august aug september sep october oct november nov december dec".split())
} | {"sept": 9}  # fmt: skip
_DAYS = {day: at for at, day in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
_DAYS |= {day[:3]: at for day, at in _DAYS.items()}
_NUMBERS = {word: at for at, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())}
_CURRENCY = frozenset("usd eur gbp chf dollar dollars euro euros pound pounds bucks cad aud francs cents".split())
_SKIP = frozenset("is are was the of for in at on to and or as under with it that".split())
_ROLES = {
    "arrival": frozenset(("arriv", "check in", "from", "start", "begin", "on")),
    "departure": frozenset(("depart", "leav", "to", "until", "til", "check out", "through", "end", "-")),
}
_EXPLICIT = {"arrival": frozenset(("arriv", "start", "begin")), "departure": frozenset(("depart", "leav", "end"))}
_COUNTED = {"guests": frozenset(stems("guest person people adult traveller pax")), "nights": frozenset(("night",))}
_NEW = frozenset("new mov chang instead reschedul rebook shift extend switch postpon".split())
_ROOMS = frozenset("single double twin king queen suite deluxe family studio penthouse triple".split())

Day = tuple[int, int, int]


@dataclass(slots=True)
class Value:
    """One value that the customer knows, ready to be compared."""

    fact: str
    group: str
    kind: str
    text: str
    key: str = ""
    day: Day | None = None
    days: tuple[Day, ...] = ()
    number: int | None = None
    words: frozenset[str] = field(default_factory=frozenset[str])
    others: frozenset[str] = field(default_factory=frozenset[str])
    """Stems of other values of this kind in the domain."""


@dataclass(slots=True)
class Heard:
    """Values that were restated: of which facts rightly, of which wrongly."""

    right: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    amounts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(position, cents) of every amount in the clause."""
    any: bool = False


def squash(text: str) -> str:
    """Letters and digits only."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def digits(text: str) -> str:
    """ASCII digits only."""
    return "".join(letter for letter in text if letter in "0123456789")


def said(value: object) -> str:
    """A value as the customer says it."""
    if isinstance(value, date):
        return f"{value.day} {MONTHS[value.month - 1]} {value.year}"
    return str(value)


def value(fact: str, group: str, kind: str, text: str, others: tuple[str, ...] = ()) -> Value:
    """Prepare a known value for comparison."""
    out = Value(fact, group, kind, text, squash(text))
    if kind == "date":
        out.days = tuple(day for _, _, day in dates(tokens(text)))
        out.day = out.days[0] if out.days else None
    elif kind in ("amount", "number"):
        for token in tokens(text):
            if token.kind is Is.AMOUNT and isinstance(token.value, int):
                out.number = token.value
            elif token.kind is Is.NUMBER and kind == "amount":
                out.number = cents(token.text)
            elif token.kind is Is.NUMBER and isinstance(token.value, int):
                out.number = token.value
            elif token.text in _NUMBERS and out.number is None:
                out.number = _NUMBERS[token.text]
    elif kind in ("phone", "digits"):
        out.key = digits(text) or out.key
    out.words = frozenset(stem for stem in stems(text) if stem not in _SKIP)
    if group == "room":
        others = (*others, *_ROOMS)
    out.others = frozenset(stem for other in others for stem in stems(other)) - out.words
    return out


def dates(words: list[Token]) -> list[tuple[int, int, Day]]:
    """(from, to, (year or 0, month, day)) for every date in `words`; an unsure order has a month < 0."""
    out: list[tuple[int, int, Day]] = []
    size = len(words)
    at = 0
    while at < size:
        token = words[at]
        if token.kind is Is.DATE and isinstance(token.value, tuple):
            out.append((at, at + 1, token.value))
        elif (month := _MONTHS.get(token.text)) and (token.text != "may" or _numbered(words, at)):
            day, lo, hi = _around(words, at)
            if day:
                year = 0
                if hi < size and words[hi].kind is Is.NUMBER and isinstance(words[hi].value, int) and 1900 < words[hi].value < 2200:  # type: ignore[operator]
                    year, hi = int(words[hi].text), hi + 1
                if lo and lo >= 1 and words[lo - 1].kind is Is.NUMBER and _day(words[lo - 1]) and lo < at:  # "3–5 May"
                    out.append((lo - 1, lo, (year, month, _day(words[lo - 1]))))
                elif lo > 1 and words[lo - 1].text in ("to", "and", "until", "till") and _day(words[lo - 2]) and lo < at:
                    out.append((lo - 2, lo - 1, (year, month, _day(words[lo - 2]))))
                out.append((lo, hi, (year, month, day)))
                if lo == at:  # "May 3–5"
                    if hi < size and not year and _day(words[hi]) and words[hi].text.isalnum():
                        out.append((hi, hi + 1, (0, month, _day(words[hi]))))
                    elif hi + 1 < size and words[hi].text in ("to", "until", "till") and _day(words[hi + 1]) and not _month(words, hi + 2):
                        out.append((hi + 1, hi + 2, (0, month, _day(words[hi + 1]))))
        at += 1
    return out


def _month(words: list[Token], at: int) -> bool:
    return at < len(words) and words[at].text in _MONTHS


def _day(token: Token) -> int:
    if token.kind is not Is.NUMBER:
        return 0
    plain = token.text.rstrip("stndrh")
    number = int(plain) if plain.isdecimal() and plain.isascii() and len(plain) < 3 else 0
    return number if 1 <= number <= 31 else 0


def _numbered(words: list[Token], at: int) -> bool:
    return _around(words, at)[0] > 0


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
    """Equal as far as both say; `03/04` fits in either order."""
    if one[0] and other[0] and one[0] != other[0]:
        return False
    if one[1] < 0:
        return (-one[1], one[2]) in ((other[1], other[2]), (other[2], other[1]))
    if other[1] < 0:
        return same_day(other, one)
    return one[1:] == other[1:]


def restated(clause: Clause, found: list[Span], known: Mapping[str, Value], checking: bool, consenting: bool) -> Heard:
    """What the clause restates of `known`.

    Args:
        clause: the clause.
        found: the facts it names.
        known: the customer's values by fact.
        checking: the agent asks whether it is right: silence about a wrong value would confirm it.
        consenting: the agent asks for a go-ahead: values are part of what would be agreed to.
    """
    out = Heard()
    row, words = clause.row, clause.words
    if EXAMPLES.intersection(row) and not checking:
        return out
    kinds = {token.kind for token in words}
    if kinds & {Is.NUMBER, Is.AMOUNT}:
        out.amounts = _amounts(words)
    if kinds & {Is.ID, Is.EMAIL, Is.NUMBER, Is.DATE}:
        _exact(clause, found, known, out, checking or consenting)
        _dates(clause, found, known, out, checking, consenting)
    if checking or consenting or found:
        _words(clause, found, known, out, checking)
    return out


def _amounts(words: list[Token]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for at, token in enumerate(words):
        if token.kind is Is.AMOUNT and isinstance(token.value, int):
            out.append((at, token.value))
        elif token.kind is Is.NUMBER:
            near = words[at - 1].text if at else "", words[at + 1].text if at + 1 < len(words) else ""
            if _CURRENCY.intersection(near) and (number := cents(token.text)) is not None:
                out.append((at, number))
    return out


def _exact(clause: Clause, found: list[Span], known: Mapping[str, Value], out: Heard, asking: bool) -> None:
    """Ids, e-mails, phones and card endings."""
    row, words = clause.row, clause.words
    near = {span.means.fact: span for span in found}
    at = 0
    while at < len(words):
        token = words[at]
        if token.kind is Is.EMAIL:
            _judge(out, [v for v in known.values() if v.kind == "email"], token.text, lambda v, t: v.text.lower() == t, asking or clause.dets[at] == "your" or "email" in near and _yours(clause), OTHERS.intersection(row))
        elif token.kind is Is.ID:
            mine = [v for v in known.values() if v.kind == "id"]
            key = squash(token.text)
            prefix = key.rstrip("0123456789")
            exact = [v for v in known.values() if v.key == key]
            if exact:
                out.right.extend(v.fact for v in exact)
            else:
                for v in mine:
                    span = near.get(v.group)
                    named = span is not None and 0 <= at - span.hi < 4
                    if (v.key.rstrip("0123456789") == prefix and (asking or named) or named and asking) and "new" not in row:
                        out.wrong.append(v.fact)
                        break
        elif token.kind is Is.NUMBER:
            run, hi = digits(token.text), at + 1
            while hi < len(words) and words[hi].kind is Is.NUMBER and len(run) < 15 and "." not in words[hi].text:
                run, hi = run + digits(words[hi].text), hi + 1
            phones = [v for v in known.values() if v.kind == "phone"]
            if len(run) >= 7:
                _judge(out, phones, run, lambda v, t: v.key.endswith(t[-7:]) or t.endswith(v.key[-7:]), asking, OTHERS.intersection(row))
                at = hi
                continue
            plain = digits(token.text)
            for v in known.values():
                if v.kind == "digits" and len(plain) == 4:
                    if v.key == plain or v.key.endswith(plain):
                        out.right.append(v.fact)
                    elif asking and ("card" in row or "end" in row or "card" in near) and not 1990 < int(plain) < 2100:
                        out.wrong.append(v.fact)
                elif v.kind == "id" and len(plain) > 3 and digits(v.key) == plain:
                    out.right.append(v.fact)
                elif v.kind == "amount" and v.number is not None and _about(found, v):
                    number = cents(token.text)
                    (out.right if number == v.number else out.wrong if asking else []).append(v.fact)
                elif v.kind == "number" and v.number is not None and (_about(found, v) or _counts(row, at, v)):
                    (out.right if token.value == v.number else out.wrong if asking else []).append(v.fact)
        elif token.kind is Is.AMOUNT:
            for v in known.values():
                if v.kind == "amount" and v.number is not None:
                    if token.value == v.number:
                        out.right.append(v.fact)
                    elif asking and _about(found, v):
                        out.wrong.append(v.fact)
        at += 1


def _counts(row: list[str], at: int, v: Value) -> bool:
    return at + 1 < len(row) and row[at + 1] in _COUNTED.get(v.group, ())


def _yours(clause: Clause) -> bool:
    return "your" in clause.dets


def _about(found: list[Span], v: Value) -> bool:
    return any(span.means.fact == v.group for span in found)


def _judge(out: Heard, mine: list[Value], text: str, same, asking: object, theirs: object) -> None:  # noqa: ANN001
    hit = [v.fact for v in mine if same(v, text)]
    if hit:
        out.right.extend(hit)
    elif mine and asking and not theirs:
        out.wrong.append(mine[0].fact)


def _dates(clause: Clause, found: list[Span], known: Mapping[str, Value], out: Heard, checking: bool, consenting: bool) -> None:
    row, words = clause.row, clause.words
    heard = dates(words)
    mine = [v for v in known.values() if v.kind == "date" and v.day]
    if not heard or not mine:
        return
    fresh = bool(_NEW.intersection(row))
    named = {span.means.fact for span in found}
    seen: set[str] = set()
    for at, (lo, _, day) in enumerate(heard):
        right = [v for v in mine if any(same_day(day, own) for own in v.days)]
        if right:
            out.right.extend(v.fact for v in right)
            seen.update(v.fact for v in right)
            continue
        role = "departure" if at and len(heard) == 2 and lo - heard[0][1] <= 2 else ""
        before = row[max(0, lo - 3) : lo]
        if not role:
            role = "arrival" if len(heard) == 2 and heard[1][0] - heard[0][1] <= 2 else "departure" if _ROLES["departure"].intersection(before) and not fresh else ""
        told = next((name for name in ("departure", "arrival") if _EXPLICIT[name].intersection(row[max(0, lo - 4) : lo])), "")
        role = told or role
        guess = [v for v in mine if v.group == told] if told and not fresh else []
        guess = guess or [v for v in mine if v.group in named and v.group not in ("dates",) and not told]
        if not guess and fresh and (checking or consenting):
            guess = [v for v in mine if v.group.startswith("new")]
            if role == "departure":
                guess = [v for v in guess if v.group == "new_departure"] or [v for v in guess if len(v.days) > 1]
            else:
                guess = [v for v in guess if v.group != "new_departure"]
        elif not guess and checking:
            guess = [v for v in mine if v.group == (role or "arrival") or v.group == "dates"]
            if not guess and len(mine) == 1:
                guess = mine
        elif not guess and "record" in clause.labels and ("booking" in row or "stay" in row) and _yours(clause):
            guess = [v for v in mine if v.group == (role or "arrival")]
        for v in guess:
            if v.fact not in seen and not (role and v.group in ("arrival", "departure") and v.group != role and v.group not in named):
                out.wrong.append(v.fact)
                seen.add(v.fact)
                break


def _words(clause: Clause, found: list[Span], known: Mapping[str, Value], out: Heard, checking: bool) -> None:
    """Names, places and texts: by their words."""
    row = clause.row
    here = set(row)
    for v in known.values():
        if v.kind not in ("name", "place", "text", "time", "number") or not v.words or v.fact in out.right:
            continue
        if v.kind == "number":
            _count(row, v, out, checking)
            continue
        both = v.words & here
        enough = len(both) == len(v.words) if len(v.words) < 3 else len(both) * 5 >= len(v.words) * 3
        if enough:
            out.right.append(v.fact)
            continue
        if v.kind == "text" and any(letter.isdigit() for letter in v.key) and len(v.key) > 3 and v.key in squash("".join(token.text for token in clause.words)):
            out.right.append(v.fact)
            continue
        if checking and v.others & here and not both:
            out.wrong.append(v.fact)
            continue
        span = next((span for span in found if span.means.fact == v.group and not span.means.loose), None)
        if span is None:
            span = _addressed(clause, v) if checking else None
        if span is not None and _stated(clause, span, v) and (checking or clause.dets[span.lo] == "your" and v.group != "reason"):
            out.wrong.append(v.fact)


def _count(row: list[str], v: Value, out: Heard, checking: bool) -> None:
    """"Two guests"."""
    for at, word in enumerate(row):
        if word in _NUMBERS and _counts(row, at, v) and v.number is not None:
            if _NUMBERS[word] == v.number:
                out.right.append(v.fact)
            elif checking:
                out.wrong.append(v.fact)


def _addressed(clause: Clause, v: Value) -> Span | None:
    """"Am I speaking with Mr Smith": a name without the word for it."""
    row = clause.row
    if v.group not in ("name", "surname", "caller"):
        return None
    for at, word in enumerate(row):
        if word in ("mr", "mrs", "ms", "miss", "dr") or word in ("with", "to") and at and row[at - 1] in ("speak", "talk", "chat"):
            return Span(at, at + 1, None)
    return None


def _stated(clause: Clause, span: Span, v: Value) -> bool:
    """Whether the fact named at `span` is given a value in the clause, other than its own."""
    rest = list(zip(clause.row[span.hi :], clause.words[span.hi :], strict=True))
    verb = span.means is None or bool(rest) and span.hi in clause.commas
    content = 0
    for stem, token in rest[:6]:
        if stem in ("is", "as", "are", "was"):
            verb = True
        elif stem in ("correct", "right", "okai", "you", "we", "i", "what", "please", "valid", "accurat", "stil", "same", "true", "up", "fine", "need", "mandatori", "requir", "miss", "not"):
            break
        elif verb and stem not in _SKIP and token.text not in DROPPED:
            content += 1 if v.kind != "name" or token.capital else 0
    return verb and content > 0
