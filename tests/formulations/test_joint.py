"""Joint outputs: their losses, feasible sets and declarations."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import softmax

from joint_cases import FOR_CLASSES, FOR_RESPONSES, WITH_WEIGHTS, classes, posed, responses
from mklcvx import Instance, formulations
from mklcvx.formulations.families.joint import JointTask
from mklcvx.formulations.losses import HUBER, JOINT, SOFTMAX, SQUARED, Separable
from mklcvx.formulations.losses._joint import circulating
from mklcvx.formulations.losses.softmax import log_shares
from mklcvx.solvers.conic import CLARABEL, SCS, Run, solve_program
from refusals import check_refused

pytestmark = pytest.mark.slow

LOSSES = [*JOINT.values(), Separable(SQUARED)]
UNIT = 4.0  # of kernels, in declared programmes
BY_NAME = {"ids": lambda one: getattr(one, "name", None)}


def signs(samples, outputs, rng):
    own = np.concatenate([np.arange(outputs), rng.integers(0, outputs, samples - outputs)])
    return np.where(np.arange(outputs)[:, None] == own, 1.0, -1.0)


def points(loss, samples, outputs, seed, spread=1.0):
    """Targets, prices, a feasible α and outputs."""
    rng = np.random.default_rng(seed)
    y = signs(samples, outputs, rng) if loss.targets == "classes" else rng.normal(size=(outputs, samples))
    price = rng.uniform(0.5, 2.0, samples) * spread ** rng.uniform(-1, 1, samples)
    alpha = price * rng.choice([0.0, 0.2, 1.0], (outputs, samples)) * rng.exponential(size=(outputs, samples))
    return y, price, alpha, rng.choice([0.1, 1.0, 10.0]) * rng.normal(size=(outputs, samples))


# ---------------------------------------------------------------------------------------------------------- the losses
@pytest.mark.parametrize("loss", LOSSES, **BY_NAME)
@pytest.mark.parametrize("outputs", [2, 3, 7])
def test_fenchel_and_young(loss, outputs):
    y, price, alpha, z = points(loss, 500, outputs, outputs)
    alpha = loss.feasible(alpha, y, price, bias=False)
    gap = loss.fenchel_young(alpha, z, y, price)
    gains = np.array([loss.gain(alpha[:, [i]], y[:, [i]], price[[i]]) for i in range(500)])
    plain = loss.value(z, y, price) - gains + (loss.signs(y) * alpha * z).sum(axis=0)
    assert (gap >= 0).all()
    assert (gap > 1e-3).any()
    np.testing.assert_allclose(gap, plain, atol=2e-13 * float(np.abs(price * z).max() + 1) * outputs)


@pytest.mark.parametrize("loss", LOSSES, **BY_NAME)
def test_fenchel_and_young_meet_at_a_subgradient(loss):
    """α that is a subgradient of the loss leaves no gap, to the last bits."""
    y, price, _, z = points(loss, 500, 4, 3)
    if loss.name == "squared":
        alpha = price * (y - z)
    elif loss.name == "softmax":
        chances = np.exp(z - z.max(axis=0))
        chances /= chances.sum(axis=0)
        alpha = price * np.where(y > 0, 1 - chances, chances)
    else:
        lack = np.where(y > 0, 0.0, 1 - np.where(y > 0, z, 0).sum(axis=0) + z)
        worst = lack == lack.max(axis=0)
        alpha = np.where(worst & (lack > 0) & (y < 0), price, 0.0)
        alpha = np.where(y > 0, alpha.sum(axis=0), alpha)
    size = np.abs(price * z).max(axis=0) + price
    assert (loss.fenchel_young(alpha, z, y, price) <= 1e-15 * size).all()


def test_the_divergence_from_probabilities_that_vanish():
    """u log(u/p) with log p = −800, where p itself is 0, as a double."""
    y, z, alpha = np.array([[1.0], [-1.0]]), np.array([[0.0], [800.0]]), np.full((2, 1), 0.5)
    assert SOFTMAX.fenchel_young(alpha, z, y, np.ones(1))[0] == pytest.approx(400 - math.log(2))


def test_the_logarithm_of_a_share_is_that_of_what_it_lacks():
    """log(part/c) in fifty digits, to the last ones where next to nothing is missing."""
    price = 0.7
    for part in (1e-300, 0.1, 0.35, 0.5, price - 1e-9, np.nextafter(price, 0)):
        with localcontext(prec=50):
            wanted = float((Decimal(float(part)) / Decimal(price)).ln())
        assert log_shares(np.array([part]), np.array([price]))[0] == pytest.approx(wanted, rel=5e-16, abs=0)


@pytest.mark.parametrize("loss", LOSSES, **BY_NAME)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spread", [1.0, 1e4])
def test_no_other_bias_is_better(loss, seed, spread):
    y, price, _, z = points(loss, 40, 3, seed)
    z, price = spread * z, price * spread ** -np.random.default_rng(0).random(40)
    best, rng = loss.risk(z, y, price, bias=True), np.random.default_rng(seed)
    assert loss.targets != "classes" or abs(best.bias.sum()) < 1e-12 * (1 + np.abs(best.bias).max())
    assert best.value == pytest.approx(loss.value(z + best.bias[:, None], y, price).sum())
    for size in (1e-3, 0.1, 3.0, spread / 10):
        for _ in range(30):
            other = best.bias + size * rng.normal(size=3)
            assert loss.value(z + other[:, None], y, price).sum() >= best.value * (1 - 1e-12)


@pytest.mark.parametrize(
    ("most", "seeds"), [(4, (*range(36), 53, 99, 187, 231, 484, 632, 2713)), (8, (56, 93, 203, 436, 623))]
)
def test_every_class_is_as_likely_as_its_prices_at_the_least_biases_of_softmax(most, seeds):
    """Σ_i c_i p_ij is what the samples of class j cost: the risk has no slope. Outputs up to 10⁴ and prices 10¹² apart,
    or the squares of these. Slips in Newton's method do not reach that at some of the seeds."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        outputs = int(rng.integers(2, 6))
        y = signs(int(rng.integers(outputs, 40)), outputs, rng)
        z = 10 ** rng.uniform(-2, most) * rng.normal(size=y.shape)
        price = 10 ** (rng.uniform(0, 1.5 * most) * rng.uniform(-1, 1, y.shape[1]))
        bias = SOFTMAX.risk(z, y, price, bias=True).bias
        slope = (softmax(z + bias[:, None], axis=0) - (y > 0)) @ price
        assert np.abs(slope).max() <= 1e-6 * price.sum()


