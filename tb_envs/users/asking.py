"""Which of the facts that a clause names it asks for.

Refuses statements ("I have sent it to your e-mail"), refusals of facts ("I don't need your number"),
examples and channels ("by e-mail"), and a value that is restated: that is `values.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .lexicon import ASK_VERBS, COMMON, DOMAIN, QUESTION_WORDS
from .phrases import Node, Span, longest, stem_set
from .vocabulary import Mention
from .wishing import BLOCKING, commanded
from .words import Is, each

_AUX = each("is are was were do did wil would can could should hav")
_CHANNEL = each("by via through over per")
_SEND = stem_set("send forward deliver copy email mail dispatch post text emailed arrive")
_RELATIVE = [[word, "which"] for word in ("under", "with", "to", "in", "on", "by")]
_DEVICES = (["machin"], ["counter"])
"""What makes another thing of the word before it, as in "the ticket machine"."""
_OWNED = each("phone email birth_date postcode address card surname first_name booking loyalty member")
_FRESH = {"arrival": "new_arrival", "departure": "new_departure", "dates": "new_dates"}
_BOTH = {"dates": "arrival", "new_dates": "new_arrival"}
_COMING = each("com arriv first start begin")
_LEAVING = each("leav depart go out end last vacat")
NO_VALUE = each(
    "correct right okai you we i what please valid accurat stil same true up fine need mandatori requir miss not it"
    " in on under essential necessari for"
)
_LOOSE_BEFORE = each("which what whose me us")
_LOOSE_ASK = stem_set("give tell need have share provide send confirm get require")
_EITHER = {"dates": ("arrival", "departure"), "new_dates": ("new_arrival", "new_departure")}
_DAY = each("day date night when")
_LISTING = each("and or plu plus")
_HEADS = stem_set(
    "team desk staff line system programme program machine counter app page form message department office clerk"
    " service shift auditor badge tag server folder filter template client reception porter lounge manager audit crew"
)
_MESSAGES = stem_set("confirmation booking reservation welcome last earlier reminder previous automatic")
_WELCOME = (["would", "be"], ["wil", "do"], ["would", "do"], ["is", "best"], ["is", "fin"])
_PAPERS = stem_set("note form message letter mail email document paper confirmation news")
_DETERMINED = ("the", "your", "a", "an", "his", "her", "our")
_WHILE = each("if when once after while becaus")
_KNOWING = each("know tel me ask confirm say and or of for from until til sinc")
_HEADED = each("is do hav how where what which who whose can could")
_WHEN = each("when why how where")
_STAFF = stem_set("receptionist colleague manager agent staff employee person member waiter clerk representative")
_LEAD_IN = each("and or so okai fin then also now good great thank right wel")
_SPECIFY = stem_set("specify name state clarify")
_AFTER_LOOSE = _AUX | each("cal you i we it that for to on in of about or and with by at they she he be")


def mentions(clause: Clause, tree: Node, own: Node | None) -> list[Span]:
    """The facts that the clause names, right or loose, whatever its mood."""
    found = longest(tree, clause.row, own)
    if "nam" in clause.row:  # "are you the guest named on it?"
        found = [s for s in found if all(token.text != "named" for token in clause.words[s.lo : s.hi])]
    if "stai" in clause.row:  # "the stay the nights belong to"
        found = [s for s in found if not (s.hi - s.lo == 2 and clause.row[s.lo] == "stai" and clause.dets[s.lo + 1])]
    for at, span in enumerate(found[:-1]):  # "booking and phone number"
        follow = found[at + 1]
        if follow.lo - span.hi <= 1 and (follow.lo > span.hi or span.hi in clause.commas) and follow.hi - follow.lo > 1:
            if follow.lo > span.hi and clause.row[span.hi] not in ("and", "or"):
                continue
            node = tree
            for word in (*clause.row[span.lo : span.hi], clause.row[follow.hi - 1]):
                node = node.get(word, {})
            if None in node and span.means.loose:
                found[at] = span._replace(means=node[None])
    for at, span in enumerate(found):
        if span.means.rivals:
            texts = [token.text for token in clause.words[span.lo : span.hi]]
            found[at] = span._replace(means=span.means.among(texts))
    return found


def asked(clause: Clause, found: list[Span], mood: bool, consents: bool) -> list[tuple[str, bool]]:
    """The facts asked for (name, loosely), in order; empty for a statement."""
    if not found:
        return []
    asks = mood or commanded(clause, found[0])
    if not asks and "no" not in clause.row and (not clause.polite or BLOCKING.intersection(clause.labels)):
        return []
    row, dets, words = clause.row, clause.dets, clause.words
    consent = consents and not any(word in QUESTION_WORDS for word in row)
    out: list[tuple[str, bool]] = []
    for span in found:
        lo, hi = span.lo, span.hi
        mention: Mention = span.means
        det = dets[lo]
        if words[lo].text == "reasons" or (mention.fact == "name" and row[hi : hi + 1] == ["of"] and _staff(row, hi)):
            continue
        if (
            det == "my"
            or row[hi : hi + 1] in _DEVICES
            or (hi < len(row) and restates(clause, hi))
            or (mention.fact not in _OWNED and _after_name(clause, lo))
            or (mention.loose and not (_directly(clause, span) or _in_list(clause, span, found)))
            or valued(clause, hi)
            or _beside(clause, span, found)
        ):
            continue
        if mention.loose and (
            (row[max(0, lo - 2) : lo] in _RELATIVE and span is not found[0]) or words[lo].text in ("code", "codes")
        ):
            continue
        if det != "your" and _unseen(clause, span):
            continue
        missing = row[max(0, lo - 3) : lo] in (["i", "hav", "no"], ["we", "hav", "no"])
        if not asks and not missing and hi not in clause.polite and lo not in clause.polite:
            continue
        before = row[lo - 1] if lo else ""
        if mention.fact == "reason" and "not" in row[hi : hi + 2] and (row[0] == "why" or row[-1] == "not"):
            continue  # "why not?"
        if mention.fact == "name" and hi - lo == 1 and lo + 1 < len(row) and _naming(clause, lo):
            continue
        if mention.fact in ("email", "phone") and hi - lo == 1:
            if before == "in" or (mention.fact == "phone" and _to_phone(row, lo)):
                continue
            if det != "your" and (
                (det in ("a", "an") and row[hi : hi + 2] not in _WELCOME)
                or row[0] in _WHEN
                or row[1:2] in (["day"], ["date"], ["time"])
            ):
                continue
            if (
                before in _CHANNEL
                or (
                    hi < len(row)
                    and row[hi] in ("you", "it", "that", "them")
                    and before in ("wil", "can", "to", "i", "we", "shal", "could")
                )
                or (before in ("wil", "can", "to") and det != "your" and hi < len(row))
            ):
                continue
            if (
                before in ("to", "on")
                and _SEND.intersection(row[:lo])
                and not any(word in QUESTION_WORDS for word in row[:lo])
            ):
                continue
        if consent and not (det == "your" and _strong(clause)):
            continue
        fact = mention.fact
        if fact in _FRESH and {"new", "instead"} & set(row) and not {"original", "current", "old"} & set(row):
            fact = _FRESH[fact]
        if fact in _BOTH and not _COMING.isdisjoint(row) and any(token.text == "day" for token in words[lo:hi]):
            fact = _BOTH[fact]
        if fact == "name" and det == "your" and hi - lo == 1:
            fact = "own_name"
        if fact in _EITHER and not _DAY.isdisjoint(row) and "and" not in row and "dates" not in row:
            fact = _which_end(row, fact)
        out.append((fact, mention.loose and before not in ("which", "what", "whose")))
        if mention.loose and row[lo] == "number" and len(found) > 1:
            out.pop()  # "the booking number, and what's the number?"
    return out


def _which_end(row: list[str], fact: str) -> str:
    """The one of two dates that is asked for: "what day would you leave?", "which night is the first?"."""
    first, last = _EITHER[fact]
    leaves, comes = not _LEAVING.isdisjoint(row), not _COMING.isdisjoint(row)
    comes = comes or any(row[at : at + 2] == ["check", "in"] for at in range(len(row)))
    if leaves != comes:
        return last if leaves else first
    return fact


def _in_list(clause: Clause, span: Span, found: list[Span]) -> bool:
    """As in "name, mail, booking": a common word that is an item of a list of facts."""
    row, lo, hi = clause.row, span.lo, span.hi
    if len(found) < 2 and clause.row[0] != "and":
        return False
    if not (hi == len(row) or hi in clause.commas or row[hi] in _LISTING or row[hi] in ("it", "you", "that")):
        return False
    before = lo in clause.commas or (lo > 0 and row[lo - 1] in _LISTING)
    ends = {other.hi for other in found} | {other.hi + 1 for other in found}
    if row[:lo] == ["and"]:
        return True
    return (before and lo in ends) or (not lo and found[1].lo - hi < 2)


def _beside(clause: Clause, span: Span, found: list[Span]) -> bool:
    """What is only named beside the thing that is asked for: "the note about your departure", "the night team"."""
    row, lo, hi = clause.row, span.lo, span.hi
    if span.means.fact == "nights" and hi - lo == 1 and clause.words[lo].text == "night":
        return True
    if hi - lo == 1 and hi < len(row) and hi not in clause.commas and row[hi] in _HEADS:
        return True
    if span.means.fact == "name" and hi - lo == 1 and any(other.hi == lo for other in found):
        return lo not in clause.commas  # "the group name"
    if span.means.fact == "email" and hi - lo == 1 and lo and row[lo - 1] in _MESSAGES:
        return True
    for at in range(2, lo):  # "how shall we call you when the nights are found?"
        if row[at] in _WHILE and row[at - 1] not in _KNOWING and not _HEADED.isdisjoint(row[:2]):
            return True
    return span is not found[0] and lo > 2 and row[lo - 1] == "about" and row[lo - 2] in _PAPERS


def _naming(clause: Clause, at: int) -> bool:
    """As in "please name the day": a verb."""
    before = clause.row[at - 1] if at else ""
    return (not at or at in clause.polite or before in ("to", "you")) and clause.dets[at + 1] in _DETERMINED


def _to_phone(row: list[str], at: int) -> bool:
    """As in "she would like to phone you", "anyone who phones": a verb."""
    return row[at - 1 : at] in (["to"], ["wil"], ["who"], ["can"]) and row[at + 1 : at + 2] in (
        ["you"],
        ["us"],
        ["after"],
    )


def _unseen(clause: Clause, span: Span) -> bool:
    """As in "we did not receive any such e-mail": a message that did not come, no fact that is wanted."""
    row, lo = clause.row, span.lo
    if "not" not in row[:lo] or not any(token.text == "did" for token in clause.words[:lo]):
        return False
    return "such" in row[:lo] or row[lo - 1] == "that" or (span.means.fact == "email" and span.hi - lo == 1)


def _staff(row: list[str], hi: int) -> bool:
    """Whether the name is of one of the company's people."""
    return not _STAFF.isdisjoint(row[hi + 1 : hi + 3])


