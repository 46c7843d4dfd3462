"""What the verbs of a clause say was done, handed on, promised or is under way.

Refuses the past as the records show it ("I see it was cancelled in May"), book-keeping ("I updated
the ticket"), what the customer did ("you cancelled"), and what may or should be done.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import (
    APPROVE,
    APPROVED,
    ARRIVE,
    ARRIVES,
    BE,
    CHANGING,
    CHECKS,
    DONE,
    GENERAL,
    HANDOVER,
    INTRANSITIVE,
    MODAL,
    MONEY,
    NOT_WORK,
    NOT_YET,
    PENDING,
    PERSONAL,
    PROMISE,
    QUESTION_LIKE,
    RECORDED,
    REFUSED,
    REFUSING,
    REPORTS,
    SOON,
    TICKET,
    TICKETS,
    WAIT,
    WORK,
)
from .lexicon import BOOKKEEPING, DONE_VERBS, PENDING_VERBS, PLAIN_PAST, THIRD, WEAK_DONE
from .phrases import stem_set
from .records import of_data
from .words import Is, each

_FUNDS = MONEY | each("usd eur gbp card account fee differenc")
_HEADLINES = stem_set(
    "issued processed refunded credited released removed reversed waived posted cancelled made sent changed moved"
    " booked confirmed added corrected updated upgraded extended completed"
)
_SUBJECTS = each("i we you they he she it that not no if")
_PRELUDE = each("good great new okai alright hello hi yes so and also thank perfect updat short quick")
_TOPICS = stem_set(
    "refund booking stay fee charge charges cancellation rooms nights points money amount item usd change upgrade"
    " invoice dates request room payment correction email"
)
_ENTERED = each("entered noted put")
_MARKED = _ENTERED | REFUSING
_VERBAL = DONE_VERBS | PENDING_VERBS | each("let allow wil shal go need hav should")
_ENTERABLE = stem_set(
    "nights points credit departure arrival checkout stay hour time room upgrade breakfast dates name guest traveller"
)
_YES = each("okai alright great sur right thank yes fin good perfect you so much")
_OTHERS = each("them him her")
_FINITE = each("is are was not can would wil cost mean hav")
_LATER = each("pending contact bye")
_WE = each("i we")
_USUAL = each("standard usual regular normal ordinari original")
_RULED = each("les within before after later carri incur attract than without")
_NOBODY = each("nobodi noon")
_DRAFTS = stem_set("aside draft provisionally placeholder tentatively provisional tentative")
_PUT = each("put set add plac list note enter")
_LISTS = stem_set("waitlist waiting wait queue")
_NONE = each("nothing no none neither nobodi")
_AGAIN = each("is are was were")
_SENDING = stem_set("send email issue dispatch post mail deliver")
_TALKING = each("cal speak await writ chat talk")


def verbs(clause: Clause, found: set[str]) -> None:
    """Done and pending verbs, and the agent's plans."""
    row, hyp, labels = clause.row, clause.hyp, clause.labels
    if row[0] in ("hold", "wait") or (len(row) < 3 and row[-1] in SOON) or _working(clause):
        found.add(WAIT)
    for at, word in enumerate(row):
        if at >= hyp:
            break
        text = clause.words[at].text
        if word not in _VERBAL and text not in _MARKED and not text.endswith("ing"):
            continue
        if word in DONE_VERBS or word in PENDING_VERBS:
            if _past(clause, at):
                _finished(clause, at, found)
            elif at > 1 and clause.words[at - 1].text == "did" and row[at - 2] in ("i", "we"):
                found.add(DONE)
            else:
                _planned(clause, at, found)
        elif (
            word in ("let", "allow")
            and "not" not in row[max(0, at - 2) : at]
            and at + 2 < len(row)
            and row[at + 1] in ("me", "us")
            and _lets(row, at + 2)
        ):
            if row[at + 2] not in HANDOVER and not (row[at + 2] == "put" and "through" in row):
                found.add(WAIT)
        elif text in _ENTERED and row[max(0, at - 2) : at] == ["hav", "been"]:
            if not _ENTERABLE.isdisjoint(row[: at - 2]) and "not" not in row[:at]:
                found.add(DONE)
        elif text in REFUSING and not softened(row, at):
            found.add(REFUSED)
        elif word in ("wil", "shal", "go") and at and row[at - 1] in ("i", "we", "am", "are") and at + 1 < len(row):
            follow = next((w for w in row[at + 1 : at + 4] if w not in ("to", "be", "need", "hav")), "")
            if word == "go" and clause.words[at].text == "going" and row[at + 1] != "to":
                found.add(WAIT)
            if follow in WORK and _LATER.isdisjoint(labels):
                found.add(WAIT)
        elif word in ("need", "hav") and row[at - 1 : at] in (["i"], ["we"]) and row[at + 1 : at + 2] == ["to"]:
            yours = row[at + 2 : at + 3] != ["note"] and row[at + 3 : at + 4] in (["you"], ["identiti"])
            if row[at + 2 : at + 3] and row[at + 2] in WORK and "back" not in row[at + 3 : at + 5] and not yours:
                found.add(WAIT)
        elif (
            word in ("wil", "should", "shal")
            and at
            and row[at - 1] == "you"
            and at + 1 < len(row)
            and row[at + 1] in ARRIVE
        ):
            rest = clause.words[at + 2 : at + 8]
            if (
                any(token.stem in MONEY or token.kind is Is.AMOUNT or token.stem == "card" for token in rest)
                or "back" in row[at + 2 : at + 6]
            ):
                found.add(ARRIVES)
        elif (
            text.endswith("ing")
            and at
            and row[at - 1] in ("am", "are", "be")
            and ("i" in row[max(0, at - 3) : at] or "we" in row[:at])
            and _busy(row, at)
        ):
            found.add(WAIT)


