"""Proofs against rational optima, all active sets of tiny machines, and on instances that are hard on doubles."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from mklcvx import Instance, LowRank, formulations
from mklcvx.errors import InternalError
from mklcvx.solvers import solving
from mklcvx.verification.proof import prove

pytestmark = pytest.mark.slow


# ------------------------------------------------------------------------------------------- all active sets
def exact_optimum(kernel, y, box, loss, bias):
    """max gain(α) − ½ (α∘y)'K(α∘y) in fractions: some vertex of the optimal face is stationary on its free samples."""
    n = len(y)
    hessian = [[y[i] * y[j] * kernel[i][j] for j in range(n)] for i in range(n)]
    rows = [list(y)] * bias + [[1] * n] * (loss == "nu")
    totals = [Fraction(0)] * bias + [Fraction(1)] * (loss == "nu")
    slope = 1 if loss == "c" else 0
    best = None
    for places in itertools.product((0, 1, None), repeat=n):
        free = [i for i in range(n) if places[i] is None]
        alpha = [box[i] if places[i] == 1 else Fraction(0) for i in range(n)]
        left = [[hessian[i][j] for j in free] + [row[i] for row in rows] for i in free]
        left += [[row[j] for j in free] + [0] * len(rows) for row in rows]
        right = [slope - sum(h * a for h, a in zip(hessian[i], alpha, strict=True)) for i in free]
        right += [t - sum(r * a for r, a in zip(row, alpha, strict=True)) for row, t in zip(rows, totals, strict=True)]
        found = solved(left, right, len(free) + len(rows))
        if found is None:
            continue
        for i, value in zip(free, found, strict=False):
            alpha[i] = value
        if all(0 <= a <= cap for a, cap in zip(alpha, box, strict=True)):
            cost = sum(alpha[i] * hessian[i][j] * alpha[j] for i in range(n) for j in range(n)) / 2
            value = slope * sum(alpha) - cost
            best = value if best is None else max(best, value)
    return best


def solved(left, right, unknowns):
    """A solution of linear equations in fractions; None if there is none."""
    table = [[Fraction(v) for v in (*row, value)] for row, value in zip(left, right, strict=True)]
    pivots, done = [], 0
    for column in range(unknowns):
        place = next((k for k in range(done, len(table)) if table[k][column] != 0), None)
        if place is None:
            continue
        table[done], table[place] = table[place], table[done]
        table[done] = [v / table[done][column] for v in table[done]]
        for k, row in enumerate(table):
            if k != done and row[column] != 0:
                table[k] = [v - row[column] * w for v, w in zip(row, table[done], strict=True)]
        pivots.append(column)
        done += 1
    if any(row[-1] != 0 for row in table[done:]):
        return None
    found = [Fraction(0)] * unknowns
    for column, row in zip(pivots, table, strict=False):
        found[column] = row[-1]
    return found


