"""The grader: a task's expectations held against an episode's row changes and log. Pure; it changes nothing.

Closed world: every touched row must be claimed by an expectation, or belong to a derived table, or be a new narrative
row about the task's own customer. Rows an agent creates are bound to expectations by content, never by id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from tb_envs.authoring.models import TableSpec
from tb_envs.errors import CheckerError
from tb_envs.grading.expectations import (
    AtMost,
    Changed,
    Created,
    Either,
    Expectation,
    Happened,
    Judged,
    Kept,
    Named,
    NeverCreated,
    Order,
    Pattern,
    Removed,
)
from tb_envs.grading.matchers import RowOf, accepts
from tb_envs.grading.verdict import NOTHING_ELSE, Check, Verdict
from tb_envs.session.log import Event
from tb_envs.store.journal import RowChange, Values

Key = tuple[str, str]


class Result(NamedTuple):
    """How one expectation came out."""

    passed: bool
    expected: str
    found: str


class Evidence:
    """An episode's changes and log, indexed once for all expectations."""

    def __init__(
        self, specs: Mapping[str, TableSpec], changes: Iterable[RowChange], log: Sequence[Event], about: Iterable[str]
    ) -> None:
        self.specs = specs
        self.log = log
        self.about = frozenset(about)
        self.touched: dict[Key, list[RowChange]] = {}
        self._heard: dict[int, str] = {}
        self._places: dict[Key, list[int]] = {}
        for place, event in enumerate(log):
            self._places.setdefault((event.kind, event.name), []).append(place)
        for change in changes:
            self.touched.setdefault((change.table, change.key), []).append(change)

    def before(self, row: Key) -> Values | None:
        """The row's values before the episode."""
        return self.touched[row][0].before

    def after(self, row: Key) -> Values | None:
        """The row's values at the end."""
        return self.touched[row][-1].after

    def field(self, table: str, values: Values, column: str) -> Any:
        """One column of a row's values."""
        return values[self.specs[table].places[column]]

    def places(self, pattern: Pattern) -> Iterator[int]:
        """Where in the log events like this are, in order."""
        named = self._places.get((pattern.kind, pattern.name), ())
        return (place for place in named if _like(self.log[place], pattern, self))

    def first(self, pattern: Pattern) -> int:
        """Where in the log the first event like this is; behind its end if nowhere."""
        for place in self._places.get((pattern.kind, pattern.name), ()):
            if _like(self.log[place], pattern, self):
                return place
        return len(self.log)

    def heard(self, end: int) -> str:
        """All that the customer said before a place in the log, in small letters."""
        if end not in self._heard:
            said = [self.log[place].text for place in self._places.get(("heard", ""), ()) if place < end]
            self._heard[end] = "\n".join(said).lower()
        return self._heard[end]

    @property
    def spoken(self) -> bool:
        """Whether the agent said anything to the customer."""
        return ("said", "") in self._places

    def judgement(self, item: Judged) -> Event | None:
        """A judge's answer to this criterion, as recorded in the log."""
        for place in self._places.get(("judged", item.name), ()):
            if self.log[place].data["criterion"] == item.criterion:
                return self.log[place]
        return None

    def new_rows(self, table: str) -> list[Key]:
        """Rows that did not exist before and do at the end, in order of creation."""
        return [
            row for row in self.touched if row[0] == table and self.before(row) is None and self.after(row) is not None
        ]


def grade(expects: Sequence[Expectation], evidence: Evidence, kinds: Mapping[str, Any] | None = None) -> Verdict:
    """Judge every expectation; `kinds` says which are guards (computed on no evidence when not given)."""
    if kinds is None:
        kinds = kinds_of(expects, evidence.specs)
    choices = [item.ways for item in expects if isinstance(item, Either)]
    best: dict[str, Result] = {}
    for chosen in product(*choices):
        outcome = _evaluate(expects, chosen, evidence)
        if not best or sum(r.passed for r in outcome.values()) > sum(r.passed for r in best.values()):
            best = outcome
        if all(result.passed for result in outcome.values()):
            break
    return Verdict(tuple(Check(name, kinds[name], *result) for name, result in best.items()))


