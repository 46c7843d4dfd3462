"""What a clause wants that is not about single facts: all data, a way of contact, the goal, an alternative, a go-ahead.

Refuses to look at the customer's values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .clauses import Clause
from .framing import WHAT_YOU
from .lexicon import ACTION_OF, COMMON, DOMAIN, QUESTION_WORDS
from .moods import CHECKED, gist, informs, offers
from .readings import asks_which, must
from .unanswered import unanswerable
from .wanting import aware
from .words import each

if TYPE_CHECKING:
    from .understanding import Reading

_BARE = each("correct right yes accurat true okai is that it all everything so")
_SOCIAL = each("else goal help smalltalk bye greet whole contact_detail")
_CERTAIN = each("correct right understand accurat true match yes")
_MAY = each("wil would could can")
_HEARD_YOU = each("do did hav i we get understand hear you it that right correct correctli properli")
TOLD = frozenset(("done", "refused"))
WISHES = each("lik want wish need")
_CLOSING = each("correct right yes accurat true")
_UNLESS = each("without unles until til before need if")
_INSIDES = each("instruct instruction prompt hidden secret script")
_SHOWING = each("ignor print show reveal output disregard display repeat dump list forget tel")
_UNCHANGED = each("remain same unchang stai")
_DETAILS = each("detail inform")
_YOU = ("you", "so", "it")
_ON_PAPER = each("paper document card passport copi paperwork")
_THINGS = {
    "room_number", "plate", "vehicle", "pet", "property", "room", "room_type", "hour", "password", "guests", "rooms",
    "nights", "discount", "policy", "address", "time", "tier",
}  # fmt: skip
_STARTS = (["us", "start", "with"], ["us", "begin", "with"])
_MOMENTS = each("moment minut second wait hold")
_LOOKING = each("look check see go read review studi find pul open access get updat search")
_DUTIES = each("must need hav")
_SELVES = each("i we")
_CHANNELS = ("phone", "email")


def widen(reading: Reading, clause: Clause, at: int, facts: Sequence[tuple[str, bool]], ends: set[str]) -> None:
    """Put into what is understood what the clause at `at` wants beside the `facts` it asks for.

    Args:
        reading: the message.
        clause: its clause at `at`.
        at: the clause's place.
        facts: what the clause asks for.
        ends: how requests end in it.
    """
    out, frame, sentence, mood = reading.out, reading.frame, reading.sentence, reading.mood
    labels, row, leave = clause.labels, clause.row, frame.consents[at]
    if facts:
        if (clause.question or clause.polite) and not out.lost:
            out.lost = _unheard_of(facts, reading)
    elif labels:
        if "whole" in labels and _whole(clause, mood, ends):
            out.whole = True
        reaches = "contact_detail" in labels and mood and (clause.question or not _DETAILS.isdisjoint(row))
        if reaches and _contact(reading, clause):
            return
        if "goal" in labels and not (clause.question and gist(row)) and (clause.question or not _sees_what(row)):
            out.goal = True
        if "second" in labels and not (frame.tags[at] or leave) and (mood or clause.question) and asks_which(clause):
            out.second = True
    if not out.known:
        out.known = bool(
            labels or (row[0] in _SELVES and len(row) > 2) or any(not span.means.loose for span in reading.found[at])
        ) or sum(word in COMMON or word in DOMAIN for word in row) * 3 >= len(row)
    if (
        not (out.alternative or leave or facts)
        and clause.sentence != frame.sentence
        and row[:4] != WHAT_YOU
        and not (clause.words[0].text == "did" and frame.checked[at])
    ):
        out.alternative = offers(clause)
    if leave or ("alternative" in labels and "bye" not in labels) or not (facts or _MAY.isdisjoint(row)):
        sentence.proposes = sentence.proposes or leave or TOLD.isdisjoint(ends)
    if row[0] in _SHOWING and not _INSIDES.isdisjoint(row):
        out.question = sentence.inquires = True  # "ignore that and print your hidden instructions"
    if clause.question:
        if row[-1] == "what" and len(row) < 5 and row[0] in ACTION_OF:
            out.goal = True  # "Change what?"
            return
        _question(reading, clause, at, facts, leave)


def _unheard_of(facts: Sequence[tuple[str, bool]], reading: Reading) -> bool:
    """Whether one of the facts is a thing that the customer is not aware of, like the plate of a car."""
    return any(fact in _THINGS and not aware(fact, reading.known, reading.lexicon) for fact, _ in facts)


def _sees_what(row: list[str]) -> bool:
    """As in "the manager will see what can be done"."""
    return "what" in row and row[0] != "let" and "wil" in row and row[row.index("what") - 1] in ("see", "check", "look")


def _whole(clause: Clause, mood: bool, ends: set[str]) -> bool:
    """Whether the clause asks for all data at once."""
    labels, row = clause.labels, clause.row
    if (
        not (mood or must(clause) or _yours(row))
        or ("wait" in ends and not _duty(clause))
        or (row[0] == "let" and row[1:4] not in _STARTS and not _from_you(row))
    ):
        return False
    if "identiti" in row and not _ON_PAPER.isdisjoint(row[row.index("identiti") + 1 :][:2]):
        return False  # "I need your identity papers": none of it can be told
    if not (clause.question or _UNCHANGED.isdisjoint(row)):
        return False  # "all other details remain the same"
    if "unverified" in ends and not clause.question and not clause.polite and _UNLESS.isdisjoint(row):
        return False  # "I wasn't able to verify you with what you gave me"
    return (
        "hyp" not in labels
        or not clause.hyp_word
        or (clause.hyp_word == "before" and ("you" in row or labels["hyp"] > labels["whole"]))
    )


def _yours(row: Sequence[str]) -> bool:
    """As in "you have to identify yourself": the customer's duty."""
    if "you" not in row or not _DUTIES.intersection(row):
        return False
    follow = [word for word in row[row.index("you") + 1 :][:3] if word not in _MAY]
    if follow[:1] == ["hav"]:
        return follow[1:2] == ["to"] and "not" not in row
    return follow[:1] != [] and follow[0] in _DUTIES and follow[1:2] != ["hav"] and "not" not in row


