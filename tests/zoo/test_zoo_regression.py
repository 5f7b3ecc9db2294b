"""Specimens with a response, and without targets: the same everywhere, what they say they are, and for losses."""

from __future__ import annotations

import numpy as np
import pytest

from mklcvx import formulations, zoo
from mklcvx.bench.conformance.trials import suitable
from mklcvx.bench.matrix import plan
from mklcvx.formulations.losses import COUNTS, EVERY, NONE, REAL
from mklcvx.io.files import load_instance
from mklcvx.zoo import regression
from mklcvx.zoo.plans import PLANS
from mklcvx.zoo.specimens import measured
from refusals import check_refused

NAMES = [one.name for one in zoo.SPECIMENS if one.recorded["targets"] in ("response", "none")]


def response_of(name):
    return zoo.specimen(name).instance().response


def losses(loss, residuals):
    """The losses as textbooks have them."""
    size = np.abs(residuals)
    return {
        "squared": residuals**2 / 2,
        "huber": np.where(size <= 1, residuals**2 / 2, size - 0.5),
        "epsilon_insensitive": np.maximum(size - 0.25, 0.0),
    }[loss]


# ---------------------------------------------------------------------------------------------------------- checksums
@pytest.mark.parametrize("name", NAMES)
def test_every_specimen_is_the_one_on_record(name):
    assert measured(zoo.specimen(name)) == zoo.specimen(name).recorded


def test_checksums_see_the_response():
    instance = zoo.specimen("response-outputs").instance()
    known = zoo.checksum(instance)
    for change in (2 * instance.response, instance.response[:, :1], instance.response[:, ::-1], None):
        more = {"response": change, "label_names": None}
        assert zoo.checksum(instance.with_kernels(instance.kernels, **more)) != known


@pytest.mark.parametrize("place", ["one.npz", "one.mat", "one.json", "one"])
@pytest.mark.parametrize("name", ["response-heteroscedastic", "response-outputs", "one-cloud-outliers"])
def test_an_exported_specimen_is_the_same_in_every_format(run, tmp_path, place, name):
    code, _, err = run("zoo", "export", name, "-o", tmp_path / place)
    assert (code, err) == (0, "")
    assert zoo.checksum(load_instance(tmp_path / place)) == zoo.specimen(name).recorded["sha256"]


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
            task, resolved = formulations.get(formulation).task(
                chosen.instance(), chosen.parameters_for(formulation, loss)
            )
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


def test_planted_residuals_are_of_every_kind():
    for loss, kinds in (("squared", 2), ("huber", 2), ("epsilon_insensitive", 3)):
        instance, known = regression.planted_response(loss, 1)
        f = sum(weight * kernel @ known.alpha for weight, kernel in zip(known.weights, instance.kernels, strict=True))
        residuals = np.abs(instance.response - f - known.bias)
        edge = 0.25 if loss == "epsilon_insensitive" else 1.0
        assert len({*np.sign(residuals - edge)}) == kinds


def test_unknown_losses_are_refused():
    with check_refused("no optimum is planted for the loss 'hubber': did you mean 'huber'?"):
        zoo.planted_response("hubber", 1)


# ------------------------------------------------------------------------------------------- what the specimens claim
def test_the_planted_function_is_one_of_the_kernels():
    kernels, exact = zoo.specimen("response-exact").instance().kernels, response_of("response-exact")
    coefficients = np.linalg.solve(kernels[0] + kernels[1] / 2, exact)
    np.testing.assert_allclose(4 * coefficients, np.rint(4 * coefficients), atol=1e-6)
    noise = response_of("response") - exact
    assert 0.05 < noise.std() < 0.25


def test_outliers_are_few_and_far():
    known = regression.smooth(40, 4, 30)
    off = np.abs(response_of("response-outliers") - known.f)
    assert (off > 60).sum() == 5
    assert (off < 1).sum() == 35


def test_noise_grows_with_the_feature():
    known = regression.smooth(60, 3, 31)
    off, size = np.abs(response_of("response-heteroscedastic") - known.f), np.abs(known.x[:, 0])
    assert off[size > np.median(size)].mean() > 2 * off[size < np.median(size)].mean()


def test_ties_and_constants():
    assert len(np.unique(response_of("response-ties"))) < 10
    assert set(response_of("response-constant")) == {3.0}
    assert response_of("response-outputs").shape == (40, 3)
    assert np.ptp(response_of("response-outputs"), axis=0)[2] == 0


def test_one_feature_has_kernels_of_low_rank():
    kernels = zoo.specimen("response-one-feature").instance().kernels
    assert [int(np.linalg.matrix_rank(kernel)) for kernel in kernels[:2]] == [1, 3]


def test_one_class_has_no_targets_and_its_outliers_are_alone():
    for name, far in (("one-cloud", 0), ("one-cloud-outliers", 4)):
        instance = zoo.specimen(name).instance()
        assert instance.targets.kind == "none"
        near = instance.kernels.sum(axis=0)
        assert (near[: 40 - far, 40 - far :] < 0.1).all()
