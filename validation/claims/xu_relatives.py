"""Xu et al. 2013, sections III-B and III-C: elastic nets, the square loss, L2MKL, LpMKL and their norms."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize_scalar

from claim import Measured, claims_of
from mklcvx.problem.instance import Instance
from optima import against, middle
from xu_setting import (
    PRICE,
    Array,
    Functions,
    Multipliers,
    apart,
    combined,
    greatest_for,
    halves,
    optimum,
    ordinary,
    unequal,
)

RATIO = 0.3  # v of SGMKL
POWER = 4 / 3  # p of LpMKL and of the p/(p−1)-hinge loss
GENERAL_THETA = 1e5  # of that loss: of the order of slack^(−3)


# ------------------------------------------------------------------- one path against another: weights as rays
Rival = Callable[[Instance], tuple[Array, Array]]  # the weights and the decision function (without b) of a method


def decision(weights: Array, alpha: Array, instance: Instance) -> Array:
    return combined(weights, instance) @ (alpha * instance.y)


def block_elastic_net(instance: Instance, strength: float = 4.0, power: int = 2) -> tuple[Array, Array]:
    """Ω(f) = ½ (Σ‖f_m‖)² + (λ/2) Σ‖f_m‖^power, Bach's with power 2. Weights ‖f_m‖/√q_m = ‖f_m‖²/(β'f_m)."""
    f = Functions(instance)
    f.least(cp.square(cp.sum(f.norms)) / 2 + strength / 2 * sum(cp.power(norm, power) for norm in f.norms))
    parts = np.stack([F @ w.value for F, w in zip(f.factors, f.w, strict=True)])
    norms = np.array([np.linalg.norm(w.value) for w in f.w])
    used = norms > 1e-5 * norms.max()
    signed = np.linalg.solve(instance.kernels[used.argmax()], parts[used.argmax()])  # α⊙y, up to a factor
    seen = np.array([np.sqrt(signed @ kernel @ signed) for kernel in instance.kernels])
    return np.where(used, norms / seen, 0.0), parts.sum(axis=0)


def elastic_constraint(instance: Instance, power: int = 2) -> tuple[Array, Array]:
    """½ Σ‖f_m‖²/μ_m under v Σμ + (1 − v) Σμ^power ≤ 1, SGMKL with power 2."""
    f = Functions(instance)
    net = RATIO * cp.sum(f.mu) + (1 - RATIO) * cp.sum(cp.power(f.mu, power))
    f.least(cp.sum(f.ratios) / 2, [*f.epigraph, net <= 1])
    return f.mu.value, sum(F @ w.value for F, w in zip(f.factors, f.w, strict=True))


def ray(values: Array) -> Array:
    return values / np.linalg.norm(values)


@cache
def square_hinge(log_theta: float, instance: Instance) -> tuple[Array, Array]:
    solution = optimum("sm2", instance, theta=float(np.exp(log_theta)))
    return solution.weights, decision(solution.weights, solution.alpha, instance)


def misfit_along_the_path(version: tuple[Rival, tuple[int, ...]]) -> Measured:
    """The largest misfit over some numbers of kernels."""
    rival, counts = version
    found = {count: least_misfit(rival, unequal(count)) for count in counts}
    numbers = {f"{name}, M = {count}": value for count, each in found.items() for name, value in each.numbers.items()}
    return Measured(max(each.error for each in found.values()), numbers)


def least_misfit(rival: Rival, instance: Instance) -> Measured:
    """The least distance, over all θ of the square hinge loss, between the weights of the two methods as rays."""
    weights, values = rival(instance)

    def misfit(log_theta: float) -> float:
        return float(np.linalg.norm(ray(square_hinge(float(log_theta), instance)[0]) - ray(weights)))

    grid = np.linspace(np.log(1e-2), np.log(1e5), 24)
    best = grid[int(np.argmin([misfit(x) for x in grid]))]
    found = minimize_scalar(misfit, bounds=(best - 0.7, best + 0.7), method="bounded", options={"xatol": 1e-7})
    numbers = {
        "kernels in use": float(np.sum(weights > 1e-4 * weights.max())),
        "best θ": float(np.exp(found.x)),
        "misfit of weights": float(found.fun),
        "of decision functions": float(np.linalg.norm(ray(square_hinge(found.x, instance)[1]) - ray(values))),
    }
    return Measured(float(found.fun), numbers)


# -------------------------------------------------------------------------------------------- SGMKL, printed twice
def net_constraint(net: Callable[[Any], Any]) -> float:
    f = Functions()
    return f.least(cp.sum(f.ratios) / 2, [*f.epigraph, net(f.mu) <= 1])


def squared_net(mu: Any) -> Any:
    return RATIO * cp.sum(mu) + (1 - RATIO) * cp.sum_squares(mu)


def plain_net(mu: Any) -> Any:
    return RATIO * cp.sum(mu) + (1 - RATIO) * cp.norm(mu)


def net_with_shares_swapped(mu: Any) -> Any:
    return (1 - RATIO) * cp.sum(mu) + RATIO * cp.sum_squares(mu)


# ---------------------------------------------------------------------------------- III-C: square loss, L2, Lp
def slack_losses(power: float) -> tuple[float, Array]:
    """min (θ/2) Σζ^power over α ∈ A, ½ (α⊙y)'K_m(α⊙y) ≤ ζ_m: Eq. (15) with power 2. θ, a factor of the whole, is 1."""
    dual, zeta = Multipliers(), cp.Variable(ordinary().count, nonneg=True)
    size = float(halves(optimum("average").alpha).mean())  # ζ in this unit, for the solver's sake
    cuts = [h <= size * zeta[m] for m, h in enumerate(dual.halves)]
    return size**power / 2 * dual.least(cp.sum(cp.power(zeta, power)), cuts), dual.alpha.value


