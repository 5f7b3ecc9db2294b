"""`MultiLabelMKL` and `TwoStageMKL`: one combination of kernels for all classes or labels at once.

y is one class per sample or label sets (n, k) in {0, 1}. One problem is solved, whose kernel Σ weight_m K_m serves a
classifier for every class (one for two classes); the largest decision value wins, and a label is given where its
own is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from ..certificate.solution import decision_values
from ..io.damage import as_members, require
from ..problem.cross_kernels import CrossKernels
from ..problem.instance import Instance
from .base import Array, ClassWeight, KernelCombiner
from .prediction import winners
from .saving import ModelParts
from .source import samples_kept
from .targets import LabelSets, as_target, classes_of, names_of, sample_prices


@dataclass(eq=False, repr=False)
class JointClassifier(ClassifierMixin, KernelCombiner):
    """Classifier that fits one solution and predicts classes or label sets.

    Parameters
    ----------
    class_weight : "balanced" or dict, optional
        Weights of the classes.

    Attributes
    ----------
    label_names_ : ndarray of str
        Names of the labels, if y was a DataFrame of label sets.
    """

    _: KW_ONLY
    class_weight: ClassWeight = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        names = names_of(y)
        table, y, weight = self._checked(X, y, sample_weight, multi_output=True)
        y = as_target(y)
        targets = self._targets(y[samples_kept(len(y), weight)], names)
        kernels, kept = self._sourced(table, y, weight)
        price = sample_prices(self.class_weight, y[kept], self._source.weight)
        return self._instance(kernels, sample_weight=price, **targets)

    def _targets(self, y: NDArray[Any], names: Sequence[str] | None) -> dict[str, Any]:
        """The targets of the instance. Stores the meaning of the decision values."""
        self._sets = None
        if y.ndim == 2:
            self.classes_ = np.arange(y.shape[1])
            self._sets = LabelSets.of(y, type(self).__name__, names=names)
            self._dtype = y.dtype
            targets: dict[str, Any] = {"labels": y[:, self._sets.learned]}
            if names is not None:
                self.label_names_ = np.array(names)
                targets["label_names"] = self.label_names_[self._sets.learned].tolist()
            return targets
        self.classes_, codes = classes_of(y, type(self).__name__)
        return {"y": 2.0 * codes - 1} if len(self.classes_) == 2 else {"classes": codes}

    def decision_function(self, X: ArrayLike) -> Array:
        """Evaluate f + b.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray
            Decision values (t,) for two classes, else (t, k).
        """
        return np.asarray(self._evaluated(X, self._decide))

    def _decide(self, kernels: CrossKernels) -> Array:
        values = decision_values(self.solutions_, kernels)[0]
        if self._sets is not None:
            return self._sets.spread(values)
        return values.ravel() if len(self.classes_) == 2 else values

    def _decided(self, kernels: CrossKernels) -> NDArray[Any] | None:
        return None if self._sets is not None else np.asarray(self.classes_[winners(self._decide(kernels))])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict classes or label sets.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray
            The class of each sample (t,), or its labels (t, k), 0 and 1.
        """
        values = self.decision_function(X)
        if self._sets is not None:
            return (values > 0).astype(self._dtype)
        return np.asarray(self.classes_[winners(values)])

    def _restore(self, parts: ModelParts) -> None:
        super()._restore(parts)
        arrays, (solution,) = parts.arrays, self.solutions_
        self.classes_, self._sets = parts.classes(), None
        values, classes = len(np.atleast_1d(solution.bias)), len(self.classes_)
        if "learned" in arrays:
            learned, constant = arrays["learned"], arrays["constant"]
            alike = len(learned) == values and constant.shape == (classes,) and constant.dtype.kind == "f"
            require(alike and (np.abs(constant) == 1).all(), "the labels do not fit together")
            as_members(learned, classes)
            self._sets, self._dtype = LabelSets(learned, constant.astype(float)), arrays["label_kind"].dtype
            if "label_names_" in arrays:
                self.label_names_ = arrays["label_names_"]
                fits = self.label_names_.dtype.kind == "U" and self.label_names_.shape == (classes,)
                require(fits, "the labels and their names do not fit together")
        else:
            require(values == (1 if classes == 2 else classes), "classes and solution do not fit together")