def kinds_of(expects: Sequence[Expectation], specs: Mapping[str, TableSpec]) -> dict[str, Any]:
    """Which checks hold on the untouched database (guards) and which do not (earned)."""
    nothing = Evidence(specs, (), (), ())
    blank = grade(expects, nothing, dict.fromkeys([*(item.name for item in expects), NOTHING_ELSE], "earned"))
    return {check.name: "guard" if check.passed else "earned" for check in blank.checks}


def _evaluate(
    expects: Sequence[Expectation], chosen: Sequence[tuple[Expectation, ...]], evidence: Evidence
) -> dict[str, Result]:
    ways = iter(chosen)
    groups = [(item.name, next(ways) if isinstance(item, Either) else (item,)) for item in expects]
    flat = [item for _, group in groups for item in group]
    claimed: set[Key] = set()
    results = _assign([item for item in flat if isinstance(item, Created)], evidence, claimed)
    for item in flat:
        if not isinstance(item, Created):
            results[item.name] = _judge(item, evidence, claimed)
    out: dict[str, Result] = {}
    for name, group in groups:
        parts = [results[item.name] for item in group]
        if len(parts) == 1 and group[0].name == name:
            out[name] = parts[0]
        else:
            out[name] = Result(
                all(part.passed for part in parts),
                " and ".join(part.expected for part in parts),
                "; ".join(part.found for part in parts),
            )
    out[NOTHING_ELSE] = _nothing_else(evidence, claimed)
    return out


def _judge(item: Expectation, evidence: Evidence, claimed: set[Key]) -> Result:
    match item:
        case Changed():
            return _judge_changed(item, evidence, claimed)
        case Removed(_, table, key):
            claimed.add((table, key))
            gone = (table, key) in evidence.touched and evidence.after((table, key)) is None
            return Result(gone, item.expected, "removed" if gone else "it is still there")
        case Kept(_, table, key):
            claimed.add((table, key))
            changes = evidence.touched.get((table, key), ())
            found = "untouched" if not changes else "; ".join(show_change(change, evidence.specs) for change in changes)
            return Result(not changes, item.expected, found)
        case NeverCreated(_, table, fields):
            rows = [row for row in evidence.touched if row[0] == table and evidence.before(row) is None]
            bad = [row for row in rows if any(_has(evidence, change, fields) for change in evidence.touched[row])]
            claimed.update(bad)
            found = (
                "none" if not bad else "; ".join(show_change(evidence.touched[row][0], evidence.specs) for row in bad)
            )
            return Result(not bad, item.expected, found)
        case Order():
            return _judge_order(item, evidence)
        case AtMost(_, pattern, times):
            seen = sum(1 for _ in evidence.places(pattern))
            return Result(seen <= times, item.expected, f"it happened {seen} times")
        case Named():
            return _judge_named(item, evidence)
        case Happened(_, pattern, times):
            seen = sum(1 for _ in evidence.places(pattern))
            found = f"it did {seen} times" if times > 1 else "it did" if seen else "it did not"
            return Result(seen >= times, item.expected, found)
        case Judged():
            return _judge_by_judge(item, evidence)
        case _:
            raise TypeError(f"cannot judge {item!r}")


