"""Which tasks are trained on: how they are drawn, what is believed of them, probing, selecting, and the guard."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trainer_parts import CHATTER, IDLE, TASKS, config, reference, tokenizer, written

from tb_envs.authoring.rng import stable_seed
from tb_envs.cli import main as tbx
from tb_envs.errors import UsageError
from tb_envs.registration import load_domain
from tb_envs.task import Task, get_task
from tb_trainer.config import check
from tb_trainer.engines import Key
from tb_trainer.episodes import make_runner
from tb_trainer.groups import Batch, Group
from tb_trainer.runner import Job, Rollout
from tb_trainer.tasks import guard, probe, select
from tb_trainer.tasks.pool import pool_text, read_counts, read_pool
from tb_trainer.tasks.posterior import Beta, jeffreys
from tb_trainer.tasks.records import open_probe, read
from tb_trainer.tasks.similar import features, jaccard, pairs
from tb_trainer.tasks.source import Posterior, Shuffled, Source, make_source

LABELS = st.sampled_from([(), ("a",), ("b",), ("b", "x"), ("b", "y"), ("c", "x", "1"), ("c", "x", "2")])
MAKERS: list[Callable[..., Source]] = [Shuffled, Posterior]


@st.composite
def pools(draw: Any) -> tuple[dict[str, tuple[str, ...]], int, int]:
    """Tasks with labels of one depth, groups, a seed."""
    depth = draw(st.integers(0, 2))
    count = draw(st.integers(1, 30))
    label = st.tuples(*[st.sampled_from("abc")] * depth)
    labels = {f"d/f/{number}": draw(label) for number in range(count)}
    return labels, draw(st.integers(1, count)), draw(st.integers(0, 9))


def played(rewards: dict[str, Sequence[float]], update: int = 1) -> Batch:
    """An update's groups with these rewards."""
    groups = [
        Group(task, [Rollout(Job(Key(0, update, group, slot), task), reward=r) for slot, r in enumerate(values)])
        for group, (task, values) in enumerate(rewards.items())
    ]
    return Batch(groups)


def first_rows(source: Source, updates: int) -> list[list[str]]:
    return [[source.draw(update, group, 0) for group in range(source.groups)] for update in range(1, updates + 1)]


# -- draws


@given(pools(), st.integers(1, 12))
def test_shuffled_deals_each_task_once_before_any_comes_again(pool: Any, updates: int) -> None:
    labels, groups, seed = pool
    source = Shuffled(list(labels), groups, seed=seed, labels=labels)
    dealt: Counter[str] = Counter()
    for row in first_rows(source, updates):
        assert len(set(row)) == groups, "a task twice in one update"
        for task in row:
            dealt[task] += 1
            same = [dealt[other] for other in labels if labels[other] == labels[task]]
            assert max(same) - min(same) <= 1


def test_shuffled_order_hangs_on_seed_and_epoch_only() -> None:
    tasks = [f"d/f/{number}" for number in range(12)]
    whole = [task for row in first_rows(Shuffled(tasks, 4, seed=5), 6) for task in row]
    single = [task for row in first_rows(Shuffled(tasks[::-1], 3, seed=5), 8) for task in row]
    assert whole == single
    epochs = [tuple(whole[start : start + 12]) for start in (0, 12)]
    assert all(sorted(epoch) == sorted(tasks) for epoch in epochs)
    assert len({*epochs, tuple(first_rows(Shuffled(tasks, 12, seed=6), 1)[0])}) == 3


