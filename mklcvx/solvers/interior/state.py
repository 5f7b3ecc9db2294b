"""The state of the interior-point method of single tasks: an interior point with its residuals, and the first point,
whose multipliers meet the equations with no product below τ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Task
from ..driver import State
from .active_set import ActiveSetPoint
from .elimination import ReducedGroups
from .loop import Array
from .reduced_hessian import ReducedHessian
from .saddle import KKTResiduals, SaddleIterate, residuals
from .sample_variables import DualPoint, SamplesSide
from .settings import NEARLY_ZERO, SETTINGS, TINY
from .weights_side import Shared, Side

KEPT = ("warm_start_point", "before_elimination", "rejected_eliminations")  # from step to step


@dataclass(frozen=True)
class IPMState(State):
    """An interior point with the images K_m(α∘y).

    `active_set_point` is the optimum itself where it was found directly; `warm_start_point` an earlier point, from
    which the way to a neighbouring optimum is short; `before_elimination` the state before groups of kernels were
    eliminated, and `rejected_eliminations` the groups for which that was wrong; `earlier` the best state so far where
    `waited` steps have made no progress."""

    at: SaddleIterate
    side: Side
    hessian: ReducedHessian
    images: Array
    residuals: KKTResiduals
    scale: float
    first_mu: float
    earlier: IPMState | None = None
    waited: int = 0
    active_set_point: ActiveSetPoint | None = None
    warm_start_point: SaddleIterate | None = None
    before_elimination: IPMState | None = None
    rejected_eliminations: tuple[int, ...] = ()

    @property
    def best(self) -> IPMState:
        """The best state so far, to return to if rounding spoils later ones."""
        return self.earlier or self

    @property
    def active_set_guess(self) -> ActiveSetPoint:
        at = self.at
        near = at.alpha, at.x, at.nu, at.kappa, self.images, at.tube
        return self.active_set_point or ActiveSetPoint(*near)

    @cached_property
    def relative_complementarity(self) -> float:
        return (self.at.complementarity + self.side.samples.residual_gap(self.residuals.alpha, self.at)) / self.scale

    @cached_property
    def error(self) -> float:
        """An estimate of the gap: the complementarity, and what the residuals may hide."""
        return self.at.complementarity + self.residuals.amount(self.side, self.at)

    def moved_to(self, side: Side, at: SaddleIterate, images: Array) -> IPMState:
        """The state at another point of the same run."""
        return evaluated(side, self.hessian, at, images, self.first_mu, **{name: getattr(self, name) for name in KEPT})

    def without(self, side: ReducedGroups) -> IPMState:
        """The state with groups of kernels eliminated."""
        assert isinstance(self.side, Shared)
        at = side.reduced_point(self.side, self.at, self.images)
        return replace(self.moved_to(side, at, self.images), before_elimination=self.before_elimination or self)

    def restored(self, groups: Sequence[int] = ()) -> IPMState:
        """The state before the elimination, which was wrong for these groups; by default for all of them."""
        assert self.before_elimination is not None
        assert isinstance(self.side, ReducedGroups)
        rejected = (*self.rejected_eliminations, *(groups or self.side.eliminated))
        return replace(self.before_elimination, rejected_eliminations=rejected)

    def followed_by(self, after: IPMState) -> IPMState:
        """The state after a step; the best state, as the end, if there has been no progress for too long."""
        if after.error <= SETTINGS.progress * self.best.error:
            exhausted = 0 < after.at.mu <= SETTINGS.exhausted * self.first_mu
            return replace(after, stop_reason=Ending.NO_PROGRESS) if exhausted else after
        if self.waited >= SETTINGS.patience:
            return replace(self.best, stop_reason=Ending.NO_PROGRESS)
        return replace(after, earlier=self.best, waited=self.waited + 1)


def evaluated(
    side: Side, hessian: ReducedHessian, at: SaddleIterate, images: Array, first_mu: float, **kept: Any
) -> IPMState:
    """The state at a point; `kept` are fields of the state before it."""
    samples, weights = side.samples, side.weights(at.x)
    # The scale of the relative gap: Σ μ_m q_m, unless f vanishes; then the certificate compares the gap with the gain.
    value, gain = float(weights @ (images @ (at.alpha * samples.signs))), abs(float(samples.a @ at.alpha))
    scale = max(value if value > VANISHING * gain else SETTINGS.vanished_scale * gain, NEARLY_ZERO)
    return IPMState(weights, at, side, hessian, images, residuals(side, at, images), scale, first_mu, **kept)


def balanced(task: Task, alpha: Array) -> Array:
    """α with the heavier side scaled down, so that s'α = 0."""
    beta = alpha * task.signs
    up, down = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    if not task.bias or not up or not down:
        return alpha
    return alpha * np.where(beta > 0, min(1.0, down / up), min(1.0, up / down))


def first_alpha(samples: SamplesSide, task: Task, weights: Array) -> tuple[Array, Array]:
    """A direction of α, twice as far as is best along it, and the images K_mβ."""
    shares = _towards_targets(samples, task) if samples.two_sided else _even(task)
    alpha = shares * task.box
    images, length = task.matvecs(alpha * task.signs), 1.0
    if not task.loss_function.free_margin:
        cost = float(weights @ (images @ (alpha * task.signs))) + float(samples.kappa @ alpha**2)
        length = 2 * samples.linear_gain(alpha) / cost if cost > 0 else np.inf if alpha.any() else 0.0
    most = float(np.max(np.abs(shares) / (np.where(alpha < 0, -samples.low, samples.high) / task.box)))
    most = max(most, samples.share_of_sum(alpha))
    length = min(length, SETTINGS.max_start / most) if most > 0 else length
    return length * shares * task.box, length * images


