"""Solvers that solved for other kernels: prepared, rounded, left out, or combined in another way."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from blunders import N, centred, features, gaussian, kernels, mistake, signs, single, solved, unit_diagonal, unit_trace
from mklcvx import Instance, solve
from wrong_answers import Case, Parts, parts


@mistake(
    single,
    "l1",
    "every kernel normalised to a unit diagonal first",
    named="kernels_cosine",
    pattern=r"unit diagonal|diagonal|cosine|normalis",
    C=1.0,
)
def l1_unit_diagonal(_: Case) -> Parts:
    return parts(solved("l1", unit_diagonal(kernels()), C=1.0))


@mistake(single, "li", "unit traces inside", named="kernels_trace", pattern=r"trace", C=1.0)
def li_unit_trace(_: Case) -> Parts:
    return parts(solved("li", unit_trace(kernels()), C=1.0))


@mistake(
    single,
    "l2",
    "traces n inside: K/mean(diag K)",
    named="kernels_trace",
    pattern=r"trace|mean.*diagonal|rescal",
    C=1.0,
)
def l2_trace_n(_: Case) -> Parts:
    return parts(solved("l2", N * unit_trace(kernels()), C=1.0))


@mistake(
    single,
    "lp",
    "centred and then brought to unit variance, as a paper's preprocessing has it",
    named="kernels_variance",
    pattern=r"centr.*(varian|trace|normalis|scal)|varian|centr",
    C=1.0,
    p=1.3,
)
def lp_centred_and_scaled(_: Case) -> Parts:
    return parts(solved("lp", N * unit_trace(centred(kernels())), C=1.0, p=1.3), "weights", "alpha", "objective")


@mistake(
    single,
    "average",
    "a ridge of 0.01 on every kernel for the Cholesky factorisation",
    named="ridge",
    pattern=r"ridge|jitter|diagonal|multiple of the identity|\+ .*I\b",
    C=1.0,
)
def average_ridge(_: Case) -> Parts:
    return parts(solved("average", kernels() + 0.01 * np.eye(N), C=1.0))


@mistake(
    single,
    "l1",
    "kernels kept in half precision",
    named="kernels_rounded",
    pattern=r"half precision|float16|precision|round",
    C=1.0,
)
def l1_half_precision(_: Case) -> Parts:
    rounded = kernels().astype(np.float16).astype(float)
    return parts(solve(Instance(rounded, signs(), repair="clip"), "l1", C=1.0))


@mistake(
    single,
    "elastic",
    "the loop over kernels ends one too early",
    named="kernels_left_out",
    pattern=r"kernel.*(left out|dropp|omit|missing|never|last|without|not used)",
    C=1.0,
    l1_ratio=0.2,
)
def elastic_last_kernel_dropped(_: Case) -> Parts:
    found = solved_on_part(slice(0, 3), "elastic", C=1.0, l1_ratio=0.2)
    return parts(found) | {"weights": np.append(found.weights, 0.0)}


def solved_on_part(which: Any, formulation: str, **parameters: Any) -> Any:
    return solve(Instance(kernels()[which], signs()), formulation, **parameters)


@cache
def twins() -> Instance:
    return Instance(kernels()[[0, 1, 2, 0]], signs())


@mistake(
    twins,
    "l2",
    "duplicated kernels thrown out first, which changes the ball",
    named="kernels_left_out",
    pattern=r"kernel.*(left out|dropp|omit|missing|never|last|without|not used)|duplic|twin",
    C=1.0,
)
def l2_duplicates_thrown_out(_: Case) -> Parts:
    found = solved_on_part(slice(0, 3), "l2", C=1.0)
    return parts(found) | {"weights": np.append(found.weights, 0.0)}


@mistake(
    single,
    "lp",
    "γ taken for σ where the Gaussian kernels were made again",
    pattern=r"kernels? (are|were) (not|other)|other kernels|width|bandwidth|entr(y|ies)|elementwise",
    C=1.0,
    p=2.0,
)
def lp_other_widths(_: Case) -> Parts:
    stack = kernels().copy()
    stack[0] = gaussian(features()[:, :2], 1 / (2 * 0.7**2))
    stack[1] = gaussian(features()[:, 1:], 1 / (2 * 0.15**2))
    return parts(solved("lp", stack, C=1.0, p=2.0))


@mistake(
    single,
    "sum",
    "the kernels averaged instead of summed",
    named="formulation average",
    pattern=r"average|mean|1/M|divided",
    C=1.0,
)
def sum_averaged(_: Case) -> Parts:
    return parts(solved("average", C=1.0))


@mistake(
    single,
    "l1",
    "weights sum to M, so that equal ones are 1",
    named="weights_radius",
    pattern=r"sum to M|Σμ = M|times M|M times|sum|factor|scale",
    C=1.0,
)
def l1_weights_sum_to_m(_: Case) -> Parts:
    found = solved("l1", 4 * kernels(), C=1.0)
    return parts(found) | {"weights": 4 * found.weights}


@mistake(
    single,
    "l1",
    "the best single kernel chosen",
    named="one_kernel",
    other_words=True,  # "alone"
    pattern=r"single|one kernel|best kernel|corner",
    C=1.0,
)
def l1_best_single_kernel(_: Case) -> Parts:
    runs = [solved_on_part(slice(m, m + 1), "svm", C=1.0) for m in range(4)]
    best = int(np.argmin([run.objective for run in runs]))
    return parts(runs[best]) | {"weights": np.eye(4)[best]}


@mistake(
    single,
    "lp",
    "l1 solved, p never reached the solver",
    named="formulation l1",
    pattern=r"\bl1\b|p = 1\b",
    C=1.0,
    p=1.4,
)
def lp_solved_as_l1(_: Case) -> Parts:
    return parts(solved("l1", C=1.0))


@mistake(
    single,
    "square",
    "the weights kept on the simplex: sm2 solved",
    named="formulation sm2",
    pattern=r"sm2|simplex",
    C=1.0,
    theta=0.5,
)
def square_on_the_simplex(_: Case) -> Parts:
    return parts(solved("sm2", C=1.0, theta=0.5))
