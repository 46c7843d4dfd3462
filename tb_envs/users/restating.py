"""Which of the customer's values a clause restates, rightly or wrongly.

Refuses to guess: a value is right, wrong, or none of the customer's business (an example, the
company's own address, another record's id).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .asking import NO_VALUE
from .clauses import Clause
from .lexicon import EXAMPLES, OTHERS
from .phrases import Span, stems
from .spelling import DROPPED
from .values import NUMBERS, SKIP, Value, Values, dates, digits, same_day, squash, times
from .words import Is, Token, cents, each

_CURRENCY = each("usd eur gbp chf dollar dollars euro euros pound pounds bucks cad aud francs cents")
_EXPLICIT = {"arrival": frozenset(("arriv", "start", "begin")), "departure": frozenset(("depart", "leav", "end"))}
_UNTIL = frozenset(("depart", "leav", "to", "until", "til", "through", "end"))
_NEW = each("new mov chang instead reschedul rebook shift extend switch postpon")
_PAID = frozenset(stems("charged paid amount total cost pay expected price"))
_DISPUTED = _PAID | each("about disput claim")
_COUNTED = {
    "guests": frozenset(stems("guest person people adult traveller pax")),
    "nights": frozenset(("night",)),
    "rooms": frozenset(("room",)),
}
_NAMES = frozenset(("name", "surname", "caller"))
_YOURS = each("you leav depart keep until til out stay hour time extend")
_PARTLY = each("only free first other rest these remain instead of more")
_WISHES = each("lik want wish prefer need tak")
_PLACING = each("on in for of under with down")
_IS = each("is are was as")
_TITLES = each("mr mrs ms miss dr")


@dataclass(slots=True)
class Restated:
    """Facts that were restated rightly and wrongly, and (position, cents) of every amount."""

    right: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    amounts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


@dataclass(slots=True)
class _Scene:
    """A clause under examination. `asking`: silence about a wrong value would confirm it or consent to it."""

    clause: Clause
    found: list[Span]
    known: Values
    checking: bool
    asking: bool
    out: Restated
    named: dict[str, Span]
    """The facts it names, and where."""

    def names(self, value: Value) -> bool:
        return value.group in self.named

    def judge(self, value: Value, is_right: bool, is_wrong: bool) -> None:
        if is_right:
            self.out.right.append(value.fact)
        elif is_wrong:
            self.out.wrong.append(value.fact)


def restated(clause: Clause, found: list[Span], known: Values, checking: bool, consenting: bool) -> Restated:
    """What the clause restates of `known`.

    Args:
        clause: the clause.
        found: the facts it names.
        known: the customer's values by fact.
        checking: the agent asks whether it is right.
        consenting: the agent asks for a go-ahead: values are part of what would be agreed to.
    """
    out = Restated()
    if not checking and EXAMPLES.intersection(clause.row) and all(t.text != "looked" for t in clause.words):
        return out
    named = {span.means.fact: span for span in found if span.means.loose}
    named |= {span.means.fact: span for span in found if not span.means.loose}
    scene = _Scene(clause, found, known, checking, checking or consenting, out, named)
    if clause.values:
        out.amounts = _amounts(clause.words, clause.values)
        _exact(scene)
        _dates(scene, consenting)
    if known.of["time"]:
        _hours(scene)
    if checking or consenting or found or known.contested:
        _words(scene)
    return out


def _amounts(words: list[Token], places: list[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for at in places:
        text, _, kind, value, _, _ = words[at]
        if kind is Is.AMOUNT and isinstance(value, int):
            out.append((at, value))
        elif kind is Is.NUMBER and (
            (at and words[at - 1].text in _CURRENCY) or (at + 1 < len(words) and words[at + 1].text in _CURRENCY)
        ):
            number = cents(text)
            if number is not None:
                out.append((at, number))
    return out


# — ids, e-mails, phones, cards, numbers ——————————————————————————————————————————————————————————


def _exact(scene: _Scene) -> None:
    clause, known = scene.clause, scene.known
    words, row = clause.words, clause.row
    foreign = bool(OTHERS.intersection(row))
    money = dict(scene.out.amounts)
    done = -1  # a telephone number is several tokens
    for at in clause.values:
        token = words[at]
        if at < done:
            continue
        if token.kind is Is.EMAIL:
            named = "email" in scene.named and "your" in clause.dets
            noticed = scene.asking or named or clause.dets[at] == "your"
            _one_of(scene, "email", lambda v, t=token.text: v.text.lower() == t, noticed and not foreign)
        elif token.kind is Is.ID:
            _identifier(scene, at, squash(token.text))
        elif at in money:
            for value in known.of["amount"]:
                if value.number is not None:
                    about = scene.names(value) or (scene.checking and not _DISPUTED.isdisjoint(row))
                    scene.judge(value, money[at] == value.number, scene.asking and about)
        elif token.kind is Is.NUMBER:
            run, hi = token.text if token.text.isdecimal() else digits(token.text), at + 1
            while hi < len(words) and words[hi].kind is Is.NUMBER and len(run) < 15 and "." not in words[hi].text:
                run, hi = run + digits(words[hi].text), hi + 1
            if len(run) >= 7:
                _one_of(scene, "phone", lambda v, t=run: _same_phone(v.key, t), scene.asking and not foreign)
                done = hi
            else:
                _number(scene, at, token)


def _hours(scene: _Scene) -> None:
    """Hours of the day: a wrong one only where the customer's own leaving is checked."""
    clause, heard = scene.clause, times(scene.clause.words)
    for value in scene.known.of["time"] if heard else ():
        right = any(minutes in value.minutes for _, minutes in heard)
        about = scene.names(value) or not _YOURS.isdisjoint(clause.row) or not clause.values or len(clause.row) < 7
        scene.judge(value, right, (scene.checking or value.contested) and about and "arriv" not in clause.row)


