"""Audit a solution file of a single task: python -m mklcvx.checker INSTANCE.npz SOLUTION.json|.npz

Only the point is taken from the file. With n samples, kernels K_m, signs s (labels; 1 for other targets), β = s∘α,
q_m(α) = β'K_mβ, R a convex price of weights μ ≥ 0 with conjugate R*, and g the gain of a loss, whose parameter C or ν
and weights of samples set the prices (`losses.py`), the file is about the optimal value

    v = max over α of Σ_i g_i(α_i) − R*(½ q(α)),     low ≤ α ≤ high, s'α = 0 with a bias, Σα = 1 where ρ is free,
                                                     ‖α‖₁ ≤ N where ε is: then the file's ε ≥ 0 may be any.

The file's α proves v ≥ Σg(α) − R*(½ q(α)). Let β̃ be the file's low part of β (which sums to zero, with a bias), or 0.
The weights μ, bias b, stretch t ≥ 1 and ridge δ, with K(μ) + δI ⪰ 0 (for vectors that sum to zero, with a bias), prove
with c = t(β + β̃)

    v ≤ R(μ) + ½c'K(μ)c + Σ_i sup over α̂_i of [g_i(α̂_i) − α̂_i m_i + ½δ(α̂_i − s_i c_i)²]  [− ρ, + Nε],
    m_i = s_i(K(μ)c + tb)_i,

because −½β̂'Kβ̂ ≤ ½c'Kc − c'Kβ̂ + ½δ‖β̂ − c‖². For the hinge the supremum is at an end of the box: it is
max(½δc_i², box_i(1 − m_i) + ½δ(box_i − s_i c_i)²). The bias b is the sum of two doubles. If the file has coefficients
c_m, and K_m + δ_m I ⪰ 0 wherever μ_m > 0 (for vectors that sum to zero, if there is a bias and c_m sums to zero), they
prove with m_i = s_i(Σ_m K_m c_m + b)_i,

    v ≤ R(μ) + ½Σ c_m'K_m c_m/μ_m + Σ_i sup of [g_i(α̂_i) − α̂_i m_i + ½Σ_m δ_m μ_m(α̂_i − s_i c_mi/μ_m)²]  [− ρ, + Nε].

li, ckl and vskl have penalties U of the norms, with conjugate U*(√q), and need semidefinite kernels: their files are
about K̃_m = K_m + δ_m I ⪰ 0, and prove Σg(α) − U*(√q̃) ≤ v ≤ t²U(a) + Σ_i sup of [g_i(α̂_i) − α̂_i m_i] [+ Nε] with
q̃_m = q_m + δ_m‖β‖², a_m = √(c_m'K̃_m c_m) and m_i = t s_i(Σ_m K̃_m c_m + b)_i.

Both bounds are evaluated exactly from the stored numbers (quotients, roots and logarithms to fifty digits, to the side
that counts), and every claim is held against an interval of its own. `numbers.py` has the arithmetic and the proof of
δ, `prices.py` R and U, `losses.py` the losses, `claims.py` the comparison; none of them depends on the rest of mklcvx.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .claims import NOTHING, UNITS, Bias, Point, number, numbers, parameters_of
from .files import read_solution
from .losses import (
    FREE_MARGIN,
    LEVELS,
    NONE,
    TARGETS,
    Bend,
    Poisson,
    feasible,
    most_of,
    name_of,
    samples_of,
    targets,
    wanted,
)  # fmt: skip
from .numbers import dot, fractions, is_semidefinite, least_ridge, positive, require, root, stack_of
from .prices import BLOCKWISE, block_conjugate, block_penalty, domain, dual_cost, groups_of, weights_price

__all__ = ["check", "dual_cost", "read_solution"]
HALF = Fraction(1, 2)
WITH_TAU = ("sm1", "sm2", "smp", "elastic", "block_elastic")
OWN = {
    "svm": {}, "sum": {}, "average": {}, "l1": {}, "l2": {}, "li": {}, "ckl": {},
    "sm1": {"theta": "cap"}, "sm2": {"theta": "theta"}, "square": {"theta": "theta"}, "lp": {"p": "ball"},
    "smp": {"theta": "theta", "p": "power"}, "elastic": {"l1_ratio": "l1_ratio"}, "vskl": {"s": "s"},
    "block_elastic": {"l1_ratio": "l1_ratio"}, "group_lasso": {"lam": "lam"},
}  # fmt: skip


class Sides(NamedTuple):
    """What a point proves about one classifier."""

    q: list
    upper: Fraction
    squares: list  # of the norms of its functions
    penalty: Fraction  # twice what the upper bound has of them
    gains: Fraction  # the terms of the gain, without their signs
    terms: Fraction  # those of all other sums
    bias: Bias


class Machine(NamedTuple):
    """One classifier: its problem and its point."""

    kernels: list
    signs: Any
    samples: list  # the loss of each
    alpha: Any
    mu: list
    coefficients: Any
    bias: Fraction = Fraction(0)
    stretch: Fraction = Fraction(1)
    low: Any = None  # far below the last bits of alpha∘y
    ridge: Fraction = Fraction(0)
    ridges: Any = None  # of every kernel, for coefficients

    def gain(self):
        """Σ g(α), from below."""
        return sum((one.gain(a) for one, a in zip(self.samples, fractions(self.alpha), strict=True)), Fraction(0))

    def gained(self, gain):
        """What a gap is compared with where f vanishes: the gain, for counts with their prices times themselves."""
        return positive(gain) + sum((one.high for one in self.samples if isinstance(one, Poisson)), Fraction(0))

    def sides(self, q, squares, penalty, parts, bends):
        """What functions prove whose outputs are sums of these parts, one for every kernel."""
        t, outputs, each = self.stretch, sum(parts), list(zip(self.samples, fractions(self.alpha), strict=True))
        paid = self.costs(t * self.signs * (outputs + self.bias), bends)
        sizes = uncancelled(parts, self.bias)
        gains = self.gained(sum(abs(one.gain(a)) + abs(a * one.a) for one, a in each))
        terms = t * dot(abs(fractions(self.alpha)), sizes) + sum(map(abs, paid))
        size = max(sizes) + max(abs(one.a) for one in self.samples)
        blur = size * (UNITS + t - 1)
        bias = Bias(self.bias, blur, lambda b: sum(self.costs(self.signs * (outputs + b), [Bend()] * len(sizes))))
        return Sides(q, penalty / 2 + sum(paid), squares, penalty, gains, terms, bias)

    def products(self):
        """Σ_m max|K_m| Σ|c_m| (Σ|α| + Σ|c_m|/μ_m): products with kernels if nothing cancelled."""
        sizes, length = [Fraction(float(k.diagonal().max())) for k in self.kernels], sum(abs(fractions(self.alpha)))
        own = np.zeros(len(sizes), int) if self.coefficients is None else abs(fractions(self.coefficients)).sum(axis=1)
        squares = own * own / np.array([w or Fraction(1) for w in self.mu])
        return length * dot(sizes, np.array(self.mu) * length + own) + dot(sizes, squares)

    def costs(self, margins, bends):
        """What every margin costs."""
        return [one.cost(m, bend) for one, m, bend in zip(self.samples, margins, bends, strict=True)]


# ------------------------------------------------------------------------------------------------- the two bounds
def check(kernels, y, record, weight=1.0, groups=None):
    """(lower, upper) as this solution's point proves them, rounded outward; ValueError where it is not feasible.
    Labels, or the response, are y; it is None for loss one_class."""
    return evaluated(kernels, y, record, weight, groups).interval()


def evaluated(kernels, y, record, weight=1.0, groups=None):
    """Both bounds at the record's point, exactly."""
    stack, name = stack_of(kernels), record["formulation"]
    n, count = stack[0].samples, len(stack)
    require(name in OWN, f"formulation: {name!r:.40} is not one of {', '.join(OWN)}")
    require(name != "svm" or count == 1, "formulation: svm takes one kernel")
    loss = name_of(record["parameters"])
    require(name not in BLOCKWISE or loss not in FREE_MARGIN, f"parameters: {name} has no ν-form")
    given = parameters_of(record, wanted(loss) | OWN[name], count)
    multipliers, nu, bias = record["multipliers"], loss in FREE_MARGIN, record["parameters"]["bias"]
    require(loss != "one_class" or not bias, "parameters.bias: loss one_class has none")
    signs, response = targets(loss, y, n)
    alpha = numbers(record["alpha"], (n,), "alpha")
    own = record["coefficients"]
    coefficients = None if own is None else numbers(own, (count, n), "coefficients")
    undefined = name in BLOCKWISE and own is not None
    weights = numbers(record["weights"], (count,), "weights", undefined)
    unknown, most = LEVELS.get(loss), most_of(loss, given, weight, n)
    level = number(multipliers.get(unknown), f"multipliers.{unknown}") if unknown else Fraction(0)
    require(most is None or level >= 0, "multipliers.epsilon: below 0")
    paid = -level if nu else Fraction(0) if most is None else most * level
    samples = samples_of(loss, given, response, signs, weight, bias, level)
    feasible(alpha, signs, samples, bias, nu, most)
    machine = Machine(stack, signs, samples, alpha, [], coefficients, **free(record, name, nu, own))
    require(bias or machine.bias == 0, "bias: there is none in this problem")
    machine = machine._replace(low=low_part(record, (n,), bias, name not in BLOCKWISE and own is None))
    if name in WITH_TAU and given.get("l1_ratio") != 1:
        given["tau"] = number(multipliers.get("tau"), "multipliers.tau")
    if name in BLOCKWISE:
        return blockwise(name, given, machine, weights, groups_of(groups, name, count), record, paid)
    machine = ridged(record, machine._replace(mu=domain(name, weights, given)), bias)
    sides = two_sides(machine)
    price = weights_price(name, machine.mu, given)
    gain = Fraction(0) if nu else machine.gain()
    cost = dual_cost(name, sides.q, given, groups)
    energy = HALF * (dot(machine.mu, sides.q) + sides.penalty)
    if not alpha.any() and sides.upper <= NOTHING:  # f = 0 costs nothing, and R(μ) is all there is
        energy = max(energy, abs(price))
    upper, gained = sides.upper + price + paid, machine.gained(gain)
    terms, slopes = abs(cost) + price + abs(paid) + sides.gains + sides.terms, [x / 2 for x in sides.q]
    norms = list(zip(sides.squares, machine.mu, strict=True))
    claims = {"slopes": slopes, "bias": not levelled(record) and sides.bias, "gain": gained, "gain_terms": sides.gains}
    claims["products"] = machine.products()
    return Point(gain - cost, upper, energy, terms, machine.ridge, norms, **claims)


