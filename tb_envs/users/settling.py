"""What only the whole message can settle: which of its readings give way to others, and which sentences propose.

Refuses to read clauses anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .clauses import Clause
from .ends import AVAILABLE, PENDING, REFUSED
from .heard import Sentence, Understood
from .readings import MINE, missed
from .recalling import misnamed
from .unsettled import idles, weigh
from .words import each

if TYPE_CHECKING:
    from .understanding import Reading

_ALL = each("both all everything detail")
_IF = ["if"]
_INVERTED = (["should"], ["were"], ["had"])
_SURNAME = frozenset(("surname",))
_EITHER = ["either"]
_CONFIRM = ["can", "you", "confirm"]
_ENDED = frozenset(("done", "deed", "refused", "kept"))
_PREFER = (["prefer", "that"], ["prefer", "it"])
_GRATIS = each("fre gratis complimentari waiv")
_FORGIVING = each("waiv zero nothing drop")
_NAYS = frozenset(("refused", "inable"))
_WOULD_BE = frozenset(("done", PENDING))
_DEEDS = frozenset(("done", "deed"))
_CHOOSING = each("either option possibl possibiliti thing choic alternativ way")
_WAYS = _CHOOSING - {"either"}
_SEVERAL = each("two three choic")
_CHOSEN = frozenset(("done", "deed", "kept", "refused", "inable", PENDING))
_COSTING = each("cost charg fee price surcharg")
_CONDITIONS = each("waiv gratis complimentari deposit")
_WARNINGS = each("final undo undone irreversibl revers bind definit back permanent")
_CONDITIONAL = (["for"], ["if"], ["once"])
_POINTERS = each("it that")
_ELSE = each("instead alternativ alternativeli rather but other another")
_WANTED = frozenset(("time", "date", "number"))
_FURTHER = each("also too confirmation email invoic receipt send addition another")
"""Words of a go-ahead that is asked for something else than what was just told."""
_PROPOSAL = each("propos suggest proposal suggestion")
_WHOSE = ("booking", "name", "surname", "caller")
_NAMING = frozenset(("name", "surname"))
_LOOSE_NUMBER = ("booking", True)


def settled(reading: Reading) -> None:
    """Correct what was understood clause by clause, now that all of it was heard."""
    out, frame, heard = reading.out, reading.frame, reading.heard
    out.wishes = frame.sentence >= 0 or True in frame.wished
    if out.checking:
        about, last = frame.about, heard[-1]
        if "spel" in last.row and last.question and not reading.found[-1]:
            about = about | _SURNAME  # "I have Berk here. Is that how it's spelled?"
        out.wrong += misnamed(heard, reading.found, reading.known, about, [*out.right, *out.wrong])
    _checks(reading)
    _values(reading)
    if _LOOSE_NUMBER in out.asks and "number" in heard[-1].row:  # "your loyalty card: what is the number?"
        named = [fact for fact in out.asks if fact != _LOOSE_NUMBER]
        if any(fact != "booking" for fact, _ in named):
            out.asks = named
    _consent(reading)
    if REFUSED in out.ends and out.asks and heard[-1].question:
        _without(reading)
    if not out.known and not out.asks and len(heard[0].row) > 3:
        out.wrong = []  # gibberish with a number in it
    if out.consent and out.ends:
        _outcomes_beside_consent(out)
    if out.ends:
        idles(reading)
        weigh(reading)
    for sentence in out.sentences:
        if not (_CHOOSING.isdisjoint(sentence.stems) or out.asks) and _gives_choice(sentence.row, heard):
            sentence.ends -= _CHOSEN  # "either the later one is cancelled or nothing changes"
            out.ends = set[str]().union(*(one.ends for one in out.sentences))
            sentence.proposes = out.alternative = True
        else:
            _proposes(out, sentence, reading.choice)


def _gives_choice(row: list[str], heard: Sequence[Clause]) -> bool:
    """As in "either both stay or I drop the later", "there are two options: …": nothing of it has happened yet."""
    if "either" in row:
        at = row.index("either")
        if row[at + 1 :] in ([], ["way"]) or row[at + 1] == "way" or "not" in row[max(0, at - 3) : at]:
            return False
        first = next(clause for clause in heard if "either" in clause.row)
        return "or" in row[at + 2 :] or any(one.sentence == first.sentence for one in heard[heard.index(first) + 1 :])
    if _WAYS.isdisjoint(row) or _SEVERAL.isdisjoint(row):
        return False
    at = next(at for at, word in enumerate(row) if word in _WAYS)
    if row[at] == "choic" and "hav" not in row[:at] and _SEVERAL.isdisjoint(row[max(0, at - 3) : at]):
        return False  # "nice choice, the suite is my favourite"
    return len(row) > at + 3 and not _SEVERAL.isdisjoint(row[max(0, at - 3) : at + 1])


def _checks(reading: Reading) -> None:
    """Where a restated request is asked to be confirmed, it is told, not done; asks in passing count for nothing."""
    out, last = reading.out, reading.heard[-1]
    if out.sure and not out.consent and last.question:
        for sentence in out.sentences:  # "you can't travel and want it refunded. Is that right?"
            if MINE.isdisjoint(sentence.row):
                sentence.ends -= _ENDED
        out.ends -= _ENDED - set[str]().union(*(sentence.ends for sentence in out.sentences))
    if reading.idle and (out.consent or (out.sure and last.question)):
        out.asks = [fact for fact in out.asks if fact not in reading.idle]
    aside = reading.aside
    if aside and _ALL.isdisjoint(last.row) and any(group not in _WHOSE for group in out.claimed):
        checked = reading.frame.about & _NAMING
        out.right = [fact for fact in out.right if fact not in aside or (checked and fact in _WHOSE)]


def _without(reading: Reading) -> None:
    """As in "I can't touch a booking without the date of birth. Do you have it?": nothing is refused yet."""
    out = reading.out
    for clause, spans in zip(reading.heard, reading.found, strict=True):
        if "without" in clause.row and any(span.lo > clause.row.index("without") for span in spans):
            out.sentences[clause.sentence].ends.discard(REFUSED)
    out.ends = set[str]().union(*(sentence.ends for sentence in out.sentences))


def _values(reading: Reading) -> None:
    """A value that is heard rightly and wrongly: rightly, unless the customer has two of the kind."""
    out, known = reading.out, reading.known
    if out.right and out.wrong:
        out.right = [fact for fact in out.right if not (fact in out.wrong and known[fact].contested)]
        out.wrong = [fact for fact in out.wrong if fact not in out.right]


def _consent(reading: Reading) -> None:
    """Where what looks like a plea for a go-ahead is none."""
    out, heard = reading.out, reading.heard
    if not out.consent:
        _as_wished(reading)
        return
    if out.goal and all(len(c.row) < 4 for c, leave in zip(heard, reading.frame.consents, strict=True) if leave):
        out.consent = False  # "A change? What do you want changed?"
        return
    if not out.actions and (out.right or out.wrong or out.claimed):  # "…, can you confirm?"
        consents = reading.frame.consents
        out.consent = any(clause.row[-3:] != _CONFIRM for clause, leave in zip(heard, consents, strict=True) if leave)
    if reading.choice or (out.alternative and heard[-1].row[-2:] in _PREFER):
        out.consent = False  # "instead, … Would you prefer that?"


def _as_wished(reading: Reading) -> None:
    """As in "I could let you have it until four for USD 25. Would you like that?": what is offered was asked for."""
    out, last = reading.out, reading.heard[-1]
    if not (out.alternative and out.right and last.question) or out.wrong or len(last.row) > 6:
        return
    if _POINTERS.isdisjoint(last.row) or any(not _ELSE.isdisjoint(sentence.row) for sentence in out.sentences):
        return
    if all(reading.known[fact].kind in _WANTED for fact in out.right) and not out.checking:
        out.consent = out.pleads = True


def _outcomes_beside_consent(out: Understood) -> None:
    """As in "the amount would come back to you. Shall I cancel?": what would be done is not done."""
    forgiven = any(not _FORGIVING.isdisjoint(sentence.row) for sentence in out.sentences)
    further = any(sentence.asks and not _FURTHER.isdisjoint(sentence.row) for sentence in out.sentences)
    for sentence in out.sentences:
        stems = sentence.stems
        gratis = "deposit" in stems or (forgiven and sentence.amounts) or not _GRATIS.isdisjoint(stems)
        if gratis and out.amounts and not _NAYS.isdisjoint(sentence.ends):
            sentence.ends -= _NAYS  # "free of charge isn't possible, but I could do it for USD 35"
            out.ends -= _NAYS
        if sentence.amounts and not _NAYS.isdisjoint(sentence.ends) and not _COSTING.isdisjoint(stems):
            sentence.ends -= _NAYS  # "as we're past the deadline, it costs USD 60. Do you agree?"
            out.ends -= _NAYS
        if REFUSED in sentence.ends and not _WARNINGS.isdisjoint(stems) and not sentence.asks:
            sentence.ends.discard(REFUSED)  # "cancelling is final. Are you sure?"
            out.ends.discard(REFUSED)
        if sentence.row[:1] in _CONDITIONAL and sentence.amounts and not sentence.asks:
            sentence.ends -= _DEEDS  # "for the rooms we take back there's a fee of USD 90. May I?"
        if sentence.ends and not (sentence.asks or further or _CONDITIONS.isdisjoint(stems)):
            sentence.ends -= _DEEDS  # "the usual fee is waived, the deposit comes back to you. Shall I book it?"
        if "would" in sentence.stems and not sentence.asks:
            sentence.ends -= _WOULD_BE
    out.ends -= (_DEEDS | _WOULD_BE) - set[str]().union(*(sentence.ends for sentence in out.sentences))


def _proposes(out: Understood, sentence: Sentence, choice: bool) -> None:
    """Whether the sentence proposes something, after all."""
    ends, stems = sentence.ends, sentence.stems
    if "either" in stems and sentence.row[:1] == _EITHER and not ends and not MINE.isdisjoint(sentence.row):
        sentence.proposes = True  # "either I drop the later one or you keep both"
    elif (
        choice
        or sentence.closed
        or (sentence.wishes and out.checking and not out.consent)
        or ("done" in ends and not sentence.asks)
    ):
        sentence.proposes = False
    elif (
        "if" in stems
        and "wait" in out.ends
        and sentence.row[:1] == _IF
        and not (sentence.inquires or sentence.amounts or out.consent)
    ):
        sentence.proposes = False  # "If the suite isn't taken, we can move you. I'll look at the plan."
    elif "pending" in ends and not (sentence.inquires or sentence.amounts or out.consent):
        sentence.proposes = False  # "you're first on the list, and we'll call if the suite comes free"
    elif sentence.row[:1] in _INVERTED and not (sentence.inquires or sentence.amounts or out.consent):
        sentence.proposes = False  # "should a suite come free, I would give it to you"
    elif not sentence.inquires and "whether" in stems and "let" in stems:
        sentence.proposes = False  # "let me see whether we have a suite"
    elif "wait" in ends and not sentence.inquires and not sentence.amounts:
        sentence.proposes = False  # "I'll check if the suite is available"
    elif "hav" in stems and "could" in stems and missed(sentence.row):
        sentence.proposes = False  # "some could have gone back last month at no cost"
        if not sentence.amounts:
            sentence.row = []
            stems.clear()
    elif out.consent and not ends and not _PROPOSAL.isdisjoint(sentence.row):
        sentence.proposes = True  # "My proposal: we delete the later booking. You agree?"
    elif out.consent and not ends and not AVAILABLE.isdisjoint(sentence.row):
        sentence.proposes = True  # "The suite is still free. Would you like it?"
    elif "kept" in ends and len(ends) == 1 and out.alternative and sentence.open:
        sentence.proposes = True  # "either both stay as they are, or I drop the later"
    elif (not ends and (sentence.amounts or out.alternative)) or (
        sentence.open and sentence.amounts and (out.alternative or out.consent) and "done" not in ends
    ):
        sentence.proposes = True
