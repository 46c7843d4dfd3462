"""What a clause says about the end of a request: done, refused, pending, under way, or nothing.

Refuses questions and hypotheticals ("if the manager approves, I will refund").
"""

from __future__ import annotations

from .barring import barred
from .clauses import Clause
from .deeds import verbs
from .elsewhere import for_another
from .ends import (
    APPROVERS,
    ARRIVE,
    DECIDING,
    DEED,
    DONE,
    FUTURE,
    HARD_HYP,
    INABLE,
    KEPT,
    MONEY,
    NOT_FOUND,
    NOT_YET,
    OBSTACLE,
    PAPERS,
    PENDING,
    PRICES,
    PROMISE,
    REFUSED,
    RULE,
    SOON,
    TICKET,
    WAIT,
)
from .events import told
from .handing import others
from .lookalikes import (
    TALKED,
    asks_them,
    by_whom,
    consoles,
    going,
    harmless,
    listed,
    no_end,
    read,
    reason,
    stays_open,
    to_talk,
    under_way,
    unsure,
)
from .negations import gated, negations, too_early
from .phrases import stem_set
from .records import DATA, THINGS
from .sealing import UNTIL, awaits, sealed
from .standing import CASES, JUDGING, LYING, handed, stands_so
from .words import Is, each

_DOORS = stem_set(
    "profile file form window page step point part number office desk restaurant pool gate door bar garage account"
    " screen spa gym"
)
_DUTIES = each("need requir must subject")
_MAY = each("can could may might")
_MILD = each("not might may could would")
_WE = frozenset(("i", "we", "me", "us", "let"))
_LETTING = each("alow allow grant permit giv")
_SPANS = each("moment minut second sec")
_COMPARED = each("dearer cheaper higher lower longer shorter nicer better expensiv more les same available free")
_COOLED = each("heat bed sheet volum music radiator light air sound tv temperatur cover")
_LIKING = each("nobodi noon want not never hate would without if rather avoid")
_DAYS = each("day week")
_PRETENDING = each("ignor forget disregard pretend imagin suppos")
_COMES = frozenset(("arriv", "com", "go", "appear", "show", "reach", "way"))
_SENDS = frozenset(("send", "email", "mail", "get", "receiv"))
_WAITED = frozenset(("took", "needed", "waited", "lasted"))
_SETTLED = frozenset((DONE, REFUSED, KEPT))
_TOLD = frozenset((DONE, DEED, PENDING, "approved", "arrives"))
_FINISHED = [[it, be, "finish"] for it in ("it", "that", "all", "everything", "work") for be in ("is", "hav")]
_CLOSED = each("request cas fil ticket matter claim")
_RATES = stem_set("rate tariff fare offer deal booking reservation room special")
_APART = each("apart except otherwis besid")
_THEY = each("they he she")
_WANTS = (["ask"], ["want"], ["need"], ["lik"], ["lov"], ["prefer"], ["see"], ["wish"])
_DENIED = frozenset((REFUSED, INABLE))
_SUMS = each("fee charg pay amount sum pric cost money rat rul polici")
_CAUSES = each("as since because")
_OWN = each("right authoriti permit system login program role rank level remit power account let alow allow myself")
_HANDED = stem_set("pass forward hand refer escalate transfer submit ask sent send")
_MACHINES = stem_set("screen page system program programme file computer list connection portal window printer")
_RARE = each("being clos turn ask next another")
_IT = each("it that everything they")
_REASONS = each("as since because")
_COMING = each("wil shal go under await pend would within until by tomorrow usual")
_UNDONE = frozenset((NOT_YET, REFUSED, WAIT, PENDING, PROMISE, OBSTACLE, NOT_FOUND))


