"""What a baseline leaves behind: a classifier, and where the problem behind it is convex, its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...certificate import Certificate, CertifiedPoint
from ...certificate.run import Row
from ...problem.targets import Targets, decided
from ...problem.validation import check_test_stack

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Baseline:
    """f_c(x) = Σ_m Σ_i coefficient_cmi k_m(x_i, x) + b_c for each of k labels; k = 1 for y.

    `coefficients` are (k, M, n), `bias` (k,). `weights` are those of the kernels as the baseline's text defines them,
    (M,), or (k, M) where every label has its own. `multipliers` hold what else the text names; `trace` is that of an
    iterative algorithm.
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
        """f + b at new samples, (t,) for y, else (t, k); test kernels are (M, t, n)."""
        labels, count, samples = self.coefficients.shape
        stack = check_test_stack(test_kernels, count, samples)
        values = np.zeros((stack.shape[1], labels)) + self.bias
        for m, kernel in enumerate(stack):
            if self.coefficients[:, m].any():
                values += np.asarray(kernel, dtype=float) @ self.coefficients[:, m].T
        return values[:, 0] if self.targets.kind == "y" else values

    def predict(self, test_kernels: ArrayLike) -> NDArray[Any]:
        """−1 and +1; or classes, the largest value winning; or labels 0 and 1, (t, k). Zero counts as +1."""
        return decided(self.decision_function(test_kernels), self.targets.kind, self.targets.predicted_classes())


def shortfall(point: CertifiedPoint, tolerance: float) -> str:
    certificate = point.certificate
    if certificate.proves(tolerance):
        return ""
    return f"not certified: relative gap {certificate.relative_gap:.2e}, asked for {tolerance:.0e}"
