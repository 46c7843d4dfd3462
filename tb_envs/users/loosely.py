"""Whether a common word like "number", "booking" or "name" stands where it is asked for, and not in passing.

Refuses to find facts: that is `asking.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .lexicon import ASK_VERBS
from .phrases import Span, stem_set
from .words import each

_AUX = each("is are was were do did wil would can could shal should hav")
_LOOSE_BEFORE = each("which what whose me us")
_LOOSE_ASK = stem_set("give tell need have share provide send confirm get require")
_ABOUT = (["it", "is"], ["it", "was"], ["that", "is"], ["you", "mean"], ["it", "concern"], ["that", "concern"])
_LISTING = each("and or plu plus")
_ONCE_MORE = each("once again")
_HAVE = each("hav know need get giv")
_THEY = each("they it that which you")
_DANGLING = each("to in for on about")
_OPEN_END = each("is was are")
_LEAD_IN = each("and or so okai fin then also now good great thank right wel")
_SPECIFY = stem_set("specify name state clarify")
_AFTER_LOOSE = _AUX | each("once again cal you i we it that for to on in of about or and with by at they she he be")


def in_list(clause: Clause, span: Span, found: list[Span]) -> bool:
    """As in "name, mail, booking": a common word that is an item of a list of facts."""
    row, lo, hi = clause.row, span.lo, span.hi
    if len(found) < 2 and clause.row[0] != "and":
        return False
    if not (hi == len(row) or hi in clause.commas or row[hi] in _LISTING or row[hi] in ("it", "you", "that")):
        return False
    before = lo in clause.commas or (lo > 0 and row[lo - 1] in _LISTING)
    ends = {other.hi for other in found} | {other.hi + 1 for other in found}
    if row[:lo] == ["and"]:
        return True
    return (before and lo in ends) or (not lo and found[1].lo - hi < 2)


def meant(clause: Clause, span: Span) -> bool:
    """As in "the booking it is about", "the stay you mean"."""
    row, hi = clause.row, span.hi
    if (
        clause.question
        and _LEAD_IN.issuperset(row[: span.lo])
        and clause.dets[span.lo] in ("the", "your")
        and row[-1] in _OPEN_END
    ):
        return True  # "the amount that's wrong is...?"
    return not span.lo and clause.dets[0] == "the" and row[hi : hi + 2] in _ABOUT and len(row) < 7


def directly(clause: Clause, span: Span) -> bool:
    """A common word asks for a fact only next to a question word or a request."""
    row, lo, hi = clause.row, span.lo, span.hi
    if clause.blank and not lo and hi == len(row):
        return True  # "Booking:"
    if hi < len(row) and row[hi] not in _AFTER_LOOSE and not clause.dets[hi]:
        return False
    if clause.dets[lo] == "its" and hi == len(row) and row[lo] == "number":
        return True  # "before I have seen the reservation … Might I have its number?"
    before = row[lo - 1] if lo else ""
    if before in _HAVE and hi + 2 < len(row) and row[hi] in _THEY and row[-1] in _DANGLING:
        return True  # "could you let me have the booking they belong to?"
    if before == "of" and lo > 1 and row[lo - 2] == "which" and clause.dets[lo] == "your":
        return True  # "which of your bookings"
    if before in _LOOSE_BEFORE or (
        before in ("and", "or")
        and (lo > 1 or (row[0] == "and" and not clause.question))
        and clause.dets[lo] in ("the", "your")
    ):
        return True
    if before in ("is", "was", "are", "were") and lo > 1 and row[lo - 2] in ("what", "which"):
        return True
    if hi == len(row) and (before in _SPECIFY or (clause.dets[lo] == "your" and before in _LOOSE_ASK)):
        return True
    if before in ASK_VERBS and clause.polite and clause.dets[lo] and (hi == len(row) or row[hi] in _ONCE_MORE):
        return True  # "please give the number once more"
    if before in _SPECIFY and clause.dets[lo] and (lo == 1 or lo - 1 in clause.polite):
        return True
    rest = {*row[:lo], *row[hi:]}
    return rest <= _LEAD_IN and (clause.question or bool(clause.polite))
