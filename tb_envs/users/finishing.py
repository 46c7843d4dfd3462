"""A past form: whose deed is it, and is it the deed that was asked for?

Refuses the past as the records show it ("I see it was cancelled in May"), book-keeping ("I updated
the ticket"), what the customer did ("you cancelled"), and what may or should be done.
"""

from __future__ import annotations

from .clauses import Clause
from .elsewhere import (
    ACTORS,
    CASES,
    FUNDS,
    by_staff,
    confirms,
    long_ago,
    of_the_house,
    once_upon,
    ours,
    third,
    usual_deed,
    whole_case,
    with_others,
)
from .ends import (
    APPROVE,
    APPROVED,
    BE,
    CHANGING,
    DEED,
    DONE,
    GENERAL,
    HANDOVER,
    INTRANSITIVE,
    KEPT,
    MODAL,
    NOT_YET,
    PAPERS,
    PENDING,
    PERSONAL,
    PROMISE,
    QUESTION_LIKE,
    RECORDED,
    REFUSED,
    REPORTS,
    TICKET,
    TICKETS,
)
from .headlines import HEADLINES, codes, disputes, heads, is_check, shut_now
from .lexicon import BOOKKEEPING, DONE_VERBS, PENDING_VERBS, PLAIN_PAST, THIRD, WEAK_DONE
from .phrases import stem_set
from .records import DATA, THINGS, of_data, strange
from .words import Is, each

_OTHERS = each("them him her")
_WE = each("i we")
_USUAL = each("standard usual regular normal ordinari original")
_NOBODY = each("nobodi noon")
_DRAFTS = stem_set("aside draft provisionally placeholder tentatively provisional tentative")
_PUT = each("put set add plac list note enter")
_LISTS = stem_set("waitlist waiting wait queue")
_STRANGERS = stem_set("guest guests somebody someone group customer family party person people")
_LISTED = each("guest breakfast park allergi wak wake bil invoic invoice inventori not")
"""Kinds of lists on which a thing is as good as done."""
_ONTO = each("on to onto")
_NONE = each("nothing no none neither nobodi")
_AGAIN = each("is are was were")
_SAME = each("put set split cut reset")
_BEFORE_BASE = each("to wil can could would may must shal should not me us")
_DOCUMENTS = each(
    "email mail letter number code confirm message link form list voucher card"
    " confirmation invoic receipt copi contract"
)
_HELPERS = each("is are was were be been get hav i we and then not")
_KEPT_WITH = each("register regist link fil list record store book attach connect associat tie")
_LINKING = each("with to under on in for at")
_BEING = each("is are was were am get")
_NO_MORE = each("nothing none neither")
_SENDING = stem_set("send email issue dispatch post mail deliver")
"""Deeds that are told of a colleague in the plain past."""
_PLAINLY = stem_set("clearly plainly visibly publicly openly prominently always regularly")
_RELATIVE = each("who which")
_FILING = stem_set("file lodge open raise submit register log start")
_BROUGHT = each("down back forward over")
_OVER = each("off on along up")
_THAT_ALL = each("it that everything them")
_PREFERRED = each("preferenc wish request comment remark requirement")
_CLAIMING = each("claim investig inquiri enquiri")
_WISHED = THINGS - each("booking")
_LODGING = each("submit lodg")
_ELSEWHERE = stem_set("hotel property house branch chain")
_ERRANDS = CASES | each("chang cancel wish")
_GIVING = each("send giv brought bring tak mail email")
_BESIDE = each("next besid where asid apart front there open")
_SHUT = each("lock block freez break stop")
"""What befalls things, too, when nobody did it."""
_PASSING_ON = stem_set("send text email message dispatch issue generate forward create deliver give trigger")
_STARTING = each("send start fil initiat launch request issu")
_RECALLS = each("recal trac")
_HALTED = each("stop end break paus resum trac")
_AT_HALT = each("there at here for in with when")
_RAISED = each("limit order amount sum usd overdraft")
_CREDITED = each("credit grant giv pay")
_PAID_OUT = each("back out into")
_OFF = each("off back out")
_DOORS = stem_set("spa pool gym restaurant bar desk office kitchen garage terrace sauna lounge lobby reception")
_AWAY = each("off out away down")
_CUT = each("drop strik struck knock secur strike trim")
_FEARING = each("afraid sorri sur glad")
_SETTING = each("set put plac mov lai")


