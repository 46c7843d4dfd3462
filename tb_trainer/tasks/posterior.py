"""What is believed of the chance p that a policy solves a task: a Beta distribution, and what is read off it.

With s solved and f failed attempts and Jeffreys' prior Beta(1/2, 1/2), p is Beta(1/2 + s, 1/2 + f) (Brown, Cai &
DasGupta 2001, "Interval Estimation for a Binomial Proportion"). Counts may be fractions: rewards between 0 and 1, and
attempts that fade with time. Refuses negative counts. Needs nothing but the standard library.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PRIOR = 0.5


@dataclass(frozen=True)
class Beta:
    """Beta(a, b), both above 0."""

    a: float
    b: float

    def __post_init__(self) -> None:
        if not (self.a > 0 and self.b > 0):
            raise ValueError(f"Beta({self.a}, {self.b}): both parameters must be above 0")

    @property
    def mean(self) -> float:
        """E[p]."""
        return self.a / (self.a + self.b)

    @property
    def expected_variance(self) -> float:
        """E[p(1 - p)] = ab / ((a + b)(a + b + 1)): how much one more attempt is expected to vary, at most 1/4.

        It is the variance of a group's rewards that is to be expected, so what a group is expected to teach.
        """
        total = self.a + self.b
        return self.a * self.b / (total * (total + 1))

    def below(self, x: float) -> float:
        """P(p <= x), the regularised incomplete beta function.

        By its continued fraction (DLMF 8.17.22), on the side where that converges fast, with Lentz's method.
        """
        if x <= 0 or x >= 1:
            return float(x >= 1)
        a, b = self.a, self.b
        mirrored = x > (a + 1) / (a + b + 2)  # decided once: rounded, both sides of it may seem to be the wrong one
        if mirrored:
            a, b, x = b, a, 1 - x
        front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        found = math.exp(front) / a * _fraction(a, b, x)
        return 1.0 - found if mirrored else found

    def quantile(self, share: float) -> float:
        """The x with P(p <= x) = share, by bisection."""
        low, high = 0.0, 1.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if self.below(middle) < share else (low, middle)
        return (low + high) / 2

    def interval(self, level: float) -> tuple[float, float]:
        """The central interval that holds p with probability `level`."""
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} is not between 0 and 1")
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


def jeffreys(solved: float, failed: float) -> Beta:
    """The posterior after so many solved and failed attempts."""
    if solved < 0 or failed < 0:
        raise ValueError(f"{solved} solved and {failed} failed attempts: counts are not negative")
    return Beta(PRIOR + solved, PRIOR + failed)


def _fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