def outcomes(clause: Clause) -> set[str]:
    """All that the clause says of the kinds above."""
    found: set[str] = set()
    labels, row = clause.labels, clause.row
    at = labels.get("wait")
    if at is not None and row[0] not in _THEY and abs(at - labels.get("pending", -9)) > 1 and waits(clause, at):
        found.add(WAIT)  # but not "I must wait for an answer of my chief"
    if row == ["on", "it"]:
        found.add(WAIT)
    if clause.question:
        return found
    hyp = clause.hyp
    soft = clause.hyp_word not in HARD_HYP
    at = labels.get("pending")
    if (
        at is not None
        and (at < hyp or soft)
        and not _negated(row, at, 2, but="yet")
        and _MAY.isdisjoint(row[max(0, at - 2) : at])
        and not (row[at] == "stai" and clause.dets[at])
        and not (row[at + 2 : at + 3] == ["answer"] and clause.dets[at + 2])
        and not (row[at + 1 : at + 2] in (["open"], ["outstanding"]) and not _DOORS.isdisjoint(row[:at]))
        and not (row[at + 1 : at + 2] == ["open"] and CASES.isdisjoint(row[:at]) and not stays_open(clause, at))
        and not (row[at] == "do" and clause.words[at].text != "did")
        and clause.words[min(at + 1, len(row) - 1)].text not in ("had", "bill", "bills")
        and row[at + 1 : at + 3] != ["wil", "not"]
        and not (row[at] == "pending" and ("was" in row[at - 2 : at] or "transfer" in row[:at]))
        and not (row[at] == "mak" and row[at - 1 : at] in (["i"], ["we"]))
        and (row[at + 1 : at + 2] != ["wil"] or row[at + 2 : at + 3] not in _WANTS)
    ):
        talked = row[at] == "with" and at and clause.words[at - 1].text in TALKED
        if not (row[at] == "with" and to_talk(clause, at)):
            machine = row[at] == "wait" and not _MACHINES.isdisjoint(row[at + 1 : at + 5])
            found.add(TICKET if talked else WAIT if machine else PENDING)  # but not "I have your stay open"
    at = labels.get("contact")
    if (
        at is not None
        and (at < hyp or soft)
        and FUTURE.intersection(row[: at + 1])
        and not _negated(row, at, 3)
        and not PAPERS.intersection(row)
        and not (at > 1 and row[at - 1] == "to" and [row[at - 2]] in _WANTS)
        and not _comes_back(clause, at)
    ):
        found.add(WAIT if SOON.intersection(row) and "i" in row[:at] else PENDING)
    if hyp == 0:
        if clause.hyp_word == "whether" and "decid" in row and "by" in row and "wil" in row:
            found.add(PENDING)  # "whether you get it will be decided by the front desk"
        return found
    if (
        "refused" in labels
        and labels["refused"] < hyp
        and not (row[0] in _REASONS and reason(clause, labels["refused"]))
        and not listed(row, labels["refused"])
        and not (row[labels["refused"]] == "tak" and labels["refused"] == 1 and len(row) < 6)
        and not harmless(clause, labels["refused"])
        and _MILD.isdisjoint(row[max(0, labels["refused"] - 3) : labels["refused"]])
        and not (row[labels["refused"]] == "stand" and row[: labels["refused"]][-1:] == ["you"])
        and not (row[labels["refused"]] == "insist" and _SUMS.isdisjoint(row))
        and not _right_now(clause, labels["refused"] + 2)
        and not (row[labels["refused"] + 2 : labels["refused"] + 3] == ["go"] and going(clause, labels["refused"] + 2))
    ):
        found.add(RULE if "tied" in row or _attribute(row, labels["refused"]) else gated(clause) or REFUSED)
    if "kept" in labels and labels["kept"] < hyp and "yet" not in row and "far" not in row:
        found.add(KEPT)
    if "obstacle" in labels or (not _DUTIES.isdisjoint(row) and not APPROVERS.isdisjoint(row)):
        found.add(OBSTACLE)
    at = labels.get("done", hyp)
    if (
        at < hyp
        and not unsure(clause, at)
        and clause.words[at].text not in ("go", "going", "goes")
        and not read(row, at)
        and not no_end(clause, at)
        and not (row[at] == "tak" and clause.words[at].text == "take")
        and not (row[at] in ("it", "that", "which", "everything", "both", "al") and by_whom(clause, at))
        and not (row[at] == "done" and row[at - 2 : at] in (["we", "are"], ["i", "am"]))
        and not (at and not DATA.isdisjoint(row[:at]) and THINGS.isdisjoint(row[:at]))
    ):
        found.add(DONE)
    rare = not _RARE.isdisjoint(row)
    if rare and "being" in row and not hyp < len(row):
        found |= under_way(clause)
    if ("with" in row or "at" in row) and not LYING.isdisjoint(row) and handed(clause):
        found.add(PENDING)
    verbs(clause, found)
    negations(clause, found)
    if rare and "clos" in row and PROMISE in found and not _CLOSED.isdisjoint(row[row.index("clos") :]):
        found.discard(PROMISE)  # "I'm closing this request"
        found.add(KEPT)
    if rare and "turn" in row and "down" in row:
        _turned_down(clause, found)
    if DONE in found and clause.hyp_word == "before" and row[hyp + 2 : hyp + 3] == ["could"]:
        found.discard(DONE)  # "it was closed again before I could save it"
    if found and too_early(clause):
        found -= _SETTLED
        found.add(NOT_YET)
    if (
        (clause.now or clause.again or ("from" in row and (row[-1] == "on" or (row[0] == "from" and "on" in row[2:5]))))
        and _UNDONE.isdisjoint(found)
        and stands_so(clause)
    ) or (
        row[0] == "new"
        and ("is" in row or "are" in row)
        and PRICES.isdisjoint(row)
        and "request" not in row
        and _COMPARED.isdisjoint(row)  # but not "the new nights are a bit dearer"
    ):
        found.add(DONE)
    if not found and len(row) == 3 and row in _FINISHED and clause.words[-1].text != "finish":
        found.add(DEED)
    if not found:
        others(clause, found)
        if not found:
            told(clause, found)
        if not found:
            sealed(clause, found)
        if not found:
            barred(clause, found)
    if not UNTIL.isdisjoint(row):
        awaits(clause, found)
    if rare and "ask" in row and asks_them(row):
        found -= _TOLD
        found.add(PENDING)
    if not found:
        return found
    if KEPT in found and clause.thus and not clause.now and row[0] in _IT and hyp >= len(row):
        found.add(REFUSED)  # "…, so it stays as it is"
    if rare and "next" in row and row[row.index("next") + 1 :][:1] == ["tim"]:
        found -= {PROMISE, WAIT}  # "we'll do better next time"
    if rare and "another" in row and for_another(row):
        return set[str]()
    if "empathy" in labels and consoles(clause):
        found -= _TOLD
    if clause.hedged:
        found -= {DONE, REFUSED}
    if clause.general and not found.isdisjoint(_DENIED):
        found -= _DENIED
        found.add(RULE)
    elif REFUSED in found and _own_limit(clause):
        found.discard(REFUSED)
        found.add(INABLE)
    if PENDING in found and not JUDGING.isdisjoint(row) and not _COMING.isdisjoint(row):
        found.add(DECIDING)
    return found


