"""Many labels with one kernel combination: two declarations, one optimum, one certificate."""

import numpy as np
import pytest

from checks import check_meets, unscaled_values
from hypergraphs import INSTANCES
from labelled import digits, synthetic
from mklcvx import InputError, Instance, formulations, solve
from mklcvx.formulations._formulation import small_instance
from mklcvx.formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask
from mklcvx.solvers.conic import CLARABEL, Run, solve_declared, solve_program

pytestmark = pytest.mark.slow

NAMES = ("ml_sum", "ml_minimax")
AGREE = 1e-7


def check_solution(instance: Instance, solution) -> None:
    assert solution.certified, solution.message
    task, _ = formulations.get(solution.formulation).task(instance, {"C": solution.parameters["C"]})
    assert solution.weights.sum() == pytest.approx(1)
    assert ((solution.alpha >= 0) & (solution.alpha <= task.box)).all()
    outputs = solution.decision_function(instance.kernels)
    expected = [sum(p * k @ (a * y) for p, k in zip(solution.weights, instance.kernels, strict=True))
                for a, y in zip(solution.alpha, task.signs, strict=True)]  # fmt: skip
    if solution.coefficients is None:
        assert outputs == pytest.approx(np.stack(expected, axis=1), abs=1e-9)
    losses = task.risks(outputs.T)
    assert (losses <= solution.multipliers["class_values"] + 1e-6).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", INSTANCES)
def test_both_programs_lie_within_the_certificate(name, kind):
    instance = INSTANCES[kind]()
    solution = solve(instance, name, solver="clarabel", C=1.5)
    check_solution(instance, solution)
    slack = AGREE * (solution.certificate.size + solution.certificate.scale)
    formulation = formulations.get(name)
    # With tolerances below its own, Clarabel goes on until rounding spoils the last step of some duals.
    by = [{"solver": "CLARABEL"}] * 2
    for value in unscaled_values(formulation, formulation.task(instance, {"C": 1.5})[0], by):
        assert solution.certificate.lower - slack <= value <= solution.certificate.upper + slack
    check_meets(solution, solve(instance, name, solver="interior", C=1.5))


def test_the_scale_is_what_both_penalties_amount_to_at_the_optimum():
    formulation = formulations.get("ml_sum")
    task, _ = formulation.task(digits(40), {"C": 1.5})
    point, _ = solve_declared(formulation, task, 1e-9)
    penalty = point.upper.value - float(point.upper.risks.sum())
    assert formulation.scale(point.lower, point.upper) == pytest.approx(penalty + point.lower.cost, rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_example_has_several_labels(name):
    assert small_instance(formulations.get(name)).targets.kind == "labels"


def small_task(seed: int = 0, k: int = 2) -> LabelTask:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(3, 5, 4))
    signs = np.where(rng.normal(size=(k, 5)) > 0, 1.0, -1.0)
    return LabelTask(factors @ factors.transpose(0, 2, 1), signs, rng.uniform(0.5, 1.5, 5), rng.uniform(0.5, 2, k))


def test_values_follow_their_definitions():
    task, rng = small_task(), np.random.default_rng(1)
    beta, c = rng.uniform(size=(2, 5)), rng.normal(size=(2, 3, 5))
    q = [[(b * y) @ k @ (b * y) for k in task.kernels] for b, y in zip(beta, task.signs, strict=True)]
    assert task.q(beta) == pytest.approx(np.array(q))
    outputs, squares = task.evaluate(c)
    assert outputs == pytest.approx(np.array([sum(task.kernels[a] @ c[k, a] for a in range(3)) for k in range(2)]))
    expected = [[c[k, a] @ K @ c[k, a] for a, K in enumerate(task.kernels)] for k in range(2)]
    assert squares == pytest.approx(np.array(expected))
    risks = [np.sum(task.box * np.maximum(0, 1 - task.signs[k] * outputs[k])) for k in range(2)]
    assert task.risks(outputs) == pytest.approx(risks)

    total, worst = formulations.get("ml_sum"), formulations.get("ml_minimax")
    shares = task.importance
    feasible = np.minimum(beta, task.box)
    q_feasible = task.q(feasible)
    gain, cost = shares @ feasible.sum(axis=1), np.max(shares @ q_feasible) / 2
    lower = total.lower(task, ClassDual(beta, np.ones(2)))
    assert lower.value == pytest.approx(gain - cost)
    assert lower.largest_term == pytest.approx(max(gain, cost))
    penalty, risk = np.sum(np.sqrt(shares @ squares)) ** 2 / 2, shares @ risks
    upper = total.upper(task, ClassPrimal(c, np.ones(3)))
    assert upper.value == pytest.approx(penalty + risk)
    assert upper.largest_term == pytest.approx(max(penalty, risk))
    assert upper.point.weights == pytest.approx(np.sqrt(shares @ squares) / np.sqrt(shares @ squares).sum())

    gamma = np.array([0.3, 0.7])
    inside = np.minimum(beta, np.outer(gamma, task.box))
    lower = worst.lower(task, ClassDual(beta, 2 * gamma))
    expected_cost = np.max(np.sum(task.q(inside) / gamma[:, None], axis=0)) / 2
    assert lower.value == pytest.approx(inside.sum() - expected_cost)
    assert lower.largest_term == pytest.approx(max(inside.sum(), expected_cost))
    p = np.array([0.2, 0.3, 0.5])
    upper = worst.upper(task, ClassPrimal(c, 2 * p))
    penalties = squares @ (1 / p) / 2
    assert upper.value == pytest.approx(np.max(penalties + risks))
    assert upper.largest_term == pytest.approx(max(penalties.max(), max(risks)))
    assert worst.primal_value(task, np.zeros((2, 3)), np.array([1.0, 3.0]), p) == (3.0, 3.0)


