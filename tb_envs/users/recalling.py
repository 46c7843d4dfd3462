"""What a check points back to: a name that was told a sentence before, a wish that was restated, an echoed value.

Refuses to compare what the clause itself restates: that is `restating.py`.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from .clauses import Clause
from .lexicon import COMMON, DOMAIN, TITLES
from .phrases import Span, stem_set
from .values import MONTHS, Values, squash
from .words import Is, Token, each, stem

_NAMES = each("name surname caller")
_PLACES = each("under for of as cal spel to be nam is read mr mrs ms miss dr find say one hav")
"""What stands right before a name that is told."""
_NO_NAMES = frozenset(stem(name.lower()) for name in MONTHS) | stem_set(
    "monday tuesday wednesday thursday friday saturday sunday euro usd eur gbp english german suite deluxe spa"
)
_IT_IS = ["it", "is"]
_SELF = (["i", "am"], ["that", "is"], ["name", "is"])
_STRANGERS = each("colleagu manager receptionist supervisor mine speak")
READS = each("is as was would read say spel be")
_COURTESY = each("thank you got it get noted okai great perfect right alright so is that for hav i good number booking")
_THANKS = _COURTESY | each("fin lovely super sur excellent cheer wonderful")
_SAYS = (["it", "say"], ["it", "read"], ["i", "read"], ["i", "see"])
_ECHO = _COURTESY | each("card end in with")
_IT = each("it that be")
_LEAST = 4


def misnamed(
    heard: Sequence[Clause], found: Sequence[list[Span]], known: Values, about: Set[str], right: Sequence[str]
) -> list[str]:
    """The names of the customer's in whose place another one was told, and is checked now.

    Args:
        heard: all clauses of a message that checks something.
        found: the facts that each of them names.
        known: the customer's values.
        about: the facts that the checks name.
        right: what was restated rightly.
    """
    mine = [value for value in known.of["name"] if value.group in _NAMES]
    if not mine or any(value.fact in right for value in mine):
        return []
    own = {text for value in mine for text in value.texts}
    checked = not _NAMES.isdisjoint(about)
    named_before = -9
    for at, clause in enumerate(heard):
        span = next((span for span in found[at] if span.means.fact in _NAMES and not span.means.loose), None)
        beside = named_before == clause.sentence and (clause.question or clause.row[0] in READS)
        if span is not None:
            named_before = clause.sentence
        titled = (clause.question and "you" in clause.row[:3]) or clause.row[:2] == _IT_IS  # "you are Mr Smith, yes?"
        if (
            not (checked or span or beside or titled)
            or not _STRANGERS.isdisjoint(clause.row)
            or _own_name(clause, span)
        ):
            continue
        strange = _strange(clause, own)
        if any(_told(clause, place, span, checked, beside) for place in strange) or (
            titled and any(clause.row[place - 1 : place] and clause.row[place - 1] in TITLES for place in strange)
        ):
            return [mine[0].fact]
    return []


def _own_name(clause: Clause, span: Span | None) -> bool:
    """As in "my name is Berg"."""
    return span is not None and "my" in clause.dets[max(0, span.lo - 1) : span.hi]


def names_it(clause: Clause, found: Sequence[Span], earlier: bool) -> bool:
    """As in "is Berg your last name?", "…: is it Berg?".

    Args:
        clause: the clause.
        found: the facts it names.
        earlier: whether the clause before it, in the same sentence, names one for a name.
    """
    row = clause.row
    if len(row) < 3:
        return False
    at = next((at for at, word in enumerate(row[1:4], 1) if word not in TITLES and word not in _IT), 1)
    if at >= len(row) or not (clause.words[at].capital and name_like(clause.words[at])):
        return False
    return (earlier and at > 1) or any(span.means.fact in _NAMES and span.lo > at for span in found)


def _strange(clause: Clause, own: Set[str]) -> list[int]:
    """Where a name stands that is none of the customer's."""
    return [
        at
        for at, token in enumerate(clause.words)
        if (token.capital or (at and clause.row[at - 1] in TITLES))
        and name_like(token)
        and token.text not in own
        and token.text.removesuffix("'s") not in own
    ]