@pytest.mark.parametrize("make", MAKERS)
@given(pool=pools(), drops=st.lists(st.integers(0, 29), max_size=40), update=st.integers(1, 4), data=st.data())
def test_replaced_groups_repeat_no_task_and_order_does_not_matter(
    make: Callable[..., Source], pool: Any, drops: list[int], update: int, data: Any
) -> None:
    labels, groups, seed = pool
    source = make(list(labels), groups, seed=seed, labels=labels)
    redraws = dict.fromkeys(range(groups), 0)
    now = {group: source.draw(update, group, 0) for group in redraws}
    ever = dict.fromkeys(now.values())
    for drop in drops:
        group = drop % groups
        redraws[group] += 1
        now[group] = source.draw(update, group, redraws[group])
        assert len(set(now.values())) == groups, "a task twice in one update"
        if redraws[group] < len(labels) // groups:
            assert now[group] not in ever, "a task again before the group's share of the pool was used up"
        ever[now[group]] = None
    asked = [(group, redraw) for group, most in redraws.items() for redraw in range(most + 1)]
    again = make(sorted(labels, reverse=True), groups, seed=seed, labels=labels)
    others = [again.draw(update, *key) for key in data.draw(st.permutations(asked))]
    assert Counter(others) == Counter(source.draw(update, *key) for key in asked)
    assert all(again.draw(update, *key) == source.draw(update, *key) for key in asked)


@pytest.mark.parametrize("make", MAKERS)
def test_balance_gives_equal_shares_to_domains_then_families(make: Callable[..., Source]) -> None:
    sizes = {("a", "x"): 30, ("a", "y"): 6, ("b", "z"): 3}
    labels = {f"{d}/{f}/{n}": (d, f) for (d, f), size in sizes.items() for n in range(size)}
    source = make(list(labels), 4, seed=1, labels=labels)
    drawn = [labels[task] for row in first_rows(source, 10) for task in row]
    assert Counter(drawn) == {("a", "x"): 10, ("a", "y"): 10, ("b", "z"): 20}
    assert all({domain for domain, _ in pair} == {"a", "b"} for pair in zip(drawn[::2], drawn[1::2], strict=True))


@pytest.mark.parametrize("make", MAKERS)
@given(pool=pools(), rewards=st.lists(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=4), max_size=4))
def test_a_restored_source_goes_on_as_the_killed_one_would_have(
    make: Callable[..., Source], pool: Any, rewards: list[list[float]]
) -> None:
    labels, groups, seed = pool
    source = make(list(labels), groups, seed=seed, labels=labels)
    for update, values in enumerate(rewards, 1):
        source.seen(update, played({source.draw(update, group, 0): values for group in range(groups)}))
    fresh = make(list(labels), groups, seed=seed, labels=labels)
    fresh.restore(json.loads(json.dumps(source.state())))
    asked = [(len(rewards) + 1, group, redraw) for group in range(groups) for redraw in range(3)]
    assert [fresh.draw(*key) for key in asked] == [source.draw(*key) for key in asked]
    assert fresh.state() == source.state()
    with pytest.raises(ValueError, match="told already"):
        fresh.seen(len(rewards), Batch())
    for other in (make(list(labels), groups, seed=seed + 1), make([*labels, "d/f/x"], groups, seed=seed)):
        with pytest.raises(UsageError, match="saved with another"):
            other.restore(source.state())


def test_posterior_draws_in_proportion_to_expected_variance_above_a_floor() -> None:
    start = {"d/f/never": (0, 40), "d/f/always": (40, 0), "d/f/half": (20, 20), "d/f/new": (0, 0)}
    weights = {task: jeffreys(*counts).expected_variance for task, counts in start.items()}
    total = sum(weights.values())
    for floor in (0.0, 0.4):
        source = Posterior(list(start), 1, seed=2, floor=floor, start=start)
        drawn = Counter(source.draw(update, 0, 0) for update in range(1, 4001))
        for task, weight in weights.items():
            expected = (1 - floor) * weight / total + floor / len(start)
            assert abs(drawn[task] / 4000 - expected) < 4 * math.sqrt(expected / 4000)


def test_the_configured_source() -> None:
    task_ids = load_domain("hotel").suite_ids["train"]
    base = {"environment": {"domains": ["hotel"]}, "evaluation": {"every": 0}}
    dealt = make_source(check({**base, "curriculum": {"kind": "shuffled", "balance": "family"}}), task_ids)
    drawn = first_rows(dealt, 1)[0]
    assert isinstance(dealt, Shuffled)
    assert max(Counter(task.split("/")[1] for task in drawn).values()) <= 2, "18 draws from 16 families"
    assert isinstance(make_source(check(base), task_ids), Posterior)
    with pytest.raises(UsageError, match="needs as many tasks"):
        make_source(check(base), task_ids[:17])


