"""Audit a solution file of a single task: python -m mklcvx.checker INSTANCE.npz SOLUTION.json|.npz

Only the point is taken from the file. With n samples, labels y, kernels K_m, boxes box_i = C·(weight of sample i)
(loss nu: 1/(νn)·weight), q_m(α) = (α∘y)'K_m(α∘y) and R a convex price of weights μ ≥ 0 with conjugate R*, the file is
about the optimal value

    v = max over α of gain(α) − R*(½ q(α)),     0 ≤ α ≤ box, y'α = 0 with a bias, Σα = 1 with loss nu.

Loss c has gain = Σα and level ℓ = 1, loss nu gain = 0 and level ρ. The file's α proves v ≥ gain(α) − R*(½ q(α)).
Let β = α∘y, and β̃ the file's low part of α (which sums to zero, with a bias), or 0. The weights μ, bias b, stretch
t ≥ 1 and ridge δ, with K(μ) + δI ⪰ 0 (for vectors that sum to zero, with a bias), prove with c = t(β + β̃)

    v ≤ R(μ) + ½c'K(μ)c + Σ_i max(½δc_i², box_i(ℓ − m_i) + ½δ(box_i − y_i c_i)²)  [− ρ],
    m_i = y_i(K(μ)c + tb)_i,

because −½β̂'Kβ̂ ≤ ½c'Kc − c'Kβ̂ + ½δ‖β̂ − c‖², and a convex function of β̂_i is largest at an end of its box. The bias b is
the sum of two doubles. If the file has coefficients c_m, and K_m + δ_m I ⪰ 0 wherever μ_m > 0 (for vectors that sum to
zero, if there is a bias and c_m sums to zero), they prove with m_i = y_i(Σ_m K_m c_m + b)_i,

    v ≤ R(μ) + ½Σ c_m'K_m c_m/μ_m
          + Σ_i max(½Σ_m δ_m c_mi²/μ_m, box_i(ℓ − m_i) + ½Σ_m δ_m μ_m(box_i − y_i c_mi/μ_m)²)  [− ρ].

li, ckl and vskl have penalties U of the norms, with conjugate U*(√q), and need semidefinite kernels: their files are
about K̃_m = K_m + δ_m I ⪰ 0, and prove gain(α) − U*(√q̃) ≤ v ≤ t²U(a) + Σ_i box_i(1 − m_i)₊ with
q̃_m = q_m + δ_m‖β‖², a_m = √(c_m'K̃_m c_m) and m_i = t y_i(Σ_m K̃_m c_m + b)_i.

Both bounds are evaluated exactly from the stored numbers, and claims are compared with them without slack. `numbers.py`
has the arithmetic and the proof of δ, `prices.py` R and U, `claims.py` the comparison; none of them depends on the rest
of mklcvx.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .claims import OLD, Point, number, numbers, parameters_of, read_solution
from .numbers import Refused, dot, fractions, is_semidefinite, least_ridge, positive, require, root, stack_of
from .prices import BLOCKWISE, block_conjugate, block_penalty, domain, dual_cost, groups_of, weights_price

__all__ = ["check", "dual_cost", "read_solution"]
HALF = Fraction(1, 2)
GRID = Fraction(1, 2**52)
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


class Machine(NamedTuple):
    """One classifier: its problem and its point."""

    kernels: list
    y: Any
    box: list
    alpha: Any
    mu: list
    coefficients: Any
    bias: Fraction = Fraction(0)
    stretch: Fraction = Fraction(1)
    level: Fraction = Fraction(1)
    low: Any = None  # far below the last bits of alpha∘y
    ridge: Fraction = Fraction(0)
    ridges: Any = None  # of every kernel, for coefficients

    def sizes(self):
        """max|K_m| of every kernel."""
        return [Fraction(float(np.abs(kernel.diagonal()).max())) for kernel in self.kernels]

    def spread(self):
        """Σ_i |c_mi| √max|K_m|: the norms of functions if nothing cancelled."""
        c = np.outer([float(w) for w in self.mu], self.alpha) if self.coefficients is None else self.coefficients
        return [float(np.abs(row).sum() * np.sqrt(float(size))) for row, size in zip(c, self.sizes(), strict=True)]

    def uncancelled(self):
        """Σ μ_m max|K_m| Σα Σbox: what μ'q and the margins would cost if nothing cancelled."""
        return dot(self.mu, self.sizes()) * sum(fractions(self.alpha)) * sum(self.box) + self.rounding_of_margins()

    def rounding_of_margins(self):
        """Σ box (ℓ + |b|), over 2^16: fourteen digits, since nine would be too few where boxes differ in size."""
        return sum(self.box) * (abs(self.level) + abs(self.bias)) / 2**16


