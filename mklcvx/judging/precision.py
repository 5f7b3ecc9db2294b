"""What single precision can honestly claim: measured, by rounding a certified optimum of the rounded kernels."""

from __future__ import annotations

import numpy as np

from ..answers import Answer, answer_of
from ..errors import InputError
from .case import SHARP, Case
from .families import judged_parts

ALLOWANCE = 10.0  # solvers in single precision add roundings of their own to the one measured


def single_precision(case: Case, answer: Answer) -> float | None:
    """The tolerance that an answer in single precision can claim for the parts given; None if it is not one."""
    given = [value for value in (answer.weights, answer.alpha, answer.coefficients) if value is not None]
    if not given or not all(_single(value) for value in given):
        return None
    from ..solving import solve

    try:
        coarse = case.instance.with_kernels(np.asarray(case.instance.kernels, dtype=np.float32))
        found = solve(coarse, case.formulation.name, solver=case.reference.solver, tol=SHARP, **case.parameters)
    except InputError:
        return None
    record = {
        "weights": found.weights if answer.weights is not None else None,
        "alpha": found.alpha if answer.alpha is not None else None,
        "coefficients": found.all_coefficients if answer.coefficients is not None else None,
        "bias": found.bias if answer.bias is not None else None,
        "objective": found.objective if answer.objective is not None else None,
    }
    rounded = {name: np.float32(value).astype(float) for name, value in record.items() if value is not None}
    parts, _ = judged_parts(case, answer_of(rounded))
    return ALLOWANCE * max([float(np.finfo(np.float32).eps), *(part.off for part in parts)])


def _single(values: np.ndarray) -> bool:
    """Whether every number is one of single precision, and not only because it is a round one."""
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        return bool(finite.size) and np.array_equal(finite.astype(np.float32).astype(float), finite)
