"""Identities between formulations: equalities where they are equal, rates where one is the limit of another."""

from __future__ import annotations

import numpy as np
import pytest

from cases import LOSSES, given_for
from checks import check_same_function, value_of
from mklcvx import Instance, solve, zoo
from solved_once import solved_once

pytestmark = pytest.mark.slow

INSTANCE = zoo.random(24, 4, seed=21)
ONE = INSTANCE.select([1])
BOTH_LOSSES = [{"C": 2.0}, {"nu": 0.5}]
EQUAL = 2e-8


def value(name: str, instance: Instance = INSTANCE, **given) -> float:
    return value_of(solved_once(instance, name, solver="clarabel", **given))


@pytest.mark.parametrize("given", BOTH_LOSSES)
@pytest.mark.parametrize("name", ["sum", "average", "l1", "sm1", "lp", "l2", "elastic", "block_elastic"])
def test_one_kernel_is_the_svm(name, given):
    assert value(name, ONE, **given) == pytest.approx(value("svm", ONE, **given), rel=EQUAL)


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_one_kernel_with_a_penalty_is_the_svm_plus_a_constant(given):
    svm = value("svm", ONE, **given)
    assert value("sm2", ONE, theta=0.8, **given) == pytest.approx(svm + 1 / 1.6, rel=EQUAL)
    c = (2 * 2 / (0.8 * 3)) ** 2
    assert value("smp", ONE, theta=0.8, p=3, **given) == pytest.approx(svm + c / 3, rel=EQUAL)
    assert abs(value("square", ONE, theta=0.8, **given) - svm) > 1e-3 * abs(svm)


@pytest.mark.parametrize(("C", "tolerance"), [(1.0, 1e-6)])
def test_the_svm_is_scikit_learns(C, tolerance):
    from sklearn.svm import SVC

    machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit(ONE.kernels[0], ONE.y)
    solution = solve(ONE, "svm", solver="clarabel", C=C)
    assert solution.decision_function(ONE.kernels) == pytest.approx(
        machine.decision_function(ONE.kernels[0]), abs=tolerance
    )
    assert solution.bias == pytest.approx(float(machine.intercept_[0]), abs=tolerance)


def test_the_nu_form_is_scikit_learns_after_rescaling():
    """LIBSVM's ν-SVC has 1'α = ν n; divided by the margin both predict the same side."""
    from sklearn.svm import NuSVC

    machine = NuSVC(nu=0.4, kernel="precomputed", tol=1e-10).fit(ONE.kernels[0], ONE.y)
    solution = solve(ONE, "svm", solver="clarabel", nu=0.4)
    scaled = solution.decision_function(ONE.kernels) / solution.multipliers["rho"]
    assert scaled == pytest.approx(machine.decision_function(ONE.kernels[0]), abs=1e-5)


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_sm1_runs_from_the_average_to_l1(given):
    assert value("sm1", theta=0.25, **given) == pytest.approx(value("average", **given), rel=EQUAL)
    for theta in (1.0, 5.0):
        assert value("sm1", theta=theta, **given) == pytest.approx(value("l1", **given), rel=EQUAL)


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_sm2_tends_to_l1_at_its_rate(given):
    """value − l1 ≈ ‖μ‖²/(2θ), μ the weights of l1; the remainder falls like θ^−2."""
    limit = solve(INSTANCE, "l1", solver="clarabel", **given)
    remainders = []
    for theta in (1e2, 1e3):
        expected = limit.weights @ limit.weights / (2 * theta)
        remainders.append(abs(value("sm2", theta=theta, **given) - value_of(limit) - expected))
        assert remainders[-1] < 0.3 * expected
    assert remainders[1] < 0.05 * remainders[0] + 1e-9


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_sm2_tends_to_the_average_at_its_rate(given):
    """value − 1/(2Mθ) → average; the distance falls like θ."""
    average = value("average", **given)
    distances = [average - (value("sm2", theta=theta, **given) - 1 / (8 * theta)) for theta in (1e-2, 1e-3)]
    assert distances[0] > distances[1] > 0
    assert distances[0] / distances[1] == pytest.approx(10, rel=0.2)


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_smp_at_two_is_sm2(given):
    assert value("smp", p=2, theta=0.7, **given) == pytest.approx(value("sm2", theta=0.7, **given), rel=EQUAL)


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_smp_tends_to_sm1_where_its_price_is_beyond_all_numbers_but_the_largest(given):
    capped = value("sm1", theta=0.4, **given)
    distances = [abs(value("smp", theta=0.8, p=p, **given) - capped) for p in (80, 160, 640)]
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.01 * abs(capped)
    assert solve(INSTANCE, "smp", theta=0.8, p=640, **given).certified


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_lp_is_l1_at_one_and_l2_at_two_and_tends_to_the_sum(given):
    assert value("lp", p=1, **given) == pytest.approx(value("l1", **given), rel=EQUAL)
    assert value("lp", p=2, **given) == pytest.approx(value("l2", **given), rel=EQUAL)
    total = value("sum", **given)
    distances = [value("lp", p=p, **given) - total for p in (50, 100)]
    assert distances[0] / distances[1] == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_elastic_runs_from_l2_to_l1(given):
    assert value("elastic", l1_ratio=1, **given) == pytest.approx(value("l1", **given), rel=EQUAL)
    assert value("elastic", l1_ratio=0, **given) == pytest.approx(value("l2", **given), rel=EQUAL)


