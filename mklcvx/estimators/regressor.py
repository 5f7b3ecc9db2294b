"""`MKLRegressor`: every formulation of a single task with real targets, and a loss of their residuals.

A sample's price is C × sample weight. Weight 2 is a sample met twice.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..formulations.losses import COUNTS, KNOWN, REAL
from ..io.damage import require
from ..problem.instance import Instance
from .base import Array
from .columns import Table
from .comparing import compared
from .saving import ModelParts
from .single import OneMachine
from .targets import names_of


@dataclass(eq=False, repr=False)
class MKLRegressor(RegressorMixin, OneMachine):
    """Regression that learns its combination of kernels, with a certificate of optimality.

    With one kernel as it is (`normalise=None`), `formulation="svm"` and loss "epsilon_insensitive" it is
    scikit-learn's `SVR`, with loss "nu_svr" its `NuSVR`; with loss "squared" and `bias=False` it is `KernelRidge` with
    alpha = 1/C; with loss "poisson" it is `PoissonRegressor` on the features of the kernel, with alpha = 1/(C n).
    Several targets are learned at once, with one combination of kernels; `sklearn.multioutput.MultiOutputRegressor`
    learns one for each.

    Parameters
    ----------
    formulation, kernels, groups, kernel_names, centre, normalise, repair, solver, tol, max_iter, time_limit,
    solver_options, theta, p, l1_ratio, lam, s
    loss : str, default="squared"
        Loss of the residuals: "squared", "epsilon_insensitive", "absolute", "squared_epsilon_insensitive", "huber",
        "quantile" or "nu_svr"; "poisson" for counts, whose mean is exp(f + b).
    C : float or "scale", optional
        Price of the samples' losses. The default "scale" is 1/(mean k(x, x)) of the kernels as scaled: 1 with the
        default of `normalise`, n with "trace".
    epsilon : float, optional
        Half of the width within which residuals cost nothing, for the ε-insensitive losses. The default is 0.1.
    delta : float, optional
        Residual from which on loss "huber" is linear. The default is 1.
    quantile : float, optional
        Level of the quantile that loss "quantile" predicts. The default is 1/2.
    nu : float, optional
        Share of samples that may lie outside the tube of loss "nu_svr", which finds its width. The default is 1/2.
    bias : bool, optional
        Whether the predicted function has a bias. The default is true.
    compare_average : bool, default=False
        Whether to cross-validate this model and the average of the same kernels, five folds each, for `cv_scores_` and
        `average_cv_scores_`: what learning the weights is worth.

    Attributes
    ----------
    weights_, scaled_weights_, kernel_names_, named_weights_, weights_interval_, solutions_, certificate_, n_iter_
    cv_scores_, average_cv_scores_ : ndarray of shape (5,)
        What `score` says of this model and of the average kernel on the same held-out samples, if `compare_average`.
    dual_coef_ : ndarray of shape (n,) or (n, k)
        Coefficients β of f = Σ_m weight_m Σ_i β_i k_m(x_i, ·), for the training samples of positive weight.
    intercept_ : float or ndarray of shape (k,)
        Bias b.

    References
    ----------
    S. Sonnenburg, G. Rätsch, C. Schäfer, B. Schölkopf (2006). Large scale multiple kernel learning. Journal of Machine
    Learning Research 7.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = mklcvx.MKLRegressor("l1", loss="huber", delta=50.0).fit(X[::6], y[::6])
    >>> model.weights_.shape, model.solutions_[0].certified
    ((7,), True)
    """

    targets = (REAL, COUNTS)
    own_parameters = ("loss", "C", "epsilon", "delta", "quantile", "nu", "theta", "p", "l1_ratio", "lam", "s", "bias")

    _: KW_ONLY
    loss: str = "squared"
    C: float | str | None = None
    epsilon: float | None = None
    delta: float | None = None
    quantile: float | None = None
    nu: float | None = None
    bias: bool | None = None
    compare_average: bool = False

    @property
    def intercept_(self) -> float | Array:
        """The bias b; (k,) for k targets."""
        check_is_fitted(self)
        return self.solutions_[0].bias

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @property
    def _score_name(self) -> str:
        return "d2" if self._loss.log_link else "r2"

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn kernel weights and the function.

        Parameters
        ----------
        X : array_like of shape (n, d) or (n, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or a stack of kernels, samples first; of views, or of kernels, one array (n, d) or (n, n) each.
        y : array_like of shape (n,) or (n, k)
            Target of each sample, or k of them.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples. Weight 2 is a sample met twice.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        with self._refitted():
            self._fit(X, y, sample_weight)
            if self.compare_average:
                table, target, weight = self._targets(X, y, sample_weight)
                self.cv_scores_, self.average_cv_scores_ = compared(self, table.X, target, weight)
        return self

    def _targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, Any, Any]:
        table, y, weight = self._checked(X, y, sample_weight, y_numeric=True, multi_output=True)
        return table, y if y.ndim == 2 and y.shape[1] > 1 else column_or_1d(y, warn=True), weight

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        _ = self._loss  # refuse one of other targets
        names = names_of(y)
        table, y, weight = self._targets(X, y, sample_weight)
        kernels, kept = self._sourced(table, y, weight)
        return self._instance(kernels, response=y[kept], sample_weight=self._source.weight, label_names=names)

    def predict(self, X: ArrayLike) -> Array:
        """Predict the target of each sample, f + b; with loss "poisson" its mean, exp(f + b).

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t,) or (t, k)
            Targets.
        """
        outputs = self._outputs(X)  # which refuses an estimator without a fit
        return np.asarray(self.solutions_[0].labels_of(outputs))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute R², the share of the variance that is explained; with loss "poisson" D², that of the deviance.

        Of several targets it is the mean.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M)
            Features, or kernels with the training samples.
        y : array_like of shape (t,) or (t, k)
            Targets.
        sample_weight : array_like of shape (t,), optional
            Weights of the samples.

        Returns
        -------
        float
            1 is best; that of a constant prediction is 0.
        """
        predicted, loss = self.predict(X), KNOWN[self.solutions_[0].parameters["loss"]]
        if loss.log_link:
            outputs = zip(np.atleast_2d(np.asarray(y).T), np.atleast_2d(predicted.T), strict=True)
            return float(np.mean([d2_tweedie_score(*pair, sample_weight=sample_weight, power=1) for pair in outputs]))
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def _restore(self, parts: ModelParts) -> None:
        super()._restore(parts)
        require(self._single("response"), "the solution is of other targets")
