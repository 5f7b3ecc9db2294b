"""LIBSVM below scikit-learn's estimators is LIBSVM inside of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mklcvx import formulations, zoo
from mklcvx.solvers import libsvm
from mklcvx.solvers.interior.samples_side import samples_side

OWN = {
    "SVC": {"C": 1.0},
    "NuSVC": {"nu": 0.3},
    "OneClassSVM": {"nu": 0.4},
    "SVR": {"C": 1.0, "epsilon": 0.1},
    "NuSVR": {"C": 1.0, "nu": 0.4},
}


def problem(kind: str):
    rng = np.random.default_rng(1)
    features = rng.normal(size=(60, 3))
    signs = np.where(features[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    matrix = features @ features.T + np.eye(60)
    targets = features[:, 1] + rng.normal(size=60) if kind.endswith("R") else signs
    return matrix, targets, rng.uniform(0.5, 2.0, size=60)


@pytest.mark.parametrize("kind", libsvm.KINDS)
def test_the_coefficients_are_those_of_the_estimator(kind, capfd):
    given = problem(kind)
    settings = libsvm._settings(1e-6) | OWN[kind]
    ways = libsvm._at_once, libsvm._by_estimator
    (at, own, cut_off), (also_at, theirs, also_cut_off) = (way(kind, *given, settings) for way in ways)
    assert not cut_off
    assert not also_cut_off
    assert_array_equal(at, also_at)
    assert len(at) > 5
    sign = np.sign(np.ravel(own) @ np.ravel(theirs)) if kind in ("SVC", "NuSVC") else 1.0
    assert_array_equal(sign * np.ravel(own), np.ravel(theirs))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("absent", [False, True])
def test_without_the_way_below_the_estimator_serves(monkeypatch, absent):
    matrix, targets, prices = problem("SVC")
    settings = libsvm._settings(1e-6) | OWN["SVC"]
    before = np.abs(libsvm._coefficients("SVC", matrix, targets, prices, settings))
    if absent:
        monkeypatch.setattr(libsvm, "low_level", lambda: None)
    assert_array_equal(np.abs(libsvm._coefficients("SVC", matrix, targets, prices, settings)), before)


def test_a_share_that_no_machine_has_is_no_answer():
    matrix, targets, prices = problem("NuSVC")
    targets[:] = -1.0
    targets[0] = 1.0
    assert libsvm._coefficients("NuSVC", matrix, targets, prices, libsvm._settings(1e-6) | {"nu": 0.9}) is None


@pytest.mark.parametrize("absent", [False, True])
def test_an_answer_that_takes_more_steps_than_are_given_is_none(monkeypatch, absent):
    if absent:
        monkeypatch.setattr(libsvm, "low_level", lambda: None)
    given, own = problem("SVC"), OWN["SVC"]
    assert libsvm._coefficients("SVC", *given, libsvm._settings(1e-6, 10) | own, True) is None
    assert libsvm._coefficients("SVC", *given, libsvm._settings(1e-6, 10_000) | own, True) is not None
    assert libsvm._coefficients("SVC", *given, libsvm._settings(1e-6, 10) | own) is not None  # as far as it came


def test_steps_that_are_given_have_to_be_enough_whatever_their_number(monkeypatch):
    task = formulations.get("svm").task(zoo.random(40, 1, seed=0), {"C": 1e3})[0]
    given = task, samples_side(task), task.kernels[0], 1e-6
    monkeypatch.setattr(libsvm, "MAX_STEPS", 5)
    assert libsvm.libsvm(*given) is not None
    assert libsvm.libsvm(*given, 5) is None
