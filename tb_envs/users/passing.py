"""What a clause names in passing, beside the thing that it asks for or as another thing than a fact.

Refuses to find what is asked for: that is `asking.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .phrases import Span, stem_set
from .words import each

_HEADS = stem_set(
    "team desk staff line system programme program machine counter app page form message department office clerk"
    " service shift auditor badge tag server folder filter template client reception porter lounge manager audit crew"
    " area zone portal section login magazine"
)
_MESSAGES = stem_set("confirmation booking reservation welcome last earlier reminder previous automatic")
_TO_WHICH = each("of to with on in")
_OWNERS = each("member loyalty booking account reservation_code")
_TIED = stem_set("linked attached connected registered tied belonging associated stored saved recorded connect")
_WHILE = each("if when once after while becaus")
_KNOWING = each("know tel me ask confirm say and or of for from until til sinc")
_HEADED = each("is do hav how where what which who whose can could")
_PAPERS = stem_set("note form message letter mail email document paper confirmation news")
_DETERMINED = ("the", "your", "a", "an", "his", "her", "our")
_STAFF = stem_set("receptionist colleague manager agent staff employee person member waiter clerk representative")
_NAMELESS = stem_set(
    "bank insurance insurer agency airline website site portal platform hospital doctor airport street town city"
    " country dog cat pet song piece programme drink wine shop school office boss conductor director brand ship flight"
    " event fair conference festival restaurant hotels hotel garage system"
)
"""What has a name that is none of the customer's."""


def beside(clause: Clause, span: Span, found: list[Span]) -> bool:
    """What is only named beside the thing that is asked for: "the note about your departure", "the night team"."""
    row, lo, hi = clause.row, span.lo, span.hi
    if span.means.fact == "nights" and hi - lo == 1 and clause.words[lo].text == "night":
        return True
    if hi - lo == 1 and hi < len(row) and hi not in clause.commas and row[hi] in _HEADS:
        return True
    if span.means.fact == "name" and hi - lo == 1 and any(other.hi == lo for other in found):
        return lo not in clause.commas  # "the group name"
    if span.means.fact == "email" and hi - lo == 1 and lo and row[lo - 1] in _MESSAGES:
        return True
    if span is not found[0] and lo > 1 and row[lo - 1] in _TO_WHICH:
        before = found[found.index(span) - 1]
        if row[lo - 1] in ("of", "on") and before.hi == lo - 1 and not before.means.loose and before.lo != before.hi:
            return span.means.fact in _OWNERS
        if row[lo - 1] != "of" and row[lo - 2] in _TIED:
            return True  # "the e-mail address linked to your membership"
    for at in range(2, lo):  # "how shall we call you when the nights are found?"
        if row[at] in _WHILE and row[at - 1] not in _KNOWING and not _HEADED.isdisjoint(row[:2]):
            return not any(at < comma <= lo for comma in clause.commas)
    return span is not found[0] and lo > 2 and row[lo - 1] == "about" and row[lo - 2] in _PAPERS


def naming(clause: Clause, at: int) -> bool:
    """As in "please name the day": a verb."""
    before = clause.row[at - 1] if at else ""
    if clause.dets[at]:
        return False  # "the name the room is booked in"
    return (not at or at in clause.polite or before in ("to", "you", "can", "could")) and clause.dets[
        at + 1
    ] in _DETERMINED


def to_phone(row: list[str], at: int) -> bool:
    """As in "she would like to phone you", "anyone who phones": a verb."""
    return row[at - 1 : at] in (["to"], ["wil"], ["who"], ["can"]) and row[at + 1 : at + 2] in (
        ["you"],
        ["us"],
        ["after"],
    )


def unseen(clause: Clause, span: Span) -> bool:
    """As in "we did not receive any such e-mail": a message that did not come, no fact that is wanted."""
    row, lo = clause.row, span.lo
    if "not" not in row[:lo] or not any(token.text == "did" for token in clause.words[:lo]):
        return False
    return "such" in row[:lo] or row[lo - 1] == "that" or (span.means.fact == "email" and span.hi - lo == 1)


def anothers(row: list[str], hi: int) -> bool:
    """Whether the name is of one of the company's people, or of a thing: "the name of the bank"."""
    return not _STAFF.isdisjoint(row[hi + 1 : hi + 3]) or not _NAMELESS.isdisjoint(row[hi + 1 : hi + 4])
