"""Sentences that tell what was understood and ask whether it is right: "if I've got this straight, you want it gone?".

Refuses to look at the customer's values, and to hold what was restated against the request.
"""

from __future__ import annotations

from collections.abc import Sequence

from .clauses import Clause
from .lexicon import QUESTION_WORDS
from .phrases import Span, stem_set
from .recalling import READS, name_like
from .values import NUMBERS
from .words import Is, each

_IT_IS = ["it", "is"]
_WISHES = each("lik want wish need prefer lov")
_YOU_ASK = ["you", "are", "ask"]
_FRAMED = each("correct right understand correctli properli")
_WRITTEN = stem_set("spelled spelt written")
_GATHERED = [["i", verb] for verb in ("tak", "gather", "assum", "understand", "believ", "suppos", "presum", "guess")]
FRAMES = each("do am hav if")
_SPELLING = each("spel writ")
_BEGINS = each("i to if let in so for we as just am do unles from could can may")
_GRASPING = each(
    "recheck word understand follow get clear sur straight correct right recap sum short check confirm summari note"
    " record mistaken wrong hear gather repeat recapitulat summaris summariz grasp"
)
_COMPREHENDING = stem_set(
    "understand follow straight mistaken wrong gather recap sum summarise summarize summary correctly"
    " properly hear clear repeat"
    " grasp picture understood words other recapitulate short"
)
_GOT_IT = (
    ["hav", "it"],
    ["get", "it"],
    ["hav", "that"],
    ["get", "that"],
    ["hav", "you"],
    ["get", "you"],
    ["hav", "get"],
)
_PLAYED = (["play"], ["read"], ["say"], ["giv"], ["run"])
_CLEAVING = each("is was")
_IN_MIND = ["in", "mind"]
_MEANT = each("want mean need said wish")
_NO_VALUES = each("okai fin alright good right correct possibl for if")
_ACCEPTING = (["you", "want"], ["you", "accept"], ["you", "agre"])
_YOURS = ["belong", "to", "you"]
_WHAT_YOU = ["what", "you"]
STATING = each("is was are and so")
_CALLED = each("cal nam spel number end stil")
_POLAR = each("do did are were was is")
_CHOOSING = each(
    "or which instead rather else other another would lik prefer fanci mind accept agre care happi okai"
    " fin need how what"
    " who when where why option if"
)
_PLANS = each("i we me")
_FACTS = each("dates date nam surnam number amount hour arriv departur birthday sum total")
_NAMED_FOR = each("under for nam mr mrs ms miss dr")
_BOOKED = each("booking stay room profil it fil that reservation")
_DID_I = (["hav", "i"], ["do", "i"], ["did", "i"], ["am", "i"])
_AUXILIARIES = each("do did is are was were can could may might wil would shal should hav has am")
_AFTER = (
    ["look", "for"], ["look", "to"], ["hop", "to"], ["hop", "for"], ["try", "to"], ["tri", "to"], ["ask", "for"],
    ["ask", "us"], ["ask", "to"], ["ask", "that"], ["are", "after"], ["plan", "to"], ["aim", "to"], ["mean", "to"],
    ["intend", "to"], ["request", "to"], ["wonder", "if"], ["wonder", "whether"],
    ["ask", "if"], ["ask", "whether"], ["request", "that"],
)  # fmt: skip
"""Wishes in other words: "you're looking for …", "you're hoping to …"."""
_AFTER_FIRST = frozenset(first for first, _ in _AFTER)
_SO = each("yes right correct")
_INVERTED = each("would do what which if")

FRAMING = _BEGINS | FRAMES | frozenset(("you",))
"""First words of a clause that may say that something is restated."""
CHECKING = _POLAR | READS
"""First words of a question that may check the value in it."""


def framed(clause: Clause) -> bool:
    """As in "do I understand correctly that you …?": what follows in the sentence is restated."""
    row = clause.row
    if clause.question and row[:3] == _YOU_ASK:
        return row[3:4] in (["us"], ["me"], ["for"], ["that"], ["to"])  # "so you're asking us to move it?"
    if clause.question and row[0] in ("so", "i") and (row[1:3] if row[0] == "so" else row[:2]) in _GATHERED:
        return "you" in row
    return (
        row[0] in FRAMES
        and len(row) > 4
        and row[1] in ("i", "we")
        and not _FRAMED.isdisjoint(row[2:5])
        and not {"you", "that"}.isdisjoint(row[3:8])
    )


