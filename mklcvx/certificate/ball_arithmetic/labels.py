"""Many labels: with α^k in its box and γ on the simplex (`ml_sum`: γ = 1), both exactly,

    Σ_k γ_k 1'α^k − max_m ½ Σ_k γ_k q_m^k(α^k)  ≤  optimum  ≤  Σ_k h_k (ml_sum),  max_k h_k (ml_minimax)

where h_k bounds the machine of class k at weights μ that are exactly on the simplex, from μ and α^k or from
coefficients of its own, as for a single task without bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from .balls import ONE, added, largest, on_simplex, total
from .enclosure import Enclosed, Enclosure, Stated
from .kernels import KernelBalls, Ridges
from .penalties import LEAST_SHARE
from .polishing import polished
from .samples import Samples, as_exact
from .single import Functions, Machine, weighted


def enclosed(at: Stated) -> Enclosed:
    return Classes(at.kernels, at.classes(bias=False), at.point, at.formulation.name == "ml_minimax").bounds(), {}


class Classes:
    """The machines of all classes, with α^k and γ made feasible; `worst` is `ml_minimax`."""

    def __init__(self, kernels: KernelBalls, classes: list[Samples], found: Any, worst: bool) -> None:
        self.kernels, self.classes, self.found = kernels, classes, found
        self.machines = [Machine(samples, kernels) for samples in classes]
        self.gamma = on_simplex(found.multipliers["gamma"]) if worst else [ONE] * len(classes)
        self.alphas = [samples.feasible(as_exact(row)) for samples, row in zip(classes, found.alpha, strict=True)]
        self.joined = largest if worst else added

    def bounds(self) -> Enclosure:
        own = None if self.found.coefficients is None else self.own_functions()
        if own is not None and own.sharp:
            return own
        mu = on_simplex(np.nan_to_num(self.found.weights))
        enclosure = self.at_points(mu, self.alphas)
        enclosure = enclosure if own is None else enclosure.joined(own)
        better = self.alphas if enclosure.sharp else polished(self.kernels, mu, self.classes, self.alphas)
        return enclosure if better == self.alphas else enclosure.joined(self.at_points(mu, better))

    def seen(self, alphas: list[list[fmpq]]) -> tuple[list[Functions], arb]:
        """What the kernels make of every class, and the lower bound."""
        seen = [machine.seen(alpha) for machine, alpha in zip(self.machines, alphas, strict=True)]
        gain = arb(total(g * total(alpha) for g, alpha in zip(self.gamma, alphas, strict=True)))
        squares = zip(*(one.squares for one in seen), strict=True)
        costs = [added(arb(g) * q for g, q in zip(self.gamma, column, strict=True)) / 2 for column in squares]
        return seen, gain - largest(costs)

    def at_points(self, mu: list[fmpq], alphas: list[list[fmpq]]) -> Enclosure:
        """Both bounds at μ and α."""
        seen, lower = self.seen(alphas)
        delta, settled = self.kernels.combined_ridge(mu, False)
        rows = zip(self.machines, alphas, seen, strict=True)
        parts = [machine.weighted_loss(mu, alpha, one, delta) for machine, alpha, one in rows]
        scale = added(arb(g) * energy for g, (_, energy) in zip(self.gamma, parts, strict=True))
        return Enclosure(lower, self.joined(value for value, _ in parts), scale, settled)

    def own_functions(self) -> Enclosure:
        """The upper bound of the functions as they are."""
        coefficients = np.asarray(self.found.coefficients)
        used = coefficients.any(axis=(0, 2))
        mu = on_simplex(np.maximum(np.nan_to_num(self.found.weights), np.where(used, LEAST_SHARE, 0.0)))
        seen, lower = self.seen(self.alphas)
        values, scale, settled = [], arb(0), Ridges()
        for machine, g, rows, one in zip(self.machines, self.gamma, coefficients, seen, strict=True):
            loss, energy, known = machine.own_loss(mu, machine.functions([as_exact(row) for row in rows]))
            values.append(energy / 2 + loss)
            scale += arb(g) * (energy + weighted(mu, one.squares)) / 2
            settled.update(known)
        return Enclosure(lower, self.joined(values), scale, settled)
