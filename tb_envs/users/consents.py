"""Does a clause ask for a go-ahead?

Refuses to answer, and to look beyond the clause. First come the usual wordings, then, where they find nothing, the
shapes of a consent question in anyone's English: who is to act, what is accepted, a bare "I can do it?".
"""

from __future__ import annotations

from collections.abc import Sequence

from .clauses import Clause
from .lexicon import ACTION_OF, DONE_VERBS, GET_VERBS, PLAIN_PAST, QUESTION_WORDS
from .phrases import stem_set, stems
from .words import Is, each

_DECIDERS = each("manager he she they supervisor bos chief superior director housekeep team colleagu")
"""People whose yes is not the customer's."""
_ALONE = each("ready okai alright fin agre deal good right correct yes interest")
_CALLING = stem_set("ring call phone contact consult")
_AM_I = ["am", "i"]
_PERMITTED = each("alow allow permit clear free okai authoris")
_STARTS = (["start", "with"], ["begin", "with"], ["go", "with"])
_DO_I = (["do", "i"], ["do", "we"])
_VERBS = (frozenset(ACTION_OF) | frozenset(stems("reserve book"))) - {"bil"}
_FOR_YOU = ["for", "you"]
_KEEPING = GET_VERBS | each("hav keep pay")
_BARE = each("acceptabl agreeabl suitabl accept convenient fair")
_ACTING = DONE_VERBS | frozenset(stems("charge bill submit switch do start keep go proceed continue accept have pay"))
_INVERTED = each("is are would shal do may can should could")
_INVERTS = each("that it i we you")
_TAKEN_OFF = each("off out away back")
"""As in "may I take these charges off your bill?"."""
_WANT = (["want"], ["lik"], ["wish"])
_MODAL = each("can could may shal should might")
_TO_YOU = each("do would wil are so you and")
_WAITING = frozenset(("need", "await", "wait", "requir", "giv", "mis", "lack"))
_LEAVE = stem_set(
    "confirmation approval agreement consent permission blessing go okay yes authorisation acceptance assent"
)
_HANDING = each("giv tel send say writ let show")
TAGS = each("correct right yes accurat true okai")

_TELLING = each(
    "let know tel say okai fin alright mind confirm happi glad good grateful agre want wish you me repli"
    " writ answer give giv"
)
"""Words of somebody who wants to be told whether."""


def consents_to(clause: Clause) -> bool:
    """Whether the clause asks for a go-ahead."""
    labels = clause.labels
    if not clause.question and "consent" not in labels and PLEAS.isdisjoint(clause.row):
        return False
    if (
        "else" in labels
        or "goal" in labels
        or "whole" in labels
        or clause.row[2:4] in _STARTS
        or ("enough" in clause.row and "ask" in labels)
        or clause.row[-1] == "what"
        or ("good" in clause.row and clause.row[clause.row.index("good") - 1] == "as" and "for" in clause.row)
        or commands(clause.row)
    ):
        return False
    return _worded(clause) or shaped(clause)


def commands(row: list[str]) -> bool:
    """As in "you give me your number, ok?"."""
    return row[0] == "you" and row[1:2] != [] and row[1] in _HANDING and row[2:3] in (["me"], ["us"])


