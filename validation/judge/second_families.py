"""Wrong answers for joint outputs and for many labels."""

from __future__ import annotations

import numpy as np
from blind_tools import (
    Answer,
    Data,
    Problem,
    Wrong,
    all_kernels,
    each_kernel,
    machine,
    parts,
    target,
    trace_n,
    unit_trace,
    without,
)
from second_tools import kinds_of, sets, several, some, spread, times
from sklearn.svm import SVC

import mklcvx

JOINT, MANY = "joint outputs", "many labels"
CRAMMER = Problem(JOINT, kinds_of(61, 33, "gwlp"), "l1", {"C": 1.0, "loss": "crammer_singer"})
CRAMMER4 = Problem(JOINT, kinds_of(62, 36, "gws", count=4), "l2", {"C": 2.0, "loss": "crammer_singer"})
SOFTMAX = Problem(JOINT, kinds_of(63, 30, "gwlp"), "l1", {"C": 1.8, "loss": "softmax"})
SOFTMAX2 = Problem(JOINT, kinds_of(64, 27, "gwps"), "lp", {"C": 3.0, "loss": "softmax", "p": 1.6})
RESPONSES = Problem(JOINT, several(65, 30, "gwlp"), "l1", {"C": 2.0, "loss": "squared"})
RESPONSES3 = Problem(JOINT, several(66, 28, "gwps", outputs=3), "l2", {"C": 0.8, "loss": "squared"})
TUBES = Problem(JOINT, several(67, 28, "gwls"), "l1", {"C": 1.0, "loss": "epsilon_insensitive", "epsilon": 0.25})
ML = Problem(MANY, sets(68, 32, "gwsg"), "ml_sum", {"C": 1.0})
ML4 = Problem(MANY, sets(69, 30, "gwlp", count=4), "ml_sum", {"C": 0.5})
WORST = Problem(MANY, sets(70, 30, "gwsg"), "ml_minimax", {"C": 1.2})
WORST4 = Problem(MANY, sets(71, 28, "gwlps", count=4), "ml_minimax", {"C": 2.0})

KEEP32 = np.arange(32) % 5 != 2


def signs(data: Data) -> np.ndarray:
    return np.where(data["labels"].T > 0, 1.0, -1.0)


def with_biases(data: Data, price: float, steps: int = 400) -> Answer:
    """`ml_sum` with a bias for every class: machines and weights in turns."""
    weights = np.full(len(data["kernels"]), 1 / len(data["kernels"]))
    y = signs(data)
    alpha = np.zeros(y.shape)
    for _ in range(steps):
        combined = np.einsum("m,mij->ij", weights, data["kernels"])
        for k, labels in enumerate(y):
            model = SVC(C=price, kernel="precomputed", tol=1e-9).fit(combined, labels)
            alpha[k] = 0
            alpha[k, model.support_] = np.abs(model.dual_coef_[0])
        q = np.einsum("ki,mij,kj->m", alpha * y, data["kernels"], alpha * y)
        weights = weights * np.sqrt(q)
        weights /= weights.sum()
    return {"weights": weights, "alpha": alpha}


def own_weights(data: Data, price: float) -> np.ndarray:
    """The weights that each class would have by itself."""
    found = [mklcvx.solve(mklcvx.Instance(data["kernels"], y), "l1", C=price, bias=False).weights for y in signs(data)]
    return np.stack(found)


def of_average(data: Data, price: float) -> Answer:
    count = len(data["kernels"])
    weights = np.full(count, 1 / count)
    machines = [
        machine({"kernels": data["kernels"], "y": y}, weights, {"C": price, "bias": False}).alpha for y in signs(data)
    ]
    return {"weights": weights, "alpha": np.stack(machines)}


def first_output(data: Data) -> Data:
    return data | {"response": data["response"][:, 0]}


def without_label(k: int) -> object:
    return target(lambda t: np.delete(t, k, axis=1))


def standard(r: np.ndarray) -> np.ndarray:
    return (r - r.mean(axis=0)) / r.std(axis=0)