def _attribute(row: list[str], at: int) -> bool:
    """As in "it's a non-refundable rate": what kind of rate it is."""
    if row[at] not in ("non", "nonrefundabl"):
        return False
    return not _RATES.isdisjoint(row[at + 1 : at + 3]) or (at > 1 and row[at - 1] == "is" and row[at - 2] in _RATES)


def _right_now(clause: Clause, at: int) -> bool:
    """As in "your bill is corrected", "the bill is right now": put right, not right all along."""
    if clause.row[at : at + 1] not in (["correct"], ["right"]):
        return False
    if not _APART.isdisjoint(clause.row):
        return True  # "the bill is correct apart from the minibar"
    return clause.words[at].text == "corrected" or clause.now


def _turned_down(clause: Clause, found: set[str]) -> None:
    """As in "I have to turn the late check-out down", but not "I'll turn down the heating"."""
    row = clause.row
    at = row.index("turn")
    down = row.index("down")
    if not at < down < at + 9 or at > clause.hyp:
        return
    if _COOLED.isdisjoint(row) and _LIKING.isdisjoint(row[max(0, at - 5) : at]):
        found.discard(WAIT)
        found.add(REFUSED)
    else:
        found.discard(REFUSED)


def _own_limit(clause: Clause) -> bool:
    """As in "because the system doesn't let me", "I have no right to": why the agent itself does not do it."""
    row = clause.row
    if clause.cause or row[0] in _CAUSES or "min" in row:
        return True
    if not _OWN.isdisjoint(row) and ("me" in row or "i" in row or "my" in clause.dets):
        return True
    return not _CAUSES.isdisjoint(row) and not _HANDED.isdisjoint(row)


