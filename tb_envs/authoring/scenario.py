"""A task as its author writes it: a family is a function of a seeded world that returns a `Scenario`.

`Scenario` holds everything one task is made of besides the rows its world placed. It refuses nothing here; the
certificate (`tb_envs.certify`) is what proves a scenario right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tb_envs.authoring.steps import Step
from tb_envs.errors import DomainError

if TYPE_CHECKING:
    from tb_envs.authoring.persona import Persona
    from tb_envs.grading.expectations import Expectation

FamilySplit = Literal["train", "bench"]
MistakeKind = Literal["policy", "omission"]


@dataclass(frozen=True)
class Mistake:
    """A wrong way to end the task.

    Attributes:
        does: the whole script of steps, from the first word to the last record.
        fails: exactly the checks that must fail; all others must pass.
        kind: ``policy`` if the audit must find a violation, ``omission`` if only a record is missing or wrong.
    """

    does: Sequence[Step]
    fails: frozenset[str]
    kind: MistakeKind = "policy"


def mistake(does: Sequence[Step], fails: str | Sequence[str], kind: MistakeKind = "policy") -> Mistake:
    """A mistake that fails exactly the named checks."""
    return Mistake(tuple(does), frozenset([fails] if isinstance(fails, str) else fails), kind)


@dataclass(frozen=True)
class ToolFault:
    """A failure that belongs to the task (trap 14): the `nth` call of `tool` answers `says` instead of its result.

    Attributes:
        applied: whether the change was made before the tool failed.
    """

    tool: str
    applied: bool
    nth: int = 1
    says: str = "The request timed out before the system answered. It is not known whether it was carried out."


@dataclass(frozen=True)
class Scenario:
    """One task: a customer, the right end, the way there, and the wrong ways.

    Attributes:
        customer: the persona the simulated user plays.
        solution: the reference script; its calls are each needed.
        expects: named expectations over the final database and the log.
        obeys: what a servile agent would do at once, without looking at the policy.
        mistakes: name → wrong script and the checks it fails.
        about: ids of the customers the task is about (narrative rows about them are welcome).
        traps: names of the traps this very task carries; empty means the family's.
        cell: the outcome cell, e.g. ``denied``; reported apart.
        tool_faults: failures that belong to the task.
    """

    customer: Persona
    solution: Sequence[Step]
    expects: Sequence[Expectation]
    obeys: Sequence[Step]
    mistakes: Mapping[str, Mistake]
    about: Sequence[str]
    cell: str = ""
    traps: Sequence[str] = ()
    tool_faults: Sequence[ToolFault] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What `tbx show` prints besides: hidden facts a reader of the task should know."""


@dataclass(frozen=True)
class Family:
    """A parametric scenario: any index gives a task."""

    name: str
    goal: str
    traps: frozenset[str]
    split: FamilySplit
    build: Callable[[Any], Scenario]
    doc: str


TRAPS: tuple[str, ...] = (
    "approval", "identity", "window", "tiering", "arithmetic", "wrong_premise", "pressure", "change_of_mind",
    "compound", "lookalike", "stale_state", "order", "partial", "tool_failure", "superseded", "injection",
    "restraint", "completion",
)  # fmt: skip
"""The eighteen traps, in the order of the domain guide."""


def family(
    *, goal: str, traps: set[str], split: FamilySplit = "train"
) -> Callable[[Callable[[Any], Scenario]], Family]:
    """Turn a function of a world into a family; its name is the function's, its story the docstring."""
    unknown = traps - set(TRAPS)
    if unknown:
        raise DomainError(f"unknown traps {sorted(unknown)}; valid: {', '.join(TRAPS)}")

    def wrap(build: Callable[[Any], Scenario]) -> Family:
        if not build.__doc__:
            raise DomainError(f"family {build.__name__}: say its story, trap and right end in a docstring")
        return Family(build.__name__, goal, frozenset(traps), split, build, " ".join(build.__doc__.split()))

    return wrap
