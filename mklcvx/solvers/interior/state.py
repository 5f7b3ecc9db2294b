"""Where the interior-point method of single tasks stands: an interior point, and what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Task
from ..driver import State
from ..polish import gain_slope
from .active_set import Vertex
from .elimination import Vanished
from .iterate import Array, Interior
from .reduced_hessian import Curved
from .saddle import Residuals, residuals
from .weights_side import Shared, Side

PROGRESS, PATIENCE = 0.9, 25  # what counts as progress, and for how many steps to wait for it
STALLED = 1e-22  # of the first complementarity: rounding is all that is left


@dataclass(frozen=True)
class Centred(State):
    """An interior point with the images K_m(α∘y); `vertex` is the optimum itself where that was found directly,
    `shot` an earlier point, from which the way to a neighbouring optimum is short; `whole` the point before groups
    of kernels were taken to vanish, and `mistaken` are those that did not."""

    at: Interior
    side: Side
    curved: Curved
    images: Array
    residuals: Residuals
    scale: float
    first: float
    earlier: Centred | None = None
    waited: int = 0
    vertex: Vertex | None = None
    shot: Interior | None = None
    whole: Centred | None = None
    mistaken: tuple[int, ...] = ()

    @property
    def best(self) -> Centred:
        """The best so far, in case rounding spoils what comes after."""
        return self.earlier or self

    @property
    def near(self) -> Vertex:
        return self.vertex or Vertex.near(self.at, len(self.side.sign), self.images)

    def alpha(self, task: Task) -> Array:
        return self.at.values[: task.samples]

    @property
    def x(self) -> Array:
        n = self.images.shape[1]
        return self.at.values[2 * n :][: len(self.side.sign)]

    @property
    def left(self) -> float:
        """The complementarity, relative to the value."""
        return self.at.total / self.scale

    @property
    def off(self) -> float:
        """What the complementarity and the residuals may hide of the gap."""
        return self.at.total + self.residuals.amount(self.at)

    def without(self, side: Vanished) -> Centred:
        """The state with groups of kernels taken to vanish."""
        assert isinstance(self.side, Shared)
        at = side.taken_over(self.side, self.at, self.images)
        fresh = centred(side.task, side, self.curved, at, self.images, self.first)
        return replace(fresh, shot=self.shot, whole=self.whole or self, mistaken=self.mistaken)

    def not_vanishing(self, groups: Sequence[int] = ()) -> Centred:
        """Back to where that was guessed: the guess was wrong, for these groups or for whichever."""
        assert self.whole is not None
        assert isinstance(self.side, Vanished)
        return replace(self.whole, mistaken=(*self.mistaken, *(groups or self.side.vanished)))

    def followed(self, after: Centred) -> Centred:
        """The state after a step; the best one and the end if there has been no progress for long."""
        if after.off <= PROGRESS * self.best.off:
            ended = Ending.NO_PROGRESS if after.at.level <= STALLED * self.first else ""
            return replace(after, earlier=None, waited=0, dead_end=ended)
        if self.waited >= PATIENCE:
            return replace(self.best, dead_end=Ending.NO_PROGRESS)
        return replace(after, earlier=self.best, waited=self.waited + 1)


def centred(task: Task, side: Side, curved: Curved, at: Interior, images: Array, first: float) -> Centred:
    weights = side.weights(at.values[2 * task.samples :][: len(side.sign)])
    alpha = at.values[: task.samples]
    # What the certificate compares the gap with: Σ μ_m q_m, unless f vanishes.
    scale = max(float(weights @ (images @ (alpha * task.y))), VANISHING * float(gain_slope(task) @ alpha), 1e-300)
    return Centred(weights, at, side, curved, images, residuals(task, side, at, images), scale, first)
