"""Wrong answers for one task with labels: the hinge loss, its form with ν, and its smooth relatives."""

from __future__ import annotations

import numpy as np
from blind_tools import (
    Answer,
    Data,
    Problem,
    Wrong,
    all_kernels,
    coefficients,
    copied,
    cosine,
    each_kernel,
    frobenius,
    machine,
    parts,
    quadratics,
    target,
    trace_n,
    unit_trace,
    using,
    without,
)
from second_tools import edit, prices, some, spread, times, two

import mklcvx

ONE = "single task"


def by_class(data: Data, positive: float, negative: float) -> Data:
    return data | {"sample_weight": np.where(data["y"] > 0, positive, negative)}


A = Problem(ONE, two(1, 36, "gwlp"), "l1", {"C": 1.5})
B = Problem(ONE, two(2, 40, "gwlpr", share=0.3), "l1", {"C": 4.0})
FREE = Problem(ONE, two(3, 32, "gslw"), "l1", {"C": 2.0, "bias": False})
PRICED = Problem(ONE, two(4, 36, "gwls", sample_weight=prices(4, 36)), "l1", {"C": 0.8})
ROUND = Problem(ONE, two(5, 30, "gwlpsr"), "l2", {"C": 2.5})
FEW = Problem(ONE, two(6, 44, "gws", share=0.25), "lp", {"C": 1.2, "p": 1.4})
CLASSED = Problem(ONE, by_class(two(14, 38, "gwls", share=0.3), 2.2, 0.7), "l1", {"C": 1.0})
NU = Problem(ONE, two(7, 38, "gwlp"), "l1", {"nu": 0.35})
NU2 = Problem(ONE, two(8, 32, "gwps"), "l2", {"nu": 0.5})
SQUARED = Problem(ONE, two(9, 35, "gwlp"), "l1", {"C": 0.9, "loss": "squared_hinge"})
SMOOTH = Problem(ONE, two(10, 35, "gwsl"), "l2", {"C": 2.0, "loss": "smoothed_hinge", "width": 0.4})
LOGIT = Problem(ONE, two(11, 40, "gwlp", share=0.35), "l1", {"C": 1.7, "loss": "logistic"})
LOGIT_FREE = Problem(ONE, two(12, 34, "gwls"), "l2", {"C": 2.2, "loss": "logistic", "bias": False})

KEEP40 = np.arange(40) % 6 != 1


def squares(problem: Problem) -> Answer:
    """Least squares on the labels, α as a classifier has it."""
    data = {k: v for k, v in problem.data.items() if k != "y"} | {"response": problem.data["y"]}
    found = mklcvx.solve(mklcvx.Instance(**data), problem.formulation, **problem.parameters, loss="squared")
    return parts(found, "wb") | {"alpha": found.alpha * problem.data["y"]}


def updates(problem: Problem, steps: int, power: float = 1.0, norm: float = 1.0) -> Answer:
    """Machine and weights in turns, weights in proportion to a power of ‖f_m‖, from equal weights on."""
    count = len(problem.data["kernels"])
    weights = np.full(count, count ** (-1 / norm))
    losses = {k: v for k, v in problem.parameters.items() if k not in ("p", "theta", "l1_ratio")}
    found = machine(problem.data, weights, losses)
    for _ in range(steps):
        norms = weights * np.sqrt(quadratics(problem.data, found.alpha * found.y))
        weights = norms**power / np.linalg.norm(norms**power, norm)
        found = machine(problem.data, weights, losses)
    return {"weights": weights, "alpha": found.alpha, "bias": found.bias, "objective": found.objective}


def only(names: str, answer: Answer) -> Answer:
    return {k: v for k, v in answer.items() if k[0] in names}


def positives_alone(problem: Problem) -> Answer:
    """Labels 0 and 1 in y_i f(x_i), without a bias: the zeros see no f, as if their kernels' entries were zero."""
    seen = problem.data["y"] > 0
    own = problem.data | {"kernels": problem.data["kernels"] * np.outer(seen, seen)}
    return parts(mklcvx.solve(mklcvx.Instance(**own), problem.formulation, **problem.parameters), "wa")


def all_support_bias(s: mklcvx.Solution, d: Data) -> float:
    """The mean of y − f over all support vectors, those at the bound included."""
    f = np.einsum("m,mij,j->i", s.weights, d["kernels"], s.alpha * s.y)
    seen = s.alpha > 1e-6
    return float(np.mean((s.y - f)[seen]))


