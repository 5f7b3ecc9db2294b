"""Wrong answers for one task with the other penalties of functions and weights."""

from __future__ import annotations

import numpy as np
from blind_tools import (
    Problem,
    Wrong,
    all_kernels,
    cosine,
    each_kernel,
    parts,
    target,
    unit_trace,
    using,
    without,
)
from second_hinge import KEEP40, only, updates
from second_tools import edit, prices, real, some, spread, two

ONE = "single task"
TWO_GROUPS = [0, 0, 1, 1, 1]
SUM = Problem(ONE, two(21, 34, "gwlp"), "sum", {"C": 0.6})
AVERAGE = Problem(ONE, two(22, 38, "gwps", share=0.3), "average", {"C": 3.0})
LP = Problem(ONE, two(23, 34, "gwlpr"), "lp", {"C": 1.8, "p": 2.6})
SM1 = Problem(ONE, two(1, 36, "gwlp"), "sm1", {"C": 2.0, "theta": 0.4})
SM1_NU = Problem(ONE, two(24, 34, "gwlps"), "sm1", {"nu": 0.4, "theta": 0.35})
SM2 = Problem(ONE, two(25, 36, "gwlp"), "sm2", {"C": 1.3, "theta": 0.3})
SMP = Problem(ONE, two(26, 32, "gwsl"), "smp", {"C": 1.0, "theta": 0.5, "p": 2.5})
SQUARE = Problem(ONE, two(27, 34, "gwlp"), "square", {"C": 1.4, "theta": 0.7})
ELASTIC = Problem(ONE, two(28, 36, "gwlps"), "elastic", {"C": 1.6, "l1_ratio": 0.3})
BLOCK = Problem(ONE, two(29, 36, "gwlp"), "block_elastic", {"C": 1.1, "l1_ratio": 0.8})
LASSO = Problem(ONE, two(30, 38, "gwlpr"), "group_lasso", {"C": 1.0, "lam": 1.6})
LASSO_REAL = Problem(ONE, real(31, 34, "gwlp"), "group_lasso", {"C": 0.5, "lam": 2.0, "loss": "squared"})
LI = Problem(ONE, two(32, 30, "gws"), "li", {"C": 1.5})
CKL = Problem(ONE, two(33, 34, "gwsgw", groups=TWO_GROUPS), "ckl", {"C": 2.0})
VSKL = Problem(ONE, two(34, 34, "gwlsg", groups=TWO_GROUPS), "vskl", {"C": 1.2, "s": 3.0})
L2_WEIGHTED = Problem(ONE, two(35, 40, "gwls", share=0.35, sample_weight=prices(35, 40)), "l2", {"C": 1.0})


def clipped(weights: np.ndarray, cap: float) -> np.ndarray:
    return np.minimum(weights, cap)


