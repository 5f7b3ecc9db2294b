"""The targets: y, classes or labels; what each may hold, and what the formulations make of them. A response, and
instances without targets, are in test_targets_real.py."""

from functools import partial

import numpy as np
import pytest

import refusals
from mklcvx import Instance
from mklcvx.problem.target_checks import as_targets, as_test_targets, find_test_targets, named_classes
from mklcvx.problem.targets import as_words

N = 6
Y = np.array([1, 1, 1, -1, -1, -1])
CLASSES = np.array([0, 0, 1, 1, 2, 2])
LABELS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 0]])
NAMES = ["red", "green", "blue"]
FEATURES = np.random.default_rng(1).normal(size=(2, N, 3)) + LABELS
K = FEATURES @ FEATURES.transpose(0, 2, 1) + 0.5 * np.eye(N)
check_refused = partial(refusals.check_refused, limit=300)


def targets(y=None, classes=None, labels=None, names=None, count=N):
    return as_targets(y, classes, labels, names, count)


# --------------------------------------------------------------------------------------------------- one of them
# ------------------------------------------------------------------------------------------------------------ classes
@pytest.mark.parametrize(
    ("classes", "names"),
    [
        (CLASSES, ("0", "1", "2")),
        (CLASSES.astype(np.int8), ("0", "1", "2")),
        (CLASSES.astype(float), ("0", "1", "2")),
        (CLASSES / 2, ("0", "0.5", "1")),
        (CLASSES.tolist(), ("0", "1", "2")),
        (CLASSES[:, None], ("0", "1", "2")),
        (CLASSES > 0, ("False", "True")),
        (-CLASSES, ("-2", "-1", "0")),
        (np.array(["cat", "dog", "owl"])[CLASSES], ("cat", "dog", "owl")),
        (np.array(["cat", "dog", "owl"], dtype=object)[CLASSES], ("cat", "dog", "owl")),
        (["owl", "owl", "cat", "cat", "dog", "dog"], ("cat", "dog", "owl")),
        (np.array([b"cat", b"dog", "éa".encode()])[CLASSES], ("cat", "dog", "éa")),
        (np.arange(N), ("0", "1", "2", "3", "4", "5")),
    ],
    ids=range(13),
)
def test_classes_are_numbers_or_words(classes, names):
    found = targets(classes=classes)
    assert found.names == found.classes() == names
    assert found.indicators().shape == (N, len(names))
    np.testing.assert_array_equal(found.indicators().sum(axis=1), np.ones(N))


# ------------------------------------------------------------------------------------------------------------- labels
@pytest.mark.parametrize(
    "labels",
    [LABELS, LABELS > 0, LABELS.astype(float), LABELS.astype(np.uint8), LABELS.tolist(), LABELS.astype(object)],
    ids=["int", "bool", "float", "uint8", "list", "object"],
)
def test_labels_are_zeros_and_ones_of_any_type(labels):
    found = targets(labels=labels)
    assert found.values.dtype == np.float64
    np.testing.assert_array_equal(found.values, LABELS)
    assert found.names == ("0", "1", "2")
    assert found.classes() == ()


# -------------------------------------------------------------------------------------------------------------- names
def test_labels_and_classes_can_be_named():
    assert targets(labels=LABELS, names=NAMES).names == ("red", "green", "blue")
    assert targets(labels=LABELS, names=np.array([b"red", b"green", b"blue"])).names == ("red", "green", "blue")
    named = targets(classes=CLASSES, names=NAMES)
    assert (named.names, named.classes()) == (("red", "green", "blue"), ("0", "1", "2"))


