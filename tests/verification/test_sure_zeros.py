"""Kernels that are proved to have no weight in any optimum, from rough certificates, against accurate optima."""

import numpy as np
import pytest

import mklcvx
from mklcvx import InputError, Instance, formulations, proved_zeros, solve, zoo
from mklcvx.certificate.rounding import below
from mklcvx.problem.preprocessing import Centre, Preprocessing
from mklcvx.verification.families.single_task import least_curvature
from mklcvx.verification.sure_zeros import _largest_eigenvalues, _threshold

CASES = [("l1", {}), ("sm1", {"theta": 0.45}), ("group_lasso", {"lam": 1.5})]
LABELLED, REAL = ("squared_hinge", "smoothed_hinge", "logistic"), ("squared", "huber", "squared_epsilon_insensitive")


def instance_for(loss, seed):
    drawn = zoo.random(24, 6, seed=seed)
    if loss in LABELLED:
        return drawn
    return Instance(drawn.kernels, response=drawn.kernels[0] @ np.random.default_rng(seed).normal(size=24))


@pytest.mark.parametrize("loss", LABELLED + REAL)
@pytest.mark.parametrize(("name", "own"), CASES)
def test_what_is_proved_from_a_rough_certificate_is_so_at_the_optimum(name, own, loss):
    counts = np.zeros(2, dtype=int)
    for seed in range(6):
        instance = instance_for(loss, seed)
        accurate = solve(instance, name, loss=loss, tol=1e-10, **own)
        rough = solve(instance, name, loss=loss, tol=1e-4, **own)
        zeros, sharper = proved_zeros(instance, rough), proved_zeros(instance, accurate)
        assert (accurate.weights[zeros] <= 1e-9).all()
        assert (sharper >= zeros).all() or accurate.certificate.gap > rough.certificate.gap
        counts += zeros.sum(), sharper.sum()
    assert counts[1] >= 3  # or else nothing was tried
    assert counts[1] >= counts[0]


@pytest.mark.parametrize("loss", LABELLED)
@pytest.mark.parametrize("bias", [True, False])
def test_no_root_of_q_moves_farther_than_the_theorem_says(loss, bias):
    """From points far from the optimal one: D is the formulation's own lower bound, α* that of an accurate solve."""
    instance, rng = zoo.random(20, 4, seed=3), np.random.default_rng(0)
    formulation = formulations.get("l1")
    task, _ = formulation.task(instance, {"loss": loss, "bias": bias})
    best = solve(instance, "l1", loss=loss, bias=bias, tol=1e-11)
    there = task.root_q(best.alpha)
    eigenvalues = _largest_eigenvalues(task.each_kernel(), below(least_curvature(task)))
    exact = [np.linalg.eigvalsh(kernel / least_curvature(task))[-1] for kernel in instance.kernels]
    assert (eigenvalues >= exact).all()
    for size in 10.0 ** -rng.uniform(0, 5, 200):
        lower = formulation.lower(task, best.alpha + size * rng.normal(size=20))
        moved = np.abs(lower.roots - there)
        excess = best.certificate.upper - lower.value
        assert (moved <= np.sqrt(2 * excess * np.array(exact)) + 1e-7).all()


def test_tied_kernels_are_never_proved_away():
    drawn = zoo.random(24, 3, seed=5)
    plain = solve(drawn, "l1", loss="squared_hinge", tol=1e-10)
    m = int(np.argmax(plain.weights))
    for factor in (1.0, 1 - 2.0**-40):
        stack = np.concatenate([drawn.kernels, factor * drawn.kernels[m : m + 1]])
        doubled = Instance(stack, drawn.y)
        zeros = proved_zeros(doubled, solve(doubled, "l1", loss="squared_hinge", tol=1e-9))
        assert not zeros[[m, 3]].any()


def test_a_cap_of_one_third_leaves_something_to_a_fourth_kernel():
    """The double next to 1/3 is less than it: three kernels at the cap have not all of the weight."""
    low = np.array([4.0, 3.0, 2.0, 1.0, 0.5])
    assert [_threshold(low, cap) for cap in (1.0, 0.5, 1 / 3, 0.3, 0.2)] == [4.0, 3.0, 1.0, 1.0, 0.5]
    assert _threshold(low, np.nextafter(1 / 3, 1)) == 2.0
    assert _threshold(low[:2], 0.3) == -np.inf


def test_where_nothing_is_known_nothing_is_said():
    instance = zoo.random(12, 3, seed=0)
    squared = {"loss": "squared_hinge"}
    for name, given in (("l1", {}), ("l2", squared), ("li", squared), ("ts_l1", {})):
        assert proved_zeros(instance, solve(instance, name, **given)) is None
    steps = Preprocessing([Centre()]).fit(instance.kernels)
    prepared = solve(instance, "l1", loss="squared_hinge", preprocessing=steps)
    for proved in (mklcvx.proved_zeros, mklcvx.narrow_weights):
        with pytest.raises(InputError, match="steps of preprocessing"):
            proved(instance, prepared)
