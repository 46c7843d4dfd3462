"""What a clause says about the end of a request: done, refused, pending, under way, or nothing.

Refuses questions and hypotheticals ("if the manager approves, I will refund"), the past as the
records show it ("I see it was cancelled in May"), book-keeping ("I updated the ticket") and plans.
"""

from __future__ import annotations

from typing import Final

from .clauses import Clause
from .lexicon import BOOKKEEPING, CAPABLE, DONE_VERBS, LOOK, PENDING_VERBS, PLAIN_PAST, THIRD, WEAK_DONE
from .phrases import stems
from .words import Is

DONE: Final = "done"
REFUSED: Final = "refused"
PENDING: Final = "pending"
KEPT: Final = "kept"
"""Nothing changes; a refusal when nothing else is said."""
OBSTACLE: Final = "obstacle"
APPROVED: Final = "approved"
ARRIVES: Final = "arrives"
"""Money will come; an end when nothing is asked with it."""
PROMISE: Final = "promise"
WAIT: Final = "wait"
TICKET: Final = "ticket"
NOT_FOUND: Final = "not found"
UNVERIFIED: Final = "unverified"
NOT_YET: Final = "not yet"


def _set(words: str) -> frozenset[str]:
    return frozenset(stem for word in words.split() for stem in stems(word))


_BE = frozenset("is are was were be been am get".split())
_MODAL = frozenset("can could may might would should must need cannot".split())
_APPROVE = _set("approve grant authorise accept agree allow permit qualify")
_REFUSING = frozenset("denied declined rejected refused disapproved".split())
_BENIGN = _set(
    "only worry hesitate forget problem guarantee promise say tell know sure certain mean want need wait think imagine"
    " charge lose affect miss thank cost pay receive hear expect mind matter question want billed expired"
)
_HARD_HYP = frozenset("if unles should provid assum suppos case whether event would depend subject befor so".split())
_FUTURE = _set("will shall going should expect would someone")
_PAPERS = _set("confirmation receipt invoice copy voucher code")
_SOON = _set("moment minute minutes second seconds shortly momentarily sec")
_FREE_OF = _set("charge fee cost penalty problem delay further issue charges")
_APPROVERS = _set("approval manager supervisor authorisation permission management sign-off")
_DECIDERS = _set("approval manager decision answer supervisor response reply")
_ENTITLED = _set("qualify eligible entitled meet get receive")
_HARMLESS = _set("charge fee cost problem worry need rush further one longer additional extra action way number later matter")
_PERSONAL = _set("identity email name detail address phone surname account data")
_LACKING = _set("room rooms availability space vacancy option possibility way authority right permission suite authorisation")
_GATES = frozenset("without unles until til".split())
_HANDOVER = _set("transfer hand connect pass redirect route refer escalate forward")
_MONEY = _set("refund refunded money fund credit amount reimbursement compensation points voucher")
_ARRIVE = _set("receive see get find have")
_CHECKS = _set("verification check identity security review search lookup code")
_REPORTS = _set("complaint feedback report dispute claim incident preference")
_CHANGING = _set("change adjustment exception amendment correction refund booking payment update arrangement modification")
_TICKETS = _set("ticket case request enquiry")
_GENERAL = _set("process issue send make refund pay handle apply calculate credit return")
_WORK = _set(
    "check look review verify pull search find see investigate proceed handle work consult ask speak talk calculate"
    " read try run take go dig discuss clarify study double-check fetch examine locate confirm get figure start begin"
    " inquire quote compute open retrieve note request submit use sort prepare do hold log record document"
)
_NOT_WORK = _set("know explain tell say have get ask start begin be need let apologise apologize understand happy")
_PRICES = _set("total price rate balance cost fee sum policy rule charge")
_INTRANSITIVE = _set("change increase move close drop raise lower extend")
_TRANSFERABLE = _set("put hand pass")