def _working(clause: Clause) -> bool:
    """As in "Thank you, checking that now": work, without saying whose."""
    for word, token in zip(clause.row[:4], clause.words, strict=False):
        if token.text.endswith("ing") and (word in WORK or word in DONE_VERBS):
            return _FINITE.isdisjoint(clause.row)
        if word not in _YES:
            break
    return False


def _lets(row: list[str], at: int) -> bool:
    """Whether "let me …" means work to wait for: "let me ask the manager", not "let me ask you"."""
    word, follow = row[at], row[at + 1 : at + 2]
    if word == "ask":
        return not THIRD.isdisjoint(row)
    return word not in NOT_WORK or (word == "get" and follow in (["that"], ["it"]))


def _busy(row: list[str], at: int) -> bool:
    """Whether the -ing word at `at` is work that the customer has to wait for."""
    word = row[at]
    if word in ("look", "wait"):
        return "for" not in row
    return word not in NOT_WORK and word not in _TALKING and not (word == "go" and row[at + 1 : at + 2] == ["to"])


def _finished(clause: Clause, at: int, found: set[str]) -> None:
    """A past form: whose deed is it, and is it the deed that was asked for?"""
    row, word = clause.row, clause.row[at]
    if clause.dets[at] or (at and row[at - 1] == "stand"):
        return  # "a reduced fee", "your cancelled booking", "we stand corrected"
    rest = _object(clause, at)
    agent = you = negative = been = future = False
    aux = ""
    for back in range(at - 1, max(-1, at - 8), -1):
        here = row[back]
        if here in MODAL or (here == "to" and row[back + 1] in ("be", "hav")):
            return
        if here == "wil":
            future = True
        elif here in ("not", "never", "no", "nothing", "neither"):
            negative = True
        elif here == "been":
            been = True
        elif here in ("i", "we"):
            agent = not been
            break
        elif here == "you":
            you = not (been or (aux == "are" and back == at - 2))
            break
        elif here in BE or here == "hav":
            aux = aux or here
        elif here in ("which", "who") or here in QUESTION_LIKE:
            break
    else:
        if at > 8:
            agent = not _WE.isdisjoint(row[:at]) and "you" not in row[:at]
    if future:
        found.add(PROMISE)
        return
    if rest[:1] and rest[0] in _NONE and (rest[0] != "no" or rest[1:2] != ["longer"]):
        negative = True
    if negative:
        if word in APPROVE:
            found.add(PENDING if "yet" in row else REFUSED)
        elif word in DONE_VERBS:
            found.add(NOT_YET)
        return
    if you or not _NOBODY.isdisjoint(rest) or not _USUAL.isdisjoint(rest[:3]):
        return
    if not _DRAFTS.isdisjoint(rest):
        found.add(NOT_YET)
        return
    if word in _PUT and not _LISTS.isdisjoint(rest):
        found.add(PENDING)
        return
    if word in PENDING_VERBS and (
        _third(clause, at, rest) or TICKETS.intersection(rest) or TICKETS.intersection(row[:at])
    ):
        found.add(TICKET if not THIRD.difference(TICKETS).intersection(rest) and word not in HANDOVER else PENDING)
        return
    if word == "send" and any(rest[near] == "to" and rest[near + 1] in _OTHERS for near in range(len(rest) - 1)):
        found.add(PENDING)
        return
    if word in HANDOVER and rest[:1] == ["back"] and (agent or been):
        found.add(DONE)
        return
    if word not in DONE_VERBS:
        if word in HANDOVER and (agent or been):
            found.add(PENDING)
        elif word in ("fil", "log", "record", "register") and REPORTS.intersection(row):
            found.add(DONE)
        return
    if (
        _checking(rest)
        or BOOKKEEPING.intersection(rest[:4])
        or (BOOKKEEPING.intersection(row[max(0, at - 4) : at]) and not agent)
    ):
        return
    if (
        "record" in clause.labels
        and clause.labels["record"] < at
        and not (agent and "hav" in row[:at])
        and not (been and row[clause.labels["record"]] == "you")
    ):
        return
    if word == "confirm" and (agent or not aux or PERSONAL.intersection(row[:at])):
        return
    headline = _heads(clause, at)
    if word in WEAK_DONE and not (headline and word in _HEADLINES):
        if word == "mak" and not CHANGING.intersection((*rest, *row[:at])) and not (agent and "booking" in rest):
            return
        if word == "tak" and not {"off", "out", "away", "care", "down", "back"} & set(rest):
            return
        if word == "mak" and aux and CHANGING.intersection(row[:at]):
            been = True
        told = agent or been or (aux in ("is", "are") and word in ("regist", "secur", "register"))
        told = told or (word == "tak" and bool(aux) and "off" in rest[:2])
        if not been and word in ("rais", "plac", "hand", "accept", "open"):
            told = False
        if word == "return" and not been:
            told = any(token.kind is Is.AMOUNT or token.stem in _FUNDS for token in clause.words)
        if not told and not (word == "confirm" and aux):
            return
        if word in ("pay", "plac") and not agent and not (word == "pay" and "back" in rest[:3]):
            return
    if word == "carri" and "out" not in rest:
        return
    if word == "book" and not (agent or been or clause.now or (aux == "is" and at == len(row) - 1)):
        return
    if (
        aux in ("is", "are")
        and not been
        and (clause.general or (aux == "are" and word in GENERAL and not clause.dets[0] and row[0] != "you"))
    ):
        return
    if aux == "hav" and not been and not agent and word in INTRANSITIVE:
        return
    last = at == len(row) - 1 and at < 4
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
    ):
        return
    if word in ("sort", "updat", "chang", "set") and (
        clause.dets[at + 1 : at + 2] in (["my"], ["our"]) or "by" in rest[:3]
    ):
        return
    if word not in _SENDING and of_data(clause, at):
        found.add(RECORDED)
        return
    found.add(APPROVED if word in APPROVE else DONE)


