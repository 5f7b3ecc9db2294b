"""Audit a solution file of many labels, two stages or hypergraphs, as `audit.py` does for single tasks:

    python -m mklcvx.checker.families INSTANCE.npz SOLUTION.json|.npz

The weights μ lie exactly on their set. T_ij = +1 if samples i and j belong together, else −1.

ml_sum, ml_minimax   k classifiers without bias, α^k in [0, box]. With h_k the upper bound of `audit.py` for class k at
                     the weights μ, and γ = 1 for ml_sum, on the simplex for ml_minimax,
                     Σ_k γ_k 1'α^k − max_m ½Σ_k γ_k q_m^k ≤ v ≤ Σ_k h_k, or max_k h_k for ml_minimax.
ts, ts_l1            pairs i ≤ j with weights w, margins t_ij = T_ij Σ μ_m K_m,ij, sums P_m = Σ β_ij T_ij K_m,ij,
                     0 ≤ β ≤ w.  ts: Σβ − ‖P₊‖²/(2λ) ≤ v ≤ (λ/2)‖μ‖² + Σ w(1 − t)₊.
                     ts_l1, where P ≤ λ: Σβ ≤ v ≤ λΣμ + Σ w(1 − t)₊.
alignment            ⟨K(μ), T⟩/‖K(μ)‖ ≤ v ≤ ‖W‖ for any W with ⟨K_m, W⟩ ≥ ⟨K_m, T⟩ for every m: K(u) + δI
                     with the file's u, or one of ours, and the least δ. If `approximate`, μ_m are in proportion to
                     ⟨K_m, T⟩₊/‖K_m‖, to nine digits.
hypergraph(_smooth)  HH' = I − 𝓛 from the labels, P = I + K(μ)/λ, S_m(Z) = ¼‖Z‖² + tr(Z'K_mZ)/(4λ) − tr(Z'H):
                     −tr(H'P⁻¹H) [+ σ·entropy(μ)] ≤ v ≤ max_m S_m(Z)  [σ log Σ exp(S_m/σ)].
                     Only HH' matters: with the best rotation of H, tr(Z'H) is the sum of the singular values of Z'H.
                     With K(μ) + δI ⪰ 0 and any X, R = H − PX:
                     tr(H'P⁻¹H) ≤ 2tr(X'H) − tr(X'PX) + ‖R‖²/(1 − δ/λ).
                     The embedding B has as many columns as `dimensions` says, or fewer where eigenvalues vanish.

The second stage of ts, ts_l1 and alignment, SVMs with a bias and the kernel K(μ), is audited like `sum`, with the
stretch t and the ridge δ that the file has for each of them.
"""

import math
import sys
from fractions import Fraction

import numpy as np

from .audit import Machine, biases, low_part, proved_ridge, ridged, smaller_ridge, two_sides
from .claims import NOTHING, PAIRS, VANISHING, Point, audited, number, numbers, parameters_of, targets_of
from .losses import feasible, samples_of
from .numbers import (
    dot,
    dyadic,
    entropy,
    fractions,
    is_semidefinite,
    positive,
    require,
    root,
    smoothed_largest,
    stack_of,
    whole,
)

HYPERGRAPH = {"lam": "lam", "dimensions": "dimensions", "expansion": "word"}
PARAMETERS = {
    "ml_sum": {"C": "C", "bias": "flag"},
    "ml_minimax": {"C": "C", "bias": "flag"},
    "ts": {"C": "C", "lam": "lam", "balanced": "flag"},
    "ts_l1": {"C": "C", "lam": "lam", "balanced": "flag"},
    "alignment": {"C": "C", "approximate": "flag"},
    "hypergraph": HYPERGRAPH,
    "hypergraph_smooth": HYPERGRAPH | {"smoothing": "smoothing"},
}
FINE = 2**200  # the grid of roots in H


def check(kernels, labels, record, weight=1.0):
    """(lower, upper) as this solution's point proves them, rounded outward; `labels` (n, k) in {0, 1}, one column for
    labels ±1."""
    return evaluated(kernels, np.asarray(labels), record, weight).interval()