def _worded(clause: Clause) -> bool:
    labels, row = clause.labels, clause.row
    at = labels.get("consent")
    if at is not None and "confirmation" in row and row[row.index("confirmation") + 1 :][:1] in (["number"], ["email"]):
        at = None
    if clause.question:
        if (
            row[-1] in TAGS - {"okai"}
            and row[:2] not in (["is", "that"], ["is", "it"])
            and "as" not in row
            and len(row) > 1
        ):
            return False
        if len(row) > 1 and row[-1] in _ALONE and len(row) - 1 in clause.commas:
            return True
        if row in (["may", "i"], ["can", "i"], ["shal", "i"], ["shal", "we"], ["may", "we"]):
            return True
        verb = next((word for word in row[:3] if word not in ("okai", "so", "then", "and", "wel")), "")
        for_you = row[-2:] == _FOR_YOU  # "cancel it for you?"
        if verb in _VERBS and (for_you or "you" not in row) and clause.words[0].text != "disputed":
            return True
        if row[:2] in _DO_I and row[2:3] and row[2] in _ACTING and row[2] not in _KEEPING:
            return True  # "do I book it?"
        if "would" in row and any(
            row[near : near + 2] in (["if", "i"], ["if", "we"]) for near in range(1, len(row) - 2)
        ):
            return True
        if row[0] == "mind" and any(word in GET_VERBS for word in row[2:4]):
            return False
        if at is not None and not _asks_first(row, at):
            return True
        if (
            row[0] in _MODAL
            and len(row) > 2
            and row[1] in ("i", "we")
            and (
                (row[2] in _ACTING and row[2] not in GET_VERBS)
                or (row[2] == "tak" and not _TAKEN_OFF.isdisjoint(row[3:7]))
                or (row[2] in _CALLING and row[3:4] not in ([], ["you"], ["on"], ["at"]))
                or row[2] == "then"
                or (row[2] == "get" and _goal(row))
            )
        ):
            return row[2] != "hav"
        if (
            row[0] in ("is", "are", "would", "wil")
            and row[-1] in _ALONE | {"acceptabl", "agreeabl", "suitabl", "convenient"}
            and row[-1] not in TAGS - {"okai"}
        ):
            return True
        wants = row[1:2] == ["you"] and row[2:3] in _WANT and "both" not in row
        if wants and row[-1] in _ACTING and clause.words[-1].text.endswith("ed"):
            return True  # "do you want the charges removed?"
        if row[0] in _TO_YOU and "you" in row[:3] and (row[0] != "and" or row[1] == "you" or row[1] in _TO_YOU):
            for near, word in enumerate(row[:5]):
                if (
                    word in ("lik", "want", "wish", "lov", "rather", "prefer")
                    and "not" not in row[:near]
                    and row[near + 1 : near + 2] == ["to"]
                    and any(w in _ACTING for w in row[near + 2 : near + 5])
                ):
                    return True
        return (len(row) == 1 and (row[0] in _BARE or row[0] in _ALONE - TAGS)) or row in (
            ["okai"],
            ["confirm"],
            ["do", "you", "confirm"],
            ["can", "you", "confirm"],
            ["could", "you", "confirm"],
        )
    if (
        row == ["confirm"]
        or (row[0] == "confirm" and clause.polite and len(row) < 3)
        or row in (["can", "you", "confirm"], ["could", "you", "confirm"])
    ):
        return True
    if (
        row[0] == "confirm"
        and len(row) > 1
        and row[1] in ACTION_OF
        and not any(token.kind > 1 for token in clause.words)
    ):
        return True
    if _WAITING.intersection(row) and any(
        word in _LEAVE and clause.dets[near] == "your" for near, word in enumerate(row)
    ):
        return True
    if at is None or (row[0] == "to" and at < 2) or (at and row[at - 1] in _NOUNS and row[at] == "consent"):
        return False  # "to proceed, please provide …"
    rest = row[at:]
    if rest[:2] == ["if", "you"] or (not at and row[0] in _INVERTED and row[1:2] and row[1] in _INVERTS):
        return True  # "is that fine for you" without its question mark
    if (
        "i" in row[:at]
        and "you" not in row
        and not ("know" in row and "if" in row)
        and "await" not in row
        and "need" not in row
    ):
        return False
    if {"without", "befor", "can", "unabl"} & set(row[:at]) and "me" not in rest:
        return False
    if not _DECIDERS.isdisjoint(row[:at]):
        return False
    if at and rest[1:2] in (["i"], ["we"]) and rest[0] == "if" and _TELLING.isdisjoint(row[:at]):
        return False  # "the price may go up if I move it"
    if (row[0] == "if" and rest[:1] != ["if"]) or {"know", "if"} <= set(row[:at]):
        return True
    return rest[0] in (
        "if",
        "know",
        "tel",
        "green",
        "want",
        "lik",
        "confirm",
        "say",
        "repli",
        "typ",
        "answer",
        "respond",
        "nod",
        "give",
        "wish",
        "with",
        "writ",
        "y",
        "yes",
        "giv",
        "okai",
        "agre",
        "acknowledg",
    ) or (
        rest[0] in ("consent", "permit", "go-ahead", "go", "proceed", "objection")
        and (
            "know" in row
            or ("need" in row and rest[0] not in ("go", "proceed"))
            or "await" in row
            or "say" in row
            or bool(clause.polite)
            or ("if" in row[:at] and "you" in row[:at])
        )
    )


def _goal(row: Sequence[str]) -> bool:
    return any(word in ACTION_OF for word in row)


def _asks_first(row: Sequence[str], at: int) -> bool:
    """A question word before the consent: "which date would you like me to book"."""
    return any(word in ("what", "which", "where", "who", "whom", "whose", "why", "when") for word in row[: at + 1]) or (
        row[0] == "how" and row[1:2] != ["do"]
    )


