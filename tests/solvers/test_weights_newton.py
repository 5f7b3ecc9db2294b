"""Newton's method for the weights: the optima of the interior point, idle kernels, and failures that fall back."""

from dataclasses import replace

import numpy as np
import pytest

from covering import covering
from mklcvx import Instance, formulations, solve, solve_path, zoo
from mklcvx.problem.stack import KernelStack
from mklcvx.solvers.driver import Problem, drive
from mklcvx.solvers.interior import weights_newton
from mklcvx.solvers.interior.qp import BoxQP, interior_point
from mklcvx.solvers.interior.reduced_hessian import reduced_hessian_of
from mklcvx.solvers.interior.samples_side import samples_side
from mklcvx.solvers.interior.settings import SETTINGS
from mklcvx.solvers.interior.single_task import InteriorSingle
from mklcvx.solvers.interior.state import IPMState
from mklcvx.solvers.interior.weights_newton import NewtonFirst, NewtonState, _by_interior_point, _with_held
from mklcvx.solvers.interior.weights_side import Shared, WithinGroups, side_of

N, M = 260, 6


def views(n=N, count=M, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    kernels = []
    for m in range(count):
        view = rng.normal(size=(n, 3)) + 1.2 * y[:, None] / (1 + m)
        squares = np.sum(view**2, axis=1)
        kernel = np.exp(-0.2 * (squares[:, None] + squares - 2 * view @ view.T))
        kernels.append((kernel + kernel.T) / 2)
    return np.stack(kernels), y


KERNELS, Y = views()
RESPONSE = KERNELS[0] @ np.random.default_rng(1).normal(size=N) + 0.3 * np.random.default_rng(2).normal(size=N)
# The start from which steps went astray: tests of them must not hang on constants that may change.
EARLIER_START = replace(SETTINGS, first_samples=100, first_share=5, first_gap=0.03)
MANY = Instance(*views(n=220, count=16, seed=3))
LABELS, REAL = Instance(KERNELS, Y, groups=[0, 0, 1, 1, 1, 2]), Instance(KERNELS, response=RESPONSE)


def run(name, instance, algorithm=NewtonFirst, **given):
    formulation = formulations.get(name)
    task, _ = formulation.task(instance, given)
    return drive(algorithm(), formulation, task, 1e-9)


@pytest.mark.parametrize("price", [1.0, 100.0])
@pytest.mark.parametrize(
    "name", ["svm", "sum", "l1", "sm1", "sm2", "smp", "square", "l2", "lp", "elastic", "group_lasso", "vskl"]
)
def test_both_methods_find_the_same_optimum(name, price):
    instance = LABELS.select([0]) if name == "svm" else LABELS
    given = {"C": price, **({"theta": 0.4} if name in ("sm1", "sm2", "smp") else {})}
    fast, quick = run(name, instance, **given)
    slow, steps = run(name, instance, InteriorSingle, **given)
    assert isinstance(steps.last, IPMState)
    assert quick.svm_solves >= 1
    for found in (fast, slow):
        assert found.certificate.proves(1e-9)
    assert fast.certificate.lower <= slow.certificate.upper
    assert slow.certificate.lower <= fast.certificate.upper


@pytest.mark.parametrize("given", [{"nu": 0.3}, {"nu": 0.3, "bias": False}, {"C": 3.0, "sample_weight": True}])
def test_other_machines_of_libsvm(given):
    given = dict(given)
    weight = np.linspace(0.5, 2.0, N) if given.pop("sample_weight", False) else None
    found, steps = run("l1", Instance(KERNELS, Y, sample_weight=weight), **given)
    assert found.certificate.proves(1e-9)
    assert isinstance(steps.last, NewtonState)


def test_shares_between_groups_are_unknowns_where_they_have_a_part():
    """The optimum does not notice where they cease to be."""
    formulation, bounds = formulations.get("vskl"), []
    for s, side in ((2.0, WithinGroups), (2.0 + 1e-9, Shared)):
        assert type(side_of(formulation.task(LABELS, {"C": 1.0, "s": s})[0], formulation)) is side
        found, _ = run("vskl", LABELS, C=1.0, s=s)
        assert found.certificate.proves(1e-9)
        bounds.append(found.certificate.upper)
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-7)


