"""Which of the customer's values a clause restates, rightly or wrongly.

Refuses to guess: a value is right, wrong, or none of the customer's business (an example, the
company's own address, another record's id).
"""

from __future__ import annotations

from collections.abc import Callable

from .clauses import Clause
from .dating import MONTH_STEMS, ORDINALS, days, hours
from .lexicon import EXAMPLES, OTHERS
from .naming import counts, slips, wordings
from .phrases import Span, stems
from .scene import Restated, Scene, denied, impersonal
from .values import Value, Values, digits, squash
from .words import Is, Token, cents, each

_CURRENCY = each("usd eur gbp chf dollar dollars euro euros pound pounds bucks cad aud francs cents")
_PAID = frozenset(stems("charged paid amount total cost pay expected price"))
_DISPUTED = _PAID | each("about disput claim")
_MAY = each("can could may might")
_PARTLY = each("only free first other rest these remain instead of more")
_PHONE = 7
"""Digits of a telephone number, at least."""
_COIN = 2
"""Digits of the cents in "36 dollars 50"."""


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
    scene = Scene(clause, found, known, checking, checking or consenting, out, named)
    if clause.values:
        out.amounts = _amounts(clause.words, clause.values)
        _exact(scene)
    if clause.values or not (ORDINALS.isdisjoint(clause.row) or MONTH_STEMS.isdisjoint(clause.row)):
        days(scene, consenting)
    if known.of["time"]:
        hours(scene)
    if checking or consenting or found or known.contested:
        wordings(scene)
    slips(scene)
    return out


def _amounts(words: list[Token], places: list[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for at in places:
        text, _, kind, value, _, _ = words[at]
        if kind is Is.AMOUNT and isinstance(value, int):
            out.append((at, value))
        elif out and out[-1][0] == at - 2 and words[at - 3].text not in _CURRENCY and _coins(words, at):
            out[-1] = (at - 2, out[-1][1] + int(text))  # "36 dollars 50"
        elif kind is Is.NUMBER and (_beside_currency(words, at) or (out and _bare_price(words, at))):
            number = cents(text)
            if number is not None:
                out.append((at, number))
    return out


def _beside_currency(words: list[Token], at: int) -> bool:
    return bool(at and words[at - 1].text in _CURRENCY) or (at + 1 < len(words) and words[at + 1].text in _CURRENCY)


def _bare_price(words: list[Token], at: int) -> bool:
    """As in "the deluxe room for USD 95, the suite for 220": the currency is understood."""
    text = words[at].text
    priced = at and words[at - 1].text in ("for", "at", "costs") and text.isdecimal() and len(text) > 1
    return bool(priced) and (at + 1 == len(words) or words[at + 1].text in ("or", "and", "more", "extra", "in", "per"))


def _coins(words: list[Token], at: int) -> bool:
    """As in "36 dollars 50": the cents of the amount before."""
    text, after = words[at].text, words[at + 1].text if at + 1 < len(words) else ""
    return words[at - 1].text in _CURRENCY and text.isdecimal() and len(text) == _COIN and after not in _CURRENCY


# — ids, e-mails, phones, cards, numbers ——————————————————————————————————————————————————————————


def _exact(scene: Scene) -> None:
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
            if len(run) >= _PHONE and not (at and row[at - 1] in MONTH_STEMS):
                _one_of(scene, "phone", lambda v, t=run: _same_phone(v.key, t), scene.asking and not foreign)
                done = hi
            else:
                _number(scene, at, token)


def _same_phone(one: str, other: str) -> bool:
    return one.endswith(other[-7:]) or other.endswith(one[-7:])


def _one_of(scene: Scene, kind: str, same: Callable[[Value], bool], noticed: bool) -> None:
    mine = scene.known.of[kind]
    hit = [value.fact for value in mine if same(value)]
    if hit:
        scene.out.right.extend(hit)
    elif mine and noticed:
        scene.out.wrong.append(mine[0].fact)


def _identifier(scene: Scene, at: int, key: str) -> None:
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


def _number(scene: Scene, at: int, token: Token) -> None:
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
        if (counts(row, at, value) or _room(row, at, value) or scene.names(value)) and not denied(row, at):
            named = scene.asking and clause.question and counts(row, at, value) and _PARTLY.isdisjoint(row)
            sure = scene.checking and _MAY.isdisjoint(row)
            told = (sure or value.contested) and not impersonal(clause)
            scene.judge(value, token.value == value.number, told or named)


def _room(row: list[str], at: int, value: Value) -> bool:
    return value.group == "room_number" and at > 0 and row[at - 1] == "room"
