"""`OneClassMKL`: a region that holds most of the samples, in the space of the kernels that are learned with it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from ..formulations.losses import NONE
from ..io.damage import require
from ..problem.instance import Instance
from .base import Array
from .saving import ModelParts
from .single import OneMachine

BELOW = 1e-4  # of the bound: multipliers this far below it are free
ROUNDING = 1e-12  # of ρ: what evaluating f may err by


@dataclass(eq=False, repr=False)
class OneClassMKL(OutlierMixin, OneMachine):
    """Detection of outliers that learns its combination of kernels, with a certificate of optimality.

    With one kernel, `formulation="svm"` and `normalise=None` it is scikit-learn's `OneClassSVM`, whose values are νn
    times as large. A kernel that is large everywhere makes f large at no cost: `normalise` makes kernels comparable.

    Parameters
    ----------
    formulation, kernels, groups, kernel_names, centre, normalise, repair, solver, tol, max_iter, time_limit,
    solver_options, theta, p, l1_ratio, lam, s
    nu : float, optional
        Largest share of outliers among the training samples, least share of support vectors. The default is 1/2.

    Attributes
    ----------
    weights_, scaled_weights_, kernel_names_, named_weights_, weights_interval_, solutions_, certificate_, n_iter_
    dual_coef_ : ndarray of shape (n,)
        Coefficients β of f = Σ_m weight_m Σ_i β_i k_m(x_i, ·), for the training samples of positive weight.
    offset_ : float
        Margin ρ, so that `decision_function` is `score_samples` less `offset_`. It is lowered to the least score of a
        training sample whose multiplier is below its bound: rounding makes no outlier of a sample on the margin.

    References
    ----------
    B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson (2001). Estimating the support of a
    high-dimensional distribution. Neural Computation 13.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = mklcvx.OneClassMKL(nu=0.1).fit(X[y == 0])
    >>> model.predict(X[[0, 150]])
    array([ 1, -1])
    """

    targets = (NONE,)
    own_parameters = ("nu", "theta", "p", "l1_ratio", "lam", "s")

    _: KW_ONLY
    nu: float | None = None

    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn kernel weights and the region.

        Parameters
        ----------
        X : array_like of shape (n, d) or (n, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or a stack of kernels, samples first; of views, or of kernels, one array (n, d) or (n, n) each.
        y : None
            Not used.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples. Weight 2 is a sample met twice.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        with self._refitted():
            self._fit(X, y, sample_weight)
            self.offset_ = self._offset(self.score_samples(X)[self._source.kept])
        return self

    def _offset(self, scores: Array) -> float:
        """ρ, or less: a training sample whose multiplier is below its bound belongs to the others, and many of them lie
        on the margin, where rounding would decide."""
        (solution,) = self.solutions_
        rho, share = solution.threshold, self._source.weight
        bound = (1.0 if share is None else share / share.mean()) / (solution.parameters["nu"] * len(scores))
        inside = scores[self.dual_coef_ < (1 - BELOW) * bound]
        return min(rho, float(inside.min(initial=rho)) - ROUNDING * abs(rho))

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        table, _, weight = self._checked(X, "no_validation", sample_weight)
        kernels, _ = self._sourced(table, np.zeros(len(table.X)), weight)
        share = self._source.weight
        return self._instance(kernels, sample_weight=None if share is None else share / share.mean())

    def score_samples(self, X: ArrayLike) -> Array:
        """Evaluate f, which is the larger the more a sample is like those of the training.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t,)
            Scores.
        """
        return self._outputs(X) + self.solutions_[0].threshold

    def decision_function(self, X: ArrayLike) -> Array:
        """Evaluate f − ρ, which is negative for outliers.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t,)
            Decision values.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Tell outliers from the others.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t,)
            −1 for outliers, +1 for the others.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _restore(self, parts: ModelParts) -> None:
        super()._restore(parts)
        require(self._single("none"), "the solution is of other targets")
        offset = parts.arrays["offset_"]
        require(offset.shape == () and np.isfinite(offset), "the offset is no number")
        self.offset_ = float(offset)