# — the shapes, where the wordings found nothing ——————————————————————————————————————————————————

_TAIL = each("by for to with you sir then so like that it please at all from of me us side part")
_ACCEPTED = stem_set(
    "accepted acceptable agreed agreeable approved okay alright fine suitable convenient welcome wanted desired wished"
    " fair bearable tolerable affordable worth confirmed granted given permitted allowed reasonable"
)
_BE = each("is are was be wil would")
_PASSIVE_FIRST = each("shal should may")
_WILLING = stem_set("willing prepared ready inclined happy glad content interested able comfortable disposed minded")
_WISHING = stem_set("want wish like care prefer desire")
_TAKING = stem_set("accept agree approve take consent pay proceed continue authorise confirm okay")
_HELPS = stem_set("use help interest benefit")
_SETTLES = stem_set("settle solve resolve suit work sound help fit satisfy please")
PLEAS = _LEAVE | _TAKING
"""No statement without one of these asks for a go-ahead."""
_AGENTS = each("i we")
_WHETHER = each("whether if")
_REQUESTS = stem_set("request ask need require seek await want")
_NOUNS = each("booking confirmation email surname card mum mother father parent guardian aunt holder")
_NOT_A_DEAL = each("in to keep bear what")
_NEGATED = each("not never")
_PAPERS = (["number"], ["email"], ["letter"], ["mail"], ["message"], ["slip"])
_REPORTS = stem_set("have had was were been see understand find hear know think believe wonder suppose hope")
_USE = (["mak", "us"], ["mak", "use"], ["take", "advantag"], ["tak", "advantag"], ["tak", "up"], ["avail", "yourself"])


def shaped(clause: Clause) -> bool:
    """Whether it has the shape of a consent question."""
    row = clause.row
    if not clause.question:
        return _pleaded(clause)
    if len(row) - 1 in clause.commas and row[-1] in TAGS:  # "so you want that I cancel both, correct?"
        return row[-1] in ("yes", "okai") and row[0] in _AGENTS and _offers_to_act(clause, 0)
    if not QUESTION_WORDS.isdisjoint(row) or "or" in row:
        return False
    size = len(row)
    while size > 1 and row[size - 1] in _TAIL:
        size -= 1
    core = row[:size]
    first, last = core[0], core[-1]
    if first in _BE and "you" in row[2:5] and row[1] in ("that", "it") and _wanted(row[row.index("you") + 1 :]):
        return True  # "is that something you would be willing to pay?"
    if (
        row[:4] == ["are", "you", "on", "board"]
        or row[:3] == ["am", "i", "to"]
        or (row[:2] == _AM_I and row[2:4] != [] and row[2] in _PERMITTED and row[3:4] == ["to"])
    ):
        return True
    if row[-2:] in (["hav", "deal"], ["not", "mind"]):
        return _NOT_A_DEAL.isdisjoint(row)  # "we have a deal?", "you don't mind?"
    if first == "do" and row[1:2] in (["that"], ["it"]):
        return bool(row[2:3]) and row[2] in _SETTLES
    if first in _BE and row[-1] == "so" and len(row) < 6:
        return False  # "is this all right so?": see `moods.tag`
    if first in _BE and core[1:2] != ["you"]:  # "is the fee accepted?", "would this be agreeable to you?"
        return (
            len(row) > 1
            and (last in _ACCEPTED or (core[-2:-1] == ["of"] and last in _HELPS))
            and not _about_facts(clause)
        )
    if first in _PASSIVE_FIRST and "be" in core[1:8]:
        return _passive(clause, core.index("be", 1) + 1)  # "shall it be done?", "may the cancellation be entered?"
    if _leave(clause, row):
        return first in ("do", "hav", "may", "can", "is", "could", "might", "would", "wil", "shal")
    start = next((at for at, word in enumerate(row) if word not in ("and", "so", "okai", "wel", "then", "but")), 0)
    rest = row[start:]
    if rest[0] in _AGENTS:
        return _offers_to_act(clause, start)
    if rest[0] in ("do", "would", "wil", "are", "can", "could", "is") and rest[1:2] == ["you"]:
        return _wanted(rest[2:])
    if rest[0] == "you":
        return _wanted(rest[1:])
    return rest[0] in _WISHING and _wanted(rest)


