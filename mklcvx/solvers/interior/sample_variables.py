"""What Newton's method knows of a sample with one variable, α itself; `samples_side` has the sides of all losses."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from ...formulations import Task
from ...formulations.losses import PiecewiseQuadratic, QuadraticShape
from .settings import SETTINGS, TINY
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
    elimination_gap = SETTINGS.elimination_gap

    def __init__(self, task: Task) -> None:
        self.signs, self.price = task.signs, task.box
        self.a, self.kappa, self.low, self.high = self.record(task)
        self.two_sided = bool((self.low < 0).any())
        # Which ends are finite.
        self.starts, self.ends = bool(np.isfinite(self.low).all()), bool(np.isfinite(self.high).all())
        self.smooth = self.unbounded = not (self.starts or self.ends)
        self.size = self.variables_per_sample * task.samples
        self.unit = max(float(np.ptp(self.a)) / 2, TINY) if self.two_sided else 1.0  # of the gain's slope
        self.none = np.zeros((0, task.samples))

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

    # ---------------------------------------------------------------------------- a tube that is an unknown, if any
    def at(self, tube: Array, alpha: Array | None = None) -> Self:
        """The same side at this tube ε, where it is an unknown: an array of one number, or of none. For active sets, α
        tells whether ε is 0."""
        return self

    def first_tube(self, gradient: Array) -> Array:
        """ε to start with, at this gradient by samples."""
        return np.zeros(0)

    def share_of_sum(self, alpha: Array) -> float:
        """‖α‖₁/N, where it has a limit."""
        return 0.0

    def sum_missing(self, at: HasDualPoint) -> Array:
        """What the variables' sum lacks to be N."""
        return np.zeros(0)

    def sum_row(self, of_variables: Array) -> tuple[Array, Array]:
        """The row of ε in the equations of α, and what it has on its diagonal."""
        return self.none, np.zeros(0)

    def for_tube(self, missing: Array, right: Array, of_variables: Array) -> Array:
        """The right-hand side of that row."""
        return missing

    def active_sum(self, alpha: Array, gradient: Array) -> tuple[Array, Array]:
        """The equality ‖α‖₁ = N on the sides of 0 where the α of `active` are, as a row and a total; none if ε is 0."""
        return self.none, np.zeros(0)

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
        if isinstance(base, float):
            base = np.full(self.size, base)
        if len(at_lower):
            base = base + at_lower
        return base + at_upper if len(at_upper) else base

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

    def expanded(self, alpha: Array, right: Array, of_variables: Array, tube: Array) -> Array:
        """The change of the variables, given those of α and ε."""
        return alpha

    # --------------------------------------------------------------------------------------------- active set
    def active(
        self, alpha: Array, gradient: Array, level: float, rough: bool = False
    ) -> tuple[NDArray[np.bool_], Array]:
        """Which samples are free, and α with the others set to their bounds.

        `gradient` is that of kernels and equalities less the slope of the gain but for its kink, and `level` its unit.
        A sample is at a bound if its gradient is larger than α's distance from the bound, both relative. The unit of
        the distance is the width of the box. If α is `rough`, it is the largest distance from the lower end: beside a
        price far above every α, an error of the gradient would outweigh each of them."""
        above, excess = alpha - self.low, gradient / max(abs(level) * self.unit, TINY)
        longest = np.full(len(alpha), max(float(above.max(initial=0.0)), TINY))
        width = self.high - self.low if self.ends else longest
        at_low = excess > above / (longest if rough else width)
        at_high = -excess > 1 - above / width if self.ends else np.zeros(len(alpha), dtype=bool)
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

    def active(
        self, alpha: Array, gradient: Array, level: float, rough: bool = False
    ) -> tuple[NDArray[np.bool_], Array]:
        return np.ones(len(alpha), dtype=bool), alpha

    def bound(self, alpha: Array, share: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        none = np.zeros(len(alpha), dtype=bool)
        return none, none, none

    def near_bounds(self, at: HasDualPoint, share: float) -> NDArray[np.bool_]:
        return np.zeros(len(at.alpha), dtype=bool)


def recorded(task: Task) -> QuadraticShape:
    return cast(PiecewiseQuadratic, task.loss_function).shape(task.y, task.box)
