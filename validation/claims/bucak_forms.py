"""Bucak et al. 2010, the problems: Eqs (1) to (6).

H_k(p) = max over α ∈ [0, C]ⁿ of 1'α − ½ α'Y^k K(p) Y^k α is the SVM of class k, without bias, at the weights p;
L(p, γ) = Σ_k γ_k H_k(p).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import load_wine

import mklcvx
from claim import Measured, claims_of
from mklcvx.problem.kernels import Gaussian, KernelBank
from mklcvx.problem.stack import KernelStack

Array = NDArray[np.float64]

PRICE = 5.0  # C: with C = 1 the printed Eq. (1) could not be told from its repair


# ------------------------------------------------------------------------------- machines and problems
def machine(quadratic: Array, price: float, linear: float = 1.0) -> Array:
    """The maximiser of linear·1'α − ½ α'Qα over [0, price]ⁿ, by Newton steps on the free coordinates."""

    def gain(alpha: Array) -> float:
        return float(linear * alpha.sum() - alpha @ quadratic @ alpha / 2)

    alpha = np.zeros(len(quadratic))
    for _ in range(500):
        slope = linear - quadratic @ alpha
        free = ~(((alpha <= 0) & (slope <= 0)) | ((alpha >= price) & (slope >= 0)))
        if not free.any() or np.abs(slope[free]).max() <= 1e-12 * linear:
            return alpha
        step, here = np.zeros_like(alpha), gain(alpha)
        step[free] = np.linalg.solve(quadratic[np.ix_(free, free)], slope[free])
        tried = (np.clip(alpha + step / 2.0**halvings, 0.0, price) for halvings in range(50))
        better = next((candidate for candidate in tried if gain(candidate) > here), None)
        if better is None:
            break
        alpha = better
    slope = linear - quadratic @ alpha
    gap = price * np.maximum(slope, 0).sum() - alpha @ slope
    if gap > 1e-8 * max(1.0, gain(alpha)):
        raise ArithmeticError(f"the machine stopped at a duality gap of {gap:.2g}")
    return alpha


@dataclass(frozen=True)
class Classes:
    """Kernels (s, n, n), signs (m, n) and C."""

    kernels: Array
    signs: Array
    price: float

    def quadratics(self, p: Array) -> list[Array]:
        combined = np.tensordot(p, self.kernels, axes=1)
        return [combined * np.outer(y, y) for y in self.signs]

    def machines(self, p: Array) -> Array:
        """α^k(p), (m, n)."""
        return np.stack([machine(quadratic, self.price) for quadratic in self.quadratics(p)])

    def halves(self, alphas: Array) -> Array:
        """½ (α^k∘y^k)'K_a(α^k∘y^k), (m, s)."""
        signed = alphas * self.signs
        return np.einsum("ki,aij,kj->ka", signed, self.kernels, signed) / 2

    def losses(self, p: Array) -> Array:
        """H_k(p), (m,)."""
        alphas = self.machines(p)
        return alphas.sum(axis=1) - self.halves(alphas) @ p

    def lagrangian(self, p: Array, gamma: Array) -> float:
        return float(gamma @ self.losses(p))


def wine_instance() -> mklcvx.Instance:
    """45 wines of three classes; a Gaussian kernel on each of four groups of features."""
    wine = load_wine()
    x, classes = wine.data[::4], wine.target[::4]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    groups = (slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 13))
    kernels = np.concatenate([KernelBank([Gaussian(0.1)]).fit(x[:, group]).stack() for group in groups])
    return mklcvx.Instance(kernels + 0.01 * np.eye(len(x)), classes=classes)  # definite: α^k(p) is unique


WINE = wine_instance()
CLASSES = Classes(np.array(WINE.kernels), WINE.targets.signs("ml_sum"), PRICE)
GENERATOR = np.random.default_rng(7)
POINTS = [(GENERATOR.dirichlet(np.ones(4)), GENERATOR.dirichlet(np.ones(3))) for _ in range(6)]


@cache
def certified(name: str) -> mklcvx.Solution:
    return mklcvx.solve(WINE, name, solver="clarabel", C=PRICE)


def least_over_simplex(value_and_slope: Callable[[Array], tuple[float, Array]], size: int) -> float:
    found = minimize(
        value_and_slope,
        np.full(size, 1 / size),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * size,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(size)},
        options={"ftol": 1e-14, "maxiter": 300},
    )
    return float(found.fun)


