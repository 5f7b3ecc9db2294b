"""Wrong answers for two stages and for hypergraphs."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from blind_tools import (
    Data,
    Problem,
    Wrong,
    centred,
    each_kernel,
    frobenius,
    machine,
    parts,
    target,
    trace_n,
)
from second_tools import kinds_of, sets, some, two

import mklcvx

STAGES, GRAPH = "two stages", "hypergraph"
TS = Problem(STAGES, two(1, 30, "gwlp"), "ts", {"lam": 0.05, "C": 2.0})
TS_K = Problem(STAGES, kinds_of(90, 28, "lglg"), "ts", {"lam": 0.02})
TS1 = Problem(STAGES, two(3, 28, "gwlp"), "ts_l1", {"lam": 0.05})
TS1_K = Problem(STAGES, kinds_of(84, 28, "lglg"), "ts_l1", {"lam": 0.03})
ALIGN = Problem(STAGES, two(3, 34, "gwlp"), "alignment", {"C": 1.5})
ALIGN2 = Problem(STAGES, two(1, 36, "gwls", share=0.3), "alignment", {})
ALIGN_K = Problem(STAGES, kinds_of(85, 33, "lglgs"), "alignment", {})
HYPER = Problem(GRAPH, sets(1, 32, "gwsg"), "hypergraph", {"lam": 0.5})
HYPER_S = Problem(GRAPH, sets(84, 30, "gwlps", count=4), "hypergraph", {"lam": 1.0, "expansion": "star"})
HYPER_Z = Problem(GRAPH, sets(3, 34, "gwsg"), "hypergraph", {"lam": 0.3, "expansion": "zhou", "dimensions": 2})
SOFT = Problem(GRAPH, sets(2, 30, "gwsg"), "hypergraph_smooth", {"lam": 0.4, "smoothing": 0.05})
SOFT_K = Problem(GRAPH, sets(85, 28, "gwlp"), "hypergraph_smooth", {"smoothing": 0.1, "expansion": "kcca"})

KEEP34 = np.arange(34) % 4 != 3


def together(data: Data, other: float = -1.0) -> np.ndarray:
    """T: +1 where two samples belong together, else another number."""
    label = data["y"] if "y" in data else data["classes"]
    return np.where(label[:, None] == label, 1.0, other)


def upper(data: Data, diagonal: bool = True) -> np.ndarray:
    count = len(data["kernels"][0])
    return np.triu(np.ones((count, count)), 0 if diagonal else 1)


def everywhere(data: Data) -> np.ndarray:
    return np.ones(data["kernels"][0].shape)


def stage(
    data: Data, lam: float, pairs: np.ndarray, t: np.ndarray, *, l1: bool = False, squared: bool = False,
    negative: bool = False,
) -> np.ndarray:  # fmt: skip
    """The first stage with the mean over these pairs, with or without μ ≥ 0."""
    use = pairs > 0
    z = data["kernels"][:, use].T
    mu = cp.Variable(z.shape[1], nonneg=not negative)
    slack = cp.pos(1 - cp.multiply(t[use], z @ mu))
    loss = cp.sum_squares(slack) / 2 if squared else cp.sum(slack)
    penalty = lam * cp.norm1(mu) if l1 else lam / 2 * cp.sum_squares(mu)
    cp.Problem(cp.Minimize(penalty + loss / len(z))).solve(solver="CLARABEL")
    found = np.asarray(mu.value)
    return found if negative else np.where(found < 1e-7, 0.0, found)


def aligned(data: Data, pairs: np.ndarray, t: np.ndarray, *, negative: bool = False) -> np.ndarray:
    """The most aligned combination, the sums over these pairs."""
    z = data["kernels"] * np.sqrt(pairs)
    gram = np.einsum("mij,lij->ml", z, z)
    a = np.einsum("mij,ij->m", data["kernels"], pairs * t)
    if negative:
        v = np.linalg.solve(gram, a)
        return v / np.linalg.norm(v)
    x = cp.Variable(len(a), nonneg=True)
    root = np.linalg.cholesky(gram + 1e-12 * np.trace(gram) * np.eye(len(a)))
    cp.Problem(cp.Minimize(cp.sum_squares(root.T @ x) - 2 * a @ x)).solve(solver="CLARABEL")
    v = np.where(x.value < 1e-7 * x.value.max(), 0.0, x.value)
    return v / np.linalg.norm(v)


def sum_to_one(w: np.ndarray) -> np.ndarray:
    return w / w.sum()


def uniform_stage(s: mklcvx.Solution, d: Data) -> dict[str, object]:
    """The second stage on the average kernel."""
    return parts(s, "w") | parts(machine(d, np.full(4, 0.25), {"C": 2.0}), "ab")


WRONG: list[Wrong] = [
    # Two stages.
    TS.handed("pairs i < j", "pairs", "pairs:other",
              of=lambda s, d: {"weights": stage(d, 0.05, upper(d, False), together(d))}),
    TS.handed("all n² pairs", "pairs", "pairs:other",
              of=lambda s, d: {"weights": stage(d, 0.05, everywhere(d), together(d))}),
    TS.other("the sum over pairs in place of the mean", "parameter", "parameter:lam", hand="w", lam=0.05 / 465),
    TS.other("balanced pairs", "parameter", "parameter:balanced", hand="w", balanced=True),
    TS.handed("weights that sum to one", "form", "weights:scale", of=lambda s, d: {"weights": sum_to_one(s.weights)}),
    TS.handed("a second stage without the weights", "form", "alpha:second_stage", "alpha:stale", of=uniform_stage),
    TS.other("another C of the second stage", "parameter", "parameter:C", hand="wab", C=0.4),
    TS.handed("squared slacks", "loss", "loss:squared_hinge",
              of=lambda s, d: {"weights": stage(d, 0.05, upper(d), together(d), squared=True)}),
    TS.handed("multipliers of a sum over pairs", "form", "multipliers:scale",
              of=lambda s, d: parts(s, "w") | {"multipliers": {"beta": 465 * s.multipliers["beta"]}}),
    TS_K.other("an ℓ1 penalty", "formulation", "formulation:ts_l1", hand="w", formulation="ts_l1"),
    TS_K.other("λ as it is by default", "parameter", "parameter:lam", hand="wo", lam=0.01),
    TS_K.other("centred kernels", "kernels", "kernels:centred", hand="w", change=each_kernel(centred)),
    TS_K.other("centred kernels of unit variance", "kernels", "kernels:variance",
               ("kernels:centred", "kernels:trace"), hand="w",
               change=each_kernel(lambda k: trace_n(centred(k)))),
    TS_K.handed("pairs of two classes are 0", "labels", "labels:zero_one",
                of=lambda s, d: {"weights": stage(d, 0.02, upper(d), together(d, 0.0))}),
    TS_K.handed("negative weights allowed", "form", "weights:unconstrained",
                of=lambda s, d: {"weights": stage(d, 0.02, upper(d), together(d), negative=True)}),
    TS1.other("an ℓ2 penalty", "formulation", "formulation:ts", hand="w", formulation="ts"),
    TS1.other("λ of 0.01", "parameter", "parameter:lam", hand="w", lam=0.01),
    TS1.handed("weights of unit length", "form", "weights:scale",
               of=lambda s, d: {"weights": s.weights / np.linalg.norm(s.weights)}),
    TS1_K.other("classes shifted by three samples", "labels", "labels:permuted", hand="w",
                change=target(lambda c: np.roll(c, 3))),
    TS1_K.handed("the penalty missing from the value", "objective", "objective:terms", "objective:value",
                 of=lambda s, d: parts(s, "w") | {"objective": s.objective - 0.03 * s.weights.sum()}),
    ALIGN.other("every kernel's own alignment", "form", "weights:rule", hand="w", approximate=True),
    ALIGN.other("centred kernels", "kernels", "kernels:centred", hand="w", change=each_kernel(centred)),
    ALIGN.handed("pairs i ≤ j", "pairs", "pairs:other",
                 of=lambda s, d: {"weights": aligned(d, upper(d), together(d))}),
    ALIGN.handed("weights that sum to one", "form", "weights:scale",
                 of=lambda s, d: {"weights": sum_to_one(s.weights)}),
    ALIGN.handed("the alignment in [−1, 1]", "objective", "objective:units",
                 of=lambda s, d: parts(s, "w") | {"objective": s.objective / 34}),
    ALIGN2.handed("no sign of weights required", "form", "weights:unconstrained",
                  of=lambda s, d: {"weights": aligned(d, everywhere(d), together(d), negative=True)}),
    ALIGN2.handed("solved without signs, then clipped", "form", "weights:clipped", of=lambda s, d: {
        "weights": (w := np.maximum(aligned(d, everywhere(d), together(d), negative=True), 0)) / np.linalg.norm(w)}),
    ALIGN2.handed("without self-pairs", "pairs", "pairs:other",
                  of=lambda s, d: {"weights": aligned(d, upper(d, False), together(d))}),
    ALIGN2.other("unit Frobenius norms", "kernels", "kernels:frobenius", hand="w", change=each_kernel(frobenius)),
    ALIGN_K.handed("0 for pairs of two classes", "labels", "labels:zero_one",
                   of=lambda s, d: {"weights": aligned(d, everywhere(d), together(d, 0.0))}),
    ALIGN_K.other("the last class as one of the others", "labels", "labels:misread", "labels:dropped", hand="w",
                  change=target(lambda c: np.where(c == 2, 1, c))),
    ALIGN_K.handed("minus the alignment", "objective", "objective:sign",
                   of=lambda s, d: parts(s, "w") | {"objective": -s.objective}),
    # Hypergraphs.
    HYPER.other("the star expansion", "parameter", "parameter:expansion", hand="w", expansion="star"),
    HYPER.other("λ of 2", "parameter", "parameter:lam", "kernels:scale", hand="wo", lam=2.0),
    HYPER.handed("P⁻¹H in place of 2P⁻¹H", "form", "multipliers:scale",
                 of=lambda s, d: parts(s, "w") | {"multipliers": {"Z": s.multipliers["Z"] / 2}}),
    HYPER.handed("tr(A) in the value", "objective", "objective:terms", "objective:value",
                 of=lambda s, d: parts(s, "w") | {"objective": float(s.multipliers["eigenvalues"].sum())}),
    HYPER.handed("a minimum for a maximum", "objective", "objective:sign",
                 of=lambda s, d: parts(s, "w") | {"objective": -s.objective}),
    HYPER_S.other("kernels of trace n", "kernels", "kernels:trace", hand="w", change=each_kernel(trace_n)),
    HYPER_S.other("the second label left out", "labels", "labels:dropped", hand="w",
                  change=target(lambda t: np.delete(t, 1, axis=1))),
    HYPER_S.other("complements of the labels", "labels", "labels:swapped", hand="w", change=target(lambda t: 1 - t)),
    HYPER_Z.other("the clique expansion, as it is by default", "parameter", "parameter:expansion", hand="wo",
                  expansion="clique"),
    HYPER_Z.other("a quarter of the samples left out", "samples", "samples:dropped", hand="w", change=some(KEEP34)),
    HYPER_Z.handed("an embedding of one dimension", "parameter", "parameter:dimensions",
                   of=lambda s, d: parts(s, "w") | {"multipliers": {"B": s.multipliers["B"][:, :1].copy()}}),
    HYPER_Z.handed("weights in another order", "form", "weights:order",
                   of=lambda s, d: parts(s, "o") | {"weights": np.roll(s.weights, 1)}),
    SOFT.other("σ of 0.4", "parameter", "parameter:smoothing", hand="wo", smoothing=0.4),
    SOFT.other("no smoothing", "formulation", "formulation:hypergraph", "parameter:smoothing", hand="wo",
               formulation="hypergraph", drop=("smoothing",)),
    SOFT.handed("the entropy missing from the value", "objective", "objective:terms", "objective:value",
                of=lambda s, d: parts(s, "w") | {
                    "objective": float(s.objective + 0.05 * np.sum(s.weights * np.log(s.weights)))}),
    SOFT_K.other("λ of 0.2, weights alone", "parameter", "parameter:lam", "kernels:scale", hand="w", lam=0.2),
    SOFT_K.other("Zhou's Laplacian", "parameter", "parameter:expansion", hand="w", expansion="zhou"),
]  # fmt: skip
