"""What an answer in another code's words says: decision values and objective, in NumPy, without our formulations.

Every function takes the instance, the answer and the code's parameters, as its source states them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mklcvx import Instance
from mklcvx.verification.answers import Answer
from theirs import unit

Words = tuple[np.ndarray, float]


def hinges(instance: Instance, f: np.ndarray) -> float:
    return float(np.maximum(0, 1 - instance.y * f).sum())


def squares(kernels: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.array([c @ kernel @ c for kernel in kernels])


def combined(weights: np.ndarray, kernels: np.ndarray) -> np.ndarray:
    return np.tensordot(weights, kernels, axes=1)


def norm(v: np.ndarray, p: float) -> float:
    return float(np.linalg.norm(v, p))


def conjugate(p: float) -> float:
    return np.inf if p == 1 else p / (p - 1)


def simplemkl(instance: Instance, said: Answer, C: float) -> Words:
    assert abs(said.weights.sum() - 1) < 1e-12
    f = combined(said.weights, instance.kernels) @ said.alpha + said.bias
    return f, said.weights @ squares(instance.kernels, said.alpha) / 2 + C * hinges(instance, f)


def spicymkl(instance: Instance, said: Answer, lam: float, loss: str = "total") -> Words:
    f = combined(said.weights, instance.kernels) @ said.alpha + said.bias
    share = 1 / instance.samples if loss == "mean" else 1.0
    norms = said.weights * np.sqrt(squares(instance.kernels, said.alpha))
    return f, share * hinges(instance, f) + lam * norms.sum()


def kloft_lp(
    instance: Instance, said: Answer, C: float, p: float, form: str, mu: float = 1.0, power: float = 2.0
) -> Words:
    signed = said.alpha * instance.y
    f = combined(said.weights, instance.kernels) @ signed + said.bias
    size = norm(said.weights, p)
    assert form == "tikhonov" or size <= 1 + 1e-12
    penalty = mu / power * size**power if form == "tikhonov" else 0.0
    return f, said.weights @ squares(instance.kernels, signed) / 2 + penalty + C * hinges(instance, f)


def shogun_lp(
    instance: Instance, said: Answer, C: float, p: float = 1.5, C_positive: float = 0.0, block_norm: float = 0.0
) -> Words:
    assert (np.abs(said.alpha) <= np.where(instance.y > 0, C_positive or C, C) * (1 + 1e-12)).all()
    assert (said.alpha * instance.y >= 0).all()
    f = combined(said.weights, instance.kernels) @ said.alpha + said.bias
    p = block_norm / (2 - block_norm) if block_norm else p
    return f, norm(squares(instance.kernels, said.alpha) / 2, conjugate(p)) - np.abs(said.alpha).sum()


def smo_mkl(instance: Instance, said: Answer, C: float, lam: float, p: float = 2.0, first_label: float = 1.0) -> Words:
    assert (first_label * said.alpha * instance.y >= 0).all()
    kernels = unit(instance.kernels)
    f = combined(said.weights, kernels) @ said.alpha - said.bias
    q = squares(kernels, said.alpha)
    return first_label * f, np.abs(said.alpha).sum() - norm(q, conjugate(p)) ** 2 / (8 * lam)


def spg_gmkl(
    instance: Instance, said: Answer, C: float, lam: float, regulariser: str, set: str, p: float = 2.0
) -> Words:
    kernels = unit(instance.kernels)
    f = combined(said.weights, kernels) @ said.alpha - said.bias
    assert set == "orthant" or abs(said.weights.sum() - 1) < 1e-12
    penalty = lam / 2 * norm(said.weights, {"l1": 1, "l2": 2, "lp": p}[regulariser]) ** 2
    return f, said.weights @ squares(kernels, said.alpha) / 2 + penalty + C * hinges(instance, f)


def govindaraj_li(instance: Instance, said: Answer, C: float) -> Words:
    signed = said.alpha * instance.y
    f = combined(1 / (2 * said.weights), instance.kernels) @ signed + said.bias
    assert abs(said.weights.sum() - 1) < 1e-6
    return f, np.sum(squares(instance.kernels, signed) / said.weights) / 4 - said.alpha.sum()


def govindaraj_ckl(instance: Instance, said: Answer, C: float) -> Words:
    gamma, signed = said.multipliers["gamma"], said.alpha * instance.y
    shares = said.weights / gamma[instance.groups]
    f = combined(shares / 2, instance.kernels) @ signed + said.bias
    return f, said.alpha.sum() - shares @ squares(instance.kernels, signed) / 4


def lanckriet(instance: Instance, said: Answer, C: float, c: float) -> Words:
    signed = said.alpha * instance.y
    traces = np.array([np.trace(kernel) for kernel in instance.kernels])
    assert abs(said.weights @ traces - c) < 1e-9 * c
    f = combined(said.weights, instance.kernels) @ signed + said.bias
    return f, 2 * said.alpha.sum() - c * np.max(squares(instance.kernels, signed) / traces)


def sklearn_svc(instance: Instance, said: Answer, C: float, combination: str = "sum") -> Words:
    kernel = instance.kernels.mean(axis=0) if combination == "average" else instance.kernels.sum(axis=0)
    f = kernel @ said.alpha + said.bias
    return f, said.alpha @ kernel @ said.alpha / 2 + C * hinges(instance, f)


def libsvm(instance: Instance, said: Answer, C: float, first_label: float) -> Words:
    kernel = instance.kernels.sum(axis=0)
    assert (first_label * said.alpha * instance.y >= 0).all()
    f = first_label * (kernel @ said.alpha - said.bias)
    return f, said.alpha @ kernel @ said.alpha / 2 - np.abs(said.alpha).sum()


def pegasos(instance: Instance, said: Answer, lam: float, bias: bool = False) -> Words:
    kernel, signed = instance.kernels.sum(axis=0), said.alpha * instance.y / (lam * instance.samples)
    assert (said.alpha <= 1 + 1e-12).all()
    f = kernel @ signed + (said.bias if bias else 0.0)
    return f, lam / 2 * (signed @ kernel @ signed) + hinges(instance, f) / instance.samples


SAID: dict[str, Callable[..., Words]] = {
    f.__name__: f
    for f in (
        simplemkl, spicymkl, kloft_lp, shogun_lp, smo_mkl, spg_gmkl, govindaraj_li, govindaraj_ckl, lanckriet,
        sklearn_svc, libsvm, pegasos,
    )
}  # fmt: skip
