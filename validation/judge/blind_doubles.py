"""Two mistakes at once."""

from __future__ import annotations

import numpy as np
from blind_families import ALIGNMENT, GRAPH, SMOOTH, TS, WORST
from blind_families import SUM as ML_SUM
from blind_losses import CRAMMER, HINGE, HUBER, LOGISTIC, NU, SQUARED_HINGE, SQUARED_OPEN, TUBE
from blind_single import BLOCK, CKL, ELASTIC, L1, L2, LASSO, LI, LP, OTHER_GROUPS, PRICED, SM1, SM2, SQUARE, VSKL
from blind_tools import Wrong, centred, cosine, each_kernel, parts, target, trace_n, unit_trace, using

R = ELASTIC.parameters["l1_ratio"]
RISE = (np.sqrt(R**2 + 2 * (1 - R)) - R) / (1 - R)  # rc + (1 − r)c²/2 = 1

PROBLEMS = [
    L1.other(
        "C and unit diagonals",
        "C × normalisation",
        ("parameter:C", "kernels:cosine"),
        hand="wab",
        change=each_kernel(cosine),
        C=5.0,
    ),
    L1.other(
        "traces n and no bias",
        "bias × normalisation",
        ("kernels:trace", "bias_term:omitted"),
        hand="wa",
        change=each_kernel(trace_n),
        bias=False,
    ),
    L2.other(
        "C and traces n",
        "C × normalisation",
        ("parameter:C", "kernels:trace"),
        hand="wabo",
        change=each_kernel(trace_n),
        C=1.3,
    ),
    L2.other("l1 and C", "C × formulation", ("formulation:l1", "parameter:C"), hand="wab", formulation="l1", C=0.8),
    L1.other(
        "l2 and no bias",
        "bias × formulation",
        ("formulation:l2", "bias_term:omitted"),
        hand="wa",
        formulation="l2",
        bias=False,
    ),
    L1.other(
        "the average and C",
        "C × formulation",
        ("formulation:average", "parameter:C"),
        ("kernels:average", "parameter:C"),
        hand="abo",
        formulation="average",
        C=1.0,
    ),
    SM1.other("θ and C", "two parameters", ("parameter:theta", "parameter:C"), hand="wab", theta=0.3, C=1.0),
    LP.other(
        "p and unit diagonals",
        "parameter × normalisation",
        ("parameter:p", "kernels:cosine"),
        hand="wab",
        change=each_kernel(cosine),
        p=1.5,
    ),
    SM2.other(
        "l1 and unit diagonals",
        "formulation × normalisation",
        ("formulation:l1", "kernels:cosine"),
        hand="wab",
        formulation="l1",
        drop=("theta",),
        change=each_kernel(cosine),
    ),
    ELASTIC.other(
        "shares the other way round, no bias",
        "bias × parameter",
        ("parameter:l1_ratio", "bias_term:omitted"),
        hand="wa",
        l1_ratio=0.3,
        bias=False,
    ),
    ELASTIC.other(
        "½ before the square of weights",
        "parameter × scale",
        ("parameter:l1_ratio", "kernels:scale"),
        hand="ab",
        l1_ratio=R * RISE,
        change=each_kernel(lambda k: RISE * k),
    ),
    BLOCK.other(
        "net on weights, no bias",
        "bias × formulation",
        ("formulation:elastic", "bias_term:omitted"),
        hand="wa",
        formulation="elastic",
        bias=False,
    ),
    HINGE[0].other(
        "logistic loss and C", "C × loss", ("loss:logistic", "parameter:C"), hand="wab", loss="logistic", C=1.5
    ),
    HINGE[1].other(
        "squared hinge and no bias",
        "bias × loss",
        ("loss:squared_hinge", "bias_term:omitted"),
        hand="wa",
        loss="squared_hinge",
        bias=False,
    ),
    HINGE[3].other(
        "squared hinge and l2",
        "formulation × loss",
        ("loss:squared_hinge", "formulation:l2"),
        ("loss:squared_hinge", "parameter:l1_ratio"),
        hand="wab",
        loss="squared_hinge",
        formulation="l2",
    ),
    SQUARED_HINGE.other(
        "hinge on unit diagonals",
        "loss × normalisation",
        ("loss:hinge", "kernels:cosine"),
        hand="wab",
        loss="hinge",
        change=each_kernel(cosine),
    ),
    LOGISTIC.other(
        "l1 and C", "C × formulation", ("formulation:l1", "parameter:C"), hand="wab", formulation="l1", C=4.0
    ),
    SQUARED_OPEN.other(
        "C and the response doubled",
        "C × targets",
        ("parameter:C", "labels:scaled"),
        ("parameter:C", "alpha:scale"),
        hand="wa",
        C=1.0,
        change=target(lambda r: 2 * r),
    ),
    TUBE.other("ε and C", "two parameters", ("parameter:epsilon", "parameter:C"), hand="wab", epsilon=0.15, C=0.3),
    HUBER.other(
        "δ and unit diagonals",
        "parameter × normalisation",
        ("parameter:delta", "kernels:cosine"),
        hand="wab",
        delta=0.3,
        change=each_kernel(cosine),
    ),
    CKL.other(
        "other groups and C",
        "C × groups",
        ("groups:other", "parameter:C"),
        hand="wab",
        change=using(groups=OTHER_GROUPS),
        C=0.3,
    ),
    VSKL.other("s and no bias", "bias × parameter", ("parameter:s", "bias_term:omitted"), hand="wa", s=2.0, bias=False),
    LASSO.other(
        "λ and unit diagonals",
        "parameter × normalisation",
        ("parameter:lam", "kernels:cosine"),
        hand="wab",
        lam=2.0,
        change=each_kernel(cosine),
    ),
    SQUARE.other(
        "θ and no bias", "bias × parameter", ("parameter:theta", "bias_term:omitted"), hand="wa", theta=0.8, bias=False
    ),
    PRICED[0].other(
        "sample weights ignored, no bias",
        "bias × sample weights",
        ("sample_weight:ignored", "bias_term:omitted"),
        hand="wa",
        change=using(sample_weight=None),
        bias=False,
    ),
    PRICED[1].other(
        "sample weights squared, l1",
        "formulation × sample weights",
        ("sample_weight:squared", "formulation:l1"),
        hand="wab",
        change=using(sample_weight=PRICED[1].data["sample_weight"] ** 2),
        formulation="l1",
    ),
    ML_SUM.other(
        "C and unit diagonals",
        "C × normalisation",
        ("parameter:C", "kernels:cosine"),
        hand="wa",
        C=1.5,
        change=each_kernel(cosine),
    ),
    WORST.other(
        "the sum of losses, C",
        "C × formulation",
        ("formulation:ml_sum", "parameter:C"),
        hand="wa",
        formulation="ml_sum",
        C=1.4,
    ),
    CRAMMER.other("softmax and C", "C × loss", ("loss:softmax", "parameter:C"), hand="wab", loss="softmax", C=2.0),
    TS.other(
        "λ and balanced pairs",
        "two parameters",
        ("parameter:lam", "parameter:balanced"),
        hand="wo",
        lam=0.1,
        balanced=True,
    ),
    TS.other(
        "λ and unit diagonals",
        "parameter × normalisation",
        ("parameter:lam", "kernels:cosine"),
        hand="wo",
        lam=0.1,
        change=each_kernel(cosine),
    ),
    ALIGNMENT.other(
        "kernels centred, own alignments",
        "rule × normalisation",
        ("weights:rule", "kernels:centred"),
        hand="wo",
        approximate=True,
        change=each_kernel(centred),
    ),
    GRAPH.other(
        "expansion and λ",
        "two parameters",
        ("parameter:expansion", "parameter:lam"),
        ("parameter:expansion", "kernels:scale"),
        hand="wo",
        expansion="zhou",
        lam=3.0,
    ),
    SMOOTH.other(
        "unsmoothed, unit traces",
        "formulation × normalisation",
        ("formulation:hypergraph", "kernels:trace"),
        ("parameter:smoothing", "kernels:trace"),
        hand="wo",
        formulation="hypergraph",
        drop=("smoothing",),
        change=each_kernel(unit_trace),
    ),
]

