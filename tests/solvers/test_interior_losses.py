"""The structured interior-point method with every loss of single tasks: ordinary, planted and hostile problems."""

import math

import numpy as np
import pytest

from cases import KINDS, own_parameters
from checks import check_enclosed
from covering import covering
from mklcvx import Instance, LowRank, formulations, solve, solve_path, zoo
from mklcvx.formulations import SINGLE_TASKS
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, LOSSES, REAL
from mklcvx.solvers.interior.samples_side import DualPoint, samples_side
from mklcvx.zoo import regression

pytestmark = pytest.mark.slow

NAMES = [formulation.name for formulation in SINGLE_TASKS]
PAIRS = [(f.name, loss.name) for f in SINGLE_TASKS for loss in EVERY if not loss.free_margin or "nu" in f.losses]
ON_LABELS = [loss.name for loss in EVERY if loss.targets == LABELS and not loss.free_margin]
ON_RESPONSES = [loss.name for loss in EVERY if loss.targets == REAL]
WITH_PRICE = [*ON_LABELS, *ON_RESPONSES, "poisson"]


def problem_for(loss: str, n: int = 20, M: int = 4, seed: int = 3, weighted: bool = False) -> Instance:
    labelled, real = zoo.random(n, M, seed=seed), regression.noisy(n, M, seed)
    weight = np.geomspace(0.3, 3.0, n) if weighted else None
    if LOSSES[loss].targets == LABELS:
        return Instance(labelled.kernels, labelled.y, groups=labelled.groups, sample_weight=weight)
    if LOSSES[loss].targets == REAL:
        return Instance(real.kernels, response=real.response, groups=real.groups, sample_weight=weight)
    if LOSSES[loss].targets == COUNTS:
        counted = regression.counts(n, M, seed)
        return counted.with_kernels(counted.kernels, sample_weight=weight)
    return Instance(labelled.kernels, groups=labelled.groups, sample_weight=weight)


def solved(instance: Instance, name: str, loss: str, **given):
    given = {**given, "nu": given.get("nu", 0.4)} if LOSSES[loss].free_margin else given
    own = {key: value for key, value in own_parameters(name)[0].items() if key != "groups"}
    instance = instance.select([0]) if name == "svm" else instance
    return solve(instance, name, loss=loss, **{"solver": "interior", "tol": 1e-8, **own, **given})


def check_point(instance: Instance, solution, name: str) -> None:
    """α is feasible and within the bounds of its loss."""
    instance = instance.select([0]) if name == "svm" else instance
    task, _ = formulations.get(name).task(instance, solution.parameters)
    assert ((solution.alpha >= task.low) & (solution.alpha <= task.limit)).all()
    assert not task.bias or math.fsum(task.signs * solution.alpha) == 0


# ------------------------------------------------------------------------------------------------- every pair
@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_every_regulariser_with_every_loss_has_the_declared_optimum(name, loss):
    """With a bias and without one; the declared programme is solved for one of the two, in turns."""
    instance = problem_for(loss, weighted=loss != "nu")
    found = {bias: solved(instance, name, loss, bias=bias) for bias in {LOSSES[loss].takes_bias, False}}
    for solution in found.values():
        assert solution.certified, solution.message
        assert (solution.solver, solution.iterations <= 40) == ("interior", True)
        check_point(instance, solution, name)
    declared = len(found) == 2 and (NAMES.index(name) + list(LOSSES).index(loss)) % 2 == 0
    exact = solved(instance, name, loss, bias=declared, solver="clarabel", tol=1e-6)
    for value in (exact.certificate.lower, exact.certificate.upper):
        check_enclosed(value, found[declared], 2e-6)


# -------------------------------------------------------------------------------------------------- hostile problems
def response(base: Instance, values) -> Instance:
    return Instance(base.kernels, response=values, groups=base.groups)


def normal(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=n)


TWO, TINY = ("duplicated", "sizes differ by 1e9"), ("n = 2", "n = 3", "n = 5")
RESPONSES = {
    "tiny prices": lambda: (regression.noisy(24, 4, 1), {"C": 1e-6}),
    "huge prices": lambda: (regression.noisy(24, 4, 1), {"C": 1e6}),
    "tiny targets": lambda: (response(base := regression.noisy(24, 4, 1), 1e-6 * base.response), {}),
    "huge targets": lambda: (response(base := regression.noisy(24, 4, 1), 1e6 * base.response), {}),
    "outliers": lambda: (regression.outliers(24, 4, 2), {}),
    "ties": lambda: (regression.tied(24, 4, 2), {}),
    "constant": lambda: (regression.constant(24, 4, 2), {}),
    **{kind: lambda kind=kind: (response(base := KINDS[kind](), normal(base.samples)), {}) for kind in (*TWO, *TINY)},
}
LABELLED = {
    "tiny prices": lambda: (zoo.random(24, 4, seed=1), {"C": 1e-6}),
    "huge prices": lambda: (zoo.random(24, 4, seed=1), {"C": 1e6}),
    **{kind: lambda kind=kind: (KINDS[kind](), {}) for kind in (*TWO, "imbalanced", *TINY)},
}
REGULARISERS = ["square", "li"]
HOSTILE = covering(REGULARISERS, ON_RESPONSES, RESPONSES) + covering(REGULARISERS, ON_LABELS, LABELLED)


