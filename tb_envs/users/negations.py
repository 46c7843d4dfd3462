"""What a clause says cannot, may not or did not happen.

Refuses reassurances ("you won't be charged", "no problem"), and a "can't … without …", which is an obstacle.
"""

from __future__ import annotations

from .clauses import Clause
from .ends import (
    APPROVE,
    APPROVERS,
    BENIGN,
    DECIDERS,
    DONE,
    ENTITLED,
    FREE_OF,
    GATES,
    HARMLESS,
    INABLE,
    LACKING,
    LIMITED,
    MONEY,
    NOT_FOUND,
    NOT_YET,
    OBSTACLE,
    PENDING,
    PERSONS,
    PROOFS,
    REFUSED,
    RULE,
    SAYING,
    TELLS,
    UNVERIFIED,
    WAIT,
)
from .lexicon import ACTION_OF, CAPABLE, DONE_VERBS, LOOK
from .values import NUMBERS
from .words import Is, each

_UNDERTAKEN = each("refund cancel disput claim complaint trac recal")
_FETCHING = each("cal get fetch bring pull")
_NOT_LEAVING = (["go", "out"], ["go", "through"], ["go", "anywhere"], ["be", "sent"], ["leav", "account"])
_NOTHING_COMES = (["get", "anything"], ["receiv", "anything"], ["get", "any"])
_MATURING = each("end matur expir run")
_HEARING = each("hear read learn sad piti shame")
_GIVEN = each("as sinc becaus sorri that")
_COSTS = each("charging usd eur gbp")
_PEOPLE = each("manager supervisor he she colleagu person someone")
_NEGATIVE = each("no not none neither never unabl")
_NO_THING = each("no neither none")
_CHOSEN = each("decid choos agre prefer resolv sorri regret abl instruct told allow permit authoris")
_MODALS = each("can could may wil shal")
_ALONE = each("myself ourselv alone todai tonight")
_NO = each("not no nothing none neither never nobody nor without")
_SO_FAR = frozenset((("so", "far"), ("as", "yet"), ("to", "date"), ("til", "now"), ("thu", "far"), ("at", "present")))
_STEPS = each("go mak do proceed tak process put send let act continu share work happen give")
_OUGHT = each("wil should would do")
_DEALING = CAPABLE | each("speak talk deal discus")
_BRIEF = each("long minut moment second sec instant")
_TILL = each("until til")
_DAYTIMES = each("noon midday evening afternoon tonight midnight")
_POINTS = each("now that date point moment here present todai")


