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
    formulation : str, default="l1"
        Name of the formulation.
    kernels : str, list, dict, callable or transformer, default="gaussians"
        "precomputed" for stacks (n, n, M), samples first, lists of matrices or LowRank; else a bank of kernels, such as
        ["linear", ("size", "gaussian", ["height", "weight"])], see `mklcvx.estimators.bank`.
    groups : array_like of shape (M,), optional
        Group of each kernel, for formulations with groups.
    kernel_names : list of str, optional
        Names of the kernels, in place of those that `kernels` or the views of X give them.
    centre : bool, default=False
        Whether to centre the kernels in feature space, as fitted on the training samples.
    normalise : {"diagonal", "trace", "variance", "cosine"} or None, default="diagonal"
        How to scale the kernels, as fitted on the training samples; "diagonal" makes the mean of k(x, x) 1.
    repair : {"clip", "shift", "symmetrise", "symmetrise,clip"}, optional
        Mend indefinite, or asymmetric, training kernels, which are refused otherwise.
    solver : str, default="auto"
        Name of the solver.
    tol : float, optional
        Relative gap that the certificate must prove. The default is the solver's own tolerance.
    max_iter : int, optional
        Iterations of the solver.
    time_limit : float, optional
        Seconds for each solution.
    solver_options : dict, optional
        Options of the solver.
    theta : float, optional
        Price of the kernels' slacks.
    p : float, optional
        Exponent of `lp` and `smp`.
    l1_ratio : float, optional
        Ratio of the elastic net, for `elastic` and `block_elastic`.
    lam : float, optional
        Price of the norms, for `group_lasso`.
    s : float, optional
        Exponent between groups, for `vskl`.
    nu : float, optional
        Largest share of outliers among the training samples, least share of support vectors. The default is 1/2.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
        Kernel weights.
    scaled_weights_ : ndarray
        Weights μ_m tr K_m divided by their sum, which compare kernels of different size.
    kernel_names_ : ndarray of str
        Names of the kernels.
    named_weights_ : dict
        Weight of each kernel by its name; an array, where there are several machines.
    weights_interval_ : ndarray of shape (M, 2) or (machines, M, 2), or None
        Intervals that are proved to contain the weights of every answer as good.
    solutions_ : tuple of Solution
        The certified solution.
    certificate_ : Certificate
        Its certificate.
    n_iter_ : int
        Number of iterations.
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
