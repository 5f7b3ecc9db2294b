"""Certificates of joint outputs against the checker's exact arithmetic, and samples that pay for what is not known."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from honest import written
from joint_cases import FOR_CLASSES, classes, posed, responses
from mklcvx import Instance, solve, zoo
from mklcvx.certificate.joint import SAMPLES, At, JointEvaluation, best_biases, certified, of_functions, single_tasks
from mklcvx.certificate.joint import softmax as softmax_terms
from mklcvx.certificate.regularisers import regulariser_of
from mklcvx.certificate.sample_terms import Ridge, sample_terms
from mklcvx.certificate.single import Outputs
from mklcvx.checker.joint import evaluated


def exactly(instance, found, proved):
    """Both bounds of a point with these weights, biases and stretch, by the checker's exact arithmetic."""
    record = written(found) | {k: getattr(proved, k).tolist() for k in ("alpha", "weights", "bias", "bias_low")}
    record["certificate"] = {"ridge": proved.certificate.ridge, "stretch": proved.certificate.stretch}
    point = evaluated(instance.kernels, instance.targets.values, record, instance.sample_weight)
    return point.lower, point.upper


@pytest.mark.parametrize("power", [0, -30, 30])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", [*FOR_CLASSES, "squared"])
def test_bounds_and_gap_enclose_the_exact_ones(loss, bias, power):
    """At random points, near the optimum, and at the optimum found; kernels 2^±30, C the other way round."""
    base = classes(9) if loss in FOR_CLASSES else responses(9)
    instance = Instance(base.kernels * 2.0**power, **base.targets.arguments())
    formulation, task = posed(instance, "l1", loss=loss, bias=bias, C=2.0**-power)
    found, rng = solve(instance, "l1", loss=loss, bias=bias, C=2.0**-power), np.random.default_rng(0)
    for noise in (0.0, 1e-9, 1e-3, 1.0):
        alpha = found.alpha + noise * 2.0**-power * rng.normal(size=found.alpha.shape)
        proved = certified(formulation, task, alpha, found.weights, 1e-12)
        (lower, upper), stated = exactly(instance, found, proved), proved.certificate
        assert Fraction(stated.lower) <= lower
        assert Fraction(stated.upper) >= upper
        assert Fraction(stated.gap) >= upper - lower
        if noise == 0:
            assert stated.relative_gap < 1e-8
        assert float(upper - lower) >= 0.3 * stated.gap - 1e-12 * stated.scale


def test_a_divergence_pays_for_outputs_that_are_not_known():
    """Whatever the outputs are within their errors, the gap covers c KL(u ‖ p); and not much more."""
    _, task = posed(classes(9), "l1", loss="softmax", bias=False)
    rng = np.random.default_rng(0)
    for size in (1e-12, 1e-6, 1e-2):
        z = 3 * rng.normal(size=task.y.shape)
        chances = np.exp(z - z.max(axis=0))
        chances /= chances.sum(axis=0)
        alpha = task.feasible(task.box * np.where(task.y > 0, 1 - chances, chances))
        off = np.full(z.shape, size)
        _, gap = softmax_terms(At(task, alpha, z, off, 1.0, 0.0))
        for _ in range(200):
            moved = z + size * rng.choice([-1.0, 1.0, 0.3], z.shape)
            assert (task.loss.fenchel_young(alpha, moved, task.y, task.box) <= gap).all()
        assert gap.max() < 10 * task.box.max() * (size**2 + 1e-15)


def test_margins_of_classes_pay_for_outputs_that_are_not_known():
    """All errors count: every class may be off in the direction that costs most."""
    _, task = posed(classes(9), "l1", loss="crammer_singer", bias=False)
    rng = np.random.default_rng(0)
    for size in (1e-6, 1e-1):
        z, off = rng.normal(size=task.y.shape), np.full(task.y.shape, size)
        alpha = task.feasible(task.box * rng.uniform(0, 1, task.y.shape))
        bound, gap = SAMPLES["crammer_singer"].costs(At(task, alpha, z, off, 1.0, 0.0))
        for signs in itertools.product((-1.0, 1.0), repeat=len(z)):
            moved = z + size * np.array(signs)[:, None]
            assert (task.loss.fenchel_young(alpha, moved, task.y, task.box) <= gap).all()
            assert (task.loss.value(moved, task.y, task.box) <= bound).all()


