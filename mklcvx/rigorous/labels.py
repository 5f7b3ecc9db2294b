"""Many labels: with α^k ∈ [0, C]ⁿ and γ on the simplex (`ml_sum`: γ = 1), both exactly, β^k = γ_k α^k is feasible and

    Σ_k γ_k 1'α^k − max_a ½ Σ_k γ_k q_a^k(α^k)  ≤  optimum
    optimum  ≤  ½ (Σ_a (Σ_k s_ka)^½)² + Σ_k risk_k        (ml_sum)
    optimum  ≤  max_k (½ Σ_a s_ka/p_a + risk_k)           (ml_minimax), p exactly on the simplex

with s_ka = ‖f_k^a‖² for any coefficients.
"""

from __future__ import annotations

import numpy as np
from flint import arb, arb_mat, fmpq

from ..formulations._multi_label import LabelTask, MultiLabel
from ..instance import Instance
from ..solution import Solution
from .balls import added, exacts, largest, on_simplex, top, total
from .penalties import LEAST_SHARE, roots_of, shared
from .semidefinite import KernelBalls, as_balls
from .single import Enclosure, exact_box, hinge


def bounds(
    formulation: MultiLabel, task: LabelTask, kernels: KernelBalls, instance: Instance, solution: Solution
) -> Enclosure:
    box, worst = exact_box(instance, solution.parameters), formulation.name == "ml_minimax"
    gamma = on_simplex(solution.multipliers["gamma"]) if worst else [fmpq(1)] * task.classes
    lower = from_below(task, kernels, np.asarray(solution.alpha), gamma, box)
    squares, outputs = evaluated(kernels, solution.all_coefficients)
    risks = [hinge(f, y, box, arb(0), arb(1)) for f, y in zip(outputs, task.signs, strict=True)]
    if not worst:
        sizes = roots_of([top(added(column)) for column in zip(*squares, strict=True)])
        return lower, added(sizes) ** 2 / 2 + added(risks)
    weights = on_simplex(np.maximum(solution.weights, LEAST_SHARE))
    return lower, largest(shared(row, weights) + risk for row, risk in zip(squares, risks, strict=True))


def from_below(
    task: LabelTask, kernels: KernelBalls, alpha: np.ndarray, gamma: list[fmpq], box: list[fmpq]
) -> arb:  # fmt: skip
    points = [[min(max(v, fmpq(0)), cap) for v, cap in zip(exacts(row), box, strict=True)] for row in alpha]
    gain = arb(total(g * total(point) for g, point in zip(gamma, points, strict=True)))
    signed = [
        [arb(v * int(sign)) for v, sign in zip(p, y, strict=True)] for p, y in zip(points, task.signs, strict=True)
    ]
    columns = arb_mat(signed).transpose()
    costs = []
    for a in range(len(kernels)):
        _, squares = kernels.applied(a, columns)
        costs.append(added(arb(g) * q for g, q in zip(gamma, squares, strict=True)) / 2)
    return gain - largest(costs)


def evaluated(kernels: KernelBalls, coefficients: np.ndarray) -> tuple[list[list[arb]], list[list[arb]]]:
    """s_ka from above, and the outputs f_k(x_i)."""
    squares, images = [], []
    for a in range(len(kernels)):
        image, norms = kernels.applied(a, as_balls(np.ascontiguousarray(coefficients[:, a].T)))
        squares.append(norms)
        images.append(image)
    outputs = sum(images[1:], images[0]).transpose().tolist()
    return [list(row) for row in zip(*squares, strict=True)], outputs
