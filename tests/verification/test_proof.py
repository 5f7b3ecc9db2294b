"""Proofs: intervals around optima that are known exactly, written outward; points that are sharpened in rational
numbers; kernels that are not semidefinite; and how they are asked for."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from declared import LOSSES, PENALTIES, parameters
from joint_cases import FOR_CLASSES, classes, responses
from mklcvx import Instance, LowRank, formulations, prove, solve
from mklcvx.checker.audit import evaluated
from mklcvx.checker.losses import LEVELS, most_of, samples_of
from mklcvx.checker.losses import targets as sides_of
from mklcvx.checker.numbers import Kernel, dyadic, fractions, least_ridge
from mklcvx.errors import InternalError
from mklcvx.solvers import solving
from mklcvx.verification.polishing import RATIONAL, QuadraticProgram, optimum, solved
from mklcvx.verification.proof import enclose
from mklcvx.zoo import SPECIMENS, specimen
from sample_sides import targets

pytestmark = pytest.mark.slow


# ---------------------------------------------------------------------------------------------- known optima
def exact_optimum(kernel, y, box, loss, bias):
    """max gain(α) − ½ (α∘y)'K(α∘y) in fractions: some vertex of the optimal face is stationary on its free samples."""
    n = len(y)
    hessian = fractions(np.multiply(np.outer(y, y), kernel))
    rows = fractions([list(y)] * bias + [[1] * n] * (loss == "nu")).reshape(-1, n)
    totals = [Fraction(0)] * bias + [Fraction(1)] * (loss == "nu")
    slope, values = int(loss == "c"), []
    for places in itertools.product((0, 1, None), repeat=n):
        free = [i for i in range(n) if places[i] is None]
        alpha = np.array([box[i] if places[i] == 1 else Fraction(0) for i in range(n)], dtype=object)
        corner = np.zeros((len(rows), len(rows)), dtype=int)
        table = fractions(np.block([[hessian[np.ix_(free, free)], rows[:, free].T], [rows[:, free], corner]]))
        right = fractions([*(slope - hessian[free] @ alpha), *(totals - rows @ alpha)])
        try:
            found, steady = solved(table, right) if len(right) else ([], True)
        except ArithmeticError:
            continue
        alpha[free] = found[: len(free)]
        if steady and all(0 <= a <= cap for a, cap in zip(alpha, box, strict=True)):
            values.append(slope * sum(alpha) - alpha @ hessian @ alpha / 2)
    return max(values)


def factor_drawn(rng, kind, n):
    small = rng.integers(-3, 4, (n, 2)).astype(float)
    if kind == "offsets":
        small[:, 0] += 10.0 ** rng.integers(5, 9)
    if kind == "years":
        small = rng.integers(1980, 2020, (n, 1)).astype(float)
    return small * 2.0 ** {"up": 20, "down": -20}.get(kind, 0)


def decimals(part):
    """The ends as they are written, read as decimals."""
    return Fraction(part["lower"]), Fraction(part["upper"])


