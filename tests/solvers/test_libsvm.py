"""LIBSVM below scikit-learn's estimators is LIBSVM inside of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mklcvx.solvers import libsvm

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
    (at, own), (also_at, theirs) = (way(kind, *given, settings) for way in (libsvm._at_once, libsvm._by_estimator))
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
