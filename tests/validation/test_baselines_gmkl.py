"""`gmkl`: priced weights with linear constraints, against hand-made optima and the formulations that it contains."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from baselines import gmkl
from baselines._priced import nearest_within
from baselines.gmkl import GMKL, PricedAlpha, Weighted
from checks import check_same_function, declared_apart
from mklcvx import Instance, solve, zoo
from mklcvx.zoo import real
from refusals import check_refused

pytestmark = pytest.mark.slow

RANDOM = zoo.random(24, 4, seed=3)
PAIR = Instance(np.array([[[1.0, -1.0], [-1.0, 1.0]]]), [1, -1])  # x = ±1 under the linear kernel: f = wx, norm |w|
SIMPLEX = {"A": [[1.0] * 4, [-1.0] * 4], "p": [1.0, -1.0]}
CASES = {
    "l1": {"sigma": 0.4},
    "l1, prior": {"sigma": [0.1, 0.5, 2.0, 0.3]},
    "l2": {"regulariser": "l2", "lam": 0.6},
    "l2, prior": {"regulariser": "l2", "lam": 0.6, "sigma": [0.1, 0.5, 0.0, 0.3]},
    "l1, at least": {"sigma": 0.4, "A": [[0, 0, 1, 0], [1, 1, 0, 0]], "p": [0.3, 2.0]},
    "l1, budget": {"sigma": 0.2, "A": [[-1, -1, -1, -1]], "p": [-0.5]},
    "l2, order": {"regulariser": "l2", "A": [[-1, 1, 0, 0], [0, 0, 1, 1]], "p": [0.0, 2.0]},
}
DATA = ("random", "wine", "digits", "breast_cancer")


@cache
def instance_of(name):
    return RANDOM if name == "random" else real(name, "y", samples=40, count=5).select([0, 1, 2, 3])


def recomputed(instance, found, C):
    """Both bounds from the theorem, in plain NumPy."""
    sigma, lam, A, p = (found.parameters[name] for name in ("sigma", "lam", "A", "p"))
    mu, c = found.weights, found.coefficients[0]
    squares = np.array([v @ k @ v for v, k in zip(c, instance.kernels, strict=True)])
    used = mu > 0
    hinge = np.maximum(0, 1 - instance.y * found.decision_function(instance.kernels))
    upper = (squares[used] / mu[used]).sum() / 2 + sigma @ mu + lam / 2 * mu @ mu + C * instance.sample_weight @ hinge
    alpha, delta = found.multipliers["alpha"], found.multipliers["delta"]
    load = np.array([(alpha * instance.y) @ k @ (alpha * instance.y) for k in instance.kernels]) / 2 + A.T @ delta
    if lam == 0:
        assert (load <= sigma * (1 + 1e-12)).all()
        return alpha.sum() + p @ delta, upper
    return alpha.sum() + p @ delta - (np.maximum(load - sigma, 0) ** 2).sum() / (2 * lam), upper


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", DATA)
def test_certified_recomputed_and_declared_alike(name, case):
    instance, given = instance_of(name), CASES[case]
    found = gmkl(instance, C=1.5, **given)
    assert found.message == ""
    assert found.certificate.relative_gap <= 1e-8
    lower, upper = recomputed(instance, found, 1.5)
    assert lower == pytest.approx(found.certificate.lower, rel=1e-9)
    assert upper == pytest.approx(found.certificate.upper, rel=1e-9)
    assert (found.parameters["A"] @ found.weights >= found.parameters["p"] - 1e-11).all()
    primal, dual = declared_apart(GMKL, GMKL.task(instance, {"C": 1.5, **given})[0])
    assert primal == pytest.approx(upper, rel=1e-7)
    assert dual == pytest.approx(primal, rel=1e-7)


@pytest.mark.parametrize(
    ("given", "value", "mu", "w", "delta"),
    [
        ({"sigma": 2.0}, 2.0, 0.5, 1.0, []),  # √(2σ) w, μ = w/√(2σ)
        ({"sigma": 2.0, "C": 0.5}, 1.0, 0.0, 0.0, []),  # two hinges of ½ cost less than √(2σ)
        ({"regulariser": "l2", "lam": 2.0, "sigma": 1.0}, 1.75, 0.5, 1.0, []),  # λμ³ + σμ² = ½
        ({"sigma": 2.0, "A": [[1.0]], "p": [2.0]}, 4.25, 2.0, 1.0, [1.875]),  # μ held at 2: ¼ + σμ, δ = σ − ⅛
        ({"sigma": 2.0, "A": [[-1.0]], "p": [-0.25]}, 2.5, 0.25, 1.0, [6.0]),  # μ kept below ¼: 2 + ½, δ = ½·4² − σ
    ],
    ids=["l1", "l1, too dear", "l2", "at least", "at most"],
)
def test_by_hand(given, value, mu, w, delta):
    found = gmkl(PAIR, **{"C": 10.0, **given})
    assert found.certificate.upper == pytest.approx(value, rel=1e-8)
    assert found.weights == pytest.approx([mu], abs=1e-6)
    assert found.decision_function(PAIR.kernels) == pytest.approx([w, -w], abs=1e-6)
    assert found.multipliers["delta"] == pytest.approx(delta, abs=1e-5)


def test_l2_is_square_and_on_the_simplex_sm2():
    square = solve(RANDOM, "square", C=2.0, theta=1 / 0.7)
    found = gmkl(RANDOM, C=2.0, regulariser="l2", lam=0.7)
    assert found.certificate.upper == pytest.approx(square.objective, rel=1e-8)
    assert found.weights == pytest.approx(square.weights, abs=1e-5)
    check_same_function(found, square, RANDOM.kernels)
    sm2 = solve(RANDOM, "sm2", C=2.0, theta=1 / 0.7)
    found = gmkl(RANDOM, C=2.0, regulariser="l2", lam=0.7, **SIMPLEX)
    assert found.certificate.upper == pytest.approx(sm2.objective, rel=1e-8)
    assert found.weights == pytest.approx(sm2.weights, abs=1e-4)


def test_l1_on_the_simplex_is_l1_and_without_it_l1_at_another_price():
    found = gmkl(RANDOM, C=2.0, sigma=0.3, **SIMPLEX)
    assert found.certificate.upper == pytest.approx(solve(RANDOM, "l1", C=2.0).objective + 0.3, rel=1e-8)
    free = gmkl(RANDOM, C=2.0, sigma=0.3)
    norms = free.multipliers["norms"]
    assert free.weights == pytest.approx(norms / np.sqrt(0.6), rel=1e-6)
    check_same_function(free, solve(RANDOM, "l1", C=2.0 * norms.sum() / np.sqrt(0.6)), RANDOM.kernels)


def test_a_dear_kernel_is_not_used_unless_it_must_be():
    dear = [0.2, 50.0, 0.2, 0.2]
    assert gmkl(RANDOM, sigma=dear).weights[1] == pytest.approx(0, abs=1e-9)
    held = gmkl(RANDOM, sigma=dear, A=[[0, 1, 0, 0]], p=[0.1])
    assert held.weights[1] == pytest.approx(0.1, abs=1e-6)
    assert held.multipliers["delta"][0] > 10


def test_constraints_that_do_not_bind_change_nothing():
    free = gmkl(RANDOM, C=1.0, sigma=0.3)
    slack = gmkl(RANDOM, C=1.0, sigma=0.3, A=[[1, 0, 0, 0], [-1, -1, -1, -1]], p=[free.weights[0] / 2, -1e3])
    assert slack.certificate.upper == pytest.approx(free.certificate.upper, rel=1e-12)
    assert slack.multipliers["delta"].tolist() == [0, 0]


def test_any_point_bounds_the_optimum():
    random = np.random.default_rng(0)
    for case in ("l1, prior", "l1, at least", "l2, order"):
        optimum = gmkl(RANDOM, C=1.0, **CASES[case]).certificate.upper
        task, _ = GMKL.task(RANDOM, {"C": 1.0, **CASES[case]})
        for size in (0.1, 1.0, 10.0):
            dual = PricedAlpha(size * random.uniform(size=24), size * random.uniform(size=len(task.own["p"])))
            assert GMKL.lower(task, dual).value <= optimum
            primal = Weighted(size * random.normal(size=(4, 24)), size * random.uniform(size=4))
            assert GMKL.upper(task, primal).value >= optimum
            assert GMKL.upper(task, primal.coefficients).value >= optimum


def test_the_nearest_weights_within_constraints():
    assert nearest_within(np.array([0.2, 0.4]), np.ones((1, 2)), np.ones(1)) == pytest.approx([0.4, 0.6])
    assert nearest_within(np.array([3.0, -1.0]), -np.ones((1, 2)), -np.ones(1)) == pytest.approx([1.0, 0.0])
    inside = np.array([2.0, 5.0])
    assert nearest_within(inside, np.ones((1, 2)), np.ones(1)) == pytest.approx(inside)
    assert nearest_within(inside, -np.ones((1, 2)), np.ones(1)) is None
    random = np.random.default_rng(4)
    A, p, start = random.normal(size=(3, 5)), random.normal(size=3), random.normal(size=5)
    best, others = nearest_within(start, A, p), random.exponential(2, size=(20_000, 5))
    assert (A @ best >= p - 1e-12).all()
    within = others[(others @ A.T >= p).all(axis=1)]
    clipped = np.maximum(start, 0)
    assert len(within) > 100
    assert np.linalg.norm(best - clipped) <= np.linalg.norm(within - clipped, axis=1).min()


def test_classes_and_labels_one_by_one():
    classes = real("wine", "classes", samples=30, count=5)
    found = gmkl(classes, C=1.0, sigma=0.5)
    assert found.weights.shape == (3, 5)
    alone = [gmkl(Instance(classes.kernels, y), C=1.0, sigma=0.5) for y in classes.targets.signs("")]
    assert found.certificate.lower == pytest.approx(sum(one.certificate.lower for one in alone))
    assert found.certificate.upper == pytest.approx(sum(one.certificate.upper for one in alone))
    values = np.column_stack([one.decision_function(classes.kernels) for one in alone])
    assert found.decision_function(classes.kernels) == pytest.approx(values)
    assert found.predict(classes.kernels).tolist() == values.argmax(axis=1).tolist()


def test_bad_settings_are_refused():
    with check_refused("parameter regulariser = 'l3' is unknown"):
        gmkl(RANDOM, regulariser="l3")
    with check_refused("lam is given with regulariser l1", "take l2"):
        gmkl(RANDOM, lam=1.0)
    with check_refused("sigma has the entry 0", "positive"):
        gmkl(RANDOM, sigma=[1, 0, 1, 1])
    with check_refused("sigma of shape (3,)", "4, one per kernel"):
        gmkl(RANDOM, sigma=[1, 1, 1])
    with check_refused("sigma has the entry -1", "not negative"):
        gmkl(RANDOM, regulariser="l2", sigma=-1)
    with check_refused("A and p belong together"):
        gmkl(RANDOM, A=np.eye(4))
    with check_refused("A has shape (1, 3), p (1,)", "give A (rows, 4)"):
        gmkl(RANDOM, A=[[1, 1, 1]], p=[1])
    with check_refused("not finite"):
        gmkl(RANDOM, A=np.eye(4), p=[1, 1, np.inf, 1])
    with check_refused("no μ ≥ 0 meets Aμ ≥ p"):
        gmkl(RANDOM, A=[[-1, -1, -1, -1]], p=[1])
