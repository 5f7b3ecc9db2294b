"""The optimum itself, once it is known which bounds hold: the support is exact, and a few steps give all digits.

Every α and every variable of the weights' side is held at a bound or free, whichever its distance from the bound and
its gradient say (the larger of the two decides). With these choices the optimality conditions are equations, and
Newton's method solves them: the reduced system of `saddle` with nothing on the diagonal of what is free, and more than
anything on that of what is held. Then the choices are made anew. From an interior point near the optimum, or from the
optimum for a neighbouring parameter, two to four such steps are enough as a rule. Where they are not, nothing is lost:
the certificate decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...formulations import Task
from ..polish import gain_slope, settled
from .loop import Array
from .reduced_hessian import ReducedHessian
from .saddle import ReducedSystem, SaddleIterate, balance
from .settings import SETTINGS, TINY
from .weights_side import Side


@dataclass(frozen=True)
class ActiveSetPoint:
    """α with its box, x and the multipliers of all equalities; `images` are K_m(α∘y)."""

    alpha: Array
    box: Array
    x: Array
    nu: Array
    kappa: Array
    images: Array

    @classmethod
    def near(cls, at: SaddleIterate, images: Array) -> ActiveSetPoint:
        return cls(at.alpha, at.alpha + at.box_slack, at.x, at.nu, at.kappa, images)

    @property
    def _at_box(self) -> Array:
        return np.asarray(self.alpha >= (1 - SETTINGS.bound_tolerance) * self.box)

    @property
    def touches_box(self) -> bool:
        """Whether any sample does: then a larger box is another problem."""
        return bool(self._at_box.any())

    def moved_to(self, task: Task) -> ActiveSetPoint:
        """The same choice of bounds where the box is another one."""
        at_zero = self.alpha <= SETTINGS.bound_tolerance * self.box
        inside = np.minimum(self.alpha, task.box)
        alpha = np.where(at_zero, 0.0, np.where(self._at_box, task.box, inside))
        return replace(self, alpha=alpha, box=task.box, images=task.images(alpha * task.y))

    def gradient(self, task: Task, side: Side) -> Array:
        """Of the SVM's dual, negative: α should grow where it is negative."""
        pull = side.weights(self.x) @ self.images + self.nu @ balance(task, side)[0]
        return np.asarray(task.y * pull - gain_slope(task))

    def gradient_x(self, task: Task, side: Side) -> Array:
        """x should grow where it is negative, whether it is minimised or maximised."""
        gradient = side.gradient(self.x, self.images @ (self.alpha * task.y) / 2)
        return np.asarray(side.sign * (gradient + self.kappa @ side.equality_jacobian(self.x)))


def active_set_step(task: Task, side: Side, hessian: ReducedHessian, at: ActiveSetPoint) -> ActiveSetPoint:
    """Choose the bounds that hold, and solve for the rest."""
    gradient, gradient_x = at.gradient(task, side), at.gradient_x(task, side)
    bounds, bounds_x = _bounds(task, at, gradient), _bounds_x(side, at, gradient_x)
    held, held_x = ~np.isnan(bounds), ~np.isnan(bounds_x)
    hessian.set_weights(np.maximum(side.weights(at.x), 0.0))
    beta = task.y * at.alpha
    products = side.jacobian_product(at.x, (at.images @ beta / 2)[:, None])
    firm = SETTINGS.held_diagonal * max(hessian.trace, TINY)
    firm_x = SETTINGS.held_diagonal * max(float(np.abs(products).max(initial=0.0)), TINY)
    rows, totals = balance(task, side)
    diagonal, diagonal_x = np.where(held, firm, 0.0), side.sign * np.where(held_x, firm_x, 0.0)
    system = ReducedSystem(hessian, side, at.images, (beta, at.x, at.kappa), rows, diagonal, diagonal_x)
    for_beta = np.where(held, firm * (bounds - at.alpha), -gradient) * task.y
    for_x = side.sign * np.where(held_x, firm_x * (bounds_x - at.x), -gradient_x)
    others = np.concatenate([for_x, rows @ beta - totals, -side.equalities(at.x)])
    found, others = system.solve(for_beta, others, SETTINGS.corrector_accuracy)
    change, nu, kappa = np.split(others, [len(at.x), len(system.rows)])
    alpha = np.where(held, bounds, at.alpha + task.y * found)
    x = np.where(held_x, bounds_x, at.x + change)
    return ActiveSetPoint(alpha, task.box, x, at.nu + nu, at.kappa + kappa, task.images(alpha * task.y))


def _bounds(task: Task, at: ActiveSetPoint, gradient: Array) -> Array:
    """0 or the box where α is held, NaN where it is free."""
    margin = 1.0 if task.loss == "c" else max(abs(float(at.nu[int(task.bias)])), TINY)
    free, alpha = settled(at.alpha, task.box, gradient, margin)
    return np.where(free, np.nan, alpha)


def _bounds_x(side: Side, at: ActiveSetPoint, gradient: Array) -> Array:
    unit = max(float(np.abs(at.kappa @ side.equality_jacobian(at.x)).max(initial=0.0)), TINY)
    largest = max(float(at.x.max(initial=0.0)), TINY)
    bounds = np.where(gradient / unit > at.x / largest, 0.0, np.nan)
    caps = side.caps
    full = -gradient[: len(caps)] / unit > (caps - at.x[: len(caps)]) / largest
    bounds[: len(caps)] = np.where(full, caps, bounds[: len(caps)])
    return bounds