def evaluated(kernels, labels, record, weight=1.0):
    """Both bounds at the record's point, exactly."""
    stack, name = stack_of(kernels), record["formulation"]
    require(name in PARAMETERS, f"formulation: {name!r:.40} is not one of {', '.join(PARAMETERS)}")
    second = "second_stage_gap" in record["multipliers"]
    given = parameters_of(record, PARAMETERS[name] | ({"C": "C"} if second else {}), len(stack))
    mu = list(fractions(numbers(record["weights"], (len(stack),), "weights")))
    require(all(w >= 0 for w in mu), "weights: a weight is negative")
    if name.startswith(("ml_", "hypergraph")):
        on_simplex(mu, "weights: they do")
    signs = np.where(labels.T > 0, 1, -1)
    if name.startswith("ml_"):
        return many_labels(stack, signs, mu, record, given, weight)
    stretch = record["certificate"].get("stretch")
    require(stretch is None or number(stretch, "certificate.stretch") == 1, "certificate.stretch: must be 1 here")
    require(record["coefficients"] is None, "coefficients: there are none in this family")
    if name.startswith("hypergraph"):
        point = hypergraph(stack, (labels > 0).astype(int), mu, record, given)
    elif name == "alignment":
        point = alignment(stack, belonging(labels, record["target"]), mu, record)
    else:
        point = pairs(stack, belonging(labels, record["target"]), mu, record, given)
    if second:
        stages = list(second_stage(stack, signs, mu, record, given, weight))
        return point._replace(second=max(map(share, stages)), stages=stages)
    alone = name.startswith("hypergraph") and record["alpha"] is None
    require(alone and record.get("alpha_low") is None, "multipliers.second_stage_gap: missing")
    require(not any(biases({**record, "bias": [record["bias"]]}, (1,))), "bias: there is none in this family")
    return point


def on_simplex(values, what):
    require(all(x >= 0 for x in values) and sum(values) == 1, f"{what} not sum to one")


# ----------------------------------------------------------------------------------------------------- many labels
def many_labels(stack, signs, mu, record, given, weight):
    classes, n = signs.shape
    count, own = len(stack), record["coefficients"]
    alpha = numbers(record["alpha"], (classes, n), "alpha")
    coefficients = [None] * classes if own is None else numbers(own, (classes, count, n), "coefficients")
    require(not record["parameters"]["bias"], "parameters.bias: there is none in this family")
    require(not any(biases(record, (classes,))), "bias: there is none in this family")
    low = low_part(record, (classes, n), False, own is None)
    stretch = number(record["certificate"].get("stretch", 1.0), "certificate.stretch")
    require(stretch >= 1 and (own is None or stretch == 1), "certificate.stretch: below 1, or not 1 for coefficients")
    samples = samples_of("hinge", {"C": given["C"]}, None, signs[0], weight, False)
    gamma = [Fraction(1)] * classes
    if record["formulation"] == "ml_minimax":
        gamma = list(fractions(numbers(record["multipliers"].get("gamma"), (classes,), "multipliers.gamma")))
        on_simplex(gamma, "multipliers.gamma: they do")
    lows = [None] * classes if low is None else low
    machines = [
        Machine(stack, y, samples, a, mu, c, stretch=stretch, low=fine)
        for y, a, c, fine in zip(signs, alpha, coefficients, lows, strict=True)
    ]
    first = ridged(record, machines[0], False)
    machines = [machine._replace(ridge=first.ridge, ridges=first.ridges) for machine in machines]
    for machine in machines:
        feasible(machine.alpha, machine.signs, samples, False, False)
    sides = [two_sides(machine) for machine in machines]
    q = [dot(gamma, [side.q[m] for side in sides]) for m in range(count)]
    gain = dot(gamma, [sum(fractions(a)) for a in alpha])
    uppers = [side.upper for side in sides]
    upper = sum(uppers) if record["formulation"] == "ml_sum" else max(uppers)
    penalty = dot(gamma, [side.penalty for side in sides])
    norms = [(sum(positive(side.squares[m]) for side in sides), w) for m, w in enumerate(mu)]
    terms, slopes = gain + abs(upper) + sum(side.terms + side.gains for side in sides), [x / 2 for x in q]
    products = sum(machine.products() for machine in machines)
    scale = (dot(mu, q) + penalty) / 2
    return Point(gain - max(slopes), upper, scale, terms, first.ridge, norms, slopes, products=products)


