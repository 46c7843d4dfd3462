"""Statements that name facts or questions and ask for nothing: "the phone rings all day".

Refuses what has the form of a question, and what the customer is spoken to in.
"""

from __future__ import annotations

from collections.abc import Sequence

from .clauses import Clause
from .demanding import FRAMES, VERBS
from .lexicon import NEED_VERBS, QUESTION_WORDS
from .phrases import Span
from .words import each

_HEADLESS = each("who how")
_LINKED = VERBS | NEED_VERBS | FRAMES
_NO_VERBS = ("ss", "us", "is")
_ASKING_ON = each("mani much long lat old is are was were do did")
_OURS = each("you i we me us")
_PLURALS = each("details digits numbers dates nights rooms guests days addresses names thanks has plus yes as")
PROMPTS = each("ask prompt demand query queri")


def tells(clause: Clause) -> bool:
    """As in "who may change it is set out in our rules", "housekeeping writes down on what day it was"."""
    row = clause.row
    if row[0] in QUESTION_WORDS:
        if row[0] not in _HEADLESS or row[1] in _ASKING_ON or VERBS.isdisjoint(row[2:]):
            return False
    else:
        text = clause.words[1].text
        if text[-1] != "s" or row[1] in _LINKED or text[-2:] in _NO_VERBS or text in _PLURALS:
            return False
        if row[1] in PROMPTS or QUESTION_WORDS.isdisjoint(row[2:]):
            return False
    return _OURS.isdisjoint(row) and "your" not in clause.dets


def happens(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "the reason matters to us", "the phone rings all day": a verb follows what is named."""
    hi = found[0].hi
    if clause.question or hi >= len(clause.row) or hi in clause.commas or not clause.dets[found[0].lo]:
        return False
    text = clause.words[hi].text
    return text[-1] == "s" and clause.row[hi] not in _LINKED and text[-2:] not in _NO_VERBS and text not in _PLURALS


def without(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "Sorry, no better rooms left for those nights"."""
    if "no" not in clause.row or not found or clause.question or clause.polite:
        return False
    lo, at = found[-1].lo, clause.row.index("no")
    return at < lo and not any(at < comma <= lo for comma in clause.commas)
