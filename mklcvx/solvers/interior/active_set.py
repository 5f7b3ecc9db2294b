"""The active-set finish: once it is known which bounds hold, a few steps give the optimum to all digits.

Every α and every variable of the weights' side is either held at a bound or free: the larger of its distance from the
bound and its gradient decides (α of smooth losses is always free). With these choices the optimality conditions are
equations, and Newton's method solves them: the reduced system of `saddle` with nothing but the curvature of the gain on
the diagonal of what is free, and more than anything on that of what is held. Then the choices are made anew. From an
interior point near the optimum, or from the optimum for a neighbouring parameter, two to four such steps are usually
enough. If they are not, nothing is lost: the certificate decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...formulations import Task
from .loop import Array
from .reduced_hessian import ReducedHessian
from .saddle import ReducedSystem
from .sample_variables import DualPoint, SamplesSide
from .settings import SETTINGS, TINY
from .weights_side import Side

Chooser = Callable[[Side, "ActiveSetPoint", Array, ReducedSystem, Array, Array], Array]


@dataclass(frozen=True)
class ActiveSetPoint:
    """α, x and the multipliers of all equalities; `images` are K_mβ, `tube` is ε where it is an unknown."""

    alpha: Array
    x: Array
    nu: Array
    kappa: Array
    images: Array
    tube: Array = field(default_factory=lambda: np.zeros(0))

    def capped(self, samples: SamplesSide) -> bool:
        """Whether any sample is at an end that the price sets. Then a larger price changes the optimum."""
        at_low, at_high, _ = samples.bound(self.alpha, SETTINGS.bound_tolerance)
        return bool(at_high.any() or (at_low & (samples.low < 0)).any())

    def moved_to(self, task: Task, samples: SamplesSide, old: SamplesSide) -> ActiveSetPoint:
        """The same active set for other prices."""
        alpha = samples.transferred_bounds(self.alpha, old, SETTINGS.bound_tolerance)
        return replace(self, alpha=alpha, images=task.matvecs(alpha * samples.signs))


def active_set_step(
    side: Side, hessian: ReducedHessian, at: ActiveSetPoint, choose: Chooser | None = None,
    visited: NDArray[np.bool_] | None = None,
) -> ActiveSetPoint:  # fmt: skip
    """Choose the active bounds, and solve for the free variables. A variable with a negative gradient should grow.

    `choose` says which x are held, if not the larger of distance and gradient. With `visited`, α is made feasible, and
    only the images of these kernels are computed."""
    task, weights, (rows, totals) = side.task, side.weights(at.x), side.balance
    samples, signs = side.samples.at(at.tube, at.alpha), side.samples.signs
    beta = signs * at.alpha
    halves = at.images @ beta / 2
    point = DualPoint(at.alpha, *samples.distances(at.alpha))
    gradient = signs * (weights @ at.images + at.nu @ rows) - samples.smooth_slope(point)
    gradient_x = side.sign * (side.gradient(at.x, halves) + at.kappa @ side.equality_jacobian(at.x))
    level = float(at.nu[int(task.bias)]) if task.loss_function.free_margin else 1.0
    free, bounds = samples.active(at.alpha, gradient, level, rough=choose is not None)
    held = ~free
    row, total = samples.active_sum(bounds, gradient)
    if len(row):
        rows, totals = np.vstack([rows, row * signs]), np.append(totals, total)
    hessian.set_weights(np.maximum(weights, 0.0))
    firm = SETTINGS.held_diagonal * max(hessian.trace, TINY)
    diagonal = np.where(held, firm, samples.curvature(point))
    where = beta, at.x, at.kappa
    system = ReducedSystem(hessian, side, at.images, where, rows, diagonal, None, np.zeros(len(row)))
    wanted = -gradient - samples.kink(at.alpha, gradient)
    for_beta = np.where(held, firm * (bounds - at.alpha), wanted) * signs
    missing = rows @ beta - totals
    bounds_x = (choose or _nearest_bounds)(side, at, gradient_x, system, for_beta, missing)
    held_x = ~np.isnan(bounds_x)
    products = side.jacobian_product(at.x, halves[:, None])
    firm_x = SETTINGS.held_diagonal * max(float(np.abs(products).max(initial=0.0)), TINY)
    system.hold(side.sign * np.where(held_x, firm_x, 0.0))
    for_x = side.sign * np.where(held_x, firm_x * (bounds_x - at.x), -gradient_x)
    others = np.concatenate([for_x, missing, -side.equalities(at.x)])
    change_beta, others = system.solve(for_beta, others, SETTINGS.corrector_accuracy)
    end, p = len(system.rows), len(at.x)
    rest = end - len(row)
    change, nu, tube, kappa = others[:p], others[p:rest], others[rest:end], others[end:]
    tube = at.tube + tube if len(row) else np.zeros(len(at.tube))
    alpha = np.where(held, bounds, samples.stepped(at.alpha, signs * change_beta))
    x = np.where(held_x, bounds_x, at.x + change)
    alpha = alpha if visited is None else task.feasible(alpha)
    seen = None if visited is None else visited | (side.weights(x) > 0)
    images = task.matvecs(alpha * signs) if seen is None else task.matvecs_of(seen, alpha * signs)
    return ActiveSetPoint(alpha, x, at.nu + nu, at.kappa + kappa, images, tube)


def _nearest_bounds(side: Side, at: ActiveSetPoint, gradient: Array, *_: object) -> Array:
    """0 or the cap where x is held, NaN where it is free."""
    unit = max(float(np.abs(at.kappa @ side.equality_jacobian(at.x)).max(initial=0.0)), TINY)
    largest = max(float(at.x.max(initial=0.0)), TINY)
    bounds = np.where(gradient / unit > at.x / largest, 0.0, np.nan)
    first = slice(len(side.caps))
    full = -gradient[first] / unit > (side.caps - at.x[first]) / largest
    bounds[first] = np.where(full, side.caps, bounds[first])
    return bounds
