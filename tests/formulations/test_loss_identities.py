"""Identities between losses: equalities where they are equal, rates from both sides where one is the limit of another.

Every value is certified, and what is compared may differ by the two gaps alone. The rates are those of a parameter t
that multiplies a penalty p(α) ≥ 0 of the gain, v(t) = max over α of G(α) − t p(α): for the optima α_0 and α_t

    t p(α_t) ≤ v(0) − v(t) ≤ t p(α_0).
"""

import numpy as np
import pytest

from checks import check_same_function
from covering import covering
from mklcvx import Instance, Solution, formulations
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, NONE, REAL
from mklcvx.zoo import regression
from solved_once import solved_once

pytestmark = pytest.mark.slow

NOISY = regression.noisy(18, 3, 5)
K, R = NOISY.kernels, NOISY.targets.values
PRICES = 1 + np.arange(18) % 3 / 2
LABELLED = Instance(K, np.where(np.median(R) < R, 1, -1), sample_weight=PRICES)
RESPONSE = Instance(K, response=R, sample_weight=PRICES)
COUNTED = Instance(K, response=np.floor(2 * (R - R.min())), sample_weight=PRICES)
BARE = Instance(K, sample_weight=PRICES)
INSTANCES = {LABELS: LABELLED, REAL: RESPONSE, COUNTS: COUNTED, NONE: BARE}
WITH_ONE_KERNEL = {targets: instance.select([0]) for targets, instance in INSTANCES.items()}
PENALTIES = ["l1", "sum", "sm2", "elastic", "block_elastic"]
FINE = 1e-10

over_penalties = pytest.mark.parametrize("name", PENALTIES)
over_biases = pytest.mark.parametrize("bias", [True, False])
over_losses = pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)
over_prices = pytest.mark.parametrize("loss", [x for x in EVERY if not x.free_margin], ids=lambda loss: loss.name)


def found(instance: Instance, name: str, loss: str, **given) -> Solution:
    given = {"nu": 0.4, **given} if loss == "nu" else given
    solution = solved_once(instance, name, solver="interior", tol=FINE, loss=loss, **given)
    assert solution.certified, solution.message
    return solution


def check_equal(one: Solution, other: Solution, factor: float = 1.0, shift: float = 0.0) -> None:
    """v_1 = factor v_2 + shift, within the two certificates."""
    a, b = one.certificate, other.certificate
    rounding = 1e-14 * (abs(a.upper) + abs(factor * b.upper) + abs(shift))
    assert a.lower <= factor * b.upper + shift + rounding
    assert factor * b.lower + shift <= a.upper + rounding


def check_rate(limit: Solution, near: Solution, least: float, most: float) -> None:
    """least ≤ v(limit) − v(near) ≤ most, within the two certificates; and both are positive."""
    a, b = limit.certificate, near.certificate
    slack = a.upper - a.lower + b.upper - b.lower
    assert 0 < least <= a.upper - b.lower
    assert a.lower - b.upper <= most
    assert slack < 1e-3 * least  # or nothing was tested


# -------------------------------------------------------------------------------------------------- limits, with rates
PLAIN = {"epsilon_insensitive": "absolute", "squared_epsilon_insensitive": "squared"}


@pytest.mark.parametrize(("name", "bias", "loss"), covering(PENALTIES, [True, False], PLAIN))
def test_without_its_tube_a_loss_is_the_plain_one(name, bias, loss):
    """v(0) − v(ε) lies between ε‖α_ε‖₁ and ε‖α_0‖₁, which is at most ε Σc where α is bounded by c."""
    given, limit = {"C": 1.5, "bias": bias}, PLAIN[loss]
    plain = found(RESPONSE, name, limit, **given)
    check_equal(found(RESPONSE, name, loss, epsilon=0.0, **given), plain)
    for epsilon in (1e-2, 1e-4):
        near = found(RESPONSE, name, loss, epsilon=epsilon, **given)
        check_rate(plain, near, epsilon * np.abs(near.alpha).sum(), epsilon * np.abs(plain.alpha).sum())
    if limit == "absolute":
        assert (np.abs(plain.alpha) <= 1.5 * PRICES).all()


# A loss with a corner that is rounded over a width t: at prices c (hinge) or c/t (huber) it is its first neighbour for
# t → 0, and at prices ct or c its second one from the largest slack or residual on.
ROUNDED = {
    "huber": (RESPONSE, "absolute", "squared", lambda t, narrow: {"delta": t, "C": 1.5 / t if narrow else 1.5}),
    "smoothed_hinge": (
        LABELLED, "hinge", "squared_hinge", lambda t, narrow: {"width": t, "C": 1.5 if narrow else 1.5 * t},
    ),
}  # fmt: skip
over_rounded = pytest.mark.parametrize("loss", ROUNDED)


