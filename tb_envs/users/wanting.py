"""What a clause wants to be told: the facts it names, else those that its words make one think of.

Refuses what is expressly not asked for (`unasked.py`), and to guess where a go-ahead is asked or a value is told.
"""

from __future__ import annotations

from collections.abc import Sequence

from .asking import asked
from .associating import KINDRED, OLD, POINTS, RELATION, foreign, guess, listed
from .clauses import Clause
from .lexicon import ASK_VERBS, NEED_VERBS, QUESTION_WORDS
from .narrowing import closed
from .phrases import Span, stem_set
from .values import Values
from .vocabulary import CODE, CODES, Compiled
from .wishing import fragment, question_word
from .words import each

_IT = each("it that one digit")
_RECEIVING = each("receiv get arriv com")
_PRESENT = each("current present todai moment run far old")
_HOMES = stem_set(
    "home street postal post billing residential delivery shipping live house mailing bill invoice parcel letter"
    " postcode zip"
)
_WISHED = stem_set(
    "would wish like want will plan prefer hope think intend rather shall should new move change instead then"
)
_NO_GUESS = frozenset(("else", "second", "smalltalk"))
_NO_SOFT = frozenset(("wait", "empathy", "goal"))
_TAKING = each("i we you")
_GOOD = each("good best contact callback")
_DEMANDS = each("tel must would blank open mis remain without unles")
_BOOKED = each("booking stay confirmation")
_BLOCKS = stem_set("block blocked choir club team rooms ensemble orchestra")
_LAST = {"departure": "arrival", "new_departure": "new_arrival"}
_STAYS = each("booking stay trip visit book")
_PLAIN = each(
    "arrival departure dates new_arrival new_departure new_dates room_number phone email birth_date postcode first_name"
    " maiden_name guests plate vehicle"
)
_STALE = {"new_arrival": "arrival", "new_departure": "departure", "new_dates": "dates"}
_DAYS = each("day date morning weekday")
_SUMS = each("amount sum figur")
_CALLING = each("reach cal ring contact phone get")
_LEADERS = stem_set("charge responsible contact lead")
_GROUPS = each("group party society association delegation class band")
_ASKING_NAME = each("under which what how cal")
_OWN = stem_set("organiser organizer leader contact own yourself you")
_BE = each("is was are were")
_TELLING = stem_set("rest spelling beginning start remainder part half form version writing format end first best")
"""What is told by telling the thing itself."""
_FRESH = {"arrival": "new_arrival", "departure": "new_departure", "dates": "new_dates"}


