"""Deeds told in few words: a headline, a card that is frozen now, a filed dispute; a sent passcode is none.

Refuses to say whose deed it is: that is `finishing.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .elsewhere import third, with_others
from .ends import CHECKS
from .phrases import stem_set
from .records import THINGS
from .words import each

FINITE = each("is are was not can would wil cost mean hav")
_CODES = each("code codes passcode passcodes otp sms tan text")
_SHUT_THINGS = each("transfer order pay card stand")
_DISPUTES = each("disput chargeback")
HEADLINES = stem_set(
    "issued processed refunded credited released removed reversed waived posted cancelled made sent changed moved"
    " booked confirmed added corrected updated upgraded extended completed raised lowered increased frozen blocked"
    " unfrozen unblocked filed recalled stopped paused ended closed reopened"
)
_SUBJECTS = each("i we you they he she it that not no if")
_PRELUDE = each("good great new okai alright hello hi yes so and also thank perfect updat short quick")
_TOPICS = stem_set(
    "refund booking stay fee charge charges cancellation rooms nights points money amount item usd change upgrade"
    " invoice dates request room payment correction email limit card dispute transfer order deposit account"
)
_RULED = each("les within before after later carri incur attract than without")
_PRICED = each("cost would wil tak need")


def codes(clause: Clause) -> bool:
    """Whether a passcode is spoken of: it is sent to learn who somebody is, and ends nothing."""
    return any(token.text in _CODES for token in clause.words)


def shut_now(clause: Clause, at: int, aux: str) -> bool:
    """As in "your card is frozen now", "card's blocked": the state that was asked for, and not why something fails."""
    row = clause.row
    if aux in ("was", "were"):
        return not THINGS.isdisjoint(row[:at]) and clause.words[at].text != "broken"
    told = at + 1 == len(row) or at + 1 in clause.commas or row[at + 1] in ("and", "for")
    if not (clause.now or clause.again) and not (row[at - 1] in ("card", "is") and told):
        return False
    if row[:2] == ["it", "is"]:
        return at == 2
    shut = row[0] in _SHUT_THINGS if clause.row[at] == "stop" else row[0] in ("card", "new", "old")
    return shut and not clause.general


def disputes(clause: Clause, at: int, rest: list[str]) -> bool:
    """As in "I've opened a dispute", "a dispute has been lodged", with nobody of whom it is asked."""
    row = clause.row
    if _DISPUTES.isdisjoint(rest) and _DISPUTES.isdisjoint(row[max(0, at - 4) : at]):
        return False
    return not with_others(clause, at) and not third(clause, at, rest) and "with" not in rest


def heads(clause: Clause, at: int) -> bool:
    """As in "Refund made, full amount", "Good news: fee of USD 20 waived": a deed told without its helping verb."""
    row = clause.row
    if row[at] not in HEADLINES or not FINITE.isdisjoint(row[:at]) or not _SUBJECTS.isdisjoint(row[:at]):
        return False
    if not _RULED.isdisjoint(row[at + 1 : at + 3]) or not _PRICED.isdisjoint(row[at + 1 : at + 5]):
        return False  # "changes made less than a week ahead carry a fee"
    start = max((comma for comma in clause.commas if comma < at), default=0)
    while start < at and row[start] in _PRELUDE:
        start += 1
    return at - start < 7 and not _TOPICS.isdisjoint(row[start:at]) and (at < 7 or row[at - 1] in _TOPICS)


def is_check(rest: list[str]) -> bool:
    """The object is a check, not a check-in."""
    return any(
        word in CHECKS and not (word == "check" and rest[at + 1 : at + 2] in (["in"], ["out"]))
        for at, word in enumerate(rest[:4])
    )