@over_rounded
@over_penalties
@over_biases
def test_a_rounded_corner_of_small_width_is_a_corner(name, bias, loss):
    """The gain loses ½t Σα²/c, at most ½t Σc."""
    instance, corner, _, given = ROUNDED[loss]
    plain, prices = found(instance, name, corner, C=1.5, bias=bias), 1.5 * PRICES
    for width in (1e-2, 1e-4):
        near = found(instance, name, loss, bias=bias, **given(width, True))
        rates = [width / 2 * float(np.sum(solution.alpha**2 / prices)) for solution in (near, plain)]
        check_rate(plain, near, *rates)
        assert rates[1] <= width / 2 * prices.sum()


# ---------------------------------------------------------------- limits that are reached: bounds that no longer bind
@over_rounded
@over_penalties
@over_biases
def test_a_rounded_corner_beyond_all_residuals_is_a_square(name, bias, loss):
    instance, _, square, given = ROUNDED[loss]
    squared = found(instance, name, square, C=1.5, bias=bias)
    largest = float(np.abs(squared.alpha / (1.5 * PRICES)).max())
    for width in (1.001 * largest, 1e3 * largest):
        wide = found(instance, name, loss, bias=bias, **given(width, False))
        check_equal(wide, squared)
        check_same_function(wide, squared, K, 1e-6)
    below = found(instance, name, loss, bias=bias, **given(0.9 * largest, False))
    assert below.certificate.upper < squared.certificate.lower


@over_penalties
def test_squared_hinge_is_squared_on_the_labels_where_no_margin_exceeds_one(name):
    C = 0.02
    numbers = Instance(K, response=LABELLED.y, sample_weight=PRICES)
    squared, hinge = found(numbers, name, "squared", C=C), found(LABELLED, name, "squared_hinge", C=C)
    assert (LABELLED.y * squared.decision_function(K) < 1).all()
    check_equal(hinge, squared)
    np.testing.assert_allclose(hinge.alpha * LABELLED.y, squared.alpha, atol=1e-8)
    free = found(LABELLED, name, "squared_hinge", C=100.0)
    assert free.certificate.upper < found(numbers, name, "squared", C=100.0).certificate.lower


# ----------------------------------------------------------------------------------------------------------- equalities
@over_penalties
@over_biases
def test_the_median_is_half_of_the_absolute_loss(name, bias):
    median = found(RESPONSE, name, "quantile", quantile=0.5, C=3.0, bias=bias)
    check_equal(median, found(RESPONSE, name, "absolute", C=1.5, bias=bias))


@over_penalties
def test_quantiles_of_the_mirrored_response_are_the_mirrored_quantiles(name):
    mirrored = Instance(K, response=-R, sample_weight=PRICES)
    low, high = found(RESPONSE, name, "quantile", quantile=0.2), found(mirrored, name, "quantile", quantile=0.8)
    check_equal(low, high)
    np.testing.assert_allclose(low.alpha, -high.alpha, atol=1e-6)


@pytest.mark.parametrize("weight", [np.ones(18), PRICES / PRICES.mean()], ids=["even", "weighted"])
@pytest.mark.parametrize("name", [*PENALTIES, "lp", "sm1"])
def test_one_class_with_nu_one_is_the_mean(name, weight):
    """α = c is the only choice: the mean of the samples, and the value −U*(√q) of it."""
    instance, formulation = Instance(K, sample_weight=weight), formulations.get(name)
    solution = found(instance, name, "one_class", nu=1.0)
    task, _ = formulation.task(instance, {"loss": "one_class", "nu": 1.0})
    np.testing.assert_allclose(solution.alpha, weight / 18, rtol=1e-12)
    expected = -formulation.conjugate(task.root_q(weight / 18), **task.own)
    assert solution.certificate.lower <= expected + 1e-12
    assert expected - 1e-12 <= solution.certificate.upper


def test_one_class_with_nu_one_gives_l1_to_the_kernel_of_the_largest_mean():
    solution = found(Instance(K), "l1", "one_class", nu=1.0)
    means = K.mean(axis=(1, 2))
    assert solution.objective == pytest.approx(-means.max() / 2, rel=1e-12)
    np.testing.assert_allclose(solution.weights, np.eye(3)[np.argmax(means)], atol=1e-9)


# ------------------------------------------------------------------------------------------------- units and prices


@over_prices
@pytest.mark.parametrize("name", ["l1", "sm2"])
def test_the_value_grows_with_the_price_by_the_losses(name, loss):
    """A minimum of functions that are linear in C: concave, and Σℓ at either end bounds what C' − C adds."""
    instance, low, high = INSTANCES[loss.targets], 0.5, 0.6
    here, there = (found(instance, name, loss.name, C=C) for C in (low, high))
    sums = []
    for solution in (there, here):
        outputs = solution.decision_function(K)
        function = formulations.get(name).task(instance, solution.parameters)[0].loss_function
        level = float(solution.multipliers.get(function.level_name, 0.0))
        at_samples = function.value(outputs, instance.targets.values, PRICES, level).sum()
        sums.append(float(at_samples) + function.level_cost(level, PRICES))
    grown = there.objective - here.objective
    assert 0 < (high - low) * sums[0] * (1 - 1e-6) <= grown <= (high - low) * sums[1] * (1 + 1e-6)


