"""What the blind list is made with: small data, changes that mistakes make to them, and records of wrong answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import mklcvx

Data = dict[str, Any]
Answer = dict[str, Any]
PARTS = {"w": "weights", "a": "alpha", "b": "bias", "o": "objective", "c": "coefficients"}


class Wrong(NamedTuple):
    """A wrong answer: `make` gives instance, formulation, parameters and the parts that are handed over."""

    name: str
    family: str
    category: str
    make: Callable[[], tuple[mklcvx.Instance, str, dict[str, Any], Answer]]
    accepted: tuple[frozenset[str], ...]
    double: bool = False


def any_of(*explanations: str | tuple[str, ...]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset((e,) if isinstance(e, str) else e) for e in explanations)


# Data: a fixed seed each, kernels of different sizes with diagonals that are not constant.


@cache
def _kernels(seed: int, samples: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(samples) % 5 < 2, 1.0, -1.0)
    kernels = []
    for m in range(count):
        view = rng.normal(size=(samples, 3)) + (0.7 - 0.12 * m) * y[:, None] * rng.uniform(0.5, 1.2, size=3)
        gauss = np.exp(-(0.15 + 0.1 * m) * ((view[:, None] - view) ** 2).sum(axis=2))
        size = np.exp(0.25 * rng.normal(size=samples)) * np.sqrt(rng.uniform(0.6, 1.9))
        kernels.append(gauss * np.outer(size, size))
    truth = sum(k @ rng.normal(size=samples) for k in kernels[:3])
    response = truth / truth.std() + 0.3 * rng.normal(size=samples) + 0.4
    return np.stack(kernels), y, response


def labels(seed: int, samples: int = 40, count: int = 4, **more: Any) -> Data:
    kernels, y, _ = _kernels(seed, samples, count)
    flipped = y.copy()
    flipped[::9] *= -1
    return {"kernels": kernels, "y": flipped, **more}


def response(seed: int, samples: int = 40, count: int = 4, **more: Any) -> Data:
    kernels, _, r = _kernels(seed, samples, count)
    return {"kernels": kernels, "response": r, **more}


def responses(seed: int, samples: int = 32, count: int = 4) -> Data:
    kernels, _, r = _kernels(seed, samples, count)
    rng = np.random.default_rng(seed + 1)
    other = kernels[1] @ rng.normal(size=samples)
    return {"kernels": kernels, "response": np.column_stack([r, 2.5 * other / other.std() + 0.3 * r - 1.0])}


def counts(seed: int, samples: int = 40, count: int = 4) -> Data:
    kernels, _, r = _kernels(seed, samples, count)
    drawn = np.random.default_rng(seed + 2).poisson(np.exp(0.5 * r + 0.8))
    return {"kernels": kernels, "response": drawn.astype(float)}


def nothing(seed: int, samples: int = 40, count: int = 4) -> Data:
    return {"kernels": _kernels(seed, samples, count)[0]}


def classes(seed: int, samples: int = 33, count: int = 4) -> Data:
    kernels, y, r = _kernels(seed, samples, count)
    return {"kernels": kernels, "classes": np.where(y > 0, 0, np.where(r > np.median(r), 1, 2))}


def label_sets(seed: int, samples: int = 36, count: int = 4) -> Data:
    kernels, y, r = _kernels(seed, samples, count)
    drawn = np.random.default_rng(seed + 3).random(samples) < 0.25
    sets = np.column_stack([y > 0, r > 0.6, (r < 0.2) | drawn]).astype(int)
    return {"kernels": kernels, "labels": sets}


def sample_prices(samples: int = 40, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.3, 2.5, size=samples)


# Changes: data to data.


def each_kernel(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Data], Data]:
    return lambda data: data | {"kernels": np.stack([change(k) for k in data["kernels"]])}


def all_kernels(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Data], Data]:
    return lambda data: data | {"kernels": change(data["kernels"])}


def target(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Data], Data]:
    def changed(data: Data) -> Data:
        name = next(t for t in ("y", "classes", "labels", "response") if t in data)
        return data | {name: change(data[name])}

    return changed


def using(**other: Any) -> Callable[[Data], Data]:
    return lambda data: data | other


def centred(k: np.ndarray) -> np.ndarray:
    middle = np.eye(len(k)) - 1 / len(k)
    c = middle @ k @ middle
    return (c + c.T) / 2


def cosine(k: np.ndarray) -> np.ndarray:
    d = np.sqrt(np.diag(k))
    return k / np.outer(d, d)


def unit_trace(k: np.ndarray) -> np.ndarray:
    return k / np.trace(k)


def trace_n(k: np.ndarray) -> np.ndarray:
    return k * len(k) / np.trace(k)


def frobenius(k: np.ndarray) -> np.ndarray:
    return k / np.linalg.norm(k)


def spectral(k: np.ndarray) -> np.ndarray:
    return k / np.linalg.norm(k, 2)


def laplacian(k: np.ndarray) -> np.ndarray:
    return np.diag(k.sum(axis=1)) - k


def variance(k: np.ndarray) -> np.ndarray:
    """Unit variance in feature space, without centring."""
    return k / (np.trace(k) / len(k) - k.mean())


def without(kernels: np.ndarray, m: int) -> np.ndarray:
    zeroed = kernels.copy()
    zeroed[m] = 0
    return zeroed


def copied(kernels: np.ndarray, source: int, place: int) -> np.ndarray:
    twice = kernels.copy()
    twice[place] = kernels[source]
    return twice


# Records.


def solution(data: Data, formulation: str, parameters: Mapping[str, Any]) -> mklcvx.Solution:
    return mklcvx.solve(mklcvx.Instance(**data), formulation, **parameters)


def parts(found: mklcvx.Solution, hand: str) -> Answer:
    answer: Answer = {}
    for letter in hand:
        value = getattr(found, PARTS[letter])
        if letter == "c" and value is None:
            value = coefficients(found)
        answer[PARTS[letter]] = np.array(value, dtype=float) if np.ndim(value) else float(value)
    return answer


def coefficients(found: mklcvx.Solution) -> np.ndarray:
    beta = found.alpha * found.y
    if beta.ndim == 1:
        return found.weights[:, None] * beta
    return found.weights[None, :, None] * beta[:, None, :]


class Problem(NamedTuple):
    """The problem that the answer is handed over for."""

    family: str
    data: Data
    formulation: str
    parameters: dict[str, Any]

    @property
    def title(self) -> str:
        loss = self.parameters.get("loss", "nu" if "nu" in self.parameters else "")
        return f"{self.formulation} {loss}".strip()

    def solve(self) -> mklcvx.Solution:
        return solution(self.data, self.formulation, self.parameters)

    def other(
        self,
        name: str,
        category: str,
        *accepted: str | tuple[str, ...],
        hand: str = "wab",
        change: Callable[[Data], Data] | None = None,
        formulation: str | None = None,
        drop: tuple[str, ...] = (),
        after: Callable[[mklcvx.Solution, Answer], Answer] | None = None,
        double: bool = False,
        **changed: Any,
    ) -> Wrong:
        """Another problem, solved: changed data, formulation or parameters."""

        def make() -> tuple[mklcvx.Instance, str, dict[str, Any], Answer]:
            kept = {k: v for k, v in self.parameters.items() if k not in drop}
            data = change(self.data) if change else self.data
            found = solution(data, formulation or self.formulation, kept | changed)
            answer = parts(found, hand)
            if after:
                answer = after(found, answer)
            return mklcvx.Instance(**self.data), self.formulation, dict(self.parameters), answer

        return Wrong(f"{self.title}: {name}", self.family, category, make, any_of(*accepted), double)

    def handed(
        self,
        name: str,
        category: str,
        *accepted: str | tuple[str, ...],
        of: Callable[[mklcvx.Solution, Data], Answer],
        double: bool = False,
    ) -> Wrong:
        """The right solution, with parts that `of` makes of it."""

        def make() -> tuple[mklcvx.Instance, str, dict[str, Any], Answer]:
            answer = of(self.solve(), self.data)
            return mklcvx.Instance(**self.data), self.formulation, dict(self.parameters), answer

        return Wrong(f"{self.title}: {name}", self.family, category, make, any_of(*accepted), double)


def quadratics(data: Data, beta: np.ndarray) -> np.ndarray:
    """q_m = β'K_mβ, summed over outputs."""
    beta = np.atleast_2d(beta)
    return np.einsum("ki,mij,kj->m", beta, data["kernels"], beta)


def machine(data: Data, weights: np.ndarray, parameters: Mapping[str, Any]) -> mklcvx.Solution:
    """The machine with these weights, held fixed."""
    combined = data | {"kernels": weights[:, None, None] * data["kernels"]}
    combined.pop("groups", None)
    return solution(combined, "sum", parameters)
