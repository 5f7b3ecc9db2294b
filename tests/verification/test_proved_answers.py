"""What the judge says of an answer is true: of bad answers, of strangers' weights, and of indefinite kernels."""

from dataclasses import replace

import numpy as np
import pytest

import declared
from cases import NAMES, instance_for
from mklcvx import Instance, formulations, solve, verify, zoo
from mklcvx.formulations.losses import EVERY
from mklcvx.verification.answers import Answer, answer_of
from mklcvx.verification.families.single_task import machine_alpha
from mklcvx.verification.judge import judge
from mklcvx.verification.proved_answers import alpha_lower, answer_certificate, weights_upper

L1, L2 = formulations.get("l1"), formulations.get("l2")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", [{"C": 2.0}, {"C": 2.0, "bias": False}])
def test_whatever_is_handed_in_the_optimum_lies_between(name, loss):
    instance = instance_for(name, "balanced")
    formulation, given = formulations.get(name), loss
    task, _ = formulation.task(instance, given)
    best, draw = solve(instance, name, **given).certificate, np.random.default_rng(NAMES.index(name))
    for size in (1e-9, 1e-3, 1.0):
        weights = 1 + size * draw.random(task.count)
        alpha = task.box * draw.random(task.samples)
        coefficients = size * draw.normal(size=(task.count, task.samples))
        for answer in (
            Answer(alpha=alpha),
            Answer(weights=weights),
            Answer(weights=weights, alpha=alpha),
            Answer(coefficients=coefficients),
            Answer(weights=weights, alpha=alpha, coefficients=coefficients),
        ):
            found = judge(formulation, task, answer)
            assert found.lower <= best.upper
            assert best.lower <= found.upper
            assert 0 <= found.gap <= (found.upper - found.lower) * (1 + 1e-15) + 1e-280


def test_a_function_without_weight_is_paid_for():
    """Weights that leave out a kernel whose coefficients are the answer: its length must not be free."""
    instance = zoo.random(24, 4, seed=1)
    task, _ = L1.task(instance, {"C": 1.0})
    best = solve(instance, "l1", C=1.0)
    weights = np.where(best.weights == best.weights.max(), 0.0, 1.0)
    found = judge(L1, task, Answer(weights=weights, alpha=best.alpha, coefficients=50 * best.all_coefficients))
    assert found.upper > 2 * best.objective


def test_the_point_of_a_solution_proves_what_the_solution_says():
    for name in ("l1", "lp", "li"):
        instance = instance_for(name, "balanced")
        solution, formulation = solve(instance, name, C=1.0), formulations.get(name)
        task, _ = formulation.task(instance, {"C": 1.0})
        found = judge(formulation, task, answer_of(solution.as_dict()))
        assert (found.lower, found.upper) == (solution.certificate.lower, solution.certificate.upper)


def test_the_part_of_alpha_below_its_last_bits_is_read():
    answer = answer_of({"alpha": [1.0, 1.0], "alpha_low": [1e-20, -1e-20]})
    assert answer.alpha_low.tolist() == [1e-20, -1e-20]
    assert answer.given == ["alpha"]
    assert answer_of({"alpha_low": [1.0]}).alpha_low is None


def test_weights_inside_the_ball_are_judged_as_they_are():
    instance = zoo.random(24, 4, seed=1)
    task, _ = L2.task(instance, {"C": 1.0})
    weights = np.array([0.1, 0.2, 0.0, 0.3])
    kernel = Instance(np.tensordot(weights, instance.kernels, axes=1)[None], instance.y)
    worth = solve(kernel, "svm", C=1.0, tol=1e-11).certificate
    found = weights_upper(L2, task, weights, machine_alpha(task, weights), 1e-8)
    assert found == pytest.approx(worth.upper, rel=1e-9)
    assert alpha_lower(L2, task, machine_alpha(task, weights)) < solve(instance, "l2", C=1.0).objective


def test_answers_on_indefinite_kernels_get_wide_bounds():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(12, 12))
    kernel = features @ features.T / 12
    kernel[np.diag_indices(12)] -= np.linalg.eigvalsh(kernel)[0] + 1e-7
    y = np.where(np.arange(12) % 2 == 0, 1, -1)
    svm = formulations.get("svm")
    sound = Instance((kernel + 1e-5 * np.eye(12))[None], y)
    alpha = solve(sound, "svm", C=10.0, bias=False).alpha
    task, _ = svm.task(sound, {"C": 10.0, "bias": False})
    bent = replace(task, kernels=kernel[None])
    found = judge(svm, bent, Answer(weights=np.ones(1), alpha=alpha))
    assert found.ridge >= 1e-7
    signed = [a * y for a in 10.0 * rng.random((200, 12))]
    assert max(float(np.abs(s).sum() - s @ kernel @ s / 2) for s in signed) <= found.upper


def test_a_verdict_is_measured_by_the_scale_of_the_certificate():
    """A problem whose value is mostly risk: what an answer is off by is compared with the classifier's part."""
    instance = zoo.random(24, 4, seed=1)
    best = solve(instance, "l1", C=0.01, tol=1e-10)
    assert best.certificate.scale < 0.2 * best.objective
    claim = best.objective + 2e-6 * best.certificate.scale
    assert verify(instance, "l1", objective=claim, tol=1e-6, C=0.01, diagnosis=False).verdict == "rejected"
    assert verify(instance, "l1", objective=claim, tol=1e-5, C=0.01, diagnosis=False).verdict == "accepted"


@pytest.mark.parametrize(
    ("loss", "name"),
    [(loss, name) for place, loss in enumerate(EVERY) for name in ("l1", ("sm2", "lp", "li")[place % 3])],
    ids=lambda one: getattr(one, "name", one),
)
def test_with_every_loss_the_optimum_lies_between(loss, name):
    """Answers at random, and the best one with its α moved, its weights moved, or in coefficients."""
    if loss.free_margin and name == "li":
        name = "elastic"
    instance, formulation = declared.instance_for(loss), formulations.get(name)
    given = declared.parameters(loss)
    task, _ = formulation.task(instance, given)
    best, draw = solve(instance, name, **given), np.random.default_rng(1)
    for size in (0.0, 1e-9, 1e-3, 1.0):
        weights = np.nan_to_num(best.weights) + size * draw.random(task.count)
        alpha = best.alpha + size * draw.normal(size=task.samples)
        assert alpha_lower(formulation, task, alpha) <= best.certificate.upper
        for own in (None, np.outer(weights, alpha * task.signs) + size * draw.normal(size=(3, task.samples))):
            found = answer_certificate(formulation, task, weights, alpha, own, None, 1e-6)
            assert found.lower <= best.certificate.upper
            assert best.certificate.lower <= found.upper
        if formulation.between is None:
            assert weights_upper(formulation, task, weights, task.feasible(alpha), 1e-6) >= best.certificate.lower
    tight = answer_certificate(formulation, task, best.weights, best.alpha, best.coefficients, None, 1e-6)
    assert (tight.lower, tight.upper) == pytest.approx((best.objective,) * 2, rel=1e-5)