def factor_drawn(rng, kind, n):
    small = rng.integers(-3, 4, (n, 2)).astype(float)
    if kind == "offsets":
        small[:, 0] += 10.0 ** rng.integers(5, 9)
    if kind == "years":
        small = rng.integers(1980, 2020, (n, 1)).astype(float)
    return small * 2.0 ** {"up": 20, "down": -20}.get(kind, 0)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("loss", ["c", "nu"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["offsets", "years", "up", "down"])
def test_rational_optima_are_enclosed(kind, bias, loss, seed):
    """Factors and the kernels that they make in whole numbers, one or two of them."""
    rng = np.random.default_rng([seed, len(kind), bias, loss == "nu"])
    n, count = int(rng.integers(4, 6)), 1 + seed % 2
    y = np.array([1, -1, *rng.choice([-1, 1], n - 2)])
    factors = [factor_drawn(rng, kind, n) for _ in range(count)]
    price = {"c": {"C": float(10.0 ** rng.integers(-3, 9))}, "nu": {"nu": float(rng.choice([0.2, 0.3, 0.4]))}}[loss]
    weight = rng.integers(1, 4, n) / 2.0 if loss == "c" else np.ones(n)
    exactly = [[[Fraction(v) for v in row] for row in factor] for factor in factors]
    kernel = [
        [sum(a * b for f in exactly for a, b in zip(f[i], f[j], strict=True)) for j in range(n)] for i in range(n)
    ]
    box = (price["C"] if loss == "c" else 1.0 / (price["nu"] * n)) * weight
    best = exact_optimum(kernel, y.tolist(), [Fraction(v) for v in box], loss, bias)
    stacks = [LowRank(factors)]
    if kind in ("years", "up", "down"):  # products that doubles hold exactly
        stacks.append(np.stack([f @ f.T for f in factors]))
    for stack in stacks:
        proof = prove(Instance(stack, y, sample_weight=weight), "sum", bias=bias, **price)
        assert Fraction(proof.lower) <= best <= Fraction(proof.upper)
        assert proof.perturbations == {}
        assert proof.sharp, proof.why_wide


def test_factors_are_taken_at_their_word():
    """In doubles FF' is 1e16 everywhere; the classes are 2 apart."""
    proof = prove(Instance(LowRank([[[1e8, 1.0], [1e8, -1.0]]]), [1, -1]), "svm", C=1.0)
    assert Fraction(proof.lower) <= Fraction(1, 2) <= Fraction(proof.upper)
    assert proof.sharp


@pytest.mark.parametrize(("C", "weight"), [(0.1, 3.0), (0.7, 0.1)])
def test_the_box_is_the_product_in_doubles(C, weight):
    """Nobody is separated from anybody: α is the box."""
    proof = prove(Instance(np.zeros((1, 2, 2)), [1, -1], sample_weight=[weight, weight]), "svm", C=C)
    assert Fraction(C * weight) != Fraction(C) * Fraction(weight)
    assert Fraction(proof.lower) == Fraction(proof.upper) == 2 * Fraction(C * weight)


def test_weights_of_the_second_stage_are_taken_as_stored():
    rng = np.random.default_rng(4)
    views = [rng.integers(-2, 3, (5, 2)).astype(float) for _ in range(2)]
    kernels, y = np.stack([view @ view.T for view in views]), np.array([1, -1, 1, 1, -1])
    for name in ("ts", "ts_l1", "alignment"):
        proof = prove(Instance(kernels, y), name, C=10.0)
        mu = [Fraction(weight) for weight in proof.solution.weights]
        combined = [
            [sum(m * Fraction(k[i, j]) for m, k in zip(mu, kernels, strict=True)) for j in range(5)] for i in range(5)
        ]
        best = exact_optimum(combined, y.tolist(), [Fraction(10)] * 5, "c", bias=True)
        (machine,) = proof.as_dict()["second_stage"]
        assert Fraction(float(machine["lower"])) <= best <= Fraction(float(machine["upper"]))
        assert machine["relative_width"] <= 1e-12
        assert proof.sharp


# --------------------------------------------------------------------------------------------- without a solver
YEARS = np.array([1985.0, 1991, 2014, 2012])


def breaks_down(*_, **__):
    raise InternalError("the bounds contradict weak duality")


@pytest.mark.parametrize("broken", [False, True])
def test_whole_numbers_are_solved_in_fractions(monkeypatch, broken):
    if broken:
        monkeypatch.setattr(solving, "solve", breaks_down)
    y, kernel = [1, -1, -1, 1], np.outer(YEARS, YEARS)
    proof = prove(Instance(kernel[None], y), "svm", C=1e5)
    best = exact_optimum([[Fraction(v) for v in row] for row in kernel], y, [Fraction(100_000)] * 4, "c", bias=True)
    assert Fraction(proof.lower) <= best <= Fraction(proof.upper)
    assert float(best) == pytest.approx(344827.5886, abs=1e-4)
    assert proof.relative_width < 1e-15


@pytest.mark.parametrize("name", [one.name for one in formulations.FORMULATIONS])
def test_without_a_solver_the_interval_is_wide_and_says_why(monkeypatch, name):
    rng = np.random.default_rng(2)
    views = [rng.normal(size=(8, 3)) for _ in range(1 if name == "svm" else 3)]
    kernels, y = np.stack([view @ view.T for view in views]), np.array([1, -1] * 4)
    instance = Instance(kernels, y, groups=None if name == "svm" else [0, 0, 1])
    known = prove(instance, name)
    monkeypatch.setattr(solving, "solve", breaks_down)
    proof = prove(instance, name)
    assert proof.solution is None
    assert proof.lower <= known.upper
    assert known.lower <= proof.upper
    assert proof.sharp or "no solver found a point" in proof.why_wide


@pytest.mark.parametrize("name", ["l2", "sm2", "elastic", "block_elastic", "li", "vskl"])
def test_weights_and_alpha_in_turn_need_no_solver(monkeypatch, name):
    rng = np.random.default_rng(1)
    views = [rng.normal(size=(8, 9)) for _ in range(3)]
    instance = Instance(np.stack([view @ view.T for view in views]), [1, -1] * 4, groups=[0, 1, 2])
    known = prove(instance, name)
    monkeypatch.setattr(solving, "solve", breaks_down)
    proof = prove(instance, name)
    assert proof.lower <= known.upper
    assert known.lower <= proof.upper
    assert proof.sharp


# ---------------------------------------------------------------------------------------- hard on doubles
def hard(kind, rng, n=9):
    points = rng.normal(size=(n, 2))
    distances = ((points[:, None] - points) ** 2).sum(axis=2)
    gaussian = np.stack([np.exp(-gamma * distances) for gamma in (0.01, 0.1, 1.0)])
    whole = rng.integers(-3, 4, (n, 3)).astype(float)
    years = rng.integers(1980, 2020, (n, 3)).astype(float)
    return {
        "zero": np.zeros((3, n, n)),
        "duplicates": np.stack([gaussian[1]] * 3),
        "rank one": np.stack([np.outer(column, column) for column in whole.T]),
        "single precision": gaussian.astype(np.float32),
        "half precision": gaussian.astype(np.float16),
        "years": np.stack([np.outer(column, column) for column in years.T]),
        "factors": LowRank([years, whole, 1e8 + whole]),
        "huge": gaussian * 2.0**40,
        "minute": gaussian * 2.0**-40,
        "lower triangle": gaussian + np.triu(np.full((n, n), 1e-10), 1),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "zero", "duplicates", "rank one", "single precision", "half precision", "years", "factors", "huge", "minute",
        "lower triangle",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["sum", "l1", "li", "ml_minimax", "ts", "hypergraph"])
def test_hard_instances_end_with_an_interval(kind, name):
    rng = np.random.default_rng(len(kind))
    stack, y = hard(kind, rng), np.array([1, -1, 1, -1, 1, -1, 1, 1, -1])
    for weight, price in ((None, 1e-3), (10.0 ** rng.uniform(-6, 6, 9), 1e8)):
        given = {"C": price} if "C" in formulations.get(name).parameter_names else {}
        proof = prove(Instance(stack, y, sample_weight=weight), name, **given)
        assert -np.inf < proof.lower <= proof.upper
        assert proof.sharp == (proof.why_wide == "")
        if name == "sum":
            assert proof.sharp, proof.why_wide
