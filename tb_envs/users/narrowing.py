"""What narrows a question for facts down: which end of a stay it means, and whether a yes or no is all it wants.

Refuses to find facts: that is `asking.py`.
"""

from __future__ import annotations

from .checking import STAFF
from .clauses import Clause
from .lexicon import QUESTION_WORDS
from .phrases import Span
from .words import each

COMING = each("com arriv first start begin")
LEAVING = each("leav depart go out end last vacat")
EITHER = {"dates": ("arrival", "departure"), "new_dates": ("new_arrival", "new_departure")}
_LEADING = QUESTION_WORDS - {"when"}
_DAY = each("day date night when")
_BOTH_ENDS = each("and dates")
_ANY = ("the", "a", "an", "our")
_ASKED_ABOUT = (["you"], ["there"], ["he"], ["she"], ["they"])
_LOOKING = each("receiv see open read check look try use delet find")


def end_meant(row: list[str]) -> str:
    """Which end of the stay a mere "day" is: "which day you go home"."""
    return "departure" if not LEAVING.isdisjoint(row) and COMING.isdisjoint(row) else "arrival"


def which_end(row: list[str], fact: str) -> str:
    """The one of two dates that is asked for: "what day would you leave?", "which night is the first?"."""
    if _DAY.isdisjoint(row) or not _BOTH_ENDS.isdisjoint(row[1:]) or row.count("when") > 1 or row[0] == "dates":
        return fact
    first, last = EITHER[fact]
    leaves, comes = not LEAVING.isdisjoint(row), not COMING.isdisjoint(row)
    comes = comes or any(row[at : at + 2] == ["check", "in"] for at in range(len(row)))
    if leaves != comes:
        return last if leaves else first
    return fact


def closed(clause: Clause, first: Span) -> bool:
    """As in "was the phone in your room broken?", "have you seen our e-mail?": yes or no is what it asks for."""
    row = clause.row
    text = clause.words[0].text
    if not _LEADING.isdisjoint(row) or "when" in row[:4]:
        return "look" in row and row[row.index("look") + 1 :][:1] == ["lik"]  # "what does the card look like?"
    if clause.labels.get("ask") == 0:
        return False
    if row[:3] == ["do", "you", "mean"]:
        return True
    if text in ("did", "has", "have") and not STAFF.isdisjoint(row[1:3]) and "you" not in row[2 : first.lo]:
        return True  # "did the receptionist take your name?"
    if text in ("have", "did") and row[1:2] == ["you"]:
        return row[2:3] != [] and row[2] in _LOOKING and clause.dets[first.lo] != "your"
    if text not in ("was", "were", "did", "has", "does") or row[1:2] in _ASKED_ABOUT:
        return False
    if "you" in row and row[row.index("you") - 1] == "to":
        return False  # "was a number given to you?"
    return clause.dets[first.lo] in _ANY or (first.lo == 1 and first.hi < len(row) and "or" not in row)
