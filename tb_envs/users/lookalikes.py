"""What looks like the end of a request and is none: lists, reassurances, accounts, consolation.

Refuses to find ends: that is `outcomes.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import BE, MODAL, PENDING
from .lexicon import THIRD
from .phrases import stem_set
from .records import THINGS
from .words import Is, each

_ABLE = each("can could possibl do done availabl fre left abl")
_NEEDING = each("need want requir lack ask miss expect")
_HARMS = each("harm damag injuri wrong")
_OWED = stem_set("refund return credit reimburse pay correct waive remove cancel compensate deduct")
_FEELING = each("sorri imagin understand upset hear see appreciat regret sad")
_FORMER = each("old wrong previous original earlier")
_FULL_OF = ["ful", "of"]
_THEM_TO = [[them, ["to"]] for them in (["them"], ["him"], ["her"])]
_TALKS = each("speak talk check discus clarifi confirm")
_BEFORE_TALK = each("to wil let me and must should can quickli first")
TALKED = each("spoke spoken talked checked discussed word")
_CONTESTING = (["disput"], ["recal"], ["revers"], ["trac"], ["releas"])
_CODED = each("code codes passcode passcodes otp text sms")
_THAT = each("that how what why to hear when if whi")


def no_end(clause: Clause, at: int) -> bool:
    """As in "all sorts of things", "you are in such a hurry", "I've done it myself"."""
    row = clause.row
    if clause.words[min(at + 1, len(row) - 1)].text == "clear":
        return True  # "that is very clear"
    if "go" in row[at : at + 3] and "to" in row[at + 2 : at + 4] and not THIRD.isdisjoint(row[at + 3 :]):
        return True  # "it's gone to my manager"
    if row[at] == "all":
        return clause.words[min(at + 1, len(row) - 1)].text == "sorts"
    if row[at + 2 : at + 3] == ["go"] and at + 1 not in clause.commas and going(clause, at + 2):
        return True
    if row[at] == "on" and not _CODED.isdisjoint(token.text for token in clause.words[:at]):
        return True  # "a passcode is on its way to you"
    if row[at] == "on" and "were" in row[:at]:
        return True  # "some stays were left behind on the way"
    if row[at] == "you":
        return row[at + 2 : at + 3] == ["in"] and len(row) > at + 3 and THINGS.isdisjoint(row[at + 3 :])
    if row[at] == "done" and "what" in row[max(0, at - 4) : at]:
        return True  # "here is what I have done so far"
    if at and clause.words[at - 1].text == "being":
        return True  # "it is being dealt with by the billing department"
    if row[at] == "dealt" and row[at - 1 : at] in (["are"], ["is"]):
        return row[at + 2 : at + 3] == ["by"]  # "contracts are dealt with by our sales office"
    if row[at] == "which":
        return row[at + 1 : at + 2] in (["is"], ["are"])
    if row[at] == "done" and at and row[at - 1] in _HARMS:
        return True  # "no harm done"
    return row[at] == "done" and ("myself" in row or "easili" in row or row[at + 1 : at + 2] in (["with"], ["part"]))


def under_way(clause: Clause) -> set[str]:
    """As in "it is being dealt with by the billing department": in the hands of others."""
    row = clause.row
    at = row.index("being")
    passive = (
        at > 0
        and row[at - 1] in ("is", "are")
        and any(token.text[-2:] in ("ed", "lt", "en") for token in clause.words[at + 1 : at + 3])
    )
    return {PENDING} if passive and "by" in row[at:] and not THIRD.isdisjoint(row[at:]) else set()


def listed(row: list[str], at: int) -> bool:
    """As in "We have a flexible and a non-refundable rate"."""
    return row[at] in ("non", "nonrefundabl") and at > 0 and not BE.intersection(row[:at])


def harmless(clause: Clause, at: int) -> bool:
    """As in "there is nothing to pay", "no rooms have been released so far", "the old dates are gone"."""
    row = clause.row
    if (at and row[at - 1] in _FORMER) or row[at + 2 : at + 4] == _FULL_OF:
        return True
    if row[at] == "say":
        return row[at + 2 : at + 3] in (["match"], ["result"], ["entri"], ["hit"], ["record"], ["such"])
    if row[at : at + 2] == ["nothing", "to"] and row[at + 2 : at + 3] in _CONTESTING:
        return False  # "there's nothing to dispute here"
    if row[at : at + 4] == ["nothing", "to", "do", "with"]:
        return True
    if row[at : at + 2] == ["nothing", "to"] and row[at + 2 : at + 3] and row[at + 2] in _OWED:
        return row[at + 2] == "pay" and row[at + 3 : at + 4] != ["back"]  # "so there's nothing to refund"
    if row[at : at + 3] == ["no", "longer", "be"] and row[at + 3 : at + 4] in (["used"], ["us"], ["charg"]):
        return True  # "the card can no longer be used"
    if row[at] == "nothing":
        rest = row[at + 1 : at + 7]
        return _ABLE.isdisjoint(rest) and (rest[:1] == ["to"] or not _NEEDING.isdisjoint(rest[:3]))
    return row[at] == "no" and {"hav", "been"} <= set(row[at + 1 : at + 6])


def by_whom(clause: Clause, at: int) -> bool:
    """As in "it was set up by a colleague", "it is sorted by date", "that is very clear"."""
    row = clause.row
    rest = row[at + 1 : at + 6]
    if "been" in rest or (rest[:1] == ["is"] and clause.now):
        return False
    if "by" in rest:
        return THIRD.isdisjoint(rest)
    return "up" in rest[:4] and clause.words[at].text == "was"


def read(row: list[str], at: int) -> bool:
    """As in "I have gone through your bill"."""
    return row[at] == "go" and row[at + 1 : at + 2] == ["through"] and ("i" in row[:at] or "we" in row[:at])


def unsure(clause: Clause, at: int) -> bool:
    """As in "it will be done", "everything gets done": nothing that is so."""
    row = clause.row
    begun = max((comma for comma in clause.commas if comma <= at), default=0) if clause.commas else 0
    before = row[max(begun, at - 4) : at + 1]
    return (
        any(
            word in MODAL or word in ("not", "never", "nothing", "to", "get", "wil", "everything")
            for word in before[:-1]
        )
        or (row[at] == "done" and any(word in ("everything", "all") for word in row[at + 1 : at + 3]))
        or row[at] in ("not", "no")
        or (row[at] == "on" and "wil" in row[:at])
        or row[at + 2 : at + 4] in (["in", "luck"], ["in", "time"], ["in", "good"])
    )


def consoles(clause: Clause) -> bool:
    """As in "I'm sorry you've been passed around", "I understand how upset you must be": what befell the customer."""
    row = clause.row
    for at, word in enumerate(row[:-1]):
        if word in _FEELING:
            near = at + 1
            while near < len(row) and row[near] in _THAT:
                near += 1
            whose = row[near : near + 1]
            if (whose == ["you"] or (word == "sorri" and whose in (["we"], ["i"]))) and near not in clause.commas:
                return True
    return False


def going(clause: Clause, at: int) -> bool:
    """As in "it is going well", not "it is gone"."""
    return clause.words[at].text != "gone"


def reason(clause: Clause, at: int) -> bool:
    """As in "as we're past the deadline, giving rooms back costs USD 60": why something costs what it does."""
    return any(
        token.kind is Is.AMOUNT or token.text in ("usd", "eur", "gbp")
        for comma in clause.commas
        if comma > at
        for token in clause.words[comma:]
    )


def asks_them(row: list[str]) -> bool:
    """As in "I've sent it to the loyalty people and asked them to add the nights"."""
    at = row.index("ask")
    return [row[at + 1 : at + 2], row[at + 2 : at + 3]] in _THEM_TO and row[0] in ("i", "we") and "wil" not in row[:at]


def stays_open(clause: Clause, at: int) -> bool:
    """As in "so it stays open for now"."""
    return clause.row[:at] in (["it"], ["that"]) and (clause.now or clause.thus) and not clause.values


def to_talk(clause: Clause, at: int) -> bool:
    """As in "I'm going to speak with my manager": work that is still to be done."""
    row = clause.row
    for near in range(max(1, at - 3), at):
        if row[near] in _TALKS and clause.words[near].text[-2:] != "ed" and clause.words[near].text not in TALKED:
            return row[near - 1] in _BEFORE_TALK or clause.words[near].text[-3:] == "ing"
    return False
