"""Other codes' problems, each written down as its source states it and solved by CVXPY, without our formulations.

Every function returns the answer in its code's own words: weights, α, bias, objective, and the decision values.
"""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from mklcvx import Instance
from mklcvx.verification.answers import Answer

# Far below what is asserted, and where Clarabel breaks down on the way, what it surely reaches.
TOLERANCES = (1e-13, 1e-12, 1e-11, 1e-10)


class Theirs(NamedTuple):
    answer: Answer
    decision: np.ndarray


def factor(kernel: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(kernel)
    return vectors * np.sqrt(np.maximum(values, 0))


def solved(objective: Any, constraints: list) -> float:
    problem = cp.Problem(objective, constraints)
    for tol in TOLERANCES:
        with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
            warnings.simplefilter("ignore")  # "may be inaccurate": the assertions decide
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
        if problem.status in ("optimal", "optimal_inaccurate"):
            return float(problem.value)
    raise AssertionError(f"Clarabel ended {problem.status}")


class Primal:
    """w_m in the feature space of kernel m, b, and the hinge losses, price by sample."""

    def __init__(self, kernels: np.ndarray, y: np.ndarray, bias: bool = True) -> None:
        self.factors, self.y = [factor(kernel) for kernel in kernels], y
        self.w = [cp.Variable(len(y)) for _ in kernels]
        self.b = cp.Variable() if bias else cp.Constant(0.0)
        self.xi = cp.Variable(len(y), nonneg=True)
        self.outputs = sum(f @ w for f, w in zip(self.factors, self.w, strict=True)) + self.b
        self.margins = cp.multiply(y, self.outputs) >= 1 - self.xi
        self.norms = [cp.norm(w) for w in self.w]

    def over(self, weights: cp.Variable) -> tuple[Any, list]:
        """½ Σ ‖w_m‖²/weight_m, and the constraints that say so."""
        ratios = cp.Variable(len(self.w))
        return cp.sum(ratios) / 2, [cp.quad_over_lin(w, weights[m]) <= ratios[m] for m, w in enumerate(self.w)]

    def least(self, cost: Any, constraints: list = ()) -> float:
        return solved(cp.Minimize(cost), [self.margins, *constraints])

    def said(self, value: float, weights: Any, alpha_factor: Any = 1.0, multipliers: dict | None = None) -> Theirs:
        alpha = np.ravel(self.margins.dual_value) * alpha_factor
        answer = Answer(np.asarray(weights), alpha, None, multipliers or {}, float(self.b.value), value)
        return Theirs(answer, np.asarray(self.outputs.value))

    @property
    def sizes(self) -> np.ndarray:
        return np.array([np.linalg.norm(w.value) for w in self.w])


class Dual:
    """α in its box with y'α = 0, and √q_m(α)."""

    def __init__(self, kernels: np.ndarray, y: np.ndarray, box: Any) -> None:
        self.kernels, self.y = kernels, y
        self.alpha = cp.Variable(len(y))
        self.balance = y @ self.alpha == 0
        self.feasible = [self.alpha >= 0, self.alpha <= box, self.balance]
        self.roots = [factor(kernel).T @ cp.multiply(y, self.alpha) for kernel in kernels]

    def bounded(self) -> tuple[cp.Variable, list]:
        """v_m ≥ ½ q_m."""
        v = cp.Variable(len(self.kernels), nonneg=True)
        return v, [cp.sum_squares(root) / 2 <= v[m] for m, root in enumerate(self.roots)]

    def decision(self, weights: np.ndarray, bias: float) -> np.ndarray:
        signed = self.alpha.value * self.y
        return sum(w * (k @ signed) for w, k in zip(weights, self.kernels, strict=True)) + bias


def unit(kernels: np.ndarray) -> np.ndarray:
    return np.stack([kernel / np.trace(kernel) for kernel in kernels])


# ------------------------------------------------------------------------------------------------ one per code
def simplemkl(instance: Instance, C: float = 1.0) -> Theirs:
    f, d = Primal(instance.kernels, instance.y), cp.Variable(instance.count, nonneg=True)
    cost, epigraph = f.over(d)
    value = f.least(cost + C * cp.sum(f.xi), [*epigraph, cp.sum(d) == 1])
    return f.said(value, d.value, instance.y)


def spicymkl(instance: Instance, lam: float, loss: str = "total") -> Theirs:
    f = Primal(instance.kernels, instance.y)
    share = 1 / instance.samples if loss == "mean" else 1.0
    value = f.least(share * cp.sum(f.xi) + lam * cp.sum(f.norms))
    weights = f.sizes / (lam / share)  # f_m = weight_m K_m(α∘y) with α in [0, 1]
    return f.said(value, weights / weights.sum(), instance.y * weights.sum() / share)


def kloft_lp(instance: Instance, C: float, p: float, form: str, mu: float = 1.0, power: float = 2.0) -> Theirs:
    f, theta = Primal(instance.kernels, instance.y), cp.Variable(instance.count, nonneg=True)
    cost, constraints = f.over(theta)
    norm = cp.pnorm(theta, p, approx=False)
    if form == "ivanov":
        constraints.append(norm <= 1)
    else:
        cost += mu / power * (norm if power == 1 else cp.power(norm, power, approx=False))
    return f.said(f.least(cost + C * cp.sum(f.xi), constraints), theta.value)


def shogun_lp(instance: Instance, C: float, p: float = 1.5, C_positive: float = 0.0, block_norm: float = 0.0) -> Theirs:
    if block_norm:
        return _shogun_block_norm(instance, C, block_norm)
    y = instance.y
    a = Dual(instance.kernels, y, np.where(y > 0, C_positive or C, C))
    v, above = a.bounded()
    cost = cp.max(v) if p == 1 else cp.pnorm(v, p / (p - 1), approx=False)
    value = solved(cp.Minimize(cost - cp.sum(a.alpha)), [*a.feasible, *above])
    beta, bias = np.array([float(np.ravel(c.dual_value)[0]) for c in above]), float(a.balance.dual_value)
    return Theirs(Answer(beta, a.alpha.value * y, bias=bias, objective=value), a.decision(beta, bias))


def _shogun_block_norm(instance: Instance, C: float, q: float) -> Theirs:
    """min ½ ‖(‖w_m‖)‖_q² + C Σ ξ; weights β ∝ ‖w‖^{2−q}, in the ball of p = q/(2−q)."""
    f = Primal(instance.kernels, instance.y)
    sizes = cp.Variable(instance.count)
    above = [norm <= sizes[m] for m, norm in enumerate(f.norms)]
    value = f.least(cp.square(cp.pnorm(sizes, q, approx=False)) / 2 + C * cp.sum(f.xi), above)
    beta = f.sizes ** (2 - q)
    beta /= np.sum(beta ** (q / (2 - q))) ** ((2 - q) / q)
    return f.said(-value, beta, instance.y)


def smo_mkl(instance: Instance, C: float, lam: float, p: float = 2.0, first_label: float = 1.0) -> Theirs:
    """The dual that the program climbs: 1'α − ‖q‖²/(8λ), conjugate exponent."""
    y = instance.y
    a = Dual(unit(instance.kernels), y, C)
    v, above = a.bounded()
    norm = cp.max(v) if p == 1 else cp.pnorm(v, p / (p - 1), approx=False)
    value = solved(cp.Maximize(cp.sum(a.alpha) - cp.square(norm) / (2 * lam)), [*a.feasible, *above])
    d, bias = np.array([float(np.ravel(c.dual_value)[0]) for c in above]), float(a.balance.dual_value)
    answer = Answer(d, first_label * y * a.alpha.value, bias=-first_label * bias, objective=value)
    return Theirs(answer, a.decision(d, bias))


def spg_gmkl(instance: Instance, C: float, lam: float, regulariser: str, set: str, p: float = 2.0) -> Theirs:
    f, d = Primal(unit(instance.kernels), instance.y), cp.Variable(instance.count, nonneg=True)
    cost, constraints = f.over(d)
    norm = {"l1": cp.sum(d), "l2": cp.norm(d), "lp": cp.pnorm(d, p, approx=False)}[regulariser]
    if set == "simplex":
        constraints.append(cp.sum(d) == 1)
    value = f.least(cost + lam / 2 * cp.square(norm) + C * cp.sum(f.xi), constraints)
    said = f.said(value, d.value, instance.y)
    return said._replace(answer=_replaced(said.answer, bias=-said.answer.bias))


def govindaraj_li(instance: Instance, C: float) -> Theirs:
    """The thesis's dual, jointly convex in α and λ."""
    a, lam = Dual(instance.kernels, instance.y, C), cp.Variable(instance.count, nonneg=True)
    ratios = cp.Variable(instance.count)
    above = [cp.quad_over_lin(root, lam[m]) <= ratios[m] for m, root in enumerate(a.roots)]
    objective = cp.Minimize(cp.sum(ratios) / 4 - cp.sum(a.alpha))
    value = solved(objective, [*a.feasible, *above, cp.sum(lam) == 1])
    bias = float(a.balance.dual_value)
    return Theirs(Answer(lam.value, a.alpha.value, bias=bias, objective=value), a.decision(1 / (2 * lam.value), bias))


def govindaraj_ckl(instance: Instance, C: float) -> Theirs:
    """The primal; λ are shares of the norms, γ of the largest √q."""
    f, groups = Primal(instance.kernels, instance.y), instance.groups
    largest = cp.Variable()
    sums = [cp.sum([f.norms[m] for m in np.flatnonzero(groups == j)]) <= largest for j in range(groups.max() + 1)]
    value = f.least(cp.square(largest) + C * cp.sum(f.xi), sums)
    signed = np.ravel(f.margins.dual_value) * instance.y
    roots = np.sqrt([signed @ kernel @ signed for kernel in instance.kernels])
    delta = np.array([roots[groups == j].max() for j in range(groups.max() + 1)])
    totals = np.bincount(groups, weights=f.sizes)
    return f.said(value, f.sizes / totals[groups], multipliers={"gamma": delta / delta.sum()})


def lanckriet(instance: Instance, C: float, c: float) -> Theirs:
    a, t = Dual(instance.kernels, instance.y, C), cp.Variable()
    traces = [float(np.trace(kernel)) for kernel in instance.kernels]
    above = [cp.sum_squares(root) / r <= t for root, r in zip(a.roots, traces, strict=True)]
    value = solved(cp.Maximize(2 * cp.sum(a.alpha) - c * t), [*a.feasible, *above])
    mu = np.array([float(np.ravel(cut.dual_value)[0]) for cut in above]) / traces
    bias = float(a.balance.dual_value) / 2  # every term is doubled, the multiplier too
    return Theirs(Answer(mu, a.alpha.value, bias=bias, objective=value), a.decision(mu, bias))


def sklearn_svc(instance: Instance, C: float = 1.0, combination: str = "sum") -> Theirs:
    from sklearn.svm import SVC

    kernel = instance.kernels.mean(axis=0) if combination == "average" else instance.kernels.sum(axis=0)
    model = SVC(C=C, kernel="precomputed", tol=1e-9).fit(kernel, instance.y, sample_weight=instance.sample_weight)
    support = {"support": model.support_}
    answer = Answer(None, model.dual_coef_[0], None, support, bias=float(model.intercept_[0]))
    return Theirs(answer, model.decision_function(kernel))


def libsvm(instance: Instance, C: float, first_label: float) -> Theirs:
    """The class `first_label` is called +1, and the dual is minimised."""
    kernel, z = instance.kernels.sum(axis=0), first_label * instance.y
    a = Dual(kernel[None], z, C)
    value = solved(cp.Minimize(cp.sum_squares(a.roots[0]) / 2 - cp.sum(a.alpha)), a.feasible)
    rho = -float(a.balance.dual_value)
    coefficients = a.alpha.value * z
    return Theirs(Answer(None, coefficients, bias=rho, objective=value), first_label * (kernel @ coefficients - rho))


def pegasos(instance: Instance, lam: float, bias: bool = False) -> Theirs:
    f = Primal(instance.kernels.sum(axis=0)[None], instance.y, bias)
    value = f.least(lam / 2 * cp.sum_squares(f.w[0]) + cp.sum(f.xi) / instance.samples)
    said = f.said(value, [1.0], instance.samples)
    return said._replace(answer=_replaced(said.answer, weights=None))


def _replaced(answer: Answer, **changes: Any) -> Answer:
    from dataclasses import replace

    return replace(answer, **changes)


SOLVE: dict[str, Callable[..., Theirs]] = {
    f.__name__: f
    for f in (
        simplemkl, spicymkl, kloft_lp, shogun_lp, smo_mkl, spg_gmkl, govindaraj_li, govindaraj_ckl, lanckriet,
        sklearn_svc, libsvm, pegasos,
    )
}  # fmt: skip