def outcomes(clause: Clause) -> set[str]:
    """All that the clause says of the kinds above."""
    found: set[str] = set()
    labels, row = clause.labels, clause.row
    if "wait" in labels and not clause.question:
        found.add(WAIT)
    if clause.question:
        return found
    hyp = clause.hyp
    soft = clause.hyp_word not in _HARD_HYP
    at = labels.get("pending")
    if at is not None and (at < hyp or soft) and not _negated(row, at, 2, but="yet"):
        found.add(PENDING)
    at = labels.get("contact")
    if at is not None and (at < hyp or soft) and _FUTURE.intersection(row[: at + 1]) and not _negated(row, at, 3) and not _PAPERS.intersection(row):
        found.add(WAIT if _SOON.intersection(row) and "i" in row[:at] else PENDING)
    if hyp == 0:
        return found
    if "refused" in labels and labels["refused"] < hyp and not _listed(row, labels["refused"]) and not _softened(row, labels["refused"]):
        found.add(OBSTACLE if _gated(clause) else REFUSED)
    if "kept" in labels and labels["kept"] < hyp and "yet" not in row and "far" not in row:
        found.add(KEPT)
    if "obstacle" in labels or _needs_approval(row):
        found.add(OBSTACLE)
    if "done" in labels and labels["done"] < hyp and not _unsure(row, labels["done"]):
        found.add(DONE)
    _verbs(clause, found)
    _negations(clause, found)
    if clause.now and not found & {NOT_YET, REFUSED, WAIT, PENDING, PROMISE, OBSTACLE, NOT_FOUND} and _state(clause):
        found.add(DONE)
    elif row[0] == "new" and ("is" in row or "are" in row) and not _PRICES.intersection(row):
        found.add(DONE)
    return found


def _negated(row: list[str], at: int, back: int, but: str = "") -> bool:
    return any(word in ("not", "never", "no") for word in row[max(0, at - back) : at]) and not (but and but in row)


def _softened(row: list[str], at: int) -> bool:
    """A card that was declined, a plan that may be refused, a "not refused"."""
    before = row[max(0, at - 3) : at]
    return any(word in ("not", "might", "may", "could", "card", "pay", "would") for word in before)


def _needs_approval(row: list[str]) -> bool:
    at = next((at for at, word in enumerate(row) if word in ("need", "requir", "must", "subject")), -1)
    return at >= 0 and any(word in _APPROVERS for word in row)


def _listed(row: list[str], at: int) -> bool:
    """"We have a flexible and a non-refundable rate"."""
    return row[at] in ("non", "nonrefundabl") and at > 0 and not _BE.intersection(row[:at])


def _unsure(row: list[str], at: int) -> bool:
    before = row[max(0, at - 4) : at + 1]
    return any(word in _MODAL or word in ("not", "never", "nothing", "to", "get", "wil", "everything") for word in before[:-1]) or (
        row[at] == "done" and any(word in ("everything", "al") for word in row[at + 1 : at + 3])
    ) or row[at] in ("not", "no")


def _gated(clause: Clause) -> bool:
    row = clause.row
    return any(word in _GATES and not _FREE_OF.intersection(row[at + 1 : at + 3]) for at, word in enumerate(row))


def _state(clause: Clause) -> bool:
    row = clause.row
    return (
        row[0] not in ("i", "we", "let", "what", "so")
        and any(word in ("is", "are", "hav") for word in row)
        and not any(token.text.endswith("ing") and token.text not in ("booking", "parking") for token in clause.words)
        and not _PRICES.intersection(row[:4])
    )


def _past(clause: Clause, at: int) -> bool:
    text = clause.words[at].text
    return text.endswith("ed") or text in PLAIN_PAST