# -- beliefs


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=8), max_size=6), st.sampled_from([1.0, 0.9, 0.5]))
def test_beliefs_are_jeffreys_posterior_of_faded_counts(history: list[list[bool]], decay: float) -> None:
    source = Posterior(["d/f/0", "d/f/1"], 1, decay=decay)
    for update, outcomes in enumerate(history, 1):
        source.seen(update, played({"d/f/0": [float(one) for one in outcomes]}))
    ages = [decay ** (len(history) - update) for update in range(1, len(history) + 1)]
    solved = sum(age * sum(outcomes) for age, outcomes in zip(ages, history, strict=True))
    tried = sum(age * len(outcomes) for age, outcomes in zip(ages, history, strict=True))
    belief = source.belief("d/f/0")
    assert (belief.a, belief.b) == (pytest.approx(0.5 + solved), pytest.approx(0.5 + tried - solved))
    assert source.belief("d/f/1") == Beta(0.5, 0.5)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.data())
def test_the_order_of_rollouts_does_not_matter(rewards: list[float], data: Any) -> None:
    states: list[Any] = []
    for values in (rewards, data.draw(st.permutations(rewards))):
        source = Posterior(["d/f/0", "d/f/1", "d/f/2"], 2)
        batch = played({"d/f/0": values, "d/f/1": [1.0, 0.0]})
        batch.uniform = played({"d/f/2": [0.0, 0.0]}).groups
        if values is not rewards:
            batch.groups.reverse()
        source.seen(1, batch)
        states.append(source.state())
    assert states[0] == states[1]
    assert states[0]["counts"]["d/f/2"] == [0.0, 2.0], "a replaced group was played all the same"


@given(st.floats(0.2, 40), st.floats(0.2, 40), st.floats(0.01, 0.99))
@example(a=32.81268160238933, b=38.49560478219656, share=0.5)
def test_the_beta_distribution(a: float, b: float, share: float) -> None:
    belief = Beta(a, b)
    second = belief.mean * (a + 1) / (a + b + 1)
    assert belief.expected_variance == pytest.approx(belief.mean - second)
    assert belief.below(belief.quantile(share)) == pytest.approx(share, abs=1e-9)
    assert belief.below(0.3) == pytest.approx(1 - Beta(b, a).below(0.7), abs=1e-12)
    border = math.nextafter((a + 1) / (a + b + 2), 2)  # where the side is chosen
    assert belief.below(border) == pytest.approx(1 - Beta(b, a).below(1 - border), abs=1e-12)
    assert Beta(a, 1).quantile(share) == pytest.approx(share ** (1 / a), rel=1e-9)
    assert Beta(0.5, 0.5).quantile(share) == pytest.approx(math.sin(math.pi * share / 2) ** 2, rel=1e-9)
    # Whole numbers: P(p <= x) = P(Binomial(m + n - 1, x) >= m) (DLMF 8.17.5).
    m, n = math.ceil(a), math.ceil(b)
    tail = sum(math.comb(m + n - 1, j) * share**j * (1 - share) ** (m + n - 1 - j) for j in range(m, m + n))
    assert Beta(m, n).below(share) == pytest.approx(tail, abs=1e-10)


# -- probing


ATTEMPTS = 4
PROBED = TASKS[:3]
GROUPS = {stable_seed(task_id): task_id for task_id in PROBED}


def some_turns(key: Key) -> Sequence[str]:
    """The first task is solved always, the second in the first two attempts, the third never."""
    place = PROBED.index(GROUPS[key.group])
    if place == 0 or (place == 1 and key.slot < 2):
        return reference(GROUPS[key.group])
    return IDLE if key.slot % 2 else CHATTER


def probed(path: Path, attempts: int = ATTEMPTS, **environment: Any) -> Any:
    run = config(environment=environment)
    runner = make_runner(run, written(some_turns), tokenizer())
    runner.renderer.prompt = "full"
    try:
        with open_probe(path, {"seed": run.seed}) as file:
            return probe.play(file, runner, run, PROBED, attempts)
    finally:
        runner.close()


