"""What rounded numbers can honestly claim: measured, by rounding a certified optimum.

In single precision the kernels are rounded as well; numbers written with a few decimals were computed with all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate.solution import Solution
from ..errors import InputError
from ..problem.instance import Instance
from ..problem.low_rank import LowRank
from .answers import Answer, answer_of
from .case import SHARP, Case
from .families import judged_parts

ALLOWANCE = 10.0  # solvers add roundings of their own to the one measured
MOST_DECIMALS = 8  # more are as good as all
WRITTEN = ("weights", "alpha", "coefficients", "bias", "objective")


def single_precision(case: Case, answer: Answer) -> float | None:
    """The tolerance that an answer in single precision can claim for the parts given; None if it is not one."""
    given = [value for value in (answer.weights, answer.alpha, answer.coefficients) if value is not None]
    if not given or not all(_single(value) for value in given):
        return None
    try:
        off = _best_in_single(case, answer)
    except InputError:  # kernels of low rank, rounded, can be indefinite, or leave weights undefined
        return None
    return ALLOWANCE * max(float(np.finfo(np.float32).eps), off)


def few_decimals(case: Case, answer: Answer) -> tuple[int, float] | None:
    """How many decimals the numbers are written with, and the tolerance that such an answer can claim; None if they are
    written with all of them, or if the optimum has no more."""
    given = {name: getattr(answer, name) for name in WRITTEN if getattr(answer, name) is not None}
    rounded = (d for d in range(1, MOST_DECIMALS + 1) if all(_rounded_to(value, d) for value in given.values()))
    decimals = next(rounded, None) if given else None
    if decimals is None:
        return None
    best = {name: _of(case.reference, name) for name in given}
    if any(value is None for value in best.values()) or all(_rounded_to(v, decimals) for v in best.values()):
        return None
    try:
        parts, _ = judged_parts(case, answer_of({name: np.round(value, decimals) for name, value in best.items()}))
    except InputError:
        return None
    return decimals, ALLOWANCE * max(part.off for part in parts)


def _rounded_to(value: Any, decimals: int) -> bool:
    finite = np.atleast_1d(value)[np.isfinite(np.atleast_1d(value))]
    return bool(finite.size) and np.array_equal(np.round(finite, decimals), finite)


def _of(solution: Solution, name: str) -> Any:
    return solution.all_coefficients if name == "coefficients" else getattr(solution, name)


def _best_in_single(case: Case, answer: Answer) -> float:
    """How far the optimum of the rounded kernels, itself rounded, is off."""
    from ..solvers.solving import solve

    instance, name, solver = _rounded(case.instance), case.formulation.name, case.reference.solver
    found = solve(instance, name, solver=solver, tol=SHARP, **case.parameters)
    record = {
        "weights": found.weights if answer.weights is not None else None,
        "alpha": found.alpha if answer.alpha is not None else None,
        "coefficients": found.all_coefficients if answer.coefficients is not None else None,
        "bias": found.bias if answer.bias is not None else None,
        "objective": found.objective if answer.objective is not None else None,
    }
    rounded = {name: np.float32(value).astype(float) for name, value in record.items() if value is not None}
    parts, _ = judged_parts(case, answer_of(rounded))
    return max(part.off for part in parts)


def _rounded(instance: Instance) -> Instance:
    """The kernels in single precision, or their factors where they are kept so."""
    kernels = instance.kernels
    if isinstance(kernels, LowRank):
        return instance.with_kernels(LowRank([np.float32(kernels.factor(m)) for m in range(len(kernels))]))
    return instance.with_kernels(np.asarray(kernels, dtype=np.float32))


def _single(values: np.ndarray) -> bool:
    """Whether every number is one of single precision, and not only because it is a round one."""
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        return bool(finite.size) and np.array_equal(finite.astype(np.float32).astype(float), finite)