def off(value: float, true: float) -> float:
    return abs(value - true) / abs(true)


# -------------------------------------------------------------------------------------- Eqs (1) and (2)
def sum_of_losses(price: float) -> float:
    """Eq. (1) written out: f_k^a in the space of K_a, Σ_a ‖f_k^a‖²/p_a for the norm in the space of K(p)."""
    factors = [factor.columns for factor in KernelStack(CLASSES.kernels).factors]
    signs = CLASSES.signs
    parts = [cp.Variable((columns.shape[1], len(signs))) for columns in factors]
    p, squares = cp.Variable(len(factors), nonneg=True), cp.Variable(len(factors))
    outputs = sum(columns @ part for columns, part in zip(factors, parts, strict=True))
    hinges = cp.sum(cp.pos(1 - cp.multiply(signs.T, outputs)))
    cones = [cp.quad_over_lin(part, p[a]) <= squares[a] for a, part in enumerate(parts)]
    problem = cp.Problem(cp.Minimize(cp.sum(squares) / 2 + price * hinges), [*cones, cp.sum(p) == 1])
    return float(problem.solve(solver="CLARABEL"))


def min_max_of_sum(half: float) -> float:
    """Eq. (2), with `half` before the quadratic term: descent on A(p) = max over α of L(p, α)."""
    # 1'α − h α'Qα is an SVM with the kernel 2h·Q.
    scaled = Classes(2 * half * CLASSES.kernels, CLASSES.signs, PRICE)

    def value_and_slope(p: Array) -> tuple[float, Array]:
        alphas = scaled.machines(p)
        halves = scaled.halves(alphas)
        return float(alphas.sum() - (halves @ p).sum()), -halves.sum(axis=0)

    return least_over_simplex(value_and_slope, 4)


def measure_primal(price: float) -> Measured:
    primal, dual = sum_of_losses(price), min_max_of_sum(0.5)
    upper = certified("ml_sum").certificate.upper
    return Measured(off(primal, dual), {"(1)": primal, "(2)": dual, "certified": upper})


def measure_dual(half: float) -> Measured:
    value, certificate = min_max_of_sum(half), certified("ml_sum").certificate
    return Measured(off(value, certificate.lower), {"(2)": value, "certified": certificate.lower})


# --------------------------------------------------------------------------------------------- gradients
def slopes(function: Callable[[Array], float], at: Array, width: float = 1e-5) -> Array:
    return np.array([(function(at + width * e) - function(at - width * e)) / (2 * width) for e in np.eye(len(at))])


def gradient_error(formula: Array, function: Callable[[Array], float], at: Array) -> Measured:
    seen = slopes(function, at)
    error = np.abs(formula - seen).max() / np.abs(seen).max()
    return Measured(float(error), {"formula": float(formula[0]), "difference quotient": float(seen[0])})


def measure_sum_gradient(factor: float) -> Measured:
    p = POINTS[0][0]
    formula = factor * 2 * CLASSES.halves(CLASSES.machines(p)).sum(axis=0)
    return gradient_error(formula, lambda at: float(CLASSES.losses(at).sum()), p)


def measure_argmax(coefficient: float) -> Measured:
    """The printed gradient with α^k(p) = argmax of 1'α − coefficient·α'Qα."""
    p = POINTS[0][0]
    alphas = np.stack([machine(2 * coefficient * quadratic, PRICE) for quadratic in CLASSES.quadratics(p)])
    return gradient_error(-CLASSES.halves(alphas).sum(axis=0), lambda at: float(CLASSES.losses(at).sum()), p)


def measure_weight_gradient(factor: float) -> Measured:
    p, gamma = POINTS[1]
    formula = factor * 2 * gamma @ CLASSES.halves(CLASSES.machines(p))
    return gradient_error(formula, lambda at: CLASSES.lagrangian(at, gamma), p)


def measure_class_gradient(factor: float) -> Measured:
    p, gamma = POINTS[1]
    alphas = CLASSES.machines(p)
    formula = alphas.sum(axis=1) - factor * 2 * CLASSES.halves(alphas) @ p
    return gradient_error(formula, lambda at: CLASSES.lagrangian(p, at), gamma)


