"""The SVM inside an algorithm, for one combination of the kernels at a time; for other losses, what takes its place.

Where LIBSVM solves it (`libsvm`), it comes first. Without a bias loss c is the quadratic over a box of `interior.qp`,
which starts where it last ended. LIBSVM keeps kernels in single precision: where its α is not good enough for the
tolerance, which the SVM's own certificate tells, α is sharpened by the optimality conditions on the free samples, and
where that fails too, as with weights of very different size, the interior-point method of `interior.qp` solves the same
program. Every other loss, and what LIBSVM leaves undone, is solved by `interior` with fixed weights: kernel ridge
regression is a single step of it, the logistic and the Poisson loss are Newton's method.

Many classes have an SVM each, with one kernel and without bias, which starts where it last ended (`fit_classes`).
`OverWeights` and `Alternating` are the algorithms that go from weights to weights, with an SVM for each.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..certificate import CertifiedPoint, certify
from ..formulations import Points, RankOneCoefficients, Task
from ..formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask
from ..formulations.svm import SVM
from .driver import Algorithm, Array, Problem, State, drive
from .interior.qp import BoxQP, box_qp, interior_point
from .interior.samples_side import samples_side
from .interior.single_task import InteriorSingle
from .libsvm import centred_kernel, libsvm, serves, signed_kernel
from .polish import gain_gradient, sharpened

ENOUGH = 0.1  # of the tolerance: the largest relative gap of the SVM
COARSEST, FINEST = 1e-4, 1e-8  # LIBSVM's own tolerances, for it keeps kernels in single precision; ours is the finest


class SVMFit(NamedTuple):
    """The SVM at given weights: α, h_m = ½ q_m(α), and the value gain(α) − Σ weight_m h_m."""

    weights: Array
    alpha: Array
    halves: Array
    value: float

    def points(self, task: Task) -> Points:
        """α, and the classifier that weights and α imply."""
        return Points([self.alpha], [RankOneCoefficients(self.weights, self.alpha * task.signs)])


def fit(problem: Problem, weights: Array) -> SVMFit:
    """Solve the problem's SVM with kernel Σ weight_m K_m, and count it."""
    if not isinstance(problem.machine, WeightedSVM):
        problem.machine = WeightedSVM(problem.task, problem.tolerance)
    problem.svm_solves += 1
    alpha = problem.machine(problem.task.combined(weights))
    halves = problem.task.root_q(alpha) ** 2 / 2
    return SVMFit(weights, alpha, halves, problem.task.gain(alpha) - float(weights @ halves))


class WeightedSVM:
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
            return self._by_libsvm if serves(task, samples) else self._by_box, self._by_interior_point
        return (self._by_libsvm, self._by_engine) if serves(task, samples) else (self._by_engine,)

    def _by_box(self, task: Task) -> Array:
        self.last = box_qp(signed_kernel(task.kernels[0], task.signs), task.box, self.last)
        return self.last

    def _by_libsvm(self, task: Task) -> Array | None:
        kernel = centred_kernel(task.kernels[0]) if task.bias else task.kernels[0]
        return libsvm(task, samples_side(task), kernel, self.accuracy)

    def _by_interior_point(self, task: Task) -> Array:
        q = signed_kernel(task.kernels[0], task.signs)
        return interior_point(BoxQP(q, gain_gradient(task), task.box, *task.equalities()), 1e-10)

    def _by_engine(self, task: Task) -> Array:
        point, _ = drive(InteriorSingle(), SVM, task, min(FINEST, ENOUGH * self.tolerance))
        return np.asarray(point.lower.alpha)


def _certified(single: Task, alpha: Array) -> CertifiedPoint:
    alpha = single.feasible(alpha)
    return certify(SVM, single, Points([alpha], [(alpha * single.signs)[None]]))


@dataclass(frozen=True)
class Fitted(State):
    """Weights, and the SVM that goes with them."""

    fit: SVMFit


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
    def new_weights(self, problem: Problem, fitted: SVMFit) -> Array: ...


def norms(fitted: SVMFit) -> Array:
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
        kept[k] = box_qp(signed_kernel(kernel, task.signs[k]), task.box, kept[k])
    problem.svm_solves += len(chosen) if counted else 0
    alpha = kept[chosen]
    return ClassFits(weights, alpha, replace(task, signs=task.signs[chosen]).q(alpha) / 2)
