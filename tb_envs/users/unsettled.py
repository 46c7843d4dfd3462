"""What a message as a whole says of a deed that others have to settle yet, or while its speaker works.

Refuses to read ends in a clause: that is `outcomes.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .clauses import Clause
from .ends import DEED, DONE, MONEY, OBSTACLE, PAPERS, PENDING, REFUSED, UNVERIFIED, WAIT
from .lexicon import THIRD
from .phrases import stem_set
from .words import each

if TYPE_CHECKING:
    from .understanding import Reading

_DEEDS = frozenset((DONE, DEED))
_DONE_THAT = [["i", "hav", "done", it] for it in ("that", "it", "so")]
_FILED = each(
    "mailed messaged told asked informed filed logged registered submitted sent lodged raised requested"
    " recorded started noted forwarded opened"
)
_SENT = MONEY | PAPERS
_HEADS = stem_set("submitted filed requested forwarded escalated logged lodged sent registered queued noted recorded")
_SIGNING = stem_set(
    "sign approve confirm release review decide okay agree authorise check clear countersign validate verify process"
    " examine accept consider endorse ratify assess"
)
_DUTY = each("hav need must wil wait")
_FINAL = stem_set("final definite definitive approved confirmed official decided certain settled through complete")
_NOT = each("not never no")
_YET = each("yet until til before only")
_OURS = THIRD | stem_set(
    "they he she who somebody someone housekeeping reception accounts bank garage company firm hotel"
)
_YOURS = each("you i we guest holder")
_PASSIVE = (["be"], ["get"])
_STILL_TO = each("yet final until til sign approv confirm releas review decid okai agre authoris check clear valid")
_WORKING = each("look see check go read run pul open hav find compar tak")
_YOU = each("you your")
_ASKING = each("ask enquir inquir")
_TAKING = each("tak get hav grab collect note start begin")
_NEEDING = each("need requir lack mis")
_US = each("i we")
_MOMENTS = each("moment minute minut second bit while time")
_LET_ME = ["let", "me"]


def weigh(reading: Reading) -> None:
    """Correct the ends of a message by what it says of them elsewhere."""
    out = reading.out
    ends = out.ends
    if REFUSED in ends and UNVERIFIED in ends and not any(clause.question for clause in reading.heard):
        out.whole = False  # "without identification I can't change it, so it stays as it is"
    if not ends.isdisjoint(_DEEDS):
        if not _unsettled(reading):
            return
        for sentence in out.sentences:
            sentence.ends -= _DEEDS
        out.ends -= _DEEDS
        out.ends.discard(OBSTACLE)
        out.ends.add(PENDING)
        out.sentences[-1].ends.add(PENDING)
    elif OBSTACLE in ends and PENDING not in ends and _sent(reading.heard):
        out.ends.add(PENDING)  # "Submitted. My manager has to sign it."
        out.sentences[-1].ends.add(PENDING)


def idles(reading: Reading) -> None:
    """While the agent works and asks nothing outright, what it names on the way is neither asked for nor offered."""
    out = reading.out
    if WAIT not in out.ends or out.consent or any(clause.question for clause in reading.heard):
        return
    out.alternative = False
    if not out.asks:
        return
    heard = reading.heard
    kept = {
        fact
        for at, (facts, ends) in enumerate(zip(reading.wants, reading.told, strict=True))
        for fact in facts
        if _polite(heard, at) or _outright(heard[at], ends)
    }
    out.asks = [fact for fact in out.asks if fact in kept]


def _polite(heard: list[Clause], at: int) -> bool:
    """Whether a "please" stands in the clause, and not before the next one: "which rooms are ready, please wait"."""
    clause = heard[at]
    last = at + 1 == len(heard) or heard[at + 1].sentence != clause.sentence
    return bool(clause.polite) and (last or min(clause.polite) < len(clause.row))


def _outright(clause: Clause, ends: set[str]) -> bool:
    """Whether the clause turns to the customer: "please", "your", "you", or nothing but the thing itself."""
    row = clause.row
    if row[:2] == _LET_ME and "look" in row[2:6] and "you" not in row:
        return False  # "let me have a quick look at what your rate says"
    if not _ASKING.isdisjoint(row[:4]) and THIRD.isdisjoint(row):
        return True  # "permit me to enquire which number the nights pertain to"
    if not _YOU.isdisjoint(row) or "your" in clause.dets or len(row) < 5:
        return True
    if not _NEEDING.isdisjoint(row) and _lacks(row):
        return True  # "I'm still lacking the last four digits", "to open it I need its number"
    if WAIT in ends and not (row[:2] == _LET_ME and row[2] in _TAKING):
        return False  # "let me double-check the rate for the new nights"
    return _WORKING.isdisjoint(row)


def _lacks(row: list[str]) -> bool:
    at = next(at for at, word in enumerate(row) if word in _NEEDING)
    return not _US.isdisjoint(row[:at]) and row[at + 1 : at + 2] != ["to"] and _MOMENTS.isdisjoint(row[at:])


def _sent(heard: list[Clause]) -> bool:
    return any(clause.row[0] in _HEADS and clause.words[0].text[-2:] in ("ed", "nt") for clause in heard[:-1])


def _unsettled(reading: Reading) -> bool:
    """Whether what was done is only the filing of it, or waits for somebody's word."""
    opened = PENDING in reading.out.ends
    later = False
    for clause, ends in zip(reading.heard, reading.told, strict=True):
        if not _STILL_TO.isdisjoint(clause.row) and _waits_for(clause):
            later = True
        if ends.isdisjoint(_DEEDS):
            continue
        if later is False and not _filing(clause):
            opened = False
    return later or opened


def _filing(clause: Clause) -> bool:
    """As in "your dispute has been logged": the wish was taken down, no more."""
    if clause.row in _DONE_THAT:
        return True
    filed = [token.text for token in clause.words if token.text in _FILED]
    return bool(filed) and not (filed[0] in ("sent", "mailed") and not _SENT.isdisjoint(clause.row))


def _waits_for(clause: Clause) -> bool:
    """As in "it's not final yet", "it now has to be signed off by the manager", "the office still needs to sign it"."""
    row = clause.row
    if clause.question:
        return False
    if not _FINAL.isdisjoint(row) and not _NOT.isdisjoint(row):
        at = next(at for at, word in enumerate(row) if word in _NOT)
        return "yet" in row or (not _YET.isdisjoint(row[:at]))
    for at, word in enumerate(row):
        if word in _SIGNING and at > 1:
            before = row[max(0, at - 5) : at]
            if before[-1] == "to" and ("for" in before or "up" in before) and not _OURS.isdisjoint(before):
                return True  # "whether you get it back is for the manager to decide"
            if _DUTY.isdisjoint(before) or ("to" not in before and "must" not in before):
                continue
            if before[-1:] in _PASSIVE:
                return not _OURS.isdisjoint(row[at + 1 :]) and _YOURS.isdisjoint(row[:at])
            return not _OURS.isdisjoint(row[:at]) and _YOURS.isdisjoint(row[:at])
    return False
