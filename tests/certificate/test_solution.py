"""Solving as people use it: predictions, weights, honest status, limits."""

import numpy as np
import pytest

from mklcvx import Certificate, InputError, Instance, formulations, solve, zoo
from mklcvx.certificate import CertifiedPoint, certify
from mklcvx.formulations import Points
from mklcvx.solvers.conic import solve_declared
from mklcvx.solvers.polish import sharpened

pytestmark = pytest.mark.slow

INSTANCE = zoo.random(30, 3, seed=2)
LABELLED = Instance(zoo.random(12, 3, seed=4).kernels, labels=np.arange(12)[:, None] // [1, 2, 3] % 2)


@pytest.mark.parametrize("name", ["ml_sum", "alignment"])
def test_the_class_with_the_largest_value_is_predicted_by_its_name(name):
    solution = solve(
        Instance(LABELLED.kernels, classes=np.arange(12) % 3, label_names=["cat", "dog", "owl"]),
        name,
        solver="clarabel",
    )
    values = solution.decision_function(LABELLED.kernels)
    assert values.shape == (12, 3)
    assert solution.predict(LABELLED.kernels).tolist() == [("cat", "dog", "owl")[k] for k in values.argmax(axis=1)]
    assert solution.classes == ("0", "1", "2")


@pytest.mark.parametrize("name", ["hypergraph", "hypergraph_smooth"])
def test_embedding_follows_the_definition(name):
    solution = solve(LABELLED, name, solver="clarabel", dimensions=2)
    kernel = np.tensordot(solution.weights, LABELLED.kernels, axes=1)
    embedded = solution.decision_function(LABELLED.kernels)
    assert solution.embeds
    assert solution.alpha is None
    assert embedded == pytest.approx(kernel @ solution.multipliers["B"], abs=1e-12)
    assert embedded.shape == (12, 2)
    np.testing.assert_array_equal(solution.predict(LABELLED.kernels), embedded)
    assert solution.labels_of(embedded) is None
    with pytest.raises(InputError, match=f"this solution of {name} has no classifier"):
        _ = solution.all_coefficients


@pytest.mark.parametrize("name", ["ts", "alignment", "hypergraph"])
def test_used_kernels_are_counted_by_their_weight_where_there_are_no_norms(name):
    solution = solve(LABELLED, name, solver="clarabel")
    assert solution.norms is None
    assert solution.used(share=0.2).tolist() == np.flatnonzero(solution.weights > 0.2 * solution.weights.sum()).tolist()


@pytest.mark.parametrize("name", ["ml_sum", "ts", "alignment", "hypergraph", "hypergraph_smooth"])
def test_a_stop_before_the_tolerance_is_said_in_every_family(name):
    solution = solve(LABELLED, name, solver="clarabel", time_limit=1e-9)
    assert solution.status == "not_certified"
    assert "within the time limit; nothing was solved" in solution.message
    exact = solve(LABELLED, name, solver="clarabel")
    assert exact.certified
    assert solution.certificate.lower <= exact.certificate.upper
    assert exact.certificate.lower <= solution.certificate.upper


def test_test_kernels_of_the_wrong_shape_are_refused():
    solution = solve(INSTANCE, "sum", solver="clarabel")
    with pytest.raises(InputError, match=r"test_kernels have shape \(3, 30\): give \(3, t, 30\)"):
        solution.decision_function(INSTANCE.kernels[:, 0, :])


def test_the_short_form_is_used_where_it_certifies():
    solution = solve(INSTANCE, "l2", solver="clarabel", C=1.0)
    assert solution.coefficients is None
    at_bounds = (solution.alpha == 0) | (solution.alpha == 1.0)
    assert at_bounds.sum() > 3  # sharpened: bounds are met exactly


def test_sharpening_meets_the_optimality_conditions():
    formulation = formulations.get("sum")
    for given in ({"C": 1.0}, {"nu": 0.5}, {"C": 1.0, "bias": False}, {"nu": 0.5, "bias": False}):
        task, _ = formulation.task(INSTANCE, given)
        point, _ = solve_declared(formulation, task, 1e-8)
        blurred = point.lower.alpha + 1e-7 * np.random.default_rng(0).normal(size=30) * task.box
        alpha = task.feasible(sharpened(task, np.ones(3), blurred, point.upper))
        sharp = certify(formulation, task, Points([alpha], [np.outer(np.ones(3), alpha * task.y)]))
        assert sharp.certificate.relative_gap < 1e-12


def test_an_impossible_tolerance_is_not_claimed():
    solution = solve(INSTANCE, "lp", solver="clarabel", C=1.0, tol=1e-300)
    assert solution.status == ("certified" if solution.certificate.gap <= 0 else "not_certified")


def test_a_solver_that_fails_leaves_a_certificate_all_the_same(monkeypatch):
    import cvxpy as cp

    exact = solve(INSTANCE, "l1", solver="clarabel", nu=0.5)

    def broken(self, *_, **__):
        raise cp.SolverError("no")

    monkeypatch.setattr(cp.Problem, "get_problem_data", broken)
    solution = solve(INSTANCE, "l1", solver="clarabel", nu=0.5)
    assert solution.status == "not_certified"
    assert "solver_error" in solution.message
    assert solution.certificate.lower <= exact.objective <= solution.certificate.upper


def test_the_certificate_measures_against_its_scale():
    certificate = Certificate(lower=-1e-9, upper=1e-9, scale=4.0)
    assert certificate.gap == 2e-9
    assert certificate.relative_gap == 5e-10
    assert certificate.proves(5e-10)
    assert not certificate.proves(4.9e-10)
    assert Certificate(2.0, 3.0, 0.5).relative_gap == 2
    assert Certificate(2.0, 3.0, 0.5, width=0.25).relative_gap == 0.5
    assert Certificate(0.0, 0.0, 0.0).relative_gap == 0


def test_where_the_scale_vanishes_the_value_stands_in_and_more_is_asked():
    certificate = Certificate(1.0, 1.0 + 1e-9, 1e-14)
    assert certificate.vanishing
    assert certificate.relative_gap == pytest.approx(1e-9)
    assert not certificate.proves(1e-8)
    assert Certificate(1.0, 1.0 + 2.0**-41, 1e-14).proves(1e-8)


def test_bounds_that_are_no_numbers_prove_nothing():
    for broken in (np.nan, np.inf):
        assert not Certificate(0.0, broken, 1.0).proves(1e-8)


def test_estimates_that_cross_prove_no_more_than_what_they_cross_by():
    formulation = formulations.get("sum")
    task, _ = formulation.task(INSTANCE, {"C": 1.0})
    point = certify(formulation, task, formulation.trivial_points(task))
    for off in (1e-15, 1.0):
        lower = point.lower._replace(value=point.upper.value * (1 + off))
        found = CertifiedPoint(lower, point.upper, 1.0).certificate
        assert found.gap == pytest.approx(off * point.upper.value, rel=0.5)
        assert found.proves(1e-8) == (off < 1)


def test_the_bias_interval_is_reported_where_the_bias_is_open():
    """Two samples with little C: both at their bound, the bias free between their margins."""
    instance = Instance(np.eye(2)[None], [1, -1])
    solution = solve(instance, "svm", solver="clarabel", C=0.25)
    assert solution.alpha == pytest.approx([0.25, 0.25])
    assert solution.bias_interval == pytest.approx((-0.75, 0.75), abs=1e-6)
    assert solution.bias == pytest.approx(0, abs=1e-6)
