"""Certificates of many labels, pairs, alignments and hypergraphs against exact arithmetic, without any slack.

Every stored number is a fraction. Both bounds are evaluated in fractions at the stored point, and so is their
difference; the certificate's numbers must lie outside.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from covering import covering
from exact_algebra import dot, exact, image, lifted, mixed, semidefinite, solved
from honest import evaluate, written
from mklcvx import Instance, formulations, second_stage, solve
from mklcvx.certificate import hypergraphs, labels, pairs
from mklcvx.certificate.pairs import ProvedPairs, weight_ends
from mklcvx.checker import families as checker
from mklcvx.checker.numbers import stack_of
from mklcvx.formulations import Task
from mklcvx.formulations.families.pairs import Pairs
from mklcvx.formulations.families.two_stage import pair_task
from mklcvx.problem.low_rank import LowRank
from mklcvx.problem.stack import KernelStack
from mklcvx.solvers.second_stage import classifier

pytestmark = pytest.mark.slow

SAMPLES, KERNELS = 6, 3
SCALES = [-40, -8, 0, 8, 40]
KINDS = ["whole", "rounded", "factors"]


# -------------------------------------------------------------------------------------------- exact arithmetic
def kernels_of(instance):
    """The stored lower triangles, mirrored; of factors, FF' exactly."""
    if isinstance(instance.kernels, LowRank):
        factors = [exact(instance.kernels.factor(m)) for m in range(instance.count)]
        return [[[dot(a, b) for b in factor] for a in factor] for factor in factors]
    stored = [exact(kernel) for kernel in instance.kernels]
    return [[[k[max(i, j)][min(i, j)] for j in range(len(k))] for i in range(len(k))] for k in stored]


def data(kind, scale, seed):
    """Kernels of whole numbers, as they come out of exponentials in single precision, or in factors."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(-3, 4, size=(KERNELS, SAMPLES, 4)).astype(float)
    if kind == "factors":
        return LowRank([2.0 ** (scale / 2) * factor for factor in factors])
    if kind == "whole":
        return 2.0**scale * factors @ factors.transpose(0, 2, 1)
    distances = np.sum((factors[:, :, None] - factors[:, None]) ** 2, axis=3)
    return (2.0**scale * np.exp(-0.1 * distances)).astype(np.float32)


@cache
def instance(kind, scale, seed, target="labels"):
    rng = np.random.default_rng(100 + seed)
    members = rng.integers(0, 2, size=(SAMPLES, 2))
    members[0], members[1], members[2] = (1, 0), (0, 1), (1, 1)
    if target == "y":
        return Instance(data(kind, scale, seed), y=2 * members[:, 0] - 1)
    return Instance(data(kind, scale, seed), labels=members)


# -------------------------------------------------------------------------------------------------- many labels
def label_bounds(problem, solution, found):
    """Both bounds at a point, by the checker's exact arithmetic."""
    record = written(solution) | {"alpha": found.alpha.tolist(), "weights": found.weights.tolist()}
    record["multipliers"]["gamma"] = found.gamma.tolist()
    record["certificate"] = {key: getattr(found.certificate, key) for key in ("stretch", "ridge")}
    record["coefficients"] = None
    if found.coefficients is not None:
        record["coefficients"] = found.coefficients.tolist()
        record["certificate"]["ridges"] = list(found.certificate.ridges)
    point = evaluate(problem, record)
    return point.lower, point.upper


def check(certificate, lower, upper):
    """No slack: floats are fractions."""
    assert exact(certificate.lower) <= lower
    assert upper <= exact(certificate.upper)
    assert upper - lower <= exact(certificate.gap)


@pytest.mark.parametrize(("kind", "scale", "name"), covering(KINDS, SCALES, ["ml_sum", "ml_minimax"]))
def test_many_labels(name, scale, kind):
    for seed, price in enumerate((1e-8, 0.3, 7.0, 1e8)):
        problem = instance(kind, scale, seed)
        rng = np.random.default_rng(seed)
        task, _ = formulations.get(name).task(problem, {"C": price})
        found = solve(problem, name, C=price)
        alpha, gamma = found.alpha, found.multipliers["gamma"]
        certified = labels.certified(name, task, alpha, found.weights, gamma, 1e-8, found.coefficients)
        assert certified.certificate == found.certificate
        check(found.certificate, *label_bounds(problem, found, certified))
        far = labels.certified(name, task, alpha * rng.random(alpha.shape), rng.dirichlet(np.ones(3)), gamma, 1e-8)
        check(far.certificate, *label_bounds(problem, found, far))
        functions = rng.normal(size=(2, 3, SAMPLES)) * alpha.max()
        own = labels.certified(name, task, alpha, rng.dirichlet(np.ones(3)), gamma, 1e-8, functions)
        check(own.certificate, *label_bounds(problem, found, own))