@pytest.mark.parametrize(("price", "count", "entry"), covering([1.0, 100.0], [2, 120], [0.0, 1.0]))
def test_groups_of_kernels_that_alpha_does_not_see(entry, count, price):
    """Nothing says how they share what they have: no step goes astray there."""
    kernels = np.concatenate([KERNELS[:2], np.full((count, N, N), entry)])
    found, steps = run("vskl", Instance(kernels, Y, groups=[0, 0] + count * [1]), C=price)
    assert found.certificate.proves(1e-9)
    assert isinstance(steps.last, NewtonState)
    np.testing.assert_allclose(steps.last.point.x[2:].sum(), 1.0, rtol=1e-12)


def test_alpha_far_below_a_large_price_is_free():
    """Whatever the price is: it is beside the others that an α counts as small."""
    alpha, gradient = np.array([0.5, 0.01, 0.0, 0.0]), np.array([1e-3, 1e-3, 1e-3, -1e-3])
    for price in (1.0, 1e3, 1e6):
        task, _ = formulations.get("l1").task(Instance(np.eye(4)[None], [1, -1, 1, -1]), {"C": price})
        free, bounds = samples_side(task).active(alpha, gradient, 1.0, rough=True)
        np.testing.assert_array_equal(free, [True, True, False, True])
        np.testing.assert_array_equal(bounds, alpha)


@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive", "logistic"])
def test_losses_that_are_no_margins_go_to_the_interior_point(loss):
    instance = LABELS if loss == "logistic" else REAL
    _, steps = run("l1", instance, loss=loss, C=1.0)
    assert isinstance(steps.last, IPMState)
    assert steps.svm_solves == 0


def test_kernels_that_seem_idle_come_back(monkeypatch):
    """Even if every kernel at zero is taken for idle, the end is judged on all of them."""
    eager = replace(SETTINGS, idle_multiplier=1e-300, check_gap=1e-300)
    monkeypatch.setattr(weights_newton, "SETTINGS", eager)
    visited = []
    products = KernelStack.matvecs_of
    monkeypatch.setattr(
        KernelStack, "matvecs_of", lambda self, some, v: visited.append(some.sum()) or products(self, some, v)
    )
    found, _ = run("l1", LABELS, C=1.0)
    assert found.certificate.proves(1e-9)
    assert min(visited) < M
    assert visited[-1] == M


def test_a_small_gap_counts_once_all_kernels_have_been_visited():
    problem = Problem(formulations.get("l1"), formulations.get("l1").task(LABELS, {"C": 1.0})[0], 1e-9)
    state = NewtonFirst().start(problem)
    early = replace(state, gap=0.0, complete=False, visited=np.arange(M) < 2)
    assert not NewtonFirst().points(problem, early).duals
    after = weights_newton.newton_step(problem, early)
    assert after.complete
    assert after.gap == state.gap


@pytest.mark.parametrize("where", ["start", "step"])
def test_failures_are_left_to_the_interior_point(where, monkeypatch):
    if where == "start":
        monkeypatch.setattr(weights_newton, "libsvm", lambda *_: None)
    else:
        monkeypatch.setattr(weights_newton, "newton_step", lambda *_: None)
    found, steps = run("l1", LABELS, C=1.0)
    assert found.certificate.proves(1e-9)
    assert isinstance(steps.last, IPMState)


def test_numbers_out_of_range_in_some_of_the_samples_end_nothing(monkeypatch):
    step = InteriorSingle.step

    def failing(self, problem, state):
        if problem.task.samples < N:
            raise FloatingPointError("a matrix of Newton's equations")
        return step(self, problem, state)

    monkeypatch.setattr(InteriorSingle, "step", failing)
    found, _ = run("l1", LABELS, C=1.0)
    assert found.certificate.proves(1e-9)


def test_without_progress_the_method_ends():
    problem = Problem(formulations.get("l1"), formulations.get("l1").task(LABELS, {"C": 1.0})[0], 1e-9)
    state = NewtonFirst().start(problem)
    stuck = replace(state, best=0.0, waited=SETTINGS.newton_patience)
    assert weights_newton.newton_step(problem, stuck) is None
    assert weights_newton.newton_step(problem, replace(stuck, waited=0)).waited == 1


