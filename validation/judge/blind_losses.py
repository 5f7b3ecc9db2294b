"""Other losses, with one output and with several: mistakes in the loss, its parameters, its targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from blind_tools import (
    Answer,
    Data,
    Problem,
    Wrong,
    all_kernels,
    classes,
    copied,
    cosine,
    counts,
    each_kernel,
    labels,
    machine,
    nothing,
    parts,
    quadratics,
    response,
    responses,
    solution,
    target,
    without,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR, OneClassSVM

ONE, JOINT = "losses", "joint outputs"


def one(formulation: str, data: Data, loss: str, **parameters: Any) -> Problem:
    return Problem(ONE, data, formulation, {"loss": loss, **parameters})


def joint(formulation: str, data: Data, loss: str, **parameters: Any) -> Problem:
    return Problem(JOINT, data, formulation, {"loss": loss, **parameters})


HINGE = [
    Problem(ONE, labels(41 + i), f, {"C": 0.5, **p})
    for i, (f, p) in enumerate(
        [("l1", {}), ("l2", {}), ("sm1", {"theta": 0.4}), ("elastic", {}), ("average", {}), ("lp", {"p": 1.3})]
    )
]
NU, NU2 = Problem(ONE, labels(51), "l2", {"nu": 0.4}), Problem(ONE, labels(52), "l1", {"nu": 0.5})
SQUARED_HINGE, SMOOTHED = (
    one("l2", labels(53), "squared_hinge", C=0.7),
    one("l1", labels(54), "smoothed_hinge", C=0.7, width=0.5),
)
LOGISTIC, LOGISTIC2 = one("l2", labels(55), "logistic", C=2.0), one("sm2", labels(56), "logistic", C=2.0, theta=0.1)
SQUARED, SQUARED_OPEN = one("l2", response(57), "squared", C=2.0), one("l1", response(58), "squared", C=2.0, bias=False)
TUBE, HUBER = (
    one("l2", response(59), "epsilon_insensitive", C=0.5, epsilon=0.3),
    one("l2", response(60), "huber", C=1.0, delta=0.2),
)
QUANTILE, POISSON = one("l2", response(61), "quantile", C=1.0, quantile=0.3), one("l2", counts(62), "poisson", C=0.5)
ONE_CLASS, ONE_CLASS2 = one("l2", nothing(63), "one_class", nu=0.3), one("average", nothing(64), "one_class", nu=0.25)
AVERAGED = one("average", response(65), "squared", C=1.5)
TUBED = one("sum", response(66), "epsilon_insensitive", C=0.5, epsilon=0.2)


def least_squares(p: Problem, name: str, *, hand: str, **more: Any) -> Wrong:
    """Least squares on the labels, as an LS-SVM does."""

    def of(_s: object, d: Data) -> Answer:
        real = {k: v for k, v in d.items() if k != "y"} | {"response": d["y"]}
        found = solution(
            real, p.formulation, {k: v for k, v in p.parameters.items() if k != "loss"} | {"loss": "squared"}
        )
        answer = parts(found, hand)
        if "alpha" in answer:
            answer["alpha"] = answer["alpha"] * d["y"]
        return answer

    return p.handed(name, "other losses", "loss:squared", of=of)


LOSSES = [
    HINGE[0].other("logistic loss", "other losses", "loss:logistic", hand="wab", loss="logistic"),
    HINGE[1].other("logistic loss, α alone", "other losses", "loss:logistic", hand="a", loss="logistic"),
    HINGE[2].other("squared hinge", "other losses", "loss:squared_hinge", hand="wab", loss="squared_hinge"),
    HINGE[3].other("squared hinge, all of it", "other losses", "loss:squared_hinge", hand="wabo", loss="squared_hinge"),
    HINGE[4].other(
        "smoothed hinge", "other losses", "loss:smoothed_hinge", "kernels:ridge", hand="ab", loss="smoothed_hinge"
    ),
    least_squares(HINGE[1], "least squares", hand="wab"),
    least_squares(HINGE[5], "least squares, α alone", hand="a"),
    HINGE[5].other(
        "squared hinge, weights and value", "other losses", "loss:squared_hinge", hand="wo", loss="squared_hinge"
    ),
    SQUARED_HINGE.other("hinge", "other losses", "loss:hinge", hand="wab", loss="hinge"),
    SQUARED_HINGE.other("no ½ before the square", "other losses", "parameter:C", hand="wabo", C=1.4),
    SQUARED_HINGE.other("logistic", "other losses", "loss:logistic", hand="wa", loss="logistic"),
    SMOOTHED.other("width 1", "parameter", "parameter:width", hand="wab", width=1.0),
    SMOOTHED.other(
        "no smoothing", "other losses", "loss:hinge", "parameter:width", hand="wab", loss="hinge", drop=("width",)
    ),
    LOGISTIC.other("hinge", "other losses", "loss:hinge", hand="wab", loss="hinge"),
    LOGISTIC.other("squared hinge, α alone", "other losses", "loss:squared_hinge", hand="a", loss="squared_hinge"),
    LOGISTIC2.other("C halved", "parameter", "parameter:C", hand="wab", C=1.0),
    LOGISTIC2.other("no bias", "bias", "bias_term:omitted", hand="wa", bias=False),
    LOGISTIC.other(
        "a kernel left out, α alone",
        "kernels, α alone",
        "kernels:dropped",
        hand="a",
        change=all_kernels(lambda k: without(k, 1)),
    ),
    LOGISTIC.handed(
        "base-two logarithms in the risk",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: parts(s, "wab") | {"objective": _base_two(s, d)},
    ),
    SQUARED.other("no ½ before the square", "other losses", "parameter:C", hand="wab", C=4.0),
    SQUARED.other("Huber's loss", "other losses", "loss:huber", hand="wab", loss="huber", delta=0.2),
    SQUARED.other(
        "the response centred and scaled",
        "labels",
        "labels:scaled",
        ("alpha:scale", "bias:value"),
        hand="wab",
        change=target(lambda r: 3 * (r - r.mean()) / r.std()),
    ),
    SQUARED_OPEN.other(
        "the response centred", "labels", "labels:scaled", hand="wa", change=target(lambda r: r - r.mean())
    ),
    SQUARED_OPEN.other(
        "one kernel over another, α alone",
        "kernels, α alone",
        "kernels:copied",
        "kernels:dropped",
        hand="a",
        change=all_kernels(lambda k: copied(k, 0, 1)),
    ),
    SQUARED.handed(
        "α of the residuals, without C",
        "scaled or clipped α",
        "alpha:scale",
        of=lambda s, _: parts(s, "wb") | {"alpha": s.alpha / 2},
    ),
    TUBE.other("ε = 0", "parameter", "parameter:epsilon", "loss:absolute", hand="wab", epsilon=0.0),
    TUBE.other("ε squared", "parameter", "parameter:epsilon", hand="ab", epsilon=0.09),
    TUBE.other(
        "the tube's loss squared",
        "other losses",
        "loss:squared_epsilon_insensitive",
        hand="wab",
        loss="squared_epsilon_insensitive",
    ),
    HUBER.other("δ half as large again", "parameter", "parameter:delta", hand="wab", delta=0.3),
    HUBER.other(
        "least squares", "other losses", "loss:squared", "parameter:delta", hand="wabo", loss="squared", drop=("delta",)
    ),
    QUANTILE.other("the other tail", "parameter", "parameter:quantile", hand="wab", quantile=0.7),
    QUANTILE.other(
        "the median, twice",
        "other losses",
        "loss:absolute",
        ("parameter:quantile", "parameter:C"),
        hand="wab",
        loss="absolute",
        drop=("quantile",),
    ),
    POISSON.other("C doubled", "parameter", "parameter:C", hand="wab", C=1.0),
    POISSON.other("least squares on counts", "other losses", "loss:squared", hand="wab", loss="squared"),
    POISSON.handed(
        "the constant of the likelihood left out",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: (
            parts(s, "wab")
            | {"objective": s.objective - 0.5 * float(sum(v * np.log(v) - v for v in d["response"] if v > 0))}
        ),
    ),
    NU.other("ν halved", "rescaled ν answers", "parameter:nu", hand="wab", nu=0.2),
    NU.handed(
        "α times νn, as LIBSVM has it",
        "rescaled ν answers",
        "alpha:scale",
        of=lambda s, _: parts(s, "w") | {"alpha": s.alpha * 0.4 * 40},
    ),
    NU2.handed(
        "α and bias divided by ρ",
        "rescaled ν answers",
        "alpha:scale",
        ("alpha:scale", "bias:value"),
        "loss:hinge",
        of=lambda s, _: (
            parts(s, "w")
            | {"alpha": s.alpha / float(s.multipliers["rho"]), "bias": float(s.bias) / float(s.multipliers["rho"])}
        ),
    ),
    NU2.handed(
        "the value without ρ",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: parts(s, "wab") | {"objective": s.objective + float(s.multipliers["rho"])},
    ),
    NU.other(
        "the C-form with C = 1/(νn)",
        "other losses",
        "loss:hinge",
        ("parameter:nu", "alpha:scale"),
        hand="wab",
        loss="hinge",
        C=1 / 16,
        drop=("nu",),
    ),
    ONE_CLASS.other("ν for 1 − ν", "parameter", "parameter:nu", hand="wa", nu=0.7),
    ONE_CLASS.other("unit diagonals", "kernels", "kernels:cosine", hand="wa", change=each_kernel(cosine)),
    ONE_CLASS2.handed(
        "α of scikit-learn, that sums to νn",
        "rescaled ν answers",
        "alpha:scale",
        of=lambda s, d: {"alpha": _one_class(d)},
    ),
    AVERAGED.handed(
        "scikit-learn's ridge, which has no bias",
        "bias",
        "bias_term:omitted",
        of=lambda s, d: {"alpha": _ridge(d, 1.5) * 1.0, "bias": 0.0},
    ),
    TUBED.handed(
        "scikit-learn's SVR on the average",
        "kernels",
        "kernels:average",
        "formulation:average",
        "kernels:scale",
        of=lambda s, d: _svr(d),
    ),
]


def _base_two(s: Any, d: Data) -> float:
    penalty = float(np.linalg.norm(quadratics(d, s.alpha * s.y))) / 2
    return penalty + (s.objective - penalty) / np.log(2)


def _zero_one(d: Data, parameters: dict[str, Any], other: float) -> np.ndarray:
    """α of labels 0 and 1: samples of label 0 have no part in f, and their α is what the loss says at 0."""
    ones = d["y"] > 0
    alone = d | {"sample_weight": np.where(ones, 1.0, 1e-9)}
    return np.where(ones, solution(alone, "average", parameters).alpha, other)


def _one_class(d: Data) -> np.ndarray:
    k = d["kernels"].mean(axis=0)
    found, alpha = OneClassSVM(kernel="precomputed", nu=0.25, tol=1e-10).fit(k), np.zeros(len(k))
    alpha[found.support_] = found.dual_coef_[0]
    return alpha


def _ridge(d: Data, price: float) -> np.ndarray:
    return KernelRidge(kernel="precomputed", alpha=1 / price).fit(d["kernels"].mean(axis=0), d["response"]).dual_coef_


def _svr(d: Data) -> Answer:
    k = d["kernels"].mean(axis=0)
    found, alpha = SVR(kernel="precomputed", C=0.5, epsilon=0.2, tol=1e-10).fit(k, d["response"]), np.zeros(len(k))
    alpha[found.support_] = found.dual_coef_[0]
    return {"alpha": alpha, "bias": float(found.intercept_[0])}


CODED = one("l2", {"kernels": labels(67)["kernels"], "response": labels(67)["y"]}, "squared", C=1.0, bias=False)
CODED_HINGE = Problem(ONE, labels(68), "average", {"C": 0.5, "bias": False})
CODED_LOGISTIC = one("average", labels(69), "logistic", C=2.0, bias=False)
CODES = np.where(np.eye(3)[classes(75)["classes"]] > 0, 1.0, -1.0)
CODED_BOTH = joint("l2", {"kernels": classes(75)["kernels"], "response": CODES}, "squared", C=1.0, bias=False)

CODINGS = [
    CODED.other(
        "0 and 1 for −1 and 1",
        "codings of labels",
        "labels:zero_one",
        "labels:scaled",
        hand="wa",
        change=target(lambda r: (r + 1) / 2),
    ),
    CODED.other(
        "1 and 2 for −1 and 1",
        "codings of labels",
        "labels:scaled",
        "labels:zero_one",
        hand="wa",
        change=target(lambda r: (r + 3) / 2),
    ),
    CODED.other(
        "n/n₊ and −n/n₋ for 1 and −1",
        "codings of labels",
        "labels:scaled",
        hand="wao",
        change=target(lambda r: np.where(r > 0, len(r) / (r > 0).sum(), -len(r) / (r < 0).sum())),
    ),
    CODED_HINGE.handed(
        "0 and 1 for −1 and 1",
        "codings of labels",
        "labels:zero_one",
        of=lambda s, d: {"alpha": _zero_one(d, CODED_HINGE.parameters, 0.5)},
    ),
    CODED_LOGISTIC.handed(
        "0 and 1 for −1 and 1",
        "codings of labels",
        "labels:zero_one",
        of=lambda s, d: {"alpha": _zero_one(d, CODED_LOGISTIC.parameters, 1.0)},
    ),
    CODED_BOTH.other(
        "one-hot codes of 0 and 1",
        "codings of labels",
        "labels:zero_one",
        "labels:scaled",
        hand="wa",
        change=target(lambda r: (r + 1) / 2),
    ),
    CODED_BOTH.other(
        "the last class's column left zero",
        "classes dropped",
        "labels:dropped",
        hand="wa",
        change=target(lambda r: r * [1, 1, 0]),
    ),
]

CRAMMER, SOFTMAX = joint("l1", classes(71), "crammer_singer", C=0.5), joint("l2", classes(72), "softmax", C=1.0)
BOTH, BOTH2 = joint("l1", responses(73), "squared", C=2.0), joint("l2", responses(74), "huber", C=1.0, delta=0.5)

OUTPUTS = [
    CRAMMER.other("softmax", "other losses", "loss:softmax", hand="wab", loss="softmax"),
    CRAMMER.other("C doubled", "parameter", "parameter:C", hand="wab", C=1.0),
    CRAMMER.other("l2", "formulation", "formulation:l2", hand="wa", formulation="l2"),
    CRAMMER.handed(
        "classes in another order",
        "form of α",
        "classes:order",
        of=lambda s, _: parts(s, "w") | {"alpha": s.alpha[[1, 0, 2]], "bias": np.array(s.bias)[[1, 0, 2]]},
    ),
    CRAMMER.other("no bias", "bias", "bias_term:omitted", hand="wa", bias=False),
    SOFTMAX.other(
        "Crammer and Singer's hinge", "other losses", "loss:crammer_singer", hand="wab", loss="crammer_singer"
    ),
    SOFTMAX.other(
        "one kernel left out, α alone",
        "kernels, α alone",
        "kernels:dropped",
        hand="a",
        change=all_kernels(lambda k: without(k, 0)),
    ),
    SOFTMAX.other(
        "three samples in other classes",
        "labels",
        "labels:misread",
        hand="wab",
        change=target(lambda c: np.r_[(c[:3] + 1) % 3, c[3:]]),
    ),
    SOFTMAX.handed("signs in α", "form of α", "alpha:sign", of=lambda s, _: parts(s, "w") | {"alpha": s.alpha * s.y}),
    BOTH.other(
        "one response standardised",
        "labels",
        "labels:scaled",
        hand="wa",
        change=target(lambda r: np.column_stack([r[:, 0], r[:, 1] / r[:, 1].std()])),
    ),
    BOTH.handed(
        "outputs in the other order",
        "form of α",
        "classes:order",
        of=lambda s, _: parts(s, "w") | {"alpha": s.alpha[::-1].copy()},
    ),
    BOTH.handed(
        "uniform weights' α",
        "α of an earlier iterate",
        "alpha:stale",
        "parts:apart",
        of=lambda s, d: parts(s, "w") | parts(machine(d, np.full(4, 0.25), {"loss": "squared", "C": 2.0}), "a"),
    ),
    BOTH2.other(
        "least squares for both",
        "other losses",
        "loss:squared",
        "parameter:delta",
        hand="wab",
        loss="squared",
        drop=("delta",),
    ),
    BOTH.handed(
        "the value per output",
        "value",
        "objective:units",
        "objective:factor",
        of=lambda s, _: parts(s, "wab") | {"objective": s.objective / 2},
    ),
    BOTH.handed(
        "the value without the quadratic term",
        "objective's terms",
        "objective:terms",
        of=lambda s, d: parts(s, "wa") | {"objective": s.objective - float(quadratics(d, s.alpha).max()) / 2},
    ),
]

LIST: list[Wrong] = [*LOSSES, *CODINGS, *OUTPUTS]