# ------------------------------------------------------------------------------------------------------ two stages
def belonging(labels, target):
    """T: +1 for two samples of the same class, or with a label in common."""
    members = (labels > 0).astype(int)
    same = members @ members.T > 0 if target == "labels" else (members[:, None] == members).all(axis=2)
    return np.where(same | np.eye(len(labels), dtype=bool), 1, -1)


def combination(stack, weights):
    """Σ w_m K_m for dyadic weights, in whole numbers, with its exponent."""
    parts = [(w, *kernel.entries()) for w, kernel in zip(weights, stack, strict=True)]
    least = min(exponent - w.denominator.bit_length() for w, _, exponent in parts)
    return sum(entries * int(w * dyadic(1, exponent - least)) for w, entries, exponent in parts), least


def pairs(stack, together, mu, record, given):
    triangle = np.triu_indices(len(together))
    t, lam = together[triangle], given["lam"]
    balanced = record["parameters"]["balanced"]
    shares = {side: Fraction(1, 2 * max(int((t == side).sum()), 1) if balanced else len(t)) for side in (1, -1)}
    given_beta = record["multipliers"].get("beta")
    require(given_beta is not None, "multipliers.beta: too large for JSON: give the solution as .npz")
    beta = numbers(given_beta, t.shape, "multipliers.beta")
    inside = all(0 <= b <= shares[side] for b, side in zip(fractions(beta), t, strict=True))
    require(inside, "multipliers.beta: it leaves its box")
    forces, exponent = whole(beta)
    signed = forces * t.astype(object)
    own = [kernel.entries() for kernel in stack]
    pulls = [dyadic(int(signed @ entries[triangle]), exponent + size) for entries, size in own]
    sizes = [dyadic(int(forces @ abs(entries[triangle])), exponent + size) for entries, size in own]
    entries, size = combination(stack, mu)
    margins, size = entries[triangle] * t.astype(object) << max(size, 0), min(size, 0)
    missing = np.maximum((1 << -size) - margins, 0)
    loss = sum(shares[side] * dyadic(int(missing[t == side].sum()), size) for side in (1, -1))
    gain, price = dyadic(int(forces.sum()), exponent), lam * sum(mu)
    cost = sum(positive(x) ** 2 for x in pulls) / (2 * lam)
    terms = gain + loss + dot(mu, sizes)
    if record["formulation"] == "ts":
        price = lam / 2 * dot(mu, mu)
        return Point(gain - cost, price + loss, price + cost, terms + price + cost, slopes=pulls)
    require(max(pulls) <= lam, "multipliers.beta: a sum P_m exceeds lambda")
    return Point(gain, price + loss, price, terms + price, slopes=pulls)


def alignment(stack, together, mu, record):
    n, target = len(together), together.astype(object)
    all_entries = [kernel.entries() for kernel in stack]
    reach = [dyadic(int((entries * target).sum()), e) for entries, e in all_entries]
    traces = [dyadic(int(np.trace(entries)), e) for entries, e in all_entries]
    lengths = [dyadic(int((entries * entries).sum()), 2 * e) for entries, e in all_entries]
    if record["parameters"]["approximate"]:
        own_alignment(mu, reach, lengths)

    def seen(weights):
        """⟨K_m, K(u)⟩ for every m."""
        whole_kernel, size = combination(stack, weights)
        return [dyadic(int((entries * whole_kernel).sum()), e + size) for entries, e in all_entries]

    def length(u, products):
        """‖K(u) + δI‖² with the least δ, or None."""
        short = [a - x for a, x in zip(reach, products, strict=True)]
        if any(s > 0 >= trace for s, trace in zip(short, traces, strict=True)):
            return None
        delta = max([Fraction(0)] + [s / trace for s, trace in zip(short, traces, strict=True) if trace > 0])
        return dot(u, products) + 2 * delta * dot(u, traces) + delta**2 * n

    own, found = seen(mu), projection(stack, reach, seen)
    square, aim = dot(mu, own), dot(mu, reach)
    factor = positive(aim) / square if square > 0 else Fraction(0)
    ray = length([factor * w for w in mu], [factor * x for x in own])
    said = record["multipliers"].get("witness")
    u = mu if said is None else fractions(numbers(said, (len(stack),), "multipliers.witness"))
    lengths = [x for x in (ray, length(*found), length(u, seen(u))) if x is not None]
    require(lengths, "certificate.upper: no W was found")
    upper = root(positive(min(lengths)), 1)
    lower = aim / root(square, 1 if aim > 0 else -1) if square > 0 else Fraction(0)
    # ‖T‖ = n is what an alignment would be if nothing cancelled
    return Point(lower, upper, upper, Fraction(n), gain=Fraction(n))


