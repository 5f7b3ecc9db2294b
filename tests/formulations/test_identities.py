"""Identities between formulations: equalities where they are equal, rates where one is the limit of another."""

import numpy as np
import pytest

from cases import LOSSES, given_for
from checks import check_same_function, value_of
from mklcvx import Instance, solve, zoo
from solved_once import solved_once

pytestmark = pytest.mark.slow

INSTANCE = zoo.random(24, 4, seed=21)
ONE = INSTANCE.select([1])
EQUAL = 2e-8


def value(name: str, instance: Instance = INSTANCE, **given) -> float:
    return value_of(solved_once(instance, name, solver="clarabel", **given))


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
