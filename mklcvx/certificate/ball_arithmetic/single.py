"""Single tasks: gain(α) − R*(½q(α)) ≤ optimum ≤ what weights and α, or the functions' own coefficients, prove.

α is put into its feasible set and the weights μ where R is finite, both exactly; the bias, ρ and τ need no repair. With
c = tα∘y, f = K(μ)c, margins m and a δ with K(μ) + δI ⪰ 0, on the complement of 1 with a bias,

    optimum ≤ R(μ) + ½t²μ'q + Σ_i max(½δt²α_i², box_i (1 − m_i) + ½δ(box_i − tα_i)²)        (loss nu: ρ for 1, −ρ)

because −½β'Kβ ≤ ½c'Kc − c'Kβ + ½δ‖β − c‖² for every β, and a convex function of α_i is largest at an end of its box.
For functions f_m = K_m c_m with coefficients of their own, K_m + δ_m I ⪰ 0 everywhere and c_m/μ_m in place of c do the
same for every kernel. Without weights (`li`, `ckl`, `vskl`), with a_m² = c_m'K_mc_m + δ_m‖c_m‖², by Cauchy–Schwarz

    optimum ≤ U(a) + Σ_i box_i (1 − m_i)₊ + Σ_m (a_m √δ_m + δ_m ‖c_m‖) ‖box‖.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat, fmpq

from ...formulations import SingleTask, Task
from .balls import ZERO, Array, added, exact, exacts, top, total
from .enclosure import Enclosure
from .kernels import KernelBalls, Ridges
from .penalties import PENALTIES, Case
from .polishing import LARGEST, polished
from .samples import Samples, as_exact, nothing

ALTERNATED, ROUNDS, ENOUGH = 40, 40, 0.98  # weights and α in turn: up to this size, so often, while that much is gained
Conjugate = Callable[[list[arb]], arb]


class Seen(NamedTuple):
    """K_m(α∘y) for every kernel, and q_m(α)."""

    images: list[list[arb]]
    squares: list[arb]


def bounds(formulation: SingleTask, task: Task, kernels: KernelBalls, samples: Samples, found: Any) -> Enclosure:
    case, own = Case.of(formulation.name, task.own, len(kernels)), dict(task.own)
    alpha = samples.feasible(as_exact(found.alpha))

    def conjugate(q: list[arb]) -> arb:
        return case.conjugate(q, taus(formulation, own, q, found.multipliers))

    def at_weights(weights: Array, alpha: list[fmpq]) -> tuple[Enclosure, list[fmpq]]:
        if formulation.name in PENALTIES:
            better = polished_at(samples, kernels, exacts(weights), alpha)
            return between(case, conjugate, kernels, samples, better, implied(samples, weights, better)), better
        mu = case.feasible(weights, [False] * len(kernels))
        return machine(samples, kernels, mu, case.price(mu), conjugate, alpha)

    weights = np.nan_to_num(found.weights)
    enclosure = as_given(case, conjugate, kernels, samples, alpha, found)
    if enclosure is None or not enclosure.sharp:
        other, alpha = at_weights(weights, alpha)
        enclosure = other if enclosure is None else enclosure.joined(other)
    for _ in range(ROUNDS if len(alpha) <= ALTERNATED else 0):
        if enclosure.sharp:
            break
        roots = np.sqrt([max(float(q), 0.0) for q in looked_at(samples, kernels, alpha).squares])
        norms = weights * roots if (weights * roots).any() else roots
        with np.errstate(all="ignore"):
            weights = np.nan_to_num(formulation.weights(norms, roots, **own), posinf=0.0)
        other, alpha = at_weights(weights, alpha)
        before, enclosure = enclosure.relative_width, enclosure.joined(other)
        if not enclosure.relative_width < ENOUGH * before:
            break
    return enclosure


def as_given(
    case: Case, conjugate: Conjugate, kernels: KernelBalls, samples: Samples, alpha: list[fmpq], found: Any
) -> Enclosure | None:
    """What coefficients of their own prove, or weights where there is no R."""
    if case.name in PENALTIES:
        rows = found.coefficients
        rows = (
            implied(samples, np.nan_to_num(found.weights), alpha) if rows is None else [as_exact(row) for row in rows]
        )
        return between(case, conjugate, kernels, samples, alpha, rows)
    if found.coefficients is None:
        return None
    return own_functions(case, conjugate, kernels, samples, alpha, found)


def implied(samples: Samples, weights: Array, alpha: list[fmpq]) -> list[list[fmpq]]:
    """c_m = weight_m (α∘y)."""
    signed = samples.signed(alpha)
    return [[weight * value for value in signed] for weight in exacts(weights)]


def taus(formulation: SingleTask, own: dict[str, Any], q: list[arb], multipliers: Any) -> list[float]:
    """The τ that came with the point, and the one that double precision finds best for q."""
    roots = np.sqrt([max(float(value), 0.0) for value in q])
    given = [float(multipliers["tau"])] if "tau" in multipliers else []
    try:
        with np.errstate(all="ignore"):
            given.append(float(formulation.multipliers(roots, roots, **own).get("tau", 0.0)))
    except ArithmeticError:
        given.append(0.0)
    return given


# ------------------------------------------------------------------------------------------ weights and α
def machine(
    samples: Samples, kernels: KernelBalls, mu: list[fmpq], price: arb, conjugate: Conjugate, alpha: list[fmpq]
) -> tuple[Enclosure, list[fmpq]]:
    """Both bounds at α; where they are wide, at the optimal α of these weights too, if that can be had."""
    enclosure = at_point(samples, kernels, mu, price, conjugate, alpha)
    better = alpha if enclosure.sharp else polished_at(samples, kernels, mu, alpha)
    if better != alpha:
        enclosure = enclosure.joined(at_point(samples, kernels, mu, price, conjugate, better))
    return enclosure, better


def polished_at(samples: Samples, kernels: KernelBalls, mu: list[fmpq], alpha: list[fmpq]) -> list[fmpq]:
    return polished(samples, kernels.rational(mu), alpha) if len(alpha) <= LARGEST else alpha


def at_point(
    samples: Samples, kernels: KernelBalls, mu: list[fmpq], price: arb, conjugate: Conjugate, alpha: list[fmpq]
) -> Enclosure:
    seen = looked_at(samples, kernels, alpha)
    lower = arb(samples.gain(alpha)) - conjugate(seen.squares)
    delta, settled = kernels.combined_ridge(mu, samples.bias)
    loss, energy = weighted_loss(samples, mu, alpha, seen, delta)
    return Enclosure(lower, price + loss, energy, settled, apart(samples, kernels, mu, alpha))


def looked_at(samples: Samples, kernels: KernelBalls, alpha: list[fmpq]) -> Seen:
    column = arb_mat(len(alpha), 1, [arb(value) for value in samples.signed(alpha)])
    found = [kernels.applied(m, column) for m in range(len(kernels))]
    return Seen([image.entries() for image, _ in found], [square for _, (square,) in found])


def weighted_loss(samples: Samples, mu: list[fmpq], alpha: list[fmpq], seen: Seen, delta: float) -> tuple[arb, arb]:
    """½t²μ'q and the loss, from above, at the better of two t; and μ'q."""
    energy = weighted(mu, seen.squares)
    outputs = [weighted(mu, list(values)) for values in zip(*seen.images, strict=True)]
    best = stretched(samples, alpha, outputs, energy, delta, fmpq(1))
    if best.is_finite():
        bias, level = samples.best_offsets(outputs)
        missing = [abs(level - margin) for margin in samples.margins(outputs, bias)]
        free = [miss for miss, a, cap in zip(missing, alpha, samples.box, strict=True) if 0 < a < cap]
        reach = max((float(miss) for miss in free), default=0.0) + delta * float(max(arb(cap) for cap in samples.box))
        if not samples.free_margin and 0 < reach < 1:
            other = stretched(samples, alpha, outputs, energy, delta, exact(1 + 1.1 * reach))
            best = min(best, other, key=lambda ball: ball.upper())
    return best, energy


def stretched(
    samples: Samples, alpha: list[fmpq], outputs: list[arb], energy: arb, delta: float, t: fmpq
) -> arb:  # fmt: skip
    ridge = exact(delta) / 2
    at_zero = [arb(ridge * (t * a) ** 2) for a in alpha]
    at_box = [arb(ridge * (cap - t * a) ** 2) for a, cap in zip(alpha, samples.box, strict=True)]
    return arb(t) ** 2 * energy / 2 + samples.risk([arb(t) * f for f in outputs], at_zero, at_box)


def weighted(mu: Sequence[fmpq], values: list[arb]) -> arb:
    return added(arb(weight) * value for weight, value in zip(mu, values, strict=True) if weight != 0)


def apart(samples: Samples, kernels: KernelBalls, mu: list[fmpq], alpha: list[fmpq]) -> arb:
    """The cost of the two classes taken apart: what cancels where loss nu has value 0, for the classes' hulls meet."""
    if not samples.free_margin:
        return arb(0)
    parts = [[a if y == side else ZERO for a, y in zip(alpha, samples.y, strict=True)] for side in (1, -1)]
    return added(weighted(mu, looked_at(samples, kernels, part).squares) for part in parts) / 2