def name_like(token: Token) -> bool:
    """Whether the word could be a name: none of business English, no month."""
    word = token.stem
    plain = token.kind is Is.WORD and len(token.text) > 2 and word not in COMMON and word not in DOMAIN
    return plain and word not in TITLES and word not in _NO_NAMES


def _told(clause: Clause, at: int, span: Span | None, checked: bool, beside: bool) -> bool:
    """Whether the name at `at` is told as the customer's."""
    row = clause.row
    if any(row[near : near + 2] in _SELF for near in range(max(0, at - 3), at - 1)) and not clause.question:
        return False
    before = row[at - 1] if at else ""
    if at > 1 and len(before) == 1 and before.isalpha():
        before = row[at - 2]  # "under T. Berg"
    if not at and checked and row[1:3] in _SAYS:
        return True  # "Berg it says on my screen"
    if span is not None:
        if at >= span.hi:
            return at == span.hi or before in _PLACES
        return at + 1 < len(row) and row[at + 1] in READS and span.lo - at < 5
    return before in _PLACES if checked else beside and before in _PLACES


def echoed(clause: Clause, known: Values) -> list[str]:
    """Facts whose value is echoed with a slip in it, and nothing said besides: "LA-33817, I have noted it"."""
    if (
        len(clause.values) != 1
        or clause.question
        or not _ECHO.issuperset(word for at, word in enumerate(clause.row) if at != clause.values[0])
    ):
        return []
    token = clause.words[clause.values[0]]
    if token.kind is Is.NUMBER and "card" in clause.row and len(token.text) == _LEAST:
        return [value.fact for value in known.of["digits"] if value.key != token.text][:1]
    if token.kind is Is.ID:
        heard = squash(token.text)
        return [value.fact for value in known.of["id"] if _slip(value.key, heard)][:1]
    if token.kind is Is.EMAIL:
        return [value.fact for value in known.of["email"] if _slip(value.text.lower(), token.text)][:1]
    return []


def misheard(clause: Clause, known: Values) -> list[str]:
    """A name that is echoed wrongly, and nothing said besides: "Mrs Smith, okay", "Southgate Choir Society, thanks"."""
    row, words = clause.row, clause.words
    last = len(row) - 1
    while last > 0 and row[last] in _THANKS:
        last -= 1
    if not last or last == len(row) - 1 or last > 4 or last + 1 not in clause.commas:
        return []
    if row[0] in TITLES:
        own = known.called
        mine = [value.fact for value in known.of["name"] if value.group in _NAMES]
        strange = last == 1 and name_like(words[1]) and words[1].text.removesuffix("'s") not in own
        return mine[:1] if strange else []
    for value in known.of["name"]:
        shared = sum(row[at] in value.words and words[at].capital for at in range(last + 1))
        if shared > 1 and shared * 2 > last + 1 == len(value.words) and shared <= last:
            return [value.fact]
    return []


def _slip(own: str, heard: str) -> bool:
    """Whether `heard` is `own` with one letter or digit changed, left out, added, or two of them swapped."""
    if own == heard or abs(len(own) - len(heard)) > 1 or own[:1] != heard[:1] or len(own) < _LEAST:
        return False
    lo = next((at for at, (one, other) in enumerate(zip(own, heard, strict=False)) if one != other), len(own))
    mine, theirs = own[lo:], heard[lo:]
    if len(own) == len(heard) > _LEAST + 1 and (sorted(own) == sorted(heard) or own[:_LEAST] == heard[:_LEAST]):
        return True
    if len(mine) == len(theirs):
        return (
            mine[1:] == theirs[1:]
            or (mine[1::-1] == theirs[:2] and mine[2:] == theirs[2:])
            or (sorted(mine) == sorted(theirs) and sum(a != b for a, b in zip(mine, theirs, strict=True)) == 2)
        )
    return mine[1:] == theirs or mine == theirs[1:]