def first_weights(side: Side) -> Array:
    """x at the start. Where no constraint sets the size of the weights, real targets do: the size at which the slope of
    the regulariser balances the gradient at the α that is best along `_towards_targets`. Where the slope is the
    stronger at every size, as in the group lasso of a large λ, it is the size from which on the kernels shorten that
    α."""
    x, samples, task = side.start(), side.samples, side.task
    if not samples.two_sided or not len(x) or len(side.equality_jacobian(x)):
        return x
    alpha = _towards_targets(samples, task) * task.box
    q, weights = task.quad_forms(alpha), side.weights(x)
    reach = np.where(alpha < 0, -samples.low, samples.high)
    most = 1 / max(float(np.max(np.abs(alpha) / reach)), TINY)

    def length(size: float) -> float:
        cost = size * float(weights @ q) + float(samples.kappa @ alpha**2)
        return min(samples.linear_gain(alpha) / max(cost, TINY), most)

    def excess(size: float) -> float:
        return float(x @ side.gradient(size * x, length(size) ** 2 * q / 2))

    low, high = -SETTINGS.start_power, SETTINGS.start_power
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (low, middle) if excess(2.0**middle) > 0 else (middle, high)
    size, seen = 2.0**low, length(0.0) * float(weights @ q)
    if low == -SETTINGS.start_power and seen > 0:
        size = float(np.clip(samples.linear_gain(alpha) / seen, size, 2.0**SETTINGS.start_power))
    return x * size


def ridge_alpha(side: Side, hessian: ReducedHessian, weights: Array) -> Array:
    """The optimum at these weights but for a kink, where no bound is in the way: (K(μ) + κ)β = a − A'ν, Aβ = 0."""
    rows, _ = side.balance
    hessian.set_weights(weights)
    hessian.factor(side.samples.kappa)
    solved = hessian.solve_roughly(np.vstack([side.samples.a, rows]))
    if not len(rows):
        return solved[0]
    return np.asarray(solved[0] - np.linalg.solve(rows @ solved[1:].T, rows @ solved[0]) @ solved[1:])


def _even(task: Task) -> Array:
    """The same share of every sample's price within a class, both classes with the same sum."""
    positive = task.signs > 0
    sides = (positive, ~positive) if task.bias else (np.ones(task.samples, dtype=bool),)
    shares = np.zeros(task.samples)
    for side in sides:
        shares[side] = 1 / (len(sides) * task.box[side].sum())
    return shares


def _towards_targets(samples: SamplesSide, task: Task) -> Array:
    """α by price: the residuals that the best constant leaves, or 0 without a bias, cut off where they are large."""
    price, away = task.box, task.y - samples.centre(task)
    away = away if samples.kappa.any() else away / max(float(np.abs(away).mean()), TINY)
    return balanced(task, np.clip(away * price, samples.low, samples.high)) / price


def first_point(side: Side, x: Array, alpha: Array, images: Array, share: float = SETTINGS.first_mu) -> SaddleIterate:
    """Multipliers that meet the equations as far as possible, with no product below τ."""
    samples, (rows, _), beta = side.samples, side.balance, alpha * side.samples.signs
    at = DualPoint(alpha, *samples.distances(alpha))
    of_kernels = side.pull(x, images) - samples.signs * samples.smooth_slope(at)
    nu = np.asarray(-np.linalg.lstsq(rows.T, of_kernels, rcond=None)[0], dtype=np.float64)
    by_sample = samples.signs * (of_kernels + nu @ rows)
    tube = samples.first_tube(by_sample)
    gradient = samples.by_variable(by_sample) + samples.at(tube).kink_price
    if samples.smooth:  # no multipliers: the value, shared among the weights' variables, is the unit
        z = w = alpha[:0]
        tau = share * max(float(side.weights(x) @ (images @ beta)) / max(len(x), 1), TINY)
    else:
        nearest = np.minimum(at.lower, at.upper) if len(at.upper) else at.lower
        tau = share * max(float(np.mean(np.abs(gradient) * nearest)), TINY)
        w = np.maximum(tau / at.upper, (tau / at.lower - gradient)[: len(at.upper)])
        z = gradient + w if len(w) else np.maximum(gradient, tau / at.lower)
    cap_slack, s, u, kappa = first_multipliers(side, x, side.halves(images, beta), tau)
    return SaddleIterate(alpha, at.lower, at.upper, x, cap_slack, z, w, s, u, nu, kappa, tube)


def first_multipliers(side: Side, x: Array, halves: Array, tau: float) -> tuple[Array, Array, Array, Array]:
    """The slacks of caps, the multipliers s and u of bounds and caps, and κ of equalities, at ½q = halves."""
    cap_slack = np.maximum(side.caps - x[: len(side.caps)], SETTINGS.min_cap_slack * side.caps)
    gradient_x, jacobian = side.gradient(x, halves), side.equality_jacobian(x)
    tau *= side.unit
    wanted = tau / x - side.sign * gradient_x
    kappa = np.array([_multiplier(row, wanted, side.sign, len(cap_slack)) for row in jacobian])
    gradient_x = side.sign * (gradient_x + kappa @ jacobian)
    u = np.maximum(tau / cap_slack, (tau / x - gradient_x)[: len(cap_slack)])
    gradient_x[: len(cap_slack)] += u
    return cap_slack, np.maximum(gradient_x, tau / x), u, kappa


def _multiplier(row: Array, wanted: Array, sign: Array, capped: int) -> float:
    """κ of one equality: enough for all its variables, or for them on average where caps can make up for it."""
    seen = row > 0
    ratios = wanted[seen] / row[seen]
    return float(sign[seen][0] * (ratios.mean() if capped else ratios.max()))
