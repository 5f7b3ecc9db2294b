"""`MKLClassifier`: every formulation of a single task, for two classes or for many.

With two classes one machine is fitted, whose positive class is `classes_[1]`. With k classes, "ovr" fits k machines,
each class against the rest, each with kernel weights of its own, and the largest decision value wins; "ovo" fits one
for every pair of classes on the samples of these two, and the votes decide, ties by the sum of the decision values.
A sample's price is C × sample weight × class weight; in the ν-form 1/(ν Σw) × the same. Weight 2 is a sample met twice.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ..certificate.solution import Solution
from ..errors import InputError, nearest
from ..problem.instance import Instance
from .base import Array, KernelEstimator, traces_of
from .calibration import calibrated, probabilities
from .saving import ModelParts
from .targets import classes_of, sample_prices, winners

MULTI_CLASS = ("ovr", "ovo")


class Machine(NamedTuple):
    """A class, by its index, against another, or against all others where `negative` is None."""

    positive: int
    negative: int | None

    def members(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        if self.negative is None:
            return np.arange(len(codes))
        return np.flatnonzero((codes == self.positive) | (codes == self.negative))


def machines_for(classes: int, multi_class: str) -> list[Machine]:
    if classes == 2:
        return [Machine(1, 0)]
    if multi_class == "ovr":
        return [Machine(k, None) for k in range(classes)]
    return [Machine(second, first) for first, second in combinations(range(classes), 2)]


class MKLClassifier(ClassifierMixin, KernelEstimator):
    """A classifier that learns its combination of kernels, with a certificate of optimality.

    Parameters
    ----------
    formulation : any single-task formulation, see `mklcvx list`.
    kernels : "precomputed" for stacks (n, n, M), samples first; else a bank, see `mklcvx.estimators.bank`.
    C, nu, theta, p, l1_ratio, s, bias : the formulation's parameters; None is its default. C is 1 unless nu is given.
    groups : one number for every kernel, for `ckl` and `vskl`.
    multi_class : "ovr" or "ovo", for more than two classes.
    centre, normalise : steps on the kernels before solving, fitted on the training samples; normalise is "trace",
        "cosine" or "variance".
    repair : "clip" or "shift" mends indefinite training kernels, which are refused otherwise.
    class_weight : None, "balanced" or a dict of class and weight.
    probability : whether to calibrate `predict_proba`, by Platt's sigmoids on the decision values of
        `calibration_folds` folds.
    solver, tol, max_iter, time_limit, solver_options : as in `mklcvx.solve`.
    n_jobs : how many machines are solved at once.
    """

    families = ("single task",)
    own_parameters = ("C", "nu", "theta", "p", "l1_ratio", "s", "bias")

    def __init__(
        self, formulation: str = "l1", kernels: Any = "gaussians", *, C: float | None = None, nu: float | None = None,
        theta: float | None = None, p: float | None = None, l1_ratio: float | None = None, s: float | None = None,
        bias: bool | None = None, groups: Any = None, multi_class: str = "ovr", centre: bool = False,
        normalise: str | None = None, repair: str | None = None, class_weight: Any = None, probability: bool = False,
        calibration_folds: int = 5, solver: str = "auto", tol: float | None = None, max_iter: int | None = None,
        time_limit: float | None = None, solver_options: dict[str, Any] | None = None, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.formulation = formulation
        self.kernels = kernels
        self.C = C
        self.nu = nu
        self.theta = theta
        self.p = p
        self.l1_ratio = l1_ratio
        self.s = s
        self.bias = bias
        self.groups = groups
        self.multi_class = multi_class
        self.centre = centre
        self.normalise = normalise
        self.repair = repair
        self.class_weight = class_weight
        self.probability = probability
        self.calibration_folds = calibration_folds
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------------------------------------- fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn kernel weights and classifiers from features (n, d) or kernels (n, n, M)."""
        self.__dict__.pop("calibration_", None)
        X, y, weight = self._checked(X, y, sample_weight)
        kernels, codes, price = self._prepared(X, y, weight)
        self._machines = machines_for(len(self.classes_), self.multi_class)
        self._members = [machine.members(codes) for machine in self._machines]
        if self._machines[0].negative is not None and len(self._machines) > 1:
            kernels = np.asarray(self._instance(kernels, classes=codes).kernels)  # refuses and repairs the whole stack
        tasks = zip(self._machines, self._members, strict=True)
        solutions = Parallel(n_jobs=self.n_jobs)(
            delayed(self._solved)(self._task(kernels, codes, price, *task)) for task in tasks
        )
        self._settle(solutions, traces_of(kernels, self._source.weight, self._members))
        if self.probability:
            self.calibration_ = calibrated(self, X, y, weight)
        self._warn()
        return self

    def _prepared(self, X: Array, y: NDArray[Any], weight: Array | None) -> tuple[Array, NDArray[np.intp], Array]:
        """Kernels, classes by number, and every sample's price."""
        if self.multi_class not in MULTI_CLASS:
            known = nearest(str(self.multi_class), MULTI_CLASS)
            raise InputError(f"multi_class {self.multi_class!r} is unknown: {known}")
        check_classification_targets(y)
        kernels, kept = self._sourced(X, y, weight)
        self.classes_, codes = classes_of(y[kept], type(self).__name__)
        price = sample_prices(self.class_weight, y[kept], self._source.weight, normed=self.nu is not None)
        return kernels, codes, price

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        """The one problem of two classes."""
        kernels, codes, price = self._prepared(*self._checked(X, y, sample_weight))
        if len(self.classes_) > 2:
            count, name = len(self.classes_), self.formulation
            raise InputError(f"y has {count} classes, {name} tells two apart: give one against the rest, or use ml_sum")
        return self._task(kernels, codes, price, Machine(1, 0), np.arange(len(codes)))

    def _task(
        self, kernels: Array, codes: NDArray[np.intp], price: Array, machine: Machine, members: NDArray[np.intp]
    ) -> Instance:
        y = np.where(codes[members] == machine.positive, 1.0, -1.0)
        if len(members) == len(codes):
            return self._instance(kernels, y=y, sample_weight=price)
        # A part of a semidefinite kernel is semidefinite: what seems negative in it is rounding.
        part = kernels[:, members][:, :, members]
        return self._instance(part, y=y, sample_weight=price[members], repair="clip")

    # ---------------------------------------------------------------------------------------------- prediction
    def decision_function(self, X: Any) -> Array:
        """f + b, (t,) for two classes; (t, k) for more: one column for every class."""
        stack = self._test_kernels(X)
        values = np.stack([_values(s, stack, m) for s, m in zip(self.solutions_, self._members, strict=True)], axis=1)
        if len(self.classes_) == 2:
            return values[:, 0]
        if self._machines[0].negative is None:
            return values
        return np.asarray(_ovr_decision_function((values > 0).astype(int), values, len(self.classes_)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every sample."""
        check_is_fitted(self)
        return np.asarray(self.classes_[winners(self.decision_function(X))])

    @available_if(lambda self: self.probability)
    def predict_proba(self, X: Any) -> Array:
        """Calibrated probabilities, one column for every class; with `probability=True` only."""
        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            raise InputError("predict_proba: the model was fitted with probability=False: fit it again")
        return probabilities(self.decision_function(X), self.calibration_)

    @available_if(lambda self: self.probability)
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _restore(self, parts: ModelParts) -> None:
        super()._restore(parts)
        arrays = parts.arrays
        self.classes_ = parts.classes()
        self._machines, self._members = machines_for(len(self.classes_), self.multi_class), parts.members
        single = all(np.ndim(solution.bias) == 0 for solution in self.solutions_)
        if self.multi_class not in MULTI_CLASS or not single or not self._all_there():
            raise ValueError("classes and machines do not fit together")
        if bool(self.probability) != ("calibration_" in arrays):
            raise ValueError("the calibration and the parameters do not fit together")
        if "calibration_" in arrays:
            sigmoids = arrays["calibration_"]
            rows = 1 if len(self.classes_) == 2 else len(self.classes_)
            if sigmoids.dtype.kind != "f" or sigmoids.shape != (rows, 2) or not np.isfinite(sigmoids).all():
                raise ValueError("the calibration and the classes do not fit together")
            self.calibration_ = sigmoids

    def _all_there(self) -> bool:
        """One against the rest has every sample in every machine; one against one has each in k − 1."""
        machines, members, classes = self._machines, self._members, len(self.classes_)
        if not len(machines) == len(members) == len(self.solutions_):
            return False
        times = classes if machines[0].negative is None else classes - 1
        seen = np.bincount(np.concatenate(members), minlength=len(self._source.kept))
        return bool((seen == times).all())


def _values(solution: Solution, stack: Array, members: NDArray[np.intp]) -> Array:
    return solution.decision_function(stack if stack.shape[2] == len(members) else stack[:, :, members])