def test_coefficients_of_a_kernel_without_weight_are_dear():
    problem = instance("whole", 0, 0)
    task, _ = formulations.get("ml_sum").task(problem, {"C": 1.0})
    alpha, functions = np.zeros((2, SAMPLES)), np.ones((2, 3, SAMPLES))
    found = labels.certified("ml_sum", task, alpha, np.array([0.5, 0.5, 0.0]), np.ones(2), 1e-8, functions)
    assert 0 < found.weights[2] < 1e-14
    assert found.certificate.upper > 1e14
    check(found.certificate, *label_bounds(problem, solve(problem, "ml_sum"), found))


# -------------------------------------------------------------------------------------------------------- pairs
def pair_bounds(problem, solution, found):
    record = written(solution)
    record["multipliers"]["beta"] = found.beta.tolist()
    together, lam = problem.targets.together().astype(int), exact(solution.parameters["lam"])
    point = checker.pairs(stack_of(problem.kernels), together, exact(found.weights), record, {"lam": lam})
    return point.lower, point.upper


@pytest.mark.parametrize(("kind", "scale", "name"), covering(KINDS, SCALES, ["ts", "ts_l1"]))
def test_pairs(name, scale, kind):
    for seed, (lam, balanced) in enumerate(((1e-10, False), (1e-3, True), (1.0, False), (1e10, True))):
        problem = instance(kind, scale, seed, "y")
        rng = np.random.default_rng(seed)
        task, _ = formulations.get(name).task(problem, {"lam": lam, "balanced": balanced})
        solution = solve(problem, name, lam=lam, balanced=balanced)
        stored = ProvedPairs(solution.certificate, solution.multipliers["beta"], solution.weights)
        check(solution.certificate, *pair_bounds(problem, solution, stored))
        assert solution.objective == solution.certificate.upper
        mu, beta = rng.random(KERNELS) * 2.0**-scale, rng.random(len(task.labels)) * task.weight
        far = pairs.pairs_certified(name, task, beta, mu, 1e-8)
        check(far.certificate, *pair_bounds(problem, solution, far))