def free(record, name, nu, own):
    """Parts of the point that may have any value: bias and stretch."""
    bias = number(record["bias"], "bias") + number(record.get("bias_low", 0.0), "bias_low")
    return {"bias": bias, "stretch": stretch_of(record, not nu and (name in BLOCKWISE or own is None))}


def stretch_of(record, plain):
    stretch = number(record["certificate"].get("stretch", 1.0), "certificate.stretch")
    require(stretch >= 1, "certificate.stretch: below 1")
    require(plain or stretch == 1, "certificate.stretch: must be 1 here")
    return stretch


def biases(record, shape):
    """The biases of several functions, each the sum of two doubles."""
    low = record.get("bias_low", 0.0)
    low = numbers(low, shape, "bias_low") if np.ndim(low) else [number(low, "bias_low")] * shape[0]
    return [b + Fraction(x) for b, x in zip(fractions(numbers(record["bias"], shape, "bias")), low, strict=True)]


def low_part(record, shape, bias, allowed=True):
    """β̃, or None."""
    values = record.get("alpha_low")
    if values is None:
        return None
    require(allowed, "alpha_low: there is none beside coefficients")
    low = numbers(values, shape, "alpha_low")
    sums = [sum(fractions(row)) for row in np.atleast_2d(low)]
    require(not bias or not any(sums), "alpha_low: it does not sum to zero")
    return low


