"""Narrower ranges of weights, at the price of one machine for every cut.

At one α kernels that are tied are all the same (`certificate/weight_ranges`): on the simplex nothing bounds the weights
of two kernels with the largest q. Every other α is a bound on what weights are worth, too,
J(μ) ≥ R(μ) + gain(α) − ½μ'q(α), and so is every mean of such cuts. A method of cutting planes finds the α that matter:
a linear program minimises or maximises a weight over the cuts so far, and half-way between weights that are good enough
and those that it finds a machine is trained. Either its weights are good enough, too, and take the place of the former,
or its α is the next cut. The multipliers of the program are the mean that bounds the weight.

**Theorem.** Let v̄ and g be the means of ½q(α) and of the gains with any weights of the cuts, J(μ) ≤ c, and κ any number
(≥ 0 where Σμ ≤ 1, the price of R where that is κΣμ). Since κ(1 − Σμ) ≥ 0, Σ_l μ_l(κ − v̄_l) ≤ B = c − g + κ (a price on
the sum: c − g), and with z = Σ over l ≠ m of cap·(v̄_l − κ)₊

    μ_m ≤ (B + z)/(κ − v̄_m)   if v̄_m < κ,         μ_m ≥ −(B + z)/(v̄_m − κ)   if v̄_m > κ.

Both are evaluated with upper ends of v̄, lower ones of g and every v̄_l for κ. What the program returned proves nothing.
For a curved R one α is as good as many, up to a factor, and nothing is narrowed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..certificate.residuals import check_pair
from ..certificate.rounding import U, above, below
from ..certificate.solution import Solution
from ..certificate.weight_shapes import LinearShape, shape_of
from ..problem.arguments import takes_kernels
from ..problem.instance import Instance
from ..problem.numbers import check_whole
from ..problem.stack import Array
from .case import pose_solved
from .families import family_of
from .families.family import WeightCut
from .uniqueness import TIGHT

ROUNDS = 30
NEAR = 0.05  # share of a range that is left open


class Cuts(NamedTuple):
    """½q from above (k, M), and the gains from below."""

    high: Array
    gain: Array

    def and_one(self, cut: WeightCut) -> Cuts:
        return Cuts(np.vstack([self.high, cut.high]), np.append(self.gain, cut.gain))


@takes_kernels
def narrow_weights(
    instance: Instance, solution: Solution, *, tolerance: float | None = None, rounds: int = ROUNDS
) -> Array | None:
    """Narrow the intervals of `Solution.weights_interval` with further dual points.

    Every cut costs a machine with fixed weights. Kernels whose interval lies above zero are needed: no answer as good
    does without them.

    Parameters
    ----------
    instance : Instance
        Kernels and targets that were solved.
    solution : Solution
        Its solution. Preprocessing is applied beforehand, to all kernels.
    tolerance : float, optional
        As in `Solution.weights_interval`.
    rounds : int, default=30
        Largest number of machines for each end of an interval.

    Returns
    -------
    ndarray of shape (M, 2) or None
        Least and largest weight of every kernel in all answers that are good enough. They are those of
        `weights_interval` where R is curved, and for families other than single tasks.

    Examples
    --------
    >>> import mklcvx
    >>> instance = mklcvx.zoo.random(12, 3)
    >>> solution = mklcvx.solve(instance, "l1")
    >>> bool((mklcvx.narrow_weights(instance, solution)[:, 1] <= solution.weights_interval()[:, 1]).all())
    True
    """
    check_whole(0, rounds=rounds)
    check_pair(instance, solution)
    wanted = 0.0 if tolerance is None else tolerance
    intervals = solution.weights_interval(tolerance)
    shape = shape_of(solution.formulation, solution.parameters, len(solution.weights))
    case = pose_solved(instance, solution, max(wanted, 1e-8))
    family = family_of(case.formulation)
    first = family.cut(case, solution.weights, solution.alpha)
    if intervals is None or first is None or not isinstance(shape, LinearShape):
        return intervals
    certificate = solution.certificate
    excess = max(certificate.gap, float(above(wanted * certificate.base)))
    level = float(above(certificate.upper + excess, 1))
    cuts = Cuts(first.high[None], np.array([first.gain]))
    nothing = family.cut(case, solution.weights, np.zeros_like(solution.alpha))
    cuts = cuts if nothing is None else cuts.and_one(nothing)
    for m in range(len(intervals)):
        for sign in (1, -1):
            good = solution.weights
            for _ in range(rounds):
                program = _program(shape, cuts, level, m, sign)
                if program is None:
                    break
                weights, mean = program
                if mean is not None:
                    low, high = bounds(shape, cuts, mean, level, m)
                    intervals[m] = max(intervals[m, 0], low), min(intervals[m, 1], high)
                if abs(weights[m] - good[m]) <= NEAR * abs(weights[m] - solution.weights[m]):
                    break
                middle = (weights + good) / 2
                cut = family.cut(case, middle, None)
                if cut is None:
                    break
                good = middle if _worth(shape, cut, middle) <= level else good
                cuts = cuts.and_one(cut)
    return intervals


def bounds(shape: LinearShape, cuts: Cuts, mean: Array, level: float, m: int) -> tuple[float, float]:
    """The theorem's bounds on the weight m, with the means of the cuts and the best κ."""
    steps = len(mean) + 8
    mean = mean / mean.sum()
    v = above(mean @ cuts.high + steps * U * (mean @ np.abs(cuts.high)), steps)
    gain = float(below(mean @ cuts.gain - steps * U * (mean @ np.abs(cuts.gain)), steps))
    others = np.delete(v, m)
    if shape.fixed is not None:
        kappas = np.array([shape.fixed])
    else:
        kappas = np.append(others, 0.0) if shape.total else np.append(np.maximum(others, 0.0), 0.0)
    over = np.maximum(others[None] - kappas[:, None] + 4 * U * (np.abs(others) + np.abs(kappas[:, None])), 0.0)
    with np.errstate(invalid="ignore"):
        left_over = np.where(over > 0, shape.cap * over, 0.0).sum(axis=1)
    size = np.abs(kappas) + abs(gain) + abs(level) + left_over
    budget = level - gain + left_over + (kappas if shape.fixed is None else 0.0) + (len(v) + 16) * U * size
    apart = v[m] - kappas
    off = 4 * U * (abs(v[m]) + np.abs(kappas))
    with np.errstate(divide="ignore", invalid="ignore"):
        high = np.where(apart < -off, above(np.maximum(budget, 0.0) / (-apart - off)), shape.cap)
        low = np.where(apart > 0, below(np.maximum(-budget, 0.0) / (apart + off)), 0.0)
    return max(float(np.nanmax(low)), 0.0), float(np.nanmin(high))


