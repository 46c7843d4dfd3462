"""The domains as frozen: every task of their suites is proved again, and so is each domain."""

from __future__ import annotations

import pytest

from tb_envs.agents import BUILT_IN
from tb_envs.authoring.domain import SPLITS, Domain
from tb_envs.certify.domain_proofs import certify_domain, facts
from tb_envs.certify.lint import lint_domain
from tb_envs.certify.runner import certify_one
from tb_envs.play import run
from tb_envs.registration import domain_names, load_domain
from tb_envs.task import get_task
from tb_envs.users.phrases import rows, said_aloud, stems

DOMAINS = [load_domain(name) for name in domain_names() if name != "library"]  # that one is a toy of the tests
FAMILIES = [(domain, family) for domain in DOMAINS for family in sorted(domain.families)]
of_each_domain = pytest.mark.parametrize("domain", DOMAINS, ids=[domain.name for domain in DOMAINS])


def suites(domain: Domain) -> list[str]:
    return [task_id for split in SPLITS for task_id in domain.planned_ids(split)]


@pytest.mark.parametrize(("domain", "family"), FAMILIES, ids=[f"{d.name}-{family}" for d, family in FAMILIES])
def test_every_frozen_task_is_proved(domain: Domain, family: str) -> None:
    ids = [task_id for task_id in suites(domain) if task_id.split("/")[1] == family]
    fresh = [f"{domain.name}/{family}/{index}" for index in (1000, 1001)]
    failures = {task_id: result.failures for task_id in [*ids, *fresh] if not (result := certify_one(task_id)).proved}
    assert not failures


@of_each_domain
def test_the_domain_is_proved(domain: Domain) -> None:
    failed = {proof.name: proof.detail for proof in certify_domain(domain, jobs=1) if not proof.passed}
    assert not failed


@of_each_domain
def test_lint_is_clean(domain: Domain) -> None:
    assert lint_domain(domain) == []


@of_each_domain
def test_sizes(domain: Domain) -> None:
    counted = facts(domain)
    assert (counted["tasks_train"], counted["tasks_dev"], counted["tasks_bench"]) == (160, 60, 102)
    assert counted["families_train"] == 16 and counted["families_bench"] == 8 and counted["traps"] >= 16


@pytest.mark.parametrize("agent", [name for name in BUILT_IN if name != "random"])
@of_each_domain
def test_built_in_agents_score_what_they_must(domain: Domain, agent: str) -> None:
    summary = run(suites(domain), agent).to_json()
    assert summary["system_errors"] == 0
    assert summary["pass_at_1"] == (1.0 if agent == "reference" else 0.0)


@of_each_domain
def test_scripted_agents_ask_in_plain_words_that_are_understood(domain: Domain) -> None:
    for fact in domain.vocabulary.facts:
        for pattern in fact.asked_as[:1]:
            aloud = said_aloud(pattern)
            assert not set("(|)") & set(aloud) and tuple(stems(aloud)) in rows(pattern), (fact.name, aloud)


@of_each_domain
def test_no_agent_visible_text_names_what_is_hidden(domain: Domain) -> None:
    hidden = ("approval_rules", "sign_off_rules", "passcode_rules", "expects", "obeys", "certificate")
    for task_id in suites(domain)[::16]:
        task = get_task(task_id)
        seen = task.instructions + str(domain.tool_definitions)
        assert not [word for word in hidden if word in seen]
        assert task.family.name.replace("_", " ") not in task.instructions.split("#", 1)[0]
