"""What claims of several papers are measured with: programs in CVXPY, SVMs by LIBSVM, values that should agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

import mklcvx
from claim import Measured

Array = NDArray[np.float64]


def middle(solution: mklcvx.Solution) -> float:
    return (solution.certificate.lower + solution.certificate.upper) / 2


def root(kernel: Any) -> Array:
    """F with FF' = K, as many columns as K has rank."""
    values, vectors = np.linalg.eigh(np.asarray(kernel, dtype=float))
    kept = values > 1e-12 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def solved_to(tolerance: float, objective: Any, constraints: Sequence[Any] = ()) -> float:
    problem = cp.Problem(objective, list(constraints))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "solution may be inaccurate": the comparison judges
        problem.solve(solver="CLARABEL", tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance)
    return float(problem.value)


def svm_to(tolerance: float, kernel: Array, y: Array, price: float) -> tuple[float, Array]:
    """max 1'α − ½ (α∘y)'K(α∘y) over 0 ≤ α ≤ C, y'α = 0, and its α."""
    machine = SVC(kernel="precomputed", C=price, tol=tolerance, cache_size=20).fit(kernel, y)
    alpha = np.zeros(len(y))
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return float(alpha.sum() - (alpha * y) @ kernel @ (alpha * y) / 2), alpha


def against(expected: Callable[[], float], found: Callable[[Any], float], names: tuple[str, str]) -> Callable:
    """The measurement of two values that should agree: their relative distance, and both."""

    def measure(version: Any) -> Measured:
        here, there = found(version), expected()
        return Measured(abs(here - there) / abs(there), {names[0]: here, names[1]: there})

    return measure
