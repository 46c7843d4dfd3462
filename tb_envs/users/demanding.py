"""How a statement demands to be told something: what is missing, what would help, the items of a list.

Refuses questions and commands: those are the business of `wishing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .clauses import Clause
from .phrases import Span, stem_set
from .words import Is, each

MODAL = each("can could may might shal should would wil")
SUBJECTS = each("i we you they he she it")
VERBS = SUBJECTS | each("is are was were hav do wil can could would should may might be been am has")
GAVE = ("sent", "said", "told", "gave", "given", "asked", "forgot", "written", "wrote")
_BLANK = each("blank empti unfil mandatori obligatori compulsori indispensabl")
_REMAINING = each("mis open remain outstanding lack leav left absent")
_ITEMS = stem_set("thing item piece detail bit point information what one only just last that field box entry")
_HELPFUL = stem_set(
    "help bring put get clear tell settle solve speed save make lead allow enable let suffice show hurt narrow point"
    " take do identify distinguish answer resolve move complete"
)
_GETTING = stem_set("have get learn know receive hear obtain see take note")
_OBLIGED = stem_set("grateful thankful obliged glad happy thank oblige")
FRAMES = _BLANK | _OBLIGED | _REMAINING | _HELPFUL
_MOMENTS = stem_set("second minute moment bit while hour day time instant jiffy")
_GRANTING = each("giv let me leav allow grant just")
NOT_TELLERS = stem_set(
    "guests customers people callers visitors travellers members colleagues they he she records system screen others"
)
_LACKING = each("not no never nothing unabl stuck imposs impossibl hard difficult cannot lost blind help helpless")
_NOT_YET = each("happi glad try let wil shal")
_PREDICATES = each("is are be would wil suffic handi i we without on to at within could you if")
"""First words of phrases that may follow the thing that is asked for: "your e-mail is needed"."""
_OPEN = each("outstanding needed required mis open lack wanted")
_LACKS = stem_set("require need lack want")
_TOLD_OF = each("is are was were hav not do wil would see find giv send")
_LINKING = each("is are nameli only for")
_KINDS = each("tim number date address addres")
_RECORDING = stem_set("note record write enter fill put collect take ask have get obtain list complete register jot")
_OBLIGING = stem_set("oblige require ask want instruct tell force compel order")
_PAPERS = stem_set(
    "card form list sheet slip note mask ticket thing item point field box following here down three two"
)
_ENOUGH = stem_set("need require start begin happy enough suffice able go proceed work find help do able ready set")
_HAVING = stem_set("noted have got see record file know stand")
_JOINING = each("and plu then")
_SOON = each("moment minut second bit")
_WITH = each("with by via under through use from")
_SEARCHING = stem_set("find look search locate trace identify pull")
_NONE = each("no not nothing none")
_HOLDING = stem_set("contain include show list hold give use change match differ tell say print")
_WANTED = each("want need requir wish")
_ASKED_FOR = each("needed required wanted requested")
_RELATIVE = each("you we i that which who it on for under use as in with")


HEADING = _OPEN | _WANTED | _LACKS
"""Words that close a heading: "details needed - …"."""


def item(clause: Clause, found: Sequence[Span]) -> bool:
    """An item of a list of what is wanted: "the number of nights you parked with us", "contact (surname)"."""
    row, first, last = clause.row, found[0], found[-1]
    if "not" in row:
        return False
    if last.hi == len(row) and ((len(row) < 6 and VERBS.isdisjoint(row)) or (not first.lo and first.hi == len(row))):
        return True
    lo = first.lo
    if lo and not (lo == 1 and (clause.words[0].kind is Is.NUMBER or row[0] in _JOINING)):
        return False
    if lo and first.means.loose and first.hi < len(row) and row[0] in _JOINING and clause.dets[lo]:
        return bool(clause.dets[first.hi]) or row[first.hi] in _RELATIVE  # "and the booking the nights belong to"
    if first.means.loose or first.hi == len(row):
        return False
    if last.hi == len(row) and len(row) < 10 and VERBS.isdisjoint(row):
        return True  # "last four digits of the payment card"
    if row[first.hi] not in _RELATIVE:
        return bool(clause.dets[first.hi]) or (first.hi == len(row) - 1 and row[-1] in _KINDS)
    return not (
        row[first.hi] in ("i", "we") and row[first.hi + 1 : first.hi + 2] in (["see"], ["hav"], ["find"], ["know"])
    )


def closing(clause: Clause, last: Span) -> bool:
    """As in "I need the number and, so that I can write to you, your e-mail": the list goes on after an aside."""
    return last.lo > 2 and last.lo in clause.commas and clause.dets[last.lo] in ("your", "the") and not last.means.loose


def headline(clause: Clause, first: Span) -> bool:
    """As in "Phone number we can ring you on"."""
    row = clause.row
    if first.lo or first.means.loose or first.hi == len(row) or row[first.hi] not in ("we", "i", "you"):
        return False
    return clause.dets[0] in ("", "a") and len(row) < 10 and _TOLD_OF.isdisjoint(row[first.hi :])


def must_record(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "our script obliges me to note a telephone contact", "I am to write on this card: your surname"."""
    row = clause.row
    at = row.index("to")
    if at < 2 or at + 1 == len(row) or row[at + 1] not in _RECORDING:
        return False
    if not (row[at - 2] in ("i", "we") and row[at - 1] in ("am", "are", "is", "hav")) and not (
        row[at - 2] in _OBLIGING and row[at - 1] in ("me", "us")
    ):
        return False
    if found and not all(span.means.loose for span in found):
        return found[-1].lo > at and (clause.dets[found[0].lo] in ("your", "a", "an") or bool(clause.colons))
    return row[-1] in _PAPERS


