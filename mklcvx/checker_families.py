"""The checker for many labels, two stages and hypergraphs: NumPy alone, as `checker.py` for single tasks.

    python -m mklcvx.checker_families INSTANCE.npz SOLUTION.json|.npz

It evaluates the two objectives at the point that the solution carries, after checking that it is feasible: any
feasible point bounds the optimum. Solutions with more than 20,000 multipliers carry them only in `.npz`. Needs
`checker.py`, of which it borrows the reading of files and the verdict.
"""

import numpy as np

from mklcvx.checker import main, require


def check(kernels, labels, record, weight=1.0):
    """(lower, upper) as this solution proves them; `labels` (n, k) in {0, 1}, one column for labels ±1."""
    K = [(np.asarray(k, float) + np.asarray(k, float).T) / 2 for k in kernels]
    name, mu = record["formulation"], np.array(record["weights"], float)
    require((mu >= 0).all(), "a weight is negative")
    if name in ("ml_sum", "ml_minimax"):
        return many_labels(K, 2.0 * labels.T - 1, mu, record, weight * np.ones(len(labels)))
    if name in ("hypergraph", "hypergraph_smooth"):
        return hypergraph(K, labels, mu, record)
    same = labels @ labels.T > 0 if record["target"] == "labels" else (labels[:, None] == labels).all(axis=2)
    together = np.where(same | np.eye(len(labels), dtype=bool), 1.0, -1.0)
    return alignment(K, together, mu) if name == "alignment" else pairs(K, together, mu, record)


def many_labels(K, y, p, record, weight):
    alpha, box = np.array(record["alpha"], float), record["parameters"]["C"] * weight
    require(abs(p.sum() - 1) < 1e-12 * len(p), "the weights do not sum to one")
    require((alpha >= 0).all() and (alpha <= box).all(), "alpha leaves its box")
    q = np.array([[(a * s) @ k @ (a * s) for k in K] for a, s in zip(alpha, y, strict=True)])
    c = record["coefficients"]
    c = p[None, :, None] * (alpha * y)[:, None] if c is None else np.array(c, float)
    squares = np.array([[row[m] @ k @ row[m] for m, k in enumerate(K)] for row in c])
    outputs = np.array([sum(k @ row[m] for m, k in enumerate(K)) for row in c])
    risks = np.maximum(0, 1 - y * outputs) @ box
    if record["formulation"] == "ml_sum":
        return alpha.sum() - q.sum(axis=0).max() / 2, np.sqrt(squares.sum(axis=0)).sum() ** 2 / 2 + risks.sum()
    gamma = np.array(record["multipliers"]["gamma"], float)
    require((gamma >= 0).all() and abs(gamma.sum() - 1) < 1e-12 * len(gamma), "gamma leaves the simplex")
    ratios = np.divide(squares, p, out=np.where(squares > 0, np.inf, 0.0), where=p > 0)
    return gamma @ alpha.sum(axis=1) - (gamma @ q).max() / 2, (ratios.sum(axis=1) / 2 + risks).max()


def pairs(K, together, mu, record):
    upper = np.triu_indices(len(together))
    z, t, lam = np.stack([k[upper] for k in K], axis=1), together[upper], record["parameters"]["lam"]
    positive = t > 0
    w = np.full(len(t), 1 / len(t))
    if record["parameters"]["balanced"]:
        w = np.where(positive, 0.5 / positive.sum(), 0.5 / (~positive).sum())
    require(record["multipliers"]["beta"] is not None, "beta is too large for JSON: give the solution as .npz")
    beta = np.array(record["multipliers"]["beta"], float)
    require((beta >= 0).all() and (beta <= w).all(), "beta leaves its box")
    pull, loss = (beta * t) @ z, w @ np.maximum(0, 1 - t * (z @ mu))
    if record["formulation"] == "ts":
        return beta.sum() - np.sum(np.maximum(pull, 0) ** 2) / (2 * lam), lam / 2 * mu @ mu + loss
    require(pull.max() <= lam * (1 + 1e-12), "a pull exceeds lambda")
    return beta.sum(), lam * mu.sum() + loss


def alignment(K, together, mu):
    G, a = np.array([[np.vdot(k, m) for m in K] for k in K]), np.array([np.vdot(k, together) for k in K])
    size = mu @ G @ mu
    v = mu * max(a @ mu, 0) / size if size > 0 else mu
    short = max(0, *((a - G @ v) / [max(np.trace(k), 1e-300) for k in K]))
    W = sum(x * k for x, k in zip(v, K, strict=True)) + short * np.eye(len(together))
    return a @ mu / np.sqrt(size) if size > 0 else 0.0, np.linalg.norm(W)


def hypergraph(K, labels, theta, record):
    H, lam = incidence(labels, record["parameters"]["expansion"]), record["parameters"]["lam"]
    Z = np.array(record["multipliers"]["Z"], float)
    require(abs(theta.sum() - 1) < 1e-12 * len(theta), "the weights do not sum to one")
    S = np.array([np.vdot(Z, Z) / 4 + np.vdot(Z, k @ Z) / (4 * lam) - np.vdot(Z, H) for k in K])
    kernel = sum(t * k for t, k in zip(theta, K, strict=True))
    X = np.linalg.solve(np.eye(len(H)) + kernel / lam, H)
    AX = X + kernel @ X / lam
    lower, upper = -(2 * np.vdot(X, H) - np.vdot(X, AX) + np.sum((H - AX) ** 2)), S.max()
    if record["formulation"] == "hypergraph":
        return lower, upper
    s, used = record["parameters"]["smoothing"], theta[theta > 0]
    return lower - s * np.sum(used * np.log(used)), upper + s * np.log(np.sum(np.exp((S - upper) / s)))


def incidence(Y, expansion):
    """H with HH' = C, up to a rotation that S and the traces do not see, but Z does: the same one as the solution's."""
    edges, vertices = Y.sum(axis=0), Y.sum(axis=1)
    scaled = {"clique": Y, "star": Y / edges, "zhou": Y / np.sqrt(edges), "kcca": Y}[expansion]
    degrees = {"clique": Y @ edges, "star": Y @ (1 / edges), "zhou": vertices, "kcca": np.ones(len(Y))}[expansion]
    U, s, _ = np.linalg.svd(scaled / np.sqrt(np.where(degrees > 0, degrees, 1))[:, None], full_matrices=False)
    keep = s > len(Y) * np.finfo(float).eps * s[0]
    return U[:, keep] * (1.0 if expansion == "kcca" else s[keep])


def check_file(data, record):
    if "labels" in data:
        members = data["labels"]
    else:
        members = data["y"][:, None] > 0 if "y" in data else data["classes"][:, None] == np.unique(data["classes"])
    return check(data["kernels"], members.astype(float), record, data.get("sample_weight", 1.0))


if __name__ == "__main__":
    main(check_file)
