"""The state of the interior-point method of single tasks: an interior point with its residuals, and the first point,
whose multipliers meet the equations with no product below τ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Task
from ..driver import State
from ..polish import gain_gradient
from .active_set import ActiveSetPoint
from .elimination import ReducedGroups
from .loop import Array
from .reduced_hessian import ReducedHessian
from .saddle import Residuals, SaddleIterate, balance, residuals
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
    residuals: Residuals
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
        near = at.alpha, at.alpha + at.box_slack, at.x, at.nu, at.kappa, self.images
        return self.active_set_point or ActiveSetPoint(*near)

    @property
    def relative_complementarity(self) -> float:
        return self.at.complementarity / self.scale

    @property
    def error(self) -> float:
        """An estimate of the gap: the complementarity, and what the residuals may hide."""
        return self.at.complementarity + self.residuals.amount(self.at)

    def moved_to(self, side: Side, at: SaddleIterate, images: Array) -> IPMState:
        """The state at another point of the same run."""
        kept = {name: getattr(self, name) for name in KEPT}
        return replace(evaluated(side, self.hessian, at, images, self.first_mu), **kept)

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
            exhausted = after.at.mu <= SETTINGS.exhausted * self.first_mu
            ending = Ending.NO_PROGRESS if exhausted else Ending.NONE
            return replace(after, earlier=None, waited=0, dead_end=ending)
        if self.waited >= SETTINGS.patience:
            return replace(self.best, dead_end=Ending.NO_PROGRESS)
        return replace(after, earlier=self.best, waited=self.waited + 1)


def evaluated(side: Side, hessian: ReducedHessian, at: SaddleIterate, images: Array, first_mu: float) -> IPMState:
    """The state at a point."""
    task, weights = side.task, side.weights(at.x)
    # The scale of the relative gap: Σ μ_m q_m, unless f vanishes; then the certificate compares the gap with the gain.
    value, gain = float(weights @ (images @ (at.alpha * task.y))), float(gain_gradient(task) @ at.alpha)
    scale = max(value if value > VANISHING * gain else SETTINGS.vanished_scale * gain, NEARLY_ZERO)
    return IPMState(weights, at, side, hessian, images, residuals(side, at, images), scale, first_mu)


def balanced(task: Task, alpha: Array) -> Array:
    """α with the larger class scaled down, so that y'α = 0."""
    if not task.bias:
        return alpha
    positive = task.y > 0
    up, down = float(alpha[positive].sum()), float(alpha[~positive].sum())
    return alpha * np.where(positive, min(1.0, down / up), min(1.0, up / down))


def first_alpha(task: Task, weights: Array) -> tuple[Array, Array]:
    """The same share of every sample's box within a class, twice the best one, and the images K_m(α∘y)."""
    positive = task.y > 0
    sides = (positive, ~positive) if task.bias else (np.ones(task.samples, dtype=bool),)
    shares = np.zeros(task.samples)
    for side in sides:
        shares[side] = 1 / (len(sides) * task.box[side].sum())
    images, length = task.matvecs(shares * task.box * task.y), 1.0
    if not task.loss_function.free_margin:
        cost = float(weights @ (images @ (shares * task.box * task.y)))
        length = 2 / cost if cost > 0 else np.inf
    length = min(length, SETTINGS.max_start / float(shares.max()))
    return length * shares * task.box, length * images


def first_point(side: Side, x: Array, alpha: Array, images: Array, share: float = SETTINGS.first_mu) -> SaddleIterate:
    """Multipliers that meet the equations as far as possible, with no product below τ."""
    task, (rows, _) = side.task, balance(side)
    box_slack, beta = task.box - alpha, alpha * task.y
    pull = side.weights(x) @ images - task.y * gain_gradient(task)
    nu = np.asarray(-np.linalg.lstsq(rows.T, pull, rcond=None)[0], dtype=np.float64)
    gradient = task.y * (pull + nu @ rows)
    tau = share * max(float(np.mean(np.abs(gradient) * np.minimum(alpha, box_slack))), TINY)
    w = np.maximum(tau / box_slack, tau / alpha - gradient)
    cap_slack = np.maximum(side.caps - x[: len(side.caps)], SETTINGS.min_cap_slack * side.caps)
    gradient_x, jacobian = side.gradient(x, images @ beta / 2), side.equality_jacobian(x)
    wanted = tau / x - side.sign * gradient_x
    kappa = np.array([_multiplier(row, wanted, side.sign, len(cap_slack)) for row in jacobian])
    gradient_x = side.sign * (gradient_x + kappa @ jacobian)
    u = np.maximum(tau / cap_slack, (tau / x - gradient_x)[: len(cap_slack)])
    gradient_x[: len(cap_slack)] += u
    s = np.maximum(gradient_x, tau / x)
    return SaddleIterate(alpha, box_slack, x, cap_slack, gradient + w, w, s, u, nu, kappa)


def _multiplier(row: Array, wanted: Array, sign: Array, capped: int) -> float:
    """κ of one equality: enough for all its variables, or for them on average where caps can make up for it."""
    seen = row > 0
    ratios = wanted[seen] / row[seen]
    return float(sign[seen][0] * (ratios.mean() if capped else ratios.max()))
