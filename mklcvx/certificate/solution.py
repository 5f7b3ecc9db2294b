"""The solution: a classifier, the dual point that goes with it, and the certificate they make."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..problem.preprocessing import Preprocessing
from ..problem.stack import MOSTLY
from ..problem.targets import classes_of, decided
from ..problem.validation import check_test_stack
from ..schemas import SOLUTION
from .record import Certificate
from .run import Row

Array = NDArray[np.float64]

SCHEMA = SOLUTION[-1]

# Arrays with more entries than this stay out of JSON.
LARGE = 20_000
SUPPORT = 1e-7  # of the largest α: what is below, an interior-point method means as zero


@dataclass(frozen=True, eq=False)
class Solution:
    """f(x) = Σ_m Σ_i c_mi k_m(x_i, x) + b with everything needed to check it.

    `coefficients` (M, n) is None where c_m = weight_m (α∘y) says it all; a weight is NaN where it is undefined.
    `objective` is the value of what is returned: the certificate's upper bound for a minimum, its lower one for a
    maximum. `norms` are the ‖f_m‖. With k labels, `alpha` and `y` are (k, n), `bias` (k,) and `coefficients`
    (k, M, n); `target` says whether they stand for y, classes or labels, `classes` which words the named classes are
    in the data, and `classes_kind` the type they have there, such as "int64", if it is one of numbers. A hypergraph's
    solution has no α: it embeds, by B among the multipliers.

    `status` is "certified" if the relative gap is at most `tolerance`; otherwise `message` says why it is not.
    `alpha_low` (None as a rule) and `bias_low` are what lies below the last bits of α∘y and of the bias: the upper
    bound is that of the sums. Predictions leave them out.
    """

    formulation: str
    parameters: dict[str, Any]
    solver: str
    status: str
    objective: float
    weights: Array
    alpha: Array | None
    bias: Any
    coefficients: Array | None
    multipliers: dict[str, Any]
    certificate: Certificate
    iterations: int
    seconds: float
    y: Array
    names: tuple[str, ...]
    norms: Array | None
    bias_interval: tuple[float, float] | None
    target: str = "y"
    label_names: tuple[str, ...] = ("y",)
    classes: tuple[str, ...] = ()
    alpha_low: Array | None = None
    bias_low: Any = 0.0
    tolerance: float | None = None
    classes_kind: str = ""
    preprocessing: Preprocessing | None = None
    message: str = ""
    notes: tuple[str, ...] = ()
    svm_solves: int = 0
    trace: tuple[Row, ...] = ()

    @property
    def certified(self) -> bool:
        return self.status == "certified"

    @property
    def embeds(self) -> bool:
        """Whether the answer is an embedding instead of a classifier."""
        return self.alpha is None and "B" in self.multipliers

    @property
    def all_coefficients(self) -> Array:
        """c_mi, spelled out for every kernel: (M, n), or (k, M, n) with k labels."""
        if self.coefficients is not None:
            return self.coefficients
        if self.alpha is None:
            raise InputError(f"this solution of {self.formulation} has no classifier: give its kernel to an SVM")
        signed = self.alpha * self.y
        return np.asarray(self.weights[:, None] * signed[..., None, :])

    def decision_function(self, test_kernels: ArrayLike, test_diagonals: ArrayLike | None = None) -> Array:
        """f + b at new samples, (t,), or (t, k) with k labels; for a hypergraph the embedding, (t, dimensions).

        Test kernels are (M, t, n), one row per new sample; they are scaled here as the solution's kernels were.
        """
        stack = check_test_stack(test_kernels, len(self.weights), self.y.shape[-1])
        if self.preprocessing is not None:
            stack = self.preprocessing.test(stack, test_diagonals)
        if self.embeds:
            basis = np.asarray(self.multipliers["B"], dtype=float)
            return sum(w * (np.asarray(k, dtype=float) @ basis) for w, k in zip(self.weights, stack, strict=True) if w)
        coefficients = self.all_coefficients
        values = np.zeros((stack.shape[1], *coefficients.shape[:-2])) + self.bias
        for m, kernel in enumerate(stack):
            if coefficients[..., m, :].any():
                values += self._part(np.asarray(kernel, dtype=float), coefficients[..., m, :], m)
        return values

    def _part(self, kernel: Array, coefficients: Array, m: int) -> Array:
        """Σ_i c_mi k_m(x_i, x). Where β = α∘y sums to zero exactly, a constant in a row plays no part: a large one is
        taken away first, for nothing would be left of the digits behind it."""
        values = np.asarray(kernel @ coefficients.T)
        if self.coefficients is None and self.alpha is not None and (flat := mostly_constant(kernel)).any():
            signed = self.alpha * self.y
            if all(math.fsum(row) == 0 for row in np.atleast_2d(signed)):
                values[flat] = self.weights[m] * ((kernel[flat] - kernel[flat, :1]) @ signed.T)
        return values

    def predict(self, test_kernels: ArrayLike, test_diagonals: ArrayLike | None = None) -> NDArray[Any]:
        """−1 and +1; or classes, the largest value winning; or labels 0 and 1, (t, k). Zero counts as +1.

        Classes are called by their names where they were given some, else they are what they are in the data.
        """
        values = self.decision_function(test_kernels, test_diagonals)
        labels = self.labels_of(values)
        return values if labels is None else labels

    def labels_of(self, values: Array) -> NDArray[Any] | None:
        """The labels that decision values stand for; None for an embedding."""
        return None if self.embeds else decided(values, self.target, self.predicted_classes())

    def predicted_classes(self) -> NDArray[Any]:
        """What predictions call the classes."""
        return classes_of(self.label_names, self.classes, self.classes_kind)

    def used(self, share: float = 1e-6) -> NDArray[np.intp]:
        """The kernels whose part in Σ‖f_m‖, or in Σ weights where there are no norms, exceeds `share`."""
        parts = self.weights if self.norms is None else self.norms
        return np.flatnonzero(parts > share * max(parts.sum(), np.finfo(float).tiny))

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings; undefined weights and infinite ends of an interval are None."""
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            "solver": self.solver,
            "status": self.status,
            "tolerance": self.tolerance,
            "objective": self.objective,
            "weights": plain(self.weights),
            "alpha": plain(self.alpha),
            "alpha_low": plain(self.alpha_low),
            "bias": self.bias.tolist() if isinstance(self.bias, np.ndarray) else self.bias,
            "bias_low": self.bias_low.tolist() if isinstance(self.bias_low, np.ndarray) else self.bias_low,
            "bias_interval": None if self.bias_interval is None else plain(np.array(self.bias_interval)),
            "coefficients": plain(self.coefficients),
            "multipliers": {name: small(value) for name, value in self.multipliers.items()},
            "certificate": self.certificate.as_dict(),
            "iterations": self.iterations,
            "svm_solves": self.svm_solves,
            "seconds": self.seconds,
            "target": self.target,
            "y": self.y.astype(int).tolist(),
            "label_names": list(self.label_names),
            "classes": list(self.classes) if self.target == "classes" else None,
            "classes_kind": self.classes_kind if self.target == "classes" else None,
            "names": list(self.names),
            "norms": plain(self.norms),
            "preprocessing": None if self.preprocessing is None else self.preprocessing.to_dict(),
            "message": self.message,
            "notes": list(self.notes),
        }


def mostly_constant(kernel: Array) -> NDArray[np.bool_]:
    """Rows whose entries differ by little beside their size: each by itself, whatever comes with it."""
    return np.asarray(np.ptp(kernel, axis=1) < MOSTLY * np.abs(kernel).max(axis=1))


def small(value: Any) -> Any:
    """As `plain`, but large arrays are None: JSON is for reading, they are kept by `.npz`."""
    return None if np.size(value) > LARGE else plain(value)


def plain(value: Any) -> Any:
    """Arrays as lists, numbers as Python's own, what is not finite as None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    return float(value) if np.isfinite(value) else None
