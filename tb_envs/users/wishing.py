"""The mood of a clause: whether it asks for something to be told, whatever that is.

Refuses statements, refusals of facts ("I don't need your number"), and what somebody else will ask.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from .clauses import Clause
from .consents import TAGS
from .demanding import (
    FRAMES,
    GAVE,
    HEADING,
    MODAL,
    NOT_TELLERS,
    SUBJECTS,
    VERBS,
    aimed,
    closing,
    enumerates,
    frames,
    heading,
    headline,
    in_force,
    item,
    must_record,
    on_file,
    searches,
)
from .lexicon import ASK_VERBS, COMMANDS, CURRENCY, GET_VERBS, LOOK, NEED_VERBS, QUESTION_WORDS
from .phrases import Span, stem_set
from .telling import PROMPTS, happens, tells, without
from .words import Is, each

_AGENT = each("i we me us they he she manager system team")
_AUX = each("is are was were do did wil would can could should shal may might must hav")
_BEFORE_QUESTION = each(
    "and or to in on at under with for from by of ask know tel me us say explain confirm clarifi understand plu"
    " specifi advis indicat stat curiou wonder first about also exactli then remind mention wel okai so hi hello thank"
    " mean namely eg ie until til"
)
_ELSEWHERE = stem_set(
    "check see allow note hold wait keep contact call visit refer find look feel use remember expect open click"
    " follow reply bear accept excuse ignore disregard watch rest stand respond stay come bring go try reach"
)
_OTHER_VERBS = (
    ASK_VERBS
    | NEED_VERBS
    | stem_set(
        "list contain cost say says apply requires start includes takes want mean show match differ belong allow make"
        " confirm find located receive update cancel refund process book change send pay got appreciate seems looks"
        " agree"
    )
)
_BEEN = each("been was were")
_NO_COMMAND = (
    VERBS
    | _ELSEWHERE
    | stem_set(
        "got noted let once when if unless until before after because since while whereas found with for in on at by"
        " from to about as cancel refund change update with perfect great"
    )
)
_NONE = each("no not nothing none neither nobody never")
_US_FOR = each("for me us")
_FILLED = stem_set("fill complete supply name add include")
_EXPLAINING = (["it", "start"], ["it", "begin"], ["it", "is"], ["it", "look"], ["you", "can"], ["you", "find"])
_TELLS = each("says said shows showed showing states stated tells telling told saying reading knows")
_WOULD = each("i we would should wil do")
_LINKING = each("is are was were")
_MINE = each("i we")
_CUES = QUESTION_WORDS | ASK_VERBS | COMMANDS | NEED_VERBS | MODAL | PROMPTS | each("be must would request")
"""Words that may make a clause an ask."""
_RELATES = _AUX | each("i we you they it he she")
_FOUND = stem_set("find see have notice discover")
_NEEDING = each("tel giv send need must know ask")
_DUTIES = stem_set(
    "kind good remember necessary essential mandatory important careful mind ask sure able have oblige require"
) | each("as")
_TO_US = (["me"], ["us"])
_NO_GERUNDS = ("ping", "bring", "ring", "fling", "sling", "swing")
_TOOLS = stem_set(
    "screen system form computer program programme field policy procedure software mask template manager boss"
)
BLOCKING = frozenset(("wait", "bye", "done", "refused"))


def cue(clause: Clause, inherits: bool = False, found: Sequence[Span] = (), begins: bool = True) -> bool:
    """Whether the clause has the mood of asking for something to be told.

    Args:
        clause: the clause.
        inherits: the clause before it, in the same message, has it.
        found: the facts it names.
        begins: it begins its sentence.
    """
    row, labels, size = clause.row, clause.labels, len(clause.row)
    if clause.idle >= size:
        return False
    if row[0] == "let" and "look" in row[2:4]:
        return False
    if not clause.question and (_in_passing(clause, found) or (found and happens(clause, found))):
        return False
    if "ask" in labels and not _refuses(row, labels["ask"]) and in_force(clause, labels["ask"], found):
        return True
    if "whole" in labels and row[0] in COMMANDS:
        return True
    if not FRAMES.isdisjoint(row) and "not" not in row and frames(clause, found):
        return True
    if (clause.colons or (clause.commas and not HEADING.isdisjoint(row))) and "not" not in row and heading(clause):
        return True
    if clause.colons and found and enumerates(clause, found):
        return True
    if found and row[0] in _MINE and searches(clause, found):
        return True
    if "to" in row and must_record(clause, found):
        return True
    if found and (item(clause, found) if inherits else on_file(row, found) or headline(clause, found[0])):
        return True
    if inherits and found and found[-1].hi == size and closing(clause, found[-1]):
        clause.idle = found[-1].lo
        return True
    if inherits and not clause.question and row[:2] in _EXPLAINING:
        return True  # "your booking number (it starts with BK)"
    if inherits and row[0] == "when" and size < 6:
        return True  # "tell me when you come, when you go"
    if inherits and clause.thus and row[0] in ("is", "are", "do"):
        return True  # "the booking number is mandatory, so is the surname"
    for at, word in enumerate(row) if not _CUES.isdisjoint(row) else ():
        if word not in _CUES:
            continue
        if word in QUESTION_WORDS:
            if question_word(clause, at):
                return True
        elif word in ASK_VERBS:
            text = clause.words[at].text
            if (
                not text.endswith(("ed", "ion"))
                and (not text.endswith("ing") or (at and not clause.dets[at] and row[at + 1 : at + 2] != ["of"]))
                and not (text[-1] == "s" and text[-2:] != "ss")
                and text not in GAVE
                and aimed(clause, at, found)
                and _customers(row, clause.commas, at)
            ):
                return True
        elif word == "request":
            if clause.words[at].text == "request" and not clause.dets[at] and _requests(row[:at]):
                return True
        elif (
            (
                word in COMMANDS
                and (at == 0 or at in clause.polite or at in clause.commas)
                and row[at + 1 : at + 2] == ["me"]
            )
            or (word == "be" and at and row[at - 1] in ("must", "to", "should", "shal") and _stated(clause, at + 1))
            or (
                word in PROMPTS
                and at
                and (row[at - 1] in _TOOLS or row[at - 1] == "it")
                and (at + 1 == size or row[at + 1] in _US_FOR)
            )
            or (word in ("must", "would") and row[at - 1 : at] in (["i"], ["we"]) and _has(clause, at + 1))
        ):
            return True
        elif word in MODAL and at + 2 < size:
            if row[at + 1] in ("i", "we") and row[at + 2] in GET_VERBS:
                return True
            if "you" in row[at + 1 : at + (3 if row[at + 1] == "not" else 2)] and _asked_to_do(row, at):
                return True
        elif word in NEED_VERBS and (at or not clause.dets[0]) and _agents_need(row, at):
            return True
    polite = clause.polite if row[:2] != ["do", "not"] else None
    if polite and not BLOCKING.intersection(labels):
        first = row[0] if 0 in polite else ""
        if (
            first not in _ELSEWHERE
            and row[0] not in ("be", "let")
            and row[0] not in ("i", "we")
            and not ({"i", "we"} & set(row[:2]) and 0 not in polite)
        ):
            return True
    if row[0] not in _NONE and fragment(clause) and "wait" not in labels and not without(clause, found):
        thanks = labels.get("empathy", size)
        last = 0 < thanks == size - 1 and row[-1] in ("thank", "cheer")
        return (
            inherits
            or clause.question
            or ((begins or 0 in clause.colons) and (thanks == size or last) and "greet" not in labels)
        )
    return clause.question and "consent" not in labels and row[-1] not in TAGS


def _requests(before: list[str]) -> bool:
    """As in "we respectfully request …", "I am obliged to request …"."""
    return not _MINE.isdisjoint(before) and "you" not in before and "wil" not in before and "not" not in before


def _in_passing(clause: Clause, found: Sequence[Span]) -> bool:
    """As in "thanks for giving me the number", "it depends on how many arrive", "…, where I found two entries"."""
    row = clause.row
    if row[0] == "do" and clause.thus and len(row) < 4:
        return True  # "your points matter, and so do your nights"
    if (
        row[0] == "you"
        and row[1:2] == ["hav"]
        and found
        and row[found[0].lo - 1] == "for"
        and ("a" in clause.dets[2:4] or "an" in clause.dets[2:4])
    ):
        return True  # "you've got a good memory for dates!"
    if row[0] == "thank":
        return not clause.polite and "for" in row[1:4] and any(token.text.endswith("ing") for token in clause.words)
    if "ask" in row and clause.values and not CURRENCY.isdisjoint(row[row.index("ask") + 1 :][:2]):
        return True  # "we would have to ask EUR 40 for it"
    if row[0] in QUESTION_WORDS and "they" in row[1:4] and not clause.polite and "you" not in row:
        return True  # "people ask me that every day, how late they can stay"
    if len(row) > 4 and not clause.polite and tells(clause):
        return True
    if "depend" in row:
        return not clause.polite and ("on" in row or "upon" in row) and row[0] not in ("that", "i", "we", "tel")
    if row[0] == "where" and 0 in clause.commas:
        return row[1:2] in (["i"], ["we"]) and not _FOUND.isdisjoint(row[2:4])
    return "look" in row and "see" in row[row.index("look") :] and _NEEDING.isdisjoint(row)


def commanded(clause: Clause, first: Span) -> bool:
    """As in "Hit me with your number": a verb first, no subject, something of the customer's."""
    row, lo = clause.row, first.lo
    word = clause.words[0].text
    if not lo or clause.dets[0] or row[0] in _NO_COMMAND or word.endswith("ed") or _gerund(word):
        return False
    if clause.dets[lo] != "your" and row[1:2] not in _TO_US:
        return False
    before = row[:lo]
    if any(_gerund(token.text) for token in clause.words[:lo]) or "thank" in row or clause.question:
        return False
    return VERBS.isdisjoint(before) and "not" not in before and "no" not in before


