"""The problem of Ji et al. 2008 in NumPy, as printed: S_j, f, f_μ, and the instances that its claims are put to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from mklcvx import Instance, solve
from mklcvx.certificate.solution import Solution
from mklcvx.problem.kernels import Gaussian, KernelBank, MeanDistance
from optima import root, solved_to

Array = NDArray[Any]
optimum = partial(solved_to, 1e-8)

DIGIT_LABELS = ((0, 2, 4, 6, 8), (0, 6, 8, 9), (2, 3, 5, 7), (1, 4, 7))  # even, round, prime, straight


@dataclass(frozen=True)
class Problem:
    """Kernels (p, n, n), labels (n, k) in {0, 1}, the graph made of the labels, the ridge λ and the smoothing μ."""

    kernels: Array
    labels: Array
    lam: float
    mu: float = 0.1
    expansion: str = "clique"

    @cached_property
    def c(self) -> Array:
        return expanded(self.labels, self.expansion)

    @cached_property
    def h(self) -> Array:
        return factor(self.c, self.labels.shape[1])

    @property
    def count(self) -> int:
        return len(self.kernels)

    def kernel(self, theta: Array) -> Array:
        return np.tensordot(theta, self.kernels, axes=1)

    def ridged(self, j: int) -> Array:
        """I + K_j/λ."""
        return np.eye(len(self.c)) + self.kernels[j] / self.lam

    def scores(self, z: Array) -> Array:
        """S_j(Z), Eq. (6); of complex Z too, without conjugation."""
        quadratic = np.einsum("ai,jab,bi->j", z, self.kernels, z, optimize=True)
        return np.sum(z * z) / 4 + quadratic / (4 * self.lam) - np.sum(z * self.h)

    def largest(self, z: Array) -> float:
        """f(Z), Eq. (8)."""
        return float(self.scores(z).max())

    def smoothed(self, z: Array) -> Any:
        """f_μ(Z), Eq. (10), shifted by its largest exponent."""
        scores = self.scores(z)
        top = scores.real.max()
        return top + self.mu * np.log(np.sum(np.exp((scores - top) / self.mu)))

    def shares(self, z: Array) -> Array:
        """g_j = exp(S_j/μ)/Σ_i exp(S_i/μ): θ_j of Eq. (12)."""
        scores = self.scores(z)
        raised = np.exp((scores - scores.max()) / self.mu)
        return raised / raised.sum()

    def gradient(self, z: Array) -> Array:
        """Eq. (18), as a matrix."""
        return z / 2 + self.kernel(self.shares(z)) @ z / (2 * self.lam) - self.h

    def best_z(self, theta: Array) -> Array:
        """Where Σ_j θ_j S_j is least."""
        return 2 * np.linalg.solve(np.eye(len(self.c)) + self.kernel(theta) / self.lam, self.h)

    @property
    def instance(self) -> Instance:
        return Instance(self.kernels, labels=self.labels)


def expanded(labels: Array, expansion: str, loops: float = 1.0) -> Array:
    """C of the normalised Laplacian I − C. `loops` scales the clique graph's edges from a sample to itself."""
    if expansion == "kcca":
        return labels @ np.linalg.pinv(labels.T @ labels) @ labels.T
    edges = labels.sum(axis=0)
    if expansion == "clique":
        adjacency = labels @ labels.T
        adjacency -= (1 - loops) * np.diag(np.diag(adjacency))
        degrees = adjacency.sum(axis=1)
    elif expansion == "star":
        adjacency, degrees = (labels / edges**2) @ labels.T, labels @ (1 / edges)
    else:
        adjacency, degrees = (labels / edges) @ labels.T, labels.sum(axis=1)
    roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))  # a sample without labels has an empty row
    return adjacency / roots[:, None] / roots


def factor(c: Array, columns: int) -> Array:
    """H (n, columns) with HH' = C, if C is semidefinite of no larger rank."""
    values, vectors = np.linalg.eigh(c)
    return vectors[:, -columns:] * np.sqrt(np.maximum(values[-columns:], 0.0))


@cache
def digits(n: int = 40, lam: float = 0.02, mu: float = 0.1, bandwidths: tuple[float, ...] = (2.0,)) -> Problem:
    """Images of digits with four properties as labels; the halves of the image, and all of it, as views."""
    images, digit = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(digit))[:n]
    pixels = images[rows].reshape(n, 8, 8) / 16
    halves = (pixels[:, :4], pixels[:, 4:], pixels[:, :, :4], pixels[:, :, 4:], pixels)
    bank = KernelBank([Gaussian(MeanDistance(factor)) for factor in bandwidths])
    kernels = np.concatenate([bank.fit(view.reshape(n, -1)).stack() for view in halves])
    labels = np.stack([np.isin(digit[rows], members) for members in DIGIT_LABELS], axis=1).astype(float)
    return Problem(unit_trace(kernels), labels, lam, mu)


@cache
def correlated(seed: int, n: int = 24, k: int = 3, p: int = 4, lam: float = 0.05, mu: float = 0.1) -> Problem:
    """Labels that share two hidden directions, kernels on noisy views of them; every sample has a label."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    labels = (hidden @ rng.normal(size=(2, k)) + 0.5 * rng.normal(size=(n, k)) > 0).astype(float)
    labels[np.arange(n), np.arange(n) % k] = 1.0
    views = [hidden + 0.4 * (1 + j) * rng.normal(size=(n, 2)) for j in range(p)]
    kernels = np.concatenate([KernelBank([Gaussian(1.0)]).fit(view).stack() for view in views])
    return Problem(unit_trace(kernels), labels, lam, mu)


def unit_trace(kernels: Array) -> Array:
    return kernels / np.trace(kernels, axis1=1, axis2=2)[:, None, None]


def exact(problem: Problem) -> Solution:
    """min over Z of f, by the package, with its certificate."""
    return solve(problem.instance, "hypergraph", solver="clarabel", lam=problem.lam, expansion=problem.expansion)


def smooth(problem: Problem) -> Solution:
    """min over Z of f_μ, by the package, with its certificate."""
    given = {"lam": problem.lam, "smoothing": problem.mu, "expansion": problem.expansion}
    return solve(problem.instance, "hypergraph_smooth", solver="clarabel", **given)


def declared_quadratic(problem: Problem, z: cp.Variable, kernel: Array, coefficient: float = 0.25) -> cp.Expression:
    """The quadratic part of S(Z) with a given kernel: ¼‖Z‖² + (coefficient/λ) tr(Z'KZ); the printed one is ¼."""
    return cp.sum_squares(z) / 4 + cp.sum_squares(root(kernel).T @ z) * (coefficient / problem.lam)


def declared_inner(z: cp.Variable, h: Array) -> cp.Expression:
    """tr(Z'H)."""
    return cp.sum(cp.multiply(z, h))


def cone_program(problem: Problem, h: Array) -> float:
    """min over Z of max_j S_j(Z)."""
    z, level = cp.Variable(h.shape), cp.Variable()
    cuts = [declared_quadratic(problem, z, kernel) - declared_inner(z, h) <= level for kernel in problem.kernels]
    return optimum(cp.Minimize(level), cuts)


def excess(ratio: float) -> float:
    """By how much the left side of an inequality exceeds the right, relatively."""
    return max(0.0, ratio - 1)
