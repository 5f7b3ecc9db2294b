"""The sample side, shared by all single-task formulations: two losses (some take the first only), with or without bias.

Notation: n samples, labels y ∈ {−1,+1}ⁿ, kernels K_1..K_M, f = Σ_m f_m + b, box C_i = C times the weight of sample i.
Loss c is the C-SVC, loss nu the ν-SVM.

    loss c    risk(f) = Σ_i C_i max(0, 1 − y_i f(x_i)),
              gain(α) = Σ_i α_i,   S = {0 ≤ α ≤ C, y'α = 0}
    loss nu   risk(f) = min over ρ of Σ_i C_i max(0, ρ − y_i f(x_i)) − ρ,   C = 1/(νn),
              gain(α) = 0,   A = {0 ≤ α ≤ C, y'α = 0, 1'α = 1}

Theorems write S for the feasible set; with loss nu it is A. Without bias the condition y'α = 0 is dropped. For every α
in the feasible set and every f_1..f_M, b

    risk(f) ≥ gain(α) − Σ_i α_i y_i Σ_m f_m(x_i),

which is the half of weak duality that has nothing to do with kernels.
References: Cortes & Vapnik 1995 (loss c); Schölkopf et al. 2000, in the form of Xu et al. 2013 Eq. (2) (loss nu).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...problem.stack import Array, KernelStack

UNIT = 2.0**-52  # of the grid by which a ν at its limit is told
TRIES = 8


class Risk(NamedTuple):
    """The least risk of given outputs over everything but the kernels: bias, and margin ρ for loss nu."""

    value: float
    bias: float
    bias_interval: tuple[float, float]
    rho: float | None
    largest_term: float


@dataclass(frozen=True)
class Implied:
    """The coefficients c_m = weight_m (α∘y) that weights and α imply; `signed` is α∘y, or a multiple of it."""

    weights: Array
    signed: Array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.outer(self.weights, self.signed)


@dataclass(frozen=True)
class Task(KernelStack):
    """Kernels, labels and the sample side's parameters; `own` are the formulation's own parameters."""

    y: Array
    box: Array
    loss: str = "c"
    bias: bool = True
    own: Mapping[str, Any] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------- units
    def in_units(self, size: float, own: Mapping[str, Any]) -> Task:
        """The same problem with every kernel divided by `size`; `own` are the formulation's parameters there.

        loss c:  C is multiplied by size; f stays, α and the value are multiplied by size.
        loss nu: C and α stay, f and the value are divided by size.
        """
        box = self.box * size if self.loss == "c" else self.box
        scaled = replace(self, box=box, own=own)
        self.share_factors(scaled, size)
        return scaled

    def centred(self) -> Task:
        """The same problem, with a bias, without large constants in the kernels: what solvers work with."""
        changed = self.without_constants() if self.bias else {}
        return replace(self, **changed) if changed else self

    def alone(self, kernel: Array) -> Task:
        """The same samples with one kernel that is given as it is, such as a combination of these."""
        return replace(self, kernels=kernel[None], own={}, symmetric=True, sizes=None, offsets=None)

    def value_unit(self, size: float) -> float:
        """What the value is multiplied by when every kernel is divided by `size`."""
        return size if self.loss == "c" else 1 / size

    # ------------------------------------------------------------------ the dual side of the bounds
    def correlations(self, alpha: Array) -> Array:
        """d_m = √q_m(α), the norm of K_m(α∘y) in kernel m's space."""
        return np.sqrt(self.squares(alpha * self.y))

    def sharp_correlations(self, alpha: Array) -> Array:
        """The same, good to ten digits where they nearly vanish too."""
        return np.sqrt(self.sharp_squares(alpha * self.y))

    def gain(self, alpha: Array) -> float:
        return math.fsum(alpha) if self.loss == "c" else 0.0

    def feasible(self, alpha: Array) -> Array:
        """An α in S (or A) near the given one; its equalities hold exactly.

        α is clipped and scaled. What its sums then lack, some last bits, is made up for by a few samples, the last one
        with bits fine enough; where that does not end, α is put on the grid of its largest entry's last bit, and what
        is left over is taken from the samples with most room, in whole numbers.
        """
        alpha = np.clip(np.nan_to_num(alpha), 0.0, self.box)
        sides = (self.y > 0, self.y < 0) if self.bias else (np.ones(self.samples, dtype=bool),)
        if self.loss == "c":
            if not self.bias or math.fsum(self.y * alpha) == 0:
                return alpha
            total = min(math.fsum(alpha[side]) for side in sides)
            for side in sides:
                alpha[side] = _filled(alpha[side], self.box[side], total)
            exact = _made_up(alpha, self.box, self.y, 0.0)
            return _balanced_on_grid(alpha, self.box, sides[0]) if exact is None else exact
        total = 1 / len(sides)
        for side in sides:
            box = self.box[side]
            exact = _made_up(_filled(alpha[side], box, total), box, np.ones(len(box)), total)
            alpha[side] = _filled_on_grid(alpha[side], box, total) if exact is None else exact
        return alpha

    # ---------------------------------------------------------------- the primal side of the bounds
    def evaluate(self, coefficients: Array | Implied) -> tuple[Array, Array]:
        """Outputs Σ_m K_m c_m at the samples, and the norms a_m = ‖f_m‖ = √(c_m'K_m c_m)."""
        if isinstance(coefficients, Implied):
            images = self.images(coefficients.signed)
            norms = np.abs(coefficients.weights) * np.sqrt(self.squares(coefficients.signed))
            return coefficients.weights @ images, norms
        images = self.own_images(coefficients)
        squares = np.einsum("mi,mi->m", images, coefficients)
        return images.sum(axis=0), np.sqrt(np.maximum(squares, 0.0))

    def risk(self, outputs: Array) -> Risk:
        """Minimise exactly over b (and ρ): piecewise linear in each unknown."""
        if self.loss == "c":
            return self._hinge_risk(outputs)
        return self._nu_risk(outputs)

    def _hinge_risk(self, outputs: Array) -> Risk:
        low = high = 0.0
        if self.bias:
            low, high = _flat_bottom(self.y - outputs, self.box, self.box[self.y > 0].sum())
        bias = _middle(low, high)
        value = float(self.box @ np.maximum(0.0, 1.0 - self.y * (outputs + bias)))
        return Risk(value, bias, (low, high), None, value)

    def _nu_risk(self, outputs: Array) -> Risk:
        if self.bias:
            # In u = ρ − b and v = ρ + b the risk separates into the two classes.
            positive = self.y > 0
            u = _flat_bottom(outputs[positive], self.box[positive], 0.5)
            v = _flat_bottom(-outputs[~positive], self.box[~positive], 0.5)
            bias, rho = (_middle(*v) - _middle(*u)) / 2, (_middle(*v) + _middle(*u)) / 2
            interval = ((v[0] - u[1]) / 2, (v[1] - u[0]) / 2)
        else:
            bias, rho, interval = 0.0, _middle(*_flat_bottom(self.y * outputs, self.box, 1.0)), (0.0, 0.0)
        loss = float(self.box @ np.maximum(0.0, rho - self.y * (outputs + bias)))
        return Risk(loss - rho, bias, interval, rho, max(loss, abs(rho)))


