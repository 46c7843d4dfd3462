"""States that seal a request, or keep it open for others.

Refuses what is told by a verb of doing: that is `deeds.py` and `finishing.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import ANSWERS, APPROVED, DEED, DONE, KEPT, MODAL, OBSTACLE, PAPERS, PENDING, PROMISE, REFUSED, TICKET, WAIT
from .lexicon import THIRD
from .phrases import stem_set
from .records import THINGS
from .words import Is, each

_HOUSE = THIRD | stem_set("housekeeping reception garage kitchen bar spa finance accounts loyalty sales revenue")
UNTIL = each("until til before")
_ENDING = stem_set(
    "confirm look decide review approve check sign answer reply respond get come agree verify release finish examine"
    " settle say clear okay give go investigate process complete meet return"
)
_DOCUMENTS = stem_set(
    "papers documents document attorney passport proof certificate form identification identity paperwork"
)
_STAYING_SO = stem_set("wait hold stay stays remain stop frozen block pending open")
_OPEN = stem_set("open hold pending review park stay remain wait queue list provisional ice outstanding undecided")
_SETTLED = stem_set("settle decide confirm know certain final sure firm fix clear definite approve")
_NOT = each("not no never nothing none neither")
_USUAL = each("standard usual regular normal general ordinari default latest earliest current polici deadlin")
_FIXED = ("set", "locked", "fixed", "arranged", "sorted", "secured", "guaranteed", "booked", "logged", "entered")
_BY = each("by at from in with under")
_GRATIS = each("fre no without complimentari gratis hous charg")
_TIMES = (Is.TIME, Is.DATE)
_ROOMS = stem_set("suite deluxe")
_THEN = each("then")
_BOOKS = stem_set("system book books place calendar plan diary file")
_ROOM = stem_set("room suite rooms")
_FREED = each("back fre empti vacat")
_NEXT = each("next new other another arriv")
_LETS = stem_set("suite room deluxe rooms suites")
_GIVEN_AWAY = ("taken", "booked", "sold", "occupied", "gone", "full", "reserved")
_LOST = (*_GIVEN_AWAY, "went", "given")
_REGRETTING = each("sorri i for that out on for at then too by")
_COMPLETE = stem_set("complete successful through confirmed processed finalised")
_COMPLETED = ("complete", "completed", "successful", "through", "confirmed", "processed", "finalised")
_CHANGES = stem_set("out cancellation refund upgrade change extension correction rebooking payment reversal transfer")
_LEAVING = each("leav check go depart vacat be")
_GLADLY = each("can am happi pleas glad delight to hav herebi wil")
_ABOUT = each("with terms term polici fee number deadlin date onc after when email")
_ON_US = (
    ["it", "is", "on", "hous"],
    ["that", "is", "on", "hous"],
    ["it", "is", "on", "us"],
    ["that", "is", "on", "us"],
)
_NOT_THEN = each("on for that possibl in todai")
_SORRY = each("sorri afraid")
_CHARGED = each("it they that charg bil amount fee")
_BILLS = stem_set("bill folio invoice account balance total")
_LASTS = each("over in okai fin alright grant agre")
_TERMS = each("tim period window deadlin chanc term")
_CLAIMS = each("claim request complaint application applic disput form")
_FINE = each("fin right correct okai clean zero clear")
_STAYING = each("leav stai check depart keep")
_CLOCK = each("one two three four five six seven noon midday")
_BELOW = each("below attach enclos here")
_RENEWED = stem_set("updated new amended revised corrected changed confirmation invoice receipt")
_SEALED = each(
    "must entered tel let last on with fin right correct okai clean clear there pay not find no confirm negativ go leav"
    " depart vacat charg mak complet success successful through need rid get hav tak yours your it set lock fix system"
    " book plac calendar plan diari hous down"
)


def awaits(clause: Clause, found: set[str]) -> None:
    """As in "it stays open until housekeeping confirms": what others have to settle first."""
    row = clause.row
    at = next((at for at, word in enumerate(row) if word in UNTIL), 0)
    if at and not _DOCUMENTS.isdisjoint(row[at + 1 :]) and not _STAYING_SO.isdisjoint(row[:at]):
        found -= {DONE, DEED, KEPT, OBSTACLE, PROMISE, WAIT, TICKET, REFUSED}
        found.add(PENDING)  # "it has to wait until your papers are here"
        return
    if row[0] in ("i", "we", "you") or (_OPEN.isdisjoint(row) and _SETTLED.isdisjoint(row)):
        return
    if not at or not _MODALS.isdisjoint(row[:at]):
        return
    rest = row[at + 1 : at + 5]
    by = next((near for near, word in enumerate(rest) if word in _HOUSE), -1)
    if by < 0 or "you" in rest[:by] or "i" in rest[:by] or _ENDING.isdisjoint(row[at + 2 + by : at + 8 + by]):
        return
    before = row[:at]
    if not _OPEN.isdisjoint(before) or not (_NOT.isdisjoint(before) or _SETTLED.isdisjoint(before)):
        found -= {DONE, DEED, KEPT, OBSTACLE, PROMISE, WAIT, TICKET, REFUSED}
        found.add(PENDING)


_MODALS = each("can could may might would should must need")


def sealed(clause: Clause, found: set[str]) -> None:
    """Adds the end that a state tells: "check-out at 16:00 is set", "4 pm it is", "the room is yours until four"."""
    row = clause.row
    last = row[-1]
    if (_SEALED.isdisjoint(row) and last not in _LASTS) or clause.hyp == 0 or clause.hedged or clause.general:
        return
    if not _USUAL.isdisjoint(row):
        return
    if last in _LASTS and row[-2:-1] == ["is"] and (end := _ended(clause)):
        found.add(end)
    elif row[0] == "find" and _find_below(clause):
        found.add(DEED)
    elif row[1:3] == ["no", "hav"] and not _LETS.isdisjoint(row[3:]):
        found.add(REFUSED)  # "we no have room"
    elif row[-2:-1] == ["on"] and row in _ON_US:
        found.add(DEED)  # "it's on the house"
    elif row[0] == "not" and _not_so(clause):
        found.add(KEPT)
    elif row[0] == "with" and len(row) < 6 and not _HOUSE.isdisjoint(row[1:3]):
        found.add(PENDING)  # "with accounts now"
    elif clause.now and len(row) < 6 and _right_now(clause):
        found.add(DEED)
    elif clause.thus and row[-3:] == ["to", "be", "pay"] and row[0] in _CHARGED:
        found.add(KEPT)  # "so it has to be paid"
    elif "need" in row and _needed(clause):
        found.add(KEPT)
    elif row[0] in _LETS and _taken(clause):
        found.add(REFUSED)
    elif ("rid" in row and _rid(clause)) or ("confirm" in row[:6] and _hereby(clause)):
        found.add(DONE)
    elif (row[-1] == "negativ" and not ANSWERS.isdisjoint(row)) or (row[0] == "last" and _last_one(clause)):
        found.add(REFUSED)
    elif "go" in row and _let_go(clause):
        found.add(DONE)
    elif row[:3] == ["you", "do", "not"] and _need_not_leave(clause):
        found.add(DEED)
    elif "charg" in row and _must_charge(clause):
        found.add(KEPT)
    elif "mak" in row and _made_it(clause):
        found.add(DONE)
    elif row[0] == "you" and _you_must(clause):
        found.add(KEPT)
    elif row[0] in ("i", "we") and (("down" in row and _down_for(clause)) or _told_them(clause)):
        found.add(DEED if "down" in row else DONE)
    elif row[0] == "you" and _you_have(clause):
        found.add(DEED)
    elif len(row) < 5 and _complete(clause):
        found.add(DONE)
    elif _it_is(clause) or _is_yours(clause) or _in_the_books(clause) or _on_the_house(clause):
        found.add(DEED)
    elif _is_set(clause):
        found.add(DONE)


def _needed(clause: Clause) -> bool:
    """As in "we need the room back by eleven"."""
    row = clause.row
    at = row.index("need")
    rest = row[at + 1 :]
    return (
        0 < at < 4
        and "you" not in row
        and not _ROOM.isdisjoint(rest[:2])
        and (not _FREED.isdisjoint(rest[1:4]) or not _NEXT.isdisjoint(rest))
        and not clause.question
    )


def _taken(clause: Clause) -> bool:
    """As in "the suite's already taken", where "is" is not heard."""
    row = clause.row
    return len(row) > 1 and clause.words[1].text in _GIVEN_AWAY and (len(row) == 2 or row[2] in _REGRETTING)


def _hereby(clause: Clause) -> bool:
    """As in "I hereby confirm the cancellation of your stay"."""
    row = clause.row
    at = row.index("confirm")
    before = [word for word in row[:at] if word not in _GLADLY]
    rest = row[at + 1 :]
    said = clause.words[at].text in ("confirm", "confirming", "confirmed") and before in (["i"], ["we"])
    named = bool(rest) and (rest[0] in _CHANGES or rest[:1] == ["lat"]) and clause.dets[at + 1] in ("the", "your")
    return said and named and _ABOUT.isdisjoint(rest[:4]) and not clause.question


def _let_go(clause: Clause) -> bool:
    """As in "I've let go of the rooms", "she has let the rooms go"."""
    row = clause.row
    at = row.index("go")
    if "let" not in row[:at] or "to" in row[:at] or not _NOT.isdisjoint(row):
        return False
    let = row.index("let")
    if row[at + 1 : at + 2] == ["of"]:
        return let == at - 1 and row[at - 2] in ("hav", "i", "we") and not THINGS.isdisjoint(row[at + 2 :])
    return let > 0 and row[let - 1] == "hav" and at - let < 5 and not THINGS.isdisjoint(row[let + 1 : at])


def _last_one(clause: Clause) -> bool:
    """As in "the last suite went an hour ago"."""
    row = clause.row
    return len(row) > 2 and row[1] in _LETS and any(token.text in _LOST for token in clause.words[2:5])


def _need_not_leave(clause: Clause) -> bool:
    """As in "you don't have to leave before 16:00"."""
    row = clause.row
    if row[3:4] not in (["hav"], ["need"]) or row[4:5] != ["to"] or row[5:6] == []:
        return False
    return row[5] in _LEAVING and _timed(clause, 6, len(row)) and not {"before", "until", "til"}.isdisjoint(row[6:])


def _must_charge(clause: Clause) -> bool:
    """As in "so we have to charge for them"."""
    row = clause.row
    at = row.index("charg")
    duty = row[max(0, at - 3) : at] in (["we", "hav", "to"], ["i", "hav", "to"]) or row[at - 1 : at] == ["must"]
    for_it = row[at + 1 : at + 2] == ["for"] or row[at + 1 : at + 3] == ["you", "for"]
    return duty and for_it and not any(token.kind is Is.AMOUNT for token in clause.words)


def _you_must(clause: Clause) -> bool:
    """As in "you must leave by eleven"."""
    row = clause.row
    row = row[:1] + row[2:] if row[1:2] == ["wil"] else row
    at = 2 if row[1:2] == ["must"] else 3 if row[1:3] in (["hav", "to"], ["need", "to"]) else 0
    return at > 0 and row[at : at + 1] != [] and row[at] in _LEAVING and "by" in row[at:] and not clause.question


def _down_for(clause: Clause) -> bool:
    """As in "we've got you down for four o'clock"."""
    row = clause.row
    at = row.index("down")
    return at < 5 and row[at - 1] == "you" and row[at + 1 : at + 2] == ["for"] and _hour(clause, at)


def _told_them(clause: Clause) -> bool:
    """As in "I've told housekeeping you're leaving at four", "I've just entered them"."""
    row = clause.row
    at = 2 if row[1:2] == ["hav"] else 1
    if clause.words[min(at, len(row) - 1)].text == "entered":
        return row[at + 1 : at + 2] in (["them"], ["night"], ["both"])
    if row[at : at + 1] not in (["tel"], ["let"]) or _HOUSE.isdisjoint(row[at + 1 : at + 4]):
        return False
    you = next((near for near in range(at, len(row) - 2) if row[near : near + 2] == ["you", "are"]), 0)
    return you > 0 and row[you + 2] in _STAYING and _hour(clause, you + 2)


def _hour(clause: Clause, lo: int) -> bool:
    return _timed(clause, lo, len(clause.row)) or any(token.text in _CLOCK for token in clause.words[lo:])


def _ended(clause: Clause) -> str:
    """As in "the time for returning rooms is over", "the claim for the nights is in", "four o'clock is fine"."""
    first, last = clause.row[0], clause.row[-1]
    if last == "over":
        return REFUSED if first in _TERMS else ""
    if last == "in":
        return TICKET if first in _CLAIMS else ""
    return APPROVED if _clocked(clause) else ""


def _clocked(clause: Clause) -> bool:
    return len(clause.row) > 2 and (clause.row[-3] == "clock" or _timed(clause, 0, len(clause.row) - 2))


def _find_below(clause: Clause) -> bool:
    """As in "please find below your updated booking"."""
    row = clause.row
    there = not _BELOW.isdisjoint(row[1:3])
    return there and not _RENEWED.isdisjoint(row[2:6]) and not (THINGS | PAPERS).isdisjoint(row[2:8])


def _not_so(clause: Clause) -> bool:
    """As in "not on a Saturday, sorry"."""
    row = clause.row
    return 2 < len(row) < 9 and row[1] in _NOT_THEN and not _SORRY.isdisjoint(row[2:])


def _right_now(clause: Clause) -> bool:
    """As in "the bill's fine now", "they're on there now"."""
    row = clause.row
    if row[0] in ("they", "it") and row[-1] == "there" and row[-2] in ("on", "in"):
        return True
    return row[0] in _BILLS and row[-1] in _FINE and _NOT.isdisjoint(row) and len(row) < 5


def _made_it(clause: Clause) -> bool:
    """As in "I've made it 4 pm"."""
    row = clause.row
    at = row.index("mak")
    made = clause.words[at].text == "made" and row[at + 1 : at + 2] in (["it"], ["that"])
    mine = 0 < at < 11 and row[at - 1] in ("i", "we", "hav") and ("i" in row[:at] or "we" in row[:at])
    return made and mine and any(token.kind > Is.MARK for token in clause.words[at + 2 : at + 4])


def _rid(clause: Clause) -> bool:
    """As in "I've got rid of the duplicate"."""
    row = clause.row
    at = row.index("rid")
    got = at > 0 and clause.words[at - 1].text in ("got", "gotten")
    return got and row[0] in ("i", "we") and not THINGS.isdisjoint(row[at + 1 :]) and _NOT.isdisjoint(row)


def _you_have(clause: Clause) -> bool:
    """As in "you've got the suite", "you have the room until 16:00"."""
    row = clause.row
    if row[1:2] != ["hav"] or len(row) < 3:
        return False
    at = 3 if row[2] == "get" else 2
    thing, rest = row[at : at + 1], row[at + 1 :]
    if not thing or clause.dets[at] != "the" or thing[0] not in _LETS:
        return False
    return (not rest and row[at] in _ROOMS) or (rest[:1] in (["until"], ["til"]) and _timed(clause, at, len(row)))


def _complete(clause: Clause) -> bool:
    """As in "cancellation complete", "upgrade successful"."""
    row = clause.row
    if len(row) < 2 or row[-1] not in _COMPLETE or clause.question or "not" in row:
        return False
    return not _CHANGES.isdisjoint(row[:-1]) and clause.words[-1].text in _COMPLETED and MODAL.isdisjoint(row)


def _timed(clause: Clause, lo: int, hi: int) -> bool:
    return any(token.kind in _TIMES or token.text in ("pm", "am", "noon", "clock") for token in clause.words[lo:hi])


def _it_is(clause: Clause) -> bool:
    """As in "4 pm it is", "suite it is, then"."""
    row = clause.row
    end = min((comma for comma in clause.commas if comma > 1), default=len(row))
    while end and row[end - 1] in _THEN:
        end -= 1
    if end < 3 or end > 8 or row[end - 2 : end] != ["it", "is"] or row[0] in ("that", "what", "there"):
        return False
    if "for" in row[end:] or any(token.kind is Is.AMOUNT for token in clause.words):
        return False  # "four o'clock it is then, for forty dollars. Okay?"
    return _timed(clause, 0, end - 2) or not _ROOMS.isdisjoint(row[: end - 2])


def _is_yours(clause: Clause) -> bool:
    """As in "four o'clock is all yours", "the room is yours until 16:00 at no cost"."""
    row, words = clause.row, clause.words
    for at in range(2, min(len(row), 8)):
        if words[at].text == "yours":
            be = at - 2 if row[at - 1] in ("al", "all") else at - 1
            if row[be] not in ("is", "are") or not be or not _NOT.isdisjoint(row[:at]):
                return False
            rest = row[at + 1 :]
            if _timed(clause, 0, be):
                return True
            until = rest[:1] in (["until"], ["til"], ["for"])
            return not THINGS.isdisjoint(row[:be]) and (until or not _GRATIS.isdisjoint(rest))
    return False


def _in_the_books(clause: Clause) -> bool:
    """As in "departure 16:00 is in the system"."""
    row = clause.row
    for at in range(1, min(len(row) - 2, 9)):
        if row[at] in ("is", "are") and row[at + 1] in ("in", "on"):
            timed = _timed(clause, 0, at) and not THINGS.isdisjoint(row[:at])
            timed = timed or (row[:2] == ["it", "is"] and len(row) == 4 and row[1:3] == ["is", "in"])
            return timed and row[at + 2] in _BOOKS and _NOT.isdisjoint(row[:at])
    return False


def _on_the_house(clause: Clause) -> bool:
    """As in "late check-out 16:00, on the house": no verb, and a price of nothing."""
    row = clause.row
    if row[-2:] != ["on", "hous"] or len(row) > 10:
        return False
    return _timed(clause, 0, len(row)) and MODAL.isdisjoint(row)


def _is_set(clause: Clause) -> bool:
    """As in "check-out at 16:00 is set, free of charge", "the suite is locked in"."""
    row, words = clause.row, clause.words
    for at in range(2, min(len(row), 12)):
        if words[at].text in _FIXED and row[at - 1] in ("is", "are"):
            before, rest = row[: at - 1], row[at + 1 :]
            if THINGS.isdisjoint(before) and not _timed(clause, 0, at - 1):
                return False
            if not _NOT.isdisjoint(before) or before[0] in ("what", "which", "that", "it", "if"):
                return False
            if words[at].text == "locked":
                return rest[:1] == ["in"] and (len(rest) < 2 or rest[1] not in _BY)
            if words[at].text not in ("set", "fixed", "booked", "logged", "entered"):
                return False
            return _timed(clause, 0, at - 1) and (
                not rest
                or at + 1 in clause.commas
                or rest[0] in _GRATIS
                or rest[0] == "for"
                or (rest[0] == "in" and not _BOOKS.isdisjoint(rest[1:3]))
            )
    return False
