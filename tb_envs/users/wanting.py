"""What a clause wants to be told: the facts it names, else those that its words make one think of.

Refuses what is expressly not asked for (`unasked.py`), and to guess where a go-ahead is asked or a value is told.
"""

from __future__ import annotations

from .asking import asked
from .associating import OLD, POINTS, guess, listed
from .clauses import Clause
from .phrases import Span, stem_set
from .values import Values
from .vocabulary import Compiled
from .wishing import question_word
from .words import each

_HOMES = stem_set("home street postal post billing residential delivery shipping live house mailing")
_WISHED = stem_set(
    "would wish like want will plan prefer hope think intend rather shall should new move change instead then"
)
_NO_GUESS = frozenset(("else", "second", "smalltalk"))
_BOOKED = each("booking stay confirmation")
_BLOCKS = stem_set("block blocked choir club team rooms ensemble orchestra")
_LAST = {"departure": "arrival", "new_departure": "new_arrival"}
_STAYS = each("booking stay trip visit book")
_FRESH = {"arrival": "new_arrival", "departure": "new_departure", "dates": "new_dates"}


def wanted(
    clause: Clause,
    found: list[Span],
    mood: bool,
    consents: bool,
    known: Values,
    lexicon: Compiled,
    before: Clause | None = None,
) -> list[tuple[str, bool]]:
    """The facts asked for (name, loosely), in order: named outright, else by association.

    Args:
        clause: the clause.
        found: the facts it names.
        mood: it asks for something to be told.
        consents: it asks for a go-ahead.
        known: what the customer knows.
        lexicon: the facts of the domain.
        before: the clause before it, for what "it" stands for.
    """
    if clause.idle:
        found = [span for span in found if span.lo >= clause.idle]
        if not found:
            return []
    facts = asked(clause, found, mood, consents)
    if _bare(facts, found, clause.row) and (guessed := _guessed(clause, mood, consents, known, before)):
        return guessed
    if facts:
        facts = [(_renewed(clause, fact, known), loose) for fact, loose in facts]
        if facts[0][0] in _LAST and {"first", "last"}.issubset(clause.row):
            facts.insert(0, (_LAST[facts[0][0]], facts[0][1]))  # "the first and the last day"
        if mood and len(clause.row) > 3 and not consents:
            taken = [(span.lo, span.hi) for span in found if not span.means.loose]
            facts += [(fact, False) for fact in listed(clause, taken, known) if (fact, False) not in facts]
        if any(_aware(fact, known, lexicon) for fact, _ in facts):
            return facts
    return _guessed(clause, mood, consents, known, before) or facts


def _bare(facts: list[tuple[str, bool]], found: list[Span], row: list[str]) -> bool:
    """Whether all that names a fact is "the number", "the day": of what, other words have to tell."""
    if not facts or not all(span.means.loose for span in found):
        return False
    return any(row[span.lo : span.hi] in (["number"], ["day"], ["date"]) for span in found)


def _guessed(
    clause: Clause, mood: bool, consents: bool, known: Values, before: Clause | None
) -> list[tuple[str, bool]]:
    """The facts that a question which names none makes one think of."""
    if not (mood or clause.question) or clause.values or not _NO_GUESS.isdisjoint(clause.labels):
        return []
    if consents and not (question_word(clause, 0) or (len(clause.row) > 1 and question_word(clause, 1))):
        return []
    parts = listed(clause, [], known) if "and" in clause.row else []
    facts = parts if len(parts) > 1 else guess(clause, known, before)
    if not facts and "phone" in known.groups:  # "could I take a number for you?", where *the* number is the booking's
        facts = ["phone" for stem, det in zip(clause.row, clause.dets, strict=True) if stem == "number" and det == "a"]
    return [(fact, False) for fact in facts[:4]]


def _aware(fact: str, known: Values, lexicon: Compiled) -> bool:
    """Whether the customer has, or knows that it lacks, the fact or what stands in for it."""
    if fact in known.groups:
        return True
    names = [name for other in lexicon.else_.get(fact, ()) for name in other.split("+")]
    return any(lexicon.group(name) in known.groups for name in names)


def _renewed(clause: Clause, fact: str, known: Values) -> str:
    """The new date, where the customer has no other and a wish is spoken of."""
    if (
        fact == "booking"
        and "number" in clause.row
        and _BOOKED.isdisjoint(clause.row)
        and not POINTS.isdisjoint(clause.row)
    ):
        return next((own for own in ("loyalty", "member") if own in known.groups), fact)
    if fact == "name" and "group" in known.groups and not _BLOCKS.isdisjoint(clause.row):
        return "group"
    if fact in known.groups:
        return fact
    if fact == "address" and "email" in known.groups and "address" in clause.row and _HOMES.isdisjoint(clause.row):
        return "email"
    if fact == "card" and not POINTS.isdisjoint(clause.row):
        return next((own for own in ("loyalty", "member") if own in known.groups), fact)
    fresh, row = _FRESH.get(fact, ""), clause.row
    if fact == "dates" and not {"arrival", "departure"}.isdisjoint(known.groups):
        return fact
    if fact == "dates" and not OLD.isdisjoint(row):
        return "arrival"  # none that it knows
    mine = fresh in known.groups or (fresh == "new_dates" and "new_arrival" in known.groups)
    if mine and OLD.isdisjoint(row) and (_STAYS.isdisjoint(row) or not _WISHED.isdisjoint(row)):
        return fresh
    return fact
