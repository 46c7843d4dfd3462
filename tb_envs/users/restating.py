"""Which of the customer's values a clause restates, rightly or wrongly.

Refuses to guess: a value is right, wrong, or none of the customer's business (an example, the
company's own address, another record's id).
"""

from __future__ import annotations

from .clauses import Clause
from .dating import HOURISH, MONTH_STEMS, ORDINALS, days, hours
from .lexicon import EXAMPLES, OTHERS
from .naming import counts, slips, wordings
from .phrases import Span, stems
from .scene import Restated, Scene, denied, impersonal
from .values import NUMBERS, Value, Values, digits, squash
from .words import Is, Token, cents, each

_CURRENCY = each("usd eur gbp chf dollar dollars euro euros pound pounds bucks cad aud francs cents")
_MONEY = each("dollar euro pound franc")
_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMERALS = {
    **NUMBERS,
    **{word: at for at, word in enumerate(_TEENS.split(), 13)},
    **{word: at * 10 for at, word in enumerate(_TENS.split(), 2)},
    "hundred": 100,
    "thousand": 1000,
}
_TENFOLD = frozenset(stems(f"{_TEENS} {_TENS} ten eleven twelve hundred thousand"))
_SUMMING = each("for in altogether total all together")
"""What may stand after a sum of which the currency is understood."""
_TELLING = MONTH_STEMS | _MONEY | HOURISH | EXAMPLES
"""Without one of these, and without a figure, a clause tells no date, hour, amount or example."""
_UNITS = each("night room hour day guest person point more for each per")
_PAID = frozenset(stems("charged paid amount total cost pay expected price"))
_DISPUTED = _PAID | each("about disput claim recognis question mean talk refer contest")
_MAY = each("can could may might")
_COSTING = each("penalti interest los")
_CHARGES = each("fee charg cost penalti limit pric")
_PARTLY = each("only free first other rest these remain instead of more")
_WHOLE = each("whole all total everything entire")
_ROOM_TYPES = each("suite deluxe single double twin junior penthouse studio superior")
_BILLED = (["on", "bil"], ["on", "there"], ["on", "folio"], ["on", "it"], ["on", "account"])
_PHONE = 7
"""Digits of a telephone number, at least."""
_BARE = 4
"""Words of "4417, is it?", at most, and one."""
_SHORT = 9
"""Words of a check that has nothing but the value in it."""
_COIN = 2
"""Digits of the cents in "36 dollars 50"."""


def restated(
    clause: Clause, found: list[Span], known: Values, checking: bool, consenting: bool, about: frozenset[str]
) -> Restated:
    """What the clause restates of `known`.

    Args:
        clause: the clause.
        found: the facts it names.
        known: the customer's values by fact.
        checking: the agent asks whether it is right.
        consenting: the agent asks for a go-ahead: values are part of what would be agreed to.
        about: the facts that a check of the message names.
    """
    out = Restated()
    row = clause.row
    telling = not _TELLING.isdisjoint(row)
    if telling and not checking and not EXAMPLES.isdisjoint(row) and all(t.text != "looked" for t in clause.words):
        return out
    named = dict[str, Span]()
    if found:
        named = {span.means.fact: span for span in found if span.means.loose}
        named |= {span.means.fact: span for span in found if not span.means.loose}
    scene = Scene(clause, found, known, checking, checking or consenting, out, named, about)
    if clause.values:
        out.amounts = _amounts(clause.words, clause.values)
        if out.amounts and not _TENFOLD.isdisjoint(row):
            out.amounts = sorted(out.amounts + _summed(clause.words))
        _exact(scene)
    elif telling and not _MONEY.isdisjoint(row):
        out.amounts = _worded(clause.words)
        if out.amounts and known.of["amount"]:
            _judge_worded(scene)
    if known.of["date"] and (
        _dated(clause) or (telling and not (ORDINALS.isdisjoint(row) or MONTH_STEMS.isdisjoint(row)))
    ):
        days(scene, consenting)
    if known.of["time"] and (clause.values or (telling and not HOURISH.isdisjoint(row))):
        hours(scene)
    if checking or consenting or found or known.contested:
        wordings(scene)
    if clause.capitals and known.of["name"]:
        slips(scene)
    return out


def _dated(clause: Clause) -> bool:
    """Whether it can tell a day."""
    words = clause.words
    months = not MONTH_STEMS.isdisjoint(clause.row)
    for at in clause.values:
        kind = words[at].kind
        if kind is Is.DATE or (kind is Is.NUMBER and (months or words[at].text[-1].isalpha())):
            return True
    return months and not ORDINALS.isdisjoint(clause.row)


