"""The SVM inside an algorithm, for one combination of the kernels at a time; for other losses, what takes its place.

With a bias it is LIBSVM by scikit-learn: C-SVC for loss c, ν-SVC for loss nu, whose α is ours up to a factor. Without a
bias loss nu is the one-class SVM of the matrix Q, and loss c is the quadratic over a box of `interior.qp`, which starts
where it last ended. LIBSVM keeps kernels in single precision: where its α is not good enough for the tolerance, which
the SVM's own certificate tells, α is sharpened by the optimality conditions on the free samples, and where that fails
too, as with weights of very different size, the interior-point method of `interior.qp` solves the same program.

A loss of real targets whose α has the bounds ±r, such as the ε-insensitive, is LIBSVM's SVR with these r as prices, a
curvature κ of the gain being added to the kernel's diagonal; where the tube is an unknown, it is its ν-SVR. Every other
loss, and what LIBSVM leaves undone, is solved by `interior` with fixed weights: kernel ridge regression is a single
step of it, the logistic and the Poisson loss are Newton's method.

Many classes have an SVM each, with one kernel and without bias, which starts where it last ended (`fit_classes`).
`OverWeights` and `Alternating` are the algorithms that go from weights to weights, with an SVM for each.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from ..certificate import CertifiedPoint, certify
from ..certificate.run import Ending
from ..formulations import Points, RankOneCoefficients, Task
from ..formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask
from ..formulations.svm import SVM
from .driver import Algorithm, Array, Problem, State, drive
from .interior.qp import Quadratic, box_qp, interior_point
from .interior.sample_variables import recorded
from .interior.samples_side import samples_side
from .interior.single_task import InteriorSingle
from .polish import gain_gradient, sharpened

ENOUGH = 0.1  # of the tolerance: the largest relative gap of the SVM
COARSEST, FINEST = 1e-4, 1e-8  # LIBSVM's own tolerances, for it keeps kernels in single precision; ours is the finest
MAX_SWEEPS = 200_000


class Fit(NamedTuple):
    """The SVM at given weights: α, h_m = ½ q_m(α), and the value gain(α) − Σ weight_m h_m."""

    weights: Array
    alpha: Array
    halves: Array
    value: float

    def points(self, task: Task) -> Points:
        """α, and the classifier that weights and α imply."""
        return Points([self.alpha], [RankOneCoefficients(self.weights, self.alpha * task.signs)])


def fit(problem: Problem, weights: Array) -> Fit:
    """Solve the problem's SVM with kernel Σ weight_m K_m, and count it."""
    if not isinstance(problem.machine, Machine):
        problem.machine = Machine(problem.task, problem.tolerance)
    problem.svm_solves += 1
    alpha = problem.machine(problem.task.combined(weights))
    halves = problem.task.root_q(alpha) ** 2 / 2
    return Fit(weights, alpha, halves, problem.task.gain(alpha) - float(weights @ halves))


class LibSVM(Protocol):
    """What is used of scikit-learn's machines."""

    support_: Array
    dual_coef_: Array

    def fit(self, matrix: Array, targets: Array, sample_weight: Array) -> object: ...


class Machine:
    """The SVM of a task for one kernel after another."""

    def __init__(self, task: Task, tolerance: float) -> None:
        self.task, self.tolerance = task, tolerance
        self.accuracy = min(COARSEST, max(FINEST, ENOUGH * tolerance))  # of LIBSVM; finer once it was not enough
        self.last: Array | None = None

    def __call__(self, kernel: Array) -> Array:
        """α, good enough for the tolerance: from LIBSVM as it is, or sharpened, or from our own method."""
        single = self.task.alone(kernel)
        return min(self._attempts(single), key=lambda point: point.certificate.gap).lower.alpha

    def _attempts(self, single: Task) -> Iterator[CertifiedPoint]:
        """Candidates for α, until one has a tenth of the tolerance as its gap."""
        for attempt in self._methods(single):
            alpha = attempt(single)
            if alpha is None:
                continue
            point = _certified(single, alpha)
            yield point
            if not point.certificate.proves(ENOUGH * self.tolerance):
                self.accuracy = max(FINEST, self.accuracy / 10)
                point = _certified(single, sharpened(single, np.ones(1), point.lower.alpha, point.upper))
                yield point
            if point.certificate.proves(ENOUGH * self.tolerance):
                return

    def _methods(self, task: Task) -> tuple[Callable[[Task], Array | None], ...]:
        """What can solve a program of this shape, the fastest first."""
        samples = samples_side(task)
        if samples.polyhedral:
            return self._by_libsvm if len(task.equalities()[0]) else self._by_box, self._by_interior_point
        if task.bias and samples.ends and (samples.low == -samples.high).all():
            return self._by_svr, self._by_engine
        return (self._by_engine,)

    def _by_box(self, task: Task) -> Array:
        self.last = box_qp(_signed(task.kernels[0], task.signs), task.box, self.last)
        return self.last

    def _by_libsvm(self, task: Task) -> Array | None:
        from sklearn.svm import SVC, NuSVC, OneClassSVM

        total, positive = task.box.sum(), task.box[task.signs > 0].sum()
        matrix = _centred(task.kernels[0]) if task.bias else _signed(task.kernels[0], task.signs)
        if not task.loss_function.free_margin:
            model = SVC(C=1.0, **self._settings(1.0))
        elif task.bias:  # ν is relative to the sum of the boxes; not above what the smaller class allows, by rounding
            smaller = float(min(1.0, 2 * min(positive, total - positive)) / total)
            model = NuSVC(nu=smaller, **self._settings(1.0))
        else:
            model = OneClassSVM(nu=1 / total, **self._settings(1.0))
        found = _coefficients(model, matrix, task.signs, task.box)
        if found is None:
            return None
        alpha = np.abs(found)
        return alpha / alpha.sum() if task.loss_function.free_margin else alpha

    def _by_svr(self, task: Task) -> Array | None:
        from sklearn.svm import SVR, NuSVR

        shape, settings = recorded(task), self._settings(samples_side(task).unit)
        if task.loss_function.free_tube:
            share = min(1.0, task.loss_function.most(task.box) / math.fsum(shape.high))
            model: LibSVM = NuSVR(C=1.0, nu=share, **settings)
        else:
            model = SVR(C=1.0, epsilon=float(shape.epsilon.max()), **settings)
        return _coefficients(model, _centred(task.kernels[0]) + np.diag(shape.kappa), shape.a, shape.high)

    def _settings(self, unit: float) -> dict[str, str | float | bool]:
        """Of LIBSVM; its tolerance is one of margins, whose unit this is."""
        return {"kernel": "precomputed", "max_iter": MAX_SWEEPS, "shrinking": False, "tol": self.accuracy * unit}

    def _by_interior_point(self, task: Task) -> Array:
        q = _signed(task.kernels[0], task.signs)
        return interior_point(Quadratic(q, gain_gradient(task), task.box, *task.equalities()), 1e-10)

    def _by_engine(self, task: Task) -> Array:
        found, run = drive(InteriorSingle(), SVM, task, min(FINEST, ENOUGH * self.tolerance))
        if run.status is Ending.INTERRUPTED:
            raise KeyboardInterrupt
        return np.asarray(found.lower.alpha)


