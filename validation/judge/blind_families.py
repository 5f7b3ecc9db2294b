"""Many labels, two stages and hypergraphs: other problems solved, parts in another form."""

from __future__ import annotations

from typing import Any

import numpy as np
from blind_tools import (
    Answer,
    Data,
    Problem,
    Wrong,
    all_kernels,
    centred,
    copied,
    cosine,
    each_kernel,
    label_sets,
    labels,
    laplacian,
    parts,
    solution,
    target,
    trace_n,
    unit_trace,
)
from scipy.optimize import minimize, nnls

MANY, STAGES, EDGES = "many labels", "two stages", "hypergraphs"
SUM = Problem(MANY, label_sets(81), "ml_sum", {"C": 0.7})
STIFF = Problem(MANY, label_sets(81), "ml_sum", {"C": 20.0})
WORST = Problem(MANY, label_sets(82), "ml_minimax", {"C": 0.7})
TS = Problem(STAGES, labels(83, 36), "ts", {"lam": 0.02, "C": 0.7})
TS_L1 = Problem(STAGES, labels(84, 36), "ts_l1", {"lam": 0.01, "C": 0.7})
ALIGNMENT = Problem(STAGES, labels(85, 36), "alignment", {"C": 0.7})
GRAPH = Problem(EDGES, label_sets(86), "hypergraph", {"lam": 1.0, "expansion": "clique"})
SMOOTH = Problem(EDGES, label_sets(87), "hypergraph_smooth", {"lam": 1.0, "smoothing": 0.05, "expansion": "clique"})


def one_label(d: Data, k: int, price: float, **more: Any):
    y = np.where(d["labels"][:, k] > 0, 1.0, -1.0)
    return solution({"kernels": d["kernels"], "y": y}, "l1", {"C": price, "bias": False, **more})


def stacked(d: Data, price: float, **more: Any) -> Answer:
    """All labels as one task: `l1` on block-diagonal kernels."""
    k = d["labels"].shape[1]
    big = np.stack([np.kron(np.eye(k), m) for m in d["kernels"]])
    y = np.where(d["labels"].T.ravel() > 0, 1.0, -1.0)
    found = solution({"kernels": big, "y": y}, "l1", {"C": price, "bias": False, **more})
    return {
        "weights": np.array(found.weights),
        "alpha": np.array(found.alpha).reshape(k, -1),
        "objective": found.objective,
    }


def some(answer: Answer, *names: str) -> Answer:
    return {k: answer[k] for k in names}


MULTI = [
    SUM.other("C doubled", "parameter", "parameter:C", hand="wa", C=1.4),
    SUM.other("the worst class's loss", "formulation", "formulation:ml_minimax", hand="wao", formulation="ml_minimax"),
    SUM.handed(
        "the first class's own weights",
        "weights by a rule",
        "weights:rule",
        "labels:dropped",
        of=lambda s, d: parts(one_label(d, 0, 0.7), "w"),
    ),
    SUM.handed(
        "the mean of the classes' own weights",
        "weights by a rule",
        "weights:rule",
        of=lambda s, d: {"weights": np.mean([one_label(d, k, 0.7).weights for k in range(3)], axis=0)},
    ),
    SUM.handed(
        "logistic loss",
        "other losses",
        "loss:logistic",
        of=lambda s, d: some(stacked(d, 0.7, loss="logistic"), "weights", "alpha"),
    ),
    SUM.handed(
        "squared hinge, all of it",
        "other losses",
        "loss:squared_hinge",
        of=lambda s, d: stacked(d, 0.7, loss="squared_hinge"),
    ),
    SUM.handed(
        "the value per class",
        "value",
        "objective:units",
        of=lambda s, _: parts(s, "wa") | {"objective": s.objective / 3},
    ),
    SUM.handed(
        "uniform weights beside the right α",
        "form of weights",
        "weights:uniform",
        "weights:stale",
        "parts:apart",
        of=lambda s, _: parts(s, "a") | {"weights": np.full(4, 0.25)},
    ),
    SUM.handed(
        "the last class left out",
        "classes dropped",
        "labels:dropped",
        of=lambda s, d: parts(solution(d | {"labels": d["labels"][:, :2]}, "ml_sum", {"C": 0.7}), "wo"),
    ),
    SUM.handed(
        "classes in another order",
        "form of α",
        "classes:order",
        of=lambda s, _: parts(s, "w") | {"alpha": s.alpha[[2, 0, 1]]},
    ),
    STIFF.other("unit traces", "kernels", "kernels:trace", hand="wa", change=each_kernel(unit_trace)),
    SUM.other("kernels centred", "kernels", "kernels:centred", hand="wa", change=each_kernel(centred)),
    SUM.other(
        "a kernel twice, α alone",
        "kernels, α alone",
        "kernels:copied",
        "kernels:dropped",
        hand="a",
        change=all_kernels(lambda k: copied(k, 0, 1)),
    ),
    WORST.other("the sum of losses", "formulation", "formulation:ml_sum", hand="wa", formulation="ml_sum"),
    WORST.other("unit diagonals", "kernels", "kernels:cosine", hand="wo", change=each_kernel(cosine)),
    WORST.handed(
        "β = γα",
        "form of α",
        "alpha:beta",
        of=lambda s, _: parts(s, "w") | {"alpha": np.array(s.multipliers["gamma"])[:, None] * s.alpha},
    ),
    WORST.other("C halved", "parameter", "parameter:C", hand="wo", C=0.35),
    WORST.handed(
        "the sum of the classes' losses as the value",
        "value",
        "objective:terms",
        "objective:units",
        of=lambda s, _: parts(s, "wa") | {"objective": float(np.sum(s.multipliers["class_values"]))},
    ),
]