def finished(clause: Clause, at: int, found: set[str]) -> None:
    """A past form: whose deed is it, and is it the deed that was asked for?"""
    row, word = clause.row, clause.row[at]
    if clause.dets[at] or (at and (row[at - 1] in ("stand", "last") or row[at - 1] in _STRANGERS)):
        return  # "a reduced fee", "your cancelled booking", "we stand corrected"
    if word == "clos" and not _DOORS.isdisjoint(row[:at]):
        return  # "our spa is closed until Monday"
    rest = _object(clause, at)
    if word in _KEPT_WITH and at > 1 and rest[:1] and rest[0] in _LINKING and row[at - 1] not in _HELPERS:
        return  # "the address registered with the booking"
    agent = you = negative = been = future = False
    aux = ""
    for back in range(at - 1, max(-1, at - 8), -1):
        here = row[back]
        if aux and back + 1 in clause.commas:
            break  # "the money will stay in your account, the transfer is cancelled"
        if here == "need" and back > 1 and row[back - 1] in ("not", "you"):
            break  # "the rooms you don't need have been cancelled"
        if here in MODAL or (here == "to" and row[back + 1] in ("be", "hav")):
            return
        if here == "wil":
            future = True
        elif here == "not" and (aux or been) and row[back - 2 : back] == ["you", "do"]:
            break  # "the rooms you didn't need have been handed back"
        elif here in ("not", "never", "no", "nothing", "neither"):
            negative = True
        elif here == "been":
            been = True
        elif here in ("i", "we"):
            if back and row[back - 1] in _DOCUMENTS and back not in clause.commas:
                return  # "in the e-mail we sent you"
            if back == at - 2 and not been and aux in _BEING:
                return  # "I got locked out"
            agent = not been
            break
        elif here == "you":
            you = not (been or (aux == "are" and back == at - 2))
            break
        elif (here == "and" and aux in _BEING and not been) or (here == "so" and (aux or been)):
            break
        elif here == "am" and row[back + 1] in _FEARING:
            break  # "I'm afraid stays booked through an agency earn nothing"
        elif here in BE or here == "hav":
            if here == "hav" and clause.words[back].text == "had" and (back == at - 1 or row[back + 1] == "been"):
                return  # what had happened before
            if here == "get" and clause.words[back].text != "got":
                return  # "nights get added three days after you leave"
            aux = aux or here
        elif here in ("which", "who") or (here in QUESTION_LIKE and row[back - 1] != "get"):
            break
    else:
        if at > 8:
            agent = not _WE.isdisjoint(row[:at]) and "you" not in row[:at]
    if aux in ("was", "were") and "say" in row[:at] and not (agent or been):
        return  # "she says the drinks were ordered to the room"
    if at and row[at - 1] in _PLAINLY and aux in ("is", "are"):
        return  # "the price is clearly posted"
    if (agent or not at) and word in _PUT and rest[:1] and _as_wish(rest):
        found.add(TICKET)  # "I've added your preference to the booking"
        return
    if aux in ("was", "were") and not (been or agent) and long_ago(clause, at):
        return  # "the dates were confirmed in January"
    if (agent and not been and "hav" not in row[:at] and once_upon(clause, at)) or of_the_house(clause, at):
        return  # "we merged two programmes last year", "the lift has been repaired"
    if (word == "mov" and rest[:1] == ["here"]) or (been and rest == ["once"]):
        return
    if (agent or been) and at + 1 < len(row) and ours(clause, at, rest):
        return  # "we changed our booking system", "the suite has been given a new bathroom"
    if word in _PASSING_ON and (codes(clause) or rest[1:3] == ["to", "phone"]):
        return  # "a passcode was sent to your phone"
    if clause.words[at].text == "filled" or row[at - 1 : at] == ["being"]:
        return  # "I have filled in the form", "it is being carried out"
    if row[0] in _RELATIVE and not (agent or aux or been):
        return  # "…, who handle requests made by representatives"
    if future:
        found.add(KEPT if negative and row[0] in _NO_MORE and word in DONE_VERBS else PROMISE)
        return
    if rest[:1] and rest[0] in _NONE and (rest[0] != "no" or rest[1:2] != ["longer"]):
        negative = True
    if negative:
        if word in APPROVE:
            found.add(PENDING if "yet" in row else REFUSED)
        elif word in DONE_VERBS:
            found.add(NOT_YET)
        return
    if (
        you
        or not _NOBODY.isdisjoint(rest[: rest.index("and")] if "and" in rest else rest)
        or not _USUAL.isdisjoint(rest[:3])
    ):
        return
    if not _DRAFTS.isdisjoint(rest) and word not in _CREDITED:
        found.add(NOT_YET)
        return
    if word in _SETTING and rest[:1] == ["you"] and rest[1:2] in (["through"], ["on"]) and "list" not in rest:
        return  # "I put you on hold a moment ago"
    if aux in ("is", "are") and not (been or agent) and rest[:1] == ["by"] and usual_deed(clause, at, rest):
        return  # "late check-outs are arranged by housekeeping"
    if word in _PUT and (
        not _LISTS.isdisjoint(rest) or ("list" in rest and not _ONTO.isdisjoint(rest) and _LISTED.isdisjoint(rest))
    ):
        found.add(PENDING)
        return
    if word == "send" and "question" in rest:
        found.add(TICKET)
        return
    if word in _STARTING and not _RECALLS.isdisjoint(rest[:3] or row[:at]) and (agent or been):
        found.add(TICKET)  # "I've sent the recall", "a trace has been started": others have to answer
        return
    if (agent or been) and (word in _FILING or word in _LODGING) and disputes(clause, at, rest):
        found.add(DONE)  # "I've raised a dispute": what was asked, not a claim that others decide on
        return
    if word in _FILING and with_others(clause, at):
        found.add(PENDING)
        return
    papers = word in _SENDING and not PAPERS.isdisjoint(rest[:5])  # "I've sent the invoice to his office"
    if word == "send" and agent and rest[1:2] and rest[1] in _OVER and rest[2:3] != ["to"] and rest[0] in _THAT_ALL:
        found.add(TICKET)  # "I've sent it off"
        return
    if word == "send" and clause.words[min(at + 1, len(row) - 1)].text in ("him", "them") and whole_case(rest):
        found.add(PENDING)  # "I've sent him everything"
        return
    if (
        word in PENDING_VERBS
        and not papers
        and (third(clause, at, rest) or TICKETS.intersection(rest) or TICKETS.intersection(row[:at]))
    ):
        found.add(TICKET if not THIRD.difference(TICKETS).intersection(rest) and word not in HANDOVER else PENDING)
        return
    if word == "mov" and "to" in rest and not CASES.isdisjoint(row[:at]) and not THIRD.isdisjoint(rest):
        found.add(PENDING)
        return
    if word in _LODGING and not REPORTS.isdisjoint(rest):
        found.add(PENDING)
        return
    if word in _GIVING and "to" in rest and not papers:
        near = rest.index("to") + 1
        if near < len(rest) and (
            rest[near] in _OTHERS
            or (clause.dets[at + 1 + near] != "your" and not THIRD.isdisjoint(rest[near : near + 3]))
            or (rest[near] in _ELSEWHERE and not _ERRANDS.isdisjoint(rest[:near]))
        ):
            found.add(PENDING)
            return
    if "yourself" in rest or ("by" in rest and rest[rest.index("by") + 1 : rest.index("by") + 2] == ["you"]):
        return
    if word in HANDOVER and rest[:1] == ["back"] and (agent or been):
        found.add(DONE)
        return
    if word not in DONE_VERBS:
        if word in HANDOVER and (agent or been or (not at and "to" in rest)):
            found.add(PENDING)
        elif word in ("fil", "log", "record", "register") and "under" not in rest and REPORTS.intersection(row):
            found.add(PENDING if not _CLAIMING.isdisjoint(rest) else DONE)
        elif (
            word == "request"
            and (agent or been or (0 < at == len(row) - 1 and not aux))
            and not DATA.intersection(row)
            and not _WISHED.isdisjoint(row if been or not rest else rest)
        ):
            found.add(TICKET)  # "I've requested it"
        return
    if rest[:1] == ["to"] and rest[1:2] and rest[1] in _STRANGERS:
        return  # "they were credited to someone else's account"
    if (
        is_check(rest)
        or (BOOKKEEPING.intersection(rest[:4]) and rest[:2] != ["out", "of"])
        or (BOOKKEEPING.intersection(row[max(0, at - 4) : at]) and not agent and row[at - 1] not in ACTORS)
    ):
        return
    if (
        "record" in clause.labels
        and clause.labels["record"] < at
        and not (agent and ("hav" in row[:at] or (row[at - 1] == "and" and rest[:1] and rest[0] in _THAT_ALL)))
        and not (been and row[clause.labels["record"]] == "you")
        and not (word == "pay" and rest[:1] and rest[0] in _PAID_OUT)
    ):
        return
    if word == "confirm" and not (agent or aux or been) and confirms(clause, at):
        found.add(DONE)
        return  # "suite confirmed for your stay"
    if word == "confirm" and (agent or not aux or rest[:1] == ["by"] or PERSONAL.intersection(row[:at])):
        return
    headline = heads(clause, at)
    if word in WEAK_DONE and not (headline and word in HEADLINES):
        if word == "mak" and not CHANGING.intersection((*rest, *row[:at])) and not (agent and "booking" in rest):
            return
        if word == "tak" and not {"off", "out", "away", "care", "down", "back"} & set(rest):
            return
        if word == "mak" and aux and CHANGING.intersection(row[:at]):
            been = True
        told = agent or been or (aux in ("is", "are") and word in ("regist", "secur", "register"))
        told = told or (bool(aux) and word != "mak" and not _OFF.isdisjoint(rest[:2]))
        told = told or (aux in ("was", "were") and word in _CUT and not THINGS.isdisjoint(row[:at]))
        if not been and word in ("rais", "plac", "hand", "accept", "open"):
            told = word == "rais" and agent and not _RAISED.isdisjoint(rest)  # "I've raised your limit"
        if word == "return" and not been:
            told = any(token.kind is Is.AMOUNT or token.stem in FUNDS for token in clause.words)
        told = told or (word == "tak" and not _AWAY.isdisjoint(rest) and by_staff(clause, at, rest))
        told = told or (word == "rais" and aux == "is" and at == len(row) - 1)
        if not told and not (word == "confirm" and aux):
            return
        if (
            word in ("pay", "plac")
            and not agent
            and not (word == "pay" and (not _PAID_OUT.isdisjoint(rest[:3]) or (been and not rest)))
        ):
            return
    if word == "bring" and _BROUGHT.isdisjoint(rest):
        return
    if word == "carri" and "out" not in rest:
        return
    if word in _HALTED and not (been or aux) and (not rest or rest[0] in _AT_HALT):
        return  # "so I stopped there"
    if word in _SHUT and not (agent or been or heads(clause, at) or shut_now(clause, at, aux)):
        return  # "the account got locked", "the rooms are all still blocked"
    if word == "book" and not (agent or been or clause.now or (aux == "is" and at == len(row) - 1)):
        return
    if (
        aux in ("is", "are")
        and not been
        and (
            clause.general
            or (aux == "are" and word in GENERAL and not (clause.dets[0] or clause.now) and row[0] != "you")
        )
    ):
        return
    if aux == "hav" and not been and not agent and word in INTRANSITIVE:
        return
    last = at == len(row) - 1 and at < 4 and row[at - 1] not in _STRANGERS
    bare = headline or (last and not any(here in ("you", "i", "we", "be") for here in row[:at]))
    if not (
        agent
        or aux
        or been
        or bare
        or at == 0
        or DONE in found
        or at in clause.commas
        or row[at - 1] in ("and", "then", "go", "ahead")
        or (at < 6 and by_staff(clause, at, rest))
    ):
        return
    under = rest[:1] == ["under"] and "number" not in rest[1:3]
    if (aux in ("is", "are") and not been and (under or row[0] == "which" or word == "print")) or (
        word in _SETTING and not _BESIDE.isdisjoint(rest[:3])
    ):
        return  # "it is registered under the name of Berg", "I've put it next to the list"
    if word in ("sort", "updat", "chang", "set") and (
        clause.dets[at + 1 : at + 2] in (["my"], ["our"]) or "by" in rest[:3]
    ):
        return
    if word not in _SENDING and of_data(clause, at):
        found.add(RECORDED)
        return
    if word in APPROVE:
        found.add(APPROVED)
    else:
        found.add(DEED if not headline and strange(clause, at) else DONE)


def _as_wish(rest: list[str]) -> bool:
    """As in "added your preference to the booking", "added it as a request to your booking"."""
    if "as" in rest:
        return not _PREFERRED.isdisjoint(rest[rest.index("as") + 1 :])
    return rest[0] in _PREFERRED and not _ONTO.isdisjoint(rest)


def _object(clause: Clause, at: int) -> list[str]:
    """What follows the verb, up to the next comma or the next statement."""
    rest: list[str] = []
    for here in range(at + 1, min(at + 7, len(clause.row))):
        if here in clause.commas or clause.row[here] in _AGAIN:
            break
        rest.append(clause.row[here])
    return rest


def past(clause: Clause, at: int) -> bool:
    """Whether the verb at `at` is a past form."""
    text = clause.words[at].text
    if text in _SAME and at and clause.row[at - 1] in _BEFORE_BASE:
        return False
    return text.endswith("ed") or text in PLAIN_PAST