def room_for_nu(box: Array, y: Array, bias: bool) -> Array:
    """The box of loss nu. A ν at its limit leaves no room on the grid of α, by rounding: then every entry is raised to
    the next multiple of the grid's unit, and the limit is what is solved."""
    sides = (y > 0, y < 0) if bias else (np.ones(len(y), dtype=bool),)
    steps = np.floor(box / UNIT)
    short = any(steps[side].sum() * UNIT < 1 / len(sides) for side in sides)
    return (steps + 1) * UNIT if short else box


def _made_up(alpha: Array, box: Array, signs: Array, total: float) -> Array | None:
    """α with Σ signs·α = total exactly, a few entries changed; None if a few are not enough."""
    alpha = alpha.copy()
    for _ in range(TRIES):
        missing = math.fsum([total, *(-signs * alpha)])
        if missing == 0:
            return alpha
        moved = alpha + signs * missing
        fits = (moved > 0) & (moved < box) & (alpha > 0) & (alpha < box)
        fits = fits if fits.any() else (moved >= 0) & (moved <= box)
        if not fits.any():
            return None
        exact = fits & ((moved - alpha) * signs == missing)  # nothing of the change is rounded away
        if exact.any():
            chosen = int(np.argmax(np.where(exact, np.minimum(alpha, box - alpha), -1.0)))
        else:  # the coarsest takes the most of it, finer ones the rest
            chosen = int(np.argmin(np.where(fits, np.abs(missing - (moved - alpha) * signs), np.inf)))
        alpha[chosen] = moved[chosen]
    return None


