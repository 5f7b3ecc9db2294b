"""Recompute the certificate of a solution with NumPy alone: python checker.py INSTANCE.npz SOLUTION.json

Depends on nothing else, so that whoever does not trust the rest of mklcvx needs to read only this page. It takes the
solution's own point (alpha, bias, weights or coefficients, multipliers), checks that it is feasible, and evaluates the
two objectives of the formulation there: any feasible point bounds the optimum, however it was found.
"""

import json
import sys

import numpy as np


def check(kernels, y, record, weight=1.0, groups=None):
    """(lower, upper) as this solution proves them; ValueError where its point is not feasible."""
    parameters, multipliers = record["parameters"], record["multipliers"]
    name, nu = record["formulation"], "nu" in parameters
    number = {**parameters, **{k: v for k, v in multipliers.items() if np.ndim(v) == 0}}
    alpha, mu = np.array(record["alpha"], float), np.array(record["weights"], float)
    box = weight * (1 / (parameters["nu"] * len(y)) if nu else parameters["C"]) * np.ones(len(y))
    require((alpha >= 0).all() and (alpha <= box).all(), "alpha leaves its box")
    if parameters["bias"]:
        require(abs(y @ alpha) <= 1e-14 * len(y) * alpha.sum(), "y'alpha is not zero")
    if nu:
        require(abs(alpha.sum() - 1) <= 1e-14 * len(y), "alpha does not sum to one")
    coefficients = record["coefficients"]
    c = np.outer(mu, alpha * y) if coefficients is None else np.array(coefficients, float)
    K = [(np.asarray(k, float) + np.asarray(k, float).T) / 2 for k in kernels]
    q = np.array([max(0.0, (alpha * y) @ k @ (alpha * y)) for k in K])
    a = np.sqrt([max(0.0, c_m @ k @ c_m) for k, c_m in zip(K, c, strict=True)])
    margins = y * (sum(k @ c_m for k, c_m in zip(K, c, strict=True)) + record["bias"])
    level = number["rho"] if nu else 1.0
    risk = np.sum(box * np.maximum(0, level - margins)) - (level if nu else 0.0)
    gain = 0.0 if nu else alpha.sum()
    return gain - dual_cost(name, q, number, groups), primal_cost(name, a, mu, number, groups) + risk


def dual_cost(name, q, number, groups):
    """R*(½q), or an upper bound on it at the solution's own tau: either keeps the lower bound valid."""
    v, tau, theta, p = q / 2, number.get("tau"), number.get("theta"), number.get("p")
    if name in ("ckl", "vskl"):
        largest = np.array([np.sqrt(q[groups == j].max()) for j in np.unique(groups)])
        return largest.sum() ** 2 / 4 if name == "ckl" else norm(largest, conjugate(number["s"])) ** 2 / 2
    if name == "elastic":
        r, excess = number["l1_ratio"], np.maximum(v - number["l1_ratio"] * tau, 0)
        return v.max() if r == 1 or tau == 0 else tau + excess @ excess / (4 * (1 - r) * tau)
    return {
        "svm": v.sum, "sum": v.sum, "average": v.mean, "l1": v.max,
        "sm1": lambda: tau + theta * np.maximum(v - tau, 0).sum(),
        "sm2": lambda: tau + theta / 2 * (np.maximum(v - tau, 0) ** 2).sum(),
        "smp": lambda: tau + theta / 2 * (np.maximum(v - tau, 0) ** conjugate(p)).sum(),
        "square": lambda: theta / 2 * v @ v, "l2": lambda: norm(v, 2), "lp": lambda: norm(v, conjugate(p)),
        "li": lambda: np.sqrt(q).sum() ** 2 / 4,
    }[name]()  # fmt: skip


def primal_cost(name, a, mu, number, groups):
    """The penalty of the norms a; where it is a minimum over weights, at the solution's own weights."""
    theta, p = number.get("theta"), number.get("p")
    if name in ("ckl", "vskl"):
        sums = np.array([a[groups == j].sum() for j in np.unique(groups)])
        return sums.max() ** 2 if name == "ckl" else norm(sums, number["s"]) ** 2 / 2
    direct = {"svm": a @ a / 2, "sum": a @ a / 2, "average": len(a) * a @ a / 2, "l1": a.sum() ** 2 / 2}
    if name in direct or name == "li":
        return direct.get(name, a.max() ** 2)
    size = {"square": 1.0, "l2": norm(mu, 2), "lp": norm(mu, p or 1)}.get(name, mu.sum())
    if name == "elastic":
        size = number["l1_ratio"] * mu.sum() + (1 - number["l1_ratio"]) * mu @ mu
    require((mu >= 0).all() and abs(size - 1) <= 1e-12 * len(a), "the weights are not feasible")
    require(name != "sm1" or mu.max() <= theta * (1 + 1e-12), "a weight exceeds theta")
    require((mu[a > 0] > 0).all(), "a kernel of weight zero is used")
    extra = {"sm2": lambda: mu @ mu / (2 * theta), "square": lambda: mu @ mu / (2 * theta),
             "smp": lambda: (2 * (p - 1) / (theta * p)) ** (p - 1) / p * (mu**p).sum()}  # fmt: skip
    return (a[a > 0] ** 2 / mu[a > 0]).sum() / 2 + extra.get(name, lambda: 0.0)()


def norm(x, p):
    return x.max() * (np.sum((x / x.max()) ** p) ** (1 / p) if np.isfinite(p) else 1.0) if x.max() > 0 else 0.0


def conjugate(p):
    return p / (p - 1) if p > 1 else np.inf


def require(holds, fault):
    if not holds:
        raise ValueError(fault)


if __name__ == "__main__":
    with np.load(sys.argv[1], allow_pickle=False) as file:
        data = dict(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        solution = json.load(file)
    if solution["preprocessing"] is not None:
        sys.exit("the kernels were centred or scaled before solving: give the checker the kernels after that")
    groups = np.unique(np.ravel(data["groups"]), return_inverse=True)[1] if "groups" in data else None
    low, high = check(data["kernels"], np.ravel(data["y"]), solution, data.get("sample_weight", 1.0), groups)
    print(f"lower {low!r}\nupper {high!r}\nrelative gap {(high - low) / max(abs(low), abs(high)):.2e}")
