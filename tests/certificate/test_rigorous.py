"""Rigorous enclosures: exact feasibility, semidefiniteness, the bounds in balls, and how they are asked for."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklcvx import Instance, formulations, solve
from mklcvx.certificate.ball_arithmetic import polishing, single
from mklcvx.certificate.ball_arithmetic.balls import (
    as_balls,
    exact,
    exacts,
    filled,
    on_simplex,
    rounded_down,
    rounded_up,
)
from mklcvx.certificate.ball_arithmetic.hypergraphs import incidence_balls
from mklcvx.certificate.ball_arithmetic.kernels import CHOLESKY, PERTURBED, POLYNOMIAL, by_cholesky, settle
from mklcvx.certificate.ball_arithmetic.penalties import Case
from mklcvx.errors import InternalError
from mklcvx.verification.proof import enclose, prove
from mklcvx.zoo import SPECIMENS, specimen

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(5)
VALUES = st.lists(st.floats(-2, 2), min_size=1, max_size=12)


# ------------------------------------------------------------------------------------------------- exact numbers
@given(VALUES, st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_values_are_moved_to_their_total_exactly(values, share):
    caps = [exact(0.1)] * len(values)
    target = exact(share) * exact(0.1) * len(values)
    moved = filled(exacts(values), caps, target)
    assert sum(moved) == target
    assert all(0 <= value <= exact(0.1) for value in moved)


def test_only_what_has_to_move_is_moved():
    given_values = exacts([0.0, 0.3, 0.5, 1.0])
    moved = filled(given_values, [exact(1.0)] * 4, exact(1.8) + exact(2.0**-50))
    assert [value == before for value, before in zip(moved, given_values, strict=True)] == [True, True, False, True]


def test_an_empty_feasible_set_is_a_defect():
    with pytest.raises(InternalError):
        filled(exacts([0.5]), exacts([0.5]), exact(0.75))


@pytest.mark.parametrize("bias", [True, False])
def test_a_limit_that_rounding_has_passed_is_the_limit(bias):
    """ν = 4/5 with two samples against three, and ν = 1: every α of the smaller side, or of both, is at its bound."""
    nu, y = (0.8, [1, 1, -1, -1, -1]) if bias else (1.0, [1, 1, -1])
    kernel = np.eye(len(y))
    proof = prove(Instance(kernel[None], y), "svm", nu=nu, bias=bias)
    best = Fraction(1, 2) * (2 * Fraction(1, 16) + 3 * Fraction(1, 36)) if bias else Fraction(1, 6)
    assert Fraction(proof.lower) <= -best <= Fraction(proof.upper)
    assert proof.sharp


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_weights_are_put_on_the_simplex_exactly(weights):
    found = on_simplex(weights)
    assert sum(found) == 1
    assert min(found) >= 0


@pytest.mark.parametrize("whole", [1, -1, 7, -(10**20)])
def test_doubles_are_rounded_outward(whole):
    with flint.ctx.workprec(128):
        ball = flint.arb(whole) / 3
    below, above = rounded_down(ball), rounded_up(ball)
    assert Fraction(below) < Fraction(whole, 3) < Fraction(above)
    assert np.nextafter(below, np.inf) == above


def test_what_is_not_known_is_infinite():
    assert (rounded_down(flint.arb.nan()), rounded_up(flint.arb.nan())) == (-np.inf, np.inf)


# ---------------------------------------------------------------------------------------------- semidefiniteness
WHOLE = RNG.integers(-3, 4, (12, 4)).astype(float)
BARELY = WHOLE @ WHOLE.T - np.diag([2.0**-44] + [0.0] * 11)  # singular before, so one eigenvalue is just below zero


@pytest.mark.parametrize(
    ("kernel", "method"),
    [
        (np.eye(5), CHOLESKY),
        (WHOLE @ WHOLE.T + np.eye(12), CHOLESKY),
        (np.zeros((4, 4)), CHOLESKY),
        (np.ones((6, 6)), POLYNOMIAL),
        (WHOLE @ WHOLE.T, POLYNOMIAL),
        (2.0**-600 * WHOLE @ WHOLE.T, POLYNOMIAL),
        (BARELY, PERTURBED),
        (np.array([[1.0, 1.0], [1.0, 1.0 - 2.0**-53]]), PERTURBED),
    ],
)
def test_semidefiniteness_is_settled(kernel, method):
    with flint.ctx.workprec(128):
        found = settle(as_balls(kernel))
    assert found.method == method
    assert (found.delta > 0) == (method == PERTURBED)
    assert found.delta <= 1e-12 * np.abs(kernel).max()


def test_a_factor_of_another_matrix_proves_nothing():
    indefinite = np.array([[1.5, 2.0], [2.0, 1.5]])
    with flint.ctx.workprec(128):
        assert not by_cholesky(np.eye(2), as_balls(indefinite), 0.0)
        assert by_cholesky(np.eye(2), as_balls(indefinite + np.eye(2)), -0.75)


def test_a_perturbation_is_large_enough_and_nearly_the_least():
    kernel = np.diag([1.0, 1.0, -1e-9])
    with flint.ctx.workprec(128):
        delta = settle(as_balls(kernel)).delta
    assert 1e-9 <= delta <= 4e-9


def test_a_kernel_far_from_semidefinite_needs_a_large_ridge():
    with flint.ctx.workprec(128):
        assert 1 <= settle(as_balls(np.diag([1.0, -1.0]))).delta <= 4


@pytest.mark.parametrize("offset", [0.0, 2000.0, 2.0**40])
def test_on_the_complement_of_ones_offsets_play_no_part(offset):
    """K_ij + offset·(x_i + x_j) is indefinite; on vectors that sum to zero it is K."""
    x = np.arange(6.0)
    kernel = np.outer(x, x) + offset * (x[:, None] + x) + np.diag([1.0, 2, 3, 4, 5, 6])
    with flint.ctx.workprec(128):
        assert settle(as_balls(kernel), complement=True) == (CHOLESKY, 0.0)
        assert (settle(as_balls(kernel)).delta > 0) == (offset > 0)


def test_a_ridge_on_the_complement_is_measured_there():
    """Minus the projection onto the complement needs δ = 1, and −1·11' needs none."""
    projection = np.eye(4) - 0.25
    with flint.ctx.workprec(128):
        assert 1 <= settle(as_balls(-projection), complement=True).delta <= 4
        assert settle(as_balls(-np.ones((4, 4))), complement=True).delta == 0


