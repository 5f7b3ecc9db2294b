"""Decision values of every answer that is good enough, and so the labels that all of them give.

**Theorem.** Let α, D and F be those of `certificate/weight_ranges`, β = α∘s, h_m = K_mβ as a function. Let an answer
(f, b, μ) with outputs z_i = f(x_i) + b cost at most D + ε. For semidefinite kernels

    Σ_i [c_i ℓ(y_i, z_i) − g_i(α_i) + β_i z_i] + ½ Σ_m ‖f_m − μ_m h_m‖²/μ_m + F(μ) ≤ ε.

*Proof.* The left side is the cost less D, since ⟨f_m, h_m⟩ = Σ_i β_i f_m(x_i), and Σβ = 0 with a bias. ∎  No term is
negative. So, for any points x and x_i, Cauchy and Schwarz bound how far f is from Σ_m μ_m h_m:

    |f(x) − f(x_i) − Σ_m μ_m (h_m(x) − h_m(x_i))| ≤ √(2ε Σ_m μ_m d_m²),
    d_m² = k_m(x, x) − 2k_m(x, x_i) + k_m(x_i, x_i),

and the same without x_i, d_m² being k_m(x, x). The weights lie in their intervals. Without a bias this bounds f(x) for
every loss. With one, a sample with 0 < α_i < C_i holds b: its hinge term is at most ε, so that

    1 − ε/(C_i − α_i) ≤ y_i z_i ≤ 1 + ε/α_i,

and f(x) + b = z_i + (f(x) − f(x_i)). Without targets (one_class) a sample holds the threshold ρ in the same way, as
1'α = 1: its term of the risk is at most ε, so that −ε/(C_i − α_i) ≤ f(x_i) − ρ ≤ ε/α_i. Several x_i are tried, and
their intervals intersected. Other losses with a bias, and formulations without intervals, have no bound here. Sums
leave room for their rounding, and so do entries that are products of factors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..certificate.rounding import U, above
from ..certificate.sample_terms import sample_terms
from ..certificate.solution import Solution
from ..certificate.weight_shapes import shape_of
from ..errors import InputError
from ..formulations import Task
from ..formulations.losses import NONE
from ..problem.arguments import takes_kernels
from ..problem.instance import Instance
from ..problem.low_rank import LowRank
from ..problem.numbers import as_real_array
from ..problem.stack import Array
from ..problem.validation import check_test_stack
from .case import pose_solved
from .families import family_of

ANCHORS = 20


class Ends(NamedTuple):
    """Least and largest weights, and whether they sum to one."""

    low: Array
    high: Array
    total: bool

    def largest(self, values: Array) -> Array:
        """Σ μ_m value_m from above, values (M, t). Where Σμ = 1, any constant c may be taken out of the values."""
        taken = [np.zeros(values.shape[1:]), *(values if self.total else ())]
        each = [c + _sum(np.where(values > c, self.high[:, None], self.low[:, None]) * (values - c)) for c in taken]
        return np.asarray(np.min(each, axis=0))


def _sum(terms: Array) -> Array:
    return np.asarray(above(terms.sum(axis=0) + len(terms) * U * np.abs(terms).sum(axis=0)))


@takes_kernels
def decision_interval(
    instance: Instance,
    solution: Solution,
    test_kernels: ArrayLike,
    test_diagonals: ArrayLike,
    *,
    tolerance: float | None = None,
    weights_interval: ArrayLike | None = None,
) -> Array | None:
    """Bound the decision values of every answer that is good enough.

    A sample whose interval lies on one side of zero has the same label in all these answers; without targets, it is
    like the training samples in all of them, or in none.

    Parameters
    ----------
    instance : Instance
        Kernels and targets that were solved.
    solution : Solution
        Its solution. Preprocessing is applied beforehand, to all kernels.
    test_kernels : array_like of shape (M, t, n)
        Kernels between new and training samples.
    test_diagonals : array_like of shape (M, t)
        Values k(x, x) of the new samples.
    tolerance : float, optional
        As in `Solution.weights_interval`.
    weights_interval : array_like of shape (M, 2), optional
        Narrower intervals of the weights, from `narrow_weights` at this tolerance.

    Returns
    -------
    ndarray of shape (t, 2) or None
        Least and largest value of f + b, without targets of f − ρ. None where nothing is known: losses other than the
        hinge with a bias, formulations without intervals, and families other than single tasks. With a bias or ρ one
        sample at least needs an α between its bounds.

    Examples
    --------
    >>> import mklcvx
    >>> instance = mklcvx.zoo.random(12, 3)
    >>> solution = mklcvx.solve(instance, "sm2")
    >>> diagonals = instance.kernels.diagonal(axis1=1, axis2=2)
    >>> low, high = mklcvx.decision_interval(instance, solution, instance.kernels, diagonals).T
    >>> bool((low <= high).all())
    True
    """
    case = pose_solved(instance, solution)
    interval = solution.weights_interval(tolerance)
    if weights_interval is not None:
        interval = as_real_array(weights_interval, "weights_interval", "two ends for each kernel").astype(float)
        if interval.shape != (case.task.count, 2):
            raise InputError(f"weights_interval of shape {interval.shape}: give {(case.task.count, 2)}")
    if interval is None or solution.alpha is None or not np.isfinite(interval).all():
        return None
    if family_of(case.formulation).cut(case, solution.weights, solution.alpha) is None:
        return None
    task: Task = case.task
    kernels = np.asarray(check_test_stack(test_kernels, task.count, task.samples), dtype=float)
    diagonals = as_real_array(test_diagonals, "test_diagonals", "k(x, x) of every new sample").astype(float)
    if diagonals.shape != kernels.shape[:2] or not np.isfinite(diagonals).all():
        raise InputError(f"test_diagonals of shape {diagonals.shape}: give k(x, x), finite, {kernels.shape[:2]}")
    certificate = solution.certificate
    excess = max(certificate.gap, 0.0 if tolerance is None else float(above(tolerance * certificate.base)))
    shape = shape_of(solution.formulation, solution.parameters, task.count)
    ends = Ends(interval[:, 0], interval[:, 1], shape is not None and shape.total)
    return _bounded(task, solution.alpha, kernels, diagonals, ends, excess)


def _bounded(task: Task, alpha: Array, kernels: Array, diagonals: Array, ends: Ends, excess: float) -> Array | None:
    beta, side = alpha * task.signs, sample_terms(task)
    steps = (len(beta) + 4) * U
    here, here_off = kernels @ beta, above(steps * (np.abs(kernels) @ np.abs(beta)), len(beta))
    loss = task.loss_function
    thresholded = loss.targets == NONE  # ρ takes the place of a bias
    if not (task.bias or thresholded):
        return _around(here, here_off, diagonals, ends, excess, (0.0, 0.0))
    room = np.minimum(alpha, side.high - alpha)
    anchors = np.argsort(-room)[:ANCHORS]
    anchors = anchors[room[anchors] > 0]
    if not side.stretches or loss.free_margin != thresholded or not len(anchors):
        return None
    own, lost = _rows(task, anchors)
    there, there_off = own @ beta, above((steps * np.abs(own) + lost) @ np.abs(beta), len(beta))
    squares, squares_off = (np.diagonal(part[:, :, anchors], axis1=1, axis2=2) for part in (own, lost))
    intervals = []
    for k, i in enumerate(anchors.tolist()):
        at, at_off, square, across = there[:, k, None], there_off[:, k, None], squares[:, k, None], kernels[:, :, i]
        apart, off = here - at, here_off + at_off + 4 * U * (np.abs(here) + np.abs(at))
        distances = diagonals - 2 * across + square + squares_off[:, k, None]
        distances = distances + 8 * U * (np.abs(diagonals) + 2 * np.abs(across) + np.abs(square))
        reached = above(excess / (side.high[i] - alpha[i])), above(excess / alpha[i])
        level = 0.0 if thresholded else 1.0
        outputs = sorted((task.signs[i] * (level - reached[0]), task.signs[i] * (level + reached[1])))
        intervals.append(_around(apart, off, distances, ends, excess, (outputs[0] - 4 * U, outputs[1] + 4 * U)))
    low, high = np.transpose(intervals)
    return np.stack([low.max(axis=1), high.min(axis=1)], axis=1)


def _rows(task: Task, some: NDArray[np.intp]) -> tuple[Array, Array]:
    """Rows of every kernel, (M, s, n), and what was lost where they are products of factors."""
    rows = np.stack([np.asarray(kernel)[some] for kernel in task.each_kernel()])
    if not isinstance(task.kernels, LowRank):
        return rows, np.zeros_like(rows)
    sizes = [np.abs(task.kernels.factor(m)) for m in range(task.count)]
    lost = [above((size.shape[1] + 2) * U * (size[some] @ size.T), size.shape[1] + 2) for size in sizes]
    return rows, np.stack(lost)


def _around(values: Array, off: Array, squares: Array, ends: Ends, excess: float, known: tuple[float, float]) -> Array:
    """known + Σ μ_m value_m ± √(2ε Σ μ_m square_m), values known up to `off`, all (M, t)."""
    reach = above(np.sqrt(2 * excess * np.maximum(ends.largest(np.maximum(squares, 0.0)), 0.0)))
    low, high = known[0] - ends.largest(off - values) - reach, known[1] + ends.largest(values + off) + reach
    blur = 8 * U * (np.abs(low) + np.abs(high) + reach)
    return np.stack([low - blur, high + blur], axis=1)
