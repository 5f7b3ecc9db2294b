"""The weights' side of a saddle, as Newton's method sees it: some positive variables x, and the weights μ(x) they make.

    L(α, x) = gain(α) − Σ_m μ_m(x) ½q_m(α) + R(x),      e(x) = 0,   0 ≤ x ≤ cap

A variable is minimised (sign +1) or maximised (sign −1). The kinds: weights that are given; weights with a
regulariser, where x = μ, and a slack makes an equality of a curved constraint; weights that are concave functions of
shares on the simplex, where x = t and R = 0; shares between and within groups of kernels, where x = (t_j, t_m) and
μ_m = 2c t_m/t_j^e, or x = t_m if e = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...formulations import SingleTask, Task
from ...formulations._groups import group_shares, group_sums
from .loop import Array
from .sample_variables import SamplesSide
from .samples_side import samples_side
from .settings import SETTINGS, TINY


class Side:
    """Without variables: the weights are given. No step aims below `min_centring` times the present τ."""

    min_centring = 0.0
    unit = 1.0  # of the products of x in those of the samples, at the start
    sparse = False  # whether x may be zero: derivatives are finite there

    def __init__(self, task: Task, weights: Array, samples: SamplesSide | None = None) -> None:
        self.task, self.given, self.samples = task, weights, samples or samples_side(task)
        self.null_rows = np.zeros((0, task.samples))  # whose products with β vanish
        self.sign = np.zeros(0)
        self.caps = np.zeros(0)  # of the first variables

    @cached_property
    def balance(self) -> tuple[Array, Array]:
        """A and t of Aβ = t: Σβ = 0 with a bias, s'β = 1 where the margin is free, B'β = 0 of eliminated groups."""
        rows, totals = self.task.equalities()
        return np.vstack([rows * self.samples.signs, self.null_rows]), np.append(totals, np.zeros(len(self.null_rows)))

    def start(self) -> Array:
        return np.zeros(0)

    def step_limit(self, x: Array, change: Array) -> float:
        """How long Newton's model of the weights holds along a direction."""
        return 1.0

    def least(self, x: Array) -> Array:
        """The least x after one step of Newton's method for the weights."""
        return 0.0 * x if self.sparse else SETTINGS.shrink * x

    def within(self, x: Array) -> Array:
        """x within its bounds: those that Newton's model holds there are solved for roughly."""
        inside = np.maximum(x, 0.0 if self.sparse else TINY)
        inside[: len(self.caps)] = np.minimum(inside[: len(self.caps)], self.caps)
        return inside

    def weights(self, x: Array) -> Array:
        return self.given

    def pull(self, x: Array, images: Array) -> Array:
        """Minus the derivative of L in β, but for the gain: the outputs Σ_m μ_m(x) K_mβ."""
        return self.weights(x) @ images

    def halves(self, images: Array, beta: Array) -> Array:
        """½q(α)."""
        return images @ beta / 2

    def best_scale(self, x: Array, halves: Array) -> float:
        """The factor of all weights that is best for the f that x and ½q(α) = halves make; 1 where none is free."""
        return 1.0

    def jacobian_product(self, x: Array, images: Array) -> Array:
        """Σ_m (row m of `images`) ∂μ_m/∂x, a row for every variable."""
        return images[:0]

    def columns(self, rows: Array) -> Array:
        """What x and ν change in the equations of α, given what α changes in theirs."""
        return rows

    def gradient(self, x: Array, halves: Array) -> Array:
        """∂L/∂x at ½q(α) = halves."""
        return np.zeros(0)

    def hessian(self, x: Array, halves: Array, kappa: Array) -> Array:
        """∂²(L + κ'e)/∂x²."""
        return np.zeros((0, 0))

    def equalities(self, x: Array) -> Array:
        return np.zeros(0)

    def equality_jacobian(self, x: Array) -> Array:
        """∂e/∂x."""
        return np.zeros((0, 0))


