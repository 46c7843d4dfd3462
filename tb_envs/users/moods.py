"""The mood of a clause: does it check what was said, ask for a go-ahead, or offer something else?

Refuses to answer, and to look beyond the clause.
"""

from __future__ import annotations

from collections.abc import Sequence

from .clauses import Clause
from .lexicon import ACTION_OF, DONE_VERBS, GET_VERBS, QUESTION_WORDS
from .phrases import stems
from .words import each

_ALONE = each("okai alright fin agre deal good right correct yes interest")
_ACTING = DONE_VERBS | frozenset(stems("charge bill submit switch do start keep go proceed continue accept have pay"))
_HOW = each("about do feel suit sound if")
_MODAL = each("can could may shal should might")
_PROPOSING = frozenset(("offer", "propos", "suggest", "alternativ", "alternativeli", "instead", "rather"))
_WAITING = frozenset(("need", "await", "wait", "requir", "giv"))
_LEAVE = frozenset(stems("confirmation approval agreement consent permission blessing go okay authorisation"))
_HELPING = each("else goal help")
_NO = each("not no")
_MODAL_FIRST = each("would can could may shal should wil")
_TAGS = each("correct right yes accurat true okai")


def checks(clause: Clause) -> bool:
    """Whether the clause asks to confirm what was said."""
    labels, row = clause.labels, clause.row
    if "check" not in labels:
        short = clause.question and len(row) < 6 and "consent" not in labels and row[0] not in _MODAL_FIRST
        return short and any(token.kind > 1 for token in clause.words)
    at = labels["check"]
    word = row[at]
    if clause.question:
        if row[-1] in _TAGS - {"okai"} and len(row) - 1 in clause.commas:
            return True
        return not (word in ("confirm", "right", "yes") and len(row) > 3 and "consent" in labels)
    if (len(row) == 1 and word in ("correct", "right", "accurat")) or (word == "to" and row[at - 1 : at] == ["is"]):
        return False
    if word == "confirm":
        return bool(clause.polite) or at == 0 or ("you" in row[:at] and "thank" not in row[:at])
    return word in (
        "to",
        "let",
        "mak",
        "correct",
        "verifi",
        "validat",
        "acknowledg",
        "could",
        "can",
        "would",
        "i",
        "you",
        "if",
    ) and not (word == "i" and row[at + 1] == "am")


def consents_to(clause: Clause) -> bool:
    """Whether the clause asks for a go-ahead."""
    labels, row = clause.labels, clause.row
    at = labels.get("consent")
    if "else" in labels or "goal" in labels:
        return False
    if at is not None and "confirmation" in row and row[row.index("confirmation") + 1 :][:1] in (["number"], ["email"]):
        at = None
    if clause.question:
        if (
            row[-1] in _TAGS - {"okai"}
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
        if verb in ACTION_OF and "you" not in row and verb != "bil":
            return True
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
                (row[2] in _ACTING and row[2] not in GET_VERBS) or row[2] == "then" or (row[2] == "get" and _goal(row))
            )
        ):
            return row[2] != "hav"
        if (
            row[0] in ("is", "are", "would", "wil")
            and row[-1] in _ALONE | {"acceptabl", "agreeabl", "suitabl", "convenient"}
            and row[-1] not in _TAGS - {"okai"}
        ):
            return True
        if row[0] in ("do", "would", "wil", "are", "so", "you", "and") and "you" in row[:3]:
            for near, word in enumerate(row[:5]):
                if (
                    word in ("lik", "want", "wish", "lov", "rather", "prefer")
                    and row[near + 1 : near + 2] == ["to"]
                    and any(w in _ACTING for w in row[near + 2 : near + 5])
                ):
                    return True
        return (len(row) == 1 and row[0] in _ALONE - _TAGS) or row in (
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
    if at is None:
        return False
    rest = row[at:]
    if rest[:2] == ["if", "you"]:
        return True
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
    if (row[0] == "if" and rest[:1] != ["if"]) or {"know", "if"} <= set(row[:at]):
        return True
    if {"manager", "he", "she", "they", "supervisor"} & set(row[:at]):
        return False
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


def offers(clause: Clause) -> bool:
    """Whether the clause offers something else than what was asked for."""
    labels, row = clause.labels, clause.row
    at = labels.get("alternative")
    if row[0] == "would" and row[-1] == "you" and row[-2] in ("suit", "for") and clause.question:
        return True  # "would Friday suit you?", "would Friday work for you?"
    if row[0] == "do" and "know" in row[1:6]:
        return False  # "do you by any chance know which of them it was?"
    if at is None or "wait" in labels or not _HELPING.isdisjoint(labels) or clause.hyp <= at:
        return False
    if not (clause.question or _PROPOSING.intersection(row)) or not _NO.isdisjoint(row[: at + 2]):
        return False
    return (
        row[0] not in QUESTION_WORDS
        or "which" in row[:2]
        or (row[0] == "how" and not _HOW.isdisjoint(row))
        or (row[0] == "what" and row[1:2] in (["about"], ["if"], ["do"], ["would"]))
    )