@pytest.mark.parametrize("balanced", [False, True])
def test_the_ends_of_a_weight_are_the_doubles_next_to_it(balanced):
    for n in range(4, 30):
        together = np.where(np.eye(n, dtype=bool) | (np.add.outer(np.arange(n), np.arange(n)) % 3 > 0), 1.0, -1.0)
        task = pair_task(KernelStack(np.ones((1, n, n))), together, balanced, 1.0)
        positive = task.labels > 0
        assert positive.any()
        assert not positive.all()
        for side in (positive, ~positive):
            meant = Fraction(1, 2 * int(side.sum())) if balanced else Fraction(2, n * (n + 1))
            down, up = (exact(ends[side][0]) for ends in weight_ends(task))
            assert down <= meant <= up
            assert down == up or up == exact(np.nextafter(float(down), 1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_alignments(scale, kind):
    for seed in range(2):
        problem = instance(kind, scale, seed, "y")
        kernels, together = kernels_of(problem), exact(problem.targets.together())
        rng, entries = np.random.default_rng(seed), Pairs(KernelStack(problem.kernels, symmetric=problem.symmetric))
        solution = solve(problem, "alignment", C=1.0)
        points = [(solution.weights, solution.multipliers["witness"]), (rng.random(3), rng.normal(size=3))]
        for mu, witness in points:
            found = pairs.alignment_certified(entries, problem.targets.together(), mu, witness, 1e-8)
            lower, upper = exact(found.certificate.lower), exact(found.certificate.upper)
            mix = mixed(exact(found.weights), kernels)
            along = sum(dot(a, b) for a, b in zip(mix, together, strict=True))
            square = sum(dot(row, row) for row in mix)
            assert lower >= 0
            assert lower**2 * square <= along**2 if square else lower == 0
            shield = lifted(mixed(exact(found.witness), kernels), exact(found.epsilon))
            for kernel in kernels:
                triples = list(zip(kernel, shield, together, strict=True))
                assert sum(dot(k, w) for k, w, _ in triples) >= sum(dot(k, t) for k, _, t in triples)
            assert sum(dot(row, row) for row in shield) <= upper**2
            assert exact(found.certificate.gap) >= upper - lower
        assert solution.objective == solution.certificate.lower
        assert solution.certificate.proves(1e-8)


# -------------------------------------------------------------------------------------------------- hypergraphs
def hypergraph_bounds(task, kernels, found):
    theta, z, h, lam = exact(found.weights), exact(found.z), exact(task.h), exact(task.lam)
    assert sum(theta) == 1
    flat = [entry for row in z for entry in row]
    common = dot(flat, flat) / 4 - dot(flat, [entry for row in h for entry in row])
    columns = list(zip(*z, strict=True))
    scores = [common + sum(dot(c, image(k, c)) for c in columns) / (4 * lam) for k in kernels]
    matrix = lifted([[entry / lam for entry in row] for row in mixed(theta, kernels)], Fraction(1))
    assert semidefinite(lifted(mixed(theta, kernels), exact(found.certificate.ridge)))
    trace = sum(dot(a, b) for a, b in zip(solved(matrix, h), h, strict=True))
    scale = sum(dot(row, row) for row in h) - trace
    assert exact(found.certificate.scale) <= scale
    return (-trace, max(scores)) if task.smoothing is None else smoothed(task, theta, scores, trace)


def smoothed(task, theta, scores, trace):
    """Entropies and exponentials to a hundred digits."""
    with localcontext() as context:
        context.prec = 100
        mu, top = Decimal(task.smoothing), decimal(max(scores))
        powers = [((decimal(s) - top) / mu) for s in scores]
        total = sum((p.exp() for p in powers if p > -10000), Decimal(0))
        entropy = -sum((decimal(t) * decimal(t).ln() for t in theta if t > 0), Decimal(0)) * mu
        return Fraction(entropy - decimal(trace)), Fraction(top + mu * total.ln())


def decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


@pytest.mark.parametrize(("kind", "scale", "smoothing"), covering(KINDS, SCALES, [None, 1e-12, 1e-2, 1e3]))
def test_hypergraphs(smoothing, scale, kind):
    name = "hypergraph" if smoothing is None else "hypergraph_smooth"
    given = {} if smoothing is None else {"smoothing": smoothing}
    for seed, lam in ((0, 1e-10), (1, 1e-2), (2, 1.0), (3, 1e10)):
        problem = instance(kind, scale, seed)
        task, _ = formulations.get(name).task(problem, {"lam": lam, **given})
        kernels, rng = kernels_of(problem), np.random.default_rng(seed)
        solution = solve(problem, name, lam=lam, **given)
        found = hypergraphs.certified(
            task, solution.weights, solution.multipliers["Z"], 1e-8, solution.multipliers.get("Z_lower")
        )
        assert found.certificate == solution.certificate
        far = hypergraphs.certified(task, rng.dirichlet(np.ones(3)), rng.normal(size=task.h.shape), 1e-8)
        for one in (found, far):
            if np.isfinite(one.certificate.lower):
                check(one.certificate, *hypergraph_bounds(task, kernels, one))
            else:
                assert not one.certificate.proves(1.0)


# ----------------------------------------------------------------------------------------------- the second stage
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_machines_with_given_weights(scale, kind):
    for seed, price in enumerate((1e-8, 1.0, 1e8)):
        problem = instance(kind, scale, seed, "y")
        kernels, weights = kernels_of(problem), np.random.default_rng(seed).random(KERNELS)
        mix = mixed(exact(weights), kernels)
        apart = [[a - mix[i][0] - mix[0][j] + mix[0][0] for j, a in enumerate(row)] for i, row in enumerate(mix)]
        task = Task(problem.kernels, problem.y, price * problem.sample_weight, symmetric=problem.symmetric)
        found = classifier(task, weights, 1e-8)
        low = np.zeros(SAMPLES) if found.low is None else found.low
        alpha, y, low = exact(found.alpha), exact(task.y), exact(low)
        assert dot(alpha, y) == 0 == sum(low)
        t, ridge, bias = exact(found.certificate.stretch), exact(found.certificate.ridge), sum(exact(found.bias))
        beta = [a * s for a, s in zip(alpha, y, strict=True)]
        c = [t * (b + e) for b, e in zip(beta, low, strict=True)]
        # K + δI on differences to the first sample: δ(I + 11') there.
        assert semidefinite(
            [[a + ridge * (1 + (i == j)) for j, a in enumerate(row[1:])] for i, row in enumerate(apart[1:])]
        )
        upper, f = dot(c, image(mix, c)) / 2, image(mix, c)
        for bound, sign, value, mine in zip(exact(task.box), y, f, c, strict=True):
            ends = [ridge * (end - sign * mine) ** 2 / 2 for end in (0, bound)]
            upper += max(ends[0], bound * (1 - sign * (value + t * bias)) + ends[1])
        check(found.certificate, sum(alpha) - dot(beta, image(mix, beta)) / 2, upper)


def test_a_solution_is_as_certified_as_the_worse_of_its_stages():
    features = np.random.default_rng(0).normal(size=(40, 5))
    y = np.where(features[:, 0] + features[:, 1] ** 2 > 0.5, 1.0, -1.0)
    problem = Instance(np.stack([1e6 * np.outer(x, x) for x in features.T]), y)
    solution = solve(problem, "alignment", C=1e4)
    assert solution.certificate.proves(1e-8)
    assert solution.certified == (solution.multipliers["second_stage_gap"] <= 1e-8)
    assert solution.certified or "the second stage is not certified" in solution.message
    easy = solve(problem, "alignment", C=1e-6)
    assert easy.certified
    again = second_stage(problem, easy, C=1e4)
    assert again.status == solution.status
    assert again.certified or again.message.startswith("the second stage is not certified")
    assert (again.notes != easy.notes) == (not again.certified)