def test_the_model_of_the_weights_is_solved_by_both_methods_alike():
    """min ½v'Gv − r'v over dx in its bounds with Σ dx = 0, dν free."""
    rng = np.random.default_rng(5)
    factor = rng.normal(size=(6, 9))
    matrix, right = factor @ factor.T, rng.normal(size=6)
    x = np.full(5, 0.2)
    low, high, ones = -x, np.full(5, 0.3), np.ones((1, 5))
    at_low, at_high = _by_interior_point(matrix, right, ones, np.zeros(1), low, high)
    held = at_low | at_high
    change, multiplier = _with_held(matrix, right, ones, np.zeros(1), np.where(at_low, low, high), held)
    assert change.sum() == pytest.approx(0, abs=1e-12)
    assert ((change >= low - 1e-12) & (change <= high + 1e-12)).all()
    assert ((multiplier[at_low] >= -1e-9) & (multiplier[at_high] <= 1e-9)).all()
    assert multiplier[~held] == pytest.approx(0, abs=1e-9)
    schur = matrix[:5, :5] - np.outer(matrix[:5, 5], matrix[5, :5]) / matrix[5, 5]
    linear = right[:5] - matrix[:5, 5] * right[5] / matrix[5, 5]
    program = BoxQP(schur, linear - schur @ low, high - low, ones, np.array([-low.sum()]))
    assert change - low == pytest.approx(interior_point(program, 1e-13), abs=1e-6)


class Last:
    """What `extrapolated` reads of the last state of a path."""

    def __init__(self, before, x, price):
        self.before, self.point = before, type("Point", (), {"x": np.array(x)})
        self.side = type("Side", (), {"samples": type("Samples", (), {"price": np.full(3, price)})})


def test_the_weights_follow_the_line_of_the_last_two_points():
    """Over the logarithm of C: from 1 to 10 the first weight grew by 0.2, so that at 100 it has grown by a share of it
    more, and the second, which would be negative, is zero."""
    side = weights_newton.side_of(*_l1(C=1.0))
    before = (np.full(3, 1.0), np.array([0.3, 0.65, 0.05, 0, 0, 0]))
    last = Last(before, [0.5, 0.5, 0.0, 0, 0, 0], 10.0)
    found = weights_newton.extrapolated(side, last, np.full(3, 100.0))
    share = SETTINGS.path_share
    assert found == pytest.approx([0.5 + 0.2 * share, 0.5 - 0.15 * share, 0, 0, 0, 0])
    assert np.array_equal(weights_newton.extrapolated(side, last, np.full(3, 1.0)), last.point.x)  # the way back
    assert np.array_equal(weights_newton.extrapolated(side, Last(None, [1.0], 10.0), np.full(3, 100.0)), [1.0])


def _l1(**given):
    formulation = formulations.get("l1")
    return formulation.task(LABELS, given)[0], formulation


def test_a_path_of_given_weights_proves_delta_once_and_keeps_its_machine(monkeypatch):
    from mklcvx.certificate import ridge

    proved, plain = [], ridge._combined_ridges
    monkeypatch.setattr(ridge, "_combined_ridges", lambda *given: proved.append(1) or plain(*given))
    found = solve_path(LABELS, "average", {"C": [1.0, 1.2, 1.5, 2.0]}, tol=1e-8)
    assert found.certified
    assert len(proved) == 1
    for price, solution in zip((1.0, 2.0), found.solutions[::3], strict=True):
        cold = solve(LABELS, "average", C=price, tol=1e-8).certificate
        assert solution.certificate.lower <= cold.upper
        assert cold.lower <= solution.certificate.upper


def test_along_a_path_the_fast_way_in_serves_fewer_samples():
    part = LABELS.of_samples(np.arange(80))
    found = solve_path(part, "l1", {"C": [1.0, 1.4, 2.0]}, tol=1e-8)
    assert found.certified
    assert [solution.svm_solves > 0 for solution in found.solutions] == [False, True, True]


