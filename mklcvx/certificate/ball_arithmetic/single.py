"""Single tasks: gain(α) − R*(½q(α)) ≤ optimum ≤ what weights and α, or the functions' own coefficients, prove.

α is put into its feasible set and the weights μ where R is finite, both exactly; the bias, ρ and τ need no repair. With
c = tα∘s, f = K(μ)c, margins m and a δ with K(μ) + δI ⪰ 0, on the complement of 1 with a bias,

    optimum ≤ R(μ) + ½t²μ'q + Σ_i sup over α̂ of [g_i(α̂) − α̂m_i + ½δ(α̂ − tα_i)²]        (− ρ where the margin is free)

because −½β'Kβ ≤ ½c'Kc − c'Kβ + ½δ‖β − c‖² for every β. For functions f_m = K_m c_m with coefficients of their own,
K_m + δ_m I ⪰ 0 everywhere and c_m/μ_m in place of c do the same for every kernel. Without weights (`li`, `ckl`,
`vskl`), with a_m² = c_m'K_mc_m + δ_m‖c_m‖², by Cauchy–Schwarz

    optimum ≤ U(a) + sup over α̂ of [Σ_i g_i(α̂_i) − α̂_i m_i + Σ_m (a_m √δ_m + δ_m ‖c_m‖) ‖α̂‖].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat, fmpq

from ...formulations import SingleTask, Task
from .balls import ZERO, Array, added, exact, exacts, top, total
from .enclosure import Enclosed, Enclosure, Stated
from .kernels import KernelBalls, Ridges
from .losses import Bend
from .penalties import PENALTIES, Case
from .polishing import polished
from .samples import Samples, as_exact, nothing

ALTERNATED, ROUNDS, ENOUGH = 40, 40, 0.98  # weights and α in turn: up to this size, so often, while that much is gained
Conjugate = Callable[[list[arb]], arb]


def enclosed(at: Stated) -> Enclosed:
    samples = Samples.of(at.instance, at.task.y, at.parameters, at.parameters["bias"])
    return bounds(at.formulation, at.task, Machine(samples, at.kernels), at.point), {}


def bounds(formulation: SingleTask, task: Task, machine: Machine, found: Any) -> Enclosure:
    case, own = Case(formulation.name, task.own, len(machine.kernels)), dict(task.own)
    alpha, weights = machine.samples.feasible(as_exact(found.alpha)), np.nan_to_num(found.weights)
    shorter = case.shortened(machine.seen(alpha).squares)
    alpha = alpha if shorter == 1 else [shorter * value for value in alpha]
    rows = None if found.coefficients is None else [as_exact(row) for row in found.coefficients]

    def conjugate(q: list[arb]) -> arb:
        return case.conjugate(q, taus(formulation, own, q, found.multipliers))

    def at_weights(weights: Array, alpha: list[fmpq]) -> tuple[Enclosure, list[fmpq]]:
        if case.name in PENALTIES:
            better = machine.polished(exacts(weights), alpha)
            return machine.between(case, conjugate, better, machine.implied(weights, better)), better
        mu = case.feasible(weights, [False] * case.count)
        return machine.best(mu, case.price(mu), conjugate, alpha)

    enclosure = None
    if case.name in PENALTIES:
        enclosure = machine.between(case, conjugate, alpha, rows or machine.implied(weights, alpha))
    elif rows is not None:
        enclosure = machine.own_functions(case, conjugate, alpha, rows, found.weights)
    if enclosure is None or not enclosure.sharp:
        other, alpha = at_weights(weights, alpha)
        enclosure = other if enclosure is None else enclosure.joined(other)
    for _ in range(ROUNDS if len(alpha) <= ALTERNATED else 0):
        if enclosure.sharp:
            break
        roots = np.sqrt([max(float(q), 0.0) for q in machine.seen(alpha).squares])
        with np.errstate(all="ignore"):
            norms = np.nan_to_num(weights * roots, posinf=0.0)
            norms = norms if norms.any() else roots
            weights = np.nan_to_num(formulation.weights(norms, roots, **own), posinf=0.0)
        other, alpha = at_weights(weights, alpha)
        before, enclosure = enclosure.relative_width, enclosure.joined(other)
        if not enclosure.relative_width < ENOUGH * before:
            break
    return enclosure


def taus(formulation: SingleTask, own: dict[str, Any], q: list[arb], multipliers: Any) -> list[float]:
    """The τ that came with the point, and the one that double precision finds best for q."""
    roots = np.sqrt([max(float(value), 0.0) for value in q])
    given = [float(multipliers["tau"])] if "tau" in multipliers else []
    try:
        with np.errstate(all="ignore"):
            return [*given, float(formulation.multipliers(roots, roots, **own).get("tau", 0.0))]
    except ArithmeticError:
        return [*given, 0.0]


class Functions(NamedTuple):
    """c_m, K_m c_m and c_m'K_m c_m of every kernel; None for c_m = 0."""

    coefficients: list[list[fmpq] | None]
    images: list[list[arb]]
    squares: list[arb]

    @property
    def outputs(self) -> list[arb]:
        return [added(values) for values in zip(*self.images, strict=True)]


