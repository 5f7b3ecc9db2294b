"""Nearest neighbours, and SVMs that are trained by folds, for classes and labels."""

import numpy as np
import pytest

from baselines import knn
from baselines._machines import held_out
from mklcvx import Instance
from mklcvx.zoo import real
from refusals import check_refused

WINE = real("wine", "classes", samples=45, count=5)
LABELS = np.column_stack([WINE.targets.values == 0, WINE.targets.values != 2]).astype(float)


# ----------------------------------------------------------------------------------------------------- knn
def placed(positions, train=None):
    """Linear kernels of the two coordinates."""
    train = positions if train is None else train
    return np.stack([np.outer(positions[:, j], train[:, j]) for j in range(2)])


def test_knn_by_hand():
    """Distances in the plane: of (0, 0) to the samples 1, 2, 3 and 5; two neighbours, then three."""
    train = np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0], [0.0, -5.0]])
    new = np.array([[0.0, 0.0], [0.0, -4.0]])
    found = knn(Instance(placed(train), [1, 1, -1, -1]), neighbours=3)
    assert found.nearest(placed(new, train)).tolist() == [[0, 1, 2], [3, 0, 2]]
    assert found.decision_function(placed(new, train)) == pytest.approx([1 / 3, -1 / 3])
    assert found.predict(placed(new, train)).tolist() == [1, -1]
    classes = knn(Instance(placed(train), classes=["a", "b", "b", "c"]), neighbours=2)
    assert classes.decision_function(placed(new, train)) == pytest.approx(np.array([[0.5, 0.5, 0], [0.5, 0, 0.5]]))
    assert classes.predict(placed(new, train)).tolist() == ["a", "a"]
    labels = knn(Instance(placed(train), labels=[[1, 0], [1, 0], [0, 1], [1, 1]]), neighbours=3)
    assert labels.decision_function(placed(new, train)) == pytest.approx(np.array([[1 / 6, -1 / 6], [1 / 6, 1 / 6]]))
    assert labels.predict(placed(new, train)).tolist() == [[1, 0], [1, 1]]


def test_knn_is_that_of_all_features_together():
    """The average of kernels is the kernel of all features side by side."""
    from sklearn.neighbors import KNeighborsClassifier

    random = np.random.default_rng(0)
    views, new = [random.normal(size=(40, d)) for d in (2, 4)], [random.normal(size=(25, d)) for d in (2, 4)]
    classes = random.integers(3, size=40)
    found = knn(Instance(np.stack([v @ v.T for v in views]), classes=classes), neighbours=7)
    other = KNeighborsClassifier(7).fit(np.hstack(views), classes)
    test = np.stack([a @ b.T for a, b in zip(new, views, strict=True)])
    assert found.decision_function(test) == pytest.approx(other.predict_proba(np.hstack(new)))
    assert found.predict(test).tolist() == other.predict(np.hstack(new)).tolist()


def test_knn_weighs_the_votes():
    train = np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]])
    weighted = Instance(placed(train), [1, -1, -1], sample_weight=[5.0, 1.0, 1.0])
    assert knn(weighted, 3).decision_function(placed(np.zeros((1, 2)), train)) == pytest.approx([3 / 7])


def test_knn_refuses_bad_settings():
    with check_refused("neighbours = 46", "between 1 and 45"):
        knn(WINE, neighbours=46)
    with check_refused("neighbours = True"):
        knn(WINE, neighbours=True)
    with check_refused("test_kernels"):
        knn(WINE).predict(np.zeros((5, 4, 7)))


# -------------------------------------------------------------------------------------------- held-out outputs
def test_held_out_outputs_are_those_of_svms_that_did_not_see_the_sample():
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.svm import SVC

    values, folds = held_out(WINE, 2.0, 3, 5, "test"), StratifiedKFold(3, shuffle=True, random_state=5)
    for m in (0, 4):
        for c, y in enumerate(WINE.targets.signs("")):
            splits = list(folds.split(np.zeros(45), WINE.targets.values))
            machine = SVC(C=2.0, kernel="precomputed")
            other = cross_val_predict(machine, WINE.kernels[m], y, cv=splits, method="decision_function")
            assert values[c, m] == pytest.approx(other, abs=1e-8)


def test_a_label_that_the_training_folds_lack_is_taken_for_absent():
    rare = np.column_stack([LABELS[:, 0], np.arange(45) == 7])
    values = held_out(Instance(WINE.kernels, labels=rare), 1.0, 3, 0, "test")
    assert (values[1, :, 7] == -1).all()
    assert len(np.unique(values[0, 0])) > 10
