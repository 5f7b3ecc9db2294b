"""Hypergraphs: the bounds of joint outputs at one μ and one Z, with the sign turned.

v = min over Z of max_m S_m(Z) (smooth: σ log Σ exp(S_m/σ)) is minus the optimal value of joint outputs with the squared
loss, C = 2, no bias, the responses H and the kernels K_m/(2λ), R(μ) = 0 on the simplex (smooth: σΣμ log μ): at α = Z',
S_m(Z) is ½q_m(α)/(2λ) less the gain, tr(Z'H) − ¼‖Z‖². So the proof is that of `joint`: any Z proves an upper bound, and
together with μ a lower one, where K(μ) + δI ⪰ 0 and δ < λ. Kernels are never divided, weights are: μ/(2λ), where 2λ is
exact. H is the matrix of doubles that `formulations/families/hypergraph.incidence` makes of the labels. HH' is the
labels' A up to the rounding of a singular value decomposition; the theorem is about HH' for these doubles.

**The scale** is the family's own. With X = Z/2, P = I + K(μ)/λ and ρ the samples' part of the gap, no less than
tr(R'P⁻¹R), R = H − PX, the gap is compared with

    tr(HH') − tr(H'P⁻¹H) ≥ ‖H − X‖² + tr(X'K(μ)X)/λ − ρ.

The lower bound may be taken at a Z of its own; then the gap is the difference of the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..formulations.families.hypergraph import HyperTask
from .joint import JointEvaluation
from .record import Certificate, ProvedPoint, refined_unless_settled
from .regularisers import Divided, Entropy, SimplexBounds
from .ridge import combined_ridge
from .rounding import Array, U, above, no_wider, total_above, total_below


@dataclass(frozen=True)
class ProvedHypergraph(ProvedPoint):
    """`below` is the Z of the lower bound, if that is another."""

    weights: Array
    z: Array
    below: Array | None


@np.errstate(all="ignore")
def certified(task: HyperTask, mu: Array, z: Array, tolerance: float, below: Array | None = None) -> ProvedHypergraph:
    """The certificate of μ and Z: in plain passes, then in slices. `below` is the Z of the lower bound, if another."""
    simplex = Entropy(task.count, **task.own) if task.own else SimplexBounds(task.count)
    side, mu, z = Divided(simplex, 2 * task.lam), simplex.feasible(mu), np.nan_to_num(z, posinf=0.0, neginf=0.0)
    delta = combined_ridge(task, mu, False, 1e-2 * task.lam)

    def evaluate(sliced: bool) -> ProvedHypergraph:
        at = Embedded(side, task, z, mu, sliced)
        certificate = at.certificate(delta)
        if below is not None:  # the gap of two Z is the difference of their bounds
            lower, upper = Embedded(side, task, below, mu, sliced).certificate(delta), certificate
            gap = no_wider(math.inf, lower.lower, upper.upper)
            rounding = min(lower.rounding + upper.rounding, gap)
            certificate = replace(lower, upper=upper.upper, width=gap, rounding=rounding)
        return ProvedHypergraph(certificate, mu, z, below, slopes=np.stack(side.ends(at.low / 2, at.high / 2)))

    return refined_unless_settled(evaluate, tolerance)


class Embedded(JointEvaluation):
    """μ and Z as weights and α of joint outputs."""

    def __init__(self, side: Divided, task: HyperTask, z: Array, mu: Array, sliced: bool) -> None:
        super().__init__(side, task.outputs, z.T, mu, sliced)
        left = np.abs(task.h - z / 2) - 2 * U * (np.abs(task.h) + np.abs(z))
        self.lam, self.left = task.lam, total_below(np.maximum(left, 0.0) ** 2)

    def certificate(self, delta: float) -> Certificate:
        """The bounds with the sign turned. `delta` is that of K(μ): it divides the samples' part of the gap by
        1 − δ/λ."""
        turned = self.bounds(float(above(delta / (2 * self.lam)))).certificate
        share = max(turned.gap - self.fenchel, 0.0) * delta / self.lam
        return replace(turned, lower=-turned.upper, upper=-turned.lower, ridge=delta, ridge_share=share, gain=None)

    def _scale(self, t: float, gap: Array) -> float:
        return total_below([self.left, self.square[0] / 2, -total_above(gap)])
