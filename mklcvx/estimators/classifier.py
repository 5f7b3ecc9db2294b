"""`MKLClassifier`: every formulation of a single task, for two classes or for many.

With two classes one machine is fitted, whose positive class is `classes_[1]`. With k classes, "ovr" fits k machines,
each class against the rest, each with kernel weights of its own, and the largest decision value wins; "ovo" fits one
for every pair of classes on the samples of these two, and the votes decide, ties by the sum of the decision values.
A joint loss has one machine for all classes, with one combination of kernels.
A sample's price is C × sample weight × class weight; in the ν-form 1/(ν Σw) × the same. Weight 2 is a sample met twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..certificate.solution import Solution, decision_values
from ..defaults import FOLDS
from ..errors import InputError
from ..formulations.losses import CLASSES, KNOWN, LABELS, NU, AnyLoss
from ..io.damage import require
from ..problem.cross_kernels import CrossKernels
from ..problem.instance import Instance
from ..problem.machines import JOINTLY, MULTI_CLASS, ClassPair, check_multi_class, class_values, machines_for
from ..problem.numbers import Indices
from ..problem.target_checks import as_targets
from ..problem.targets import Targets
from .base import Array, ClassWeight, traces_of
from .chunks import in_chunks
from .columns import Table
from .comparing import compared
from .inputs import ONE_AT_A_TIME, checks_of_sklearn
from .prediction import winners
from .saving import ModelParts
from .sigmoids import OF_LOG_ODDS, calibrated, probabilities
from .single import SingleTaskEstimator
from .source import samples_kept
from .targets import classes_of, sample_prices


def _has_probabilities(model: MKLClassifier) -> bool:
    loss = KNOWN.get(str(model.loss))
    own = loss is not None and loss.log_odds and (loss.joint or model.multi_class == "ovr")
    if not (own or model.probability):
        raise AttributeError("there are no probabilities: set probability=True, or loss='logistic', before fit")
    return True


@dataclass(eq=False, repr=False)
class MKLClassifier(ClassifierMixin, SingleTaskEstimator):
    """Classifier that learns its combination of kernels, with a certificate of optimality.

    Parameters
    ----------
    formulation, kernels, groups, kernel_names, centre, normalise, repair, solver, tol, max_iter, time_limit,
    solver_options, theta, p, l1_ratio, lam, s
    loss : str, optional
        Loss of the margins: "hinge", "nu", "squared_hinge", "smoothed_hinge" or "logistic"; or one of all classes at
        once, with one combination of kernels: "crammer_singer" or "softmax". The default is "nu" if `nu` is given, else
        "hinge".
    C : float or "scale", optional
        Price of the samples' losses. "scale" is 1/(mean k(x, x)) of the kernels as scaled: 1 with the default of
        `normalise`, n with "trace". It is the default unless `nu` is given.
    nu : float, optional
        Parameter ν of the ν-form.
    width : float, optional
        Width of the curved part of loss "smoothed_hinge". The default is 1.
    bias : bool, optional
        Whether the decision function has a bias. The default is true.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One against the rest, or one against one, for more than two classes.
    class_weight : "balanced" or dict, optional
        Weights of the classes.
    probability : bool, default=False
        Whether to calibrate `predict_proba`, by Platt's sigmoids on held-out decision values. Losses "logistic" and
        "softmax" have probabilities of their own, 1/(1 + exp(−f)); of more than two classes, logistic those of each
        against the rest, normalised.
    calibration_folds : int, default=5
        Folds of the calibration.
    n_jobs : int, optional
        Machines that are solved at once.
    compare_average : bool, default=False
        Whether to cross-validate this model and the average of the same kernels, five folds each, for `cv_scores_` and
        `average_cv_scores_`: what learning the weights is worth.

    Attributes
    ----------
    weights_, scaled_weights_, kernel_names_, named_weights_, weights_interval_, solutions_, certificate_, n_iter_
    cv_scores_, average_cv_scores_ : ndarray of shape (5,)
        Accuracies of this model and of the average kernel on the same held-out samples, if `compare_average`.

    References
    ----------
    F. R. Bach, G. R. G. Lanckriet, M. I. Jordan (2004). Multiple kernel learning, conic duality, and the SMO algorithm.
    International Conference on Machine Learning.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = mklcvx.MKLClassifier("l1", C=1.0).fit(X[:120:3], y[:120:3])
    >>> model.weights_.shape, model.solutions_[0].certified
    ((7,), True)
    """

    targets = (LABELS, CLASSES)
    own_parameters = ("loss", "C", "nu", "width", "theta", "p", "l1_ratio", "lam", "s", "bias")

    _: KW_ONLY
    loss: str | None = None
    C: float | str | None = None
    nu: float | None = None
    width: float | None = None
    bias: bool | None = None
    multi_class: str = "ovr"
    class_weight: ClassWeight = None
    probability: bool = False
    calibration_folds: int = FOLDS
    n_jobs: int | None = None
    compare_average: bool = False

    @property
    def _loss(self) -> AnyLoss:
        return NU if self.loss is None and self.nu is not None else super()._loss

    # ------------------------------------------------------------------------------------------------- fitting
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn kernel weights and classifiers.

        Parameters
        ----------
        X : array_like of shape (n, d) or (n, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or a stack of kernels, samples first; of views, or of kernels, one array (n, d) or (n, n) each.
        y : array_like of shape (n,)
            Class of each sample.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples. Weight 2 is a sample met twice.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        with self._refitted():
            features, classes, weight = self._checked(X, y, sample_weight)
            whole, codes = self._whole(features, classes, weight)
            self._machines = machines_for(len(self.classes_), self.multi_class, self._loss.joint)
            self._members = [machine.members(codes) for machine in self._machines]
            solutions = in_chunks(partial(self._solved_machines, whole, codes), self._machines, self.n_jobs)
            self._settle(solutions, traces_of(whole.kernels, self._source.weight, self._members))
            if self.probability:
                self.calibration_ = calibrated(self, features.X, classes, weight)
            if self.compare_average:
                self.cv_scores_, self.average_cv_scores_ = compared(self, features.X, classes, weight)
            self._warn(whole.kernels)
        return self

    def _whole(self, X: Table, y: NDArray[Any], weight: Array | None) -> tuple[Instance, Indices]:
        """The problem of all classes, whose kernels are validated here and nowhere else, and the class indices."""
        check_multi_class(self.multi_class)
        with ONE_AT_A_TIME, checks_of_sklearn():
            check_classification_targets(y)
        self.classes_, codes = classes_of(y[samples_kept(len(y), weight)], type(self).__name__)
        kernels, kept = self._sourced(X, y, weight)
        price = sample_prices(self.class_weight, y[kept], self._source.weight)
        return self._instance(kernels, classes=codes, sample_weight=price), codes

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        """The problem of two classes, or of all of them."""
        whole, codes = self._whole(*self._checked(X, y, sample_weight))
        if self._loss.joint:
            return whole
        everybody = np.arange(len(codes))
        if len(self.classes_) > 2:
            targets = as_targets(None, self.classes_[codes], None, None, len(codes))
            return whole.of_samples(everybody, targets, self._prices(whole, everybody))
        return self._task(whole, codes, ClassPair(1, 0), everybody)

    def _solved_machines(self, whole: Instance, codes: Indices, machines: Sequence[ClassPair]) -> list[Solution]:
        """One solution after the other. Several share what they can."""
        whole = whole.remembering() if len(self.classes_) > 2 else whole
        solutions = [self._solved(self._task(whole, codes, machine, machine.members(codes))) for machine in machines]
        whole.forget()
        return solutions

    def _task(self, whole: Instance, codes: Indices, machine: ClassPair, members: Indices) -> Instance:
        """The problem of one machine."""
        if machine.positive is None:
            return whole
        targets = Targets("y", machine.signs(codes[members]), ("y",))
        return whole.of_samples(members, targets, self._prices(whole, members))

    def _prices(self, whole: Instance, members: Indices) -> Array:
        """Sample weight times class weight; in the ν-form the former is 1 on average."""
        price, own = whole.sample_weight[members], self._source.weight
        return price if own is None or not self._loss.free_margin else np.asarray(price / own[members].mean())

    @property
    def _machine_names(self) -> list[str]:
        if len(self._machines) == 1:
            return super()._machine_names
        classes = [str(name) for name in self.classes_]
        pairs = [(classes[machine.positive or 0], machine.negative) for machine in self._machines]
        return [name if other is None else f"{name} v {classes[other]}" for name, other in pairs]

    # ---------------------------------------------------------------------------------------------- prediction
    def decision_function(self, X: ArrayLike) -> Array:
        """Evaluate f + b.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray
            Decision values (t,) for two classes; (t, k) for more, one column for each class.
        """
        return np.asarray(self._evaluated(X, self._decide))

    def _decide(self, kernels: CrossKernels) -> Array:
        if self._machines == [JOINTLY]:
            values = decision_values(self.solutions_, kernels)[0]
            return values if len(self.classes_) > 2 else values[:, 1] - values[:, 0]
        values = np.stack(decision_values(self.solutions_, kernels, self._members), axis=1)
        if len(self.classes_) == 2:
            return values[:, 0]
        return class_values(values, self._machines, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t,)
            Classes.
        """
        return np.asarray(self._evaluated(X, self._decided))

    def _decided(self, kernels: CrossKernels) -> NDArray[Any]:
        return np.asarray(self.classes_[winners(self._decide(kernels))])

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> Array:
        """Predict probabilities; with loss "logistic" (not one against one) or "softmax"; others calibrated, on demand.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t, k)
            One column for each class.
        """
        check_is_fitted(self)
        if hasattr(self, "calibration_"):
            return probabilities(self.decision_function(X), self.calibration_)
        loss = KNOWN[self.solutions_[0].parameters.get("loss", "hinge")]
        if not loss.log_odds or (self._fitted["multi_class"] == "ovo" and not loss.joint):
            words = "set loss='logistic' or probability=True, and fit it again"
            raise InputError(f"predict_proba: the model was fitted with probability=False, by a loss without: {words}")
        values = self.decision_function(X)
        return softmax(values, axis=1) if loss.joint and values.ndim == 2 else probabilities(values, OF_LOG_ODDS)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Predict logarithms of probabilities, where there are some.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t, k)
            One column for each class.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _restore(self, parts: ModelParts) -> None:
        super()._restore(parts)
        self.classes_ = parts.classes()
        joint = self._loss.joint
        self._machines, self._members = machines_for(len(self.classes_), self.multi_class, joint), parts.members
        outputs = (len(self.classes_),) if joint else ()
        fits = all(np.shape(solution.bias) == outputs for solution in self.solutions_)
        known = self.multi_class in MULTI_CLASS and fits and self._all_there()
        require(known, "classes and machines do not fit together")
        sigmoids = parts.arrays.get("calibration_")
        fits = bool(self.probability) == (sigmoids is not None)
        require(fits, "the calibration and the parameters do not fit together")
        if sigmoids is not None:
            shape = (1 if len(self.classes_) == 2 else len(self.classes_), 2)
            fits = sigmoids.dtype.kind == "f" and sigmoids.shape == shape and np.isfinite(sigmoids).all()
            require(fits, "the calibration and the classes do not fit together")
            self.calibration_ = sigmoids

    def _all_there(self) -> bool:
        """Whether every sample is in all machines (one against the rest), or in k − 1 of them (one against one)."""
        machines, members, classes = self._machines, self._members, len(self.classes_)
        if not len(machines) == len(members) == len(self.solutions_):
            return False
        times = 1 if machines == [JOINTLY] else classes if machines[0].negative is None else classes - 1
        seen = np.bincount(np.concatenate(members), minlength=len(self._source.kept))
        return bool((seen == times).all())