@pytest.mark.parametrize(("name", "loss", "kind"), HOSTILE)
def test_hostile_problems_are_certified(name, loss, kind):
    instance, given = (RESPONSES if loss in ON_RESPONSES else LABELLED)[kind]()
    tol = 1e-7 if name == "li" else 1e-8  # α in two parts, which saves digits at a large C, is not for block-∞ norms
    for bias in (True, False):
        solution = solved(instance, name, loss, bias=bias, tol=tol, **given)
        check_point(instance, solution, name)
        assert solution.certified, solution.message


@pytest.mark.parametrize("loss", WITH_PRICE)
def test_kernels_of_low_rank_and_factors(loss):
    base = problem_for(loss)
    columns = np.round(8 * np.random.default_rng(1).normal(size=(4, base.samples, 2))) / 8
    formed = base.with_kernels(columns @ columns.transpose(0, 2, 1))
    factors = base.with_kernels(LowRank(list(columns)))
    for price in (1.0, 1e3):
        one, other = (solved(instance, "l1", loss, C=price) for instance in (formed, factors))
        assert one.certified, one.message
        assert other.certified, other.message
        assert one.objective == pytest.approx(other.objective, rel=2e-8)


@pytest.mark.parametrize("name", ["sm2", "l2", "lp"])
def test_second_order_terms_of_a_long_predictor_do_not_lead_in_circles(name):
    """Four samples, of which two change places step after step if the whole predictor is corrected for."""
    base, rng = zoo.tiny(4, 4, seed=11), np.random.default_rng(11)
    drawn = [rng.normal(size=n) for n in (24, 20, 24, 24, 2, 3, 4)][-1]
    solution = solved(response(base, drawn), name, "epsilon_insensitive", bias=False)
    assert solution.certified, solution.message
    assert solution.iterations <= 20


@pytest.mark.parametrize("size", [1e-6, 1e6, 1e9])
@pytest.mark.parametrize("price", [1e-3, 1e6])
def test_the_logistic_loss_at_every_size_of_kernels(size, price):
    """Margins of hundreds leave α below the smallest number; margins of nothing leave it at half the price."""
    base = zoo.random(24, 4, seed=1)
    solution = solved(base.with_kernels(size * base.kernels), "l1", "logistic", C=price)
    assert solution.certified, solution.message
    assert solution.iterations <= 40


# ---------------------------------------------------------------------------------------------------------- paths
@pytest.mark.parametrize("loss", WITH_PRICE)
@pytest.mark.parametrize("name", ["l1", "li"])
def test_a_path_of_prices_takes_fewer_steps_and_has_the_same_values(name, loss):
    instance, grid = problem_for(loss), [0.5, 0.6, 0.7, 20.0, 25.0]
    path = solve_path(instance, name, {"C": grid}, loss=loss, solver="interior", tol=1e-8)
    alone = [solved(instance, name, loss, C=price) for price in grid]
    assert path.certified
    assert sum(one.iterations for one in path.solutions) < sum(one.iterations for one in alone)
    for one, other in zip(path.solutions, alone, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=2e-8)


# ------------------------------------------------------------------------------------------------ the samples' side
def side_for(loss: str, n: int = 12, **given):
    task, _ = formulations.get("l1").task(problem_for(loss, n=n), {"loss": loss, **given})
    return samples_side(task), task


@pytest.mark.parametrize(("bias", "nu", "price"), covering([True, False], [0.05, 0.3, 1.0], [1e-2, 1.0, 1e4]))
def test_the_tube_is_found_whether_it_vanishes_or_not(price, nu, bias):
    """With a large price and exact kernels every target is fitted, ε = 0 and ‖α‖₁ < N; else ‖α‖₁ = N."""
    instance = problem_for("nu_svr")
    solution = solved(instance, "l1", "nu_svr", C=price, nu=nu, bias=bias)
    assert solution.certified, solution.message
    assert solution.iterations <= 40
    tube, length = solution.multipliers["epsilon"], np.abs(solution.alpha).sum()
    most = nu * price * instance.sample_weight.sum()
    assert tube >= 0
    assert tube * (most - length) <= 2 * solution.certificate.gap
    assert length == pytest.approx(most, rel=1e-6) if tube > 1e-6 else length <= most * (1 + 1e-12)


