"""Ends told in other ways than by a finished verb: as a state, in casual or in foreign English.

Refuses to be asked first: it is consulted only about statements in which the exact patterns found nothing.
"""

from __future__ import annotations

from .clauses import Clause
from .elsewhere import of_the_house
from .ends import ARRIVES, BE, DEED, DONE, MODAL, PENDING, REFUSED
from .lexicon import DONE_VERBS, LOOK, PLAIN_PAST, THIRD
from .phrases import stem_set
from .records import MONEYS, THINGS, of_data
from .returning import OBJECTS, STILL, get_back, goes_back, got_back, has_back
from .words import Is, each

_PRELUDE = each("good great new okai alright hello hi yes yep so and also thank perfect updat done well right sur then")
_CASUAL = DONE_VERBS | stem_set(
    "knock strike wipe scrap bin mail e-mail comp chuck kill cut hand slash straighten square book sort tweak bump flip"
    " pull"
)
NEUTRAL = stem_set(
    "tried used owed retrieve fetch obtain access extract dig bring"
    " check verify review look see find locate open read compare examine note record log register save"
    " receive get hear"
    " understand charge bill levy debit order consume book promise explain mention say tell ask inform list show count"
    " calculate compute study inspect trace search match identify view notice miss try attempt plan intend want request"
    " contest dispute question discuss quote hold keep need expect hope like appreciate value include confirm own stay"
    " use occupy park store prepare start begin mark flag highlight describe state enter type write spell print copy"
    " scan select choose click select consider assess evaluate investigate visit call phone contact consult await wait"
    " remain last happen occur arrive depart leave come go make take have do be know think believe remember forget"
    " recognise reach cover concern affect relate attach raise offer propose suggest intend finish complete detect"
    " discover spot encounter pull load enquire inquire quote price rate estimate apologise regret thank help assist"
    " acknowledge advise recommend require block stop interrupt fail lack owe incur accrue collect gather interest"
    " renovate refurbish redecorate refill restock repaint modernise modernize clean service"
    " jot scribble pencil shut announce present weigh contrast rank balance tally"
)
"""Deeds of which none is what a customer asks for, and verbs too general to tell."""
_AMBIGUOUS = each("given set put cut pulled noted provided confirmed taken made done")
_GONE = each("void off gone back yours away removed history dead")
_STANDS = each("count show appear stand read display reflect sit run")
_PLACES = stem_set("inbox mailbox mail email account card bill folio statement balance pocket")
_COUNTED = ("counted", "included", "there", "visible", "listed", "recorded", "registered", "complete")
_ALLOWED = each("keep stai leav us hav remain sleep depart check")
_GOODS = THINGS - each("it that they them al both everything one first second all hour arriv depart")
_DOING = each("com go do tak be mak")
_HANDING = stem_set("send pass give forward hand refer escalate transfer submit put bring")
_MUST_STAY = each("stay stai remain stand stick hold appli")
_TRAILING = each("sorri afraid then though so i am")
_COSTS = stem_set("fee charge charges rule policy price rate penalty bill")
_VERBAL = each("get i we you they he she it that is are was were hav been do did wil would can could may if not")
_STRUCK = each("struck cut shifted swapped")
_AFTER = each("to from for off back at until til on in and by with through of onto as")
_EXISTING = stem_set("exist show appear list display include carry contain")
_VANISHED = each("gone came vanished disappeared went fell")
_AWAY = (["off"], ["back"], ["from"], ["away"])
_STAYING = stem_set("check leave arrive stay sleep depart")
_COPIES = stem_set("invoice receipt copy")
_BOOKED = each("credit refund reimburs")
"""What is given by being booked."""
_LAPSED = stem_set("time chance deadline window period option possibility opportunity offer moment hope availability")
"""What is gone to no good."""
_LEFT = _LAPSED | stem_set("suite room rooms deluxe")
_POOLS = stem_set("pool inventory stock block sale")
_STATIVE = _STANDS | each("is are")
_IRREGULAR = PLAIN_PAST | _STRUCK | _VANISHED | {"got", "held", "had"}
_HOURS = each("one two three four five six noon midday midnight")
_FIGURES = (Is.TIME, Is.DATE, Is.NUMBER)
_AGREED = (["it", "is", "all"], ["it", "is", "agre"], ["that", "is", "agre"])


