"""Hypergraphs for the auditor: the theorem of `outputs.py` for the responses H, with the sign turned.

HH' = I − 𝓛 from the labels, P = I + K(μ)/λ, S_m(Z) = ¼‖Z‖² + tr(Z'K_mZ)/(4λ) − tr(Z'H). Minus the value of the squared
loss with C = 2, no bias, the kernels K_m/(2λ), and R(μ) = 0 on the simplex, or σΣμ log μ for hypergraph_smooth, is

    −tr(H'P⁻¹H) [+ σ·entropy(μ)] ≤ v ≤ max_m S_m(Z)  [σ log Σ exp(S_m/σ)]:

α = Z' proves the upper bound, μ with K(μ) + δI ⪰ 0 and our own α = 2H'P⁻¹, in doubles, the lower one. Only HH' matters:
with the best rotation of H, tr(Z'H) is the sum of the singular values of Z'H. The embedding B has as many columns as
`dimensions` says, or fewer where eigenvalues vanish.
"""

import math
from fractions import Fraction

import numpy as np

from .claims import Point, numbers
from .losses import samples_of
from .numbers import dot, fractions, require, root
from .outputs import Outputs, output_by_output, proved_ridge, two_sides
from .prices import dual_cost, weights_price

FINE = 2**200  # the grid of roots in H
REGULARISERS = {"hypergraph": "l1", "hypergraph_smooth": "entropy"}


def hypergraph(stack, labels, mu, record, given):
    h, blur = incidence(labels, record["parameters"]["expansion"])
    dimensions, lam, name = given["dimensions"], given["lam"], REGULARISERS[record["formulation"]]
    require(dimensions <= np.linalg.matrix_rank(labels), "parameters.dimensions: more than the rank of HH'")
    stored = record["multipliers"].get("Z")
    require(stored is not None, "multipliers.Z: too large for JSON: give the solution as .npz")
    z = numbers(stored, np.shape(stored) if np.ndim(stored) == 2 else h.shape, "multipliers.Z")
    require(len(z) == len(h), "multipliers.Z: not one row per sample")
    if record["alpha"] is None:
        embedded(stack, mu, lam, h, dimensions, record["multipliers"].get("B"))
    exact = fractions(z)
    square, slopes = dot(exact, exact), [dot(exact, kernel.image(z)) / (4 * lam) for kernel in stack]
    gain = turned(exact, h) - square / 4 - root(square, 1) * blur
    upper = dual_cost(name, [2 * v for v in slopes], given, None) - gain
    ridge, fit = fitted(stack, h, blur, mu, lam, record)
    lower, total = -fit - weights_price(name, mu, given), dot(h, h)
    scale = total - 2 * blur * root(total, 1) - fit
    terms = total + fit + abs(upper) + square + given.get("smoothing", 0) * len(mu)
    return Point(lower, upper, scale, terms, ridge, slopes=slopes, off=terms / 2**48)  # H was rounded


def fitted(stack, h, blur, mu, lam, record):
    """δ, and the upper bound of tr(H'P⁻¹H), the value of these outputs at the weights μ."""
    ridge = proved_ridge(record, stack, mu, False)
    require(ridge < lam, "certificate.ridge: not below lam")
    alpha = 2 * np.linalg.solve(np.eye(len(h)) + plain(stack, mu) / float(lam), h.astype(float)).T
    signs = np.ones(alpha.shape, int)
    samples = output_by_output([samples_of("squared", {"C": 2}, row, signs[0], 1.0, False) for row in h.T], signs)
    weights = [w / (2 * lam) for w in mu]
    fit = two_sides(Outputs(stack, signs, samples, alpha, weights, ridges=[ridge / (2 * lam)])).upper
    return ridge, fit + (2 * root(fit, 1) + blur) * blur / (1 - ridge / lam)


def embedded(stack, mu, lam, h, dimensions, basis):
    """Require of B so many columns as there are dimensions, or eigenvalues of H'K(μ)(K(μ) + λI)⁻¹H that count."""
    require(np.ndim(basis) == 2 and len(basis) == len(h), "multipliers.B: not one row per sample")
    kernel, h = plain(stack, mu) / float(lam), h.astype(float)
    values = np.linalg.eigvalsh(h.T @ kernel @ np.linalg.solve(np.eye(len(h)) + kernel, h))[::-1]
    count, left = np.shape(basis)[1], values[np.shape(basis)[1] : int(dimensions)]
    full = count <= dimensions and (left <= 1e-9 * max(values[0], 0.0)).all()
    require(full, "parameters.dimensions: not those of the embedding B")


def plain(stack, mu):
    """K(μ) in doubles."""
    dense = [k.factor @ k.factor.T if k.dense is None else k.dense for k in stack]
    return sum(float(w) * k for w, k in zip(mu, dense, strict=True))


def turned(z, h):
    """A lower bound of max tr(V'Z'H) over ‖V‖ ≤ 1: V from doubles, made orthogonal to thirty digits."""
    cross = z.T @ h
    left, _, right = np.linalg.svd(cross.astype(float), full_matrices=False)
    tall = left.shape[0] > right.shape[1]
    v = fractions((left @ right).T if tall else left @ right)
    for _ in range(2):
        v = (3 * v - (v @ v.T) @ v) / 2
        v = on_grid(v)
    off = v @ v.T - np.eye(len(v), dtype=int).astype(object)
    excess = root(dot(off, off), 1)
    require(excess < 1, "multipliers.Z: no rotation was found")
    return (1 - excess) * dot(v.T if tall else v, cross)


def incidence(labels, expansion):
    """H with HH' = I − 𝓛 up to an error, and a bound on its Frobenius norm; labels (n, k) in {0, 1}."""
    require(expansion in ("clique", "star", "zhou", "kcca"), "parameters.expansion: unknown")
    edges = [int(x) for x in labels.sum(axis=0)]
    require(all(edges), "labels: one of them has no sample")
    if expansion == "kcca":
        return orthonormal(labels)
    scales = {  # a member's squared share of its row, and of the degree of its vertex
        "clique": [(Fraction(1), Fraction(size)) for size in edges],
        "star": [(Fraction(1, size**2), Fraction(1, size)) for size in edges],
        "zhou": [(Fraction(1, size), Fraction(1)) for size in edges],
    }[expansion]
    h = np.full(labels.shape, Fraction(0), dtype=object)
    for i, row in enumerate(labels):
        degree = sum(share for member, (_, share) in zip(row, scales, strict=True) if member)
        for e in np.flatnonzero(row):
            h[i, e] = Fraction(math.isqrt(math.floor(scales[e][0] / degree * FINE**2)), FINE)
    return h, Fraction(h.size, FINE)


def orthonormal(labels):
    """A basis of the labels' span: independent labels times a factor T, with T'GT = I nearly, G their Gram matrix."""
    columns: list = []
    for column in labels.T.astype(object):
        rest = np.array([Fraction(int(x)) for x in column], dtype=object)
        for kept, square in columns:
            rest = rest - kept * (dot(kept, rest) / square)
        if any(rest):
            columns.append((rest, dot(rest, rest)))
    basis = [rest / root(square, -1) for rest, square in columns]
    h = on_grid(np.array(basis)).T
    return h, Fraction(2 * h.size, FINE)


def on_grid(values):
    """The nearest multiples of 1/FINE."""
    return np.array([Fraction(round(x * FINE), FINE) for x in values.ravel()], dtype=object).reshape(values.shape)
