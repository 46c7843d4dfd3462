"""What a clause says about the end of a request: done, refused, pending, under way, or nothing.

Refuses questions and hypotheticals ("if the manager approves, I will refund").
"""

from __future__ import annotations

from .clauses import Clause
from .deeds import softened, verbs
from .ends import (
    APPROVERS,
    ARRIVE,
    AVAILABLE,
    BE,
    DONE,
    FUTURE,
    HARD_HYP,
    KEPT,
    MODAL,
    MONEY,
    NOT_FOUND,
    NOT_YET,
    OBSTACLE,
    PAPERS,
    PENDING,
    PRICES,
    PROMISE,
    REFUSED,
    SOON,
    WAIT,
)
from .events import told
from .lexicon import THIRD
from .negations import gated, negations, too_early
from .phrases import stem_set
from .records import DATA, THINGS
from .words import Is, each

_ABLE = each("can could possibl do done availabl fre left abl")
_NEEDING = each("need want requir lack ask miss expect")
_DOORS = stem_set(
    "profile file form window page step point part number office desk restaurant pool gate door bar garage account"
    " screen spa gym"
)
_DUTIES = each("need requir must subject")
_MAY = each("can could may might")
_WE = frozenset(("i", "we", "me", "us", "let"))
_COMES = frozenset(("arriv", "com", "go", "appear", "show", "reach", "way"))
_SENDS = frozenset(("send", "email", "mail", "get", "receiv"))
_WAITED = frozenset(("took", "needed", "waited", "lasted"))
_SETTLED = frozenset((DONE, REFUSED, KEPT))
_UNDONE = frozenset((NOT_YET, REFUSED, WAIT, PENDING, PROMISE, OBSTACLE, NOT_FOUND))


def outcomes(clause: Clause) -> set[str]:
    """All that the clause says of the kinds above."""
    found: set[str] = set()
    labels, row = clause.labels, clause.row
    if "wait" in labels and waits(clause, labels["wait"]):
        found.add(WAIT)
    if WAIT in found and abs(labels["wait"] - labels.get("pending", -9)) < 2:
        found.discard(WAIT)  # "I must wait for an answer of my chief"
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
        and not (row[at] == "with" and clause.words[at + 1].text in ("bill", "bills"))
    ):
        found.add(PENDING)  # but not "I have your stay open"
    at = labels.get("contact")
    if (
        at is not None
        and (at < hyp or soft)
        and FUTURE.intersection(row[: at + 1])
        and not _negated(row, at, 3)
        and not PAPERS.intersection(row)
        and not _comes_back(clause, at)
    ):
        found.add(WAIT if SOON.intersection(row) and "i" in row[:at] else PENDING)
    if hyp == 0:
        return found
    if (
        "refused" in labels
        and labels["refused"] < hyp
        and not _listed(row, labels["refused"])
        and not _harmless(row, labels["refused"])
        and not softened(row, labels["refused"])
    ):
        found.add(REFUSED if "tied" in row else gated(clause) or REFUSED)
    if "kept" in labels and labels["kept"] < hyp and "yet" not in row and "far" not in row:
        found.add(KEPT)
    if "obstacle" in labels or _needs_approval(row):
        found.add(OBSTACLE)
    at = labels.get("done", hyp)
    if (
        at < hyp
        and not _unsure(row, at)
        and clause.words[at].text not in ("go", "going", "goes")
        and not _read(row, at)
        and not (row[at] == "tak" and clause.words[at].text == "take")
        and not (row[at] == "done" and row[at - 2 : at] in (["we", "are"], ["i", "am"]))
        and not (at and not DATA.isdisjoint(row[:at]) and THINGS.isdisjoint(row[:at]))
    ):
        found.add(DONE)
    if _handed(row):
        found.add(PENDING)
    verbs(clause, found)
    negations(clause, found)
    if found and too_early(clause):
        found -= _SETTLED
        found.add(NOT_YET)
    if (clause.now and _UNDONE.isdisjoint(found) and _state(clause)) or (
        row[0] == "new" and ("is" in row or "are" in row) and not PRICES.intersection(row)
    ):
        found.add(DONE)
    if not found:
        told(clause, found)
    return found - {DONE, REFUSED} if clause.hedged else found