# --------------------------------------------------------------------------------------------------- the bounds
@pytest.mark.parametrize("known", [one for one in SPECIMENS if one.optimum is not None], ids=lambda one: one.name)
def test_known_optima_are_enclosed(known):
    optimum = known.optimum()
    proof = prove(known.instance(), optimum.formulation, **optimum.parameters)
    assert proof.sharp, proof.why_wide
    assert Fraction(proof.lower) <= Fraction(optimum.value) <= Fraction(proof.upper)


def drawn(seed=3, n=14, count=4):
    """Kernels of full and of low rank, uneven weights of samples, and targets of every kind."""
    rng = np.random.default_rng(seed)
    views = [rng.integers(-4, 5, (n, rank)).astype(float) / 4 for rank in (20, 3, 9, 2)][:count]
    kernels = np.stack([view @ view.T for view in views])
    y = np.where(views[0][:, 0] + views[2][:, 0] + rng.normal(size=n) / 2 > 0, 1, -1)
    weight = rng.integers(1, 4, n) / 2
    labels = np.column_stack([y > 0, views[1][:, 0] > 0, views[2][:, 1] > 0]).astype(int)
    return {
        "single task": Instance(kernels, y, groups=[0, 0, 1, 2], sample_weight=weight),
        "many": Instance(kernels, labels=labels, sample_weight=weight),
        "svm": Instance(kernels[:1], y, sample_weight=weight),
    }


