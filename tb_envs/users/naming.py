"""Which of the customer's names, places, texts and counts a clause restates, rightly or wrongly.

Refuses the agent's own name and those of its colleagues, and words that only look like a name.
"""

from __future__ import annotations

from collections.abc import Sequence

from .asking import NO_VALUE
from .clauses import Clause
from .lexicon import COMMON, DOMAIN, QUESTION_WORDS
from .phrases import Span, stem_set, stems
from .scene import Scene, denied, impersonal
from .spelling import DROPPED
from .values import LEAST, NUMBERS, SKIP, Value, squash
from .words import Is, each

_COUNTED = {
    "guests": frozenset(stems("guest person people adult traveller pax")),
    "nights": frozenset(("night",)),
    "rooms": frozenset(("room",)),
}
_NAMES = frozenset(("name", "surname", "caller"))
_MAY = each("can could may might")
_WISHES = each("lik want wish prefer need tak")
_PLACING = each("on in for of under with down")
_IS = each("is are was as")
_TITLES = each("mr mrs ms miss dr monsieur madam herr frau signor senor")
_RECORDED = stem_set(
    "recorded noted entered registered booked listed filed saved stored written wrote put down have got file read say"
    " spelled spelt show state understand hear take"
)
_PASSING = _RECORDED | each(
    "would be is are was been hav as on in our that it by us my under for to name which stand now"
)
"""What may stand between the word "surname" and the name itself."""
_BEFORE_NAME = each("as under for on name is read say spel of with to that from one hear")
_SELF = (["i", "am"], ["that", "is"], ["name", "is"])
"""An agent that introduces itself: "I am X", "this is X", "my name is X"."""
_STRANGERS = each("colleagu manager receptionist supervisor mine speak here")
_ORDINARY = COMMON | DOMAIN
_NUMBERS = frozenset(NUMBERS)
_NUMBERED = (["in", "number"], ["was", "it"], ["is", "it"])
_BARE: tuple[list[str], ...] = ([], ["was", "it"], ["is", "it"], ["yes"], ["right"], ["correct"])
"""What stands after a number that is checked by itself: "eight, was it?"."""
_CALLED = (["is", "cal"], ["is", "nam"])
"""As in "your group is called …"."""


def wordings(scene: Scene) -> None:
    """Names, places, texts and counts in words."""
    clause, out = scene.clause, scene.out
    row = clause.row
    known = scene.known
    texts = {token.text for token in clause.words}
    here: set[str] = set()
    if known.of["number"] and not _NUMBERS.isdisjoint(texts):
        for value in known.of["number"]:
            if value.fact not in out.right:
                _count(scene, value)
    wordy = known.wordy
    if not scene.checking and known.worded.isdisjoint(texts) and not (scene.named and "your" in clause.dets):
        wordy = known.odd
        if not wordy:
            return
    addressed = _addressed(clause) if scene.checking else None
    for value in wordy:
        if value.fact in out.right:
            continue
        span = scene.named.get(value.group)
        if span is not None and span.means.loose and (row[span.hi : span.hi + 2] not in _CALLED):
            span = None
        if span is None and addressed and value.group in _NAMES:
            span = addressed
        if span is None and value.plain and texts.isdisjoint(value.heard_as):
            continue
        here = here or set(row)
        if value.kind == "name" and (_runs_on(value, clause) or (scene.checking and _halved(value, clause))):
            if scene.checking:
                out.wrong.append(value.fact)
        elif _says(value, here, clause):
            out.right.append(value.fact)
        elif value.group == "caller":
            if scene.checking and _relates(value, row):
                out.wrong.append(value.fact)
        elif value.group == "room_type" and _WISHES.isdisjoint(row):
            continue
        elif (scene.checking and not value.others.isdisjoint(row) and value.words.isdisjoint(row)) or (
            span is not None and _stated(clause, span, value) and (scene.checking or _of_yours(clause, span, value))
        ):
            out.wrong.append(value.fact)


def slips(scene: Scene) -> None:
    """A name of the customer's with a slip in it, where it is said to be the customer's."""
    clause, out = scene.clause, scene.out
    if "my" in clause.dets:
        return
    for at in clause.capitals:
        token = clause.words[at]
        text = token.text
        if len(text) < LEAST or token.stem in _ORDINARY or text in scene.known.called:
            continue
        for value, owns in scene.known.slipped:
            own = next((own for own in owns if _alike(own, text)), "")
            if not own or value.fact in out.right or value.fact in out.wrong:
                continue
            rest = value.texts - {own}
            if rest and rest.isdisjoint(word.text for word in clause.words):
                continue  # of "Ida Falk" another part must be there
            if _meant_for(scene, at, value):
                out.wrong.append(value.fact)


