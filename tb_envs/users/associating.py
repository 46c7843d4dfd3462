"""The soft reading of a question: which of the customer's own facts do its words make one think of?

Consulted only where a clause asks and names no fact outright. Refuses a guess between two, and any fact that the
customer is not aware of.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache
from typing import NamedTuple

from .checking import COLLEAGUES, STAFF
from .clauses import Clause, trails
from .lexicon import ASK_VERBS, DOMAIN, NEED_VERBS, QUESTION_WORDS
from .phrases import stem_set
from .values import Values
from .words import each

Stems = frozenset[str]


class Link(NamedTuple):
    """Words of each of `needs` make one think of the first of `facts` that the customer is aware of.

    `bars`: words that make it another question; `leads`: the question words that fit (empty: all, or none).
    """

    facts: tuple[str, ...]
    needs: tuple[Stems, ...]
    bars: Stems = frozenset()
    leads: Stems = frozenset()
    closed: bool = False
    """A yes-or-no question may ask it: "Is there a line …?"."""


_CALL = stem_set("call ring dial text phone telephone callback sms whatsapp answer pick reachable")
_LINE = each("phone line")
_GET = stem_set("get catch reach contact find try")
_WAY = each("how where what which number line on under")
_WE = each("i we")
_PERSON = each("you him her them he she")
_PAST = each("mak pay charg notic writ happen cancel tel find")
_DAY = each("when day date night weekday evening morning")
_TIL = each("until til")
_HOWLONG = _TIL | each("long")
_COME = each("inward") | stem_set(
    "come arrive turn get start begin first join land appear arrival onwards from expect welcome"
)
_LEAVE = stem_set("leave depart go out end last vacate home departure finish away travel key fly back head")
_STAY = stem_set("stay remain need keep be last use want room")
OLD = stem_set(
    "original originally current currently old present existing moment booked before record file system today"
)
_CODE = stem_set("code reference string sequence digits letters characters number combination figures locator")
_BEGIN = stem_set("begin start beginning starting prefix prefixed")
_BOOKED = stem_set("booking stay reservation bookings confirmation")
POINTS = stem_set("loyalty member membership circle points point programme program rewards reward club")
_NAMED = stem_set(
    "called named call known filed file listed list registered register entered heading label title go run put"
)
_CALLED = stem_set("called named call known filed listed registered entered")
_CHOIR = stem_set(
    "choir club team party block group singers musicians players members"
    " ensemble orchestra band company delegation yourselves yourself society class"
)
_IT = each("it block room")
_DOCS = stem_set(
    "confirmation invoice receipt contract letter form copy document note link voucher message papers bill details"
    " answer reply it everything that result news statement summary"
)
_SENDING = stem_set("send email forward mail direct deliver dispatch write address post")
_MAILBOX = each("mailbox inbox postbox")
_SUM = stem_set("add total sum worth high much altogether come amount figure")
_ITEMS = stem_set("charge charges item items bill they it that everything position minibar difference you part")
_CARD = each("card plastic visa mastercard amex")
_DIGITS = stem_set("digits number numbers last final four end ending figures which pay")
RELATION = stem_set(
    "relation relationship connection connected capacity role link linked related behalf standing position acquainted"
)
_HINDER = stem_set(
    "prevent hinder stop keep cause led lead drive make made behind matter force motive circumstance"
    " background trigger occasion"
)
_KINDS = stem_set("room category suite type kind sort class bed")
_WISH = stem_set("like want prefer mind wish hope hoping after fancy dream need eye want")
_CLOCK = stem_set("clock time hour latest")
_HOLD = stem_set("park car overnight night nights stay garage")

LINKS = (
    Link(("phone",), (_CALL, _WAY, _PERSON), bars=each("about mean for"), leads=each("how where what which")),
    Link(("phone",), (_CALL, each("number line"), _PERSON), closed=True),
    Link(("phone",), (_LINE, _PERSON | _WE, _GET | each("try hav cal ring")), bars=each("when why who"), closed=True),
    Link(("phone",), (each("line"), each("direct privat own"), _PERSON | each("mr mrs ms")), closed=True),
    Link(("email",), (_MAILBOX,), closed=True),
    Link(("email",), (each("where whom which"), _SENDING, _DOCS | _PERSON), bars=each("day date night")),
    Link(("email",), (each("where whom"), each("go"), _DOCS - each("it that they"))),
    Link(("email",), (each("email mail"), each("where to which what"), _SENDING), bars=each("by via day date night")),
    Link(("group", "company"), (_NAMED, each("what how which under whose"), _CHOIR), bars=STAFF),
    Link(("group",), (_NAMED, each("what how which under whose"), _IT), bars=_PERSON),
    Link(
        ("surname", "name"),
        (_CALLED, each("what how which under whose who"), each("family you yourself famili")),
        STAFF | each("about on back for us"),
        each("what whose who"),
    ),
    Link(("surname", "name"), (_CALLED | each("book booking"), each("under in"), each("whose who")), STAFF),
    Link(("surname", "name"), (_NAMED, each("how"), each("are"), each("you")), leads=each("how")),
    Link(("surname", "name"), (each("famili"), each("nam cal"))),
    Link(("arrival", "new_arrival"), (_DAY, _COME), bars=_PAST | each("back")),
    Link(("departure", "new_departure", "hour"), (_DAY | _TIL, _LEAVE), bars=_PAST),
    Link(("departure", "new_departure", "hour", "nights"), (_HOWLONG, _STAY), bars=_PAST),
    Link(("hour",), (_CLOCK, _LEAVE | _STAY | stem_set("housekeeping cleaners tell")), bars=each("arriv com who whom")),
    Link(
        ("hour",),
        (_HOWLONG | _CLOCK | each("when"), _LEAVE | each("key back room day out")),
        bars=each("arriv com who whom"),
    ),
    Link(("booking",), (_CODE, _BOOKED | stem_set("voucher booked")), bars=POINTS, closed=True),
    Link(("booking",), (_CODE, each("hav get carri"), each("it they that one two both"))),
    Link(("booking",), (_CODE, each("on in at"), stem_set("confirmation email mail letter voucher"))),
    Link(("booking",), (_BOOKED, each("what which"), stem_set("say read show state print"))),
    Link(("loyalty", "member"), (POINTS, _CODE | each("card account number")), bars=each("how mani pin")),
    Link(("amount",), (_SUM, _ITEMS, each("what how by")), bars=each("why show")),
    Link(("card",), (_CARD, _DIGITS), bars=POINTS | each("bank cash expiri"), leads=each("what which")),
    Link(("caller",), (RELATION, QUESTION_WORDS)),
    Link(("reason",), (_HINDER, each("what why how"), each("you that it"))),
    Link(("reason",), (each("com get got"), each("what"), each("way between up"))),
    Link(("reason",), (each("why"),)),
    Link(("room_type", "room"), (_KINDS, _WISH, each("what which how"))),
    Link(("room_type", "room"), (each("categori"), _WISH), closed=True),
    Link(("room_type", "room"), (each("upgrad"), _WISH, each("what which"), each("to into"))),
    Link(("hour",), (each("how"), each("much lat long"), each("later lat longer"))),
    Link(("nights",), (each("how"), each("long often mani"), _HOLD)),
    Link(("rooms",), (each("how"), each("mani big much larg"), stem_set("hand give return release back bed room"))),
    Link(("birth_date",), (each("born birth birthday birthdai"),)),
    Link(("birth_date",), (each("old"), each("how"), _PERSON)),
)
_WORDS = frozenset(word for link in LINKS for need in link.needs for word in need)
_ENDS = {
    **dict.fromkeys(("on", "from", "until", "til", "at"), each("when")),
    **dict.fromkeys(("cal", "nam"), each("what")),
    "under": each("who what cal"),
    "as": each("what capaciti"),
    "of": each("what amount"),
}
"""What a sentence asks for that ends with the word."""
_BOTH = (each("from sinc"), each("until til to"))
_LISTING = each("and or plu plus")
_ANAPHORS = each("it that one number")
_HOLLOW = (
    QUESTION_WORDS
    | ASK_VERBS
    | _ANAPHORS
    | each(
        "is was are were do did wil would can could may might shal should hav be to at of in on under by from with"
        " and so but then okai wel first also out for over now please i we us me you need want require requir know ask"
        " tel giv let hav get tak they both there here right up she he put end go as"
    )
    | each("kind good nic them")
    | each("your")
    | each("digit letter by more slowli again word")
    | stem_set("look find read repeat type copy use begin start listen spell note quote full check dictate dig")
)
"""What a question may consist of that only points: "what is it?", "would you read it out to me?"."""
_VERBS_AFTER = each("is are was were do did wil would can could should hav shal may might")
_HEADS = (
    DOMAIN
    | stem_set(
        "word thing part detail information sort kind type way else other amount address code place hotel property city"
        " year month birthday occasion cause ground motive circumstance singers name item one mobile"
        " postcode street zip surname"
    )
    | each("exactli")
)
_KNOWN = NEED_VERBS | each("know")
KINDRED = _WORDS | _VERBS_AFTER | _HEADS | _HOLLOW
"""Words that may stand after "which" without being another thing than any fact is about."""
_US = each("me us know")
_INWARD = each("inward")
"""Stands for "in" at the end: "the day you move in"."""
_BEING = each("you are is be")
_PERIODS = stem_set("time week month year summer winter autumn spring visit stay two three few couple several")
"""What follows "last" where it is no day of leaving."""
_COUNTED = stem_set(
    "night room day bed guest person people money singer of more in do are is were would will can did have you"
)
_SIZES = stem_set("many old tall far big often high heavy fast wide")
_SINGERS = stem_set("singers musicians players")
_PURPOSE = each("to so becaus sinc for as that if when once befor after but with")


def guess(clause: Clause, known: Values, before: Clause | None = None) -> list[str]:
    """The facts that the question makes one think of; empty: none, or no clear one.

    Args:
        clause: the question.
        known: what the customer knows.
        before: the clause before it, for what "it" stands for.
    """
    row = clause.row
    heard = frozenset(row)
    if before is not None and _points(clause, before):
        found = _guess(clause, heard, known)
        if found or not (clause.question or clause.polite or _demands(clause)):
            return found
        return _guess(before, heard.union(frozenset(before.row) - QUESTION_WORDS), known, True)
    return _guess(clause, heard, known)


def _points(clause: Clause, before: Clause) -> bool:
    """Whether it speaks of what was named before it, and adds nothing of its own."""
    row = clause.row
    if before.values or len(row) > 12:
        return False
    if len(row) < 4 and not QUESTION_WORDS.isdisjoint(row):
        return hollow(clause)  # "To where?"
    return (not _ANAPHORS.isdisjoint(row) or "its" in clause.dets) and hollow(clause)


def _guess(clause: Clause, heard: Set[str], known: Values, opened: bool = False) -> list[str]:
    row = clause.row
    if heard.isdisjoint(_WORDS):
        return []
    if prefixed := _prefixed(clause, known):
        return [prefixed]
    if _to_whom(row):
        whom: list[str] = [fact for fact in ("caller", "name", "surname") if fact in known.groups]
        return whom[:1]
    if "last" in heard and row[row.index("last") + 1 :][:1] and row[row.index("last") + 1] in _PERIODS:
        heard = heard - {"last"}  # "over the last two years"
    leads = heard & QUESTION_WORDS
    lead = next((word for word in row if word in QUESTION_WORDS), "")
    if row[-1] in _ENDS and (row[-1] == "under" or (QUESTION_WORDS.isdisjoint(row) and trails(clause))):
        heard = heard | _ENDS[row[-1]]  # "and you leave again on...?", "what have you got it booked under?"
    opened = opened or clause.question or bool(leads) or _demands(clause)
    return _best(heard, lead, opened, known)


def hollow(clause: Clause) -> bool:
    """Whether it has no words of its own, so that it can only point to what was said before."""
    return _HOLLOW.issuperset(clause.row)


def foreign(clause: Clause) -> bool:
    """As in "what colour is your card?": the thing that is asked for is none that any fact has to do with."""
    row = clause.row
    if row[0] == "how" or row[1:2] == ["how"]:
        return _measures(row, 1 + (row[0] != "how"))
    for at in range(min(6, len(row) - 2)):
        if row[at] in ("what", "which"):
            head = row[at + 1]
            if head in _SINGERS or head in COLLEAGUES:
                return True
            if clause.dets[at + 1]:
                continue  # "what the trouble is"
            follow = row[at + 2]
            if follow and head == "of" and clause.dets[at + 2] == "our":
                return True  # "which of our addresses"
            if follow not in _VERBS_AFTER and follow != "of":
                verb = at + 3 < len(row) and (row[at + 3] in _VERBS_AFTER or bool(clause.dets[at + 3]))
                return verb and follow not in KINDRED
            return head not in KINDRED
    return False


def _measures(row: list[str], at: int) -> bool:
    """As in "how many points do you have?", "how tall is your car?": something that no fact measures."""
    if len(row) < at + 2 or row[at] not in _SIZES:
        return False
    if row[at] == "mani":
        return row[at + 1] not in _COUNTED
    return not (row[at] == "old" and not _PERSON.isdisjoint(row[at + 1 : at + 4]))


def _demands(clause: Clause) -> bool:
    """As in "tell us a number", "I need the code": something is to be told to the agent."""
    row = clause.row
    if not ASK_VERBS.isdisjoint(row):
        return bool(clause.polite) or row[0] in ASK_VERBS or not _US.isdisjoint(row)
    return not _KNOWN.isdisjoint(row) and not _WE.isdisjoint(row) and not _CODE.isdisjoint(row)


_BITS: dict[str, int] = {}
"""Each word of interest as a bit: a link is tried on sets of words as on numbers."""


def _mask(words: Iterable[str]) -> int:
    out = 0
    for word in words:
        out |= _BITS.setdefault(word, 1 << len(_BITS))
    return out


class _Fitting(NamedTuple):
    """A link to a fact that a customer is aware of, its words as bits."""

    fact: str
    words: int
    needs: tuple[int, ...]
    bars: int
    leads: Stems
    closed: bool


@lru_cache(maxsize=512)
def _fitting(groups: frozenset[str]) -> list[_Fitting]:
    out: list[_Fitting] = []
    for facts, needs, bars, leads, closed in LINKS:
        if fact := next((fact for fact in facts if fact in groups), ""):
            barred = _mask(bars | OLD if fact.startswith("new") else bars)
            words = _mask(frozenset[str]().union(*needs))
            out.append(_Fitting(fact, words, tuple(_mask(need) for need in needs), barred, leads, closed))
    return out


def _best(heard: Set[str], lead: str, opened: bool, known: Values) -> list[str]:
    scores: dict[str, int] = {}
    fitting = _fitting(known.groups)
    mask = 0
    for word in heard:
        mask |= _BITS.get(word, 0)
    for fact, words, needs, bars, leads, closed in fitting:
        if mask & bars or not (opened or closed) or (leads and lead not in leads):
            continue
        for need in needs:
            if not mask & need:
                break
        else:
            scores[fact] = max(scores.get(fact, 0), (mask & words).bit_count())
    if not scores:
        return []
    top = max(scores.values())
    best = [fact for fact, score in scores.items() if score == top]
    if len(best) == 1:
        return best
    ends = {fact.removeprefix("new_") for fact in best}
    if ends == {"arrival", "departure"} and all(not part.isdisjoint(heard) for part in _BOTH):
        return best
    return []


def _prefixed(clause: Clause, known: Values) -> str:
    """As in "the code that starts with BK": the id of the customer's that does."""
    begins = not _BEGIN.isdisjoint(clause.row)
    if not begins and _CODE.isdisjoint(clause.row):
        return ""
    texts = {token.text for token in clause.words}
    for value in known.of["id"]:  # "the BK code"
        prefix = value.key.rstrip("0123456789")
        if prefix and prefix in texts:
            return value.group
    if not begins or _CODE.isdisjoint(clause.row):
        return ""
    return "booking" if "booking" in known.groups and "card" not in clause.row else ""


