"""The certificate of a single task's point: plain passes first, slices and a sharper δ only where they are needed.

Formulations with weights have the bounds of `single`. Those of `li`, `ckl` and `vskl`, which have norms between groups
of kernels, are here.

Here q_m enters the dual through its root, and a q_m that rounding makes negative has no root: a problem with such
kernels has no value. So the theorem is about kernels that are semidefinite, K̃_m = K_m + δ_mI, with the least δ_m
that is proved (with a bias on the complement of 1, where Σ_i c_mi = 0). It is 0 for definite kernels, for kernels of
whole numbers and low rank, and for factors; otherwise about n·u·trace. The certificate states it (`ridges`).

    v = max over α of gain(α) − U*(√q̃₁, …, √q̃_M),        q̃_m = β'K_mβ + δ_m‖β‖²

**Lower.** U* grows with every root: upper ends of the q̃_m are put in. A kernel that α sees loses δ_m‖β‖²/(2√q_m) by
that, one that it does not see √δ_m‖β‖: half of the digits.

**Upper.** f_m = tK̃_mc_m = t(K_mc_m + δ_mc_m) has the norm ta_m, a_m = √(c_m'K_mc_m + δ_m‖c_m‖²), and weak duality
(`formulations/families/single_task`) holds for semidefinite kernels: v ≤ t²U(a) + Σ_i c_i ℓ(y_i, z_i) with
z_i = f_i + tb.

**Gap.** Σ_i (c_i ℓ(y_i, z_i) − g_i(α_i) + s_i α_i z_i) + [t²U(a) + U*(√q̃) − tΣ_m β'K̃_mc_m], compared with
t²U(a) + U*(√q̃). `sample_terms` bounds the first part.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from ..errors import InternalError
from ..formulations import SingleTask, Task
from .passes import own_seen, seen, sum_to_zero
from .record import Certificate, Sliced, refined_step_by_step, refined_unless_settled, settled
from .regularisers import RegulariserBounds, regulariser_of
from .ridge import ridges, successive_ridges
from .rounding import POWER, Array, U, above, below, no_wider, times_square, total_above, total_below
from .sample_terms import negligible, sample_terms
from .single import (
    MARGIN,
    Evaluation,
    Outputs,
    OwnCoefficients,
    Parts,
    Proved,
    SampleCosts,
    combined_outputs,
    stated_level,
)

Interval = tuple[Array, Array]  # from below and from above
AFFORDABLE = 0.5  # of what the tolerance leaves beside the gap without δ: δ may cost as much
HOPEFUL = 100.0  # times what the tolerance leaves: a δ that is estimated to cost more is not tried


def certified(
    formulation: SingleTask, task: Task, alpha: Array, mu: Array, tolerance: float, coefficients: Array | None = None,
    low: Array | None = None, side: RegulariserBounds | None = None,
) -> Proved:  # fmt: skip
    """The certificate of α with weights μ, or with coefficients of their own: in plain passes, then in slices. `side`
    takes the place of the formulation's regulariser."""
    alpha = task.feasible(alpha)
    if not exactly_feasible(task, alpha):
        raise InternalError("the equalities of alpha do not hold exactly")
    if formulation.between is not None:
        at = partial(BlockNormEvaluation, formulation, task, alpha, mu, coefficients)
        delta = ridges(task, np.ones(task.count), balanced(task, coefficients))
        return refined_unless_settled(lambda sliced: at(sliced).proved(delta), tolerance)

    weights = side or regulariser_of(formulation.name, task.count, task.own)

    def evaluate(sliced: Sliced) -> Proved:
        at = Evaluation(weights, task, alpha, mu, sliced, low)
        if coefficients is not None:
            return OwnCoefficients(at, coefficients).bounds()
        bare = at.bounds(0.0)
        if sliced is not True and not settled(bare.certificate, tolerance):
            return bare
        return with_ridge(at, bare, tolerance)

    used = weights.feasible(mu) > 0  # only these make f: of the others q is enough, and q far below the largest
    first: Sliced = used if coefficients is None and not used.all() else True
    return refined_step_by_step(evaluate, first, tolerance) if low is None else evaluate(True)


def with_ridge(at: Evaluation, bare: Proved, tolerance: float) -> Proved:
    """The point with the first δ that leaves the tolerance proved; else with one that costs next to nothing beside the
    gap without δ, or with the least. What δ costs is estimated first, far too high: it is the bounds that decide."""
    known, side, room = successive_ridges(at.task, at.mu, at.task.bias), at.samples.side, 0.0
    least = side.ridge_costing(at.alpha, negligible(bare.certificate, tolerance))
    if bare.certificate.proves(tolerance):
        room = tolerance * bare.certificate.scale - bare.certificate.gap
    hopeful = max(side.ridge_costing(at.alpha, HOPEFUL * room), least) if room > 0 else least
    while True:
        delta = known.until(hopeful)
        if not delta:
            return bare
        point = at.bounds(delta).beside(bare)
        affordable = point.certificate.ridge_share <= AFFORDABLE * room and point.certificate.proves(tolerance)
        if affordable or not least < delta <= hopeful or math.isinf(delta):
            return point
        hopeful = max(delta / 2, least)


def exactly_feasible(task: Task, alpha: Array) -> bool:
    """Whether α lies in its box and satisfies its equalities exactly: s'α = 0 with a bias, 1'α = 1 where the margin is
    free; and ‖α‖₁ ≤ N where the tube is. `fsum` is exact where a sum vanishes, and in its sign."""
    inside = bool((alpha >= task.low).all() and (alpha <= task.limit).all())
    inside = inside and task.loss_function.slack(alpha, task.box) >= 0
    rows, totals = task.equalities()
    return inside and all(math.fsum([*(row * alpha), -total]) == 0 for row, total in zip(rows, totals, strict=True))


