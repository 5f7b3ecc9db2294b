"""What the second list is made with: kernels of several kinds, targets of several kinds, and the check of an answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from blind_tools import Answer, Data, machine, solution

import mklcvx

CLEAR = 1e-3
SIMPLEX_LIKE = ("l1", "l2", "lp", "sm1", "elastic", "block_elastic")


# Data. The kinds of kernels are letters: g a Gaussian, w a wide one, l linear, p polynomial, r of low rank, s a
# Gaussian with a diagonal that is not constant.


def _gram(kind: str, view: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    samples, features = view.shape
    square = ((view[:, None] - view) ** 2).sum(axis=2)
    if kind in "gws":
        gram = np.exp(-{"g": 0.25, "w": 0.06, "s": 0.15}[kind] * square)
        size = np.exp(0.3 * rng.normal(size=samples)) if kind == "s" else np.ones(samples)
        return gram * np.outer(size, size)
    if kind == "l":
        return view @ view.T / features
    if kind == "p":
        return (1 + view @ view.T / features) ** 2 / 4
    factor = np.column_stack([view, np.tanh(view)]) @ rng.normal(size=(2 * features, 4)) / 3
    return factor @ factor.T


@cache
def _drawn(seed: int, samples: int, kinds: str) -> tuple[np.ndarray, np.ndarray]:
    """Kernels, and a hidden number of each sample that all of them see a part of."""
    rng = np.random.default_rng(7000 + seed)
    hidden = rng.normal(size=samples)
    stack = []
    for m, kind in enumerate(kinds):
        view = rng.normal(size=(samples, 4)) + (0.9 - 0.1 * m) * hidden[:, None] * rng.uniform(0.4, 1.1, size=4)
        gram = _gram(kind, view, rng) * rng.uniform(0.6, 1.6)
        stack.append((gram + gram.T) / 2)
    return np.stack(stack), hidden


def two(seed: int, samples: int = 36, kinds: str = "gwlp", share: float = 0.5, **more: Any) -> Data:
    """Labels ±1, the positive ones a share; every seventh or so is wrong."""
    kernels, hidden = _drawn(seed, samples, kinds)
    y = np.where(hidden > np.quantile(hidden, 1 - share), 1.0, -1.0)
    y[np.random.default_rng(seed + 11).random(samples) < 0.12] *= -1
    return {"kernels": kernels, "y": y, **more}


def real(seed: int, samples: int = 36, kinds: str = "gwlp", **more: Any) -> Data:
    kernels, hidden = _drawn(seed, samples, kinds)
    rng = np.random.default_rng(seed + 12)
    bent = sum(k @ rng.normal(size=samples) / np.sqrt(np.trace(k)) for k in kernels)
    noise = 0.25 * rng.standard_t(4, size=samples)
    return {"kernels": kernels, "response": 1.3 * hidden + 0.7 * bent / bent.std() + noise + 0.6, **more}


def several(seed: int, samples: int = 30, kinds: str = "gwlp", outputs: int = 2) -> Data:
    kernels, hidden = _drawn(seed, samples, kinds)
    rng = np.random.default_rng(seed + 13)
    columns = []
    for j in range(outputs):
        bent = kernels[j] @ rng.normal(size=samples)
        columns.append((1 + 1.5 * j) * (bent / bent.std() + (0.8 - j) * hidden + 0.3 * rng.normal(size=samples)) + j)
    return {"kernels": kernels, "response": np.column_stack(columns)}


def counted(seed: int, samples: int = 34, kinds: str = "gwlp") -> Data:
    kernels, hidden = _drawn(seed, samples, kinds)
    drawn = np.random.default_rng(seed + 14).poisson(np.exp(0.7 * hidden + 1.0))
    return {"kernels": kernels, "response": drawn.astype(float)}


def bare(seed: int, samples: int = 34, kinds: str = "gwsg") -> Data:
    return {"kernels": _drawn(seed, samples, kinds)[0]}


def kinds_of(seed: int, samples: int = 33, kinds: str = "gwlp", count: int = 3) -> Data:
    """Classes 0, 1, …, of sizes that differ."""
    kernels, hidden = _drawn(seed, samples, kinds)
    rng = np.random.default_rng(seed + 15)
    seen = hidden + 0.5 * rng.normal(size=samples)
    edges = np.quantile(seen, np.cumsum(np.arange(1, count) + 1.0) / (count * (count + 1) / 2 + count - 1))
    return {"kernels": kernels, "classes": np.searchsorted(edges, seen)}


def sets(seed: int, samples: int = 32, kinds: str = "gwsg", count: int = 3) -> Data:
    kernels, hidden = _drawn(seed, samples, kinds)
    rng = np.random.default_rng(seed + 16)
    bent = [k @ rng.normal(size=samples) for k in kernels]
    shares = np.linspace(0.6, 0.3, count)
    scores = [b / b.std() + (0.7 - 0.5 * j) * hidden for j, b in enumerate(bent[:count])]
    table = np.column_stack([s > np.quantile(s, 1 - share) for s, share in zip(scores, shares, strict=True)])
    return {"kernels": kernels, "labels": table.astype(int)}


def prices(seed: int, samples: int, low: float = 0.3, high: float = 2.6) -> np.ndarray:
    return np.random.default_rng(seed + 17).uniform(low, high, size=samples)


# Small changes.


def times(factor: float) -> Callable[[Data], Data]:
    return lambda data: data | {"kernels": factor * data["kernels"]}


def some(keep: np.ndarray) -> Callable[[Data], Data]:
    """The samples of a mask alone."""

    def changed(data: Data) -> Data:
        kept = {k: v[keep] for k, v in data.items() if k in ("y", "response", "classes", "labels", "sample_weight")}
        return data | kept | {"kernels": data["kernels"][:, keep][:, :, keep]}

    return changed


def spread(keep: np.ndarray) -> Callable[[mklcvx.Solution, Answer], Answer]:
    """α of the kept samples, and 0 for the others."""

    def after(_: mklcvx.Solution, answer: Answer) -> Answer:
        alpha = np.zeros((*answer["alpha"].shape[:-1], len(keep)))
        alpha[..., keep] = answer["alpha"]
        return answer | {"alpha": alpha}

    return after


def edit(**changes: Callable[[Any], Any]) -> Callable[[mklcvx.Solution, Answer], Answer]:
    """Parts that are changed after the problem was solved."""
    return lambda _, answer: answer | {name: change(answer[name]) for name, change in changes.items()}


# The check.


def differences(data: Data, formulation: str, parameters: dict[str, Any], answer: Answer) -> list[str]:
    """The parts that are wrong, each by more than 1e-3 of its size, and by how much.

    α is compared through K(μ)β at the right weights, which is unique. Weights of simplex and balls are compared through
    the value of the machine that has them, if they meet the constraint.
    """
    right = solution(data, formulation, parameters)
    if not right.certified:
        raise ValueError(f"the right problem is not certified: {right.message}")
    found = []
    for name, value in answer.items():
        if name == "multipliers":
            pairs = [(f"multiplier {k}", v, right.multipliers[k]) for k, v in value.items()]
        else:
            pairs = [(name, value, getattr(right, name))]
        for title, handed, meant in pairs:
            size = _difference(right, data, title, handed, meant)
            if title == "weights" and formulation in SIMPLEX_LIKE and size > CLEAR:
                size = max(_worse(right, data, parameters, handed), _longer(handed, meant))
            if size > CLEAR:
                found.append(f"{title} {size:.1e}")
    return found


def _far(handed: Any, meant: Any) -> float:
    handed, meant = np.asarray(handed, dtype=float), np.asarray(meant, dtype=float)
    if handed.shape != meant.shape:
        return np.inf
    return float(np.abs(handed - meant).max() / max(np.abs(meant).max(), 1e-12))


def _difference(right: mklcvx.Solution, data: Data, name: str, handed: Any, meant: Any) -> float:
    if name == "alpha" and np.shape(handed) == np.shape(meant):
        combined = np.einsum("m,mij->ij", np.nan_to_num(right.weights), data["kernels"])
        images = [np.atleast_2d(np.asarray(a) * right.y) @ combined for a in (handed, meant)]
        return max(_far(*images), _far(np.sum(handed), np.sum(meant)) if "y" in data else 0.0)
    if name == "bias" and right.bias_interval is not None and np.ndim(handed) == 0:
        low, high = right.bias_interval
        return max(low - handed, handed - high, 0.0) / max(abs(right.bias), 0.1)
    if name == "coefficients":
        beta = right.alpha * right.y
        if beta.ndim == 1:
            meant = right.weights[:, None] * beta if meant is None else meant
            return _far(*(np.einsum("mij,mj->mi", data["kernels"], c) for c in (handed, meant)))
        meant = right.weights[None, :, None] * beta[:, None, :] if meant is None else meant
        return _far(*(np.einsum("mij,kmj->kmi", data["kernels"], c) for c in (handed, meant)))
    return _far(handed, meant)


def _worse(right: mklcvx.Solution, data: Data, parameters: dict[str, Any], weights: np.ndarray) -> float:
    if (np.asarray(weights) < 0).any() or not np.any(weights):
        return np.inf
    losses = {k: v for k, v in parameters.items() if k not in ("p", "theta", "l1_ratio")}
    value = machine(data, np.asarray(weights), losses).objective
    return abs(value - right.objective) / max(abs(right.objective), 1e-9)


def _longer(handed: np.ndarray, meant: np.ndarray) -> float:
    """By how much the largest weight or the sum differs: weights that are no simplex's are wrong whatever they cost."""
    return _far(np.sum(handed), np.sum(meant))
