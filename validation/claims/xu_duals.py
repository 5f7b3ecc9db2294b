"""Xu et al. 2013, sections II to III: the ν-SVM, L1MKL, and the three soft margins with their primals and duals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import cvxpy as cp
import numpy as np
from sklearn.svm import NuSVC

from claim import Measured, claims_of
from mklcvx import zoo
from optima import against, middle, root
from xu_setting import (
    BOX,
    NU,
    PRICE,
    Array,
    Functions,
    Multipliers,
    apart,
    greatest_for,
    halves,
    optimum,
    ordinary,
    solved,
)

THETA = 30.0  # of the square hinge loss: unequal weights


# ------------------------------------------------------------------------------------------ II-A: the ν-SVM
def nu_svm_primal(price_factor: float) -> float:
    """Eq. (2) as printed, over coefficients α of either sign."""
    instance = ordinary(1)
    y, kernel = instance.y, instance.kernels[0]
    F, signed = root(kernel), cp.Variable(instance.samples)
    rho, slack = cp.Variable(), cp.Variable(instance.samples, nonneg=True)
    margins = cp.multiply(y, F @ (F.T @ signed) + cp.Variable()) >= rho - slack
    price = price_factor / (NU * instance.samples)
    return solved(cp.Minimize(cp.sum_squares(F.T @ signed) / 2 + price * cp.sum(slack) - rho), [margins])


def nu_svm_dual() -> float:
    return greatest_for(np.ones(1), ordinary(1))[0]


def dual_alpha_in_the_primal(scale: float) -> float:
    """Eq. (2) at the dual's α, scaled; b, ρ and ξ at their best."""
    instance = ordinary(1)
    signed = scale * greatest_for(np.ones(1), instance)[1] * instance.y
    outputs = instance.kernels[0] @ signed
    b, rho, slack = cp.Variable(), cp.Variable(), cp.Variable(instance.samples, nonneg=True)
    margins = cp.multiply(instance.y, outputs + b) >= rho - slack
    risk = solved(cp.Minimize(cp.sum(slack) / (NU * instance.samples) - rho), [margins])
    return float(signed @ outputs / 2 + risk)


def bounded_by_nu(bounds: tuple[tuple[str, str], ...]) -> Measured:
    """Shares of margin errors and of support vectors at several ν, by LIBSVM; how far a bound is missed."""
    instance = zoo.random(n=80, M=1, overlap=0.6, seed=0)
    missed, numbers = 0.0, {}
    for nu in (0.3, 0.5, 0.7):
        machine = NuSVC(nu=nu, kernel="precomputed", tol=1e-8).fit(instance.kernels[0], instance.y)
        margins = instance.y * machine.decision_function(instance.kernels[0])
        shares = {
            "margin errors": float(np.mean(margins < 1 - 1e-4)),
            "support vectors": len(machine.support_) / instance.samples,
        }
        for name, side in bounds:
            missed = max(missed, nu - shares[name] if side == "from below" else shares[name] - nu)
        numbers |= {f"{name} at ν = {nu}": share for name, share in shares.items()}
    return Measured(missed, numbers)


# ----------------------------------------------------------------------------------------- II-B, C: L1MKL
def l1_value() -> float:
    return middle(optimum("l1"))


def l1_primal(half: float) -> float:
    f = Functions()
    return f.least(half * cp.square(cp.sum(f.norms)))


def l1_dual(half: float) -> float:
    """max τ, −½ (α⊙y)'K_m(α⊙y) ≥ τ: half = ½."""
    dual, tau = Multipliers(), cp.Variable()
    return -dual.least(-tau, [-2 * half * h >= tau for h in dual.halves])


def value_at(weights: Callable[[], Array]) -> float:
    return greatest_for(weights())[0]


def l1_weights() -> Array:
    return optimum("l1").weights


def equal_weights() -> Array:
    return np.full(ordinary().count, 1 / ordinary().count)


def greatest_of_least() -> float:
    dual = Multipliers()
    return -dual.least(cp.max(cp.hstack(dual.halves)))


def least_of_greatest() -> float:
    return min(greatest_for(weights)[0] for weights in np.eye(ordinary().count))


def kept_at_the_margin(which: str) -> Measured:
    """−SVM{K_m, α} against −τ, the largest of them, over the kernels kept or over all."""
    solution = optimum("l1")
    levels, kept = halves(solution.alpha), solution.weights > 1e-4
    chosen = kept if which == "kept" else np.ones(len(kept), dtype=bool)
    error = float(np.max(np.abs(levels[chosen] / levels.max() - 1)))
    return Measured(error, {"kernels kept": float(kept.sum()), "of": float(len(kept)), "−τ": float(levels.max())})