@pytest.mark.parametrize("loss", LOSSES, **BY_NAME)
def test_without_a_bias_there_is_none(loss):
    y, price, _, z = points(loss, 10, 3, 0)
    found = loss.risk(z, y, price, bias=False)
    assert not found.bias.any()
    assert found.value == pytest.approx(loss.value(z, y, price).sum())


def test_a_task_has_a_bias_unless_it_is_told_otherwise():
    assert JointTask(np.eye(2)[None], np.eye(2), np.ones(2), SOFTMAX).bias


@pytest.mark.parametrize("loss", JOINT.values(), **BY_NAME)
def test_a_constant_added_to_all_outputs_changes_nothing(loss):
    y, price, alpha, z = points(loss, 30, 4, 1)
    alpha = loss.feasible(alpha, y, price, bias=True)
    shifted = z + np.random.default_rng(0).integers(-4, 4, 30)
    np.testing.assert_allclose(loss.value(shifted, y, price), loss.value(z, y, price), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        loss.fenchel_young(alpha, shifted, y, price), loss.fenchel_young(alpha, z, y, price), atol=1e-12
    )


# ------------------------------------------------------------------------------------------------------ feasible sets
@pytest.mark.parametrize("loss", LOSSES, **BY_NAME)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("spread", [1.0, 1e6])
def test_feasible_points_are_exactly_so(loss, bias, spread):
    for seed in range(30):
        y, price, alpha, _ = points(loss, 6 + seed, 2 + seed % 4, seed, spread)
        found = loss.feasible(alpha, y, price, bias)
        assert loss.exactly_feasible(found, y, price, bias)
        exact = [[Fraction(entry) for entry in row] for row in (found * loss.signs(y)).tolist()]
        assert not bias or all(sum(row) == 0 for row in exact)
        if loss.targets == "classes":
            assert all(sum(column) == 0 for column in zip(*exact, strict=True))
            assert (found >= 0).all()
            assert (np.where(y > 0, found, 0).sum(axis=0) <= price).all()