def waits(clause: Clause, at: int) -> bool:
    """Whether the words of waiting at `at` ask the customer to wait.

    Refuses what the agent did already ("I have looked"), what the customer is to look at, and when a thing arrives.
    """
    row, text = clause.row, clause.words[at].text
    before = row[:at]
    if row[at] == "stand" and row[at + 2 : at + 3] not in ([], ["for"]):
        return False  # "we stand by the charges"
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
    return not (comes or not PAPERS.isdisjoint(before))


def _negated(row: list[str], at: int, back: int, but: str = "") -> bool:
    return any(word in ("not", "never", "no") for word in row[max(0, at - back) : at]) and not (but and but in row)


def _comes_back(clause: Clause, at: int) -> bool:
    """As in "you would get back all you paid", "USD 300 will come back to you": money, no call."""
    row = clause.row
    if row[at + 1 : at + 2] != ["back"]:
        return False
    if row[at + 2 : at + 3] == ["to"] and row[at + 3 : at + 4] in (["it"], ["that"]):
        return True
    return (
        "you" in row[:at]
        or not MONEY.isdisjoint(row)
        or any(token.kind is Is.AMOUNT for token in clause.words)
        or ("usd" in row)
    )


def _needs_approval(row: list[str]) -> bool:
    return not _DUTIES.isdisjoint(row) and not APPROVERS.isdisjoint(row)


def _listed(row: list[str], at: int) -> bool:
    """As in "We have a flexible and a non-refundable rate"."""
    return row[at] in ("non", "nonrefundabl") and at > 0 and not BE.intersection(row[:at])


def _harmless(row: list[str], at: int) -> bool:
    """As in "there is nothing to pay", "no rooms have been released so far"."""
    if row[at] == "nothing":
        rest = row[at + 1 : at + 7]
        return _ABLE.isdisjoint(rest) and (rest[:1] == ["to"] or not _NEEDING.isdisjoint(rest[:3]))
    return row[at] == "no" and {"hav", "been"} <= set(row[at + 1 : at + 6])


def _read(row: list[str], at: int) -> bool:
    """As in "I have gone through your bill"."""
    return row[at] == "go" and row[at + 1 : at + 2] == ["through"] and ("i" in row[:at] or "we" in row[:at])


def _unsure(row: list[str], at: int) -> bool:
    before = row[max(0, at - 4) : at + 1]
    return (
        any(
            word in MODAL or word in ("not", "never", "nothing", "to", "get", "wil", "everything")
            for word in before[:-1]
        )
        or (row[at] == "done" and any(word in ("everything", "all") for word in row[at + 1 : at + 3]))
        or row[at] in ("not", "no")
        or row[at + 2 : at + 4] in (["in", "luck"], ["in", "time"], ["in", "good"])
    )


def _handed(row: list[str]) -> bool:
    """As in "your request is with our bookings team"."""
    at = row.index("with") if "with" in row else 0
    return (
        at > 0
        and row[at - 1] in ("is", "are", "li", "rest")
        and row[0] not in ("i", "we")
        and not THIRD.isdisjoint(row[at + 1 : at + 4])
    )


def _state(clause: Clause) -> bool:
    row = clause.row
    return (
        row[0] not in ("i", "we", "they", "he", "she", "let", "what", "so", "here", "there")
        and not _handed(row)
        and (DATA.isdisjoint(row) or not THINGS.isdisjoint(row[:4]))
        and "not" not in row
        and any(word in ("is", "are", "hav", "run", "start", "begin", "end", "last") for word in row)
        and not any(token.text.endswith("ing") and token.text not in ("booking", "parking") for token in clause.words)
        and not PRICES.intersection(row[:4])
        and not any(word in AVAILABLE and row[at + 1 : at + 2] != ["of"] for at, word in enumerate(row))
    )
