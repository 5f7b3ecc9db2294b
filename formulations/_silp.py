"""The semi-infinite linear programs: of `l1`, with a box on the weights of `sm1`, and of `hypergraph`.

    min over τ, μ of τ      τ ≥ Σ_m μ_m S_m(α) for every α ∈ S,      S_m(α) = gain(α) − ½ q_m(α)
    Σμ = 1,  0 ≤ μ ≤ cap    (cap = 1 for `l1`, θ for `sm1`)

Infinitely many constraints, one for each α. The restricted master keeps those found so far; the separation
oracle finds the most violated one, which is the dual of the SVM with kernel Σ μ_m K_m. The master's value
bounds the optimum from below. So does, no worse, the combination ᾱ = Σ_l t_l α_l of the cuts with the master's
multipliers t, since gain is linear and every q_m is convex; the SVM bounds it from above.

For `hypergraph` the program is max τ with Σ_m μ_m S_m(Z) ≥ τ for every Z: the same master for −S, another oracle.

Reference: Sonnenburg et al. 2006, Eqs (10) to (13), with a minimum over weights of a maximum over α; Ji et al. 2008,
Theorem 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..problem.stack import Array, KernelStack
from ._cvxpy import cp
from ._dual import DualProgram
from ._formulation import Own
from .families.hypergraph import HyperTask
from .families.task import Task
from .svm import SVM


class RestrictedMaster(NamedTuple):
    """The linear program over the cuts found so far; the multipliers of `cuts` are the t_l."""

    problem: cp.Problem
    weights: cp.Variable
    cuts: cp.Constraint


def restricted_master(scores: Array, cap: float = 1.0) -> RestrictedMaster:
    """min over weights on the simplex, capped, of the largest of the cuts' scores (one row of S_m per cut)."""
    tau, weights = cp.Variable(), cp.Variable(scores.shape[1], nonneg=True)
    cuts = scores @ weights <= tau
    problem = cp.Problem(cp.Minimize(tau), [cuts, cp.sum(weights) == 1, weights <= cap])
    return RestrictedMaster(problem, weights, cuts)


def separation_oracle(task: Task, weights: Array) -> tuple[Task, DualProgram]:
    """The SVM dual for given weights: its α is the constraint that these weights violate most."""
    single = task.alone(task.combined(weights))
    return single, SVM.declare_dual(single)


def scores(task: Task, alpha: Array) -> Array:
    """S_m(α) for every kernel: the row that α adds to the master."""
    return np.asarray(task.gain(alpha) - task.root_q(alpha) ** 2 / 2)


def cap(own: Mapping[str, Own]) -> float:
    return float(own.get("theta", 1.0))


class EmbeddingOracle(NamedTuple):
    """min over Z of Σ μ_m S_m(Z)."""

    problem: cp.Problem
    z: cp.Variable


def embedding_oracle(task: HyperTask, mu: Array) -> EmbeddingOracle:
    """The separation oracle of Theorem 2.1 of Ji et al. 2008: the Z that violates Σ μ_m S_m(Z) ≥ τ most."""
    (factor,) = KernelStack(task.combined(mu)[None]).factors
    z = cp.Variable(task.h.shape)
    quadratic = cp.sum_squares(z) / 4 + cp.sum_squares(factor.columns.T @ z) / (4 * task.lam)
    return EmbeddingOracle(cp.Problem(cp.Minimize(quadratic - cp.sum(cp.multiply(z, task.h)))), z)
