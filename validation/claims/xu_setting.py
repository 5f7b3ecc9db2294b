"""What the claims of Xu et al. 2013 share: instances, the ν-form in CVXPY as printed, and SVMs by LIBSVM."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import cvxpy as cp
import numpy as np

import mklcvx
from mklcvx import zoo
from mklcvx.problem.instance import Instance
from optima import Array, root, solved_to, svm_to

NU = 0.5
PRICE = 1.0  # C where the paper turns to C-SVC
BOX = 0.3  # θ of the hinge loss, with five kernels
solved = partial(solved_to, 1e-11)


# ------------------------------------------------------------------------------------------------ instances
@cache
def ordinary(count: int = 5) -> Instance:
    """Positive definite Gaussian kernels on overlapping clouds; the classes' hulls do not meet."""
    return zoo.random(n=30, M=5, overlap=0.8, seed=2).select(range(count))


@cache
def unequal(count: int = 5) -> Instance:
    """The ordinary kernels with sizes from ⅛ to 8, or some of them, evenly chosen."""
    sizes, chosen = np.geomspace(1 / 8, 8, 5), np.linspace(0, 4, count).astype(int)
    return ordinary().with_kernels(ordinary().kernels * sizes[:, None, None]).select(list(chosen))


@cache
def optimum(name: str, instance: Instance | None = None, **parameters: float) -> mklcvx.Solution:
    """Certified; in the ν-form unless C is given."""
    loss = {} if "C" in parameters else {"nu": NU}
    return mklcvx.solve(instance or ordinary(), name, solver="clarabel", **loss, **parameters)


def halves(alpha: Array, instance: Instance | None = None) -> Array:
    """½ (α⊙y)'K_m(α⊙y) for every kernel: −SVM{K_m, α}."""
    instance = instance or ordinary()
    signed = alpha * instance.y
    return np.einsum("mij,i,j->m", instance.kernels, signed, signed, optimize=True) / 2


def combined(weights: Array, instance: Instance | None = None) -> Array:
    return np.tensordot(weights, (instance or ordinary()).kernels, axes=1)


# ------------------------------------------------------------------------------------- the ν-form, as printed
class Multipliers:
    """α ∈ A = {α'1 = 1, α'y = 0, 0 ≤ α ≤ C}, C = 1/(νl), and ½ (α⊙y)'K_m(α⊙y) for every kernel."""

    def __init__(self, instance: Instance | None = None, share: float = NU) -> None:
        instance = instance or ordinary()
        self.alpha = cp.Variable(instance.samples, nonneg=True)
        self.domain = [
            cp.sum(self.alpha) == 1,
            instance.y @ self.alpha == 0,
            self.alpha <= 1 / (share * instance.samples),
        ]
        self.halves = [
            cp.sum_squares((root(kernel) * instance.y[:, None]).T @ self.alpha) / 2 for kernel in instance.kernels
        ]

    def least(self, objective: Any, constraints: Sequence[Any] = ()) -> float:
        return solved(cp.Minimize(objective), [*self.domain, *constraints])


class Functions:
    """f_m with their norms, b, ρ and ξ: min penalty + C Σξ − ρ under y_i (Σ f_m(x_i) + b) ≥ ρ − ξ_i."""

    def __init__(self, instance: Instance | None = None) -> None:
        self.instance = instance or ordinary()
        self.factors = [root(kernel) for kernel in self.instance.kernels]
        self.w = [cp.Variable(F.shape[1]) for F in self.factors]
        self.norms = [cp.norm(w) for w in self.w]
        self.mu, self.ratios = cp.Variable(len(self.w), nonneg=True), cp.Variable(len(self.w))
        # ‖f_m‖²/μ_m ≤ h_m, which keeps 0/0 = 0 where a weight ends at zero
        self.epigraph = [cp.quad_over_lin(w, self.mu[m]) <= self.ratios[m] for m, w in enumerate(self.w)]

    def least(self, penalty: Any, constraints: Sequence[Any] = ()) -> float:
        instance = self.instance
        values = sum(F @ w for F, w in zip(self.factors, self.w, strict=True)) + cp.Variable()
        rho, slack = cp.Variable(), cp.Variable(instance.samples, nonneg=True)
        margins = cp.multiply(instance.y, values) >= rho - slack
        price = 1 / (NU * instance.samples)
        return solved(cp.Minimize(penalty + price * cp.sum(slack) - rho), [margins, *constraints])


def greatest_for(weights: Array, instance: Instance | None = None) -> tuple[float, Array]:
    """max over α ∈ A of J(μ, α) = −½ (α⊙y)'(Σ μ_m K_m)(α⊙y), and its α."""
    instance = instance or ordinary()
    dual = Multipliers(instance.with_kernels(combined(weights, instance)[None], names=None, groups=None))
    value = -dual.least(dual.halves[0])
    return value, dual.alpha.value


def apart(here: Array, there: Array) -> float:
    return float(np.linalg.norm(here - there) / np.linalg.norm(there))


def svm(kernel: Array, y: Array, price: float = PRICE) -> tuple[float, Array]:
    return svm_to(1e-8, kernel, y, price)
