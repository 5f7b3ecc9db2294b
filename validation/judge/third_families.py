"""Wrong answers for several outputs at once and for label sets."""

from __future__ import annotations

import numpy as np
from blind_tools import Answer, Data, Wrong, all_kernels, each_kernel, parts, target, trace_n, using
from second_tools import times
from third_tools import (
    JOINT,
    LABELS,
    at_weights,
    by,
    hand,
    measured_often,
    problem,
    sorts,
    tags,
    updates,
)

import mklcvx

CRAMMER = problem(sorts(114, 34, "bvdc"), "l1", JOINT, loss="crammer_singer", C=1.5)
CRAMMER_L2 = problem(sorts(107, 30, "vdq"), "l2", JOINT, loss="crammer_singer", C=0.8)
SOFTMAX = problem(sorts(120, 36, "bvdc"), "lp", JOINT, loss="softmax", C=2.0, p=1.5)
SOFTMAX_SUM = problem(sorts(62, 28, "ve", count=4), "average", JOINT, loss="softmax", C=1.2)
MANY = problem(measured_often(108, 31, "bvdc"), "l1", JOINT, loss="squared", C=0.6)
MANY_SM2 = problem(measured_often(63, 27, "dvc", outputs=2), "sm2", JOINT, loss="squared", C=1.5, theta=0.5)
TOGETHER = problem(tags(100, 33, "bvdc"), "ml_sum", LABELS, C=1.5)
WORST = problem(tags(133, 35, "dvbc"), "ml_minimax", LABELS, C=0.7)


def betas(found: mklcvx.Solution, _: Data) -> Answer:
    gamma = np.array(found.multipliers["gamma"])
    return parts(found, "wo") | {"alpha": gamma[:, None] * found.alpha}


def one_class_alone(found: mklcvx.Solution, data: Data) -> Answer:
    y = np.where(data["labels"][:, 2] > 0, 1.0, -1.0)
    own = mklcvx.solve(mklcvx.Instance(data["kernels"], y=y), "l1", C=1.5, bias=False)
    return {"weights": own.weights}


WRONG: list[Wrong] = [
    # classes
    CRAMMER.other("softmax", "loss", "loss:softmax", hand="wab", loss="softmax"),
    CRAMMER.other("without biases", "bias", "bias_term:omitted", hand="wab", bias=False),
    CRAMMER.handed("classes in another order", "form", "classes:order",
                   of=hand("wab", alpha=lambda a, _: a[[2, 0, 1]], bias=lambda b, _: b[[2, 0, 1]])),
    CRAMMER.other("nothing is learned", "formulation", "formulation:average", "kernels:average", hand="wab",
                  formulation="average"),
    CRAMMER_L2.other("the simplex", "formulation", "formulation:l1", "formulation:sm1", hand="wab", formulation="l1"),
    CRAMMER_L2.other("traces made n", "kernels", "kernels:trace", hand="wab", change=each_kernel(trace_n)),
    SOFTMAX.other("two samples in another class", "labels", "labels:misread", hand="wab",
                  change=target(lambda c: np.where(np.isin(np.arange(len(c)), (4, 21)), (c + 1) % 3, c))),
    SOFTMAX.handed("three rounds", "iterate", "accuracy:early",
                   of=lambda s, d: at_weights(SOFTMAX, updates(SOFTMAX, 3, 0.8, 1.5))),
    SOFTMAX_SUM.other("classes of the next sample", "labels", "labels:permuted", hand="ab",
                      change=target(lambda c: np.roll(c, 1))),
    # several responses
    MANY.other("without biases", "bias", "bias_term:omitted", hand="wabo", bias=False),
    MANY.other("kernels in another order", "kernels", "kernels:order", "weights:order", hand="wab",
               change=all_kernels(lambda k: k[[1, 2, 3, 0]])),
    MANY_SM2.other("squared tube", "loss", "loss:squared_epsilon_insensitive", hand="wab",
                   loss="squared_epsilon_insensitive"),
    # label sets
    TOGETHER.other("the worst class", "formulation", "formulation:ml_minimax", hand="wa", formulation="ml_minimax"),
    TOGETHER.other("a label left out", "labels", "labels:dropped", hand="w", change=using(
        labels=TOGETHER.data["labels"][:, :2])),
    TOGETHER.handed("the mean over the classes", "form", "objective:units", of=hand("wao", objective=by(1 / 3))),
    TOGETHER.other("the penalty without its ½", "kernels", "kernels:scale", ("parameter:C", "alpha:scale"), hand="wa",
                   change=times(0.5)),
    TOGETHER.handed("one class's own weights", "iterate", "weights:rule", "labels:dropped", of=one_class_alone),
    WORST.other("the sum of the classes", "formulation", "formulation:ml_sum", hand="wao", formulation="ml_sum"),
    WORST.handed("β for α", "form", "alpha:beta", of=betas),
    WORST.handed("half of the value", "form", "objective:factor", of=hand("wao", objective=by(0.5))),
    WORST.other("the first label left out", "labels", "labels:dropped", hand="wo",
                change=lambda d: d | {"labels": d["labels"][:, 1:]}),
]  # fmt: skip
