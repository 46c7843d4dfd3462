"""What a clause tells of the talk itself: that the agent ends it, or that it took the talk over from somebody.

Refuses ends of requests: nothing that is told here settles one.
"""

from __future__ import annotations

from .clauses import Clause
from .phrases import stem_set
from .words import each

_TALK = stem_set("conversation chat session talk call dialogue thread exchange")
_ENDING = stem_set(
    "end close conclude terminate finish stop disconnect wrap leave quit shut archive complete over ended closed"
)
_LEAVING = stem_set("disconnect hang log sign off")
TALKING = _TALK | _LEAVING | each("over discus nothing question what")
"""Words without one of which nothing is told of the talk."""
_OTHERS = stem_set("other another previous last earlier wrong")
_CONDITIONS = each("if not unles before until til once never would could")
_MINE = each("i we")
_TAKING = ("took", "taken", "taking")
_THEY = each("they he she team colleagu desk offic manager supervisor depart")
_CHARGED = each("charg pay cost")
_HOLDS = each("hold wait line")
_BRIEFLY = each(
    "line on for while moment minut second tight one two three few until til here bit littl coupl sec pleas then short"
    " brief quick onlin"
)
_BEFORE_HOLD = each("you mind to hold")
HOLDING = _HOLDS
"""Words without one of which nobody is asked to hold the line."""
_MATTERS = each("discus say add settl do clarifi")


def parts(clause: Clause) -> bool:
    """As in "I'm ending this session", "The conversation ends here", "I'll disconnect now"."""
    row = clause.row
    if clause.question or not _CONDITIONS.isdisjoint(row):
        return False
    if "question" in row and "all" in row:  # "since all your questions have been answered"
        return "answer" in row and _MINE.isdisjoint(row) and len(row) < 10
    if "nothing" in row:  # "as nothing else is left to discuss"
        return "leav" in row and not _MATTERS.isdisjoint(row[row.index("nothing") :])
    for at, word in enumerate(row):
        if word in _TALK:
            if _ENDING.isdisjoint(row[max(0, at - 4) : at + 6]) or (at and row[at - 1] in _OTHERS):
                continue
            return word != "call" or clause.dets[at] in ("the", "our", "") or row[at - 1 : at] == ["that"]
        if word in _LEAVING and at and len(row) < 6 and row[at - 1] in ("wil", "am", "to", "now", "shal"):
            return not _MINE.isdisjoint(row[:at]) and (word != "off" or at + 2 > len(row) - 1)
    return False


def introduces(clause: Clause) -> bool:
    """As in "here is what I have done so far": an account of the work follows."""
    row = clause.row
    return row[1:3] == ["is", "what"] and row[0] in ("here", "that") and row[-1] not in _CHARGED and not clause.question


def took_over(clause: Clause) -> bool:
    """As in "sorry, I just took over from a colleague": the talk, not the request."""
    row = clause.row
    if "over" not in row or not _THEY.isdisjoint(row[: row.index("over")]):
        return False
    at = row.index("over")
    return any(token.text in _TAKING for token in clause.words[max(0, at - 2) : at]) and "wil" not in row


def holds(clause: Clause) -> int:
    """Where a question asks the customer to hold the line ("could I put you on hold?"), else -1."""
    row = clause.row
    for at, word in enumerate(row):
        if word not in _HOLDS or (at > clause.hyp and clause.hyp_word != "if") or not at:
            continue
        if word == "line":
            if row[at - 1] == "on" and row[at - 2 : at - 1] in (["stai"], ["stay"], ["remain"], ["hold"], ["wait"]):
                return at
            continue
        near = row[max(0, at - 4) : at]
        rest = row[at + 1 :]
        if word == "hold" and "on" in near[-3:]:
            return at if "you" in near else -1
        if near[-1] in _BEFORE_HOLD and (not rest or rest[0] in _BRIEFLY) and "or" not in row and "lik" not in near:
            return at
    return -1
