"""Unbiased success metrics: pass@k and pass^k.

A task is attempted ``n`` times and ``c`` of the attempts succeed. Of the ``k``-subsets of those attempts,

* pass@k is the share with at least one success: what an agent *can* do, given ``k`` tries;
* pass^k is the share with nothing but successes: what an agent can be *relied on* to do, ``k`` times in a row.

Both are unbiased for ``n`` independent attempts, need ``n >= k``, and are the observed rate ``c / n`` at ``k = 1``. The
plug-in estimates ``1 - (1 - c/n)**k`` and ``(c/n)**k`` are biased, the first low and the second high. A benchmark's
figure is the mean over its tasks. Attempts that ended in a system error are no attempts: they count in neither
``n`` nor ``c``.

The counts are combined as integers and rounded once, so the value is exact to the last bit of a float for any ``n``.
"""

import operator
from fractions import Fraction
from math import comb
from typing import SupportsIndex


def pass_at_k(n: SupportsIndex, c: SupportsIndex, k: SupportsIndex) -> float:
    """Probability that at least one of ``k`` attempts at a task succeeds: ``1 - C(n-c, k) / C(n, k)``.

    Chen et al. 2021, "Evaluating Large Language Models Trained on Code", arXiv 2107.03374, equation 1.

    Args:
        n: attempts made, at least ``k``.
        c: attempts that succeeded, 0 to ``n``.
        k: attempts allowed, at least 1.

    Returns:
        A probability, 0 to 1.

    Raises:
        ValueError: a count is no integer or out of its range.
    """
    n, c, k = _counts(n, c, k)
    return float(1 - Fraction(comb(n - c, k), comb(n, k)))


def pass_hat_k(n: SupportsIndex, c: SupportsIndex, k: SupportsIndex) -> float:
    """Probability that all of ``k`` attempts at a task succeed, written pass^k: ``C(c, k) / C(n, k)``.

    Yao et al. 2024, "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains", arXiv 2406.12045.

    Args:
        n: attempts made, at least ``k``.
        c: attempts that succeeded, 0 to ``n``.
        k: attempts that all have to succeed, at least 1.

    Returns:
        A probability, 0 to 1.

    Raises:
        ValueError: a count is no integer or out of its range.
    """
    n, c, k = _counts(n, c, k)
    return float(Fraction(comb(c, k), comb(n, k)))


def _counts(n: SupportsIndex, c: SupportsIndex, k: SupportsIndex) -> tuple[int, int, int]:
    attempts, successes, subset = _count("n", n), _count("c", c), _count("k", k)
    if successes > attempts:
        raise ValueError(f"c={successes} successes are more than n={attempts} attempts")
    if subset < 1:
        raise ValueError("k=0: at least one attempt has to be looked at")
    if subset > attempts:
        raise ValueError(f"k={subset} needs at least {subset} attempts, and there are n={attempts}")
    return attempts, successes, subset


def _count(name: str, value: SupportsIndex) -> int:
    if isinstance(value, bool):
        raise ValueError(f"{name}={value!r} is no count: an integer is needed")
    try:
        count = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r} is no count: an integer is needed") from None
    if count < 0:
        raise ValueError(f"{name}={count} is negative")
    return count