FORMS = [
    L1.handed(
        "α∘y and minus the bias",
        "two forms",
        ("alpha:sign", "bias:sign"),
        of=lambda s, _: parts(s, "w") | {"alpha": s.alpha * s.y, "bias": -float(s.bias)},
    ),
    L2.handed(
        "weights that sum to one, α in units of C",
        "two forms",
        ("weights:scale", "alpha:scale"),
        of=lambda s, _: {"weights": s.weights / s.weights.sum(), "alpha": s.alpha / 0.4},
    ),
    L2.handed(
        "squared weights, the value halved",
        "two forms",
        ("weights:power", "objective:factor"),
        of=lambda s, _: parts(s, "ab") | {"weights": s.weights**2, "objective": s.objective / 2},
    ),
    L1.other(
        "C, and minus the value",
        "C × value",
        ("parameter:C", "objective:sign"),
        hand="wabo",
        C=1.0,
        after=lambda s, a: a | {"objective": -a["objective"]},
    ),
    LI.handed(
        "shares for weights, minus the bias",
        "two forms",
        ("weights:reciprocal", "bias:sign"),
        of=lambda s, _: parts(s, "a") | {"weights": np.array(s.multipliers["lambda"]), "bias": -float(s.bias)},
    ),
    NU.other(
        "ν, and α times νn",
        "parameter × α",
        ("parameter:nu", "alpha:scale"),
        hand="wa",
        nu=0.2,
        after=lambda s, a: a | {"alpha": a["alpha"] * 8},
    ),
]

LIST: list[Wrong] = [w._replace(double=True) for w in (*PROBLEMS, *FORMS)]