def prelude(row: Sequence[str]) -> bool:
    """As in "just so I get it", "to be clear", "if I've got it", "let me see if I follow"."""
    return row[0] in _BEGINS and len(row) < 9 and not _GRASPING.isdisjoint(row)


def grasped(heard: Sequence[Clause], at: int) -> bool:
    """Whether the sentence that the clause at `at` begins restates something to be confirmed.

    As in "if I've got this straight, you want it removed?", "let me see if I follow: there are two stays?".
    """
    clause = heard[at]
    row = clause.row
    aside = 0
    if row[0] not in _BEGINS:
        if "if" not in row[1:4]:
            return False
        aside = row.index("if", 1, 4)  # "your complaint, if I've understood it, is that …"
    if (at and heard[at - 1].sentence == clause.sentence) or clause.values or not _comprehends(row[aside:]):
        return False
    rest = [other for other in heard[at + 1 :] if other.sentence == clause.sentence]
    return (
        bool(rest)
        and rest[-1].question
        and len(rest[0].row) > 2
        and (rest[0].row[0] not in _AUXILIARIES or (aside > 0 and rest[0].row[0] == "is"))
        and rest[0].row[-1] not in READS
        and all(QUESTION_WORDS.isdisjoint(other.row[:2]) for other in rest)
        and not (rest[0].row[:2] == ["you", "hav"] and len(rest) == 1 and len(rest[0].row) < 6)
    )


def grasp(clause: Clause) -> bool:
    """As in "you want a parking space, have I understood properly?", "…, do I have that straight?"."""
    row = clause.row
    at = next((at for at in range(max(2, len(row) - 6), len(row) - 2) if row[at : at + 2] in _DID_I), 0)
    if not at or clause.values or not ({"you", "i"} & set(row[:at]) or "your" in clause.dets) or row[0] in _AUXILIARIES:
        return False
    tail = row[at + 2 :]
    return not _COMPREHENDING.isdisjoint(tail) or ("get" in tail and "right" in tail)


def trailing(heard: Sequence[Clause], at: int) -> bool:
    """As in "you want a different room, if I heard you correctly?"."""
    row = heard[at].row
    if "if" in row[3:] and row[0] == "you":
        return _comprehends(row[row.index("if", 3) :])
    return (
        row[0] == "if"
        and at > 0
        and heard[at - 1].sentence == heard[at].sentence
        and heard[at - 1].row[0] not in _AUXILIARIES
        and QUESTION_WORDS.isdisjoint(heard[at - 1].row[:1])
        and _comprehends(row)
    )


def _comprehends(row: Sequence[str]) -> bool:
    """As in "if I follow you", "let me see if I have it", "unless I'm mistaken", "let me play that back"."""
    if row[0] not in _BEGINS or not 2 < len(row) < 12:
        return False
    if row[:2] == ["let", "me"] and row[2:3] in _PLAYED and row[-1] == "back":
        return True
    if not _COMPREHENDING.isdisjoint(row[1:]):
        return True
    got = any(list(row[at : at + 2]) in _GOT_IT for at in range(1, len(row) - 1))
    return got and row[0] in ("if", "let") and len(row) < 10


def cleft(clause: Clause) -> bool:
    """As in "was it 14 June that you wanted to arrive?", "is it USD 60 you were charged?": it checks the value."""
    row = clause.row
    if row[0] not in _CLEAVING or "you" not in row[3:] or "or" in row:
        return False
    if row[1] != "it" and not (row[-2:] == _IN_MIND or row[-1] in _MEANT):
        return False
    you = row.index("you", 3)
    told = any(at < you for at in clause.values) or any(token.text in NUMBERS for token in clause.words[1:you])
    return told and row[2] not in _NO_VALUES and row[you:] not in _ACCEPTING