def ridged(record, machine, bias):
    """The machine with the file's δ, proved; with our own δ if the file has none."""
    if machine.coefficients is None:
        require("ridges" not in record["certificate"], "certificate.ridges: one ridge is for all kernels here")
        return machine._replace(ridge=proved_ridge(record, machine, bias))
    used = [w > 0 for w in machine.mu]
    ridges = proved_ridges(record, machine.kernels, used, balanced(machine.coefficients, bias))
    return machine._replace(ridge=max(ridges), ridges=ridges)


def balanced(coefficients, bias):
    """Which rows sum to zero, if there is a bias."""
    return [bool(bias) and not sum(row) for row in fractions(coefficients)]


def proved_ridge(record, machine, centred):
    """δ of Σ μ_m K_m."""
    scale = len(machine.mu) if any(w.denominator & (w.denominator - 1) for w in machine.mu) else 1
    weights = [float(w * scale) for w in machine.mu]
    if "ridge" not in record["certificate"]:
        return least_ridge(machine.kernels, weights, centred) / scale
    ridge = number(record["certificate"]["ridge"], "certificate.ridge")
    proved = ridge >= 0 and is_semidefinite(machine.kernels, weights, ridge * scale, centred)
    require(proved, "certificate.ridge: ridge is not proved")
    return ridge


