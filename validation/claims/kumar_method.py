"""Kumar et al. 2012, Section 2: the K-space, Eq. (2), and the connection with target alignment."""

from __future__ import annotations

from functools import cache
from math import comb

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.datasets import load_breast_cancer

import mklcvx
from claim import Measured, claims_of
from mklcvx.problem.kernels import Gaussian, KernelBank, Linear, Polynomial
from mklcvx.problem.preprocessing import Centre, Preprocessing, UnitVariance
from mklcvx.zoo import random

Array = NDArray[np.float64]

LAM = 0.01


@cache
def tumours(centred: bool) -> mklcvx.Instance:
    """41 tumours, eight kernels on two groups of features, of unit variance; centred first or not."""
    data = load_breast_cancer()
    x, y = data.data[::14], np.where(data.target[::14] > 0, 1, -1)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    kinds = [Linear(), Gaussian(0.5), Gaussian(0.05), Polynomial(2)]
    kernels = np.concatenate([KernelBank(kinds).fit(x[:, group]).stack() for group in (slice(0, 3), slice(14, 18))])
    steps = Preprocessing([Centre(), UnitVariance()] if centred else [UnitVariance()])
    return mklcvx.Instance(steps.fit(kernels).train(kernels), y)


def targets(instance: mklcvx.Instance) -> Array:
    """t_ij of Eq. (1)."""
    return 2.0 * (instance.y[:, None] == instance.y) - 1


def combined(instance: mklcvx.Instance, weights: Array) -> Array:
    return np.tensordot(weights, instance.kernels, axes=1)


def k_examples(instance: mklcvx.Instance) -> tuple[Array, Array]:
    """The pairs i ≤ j: z_ij in rows, and t_ij."""
    upper = np.triu_indices(instance.samples)
    return instance.kernels[:, upper[0], upper[1]].T, targets(instance)[upper]


# -------------------------------------------------------------------------------------- K-space, Eq. (2)
def measure_positive(weights: tuple[float, ...]) -> Measured:
    values = np.linalg.eigvalsh(combined(tumours(True), np.array(weights)))
    return Measured(max(0.0, -values[0] / values[-1]), {"least eigenvalue": values[0], "largest": values[-1]})


def measure_target_kernel(constants: tuple[float, float]) -> Measured:
    y = tumours(True).y
    labels = constants[0] * (y[:, None] == y) - constants[1]
    return Measured(float(np.abs(labels - np.outer(y, y)).max()), {"least t": labels.min(), "largest t": labels.max()})


def pairs_in(n: int) -> int:
    return comb(n, 2) + n


def measure_objective(normaliser: str) -> Measured:
    """Eq. (2) written out in CVXPY with one of two normalisers, against the certified `ts`."""
    instance = tumours(True)
    z, t = k_examples(instance)
    count = {"pairs i ≤ j": pairs_in(instance.samples), "ordered pairs": instance.samples**2}[normaliser]
    mu = cp.Variable(instance.count, nonneg=True)
    loss = cp.sum(cp.pos(1 - cp.multiply(t, z @ mu))) / count
    value = float(cp.Problem(cp.Minimize(LAM / 2 * cp.sum_squares(mu) + loss)).solve(solver="CLARABEL"))
    certificate = mklcvx.solve(instance, "ts", solver="clarabel", lam=LAM).certificate
    return Measured(abs(value - certificate.lower) / certificate.lower, {"(2)": value, "certified": certificate.lower})


def pegasos(power: float, steps: int = 1000, batch: int = 100) -> Array:
    """Section 4.1: steps of size 1/(λ t^power) on batches of K-examples, then into Pegasos's ball and to μ ≥ 0."""
    z, t = k_examples(tumours(True))
    rng, mu = np.random.default_rng(3), np.zeros(z.shape[1])
    for step in range(1, steps + 1):
        drawn, size = rng.integers(len(t), size=batch), 1 / (LAM * step**power)
        signed = t[drawn, None] * z[drawn]
        mu = (1 - LAM * size) * mu + size * signed[signed @ mu < 1].sum(axis=0) / batch
        mu = np.maximum(mu * min(1.0, 1 / (np.sqrt(LAM) * np.linalg.norm(mu))), 0)
    return mu


def measure_pegasos(power: float) -> Measured:
    """Excess of Eq. (2) over its optimum, relative to the excess of μ = 0."""
    instance, mu = tumours(True), pegasos(power)
    z, t = k_examples(instance)
    value = LAM / 2 * mu @ mu + np.maximum(0, 1 - t * (z @ mu)).mean()
    least = mklcvx.solve(instance, "ts", solver="clarabel", lam=LAM).certificate.lower
    return Measured(float((value - least) / (1 - least)), {"reached": float(value), "optimum": least})


# ----------------------------------------------------------------------------------------- Section 2.1
def alignment(instance: mklcvx.Instance, weights: Array) -> float:
    kernel = combined(instance, weights)
    return float(np.vdot(kernel, targets(instance)) / np.linalg.norm(kernel))


