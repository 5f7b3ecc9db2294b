"""Single tasks: two bounds on v = max over α of gain(α) − R*(½q(α)), every rounding error paid for.

q_m = β'K_mβ, β = s∘α, for the stored numbers read as exact reals. For semidefinite kernels v is the primal optimum; it
is defined without that, and no δ moves it. Let α be feasible and μ in the domain of R, both exactly.

**Lower.** v ≥ gain(α) − R*(½q(α)), and R* grows with q: an upper end of q is put in. The gain is put in from below.

**Upper.** Let K(μ) + δI ⪰ 0, on the complement of 1 if there is a bias. For every feasible α̂ and c = tβ

    −½ β̂'K(μ)β̂ ≤ ½ c'K(μ)c − c'K(μ)β̂ + ½δ‖β̂ − c‖²,

since β̂ − c sums to zero where δ needs it to. With f = tK(μ)β and outputs z_i = f_i + tb,

    v ≤ R(μ) + ½t²μ'q + Σ_i sup over low_i ≤ α̂_i ≤ high_i of [g_i(α̂_i) − s_i α̂_i z_i + ½δ(α̂_i − tα_i)²],

any b, which multiplies s'α̂ = 0. Where the margin is free, ρ(1 − 1'α̂) = 0 is added: g_i is ρα̂_i, and −ρ is left.
Where the tube is, ε(N − ‖α̂‖₁) ≥ 0 is added: g_i is y_iα̂_i − ε|α̂_i|, and Nε is left; ε(N − ‖α‖₁) joins the gap. Without
δ the supremum is the loss c_i ℓ(y_i, z_i). A negative c'K(μ)c is not cut off.

**Gap.** The two differ by numbers none of which is negative, so nothing cancels:

    Σ_i (sup over α̂_i of [g_i(α̂_i) − s_i α̂_i z_i + ½δ(α̂_i − tα_i)²] − [g_i(α_i) − s_i α_i z_i])
    + ½(t−1)²μ'q + [R(μ) + R*(½q) − ½μ'q],

because Σ_i s_i α_i z_i = tμ'q. The first line is Fenchel–Young's, sample by sample: `sample_terms` bounds it for every
loss, with δ and with the errors of z. Errors of q are added to the others. The gap is compared with the penalties'
U(‖f‖) + U*(√q) = ½(1 + t²)μ'q, in which constants such as R(μ) cancel, and which no shift of the features changes. Only
where α = 0 and no sample costs anything, so that f = 0 is optimal, R(μ) is all there is, and the scale.

**Stretching**, for losses with one level and without curvature, the hinge and ν-forms: t slightly above 1 lifts the
margins of the free samples over the level by what rounding and δ may take from them: that costs α_i instead of C_i
times as much. For ν-forms a lower ρ does the same. A curved loss needs nothing of that: its gap is of second order.
With real targets there is no level that f could be lifted over, and t = 1.

**A low part.** Where C is large, f = K(μ)β may be a small difference of large numbers, and the last bit of α too
coarse. Then c = t(β + β̃) with a β̃ far below the last bits of β (Σβ̃ = 0 with a bias): α in two parts, of which the
lower bound sees the first. In the gap ½(c − β)'K(μ)(c − β) takes the place of ½(t−1)²μ'q.

**Coefficients of their own** (`OwnCoefficients`): f_m = K_mc_m beside α, where weights and α do not say it all. Every
kernel pays with a δ_m of its own, K_m + δ_mI ⪰ 0 (with a bias on the complement of 1, if every c_m sums to zero). With
c_m/μ_m in the place of c for each kernel,

    v ≤ R(μ) + ½ Σ_m c_m'K_mc_m/μ_m + Σ_i sup over α̂_i of [g_i(α̂_i) − s_i α̂_i z_i + ½ Σ_m δ_mμ_m(β̂_i − c_mi/μ_m)²],

and in the gap ½ Σ_m (c_m − μ_mβ)'K_m(c_m − μ_mβ)/μ_m takes the place of ½(c − β)'K(μ)(c − β). Where μ_m = 0, c_m = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ..formulations import Task
from ..problem.low_rank import LowRank
from .passes import Seen, added, own_seen, seen, sum_to_zero
from .record import NOTHING, Certificate, ProvedPoint, Sliced
from .regularisers import RegulariserBounds
from .ridge import ridges
from .rounding import Array, U, above, below, no_wider, product_terms, total_above, total_below
from .sample_terms import NO_RIDGE, Costs, Ridge, SampleTerms, sample_terms

Parts = tuple[float, float]  # a number as the sum of two, the second below the last bit of the first
# More than R(μ) takes beside those of its terms: an exponent times a logarithm is off by 6u, and at most 745 where the
# power is a double.
SCALE_STEPS = 8192
MARGIN = 1.1  # times what rounding and δ may take from a margin


# --------------------------------------------------------------------------------------------- the samples' side
@dataclass(frozen=True)
class Outputs:
    """f(x_i) + shift ± error at the samples; the shift is the exact sum of `terms`, up to `shift_error`."""

    values: Array
    error: Array
    terms: Array
    shift_error: float

    def margins(self, y: Array, bias: Parts) -> tuple[Array, Array]:
        """y(f + b) and its error."""
        constant = math.fsum([*bias, *self.terms])
        values = self.values + constant
        off = self.error + self.shift_error + 2 * U * abs(constant) + 2 * U * np.abs(values)
        return y * values, above(off)

    def residuals(self, a: Array, signs: Array, bias: Parts) -> tuple[Array, Array]:
        """a − s(f + b) and its error. Rounding costs what it did lose, not what it might: residuals of real targets may
        vanish together with the value, and then nothing is lost."""
        parts = [*bias, *self.terms]
        constant = math.fsum(parts)
        values, lost = added(self.values, constant)
        r, lost_too = added(a, -signs * values)
        rest = math.fsum([*parts, -constant])
        return r, above(np.abs(lost_too - signs * (lost + rest)) + self.error + self.shift_error)

    def offsets(self, task: Task) -> tuple[float, Parts, Parts]:
        """The level and the bias that minimise the risk, and the interval of optimal biases. The shift is subtracted
        from the bias, which has two parts: with large constants in the kernels one double would be too coarse."""
        risk = task.risk(self.values)
        high = math.fsum([risk.bias, *(-self.terms)])
        low_end, high_end = (end - math.fsum(self.terms) for end in risk.bias_interval)
        bias = high, math.fsum([risk.bias, *(-self.terms), -high])
        return risk.unknown, bias, (min(low_end, high), max(high_end, high))

    def plus(self, other: Outputs) -> Outputs:
        values = self.values + other.values
        error = above(self.error + other.error + U * np.abs(values))
        terms = np.concatenate([self.terms, other.terms])
        return Outputs(values, error, terms, float(above(self.shift_error + other.shift_error)))


def combined_outputs(products: Seen, mu: Array, inexact: bool = False) -> Outputs:
    """Σ μ_m (z_m + shift_m)."""
    count = len(mu) + 2 + int(inexact)
    values = mu @ products.z
    error = above(mu @ products.error + count * U * (mu @ np.abs(products.z)), count + 8)
    terms = product_terms(mu, products.shift)
    shift_error = total_above(mu * products.shift_error)
    if inexact:
        shift_error += above(U * total_above(np.abs(terms)))
    return Outputs(values, error, terms, float(shift_error))


@dataclass(frozen=True)
class SampleCosts:
    """The samples' side: what the outputs of a point cost, from above."""

    task: Task
    alpha: Array
    outputs: Outputs
    side: SampleTerms

    def stretched(self, t: float, delta: float, low: Array | None) -> SampleCosts:
        c = t * (self.alpha if low is None else self.alpha + self.task.signs * low)
        return replace(self, side=self.side.paying(Ridge(np.full((1, 1), delta), c[None])))

    def terms(self, t: float, bias: Parts, level: float, blur: float = 1.0) -> Costs:
        """Terms of the upper bound and of the gap; with `blur` 0, without the cost of rounding."""
        (r, off), side = self._residuals(t, bias, level), self.side.at(level)
        bound, gap = side.costs(self.alpha, r, blur * off)
        return Costs(np.append(bound, side.level_terms(level)), np.append(gap, side.slack_terms(self.alpha, level)))

    def _residuals(self, t: float, bias: Parts, rho: float) -> tuple[Array, Array]:
        if not self.side.stretches:
            return self.outputs.residuals(self.side.a, self.task.signs, bias)
        margins, off = self.outputs.margins(self.task.signs, bias)
        excess = t * margins - (self.side.a + rho)
        return -excess, above(t * off + 3 * U * np.abs(t * margins) + 2 * U * np.abs(excess))

    def lack(self, bias: Parts, rho: float) -> float:
        """How far the margins of free samples may fall short of the level, rounding included."""
        if not self.side.stretches:
            return 0.0
        margins, off = self.outputs.margins(self.task.signs, bias)
        free = (self.alpha > 0) & (self.alpha < self.side.high)
        return float(np.max((self.side.a + rho - margins + off)[free], initial=0.0))


