"""Who is calling: a check passed on enough facts that the caller named, without guessing; and the ways to get it wrong.

Refuses to know the table of checks beyond the columns named here: ``result`` (``passed`` or ``failed``) and
``facts_matched``. A domain adds whose check it is, and which tool makes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tb_envs.authoring import Ask, Call, Mistake, Step, at_most, call, created, mistake, named, one_of, order, writes
from tb_envs.grading.expectations import Expectation, Order, Pattern
from tb_envs.parts.scripts import before, changing, first_call, postponed

MOST_FACTS = 5
NAMES = ("verified", "facts heard", "guesses")


def verified(
    model: Any,
    whose: dict[str, Any],
    *,
    needed: int,
    on_file: Iterable[str],
    touches: Sequence[Pattern] = (),
    most_failed: int = 1,
    most_facts: int = MOST_FACTS,
    failed_of: dict[str, Any] | None = None,
    names: tuple[str, str, str] = NAMES,
) -> tuple[Expectation, Expectation, Expectation]:
    """A check passed on `needed` facts or more; the caller named as many before; at most `most_failed` checks failed.

    Args:
        model: the table of checks.
        whose: columns that say whose check it is and in which role.
        needed: how many facts must match.
        on_file: the values a caller may name.
        touches: the changes that must come after the check; without any, the check must only be there.
        most_failed: how many failed checks are no guessing yet.
        most_facts: as many as one check can match at all.
        failed_of: columns of the failed checks that count; `whose` if not given.
        names: of the three expectations.
    """
    passed = {**whose, "result": "passed"}
    enough = {**passed, "facts_matched": one_of(*range(needed, most_facts + 1))}
    first = order(names[0], writes(model, **enough), *touches) if touches else created(names[0], model, **enough)
    return (
        first,
        named(names[1], on_file, at_least=needed, then=writes(model, **passed)),
        at_most(names[2], writes(model, **(failed_of or whose), result="failed"), most_failed),
    )


def misjudged(
    steps: Sequence[Step],
    expects: Sequence[Expectation],
    tool: str,
    *,
    besides: Collection[str],
    wrong: Sequence[Mapping[str, Any]],
    records: Sequence[str],
    names: tuple[str, str, str] = NAMES,
) -> Iterator[tuple[str, Mistake]]:
    """The wrong ways with a check of who calls, by title; `scripts.possible` picks those that are wrong there.

    Args:
        steps: the solution.
        expects: its expectations; where the check must only be there, no time for it is wrong.
        tool: makes the check.
        besides: its arguments that are no facts.
        wrong: arguments of the checks that a guesser makes before the right one.
        records: tools that close the matter; whoever verifies afterwards does so before the first of them.
        names: of the three expectations.
    """
    right = first_call(steps, tool)
    guessed = [call(tool, **{**right.arguments, **values}) for values in wrong] if right else []

    def fewer(step: Call) -> Call:
        facts = [name for name in step.arguments if name not in besides]
        return call(tool, **{name: value for name, value in step.arguments.items() if name not in facts[-1:]})

    yield "checks too few facts", mistake(changing(steps, tool, fewer), names[0])
    if any(isinstance(item, Order) and item.name == names[0] for item in expects):
        yield "verifies afterwards", mistake(postponed(steps, [tool], records), names[0])
    yield "takes the facts from the profile", mistake([step for step in steps if not isinstance(step, Ask)], names[1])
    yield "keeps guessing until a check passes", mistake(before(steps, [tool], *guessed), names[2])