def weighted(mu: Sequence[fmpq], values: Sequence[arb]) -> arb:
    return added(arb(weight) * value for weight, value in zip(mu, values, strict=True) if weight != 0)


@dataclass(frozen=True)
class Machine:
    """The support vector machine of these samples, with weights for these kernels."""

    samples: Samples
    kernels: KernelBalls

    def implied(self, weights: Array, alpha: list[fmpq]) -> list[list[fmpq]]:
        """c_m = weight_m (α∘y)."""
        signed = self.samples.signed(alpha)
        return [[weight * value for value in signed] for weight in exacts(weights)]

    def functions(self, coefficients: Sequence[list[fmpq]]) -> Functions:
        kernels = self.kernels
        kept: list[list[fmpq] | None] = [row if any(value != 0 for value in row) else None for row in coefficients]
        images, squares = [nothing(kernels.samples)] * len(kernels), nothing(len(kernels))
        for m, row in enumerate(kept):
            if row is not None:
                product, (squares[m],) = kernels.applied(m, arb_mat(len(row), 1, [arb(value) for value in row]))
                images[m] = product.entries()
        return Functions(kept, images, squares)

    def seen(self, alpha: list[fmpq]) -> Functions:
        """K_m(α∘y) for every kernel, and q_m(α)."""
        return self.functions([self.samples.signed(alpha)] * len(self.kernels))

    # -------------------------------------------------------------------------------------- weights and α
    def best(self, mu: list[fmpq], price: arb, conjugate: Conjugate, alpha: list[fmpq]) -> tuple[Enclosure, list[fmpq]]:
        """Both bounds at α; where they are wide, at the optimal α of these weights too, if it is found."""
        enclosure = self.at_point(mu, price, conjugate, alpha)
        better = alpha if enclosure.sharp else self.polished(mu, alpha)
        if better != alpha:
            enclosure = enclosure.joined(self.at_point(mu, price, conjugate, better))
        return enclosure, better

    def polished(self, mu: list[fmpq], alpha: list[fmpq]) -> list[fmpq]:
        return polished(self.kernels, mu, [self.samples], [alpha])[0]

    def at_point(self, mu: list[fmpq], price: arb, conjugate: Conjugate, alpha: list[fmpq]) -> Enclosure:
        seen = self.seen(alpha)
        lower = self.samples.gain(alpha) - conjugate(seen.squares)
        delta, settled = self.kernels.combined_ridge(mu, self.samples.bias)
        loss, energy = self.weighted_loss(mu, alpha, seen, delta)
        return Enclosure(lower, price + loss, energy, settled, self.apart(mu, alpha))

    def weighted_loss(self, mu: list[fmpq], alpha: list[fmpq], seen: Functions, delta: float) -> tuple[arb, arb]:
        """½t²μ'q and the loss, from above, at the better of two t; and μ'q."""
        samples, energy, ridge = self.samples, weighted(mu, seen.squares), exact(delta)
        outputs = [weighted(mu, values) for values in zip(*seen.images, strict=True)]

        def stretched(t: fmpq) -> arb:
            bends = [Bend(ridge, ridge * t * a, ridge * (t * a) ** 2) for a in alpha]
            return arb(t) ** 2 * energy / 2 + samples.risk([arb(t) * f for f in outputs], bends)

        best = stretched(fmpq(1))
        if best.is_finite() and samples.hinged and not samples.free_margin:
            reach = samples.lack(outputs, alpha) + delta * float(max(arb(one.high) for one in samples.losses))
            if 0 < reach < 1:
                best = min(best, stretched(exact(1 + 1.1 * reach)), key=lambda ball: ball.upper())
        return best, energy

    def apart(self, mu: list[fmpq], alpha: list[fmpq]) -> arb:
        """The cost of the classes taken apart: what cancels where loss nu has value 0, for the classes' hulls meet."""
        if not self.samples.free_margin:
            return arb(0)
        signs = self.samples.signs
        parts = [[a if sign == side else ZERO for a, sign in zip(alpha, signs, strict=True)] for side in (1, -1)]
        return added(weighted(mu, self.seen(part).squares) for part in parts) / 2

    # --------------------------------------------------------------------------------- coefficients of their own
    def own_functions(
        self, case: Case, conjugate: Conjugate, alpha: list[fmpq], rows: list[list[fmpq]], weights: Array
    ) -> Enclosure:
        own, seen = self.functions(rows), self.seen(alpha)
        mu = case.feasible(weights, [row is not None for row in own.coefficients])
        loss, energy, settled = self.own_loss(mu, own)
        lower = self.samples.gain(alpha) - conjugate(seen.squares)
        scale = energy / 2 + weighted(mu, seen.squares) / 2
        return Enclosure(lower, case.price(mu) + energy / 2 + loss, scale, settled, self.apart(mu, alpha))

    def own_loss(self, mu: list[fmpq], own: Functions) -> tuple[arb, arb, Ridges]:
        """The loss from above, Σ c_m'K_m c_m/μ_m, and how the kernels were settled."""
        samples, energy, settled = self.samples, arb(0), {}
        bends = [Bend()] * len(samples.signs)
        for m, (row, weight, square) in enumerate(zip(own.coefficients, mu, own.squares, strict=True)):
            if row is not None:
                energy += square / arb(weight)
            if weight == 0:
                continue
            known = settled[self.kernels.names[m]] = self.kernels.ridge(m, False)
            ridge = exact(known.delta)
            if ridge != 0:
                signed = samples.signed(row or [ZERO] * len(bends))
                bends = [
                    Bend(bend.square + ridge * weight, bend.linear + ridge * c, bend.constant + ridge * c**2 / weight)
                    for bend, c in zip(bends, signed, strict=True)
                ]
        return samples.risk(own.outputs, bends), energy, settled

    # --------------------------------------------------------------------------------------- without weights
    def between(self, case: Case, conjugate: Conjugate, alpha: list[fmpq], rows: list[list[fmpq]]) -> Enclosure:
        """`li`, `ckl` and `vskl`. Coefficients that sum to zero need semidefiniteness on the complement of 1 only."""
        samples, kernels, own = self.samples, self.kernels, self.functions(rows)
        norms, plain, each, settled = nothing(len(kernels)), nothing(len(kernels)), arb(0), {}
        for m, row in enumerate(own.coefficients):
            if row is None:
                continue
            known = settled[kernels.names[m]] = kernels.ridge(m, samples.bias and total(row) == 0)
            delta, length = arb(known.delta), arb(total(value**2 for value in row))
            norms[m] = top(own.squares[m] + delta * length).sqrt()
            plain[m] = arb(max(own.squares[m].lower(), arb(0))).sqrt()
            each += norms[m] * delta.sqrt() + delta * length.sqrt()
        cost = conjugate(self.seen(alpha).squares)
        loss = samples.risk(own.outputs, [Bend()] * len(alpha)) + samples.reach(own.outputs, each)
        upper = case.penalty([top(norm) for norm in norms]) + loss
        return Enclosure(samples.gain(alpha) - cost, upper, case.penalty(plain) + cost.lower(), settled)
