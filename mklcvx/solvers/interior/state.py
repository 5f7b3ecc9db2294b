"""Where the interior-point method of single tasks stands: an interior point, and what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Task
from ..driver import State
from ..polish import gain_slope
from .active_set import ActiveSetPoint
from .elimination import ReducedGroups
from .iterate import Array
from .reduced_hessian import ReducedHessian
from .saddle import Residuals, SaddleIterate, residuals
from .settings import NEARLY_ZERO, SETTINGS
from .weights_side import Shared, Side


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
        """The best so far, in case rounding spoils what comes after."""
        return self.earlier or self

    @property
    def active_set_guess(self) -> ActiveSetPoint:
        return self.active_set_point or ActiveSetPoint.near(self.at, self.images)

    @property
    def relative_complementarity(self) -> float:
        return self.at.complementarity / self.scale

    @property
    def error(self) -> float:
        """What the complementarity and the residuals may hide of the gap."""
        return self.at.complementarity + self.residuals.amount(self.at)

    def moved_to(self, side: Side, at: SaddleIterate, images: Array) -> IPMState:
        """The state at another point of the same run."""
        return replace(
            evaluated(side.task, side, self.hessian, at, images, self.first_mu),
            warm_start_point=self.warm_start_point,
            before_elimination=self.before_elimination,
            rejected_eliminations=self.rejected_eliminations,
        )

    def without(self, side: ReducedGroups) -> IPMState:
        """The state with groups of kernels eliminated."""
        assert isinstance(self.side, Shared)
        at = side.reduced_point(self.side, self.at, self.images)
        return replace(self.moved_to(side, at, self.images), before_elimination=self.before_elimination or self)

    def restored(self, groups: Sequence[int] = ()) -> IPMState:
        """The state before the elimination, which was wrong for these groups, or for whichever."""
        assert self.before_elimination is not None
        assert isinstance(self.side, ReducedGroups)
        rejected = (*self.rejected_eliminations, *(groups or self.side.eliminated))
        return replace(self.before_elimination, rejected_eliminations=rejected)

    def followed_by(self, after: IPMState) -> IPMState:
        """The state after a step; the best one and the end if there has been no progress for long."""
        if after.error <= SETTINGS.progress * self.best.error:
            exhausted = after.at.mu <= SETTINGS.exhausted * self.first_mu
            ending = Ending.NO_PROGRESS if exhausted else Ending.NONE
            return replace(after, earlier=None, waited=0, dead_end=ending)
        if self.waited >= SETTINGS.patience:
            return replace(self.best, dead_end=Ending.NO_PROGRESS)
        return replace(after, earlier=self.best, waited=self.waited + 1)


def evaluated(
    task: Task, side: Side, hessian: ReducedHessian, at: SaddleIterate, images: Array, first_mu: float
) -> IPMState:
    """The state at a point."""
    weights = side.weights(at.x)
    # What the certificate compares the gap with: Σ μ_m q_m, unless f vanishes.
    value = float(weights @ (images @ (at.alpha * task.y)))
    scale = max(value, VANISHING * float(gain_slope(task) @ at.alpha), NEARLY_ZERO)
    return IPMState(weights, at, side, hessian, images, residuals(task, side, at, images), scale, first_mu)
