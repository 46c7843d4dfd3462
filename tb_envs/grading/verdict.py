"""The verdict of one episode, as data a person can read: each check, what was expected, what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

GRADER = "1"
"""Version of the grader; every record of an attempt names it."""

NOTHING_ELSE = "nothing_else"
"""Name of the check that no guarded row changed besides the expected ones."""


class Check(NamedTuple):
    """One named check. A *guard* had to stay true, an *earned* check had to become true."""

    name: str
    kind: Literal["guard", "earned"]
    passed: bool
    expected: str
    found: str


@dataclass(frozen=True)
class Verdict:
    """All checks of one episode."""

    checks: tuple[Check, ...]
    grader: str = GRADER

    @property
    def success(self) -> bool:
        """Every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def passed(self) -> dict[str, bool]:
        """Check name → whether it passed."""
        return {check.name: check.passed for check in self.checks}

    @property
    def failed(self) -> frozenset[str]:
        """Names of the failed checks."""
        return frozenset(check.name for check in self.checks if not check.passed)

    def reward(self, kind: str) -> float:
        """``sparse``: 1 or 0. ``dense``: share of earned checks minus share of broken guards, at least 0.

        An agent that changes nothing earns nothing, so ``dense`` is 0 for it too.
        """
        if kind == "sparse":
            return 1.0 if self.success else 0.0
        earned = [check.passed for check in self.checks if check.kind == "earned"]
        guards = [check.passed for check in self.checks if check.kind == "guard"]
        share = sum(earned) / len(earned) if earned else 0.0
        broken = guards.count(False) / len(guards) if guards else 0.0
        return max(0.0, share - broken)

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "success": self.success,
            "grader": self.grader,
            "checks": [check._asdict() for check in self.checks],
        }
