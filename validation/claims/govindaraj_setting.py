"""What the claims of Govindaraj 2009 share: instances, the thesis's hyperplane in CVXPY, and SVMs by LIBSVM."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_breast_cancer

import mklcvx
from mklcvx import zoo
from mklcvx.problem.instance import Instance
from optima import Array, root, solved_to, svm_to

C = 1.0
solved = partial(solved_to, 1e-10)


# --------------------------------------------------------------------------------------------- instances
@cache
def ordinary(seed: int = 0) -> Instance:
    """Six positive definite Gaussian kernels on overlapping clouds, three descriptors with two kernels each."""
    return zoo.random(n=40, M=6, overlap=0.7, seed=seed)


@cache
def one_kernel_per_group() -> Instance:
    """The ordinary instance, every kernel a descriptor of its own."""
    return ordinary().with_kernels(ordinary().kernels, groups=np.arange(ordinary().count))


@cache
def one_group() -> Instance:
    """The ordinary instance, all kernels of one descriptor."""
    return ordinary().with_kernels(ordinary().kernels, groups=np.zeros(ordinary().count, dtype=int))


@cache
def single_features(ridge: float = 0.0) -> Instance:
    """Linear kernels on single features, as the synthetic experiment has them at its extreme p = l = n: rank one."""
    x, y = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:80]
    x = x[chosen][:, :12]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    kernels = np.einsum("ik,jk->kij", x, x) + ridge * np.eye(len(x))
    return Instance(kernels, np.where(y[chosen] > 0, 1.0, -1.0))


# ----------------------------------------------------------------------------------- the thesis's problems
@cache
def optimum(instance: Instance, name: str, price: float = C) -> mklcvx.Solution:
    return mklcvx.solve(instance, name, solver="clarabel", C=price)


class Hyperplane:
    """Σ_k w_k'x^k − b = 0 with slacks ξ, and min penalty + C Σξ under y_i(Σ_k w_k'x_i^k − b) ≥ 1 − ξ_i."""

    def __init__(self, instance: Instance) -> None:
        self.features = [root(kernel).T for kernel in instance.kernels]
        self.w = [cp.Variable(len(x)) for x in self.features]
        self.slack = cp.Variable(instance.samples, nonneg=True)
        values = sum(x.T @ w for x, w in zip(self.features, self.w, strict=True)) - cp.Variable()
        self.margins = cp.multiply(instance.y, values) >= 1 - self.slack
        self.norms = cp.hstack([cp.norm(w) for w in self.w])

    def least(self, penalty: Any, constraints: Sequence[Any] = (), price: float = C) -> float:
        return solved(cp.Minimize(penalty + price * cp.sum(self.slack)), [self.margins, *constraints])


def multipliers_of_margins(instance: Instance, price: float = C) -> tuple[cp.Variable, list[Any], list[Any]]:
    """α, its conditions 0 ≤ α ≤ C and y'α = 0, and the vectors X_k(α∘y), whose squared norms are α'Q_kα."""
    alpha = cp.Variable(instance.samples, nonneg=True)
    seen = [(root(kernel).T * instance.y) @ alpha for kernel in instance.kernels]
    return alpha, [alpha <= price, instance.y @ alpha == 0], seen


# -------------------------------------------------------------------------------------------- LIBSVM's SVM
def svm(kernel: Array, y: Array, price: float = C) -> Array:
    return svm_to(1e-7, kernel, y, price)[1]


def svm_value(kernel: Array, y: Array, price: float = C) -> float:
    return svm_to(1e-7, kernel, y, price)[0]


def squares(instance: Instance, alpha: Array) -> Array:
    """q_k = α'Q_kα for every kernel."""
    signed = alpha * instance.y
    return np.maximum(np.einsum("kij,i,j->k", instance.kernels, signed, signed, optimize=True), 0.0)


def combined(instance: Instance, weights: Array) -> Array:
    return np.tensordot(weights, instance.kernels, axes=1)