def balanced(task: Task, coefficients: Array | None) -> bool:
    """Whether there is a bias and the coefficients of every function sum to zero, as the implied ones do."""
    return task.bias and (coefficients is None or sum_to_zero(coefficients))


class BlockNormEvaluation:
    """α, and functions f_m = K̃_mc_m: the implied ones, c_m = weight_m β, or others."""

    def __init__(
        self, formulation: SingleTask, task: Task, alpha: Array, weights: Array, own: Array | None, sliced: Sliced
    ) -> None:
        self.formulation, self.task, self.alpha, self.own = formulation, task, alpha, own
        self.beta, self.weights = alpha * task.signs, weights if own is not None else np.nan_to_num(weights)
        self.dual = seen(task, self.beta, task.bias, sliced)
        self.balanced, self.side = balanced(task, own), sample_terms(task)
        self.primal = None if own is None else own_seen(task, own, self.balanced, sliced)
        self.steps = POWER + 64 + task.count

    def with_ridges(self, delta: Array) -> tuple[Interval, Interval, Outputs, float]:
        """q̃ and ‖f_m‖² from below and above, f at the samples, and Σ_m β'K̃_mc_m from below."""
        extra = delta * total_above(self.beta**2)
        squares = self.dual.low + below(extra), self.dual.high + above(extra)
        own: Array = np.outer(self.weights, self.beta) if self.own is None else self.own
        if self.primal is None:
            norms = times_square(np.maximum(squares[0], 0.0), self.weights), times_square(squares[1], self.weights)
            outputs, along = combined_outputs(self.dual, self.weights), total_below(self.weights * squares[0])
        else:
            longer, steps = np.sum(times_square(delta[:, None], own), axis=1), self.task.samples + 8
            norms = self.primal.low + below(longer, steps), self.primal.high + above(longer, steps)
            outputs = combined_outputs(self.primal, np.ones(self.task.count))
            along = total_below(self.beta * outputs.values) - total_above(np.abs(self.beta) * outputs.error)
            along -= total_above(np.abs((delta @ own) * self.beta), self.task.count + 8)
        lifted = delta @ own
        off = (self.task.count + 3) * U * (delta @ np.abs(own))
        values = outputs.values + lifted
        error = above(outputs.error + off + U * np.abs(values), self.task.count)
        return squares, norms, replace(outputs, values=values, error=error), along

    def proved(self, delta: Array) -> Proved:
        return self.bounds(delta).beside(self.bounds(np.zeros_like(delta)))

    def bounds(self, delta: Array) -> Proved:
        """The better of the certificates with f as it is, and stretched by what free samples' margins lack."""
        task = self.task
        squares, lengths, outputs, along = self.with_ridges(delta)
        level, bias, interval = outputs.offsets(task)
        samples = SampleCosts(task, self.alpha, outputs, self.side)
        lack = samples.lack(bias, level)
        stretches = [1.0, *([1 + MARGIN * lack] if 0 < lack < 0.1 else [])]
        tried = [self._at(samples, t, (bias, level), squares, lengths, along, delta) for t in stretches]
        high = self.weights**2 * self.dual.high if self.primal is None else self.primal.high
        norms, roots = (np.sqrt(np.maximum(square, 0.0)) for square in (high, squares[1]))  # of K_mc_m, as it predicts
        best = min(tried, key=lambda certificate: certificate.gap)
        known = stated_level(task, level)
        return Proved(best, self.alpha, self.weights, self.own, bias, interval, known, None, norms, roots)

    def _at(
        self, samples: SampleCosts, t: float, offsets: tuple[Parts, float], squares: Interval, lengths: Interval,
        along: float, delta: Array,
    ) -> Certificate:  # fmt: skip
        own, penalty, conjugate = self.task.own, self.formulation.penalty, self.formulation.conjugate
        gain = self.side.gain(self.alpha)
        norms, roots = (above(np.sqrt(np.maximum(ends[1], 0.0))) for ends in (lengths, squares))
        price, cost = (float(above(x, self.steps)) for x in (t * t * penalty(norms, **own), conjugate(roots, **own)))
        bound, gap = samples.terms(t, *offsets)
        width = total_above([*gap, max(total_above([price, cost, -t * along], self.steps), 0.0)])
        least = [np.sqrt(np.maximum(below(ends[0]), 0.0)) for ends in (lengths, squares)]
        scale = t * t * penalty(least[0], **own) + conjugate(least[1], **own)
        plain = min(math.fsum(samples.terms(size, *offsets, blur=0.0)[1]) for size in {1.0, t})
        bare, barest = (conjugate(np.sqrt(np.maximum(q, 0.0)), **own) for q in (self.dual.high, self.dual.low))
        rounding = max(math.fsum(gap) - plain + bare - barest + price - t * t * penalty(least[0], **own), 0.0)
        lower, upper = total_below([gain, -cost]), total_above([*bound, price])
        scale, width = max(float(below(scale, self.steps)), 0.0), no_wider(width, lower, upper)
        ridge, known = float(delta.max(initial=0.0)), tuple(delta.tolist())
        gain = max(float(below(gain)), 0.0) + self.side.mass
        return Certificate(lower, upper, scale, width, rounding, ridge, stretch=t, ridges=known, gain=gain)
