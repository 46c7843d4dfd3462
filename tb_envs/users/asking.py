"""Which of the facts that a clause names it asks for.

Refuses statements ("I have sent it to your e-mail"), refusals of facts ("I don't need your number"),
examples and channels ("by e-mail"), and a value that is restated: that is `values.py`.
"""

from __future__ import annotations

from .checking import NAMES, STAFF
from .clauses import Clause
from .lexicon import ASK_VERBS, COMMON, DOMAIN, GET_VERBS, QUESTION_WORDS
from .loosely import directly, in_list, meant
from .narrowing import COMING, EITHER, LEAVING, end_meant, which_end
from .passing import anothers, beside, naming, to_phone, unseen
from .phrases import Node, Span, longest, stem_set
from .vocabulary import CODE, CODES, Mention
from .wishing import BLOCKING, commanded
from .words import Is, each

_CHANNEL = each("by via through over per")
_SEND = stem_set("send forward deliver copy email mail dispatch post text emailed arrive")
_RELATIVE = [[word, "which"] for word in ("under", "with", "to", "in", "on", "by")]
_DEVICES = (["machin"], ["counter"])
"""What makes another thing of the word before it, as in "the ticket machine"."""
_OWNED = each("phone email birth_date postcode address card surname first_name booking loyalty member")
_FRESH = {"arrival": "new_arrival", "departure": "new_departure", "dates": "new_dates"}
_BOTH = {"dates": "arrival", "new_dates": "new_arrival"}
NO_VALUE = each(
    "correct right okai you we i what please valid accurat stil same true up fine need mandatori requir miss not it"
    " in on under essential necessari for organiser organizer leader holder guest contact payer traveller booker"
)
_HOMOGRAPHS = each(
    "rolling rolled rolls roll arrives arrived arrivals departs departed departures mailed mailing phoned phoning"
    " causes caused causing cards conditions situations organise organises organising organize organizes organizing"
)
"""Forms of words that sound like a fact's name and are none."""
_HOMOGRAPHIC = stem_set("organise organize roll arrive depart mail phone cause card condition situation")
_STAYS = each("booking stai")
_DATED = each("arrival departure dates new_arrival new_departure new_dates birth_date")
_TIMELESS = each("member loyalty card surname name phone")
_STAY_ENDS = each("arrival departure")
_COUNTED = each("nights rooms guests discount")
_NUMBERS = each("one two three four five six seven eight nine ten eleven twelve both few several some other")
_WELCOME = (["would", "be"], ["wil", "do"], ["would", "do"], ["is", "best"], ["is", "fin"])
_UNDER = each("under with for on by at behind")
_WITHIN = each("with for in of")
_WHEN = each("when why how where")
_LISTED_WHICH = each("which what whose")
_OPEN_END = each("is was are")
_DAYS = ("day", "date")
_ORDERED = each("and or plu plus")
_AFTER_ITEM = each("you that which where we i")
_MEMBERS = ("loyalty", "member")


def mentions(clause: Clause, tree: Node, own: Node | None) -> list[Span]:
    """The facts that the clause names, right or loose, whatever its mood."""
    found = longest(tree, clause.row, own)
    if not found:
        return found
    if "number" in clause.row and any(span.means.coded for span in found):
        found = [one for span in found for one in _uncoded(clause, span, tree)]
    if "in" in clause.row:  # "in the e-mail we sent you"
        found = [
            s
            for s in found
            if not (s.hi - s.lo == 1 and s.lo and s.means.fact == "email" and clause.row[s.lo - 1] == "in")
            or clause.dets[s.lo] == "their"  # "they differ only in their e-mail"
        ]
    if not _HOMOGRAPHIC.isdisjoint(clause.row):
        found = [s for s in found if s.hi - s.lo > 1 or clause.words[s.lo].text not in _HOMOGRAPHS]
    if "want" in clause.row:  # "you want the first booking removed"
        found = [s for s in found if clause.words[s.lo].text != "want"]
    if "nam" in clause.row:  # "are you the guest named on it?", "under similar names"
        found = [
            s
            for s in found
            if all(token.text not in ("named", "naming") for token in clause.words[s.lo : s.hi])
            and (clause.words[s.lo].text != "names" or clause.dets[s.lo] or clause.question)
        ]
    if "day" in clause.row or "date" in clause.row:  # "until which day"
        found = [
            s
            for n, s in enumerate(found)
            if not (n and s.means.loose and s.lo == found[n - 1].hi and _plain(s, clause, found[n - 1]))
        ]
    for at, span in enumerate(found) if not _STAYS.isdisjoint(clause.row) else ():  # "the stay the nights belong to"
        first = clause.row[span.lo]
        if first in _STAYS and span.hi - span.lo == 2 and clause.dets[span.lo + 1] and None in tree[first]:
            found[at] = Span(span.lo, span.lo + 1, tree[first][None])
    for at in range(len(found) - 1):  # "booking and phone number"
        span, follow = found[at], found[at + 1]
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


