"""`solve` with every loss: which one is meant, by which solvers, in which units; files, paths and predictions."""

import numpy as np
import pytest

from covering import covering
from mklcvx import Instance, solve
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, NONE, REAL
from mklcvx.zoo import regression
from refusals import check_refused

NOISY = regression.noisy(20, 3, 2)
K, R = NOISY.kernels, NOISY.targets.values
PART, OTHER = K[:, :14, :14], K[:, 14:, :14]
INSTANCES = {LABELS: Instance(PART, np.where(R[:14] > np.median(R), 1, -1)), REAL: Instance(PART, response=R[:14]),
             COUNTS: Instance(PART, response=np.floor(2 * (R[:14] - R.min()))), NONE: Instance(PART)}  # fmt: skip
NEW = [loss for loss in EVERY if loss.name not in ("hinge", "nu")]


def by_clarabel(instance, name="l1", **given):
    return solve(instance, name, solver="clarabel", **given)


# ------------------------------------------------------------------------------------------------ which loss is meant
def test_the_targets_say_which_loss_is_meant():
    assert by_clarabel(INSTANCES[REAL]).parameters == {"loss": "squared", "C": 1.0, "bias": True}
    assert by_clarabel(INSTANCES[NONE]).parameters == {"loss": "one_class", "nu": 0.5, "bias": False}
    assert by_clarabel(INSTANCES[LABELS]).parameters == {"C": 1.0, "bias": True}
    with check_refused("parameter nu does not belong to loss squared"):
        by_clarabel(INSTANCES[REAL], nu=0.3)


def test_kernels_and_a_response_take_the_place_of_an_instance():
    wanted = by_clarabel(INSTANCES[REAL], loss="huber", delta=0.5)
    assert solve(PART, "l1", response=R[:14], loss="huber", delta=0.5, solver="clarabel").objective == wanted.objective
    given = {"kernels": PART, "response": R[:14], "formulation": "l1", "loss": "huber", "delta": 0.5}
    assert solve(**given, solver="clarabel").objective == wanted.objective
    with check_refused("response is given beside an Instance, which has its own"):
        solve(INSTANCES[REAL], "l1", response=R[:14])
    with check_refused("y and response given"):
        solve(PART, "l1", y=INSTANCES[LABELS].y, response=R[:14])


# ------------------------------------------------------------------------------------------------------------ solvers
@pytest.mark.parametrize("loss", NEW, ids=lambda loss: loss.name)
def test_two_solvers_agree_within_their_certificates(loss):
    instance = INSTANCES[loss.targets]
    first, second = (solve(instance, "l1", loss=loss.name, solver=name, tol=1e-5) for name in ("clarabel", "scs"))
    assert first.certified
    assert (first.solver, second.solver) == ("clarabel", "scs")
    lower = max(first.certificate.lower, second.certificate.lower)
    assert lower <= min(first.certificate.upper, second.certificate.upper)
    assert second.certificate.relative_gap < 1e-3


@pytest.mark.parametrize(
    ("factor", "loss", "name"),
    covering([1e-9, 1e-6, 1e6, 1e9], ["squared", "huber", "squared_epsilon_insensitive"], ["l1", "sm2"]),
)
def test_units_of_the_targets_play_no_part(name, loss, factor):
    """The value of l1 is multiplied by the square; sm2's R is not homogeneous, and θ grows against it."""
    own = {"huber": {"delta": 0.5}, "squared_epsilon_insensitive": {"epsilon": 0.1}}.get(loss, {})
    there = {key: factor * value for key, value in own.items()}
    theta = ({}, {}) if name == "l1" else ({"theta": 1.0}, {"theta": factor**-2})
    plain = by_clarabel(INSTANCES[REAL], name, loss=loss, **own, **theta[0])
    found = by_clarabel(Instance(PART, response=factor * R[:14]), name, loss=loss, **there, **theta[1])
    assert found.certified, found.message
    assert found.objective == pytest.approx(factor**2 * plain.objective, rel=1e-6)


@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive", "quantile"])
def test_a_constant_added_to_the_targets_moves_the_bias_alone(loss):
    plain, moved = (by_clarabel(Instance(PART, response=R[:14] + shift), loss=loss) for shift in (0.0, 2.0**20))
    assert moved.certified, moved.message
    assert moved.objective == pytest.approx(plain.objective, rel=1e-7)
    assert moved.bias - 2.0**20 == pytest.approx(plain.bias, abs=1e-3)
    assert moved.certificate.scale == pytest.approx(plain.certificate.scale, rel=1e-3)


# ------------------------------------------------------------------------------------- what is done with a solution


def test_one_class_predictions_are_counted_from_rho():
    """At most νn training samples are left out, and at least νn support the region."""
    for nu in (0.2, 0.5, 0.8):
        found = by_clarabel(INSTANCES[NONE], nu=nu)
        values = found.decision_function(PART)
        assert found.threshold == found.multipliers["rho"] > 0
        assert (values < -1e-6).sum() <= nu * 14 <= (found.alpha > 1e-9).sum()
        np.testing.assert_array_equal(found.predict(PART), np.where(values >= 0, 1, -1))
    assert by_clarabel(INSTANCES[LABELS], nu=0.3).threshold == 0