def wanted(
    clause: Clause,
    found: list[Span],
    mood: bool,
    consents: bool,
    known: Values,
    lexicon: Compiled,
    before: Clause | None = None,
    named: Sequence[Span] = (),
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
        named: the facts that this one names: where it names one outright, "it" can be nothing else.
    """
    if (
        not found
        and before is not None
        and (mood or clause.question)
        and CODE in lexicon.facts
        and _of_code(clause, before)
    ):
        return [(CODE, False)]
    if (
        named
        and not found
        and before is not None
        and "its" not in clause.dets
        and not all(span.means.loose for span in named)
    ):
        before = None
    if (
        not found
        and "new" in clause.row
        and "one" in clause.row
        and (mood or clause.question)
        and any(span.means.fact in _FRESH for span in named)
    ):
        return [("new_dates", False)]  # "your old dates I can see, what are the new ones?"
    if clause.idle:
        found = [span for span in found if span.lo >= clause.idle]
        if not found:
            return []
    if found and clause.question and (closed(clause, found[0]) or (found[0].lo > 1 and _anothers(clause, found))):
        return []  # "was the card declined?", "what colour is your card?"
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
        if any(aware(fact, known, lexicon) for fact, _ in facts) or _outright(facts, found):
            return facts
    return _guessed(clause, mood, consents, known, before) or facts


def _of_code(clause: Clause, before: Clause) -> bool:
    """As in "I have sent one to your phone; could you read it to me?": what was sent there is a passcode."""
    row = before.row
    sent = "phone" in row and "send" in row and row[row.index("phone") - 1] in ("to", "on")
    if not sent and CODES.isdisjoint(token.text for token in before.words):
        return False
    return not _IT.isdisjoint(clause.row) and _RECEIVING.isdisjoint(clause.row[:4])


def _anothers(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "what colour is your card?", "what is the subject line of your e-mail?": it asks for another thing."""
    row = clause.row
    if foreign(clause):
        return True
    if row[0] != "what" or row[1] not in _BE or "of" not in row[3 : found[-1].lo] or row[2] in _TELLING:
        return False
    return row.index("of") < 5 and not KINDRED.issuperset(row[2 : row.index("of")])


def _outright(facts: list[tuple[str, bool]], found: list[Span]) -> bool:
    """Whether it is said in so many words what is wanted, so that nothing else can be meant."""
    return any(not loose for _, loose in facts) and any(
        span.hi - span.lo > 1 and not span.means.loose and span.means.fact in _PLAIN for span in found
    )


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
    row = clause.row
    if not clause.question and not (_NO_SOFT.isdisjoint(clause.labels) and _pressing(clause)):
        return []
    if foreign(clause):
        return []
    parts = listed(clause, [], known) if "and" in row else []
    facts = parts if len(parts) > 1 else guess(clause, known, before)
    if not facts and "number" in row and "phone" in known.groups and not _TAKING.isdisjoint(row):
        at = row.index("number")  # "could I take a number for you?", where *the* number is the booking's
        near = clause.dets[at - 1 if at and row[at - 1] in _GOOD else at]
        facts = ["phone"] if near == "a" and clause.words[at].text.startswith("number") else []
    return [(fact, False) for fact in facts[:4]]


def _pressing(clause: Clause) -> bool:
    """Whether a statement demands to be told something, rather than tells in passing how something was."""
    row = clause.row
    return (
        bool(clause.polite)
        or "ask" in clause.labels
        or not ASK_VERBS.isdisjoint(row)
        or not NEED_VERBS.isdisjoint(row)
        or row[0] in QUESTION_WORDS
        or (len(row) > 1 and row[1] in QUESTION_WORDS)
        or fragment(clause)
        or not _DEMANDS.isdisjoint(row)
    )


def _which_day(row: list[str]) -> bool:
    return any(word in _DAYS and row[at - 1] in ("which", "what") for at, word in enumerate(row) if at)


def _of_group(clause: Clause) -> bool:
    """As in "under which name is the choir booked?"."""
    row = clause.row
    if not _BLOCKS.isdisjoint(row):
        return _LEADERS.isdisjoint(row)
    return not _GROUPS.isdisjoint(row) and not _ASKING_NAME.isdisjoint(row) and _OWN.isdisjoint(row)


def aware(fact: str, known: Values, lexicon: Compiled) -> bool:
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
    if fact == "name" and "group" in known.groups and _of_group(clause):
        return "group"
    if fact in _STALE and not OLD.isdisjoint(clause.row) and _WISHED.isdisjoint(clause.row):
        stale = _STALE[fact]  # "for when was the stay originally booked?"
        ends = not {"arrival", "departure"}.isdisjoint(known.groups)
        return stale if stale in known.groups or stale != "dates" or ends else "arrival"
    if fact in known.groups:
        return fact
    if fact == "address" and "email" in known.groups and "addres" in clause.row and _HOMES.isdisjoint(clause.row):
        return "email"
    if fact == "amount" and "new_amount" in known.groups:
        present = clause.now or not _PRESENT.isdisjoint(clause.row)
        return "old_amount" if present and "old_amount" in known.groups else "new_amount"
    if fact == "charge" and "amount" in known.groups and not _SUMS.isdisjoint(clause.row):
        return "amount"  # "the disputed amount"
    if fact == "charge" and "line" in clause.row and not _CALLING.isdisjoint(clause.row):
        return "phone"
    if fact in _STALE and "new" not in clause.row and "instead" not in clause.row:
        plain = _STALE[fact]
        if plain in known.groups or (plain == "dates" and not {"arrival", "departure"}.isdisjoint(known.groups)):
            return plain
        return fact
    if fact == "card" and not POINTS.isdisjoint(clause.row):
        return next((own for own in ("loyalty", "member") if own in known.groups), fact)
    row = clause.row
    if fact == "caller" and (row[:2] == ["are", "you"] or not RELATION.isdisjoint(row)) and fact not in known.groups:
        return "caller!"
    fresh = _FRESH.get(fact, "")
    if fact == "departure" and "hour" in known.groups and fresh not in known.groups and _which_day(row):
        return "departure!"
    if fact == "dates" and not {"arrival", "departure"}.isdisjoint(known.groups):
        return fact
    if fact == "dates" and not OLD.isdisjoint(row):
        return "arrival"  # none that it knows
    mine = fresh in known.groups or (fresh == "new_dates" and "new_arrival" in known.groups)
    if mine and OLD.isdisjoint(row) and (_STAYS.isdisjoint(row) or not _WISHED.isdisjoint(row)):
        return fresh
    return fact
