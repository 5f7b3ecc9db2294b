"""The samples' side of a saddle, as Newton's method sees it: α with its bounds, and the gain of a loss.

    g_i(α) = a_i α − ε_i|α| − ½ κ_i α²,      low_i ≤ α ≤ high_i

A sample has one variable, α itself. Where its gain has a kink at 0 it has two, the split variables p ≥ 0 and n ≥ 0 with
α = p − n, each with the price ε. A variable has a multiplier at every finite end. At infinite ends it has none: there
the curvature κ is all that holds α. The entropy of the logistic loss has an infinite slope at both ends and keeps α
between them by itself; that of the Poisson loss at the upper end, and there is no other.

With the gradient G of kernels and equalities and the diagonal D = z/lower + w/upper of the multipliers, the variables v
obey

    ± dG + D dv = goals − residual,

and two of them make one equation dG + D dα = D (right_p/D_p − right_n/D_n), 1/D = 1/D_p + 1/D_n: Newton's system has
one row per sample, whatever the loss.
"""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...formulations import Task
from .sample_variables import DualPoint, Free, HasDualPoint, SamplesSide, recorded
from .settings import NEARLY_ZERO, SETTINGS, TINY
from .step_length import Array


class EntropyVariables(Free):
    """The binary entropy: g = −α log(α/c) − (c − α) log(1 − α/c). Both distances are kept, so that neither tail loses
    digits, and no multipliers; a step that shrinks a distance is taken in its logarithm, which Newton's method follows
    for any length, a step that enlarges it as it is."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.smooth = True

    def record(self, task: Task) -> tuple[Array, Array, Array, Array]:
        """κ where it is least; 1 for a, since the slope is of that order but for the ends, where it is infinite."""
        return np.ones(task.samples), 4 / task.box, task.low, task.limit

    def distances(self, alpha: Array) -> tuple[Array, Array]:
        return np.maximum(alpha, NEARLY_ZERO), np.maximum(self.high - alpha, NEARLY_ZERO)

    def stepped(self, alpha: Array, change: Array) -> Array:
        before = DualPoint(alpha, *self.distances(alpha))
        return self.kept_inside(before, DualPoint(alpha, before.lower + change, before.upper - change))[0]

    def kept_inside(self, before: HasDualPoint, after: HasDualPoint) -> tuple[Array, Array, Array]:
        rise, fall = after.lower - before.lower, after.upper - before.upper
        rise = np.where(before.lower < before.upper, rise, -fall)
        down, up = np.minimum(rise, 0.0) / before.lower, np.minimum(-rise, 0.0) / before.upper
        lower = np.maximum(before.lower * np.exp(down) - before.upper * np.expm1(up), NEARLY_ZERO)
        return lower, lower, np.maximum(before.upper * np.exp(up) - before.lower * np.expm1(down), NEARLY_ZERO)

    def smooth_slope(self, at: HasDualPoint) -> Array:
        return np.asarray(np.log(at.upper) - np.log(at.lower))

    def curvature(self, at: HasDualPoint) -> Array:
        return np.asarray(1 / at.lower + 1 / at.upper)


class PoissonVariables(Free):
    """The Poisson loss: g' = log u with cu = cy − α. The distance from cy is kept, as for the logistic loss. The a
    and κ are those of a parabola that is about as high: they set the size of the start."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.smooth, self.starts = True, False

    def record(self, task: Task) -> tuple[Array, Array, Array, Array]:
        middle = (task.y + self.centre(task)) / 2
        return np.log(middle / self.centre(task)), 1 / (task.box * middle), task.low, task.limit

    def centre(self, task: Task) -> float:
        """The mean that f = 0 stands for."""
        return super().centre(task) if task.bias else 1.0

    def distances(self, alpha: Array) -> tuple[Array, Array]:
        return alpha[:0], np.maximum(self.high - alpha, NEARLY_ZERO)

    def transferred(self, at: HasDualPoint, ratio: Array) -> Array:
        return at.alpha * ratio

    def stepped(self, alpha: Array, change: Array) -> Array:
        before = DualPoint(alpha, *self.distances(alpha))
        return self.kept_inside(before, DualPoint(alpha, before.lower, before.upper - change))[0]

    def kept_inside(self, before: HasDualPoint, after: HasDualPoint) -> tuple[Array, Array, Array]:
        """A step that shrinks the distance is taken in its logarithm."""
        change = after.upper - before.upper
        share, shrinks = np.minimum(change, 0.0) / before.upper, change < 0
        upper = np.where(shrinks, before.upper * np.exp(share), after.upper)
        alpha = before.alpha - np.where(shrinks, before.upper * np.expm1(share), change)
        return alpha, before.lower, np.maximum(upper, NEARLY_ZERO)

    def smooth_slope(self, at: HasDualPoint) -> Array:
        return np.asarray(np.log(at.upper / self.price))

    def curvature(self, at: HasDualPoint) -> Array:
        return np.asarray(1 / at.upper)


