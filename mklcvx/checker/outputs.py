"""The theorem that the checkers share: k outputs, a single one being one of them.

With k outputs α and the signs s are k×n, β = s∘α, biases b have k entries, and q_m(α) = Σ_j β^j'K_mβ^j. A file is about

    v = max over α of Σ_i g_i(α_i) − R*(½q(α)),     α feasible; with a bias every β^j sums to zero.

The file's α proves v ≥ Σg(α) − R*(½q(α)). Let β̃ be the file's low part of β (which sums to zero, with a bias), or 0.
The weights μ, biases, stretch t ≥ 1 and ridge δ, with K(μ) + δI ⪰ 0 (for vectors that sum to zero, with a bias), prove
with c = t(β + β̃) and outputs z^j = K(μ)c^j + tb_j

    v ≤ R(μ) + ½Σ_j c^j'K(μ)c^j + Σ_i sup over α̂_i of [g_i(α̂_i) − β̂_i'z_i + ½δ‖β̂_i − c_i‖²],

because −½β̂'Kβ̂ ≤ ½c'Kc − c'Kβ̂ + ½δ‖β̂ − c‖², and I ⊗ K(μ) has the same δ. Coefficients c_jm, with K_m + δ_m I ⪰ 0
wherever μ_m > 0 (for vectors that sum to zero, if there is a bias and every c_jm sums to zero), prove the same with
Σ_m c_jm'K_m c_jm/μ_m in the place of c^j'K(μ)c^j, z^j = Σ_m K_m c_jm + b_j and ½Σ_m δ_mμ_m‖β̂_i − c_mi/μ_m‖² under the
supremum. Either is ½(A‖β̂‖² − 2B'β̂ + D) there. Losses that are applied to every output have sums over the outputs of
the gains and suprema in `losses.py`; others say what theirs are.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .claims import NOTHING, Point, number, numbers
from .losses import Bend
from .numbers import dot, fractions, is_semidefinite, least_ridge, positive, require
from .prices import dual_cost, weights_price

WITH_TAU = ("sm1", "sm2", "smp", "elastic", "block_elastic")


class Ridge(NamedTuple):
    """½(A‖β̂‖² − 2B'β̂ + D) of one sample, B with an entry for every output; or of all samples, B (k, n) and D (n,)."""

    square: Fraction
    linear: Any
    constant: Any

    def at(self, point):
        return (self.square * dot(point, point) - 2 * dot(self.linear, point) + self.constant) / 2


class Each(NamedTuple):
    """One sample of losses that are applied output by output."""

    losses: tuple
    signs: list

    def gain(self, alpha):
        return sum((loss.gain(a) for loss, a in zip(self.losses, alpha, strict=True)), Fraction(0))

    def gain_terms(self, alpha):
        return sum(abs(loss.gain(a)) + abs(a * loss.a) for loss, a in zip(self.losses, alpha, strict=True))

    def cost(self, z, ridge):
        rows = zip(self.losses, self.signs, z, ridge.linear, strict=True)
        paid = (loss.cost(sign * x, Bend(ridge.square, sign * b)) for loss, sign, x, b in rows)
        return sum(paid, ridge.constant / 2)


def output_by_output(rows, signs):
    """Every sample, of the losses of every output."""
    return [Each(losses, column) for losses, column in zip(zip(*rows, strict=True), signs.T.tolist(), strict=True)]


class Outputs(NamedTuple):
    """k functions that share weights: their problem and their point."""

    kernels: list
    signs: Any  # (k, n)
    samples: list  # the loss of each
    alpha: Any  # (k, n)
    mu: list
    coefficients: Any = None  # (k, M, n)
    bias: Any = None  # (k,)
    stretch: Fraction = Fraction(1)
    low: Any = None  # (k, n), far below the last bits of β
    ridges: Any = (Fraction(0),)  # δ of K(μ), or of every kernel for coefficients

    @property
    def exact_alpha(self):
        return fractions(self.alpha)

    def gain(self):
        """Σ g(α), from below."""
        return sum((sample.gain(a) for sample, a in zip(self.samples, self.exact_alpha.T, strict=True)), Fraction(0))

    def costs(self, z, ridge):
        """What every sample costs."""
        columns = zip(self.samples, z.T, ridge.linear.T, ridge.constant, strict=True)
        return [sample.cost(x, Ridge(ridge.square, b, d)) for sample, x, b, d in columns]

    def no_ridge(self):
        zeros = fractions(np.zeros(self.alpha.shape))
        return Ridge(Fraction(0), zeros, zeros[0])

    def products(self):
        """Σ_m max|K_m| Σ|c_m| (Σ|α| + Σ|c_m|/μ_m): products with kernels if nothing cancelled."""
        sizes, length = [Fraction(float(k.diagonal().max())) for k in self.kernels], abs(self.exact_alpha).sum()
        none = np.zeros(len(sizes), int)
        own = none if self.coefficients is None else abs(fractions(self.coefficients)).sum(axis=(0, 2))
        squares = own * own / np.array([w or Fraction(1) for w in self.mu])
        return length * dot(sizes, np.array(self.mu) * length + own) + dot(sizes, squares)


class Functions(NamedTuple):
    """Of a point, for the upper bound."""

    parts: list  # of the outputs, (k, n) for every kernel, neither stretched nor with a bias
    penalty: Fraction  # twice what the bound has of them
    squares: list  # of the norms
    ridge: Ridge


class Sides(NamedTuple):
    """What a point proves."""

    q: list
    upper: Fraction  # without R(μ)
    functions: Functions
    sizes: Any  # |f(x_i)| + |b| if nothing cancelled, (k, n)
    gains: Fraction  # the terms of the gain, without their signs
    terms: Fraction  # those of all other sums


# ------------------------------------------------------------------------------------------------- the two bounds
def two_sides(at):
    signed = at.alpha * at.signs
    images, exact = [kernel.image(signed.T).T for kernel in at.kernels], fractions(signed)
    q = [dot(exact, image) for image in images]
    return sides_of(at, q, by_weights(at, exact, images, q) if at.coefficients is None else by_coefficients(at))


def by_weights(at, beta, images, q):
    """c^j = t(β^j + β̃^j)."""
    if at.low is not None:
        images = [image + kernel.image(at.low.T).T for kernel, image in zip(at.kernels, images, strict=True)]
        beta = beta + fractions(at.low)
    parts, (delta,), c = [w * image for w, image in zip(at.mu, images, strict=True)], at.ridges, at.stretch * beta
    penalty, squares = at.stretch**2 * dot(beta, sum(parts)), [w * w * x for w, x in zip(at.mu, q, strict=True)]
    return Functions(parts, penalty, squares, Ridge(delta, delta * c, (delta * c * c).sum(axis=0)))


def by_coefficients(at):
    """c_jm."""
    own = list(np.moveaxis(fractions(at.coefficients), 1, 0))
    images = [kernel.image(c.T).T for kernel, c in zip(at.kernels, own, strict=True)]
    squares = [dot(c, image) for c, image in zip(own, images, strict=True)]
    idle = [c for c, w in zip(own, at.mu, strict=True) if not w]
    require(not any(c.any() for c in idle), "weights: a kernel of weight zero is used")
    used = [(delta, w, c) for delta, w, c in zip(at.ridges, at.mu, own, strict=True) if w]
    penalty = sum((square / w for square, w in zip(squares, at.mu, strict=True) if w), Fraction(0))
    square, linear, constant = at.no_ridge()
    for delta, w, c in used:
        square, linear, constant = square + delta * w, linear + delta * c, constant + (delta / w * c * c).sum(axis=0)
    return Functions(images, penalty, squares, Ridge(square, linear, constant))


def sides_of(at, q, functions):
    """What functions prove, with the biases and the stretch."""
    shifts = np.array(at.bias or [Fraction(0)] * len(at.signs))
    paid = at.costs(at.stretch * (sum(functions.parts) + shifts[:, None]), functions.ridge)
    sizes = np.array([uncancelled([part[j] for part in functions.parts], b) for j, b in enumerate(shifts)])
    gains = sum(sample.gain_terms(a) for sample, a in zip(at.samples, at.exact_alpha.T, strict=True))
    terms = at.stretch * dot(abs(at.exact_alpha), sizes) + sum(map(abs, paid))
    return Sides(q, functions.penalty / 2 + sum(paid), functions, sizes, gains, terms)


def uncancelled(parts, bias):
    """|f(x_i)| + |b| if nothing cancelled but constants in the outputs of kernels, which with a bias belong to it."""
    centres = [(max(part) + min(part)) / 2 if bias else Fraction(0) for part in parts]
    return sum(abs(part - centre) for part, centre in zip(parts, centres, strict=True)) + abs(bias + sum(centres))


def two_bounds(record, given, at, sides, gain, level=Fraction(0)):
    """Both bounds of a formulation with weights; `level` is what a free margin or tube costs."""
    name = record["formulation"]
    if name in WITH_TAU and given.get("l1_ratio") != 1:
        given = given | {"tau": number(record["multipliers"].get("tau"), "multipliers.tau")}
    price, cost = weights_price(name, at.mu, given), dual_cost(name, sides.q, given, None)
    energy = (dot(at.mu, sides.q) + sides.functions.penalty) / 2
    if not at.alpha.any() and sides.upper <= NOTHING:  # f = 0 costs nothing, and R(μ) is all there is
        energy = max(energy, abs(price))
    terms = abs(cost) + price + abs(level) + sides.gains + sides.terms
    norms, slopes = list(zip(sides.functions.squares, at.mu, strict=True)), [x / 2 for x in sides.q]
    upper, gained = sides.upper + price + level, {"gain": positive(gain), "gain_terms": sides.gains}
    return Point(gain - cost, upper, energy, terms, max(at.ridges), norms, slopes, **gained)


# ------------------------------------------------------------------------------------------------------- the point
def point_of(record, stack, signs, bias, stretch=Fraction(1), low=False):
    """The file's α with its low part, coefficients and biases; where signs are (n,), of a single output. Whether there
    are a bias, a stretch and a low part is a matter of the problem."""
    shape, functions = signs.shape, record["coefficients"]
    alpha, shifts = numbers(record["alpha"], shape, "alpha"), biases(record, shape[:-1])
    if functions is not None:
        functions = numbers(functions, (*shape[:-1], len(stack), shape[-1]), "coefficients")
        functions = functions.reshape(-1, len(stack), shape[-1])
    require(bias or not any(shifts), "bias: there is none in this problem")
    fine = low_part(record, shape, bias, low and functions is None)
    return Outputs(stack, np.atleast_2d(signs), [], np.atleast_2d(alpha), [], functions, shifts, stretch, fine)


def stretch_of(record, plain):
    stretch = number(record["certificate"].get("stretch", 1.0), "certificate.stretch")
    require(stretch >= 1, "certificate.stretch: below 1")
    require(plain or stretch == 1, "certificate.stretch: must be 1 here")
    return stretch


def biases(record, shape):
    """The biases of several functions, or of a single one, each the sum of two doubles."""
    low = record.get("bias_low", 0.0)
    if not shape:
        return [number(record["bias"], "bias") + number(low, "bias_low")]
    low = numbers(low, shape, "bias_low") if np.ndim(low) else [number(low, "bias_low")] * shape[0]
    return [b + Fraction(x) for b, x in zip(fractions(numbers(record["bias"], shape, "bias")), low, strict=True)]


def low_part(record, shape, bias, allowed):
    """β̃, or None."""
    values = record.get("alpha_low")
    if values is None:
        return None
    require(allowed, "alpha_low: there is none in this problem, or beside coefficients")
    low = numbers(values, shape, "alpha_low")
    sums = [sum(fractions(row)) for row in np.atleast_2d(low)]
    require(not bias or not any(sums), "alpha_low: it does not sum to zero")
    return np.atleast_2d(low)


def ridged(record, at, bias):
    """The point with the file's δ, proved; with our own δ if the file has none."""
    if at.coefficients is None:
        require("ridges" not in record["certificate"], "certificate.ridges: one ridge is for all kernels here")
        return at._replace(ridges=[proved_ridge(record, at.kernels, at.mu, bias)])
    used = [w > 0 for w in at.mu]
    return at._replace(ridges=proved_ridges(record, at.kernels, used, balanced(at.coefficients, bias)))


def balanced(coefficients, bias):
    """Of which kernels the coefficients (k, M, n) sum to zero for every output, if there is a bias."""
    return [bool(bias) and not any(sums) for sums in fractions(coefficients).sum(axis=2).T]


def proved_ridge(record, kernels, mu, centred):
    """δ of Σ μ_m K_m."""
    scale = len(mu) if any(w.denominator & (w.denominator - 1) for w in mu) else 1
    weights = [float(w * scale) for w in mu]
    if "ridge" not in record["certificate"]:
        return least_ridge(kernels, weights, centred) / scale
    ridge = number(record["certificate"]["ridge"], "certificate.ridge")
    proved = ridge >= 0 and is_semidefinite(kernels, weights, ridge * scale, centred)
    require(proved, "certificate.ridge: ridge is not proved")
    return ridge


def proved_ridges(record, kernels, used, centred):
    """δ_m of every kernel that is used."""
    said, each = record["certificate"], list(zip(kernels, used, centred, strict=True))
    if "ridge" not in said:
        return [least_ridge([k], [1.0], alone) if there else Fraction(0) for k, there, alone in each]
    ridge = number(said["ridge"], "certificate.ridge")
    ridges = [ridge] * len(kernels)
    if "ridges" in said:
        ridges = list(fractions(numbers(said["ridges"], (len(kernels),), "certificate.ridges")))
        require(max(ridges) == ridge, "certificate.ridge: not the largest of the ridges")
    for delta, (kernel, there, alone) in zip(ridges, each, strict=True):
        proved = delta >= 0 and (not there or is_semidefinite([kernel], [1.0], delta, alone))
        require(proved, "certificate.ridges: ridge is not proved")
    return ridges