def smaller_ridge(record, kernels, mu):
    """δ of Σ μ_m K_m for vectors that sum to zero: the file's, if it is proved and smaller than ours."""
    weights, said = [float(w) for w in mu], record["certificate"].get("ridge")
    own = least_ridge(kernels, weights, True)
    given = own if said is None else number(said, "certificate.ridge")
    return given if given < own and is_semidefinite(kernels, weights, given, True) else own


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


def two_sides(machine):
    """q, and the upper bound without the price of weights and the margin."""
    kernels, signs, mu = machine.kernels, machine.signs, machine.mu
    t, delta, signed = machine.stretch, machine.ridge, machine.alpha * machine.signs
    images = [k.image(signed) for k in kernels]
    exact = fractions(signed)
    q = [dot(exact, image) for image in images]
    if machine.coefficients is not None:
        return own_sides(machine, q)
    squares = [w * w * x for w, x in zip(mu, q, strict=True)]
    if machine.low is not None:
        images = [image + k.image(machine.low) for k, image in zip(kernels, images, strict=True)]
        exact = exact + fractions(machine.low)
    parts = [w * image for w, image in zip(mu, images, strict=True)]
    bends = [Bend(delta, delta * c, delta * c * c) for c in t * signs * exact]
    return machine.sides(q, squares, t * t * dot(exact, sum(parts)), parts, bends)


def uncancelled(parts, bias):
    """|f(x_i)| + |b| if nothing cancelled but constants in the outputs of kernels, which with a bias belong to it."""
    centres = [(max(part) + min(part)) / 2 if bias else Fraction(0) for part in parts]
    return sum(abs(part - centre) for part, centre in zip(parts, centres, strict=True)) + abs(bias + sum(centres))


def own_sides(machine, q):
    """The same from coefficients c_m."""
    own, signs, mu, delta = fractions(machine.coefficients), machine.signs, machine.mu, machine.ridges
    images = [k.image(c) for k, c in zip(machine.kernels, machine.coefficients, strict=True)]
    squares = [dot(c, image) for c, image in zip(own, images, strict=True)]
    used = [m for m in range(len(mu)) if mu[m] > 0]
    for m, c in enumerate(machine.coefficients):
        require(mu[m] > 0 or not c.any(), "weights: a kernel of weight zero is used")
    penalty, square = sum((squares[m] / mu[m] for m in used), Fraction(0)), sum(delta[m] * mu[m] for m in used)
    bends = [
        Bend(square, sign * sum(delta[m] * c[m] for m in used), sum(delta[m] * c[m] ** 2 / mu[m] for m in used))
        for sign, c in zip(signs.tolist(), own.T, strict=True)
    ]
    return machine.sides(q, squares, penalty, images, bends)