# ------------------------------------------------------------------------------------------------- the two bounds
def check(kernels, y, record, weight=1.0, groups=None):
    """(lower, upper) as this solution's point proves them, rounded outward; ValueError where it is not feasible."""
    return evaluated(kernels, np.asarray(y), record, weight, groups).interval()


def evaluated(kernels, y, record, weight=1.0, groups=None):
    """Both bounds at the record's point, exactly."""
    stack, exactly = stack_of(kernels), record.get("schema") != OLD
    name, n, count = record["formulation"], len(y), len(stack)
    require(name in OWN, f"formulation: {name!r:.40} is not one of {', '.join(OWN)}")
    require(name != "svm" or count == 1, "formulation: svm takes one kernel")
    price = "nu" if name not in BLOCKWISE and "nu" in record["parameters"] else "C"
    given = parameters_of(record, {price: price, "bias": "flag"} | OWN[name], count)
    multipliers, nu, bias = record["multipliers"], "nu" in given, record["parameters"]["bias"]
    alpha = numbers(record["alpha"], (n,), "alpha")
    own = record["coefficients"]
    coefficients = None if own is None else numbers(own, (count, n), "coefficients")
    undefined = name in BLOCKWISE and own is not None
    weights = numbers(record["weights"], (count,), "weights", undefined)
    box = box_of(given, y, weight, bias)
    feasible(alpha, y, box, bias, nu, exactly)
    machine = Machine(stack, y, box, alpha, [], coefficients, **free(record, name, nu, own))
    require(bias or machine.bias == 0, "bias: there is none in this problem")
    machine = machine._replace(low=low_part(record, (n,), bias, name not in BLOCKWISE and own is None))
    if name in WITH_TAU and given.get("l1_ratio") != 1:
        given["tau"] = number(multipliers.get("tau"), "multipliers.tau")
    if name in BLOCKWISE:
        return blockwise(name, given, machine, weights, groups_of(groups, name, count), record)
    machine = ridged(record, machine._replace(mu=domain(name, weights, given, exactly)), bias)
    sides = two_sides(machine)
    price = weights_price(name, machine.mu, given)
    gain = Fraction(0) if nu else dot(fractions(alpha), np.ones(n, int))
    cost = dual_cost(name, sides.q, given, groups)
    level = machine.level if nu else Fraction(0)
    energy = HALF * (dot(machine.mu, sides.q) + sides.penalty)
    upper = sides.upper + price - level
    size = gain + abs(cost) + price + abs(level) + abs(upper) + machine.uncancelled()
    loose = loose_bound(name, gain, machine, sides.q, given, groups)
    spread = machine.spread()
    return Point(gain - cost, upper, energy, size, machine.ridge, sides.squares, spread, gain=gain, loose=loose)


def free(record, name, nu, own):
    """Parts of the point that may have any value: bias, stretch, margin."""
    stretch = number(record["certificate"].get("stretch", 1.0), "certificate.stretch")
    require(stretch >= 1, "certificate.stretch: below 1")
    plain = not nu and (name in BLOCKWISE or own is None)
    require(plain or stretch == 1, "certificate.stretch: must be 1 here")
    level = number(record["multipliers"].get("rho"), "multipliers.rho") if nu else Fraction(1)
    bias = number(record["bias"], "bias") + number(record.get("bias_low", 0.0), "bias_low")
    return {"bias": bias, "stretch": stretch, "level": level}


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


