"""The quadratic programs inside the SVMs: accurate to 1e-10 whatever the kernel, and quick from a good start."""

import numpy as np
import pytest

from covering import covering
from mklcvx.certificate import certify
from mklcvx.formulations import Points, Task
from mklcvx.formulations.svm import SVM
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.interior import qp
from mklcvx.solvers.interior.qp import BoxQP, box_qp, factored, interior_point
from mklcvx.solvers.svm import WeightedSVM, fit


def signed_kernel(samples, rank, seed=0):
    random = np.random.default_rng(seed)
    features = random.normal(size=(samples, rank))
    y = np.sign(features[:, 0] + 0.5 * random.normal(size=samples))
    kernel = features @ features.T
    if rank == samples:
        squares = np.diag(kernel)
        kernel = np.exp(-(squares[:, None] + squares - 2 * kernel) / (2 * samples))
    return y[:, None] * kernel * y


@pytest.mark.parametrize("rank", [1, 3, 60])
@pytest.mark.parametrize("price", [1e-3, 1.0, 1e3])
def test_the_box_qp_is_accurate_to_1e_10(rank, price):
    q, box = signed_kernel(60, rank), price * np.linspace(0.5, 1.5, 60)
    alpha = box_qp(q, box)
    assert ((alpha >= 0) & (alpha <= box)).all()
    gradient = q @ alpha - 1
    gap = alpha @ gradient + box @ np.maximum(-gradient, 0)
    assert gap <= 1e-10 * max(alpha.sum(), alpha @ q @ alpha / 2)


def test_a_start_at_the_optimum_costs_nothing(monkeypatch):
    q, box = signed_kernel(60, 60), np.ones(60)
    alpha = box_qp(q, box)
    calls = []
    monkeypatch.setattr(qp, "factored", lambda matrix: calls.append(1) or factored(matrix))
    assert box_qp(q, box, start=alpha) == pytest.approx(alpha, abs=1e-12)
    assert not calls
    nearby = q + 1e-3 * np.eye(60)
    warm = box_qp(nearby, box, start=alpha)
    steps_from_warm = len(calls)
    cold = box_qp(nearby, box)
    assert warm == pytest.approx(cold, abs=1e-7)
    assert steps_from_warm < len(calls) - steps_from_warm


def test_a_zero_matrix_puts_everything_at_the_bound():
    box = np.array([1.0, 2.0])
    assert box_qp(np.zeros((2, 2)), box) == pytest.approx(box)


@pytest.mark.parametrize(("loss", "bias", "rank"), covering(["c", "nu"], [True, False], [2, 50]))
def test_the_interior_point_solves_every_svm(loss, bias, rank):
    task = svm_task(50, rank, loss, bias)
    rows = [task.y] * bias + [np.ones(50)] * (loss == "nu")
    totals = np.array([0.0] * bias + [1.0] * (loss == "nu"))
    program = BoxQP(
        task.y[:, None] * task.kernels[0] * task.y,
        np.full(50, 1.0 if loss == "c" else 0.0),
        task.box,
        np.array(rows).reshape(len(totals), 50),
        totals,
    )
    alpha = interior_point(program, 1e-10)
    assert program.rows @ alpha == pytest.approx(totals, abs=1e-8)
    assert gap_of(task, alpha) < 1e-7


def svm_task(samples, rank, loss, bias, price=2.0):
    q = signed_kernel(samples, rank, seed=3)
    y = np.where(np.arange(samples) % 3 == 0, -1.0, 1.0)
    weights = np.linspace(0.8, 1.2, samples)
    box = weights * (price if loss == "c" else 1 / (0.4 * samples))
    return Task((y[:, None] * q * y)[None], y, box, loss, bias)


def gap_of(task, alpha):
    alpha = task.feasible(alpha)
    return certify(SVM, task, Points([alpha], [(alpha * task.y)[None]])).certificate.relative_gap


@pytest.mark.parametrize(
    ("loss", "bias", "rank", "price"), covering(["c", "nu"], [True, False], [1, 3, 50], [0.01, 1.0, 1e4])
)
def test_the_machine_is_good_enough_for_its_tolerance(loss, bias, rank, price):
    task = svm_task(50, rank, loss, bias, price)
    for tolerance in (1e-2, 1e-5, 1e-8):
        # Where C is large, margins known to u·C·n leave more than 1e-8 of the penalty open.
        assert gap_of(task, WeightedSVM(task, tolerance)(task.kernels[0])) <= max(tolerance, 2e-12 * price)


def test_the_machine_survives_a_kernel_that_says_nothing():
    """LIBSVM divides by a margin of zero here."""
    task = svm_task(20, 3, "nu", True)
    alpha = WeightedSVM(task, 1e-4)(np.zeros((20, 20)))
    assert alpha.sum() == pytest.approx(1)
    assert task.y @ alpha == pytest.approx(0)


def test_a_fit_is_counted_and_has_its_value():
    task = svm_task(30, 4, "c", True)
    problem = Problem(SVM, task, 1e-6)
    found = fit(problem, np.array([0.5]))
    signed = found.alpha * task.y
    half = signed @ task.kernels[0] @ signed / 2
    assert problem.svm_solves == 1
    assert found.halves == pytest.approx([half])
    assert found.value == pytest.approx(found.alpha.sum() - 0.5 * half)
    (alpha,), (coefficients,) = found.points(task)
    assert alpha is found.alpha
    assert coefficients == pytest.approx(0.5 * signed[None])
