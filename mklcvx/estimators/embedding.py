"""`HypergraphEmbedding`: an embedding of samples in few dimensions that fits their labels (Ji et al. 2008).

The combination K(μ) of the kernels is the one whose embedding fits the labels' hypergraph best. A new sample x is
mapped to k(x)'B, with k(x) the values of K(μ) between x and the training samples. Labels are needed in `fit` only.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..certificate.solution import decision_values
from ..problem.instance import Instance
from .base import Array, KernelEstimator
from .targets import LabelSets, as_target


@dataclass(eq=False, repr=False)
class HypergraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Embedding of samples by a kernel that is learned from their labels.

    The labels make a hypergraph, whose edges are the samples that share a label. It has no place for sample weights.
    Kernels have unit trace in the paper; to have its λ, set `normalise="trace"`.

    Parameters
    ----------
    formulation : str, default="hypergraph"
        Name of the formulation.
    kernels, groups, kernel_names, centre, normalise, repair, solver, tol, max_iter, time_limit, solver_options
    expansion : {"clique", "star", "zhou", "kcca"}, optional
        How the hypergraph becomes a Laplacian.
    lam : float, optional
        Ridge λ.
    smoothing : float, optional
        Smoothing σ of `hypergraph_smooth`.
    dimensions : int, optional
        Dimensions of the embedding.

    Attributes
    ----------
    weights_, scaled_weights_, kernel_names_, named_weights_, weights_interval_, solutions_, certificate_, n_iter_

    References
    ----------
    S. Ji, L. Sun, R. Jin, J. Ye (2008). Multi-label multiple kernel learning. Advances in Neural Information Processing
    Systems 21.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> len(mklcvx.HypergraphEmbedding().fit(X[::6], y[::6]).transform(X[:2]))
    2
    """

    families = ("hypergraph",)
    own_parameters = ("expansion", "lam", "smoothing", "dimensions")
    embeds = True

    formulation: str = "hypergraph"
    _: KW_ONLY
    expansion: str | None = None
    lam: float | None = None
    smoothing: float | None = None
    dimensions: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the kernel and its embedding.

        Parameters
        ----------
        X : array_like of shape (n, d) or (n, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or a stack of kernels, samples first; of views, or of kernels, one array (n, d) or (n, n) each.
        y : array_like of shape (n,) or (n, k)
            Class of each sample, or label sets, 0 and 1.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        return self._fit(X, y)

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        table, y, _ = self._checked(X, y, multi_output=True)
        y = as_target(y)
        kernels, _ = self._sourced(table, y, None)
        labels = y if y.ndim == 2 else (y[:, None] == np.unique(y)).astype(float)
        sets = LabelSets.of(labels, type(self).__name__, everybody=True)
        return self._instance(kernels, labels=labels[:, sets.learned])

    def transform(self, X: ArrayLike) -> Array:
        """Embed samples.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t, dimensions)
            One row for each sample.
        """
        return np.asarray(self._evaluated(X, lambda kernels: decision_values(self.solutions_, kernels)[0]))

    @property
    def _n_features_out(self) -> int:
        return int(np.shape(self.solutions_[0].multipliers["B"])[1])