def told(clause: Clause, found: set[str]) -> None:
    """Adds the end that the clause tells as a state or a casual report."""
    row = clause.row
    if clause.hyp < len(row) or clause.hedged or clause.general:
        return
    if row[0] == "pay" and row[1:2] == ["back"] and clause.words[0].text == "paid":
        found.add(DONE)  # "Paid back."
        return
    if row[0] in ("i", "we") and _sends(clause):
        found.add(PENDING)
        return
    if OBJECTS.isdisjoint(row) and not clause.values:
        if len(row) < 6 and (row[-1] in _MUST_STAY or row[-1] in _TRAILING) and _stays(clause):
            found.add(REFUSED)
        if "been" in row and _deed(clause):
            found.add(DEED)
        return
    past = _has_past(clause)
    if past and (_headline(clause) or (row == ["it", "work"] and clause.words[1].text == "worked")):
        found.add(DONE)
        return
    if (past and (_by_nobody(clause) or _gone(clause) or got_back(clause))) or _is_so(clause):
        found.add(DONE)
    elif past and row[0] in ("i", "we") and row[-1] == "list" and "you" in row:
        found.add(PENDING)  # "I've noted you on the late check-out list"
    elif past and _deed(clause):
        found.add(DEED if _about_nothing(clause) else DONE)
    elif (len(row) < 6 and _stays(clause)) or (("not" in row or "no" in row) and _never(clause)):
        found.add(REFUSED)
    elif (row[:3] in _AGREED and "agre" in row[2:4]) or (
        "you" in row and (_owes(row) or _may(clause) or get_back(clause))
    ):
        found.add(ARRIVES)


def _has_past(clause: Clause) -> bool:
    """Whether some word of it could be a past form."""
    for token in clause.words:
        text = token.text
        if text[-2:] == "ed" or text in _IRREGULAR:
            return True
    return False


def _is_so(clause: Clause) -> bool:
    """Whether it tells a state that nothing but the deed asked for leads to."""
    row = clause.row
    return (
        (not _STATIVE.isdisjoint(row) and _state(clause))
        or ("hav" in row and _foreign(clause))
        or ("back" in row and goes_back(row))
        or ("longer" in row and _ceased(row))
        or (row[:2] == ["you", "hav"] and has_back(clause))
        or (clause.thus and row[:2] == ["i", "could"] and row[2:3] != [] and row[2] in DONE_VERBS)
        or (clause.now and _now(clause))
        or (clause.words[-1].text == "yours" and len(row) < 5 and row[-2] in _GOODS)
    )


def _by_nobody(clause: Clause) -> bool:
    """As in "dropped the earlier one", "ok, added the missing nights": a past form first, without its subject."""
    row, words = clause.row, clause.words
    for at, word in enumerate(row[:6]):
        if at and at not in clause.commas and word in _PRELUDE and row[at - 1] not in _PRELUDE:
            return False
        text = words[at].text
        if (
            (word in _CASUAL or word not in NEUTRAL)
            and (text.endswith("ed") or text in PLAIN_PAST)
            and text not in _AMBIGUOUS
        ):
            rest = row[at + 1 :]
            thing = not OBJECTS.isdisjoint(rest[:5]) or any(token.kind is Is.AMOUNT for token in words[at + 1 :])
            return thing and not clause.dets[at] and not of_data(clause, at) and "not" not in rest
        if word not in _PRELUDE and at not in clause.commas:
            return False
    return False


def _deed(clause: Clause) -> bool:
    """As in "the sum has been expunged", "I freed up the 8 rooms": some verb, done to what requests are about."""
    row, words = clause.row, clause.words
    for at in range(1, min(len(row), 14)):
        anew = row[at - 1] == "re"  # "re-billed"
        if not words[at].text.endswith("ed") or (row[at] in NEUTRAL and not anew) or clause.dets[at]:
            continue
        before = row[max(0, at - 4) : at - 1] if anew else row[max(0, at - 3) : at]
        if not STILL.isdisjoint(row[:at]) or not MODAL.isdisjoint(before) or "you" in before:
            return False
        if before[-1] == "been" and "to" not in before:
            return not of_data(clause, at) and not of_the_house(clause, at)
        if before[-1] in ("i", "we") or (before[-1] == "hav" and before[-2:-1] in (["i"], ["we"])):
            rest = row[at + 1 : at + 6]
            rest = rest[: rest.index("and")] if "and" in rest else rest
            return clause.dets[at + 1 : at + 2] != ["our"] and _about_things(rest) and not of_data(clause, at)
        return False
    return False


def _about_nothing(clause: Clause) -> bool:
    """As in "the alarm has been programmed": a deed done to nothing that requests are mostly about."""
    row = clause.row
    return "been" in row and not _about_things(row[: row.index("been")])


