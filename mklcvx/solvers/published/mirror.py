"""mirror — mirror descent over the kernels of each group, for `ckl` and `vskl` (Saketha Nath et al. 2009).

    G(λ) = max over α of gain(α) − U*(δ(α, λ)),     δ_j = √(Σ_{m∈j} λ_m q_m(α)),     λ on the simplex of each group
    inner   α ← SVM with weights λ_m r_j,   r_j from δ, until both agree: `li` with the groups' kernels (`vskl`, s = 2:
            r = 1, a single SVM)
    outer   λ_m ← λ_m exp(η_t ½ r_j q_m(α)), normalised within each group,   η_t ∝ 1/√t

r_j is what a group's weights are multiplied by, 1/(2γ_j) in `ckl` and (‖δ‖/δ_j)^{2−s*} in `vskl`. G is convex, and its
gradient is −½ r_j q_m by Danskin's theorem. Where choosing the best kernel of each group cycles
(`ckl_alternating`), averages of these steps converge: the gap falls at least as 1/√t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...formulations import Points
from ...formulations._groups import group_shares, group_sums
from ..driver import Algorithm, Problem, State
from ..svm import Fit, fit
from ._alternating import Array, floor

INNER_STEPS = 30


@dataclass(frozen=True)
class Averaged(State):
    """λ and the inner answer; sums of α and of the functions' coefficients, weighted by the steps taken."""

    shares: Array
    fit: Fit
    rise: Array
    steepest: float
    total: float
    alphas: Array
    functions: Array
    count: int = 1


class Mirror(Algorithm[Averaged]):
    name = "mirror"
    summary = "mirror descent over the kernels of each group"
    reference = "Saketha Nath et al. 2009"
    serves = ("ckl", "vskl")
    tolerance = 1e-2
    max_iter = 3000

    def start(self, problem: Problem) -> Averaged:
        groups = problem.task.own["groups"]
        shares = group_shares(np.zeros(len(groups)), groups)
        return self._advanced(problem, shares, np.ones(groups.max() + 1), None)

    def step(self, problem: Problem, state: Averaged) -> Averaged:
        groups = problem.task.own["groups"]
        slope = state.rise[groups] * state.fit.halves
        exponent = self._step_size(problem, state) * slope
        grown = state.shares * np.exp(exponent - exponent.max())
        return self._advanced(problem, group_shares(grown, groups), state.rise, state)

    def points(self, problem: Problem, state: Averaged) -> Points:
        """The last and the averaged of both."""
        last = state.fit.points(problem.task)
        return Points([*last.duals, state.alphas / state.total], [*last.primals, state.functions / state.total])

    def _step_size(self, problem: Problem, state: Averaged) -> float:
        return float(np.sqrt(2 * np.log(max(problem.task.count, 2)) / state.count) / state.steepest)

    def _advanced(self, problem: Problem, shares: Array, rise: Array, before: Averaged | None) -> Averaged:
        groups = problem.task.own["groups"]
        found, rise = inner(problem, shares, rise)
        steepest = max(float((rise[groups] * found.halves).max()), np.finfo(float).tiny)
        steepest = steepest if before is None else max(steepest, before.steepest)
        count = 1 if before is None else before.count + 1
        weight = 1 / np.sqrt(count)
        alphas, functions = weight * found.alpha, weight * np.outer(found.weights, found.alpha * problem.task.y)
        total = weight
        if before is not None:
            alphas, functions, total = alphas + before.alphas, functions + before.functions, total + before.total
        return Averaged(found.weights, shares, found, rise, steepest, total, alphas, functions, count)


def inner(problem: Problem, shares: Array, rise: Array) -> tuple[Fit, Array]:
    """α for the groups' kernels Σ λ_m K_m, by alternating with the groups' factors until these settle."""
    groups = problem.task.own["groups"]
    for _ in range(INNER_STEPS):
        found = fit(problem, shares * rise[groups])
        new = group_factors(problem, np.sqrt(group_sums(shares * 2 * found.halves, groups)))
        settled = np.abs(np.log(new / rise)).max() <= 0.1 * problem.tolerance
        rise = new
        if settled:
            break
    return found, rise


def group_factors(problem: Problem, delta: Array) -> Array:
    """r_j: what the formulation's weights are when every group has one kernel, with √q = δ."""
    own: dict[str, Any] = {**problem.task.own, "groups": np.arange(len(delta))}
    if not delta.any():
        return np.ones(len(delta))
    seen = np.maximum(delta, floor(problem) * delta.sum())
    return np.asarray(problem.formulation.weights(np.ones(len(delta)), seen, **own))
