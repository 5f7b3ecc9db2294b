"""`HypergraphEmbedding`: samples in the few dimensions in which their labels are told best (Ji et al. 2008).

The combination K(θ) of the kernels is the one whose embedding fits the labels' hypergraph best; a new sample goes to
k(x)'B, with k(x) its values of K(θ) with the training samples. Labels are needed to fit, not to transform.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..problem.instance import Instance
from .base import Array, KernelEstimator, traces_of
from .targets import LabelSets, as_target


class HypergraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Embeds samples by the kernel learned from label sets (n, k) in {0, 1}, or from one class per sample.

    `formulation` is `hypergraph` or `hypergraph_smooth`, with `expansion` (clique, star, zhou, kcca), `lam`,
    `smoothing` and `dimensions`; kernels have unit trace in the paper, `normalise="trace"` here. The hypergraph
    has no place for sample weights. The other parameters are those of `MKLClassifier`.
    """

    families = ("hypergraph",)
    own_parameters = ("expansion", "lam", "smoothing", "dimensions")
    embeds = True

    def __init__(
        self, formulation: str = "hypergraph", kernels: Any = "gaussians", *, expansion: str | None = None,
        lam: float | None = None, smoothing: float | None = None, dimensions: int | None = None, groups: Any = None,
        centre: bool = False, normalise: str | None = "trace", repair: str | None = None, solver: str = "auto",
        tol: float | None = None, max_iter: int | None = None, time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.formulation = formulation
        self.kernels = kernels
        self.expansion = expansion
        self.lam = lam
        self.smoothing = smoothing
        self.dimensions = dimensions
        self.groups = groups
        self.centre = centre
        self.normalise = normalise
        self.repair = repair
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel and its embedding from features (n, d) or kernels (n, n, M)."""
        problem = self._problem(X, y)
        self._settle([self._solved(problem)], traces_of(problem.kernels, None))
        self._warn()
        return self

    def _problem(self, X: Any, y: Any) -> Instance:
        X, y, _ = self._checked(X, y, multi_output=True)
        y = as_target(y)
        kernels, _ = self._sourced(X, y, None)
        labels = y if y.ndim == 2 else (y[:, None] == np.unique(y)).astype(float)
        sets = LabelSets.of(labels, type(self).__name__, everybody=True)
        return self._instance(kernels, labels=labels[:, sets.learned])

    def transform(self, X: Any) -> Array:
        """The embedding of samples, (t, dimensions)."""
        stack = self._test_kernels(X)
        return np.asarray(self.solutions_[0].decision_function(stack))

    @property
    def _n_features_out(self) -> int:
        return int(self.solutions_[0].multipliers["B"].shape[1])
