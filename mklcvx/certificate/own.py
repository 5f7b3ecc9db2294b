"""Coefficients of their own: f_m = K_mc_m beside α, where weights and α do not say it all.

Every kernel pays with a δ_m of its own, K_m + δ_mI ⪰ 0 (with a bias on the complement of 1, if every c_m sums to zero).
As in `single`, with c_m/μ_m in the place of c for each kernel,

    v ≤ R(μ) + ½ Σ_m c_m'K_mc_m/μ_m + Σ_i max over 0 ≤ α̂_i ≤ C_i of [α̂_i(ℓ − m_i) + ½ Σ_m δ_mμ_m(β̂_i − c_mi/μ_m)²],

and in the gap ½ Σ_m (c_m − μ_mβ)'K_m(c_m − μ_mβ)/μ_m takes the place of ½(c − β)'K(μ)(c − β). Where μ_m = 0, c_m = 0.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..formulations import SingleTask, Task
from ..problem.low_rank import LowRank
from .passes import own_seen, sum_to_zero
from .record import Certificate
from .ridge import ridges
from .rounding import Array, U, above, below, total_above, total_below
from .samples import Parts, Samples, combined_outputs
from .single import MARGIN, Evaluation, Proved


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
        best = min((self._at(samples, bias, one) for one in tried), key=lambda found: found.gap)
        norms, roots = (np.sqrt(np.maximum(one.high, 0.0)) for one in (self.found, self.lower.found))
        rho = None if risk.rho is None else min(tried, key=lambda one: self._at(samples, bias, one).gap)
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
