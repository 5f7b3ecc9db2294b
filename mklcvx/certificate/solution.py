"""The solution: a classifier, the dual point that goes with it, and the certificate they make."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..formulations._formulation import Parameters
from ..formulations.losses import KNOWN
from ..problem.cross_kernels import CrossKernel, CrossKernels, NewKernels, Product, mostly_constant, of_training
from ..problem.numbers import AnyArray, as_real_array
from ..problem.ownership import ReadOnly
from ..problem.preprocessing import Preprocessing
from ..problem.stack import Array
from ..problem.targets import NONE, classes_of, decided
from ..problem.validation import check_test_stack
from ..schemas import SOLUTION
from .record import Certificate
from .run import Row
from .weight_ranges import weights_interval

SCHEMA = SOLUTION

# Arrays with more entries than this stay out of JSON.
LARGE = 20_000
Plain: TypeAlias = "str | float | list[Plain] | None"
SUPPORT = 1e-7  # share of the largest α: an interior-point method's α below it counts as zero


@dataclass(frozen=True, eq=False)
class Solution(ReadOnly):
    """Decision function f(x) = Σ_m Σ_i c_mi k_m(x_i, x) + b, with everything needed to check it.

    With k labels, `alpha` and `y` are (k, n), `bias` (k,) and `coefficients` (k, M, n). A hypergraph's solution has no
    α: it embeds, by B among the multipliers. Arrays are read-only.

    Parameters
    ----------
    formulation : str
        Name of the formulation.
    parameters : dict
        Its parameters, defaults included.
    solver : str
        Name of the solver that found the point.
    status : {"certified", "not_certified"}
        Whether the relative gap is at most `tolerance`.
    objective : float
        Value of what is returned: the certificate's upper bound for a minimum, its lower one for a maximum.
    weights : ndarray of shape (M,)
        Kernel weights. A weight is NaN where it is undefined.
    alpha : ndarray of shape (n,) or None
        Dual variables.
    bias : float or ndarray
        The b of the decision function.
    coefficients : ndarray of shape (M, n) or None
        The c of the decision function; None where c_m = weight_m (α∘y) says it all.
    multipliers : dict
        Other dual variables of the formulation, by name.
    certificate : Certificate
        Bounds on the optimal value.
    iterations : int
        Iterations of the solver.
    seconds : float
        Time taken.
    y : ndarray of shape (n,)
        Labels −1 and +1, the signs of β = α∘y; all +1 where the target is a response or none, so that α = β.
    names : tuple of str
        Names of the kernels.
    norms : ndarray of shape (M,) or None
        The norms ‖f_m‖.
    bias_interval : tuple of float or None
        Values of b that are as good as this one for f.
    target : {"y", "classes", "labels", "response", "none"}
        Kind of the targets.
    label_names : tuple of str
        Names of the labels or outputs.
    classes : tuple of str
        What the named classes are called in the data.
    alpha_low : ndarray or None
        What lies below the last bits of α∘y. The upper bound includes it, predictions leave it out.
    bias_low : float or ndarray
        What lies below the last bits of the bias.
    tolerance : float or None
        Relative gap that was asked for.
    classes_kind : str
        Type of the classes in the data, such as "int64", if it is one of numbers.
    preprocessing : Preprocessing or None
        Steps that were applied to the kernels.
    message : str
        Why the solution is not certified, if it is not.
    notes : tuple of str
        Remarks.
    svm_solves : int
        Number of support vector machines that were trained on the way.
    trace : tuple of Row
        Bounds and weights of each iteration.
    slopes : ndarray of shape (2, M) or None
        What `weights_interval` is made of: the v of R*(v) at the dual point, from below and above; ½q(α) for single
        tasks.

    Examples
    --------
    >>> import mklcvx
    >>> solution = mklcvx.solve(mklcvx.zoo.by_hand(), "l1")
    >>> solution.weights.shape, solution.certified
    ((2,), True)
    """

    formulation: str
    parameters: Parameters
    solver: str
    status: str
    objective: float
    weights: Array
    alpha: Array | None
    bias: float | Array
    coefficients: Array | None
    multipliers: Mapping[str, float | Array]
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
    bias_low: float | Array = 0.0
    tolerance: float | None = None
    classes_kind: str = ""
    preprocessing: Preprocessing | None = None
    message: str = ""
    notes: tuple[str, ...] = ()
    svm_solves: int = 0
    trace: tuple[Row, ...] = ()
    slopes: Array | None = None

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.parameters.items() if np.ndim(value) == 0)
        found = f"objective={self.objective:.10g}, relative_gap={self.certificate.relative_gap:.1e}"
        return (
            f"Solution({self.formulation!r}{given},\n         solver={self.solver!r}, status={self.status!r}, {found})"
        )

    @property
    def certified(self) -> bool:
        """Whether the relative gap is at most the tolerance."""
        return self.status == "certified"

    @property
    def embeds(self) -> bool:
        """Whether the answer is an embedding instead of a classifier."""
        return self.alpha is None and "B" in self.multipliers

    @property
    def all_coefficients(self) -> Array:
        """Coefficients c_mi of every kernel: (M, n), or (k, M, n) with k labels."""
        if self.coefficients is not None:
            return self.coefficients
        if self.alpha is None:
            raise InputError(f"this solution of {self.formulation} has no classifier: give its kernel to an SVM")
        signed = self.alpha * self.y
        return np.asarray(self.weights[:, None] * signed[..., None, :])

    @property
    def threshold(self) -> float:
        """Value of f from which on a sample is like the training samples: ρ where there are no targets, else 0."""
        return float(self.multipliers.get("rho", 0.0)) if self.target == NONE else 0.0

    def decision_function(self, test_kernels: NewKernels, test_diagonals: ArrayLike | None = None) -> Array:
        """Evaluate f + b at new samples; without targets f − ρ.

        Parameters
        ----------
        test_kernels : array_like of shape (M, t, n)
            Kernels between new and training samples, one row for each new sample. They are preprocessed here as the
            training kernels were.
        test_diagonals : array_like of shape (M, t), optional
            Values k(x, x) of the new samples, where the preprocessing needs them.

        Returns
        -------
        ndarray
            Decision values (t,), or (t, k) with k labels; for a hypergraph the embedding (t, dimensions).
        """
        kernels = cross_kernels(test_kernels, len(self.weights), self.y.shape[-1])
        if self.preprocessing is not None:
            kernels = self.preprocessing.cross(kernels, test_diagonals)
        return decision_values([self], kernels)[0]

    @property
    def _used(self) -> NDArray[np.bool_]:
        """Which kernels the decision function needs."""
        if self.embeds:
            return np.asarray(self.weights != 0)
        return np.asarray(self.all_coefficients.any(axis=-1).reshape(-1, len(self.weights)).any(axis=0))

    def _constant(self, rows: int) -> Array:
        """The decision values of so many samples without any kernel."""
        if self.embeds:
            return np.zeros((rows, np.shape(self.multipliers["B"])[1]))
        return np.zeros((rows, *self.all_coefficients.shape[:-2])) + self.bias - self.threshold

    def _part(self, kernel: CrossKernel, m: int) -> Array:
        """Σ_i c_mi k_m(x_i, x). Where β = α∘y sums to zero exactly, a constant in a row plays no part: a large one is
        subtracted first, since it would leave no digits for the rest. Coefficients have one order: what a file
        brings back predicts the same to the last bit."""
        if self.embeds:
            return np.asarray(self.weights[m] * (kernel @ np.asarray(self.multipliers["B"], dtype=float)))
        if self.coefficients is not None or self.alpha is None:
            return np.asarray(kernel @ np.ascontiguousarray(self.all_coefficients[..., m, :]).T)
        signed = np.ascontiguousarray(self.alpha * self.y)
        coefficients = (self.weights[m] * signed).T
        if isinstance(kernel, Product):
            return (kernel.without_constants() if _balanced(signed) else kernel) @ coefficients
        values = np.asarray(kernel @ coefficients)
        if (flat := mostly_constant(kernel)).any() and _balanced(signed):
            values[flat] = self.weights[m] * ((kernel[flat] - kernel[flat, :1]) @ signed.T)
        return values

    def predict(self, test_kernels: ArrayLike, test_diagonals: ArrayLike | None = None) -> AnyArray:
        """Predict labels of new samples.

        Parameters
        ----------
        test_kernels : array_like of shape (M, t, n)
            Kernels between new and training samples.
        test_diagonals : array_like of shape (M, t), optional
            Values k(x, x) of the new samples.

        Returns
        -------
        ndarray
            Labels −1 and +1; or classes, the largest value winning; or labels 0 and 1, (t, k). Zero counts as +1. For
            a response, the decision values; for counts of loss poisson their exponentials, the means.
        """
        values = self.decision_function(test_kernels, test_diagonals)
        labels = self.labels_of(values)
        return values if labels is None else labels

    def labels_of(self, values: Array) -> AnyArray | None:
        """Convert decision values to labels.

        Parameters
        ----------
        values : ndarray
            Decision values.

        Returns
        -------
        ndarray or None
            Labels, as `predict` returns them; None for an embedding.
        """
        if self.embeds:
            return None
        values = as_real_array(values, "values", "decision values").astype(float, copy=False)
        try:
            found = decided(values, self.target, self.predicted_classes())
        except (ValueError, IndexError, TypeError):
            raise InputError(f"values have shape {values.shape}: give what decision_function returns") from None
        loss = KNOWN.get(self.parameters.get("loss", ""))
        return found if loss is None else loss.mean(found)

    def predicted_classes(self) -> AnyArray:
        """List what predictions call the classes.

        Returns
        -------
        ndarray
            One entry for each class.
        """
        return classes_of(self.label_names, self.classes, self.classes_kind)

    def used(self, share: float = 1e-6) -> NDArray[np.intp]:
        """List the kernels that take part.

        Parameters
        ----------
        share : float, default=1e-6
            Least part in Σ‖f_m‖, or in Σ weights where there are no norms.

        Returns
        -------
        ndarray of int
            Indices of kernels.
        """
        parts = self.weights if self.norms is None else self.norms
        return np.flatnonzero(parts > share * max(parts.sum(), np.finfo(float).tiny))

    def weights_interval(self, tolerance: float | None = None) -> Array | None:
        """Bound every weight in all answers that are good enough.

        Every answer whose value is at most this solution's lower bound plus an ε has its weights in these intervals,
        whatever its functions are. This is proved, rounding included; an interval may be wider than it need be.

        Parameters
        ----------
        tolerance : float, optional
            The ε, relative to the scale of the certificate. By default, and at least, it is the certificate's gap: all
            answers as good as this one, and all optima.

        Returns
        -------
        ndarray of shape (M, 2) or None
            Least and largest weight of every kernel, which may be infinite. None where nothing is known: `li`, `ckl`
            and `vskl`, whose weights are no variables of their own, `alignment`, `hypergraph_smooth`, and solutions
            from files that lack `slopes`.

        Examples
        --------
        >>> import mklcvx
        >>> solution = mklcvx.solve(mklcvx.zoo.random(12, 3), "sm2")
        >>> low, high = solution.weights_interval().T
        >>> bool(((low <= solution.weights) & (solution.weights <= high)).all())
        True
        """
        return weights_interval(
            self.formulation, self.parameters, self.weights, self.slopes, self.certificate, tolerance
        )

    def as_dict(self) -> dict[str, object]:
        """Convert the solution to plain lists, numbers and strings.

        Returns
        -------
        dict
            Fields by name. Undefined weights, infinite ends of an interval and an infinite objective are None.
        """
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            "solver": self.solver,
            "status": self.status,
            "tolerance": self.tolerance,
            "objective": plain(self.objective),
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
            "slopes": plain(self.slopes),
            "weights_interval": plain(self.weights_interval()),
        }


def cross_kernels(given: NewKernels, count: int, samples: int) -> CrossKernels:
    """Test kernels (M, t, n), checked, as kernels that are asked for one at a time."""
    return given if isinstance(given, CrossKernels) else CrossKernels.of_stack(check_test_stack(given, count, samples))


def decision_values(
    solutions: Sequence[Solution], kernels: CrossKernels, members: Sequence[NDArray[np.intp]] | None = None
) -> list[Array]:
    """f + b of every solution; `members` are the training samples of each, all of them if it is None. Every kernel is
    made once, and one that no solution uses is not made at all."""
    _, rows, width = kernels.shape
    values = [solution._constant(rows) for solution in solutions]
    own = [None] * len(values) if members is None else [None if len(part) == width else part for part in members]
    used = np.stack([solution._used for solution in solutions])
    for m, kernel in kernels.each(np.asarray(used.any(axis=0))):
        for i in map(int, np.flatnonzero(used[:, m])):
            values[i] += solutions[i]._part(of_training(kernel, own[i]), m)
    return values


def _balanced(signed: Array) -> bool:
    """Whether β sums to zero exactly, that of every output."""
    return all(math.fsum(row) == 0 for row in np.atleast_2d(signed))


def small(value: float | Array) -> Plain:
    """As `plain`, but large arrays become None: JSON is for reading, and `.npz` keeps them."""
    return None if np.size(value) > LARGE else plain(value)


def plain(value: AnyArray | float | str | None) -> Plain:
    """Convert arrays to lists and numbers to Python's own; what is not finite becomes None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    return float(value) if np.isfinite(value) else None
