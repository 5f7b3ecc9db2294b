"""Wrong answers for labels: fixed weights and `l1` with the hinge loss, its form with ν, and its smooth relatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from blind_tools import (
    Answer,
    Data,
    Wrong,
    all_kernels,
    centred,
    each_kernel,
    parts,
    target,
    trace_n,
    using,
    without,
)
from second_tools import some, spread
from third_tools import (
    after,
    at_weights,
    by,
    charges,
    hand,
    minus,
    one_kernel,
    problem,
    signs,
    times_y,
    to_length_one,
    to_sum_one,
    updates,
)

import mklcvx

PLAIN = problem(signs(1, 42, "bdc"), "sum", C=0.8)
FEW = problem(signs(2, 27, "vea"), "sum", C=3.0)
NO_BIAS = problem(signs(3, 36, "dqe"), "sum", C=1.2, bias=False)
MEAN = problem(signs(4, 40, "bvdce"), "average", C=2.5)
L1 = problem(signs(122, 48, "vdqav"), "l1", C=1.7)
L1_SMALL = problem(signs(118, 29, "dvaq"), "l1", C=0.6)
NU = problem(signs(115, 44, "bdvc"), "l1", nu=0.45)
NU_LP = problem(signs(8, 36, "evd"), "lp", nu=0.3, p=1.7)
SQUARED = problem(signs(9, 39, "bvdce"), "lp", loss="squared_hinge", C=0.9, p=1.6)
SMOOTH = problem(signs(10, 35, "dvb"), "l2", loss="smoothed_hinge", C=1.4, width=0.4)
LOGIT = problem(signs(11, 46, "cdve"), "elastic", loss="logistic", C=3.5, l1_ratio=0.6)
PRICED = problem(signs(12, 40, "dvce", sample_weight=charges(12, 40)), "l2", C=1.1)


def penalised(data: Data) -> Data:
    """A bias that is penalised is one more kernel, of ones."""
    return data | {"kernels": np.concatenate([data["kernels"], np.ones((1, *data["kernels"].shape[1:]))])}


def sum_of_beta(_: float, found: mklcvx.Solution) -> float:
    return float(np.sum(found.alpha * found.y))


def of_support_vectors(found: mklcvx.Solution, data: Data) -> Answer:
    """The bias as a mean over all support vectors, those at the bound included."""
    outputs = np.einsum("m,mij,j->i", found.weights, data["kernels"], found.alpha * found.y)
    seen = found.alpha > 1e-6
    return parts(found, "wa") | {"bias": float(np.mean((data["y"] - outputs)[seen]))}


def by_class(found: mklcvx.Solution, data: Data) -> Answer:
    """α in the order of LIBSVM, which takes one class after the other."""
    return parts(found, "wab") | {"alpha": found.alpha[np.argsort(-data["y"], kind="stable")]}


def product(data: Data) -> Data:
    return data | {"kernels": np.prod(data["kernels"], axis=0)[None]}


def stale(found: mklcvx.Solution, data: Data) -> Answer:
    """α and b of the start, with the weights of the end."""
    count = len(data["kernels"])
    return at_weights(L1, np.full(count, 1 / count), "ab") | {"weights": found.weights}


def too_few(found: mklcvx.Solution, _: Data) -> Answer:
    return {"alpha": found.alpha[found.alpha > 1e-7], "bias": found.bias, "weights": found.weights}


def flip(places: tuple[int, ...]) -> Callable[[Data], Data]:
    return target(lambda y: np.where(np.isin(np.arange(len(y)), places), -y, y))


KEPT = np.arange(42) < 34
WRONG: list[Wrong] = [
    # fixed weights
    PLAIN.other("the mean of the losses", "parameter", "parameter:C", hand="ab", C=0.8 / 42),
    PLAIN.other("traces made n", "kernels", "kernels:trace", hand="ab", change=each_kernel(trace_n)),
    PLAIN.other("the bias is penalised", "bias", "bias_term:penalised", hand="ab", change=penalised, bias=False,
                after=after(bias=sum_of_beta)),
    PLAIN.other("the last samples were for testing", "samples", "samples:dropped", hand="ab", change=some(KEPT),
                after=spread(KEPT)),
    PLAIN.handed("b is a mean over all support vectors", "form", "bias:value", of=of_support_vectors),
    PLAIN.other("three labels are wrong", "labels", "labels:misread", hand="abo", change=flip((3, 17, 30))),
    FEW.other("kernels are multiplied", "kernels", "kernels:product", hand="ab", change=product),
    FEW.other("a jitter of a tenth on the diagonals", "kernels", "kernels:ridge", hand="abo",
              change=each_kernel(lambda k: k + 0.1 * np.eye(len(k)))),
    FEW.handed("α as LIBSVM orders it", "form", "alpha:order", of=by_class),
    NO_BIAS.other("kernels are centred", "kernels", "kernels:centred", hand="a", change=each_kernel(centred)),
    NO_BIAS.other("with a bias", "bias", "bias_term:added", hand="ab", bias=True),
    NO_BIAS.other("γ twice as large: entries squared", "kernels", "kernels:power", hand="a",
                  change=each_kernel(np.square)),
    NO_BIAS.handed("f of α without labels", "form", "coefficients:sign",
                   of=lambda s, _: {"coefficients": s.weights[:, None] * s.alpha}),
    MEAN.other("the sum of the kernels", "formulation", "formulation:sum", "kernels:scale",
               ("parameter:C", "alpha:scale"), hand="ab", formulation="sum"),
    MEAN.other("a kernel is forgotten, and M is what it was", "kernels", "kernels:dropped", hand="ab",
               change=all_kernels(lambda k: without(k, 2))),
    # l1
    L1.handed("weights of unit length", "form", "weights:scale", of=hand("wab", weights=to_length_one)),
    L1.handed("α with the labels' signs", "form", "alpha:sign", of=hand("wab", alpha=times_y)),
    L1.handed("rho of LIBSVM for b", "form", "bias:sign", "labels:swapped", of=hand("wab", bias=minus)),
    L1.handed("weights of the end, α of the start", "iterate", "alpha:stale", of=stale),
    L1.handed("the start for the weights", "form", "weights:uniform", "weights:stale",
              of=hand("wab", weights=lambda w, _: np.full(len(w), 1 / len(w)))),
    L1.other("nothing is learned", "formulation", "formulation:average", "kernels:average", hand="wab",
             formulation="average"),
    # With A = Σ‖f_m‖, λΣ‖f_m‖ has f of l1 at C·A/λ, and α of l1 on kernels times A/λ.
    L1.other("norms are not squared", "formulation", "norms:unsquared", "formulation:group_lasso", "kernels:scale",
             ("parameter:C", "alpha:scale"), hand="wab", formulation="group_lasso", lam=1.0,
             after=after(weights=to_sum_one)),
    L1.handed("eight rounds of the analytic update", "iterate", "accuracy:early",
              of=lambda s, d: at_weights(L1, updates(L1, 8, 1, 1))),
    L1.other("the penalty without its ½", "kernels", "kernels:scale", ("parameter:C", "alpha:scale"), hand="wab",
             change=each_kernel(lambda k: k / 2)),
    L1_SMALL.other("half of C", "parameter", "parameter:C", "kernels:scale", hand="wb", C=0.3),
    L1_SMALL.handed("b is forgotten", "form", "bias:missing", of=hand("wab", bias=by(0.0))),
    L1_SMALL.handed("two decimals", "accuracy", "accuracy:decimals",
                    of=lambda s, _: {k: np.round(v, 2) for k, v in parts(s, "wab").items()}),
    L1_SMALL.handed("α of the support vectors alone", "form", "alpha:support", of=too_few),
    # the form with ν
    NU.other("C = 1/(νn) with the margin 1", "loss", "loss:hinge", hand="wab", drop=("nu",), C=1 / (0.45 * 44)),
    NU.handed("α sums to νn", "form", "alpha:scale", of=hand("wab", alpha=by(0.45 * 44))),
    # smooth relatives
    SQUARED.other("the loss without its ½", "parameter", "parameter:C", hand="wab", C=1.8),
    SQUARED.other("plain hinge", "loss", "loss:hinge", hand="wab", loss="hinge"),
    SMOOTH.other("squared hinge", "loss", "loss:squared_hinge", hand="wab", loss="squared_hinge", drop=("width",)),
    SMOOTH.other("entries of one kernel rooted", "kernels", "kernels:power", hand="wab",
                 change=one_kernel(1, np.sqrt)),
    LOGIT.other("smoothed hinge", "loss", "loss:smoothed_hinge", "loss:squared_hinge", hand="wabo",
                loss="smoothed_hinge"),  # no margin is negative: the width of 1 is all that is seen
    LOGIT.handed("small α set to zero", "form", "alpha:clipped",
                 of=hand("wab", alpha=lambda a, _: np.where(a < 0.1 * a.max(), 0.0, a))),
    # prices of samples
    PRICED.other("all samples count alike", "samples", "sample_weight:ignored", hand="wab",
                 change=using(sample_weight=None)),
    PRICED.other("prices sum to one", "samples", "sample_weight:normalised", "parameter:C", hand="wab",
                 change=lambda d: d | {"sample_weight": d["sample_weight"] / d["sample_weight"].sum()}),
    PRICED.other("prices of other samples", "samples", "sample_weight:order", hand="wab",
                 change=lambda d: d | {"sample_weight": d["sample_weight"][::-1]}),
]  # fmt: skip