def vanishing_weights(powers: tuple[float, ...]) -> Measured:
    shares = {f"p = {p:g}": optimum("lp", p=p).weights for p in powers}
    least = {f"least weight, {name}": float(mu.min() / mu.max()) for name, mu in shares.items()}
    return Measured(float(max(np.mean(mu <= 1e-9 * mu.max()) for mu in shares.values())), least)


# -------------------------------------------------------------------------------------- III-A: hinge loss
def hinge_dual(price: float) -> tuple[float, Array]:
    """Eq. (28): min −τ + θ Σζ, −½ (α⊙y)'K_m(α⊙y) ≥ τ − ζ_m, ζ ≥ 0."""
    dual, tau, zeta = Multipliers(), cp.Variable(), cp.Variable(ordinary().count, nonneg=True)
    cuts = [-h >= tau - zeta[m] for m, h in enumerate(dual.halves)]
    return dual.least(-tau + price * cp.sum(zeta), cuts), dual.alpha.value


def hinge_proposition(price: float) -> Measured:
    """Value and α of Eq. (28) with the given price against Eq. (11) at its best μ ≤ θ."""
    found, alpha = hinge_dual(price)
    value, best_alpha = greatest_for(optimum("sm1", theta=BOX).weights)
    error = max(abs(-found - value) / abs(value), apart(alpha, best_alpha))
    return Measured(error, {"−(28)": -found, "(11)": value, "distance of the α": apart(alpha, best_alpha)})


def hinge_primal(half: float) -> float:
    """Eq. (17), half = ½."""
    f = Functions()
    return f.least(half * cp.sum(f.ratios), [*f.epigraph, cp.sum(f.mu) == 1, f.mu <= BOX])


def solvable_with(theta: float) -> Measured:
    """1 if the domain M_1 of the weights has a point, by a linear program; its room Mθ − 1."""
    mu = cp.Variable(ordinary().count, nonneg=True)
    problem = cp.Problem(cp.Minimize(0), [cp.sum(mu) == 1, mu <= theta])
    problem.solve(solver="CLARABEL")
    return Measured(float(problem.status == "optimal"), {"θM": theta * ordinary().count})


def jointly_convex(power: int) -> Measured:
    """Share of random segments on which ‖f‖²/μ^power lies above its chord at the middle."""
    rng = np.random.default_rng(0)
    f, mu = rng.normal(size=(2, 2000)), rng.uniform(0.1, 1, size=(2, 2000))
    ends = (f**2 / mu**power).mean(axis=0)
    middles = f.mean(axis=0) ** 2 / mu.mean(axis=0) ** power
    above = float(np.mean(middles > ends * (1 + 1e-12)))
    return Measured(above, {"share of segments above the chord": above})


# -------------------------------------------------------------------------------- III-B: square hinge loss
def square_hinge_dual(sign: float) -> float:
    """Eq. (12) with sign · τ in the objective, |τ| ≤ 1000 so that an unbounded objective shows."""
    dual, tau, zeta = Multipliers(), cp.Variable(), cp.Variable(ordinary().count)
    cuts = [-h >= tau - zeta[m] for m, h in enumerate(dual.halves)]
    return dual.least(sign * tau + THETA / 2 * cp.sum_squares(zeta), [*cuts, cp.abs(tau) <= 1000])


def square_hinge_saddle(factor_of_penalty: float = 1.0) -> float:
    """Eq. (13) at the best μ: an SVM by itself, plus the penalty of the weights."""
    mu = optimum("sm2", theta=THETA).weights
    return greatest_for(mu)[0] + factor_of_penalty * float(mu @ mu) / (2 * THETA)


def square_hinge_primal(theta: float) -> float:
    """Eq. (14)."""
    f = Functions()
    penalty = cp.sum(f.ratios) / 2 + cp.sum_squares(f.mu) / (2 * theta)
    return f.least(penalty, [*f.epigraph, cp.sum(f.mu) == 1])


