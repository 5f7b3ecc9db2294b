"""Single tasks with the hinge: mistakes in kernels, regularisers, weights, α, bias and value."""

from __future__ import annotations

import numpy as np
from blind_tools import (
    Problem,
    Wrong,
    all_kernels,
    coefficients,
    copied,
    cosine,
    each_kernel,
    frobenius,
    labels,
    laplacian,
    machine,
    parts,
    quadratics,
    sample_prices,
    spectral,
    target,
    trace_n,
    unit_trace,
    using,
    variance,
    without,
)

SINGLE = "single task"
GROUPS, OTHER_GROUPS = [0, 0, 1, 1, 2], [0, 1, 1, 2, 2]


def problem(formulation: str, seed: int, count: int = 4, **parameters: object) -> Problem:
    grouped = {"groups": GROUPS} if formulation in ("ckl", "vskl") else {}
    data = labels(seed, 40, 5 if grouped else count, **grouped)
    return Problem(SINGLE, data, formulation, {"C": 0.4, **parameters})


SUM, AVERAGE = problem("sum", 11), problem("average", 12, C=1.0)
L1, L1_OPEN = problem("l1", 13, C=2.0), problem("l1", 14, C=2.0, bias=False)
SM1, SM2, SMP = (
    problem("sm1", 13, C=2.0, theta=0.35),
    problem("sm2", 14, C=1.0, theta=0.1),
    problem("smp", 17, theta=0.7, p=3.0),
)
SQUARE, L2, LP = problem("square", 18, theta=0.4), problem("l2", 19, 5), problem("lp", 20, p=3.0)
ELASTIC, BLOCK = problem("elastic", 21, l1_ratio=0.7), problem("block_elastic", 22, l1_ratio=0.3)
LASSO, LI = problem("group_lasso", 23, lam=1.5), problem("li", 24, C=0.1)
CKL, VSKL = problem("ckl", 25, C=0.2), problem("vskl", 26, s=3.0)

STIFF = problem("sum", 11, C=8.0), problem("average", 12, C=10.0), problem("l1", 13, C=30.0)
ROUGH = L2._replace(data=each_kernel(lambda k: k + 0.3 * np.eye(len(k)))(L2.data))

