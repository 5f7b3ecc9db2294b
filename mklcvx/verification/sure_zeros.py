"""Kernels whose weight is zero in every optimum.

An interval of weights (`certificate/weight_ranges`) is about all answers that are good enough, and never ends at zero.
About the optima alone more is known where the gain is curved: there is one optimal α, near to the one found.

**Theorem.** Let the kernels be semidefinite, the gain of sample i have curvature ≥ κ_i > 0, D(α) = gain(α) − R*(½q(α))
be the lower bound at the certificate's α, and the optimal value at most D(α) + ε. Then for the optimal α*, every kernel
m and L_m ≥ the largest eigenvalue of diag(κ)^{-½} K_m diag(κ)^{-½},

    |√q_m(α*) − √q_m(α)| ≤ √(2ε L_m).

*Proof.* q is convex and R* convex and increasing, so that D has the gain's curvature. α* maximises D over a convex set:
D(α*) − D(α) ≥ ½ Σ κ_i (α_i − α*_i)², and D(α*) − D(α) ≤ ε. √q_m is a norm, that of K_m^{½}(α∘s). ∎

Optimal weights maximise μ'q(α*) − 2R(μ). For R = 0 and weights up to θ (`l1`: 1) with the sum one, a kernel has none if
⌈1/θ⌉ others have a larger q; for a price (λ²/2) Σμ if q_m < λ². L_m is bounded by the sums of rows, or the trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..certificate.rounding import above, below
from ..certificate.solution import Solution
from ..certificate.weight_shapes import LinearShape, shape_of
from ..problem.arguments import takes_kernels
from ..problem.instance import Instance
from ..problem.stack import Array
from .case import pose_solved
from .families import family_of


@takes_kernels
def proved_zeros(instance: Instance, solution: Solution) -> NDArray[np.bool_] | None:
    """Find kernels that are proved to have no weight in any optimum.

    Parameters
    ----------
    instance : Instance
        Kernels and targets that were solved.
    solution : Solution
        Its solution. Preprocessing is applied beforehand, to all kernels.

    Returns
    -------
    ndarray of bool of shape (M,) or None
        True where the weight is proved to vanish, kernels being semidefinite; false says nothing. None where no proof
        is known: gains that are not curved, as that of the hinge loss, and formulations other than `l1`, `sm1` and
        `group_lasso`.

    Examples
    --------
    >>> import mklcvx
    >>> instance = mklcvx.zoo.random(30, 5, seed=1)
    >>> solution = mklcvx.solve(instance, "l1", loss="squared_hinge")
    >>> mklcvx.proved_zeros(instance, solution).tolist()
    [False, False, False, False, True]
    """
    case, slopes = pose_solved(instance, solution), solution.slopes
    curvature = family_of(case.formulation).curvature(case)
    if curvature is None or not (curvature > 0).all() or slopes is None:
        return None
    shape = shape_of(solution.formulation, solution.parameters, case.task.count)
    if not isinstance(shape, LinearShape) or shape.within:
        return None
    with np.errstate(all="ignore"):
        reach = above(np.sqrt(2 * solution.certificate.gap * _largest_eigenvalues(case.task.each_kernel(), curvature)))
        low, high = np.sqrt(2 * np.maximum(slopes, 0.0))
        low, high = below(low) - reach, above(high) + reach
        least = math.sqrt(2 * shape.fixed) if shape.fixed is not None else _threshold(low, shape.cap)
        return np.asarray(above(high) < below(least))


def _threshold(low: Array, cap: float) -> float:
    """What as many kernels surpass as have all of the weight; none do if they are too few."""
    enough = math.ceil(1 / Fraction(cap))  # of 1/3, which is a little less, four
    return float(np.sort(low)[-enough]) if enough <= len(low) else -math.inf


def _largest_eigenvalues(kernels: Iterable[Array], curvature: Array) -> Array:
    """L_m from above."""
    stiff = above(1 / np.sqrt(curvature))
    bounds = []
    for kernel in kernels:
        rows = stiff * (np.abs(np.asarray(kernel, dtype=float)) @ stiff)
        bounds.append(min(float(rows.max()), float(stiff**2 @ np.abs(np.diagonal(kernel)))))
    return np.asarray(above(np.array(bounds), len(curvature) + 8))
