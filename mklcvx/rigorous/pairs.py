"""Two stages: the first stage's optimum. Nothing here needs semidefinite kernels.

`ts`, `ts_l1`   upper: any μ ≥ 0. Lower: β in its box [0, w_ij], w an exact quotient; for `ts_l1` β shrunk by λ over (an
                upper end of) the strongest pull, where that exceeds λ.
`alignment`     lower: ⟨K(μ), T⟩/‖K(μ)‖ for any μ ≥ 0. Upper: ‖W‖ for W = K(u) + εI, ε large enough that
                ⟨K_m, W⟩ ≥ ⟨K_m, T⟩ for every m, which ⟨K_m, I⟩ = tr K_m > 0 makes possible; u is μ scaled as the
                quadratic program has it, u = μ ⟨K(μ), T⟩/‖K(μ)‖².
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from ..formulations import Formulation
from ..instance import Instance
from ..solution import Solution
from .balls import Array, added, exact, exacts, largest, top
from .semidefinite import KernelBalls, as_balls
from .single import Enclosure


def pair_bounds(
    formulation: Formulation, task: Any, kernels: KernelBalls, instance: Instance, solution: Solution
) -> Enclosure:
    examples = labelled_examples(kernels, np.asarray(task.labels))
    weight, lam = pair_weights(np.asarray(task.labels), solution.parameters["balanced"]), exact(task.lam)
    mu, sparse = as_balls(np.maximum(solution.weights, 0.0)[:, None]), formulation.name == "ts_l1"
    margins = (examples * mu).entries()
    loss = added(arb(w) * top(1 - margin) for w, margin in zip(weight, margins, strict=True))
    sizes = mu.entries() if sparse else [value**2 / 2 for value in mu.entries()]
    upper = arb(lam) * added(sizes) + loss
    beta = [arb(min(max(b, fmpq(0)), w)) for b, w in zip(exacts(solution.multipliers["beta"]), weight, strict=True)]
    pulls = (arb_mat(1, len(beta), beta) * examples).entries()
    if not sparse:
        return added(beta) - added(top(pull) ** 2 for pull in pulls) / (2 * arb(lam)), upper
    strongest = top(largest(pulls))
    return added(beta) * (arb(lam) / strongest if strongest > arb(lam) else 1), upper


def labelled_examples(kernels: KernelBalls, labels: np.ndarray) -> arb_mat:
    """Rows t_ij z_ij, in the order of the upper triangle."""
    columns = []
    for matrix in kernels.matrices:
        triangle = [x for i, row in enumerate(matrix.tolist()) for x in row[i:]]
        columns.append([x if t > 0 else -x for x, t in zip(triangle, labels, strict=True)])
    return arb_mat(columns).transpose()


def pair_weights(labels: np.ndarray, balanced: bool) -> list[fmpq]:
    positive = int((labels > 0).sum())
    shares = {True: fmpq(1, 2 * positive), False: fmpq(1, 2 * max(len(labels) - positive, 1))}
    return [shares[bool(t > 0)] if balanced else fmpq(1, len(labels)) for t in labels]


def alignment_bounds(
    formulation: Formulation, task: Any, kernels: KernelBalls, instance: Instance, solution: Solution
) -> Enclosure:
    target, flat = as_balls(instance.targets.together().reshape(-1, 1)), flattened(kernels)
    sizes = (flat * target).entries()
    mu = np.maximum(solution.weights, 0.0)
    products = combined_products(flat, mu)
    square, reach = dot(mu, products), dot(mu, sizes)
    lower = reach / square.sqrt() if mu.any() else arb(0)
    u = mu * float(reach / square) if mu.any() else mu
    products = combined_products(flat, u)
    traces = [matrix.trace() for matrix in kernels.matrices]
    slack = [top(a - product) for a, product in zip(sizes, products, strict=True)]
    epsilon = top(largest(need / trace if need != 0 else arb(0) for need, trace in zip(slack, traces, strict=True)))
    known = all(need == 0 or trace > 0 for need, trace in zip(slack, traces, strict=True))
    upper = top(dot(u, products) + 2 * epsilon * dot(u, traces) + epsilon**2 * instance.samples).sqrt()
    return lower, upper if known else arb.pos_inf()


def flattened(kernels: KernelBalls) -> arb_mat:
    return arb_mat([matrix.entries() for matrix in kernels.matrices])


def combined_products(flat: arb_mat, weights: Array) -> list[arb]:
    """⟨K_m, K(weights)⟩ for every kernel."""
    return (flat * (as_balls(weights[None, :]) * flat).transpose()).entries()


def dot(weights: Array, balls: list[arb]) -> arb:
    return added(arb(float(weight)) * ball for weight, ball in zip(weights, balls, strict=True))
