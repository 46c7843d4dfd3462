"""The hotel as frozen: every task of its suites is proved again, and so is the domain."""

from __future__ import annotations

import pytest

from tb_envs.agents import BUILT_IN
from tb_envs.authoring.domain import SPLITS
from tb_envs.certify.domain_proofs import certify_domain, facts
from tb_envs.certify.lint import lint_domain
from tb_envs.certify.runner import certify_one
from tb_envs.play import run
from tb_envs.registration import load_domain
from tb_envs.task import get_task

HOTEL = load_domain("hotel")
SUITES = [task_id for split in SPLITS for task_id in HOTEL.planned_ids(split)]


@pytest.mark.parametrize("family", sorted(HOTEL.families))
def test_every_frozen_task_is_proved(family: str) -> None:
    ids = [task_id for task_id in SUITES if task_id.split("/")[1] == family]
    fresh = [f"hotel/{family}/{index}" for index in (1000, 1001)]
    failures = {task_id: result.failures for task_id in [*ids, *fresh] if not (result := certify_one(task_id)).proved}
    assert not failures


def test_the_domain_is_proved() -> None:
    failed = {proof.name: proof.detail for proof in certify_domain(HOTEL, jobs=1) if not proof.passed}
    assert not failed


def test_lint_is_clean() -> None:
    assert lint_domain(HOTEL) == []


def test_sizes() -> None:
    counted = facts(HOTEL)
    assert (counted["tasks_train"], counted["tasks_dev"], counted["tasks_bench"]) == (160, 60, 102)
    assert counted["families_train"] == 16 and counted["families_bench"] == 8 and counted["traps"] == 18


@pytest.mark.parametrize("agent", [name for name in BUILT_IN if name != "random"])
def test_built_in_agents_score_what_they_must(agent: str) -> None:
    summary = run(SUITES, agent).to_json()
    assert summary["system_errors"] == 0
    assert summary["pass_at_1"] == (1.0 if agent == "reference" else 0.0)


def test_no_agent_visible_text_names_what_is_hidden() -> None:
    hidden = ("approval_rules", "expects", "obeys", "certificate")
    for task_id in SUITES[::16]:
        task = get_task(task_id)
        seen = task.instructions + str(HOTEL.tool_definitions)
        assert not [word for word in hidden if word in seen]
        assert task.family.name.replace("_", " ") not in task.instructions.split("#", 1)[0]