def _gerund(text: str) -> bool:
    return text.endswith("ing") and text not in _NO_GERUNDS


def fragment(clause: Clause) -> bool:
    """No verb and no subject: "Booking number and e-mail"."""
    row = clause.row
    if row[0] == "to" and len(row) > 1 and not clause.dets[1] and QUESTION_WORDS.isdisjoint(row[:3]):
        return False  # "to log in to the member area"
    return (
        len(row) < 12
        and not any(word in VERBS or word in _ELSEWHERE or word in _OTHER_VERBS for word in row)
        and not any(
            token.text.endswith(("ed", "ing")) and token.stem not in ("booking", "need", "bil", "end")
            for token in clause.words[:2]
        )
    )


def question_word(clause: Clause, at: int) -> bool:
    """Whether the word at `at` asks, rather than joins ("when you arrive", "that is why")."""
    row, word = clause.row, clause.row[at]
    if word not in QUESTION_WORDS:
        return False
    before = row[at - 1] if at else ""
    if not clause.question and (
        (word in ("how", "what") and not _indirectly(clause, at))
        or (
            at == 0
            and 0 in clause.commas
            and word in ("who", "which")
            and (word == "who" or not _RELATES.isdisjoint(row[1:2]))
        )
    ):
        return False  # ", who will write to you", ", which is why"
    if word == "when" and not (
        (at + 1 < len(row) and row[at + 1] in _AUX)
        or before in ("know", "tel", "me", "confirm", "for", "of", "until", "til", "from", "by")
        or (len(row) < 4 and clause.question)
    ):
        return False
    if "wait" in clause.labels and not clause.question and at:
        return False
    if at == 0 or at in clause.commas or before in _BEFORE_QUESTION:
        return True
    if at == 1 and clause.words[0].kind is Is.NUMBER:
        return True  # "c) how many rooms you want to return"
    return clause.question and before not in ("is", "see", "booking", "stay", "room", "rate")