def negations(clause: Clause, found: set[str]) -> None:
    """What cannot, may not or did not happen."""
    row, hyp = clause.row, clause.hyp
    if clause.general and PERSONS.intersection(row) and {"can", "may"} & set(row) and _DEALING.intersection(row):
        found.add(REFUSED)  # "only the guest can cancel"
    elif (
        clause.general
        and not (clause.usual or row[0] != "we" or PERSONS.isdisjoint(row))
        and not _DEALING.isdisjoint(row[1:4])
    ):
        found.add(REFUSED)  # "we only talk to the guest himself"
    elif clause.general and not clause.usual and row[0] == "we" and "one" in row[2:4] and row[1] in CAPABLE:
        found.add(RULE)  # "we only reverse one fee a year"
    if _NEGATIVE.isdisjoint(row):
        return
    for at, word in enumerate(row):
        if at >= hyp:
            break
        if word == "no" and at == len(row) - 1 and row[at - 1 : at] in (["is"], ["was"], ["remain"]):
            found.add(REFUSED)
        if word in _NO_THING and at + 1 < len(row) and row[at + 1] not in HARMLESS:
            rest = row[at + 1 : at + 6]
            if (
                ("possibl" in rest or {"can", "could", "wil", "may"} & set(rest))
                and any(w in CAPABLE or w in DONE_VERBS for w in rest)
                and "if" not in row
            ):
                found.add(gated(clause) or REFUSED)
        if word not in ("not", "unabl", "never", "neither"):
            continue
        before = row[at - 1] if at else ""
        before = "did" if at and clause.words[at - 1].text == "did" else before
        follow = row[at + 1 : at + 6]
        if before in _OUGHT:
            if not _BRIEF.isdisjoint(follow) and (follow[0] in ("be", "tak") or "long" in follow[:2]):
                found.add(WAIT)  # "it won't take long", "that shouldn't be a minute"
                continue
            if before == "should":
                continue  # "this should not have happened"
        if before in ("can", "could") and "done" in follow:
            found.add(REFUSED)
            continue
        if not at and follow and clause.words[1].text.endswith("ed") and follow[0] in DONE_VERBS:
            found.add(NOT_YET)
            continue
        if follow[:1] == ["to"] and _CHOSEN.isdisjoint(row[:at]) and before not in _MODALS:
            continue  # "in order not to disclose anything"
        if "yet" in row and before in ("hav", "is", "did") and DECIDERS.intersection(row):
            found.add(PENDING)
            continue
        if not follow and before in ("can", "could"):
            found.add(REFUSED)
        if before in ("can", "could") and "back" in follow and _fetched(follow):
            found.add(REFUSED)  # "the transfer can't be called back", "we can't get it back for you"
            continue
        if before == "wil" and follow[:2] in _NOT_LEAVING:
            continue  # "the transfer won't go out, I've cancelled it"
        if before == "wil" and row[at - 2 : at - 1] == ["you"] and follow[:2] in _NOTHING_COMES:
            found.add(REFUSED)  # "you won't get anything for it"
            continue
        if before == "wil" and follow[:1] == ["see"] and not MONEY.isdisjoint(follow):
            found.add(REFUSED)  # "you won't see your money again"
            continue
        if {"get", "receiv"} & set(follow[:2]):
            if MONEY.intersection(row[at + 1 : at + 7]) or APPROVERS.intersection(follow):
                found.add(REFUSED)
            continue
        if before == "do" and follow[:1] == ["hav"] and LACKING.intersection(follow):
            found.add(REFUSED)
            continue
        if before == "wil" and row[at - 2 : at - 1] == ["you"] and follow[:2] == ["hav", "to"]:
            continue
        if word == "never" and (not at or follow[:1] in (["do"], ["end"])):
            continue  # "never send it by mail", "we never did"
        if follow[:2] == ["go", "to"]:
            follow = row[at + 2 : at + 6]
        verb = next((w for w in follow if w in CAPABLE or w in LOOK or w in BENIGN or w in DONE_VERBS), "")
        if at == 1 and before == "do":
            continue
        if (
            not verb
            or (follow and follow[0] == "only")
            or (before in ("can", "could", "wil", "would") and follow[:1] == ["you"])
        ):
            continue
        if verb == "abl":
            verb = next(
                (w for w in row[at + 1 : at + 8] if w != "abl" and (w in CAPABLE or w in LOOK or w in DONE_VERBS)),
                "abl",
            )
        if verb == "availabl" and not _PEOPLE.isdisjoint(row[:at]):
            continue
        if (verb in BENIGN and verb not in CAPABLE) or follow[:1] in (["lik"], ["want"], ["wish"]):
            continue
        if _theirs(row, at, verb) or (
            verb == "count" and before not in ("can", "could", "wil") and (before != "do" or row[0] == "you")
        ):
            continue  # "you can't come", "the nights weren't counted"
        if verb == "pay" and row[at - 2 : at - 1] == ["we"] and "you" not in row and row[-1] != "differenc":
            found.add(REFUSED)  # "we don't pay anything for that"
            continue
        if (verb == "pay" and before in ("do", "wil")) or (verb in ("return", "refund", "pay") and "differenc" in row):
            continue
        if gated(clause):
            found.add(gated(clause))
        elif verb in LOOK and not _UNDERTAKEN.intersection(follow):
            found.add(
                UNVERIFIED
                if verb in ("verifi", "identifi", "authenticat", "confirm", "match", "recognis")
                else NOT_FOUND
            )
        elif (
            before in ("hav", "did", "was", "were")
            and verb in DONE_VERBS
            and verb not in APPROVE
            and "abl" not in follow
        ):
            found.discard(DONE)
            found.add(NOT_YET)
        elif (before == "hav" and verb in _STEPS and "abl" not in follow) or (before == "am" and clause.now):
            found.add(NOT_YET)
        elif "yet" in row and before in ("hav", "did", "is", "been"):
            found.add(PENDING if verb in APPROVE else NOT_YET)
        elif before == "do" and row[at - 2 : at - 1] == ["you"] and verb not in ENTITLED:
            continue
        elif verb in CAPABLE or ((verb in DONE_VERBS or verb in LOOK) and before in _MODALS):
            found.add(_inability(clause, at, before))


