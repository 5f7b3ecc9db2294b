"""The bounds that an answer to a single task proves, with every rounding error paid for.

α is put into its feasible set and weights into their domain: the bounds need both to be exactly feasible. Where that
changes them by more than rounding, f_m = weight_m K_m β is evaluated as given, from its coefficients.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..certificate import Certificate
from ..certificate.passes import Seen, seen
from ..certificate.proving import BlockNormEvaluation, certified
from ..certificate.regularisers import Square, regulariser_of
from ..certificate.ridge import combined_ridge, ridges
from ..certificate.rounding import POWER, above, total_above, total_below
from ..certificate.sample_terms import negligible, sample_terms
from ..certificate.single import Evaluation, OwnCoefficients
from ..errors import InputError
from ..formulations import SingleTask, Task
from ..problem.stack import Array
from ..solvers.polish import balanced

NEAR = 1e-9  # relative: what counts as rounding in an answer
LEAST = 2.0**-40  # of the largest weight: what a function that has none is given
NO_PRICE = 2.0**300  # θ of `square`, whose R(μ) = ‖μ‖²/(2θ) is nothing then
LARGEST = 1e100  # a number whose square is one


def answer_certificate(
    formulation: SingleTask, task: Task, weights: Array | None, alpha: Array | None, coefficients: Array | None,
    low: Array | None, tolerance: float,
) -> Certificate:  # fmt: skip
    """Both bounds. A side that is missing is that of α = 0, or of f = 0."""
    for given in (weights, alpha, coefficients):
        if given is not None and np.nanmax(np.abs(given), initial=0.0) > LARGEST:
            raise InputError("answer: its objective is not finite: give numbers of moderate size")
    dual = task.feasible(np.zeros(task.samples) if alpha is None else alpha)
    if coefficients is None and weights is not None and alpha is not None:
        side = regulariser_of(formulation.name, task.count, task.own)
        placed = np.maximum(weights, 0.0) if side is None else side.feasible(weights)
        if _near(placed, weights) and _near(dual, alpha):
            fine = None if low is None or not np.array_equal(dual, alpha) else low
            return certified(formulation, task, dual, placed, tolerance, low=fine).certificate
        coefficients = np.outer(weights, alpha * task.signs)
    if coefficients is None:
        coefficients = np.zeros((task.count, task.samples))
    return upper_certificate(formulation, task, dual, coefficients, weights)


def upper_certificate(
    formulation: SingleTask, task: Task, alpha: Array, coefficients: Array, weights: Array | None = None
) -> Certificate:
    """The certificate of coefficients beside a feasible α, with the weights given or those that fit the functions
    best."""
    coefficients = centred(coefficients) if task.bias else coefficients
    if formulation.between is not None:
        at = BlockNormEvaluation(formulation, task, alpha, np.full(task.count, np.nan), coefficients, sliced=True)
        return at.bounds(ridges(task, np.ones(task.count), at.balanced)).certificate
    norms, roots = task.evaluate(coefficients)[1], task.root_q(alpha)
    side, used = regulariser_of(formulation.name, task.count, task.own), np.asarray(coefficients.any(axis=1))
    certificates = []
    for mu in weights_for_functions(formulation.weights(norms, roots, **task.own), used, weights):
        lower = Evaluation(side, task, alpha, mu, sliced=True)
        certificates.append(OwnCoefficients(lower, coefficients).bounds().certificate)
    return min(certificates, key=lambda certificate: certificate.upper)


def weights_for_functions(fitting: Array, used: NDArray[np.bool_], given: Array | None) -> list[Array]:
    """The weights that fit the functions best, and those that are given, if every kernel that is used has one."""
    tried = [fitting]
    if given is not None and np.isfinite(given).all() and (given[used] > 0).all():
        tried.append(given)
    positive = [np.nan_to_num(np.maximum(mu, 0.0)) for mu in tried]
    return [np.where(used, np.maximum(mu, LEAST * float(mu.max(initial=0.0))), mu) for mu in positive]


def weights_upper(formulation: SingleTask, task: Task, weights: Array, alpha: Array, tolerance: float) -> float:
    """R(μ) + ½μ'q + risk of weights in their domain with a feasible α; δ is no sharper than the tolerance needs.

    Weights inside a ball stay as they are: with fixed weights the problem is `square` without a price."""
    side = regulariser_of(formulation.name, task.count, task.own)
    mu = side.held(weights)
    at = Evaluation(Square(task.count, NO_PRICE), task, alpha, mu, sliced=True)
    bare = replace(at.bounds(0.0).certificate, width=0.0)  # a gap that means nothing here
    enough = at.samples.side.ridge_costing(alpha, negligible(bare, tolerance))
    certificate = at.bounds(combined_ridge(task, mu, task.bias, enough)).certificate
    return total_above([certificate.upper, side.value(mu)])


def alpha_lower(formulation: SingleTask, task: Task, alpha: Array) -> float:
    """gain(α) − R*(½q(α)), or gain(α) − U*(√q) of the kernels K_m + δ_mI that certificates are about, from below."""

    def look(point: Array) -> Seen:
        return seen(task, point * task.signs, task.bias, sliced=True)

    alpha = task.feasible(alpha)
    side = regulariser_of(formulation.name, task.count, task.own)
    if side is not None:
        alpha, quad_forms = side.admitted(alpha, look, task.feasible)
        cost = side.conjugate(quad_forms.high / 2, side.threshold(quad_forms.high / 2))
    else:
        quad_forms = look(alpha)
        lifted = quad_forms.high + above(ridges(task, np.ones(task.count), task.bias) * total_above(alpha**2))
        roots = above(np.sqrt(np.maximum(lifted, 0.0)))
        cost = float(above(formulation.conjugate(roots, **task.own), POWER + 64 + task.count))
    return total_below([sample_terms(task).gain(alpha), -cost])


def _near(feasible: Array, given: Array) -> bool:
    return bool(np.abs(feasible - given).max() <= NEAR * np.abs(given).max())


def centred(coefficients: Array) -> Array:
    """Every row (…, n) with a sum of exactly zero where it is zero up to rounding."""
    return np.apply_along_axis(_balanced, -1, coefficients)


def _balanced(row: Array) -> Array:
    """The row with a sum of exactly zero, if it is zero up to rounding: a constant would be a bias."""
    return balanced(row) if abs(math.fsum(row)) <= NEAR * float(np.abs(row).sum()) else row
