"""What a check is about: the fact whose value was named, and no other that stands beside it.

Refuses to compare values: that is `restating.py`.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from .clauses import Clause
from .ends import PERSONS
from .lexicon import QUESTION_WORDS, TITLES
from .phrases import Span, stem_set
from .values import Values
from .words import Is, each

_BE = each("is are was were")
_POINTERS = each("it that they")
_POINTED = each(
    "card number booking dates date room nam address email phone stay one you account hotel hour time surnam charge"
)
_VALUES = each("tim hour dates date amount figur number card nam surnam night email address sum total")
_MEANT = each("want mean need lik book wish ask hav giv tel said hold us")
_WELCOME = each("okai fin alright acceptabl agreeabl good convenient suitabl accept agre clear")
_ASKING = each("is was wil do did can hav would")
NAMED_LAST = each("correct right nam surnam you booking accurat")
_IT_IS = ["it", "is"]
_GREETING = each(
    "hello hi hey thank you good morning afternoon evening day so much okai alright yes great perfect and welcom"
)
_LINKS = each("as is are was for of under")
_AFTER = each(
    "is as of number are end in for be to it on from was which there here that we hav i see say read show give list"
    " fil giv hold file record system booking account stay with you us shown listed guest customer"
)
_HERE = each("here listed shown noted recorded")
_BESIDE = each("for under by of mr mrs ms miss dr")
NAMES = each("name surname first_name own_name caller")
STAFF = stem_set(
    "colleague receptionist manager waiter waitress clerk housekeeper agent staff employee cleaner porter"
    " person someone"
)
"""The company's people."""
COLLEAGUES = STAFF - each("person someone")
_REMEMBERING = each("remember recal catch")
_PEOPLE = STAFF | stem_set(
    "lady gentleman man woman guy girl boy driver conductor doctor neighbour guard operator supervisor officer"
    " secretary director technician chambermaid maid caller"
    " companion wife husband roommate friend brother sister mother father son daughter child neighbour"
)
_SERVING = stem_set("work call write book act speak assist represent")
_SHARING = stem_set("share travel stay come accompany arrive sleep live drive fly")
_OF_NAMES = stem_set(
    "last family first second given full guest booking lead main registered own complete legal correct right proper"
    " group block choir club team party company hotel new traveller customer holder member cardholder account wrong"
    " real pet dog cat user sur maiden old same stay other exact birth passport only contact middle ensemble orchestra"
    " band property employer whole order title entire actual participant passenger client room rooms lodger"
    " occupant and good"
)


def points(clause: Clause) -> bool:
    """As in "is it that card?", "are these the right dates?": a check of what was said before."""
    row = clause.row
    return (
        clause.question
        and 2 < len(row) < 8
        and row[0] in _BE
        and row[1] in _POINTERS
        and row[2] not in _WELCOME
        and (row[-1] in _POINTED or ("you" in row[3:] and not _VALUES.isdisjoint(row[2:4]) and row[-1] in _MEANT))
        and QUESTION_WORDS.isdisjoint(row)
    )


def claimed(clause: Clause, span: Span) -> bool:
    """Whether the fact that the clause names is told with a value, after it or right before it."""
    words, row = clause.words, clause.row
    several = span.means.loose and words[span.lo].text.endswith("s")  # "two bookings for 20 June"
    for at in range(span.hi, min(span.hi + 7, len(words))):
        if words[at].kind is not Is.WORD:
            return not several or words[at].kind is Is.ID
        if row[at] not in _AFTER:
            break
    lo = span.lo
    if lo > 2 and row[lo - 2] in TITLES:
        lo -= 2  # "3 July 1961 as Mr Berg's date of birth"
    if lo > 1 and row[lo - 1] in _LINKS:
        at = lo - 3 if lo > 2 and row[lo - 2] in _HERE else lo - 2
        return words[at].kind is not Is.WORD
    return False