# --------------------------------------------------------------------------------------------------- the bounds
@dataclass(frozen=True)
class Proved(ProvedPoint):
    alpha: Array
    weights: Array
    coefficients: Array | None
    bias: Parts
    bias_interval: tuple[float, float]
    level: float | None
    tau: float | None
    norms: Array
    roots: Array
    low: Array | None = None

    def beside(self, bare: Proved) -> Proved:
        """This point, evaluated with δ, with the cost of δ: the excess of its gap over that of `bare`, without δ."""
        share = max(self.certificate.gap - bare.certificate.gap, 0.0)
        stated = replace(self.certificate, ridge_share=share, rounding=bare.certificate.rounding)
        return replace(self, certificate=stated)


def stated_level(task: Task, level: float) -> float | None:
    """The level, where it is an unknown."""
    return level if task.loss_function.level_name else None


class Evaluation:
    """α with weights, f = Σ μ_m K_m(β + β̃): everything that the bounds need, in plain passes or in slices."""

    def __init__(
        self, side: RegulariserBounds, task: Task, alpha: Array, mu: Array, sliced: Sliced, low: Array | None = None,
        known: Seen | None = None,
    ) -> None:  # fmt: skip
        self.side, self.task, self.low, self.sliced = side, task, low, sliced
        self.alpha, self.products = alpha, products = side.admitted(
            alpha, lambda point: known or seen(task, point * task.signs, task.bias, sliced), task.feasible
        )
        self.mu, beta = side.feasible(mu), alpha * task.signs
        self.tau = side.threshold(products.high / 2)
        self.fenchel, self.fenchel_noise = side.fenchel_parts(self.mu, products.low, products.high, self.tau)
        self.outputs = combined_outputs(products, self.mu, side.inexact)
        self.square = self._weighted(products.low, products.high)  # μ'q
        self.mixed = self.tiny = (0.0, 0.0)  # β'K(μ)β̃ and β̃'K(μ)β̃
        if low is not None:
            fine = seen(task, low, task.bias, sliced=False)
            self.outputs = self.outputs.plus(combined_outputs(fine, self.mu, side.inexact))
            self.tiny = self._weighted(fine.low, fine.high)
            off = (np.abs(beta) * (fine.error + 2 * U * np.abs(fine.z))).sum(axis=1) * (1 + len(beta) * U)
            along = (fine.z * beta).sum(axis=1)
            off = above(off + len(beta) * U * np.abs(fine.z * beta).sum(axis=1))
            self.mixed = self._weighted(along - off, along + off)
        side_of_samples = sample_terms(task)
        self.samples, gain = SampleCosts(task, alpha, self.outputs, side_of_samples), side_of_samples.gain(alpha)
        self.lower = total_below([gain, -side.conjugate(products.high / 2, self.tau)])
        self.gain = max(float(below(gain)), 0.0) + side_of_samples.mass

    @property
    def slopes(self) -> Array:
        """v = ½q from below and above."""
        return np.stack([self.products.low, self.products.high]) / 2

    def _weighted(self, low: Array, high: Array) -> tuple[float, float]:
        """Σ μ_m x_m from below and above, x_m between low and high."""
        ends = total_below(self.mu * low), total_above(self.mu * high)
        slack = 4 * U * self.side.inexact
        return ends[0] - slack * abs(ends[0]), ends[1] + slack * abs(ends[1])

    def quadratic(self, a: float, b: float) -> tuple[float, float]:
        """(aβ + bβ̃)'K(μ)(aβ + bβ̃) from below and above, a, b ≥ 0."""
        parts = [(a * a, self.square), (2 * a * b, self.mixed), (b * b, self.tiny)]
        return total_below([x * low for x, (low, _) in parts]), total_above([x * high for x, (_, high) in parts])

    def bounds(self, delta: float) -> Proved:
        """The best certificate over the stretches (loss nu: levels) that are worth a try."""
        rho, bias, interval = self.outputs.offsets(self.task)
        tried = [(self._at(t, rho, bias, delta), rho) for t, rho in self._tries(bias, rho, delta)]
        best, rho = min(tried, key=lambda pair: (pair[0].gap, pair[0].upper))
        roots, level = np.sqrt(np.maximum(self.products.high, 0.0)), stated_level(self.task, rho)
        return Proved(
            best, self.alpha, self.mu, None, bias, interval, level, self.tau, roots * self.mu, roots, self.low,
            slopes=self.slopes,
        )  # fmt: skip

    def _tries(self, bias: Parts, rho: float, delta: float) -> list[tuple[float, float]]:
        if not self.samples.side.stretches:
            return [(1.0, rho)]
        half = delta * float(self.samples.side.high.max()) / 2
        lack = self.samples.lack(bias, rho) + half
        if self.task.loss_function.free_margin:
            return [(1.0, rho), (1.0, rho - MARGIN * lack)]
        return [(1.0, rho), *((1 + MARGIN * size, rho) for size in {lack, half} if 0 < size < 0.1)]

    def _at(self, t: float, rho: float, bias: Parts, delta: float) -> Certificate:
        samples = self.samples.stretched(t, delta, self.low)
        others = [max(self.quadratic(t - 1, t)[1], 0.0) / 2, self.fenchel]
        bound, gap = samples.terms(t, bias, rho)
        width = total_above([*gap, *others])
        # Without rounding nothing would have to be stretched, either.
        plain = min(math.fsum(samples.terms(size, bias, rho, blur=0.0)[1]) for size in {1.0, t})
        rounding = width - plain - max(self.fenchel - self.fenchel_noise, 0.0)
        lengths, value = self.quadratic(t, t), self.side.value(self.mu)
        upper = total_above([*bound, lengths[1] / 2, value])
        scale = max(total_below([lengths[0] / 2, self.square[0] / 2]), 0.0)
        if not self.alpha.any() and total_above(gap) <= NOTHING:  # f = 0 costs no sample anything: R(μ) is all there is
            scale = max(scale, float(below(value, 2 * self.side.steps + SCALE_STEPS)))  # it is a value from above
        width = no_wider(width, self.lower, upper)
        return Certificate(
            self.lower, upper, scale, width, rounding=max(rounding, 0.0), ridge=delta, stretch=t, gain=self.gain
        )


