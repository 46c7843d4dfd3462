"""Which of the customer's dates and hours a clause restates, rightly or wrongly.

Refuses dates that are tied to something else: a rule, a tariff, the day on which a booking was made.
"""

from __future__ import annotations

from .clauses import Clause
from .scene import Scene, deed, impersonal, personal
from .values import MONTHS, NUMBERS, Day, Value, dates, same_day, times
from .words import Token, each, stem

ORDINALS = each("first second third")
"""Days of a month that have another meaning without it."""
MONTH_STEMS = frozenset(stem(name.lower()) for name in MONTHS)
HOURISH = frozenset(stem(word) for word in (*NUMBERS, "noon", "midday", "midnight"))
"""What may tell an hour without a digit."""
_ROLES = {
    "departure": each("depart leav end hom"),
    "arrival": each("arriv start begin com reach"),
}
_ROLE_PAIRS = {
    ("go", "back"): "departure",
    ("go", "on"): "departure",
    ("check", "out"): "departure",
    ("move", "out"): "departure",
    ("mov", "out"): "departure",
    ("hand", "in"): "departure",
    ("travel", "back"): "departure",
    ("last", "day"): "departure",
    ("check", "in"): "arrival",
    ("mov", "in"): "arrival",
    ("get", "here"): "arrival",
    ("be", "here"): "arrival",
    ("with", "us"): "arrival",
    ("first", "night"): "arrival",
    ("get", "to"): "arrival",
    ("travel", "here"): "arrival",
    ("travel", "to"): "arrival",
}
_BORDERS = each("start begin end")
"""They are said of other things than a stay, too."""
_OUTRIGHT = each("arriv start begin depart leav end")
"""They give a date its role in a mere statement, too."""
_UNTIL = each("depart leav to until til through end")
_NEW = each("new mov chang instead reschedul rebook shift extend switch postpon")
_YOURS = each("you leav depart keep until til out stay hour time extend")
_LEAVING = each("you leav depart")
_LINKS = each("is as would wil be was")
_ONE_OF = (["one", "from"], ["one", "of"])
_YEARS = 12
"""As far off a wrong year of birth may be; other dates are none of a birth."""
_BACK, _ON = 4, 9
"""How far before and after a date its role is looked for."""


def hours(scene: Scene) -> None:
    """Hours of the day: a wrong one only where the customer's own leaving is checked."""
    clause, heard = scene.clause, times(scene.clause.words, not _LEAVING.isdisjoint(scene.clause.row))
    if not heard:
        return
    row = clause.row
    rule = impersonal(clause)
    for value in scene.known.of["time"]:
        right = any(minutes in value.minutes for _, minutes in heard)
        about = scene.names(value) or not _YOURS.isdisjoint(row) or not clause.values or len(row) < 7
        noticed = (scene.checking or value.contested) and about and not rule
        scene.judge(value, right, noticed and "arriv" not in row)


def days(scene: Scene, consenting: bool) -> None:
    """The dates of the clause, each against the fact that it belongs to."""
    mine = [value for value in scene.known.of["date"] if value.days]
    heard = dates(scene.clause.words, scene.clause.values) if mine else []
    if not heard:
        return
    row = scene.clause.row
    ranged = len(heard) == 2 and heard[1][0] - heard[0][1] <= 2
    seen: set[str] = set()
    for at, (lo, hi, day) in enumerate(heard):
        after = heard[at - 1][1] if at else 0
        before = heard[at + 1][0] if at + 1 < len(heard) else len(row)
        told = _told(scene.clause.words, after, lo, hi, before)
        if told and not scene.asking and _OUTRIGHT.isdisjoint(row):
            told = ""
        right = [value.fact for value in mine if any(same_day(day, own) for own in value.days)]
        if right:
            scene.out.right.extend(right)
            seen.update(right)
            continue
        role = told or ("departure" if _NEW.isdisjoint(row) and not _UNTIL.isdisjoint(row[max(0, lo - 3) : lo]) else "")
        if not role and ranged:
            role = "departure" if at else "arrival"
        if at and ranged and any(fact.startswith("new") for fact in seen):
            scene.out.wrong.extend(value.fact for value in mine if value.group == "new_departure")
            break
        for value in _meant(scene, mine, role, bool(told), consenting, lo, day):
            if value.fact not in seen:
                scene.out.wrong.append(value.fact)
                seen.add(value.fact)
                break


def _told(words: list[Token], after: int, lo: int, hi: int, before: int) -> str:
    """The role that a date at `lo` to `hi` is given, by words before it or in a description after it."""
    if hi + 1 < before and words[hi].text == "as" and (role := _role(words[hi + 1 : hi + 3])):
        return role  # "25 June as departure"
    role = _role(words[max(after, lo - _BACK) : lo])
    if not role and hi < before and (words[hi].stem in _LINKS or words[hi].text in ("for", "that")):
        role = _role(words[hi : min(before, hi + _ON)])
    return role or (_role(words[after:lo]) if before == len(words) and not after else "")


def _role(words: list[Token]) -> str:
    """The role that is named last."""
    for at in range(len(words) - 1, -1, -1):
        stem = words[at].stem
        if at and (pair := _ROLE_PAIRS.get((words[at - 1].stem, stem))):
            return pair
        for role, named in _ROLES.items():
            if stem in named:
                return role
    return ""


def _meant(scene: Scene, mine: list[Value], role: str, told: bool, consenting: bool, lo: int, day: Day) -> list[Value]:
    """The facts that a date which is none of the customer's may be a wrong spelling of."""
    row, clause = scene.clause.row, scene.clause
    if impersonal(clause) or row[max(0, lo - 2) : lo] in _ONE_OF:
        return []
    named = [value for value in mine if (scene.names(value) or value.group in scene.about) and value.group != "dates"]
    fresh = not _NEW.isdisjoint(row)
    if told and not fresh and (not named or any(value.group.endswith(("arrival", "departure")) for value in named)):
        if not _BORDERS.isdisjoint(row) and not (personal(clause) or named):
            return []
        return [value for value in mine if value.group == role] or [
            value for value in mine if value.group == f"new_{role}" and (scene.checking or consenting)
        ]
    if named:
        return [
            value for value in named if not role or value.group not in ("arrival", "departure") or value.group == role
        ]
    if fresh and (scene.checking or (consenting and _of_the_change(clause))):
        new = [value for value in mine if value.group.startswith("new")]
        late = [value for value in new if value.group == "new_departure"]
        if role == "departure":
            return late or [value for value in new if len(value.days) > 1]
        return [value for value in new if value not in late]
    if scene.checking and not deed(clause):
        guess = [value for value in mine if value.group in (role or "arrival", "dates")]
        guess = guess or [value for value in mine if value.group == f"new_{role or 'arrival'}"]
        return guess or (mine if len(mine) == 1 and _of_its_age(mine[0], day) else [])
    if "record" in clause.labels and ("booking" in row or "stay" in row) and "your" in clause.dets and not deed(clause):
        return [value for value in mine if value.group == (role or "arrival")]
    return []


def _of_its_age(value: Value, day: Day) -> bool:
    """Whether a date can be a wrong spelling of the value: of a day of birth only if it names a year near it."""
    return value.group != "birth_date" or any(abs(day[0] - own[0]) < _YEARS or 0 < day[0] < 100 for own in value.days)


def _of_the_change(clause: Clause) -> bool:
    """Whether the date can be the new one: the change is the agent's plan or the customer's wish."""
    return personal(clause) or "i" in clause.row or "we" in clause.row or "new" in clause.row or clause.question
