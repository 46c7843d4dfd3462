"""Which facts a clause asks for.

Refuses statements ("I have sent it to your e-mail"), refusals of facts ("I don't need your number"),
examples and channels ("by e-mail"), and a value that is restated: that is `values.py`.
"""

from __future__ import annotations

from .clauses import Clause
from .lexicon import ASK_VERBS, COMMANDS, COMMON, DOMAIN, GET_VERBS, LOOK, NEED_VERBS, QUESTION_WORDS
from .phrases import Node, Span, longest, stem_set
from .vocabulary import Mention
from .words import Is, each

_MODAL = each("can could may might shal should would wil")
_AGENT = each("i we me us they he she manager system team")
_SUBJECTS = each("i we you they he she it")
_VERBS = _SUBJECTS | each("is are was were hav do wil can could would should may might be been am has")
_BEFORE_QUESTION = each(
    "and or to in on at under with for from by of ask know tel me us say explain confirm clarifi understand plu"
    " specifi advis indicat stat curiou wonder first about also exactli then remind mention wel okai so hi hello thank"
    " mean namely eg ie"
)
_AUX = each("is are was were do did wil would can could should hav")
_CHANNEL = each("by via through over per")
_SEND = stem_set("send forward deliver copy email mail dispatch post text emailed arrive")
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
    )
)
_BEEN = each("been was were")
_RELATIVE = [[word, "which"] for word in ("under", "with", "to", "in", "on", "by")]
_DEVICES = (["machin"], ["counter"])
"""What makes another thing of the word before it, as in "the ticket machine"."""
_OWNED = each("phone email birth_date postcode address card surname first_name booking loyalty member")
_TAGS = each("correct right yes okai accurat true")
_FRESH = {"arrival": "new_arrival", "departure": "new_departure", "dates": "new_dates"}
_BOTH = {"dates": "arrival", "new_dates": "new_arrival"}
_COMING = each("com arriv")
NO_VALUE = each(
    "correct right okai you we i what please valid accurat stil same true up fine need mandatori requir miss not it"
    " in on under essential necessari for"
)
_NO_COMMAND = (
    _VERBS
    | _ELSEWHERE
    | stem_set(
        "got noted let once when if unless until before after because since while whereas found with for in on at by"
        " from to about as cancel refund change update with perfect great"
    )
)
_LOOSE_BEFORE = each("which what whose me us")
_LOOSE_ASK = stem_set("give tell need have share provide send confirm get require")
_WHEN = each("when why how where")
_STAFF = stem_set("receptionist colleague manager agent staff employee person member waiter clerk representative")
_SPECIFY = stem_set("specify name state clarify")
_AFTER_LOOSE = _AUX | each("cal you i we it that for to on in of about or and with by at they she he be")
_BLOCKING = frozenset(("wait", "bye", "done", "refused"))


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


def cue(clause: Clause, inherits: bool = False) -> bool:
    """Whether the clause has the mood of asking for something to be told."""
    row, labels, size = clause.row, clause.labels, len(clause.row)
    if row[0] == "let" and "look" in row[2:4]:
        return False
    if "ask" in labels and not _refuses(row, labels["ask"]):
        return True
    for at, word in enumerate(row):
        if word in QUESTION_WORDS:
            if question_word(clause, at):
                return True
        elif word in ASK_VERBS:
            text = clause.words[at].text
            if (
                not text.endswith(("ed", "ion"))
                and (at or not text.endswith("ing"))
                and not (text[-1] == "s" and text[-2:] != "ss")
                and text not in ("sent", "said", "told", "gave", "given")
                and _customers(row, clause.commas, at)
            ):
                return True
        elif (
            word in COMMANDS
            and (at == 0 or at in clause.polite or at in clause.commas)
            and row[at + 1 : at + 2] == ["me"]
        ):
            return True
        elif word in _MODAL and at + 2 < size:
            if row[at + 1] in ("i", "we") and row[at + 2] in GET_VERBS:
                return True
            if "you" in row[at + 1 : at + 3] and _asked_to_do(row, at):
                return True
        elif word in NEED_VERBS and _agents_need(row, at):
            return True
    polite = clause.polite if row[:2] != ["do", "not"] else None
    if polite and not _BLOCKING.intersection(labels):
        first = row[0] if 0 in polite else ""
        if (
            first not in _ELSEWHERE
            and row[0] not in ("i", "we")
            and not ({"i", "we"} & set(row[:2]) and 0 not in polite)
        ):
            return True
    if fragment(clause) and "wait" not in labels:
        thanks = labels.get("empathy", size)
        return inherits or clause.question or ((thanks == size or 0 < thanks == size - 1) and "greet" not in labels)
    return clause.question and "consent" not in labels and row[-1] not in _TAGS


