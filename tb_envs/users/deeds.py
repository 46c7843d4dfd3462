"""What the verbs of a clause say was done, handed on, promised or is under way.

Refuses to say whose a finished deed is (that is `finishing.py`), and what may or should be done.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import (
    ANSWERS,
    APPROVED,
    ARRIVE,
    ARRIVES,
    DONE,
    HANDOVER,
    MODAL,
    MONEY,
    NOT_WORK,
    PENDING,
    PROMISE,
    REFUSED,
    REFUSING,
    SOON,
    WAIT,
    WORK,
)
from .finishing import finished, past
from .headlines import FINITE
from .lexicon import DONE_VERBS, PENDING_VERBS, THIRD
from .phrases import stem_set
from .records import strange
from .words import Is, each, stem

_ENTERED = each("entered noted put")
_MARKED = _ENTERED | REFUSING
_TURNED = each("overruled quashed vetoed dismissed rejected")
_VERBAL = DONE_VERBS | PENDING_VERBS | each("let allow wil shal go need hav should want")
_ENTERABLE = stem_set(
    "nights points credit departure arrival checkout stay hour time room upgrade breakfast dates name guest traveller"
)
_YES = each("okai alright great sur right thank yes fin good perfect you so much")
_LATER = each("pending contact bye")
_PLANS = each("wil shal go")
_SELVES = each("i we am are")
_THEY = each("they he she")
_ABLE = (["abl", "to"], ["manag", "to"])
_WAS = each("was were been manag hav")
_ACTORS = each("i we let be")
_BARS = MODAL | each("not never abl")
_LOOKS = stem_set("see check look compare read recheck study review")
_AM = each("am are be")
_LIKELY = _VERBAL.union(map(stem, _MARKED))
_TRIGGERS = _LIKELY | _AM
"""Without one of these there is no deed, plan or work in progress."""
_TALKING = each(
    "expect host run hop wonder think us renovat celebrat offer sell enjoi liv stai travel serv cal speak await writ"
    " chat talk"
)


def verbs(clause: Clause, found: set[str]) -> None:
    """Done and pending verbs, and the agent's plans."""
    row, hyp, labels = clause.row, clause.hyp, clause.labels
    if (
        (row[0] in ("hold", "wait") and labels.get("pending") != 0 and not clause.dets[0])  # not "the hold was lifted"
        or (len(row) < 3 and row[-1] in SOON)
        or _working(clause)
    ):
        found.add(WAIT)
    if _TRIGGERS.isdisjoint(row):
        return
    words = clause.words
    for at, word in enumerate(row):
        if at >= hyp:
            break
        if word not in _LIKELY and row[at - 1] not in _AM:
            continue
        text = words[at].text
        if word not in _VERBAL and text not in _MARKED and (row[at - 1] not in _AM or text[-3:] != "ing"):
            continue
        if word in DONE_VERBS or word in PENDING_VERBS:
            if past(clause, at):
                finished(clause, at, found)
            elif at > 1 and clause.words[at - 1].text == "did" and row[at - 2] in ("i", "we"):
                found.add(DONE)
            else:
                _planned(clause, at, found)
        elif (
            word in ("let", "allow")
            and "not" not in row[max(0, at - 2) : at]
            and not (at and row[at - 1] == "that")
            and at + 2 < len(row)
            and row[at + 1] in ("me", "us")
            and _lets(row, at + 2)
        ):
            if row[at + 2] not in HANDOVER and not (row[at + 2] == "put" and "through" in row):
                found.add(WAIT)
        elif text in _ENTERED and row[max(0, at - 2) : at] == ["hav", "been"]:
            if not _ENTERABLE.isdisjoint(row[: at - 2]) and "not" not in row[:at]:
                found.add(DONE)
        elif (
            text in REFUSING
            and not softened(row, at)
            and "mistak" not in row[at:]
            and not (text in _TURNED and _of_us(clause, at))
        ):
            found.add(REFUSED)
        elif word in _PLANS and at and row[at - 1] in _SELVES and at + 1 < len(row) and row[0] not in _THEY:
            follow = next((w for w in row[at + 1 : at + 4] if w not in ("to", "be", "need", "hav")), "")
            if word == "go" and clause.words[at].text == "going" and row[at + 1] != "to":
                found.add(WAIT)
            if follow in WORK and _LATER.isdisjoint(labels):
                found.add(WAIT)
        elif word == "want" and row[at - 1 : at] in (["i"], ["we"]) and row[at + 1 : at + 2] == ["to"]:
            if row[at + 2 : at + 3] and row[at + 2] in _LOOKS and "you" not in row and "your" not in clause.dets:
                found.add(WAIT)  # "I just want to see how many people arrive that day"
        elif word in ("need", "hav") and row[at - 1 : at] in (["i"], ["we"]) and row[at + 1 : at + 2] == ["to"]:
            yours = row[at + 2 : at + 3] != ["note"] and row[at + 3 : at + 4] in (["you"], ["identiti"])
            if row[at + 2 : at + 3] and row[at + 2] in WORK and "back" not in row[at + 3 : at + 5] and not yours:
                found.add(WAIT)
        elif (
            word in ("wil", "should", "shal")
            and at
            and row[at - 1] == "you"
            and at + 1 < len(row)
            and row[at + 1] in ARRIVE
        ):
            rest = clause.words[at + 2 : at + 8]
            if (
                any(token.stem in MONEY or token.kind is Is.AMOUNT or token.stem == "card" for token in rest)
                or "back" in row[at + 2 : at + 6]
            ):
                found.add(ARRIVES)
        elif (
            text.endswith("ing")
            and at
            and row[at - 1] in ("am", "are", "be")
            and not clause.dets[at]
            and ("i" in row[max(0, at - 3) : at] or "we" in row[:at])
            and _busy(row, at)
        ):
            found.add(WAIT)


