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

**Coefficients of their own** (`OwnCoefficients`): f_m = K_mc_m beside α, where weights and α do not say it all. Every
kernel pays with a δ_m of its own, K_m + δ_mI ⪰ 0 (with a bias on the complement of 1, if every c_m sums to zero). With
c_m/μ_m in the place of c for each kernel,

    v ≤ R(μ) + ½ Σ_m c_m'K_mc_m/μ_m + Σ_i max over 0 ≤ α̂_i ≤ C_i of [α̂_i(ℓ − m_i) + ½ Σ_m δ_mμ_m(β̂_i − c_mi/μ_m)²],

and in the gap ½ Σ_m (c_m − μ_mβ)'K_m(c_m − μ_mβ)/μ_m takes the place of ½(c − β)'K(μ)(c − β). Where μ_m = 0, c_m = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..formulations import SingleTask, Task
from ..problem.low_rank import LowRank
from .passes import own_seen, seen, sum_to_zero
from .record import Certificate, ProvedPoint
from .regularisers import regulariser_of
from .ridge import ridges
from .rounding import Array, U, above, below, total_above, total_below
from .samples import Parts, Samples, combined_outputs

MARGIN = 1.1  # times what rounding and δ may take from a margin
NOTHING = np.zeros(0)


@dataclass(frozen=True)
class Proved(ProvedPoint):
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

    def beside(self, bare: Proved) -> Proved:
        """This point, which has a δ, says what that has cost: what its gap exceeds that of `bare`, without δ."""
        share = max(self.certificate.gap - bare.certificate.gap, 0.0)
        stated = replace(self.certificate, ridge_share=share, rounding=bare.certificate.rounding)
        return replace(self, certificate=stated)


def harmless(cost: float, bare: Certificate, tolerance: float) -> float:
    """A δ, at this cost per unit, that costs a hundredth of the tolerance, or of the gap that is there without it: no
    sharper one is needed."""
    allowed = max(tolerance * bare.scale, bare.gap)
    return 1e-2 * allowed / cost if cost > 0 else math.inf


class Evaluation:
    """α with weights, f = Σ μ_m K_m(β + β̃): everything that the bounds need, in plain passes or in slices."""

    def __init__(
        self, formulation: SingleTask, task: Task, alpha: Array, mu: Array, sliced: bool, low: Array | None = None,
        side: Any = None,
    ) -> None:  # fmt: skip
        self.task, self.alpha, self.low = task, alpha, low
        self.side = side or regulariser_of(formulation.name, task.count, task.own)
        self.mu = self.side.feasible(mu)
        beta, self.inexact = alpha * task.y, self.side.inexact
        self.found = seen(task, beta, task.bias, sliced)
        self.tau = self.side.threshold(self.found.high / 2)
        self.fenchel, self.fenchel_noise = self.side.fenchel_parts(self.mu, self.found.low, self.found.high, self.tau)
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

    def bounds(self, delta: float) -> Proved:
        """The best certificate over the stretches (loss nu: levels) that are worth a try."""
        risk = self.task.risk(self.outputs.values)
        bias = self.outputs.uncentred(risk.bias) if self.task.bias else (0.0, 0.0)
        samples = Samples(self.task, self.alpha, self.outputs, NOTHING, NOTHING)
        tried = [
            (self._at(samples.stretched(t, delta, self.low), t, level, bias, delta), level)
            for t, level in self._tries(samples, bias, risk.level, delta)
        ]
        best, level = min(tried, key=lambda one: (one[0].gap, one[0].upper))
        rho, roots = level if self.task.loss_function.free_margin else None, np.sqrt(np.maximum(self.found.high, 0.0))
        interval = self.outputs.around(risk.bias_interval, bias)
        return Proved(best, self.alpha, self.mu, None, bias, interval, rho, self.tau, roots * self.mu, roots, self.low)

    def _tries(self, samples: Samples, bias: Parts, level: float, delta: float) -> list[tuple[float, float]]:
        half = delta * float(self.task.box.max()) / 2
        lack = samples.lack(bias, level) + half
        if self.task.loss_function.free_margin:
            return [(1.0, level), (1.0, level - MARGIN * lack)]
        return [(1.0, 1.0), *((1 + MARGIN * size, 1.0) for size in {lack, half} if 0 < size < 0.1)]

    def _at(self, samples: Samples, t: float, level: float, bias: Parts, delta: float) -> Certificate:
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
        return Certificate(
            lower,
            upper,
            scale=max(total_below([lengths[0] / 2, self.square[0] / 2]), 0.0),
            width=min(width, float(above(upper - lower, 1))),
            rounding=max(rounding, 0.0),
            ridge=delta,
            stretch=t,
            gain=max(float(below(gain)), 0.0),
        )


