"""Split what was heard into clauses: rows of stems with the labels that stand in them.

Refuses to judge: a clause says which words and phrases it has, not what they amount to.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .lexicon import ASK_VERBS, LABELS, QUESTION_WORDS, STARTERS
from .phrases import compiled, labels_of
from .spelling import DETERMINERS, POLITE
from .words import DETERMINER, HEDGE, MARK, NOW, PLEASE, RULE, WORD, Is, Token, each, tokens

PHRASES = compiled(LABELS)
MAX_CLAUSES, MAX_WORDS = 120, 60
_PAIRED = {("all", "right"): "alright", ("doubl", "check"): "recheck"}
_PAIRS = frozenset(first for first, _ in _PAIRED)
_IFS = each("if unles once until when")
_PREPOSITIONS = each("before until til")
_SOMEONE = each("i we you he she they it that there manager supervisor someone team housekeeping company approver")
_SOFT = frozenset(",-:")
_JOINING = each("and so then")
_ALWAYS_SPLIT = each("but because although whereas however")
_SPLIT_BEFORE_SUBJECT = each("and or so then nor yet plus")
_NUMBER_AFTER = each(
    "booking confirmation phone card ticket loyalti member polici order account claim case folio employe licens"
    " plate circl"
)
_INTERROGATIVE = QUESTION_WORDS | each("can could may might would will wil shall shal should do is are was were hav am")
_CLAUSAL = each("i we you it they he she is are was hav do wil can could would need")
_AFTER_NO = DETERMINERS | POLITE | each("and or for on of you is first also as with to so")
_COMMA_STARTERS = STARTERS | QUESTION_WORDS


@dataclass(slots=True)
class Clause:
    """A stretch of one sentence with at most one mood."""

    sentence: int = 0
    words: list[Token] = field(default_factory=list[Token])
    row: list[str] = field(default_factory=list[str])
    dets: list[str] = field(default_factory=list[str])
    """For each word, the determiner before it ("your", "my", "no", …) or an empty string."""
    polite: set[int] = field(default_factory=set[int])
    """Where "please" stood before the word."""
    commas: set[int] = field(default_factory=set[int])
    """Where a comma or colon stood before the word."""
    colons: set[int] = field(default_factory=set[int])
    """Where a colon stood before the word."""
    question: bool = False
    now: bool = False
    thus: bool = False
    """It began with "so" after another clause of the sentence."""
    general: bool = False
    """It tells a rule ("usually", "only for …"), not what happened."""
    hedged: bool = False
    """It tells with a "perhaps" what may be."""
    values: list[int] = field(default_factory=list[int])
    """Where it is no plain word: ids, numbers, amounts, dates, addresses."""
    labels: dict[str, int] = field(default_factory=dict[str, int])
    """Label → where it stands first."""
    idle: int = 0
    """Before this word it asks for nothing, whatever it names (see `unasked.py`)."""
    hyp: int = 10_000
    """From this word on, what is said is hypothetical."""
    hyp_word: str = ""
    """The word that makes it so ("if", "once"), in this clause or in one before it."""


def _closes(heard: list[Token], at: int) -> bool:
    """Whether "no" before this place is short for "number": nothing it could negate follows."""
    return at >= len(heard) or heard[at].kind is not Is.WORD or heard[at].text in _AFTER_NO


def _plain(heard: list[Token], at: int) -> bool:
    """Whether words, not a value, follow."""
    return at < len(heard) and heard[at].kind is Is.WORD and not heard[at].capital


def clauses(text: str) -> list[Clause]:
    """The clauses of `text`, in order."""
    out: list[Clause] = []
    clause = Clause()
    sentence, begun = 0, 0  # the first clause of this sentence stands at `begun`
    det = gap = ""
    polite = hedged = False
    heard = tokens(text)
    for at, token in enumerate(heard):
        word, stem, kind, _, _, part = token
        row = clause.row
        if part == WORD:
            if row:
                last = row[-1]
                if last in _PAIRS and (last, stem) in _PAIRED:
                    row[-1] = _PAIRED[last, stem]
                    continue
                if stem in _ALWAYS_SPLIT or len(row) >= MAX_WORDS:
                    out.append(clause)
                    clause = Clause(sentence)
                    det = gap = ""
                    continue
                if (gap or last in _SPLIT_BEFORE_SUBJECT) and (
                    stem in _COMMA_STARTERS or polite or (stem in ASK_VERBS and last in _JOINING)
                ):
                    if last in _SPLIT_BEFORE_SUBJECT:
                        for column in (row, clause.words, clause.dets):
                            column.pop()
                    if row:
                        out.append(clause)
                    clause = Clause(sentence, thus=last == "so")
                    row = clause.row
                elif stem == "no" and last in _NUMBER_AFTER and _closes(heard, at + 1):
                    stem = "number"
            if polite:
                clause.polite.add(len(row))
                polite = False
            if hedged:
                clause.hedged, hedged = True, False
            if gap:
                clause.commas.add(len(row))
                if gap == ":":
                    clause.colons.add(len(row))
                gap = ""
            row.append(stem)
            clause.words.append(token)
            clause.dets.append(det)
            det = ""
            if kind:
                clause.values.append(len(row) - 1)
        elif part == DETERMINER:
            det = word
        elif part == MARK:
            if word in _SOFT and not (word == ":" and _CLAUSAL.intersection(row) and _plain(heard, at + 1)):
                gap = word
                continue
            if row:
                out.append(clause)
                clause = Clause(sentence)
            det, gap, polite = "", "", False
            if word == ":":
                gap = word
                continue
            if word == "?" and begun < len(out):
                out[-1].question = True
                for earlier in out[begun:-1]:
                    earlier.question = earlier.row[0] in _INTERROGATIVE
            if begun < len(out):
                sentence += 1
                begun = len(out)
                if begun > MAX_CLAUSES:
                    break
            clause.sentence = sentence
        elif part == PLEASE:
            polite = True
            if row:
                clause.polite.add(len(row))
        elif row and gap and word in ("only", "just"):  # "I need no e-mail, just your name"
            out.append(clause)
            clause = Clause(sentence)
            det = gap = ""
        elif part == NOW:
            clause.now = True
        elif part == RULE:
            clause.general = True
        elif part == HEDGE:
            hedged = True
    if clause.row:
        out.append(clause)
    _label(out)
    return out


def _label(heard: list[Clause]) -> None:
    """Find the labels of all clauses, and from where on each is hypothetical."""
    hypothetical, why, first_hyp = -1, "", False
    for clause in heard:
        clause.labels = labels = labels_of(PHRASES, clause.row)
        first = labels.get("hyp")
        if first and clause.row[first] == "once" and clause.row[first - 1] == "at":
            del labels["hyp"]  # "at once"
        elif first is not None and clause.words[first].text == "provide":
            del labels["hyp"]  # "provided that …" is one, "could you provide …" is none
            for place, word in enumerate(clause.row):
                if word in _IFS:
                    labels.setdefault("hyp", place)
        if hypothetical == clause.sentence and clause.thus and not first_hyp:
            hypothetical = -1  # "we only do it when he calls, so I can't do anything"
        if hypothetical == clause.sentence:
            clause.hyp, clause.hyp_word = 0, why
        elif (at := labels.get("hyp")) is not None:
            word = clause.row[at]
            follow = clause.row[at + 1] if at + 1 < len(clause.row) else ""
            if (not follow and word == "once") or (word in _PREPOSITIONS and follow not in _SOMEONE):
                continue  # "as I said before", "before arrival", "until tomorrow"
            clause.hyp, clause.hyp_word = at, word
            hypothetical, why, first_hyp = clause.sentence, word, at < 2