WRONG: list[Wrong] = [
    # Classes, jointly.
    CRAMMER.other("softmax", "loss", "loss:softmax", hand="wab", loss="softmax"),
    CRAMMER.other("C over the number of classes", "parameter", "parameter:C", hand="wab", C=1 / 3),
    CRAMMER.other("no bias", "bias", "bias_term:omitted", hand="wa", bias=False),
    CRAMMER.handed("β in place of α", "form", "alpha:sign", of=lambda s, d: parts(s, "wb") | {"alpha": s.alpha * s.y}),
    CRAMMER.handed("classes in reverse", "form", "classes:order",
                   of=lambda s, d: {"weights": s.weights, "alpha": s.alpha[::-1].copy(), "bias": s.bias[::-1].copy()}),
    CRAMMER.other("kernels of unit trace", "kernels", "kernels:trace", hand="wa", change=each_kernel(unit_trace)),
    CRAMMER4.other("the simplex", "formulation", "formulation:l1", hand="wab", formulation="l1"),
    CRAMMER4.other("two classes merged", "labels", "labels:misread", "labels:dropped", hand="w",
                   change=target(lambda c: np.where(c == 3, 2, c))),
    CRAMMER4.handed("minus the value", "objective", "objective:sign",
                    of=lambda s, d: parts(s, "wa") | {"objective": -s.objective}),
    CRAMMER4.handed("largest weight one", "form", "weights:scale",
                    of=lambda s, d: parts(s, "ab") | {"weights": s.weights / s.weights.max()}),
    SOFTMAX.other("Crammer and Singer's loss", "loss", "loss:crammer_singer", hand="wab", loss="crammer_singer"),
    SOFTMAX.other("cross-entropy in bits", "parameter", "parameter:C", hand="wao", C=1.8 / np.log(2)),
    SOFTMAX.other("C per class, weights alone", "parameter", "parameter:C", "kernels:scale", hand="w", C=1.8 / 3),
    SOFTMAX.handed("probabilities in place of α", "form", "alpha:scale",
                   of=lambda s, d: parts(s, "wb") | {"alpha": s.alpha / 1.8}),
    SOFTMAX.handed("no biases handed over", "bias", "bias:missing",
                   of=lambda s, d: parts(s, "wa") | {"bias": np.zeros(3)}),
    SOFTMAX2.other("p of 3", "parameter", "parameter:p", hand="wa", p=3.0),
    SOFTMAX2.other("classes of other samples", "labels", "labels:permuted", hand="wa",
                   change=target(lambda c: np.roll(c, 2))),
    SOFTMAX2.other("kernels of trace n", "kernels", "kernels:trace", hand="wab", change=each_kernel(trace_n)),
    SOFTMAX2.other("the second kernel left out", "kernels", "kernels:dropped", hand="wab",
                   change=all_kernels(lambda k: without(k, 1))),
    # Several responses.
    RESPONSES.other("every response standardised", "labels", "labels:scaled", hand="wab", change=target(standard)),
    RESPONSES.other("C per response", "parameter", "parameter:C", hand="wab", C=1.0),
    RESPONSES.other("the first response alone, weights", "labels", "labels:dropped", "weights:rule", hand="w",
                    change=first_output),
    RESPONSES.handed("responses exchanged", "form", "classes:order",
                     of=lambda s, d: parts(s, "w") | {"alpha": s.alpha[::-1].copy(), "bias": s.bias[::-1].copy()}),
    RESPONSES.other("no biases", "bias", "bias_term:omitted", hand="wa", bias=False),
    RESPONSES3.other("an absolute loss", "loss", "loss:absolute", "loss:epsilon_insensitive", hand="wab",
                     loss="absolute"),
    RESPONSES3.handed("the value per response", "objective", "objective:units",
                      of=lambda s, d: parts(s, "wa") | {"objective": s.objective / 3}),
    RESPONSES3.handed("weights of all responses that sum to one", "form", "weights:scale",
                      of=lambda s, d: parts(s, "ab") | {"weights": s.weights / s.weights.sum()}),
    TUBES.other("ε of 0.6", "parameter", "parameter:epsilon", hand="wa", epsilon=0.6),
    TUBES.other("½ missing before q", "kernels", "kernels:scale", ("parameter:C", "alpha:scale"), hand="wab",
                change=times(2)),
    # Many labels.
    ML.handed("a bias for every class", "bias", "bias_term:added", of=lambda s, d: with_biases(d, 1.0)),
    ML.handed("the mean of the classes' own weights", "form", "weights:rule",
              of=lambda s, d: {"weights": own_weights(d, 1.0).mean(axis=0)}),
    ML.other("the worst class", "formulation", "formulation:ml_minimax", hand="wa", formulation="ml_minimax"),
    ML.other("C of 1.7", "parameter", "parameter:C", hand="wao", C=1.7),
    ML.handed("the value per class", "objective", "objective:units",
              of=lambda s, d: parts(s, "wa") | {"objective": s.objective / 3}),
    ML.other("a fifth of the samples left out", "samples", "samples:dropped", hand="wa", change=some(KEEP32),
             after=spread(KEEP32)),
    ML.handed("the average of the kernels", "kernels", "kernels:average", of=lambda s, d: of_average(d, 1.0)),
    ML4.other("the last label left out", "labels", "labels:dropped", hand="w", change=without_label(3)),
    ML4.handed("α∘y", "form", "alpha:sign", of=lambda s, d: parts(s, "w") | {"alpha": s.alpha * s.y}),
    ML4.handed("labels in reverse", "form", "classes:order",
               of=lambda s, d: parts(s, "w") | {"alpha": s.alpha[::-1].copy()}),
    ML4.handed("α over C", "form", "alpha:scale", of=lambda s, d: parts(s, "wo") | {"alpha": s.alpha / 0.5}),
    ML4.other("kernels of trace n", "kernels", "kernels:trace", hand="w", change=each_kernel(trace_n)),
    WORST.other("the sum of the classes", "formulation", "formulation:ml_sum", hand="wa", formulation="ml_sum"),
    WORST.handed("β in place of α", "form", "alpha:beta", of=lambda s, d: parts(s, "w")
                 | {"alpha": s.alpha * s.multipliers["gamma"][:, None]}),
    WORST.handed("weights of the first class", "form", "weights:rule", "labels:dropped",
                 of=lambda s, d: {"weights": own_weights(d, 1.2)[0]}),
    WORST.other("C times 4, weights alone", "parameter", "parameter:C", "kernels:scale", hand="w", C=4.8),
    WORST.handed("minus the value", "objective", "objective:sign",
                 of=lambda s, d: parts(s, "w") | {"objective": -s.objective}),
    WORST4.other("the first kernel left out", "kernels", "kernels:dropped", hand="wo",
                 change=all_kernels(lambda k: without(k, 0))),
    WORST4.handed("prices that sum to the number of classes", "form", "multipliers:scale", of=lambda s, d: parts(s, "w")
                  | {"multipliers": {"gamma": 4 * s.multipliers["gamma"]}}),
    WORST4.handed("weights below 0.1 set to zero, the others scaled up", "form", "weights:cut", of=lambda s, d: {
        "weights": np.where(s.weights < 0.1, 0, s.weights) / s.weights[s.weights >= 0.1].sum()}),
]  # fmt: skip