def pairs(d: Data, diagonal: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Values of the kernels and labels ±1 of the pairs i ≤ j, or i < j."""
    rows, columns = np.triu_indices(len(d["y"]), 0 if diagonal else 1)
    return d["kernels"][:, rows, columns].T, (d["y"][rows] * d["y"][columns])


def over_pairs(
    z: np.ndarray, t: np.ndarray, lam: float, weight: np.ndarray, *, power: int = 1, free: bool = False
) -> np.ndarray:
    """min ½λ‖μ‖² + Σ w (1 − tμ'z)₊^power (½ before squares), with μ ≥ 0 unless free. Hinge: a programme of its own."""
    count = z.shape[1]
    if power == 1:
        import cvxpy as cp

        mu = cp.Variable(count, nonneg=not free)
        slack = cp.pos(1 - cp.multiply(t, z @ mu))
        cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(mu) + weight @ slack)).solve(solver="CLARABEL")
        return np.maximum(mu.value, 0.0) if not free else np.array(mu.value)

    def value(mu: np.ndarray) -> tuple[float, np.ndarray]:
        slack = np.maximum(1 - t * (z @ mu), 0.0)
        return lam / 2 * mu @ mu + weight @ slack**2 / 2, lam * mu - z.T @ (weight * t * slack)

    bounds = None if free else [(0, None)] * count
    return minimize(
        value,
        np.ones(count),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000},
    ).x


def stage(d: Data, *, diagonal: bool = True, zero: bool = False, **more: Any) -> np.ndarray:
    z, t = pairs(d, diagonal)
    return over_pairs(z, (t + 1) / 2 if zero else t, 0.02, np.full(len(t), 1 / len(t)), **more)


def aligned(d: Data, *, free: bool = False, zero: bool = False, weight: str = "all") -> np.ndarray:
    """v with v'Gv − 2a'v least, over v ≥ 0 or all v, of unit length."""
    n = len(d["y"])
    t = np.outer(d["y"], d["y"])
    w = {"all": np.ones((n, n)), "upper": np.triu(np.ones((n, n))), "strict": 1 - np.eye(n)}[weight]
    columns = np.stack([(np.sqrt(w) * k).ravel() for k in d["kernels"]]).T
    goal = (np.sqrt(w) * ((t + 1) / 2 if zero else t)).ravel()
    v = np.linalg.lstsq(columns, goal, rcond=None)[0] if free else nnls(columns, goal)[0]
    return v / np.linalg.norm(v)