def _strong(clause: Clause) -> bool:
    return any(word in ASK_VERBS for word in clause.row)


def _directly(clause: Clause, span: Span) -> bool:
    """A common word asks for a fact only next to a question word or a request."""
    row, lo, hi = clause.row, span.lo, span.hi
    if hi < len(row) and row[hi] not in _AFTER_LOOSE:
        return False
    before = row[lo - 1] if lo else ""
    if before in _LOOSE_BEFORE or (before in ("and", "or") and lo > 1 and clause.dets[lo] in ("the", "your")):
        return True
    if before in ("is", "was", "are", "were") and lo > 1 and row[lo - 2] in ("what", "which"):
        return True
    if hi == len(row) and (before in _SPECIFY or (clause.dets[lo] == "your" and before in _LOOSE_ASK)):
        return True
    rest = {*row[:lo], *row[hi:]}
    return rest <= _LEAD_IN and (clause.question or bool(clause.polite))


def _after_name(clause: Clause, lo: int) -> bool:
    """As in "The Norwind company", "our Lisbon hotel"."""
    word = clause.words[lo - 1] if lo > 1 else None
    return (
        word is not None
        and word.capital
        and word.stem not in COMMON
        and word.stem not in DOMAIN
        and lo not in clause.commas
        and "what" not in clause.row
    )