def counts(row: list[str], at: int, value: Value) -> bool:
    """Whether the number at `at` counts what the fact counts."""
    return at + 1 < len(row) and row[at + 1] in _COUNTED.get(value.group, ())


def _alike(own: str, heard: str) -> bool:
    """Whether `heard` is `own` with a slip, or begins like it and is as long."""
    longer = max(len(own), len(heard))
    if abs(len(own) - len(heard)) > 2 or (own[0] != heard[0] and own[1:3] != heard[1:3]):
        return False
    if own[0] == heard[0]:
        shared = next((at for at, (one, other) in enumerate(zip(own, heard, strict=False)) if one != other), longer)
        if shared > 2 and shared * 5 >= len(own) * 2 and len(heard) + 1 >= len(own):
            return True
    return _distance(own, heard) <= max(1, longer // 3)


def _distance(one: str, other: str) -> int:
    """How many letters differ."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        last, row[0] = row[0], at
        for near, here in enumerate(other, 1):
            last, row[near] = row[near], min(row[near] + 1, row[near - 1] + 1, last + (letter != here))
    return row[-1]


def _meant_for(scene: Scene, at: int, value: Value) -> bool:
    """Whether the word at `at` is said to be the customer's name."""
    clause = scene.clause
    row = clause.row
    if any(row[near : near + 2] in _SELF for near in range(max(0, at - 3), at)) and not scene.checking:
        return False
    if not _STRANGERS.isdisjoint(row):
        return False
    before = row[at - 1] if at else ""
    if before in _TITLES or not _NAMES.isdisjoint(scene.named) or scene.names(value):
        return True
    if before in _BEFORE_NAME and (scene.checking or not _RECORDED.isdisjoint(row[:at])):
        return True
    return scene.checking or len(row) == 1


def _of_yours(clause: Clause, span: Span, value: Value) -> bool:
    return clause.dets[span.lo] == "your" and (value.contested or value.kind != "text")


def _runs_on(value: Value, clause: Clause) -> bool:
    """As in "Northgate Chamber Orchestra": most of a long name, with a strange word at its end or start."""
    if len(value.words) < 3:
        return False
    words, row = clause.words, clause.row
    mine = [at for at, stem in enumerate(row) if stem in value.words and words[at].capital]
    if not 1 < len(mine) < len(value.words):
        return False
    inside = mine[0] + 1 if mine[-1] - mine[0] == 2 else mine[-1] + 1  # "Northgate Church Choir"
    for at in dict.fromkeys((mine[0] - 1, mine[-1] + 1, inside)):
        if 0 <= at < len(row) and words[at].capital and (at > 0 or mine[0] > 1):
            strange = row[at] not in value.words and words[at].kind is Is.WORD
            if strange and (at > mine[0] or (at > 0 and row[at] not in COMMON and row[at] not in DOMAIN)):
                return not (at in clause.commas or (at + 1 in clause.commas and at < mine[0]))
    return False


def _halved(value: Value, clause: Clause) -> bool:
    """As in "Otto Berger" for Otto Varga: one of two names is right, and a strange one stands in the other's place."""
    words = clause.words
    if len(value.texts) != 2:
        return False
    at = next((at for at in clause.capitals if words[at].text in value.texts), -1)
    beside = words[at + 1] if 0 <= at < len(words) - 1 else None
    if beside is None or not beside.capital or at + 1 in clause.commas:
        return False
    return beside.text not in value.texts and beside.stem not in COMMON and beside.stem not in DOMAIN


def _says(value: Value, here: set[str], clause: Clause) -> bool:
    """Whether the clause has the value: all its words, of a long one most, or another spelling."""
    words = value.words
    both = len(words & here)
    if both and value.kind == "name" and len(words) < 3:
        heard = {token.text for token in clause.words}
        return all(text in heard or f"{text}s" in heard for text in value.texts)
    if words and (both == len(words) if len(words) < 3 else both * 5 >= len(words) * 3):
        return True
    if value.same or (value.kind == "text" and value.numbered):
        joined = squash("".join(token.text for token in clause.words))
        return any(spelled in joined for spelled in (*value.same, value.key if value.numbered else "") if spelled)
    return False


def _relates(value: Value, row: list[str]) -> bool:
    """As in "you are his wife", "you call as her lawyer": another relation than the caller's own."""
    if "you" not in row or not QUESTION_WORDS.isdisjoint(row):
        return False
    start = row.index("you")
    other = next((at for at in range(start + 1, len(row)) if row[at] in value.others), 0)
    if not other or other - start > 6 or not value.words.isdisjoint(row):
        return False
    return bool({"are", "as", "be"} & set(row[start:other]))


def _count(scene: Scene, value: Value) -> None:
    """As in "Two guests"."""
    row = scene.clause.row
    if impersonal(scene.clause):
        return
    for at, token in enumerate(scene.clause.words):
        if token.text not in NUMBERS or "by" in row[max(0, at - 1) : at + 2]:
            continue  # "one by one"
        named = counts(row, at, value) or (
            (
                (at + 1 == len(row) < 8 or (scene.checking and len(row) < 10 and row[at + 1 : at + 3] in _NUMBERED))
                and token.text != "one"
                and (value.contested or (scene.checking and scene.names(value)))
            )
            or (scene.checking and not at and row[1:] in _BARE and len(scene.known.of["number"]) == 1)
        )  # "I count four", "the number of rooms was six, was it not?"
        if named and not denied(row, at):
            claim = row[row.index("confirm") :] if "confirm" in row[:4] else row  # "can you confirm that …"
            told = scene.checking and (not named or _MAY.isdisjoint(claim))
            scene.judge(value, NUMBERS[token.text] == value.number, told or value.contested)


def _addressed(clause: Clause) -> Span | None:
    """As in "Am I speaking with Mr Smith": a name without the word for it."""
    row = clause.row
    for at, word in enumerate(row):
        if word in _TITLES or (word in ("with", "to") and at and row[at - 1] in ("speak", "talk", "chat")):
            return Span(at, at + 1, None)
        if word in ("as", "under") and _recorded(clause, at):
            return Span(at, at + 1, None)
    return None


def _recorded(clause: Clause, at: int) -> bool:
    """As in "the guest is recorded as Smith", "I have you down as Smith"."""
    if at + 1 >= len(clause.row) or _RECORDED.isdisjoint(clause.row[:at]):
        return False
    token = clause.words[at + 1]
    if token.stem in _TITLES and at + 2 < len(clause.row):
        token = clause.words[at + 2]
    strange = token.stem not in COMMON and token.stem not in DOMAIN
    return token.capital and token.kind is Is.WORD and strange and at + 3 >= len(clause.row)


def _stated(clause: Clause, span: Span, value: Value) -> bool:
    """Whether the fact named at `span` is given a value in the clause, other than its own."""
    verb = span.means is None or span.hi in clause.colons or span.hi not in clause.commas
    lo = span.hi
    if clause.question and span.lo == 1 and value.numbered and lo == len(clause.row) - 1 and clause.row[0] == "is":
        return clause.words[lo].kind is not Is.WORD  # "is your postcode 1011?"
    if clause.question and span.lo == 1 and clause.row[0] in _IS:
        verb = True  # "is the payee Marlowe Estates?"
        lo += clause.row[lo : lo + 1] in (["cal"], ["nam"])
    if clause.row[lo : lo + 2] in _CALLED:
        verb, lo = True, lo + 2
    elif value.kind == "name" and span.means is not None:
        lo = _name_at(clause, lo)
    elif clause.row[lo : lo + 1] and clause.row[lo] in _PLACING:  # "the last name on the booking is Berg"
        lo = next((at for at in range(lo + 1, min(lo + 5, len(clause.row))) if clause.row[at] in _IS), lo)
    for at in range(lo, min(lo + 6, len(clause.row))):
        stem, token = clause.row[at], clause.words[at]
        if stem in ("is", "as", "are", "was", "be"):
            verb = True
        elif (at == lo and value.kind != "name" and span.hi not in clause.colons) or stem in NO_VALUE:
            return False
        elif value.kind == "name":
            if not token.capital or not verb:
                return False
            if token.text not in value.texts and stem not in _TITLES:
                return True
        elif verb and stem not in SKIP and token.text not in DROPPED:
            return True
    return False


def _name_at(clause: Clause, lo: int) -> int:
    """Past "on the form says", "has been entered as": where the name itself stands."""
    row: Sequence[str] = clause.row
    at = lo
    if row[at : at + 1] and row[at] in _PLACING:
        verb = next((near for near in range(at + 1, min(at + 5, len(row))) if row[near] in _IS | _RECORDED), at)
        at = verb
    while at < len(row) and at < lo + 8 and row[at] in _PASSING and not clause.words[at].capital:
        at += 1
    return at if at < len(row) and clause.words[at].capital else lo
