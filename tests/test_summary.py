"""A campaign in numbers: hand-checked counts, both denominators, unequal attempts, the published table, cost."""

import tracemalloc
from collections.abc import Mapping
from math import comb
from random import Random
from typing import Any

import pytest
from attempt_rows import EARNED, GUARD, attempt_row, campaign, counted
from hypothesis import given
from hypothesis import strategies as st

from tb_envs.errors import UsageError
from tb_envs.evaluation import anchors, bootstrap_over_tasks
from tb_envs.evaluation.counts import points
from tb_envs.evaluation.metrics import pass_hat_k, summarize
from tb_envs.evaluation.prices import EXAMPLE, Price, Prices, read_prices
from tb_envs.registration import load_domain
from tb_envs.task import get_task

TASKS = ["hotel/a/0", "hotel/a/1", "hotel/b/0", "banking/a/0", "banking/c/7"]


def summary(tasks: Mapping[str, str], **given: Any) -> dict[str, Any]:
    return summarize(campaign(tasks, **given), draws=200, anchored=False)


def test_three_tasks_by_hand() -> None:
    found = summary({"hotel/a/0": "++++", "hotel/a/1": "+--+", "banking/b/0": "----"})
    assert (found["attempts"], found["counted"], found["passed"], found["tasks"], found["k"]) == (12, 12, 6, 3, 4)
    assert found["headline"]["pass_at_1"]["estimate"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    estimates = {curve: [point["estimate"] for point in points] for curve, points in found["curves"].items()}
    assert estimates["pass_at_k"] == pytest.approx([1.5 / 3, (1 + 5 / 6) / 3, 2 / 3, 2 / 3])
    assert estimates["pass_hat_k"] == pytest.approx([1.5 / 3, (1 + 1 / 6) / 3, 1 / 3, 1 / 3])
    assert estimates["observed_k_of_k"] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3])  # + then - is no 2 of 2
    assert estimates["breadth"] == pytest.approx([2 / 3] * 4)
    assert [point["passed"] for point in found["curves"]["observed_k_of_k"]] == [2, 1, 1, 1]
    assert list(found["by"]["domain"]) == ["banking", "hotel"]
    assert found["by"]["domain"]["hotel"]["pass_at_1"]["estimate"] == pytest.approx(3 / 4)
    assert (found["by"]["family"]["hotel/a"]["dependable"], found["by"]["family"]["hotel/a"]["breadth"]) == (1, 2)
    assert found["grid"]["hotel"] == {"approval": {"tasks": 2, "attempts": 8, "passed": 6, "pass_at_1": 0.75}}


def test_a_system_error_is_no_attempt_and_the_other_reading_says_so() -> None:
    found = summary({"hotel/a/0": "+e+-", "hotel/a/1": "ee--", "hotel/a/2": "eeee"})
    assert (found["attempts"], found["counted"], found["system_errors"]) == (12, 5, 7)
    assert (found["tasks"], found["tasks_counted"]) == (3, 2)
    assert found["headline"]["pass_at_1"]["estimate"] == pytest.approx((2 / 3 + 0) / 2)
    assert found["headline"]["pass_at_1_all"]["estimate"] == pytest.approx((2 / 4 + 0 + 0) / 3)
    assert found["headline"]["pass_at_1_pooled"] == 2 / 5
    assert found["outcomes"] == {"error:backend": 7, "failure": 3, "success": 2}
    assert found["errors"] == [{"outcome": "error:backend", "error": "it broke", "count": 7}]
    assert found["ended_by"] == {"error": {"attempts": 7, "failed": 0}, "agent": {"attempts": 5, "failed": 3}}
    # The first two counted attempts of the first task are its attempts 0 and 2.
    assert [(p["k"], p["tasks"], p["passed"]) for p in found["curves"]["observed_k_of_k"]] == [
        (1, 2, 1),
        (2, 2, 1),
        (3, 1, 0),
    ]


def test_unequal_attempts_are_used_and_named() -> None:
    tasks = {f"hotel/a/{index}": "+-++" for index in range(9)} | {"hotel/a/9": "+"}
    found = summary(tasks)
    assert found["unequal"] and found["attempts_per_task"] == {"min": 1, "max": 4}
    assert [point["tasks"] for point in found["curves"]["pass_hat_k"]] == [10, 9, 9, 9]
    assert found["curves"]["pass_hat_k"][1]["estimate"] == pytest.approx(comb(3, 2) / comb(4, 2))
    assert found["headline"]["pass_at_1"]["estimate"] == pytest.approx((9 * 3 / 4 + 1) / 10)
    assert found["headline"]["pass_at_1_pooled"] == 28 / 37
    assert found["k"] == 4, "nine tenths of the tasks have four attempts"
    assert summary(tasks | {"hotel/a/10": "+"})["k"] == 1


