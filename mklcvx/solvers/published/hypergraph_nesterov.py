"""hypergraph_nesterov — Nesterov's method on the smoothed form (Ji et al. 2008, Table 1).

    f_σ(Z) = σ log Σ_m exp(S_m(Z)/σ),    μ_m ∝ exp(S_m(Z)/σ),    ∇f_σ(Z) = ½ Z + (1/2λ) Σ_m μ_m K_m Z − H       (18)
    X = Z − (Z + Q)/t
    double L until f_σ(X − ∇f_σ(X)/L) ≤ f_σ(X) − ‖∇f_σ(X)‖²/(2L)
    Z ← X − ∇f_σ(X)/L,   Q ← Q + (t/L) ∇f_σ(X),   t ← (1 + √(1 + 4t²))/2

The start is Z = Q = 0, t = 1, L = ½ + max_m λ_max(K_m)/(2λ). `hypergraph_smooth` brings its own σ (the paper's μ). For
`hypergraph` σ = 1/N, N the number of iterations planned (`steps`), as in Table 1: the smoothing then costs at most
(log M)/N, and no number of iterations gets below that. The gap of the smoothed form falls as 1/t².
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError
from ...formulations import Points
from ...formulations.families.hypergraph import Embedding, HyperTask
from ...formulations.hypergraph_smooth import HYPERGRAPH_SMOOTH as SMOOTH
from ..driver import Algorithm, Array, Problem, State


@dataclass(frozen=True)
class Momentum(State):
    z: Array
    q: Array
    t: float
    lipschitz: float


@dataclass(frozen=True)
class HypergraphNesterov(Algorithm[Momentum]):
    name = "hypergraph_nesterov"
    summary = "Nesterov's method on the smoothed form"
    reference = "Ji et al. 2008, Table 1"
    serves = ("hypergraph", "hypergraph_smooth")
    tolerance = 1e-2
    max_iter = 3000

    steps: int = 1000

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise InputError("option steps = 0 plans nothing: give the number of iterations, the default is 1000")

    def start(self, problem: Problem) -> Momentum:
        task = problem.task
        largest = max(float(np.linalg.eigvalsh(kernel)[-1]) for kernel in task.each_kernel())
        return Momentum(problem.even, 0 * task.h, 0 * task.h, 1.0, 0.5 + largest / (2 * task.lam))

    def step(self, problem: Problem, state: Momentum) -> Momentum:
        task: HyperTask = problem.task
        task = task if task.smoothing is not None else replace(task, smoothing=1 / self.steps)
        x = state.z - (state.z + state.q) / state.t
        value, gradient = smoothed_value(task, x)
        lipschitz, square = state.lipschitz, float(np.vdot(gradient, gradient))
        dust = 8 * np.finfo(float).eps * max(abs(value), 1.0)  # without it the last doublings would never end
        while SMOOTH.joined(task, task.scores(x - gradient / lipschitz)) > value - square / (2 * lipschitz) + dust:
            lipschitz *= 2
        z, q = x - gradient / lipschitz, state.q + state.t / lipschitz * gradient
        shares = SMOOTH.responsible(task, task.scores(z))  # Eq. (12): μ_m = exp((S_m(Z) − f_σ(Z))/σ)
        return Momentum(shares / shares.sum(), z, q, (1 + np.sqrt(1 + 4 * state.t**2)) / 2, lipschitz)

    def points(self, problem: Problem, state: Momentum) -> Points:
        """μ by Eq. (12) with Z; and Z."""
        return Points([Embedding(state.weights, state.z)], [state.z])


def smoothed_value(task: HyperTask, z: Array) -> tuple[float, Array]:
    """f_σ(Z), and its gradient by Eq. (18): one product with each kernel serves both."""
    images = [kernel @ z for kernel in task.each_kernel()]
    common = np.vdot(z, z) / 4 - np.vdot(z, task.h)
    scores = common + np.array([np.vdot(z, image) for image in images]) / (4 * task.lam)
    shares = SMOOTH.responsible(task, scores)
    combined = np.tensordot(shares / shares.sum(), np.stack(images), axes=1)
    return SMOOTH.joined(task, scores), z / 2 + combined / (2 * task.lam) - task.h
