"""Audit a solution file of a single task: python -m mklcvx.checker INSTANCE.npz SOLUTION.json|.npz

Only the point is taken from the file. With n samples, kernels K_m, signs s (labels; 1 for other targets), β = s∘α,
q_m(α) = β'K_mβ, R a convex price of weights μ ≥ 0 with conjugate R*, and g the gain of a loss, whose parameter C or ν
and weights of samples set the prices (`losses.py`), the file is about the optimal value

    v = max over α of Σ_i g_i(α_i) − R*(½ q(α)),     low ≤ α ≤ high, s'α = 0 with a bias, Σα = 1 where ρ is free,
                                                     ‖α‖₁ ≤ N where ε is: then the file's ε ≥ 0 may be any.

Both bounds are those of `outputs.py` with one output; a free ρ is taken off the upper one, and Nε added to it. The bias
b is the sum of two doubles. With margins m_i = s_i z_i the supremum for the hinge is at an end of the box: it is
max(½δc_i², box_i(1 − m_i) + ½δ(box_i − s_i c_i)²).

li, ckl and vskl have penalties U of the norms, with conjugate U*(√q), and need semidefinite kernels: their files are
about K̃_m = K_m + δ_m I ⪰ 0, and prove Σg(α) − U*(√q̃) ≤ v ≤ t²U(a) + Σ_i sup of [g_i(α̂_i) − α̂_i m_i] [+ Nε] with
q̃_m = q_m + δ_m‖β‖², a_m = √(c_m'K̃_m c_m) and m_i = t s_i(Σ_m K̃_m c_m + b)_i.

Both bounds are evaluated exactly from the stored numbers (quotients, roots and logarithms to fifty digits, to the side
that counts), and every claim is held against an interval of its own. `numbers.py` has the arithmetic and the proof of
δ, `prices.py` R and U, `losses.py` the losses, `claims.py` the comparison; none of them depends on the rest of mklcvx.
"""

from fractions import Fraction

import numpy as np

from .claims import UNITS, Bias, Point, number, numbers, parameters_of
from .files import read_solution
from .losses import (
    FREE_MARGIN,
    LEVELS,
    NONE,
    TARGETS,
    Poisson,
    feasible,
    most_of,
    name_of,
    samples_of,
    targets,
    wanted,
)  # fmt: skip
from .numbers import dot, fractions, positive, require, root, stack_of
from .outputs import (
    WITH_TAU,
    Functions,
    balanced,
    output_by_output,
    point_of,
    proved_ridges,
    ridged,
    sides_of,
    stretch_of,
    two_bounds,
    two_sides,
)
from .prices import BLOCKWISE, block_conjugate, block_penalty, domain, dual_cost, groups_of

__all__ = ["check", "dual_cost", "read_solution"]
OWN = {
    "svm": {}, "sum": {}, "average": {}, "l1": {}, "l2": {}, "li": {}, "ckl": {},
    "sm1": {"theta": "cap"}, "sm2": {"theta": "theta"}, "square": {"theta": "theta"}, "lp": {"p": "ball"},
    "smp": {"theta": "theta", "p": "power"}, "elastic": {"l1_ratio": "l1_ratio"}, "vskl": {"s": "s"},
    "block_elastic": {"l1_ratio": "l1_ratio"}, "group_lasso": {"lam": "lam"},
}  # fmt: skip


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
    loss, blocks = name_of(record["parameters"]), name in BLOCKWISE
    require(not blocks or loss not in FREE_MARGIN, f"parameters: {name} has no ν-form")
    given = parameters_of(record, wanted(loss) | OWN[name], count)
    nu, bias = loss in FREE_MARGIN, record["parameters"]["bias"]
    require(loss != "one_class" or not bias, "parameters.bias: loss one_class has none")
    signs, response = targets(loss, y, n)
    implied = record["coefficients"] is None
    at = point_of(record, stack, signs, bias, stretch_of(record, not nu and (blocks or implied)), not blocks)
    weights = numbers(record["weights"], (count,), "weights", blocks and not implied)
    level, most = level_of(record, loss), most_of(loss, given, weight, n)
    require(most is None or level >= 0, "multipliers.epsilon: below 0")
    paid = -level if nu else level * (most or 0)
    losses = samples_of(loss, given, response, signs, weight, bias, level)
    feasible(at.alpha[0], signs, losses, bias, nu, most)
    at = at._replace(samples=output_by_output([losses], at.signs))
    if blocks:
        at, sides, point = blockwise(name, given, at, weights, groups_of(groups, name, count), record, paid)
    else:
        at = ridged(record, at._replace(mu=domain(name, weights, given)), bias)
        sides = two_sides(at)
        point = two_bounds(record, given, at, sides, Fraction(0) if nu else at.gain(), paid)
    # what a gap is compared with where f vanishes: the gain, for counts with their prices times themselves
    counts = sum((loss.high for loss in losses if isinstance(loss, Poisson)), Fraction(0))
    terms = {"terms": point.terms + counts, "gain": point.gain + counts, "gain_terms": point.gain_terms + counts}
    return point._replace(bias=not levelled(record) and risk_of_biases(at, sides), products=at.products(), **terms)


