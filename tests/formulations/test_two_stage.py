"""Two stages: learn a kernel from pairs of samples, give it to an SVM."""

import numpy as np
import pytest
from scipy.optimize import minimize

from checks import check_meets, unscaled_values
from covering import covering
from mklcvx import Instance, formulations, solve
from mklcvx.formulations.alignment import AlignmentTask
from mklcvx.formulations.families.pairs import Pairs
from mklcvx.formulations.families.two_stage import PairBound, PairTask, pair_task
from mklcvx.problem.stack import KernelStack
from mklcvx.solvers.conic import CLARABEL, Run, solve_program
from mklcvx.solvers.second_stage import f1_scores, one_versus_rest

PAIRS = ("ts", "ts_l1")
TARGETS = {
    "y": {"y": [1] * 7 + [-1] * 7},
    "classes": {"classes": [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]},
    "labels": {"labels": np.random.default_rng(0).integers(0, 2, size=(14, 3))},
}


def instance(kind: str = "y", centred: bool = True, n: int = 14) -> Instance:
    """Kernels of which the first follows the targets."""
    rng = np.random.default_rng(1)
    targets = TARGETS[kind]
    probe = Instance(np.eye(n)[None], **targets).targets.indicators()
    views = [probe + 0.3 * rng.normal(size=probe.shape), rng.normal(size=(n, 2)), rng.normal(size=(n, 1))]
    kernels = np.stack([v @ v.T + 0.1 * np.eye(n) for v in views])
    if centred:
        middle = np.eye(n) - 1 / n
        kernels = np.stack([middle @ k @ middle for k in kernels])
        kernels = np.stack([(k + k.T) / 2 / (np.trace(k) / n) for k in kernels])
    return Instance(kernels, **targets)


def task_with(examples: np.ndarray, labels: np.ndarray, weight: np.ndarray, lam: float) -> PairTask:
    """A task whose kernels have these K-examples, n(n+1)/2 of them."""
    n = round(np.sqrt(2 * len(examples) + 0.25) - 0.5)
    kernels, upper = np.zeros((examples.shape[1], n, n)), np.triu_indices(n)
    for kernel, column in zip(kernels, examples.T, strict=True):
        kernel[upper] = kernel.T[upper] = column
    return PairTask(Pairs(KernelStack(kernels)), labels, weight, lam)


# --------------------------------------------------------------------------------------------- K-examples
def test_examples_are_the_pairs_of_the_upper_triangle():
    kernels = np.stack([np.arange(9.0).reshape(3, 3), np.ones((3, 3))])
    together = np.array([[1.0, -1, 1], [-1, 1, -1], [1, -1, 1]])
    task = pair_task(KernelStack((kernels + kernels.transpose(0, 2, 1)) / 2), together, balanced=False, lam=1.0)
    z, t, w = task.examples, task.labels, task.weight
    assert z[:, 0].tolist() == [0, 2, 4, 4, 6, 8]
    assert z[:, 1].tolist() == [1] * 6
    assert t.tolist() == [1, -1, 1, 1, -1, 1]
    assert w == pytest.approx(np.full(6, 1 / 6))
    raw = KernelStack(kernels, symmetric=False)
    lower = pair_task(raw, together, balanced=True, lam=1.0).examples
    assert lower[:, 0].tolist() == [0, 3, 6, 4, 7, 8]
    w = pair_task(KernelStack(kernels), together, balanced=True, lam=1.0).weight
    assert w == pytest.approx([1 / 8, 1 / 4, 1 / 8, 1 / 8, 1 / 4, 1 / 8])


def test_a_single_pair_of_two_classes_has_half_of_the_weight():
    together = np.array([[1.0, -1], [-1, 1]])
    w = pair_task(KernelStack(np.eye(2)[None]), together, balanced=True, lam=1.0).weight
    assert w == pytest.approx([1 / 4, 1 / 2, 1 / 4])


