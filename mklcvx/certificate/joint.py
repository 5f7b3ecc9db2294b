"""Joint outputs: two bounds on v = max over α of gain(α) − R*(½q(α)) with k outputs, every rounding error paid for.

q_m = Σ_j β^j'K_mβ^j, β = s∘α (k×n), for the stored numbers read as exact reals. As in `single`, let α be feasible and μ
in the domain of R, both exactly.

**Lower.** v ≥ gain(α) − R*(½q(α)), with an upper end of every q.

**Upper.** Let K(μ) + δI ⪰ 0, on the complement of 1 if there is a bias: the same δ serves I ⊗ K(μ), and every
β̂^j − tβ^j sums to zero where it needs to. With outputs z^j = t(K(μ)β^j + b_j), any b,

    v ≤ R(μ) + ½t²μ'q + Σ_i sup over α̂_i of [g_i(α̂_i) − β̂_i'z_i + ½δ‖β̂_i − tβ_i‖²].

Functions f_m^j = K_mc_jm with coefficients of their own have Σ_j c_jm'K_mc_jm/μ_m in the place of t²μ'q, outputs
z^j = Σ_m K_mc_jm + b_j, and ½ Σ_m δ_mμ_m‖β̂_i − c_mi/μ_m‖² under the sup, K_m + δ_mI ⪰ 0, as for single tasks.

**Gap.** The two differ by Σ_i [that sup − (g_i(α_i) − β_i'z_i)] + ½(t−1)²μ'q + [R(μ) + R*(½q) − ½μ'q], none of them
negative: without δ the first are the Fenchel–Young gaps of the loss. It is compared with ½(1 + t²)μ'q.

**The sup of a sample**, by the loss, z known up to e:

- `crammer_singer`: the gain is linear, so that what is maximised is convex and the sup at a vertex: 0, or α̂_y = α̂_j = c
  for another class j. With r_j = 1 − z_y + z_j the gap is the largest of −Σ_l α_l r_l + ½δt²‖β_i‖² and
  Σ_l α_l(z_j − z_l) + (c − α_y)r_j + ½δ‖β̂_i − tβ_i‖². The errors of z enter every difference.
- `softmax`: Fenchel–Young is c KL(u ‖ p(z)). Its gradient in z is c(p − u), and its second derivative along e is c
  times the variance of e under some p, at most c max e²: so e costs c Σ_j |p_j − u_j| e_j + ½c max e². A relative error
  of a computed p_j is an error of z_j, and a common one of all p_j makes the divergence larger. The gain is strongly
  concave in β, κ = 2/c (Pinsker: KL(u‖p) ≥ ½‖u − p‖₁², and ‖x‖₁² ≥ 2‖x‖² where Σx = 0), so that δ < κ costs at most
  ½ δκ/(κ − δ) ‖β* − tβ‖², β* at p, which e moves by no more than c max e. Any δ costs at most ½δ‖β̂ − tβ‖² at the
  farthest vertex. Several P = ½ Σ_m d_m‖β̂ − c_m‖², D = Σ_m d_m, cost at most κP(β*)/(κ − D), since the slope of P at
  β* is at most √(2D P(β*)).
- output by output: as for single tasks, for every output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple, cast

import numpy as np

from ..errors import InternalError
from ..formulations import Task
from ..formulations.families.joint import JointOutputs, JointTask
from ..formulations.losses import Separable
from ..formulations.losses._exact import NEAR
from ..formulations.losses.softmax import Softmax, chances, divergences
from .passes import Seen, own_seen, seen, sum_to_zero
from .record import NOTHING, Certificate, ProvedPoint, refined_unless_settled, settled
from .regularisers import RegulariserBounds, regulariser_of
from .ridge import combined_ridge, ridges
from .rounding import POWER, TINY, Array, U, above, below, no_wider, times_square, total_above, total_below
from .sample_terms import Ridge, negligible, ridge_costing, sample_terms
from .single import MARGIN, SCALE_STEPS, Outputs, Parts, SampleCosts, combined_outputs

Terms = tuple[Array, Array]  # of the upper bound and of the gap, one for every sample


@dataclass(frozen=True)
class ProvedOutputs(ProvedPoint):
    """`bias` and `bias_low` (k,) add up to the biases."""

    alpha: Array
    weights: Array
    bias: Array
    bias_low: Array
    tau: float | None
    norms: Array
    roots: Array


@dataclass(frozen=True)
class At:
    """A point's outputs z = t(f + b) ± off, (k, n), its α, the stretch t, δ, and a factor of the cost of rounding."""

    task: JointTask
    alpha: Array
    z: Array
    off: Array
    t: float
    delta: float
    blur: float = 1.0
    each: Sequence[tuple[Outputs, Parts]] = ()  # the outputs and their biases, for losses that are applied to each
    own: Sequence[tuple[float, Array]] = ()  # d_m and s∘c_m of functions with coefficients of their own

    @property
    def ridges(self) -> Sequence[tuple[float, Array]]:
        """d and c (k, n), off by 2u, of every part ½d‖α̂ − c‖² of what δ costs."""
        return self.own or [(self.delta, self.t * self.alpha)]

    def stretched(self, t: float) -> At:
        z = t * self.z
        return replace(self, t=t, z=z, off=above(t * self.off + U * np.abs(z))) if t != 1 else self

    def vertices(self) -> tuple[Array, Array]:
        """What δ costs from above for classes, at 0 (n,) and where α̂_y = α̂_j = c, (k, n)."""
        zero, ends, own = 0.0, 0.0, self.task.y > 0
        for rate, c in self.ridges:
            here, far = (times_square(rate, way) for way in (c, np.abs(self.task.box - c) + 3 * U * np.abs(c)))
            total = here.sum(axis=0)
            own_far, own_here = (np.where(own, part, 0.0).sum(axis=0) for part in (far, here))
            zero = zero + total / 2
            ends = ends + (np.maximum(total - own_here, 0.0) + own_far + far) / 2
        steps = 2 * len(self.z) + 15 + len(self.ridges)
        return above(zero, steps), above(ends, steps)


