"""Targets that are none, of every kind, and test targets that do not go with them: refused in one line."""

import numpy as np
import pytest

from mklcvx import Instance
from refusals import check_refused

N, T = 6, 3
Y = np.array([1, 1, 1, -1, -1, -1])
CLASSES = np.array([0, 0, 1, 1, 2, 2])
LABELS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 0]])
NAMES = ["red", "green", "blue"]
R = np.array([0.5, -1.25, 3.0, 0.0, 2.5, -7.0])
OUTPUTS = np.column_stack([R, R[::-1], np.ones(N)])
K = np.stack([np.eye(N), np.ones((N, N))])
TEST = np.ones((2, T, N))
TESTED, NEW = {"test_kernels": K}, {"test_kernels": TEST}

REFUSED = [
    ({"classes": np.zeros(N)}, ("classes has one class only", "give samples of at least two classes")),
    ({"classes": ["a"] * N}, ("classes has one class only",)),
    ({"classes": []}, ("classes is empty",)),
    ({"classes": CLASSES[:-1]}, ("classes has 5 entries, the kernels are 6 by 6", "give one class per sample")),
    ({"classes": LABELS}, ("classes has shape (6, 3)", "give one class per sample, shape (n,)")),
    ({"classes": 3}, ("classes has shape ()", "give one class per sample")),
    ({"classes": [["a"], ["a", "b"]]}, ("classes is ragged", "give one class per sample")),
    ({"classes": [0.0, 1.0, np.nan, 1.0, 0.0, 1.0]}, ("classes has entries that are not finite", "give one class")),
    ({"classes": [0.0, 1.0, np.inf, 1.0, 0.0, 1.0]}, ("classes has entries that are not finite",)),
    ({"classes": CLASSES * 1j}, ("classes has entries that are not finite real numbers",)),
    ({"classes": ["a", "b", None, "a", "b", "a"]}, ("classes has missing or mixed entries", "give one class")),
    ({"classes": np.array(["a", 1] * 3, dtype=object)}, ("classes has missing or mixed entries",)),
    ({"classes": np.array([b"\xff", b"b", b"c"])[CLASSES]}, ("classes has strings that are not UTF-8",)),
    ({"labels": LABELS * 2}, ("labels has entries other than 0 and 1", "give 1 where a sample has a label, else 0")),
    ({"labels": 2 * LABELS - 1}, ("labels has entries other than 0 and 1",)),
    ({"labels": LABELS * np.nan}, ("labels has entries other than 0 and 1",)),
    ({"labels": LABELS * 0.5}, ("labels has entries other than 0 and 1",)),
    ({"labels": LABELS.astype(str)}, ("labels has entries other than 0 and 1",)),
    ({"labels": LABELS[:, 0]}, ("labels has shape (6,)", "give one row per sample, one column per label, 0 or 1")),
    ({"labels": LABELS[:, :0]}, ("labels has shape (6, 0)", "one column per label")),
    ({"labels": LABELS[None]}, ("labels has shape (1, 6, 3)",)),
    ({"labels": 1}, ("labels has shape ()",)),
    ({"labels": LABELS[:-1]}, ("labels has 5 rows, the kernels are 6 by 6", "give one row per sample")),
    ({"labels": LABELS.T}, ("labels has 3 rows, the kernels are 6 by 6", "(samples seem to be in columns)")),
    ({"labels": [["red"], ["red", "blue"]]}, ("labels is ragged", "give one row per sample, one column per label")),
    ({"labels": [[1, None]] * N}, ("labels has missing or mixed entries", "give 0 or 1 for every sample and label")),
    ({"labels": LABELS, "label_names": NAMES[:2]}, ("label_names: 2 names for 3 labels", "give one per label")),
    ({"labels": LABELS, "label_names": []}, ("label_names: 0 names for 3 labels",)),
    ({"classes": CLASSES, "label_names": [*NAMES, "grey"]}, ("label_names: 4 names for 3 classes",)),
    ({"labels": LABELS, "label_names": ["red", "blue", "red"]}, ("label_names has 'red' twice", "a name of its own")),
    ({"labels": LABELS, "label_names": 3}, ("label_names are not a list of strings", "give one per label")),
    ({"labels": LABELS, "label_names": np.array("abc")}, ("label_names are not a list of strings",)),
    ({"labels": LABELS, "label_names": [b"\xff", b"b", b"c"]}, ("label_names are not a list of strings",)),
    ({"y": Y, "label_names": ["no", "yes"]}, ("label_names are given for y", "leave them out")),
    ({"y": Y, **TESTED, "test_y": Y[:2]}, ("test_y has 2 labels for 6 rows of test_kernels", "give one per row")),
    ({"classes": CLASSES, **TESTED, "test_classes": CLASSES[:2]}, ("test_classes has 2 entries for 6 rows",)),
    ({"labels": LABELS, **TESTED, "test_labels": LABELS[:2]}, ("test_labels has 2 rows for 6 rows of test_kernels",)),
    ({"labels": LABELS, **TESTED, "test_labels": LABELS[:, :2]}, ("test_labels has 2 columns for 3 labels",)),
    ({"labels": LABELS, "test_kernels": K, "test_labels": LABELS[:, 0]}, ("test_labels has shape (6,)",)),
    ({"labels": LABELS, "test_kernels": K, "test_labels": -LABELS}, ("test_labels has entries other than 0 and 1",)),
    ({"classes": CLASSES, "test_kernels": K, "test_classes": LABELS}, ("test_classes has shape (6, 3)",)),
    ({"classes": CLASSES, **TESTED, "test_classes": [0, 1, None, 1, 2, 2]}, ("has missing or mixed entries",)),
    ({"response": R[:-1]}, ("response has 5 rows, the kernels are 6 by 6", "give one number per sample, shape (n,)")),
    ({"response": OUTPUTS.T}, ("response has 3 rows", "(samples seem to be in columns)")),
    ({"response": OUTPUTS[None]}, ("response has shape (1, 6, 3)", "one column per output, shape (n, k)")),
    ({"response": OUTPUTS[:, :0]}, ("response has shape (6, 0)",)),
    ({"response": 1.5}, ("response has shape ()",)),
    ({"response": []}, ("response has 0 rows",)),
    ({"response": [[1.0], [1.0, 2.0]]}, ("response is ragged",)),
    ({"response": np.where(R == 3, np.nan, R)}, ("response has the entry nan at [2]", "give a finite number")),
    ({"response": np.where(OUTPUTS == 3, np.inf, OUTPUTS)}, ("response has the entry inf at [2, 0]",)),
    ({"response": np.full(N, np.longdouble("1e4000"))}, ("response has the entry inf at [0]",)),
    ({"response": R * 1j}, ("response has dtype complex128", "give real numbers")),
    ({"response": list("abcdef")}, ("response has dtype <U1", "give real numbers, or y or classes for labels")),
    ({"response": R > 0}, ("response has booleans", "or y or classes for labels")),
    ({"response": [*R[:-1], None]}, ("response has missing or mixed entries", "give a finite number for every sample")),
    ({"response": np.ma.masked_equal(R, 3)}, ("response: entries are masked",)),
    ({"response": np.array(["2001-01-01"] * N, dtype="M8[D]")}, ("response has missing or mixed entries",)),
    ({"response": R * 1e100}, ("response has the largest entry 7e+100, beyond 1e±100", "divide it by a constant")),
    ({"response": R * 1e-101}, ("response has the largest entry 7e-101, beyond 1e±100", "multiply it by a constant")),
    ({"response": "response"}, ("response has shape ()",)),
    ({"response": {"a": 1}}, ("response has shape ()",)),
    ({"response": R, "y": Y}, ("give one of y, classes, labels and response", "y and response given")),
    ({"y": Y, "classes": CLASSES}, ("give one of y, classes, labels and response", "y and classes given")),
    ({"classes": CLASSES, "labels": LABELS}, ("classes and labels given",)),
    ({"y": Y, "classes": CLASSES, "labels": LABELS}, ("y and classes and labels given",)),
    ({"response": R, "label_names": ["a", "b"]}, ("label_names: 2 names for 1 outputs", "give one per output")),
    ({"response": OUTPUTS, "label_names": ["a"]}, ("label_names: 1 names for 3 outputs",)),
    ({"response": OUTPUTS, "label_names": ["a", "b", "a"]}, ("label_names has 'a' twice", "every output a name")),
    ({"label_names": ["a"]}, ("label_names are given without targets", "leave them out")),
    ({"response": R, "class_weight": "balanced"}, ("class_weight needs y, the instance has a response",)),
    ({"class_weight": "balanced"}, ("class_weight needs y, the instance has no targets", "give sample_weight")),
    ({"y": R}, ("y has labels", "give real targets as response")),
    ({"response": R, **NEW, "test_y": [1, 1, -1]}, ("test_y is given where the training samples have response",)),
    ({**NEW, "test_response": R[:T]}, ("where the training samples have no targets: give test_y, +1 for samples",)),
    ({"test_kernels": TEST, "test_y": [1, 0, 1]}, ("test_y has labels 0, 1, not −1 and +1",)),
    ({"test_kernels": TEST, "test_y": [1, 1]}, ("test_y has 2 labels for 3 rows of test_kernels",)),
    ({"response": R, **NEW, "test_response": R}, ("test_response has 6 rows for 3 rows of test_kernels",)),
    ({"response": R, **NEW, "test_response": OUTPUTS[:T]}, ("test_response has 3 columns for 1 outputs",)),
    ({"response": OUTPUTS, **NEW, "test_response": R[:T]}, ("test_response has 1 columns for 3 outputs",)),
    ({"response": OUTPUTS, **NEW, "test_response": OUTPUTS[:T] * np.nan}, ("has the entry nan at [0, 0]",)),
    ({"response": R, **NEW, "test_response": R[:T], "test_y": [1, 1, 1]}, ("are given: give test_response alone",)),
    ({"test_kernels": TEST, "test_labels": OUTPUTS, "test_y": [1, 1, 1]}, ("are given: give test_y alone",)),
]


@pytest.mark.parametrize(("given", "words"), REFUSED, ids=range(len(REFUSED)))
def test_targets_that_cannot_be_used_are_refused(given, words):
    with check_refused(*words, limit=300):
        Instance(K, **given)