def _verbs(clause: Clause, found: set[str]) -> None:
    """Done and pending verbs, and the agent's plans."""
    row, hyp, labels = clause.row, clause.hyp, clause.labels
    first = clause.words[0].text
    if row[0] in ("hold", "wait") or (len(row) < 3 and row[-1] in _SOON) or (first.endswith("ing") and row[0] in _WORK):
        found.add(WAIT)
    for at, word in enumerate(row):
        if at >= hyp:
            break
        if word in DONE_VERBS or word in PENDING_VERBS:
            if _past(clause, at):
                _finished(clause, at, found)
            else:
                _planned(clause, at, found)
        elif word in ("let", "allow") and at + 2 < len(row) and row[at + 1] in ("me", "us") and (row[at + 2] not in _NOT_WORK or (row[at + 2] == "ask" and not THIRD.isdisjoint(row))):
            found.add(WAIT)
        elif clause.words[at].text in _REFUSING and not _softened(row, at):
            found.add(REFUSED)
        elif word in ("wil", "shal", "go") and at and row[at - 1] in ("i", "we", "am", "are") and at + 1 < len(row):
            follow = next((w for w in row[at + 1 : at + 3] if w not in ("to", "be", "need")), "")
            if follow in _WORK and not {"pending", "contact", "bye"} & labels.keys():
                found.add(WAIT)
        elif word in ("need", "hav") and row[at - 1 : at] in (["i"], ["we"]) and row[at + 1 : at + 2] == ["to"]:
            if row[at + 2 : at + 3] and row[at + 2] in _WORK:
                found.add(WAIT)
        elif word in ("wil", "should", "shal") and at and row[at - 1] == "you" and at + 1 < len(row) and row[at + 1] in _ARRIVE:
            rest = clause.words[at + 2 : at + 8]
            if any(token.stem in _MONEY or token.kind is Is.AMOUNT for token in rest) or "back" in row[at + 2 : at + 6]:
                found.add(ARRIVES)
        elif clause.words[at].text.endswith("ing") and at and row[at - 1] in ("am", "are", "be") and "i" in row[max(0, at - 3) : at] + (["i"] if "we" in row[:at] else []):
            if word not in _NOT_WORK and not (word == "go" and row[at + 1 : at + 2] == ["to"]) and word not in ("cal", "speak", "wait", "await", "look", "writ", "chat", "talk") or (word in ("look", "wait") and "for" not in row):
                found.add(WAIT)


def _finished(clause: Clause, at: int, found: set[str]) -> None:
    """A past form: whose deed is it, and is it the deed that was asked for?"""
    row, word = clause.row, clause.row[at]
    rest = row[at + 1 : at + 7]
    agent = you = negative = been = future = False
    aux = ""
    for back in range(at - 1, max(-1, at - 8), -1):
        here = row[back]
        if here in _MODAL or (here == "to" and row[back + 1] in ("be", "hav")):
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
        elif here in _BE or here == "hav":
            aux = aux or here
        elif here in ("which", "who") or here in QUESTION_LIKE:
            break
    else:
        if at > 8:
            agent = True
    if future:
        found.add(PROMISE)
        return
    if negative:
        if word in _APPROVE:
            found.add(PENDING if "yet" in row else REFUSED)
        elif word in DONE_VERBS:
            found.add(NOT_YET)
        return
    if you:
        return
    if word in PENDING_VERBS and (THIRD.intersection(rest) or _TICKETS.intersection(rest) or _TICKETS.intersection(row[:at])):
        found.add(TICKET if not THIRD.difference(_TICKETS).intersection(rest) and word not in _HANDOVER else PENDING)
        return
    if word not in DONE_VERBS:
        if word in _HANDOVER and (agent or been):
            found.add(PENDING)
        elif word in ("file", "log", "record", "register") and _REPORTS.intersection(row):
            found.add(DONE)
        return
    if _checking(rest) or BOOKKEEPING.intersection(rest[:4]) or (BOOKKEEPING.intersection(row[max(0, at - 4) : at]) and not agent):
        return
    if "record" in clause.labels and clause.labels["record"] < at and not (agent and "hav" in row[:at]):
        return
    if word == "confirm" and (agent or not aux or _PERSONAL.intersection(row[:at])):
        return
    if word in WEAK_DONE:
        if word == "mak" and not _CHANGING.intersection((*rest, *row[:at])):
            return
        if word == "tak" and not {"off", "out", "away", "care", "down", "back"} & set(rest):
            return
        if word == "mak" and aux and _CHANGING.intersection(row[:at]):
            been = True
        if not (agent or been) or word in ( "return", "rais", "plac", "hand", "confirm", "accept", "open") and not (been or word == "confirm"):
            if not (word == "confirm" and aux):
                return
        if word in ("pai", "plac") and not agent:
            return
    if word == "book" and not (agent or been or clause.now or (aux == "is" and at == len(row) - 1)):
        return
    if aux in ("is", "are") and not been and (clause.general or (aux == "are" and word in _GENERAL and not clause.dets[0])):
        return
    if aux == "hav" and not been and not agent and word in _INTRANSITIVE:
        return
    bare = at == len(row) - 1 and at < 4 and not any(here in ("you", "i", "we", "be") for here in row[:at])
    if not (agent or aux or been or bare or at == 0 or DONE in found or at in clause.commas or row[at - 1] in ("and", "then", "go", "ahead")):
        return
    found.add(APPROVED if word in _APPROVE else DONE)