class Regularised(Side):
    """x = μ, and the slack of a curved constraint last."""

    def __init__(self, task: Task, formulation: SingleTask, samples: SamplesSide | None = None) -> None:
        side = formulation.regulariser
        assert side is not None
        super().__init__(task, side.start(task.count, **task.own), samples)
        self.side, self.own, self.constraint = side, task.own, side.constraint
        self.slack = int(side.constraint is not None and side.constraint.curved)
        self.sign = np.ones(task.count + self.slack)
        if side.cap is not None:
            self.caps = np.full(task.count, side.cap(**task.own))
        parts = [part for part in (side, side.constraint) if part is not None]
        with np.errstate(all="ignore"):
            at_zero = [f(np.zeros(task.count), **task.own) for part in parts for f in (part.slope, part.curvature)]
        self.sparse = all(np.isfinite(values).all() for values in at_zero)

    def start(self) -> Array:
        x = self.given
        if self.constraint is None or not self.slack:
            return x
        return np.append(x, max(1 - float(self.constraint.value(x, **self.own).sum()), SETTINGS.min_start_slack))

    def weights(self, x: Array) -> Array:
        return x[: self.task.count]

    def best_scale(self, x: Array, halves: Array) -> float:
        """The least of ½ Σ a²/(sμ) + R(sμ) where no constraint sets the size of μ: R is homogeneous then."""
        if self.constraint is not None:
            return 1.0
        mu = self.weights(x)
        price, value = float(self.side.slope(mu, **self.own) @ mu), float(self.side.value(mu, **self.own).sum())
        return float((mu @ halves / price) ** (value / (value + price))) if value > 0 else 1.0

    def jacobian_product(self, x: Array, images: Array) -> Array:
        return np.vstack([images, np.zeros((1, images.shape[1]))]) if self.slack else images

    def gradient(self, x: Array, halves: Array) -> Array:
        return self._padded(self.side.slope(self.weights(x), **self.own) - halves)

    def hessian(self, x: Array, halves: Array, kappa: Array) -> Array:
        hessian_diag = self.side.curvature(self.weights(x), **self.own)
        if self.constraint is not None:
            hessian_diag = hessian_diag + kappa[0] * self.constraint.curvature(self.weights(x), **self.own)
        return np.diag(self._padded(hessian_diag))

    def equalities(self, x: Array) -> Array:
        if self.constraint is None:
            return np.zeros(0)
        slack = x[-1] if self.slack else 0.0
        return np.array([float(self.constraint.value(self.weights(x), **self.own).sum()) - 1 + slack])

    def equality_jacobian(self, x: Array) -> Array:
        if self.constraint is None:
            return np.zeros((0, len(x)))
        slope = self.constraint.slope(self.weights(x), **self.own)
        return (np.append(slope, 1.0) if self.slack else slope)[None]

    def _padded(self, values: Array) -> Array:
        return np.append(values, 0.0) if self.slack else values


class ConcaveShares(Side):
    """x = t on the simplex, μ_m a concave function of t_m."""

    def __init__(self, task: Task, formulation: SingleTask, samples: SamplesSide | None = None) -> None:
        super().__init__(task, np.zeros(task.count), samples)
        assert formulation.regulariser is not None
        assert formulation.regulariser.of_shares is not None
        self.of_shares, self.own = formulation.regulariser.of_shares, task.own
        self.sign = np.ones(task.count)

    def start(self) -> Array:
        return np.full(self.task.count, 1 / self.task.count)

    def weights(self, x: Array) -> Array:
        return self.of_shares.value(x, **self.own)

    def jacobian_product(self, x: Array, images: Array) -> Array:
        return self.of_shares.slope(x, **self.own)[:, None] * images

    def gradient(self, x: Array, halves: Array) -> Array:
        return -self.of_shares.slope(x, **self.own) * halves

    def hessian(self, x: Array, halves: Array, kappa: Array) -> Array:
        return np.diag(-self.of_shares.curvature(x, **self.own) * halves)

    def equalities(self, x: Array) -> Array:
        return np.array([float(x.sum()) - 1])

    def equality_jacobian(self, x: Array) -> Array:
        return np.ones((1, len(x)))


class WithinGroups(Side):
    """x = t_m, shares that sum to one within each group of kernels, μ_m = 2c t_m: the exponent e is 0, so that shares
    between groups have no part."""

    min_centring, sparse = SETTINGS.share_min_centring, True

    def __init__(self, task: Task, formulation: SingleTask) -> None:
        between = formulation.between
        assert between is not None
        super().__init__(task, np.zeros(task.count))
        _, self.groups = np.unique(between.groups(task.count, **task.own), return_inverse=True)
        self.members = _members(self.groups)
        self.sign, self.rise = np.ones(task.count), 2 * between.price

    def start(self) -> Array:
        return np.asarray(1 / np.bincount(self.groups)[self.groups])

    def within(self, x: Array) -> Array:
        """With sums of one: of kernels that α does not see, Newton's model does not say how to share it."""
        return group_shares(super().within(x), self.groups)

    def weights(self, x: Array) -> Array:
        return self.rise * x

    def jacobian_product(self, x: Array, images: Array) -> Array:
        return self.rise * images

    def gradient(self, x: Array, halves: Array) -> Array:
        return -self.rise * halves

    def hessian(self, x: Array, halves: Array, kappa: Array) -> Array:
        return np.zeros((len(x), len(x)))

    def equalities(self, x: Array) -> Array:
        return group_sums(x, self.groups) - 1

    def equality_jacobian(self, x: Array) -> Array:
        return self.members


