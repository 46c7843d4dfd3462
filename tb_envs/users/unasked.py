"""What mentions a fact or has the form of a question, and yet asks for nothing.

Refuses what only sounds alike: "I don't have your name", "you did not tell me", "never got your e-mail" are asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from .checking import STAFF
from .clauses import Clause
from .lexicon import ASK_VERBS, COMMANDS, DOMAIN
from .phrases import stem_set
from .words import each

_MOODS = ("ask", "consent", "check", "alternative", "goal", "whole", "contact_detail", "greet", "second", "else")
_DENIERS = each("not never no nothing neither none skip optional spar forget matter without unnecessari superfluou")
_LATER = each("later afterward next tomorrow subsequent eventual")
_ANYONE = each("anyone anybody everyone everybody nobody whoever people") | stem_set(
    "guests callers customers visitors travellers persons members colleagues"
)
_PLURALS = each("guests callers customers visitors travellers persons members everyone everybody anyone anybody people")
_LEADS = each("who what how why is are do did wil would god heaven goodnes can could should i isn")
TRIGGERS = (
    _DENIERS
    | _LATER
    | _ANYONE
    | each("nobodi everybodi anybodi wait check arriv ask need want minute second if cas before without")
)
_ODD = stem_set(
    "funny strange odd curious amazing wonderful weird crazy incredible annoying awful terrible ironic typical lovely"
    " nice sad silly ridiculous remarkable fascinating interesting great hilarious mad"
)
_KIND = each("kind thoughtful sweet good excit lucki clever")
_TELLING = (
    ASK_VERBS
    | COMMANDS
    | stem_set(
        "tell give send provide share mention look search worry bother need want require ask dig hunt hand fetch"
    )
) - stem_set("forward")
_CASES = each("if when cas")
_MUSING = each("not who ask know alwai without forget anyone anybody what how hav god heaven goodnes")
"""Words without one of which nothing is a rhetorical question."""
_TO_DO_WITH = ["hav", "to", "do", "with"]
_WANTING = stem_set("need want require ask")
_ASKING = stem_set("ask need want require request get turn come collect take")
_PLACES = (["check", "in"], ["at", "desk"], ["on", "arriv"], ["upon", "arriv"], ["you", "arriv"], ["at", "arriv"])
_NEEDLESS = each("necessari needed required mandatori requir need obligatori important relevant essential")
_INQUIRING = each("how which")
_PUTTING = each("leav keep sav spar")
_AT = each("check at on upon you")
_NEEDLESS_THINGS = ("optional", "unnecessari", "superfluou")
_SUFFICING = each("do enough suffic suffici need want requir")
_DENYING = each("not never no nothing forget do skip") | _WANTING | frozenset(_NEEDLESS_THINGS)
_SINGLE = stem_set("guest caller customer visitor traveller person member")
_ALL_MEN = stem_set("nobody everybody everyone noone anyone anybody people")
_FEELING = stem_set("like love want enjoy hate need deserve wish prefer would should expect know could can")
_KEPT = stem_set("noted have got recorded found received copied filed know")
_NOTED = ("noted", "got", "recorded", "found", "received", "copied", "filed", "written")
_THINGS = stem_set("thing item point piece detail fact two three four following that all")
_ALL = each("all both that they which everything")
_SEEING = stem_set("see have got found")
_OWNERS = each("i we")
_TO_US = (["me"], ["us"])
_MAY = each("could can may might")
_WE = (["i"], ["we"])
_CHECKING = each("recheck check confirm repeat sum recap summaris summariz clarifi verifi")
_THAT_IS = (["that", "is"], ["it", "is"])
_EXCEPTED = each("except mis lack remain outstanding")
_FILLERS = each("yes okai right alright")
_SUBJECTS = each("i we you they it he she that is are was were hav do wil can could would to for in on")
_OTHERS = each("they colleagu team he she desk reception someone")


def settle(heard: Sequence[Clause]) -> None:
    """Mark the clauses that ask for nothing."""
    staff = False
    _joined(heard)
    some = any("which" in clause.row for clause in heard)
    for at, clause in enumerate(heard):
        row = clause.row
        if not some:
            pass
        elif "which" in row:
            if staff or not STAFF.isdisjoint(row):
                clause.labels.pop("alternative", None)  # "which of our colleagues was it?"
            elif row[:2] == ["which", "of"] and clause.dets[2:3] == ["our"]:
                clause.labels.pop("alternative", None)  # "which of our hotels …?"
            elif row[:2] == ["which", "of"] and clause.dets[2:3] == ["your"] and row[2] not in DOMAIN:
                clause.labels.pop("alternative", None)  # "which of your singers …, and which of them …?"
                staff = True
        else:
            staff = not STAFF.isdisjoint(row)
        if not _MUSING.isdisjoint(row) and (row[0] in _LEADS or "ask" in row) and rhetorical(clause):
            clause.idle, clause.question = len(row), False
            for label in _MOODS:
                clause.labels.pop(label, None)
        elif not (clause.question or TRIGGERS.isdisjoint(row) or row[0] in _INQUIRING) and unasked(clause):
            clause.idle = _reach(clause)
            if clause.idle == len(row):
                clause.labels.pop("ask", None)
            if "nothing" in row:
                clause.labels.pop("refused", None)  # "there is nothing I need"
            follow = heard[at + 1] if at + 1 < len(heard) else clause
            if clause.idle == len(row) and follow.sentence == clause.sentence and _SUBJECTS.isdisjoint(follow.row):
                follow.labels.setdefault("ask", 0)  # "I don't need all names, only the name of the choir"


def _joined(heard: Sequence[Clause]) -> None:
    """Mark what the clause before or after it in the sentence says is not asked for."""
    for at in range(1, len(heard)):
        clause, before = heard[at], heard[at - 1]
        if clause.sentence != before.sentence:
            continue
        row = clause.row
        if (
            clause.question
            and row[0] in _OWNERS
            and row[-1] in _FILLERS
            and row[1] == "wil"
            and ("your" in before.dets or before.row[1:2] in _TO_US)
            and _SUBJECTS.isdisjoint(before.row)
        ):
            clause.question = False  # "drop me your e-mail and I'll have a look, okay?"
            clause.labels.pop("check", None)
            clause.labels.pop("consent", None)
        elif (
            before.question
            and len(before.row) < 7
            and before.row[0] in _MAY
            and before.row[1:2] in _WE
            and not _CHECKING.isdisjoint(before.row[2:4])
            and _wish(row)
        ):
            before.question = False  # "could I double-check: you want it cancelled?"
            before.labels.pop("alternative", None)
            before.labels.pop("consent", None)
        elif 0 in clause.colons and before.row[0] in ("i", "we") and not _THINGS.isdisjoint(before.row[2:]):
            if _WANTING.isdisjoint(before.row) and any(token.text in _NOTED for token in before.words):
                clause.idle = len(row)  # "I have noted three things: your surname, …"
        elif row[:2] in _THAT_IS and not _EXCEPTED.isdisjoint(before.row) and len(row) < 6:
            clause.labels.setdefault("ask", 0)  # "all fields are filled except one, and that's the phone"
        elif row[0] in _ALL and not _KEPT.isdisjoint(row) and not _OWNERS.isdisjoint(row[:4]) and "not" not in row:
            if before.row[0] not in ("i", "we", "you") and not clause.question and _WANTING.isdisjoint(row):
                before.idle = len(before.row)  # "your surname, your e-mail: all of these I have on file"
        elif (
            0 in clause.commas
            and row[0] in _OWNERS
            and not (clause.question or before.polite or _SEEING.isdisjoint(row) or _ALL.isdisjoint(row))
            and not {"i", "we", "you", "is", "are", "what"} & set(before.row)
            and _WANTING.isdisjoint(row)
            and "not" not in row
        ):
            before.idle = len(before.row)  # "your dates, your name: I can see it all"
        elif clause.question and row[:2] == ["you", "or"] and before.row[0] == "who":
            before.idle = len(before.row)  # "who made the booking, you or a travel agency?"


def _wish(row: Sequence[str]) -> bool:
    return row[0] in ("you", "it", "that") and len(row) > 3


def _reach(clause: Clause) -> int:
    """How far the denial reaches: "I don't need the number, the date will do" asks for the date."""
    row = clause.row
    for at in sorted(clause.commas):
        rest = row[at:]
        if at > 1 and not _SUFFICING.isdisjoint(rest) and "not" not in rest:
            return at
    return len(row)


def rhetorical(clause: Clause) -> bool:
    """A question or an exclamation that wants no answer: "Isn't it funny that …", "Who would have thought …"."""
    row = clause.row
    head = row[:5]
    first, second = head[0], head[1] if len(head) > 1 else ""
    if first == "who" and head[1:3] == ["on", "earth"]:
        return True
    if first == "who":
        if second in ("would", "could", "wil") and head[2:3] in (["hav"], ["not"], ["want"], ["belief"], ["believ"]):
            return True
        return head[1:3] in (["do", "not"], ["hav", "not"]) or (second == "know" and not clause.question)
    if first in ("is", "are", "do", "did", "was") and "not" in head[1:3]:
        return not _ODD.isdisjoint(row[1:6]) or (
            first == "do" and bool({"hate", "lov", "hat", "think"} & set(row[2:5]))
        )
    if first in ("god", "heaven", "goodnes") and second == "know":
        return True
    if "ask" in row and any(token.text == "myself" for token in clause.words):
        return True
    if first == "what" and len(row) > 1 and clause.dets[1] in ("a", "an") and not clause.question:
        return True
    if first == "how" and (second in _ODD or second in _KIND) and not clause.question:
        return True  # "how nice that you want a better room"
    if first == "what" and second == "would" and "without" in row:
        return True
    if first in ("what", "how") and "you" not in row and any(row[at : at + 4] == _TO_DO_WITH for at in range(len(row))):
        return True
    if first in ("why", "how") and "alwai" in row and "you" not in row:
        return True
    return first == "how" and second in ("could", "can") and not {"forget", "anyone", "anybody"}.isdisjoint(row[2:5])


def unasked(clause: Clause) -> bool:
    """Whether what the clause names is expressly not asked for: denied, put off, a rule for everybody."""
    row = clause.row
    if row[:2] in (["if", "i"], ["if", "we"]) and clause.words[2:3] and clause.words[2].text in ("needed", "wanted"):
        return True
    if row[:2] in (["before", "i"], ["before", "we"]) and row[2:3] in (["ask"], ["need"], ["tak"]):
        return True
    return _denied(clause, row) or (not clause.polite and (_put_off(clause, row) or _rule(clause, row)))


def _denied(clause: Clause, row: list[str]) -> bool:
    """As in "You needn't tell me", "no need to look", "there is nothing I need", "I'd only need it if …"."""
    for at, word in enumerate(row):
        if word not in _DENYING:
            continue
        follow = row[at + 1 : at + 5]
        if word == "not":
            before = clause.words[at - 1].text if at else ""
            if follow[:1] and follow[0] in _NEEDLESS and not (before == "did" or follow[0] == "requir"):
                return row[at - 1 : at] != ["do"] or follow[0] != "need" or _others_need(row, at)
            if before in ("do", "does", "need", "will", "would", "must", "should", "please", "wo", "to") or not at:
                if follow[:2] == ["hav", "to"] and _TELLING.intersection(row[at + 3 : at + 6]):
                    return True
                if follow[:2] in (["want", "to"], ["wish", "to"], ["lik", "to"]):
                    continue  # "I do not want to be rude"
                if follow[:1] == ["matter"] or (follow[:1] and follow[0] in _TELLING and _telling(row, at, before)):
                    return True
        elif word == "never":
            if follow[:1] == ["mind"] or (
                follow[:1] and follow[0] in _TELLING and clause.words[at + 1].text[-2:] != "ed"
            ):
                return _base(clause, at + 1)
        elif word == "no":
            if follow[:1] == ["need"] or (follow[:1] and not _NEEDLESS.isdisjoint(follow)):
                return True
        elif word == "nothing":
            if {"need", "requir", "needed", "miss"} & set(follow) or follow[:3] == ["for", "you", "to"]:
                return "but" not in row and "except" not in row
            if follow[:2] == ["to", "do"] and (clause.now or len(row) < 5):
                return True
        elif word == "forget":
            if at < 2 and row[at - 1 : at] not in (["not"], ["you"], ["i"], ["to"]):
                return True
        elif word in _WANTING and clause.general:
            if not _CASES.isdisjoint(row[at + 1 :]):
                return True
        elif word in _NEEDLESS_THINGS or (word == "do" and follow == ["without"]) or (word == "skip" and at < 4):
            return True
    return False


def _telling(row: list[str], at: int, before: str) -> bool:
    """Whether the verb that is denied is the telling or the needing of something."""
    subject = next((word for word in reversed(row[: max(0, at - 1)]) if word in ("i", "we", "you", "they")), "")
    if row[at + 1] in ("need", "want", "requir", "ask"):
        return before in ("do", "does", "will", "would", "wo")
    return subject in ("you", "") or before in ("need", "must", "should")


def _others_need(row: list[str], at: int) -> bool:
    return bool({"i", "we", "you", "they"} & set(row[:at]))


def _base(clause: Clause, at: int) -> bool:
    """A verb in its base form: "never send", where "never sent" tells of the past."""
    return clause.words[at].text not in ("sent", "gave", "given", "told", "got", "said", "wrote")


def _put_off(clause: Clause, row: list[str]) -> bool:
    """As in "I will ask for your e-mail afterwards", "the phone number can wait"."""
    if row[-1] == "wait" and row[-2:-1] == ["can"]:
        return True
    if row[0] in _PUTTING and row[-1] in _LATER:
        return True  # "leave the e-mail for later"
    if _ASKING.isdisjoint(row) and row[-1] not in _LATER:
        return False
    soon = row[-2:] in (["in", "minut"], ["in", "second"], ["in", "moment"])
    when = soon or not _LATER.isdisjoint(row) or ["after", "that"] in (row[-2:], row[:2])
    if not when and (_AT.isdisjoint(row) or not any(row[at : at + 2] in _PLACES for at in range(len(row)))):
        return False
    if row[-1] in _LATER and not {"i", "we"}.isdisjoint(row):
        return True
    for at, word in enumerate(row):
        if word in ("wil", "shal", "would", "go", "may", "might") and not _ASKING.isdisjoint(row[at + 1 : at + 4]):
            subject = row[max(0, at - 2) : at]
            return bool({"i", "we", "you"} & set(subject)) or not _OTHERS.isdisjoint(subject)
    return False


def _rule(clause: Clause, row: list[str]) -> bool:
    """As in "Guests normally give their name", "anyone who calls will be asked for a name"."""
    for at, token in enumerate(clause.words[:4]):
        if token.text in ("i", "we", "you", "please"):
            break
        if token.text in _PLURALS and not clause.dets[at].startswith("you"):
            return "to" not in row[at : at + 4] or "need" not in row
    for at, token in enumerate(clause.words if "ask" in row else ()):
        if token.text == "asked" and row[at + 1 : at + 2] == ["for"] and row[at - 1] in ("be", "are", "is", "get"):
            return True
    if row[:1] == ["when"] and len(clause.words) > 1:
        return clause.words[1].text in _PLURALS or (clause.dets[1] in ("a", "an") and row[1] in _SINGLE)
    return _truism(row)


def _truism(row: list[str]) -> bool:
    """As in "I get that, nobody likes to rush on their last day"."""
    for at, word in enumerate(row[:-1]):
        if (word in _ALL_MEN or (word == "one" and row[at - 1 : at] == ["no"])) and row[at + 1] in _FEELING:
            return True
        if word == "guest" and row[at - 1 : at] in (["most"], ["mani"], ["all"]):
            return True
    return False