def test_a_probe_killed_at_any_moment_goes_on(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    assert not probed(whole)
    content = whole.read_bytes()
    rows = sorted(read(whole)[1], key=lambda row: (row["task"], row["attempt"]))
    assert [(row["task"], row["attempt"]) for row in rows] == [(t, n) for t in PROBED for n in range(ATTEMPTS)]
    assert [row["reward"] for row in rows] == [1] * 4 + [1, 1, 0, 0] + [0] * 4
    assert all(row["hash"] == get_task(row["task"]).hash and row["tokens"] and row["turns"] for row in rows)
    assert rows[-1]["failed_checks"] == ["fee", "ticket"]
    assert rows[-1]["versions"]["domain"] == load_domain("library").digest
    path = tmp_path / "killed.jsonl"
    lines = [0, *(match.end() for match in re.finditer(b"\n", content))]
    for end in sorted({cut for line in lines[::4] for cut in (line - 1, line, line + 1, line + 40) if cut >= 0}):
        path.write_bytes(content[:end])
        probed(path)
        assert sorted(read(path)[1], key=lambda row: (row["task"], row["attempt"])) == rows
    assert not probed(path, attempts=5)
    assert len(read(path)[1]) == 15, "more attempts are added to those that are there"


def test_a_probe_counts_no_system_errors_and_plays_them_again(tmp_path: Path) -> None:
    path = tmp_path / "probe.jsonl"
    unplayed = probed(path, faults={"timeout": 0.6}, retries=0)
    assert unplayed["backend"] == len(PROBED) * ATTEMPTS - len(read(path)[1]) > 0
    assert not probed(path, faults={"timeout": 0.1}, retries=30)
    rewards = Counter((row["task"], row["reward"]) for row in read(path)[1])
    assert rewards == {(TASKS[0], 1): 4, (TASKS[1], 1): 2, (TASKS[1], 0): 2, (TASKS[2], 0): 4}


def test_a_probe_refuses_other_settings_and_other_files(tmp_path: Path) -> None:
    path = tmp_path / "probe.jsonl"
    probed(path)
    kept = path.read_bytes()
    with pytest.raises(UsageError, match="seed was 42, now 1"), open_probe(path, {"seed": 1}):
        pass
    with (
        open_probe(path, {"seed": 42}),
        pytest.raises(UsageError, match="another probe"),
        open_probe(path, {"seed": 42}),
    ):
        pass
    assert path.read_bytes() == kept
    changed = kept.replace(get_task(TASKS[1]).hash.encode(), b"0" * 64)
    for content, complaint in (
        (kept + kept.splitlines(keepends=True)[1].replace(b'"settings": "', b'"settings": "x'), "other settings"),
        (kept + b"{}\n", "no row"),
        (changed, "has changed since"),
        (b"my notes", "no probe file"),
        (b'{"a": 1}\n', "no probe file"),
    ):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=complaint):
            probed(path)
        assert path.read_bytes() == content, "a file that is refused is left as it is"


def test_probe_and_select_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, pool = tmp_path / "probe.jsonl", tmp_path / "pool.json"
    words = ["probe", "--set", "environment.domains=[library]", "--set", f"environment.tasks={json.dumps(TASKS[:4])}"]
    words += ["--set", "model.vocabulary=512", "--set", "model.hidden=32", "--out", str(out), "--json"]
    assert tbx([*words, "--attempts", "1"]) == 0
    assert tbx([*words, "--attempts", "2"]) == 0
    report = json.loads(capsys.readouterr().out.rpartition("\n{\n")[2].join(["{\n", ""]))
    assert (report["tasks"], report["attempts"], report["unplayed"]) == (4, 8, {})
    kept = out.read_bytes()
    assert tbx([*words, "--set", "sampling.temperature=0.5"]) == 2
    assert "sampling was" in capsys.readouterr().err
    assert out.read_bytes() == kept
    assert tbx(["select", str(out), "--out", str(pool), "--attempts", "2"]) == 1, "it has learned nothing yet"
    assert json.loads(pool.read_text())["excluded"][0]["reason"] == "never solved"


# -- selecting