# ------------------------------------------------------------------------------------------- ts and ts_l1
@pytest.mark.parametrize(("name", "kind", "balanced"), covering(PAIRS, TARGETS, [False, True]))
def test_both_programs_lie_within_the_certificate(name, kind, balanced):
    problem = instance(kind)
    solution = solve(problem, name, solver="clarabel", lam=0.05, balanced=balanced)
    assert solution.certified, solution.message
    task, _ = formulations.get(name).task(problem, {"lam": 0.05, "balanced": balanced})
    for value in unscaled_values(formulations.get(name), task):
        assert solution.certificate.lower - 1e-8 <= value <= solution.certificate.upper + 1e-8
    check_meets(solution, solve(problem, name, solver="interior", lam=0.05, balanced=balanced))
    assert solution.weights[0] > 0
    assert (solution.weights >= 0).all()
    assert solution.multipliers["second_stage_gap"] < 1e-8


def test_values_follow_their_definitions():
    z = np.array([[1.0, 2.0], [-1.0, 0.5], [0.5, -2.0]])
    task = task_with(z, np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.3, 0.2]), 0.4)
    mu, beta = np.array([0.2, 0.1]), np.array([0.3, 0.6, 0.1])
    hinge = 0.5 * (1 - 0.4) + 0.3 * (1 - 0.15) + 0.2 * (1 + 0.1)
    inside = np.array([0.3, 0.3, 0.1])
    pull = np.array([0.3 + 0.3 + 0.05, 0.6 - 0.15 - 0.2])
    assert task.hinge(mu) == pytest.approx(hinge)
    assert task.pull(inside) == pytest.approx(pull)
    ts, sparse = formulations.get("ts"), formulations.get("ts_l1")
    assert ts.upper(task, mu).value == pytest.approx(0.2 * 0.05 + hinge)
    assert ts.upper(task, mu).largest_term == pytest.approx(hinge)
    assert ts.lower(task, beta).value == pytest.approx(0.7 - pull @ pull / 0.8)
    assert ts.lower(task, beta).largest_term == pytest.approx(0.7)
    assert ts.lower(task, -beta).value == 0
    negative = task_with(-z, task.labels, task.weight, 0.4)
    assert ts.lower(negative, beta).value == pytest.approx(0.7)  # pulled below zero: no weight, no cost
    assert sparse.upper(task, mu).value == pytest.approx(0.4 * 0.3 + hinge)
    assert sparse.lower(task, beta).value == pytest.approx(0.7 * 0.4 / 0.65)
    assert sparse.lower(task, 0.1 * beta).value == pytest.approx(0.1)
    assert sparse.upper(task, np.array([5.0, -1.0])).largest_term == pytest.approx(2.0)
    assert ts.upper(task, np.array([10.0, -1.0])).largest_term == pytest.approx(20.0)


def test_where_no_weight_would_be_negative_it_is_a_linear_svm_in_k_space():
    from sklearn.svm import LinearSVC

    problem = instance("y").select([0])
    task, _ = formulations.get("ts").task(problem, {"lam": 0.05})
    pairs = len(task.labels)
    machine = LinearSVC(loss="hinge", C=1 / (0.05 * pairs), fit_intercept=False, tol=1e-9, max_iter=10**6)
    machine.fit(task.examples, task.labels)
    assert machine.coef_[0] > 0
    assert solve(problem, "ts", solver="clarabel", lam=0.05).weights == pytest.approx(machine.coef_[0], abs=1e-5)


def test_much_price_leaves_no_weight_and_says_so():
    """ts_l1 with λ above every pull: μ = 0, value 1, and an SVM without a kernel."""
    solution = solve(instance(), "ts_l1", solver="clarabel", lam=10.0)
    assert solution.objective == pytest.approx(1)
    assert solution.weights == pytest.approx(np.zeros(3), abs=1e-9)


def test_the_dual_recovers_the_weights():
    for name in PAIRS:
        formulation = formulations.get(name)
        task, _ = formulation.task(instance(), {"lam": 0.05})
        program = formulation.declare_dual(task)
        assert solve_program(program.problem, CLARABEL, Run())
        points = formulation.from_dual(program, task, 1.0)
        weights = solve(instance(), name, solver="clarabel", lam=0.05).weights
        assert points.primals[0] == pytest.approx(weights, abs=1e-5)


@pytest.mark.parametrize("name", PAIRS)
def test_points_at_hand_confine_the_value_to_what_no_kernel_at_all_costs(name):
    """β = 0 proves 0; without weights every pair loses 1, and the pairs' weights sum to one."""
    formulation = formulations.get(name)
    task, _ = formulation.task(instance(), {"lam": 3.0})
    (beta,), (mu,) = formulation.trivial_points(task)
    assert formulation.lower(task, beta).value == 0
    assert formulation.upper(task, mu).value == pytest.approx(1)


