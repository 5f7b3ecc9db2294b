"""`lp_beta`: the linear program by hand, its two declarations, and what it does with real outputs."""

import numpy as np
import pytest

from baselines import lp_beta
from baselines._machines import held_out, machines
from baselines.lp_beta import HIGHS, LP_BETA, Mixing
from checks import declared_apart
from mklcvx import Instance, zoo
from mklcvx.solvers.conic import solve_declared
from mklcvx.zoo import real
from refusals import check_refused

pytestmark = pytest.mark.slow

CASES = {
    "breast cancer": real("breast_cancer", "y", samples=60, count=6),
    "wine": real("wine", "classes", samples=60, count=6),
    "digits": real("digits", "classes", samples=80, count=5),
    "random": zoo.random(30, 4, seed=2),
}


def mean_of_worst(margins, shares, nu):
    """The mean of the smallest margins that make up ν of the samples' weight."""
    order = np.argsort(margins)
    left, total = nu, 0.0
    for i in order:
        part = min(shares[i], left)
        total, left = total + part * margins[i], left - part
    return total / nu


def solved(margins, box):
    return solve_declared(LP_BETA, Mixing(np.asarray(margins, dtype=float), box), 1e-9, options=HIGHS, units=(1.0,))[0]


@pytest.mark.parametrize(
    ("margins", "nu", "value", "mu"),
    [
        ([[[1, 0]], [[0, 1]]], 0.5, -0.5, [0.5, 0.5]),  # each kernel knows one sample: both are needed
        ([[[1, 0]], [[0, 3]]], 1.0, -1.5, [0.0, 1.0]),  # the mean alone counts
        ([[[1, 0], [0, 1]]], 1.0, -0.5, [0.5, 0.5]),  # one sample with two rivals
        ([[[2, 1]], [[2, 1]], [[-4, 1]]], 1 / 3, -1.0, [0.0, 1.0]),  # the worst third decides
        ([[[2, 1]], [[2, 1]], [[-4, 1]]], 1.0, -1.0, [0.0, 1.0]),
    ],
)
def test_by_hand(margins, nu, value, mu):
    point = solved(margins, np.full(len(margins), 1 / (nu * len(margins))))
    assert point.certificate.lower == pytest.approx(value, abs=1e-12)
    assert point.certificate.upper == pytest.approx(value, abs=1e-12)
    assert point.upper.point == pytest.approx(mu, abs=1e-9)


@pytest.mark.parametrize("nu", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("name", CASES)
def test_certified_and_declared_alike(name, nu):
    instance = CASES[name]
    found = lp_beta(instance, C=2.0, nu=nu, folds=3 if name != "digits" else 2)
    assert found.message == ""
    assert found.certificate.relative_gap <= 1e-10
    margins, mu = found.multipliers["margins"], found.weights
    assert mu.sum() == pytest.approx(1, abs=1e-14)
    worst, even = (margins @ mu).min(axis=1), np.full(instance.samples, 1 / instance.samples)
    assert found.certificate.upper == pytest.approx(-mean_of_worst(worst, even, nu), abs=1e-9)
    u = found.multipliers["u"]
    assert (u >= 0).all()
    assert u.sum() == pytest.approx(1, abs=1e-12)
    assert (u.sum(axis=1) <= 1 / (nu * instance.samples) * (1 + 1e-12)).all()
    assert found.certificate.lower == pytest.approx(-np.einsum("iu,ium->m", u, margins).max(), abs=1e-12)
    primal, dual = declared_apart(LP_BETA, Mixing(margins, np.full(instance.samples, 1 / (nu * instance.samples))))
    scale = found.certificate.scale
    assert primal == pytest.approx(dual, abs=1e-9 * scale)
    assert primal == pytest.approx(found.certificate.upper, abs=1e-9 * scale)


def test_the_margins_are_those_of_held_out_samples():
    instance = CASES["wine"]
    outputs = held_out(instance, 2.0, 3, 0, "test")
    margins, own = lp_beta(instance, C=2.0, folds=3).multipliers["margins"], np.asarray(instance.targets.values)
    for i in (0, 7, 30):
        for place, rival in enumerate(u for u in range(3) if u != own[i]):
            assert margins[i, place] == pytest.approx(outputs[own[i], :, i] - outputs[rival, :, i])


def test_one_kernel_is_its_own_svm():
    instance = CASES["breast cancer"].select([2])
    found = lp_beta(instance, C=1.0, nu=0.3)
    coefficients, biases = machines(instance, 1.0, "test")
    assert found.weights.tolist() == [1.0]
    values = instance.kernels[0] @ coefficients[0, 0] + biases[0, 0]
    assert found.decision_function(instance.kernels) == pytest.approx(values)
    even = np.full(60, 1 / 60)
    worst = found.multipliers["margins"][:, 0, 0]
    assert found.certificate.upper == pytest.approx(-mean_of_worst(worst, even, 0.3), abs=1e-12)


def test_the_decision_mixes_the_machines():
    instance = CASES["wine"]
    found = lp_beta(instance, C=1.0, nu=0.2)
    coefficients, biases = machines(instance, 1.0, "test")
    parts = np.einsum("mti,kmi->tkm", instance.kernels, coefficients) + biases
    assert found.decision_function(instance.kernels) == pytest.approx(parts @ found.weights)
    assert np.mean(found.predict(instance.kernels) == instance.targets.values) > 0.9


def test_weights_of_samples_count():
    base = CASES["random"]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 30)
    weighted = Instance(base.kernels, base.y, sample_weight=weight)
    found = lp_beta(weighted, nu=0.5, folds=3)
    worst = (found.multipliers["margins"] @ found.weights).min(axis=1)
    assert found.certificate.upper == pytest.approx(-mean_of_worst(worst, weight / weight.sum(), 0.5), abs=1e-9)


def test_any_weights_bound_the_optimum():
    random, margins = np.random.default_rng(1), np.random.default_rng(2).normal(size=(12, 2, 3))
    task = Mixing(margins, np.full(12, 1 / 6))
    optimum = solved(margins, task.box).certificate.upper
    for _ in range(20):
        assert LP_BETA.lower(task, random.exponential(size=(12, 2))).value <= optimum + 1e-12
        assert LP_BETA.upper(task, random.exponential(size=3)).value >= optimum - 1e-12
    assert LP_BETA.lower(task, np.zeros((12, 2))).point.sum() == pytest.approx(1)


def test_bad_settings_are_refused():
    instance = CASES["wine"]
    with check_refused("parameter nu = 0 is outside the limits of lp_beta", "0 < ν ≤ 1"):
        lp_beta(instance, nu=0)
    with check_refused("folds = 1", "the size of the smallest class"):
        lp_beta(instance, folds=1)
    with check_refused("lp_beta needs y or classes"):
        lp_beta(Instance(instance.kernels, labels=np.eye(3)[instance.targets.values]))