class OwnCoefficients:
    """f_m = K_mc_m with coefficients of their own, beside α: every kernel pays with its own δ."""

    def __init__(
        self, formulation: SingleTask, task: Task, alpha: Array, mu: Array, coefficients: Array, sliced: bool,
        side: Any = None, delta: Array | None = None,
    ) -> None:  # fmt: skip
        self.lower = Evaluation(formulation, task, alpha, mu, sliced, side=side)
        self.task, self.mu = task, self.lower.mu
        coefficients = np.where(self.mu[:, None] > 0, coefficients, 0.0)  # without weight no function is to be had
        self.coefficients, used = coefficients, coefficients.any(axis=1)
        self.balanced = task.bias and sum_to_zero(coefficients)
        self.ridges = ridges(task, used | (self.mu > 0), self.balanced) if delta is None else delta
        self.found = own_seen(task, coefficients, self.balanced, sliced)
        self.apart = own_seen(task, coefficients - self.mu[:, None] * alpha * task.y, False, sliced)
        self.over = np.divide(1.0, self.mu, out=np.zeros_like(self.mu), where=self.mu > 0)

    def bounds(self) -> Proved:
        task, alpha, over, delta = self.task, self.lower.alpha, self.over, self.ridges
        outputs = combined_outputs(self.found, np.ones(task.count))
        risk = task.risk(outputs.values)
        centre = over[:, None] * self.coefficients * task.y
        far = np.abs(task.box - centre) + 4 * U * (task.box + np.abs(centre))
        paid = (delta * self.mu)[:, None] / 2
        to_zero, to_box = (above((paid * x**2).sum(axis=0), task.count + 8) for x in (centre, far))
        samples = Samples(task, alpha, outputs, to_zero, to_box)
        level, bias = risk.level, outputs.uncentred(risk.bias)
        tried = [level] + [level - MARGIN * samples.lack(bias, level)] * task.loss_function.free_margin
        best, level = min(((self._at(samples, bias, one), one) for one in tried), key=lambda found: found[0].gap)
        norms, roots = (np.sqrt(np.maximum(one.high, 0.0)) for one in (self.found, self.lower.found))
        rho = None if risk.rho is None else level
        interval = outputs.around(risk.bias_interval, bias)
        return Proved(best, alpha, self.mu, self.coefficients, bias, interval, rho, self.lower.tau, norms, roots)

    def _at(self, samples: Samples, bias: Parts, level: float) -> Certificate:
        lower = self.lower
        # c_m − μ_mβ was rounded, by u(|c_m| + 2|μ_mβ|): its square is moved by no more than `blur`.
        rounded = 3 * U * (np.abs(self.coefficients) + self.mu[:, None] * np.abs(lower.alpha))
        reach = np.abs(self.apart.z) + self.apart.error
        sizes = self.task.largest_entries if not isinstance(self.task.kernels, LowRank) else self._reach()
        blur = above(2 * (rounded * reach).sum(axis=1) + sizes * rounded.sum(axis=1) ** 2, self.task.samples)
        away = total_above(self.over * (np.maximum(self.apart.high, 0.0) + blur) / 2)
        bound, gap = samples.terms(1.0, bias, level)
        others = [away, lower.fenchel]
        width = total_above([*gap, *others])
        penalty = total_above(self.over * np.maximum(self.found.high, 0.0) / 2)
        gain = self.task.gain(lower.alpha)
        scale = total_below(self.over * np.maximum(self.found.low, 0.0) / 2) + below(lower.square[0] / 2)
        plain = math.fsum(samples.terms(1.0, bias, level, blur=0.0)[1])
        bare = replace(samples, at_zero=np.zeros_like(bound), at_box=np.zeros_like(bound))
        without_ridge = total_above([*bare.terms(1.0, bias, level)[1], *others])
        least = total_below([gain, -lower.side.conjugate(lower.found.high / 2, lower.tau)])
        margin = [-level] * self.task.loss_function.free_margin
        most = total_above([*bound, penalty, lower.side.value(lower.mu), *margin])
        return Certificate(
            least,
            most,
            scale=max(float(below(scale)), 0.0),
            width=min(width, float(above(most - least, 1))),
            rounding=max(width - plain - away - max(lower.fenchel - lower.fenchel_noise, 0.0), 0.0),
            ridge=float(self.ridges.max()),
            ridge_share=max(width - without_ridge, 0.0),
            ridges=tuple(self.ridges.tolist()),
            gain=max(float(below(gain)), 0.0),
        )

    def _reach(self) -> Array:
        """max |K_ij| from above for kernels in factors."""
        stack: LowRank = self.task.kernels
        return np.array([float(above(np.max(np.sum(stack.factor(m) ** 2, axis=1)), 64)) for m in range(len(stack))])