# -------------------------------------------------------------------------------------------------- the samples' side
def crammer_singer(at: At) -> Terms:
    price, z, off, own = at.task.box, at.z, at.off, at.task.y > 0
    count, blur = len(z), at.blur
    own_z, own_off, own_alpha = (np.where(own, part, 0.0).sum(axis=0) for part in (z, off, at.alpha))
    ahead = own_z - z
    lack = 1 - ahead
    lack_off = blur * above(own_off + off + 2 * U * (np.abs(ahead) + np.abs(lack)))
    others, room = np.where(own, 0.0, at.alpha), price - own_alpha
    zero, ends = at.vertices()

    def summed(terms: Array, errors: Array) -> Array:
        """The sum over the outputs from above."""
        off = above(errors.sum(axis=0) + (count + 4) * U * np.abs(terms).sum(axis=0), count)
        return np.asarray(terms.sum(axis=0) + blur * off)

    bounds, gaps = [zero], [summed(-others * lack, others * lack_off) + zero]
    for j in range(count):
        apart = z[j] - z
        apart_off = np.where(np.arange(count)[:, None] == j, 0.0, off[j] + off + 2 * U * np.abs(apart))
        terms = np.vstack([others * apart, room * lack[j]])
        errors = np.vstack([others * above(apart_off), room * lack_off[j]])
        gaps.append(np.where(own[j], -np.inf, summed(terms, errors) + ends[j]))
        bounds.append(np.where(own[j], -np.inf, above(price * (lack[j] + lack_off[j])) + ends[j]))
    return np.max(bounds, axis=0), above(np.maximum(np.max(gaps, axis=0), 0.0), 2)


def crammer_singer_lack(at: At) -> float:
    own, used = at.task.y > 0, (at.alpha > 0) & (at.task.y < 0)
    ahead, off = (np.where(own, part, 0.0).sum(axis=0) for part in (at.z, at.off))
    free = used & (np.where(own, at.alpha, 0.0).sum(axis=0) < at.task.box)
    return float(np.max((1 - ahead + at.z + off + at.off)[free], initial=0.0))


