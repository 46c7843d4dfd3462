"""Who is calling, as expectations: a check passed on enough facts that the caller named, without guessing.

Refuses to know the table of checks beyond the columns named here: ``result`` (``passed`` or ``failed``) and
``facts_matched``. A domain adds whose check it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tb_envs.authoring import at_most, created, named, one_of, order, writes
from tb_envs.grading.expectations import Expectation, Pattern

MOST_FACTS = 5


def verified(
    model: Any,
    whose: dict[str, Any],
    *,
    needed: int,
    on_file: Iterable[str],
    touches: Sequence[Pattern] = (),
    most_failed: int = 1,
    failed_of: dict[str, Any] | None = None,
    names: tuple[str, str, str] = ("verified", "facts heard", "guesses"),
) -> tuple[Expectation, Expectation, Expectation]:
    """A check passed on `needed` facts or more; the caller named as many before; at most `most_failed` checks failed.

    Args:
        model: the table of checks.
        whose: columns that say whose check it is and in which role.
        on_file: the values a caller may name.
        touches: the changes that must come after the check; without any, the check must only be there.
        failed_of: columns of the failed checks that count; `whose` if not given.
        names: of the three expectations.
    """
    passed = {**whose, "result": "passed"}
    enough = {**passed, "facts_matched": one_of(*range(needed, MOST_FACTS + 1))}
    first = order(names[0], writes(model, **enough), *touches) if touches else created(names[0], model, **enough)
    return (
        first,
        named(names[1], on_file, at_least=needed, then=writes(model, **passed)),
        at_most(names[2], writes(model, **(failed_of or whose), result="failed"), most_failed),
    )