def polar(clause: Clause) -> bool:
    """As in "did you stay five nights?", "do you arrive on 20 June?": it checks the value in it."""
    row = clause.row
    if row[0] not in _POLAR or len(row) < 4 or not _CHOOSING.isdisjoint(row) or not _PLANS.isdisjoint(row):
        return False
    if "want" in row and clause.words[0].text != "did":
        return False
    if row[1] != "you" and row[1] not in _FACTS:
        return False
    if any(clause.words[at].kind is not Is.AMOUNT for at in clause.values):
        return True
    return any(token.text in NUMBERS and at + 1 < len(row) for at, token in enumerate(clause.words) if at > 1)


def called_it(clause: Clause) -> bool:
    """As in "so it's the Northgate Church Choir?": a name is told as the one that is meant."""
    row, words = clause.row, clause.words
    if row[:2] != _IT_IS or not 2 < len(row) < 8:
        return False
    return any(at > 1 and name_like(words[at]) for at in clause.capitals)


def states(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "is your postcode 1011?", "is the payee called Marlowe Estates?", "is it the payment of USD 46.20?"."""
    row, size = clause.row, len(clause.row)
    if row[0] not in STATING or size < 3 or size > 10 or not _CHOOSING.isdisjoint(row[1:]):
        return False
    if row[1:2] in (["it"], ["that"]) and "of" in row[2:6] and clause.values:
        return clause.words[clause.values[-1]].kind in (Is.AMOUNT, Is.NUMBER) and clause.values[-1] > size - 3
    for span in found:
        if span.lo == 1 and not span.means.loose and span.hi < size:
            at = span.hi + (row[span.hi] in _CALLED)
            if at >= size:
                return False
            told = clause.words[at].capital and name_like(clause.words[at])
            return told or (clause.words[at].kind > Is.MARK and at > size - 4)
    return False


def named_for(clause: Clause) -> bool:
    """As in "is the booking under Berg?", "would it be under Berg?"."""
    row = clause.row
    last = len(row) - 1
    return (
        2 < last < 8
        and row[0] in READS
        and row[1] in _BOOKED
        and row[last - 1] in _NAMED_FOR
        and clause.words[last].capital
        and name_like(clause.words[last])
    )


def what_you_want(clause: Clause) -> bool:
    """As in "what you're after is the missing nights, yes?"."""
    row = clause.row
    if row[:2] != ["what", "you"] or "is" not in row[3:7]:
        return False
    return (row[-1] in _SO and len(row) - 1 in clause.commas) or row[3:5] == ["ask", "for"]


def matched(clause: Clause) -> bool:
    """As in "does that surname match yours?", "that's how it is spelled?", "just checking the surname is right"."""
    row = clause.row
    if clause.question:
        if row[-3:] == _YOURS and len(row) < 9 and QUESTION_WORDS.isdisjoint(row):
            return True  # "does that belong to you?"
        if row[0] == "do" and "match" in row:
            return (row[1] in ("that", "it") or row[-1] == "match") and len(row) < 8
        return row[:3] == ["that", "is", "how"] and (row[-1] in _WRITTEN or not _SPELLING.isdisjoint(row[3:5]))
    return row[0] == "check" and row[-1] in _FRAMED and len(row) < 9


def wishes(clause: Clause) -> bool:
    """As in "you'd like to move your stay": it tells what the customer wants."""
    row = clause.row
    if "you" not in row[:12] or (_WISHES.isdisjoint(row) and _AFTER_FIRST.isdisjoint(row)):
        return False
    at = row.index("you")
    if row[:2] == _WHAT_YOU and "is" in row[3:7]:
        return not _WISHES.isdisjoint(row[2:5])  # "what you want is a late check-out"
    if row[0] in _INVERTED and not (row[0] == "if" and prelude(row[:at])):
        return False
    if at > 6 and row[at - 1] != "that" and not prelude(row[:at]):
        return False
    if not _WISHES.isdisjoint(row[at + 1 : at + 5]):
        return True
    return any(row[near : near + 2] in _AFTER for near in range(at + 1, min(at + 4, len(row) - 1))) and row[0] != "are"