def softmax(at: At) -> Terms:
    task, count = at.task, len(at.z)
    price, own = task.box, task.y > 0
    parts = Softmax().parts(at.alpha, task.y, price)
    top = at.z.max(axis=0)
    depth = POWER + count + 8 + np.minimum(top - at.z, 800.0)  # units of roundoff by which a probability is off
    off = at.blur * above(at.off + depth * U)
    u, p = parts / price, chances(at.z)
    apart = np.abs(u - p) + 8 * U * (u + p) * at.blur
    each = divergences(parts, price, at.z)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(u > 0, np.abs(np.log(u)) + np.abs(at.z - top), 0.0) + math.log(count) + 2
    near = np.abs(u - p) < NEAR * p  # where `divergences` takes a series, which loses nothing but the error of u − p
    noise = np.where(near, apart * 8 * U + 32 * U * each, (POWER + 16) * U * u * logs + 8 * U * p)
    noise = noise + TINY * (1 + top - at.z)  # a share of 0 may be one that underflows
    slope, widest = (apart * off).sum(axis=0), off.max(axis=0)
    gap = price * above(each.sum(axis=0) + slope + widest**2 / 2 + at.blur * noise.sum(axis=0), count + 16)
    # the probabilities of the outputs themselves may differ from p by as much as these outputs do
    slack = 2 * (at.t - 1) + 16 * U * count + widest
    far = [(at.delta, price * (np.sqrt(((u - p) ** 2).sum(axis=0)) + slack))]
    if at.own:
        best = price * np.where(own, 1 - p, p)
        ways = [(rate, np.abs(best - c) + 4 * U * np.abs(c)) for rate, c in at.own]
        far = [(rate, above(np.hypot.reduce(way, axis=0), POWER * count) + price * slack) for rate, way in ways]
    zero, ends = at.vertices()
    kappa, farthest = 2 / price, np.maximum(zero, np.where(own, 0.0, ends).max(axis=0))
    delta = total_above([rate for rate, _ in far]) if at.own else at.delta
    with np.errstate(divide="ignore", invalid="ignore"):
        longer = kappa / (kappa - delta)
        strong = above(sum(times_square(rate * longer, away) / 2 for rate, away in far), 31 + len(far))
    ridge = np.where(kappa > 2 * delta, np.minimum(strong, farthest), farthest) if delta else np.zeros(len(price))
    loss = task.loss.value(at.z, task.y, price)
    bound = above(loss, POWER + count + 16) + above(price * (2 * widest + widest**2 / 2 + (count + 32) * U))
    return bound + ridge, above(gap, 4) + ridge


def of_each(at: At) -> Iterator[tuple[SampleCosts, Parts]]:
    """Every output's samples as those of a single task, with its bias."""
    rates = np.array([[rate] for rate, _ in at.ridges])
    for j, (task, (outputs, bias)) in enumerate(zip(single_tasks(at.task), at.each, strict=True)):
        side = sample_terms(task).paying(Ridge(rates, np.stack([c[j] for _, c in at.ridges])))
        yield SampleCosts(task, at.alpha[j], outputs, side), bias


def separable(at: At) -> Terms:
    """What the samples cost in every output, (k, n)."""
    terms = [samples.terms(at.t, bias, 0.0, at.blur) for samples, bias in of_each(at)]
    return np.stack([costs.bound for costs in terms]), np.stack([costs.gap for costs in terms])


def separable_lack(at: At) -> float | None:
    each = list(of_each(at))
    if not all(samples.side.stretches for samples, _ in each):
        return None
    return max(samples.lack(bias, 0.0) for samples, bias in each)


def entropy_below(task: JointTask, alpha: Array) -> float:
    """Logarithms, and what is left of c, cost so many units of roundoff in every term, and in every price."""
    gain = task.gain(alpha)
    return gain - 2 * POWER * U * (abs(gain) + math.fsum(task.box))


def separable_gain(task: JointTask, alpha: Array) -> float:
    return total_below([sample_terms(single).gain(a) for single, a in zip(single_tasks(task), alpha, strict=True)], 0)


class SampleSide(NamedTuple):
    """Of a loss: the costs of every sample; the gain from below, but for the rounding of one sum; and how far margins
    of free samples may fall short of their level, None where they have none."""

    costs: Callable[[At], Terms]
    gain: Callable[[JointTask, Array], float]
    lack: Callable[[At], float | None] = lambda _: None


SAMPLES: dict[str, SampleSide] = {  # by the kind of the loss
    "crammer_singer": SampleSide(crammer_singer, JointTask.gain, crammer_singer_lack),
    "softmax": SampleSide(softmax, entropy_below),
    "separable": SampleSide(separable, separable_gain, separable_lack),
}


def single_tasks(task: JointTask) -> list[Task]:
    """A task for every output, where the loss is applied to each."""
    each, symmetric, sizes = cast(Separable, task.loss).each, task.symmetric, task.largest_entries
    return [Task(task.kernels, y, task.box, each, task.bias, symmetric=symmetric, sizes=sizes) for y in task.y]


# --------------------------------------------------------------------------------------------------------- the bounds
def certified(
    formulation: JointOutputs, task: JointTask, alpha: Array, mu: Array, tolerance: float,
    side: RegulariserBounds | None = None,
) -> ProvedOutputs:  # fmt: skip
    """The certificate of α (k, n) with weights μ: in plain passes, then in slices."""
    alpha = task.feasible(alpha)
    if not task.loss.exactly_feasible(alpha, task.y, task.box, task.bias):
        raise InternalError("the equalities of alpha do not hold exactly")
    side = side or regulariser_of(formulation.name, task.count, task.own)
    cost = float(task.box.max()) * math.fsum(np.abs(alpha).ravel())
    point = best_bounds(lambda sliced: JointEvaluation(side, task, alpha, mu, sliced), cost, tolerance)
    return cast(ProvedOutputs, point)


