"""Which of the amounts in a message is the price of what is proposed.

Refuses refunds, what was paid before, and rates ("USD 20 for each hour") where a sum is told as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from .heard import Sentence
from .lexicon import CURRENCY
from .phrases import stem_set
from .words import each

_BACK = stem_set("back refund return reimburse credit reimbursement refunded")
_BEFORE = stem_set("already original originally previous old save saving saved instead worth waive")
_EACH = stem_set("per each every")
_UNITS = stem_set("hour night day room person guest")
_SUM = stem_set("total all altogether sum comes overall makes so together")
_MORE = stem_set("difference extra additional more surcharge supplement top-up top")
COSTS = stem_set("fee charge cost price pay penalty")
_FEES = stem_set(
    "fee cost charge price penalty surcharge supplement pay owe due mean foresee incur require carry amount come run"
)
_ALTERS = stem_set(
    "lower lowered reduce reduced bring brought drop cut down up raise rise risen increase discount come go"
)
_STANDARD = stem_set("ordinarily standard regular list usual ordinary rack tariff rule half-day before was were")
_AGENTS = each("i we")
_WILL = each("would wil could can")
_COMES_BACK = stem_set("back refund refunded return returned refundable reimbursed release")
_WAIVING = stem_set("waive waived zero nothing")
_DROPPED = stem_set("drop dropped scrap scrapped lift lifted cancelled removed forgo")
_PAYING = stem_set("cost pay owe price total fee charge is due")
_COUNTS = {"two": 2, "thre": 3, "three": 3, "four": 4, "five": 5, "fiv": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10}
_HANDS = each("giv hand return bring turn send")
_KEPT = stem_set("non lose lost forfeit forfeited nonrefundable")
"""Words of a deposit that does not come back."""
_WHOLE = stem_set("new stay booking")


def payable(sentences: Sequence[Sentence]) -> int | None:
    """The price in cents: a sum or difference, else the amount in the question, else next to "fee", else the last."""
    if _told_free(sentences):
        return 0
    heard = [(sentence, at, amount) for sentence in sentences if sentence.amounts for at, amount in due(sentence)]
    if heard:
        kept = [item for item in heard if not _deposit(item[0].row, item[1])]
        if not kept and any(not _COMES_BACK.isdisjoint(sentence.row) for sentence in sentences):
            return 0  # "it is free, we only take a refundable deposit of USD 150"
        heard = kept or heard
        if _forgiven(sentences):
            heard = [item for item in heard if not _overtaken(sentences, item[0], item[1])]
            if not heard:
                return 0
    if not heard:
        if any(free(sentence.row) for sentence in sentences):
            return 0
        return next((_raise_of(sentence) for sentence in sentences if sentence.amounts), None)
    if len(heard) > 1:
        target = [amount for sentence, at, amount in heard if _altered(sentence.row, at)]
        if target:
            return target[-1]  # "I can lower it to USD 30"
        heard = [item for item in heard if not usual(item[0], item[1])] or heard
    if len(heard) == 1:
        return _less_old(sentences, *heard[0])
    for sentence, at, amount in reversed(heard):
        if sentence.asks and sentence.proposes and not _near(sentence.row, at, _WHOLE, 3, 0):
            return amount
        if _summed(sentence.row, at) or _near(sentence.row, at, _MORE, 5, 3):
            return amount
    for sentence, at, amount in reversed(heard):
        row = sentence.row[max(0, at - 7) : at]
        if not (_AGENTS.isdisjoint(row) or _WILL.isdisjoint(row)):
            return amount  # "I would charge you USD 45"
    for sentence, at, amount in heard:
        if _near(sentence.row, at, COSTS, 5, 3) or _tagged(sentence.row, at):
            return amount
    return heard[-1][2]


def _altered(row: Sequence[str], at: int) -> bool:
    """As in "lowered to USD 30", "it goes up to USD 110"."""
    lo = _start(row, at)
    return row[lo - 1 : lo] == ["to"] and not _ALTERS.isdisjoint(row[max(0, lo - 6) : lo])


def usual(sentence: Sentence, at: int) -> bool:
    """As in "usually USD 65", "the list price is USD 65"."""
    return at in sentence.usual or not _STANDARD.isdisjoint(sentence.row[max(0, at - 7) : at])


def due(sentence: Sentence) -> list[tuple[int, int]]:
    """(place, cents) of the amounts in the sentence that may have to be paid; rates only where there is no other."""
    row = sentence.row
    mine = [
        (at, amount)
        for at, amount in sentence.amounts
        if not _returned(row, at) and not _old(row, at) and not _spent(sentence, at)
    ]
    sums = [(at, amount) for at, amount in mine if not _rate(row, at)]
    if mine and not sums:
        times = _times(row, [at for at, _ in sentence.amounts])
        return [(at, amount * times) for at, amount in mine] if times > 1 else mine
    return sums


def _times(row: Sequence[str], amounts: Sequence[int]) -> int:
    """How many nights, rooms or the like a rate is told for, at most a hundred; 1 where it is not told."""
    for at, word in enumerate(row):
        if word in _UNITS:
            for near in range(max(0, at - 2), at):
                told = "" if near in amounts else row[near]
                number = int(told) if told.isdecimal() and len(told) < 3 else _COUNTS.get(told, 0)
                if number > 1:
                    return number
    return 1


def _deposit(row: Sequence[str], at: int) -> bool:
    """As in "a deposit of USD 60", "a USD 60 deposit": it is no price where a price is told as well."""
    lo, after = _start(row, at), _after(row, at)
    beside = after[:1] == ["deposit"] or (after[1:2] == ["deposit"] and after[0] not in ("and", "plus", "with"))
    return (beside or "deposit" in row[max(0, lo - 3) : lo]) and _KEPT.isdisjoint(row[max(0, lo - 5) : at + 4])


def _forgiven(sentences: Sequence[Sentence]) -> bool:
    """Whether a fee is said to be waived, or nothing to be paid."""
    return any(not _WAIVING.isdisjoint(sentence.row) for sentence in sentences)


def _overtaken(sentences: Sequence[Sentence], sentence: Sentence, at: int) -> bool:
    """As in "normally USD 60, but the fee is waived", "it would be USD 60; for you it costs nothing"."""
    begun = False
    as_rule = usual(sentence, at) or "would" in sentence.row[max(0, at - 9) : at + 6]
    for other in sentences:
        begun = begun or other is sentence
        start = at if other is sentence else 0
        if begun and any(
            (as_rule and word in _WAIVING and word != "nothing") or _costs_nothing(other.row, place)
            for place, word in enumerate(other.row[start:], start)
        ):
            return True
        if begun and as_rule and not _DROPPED.isdisjoint(other.row[start:]) and not other.amounts:
            return True
    return False


def _costs_nothing(row: Sequence[str], at: int) -> bool:
    """As in "so it costs you nothing", "you pay zero", "the cost is zero"."""
    if row[at] not in ("nothing", "zero") or row[at + 1 : at + 2] in (["extra"], ["more"], ["else"]):
        return False
    return not _PAYING.isdisjoint(row[max(0, at - 4) : at])


def free(row: Sequence[str]) -> bool:
    """Whether something costs nothing; a free room is none of it."""
    if "complimentari" in row or ("nothing" in row and "pay" in row and "else" not in row):
        return True
    return any(
        (word == "free" and (row[at + 1 : at + 2] == ["of"] or row[at - 1 : at] == ["for"]))
        or (word in ("no", "without") and row[at + 1 : at + 2] in (["fee"], ["charge"], ["cost"]))
        for at, word in enumerate(row)
    )


def _told_free(sentences: Sequence[Sentence]) -> bool:
    """As in "3 rooms can go for free, 5 cost USD 400. Shall I release the 3?"."""
    asks = next((sentence for sentence in reversed(sentences) if sentence.asks), None)
    if asks is None or asks.amounts:
        return False
    counts = {word for word in asks.row if word.isdecimal()}
    for sentence in sentences:
        row = sentence.row
        if counts and "free" in row and sentence is not asks:
            place = row.index("free")
            if counts.intersection(row[max(0, place - 7) : place]):
                return True
    return False


def _near(row: Sequence[str], at: int, words: frozenset[str], back: int, on: int) -> bool:
    return not words.isdisjoint(row[max(0, at - back) : at]) or not words.isdisjoint(row[at + 1 : at + 1 + on])


def _tagged(row: Sequence[str], at: int) -> bool:
    """As in "for USD 45", "at USD 45"."""
    return row[_start(row, at) - 1 : _start(row, at)] in (["for"], ["at"])


def _start(row: Sequence[str], at: int) -> int:
    return at - 1 if at and row[at - 1] in CURRENCY else at


def _after(row: Sequence[str], at: int) -> Sequence[str]:
    return row[at + 2 : at + 6] if row[at + 1 : at + 2] and row[at + 1] in CURRENCY else row[at + 1 : at + 5]


def _returned(row: Sequence[str], at: int) -> bool:
    lo, after = _start(row, at), _after(row, at)
    if "waiv" in after or "away" in after or "awai" in after:
        return True  # "the usual fee of USD 60 is waived"
    if not _BACK.isdisjoint(after[:3]) and after[:1] != ["for"]:  # "USD 80 for giving the rooms back" is a fee
        return True
    for near in range(lo - 1, max(-1, lo - 6), -1):
        word = row[near]
        if word in _FEES or word in ("not", "no"):
            return False
        if word == "back" and not _HANDS.isdisjoint(row[max(0, near - 3) : near]):
            return False  # "the fee for giving the rooms back is …"
        if word == "back" and "set" in row[max(0, near - 3) : near]:
            return False  # "it will set you back USD 130"
        if word in _BACK:
            return lo - near < 5
    return False


def _old(row: Sequence[str], at: int) -> bool:
    lo = _start(row, at)
    return not _BEFORE.isdisjoint(row[max(0, lo - 4) : lo]) and "now" not in row[max(0, lo - 4) : lo]


def _spent(sentence: Sentence, at: int) -> bool:
    """As in "you paid USD 300", not "to be paid" or "the payment"."""
    lo = _start(sentence.row, at)
    return any(lo - 5 < place < lo and sentence.row[place - 1 : place] != ["be"] for place in sentence.paid)


def _rate(row: Sequence[str], at: int) -> bool:
    lo, after = _start(row, at), _after(row, at)
    if row[max(0, lo - 1) : lo] in (["x"], ["times"], ["×"]) or after[:1] in (["x"], ["times"], ["×"]):
        return True
    return (
        (not _EACH.isdisjoint(after[:3]) and "whol" not in after)
        or bool(_UNITS.intersection(after[:1]))
        or not _EACH.isdisjoint(row[lo - 1 : lo])
        or ("each" in row[max(0, lo - 6) : lo] and _SUM.isdisjoint(after[:2]))
    )


def _summed(row: Sequence[str], at: int) -> bool:
    lo = _start(row, at)
    before = row[max(0, lo - 4) : lo]
    if _WHOLE & set(before):
        return False
    return not _SUM.isdisjoint(before) or bool(_SUM.intersection(_after(row, at)[:3]))


def _raise_of(sentence: Sentence) -> int | None:
    """The only amounts are old or returned ones: nothing is to be paid."""
    return 0 if any(_returned(sentence.row, at) for at, _ in sentence.amounts) else None


def _less_old(sentences: Sequence[Sentence], sentence: Sentence, at: int, amount: int) -> int:
    """A new price beside the original one: the difference."""
    if "new" in sentence.row[max(0, at - 5) : at]:
        for other in sentences:
            for place, old in other.amounts:
                if _old(other.row, place) and "instead" not in other.row:
                    return max(0, amount - old)
    return amount
