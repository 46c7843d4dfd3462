"""Questions that no fact answers: "which bank issued the card?", "and what floor is your room on?".

Refuses what only points back, courtesy, and what checks or proposes something.
"""

from __future__ import annotations

from .associating import hollow
from .clauses import Clause
from .lexicon import ASK_VERBS, COMMON, DOMAIN, GET_VERBS, QUESTION_WORDS
from .phrases import stem_set
from .words import Is, each

_LEADING = each("and or plu also then so but from in on at for under with by to of about since until til")
_SIZES = each("mani old tal far big often high heavi fast wide long")
_HOW = each("do did was were would")
_PLAIN = COMMON | ASK_VERBS | GET_VERBS | QUESTION_WORDS | (DOMAIN - stem_set("status note dog cat pet car plate"))
_ABOUT_US = each("i we me us")
_BENEFIT = each("help assist serv support happen wrong matter problem chang reason occur")
_YES_NO = (["do", "you"], ["were", "you"], ["was", "it"], ["hav", "you"], ["do", "it"])
_TELLING = ("did", "were", "was")
_LIKING = each("lik want lov know enjoi need expect")
_LAST = ("which", "what", "who", "where")


def unanswerable(clause: Clause) -> bool:
    """Whether the question, which asks for none of the customer's facts, is about something it cannot know."""
    row = clause.row
    lo = 0
    while lo < len(row) - 1 and row[lo] in _LEADING:
        lo += 1
    lead = row[lo]
    if lead not in QUESTION_WORDS or len(row) < lo + 3 or not _BENEFIT.isdisjoint(row) or hollow(clause):
        return False
    if lead == "how":
        follow = row[lo + 1]
        if follow not in _SIZES and not (follow in _HOW and "you" in row[lo + 2 : lo + 4]):
            return False
    elif lead == "who" and row[lo + 1] in _LIKING:
        return False  # "who likes that sort of surprise?"
    elif lead in ("why", "when", "whose", "whom"):
        return False
    if not _ABOUT_US.isdisjoint(row[lo + 1 : lo + 4]):
        return False
    return any(word not in _PLAIN for word, token in zip(row, clause.words, strict=True) if token.kind is Is.WORD)


def asks_plainly(clause: Clause) -> bool:
    """As in "Which airline do you fly with", "did you pay with visa or in cash": a question without its mark."""
    row = clause.row
    if clause.values or len(row) > 10 or clause.commas:
        return False
    if row[0] in _LAST:
        return "you" in row[2:6] and not _AUX.isdisjoint(row[1:4]) and not _ABOUT_US.intersection(row)
    return row[:2] in _YES_NO and clause.words[0].text in _TELLING and not _ABOUT_US.intersection(row)


_AUX = each("do did are were was hav is")