def _to_whom(row: list[str]) -> bool:
    """As in "what are you to Mr Berg?", "what have you got to do with it?"."""
    for at, word in enumerate(row):
        if word in ("what", "who"):
            near = row[max(0, at - 2) : at + 4]
            if "you" in near and "are" in near and any(row[to - 1] in _BEING for to in _places(row, "to", at + 1)):
                return True
            if word == "who" and {"you", "be"} <= set(row[at + 1 : at + 4]):
                return True
            if "you" in near and any(row[to : to + 3] == ["to", "do", "with"] for to in range(at, len(row))):
                return True
    return False


def _places(row: list[str], word: str, lo: int) -> list[int]:
    return [at for at in range(lo, min(lo + 4, len(row))) if row[at] == word]


def listed(clause: Clause, taken: list[tuple[int, int]], known: Values) -> list[str]:
    """The soft reading of the items of a list that name no fact, beside others that do."""
    row, out, lo = clause.row, list[str](), 0
    if taken and len(clause.commas) + sum(word in _LISTING for word in row) < len(taken):
        return out  # each of its parts names a fact
    for hi in range(1, len(row) + 1):
        if hi < len(row) and row[hi] not in _LISTING and hi not in clause.commas:
            continue
        part = row[lo:hi]
        if part and part[0] in _LISTING:
            part = part[1:]
        if (
            len(part) > 1
            and hi - lo < len(row)
            and (not lo or part[0] not in _PURPOSE)
            and not any(lo < to and at < hi for at, to in taken)
        ):
            heard = frozenset(part) | (_INWARD if part[-1] == "in" else frozenset[str]())
            if not heard.isdisjoint(_WORDS):
                out += _best(heard, "", True, known)
        lo = hi
    return out
