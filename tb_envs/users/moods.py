"""The mood of a clause: does it check what was said, ask for a go-ahead, or offer something else?

Refuses to answer, and to look beyond the clause.
"""

from __future__ import annotations

from .checking import STAFF
from .clauses import Clause
from .consents import TAGS, shaped
from .lexicon import QUESTION_WORDS
from .words import each

_HOW = each("about do feel befit sound if")
_PROPOSING = frozenset(("offer", "propos", "suggest", "alternativ", "alternativeli", "instead", "rather"))
_HELPING = each("else goal help")
_OFFERING = each("would want fanci prefer")
_NO = each("not no")
_MODAL_FIRST = each("would can could may shal should wil")
_ACCEPTED = each("okai alright fin acceptabl agreeabl good suitabl convenient for with you")
_AGREED = each("alright okai fin happi comfortabl agre content willing prepar ready")
_CHOOSING = _PROPOSING | each("prefer option choos befit pick lik fanci choice")
_PICKING = _CHOOSING - {"lik"}
_TAG = each(
    "it is was your that so i we hav get got understand you do did wel properli entri information all here said say now"
    " then not correctli hear no or everything data as one record down"
)
_CERTAIN = each("correct right accurat tru understand exact true properli correctli straight")
_TAKEN = each("note noted get writ wrot tak hear catch put record spel enter read jot hav copi typ")
"""What is done with a value that was told."""
_SOFT = each("okai good fin alright")
_TAIL = _TAG | _CERTAIN | _SOFT
_LEARNING = each("ask know enquir inquir learn recall tel remember wonder hear understand")
_BEGINS_TAG = each("is was your it i all alright okai do did am correct right that good have hav we not")
_TAGGED = [
    text.split()
    for text in ("is it", "is so", "it is so", "is that so", "not so", "not tru", "is it not", "your", "was it")
]
_GIST = each(
    "summari happen said should situ idea pictur request fair good short long wish story case way sum"
    " about rough it broadli basicalli"
    " are ask after from us do me look to"
    " correct right yes accurat true okai is that it all everything so what about problem issue matter case trouble"
    " complaint concern how gist issu point size you need want mean would lik of ask for hav i get request reason was"
    " thing"
)
_DO_AS_WELL = ["do", "as", "wel"]
_GOOD_TO_YOU = (["good", "to", "you"], ["good", "for", "you"], ["use", "to", "you"])
_AS_SHOULD = ["as", "it", "should", "be"]
_I_ASK = ["i", "ask"]
_OPEN = each("what how where when who why whether if")
_DO_YOU_HAVE = ["do", "you", "hav"]
_GISTS = each("is was hav that")
_COULD = (["could", "that", "be"], ["can", "that", "be"], ["could", "that", "be", "right"])
_YOU = each("we you i they")
_YOU_WOULD = ["you", "would"]
_YOU_IT = each("it that they you he she we i")
TAGS_ON = each("it you they that")
TO_BE = each("would is are was were do hav wil")
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
    if (
        row[-1] == "not"
        and row[-3:-2] != []
        and row[-3] in TO_BE
        and row[-2] in TAGS_ON
        and len(row) - 3 in clause.commas
    ):
        return CHECKED  # "…, was it not?"
    if gist(row) and row[2] != "what" and row[0] != "that":
        return CHECKED  # "is that the problem?", "have I got the gist?"
    if row[-1] in ("it", "that") and row[-2:-1] == ["not"] and row[-3:-2] != [] and row[-3] in ("is", "was"):
        return CHECKED  # "Northgate Choir, wasn't it?"
    if row[-4:] == _AS_SHOULD:
        return CHECKED  # "…, all as it should be?"
    if len(row) == 3 and "not" in row[1:] and row[0] in TO_BE and not _YOU_IT.isdisjoint(row[1:]):
        return CHECKED  # "…, doesn't it?", "…, is it not?"
    if row in _COULD or (row[-2:-1] == ["not"] and row[-1] in _YOU and row[-3:-2] != [] and row[-3] in TO_BE):
        return CHECKED  # "…, aren't we?", "could that be?"
    if row[0] in TO_BE and row[-1] in _CERTAIN and 2 < len(row) < 8 and QUESTION_WORDS.isdisjoint(row):
        return CHECKED  # "is the last name spelled correctly?"
    if row[-2:] == ["in", "order"] and len(row) < 6 and row[0] in ("is", "are", "everything", "all"):
        return UNSURE
    if row[-1] not in _TAIL:
        return ""
    size = len(row)
    lo = size
    while lo and lo > size - 7 and row[lo - 1] in _TAIL:
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
    if rest[-1] == "alright" and ("i" in rest or "we" in rest):
        return CHECKED  # "I have it all right?"
    whole = rest[0] in ("is", "all") and len(rest) == 2
    return UNSURE if not _SOFT.isdisjoint(rest) and (whole or rest[-1] == "so") else ""


