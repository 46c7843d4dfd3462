"""Questions whether the customer recognises what is spoken of: "does this sound familiar?", "is it one of yours?".

Refuses questions for a fact ("do you remember your account number?"), and to know what is recognised.
"""

from __future__ import annotations

from .clauses import Clause
from .phrases import stem_set
from .words import each

_KNOWING = stem_set("recognise know remember recall identify place")
_FAMILIAR = stem_set("familiar bell memory sense recollection acquainted")
_SHOWN = each("it that them name pay entri charg merchant shop firm company transact purchas trader seller on one")
_MINE = stem_set("make made buy order place authorise purchase shop visit")
RECOGNISING = _KNOWING | _FAMILIAR | each("mean tel say help remind forgot yours your you")
"""Without one of these no question is of this kind."""
_BEING = each("could can may might was")
_WAS_IT = (["was", "it"], ["was", "that"])
_ASKING = each("do did is could can would wil might may hav are was were and so now you or")
_OF_IT = each("it that name shop merchant entri on they what pay charg")
_SOMETHING = each("anything something much")


def recognises(clause: Clause) -> bool:
    """Whether the question is if the customer recognises what was named or shown."""
    row = clause.row
    if len(row) < 3 or row[0] not in _ASKING or "your" in clause.dets[1:3]:
        return False
    if not _FAMILIAR.isdisjoint(row):
        return "your" not in clause.dets or "jog" in row or "refresh" in row or "help" in row
    if row[-1] in ("you", "yours", "your") and row[1] in ("it", "that") and row[0] in _BEING and len(row) < 7:
        # "could that have been you?", "was that you?"
        return row[-2] == "been" or (row[0] in ("could", "might") and row[-2] == "be") or row[:-1] in _WAS_IT
    if row[:2] == ["hav", "you"] and len(row) > 3:  # "have you ever been there?", "have you heard of them?"
        done = row[3] if row[2] == "ever" else row[2]
        return done in _MINE or (done == "been" and not {"to", "there"}.isdisjoint(row)) or row[2:4] == ["hear", "of"]
    start = 1 if row[0] in ("and", "so", "now", "or") else 0
    if "mean" in row[2:] or "tel" in row[2:] or "say" in row[2:]:
        at = next(at for at, word in enumerate(row) if at > 1 and word in ("mean", "tel", "say"))
        return row[start] in ("do", "would", "could", "might") and not _SOMETHING.isdisjoint(row[at + 1 : at + 3])
    if "help" in row[1:5] or "remind" in row[1:5]:
        at = next(at for at, word in enumerate(row) if word in ("help", "remind"))
        return (
            row[at + 1 : at + 2] == ["you"]
            and row[at - 1] in _OF_IT
            and (row[at] == "remind" or not _KNOWING.isdisjoint(row[at + 2 : at + 5]))
        )
    if "you" in row[:3] and not _KNOWING.isdisjoint(row[1:6]):
        at = next(at for at, word in enumerate(row) if at and word in _KNOWING)
        rest = row[at + 1 : at + 5]
        if at and row[at - 1] in ("to", "not") and row[0] != "do":
            return False
        named = any(at < near < at + 4 for near in clause.capitals)
        return (bool(rest) and rest[0] in _SHOWN and "nam" not in rest[1:2]) or (named and row[at] != "plac")
    return False