def _headline(clause: Clause) -> bool:
    """As in "late check-out arranged", "Deposit of 150 returned", "Table shifted to eight"."""
    row, words = clause.row, clause.words
    if (
        len(row) < 2
        or len(row) > 12
        or THINGS.isdisjoint(row[:7])
        or not _VERBAL.isdisjoint(row[: min((comma for comma in clause.commas if comma > 1), default=len(row))])
        or (clause.dets[0] in ("a", "an") and row[0] not in _BOOKED)
    ):
        return False
    for at in range(1, min(len(row), 7)):
        text = words[at].text
        if text == "given" and row[at + 1 : at + 2] == ["back"] and _BOOKED.isdisjoint(row[:at]):
            return not clause.dets[at]  # "all rooms given back"
        booked = text == "booked" and not _BOOKED.isdisjoint(row[: min(at, 3)])
        if (text.endswith("ed") and (booked or row[at] not in NEUTRAL) and text not in _AMBIGUOUS) or text in _STRUCK:
            return (
                not clause.dets[at]
                and words[at - 1].kind in (Is.WORD, Is.NUMBER, Is.AMOUNT)
                and (row[at] in DONE_VERBS or row[at] in _CASUAL or text in _STRUCK)
                and (
                    len(row) == at + 1
                    or at + 1 in clause.commas
                    or row[at + 1] in _AFTER
                    or words[at + 1].kind is not Is.WORD
                )
                and not of_data(clause, at)
            )
        if not text.isalpha() and words[at].kind is Is.MARK:
            return False
    return False


def _gone(clause: Clause) -> bool:
    """As in "the 75 came off", "the resort fee has vanished from the folio"."""
    row, words = clause.row, clause.words
    for at in range(1, min(len(row), 9)):
        if words[at].text == "gone" and _gone_from(clause, at):
            return True
        if words[at].text in _VANISHED and row[at + 1 : at + 2] in _AWAY:
            before = row[:at]
            if before[-4:-1] == ["you", "do", "not"]:
                before = before[:-4]  # "the rooms you don't need went back into sale"
            landed = not _GOODS.isdisjoint(before) or any(token.kind in (Is.AMOUNT, Is.NUMBER) for token in words[:at])
            return landed and STILL.isdisjoint(before) and MODAL.isdisjoint(before) and "you" not in before
    return False


def _gone_from(clause: Clause, at: int) -> bool:
    """As in "the earlier one's gone", "your no-show fee's gone", where "is" is not heard: no "chance gone"."""
    row = clause.row
    subject = row[:at]
    return (
        not THINGS.isdisjoint(subject[-1:])
        and at < 6
        and _LEFT.isdisjoint(subject)
        and _VERBAL.isdisjoint(subject)
        and (at + 1 == len(row) or at + 1 in clause.commas or row[at + 1] in _AFTER)
    )


def _now(clause: Clause) -> bool:
    """As in "you now check out on Friday the 8th", "you are now checking out at 14:00"."""
    row = clause.row
    if row[0] != "you" and not {"is", "are"}.isdisjoint(row[1:5]):  # "all missing nights are now counted"
        at = next(at for at in range(1, 5) if row[at] in ("is", "are"))
        return not MONEYS.isdisjoint(row[:at]) and clause.words[-1].text in _COUNTED
    if row[0] != "you" or not clause.values or not STILL.isdisjoint(row):
        return False
    return not _STAYING.isdisjoint(row[1:3]) and MODAL.isdisjoint(row)


def _ceased(row: list[str]) -> bool:
    """As in "the stay no longer exists", "the bill no longer shows them"."""
    for at, word in enumerate(row[:-2]):
        if word == "no" and row[at + 1] == "longer":
            if row[at + 2 : at + 4] in (["be", "used"], ["be", "charg"]):
                return "card" in row[:at]
            return at > 0 and row[at + 2] in _EXISTING and not THINGS.isdisjoint(row[:at])
    return False


def _owes(row: list[str]) -> bool:
    """As in "you owe us nothing any more"."""
    return row[:2] == ["you", "ow"] and ("nothing" in row[2:4] or "zero" in row[2:4])


def _about_things(row: list[str]) -> bool:
    return not _GOODS.isdisjoint(row)


def _never(clause: Clause) -> bool:
    """As in "an alteration of the dates cannot be entertained", "the money no can come back"."""
    row = clause.row
    for at in range(1, len(row) - 1):
        if (row[at] == "not" and row[at - 1] in ("can", "could", "may", "wil")) or row[at : at + 2] == ["no", "can"]:
            subject = row[:at] if row[at] == "no" else row[: at - 1]
            rest = row[at + 1 : at + 5]
            if subject[-1:] in (["i"], ["we"]) and row[at - 1] in ("can", "could"):
                if rest[0] in ("keep", "hold"):  # "we can't keep the room for you that long"
                    return not _LEFT.isdisjoint(rest[1:3]) or ("it" in rest[1:2] and "for" in rest)
                return rest[0] not in NEUTRAL and rest[0] not in LOOK and not THINGS.isdisjoint(rest[1:3])
            if "you" in subject or not NEUTRAL.difference(_DOING).isdisjoint(rest[:2]):
                return False
            return _about_things(subject) and (rest[0] in ("be", "can", "com", "go") or "we" in subject)
    return False


