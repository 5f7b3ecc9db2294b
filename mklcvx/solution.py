"""The solution: a classifier, the dual point that goes with it, and the certificate they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .certificate import Certificate, CertifiedPoint, certify
from .formulations import Points, SingleTask, Task
from .instance import check_test_stack
from .polish import sharpened
from .preprocess import Preprocessing

Array = NDArray[np.float64]

SCHEMA = "mklcvx.solution/1"

# K_m(α∘y) counts as zero below this share of the largest value that its trace allows.
UNSEEN = 1e-7


@dataclass(frozen=True, eq=False)
class Solution:
    """f(x) = Σ_m Σ_i c_mi k_m(x_i, x) + b with everything needed to check it.

    `coefficients` (M, n) is None where c_m = weight_m (α∘y) says it all; a weight is NaN where it is undefined.
    `objective` is the value of this classifier, the certificate's upper bound. `norms` are the ‖f_m‖.
    """

    formulation: str
    parameters: dict[str, Any]
    solver: str
    status: str
    objective: float
    weights: Array
    alpha: Array
    bias: float
    coefficients: Array | None
    multipliers: dict[str, Any]
    certificate: Certificate
    iterations: int
    seconds: float
    y: Array
    names: tuple[str, ...]
    norms: Array
    bias_interval: tuple[float, float]
    preprocessing: Preprocessing | None = None
    message: str = ""

    @property
    def certified(self) -> bool:
        return self.status == "certified"

    @property
    def all_coefficients(self) -> Array:
        """c_mi, spelled out for every kernel."""
        if self.coefficients is not None:
            return self.coefficients
        return np.outer(self.weights, self.alpha * self.y)

    def decision_function(self, test_kernels: ArrayLike, test_diagonals: ArrayLike | None = None) -> Array:
        """f + b at new samples: test kernels (M, t, n), one row per new sample, scaled as the solution was."""
        stack = check_test_stack(test_kernels, len(self.weights), len(self.alpha))
        if self.preprocessing is not None:
            stack = self.preprocessing.test(stack, test_diagonals)
        values = np.full(stack.shape[1], self.bias)
        for kernel, coefficients in zip(stack, self.all_coefficients, strict=True):
            if coefficients.any():
                values += np.asarray(kernel, dtype=float) @ coefficients
        return values

    def predict(self, test_kernels: ArrayLike, test_diagonals: ArrayLike | None = None) -> NDArray[np.int64]:
        """Labels −1 and +1; a decision value of exactly zero counts as +1."""
        return np.where(self.decision_function(test_kernels, test_diagonals) >= 0, 1, -1)

    def used(self, share: float = 1e-6) -> NDArray[np.intp]:
        """The kernels whose part in Σ‖f_m‖ exceeds `share`."""
        return np.flatnonzero(self.norms > share * max(self.norms.sum(), np.finfo(float).tiny))

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings; undefined weights and infinite ends of an interval are None."""
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            "solver": self.solver,
            "status": self.status,
            "objective": self.objective,
            "weights": plain(self.weights),
            "alpha": plain(self.alpha),
            "bias": self.bias,
            "bias_interval": plain(np.array(self.bias_interval)),
            "coefficients": plain(self.coefficients),
            "multipliers": {name: plain(value) for name, value in self.multipliers.items()},
            "certificate": self.certificate.as_dict(),
            "iterations": self.iterations,
            "seconds": self.seconds,
            "y": [int(label) for label in self.y],
            "names": list(self.names),
            "norms": plain(self.norms),
            "preprocessing": None if self.preprocessing is None else self.preprocessing.to_dict(),
            "message": self.message,
        }


def plain(value: Any) -> Any:
    """Arrays as lists, numbers as Python's own, what is not finite as None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    return float(value) if np.isfinite(value) else None


def assemble(
    formulation: SingleTask, task: Task, point: CertifiedPoint, tolerance: float
) -> tuple[CertifiedPoint, dict[str, Any]]:
    """The fields of a solution that come from its point. The short form, weights and α, is taken where it
    certifies as well; else the coefficients stay."""
    lower, upper = point.lower, point.upper
    roots = np.where(_seen(task, lower.alpha, lower.roots), lower.roots, 0.0)
    weights = formulation.weights(upper.norms, roots, **task.own)
    coefficients: Array | None = upper.coefficients
    short = _short(formulation, task, point, weights) if np.isfinite(weights).all() else None
    if short is not None and short.certificate.proves(max(tolerance, point.certificate.relative_gap)):
        point, lower, upper, coefficients = short, short.lower, short.upper, None
    multipliers = formulation.multipliers(upper.norms, lower.roots, **task.own)
    if upper.risk.rho is not None:
        multipliers["rho"] = upper.risk.rho
    return point, {
        "objective": upper.value,
        "weights": weights,
        "alpha": lower.alpha,
        "bias": upper.risk.bias,
        "bias_interval": upper.risk.bias_interval,
        "coefficients": coefficients,
        "multipliers": multipliers,
        "norms": upper.norms,
    }


def _short(formulation: SingleTask, task: Task, point: CertifiedPoint, weights: Array) -> CertifiedPoint:
    """The better of the classifiers that these weights make with α as it is and with α sharpened."""
    alphas = [point.lower.alpha, task.feasible(sharpened(task, weights, point.lower.alpha, point.upper))]
    points = [certify(formulation, task, Points([a], [np.outer(weights, a * task.y)])) for a in alphas]
    return min(points, key=lambda short: short.certificate.gap)


def _seen(task: Task, alpha: Array, roots: Array) -> NDArray[np.bool_]:
    traces = np.array([float(np.trace(kernel)) for kernel in task.kernels])
    return roots > UNSEEN * np.sqrt(np.maximum(traces, 0.0)) * np.linalg.norm(alpha)
