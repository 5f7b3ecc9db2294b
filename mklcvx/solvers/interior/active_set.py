"""The optimum itself, once it is known which bounds hold: the support is exact, and a few steps give all digits.

Every α and every variable of the weights' side is held at a bound or free, whichever its distance from the bound and
its gradient say (the larger of the two decides). With these choices the optimality conditions are equations, and
Newton's method solves them: `_saddle.System` with nothing on the diagonal of what is free, and more than anything on
that of what is held. Then the choices are made anew. From an interior point near the optimum, or from the optimum for
a neighbouring parameter, two to four such steps are enough as a rule. Where they are not, nothing is lost: the
certificate decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...formulations import Task
from ..polish import gain_slope, settled
from .iterate import Array, Interior
from .reduced_hessian import Curved
from .saddle import ENOUGH, System, balance
from .weights_side import Side

HELD = 1e12  # times the trace, or the curvature
NEARLY = 1e-6  # of the box


@dataclass(frozen=True)
class Vertex:
    """α with its box, x and the multipliers of all equalities; `images` are K_m(α∘y)."""

    alpha: Array
    box: Array
    x: Array
    nu: Array
    kappa: Array
    images: Array

    @classmethod
    def near(cls, at: Interior, variables: int, images: Array) -> Vertex:
        n = images.shape[1]
        alpha, room, x, _ = np.split(at.values, [n, 2 * n, 2 * n + variables])
        return cls(alpha, alpha + room, x, at.nu, at.kappa, images)

    @property
    def at_box(self) -> bool:
        """Whether any sample is: then a larger box is another problem."""
        return bool((self.alpha >= (1 - NEARLY) * self.box).any())

    def moved_to(self, task: Task) -> Vertex:
        """The same choice of bounds where the box is another one."""
        at_zero, at_box = self.alpha <= NEARLY * self.box, self.alpha >= (1 - NEARLY) * self.box
        alpha = np.where(at_zero, 0.0, np.where(at_box, task.box, np.minimum(self.alpha, task.box)))
        return replace(self, alpha=alpha, box=task.box, images=task.images(alpha * task.y))

    def gradient(self, task: Task, side: Side) -> Array:
        """Of the SVM's dual, negative: α should grow where it is negative."""
        pull = side.weights(self.x) @ self.images + self.nu @ balance(task, side)[0]
        return np.asarray(task.y * pull - gain_slope(task))

    def gradient_x(self, task: Task, side: Side) -> Array:
        """x should grow where it is negative, whether it is minimised or maximised."""
        slope = side.slope(self.x, self.images @ (self.alpha * task.y) / 2)
        return np.asarray(side.sign * (slope + self.kappa @ side.rows(self.x)))


def step(task: Task, side: Side, curved: Curved, at: Vertex) -> Vertex:
    """Choose the bounds that hold, and solve for the rest."""
    gradient, gradient_x = at.gradient(task, side), at.gradient_x(task, side)
    bounds = _bounds(task, at, gradient)
    bounds_x = _bounds_x(side, at, gradient_x)
    held, held_x = ~np.isnan(bounds), ~np.isnan(bounds_x)
    curved.towards(np.maximum(side.weights(at.x), 0.0))
    firm = HELD * max(curved.trace, np.finfo(float).tiny)
    beta = task.y * at.alpha
    halves = at.images @ beta / 2
    firm_x = HELD * max(float(np.abs(side.along(at.x, halves[:, None])).max(initial=0.0)), np.finfo(float).tiny)
    rows, totals = balance(task, side)
    diagonal_x = side.sign * np.where(held_x, firm_x, 0.0)
    system = System(
        curved, side, at.images, (beta, at.x, at.kappa), rows, np.where(held, firm, 0.0), diagonal_x
    )  # fmt: skip
    for_beta = np.where(held, firm * (bounds - at.alpha), -gradient) * task.y
    for_x = side.sign * np.where(held_x, firm_x * (bounds_x - at.x), -gradient_x)
    found, others = system.solve(
        for_beta, np.concatenate([for_x, rows @ beta - totals, -side.equalities(at.x)]), ENOUGH
    )
    p, k = len(at.x), len(system.rows)
    alpha = np.where(held, bounds, at.alpha + task.y * found)
    x = np.where(held_x, bounds_x, at.x + others[:p])
    return Vertex(alpha, task.box, x, at.nu + others[p:k], at.kappa + others[k:], task.images(alpha * task.y))


def _bounds(task: Task, at: Vertex, gradient: Array) -> Array:
    """0 or the box where α is held, NaN where it is free."""
    level = 1.0 if task.loss == "c" else max(abs(float(at.nu[int(task.bias)])), np.finfo(float).tiny)
    free, alpha = settled(at.alpha, task.box, gradient, level)
    return np.where(free, np.nan, alpha)


def _bounds_x(side: Side, at: Vertex, gradient: Array) -> Array:
    unit = max(float(np.abs(at.kappa @ side.rows(at.x)).max(initial=0.0)), np.finfo(float).tiny)
    largest = max(float(at.x.max(initial=0.0)), np.finfo(float).tiny)
    bounds = np.where(gradient / unit > at.x / largest, 0.0, np.nan)
    caps = side.caps
    full = -gradient[: len(caps)] / unit > (caps - at.x[: len(caps)]) / largest
    bounds[: len(caps)] = np.where(full, caps, bounds[: len(caps)])
    return bounds
