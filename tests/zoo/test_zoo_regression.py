"""Specimens with a response, and without targets: the same everywhere, what they say they are, and for losses."""

import numpy as np
import pytest

from mklcvx import formulations, zoo
from mklcvx.bench.conformance.trials import suitable
from mklcvx.bench.matrix import plan
from mklcvx.formulations.losses import COUNTS, EVERY, NONE, REAL
from mklcvx.zoo import regression
from mklcvx.zoo.plans import PLANS
from refusals import check_refused

NAMES = [one.name for one in zoo.SPECIMENS if one.recorded["targets"] in ("response", "none")]


def losses(loss, residuals):
    """The losses as textbooks have them."""
    size = np.abs(residuals)
    return {
        "squared": residuals**2 / 2,
        "huber": np.where(size <= 1, residuals**2 / 2, size - 0.5),
        "epsilon_insensitive": np.maximum(size - 0.25, 0.0),
    }[loss]


# ------------------------------------------------------------------------------------------------- losses that fit
def test_formulations_are_tried_on_them_with_the_losses_that_fit(refusal):
    assert len(NAMES) == 15
    assert not {name for _, name in plan()} & set(NAMES)
    assert not {name for f in formulations.FORMULATIONS for name in suitable(f.name)} & set(NAMES)
    tried = set()
    for loss in EVERY:
        found = set(suitable("l1", loss=loss.name))
        assert found <= set(NAMES) or not found & set(NAMES)
        assert len(found) == {REAL: 12, COUNTS: 2, NONE: 2}.get(loss.targets, len(suitable("l1")))
        tried |= found
    assert set(NAMES) - tried == {"response-outputs"}
    assert suitable("li", loss="one_class") == []
    with check_refused("instance 'response' does not suit l1"):
        suitable("l1", ["response"])
    with check_refused("instance 'clouds' does not suit l1 with loss huber"):
        suitable("l1", ["response", "clouds"], "huber")
    assert "does not suit l1" in refusal("conform", "math:sqrt", "--specimens", "one-cloud")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "response-outputs"])
def test_recommended_parameters_make_a_task_with_every_loss_that_fits(name):
    chosen = zoo.specimen(name)
    for formulation in chosen.suits:
        for loss in (None, *chosen.losses):
            given = chosen.parameters_for(formulation, loss)
            task, resolved = formulations.get(formulation).task(chosen.instance(), given)
            assert loss in (None, task.loss_function.name, resolved["loss"])


@pytest.mark.parametrize("loss", regression.LOSSES)
def test_planted_specimens_know_their_optimum(loss):
    chosen = zoo.specimen(f"planted-{loss}")
    known = chosen.optimum()
    assert chosen.parameters_for(known.formulation) == known.parameters


# ----------------------------------------------------------------------------------------------------- planted optima
@pytest.mark.parametrize("number", range(len(PLANS)), ids=[one.name for one in PLANS])
@pytest.mark.parametrize("loss", regression.LOSSES)
def test_both_bounds_of_a_planted_optimum_are_its_value(loss, number):
    """Dual: y'β − Σ ℓ*(β) − R*(½q); primal: the penalty of f, R*(½q) again at the optimum, plus the losses."""
    instance, known = regression.planted_response(loss, 1, PLANS[number])
    beta, y = known.alpha, instance.response
    q = np.array([beta @ kernel @ beta for kernel in instance.kernels])
    single = formulations.get(known.formulation)
    own = {key: value for key, value in known.parameters.items() if key not in ("loss", "delta", "epsilon")}
    labelled, _ = single.task(
        instance.with_kernels(instance.kernels, y=np.where(beta < 0, -1, 1), response=None, label_names=None), own
    )
    conjugate = float(single.conjugate(np.sqrt(q), **labelled.own))
    f = sum(weight * kernel @ beta for weight, kernel in zip(known.weights, instance.kernels, strict=True))
    penalty = float(single.penalty(known.weights * np.sqrt(q), **labelled.own))
    least = {"squared": beta**2 / 2, "huber": beta**2 / 2, "epsilon_insensitive": np.abs(beta) / 4}[loss]
    assert beta.sum() == 0
    assert np.abs(beta).max() <= 1
    assert y @ beta - least.sum() - conjugate == pytest.approx(known.value, rel=1e-14)
    assert penalty + losses(loss, y - f - known.bias).sum() == pytest.approx(known.value, rel=1e-14)


def test_unknown_losses_are_refused():
    with check_refused("no optimum is planted for the loss 'hubber': did you mean 'huber'?"):
        zoo.planted_response("hubber", 1)