# ------------------------------------------------------------------------------------- coefficients of their own
class Functions(NamedTuple):
    """c_m, K_m c_m and c_m'K_m c_m of every kernel; None for c_m = 0."""

    coefficients: list[list[fmpq] | None]
    images: list[list[arb]]
    squares: list[arb]

    @property
    def outputs(self) -> list[arb]:
        return [added(values) for values in zip(*self.images, strict=True)]


def functions(kernels: KernelBalls, coefficients: Sequence[list[fmpq]]) -> Functions:
    kept: list[list[fmpq] | None] = [row if any(value != 0 for value in row) else None for row in coefficients]
    images, squares = [nothing(kernels.samples)] * len(kernels), nothing(len(kernels))
    for m, row in enumerate(kept):
        if row is not None:
            product, (squares[m],) = kernels.applied(m, arb_mat(len(row), 1, [arb(value) for value in row]))
            images[m] = product.entries()
    return Functions(kept, images, squares)


def own_functions(
    case: Case, conjugate: Conjugate, kernels: KernelBalls, samples: Samples, alpha: list[fmpq], found: Any
) -> Enclosure:
    own = functions(kernels, [as_exact(row) for row in found.coefficients])
    mu = case.feasible(found.weights, [row is not None for row in own.coefficients])
    seen = looked_at(samples, kernels, alpha)
    loss, settled = own_loss(samples, kernels, mu, own)
    energy = own_energy(mu, own)
    lower = arb(samples.gain(alpha)) - conjugate(seen.squares)
    scale = energy / 2 + weighted(mu, seen.squares) / 2
    return Enclosure(
        lower, case.price(mu) + energy / 2 + loss, scale, settled, apart(samples, kernels, mu, alpha)
    )  # fmt: skip