def test_a_start_that_leads_nowhere_is_followed_by_one_from_nothing(monkeypatch):
    from mklcvx.solvers import solving

    starts, plain = [], solving.drive

    def hindered(algorithm, formulation, task, tolerance, *, warm=None, **given):
        starts.append(warm is not None)
        limit = {"max_iter": 1} if warm is not None else {}
        return plain(algorithm, formulation, task, tolerance, **{**given, **limit})

    monkeypatch.setattr(solving, "drive", hindered)
    found = solve_path(LABELS, "l1", {"C": [1.0, 2.0]}, tol=1e-8)
    assert starts == [False, True, False]
    assert found.certified
    assert found.solutions[1].solver == "interior"


@pytest.mark.parametrize("price", [0.1, 1.0, 10.0])
def test_kernels_with_a_weight_are_visited(price, monkeypatch):
    """Newton's model may give a weight to a kernel that seemed idle: its product with α is known before it counts."""
    unseen = []
    measured = weights_newton.measured

    def looked_at(problem, state):
        weights = state.side.weights(state.point.x)
        unseen.extend(np.flatnonzero((weights > 0) & ~state.point.images.any(axis=1)))
        return measured(problem, state)

    monkeypatch.setattr(weights_newton, "measured", looked_at)
    monkeypatch.setattr(weights_newton, "SETTINGS", EARLIER_START)
    found, steps = run("sm1", MANY, C=price, theta=0.2)
    assert found.certificate.proves(1e-9)
    assert isinstance(steps.last, NewtonState)
    assert not unseen
    assert steps.svm_solves <= 6


@pytest.mark.parametrize(("name", "own"), [("group_lasso", {"lam": 2.0}), ("square", {"theta": 3.0})])
def test_without_a_constraint_weights_get_their_best_size_at_once(name, own):
    """f stays what it is, and no other multiple of the weights has a smaller ½ Σ a²/μ + R(μ)."""
    formulation = formulations.get(name)
    problem = Problem(formulation, formulation.task(LABELS, {"C": 100.0, **own})[0], 1e-9)
    side, signs = side_of(problem.task, formulation), problem.task.signs
    small = weights_newton.fitted(problem, side, reduced_hessian_of(problem.task), np.full(M, 1e-3), 1e-6).point
    large = weights_newton.scaled(side, small)
    np.testing.assert_allclose(large.x @ large.images, small.x @ small.images, rtol=1e-12)
    np.testing.assert_allclose(large.images, problem.task.matvecs(large.alpha * signs), rtol=1e-9, atol=1e-12)
    squares = small.x**2 * (small.images @ (small.alpha * signs))

    def cost(size):
        mu = size * small.x
        return float(np.sum(squares / mu) / 2 + formulation.regulariser.value(mu, **problem.task.own).sum())

    best = float(large.x[0] / small.x[0])
    assert best > 2
    assert cost(best) < min(cost(0.999 * best), cost(1.001 * best))


def test_where_nothing_sets_their_size_weights_do_not_run_away(monkeypatch):
    """At a price so small that f = 0 is nearly optimal no sample is free, and the model has no curvature at all."""
    sizes, fit = [], weights_newton.libsvm

    def looked_at(task, samples, kernel, *given):
        sizes.append(float(np.trace(kernel)) / task.samples)
        return fit(task, samples, kernel, *given)

    monkeypatch.setattr(weights_newton, "libsvm", looked_at)
    monkeypatch.setattr(weights_newton, "SETTINGS", EARLIER_START)
    found, _ = run("group_lasso", zoo.real("digits", samples=300, count=20), C=0.01)
    assert found.certificate.proves(1e-9)
    assert max(sizes) < 100


def test_sums_of_alpha_that_are_given_are_not_scaled():
    formulation = formulations.get("square")
    task = formulation.task(LABELS, {"nu": 0.3, "theta": 1.0})[0]
    problem, side = Problem(formulation, task, 1e-9), side_of(task, formulation)
    point = weights_newton.fitted(problem, side, reduced_hessian_of(task), np.full(M, 1e-3), 1e-6).point
    assert weights_newton.scaled(side, point) is point