def test_a_class_without_weight_and_a_kernel_without_use_cost_nothing():
    task, worst = small_task(), formulations.get("ml_minimax")
    beta = np.vstack([np.full(5, 0.1), np.zeros(5)])
    lower = worst.lower(task, ClassDual(beta, np.array([1.0, 0.0])))
    assert lower.value == pytest.approx(0.5 - np.max(task.q(beta)[0]) / 2)
    c = np.zeros((2, 3, 5))
    c[:, 0] = 0.1
    assert np.isfinite(worst.upper(task, ClassPrimal(c, np.array([1.0, 0.0, 0.0]))).value)
    assert worst.upper(task, ClassPrimal(c, np.array([0.0, 1.0, 0.0]))).value == np.inf
    assert formulations.get("ml_sum").upper(task, ClassPrimal(c, np.ones(3))).point.weights.tolist() == [1, 0, 0]
    zero = formulations.get("ml_sum").upper(task, ClassPrimal(0 * c, np.ones(3)))
    assert zero.point.weights == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize("name", NAMES)
def test_declarations_respect_importance_and_boxes(name):
    """With weights for classes (ml_sum) and samples, both programs still meet."""
    one, other = unscaled_values(formulations.get(name), small_task(3))
    assert one == pytest.approx(other, rel=1e-7)


def test_there_is_no_bias():
    with pytest.raises(InputError, match="ml_sum has no bias: leave bias out, or give bias=false"):
        solve(synthetic(12, 2), "ml_sum", solver="clarabel", bias=True)
    solution = solve(synthetic(12, 2), "ml_sum", solver="clarabel", C=1.0)
    assert solve(synthetic(12, 2), "ml_sum", solver="clarabel", **solution.parameters).objective == solution.objective


@pytest.mark.parametrize("name", NAMES)
def test_kernels_that_see_nothing_leave_the_zero_function(name):
    solution = solve(Instance(np.zeros((2, 6, 6)), labels=np.eye(2)[[0, 1, 0, 1, 0, 1]]), name, solver="clarabel")
    assert solution.objective == pytest.approx(6 if name == "ml_minimax" else 12)
    assert solution.weights == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("name", NAMES)
def test_sample_weights_scale_the_box_and_duals_are_read_in_their_units(name):
    base = synthetic(10, 2)
    weights = np.linspace(0.5, 2.0, 10)
    formulation = formulations.get(name)
    task, _ = formulation.task(Instance(base.kernels, labels=base.targets.values, sample_weight=weights), {"C": 3.0})
    assert task.box == pytest.approx(3 * weights)
    program = formulation.declare_dual(task)
    assert solve_program(program.problem, CLARABEL, Run())
    (dual,) = formulation.from_dual(program, task, 4.0).duals
    assert dual.beta == pytest.approx(program.beta.value.T / 4)
    assert dual.gamma.sum() == pytest.approx(1 if name == "ml_minimax" else 2)


@pytest.mark.parametrize("name", NAMES)
def test_points_at_hand_are_feasible_and_prove_what_the_zero_function_costs(name):
    """β = 0 proves 0; f = 0 pays the whole box in every class. γ is 1 in the sum, on the simplex in the worst case."""
    formulation, task = formulations.get(name), small_task(k=3)
    (dual,), (primal,) = formulation.trivial_points(task)
    assert dual.gamma == pytest.approx(np.full(3, 1 / 3) if name == "ml_minimax" else np.ones(3))
    assert (primal.weights >= 0).all()
    assert primal.weights.sum() == pytest.approx(1)
    assert formulation.lower(task, dual).value == 0
    shares = 1.0 if name == "ml_minimax" else task.importance.sum()
    assert formulation.upper(task, primal).value == pytest.approx(shares * task.box.sum())


@pytest.mark.parametrize("name", NAMES)
def test_a_primal_solved_in_other_units_leaves_points_that_prove_its_value(name):
    """Among the kernels one that sees nothing: its weight is zero, the others' are not."""
    seen, formulation = small_task(5), formulations.get(name)
    task = LabelTask(np.concatenate([seen.kernels, np.zeros((1, 5, 5))]), seen.signs, seen.box, np.ones(2))
    scaled = formulation.in_units(task, 7.0)
    program = formulation.declare_primal(scaled)
    assert solve_program(program.problem, CLARABEL, Run())
    (dual,), (primal,) = formulation.from_primal(program, scaled, 7.0)
    assert formulation.lower(task, dual).value == pytest.approx(program.problem.value / 7, rel=1e-4)
    assert formulation.upper(task, primal).value == pytest.approx(program.problem.value / 7, rel=1e-4)


def test_classes_of_different_importance_leave_multipliers_of_their_own():
    """The margins' multipliers are importance·α; a class of no importance leaves nothing to divide."""
    seen, formulation = small_task(5), formulations.get("ml_sum")
    for importance in ([0.3, 2.0], [1.0, 0.0]):
        task = LabelTask(seen.kernels, seen.signs, seen.box, np.array(importance))
        program = formulation.declare_primal(task)
        assert solve_program(program.problem, CLARABEL, Run())
        (dual,), _ = formulation.from_primal(program, task, 1.0)
        assert formulation.lower(task, dual).value == pytest.approx(program.problem.value, rel=1e-4)