def _balanced_on_grid(alpha: Array, box: Array, positive: NDArray[np.bool_]) -> Array:
    """α on a grid, both classes with the same sum exactly."""
    steps, most, unit = _on_grid(alpha, box)
    surplus = _whole_sum(steps[positive]) - _whole_sum(steps[~positive])
    heavier = positive if surplus > 0 else ~positive
    steps[heavier] = _moved(steps[heavier], most[heavier], -abs(surplus))
    return steps * unit


def _filled_on_grid(alpha: Array, box: Array, total: float) -> Array:
    """α on a grid, with this sum, a power of two, exactly, as far as the box has room."""
    steps, most, unit = _on_grid(_filled(alpha, box, total), box)
    return _moved(steps, most, int(total / unit) - _whole_sum(steps)) * unit


def _on_grid(alpha: Array, box: Array) -> tuple[Array, Array, float]:
    """α and its box in whole multiples of the last bit of the largest α, and that."""
    largest = float(alpha.max())
    unit = 2.0 ** (math.frexp(largest)[1] - 53) if largest > 0 else 1.0
    most = np.minimum(np.floor(box / unit), 2.0**53)
    return np.minimum(np.rint(alpha / unit), most), most, unit


def _whole_sum(steps: Array) -> int:
    """Of whole numbers up to 2⁵³, exactly."""
    high = np.floor(steps / 2.0**26)
    return int(high.sum()) * 2**26 + int((steps - high * 2.0**26).sum())


def _moved(steps: Array, most: Array, by: int) -> Array:
    """Whole numbers in [0, most] whose sum is changed by this number, those with most room on both sides first."""
    for i in np.argsort(-np.minimum(steps, most - steps), kind="stable"):
        if by == 0:
            break
        change = min(by, int(most[i] - steps[i])) if by > 0 else max(by, -int(steps[i]))
        steps[i] += change
        by -= change
    return steps


def _filled(alpha: Array, box: Array, total: float) -> Array:
    """α scaled down, or raised towards its box, until it sums to `total`; left alone if it does so already."""
    missing = math.fsum([total, *(-alpha)])
    if abs(missing) <= 2 * np.finfo(float).eps * total:
        return alpha
    if missing < 0:
        alpha = alpha * (total / math.fsum(alpha))
    else:
        room = np.where(alpha > 0, box - alpha, 0.0)
        room = room if room.sum() > missing else box - alpha
        alpha = np.minimum(alpha + room * (missing / room.sum()), box)
    widest = int(np.argmax(np.minimum(alpha, box - alpha)))
    rest = math.fsum([total, *(-alpha)])
    alpha[widest] = np.clip(alpha[widest] + rest, 0.0, box[widest])
    return alpha


def _flat_bottom(breakpoints: Array, slopes: Array, target: float) -> tuple[float, float]:
    """Where a convex piecewise linear function is least: its slope starts at −target and grows by
    slopes[i] at breakpoints[i]. An interval when the slope is zero between two breakpoints."""
    order = np.argsort(breakpoints, kind="stable")
    reached = np.cumsum(slopes[order])
    rounding = 8 * len(slopes) * np.finfo(float).eps * reached[-1]
    first = min(int(np.searchsorted(reached, target - rounding)), len(order) - 1)
    low = float(breakpoints[order[first]])
    if reached[first] > target + rounding:
        return low, low
    return low, float(breakpoints[order[first + 1]]) if first + 1 < len(order) else math.inf


def _middle(low: float, high: float) -> float:
    return low if math.isinf(high) else (low + high) / 2