DRAWN = drawn()
OWN = {
    "sm1": {"theta": 0.4}, "sm2": {"theta": 0.3}, "smp": {"theta": 0.7, "p": 1.7}, "square": {"theta": 0.6},
    "lp": {"p": 3.0}, "elastic": {"l1_ratio": 0.3}, "vskl": {"s": 3.0},
    "block_elastic": {"l1_ratio": 0.3}, "group_lasso": {"lam": 0.4},
    "ts": {"lam": 0.3, "balanced": True}, "ts_l1": {"lam": 0.05},
    "hypergraph": {"lam": 0.5}, "hypergraph_smooth": {"lam": 0.5, "smoothing": 0.1},
}  # fmt: skip
CASES = [
    *((f.name, {**OWN.get(f.name, {})}) for f in formulations.FORMULATIONS),
    *((f.name, {**OWN.get(f.name, {}), "C": 0.3, "bias": False}) for f in formulations.SINGLE_TASKS),
    *(
        (f.name, {**OWN.get(f.name, {}), "nu": 0.4, "bias": bias})
        for f in formulations.SINGLE_TASKS
        if "nu" in f.losses
        for bias in (True, False)
    ),
    *(("hypergraph", {"expansion": expansion}) for expansion in ("star", "zhou", "kcca")),
    ("lp", {"p": 1.0}), ("elastic", {"l1_ratio": 1.0}), ("elastic", {"l1_ratio": 0.0}), ("sm1", {"theta": 0.25}),
    ("block_elastic", {"l1_ratio": 1.0}), ("block_elastic", {"l1_ratio": 0.0}), ("group_lasso", {"lam": 100.0}),
    ("ml_sum", {"C": 0.02}), ("ml_minimax", {"C": 0.02}), ("ts_l1", {"lam": 0.001}),
]  # fmt: skip


ROOTS = ("li", "ckl", "vskl")  # whose dual adds up √q


def instance_for(name):
    family = formulations.get(name).family
    return DRAWN["svm" if name == "svm" else family if family == "single task" else "many"]


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_balls_agree_with_the_certificate_and_survive_bad_points(monkeypatch, name, parameters):
    monkeypatch.setattr(polishing, "LARGEST", 0)  # samples whose α is polished
    monkeypatch.setattr(single, "ROUNDS", 0)
    instance = instance_for(name)
    solution = solve(instance, name, tol=1e-11 if name in ("ts", "ts_l1") else None, **parameters)
    proof, size = enclose(instance, solution), max(abs(solution.objective), solution.certificate.scale)
    assert proof.sharp, proof.why_wide
    assert proof.perturbations == {}
    # In double precision the bounds came out no better, up to rounding; q = 0 comes out as 1e-17, and √q as 3e-9.
    rounding = (1e-8 if name in ROOTS else 1e-11) * size
    assert solution.certificate.lower - rounding <= proof.lower <= solution.certificate.upper + rounding
    assert solution.certificate.lower - rounding <= proof.upper <= solution.certificate.upper + rounding
    for seed, factor in ((0, 1.0), (1, 1.0), (2, 1.3)):
        worse = enclose(instance, spoiled(solution, seed, factor))
        assert worse.lower <= proof.upper
        assert worse.upper >= proof.lower
        assert worse.upper - worse.lower > 10 * (proof.upper - proof.lower)


def spoiled(solution, seed, factor):
    """The solution with everything moved by some per cent and multiplied, out of its feasible set as well."""
    rng = np.random.default_rng(seed)

    def moved(values):
        return None if values is None else factor * values * (1 + rng.normal(size=np.shape(values)) / 20) + 1e-4

    multipliers = {name: moved(np.asarray(solution.multipliers[name])) for name in solution.multipliers}
    weights = moved(np.nan_to_num(solution.weights))
    coefficients = None if solution.alpha is None else moved(solution.all_coefficients)
    return replace(
        solution, alpha=moved(solution.alpha), weights=weights, coefficients=coefficients, multipliers=multipliers
    )


def test_a_cap_just_below_its_limit_is_the_limit():
    instance = DRAWN["single task"].select([0, 1, 2])
    assert Fraction(1 / 3) < Fraction(1, 3)
    capped, average = prove(instance, "sm1", theta=1 / 3), prove(instance, "average")
    assert capped.sharp
    assert max(capped.lower, average.lower) <= min(capped.upper, average.upper)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("elastic", {"l1_ratio": 0.3}),
        ("l2", {}),
        ("lp", {"p": 1.3}),
        ("l1", {}),
        ("sm1", {"theta": 0.5}),
        ("block_elastic", {"l1_ratio": 0.3}),
    ],
)
def test_weights_satisfy_their_constraint_exactly(name, own):
    with flint.ctx.workprec(128):
        case = Case(name, own, 3)
        mu = [Fraction(int(v.p), int(v.q)) for v in case.feasible(np.array([0.9, 0.8, 0.7]), [True] * 3)]
    r, p = Fraction(own.get("l1_ratio", 0.0)), own.get("p", 2.0)
    sizes = {"elastic": r * sum(mu) + (1 - r) * sum(v**2 for v in mu), "l2": sum(v**2 for v in mu)}
    sizes["block_elastic"] = sum(r * v / (1 - (1 - r) * v) for v in mu)
    size = sizes.get(name, sum(mu) if name != "lp" else sum(float(v) ** p for v in mu))
    assert min(mu) > 0
    assert max(mu) <= Fraction(own.get("theta", 1.0))
    assert size == 1 if name in ("l1", "sm1") else 1 - 1e-12 < size <= (1 if name != "lp" else 1 + 1e-15)