@dataclass(eq=False, repr=False)
class MultiLabelMKL(JointClassifier):
    """Classifier with one combination of kernels for many labels.

    `ml_sum` minimises the sum of the classes' SVMs, `ml_minimax` the worst of them. There is no bias: `centre=True`, or
    kernels that hold a constant, make up for it.

    Parameters
    ----------
    formulation : str, default="ml_sum"
        Name of the formulation.
    kernels, groups, kernel_names, centre, normalise, repair, solver, tol, max_iter, time_limit, solver_options,
    class_weight
    C : float or "scale", optional
        Price of the samples' slacks. The default "scale" is 1/(mean k(x, x)) of the kernels as scaled: 1 with the
        default of `normalise`, n with "trace".

    Attributes
    ----------
    weights_, scaled_weights_, kernel_names_, named_weights_, weights_interval_, solutions_, certificate_, n_iter_,
    label_names_

    References
    ----------
    S. Bucak, R. Jin, A. K. Jain (2010). Multi-label multiple kernel learning by stochastic approximation: application
    to visual object recognition. Advances in Neural Information Processing Systems 23.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = mklcvx.MultiLabelMKL(centre=True).fit(X[::6], y[::6])
    >>> model.decision_function(X[:2]).shape
    (2, 3)
    """

    families = ("many labels",)
    own_parameters = ("C",)

    formulation: str = "ml_sum"
    _: KW_ONLY
    C: float | str | None = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn kernel weights and classifiers.

        Parameters
        ----------
        X : array_like of shape (n, d) or (n, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or a stack of kernels, samples first; of views, or of kernels, one array (n, d) or (n, n) each.
        y : array_like of shape (n,) or (n, k)
            Class of each sample, or label sets, 0 and 1.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples. Weight 2 is a sample met twice.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        return self._fit(X, y, sample_weight)


@dataclass(eq=False, repr=False)
class TwoStageMKL(JointClassifier):
    """Classifier that learns the kernel first, and support vector machines with it afterwards.

    The first stage tells pairs of samples apart (`ts`, `ts_l1`) or aligns the kernel with the labels (`alignment`). The
    paper centres kernels and gives them unit variance, the defaults here: of a centred kernel, the mean of k(x, x) is
    the variance. The first stage weighs pairs, not samples, so that `fit` takes no sample weights.

    Parameters
    ----------
    formulation : str, default="ts"
        Name of the formulation.
    kernels, groups, kernel_names
    centre : bool, default=True
        Whether to centre the kernels in feature space, as fitted on the training samples.
    normalise, repair, solver, tol, max_iter, time_limit, solver_options, class_weight
    C : float or "scale", optional
        Price of the samples' slacks in the second stage. The default "scale" is 1/(mean k(x, x)) of the kernels as
        scaled: 1 with the default of `normalise`, n with "trace".
    lam : float, optional
        Price λ of the first stage.
    balanced : bool, optional
        Whether pairs of equal and of different classes count the same.
    approximate : bool, optional
        Whether `alignment` weighs each kernel by its own alignment only, the cheaper variant.

    Attributes
    ----------
    weights_, scaled_weights_, kernel_names_, named_weights_, weights_interval_, solutions_, certificate_, n_iter_,
    label_names_

    References
    ----------
    A. Kumar, A. Niculescu-Mizil, K. Kavukcuoglu, H. Daumé III (2012). A binary classification framework for two-stage
    multiple kernel learning. International Conference on Machine Learning.

    C. Cortes, M. Mohri, A. Rostamizadeh (2010). Two-stage learning kernel algorithms. International Conference on
    Machine Learning.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> mklcvx.TwoStageMKL("ts").fit(X[::6], y[::6]).predict(X[:2])
    array([0, 0])
    """

    families = ("two stages",)
    own_parameters = ("C", "lam", "balanced", "approximate")

    formulation: str = "ts"
    _: KW_ONLY
    centre: bool = True
    C: float | str | None = None
    lam: float | None = None
    balanced: bool | None = None
    approximate: bool | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn kernel weights, then classifiers.

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
