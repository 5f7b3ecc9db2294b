"""Hypergraphs: two bounds at one θ and one Z, every rounding error paid for.

Kernels are the stored numbers read as exact reals, θ sums to one exactly in multiples of 2⁻⁵², and H is the matrix of
doubles that `formulations/_hypergraph.incidence` makes of the labels. HH' is the labels' C up to the rounding of a
singular value decomposition; the theorem is about HH' for these doubles. With S_j(Z) = ¼‖Z‖² + s_j − tr(Z'H),
s_j = tr(Z'K_jZ)/(4λ), and X = Z/2, the optimal value is v = min over Z of max_j S_j(Z) (smooth: μ log Σ exp(S_j/μ)).

**Upper.** The objective at Z.

**Lower.** Let K(θ) + δI ⪰ 0 with δ < λ, so that A = I + K(θ)/λ ⪰ (1 − δ/λ)I. The maximum over j is at least the mean
with weights θ (smooth: less μΣθ log θ), a quadratic in Z with the least value −tr(H'A⁻¹H), and

    tr(H'A⁻¹H) = 2tr(X'H) − tr(X'AX) + tr(R'A⁻¹R) ≤ −Σ_j θ_jS_j(Z) + ρ,     R = H − AX,  ρ = ‖R‖²/(1 − δ/λ).

**Gap.** What is common to all S_j cancels:

    ρ + Σ_j θ_j (max s − s_j),       smooth: ρ + μ Σ_j [θ_j log(θ_j/π_j) − θ_j + π_j],   π_j ∝ exp(s_j/μ).

No term is negative; one of the second kind is at most μ(θ_j − π_j)²/π_j, which is used where it is less. Errors e_j of
the s_j move the sum over j by no more than max e + θ'e, nor by more than Σ|π − θ|e + (max e)²/(2μ): its gradient is
π − θ, and its second derivative along e a variance over μ. The gap is compared with

    tr(HH') − tr(H'A⁻¹H) ≥ ‖H − X‖² + tr(X'K(θ)X)/λ − ρ.

The lower bound may be taken at a Z of its own; then the gap is the difference of the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..formulations.families.hypergraph import HyperTask
from .passes import seen
from .record import Certificate, ProvedPoint, plain_or_sharp
from .regularisers import Simplex
from .ridge import combined_ridge
from .rounding import POWER, TINY, Array, U, above, product_terms, total_above, total_below


@dataclass(frozen=True)
class ProvedHypergraph(ProvedPoint):
    """`below` is the Z of the lower bound, if that is another."""

    weights: Array
    z: Array
    below: Array | None


@np.errstate(all="ignore")
def certified(
    task: HyperTask, theta: Array, z: Array, tolerance: float, below: Array | None = None
) -> ProvedHypergraph:
    """The certificate of θ and Z: in plain passes, then in slices. `below` is the Z of the lower bound, if another."""
    theta, z = Simplex(task.count).feasible(theta), np.nan_to_num(z, posinf=0.0, neginf=0.0)
    delta = combined_ridge(task, theta, False, 1e-2 * task.lam)

    def evaluate(sliced: bool) -> ProvedHypergraph:
        certificate = Embedded(task, theta, z, sliced).certificate(delta)
        if below is not None:  # the gap of two Z is the difference of their bounds
            lower, upper = Embedded(task, theta, below, sliced).certificate(delta), certificate
            gap = total_above([upper.upper, -lower.lower])
            rounding = min(lower.rounding + upper.rounding, gap)
            certificate = replace(lower, upper=upper.upper, width=gap, rounding=rounding)
        return ProvedHypergraph(certificate, theta, z, below)

    return plain_or_sharp(evaluate, tolerance)


class Embedded:
    """θ and Z with what every kernel makes of the columns of Z."""

    def __init__(self, task: HyperTask, theta: Array, z: Array, sliced: bool) -> None:
        self.task, self.theta, self.z, lam = task, theta, z, task.lam
        found = [seen(task, column, False, sliced) for column in z.T]
        self.low, self.high = (
            np.array(
                [total(np.array(ends) / (4 * lam)) for ends in zip(*(getattr(f, end) for f in found), strict=True)]
            )
            for total, end in ((total_below, "low"), (total_above, "high"))
        )
        self.common = math.fsum([*product_terms(z / 2, z / 2), *(-product_terms(z, task.h))])
        image, count = np.stack([theta @ f.z for f in found], axis=1), task.count + 2
        error = np.stack([theta @ (f.error + count * U * np.abs(f.z)) for f in found], axis=1)
        half = task.h - z / 2
        self.rest = half - image / (2 * lam)
        self.off = above(error / (2 * lam) + 4 * U * (np.abs(half) + np.abs(image) / (2 * lam)), count + 8)
        self.apart = total_below(np.maximum(np.abs(half) - 2 * U * (np.abs(task.h) + np.abs(z)), 0.0) ** 2)

    def residual(self, delta: float, blur: float = 1.0) -> float:
        """ρ from above; infinite where A is not certainly definite."""
        definite = 1 - above(delta / self.task.lam)
        if not definite > 2 * U:
            return math.inf
        return total_above((np.abs(self.rest) + blur * self.off) ** 2) / definite * (1 + 16 * U)

    def certificate(self, delta: float) -> Certificate:
        theta, rho = self.theta, self.residual(delta)
        common = self.common, above(2 * U * abs(self.common))
        mean = total_below([*(theta * self.low), common[0], -common[1]])
        joined, entropy, uneven = self._largest() if self.task.smoothing is None else self._smoothed()
        width = total_above([uneven[0], rho])
        without = uneven[1] + self.residual(delta, blur=0.0)
        scale = total_below([self.apart, *(theta * self.low), -rho])
        return Certificate(
            lower=total_below([mean, entropy, -rho]),
            upper=total_above([joined, *common]),
            scale=max(scale, 0.0) if math.isfinite(scale) else 0.0,
            width=width,
            rounding=max(width - without, 0.0) if math.isfinite(width) else 0.0,
            ridge=delta,
            ridge_share=rho - self.residual(0.0) if math.isfinite(rho) else math.inf,
        )

    def _largest(self) -> tuple[float, float, tuple[float, float]]:
        """max s from above, nothing for θ, and the gap between s and its mean, with and without errors."""
        middle, simplex = (self.low + self.high) / 2, Simplex(len(self.theta))
        ends = simplex.fenchel(self.theta, self.low, self.high, None), simplex.fenchel(self.theta, middle, middle, None)
        return float(self.high.max()), 0.0, ends

    def _smoothed(self) -> tuple[float, float, tuple[float, float]]:
        """The same for the smoothed maximum; the second is −μΣθ log θ from below."""
        mu, theta = self.task.smoothing, self.theta
        assert mu is not None
        middle, errors = (self.low + self.high) / 2, above((self.high - self.low) / 2)
        top = float(middle.max())
        powers = (middle - top) / mu
        raised = np.exp(powers)
        total = float(raised.sum())
        log_total = math.log(total)
        blur = (2 * POWER + 16 + 4 * len(theta) + 4 * np.minimum(np.abs(powers), 1e3)) * U  # of π, relative
        joined = total_above([top, mu * log_total, 2 * POWER * U * mu * (log_total + len(theta)), errors.max()])
        used = theta > 0
        logs = np.log(theta, out=np.zeros_like(theta), where=used)
        entropy = total_below(-mu * theta * logs, POWER + 4)
        pi = raised / total
        off = np.abs(theta - pi) + blur * pi
        near = np.divide(mu * off**2, pi * (1 - 2 * blur), out=np.full(len(pi), math.inf), where=pi > 2.0**-900)
        logs = np.where(used, logs, 0.0)
        far = np.where(used, theta * (mu * logs - (middle - top) + mu * log_total), 0.0) + mu * (pi - theta)
        size = theta * (mu * np.abs(logs) + np.abs(middle - top) + 2 * mu * log_total) + mu * (pi + theta)
        far = np.maximum(far, 0.0) + (2 * POWER + 4 * len(theta) + 8) * U * size + blur * mu * pi + TINY
        apart = total_above(np.minimum(near, far), 16)
        first = float(errors.max()) + float(theta @ errors)
        second = float((off + blur * pi) @ errors) + float(errors.max()) ** 2 / (2 * mu)
        return joined, entropy, (float(above(apart + min(first, second), len(theta))), apart)