def _same_phone(one: str, other: str) -> bool:
    return one.endswith(other[-7:]) or other.endswith(one[-7:])


def _one_of(scene: _Scene, kind: str, same: Callable[[Value], bool], noticed: bool) -> None:
    mine = scene.known.of[kind]
    hit = [value.fact for value in mine if same(value)]
    if hit:
        scene.out.right.extend(hit)
    elif mine and noticed:
        scene.out.wrong.append(mine[0].fact)


def _identifier(scene: _Scene, at: int, key: str) -> None:
    """An id: one of the customer's own; a wrong one when it looks like an own one or is called by its name."""
    of = scene.known.of
    exact = [v.fact for v in (*of["id"], *of["text"]) if v.key == key or key in v.same]
    if exact:
        scene.out.right.extend(exact)
        return
    prefix = key.rstrip("0123456789")
    if "new" in scene.clause.row:
        return
    for value in of["id"]:
        span = scene.named.get(value.group)
        named = span is not None and 0 <= at - span.hi < 4
        alike = value.key.rstrip("0123456789") == prefix
        if (alike and (scene.asking or named or _echoes(scene.clause, key, value.key))) or (named and scene.asking):
            scene.out.wrong.append(value.fact)
            return


def _echoes(clause: Clause, heard: str, own: str) -> bool:
    """As in "LA-33817, I have noted it.": nothing but the customer's id with a slip in it."""
    return len(clause.row) == 1 and heard != own and sorted(heard) == sorted(own)


def _number(scene: _Scene, at: int, token: Token) -> None:
    """A number that stands alone: a card's ending, the digits of an id, an amount or a count that is named."""
    clause, of = scene.clause, scene.known.of
    row, plain = clause.row, digits(token.text)
    if len(plain) == 4:
        for value in of["digits"]:
            card = "card" in row or "end" in row or scene.names(value)
            scene.judge(value, value.key.endswith(plain), scene.asking and card and not 1990 < int(plain) < 2100)
        for value in of["phone"]:
            if scene.names(value) and ("end" in row or "last" in row):
                scene.judge(value, value.key.endswith(plain), scene.checking)
    if len(plain) > 3:
        for value in of["id"]:
            scene.judge(value, digits(value.text) == plain, False)
    for value in of["amount"]:
        if scene.names(value):
            scene.judge(value, cents(token.text) == value.number, scene.asking)
    for value in of["number"]:
        if (_counts(row, at, value) or _room(row, at, value) or scene.names(value)) and not _denied(row, at):
            named = scene.asking and clause.question and _counts(row, at, value) and _PARTLY.isdisjoint(row)
            scene.judge(value, token.value == value.number, scene.checking or value.contested or named)