WRONG: list[Wrong] = [
    # l1 with the hinge loss: another problem.
    A.other("C per sample", "parameter", "parameter:C", C=1.5 / 36),
    A.other("C times 3.7, weights alone", "parameter", "parameter:C", "kernels:scale", hand="w", C=1.5 * 3.7),
    B.other("C = 1/(2nλ) of λ", "parameter", "parameter:C", hand="wao", C=1 / (2 * 40 * 0.05)),
    A.other("½ missing before q", "kernels", "kernels:scale", ("parameter:C", "alpha:scale"), change=times(2)),
    B.other("kernels of unit trace", "kernels", "kernels:trace", change=each_kernel(unit_trace)),
    A.other("kernels of trace n, weights alone", "kernels", "kernels:trace", hand="w", change=each_kernel(trace_n)),
    B.other("unit diagonals, weights alone", "kernels", "kernels:cosine", hand="w", change=each_kernel(cosine)),
    A.other("unit diagonals, α alone", "kernels", "kernels:cosine", hand="a", change=each_kernel(cosine)),
    B.other("unit Frobenius norms", "kernels", "kernels:frobenius", hand="wa", change=each_kernel(frobenius)),
    A.other("a ridge of 0.2", "kernels", "kernels:ridge", change=each_kernel(lambda k: k + 0.2 * np.eye(len(k)))),
    B.other("entries squared", "kernels", "kernels:power", hand="wa", change=each_kernel(lambda k: k**2)),
    A.other("the second kernel left out", "kernels", "kernels:dropped", change=all_kernels(lambda k: without(k, 1))),
    B.other("the first kernel read twice", "kernels", "kernels:copied", "kernels:dropped", hand="ab",
            change=all_kernels(lambda k: copied(k, 0, 2))),
    A.other("samples of the first kernel shuffled", "kernels", "kernels:order",
            change=all_kernels(lambda k: np.stack([k[0][::-1, ::-1], *k[1:]]))),
    B.other("every kernel multiplied by the next", "kernels", "kernels:product", hand="wa",
            change=all_kernels(lambda k: k * np.roll(k, -1, axis=0))),
    A.handed("the average of the kernels", "kernels", "kernels:average", "formulation:average",
             of=lambda s, d: parts(machine(d, np.full(4, 0.25), {"C": 1.5}), "ab") | {"weights": np.full(4, 0.25)}),
    B.handed("the best kernel alone", "kernels", "kernels:one",
             of=lambda s, d: parts(machine(d, np.eye(5)[0], {"C": 4.0}), "abo") | {"weights": np.eye(5)[0]}),
    A.other("no bias", "bias", "bias_term:omitted", hand="wa", bias=False),
    B.other("a bias that is penalised", "bias", "bias_term:penalised", ("bias_term:omitted", "kernels:shifted"),
            hand="wa", change=each_kernel(lambda k: k + 1), bias=False,
            after=lambda s, a: a | {"bias": float(np.sum(s.alpha * s.y))}),
    FREE.other("a bias in addition", "bias", "bias_term:added", hand="wa", bias=True),
    FREE.other("centred kernels", "kernels", "kernels:centred", hand="wa",
               change=each_kernel(lambda k: k - k.mean(0) - k.mean(1)[:, None] + k.mean())),
    FREE.other("0.5 added to all entries", "kernels", "kernels:shifted", hand="wa",
               change=each_kernel(lambda k: k + 0.5)),
    FREE.handed("labels 0 and 1", "labels", "labels:zero_one", of=lambda s, d: positives_alone(FREE)),
    A.other("squared slacks", "loss", "loss:squared_hinge", loss="squared_hinge"),
    B.handed("least squares on the labels", "loss", "loss:squared", of=lambda s, d: squares(B)),
    A.other("logistic regression, weights and bias", "loss", "loss:logistic", hand="wb", loss="logistic"),
    B.other("smoothed hinge", "loss", "loss:smoothed_hinge", hand="wa", loss="smoothed_hinge"),
    A.other("three labels misread", "labels", "labels:misread",
            change=target(lambda y: y * np.where(np.isin(np.arange(36), [3, 17, 28]), -1, 1)), hand="wo"),
    B.other("labels shifted by one", "labels", "labels:permuted", hand="wab", change=target(lambda y: np.roll(y, 1))),
    B.other("a sixth of the samples left out", "samples", "samples:dropped", change=some(KEEP40), after=spread(KEEP40)),
    B.other("balanced classes", "samples", "sample_weight:balanced", change=using(class_weight="balanced")),
    A.other("the 2-norm ball", "formulation", "formulation:l2", formulation="l2"),
    B.other("the capped simplex, as it is by default", "formulation", "formulation:sm1", formulation="sm1"),
    A.other("plain norms, weights normalised", "formulation", "norms:unsquared", "formulation:group_lasso",
            "parameter:C", "kernels:scale", formulation="group_lasso", hand="w",
            after=edit(weights=lambda w: w / w.sum())),
    PRICED.other("weights of samples ignored", "samples", "sample_weight:ignored", change=using(sample_weight=None)),
    PRICED.other("weights of samples that sum to one", "samples", "sample_weight:normalised", "parameter:C",
                 change=lambda d: d | {"sample_weight": d["sample_weight"] / d["sample_weight"].sum()}),
    PRICED.other("roots of the samples' weights", "samples", "sample_weight:squared", hand="ab",
                 change=lambda d: d | {"sample_weight": np.sqrt(d["sample_weight"])}),
    PRICED.other("reciprocal weights of samples", "samples", "sample_weight:inverted", hand="wa",
                 change=lambda d: d | {"sample_weight": 1 / d["sample_weight"]}),
    PRICED.other("weights of samples sorted", "samples", "sample_weight:order",
                 change=lambda d: d | {"sample_weight": np.sort(d["sample_weight"])}),
    CLASSED.other("prices of the classes exchanged", "samples", "sample_weight:swapped",
                  change=lambda d: by_class(d, 0.7, 2.2)),
    CLASSED.other("prices of the classes squared, weights and α", "samples", "sample_weight:squared", hand="wa",
                  change=lambda d: by_class(d, 2.2**2, 0.7**2)),
    CLASSED.other("prices of the classes left out", "samples", "sample_weight:ignored", hand="ab",
                  change=using(sample_weight=None)),
    # l1 with the hinge loss: another form.
    A.handed("support vectors alone", "form", "alpha:support",
             of=lambda s, d: {"weights": s.weights, "alpha": s.alpha[s.alpha > 1e-6], "bias": s.bias}),
    B.handed("α∘y", "form", "alpha:sign", of=lambda s, d: parts(s, "wb") | {"alpha": s.alpha * s.y}),
    B.handed("α in units of C", "form", "alpha:scale", of=lambda s, d: parts(s, "wb") | {"alpha": s.alpha / 4}),
    A.handed("α cut off at 1", "form", "alpha:clipped",
             of=lambda s, d: parts(s, "wb") | {"alpha": np.minimum(s.alpha, 1.0)}),
    A.handed("α in the order of the classes", "form", "alpha:order",
             of=lambda s, d: {"alpha": s.alpha[np.argsort(s.y, kind="stable")], "weights": s.weights}),
    B.handed("α of equal weights", "form", "alpha:stale", "alpha:second_stage",
             of=lambda s, d: parts(s, "w") | parts(machine(d, np.full(5, 0.2), {"C": 4.0}), "ab")),
    B.handed("largest weight one", "form", "weights:scale",
             of=lambda s, d: parts(s, "ab") | {"weights": s.weights / s.weights.max()}),
    A.handed("weights of kernels in reverse", "form", "weights:order",
             of=lambda s, d: parts(s, "ao") | {"weights": s.weights[::-1].copy()}),
    A.handed("norms in place of weights", "form", "weights:norms", "weights:scale",
             of=lambda s, d: parts(s, "ab") | {"weights": s.norms}),
    B.handed("roots of the weights", "form", "weights:power", of=lambda s, d: {"weights": np.sqrt(s.weights)}),
    B.handed("weights below 0.15 set to zero", "form", "weights:cut",
             of=lambda s, d: parts(s, "ab") | {"weights": np.where(s.weights < 0.15, 0, s.weights)}),
    A.handed("equal weights beside the rest", "form", "weights:uniform", "weights:stale",
             of=lambda s, d: parts(s, "abo") | {"weights": np.full(4, 0.25)}),
    B.handed("five updates of the weights", "accuracy", "accuracy:early", of=lambda s, d: only("wab", updates(B, 5))),
    A.handed("two decimals", "accuracy", "accuracy:decimals",
             of=lambda s, d: {k: np.round(v, 2) for k, v in parts(s, "wab").items()}),
    B.handed("minus the value", "objective", "objective:sign",
             of=lambda s, d: parts(s, "wab") | {"objective": -s.objective}),
    A.handed("the value over n", "objective", "objective:units",
             of=lambda s, d: parts(s, "w") | {"objective": s.objective / 36}),
    B.handed("the value over C, alone", "objective", "objective:units",
             of=lambda s, d: {"objective": s.objective / 4.0}),
    A.handed("the slacks alone as value", "objective", "objective:terms", "objective:value",
             of=lambda s, d: parts(s, "wab") | {"objective": s.objective - s.norms.sum() ** 2 / 2}),
    B.handed("q in place of ½q in the value", "objective", "objective:terms", "objective:value",
             of=lambda s, d: parts(s, "wab") | {"objective": s.alpha.sum() - s.norms.sum() ** 2}),
    B.handed("minus the bias", "bias", "bias:sign", "labels:swapped",
             of=lambda s, d: parts(s, "wa") | {"bias": -s.bias}),
    B.handed("no bias handed over", "bias", "bias:missing", of=lambda s, d: parts(s, "wa") | {"bias": 0.0}),
    A.handed("bias of all support vectors", "bias", "bias:value",
             of=lambda s, d: parts(s, "wa") | {"bias": all_support_bias(s, d)}),
    A.handed("coefficients without labels", "form", "coefficients:sign",
             of=lambda s, d: parts(s, "wb") | {"coefficients": s.weights[:, None] * s.alpha}),
    B.handed("coefficients without weights", "form", "coefficients:weights",
             of=lambda s, d: {"coefficients": np.tile(s.alpha * s.y, (5, 1)), "bias": s.bias}),
    A.handed("weights twice in the coefficients", "form", "coefficients:weights",
             of=lambda s, d: parts(s, "wab") | {"coefficients": s.weights[:, None] * coefficients(s)}),
    # Balls.
    ROUND.handed("weights in proportion to the norms", "form", "weights:rule", "weights:power", "weights:norms",
                 of=lambda s, d: parts(s, "ab") | {"weights": s.norms / np.linalg.norm(s.norms)}),
    ROUND.handed("weights that sum to one", "form", "weights:scale",
                 of=lambda s, d: parts(s, "a") | {"weights": s.weights / s.weights.sum()}),
    ROUND.other("C of 0.6", "parameter", "parameter:C", hand="wao", C=0.6),
    FEW.other("p of its conjugate", "parameter", "parameter:p", p=1.4 / 0.4),
    FEW.other("the simplex", "formulation", "formulation:l1", "parameter:p", formulation="l1", drop=("p",)),
    FEW.other("p of 2.2, α and bias", "parameter", "parameter:p", hand="ab", p=2.2),
    # The form with ν.
    NU.other("ν of 0.2", "parameter", "parameter:nu", hand="wa", nu=0.2),
    NU.other("C = 1/(νn) with margin 1", "loss", "loss:hinge", drop=("nu",), C=1 / (0.35 * 38)),
    NU.handed("α that sums to νn", "form", "alpha:scale",
              of=lambda s, d: parts(s, "w") | {"alpha": s.alpha * 0.35 * 38}),
    NU2.other("no bias", "bias", "bias_term:omitted", hand="wa", bias=False),
    NU2.handed("minus the value", "objective", "objective:sign",
               of=lambda s, d: parts(s, "wa") | {"objective": -s.objective}),
    NU2.other("the simplex", "formulation", "formulation:l1", formulation="l1", hand="wa"),
    # Smooth relatives.
    SQUARED.other("no ½ before squares", "parameter", "parameter:C", C=1.8),
    SQUARED.other("plain slacks", "loss", "loss:hinge", loss="hinge", hand="wb"),
    SQUARED.handed("α with half of the slack", "form", "alpha:scale",
                   of=lambda s, d: parts(s, "wb") | {"alpha": s.alpha / 2}),
    SMOOTH.other("the width as it is by default", "parameter", "parameter:width", width=1.0),
    SMOOTH.other("no width", "loss", "loss:hinge", "parameter:width", hand="wab", drop=("width",), loss="hinge"),
    SMOOTH.other("C divided by the width", "parameter", "parameter:C", hand="wa", C=5.0),
    LOGIT.other("logarithms to the base 2", "parameter", "parameter:C", hand="wao", C=1.7 / np.log(2)),
    LOGIT.other("hinge loss", "loss", "loss:hinge", hand="w", loss="hinge"),
    LOGIT.handed("probabilities for α", "form", "alpha:scale",
                 of=lambda s, d: parts(s, "wb") | {"alpha": s.alpha / 1.7}),
    LOGIT.other("kernels divided by n", "kernels", "kernels:scale", ("parameter:C", "alpha:scale"), hand="wa",
                change=times(1 / 40)),
    LOGIT.handed("the dual's entropy left out", "objective", "objective:terms", "objective:value",
                 of=lambda s, d: parts(s, "wa") | {"objective": s.norms.sum() ** 2 / 2}),
    LOGIT_FREE.handed("labels 0 and 1", "labels", "labels:zero_one", of=lambda s, d: positives_alone(LOGIT_FREE)),
    LOGIT_FREE.other("a bias in addition", "bias", "bias_term:added", hand="wa", bias=True),
]  # fmt: skip