def rows_for(task_id: str, solved: int, runs: int, **changes: Any) -> list[dict[str, Any]]:
    task = get_task(task_id)
    return [
        {
            "task": task_id,
            "attempt": attempt,
            "outcome": "success" if attempt < solved else "failure",
            "reward": float(attempt < solved),
            "hash": task.hash,
            "settings": "s",
            "versions": {"domain": task.domain.digest},
            **changes,
        }
        for attempt in range(runs)
    ]


def test_select_keeps_what_can_teach_and_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    train = load_domain("hotel").suite_ids["train"]
    broken = train[7]
    honest = select.reference_passes
    monkeypatch.setattr(select, "reference_passes", lambda t: (False, "refund") if t == broken else honest(t))
    cases = {
        train[0]: (rows_for(train[0], 3, 8), "", "rich"),
        train[1]: (rows_for(train[1], 1, 12), "other band", "fair"),
        train[2]: (rows_for(train[2], 8, 8), "always solved", "poor"),
        train[3]: (rows_for(train[3], 0, 8), "never solved", "poor"),
        train[4]: (rows_for(train[4], 2, 3), "too few attempts", "rich"),
        train[5]: (rows_for(train[5], 3, 8, hash="old"), "changed", "fair"),
        train[6]: (rows_for(train[6], 3, 8, versions={"domain": "old"}), "changed", "fair"),
        broken: (rows_for(broken, 3, 8), "reference fails", "rich"),
        "hotel/date_change/10": (rows_for("hotel/date_change/10", 3, 8), "overlap", "rich"),
        "hotel/relocation/900": (rows_for("hotel/relocation/900", 3, 8), "overlap", "rich"),
        "hotel/no_more/1": ([{**rows_for(train[0], 3, 8)[0], "task": "hotel/no_more/1"}], "no such task", "fair"),
        "library/halve_fee/1": (rows_for("library/halve_fee/1", 3, 8), "overlap", "rich"),
    }
    rows = {task_id: case[0] for task_id, case in cases.items()}
    pool = select.make_pool(rows, bands=["rich"], holdout="library")
    found = {entry["id"]: (entry.get("reason", ""), entry["band"]) for entry in (*pool["tasks"], *pool["excluded"])}
    assert found == {task_id: case[1:] for task_id, case in cases.items()}
    [entry] = pool["tasks"]
    assert (entry["id"], entry["hash"], entry["runs"], entry["solved"]) == (train[0], get_task(train[0]).hash, 8, 3)
    low, high = Beta(3.5, 5.5).interval(0.9)
    assert (entry["posterior"]["low"], entry["posterior"]["high"]) == (round(low, 6), round(high, 6))


def test_the_reference_gate_plays_the_reference() -> None:
    assert select.reference_passes("hotel/late_cancellation/3")[0]
    task = get_task("library/halve_fee/7")
    wrong = dataclasses.replace(task.scenario, solution=task.scenario.solution[:-2])
    task.__dict__["scenario"], kept = wrong, task.scenario
    try:
        passes, found = select.reference_passes(task.id)
    finally:
        task.__dict__["scenario"] = kept
    assert not passes
    assert "ticket" in found


