"""simplemkl — reduced gradient on the simplex for `l1` (Rakotomamonjy et al. 2008, Algorithm 1).

    J(μ) = the SVM's value with kernel Σ_m μ_m K_m,        ∂J/∂μ_m = −½ q_m(α)
    l = argmax μ;   D_m = ∂J/∂μ_l − ∂J/∂μ_m,  0 where μ_m = 0 and that is negative,   D_l = −Σ_{m≠l} D_m
    while going to the end of D, where the next weight vanishes, decreases J:
        go there, and strike that weight from D
    line search along what is left of D

Every J costs an SVM. The line search uses the slope J'(η) = Σ_m D_m ∂J/∂μ_m, which comes free with it: secant steps
inside a bracket until the slope has shrunk tenfold and J has decreased enough.

The paper has regression and one-class problems as well: only the machine changes. The gradient is that of every loss,
for J is a maximum over α, attained at the α of the machine (Danskin).
"""

from __future__ import annotations

import numpy as np

from ..driver import Array, Problem
from ..svm import Fitted, OverWeights, SVMFit, fit

FLATTER = 0.1  # a slope this small, relative to the first, ends the line search
ARMIJO = 1e-4
ROUNDING = 1e-14
VANISHED = 1e-12
MAX_TRIALS = 20


class SimpleMKL(OverWeights):
    name = "simplemkl"
    summary = "reduced gradient with line search"
    reference = "Rakotomamonjy et al. 2008"
    serves = ("l1",)

    def step(self, problem: Problem, state: Fitted) -> Fitted:
        here = state.fit
        direction = descent_direction(here.weights, -here.halves)
        if not direction.any():
            return Fitted(here.weights, here, stop_reason="its reduced gradient vanished")
        here, direction, end = _to_the_last_corner(problem, here, direction)
        fitted = _line_search(problem, here, direction, end)
        return Fitted(
            fitted.weights, fitted, stop_reason="its line search found no descent" if fitted is state.fit else ""
        )


def descent_direction(weights: Array, gradient: Array) -> Array:
    """The reduced gradient's direction: it keeps Σμ = 1 and never leaves μ ≥ 0 at once."""
    largest = int(np.argmax(weights))
    direction = gradient[largest] - gradient
    direction[(weights <= 0) & (direction < 0)] = 0.0
    direction[np.abs(direction) <= ROUNDING * np.abs(gradient).max()] = 0.0
    return _balanced(direction, largest)


def _balanced(direction: Array, largest: int) -> Array:
    """Set D_l so that the entries sum to zero."""
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    return direction


def _to_the_last_corner(problem: Problem, here: SVMFit, direction: Array) -> tuple[SVMFit, Array, SVMFit | None]:
    """Follow D from corner to corner while J decreases: where it stopped, what is left of D, and the fit at D's end."""
    largest = int(np.argmax(here.weights))
    while True:
        longest, hit = _room(here.weights, direction)
        if hit is None:
            return here, direction, None
        end = fit(problem, _moved(here.weights, direction, longest, hit))
        if end.value >= here.value:
            return here, direction, end
        here = end
        if hit == largest:
            return here, np.zeros(len(direction)), None
        direction = _balanced(np.where((here.weights <= 0) & (direction < 0), 0.0, direction), largest)


def _room(weights: Array, direction: Array) -> tuple[float, int | None]:
    """How far D can be followed, and the weight that vanishes there."""
    falling = np.flatnonzero(direction < 0)
    if not len(falling):
        return 0.0, None
    lengths = -weights[falling] / direction[falling]
    first = int(np.argmin(lengths))
    return float(lengths[first]), int(falling[first])


def _moved(weights: Array, direction: Array, length: float, vanishing: int | None = None) -> Array:
    moved = weights + length * direction
    if vanishing is not None:
        moved[vanishing] = 0.0
    moved[moved <= VANISHED * moved.max()] = 0.0  # what rounding leaves would hold up every later step
    return np.asarray(moved / moved.sum())


def _line_search(problem: Problem, here: SVMFit, direction: Array, end: SVMFit | None) -> SVMFit:
    """Between here, where J falls, and the end, where it is no lower than here."""
    if end is None or not direction.any():
        return here
    low, (high, _), best = 0.0, _room(here.weights, direction), here
    first = slope_low = -float(direction @ here.halves)
    slope_high = -float(direction @ end.halves)
    for _ in range(MAX_TRIALS):
        share = slope_low / (slope_low - slope_high) if slope_low < 0 < slope_high else 0.5
        length = low + (high - low) * min(max(share, 0.05), 0.95)  # a secant step, kept away from both ends
        trial = fit(problem, _moved(here.weights, direction, length))
        slope = -float(direction @ trial.halves)
        if trial.value < best.value:
            best = trial
        if abs(slope) <= FLATTER * abs(first) and best.value <= here.value + ARMIJO * length * first:
            break
        if slope < 0:
            low, slope_low = length, slope
        else:
            high, slope_high = length, slope
    return best
