"""The certificate of one task: each proof by name, and every failure in words.

Nothing is taken on trust: the reference is played, each call is taken out, each mistake is made, each tolerance tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tb_envs.agents import make_agent
from tb_envs.authoring.steps import Call
from tb_envs.certify.provenance import unexplained
from tb_envs.certify.runs import Run, run_agent, run_steps, state_before, violations
from tb_envs.certify.variants import strays, tolerated, without
from tb_envs.grading.verdict import NOTHING_ELSE
from tb_envs.session.local import LocalBackend
from tb_envs.store.dump import dump_hash
from tb_envs.task import Task, build_task

CALLS = range(3, 15)
"""How many needed tool calls a reference may have."""


@dataclass(frozen=True)
class Result:
    """What certifying a task found."""

    task_id: str
    task_hash: str
    proofs: dict[str, bool]
    failures: tuple[str, ...]
    calls: int
    writes: int
    mistakes: int

    @property
    def proved(self) -> bool:
        """Every proof holds."""
        return all(self.proofs.values()) and not self.failures


class Certifier:
    """Collects the proofs of one task."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.scenario = task.scenario
        self.failures: list[str] = []
        self.runs: list[Run] = []
        self.reference = run_steps(task, self.scenario.solution)
        self.before = state_before(task)
        self.calls = [i for i, step in enumerate(self.scenario.solution) if isinstance(step, Call)]

    def fail(self, message: str) -> None:
        """Note a failure."""
        self.failures.append(message)

    # -- the proofs, in the order they are tried

    def reference_passes(self) -> None:
        """The reference solution scores 1, without an error the task did not plan."""
        if not self.reference.passed:
            self.fail(f"the reference fails: {self.reference.explain()}")
        planned = len(self.scenario.tool_faults)
        errors = self.reference.errors()
        if len(errors) > planned:
            self.fail(f"the reference meets errors: {'; '.join(f'{e.name}: {e.text}' for e in errors)}")
        if len(self.calls) not in CALLS:
            self.fail(f"the reference has {len(self.calls)} calls; {CALLS.start} to {CALLS.stop - 1} are meant")

    def calls_needed(self) -> None:
        """Without any one call the end, or the source of an argument, is missing."""
        for index in self.calls:
            steps = without(self.scenario.solution, index)
            run = run_steps(self.task, steps)
            self.runs.append(run)
            step = self.scenario.solution[index]
            assert isinstance(step, Call)
            if run.passed and not unexplained(self.task, steps):
                self.fail(f"the call {step.tool} is not needed")
            if not set(step.earns) <= run.failed:
                self.fail(f"without {step.tool} these still hold: {', '.join(sorted(set(step.earns) - run.failed))}")

    def arguments_known(self) -> None:
        """Every argument was visible when it was used."""
        for message in unexplained(self.task, self.scenario.solution):
            self.fail(message)

    def idle_agents_fail(self) -> None:
        """Doing nothing, only talking and random calls score 0."""
        for name in ("idle", "talker", "random"):
            run = run_agent(self.task, make_agent(name))
            if run.outcome != "failure":
                self.fail(f"the {name} agent ends as {run.outcome} ({run.error})")
            self.runs.append(run)
        if not any(kind == "earned" for kind in self.task.kinds.values()):
            self.fail("no expectation has to be earned")

    def obeying_fails(self) -> None:
        """Doing at once what the customer asks scores 0."""
        run = run_steps(self.task, self.scenario.obeys)
        self.runs.append(run)
        if run.outcome != "failure":
            self.fail(f"the obedient agent ends as {run.outcome} ({run.error})")

    def mistakes_fail(self) -> None:
        """Every mistake fails exactly the checks it names; the audit sees the policy mistakes."""
        if not self.scenario.mistakes:
            self.fail("no mistakes are given")
        for name, item in self.scenario.mistakes.items():
            run = run_steps(self.task, item.does)
            self.runs.append(run)
            if not item.fails:
                self.fail(f"mistake «{name}» names no check")
            if run.outcome != "failure" or run.failed != item.fails:
                self.fail(
                    f"mistake «{name}» should fail {sorted(item.fails)} and fails {sorted(run.failed)}: {run.explain()}"
                )
            elif item.kind == "policy" and not violations(run, self.before):
                self.fail(f"the audit finds nothing wrong in the policy mistake «{name}»")

    def strays_fail(self) -> None:
        """An unrelated write fails that check alone, undone or not."""
        for name, steps in strays(self.task):
            run = run_steps(self.task, steps)
            self.runs.append(run)
            if run.failed != frozenset({NOTHING_ELSE}):
                self.fail(f"{name} should fail {NOTHING_ELSE} alone: {run.explain()}")

    def nothing_idle(self) -> None:
        """Each expectation is the only one that catches some wrong run."""
        caught = {next(iter(run.failed)) for run in self.runs if len(run.failed) == 1}
        for name in self.task.kinds:
            if name not in caught:
                self.fail(f"expectation «{name}» is idle: no wrong run fails it alone")

    def tolerances_pass(self) -> None:
        """What must not matter does not."""
        for name, steps in tolerated(self.task, self.reference):
            run = run_steps(self.task, steps)
            if not run.passed:
                errors = "; ".join(event.text for event in run.errors())
                self.fail(f"with {name}: {run.explain()} {errors}".rstrip())

    def audit_agrees(self) -> None:
        """The independent audit finds no violation in the accepted end."""
        for item in violations(self.reference, self.before):
            self.fail(f"audit of the reference, section {item.section}: {item.message}")

    def same_bytes(self) -> None:
        """Built again, the task is the same, and so are its database and its reference transcript."""
        task = self.task
        again = build_task(task.domain, task.family, task.index, task.knobs)
        if again.hash != task.hash:
            self.fail("built twice, the task differs")
        hashes: list[str] = []
        for each in (task, again):
            backend = LocalBackend(each)
            hashes.append(dump_hash(backend.dump()))
            backend.close()
        if hashes[0] != hashes[1]:
            self.fail("built twice, the database differs")
        if run_steps(again, again.scenario.solution).log != self.reference.log:
            self.fail("played twice, the reference gives another log")


