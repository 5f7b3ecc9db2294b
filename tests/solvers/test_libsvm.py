"""LIBSVM by the function behind scikit-learn's classes: the same numbers as those of the classes."""

import sys

import numpy as np
import pytest
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from mklcvx.solvers.libsvm import _coefficients, _settings

N = 60
RNG = np.random.default_rng(0)
FEATURES, PRICES = RNG.normal(size=(N, 3)), RNG.uniform(0.5, 2.0, N)
KERNEL = np.exp(-np.sum((FEATURES[:, None] - FEATURES) ** 2, axis=2) / 4)
LABELS = np.where(FEATURES[:, 0] + 0.5 * RNG.normal(size=N) > 0, 1.0, -1.0)
MACHINES = (
    (SVC, {}, LABELS),
    (NuSVC, {"nu": 0.3}, LABELS),
    (OneClassSVM, {"nu": 0.3}, LABELS),
    (SVR, {"epsilon": 0.05}, FEATURES[:, 1]),
    (NuSVR, {"nu": 0.3}, FEATURES[:, 1]),
)


def by_class(machine, own, targets):
    model = machine(**own, **_settings(1e-4)).fit(KERNEL, targets, sample_weight=PRICES)
    found = np.zeros(N)
    found[model.support_] = np.ravel(model.dual_coef_)
    return np.abs(found) if targets is LABELS else found  # of labels, up to a common sign


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(("machine", "own", "targets"), MACHINES)
def test_coefficients_are_those_of_the_class(machine, own, targets, hidden, monkeypatch, capfd):
    if hidden:  # a version of scikit-learn without the function
        monkeypatch.setitem(sys.modules, "sklearn.svm._libsvm", None)
    found = _coefficients(machine(**own, **_settings(1e-4)), KERNEL, targets, PRICES)
    assert found.any()
    assert np.array_equal(np.abs(found) if targets is LABELS else found, by_class(machine, own, targets))
    assert capfd.readouterr().out == ""


def test_an_infeasible_share_has_no_coefficients():
    assert (
        _coefficients(NuSVC(nu=0.99, **_settings(1e-4)), KERNEL, np.where(np.arange(N) < 5, 1.0, -1.0), PRICES) is None
    )