def test_a_used_kernel_has_a_weight():
    with flint.ctx.workprec(128):
        mu = Case("l1", {}, 2).feasible(np.array([1.0, 0.0]), [True, True])
    assert mu[1] > 0


@pytest.mark.parametrize("expansion", ["clique", "star", "zhou", "kcca"])
def test_incidence_balls_make_the_same_hypergraph(expansion):
    labels = np.array([[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0]], dtype=float)
    with flint.ctx.workprec(128):
        h = incidence_balls(labels, expansion)
        graph = np.array([[float(x) for x in row] for row in (h * h.transpose()).tolist()])
    expected = formulations.families.hypergraph.incidence(labels, expansion)
    np.testing.assert_allclose(graph, expected @ expected.T, atol=1e-14)


def test_a_ridge_widens_the_upper_bound_and_moves_nothing():
    """α'Kα < 0 for the stored kernel: the optimum is above Σα, and no semidefinite kernel has it."""
    kernel = np.array([[1.0, 1.0 + 2.0**-50], [1.0 + 2.0**-50, 1.0]])
    instance = Instance(kernel[None], [1, -1])
    proof = prove(instance, "svm", C=1024.0)
    best = Fraction(2 * 1024) + Fraction(1024**2, 2**50)
    (delta,) = proof.perturbations.values()
    assert 2.0**-50 <= delta <= 2.0**-48
    assert 2048 < Fraction(proof.lower) <= best <= Fraction(proof.upper)
    assert proof.sharp


def test_a_stack_means_its_lower_triangle():
    instance = specimen("clouds").instance()
    tilt = np.triu(np.full((60, 60), 2.0**-40), 1)
    tilted = instance.with_kernels(instance.kernels + tilt)
    plain, other = enclose(instance, solve(instance, "l1")), enclose(tilted, solve(instance, "l1"))
    assert (plain.lower, plain.upper) == (other.lower, other.upper)


# --------------------------------------------------------------------------------------------- the command line
def test_the_command_prints_an_interval(run, problem):
    code, out, err = run("prove", problem, "-f", "sm1", "--set", "theta=0.5")
    assert (code, err) == (0, "")
    assert "proved to lie between" in out
    assert " bits" in out


def test_the_command_prints_json(run, problem):
    code, out, _ = run("prove", problem, "-f", "ckl", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["schema"] == "mklcvx.proof/1"
    assert float(found["lower"]) <= float(found["upper"])
    assert found["semidefinite"]
    middle, radius = Fraction(found["lower_ball"]["midpoint"]), Fraction(found["lower_ball"]["radius"])
    assert Fraction(float(found["lower"])) <= middle - radius


@pytest.mark.parametrize("name", ["ts", "ts_l1", "alignment"])
def test_the_command_proves_the_second_stage_too(run, problem, name):
    code, out, _ = run("prove", problem, "-f", name, "--json")
    (machine,) = json.loads(out)["second_stage"]
    assert code == 0
    assert float(machine["lower"]) <= float(machine["upper"])
    assert machine["relative_width"] <= 1e-8
    _, shown, _ = run("prove", problem, "-f", name)
    assert "optimum of the first stage" in shown
    assert "second stage, y" in shown


def test_a_wide_interval_is_exit_status_one(run, problem):
    code, out, err = run("prove", problem, "-f", "alignment", "--set", "approximate=true", "--json")
    assert code == 1
    assert json.loads(out)["why_wide"] in err


def test_unusable_input_is_exit_status_two(run, problem):
    code, _, err = run("prove", problem, "-f", "sm1", "--set", "theta=0.1")
    assert code == 2
    assert "theta" in err


def test_without_python_flint_one_line_says_so(monkeypatch, run, problem):
    for name in [name for name in sys.modules if name.startswith("mklcvx.certificate.ball_arithmetic")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "flint", None)
    code, _, err = run("prove", problem)
    assert code == 2
    assert "pip install 'mklcvx[rigorous]'" in err
    importlib.invalidate_caches()