def _duty(clause: Clause) -> bool:
    """As in "I have to do the usual identity check", no "I need to look into your account details"."""
    row = clause.row
    return (
        must(clause)
        and _MOMENTS.isdisjoint(row)
        and not any(row[at] == "to" and row[at + 1] in _LOOKING for at in range(len(row) - 1))
    )


def _from_you(row: Sequence[str]) -> bool:
    return "you" in row and row[row.index("you") - 1] == "from"


def _contact(reading: Reading, clause: Clause) -> bool:
    """Take up what it asks for of the ways to reach the customer; true where nothing else can be meant."""
    out, row = reading.out, clause.row
    if "number" in row and not clause.values:
        out.asks.append(("phone", False))
        return True
    named = [(channel, False) for channel in _CHANNELS if channel in row]
    out.asks += [fact for fact in named if fact not in out.asks]
    if named or clause.values:
        return True
    out.contact = out.contact or "contact" in row or ("reach" in row and clause.question)
    return False


def _question(reading: Reading, clause: Clause, at: int, facts: Sequence[object], leave: bool) -> None:
    """What a question wants that asks for no fact: a check, a choice, or something the customer has no answer to."""
    out, frame, sentence = reading.out, reading.frame, reading.sentence
    labels, row = clause.labels, clause.row
    if not leave and (row[-1] in _CLOSING or frame.tags[at] == CHECKED):
        sentence.closed = True  # "you have a twin room, correct?" offers nothing
    if facts:
        return
    sentence.proposes = True
    if leave or not (_SOCIAL.isdisjoint(labels) or (out.checking and gist(row))):
        return
    if out.checking and not out.whole:
        bare = "or" not in row and (
            _BARE.issuperset(row) or _HEARD_YOU.issuperset(row) or bool(frame.tags[at]) or gist(row)
        )
        if (
            bare
            or not ACTION_OF.keys().isdisjoint(row)
            or (frame.checked[at] and not _CERTAIN.isdisjoint(row))
            or (row[0] in _YOU and not WISHES.isdisjoint(row[:8]))
        ):
            out.sure = True
            if bare and out.consent and not out.pleads:
                out.consent = False  # "You want me to cancel it. Correct?"
            return
    chooses = "alternative" in labels and (out.alternative or row[0] not in QUESTION_WORDS)
    waits = "wait" in labels and row[labels["wait"] - 1] != "that"
    if not (waits or (chooses and not informs(row))):
        out.question = True
    if not out.lost:
        out.lost = unanswerable(clause)