def test_keeping_state_always_and_writing_the_record_nearly_always_is_seen() -> None:
    found = summary({"hotel/a/0": "+" * 19 + "g", "hotel/a/1": "b" + "+" * 19})
    guards, earned = found["guards"], found["earned"]
    assert (guards["checks"], guards["passed"], earned["checks"], earned["passed"]) == (40, 39, 40, 39)
    assert guards["rate"]["estimate"] == earned["rate"]["estimate"] == 39 / 40
    by_task = {task["task_id"]: (task["n"], task["c"], task["guards"], task["earned"]) for task in found["per_task"]}
    assert by_task == {"hotel/a/0": (20, 19, 20, 19), "hotel/a/1": (20, 19, 19, 20)}
    assert (guards["k_of_k"]["passed"], earned["k_of_k"]["passed"]) == (1, 1)
    assert found["headline"]["observed_k_of_k"]["passed"] == 0
    assert found["kept_and_earned"] == {
        "attempts": {"both": 38, "guards_only": 1, "earned_only": 1, "neither": 0},
        "tasks": {"both": 0, "guards_only": 1, "earned_only": 1, "neither": 0, "k": 20, "of": 2},
    }
    assert found["failed_checks"] == [
        {"name": GUARD, "kind": "guard", "count": 1, "tasks": 1},
        {"name": EARNED, "kind": "earned", "count": 1, "tasks": 1},
    ]


def test_incidents_and_requests_that_cannot_be_met() -> None:
    rows = [
        attempt_row("hotel/a/0", 0, tool_errors=2, malformed=1, user_faults=3, traps=["identity", "restraint"]),
        attempt_row("hotel/a/0", 1, "failure", traps=["identity", "restraint"], ended_by="limit:turns"),
        attempt_row("hotel/b/0", 0, "error:user", user_faults=2, traps=[], split=""),
    ]
    found = summarize(rows, draws=50, anchored=False)
    assert found["tool_errors"] == {
        "calls": 15, "errors": 2, "rate": 2 / 15, "attempts_with": 1, "malformed": 1, "attempts_malformed": 1,
    }  # fmt: skip
    assert found["user_faults"] == {
        "attempts": 3, "attempts_with": 2, "rate": 2 / 3, "faults": 5, "user_turns": 6, "per_user_turn": 5 / 6,
        "errors": 1,
    }  # fmt: skip
    assert found["impossible"]["with"]["pass_at_1"]["estimate"] == 0.5
    assert (found["impossible"]["with"]["tasks"], found["impossible"]["without"]["pass_at_1"]) == (1, None)
    assert found["by"]["domain"]["hotel"]["impossible"] == {"tasks": 1, "pass_at_1": 0.5}
    assert found["by"]["trap"]["none"]["impossible"] == {"tasks": 0, "pass_at_1": None}
    assert list(found["by"]["trap"]) == ["identity", "restraint", "none"]
    assert list(found["by"]["split"]) == ["bench", "fresh"]
    assert found["length"] == {"turns": 4.0, "user_turns": 2.0, "tool_calls": 5.0}


def test_a_replaced_row_counts_once_and_its_money_was_spent() -> None:
    paid = {"agent": 0.25, "user": 0.0, "judge": 0.0}
    rows = [attempt_row(outcome="error:backend", cost=paid), attempt_row(cost=paid)]
    found = summarize(rows, draws=50, anchored=False)
    assert (found["attempts"], found["replaced"], found["system_errors"], found["passed"]) == (1, 1, 0, 1)
    assert found["cost"]["total"] == 0.5