def _sends(clause: Clause) -> bool:
    """As in "I send your question to accounting": a hand-over told in the present."""
    row = clause.row
    if row[0] not in ("i", "we") or len(row) < 4 or row[1] not in _HANDING:
        return False
    return any(
        word == "to" and not THIRD.isdisjoint(row[at + 1 : at + 4]) and clause.dets[at + 1 : at + 2] != ["your"]
        for at, word in enumerate(row)
    )


def _foreign(clause: Clause) -> bool:
    """As in "I have make the cancellation", "we have cancel it"."""
    row = clause.row
    for at in range(2, min(len(row) - 1, 9)):
        if row[at] in DONE_VERBS and row[at - 1] == "hav" and row[at - 2] in ("i", "we") and clause.dets[at] == "":
            thing = row[at + 1 : at + 5]
            verb = clause.words[at].text
            return (
                not OBJECTS.isdisjoint(thing)
                and not (verb.endswith("ed") or verb in PLAIN_PAST)
                and verb not in ("change", "refund", "credit", "release", "order", "issue")
                and not of_data(clause, at)
            )
    return False


def _state(clause: Clause) -> bool:
    """As in "36.50 is off your bill", "the suite is yours", "the nights now show in your account"."""
    row, words = clause.row, clause.words
    for at, word in enumerate(row[1:14], 1):
        be = word in ("is", "are") or (word in _STANDS and (clause.now or not MONEYS.isdisjoint(row[:at])))
        if not be:
            continue
        subject = row[:at]
        if subject[-4:-1] == ["you", "do", "not"]:
            subject = subject[:-4]  # "the rooms you don't need are back with us"
        if not STILL.isdisjoint(subject) or not MODAL.isdisjoint(subject) or row[0] in ("what", "where", "how"):
            return False
        amount = any(token.kind in (Is.AMOUNT, Is.NUMBER) for token in words[:at])
        if (THINGS.isdisjoint(subject) and not amount) or not _LAPSED.isdisjoint(subject):
            return False
        rest = row[at + 1 : min((comma for comma in clause.commas if comma > at + 1), default=at + 8)]
        rest = rest[: rest.index("and")] if "and" in rest else rest
        if rest[:2] in (["no", "longer"], ["no", "more"], ["not", "more"], ["not", "longer"]):
            return word in BE and rest[2:3] in (["on"], ["in"], ["there"])
        if not STILL.isdisjoint(rest):
            return False
        texts = [token.text for token in words[at + 1 : at + 3]]
        if word in BE and not _GONE.isdisjoint(texts[: 1 + (texts[:1] == ["all"])]):
            return rest[:2] != ["back", "in"] or not _POOLS.isdisjoint(rest) or rest[2:3] in (["account"], ["balance"])
        if word == "count":
            return clause.now and at + 1 == len(row) and not MONEYS.isdisjoint(subject)  # "all four nights now count"
        mine = any(
            here in _PLACES and "your" in clause.dets[at + 2 : at + 2 + near] for near, here in enumerate(rest[:4])
        )
        landed = not MONEYS.isdisjoint(subject) or not _COPIES.isdisjoint(subject) or subject == ["it"]
        return mine and rest[0] in ("in", "on", "at", "back") and landed and (clause.now or rest[0] == "in")
    return False


def _stays(clause: Clause) -> bool:
    """As in "nope, fee stays": what was to go remains."""
    row = clause.row
    if row[-1] in _TRAILING:
        row = row[: next((at for at in range(len(row) - 1, -1, -1) if row[at] not in _TRAILING), -1) + 1]
    return (
        1 < len(row) < 6 and row[-1] in _MUST_STAY and not _COSTS.isdisjoint(row[:-1]) and not MODAL.intersection(row)
    )


def _may(clause: Clause) -> bool:
    """As in "you may keep the room until 16:00": what is allowed, at no price."""
    row = clause.row
    return (
        row[0] == "you"
        and row[1:2] in (["can"], ["may"])
        and "or" not in row
        and len(row) > 3
        and row[2] in _ALLOWED
        and (
            "no" in row or "fre" in row or any(token.kind in _FIGURES or token.text in _HOURS for token in clause.words)
        )
        and not any(token.kind is Is.AMOUNT for token in clause.words)
    )
