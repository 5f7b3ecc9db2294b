"""Single tasks: two bounds on v = max over α of gain(α) − R*(½q(α)), every rounding error paid for.

q_m = β'K_mβ, β = α∘y, for the stored numbers read as exact reals. For semidefinite kernels v is the primal optimum; it
is defined without that, and no δ moves it. Let α be feasible and μ in the domain of R, both exactly.

**Lower.** v ≥ gain(α) − R*(½q(α)), and R* grows with q: an upper end of q is put in.

**Upper.** Let K(μ) + δI ⪰ 0, on the complement of 1 if there is a bias. For every feasible α̂ and c = tβ

    −½ β̂'K(μ)β̂ ≤ ½ c'K(μ)c − c'K(μ)β̂ + ½δ‖β̂ − c‖²,

since β̂ − c sums to zero where δ needs it to. With f = tK(μ)β, margins m_i = y_i(f_i + tb) and level ℓ = 1 (loss nu: ρ)

    v ≤ R(μ) + ½t²μ'q + Σ_i max over 0 ≤ α̂_i ≤ C_i of [α̂_i(ℓ − m_i) + ½δ(α̂_i − tα_i)²]      (loss nu: − ρ),

any b and ρ: they multiply y'α̂ = 0 and 1 − 1'α̂ = 0. Each term is convex in α̂_i, so its maximum is at 0 or C_i. A
negative c'K(μ)c is not cut off.

**Gap.** The two differ by numbers none of which is negative, so nothing cancels:

    Σ_i max(α_i(m_i − ℓ) + ½δt²α_i²,  (C_i − α_i)(ℓ − m_i) + ½δ(C_i − tα_i)²) + ½(t−1)²μ'q + [R(μ) + R*(½q) − ½μ'q],

because Σ_i α_i m_i = tμ'q. Errors of m_i and q are added to every term. The gap is compared with the penalties'
U(‖f‖) + U*(√q) = ½(1 + t²)μ'q, in which constants such as R(μ) cancel, and which no shift of the features changes.

**Stretching.** t slightly above 1 lifts the margins of the free samples over the level by what rounding and δ may take
from them: that costs α_i instead of C_i times as much. For loss nu a lower ρ does the same.

**A low part.** Where C is large, f = K(μ)β may be a small difference of large numbers, and the last bit of α too
coarse. Then c = t(β + β̃) with a β̃ far below the last bits of β (Σβ̃ = 0 with a bias): α in two parts, of which the
lower bound sees the first. In the gap ½(c − β)'K(μ)(c − β) takes the place of ½(t−1)²μ'q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formulations import SingleTask, Task
from .passes import seen
from .record import Certificate
from .regularisers import regulariser_of
from .rounding import Array, U, above, below, total_above, total_below
from .samples import Parts, Samples, combined_outputs

MARGIN = 1.1  # times what rounding and δ may take from a margin
NOTHING = np.zeros(0)


@dataclass(frozen=True)
class Proved:
    """A certificate with the very point that it was evaluated at; `limit` says what keeps it from being tighter."""

    certificate: Certificate
    alpha: Array
    weights: Array
    coefficients: Array | None
    bias: Parts
    bias_interval: tuple[float, float]
    rho: float | None
    tau: float | None
    norms: Array
    roots: Array
    low: Array | None = None
    limit: str = ""


class Evaluation:
    """α with weights, f = Σ μ_m K_m(β + β̃): everything that the bounds need, in plain passes or in slices."""

    def __init__(
        self, formulation: SingleTask, task: Task, alpha: Array, mu: Array, sliced: bool, low: Array | None = None,
        side: Any = None,
    ) -> None:  # fmt: skip
        self.task, self.alpha, self.low = task, alpha, low
        self.side = side or regulariser_of(formulation.name, task.count, task.own)
        self.mu = self.side.feasible(mu)
        beta, self.inexact = alpha * task.y, bool(getattr(self.side, "inexact", False))
        self.found = seen(task, beta, task.bias, sliced)
        self.tau = self.side.threshold(self.found.high / 2)
        self.outputs = combined_outputs(self.found, self.mu, self.inexact)
        self.square = self._weighted(self.found.low, self.found.high)  # μ'q
        self.mixed = self.tiny = (0.0, 0.0)  # β'K(μ)β̃ and β̃'K(μ)β̃
        if low is not None:
            fine = seen(task, low, task.bias, sliced=False)
            self.outputs = self.outputs.plus(combined_outputs(fine, self.mu, self.inexact))
            self.tiny = self._weighted(fine.low, fine.high)
            off = (np.abs(beta) * (fine.error + 2 * U * np.abs(fine.z))).sum(axis=1) * (1 + len(beta) * U)
            along = (fine.z * beta).sum(axis=1)
            off = above(off + len(beta) * U * np.abs(fine.z * beta).sum(axis=1))
            self.mixed = self._weighted(along - off, along + off)

    def _weighted(self, low: Array, high: Array) -> tuple[float, float]:
        """Σ μ_m x_m from below and above, x_m between low and high."""
        ends = total_below(self.mu * low), total_above(self.mu * high)
        slack = 4 * U * self.inexact
        return ends[0] - slack * abs(ends[0]), ends[1] + slack * abs(ends[1])

    def quadratic(self, a: float, b: float) -> tuple[float, float]:
        """(aβ + bβ̃)'K(μ)(aβ + bβ̃) from below and above, a, b ≥ 0."""
        parts = [(a * a, self.square), (2 * a * b, self.mixed), (b * b, self.tiny)]
        return total_below([x * one[0] for x, one in parts]), total_above([x * one[1] for x, one in parts])

    @property
    def fenchel(self) -> float:
        return float(self.side.fenchel(self.mu, self.found.low / 2, self.found.high / 2, self.tau))

    @property
    def fenchel_noise(self) -> float:
        """What the intervals of q add to it."""
        middle = (self.found.low + self.found.high) / 4
        return max(self.fenchel - float(self.side.fenchel(self.mu, middle, middle, self.tau)), 0.0)

    def bounds(self, delta: float) -> Proved:
        """The best certificate over the stretches (loss nu: levels) that are worth a try."""
        risk = self.task.risk(self.outputs.values)
        bias = self.outputs.uncentred(risk.bias) if self.task.bias else (0.0, 0.0)
        samples = Samples(self.task, self.alpha, self.outputs, NOTHING, NOTHING)
        tried = []
        for t, level in self._tries(samples, bias, risk.level, delta):
            tried.append(self._at(samples.stretched(t, delta, self.low), t, level, bias, delta))
        best = min(tried, key=lambda one: (one[0].gap, one[0].upper))
        return Proved(
            best[0], self.alpha, self.mu, None, bias, self.outputs.around(risk.bias_interval, bias), best[1],
            self.tau, np.sqrt(np.maximum(self.found.high, 0.0)) * self.mu, np.sqrt(np.maximum(self.found.high, 0.0)),
            self.low,
        )  # fmt: skip

    def _tries(self, samples: Samples, bias: Parts, level: float, delta: float) -> list[tuple[float, float]]:
        half = delta * float(self.task.box.max()) / 2
        lack = samples.lack(bias, level) + half
        if self.task.loss_function.free_margin:
            return [(1.0, level), (1.0, level - MARGIN * lack)]
        return [(1.0, 1.0), *((1 + MARGIN * size, 1.0) for size in {lack, half} if 0 < size < 0.1)]

    def _at(
        self, samples: Samples, t: float, level: float, bias: Parts, delta: float
    ) -> tuple[Certificate, float | None]:
        free, others = self.task.loss_function.free_margin, [max(self.quadratic(t - 1, t)[1], 0.0) / 2, self.fenchel]
        bound, gap = samples.terms(t, bias, level)
        width = total_above([*gap, *others])
        # Without rounding nothing would have to be stretched, either.
        plain = min(math.fsum(samples.terms(size, bias, level, blur=0.0)[1]) for size in {1.0, t})
        rounding = width - plain - max(self.fenchel - self.fenchel_noise, 0.0)
        lengths, regulariser = self.quadratic(t, t), self.side.value(self.mu)
        gain = self.task.gain(self.alpha)
        lower = total_below([gain, -self.side.conjugate(self.found.high / 2, self.tau)])
        upper = total_above([*bound, lengths[1] / 2, regulariser, *[-level] * free])
        certificate = Certificate(
            lower,
            upper,
            scale=max(total_below([lengths[0] / 2, self.square[0] / 2]), 0.0),
            width=min(width, float(above(upper - lower, 1))),
            rounding=max(rounding, 0.0),
            ridge=delta,
            stretch=t,
            gain=max(float(below(gain)), 0.0),
        )
        return certificate, level if free else None
