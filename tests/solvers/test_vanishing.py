"""Block-∞ norms where α does not see a kernel: its weight is undefined, and the optimum is found all the same."""

import numpy as np
import pytest

from mklcvx import Instance, LowRank, solve
from mklcvx.formulations import get
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.interior.elimination import ReducedGroups, eliminate_groups
from mklcvx.solvers.interior.settings import SETTINGS
from mklcvx.solvers.interior.single_task import InteriorSingle, elimination_step
from mklcvx.zoo.grid import quantised

RNG = np.random.default_rng(5)
POINTS = np.round(RNG.uniform(-1, 1, (36, 2)) * 2**10) / 2**10  # products are exact: no kernel is indefinite
HEIGHTS = POINTS[:, 1] - 0.9 * POINTS[:, 0] ** 2 + 0.5 * POINTS[:, 0] + 0.1
Y = np.where(HEIGHTS + 0.18 * RNG.normal(size=36) > 0, 1.0, -1.0)
DISTANCES = ((POINTS[:, None] - POINTS[None]) ** 2).sum(-1)
KERNELS = np.stack([POINTS @ POINTS.T, *quantised(np.exp(np.multiply.outer([-0.4, -6], DISTANCES)))])
INSTANCE = Instance(KERNELS, Y, groups=[0, 1, 1])


@pytest.mark.parametrize("name", ["li", "ckl"])
@pytest.mark.parametrize("given", [{"C": 10.0}, {"C": 1e3}, {"C": 10.0, "bias": False}], ids=str)
def test_the_optimum_is_that_of_the_declarations(name, given):
    found, declared = (solve(INSTANCE, name, solver=solver, **given) for solver in ("interior", "clarabel"))
    assert found.certified, found.message
    assert found.objective == pytest.approx(declared.objective, rel=2e-8)


def test_the_weight_is_undefined_and_the_coefficients_tell():
    found = solve(INSTANCE, "li", solver="interior", C=100.0)
    assert found.certified
    assert found.iterations < 40
    assert np.isnan(found.weights).tolist() == [True, False, False]
    seen = KERNELS[0] @ (found.alpha * Y)
    assert np.abs(seen).max() < 1e-7 * np.abs(found.alpha).sum()
    assert np.sqrt(found.coefficients[0] @ KERNELS[0] @ found.coefficients[0]) > 0.1


def test_rounded_products_of_low_rank_are_not_enough():
    """Kernels of rank one, stored as rounded products, are semidefinite up to δ only, and a root of δ is what they
    cost; factors cost nothing, nor do exact products."""
    columns = np.random.default_rng(1).normal(size=(6, 60, 1))
    y = np.sign(columns[0, :, 0] + 0.5 * columns[1, :, 0])
    dense = solve(Instance(columns @ columns.transpose(0, 2, 1), y), "li", solver="interior", C=1.0)
    assert not dense.certified
    assert "entries (δ = " in dense.message
    assert dense.certificate.relative_gap < 1e-5
    factored = solve(Instance(LowRank(list(columns)), y), "li", solver="interior", C=1.0)
    assert factored.certified
    assert dense.certificate.lower <= factored.certificate.upper
    assert factored.certificate.lower <= dense.certificate.upper
    exact = np.round(columns * 2**12) / 2**12
    assert solve(Instance(exact @ exact.transpose(0, 2, 1), y), "li", solver="interior", C=1.0).certified


@pytest.mark.parametrize("name", ["li", "ckl"])
def test_a_constant_kernel_beside_a_bias_is_worth_nothing(name):
    """Σβ = 0 hides it from the start; a constant function is left to b, which costs nothing."""
    kernels = np.concatenate([KERNELS, np.ones((1, 36, 36))])
    found = solve(Instance(kernels, Y, groups=[0, 1, 1, 2]), name, solver="interior", C=10.0)
    without = solve(Instance(KERNELS, Y, groups=[0, 1, 1]), name, solver="interior", C=10.0)
    assert found.certified, found.message
    assert found.objective == pytest.approx(without.objective, rel=1e-8)
    assert np.abs(found.all_coefficients[3]).max() < 1e-12


def far_enough(steps):
    problem = Problem(get("li"), get("li").task(INSTANCE, {"C": 100.0})[0], 1e-9)
    method = InteriorSingle()
    state = method.start(problem)
    for _ in range(steps):
        if state.relative_complementarity > 0.1:
            state = method.newton_step(problem, state)
    return problem, method, state


def test_a_point_is_taken_over_with_all_its_equations():
    """What left in the equations, the multipliers of the new equalities make up for."""
    _, _, state = far_enough(30)
    side = ReducedGroups(state.side, [0])
    after = state.without(side)
    assert side.null_rows @ side.null_rows.T == pytest.approx(np.eye(2), abs=1e-12)
    assert side.eliminated == (0,)
    assert side.weights(after.at.x)[0] == 0.0
    moved = after.at.nu[0] - state.at.nu[0] + after.at.nu[-2:] @ side.null_rows  # b takes what is constant
    assert moved == pytest.approx(state.weights[0] * state.images[0], abs=1e-9)
    shares = state.at.x[: state.side.count]
    assert after.at.x[:2] == pytest.approx(shares[1:] / shares[1:].sum())
    assert after.at.x[2:] == pytest.approx(state.at.x[4:])


def test_elimination_is_a_step_of_its_own():
    """It keeps the state that it came from, and has nothing more to do until the point has converged."""
    problem, method, state = far_enough(30)
    after = elimination_step(problem, state)
    while after is None:
        state = method.newton_step(problem, state)
        after = elimination_step(problem, state)
    assert after.side.eliminated == (0,)
    assert after.before_elimination is state
    assert after.at.alpha is state.at.alpha
    assert elimination_step(problem, after) is None


def test_a_wrong_guess_is_taken_back():
    problem, method, state = far_enough(30)
    wrong = state.without(ReducedGroups(state.side, [1]))
    for _ in range(60):
        wrong = method.step(problem, wrong)
        if wrong.rejected_eliminations:
            break
    assert 1 in wrong.rejected_eliminations
    assert wrong.before_elimination is None
    assert wrong.at is state.at


def test_a_mistake_makes_the_next_guess_stricter():
    _, _, state = far_enough(30)
    beta = Y * state.at.alpha
    images = state.images.copy()
    images[0] *= 1e-5 * (images[1] @ beta) / (images[0] @ beta) * state.side.task.traces[0] / state.side.task.traces[1]
    assert eliminate_groups(state.side, images, state.at, ()).eliminated == (0,)
    assert eliminate_groups(state.side, images, state.at, (0,)) is None
    images[0] *= SETTINGS.elimination_tightening
    assert eliminate_groups(state.side, images, state.at, (0,)).eliminated == (0,)
    assert eliminate_groups(state.side, np.ones_like(images), state.at, ()) is None


def test_a_kernel_with_too_many_directions_is_refused_before_it_is_factored(monkeypatch):
    _, _, state = far_enough(30)
    task = state.side.task
    assert task.rank(0) == 2
    assert task.rank(2) > 18
    images = state.images.copy()
    images[2] = 0.0

    def factored(self, m):
        raise AssertionError(f"kernel {m} was factored")

    monkeypatch.setattr(type(task), "factor", factored)
    assert eliminate_groups(state.side, images, state.at, ()) is None
    images[0], images[2] = 0.0, state.images[2]
    with pytest.raises(AssertionError, match="kernel 0"):
        eliminate_groups(state.side, images, state.at, ())
