"""From free text to what it wants of the customer: asks, proposals, restated values, ends of requests.

Refuses to decide the answer, and to keep a memory: the same words to the same persona are understood
the same at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .asking import asked, cue, mentions, question_word, restates
from .clauses import Clause, clauses
from .lexicon import ACTION_OF, COMMON, DOMAIN, DONE_VERBS, GET_VERBS, QUESTION_WORDS
from .outcomes import outcomes
from .phrases import Node, stems
from .restating import restated
from .spelling import DROPPED
from .values import Values
from .vocabulary import Compiled
from .words import each, tokens

Phrase = frozenset[str]
_FORMAL = frozenset(("to", "that", "you"))
_ALONE = each("okai alright fin agre deal good right correct yes interest")
_ACTING = DONE_VERBS | frozenset(stems("charge bill submit switch do start keep go proceed continue accept have pay"))
_MODAL = each("can could may shal should might")
_PROPOSING = frozenset(("offer", "propos", "suggest", "alternativ", "alternativeli", "instead", "rather"))
_NOTING = frozenset(stems("put write enter note record select state say"))
_BARE = each("correct right yes accurat true okai is that it all everything so")
_WAITING = frozenset(("need", "await", "wait", "requir", "giv"))
_LEAVE = frozenset(stems("confirmation approval agreement consent permission blessing go okay authorisation"))
_POINTING = each("it that them both me")
_CALLING = each("cal reach ring phone callback")
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
    sure: bool = False
    """"Is that correct?" about no value."""
    alternative: bool = False
    question: bool = False
    known: bool = False
    """Some of it is about business, or at least English."""
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
    out.checking = any(_checks(clause) for clause in heard)
    if not heard:
        out.known = any(token.text in DROPPED for token in tokens(text[:200]))
    before: Clause | None = None
    mood = choice = False
    consents: list[bool] = []
    for clause in heard:
        consents.append(_consents(clause))
    for at, clause in enumerate(heard):
        labels, row = clause.labels, clause.row
        if before is None or before.sentence != clause.sentence:
            out.sentences.append(Sentence())
        sentence = out.sentences[-1]
        sentence.stems.update(row)
        sentence.row += row
        out.cues.update(labels)
        at_else = labels.get("else", -1)
        if at_else >= 0 and not clause.question and ("not" in row[:at_else] or row[at_else + 3 :][:2] == ["i", "need"]):
            out.cues.discard("else")
        inherits = mood if before is not None else False
        mood = cue(clause, inherits)
        facts = asked(clause, found[at], mood, consents[at])
        sentence.asks = sentence.asks or clause.question or mood
        if consents[at]:
            out.consent = True
            sentence.proposes = True
        stated = clause.question and any(span.hi < len(row) and restates(clause, span.hi) for span in found[at])
        values = restated(clause, found[at], known, out.checking or stated, any(consents) or clause.question)
        if clause.question and "or" in row and not out.checking:
            chosen = [known[fact].group for fact in values.right if known[fact].kind in ("text", "place")]
            facts = facts or [(group, False) for group in chosen]
            choice = choice or bool(chosen)
        elif (
            clause.question
            and row[0] not in ("hav", "do")
            and not any(consents)
            and not _offers(clause)
            and (values.right or values.wrong)
        ):
            named = {known[fact].group for fact in (*values.right, *values.wrong)}
            if not any(word in QUESTION_WORDS for word in row):
                facts = [fact for fact in facts if fact[0] not in named]
            out.checking = True
        if (
            mood
            and not found[at]
            and len(row) < 7
            and at
            and not consents[at]
            and not labels.keys() & {"else", "goal", "whole"}
        ):
            facts = [
                (s.means.fact, False)
                for s in found[at - 1]
                if not s.means.loose and _POINTING.intersection(row) and not out.checking
            ]
        if clause.question and row[-2:] == ["you", "are"] and len(row) < 4:
            facts = [("caller", False)]
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
        sentence.amounts += values.amounts
        out.right += [fact for fact in values.right if fact not in out.right]
        out.wrong += [fact for fact in values.wrong if fact not in out.wrong]
        ends = outcomes(clause)
        sentence.ends |= ends
        out.ends |= ends
        out.actions.update(ACTION_OF[word] for word in row if word in ACTION_OF)
        _wider(clause, out, mood, facts, consents[at], sentence)
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


def _checks(clause: Clause) -> bool:
    """Whether the clause asks to confirm what was said."""
    labels, row = clause.labels, clause.row
    if "check" not in labels:
        return clause.question and len(row) < 6 and any(token.kind > 1 for token in clause.words)
    at = labels["check"]
    word = row[at]
    if clause.question:
        return not (word in ("confirm", "right", "yes") and len(row) > 3 and "consent" in labels)
    if len(row) == 1 and word in ("correct", "right", "accurat"):
        return False
    if word == "confirm":
        return bool(clause.polite) or at == 0 or "you" in row[:at]
    return word in (
        "to",
        "let",
        "mak",
        "correct",
        "verifi",
        "validat",
        "acknowledg",
        "could",
        "can",
        "would",
        "i",
        "you",
    ) and not (word == "i" and row[at + 1] == "am")


def _consents(clause: Clause) -> bool:
    """Whether the clause asks for a go-ahead."""
    labels, row = clause.labels, clause.row
    at = labels.get("consent")
    if labels.keys() & {"else", "goal"}:
        return False
    if at is not None and "confirmation" in row and row[row.index("confirmation") + 1 :][:1] in (["number"], ["email"]):
        at = None
    if clause.question:
        if row[-1] in _TAGS - {"okai"} and row[:2] not in (["is", "that"], ["is", "it"]) and len(row) > 1:
            return False
        if len(row) > 1 and row[-1] in _ALONE and len(row) - 1 in clause.commas:
            return True
        if row in (["may", "i"], ["can", "i"], ["shal", "i"], ["shal", "we"], ["may", "we"]):
            return True
        if row[0] in ACTION_OF and "you" not in row and row[0] != "bil":
            return True
        if "would" in row and any(
            row[near : near + 2] in (["if", "i"], ["if", "we"]) for near in range(1, len(row) - 2)
        ):
            return True
        if row[0] == "mind" and any(word in GET_VERBS for word in row[2:4]):
            return False
        if at is not None and not _asks_first(row, at):
            return True
        if (
            row[0] in _MODAL
            and len(row) > 2
            and row[1] in ("i", "we")
            and (
                (row[2] in _ACTING and row[2] not in GET_VERBS) or row[2] == "then" or (row[2] == "get" and _goal(row))
            )
        ):
            return row[2] != "hav"
        if (
            row[0] in ("is", "are", "would", "wil")
            and row[-1] in _ALONE | {"acceptabl", "agreeabl", "suitabl", "convenient"}
            and row[-1] not in _TAGS - {"okai"}
        ):
            return True
        if row[0] in ("do", "would", "wil", "are", "so", "you", "and") and "you" in row[:3]:
            for near, word in enumerate(row[:5]):
                if (
                    word in ("lik", "want", "wish", "lov", "rather", "prefer")
                    and row[near + 1 : near + 2] == ["to"]
                    and any(w in _ACTING for w in row[near + 2 : near + 5])
                ):
                    return True
        return (len(row) == 1 and row[0] in _ALONE - _TAGS) or row in (
            ["okai"],
            ["confirm"],
            ["do", "you", "confirm"],
            ["can", "you", "confirm"],
            ["could", "you", "confirm"],
        )
    if (
        row == ["confirm"]
        or (row[0] == "confirm" and clause.polite and len(row) < 3)
        or row in (["can", "you", "confirm"], ["could", "you", "confirm"])
    ):
        return True
    if (
        row[0] == "confirm"
        and len(row) > 1
        and row[1] in ACTION_OF
        and not any(token.kind > 1 for token in clause.words)
    ):
        return True
    if _WAITING.intersection(row) and any(
        word in _LEAVE and clause.dets[near] == "your" for near, word in enumerate(row)
    ):
        return True
    if at is None:
        return False
    rest = row[at:]
    if (
        "i" in row[:at]
        and "you" not in row
        and not ("know" in row and "if" in row)
        and "await" not in row
        and "need" not in row
    ):
        return False
    if {"without", "befor", "can", "unabl"} & set(row[:at]) and "me" not in rest:
        return False
    if (row[0] == "if" and rest[:1] != ["if"]) or {"know", "if"} <= set(row[:at]):
        return True
    if {"manager", "he", "she", "they", "supervisor"} & set(row[:at]):
        return False
    return rest[0] in (
        "if",
        "know",
        "tel",
        "green",
        "want",
        "lik",
        "confirm",
        "say",
        "repli",
        "typ",
        "answer",
        "respond",
        "nod",
        "give",
        "wish",
        "with",
        "writ",
        "y",
        "yes",
        "giv",
        "okai",
        "agre",
        "acknowledg",
    ) or (
        rest[0] in ("consent", "permit", "go-ahead", "go", "proceed", "objection")
        and (
            "know" in row
            or ("need" in row and rest[0] not in ("go", "proceed"))
            or "await" in row
            or "say" in row
            or bool(clause.polite)
            or ("if" in row[:at] and "you" in row[:at])
        )
    )


def _goal(row: Sequence[str]) -> bool:
    return any(word in ACTION_OF for word in row)


def _asks_first(row: Sequence[str], at: int) -> bool:
    """A question word before the consent: "which date would you like me to book"."""
    return any(word in ("what", "which", "where", "who", "whose", "why", "when") for word in row[: at + 1]) or (
        row[0] == "how" and row[1:2] != ["do"]
    )


def _offers(clause: Clause) -> bool:
    """Whether the clause offers something else than what was asked for."""
    labels, row = clause.labels, clause.row
    at = labels.get("alternative")
    if at is None or labels.keys() & {"else", "goal", "help"} or clause.hyp <= at:
        return False
    if not (clause.question or _PROPOSING.intersection(row)) or {"not", "no"} & set(row[: at + 2]):
        return False
    return row[0] not in QUESTION_WORDS or "which" in row[:2] or row[0] in ("how", "what")


def _wider(
    clause: Clause, out: Understood, mood: bool, facts: Sequence[object], consents: bool, sentence: Sentence
) -> None:
    """What is not about single facts."""
    labels, row = clause.labels, clause.row
    if "whole" in labels and mood and not facts and "let" not in row[:1] and "hyp" not in labels:
        out.whole = True
    if "contact_detail" in labels and mood and not facts and (clause.question or row[0] not in ("i", "we")):
        if "number" in row and not clause.values:
            out.asks.append(("phone", False))
            return
        for channel in ("phone", "email"):
            if channel in row and (channel, False) not in out.asks:
                out.asks.append((channel, False))
                return
        if clause.values:
            return
        out.contact = out.contact or "contact" in row or ("reach" in row and clause.question)
    if "goal" in labels and not facts:
        out.goal = True
    if not out.known:
        out.known = (
            bool(labels) or bool(DOMAIN.intersection(row)) or sum(word in COMMON for word in row) * 3 >= len(row)
        )
    out.alternative = out.alternative or (not consents and not facts and _offers(clause))
    if clause.question and row[-1] in _TAGS - {"okai"} and not consents:
        sentence.closed = True  # "you have a twin room, correct?" offers nothing
    if clause.question and not facts:
        sentence.proposes = True
    if "alternative" in labels or consents or {"wil", "would", "could", "can"} & set(row):
        sentence.proposes = sentence.proposes or not sentence.ends & {"done", "refused"} or consents
    if clause.question and not facts and not consents:
        if labels.keys() & {"else", "goal", "help", "smalltalk", "bye", "greet", "whole", "contact_detail"}:
            return
        if out.checking and not out.whole and (set(row) <= _BARE or ACTION_OF.keys() & set(row)):
            out.sure = True
            return
        if "wait" in labels or "alternative" in labels:
            return
        out.question = True