def best_bounds(evaluation: Callable[[bool], JointEvaluation], cost: float, tolerance: float) -> ProvedPoint:
    """The certificate with the δ that is worth it, one unit of which costs `cost`: in plain passes, then in slices."""

    def evaluate(sliced: bool) -> ProvedPoint:
        at = evaluation(sliced)
        bare = at.bounds(0.0)
        if not sliced and not settled(bare.certificate, tolerance):
            return bare
        allowed = ridge_costing(cost, negligible(bare.certificate, tolerance))
        delta = combined_ridge(at.task, at.mu, at.task.bias, allowed)
        return at.bounds(delta, bare) if delta else bare

    return refined_unless_settled(evaluate, tolerance)


class EachSeen(NamedTuple):
    """What the kernels make of every output's β, and q_m, the sum over the outputs by their shares, from below and
    above."""

    each: list[Seen]
    low: Array
    high: Array

    @classmethod
    def of(cls, task: JointTask, alpha: Array, shares: Array, sliced: bool) -> EachSeen:
        each = [seen(task, beta, task.bias, sliced) for beta in alpha * task.signs]
        low = np.array([total_below(shares * column) for column in np.transpose([output.low for output in each])])
        high = np.array([total_above(shares * column) for column in np.transpose([output.high for output in each])])
        return cls(each, low, high)


def best_biases(task: JointTask, outputs: Sequence[Outputs]) -> list[Parts]:
    """The biases that minimise the risk, in two parts, less the shifts of the outputs. Where only their differences
    matter, they sum to zero, up to rounding."""
    if not task.bias:
        return [(0.0, 0.0)] * task.outputs
    risk, biases = task.risk(np.stack([output.values for output in outputs])), []
    shifts = [math.fsum(output.terms) for output in outputs]
    centre = -math.fsum(shifts) / len(shifts) if task.loss.invariant else 0.0
    for output, best in zip(outputs, risk.bias.tolist(), strict=True):
        terms = [best, -centre, *(-output.terms)]
        high = math.fsum(terms)
        biases.append((high, math.fsum([*terms, -high])))
    return biases


