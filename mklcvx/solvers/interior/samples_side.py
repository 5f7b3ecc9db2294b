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

from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ...formulations import Task
from ...formulations.losses import PiecewiseQuadratic, Quadratic
from .settings import NEARLY_ZERO, SETTINGS, TINY
from .step_length import Array


class HasDualPoint(Protocol):
    """What the samples' side reads of a point: α, and the distances of its variables from their ends."""

    @property
    def alpha(self) -> Array: ...
    @property
    def lower(self) -> Array: ...
    @property
    def upper(self) -> Array: ...


class DualPoint(NamedTuple):
    """α with these distances, and nothing else."""

    alpha: Array
    lower: Array
    upper: Array


class SamplesSide:
    """One variable, α itself. `lower` and `upper` are α − low and high − α, empty where the end is infinite."""

    variables_per_sample = 1
    kink_price: Array | float = 0.0  # ε, variable by variable

    def __init__(self, task: Task) -> None:
        self.signs, self.price = task.signs, task.box
        self.a, self.kappa, self.low, self.high = self.record(task)
        self.two_sided = bool((self.low < 0).any())
        # Which ends are finite.
        self.starts, self.ends = bool(np.isfinite(self.low).all()), bool(np.isfinite(self.high).all())
        self.smooth = self.unbounded = not (self.starts or self.ends)
        self.size = self.variables_per_sample * task.samples
        self.unit = max(float(np.ptp(self.a)) / 2, TINY) if self.two_sided else 1.0  # of the gain's slope

    def record(self, task: Task) -> tuple[Array, Array, Array, Array]:
        """a, κ, low and high."""
        shape = recorded(task)
        return shape.a, shape.kappa, shape.low, shape.high

    def centre(self, task: Task) -> float:
        """The target that f = 0 is best for: with a bias the mean of the targets."""
        return float(task.box @ task.y / task.box.sum()) if task.bias else 0.0

    @property
    def polyhedral(self) -> bool:
        """Whether only margins of free samples are known: for labels, a longer f lifts them."""
        return not (self.two_sided or self.kappa.any())

    # ----------------------------------------------------------------------------------------------- points
    def distances(self, alpha: Array) -> tuple[Array, Array]:
        """`lower` and `upper` of α."""
        none = alpha[:0]
        return alpha - self.low if self.starts else none, self.high - alpha if self.ends else none

    def transferred(self, at: HasDualPoint, ratio: Array) -> Array:
        """α at the same share of its bounds, if these are those of other prices; `ratio` is that of the prices."""
        if self.starts and self.ends:
            return np.asarray(self.low + at.lower / (at.lower + at.upper) * (self.high - self.low))
        return at.alpha * ratio

    def stepped(self, alpha: Array, change: Array) -> Array:
        """α after a step of its own."""
        return alpha + change

    def kept_inside(self, before: HasDualPoint, after: HasDualPoint) -> tuple[Array, Array, Array]:
        """α, `lower` and `upper` after a step, inside the bounds also where these have no multipliers."""
        return after.alpha, after.lower, after.upper

    # ------------------------------------------------------------------------------------------ gradients by variable
    def smooth_slope(self, at: HasDualPoint) -> Array:
        """The slope of the gain but for its kink, sample by sample."""
        return np.asarray(self.a - self.kappa * at.alpha)

    def slope(self, at: HasDualPoint) -> Array:
        """The slope of the gain, variable by variable."""
        return self.by_variable(self.smooth_slope(at)) - self.kink_price

    def linear_gain(self, alpha: Array) -> float:
        """The first-order gain of a direction; for labels it sums to one."""
        return float(self.a @ alpha) if self.two_sided else 1.0

    def curvature(self, at: HasDualPoint) -> Array:
        """Minus the second derivative of the gain, sample by sample."""
        return self.kappa

    def by_variable(self, gradient: Array) -> Array:
        """The gradient with respect to every variable."""
        return gradient

    def joined(self, base: Array | float, at_lower: Array, at_upper: Array) -> Array:
        """base + at_lower + at_upper, where there are such ends."""
        total = np.full(self.size, base) if isinstance(base, float) else base.copy()
        total[: len(at_lower)] += at_lower
        total[: len(at_upper)] += at_upper
        return total

    def values(self, at: HasDualPoint) -> Array:
        """|v| of every variable."""
        return np.abs(at.alpha)

    def residual_gap(self, residual: Array, at: HasDualPoint) -> float:
        """The gap that a residual leaves where no multiplier tells it: ½ residual²/curvature."""
        return float(np.sum(residual**2 / self.curvature(at)) / 2) if self.smooth else 0.0

    # ----------------------------------------------------------------------------- elimination of split variables
    def diagonal(self, of_variables: Array) -> Array:
        return of_variables

    def condensed(self, right: Array, of_variables: Array) -> Array:
        """The right-hand side of the equation of α."""
        return right

    def expanded(self, alpha: Array, right: Array, of_variables: Array) -> Array:
        """The change of the variables, given that of α."""
        return alpha

    # --------------------------------------------------------------------------------------------- active set
    def active(self, alpha: Array, gradient: Array, level: float) -> tuple[NDArray[np.bool_], Array]:
        """Which samples are free, and α with the others set to their bounds.

        `gradient` is that of kernels and equalities less the slope of the gain but for its kink, and `level` its unit.
        A sample is at a bound if its gradient is larger than α's distance from the bound, both relative."""
        width = self.high - self.low if self.ends else np.full(len(alpha), max(float(alpha.max(initial=0.0)), TINY))
        share, excess = (alpha - self.low) / width, gradient / max(abs(level) * self.unit, TINY)
        at_low = excess > share
        at_high = -excess > 1 - share if self.ends else np.zeros(len(alpha), dtype=bool)
        return ~(at_low | at_high), np.where(at_low, self.low, np.where(at_high, self.high, alpha))

    def kink(self, alpha: Array, gradient: Array) -> Array:
        """What the kink adds to the gradient of a free sample."""
        return np.zeros(len(alpha))

    def bound(self, alpha: Array, share: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Which α are at the lower end, at the upper end and at a kink, to this share of the width."""
        near = share * (self.high - self.low)
        none = np.zeros(len(alpha), dtype=bool)
        at_high = alpha >= self.high - near if self.ends else none
        at_low = alpha <= self.low + near if self.ends else alpha <= share * alpha.max() if self.starts else none
        return at_low, at_high, none

    def transferred_bounds(self, alpha: Array, old: SamplesSide, share: float) -> Array:
        """α of other prices at the bounds of these, where it was at a bound."""
        at_low, at_high, at_kink = old.bound(alpha, share)
        inner = np.where(at_kink, 0.0, np.clip(alpha, self.low, self.high))
        return np.where(at_low, self.low, np.where(at_high, self.high, inner))

    def near_bounds(self, at: HasDualPoint, share: float) -> NDArray[np.bool_]:
        """Samples that are near an end."""
        near = np.zeros(len(at.alpha), dtype=bool)
        if self.starts:
            near |= at.lower <= share * at.lower.max()
        if self.ends:
            near |= at.upper <= share * (self.high - self.low)
        return near


class Free(SamplesSide):
    """Nothing has a multiplier: α obeys an equation."""

    def active(self, alpha: Array, gradient: Array, level: float) -> tuple[NDArray[np.bool_], Array]:
        return np.ones(len(alpha), dtype=bool), alpha

    def bound(self, alpha: Array, share: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        none = np.zeros(len(alpha), dtype=bool)
        return none, none, none

    def near_bounds(self, at: HasDualPoint, share: float) -> NDArray[np.bool_]:
        return np.zeros(len(at.alpha), dtype=bool)


class Entropic(Free):
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


class Counted(Free):
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

    def expanded(self, alpha: Array, right: Array, of_variables: Array) -> Array:
        """The variable with the larger diagonal from its own equation, the other one from α = p − n."""
        gradient = self.condensed(right, of_variables) - self.diagonal(of_variables) * alpha
        p, n = np.split((right - self.by_variable(gradient)) / of_variables, 2)
        first, second = np.split(of_variables, 2)
        return np.concatenate([np.where(first >= second, p, alpha + n), np.where(first >= second, p - alpha, n)])

    def active(self, alpha: Array, gradient: Array, level: float) -> tuple[NDArray[np.bool_], Array]:
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


def _of_record(task: Task) -> SamplesSide:
    """The side of a loss that a record states."""
    shape = recorded(task)
    if shape.epsilon.any():
        return Split(task)
    return SamplesSide(task) if np.isfinite(shape.low).all() else Free(task)


def recorded(task: Task) -> Quadratic:
    return cast(PiecewiseQuadratic, task.loss_function).shape(task.y, task.box)


KINDS = {"quadratic": _of_record, "logistic": Entropic, "poisson": Counted}


def samples_side(task: Task) -> SamplesSide:
    return KINDS[task.loss_function.kind](task)
