"""The instance's labels, groups, weights, names and test data: what is refused and in which words, what is taken."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mklcvx import InputError, Instance
from refusals import check_refused
from stacks import FOR_INSTANCES

N = 8
Y, K = FOR_INSTANCES.y, FOR_INSTANCES.kernels


# ------------------------------------------------------------------------------------------------------ labels
def mapping_in(message):
    """The expression that a refusal suggests."""
    return re.search(r"numpy\.where\(.*, 1, -1\)", message)[0]


@pytest.mark.parametrize(
    ("y", "shown"),
    [
        (np.array([0, 1] * 4), "labels 0, 1,"),
        (np.array([1, 2] * 4), "labels 1, 2,"),
        (np.array([0.0, 1.0] * 4), "labels 0, 1,"),
        (np.array(["cat", "dog"] * 4), "labels cat, dog,"),
        (np.array(["cat", "dog"] * 4, dtype=object), "labels cat, dog,"),
        (np.array([b"cat", b"dog"] * 4), "labels b'cat', b'dog',"),
        (np.array([True, False] * 4), "labels False, True,"),
        (np.array([-1, 0, 1, 1] * 2), "labels -1, 0, 1,"),
        (np.arange(8), "labels 0, 1, 2, 3, … (8 values),"),
        (["cat", "dog"] * 4, "labels cat, dog,"),
        ([0, 1] * 4, "labels 0, 1,"),
        ((1 + 0j) * np.array([1, 2] * 4), "labels (1+0j), (2+0j),"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_labels_other_than_plus_and_minus_one_are_refused_with_a_mapping_that_works(y, shown):
    with pytest.raises(InputError, match="not −1 and \\+1: ") as caught:
        Instance(K, y)
    message = str(caught.value)
    assert message.startswith(f"y has {shown}")
    mapped = eval(mapping_in(message), {"numpy": np, "y": y})
    assert Instance(K, mapped).y.shape == (N,)


def test_of_three_classes_one_is_set_against_the_rest():
    with check_refused("give them as classes, or map them, for example numpy.where(y == 2, 1, -1)"):
        Instance(K, np.array([0, 1, 2, 2] * 2))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.ones(N), ("y has one class only (+1)", "give samples of both −1 and +1")),
        (-np.ones(N), ("y has one class only (-1)", "give samples of both")),
        (np.zeros(N), ("y has labels 0, not −1 and +1", "give samples of two classes")),
        (Y[:-1], ("y has 7 labels, the kernels are 8 by 8", "give one label per sample")),
        (Y.reshape(2, 4), ("y has shape (2, 4)", "give one label per sample, shape (n,)")),
        (1, ("y has shape ()", "give one label per sample")),
        ([], ("y is empty", "give samples of both −1 and +1")),
        ([[1], [1, -1]], ("y is ragged", "give one label per sample")),
        (np.where(np.arange(N) == 3, np.nan, Y), ("y has NaN at [3]", "give −1 or +1 for every sample")),
        (np.array([1, "a"] * 4, dtype=object), ("y has missing or mixed entries", "give −1 or +1")),
        ([1, -1, None, 1] * 2, ("y has missing or mixed entries", "give −1 or +1")),
        (np.ma.masked_array(Y, mask=np.arange(N) == 1), ("y: entries are masked", "fill them")),
    ],
)
def test_labels_that_cannot_be_used_are_refused(y, words):
    with check_refused(*words):
        Instance(K, y)


@pytest.mark.parametrize(
    "y",
    [
        Y.tolist(),
        tuple(Y.tolist()),
        Y.astype(np.int8),
        Y.astype(np.float32),
        Y[:, None],
        Y[None],
        Y.astype(object),
    ],
    ids=["list", "tuple", "int8", "float32", "column", "row", "object"],
)
def test_labels_come_in_many_forms(y):
    labels = Instance(K, y).y
    assert labels.dtype == np.float64
    np.testing.assert_array_equal(labels, Y)


# ------------------------------------------------------------------------------------------------------ groups
@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([0, 0], ("groups do not cover the kernels: 2 entries for 3 kernels", "give one integer")),
        ([0, 0, 1, 1], ("4 entries for 3 kernels",)),
        ([], ("0 entries for 3 kernels",)),
        ([[0], [2]], ("groups do not cover the kernels: kernel 1 is in none", "each of the 3 kernels one group")),
        ([[0, 1], [1, 2]], ("a kernel is in two, or unknown",)),
        ([[0, 1], [2, 3]], ("a kernel is in two, or unknown",)),
        ([[0, 1], [-1]], ("kernel 2 is in none",)),
        (["a", "a", "b"], ("groups are not integers", "give one integer for each of the 3 kernels")),
        ([0, 0.5, 1], ("groups are not integers",)),
        ([0, np.nan, 1], ("groups are not integers",)),
        ([0, np.inf, 1], ("groups are not integers",)),
        ([True, False, True], ("groups are not integers",)),
        ([[0.5, 1], [2]], ("groups are not integers",)),
        ([["a"], [1, 2]], ("groups are not integers",)),
        ([[[0], [1, 2]], [2]], ("groups are not integers",)),
        (3, ("groups are not integers",)),
        (np.array(3), ("groups are not integers",)),
    ],
)
def test_groups_that_do_not_cover_the_kernels_are_refused(groups, words):
    with check_refused(*words):
        Instance(K, Y, groups=groups)


@pytest.mark.parametrize(
    "groups",
    [[5, 5, 7], np.array([-1, -1, 0]), [0.0, 0.0, 3.0], [[0, 1], [2]], [[1, 0], [2]], [(0, 1), (), (2,)]],
)
def test_both_forms_of_groups_are_numbered_from_zero_without_holes(groups):
    np.testing.assert_array_equal(Instance(K, Y, groups=groups).groups, [0, 0, 1])


# ----------------------------------------------------------------------------------------------------- weights
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(7), ("sample_weight has shape (7,) for 8 samples", "give one per sample")),
        (np.ones((2, 4)), ("sample_weight has shape (2, 4)",)),
        (1.0, ("sample_weight has shape ()",)),
        (np.zeros(N), ("not positive and finite", "leave such samples out")),
        (-np.ones(N), ("not positive and finite",)),
        (np.full(N, np.nan), ("not positive and finite",)),
        (np.full(N, np.inf), ("not positive and finite",)),
        (["a"] * N, ("sample_weight", "dtype <U1", "give real numbers")),
        ([[1], [1, 2]], ("sample_weight", "ragged")),
    ],
)
def test_bad_sample_weights_are_refused(weights, words):
    with check_refused(*words):
        Instance(K, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "fault"),
    [
        ("equal", "give 'balanced' or {-1: weight, 1: weight}"),
        ({0: 1.0, 1: 1.0}, "give 'balanced'"),
        ({1: 1.0}, "give 'balanced'"),
        (np.ones(2), "give 'balanced'"),
        ({-1: 0.0, 1: 1.0}, "weights must be positive and finite"),
        ({-1: np.nan, 1: 1.0}, "weights must be positive and finite"),
        ({-1: 1.0, 1: np.inf}, "weights must be positive and finite"),
        ({-1: "a", 1: 1.0}, "weights must be positive and finite"),
        ({-1: None, 1: 1.0}, "weights must be positive and finite"),
    ],
)
def test_bad_class_weights_are_refused(weights, fault):
    with check_refused("class_weight = ", fault):
        Instance(K, Y, class_weight=weights)


@pytest.mark.parametrize("given", [{"labels": np.eye(N)}, {"classes": np.arange(N)}], ids=["labels", "classes"])
def test_class_weights_are_for_y_only(given):
    with check_refused("class_weight needs y, the instance has ", "give sample_weight instead"):
        Instance(K, **given, class_weight="balanced")


def test_weights_whose_product_overflows_are_refused():
    with check_refused("sample_weight times class_weight", "give moderate weights"):
        Instance(K, Y, sample_weight=np.full(N, 1e200), class_weight={-1: 1e200, 1: 1.0})
    for size in (1e-200, 1e200):  # squares and inverses are needed, too
        with check_refused("sample_weight times class_weight", "give moderate weights"):
            Instance(K, Y, sample_weight=np.full(N, size))


def test_class_weights_multiply_sample_weights():
    y = np.array([1, 1, 1, 1, 1, 1, -1, -1])
    np.testing.assert_array_equal(Instance(K, y).sample_weight, np.ones(N))
    given = Instance(K, y, sample_weight=np.arange(1, 9), class_weight={-1: 3.0, 1: 0.5}).sample_weight
    np.testing.assert_array_equal(given, np.arange(1, 9) * np.where(y > 0, 0.5, 3.0))
    balanced = Instance(K, y, class_weight="balanced").sample_weight
    assert balanced[y > 0].sum() == pytest.approx(4)
    assert balanced[y < 0].sum() == pytest.approx(4)


# ----------------------------------------------------------------------------------------------- names and tests
@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c", "d"], []])
def test_names_of_another_number_are_refused(names):
    with check_refused(f"names: {len(names)} names for 3 kernels", "give one per kernel"):
        Instance(K, Y, names=names)


@pytest.mark.parametrize("names", [5, np.array("abc"), [b"\xff", b"b", b"c"]])
def test_names_that_are_no_words_are_refused(names):
    with check_refused("names are not a list of strings", "give one per kernel"):
        Instance(K, Y, names=names)


def test_names_have_a_default_and_bytes_are_text():
    assert Instance(K, Y).names == ("K1", "K2", "K3")
    assert Instance(K, Y, names=[b"a", "b", 3]).names == ("a", "b", "3")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"test_kernels": K[:2]}, ("test_kernels have shape (2, 8, 8)", "give (3, t, 8)")),
        ({"test_kernels": K[:, :, :5]}, ("test_kernels have shape (3, 8, 5)", "training samples in columns")),
        ({"test_kernels": K[0]}, ("test_kernels have shape (8, 8)", "give (3, t, 8)")),
        ({"test_kernels": np.full(K.shape, np.longdouble(1e300) ** 2)}, ("test_kernels have the entry inf at", "give")),
        ({"test_kernels": K * np.nan}, ("test_kernels have the entry nan at", "give finite")),
        ({"test_kernels": K.astype(object)}, ("test_kernels have dtype object", "give real numbers")),
        ({"test_kernels": K[:, :4], "test_y": Y}, ("test_y has 8 labels for 4 rows of test_kernels",)),
        ({"test_y": Y}, ("test_y has 8 labels for 0 rows of test_kernels",)),
        ({"test_kernels": K, "test_y": (Y > 0) * 1}, ("test_y has labels 0, 1", "numpy.where(test_y == 1, 1, -1)")),
        ({"test_kernels": K[:, :4], "test_diagonals": np.ones((3, 5))}, ("test_diagonals have shape (3, 5)", "(3, 4)")),
        ({"test_kernels": K, "test_diagonals": np.full((3, 8), np.inf)}, ("test_diagonals", "not finite")),
        ({"test_kernels": K, "test_diagonals": "a"}, ("test_diagonals have dtype <U1", "give real numbers")),
    ],
)
def test_bad_test_data_are_refused(given, words):
    with check_refused(*words):
        Instance(K, Y, **given)


def test_test_labels_may_all_be_of_one_class():
    np.testing.assert_array_equal(Instance(K, Y, test_kernels=K[:, :2], test_y=[1, 1]).test_y, [1, 1])