class JointEvaluation:
    """α with weights, f^j = Σ_m μ_m K_mβ^j: everything that the bounds need, in plain passes or in slices. Outputs
    count by their `shares`, one if none are given."""

    def __init__(
        self, side: RegulariserBounds, task: JointTask, alpha: Array, mu: Array, sliced: bool,
        shares: Array | None = None,
    ) -> None:  # fmt: skip
        self.side, self.task, self.mu = side, task, side.feasible(mu)
        self.shares = np.ones(task.outputs) if shares is None else shares
        self.alpha, products = side.admitted(
            alpha, lambda point: EachSeen.of(task, point, self.shares, sliced), task.feasible
        )
        self.each, self.low, self.high = products
        self.tau = side.threshold(self.high / 2)
        self.fenchel, self.fenchel_noise = side.fenchel_parts(self.mu, self.low, self.high, self.tau)
        weights, slack = side.of_kernels(self.mu), 4 * U * side.inexact
        self.outputs = [combined_outputs(output, weights, side.inexact) for output in self.each]
        ends = total_below(weights * self.low), total_above(weights * self.high)
        self.square = ends[0] - slack * abs(ends[0]), ends[1] + slack * abs(ends[1])  # μ'q
        gain = self._gain_below()
        self.lower = total_below([gain, -side.conjugate(self.high / 2, self.tau)])
        self.gain = max(float(below(gain)), 0.0)

    def _gain_below(self) -> float:
        return SAMPLES[self.task.loss.kind].gain(self.task, self.alpha)

    def at(self, delta: float) -> At:
        """The outputs without a stretch, with the best biases."""
        biases = best_biases(self.task, self.outputs)
        rows = [output.margins(np.ones(1), bias) for output, bias in zip(self.outputs, biases, strict=True)]
        z, off = (np.stack(part) for part in zip(*rows, strict=True))
        return At(self.task, self.alpha, z, off, 1.0, delta, each=list(zip(self.outputs, biases, strict=True)))

    def bounds(self, delta: float, bare: ProvedPoint | None = None) -> ProvedPoint:
        """The best certificate over the stretches that are worth a try. `bare` is that without δ."""
        at = self.at(delta)
        best = min((self._certificate(at, t) for t in self._tries(at)), key=attrgetter("gap", "upper"))
        if bare is not None:
            share = max(best.gap - bare.certificate.gap, 0.0)
            best = replace(best, ridge_share=share, rounding=bare.certificate.rounding)
        bias, low = (np.array(part) for part in zip(*(biases for _, biases in at.each), strict=True))
        roots = np.sqrt(np.maximum(self.high, 0.0))
        slopes = np.stack([self.low, self.high]) / 2
        return ProvedOutputs(best, self.alpha, self.mu, bias, low, self.tau, roots * self.mu, roots, slopes=slopes)

    def _tries(self, at: At) -> list[float]:
        """1, and where margins have a level, what lifts those of samples in use over it."""
        lack = SAMPLES[self.task.loss.kind].lack(at)
        if lack is None:
            return [1.0]
        half = at.delta * float(at.task.box.max()) / 2
        return [1.0, *(1 + MARGIN * size for size in {lack + half, half} if 0 < size < 0.1)]

    def terms(self, at: At) -> Terms:
        """Those of the upper bound, without ½t²μ'q and R(μ), and those of the gap."""
        bound, gap = SAMPLES[self.task.loss.kind].costs(at)
        return bound.ravel(), gap.ravel()

    def upper(self, bound: Array, t: float) -> float:
        return total_above(np.append(bound, [t**2 * self.square[1] / 2, self.side.value(self.mu)]))

    def _certificate(self, at: At, t: float) -> Certificate:
        stretched = at.stretched(t)
        bound, gap = self.terms(stretched)
        width = total_above(np.append(gap, [(t - 1) ** 2 * max(self.square[1], 0.0) / 2, self.fenchel]))
        exact = [replace(point, blur=0.0) for point in ((at,) if t == 1 else (at, stretched))]
        plain = min(math.fsum(self.terms(point)[1]) for point in exact)
        rounding = width - plain - max(self.fenchel - self.fenchel_noise, 0.0)
        upper, scale = self.upper(bound, t), max(self._scale(t, gap), 0.0)
        if not self.alpha.any() and total_above(gap) <= NOTHING:  # f = 0 costs no sample anything: R(μ) is all there is
            scale = max(scale, float(below(self.side.value(self.mu), 2 * self.side.steps + SCALE_STEPS)))
        width = no_wider(width, self.lower, upper)
        return Certificate(
            self.lower, upper, scale, width, rounding=max(rounding, 0.0), ridge=at.delta, stretch=t, gain=self.gain
        )

    def _scale(self, t: float, gap: Array) -> float:
        """What the gap is compared with, the terms of its samples being `gap`, from below."""
        return total_below([(1 + t**2) * self.square[0] / 2])


def of_functions(side: RegulariserBounds, task: JointTask, alpha: Array, mu: Array, coefficients: Array) -> Certificate:
    """The bounds of a feasible α, and of coefficients (k, M, n) of their own with these weights, the biases chosen to
    make the risk least. A kernel without weight has no function."""
    at = JointEvaluation(side, task, alpha, mu, sliced=True)
    own = np.where(at.mu[:, None] > 0, coefficients, 0.0)
    balanced = task.bias and all(sum_to_zero(rows) for rows in own)
    delta = ridges(task, own.any(axis=(0, 2)) | (at.mu > 0), balanced)
    seen_of_own = [own_seen(task, rows, balanced, sliced=True) for rows in own]
    outputs = [combined_outputs(products, np.ones(task.count)) for products in seen_of_own]
    each = list(zip(outputs, best_biases(task, outputs), strict=True))
    z, off = (np.stack(part) for part in zip(*(output.margins(np.ones(1), bias) for output, bias in each), strict=True))
    over = np.divide(1.0, at.mu, out=np.zeros_like(at.mu), where=at.mu > 0)
    rates = np.where(delta > 0, above(delta * at.mu), 0.0).tolist()
    centres = [(rate, task.signs * own[:, m] * over[m]) for m, rate in enumerate(rates)]
    bound, _ = SAMPLES[task.loss.kind].costs(At(task, at.alpha, z, off, 1.0, 0.0, each=each, own=centres))
    high = total_above([over * np.maximum(products.high, 0.0) / 2 for products in seen_of_own])
    low = total_below([over * np.maximum(products.low, 0.0) / 2 for products in seen_of_own])
    upper = total_above([*bound.ravel(), high, side.value(at.mu)])
    scale, known = max(float(below(low + below(at.square[0] / 2))), 0.0), tuple(delta.tolist())
    return Certificate(at.lower, upper, scale, ridge=float(delta.max()), ridges=known, gain=at.gain)
