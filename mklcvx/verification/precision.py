"""The tolerance that rounded answers can meet, measured by rounding a certified optimum.

In single precision the kernels are rounded as well; numbers written with few decimals were computed with all digits.
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

ALLOWANCE = 10.0  # solvers add rounding errors of their own to the one measured
MOST_DECIMALS = 8  # more are as good as all
WRITTEN = ("weights", "alpha", "coefficients", "bias", "objective")


def single_precision(case: Case, answer: Answer) -> float | None:
    """The tolerance that an answer in single precision can meet with the parts given; None if it is not in single
    precision."""
    from ..solvers.solving import solve

    given = [value for value in (answer.weights, answer.alpha, answer.coefficients) if value is not None]
    if not given or not all(_single(value) for value in given):
        return None
    try:
        rounded, solver = _rounded(case.instance), case.reference.solver
        solution = solve(rounded, case.formulation.name, solver=solver, tol=SHARP, **case.parameters)
        best = {name: np.float32(v).astype(float) for name, v in _parts(solution, answer).items() if v is not None}
        parts, _ = judged_parts(case, answer_of(best))
    except InputError:  # kernels of low rank, rounded, can be indefinite, or leave weights undefined
        return None
    return ALLOWANCE * max(float(np.finfo(np.float32).eps), *(part.off for part in parts))


def few_decimals(case: Case, answer: Answer) -> tuple[int, float] | None:
    """The number of decimals that the answer is written with, and the tolerance that it can meet so; None if it has all
    of them, or if the optimum has no more."""
    best = _parts(case.reference, answer)
    given, ours = [getattr(answer, name) for name in best], list(best.values())
    rounded = (d for d in range(1, MOST_DECIMALS + 1) if all(_rounded_to(value, d) for value in given))
    decimals = next(rounded, None) if given else None
    if decimals is None or any(v is None for v in ours) or all(_rounded_to(v, decimals) for v in ours):
        return None
    if answer.objective is not None and abs(answer.objective - case.reference.objective) > 10.0**-decimals:
        return None  # that is no rounding
    try:
        parts, _ = judged_parts(case, answer_of({name: np.round(value, decimals) for name, value in best.items()}))
    except InputError:
        return None
    return decimals, ALLOWANCE * max(part.off for part in parts)


def _parts(solution: Solution, answer: Answer) -> dict[str, Any]:
    """Those parts of a solution that the answer has."""
    names = [name for name in WRITTEN if getattr(answer, name) is not None]
    return {name: getattr(solution, "all_coefficients" if name == "coefficients" else name) for name in names}


def _rounded_to(value: Any, decimals: int) -> bool:
    finite = np.atleast_1d(value)[np.isfinite(np.atleast_1d(value))]
    return bool(finite.size) and np.array_equal(np.round(finite, decimals), finite)


def _rounded(instance: Instance) -> Instance:
    """The instance with its kernels, or their factors, in single precision."""
    kernels = instance.kernels
    if isinstance(kernels, LowRank):
        return instance.with_kernels(LowRank([np.float32(kernels.factor(m)) for m in range(len(kernels))]))
    return instance.with_kernels(np.asarray(kernels, dtype=np.float32))


def _single(values: np.ndarray) -> bool:
    """Whether every number is one of single precision."""
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        return bool(finite.size) and np.array_equal(finite.astype(np.float32).astype(float), finite)
