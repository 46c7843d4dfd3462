"""What companies share, on a lending library of three tables: each part does what its first lines say, and no more."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_house import HOUSE, KINDS, Base, Fine, reader_of, rows_of, task_of

from tb_envs.authoring import (
    Db,
    ToolError,
    ToolFault,
    World,
    ask,
    at_most,
    call,
    calls,
    mistake,
    order,
    say,
    show_money,
)
from tb_envs.authoring.audit import Case
from tb_envs.authoring.steps import Call, Step
from tb_envs.certify.runs import Run, run_steps, state_after, state_before
from tb_envs.episode import drive
from tb_envs.parts import compare, guide, identity, scripts
from tb_envs.parts.people import Names
from tb_envs.parts.reading import Reading, bare, plain
from tb_envs.parts.views import PAGE_ROWS
from tb_envs.session.local import LocalBackend
from tb_envs.session.log import Event
from tb_envs.store.articles import Articles
from tb_envs.task import Task

TASK = task_of()
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@pytest.fixture
def backend() -> Iterator[LocalBackend]:
    made = LocalBackend(TASK)
    yield made
    made.close()


def ask_for(backend: LocalBackend, tool: str, **arguments: Any) -> Any:
    result = drive(backend.call(tool, arguments))
    return result.data if result.ok else result.data["error"]["message"]


# -- columns and views


def test_columns_hold_only_what_they_are_for(backend: LocalBackend) -> None:
    reader = reader_of(backend.task)
    for kind, cents, name in (("worn", 5, "kind_is_known"), ("late", -1, "left_cents_not_negative")):
        with pytest.raises(ToolError, match=name):
            backend.db.insert(Fine, reader_id=reader, kind=kind, left_cents=cents)
    assert [backend.db.insert(Fine, reader_id=reader, kind=kind, left_cents=0).kind for kind in KINDS] == [*KINDS]


def test_pages_hold_every_row_that_was_asked_for_once(backend: LocalBackend) -> None:
    mine, (theirs, none, *_) = reader_of(backend.task), HOUSE.seed_rows["readers"]
    for reader in (None, mine, theirs, none):
        for kind in (None, *KINDS):
            for floor in (None, 0, 750, 99_99):
                wanted = {"reader_id": reader, "kind": kind}
                rows = rows_of(backend.task, **{name: value for name, value in wanted.items() if value})
                rows = [row for row in rows if floor is None or row["left_cents"] >= floor]
                rows.sort(key=lambda row: (-row["left_cents"], row["id"]))
                pages = max(1, -(-len(rows) // PAGE_ROWS))
                money = None if floor is None else show_money(floor)
                for page in range(1, pages + 2):
                    found = ask_for(backend, "list_fines", **wanted, at_least=money, page=page)
                    held = rows[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
                    assert [row["fine_id"] for row in found.pop("items")] == [row["id"] for row in held]
                    assert found == {"page": page, "pages": pages, "total": len(rows)}
    assert "There is no reader 'RD-1'" in ask_for(backend, "list_fines", reader_id="RD-1")
    assert "There is no reader 'RD-1'" in ask_for(backend, "list_fines", reader_id="RD-1", kind="late", page=3)
    assert ask_for(backend, "list_fines", kind="worn")["total"] == 0, "only an owner must exist"


def test_rows_are_shown_with_their_names_and_in_dollars(backend: LocalBackend) -> None:
    mine = reader_of(backend.task)
    dear = max(rows_of(backend.task, reader_id=mine), key=lambda row: row["left_cents"])
    first = ask_for(backend, "list_fines", reader_id=mine)["items"][0]
    assert first == {"fine_id": dear["id"], "reader_id": mine, "kind": dear["kind"], "left": "8.50"}
    whole = ask_for(backend, "all_fines", reader_id=mine)
    assert whole["total"] == len(whole["items"]) == 12 and set(whole["items"][0]) == {"fine_id", "reader_id"}


# -- compare

names = st.text("abzÄäÖöÜüÉéŁłÇçñ '-", min_size=1, max_size=12).filter(str.strip)


@given(names, st.text(" \t\u0301", max_size=3))
@QUICK
def test_names_are_the_same_whatever_their_capitals_accents_and_blanks(name: str, noise: str) -> None:
    for other in (name.upper(), name.lower(), noise.join(name), compare.fold(name)):
        assert compare.fold(other) == compare.fold(name) and compare.letters_apart(name, other) == 0
    kept = name.title()
    (lowered,) = sqlite3.connect(":memory:").execute("SELECT lower(?)", (kept.strip(),)).fetchone()
    for said in (name, name.upper(), f" {name.lower()} "):
        assert {lowered, kept.strip().lower()} <= set(compare.spellings(said)), "what a database makes of the kept name"


@given(names, names, names, st.sampled_from("xyz"), st.integers(0, 12))
@QUICK
def test_letters_apart_is_a_distance(one: str, two: str, three: str, letter: str, place: int) -> None:
    apart = compare.letters_apart
    lengths = [len(compare.fold(name)) for name in (one, two)]
    assert apart(one, two) == apart(two, one) <= max(lengths) and apart(one, two) >= abs(lengths[0] - lengths[1])
    assert apart(one, three) <= apart(one, two) + apart(two, three)
    assert (apart(one, two) == 0) == (compare.fold(one) == compare.fold(two))
    assert apart(one, one[:place] + letter + one[place:]) == 1
    assert [apart("Ida Öster", name) for name in ("idaoster", "Ida Osters", "Adi Øster")] == [0, 1, 3]


@given(st.from_regex(r"\+?[0-9]{2}([ ./()-]?[0-9]){4,9}", fullmatch=True))
@QUICK
def test_phone_numbers_are_their_digits(phone: str) -> None:
    assert compare.digits(phone) == "".join(c for c in phone if c.isdigit()) == compare.digits(f"tel. {phone}")


# -- guide


def test_the_guide_is_searched_and_opened(tmp_path: Path) -> None:
    body = "Fines\n are counted. " * 5
    for n in range(1, 8):
        head = f"id: P-{n}\ntitle: Fines {n}\nstatus: {'superseded' if n == 1 else 'current'}\n"
        head += f"superseded_by: {'P-2' if n == 1 else ''}\nupdated: 2030-0{n}-01\n"
        (tmp_path / f"{n}.md").write_text(f"---\n{head}---\n{body * n}\n")
    db = cast(Db, SimpleNamespace(articles=Articles.read(tmp_path)))
    found = guide.found(db, "what are fines", "page")
    assert found["total"] == len(found["items"]) == 5
    assert all(set(item) == {"page_id", "title", "snippet", "updated"} for item in found["items"])
    for item in found["items"]:
        shown, page = item["snippet"], guide.opened(db, item["page_id"], search_tool="", thing="page")
        whole = " ".join(page["body"].split())
        cut = shown.removesuffix(" …")
        assert shown == whole or (whole.startswith(f"{cut} ") and 150 <= len(cut) <= 160)
    assert [item["snippet"][-1] for item in guide.found(db, "1 or 2")["items"][:2]] == [".", "…"]
    assert guide.found(db, "zebra") == {"items": [], "total": 0} == guide.found(db, "' OR *")
    old, new = (guide.opened(db, key, search_tool="find_page") for key in ("P-1", "P-2"))
    assert (old["article_id"], old["status"], old["superseded_by"]) == ("P-1", "superseded", "P-2")
    assert new["superseded_by"] is None and new["updated"] == "2030-02-01"
    with pytest.raises(ToolError, match="There is no page 'P-9'; find one with find_page"):
        guide.opened(db, "P-9", search_tool="find_page", thing="page")


# -- scripts

steps = st.lists(
    st.one_of(
        st.builds(say, st.sampled_from("uvw")),
        st.builds(ask, st.sampled_from("xy")),
        st.builds(lambda tool, n: call(tool, n=n, earns=f"{tool}{n}"), st.sampled_from("abcd"), st.integers(0, 3)),
    ),
    max_size=9,
)
tools = st.lists(st.sampled_from("abcd"), max_size=3, unique=True)


def is_in_order(some: Sequence[Step], all_of_them: Sequence[Step]) -> bool:
    rest = iter(all_of_them)
    return all(any(step is other for other in rest) for step in some)


@given(steps, tools, tools)
@QUICK
def test_scripts_are_changed_where_they_are_told_and_nowhere_else(
    script: list[Step], some: list[str], more: list[str]
) -> None:
    of_some = [step for step in script if isinstance(step, Call) and step.tool in some]
    left = scripts.without(script, *some)
    assert is_in_order(left, script) and len(left) + len(of_some) == len(script)
    assert scripts.first_call(script, *some) is (of_some[0] if of_some else None)
    assert scripts.first_call(left, *some) is None

    new = (say("new"), say("newer"))
    longer = scripts.before(script, some, *new)
    place = longer.index(new[0])
    assert tuple(longer[place : place + 2]) == new and longer[:place] + longer[place + 2 :] == script
    assert not any(scripts.is_call(step, *some) for step in longer[:place])
    assert longer[place + 2 :] == [] or scripts.is_call(longer[place + 2], *some)

    moved = scripts.postponed(script, some, more)
    assert is_in_order(left, moved) and is_in_order(of_some, moved) and len(moved) == len(script)
    until = next((at for at, step in enumerate(left) if scripts.is_call(step, *more)), len(left))
    assert moved == [*left[:until], *of_some, *left[until:]]

    for tool in some:
        other = scripts.with_arguments(script, tool, n=None, m=7)
        assert other == [call(tool, m=7) if scripts.is_call(step, tool) else step for step in script]
    found = scripts.forgotten(script, *some)
    assert {name for item in found.values() for name in item.fails} == {name for call in of_some for name in call.earns}
    assert all(is_in_order(item.does, script) and len(item.does) == len(script) - 1 for item in found.values())
    assert {item.kind for item in found.values()} <= {"omission"}
    ends = [at for at, step in enumerate(script, 1) if isinstance(step, Call)][-1:] or [len(script)]
    assert scripts.after_last_call(script, *new) == [*script[: ends[0]], *new, *script[ends[0] :]]


def test_parts_are_joined_and_only_possible_mistakes_are_kept() -> None:
    one, two = at_most("one", calls("a"), 0), order("two", calls("a"), calls("b"))
    part = scripts.Part((call("a"),), (one,)) + scripts.Part() + scripts.Part((call("b"),), (two,))
    assert part == scripts.Part((call("a"), call("b")), (one, two))
    wrongs = {
        "kept": mistake([call("a")], "two"),
        "also kept": mistake([call("b")], "nothing_else"),
        "the same": mistake(part.steps, "one"),
        "fails another": mistake([call("b")], ["one", "three"]),
        "fails all": mistake([], ["one", "two", "nothing_else"]),
    }
    assert [*scripts.possible(wrongs.items(), part.steps, part.expects)] == ["kept", "also kept", "fails all"]


# -- identity

CHECKED = {"checks too few facts", "takes the facts from the profile", "keeps guessing until a check passes"}


@pytest.mark.parametrize("ordered", [True, False])
def test_each_expectation_of_who_calls_fails_alone(ordered: bool) -> None:
    task = task_of(ordered=ordered)
    titles = CHECKED | {"waives more", "forgets the fine"} | ({"verifies afterwards"} if ordered else set())
    assert set(task.scenario.mistakes) == titles
    assert run_steps(task, task.scenario.solution).passed
    for title, item in task.scenario.mistakes.items():
        assert run_steps(task, item.does).failed == item.fails, title
    fewer = scripts.first_call(task.scenario.mistakes["checks too few facts"].does, "check_reader")
    assert fewer and {**fewer.arguments} == {"reader_id": reader_of(task), "email": "ida@oster.example"}
    alone = Counter(name for title in CHECKED for name in task.scenario.mistakes[title].fails)
    assert alone == Counter(identity.NAMES)


def test_more_facts_than_needed_are_enough_up_to_the_most_there_can_be() -> None:
    for most, failed in ((2, set()), (1, {"verified"})):
        task = task_of(needed=1, most_facts=most)
        assert run_steps(task, task.scenario.solution).failed == failed


# -- reading


class Read(Reading):
    base = Base
    reads = ("list_", "all_")
    free_words = ("words",)


def case_of(task: Task, run: Run) -> Case:
    before = state_before(task)
    return Case(before, state_after(before, run), run.changes, run.log, datetime(2031, 1, 6, 8))


deeds = st.one_of(
    st.tuples(st.just("set_fine"), st.integers(0, 15), st.sampled_from(["0.00", "1.00", "7.00"])),
    st.tuples(st.just("forgive"), st.integers(0, 3), st.integers(0, 15)),
    st.tuples(st.just("add_fine"), st.integers(0, 4), st.just("2.00")),
    st.tuples(st.just("all_fines"), st.integers(0, 3), st.none()),
)


@given(st.lists(deeds, max_size=10))
@QUICK
def test_the_records_before_a_call_are_what_the_database_held(done: list[tuple[Any, ...]]) -> None:
    backend = LocalBackend(TASK)
    fines = [*state_before(TASK)["fines"], "FN-90001", "FN-90002"]
    readers = [*state_before(TASK)["readers"], "RD-1"]
    dumps = []
    for tool, which, how in done:
        dumps.append(backend.dump())
        arguments: dict[str, Any] = {"reader_id": readers[which % len(readers)]}
        if tool == "set_fine":
            arguments = {"fine_id": fines[which], "amount": how}
        elif tool == "add_fine":
            arguments |= {"amount": how}
        elif tool == "forgive":
            arguments |= {"but": fines[how]}
        drive(backend.call(tool, arguments))
    dumps.append(backend.dump())
    changes = backend.take_changes()
    backend.close()

    columns = {name: spec.columns for name, spec in HOUSE.specs.items()}
    states = [
        {
            name: {key: dict(zip(columns[name], row, strict=True)) for key, row in rows.items()}
            for name, rows in dump.items()
        }
        for dump in dumps
    ]
    reading = Read(Case(states[0], states[-1], changes, [], datetime(2031, 1, 6, 8)))
    for number, state in enumerate(states, 1):
        assert reading.before(number).tables == state
    assert reading.start.tables == states[0] and reading.end.tables == states[-1]

    seen = {(change.call, change.table, change.key) for change in reading.changes}
    assert len(seen) == len(reading.changes), "one change for each call and row"
    for change in reading.changes:
        assert change.before == reading.before(change.call).row(change.table, change.key)
        assert change.after == reading.before(change.call + 1).row(change.table, change.key) != change.before
        assert change.columns == {name for name in change.before if change.after.get(name) != change.before[name]}
    for call_number, (old, new) in enumerate(pairwise(states), 1):
        for table in old:
            for key in {*old[table], *new[table]}:
                assert (old[table].get(key) != new[table].get(key)) == ((call_number, table, key) in seen)
    assert [*reading.new("fines"), *reading.changed("fines")] == sorted(reading.changes, key=lambda c: bool(c.before))
    late = reading.end.where("fines", kind="late")
    assert late == [row for key, row in sorted(states[-1]["fines"].items()) if row["kind"] == "late"]


def test_the_log_is_read_up_to_a_call() -> None:
    task = task_of()
    reading = Read(case_of(task, run_steps(task, task.scenario.solution)))
    (checked,), (fine,) = reading.calls("check_reader"), reading.calls("set_fine")
    assert reading.now == datetime(2031, 1, 6, 8, tzinfo=UTC)
    assert [reading.case.log[at] for at in reading.places.values()] == [
        checked,
        fine,
        *reading.calls("end_conversation"),
    ]
    heard, said = ([event.text for event in reading.case.log if event.kind == kind] for kind in ("heard", "said"))
    assert reading.heard == reading.heard_before(99) == "\n".join(heard) and "ida@oster.example" in heard[1]
    assert reading.heard_before(checked.call) == reading.heard_before(fine.call) == "\n".join(heard[:2])
    assert reading.said_before(checked.call) == reading.said_before(fine.call) == said[0]
    assert reading.said_before(99) == "\n".join(said)
    assert reading.arguments(fine.call)["amount"] == 350 and reading.arguments(99) == {}
    assert reading.labelled("gave:email", "never") and not reading.labelled("never")
    assert all(reading.case.log[at].kind == "heard" for at, _ in reading.labels)
    silent = Read(Case({}, {}, [], [Event("heard", "", "Hello.", {}, True, 0)], datetime(2031, 1, 6, 8)))
    assert silent.labels == () and silent.heard == "Hello."


def test_words_are_compared_plain_or_bare() -> None:
    assert plain("  Don’t\n wait,  ÉLOÏSE_Straße ") == "don't wait, eloise_strasse"
    assert bare("Ida-Öster_ +44 (7700)") == "idaoster447700"


FAULTS: dict[str, tuple[list[bool], tuple[int, int, bool]]] = {
    "none": ([], (0, 0, False)),
    "failed once": ([False], (1, 0, False)),
    "failed twice": ([False, False], (2, 0, True)),
    "done all the same": ([True], (0, 1, False)),
    "not done, then done": ([False, True], (1, 1, False)),
}


@pytest.mark.parametrize(("faults", "right"), FAULTS.values(), ids=FAULTS)
def test_failures_are_told_from_hidden_successes(faults: list[bool], right: tuple[int, int, bool]) -> None:
    of_writes = [ToolFault("set_fine", applied, nth) for nth, applied in enumerate(faults, 1)]
    task = task_of(faults=[*of_writes, ToolFault("all_fines", applied=False)])
    fine = scripts.first_call(task.scenario.solution, "set_fine")
    assert fine is not None
    twice = [call("set_fine", **{**fine.arguments, "words": f"slip {n}"}) for n in (1, 2)]
    reading = Read(case_of(task, run_steps(task, [call("all_fines", reader_id=reader_of(task)), *twice])))
    found = len(reading.failures), len(reading.hidden_successes), "set_fine" in reading.given_up
    assert found == right
    first, second = (event for event in reading.case.log if event.kind == "call" and event.name == "set_fine")
    assert all(event is first or event is second for event in (*reading.failures, *reading.hidden_successes))
    assert reading.same_call(first) == reading.same_call(second), "the words on the slip do not count"
    if right[2]:
        assert reading.given_up == {"set_fine": second.call}


def test_people_who_are_others_and_people_who_are_easily_confused() -> None:
    names = Names(("Ada", "Adam", "Bo"), ("Wren", "Finch"), {"Ada": "Adah"})
    world = World({}, stream=("people", 0), now="2031-01-01T00:00:00Z")
    assert names.like(world, "Ada") == "Adah" and names.like(world, "Adah") == "Ada"
    assert names.like(world, "Adam") in ("Ada", "Robyn")
    assert {names.other(world, "Ada", "Wren") for _ in range(20)} == {"Adam Finch", "Bo Finch"}
