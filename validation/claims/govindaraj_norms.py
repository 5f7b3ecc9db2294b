"""Govindaraj 2009, sections 3 and 4: the sum of kernels, block ℓ1, and block ℓ∞ with its alternating algorithm."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np

from claim import Measured, claims_of
from govindaraj_setting import (
    Array,
    C,
    Hyperplane,
    combined,
    multipliers_of_margins,
    optimum,
    ordinary,
    single_features,
    solved,
    squares,
    svm,
    svm_value,
)
from mklcvx.problem.instance import Instance
from optima import against, middle


# ----------------------------------------------------------------------------- section 3: sum and block ℓ1
def separate_weight_vectors(half: float) -> float:
    """L2-MKL as printed: half · Σ‖w_k‖² + C Σξ."""
    plane = Hyperplane(ordinary())
    return plane.least(half * sum(cp.sum_squares(w) for w in plane.w))


def svm_of_the_sum() -> float:
    return svm_value(ordinary().kernels.sum(axis=0), ordinary().y)


def block_l1(half: float) -> float:
    plane = Hyperplane(ordinary())
    return plane.least(half * cp.square(cp.sum(plane.norms)))


def best_single_kernel() -> float:
    return min(svm_value(kernel, ordinary().y) for kernel in ordinary().kernels)


def best_convex_combination() -> float:
    """min over μ in the simplex of the SVM with Σ μ_k K_k, in its primal: ½ Σ ‖w_k‖²/μ_k."""
    plane, mu = Hyperplane(ordinary()), cp.Variable(ordinary().count, nonneg=True)
    ratios = cp.Variable(ordinary().count)
    epigraph = [cp.quad_over_lin(w, mu[k]) <= ratios[k] for k, w in enumerate(plane.w)]
    return plane.least(cp.sum(ratios) / 2, [*epigraph, cp.sum(mu) == 1])


def plain_average() -> float:
    return svm_value(ordinary().kernels.mean(axis=0), ordinary().y)


def selecting(select: Callable[[], float]) -> Measured:
    l1 = optimum(ordinary(), "l1")
    value, best = select(), middle(l1)
    used = float((l1.weights > 1e-4).sum())
    return Measured(abs(value - best) / best, {"value of the selection": value, "l1": best, "kernels l1 uses": used})


# ----------------------------------------------------------------------- section 4: block ℓ∞ and its dual
def with_epigraph(power: int) -> float:
    """min t + C Σξ, ‖w_k‖^power ≤ t for every k."""
    plane, t = Hyperplane(ordinary()), cp.Variable()
    return plane.least(t, [cp.power(norm, power) <= t for norm in plane.norms])


def largest_square() -> float:
    plane = Hyperplane(ordinary())
    return plane.least(cp.square(cp.max(plane.norms)))


def li_optimum() -> float:
    return middle(optimum(ordinary(), "li"))


def stationarity(half: float) -> Measured:
    """Eqs (1) to (4) at the solver's own primal point and multipliers, the margins' α and the norms' λ."""
    instance = ordinary()
    plane, t = Hyperplane(instance), cp.Variable()
    bounds = [cp.sum_squares(w) <= t for w in plane.w]
    plane.least(t, bounds)
    alpha = np.ravel(plane.margins.dual_value)
    rates = np.array([float(np.ravel(bound.dual_value)[0]) for bound in bounds])
    images = [half * x @ (alpha * instance.y) for x in plane.features]
    first = max(
        np.linalg.norm(rate * w.value - image) / np.linalg.norm(image)
        for rate, w, image in zip(rates, plane.w, images, strict=True)
    )
    second, third = abs(rates.sum() - 1), abs(alpha @ instance.y) / alpha.sum()
    fourth = max(alpha.max() - C, -alpha.min(), 0.0)
    names = ("(1)", "(2)", "(3)", "(4)")
    return Measured(max(first, second, third, fourth), dict(zip(names, (first, second, third, fourth), strict=True)))


def dual_in_both(half: float) -> float:
    """−min over α, λ of ½ α'Q(λ)α − 1'α with Q(λ) = half · Σ YK_kY/λ_k, jointly convex."""
    instance = ordinary()
    alpha, conditions, seen = multipliers_of_margins(instance)
    rates, ratios = cp.Variable(instance.count, nonneg=True), cp.Variable(instance.count)
    epigraph = [cp.quad_over_lin(z, rates[k]) <= ratios[k] for k, z in enumerate(seen)]
    cost = half * cp.sum(ratios) / 2
    return -solved(cp.Minimize(cost - cp.sum(alpha)), [*conditions, *epigraph, cp.sum(rates) == 1])


def as_svms_over_the_simplex(power: int) -> Measured:
    """−J(λ), an SVM with the kernel ½ Σ λ_k^power K_k: greatest at the optimal λ, nowhere greater."""
    instance, best = ordinary(), li_optimum()

    def minus_j(rates: Array) -> float:
        return svm_value(combined(instance, rates**power / 2), instance.y)

    rng = np.random.default_rng(0)
    there = minus_j(optimum(instance, "li").multipliers["lambda"])
    elsewhere = max(minus_j(rng.dirichlet(np.ones(instance.count))) for _ in range(50))
    error = max(abs(there - best), elsewhere - best, 0.0) / best
    return Measured(error, {"−J at the optimal λ": there, "greatest of 50 others": elsewhere, "optimum": best})