def own_alignment(mu, reach, squares):
    """Require μ_m in proportion to ⟨K_m, T⟩₊/‖K_m‖, to nine digits of the largest."""
    each = zip(reach, squares, strict=True)
    wanted = [positive(x) / root(square, 1) if square else Fraction(0) for x, square in each]
    off = max(abs(w * max(wanted) - max(mu) * x) for w, x in zip(mu, wanted, strict=True))
    near = off <= max(mu) * max(wanted) / 10**9
    require(near, "parameters.approximate: the weights are not in proportion to every kernel's own alignment")


def projection(stack, reach, seen):
    """The v ≥ 0 that minimises v'Gv − 2a'v, G_ml = ⟨K_m, K_l⟩: found in doubles, then refined on its support."""
    dense = np.stack([k.factor @ k.factor.T if k.dense is None else k.dense for k in stack]).reshape(len(stack), -1)
    gram, a = dense @ dense.T, np.array([float(x) for x in reach])
    sizes = np.where(np.diagonal(gram) > 0, np.diagonal(gram), 1.0)
    v = np.zeros(len(a))
    for _ in range(2000):
        before = v.copy()
        for m in range(len(a)):
            v[m] = max(0.0, v[m] + (a[m] - gram[m] @ v) / sizes[m])
        if np.abs(v - before).max() <= 1e-14 * np.abs(v).max():
            break
    support = np.flatnonzero(v > 1e-12 * v.max())
    while (solved(gram, support, a) < 0).any():
        support = support[solved(gram, support, a) >= 0]
    u, rest = fractions(np.zeros(len(a))), a
    for _ in range(3):
        u[support] += fractions(solved(gram, support, rest))
        products = seen(u)
        rest = np.array([float(x - y) for x, y in zip(reach, products, strict=True)])
    return u, products


def solved(gram, support, right):
    return np.linalg.lstsq(gram[np.ix_(support, support)], right[support], rcond=None)[0]


def second_stage(stack, signs, mu, record, given, weight):
    """Of every SVM with the kernel K(μ): both bounds, and what their gap is divided by."""
    rows = signs if record["target"] != "y" else signs[0]
    alpha = np.atleast_2d(numbers(record["alpha"], rows.shape, "alpha"))
    single = record["target"] == "y"
    low = low_part(record, rows.shape, True)
    lows = [None] * len(signs) if low is None else np.atleast_2d(low)
    shifts = biases({**record, "bias": [record["bias"]]} if single else record, (len(signs),))
    stretches = of_machines(record, "second_stage_stretch", len(signs), single)
    require(min(stretches, default=1) >= 1, "multipliers.second_stage_stretch: below 1")
    stretches = stretches or [Fraction(1)] * len(signs)
    ridges = of_machines(record, "second_stage_ridge", len(signs), single)
    for delta in set(ridges):
        proved = is_semidefinite(stack, [float(w) for w in mu], delta, True)
        require(proved, "multipliers.second_stage_ridge: ridge is not proved")
    ridges = ridges or [smaller_ridge(record, stack, mu)] * len(signs)
    for y, a, fine, bias, t, ridge in zip(signs, alpha, lows, shifts, stretches, ridges, strict=True):
        require(set(y) == {-1, 1}, "y: the instance's labels are not −1 and +1")
        samples = samples_of("hinge", {"C": given["C"]}, None, y, weight, True)
        feasible(a, y, samples, True, False)
        machine = Machine(stack, y, samples, a, mu, None, bias, t, fine, ridge)
        sides, gain = two_sides(machine), sum(fractions(a))
        energy = (dot(mu, sides.q) + sides.penalty) / 2
        lower = gain - dot(mu, sides.q) / 2
        base = energy if energy > VANISHING * gain else gain
        require(base > 0 or sides.upper - lower <= NOTHING, "multipliers.second_stage_gap: the SVMs prove nothing")
        yield lower, sides.upper, base


