"""Hypergraphs whose best kernel is planted: kernels that are one kernel and its images under a symmetry of the labels.

All have the same weight at the optimum, and a kernel that is less than one of them has none."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from enclosures import Enclosure
from planted_losses import power
from planted_values import PRECISION, Array, Planted, Unplanted, enclosure
from records import exact, exact_kernel


def graphs(rng: np.random.Generator, formulation: str, expansion: str) -> Planted:
    """n = g h samples, those h apart with the same labels: a shift by h changes nothing but the kernels, of which each
    is the one before, shifted. All have the weight 1/g."""
    g, h, k = int(rng.integers(1, 5)), int(rng.integers(2, 5)), int(rng.integers(1, 5))
    rows = rng.integers(0, 2, size=(h, k))
    if not rows.any(axis=0).all() or not rows.any(axis=1).all() or rows.all(axis=0).any():
        raise Unplanted("a label that nobody has, or everybody, or a sample without any")
    y, n = np.tile(rows, (g, 1)), g * h
    factor = rng.integers(-4, 5, size=(n, int(rng.integers(1, n + 1)))) / 4.0
    first, steps = factor @ factor.T, [np.roll(np.arange(n), h * m) for m in range(g)]
    kernels = [first[np.ix_(step, step)] for step in steps]
    if formulation == "hypergraph" and rng.random() < 0.5:
        kernels.append(first / 2)
    lam = float(power(rng, -3, 3))
    parameters: dict[str, Any] = {"expansion": expansion, "lam": lam}
    if formulation == "hypergraph_smooth":
        parameters["smoothing"] = float(power(rng, -4, 0))
    given = {"kernels": np.array(kernels), "labels": y}
    with flint.ctx.workprec(PRECISION):
        return Planted(given, formulation, parameters, _graph_value(kernels, y, g, parameters))


def _graph_value(kernels: list[Array], y: Array, used: int, parameters: dict[str, Any]) -> Enclosure:
    """−tr(P⁻¹A) at equal weights, and the largest S_m at Z = 2P⁻¹H: only A = HH' matters, for tr(Z'KZ) is
    4tr(P⁻¹KP⁻¹A)."""
    n, lam = len(y), arb(exact(parameters["lam"]))
    images = [arb_mat(exact_kernel(kernel)) for kernel in kernels]
    identity = arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
    mean = sum(images[1:used], images[0]) * arb(fmpq(1, used))
    inverse = (identity + mean * (1 / lam)).inv()
    part = inverse * adjacency(y, parameters["expansion"])
    fit, square = trace(part), trace(part * inverse)
    scores = [square + trace(image * part * inverse) / lam - 2 * fit for image in images]
    lower, upper = -fit, scores[0]
    for score in scores[1:]:
        upper = upper.max(score)
    if "smoothing" in parameters:
        sigma = arb(exact(parameters["smoothing"]))
        lower = lower + sigma * arb(used).log()
        upper = upper + sigma * sum((((score - upper) / sigma).exp() for score in scores), arb(0)).log()
    return enclosure(lower, upper)


def trace(matrix: arb_mat) -> arb:
    return sum((matrix[i, i] for i in range(matrix.nrows())), arb(0))


def adjacency(y: Array, expansion: str) -> arb_mat:
    """A of the labels."""
    edges = [int(x) for x in y.sum(axis=0)]
    table = fmpq_mat(y.tolist())
    if expansion == "kcca":
        return arb_mat(_projection(table))
    inner = {
        "clique": [fmpq(1)] * len(edges),
        "star": [fmpq(1, e * e) for e in edges],
        "zhou": [fmpq(1, e) for e in edges],
    }
    outer = {"clique": edges, "star": [fmpq(1, e) for e in edges], "zhou": [1] * len(edges)}[expansion]
    degrees = [sum((fmpq(int(v)) * o for v, o in zip(row, outer, strict=True)), fmpq(0)) for row in y]
    size = len(edges)
    diagonal = fmpq_mat(size, size, [inner[expansion][i] if i == j else 0 for i in range(size) for j in range(size)])
    rough = (table * diagonal * table.transpose()).tolist()
    roots = [arb(d).sqrt() for d in degrees]
    return arb_mat([[arb(x) / (roots[i] * roots[j]) for j, x in enumerate(row)] for i, row in enumerate(rough)])


def _projection(table: fmpq_mat) -> fmpq_mat:
    """Onto the columns: those that are independent of the ones before."""
    reduced, rank = table.rref()
    pivots = [next(j for j, x in enumerate(row) if x != 0) for row in reduced.tolist()[:rank]]
    basis = fmpq_mat([[row[j] for j in pivots] for row in table.tolist()])
    return basis * (basis.transpose() * basis).inv() * basis.transpose()