def _worth(shape: LinearShape, cut: WeightCut, weights: Array) -> float:
    """R(μ) + gain − ½μ'q at the machine of the weights."""
    price = 0.0 if shape.fixed is None else shape.fixed * float(weights.sum())
    return price + cut.gain - float(weights @ cut.high)


def _program(shape: LinearShape, cuts: Cuts, level: float, m: int, sign: int) -> tuple[Array, Array | None] | None:
    """Weights with the least (sign 1) or largest μ_m over the cuts, and the multipliers of these, if any is active;
    None where the program finds nothing. Where the price is on the sum, the mean is led back to what it allows."""
    from scipy.optimize import linprog

    count, price = cuts.high.shape[1], shape.fixed or 0.0
    size = max(float(np.abs(cuts.high).max()), abs(level)) or 1.0
    goal = np.zeros(count)
    goal[m] = sign
    rows, limits = (price - cuts.high) / size, (level - cuts.gain) / size
    ones = np.ones((1, count))
    if shape.within:
        rows, limits = np.vstack([rows, ones]), np.append(limits, 1.0)
    equal = (ones, np.ones(1)) if shape.total else (None, None)
    cap = shape.cap if math.isfinite(shape.cap) else None
    result = linprog(goal, rows, limits, *equal, [(0.0, cap)] * count, options=TIGHT)
    if not result.success:
        return None
    mean = np.maximum(-result.ineqlin.marginals[: len(cuts.gain)], 0.0)
    if not mean.sum() > 0:
        return np.asarray(result.x), None
    mean = mean / mean.sum()
    if shape.fixed is not None:  # the second cut is that of α = 0, where v = 0
        over = float(np.delete(mean @ cuts.high, m).max(initial=0.0)) / price
        if over > 1 - 2.0**-40:
            mean = mean * (1 - 2.0**-40) / over
            mean[1] += 1 - mean.sum()
    return np.asarray(result.x), mean