def _judge_changed(item: Changed, evidence: Evidence, claimed: set[Key]) -> Result:
    row = (item.table, item.key)
    claimed.add(row)
    expected = item.expected
    if row not in evidence.touched:
        return Result(False, expected, "the row was not changed")
    spec, first, last = evidence.specs[item.table], evidence.before(row), evidence.after(row)
    if first is None or last is None:
        return Result(False, expected, "the row was removed" if last is None else "the row did not exist before")
    wrong: list[str] = []
    for column, old, new in zip(spec.columns, first, last, strict=True):
        if column in item.fields:
            if not accepts(item.fields[column], new):
                wrong.append(f"{column} is {new!r}")
        elif new != old and column not in spec.free and column not in item.free:
            wrong.append(f"{column} became {new!r} (was {old!r})")
    if not wrong and not spec.revisable:
        for change in evidence.touched[row]:
            for column, old, new, now in zip(spec.columns, first, last, change.after or last, strict=True):
                if now not in (old, new) and column not in spec.free and column not in item.free:
                    wrong.append(f"{column} passed through {now!r}")
    return Result(not wrong, expected, "; ".join(wrong) or "as expected")


def _assign(items: list[Created], evidence: Evidence, claimed: set[Key]) -> dict[str, Result]:
    """Bind new rows to `Created` expectations one to one; those that point to another's row come after it."""
    bound: dict[str, Key] = {}
    for linked in (False, True):
        group = [item for item in items if item.linked == linked]
        if not group:
            continue
        resolved = [replace(item, fields=_resolved(item, bound)) for item in group] if linked else group
        _match(
            resolved, [[row for row in evidence.new_rows(i.table) if _fits(i, row, evidence)] for i in resolved], bound
        )
    claimed.update(bound.values())
    results: dict[str, Result] = {}
    for item in items:
        if item.name in bound:
            results[item.name] = Result(True, item.expected, f"{item.table} {bound[item.name][1]}")
        else:
            results[item.name] = Result(False, item.expected, _nearest(item, evidence, claimed))
    return results


def _resolved(item: Created, bound: Mapping[str, Key]) -> dict[str, Any]:
    """The fields, with the ids that other expectations' rows have in place of references."""
    return {
        column: bound.get(matcher.expectation, ("", "no such row"))[1] if isinstance(matcher, RowOf) else matcher
        for column, matcher in item.fields.items()
    }


def _match(items: Sequence[Created], options: Sequence[Sequence[Key]], bound: dict[str, Key]) -> None:
    """Largest matching of items to rows by augmenting paths (Kuhn); linear in what an agent can write."""
    owner: dict[Key, int] = {}

    def place(index: int, seen: set[Key]) -> bool:
        for row in options[index]:
            if row not in seen:
                seen.add(row)
                if row not in owner or place(owner[row], seen):
                    owner[row] = index
                    return True
        return False

    for index in range(len(items)):
        place(index, set())
    bound.update({items[index].name: row for row, index in owner.items()})


def _fits(item: Created, row: Key, evidence: Evidence) -> bool:
    return _fit(item.fields, row[0], evidence.after(row) or (), evidence)


def _nearest(item: Created, evidence: Evidence, claimed: set[Key]) -> str:
    """Attribute the most similar unclaimed new row to a failed expectation, so one fault is reported once."""
    scored: list[tuple[int, Key]] = []
    for row in evidence.new_rows(item.table):
        if row not in claimed:
            values = evidence.after(row) or ()
            hits = sum(accepts(m, evidence.field(row[0], values, c)) for c, m in item.fields.items())
            scored.append((hits, row))
    scored.sort(key=lambda pair: -pair[0])
    if not scored or 2 * scored[0][0] < len(item.fields):
        return "no such row"
    row = scored[0][1]
    claimed.add(row)
    values = evidence.after(row) or ()
    wrong = [
        f"{column} is {evidence.field(row[0], values, column)!r}"
        for column, matcher in item.fields.items()
        if not accepts(matcher, evidence.field(row[0], values, column))
    ]
    return f"{row[0]} {row[1]}, but {', '.join(wrong) or 'it points to another row'}"


def _judge_order(item: Order, evidence: Evidence) -> Result:
    place, pattern = min(((evidence.first(pattern), pattern) for pattern in item.then), key=itemgetter(0))
    if place < evidence.first(item.first):
        return Result(False, item.expected, f"{pattern.words} came first")
    return Result(True, item.expected, "in order")


