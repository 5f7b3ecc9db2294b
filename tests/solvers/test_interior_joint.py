"""Joint outputs by `interior`, `clarabel` and `scs`: the same optimum, certified, for every regulariser and loss."""

from __future__ import annotations

import numpy as np
import pytest

from covering import covering
from joint_cases import FOR_CLASSES, FOR_RESPONSES, WITH_WEIGHTS, classes, posed, responses
from mklcvx import InputError, Instance, solve
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.interior.joint import InteriorJoint
from mklcvx.solvers.interior.joint_unknowns import Coordinates, EntropicSimplex, ReducedCoordinates
from mklcvx.solvers.interior.samples_side import DualPoint

pytestmark = pytest.mark.slow

CASES = covering(WITH_WEIGHTS, [*FOR_CLASSES, "squared", "epsilon_insensitive", "huber"], [True, False])


def instance_for(loss, **given):
    return classes(**given) if loss in FOR_CLASSES else responses(**given)


@pytest.mark.parametrize(("name", "loss", "bias"), CASES)
def test_every_pair_is_certified(name, loss, bias):
    found = solve(instance_for(loss), name, loss=loss, bias=bias, solver="interior", tol=1e-8)
    assert (found.status, found.solver) == ("certified", "interior")
    assert found.iterations <= 30
    assert found.alpha.shape == found.y.shape == (3, 15)
    assert found.bias.shape == (3,)
    assert bias or not found.bias.any()


@pytest.mark.parametrize("loss", [*FOR_CLASSES, *FOR_RESPONSES])
def test_three_solvers_agree(loss):
    instance = instance_for(loss)
    ours = solve(instance, "sm2", loss=loss, solver="interior")
    for solver, tolerance in (("clarabel", 1e-5), ("scs", 1e-3)):
        theirs = solve(instance, "sm2", loss=loss, solver=solver, tol=tolerance)
        assert theirs.certified
        assert theirs.certificate.lower <= ours.certificate.upper
        assert ours.certificate.lower <= theirs.certificate.upper


HOSTILE = {
    "rank one": lambda K, X: np.stack([np.outer(x, x) for x in X.T]),
    "duplicated": lambda K, X: K[[0, 0, 1, 1]],
    "far apart": lambda K, X: K * np.array([1e-5, 1.0, 1e4])[:, None, None],
    "a zero kernel": lambda K, X: np.stack([K[0], 0 * K[0]]),
    "small": lambda K, X: 1e-4 * K,
}


@pytest.mark.parametrize("loss", [*FOR_CLASSES, "squared", "quantile"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_kernels(kind, loss):
    base = instance_for(loss, samples=20, seed=2)
    X = np.random.default_rng(9).normal(size=(20, 3))
    instance = Instance(HOSTILE[kind](np.asarray(base.kernels), X), **base.targets.arguments())
    for price in (0.1, 10.0):
        assert solve(instance, "l2", loss=loss, C=price, solver="interior", tol=1e-8).certified


@pytest.mark.parametrize("kind", [Coordinates, ReducedCoordinates])
def test_the_vector_of_unknowns_makes_beta(kind):
    """β = Va, its transpose, and V'(I ⊗ K)V with its diagonal."""
    loss = "softmax" if kind is ReducedCoordinates else "squared"
    formulation, task = posed(instance_for(loss), "l1", loss=loss)
    coordinates, rng = kind(task), np.random.default_rng(0)
    a, values, kernel = (
        rng.uniform(size=coordinates.samples),
        rng.normal(size=task.y.shape),
        np.asarray(task.kernels[0]),
    )
    assert a @ coordinates.gathered(values) == pytest.approx(float(np.sum(coordinates.beta(a) * values)))
    np.testing.assert_allclose(coordinates.image(kernel, a), coordinates.gathered(coordinates.beta(a) @ kernel))
    whole = np.array([coordinates.image(kernel, one) for one in np.eye(coordinates.samples)])
    np.testing.assert_allclose(whole, whole.T)
    rows, _ = coordinates.equalities()
    np.testing.assert_allclose(rows @ a, coordinates.beta(a).sum(axis=1)[: len(rows)])
    start = InteriorJoint().start(Problem(formulation, task, 1e-8)).at.alpha
    assert kind is Coordinates or (start > 0).all()
    np.testing.assert_allclose(coordinates.beta(start).sum(axis=1), 0, atol=1e-12)


def test_a_step_stays_on_the_simplex():
    """However long it is: no probability vanishes, and they keep their sum."""
    _, task = posed(classes(), "l1", loss="softmax")
    coordinates, rng = ReducedCoordinates(task), np.random.default_rng(0)
    side = EntropicSimplex(coordinates)
    a = side.start(np.ones(3) / 3)
    before = DualPoint(a, *side.distances(a))
    for length in (1e-3, 1.0, 1e3):
        change = length * rng.normal(size=len(a))
        after = side.kept_inside(before, DualPoint(a, a + change, before.upper - coordinates.summed(change)))
        assert (after[1] > 0).all()
        assert (after[2] > 0).all()
        np.testing.assert_allclose(coordinates.summed(after[1]) + after[2], task.box)


@pytest.mark.parametrize("solver", ["silp", "simplemkl", "analytic"])
def test_published_algorithms_take_one_output(solver):
    formulation = "lp" if solver == "analytic" else "l1"
    with pytest.raises(
        InputError, match=rf"^solver {solver} does not take loss softmax: use auto, clarabel, scs, interior"
    ):
        solve(classes(), formulation, loss="softmax", solver=solver)
    with pytest.raises(InputError, match=rf"^solver {solver} does not take loss squared"):
        solve(responses(), formulation, solver=solver)
