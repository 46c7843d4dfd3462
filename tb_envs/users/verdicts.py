"""How a message says that each open request ended.

Refuses to take note of it, and to answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from .ends import (
    APPROVED,
    ARRIVES,
    DECIDING,
    DEED,
    DONE,
    EXCEPT,
    HELPED,
    INABLE,
    INSISTING,
    KEPT,
    LIMITED,
    NOT_YET,
    OBSTACLE,
    PENDING,
    PROMISE,
    RECORDED,
    REFUSED,
    REGRETS,
    RULE,
    TICKET,
    UNVERIFIED,
    WAIT,
)
from .heard import Understood
from .lexicon import DONE_VERBS
from .records import DATA
from .requests import Errand
from .words import each

_ALL = frozenset(("both", "everything", "all"))
_SAID = frozenset((DONE, REFUSED, PENDING, INABLE))
_DELAYS = frozenset((WAIT, PROMISE, OBSTACLE, RECORDED, NOT_YET, EXCEPT))
_THIRD_PERSONS = each("they it he she")
_AUXILIARIES = each("wil would is are was were do did hav can could not")
_OTHER = frozenset(("help", "goal", "wait", "hyp", "ask", "whole"))


def verdicts(heard: Understood, pending: Sequence[Errand], busy: bool) -> list[tuple[Errand, str]]:
    """How the message says each open request ended: `done`, `refused`, `pending`, `obstacle`; none: not yet.

    Args:
        heard: the message.
        pending: the requests that are open, the oldest first.
        busy: the customer is asked for something in the same message, so that a half-said end is none.
    """
    if not pending or not heard.ends or WAIT in heard.ends:
        return []
    if RECORDED in heard.ends:
        _as_asked(heard, pending)
    if DEED in heard.ends and busy:
        _about(heard, pending)
    shares: dict[int, set[str]] = {at: set() for at in range(len(pending))}
    if len(pending) == 1:
        shares[0] = heard.ends
    else:
        loose: set[str] = set()
        for sentence in heard.sentences:
            if not sentence.ends:
                continue
            about = [at for at, one in enumerate(pending) if sentence.has(one.topic)]
            if not about and _ALL & sentence.stems:
                about = list(shares)
            for at in about:
                shares[at] |= sentence.ends
            if not about:
                loose |= sentence.ends
        if loose and not any(shares.values()):
            shares[0] |= loose
    said = [(pending[at], verdict(ends, heard, busy)) for at, ends in shares.items() if ends]
    return [(one, end) for one, end in said if end]


def _as_asked(heard: Understood, pending: Sequence[Errand]) -> None:
    """A name that was put right is an end for somebody who asked for just that."""
    for sentence in heard.sentences:
        if RECORDED in sentence.ends and any(one.words & DATA & sentence.stems for one in pending):
            sentence.ends.add(DONE)
            heard.ends.add(DONE)


def _about(heard: Understood, pending: Sequence[Errand]) -> None:
    """A deed done to what a request is about in its own words ("the dog is noted down") is an end of it."""
    for sentence in heard.sentences:
        if DEED in sentence.ends and any(not one.content.isdisjoint(sentence.stems - DONE_VERBS) for one in pending):
            sentence.ends.add(DONE)
            heard.ends.add(DONE)


def verdict(ends: set[str], heard: Understood, busy: bool) -> str:
    """One word for a set of ends; the worst counts, and half-said ends only when nothing is asked."""
    if REFUSED in ends:
        return PENDING if DECIDING in ends and DONE not in ends else REFUSED
    if DONE in ends:
        return DONE
    if PENDING in ends:
        return PENDING
    if INABLE in ends:
        return PENDING if TICKET in ends else REFUSED
    if APPROVED in ends and not busy and PROMISE not in ends:
        return DONE
    if (ARRIVES in ends or DEED in ends) and not busy:
        return DONE
    if RULE in ends and not busy and EXCEPT not in ends:
        return REFUSED
    if KEPT in ends and not busy:
        return REFUSED
    if TICKET in ends and not busy and PROMISE not in ends:
        return PENDING
    if LIMITED in ends and not busy and PROMISE not in ends:
        return PENDING
    if UNVERIFIED in ends and not busy and "retry" not in heard.cues:
        return REFUSED
    return OBSTACLE if OBSTACLE in ends and not busy else ""


def stands(heard: Understood, errands: Sequence[Errand]) -> bool:
    """After pressing: the agent says something that is neither an answer nor a delay; the refusal stands."""
    return (
        any(errand.pressed and errand.state == "open" for errand in errands)
        and heard.known
        and heard.ends.isdisjoint(_DELAYS)
        and heard.cues.isdisjoint(_OTHER)
        and not any(sentence.inquires for sentence in heard.sentences)
        and any(not INSISTING.isdisjoint(sentence.stems) for sentence in heard.sentences)
    )


def regrets(heard: Understood) -> bool:
    """As in "I'm sorry I could not be of more help": what is over is regretted once more, not told."""
    told = [sentence for sentence in heard.sentences if not sentence.ends.isdisjoint(_SAID)]
    return (
        bool(told)
        and not heard.question
        and all(not REGRETS.isdisjoint(sentence.stems) and not HELPED.isdisjoint(sentence.stems) for sentence in told)
    )


def rhetorical(heard: Understood) -> bool:
    """As in "some weeks just won't end, will they?": a tag that wants no answer."""
    return not heard.asks and all(
        not one.inquires
        or one.row[-2:] == ["you", "say"]
        or (len(one.row) < 4 and one.row[-1:] in (["eh"], ["huh"]))
        or (len(one.row) > 4 and one.row[-1] in _THIRD_PERSONS and one.row[-2] in _AUXILIARIES)
        for one in heard.sentences
    )
