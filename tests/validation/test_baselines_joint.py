"""The joint margin of several classes: `mc_mkl`, and `ufo` against the optimum of its own objective."""

from __future__ import annotations

import numpy as np
import pytest

from baselines import mc_mkl, ufo
from baselines._joint import JointPrimal
from baselines.mc_mkl import MC_MKL
from baselines.ufo import UFO, UfoWalk, steepest
from checks import declared_apart
from mklcvx import Instance, solve, zoo
from mklcvx.solvers.driver import Problem
from mklcvx.zoo import real
from refusals import check_refused

pytestmark = pytest.mark.slow

THREE = real("wine", "classes", samples=36, count=5)
BINARY = zoo.random(24, 3, seed=5)
WEIGHTED = Instance(
    THREE.kernels, classes=THREE.targets.values, sample_weight=np.random.default_rng(1).uniform(0.2, 3.0, 36)
)
CASES = {
    "wine": THREE,
    "weighted": WEIGHTED,
    "digits": real("digits", "classes", samples=22, count=5),
    "breast cancer": real("breast_cancer", "classes", samples=40, count=5),
    "random, y": BINARY,
}
OPPOSITE = np.array([[1.0, -1.0], [-1.0, 1.0]])  # x = 1 and x = −1 under the linear kernel


def own_risk(instance, values):
    """Σ weight max(0, 1 − the least lead of a sample's own class), written without contrasts."""
    own = np.argmax(instance.targets.indicators(), axis=1)
    rows = np.arange(len(own))
    others = values.copy()
    others[rows, own] = -np.inf
    leads = values[rows, own] - others.max(axis=1)
    return float(instance.sample_weight @ np.maximum(0, 1 - leads))


def group_norms(instance, coefficients):
    pairs = zip(coefficients.swapaxes(0, 1), instance.kernels, strict=True)
    return np.array([np.sqrt(np.einsum("ci,ij,cj", c, k, c)) for c, k in pairs])


# ---------------------------------------------------------------------------------------------------- mc_mkl
@pytest.mark.parametrize("name", CASES)
def test_mc_mkl_is_certified_and_its_declarations_agree(name):
    instance = CASES[name]
    found = mc_mkl(instance, C=1.5)
    assert found.message == ""
    assert found.certificate.relative_gap <= 1e-8
    primal, dual = declared_apart(MC_MKL, MC_MKL.task(instance, {"C": 1.5})[0])
    assert primal == pytest.approx(dual, rel=1e-7)
    assert found.certificate.lower == pytest.approx(primal, rel=1e-7)
    assert found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("instance", [THREE, WEIGHTED], ids=["even", "weighted"])
def test_mc_mkl_bounds_recomputed_from_scratch(instance):
    found = mc_mkl(instance, C=0.7)
    value = group_norms(instance, found.coefficients).sum() ** 2 / 2
    value += 0.7 * own_risk(instance, found.decision_function(instance.kernels))
    assert value == pytest.approx(found.certificate.upper, rel=1e-9)
    beta, own = found.multipliers["beta"], np.argmax(instance.targets.indicators(), axis=1)
    assert (beta >= 0).all()
    assert (beta.sum(axis=1) <= 0.7 * instance.sample_weight * (1 + 1e-15)).all()
    delta = np.zeros((instance.samples, 3))
    for i, c in enumerate(own):
        delta[i, [u for u in range(3) if u != c]] = -beta[i]
        delta[i, c] = beta[i].sum()
    assert np.abs(delta.sum(axis=0)).max() <= 1e-14 * beta.sum()
    lower = beta.sum() - max(np.sum(delta * (k @ delta)) for k in instance.kernels) / 2
    assert lower == pytest.approx(found.certificate.lower, rel=1e-12)


def test_mc_mkl_by_hand():
    """Three orthogonal samples, one per class: outputs 2/3 and −1/3, value 3·⅓; at C = 0.1, β = C/2 each."""
    kernels = np.stack([np.eye(3), np.eye(3) / 2])
    found = mc_mkl(Instance(kernels, classes=["a", "b", "c"]), C=10)
    assert found.certificate.upper == pytest.approx(1.0, rel=1e-8)
    assert found.weights == pytest.approx([1, 0], abs=1e-6)
    values = found.decision_function(kernels)
    assert values - values.mean() == pytest.approx(np.eye(3) - 1 / 3, abs=1e-6)
    assert found.predict(kernels).tolist() == ["a", "b", "c"]
    assert mc_mkl(Instance(kernels, classes=["a", "b", "c"]), C=0.1).certificate.upper == pytest.approx(0.2775)