@over_losses
@pytest.mark.parametrize("name", ["l1", "elastic"])
def test_a_weight_is_a_number_of_copies(name, loss):
    plain, counts = INSTANCES[loss.targets], 1 + np.arange(18) % 3
    copies = np.repeat(np.arange(18), counts)
    repeated = Instance(K[np.ix_(np.arange(3), copies, copies)], **_targets(plain, copies))
    weighted = Instance(K, **_targets(plain, np.arange(18)), sample_weight=counts.astype(float))
    nu = [{"nu": 0.4}, {"nu": 0.4 * 18 / len(copies)}] if loss.free_margin else [{}, {}]  # c = 1/(νn)
    one, many = found(weighted, name, loss.name, **nu[0]), found(repeated, name, loss.name, **nu[1])
    check_equal(one, many)
    np.testing.assert_allclose(one.weights, many.weights, atol=1e-5)


def _targets(instance: Instance, rows: np.ndarray) -> dict[str, np.ndarray]:
    kind = instance.targets.kind
    return {} if kind == "none" else {kind: instance.targets.values[rows]}


# ------------------------------------------------------------------------------------------------------- the penalties
SMOOTH = [loss for loss in EVERY if loss.name in ("squared", "huber", "squared_hinge", "smoothed_hinge", "logistic")]


@over_biases
@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_group_lasso_vanishes_from_lam_max_on(loss, bias):
    """λ_max = max √q_m at the multipliers of the best constant; a smooth loss has one choice of them."""
    instance = INSTANCES[loss.targets]
    task, _ = formulations.get("group_lasso").task(instance, {"loss": loss.name, "C": 1.5, "bias": bias})
    constant = np.full(18, task.risk(np.zeros(18)).bias)
    step = 1e-6
    values = [task.loss_function.value(constant + sign * step, task.y, task.box) for sign in (-1, 1)]
    slopes = -task.signs * (values[1] - values[0]) / (2 * step)  # α⁰, by differences
    largest = float(task.root_q(task.feasible(slopes)).max())
    beyond = found(instance, "group_lasso", loss.name, C=1.5, bias=bias, lam=1.0001 * largest)
    assert beyond.norms.max() <= 1e-9
    assert beyond.objective == pytest.approx(task.risk(np.zeros(18)).value, rel=1e-9)
    below = found(instance, "group_lasso", loss.name, C=1.5, bias=bias, lam=0.999 * largest)
    assert below.norms.max() > 1e-6
    assert below.certificate.upper < beyond.certificate.lower


@over_biases
@over_prices
def test_group_lasso_is_l1_at_the_matching_price(loss, bias):
    """λ = A = Σ‖f_m‖ of l1: the same function, and A²/2 more."""
    instance = INSTANCES[loss.targets]
    simplex = found(instance, "l1", loss.name, C=1.5, bias=bias)
    total = float(simplex.norms.sum())
    plain = found(instance, "group_lasso", loss.name, C=1.5, bias=bias, lam=total)
    assert plain.objective == pytest.approx(simplex.objective + total**2 / 2, rel=2e-9)
    assert float(plain.norms.sum()) == pytest.approx(total, rel=1e-4)
    check_same_function(simplex, plain, K)


@over_losses
def test_block_elastic_runs_from_sum_to_l1(loss):
    instance = INSTANCES[loss.targets]
    for ratio, name in ((0.0, "sum"), (1.0, "l1")):
        check_equal(found(instance, "block_elastic", loss.name, l1_ratio=ratio), found(instance, name, loss.name))
    values = [found(instance, "block_elastic", loss.name, l1_ratio=r).objective for r in (0.0, 0.1, 0.5, 1.0)]
    slopes = np.diff(values) / np.diff([0.0, 0.1, 0.5, 1.0])
    assert (slopes > 0).all()
    assert (np.diff(slopes) < 0).all()  # the least of functions that are linear in r is concave


@over_losses
@pytest.mark.parametrize("name", ["sum", "average", "l1", "sm1", "lp", "l2", "elastic", "block_elastic"])
def test_one_kernel_is_the_svm(name, loss):
    one = WITH_ONE_KERNEL[loss.targets]
    check_equal(found(one, name, loss.name), found(one, "svm", loss.name))


@over_losses
def test_one_kernel_with_a_penalty_is_the_svm_plus_a_constant(loss):
    one = WITH_ONE_KERNEL[loss.targets]
    svm = found(one, "svm", loss.name)
    check_equal(found(one, "sm2", loss.name, theta=0.8), svm, shift=1 / 1.6)
    check_equal(found(one, "smp", loss.name, theta=0.8, p=3), svm, shift=(2 * 2 / (0.8 * 3)) ** 2 / 3)
