"""The solution: a classifier, the dual point that goes with it, and the certificate they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import formulations
from ..errors import InputError
from ..formulations._formulation import Parameters
from ..formulations.losses import KNOWN
from ..problem.cross_kernels import CrossKernels, NewKernels
from ..problem.numbers import AnyArray, as_real_array
from ..problem.ownership import ReadOnly
from ..problem.preprocessing import Preprocessing
from ..problem.stack import Array
from ..problem.targets import NONE, classes_of, decided
from ..problem.validation import check_test_stack
from ..schemas import SOLUTION
from .decision import CertifiedFunction, Members, errors, evaluated
from .record import Certificate
from .rounding import U
from .run import Row
from .weight_ranges import weights_interval

SCHEMA = SOLUTION

# Arrays with more entries than this stay out of JSON.
LARGE = 20_000
Plain: TypeAlias = "str | float | list[Plain] | None"
SUPPORT = 1e-7  # share of the largest α: an interior-point method's α below it counts as zero


@dataclass(frozen=True, eq=False)
class Solution(ReadOnly):
    """Decision function f(x) = t(Σ_m Σ_i c_mi k_m(x_i, x) + b), with everything needed to check it.

    t is the stretch of the certificate, 1 as a rule. Predictions evaluate the function that is certified, the low parts
    of α∘y and b included (`mklcvx/certificate/decision.py` states it); `decision_error` says how accurately.

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
        The c of the decision function; None where c_m = weight_m (α∘y), and its low part, say it all.
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
        What lies below the last bits of α∘y: the certified function has both.
    bias_low : float or ndarray
        What lies below the last bits of the bias: the certified function has both.
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
        outcome = f"solver={self.solver!r}, status={self.status!r}, objective={self.objective:.10g}"
        gap = f"relative_gap={self.certificate.relative_gap:.1e}"
        return f"Solution({self.formulation!r}{given},\n         {outcome}, {gap})"

    @property
    def certified(self) -> bool:
        """Whether the relative gap is at most the tolerance."""
        return self.status == "certified"

    @property
    def embeds(self) -> bool:
        """Whether the answer is an embedding instead of a classifier."""
        return self.alpha is None and "B" in self.multipliers

    @property
    def function(self) -> CertifiedFunction:
        """The certified function."""
        if self.alpha is None:
            raise InputError(f"this solution of {self.formulation} has no classifier: give its kernel to an SVM")
        stretch = self.multipliers.get("second_stage_stretch", self.certificate.stretch)
        bias, bias_low, t = (np.atleast_1d(np.array(part)) for part in (self.bias, self.bias_low, stretch))
        low = None if self.alpha_low is None else np.atleast_2d(self.alpha_low)
        own = None if self.coefficients is None else self.coefficients.reshape(-1, *self.coefficients.shape[-2:])
        function = CertifiedFunction(self.weights, np.atleast_2d(self.alpha * self.y), low, own, bias, bias_low, t)
        return function if self._lifts is None else function.lifted(self._lifts)

    @property
    def _lifts(self) -> Array | None:
        """The δ that the kernels of the theorem have on their diagonals, where it is about these."""
        ridges = self.certificate.ridges
        if ridges is None or getattr(formulations.get(self.formulation), "between", None) is None:
            return None
        return np.array(ridges)

    @property
    def all_coefficients(self) -> Array:
        """Coefficients t·c_mi of the certified function as doubles: (M, n), or (k, M, n) with k labels."""
        function = self.function
        coefficients = np.stack([function.coefficients_of(m) for m in range(len(self.weights))], axis=1)
        stretched = function.stretch[:, None, None] * coefficients
        return np.asarray(stretched if self.alpha is None or self.alpha.ndim > 1 else stretched[0])

    @property
    def offset(self) -> float | Array:
        """The constant t(b + b̃) of the certified function as a double, that of every output."""
        function = self.function
        offsets = np.asarray(function.values((function.bias, function.bias_low)))
        return offsets if np.ndim(self.bias) else float(offsets[0])

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
        return decision_values([self], self._crossed(test_kernels, test_diagonals))[0]

    def decision_error(self, test_kernels: NewKernels, test_diagonals: ArrayLike | None = None) -> Array:
        """Bound how far decision values, as they are evaluated, may be from those of the certified function.

        Kernels are taken as they are after preprocessing. For `li`, `ckl` and `vskl` the bound includes what the δ
        of the certificate add where a new sample is one of the training samples.

        Parameters
        ----------
        test_kernels : array_like of shape (M, t, n)
            Kernels between new and training samples.
        test_diagonals : array_like of shape (M, t), optional
            Values k(x, x) of the new samples, where the preprocessing needs them.

        Returns
        -------
        ndarray
            A bound for every decision value, (t,), or (t, k) with k labels.

        Examples
        --------
        >>> import mklcvx
        >>> instance = mklcvx.zoo.random(12, 3)
        >>> solution = mklcvx.solve(instance, "l1")
        >>> bool((solution.decision_error(instance.kernels) < 1e-13).all())
        True
        """
        return decision_errors([self], self._crossed(test_kernels, test_diagonals))[0]

    def _crossed(self, test_kernels: NewKernels, test_diagonals: ArrayLike | None) -> CrossKernels:
        """Test kernels, checked and preprocessed."""
        kernels = cross_kernels(test_kernels, len(self.weights), self.y.shape[-1])
        return kernels if self.preprocessing is None else self.preprocessing.cross(kernels, test_diagonals)

    def _embedded(self, kernels: CrossKernels) -> Array:
        """The embedding of new samples."""
        basis = np.asarray(self.multipliers["B"], dtype=float)
        embedding = np.zeros((kernels.shape[1], basis.shape[1]))
        for m, kernel in kernels.each(np.asarray(self.weights != 0)):
            embedding += self.weights[m] * (kernel @ basis)
        return embedding

    def _shaped(self, values: Array) -> Array:
        """Values of all outputs, (t, k), as this solution shows them."""
        return values if np.ndim(self.bias) else values[:, 0]

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
            labels = decided(values, self.target, self.predicted_classes())
        except (ValueError, IndexError, TypeError):
            raise InputError(f"values have shape {values.shape}: give what decision_function returns") from None
        loss = KNOWN.get(self.parameters.get("loss", ""))
        return labels if loss is None else loss.mean(labels)

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


def decision_values(solutions: Sequence[Solution], kernels: CrossKernels, members: Members = None) -> list[Array]:
    """f + b of every solution, without targets f − ρ; `members` are the training samples of each, all of them if it is
    None."""
    if any(solution.embeds for solution in solutions):
        return [solution._embedded(kernels) for solution in solutions]
    totals = evaluated([solution.function for solution in solutions], kernels, members)
    return [solution._shaped(values) - solution.threshold for solution, values in zip(solutions, totals, strict=True)]


def decision_errors(solutions: Sequence[Solution], kernels: CrossKernels, members: Members = None) -> list[Array]:
    """How far these values may be from those of the certified functions."""
    lost = errors([solution.function for solution in solutions], kernels, members)
    return [solution._shaped(off) + U * abs(solution.threshold) for solution, off in zip(solutions, lost, strict=True)]


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
