"""`MultiLabelMKL` and `TwoStageMKL`: one combination of kernels for all classes or labels at once.

y is one class per sample or label sets (n, k) in {0, 1}. One problem is solved, whose kernel Σ weight_m K_m serves a
classifier for every class (one for two classes); the largest decision value wins, and a label is given where its
own is positive.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..problem.instance import Instance
from .base import Array, KernelEstimator, traces_of
from .saving import ModelParts
from .targets import LabelSets, as_target, classes_of, sample_prices, winners


class JointClassifier(ClassifierMixin, KernelEstimator):
    """Fits one solution and predicts classes or label sets."""

    class_weight: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        problem = self._problem(X, y, sample_weight)
        self._settle([self._solved(problem)], traces_of(problem.kernels, self._source.weight))
        self._warn()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        X, y, weight = self._checked(X, y, sample_weight, multi_output=True)
        y = as_target(y)
        kernels, kept = self._sourced(X, y, weight)
        price = sample_prices(self.class_weight, y[kept], self._source.weight)
        return self._instance(kernels, sample_weight=price, **self._targets(y[kept]))

    def _targets(self, y: NDArray[Any]) -> dict[str, Any]:
        """What the instance is told; remembers what the decision values will stand for."""
        self._sets = None
        if y.ndim == 2:
            self.classes_ = np.arange(y.shape[1])
            self._sets = LabelSets.of(y, type(self).__name__)
            self._dtype = y.dtype
            return {"labels": y[:, self._sets.learned]}
        self.classes_, codes = classes_of(y, type(self).__name__)
        return {"y": 2.0 * codes - 1} if len(self.classes_) == 2 else {"classes": codes}

    def decision_function(self, X: Any) -> Array:
        """f + b, (t,) for two classes, else (t, k)."""
        stack = self._test_kernels(X)
        values = self.solutions_[0].decision_function(stack)
        if self._sets is not None:
            return self._sets.spread(values)
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every sample, or its labels (t, k) in {0, 1}."""
        check_is_fitted(self)
        values = self.decision_function(X)
        if self._sets is not None:
            return (values > 0).astype(self._dtype)
        return np.asarray(self.classes_[winners(values)])

    def _restore(self, parts: ModelParts) -> None:
        super()._restore(parts)
        arrays = parts.arrays
        (solution,) = self.solutions_
        self.classes_ = parts.classes()
        values, self._sets = len(np.atleast_1d(solution.bias)), None
        if "learned" in arrays:
            learned, constant = arrays["learned"], arrays["constant"]
            fits = learned.dtype.kind == "i" and learned.shape == (values,) and (np.diff(learned) > 0).all()
            fits = fits and constant.dtype.kind == "f" and bool((np.abs(constant) == 1).all())
            if not fits or learned[0] < 0 or learned[-1] >= len(self.classes_) or constant.shape != self.classes_.shape:
                raise ValueError("the labels do not fit together")
            self._sets, self._dtype = LabelSets(learned, constant.astype(float)), arrays["label_kind"].dtype
        elif values != (1 if len(self.classes_) == 2 else len(self.classes_)):
            raise ValueError("classes and solution do not fit together")


class MultiLabelMKL(JointClassifier):
    """One combination of kernels for many labels (Bucak et al. 2010): `ml_sum`, the sum of the classes' SVMs least, or
    `ml_minimax`, the worst of them. There is no bias: `centre=True`, or kernels that hold a constant, make up for it.

    The parameters are those of `MKLClassifier`, as far as they are here.
    """

    families = ("many labels",)
    own_parameters = ("C",)

    def __init__(
        self, formulation: str = "ml_sum", kernels: Any = "gaussians", *, C: float | None = None, groups: Any = None,
        centre: bool = False, normalise: str | None = None, repair: str | None = None, class_weight: Any = None,
        solver: str = "auto", tol: float | None = None, max_iter: int | None = None, time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.formulation = formulation
        self.kernels = kernels
        self.C = C
        self.groups = groups
        self.centre = centre
        self.normalise = normalise
        self.repair = repair
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from features (n, d) or kernels (n, n, M); y is classes (n,) or label sets (n, k)."""
        return self._fit(X, y, sample_weight)


class TwoStageMKL(JointClassifier):
    """First the combination that tells pairs of samples apart, `ts` or `ts_l1` (Kumar et al. 2012), or that is aligned
    best with the labels, `alignment` (Cortes et al. 2010); then SVMs with that kernel, one versus rest.

    The paper centres kernels and gives them unit variance: `centre=True, normalise="variance"`, the defaults here.
    `lam`, `balanced` and `approximate` belong to the first stage, C and `class_weight` to the second. The first stage
    weighs pairs, not samples, so that `fit` takes no sample weights.
    """

    families = ("two stages",)
    own_parameters = ("C", "lam", "balanced", "approximate")

    def __init__(
        self, formulation: str = "ts", kernels: Any = "gaussians", *, C: float | None = None, lam: float | None = None,
        balanced: bool | None = None, approximate: bool | None = None, groups: Any = None, centre: bool = True,
        normalise: str | None = "variance", repair: str | None = None, class_weight: Any = None, solver: str = "auto",
        tol: float | None = None, max_iter: int | None = None, time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.formulation = formulation
        self.kernels = kernels
        self.C = C
        self.lam = lam
        self.balanced = balanced
        self.approximate = approximate
        self.groups = groups
        self.centre = centre
        self.normalise = normalise
        self.repair = repair
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from features (n, d) or kernels (n, n, M); y is classes (n,) or label sets (n, k)."""
        return self._fit(X, y)