@pytest.mark.parametrize("name", ["sum", "l1"])
@pytest.mark.parametrize("loss", FOR_CLASSES)
def test_what_kernels_lack_to_be_semidefinite_is_paid_for(name, loss):
    """No feasible α̂ of an indefinite problem exceeds the upper bound: all vertices, and points between them."""
    rng = np.random.default_rng(1)
    factor = rng.normal(size=(2, 4, 1))
    kernels = factor @ factor.transpose(0, 2, 1) - 0.05 * np.eye(4)
    base = Instance(factor @ factor.transpose(0, 2, 1), classes=[0, 1, 2, 0])
    formulation, task = posed(base, name, loss=loss, bias=False)
    task = replace(task, kernels=kernels)
    proved = certified(formulation, task, rng.uniform(0, 0.3, (3, 4)), np.ones(2) / 2, 1e-8).certificate
    assert proved.ridge >= 0.05
    assert proved.ridge_share > 0
    choices = [[None, *(j for j in range(3) if task.y[j, i] < 0)] for i in range(4)]
    vertices = []
    for chosen in itertools.product(*choices):
        alpha = np.zeros((3, 4))
        for i, j in enumerate(chosen):
            if j is not None:
                alpha[j, i] = alpha[np.argmax(task.y[:, i] > 0), i] = task.box[i]
        vertices.append(alpha)
    mixed = [np.tensordot(rng.dirichlet(np.full(len(vertices), 0.05)), vertices, axes=1) for _ in range(300)]
    side = regulariser_of(name, 2, {})
    values = [
        JointEvaluation(side, task, task.feasible(alpha), np.ones(2) / 2, True).lower for alpha in (*vertices, *mixed)
    ]
    assert max(values) <= proved.upper


@pytest.mark.parametrize("loss", FOR_CLASSES)
def test_large_constants_cost_no_digits(loss):
    """Features far from the origin: with a bias the same problem, and as certified."""
    rng = np.random.default_rng(3)
    X, names = rng.normal(size=(20, 3)), np.arange(20) % 3
    near, far = (Instance(np.stack([np.outer(x, x) for x in (X + shift).T]), classes=names) for shift in (0.0, 1000.0))
    one, other = (solve(instance, "l1", loss=loss, tol=1e-6) for instance in (near, far))
    assert other.certified
    assert one.objective == pytest.approx(other.objective, rel=1e-5)
    assert abs(other.bias.sum()) <= 1e-9 * np.abs(other.bias).max()


@pytest.mark.parametrize("price", [1e-8, 1e-10])
@pytest.mark.parametrize("loss", ["crammer_singer", "quantile", "absolute"])
def test_small_prices_are_certified_without_a_bias(loss, price):
    """α at its bound, exactly: what it lacks counts for more than f, which is as small as the price."""
    instance = classes() if loss in FOR_CLASSES else responses()
    for name in ("l1", "sum"):
        found = solve(instance, name, loss=loss, bias=False, C=price)
        assert found.certified, found.certificate
        assert found.certificate.relative_gap < 1e-8


def test_alpha_at_its_bounds_is_feasible_without_a_bias():
    _, task = posed(classes(), "l1", loss="crammer_singer", bias=False)
    rng = np.random.default_rng(0)
    for size in (1e-12, 1e-3, 1.0, 10.0):
        outputs = size * rng.normal(size=task.y.shape)
        own = rng.uniform(0, 1, task.y.shape)
        for alpha in (0 * own, own, task.box * rng.uniform(0, 9, task.y.shape)):
            held = task.loss.at_bounds(alpha, outputs, task.y, task.box)
            assert task.loss.exactly_feasible(held, task.y, task.box, False)
            assert task.feasible(held) is held
            own = np.where(task.y > 0, held, 0.0).sum(axis=0)
            lacks = np.where(task.y < 0, task.loss.lacks(outputs, task.y), -np.inf).max(axis=0)
            assert (own[lacks < -1] == 0).all()
            assert (own[(lacks > 1) & (own > 0)] == task.box[(lacks > 1) & (own > 0)]).all()