class Shared(Side):
    """x = (t_j, t_m): shares t_j between groups are maximised, shares t_m within each group minimised; each sum to one.

    Newton's model of 1/t_j holds while t_j shrinks by no more than a part: so steps are shorter here, and aim less far.
    Groups that were eliminated (`elimination`) have no variables."""

    min_centring = SETTINGS.share_min_centring

    def __init__(self, task: Task, formulation: SingleTask, eliminated: Sequence[int] = ()) -> None:
        between = formulation.between
        assert between is not None
        groups = between.groups(task.count, **task.own)
        super().__init__(task, np.zeros(task.count))
        self.formulation, self.all_groups, self.eliminated = formulation, groups, tuple(eliminated)
        self.kept = np.flatnonzero(~np.isin(groups, self.eliminated))
        self.kept_groups, self.groups = np.unique(groups[self.kept], return_inverse=True)
        self.exponent = between.exponent(**task.own)
        self.price = between.price
        self.count = len(self.kept_groups)
        self.sign = np.append(np.full(self.count, -1.0), np.ones(len(self.kept)))
        self.members = _members(self.groups)

    def start(self) -> Array:
        return np.append(np.full(self.count, 1 / self.count), 1 / np.bincount(self.groups)[self.groups])

    def step_limit(self, x: Array, change: Array) -> float:
        shrink = float(np.max(-change[: self.count] / x[: self.count]))
        return SETTINGS.share_max_shrink / shrink if shrink > 0 else 1.0

    def weights(self, x: Array) -> Array:
        weights = np.zeros(self.task.count)
        weights[self.kept] = x[self.count :] * self._rise(x)
        return weights

    def _rise(self, x: Array) -> Array:
        """∂μ_m/∂t_m = 2c/t_j^e."""
        return np.asarray(2 * self.price * x[: self.count] ** -self.exponent)[self.groups]

    def jacobian_product(self, x: Array, images: Array) -> Array:
        images, rise = images[self.kept], self._rise(x)
        share = -self.exponent * x[self.count :] * rise / x[: self.count][self.groups]
        return np.vstack([self.members @ (share[:, None] * images), rise[:, None] * images])

    def gradient(self, x: Array, halves: Array) -> Array:
        return -self.jacobian_product(x, halves[:, None])[:, 0]

    def hessian(self, x: Array, halves: Array, kappa: Array) -> Array:
        t, e = x[: self.count], self.exponent
        gains = self._rise(x) * halves[self.kept]
        costs = group_sums(x[self.count :] * gains, self.groups)
        mixed = e * self.members * gains[None] / t[:, None]
        zero = np.zeros((len(self.kept), len(self.kept)))
        return np.block([[np.diag(-e * (e + 1) * costs / t**2), mixed], [mixed.T, zero]])

    def equalities(self, x: Array) -> Array:
        return np.append(x[: self.count].sum(), group_sums(x[self.count :], self.groups)) - 1

    def equality_jacobian(self, x: Array) -> Array:
        first = np.append(np.ones(self.count), np.zeros(len(self.kept)))
        return np.vstack([first, np.hstack([np.zeros((self.count, self.count)), self.members])])


def _members(groups: NDArray[np.intp]) -> Array:
    """1 where a kernel belongs to a group, a row for every group."""
    return (np.arange(groups.max() + 1)[:, None] == groups).astype(float)


def side_of(task: Task, formulation: SingleTask, samples: SamplesSide | None = None) -> Side:
    """The weights' side of a task, with its samples' side, unless another is given."""
    if formulation.between is not None:
        return (
            Shared(task, formulation) if formulation.between.exponent(**task.own) else WithinGroups(task, formulation)
        )
    assert formulation.regulariser is not None
    if formulation.regulariser.alone(task.count, **task.own):
        return Side(task, formulation.regulariser.start(task.count, **task.own), samples)
    side = Regularised if formulation.regulariser.of_shares is None else ConcaveShares
    return side(task, formulation, samples)