@pytest.mark.parametrize("loss", JOINT.values(), **BY_NAME)
@pytest.mark.parametrize("bias", [True, False])
def test_a_feasible_point_is_left_where_it_is(loss, bias):
    """But for the grid: the last bit of the largest α, a few of them with a bias."""
    for seed in range(20):
        y, price, alpha, _ = points(loss, 25, 3, seed)
        once = loss.feasible(alpha, y, price, bias)
        assert once.any()
        np.testing.assert_array_equal(loss.feasible(once, y, price, bias), once)
        near = once * (1 + 1e-13 * np.random.default_rng(seed).normal(size=once.shape))
        again = loss.feasible(near, y, price, bias)
        np.testing.assert_allclose(again, once, atol=25 * 1e-12 * float(price.max()))


@pytest.mark.parametrize("loss", JOINT.values(), **BY_NAME)
@pytest.mark.parametrize("bias", [True, False])
def test_what_is_too_much_is_reduced_in_proportion(loss, bias):
    """First into the price, sample by sample, then to a circulation, flow by flow."""
    y, price, alpha, _ = points(loss, 25, 3, 1)
    own, others = np.argmax(y > 0, axis=0), np.where(y > 0, 0.0, 3 * alpha)
    others *= np.minimum(price / np.maximum(others.sum(axis=0), 1e-300), 1.0)
    if bias:
        flows = np.stack([others[:, own == j].sum(axis=1) for j in range(3)])
        others *= circulating(flows)[own].T
    found = loss.feasible(np.where(y > 0, 0.0, 3 * alpha), y, price, bias)
    np.testing.assert_allclose(np.where(y > 0, 0.0, found), others, atol=1e-12 * float(price.max()))


@pytest.mark.parametrize("loss", LOSSES, **BY_NAME)
def test_what_is_not_feasible_is_called_so(loss):
    y, price, alpha, _ = points(loss, 12, 3, 4)
    alpha = loss.feasible(alpha, y, price, bias=True)
    assert loss.exactly_feasible(alpha, y, price, bias=True)
    assert not loss.exactly_feasible(np.nextafter(alpha, np.inf), y, price, bias=True)
    moved = alpha.copy()
    moved[:, 0] += np.where(y[:, 0] > 0, 0.25, [0.25, 0.0, 0.0] if y[0, 0] < 0 else [0.0, 0.25, 0.0]) * price[0] / 64
    assert not loss.exactly_feasible(moved, y, price, bias=True)  # no circulation
    if loss.targets == "classes":
        small = np.where(np.arange(12) == 0, alpha[:, 0].max() / 2, price)
        assert alpha[:, 0].any()
        assert not loss.exactly_feasible(alpha, y, small, bias=True)
        assert not loss.exactly_feasible(-alpha, y, price, bias=True)


def test_each_output_keeps_its_own_bounds():
    """Where a loss for real targets has bounds, one entry beyond them is enough."""
    loss, price = Separable(HUBER), np.ones(4)
    y, inside = np.zeros((2, 4)), np.tile([1.0, -1.0, 0.5, -0.5], (2, 1))
    assert loss.exactly_feasible(inside, y, price, bias=True)
    assert not loss.exactly_feasible(2 * inside, y, price, bias=True)
    assert not loss.exactly_feasible(np.abs(inside) * [1, 1, 1, 4], y, price, bias=False)
    assert not loss.exactly_feasible(-np.abs(inside) * [1, 1, 1, 4], y, price, bias=False)


def test_the_largest_term_is_that_of_all_outputs():
    loss, y = Separable(SQUARED), np.array([[0.0, 0.0], [30.0, -30.0]])
    found = loss.risk(np.zeros((2, 2)), y, np.ones(2), bias=False)
    assert found.largest_term >= 900