KERNELS = [
    SUM.other(
        "a kernel left out, α alone",
        "kernels, α alone",
        "kernels:dropped",
        hand="a",
        change=all_kernels(lambda k: without(k, 1)),
    ),
    SUM.other("entries squared", "kernels, α alone", "kernels:power", hand="ab", change=each_kernel(np.square)),
    SUM.other("K² in place of K", "kernels, α alone", "kernels:power", hand="a", change=each_kernel(lambda k: k @ k)),
    SUM.other("entries rooted", "kernels, α alone", "kernels:power", hand="a", change=each_kernel(np.sqrt)),
    SUM.other(
        "the weights averaged",
        "formulation",
        "formulation:average",
        "kernels:average",
        "kernels:scale",
        hand="ab",
        formulation="average",
    ),
    SUM.other(
        "half a unit on every diagonal",
        "kernels",
        "kernels:ridge",
        "loss:smoothed_hinge",
        hand="abo",
        change=each_kernel(lambda k: k + 0.5 * np.eye(len(k))),
    ),
    STIFF[0].other(
        "kernels divided by n", "kernels", "kernels:scale", hand="abo", change=each_kernel(lambda k: k / len(k))
    ),
    AVERAGE.other(
        "the first kernel alone",
        "kernels, α alone",
        "kernels:one",
        hand="a",
        change=all_kernels(lambda k: np.stack([k[0]] * len(k))),
    ),
    AVERAGE.other(
        "products in place of sums",
        "kernels, α alone",
        "kernels:product",
        hand="a",
        change=all_kernels(lambda k: np.stack([k.prod(axis=0)] * len(k))),
    ),
    AVERAGE.other(
        "Laplacians of the similarities", "Laplacians", "kernels:distance", hand="ab", change=each_kernel(laplacian)
    ),
    AVERAGE.other(
        "one kernel copied over another",
        "kernels, α alone",
        "kernels:copied",
        hand="ab",
        change=all_kernels(lambda k: copied(k, 0, 2)),
    ),
    AVERAGE.other(
        "the kernels summed, not averaged",
        "formulation",
        "formulation:sum",
        "kernels:scale",
        "kernels:average",
        hand="abo",
        formulation="sum",
    ),
    STIFF[1].other("unit spectral norms", "kernels", "kernels:frobenius", hand="ab", change=each_kernel(spectral)),
    L1.other("unit diagonals", "kernels", "kernels:cosine", hand="wabo", change=each_kernel(cosine)),
    STIFF[2].other("unit traces", "kernels", "kernels:trace", hand="ab", change=each_kernel(unit_trace)),
    L1.other("traces n, weights and value", "kernels", "kernels:trace", hand="wo", change=each_kernel(trace_n)),
    STIFF[2].other("unit Frobenius norms", "kernels", "kernels:frobenius", hand="wa", change=each_kernel(frobenius)),
    L1.other(
        "unit variances without centring", "kernels", "kernels:variance", hand="wab", change=each_kernel(variance)
    ),
    L1.other(
        "one kernel's samples in another order",
        "kernels",
        "kernels:order",
        hand="wab",
        change=all_kernels(lambda k: np.stack([k[0][::-1, ::-1], *k[1:]])),
    ),
    L1.other(
        "a factor ½ missing in the penalty", "kernels", "kernels:scale", hand="abo", change=each_kernel(lambda k: k / 2)
    ),
    L1_OPEN.other(
        "one added to every entry",
        "kernels",
        "kernels:shifted",
        "bias_term:penalised",
        hand="wa",
        change=each_kernel(lambda k: k + 1),
    ),
    L2.other(
        "a kernel left out, α alone",
        "kernels, α alone",
        "kernels:dropped",
        hand="a",
        change=all_kernels(lambda k: without(k, 2)),
    ),
    L2.other(
        "a kernel twice, α alone",
        "kernels, α alone",
        "kernels:copied",
        hand="a",
        change=all_kernels(lambda k: copied(k, 1, 2)),
    ),
    ROUGH.other(
        "kernels of two decimals",
        "kernels",
        "kernels:rounded",
        hand="wab",
        change=each_kernel(lambda k: np.round(k, 2)),
    ),
    LP.other(
        "kernels squared entrywise, α alone",
        "kernels, α alone",
        "kernels:power",
        hand="a",
        change=each_kernel(np.square),
    ),
]