def _judge_named(item: Named, evidence: Evidence) -> Result:
    end = evidence.first(item.then)
    if end == len(evidence.log):
        return Result(True, item.expected, "it did not come to that")
    heard = evidence.heard(end)
    named = [value for value, spelled in item.spelled if spelled in heard]
    return Result(len(named) >= item.at_least, item.expected, f"named by then: {', '.join(named) or 'none'}")


def _judge_by_judge(item: Judged, evidence: Evidence) -> Result:
    """By a judge's recorded answer; where the agent said nothing, nothing was told, and nobody was asked."""
    answer = evidence.judgement(item)
    if answer is not None:
        true, why = bool(answer.data["true"]), answer.text
        return Result(true == item.holds, item.expected, f"the judge finds it {'true' if true else 'not true'}: {why}")
    if evidence.spoken:
        raise CheckerError(f"there is no judge's answer to «{item.name}»; give the environment a judge")
    return Result(not item.holds, item.expected, "the agent said nothing")


def _like(event: Event, pattern: Pattern, evidence: Evidence) -> bool:
    """Whether an event of the pattern's kind and name is like it in the rest."""
    if not (event.ok or pattern.any_result):
        return False
    if pattern.kind == "row":
        change: RowChange = event.data
        return change.after is not None and _has(evidence, change, pattern.fields)
    if pattern.kind == "call":
        return all(accepts(matcher, event.data.get(name)) for name, matcher in pattern.fields.items())
    if "act" in pattern.fields:
        return pattern.fields["act"] in event.data["acts"]
    return accepts(pattern.fields["text"], event.text)


def _has(evidence: Evidence, change: RowChange, fields: Mapping[str, Any]) -> bool:
    return change.after is not None and _fit(fields, change.table, change.after, evidence)


def _fit(fields: Mapping[str, Any], table: str, values: Values, evidence: Evidence) -> bool:
    """Whether each field accepts what the row has there."""
    places = evidence.specs[table].places
    for column, matcher in fields.items():  # noqa: SIM110 (a generator costs as much as the comparisons)
        if not accepts(matcher, values[places[column]]):
            return False
    return True


def _nothing_else(evidence: Evidence, claimed: set[Key]) -> Result:
    stray: list[str] = []
    for row, changes in evidence.touched.items():
        spec = evidence.specs[row[0]]
        if row in claimed or spec.role == "derived":
            continue
        last = changes[-1].after
        is_new = changes[0].before is None and last is not None
        if is_new and _welcome(spec, row[0], last or (), evidence):
            continue
        stray.extend(show_change(change, evidence.specs) for change in changes)
    return Result(not stray, "nothing else changes", "; ".join(stray[:6]) or "nothing else changed")


def _welcome(spec: TableSpec, table: str, values: Values, evidence: Evidence) -> bool:
    """Whether a new narrative row is about the task's own customer and of a kind that is free to write."""
    if spec.about is None or evidence.field(table, values, spec.about) not in evidence.about:
        return False
    return all(evidence.field(table, values, column) in free for column, free in spec.only.items())


def show_change(change: RowChange, specs: Mapping[str, TableSpec]) -> str:
    """One row change in a line."""
    columns = specs[change.table].columns
    if change.before is None or change.after is None:
        values = change.after or change.before or ()
        shown = ", ".join(f"{c}={v!r}" for c, v in zip(columns, values, strict=True) if v is not None and c != "id")
        return f"{change.table} {change.key} {'created' if change.before is None else 'removed'}: {shown}"
    moved = [
        f"{c} {old!r} → {new!r}" for c, old, new in zip(columns, change.before, change.after, strict=True) if old != new
    ]
    return f"{change.table} {change.key}: {', '.join(moved) or 'rewritten unchanged'}"
