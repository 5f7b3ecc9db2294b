"""The samples' side for the auditor: what a loss gains from α, and what it pays for margins, exactly or from one side.

Let c be the price of a sample, s its sign (the label; 1 for real targets and for none), z the output and m = sz its
margin. A loss pays c ℓ(z) = sup over α̂ of g(α̂) − α̂m, with its gain g, for which low ≤ α̂ ≤ high. But for the last two

    g(α) = aα − ε|α| − ½κα²      hinge            a = 1   κ = 0     0 … c        c max(0, 1 − m)
                                 squared_hinge        1       1/c   0 … ∞        ½c max(0, 1 − m)²
                                 smoothed_hinge       1       w/c   0 … c        the hinge, rounded off over a width w
                                 nu, one_class        ρ       0     0 … c        c max(0, ρ − m)
                                 squared              y       1/c   −∞ … ∞       ½c(y − z)²
                                 absolute             y       0     −c … c       c|y − z|
                                 epsilon_insensitive  y       0     −c … c       c max(0, |y − z| − ε)
                                 squared_epsilon_insensitive  1/c   −∞ … ∞       ½c max(0, |y − z| − ε)²
                                 huber                y       1/c   −cδ … cδ     ½c(y − z)², linear from |y − z| = δ
                                 quantile             y       0     (π−1)c … πc  slopes πc and (1 − π)c
                                 nu_svr               y       0     −c … c       c max(0, |y − z| − ε)
                                 logistic, poisson    g and the loss are below

with ε = 0 where the name does not have it. For `nu_svr` ε is an unknown, part of the point: ‖α‖₁ ≤ N = νΣc, so that Nε
is added to what it pays, and its gain is that of ε = 0. Prices, N and the ends of the boxes are what doubles make of
their products, and part of the problem; κ is the exact quotient.

A ridge adds ½(Aα̂² − 2Bα̂ + D) under the supremum (`Bend`). On either side of 0 there is a parabola then, whose largest
value is at its vertex or at an end. For `logistic`, g(α) = −α log(α/c) − (c − α) log(1 − α/c) has second derivatives of
at most −4/c. Let p = c/(1 + e^t) be the maximiser of g(α̂) − α̂t. Then g(α̂) − α̂t ≤ c log(1 + e^−t) − (2/c)(α̂ − p)², and
with t = m + B − Ax, any x, and κ = 4/c,

    sup ≤ c log(1 + e^−t) + ½(D − Ax²) + ½A min( (p − x)²/(1 − A/κ) if A < κ,  max(x, c − x)² ).

For `poisson`, with h = cy, g(α) = h log(h/c) − h − u log(u/c) + u, u = h − α ≥ 0; it pays c e^m − hm + h log(h/c) − h,
and p = h − c e^t. No optimal α is below −4 Σ c(1 + y√y), which is its low end; so u is at most h − low, and 1/(h − low)
is κ in the same bound, p being put into the box.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .numbers import chance, dot, exponential, fractions, log_one_plus_exp, logarithm, require, root, trimmed

GRID = Fraction(1, 2**52)
LABELS, REAL, NONE = "y", "response", "none"
TARGETS = {
    "hinge": LABELS, "nu": LABELS, "squared_hinge": LABELS, "smoothed_hinge": LABELS, "logistic": LABELS,
    "squared": REAL, "absolute": REAL, "epsilon_insensitive": REAL, "squared_epsilon_insensitive": REAL, "huber": REAL,
    "quantile": REAL, "nu_svr": REAL, "poisson": REAL, "one_class": NONE,
}  # fmt: skip
OWN = {
    "smoothed_hinge": {"width": "width"}, "epsilon_insensitive": {"epsilon": "epsilon"}, "huber": {"delta": "delta"},
    "squared_epsilon_insensitive": {"epsilon": "epsilon"}, "quantile": {"quantile": "quantile"},
    "nu_svr": {"nu": "nu"},
}  # fmt: skip
FREE_MARGIN, FREE_TUBE = ("nu", "one_class"), ("nu_svr",)
LEVELS = {**dict.fromkeys(FREE_MARGIN, "rho"), **dict.fromkeys(FREE_TUBE, "epsilon")}  # the unknowns of a loss, by name
SQUARES = ("squared_hinge", "squared", "squared_epsilon_insensitive", "huber")
ENDS = {  # of the boxes, from prices and parameters
    **dict.fromkeys(("hinge", "nu", "one_class", "smoothed_hinge"), lambda c, own: (0 * c, c)),
    **dict.fromkeys(("absolute", "epsilon_insensitive", "nu_svr"), lambda c, own: (-c, c)),
    **dict.fromkeys(("squared", "squared_epsilon_insensitive"), lambda c, own: (None, None)),
    "squared_hinge": lambda c, own: (0 * c, None),
    "huber": lambda c, own: (-(c * own["delta"]), c * own["delta"]),
    "quantile": lambda c, own: (-(1.0 - own["quantile"]) * c, own["quantile"] * c),
}


class Bend(NamedTuple):
    """½(Aα̂² − 2Bα̂ + D), which is what a ridge costs."""

    square: Fraction = Fraction(0)
    linear: Fraction = Fraction(0)
    constant: Fraction = Fraction(0)


class Quadratic(NamedTuple):
    """One sample of every loss but the logistic and the Poisson loss; None is infinite."""

    a: Fraction
    epsilon: Fraction
    kappa: Fraction
    low: Any
    high: Any

    def gain(self, alpha):
        """From below."""
        return self.a * alpha - self.epsilon * abs(alpha) - trimmed(self.kappa * alpha * alpha / 2, 1)

    def cost(self, margin, bend):
        """From above."""
        pull, curvature = self.a - margin - bend.linear, self.kappa - bend.square
        above = top(pull - self.epsilon, curvature, self.high)
        below = top(-pull - self.epsilon, curvature, None if self.low is None else -self.low)
        return trimmed(max(above, below) + bend.constant / 2, 1)


class OfTube(Quadratic):
    """One sample of a loss whose ε is an unknown: the gain is without it."""

    def gain(self, alpha):
        return self.a * alpha


class Logistic(NamedTuple):
    """One sample of the logistic loss."""

    high: Fraction  # the price, which is the largest α
    low: Fraction = Fraction(0)
    a: Fraction = Fraction(1)

    @property
    def kappa(self):
        return 4 / self.high

    def gain(self, alpha):
        parts = (alpha, self.high - alpha)
        return sum((-part * logarithm(part / self.high, 1) for part in parts if 0 < part < self.high), Fraction(0))

    def corners(self, _):
        return [[self.low], [self.high]]

    def loss(self, z):
        return self.high * log_one_plus_exp(-z[0], 1)

    def nearest(self, z):
        share, blur = chance(-z[0])
        return [self.high * share], self.high * blur

    def cost(self, margin, bend):
        return curved_cost(self, [margin], bend._replace(linear=[bend.linear]))


class Poisson(NamedTuple):
    """One sample of the Poisson loss. Beside the gain, a gap is compared with h where f vanishes."""

    price: Fraction
    low: Fraction
    high: Fraction  # h
    a: Fraction = Fraction(0)

    @property
    def kappa(self):
        return 1 / (self.high - self.low)

    def _entropy(self, u, side):
        """u log(u/c) − u."""
        return u * logarithm(u / self.price, side) - u if u else Fraction(0)

    def gain(self, alpha):
        return self._entropy(self.high, -1) - self._entropy(self.high - alpha, 1)

    def corners(self, _):
        return [[self.low], [self.high]]

    def loss(self, z):
        return self.price * exponential(z[0], 1) - self.high * z[0] + self._entropy(self.high, 1)

    def nearest(self, z):
        low, high = (max(self.high - self.price * exponential(z[0], side), self.low) for side in (1, -1))
        return [high], high - low

    def cost(self, margin, bend):
        return curved_cost(self, [margin], bend._replace(linear=[bend.linear]))


def curved_cost(sample, z, bend):
    """The supremum from above for a gain whose curvature is at least κ: the best of some x. `nearest` is p and a bound
    on its error; `corners` are the vertices of the domain, for so many outputs."""
    a, linear, constant = bend
    if not a:
        return sample.loss([output + b for output, b in zip(z, linear, strict=True)]) + constant / 2
    costs, x = [], [b / a for b in linear]
    for _ in range(4):
        moved = [output + b - a * here for output, b, here in zip(z, linear, x, strict=True)]
        p, blur = sample.nearest(moved)
        away = max(distance(corner, x) for corner in sample.corners(len(z)))
        if a < sample.kappa:
            away = min(away, (root(distance(p, x), 1) + blur) ** 2 / (1 - a / sample.kappa))
        costs.append(sample.loss(moved) + (constant - a * dot(x, x) + a * away) / 2)
        x = [trimmed(value, 1) for value in p]
    return trimmed(min(costs), 1)


def distance(x, y):
    """Squared."""
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def top(slope, curvature, end):
    """The largest value of slope·x − ½ curvature·x² for 0 ≤ x ≤ end."""
    if slope <= 0 and curvature >= 0:
        return Fraction(0)
    if curvature > 0 and (end is None or slope <= curvature * end):
        return slope * slope / (2 * curvature)
    require(end is not None, "certificate.ridge: it outweighs the curvature of the loss, and alpha has no bound")
    return max(Fraction(0), slope * end - curvature * end * end / 2)


# ---------------------------------------------------------------------------------------------- losses of a problem
def name_of(parameters):
    """The loss that the parameters name, or that C or nu sets."""
    name = parameters.get("loss", "nu" if "nu" in parameters else "hinge")
    require(isinstance(name, str) and name in TARGETS, f"parameters.loss: {name!r:.40} is not one of {list(TARGETS)}")
    named = "loss" in parameters
    require(named != (name in ("hinge", "nu")), "parameters.loss: C stands for hinge and nu for nu, without a name")
    return name


def wanted(name):
    """The parameters of a loss, and their limits."""
    price = "nu" if name in FREE_MARGIN else "C"
    named = {} if name in ("hinge", "nu") else {"loss": "word"}
    return {**named, price: price, "bias": "flag", **OWN.get(name, {})}


def targets(name, y, n):
    """Signs and real targets; the latter are 0 where there are none."""
    kind = TARGETS[name]
    if kind == NONE:
        require(y is None, f"target: loss {name} takes none, the instance has some")
        return np.ones(n, int), np.zeros(n)
    require(y is not None and np.shape(y) == (n,), f"target: loss {name} needs {kind}, one number per sample")
    values = np.asarray(y, dtype=float)
    if kind == LABELS:
        require(set(np.unique(values)) == {-1.0, 1.0}, "y: the instance's labels are not −1 and +1")
        return values.astype(int), np.zeros(n)
    require(np.isfinite(values).all(), "response: the instance's has entries that are not finite")
    require(name != "poisson" or (values >= 0).all(), "response: loss poisson takes counts, and one is negative")
    return np.ones(n, int), values


def prices_of(name, own, weight, n):
    """The doubles c."""
    return (1.0 / (own["nu"] * n) if name in FREE_MARGIN else own["C"]) * np.asarray(weight, dtype=float) * np.ones(n)


def most_of(name, given, weight, n):
    """N, the largest ‖α‖₁, a double; None where there is none."""
    own = {key: float(value) for key, value in given.items()}
    return Fraction(own["nu"] * math.fsum(prices_of(name, own, weight, n))) if name in FREE_TUBE else None


def samples_of(name, given, y, signs, weight, bias, level=Fraction(0)):
    """The loss of every sample; the level is ρ or ε where it is an unknown."""
    n, own = len(signs), {key: float(value) for key, value in given.items()}
    c = prices_of(name, own, weight, n)
    prices = [Fraction(x) for x in c.tolist()]
    if name == "logistic":
        return [Logistic(price) for price in prices]
    if name == "poisson":
        low = Fraction(-4 * math.fsum(c * (1 + y * np.sqrt(y))))
        return [Poisson(price, low, Fraction(h)) for price, h in zip(prices, (c * y).tolist(), strict=True)]
    low, high = (infinite_or_exact(end, n) for end in ENDS[name](c, own))
    if name in FREE_MARGIN:
        a, high = [level] * n, wide_enough(prices, signs, bias)
    else:
        a = [Fraction(x) for x in y.tolist()] if TARGETS[name] == REAL else [Fraction(1)] * n
    if name in FREE_TUBE:
        return [OfTube(a[i], level, Fraction(0), low[i], high[i]) for i in range(n)]
    epsilon, rise = given.get("epsilon", Fraction(0)), given.get("width", Fraction(int(name in SQUARES)))
    return [Quadratic(a[i], epsilon, rise / prices[i], low[i], high[i]) for i in range(n)]


def infinite_or_exact(end, n):
    return [None] * n if end is None else [Fraction(x) for x in end.tolist()]


def wide_enough(box, signs, bias):
    """The boxes; where they are too narrow for Σα = 1, rounded up to be just wide enough."""
    floors = [b // GRID * GRID for b in box]
    sides = [sum(f for f, sign in zip(floors, signs, strict=True) if sign == side) for side in (-1, 1)]
    narrow = 2 * min(sides) < 1 if bias else sum(sides) < 1
    return [f + GRID for f in floors] if narrow else box


def feasible(alpha, signs, samples, bias, free_margin, most=None):
    """Require α in its box, and its sums. `most` is N."""
    exact = fractions(alpha).tolist()
    for value, sample in zip(exact, samples, strict=True):
        inside = (sample.low is None or sample.low <= value) and (sample.high is None or value <= sample.high)
        require(inside, "alpha leaves its box")
    signed = sum((value * int(sign) for value, sign in zip(exact, signs, strict=True)), Fraction(0))
    words = "y'alpha is not zero" if -1 in signs else "alpha does not sum to zero"
    require(not bias or signed == 0, words)
    require(not free_margin or sum(exact, Fraction(0)) == 1, "alpha does not sum to one")
    length = sum(map(abs, exact), Fraction(0))
    require(most is None or length <= most, "the sum of |alpha| is larger than nu times that of the prices")
