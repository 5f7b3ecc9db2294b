"""Hypergraphs: with μ exactly on the simplex, K(μ) + δI ⪰ 0, so that P = I + K(μ)/λ ⪰ (1 − δ/λ)I, and any X and Z,

    −(2 tr(X'H) − tr(X'PX) + ‖H − PX‖²/(1 − δ/λ)) − σ Σ μ log μ  ≤  optimum
    optimum  ≤  max_m S_m(Z), or σ log Σ_m exp(S_m(Z)/σ)

(σ = 0 on the left for `hypergraph`). The optimum depends on H through A = HH' only, so H is taken in the form in which
its entries are square roots of whole numbers, and Z, found for another H with the same A, is turned to fit it; for
`kcca`, H = Y_B L^{−T} with independent columns Y_B of the labels and LL' = Y_B'Y_B.
"""

from __future__ import annotations

import numpy as np
from flint import arb, arb_mat, fmpq, fmpz_mat

from .balls import Array, added, as_balls, exact, inner, largest, middles, on_simplex
from .enclosure import Enclosed, Enclosure, Stated


def enclosed(at: Stated) -> Enclosed:
    task, kernels, found = at.task, at.kernels, at.point
    members = np.maximum(at.instance.targets.signs(at.formulation.name), 0.0).T
    h = incidence_balls(members, at.parameters["expansion"])
    z = as_balls(np.asarray(found.multipliers["Z"]) @ np.linalg.pinv(task.h) @ middles(h))
    images = [kernels.applied(m, z)[0] for m in range(len(kernels))]
    lam, mu = arb(exact(task.lam)), on_simplex(found.weights)
    smoothing = arb(0) if task.smoothing is None else arb(exact(task.smoothing))
    delta, settled = kernels.combined_ridge(mu, False)
    reached = trace_above(h, z / 2, images, mu, lam, arb(delta))
    lower = -reached - smoothing * added(arb(t) * arb(t).log() for t in mu if t > 0)
    common = trace(z, z) / 4 - trace(z, h)
    scores = [common + trace(z, image) / (4 * lam) for image in images]
    scale = trace(h, h) - reached
    upper = largest(scores)
    if task.smoothing is not None:
        peak = upper.mid()
        upper = peak + smoothing * added(((score - peak) / smoothing).exp() for score in scores).log()
    return Enclosure(lower, upper, scale, settled, trace(h, h)), {}


def trace_above(h: arb_mat, x: arb_mat, images: list[arb_mat], mu: list[fmpq], lam: arb, delta: arb) -> arb:
    """At least tr(H'P⁻¹H); the images are of Z = 2X."""
    least = 1 - delta / lam
    if not least > 0:
        return arb.pos_inf()
    combined = sum((image * arb(t) for image, t in zip(images, mu, strict=True)), 0 * x)
    image = x + combined / (2 * lam)
    residual = h - image
    return 2 * trace(x, h) - trace(x, image) + trace(residual, residual) / least


def trace(left: arb_mat, right: arb_mat) -> arb:
    """tr(L'R)."""
    return inner(left.entries(), right.entries())


def incidence_balls(labels: Array, expansion: str) -> arb_mat:
    """H with HH' = A for labels (n, k) in {0, 1}."""
    whole = [[int(entry) for entry in row] for row in labels]
    edges = [sum(column) for column in zip(*whole, strict=True)]
    if expansion == "kcca":
        return projected(whole)
    scales = {  # what a member of edge e contributes to its row of H, and to the degree of its vertex
        "clique": [(arb(1), fmpq(size)) for size in edges],
        "star": [(arb(fmpq(1, size)), fmpq(1, size)) for size in edges],
        "zhou": [(arb(size).rsqrt(), fmpq(1)) for size in edges],
    }[expansion]
    rows = []
    for row in whole:
        degree = sum((share for entry, (_, share) in zip(row, scales, strict=True) if entry), fmpq(0))
        root = arb(degree if degree > 0 else 1).sqrt()
        rows.append([scale / root if entry else arb(0) for entry, (scale, _) in zip(row, scales, strict=True)])
    return arb_mat(rows)


def projected(whole: list[list[int]]) -> arb_mat:
    """An orthonormal basis of the labels' span, by Cholesky's factor of the Gram matrix of independent labels."""
    columns: list[list[int]] = []
    for column in zip(*whole, strict=True):
        if fmpz_mat([*columns, list(column)]).rank() > len(columns):
            columns.append(list(column))
    chosen = arb_mat([[arb(x) for x in column] for column in columns])
    size, gram = len(columns), chosen * chosen.transpose()
    factor = arb_mat(size, size)
    for i in range(size):
        for j in range(i + 1):
            rest = gram[i, j] - added(factor[i, k] * factor[j, k] for k in range(j))
            factor[i, j] = rest.sqrt() if i == j else rest / factor[j, j]
    return factor.solve(chosen).transpose()