SAMPLES = [
    L2.other(
        "five samples left out",
        "labels",
        "samples:dropped",
        hand="ab",
        change=using(sample_weight=np.r_[np.ones(35), np.full(5, 1e-9)]),
        after=lambda found, answer: answer | {"alpha": np.r_[answer["alpha"][:35], np.zeros(5)]},
    ),
    L2.other(
        "four labels misread", "labels", "labels:misread", hand="wab", change=target(lambda y: np.r_[-y[:4], y[4:]])
    ),
    L2.other(
        "classes swapped",
        "labels",
        "labels:swapped",
        "coefficients:sign",
        ("coefficients:sign", "bias:sign"),
        hand="wbc",
        change=target(np.negative),
    ),
    L2.other(
        "labels one place further", "labels", "labels:permuted", hand="wab", change=target(lambda y: np.roll(y, 1))
    ),
    SM2.other("labels reversed", "labels", "labels:permuted", hand="wa", change=target(lambda y: y[::-1].copy())),
]
WEIGHTED = [problem(f, seed) for f, seed in (("l1", 31), ("l2", 32), ("sm2", 33))]
PRICED = [p._replace(data=p.data | {"sample_weight": sample_prices()}) for p in WEIGHTED]
ASYMMETRIC = WEIGHTED[1]._replace(data=WEIGHTED[1].data | {"class_weight": {1: 2.0, -1: 0.5}})
SAMPLES += [
    PRICED[0].other(
        "sample weights ignored", "sample weights", "sample_weight:ignored", change=using(sample_weight=None)
    ),
    PRICED[1].other(
        "sample weights that sum to one",
        "sample weights",
        "sample_weight:normalised",
        "parameter:C",
        hand="wabo",
        change=using(sample_weight=sample_prices() / sample_prices().sum()),
    ),
    PRICED[1].other(
        "sample weights divided by the largest",
        "sample weights",
        "sample_weight:normalised",
        "parameter:C",
        hand="ab",
        change=using(sample_weight=sample_prices() / sample_prices().max()),
    ),
    PRICED[0].other(
        "sample weights squared",
        "sample weights",
        "sample_weight:squared",
        hand="wab",
        change=using(sample_weight=sample_prices() ** 2),
    ),
    PRICED[2].other(
        "roots of sample weights",
        "sample weights",
        "sample_weight:squared",
        hand="wab",
        change=using(sample_weight=np.sqrt(sample_prices())),
    ),
    WEIGHTED[0].other(
        "balanced classes unasked",
        "sample weights",
        "sample_weight:balanced",
        hand="wab",
        change=using(class_weight="balanced"),
    ),
    PRICED[2].other(
        "balanced classes in place of weights",
        "sample weights",
        "sample_weight:balanced",
        ("sample_weight:ignored", "sample_weight:balanced"),
        hand="ab",
        change=using(sample_weight=None, class_weight="balanced"),
    ),
    ASYMMETRIC.other(
        "weights of the other class",
        "sample weights",
        "sample_weight:swapped",
        hand="wab",
        change=using(class_weight={1: 0.5, -1: 2.0}),
    ),
]

BIAS = [
    L1.other("no bias", "bias", "bias_term:omitted", hand="wa", bias=False),
    L1_OPEN.other("a bias", "bias", "bias_term:added", hand="wao", bias=True),
    SM2.other("no bias, α alone", "bias", "bias_term:omitted", hand="a", bias=False),
    L1.other(
        "the bias penalised",
        "bias",
        "bias_term:penalised",
        ("kernels:shifted", "bias_term:omitted"),
        hand="wa",
        change=each_kernel(lambda k: k + 1),
        bias=False,
        after=lambda found, answer: answer | {"bias": float(found.alpha @ found.y)},
    ),
    L1.handed(
        "minus the bias",
        "bias",
        "bias:sign",
        "labels:swapped",
        of=lambda s, _: parts(s, "wa") | {"bias": -float(s.bias)},
    ),
    L2.handed("bias zero", "bias", "bias:missing", of=lambda s, _: parts(s, "wa") | {"bias": 0.0}),
    L1.handed(
        "the bias a mean over all support vectors",
        "bias",
        "bias:value",
        of=lambda s, d: parts(s, "wa") | {"bias": _mean_bias(s, d)},
    ),
]


def _mean_bias(s, d) -> float:
    f = np.tensordot(s.weights, d["kernels"], 1) @ (s.alpha * s.y)
    used = s.alpha > 1e-6
    return float(np.mean(s.y[used] - f[used]))


def _second(s, d, **parameters):
    return machine(d, np.full(len(s.weights), 1 / len(s.weights)), parameters)


def _earlier(s, d):
    """One step of SimpleMKL's kind from uniform weights, then a machine."""
    first = _second(s, d, C=2.0)
    norms = np.sqrt(quadratics(d, first.alpha * first.y))
    return machine(d, norms / norms.sum(), {"C": 2.0})