PROOFS: dict[str, Callable[[Certifier], None]] = {
    "reference": Certifier.reference_passes,
    "calls needed": Certifier.calls_needed,
    "arguments known": Certifier.arguments_known,
    "idle, talker, random": Certifier.idle_agents_fail,
    "obedient": Certifier.obeying_fails,
    "mistakes": Certifier.mistakes_fail,
    "strays": Certifier.strays_fail,
    "no idle expectation": Certifier.nothing_idle,
    "tolerance": Certifier.tolerances_pass,
    "audit": Certifier.audit_agrees,
    "same bytes": Certifier.same_bytes,
}


JUDGED = "no judge needed"
"""The proof that stands in for all others where a model would have to grade."""


def certify_task(task: Task) -> Result:
    """Try every proof of a task; a proof that breaks counts as failed, with the error in words.

    A task that only a judge can grade is not proved, and nothing of it is tried: what a model answers is no proof.
    """
    if task.needs_judge:
        names = ", ".join(f"«{criterion.name}»" for criterion in task.criteria)
        message = (
            f"only a judge can tell {names}, and what a model answers proves nothing: put judged() expectations into "
            "tasks outside the suites, played with --judge, or expect records instead"
        )
        return Result(task.id, task.hash, {JUDGED: False}, (message,), 0, 0, len(task.scenario.mistakes))
    proofs: dict[str, bool] = {}
    certifier = Certifier(task)
    for name, proof in PROOFS.items():
        known = len(certifier.failures)
        try:
            proof(certifier)
        except Exception as error:
            certifier.fail(f"proof «{name}» broke: {type(error).__name__}: {error}")
        proofs[name] = len(certifier.failures) == known
    steps = [task.scenario.solution[index] for index in certifier.calls]
    writes = sum(isinstance(step, Call) and task.tools[step.tool].effect == "write" for step in steps)
    return Result(
        task.id, task.hash, proofs, tuple(certifier.failures), len(certifier.calls), writes, len(task.scenario.mistakes)
    )
