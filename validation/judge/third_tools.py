"""What the third list is made with: features that kernels of several kinds see, targets, and solvers that go wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from blind_tools import Answer, Data, Problem, machine, parts
from scipy.optimize import minimize

import mklcvx

SINGLE, JOINT, LABELS, STAGES, HYPER = "single task", "joint", "multi-label", "two stages", "hypergraph"
GROWTH = (0.85, 1.2, 1.05, 0.8, 1.15, 0.95, 1.3)  # sizes of the kernels


# Data. Letters say what a kernel is: n a narrow Gaussian, b a broad one, v one of two features only, e exponential,
# c Cauchy's, a affine, q quadratic, d a Gaussian whose diagonal is not constant.


def _gram(kind: str, x: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    view = x[:, [m % x.shape[1], (m + 2) % x.shape[1]]] if kind in "vd" else x
    square = ((view[:, None] - view) ** 2).sum(axis=2)
    if kind in "nbv":
        return np.exp(-{"n": 0.4, "b": 0.05, "v": 0.8}[kind] * square)
    if kind == "e":
        return np.exp(-0.7 * np.sqrt(square))
    if kind == "c":
        return 1 / (1 + square / 3)
    if kind == "d":
        size = rng.uniform(0.6, 1.6, size=len(x))
        return np.exp(-0.3 * square) * np.outer(size, size)
    return (0.5 + view @ view.T / 4) ** (1 if kind == "a" else 2) / 2


@cache
def drawn(seed: int, samples: int, kinds: str) -> tuple[np.ndarray, np.ndarray]:
    """Kernels, and the features (n, 5)."""
    rng = np.random.default_rng(31000 + seed)
    x = rng.normal(size=(samples, 5)) * (1.3, 1.0, 0.9, 0.7, 0.6)
    grams = [GROWTH[m] * _gram(kind, x, m, rng) for m, kind in enumerate(kinds)]
    return np.stack([(k + k.T) / 2 for k in grams]), x


def score(seed: int, x: np.ndarray) -> np.ndarray:
    """What the targets are made of: a bent function of the features, with noise."""
    rng = np.random.default_rng(32000 + seed)
    a, b = rng.normal(size=(2, 5))
    return np.tanh(x @ a) + 0.5 * np.cos(x @ b) * x[:, 0] + 0.35 * rng.normal(size=len(x))


def signs(seed: int, samples: int = 38, kinds: str = "bvdc", share: float = 0.45, **more: Any) -> Data:
    kernels, x = drawn(seed, samples, kinds)
    s = score(seed, x)
    return {"kernels": kernels, "y": np.where(s > np.quantile(s, 1 - share), 1.0, -1.0), **more}


def measured(seed: int, samples: int = 38, kinds: str = "bvdc", **more: Any) -> Data:
    kernels, x = drawn(seed, samples, kinds)
    return {"kernels": kernels, "response": 1.4 * score(seed, x) + 1.1, **more}


def measured_often(seed: int, samples: int = 31, kinds: str = "bvdc", outputs: int = 3) -> Data:
    kernels, x = drawn(seed, samples, kinds)
    columns = [(1 + 0.8 * j) * score(seed + 50 * j, x) + 0.7 * j - 0.4 for j in range(outputs)]
    return {"kernels": kernels, "response": np.column_stack(columns)}


def tallies(seed: int, samples: int = 37, kinds: str = "bvdc") -> Data:
    kernels, x = drawn(seed, samples, kinds)
    rng = np.random.default_rng(33000 + seed)
    return {"kernels": kernels, "response": rng.poisson(np.exp(0.9 * score(seed, x) + 0.9)).astype(float)}


def alone(seed: int, samples: int = 41, kinds: str = "bvdc") -> Data:
    return {"kernels": drawn(seed, samples, kinds)[0]}


def sorts(seed: int, samples: int = 34, kinds: str = "bvdc", count: int = 3) -> Data:
    kernels, x = drawn(seed, samples, kinds)
    scores = np.column_stack([score(seed + 7 * j, x) + 0.25 * j for j in range(count)])
    return {"kernels": kernels, "classes": scores.argmax(axis=1)}


def tags(seed: int, samples: int = 33, kinds: str = "bvdc", count: int = 3) -> Data:
    kernels, x = drawn(seed, samples, kinds)
    columns = [score(seed + 9 * j, x) for j in range(count)]
    table = np.column_stack([c > np.quantile(c, 0.45 + 0.13 * j) for j, c in enumerate(columns)]).astype(int)
    table[0, :] = 1
    return {"kernels": kernels, "labels": table}


def charges(seed: int, samples: int) -> np.ndarray:
    return np.random.default_rng(34000 + seed).gamma(2.0, 0.6, size=samples) + 0.15


# Problems.


def problem(data: Data, formulation: str, family: str = SINGLE, **parameters: Any) -> Problem:
    return Problem(family, data, formulation, parameters)


# Changes.


def one_kernel(m: int, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Data], Data]:
    def changed(data: Data) -> Data:
        kernels = data["kernels"].copy()
        kernels[m] = change(kernels[m])
        return data | {"kernels": kernels}

    return changed


def both(*changes: Callable[[Data], Data]) -> Callable[[Data], Data]:
    def changed(data: Data) -> Data:
        for change in changes:
            data = change(data)
        return data

    return changed


def standard(r: np.ndarray) -> np.ndarray:
    return (r - r.mean(axis=0)) / r.std(axis=0)


# What is handed over.


def hand(letters: str = "wab", **changes: Callable[[Any, mklcvx.Solution], Any]) -> Callable[..., Answer]:
    """Parts of the right solution, some of them changed."""

    def of(found: mklcvx.Solution, _: Data) -> Answer:
        answer = parts(found, letters)
        return answer | {name: change(answer[name], found) for name, change in changes.items()}

    return of


def after(**changes: Callable[[Any, mklcvx.Solution], Any]) -> Callable[[mklcvx.Solution, Answer], Answer]:
    """The same for the solution of another problem."""
    return lambda found, answer: answer | {name: change(answer[name], found) for name, change in changes.items()}


def times_y(a: np.ndarray, found: mklcvx.Solution) -> np.ndarray:
    return a * found.y


def minus(value: Any, _: mklcvx.Solution) -> Any:
    return -value


def by(factor: float) -> Callable[[Any, mklcvx.Solution], Any]:
    return lambda value, _: factor * value


def to_sum_one(value: np.ndarray, _: mklcvx.Solution) -> np.ndarray:
    return value / value.sum()


def to_length_one(value: np.ndarray, _: mklcvx.Solution) -> np.ndarray:
    return value / np.linalg.norm(value)


def to_largest_one(value: np.ndarray, _: mklcvx.Solution) -> np.ndarray:
    return value / value.max()


def norms(found: mklcvx.Solution, data: Data) -> np.ndarray:
    """‖f_m‖."""
    beta = np.atleast_2d(found.alpha * found.y)
    return found.weights * np.sqrt(np.einsum("ki,mij,kj->m", beta, data["kernels"], beta))


# Solvers that go wrong.


def losses_of(p: Problem) -> dict[str, Any]:
    return {k: v for k, v in p.parameters.items() if k not in ("p", "theta", "l1_ratio", "lam", "s")}


def at_weights(p: Problem, weights: np.ndarray, letters: str = "wab", start: Data | None = None) -> Answer:
    """The machine with these weights, handed over with them."""
    found = machine(start or p.data, weights, losses_of(p))
    return parts(found, letters.replace("w", "")) | ({"weights": weights} if "w" in letters else {})


def updates(p: Problem, rounds: int, exponent: float, norm: float, start: np.ndarray | None = None) -> np.ndarray:
    """Weights after rounds of μ ∝ ‖f_m‖^exponent, of unit ℓ_norm."""
    count = len(p.data["kernels"])
    mu = np.full(count, count ** (-1 / norm)) if start is None else start
    for _ in range(rounds):
        found = machine(p.data, mu, losses_of(p))
        beta = np.atleast_2d(found.alpha * found.y)
        a = mu * np.sqrt(np.einsum("ki,mij,kj->m", beta, p.data["kernels"], beta))
        mu = a**exponent
        mu /= np.linalg.norm(mu, norm)
    return mu


def constrained(p: Problem, spent: Callable[[np.ndarray], float], **changed: Any) -> np.ndarray:
    """The weights μ ≥ 0 of least cost with spent(μ) ≤ 1."""
    count = len(p.data["kernels"])

    def cost(mu: np.ndarray) -> tuple[float, np.ndarray]:
        found = machine(p.data, np.maximum(mu, 1e-9), losses_of(p) | changed)
        beta = found.alpha * found.y
        return found.objective, -0.5 * np.einsum("i,mij,j->m", beta, p.data["kernels"], beta)

    found = minimize(
        cost, np.full(count, 0.5 / count), jac=True, method="SLSQP", bounds=[(0, None)] * count,
        constraints={"type": "ineq", "fun": lambda mu: 1 - spent(mu)}, options={"ftol": 1e-13, "maxiter": 200},
    )  # fmt: skip
    return np.maximum(found.x, 0.0)
