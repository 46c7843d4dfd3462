"""Split what was heard into clauses: rows of stems with the labels that stand in them.

Refuses to judge: a clause says which words and phrases it has, not what they amount to.
"""

from __future__ import annotations

from collections.abc import Set

from .lexicon import ASK_VERBS, LABELS, QUESTION_WORDS, STARTERS
from .phrases import compiled, labels_of
from .spelling import DETERMINERS, POLITE
from .words import (
    AGAIN,
    ALWAYS_SPLIT,
    DETERMINER,
    HEDGE,
    MARK,
    NOW,
    PAIRED,
    PLEASE,
    RULE,
    SLIPS,
    SPLIT_BEFORE_SUBJECT,
    WORD,
    Is,
    Token,
    each,
    plain_word,
    tokens,
)

PHRASES = compiled(LABELS)
MAX_CLAUSES, MAX_WORDS = 120, 60
_PAIRS = frozenset(first for first, _ in PAIRED)
_IFS = each("if unles once until when")
_IN_PLACE = (["which"], ["what"])
"""As in "you come which day, and you go which day?"."""
_PREPOSITIONS = each("before until til")
_SOMEONE = each("i we you he she they it that there manager supervisor someone team housekeeping company approver")
_SOFT = frozenset(",-:")
_JOINING = each("and so then")
_NUMBER_AFTER = each(
    "booking confirmation phone card ticket loyalti member polici order account claim case folio employe licens"
    " plate circl contact email"
)
_TURNING = ALWAYS_SPLIT | {second for _, second in PAIRED} | {"no"}
_JOINED = SPLIT_BEFORE_SUBJECT | _PAIRS
_INTERROGATIVE = QUESTION_WORDS | each("can could may might would will wil shall shal should do is are was were hav am")
_TOLD_TO = each("me us the your a an what which when how who pls please")
_PHONE = plain_word("phone")
_POSSESSED = each(
    "booking reservation surname name last family first email mail phone mobile number card choir group loyalty address"
    " birth date dates confirmation room account e"
)
_NEVER_VERBS = each("surname choir loyalty birth dates")
_OF_BOOKING = each("number please is and or under date")
_CLAUSAL = each("i we you it they he she is are was hav do wil can could would need")
_AFTER_NO = DETERMINERS | POLITE | each("and or for on of you is first also as with to so")
_TRAILS = each("cal nam as of on in from until til at with is are under ending")
_COMMA_STARTERS = STARTERS | QUESTION_WORDS


_DID = each("booked paid chose ordered reserved made bought called asked wrote")
_WAS = each("was were had did")
_NOWHERE = frozenset[int]()


class Clause:
    """A stretch of one sentence with at most one mood.

    What is the same for most clauses is told by the class; a clause has its own only where it differs.
    """

    polite: Set[int] = _NOWHERE
    """Where "please" stood before the word."""
    commas: Set[int] = _NOWHERE
    """Where a comma or colon stood before the word."""
    blank: bool = False
    """A colon ended it: "Booking number:"."""
    colons: Set[int] = _NOWHERE
    """Where a colon stood before the word."""
    question: bool = False
    now: bool = False
    again: bool = False
    """It has an "again": what it tells was otherwise before."""
    thus: bool = False
    """It began with "so" after another clause of the sentence."""
    general: bool = False
    """It tells a rule ("usually", "only for …"), not what happened."""
    usual: bool = False
    """It tells what is so as a rule ("usually"): another thing may hold now."""
    hedged: bool = False
    """It tells with a "perhaps" what may be."""
    idle: int = 0
    """Before this word it asks for nothing, whatever it names (see `unasked.py`)."""
    hyp: int = 10_000
    """From this word on, what is said is hypothetical."""
    adverse: bool = False
    """It began with "but"."""
    cause: bool = False
    """It began with "because"."""
    recognises: bool = False
    """It asks whether the customer recognises what is spoken of."""
    hyp_word: str = ""
    """The word that makes it so ("if", "once"), in this clause or in one before it."""

    def __init__(self, sentence: int = 0) -> None:
        self.sentence = sentence
        self.words: list[Token] = []
        self.row: list[str] = []
        self.dets: list[str] = []
        """For each word, the determiner before it ("your", "my", "no", …) or an empty string."""
        self.values: list[int] = []
        """Where it is no plain word: ids, numbers, amounts, dates, addresses."""
        self.capitals: list[int] = []
        """Where a word begins with a capital letter."""
        self.labels: dict[str, int] = {}
        """Label → where it stands first."""