def vocative(clause: Clause, right: list[str], known: Values) -> bool:
    """As in "Hello Ms Berg!", "Thanks, Mr Berg.": the name is only a form of address."""
    row, size = clause.row, len(clause.row)
    if clause.question or size < 2 or row[-2] not in TITLES:
        return False
    if not (size - 2 in clause.commas or size == 2 or _GREETING.issuperset(row[:-2])):
        return False
    return all(known[fact].kind == "name" for fact in right)


def subject(clause: Clause, right: list[str], known: Values) -> bool:
    """As in "Is Mr Berg travelling himself?": a question about the person, no check of the name."""
    row = clause.row
    if not clause.question or "check" in clause.labels or row[-1] in NAMED_LAST:
        return False
    if row[0] not in _ASKING and not (QUESTION_WORDS.intersection(row[:2]) and not TITLES.isdisjoint(row)):
        return False  # but "in what year was Mr Berg born?"
    last = clause.words[-1].text.removesuffix("'s")
    return all(known[fact].kind == "name" and last not in known[fact].texts for fact in right)


def beside(clause: Clause, found: list[Span], right: list[str], known: Values) -> set[str]:
    """Names that only say whose thing it is: "the date of birth for Mr Berg", "one under Berg"."""
    if not any(known[fact].kind == "name" for fact in right) or any(span.means.fact in NAMES for span in found):
        return set()
    out: set[str] = set()
    for fact in right:
        if known[fact].kind == "name":
            texts = known[fact].texts
            at = next((at for at, token in enumerate(clause.words) if token.text.removesuffix("'s") in texts), 0)
            if at < 5 and clause.row[:2] == _IT_IS:
                continue  # "it's under Berg with the e-mail …"
            if not _BESIDE.isdisjoint(clause.row[max(0, at - 2) : at]):
                out.add(fact)
    return out


def stranger(clause: Clause, before: Clause | None) -> bool:
    """Whether "her name" is the name of one of the company's people, spoken of just before."""
    if not any(det in ("her", "his", "their") for det in clause.dets):
        if before is None or "nam" not in clause.row or _REMEMBERING.isdisjoint(clause.row):
            return False
        return not STAFF.isdisjoint(before.row)  # "which colleague was it? Do you remember the name?"
    return not COLLEAGUES.isdisjoint(clause.row) or (before is not None and not COLLEAGUES.isdisjoint(before.row))


def others_name(clause: Clause) -> bool:
    """As in "do you remember the waiter's name?"."""
    row = clause.row
    for at, word in enumerate(row):
        if word == "nam":
            if at in clause.commas:
                continue  # "your surname, the name of the group"
            if at and (row[at - 1] in _PEOPLE or (clause.dets[at - 1] and row[at - 1] not in _OF_NAMES)):
                return True  # "the conductor's name"
            if row[at + 1 : at + 2] == ["of"] and row[at + 2 : at + 3] and row[at + 2] in _PEOPLE:
                # but "the name of the gentleman you work for"
                return "you" not in row[at + 3 :] or _SERVING.isdisjoint(row[at + 3 :])
            if row[-2:] == ["with", "you"] and not _SHARING.isdisjoint(row[at + 1 :]):
                return True  # "the name of the guest who shares the room with you"
    return False


def of_a_phone(clause: Clause, span: Span) -> bool:
    """As in "the number +43 1 555 0199": a number that can only be a telephone's."""
    run = [token.text for token in clause.words[span.hi : span.hi + 6] if token.kind is Is.NUMBER]
    return clause.row[span.lo] == "number" and sum(map(len, run)) > 6


def are_you(heard: Set[str]) -> bool:
    """As in "are you the guest", "are you the person on the booking": is it the caller's own affair?"""
    return "are" in heard and "you" in heard and ("person" in heard or not PERSONS.isdisjoint(heard))


def same_question(heard: Set[str], listed: Sequence[Set[str]]) -> bool:
    """Whether it asks in other words than the author's if the caller is the guest."""
    return are_you(heard) and any(are_you(words) for words in listed)


def only_named(clause: Clause, right: list[str], known: Values) -> bool:
    """Whether a name of the customer's is spoken, but nothing is said of it."""
    return vocative(clause, right, known) or subject(clause, right, known)