def _uncoded(clause: Clause, span: Span, tree: Node) -> list[Span]:
    """The span itself where a code is spoken of; what its words ask for without one else."""
    if not span.means.coded or not CODES.isdisjoint(token.text for token in clause.words[span.lo : span.hi]):
        return [span]
    out: list[Span] = []
    lo, row = span.lo, clause.row
    while lo < span.hi:
        node, hi, end, means = tree.get(row[lo]), lo + 1, lo + 1, None
        while node is not None and hi <= span.hi:
            here: Mention | None = node.get(None)
            here = here.plain if here and here.coded else here
            if here:
                end, means = hi, here
            node = node.get(row[hi]) if hi < span.hi else None
            hi += 1
        if means:
            out.append(Span(lo, end, means))
        lo = end
    return out


def _plain(span: Span, clause: Clause, before: Span) -> bool:
    return clause.row[span.lo] in ("day", "date") and span.lo not in clause.commas and before.means.fact in _DATED


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
    channel = -9
    repeats = sum(span.means.fact in EITHER for span in found) > 1
    for n, span in enumerate(found):
        lo, hi = span.lo, span.hi
        mention: Mention = span.means
        det = dets[lo]
        if det == "our" or (channel == lo - 1 and row[channel] in ("or", "and")):
            continue  # "by e-mail or phone"
        if (
            n + 1 < len(found)
            and found[n + 1].lo == hi
            and found[n + 1].means.fact in NAMES
            and hi not in clause.commas
        ):
            continue  # "the member's last name"
        if words[lo].text == "reasons" or (mention.fact == "name" and row[hi : hi + 1] == ["of"] and anothers(row, hi)):
            continue
        if mention.fact in _MEMBERS and "point" in row[lo:hi]:
            continue  # "the number of points on the account"
        if mention.loose and n + 1 < len(found) and found[n + 1].means.fact == "birth_date" and row[lo] in _DAYS:
            continue  # "the day you were born"
        if mention.loose and mention.fact == "booking" and not STAFF.isdisjoint(row) and clause.question:
            continue  # "what number did the receptionist give you?"
        if mention.fact == "address" and row[lo : lo + 2] == ["addres", "you"]:
            continue  # "so I know how to address you"
        if (
            det == "my"
            or row[hi : hi + 1] in _DEVICES
            or (hi < len(row) and restates(clause, hi))
            or (mention.fact not in _OWNED and _after_name(clause, lo))
            or (mention.loose and not (directly(clause, span) or in_list(clause, span, found) or meant(clause, span)))
            or valued(clause, hi)
            or beside(clause, span, found)
        ):
            continue
        if mention.loose and (
            (row[max(0, lo - 2) : lo] in _RELATIVE and span is not found[0])
            or (words[lo].text in ("code", "codes") and mention.fact != CODE)
        ):
            continue
        if det != "your" and unseen(clause, span):
            continue
        missing = row[max(0, lo - 3) : lo] in (["i", "hav", "no"], ["we", "hav", "no"])
        if not asks and not missing and hi not in clause.polite and lo not in clause.polite:
            continue
        before = row[lo - 1] if lo else ""
        if "when" in row[:2] and mention.fact in _TIMELESS and _LISTED_WHICH.isdisjoint(row[2:hi]):
            continue  # "since when have you been a member?"
        if (
            before in ("earli", "lat")
            and mention.fact in _STAY_ENDS
            and dets[lo - 1] in ("a", "an")
            and row[0] not in _WHEN
        ):
            continue  # "you are asking for an early check-in?"
        if before == "not" and n + 1 < len(found):
            continue  # "not the booking number, the loyalty number please"
        if before == "that" and lo > 1 and row[lo - 2] in _UNDER and not clause.question:
            continue  # "I don't see anything under that amount"
        if before == "same" and not (clause.question or clause.polite):
            continue  # "funny, the same name, the same dates!"
        if "since" in row and row.index("since") < lo and row[row.index("since") + 1] in ("i", "we"):
            continue  # "…, since I can't search by first name"
        if mention.fact == "reason" and before in ("cas", "if"):
            continue  # "in case something comes up"
        if mention.fact == "reason" and "not" in row[hi : hi + 2] and (row[0] == "why" or row[-1] == "not"):
            continue  # "why not?"
        if mention.fact == "name" and hi - lo == 1 and lo + 1 < len(row) and naming(clause, lo):
            continue
        if (
            mention.fact in _COUNTED
            and lo
            and row[lo] not in QUESTION_WORDS
            and (words[lo - 1].kind is Is.NUMBER or words[lo - 1].text in _NUMBERS)
        ):
            continue  # "all four nights"
        if mention.fact in ("email", "phone") and hi - lo == 1:
            if before == "in" or (mention.fact == "phone" and to_phone(row, lo)):
                continue
            if before == "on" and det == "the" and mention.fact == "phone":
                continue  # "who said so on the phone?"
            if det != "your" and (
                (
                    det in ("a", "an")
                    and row[hi : hi + 2] not in _WELCOME
                    and row[hi : hi + 1] not in (["we"], ["i"])
                    and not (clause.question and row[1:2] in (["i"], ["we"]) and not GET_VERBS.isdisjoint(row[2:lo]))
                    and not _an_item(clause, lo, hi, bool(out))
                )
                or row[0] in _WHEN
                or (row[1:2] in (["day"], ["date"], ["time"]) and dets[0] != "your")
            ):
                continue
            if before == "that" and mention.fact == "email":
                continue  # "when did you send that e-mail?"
            if before in _CHANNEL:
                channel = hi
                continue
            if (
                (mention.fact == "phone" and row[hi : hi + 1] == ["cal"])
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
        near = _part(row, lo) if repeats else row
        if fact in EITHER and out and before in _WITHIN and not (COMING | LEAVING).isdisjoint(row[:lo]):
            continue  # "which day would you be arriving with the new dates?"
        if fact in _FRESH and {"new", "instead"} & set(row) and not {"original", "current", "old"} & set(row):
            fact = _FRESH[fact]
        if fact in _BOTH and not COMING.isdisjoint(near) and any(token.text == "day" for token in words[lo:hi]):
            fact = _BOTH[fact]
        if fact == "name" and det == "your" and hi - lo == 1:
            fact = "own_name"
        if fact in ("arrival", "new_arrival") and mention.loose and words[lo].text == "days":
            fact = "dates" if fact == "arrival" else "new_dates"
        elif fact in ("arrival", "new_arrival") and mention.loose and hi - lo == 1:
            end = end_meant(row[hi : row.index("and", hi)] if "and" in row[hi:] else row)
            fact = end if fact == "arrival" else _FRESH[end]
            if end == "arrival" and span is [s for s in found if s.means.fact in _DATED][-1] and _then_leaving(row, hi):
                out.append((fact, False))  # "on which date shall it begin, and on which shall it end?"
                fact = "new_departure" if fact == "new_arrival" else "departure"
        if fact in EITHER:
            fact = which_end(near, fact)
        out.append((fact, mention.loose and before not in ("which", "what", "whose", "of")))
        if mention.loose and row[lo] == "number" and len(found) > 1:
            out.pop()  # "the booking number, and what's the number?"
    return out


def _then_leaving(row: list[str], hi: int) -> bool:
    rest = row[row.index("and", hi) :] if "and" in row[hi:] else ()
    return not LEAVING.isdisjoint(rest) and not _LISTED_WHICH.isdisjoint(rest)


def _an_item(clause: Clause, lo: int, hi: int, more: bool) -> bool:
    """As in "2) an e-mail for the confirmation", "…, plus an e-mail the confirmation may go to"."""
    if (lo == 1 and clause.words[0].kind is Is.NUMBER) or lo in clause.colons:
        return True
    if clause.question and clause.row[:lo] == ["and"] and hi in clause.commas:
        return True  # "and an e-mail, if you have one?"
    if not more or not (clause.row[lo - 1] in _ORDERED or lo in clause.commas):
        return False
    return hi == len(clause.row) or hi in clause.commas or bool(clause.dets[hi]) or clause.row[hi] in _AFTER_ITEM


def _part(row: list[str], at: int) -> list[str]:
    """The part of the row between two "and" that the place is in: "what day you come and what day you leave"."""
    lo = next((here + 1 for here in range(at - 1, -1, -1) if row[here] == "and"), 0)
    return row[lo : row.index("and", at) if "and" in row[at:] else len(row)]


def _strong(clause: Clause) -> bool:
    return any(word in ASK_VERBS for word in clause.row)


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
    if any(word in QUESTION_WORDS for word in row[:hi]) or row[-1] in QUESTION_WORDS or row[-1] in _OPEN_END:
        return False
    if words[hi].capital and hi not in clause.commas and row[hi] not in COMMON and row[hi] not in DOMAIN:
        return True
    if row[hi : hi + 2] == ["would", "be"] and clause.question:
        hi += 1
    return (
        row[hi] in ("is", "are", "was", "as", "be")
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
