"""From free text to what it wants of the customer: asks, proposals, restated values, ends of requests.

Refuses to decide the answer, and to keep a memory: the same words to the same persona are understood
the same at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .asking import asked, cue, mentions, question_word, restates, valued
from .clauses import Clause, clauses
from .lexicon import ACTION_OF, ASK_VERBS, COMMON, DOMAIN, QUESTION_WORDS
from .moods import checks, consents_to, offers
from .outcomes import outcomes
from .phrases import Node, stems
from .restating import restated
from .spelling import DROPPED
from .values import Values
from .vocabulary import Compiled
from .words import each, tokens

Phrase = frozenset[str]
_FORMAL = frozenset(("to", "that", "you"))
_NOTING = frozenset(stems("put write enter note record select state say"))
_BARE = each("correct right yes accurat true okai is that it all everything so")
_POINTING = each("it that them both me")
_CALLING = each("cal reach ring phone callback")
_NOT_POINTING = each("else goal whole")
_SOCIAL = each("else goal help smalltalk bye greet whole contact_detail")
_TITLES = each("mr mrs ms miss dr")
_MAY = each("wil would could can")
_WANTS_ME = each("you me to")
_TAGS = each("correct right yes accurat true okai")


@dataclass(slots=True)
class Sentence:
    """One sentence: its stems, whether it asks, the amounts in it, how requests end in it."""

    stems: set[str] = field(default_factory=set[str])
    row: list[str] = field(default_factory=list[str])
    asks: bool = False
    proposes: bool = False
    closed: bool = False
    ends: set[str] = field(default_factory=set[str])
    amounts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def has(self, phrases: Sequence[Phrase]) -> bool:
        """Whether all words of one of the phrases stand in it."""
        return any(phrase <= self.stems for phrase in phrases)


@dataclass(slots=True)
class Understood:
    """What one message of the agent amounts to."""

    sentences: list[Sentence] = field(default_factory=list[Sentence])
    asks: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    whole: bool = False
    contact: bool = False
    goal: bool = False
    checking: bool = False
    right: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    consent: bool = False
    pleads: bool = False
    """It asks for the go-ahead in other words than "you want me to …"."""
    sure: bool = False
    """"Is that correct?" about no value."""
    alternative: bool = False
    question: bool = False
    known: bool = False
    """Some of it is about business, or at least English."""
    second: bool = False
    """It asks what the further request is."""
    claimed: list[str] = field(default_factory=list[str])
    """Facts it names in a check, with a value or not."""
    cues: set[str] = field(default_factory=set[str])
    ends: set[str] = field(default_factory=set[str])
    actions: set[str] = field(default_factory=set[str])

    @property
    def amounts(self) -> list[int]:
        """All amounts of money, in cents, in order."""
        return [cents for sentence in self.sentences for _, cents in sentence.amounts]


def phrases(lines: Sequence[str]) -> list[Phrase]:
    """An author's phrases, each as the set of stems that must all be heard."""
    listed = [lines] if isinstance(lines, str) else lines
    return [phrase for line in listed for phrase in [frozenset(stems(line)) - {"the", "a"}] if phrase]