TWO = [
    TS.other("ten times λ", "parameter", "parameter:lam", hand="wo", lam=0.2),
    TS.other("balanced pairs", "parameter", "parameter:balanced", hand="w", balanced=True),
    TS.other("an ℓ1 penalty", "formulation", "formulation:ts_l1", hand="wo", formulation="ts_l1"),
    TS.handed("pairs i < j", "pairs", "pairs:other", of=lambda s, d: {"weights": stage(d, diagonal=False)}),
    TS.handed(
        "squared hinge over pairs", "other losses", "loss:squared_hinge", of=lambda s, d: {"weights": stage(d, power=2)}
    ),
    TS.handed(
        "weights that may be negative",
        "weights",
        "weights:unconstrained",
        of=lambda s, d: {"weights": stage(d, free=True)},
    ),
    TS.handed(
        "solved without μ ≥ 0, then clipped",
        "weights",
        "weights:clipped",
        of=lambda s, d: {"weights": np.maximum(stage(d, free=True), 0.0)},
    ),
    TS.handed(
        "pairs labelled 0 and 1",
        "codings of labels",
        "labels:zero_one",
        "pairs:other",
        of=lambda s, d: {"weights": stage(d, zero=True)},
    ),
    TS.handed(
        "weights that sum to one",
        "form of weights",
        "weights:scale",
        of=lambda s, _: {"weights": s.weights / s.weights.sum()},
    ),
    TS.handed(
        "the second stage on uniform weights",
        "α of an earlier iterate",
        "alpha:second_stage",
        "alpha:stale",
        "parts:apart",
        of=lambda s, d: parts(s, "w") | parts(solution(d, "average", {"C": 0.7}), "a"),
    ),
    TS.handed(
        "the value times the number of pairs",
        "value",
        "objective:units",
        of=lambda s, _: parts(s, "w") | {"objective": s.objective * 666},
    ),
    TS_L1.other("half λ", "parameter", "parameter:lam", hand="wo", lam=0.005),
    TS_L1.other("an ℓ2 penalty", "formulation", "formulation:ts", hand="w", formulation="ts"),
    TS_L1.other("kernels with traces n", "kernels", "kernels:trace", hand="wo", change=each_kernel(trace_n)),
    TS_L1.handed(
        "the second stage with C = 7",
        "parameter",
        "parameter:C",
        of=lambda s, d: (
            parts(s, "w")
            | parts(solution(d | {"kernels": s.weights[:, None, None] * d["kernels"]}, "sum", {"C": 7.0}), "ab")
        ),
    ),
    TS_L1.handed(
        "the penalty left out of the value",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: parts(s, "w") | {"objective": s.objective - 0.01 * float(s.weights.sum())},
    ),
    ALIGNMENT.other("every kernel's own alignment", "weights by a rule", "weights:rule", hand="w", approximate=True),
    ALIGNMENT.handed(
        "weights that may be negative",
        "weights",
        "weights:unconstrained",
        of=lambda s, d: {"weights": aligned(d, free=True)},
    ),
    ALIGNMENT.other("kernels centred", "kernels", "kernels:centred", hand="wo", change=each_kernel(centred)),
    ALIGNMENT.handed("pairs i ≤ j", "pairs", "pairs:other", of=lambda s, d: {"weights": aligned(d, weight="upper")}),
    ALIGNMENT.handed(
        "no self-pairs",
        "pairs",
        "pairs:other",
        "kernels:ridge",
        of=lambda s, d: {"weights": aligned(d, weight="strict")},
    ),
    ALIGNMENT.handed(
        "a target of 0 and 1",
        "codings of labels",
        "labels:zero_one",
        of=lambda s, d: {"weights": aligned(d, zero=True)},
    ),
    ALIGNMENT.handed(
        "the normalised value",
        "value",
        "objective:units",
        of=lambda s, _: parts(s, "w") | {"objective": s.objective / 36},
    ),
    ALIGNMENT.handed(
        "the squared value", "value", "objective:units", of=lambda s, _: parts(s, "w") | {"objective": s.objective**2}
    ),
]


def expansion(y: np.ndarray) -> np.ndarray:
    together = y @ y.T.astype(float)
    root = np.sqrt(together.sum(axis=1))
    root[root == 0] = np.inf
    return together / np.outer(root, root)


