"""Recompute the certificate of a solution with NumPy alone: python checker.py INSTANCE.npz SOLUTION.json|.npz

Depends on nothing else, so that whoever does not trust the rest of mklcvx needs to read only this page. It takes the
solution's own point (alpha, bias, weights or coefficients, multipliers), checks that it is feasible, and evaluates the
two objectives of the formulation there: any feasible point bounds the optimum, however it was found. It takes for
granted that the kernels are positive semidefinite. Where the file has coefficients, they and not the weights make f.
"""

import json
import os
import sys

import numpy as np


def check(kernels, y, record, weight=1.0, groups=None):
    """(lower, upper) as this solution proves them; ValueError where its point is not feasible."""
    parameters, multipliers = record["parameters"], record["multipliers"]
    name, nu = record["formulation"], "nu" in parameters
    number = {**parameters, **{k: multipliers[k] for k in ("tau", "rho") if k in multipliers}}
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
    q = np.array([square(k, alpha * y) for k in K])
    a = np.sqrt([max(0.0, c_m @ k @ c_m) for k, c_m in zip(K, c, strict=True)])
    margins = y * (sum(k @ c_m for k, c_m in zip(K, c, strict=True)) + record["bias"])
    level = number["rho"] if nu else 1.0
    risk = np.sum(box * np.maximum(0, level - margins)) - (level if nu else 0.0)
    gain = 0.0 if nu else alpha.sum()
    return gain - dual_cost(name, q, number, groups), primal_cost(name, a, mu, number, groups) + risk


def square(kernel, v):
    """v'Kv; where next to nothing is left of it, from the eigenvectors, those that are mere rounding left out."""
    plain = v @ kernel @ v
    if plain > 1e-6 * np.trace(kernel) * (v @ v):
        return plain
    values, vectors = np.linalg.eigh(kernel)
    kept = values > len(v) * np.finfo(float).eps * values[-1]
    return values[kept] @ (v @ vectors[:, kept]) ** 2


def dual_cost(name, q, number, groups):
    """R*(½q), or an upper bound on it at the solution's own tau: either keeps the lower bound valid."""
    v, tau, theta, p = q / 2, number.get("tau"), number.get("theta"), number.get("p")
    if name in ("ckl", "vskl"):
        largest = np.array([np.sqrt(q[groups == j].max()) for j in np.unique(groups)])
        return largest.sum() ** 2 / 4 if name == "ckl" else norm(largest, conjugate(number["s"])) ** 2 / 2
    if name == "elastic":
        r, excess = number["l1_ratio"], np.maximum(v - number["l1_ratio"] * tau, 0)
        require(tau > 0 or not v.any(), "tau is not positive")
        return v.max() if r == 1 or not v.any() else tau + excess @ excess / (4 * (1 - r) * tau)
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


def read_solution(path):
    """The record of a solution file, .json or .npz."""
    if not str(path).endswith(".npz"):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    with np.load(path, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    record = json.loads(str(arrays.pop("record")))
    for key, value in arrays.items():
        place, name = (record["multipliers"], key[11:]) if key.startswith("multiplier_") else (record, key)
        place[name] = value
    return {"coefficients": None, **record}


def verdict(lower, upper, record):
    """Print both bounds; 0 if they confirm what the file claims, 1 if not."""
    claimed = record["certificate"]
    size = max(abs(claimed["lower"]), abs(claimed["upper"]), claimed["scale"], abs(lower), abs(upper))
    print(f"lower {float(lower)!r}, claimed {claimed['lower']!r}\nupper {float(upper)!r}, claimed {claimed['upper']!r}")
    print(f"relative gap {max(upper - lower, 0) / size:.2e}" if size > 0 else "relative gap 0")
    distances = abs(lower - claimed["lower"]), abs(upper - claimed["upper"])
    confirmed = all(distance <= 1e-7 * size for distance in distances)
    print("confirmed" if confirmed else "NOT confirmed: the file's certificate is not what its point proves")
    return 0 if confirmed else 1


def main(check_file):
    """Run a checker on two files; what is wrong is said in one line, exit status 2."""
    try:
        if len(sys.argv) != 3:
            sys.exit(f"usage: {sys.argv[0]} INSTANCE.npz SOLUTION.json|.npz")
        for path in filter(os.path.exists, sys.argv[1:]):
            require(os.path.isfile(path), f"{path} is not an ordinary file")
        with np.load(sys.argv[1], allow_pickle=False) as file:
            data = dict(file)
        record = read_solution(sys.argv[2])
        require(record["preprocessing"] is None, "kernels were centred or scaled before solving: give those")
        lower, upper = check_file(data, record)
        sys.exit(verdict(lower, upper, record))
    except (OSError, ValueError, KeyError, TypeError, IndexError) as fault:
        print(f"not a point that proves anything: {type(fault).__name__}: {fault}", file=sys.stderr)
        sys.exit(2)


def check_file(data, record):
    require("y" in data, "no labels y in the instance: for classes and labels use checker_families")
    groups = np.unique(np.ravel(data["groups"]), return_inverse=True)[1] if "groups" in data else None
    return check(data["kernels"], np.ravel(data["y"]), record, data.get("sample_weight", 1.0), groups)


if __name__ == "__main__":
    main(check_file)
