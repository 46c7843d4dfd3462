"""The mood of a clause: does it check what was said, ask for a go-ahead, or offer something else?

Refuses to answer, and to look beyond the clause.
"""

from __future__ import annotations

from .checking import STAFF
from .clauses import Clause
from .consents import TAGS as _TAGS
from .consents import shaped
from .lexicon import QUESTION_WORDS
from .words import each

_HOW = each("about do feel suit sound if")
_PROPOSING = frozenset(("offer", "propos", "suggest", "alternativ", "alternativeli", "instead", "rather"))
_HELPING = each("else goal help")
_NO = each("not no")
_MODAL_FIRST = each("would can could may shal should wil")
_ACCEPTED = each("okai alright fin acceptabl agreeabl good suitabl convenient for with you")
_CHOOSING = _PROPOSING | each("prefer option choos suit pick lik fanci choice")
_TAG = each(
    "it is was your that so i we hav get got understand you do did wel properli entri information all here said say now"
    " then not correctli hear no or everything data as one record down"
)
_CERTAIN = each("correct right accurat tru understand exact true properli correctli straight")
_SOFT = each("okai good fin alright")
_LEARNING = each("ask know enquir inquir learn recall tel remember wonder hear understand")
_BEGINS_TAG = each("is was your it i all alright okai do did am correct right that good have hav we not")
_TAGGED = [
    text.split()
    for text in ("is it", "is so", "it is so", "is that so", "not so", "not tru", "is it not", "your", "was it")
]
CHECKED, UNSURE = "checked", "unsure"


def tag(clause: Clause) -> str:
    """What a tag at the clause's end asks, in anyone's English.

    `checked`: whether what was said is right ("it is right?", "I understand good?"); `unsure`: that, or a go-ahead
    ("ok so?"); empty: there is none.
    """
    row = clause.row
    if not clause.question:
        return ""
    if _certain(row):
        return CHECKED
    size = len(row)
    lo = size
    while lo and lo > size - 7 and (row[lo - 1] in _TAG or row[lo - 1] in _CERTAIN or row[lo - 1] in _SOFT):
        lo -= 1
    while lo < size and (row[lo] not in _BEGINS_TAG or (lo and lo not in clause.commas and row[lo] == "that")):
        lo += 1
    rest = row[lo:]
    if lo and lo not in clause.commas and len(rest) < 3:
        return ""
    if rest in _TAGGED:
        return CHECKED
    if "understand" in rest or "get" in rest:
        return CHECKED if "i" in rest or "we" in rest else ""
    if len(rest) < 2 or (rest[0] == "i" and "hav" not in rest):
        return ""
    if not _CERTAIN.isdisjoint(rest):
        return CHECKED
    whole = rest[0] in ("is", "all") and len(rest) == 2
    return UNSURE if not _SOFT.isdisjoint(rest) and (whole or rest[-1] == "so") else ""


def checks(clause: Clause) -> bool:
    """Whether the clause asks to confirm what was said."""
    labels, row = clause.labels, clause.row
    if tag(clause) == CHECKED:
        return True
    if "check" not in labels:
        short = clause.question and len(row) < 6 and "consent" not in labels and row[0] not in _MODAL_FIRST
        return short and any(token.kind > 1 for token in clause.words)
    at = labels["check"]
    word = row[at]
    if clause.question:
        if row[-1] in _TAGS - {"okai"} and len(row) - 1 in clause.commas:
            return True
        if word in ("is", "would") and shaped(clause):
            return False  # "is that something you would pay?"
        if word in ("is", "was", "are") and not QUESTION_WORDS.isdisjoint(row[:at]):
            return False  # "what is it that you want?"
        if row[at] == "is" and not _ACCEPTED.isdisjoint(row[at + 1 :]) and row[-1] in _ACCEPTED:
            return False  # "is that okay for you?"
        return not (word in ("confirm", "right", "yes") and len(row) > 3 and "consent" in labels)
    if (len(row) == 1 and word in ("correct", "right", "accurat")) or (word == "to" and row[at - 1 : at] == ["is"]):
        return False
    if word == "confirm":
        return bool(clause.polite) or at == 0 or ("you" in row[:at] and "thank" not in row[:at])
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
        "if",
    ) and not (word == "i" and row[at + 1] == "am")


def _certain(row: list[str]) -> bool:
    """As in "do I understand correctly that …?", "am I right in thinking …?"."""
    return (
        row[0] in ("do", "did", "hav", "am", "are", "is")
        and row[1:2] in (["i"], ["we"], ["it"])
        and any(word in _CERTAIN for word in row[2:5])
    )


def offers(clause: Clause) -> bool:
    """Whether the clause offers something else than what was asked for."""
    labels, row = clause.labels, clause.row
    at = labels.get("alternative")
    if row[0] == "would" and row[-1] == "you" and row[-2] in ("suit", "for") and clause.question:
        return True  # "would Friday suit you?", "would Friday work for you?"
    if row[0] == "would" and row[-1] in ("do", "help", "work") and clause.question and row[1] not in ("it", "that"):
        return True  # "would a voucher do?"
    if row[0] in ("want", "fanci", "prefer") and len(row) < 6 and clause.question:
        return True  # "want only the free ones?"
    if row[0] == "do" and "know" in row[1:6]:
        return False  # "do you by any chance know which of them it was?"
    if (clause.question and informs(row)) or row[:2] in (["that", "i"], ["that", "we"]):
        return False  # "… so that I can find it?"
    if "which" in row[:2] and not STAFF.isdisjoint(row):
        return False  # "which of our colleagues did you speak to?"
    if at is None or "wait" in labels or not _HELPING.isdisjoint(labels) or clause.hyp <= at:
        return False
    if not (clause.question or _PROPOSING.intersection(row)) or not _NO.isdisjoint(row[: at + 2]):
        return False
    return (
        row[0] not in QUESTION_WORDS
        or "which" in row[:2]
        or (row[0] == "how" and not _HOW.isdisjoint(row))
        or (row[0] == "what" and row[1:2] in (["about"], ["if"], ["do"], ["would"]))
    )


def informs(row: list[str]) -> bool:
    """As in "may I ask which colour it has?", "would you know …?", "may we be of any service?"."""
    if row[1:3] in (["we", "be"], ["i", "be"]) and "of" in row[3:5]:
        return True
    if row[0] not in _MODAL_FIRST | {"do", "did"} or not _CHOOSING.isdisjoint(row):
        return False
    return any(word in _LEARNING for word in row[2:6])