def share(stage):
    """The relative gap of an SVM."""
    lower, upper, base = stage
    return (upper - lower) / base if upper - lower > NOTHING else Fraction(0)


def of_machines(record, name, count, single):
    """A number of every SVM, or one alone; none in files that do not have it."""
    if name not in record["multipliers"]:
        return []
    said = numbers(record["multipliers"][name], () if single else (count,), f"multipliers.{name}")
    return list(fractions(np.atleast_1d(said)))


# ------------------------------------------------------------------------------------------------------ hypergraphs
def hypergraph(stack, labels, mu, record, given):
    h, blur = incidence(labels, record["parameters"]["expansion"])
    n, edges = h.shape
    dimensions, lam = given["dimensions"], given["lam"]
    require(dimensions <= np.linalg.matrix_rank(labels), "parameters.dimensions: more than the rank of HH'")
    stored = record["multipliers"].get("Z")
    require(stored is not None, "multipliers.Z: too large for JSON: give the solution as .npz")
    z = numbers(stored, np.shape(stored) if np.ndim(stored) == 2 else (n, edges), "multipliers.Z")
    require(len(z) == n, "multipliers.Z: not one row per sample")
    if record["alpha"] is None:
        embedded(stack, mu, lam, h, dimensions, record["multipliers"].get("B"))
    exact = fractions(z)
    common = dot(exact, exact) / 4 - turned(exact, h) + root(dot(exact, exact), 1) * blur
    pulls = [dot(exact, kernel.image(z)) / (4 * lam) for kernel in stack]
    scores = [common + pull for pull in pulls]
    ridge, trace = above_trace(stack, h, blur, mu, lam, record)
    smoothing, total = given.get("smoothing"), dot(h, h)
    lower = -trace if smoothing is None else -trace + smoothing * entropy(mu, -1)
    upper = max(scores) if smoothing is None else smoothed_largest(scores, smoothing, 1)
    scale = total - 2 * blur * root(total, 1) - trace
    terms = total + trace + abs(upper) + dot(exact, exact) + (smoothing or 0) * len(mu)
    return Point(lower, upper, scale, terms, ridge, slopes=pulls, off=terms / 2**48)  # H was rounded


def embedded(stack, mu, lam, h, dimensions, basis):
    """Require of B so many columns as there are dimensions, or eigenvalues of H'K(μ)(K(μ) + λI)⁻¹H that count."""
    require(np.ndim(basis) == 2 and len(basis) == len(h), "multipliers.B: not one row per sample")
    kernel, h = plain(stack, mu) / float(lam), h.astype(float)
    values = np.linalg.eigvalsh(h.T @ kernel @ np.linalg.solve(np.eye(len(h)) + kernel, h))[::-1]
    count, left = np.shape(basis)[1], values[np.shape(basis)[1] : int(dimensions)]
    full = count <= dimensions and (left <= 1e-9 * max(values[0], 0.0)).all()
    require(full, "parameters.dimensions: not those of the embedding B")


def plain(stack, mu):
    """K(μ) in doubles."""
    dense = [k.factor @ k.factor.T if k.dense is None else k.dense for k in stack]
    return sum(float(w) * k for w, k in zip(mu, dense, strict=True))