def checks(clause: Clause, told: str) -> bool:
    """Whether the clause asks to confirm what was said; `told`: what a tag at its end asks."""
    labels, row = clause.labels, clause.row
    if told == CHECKED:
        return True
    if "check" not in labels:
        short = clause.question and len(row) < 6 and "consent" not in labels and row[0] not in _MODAL_FIRST
        return short and bool(clause.values)
    at = labels["check"]
    word = row[at]
    if clause.question:
        if row[-1] in TAGS - {"okai"} and len(row) - 1 in clause.commas:
            return True
        if word in ("is", "would") and shaped(clause):
            return False  # "is that something you would pay?"
        if word in ("is", "was", "are") and not QUESTION_WORDS.isdisjoint(row[:at]):
            return False  # "what is it that you want?"
        if row[at] == "is" and not _ACCEPTED.isdisjoint(row[at + 1 :]) and row[-1] in _ACCEPTED:
            return False  # "is that okay for you?"
        if row[at] == "are" and row[at + 2 : at + 3] and row[at + 2] in _AGREED:
            return False  # "are you all right with that?"
        if row[at] == "you" and row[0] in ("what", "how"):
            return False  # "what do you say?"
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
        and (any(word in _CERTAIN for word in row[2:5]) or (row[-1] in _CERTAIN and not _TAKEN.isdisjoint(row[2:4])))
    )


def offers(clause: Clause) -> bool:
    """Whether the clause offers something else than what was asked for."""
    labels, row = clause.labels, clause.row
    at = labels.get("alternative")
    if at is None and not (clause.question and (row[0] in _OFFERING or row[-3:] in _GOOD_TO_YOU)):
        return False
    if row[0] == "would" and row[-1] == "you" and row[-2] in ("befit", "for") and clause.question:
        return True  # "would Friday suit you?", "would Friday work for you?"
    if row[0] == "would" and row[-1] in ("do", "help", "work") and clause.question and row[1] not in ("it", "that"):
        return True  # "would a voucher do?"
    made = "mak" in row and row[row.index("mak") + 1 :][:1] == ["up"]
    if row[0] == "would" and clause.question and (made or row[-3:] == _DO_AS_WELL):
        return True  # "would three do as well?", "would a drink make up for it?"
    if row[-3:] in _GOOD_TO_YOU and row[0] in ("is", "would") and clause.question:
        return True  # "is 2 pm any good to you?"
    if row[0] in ("want", "fanci", "prefer") and len(row) < 6 and clause.question:
        return True  # "want only the free ones?"
    if row[:3] == _DO_YOU_HAVE and _PROPOSING.isdisjoint(row):
        return False  # "do you have a phone we can call?"
    if row[0] == "do" and "know" in row[1:6]:
        return False  # "do you by any chance know which of them it was?"
    if (clause.question and informs(row)) or row[:2] in (["that", "i"], ["that", "we"]):
        return False  # "… so that I can find it?"
    if "which" in row[:2] and not STAFF.isdisjoint(row):
        return False  # "which of our colleagues did you speak to?"
    if "rather" in row and not clause.question and prefers(row):
        return False  # "I understand that you'd rather not wait in the lobby"
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


def prefers(row: list[str]) -> bool:
    """As in "you'd rather not pay for it": what the customer would rather do is neither offered nor an outcome."""
    at = row.index("rather")
    return row[max(0, at - 2) : at] == _YOU_WOULD


def gist(row: list[str]) -> bool:
    """As in "is that the problem?", "is that what this is about?"."""
    size = len(row)
    if size < 3 or row[0] not in _GISTS or size > (10 if row[2] == "what" else 7):
        return False
    return QUESTION_WORDS.isdisjoint(row[:2]) and _GIST.issuperset(row)


def informs(row: list[str]) -> bool:
    """As in "may I ask which colour it has?", "would you know …?", "may we be of any service?"."""
    if row[1:3] in (["we", "be"], ["i", "be"]) and "of" in row[3:5]:
        return True
    if row[1:3] == _I_ASK and row[3:4] and row[3] in _OPEN and _PICKING.isdisjoint(row):
        return True  # "may I ask what the weather's like?"
    if row[0] not in _MODAL_FIRST | {"do", "did"} or not _CHOOSING.isdisjoint(row):
        return False
    return any(word in _LEARNING for word in row[2:6])
