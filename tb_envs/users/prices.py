"""Which of the amounts in a message is the price of what is proposed.

Refuses refunds, what was paid before, and rates ("USD 20 for each hour") where a sum is told as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from .heard import Sentence
from .phrases import stem_set
from .words import each

_CURRENCY = each("usd eur gbp chf dollar euro pound")
_BACK = stem_set("back refund return reimburse credit reimbursement refunded")
_BEFORE = stem_set("already original originally previous old save saving saved instead worth")
_EACH = stem_set("per each every")
_UNITS = stem_set("hour night day room person guest")
_SUM = stem_set("total all altogether sum comes overall makes so together")
_MORE = stem_set("difference extra additional more surcharge supplement top-up top")
_PRICES = stem_set("fee charge cost price pay penalty")
_FEES = stem_set(
    "fee cost charge price penalty surcharge supplement pay owe due mean foresee incur require carry amount come run"
)
_WHOLE = stem_set("new stay booking")


def payable(sentences: Sequence[Sentence]) -> int | None:
    """The price in cents: a sum or difference, else the amount in the question, else next to "fee", else the last."""
    if _told_free(sentences):
        return 0
    heard = [(sentence, at, amount) for sentence in sentences for at, amount in due(sentence)]
    if not heard:
        if any(free(sentence.row) for sentence in sentences):
            return 0
        return next((_raise_of(sentence) for sentence in sentences if sentence.amounts), None)
    if len(heard) == 1:
        return _less_old(sentences, *heard[0])
    for sentence, at, amount in reversed(heard):
        if sentence.asks and sentence.proposes and not _near(sentence.row, at, _WHOLE, 3, 0):
            return amount
        if _summed(sentence.row, at) or _near(sentence.row, at, _MORE, 5, 3):
            return amount
    for sentence, at, amount in heard:
        if _near(sentence.row, at, _PRICES, 5, 3) or _tagged(sentence.row, at):
            return amount
    return heard[-1][2]


def due(sentence: Sentence) -> list[tuple[int, int]]:
    """(place, cents) of the amounts in the sentence that may have to be paid; rates only where there is no other."""
    row = sentence.row
    mine = [
        (at, amount)
        for at, amount in sentence.amounts
        if not _returned(row, at) and not _old(row, at) and not _spent(sentence, at)
    ]
    sums = [(at, amount) for at, amount in mine if not _rate(row, at)]
    return sums or mine


def free(row: Sequence[str]) -> bool:
    """Whether something costs nothing; a free room is none of it."""
    if "complimentari" in row or ("nothing" in row and "pay" in row):
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
    return at - 1 if at and row[at - 1] in _CURRENCY else at


def _after(row: Sequence[str], at: int) -> Sequence[str]:
    return row[at + 2 : at + 6] if row[at + 1 : at + 2] and row[at + 1] in _CURRENCY else row[at + 1 : at + 5]


def _returned(row: Sequence[str], at: int) -> bool:
    lo, after = _start(row, at), _after(row, at)
    if not _BACK.isdisjoint(after[:3]):
        return True
    for near in range(lo - 1, max(-1, lo - 6), -1):
        word = row[near]
        if word in _FEES or word in ("not", "no"):
            return False
        if word == "back" and "giv" in row[max(0, near - 3) : near]:
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
        not _EACH.isdisjoint(after[:3]) or bool(_UNITS.intersection(after[:1])) or bool(_EACH & set(row[lo - 1 : lo]))
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