def test_groups_that_matter_little_are_not_eliminated_before_the_tube_is_known():
    """Four hundred samples, where the functions of six kernels out of eight are nearly nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    kernels = np.exp(-((X.T[:, :, None] - X.T[:, None]) ** 2))
    instance = Instance(kernels, response=np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=400))
    solution = solved(instance, "li", "nu_svr", nu=0.1, tol=1e-7)
    assert solution.certified, solution.message
    assert solution.iterations <= 60


def test_the_entropy_keeps_both_tails():
    """Steps of any length stay inside; a distance of 1e-30 keeps its digits, and short steps are Newton's."""
    side, task = side_for("logistic", C=2.0)
    lower = np.array([1e-30, 1e-3, 1.0, 2.0 - 2**-40] * 3)
    upper = np.array([2.0, 2.0 - 1e-3, 1.0, 2**-40] * 3)
    before = DualPoint(lower, lower, upper)
    for change in (-1e3, 1e3):
        alpha, low, high = side.kept_inside(before, DualPoint(lower, lower + change, upper - change))
        assert (low > 0).all()
        assert (high > 0).all()
        assert low + high == pytest.approx(task.limit)
    change = np.array([5e-31, 1e-9, 1e-9, -(2**-60)] * 3)
    alpha, low, high = side.kept_inside(before, DualPoint(lower, lower + change, upper - change))
    assert np.array_equal(alpha, low)
    assert np.minimum(low, high) == pytest.approx(np.minimum(lower + change, upper - change), rel=1e-6)


def test_the_mean_of_a_count_keeps_its_digits():
    """Steps of any length leave it positive; a short step is Newton's, for α and for its distance from cy."""
    side, task = side_for("poisson", C=2.0)
    upper = np.array([1e-30, 1e-3, 1.0, 50.0] * 3)
    before = DualPoint(task.limit - upper, upper[:0], upper)
    for change in (-1e3, 1e3):
        alpha, low, high = side.kept_inside(before, DualPoint(before.alpha, low_end := upper[:0], upper - change))
        assert (high > 0).all()
        assert len(low) == len(low_end) == 0
        assert alpha + high == pytest.approx(task.limit, abs=1e-9)
    change = np.array([5e-31, -1e-9, 1e-9, -1e-6] * 3)
    alpha, _, high = side.kept_inside(before, DualPoint(before.alpha, upper[:0], upper - change))
    assert high == pytest.approx(upper - change, rel=0.3)
    assert high[1:4] == pytest.approx((upper - change)[1:4], rel=1e-6)
    assert alpha[1:4] - before.alpha[1:4] == pytest.approx(change[1:4], rel=1e-5)


def test_which_samples_are_free():
    """At −c, inside the tube, at c and free on either side: gradients say which, whatever rounding does to α."""
    side, task = side_for("epsilon_insensitive", n=10, C=1.0, epsilon=0.25)
    alpha = np.array([-1 + 1e-9, -0.5, 1e-9, 0.5, 1 - 1e-9, 0.0, 0.0, 0.0, 0.0, 0.0])
    gradient = np.array([0.5, 0.25, 0.1, -0.25, -0.5, -0.3, 0.3, 0.2, -0.2, 0.0])
    free, held = side.active(alpha, gradient, 1.0)
    assert free.tolist() == [False, True, False, True, False, True, True, False, False, False]
    assert held.tolist() == [-1, -0.5, 0, 0.5, 1, 0, 0, 0, 0, 0]
    assert (gradient + side.kink(alpha, gradient))[free] == pytest.approx([0.0, 0.0, -0.05, 0.05])
    assert task.limit[0] == 1


@pytest.mark.parametrize(
    ("bias", "loss", "share"), covering([True, False], ["squared", "huber"], [0.9, 0.999, 0.99999])
)
def test_the_group_lasso_just_below_its_largest_price(loss, bias, share):
    """Where the mean slope of the regulariser beats the gradient at every size of the weights, the start has a size."""
    instance = regression.noisy(18, 3, 5)
    task, _ = formulations.get("group_lasso").task(instance, {"loss": loss, "bias": bias})
    rest = task.y - task.risk(np.zeros(18)).bias
    largest = float(task.root_q(task.feasible(np.clip(rest, task.low, task.limit))).max())
    found = solve(instance, "group_lasso", solver="interior", loss=loss, bias=bias, lam=share * largest)
    assert found.certified, found.message
    assert 0 < np.count_nonzero(found.norms > 1e-9) < 3
    assert found.iterations <= 15
