"""Hypergraphs: two bounds at one μ and one Z, every rounding error paid for.

Kernels are the stored numbers read as exact reals, μ sums to one exactly in multiples of 2⁻⁵², and H is the matrix of
doubles that `formulations/families/hypergraph.incidence` makes of the labels. HH' is the labels' A up to the rounding
of a singular value decomposition; the theorem is about HH' for these doubles. With S_m(Z) = ¼‖Z‖² + s_m − tr(Z'H),
s_m = tr(Z'K_mZ)/(4λ), and X = Z/2, the optimal value is v = min over Z of max_m S_m(Z) (smooth: σ log Σ exp(S_m/σ)).

**Upper.** The objective at Z.

**Lower.** Let K(μ) + δI ⪰ 0 with δ < λ, so that P = I + K(μ)/λ ⪰ (1 − δ/λ)I. The maximum over m is at least the mean
with weights μ (smooth: less σΣμ log μ), a quadratic in Z with the least value −tr(H'P⁻¹H), and

    tr(H'P⁻¹H) = 2tr(X'H) − tr(X'PX) + tr(R'P⁻¹R) ≤ −Σ_m μ_mS_m(Z) + ρ,     R = H − PX,  ρ = ‖R‖²/(1 − δ/λ).

**Gap.** What is common to all S_m cancels:

    ρ + Σ_m μ_m (max s − s_m),       smooth: ρ + σ Σ_m [μ_m log(μ_m/t_m) − μ_m + t_m],   t_m ∝ exp(s_m/σ).

No term is negative; one of the second kind is at most σ(μ_m − t_m)²/t_m, which is used where it is less. Errors e_m of
the s_m move the sum over m by no more than max e + μ'e, nor by more than Σ|t − μ|e + (max e)²/(2σ): its gradient is
t − μ, and its second derivative along e a variance over σ. The gap is compared with

    tr(HH') − tr(H'P⁻¹H) ≥ ‖H − X‖² + tr(X'K(μ)X)/λ − ρ.

The lower bound may be taken at a Z of its own; then the gap is the difference of the bounds.

Underflow in K_mZ is in the errors of `passes`, which are divided by λ as well; that in t_m is paid with σ·TINY.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..formulations.families.hypergraph import HyperTask
from .passes import seen
from .record import NOTHING, Certificate, ProvedPoint, refined_unless_settled
from .regularisers import Simplex
from .ridge import combined_ridge
from .rounding import POWER, TINY, Array, U, above, no_wider, product_terms, square_over, total_above, total_below


@dataclass(frozen=True)
class ProvedHypergraph(ProvedPoint):
    """`below` is the Z of the lower bound, if that is another."""

    weights: Array
    z: Array
    below: Array | None


@np.errstate(all="ignore")
def certified(task: HyperTask, mu: Array, z: Array, tolerance: float, below: Array | None = None) -> ProvedHypergraph:
    """The certificate of μ and Z: in plain passes, then in slices. `below` is the Z of the lower bound, if another."""
    mu, z = Simplex(task.count).feasible(mu), np.nan_to_num(z, posinf=0.0, neginf=0.0)
    delta = combined_ridge(task, mu, False, 1e-2 * task.lam)

    def evaluate(sliced: bool) -> ProvedHypergraph:
        at = Embedded(task, mu, z, sliced)
        certificate = at.certificate(delta)
        if below is not None:  # the gap of two Z is the difference of their bounds
            lower, upper = Embedded(task, mu, below, sliced).certificate(delta), certificate
            gap = no_wider(math.inf, lower.lower, upper.upper)
            rounding = min(lower.rounding + upper.rounding, gap)
            certificate = replace(lower, upper=upper.upper, width=gap, rounding=rounding)
        return ProvedHypergraph(certificate, mu, z, below, slopes=np.stack([at.low, at.high]))

    return refined_unless_settled(evaluate, tolerance)


class Embedded:
    """μ and Z with what every kernel makes of the columns of Z."""

    def __init__(self, task: HyperTask, mu: Array, z: Array, sliced: bool) -> None:
        self.task, self.mu, self.z, lam = task, mu, z, task.lam
        found = [seen(task, column, False, sliced) for column in z.T]
        self.low, self.high = (
            np.array([total(ends) for ends in np.array([getattr(f, end) for f in found]).T / (4 * lam)])
            for total, end in ((total_below, "low"), (total_above, "high"))
        )
        self.common = math.fsum([*product_terms(z / 2, z / 2), *(-product_terms(z, task.h))])
        image, count = np.stack([mu @ f.z for f in found], axis=1), task.count + 2
        error = np.stack([mu @ (f.error + count * U * np.abs(f.z)) for f in found], axis=1)
        half = task.h - z / 2
        self.rest = half - image / (2 * lam)
        self.off = above(error / (2 * lam) + 4 * U * (np.abs(half) + np.abs(image) / (2 * lam)), count + 8)
        self.apart = total_below(np.maximum(np.abs(half) - 2 * U * (np.abs(task.h) + np.abs(z)), 0.0) ** 2)

    def residual(self, delta: float, blur: float = 1.0) -> float:
        """ρ from above; infinite where P is not certainly definite."""
        definite = 1 - above(delta / self.task.lam)
        if not definite > 2 * U:
            return math.inf
        return total_above((np.abs(self.rest) + blur * self.off) ** 2) / definite * (1 + 16 * U)

    def certificate(self, delta: float) -> Certificate:
        mu, rho = self.mu, self.residual(delta)
        common = self.common, above(2 * U * abs(self.common))
        mean = total_below([*(mu * self.low), common[0], -common[1]])
        joined, entropy, uneven = self._largest() if self.task.smoothing is None else self._smoothed()
        lower, upper = total_below([mean, entropy, -rho]), total_above([joined, *common])
        width = no_wider(total_above([uneven[0], rho]), lower, upper)
        without = uneven[1] + self.residual(delta, blur=0.0)
        scale = total_below([self.apart, *(mu * self.low), -rho])
        return Certificate(
            lower,
            upper,
            scale=max(scale, 0.0) if math.isfinite(scale) else 0.0,
            width=width,
            rounding=max(width - without, 0.0) if math.isfinite(width) else 0.0,
            ridge=delta,
            ridge_share=rho - self.residual(0.0) if math.isfinite(rho) else math.inf,
        )

    def _largest(self) -> tuple[float, float, tuple[float, float]]:
        """max s from above, nothing for μ, and the gap between s and its mean, with and without errors."""
        middle, simplex = (self.low + self.high) / 2, Simplex(len(self.mu))
        ends = simplex.fenchel(self.mu, self.low, self.high, None), simplex.fenchel(self.mu, middle, middle, None)
        return float(self.high.max()), 0.0, ends

    def _smoothed(self) -> tuple[float, float, tuple[float, float]]:
        """The same for the smoothed maximum; the second is −σΣμ log μ from below."""
        sigma, mu = self.task.smoothing, self.mu
        assert sigma is not None
        middle, errors = (self.low + self.high) / 2, above((self.high - self.low) / 2)
        top = float(middle.max())
        powers = (middle - top) / sigma
        raised = np.exp(powers)
        total = float(raised.sum())
        log_total = math.log(total)
        blur = (2 * POWER + 16 + 4 * len(mu) + 4 * np.minimum(np.abs(powers), 1e3)) * U  # of t, relative
        joined = total_above([top, sigma * log_total, 2 * POWER * U * sigma * (log_total + len(mu)), errors.max()])
        used = mu > 0
        logs = np.log(mu, out=np.zeros_like(mu), where=used)
        entropy = total_below(-sigma * mu * logs, POWER + 4)
        t = raised / total
        off = np.abs(mu - t) + blur * t
        near = np.where(t > NOTHING, sigma * (square_over(off, t * (1 - 2 * blur)) + TINY), math.inf)
        far = np.where(used, mu * (sigma * logs - (middle - top) + sigma * log_total), 0.0) + sigma * (t - mu)
        size = mu * (sigma * np.abs(logs) + np.abs(middle - top) + 2 * sigma * log_total) + sigma * (t + mu)
        far = np.maximum(far, 0.0) + (2 * POWER + 4 * len(mu) + 8) * U * size + sigma * (blur * t + TINY) + TINY
        apart = total_above(np.minimum(near, far), 16)
        first = float(errors.max()) + float(mu @ errors)
        second = float((off + blur * t) @ errors) + float(square_over(errors.max(), sigma)) / 2
        return joined, entropy, (float(above(apart + min(first, second), len(mu))), apart)
