"""mirror — mirror descent over the kernels of each group, for `ckl` and `vskl` (Saketha Nath et al. 2009).

    G(t) = max over α of gain(α) − U*(d(α, t)),     d_j = √(Σ_{m∈j} t_m q_m(α)),     t on the simplex of each group
    inner   α ← SVM with weights t_m r_j,   r_j from d, until both agree: `li` with the groups' kernels (`vskl`, s = 2:
            r = 1, a single SVM)
    outer   t_m ← t_m exp(η_l ½ r_j q_m(α)), normalised within each group,   η_l ∝ 1/√l in step l

r_j is what a group's weights are multiplied by, 1/(2t_j) in `ckl` and (‖d‖/d_j)^{2−s*} in `vskl`. G is convex, and its
gradient is −½ r_j q_m by Danskin's theorem. Where choosing the best kernel of each group cycles
(`ckl_alternating`), averages of these steps converge: the gap falls at least as 1/√l.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...formulations import Points
from ...formulations._groups import group_shares, group_sums
from ..driver import Algorithm, Array, Problem, State
from ..svm import SVMFit, fit, floor

INNER_STEPS = 30


@dataclass(frozen=True)
class Averaged(State):
    """The shares t and the inner answer; sums of α, of the functions' coefficients and of 1, weighted by the steps."""

    shares: Array
    fit: SVMFit
    rise: Array
    steepest: float = np.finfo(float).tiny
    sums: tuple[Array | float, ...] = (0.0, 0.0, 0.0)
    count: int = 0


class Mirror(Algorithm[Averaged]):
    name = "mirror"
    summary = "mirror descent over the kernels of each group"
    reference = "Saketha Nath et al. 2009"
    serves = ("ckl", "vskl")
    tolerance = 1e-2
    max_iter = 3000

    def start(self, problem: Problem) -> Averaged:
        groups = problem.task.own["groups"]
        shares, rise = group_shares(np.zeros(len(groups)), groups), np.ones(groups.max() + 1)
        return self._visited(problem, Averaged(shares, shares, *inner(problem, shares, rise)))

    def step(self, problem: Problem, state: Averaged) -> Averaged:
        groups = problem.task.own["groups"]
        gradient = state.rise[groups] * state.fit.halves
        size = float(np.sqrt(2 * np.log(max(problem.task.count, 2)) / state.count) / state.steepest)
        exponent = size * gradient
        shares = group_shares(state.shares * np.exp(exponent - exponent.max()), groups)
        fitted, rise = inner(problem, shares, state.rise)
        return self._visited(problem, replace(state, shares=shares, fit=fitted, rise=rise))

    def points(self, problem: Problem, state: Averaged) -> Points:
        """The last and the averaged of both."""
        last, (alphas, functions, total) = state.fit.points(problem.task), state.sums
        return Points([*last.duals, alphas / total], [*last.primals, functions / total])

    def _visited(self, problem: Problem, state: Averaged) -> Averaged:
        """The state with its inner answer added to the sums."""
        fitted, count = state.fit, state.count + 1
        steepest = max(float((state.rise[problem.task.own["groups"]] * fitted.halves).max()), state.steepest)
        terms = fitted.alpha, np.outer(fitted.weights, fitted.alpha * problem.task.signs), 1.0
        sums = tuple(total + 1 / np.sqrt(count) * term for total, term in zip(state.sums, terms, strict=True))
        return replace(state, weights=fitted.weights, steepest=steepest, sums=sums, count=count)


def inner(problem: Problem, shares: Array, rise: Array) -> tuple[SVMFit, Array]:
    """α for the groups' kernels Σ t_m K_m, by alternating with the groups' factors until these settle."""
    groups = problem.task.own["groups"]
    for _ in range(INNER_STEPS):
        fitted = fit(problem, shares * rise[groups])
        last, rise = rise, group_factors(problem, np.sqrt(group_sums(shares * 2 * fitted.halves, groups)))
        if np.abs(np.log(rise / last)).max() <= 0.1 * problem.tolerance:
            break
    return fitted, rise


def group_factors(problem: Problem, d: Array) -> Array:
    """r_j: the formulation's weights for one kernel in every group, with √q = d."""
    if not d.any():
        return np.ones(len(d))
    own, seen = {**problem.task.own, "groups": np.arange(len(d))}, np.maximum(d, floor(problem) * d.sum())
    return np.asarray(problem.formulation.weights(np.ones(len(d)), seen, **own))