def _room(row: list[str], at: int, value: Value) -> bool:
    return value.group == "room_number" and at > 0 and row[at - 1] == "room"


def _counts(row: list[str], at: int, value: Value) -> bool:
    return at + 1 < len(row) and row[at + 1] in _COUNTED.get(value.group, ())


# — dates —————————————————————————————————————————————————————————————————————————————————————————


def _dates(scene: _Scene, consenting: bool) -> None:
    heard = dates(scene.clause.words, scene.clause.values)
    mine = [value for value in scene.known.of["date"] if value.days] if heard else []
    if not mine:
        return
    row = scene.clause.row
    ranged = len(heard) == 2 and heard[1][0] - heard[0][1] <= 2
    seen: set[str] = set()
    for at, (lo, _, day) in enumerate(heard):
        right = [value.fact for value in mine if any(same_day(day, own) for own in value.days)]
        if right:
            scene.out.right.extend(right)
            seen.update(right)
            continue
        role = _role(row, lo)
        if not role and ranged:
            role = "departure" if at else "arrival"
        if at and ranged and any(fact.startswith("new") for fact in seen):
            scene.out.wrong.extend(value.fact for value in mine if value.group == "new_departure")
            break
        for value in _meant(scene, mine, role, bool(_EXPLICIT.get(role) and _told(row, lo)), consenting):
            if value.fact not in seen:
                scene.out.wrong.append(value.fact)
                seen.add(value.fact)
                break


def _told(row: list[str], lo: int) -> str:
    """The role that words before the date give it outright."""
    before = row[max(0, lo - 4) : lo]
    return next((name for name in ("departure", "arrival") if not _EXPLICIT[name].isdisjoint(before)), "")


def _role(row: list[str], lo: int) -> str:
    if told := _told(row, lo):
        return told
    return "departure" if _NEW.isdisjoint(row) and not _UNTIL.isdisjoint(row[max(0, lo - 3) : lo]) else ""


def _meant(scene: _Scene, mine: list[Value], role: str, told: bool, consenting: bool) -> list[Value]:
    """The facts that a date which is none of the customer's may be a wrong spelling of."""
    row, clause = scene.clause.row, scene.clause
    fresh = not _NEW.isdisjoint(row)
    if told and not fresh:
        return [value for value in mine if value.group == role] or [
            value for value in mine if value.group == f"new_{role}" and (scene.checking or consenting)
        ]
    named = [value for value in mine if scene.names(value) and value.group != "dates"]
    if named:
        return [
            value for value in named if not role or value.group not in ("arrival", "departure") or value.group == role
        ]
    if fresh and (scene.checking or consenting):
        new = [value for value in mine if value.group.startswith("new")]
        late = [value for value in new if value.group == "new_departure"]
        if role == "departure":
            return late or [value for value in new if len(value.days) > 1]
        return [value for value in new if value not in late]
    if scene.checking and not _deed(clause):
        guess = [value for value in mine if value.group in (role or "arrival", "dates")]
        return guess or (mine if len(mine) == 1 else [])
    if (
        "record" in clause.labels
        and ("booking" in row or "stay" in row)
        and "your" in clause.dets
        and not _deed(clause)
    ):
        return [value for value in mine if value.group == (role or "arrival")]
    return []


def _deed(clause: Clause) -> bool:
    """A past deed has a date of its own: "your booking was cancelled on 3 March"."""
    return any(token.text.endswith("ed") or token.text in ("paid", "made", "sent") for token in clause.words)


# — names, places, texts ——————————————————————————————————————————————————————————————————————————