def test_no_rows_and_a_campaign_that_is_not_finished() -> None:
    nothing = summarize([], planned=40, excluded={"needs a judge": 3})
    assert (nothing["attempts"], nothing["missing"], nothing["excluded"]) == (0, 40, {"needs a judge": 3})
    assert nothing["headline"]["pass_at_1"] is None and nothing["curves"]["pass_at_k"] == []
    assert nothing["cost"]["total"] is None and nothing["k"] == 0
    assert nothing.keys() == summary({"hotel/a/0": "+"}).keys()
    only_errors = summary({"hotel/a/0": "ee"})
    assert only_errors["headline"]["pass_at_1"] is None
    assert only_errors["headline"]["pass_at_1_all"]["estimate"] == 0.0


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"task_id": "hotel/a/0"}], "has no 'task_hash'"),
        ([attempt_row(verdict=None)], "ended as success and has no verdict"),
        ([attempt_row(outcome="passed")], "unknown outcome 'passed'"),
        ([attempt_row(earned=False)], "its checks say otherwise"),
        ([attempt_row(), attempt_row(attempt=1, task_hash="another")], "two versions"),
    ],
)
def test_rows_that_contradict_themselves_are_refused(rows: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        summarize(rows)


def test_intervals_are_those_of_the_bootstrap_over_tasks_whatever_the_order_of_the_rows() -> None:
    draw = Random(5)
    tasks = {f"hotel/a/{i}": "".join(draw.choice("+-") for _ in range(8)) for i in range(40)}
    rows = list(campaign(tasks))
    found = summarize(rows, seed=7, draws=500, anchored=False)
    rates = {task: letters.count("+") / 8 for task, letters in tasks.items()}
    hats = {task: pass_hat_k(8, letters.count("+"), 3) for task, letters in tasks.items()}
    for expected, interval in (
        (bootstrap_over_tasks(rates, seed=7, draws=500), found["headline"]["pass_at_1"]),
        (bootstrap_over_tasks(hats, seed=7, draws=500), found["curves"]["pass_hat_k"][2]),
    ):
        assert [interval[name] for name in expected._fields] == pytest.approx(list(expected))
    draw.shuffle(rows)
    assert summarize(iter(rows), seed=7, draws=500, anchored=False) == found


@given(st.dictionaries(st.sampled_from(TASKS), st.text("+-gbe", min_size=1, max_size=6), min_size=1))
def test_what_always_holds(tasks: dict[str, str]) -> None:
    found = summarize(campaign(tasks), draws=20, anchored=False)
    letters = "".join(tasks.values())
    assert found["attempts"] == len(letters) == found["counted"] + letters.count("e")
    assert found["passed"] == letters.count("+") == sum(task["c"] for task in found["per_task"])
    for parts in found["by"].values():  # a task has one name in each dimension here, so that the parts add up
        for number in ("tasks", "attempts", "counted", "system_errors", "passed", "dependable", "tasks_at_k"):
            whole = {
                "dependable": found["kept_and_earned"]["tasks"]["both"],
                "tasks_at_k": found["kept_and_earned"]["tasks"]["of"],
            }
            assert sum(part[number] for part in parts.values()) == whole.get(number, found.get(number))
    for at, hat, observed, breadth in zip(*found["curves"].values(), strict=True):
        assert hat["estimate"] <= at["estimate"] + 1e-12 and observed["estimate"] <= breadth["estimate"]
        assert at["tasks"] == sum(task["n"] >= at["k"] for task in found["per_task"])
        for point in (at, hat, observed, breadth):
            assert -1e-12 <= point["low"] <= point["high"] <= 1 + 1e-12
    both = found["kept_and_earned"]["attempts"]
    assert (both["both"], sum(both.values())) == (found["passed"], found["counted"])


def test_long_rows_are_read_and_dropped() -> None:
    text = "x" * 100
    rows = (attempt_row(f"hotel/a/{i % 50}", i // 50, messages=[{"content": text}] * 1000) for i in range(1000))
    tracemalloc.start()
    try:
        assert summarize(rows, draws=50, anchored=False)["attempts"] == 1000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000, f"{peak} bytes at once for a thousand rows of 8,000 and more"


def test_a_curve_of_a_thousand_attempts_has_a_hundred_points_and_the_headline_s() -> None:
    ks = points(1000, 997)
    assert ks[:32] == list(range(1, 33)) and ks[-2:] == [997, 1000] and len(ks) < 120
    assert ks == sorted(set(ks)) and points(0, 0) == [] and points(3, 3) == [1, 2, 3]
    found = summary({f"hotel/a/{i}": "+" * 97 for i in range(9)} | {"hotel/a/9": "+" * 100})
    assert (found["k"], found["headline"]["pass_hat_k"]["k"], found["curves"]["breadth"][-1]["k"]) == (97, 97, 100)


# -- the published table of the reference run: 507 tasks, 20 attempts each

BASE = {"pass_at_1": 0.5170, "dependable": 38, "breadth": 453}
TRAINED = {"pass_at_1": 0.6078, "dependable": 107, "breadth": 446}


def successes(pass_at_1: float, dependable: int, breadth: int) -> list[int]:
    """507 numbers of successes out of 20 with these totals: all, some, or none."""
    some = breadth - dependable
    share, rest = divmod(round(pass_at_1 * 507 * 20) - 20 * dependable, some)
    assert 1 <= share < 19
    return [20] * dependable + [share + 1] * rest + [share] * (some - rest) + [0] * (507 - breadth)


@pytest.mark.parametrize(
    ("published", "printed"),
    [(BASE, (51.70, 7.50, 89.35)), (TRAINED, (60.78, 21.10, 87.97))],
)
def test_the_published_table_follows_from_its_counts(published: dict[str, Any], printed: tuple[float, ...]) -> None:
    found = summary(counted(successes(**published), 20))
    headline = found["headline"]
    shares = [headline[name]["estimate"] for name in ("pass_at_1", "observed_k_of_k", "breadth")]
    assert [round(100 * share, 2) for share in shares] == list(printed)
    assert (headline["observed_k_of_k"]["passed"], headline["breadth"]["passed"]) == (
        published["dependable"], published["breadth"],
    )  # fmt: skip
    assert headline["pass_hat_k"]["estimate"] == pytest.approx(headline["observed_k_of_k"]["estimate"])
    assert headline["pass_at_k"]["estimate"] == pytest.approx(headline["breadth"]["estimate"])
    assert 0.02 < headline["pass_at_1"]["high"] - headline["pass_at_1"]["low"] < 0.07


# -- cost


@pytest.mark.parametrize(
    ("dependable", "pass_at_1", "campaign_dollars", "per_dependable", "per_run", "per_success"),
    [
        (128, 0.6536, 869.80, 6.80, 43.49, 0.131),
        (231, 0.5831, 1720.60, 7.45, 86.03, 0.291),
        (241, 0.6716, 1880.77, 7.80, 94.04, 0.276),
        (82, 0.6191, 800.00, 9.76, 40.00, 0.127),
        (241, 0.6650, 3206.00, 13.30, 160.30, 0.475),
        (102, 0.5919, 1587.60, 15.56, 79.38, 0.265),
        (44, 0.4628, 878.00, 19.95, 43.90, 0.187),
        (68, 0.5737, 1406.40, 20.68, 70.32, 0.242),
        (38, 0.5170, 925.80, 24.36, 46.29, 0.177),
    ],
)
def test_the_published_costs_follow_from_the_campaigns(
    dependable: int,
    pass_at_1: float,
    campaign_dollars: float,
    per_dependable: float,
    per_run: float,
    per_success: float,
) -> None:
    from tb_envs.evaluation.spending import cost
    from tb_envs.evaluation.tally import Tally

    paid = {"agent": campaign_dollars / 507, "user": 0.0, "judge": 0.0}
    tally = Tally.of(attempt_row(f"hotel/made_up/{i}", cost=paid) for i in range(507))
    passed = round(pass_at_1 * 507 * 20)
    found = cost(tally, attempts=507 * 20, passed=passed, dependable=dependable)
    assert found["total"] == pytest.approx(campaign_dollars)
    assert round(found["per_dependable"], 2) == per_dependable
    assert round(found["per_run"], 2) == per_run
    assert round(found["per_success"], 3) == per_success
    assert found["per_attempt"] == pytest.approx(per_run / 507, rel=2e-4)


def test_a_campaign_s_cost_from_its_rows() -> None:
    paid = {"agent": 925.80 / 10_140, "user": 0.0, "judge": 0.0}
    found = summary(counted(successes(**BASE), 20), cost=paid)["cost"]
    assert found["total"] == pytest.approx(925.80)
    assert (round(found["per_dependable"], 2), round(found["per_success"], 3)) == (24.36, 0.177)


def test_unknown_is_unknown_and_never_nothing() -> None:
    used = {"input": 1000, "cached_input": 200, "output": 50, "reasoning": 10}
    rows = [
        attempt_row(attempt=0, tokens={"agent": used, "user": used, "judge": None},
                    cost={"agent": 0.5, "user": None, "judge": 0.0}),
        attempt_row(attempt=1, tokens={"agent": None, "user": used, "judge": None},
                    cost={"agent": None, "user": None, "judge": 0.0}),
    ]  # fmt: skip
    found = summarize(rows, draws=50, anchored=False)
    assert found["tokens"]["agent"] == {**used, "attempts": 1, "attempts_unknown": 1}
    assert found["tokens"]["user"]["input"] == 2000 and found["tokens"]["judge"] is None
    cost = found["cost"]
    assert (cost["total"], cost["per_attempt"], cost["per_success"], cost["per_dependable"]) == (None,) * 4
    assert cost["known"] == 0.5
    assert cost["by_role"] == {
        "agent": {"dollars": None, "known": 0.5, "attempts_unknown": 1},
        "user": {"dollars": None, "known": 0.0, "attempts_unknown": 2},
        "judge": {"dollars": 0.0, "known": 0.0, "attempts_unknown": 0},
    }


def test_prices() -> None:
    prices = read_prices(EXAMPLE)
    assert Prices.of(prices.to_json()) == prices
    used = {"input": 1_000_000, "cached_input": 400_000, "output": 100_000, "reasoning": 50_000}
    assert prices.cost("example-large", used) == pytest.approx(0.6 * 4.00 + 0.4 * 1.00 + 0.1 * 16.00)
    assert prices.cost("example-large", {"input": 1_000_000, "output": 0}) == pytest.approx(4.00)
    assert prices.cost("example-own-machine", used) == 0.0
    assert prices.cost("example-large ", used) is None, "a model that the table does not name"
    assert prices.cost("example-large", None) is None
    assert prices.cost("example-large", {"input": 5, "output": None}) is None
    assert all("example" in name for name in prices.models), "no real model's price is shipped"
    assert Price(1, 1, 1, "2026-01-31", "x").cost({"input": 3, "cached_input": 9, "output": 0}) == pytest.approx(3e-6)


PRICE = 'input = 1\ncached_input = 1\noutput = 1\ndated = "2026-01-31"\nsource = "somewhere"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no model"),
        ("[model.a]\n" + PRICE, "unknown entry 'model'"),
        ("[models.a]\n" + PRICE.replace("output = 1\n", ""), "model 'a' has no 'output'"),
        ("[models.a]\n" + PRICE.replace("input = 1", "input = -1", 1), "input is US dollars per million tokens"),
        ("[models.a]\n" + PRICE.replace("input = 1", "input = nan", 1), "got nan"),
        ("[models.a]\n" + PRICE.replace("input = 1", 'input = "1"', 1), "got '1'"),
        ("[models.a]\n" + PRICE.replace("input = 1", "input = true", 1), "got True"),
        ("[models.a]\n" + PRICE.replace("2026-01-31", "January"), "dated is a day"),
        ("[models.a]\n" + PRICE.replace('"somewhere"', '""'), "where the price was looked up"),
        ("[models.a]\n" + PRICE + "batch = 2\n", "unknown field 'batch'"),
        ("[models]\na = 3\n", "got 3"),
        ("[models.a\n", "is no TOML"),
    ],
)
def test_a_table_that_is_not_right_says_where(text: str, words: str, tmp_path: Any) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_prices(path)
    with pytest.raises(UsageError, match="No such file"):
        read_prices(tmp_path / "none.toml")


# -- floor and ceiling


@pytest.mark.parametrize("domain", ["hotel", "banking"])
def test_floor_and_ceiling_of_certified_and_of_fresh_tasks(domain: str) -> None:
    frozen = next(iter(load_domain(domain).suites["bench"].values()))
    fresh = get_task(f"{frozen['id'].rpartition('/')[0]}/4711")
    hashes = {frozen["id"]: frozen["hash"], fresh.id: fresh.hash}
    rows = [attempt_row(task_id, task_hash=known) for task_id, known in hashes.items()]
    found = summarize(rows, draws=50)
    assert found["floor"] == {
        "agent": "idle", "pass_at_1": 0.0, "tasks": 2, "certified": 1, "played": 1, "unknown": {},
    }  # fmt: skip
    assert (found["ceiling"]["pass_at_1"], found["by"]["domain"][domain]["ceiling"]) == (1.0, 1.0)
    assert anchors.anchor(frozen["id"], frozen["hash"]).source == "certified"
    assert anchors.anchor(fresh.id, fresh.hash) == anchors.Anchor(0.0, 1.0, "played")


def test_floor_and_ceiling_of_tasks_that_are_no_longer_there_are_unknown() -> None:
    found = summarize([attempt_row("hotel/late_cancellation/0"), attempt_row("airline/a/0")], draws=50)
    assert (found["floor"]["pass_at_1"], found["ceiling"]["tasks"]) == (None, 0)
    gone, changed = found["floor"]["unknown"]
    assert "its hash differs" in changed and "unknown domain 'airline'" in gone
    assert found["by"]["domain"]["hotel"]["floor"] is None


def test_a_task_made_harder_has_its_own_floor_and_ceiling() -> None:
    from tb_envs.knobs import Knobs

    knobs = Knobs(distractors=5, manner="terse")
    task = get_task("hotel/late_cancellation/0", knobs)
    row = attempt_row(task.id, task_hash=task.hash)
    assert summarize([row], draws=50, knobs=knobs)["ceiling"]["played"] == 1
    assert summarize([row], draws=50)["ceiling"]["pass_at_1"] is None
