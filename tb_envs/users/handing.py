"""What others of the house do about a request now: they were asked, they look at it, they will decide.

Refuses to be asked first: it is consulted only about statements in which the exact patterns found nothing.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import APPROVED, EXCEPT, INABLE, KEPT, PENDING, TICKET
from .lexicon import THIRD
from .phrases import stem_set
from .records import THINGS
from .values import NUMBERS
from .words import Is, each

_PRONOUNS = each("they he she")
_HOUSE = THIRD | stem_set(
    "recipient merchant payee controls treasury ombudsman"
    " housekeeper concierge porter housekeeping reception boss branch chef bank carrier airline insurer revenue"
    " garage kitchen"
)
_ASKABLE = each("hotel property house")
_PARTIES = _HOUSE | _PRONOUNS | _ASKABLE
_JUDGING = stem_set(
    "decide answer reply respond rule review examine consider assess weigh investigate study evaluate inform notify"
    " look see deal check go get call write ring mail email contact reach phone message think sleep determine discuss"
    " have confirm tell"
)
_OPEN = each("decid answer repli respond rul review examin consid assess weigh investig studi evalu")
_BACK = each("you us back me into through touch over")
_ASKED = each(
    "ask told tell inform writ instruct messag alert ring cal contact put brought bring took tak consult rais"
)
_BASES = each("ask tell call ring write message alert contact inform")
_MATTERS = stem_set(
    "yours case file request claim matter question complaint wish message paperwork papers application appeal inquiry"
    " enquiry application form change refund bill charge charges stay stays booking it that this"
)
_ARRIVED = stem_set("go reach land arrive find lie sit lay stand")
_DESKS = stem_set("desk table hands court inbox")
_NOT = each("not no never nothing none neither nobodi if would could might may can")
_STAYING = each("remain stand stai stay")
_STAYS = each("stays remains stands stay remain stand")
_DUTY = each("hav must need wil")
_LEAVING = each("leav keep")
_HOLDING = each("keep prevent stop bar hinder")
_NONE = each("nothing no none not")
_FREE = stem_set("free left available open vacant")
_NOTHING = ["there", "is", "nothing"]
_BETTER = each("better nicer larger bigger higher cheaper")
_EXCEPTION = each("exception exceptions")
_BEING = each("is are")
_PLACED = (["on"], ["in"], ["with"], ["at"], ["before"])
_DECIDED = each("decid confirm settl determin clear")
_THAT_DAY = each("arriv day check morning spot itself desk recept front")
_LATER = each("whether depend until til befor once when as")
_NEWS = stem_set("answer decision reply result letter verdict response ruling")
_COMES = stem_set("come arrive land follow due reach expect")
_PAST = each("had was were")
_TRIGGERS = _PARTIES.union(
    _ASKABLE, _STAYING, _LEAVING, _HOLDING, _EXCEPTION, _DESKS, _NEWS, each("nothing none neither no not noon midnight")
)


def others(clause: Clause, found: set[str]) -> None:
    """Adds what the clause tells of others, or of what stays as it is."""
    row = clause.row
    if (
        (clause.hyp < len(row) and clause.hyp_word not in _LATER)
        or clause.hedged
        or _TRIGGERS.isdisjoint(row)
        or len(row) < 2
    ):
        return
    if not _EXCEPTION.isdisjoint(row) and _NOT.isdisjoint(row):
        found.add(EXCEPT)
    elif _limits(clause):
        found.add(INABLE)
    elif _says_yes(clause):
        found.add(APPROVED)
    elif not _PARTIES.isdisjoint(row) and _judge(clause):
        found.add(PENDING if not _OPEN.isdisjoint(row) else TICKET)
    elif not _NEWS.isdisjoint(row) and _answer_comes(clause):
        found.add(PENDING)
    elif _asked(clause) or _lies(clause) or _on_the_day(clause):
        found.add(TICKET)
    elif _unchanged(clause) or _none_free(clause):
        found.add(KEPT)


def _says_yes(clause: Clause) -> bool:
    """As in "she said yes", "my manager has agreed to it"."""
    row = clause.row
    if "agre" in row and _NOT.isdisjoint(row) and not _PARTIES.isdisjoint(row[:4]):
        at = row.index("agre")
        rest = row[at + 1 :]
        if clause.words[at].text == "agreed" and at < 6:
            return (
                not rest
                or (rest[0] == "to" and any(t.kind > Is.MARK or t.text in NUMBERS for t in clause.words[at:]))
                or (rest[0] in ("it", "that", "to", "with") and not THINGS.isdisjoint(rest[:3]))
            )
    if "yes" not in row:
        return False
    at = row.index("yes")
    return at > 1 and clause.words[at - 1].text == "said" and row[at - 2] in _PARTIES


def _judge(clause: Clause) -> bool:
    """As in "they answer within two days", "housekeeping decides that in the morning"."""
    row = clause.row
    if not _NOT.isdisjoint(row) or row[0] in ("i", "we", "you"):
        return False
    subject = next((at for at, word in enumerate(row[:5]) if word in _PARTIES), -1)
    if subject < 0 or (subject and row[0] in ("with", "from", "by", "at", "in", "on", "for", "to", "of")):
        return False
    for at in range(subject + 1, min(len(row), subject + 9)):
        word, text = row[at], clause.words[at].text
        if text in _PAST:
            return False
        if word in _JUDGING:
            if text.endswith("ed") or text in ("went", "got", "wrote", "told", "called", "had", "thought", "rang"):
                return False
            if word == "tel":
                return row[at - 1] == "wil" and row[at + 1 : at + 2] == ["you"]
            if word == "confirm":
                return row[at - 1] == "wil"
            if word in _OPEN:
                return True
            if text[-3:] == "ing" and word in ("look", "check"):
                return not _MATTERS.isdisjoint(row[at + 1 : at + 5])  # "the manager's looking at it"
            rest = row[at + 1 : at + 6]
            if word in ("see", "deal") and row[at - 1] == "wil":
                return rest[:2] in (["to", "it"], ["with", "it"], ["to", "that"], ["with", "that"])
            if word in ("sleep", "think"):
                return "it" in rest
            if word == "hav":
                if row[-1] in _OPEN and row[-2] == "to" and "day" in row[at:]:
                    return True  # "the office has up to ten days to answer"
                return not _MATTERS.isdisjoint(rest) and (clause.now or "sinc" in rest)
            return not _BACK.isdisjoint(rest[:3])
    return False


def _answer_comes(clause: Clause) -> bool:
    """As in "their decision comes by mail", "an answer arrives within ten days"."""
    row = clause.row
    at = next((at for at, word in enumerate(row[:3]) if word in _NEWS), 9)
    if not _NOT.isdisjoint(row) or not all(word in THIRD for word in row[:at]):
        return False
    return any(
        word in _COMES and clause.words[near].text not in ("came", "arrived", "landed", "reached")
        for near, word in enumerate(row[at + 1 : at + 4], at + 1)
    )


def _asked(clause: Clause) -> bool:
    """As in "the duty manager has been asked", "I've brought the charges up with housekeeping"."""
    row = clause.row
    if (_HOUSE.isdisjoint(row) and _ASKABLE.isdisjoint(row)) or not _NOT.isdisjoint(row):
        return False
    for at, word in enumerate(row[:8]):
        if word in _OPEN and at and row[at - 1] in ("is", "are", "be"):
            return row[at + 1 : at + 2] == ["by"] and not _HOUSE.isdisjoint(row[at + 2 : at + 6])
        if word in _ASKED and at:
            before = row[:at]
            if clause.words[at].text in _BASES:
                continue  # "I've had a call from my boss"
            if before[-1] == "been":
                return not _HOUSE.isdisjoint(before)
            if "hav" in before and row[0] in ("i", "we"):
                rest = row[at + 1 : at + 8]
                if word == "rais":
                    return "with" in rest and not _MATTERS.isdisjoint(rest[:1])  # "I've raised it with housekeeping"
                if word in ("put", "brought", "bring", "took", "tak"):
                    return ("up" in rest or "to" in rest or "before" in rest) and not _MATTERS.isdisjoint(rest)
                return not _HOUSE.isdisjoint(rest[:4]) or (word == "ask" and not _ASKABLE.isdisjoint(rest[:1]))
    return False


def _lies(clause: Clause) -> bool:
    """As in "your complaint has reached the director", "the ball is in their court", "it went over to sales"."""
    row = clause.row
    if row[0] in ("i", "you", "we") or not _NOT.isdisjoint(row):
        return False
    for at, word in enumerate(row[1:8], 1):
        if word in _ARRIVED or (word in ("is", "are", "hav") and not _DESKS.isdisjoint(row[at:])):
            if word in _BEING and row[at + 1 : at + 2] not in _PLACED:
                if row[at + 1 : at + 2] == ["go"]:
                    continue  # "it's gone to my manager"
                return False
            if _MATTERS.isdisjoint(row[:at]) and "ball" not in row and word != "hav":
                return False
            rest = row[at + 1 :]
            theirs = any(det in ("their", "his", "her", "its") for det in clause.dets[at + 1 :])
            return not _HOUSE.isdisjoint(rest[:5]) or (theirs and not _DESKS.isdisjoint(rest))
    return False


def _on_the_day(clause: Clause) -> bool:
    """As in "upgrades are decided on arrival"."""
    row = clause.row
    for at in range(2, min(len(row) - 2, 8)):
        if row[at] in _DECIDED and row[at - 1] in ("is", "are", "be"):
            return row[at + 1] in ("on", "upon", "at") and not _THAT_DAY.isdisjoint(row[at + 2 : at + 4])
    return False


def _limits(clause: Clause) -> bool:
    """As in "house rules keep me from touching it"."""
    row = clause.row
    for at, word in enumerate(row[:-2]):
        if word in _HOLDING:
            return at > 0 and row[at + 1] in ("me", "us") and row[at + 2] == "from"
    return False


def _unchanged(clause: Clause) -> bool:
    """As in "the rooms remain with you", "I have to leave your stay where it is", "noon it is"."""
    row = clause.row
    held = row[-2:-1] == ["it"] and row[-1] in ("is", "remain", "stai") and len(row) < 6
    if held and (row[-3:-2] == ["noon"] or (row[-1] != "is" and clause.values)):
        return True
    for at, word in enumerate(row):
        if word in _STAYING and at:
            before = row[max(0, at - 4) : at]
            if not _NOT.isdisjoint(before) or "you" in before or "i" in before or before[-2:-1] == ["one"]:
                return False
            if clause.words[at].text not in _STAYS or clause.dets[at]:
                continue
            if before[-1] in _DUTY or before[-2:] in (["hav", "to"], ["need", "to"]):
                return not THINGS.isdisjoint(before)
            if before[-1] in THINGS and before[-1] not in ("it", "they", "that", "one", "everything", "al"):
                return clause.words[at].text != "stay" or word != "stai"
        elif word in _LEAVING and at > 1 and row[0] != "you" and not _DUTY.isdisjoint(row[at - 2 : at]):
            return row[at - 1] in ("to", "must") and not THINGS.isdisjoint(row[at + 1 : at + 4])
    return False


def _none_free(clause: Clause) -> bool:
    """As in "there's nothing free that week", "neither of them can come out"."""
    row = clause.row
    if row[0] == "nothing" and row[-1] in _FREE and len(row) < 7 and row[1] in _BETTER:
        return True  # "nothing better is left"
    if row[:3] == _NOTHING and row[3:4] != [] and row[3] in _BETTER:
        return "you" in row  # "there's nothing better than what you have"
    if row[:2] == ["there", "is"] and row[2:3] in (["nothing"], ["no"], ["none"], ["not"]):
        return not _FREE.isdisjoint(row[3:8])
    if row[0] in ("i", "we") and row[1:2] == ["hav"] and not _NONE.isdisjoint(row[2:4]):
        return not _FREE.isdisjoint(row[3:8])  # "we've got nothing better left"
    for at, word in enumerate(row[:5]):
        if word in ("neither", "none"):
            return "can" in row[at : at + 5] and not any(token.kind is Is.AMOUNT for token in clause.words)
    return False