def same_alpha(power: float, rival: str, **parameters: float) -> Measured:
    """α of the losses ζ^power against that of a norm constraint on the weights; both sets of ½q for the reader."""
    here, there = slack_losses(power)[1], optimum(rival, **parameters).alpha
    numbers = {f"‖½q‖₂, {name}": float(np.linalg.norm(halves(a))) for name, a in (("(15)", here), (rival, there))}
    return Measured(apart(here, there), numbers)


def lagrangian_of_square_loss(half: float) -> float:
    """max over μ ≥ 0 of min over α of ½ Σ μ_m q_m − half · ‖μ‖²/θ at θ = 1, by its best μ = ½ q/(2 half)."""
    v = halves(slack_losses(2)[1])
    mu = v / (2 * half)
    return -greatest_for(mu)[0] - half * float(mu @ mu)


def at_one_theta(change: float) -> Measured:
    """With C-SVC: α of the square loss at θ = change/‖½q‖₂, q taken at L2MKL's α, against that α."""
    l2 = optimum("l2", C=PRICE)
    theta = change / float(np.linalg.norm(halves(l2.alpha)))
    square = optimum("square", C=PRICE, theta=theta)
    numbers = {"θ": theta, "Σα, square": float(square.alpha.sum()), "Σα, l2": float(l2.alpha.sum())}
    return Measured(apart(square.alpha, l2.alpha), numbers)


def general_hinge(exponent: float) -> float:
    """min −τ + (θ/2) Σζ^exponent, ζ ≥ 0, with ½ (α⊙y)'K_m(α⊙y) ≤ −τ + ζ_m."""
    dual, tau, zeta = Multipliers(), cp.Variable(), cp.Variable(ordinary().count, nonneg=True)
    cuts = [-h >= tau - zeta[m] for m, h in enumerate(dual.halves)]
    return dual.least(-tau + GENERAL_THETA / 2 * cp.sum(cp.power(zeta, exponent)), cuts)


claim = claims_of("xu")
CLAIMS = (
    claim(
        "After Eq. (14), elastic net constraint",
        misfit_along_the_path,
        printed=(elastic_constraint, (5,)),
        mutated=(partial(elastic_constraint, power=4), (5,)),
    ),
    claim(
        "After Eq. (14), block elastic net",
        misfit_along_the_path,
        printed=(block_elastic_net, (3, 5)),
        repaired=(block_elastic_net, (2,)),
        mutated=(partial(block_elastic_net, power=3), (5,)),
    ),
    claim(
        "Section V-A, SGMKL",
        against(lambda: middle(optimum("elastic", l1_ratio=RATIO)), net_constraint, ("value", "elastic")),
        printed=plain_net,
        repaired=squared_net,
        mutated=net_with_shares_swapped,
    ),
    claim(
        "Section III-B, last paragraph",
        against(
            lambda: -middle(optimum("smp", theta=GENERAL_THETA, p=POWER)), general_hinge, ("p/(p−1)-hinge", "−smp")
        ),
        printed=POWER / (POWER - 1),
        mutated=POWER,
    ),
    claim(
        "Proposition 5, proof",
        against(lambda: slack_losses(2)[0], lagrangian_of_square_loss, ("Lagrangian", "(15)")),
        printed=1 / 2,
        mutated=1.0,
    ),
    claim("Proposition 5, Eqs (15), (16)", partial(same_alpha, rival="l2"), printed=2.0, mutated=4.0),
    claim("Proposition 5 with C-SVC", at_one_theta, printed=1.0, mutated=10.0),
    claim(
        "Section III-C, last paragraph",
        partial(same_alpha, rival="lp", p=POWER),
        printed=POWER / (POWER - 1),
        mutated=POWER,
    ),
)