def soft_svm(loss: str, change: float) -> Measured:
    """An SVM's primal with C Σξ or (C/2) Σξ², and the dual the paper ascribes to it, its C changed."""
    instance = ordinary(1)
    y, F = instance.y, root(instance.kernels[0])
    w, slack = cp.Variable(F.shape[1]), cp.Variable(instance.samples, nonneg=True)
    price = cp.sum(slack) if loss == "hinge" else cp.sum_squares(slack) / 2
    margins = cp.multiply(y, F @ w + cp.Variable()) >= 1 - slack
    primal = solved(cp.Minimize(cp.sum_squares(w) / 2 + PRICE * price), [margins])
    alpha = cp.Variable(instance.samples, nonneg=True)
    gain = cp.sum(alpha) - cp.sum_squares((F * y[:, None]).T @ alpha) / 2
    conditions = [y @ alpha == 0]
    if loss == "hinge":
        conditions.append(alpha <= PRICE * change)
    else:
        gain = gain - cp.sum_squares(alpha) / (2 * PRICE * change)
    dual = solved(cp.Maximize(gain), conditions)
    return Measured(abs(dual - primal) / primal, {"primal": primal, "dual": dual})


claim = claims_of("xu")
CLAIMS = (
    claim("Eqs (2), (3)", against(nu_svm_dual, nu_svm_primal, ("primal", "dual")), printed=1.0, mutated=1.5),
    claim(
        "After Eq. (4)",
        against(nu_svm_dual, dual_alpha_in_the_primal, ("primal at α", "dual")),
        printed=1.0,
        mutated=1.2,
    ),
    claim(
        "After Eq. (2)",
        bounded_by_nu,
        printed=(("margin errors", "from below"),),
        repaired=(("margin errors", "from above"), ("support vectors", "from below")),
        mutated=(("support vectors", "from above"),),
    ),
    claim("Eq. (5)", against(l1_value, l1_primal, ("(5)", "l1")), printed=1 / 2, mutated=1.0),
    claim("Eq. (6)", against(l1_value, l1_dual, ("(6)", "l1")), printed=1 / 2, mutated=1.0),
    claim("Eq. (7)", against(l1_value, value_at, ("SVM at μ", "l1")), printed=l1_weights, mutated=equal_weights),
    claim(
        "Section II-C",
        against(l1_value, lambda order: order(), ("value", "l1")),
        printed=greatest_of_least,
        mutated=least_of_greatest,
    ),
    claim("Section II-C, kernels kept", kept_at_the_margin, printed="kept", mutated="all"),
    claim("Section II-C, last paragraph", vanishing_weights, printed=(2.0, 4 / 3), mutated=(1.0,)),
    claim("Proposition 2, Eqs (11), (28)", hinge_proposition, printed=BOX, mutated=1.2 * BOX),
    claim("Section III-A, observation 1", solvable_with, printed=0.99 / 5, mutated=1.01 / 5),
    claim(
        "Section III-A, observation 2",
        against(
            lambda: middle(optimum("average")), lambda theta: middle(optimum("sm1", theta=theta)), ("sm1", "average")
        ),
        printed=1 / 5,
        mutated=1 / 4,
    ),
    claim(
        "Section III-A, observation 3",
        against(l1_value, lambda theta: middle(optimum("sm1", theta=theta)), ("sm1", "l1")),
        printed=1.0,
        mutated=1 / 3,
    ),
    claim(
        "Proposition 6, Eq. (17)",
        against(lambda: -hinge_dual(BOX)[0], hinge_primal, ("(17)", "−(28)")),
        printed=1 / 2,
        mutated=1.0,
    ),
    claim("After Proposition 6", jointly_convex, printed=1, mutated=2),
    claim("Section III-A, analogy", partial(soft_svm, "hinge"), printed=1.0, mutated=1.5),
    claim(
        "Eq. (12)",
        against(lambda: -middle(optimum("sm2", theta=THETA)), square_hinge_dual, ("(12)", "−sm2")),
        printed=1.0,
        repaired=-1.0,
        mutated=-2.0,
    ),
    claim(
        "Proposition 3, Eq. (13)",
        against(lambda: -square_hinge_dual(-1.0), square_hinge_saddle, ("(13)", "−(12)")),
        printed=1.0,
        mutated=2.0,
    ),
    claim(
        "Proposition 4, Eq. (14)",
        against(lambda: -square_hinge_dual(-1.0), square_hinge_primal, ("(14)", "−(12)")),
        printed=THETA,
        mutated=THETA / 2,
    ),
    claim("Section III-B, analogy", partial(soft_svm, "square hinge"), printed=1.0, mutated=0.5),
)
