"""The first of two stages for the auditor: weights that are learned from pairs of samples.

T_ij = +1 if samples i and j belong together, else −1.

ts, ts_l1   pairs i ≤ j with weights w, margins t_ij = T_ij Σ μ_m K_m,ij, sums P_m = Σ β_ij T_ij K_m,ij, 0 ≤ β ≤ w.
            ts: Σβ − ‖P₊‖²/(2λ) ≤ v ≤ (λ/2)‖μ‖² + Σ w(1 − t)₊.
            ts_l1, where P ≤ λ: Σβ ≤ v ≤ λΣμ + Σ w(1 − t)₊.
alignment   ⟨K(μ), T⟩/‖K(μ)‖ ≤ v ≤ ‖W‖ for any W with ⟨K_m, W⟩ ≥ ⟨K_m, T⟩ for every m: K(u) + δI with the file's u, or
            one of ours, and the least δ. If `approximate`, μ_m are in proportion to ⟨K_m, T⟩₊/‖K_m‖, to nine digits.
"""

from fractions import Fraction

import numpy as np

from .claims import Point, numbers
from .numbers import combination, dot, dyadic, fractions, positive, require, root, whole


def belonging(labels, target):
    """T: +1 for two samples of the same class, or with a label in common."""
    members = (labels > 0).astype(int)
    same = members @ members.T > 0 if target == "labels" else (members[:, None] == members).all(axis=2)
    return np.where(same | np.eye(len(labels), dtype=bool), 1, -1)


def pairs(stack, together, mu, record, given):
    triangle = np.triu_indices(len(together))
    t, lam = together[triangle], given["lam"]
    balanced = record["parameters"]["balanced"]
    shares = {side: Fraction(1, 2 * max(int((t == side).sum()), 1) if balanced else len(t)) for side in (1, -1)}
    given_beta = record["multipliers"].get("beta")
    require(given_beta is not None, "multipliers.beta: too large for JSON: give the solution as .npz")
    beta = numbers(given_beta, t.shape, "multipliers.beta")
    inside = all(0 <= b <= shares[side] for b, side in zip(fractions(beta), t, strict=True))
    require(inside, "multipliers.beta: it leaves its box")
    forces, exponent = whole(beta)
    signed = forces * t.astype(object)
    own = [kernel.entries() for kernel in stack]
    pulls = [dyadic(int(signed @ entries[triangle]), exponent + size) for entries, size in own]
    sizes = [dyadic(int(forces @ abs(entries[triangle])), exponent + size) for entries, size in own]
    entries, common = combination(zip(stack, mu, strict=True))
    missing = np.maximum(common - entries[triangle] * t.astype(object), 0)
    loss = sum(shares[side] * Fraction(int(missing[t == side].sum()), common) for side in (1, -1))
    gain, price = dyadic(int(forces.sum()), exponent), lam * sum(mu)
    cost = sum(positive(x) ** 2 for x in pulls) / (2 * lam)
    terms = gain + loss + dot(mu, sizes)
    if record["formulation"] == "ts":
        price = lam / 2 * dot(mu, mu)
        return Point(gain - cost, price + loss, price + cost, terms + price + cost, slopes=pulls)
    require(max(pulls) <= lam, "multipliers.beta: a sum P_m exceeds lambda")
    return Point(gain, price + loss, price, terms + price, slopes=pulls)


def alignment(stack, together, mu, record):
    n, target = len(together), together.astype(object)
    all_entries = [kernel.entries() for kernel in stack]
    reach = [dyadic(int((entries * target).sum()), e) for entries, e in all_entries]
    traces = [dyadic(int(np.trace(entries)), e) for entries, e in all_entries]
    lengths = [dyadic(int((entries * entries).sum()), 2 * e) for entries, e in all_entries]
    if record["parameters"]["approximate"]:
        own_alignment(mu, reach, lengths)

    def seen(weights):
        """⟨K_m, K(u)⟩ for every m."""
        kernel, common = combination(zip(stack, weights, strict=True))
        return [dyadic(int((entries * kernel).sum()), e) / common for entries, e in all_entries]

    def length(u, products):
        """‖K(u) + δI‖² with the least δ, or None."""
        short = [a - x for a, x in zip(reach, products, strict=True)]
        if any(s > 0 >= trace for s, trace in zip(short, traces, strict=True)):
            return None
        delta = max([Fraction(0)] + [s / trace for s, trace in zip(short, traces, strict=True) if trace > 0])
        return dot(u, products) + 2 * delta * dot(u, traces) + delta**2 * n

    own, nearest = seen(mu), projection(stack, reach, seen)
    square, aim = dot(mu, own), dot(mu, reach)
    factor = positive(aim) / square if square > 0 else Fraction(0)
    ray = length([factor * w for w in mu], [factor * x for x in own])
    said = record["multipliers"].get("witness")
    u = mu if said is None else fractions(numbers(said, (len(stack),), "multipliers.witness"))
    lengths = [x for x in (ray, length(*nearest), length(u, seen(u))) if x is not None]
    require(lengths, "certificate.upper: no W was found")
    upper = root(positive(min(lengths)), 1)
    lower = aim / root(square, 1 if aim > 0 else -1) if square > 0 else Fraction(0)
    # ‖T‖ = n is what an alignment would be if nothing cancelled
    return Point(lower, upper, upper, Fraction(n), gain=Fraction(n))


def own_alignment(mu, reach, squares):
    """Require μ_m in proportion to ⟨K_m, T⟩₊/‖K_m‖, to nine digits of the largest."""
    each = zip(reach, squares, strict=True)
    wanted = [positive(x) / root(square, 1) if square else Fraction(0) for x, square in each]
    off = max(abs(w * max(wanted) - max(mu) * x) for w, x in zip(mu, wanted, strict=True))
    near = off <= max(mu) * max(wanted) / 10**9
    require(near, "parameters.approximate: the weights are not in proportion to every kernel's own alignment")


def projection(stack, reach, seen):
    """The v ≥ 0 that minimises v'Gv − 2a'v, G_ml = ⟨K_m, K_l⟩: found in doubles, then refined on its support."""
    dense = np.stack([k.factor @ k.factor.T if k.dense is None else k.dense for k in stack]).reshape(len(stack), -1)
    gram, a = dense @ dense.T, np.array([float(x) for x in reach])
    sizes = np.where(np.diagonal(gram) > 0, np.diagonal(gram), 1.0)
    v = np.zeros(len(a))
    for _ in range(2000):
        before = v.copy()
        for m in range(len(a)):
            v[m] = max(0.0, v[m] + (a[m] - gram[m] @ v) / sizes[m])
        if np.abs(v - before).max() <= 1e-14 * np.abs(v).max():
            break
    support = np.flatnonzero(v > 1e-12 * v.max())
    while (solved(gram, support, a) < 0).any():
        support = support[solved(gram, support, a) >= 0]
    u, rest = fractions(np.zeros(len(a))), a
    for _ in range(3):
        u[support] += fractions(solved(gram, support, rest))
        products = seen(u)
        rest = np.array([float(x - y) for x, y in zip(reach, products, strict=True)])
    return u, products


def solved(gram, support, right):
    return np.linalg.lstsq(gram[np.ix_(support, support)], right[support], rcond=None)[0]