def _indirectly(clause: Clause, at: int) -> bool:
    """Whether an indirect "how" or "what" asks, unlike "sorry about how it went", "what happened is …"."""
    row = clause.row
    before = row[at - 1] if at > 1 else ""
    if before in ("by", "understand", "about", "for", "with", "see", "imagin", "at"):
        return row[at + 1 : at + 2] in (["mani"], ["much"], ["long"]) or (
            before not in ("by", "about", "at") and row[at] == "what"
        )
    if clause.words[at - 1].text in _TELLS and at:
        return False  # "the contract says how many rooms …"
    if before == "me" and at > 1 and clause.words[at - 2].text in ("asked", "told"):
        return False
    if before == "us" and at > 2 and row[at - 3] in NOT_TELLERS:
        return False  # "guests tell us how much they like it"
    if at == 0 and row[0] == "what" and not _LINKING.isdisjoint(row[2:]):
        return not (row[1] == "happen" or (row[1] in ("i", "we") and NEED_VERBS.isdisjoint(row[2:5])))
    return True


def _refuses(row: list[str], at: int) -> bool:
    """As in "You don't need to give …", "no need to share"."""
    before = row[max(0, at - 3) : at]
    return (
        ("not" in before or "no" in before or "never" in before)
        and row[at] != "without"
        and not ("you" in before and row[at] == "you")
    )


