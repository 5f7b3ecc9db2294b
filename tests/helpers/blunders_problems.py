"""Solvers that solved another machine: another C or loss, other weights of samples, another bias."""

from __future__ import annotations

from functools import cache

import numpy as np

from blunders import N, kernels, mistake, signs, single, solved
from mklcvx import Instance, solve
from wrong_answers import Case, Parts, parts


@mistake(
    single,
    "l1",
    "C is the price of the mean slack in the paper; multiplied by n to undo it, once too often",
    named="C_times_n",
    pattern=r"C.{0,30}(n\b|samples)|C.*total|times n",
    C=0.7,
)
def l1_c_times_n(_: Case) -> Parts:
    return parts(solved("l1", C=0.7 * N))


@mistake(
    single,
    "smp",
    "C divided by n, the loss being a mean",
    named="C_over_n",
    pattern=r"C.{0,30}(n\b|samples)|mean",
    C=2.0,
    theta=1.0,
    p=1.5,
)
def smp_c_over_n(_: Case) -> Parts:
    return parts(solved("smp", C=2.0 / N, theta=1.0, p=1.5))


@cache
def alone() -> Instance:
    return Instance(kernels()[1:2], signs())


@mistake(
    alone,
    "svm",
    "Pegasos called with λ = C where C = 1/(λn)",
    named="C_inverted",
    pattern=r"1/\(.{0,3}n|λ|lambda|pegasos|C = 0\.1\b",
    C=0.5,
)
def svm_pegasos(_: Case) -> Parts:
    return parts(solve(alone(), "svm", C=1 / (0.5 * N)))


@mistake(
    single,
    "vskl",
    "the box of the SMO code left at its default, C = 1",
    named="parameter",
    pattern=r"C = 1\b|other C|another C|\bC\b.*1",
    C=5.0,
    s=3.0,
)
def vskl_default_c(_: Case) -> Parts:
    return parts(solved("vskl", C=1.0, s=3.0))


@mistake(
    single,
    "l1",
    "squared hinge loss: K + I/C without an upper bound on α",
    named="loss squared_hinge",
    pattern=r"squared? hinge|squared? (loss|slack)|ℓ2|L2.SVM",
    C=1.0,
)
def l1_squared_hinge(_: Case) -> Parts:
    return parts(solved("l1", kernels() + np.eye(N), C=1e5), "weights", "alpha", "objective")


@mistake(
    single,
    "average",
    "least squares SVM: equality constraints, a linear system",
    named="loss squared",
    pattern=r"squares?|squared|negative|bound",
    C=1.0,
)
def average_least_squares(_: Case) -> Parts:
    y, k = signs(), kernels().mean(axis=0)
    system = np.block([[np.zeros((1, 1)), y[None]], [y[:, None], np.outer(y, y) * k + np.eye(N)]])
    found = np.linalg.solve(system, np.concatenate([[0.0], np.ones(N)]))
    return {"alpha": found[1:], "bias": found[0]}


@cache
def weighted() -> Instance:
    return Instance(kernels(), signs(), sample_weight=np.linspace(0.4, 2.0, N))


@mistake(
    weighted,
    "l2",
    "sample weights not read from the file",
    named="sample_weight",
    pattern=r"sample.?weight|weights? of (the )?(samples|classes)|unweighted",
    C=1.0,
)
def l2_sample_weights_ignored(_: Case) -> Parts:
    return parts(solved("l2", C=1.0))


@cache
def class_weighted() -> Instance:
    return Instance(kernels(), signs(), class_weight={-1: 1.0, 1: 3.0})


@mistake(
    class_weighted,
    "l1",
    "class weights given to the other class",
    named="sample_weight",
    pattern=r"class.?weight|(classes|weights).*(swap|exchang|other)|sample.?weight",
    C=1.0,
)
def l1_class_weights_exchanged(_: Case) -> Parts:
    return parts(solve(Instance(kernels(), signs(), class_weight={-1: 3.0, 1: 1.0}), "l1", C=1.0))


@mistake(
    single,
    "l1",
    "bias regularised: a constant added to every kernel, and no equality constraint",
    named="bias_penalised",
    pattern=r"bias.*(regularis|penal|constant|paid)|constant.*kernel",
    C=1.0,
)
def l1_bias_in_the_kernel(_: Case) -> Parts:
    found = solved("l1", kernels() + 1.0, C=1.0, bias=False)
    return {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}


@mistake(
    single,
    "elastic",
    "no equality constraint in the box solver; b computed from a support vector afterwards",
    named="bias_omitted",
    pattern=r"bias|y'α",
    C=1.0,
    l1_ratio=0.4,
)
def elastic_without_bias(_: Case) -> Parts:
    found = solved("elastic", C=1.0, l1_ratio=0.4, bias=False)
    f = np.tensordot(found.weights, kernels(), 1) @ (found.alpha * signs())
    free = int(np.argmin(np.abs(found.alpha - 0.5)))
    return parts(found) | {"bias": signs()[free] - f[free]}


@mistake(
    single,
    "square",
    "one pass less over the samples: the last one never enters the working set",
    named="samples_left_out",
    pattern=r"sample.*(left out|dropp|omit|missing|never|last|without)",
    C=3.0,
    theta=0.5,
)
def square_last_sample_dropped(_: Case) -> Parts:
    part = Instance(kernels()[:, :-1, :-1], signs()[:-1])
    found = solve(part, "square", C=3.0, theta=0.5)
    return parts(found) | {"alpha": np.append(found.alpha, 0.0)}


@mistake(single, "sum", "one label misread", named="label_misread", pattern=r"label", C=1.0)
def sum_one_label_misread(_: Case) -> Parts:
    y = signs().copy()
    y[4] = -y[4]
    return parts(solve(Instance(kernels(), y), "sum", C=1.0))
