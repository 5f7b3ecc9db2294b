"""Tests and ranks of the papers' tables, and the rule by which a number of ours agrees with a printed one.

Corrected resampled t-test (Nadeau & Bengio 2003): over r random splits with t test and n training samples the results
of two methods differ by d_1 … d_r; splits overlap, so that the variance of their mean is not s²/r but about
(1/r + t/n) s². t = mean(d) / √((1/r + t/n) s²) with r − 1 degrees of freedom.

Wilcoxon's signed rank test compares two methods over data sets; Friedman's compares all of them by their average ranks,
rank 1 being the best and equal results sharing the mean of their ranks (Demšar 2006).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Array = NDArray[np.float64]
SIGMAS = 3.0


def corrected_t_test(ours: ArrayLike, theirs: ArrayLike, test_share: float) -> float:
    """The two-sided p-value for results on the same splits; `test_share` is test over training samples."""
    d = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if len(d) < 2:
        return math.nan
    variance = (1 / len(d) + test_share) * d.var(ddof=1)
    if variance == 0:
        return 1.0 if d.mean() == 0 else 0.0
    return float(2 * stats.t.sf(abs(d.mean()) / math.sqrt(variance), len(d) - 1))


def wilcoxon(ours: ArrayLike, theirs: ArrayLike) -> float:
    """The two-sided p-value of Wilcoxon's signed rank test over pairs; 1 where nothing differs."""
    d = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if not d.any():
        return 1.0
    return float(stats.wilcoxon(d, zero_method="zsplit", method="auto").pvalue)


def ranks(results: ArrayLike, largest_first: bool = True) -> Array:
    """Ranks along each row of a table (data sets × methods), equal ones sharing their mean."""
    table = np.asarray(results, dtype=float)
    return np.asarray(stats.rankdata(-table if largest_first else table, axis=1))


def average_ranks(results: ArrayLike, largest_first: bool = True) -> Array:
    return ranks(results, largest_first).mean(axis=0)


def friedman(results: ArrayLike) -> float:
    """The p-value that no method differs from the others; NaN for fewer than three methods or two data sets."""
    table = np.asarray(results, dtype=float)
    if table.shape[0] < 2 or table.shape[1] < 3:
        return math.nan
    if (np.ptp(table, axis=1) == 0).all():
        return 1.0
    return float(stats.friedmanchisquare(*table.T).pvalue)


def agrees(mean: float, printed: float, deviation: float) -> bool:
    """Within three of the paper's standard deviations of the paper's number."""
    return abs(mean - printed) <= SIGMAS * deviation


def verdict_of_cell(mean: float, printed: tuple[float, float] | None) -> str:
    """'within' three standard deviations, or 'unexplained', what acceptance must never meet."""
    if printed is None:
        return "not printed"
    return "within" if agrees(mean, *printed) else "unexplained"


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """With n − 1, and 0 for a single value."""
    found = np.asarray(values, dtype=float)
    return float(found.mean()), float(found.std(ddof=1)) if len(found) > 1 else 0.0
