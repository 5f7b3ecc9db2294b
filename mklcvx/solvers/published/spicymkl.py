"""spicymkl — proximal steps in f, Newton's method in α, for the group lasso with a smooth dual (Suzuki & Tomioka 2011).

    f^{t+1} = argmin over f and b of   λ Σ_m ‖f_m‖ + risk(f + b) + Σ_m ‖f_m − f_m^t‖²/(2η)

Its dual has a variable per sample, and no constraint by the kernels: with β = s∘α and u_m = f_m^t + η K_mβ = K_m v_m

    min over α of   φ(α) = Σ_m (‖u_m‖ − ηλ)₊²/(2η) − gain(α),      s'α = 0 with a bias
    f_m = r_m u_m,   r_m = (1 − ηλ/‖u_m‖)₊
    gradient of φ    s∘f − gain'(α)
    its Hessian      curvature(α) + s∘[Σ_m η r_m K_m + η²λ/‖u_m‖³ (K_m v_m)(K_m v_m)']∘s,      over r_m > 0 alone

This is the augmented Lagrangian method for the dual (DAL): a kernel with ‖u_m‖ ≤ ηλ is switched off exactly, and costs
nothing in the Hessian. Newton's method ends where |gradient|² ≤ (γ/η) Σ‖f_m^{t+1} − f_m^t‖², γ the least curvature of
the gain: with an η that doubles from step to step convergence is superlinear. The gain must be smooth inside its
domain and steep at its ends, as that of the squared, the logistic and the Poisson loss. α is the dual point, shortened
until √q_m ≤ λ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...errors import InputError
from ...formulations import Points, Task
from ...formulations.losses import LOGISTIC, POISSON, SQUARED
from ..driver import Algorithm, Array, Problem, State
from ..interior.qp import factored
from ..interior.samples_side import samples_side

GROWTH = 2.0  # of η from step to step
NEWTON_STEPS = 50
SUFFICIENT = 1e-4  # of the decrease that the gradient promises (Armijo)
HALVINGS = 40
INSIDE = 0.95  # of the way to an end of α
ROUNDING = 2.0**-46  # of the larger terms: what a vanishing gradient or decrease may be off by


@dataclass(frozen=True)
class Proximal(State):
    """Coefficients c_m of f_m, their images K_m c_m, α and the η of the next step."""

    coefficients: Array
    images: Array
    alpha: Array
    eta: float


@dataclass(frozen=True)
class SpicyMKL(Algorithm[Proximal]):
    name = "spicymkl"
    summary = "proximal steps in f, each by Newton's method in α"
    reference = "Suzuki & Tomioka 2011"
    serves = ("group_lasso",)
    losses = (SQUARED.name, LOGISTIC.name, POISSON.name)
    tolerance = 1e-6
    max_iter = 100

    eta: float = 1.0  # at the start, in units in which kernels, targets and λ have the size one

    def __post_init__(self) -> None:
        if not self.eta > 0:
            raise InputError(f"option eta = {self.eta:g} is not positive: the default is 1")

    def start(self, problem: Problem) -> Proximal:
        """f = 0, and α in the middle."""
        task, nothing = problem.task, np.zeros((problem.task.count, problem.task.samples))
        unit = task.spread() / np.sqrt(task.typical_kernel_size()) / task.own["lam"]
        return Proximal(np.zeros(task.count), nothing, nothing, task.feasible(centre(task)), self.eta * unit)

    def step(self, problem: Problem, state: Proximal) -> Proximal:
        inner = Augmented(problem.task, state)
        first = inner.at(state.alpha, problem.task.matvecs(state.alpha * problem.task.signs))
        last = inner.minimised(first)
        coefficients, images = inner.functions(last)
        if last is first and np.array_equal(coefficients, state.coefficients):
            return replace(state, stop_reason="neither f nor α moves any more")
        weights = last.kept * last.lengths / problem.task.own["lam"]
        return Proximal(weights, coefficients, images, last.alpha, GROWTH * state.eta)

    def points(self, problem: Problem, state: Proximal) -> Points:
        return Points([state.alpha], [state.coefficients])


def centre(task: Task) -> Array:
    """α = 0, or halfway to its upper end: where the gain has the least curvature. For counts halfway to the α of the
    best constant, for α = 0 is the end of a count of 0."""
    if task.loss_function.log_link:
        return task.box * (task.y - samples_side(task).centre(task)) / 2
    return np.where(np.isfinite(task.limit), task.limit, 0.0) / 2


class Point(NamedTuple):
    """α, K_mβ, K_m v_m, ‖u_m‖, r_m and φ."""

    alpha: Array
    seen: Array
    pulled: Array
    lengths: Array
    kept: Array
    value: float


class Augmented:
    """φ of a proximal step."""

    def __init__(self, task: Task, state: Proximal) -> None:
        self.task, self.before, self.eta = task, state, state.eta
        self.wall = state.eta * task.own["lam"]

    def at(self, alpha: Array, seen: Array) -> Point:
        pulled = self.before.images + self.eta * seen
        squares = np.einsum("mi,mi->m", self._mixed(alpha), pulled)
        lengths = np.sqrt(np.maximum(squares, 0.0))
        beyond = np.maximum(lengths - self.wall, 0.0)
        kept = np.divide(beyond, lengths, out=np.zeros(len(lengths)), where=beyond > 0)
        value = float(beyond @ beyond) / (2 * self.eta) - self.task.gain(alpha)
        return Point(alpha, seen, pulled, lengths, kept, value)

    def _mixed(self, alpha: Array) -> Array:
        """v_m."""
        return np.asarray(self.before.coefficients + self.eta * alpha * self.task.signs)

    def functions(self, point: Point) -> tuple[Array, Array]:
        """Coefficients and images of the f_m that α implies."""
        return point.kept[:, None] * self._mixed(point.alpha), point.kept[:, None] * point.pulled

    def minimised(self, point: Point) -> Point:
        """Newton's method, until the gradient is small beside what f has moved; the point itself if it is good enough
        or has no step from it."""
        least = float(self._curvature(centre(self.task)).min())
        for _ in range(NEWTON_STEPS):
            slopes, margins = self._slopes(point.alpha), self.task.signs * (point.kept @ point.pulled)
            gradient = margins - slopes
            left = float(np.linalg.norm(self._projected(gradient)))
            coefficients, images = self.functions(point)
            moved = np.sum((coefficients - self.before.coefficients) * (images - self.before.images))
            size = float(np.linalg.norm(margins) + np.linalg.norm(slopes))
            if left <= max(np.sqrt(least * max(float(moved), 0.0) / self.eta), ROUNDING * size):
                break
            after = self._searched(point, gradient, self._newton(point, gradient))
            if after is None:
                break
            point = after
        return point

    def _slopes(self, alpha: Array) -> Array:
        return self.task.loss_function.gradient(alpha, self.task.y, self.task.box)

    def _curvature(self, alpha: Array) -> Array:
        return self.task.loss_function.curvature(alpha, self.task.y, self.task.box)

    def _projected(self, gradient: Array) -> Array:
        """Along s'α = 0, where that is asked for: what a bias takes off."""
        for row in self.task.equalities()[0]:
            gradient = gradient - row * float(row @ gradient) / float(row @ row)
        return gradient

    def _newton(self, point: Point, gradient: Array) -> Array:
        task, active = self.task, np.flatnonzero(point.kept)
        kernel = task.combined(np.where(point.kept > 0, self.eta * point.kept, 0.0))
        turned = point.pulled[active] * np.sqrt(self.eta * self.wall / point.lengths[active] ** 3)[:, None]
        hessian = task.signs[:, None] * (kernel + turned.T @ turned) * task.signs
        solve = factored(hessian + np.diag(self._curvature(point.alpha)))
        step = solve(-gradient)
        for row in task.equalities()[0]:
            solved = solve(row)
            step = step - solved * float(row @ step) / float(row @ solved)
        return step

    def _searched(self, point: Point, gradient: Array, step: Array) -> Point | None:
        """The first of the shortened steps that descends enough; None where rounding lets none."""
        task, promised = self.task, float(gradient @ step)
        if not promised < 0:
            return None
        room = np.where(step > 0, task.limit - point.alpha, point.alpha - task.low)
        lengths = np.divide(room, np.abs(step), out=np.full(len(step), np.inf), where=step != 0)
        first, seen = min(1.0, INSIDE * float(lengths.min())), task.matvecs(step * task.signs)
        for length in first * 0.5 ** np.arange(HALVINGS):
            after = self.at(point.alpha + length * step, point.seen + length * seen)
            if after.value <= point.value + SUFFICIENT * length * promised + ROUNDING * abs(point.value):
                return after
        return None