ALPHA = [
    L1.handed(
        "α of uniform weights",
        "α of an earlier iterate",
        "alpha:stale",
        "parts:apart",
        of=lambda s, d: parts(s, "w") | parts(_second(s, d, C=2.0), "a"),
    ),
    L1.handed(
        "α of the first iterate",
        "α of an earlier iterate",
        "alpha:stale",
        "parts:apart",
        of=lambda s, d: parts(s, "wo") | parts(_earlier(s, d), "a"),
    ),
    L1.handed(
        "α and bias of the first iterate, alone",
        "α of an earlier iterate",
        "alpha:stale",
        "kernels:average",
        "formulation:average",
        of=lambda s, d: parts(_second(s, d, C=2.0), "ab"),
    ),
    L1.handed("α∘y", "form of α", "alpha:sign", of=lambda s, _: parts(s, "w") | {"alpha": s.alpha * s.y}),
    L1.handed(
        "α in units of C", "scaled or clipped α", "alpha:scale", of=lambda s, _: parts(s, "wb") | {"alpha": s.alpha / 2}
    ),
    L2.handed(
        "α that sums to one", "scaled or clipped α", "alpha:scale", of=lambda s, _: {"alpha": s.alpha / s.alpha.sum()}
    ),
    L1.handed(
        "α cut at half of C",
        "scaled or clipped α",
        "alpha:clipped",
        of=lambda s, _: parts(s, "w") | {"alpha": np.minimum(s.alpha, 1.0)},
    ),
    SM2.handed(
        "small α set to zero",
        "scaled or clipped α",
        "alpha:clipped",
        of=lambda s, _: parts(s, "wb") | {"alpha": np.where(s.alpha < 0.3, 0.0, s.alpha)},
    ),
    LP.handed(
        "α of reversed samples",
        "form of α",
        "alpha:order",
        of=lambda s, _: parts(s, "w") | {"alpha": s.alpha[::-1].copy()},
    ),
    L2.handed(
        "support vectors' α alone",
        "form of α",
        "alpha:support",
        of=lambda s, _: parts(s, "w") | {"alpha": s.alpha[s.alpha > 1e-6]},
    ),
    L2.handed(
        "coefficients without weights",
        "form of α",
        "coefficients:weights",
        of=lambda s, _: parts(s, "wb") | {"coefficients": np.tile(s.alpha * s.y, (len(s.weights), 1))},
    ),
    L2.handed(
        "coefficients without signs",
        "form of α",
        "coefficients:sign",
        of=lambda s, _: parts(s, "b") | {"coefficients": coefficients(s) * s.y},
    ),
    L1.other(
        "stopped early: two decimals",
        "accuracy",
        "accuracy:decimals",
        "accuracy:early",
        hand="wab",
        after=lambda s, a: {k: np.round(v, 2) for k, v in a.items()},
    ),
]

OBJECTIVE = [
    L1.handed(
        "a maximum minimised", "value", "objective:sign", of=lambda s, _: parts(s, "wa") | {"objective": -s.objective}
    ),
    L2.handed(
        "twice the value",
        "value",
        "objective:factor",
        "objective:terms",
        of=lambda s, _: parts(s, "w") | {"objective": 2 * s.objective},
    ),
    L2.handed(
        "per sample", "value", "objective:units", of=lambda s, _: parts(s, "wab") | {"objective": s.objective / 40}
    ),
    L1.handed(
        "divided by C",
        "value",
        "objective:units",
        "objective:factor",
        of=lambda s, _: parts(s, "wab") | {"objective": s.objective / 2},
    ),
    L1.handed(
        "no ½ before the quadratic term",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: parts(s, "wa") | {"objective": float(s.alpha.sum() - quadratics(d, s.alpha * s.y).max())},
    ),
    L1.handed(
        "the risk is missing",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: parts(s, "wab") | {"objective": float(quadratics(d, s.alpha * s.y).max() / 2)},
    ),
    SM2.handed(
        "the penalty on weights is missing",
        "objective's terms",
        "objective:terms",
        of=lambda s, _: parts(s, "wab") | {"objective": s.objective - float(s.weights @ s.weights) / (2 * 0.1)},
    ),
    VSKL.handed(
        "no ½ before the penalty",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: parts(s, "wab") | {"objective": s.objective + (float(s.alpha.sum()) - s.objective)},
    ),
    SM2.handed(
        "the sum of α",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: parts(s, "wa") | {"objective": float(s.alpha.sum())},
    ),
]

LIST: list[Wrong] = [*KERNELS, *SAMPLES, *BIAS, *ALPHA, *OBJECTIVE]
