"""UFO-MKL as its authors run it: dual averaging with a squared (2, p) group norm and a group lasso.

    primal   min over f_1..f_M    (λ/2) (Σ_m ‖f_m‖^p)^{2/p} + α Σ_m ‖f_m‖ + Σ_i c_i max over u of (1 − V_iu'f(x_i))₊
    dual     max over β ≥ 0, Σ_u β_iu ≤ c_i      Σ_iu β_iu − (1/(2λ)) ‖(√q(β) − α)₊‖_s²,        1/p + 1/s = 1

There is one function for each class and no bias, f_m has the norm ‖f_m‖ = (Σ_c ‖f_mc‖²)^½, and V_iu = e_{y_i} − e_u
for every other class u; y has one function and the contrast y_i. The risk is a mean, c_i = 1/n; q_m(β) = Σ_c δ_c'K_mδ_c
with δ_i = Σ_u β_iu V_iu; λ = 1/(Cn) and s = max(2, 2 log M), as in their program. Any β and any f bound the optimum: a
maximum is at least an average of its terms, Cauchy and Schwarz give Σ_i δ_i'f_m(x_i) ≤ ‖f_m‖ √q_m, and the rest is the
conjugate.

    θ = 0, w = 0;   in every pass, for the samples i in a random order, t = 1, 2, …
        u = the rival with the least margin V_iu'w(x_i);      θ ← θ + φ(x_i)⊗V_iu   if that margin is below 1
        v_m = (‖θ_m‖ − α t)₊,     w_m = θ_m v_m/(λ t ‖θ_m‖) (v_m/‖v‖_s)^{s−2}

θ_m is an expansion with the counts of updates, which all kernels share.
Reference: Orabona & Jie 2011.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.lp_beta import contrasts_of
from mklcvx import Instance
from mklcvx.formulations import lp
from mklcvx.problem.targets import Targets, decided

Array = NDArray[np.float64]
TOLERANCE = 1e-2  # relative gap at which a run ends


class Bound(NamedTuple):
    """A value, √q(β) or ‖f_m‖, and the largest term: the scale of the relative gap."""

    value: float
    norms: Array
    term: float


@dataclass(frozen=True)
class Task:
    """Kernels (M, n, n), contrasts (n, r, k), and the regulariser."""

    kernels: Array
    contrasts: Array
    lam: float
    alpha: float
    s: float

    @classmethod
    def of(cls, instance: Instance, C: float, alpha: float) -> Task:
        kernels = np.asarray(instance.kernels)
        s = max(2.0, 2 * math.log(len(kernels)))
        return cls(kernels, contrasts_of(instance.targets, "ufo"), 1 / (C * instance.samples), alpha, s)

    def pull(self, beta: Array) -> Array:
        """δ, (n, k)."""
        return np.einsum("iu,iuk->ik", beta, self.contrasts)

    def weights(self, d: Array) -> Array:
        """μ with f_m = μ_m K_mδ, from the gradient of the conjugate at √q = d."""
        v = np.maximum(d - self.alpha, 0.0)
        if not v.any():
            return np.zeros(len(d))
        return np.divide(v, d, out=np.zeros(len(d)), where=d > 0) * (v / lp.norm(v, self.s)) ** (self.s - 2) / self.lam

    def functions(self, weights: Array, beta: Array) -> Array:
        """μ_m K_mδ as coefficients, (k, M, n)."""
        return np.asarray(weights[None, :, None] * self.pull(beta).T[:, None, :])

    def lower(self, beta: Array) -> Bound:
        delta = self.pull(beta)
        roots = np.sqrt(np.maximum(np.einsum("ik,mij,jk->m", delta, self.kernels, delta, optimize=True), 0.0))
        gain, cost = beta.sum(), lp.norm(np.maximum(roots - self.alpha, 0.0), self.s) ** 2 / (2 * self.lam)
        return Bound(gain - cost, roots, max(gain, cost))

    def upper(self, coefficients: Array) -> Bound:
        images = np.einsum("mij,kmj->mik", self.kernels, coefficients, optimize=True)
        norms = np.sqrt(np.maximum(np.einsum("mik,kmi->m", images, coefficients), 0.0))
        margins = np.einsum("iuk,ik->iu", self.contrasts, images.sum(axis=0)).min(axis=1)
        penalty = self.lam / 2 * lp.norm(norms, self.s / (self.s - 1)) ** 2 + self.alpha * norms.sum()
        risk = float(np.maximum(0.0, 1.0 - margins).mean())
        return Bound(penalty + risk, norms, max(penalty, risk))


class Walk:
    """The algorithm's state: `scores` θ_m(x_i), (n, M, k); `squares` ‖θ_m‖²; `counts` of updates, (n, r)."""

    def __init__(self, task: Task, seed: int) -> None:
        (n, rivals, k), count = task.contrasts.shape, len(task.kernels)
        self.task, self.random, self.steps = task, np.random.default_rng(seed), 0
        self.scores, self.squares, self.weights = np.zeros((n, count, k)), np.zeros(count), np.zeros(count)
        self.counts = np.zeros((n, rivals))

    def pass_over_samples(self) -> None:
        task = self.task
        for i in self.random.permutation(len(self.scores)):
            self.steps += 1
            margins = task.contrasts[i] @ (self.weights @ self.scores[i])
            rival = int(np.argmin(margins))
            if margins[rival] < 1:
                self.update(i, rival)
            self.weights = task.weights(np.sqrt(np.maximum(self.squares, 0.0)) / self.steps) / self.steps

    def update(self, i: int, rival: int) -> None:
        contrast, column = self.task.contrasts[i, rival], self.task.kernels[:, :, i]
        self.squares += 2 * (self.scores[i] @ contrast) + (contrast @ contrast) * column[:, i]
        for c in np.flatnonzero(contrast):
            self.scores[:, :, c] += contrast[c] * column.T
        self.counts[i, rival] += 1


class Learned(NamedTuple):
    coefficients: Array
    weights: Array
    gap: float
    targets: Targets

    def predict(self, test_kernels: Array) -> NDArray[Any]:
        values = np.einsum("mti,kmi->tk", test_kernels, self.coefficients, optimize=True)
        return decided(values, self.targets.kind, self.targets.predicted_classes())


def ufo(instance: Instance, C: float, alpha: float, passes: int, seed: int) -> Learned:
    """The best function of a run and the largest lower bound: w, what β implies, and the mean of recent w compete."""
    task = Task.of(instance, C, alpha)
    walk, tail, since = Walk(task, seed), np.zeros(()), 0
    best = task.functions(walk.weights, walk.counts)
    lower, upper = task.lower(walk.counts), task.upper(best)
    for done in range(1, passes + 1):
        walk.pass_over_samples()
        beta, now = walk.counts / walk.steps, task.functions(walk.weights, walk.counts)
        tail, since = (now, done) if done >= 2 * since else (tail + now, since)
        bound = task.lower(beta)
        lower = max(lower, bound, key=lambda one: one.value)
        for functions in (now, task.functions(task.weights(bound.norms), beta), tail / (done - since + 1)):
            value = task.upper(functions)
            if value.value < upper.value:
                best, upper = functions, value
        gap = (upper.value - lower.value) / max(lower.term, upper.term, upper.value)
        if gap <= TOLERANCE:
            break
    weights = np.divide(upper.norms, lower.norms, out=np.zeros(len(task.kernels)), where=lower.norms > 0)
    return Learned(best, weights, gap, instance.targets)
