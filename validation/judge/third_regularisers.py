"""Wrong answers for labels and the hinge loss: the other ways to choose weights."""

from __future__ import annotations

import numpy as np
from blind_tools import Answer, Data, Wrong, all_kernels, copied, each_kernel, frobenius, parts, using
from second_tools import times
from third_tools import (
    at_weights,
    by,
    constrained,
    hand,
    norms,
    problem,
    signs,
    updates,
)

import mklcvx

GROUPS = [0, 0, 1, 1, 1]
SM1 = problem(signs(129, 45, "vdqav"), "sm1", C=1.6, theta=0.35)
SM2 = problem(signs(116, 40, "dvcn"), "sm2", C=2.0, theta=0.6)
SMP = problem(signs(100, 33, "bvde"), "smp", C=1.3, p=3.0, theta=0.2)
SQUARE = problem(signs(24, 37, "dcve"), "square", C=0.7, theta=0.4)
L2 = problem(signs(111, 43, "qvda"), "l2", C=1.9)
LP = problem(signs(26, 52, "dvceb"), "lp", C=1.2, p=1.3)
NET = problem(signs(27, 30, "dvc"), "elastic", C=2.2, l1_ratio=0.3)
BLOCK = problem(signs(28, 41, "vdce"), "block_elastic", C=1.5, l1_ratio=0.25)
LASSO = problem(signs(115, 38, "vdqa"), "group_lasso", C=1.0, lam=1.7)
LI = problem(signs(30, 34, "dve"), "li", C=1.4)
CKL = problem(signs(117, 36, "dvcen", groups=GROUPS), "ckl", C=2.1)
VSKL = problem(signs(100, 39, "devcn", groups=GROUPS), "vskl", C=1.8, s=4.0)


def clipped(found: mklcvx.Solution, answer: Answer) -> Answer:
    return answer | {"weights": np.minimum(answer["weights"], 0.35)}


def shares(found: mklcvx.Solution, data: Data) -> Answer:
    """λ_m within the groups for the weights."""
    return parts(found, "ab") | {"weights": np.array(found.multipliers["lambda"])}


def in_norm(mu: np.ndarray) -> float:
    """The net with a norm that is not squared."""
    return 0.3 * mu.sum() + 0.7 * np.linalg.norm(mu)


WRONG: list[Wrong] = [
    SM1.other("no box", "formulation", "formulation:l1", "parameter:theta", hand="wab", formulation="l1",
              drop=("theta",)),
    SM1.other("clipped at θ after the fact", "form", "weights:clipped", hand="wab", formulation="l1", drop=("theta",),
              after=clipped),
    SM1.other("a quarter of C", "parameter", "parameter:C", "kernels:scale", hand="w", C=0.4),
    SM2.other("θ without its ½", "parameter", "parameter:theta", hand="wab", theta=0.3),
    SM2.handed("the price of the weights is not in the value", "form", "objective:terms",
               of=hand("wabo", objective=lambda o, s: o - float(s.weights @ s.weights) / 1.2)),
    SMP.other("p of the slack's power, p/(p−1)", "parameter", "parameter:p", hand="wab", p=1.5),
    SQUARE.handed("θ is missing from the weights", "form", "weights:scale", of=hand("wab", weights=by(1 / 0.4))),
    # l2's α and weights are those of `square` at θ = 1/‖½q‖.
    SQUARE.other("the ball in place of the price", "formulation", "formulation:l2", "parameter:theta", hand="wab",
                 formulation="l2", drop=("theta",)),
    SQUARE.other("kernels divided by two", "kernels", "kernels:scale", ("parameter:theta", "weights:scale"),
                 hand="wabo", change=times(0.5)),
    L2.handed("the update has the exponent 1/2", "iterate", "weights:rule",
              of=lambda s, d: at_weights(L2, updates(L2, 60, 0.5, 2))),
    L2.handed("three rounds", "iterate", "accuracy:early", of=lambda s, d: at_weights(L2, updates(L2, 3, 2 / 3, 2))),
    L2.handed("weights squared, which sum to one", "form", "weights:power", of=hand("wab", weights=lambda w, _: w**2)),
    L2.other("the simplex", "formulation", "formulation:l1", hand="wab", formulation="l1"),
    L2.other("a kernel twice in place of another", "kernels", "kernels:copied", hand="wab",
             change=all_kernels(lambda k: copied(k, 1, 3))),
    L2.handed("weights below 0.4 cut", "form", "weights:cut",
              of=hand("wab", weights=lambda w, _: np.where(w < 0.4, 0.0, w))),
    LP.other("the conjugate exponent", "parameter", "parameter:p", hand="wab", p=1.3 / 0.3),
    LP.other("the exponent of the norms, 2p/(p+1)", "parameter", "parameter:p", hand="wabo", p=2.6 / 2.3),
    LP.other("Frobenius norms one", "kernels", "kernels:frobenius", hand="wab", change=each_kernel(frobenius)),
    LP.handed("weights of the round before", "iterate", "weights:stale",
              of=lambda s, d: parts(s, "ab") | {"weights": updates(LP, 2, 2 / 2.3, 1.3)}),
    NET.other("a net on the norms of f", "formulation", "formulation:block_elastic", hand="wab",
              formulation="block_elastic"),
    NET.handed("‖μ‖ is not squared", "formulation", "norms:unsquared",
               of=lambda s, d: at_weights(NET, constrained(NET, in_norm))),
    BLOCK.other("a net on the weights", "formulation", "formulation:elastic", hand="wa", formulation="elastic"),
    BLOCK.handed("norms for the weights", "form", "weights:norms",
                 of=lambda s, d: parts(s, "ab") | {"weights": norms(s, d)}),
    # With A = Σ‖f_m‖, l1 has f, α and weights of the group lasso at λ = A.
    LASSO.other("norms squared", "formulation", "norms:unsquared", "formulation:l1", "formulation:sm1", "parameter:lam",
                hand="wab", formulation="l1", drop=("lam",)),
    # √q_m ≤ λ: kernels times 4 are λ/2, but for the weights.
    LASSO.other("kernels times four", "kernels", "kernels:scale", "parameter:lam", hand="abo", change=times(4.0)),
    LI.other("½ in front of the penalty", "kernels", "kernels:scale", ("parameter:C", "alpha:scale"), hand="ab",
             change=times(2.0)),
    LI.handed("shares for the weights", "form", "weights:reciprocal", of=shares),
    LI.other("the sum of the kernels", "formulation", "formulation:sum", hand="wab", formulation="sum"),
    CKL.other("other groups", "groups", "groups:other", hand="wab", change=using(groups=[0, 1, 1, 0, 1])),
    CKL.handed("shares within groups", "form", "weights:groups", of=shares),
    CKL.other("every kernel is a group", "formulation", "formulation:li", "groups:other", hand="wab", formulation="li",
              change=using(groups=None)),
    VSKL.other("the largest group's norm", "formulation", "formulation:ckl", hand="wab", formulation="ckl",
               drop=("s",)),
    VSKL.other("the second and third kernel change places in the groups", "groups", "groups:other", hand="wabo",
               change=using(groups=[0, 1, 0, 1, 1])),
]  # fmt: skip