class OwnCoefficients:
    """f_m = K_mc_m with coefficients of their own, beside α and weights: every kernel pays with its own δ."""

    def __init__(self, at: Evaluation, coefficients: Array, delta: Array | None = None) -> None:
        self.at, self.task, self.mu = at, at.task, at.mu
        coefficients = np.where(self.mu[:, None] > 0, coefficients, 0.0)  # a kernel without weight has no function
        self.coefficients, used = coefficients, coefficients.any(axis=1)
        balanced = self.task.bias and sum_to_zero(coefficients)
        self.ridges = ridges(self.task, used | (self.mu > 0), balanced) if delta is None else delta
        self.products = own_seen(self.task, coefficients, balanced, at.sliced)
        apart = coefficients - self.mu[:, None] * at.alpha * self.task.signs
        self.apart = own_seen(self.task, apart, False, at.sliced)
        self.over = np.divide(1.0, self.mu, out=np.zeros_like(self.mu), where=self.mu > 0)

    @property
    def scale(self) -> float:
        """½Σ‖f_m‖²/μ_m + ½μ'q from below, which indefinite kernels may make negative."""
        penalty = total_below(self.over * np.maximum(self.products.low, 0.0) / 2)
        return float(below(penalty + below(self.at.square[0] / 2)))

    def bounds(self) -> Proved:
        task, alpha, over, delta = self.task, self.at.alpha, self.over, self.ridges
        outputs = combined_outputs(self.products, np.ones(task.count))
        rho, bias, interval = outputs.offsets(task)
        rates = np.where(delta > 0, above(delta * self.mu), 0.0)
        ridge = Ridge(rates[:, None], over[:, None] * self.coefficients * task.signs)
        samples = SampleCosts(task, alpha, outputs, self.at.samples.side.paying(ridge))
        tried = [rho] + [rho - MARGIN * samples.lack(bias, rho)] * task.loss_function.free_margin
        best, rho = min(((self._at(samples, bias, level), level) for level in tried), key=lambda pair: pair[0].gap)
        norms, roots = (np.sqrt(np.maximum(products.high, 0.0)) for products in (self.products, self.at.products))
        level = stated_level(task, rho)
        return Proved(
            best, alpha, self.mu, self.coefficients, bias, interval, level, self.at.tau, norms, roots,
            slopes=self.at.slopes,
        )  # fmt: skip

    def _at(self, samples: SampleCosts, bias: Parts, rho: float) -> Certificate:
        at = self.at
        # c_m − μ_mβ was rounded, by u(|c_m| + 2|μ_mβ|): its square is moved by no more than `blur`.
        rounded = 3 * U * (np.abs(self.coefficients) + self.mu[:, None] * np.abs(at.alpha))
        reach = np.abs(self.apart.z) + self.apart.error
        sizes = self.task.largest_entries if not isinstance(self.task.kernels, LowRank) else self._reach()
        blur = above(2 * (rounded * reach).sum(axis=1) + sizes * rounded.sum(axis=1) ** 2, self.task.samples)
        away = total_above(self.over * (np.maximum(self.apart.high, 0.0) + blur) / 2)
        bound, gap = samples.terms(1.0, bias, rho)
        others = [away, at.fenchel]
        width = total_above([*gap, *others])
        penalty = total_above(self.over * np.maximum(self.products.high, 0.0) / 2)
        plain = math.fsum(samples.terms(1.0, bias, rho, blur=0.0)[1])
        bare = replace(samples, side=samples.side.paying(NO_RIDGE))
        without_ridge = total_above([*bare.terms(1.0, bias, rho)[1], *others])
        upper = total_above([*bound, penalty, at.side.value(at.mu)])
        scale, ridge, known = max(self.scale, 0.0), float(self.ridges.max()), tuple(self.ridges.tolist())
        rounding = max(width - plain - away - max(at.fenchel - at.fenchel_noise, 0.0), 0.0)
        share, width = max(width - without_ridge, 0.0), no_wider(width, at.lower, upper)
        return Certificate(at.lower, upper, scale, width, rounding, ridge, share, ridges=known, gain=at.gain)

    def _reach(self) -> Array:
        """max |K_ij| from above for kernels in factors."""
        stack = cast(LowRank, self.task.kernels)
        return np.array([float(above(np.max(np.sum(stack.factor(m) ** 2, axis=1)), 64)) for m in range(len(stack))])
