"""Many labels: with α^k in its box and γ on the simplex (`ml_sum`: γ = 1), both exactly,

    Σ_k γ_k 1'α^k − max_a ½ Σ_k γ_k q_a^k(α^k)  ≤  optimum  ≤  Σ_k h_k (ml_sum),  max_k h_k (ml_minimax)

where h_k bounds the machine of class k at weights p that are exactly on the simplex, from p and α^k or from
coefficients of its own, as for a single task without bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from ...formulations.families.multi_label import LabelTask, MultiLabel
from .balls import ONE, added, largest, on_simplex, total
from .enclosure import Enclosure
from .kernels import KernelBalls, Ridges
from .penalties import LEAST_SHARE
from .polishing import LARGEST, polished
from .samples import Samples, as_exact
from .single import Seen, functions, looked_at, own_energy, own_loss, weighted, weighted_loss


def bounds(
    formulation: MultiLabel, task: LabelTask, kernels: KernelBalls, classes: list[Samples], found: Any
) -> Enclosure:
    worst = formulation.name == "ml_minimax"
    gamma = on_simplex(found.multipliers["gamma"]) if worst else [ONE] * len(classes)
    alphas = [samples.feasible(as_exact(row)) for samples, row in zip(classes, found.alpha, strict=True)]
    own = None if found.coefficients is None else own_functions(kernels, classes, gamma, alphas, worst, found)
    if own is not None and own.sharp:
        return own
    p = on_simplex(np.nan_to_num(found.weights))
    enclosure = at_points(kernels, classes, gamma, p, alphas, worst)
    enclosure = enclosure if own is None else enclosure.joined(own)
    if enclosure.sharp or kernels.samples > LARGEST:
        return enclosure
    matrix = kernels.rational(p)
    better = [polished(samples, matrix, alpha) for samples, alpha in zip(classes, alphas, strict=True)]
    return enclosure.joined(at_points(kernels, classes, gamma, p, better, worst))


def from_below(classes: list[Samples], gamma: list[fmpq], alphas: list[list[fmpq]], seen: list[Seen]) -> arb:
    gain = arb(total(g * total(alpha) for g, alpha in zip(gamma, alphas, strict=True)))
    costs = [
        added(arb(g) * q for g, q in zip(gamma, column, strict=True)) / 2
        for column in zip(*(one.squares for one in seen), strict=True)
    ]
    return gain - largest(costs)


def at_points(
    kernels: KernelBalls, classes: list[Samples], gamma: list[fmpq], p: list[fmpq], alphas: list[list[fmpq]],
    worst: bool,
) -> Enclosure:  # fmt: skip
    """Both bounds at p and α."""
    seen = [looked_at(samples, kernels, alpha) for samples, alpha in zip(classes, alphas, strict=True)]
    delta, settled = kernels.combined_ridge(p, False)
    rows = zip(classes, alphas, seen, strict=True)
    parts = [weighted_loss(samples, p, alpha, one, delta) for samples, alpha, one in rows]
    values = [value for value, _ in parts]
    scale = added(arb(g) * energy for g, (_, energy) in zip(gamma, parts, strict=True))
    lower = from_below(classes, gamma, alphas, seen)
    return Enclosure(lower, largest(values) if worst else added(values), scale, settled)


def own_functions(
    kernels: KernelBalls, classes: list[Samples], gamma: list[fmpq], alphas: list[list[fmpq]], worst: bool, found: Any
) -> Enclosure:
    """The upper bound of the functions as they are."""
    coefficients = np.asarray(found.coefficients)
    used = coefficients.any(axis=(0, 2))
    p = on_simplex(np.maximum(np.nan_to_num(found.weights), np.where(used, LEAST_SHARE, 0.0)))
    seen = [looked_at(samples, kernels, alpha) for samples, alpha in zip(classes, alphas, strict=True)]
    values, scale, settled = [], arb(0), Ridges()
    for samples, g, rows, one in zip(classes, gamma, coefficients, seen, strict=True):
        own = functions(kernels, [as_exact(row) for row in rows])
        loss, known = own_loss(samples, kernels, p, own)
        energy = own_energy(p, own)
        values.append(energy / 2 + loss)
        scale += arb(g) * (energy + weighted(p, one.squares)) / 2
        settled.update(known)
    upper = largest(values) if worst else added(values)
    return Enclosure(from_below(classes, gamma, alphas, seen), upper, scale, settled)