def best_trace(d: Data, a: np.ndarray, lam: float = 1.0) -> np.ndarray:
    """min over the simplex of tr(A (I + K(μ)/λ)⁻¹), by SLSQP."""
    n, kernels = len(a), d["kernels"]

    def value(mu: np.ndarray) -> tuple[float, np.ndarray]:
        p = np.linalg.inv(np.eye(n) + np.tensordot(mu, kernels, 1) / lam)
        middle = p @ a @ p
        return float(np.sum(p * a)), -np.einsum("ij,mji->m", middle, kernels) / lam

    start = np.full(len(kernels), 1 / len(kernels))
    sums = {"type": "eq", "fun": lambda mu: mu.sum() - 1, "jac": lambda mu: np.ones(len(mu))}
    return minimize(
        value,
        start,
        jac=True,
        bounds=[(0, 1)] * len(start),
        constraints=[sums],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    ).x


def laplacian_weights(_s: object, d: Data) -> Answer:
    return {"weights": best_trace(d, np.eye(len(d["labels"])) - expansion(d["labels"]))}


HYPER = [
    GRAPH.other("Zhou's expansion", "parameter", "parameter:expansion", hand="wo", expansion="zhou"),
    GRAPH.other("the star's expansion", "parameter", "parameter:expansion", hand="w", expansion="star"),
    GRAPH.other("λ tenfold", "parameter", "parameter:lam", "kernels:scale", hand="wo", lam=10.0),
    GRAPH.other(
        "the smoothed maximum",
        "formulation",
        "formulation:hypergraph_smooth",
        hand="wo",
        formulation="hypergraph_smooth",
        smoothing=0.1,
    ),
    GRAPH.handed("the Laplacian in place of A", "Laplacians", "kernels:distance", of=laplacian_weights),
    GRAPH.handed(
        "the trace, not minus the trace",
        "value",
        "objective:sign",
        of=lambda s, _: parts(s, "w") | {"objective": -s.objective},
    ),
    GRAPH.handed(
        "the sum of the eigenvalues",
        "objective's terms",
        "objective:terms",
        of=lambda s, _: parts(s, "w") | {"objective": float(np.sum(s.multipliers["eigenvalues"]))},
    ),
    GRAPH.handed(
        "half of Z",
        "form of multipliers",
        "multipliers:scale",
        of=lambda s, _: parts(s, "w") | {"multipliers": {"Z": np.array(s.multipliers["Z"]) / 2}},
    ),
    GRAPH.other("unit traces", "kernels", "kernels:trace", hand="wo", change=each_kernel(unit_trace)),
    GRAPH.other("labels and their complements", "labels", "labels:swapped", hand="wo", change=target(lambda y: 1 - y)),
    GRAPH.handed(
        "uniform weights with the right value",
        "form of weights",
        "weights:uniform",
        "weights:stale",
        "parts:apart",
        of=lambda s, _: parts(s, "o") | {"weights": np.full(4, 0.25)},
    ),
    SMOOTH.other("σ tenfold", "parameter", "parameter:smoothing", hand="wo", smoothing=0.5),
    SMOOTH.other(
        "no smoothing",
        "formulation",
        "formulation:hypergraph",
        "parameter:smoothing",
        hand="wo",
        formulation="hypergraph",
        drop=("smoothing",),
    ),
    SMOOTH.handed(
        "a label left out",
        "classes dropped",
        "labels:dropped",
        of=lambda s, d: parts(
            solution(d | {"labels": d["labels"][:, :2]}, "hypergraph_smooth", SMOOTH.parameters), "wo"
        ),
    ),
    SMOOTH.handed(
        "the entropy left out of the value",
        "objective's terms",
        "objective:terms",
        of=lambda s, _: (
            parts(s, "w") | {"objective": s.objective + 0.05 * float(np.sum(s.weights * np.log(s.weights)))}
        ),
    ),
    SMOOTH.other(
        "a kernel left out, weights and value",
        "kernels",
        "kernels:dropped",
        hand="wo",
        change=all_kernels(lambda k: k[[0, 2, 3]]),
        after=lambda s, a: a | {"weights": np.insert(a["weights"], 1, 0.0)},
    ),
    SMOOTH.other(
        "Laplacians of the kernels", "Laplacians", "kernels:distance", hand="wo", change=each_kernel(laplacian)
    ),
]

LIST: list[Wrong] = [*MULTI, *TWO, *HYPER]