def enumerates(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "for my list: number of nights, surname", "your surname, your e-mail: with these I can start"."""
    row, colon = clause.row, min(clause.colons)
    if "not" in row:
        return False
    if found[0].lo >= colon:
        tail = row[found[-1].hi : found[-1].hi + 1]
        if row[0] == "for" and colon < 6 and found[0].lo == colon and (not tail or tail[0] in _RELATIVE):
            return True
        return len(found) > 1 and colon < 7 and (not tail or tail[0] in _WANTED) and _titles(clause, colon)
    if found[0].lo or len(found) < 2 or found[-1].hi != colon or not _HAVING.isdisjoint(row[colon:]):
        return False
    return not _ENOUGH.isdisjoint(row[colon:])


def searches(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "I can find it with the surname and the day of arrival"."""
    row, lo = clause.row, found[0].lo
    if (
        row[1] not in ("can", "could")
        or not lo
        or row[lo - 1] not in _WITH
        or "not" in row
        or clause.values
        or clause.now
    ):
        return False
    return _SOON.isdisjoint(row) and not found[0].means.loose and not _SEARCHING.isdisjoint(row[2:6])


def _titles(clause: Clause, colon: int) -> bool:
    """As in "To identify you: (1) booking number (2) surname", "Data: booking number, name"."""
    if not (_HAVING | _HOLDING).isdisjoint(clause.row[:colon]) or "our" in clause.dets[:colon]:
        return False
    return all(
        (token.text == "you" or token.stem not in VERBS) and (token.text[-2:] != "ed" or token.text in _ASKED_FOR)
        for token in clause.words[:colon]
    )


def on_file(row: list[str], found: Sequence[Span]) -> bool:
    """As in "his surname and e-mail we have on file"."""
    return len(found) > 1 and found[0].lo == 0 and row[found[-1].hi :][:3] == ["we", "hav", "on"]


def heading(clause: Clause) -> bool:
    """As in "Particulars outstanding: …", "Processing requires: …"."""
    row = clause.row
    end = min(clause.colons or clause.commas, default=len(row))
    open_ = row[end - 1] in _OPEN or clause.words[end - 1].text in _ASKED_FOR
    if not clause.colons and (not open_ or not _NONE.isdisjoint(row[:end])):
        return False
    if not 1 < end < 5 or VERBS.intersection(row[:end]):
        return False
    return open_ or (row[end - 1] in _LACKS and clause.words[end - 1].text.endswith("s"))


def in_force(clause: Clause, at: int, found: Sequence[Span]) -> bool:
    """Whether the phrase of asking that stands at `at` asks: not told of the past, and not of what stands before it."""
    row, text = clause.row, clause.words[at].text
    if not clause.question and not _MOMENTS.isdisjoint(row[at : at + 6]) and row[at] in _GRANTING:
        return False  # "give me two minutes to read it"
    if row[at] == "without" and at and not clause.question and _LACKING.isdisjoint(row):
        return False
    if row[at] == "understand" and row[at - 1 : at] in (["i"], ["we"], ["do"], ["can"]) and not clause.question:
        return False  # "I do understand why"
    if row[at] in ("tel", "giv", "send") and at and row[at - 1] in NOT_TELLERS and at not in clause.commas:
        return False  # "guests tell us how much they like it"
    if row[at] == "find" and not _NOT_YET.isdisjoint(row[:at]):
        return False  # "I'd be happy to find out why"
    if (
        text in GAVE
        or text == "depending"
        or (text == "ask" and row[at - 1 : at] not in ([], ["i"], ["we"], ["me"], ["us"], ["to"]))
    ):
        return False
    if "nothing" in row[:at] and "but" not in row and "except" not in row:
        return False
    if row[at] in ("i", "we") and "wait" in row[at : at + 4]:
        return clause.question or any(clause.dets[span.lo] == "your" for span in found)
    return clause.question or not found or row[at] in _PREDICATES or found[-1].hi > at


def aimed(clause: Clause, at: int, found: Sequence[Span]) -> bool:
    """Whether what is named is what the verb at `at` wants: "I have the number, give me a second" wants none."""
    if clause.question or clause.polite:
        return True
    if clause.row[at] in _GRANTING and not _MOMENTS.isdisjoint(clause.row[at : at + 6]):
        return False
    return not found or found[-1].hi > at


def frames(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "the surname field is blank", "I should be grateful to learn your name", "only the e-mail is missing"."""
    row = clause.row
    if not _BLANK.isdisjoint(row) and "leav" not in row and all(token.text != "drawn" for token in clause.words):
        return True
    if not _OBLIGED.isdisjoint(row[:7]) and not MODAL.isdisjoint(row):
        for at, word in enumerate(row):
            if word == "for" and "would" in row:
                return True
            if word in ("to", "could", "might", "may") and not _GETTING.isdisjoint(row[at + 1 : at + 2]):
                return True
    found = [span for span in found if not span.means.loose]
    if not found:
        return False
    lo = found[0].lo
    if not _REMAINING.isdisjoint(row[:lo]) and not _ITEMS.isdisjoint(row[:lo]):
        return clause.words[lo - 1].stem in _LINKING or lo in clause.commas or "leav" in row[:lo]
    hi = found[-1].hi
    return lo < 2 and row[hi : hi + 1] == ["would"] and not _HELPFUL.isdisjoint(row[hi + 1 : hi + 3])