def test_the_same_probes_give_the_same_pool_and_the_trainer_checks_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        probed(tmp_path / f"{name}.jsonl")
    lines = (tmp_path / "two.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "two.jsonl").write_text("".join([lines[0], *reversed(lines[1:])]))
    pools: list[str] = []
    for names in (("one",), ("two",), ("two", "one")):
        out = tmp_path / "pool.json"
        assert tbx(["select", *(str(tmp_path / f"{name}.jsonl") for name in names), "--out", str(out), "--json"]) == 0
        pools.append(out.read_text())
    assert len(set(pools)) == 1
    assert read_pool(out) == [PROBED[1]]
    assert read_counts(out) == {PROBED[1]: (2, 2)}
    begun = make_source(config(environment={"tasks": [], "pool": str(out)}, grpo={"groups": 1},
                               curriculum={"kind": "posterior"}), read_pool(out))  # fmt: skip
    assert isinstance(begun, Posterior)
    assert begun.belief(PROBED[1]) == Beta(2.5, 2.5)
    pool = json.loads(pools[0])
    pool["tasks"][0]["hash"] = "0" * 64
    out.write_text(pool_text(pool))
    with pytest.raises(UsageError, match="has changed since it was selected"):
        read_pool(out)
    (tmp_path / "two.jsonl").write_text("".join([lines[0].replace('"seed": 42', '"seed": 1'), *lines[1:]]))
    assert tbx(["select", str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl"), "--out", str(out)]) == 2


# -- the guard


BENCH = "hotel/relocation/3"


def hotel(**changes: Any) -> Any:
    base: dict[str, Any] = {"environment": {"domains": ["hotel"]}, "evaluation": {"every": 5}}
    return check({part: {**base.get(part, {}), **changes.get(part, {})} for part in {**base, **changes}})


def train_ids() -> list[str]:
    return list(load_domain("hotel").suite_ids["train"])


def rewritten(value: Any, words: dict[str, str]) -> Any:
    """A value with words in all its texts replaced."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: rewritten(getattr(value, f.name), words) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **inner)
    if isinstance(value, dict):
        return {rewritten(key, words): rewritten(item, words) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(rewritten(item, words) for item in value)
    if isinstance(value, str):
        for word, other in words.items():
            value = value.replace(word, other)
    return value


def copied(task: Task, words: dict[str, str]) -> Task:
    """The task as if a training family had made it, with other words."""
    world = copy.copy(task.world)
    world.placed, world.edited = rewritten(world.placed, words), rewritten(world.edited, words)
    scenario = dataclasses.replace(
        task.scenario,
        customer=rewritten(task.scenario.customer, words),
        solution=rewritten(list(task.scenario.solution), words),
    )
    family = task.domain.families["date_change"]
    return dataclasses.replace(task, id="hotel/date_change/900", family=family, world=world, scenario=scenario)


def new_ids(task: Task) -> dict[str, str]:
    names = [str(row["id"]) for _, row in task.world.patch()[0]]
    return {name: f"{name[:3]}{int(name[3:]) - 1}" for name in names if re.fullmatch(r"[A-Z]{2}-\d{5}", name)}


def new_people(task: Task) -> dict[str, str]:
    words: dict[str, str] = {}
    for table, row in task.world.patch()[0]:
        if table == "guests":
            words |= {row["email"]: "zoe@qux.example", row["phone"]: "+1 555 010 0000", row["postcode"]: "99999"}
            words |= {row["first_name"]: "Zoe", row["surname"]: "Quxley"}
    return words


@pytest.fixture
def posing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Task], str]:
    """Makes `guard` find a task under its id."""
    found: dict[str, Task] = {}

    def add(task: Task) -> str:
        found[task.id] = task
        monkeypatch.setattr(guard, "get_task", lambda task_id: found.get(task_id) or get_task(task_id))
        return task.id

    return add


def test_the_frozen_suites_keep_apart() -> None:
    flags = guard.check(hotel(), train_ids())
    assert flags == {"guard": {"trained": 160, "evaluated": 60, "bench": len(guard.bench_ids()), "near": guard.NEAR}}
    assert len([task_id for task_id in guard.bench_ids() if task_id.startswith("hotel/")]) == 102


@pytest.mark.parametrize(
    ("task_id", "kind", "words"),
    [
        (BENCH, "bench task", "is a bench task"),
        ("hotel/relocation/4711", "held-out family", "is of the held-out family relocation"),
        ("library/halve_fee/1", "held-out domain", "is of the held-out domain library"),
    ],
)
def test_the_guard_refuses_what_it_is_judged_by(task_id: str, kind: str, words: str) -> None:
    run = hotel(environment={"domains": ["hotel", "library"], "holdout_domain": "library"})
    with pytest.raises(UsageError, match=rf"^{task_id} {words}\. Leave") as refused:
        guard.check(run, [*train_ids(), task_id])
    assert guard.FLAG in str(refused.value)
    [overlap] = guard.overlaps([*train_ids(), task_id], holdout="library")
    assert (overlap.task_id, overlap.kind) == (task_id, kind)
    mark = guard.check(run, [*train_ids(), task_id], allow=True)[guard.MARK]
    assert mark["overlaps"] == {kind: 1}
    assert task_id in mark["tasks"][0]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (new_ids, "copy"),
        (new_people, "near duplicate"),
        (lambda task: new_people(task) | new_ids(task), "near duplicate"),
    ],
)
def test_the_guard_finds_copies_under_other_names(
    posing: Callable[[Task], str], words: Callable[[Task], dict[str, str]], kind: str
) -> None:
    for original in (BENCH, "hotel/assistant_calls/2", "hotel/corporate_rate/5"):
        task_id = posing(copied(get_task(original), words(get_task(original))))
        [overlap] = guard.overlaps([*train_ids(), task_id])
        assert (overlap.task_id, overlap.kind, overlap.other) == (task_id, kind, original)
        with pytest.raises(UsageError, match=f"{kind} of {original}"):
            guard.check(hotel(), [task_id])


def test_the_guard_finds_every_renamed_copy_of_the_bench() -> None:
    for task_id in load_domain("hotel").suite_ids["bench"]:
        task = get_task(task_id)
        assert jaccard(features(task), features(copied(task, new_people(task) | new_ids(task)))) >= guard.NEAR


def test_evaluation_overlaps_neither_training_nor_the_bench(
    posing: Callable[[Task], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = "hotel/date_change/10"
    for allow in (False, True):
        with pytest.raises(UsageError, match=f"{dev} is evaluated on too"):
            guard.check(hotel(), [*train_ids(), dev], allow=allow)
    renamed = posing(copied(get_task(dev), new_ids(get_task(dev))))
    with pytest.raises(UsageError, match=f"{renamed} is a copy of {dev}"):
        guard.check(hotel(), [renamed])
    assert guard.MARK not in guard.check(hotel(evaluation={"every": 0}), [dev])
    suites = {**load_domain("hotel").suite_ids, "dev": (BENCH,)}
    monkeypatch.setitem(load_domain("hotel").__dict__, "suite_ids", suites)
    with pytest.raises(UsageError, match=f"chooses the checkpoint, and {BENCH} is a bench task"):
        guard.check(hotel(), train_ids())


def test_the_mark_stays_with_what_was_trained_from_it(tmp_path: Path) -> None:
    mark = guard.check(hotel(), [BENCH], allow=True)
    (tmp_path / "state.json").write_text(json.dumps({"update": 3, **mark}))
    later = guard.check(hotel(model={"checkpoint": str(tmp_path)}), train_ids())
    assert later[guard.MARK]["began_from"]["overlaps"] == {"bench task": 1}
    (tmp_path / "state.json").write_text("{")
    with pytest.raises(UsageError, match="cannot be told"):
        guard.check(hotel(model={"checkpoint": str(tmp_path)}), train_ids())


def test_domains_that_are_trained_on_and_evaluated_on() -> None:
    environment = hotel(environment={"domains": ["hotel", "library"], "holdout_domain": "library"}).environment
    assert guard.training_domains(environment) == ["hotel"]
    assert guard.evaluation_domains(environment) == ["hotel", "library"]
    named = hotel(environment={"eval_domains": ["library"]}).environment
    assert guard.evaluation_domains(named) == ["library"]


@settings(max_examples=60)
@given(
    st.lists(st.frozensets(st.sampled_from("abcdefghij"), min_size=1), max_size=8),
    st.lists(st.frozensets(st.sampled_from("abcdefghij"), min_size=1), max_size=8),
    st.sampled_from([0.01, 0.3, 0.5, 0.6, 0.75, 0.8, 1.0]),
)
def test_the_filter_loses_no_pair(ours: list[Any], theirs: list[Any], least: float) -> None:
    mine, others = dict(enumerate(map(frozenset, ours))), dict(enumerate(map(frozenset, theirs)))
    found = list(pairs(((str(n), f) for n, f in mine.items()), {str(n): f for n, f in others.items()}, least))
    every = {(str(i), str(j)) for i, x in mine.items() for j, y in others.items() if jaccard(x, y) >= least}
    assert {(i, j) for i, j, _ in found} == every
    assert len(found) == len(every)
    assert all(int(one[0]) <= int(other[0]) for one, other in pairwise(found))
