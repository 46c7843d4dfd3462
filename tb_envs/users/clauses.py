"""Split what was heard into clauses: rows of stems with the labels that stand in them.

Refuses to judge: a clause says which words and phrases it has, not what they amount to.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .lexicon import ASK_VERBS, LABELS, QUESTION_WORDS, STARTERS
from .phrases import DETERMINERS, FILLERS, POLITE, Span, compiled, every
from .words import Is, Token, each, tokens

PHRASES = compiled(LABELS)
MAX_CLAUSES = 160
_ALWAYS_SPLIT = each("but because although whereas however")
_SPLIT_BEFORE_SUBJECT = each("and or so then nor yet plus")
_NUMBER_AFTER = each(
    "booking confirm phone card ticket loyalti member polici order account claim case folio employe licens"
)
_INTERROGATIVE = QUESTION_WORDS | each("can could may might would will wil shall shal should do is are was were hav am")
_CLAUSAL = each("i we you it they he she is are was hav do wil can could would need")
_GENERAL = each("usually generally normally typically only")
_AFTER_NO = DETERMINERS | POLITE | each("and or for on of you is first also as with to so")
_COMMA_STARTERS = STARTERS | QUESTION_WORDS


@dataclass(slots=True)
class Clause:
    """A stretch of one sentence with at most one mood."""

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
    sentence: int = 0
    question: bool = False
    now: bool = False
    general: bool = False
    """It tells a rule ("usually", "only for …"), not what happened."""
    spans: list[Span] = field(default_factory=list[Span])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    """Label → where it stands first."""
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
    sentence, det, gap = 0, "", ""
    polite = False
    begun = 0  # the first clause of this sentence in `out`
    heard = tokens(text)
    for at, token in enumerate(heard):
        if token.kind is Is.MARK:
            mark = token.text
            if mark in ",-" or (mark == ":" and not (_CLAUSAL.intersection(clause.row) and _plain(heard, at + 1))):
                gap = mark
                continue
            if mark == ":":
                out.append(clause)
                clause = Clause(sentence=sentence)
                det, gap, polite = "", ":", False
                continue
            if clause.row:
                out.append(clause)
                clause = Clause()
            if mark == "?" and begun < len(out):
                out[-1].question = True
                for earlier in out[begun:-1]:
                    earlier.question = earlier.row[0] in _INTERROGATIVE
            if begun < len(out):
                sentence += 1
                begun = len(out)
                if len(out) > MAX_CLAUSES:
                    break
            clause.sentence = sentence
            det, gap, polite = "", "", False
            continue
        word, stem = token.text, token.stem
        if word in DETERMINERS:
            det = word
            continue
        if word in FILLERS:
            if word in POLITE:
                polite = True
                if clause.row:
                    clause.polite.add(len(clause.row))
            elif word == "now":
                clause.now = True
            elif word in _GENERAL:
                clause.general = True
            continue
        row = clause.row
        if row:
            last = row[-1]
            if stem == "right" and last == "all":
                row[-1] = "alright"
                continue
            if stem in _ALWAYS_SPLIT:
                out.append(clause)
                clause = Clause(sentence=sentence)
                det, gap = "", ""
                continue
            if (last in _SPLIT_BEFORE_SUBJECT or gap) and (
                stem in _COMMA_STARTERS or polite or (stem in ASK_VERBS and last in ("and", "so", "then"))
            ):
                if last in _SPLIT_BEFORE_SUBJECT:
                    for column in (clause.row, clause.words, clause.dets):
                        column.pop()
                if clause.row:
                    out.append(clause)
                clause = Clause(sentence=sentence)
                row = clause.row
            elif stem == "no" and last in _NUMBER_AFTER and _closes(heard, at + 1):
                stem = "number"
        if polite:
            clause.polite.add(len(row))
            polite = False
        if gap:
            clause.commas.add(len(row))
            if gap == ":":
                clause.colons.add(len(row))
            gap = ""
        row.append(stem)
        clause.words.append(token)
        clause.dets.append(det)
        det = ""
    if clause.row:
        out.append(clause)
    hypothetical, why = -1, ""
    for clause in out:
        labels = clause.labels
        clause.spans = every(PHRASES, clause.row)
        for span in clause.spans:
            for label in span.means:
                labels.setdefault(label, span.lo)
        if hypothetical == clause.sentence:
            clause.hyp, clause.hyp_word = 0, why
        elif "hyp" in labels:
            clause.hyp = labels["hyp"]
            if clause.hyp == len(clause.row) - 1 and clause.hyp and clause.row[clause.hyp] in ("before", "once"):
                clause.hyp = 10_000  # "as I said before"
                continue
            clause.hyp_word = why = clause.row[clause.hyp]
            hypothetical = clause.sentence
    return out
