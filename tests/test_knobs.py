"""Knobs make a task harder and leave its right end: certificates hold, suites do not notice, bad values are told."""

from __future__ import annotations

from typing import Any, get_args

import gymnasium as gym
import pytest

import tb_envs  # noqa: F401
from tb_envs.authoring.persona import Manner
from tb_envs.certify.task_proofs import certify_task
from tb_envs.errors import UsageError
from tb_envs.knobs import MANNERS, Knobs, read_knobs
from tb_envs.play import run
from tb_envs.registration import domain_names, load_domain
from tb_envs.settings import Settings
from tb_envs.task import get_task

DOMAINS = [name for name in domain_names() if name != "library"]
HARDEST = {"distractors": 15, "lookalikes": 8, "stale_articles": 20}


@pytest.mark.parametrize("manner", ["terse", "rambling", "digressing", "pushy", "slow"])
@pytest.mark.parametrize("name", DOMAINS)
def test_certificates_hold_with_every_knob_turned(name: str, manner: str) -> None:
    domain = load_domain(name)
    knobs = Knobs.of({**HARDEST, "manner": manner})
    families = sorted(domain.families)
    for family in families[MANNERS.index(manner) :: 5]:
        result = certify_task(get_task(f"{name}/{family}/{1003 + MANNERS.index(manner)}", knobs))
        assert result.proved, (result.task_id, result.failures)


@pytest.mark.parametrize("name", DOMAINS)
def test_each_knob_changes_what_it_names_and_nothing_else(name: str) -> None:
    domain = load_domain(name)
    task_id = next(iter(domain.suite_ids["bench"]))
    plain = get_task(task_id)
    more_tools = get_task(task_id, Knobs(distractors=10))
    assert len(more_tools.tools) == len(plain.tools) + 10
    assert list(more_tools.tools)[: len(plain.tools) - 2] == list(plain.tools)[:-2], "session tools stay last"
    crowded = get_task(task_id, Knobs(lookalikes=3))
    rows, more = plain.world.patch()[0], crowded.world.patch()[0]
    assert len(more) > len(rows) and all(row in more for row in rows)
    old = get_task(task_id, Knobs(stale_articles=7))
    assert len(old.articles.by_id) == len(plain.articles.by_id) + 7
    assert all(old.articles.by_id[key] == article for key, article in plain.articles.by_id.items())
    stale = [article for key, article in old.articles.by_id.items() if key not in plain.articles.by_id]
    assert {article.status for article in stale} == {"superseded"}
    assert all(article.body != plain.articles.by_id[article.superseded_by].body for article in stale)
    terse = get_task(task_id, Knobs(manner="terse"))
    assert terse.scenario.customer.manner == "terse"
    hashes = {task.hash for task in (plain, more_tools, crowded, old, terse)}
    assert len(hashes) == 5, "a result with knobs is never taken for one without"
    assert all(task.scenario.expects == plain.scenario.expects for task in (more_tools, crowded, old, terse))


def test_environments_take_knobs() -> None:
    env = gym.make("ThinkingBox/Hotel-v0", knobs={"distractors": 5, "manner": "slow"})
    _, info = env.reset(seed=3)
    plain = gym.make("ThinkingBox/Hotel-v0").reset(seed=3)[1]
    assert info["task_id"] == plain["task_id"] and len(info["tools"]) == len(plain["tools"]) + 5
    many = gym.make_vec("ThinkingBox/Hotel-v0", num_envs=2, knobs={"lookalikes": 1})
    many.reset(seed=1)
    many.close()
    summary = run(["hotel/late_checkout/0"], "reference", settings=Settings(knobs=Knobs.of(HARDEST)))
    assert summary.to_json()["passed"] == 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"distractor": 5}, "valid: distractors"),
        ({"distractors": 16}, "from 0 to 15"),
        ({"lookalikes": -1}, "from 0 to 8"),
        ({"stale_articles": True}, "whole number"),
        ({"lookalikes": 1.5}, "whole number"),
        ({"manner": "rude"}, "terse"),
        ({"manner": 3}, "terse"),
        (["distractors"], "mapping"),
    ],
)
def test_bad_knobs_are_told(given: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        gym.make("ThinkingBox/Hotel-v0", knobs=given)


def test_knobs_are_read_as_they_are_shown() -> None:
    knobs = Knobs(10, 2, "pushy", 4)
    assert read_knobs(str(knobs)) == knobs and not Knobs() and read_knobs("") == Knobs()
    assert get_args(Manner) == MANNERS
    with pytest.raises(UsageError, match="write knobs like"):
        read_knobs("distractors")