def level_of(record, loss):
    """ρ or ε, where it is an unknown."""
    unknown = LEVELS.get(loss)
    return number(record["multipliers"].get(unknown), f"multipliers.{unknown}") if unknown else Fraction(0)


def risk_of_biases(at, sides):
    """The bias, and the risk of others."""
    outputs, ridge = sum(sides.functions.parts), at.no_ridge()
    size = sides.sizes.max() + max(abs(sample.losses[0].a) for sample in at.samples)
    return Bias(at.bias[0], size * (UNITS + at.stretch - 1), lambda b: sum(at.costs(outputs + b, ridge)))


# ----------------------------------------------------------------------------------------------- li, ckl and vskl
def blockwise(name, given, at, weights, groups, record, level):
    """Both bounds from coefficients, which are weight_m(α∘y) where the file has none; `level` is what ε costs."""
    stack, alpha, bias = at.kernels, at.exact_alpha, record["parameters"]["bias"]
    beta = fractions(at.alpha * at.signs)
    seen = [k.image(beta.T).T for k in stack]
    q = [dot(beta, image) for image in seen]
    if at.coefficients is None:
        mu, centred = list(fractions(weights)), [bias] * len(stack)
        require(all(w >= 0 for w in mu), "weights: a weight is negative")
        own, images = [w * beta for w in mu], [w * image for w, image in zip(mu, seen, strict=True)]
    else:
        mu, centred = [Fraction(0)] * len(stack), balanced(at.coefficients, bias)
        own = list(np.moveaxis(fractions(at.coefficients), 1, 0))
        images = [k.image(c.T).T for k, c in zip(stack, own, strict=True)]
    squares = [dot(c, image) for c, image in zip(own, images, strict=True)]
    ridges = proved_ridges(record, stack, [True] * len(stack), centred)
    lifted = [x + delta * dot(alpha, alpha) for x, delta in zip(q, ridges, strict=True)]
    each = [x + delta * dot(c, c) for x, delta, c in zip(squares, ridges, own, strict=True)]
    norms, t = [root(positive(x), 1) for x in each], at.stretch
    parts = [image + delta * c for image, delta, c in zip(images, ridges, own, strict=True)]
    at = at._replace(mu=mu)
    sides = sides_of(at, q, Functions(parts, Fraction(0), squares, at.no_ridge()))
    cost, gain = dual_cost(name, lifted, given, groups), at.gain()
    price = t * t * block_penalty(name, norms, given, groups, 1)
    scale = t * t * block_penalty(name, [root(positive(x), -1) for x in each], given, groups, -1)
    scale += block_conjugate(name, [root(positive(x), -1) for x in lifted], given, groups, -1)
    rate = t * sum(norm * root(delta, 1) for norm, delta in zip(norms, ridges, strict=True))
    upper, losses = sides.upper + price + level, [sample.losses[0] for sample in at.samples]
    stored = gain - dual_cost(name, q, given, groups), upper + unlifted(losses, sides.upper, rate)
    terms, norms = sides.terms + cost + price + abs(level) + sides.gains, [(x, Fraction(1)) for x in squares]
    gained = {"gain": positive(gain), "gain_terms": sides.gains}
    return at, sides, Point(gain - cost, upper, scale, terms, max(ridges), norms, stored=stored, **gained)


def unlifted(losses, paid, rate):
    """The most that rate·‖α̂‖, which √q̃ ≤ √q + √δ‖α̂‖ adds for the kernels as stored, makes of what the margins cost:
    rate times the longest α̂; or with a curvature κ of all gains rate·‖α*‖ + rate²/(2κ), ½κ‖α*‖² being paid at least."""
    if not rate:
        return rate
    ends = [(loss.low, loss.high) for loss in losses]
    if all(None not in pair for pair in ends):
        return rate * root(sum((max(-low, high) ** 2 for low, high in ends), Fraction(0)), 1)
    kappa = min(loss.kappa for loss in losses)
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
