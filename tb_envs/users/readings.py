"""Small readings of a clause that the whole message is put together from: a plan, a wish, a choice, a duty.

Refuses to look beyond the clause.
"""

from __future__ import annotations

from collections.abc import Sequence

from .clauses import Clause
from .lexicon import ASK_VERBS, DONE_VERBS, QUESTION_WORDS
from .moods import offers
from .phrases import stems
from .values import Values
from .words import Is, each

_CHOICES = DONE_VERBS | frozenset(stems("keep leave stay cancel"))
_MUST = each("must need")
MINE = each("i we me us")
_WANTS_ME = (each("you me to"), each("you us to"))
_NEEDS = each("need requir tel giv provid send let kindli must appreciat grateful help know could can want")
_THINGS = each("it them")
_INQUIRES = each("ask check tri enquir inquir")
_AGAIN = each("day date night hour time tim one number is was would wil could be it that")
_LACKS = each("mis lack not wait look short after curiou wonder")
_ASKING = QUESTION_WORDS - {"when", "where"}
_HOW_ABOUT_WE = (["how", "about", "we"], ["how", "about", "i"], ["what", "if", "we"], ["what", "if", "i"])
_OFFERING = each("offer propos suggest instead rather voucher compromis")
_PLANNING = each("wil would can could shal go")
_CURRENCY = each("usd eur gbp dollar euro pound")


def soft(clause: Clause) -> bool:
    """A statement that only speaks of a lack: "it was booked without your member number"."""
    row = clause.row
    if clause.polite or not _NEEDS.isdisjoint(row) or row[0] in ASK_VERBS:
        return False
    return MINE.isdisjoint(row) or (_LACKS.isdisjoint(row) and ("ask" not in row or row[row.index("ask") - 1] == "you"))


def wants_us(row: Sequence[str]) -> bool:
    """As in "you want me to cancel it"."""
    return any(words.issubset(row) for words in _WANTS_ME)


def restates_a_wish(clause: Clause, checking: bool) -> bool:
    """As in "…, you'd like to stay longer on your last day?", "could I offer to split the amount?"."""
    row = clause.row
    if row[:3] in _HOW_ABOUT_WE:
        return True  # "how about we split the amount?"
    if "prefer" in row[:-1] and row[row.index("prefer") + 1] in ("that", "it", "tho", "thes"):
        return True  # "would you prefer that to the nights?"
    if (checking and row[0] == "you") or row[:2] in (["how", "about"], ["what", "about"]):
        return _ASKING.isdisjoint(row[1:]) and (not _OFFERING.isdisjoint(row) or row[0] == "you")
    if "plac" in row and "of" in row[row.index("plac") :] and offers(clause):
        return True  # "would you prefer points in place of the nights?"
    return _ASKING.isdisjoint(row) and ASK_VERBS.isdisjoint(row) and offers(clause) and not _OFFERING.isdisjoint(row)


def plans(clause: Clause) -> bool:
    """As in "I would cancel it", "it costs USD 60": something to say yes to."""
    row = clause.row
    if any(token.kind is Is.AMOUNT for token in clause.words) or not _CURRENCY.isdisjoint(row):
        return True
    return not MINE.isdisjoint(row[:4]) and not _PLANNING.isdisjoint(row) and "you" not in row[:2]


def plans_it(clause: Clause) -> bool:
    """As in "I can add them for you": the plan is about what was asked for."""
    row = clause.row
    return (
        plans(clause)
        and row[0] in ("i", "we")
        and not (_THINGS.isdisjoint(row) and _INQUIRES.isdisjoint(row[2:4]))
        and _OFFERING.isdisjoint(row)
    )


def either(clause: Clause) -> bool:
    """As in "Shall I cancel or keep it?", "Do you want to keep the booking?"."""
    row = clause.row
    if "keep" in row[2:6] and "you" in row[:2] and row[row.index("keep") + 1 :] in (["booking"], ["stay"], ["it"]):
        return True
    at = row.index("or", 1) if "or" in row[1:] else 0
    follow = row[at + 1 : at + 4]
    return (
        bool(at)
        and follow[:1] != ["not"]
        and any(w in _CHOICES for w in follow)
        and any(w in _CHOICES for w in row[:at])
    )


def asks_which(clause: Clause) -> bool:
    """As in "what is the second thing?", "and the other one?", "tell me about the next matter"."""
    row = clause.row
    return (
        bool(clause.polite)
        or not QUESTION_WORDS.isdisjoint(row)
        or not ASK_VERBS.isdisjoint(row)
        or (clause.question and row[0] in ("and", "now", "second", "other", "next", "you"))
    )


def must(clause: Clause) -> bool:
    """As in "I must verify your identity": a duty told is a request."""
    row = clause.row
    if any(row[at] in ("i", "we") and row[at + 1 : at + 3] == ["hav", "to"] for at in range(len(row))):
        return clause.hyp_word != "if"
    return not _MUST.isdisjoint(row) and ("i" in row or "we" in row) and clause.hyp_word != "if"


def wished(clause: Clause, right: Sequence[str], known: Values) -> bool:
    """As in "do you want 16:00 for USD 40?": what is offered is what was asked for."""
    return (
        bool(right)
        and clause.question
        and "or" not in clause.row
        and "instead" not in clause.row
        and clause.row[1:2] == ["you"]
        and all(known[fact].kind in ("time", "date", "text", "number") for fact in right)
        and offers(clause)
    )


def missed(row: Sequence[str]) -> bool:
    """As in "some could have gone back last month"."""
    return any(word == "could" and row[at + 1] == "hav" for at, word in enumerate(row[:-2]))


def same_again(clause: Clause, before: Clause) -> bool:
    """As in "… is the day on which you'd leave - which day is it?", "what would you pay? Tell me the number."."""
    row = clause.row
    if not clause.question or len(row) > 5 or before.sentence != clause.sentence:
        return False
    return row[0] in ("which", "what", "when") and (row[-2:] == ["is", "it"] or _AGAIN.issuperset(row[1:]))


def chooses(clause: Clause) -> bool:
    """As in "which would you like me to book?"."""
    return clause.row[:3] == ["which", "would", "you"] and "consent" in clause.labels