def own_energy(mu: list[fmpq], own: Functions) -> arb:
    """Σ c_m'K_m c_m/μ_m."""
    rows = zip(own.squares, own.coefficients, mu, strict=True)
    return added(square / arb(weight) for square, row, weight in rows if row is not None)


def own_loss(samples: Samples, kernels: KernelBalls, mu: list[fmpq], own: Functions) -> tuple[arb, Ridges]:
    count = len(samples.y)
    at_zero, at_box, settled = [ZERO] * count, [ZERO] * count, {}
    for m, (row, weight) in enumerate(zip(own.coefficients, mu, strict=True)):
        if weight == 0:
            continue
        known = settled[kernels.names[m]] = kernels.ridge(m, False)
        ridge = exact(known.delta) / 2
        if ridge != 0:
            c = row or [ZERO] * count
            for i, (value, cap, sign) in enumerate(zip(c, samples.box, samples.y, strict=True)):
                at_zero[i] += ridge * value**2 / weight
                at_box[i] += ridge * weight * (cap - sign * value / weight) ** 2
    return samples.risk(own.outputs, [arb(v) for v in at_zero], [arb(v) for v in at_box]), settled


# ------------------------------------------------------------------------------------------- without weights
def between(
    case: Case, conjugate: Conjugate, kernels: KernelBalls, samples: Samples, alpha: list[fmpq], rows: list[list[fmpq]]
) -> Enclosure:
    """`li`, `ckl` and `vskl`. Coefficients that sum to zero need semidefiniteness on the complement of 1 only."""
    own = functions(kernels, rows)
    reach = arb(total(cap**2 for cap in samples.box)).sqrt()
    norms, plain, paid, settled = nothing(len(kernels)), nothing(len(kernels)), arb(0), {}
    for m, row in enumerate(own.coefficients):
        if row is None:
            continue
        known = settled[kernels.names[m]] = kernels.ridge(m, samples.bias and total(row) == 0)
        delta, length = arb(known.delta), arb(total(value**2 for value in row))
        norms[m] = top(own.squares[m] + delta * length).sqrt()
        plain[m] = arb(max(own.squares[m].lower(), arb(0))).sqrt()
        paid += (norms[m] * delta.sqrt() + delta * length.sqrt()) * reach
    seen = looked_at(samples, kernels, alpha)
    cost = conjugate(seen.squares)
    loss = samples.risk(own.outputs, nothing(len(alpha)), nothing(len(alpha)))
    upper = case.penalty([top(norm) for norm in norms]) + loss + paid
    return Enclosure(arb(samples.gain(alpha)) - cost, upper, case.penalty(plain) + cost.lower(), settled)