def _your(clause: Clause, at: int) -> bool:
    """As in "your consent", "your explicit consent"."""
    return clause.dets[at] == "your" or (at > 0 and clause.dets[at - 1] == "your" and clause.row[at - 1] not in _NOUNS)


def _leave(clause: Clause, row: list[str]) -> bool:
    """As in "do I have your go?", not "your confirmation number"."""
    return not _LEAVE.isdisjoint(row) and any(
        word in _LEAVE
        and _your(clause, at)
        and row[at - 1 : at] not in (["on"], ["in"], ["from"])
        and row[at + 1 : at + 2] not in _PAPERS
        for at, word in enumerate(row)
    )


def _about_facts(clause: Clause) -> bool:
    """As in "is the address given right?"."""
    return any(token.kind not in (Is.WORD, Is.AMOUNT, Is.NUMBER) for token in clause.words)


def _passive(clause: Clause, at: int) -> bool:
    if at >= len(clause.words):
        return False
    text = clause.words[at].text
    return text.endswith("ed") or text in PLAIN_PAST or text == "done"


def _offers_to_act(clause: Clause, start: int) -> bool:
    """As in "I can do it?", "we go ahead?", "I make the change?"."""
    row = clause.row
    at = start + 1
    while at < len(row) and row[at] in ("can", "could", "may", "should", "wil", "would", "shal", "then", "go", "to"):
        if row[at] == "go" and row[at + 1 : at + 2] != ["to"]:
            break
        at += 1
    if at >= len(row) or not _NEGATED.isdisjoint(row[: at + 1]) or row[at] in _REPORTS:
        return False
    if row[at : at + 2] == ["tak", "it"] and len(row) > at + 2:
        return False  # "I take it you are his wife?"
    text = clause.words[at].text
    past = text.endswith("ed") or text in PLAIN_PAST or text in ("did", "done", "had")
    return not past and row[at] in _ACTING and (row[at] not in GET_VERBS)


def _wanted(rest: Sequence[str]) -> bool:
    """What follows "do you", "would you", "are you" or "you": the go-ahead, the price, or "it"."""
    if not rest:
        return False
    first = rest[0]
    if first in ("are", "be", "wil", "would", "do", "can") and list(rest[:2]) != ["wil", "to"]:
        return _wanted(rest[1:])
    if list(rest) == ["say", "yes"]:
        return True
    if first in _TAKING:
        return first != "confirm" and (len(rest) == 1 or rest[1] not in ("you", "your"))
    if first in _WILLING:
        return len(rest) == 1 or any(word in _TAKING and word != "confirm" for word in rest[1:4])
    if first in _WISHING:
        if list(rest[1:2]) in (["i"], ["we"]) or list(rest[1:3]) in (
            ["that", "i"],
            ["that", "we"],
            ["me", "to"],
            ["us", "to"],
        ):
            return True
        if rest[1:2] == ["to"]:
            follow = list(rest[2:4])
            return follow in _USE or (follow != [] and (follow[0] in _TAKING or follow[0] in ("go", "do", "proceed")))
        return first != "lik" and list(rest[1:]) in (["it"], ["that"], ["it", "so"], ["that", "so"], ["it", "done"])
    return False


def _pleaded(clause: Clause) -> bool:
    """As in "kindly indicate your acceptance", "we only need you to okay the fee"."""
    row = clause.row
    if _LEAVE.isdisjoint(row) and _TAKING.isdisjoint(row):
        return False
    if any(
        word in _LEAVE and word != "go" and _your(clause, at) and row[at + 1 : at + 2] not in _PAPERS
        for at, word in enumerate(row)
    ):
        asked = not _REQUESTS.isdisjoint(row) and not _AGENTS.isdisjoint(row)
        return asked or bool(clause.polite) or row[0] in ("indicat", "giv", "confirm", "stat", "send", "let")
    if "you" in row[1:] and not _WHETHER.isdisjoint(row):  # "let us know whether you accept"
        after = row[row.index("you", 1) + 1 :][:1]
        return bool(after) and after[0] in _TAKING and after[0] not in ("confirm", "tak", "pay", "continu")
    if not _WAITING.isdisjoint(row) and "you" in row:
        at = row.index("you")
        return row[at + 1 : at + 2] == ["to"] and row[at + 2 : at + 3] != [] and row[at + 2] in (_TAKING - {"confirm"})
    if clause.polite and row[0] in ("confirm", "indicat", "stat") and "acceptanc" in row:
        return True
    return row[0] == "confirm" and row[1:2] == ["acceptanc"]