# ------------------------------------------------------------------------------------------------------- test targets
@pytest.mark.parametrize("kind", ["y", "classes", "labels"])
def test_test_targets_of_another_kind_are_refused(kind):
    given = {"y": Y, "classes": CLASSES, "labels": LABELS}
    for other in given:
        more = {f"test_{other}": given[other]}
        if other == kind:
            instance = Instance(K, **{kind: given[kind]}, test_kernels=K, **more)
            np.testing.assert_array_equal(instance.test_targets, given[kind])
        else:
            with check_refused(f"test_{other} is given where the training samples have {kind}", f"give test_{kind}"):
                Instance(K, **{kind: given[kind]}, test_kernels=K, **more)
    with check_refused("test_y and test_labels are given", f"give test_{kind}"):
        Instance(K, **{kind: given[kind]}, test_kernels=K, test_y=Y, test_labels=LABELS)


def test_test_samples_may_be_of_one_class_and_without_labels():
    assert as_test_targets([2, 2], "classes", 2, 3).tolist() == [2, 2]
    assert as_test_targets(np.zeros((2, 3)), "labels", 2, 3).tolist() == [[0, 0, 0]] * 2


def test_test_targets_are_found_by_their_kind():
    given = {"test_labels": LABELS, "test_y": Y, "other": 1}
    np.testing.assert_array_equal(find_test_targets(given, "labels", N, 3), LABELS)
    np.testing.assert_array_equal(find_test_targets(given, "y", N, 1), Y)
    assert find_test_targets({"other": 1, "test_y": None}, "y", N, 1) is None
    with check_refused("test_y is given where the training samples have classes"):
        find_test_targets({"test_y": Y}, "classes", N, 3)


def test_classes_are_the_same_words_whatever_their_type():
    assert as_words(np.array([1, 2])) == as_words(np.array([1.0, 2.0])) == as_words(np.array(["1", "2"])) == ["1", "2"]
    assert as_words(np.array([0.5, 1e300])) == ["0.5", "1e+300"]


def test_test_classes_are_known_by_value_or_by_name():
    for given in (np.array([1, 0]), np.array([1.0, 0.0]), np.array(["1", "0"]), np.array(["dog", "cat"])):
        assert named_classes(given, ("0", "1"), ("cat", "dog")).tolist() == ["dog", "cat"]
    assert named_classes(np.array([1, 7]), ("0", "1"), ("cat", "dog")).tolist() == ["dog", "7"]
    assert named_classes(np.array([], dtype=int), ("0", "1"), ("cat", "dog")).tolist() == []


def test_test_classes_that_no_training_sample_has_are_refused():
    with check_refused("test_classes has 8, 9, the training samples have cat, dog, 0, 1", "give classes of training"):
        named_classes(np.array([8, 9]), ("0", "1"), ("cat", "dog"))
    with check_refused("test_classes has owl", "the training samples have 0, 1, 2"):
        Instance(K, classes=CLASSES, test_kernels=K, test_classes=["owl"] * N)


# ------------------------------------------------------------------------------------------- what is made of targets


@pytest.mark.parametrize("classes", [CLASSES, np.array(["a", "b", "c"])[CLASSES], CLASSES / 4])
def test_classes_are_set_against_the_rest_one_by_one(classes):
    signs = targets(classes=classes).signs("ml_sum", constant_allowed=False)
    np.testing.assert_array_equal(signs, np.where(np.arange(3)[:, None] == CLASSES, 1, -1))


def test_labels_are_rows_of_signs():
    found = targets(labels=LABELS)
    np.testing.assert_array_equal(found.signs("ml_sum"), 2 * LABELS.T - 1)
    np.testing.assert_array_equal(found.indicators(), LABELS)


def test_samples_of_one_class_belong_together():
    for given, values in (({"y": Y}, Y), ({"classes": CLASSES}, CLASSES)):
        expected = [[1 if a == b else -1 for b in values] for a in values]
        np.testing.assert_array_equal(targets(**given).together(), expected)


def test_samples_that_share_a_label_belong_together():
    together = targets(labels=LABELS).together()
    sets = [set(np.flatnonzero(row)) for row in LABELS]
    expected = [[1 if i == j or sets[i] & sets[j] else -1 for j in range(N)] for i in range(N)]
    np.testing.assert_array_equal(together, expected)