# ----------------------------------------------------------------------------------------------- li, ckl and vskl
def blockwise(name, given, machine, weights, groups, record, level):
    """Both bounds from coefficients, which are weight_m(α∘y) where the file has none; `level` is what ε costs."""
    stack, signs, alpha = machine.kernels, machine.signs, fractions(machine.alpha)
    signed, bias = fractions(machine.alpha * signs), record["parameters"]["bias"]
    seen = [k.image(signed) for k in stack]
    q = [dot(signed, image) for image in seen]
    if machine.coefficients is None:
        mu, centred = list(fractions(weights)), [bias] * len(stack)
        require(all(w >= 0 for w in mu), "weights: a weight is negative")
        own, images = [w * signed for w in mu], [w * image for w, image in zip(mu, seen, strict=True)]
    else:
        mu, centred = [Fraction(0)] * len(stack), balanced(machine.coefficients, bias)
        own = fractions(machine.coefficients)
        images = [k.image(c) for k, c in zip(stack, machine.coefficients, strict=True)]
    machine = machine._replace(mu=mu)
    squares = [dot(c, image) for c, image in zip(own, images, strict=True)]
    ridges = proved_ridges(record, stack, [True] * len(stack), centred)
    lifted = [x + delta * dot(alpha, alpha) for x, delta in zip(q, ridges, strict=True)]
    each = [x + delta * dot(c, c) for x, delta, c in zip(squares, ridges, own, strict=True)]
    norms, t = [root(positive(x), 1) for x in each], machine.stretch
    parts = [image + delta * c for image, delta, c in zip(images, ridges, own, strict=True)]
    sides = machine.sides(q, squares, Fraction(0), parts, [Bend()] * len(alpha))
    cost, gain = dual_cost(name, lifted, given, groups), machine.gain()
    price = t * t * block_penalty(name, norms, given, groups, 1)
    scale = t * t * block_penalty(name, [root(positive(x), -1) for x in each], given, groups, -1)
    scale += block_conjugate(name, [root(positive(x), -1) for x in lifted], given, groups, -1)
    upper, gained = sides.upper + price + level, machine.gained(gain)
    rate = t * sum(norm * root(delta, 1) for norm, delta in zip(norms, ridges, strict=True))
    stored = gain - dual_cost(name, q, given, groups), upper + unlifted(machine, sides.upper, rate)
    terms, norms = sides.terms + cost + price + abs(level) + sides.gains, [(x, Fraction(1)) for x in squares]
    claims = {
        "bias": not levelled(record) and sides.bias,
        "gain": gained,
        "gain_terms": sides.gains,
        "products": machine.products(),
    }
    return Point(gain - cost, upper, scale, terms, max(ridges), norms, stored=stored, **claims)


def unlifted(machine, paid, rate):
    """The most that rate·‖α̂‖, which √q̃ ≤ √q + √δ‖α̂‖ adds for the kernels as stored, makes of what the margins cost:
    rate times the longest α̂; or with a curvature κ of all gains rate·‖α*‖ + rate²/(2κ), ½κ‖α*‖² being paid at least."""
    if not rate:
        return rate
    ends = [(one.low, one.high) for one in machine.samples]
    if all(None not in pair for pair in ends):
        return rate * root(sum((max(-low, high) ** 2 for low, high in ends), Fraction(0)), 1)
    kappa = min(one.kappa for one in machine.samples)
    return rate * root(2 * paid / kappa, 1) + rate * rate / (2 * kappa)


# ---------------------------------------------------------------------------------------------------------- files
def evaluated_file(data, record):
    others = [kind for kind in ("classes", "labels") if kind in data]
    require(not others, "y: no labels y in the instance: for classes and labels use mklcvx.checker.families")
    y = next((np.ravel(data[kind]) for kind in ("y", "response") if kind in data), None)
    kind = TARGETS[name_of(record["parameters"])]
    require(kind in data or (kind == NONE and y is None), f"target: the loss needs {kind}, which the instance has not")
    return evaluated(data["kernels"], y, record, data.get("sample_weight", 1.0), data.get("groups"))


def levelled(record):
    """The level that is an unknown of the loss, if there is one."""
    parameters = record["parameters"]
    return LEVELS.get(str(parameters.get("loss", "nu" if "nu" in parameters else "hinge")))


def point_multipliers(record):
    """The multipliers that are part of the point, and the fields that are not checked here."""
    name, parameters = record["formulation"], record["parameters"]
    unknown = levelled(record)
    used = [unknown] if unknown else []
    skipped = ["bias_interval"] * bool(unknown)
    skipped += ["weights"] * (name in BLOCKWISE and record["coefficients"] is not None)
    used += ["tau"] if name in WITH_TAU and parameters.get("l1_ratio") != 1 else []
    return used, skipped