def above_trace(stack, h, blur, mu, lam, record):
    """δ, and an upper bound of tr(H'P⁻¹H)."""
    machine = Machine(stack, None, [], None, mu, None)
    ridge = proved_ridge(record, machine, False)
    require(ridge < lam, "certificate.ridge: not below lam")
    x = np.linalg.solve(np.eye(len(h)) + plain(stack, mu) / float(lam), h.astype(float))
    exact = fractions(x)
    image = exact + sum(w * k.image(x) for w, k in zip(mu, stack, strict=True) if w) / lam
    residual = h - image
    square, inverse = dot(residual, residual), 1 / (1 - ridge / lam)
    missed = 2 * root(dot(exact, exact), 1) * blur + (2 * root(square, 1) + blur) * blur * inverse
    return ridge, 2 * dot(exact, h) - dot(exact, image) + square * inverse + missed


def turned(z, h):
    """A lower bound of max tr(V'Z'H) over ‖V‖ ≤ 1: V from doubles, made orthogonal to thirty digits."""
    cross = z.T @ h
    left, _, right = np.linalg.svd(cross.astype(float), full_matrices=False)
    tall = left.shape[0] > right.shape[1]
    v = fractions((left @ right).T if tall else left @ right)
    for _ in range(2):
        v = (3 * v - (v @ v.T) @ v) / 2
        v = on_grid(v)
    off = v @ v.T - np.eye(len(v), dtype=int).astype(object)
    excess = root(dot(off, off), 1)
    require(excess < 1, "multipliers.Z: no rotation was found")
    return (1 - excess) * dot(v.T if tall else v, cross)


def incidence(labels, expansion):
    """H with HH' = I − 𝓛 up to an error, and a bound on its Frobenius norm; labels (n, k) in {0, 1}."""
    require(expansion in ("clique", "star", "zhou", "kcca"), "parameters.expansion: unknown")
    edges = [int(x) for x in labels.sum(axis=0)]
    require(all(edges), "labels: one of them has no sample")
    if expansion == "kcca":
        return orthonormal(labels)
    scales = {  # a member's squared share of its row, and of the degree of its vertex
        "clique": [(Fraction(1), Fraction(size)) for size in edges],
        "star": [(Fraction(1, size**2), Fraction(1, size)) for size in edges],
        "zhou": [(Fraction(1, size), Fraction(1)) for size in edges],
    }[expansion]
    h = np.full(labels.shape, Fraction(0), dtype=object)
    for i, row in enumerate(labels):
        degree = sum(share for member, (_, share) in zip(row, scales, strict=True) if member)
        for e in np.flatnonzero(row):
            h[i, e] = Fraction(math.isqrt(math.floor(scales[e][0] / degree * FINE**2)), FINE)
    return h, Fraction(h.size, FINE)


def orthonormal(labels):
    """A basis of the labels' span: independent labels times a factor T, with T'GT = I nearly, G their Gram matrix."""
    columns: list = []
    for column in labels.T.astype(object):
        rest = np.array([Fraction(int(x)) for x in column], dtype=object)
        for kept, square in columns:
            rest = rest - kept * (dot(kept, rest) / square)
        if any(rest):
            columns.append((rest, dot(rest, rest)))
    basis = [rest / root(square, -1) for rest, square in columns]
    h = on_grid(np.array(basis)).T
    return h, Fraction(2 * h.size, FINE)


def on_grid(values):
    """The nearest multiples of 1/FINE."""
    return np.array([Fraction(round(x * FINE), FINE) for x in values.ravel()], dtype=object).reshape(values.shape)


# ------------------------------------------------------------------------------------------------------------ files
def evaluated_file(data, record):
    kind, signs, _, _ = targets_of(data)
    require(kind not in ("response", "none"), "target: the instance needs one of y, classes and labels")
    labels = np.atleast_2d(signs).T > 0
    return evaluated(data["kernels"], labels.astype(int), record, data.get("sample_weight", 1.0))


def point_multipliers(record):
    """The multipliers that are part of the point, and the fields that are not checked here."""
    name = record["formulation"]
    used = {"ml_minimax": ["gamma"], "ts": ["beta"], "ts_l1": ["beta"], "hypergraph": ["Z"], "hypergraph_smooth": ["Z"]}
    second = ["second_stage_gap", "second_stage_stretch", "second_stage_ridge"]
    return [*used.get(name, []), *second], ["certificate.ridge"] if name in PAIRS else []


if __name__ == "__main__":
    sys.exit(audited(sys.argv[1:], evaluated_file, point_multipliers))