def _unsay(clause: Clause) -> None:
    """Take the last word back."""
    for column in (clause.row, clause.words, clause.dets):
        column.pop()
    if clause.capitals and clause.capitals[-1] == len(clause.row):
        clause.capitals.pop()


def _owned(heard: list[Token], at: int) -> bool:
    """Whether "you're" before this place is a slip of "your": a thing that one has follows, and no verb."""
    if at >= len(heard) or heard[at].text not in _POSSESSED:
        return False
    follow = heard[at + 1] if at + 1 < len(heard) else None
    return heard[at].text != "booking" or follow is None or follow.part == MARK or follow.stem in _OF_BOOKING


def _yours(heard: list[Token], at: int) -> bool:
    """Whether "you" before this place is a slip of "your": "you surname, please"."""
    if at >= len(heard) or heard[at].text not in _POSSESSED:
        return False
    if heard[at].text in _NEVER_VERBS:
        return True
    if heard[at].text == "email" and (at + 1 == len(heard) or heard[at + 1].part == MARK):
        return at > 1 and heard[at - 2].stem in SPLIT_BEFORE_SUBJECT
    return at + 1 < len(heard) and heard[at + 1].text in ("name", "number", "address", "date")


def _closes(heard: list[Token], at: int) -> bool:
    """Whether "no" before this place is short for "number": nothing it could negate follows."""
    return at >= len(heard) or heard[at].kind is not Is.WORD or heard[at].text in _AFTER_NO


def _purpose(last: Clause, before: Clause) -> bool:
    """As in "and the name, just so I've got the right person?": what comes last says why it is asked."""
    if last.row[0] not in ("i", "we"):
        return False
    if before.dets[0] == "your" and len(before.row) < 6 and _CLAUSAL.isdisjoint(before.row):
        return True  # "your e-mail, so I can send you something in writing?"
    return (before.row[0] == "and" and before.dets[1:2] != [""]) or not QUESTION_WORDS.isdisjoint(before.row[:2])