def test_a_circulation_is_what_is_left_of_flows():
    flows = np.array([[0.0, 5.0, 1.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    left = flows * circulating(flows)
    np.testing.assert_allclose(left.sum(axis=0), left.sum(axis=1), atol=1e-14)
    assert (left <= flows).all()
    assert left.sum() >= 6 - 1e-9  # 1 → 2 and back twice, and 1 → 3 → 2 → 1 would not fit beside it


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    ("outputs", "others", "expected"),
    [
        ([0.0, 1.0, 0.20], [0.6, 0.2], [2.0, 0.0]),  # behind by 0.8, more than its share of 0.1; a margin error
        ([0.0, 1.0, 0.85], [0.6, 0.2], [2.0, 0.0]),
        ([0.0, 1.0, 0.95], [0.6, 0.2], [1.5, 0.5]),  # behind by less than its share
        ([0.0, 1.0, 0.95], [0.6, -0.2], [2.0, 0.0]),
        ([1.3, 1.0, 0.98], [0.6, 0.2], [1.5, 0.5]),  # the lack is 0.7, more than the share that is missing
        ([1.8, 1.0, 0.98], [0.6, 0.2], [0.6, 0.2]),  # the lack is 0.2, less than that
        ([2.3, 1.0, 0.98], [0.6, 0.2], [0.6, 0.2]),  # ahead of the margin by 0.3, less than the share of 0.4
        ([2.35, 1.0, 0.98], [0.6, 0.2], [0.6, 0.2]),
        ([2.5, 1.0, 0.98], [0.6, 0.2], [0.0, 0.0]),  # by 0.5
        ([5.0, 1.0, 0.98], [0.6, 0.2], [0.0, 0.0]),
        ([2.9, 1.0, 0.98], [1.8, 1.2], [1.2, 0.8]),  # ahead by 0.9, less than a whole share; more than the price
        ([3.5, 1.0, 0.98], [1.8, 1.2], [0.0, 0.0]),
        ([0.0, 1.0, 0.95], [0.0, 0.0], [0.0, 0.0]),  # nothing stays nothing
    ],
)
def test_what_the_outputs_hold_at_its_bounds_is_put_there(outputs, others, expected, place):
    """One sample at the price 2, whose own output is the first; classes in any order."""
    loss, price, alpha = JOINT["crammer_singer"], np.array([2.0]), np.array([sum(others), *others])
    y, z, alpha = (np.roll(part, place)[:, None] for part in (np.array([1.0, -1.0, -1.0]), outputs, alpha))
    found = loss.at_bounds(alpha, z, y, price)
    assert loss.exactly_feasible(found, y, price, bias=False)
    assert np.roll(found[:, 0], -place) == pytest.approx([sum(expected), *expected], abs=1e-15)
    assert sum(expected) < 2 or found[place, 0] == 2


# ------------------------------------------------------------------------------------------------------- declarations
WITH_CLASSES = [(name, loss) for name in WITH_WEIGHTS for loss in (*FOR_CLASSES, "squared")]
PAIRS = [*WITH_CLASSES, *(("l1", loss) for loss in FOR_RESPONSES)]
# Every pair, with a bias and without one in turns: a loss has both under other formulations, and the other way round.
CASES = [(name, loss, place % 2 == 0) for place, (name, loss) in enumerate(PAIRS)]


def value_of(problem):
    """By SCS where Clarabel gives up."""
    assert any(solve_program(problem, each, Run()) for each in (CLARABEL, SCS))
    return problem.value


@pytest.mark.parametrize(("name", "loss", "bias"), CASES)
def test_both_declarations_and_both_bounds_agree(name, loss, bias):
    """The primal gives both bounds, by its multipliers; the dual, declared apart from it, the lower one again."""
    instance = classes() if loss in FOR_CLASSES else responses()
    formulation, task = posed(instance, name, loss=loss, bias=bias)
    assert "joint loss" in formulation.notation
    scaled = formulation.in_units(task, UNIT)
    primal, dual = formulation.declare_primal(scaled), formulation.declare_dual(scaled)
    values = np.array([value_of(primal.problem), value_of(dual.problem)]) / task.loss_function.value_unit(UNIT)
    ((alpha,), (functions,)) = formulation.from_primal(primal, scaled, UNIT)
    lower, upper = formulation.lower(task, alpha), formulation.upper(task, functions)
    again = formulation.lower(task, formulation.from_dual(dual, scaled, UNIT).duals[0])
    assert lower.largest_term >= abs(task.gain(lower.alpha))
    assert upper.largest_term >= upper.risk.largest_term
    size = formulation.scale(lower, upper)
    np.testing.assert_allclose([lower.value, again.value], upper.value, rtol=0, atol=2e-6 * size)
    np.testing.assert_allclose(values, upper.value, rtol=0, atol=1e-5 * size)  # solvers stop earlier than their points


def test_points_at_hand_are_zero_functions_without_weights():
    """With softmax f = 0 costs c log k for every sample where classes are balanced, and α = 0 proves 0."""
    instance = Instance(np.eye(6)[None], classes=np.arange(6) % 3)
    formulation, task = posed(instance, "square", loss="softmax")
    (alpha,), (functions,) = formulation.trivial_points(task)
    assert formulation.upper(task, functions).value == pytest.approx(6 * math.log(3))
    assert not functions.weights.any()
    lower = formulation.lower(task, alpha)
    assert (lower.value, lower.alpha.any()) == (0, False)


@pytest.mark.parametrize("excess", [0.5, 1.5, 3.0])
def test_an_alpha_that_sees_too_much_is_shortened(excess):
    """By group_lasso, whose roots may not exceed λ."""
    formulation, task = posed(classes(), "group_lasso", loss="crammer_singer", lam=0.5)
    alpha = task.feasible(np.where(task.y > 0, 0.5, 0.25))
    alpha = task.feasible(alpha * (excess * 0.5 / task.root_q(alpha).max()))
    found = formulation.lower(task, alpha)
    assert found.roots.max() == pytest.approx(0.5 * min(excess, 1), rel=1e-9)
    assert found.value == pytest.approx(task.gain(alpha) / max(excess, 1), rel=1e-9)


def test_a_gain_below_zero_counts_with_its_size():
    """squared at α = ±4 beyond y = 0, twice: the gain is −Σ α²/2 = −32; a kernel that sees nothing costs nothing."""
    task = JointTask(np.zeros((1, 2, 2)), np.zeros((2, 2)), np.ones(2), Separable(SQUARED))
    lower = posed(responses(), "l1", loss="squared")[0].lower(task, np.array([[4.0, -4.0], [-4.0, 4.0]]))
    assert (lower.value, lower.largest_term) == (-32, 32)


def test_constants_are_taken_out_of_kernels_where_there_is_a_bias():
    near = classes()
    far = Instance(np.asarray(near.kernels) + 1e6, classes=near.targets.values)
    for bias in (True, False):
        _, task = posed(far, "l1", loss="softmax", bias=bias)
        assert (task.centred() is task) != bias
        assert (max(np.abs(kernel).max() for kernel in task.centred().each_kernel()) < 10) == bias


def test_a_class_is_named_and_a_formulation_keeps_its_name():
    formulation, task = posed(classes(), "l1", loss="softmax")
    assert (formulation.name, formulation.family, task.outputs) == ("l1", "joint outputs", 3)
    assert formulations.get("l1").posed_for(classes(), {}) is formulations.get("l1")
    assert posed(responses(outputs=2), "l1", loss="squared")[0].family == "joint outputs"
    _, resolved = formulation.task(classes(), {"loss": "softmax", "C": 2})
    assert resolved == {"loss": "softmax", "C": 2.0, "bias": True}


# ------------------------------------------------------------------------------------------------------------ refusals
@pytest.mark.parametrize(
    ("instance", "name", "given", "words"),
    [
        (classes(), "li", {"loss": "softmax"}, ("li has no form for several outputs", "a formulation with weights")),
        (responses(), "l1", {"loss": "softmax"}, ("loss softmax needs classes", "response", "use loss squared")),
        (classes(), "l1", {"loss": "squared"}, ("loss squared needs a response", "use loss crammer_singer, softmax")),
        (responses(), "l1", {"loss": "hinge"}, ("l1 needs labels y",)),
        (classes(), "l1", {"loss": "softmax", "nu": 0.3}, ("parameter nu does not belong to loss softmax",)),
        (classes(), "l1", {"loss": "crammer_singer", "C": -1}, ("parameter C = -1",)),
        (classes(), "l1", {"loss": "softmax", "theta": 1}, ("unknown parameter 'theta' of l1",)),
    ],
)
def test_what_does_not_fit_is_refused(instance, name, given, words):
    with check_refused(*words):
        posed(instance, name, **given)


def test_no_loss_is_finite_at_the_largest_numbers():
    """Outputs of 1e300 overflow nowhere."""
    for loss in JOINT.values():
        y = signs(5, 3, np.random.default_rng(0))
        z = np.random.default_rng(1).choice([-1e300, 1.0, 1e300], (3, 5))
        assert np.isfinite(loss.value(z, y, np.ones(5))).all()
        assert math.isfinite(loss.risk(z / 1e200, y, np.ones(5), bias=True).value)