def _amounts(words: list[Token], places: list[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for at in places:
        text, _, kind, value, _, _ = words[at]
        if kind is Is.AMOUNT and isinstance(value, int):
            out.append((at, value))
        elif out and out[-1][0] == at - 2 and words[at - 3].text not in _CURRENCY and _coins(words, at):
            out[-1] = (at - 2, out[-1][1] + int(text))  # "36 dollars 50"
        elif kind is Is.NUMBER and (
            _beside_currency(words, at) or (out and _bare_price(words, at)) or _bare_sum(words, places, at)
        ):
            number = cents(text)
            if number is not None:
                out.append((at, number))
    return out


def _worded(words: list[Token]) -> list[tuple[int, int]]:
    """As in "one hundred and forty dollars"."""
    out: list[tuple[int, int]] = []
    for at, token in enumerate(words):
        if token.stem in _MONEY and at and words[at - 1].text in _NUMERALS:
            lo = at
            while lo and (words[lo - 1].text in _NUMERALS or (words[lo - 1].text == "and" and lo < at)):
                lo -= 1
            while words[lo].text == "and":
                lo += 1
            number = _numeral(words, lo)[1]
            if number:
                hi, coins = _numeral(words, at + 1)
                follow = words[hi].stem if hi < len(words) else ""
                coins = coins if coins < 100 and follow not in _MONEY and follow not in _UNITS else 0
                out.append((at - 1, number * 100 + coins))  # "thirty-six dollars fifty"
    return out


def _judge_worded(scene: Scene) -> None:
    """Hold amounts in words against those that the customer knows."""
    row, heard = scene.clause.row, {amount for _, amount in scene.out.amounts}
    for value in scene.known.of["amount"]:
        if value.number is not None:
            told = scene.checking and (not _DISPUTED.isdisjoint(row) or len(row) < _SHORT + 3)
            named = scene.asking and (scene.names(value) or value.group in scene.about)
            scene.judge(value, value.number in heard, told or named)


def _summed(words: list[Token]) -> list[tuple[int, int]]:
    """As in "25 dollars a night, seventy-five for the whole stay": the currency of a worded sum is understood."""
    out: list[tuple[int, int]] = []
    at, size = 0, len(words)
    while at < size:
        hi, number = _numeral(words, at)
        if number > 9:
            follow = words[hi].text if hi < size else ""
            if follow in _SUMMING or words[hi].stem in _MONEY if hi < size else at > 0:
                out.append((hi - 1, number * 100))
        at = max(hi, at + 1)
    return out


def _numeral(words: list[Token], lo: int) -> tuple[int, int]:
    """Where the number in words that begins at `lo` ends, and its value (0: there is none)."""
    hi = lo
    whole = part = 0
    while hi < len(words) and (words[hi].text in _NUMERALS or (words[hi].text == "and" and hi > lo)):
        number = _NUMERALS.get(words[hi].text, 0)
        if number == 100:
            part = (part or 1) * 100
        elif number == 1000:
            whole, part = (part or 1) * 1000, 0
        else:
            part += number
        hi += 1
    return hi, whole + part


def _beside_currency(words: list[Token], at: int) -> bool:
    return bool(at and words[at - 1].text in _CURRENCY) or (at + 1 < len(words) and words[at + 1].text in _CURRENCY)


def _bare_price(words: list[Token], at: int) -> bool:
    """As in "the deluxe room for USD 95, the suite for 220": the currency is understood."""
    text = words[at].text
    priced = at and words[at - 1].text in ("for", "at", "costs") and text.isdecimal() and len(text) > 1
    return bool(priced) and (at + 1 == len(words) or words[at + 1].text in ("or", "and", "more", "extra", "in", "per"))


def _bare_sum(words: list[Token], places: list[int], at: int) -> bool:
    """As in "320 for the whole stay", "90 in total", "suite for 149", "deluxe 90, suite 400": money, though unsaid."""
    text = words[at].text
    if not text.isdecimal() or len(text) < 2 or len(text) > 5:
        return False
    follow = words[at + 1].text if at + 1 < len(words) else ""
    if follow in ("altogether", "together", "extra", "more"):
        return True
    if follow in ("for", "in") and at + 2 < len(words) and words[at + 2].text in _WHOLE:
        return True
    if not at:
        return False
    before = words[at - 1].text
    if before == "is" and at > 1 and words[at - 2].text in _ROOM_TYPES and follow in ("night", "per", "more", "extra"):
        return True  # "the suite is 500 a night"
    if before in ("for", "at") and at > 1:
        return words[at - 2].text in _ROOM_TYPES
    return before in _ROOM_TYPES and any(near != at and near and words[near - 1].text in _ROOM_TYPES for near in places)


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
            same = [value.fact for value in known.of["email"] if value.text.lower() == token.text]
            _one_of(scene, "email", same, noticed and not foreign)
        elif token.kind is Is.ID:
            _identifier(scene, at, squash(token.text))
        elif at in money:
            hit = any(value.number == money[at] for value in known.of["amount"])
            for value in known.of["amount"]:
                if value.number is not None and (not hit or value.number == money[at] or scene.names(value)):
                    named = scene.names(value) or value.group in scene.about
                    told = (
                        scene.checking
                        and _COSTING.isdisjoint(row)
                        and (
                            not _DISPUTED.isdisjoint(row)
                            or len(row) < _SHORT
                            or (row[at + 1 : at + 2] == ["of"] and "bil" in row[at:])
                            or any(row[near : near + 2] in _BILLED for near in range(at + 1, min(at + 5, len(row))))
                        )
                    )
                    if value.contested and not hit and _shown_otherwise(clause, at):
                        scene.out.wrong.append(value.fact)
                        continue
                    right = money[at] == value.number and not (value.contested and denied(row, at))
                    scene.judge(value, right, scene.asking and (named or told) and not denied(row, at))
        elif token.kind is Is.NUMBER:
            run, hi = token.text if token.text.isdecimal() else digits(token.text), at + 1
            while hi < len(words) and words[hi].kind is Is.NUMBER and len(run) < 15 and "." not in words[hi].text:
                run, hi = run + digits(words[hi].text), hi + 1
            if len(run) >= _PHONE and not (at and row[at - 1] in MONTH_STEMS):
                done = hi
                if not _long_id(scene, run):
                    same = [value.fact for value in known.of["phone"] if _same_phone(value.key, run)]
                    _one_of(scene, "phone", same, scene.asking and not foreign)
            else:
                _number(scene, at, token)


def _shown_otherwise(clause: Clause, at: int) -> bool:
    """As in "our records show that it is USD 850.00 at present", of a sum that the customer may remember wrongly."""
    row = clause.row
    return (
        "record" in clause.labels
        and _CHARGES.isdisjoint(row)
        and not clause.hyp < at
        and ("you" in row or "your" in clause.dets or "it" in row[:at] or "order" in row)
    )


def _long_id(scene: Scene, run: str) -> bool:
    """A number as long as a telephone number, and not called one: an id of the customer's own, or as long as one."""
    of = scene.known.of
    alike = [value for value in of["id"] if value.text.isdecimal() and len(value.text) == len(run)]
    if any(scene.names(value) for value in of["phone"]):
        return False
    right = [value.fact for value in alike if value.text == run]
    scene.out.right.extend(right)
    if alike and not right and scene.asking:
        scene.out.wrong.extend(v.fact for v in alike if scene.names(v) or v.group in scene.about)
    return bool(alike)


def _same_phone(one: str, other: str) -> bool:
    return one.endswith(other[-7:]) or other.endswith(one[-7:])


def _one_of(scene: Scene, kind: str, right: list[str], noticed: bool) -> None:
    """A value that belongs to `right`, facts of a kind; a wrong one if there are others and it was `noticed`."""
    mine = scene.known.of[kind]
    if right:
        scene.out.right.extend(right)
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
        if (alike and (scene.asking or named)) or (named and scene.asking):
            scene.out.wrong.append(value.fact)
            return


def _number(scene: Scene, at: int, token: Token) -> None:
    """A number that stands alone: a card's ending, the digits of an id, an amount or a count that is named."""
    clause, of = scene.clause, scene.known.of
    row, plain = clause.row, digits(token.text)
    if len(plain) == 4:
        for value in of["digits"]:
            bare = scene.checking and not at and len(row) < _BARE
            card = bare or "card" in row or "end" in row or scene.names(value)
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
        if _rated(scene, value) or (at + 1 < len(row) and clause.dets[at + 1] in ("a", "an")):
            continue  # "USD 45 a night, not 12"
        if (counts(row, at, value) or _room(row, at, value) or scene.names(value)) and not denied(row, at):
            named = scene.asking and clause.question and counts(row, at, value) and _PARTLY.isdisjoint(row)
            sure = scene.checking and _MAY.isdisjoint(row)
            told = (sure or value.contested) and not impersonal(clause)
            scene.judge(value, token.value == value.number, told or named)


def _rated(scene: Scene, value: Value) -> bool:
    """As in "45 a night": the fact is named only as what a price is for."""
    span = scene.named.get(value.group)
    if span is None or len(scene.clause.values) < 2:
        return False
    return scene.clause.dets[span.lo] in ("a", "an", "each", "every") or scene.clause.row[span.lo - 1] == "per"


def _room(row: list[str], at: int, value: Value) -> bool:
    return value.group == "room_number" and at > 0 and row[at - 1] == "room"