def trails(clause: Clause) -> bool:
    """As in "and you leave again on...?", "the card ending in...?": a sentence for the customer to complete."""
    row = clause.row
    if not clause.question or row[-1] not in _TRAILS or row[-2:-1] == ["check"]:
        return False
    return row[0] not in _INTERROGATIVE and len(row) > 2


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
    plain = True  # nothing before the next word touches how it is taken: no gap, no "please", no word that joins
    heard = tokens(text)
    row = clause.row
    for at, token in enumerate(heard):
        word, stem, kind, _, capital, part = token
        if part == WORD and plain and len(row) < MAX_WORDS:  # most words; what follows comes to the same for them
            if capital:
                clause.capitals.append(len(row))
            row.append(stem)
            clause.words.append(token)
            clause.dets.append(det)
            det = ""
        elif part < DETERMINER:
            if word in SLIPS:
                if word == "'re":
                    if row and row[-1] == "you" and _owned(heard, at + 1):
                        det = "your"  # "you're booking number"
                        _unsay(clause)
                        plain = False
                        continue
                elif word == "you":
                    if _yours(heard, at + 1):
                        det = "your"
                        continue
                elif det or at + 1 == len(heard) or heard[at + 1].text not in _TOLD_TO:
                    token, stem = _PHONE, "phone"  # "your tel", "tel no", but "tel me"
            if row and (gap or stem in _TURNING or row[-1] in _JOINED or len(row) >= MAX_WORDS):
                last = row[-1]
                if last in _PAIRS and (last, stem) in PAIRED:
                    row[-1] = PAIRED[last, stem]
                    continue
                if stem in ALWAYS_SPLIT or len(row) >= MAX_WORDS:
                    out.append(clause)
                    clause = Clause(sentence)
                    row = clause.row
                    clause.cause = stem == "because"
                    clause.adverse = stem == "but"
                    det = gap = ""
                    continue
                if (gap or last in SPLIT_BEFORE_SUBJECT) and (
                    stem in _COMMA_STARTERS or polite or (stem in ASK_VERBS and last in _JOINING)
                ):
                    if last in SPLIT_BEFORE_SUBJECT:
                        _unsay(clause)
                    if row:
                        out.append(clause)
                    clause = Clause(sentence)
                    clause.thus = last == "so"
                    row = clause.row
                elif stem == "no" and last in _NUMBER_AFTER and _closes(heard, at + 1):
                    stem = "number"
            if polite:
                clause.polite |= {len(row)}
                polite = False
            if hedged:
                clause.hedged, hedged = True, False
            if gap:
                clause.commas |= {len(row)}
                if gap == ":":
                    clause.colons |= {len(row)}
                gap = ""
            if kind:
                clause.values.append(len(row))
            elif capital:
                clause.capitals.append(len(row))
            row.append(stem)
            clause.words.append(token)
            clause.dets.append(det)
            det = ""
            plain = stem not in _JOINED
        elif part == DETERMINER:
            det = word
        elif part == MARK:
            if word in _SOFT and not (word == ":" and _CLAUSAL.intersection(row) and _plain(heard, at + 1)):
                gap, plain = gap if gap == ":" else word, False
                continue
            if row:
                out.append(clause)
                clause = Clause(sentence)
                row = clause.row
            if gap == ":" and out and not row:
                out[-1].blank = True
            det, gap, polite, plain = "", "", False, not hedged
            if word == ":":
                gap, plain = word, False
                continue
            if word == "?" and begun < len(out):
                out[-1].question = True
                for earlier in out[begun:-1]:
                    earlier.question = earlier.row[0] in _INTERROGATIVE or earlier.row[-2:-1] in _IN_PLACE
                if out[-1].thus and begun + 1 < len(out) and _purpose(out[-1], out[-2]):
                    out[-1].question, out[-2].question = False, True
            if begun < len(out):
                sentence += 1
                begun = len(out)
                if begun > MAX_CLAUSES:
                    break
            clause.sentence = sentence
        elif part == PLEASE:
            polite, plain = True, False
            if row:
                clause.polite |= {len(row)}
        elif row and gap and word in ("only", "just"):  # "I need no e-mail, just your name"
            out.append(clause)
            clause = Clause(sentence)
            row = clause.row
            det = gap = ""
        elif part == NOW:
            clause.now = True
        elif part == AGAIN:
            clause.again = True
        elif part == RULE:
            clause.general = True
            clause.usual = clause.usual or word != "only"
        elif part == HEDGE:
            hedged, plain = True, False
    if clause.row:
        out.append(clause)
    _label(out)
    return out


def _back_then(clause: Clause, at: int) -> bool:
    """As in "the price was shown when you booked": when it was, no condition."""
    if clause.row[at + 1 : at + 2] not in (["you"], ["we"]) or at + 2 >= len(clause.row):
        return False
    return (
        at > 1 and clause.words[at + 2].text in _DID and not _WAS.isdisjoint(token.text for token in clause.words[:at])
    )


def _label(heard: list[Clause]) -> None:
    """Find the labels of all clauses, and from where on each is hypothetical."""
    hypothetical, why, first_hyp, unreal = -1, "", False, False
    for clause in heard:
        clause.labels = labels = labels_of(PHRASES, clause.row)
        first = labels.get("hyp")
        if first is None:
            if clause.row[0] == "should" and len(clause.row) > 2 and not clause.question:
                labels["hyp"] = 0  # "should the manager agree, …"
        elif first and clause.row[first] == "once" and clause.row[first - 1] == "at":
            del labels["hyp"]  # "at once"
        elif clause.row[first : first + 2] == ["once", "more"] or (
            clause.row[first] == "when" and _back_then(clause, first)
        ):
            del labels["hyp"]
        elif clause.words[first].text == "provide":
            del labels["hyp"]  # "provided that …" is one, "could you provide …" is none
            for place, word in enumerate(clause.row):
                if word in _IFS:
                    labels.setdefault("hyp", place)
        if hypothetical == clause.sentence and clause.adverse and unreal:
            hypothetical = -1  # "I'd do it if I could, but the house is full"
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
            unreal = word == "if" and clause.row[0] in ("i", "we") and clause.row[1:2] == ["would"]