def box_of(given, y, weight, bias):
    """Price times weights, in doubles; where they are too narrow for loss nu, rounded up to be just wide enough."""
    n, nu = len(y), given.get("nu")
    require(set(np.unique(y)) == {-1, 1}, "y: the instance's labels are not −1 and +1")
    price = float(given["C"]) if nu is None else 1.0 / (float(nu) * n)
    box = [Fraction(x) for x in (price * np.asarray(weight, dtype=float) * np.ones(n)).tolist()]
    if nu is None:
        return box
    floors = [b // GRID * GRID for b in box]
    sides = [sum(f for f, sign in zip(floors, y, strict=True) if sign == side) for side in (-1, 1)]
    narrow = min(sides) < HALF if bias else sum(sides) < 1
    return [f + GRID for f in floors] if narrow else box


def feasible(alpha, y, box, bias, nu, exactly=True):
    """Require α in its box and its sums exactly; in old files sums may have rounding errors."""
    exact = fractions(alpha)
    require(all(0 <= a <= b for a, b in zip(exact, box, strict=True)), "alpha leaves its box")
    slack = 0 if exactly else Fraction(1, 10**14) * len(box) * sum(exact)
    require(not bias or abs(dot(exact, y.astype(int))) <= slack, "y'alpha is not zero")
    require(not nu or abs(sum(exact) - 1) <= slack, "alpha does not sum to one")


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
    kernels, y, mu = machine.kernels, machine.y.astype(int), machine.mu
    t, delta, signed = machine.stretch, machine.ridge, machine.alpha * machine.y
    images = [k.image(signed) for k in kernels]
    exact = fractions(signed)
    q = [dot(exact, image) for image in images]
    if machine.coefficients is not None:
        return own_sides(machine, q)
    squares = [w * w * x for w, x in zip(mu, q, strict=True)]
    if machine.low is not None:
        images = [image + k.image(machine.low) for k, image in zip(kernels, images, strict=True)]
        exact = exact + fractions(machine.low)
    outputs = sum(w * image for w, image in zip(mu, images, strict=True))
    penalty, margins = t * t * dot(exact, outputs), t * y * (outputs + machine.bias)
    ends = [
        max(delta * a * a / 2, b * (machine.level - m) + delta * (b - a) ** 2 / 2)
        for a, b, m in zip(t * y * exact, machine.box, margins, strict=True)
    ]
    return Sides(q, penalty / 2 + sum(ends), squares, penalty)


def own_sides(machine, q):
    """The same from coefficients c_m."""
    own, y, mu, delta = fractions(machine.coefficients), machine.y.astype(int), machine.mu, machine.ridges
    images = [k.image(c) for k, c in zip(machine.kernels, machine.coefficients, strict=True)]
    squares = [dot(c, image) for c, image in zip(own, images, strict=True)]
    used = [m for m in range(len(mu)) if mu[m] > 0]
    for m, c in enumerate(machine.coefficients):
        require(mu[m] > 0 or not c.any(), "weights: a kernel of weight zero is used")
    margins = y * (sum(images) + machine.bias)
    penalty = sum((squares[m] / mu[m] for m in used), Fraction(0))
    total = penalty / 2
    for i, (b, margin) in enumerate(zip(machine.box, margins, strict=True)):
        inside = sum((delta[m] * own[m, i] ** 2 / mu[m] for m in used), Fraction(0))
        across = sum((delta[m] * mu[m] * (b - y[i] * own[m, i] / mu[m]) ** 2 for m in used), Fraction(0))
        total += max(inside / 2, b * (machine.level - margin) + across / 2)
    return Sides(q, total, squares, penalty)


def loose_bound(name, gain, machine, q, given, groups):
    """The lower bound with q as large as rounding in doubles may make it; None if that overflows."""
    length, rounding = sum(fractions(machine.alpha)), Fraction(len(machine.alpha) + 64, 2**50)
    try:
        q = [x + rounding * size * length**2 for x, size in zip(q, machine.sizes(), strict=True)]
        return gain - dual_cost(name, q, given, groups)
    except Refused:
        return None


# ----------------------------------------------------------------------------------------------- li, ckl and vskl
def blockwise(name, given, machine, weights, groups, record):
    """Both bounds from coefficients, which are weight_m(α∘y) where the file has none."""
    stack, y, alpha = machine.kernels, machine.y.astype(int), fractions(machine.alpha)
    signed, bias = fractions(machine.alpha * machine.y), record["parameters"]["bias"]
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
    outputs = sum(images) + sum(delta * c for delta, c in zip(ridges, own, strict=True))
    margins = t * y * (outputs + machine.bias)
    risk = sum((b * positive(1 - m) for b, m in zip(machine.box, margins, strict=True)), Fraction(0))
    cost, gain, reach = dual_cost(name, lifted, given, groups), sum(alpha), root(dot(machine.box, machine.box), 1)
    upper = t * t * block_penalty(name, norms, given, groups, 1) + risk
    scale = t * t * block_penalty(name, [root(positive(x), -1) for x in each], given, groups, -1)
    scale += block_conjugate(name, [root(positive(x), -1) for x in lifted], given, groups, -1)
    spread = machine.spread()
    size = gain + cost + upper + machine.rounding_of_margins()
    size += reach * Fraction(sum(spread)) * root(max(machine.sizes()), 1)
    loose = loose_bound(name, gain, machine, lifted, given, groups)
    return Point(gain - cost, upper, scale, size, max(ridges), squares, spread, gain=gain, loose=loose)


# ---------------------------------------------------------------------------------------------------------- files
def evaluated_file(data, record):
    require("y" in data, "y: no labels y in the instance: for classes and labels use mklcvx.checker.families")
    return evaluated(data["kernels"], np.ravel(data["y"]), record, data.get("sample_weight", 1.0), data.get("groups"))


def point_multipliers(record):
    """The multipliers that are part of the point, and the fields that are not checked here."""
    name, parameters = record["formulation"], record["parameters"]
    used = ["rho"] if "nu" in parameters else []
    used += ["tau"] if name in WITH_TAU and parameters.get("l1_ratio") != 1 else []
    return used, ["weights"] if name in BLOCKWISE and record["coefficients"] is not None else []