def _checking(rest: list[str]) -> bool:
    """The object is a check, not a check-in."""
    return any(
        word in _CHECKS and not (word == "check" and rest[at + 1 : at + 2] in (["in"], ["out"]))
        for at, word in enumerate(rest[:4])
    )


QUESTION_LIKE = frozenset(("that", "whom", "why"))


def _planned(clause: Clause, at: int, found: set[str]) -> None:
    """A base or -ing form: a plan of the agent ("I will cancel"), or a hand-over ("I'm transferring you")."""
    row, word = clause.row, clause.row[at]
    before = row[max(0, at - 5) : at]
    if "you" in before and not ("i" in before or "we" in before or "me" in before):
        return
    if any(here in _MODAL or here in ("not", "never") for here in before):
        return
    if "let" in before and word not in _HANDOVER and word != "put":
        return
    ing = clause.words[at].text.endswith("ing") and any(here in ("am", "are") for here in before)
    plan = any(here in ("wil", "shal", "go") for here in before) or "let" in before or ing
    if not plan or not ("i" in before or "we" in before or "let" in before or "be" in before):
        return
    rest = row[at + 1 : at + 9]
    if word in PENDING_VERBS and THIRD.intersection(rest) and (word not in DONE_VERBS or word in _HANDOVER):
        found.add(PENDING)
    elif word in DONE_VERBS:
        found.add(PROMISE)


def _negations(clause: Clause, found: set[str]) -> None:
    """What cannot, may not or did not happen."""
    row, hyp = clause.row, clause.hyp
    for at, word in enumerate(row):
        if at >= hyp:
            break
        if word == "no" and at + 1 < len(row) and row[at + 1] not in _HARMLESS:
            rest = row[at + 1 : at + 6]
            if ({"can", "could", "wil", "may"} & set(rest)) and any(w in CAPABLE for w in rest) and "if" not in row:
                found.add(REFUSED)
        if word not in ("not", "unabl", "never", "neither"):
            continue
        before = row[at - 1] if at else ""
        before = "did" if at and clause.words[at - 1].text == "did" else before
        follow = row[at + 1 : at + 6]
        if before in ("can", "could") and "done" in follow:
            found.add(REFUSED)
            continue
        if "yet" in row and before in ("hav", "is", "did") and _DECIDERS.intersection(row):
            found.add(PENDING)
            continue
        if not follow and before in ("can", "could"):
            found.add(REFUSED)
        if {"get", "receiv"} & set(follow[:2]):
            if _MONEY.intersection(row[at + 1 : at + 7]) or _APPROVERS.intersection(follow):
                found.add(REFUSED)
            continue
        if before == "do" and follow[:1] == ["hav"] and _LACKING.intersection(follow):
            found.add(REFUSED)
            continue
        verb = next((w for w in follow if w in CAPABLE or w in LOOK or w in _BENIGN or w in DONE_VERBS), "")
        if at == 1 and before == "do":
            continue
        if not verb or (follow and follow[0] == "only") or (before in ("can", "could", "wil", "would") and follow[:1] == ["you"]):
            continue
        if verb == "abl":
            verb = next((w for w in row[at + 1 : at + 8] if w != "abl" and (w in CAPABLE or w in LOOK or w in DONE_VERBS)), "abl")
        if verb in _BENIGN and verb not in CAPABLE:
            continue
        if verb == "pai" and before in ("do", "wil"):
            continue
        if _gated(clause):
            found.add(OBSTACLE)
        elif verb in LOOK and not ({"refund", "cancel"} & set(follow[:2])):
            found.add(UNVERIFIED if verb in ("verifi", "identifi", "authenticat", "confirm", "match", "recognis") else NOT_FOUND)
        elif before in ("hav", "did", "was", "were") and verb in DONE_VERBS and verb not in _APPROVE and "abl" not in follow:
            found.discard(DONE)
            found.add(NOT_YET)
        elif "yet" in row and before in ("hav", "did", "is", "been"):
            found.add(PENDING if verb in _APPROVE else NOT_YET)
        elif before == "do" and row[at - 2 : at - 1] == ["you"] and verb not in _ENTITLED:
            continue
        elif verb in CAPABLE:
            found.add(REFUSED)