@pytest.mark.parametrize("loss", ["c", "nu"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["offsets", "years", "up", "down"])
def test_rational_optima_are_enclosed(kind, bias, loss):
    """Factors and the kernels that they make in whole numbers."""
    rng = np.random.default_rng([1, len(kind), bias, loss == "nu"])
    n = int(rng.integers(4, 6))
    y, factors = np.array([1, -1, *rng.choice([-1, 1], n - 2)]), [factor_drawn(rng, kind, n) for _ in range(2)]
    price = {"c": {"C": float(10.0 ** rng.integers(-3, 9))}, "nu": {"nu": float(rng.choice([0.2, 0.3, 0.4]))}}[loss]
    weight = rng.integers(1, 4, n) / 2.0 if loss == "c" else np.ones(n)
    kernel = sum(fractions(f) @ fractions(f).T for f in factors)
    box = (price["C"] if loss == "c" else 1.0 / (price["nu"] * n)) * weight
    best = exact_optimum(kernel, y, fractions(box), loss, bias)
    stacks = [LowRank(factors)]
    if kind in ("years", "up", "down"):  # products that doubles hold exactly
        stacks.append(np.stack([f @ f.T for f in factors]))
    for stack in stacks:
        proof = prove(Instance(stack, y, sample_weight=weight), "sum", bias=bias, **price)
        lower, upper = decimals(proof.as_dict())
        assert lower <= Fraction(proof.lower) <= best <= Fraction(proof.upper) <= upper
        assert (float(lower), float(upper)) == (proof.lower, proof.upper)
        assert proof.sharp, proof.why_wide


@pytest.mark.parametrize("known", [one for one in SPECIMENS if one.optimum is not None], ids=lambda one: one.name)
def test_known_optima_are_enclosed(known):
    known_optimum = known.optimum()
    proof = prove(known.instance(), known_optimum.formulation, **known_optimum.parameters)
    lower, upper = decimals(proof.as_dict())
    assert proof.sharp, proof.why_wide
    assert lower <= Fraction(known_optimum.value) <= upper


def test_numbers_are_taken_at_their_word():
    """In doubles FF' is 1e16 everywhere, and the classes are 2 apart; boxes end at products in doubles; ν may be at its
    limit; a stack means its lower triangle."""
    proof = prove(Instance(LowRank([[[1e8, 1.0], [1e8, -1.0]]]), [1, -1]), "svm", C=1.0)
    assert Fraction(proof.lower) <= Fraction(1, 2) <= Fraction(proof.upper)
    proof = prove(Instance(np.zeros((1, 2, 2)), [1, -1], sample_weight=[3.0, 3.0]), "svm", C=0.1)
    assert Fraction(proof.lower) == Fraction(proof.upper) == 2 * Fraction(0.1 * 3.0) != 6 * Fraction(0.1)
    proof = prove(Instance(np.eye(5)[None], [1, 1, -1, -1, -1]), "svm", nu=0.8, bias=True)
    assert Fraction(proof.lower) <= -Fraction(1, 2) * (Fraction(2, 16) + Fraction(3, 36)) <= Fraction(proof.upper)
    instance = specimen("clouds").instance()
    tilted = instance.with_kernels(instance.kernels + np.triu(np.full((60, 60), 2.0**-40), 1))
    solution = solve(instance, "l1")
    assert enclose(instance, solution).interval == enclose(tilted, solution).interval


def test_weights_of_the_second_stage_are_taken_as_stored():
    rng = np.random.default_rng(4)
    views = [rng.integers(-2, 3, (5, 2)).astype(float) for _ in range(2)]
    kernels, y = np.stack([view @ view.T for view in views]), np.array([1, -1, 1, 1, -1])
    for name in ("ts", "ts_l1", "alignment"):
        proof = prove(Instance(kernels, y), name, C=10.0)
        combined = sum(w * fractions(k) for w, k in zip(fractions(proof.solution.weights), kernels, strict=True))
        best = exact_optimum(combined, y, [Fraction(10)] * 5, "c", bias=True)
        (machine,) = proof.as_dict()["second_stage"]
        lower, upper = decimals(machine)
        assert lower <= best <= upper
        assert machine["relative_width"] <= 1e-12
        assert proof.sharp


# -------------------------------------------------------------------------------------------------- sharpened points
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", sorted(RATIONAL))
def test_the_active_set_method_finds_the_optimal_alpha(name, bias):
    """From anywhere: then both bounds of the checker meet, but for the last of fifty digits."""
    loss, rng = LOSSES[name], np.random.default_rng(5)
    bias = bias and loss.takes_bias
    given = {key: Fraction(x) for key, x in parameters(loss).items() if isinstance(x, float)}
    for _ in range(6):
        n, weight = 7, rng.uniform(1.0, 1.5, 7)
        factor = rng.integers(-4, 5, (n, 3)) / 4
        y = np.asarray(targets(loss, n, rng), dtype=float)
        signs, response = sides_of(name, None if name == "one_class" else y, n)
        losses, most = samples_of(name, given, response, signs, weight, bias), most_of(name, given, weight, n)
        entries, exponent = Kernel(factor @ factor.T).entries()
        free_margin = name in ("nu", "one_class")
        problem = QuadraticProgram(entries, dyadic(1, exponent), signs, losses, bias, free_margin, most)
        best = optimum(problem, fractions(start(problem, rng)))
        record = {
            "schema": "mklcvx.solution/2", "formulation": "svm", "weights": [1.0], "coefficients": None,
            "parameters": {**parameters(loss, bias), "bias": bias},
            "alpha": best.alpha, "bias": best.bias, "certificate": {}, "multipliers": {LEVELS.get(name): best.level},
        }  # fmt: skip
        if name in ("hinge", "nu"):
            del record["parameters"]["loss"]
        point = evaluated((factor @ factor.T)[None], None if name == "one_class" else y, record, weight)
        assert point.lower <= point.upper <= point.lower + Fraction(1, 2**120)


def start(problem, rng):
    """A feasible α: shares of the boxes, the larger side scaled down."""
    low, high = ([getattr(one, end) for one in problem.losses] for end in ("low", "high"))
    alpha = np.array([rng.choice([-1, 1]) * Fraction(rng.random()) for _ in low], dtype=object)
    for i in range(len(alpha)):
        alpha[i] = alpha[i] if low[i] is None else max(alpha[i], low[i])
        alpha[i] = alpha[i] if high[i] is None else min(alpha[i], high[i])
    if problem.free_margin:
        for row in np.array(problem.sums):
            members = np.flatnonzero(row)
            alpha[members] = Fraction(1, len(problem.sums)) / sum(high[i] for i in members) * np.array(high)[members]
        return alpha
    if problem.bias:
        signed = alpha * problem.signs
        sides = [np.flatnonzero(signed > 0), np.flatnonzero(signed < 0)]
        sizes = [abs(sum(signed[side])) for side in sides]
        for side, size in zip(sides, sizes, strict=True):
            alpha[side] *= min(sizes) / size if size else 1
    if problem.most is not None:
        alpha *= min(Fraction(1), problem.most / max(sum(abs(alpha)), Fraction(1)))
    return alpha


@pytest.mark.parametrize("loss", ["crammer_singer", "softmax", "quantile", "squared"])
def test_several_outputs_are_proved_too(loss):
    instance = classes(9) if loss in FOR_CLASSES else responses(9)
    for name in ("l1", "sm2"):
        proof, known = prove(instance, name, loss=loss), solve(instance, name, loss=loss).certificate
        assert proof.sharp
        assert max(proof.lower, known.lower) <= min(proof.upper, known.upper)


def test_a_solution_is_sharpened_where_doubles_do_not_suffice():
    """Years as features: doubles leave 1e-11 of the scale, rational numbers nothing."""
    years = np.array([1985.0, 1991, 2014, 2012])
    y, kernel = [1, -1, -1, 1], np.outer(years, years)
    proof = prove(Instance(kernel[None], y), "svm", C=1e5)
    best = exact_optimum(kernel, y, [Fraction(100_000)] * 4, "c", bias=True)
    assert Fraction(proof.lower) <= best <= Fraction(proof.upper)
    assert proof.relative_width < 1e-15


# --------------------------------------------------------------------------------------------------------- ridges
RNG = np.random.default_rng(5)
WHOLE = RNG.integers(-3, 4, (12, 4)).astype(float)


@pytest.mark.parametrize(
    ("kernel", "centred", "least"),
    [
        (np.eye(5), False, 0.0),
        (WHOLE @ WHOLE.T + np.eye(12), False, 0.0),
        (np.ones((6, 6)), False, 1e-40),
        (WHOLE @ WHOLE.T, False, 1e-38),
        (2.0**-600 * WHOLE @ WHOLE.T, False, 1e-38 * 2.0**-600),
        (WHOLE @ WHOLE.T - np.diag([2.0**-44] + [0.0] * 11), False, 2.0**-44),
        (np.diag([1.0, 1.0, -1e-9]), False, 1.6e-9),
        (np.diag([1.0, -1.0]), False, 1.6),
        (np.add.outer(np.arange(6.0), np.arange(6.0)) * 2.0**40 + np.eye(6), True, 0.0),
        (0.25 - np.eye(4), True, 1.6),
        (-np.ones((4, 4)), True, 1e-40),
    ],
)
def test_a_ridge_is_nearly_the_least(kernel, centred, least):
    delta = least_ridge([Kernel(kernel)], [1.0], centred)
    smallest = np.linalg.eigvalsh(kernel)[0] if not centred else 0.0
    assert max(-smallest * (1 - 1e-6) - 1e-13 * np.abs(kernel).max(), 0) <= delta <= least


def indefinite(rng, n, count):
    """Symmetric, of rank two up to parts of either sign."""
    draws, factors = rng.integers(-6, 7, (count, n, n)) / 16, rng.integers(-4, 5, (count, n, 2)) / 4
    return factors @ factors.transpose(0, 2, 1) + (draws + draws.transpose(0, 2, 1)) / 4


@pytest.mark.parametrize("name", [*PENALTIES, "l1", "sum", "li", "ckl"])
def test_solutions_of_other_problems_prove_nothing_wrong(name):
    """Solved for semidefinite kernels, evaluated for kernels that are not: no lower bound exceeds an upper one."""
    rng = np.random.default_rng(3)
    for loss in ("hinge", "squared_hinge", "huber", "logistic"):
        kernels = indefinite(rng, 6, 3)
        target = {"response": rng.normal(size=6)} if loss == "huber" else {"y": [1, -1, 1, -1, 1, -1]}
        posed = Instance(np.stack([np.eye(6)] * 3), groups=[0, 0, 1], **target)
        ends = []
        for draw in range(6):
            near = np.stack([k @ k.T + (0.1 + draw) * np.eye(6) for k in kernels + rng.normal(size=(3, 6, 6)) / 9])
            given = {"loss": loss, "C": 0.5, **({"delta": 0.5} if loss == "huber" else {}), **PENALTIES.get(name, {})}
            solution = solve(posed.with_kernels(near), name, **given)
            ends.append(enclose(replaced(posed, kernels), solution).interval)
        finite = sum(end.upper < np.inf for end in ends)
        assert max(end.lower for end in ends) <= min(end.upper for end in ends)
        assert finite == 6 or loss == "squared_hinge"


def replaced(instance, kernels):
    """The instance with kernels that it would refuse."""
    other = instance.with_kernels(instance.kernels)
    object.__setattr__(other, "kernels", kernels)
    return other


@pytest.mark.parametrize("name", ["li", "ckl", "vskl"])
def test_functions_without_norm_cost_their_ridge(name):
    """K = −I: f = −Kc separates the samples at c'Kc < 0, and no α pays for √max(q, 0)."""
    instance = Instance(np.eye(2)[None], [1, -1], groups=[0])
    solution = solve(instance, name, C=3.0, bias=False)
    known = replace(solution.certificate, stretch=1.0)
    functions = np.array([[-1.0, 1.0]])
    wrong = replace(solution, alpha=np.full(2, 3.0), alpha_low=None, coefficients=functions, certificate=known)
    interval = enclose(replaced(instance, -np.eye(2)[None]), wrong).interval
    assert interval.lower == 6
    assert 6 <= interval.upper <= 24


def test_a_ridge_widens_the_upper_bound_and_moves_nothing():
    """α'Kα < 0 for the stored kernel: the optimum is above Σα, and no semidefinite kernel has it."""
    kernel = np.array([[1.0, 1.0 + 2.0**-50], [1.0 + 2.0**-50, 1.0]])
    proof = prove(Instance(kernel[None], [1, -1]), "svm", C=1024.0)
    best = Fraction(2 * 1024) + Fraction(1024**2, 2**50)
    assert 2.0**-50 <= proof.ridge <= 2.0**-48
    assert 2048 < Fraction(proof.lower) <= best <= Fraction(proof.upper)
    assert proof.sharp


# ------------------------------------------------------------------------------------------- bad points, or none
def test_a_point_that_is_none_proves_nothing_and_says_why(monkeypatch):
    instance = specimen("clouds").instance()
    solution = solve(instance, "l1")
    proof = enclose(instance, replace(solution, alpha=2 * solution.alpha))
    assert (proof.lower, proof.upper, proof.sharp) == (-np.inf, np.inf, False)
    assert "alpha leaves its box" in proof.why_wide
    assert json.loads(json.dumps(proof.as_dict(), allow_nan=False))["lower"] == "-Infinity"

    def breaks_down(*_, **__):
        raise InternalError("the bounds contradict weak duality")

    monkeypatch.setattr(solving, "solve", breaks_down)
    assert "no solver found a point" in prove(instance, "l1").why_wide


def hard(kind, rng, n=9):
    points = rng.normal(size=(n, 2))
    gaussian = np.exp(-np.array([0.01, 0.1, 1.0])[:, None, None] * ((points[:, None] - points) ** 2).sum(axis=2))
    whole, years = rng.integers(-3, 4, (n, 3)).astype(float), rng.integers(1980, 2020, (n, 3)).astype(float)
    return {
        "zero": np.zeros((3, n, n)),
        "duplicates": np.stack([gaussian[1]] * 3),
        "half precision": gaussian.astype(np.float16),
        "years": np.stack([np.outer(column, column) for column in years.T]),
        "factors": LowRank([years, whole, 1e8 + whole]),
        "minute": gaussian * 2.0**-40,
    }[kind]


@pytest.mark.parametrize("kind", ["zero", "duplicates", "half precision", "years", "factors", "minute"])
@pytest.mark.parametrize("name", ["sum", "l1", "li", "ml_minimax", "ts", "hypergraph"])
def test_hard_instances_end_with_an_interval(kind, name):
    rng = np.random.default_rng(len(kind))
    stack, y = hard(kind, rng), np.array([1, -1, 1, -1, 1, -1, 1, 1, -1])
    for weight, price in ((None, 1e-3), (10.0 ** rng.uniform(-6, 6, 9), 1e8)):
        given = {"C": price} if "C" in formulations.get(name).parameter_names else {}
        proof = prove(Instance(stack, y, sample_weight=weight), name, **given)
        assert -np.inf < proof.lower <= proof.upper
        assert proof.sharp == (proof.why_wide == "")
        assert proof.sharp or name != "sum", proof.why_wide


# --------------------------------------------------------------------------------------------- the command line
def test_the_command_prints_an_interval(run, quiet, problem):
    out = quiet("prove", problem, "-f", "sm1", "--set", "theta=0.5")
    assert "proved to lie between" in out
    assert "in whole numbers" in out
    code, out, _ = run("prove", problem, "-f", "ts", "--json")
    found = json.loads(out)
    assert (code, found["schema"], len(found["second_stage"])) == (0, "mklcvx.proof/1", 1)
    shown = run("prove", problem, "-f", "ts")[1]
    assert "optimum of the first stage" in shown
    assert "second stage, y" in shown


def test_a_wide_interval_is_exit_status_one_and_unusable_input_two(run, problem):
    code, out, err = run("prove", problem, "-f", "alignment", "--set", "approximate=true", "--json")
    assert code == 1
    assert json.loads(out)["why_wide"] in err
    code, _, err = run("prove", problem, "-f", "sm1", "--set", "theta=0.1")
    assert code == 2
    assert "theta" in err
