"""Weights that are given make one kernel of many: the same optima as with all of them, and limits that are kept."""

import numpy as np
import pytest

from covering import covering
from mklcvx import Instance, LowRank, MKLClassifier, solve
from mklcvx.certificate.run import Ending
from mklcvx.formulations import get
from mklcvx.problem.stack import KernelStack
from mklcvx.solvers.families import single_task
from mklcvx.solvers.one_kernel import with_one_kernel

RNG = np.random.default_rng(3)
N, M = 110, 4
X = RNG.normal(size=(N, 5))
Y = np.where(X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=N) > 1, 1, -1)
VIEWS = [X[:, :2], X[:, 1:3], X[:, 2:4], X[:, 3:]]
KERNELS = np.stack([np.exp(-0.5 * ((view[:, None] - view) ** 2).sum(axis=-1)) for view in VIEWS])
PLAIN = Instance(KERNELS, Y)
WEIGHTED = Instance(KERNELS, Y, sample_weight=RNG.uniform(0.5, 2, N))
TOLD = {"report": lambda _: None, "callback": lambda _: None, "max_iter": None}


@pytest.fixture
def outcomes(monkeypatch):
    """Whether one kernel served, for every attempt."""
    found = []

    def noted(*given, **more):
        outcome = with_one_kernel(*given, **more)
        found.append(outcome is not None)
        return outcome

    monkeypatch.setattr(single_task, "with_one_kernel", noted)
    return found


def check_same_optimum(one, other):
    assert one.certified
    assert other.certified
    assert max(one.certificate.lower, other.certificate.lower) <= min(one.certificate.upper, other.certificate.upper)


@pytest.mark.parametrize(
    ("C", "instance", "formulation"), covering([0.01, 1.0, 100.0], [PLAIN, WEIGHTED], ["average", "sum"]), ids=str
)
def test_given_weights_make_one_machine(outcomes, formulation, instance, C):
    found = solve(instance, formulation, C=C)
    assert outcomes == [True]
    assert found.solver == "interior"
    assert found.svm_solves >= 1
    assert found.weights.tolist() == [1 / M if formulation == "average" else 1.0] * M
    check_same_optimum(found, solve(instance, formulation, C=C, solver="interior"))


@pytest.mark.parametrize(
    ("instance", "parameters"),
    [
        (PLAIN, {"C": 1.0, "bias": False}),
        (PLAIN, {"nu": 0.3}),
        (PLAIN, {"C": 1.0, "loss": "logistic"}),
        (Instance(KERNELS, response=X[:, 0]), {"C": 1.0, "loss": "epsilon_insensitive"}),
    ],
    ids=["no bias", "nu", "logistic", "response"],
)
def test_any_loss_has_one_kernel(outcomes, instance, parameters):
    found = solve(instance, "average", **parameters)
    assert outcomes == [True]
    check_same_optimum(found, solve(instance, "average", solver="interior", **parameters))


@pytest.mark.parametrize(
    ("instance", "formulation"),
    [(PLAIN, "l1"), (PLAIN.select([1]), "svm"), (Instance(LowRank([X, X[:, :2]]), Y), "average")],
    ids=["weights to be found", "one kernel already", "factors"],
)
def test_other_problems_are_left_to_the_engine(outcomes, instance, formulation):
    assert solve(instance, formulation, C=1.0).certified
    assert outcomes == [False]


def test_rows_of_the_trace_have_the_weights_of_the_formulation():
    rows = []
    found = solve(PLAIN, "average", C=1.0, callback=lambda row: rows.append(row))
    assert [row.weights.tolist() for row in (*rows, *found.trace)] == [[1 / M] * M] * (2 * len(rows))
    assert rows


def test_limits_are_kept(outcomes):
    assert solve(PLAIN, "average", C=1.0, max_iter=2).iterations <= 2
    assert outcomes == [False]  # iterations are the engine's
    task, _ = get("average").task(PLAIN, {"C": 1.0})
    _, run = with_one_kernel(get("average"), task, 1e-8, time_limit=1e-9, **TOLD)
    assert run.status is Ending.TIME_LIMIT
    _, run = with_one_kernel(get("average"), task, 1e-300, time_limit=None, **{**TOLD, "callback": lambda _: True})
    assert run.status is Ending.CALLBACK


def test_all_machines_of_a_fit_share_one_sum(monkeypatch):
    sums, combined = [], KernelStack._combined

    def counted(task, weights):
        if task.count == M:
            sums.append(weights)
        return combined(task, weights)

    monkeypatch.setattr(KernelStack, "_combined", counted)
    MKLClassifier("average", "precomputed", C=1.0).fit(np.moveaxis(KERNELS, 0, -1), np.arange(N) % 5)
    assert len(sums) == 1