def understand(text: str, lexicon: Compiled, own: Node | None, known: Values) -> Understood:
    """Understand one message, for a customer whose values are `known`."""
    out = Understood()
    heard = clauses(text)
    found = [mentions(clause, lexicon.tree, own) for clause in heard]
    out.checking = any(checks(clause) for clause in heard)
    if not heard:
        out.known = any(token.text in DROPPED for token in tokens(text[:200]))
    before: Clause | None = None
    mood = choice = False
    consents: list[bool] = []
    for clause in heard:
        consents.append(consents_to(clause))
    for at, clause in enumerate(heard):
        labels, row = clause.labels, clause.row
        if before is None or before.sentence != clause.sentence:
            out.sentences.append(Sentence())
        sentence = out.sentences[-1]
        base = len(sentence.row)
        sentence.stems.update(row)
        sentence.row += row
        out.cues.update(labels)
        at_else = labels.get("else", -1)
        if at_else >= 0 and not clause.question and ("not" in row[:at_else] or row[at_else + 3 :][:2] == ["i", "need"]):
            out.cues.discard("else")
        inherits = mood if before is not None else False
        mood = cue(clause, inherits)
        ends = outcomes(clause)
        facts = asked(clause, found[at], mood, consents[at])
        if facts and "done" in ends and not clause.polite and QUESTION_WORDS.isdisjoint(row):
            facts = []  # "the points missing from your account have been added"
        sentence.asks = sentence.asks or clause.question or mood
        if consents[at]:
            out.consent = True
            out.pleads = out.pleads or clause.question or not _WANTS_ME.issubset(row)
            sentence.proposes = True
        stated = clause.question and any(span.hi < len(row) and restates(clause, span.hi) for span in found[at])
        values = restated(clause, found[at], known, out.checking or stated, any(consents) or clause.question)
        if clause.question and "or" in row and not out.checking:
            chosen = [known[fact].group for fact in values.right if known[fact].kind in ("text", "place")]
            facts = facts or [(group, False) for group in chosen]
            choice = choice or bool(chosen)
        elif (
            clause.question
            and row[0] not in ("hav", "do", "how", "what", "where", "why", "who")
            and not any(consents)
            and not offers(clause)
            and (values.right or values.wrong)
        ):
            named = {known[fact].group for fact in (*values.right, *values.wrong)}
            if not any(word in QUESTION_WORDS for word in row):
                facts = [fact for fact in facts if fact[0] not in named]
            if facts and _TITLES.intersection(row) and not values.wrong:
                values.right = []  # "could you give me Mr Berg's number?"
            else:
                out.checking = True
        if mood and not found[at] and len(row) < 7 and at and not consents[at] and _NOT_POINTING.isdisjoint(labels):
            facts = [
                (s.means.fact, False)
                for s in found[at - 1]
                if not s.means.loose and _POINTING.intersection(row) and not out.checking
            ]
        if clause.question and row[-2:] == ["you", "are"] and len(row) < 4:
            facts = [("caller", False)]
        if row == ["which", "one"] and at:
            facts = [(span.means.fact, False) for span in found[at - 1][-1:] if not span.means.loose]
        if ("booking", True) in facts and any(_CALLING.intersection(other.row) for other in heard) and "number" in row:
            facts = [("phone", False) if fact == ("booking", True) else fact for fact in facts]
        if (
            clause.question
            and not facts
            and not consents[at]
            and at
            and _NOTING.intersection(row)
            and question_word(clause, 0)
        ):
            facts = [(span.means.fact, False) for span in found[at - 1][-1:]]  # "a reason is needed. What shall I put?"
        out.asks += [fact for fact in facts if fact not in out.asks]
        sentence.amounts += [(base + place, amount) for place, amount in values.amounts]
        out.right += [fact for fact in values.right if fact not in out.right]
        out.wrong += [fact for fact in values.wrong if fact not in out.wrong]
        sentence.ends |= ends
        out.ends |= ends
        out.actions.update(ACTION_OF[word] for word in row if word in ACTION_OF)
        if found[at] and out.checking:
            check = clause.question and checks(clause)
            out.claimed += [s.means.fact for s in found[at] if not s.means.loose and (check or valued(clause, s.hi))]
        _wider(clause, out, mood, facts, consents[at], sentence, ends)
        before = clause
    out.wrong = [fact for fact in out.wrong if fact not in out.right]
    if sum(fact[0] != "booking" for fact in out.asks):  # "your loyalty card: what is the number?"
        out.asks = [fact for fact in out.asks if fact != ("booking", True) or "number" not in out.sentences[-1].row]
    out.consent = out.consent and not choice
    for sentence in out.sentences:
        if choice or sentence.closed or ("done" in sentence.ends and not sentence.asks):
            sentence.proposes = False
        elif not sentence.ends and (sentence.amounts or out.alternative):
            sentence.proposes = True
    return out


def _wider(
    clause: Clause,
    out: Understood,
    mood: bool,
    facts: Sequence[object],
    consents: bool,
    sentence: Sentence,
    ends: set[str],
) -> None:
    """What is not about single facts."""
    labels, row = clause.labels, clause.row
    if "whole" in labels and mood and not facts and "let" not in row[:1] and "hyp" not in labels:
        out.whole = True
    if "contact_detail" in labels and mood and not facts and (clause.question or {"detail", "inform"} & set(row)):
        if "number" in row and not clause.values:
            out.asks.append(("phone", False))
            return
        named = [(channel, False) for channel in ("phone", "email") if channel in row]
        out.asks += [fact for fact in named if fact not in out.asks]
        if named:
            return
        if clause.values:
            return
        out.contact = out.contact or "contact" in row or ("reach" in row and clause.question)
    if "goal" in labels and not facts:
        out.goal = True
    if "second" in labels and not consents and not facts and (mood or clause.question) and _asks_which(clause):
        out.second = True
    if not out.known:
        out.known = bool(labels) or sum(word in COMMON or word in DOMAIN for word in row) * 3 >= len(row)
    out.alternative = out.alternative or (not consents and not facts and offers(clause))
    if clause.question and row[-1] in _TAGS - {"okai"} and not consents:
        sentence.closed = True  # "you have a twin room, correct?" offers nothing
    if clause.question and not facts:
        sentence.proposes = True
    if "alternative" in labels or consents or not _MAY.isdisjoint(row):
        sentence.proposes = sentence.proposes or not ends & {"done", "refused"} or consents
    if clause.question and not facts and not consents:
        if not _SOCIAL.isdisjoint(labels):
            return
        bare = set(row) <= _BARE
        if out.checking and not out.whole and (bare or ACTION_OF.keys() & set(row) or checks(clause)):
            out.sure = True
            if bare and out.consent and not out.pleads:
                out.consent = False  # "You want me to cancel it. Correct?"
            return
        if "wait" in labels or "alternative" in labels:
            return
        out.question = True


def _asks_which(clause: Clause) -> bool:
    """As in "what is the second thing?", "and the other one?", "tell me about the next matter"."""
    row = clause.row
    return (
        bool(clause.polite)
        or not QUESTION_WORDS.isdisjoint(row)
        or not ASK_VERBS.isdisjoint(row)
        or (clause.question and row[0] in ("and", "now", "second", "other", "next", "you"))
    )
