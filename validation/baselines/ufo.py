"""ufo — UFO-MKL: a squared (2, p) group norm, a group lasso for sparsity, and the mean of the joint margin's hinge.

    primal   min over f_1..f_M    (λ/2) (Σ_m ‖f_m‖^p)^{2/p} + α Σ_m ‖f_m‖ + risk(Σ_m f_m)
    dual     max over β ∈ B       gain(β) − (1/(2λ)) ‖(√q(β) − α)₊‖_s²,         1/p + 1/s = 1

with the risk of the joint margin as a mean, C_i = (weight of sample i)/Σ weights, no bias, ‖f_m‖ = (Σ_c ‖f_mc‖²)^½; β,
B, gain and q_m as `_joint` states them.

From one to the other. The conjugate of (λ/2) ‖a‖_p² is ‖d‖_s²/(2λ); the term α Σ a takes α off every d, and a ≥ 0
makes what is left count only where it is positive.

    recovery      f_m = μ_m K_mδ,   μ_m = v_m^{s−1}/(λ ‖v‖_s^{s−2} √q_m),   v_m = (√q_m − α)₊
    multipliers   weights = μ; norms (M,) = ‖f_m‖; beta (n, r)

The algorithm (`UfoWalk`) is the paper's stochastic one; `solver="exact"` is the optimum that it is measured against.
Parameters: C > 0 gives λ = 1/(C Σ weights), so that at α = 0 the problem is that of C Σ_i hinge_i, divided by C Σ
weights; α ≥ 0, default 0, and a kernel with √q_m ≤ α is not used at all; 1 < p ≤ 2, default s/(s − 1) with s = max(2,
2 log M).
Degenerate cases: α = 0, p = 2 is one SVM without bias and the sum of the kernels: for y the value of `sum` without
bias times λ. α = 0 and p → 1 tends to λ times the value of `l1` without bias. α ≥ max √q(β) for all β gives f = 0.

Reference: Orabona & Jie 2011; λ = 1/(Cn) is the choice of their program's demonstration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mklcvx.formulations import Points, lp
from mklcvx.problem.numbers import check_seed, check_tolerance, is_whole
from mklcvx.solvers.conic import CLARABEL, solve_declared
from mklcvx.solvers.driver import Algorithm, Problem, State, drive

from ._joint import Joint, JointPrimal, JointTask
from ._model import PRICE, Array, Baseline, InputError, Instance, Parameter, cp, shortfall

ALPHA = Parameter("alpha", "price of the group lasso", "α ≥ 0", lambda v, _: v >= 0, lambda _: 0.0, "0")
NORM = Parameter(
    "p",
    "group norm",
    "1 < p ≤ 2",
    lambda v, _: 1 < v <= 2,
    lambda count: conjugate_exponent(max(2.0, 2 * math.log(count))),
    "s/(s − 1), s = max(2, 2 log M)",
)


def conjugate_exponent(p: float) -> float:
    return p / (p - 1)


def steepest(d: Array, lam: float, alpha: float, p: float) -> Array:
    """The weights of the recovery at √q = d, from the gradient of the conjugate."""
    v, q = np.maximum(d - alpha, 0.0), conjugate_exponent(p)
    if not v.any():
        return np.zeros(len(d))
    return np.divide(v, d, out=np.zeros(len(d)), where=d > 0) * (v / lp.norm(v, q)) ** (q - 2) / lam


class MeanTask(JointTask):
    """A task whose risk is a mean; it is declared in units in which the boxes are about one."""

    def typical_kernel_size(self) -> float:
        return super().typical_kernel_size() / float(self.box.mean())


class Ufo(Joint):
    biased = False

    def penalty(self, a: Array, lam: float, alpha: float, p: float) -> float:
        return float(lam / 2 * lp.norm(a, p) ** 2 + alpha * a.sum())

    def conjugate(self, d: Array, lam: float, alpha: float, p: float) -> float:
        return float(lp.norm(np.maximum(d - alpha, 0.0), conjugate_exponent(p)) ** 2 / (2 * lam))

    def convex(self, norms: list[Any], lam: float, alpha: float, p: float) -> Any:
        a = cp.hstack(norms)
        return lam / 2 * cp.square(cp.pnorm(a, p, approx=False)) + alpha * cp.sum(a)

    def dual_cost(self, seen: list[Any], lam: float, alpha: float, p: float) -> tuple[Any, list[Any]]:
        v = cp.Variable(len(seen), nonneg=True)
        cost = cp.square(cp.pnorm(v, conjugate_exponent(p), approx=False)) / (2 * lam)
        return cost, [cp.norm(z, "fro") - alpha <= v[m] for m, z in enumerate(seen)]

    def rescale(self, own: Mapping[str, Any], size: float) -> Mapping[str, Any]:
        return {**own, "alpha": own["alpha"] * math.sqrt(size)}

    def task(self, instance: Instance, params: Mapping[str, Any]) -> tuple[JointTask, dict[str, Any]]:
        task, resolved = super().task(instance, params)
        total = float(instance.sample_weight.sum())
        resolved["lam"] = 1 / (resolved["C"] * total)
        stack: dict[str, Any] = {"symmetric": task.symmetric, "own": {"lam": resolved["lam"], **task.own}}
        return MeanTask(task.kernels, task.contrasts, instance.sample_weight / total, task.bias, **stack), resolved


UFO = Ufo(
    name="ufo",
    title="squared (2, p) group norm and group lasso, joint margin",
    reference="Orabona & Jie 2011",
    theorem=__doc__ or "",
    parameters=(PRICE, ALPHA, NORM),
)


@dataclass(frozen=True)
class Walk(State):
    """`weights` are those of the kernels in w; `scores` θ_m(x_i), (n, M, k); `squares` ‖θ_m‖²; `counts` N, (n, r)."""

    random: np.random.Generator
    kernels: Array  # (n, M, n): contiguous for one sample
    scores: Array
    squares: Array
    counts: Array
    draws: Array
    tail: Array  # the sum of the coefficients since the number of passes last doubled
    passes: int = 0
    since: int = 0


@dataclass(frozen=True)
class UfoWalk(Algorithm[Walk]):
    """UFO-MKL's stochastic algorithm: dual averaging with the conjugate of the regulariser (Orabona & Jie 2011).

        θ = 0, w = 0;   for t = 1, 2, …
            draw a sample i;   u = the rival with the least margin V_iu'w(x_i)
            θ ← θ + φ(x_i)⊗V_iu   if that margin is below 1
            v_m = (‖θ_m‖ − α t)₊,     w_m = θ_m v_m/(λ t ‖θ_m‖) (v_m/‖v‖_q)^{q−2}

    There is no step size, and w is as sparse as v. θ_m is a kernel expansion with the counts N_iu of updates, which all
    kernels share. One iteration here is a pass of n draws. The dual point is β_iu = C_i N_iu/(draws of i), always
    feasible; at the end of a pass of permutations it is N/t itself, whose w is the algorithm's own. The primal points
    are w, the w that β implies, and the mean of the recent ones.
    """

    name: ClassVar[str] = "ufo"
    shuffled: bool = False
    seed: int = 0

    def start(self, problem: Problem) -> Walk:
        task: JointTask = problem.task
        n, count, k = task.samples, task.count, task.labels
        random, kernels = np.random.default_rng(self.seed), np.stack(list(task.each_kernel()), axis=1)
        scores, squares, tail = np.zeros((n, count, k)), np.zeros(count), np.zeros((k, count, n))
        counts, draws = np.zeros(task.contrasts.shape[:2]), np.zeros(n)
        return Walk(np.zeros(count), random, kernels, scores, squares, counts, draws, tail)

    def step(self, problem: Problem, state: Walk) -> Walk:
        """A pass of n draws."""
        task: JointTask = problem.task
        n, weights = task.samples, state.weights
        scores, squares, counts = state.scores.copy(), state.squares.copy(), state.counts.copy()
        chosen, share = self._drawn(task, state.random)
        for t, i in enumerate(chosen, start=state.passes * n + 1):
            margins = task.contrasts[i] @ (weights @ scores[i])
            rival = int(np.argmin(margins))
            if margins[rival] < 1:
                contrast, step = task.contrasts[i, rival], float(share[i])
                squares += 2 * step * (scores[i] @ contrast) + step**2 * (contrast @ contrast) * state.kernels[i, :, i]
                for c in np.flatnonzero(contrast):
                    scores[:, :, c] += step * contrast[c] * state.kernels[i].T
                counts[i, rival] += step
            weights = steepest(np.sqrt(np.maximum(squares, 0.0)) / t, **task.own) / t
        draws = state.draws + np.bincount(chosen, minlength=n) * share
        passes, now = state.passes + 1, _coefficients(task, weights, counts)
        fresh = passes >= 2 * state.since
        tail, since = (now, passes) if fresh else (state.tail + now, state.since)
        return replace(
            state, weights=weights, scores=scores, squares=squares, counts=counts, draws=draws, tail=tail,
            passes=passes, since=since,
        )  # fmt: skip

    def _drawn(self, task: JointTask, random: np.random.Generator) -> tuple[NDArray[np.intp], Array]:
        """n samples and the step of each, so that a pass follows the mean gradient of the risk."""
        n = task.samples
        if self.shuffled:
            return random.permutation(n), n * task.box
        return random.choice(n, size=n, p=task.box), np.ones(n)

    def points(self, problem: Problem, state: Walk) -> Points:
        task: JointTask = problem.task
        seen = np.maximum(state.draws, np.finfo(float).tiny)[:, None]
        beta = task.feasible(task.box[:, None] * state.counts / seen)
        implied = steepest(task.roots(beta), **task.own)
        primals = [_coefficients(task, state.weights, state.counts), _coefficients(task, implied, beta)]
        if state.passes:
            primals.append(state.tail / (state.passes - state.since + 1))
        return Points([beta], [JointPrimal(coefficients, np.zeros(task.labels)) for coefficients in primals])


def _coefficients(task: JointTask, weights: Array, beta: Array) -> Array:
    """weight_m K_mδ, (k, M, n)."""
    return np.asarray(weights[None, :, None] * task.pull(beta).T[:, None, :])


def ufo(
    instance: Instance,
    C: float = 1.0,
    alpha: float = 0.0,
    p: float | None = None,
    *,
    solver: str = "ufo",
    tol: float | None = None,
    passes: int = 300,
    shuffled: bool = False,
    seed: int = 0,
) -> Baseline:
    """UFO-MKL as published, until the certified relative gap is at most `tol` (1e-2) or after `passes`; or, with
    solver="exact", the certified optimum of its objective (1e-8). `shuffled`: every pass is a permutation of the
    samples, as in the authors' program, instead of independent draws."""
    if solver not in ("ufo", "exact"):
        raise InputError(f"solver = {solver!r} is unknown: give 'ufo' or 'exact'")
    if not is_whole(passes, 1):
        raise InputError(f"passes = {passes} is below 1: give a number of passes over the samples, such as 300")
    task, parameters = UFO.task(instance, {"C": C, "alpha": alpha, "p": p})
    tolerance = tol if tol is not None else {"ufo": 1e-2, "exact": 1e-8}[solver]
    check_tolerance(tolerance)
    check_seed(seed)
    if solver == "ufo":
        point, run = drive(UfoWalk(bool(shuffled), seed), UFO, task, tolerance, max_iter=passes)
    else:
        point, run = solve_declared(UFO, task, tolerance, options=CLARABEL)
    (coefficients, bias), norms, roots = point.upper.point, point.upper.norms, point.lower.norms
    answer = coefficients, bias, np.divide(norms, roots, out=np.zeros(task.count), where=roots > 0)
    resolved = {**parameters, "solver": solver, "passes": run.iterations if solver == "ufo" else None, "seed": seed}
    about = ("ufo", instance.targets, instance.names, resolved)
    multipliers = {"beta": point.lower.point, "norms": norms}
    return Baseline(*about, *answer, point.certificate, multipliers, tuple(run.trace), shortfall(point, tolerance))
