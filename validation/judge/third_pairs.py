"""Wrong answers for two stages and for hypergraphs."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
from blind_tools import Answer, Data, Wrong, each_kernel, machine, parts, target, unit_trace, variance
from scipy.optimize import nnls
from second_tools import times
from third_tools import HYPER, STAGES, by, hand, problem, signs, tags

import mklcvx

TS = problem(signs(118, 33, "bvdc"), "ts", STAGES, lam=0.02, C=1.5)
TS_L1 = problem(signs(123, 36, "dvca", share=0.35), "ts_l1", STAGES, lam=0.005, C=0.8)
ALIGN = problem(signs(107, 36, "dvca"), "alignment", STAGES, C=2.0)
GRAPH = problem(tags(119, 33, "dvae"), "hypergraph", HYPER, lam=0.4, expansion="star")
SMOOTH = problem(tags(121, 30, "bvdc"), "hypergraph_smooth", HYPER, lam=0.7, expansion="zhou", smoothing=0.04)


def pair_weights(data: Data, lam: float, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, float]:
    """The first stage of TS-MKL on some pairs: weights and value."""
    signed = np.outer(data["y"], data["y"])[rows, columns][:, None] * data["kernels"][:, rows, columns].T
    mu = cp.Variable(len(data["kernels"]), nonneg=True)
    cost = lam / 2 * cp.sum_squares(mu) + cp.sum(cp.pos(1 - signed @ mu)) / len(rows)
    value = cp.Problem(cp.Minimize(cost)).solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11)
    return np.maximum(mu.value, 0.0), float(value)


def on_pairs(rows: np.ndarray, columns: np.ndarray) -> Callable[[mklcvx.Solution, Data], Answer]:
    def of(_: mklcvx.Solution, data: Data) -> Answer:
        weights, value = pair_weights(data, 0.02, rows, columns)
        return {"weights": weights, "objective": value}

    return of


def aligned(kernels: np.ndarray, goal: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Weights of unit length that align best with a goal, on the entries that are seen."""
    v = nnls(kernels[:, seen].T, goal[seen])[0]
    return v / np.linalg.norm(v)


def zero_one(_: mklcvx.Solution, data: Data) -> Answer:
    y = (data["y"] + 1) / 2
    return {"weights": aligned(data["kernels"], np.outer(y, y), np.ones((36, 36), dtype=bool))}


def triangle(_: mklcvx.Solution, data: Data) -> Answer:
    goal = np.outer(data["y"], data["y"])
    return {"weights": aligned(data["kernels"], goal, np.triu(np.ones((36, 36), dtype=bool)))}


def free(data: Data) -> np.ndarray:
    gram = np.einsum("mij,lij->ml", data["kernels"], data["kernels"])
    v = np.linalg.solve(gram, np.einsum("mij,i,j->m", data["kernels"], data["y"], data["y"]))
    return v / np.linalg.norm(v)


def own_alignments(data: Data) -> np.ndarray:
    """Every kernel's own alignment for its weight."""
    own = [data["y"] @ k @ data["y"] / np.linalg.norm(k) for k in data["kernels"]]
    return np.maximum(own, 0) / np.linalg.norm(np.maximum(own, 0))


def second_on_sum(found: mklcvx.Solution, data: Data) -> Answer:
    machined = machine(data, np.ones(len(data["kernels"])), {"C": 1.5})
    return parts(found, "w") | parts(machined, "ab")


def fit(objective: float, found: mklcvx.Solution) -> float:
    return float(np.sum(found.multipliers["eigenvalues"]))


def half_z(found: mklcvx.Solution, _: Data) -> Answer:
    return parts(found, "wo") | {"multipliers": {"Z": np.array(found.multipliers["Z"]) / 2}}


ABOVE, ALL = np.triu_indices(33, 1), np.indices((33, 33)).reshape(2, -1)
WRONG: list[Wrong] = [
    TS.other("the sum over pairs", "parameter", "parameter:lam", hand="w", lam=0.02 / 561),
    TS.handed("pairs i < j", "pairs", "pairs:other", of=on_pairs(*ABOVE)),
    TS.other("half of the weight to either sort of pair", "parameter", "parameter:balanced", hand="wo", balanced=True),
    TS.handed("the second stage takes the sum", "form", "alpha:second_stage", of=second_on_sum),
    TS.other("alignment", "formulation", "formulation:alignment", hand="w", formulation="alignment", drop=("lam",)),
    TS_L1.other("squares of the weights", "formulation", "formulation:ts", hand="wo", formulation="ts"),
    TS_L1.other("unit variance", "kernels", "kernels:variance", hand="wo", change=each_kernel(variance)),
    TS_L1.other("the default C of the second stage", "parameter", "parameter:C", hand="wab", C=1.0),
    ALIGN.handed("labels 0 and 1", "labels", "labels:zero_one", of=zero_one),
    ALIGN.handed("pairs i ≤ j", "pairs", "pairs:other", of=triangle),
    ALIGN.handed("weights may be negative", "form", "weights:unconstrained", of=lambda s, d: {"weights": free(d)}),
    ALIGN.handed("each kernel's own alignment", "form", "weights:rule",
                 of=lambda s, d: {"weights": own_alignments(d)}),
    ALIGN.handed("divided by n", "form", "objective:units", of=hand("wo", objective=by(1 / 36))),
    GRAPH.other("the clique expansion", "parameter", "parameter:expansion", hand="wo", expansion="clique"),
    # K/λ is all that is seen of both.
    GRAPH.other("1/λ for λ", "parameter", "parameter:lam", "kernels:scale", hand="wo", lam=2.5),
    GRAPH.other("unit traces", "kernels", "kernels:trace", hand="wo", change=each_kernel(unit_trace)),
    GRAPH.handed("the sum of the eigenvalues", "form", "objective:terms", of=hand("wo", objective=fit)),
    GRAPH.handed("Z without its 2", "form", "multipliers:scale", of=half_z),
    GRAPH.other("samples without a label for those with it", "labels", "labels:swapped", hand="wo",
                change=target(lambda t: 1 - t)),
    SMOOTH.other("not smoothed", "formulation", "formulation:hypergraph", "parameter:smoothing", hand="wo",
                 formulation="hypergraph", drop=("smoothing",)),
    SMOOTH.other("kernels divided by n", "kernels", "kernels:scale", "parameter:lam", hand="wo", change=times(1 / 30)),
]  # fmt: skip
