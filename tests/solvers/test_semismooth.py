"""Active-set steps from a support vector machine: the same optima as the engine's, and the engine where they fail."""

from __future__ import annotations

import numpy as np
import pytest

from mklcvx import Instance, LowRank, MKLClassifier, solve, zoo
from mklcvx.certificate.run import Ending
from mklcvx.formulations import get
from mklcvx.solvers import semismooth
from mklcvx.solvers.families import single_task
from mklcvx.solvers.semismooth import FROM_MACHINE
from mklcvx.solvers.solving import solve_from

RNG = np.random.default_rng(3)
N, M = 80, 4
X = RNG.normal(size=(N, 5))
Y = np.where(X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=N) > 1, 1, -1)
VIEWS = [X[:, :2], X[:, 1:3], X[:, 2:4], X[:, 3:]]
KERNELS = np.stack([np.exp(-0.5 * ((view[:, None] - view) ** 2).sum(axis=-1)) for view in VIEWS])
WEIGHT = RNG.uniform(0.5, 2, N)
PLAIN = Instance(KERNELS, Y)
WEIGHTED = Instance(KERNELS, Y, sample_weight=WEIGHT)


@pytest.fixture
def outcomes(monkeypatch):
    """Whether the steps arrived, for every attempt."""
    found, quickly = [], single_task.quickly

    def noted(*given, **more):
        outcome = quickly(*given, **more)
        found.append(outcome is not None)
        return outcome

    monkeypatch.setattr(single_task, "quickly", noted)
    return found


def check_same_optimum(one, other):
    assert one.certified
    assert other.certified
    assert max(one.certificate.lower, other.certificate.lower) <= min(one.certificate.upper, other.certificate.upper)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("instance", [PLAIN, WEIGHTED], ids=["plain", "weighted"])
@pytest.mark.parametrize("formulation", ["average", "sum"])
def test_given_weights_make_one_machine(outcomes, formulation, instance, C):
    found = solve(instance, formulation, C=C)
    assert outcomes == [True]
    assert (found.svm_solves, found.solver) == (1, "interior")
    assert found.weights.tolist() == [1 / M if formulation == "average" else 1.0] * M
    check_same_optimum(found, solve(instance, formulation, C=C, solver="interior"))


def test_one_kernel_is_a_machine(outcomes):
    found = solve(PLAIN.select([1]), "svm", C=1.0, tol=1e-10)
    assert outcomes == [True]
    assert found.certificate.relative_gap <= 1e-10
    check_same_optimum(found, solve(PLAIN.select([1]), "svm", C=1.0, solver="clarabel"))


@pytest.mark.parametrize("C", [3.0, 10.0])
@pytest.mark.parametrize("formulation", ["l1", "lp", "sm1", "sm2", "elastic"])
def test_machines_lead_to_learned_weights(outcomes, formulation, C):
    found = solve_from(FROM_MACHINE, PLAIN, formulation, C=C)
    check_same_optimum(found, solve(PLAIN, formulation, C=C, solver="interior"))
    assert outcomes == [True]
    assert found.svm_solves >= 1


def test_learned_weights_start_from_no_machine_unless_told(outcomes):
    assert solve(PLAIN, "l1", C=1.0).svm_solves == 0
    assert outcomes == [False]


@pytest.mark.parametrize(
    ("instance", "parameters"),
    [
        (PLAIN, {"C": 1.0, "bias": False}),
        (PLAIN, {"nu": 0.3}),
        (PLAIN, {"C": 1.0, "loss": "squared_hinge"}),
        (PLAIN, {"C": 1.0, "loss": "logistic"}),
        (Instance(LowRank([X, X[:, :2]]), Y), {"C": 1.0}),
        (Instance(KERNELS, response=X[:, 0]), {"C": 1.0, "loss": "epsilon_insensitive"}),
    ],
    ids=["no bias", "nu", "squared hinge", "logistic", "factors", "response"],
)
def test_what_is_no_machine_of_libsvm_is_left_to_the_engine(outcomes, instance, parameters):
    assert solve(instance, "average", **parameters).certified
    assert outcomes == [False]


@pytest.mark.parametrize("formulation", ["average", "l1"])
@pytest.mark.parametrize("fault", ["no machine", "a wrong one", "one that is no optimum"])
def test_where_steps_fail_the_engine_takes_over(outcomes, monkeypatch, formulation, fault):
    wrong = {"no machine": None, "a wrong one": np.full(N, np.nan), "one that is no optimum": np.zeros(N)}[fault]
    monkeypatch.setattr(semismooth, "by_libsvm", lambda *_, **__: wrong)
    monkeypatch.setattr(semismooth.SemismoothNewton, "max_iter", 1)
    found = solve_from(FROM_MACHINE, PLAIN, formulation, C=1.0)
    assert found.certified
    assert outcomes == [False]
    assert found.svm_solves == 0  # those of the run that found it
    np.testing.assert_array_equal(found.alpha, solve(PLAIN, formulation, C=1.0, solver="interior", tol=1e-8).alpha)


def test_steps_that_do_not_become_shorter_end_early(outcomes):
    kernels = np.stack([np.outer(column, column) for column in X.T]) * 10.0 ** np.arange(-4, 6, 2)[:, None, None]
    found = solve_from(FROM_MACHINE, Instance(kernels, Y), "l1", C=1e4)
    assert found.certified == solve(Instance(kernels, Y), "l1", C=1e4).certified


@pytest.mark.parametrize("name", ["nearly-equal", "imbalanced-weighted", "repeated-samples", "separable"])
def test_peculiar_kernels_have_the_same_optimum(name):
    instance = zoo.specimen(name).instance()
    check_same_optimum(solve(instance, "average", C=1.0), solve(instance, "average", C=1.0, solver="interior"))


def test_rows_of_the_trace_have_the_weights_of_the_formulation():
    rows = []
    found = solve(PLAIN, "average", C=1.0, callback=lambda row: rows.append(row))
    assert [row.weights.tolist() for row in (*rows, *found.trace)] == [[1 / M] * M] * (2 * len(rows))
    assert rows


def test_limits_are_kept(outcomes):
    assert solve(PLAIN, "average", C=1.0, max_iter=2).iterations <= 2
    assert outcomes == [False]  # iterations are the engine's
    task, _ = get("average").task(PLAIN, {"C": 1.0})
    told = {"report": lambda _: None, "callback": lambda _: None, "max_iter": None}
    _, run = semismooth.quickly(get("average"), task, 1e-8, time_limit=1e-9, **told)
    assert run.status is Ending.TIME_LIMIT
    _, run = semismooth.quickly(get("average"), task, 1e-300, time_limit=None, **{**told, "callback": lambda _: True})
    assert run.status is Ending.CALLBACK


def test_all_machines_of_a_fit_share_one_sum(monkeypatch):
    sums, combined = [], semismooth.Task._combined

    def counted(task, weights):
        sums.append(weights)
        return combined(task, weights)

    monkeypatch.setattr(semismooth.Task, "_combined", counted)
    MKLClassifier("average", "precomputed", C=1.0).fit(np.moveaxis(KERNELS, 0, -1), np.arange(N) % 5)
    assert len(sums) == 1
