"""Norms between groups of kernels, `li`, `ckl` and `vskl`: v = max over α of gain(α) − U*(√q₁, …, √q_M), √q = √max(q, 0).

**Lower.** U* grows with every root: upper ends of the q_m are put in.

**Upper.** Here K_m enters through a root, and a root of something that is zero up to δ is a root of δ. Let K_m + δ_mI ⪰ 0
and f_m = K_mc_m. In the inner product of K_m + δ_mI, with a_m² = c_m'K_mc_m + δ_m‖c_m‖², Cauchy and Schwarz give

    β̂'K_mc_m ≤ a_m √(q̂_m + δ_m‖β̂‖²) + δ_m‖β̂‖‖c_m‖ ≤ a_m √q̂_m + (a_m√δ_m + δ_m‖c_m‖) ‖β̂‖,

and with Fenchel's U(a) + U*(d) ≥ a'd, every α̂ having ‖β̂‖ ≤ B = √ΣC_i²,

    v ≤ U(a) + Σ_i C_i(1 − m_i)₊ + B Σ_m (a_m√δ_m + δ_m‖c_m‖),        m_i = y_i(f_i + b).

So kernels that are not definite, as far as can be proved, cost √δ_m: half of the digits. Definite kernels have δ_m = 0,
and so have kernels given by their factors. With a bias and Σ_i c_mi = 0, δ_m is that of the complement of 1.

**Gap.** Σ_i max(α_i(m_i − 1), (C_i − α_i)(1 − m_i)) + [U(a) + U*(√q) − Σ_m β'K_mc_m] + the terms in δ, compared with
U(a) + U*(√q) at δ = 0.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..formulations import SingleTask, Task
from .passes import own_seen, seen, sum_to_zero
from .record import Certificate
from .ridge import ridges
from .rounding import POWER, Array, U, above, below, total_above, total_below
from .single import Proved, Samples, combined_outputs, limit_of


def certified(
    formulation: SingleTask, task: Task, alpha: Array, mu: Array, tolerance: float, coefficients: Array | None
) -> Proved:
    delta: Array | None = None
    found: Proved | None = None
    for sliced in (False, True):
        at = Between(formulation, task, alpha, mu, coefficients, sliced)
        if delta is None:
            delta = ridges(task, at.used, at.balanced)
        found = at.bounds(delta)
        certificate = found.certificate
        if certificate.proves(tolerance) or certificate.rounding <= 1e-2 * certificate.gap:
            break
    assert found is not None
    return replace(found, limit=limit_of(found.certificate, tolerance))


class Between:
    """α, and functions f_m = K_mc_m: the implied ones, c_m = weight_m β, or others."""

    def __init__(
        self,
        formulation: SingleTask,
        task: Task,
        alpha: Array,
        weights: Array,
        coefficients: Array | None,
        sliced: bool,
    ) -> None:
        self.formulation, self.task, self.alpha, self.coefficients = formulation, task, alpha, coefficients
        beta = alpha * task.y
        self.dual = seen(task, beta, task.bias, sliced)
        self.steps = POWER + 64 + task.count
        if coefficients is None:
            self.weights, self.balanced = np.nan_to_num(weights), task.bias
            self.used = (self.weights > 0) & bool(beta.any())
            self.outputs = combined_outputs(self.dual, self.weights)
            self.low, self.high = (self.weights**2 * q for q in (self.dual.low, self.dual.high))
            self.lengths = above(self.weights * math.sqrt(total_above(beta**2)))
            self.along = total_below(self.weights * self.dual.low)
            return
        self.weights, self.used = weights, coefficients.any(axis=1)
        self.balanced = task.bias and sum_to_zero(coefficients)
        found = own_seen(task, coefficients, self.balanced, sliced)
        self.outputs = combined_outputs(found, np.ones(task.count))
        self.low, self.high = found.low, found.high
        self.lengths = above(np.sqrt(np.sum(coefficients**2, axis=1)), task.samples)
        # Σ_i β_i times a constant is zero where there is a bias; where there is none, nothing was taken away.
        self.along = total_below(beta * self.outputs.values) - total_above(np.abs(beta) * self.outputs.error)

    def bounds(self, delta: Array) -> Proved:
        task, own = self.task, self.task.own
        norms = above(np.sqrt(np.maximum(self.high, 0.0) + delta * self.lengths**2))
        roots = above(np.sqrt(np.maximum(self.dual.high, 0.0)))
        penalty = float(above(self.formulation.penalty(norms, **own), self.steps))
        cost = float(above(self.formulation.conjugate(roots, **own), self.steps))
        longest = math.sqrt(total_above(task.box**2)) * (1 + 4 * U)
        paid = total_above((norms * np.sqrt(delta) + delta * self.lengths) * longest, 16)
        risk = task.risk(self.outputs.values)
        bias = self.outputs.uncentred(risk.bias) if task.bias else (0.0, 0.0)
        nothing = np.zeros(task.samples)
        samples = Samples(task, self.alpha, self.outputs, nothing, nothing)
        bound, gap = samples.terms(1.0, bias, 1.0)
        both = max(total_above([penalty, cost, -self.along], self.steps), 0.0)
        width = total_above([*gap, both, paid])
        plain = total_above([*samples.terms(1.0, bias, 1.0, blur=0.0)[1], both, paid])
        least = [np.sqrt(np.maximum(below(low), 0.0)) for low in (self.low, self.dual.low)]
        scale = self.formulation.penalty(least[0], **own) + self.formulation.conjugate(least[1], **own)
        slack = cost - self.formulation.conjugate(least[1], **own) + total_above(np.abs(self.high - self.low))
        lower, upper = total_below([math.fsum(self.alpha), -cost]), total_above([*bound, penalty, paid])
        certificate = Certificate(
            lower,
            upper,
            scale=max(float(below(scale, self.steps)), 0.0),
            width=min(width, float(above(upper - lower))),
            rounding=max(width - plain + slack, 0.0),
            ridge=float(delta.max(initial=0.0)),
            ridge_share=min(paid, width),
            ridges=tuple(delta.tolist()),
        )
        interval = self.outputs.around(risk.bias_interval, bias)
        return Proved(
            certificate, self.alpha, self.weights, self.coefficients, bias, interval, None, None, norms, roots
        )