class Split(SamplesSide):
    """Two variables p and n. `lower` is (p, n), `upper` their distances from high and −low."""

    variables_per_sample = 2

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.epsilon = recorded(task).epsilon
        self.kink_price = np.concatenate([self.epsilon, self.epsilon])
        self.reach = np.concatenate([self.high, -self.low])
        self.starts = True
        self.smooth = False
        self.unit = max(self.unit, float(self.epsilon.max()))

    def distances(self, alpha: Array) -> tuple[Array, Array]:
        """Both variables are larger than they need be by a part of their size."""
        size = np.abs(alpha)
        room = np.minimum(self.high, -self.low) - size
        spare = SETTINGS.spare_share * np.minimum(room, size + (float(size.mean()) or self.epsilon * self.price))
        lower = np.concatenate([np.maximum(alpha, 0.0) + spare, np.maximum(-alpha, 0.0) + spare])
        return lower, self.reach - lower if self.ends else alpha[:0]

    def by_variable(self, gradient: Array) -> Array:
        return np.concatenate([gradient, -gradient])

    def values(self, at: HasDualPoint) -> Array:
        return at.lower

    def linear_gain(self, alpha: Array) -> float:
        whole = super().linear_gain(alpha)
        return max(whole - float(self.epsilon @ np.abs(alpha)), SETTINGS.spare_share * whole)

    def transferred(self, at: HasDualPoint, ratio: Array) -> Array:
        return at.alpha * ratio

    def kept_inside(self, before: HasDualPoint, after: HasDualPoint) -> tuple[Array, Array, Array]:
        p, n = np.split(after.lower, 2)
        return p - n, after.lower, after.upper

    def diagonal(self, of_variables: Array) -> Array:
        p, n = np.split(of_variables, 2)
        return np.asarray(1 / (1 / p + 1 / n))

    def condensed(self, right: Array, of_variables: Array) -> Array:
        p, n = np.split(right / of_variables, 2)
        return np.asarray(self.diagonal(of_variables) * (p - n))

    def expanded(self, alpha: Array, right: Array, of_variables: Array, tube: Array) -> Array:
        """The variable with the larger diagonal from its own equation, the other one from α = p − n."""
        gradient = self.condensed(right, of_variables) - self.diagonal(of_variables) * alpha
        p, n = np.split((right - self.by_variable(gradient)) / of_variables, 2)
        first, second = np.split(of_variables, 2)
        return np.concatenate([np.where(first >= second, p, alpha + n), np.where(first >= second, p - alpha, n)])

    def active(
        self, alpha: Array, gradient: Array, level: float, rough: bool = False
    ) -> tuple[NDArray[np.bool_], Array]:
        """The same for the variable that is not zero; where α = 0, for the one that its gradient lets grow."""
        sign, n = self._sign(alpha, gradient), len(alpha)
        reach = np.where(sign > 0, self.reach[:n], self.reach[n:])
        width = reach if self.ends else np.full(n, max(float(np.abs(alpha).max()), TINY))
        share, own = np.abs(alpha) / width, (sign * gradient + self.epsilon) / self.unit
        at_zero, at_end = own > share, (-own > 1 - share) & np.isfinite(reach)
        return ~(at_zero | at_end), np.where(at_zero, 0.0, np.where(at_end, sign * reach, alpha))

    def kink(self, alpha: Array, gradient: Array) -> Array:
        return self._sign(alpha, gradient) * self.epsilon

    def _sign(self, alpha: Array, gradient: Array) -> Array:
        return np.where(alpha == 0, np.where(gradient < 0, 1.0, -1.0), np.sign(alpha))

    def bound(self, alpha: Array, share: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        size, n = np.abs(alpha), len(alpha)
        if not self.ends:
            none = np.zeros(n, dtype=bool)
            return none, none, size <= share * size.max()
        high, low = self.reach[:n], -self.reach[n:]
        return alpha <= (1 - share) * low, alpha >= (1 - share) * high, size <= share * np.minimum(high, -low)

    def near_bounds(self, at: HasDualPoint, share: float) -> NDArray[np.bool_]:
        size, n = np.abs(at.alpha), len(at.alpha)
        near = size <= share * size.max()
        if self.ends:
            near |= np.minimum(at.upper[:n] / self.reach[:n], at.upper[n:] / self.reach[n:]) <= share
        return near


class Tube(Split):
    """Two variables, whose price ε is an unknown: Σ(p + n) = N. Both may be longer than they need be, so that it is an
    equality, and ε ≥ 0 follows. `at` sets ε; without it, it is 0. Where ε vanishes and ‖α‖₁ < N, 0 is no bound of an
    active set (`loose`): α that are small beside their prices would be taken for zeros.

    ε has a row e in the equations of α and is eliminated with the variables: from

        dp = (right_p − dG − dε)/D_p,      dn = (right_n + dG − dε)/D_n,      Σ(dp + dn) = m

    follow dG + D dα + e dε = D (right_p/D_p − right_n/D_n) with e = (D_n − D_p)/(D_n + D_p), and

        e'dα − Σ 4/(D_p + D_n) dε = m − Σ (right_p/D_p + right_n/D_n) + Σ e (right_p/D_p − right_n/D_n)."""

    elimination_gap = SETTINGS.tube_elimination_gap

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.most, self.loose = task.loss_function.most(task.box), False

    def at(self, tube: Array, alpha: Array | None = None) -> Self:
        side = copy(self)
        side.epsilon, side.kink_price = np.full(len(self.a), tube[0]), np.full(self.size, tube[0])
        side.unit = max(self.unit, float(tube[0]))
        side.loose = alpha is not None and bool(tube[0] / side.unit <= 1 - self.share_of_sum(alpha))
        return side

    def first_tube(self, gradient: Array) -> Array:
        return np.array([np.abs(gradient).mean()])

    def share_of_sum(self, alpha: Array) -> float:
        return float(np.abs(alpha).sum()) / self.most

    def sum_missing(self, at: HasDualPoint) -> Array:
        return np.array([self.most - at.lower.sum()])

    def distances(self, alpha: Array) -> tuple[Array, Array]:
        """What is left of N makes both variables longer, by a share of their room: at most half of it, as N ≤ Σ c."""
        size = np.abs(alpha)
        room = np.maximum(self.high - size, 0.0)
        spare = room * (max(self.most - float(size.sum()), 0.0) / (2 * max(float(room.sum()), TINY)))
        lower = np.concatenate([np.maximum(alpha, 0.0) + spare, np.maximum(-alpha, 0.0) + spare])
        return lower, self.reach - lower

    def transferred(self, at: HasDualPoint, ratio: Array) -> Array:
        alpha = at.alpha * ratio
        return np.asarray(alpha * min(1.0, SETTINGS.max_start / max(self.share_of_sum(alpha), TINY)))

    def kept_inside(self, before: HasDualPoint, after: HasDualPoint) -> tuple[Array, Array, Array]:
        """Where ε vanishes p and n are of the size of N/n, however small α is: it keeps its own digits."""
        return after.alpha, after.lower, after.upper

    def sum_row(self, of_variables: Array) -> tuple[Array, Array]:
        p, n = np.split(of_variables, 2)
        return ((n - p) / (n + p))[None], np.array([np.sum(4 / (p + n))])

    def for_tube(self, missing: Array, right: Array, of_variables: Array) -> Array:
        (p, n), (row,) = np.split(right / of_variables, 2), self.sum_row(of_variables)[0]
        return np.asarray(np.sum(p + n - row * (p - n)) - missing)

    def expanded(self, alpha: Array, right: Array, of_variables: Array, tube: Array) -> Array:
        """dε on both variables is part of the right-hand side: its own share of dG is e dε."""
        return super().expanded(alpha, right - tube, of_variables, tube)

    def active(
        self, alpha: Array, gradient: Array, level: float, rough: bool = False
    ) -> tuple[NDArray[np.bool_], Array]:
        given = alpha, gradient, level, rough
        return SamplesSide.active(self, *given) if self.loose else super().active(*given)

    def kink(self, alpha: Array, gradient: Array) -> Array:
        return np.zeros(len(alpha)) if self.loose else super().kink(alpha, gradient)

    def active_sum(self, alpha: Array, gradient: Array) -> tuple[Array, Array]:
        if self.loose:
            return super().active_sum(alpha, gradient)
        return np.where(alpha == 0, 0.0, self._sign(alpha, gradient))[None], np.array([self.most])


def _of_record(task: Task) -> SamplesSide:
    """The side of a loss that a record states."""
    shape = recorded(task)
    if shape.epsilon.any():
        return Split(task)
    return SamplesSide(task) if np.isfinite(shape.low).all() else Free(task)


KINDS = {"quadratic": _of_record, "tube": Tube, "logistic": EntropyVariables, "poisson": PoissonVariables}


def samples_side(task: Task) -> SamplesSide:
    return KINDS[task.loss_function.kind](task)