def restates(clause: Clause, hi: int) -> bool:
    """Whether the phrase that ends at `hi` is given a value in words: "name Berg", "the room is a suite, right?"."""
    row, words = clause.row, clause.words
    if any(word in QUESTION_WORDS for word in row[:hi]):
        return False
    if words[hi].capital and hi not in clause.commas and row[hi] not in COMMON and row[hi] not in DOMAIN:
        return True
    return (
        row[hi] in ("is", "are", "was", "as")
        and row[hi + 1 : hi + 2] != ["wel"]
        and hi + 1 < len(row)
        and row[hi + 1] not in NO_VALUE
        and clause.question
    )


def valued(clause: Clause, hi: int) -> bool:
    """Whether a value follows the phrase that ends at `hi`: it is restated, not asked for."""
    words = clause.words
    for at in range(hi, min(hi + 4, len(words))):
        if words[at].kind not in (Is.WORD, Is.MARK):
            listed = at == hi and words[at].text in ("1", "2", "3", "4")  # "(1) your name (2) your e-mail"
            return not (listed and (at + 1 == len(words) or words[at + 1].kind is Is.WORD))
        if words[at].stem not in (
            "is",
            "as",
            "of",
            "number",
            "are",
            "end",
            "in",
            "for",
            "be",
            "to",
            "it",
            "on",
            "from",
            "was",
            "which",
        ):
            return False
    return False