def waits(clause: Clause, at: int) -> bool:
    """Whether the words of waiting at `at` ask the customer to wait.

    Refuses what the agent did already ("I have looked"), what the customer is to look at, and when a thing arrives.
    """
    row, text = clause.row, clause.words[at].text
    before = row[:at]
    if not _DAYS.isdisjoint(row[at + 1 : at + 4]) and row[at] != "hold":
        return False  # "we need a few days to go over your case"
    if before[-1:] == ["for"] and clause.dets[at] == "the":
        return False  # "it is on hold for the moment"
    if row[0] in _PRETENDING:
        return False  # "ignore the booking for a moment"
    if row[at] == "hold" and clause.dets[at]:
        return False  # "I released the hold on your account"
    if before[-2:] == ["at", "that"]:
        return False  # "none is free at this moment"
    if row[at] == "stand" and row[at + 2 : at + 3] not in ([], ["for"]):
        return False  # "we stand by the charges"
    if "ago" in row[at : at + 4] and _SPANS.isdisjoint(row[row.index("ago", at) :]):
        return False  # "it was refunded five minutes ago"
    if row[at] in _LETTING and "not" in before[-2:]:
        return False  # "the booking does not allow me to"
    if "thank" in before or (at and clause.words[at - 1].text in _WAITED):
        return False
    if row[at] in ("hav", "tak") and "look" in row[at + 1 : at + 4]:
        looked = any(token.text in ("looked", "looking") for token in clause.words[at + 1 : at + 4])
        return not looked and text != "had" and not _WE.isdisjoint(before)
    if not PAPERS.isdisjoint(row) and not _SENDS.isdisjoint(before):
        return False  # "I'll send you the new confirmation in a minute"
    if not _WE.isdisjoint(before) or "tak" in before or "need" in before:
        return True
    comes = not ARRIVE.isdisjoint(before) or not _COMES.isdisjoint(before)
    return not (comes or not PAPERS.isdisjoint(before) or before[-1:] == ["at"])


def _negated(row: list[str], at: int, back: int, but: str = "") -> bool:
    return any(word in ("not", "never", "no") for word in row[max(0, at - back) : at]) and not (but and but in row)


def _comes_back(clause: Clause, at: int) -> bool:
    """As in "you would get back all you paid", "USD 300 will come back to you": money, no call."""
    row = clause.row
    if row[at + 1 : at + 2] != ["back"] or row[at] == "hear":
        return False
    if row[at + 2 : at + 3] == ["to"] and row[at + 3 : at + 4] in (["it"], ["that"]):
        return True
    return (
        "you" in row[:at]
        or not MONEY.isdisjoint(row)
        or any(token.kind is Is.AMOUNT for token in clause.words)
        or ("usd" in row)
    )
