"""What targets, weights, groups and names may not be, said by the instance in one line: input, fault and remedy."""

import numpy as np
import pytest

from mklcvx import Instance
from refusals import check_refused
from stacks import FOR_INSTANCES

N = 8
Y, K = FOR_INSTANCES.y, FOR_INSTANCES.kernels
OTHER_TARGETS = {"y", "labels", "classes"}

REFUSED = [
    ({"y": np.ones(N)}, ("y has one class only (+1)", "give samples of both −1 and +1")),
    ({"y": -np.ones(N)}, ("y has one class only (-1)", "give samples of both")),
    ({"y": np.zeros(N)}, ("y has labels 0, not −1 and +1", "give samples of two classes")),
    ({"y": Y[:-1]}, ("y has 7 labels, the kernels are 8 by 8", "give one label per sample")),
    ({"y": Y.reshape(2, 4)}, ("y has shape (2, 4)", "give one label per sample, shape (n,)")),
    ({"y": 1}, ("y has shape ()", "give one label per sample")),
    ({"y": []}, ("y is empty", "give samples of both −1 and +1")),
    ({"y": [[1], [1, -1]]}, ("y is ragged", "give one label per sample")),
    ({"y": np.where(np.arange(N) == 3, np.nan, Y)}, ("y has NaN at [3]", "give −1 or +1 for every sample")),
    ({"y": np.array([1, "a"] * 4, dtype=object)}, ("y has missing or mixed entries", "give −1 or +1")),
    ({"y": [1, -1, None, 1] * 2}, ("y has missing or mixed entries", "give −1 or +1")),
    ({"y": np.ma.masked_array(Y, mask=np.arange(N) == 1)}, ("y: entries are masked", "fill them")),
    ({"groups": [0, 0]}, ("groups do not cover the kernels: 2 entries for 3 kernels", "give one integer")),
    ({"groups": [0, 0, 1, 1]}, ("4 entries for 3 kernels",)),
    ({"groups": []}, ("0 entries for 3 kernels",)),
    ({"groups": [[0], [2]]}, ("groups do not cover the kernels: kernel 1 is in none", "3 kernels one group")),
    ({"groups": [[0, 1], [1, 2]]}, ("a kernel is in two, or unknown",)),
    ({"groups": [[0, 1], [2, 3]]}, ("a kernel is in two, or unknown",)),
    ({"groups": [[0, 1], [-1]]}, ("kernel 2 is in none",)),
    ({"groups": ["a", "a", "b"]}, ("groups are not integers", "give one integer for each of the 3 kernels")),
    ({"groups": [0, 0.5, 1]}, ("groups are not integers",)),
    ({"groups": [0, np.nan, 1]}, ("groups are not integers",)),
    ({"groups": [0, np.inf, 1]}, ("groups are not integers",)),
    ({"groups": [True, False, True]}, ("groups are not integers",)),
    ({"groups": [[0.5, 1], [2]]}, ("groups are not integers",)),
    ({"groups": [["a"], [1, 2]]}, ("groups are not integers",)),
    ({"groups": [[[0], [1, 2]], [2]]}, ("groups are not integers",)),
    ({"groups": 3}, ("groups are not integers",)),
    ({"groups": np.array(3)}, ("groups are not integers",)),
    ({"sample_weight": np.ones(7)}, ("sample_weight has shape (7,) for 8 samples", "give one per sample")),
    ({"sample_weight": np.ones((2, 4))}, ("sample_weight has shape (2, 4)",)),
    ({"sample_weight": 1.0}, ("sample_weight has shape ()",)),
    ({"sample_weight": np.zeros(N)}, ("not positive and finite", "leave such samples out")),
    ({"sample_weight": -np.ones(N)}, ("not positive and finite",)),
    ({"sample_weight": np.full(N, np.nan)}, ("not positive and finite",)),
    ({"sample_weight": np.full(N, np.inf)}, ("not positive and finite",)),
    ({"sample_weight": ["a"] * N}, ("sample_weight", "dtype <U1", "give real numbers")),
    ({"sample_weight": [[1], [1, 2]]}, ("sample_weight", "ragged")),
    ({"class_weight": "equal"}, ("class_weight = ", "give 'balanced' or {-1: weight, 1: weight}")),
    ({"class_weight": {0: 1.0, 1: 1.0}}, ("class_weight = ", "give 'balanced'")),
    ({"class_weight": {1: 1.0}}, ("class_weight = ", "give 'balanced'")),
    ({"class_weight": np.ones(2)}, ("class_weight = ", "give 'balanced'")),
    ({"class_weight": {-1: 0.0, 1: 1.0}}, ("class_weight = ", "weights must be positive and finite")),
    ({"class_weight": {-1: np.nan, 1: 1.0}}, ("class_weight = ", "weights must be positive and finite")),
    ({"class_weight": {-1: 1.0, 1: np.inf}}, ("class_weight = ", "weights must be positive and finite")),
    ({"class_weight": {-1: "a", 1: 1.0}}, ("class_weight = ", "weights must be positive and finite")),
    ({"class_weight": {-1: None, 1: 1.0}}, ("class_weight = ", "weights must be positive and finite")),
    ({"labels": np.eye(N), "class_weight": "balanced"}, ("class_weight needs y, the instance has ", "sample_weight")),
    (
        {"classes": np.arange(N), "class_weight": "balanced"},
        ("class_weight needs y, the instance has ", "give sample_weight instead"),
    ),
    ({"names": ["a", "b"]}, ("names: 2 names for 3 kernels", "give one per kernel")),
    ({"names": list("abcd")}, ("names: 4 names for 3 kernels", "give one per kernel")),
    ({"names": []}, ("names: 0 names for 3 kernels", "give one per kernel")),
    ({"names": 5}, ("names are not a list of strings", "give one per kernel")),
    ({"names": np.array("abc")}, ("names are not a list of strings", "give one per kernel")),
    ({"names": [b"\xff", b"b", b"c"]}, ("names are not a list of strings", "give one per kernel")),
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
]


@pytest.mark.parametrize(("given", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_describe_the_samples_or_kernels_is_refused(given, words):
    with check_refused(*words):
        Instance(K, **(given if OTHER_TARGETS & set(given) else {"y": Y, **given}))


def test_weights_whose_product_overflows_are_refused():
    with check_refused("sample_weight times class_weight", "give moderate weights"):
        Instance(K, Y, sample_weight=np.full(N, 1e200), class_weight={-1: 1e200, 1: 1.0})
    for size in (1e-200, 1e200):  # squares and inverses are needed, too
        with check_refused("sample_weight times class_weight", "give moderate weights"):
            Instance(K, Y, sample_weight=np.full(N, size))