def _customers(row: list[str], commas: Set[int], at: int) -> bool:
    """Whether the telling verb at `at` is the customer's to do."""
    if (at > 1 and row[at - 1] == "for" and "thank" in row[:at]) or row[at + 1 : at + 2] == ["you"]:
        return False
    if at and row[at - 1] in NOT_TELLERS:
        return False  # "guests tell us …"
    if row[at + 1 : at + 3] == ["to", "you"]:
        return False  # "they will look at it and write to you"
    for back in range(at - 1, max(-1, at - 6), -1):
        here = row[back]
        if back + 1 in commas and here not in ("you", "i", "we"):
            return True
        if here == "you":
            return not _refuses(row, back) or (row[back - 1] == "not" and back > 1 and row[back - 2] in MODAL)
        if here in _AGENT:
            return False
        if here in ("not", "never", "no"):
            return False
    if row[at - 1] == "to" and at > 1:  # "our desk likes to send a note"
        return not _DUTIES.isdisjoint(row[:at]) or row[:at] == ["that", "is", "to"]
    return at == 0 or row[at - 1] != "wil"


def _stated(clause: Clause, at: int) -> bool:
    """As in "the surname must be stated": what must be told."""
    if at >= len(clause.row) or "not" in clause.row[:at]:
        return False
    word, text = clause.row[at], clause.words[at].text
    return (word in ASK_VERBS and text != "sent") or word in _FILLED


def _has(clause: Clause, at: int) -> bool:
    """As in "I must have the number", "I would have three questions", but not "I would have called"."""
    row = clause.row
    if row[at : at + 1] == ["to"]:
        at += 1  # "I must to know"
    if row[at : at + 1] not in (["hav"], ["know"], ["ask"]):
        return False
    return not (row[at] == "hav" and at + 1 < len(row) and clause.words[at + 1].text.endswith(("ed", "en", "ought")))


def _asked_to_do(row: list[str], at: int) -> bool:
    rest = row[at + 1 : at + 9]
    you = rest.index("you")
    follow = rest[you + 1 :]
    if follow[:1] and follow[0] in ("lik", "want", "prefer", "wish", "agre", "accept", "need"):
        return False
    return any(word in ASK_VERBS or word in LOOK or word in ("hav", "get", "know") for word in follow)


def _agents_need(row: list[str], at: int) -> bool:
    before = row[max(0, at - 5) : at]
    if row[at] == "lik" and at and row[at - 1] not in _WOULD:
        return False  # "I get calls like this"
    if "not" in before or "never" in before:
        return False
    nearest = next((word for word in reversed(before) if word in SUBJECTS), "")
    if nearest == "you":
        return False
    if before and (before[-1] in _TOOLS or before[-1] == "it") and nearest in ("", "it"):
        return row[at] not in ("lov", "lik", "appreciat")  # "the system wants your surname"
    if row[at] in ("lov", "lik", "appreciat") and before[-1:] in (["i"], ["we"]):
        return False  # "I love your name", no "I would like your name"
    return "i" in before or "we" in before or (at == 0 and _BEEN.isdisjoint(row))
