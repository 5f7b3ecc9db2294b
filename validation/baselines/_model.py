"""The result of a baseline: a classifier, and a certificate if its problem is convex."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklcvx.certificate import Certificate, CertifiedPoint
from mklcvx.certificate.run import Row
from mklcvx.errors import InputError
from mklcvx.formulations._cvxpy import cp
from mklcvx.formulations._formulation import Parameter
from mklcvx.formulations.families.single_task import C as PRICE
from mklcvx.problem.instance import Instance
from mklcvx.problem.numbers import check_tolerance
from mklcvx.problem.stack import Array
from mklcvx.problem.targets import Targets, decided
from mklcvx.problem.validation import check_test_stack
from mklcvx.solvers.conic import solve_declared

__all__ = [  # what the files of baselines are written in
    "PRICE", "Array", "Baseline", "InputError", "Instance", "Parameter", "Program", "check_tolerance", "cp",
    "shortfall", "solve_declared",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Baseline:
    """f_c(x) = Σ_m Σ_i coefficient_cmi k_m(x_i, x) + b_c for each of k labels; k = 1 for y.

    `coefficients` are (k, M, n), `bias` (k,). `weights` are the kernels' weights as the baseline defines them, (M,).
    `multipliers` hold the other variables that its text names; `trace` is the trace
    of an iterative algorithm.
    """

    name: str
    targets: Targets
    kernels: tuple[str, ...]
    parameters: dict[str, Any]
    coefficients: Array
    bias: Array
    weights: Array
    certificate: Certificate | None = None
    multipliers: dict[str, Any] = field(default_factory=dict)
    trace: tuple[Row, ...] = ()
    message: str = ""

    def decision_function(self, test_kernels: ArrayLike) -> Array:
        """f + b at new samples, (t,) for y, else (t, k), from test kernels (M, t, n)."""
        labels, count, samples = self.coefficients.shape
        stack = check_test_stack(test_kernels, count, samples)
        values = np.zeros((stack.shape[1], labels)) + self.bias
        for m, kernel in enumerate(stack):
            if self.coefficients[:, m].any():
                values += np.asarray(kernel, dtype=float) @ self.coefficients[:, m].T
        return values[:, 0] if self.targets.kind == "y" else values

    def predict(self, test_kernels: ArrayLike) -> NDArray[Any]:
        """−1 and +1; or the class with the largest value; or labels 0 and 1, (t, k). Zero counts as +1."""
        return decided(self.decision_function(test_kernels), self.targets.kind, self.targets.predicted_classes())


def shortfall(point: CertifiedPoint, tolerance: float) -> str:
    certificate = point.certificate
    if certificate.proves(tolerance):
        return ""
    return f"not certified: relative gap {certificate.relative_gap:.2e}, asked for {tolerance:.0e}"


@dataclass(frozen=True)
class Program:
    """A declared program, its variables, and the constraints whose multipliers are a point of the other problem."""

    problem: Any
    variables: list[Any]
    paired: list[Any] = field(default_factory=list)