WRONG: list[Wrong] = [
    SUM.other("the average", "formulation", "formulation:average", "kernels:average", formulation="average"),
    SUM.other("kernels of unit trace, α alone", "kernels", "kernels:trace", hand="a", change=each_kernel(unit_trace)),
    SUM.other("the last kernel left out", "kernels", "kernels:dropped", hand="ab",
              change=all_kernels(lambda k: without(k, 3))),
    SUM.handed("α∘y", "form", "alpha:sign", of=lambda s, d: {"alpha": s.alpha * s.y, "bias": s.bias}),
    AVERAGE.other("the sum, without weights", "formulation", "formulation:sum", "kernels:scale",
                  ("parameter:C", "alpha:scale"), formulation="sum", hand="ab"),
    AVERAGE.other("C = 1/(λn)", "parameter", "parameter:C", hand="abo", C=1 / (0.02 * 38)),
    AVERAGE.other("unit diagonals", "kernels", "kernels:cosine", hand="ab", change=each_kernel(cosine)),
    AVERAGE.handed("half of the dual", "objective", "objective:factor",
                   of=lambda s, d: parts(s, "ab") | {"objective": s.objective / 2}),
    AVERAGE.other("labels sorted", "labels", "labels:permuted", hand="ab", change=target(np.sort)),
    LP.other("p of 1.6", "parameter", "parameter:p", p=1.6),
    LP.other("p/(p − 1) for p, weights alone", "parameter", "parameter:p", hand="w", p=2.6 / 1.6),
    LP.handed("an update with the wrong exponent", "form", "weights:rule", "weights:power",
              of=lambda s, d: parts(s, "ab") | {"weights": s.norms ** (2 / 3.6 * 2) / np.linalg.norm(
                  s.norms ** (2 / 3.6 * 2), 2.6)}),
    LP.handed("norms of functions", "form", "weights:norms", of=lambda s, d: parts(s, "ab") | {"weights": s.norms}),
    SM1.other("θ as it is by default", "parameter", "parameter:theta", theta=0.5),
    SM1.other("no box", "formulation", "formulation:l1", "parameter:theta", hand="wao", formulation="l1",
              drop=("theta",)),
    SM1.other("solved without the box, then clipped", "form", "weights:clipped", formulation="l1", drop=("theta",),
              hand="wab", after=edit(weights=lambda w: clipped(w, 0.4))),
    SM1_NU.other("ν of 0.55", "parameter", "parameter:nu", hand="wa", nu=0.55),
    SM1_NU.other("θ = 1/(νM) for another ratio", "parameter", "parameter:theta", hand="w", theta=1 / (0.9 * 5)),
    SM2.other("θ inverted", "parameter", "parameter:theta", theta=1 / 0.3),
    SM2.other("‖μ‖²/θ without ½", "parameter", "parameter:theta", hand="wao", theta=0.15),
    SM2.other("no penalty of the weights", "formulation", "formulation:l1", "parameter:theta", formulation="l1",
              drop=("theta",)),
    SM2.other("no simplex", "formulation", "formulation:square", formulation="square", hand="wa"),
    SM2.handed("the weights' penalty missing from the value", "objective", "objective:terms", "objective:value",
               of=lambda s, d: parts(s, "wab") | {"objective": s.objective - s.weights @ s.weights / 0.6}),
    SMP.other("p of 2", "parameter", "parameter:p", "formulation:sm2", p=2.0),
    SMP.other("conjugate exponent", "parameter", "parameter:p", hand="wa", p=2.5 / 1.5),
    SMP.other("θ for θ/2", "parameter", "parameter:theta", hand="wab", theta=1.0),
    SQUARE.other("θ of 0.2", "parameter", "parameter:theta", hand="wab", theta=0.2),
    SQUARE.handed("weights that sum to one", "form", "weights:scale",
                  of=lambda s, d: parts(s, "ab") | {"weights": s.weights / s.weights.sum()}),
    SQUARE.other("the simplex as well", "formulation", "formulation:sm2", hand="wab", formulation="sm2"),
    SQUARE.other("weights on the sphere", "formulation", "formulation:l2", "parameter:theta", hand="wa",
                 formulation="l2", drop=("theta",)),
    ELASTIC.other("shares of ℓ1 and ℓ2 exchanged", "parameter", "parameter:l1_ratio", l1_ratio=0.7),
    ELASTIC.other("the net on the norms", "formulation", "formulation:block_elastic", formulation="block_elastic"),
    ELASTIC.other("r of 0.46, α and bias", "parameter", "parameter:l1_ratio", hand="ab", l1_ratio=0.46),
    ELASTIC.handed("weights that sum to one", "form", "weights:scale",
                   of=lambda s, d: parts(s, "ao") | {"weights": s.weights / s.weights.sum()}),
    BLOCK.other("r as it is by default", "parameter", "parameter:l1_ratio", hand="wab", l1_ratio=0.5),
    BLOCK.other("the ℓ1 part alone", "formulation", "formulation:l1", "parameter:l1_ratio", formulation="l1",
                drop=("l1_ratio",), hand="wa"),
    BLOCK.handed("shares in place of weights", "form", "weights:rule", "weights:norms",
                 ("weights:norms", "weights:scale"),
                 of=lambda s, d: parts(s, "ab") | {"weights": s.norms / s.norms.sum()}),
    LASSO.other("λ of 1", "parameter", "parameter:lam", hand="wab", lam=1.0),
    LASSO.other("the squared norm, as l1 has it", "formulation", "formulation:l1", "norms:unsquared", "parameter:lam",
                formulation="l1", drop=("lam",), hand="wab"),
    LASSO.handed("weights that sum to one", "form", "weights:scale",
                 of=lambda s, d: parts(s, "ab") | {"weights": s.weights / s.weights.sum()}),
    LASSO.handed("‖f_m‖ in place of ‖f_m‖/λ", "form", "weights:norms", "weights:scale",
                 of=lambda s, d: parts(s, "ab") | {"weights": s.norms}),
    LASSO_REAL.other("C forgotten", "parameter", "parameter:C", hand="wab", C=1.0),
    LASSO_REAL.other("λ per sample", "parameter", "parameter:lam", hand="wa", lam=2.0 / 34),
    LASSO_REAL.other("response centred, no bias", "two mistakes", ("bias_term:omitted", "labels:scaled"), hand="wa",
                     change=target(lambda r: r - r.mean()), bias=False, double=True),
    LI.handed("shares in place of weights", "form", "weights:reciprocal",
              of=lambda s, d: parts(s, "ab") | {"weights": s.multipliers["lambda"]}),
    LI.other("½ before the penalty, weights alone", "parameter", "parameter:C", "kernels:scale", hand="w", C=3.0),
    LI.other("the sum", "formulation", "formulation:sum", "kernels:average", hand="wab", formulation="sum"),
    LI.other("squared hinge", "loss", "loss:squared_hinge", hand="wa", loss="squared_hinge"),
    CKL.handed("shares within groups", "form", "weights:groups",
               of=lambda s, d: parts(s, "ab") | {"weights": s.multipliers["lambda"]}),
    CKL.other("other groups", "groups", "groups:other", change=using(groups=[0, 1, 0, 1, 1])),
    CKL.other("a group for every kernel", "groups", "groups:other", "formulation:li", hand="wa",
              change=using(groups=None), formulation="li"),
    VSKL.other("s of 2", "parameter", "parameter:s", hand="wab", s=2.0),
    VSKL.other("one group", "groups", "groups:other", "formulation:l1", hand="wab", change=using(groups=None),
               formulation="l1", drop=("s",)),
    VSKL.other("the largest group alone is paid for", "formulation", "formulation:ckl", hand="wab", formulation="ckl",
               drop=("s",)),
    VSKL.handed("coefficients without weights", "form", "coefficients:weights",
                of=lambda s, d: parts(s, "wb") | {"coefficients": np.tile(s.alpha * s.y, (5, 1))}),
    L2_WEIGHTED.other("weights of samples in reverse", "samples", "sample_weight:order", hand="wab",
                      change=lambda d: d | {"sample_weight": d["sample_weight"][::-1].copy()}),
    L2_WEIGHTED.other("weights of samples squared", "samples", "sample_weight:squared", hand="wa",
                      change=lambda d: d | {"sample_weight": d["sample_weight"] ** 2}),
    L2_WEIGHTED.other("balanced classes in their place", "samples", "sample_weight:balanced", hand="wab",
                      change=using(sample_weight=None, class_weight="balanced")),
    L2_WEIGHTED.other("a sixth of the samples left out", "samples", "samples:dropped", hand="wab",
                      change=some(KEEP40), after=spread(KEEP40)),
    L2_WEIGHTED.handed("three updates of the weights", "accuracy", "accuracy:early",
                       of=lambda s, d: only("wab", updates(L2_WEIGHTED, 3, 2 / 3, 2.0))),
]  # fmt: skip
