"""LIBSVM by scikit-learn, for the machine with one kernel that a task makes: α, as good as LIBSVM's single precision.

With a bias, loss c is its C-SVC and loss nu its ν-SVC, whose α is ours up to a factor; without a bias loss nu is the
one-class SVM of the matrix Q. A loss of real targets whose α has the bounds ±r, such as the ε-insensitive, is SVR with
these r as prices, a curvature κ of the gain being added to the kernel's diagonal; where the tube is an unknown, ν-SVR.
"""

from __future__ import annotations

import math
import warnings
from typing import Protocol

import numpy as np

from ..formulations import Task
from ..problem.stack import Array
from .interior.sample_variables import SamplesSide, recorded

MAX_SWEEPS = 200_000
KINDS = ("SVC", "NuSVC", "OneClassSVM", "SVR", "NuSVR")  # in LIBSVM's order


class LibSVM(Protocol):
    """What is used of scikit-learn's machines."""

    support_: Array
    dual_coef_: Array

    def fit(self, matrix: Array, targets: Array, sample_weight: Array) -> object: ...


def serves(task: Task, samples: SamplesSide) -> bool:
    """Whether LIBSVM solves the machine of this task."""
    return bool(len(task.equalities()[0])) if samples.polyhedral else is_svr(task, samples)


def is_svr(task: Task, samples: SamplesSide) -> bool:
    return task.bias and samples.ends and bool((samples.low == -samples.high).all())


def libsvm(task: Task, samples: SamplesSide, kernel: Array, accuracy: float) -> Array | None:
    """α for this kernel, if LIBSVM finds one; `accuracy` is its own, of the margins."""
    return _svc(task, kernel, accuracy) if samples.polyhedral else _svr(task, samples, kernel, accuracy)


def _svc(task: Task, kernel: Array, accuracy: float) -> Array | None:
    from sklearn.svm import SVC, NuSVC, OneClassSVM

    total, positive = task.box.sum(), task.box[task.signs > 0].sum()
    if not task.loss_function.free_margin:
        model = SVC(C=1.0, **_settings(accuracy))
    elif task.bias:  # ν is relative to the sum of the boxes; not above what the smaller class allows, by rounding
        smaller = float(min(1.0, 2 * min(positive, total - positive)) / total)
        model = NuSVC(nu=smaller, **_settings(accuracy))
    else:
        model = OneClassSVM(nu=1 / total, **_settings(accuracy))
    matrix = kernel if task.bias else signed_kernel(kernel, task.signs)
    found = _coefficients(model, matrix, task.signs, task.box)
    if found is None:
        return None
    alpha = np.abs(found)
    return alpha / alpha.sum() if task.loss_function.free_margin else alpha


def _svr(task: Task, samples: SamplesSide, kernel: Array, accuracy: float) -> Array | None:
    from sklearn.svm import SVR, NuSVR

    shape, settings = recorded(task), _settings(accuracy * samples.unit)
    if task.loss_function.free_tube:
        share = min(1.0, task.loss_function.most(task.box) / math.fsum(shape.high))
        model: LibSVM = NuSVR(C=1.0, nu=share, **settings)
    else:
        model = SVR(C=1.0, epsilon=float(shape.epsilon.max()), **settings)
    matrix = kernel + np.diag(shape.kappa) if shape.kappa.any() else kernel
    return _coefficients(model, matrix, shape.a, shape.high)


def _settings(tolerance: float) -> dict[str, str | float | bool]:
    """Of LIBSVM; its tolerance is one of margins."""
    return {"kernel": "precomputed", "max_iter": MAX_SWEEPS, "shrinking": False, "tol": tolerance}


def _coefficients(model: LibSVM, matrix: Array, targets: Array, prices: Array) -> Array | None:
    """LIBSVM's dual coefficients, one per sample, those of labels up to a common sign."""
    try:
        support, coefficients = _fitted(model, matrix, targets, prices)
    except ValueError:  # such as a ν that is infeasible by rounding
        return None
    found = np.zeros(len(targets))
    found[support] = np.ravel(coefficients)
    return found if np.isfinite(found).all() else None  # a margin of zero, by which it divides


def _fitted(model: LibSVM, matrix: Array, targets: Array, prices: Array) -> tuple[Array, Array]:
    """The support and its coefficients, by the function behind scikit-learn's classes: what these check takes longer
    than LIBSVM itself up to n = 400. By the class where a version of scikit-learn has no such function."""
    from sklearn import config_context

    try:
        from sklearn.svm._libsvm import fit, set_verbosity_wrap

        set_verbosity_wrap(0)
        chosen = {name: getattr(model, name) for name in ("C", "nu", "epsilon", "tol", "max_iter", "cache_size")}
        kind = KINDS.index(type(model).__name__)
        goals = targets if kind > 2 else (targets > 0).astype(np.float64)
        entries, goals, prices = (np.ascontiguousarray(numbers) for numbers in (matrix, goals, prices))
        found = fit(entries, goals, kind, "precomputed", sample_weight=prices, shrinking=0, **chosen)
        return found[0], found[3]
    except (ImportError, TypeError):
        checked = config_context(assume_finite=True, skip_parameter_validation=True)  # kernels have been validated
        with warnings.catch_warnings(), checked:
            warnings.simplefilter("ignore")  # of no convergence: the certificate measures the result
            model.fit(matrix, targets, sample_weight=prices)
        return model.support_, model.dual_coef_


def centred_kernel(kernel: Array) -> Array:
    """Subtract the mean of the features, which y'α = 0 cancels: single precision then has more digits left."""
    means = kernel.mean(axis=0)
    return np.asarray(kernel - means - means[:, None] + means.mean())


def signed_kernel(kernel: Array, y: Array) -> Array:
    return y[:, None] * kernel * y