# ---------------------------------------------------------------------------------------------- alignment
def alignment_of(problem: Instance, weights: np.ndarray) -> float:
    target = problem.targets.together()
    kernel = sum(w * k for w, k in zip(weights, problem.kernels, strict=True))
    return float(np.vdot(kernel, target) / np.linalg.norm(kernel))


@pytest.mark.parametrize("kind", TARGETS)
def test_alignment_is_the_best_direction(kind):
    problem = instance(kind)
    solution = solve(problem, "alignment", solver="clarabel")
    assert solution.certified
    assert solution.objective == pytest.approx(alignment_of(problem, solution.weights), rel=1e-9)
    assert solution.multipliers["normalised"] == pytest.approx(solution.objective / 14)
    assert np.linalg.norm(solution.weights) == pytest.approx(1)
    start = np.full(3, 1.0)
    found = minimize(lambda v: -alignment_of(problem, v), start, bounds=[(1e-9, None)] * 3)
    assert -found.fun == pytest.approx(solution.objective, rel=1e-5)
    formulation = formulations.get("alignment")
    for value in unscaled_values(formulation, formulation.task(problem, {})[0]):
        assert -value == pytest.approx(solution.objective**2, rel=1e-7)
    check_meets(solution, solve(problem, "alignment", solver="interior"))


def test_the_approximate_variant_is_certified_to_be_worse():
    problem = instance("y", centred=False)
    best = solve(problem, "alignment", solver="clarabel")
    quick = solve(problem, "alignment", solver="clarabel", approximate=True)
    own = np.array([alignment_of(problem, unit) for unit in np.eye(3)])
    assert quick.weights == pytest.approx(np.maximum(own, 0) / np.linalg.norm(np.maximum(own, 0)))
    assert quick.objective == pytest.approx(alignment_of(problem, quick.weights))
    assert quick.objective < best.objective * (1 - 1e-4)
    assert quick.status == "not_certified"
    assert quick.certificate.upper == pytest.approx(best.objective, rel=1e-6)


def test_where_no_kernel_aligns_the_answer_is_zero_and_says_so():
    y = np.array([1, 1, -1, -1])
    problem = Instance((4 * np.eye(4) - np.outer(y, y))[None], y)  # ⟨K, yy'⟩ = 16 − 16 = 0
    task = AlignmentTask(np.eye(1), np.array([-1.0]), np.ones(1), 4)
    formulation = formulations.get("alignment")
    assert formulation.lower(task, np.zeros(1)).value == 0
    assert formulation.upper(task, np.zeros(1)).value == 0
    solution = solve(problem, "alignment", solver="clarabel")
    assert solution.objective == 0
    assert solution.notes == ("no kernel gets weight: no combination helps here",)


def test_alignment_bounds_hold_at_any_point():
    rng = np.random.default_rng(3)
    problem = instance("classes", centred=False)
    formulation = formulations.get("alignment")
    task, _ = formulation.task(problem, {})
    target = problem.targets.together()
    assert task.target == pytest.approx([np.vdot(k, target) for k in problem.kernels])
    assert task.products == pytest.approx(np.array([[np.vdot(a, b) for a in problem.kernels] for b in problem.kernels]))
    assert task.factor.T @ task.factor == pytest.approx(task.products)
    best = solve(problem, "alignment", solver="clarabel").objective
    for _ in range(20):
        v = rng.normal(size=3)
        assert formulation.lower(task, v).value <= best + 1e-9
        assert formulation.lower(task, 1e-9 * v).value == pytest.approx(formulation.lower(task, v).value)
        upper = formulation.upper(task, np.abs(v) * 0.1)
        assert upper.value >= best - 1e-9
        kernel = sum(x * k for x, k in zip(np.abs(v) * 0.1, problem.kernels, strict=True))
        products = [np.vdot(kernel, k) for k in problem.kernels]
        missing = max(
            0, max((a - q) / np.trace(k) for a, q, k in zip(task.target, products, problem.kernels, strict=True))
        )
        assert upper.value == pytest.approx(np.linalg.norm(kernel + missing * np.eye(14)))