def _fetched(follow: list[str]) -> bool:
    if _FETCHING.isdisjoint(follow[:2]) or "you" in follow[:3]:
        return False
    return follow[:2] not in (["get", "back"], ["be", "back"])


def _inability(clause: Clause, at: int, before: str) -> str:
    """Who cannot do it, and what: "I can't decide that", "I can't do it myself", "we cannot refund it"."""
    row = clause.row
    around = row[max(0, at - 3) : at + 7]
    if not SAYING.isdisjoint(around) and (before in _MODALS or "abl" in around or around[:1] == ["decid"]):
        return LIMITED
    if before in _MODALS or before == "am":
        if not _ALONE.isdisjoint(row[at:]):
            return LIMITED
        if row[at - 2 : at - 1] == ["i"]:
            return INABLE
    return REFUSED


def too_early(clause: Clause) -> bool:
    """As in "so far we have not cancelled anything", "nothing has been refunded up to now"."""
    row = clause.row
    if _NO.isdisjoint(row):
        return False
    for at, word in enumerate(row[:-1]):
        pair = (word, row[at + 1])
        if pair in _SO_FAR or (word in ("up", "until", "til") and row[at + 1] in ("to", "that", "now", "here")):
            return word != "up" or len(row) < at + 3 or row[at + 2] in _POINTS
    return "yet" in row[2:]


def _theirs(row: list[str], at: int, verb: str) -> bool:
    """As in "sorry to hear you can't make it", "as you can't come": the customer's own trouble."""
    if row[at - 2 : at - 1] != ["you"]:
        return False
    if verb == "mak" and row[at + 2 : at + 3] in (["it"], ["that"]):
        return True
    before = row[: at - 2]
    return not _HEARING.isdisjoint(before) or (verb not in ACTION_OF and not _GIVEN.isdisjoint(before))


def gated(clause: Clause) -> str:
    """What a "without", "until" or "unless" makes of a refusal: an obstacle, or that a proof is missing."""
    row = clause.row
    if clause.hyp_word == "if" and _lacking(row, clause.hyp):
        return OBSTACLE
    if "long" in row and row[row.index("long") + 1 : row.index("long") + 2] == ["as"]:
        return UNVERIFIED if not PROOFS.isdisjoint(row) else OBSTACLE
    if any(
        word in GATES
        and (word != "before" or (not TELLS.isdisjoint(row[at + 1 :]) and not _NO.isdisjoint(row[:at])))
        and (FREE_OF.isdisjoint(row[at + 1 : at + 3]) or _priced(clause, at))
        and not (word in _TILL and _timed(clause, at + 1))
        and not (word == "before" and not _MATURING.isdisjoint(row[at + 2 : at + 4]))
        for at, word in enumerate(row)
    ):
        theirs = any(word in PROOFS and clause.dets[at] != "your" for at, word in enumerate(row))
        return UNVERIFIED if theirs else OBSTACLE
    return ""


def _lacking(row: list[str], at: int) -> bool:
    """As in "I won't be able to change it if I can't find it"."""
    return (
        row[at + 1 : at + 2] in (["i"], ["we"]) and "not" in row[at + 2 : at + 4] and not LOOK.isdisjoint(row[at + 3 :])
    )


def _timed(clause: Clause, at: int) -> bool:
    """As in "until four", "till 16:00", "until Monday": how long something lasts."""
    if "you" in clause.row[:at] and at < len(clause.row):
        token = clause.words[at]
        return token.kind in (Is.TIME, Is.NUMBER) or token.text in NUMBERS or token.text in _DAYTIMES
    return False


def _priced(clause: Clause, at: int) -> bool:
    """As in "without charging you", "without a fee of USD 65": a condition, where "without charge" is none."""
    return any(token.text in _COSTS or token.kind is Is.AMOUNT for token in clause.words[at + 1 : at + 7])