def commanded(clause: Clause, first: Span) -> bool:
    """As in "Hit me with your number": a verb first, no subject, something of the customer's."""
    row, lo = clause.row, first.lo
    word = clause.words[0].text
    if not lo or clause.dets[lo] != "your" or row[0] in _NO_COMMAND or word.endswith(("ing", "ed")):
        return False
    before = row[:lo]
    if any(token.text.endswith("ing") for token in clause.words[:lo]) or "thank" in row or clause.question:
        return False
    return _VERBS.isdisjoint(before) and "not" not in before and "no" not in before


def fragment(clause: Clause) -> bool:
    """No verb and no subject: "Booking number and e-mail"."""
    return (
        len(clause.row) < 12
        and not any(word in _VERBS or word in _ELSEWHERE or word in _OTHER_VERBS for word in clause.row)
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
    if word == "when" and not (
        (at + 1 < len(row) and row[at + 1] in _AUX)
        or before in ("know", "tel", "me", "confirm", "for", "of")
        or (len(row) < 4 and clause.question)
    ):
        return False
    if "wait" in clause.labels and not clause.question and at:
        return False
    if at == 0 or at in clause.commas or before in _BEFORE_QUESTION:
        return True
    return clause.question and before not in ("is", "see", "booking", "stay", "room", "rate")


def _refuses(row: list[str], at: int) -> bool:
    """As in "You don't need to give …", "no need to share"."""
    before = row[max(0, at - 3) : at]
    return (
        ("not" in before or "no" in before or "never" in before)
        and row[at] != "without"
        and not ("you" in before and row[at] == "you")
    )


def _customers(row: list[str], commas: set[int], at: int) -> bool:
    """Whether the telling verb at `at` is the customer's to do."""
    if (at > 1 and row[at - 1] == "for" and "thank" in row[:at]) or row[at + 1 : at + 2] == ["you"]:
        return False
    for back in range(at - 1, max(-1, at - 6), -1):
        here = row[back]
        if back + 1 in commas and here not in ("you", "i", "we"):
            return True
        if here == "you":
            return not _refuses(row, back) or (row[back - 1] == "not" and back > 1 and row[back - 2] in _MODAL)
        if here in _AGENT:
            return False
        if here in ("not", "never", "no"):
            return False
    return at == 0 or row[at - 1] not in ("wil",)


def _asked_to_do(row: list[str], at: int) -> bool:
    rest = row[at + 1 : at + 9]
    you = rest.index("you")
    follow = rest[you + 1 :]
    if follow[:1] and follow[0] in ("lik", "want", "prefer", "wish", "agre", "accept", "need"):
        return False
    return any(word in ASK_VERBS or word in LOOK or word in ("hav", "get", "know") for word in follow)


def _agents_need(row: list[str], at: int) -> bool:
    before = row[max(0, at - 5) : at]
    if "not" in before or "never" in before or "you" in before:
        return False
    if row[at] in ("lov", "lik", "appreciat") and before[-1:] in (["i"], ["we"]):
        return False  # "I love your name", no "I would like your name"
    return "i" in before or "we" in before or (at == 0 and _BEEN.isdisjoint(row))


def asked(clause: Clause, found: list[Span], mood: bool, consents: bool) -> list[tuple[str, bool]]:
    """The facts asked for (name, loosely), in order; empty for a statement."""
    if not found:
        return []
    asks = mood or commanded(clause, found[0])
    if not asks and "no" not in clause.row and (not clause.polite or _BLOCKING.intersection(clause.labels)):
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
            or (mention.loose and not _directly(clause, span))
            or valued(clause, hi)
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
        if mention.fact in ("email", "phone") and hi - lo == 1:
            if det != "your" and (det in ("a", "an") or row[0] in _WHEN or row[1:2] in (["day"], ["date"], ["time"])):
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
        out.append((fact, mention.loose and before not in ("which", "what", "whose")))
        if mention.loose and row[lo] == "number" and len(found) > 1:
            out.pop()  # "the booking number, and what's the number?"
    return out


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
    if before == "is" and lo > 1 and row[lo - 2] in ("what", "which"):
        return True
    if hi == len(row) and (before in _SPECIFY or (clause.dets[lo] == "your" and before in _LOOSE_ASK)):
        return True
    return len(row) == hi - lo and (clause.question or bool(clause.polite))


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
        row[hi] in ("is", "are", "was", "as") and hi + 1 < len(row) and row[hi + 1] not in NO_VALUE and clause.question
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