def best_for_pairs(instance: mklcvx.Instance, diagonal: float, others: float) -> Array:
    """The maximiser of μ'Σ wtz/√(μ'(Σ wzz')μ), μ ≥ 0, with w for i = j and for i < j: it minimises Σ w(t − μ'z)²."""
    z, t = k_examples(instance)
    upper = np.triu_indices(instance.samples)
    root = np.sqrt(np.where(upper[0] == upper[1], diagonal, others))
    return nnls(root[:, None] * z, root * t)[0]


def measure_pairs(weights: tuple[float, float]) -> Measured:
    instance = random(n=20, M=5, overlap=0.8)  # few samples: the diagonal is a good part of the pairs
    reached = alignment(instance, best_for_pairs(instance, *weights))
    best = mklcvx.solve(instance, "alignment", solver="clarabel").certificate.upper
    return Measured((best - reached) / best, {"alignment reached": reached, "certified maximum of (3)": best})


def measure_deviation(centred: bool) -> Measured:
    """√(μ'(Σ zz')μ) over all ordered pairs, against n times the standard deviation of the projections."""
    instance, weights = tumours(centred), np.arange(1.0, 9.0)
    projections = combined(instance, weights)
    root, spread = float(np.linalg.norm(projections)), instance.samples * float(projections.std())
    return Measured(abs(root / spread - 1), {"denominator": root, "n · standard deviation": spread})


def fisher(instance: mklcvx.Instance) -> Array:
    """Fisher's discriminant in K-space, μ ≥ 0: least variance within the classes for a given distance of means."""
    z, t = instance.kernels.reshape(instance.count, -1).T, targets(instance).ravel()
    means = [z[t == sign].mean(axis=0) for sign in (1, -1)]
    within = np.concatenate([z[t == sign] - mean for sign, mean in zip((1, -1), means, strict=True)])
    triangle = np.linalg.qr(within, mode="r") / np.sqrt(len(z))
    mu = cp.Variable(instance.count, nonneg=True)
    objective = cp.Minimize(cp.sum_squares(triangle @ mu))
    cp.Problem(objective, [(means[0] - means[1]) @ mu == 1]).solve(solver="CLARABEL")
    return np.maximum(mu.value, 0)


def shortfall(instance: mklcvx.Instance, mu: Array, name: str) -> Measured:
    """The alignment of these weights against the largest."""
    reached = alignment(instance, mu)
    best = mklcvx.solve(instance, "alignment", solver="clarabel").certificate.upper
    return Measured((best - reached) / best, {f"alignment of {name}": reached, "certified maximum": best})


def measure_fisher(centred: bool) -> Measured:
    instance = tumours(centred)
    return shortfall(instance, fisher(instance), "Fisher's direction")


def least_loss(loss: str) -> Array:
    """The K-classifier with the least loss over all ordered pairs, μ ≥ 0, without a regulariser."""
    instance = tumours(True)
    z, t = instance.kernels.reshape(instance.count, -1).T, targets(instance).ravel()
    if loss == "square":
        return nnls(z, t)[0]
    mu = cp.Variable(instance.count, nonneg=True)
    cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - cp.multiply(t, z @ mu))) / len(t))).solve(solver="CLARABEL")
    return np.maximum(mu.value, 0)


def measure_special_case(loss: str) -> Measured:
    return shortfall(tumours(True), least_loss(loss), "the K-classifier")


def measure_not_necessary(pure: bool) -> Measured:
    """Sixteen clusters, k = 1 within one and 0 between: eight of each class, or each of both classes by halves."""
    clusters = np.repeat(np.arange(16), 4)
    y = np.where(clusters % 2 == 0, 1.0, -1.0) if pure else np.where(np.arange(64) % 2 == 0, 1.0, -1.0)
    kernel = (clusters[:, None] == clusters).astype(float)
    loss = float(np.maximum(0, 1 - np.outer(y, y) * kernel).mean())
    solution = mklcvx.solve(mklcvx.Instance(kernel[None], y), "l1", solver="clarabel", C=10)
    mistakes = float(np.mean(y * solution.decision_function(kernel[None]) <= 1e-6))
    return Measured(max(mistakes, 0.9 - loss), {"K-space hinge loss": loss, "share of mistakes": mistakes})


claim = claims_of("kumar")
CLAIMS = (
    claim(
        "Section 2, K-classifiers",
        measure_positive,
        printed=(1.0, 0.5, 2.0, 0.0, 0.3, 1.0, 0.1, 4.0),
        mutated=(1.0, 0.5, 2.0, 0.0, 0.3, -4.0, 0.1, 4.0),
    ),
    claim("Eq. (1)", measure_target_kernel, printed=(2.0, 1.0), mutated=(1.0, 0.0)),
    claim("Eq. (2)", measure_objective, printed="pairs i ≤ j", mutated="ordered pairs"),
    claim("Sections 2 and 4.1, Pegasos", measure_pegasos, printed=1.0, mutated=0.0),
    claim("Section 2.1, K-example form", measure_pairs, printed=(1.0, 1.0), repaired=(1.0, 2.0), mutated=(1.0, 0.25)),
    claim("Section 2.1, deviation", measure_deviation, printed=True, mutated=False),
    claim("Section 2.1, Fisher", measure_fisher, printed=True, mutated=False),
    claim("Section 1, special case", measure_special_case, printed="square", mutated="hinge"),
    claim("Section 2, sufficient", measure_not_necessary, printed=True, mutated=False),
)