def _words(scene: _Scene) -> None:
    clause, out = scene.clause, scene.out
    row = clause.row
    texts = {token.text for token in clause.words}
    stem_set = set(row)
    if not NUMBERS.keys().isdisjoint(texts):
        for value in scene.known.of["number"]:
            if value.fact not in out.right:
                _count(scene, value)
    addressed = _addressed(clause) if scene.checking else None
    for value in scene.known.wordy:
        if value.fact in out.right:
            continue
        span = scene.named.get(value.group)
        if span is not None and span.means.loose:
            span = None
        if span is None and addressed and value.group in _NAMES:
            span = addressed
        if span is None and value.plain and texts.isdisjoint(value.heard_as):
            continue
        if _says(value, stem_set, clause):
            out.right.append(value.fact)
        elif value.group == "room_type" and _WISHES.isdisjoint(row):
            continue
        elif (scene.checking and not value.others.isdisjoint(row) and value.words.isdisjoint(row)) or (
            span is not None and _stated(clause, span, value) and (scene.checking or _of_yours(clause, span, value))
        ):
            out.wrong.append(value.fact)


def _of_yours(clause: Clause, span: Span, value: Value) -> bool:
    return clause.dets[span.lo] == "your" and (value.contested or value.kind != "text")


def _says(value: Value, here: set[str], clause: Clause) -> bool:
    """Whether the clause has the value: all its words, of a long one most, or another spelling."""
    words = value.words
    both = len(words & here)
    if both and value.kind == "name" and len(words) < 3:
        heard = {token.text for token in clause.words}
        return all(text in heard or f"{text}s" in heard for text in value.texts)
    if words and (both == len(words) if len(words) < 3 else both * 5 >= len(words) * 3):
        return True
    if value.same or (value.kind == "text" and value.numbered):
        heard = squash("".join(token.text for token in clause.words))
        return any(spelled in heard for spelled in (*value.same, value.key if value.numbered else "") if spelled)
    return False


def _count(scene: _Scene, value: Value) -> None:
    """As in "Two guests"."""
    row = scene.clause.row
    for at, token in enumerate(scene.clause.words):
        counts = _counts(row, at, value) or (value.contested and at + 1 == len(row) < 8)  # "I count four"
        if token.text in NUMBERS and counts and not _denied(row, at):
            scene.judge(value, NUMBERS[token.text] == value.number, scene.checking or value.contested)


def _denied(row: list[str], at: int) -> bool:
    """As in "four nights, not five", "not for 5", "rather than 5"."""
    return "not" in row[max(0, at - 2) : at] or row[max(0, at - 2) : at] in (["rather", "than"], ["instead", "of"])


def _addressed(clause: Clause) -> Span | None:
    """As in "Am I speaking with Mr Smith": a name without the word for it."""
    row = clause.row
    for at, word in enumerate(row):
        if word in _TITLES or (word in ("with", "to") and at and row[at - 1] in ("speak", "talk", "chat")):
            return Span(at, at + 1, None)
    return None


def _stated(clause: Clause, span: Span, value: Value) -> bool:
    """Whether the fact named at `span` is given a value in the clause, other than its own."""
    verb = span.means is None or span.hi in clause.colons or span.hi not in clause.commas
    lo = span.hi
    if clause.row[lo : lo + 1] and clause.row[lo] in _PLACING:  # "the last name on the booking is Berg"
        lo = next((at for at in range(lo + 1, min(lo + 5, len(clause.row))) if clause.row[at] in _IS), lo)
    for at in range(lo, min(lo + 6, len(clause.row))):
        stem, token = clause.row[at], clause.words[at]
        if stem in ("is", "as", "are", "was"):
            verb = True
        elif (at == lo and value.kind != "name" and span.hi not in clause.colons) or stem in NO_VALUE:
            return False
        elif value.kind == "name":
            if not token.capital or not verb:
                return False
            if token.text not in value.texts and stem not in _TITLES:
                return True
        elif verb and stem not in SKIP and token.text not in DROPPED:
            return True
    return False
