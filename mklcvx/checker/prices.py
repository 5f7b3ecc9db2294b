"""Prices of weights and norms for the auditor: R(μ), R*(½q), U(a), U*(√q), exactly or from one side, and domains.

R and U are those of the formulations; where R* is a minimum over τ it is taken at the τ that is given.
"""

from fractions import Fraction

import numpy as np

from .numbers import dot, entropy, fractions, norm, positive, power, require, root, smoothed_largest

BLOCKWISE = ("li", "ckl", "vskl")
SIMPLEX = ("l1", "sm1", "sm2", "smp")


def cap_of(theta, count):
    return max(theta, Fraction(-(-(2**52) // count), 2**52))


def dual_cost(name, q, given, groups):
    """R*(½q) from above, at the τ that is given where it is a minimum over τ."""
    if name in BLOCKWISE:
        return block_conjugate(name, [root(positive(x), 1) for x in q], given, groups, 1)
    v = [x / 2 for x in q]
    theta, p, tau, r = (given.get(key) for key in ("theta", "p", "tau", "l1_ratio"))
    if name == "elastic":
        if r == 1 or max(v) <= 0:
            return positive(max(v))
        require(tau > 0, "multipliers.tau: tau is not positive")
        return tau + sum(positive(x - r * tau) ** 2 for x in v) / (4 * (1 - r) * tau)
    if name == "block_elastic":
        if r in (0, 1):
            return positive(max(v)) if r else sum(v)
        require(tau >= 0, "multipliers.tau: tau is negative")
        roots = [root(positive(x), 1) for x in q]
        return tau**2 / (2 * r) + sum(positive(x - tau) ** 2 for x in roots) / (2 * (1 - r))
    if name == "group_lasso":
        require(max(q) <= given["lam"] ** 2, "alpha: a kernel sees more of it than lam allows")
        return Fraction(0)
    return {
        "svm": lambda: sum(v), "sum": lambda: sum(v), "average": lambda: sum(v) / len(v), "l1": lambda: max(v),
        "sm1": lambda: tau + cap_of(theta, len(v)) * sum(positive(x - tau) for x in v),
        "sm2": lambda: tau + theta / 2 * sum(positive(x - tau) ** 2 for x in v),
        "smp": lambda: tau + theta / 2 * sum(power(positive(x - tau), p / (p - 1), 1) for x in v),
        "square": lambda: theta / 2 * sum(positive(x) ** 2 for x in v),
        "l2": lambda: norm([positive(x) for x in v], Fraction(2), 1),
        "entropy": lambda: smoothed_largest(v, given["smoothing"], 1),
        "lp": lambda: positive(max(v)) if p == 1 else norm([positive(x) for x in v], p / (p - 1), 1),
    }[name]()  # fmt: skip


def domain(name, weights, given):
    """μ as exact numbers in the domain of R."""
    mu, count = list(fractions(weights)), len(weights)
    require(all(w >= 0 for w in mu), "weights: a weight is negative")
    if name in ("svm", "sum", "average") or (name == "block_elastic" and given["l1_ratio"] == 0):
        fixed = 1 / count if name == "average" else 1.0
        require(all(float(w) == fixed for w in mu), f"weights: {name} has the weights {fixed!r}")
        return [Fraction(1, count) if name == "average" else Fraction(1)] * count
    require(name != "block_elastic" or max(mu) <= 1, "weights: a weight exceeds one")
    if name in SIMPLEX:
        require(sum(mu) == 1, "weights: they do not sum to one")
        cap = cap_of(given["theta"], count) if name == "sm1" else 1
        require(max(mu) <= cap, "weights: a weight exceeds theta")
    size = {
        "l2": lambda: dot(mu, mu),
        "lp": lambda: sum(power(w, given["p"], 1) for w in mu),
        "block_elastic": lambda: sum((share(w, given["l1_ratio"]) for w in mu), Fraction(0)),
        "elastic": lambda: given["l1_ratio"] * sum(mu) + (1 - given["l1_ratio"]) * dot(mu, mu),
    }.get(name, lambda: Fraction(0))()
    require(size <= 1, "weights: they leave their ball")
    return mu


def share(weight, r):
    """The share of the norms that a weight of block_elastic stands for."""
    return r * weight / (1 - (1 - r) * weight)


def weights_price(name, mu, given):
    """R(μ) from above."""
    if name == "group_lasso":
        return given["lam"] ** 2 / 2 * sum(mu)
    if name == "entropy":
        return -given["smoothing"] * entropy(mu, -1)
    if name in ("sm2", "square"):
        return dot(mu, mu) / (2 * given["theta"])
    if name != "smp":
        return Fraction(0)
    p, rise = given["p"], 2 * (given["p"] - 1) / (given["theta"] * given["p"])
    return sum((w / p * power(rise * w, p - 1, 1) for w in mu), Fraction(0))


def groups_of(groups, name, count):
    if name == "li":
        return None
    require(groups is not None and len(np.ravel(groups)) == count, f"groups: {name} needs one group per kernel")
    return np.unique(np.ravel(groups), return_inverse=True)[1]


def by_group(values, groups):
    return [[v for v, g in zip(values, groups, strict=True) if g == j] for j in sorted(set(groups))]


def block_conjugate(name, roots, number, groups, side):
    """U*(√q)."""
    largest = roots if name == "li" else [max(part) for part in by_group(roots, groups)]
    if name != "vskl":
        return sum(largest, Fraction(0)) ** 2 / 4
    s = Fraction(number["s"])
    return norm(largest, s / (s - 1), side) ** 2 / 2


def block_penalty(name, norms, number, groups, side):
    """U(a)."""
    sums = norms if name == "li" else [sum(part) for part in by_group(norms, groups)]
    return norm(sums, Fraction(number["s"]), side) ** 2 / 2 if name == "vskl" else max(sums) ** 2