@pytest.mark.parametrize("dent", [0.0, 0.05])
@pytest.mark.parametrize("loss", [*FOR_CLASSES, "squared", "quantile"])
def test_functions_of_their_own_have_an_upper_bound_as_the_auditor_finds_it(loss, dent):
    """In exact arithmetic, for kernels that are semidefinite, and for others, whose ridges both pay."""
    base = classes(9) if loss in FOR_CLASSES else responses(9)
    found, rng = solve(base, "square", loss=loss, bias=False, theta=0.7), np.random.default_rng(2)
    formulation, task = posed(base, "square", loss=loss, bias=False, theta=0.7)
    task = replace(task, kernels=np.asarray(base.kernels) - dent * np.eye(9))
    side = regulariser_of(formulation.name, task.count, task.own)
    for noise in (0.0, 1e-3, 0.1):
        own = found.all_coefficients + noise * rng.normal(size=(3, 3, 9))
        mu = side.feasible(np.maximum(found.weights, 0.1))
        said = of_functions(side, task, found.alpha, mu, own)
        record = {**written(found), "coefficients": own.tolist(), "weights": mu.tolist()}
        record["certificate"] = {"ridge": said.ridge, "ridges": list(said.ridges), "stretch": 1.0}
        exact = evaluated(task.kernels, base.targets.values, record, base.sample_weight)
        assert (said.ridge > 0.04) == (dent > 0)
        assert said.lower <= exact.lower
        assert exact.upper <= said.upper
        assert float(Fraction(said.upper) - exact.upper) <= (1e-12 if dent == 0 else 0.2) * said.upper
        if loss != "squared":  # whose curvature the ridge may outweigh elsewhere
            assert said.lower <= said.upper


@pytest.mark.parametrize("loss", [*FOR_CLASSES, "squared"])
def test_biases_sum_to_zero_where_only_their_differences_matter(loss):
    """Outputs with shifts that do not: those of any functions."""
    _, task = posed(classes(9) if loss in FOR_CLASSES else responses(9), "l1", loss=loss)
    values, shifts = np.random.default_rng(0).normal(size=task.y.shape), np.array([3.0, 5.0, -1.0])
    outputs = [Outputs(z, np.zeros(9), np.array([shift]), 0.0) for z, shift in zip(values, shifts, strict=True)]
    biases = np.array([high for high, _ in best_biases(task, outputs)])
    centre = shifts.mean() if loss in FOR_CLASSES else 0.0
    assert biases == pytest.approx(task.risk(values).bias - shifts + centre, abs=1e-14)
    assert loss not in FOR_CLASSES or biases.sum() == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "squared_epsilon_insensitive", "poisson"])
def test_outputs_of_a_loss_for_each_cost_what_they_cost_as_tasks_of_their_own(loss):
    rng = np.random.default_rng(5)
    kernels, counts = zoo.random(7, 2, seed=1).kernels, rng.integers(0, 5, (7, 3)).astype(float)
    _, task = posed(Instance(kernels, response=counts), "l1", loss=loss, bias=False)
    alpha = task.feasible(rng.normal(size=(3, 7)))
    at = JointEvaluation(regulariser_of("l1", 2, {}), task, alpha, np.full(2, 0.5), False)
    each = [(one, (0.0, 0.0)) for one in at.outputs]
    for delta in (0.0, 1e-3):
        bound, gap = SAMPLES["separable"].costs(At(task, alpha, alpha, alpha, 1.0, delta, each=each))
        wanted = np.zeros((2, 7))
        for one, a, (outputs, bias) in zip(single_tasks(task), alpha, each, strict=True):
            side = sample_terms(one).paying(Ridge(np.full((1, 1), delta), a[None]))
            wanted += side.costs(a, *outputs.residuals(side.a, one.signs, bias))
        assert bound.sum(axis=0) == pytest.approx(wanted[0], rel=1e-12)
        assert gap.sum(axis=0) == pytest.approx(wanted[1], rel=1e-12)
    gains = [sample_terms(one).gain(a) for one, a in zip(single_tasks(task), alpha, strict=True)]
    assert SAMPLES["separable"].gain(task, alpha) == pytest.approx(sum(gains), rel=1e-12)
