"""LIBSVM by scikit-learn, for the machine with one kernel that a task makes: α, as good as LIBSVM's single precision.

With a bias, loss c is its C-SVC and loss nu its ν-SVC, whose α is ours up to a factor; without a bias loss nu is the
one-class SVM of the matrix Q. A loss of real targets whose α has the bounds ±r, such as the ε-insensitive, is SVR with
these r as prices, a curvature κ of the gain being added to the kernel's diagonal; where the tube is an unknown, ν-SVR.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from inspect import signature

import numpy as np

from ..errors import unheard
from ..formulations import Task
from ..problem.stack import Array
from .interior.sample_variables import SamplesSide, recorded

MAX_STEPS = 200_000


KINDS = ("SVC", "NuSVC", "OneClassSVM", "SVR", "NuSVR")  # scikit-learn's names, in the order of LIBSVM's numbers
NEEDED = {"svm_type", "kernel", "tol", "C", "nu", "epsilon", "class_weight", "sample_weight", "shrinking", "max_iter"}
Settings = dict[str, str | float | bool]


def serves(task: Task, samples: SamplesSide) -> bool:
    """Whether LIBSVM solves the machine of this task."""
    return bool(len(task.equalities()[0])) if samples.polyhedral else is_svr(task, samples)


def is_svr(task: Task, samples: SamplesSide) -> bool:
    return task.bias and samples.ends and bool((samples.low == -samples.high).all())


def libsvm(task: Task, samples: SamplesSide, kernel: Array, accuracy: float, steps: int | None = None) -> Array | None:
    """α for this kernel, if LIBSVM finds one; `accuracy` is its own, of the margins. If a number of `steps`, of two
    samples each, is given, it must find it in as many; else what it has after MAX_STEPS is α."""
    return _svc(task, kernel, accuracy, steps) if samples.polyhedral else _svr(task, samples, kernel, accuracy, steps)


def _svc(task: Task, kernel: Array, accuracy: float, steps: int | None) -> Array | None:
    total, positive = task.box.sum(), task.box[task.signs > 0].sum()
    kind, own = "SVC", _settings(accuracy, steps)
    if task.loss_function.free_margin and task.bias:
        # ν is relative to the sum of the boxes; not above what the smaller class allows, by rounding
        kind, own["nu"] = "NuSVC", float(min(1.0, 2 * min(positive, total - positive)) / total)
    elif task.loss_function.free_margin:
        kind, own["nu"] = "OneClassSVM", 1 / total
    matrix = kernel if task.bias else signed_kernel(kernel, task.signs)
    coefficients = _coefficients(kind, matrix, task.signs, task.box, own, steps is not None)
    if coefficients is None:
        return None
    alpha = np.abs(coefficients)
    return alpha / alpha.sum() if task.loss_function.free_margin else alpha


def _svr(task: Task, samples: SamplesSide, kernel: Array, accuracy: float, steps: int | None) -> Array | None:
    shape, kind, own = recorded(task), "SVR", _settings(accuracy * samples.unit, steps)
    if task.loss_function.free_tube:
        kind, own["nu"] = "NuSVR", min(1.0, task.loss_function.most(task.box) / math.fsum(shape.high))
    else:
        own["epsilon"] = float(shape.epsilon.max())
    matrix = kernel + np.diag(shape.kappa) if shape.kappa.any() else kernel
    return _coefficients(kind, matrix, shape.a, shape.high, own, steps is not None)


def _settings(tolerance: float, steps: int | None = None) -> Settings:
    """Of LIBSVM; its tolerance is one of margins."""
    return {"kernel": "precomputed", "max_iter": steps or MAX_STEPS, "shrinking": False, "tol": tolerance}


def _coefficients(
    kind: str, matrix: Array, targets: Array, prices: Array, settings: Settings, to_its_end: bool = False
) -> Array | None:
    """LIBSVM's dual coefficients, one per sample, up to a sign that all share; none if it has to come `to_its_end` and
    does not."""
    try:
        support, values, cut_off = (_at_once if low_level() else _by_estimator)(kind, matrix, targets, prices, settings)
    except ValueError:  # "dual coefficients are not finite": a margin of zero, by which it divides
        return None
    if cut_off and to_its_end:
        return None
    coefficients = np.zeros(len(targets))
    coefficients[support] = np.ravel(values)
    return coefficients if np.isfinite(coefficients).all() else None


@cache
def low_level() -> Callable[..., tuple[Array, ...]] | None:
    """LIBSVM as scikit-learn's estimators call it. Their checks take as long as a fit of some hundred samples."""
    try:
        from sklearn.svm._libsvm import fit, set_verbosity_wrap
    except ImportError:
        return None
    set_verbosity_wrap(0)  # it prints until it is told not to
    return fit if set(signature(fit).parameters) >= NEEDED else None


def _at_once(kind: str, matrix: Array, targets: Array, prices: Array, settings: Settings) -> tuple[Array, Array, bool]:
    fit, of_classes = low_level(), kind in ("SVC", "NuSVC")
    assert fit is not None
    targets = (
        np.maximum(targets, 0.0) if of_classes else targets
    )  # classes are 0 and 1, as the weights of classes count them
    arrays = matrix, targets, prices, np.ones(2 * of_classes)
    matrix, targets, prices, classes = (np.ascontiguousarray(array, dtype=np.float64) for array in arrays)
    fitted = fit(matrix, targets, KINDS.index(kind), sample_weight=prices, class_weight=classes, **settings)
    return fitted[0], fitted[3], bool(fitted[7])


def _by_estimator(
    kind: str, matrix: Array, targets: Array, prices: Array, settings: Settings
) -> tuple[Array, Array, bool]:
    """The same by the public estimator."""
    import sklearn.svm

    checked = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)  # kernels have been validated
    with unheard(), checked:  # of no convergence: the certificate measures the result
        model = getattr(sklearn.svm, kind)(**settings).fit(matrix, targets, sample_weight=prices)
    return model.support_, model.dual_coef_, bool(model.fit_status_)


def centred_kernel(kernel: Array) -> Array:
    """Subtract the mean of the features, which y'α = 0 cancels: single precision then has more digits left."""
    means = kernel.mean(axis=0)
    return np.asarray(kernel - means - means[:, None] + means.mean())


def signed_kernel(kernel: Array, y: Array) -> Array:
    return y[:, None] * kernel * y