def _of_us(clause: Clause, at: int) -> bool:
    """As in "my chief overruled me", "I was overruled", "he quashed my decision": what was said before is undone."""
    row = clause.row
    if row[at - 1] in ("was", "were") and row[at - 2 : at - 1] in (["i"], ["we"]):
        return True
    return row[at + 1 : at + 2] in (["me"], ["us"]) or clause.dets[at + 1 : at + 2] in (["my"], ["our"])


def _working(clause: Clause) -> bool:
    """As in "Thank you, checking that now": work, without saying whose."""
    for at, word in enumerate(clause.row):
        if clause.words[at].text[-3:] == "ing" and (word in WORK or word in DONE_VERBS):
            return FINITE.isdisjoint(clause.row)
        if word not in _YES or at > 2:
            break
    return False


def _lets(row: list[str], at: int) -> bool:
    """Whether "let me …" means work to wait for: "let me ask the manager", not "let me ask you"."""
    word, follow = row[at], row[at + 1 : at + 2]
    if word == "ask":
        return not THIRD.isdisjoint(row)
    return word not in NOT_WORK or (word == "get" and follow in (["that"], ["it"]))


def _busy(row: list[str], at: int) -> bool:
    """Whether the -ing word at `at` is work that the customer has to wait for."""
    word = row[at]
    if word in ("look", "wait"):
        return "for" not in row
    return word not in NOT_WORK and word not in _TALKING and not (word == "go" and row[at + 1 : at + 2] == ["to"])


def softened(row: list[str], at: int) -> bool:
    """A card that was declined, a plan that may be refused, a "not refused"."""
    before = row[max(0, at - 3) : at]
    return any(word in ("not", "might", "may", "could", "card", "pay", "would") for word in before)


def _planned(clause: Clause, at: int, found: set[str]) -> None:
    """A base or -ing form: a plan of the agent ("I will cancel"), or a hand-over ("I'm transferring you")."""
    row, word = clause.row, clause.row[at]
    before = row[max(0, at - 5) : at]
    if before[-2:] in _ABLE and not _WAS.isdisjoint(before) and "not" not in before and not strange(clause, at):
        found.add(DONE)  # "I was able to release the rooms", "we have managed to move it"
        return
    if before[-2:] == ["decid", "to"] and ("i" in before or "we" in before) and "not" not in before:
        found.add(APPROVED)  # "we have decided to waive it"
        return
    if _ACTORS.isdisjoint(before) or not _BARS.isdisjoint(before):
        return
    if "you" in before and not ("i" in before or "we" in before or "me" in before):
        return
    if "let" in before and word not in HANDOVER and word != "put":
        return
    ing = clause.words[at].text.endswith("ing") and ("am" in before or "are" in before)
    plan = not _PLANS.isdisjoint(before) or "let" in before or ing
    plan = plan or (word in HANDOVER and before[-2:] in (["hav", "to"], ["need", "to"]))
    if not plan or not ("i" in before or "we" in before or "let" in before or "be" in before):
        return
    rest = row[at + 1 : at + 9]
    if word in PENDING_VERBS and THIRD.intersection(rest) and (word not in DONE_VERBS or word in HANDOVER):
        found.add(PENDING)
    elif word in DONE_VERBS:
        found.add(PENDING if word == "send" and not ANSWERS.isdisjoint(rest) else PROMISE)
    elif ing:
        found.add(WAIT)