def _coefficients(model: LibSVM, matrix: Array, targets: Array, prices: Array) -> Array | None:
    """LIBSVM's dual coefficients, one per sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of no convergence: the certificate measures the result
        try:
            model.fit(matrix, targets, sample_weight=prices)
        except ValueError:  # "dual coefficients are not finite": a margin of zero, by which it divides
            return None
    found = np.zeros(len(targets))
    found[model.support_] = np.ravel(model.dual_coef_)
    return found


def _certified(single: Task, alpha: Array) -> CertifiedPoint:
    alpha = single.feasible(alpha)
    return certify(SVM, single, Points([alpha], [(alpha * single.signs)[None]]))


def _centred(kernel: Array) -> Array:
    """Subtract the mean of the features, which y'α = 0 cancels: single precision then has more digits left."""
    means = kernel.mean(axis=0)
    return np.asarray(kernel - means - means[:, None] + means.mean())


def _signed(kernel: Array, y: Array) -> Array:
    return y[:, None] * kernel * y


@dataclass(frozen=True)
class Fitted(State):
    """Weights, and the SVM that goes with them."""

    fit: Fit


class OverWeights(Algorithm[Fitted]):
    """Start from even weights, and offer the SVM's α with the classifier of the weights."""

    def start(self, problem: Problem) -> Fitted:
        weights = self.first_weights(problem)
        return Fitted(weights, fit(problem, weights))

    def points(self, problem: Problem, state: Fitted) -> Points:
        return state.fit.points(problem.task)

    def first_weights(self, problem: Problem) -> Array:
        return problem.even


class Alternating(OverWeights):
    """Algorithms that alternate: weights from α, then α from weights."""

    def step(self, problem: Problem, state: Fitted) -> Fitted:
        weights = self.new_weights(problem, state.fit)
        return Fitted(weights, fit(problem, weights))

    @abstractmethod
    def new_weights(self, problem: Problem, fitted: Fit) -> Array: ...


def norms(fitted: Fit) -> Array:
    """‖f_m‖ = μ_m √q_m(α), from h_m = ½ q_m(α)."""
    return np.asarray(fitted.weights * np.sqrt(2 * fitted.halves))


def floor(problem: Problem) -> float:
    """The least share: too small to matter for the tolerance, large enough for the SVM to be solved."""
    return max(1e-3 * problem.tolerance, 1e-9)


class ClassFits(NamedTuple):
    """Classes' SVMs at weights μ: α^k (k, n), h_km = ½ q_m^k (k, M), and the values H_k(μ) = 1'α^k − Σ_m μ_m h_km."""

    weights: Array
    alpha: Array
    halves: Array

    @property
    def values(self) -> Array:
        return np.asarray(self.alpha.sum(axis=1) - self.halves @ self.weights)

    def coefficients(self, task: LabelTask) -> Array:
        """f_k^m = μ_m K_m(α^k∘y^k), (k, M, n)."""
        return np.asarray(self.weights[None, :, None] * (self.alpha * task.signs)[:, None, :])

    def points(self, task: LabelTask, gamma: Array) -> Points:
        """(γ_k α^k, γ), and the classifiers with the weights."""
        dual = ClassDual(gamma[:, None] * self.alpha, gamma)
        return Points([dual], [ClassPrimal(self.coefficients(task), self.weights)])


def fit_classes(problem: Problem, weights: Array, which: Array | None = None, counted: bool = True) -> ClassFits:
    """The SVMs of all classes, or of some, with kernel Σ_m μ_m K_m."""
    task: LabelTask = problem.task
    chosen = np.arange(task.classes) if which is None else which
    kept = problem.machine if isinstance(problem.machine, np.ndarray) else np.zeros(task.signs.shape)
    problem.machine, kernel = kept, task.combined(weights)
    for k in chosen:
        kept[k] = box_qp(_signed(kernel, task.signs[k]), task.box, kept[k])
    problem.svm_solves += len(chosen) if counted else 0
    alpha = kept[chosen]
    return ClassFits(weights, alpha, replace(task, signs=task.signs[chosen]).q(alpha) / 2)