def test_alignment_does_not_depend_on_the_size_of_the_kernels():
    problem = instance("y", centred=False)
    small = Instance(problem.kernels * 1e-5, problem.y)
    one, other = solve(problem, "alignment", solver="clarabel"), solve(small, "alignment", solver="clarabel")
    assert other.objective == pytest.approx(one.objective, rel=1e-8)
    assert other.weights == pytest.approx(one.weights, abs=1e-6)
    quick, slow = (
        solve(small, "alignment", solver="clarabel", approximate=True),
        solve(problem, "alignment", solver="clarabel", approximate=True),
    )
    assert quick.weights == pytest.approx(slow.weights)
    task, _ = formulations.get("alignment").task(small, {})
    assert task.factor.T @ task.factor == pytest.approx(task.products, rel=1e-9)
    bound = formulations.get("alignment").upper(task, np.zeros(3)).value
    missing = max(task.target / task.traces)
    assert bound == pytest.approx(missing * np.sqrt(14))


def test_a_kernel_of_zeros_aligns_with_nothing_and_does_no_harm():
    problem = instance("y")
    padded = Instance(np.concatenate([problem.kernels, np.zeros((1, 14, 14))]), problem.y)
    solution = solve(padded, "alignment", solver="clarabel")
    assert solution.objective == pytest.approx(solve(problem, "alignment", solver="clarabel").objective, rel=1e-8)
    assert solve(padded, "alignment", solver="clarabel", approximate=True).weights[3] == 0
    formulation = formulations.get("alignment")
    task, _ = formulation.task(padded, {})
    assert np.isfinite(formulation.upper(task, np.zeros(4)).value)


def test_centred_alignment_comes_from_centring_first():
    from mklcvx.problem.preprocessing import Preprocessing
    from mklcvx.solvers.solving import preprocessed

    raw = instance("y", centred=False)
    centred = preprocessed(raw, Preprocessing.from_options(centre=True))
    assert solve(centred, "alignment", solver="clarabel").objective != pytest.approx(
        solve(raw, "alignment", solver="clarabel").objective, rel=1e-3
    )
    assert np.abs(centred.kernels.sum(axis=1)).max() < 1e-9


# ------------------------------------------------------------------------------------------- second stage


def test_every_class_gets_a_machine():
    problem = instance("classes")
    fields, proved, failed = one_versus_rest(problem, np.ones(3), 1.0)
    assert proved["second_stage_gap"] < 1e-8
    assert proved["second_stage_stretch"].shape == proved["second_stage_ridge"].shape == (3,)
    assert not failed
    assert fields["alpha"].shape == fields["y"].shape == (3, 14)
    assert fields["bias"].shape == (3,)
    for k in range(3):
        single = Instance(problem.kernels.sum(axis=0)[None], fields["y"][k])
        assert solve(single, "svm", solver="clarabel", C=1.0).bias == pytest.approx(fields["bias"][k], abs=1e-6)
    accuracy = np.mean(solve(problem, "ts", solver="clarabel").predict(problem.kernels) == problem.targets.values)
    assert accuracy > 0.8


def test_f1_scores():
    truth = np.array([[1, 0], [1, 1], [0, 1]])
    predicted = np.array([[1, 0], [0, 1], [0, 0]])
    assert f1_scores(truth, predicted) == pytest.approx((2 / 3, 2 / 3))
    assert f1_scores(truth, 0 * truth) == (0.0, 0.0)
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 2, (2, 30, 4))
    expected = [f1_score(truth, predicted, average=kind) for kind in ("macro", "micro")]
    assert f1_scores(truth, predicted) == pytest.approx(expected)
    one = f1_score(truth[:, 0], predicted[:, 0])
    assert f1_scores(truth[:, :1], predicted[:, :1]) == pytest.approx((one, one))


def test_the_alignment_is_the_root_of_what_its_quadratic_program_is_worth():
    assert formulations.get("alignment").stated(-4.0) == 2
    assert formulations.get("alignment").stated(1e-12) == 0


@pytest.mark.parametrize("name", PAIRS)
def test_the_scale_is_what_weights_and_pull_cost(name):
    lower, upper = PairBound(1.0, np.zeros(1), 9.0, 2.0), PairBound(4.0, np.zeros(1), 9.0, 3.0)
    assert formulations.get(name).scale(lower, upper) == 5
