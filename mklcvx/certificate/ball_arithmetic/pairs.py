"""Two stages: the first stage's optimum, which needs no semidefinite kernels, and the machines of the second.

`ts`, `ts_l1`   upper: any μ ≥ 0. Lower: β in its box [0, w_ij], w an exact quotient; for `ts_l1` β shrunk by λ over (an
                upper end of) the strongest pull, where that exceeds λ.
`alignment`     lower: ⟨K(μ), T⟩/‖K(μ)‖ for any μ ≥ 0. Upper: ‖W‖ for W = K(u) + δI, δ large enough that
                ⟨K_m, W⟩ ≥ ⟨K_m, T⟩ for every m, which ⟨K_m, I⟩ = tr K_m > 0 makes possible; u is μ scaled as the
                quadratic program has it, u = μ ⟨K(μ), T⟩/‖K(μ)‖².

The second stage has a machine with bias for y, or for every class or label, and the kernel Σ μ_m K_m, the stored
weights taken at their word.
"""

from __future__ import annotations

import numpy as np
from flint import arb, arb_mat, fmpq

from .balls import Array, added, as_balls, exact, exacts, largest, top
from .enclosure import Enclosed, Enclosure, Stated
from .kernels import KernelBalls
from .samples import as_exact
from .single import Machine, weighted


def enclosed(at: Stated) -> Enclosed:
    first = alignment_bounds(at) if at.formulation.maximises else pair_bounds(at)
    return first, dict(zip(at.instance.targets.names or ("y",), second_stage(at), strict=True))


def pair_bounds(at: Stated) -> Enclosure:
    labels, found, sparse = np.asarray(at.task.labels), at.point, at.formulation.name == "ts_l1"
    examples, lam = labelled_examples(at.kernels, labels), arb(exact(at.task.lam))
    weight, mu = pair_weights(labels, at.parameters["balanced"]), as_balls(np.maximum(found.weights, 0.0)[:, None])
    margins = (examples * mu).entries()
    loss = added(arb(w) * top(1 - margin) for w, margin in zip(weight, margins, strict=True))
    price = lam * added(mu.entries() if sparse else [value**2 / 2 for value in mu.entries()])
    beta = [
        arb(min(max(b, fmpq(0)), w)) for b, w in zip(exacts(np.ravel(found.multipliers["beta"])), weight, strict=True)
    ]
    pulls = (arb_mat(1, len(beta), beta) * examples).entries()
    if not sparse:
        pulled = added(top(pull) ** 2 for pull in pulls) / (2 * lam)
        return Enclosure(added(beta) - pulled, price + loss, price + pulled, {})
    strongest = top(largest(pulls))
    return Enclosure(added(beta) * (lam / strongest if strongest > lam else 1), price + loss, price, {})


def second_stage(at: Stated) -> list[Enclosure]:
    """One enclosure for every machine."""
    mu = exacts(np.maximum(at.point.weights, 0.0))

    def conjugate(q: list[arb]) -> arb:
        return weighted(mu, q) / 2

    found = zip(at.classes(bias=True), np.atleast_2d(np.asarray(at.point.alpha, dtype=float)), strict=True)
    alphas = [(samples, samples.feasible(as_exact(row))) for samples, row in found]
    return [Machine(samples, at.kernels).best(mu, arb(0), conjugate, alpha)[0] for samples, alpha in alphas]


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


def alignment_bounds(at: Stated) -> Enclosure:
    matrices, mu = at.kernels.matrices, np.maximum(at.point.weights, 0.0)
    target = as_balls(at.instance.targets.together().reshape(-1, 1))
    flat = arb_mat([matrix.entries() for matrix in matrices])
    sizes = (flat * target).entries()
    products = combined_products(flat, mu)
    square, reach = dot(mu, products), dot(mu, sizes)
    seen = mu.any() and square > 0
    lower = reach / square.sqrt() if seen else arb(0)
    u = mu * float(reach / square) if seen else 0 * mu
    products = combined_products(flat, u)
    traces = [matrix.trace() for matrix in matrices]
    slack = [top(a - product) for a, product in zip(sizes, products, strict=True)]
    epsilon = top(largest(need / trace if need != 0 else arb(0) for need, trace in zip(slack, traces, strict=True)))
    known = all(need == 0 or trace > 0 for need, trace in zip(slack, traces, strict=True))
    upper = top(dot(u, products) + 2 * epsilon * dot(u, traces) + epsilon**2 * at.kernels.samples).sqrt()
    return Enclosure(lower, upper if known else arb.pos_inf(), upper, {})


def combined_products(flat: arb_mat, weights: Array) -> list[arb]:
    """⟨K_m, K(weights)⟩ for every kernel."""
    return (flat * (as_balls(weights[None, :]) * flat).transpose()).entries()


def dot(weights: Array, balls: list[arb]) -> arb:
    return added(arb(float(weight)) * ball for weight, ball in zip(weights, balls, strict=True))
