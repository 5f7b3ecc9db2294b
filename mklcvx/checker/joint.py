"""Audit a solution file of several outputs, as `audit.py` does for one: joint losses of classes, and many responses.

With k outputs α, β = s∘α and the signs s are k×n, biases b have k entries, and q_m(α) = Σ_j β^j'K_mβ^j. The signs are
+1 for a sample's own class y and −1 for the others; 1 for a response. The file is about

    v = max over α of Σ_i g_i(α_i) − R*(½q(α)),     α feasible; with a bias every β^j sums to zero.

The file's α proves v ≥ Σg(α) − R*(½q(α)). Its weights μ, biases, stretch t ≥ 1 and ridge δ, with K(μ) + δI ⪰ 0 (for
vectors that sum to zero, with a bias), prove with c = tβ and outputs z^j = K(μ)c^j + tb_j

    v ≤ R(μ) + ½Σ_j c^j'K(μ)c^j + Σ_i sup over α̂_i of [g_i(α̂_i) − β̂_i'z_i + ½δ‖β̂_i − c_i‖²],

because I ⊗ K(μ) has the same δ. Coefficients c_jm, with K_m + δ_m I ⪰ 0 wherever μ_m > 0 (for vectors that sum to zero,
if there is a bias and every c_jm sums to zero), prove the same with Σ_m c_jm'K_m c_jm/μ_m in the place of c^j'K(μ)c^j,
z^j = Σ_m K_m c_jm + b_j and ½Σ_m δ_mμ_m‖β̂_i − c_mi/μ_m‖² under the supremum. Either is ½(A‖β̂‖² − 2B'β̂ + D) there.

crammer_singer   α ≥ 0, α_y = Σ_{j≠y} α_j ≤ c, g = α_y. What is maximised is convex, so that its supremum is at a
                 vertex: 0, or α̂_y = α̂_j = c for another class j, which is worth c(1 − z_y + z_j) and its ridge.
softmax          the same set, g = −c Σ_j u_j log u_j with u_y = 1 − α_y/c, u_j = α_j/c. Without a ridge the supremum is
                 cℓ(z), ℓ(z) = log Σ_j e^{z_j} − z_y, and any β̂ is worth c KL(u‖p) less, which is at least
                 ‖β̂ − β*‖²/c (Pinsker), β* = c(e_y − p), p_j = e^{z_j}/Σ_l e^{z_l}. So with any x and z + B − Ax for z,
                 sup ≤ cℓ + ½(D − A‖x‖²) + ½A min( ‖β* − x‖²/(1 − ½Ac) if Ac < 2,  the largest ‖β̂ − x‖² ).
a response       g and the supremum are sums over the outputs of those in `losses.py`.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .audit import (
    HALF,
    OWN,
    WITH_TAU,
    Machine,
    balanced,
    biases,
    proved_ridge,
    proved_ridges,
    stretch_of,
    uncancelled,
)
from .audit import evaluated_file as of_one_output
from .claims import NOTHING, Point, number, numbers, parameters_of, targets_of
from .losses import FREE_TUBE, REAL, TARGETS, Bend, feasible, samples_of, wanted
from .numbers import dot, exponential, fractions, logarithm, positive, require, root, stack_of, trimmed
from .prices import BLOCKWISE, domain, dual_cost, weights_price

FOR_CLASSES = ("crammer_singer", "softmax")


class Ridge(NamedTuple):
    """½(A‖β̂‖² − 2B'β̂ + D) of one sample, B with an entry for every output."""

    square: Fraction
    linear: list
    constant: Fraction

    def at(self, point):
        return (self.square * dot(point, point) - 2 * dot(self.linear, point) + self.constant) / 2


class CrammerSinger(NamedTuple):
    """One sample."""

    own: int  # its class
    price: Fraction

    def gain(self, alpha):
        return alpha[self.own]

    def cost(self, z, ridge):
        own, c = self.own, self.price
        vertices = corners(own, c, len(z))
        return max(c * (z[j] - z[own] + (j != own)) + ridge.at(point) for j, point in enumerate(vertices))

    def level(self):
        """What margins are compared with."""
        return Fraction(1)


class Softmax(CrammerSinger):
    """One sample."""

    def gain(self, alpha):
        parts = [self.price - a if j == self.own else a for j, a in enumerate(alpha)]
        return sum((-part * logarithm(part / self.price, 1) for part in parts if 0 < part < self.price), Fraction(0))

    def cost(self, z, ridge):
        c, a = self.price, ridge.square
        if not a:
            return c * self.loss([x + b for x, b in zip(z, ridge.linear, strict=True)]) + ridge.constant / 2
        found, x = [], [b / a for b in ridge.linear]
        for _ in range(4):
            moved = [one + b - a * here for one, b, here in zip(z, ridge.linear, x, strict=True)]
            p, blur = chances(moved)
            nearest = [c * ((j == self.own) - share) for j, share in enumerate(p)]
            away = max(distance(point, x) for point in corners(self.own, c, len(z)))
            if a * c < 2:
                apart = root(distance(nearest, x), 1) + c * blur * len(z)
                away = min(away, apart**2 / (1 - a * c / 2))
            found.append(c * self.loss(moved) + (ridge.constant - a * dot(x, x) + a * away) / 2)
            x = [trimmed(value, 1) for value in nearest]
        return trimmed(min(found), 1)

    def loss(self, z):
        """log Σ_j e^{z_j} − z_y, from above."""
        top = max(z)
        return top - z[self.own] + logarithm(sum(exponential(x - top, 1) for x in z), 1)


class Each(NamedTuple):
    """One sample of a loss that is applied output by output."""

    outputs: list

    def gain(self, alpha):
        return sum((one.gain(a) for one, a in zip(self.outputs, alpha, strict=True)), Fraction(0))

    def cost(self, z, ridge):
        rows = zip(self.outputs, z, ridge.linear, strict=True)
        return sum((one.cost(x, Bend(ridge.square, b)) for one, x, b in rows), ridge.constant / 2)

    def level(self):
        return max(abs(one.a) for one in self.outputs)


def corners(own, c, count):
    """The β̂ at the vertices of the feasible set: c(e_y − e_j), which is 0 where j = y."""
    return [[c * ((i == own) - (i == j)) for i in range(count)] for j in range(count)]


def distance(x, y):
    """Squared."""
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def chances(z):
    """e^{z_j}/Σ_l e^{z_l}, and a bound on the error of each."""
    top = max(z)
    powers = [exponential(x - top, 1) for x in z]
    return [x / sum(powers) for x in powers], Fraction(1, 10**50)


# --------------------------------------------------------------------------------------------------------- the point
class Outputs(NamedTuple):
    """k functions that share weights: their problem and their point."""

    kernels: list
    signs: Any  # (k, n)
    samples: list  # the loss of each
    alpha: Any  # (k, n)
    mu: list
    coefficients: Any  # (k, M, n), or None
    bias: list
    stretch: Fraction
    centred: bool  # whether there is a bias

    @property
    def exact_alpha(self):
        return fractions(self.alpha)


class Upper(NamedTuple):
    """z (k, n) and its parts (M, k, n), twice the penalty, the ridge of every sample, δ and the squares of the norms of
    functions."""

    z: Any
    parts: Any
    penalty: Fraction
    ridges: list
    delta: Fraction
    squares: list


def by_weights(record, at, images, q):
    """c^j = tβ^j."""
    machine = Machine(at.kernels, None, [], None, at.mu, None)
    require("ridges" not in record["certificate"], "certificate.ridges: one ridge is for all kernels here")
    delta, t = proved_ridge(record, machine, at.centred), at.stretch
    c = t * fractions(at.alpha * at.signs)
    parts = [w * image for w, image in zip(at.mu, images, strict=True)]
    z = t * (sum(parts) + np.array(at.bias, dtype=object)[:, None])
    ridges = [Ridge(delta, [delta * x for x in column], delta * dot(column, column)) for column in c.T]
    squares = [w * w * x for w, x in zip(at.mu, q, strict=True)]
    return Upper(z, parts, t * t * dot(at.mu, q), ridges, delta, squares)


def by_coefficients(record, at):
    """c_jm."""
    mu, own = at.mu, fractions(at.coefficients)
    used = [m for m in range(len(mu)) if mu[m] > 0]
    for m in range(len(mu)):
        require(mu[m] > 0 or not at.coefficients[:, m].any(), "weights: a kernel of weight zero is used")
    rows = np.array([balanced(part, at.centred) for part in at.coefficients])
    delta = proved_ridges(record, at.kernels, [w > 0 for w in mu], rows.all(axis=0).tolist())
    images = np.stack([k.image(at.coefficients[:, m].T).T for m, k in enumerate(at.kernels)], axis=1)
    squares = [dot(own[:, m], images[:, m]) for m in range(len(mu))]
    penalty, square = sum((squares[m] / mu[m] for m in used), Fraction(0)), sum(delta[m] * mu[m] for m in used)
    ridges = []
    for i in range(at.alpha.shape[1]):
        linear = [sum(delta[m] * row[m, i] for m in used) for row in own]
        ridges.append(Ridge(square, linear, sum(delta[m] * dot(own[:, m, i], own[:, m, i]) / mu[m] for m in used)))
    z = images.sum(axis=1) + np.array(at.bias, dtype=object)[:, None]
    return Upper(z, list(np.moveaxis(images, 1, 0)), penalty, ridges, max(delta), squares)


# ------------------------------------------------------------------------------------------------- the two bounds
def check(kernels, targets, record, weight=1.0):
    """(lower, upper) as this solution's point proves them, rounded outward; ValueError where it is not feasible.
    Targets are classes (n,), or a response (n, k)."""
    return evaluated(kernels, targets, record, weight).interval()


def evaluated(kernels, targets, record, weight=1.0):
    """Both bounds at the record's point, exactly."""
    stack, name = stack_of(kernels), record["formulation"]
    require(name in OWN and name not in BLOCKWISE, f"formulation: {name!r:.40} has no form for several outputs")
    require(name != "svm" or len(stack) == 1, "formulation: svm takes one kernel")
    loss = name_of(record["parameters"])
    given = parameters_of(record, wanted(loss) | OWN[name], len(stack))
    at = point_of(record, loss, given, stack, targets, weight)
    if name in WITH_TAU and given.get("l1_ratio") != 1:
        given["tau"] = number(record["multipliers"].get("tau"), "multipliers.tau")
    beta = fractions(at.alpha * at.signs)
    images = [kernel.image((at.alpha * at.signs).T).T for kernel in stack]
    q = [dot(beta, image) for image in images]
    upper = by_weights(record, at, images, q) if at.coefficients is None else by_coefficients(record, at)
    alpha, price = at.exact_alpha.T, weights_price(name, at.mu, given)
    each = list(zip(at.samples, alpha, upper.z.T, upper.ridges, strict=True))
    gain, cost = sum((one.gain(a) for one, a, _, _ in each), Fraction(0)), dual_cost(name, q, given, None)
    paid = upper.penalty / 2 + sum((one.cost(z, ridge) for one, _, z, ridge in each), Fraction(0))
    value, energy = price + paid, HALF * (dot(at.mu, q) + upper.penalty)
    if not at.alpha.any() and paid <= NOTHING:  # f = 0 costs nothing, and R(μ) is all there is
        energy = max(energy, abs(price))
    norms, slopes = list(zip(upper.squares, at.mu, strict=True)), [x / 2 for x in q]
    gains = sum((abs(one.gain(a)) + one.level() * sum(abs(a)) for one, a, _, _ in each), Fraction(0))
    sizes = [at.stretch * uncancelled([part[j] for part in upper.parts], b) for j, b in enumerate(at.bias)]
    terms, gained = abs(cost) + price + abs(value) + gains + dot(abs(at.exact_alpha), sizes), positive(gain)
    return Point(gain - cost, value, energy, terms, upper.delta, norms, slopes, gain=gained, gain_terms=gains)


def name_of(parameters):
    """The loss that the parameters name."""
    name, known = parameters.get("loss"), [*FOR_CLASSES, *(one for one, kind in TARGETS.items() if kind == REAL)]
    require(isinstance(name, str) and name in known, f"parameters.loss: {name!r:.40} is not one of {known}")
    return name


def point_of(record, loss, given, stack, targets, weight):
    """The problem and the point, whose α is required to be feasible, exactly."""
    bias, n = record["parameters"]["bias"], stack[0].samples
    prices = [Fraction(x) for x in (float(given["C"]) * np.asarray(weight, dtype=float) * np.ones(n)).tolist()]
    if loss in FOR_CLASSES:
        require(np.shape(targets) == (n,), f"target: loss {loss} needs classes, one per sample")
        found, own = np.unique(np.asarray(targets), return_inverse=True)
        require(len(found) > 1, "target: all samples have the same class")
        signs = np.where(np.arange(len(found))[:, None] == own, 1, -1)
        kind = CrammerSinger if loss == "crammer_singer" else Softmax
        samples: list = [kind(int(y), price) for y, price in zip(own, prices, strict=True)]
    else:
        require(loss not in FREE_TUBE, f"parameters.loss: {loss} has no form for several outputs")
        response = np.asarray(targets, dtype=float)
        require(response.ndim == 2 and len(response) == n, f"target: loss {loss} needs a response (n, k)")
        require(np.isfinite(response).all(), "response: the instance's has entries that are not finite")
        signs = np.ones(response.T.shape, int)
        rows = [samples_of(loss, given, row, signs[0], weight, bias) for row in response.T]
        samples = [Each(list(column)) for column in zip(*rows, strict=True)]
    alpha = numbers(record["alpha"], signs.shape, "alpha")
    if loss in FOR_CLASSES:
        contrasting(fractions(alpha), signs, samples, bias)
    else:
        for row, losses in zip(alpha, rows, strict=True):
            feasible(row, signs[0], losses, bias, False)
    require(record.get("alpha_low") is None, "alpha_low: there is none for several outputs")
    shape = (len(signs), len(stack), n)
    functions = None if record["coefficients"] is None else numbers(record["coefficients"], shape, "coefficients")
    stretch, shifts = stretch_of(record, functions is None), biases(record, (len(signs),))
    require(bias or not any(shifts), "bias: there is none in this problem")
    mu = domain(record["formulation"], numbers(record["weights"], (len(stack),), "weights"), given)
    return Outputs(stack, signs, samples, alpha, mu, functions, shifts, stretch, bias)


def contrasting(alpha, signs, samples, bias):
    """Require α ≥ 0, every sample's own to be the sum of its others and at most its price; with a bias Σ_i β_ij = 0."""
    require(all(value >= 0 for value in alpha.ravel()), "alpha leaves its box")
    for column, one in zip(alpha.T, samples, strict=True):
        require(2 * column[one.own] == sum(column), "alpha: a sample's own class is not the sum of its others")
        require(column[one.own] <= one.price, "alpha leaves its box")
    sums = (alpha * signs).sum(axis=1)
    require(not bias or not any(sums), "alpha∘y of a class does not sum to zero")


# ---------------------------------------------------------------------------------------------------------- files
def several(data, record):
    """Whether the file is about several outputs."""
    return record["parameters"].get("loss") in FOR_CLASSES or np.shape(data.get("response", 0.0))[1:] > (1,)


def evaluated_file(data, record):
    """Of a single task with one output or several."""
    if not several(data, record):
        return of_one_output(data, record)
    kind = targets_of(data)[0]
    wants = "classes" if name_of(record["parameters"]) in FOR_CLASSES else "response"
    require(kind == wants, f"target: the loss needs {wants}, the instance has {kind}")
    return evaluated(data["kernels"], data[kind], record, data.get("sample_weight", 1.0))