def vanishing_rates(instance: Instance) -> Measured:
    """Kernels with a part in the classifier and no λ. λ = √D/Σ√D at the certified α."""
    solution = optimum(instance, "li")
    rates, norms = solution.multipliers["lambda"], solution.norms
    lost = (rates < 1e-4 * rates.max()) & (norms > 1e-2 * norms.max())
    return Measured(float(lost.sum()), {"kernels used with λ = 0": float(lost.sum()), "least λ": float(rates.min())})


def classifier_from_alpha(version: tuple[float, float]) -> Measured:
    """The primal value of w_k = Σ α_i y_i x_i^k/(factor · λ_k), its bias the best one, against the optimum, with a
    ridge on every kernel."""
    ridge, factor = version
    instance = single_features(ridge)
    solution = optimum(instance, "li")
    rates = solution.multipliers["lambda"]
    seen = rates > 1e-6
    signed = solution.alpha * instance.y
    parts = np.zeros((instance.count, instance.samples))
    parts[seen] = signed / (factor * rates[seen, None])
    outputs = np.einsum("kij,kj->i", instance.kernels, parts)
    largest = max(part @ kernel @ part for part, kernel in zip(parts, instance.kernels, strict=True))
    candidates = outputs - instance.y
    hinge = min(np.maximum(0, 1 - instance.y * (outputs - b)).sum() for b in candidates)
    value, best = float(largest + C * hinge), middle(solution)
    return Measured(abs(value - best) / best, {"value": value, "optimum": best})


def equal_parts(quantity: str) -> Measured:
    solution = optimum(ordinary(), "li")
    parts = solution.norms if quantity == "norms" else 1 / (2 * solution.multipliers["lambda"])
    return Measured(
        float(parts.max() / parts.min() - 1),
        {f"least of {quantity}": parts.min(), f"greatest of {quantity}": parts.max()},
    )


# ------------------------------------------------------------------------------ section 4.2: alternating
def closed_form(power: float) -> Measured:
    """λ ∝ D^power against the least Σ D_k/λ_k over the simplex, found by a cone solver, on random D."""
    rng = np.random.default_rng(0)
    errors, last = [], {}
    for _ in range(5):
        D = rng.exponential(size=6)
        rates = cp.Variable(6)
        least = solved(cp.Minimize(D @ cp.inv_pos(rates)), [cp.sum(rates) == 1])
        value = float(np.sum(D / (D**power / np.sum(D**power))))
        errors.append(abs(value - least) / least)
        last = {"closed form": value, "least": least}
    return Measured(max(errors), last)


def li_alternating(power: float) -> Measured:
    """The algorithm of section 4.2 with λ ∝ D^power; each value is that of (5) after both steps, sign reversed."""
    instance, best = ordinary(), li_optimum()
    rates = np.full(instance.count, 1 / instance.count)
    values = []
    for _ in range(100):
        alpha = svm(combined(instance, 1 / (2 * rates)), instance.y)
        D = squares(instance, alpha)
        rates = D**power / np.sum(D**power)
        values.append(float(alpha.sum() - np.sum(D / rates) / 4))
    distances = np.abs(np.array(values) - best) / best
    close = np.flatnonzero(distances <= 1e-6)
    numbers = {"last value": values[-1], "optimum": best}
    if len(close):
        numbers["SVMs until 1e-6"] = float(close[0] + 1)
    return Measured(float(distances[-10:].max()), numbers)


claim = claims_of("govindaraj")
CLAIMS = (
    claim(
        "Section 3, (L2-MKL)",
        against(svm_of_the_sum, separate_weight_vectors, ("primal", "SVM of the sum")),
        printed=1 / 2,
        mutated=1.0,
    ),
    claim(
        "Section 3, (L1-MKL)",
        against(lambda: middle(optimum(ordinary(), "l1")), block_l1, ("block ℓ1", "l1")),
        printed=1 / 2,
        mutated=1.0,
    ),
    claim(
        "Abstract; sections 1, 3",
        selecting,
        printed=best_single_kernel,
        repaired=best_convex_combination,
        mutated=plain_average,
    ),
    claim(
        "Section 4, (Li-MKL)",
        against(largest_square, with_epigraph, ("with t", "with the maximum")),
        printed=2,
        mutated=1,
    ),
    claim("Eqs (1)–(4)", stationarity, printed=1 / 2, mutated=1.0),
    claim("Eq. (5)", against(li_optimum, dual_in_both, ("dual", "primal")), printed=1 / 2, mutated=1.0),
    claim("Eqs (6), (7)", as_svms_over_the_simplex, printed=-1, mutated=1),
    claim("After Eq. (4)", vanishing_rates, printed=ordinary(), mutated=single_features()),
    claim(
        "Eqs (1), (9) with section 6.2.1",
        classifier_from_alpha,
        printed=(0.0, 2),
        repaired=(1e-4, 2),
        mutated=(1e-4, 1),
    ),
    claim("Sections 1, 4", equal_parts, printed="norms", mutated="coefficients"),
    claim("Eqs (8), (9)", closed_form, printed=0.5, mutated=1.0),
    claim("Section 4.2, algorithm", li_alternating, printed=0.5, mutated=1.0),
)