@pytest.mark.parametrize("given", BOTH_LOSSES)
def test_block_elastic_runs_from_sum_to_l1(given):
    assert value("block_elastic", l1_ratio=1, **given) == pytest.approx(value("l1", **given), rel=EQUAL)
    assert value("block_elastic", l1_ratio=0, **given) == pytest.approx(value("sum", **given), rel=EQUAL)
    ratios = np.array([0, 0.01, 0.1, 0.5, 1])
    slopes = np.diff([value("block_elastic", l1_ratio=r, **given) for r in ratios]) / np.diff(ratios)
    assert (slopes > 0).all()  # (Σa)² ≥ Σa²
    assert (np.diff(slopes) < 0).all()  # the least of functions that are linear in r is concave


def test_elastic_has_the_function_of_sm2_with_other_parameters():
    """(C, r) there is (Cσ, θ = 1/(2σ³(1−r)τ)) here, σ = Σμ."""
    r, C = 0.4, 1.0
    elastic = solve(INSTANCE, "elastic", solver="clarabel", C=C, l1_ratio=r)
    total, tau = elastic.weights.sum(), elastic.multipliers["tau"]
    soft = solve(INSTANCE, "sm2", solver="clarabel", C=C * total, theta=1 / (2 * total**3 * (1 - r) * tau))
    check_same_function(elastic, soft, INSTANCE.kernels)


def test_square_has_the_alpha_of_l2_at_one_theta_only():
    l2 = solve(INSTANCE, "l2", solver="clarabel", C=1.0)
    half_q = np.array([(l2.alpha * l2.y) @ k @ (l2.alpha * l2.y) / 2 for k in INSTANCE.kernels])
    right = solve(INSTANCE, "square", solver="clarabel", C=1.0, theta=1 / np.linalg.norm(half_q))
    assert right.alpha == pytest.approx(l2.alpha, abs=1e-5)
    wrong = solve(INSTANCE, "square", solver="clarabel", C=1.0, theta=3 / np.linalg.norm(half_q))
    assert np.abs(wrong.alpha - l2.alpha).max() > 1e-3


@pytest.mark.parametrize("theta", [0.1, 1.0, 10.0])
def test_square_has_the_alpha_of_l2_at_every_theta_in_the_nu_form(theta):
    l2 = solve(INSTANCE, "l2", solver="clarabel", nu=0.5)
    assert solve(INSTANCE, "square", solver="clarabel", nu=0.5, theta=theta).alpha == pytest.approx(l2.alpha, abs=1e-5)


def test_duplicated_kernels_leave_the_value_of_l1_unchanged():
    doubled = Instance(np.concatenate([INSTANCE.kernels, INSTANCE.kernels]), INSTANCE.y)
    assert value("l1", doubled, C=2.0) == pytest.approx(value("l1", C=2.0), rel=EQUAL)


@pytest.mark.parametrize(("name", "loss"), LOSSES)
def test_scaling_every_kernel(name, loss):
    """Kernels times s: with C/s (loss c) f stays and the value is divided by s; loss nu: the value is multiplied by
    s. θ of sm2 and square goes with s for loss c and against it for loss nu; θ of smp with the power 1/(p−1); λ of
    group_lasso, a price of norms, with 1/√s."""
    s = 7.0
    instance = ONE if name == "svm" else INSTANCE
    scaled = Instance(instance.kernels * s, instance.y, groups=instance.groups)
    given, there = given_for(instance, loss), given_for(instance, loss)
    if loss == "c":
        there["C"] /= s
    power = {"sm2": 1.0, "square": 1.0, "smp": 2.0}.get(name)
    if power is not None:
        there["theta"] = s**power if loss == "c" else s**-power
    if name == "group_lasso":
        there["lam"] = s**-0.5
    factor = 1 / s if loss == "c" else s
    assert value(name, scaled, **there) == pytest.approx(factor * value(name, instance, **given), rel=EQUAL)


def test_one_kernel_per_group_is_li():
    single = Instance(INSTANCE.kernels, INSTANCE.y, groups=np.arange(4))
    assert value("ckl", single, C=2.0) == pytest.approx(value("li", C=2.0), rel=EQUAL)
    assert value("vskl", single, C=2.0, s=2) == pytest.approx(value("sum", C=2.0), rel=EQUAL)


def test_a_single_group_is_l1():
    together = Instance(INSTANCE.kernels, INSTANCE.y, groups=np.zeros(4, dtype=int))
    assert value("ckl", together, C=2.0) == pytest.approx(2 * value("l1", C=1.0), rel=EQUAL)
    assert value("vskl", together, C=2.0, s=5) == pytest.approx(value("l1", C=2.0), rel=EQUAL)


def test_li_with_one_kernel_is_twice_the_svm():
    assert value("li", ONE, C=2.0) == pytest.approx(2 * value("svm", ONE, C=1.0), rel=EQUAL)


def test_vskl_tends_to_ckl():
    """½·ckl(2C) for s → ∞; the distance falls like 1/s."""
    limit = value("ckl", C=4.0) / 2
    distances = [value("vskl", C=2.0, s=s) - limit for s in (50, 100)]
    assert distances[0] / distances[1] == pytest.approx(2, rel=0.1)


def test_the_class_weight_is_a_sample_weight():
    weights = np.where(INSTANCE.y > 0, 3.0, 0.5)
    by_class = Instance(INSTANCE.kernels, INSTANCE.y, class_weight={1: 3.0, -1: 0.5})
    by_sample = Instance(INSTANCE.kernels, INSTANCE.y, sample_weight=weights)
    assert value("l1", by_class, C=1.0) == pytest.approx(value("l1", by_sample, C=1.0), rel=EQUAL)
    assert abs(value("l1", by_class, C=1.0) - value("l1", C=1.0)) > 1e-2
