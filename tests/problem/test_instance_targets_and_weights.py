"""The instance's labels, groups, weights, names and test data: what is refused and in which words, what is taken."""

import re

import numpy as np
import pytest

from mklcvx import InputError, Instance
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


@pytest.mark.parametrize(
    "y",
    [Y.tolist(), tuple(Y.tolist()), Y.astype(np.int8), Y.astype(np.float32), Y[:, None], Y[None], Y.astype(object)],
    ids=["list", "tuple", "int8", "float32", "column", "row", "object"],
)
def test_labels_come_in_many_forms(y):
    labels = Instance(K, y).y
    assert labels.dtype == np.float64
    np.testing.assert_array_equal(labels, Y)


# ------------------------------------------------------------------------------------------------------ groups


@pytest.mark.parametrize(
    "groups", [[5, 5, 7], np.array([-1, -1, 0]), [0.0, 0.0, 3.0], [[0, 1], [2]], [[1, 0], [2]], [(0, 1), (), (2,)]]
)
def test_both_forms_of_groups_are_numbered_from_zero_without_holes(groups):
    np.testing.assert_array_equal(Instance(K, Y, groups=groups).groups, [0, 0, 1])


# ----------------------------------------------------------------------------------------------------- weights


def test_class_weights_multiply_sample_weights():
    y = np.array([1, 1, 1, 1, 1, 1, -1, -1])
    np.testing.assert_array_equal(Instance(K, y).sample_weight, np.ones(N))
    given = Instance(K, y, sample_weight=np.arange(1, 9), class_weight={-1: 3.0, 1: 0.5}).sample_weight
    np.testing.assert_array_equal(given, np.arange(1, 9) * np.where(y > 0, 0.5, 3.0))
    balanced = Instance(K, y, class_weight="balanced").sample_weight
    assert balanced[y > 0].sum() == pytest.approx(4)
    assert balanced[y < 0].sum() == pytest.approx(4)


# ----------------------------------------------------------------------------------------------- names and tests


def test_names_have_a_default_and_bytes_are_text():
    assert Instance(K, Y).names == ("K1", "K2", "K3")
    assert Instance(K, Y, names=[b"a", "b", 3]).names == ("a", "b", "3")


def test_test_labels_may_all_be_of_one_class():
    np.testing.assert_array_equal(Instance(K, Y, test_kernels=K[:, :2], test_y=[1, 1]).test_y, [1, 1])