def _object(clause: Clause, at: int) -> list[str]:
    """What follows the verb, up to the next comma or the next statement."""
    rest: list[str] = []
    for here in range(at + 1, min(at + 7, len(clause.row))):
        if here in clause.commas or clause.row[here] in _AGAIN:
            break
        rest.append(clause.row[here])
    return rest


def _heads(clause: Clause, at: int) -> bool:
    """As in "Refund made, full amount", "Good news: fee of USD 20 waived": a deed told without its helping verb."""
    row = clause.row
    if row[at] not in _HEADLINES or not _FINITE.isdisjoint(row[:at]) or not _SUBJECTS.isdisjoint(row[:at]):
        return False
    if not _RULED.isdisjoint(row[at + 1 : at + 3]):
        return False  # "changes made less than a week ahead carry a fee"
    start = max((comma for comma in clause.commas if comma < at), default=0)
    while start < at and row[start] in _PRELUDE:
        start += 1
    return at - start < 7 and not _TOPICS.isdisjoint(row[start:at]) and (at < 7 or row[at - 1] in _TOPICS)


def _third(clause: Clause, at: int, rest: list[str]) -> bool:
    """Whether somebody else of the house is named after the verb; "your account" is nobody."""
    return any(
        here in THIRD and not (here == "account" and clause.dets[at + 1 + near] == "your")
        for near, here in enumerate(rest)
    )


def _past(clause: Clause, at: int) -> bool:
    text = clause.words[at].text
    return text.endswith("ed") or text in PLAIN_PAST


def softened(row: list[str], at: int) -> bool:
    """A card that was declined, a plan that may be refused, a "not refused"."""
    before = row[max(0, at - 3) : at]
    return any(word in ("not", "might", "may", "could", "card", "pay", "would") for word in before)


def _checking(rest: list[str]) -> bool:
    """The object is a check, not a check-in."""
    return any(
        word in CHECKS and not (word == "check" and rest[at + 1 : at + 2] in (["in"], ["out"]))
        for at, word in enumerate(rest[:4])
    )


def _planned(clause: Clause, at: int, found: set[str]) -> None:
    """A base or -ing form: a plan of the agent ("I will cancel"), or a hand-over ("I'm transferring you")."""
    row, word = clause.row, clause.row[at]
    before = row[max(0, at - 5) : at]
    if "you" in before and not ("i" in before or "we" in before or "me" in before):
        return
    if any(here in MODAL or here in ("not", "never", "abl") for here in before):
        return
    if "let" in before and word not in HANDOVER and word != "put":
        return
    ing = clause.words[at].text.endswith("ing") and any(here in ("am", "are") for here in before)
    plan = any(here in ("wil", "shal", "go") for here in before) or "let" in before or ing
    plan = plan or (word in HANDOVER and before[-2:] in (["hav", "to"], ["need", "to"]))
    if not plan or not ("i" in before or "we" in before or "let" in before or "be" in before):
        return
    rest = row[at + 1 : at + 9]
    if word in PENDING_VERBS and THIRD.intersection(rest) and (word not in DONE_VERBS or word in HANDOVER):
        found.add(PENDING)
    elif word in DONE_VERBS:
        found.add(PROMISE)
    elif ing:
        found.add(WAIT)