def test_mc_mkl_with_two_classes_is_half_of_l1_at_twice_the_price():
    two = Instance(BINARY.kernels, classes=np.where(BINARY.y > 0, "up", "down"))
    found, other = mc_mkl(two, C=0.8), solve(BINARY, "l1", C=1.6)
    assert found.certificate.upper == pytest.approx(other.objective / 2, rel=1e-8)
    values = found.decision_function(BINARY.kernels)
    assert values[:, 1] - values[:, 0] == pytest.approx(other.decision_function(BINARY.kernels), abs=1e-4)
    assert mc_mkl(BINARY, C=0.8).certificate.upper == pytest.approx(solve(BINARY, "l1", C=0.8).objective, rel=1e-8)


def test_mc_mkl_is_indifferent_to_duplicates_and_scales_with_units():
    value = mc_mkl(THREE, C=1.0).certificate.upper
    twice = Instance(np.concatenate([THREE.kernels, THREE.kernels[:2]]), classes=THREE.targets.values)
    assert mc_mkl(twice, C=1.0).certificate.upper == pytest.approx(value, rel=1e-7)
    large = Instance(1e5 * THREE.kernels, classes=THREE.targets.values)
    assert mc_mkl(large, C=1e-5).certificate.upper == pytest.approx(1e-5 * value, rel=1e-7)


def test_any_beta_and_any_functions_bound_the_optimum():
    """Weak duality at random points, and feasibility of what was repaired."""
    random, (task, _) = np.random.default_rng(2), MC_MKL.task(WEIGHTED, {"C": 1.0})
    optimum = mc_mkl(WEIGHTED).certificate.upper
    for size in (0.01, 0.1, 1.0):
        lower = MC_MKL.lower(task, size * random.normal(size=(36, 2)) + size)
        assert lower.point.any()
        assert np.abs(task.pull(lower.point).sum(axis=0)).max() <= 1e-13 * lower.point.sum()
        assert (lower.point.sum(axis=1) <= task.box * (1 + 1e-14)).all()
        assert lower.value <= optimum
        point = JointPrimal(size * random.normal(size=(3, 5, 36)), random.normal(size=3))
        assert MC_MKL.upper(task, point).value >= optimum


# ------------------------------------------------------------------------------------------------------ ufo
@pytest.mark.parametrize("given", [{}, {"alpha": 0.1}, {"alpha": 0.05, "p": 1.2}, {"p": 2.0}], ids=str)
@pytest.mark.parametrize("name", ["wine", "weighted", "random, y"])
def test_the_exact_optimum_of_ufo_is_certified(name, given):
    instance = CASES[name]
    found = ufo(instance, C=2.0, solver="exact", **given)
    assert found.message == ""
    primal, dual = declared_apart(UFO, UFO.task(instance, {"C": 2.0, **given})[0])
    assert primal == pytest.approx(dual, rel=1e-7)
    assert found.certificate.upper == pytest.approx(primal, rel=1e-7)


@pytest.mark.parametrize(("alpha", "value"), [(0.0, 0.25), (0.25, 0.5), (0.75, 0.9375), (1.5, 1.0)])
def test_ufo_by_hand(alpha, value):
    """λ = ½: ¼w² + αw + (1 − w)₊, least at w = 1 up to α = ½, then at 2(1 − α), then at 0."""
    found = ufo(Instance(OPPOSITE[None], [1, -1]), C=1.0, alpha=alpha, solver="exact")
    assert found.certificate.upper == pytest.approx(value, rel=1e-8)
    assert found.parameters["lam"] == 0.5
    w = min(1.0, max(2 * (1 - alpha), 0.0))
    assert found.decision_function(OPPOSITE[None]) == pytest.approx([w, -w], abs=1e-6)


def test_ufo_between_sum_and_l1():
    lam = 1 / (0.5 * 24)
    value = ufo(BINARY, C=0.5, p=2.0, solver="exact").certificate.upper
    assert value == pytest.approx(lam * solve(BINARY, "sum", C=0.5, bias=False).objective, rel=1e-8)
    least = lam * solve(BINARY, "l1", C=0.5, bias=False).objective
    for p in (1.3, 1.05):
        value = ufo(BINARY, C=0.5, p=p, solver="exact").certificate.upper
        assert least / 3 ** (2 - 2 / p) * (1 - 1e-8) <= value <= least * (1 + 1e-8)


def test_a_larger_alpha_uses_fewer_kernels():
    used = [int((ufo(THREE, alpha=a, solver="exact").multipliers["norms"] > 1e-6).sum()) for a in (0.0, 0.3, 0.6)]
    assert used[0] == 5 > used[1] > used[2]


