"""Certificates: a right task is proved, and each kind of wrong task is caught by the proof that is there for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tb_envs.authoring import (
    Call,
    Mistake,
    Scenario,
    Step,
    ToolFault,
    created,
    derived,
    happened,
    hears,
    judged,
    kept,
    mistake,
    never_created,
    order,
    writes,
)
from tb_envs.certify.domain_proofs import wrong_cells
from tb_envs.certify.freeze import freeze
from tb_envs.certify.lint import lint_domain
from tb_envs.certify.mutants import installed, load, mutants_of
from tb_envs.certify.runner import certify_one, fresh_ids
from tb_envs.certify.task_proofs import PROOFS, certify_task
from tb_envs.cli import main
from tb_envs.errors import DomainError
from tb_envs.grading.expectations import Changed
from tb_envs.registration import load_domain
from tb_envs.task import Task, build_task, get_task

TASK = "library/halve_fee/0"


def test_a_right_task_has_every_proof() -> None:
    for task_id in fresh_ids("library", 8):
        result = certify_one(task_id)
        assert result.proved, result.failures
        assert set(result.proofs) == set(PROOFS) and result.calls == 3 and result.writes == 2


def _without_write(s: Scenario) -> Scenario:
    return replace(s, solution=[step for step in s.solution if not (isinstance(step, Call) and step.tool == "set_fee")])


def _unneeded(s: Scenario) -> Scenario:
    return replace(s, solution=[s.solution[0], s.solution[1], s.solution[1], *s.solution[2:]])


def _guessed(s: Scenario) -> Scenario:
    steps = _with_fee(s, "77.70")
    expects = [_fee_is(s, 7770), s.expects[1]]
    return replace(s, solution=steps, expects=expects)


def _with_fee(s: Scenario, amount: object) -> list[Step]:
    return [
        replace(step, arguments={**step.arguments, "amount": amount})
        if isinstance(step, Call) and step.tool == "set_fee"
        else step
        for step in s.solution
    ]


def _fee_is(s: Scenario, cents: int) -> Changed:
    fee = s.expects[0]
    assert isinstance(fee, Changed)
    return replace(fee, fields={"fee_cents": cents})


def _model(table: str) -> object:
    mappers = load_domain("library").base.registry.mappers
    return next(m.class_ for m in mappers if m.class_.__tablename__ == table)


def _obeying_is_right(s: Scenario) -> Scenario:
    return replace(s, obeys=s.solution)


def _wrongly_named(s: Scenario) -> Scenario:
    wrong = {"x": Mistake(s.mistakes["takes it all off"].does, frozenset({"ticket"}))}
    return replace(s, mistakes={**s.mistakes, **wrong})


def _unseen_by_audit(s: Scenario) -> Scenario:
    return replace(s, mistakes={**s.mistakes, "y": mistake(s.mistakes["forgets the ticket"].does, "ticket", "policy")})


def _idle_expectation(s: Scenario) -> Scenario:
    return replace(s, expects=[*s.expects, kept("member", _model("members"), s.about[0])])


def _only_guards(s: Scenario) -> Scenario:
    return replace(s, expects=[never_created("no ticket", _model("tickets"), outcome="refused")])


def _note_forbidden(s: Scenario) -> Scenario:
    return replace(s, expects=[*s.expects, never_created("no note", _model("notes"))])


def _order_broken(s: Scenario) -> Scenario:
    rule = order("ticket first", writes(_model("tickets")), writes(_model("loans")))
    return replace(s, expects=[*s.expects, rule])


def _audit_objects(s: Scenario) -> Scenario:
    steps = _with_fee(s, derived("0.10", "0"))
    return replace(s, solution=steps, expects=[_fee_is(s, 10), s.expects[1]])


def _fault(s: Scenario) -> Scenario:
    return replace(s, tool_faults=[ToolFault("set_fee", applied=False)])


FAULTS: list[tuple[str, Callable[[Scenario], Scenario], str]] = [
    ("reference", _without_write, "the reference fails"),
    ("calls needed", _unneeded, "get_loan is not needed"),
    ("arguments known", _guessed, "77.70"),
    ("obedient", _obeying_is_right, "obedient agent ends as success"),
    ("mistakes", _wrongly_named, "should fail"),
    ("mistakes", _unseen_by_audit, "the audit finds nothing wrong"),
    ("no idle expectation", _idle_expectation, "«member» is idle"),
    ("idle, talker, random", _only_guards, "idle agent ends as success"),
    ("tolerance", _note_forbidden, "harmless note"),
    ("reference", _order_broken, "ticket first"),
    ("audit", _audit_objects, "the fee became 10"),
    ("reference", _fault, "the reference fails"),
]


@pytest.mark.parametrize(("proof", "spoil", "words"), FAULTS, ids=[f"{p}-{f.__name__}" for p, f, _ in FAULTS])
def test_each_fault_is_caught(proof: str, spoil: Callable[[Scenario], Scenario], words: str) -> None:
    right = get_task(TASK)
    family = replace(right.family, build=lambda world: spoil(right.family.build(world)))
    result = certify_task(build_task(right.domain, family, 0))
    assert not result.proofs[proof] and words in " ".join(result.failures), result.failures


def test_a_task_that_only_a_judge_can_grade_is_not_proved_and_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = get_task(TASK)
    spoken = judged("told why", "The agent told the reader why the fee is halved.")
    task = replace(right, scenario=replace(right.scenario, expects=[*right.scenario.expects, spoken]))
    monkeypatch.setattr("tb_envs.certify.runner.get_task", lambda task_id, knobs=None: task)
    assert main(["certify", "--task", TASK]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "only a judge can tell «told why»" in out and "outside the suites, played with --judge" in out


def test_two_expectations_with_one_name_are_refused() -> None:
    right = get_task(TASK)
    twice = lambda w: (lambda s: replace(s, expects=[*s.expects, s.expects[0]]))(right.family.build(w))  # noqa: E731
    with pytest.raises(DomainError, match="share a name"):
        build_task(right.domain, replace(right.family, build=twice), 0)


def test_what_is_heard_can_be_asked_for() -> None:
    right = get_task(TASK)
    wanted = lambda w: (  # noqa: E731
        lambda s: replace(s, expects=[*s.expects, happened("number given", hears("gave:loan"))])
    )(right.family.build(w))
    task: Task = build_task(right.domain, replace(right.family, build=wanted), 0)
    silent = [step for step in task.scenario.solution if isinstance(step, Call)]
    from tb_envs.certify.runs import run_steps

    assert run_steps(task, task.scenario.solution).passed
    assert run_steps(task, silent).failed == {"number given"}


def test_unproved_suites_are_not_frozen() -> None:
    with pytest.raises(DomainError, match="was not certified"):
        freeze(load_domain("library"), [certify_one(TASK)])


def test_mutants_change_one_place_and_are_put_back() -> None:
    domain = load_domain("library")
    module = domain.module("policy")
    source = (domain.folder / "policy.py").read_text()
    found = list(mutants_of(source))
    assert {m.name.split(": ")[1] for m in found} == {"50 → 51", "100 → 101"}
    for mutant in found:
        with installed(module, load(module, mutant.source)):
            assert module.halved(1000) != 500
        assert module.halved(1000) == 500


def test_lint_finds_what_is_wrong_with_a_text() -> None:
    domain = load_domain("library")
    rules = {finding.rule for finding in lint_domain(domain)}
    assert "numbers" in rules  # policy.py halves by a number that the text does not name
    changed_text = domain.policy_text + "\n2. Use `burn_book` after 77 days.\n"
    domain.__dict__["policy_text"] = changed_text
    try:
        messages = " ".join(finding.message for finding in lint_domain(domain))
    finally:
        del domain.__dict__["policy_text"]
    assert "`burn_book` is no tool" in messages and "77 stands in the policy" in messages


def test_hotel_decision_tables_agree_with_the_policy() -> None:
    assert list(wrong_cells(load_domain("hotel"))) == []


def test_created_names_are_needed() -> None:
    with pytest.raises(DomainError, match="at least one field"):
        created("x", _model("tickets"))
