"""The sample side: feasible α, least risk, units. Checked against linear programs and definitions."""

import numpy as np
import pytest
from scipy.optimize import linprog

from cases import LOSSES, instance_for, own_parameters
from mklcvx import Instance, formulations
from mklcvx.formulations import RankOneCoefficients, Task
from mklcvx.formulations.losses import NU
from mklcvx.problem.stack import KernelStack


def task(n: int, loss: str, bias: bool, seed: int, count: int = 2) -> Task:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(count, n, n))
    y = np.where(rng.permutation(n) < max(1, n // 3), 1.0, -1.0)
    box = rng.uniform(0.5, 1.5, n) if loss == "c" else rng.uniform(1.0, 1.2, n) / (0.4 * n)
    return Task(factors @ factors.transpose(0, 2, 1), y, box, loss, bias)


def least_risk(problem: Task, outputs: np.ndarray, fixed_bias: float | None = None) -> float:
    """The risk as a linear program over slacks, b and ρ."""
    n, nu = problem.samples, problem.loss == "nu"
    cost = np.concatenate([problem.box, [0.0, -1.0 if nu else 0.0]])
    rows = np.hstack([-np.eye(n), -problem.y[:, None], np.full((n, 1), 1.0 if nu else 0.0)])
    sides = problem.y * outputs - (0.0 if nu else 1.0)
    bias = (None, None) if fixed_bias is None and problem.bias else (fixed_bias or 0.0,) * 2
    bounds = [(0, None)] * n + [bias, (None, None) if nu else (0, 0)]
    return linprog(cost, A_ub=rows, b_ub=sides, bounds=bounds).fun


@pytest.mark.parametrize("loss", ["c", "nu"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_risk_is_the_least_over_bias_and_margin(loss, bias, seed):
    problem = task(9, loss, bias, seed)
    outputs = np.round(np.random.default_rng(seed).normal(size=9), 1)
    risk = problem.risk(outputs)
    assert risk.value == pytest.approx(least_risk(problem, outputs), abs=1e-9)
    level = 1.0 if loss == "c" else risk.rho
    loss_there = problem.box @ np.maximum(0, level - problem.y * (outputs + risk.bias))
    assert risk.value == pytest.approx(loss_there - (0 if loss == "c" else risk.rho))
    assert risk.largest_term == pytest.approx(max(loss_there, abs(risk.rho or 0.0)))
    assert bias or risk.bias == 0


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_the_least_risk_follows_the_box_to_any_size(size):
    problem = task(9, "c", True, 4)
    resized = Task(problem.kernels, problem.y, problem.box * size)
    outputs = np.random.default_rng(4).normal(size=9)
    one, other = problem.risk(outputs), resized.risk(outputs)
    assert other.value == pytest.approx(size * one.value)
    assert other.bias == pytest.approx(one.bias)


def test_rounding_of_many_slopes_hides_no_flat_bottom():
    """Half of 2 · n samples may err: the threshold lies anywhere between two outputs, whatever 1/n rounds to."""
    for n in range(100, 1100, 100):
        y, outputs = np.repeat([1.0, -1.0], n), np.concatenate([np.arange(n), -np.arange(n)]).astype(float)
        risk = Task(np.zeros((1, 2 * n, 2 * n)), y, np.full(2 * n, 1 / n), "nu").risk(outputs)
        assert risk.bias_interval == (-0.5, 0.5)
        assert risk.rho == n / 2 - 0.5


def test_a_nu_that_exceeds_the_class_balance_by_rounding_has_a_risk():
    """One positive of three: 2/3 is the largest ν; its box is then nearly ½. The worst of each class make the risk."""
    instance = Instance(np.eye(3)[None], [1, -1, -1])
    problem, _ = formulations.get("l1").task(instance, {"nu": 2 / 3 * (1 + 5e-13)})
    assert problem.box[0] < 0.5 - 1e-13
    assert problem.risk(np.array([3.0, -1.0, -2.0])).value == pytest.approx(-(3 + 1) / 2)


@pytest.mark.parametrize("loss", ["c", "nu"])
def test_without_a_bias_its_interval_is_zero(loss):
    assert task(9, loss, False, 0).risk(np.arange(9.0)).bias_interval == (0, 0)


def test_the_bias_is_an_interval_where_every_choice_is_optimal():
    """f = ∓2 separates with room to spare: every b in [−1, 1] has no loss; the middle is returned."""
    problem = Task(np.eye(2)[None], np.array([1.0, -1.0]), np.ones(2))
    risk = problem.risk(np.array([2.0, -2.0]))
    assert (risk.bias, risk.bias_interval, risk.value) == (0.0, (-1.0, 1.0), 0.0)
    risk = problem.risk(np.array([4.0, -2.0]))
    assert (risk.bias, risk.bias_interval) == (-1.0, (-3.0, 1.0))


def test_feasible_scales_the_heavier_class_down_and_keeps_zeros():
    problem = Task(np.eye(4)[None], np.array([1.0, 1, -1, -1]), np.ones(4))
    assert problem.feasible(np.array([0.8, 0.4, 0.6, 0.0])) == pytest.approx([0.4, 0.2, 0.6, 0.0])
    assert problem.feasible(np.array([np.nan, 2.0, 0.5, -1.0])) == pytest.approx([0.0, 0.5, 0.5, 0.0])
    assert problem.feasible(np.zeros(4)) == pytest.approx(np.zeros(4))


def test_feasible_fills_the_nu_form_up_within_the_box():
    problem = Task(np.eye(4)[None], np.array([1.0, 1, -1, -1]), np.full(4, 0.4), "nu")
    assert problem.feasible(np.array([0.2, 0.0, 0.4, 0.2])) == pytest.approx([0.3, 0.2, 1 / 3, 1 / 6])
    assert problem.feasible(np.zeros(4)) == pytest.approx(np.full(4, 0.25))
    assert problem.feasible(np.array([0.1, 0.1, 0.4, 0.1])) == pytest.approx([0.25, 0.25, 0.4, 0.1])


def test_feasible_fills_the_nu_form_up_without_touching_zeros_where_the_others_have_room():
    problem = Task(np.eye(4)[None], np.array([1.0, 1, 1, -1]), np.array([0.3, 0.3, 0.3, 0.5]), "nu")
    assert problem.feasible(np.array([0.1, 0.1, 0.0, 0.5])) == pytest.approx([0.25, 0.25, 0.0, 0.5])
    assert problem.feasible(np.array([0.2, 0.2, 0.0, 0.5])).tolist()[2] == 0.0


def test_correlations_and_evaluations_follow_their_definitions():
    problem = task(6, "c", True, 3)
    rng = np.random.default_rng(0)
    alpha, c = rng.uniform(size=6), rng.normal(size=(2, 6))
    signed = alpha * problem.y
    assert problem.root_q(alpha) ** 2 == pytest.approx([signed @ k @ signed for k in problem.kernels])
    outputs, norms = problem.evaluate(c)
    assert outputs == pytest.approx(problem.kernels[0] @ c[0] + problem.kernels[1] @ c[1])
    assert norms**2 == pytest.approx([c[m] @ problem.kernels[m] @ c[m] for m in range(2)])
    assert problem.gain(alpha) == pytest.approx(alpha.sum())
    assert task(6, "nu", True, 3).gain(alpha) == 0


def test_factors_rebuild_their_kernels():
    rng = np.random.default_rng(1)
    low = rng.normal(size=(6, 2))
    problem = Task(np.stack([low @ low.T, np.eye(6), np.zeros((6, 6))]), np.ones(6), np.ones(6))
    assert [f.columns.shape[1] for f in problem.factors] == [2, 6, 1]
    for factor, kernel in zip(problem.factors, problem.kernels, strict=True):
        assert factor.columns @ factor.columns.T == pytest.approx(kernel, abs=1e-12)
        w = rng.normal(size=factor.columns.shape[1])
        assert kernel @ (factor.to_coefficients @ w) == pytest.approx(factor.columns @ w, abs=1e-12)


@pytest.mark.parametrize("size", [1e-25, 1.0, 1e25])
def test_a_kernel_of_rank_one_has_one_coordinate_at_any_size(size):
    column = np.random.default_rng(2).normal(size=(7, 1))
    (factor,) = KernelStack(size * (column @ column.T)[None]).factors
    assert factor.columns.shape == (7, 1)
    assert np.abs(factor.columns) / np.sqrt(size) == pytest.approx(np.abs(column))


def test_constants_are_taken_out_of_kernels_where_there_is_a_bias():
    problem = task(5, "c", True, 6)
    for bias in (True, False):
        far = Task(problem.kernels + 1e9, problem.y, problem.box, bias=bias)
        assert (far.centred() is far) != bias
        assert (max(np.abs(kernel).max() for kernel in far.centred().each_kernel()) < 1e3) == bias


def test_some_samples_have_their_part_of_everything():
    """Of kernels without their constants, too."""
    problem, some = task(5, "c", True, 6), np.array([0, 2, 3])
    for whole in (problem, Task(problem.kernels + 1e9, problem.y, problem.box).centred()):
        part = whole.with_samples(some)
        assert (part.y.tolist(), part.box.tolist()) == (whole.y[some].tolist(), whole.box[some].tolist())
        for one, kernel in zip(part.each_kernel(), whole.each_kernel(), strict=True):
            np.testing.assert_array_equal(one, kernel[np.ix_(some, some)])


def test_sums_and_images_of_kernels_that_are_not_quite_symmetric_are_those_of_their_lower_triangles():
    rng = np.random.default_rng(3)
    skewed, vector, weights = rng.normal(size=(3, 4, 4)), rng.normal(size=4), np.array([0.5, 0.0, 2.0])
    task = Task(skewed, np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4), symmetric=False)
    whole = np.stack([np.tril(kernel) + np.tril(kernel, -1).T for kernel in skewed])
    total = np.eye(4)
    images = task.update_and_matvec(total, weights, vector)
    assert np.tril(total) == pytest.approx(np.tril(np.eye(4) + np.tensordot(weights, whole, 1)))
    assert task.combined(weights) == pytest.approx(np.tensordot(weights, whole, 1))
    assert images == pytest.approx(whole @ vector)
    assert task.matvecs(vector) == pytest.approx(whole @ vector)


def test_only_the_lower_triangle_is_used_and_single_precision_is_widened():
    kernel = np.array([[2.0, 1.0], [0.5, 2.0]], dtype=np.float32)
    (seen,) = Task(kernel[None], np.array([1.0, -1.0]), np.ones(2), symmetric=False).each_kernel()
    assert seen.dtype == np.float64
    assert seen.tolist() == [[2.0, 0.5], [0.5, 2.0]]


def test_the_typical_kernel_size_is_a_geometric_mean():
    sizes = np.array([1e-4, 1.0, 1e4, 0.0])[:, None, None]
    assert Task(sizes * np.eye(3), np.ones(3), np.ones(3)).typical_kernel_size() == pytest.approx(1.0)
    assert Task(0 * sizes * np.eye(3), np.ones(3), np.ones(3)).typical_kernel_size() == 1.0
    stack = KernelStack(np.array([0.01, 0.0, 0.25])[:, None, None] * np.eye(3))
    assert stack.typical_kernel_size() == pytest.approx(0.05)


@pytest.mark.parametrize(("name", "loss"), LOSSES)
@pytest.mark.parametrize("size", [1e-2, 30.0])
def test_a_problem_in_other_units_is_the_same_problem(name, loss, size):
    """Divide every kernel by size: for loss c multiply C by size, f stays and the value grows by size; for loss nu
    f and the value shrink by size. The parameters follow by `rescale`."""
    formulation = formulations.get(name)
    instance = instance_for(name, "n = 5")
    for own in own_parameters(name):
        base = task(5, loss, True, 11, instance.count)
        base = Task(base.kernels, base.y, base.box, loss, True, own)
        scaled = formulation.in_units(base, size)
        moved = Task(base.kernels / size, base.y, scaled.box, loss, True, scaled.own)
        unit = base.value_unit(size)
        assert unit == (size if loss == "c" else 1 / size)
        assert scaled.box == pytest.approx(base.box * (size if loss == "c" else 1))
        alpha = base.feasible(base.box / 2)
        there = alpha * size if loss == "c" else alpha
        assert formulation.lower(moved, there).value == pytest.approx(unit * formulation.lower(base, alpha).value)
        c = np.random.default_rng(3).normal(size=(base.count, 5))
        c_there = c * size if loss == "c" else c
        assert formulation.upper(moved, c_there).value == pytest.approx(unit * formulation.upper(base, c).value)
        for factor, kernel in zip(scaled.factors, moved.kernels, strict=True):
            assert factor.columns @ factor.columns.T == pytest.approx(kernel, abs=1e-12 * abs(kernel).max())


def test_coefficients_that_weights_imply_are_evaluated_like_their_rows():
    problem, rng = task(7, "c", True, seed=3), np.random.default_rng(3)
    implied = RankOneCoefficients(rng.normal(size=problem.count), rng.normal(size=7))
    for found, expected in zip(problem.evaluate(implied), problem.evaluate(np.asarray(implied)), strict=True):
        assert found == pytest.approx(expected)


def test_the_margin_that_costs_nothing_is_one_or_rho():
    outputs = np.array([1.0, 2.0, -1.0, -3.0])
    assert Task(np.eye(4)[None], np.array([1.0, 1, -1, -1]), np.ones(4)).risk(outputs).level == 1
    risk = Task(np.eye(4)[None], np.array([1.0, 1, -1, -1]), np.full(4, 0.4), "nu").risk(outputs)
    assert risk.level == risk.rho != 1


@pytest.mark.parametrize(
    ("loss", "bias", "rows", "totals"),
    [
        ("c", True, [[1, -1, 1]], [0]),
        ("c", False, np.empty((0, 3)), []),
        ("nu", True, [[1, -1, 1], [1, 1, 1]], [0, 1]),
        ("nu", False, [[1, 1, 1]], [1]),
    ],
)
def test_the_equalities_are_those_of_bias_and_margin(loss, bias, rows, totals):
    found = Task(np.eye(3)[None], np.array([1.0, -1, 1]), np.ones(3), loss, bias).equalities()
    assert (found[0].tolist(), found[1].tolist()) == (np.asarray(rows).tolist(), totals)


def test_a_share_at_its_limit_is_solved_with_prices_on_the_grid():
    """ν = 1 leaves α = 1/n and no room: every price is the next multiple of 2⁻⁵²."""
    for n in (6, 12):
        for price in NU.prices(1.0, np.ones(n), np.repeat([1.0, -1.0], n // 2), True):
            assert price * 2**52 == 2**52 // n + 1
    y = np.array([1.0, 1, 1, -1, -1, -1])
    assert NU.prices(0.9, np.ones(6), y, True).tolist() == [1.0 / (0.9 * 6)] * 6
