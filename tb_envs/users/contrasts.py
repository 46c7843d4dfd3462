"""Whether a wish that is restated goes against the wish that was uttered: "smaller" for "better", "more" for "back".

Refuses to look at the kind of request: that is `requests.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from .phrases import stem_set
from .words import each

_AXES = tuple(
    (stem_set(one), stem_set(other))
    for one, other in (
        (
            "better bigger larger upgrade suite deluxe superior nicer higher finer",
            "smaller cheaper cheap downgrade simpler simple basic worse lower modest",
        ),
        ("later longer extend after", "earlier early sooner shorter before"),
        (
            "back return release fewer less drop cancel",
            "more additional extra another further add enlarge expand increase",
        ),
        ("leave depart departure", "arrive arrival"),
        ("missing miss lack absent", "book buy purchase spend redeem"),
        ("remove drop twice duplicate", "add third another"),
    )
)
_THINGS = tuple(
    stem_set(words)
    for words in (
        "minibar drinks drink",
        "restaurant dinner lunch meal bar",
        "spa massage sauna wellness",
        "laundry ironing",
        "parking garage",
        "breakfast",
        "film movie television tv",
        "taxi shuttle transfer",
        "wifi internet",
        "pet dog cat",
        "damage broken",
        "no-show noshow",
    )
)
_ELSEWISE = stem_set("stock refill restock replenish deactivate")
_STARTS = stem_set(
    "book reserve order close open make hire rent buy purchase refill restock replenish complain delete pay settle"
    " spend redeem rebook renew add donate transfer become join register subscribe enrol extend"
)
_GETTING = stem_set("book reserve order buy purchase hire rent rebook add renew")
_BOOKED = stem_set("booked reserved hired rented ordered delivered served")
_NEWLY = each("new booking order another room tabl")
_PAYING = stem_set("pay settle")
_NOT_TO_PAY = each("back les only just right correct usd eur it that issu matter disput complaint")
"""What follows where paying is not what somebody wants: "pay less", "pay only USD 12", "settle this matter"."""
_MORE = each("additional extra further more another addition")
_LACKING = stem_set("more additional extra another further add missing miss lack longer extend book reserve order buy")
_THINGS_MORE = stem_set(
    "room rooms night nights drink drinks guest guests bed beds towel towels snack snacks bottle bottles"
    " item items stay"
    " booking reservation person people breakfast meal seat space product article order"
)
_UNDOING = stem_set("cancel drop remove delete refund money cash back release return cancelling deleting refunding")
_GIFTS = stem_set("voucher coupon breakfast dinner lunch cocktail massage points drink")
_GIVING = stem_set("offer propose suggest best compromise instead")
_CHANGES = stem_set("change move rebook reschedule postpone shift switch upgrade keep")
_REPLACING = (("rather", "than"), ("instead", "of"))
_IN_PLACE = ["in", "plac", "of"]
_IT_IS = (["is", "it"], ["it", "is"])
_TO_USE = ["to", "use"]
_SAVED = stem_set("night nights point points mile miles")
_PAPERS = stem_set("receipt invoice copy")
_ORDERED = stem_set(
    "taxi shuttle transfer receipt invoice copy voucher breakfast dinner lunch massage towels towel cot parking"
    " newspaper iron table drinks luggage bags bag suitcase suitcases wedding conference meeting party"
    " key tv bike bikes"
    " flight flights train ticket tickets doctor crib pillow pillows blanket laundry sauna spa pool gym snack snacks"
    " membership"
)
_TABLES = stem_set("table massage treatment taxi transfer tour restaurant")
_AFTER_THING = each("for at on to in of from by with is am do hav correct right yes please and as")
_FREEING = stem_set("remove drop delete release cancel strike scrap")
_FEES = stem_set("fee charge cost price surcharge payment bill")
_RISING = stem_set("better bigger larger upgrade suite later longer extend")
_WANT = each("lik want wish need lov")
_STAYS = frozenset(("remain", "untouch", "keep", "stai"))
_ENDS_STAY = frozenset(("as", "where", "in", "right", "okai", "correct", "and", "untouch", "so", "it", "is"))
_ALL = each("both all al everything")
_OCCASIONS = each("time date dates day week month weekend occasion")
_WHICH = stem_set("first second later earlier other last")


def contrary(mine: Set[str], theirs: Set[str]) -> bool:
    """Whether `theirs` names the opposite of what `mine` names, or another thing of the same kind."""
    for one, other in _AXES:
        for here, there in ((one, other), (other, one)):
            if mine & here and not mine & there and theirs & there and not theirs & here:
                return True
    meant = [words for words in _THINGS if mine & words]
    named = [words for words in _THINGS if theirs & words]
    return bool(meant and named) and not any(theirs & words for words in meant)


def elsewise(mine: Set[str], rows: Iterable[Sequence[str]]) -> bool:
    """Whether a wish is told that begins something which was never spoken of: a new booking, an order."""
    for row in rows:
        if not _ELSEWISE.isdisjoint(row) and mine.isdisjoint(_ELSEWISE):
            return True
        if row[:2] in _IT_IS and _adds(row[2:]) and mine.isdisjoint(_LACKING):
            return True  # "is it one more night that you'd like?"
        for at, word in enumerate(row):
            if word == "fil" and row[at + 1 : at + 2] == ["up"] and mine.isdisjoint(_ELSEWISE):
                return True
            if word == "book" and not _TABLES.isdisjoint(row[at + 1 : at + 4]) and mine.isdisjoint(_TABLES):
                return True  # "you're looking to book a table"
            if word in _WANT:
                if "not" in row[max(0, at - 2) : at]:
                    continue  # "you do not want to pay"
                if _orders(row[at + 1 : at + 6], mine):
                    return True  # "you'd like a taxi at four"
                booked = _BOOKED.intersection(row[at + 2 : at + 7]) - mine
                if booked and "than" not in row[at + 2 : at + 7] and mine.isdisjoint(_GETTING):
                    return True  # "you want a second night booked"
                if _adds(row[at + 1 : at + 9]) and mine.isdisjoint(_LACKING):
                    return True  # "you'd like more drinks put in your minibar"
                if _frees(row[at + 1 : at + 9]) and mine.isdisjoint(_FREEING) and not mine.isdisjoint(_RISING):
                    return True  # "you want the suite taken off your booking"
                if row[at + 1 : at + 3] == _TO_USE and row[at + 3 : at + 4] != [] and row[at + 3] in _SAVED:
                    return "use" not in mine  # "you want to use your nights for a free stay"
                to = next((near for near in range(at + 1, min(at + 4, len(row))) if row[near] == "to"), 0)
                verb = row[to + 1] if to and to + 1 < len(row) else ""
                if (
                    verb in _STARTS
                    and verb not in mine
                    and (verb != "extend" or mine.isdisjoint(_RISING))
                    and (verb not in _GETTING or mine.isdisjoint(_GETTING | _LACKING))
                    and (verb not in _PAYING or _pays(row[to + 2 : to + 7]))
                    and (
                        verb != "mak"
                        or (not _NEWLY.isdisjoint(row[to + 2 : to + 5]) and "to" not in row[to + 3 : to + 5])
                    )
                ):
                    return True
    return False


def replaces(mine: Set[str], rows: Iterable[Sequence[str]]) -> bool:
    """Whether something is proposed in the place of what was asked for: "rather than a refund", "in place of it"."""
    undoing = not mine.isdisjoint(_UNDOING)
    gifts = _GIFTS if mine.isdisjoint(_GIFTS) else frozenset[str]()
    for row in rows:
        swaps = "instead" in row and "of" not in row[row.index("instead") + 1 :][:1] and undoing
        if swaps and mine.isdisjoint(_CHANGES) and not _CHANGES.isdisjoint(row) and _UNDOING.isdisjoint(row):
            return True  # "could we rebook you for next month instead?"
        if not gifts.isdisjoint(row) and not _GIVING.isdisjoint(row):
            return True  # "a voucher is the best I can offer. Will you take it?"
        for at in range(len(row) - 2):
            if tuple(row[at : at + 2]) in _REPLACING or row[at : at + 3] == _IN_PLACE:
                thing = row[at + 2 : at + 5] if row[at] != "in" else row[at + 3 : at + 6]
                if any(word in mine or (undoing and word in _UNDOING) for word in thing):
                    return True
    return False


def _orders(row: Sequence[str], mine: Set[str]) -> bool:
    """As in "a taxi at four", "to have a receipt": a thing that was never spoken of, as the object of the wish."""
    at = 2 if row[:1] == ["to"] else 0
    if row[at : at + 1] == [] or row[at] not in _ORDERED or (len(row) > at + 1 and row[at + 1] not in _AFTER_THING):
        return False
    return row[at] not in mine and all(row[at] not in same or mine.isdisjoint(same) for same in (*_THINGS, _PAPERS))


def _adds(row: Sequence[str]) -> bool:
    """As in "two more drinks", "an additional room", not "another date"."""
    for at, word in enumerate(row[:-1]):
        if word in _MORE and row[at + 1] in _THINGS_MORE and row[at - 1 : at] not in (["any"], ["no"]):
            return word != "another" or row[at + 1] != "room" or "to" not in row[:at]  # "moved to another room"
    return False


def _frees(row: Sequence[str]) -> bool:
    """As in "the suite taken off", "the room released", not "the fee dropped"."""
    if not _FEES.isdisjoint(row):
        return False
    return not _FREEING.isdisjoint(row) or any(
        word == "tak" and "off" in row[at + 1 : at + 3] for at, word in enumerate(row)
    )


def _pays(follow: Sequence[str]) -> bool:
    """As in "pay the fee", not "pay less", "pay USD 12", "settle the matter"."""
    return bool(follow) and _NOT_TO_PAY.isdisjoint(follow[:2]) and not any(word[0].isdigit() for word in follow)


def claims(rows: Iterable[Sequence[str]]) -> set[str]:
    """The stems of the rows, without what is said to stay as it is."""
    out: set[str] = set()
    for row in rows:
        left = {
            near
            for near, word in enumerate(row)
            if row[max(0, near - 1) : near] == ["than"]
            or (word == "more" and row[max(0, near - 1) : near] in (["any"], ["no"]))
            or (word == "another" and row[near + 1 : near + 2] != [] and row[near + 1] in _OCCASIONS)
        }  # "you don't need them any more", "another week", "other days than booked"
        for at, word in enumerate(row):
            if word in _STAYS and (word != "stai" or at + 1 == len(row) or row[at + 1] in _ENDS_STAY):
                lo = max(0, at - 3)
                lo = at if not _ALL.isdisjoint(row[lo:at]) else lo  # "we drop the later one or both stay"
                span = range(at + 1, min(at + 4, len(row))) if word == "keep" else range(lo, at)
                left.update(near for near in span if row[near] in _WHICH)
        out.update(word for at, word in enumerate(row) if at not in left)
    return out