# --------------------------------------------------------------------------------------- Eqs (3) to (5)
PAIR = mklcvx.Instance(CLASSES.kernels[[0, 3]], labels=(CLASSES.signs[:2].T > 0).astype(int))
PAIR_CLASSES = Classes(CLASSES.kernels[[0, 3]], CLASSES.signs[:2], PRICE)


def squared_sum_of_roots(p: Array, power: float) -> float:
    """Eq. (4) at p for two classes: max over λ of (Σ_k √g_k)², g_k = max of λ_k^power·1'β − ½ β'Qβ over [0, Cλ_k]ⁿ."""
    quadratics = PAIR_CLASSES.quadratics(p)

    def gain(quadratic: Array, share: float) -> float:
        if share <= 0:
            return 0.0
        beta = machine(quadratic, PRICE * share, share**power)
        return share**power * beta.sum() - beta @ quadratic @ beta / 2

    def total(share: float) -> float:
        return sum(np.sqrt(gain(q, part)) for q, part in zip(quadratics, (share, 1 - share), strict=True)) ** 2

    inside = minimize_scalar(lambda share: -total(share), bounds=(0, 1), method="bounded", options={"xatol": 1e-4})
    return max(total(0.0), total(1.0), -inside.fun)


def measure_direct_dual(power: float) -> Measured:
    def value(first: float) -> float:
        return squared_sum_of_roots(np.array([first, 1 - first]), power)

    coarse = min(np.linspace(0, 1, 11), key=value)  # nothing says that (4) as printed is convex in p
    around = (max(coarse - 0.1, 0.0), min(coarse + 0.1, 1.0))
    found = float(minimize_scalar(value, bounds=around, method="bounded", options={"xatol": 1e-6}).fun)
    true = mklcvx.solve(PAIR, "ml_minimax", solver="clarabel", C=PRICE).certificate.upper
    return Measured(off(found, true), {"(4)": found, "(3), certified": true})


def min_max_over(mixtures: Array) -> float:
    """min over p of the largest Σ_k γ_k H_k(p) among the rows γ of `mixtures`."""
    start = np.full(4, 0.25)
    found = minimize(
        lambda unknown: unknown[-1],
        np.append(start, CLASSES.losses(start).max()),
        jac=lambda unknown: np.eye(5)[-1],
        method="SLSQP",
        bounds=[(0.0, 1.0)] * 4 + [(None, None)],
        constraints=[
            {"type": "eq", "fun": lambda unknown: unknown[:-1].sum() - 1},
            {
                "type": "ineq",
                "fun": lambda unknown: unknown[-1] - mixtures @ CLASSES.losses(unknown[:-1]),
                "jac": lambda unknown: np.hstack(
                    [mixtures @ CLASSES.halves(CLASSES.machines(unknown[:-1])), np.ones((len(mixtures), 1))]
                ),
            },
        ],
        options={"ftol": 1e-13, "maxiter": 200},
    )
    p = np.maximum(found.x[:-1], 0)
    return float((mixtures @ CLASSES.losses(p / p.sum())).max())


VERTICES, CENTRE = np.eye(3), np.full((1, 3), 1 / 3)  # a linear function is largest over Γ at a vertex of Γ


def measure_minimax(mixtures: Array) -> Measured:
    value, certificate = min_max_over(mixtures), certified("ml_minimax").certificate
    return Measured(off(value, certificate.lower), {"(5)": value, "(3), certified": certificate.lower})


claim = claims_of("bucak")
CLAIMS = (
    claim("Eq. (1)", measure_primal, printed=1.0, repaired=PRICE, mutated=np.sqrt(PRICE)),
    claim("Eq. (2)", measure_dual, printed=0.5, mutated=1.0),
    claim("below Eq. (2), the gradient", measure_sum_gradient, printed=-0.5, mutated=-1.0),
    claim("below Eq. (2), the argmax", measure_argmax, printed=1.0, repaired=0.5, mutated=0.25),
    claim("Eq. (4)", measure_direct_dual, printed=0, repaired=1, mutated=0.5),
    claim("Eq. (5)", measure_minimax, printed=VERTICES, mutated=CENTRE),
    claim("Eq. (6), for p", measure_weight_gradient, printed=-0.5, mutated=0.5),
    claim("Eq. (6), for γ", measure_class_gradient, printed=0.5, mutated=1.0),
)