def test_the_conjugate_of_the_penalty():
    """No a gives more than U*(d), and the gradient's a gives just that."""
    random, own = np.random.default_rng(0), {"lam": 0.3, "alpha": 0.4, "p": 1.3}
    d = np.array([0.2, 1.0, 2.5, 0.9])
    best = UFO.conjugate(d, **own)
    assert max(a @ d - UFO.penalty(a, **own) for a in random.exponential(2, size=(200, 4))) <= best
    a = steepest(d, **own) * d
    assert a[0] == 0
    assert a @ d - UFO.penalty(a, **own) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_pass_is_the_papers_algorithm_in_explicit_features(shuffled):
    random = np.random.default_rng(7)
    features, classes = [random.normal(size=(9, d)) for d in (2, 3, 4)], np.arange(9) % 3
    weight = random.uniform(0.5, 2.0, size=9)
    instance = Instance(np.stack([f @ f.T for f in features]), classes=classes, sample_weight=weight)
    task, own = UFO.task(instance, {"C": 0.8, "alpha": 0.02, "p": 1.4})
    walk, problem = UfoWalk(shuffled, seed=3), Problem(UFO, task, 1e-2)
    state = walk.step(problem, walk.step(problem, walk.start(problem)))

    shares, draws, q = weight / weight.sum(), np.random.default_rng(3), 1.4 / 0.4
    theta = [np.zeros((f.shape[1], 3)) for f in features]
    w, t = [0 * part for part in theta], 0
    for _ in range(2):
        for i in draws.permutation(9) if shuffled else draws.choice(9, size=9, p=shares):
            t += 1
            values = sum(f[i] @ part for f, part in zip(features, w, strict=True))
            rivals = [u for u in range(3) if u != classes[i]]
            rival = rivals[int(np.argmax(values[rivals]))]
            if values[classes[i]] - values[rival] < 1:
                for f, part in zip(features, theta, strict=True):
                    length = 9 * shares[i] if shuffled else 1.0
                    part[:, classes[i]] += length * f[i]
                    part[:, rival] -= length * f[i]
            norms = np.array([np.linalg.norm(part) for part in theta])
            v = np.maximum(norms - 0.02 * t, 0)
            scale = v / (own["lam"] * t * norms) * (v / np.sum(v**q) ** (1 / q)) ** (q - 2)
            w = [s * part for s, part in zip(scale, theta, strict=True)]
    last = walk.points(problem, state).primals[0].coefficients
    for m, f in enumerate(features):
        assert last[:, m] @ f == pytest.approx(w[m].T, abs=1e-10)


@pytest.mark.parametrize("given", [{}, {"alpha": 0.1, "shuffled": True}], ids=["draws", "sparse, shuffled"])
def test_the_algorithm_approaches_the_optimum_with_a_certified_trace(given):
    alpha = given.get("alpha", 0.0)
    found, best = ufo(THREE, tol=2e-2, **given), ufo(THREE, alpha=alpha, solver="exact").certificate
    assert found.message == ""
    assert (np.diff([row.lower for row in found.trace]) >= 0).all()
    assert (np.diff([row.upper for row in found.trace]) <= 0).all()
    assert found.trace[0].gap > 0.5 > 2e-2 >= found.trace[-1].gap
    assert all(row.lower <= best.upper and row.upper >= best.lower for row in found.trace)
    norms, own = group_norms(THREE, found.coefficients), {k: found.parameters[k] for k in ("lam", "alpha", "p")}
    value = UFO.penalty(norms, **own) + own_risk(THREE, found.decision_function(THREE.kernels)) / 36
    assert value == pytest.approx(found.certificate.upper, rel=1e-9)


def test_a_run_that_ends_early_says_so():
    found = ufo(THREE, tol=1e-6, passes=3)
    assert "not certified: relative gap" in found.message
    assert len(found.trace) == 4
    assert found.certificate.lower <= ufo(THREE, solver="exact").certificate.upper <= found.certificate.upper


def test_bad_settings_are_refused():
    many = Instance(THREE.kernels, labels=np.eye(3)[THREE.targets.values])
    with check_refused("mc_mkl needs y or classes", "svm1"):
        mc_mkl(many)
    with check_refused("parameter C = -1 is outside the limits of mc_mkl"):
        mc_mkl(THREE, C=-1)
    with check_refused("parameter alpha = -0.1 is outside the limits of ufo"):
        ufo(THREE, alpha=-0.1)
    with check_refused("parameter p = 3 is outside the limits of ufo", "1 < p ≤ 2"):
        ufo(THREE, p=3)
    with check_refused("solver = 'interior' is unknown"):
        ufo(THREE, solver="interior")
    with check_refused("passes = 0 is below 1"):
        ufo(THREE, passes=0)
    with check_refused("test_kernels"):
        mc_mkl(THREE).predict(np.zeros((5, 4, 7)))
