"""The papers' measures, with numbers computed by hand."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from mklcvx.estimators.metrics import f1, filtered, mcc, mean_average_precision, mean_class_accuracy, pr_auc, sure
from refusals import check_refused

# Ranked down: hit, miss, hit, miss. Precision 1, ½, ⅔, ½ at recall ½, ½, 1, 1.
Y, VALUES = np.array([1, -1, 1, -1]), np.array([0.9, 0.8, 0.7, 0.1])
TRUE = np.array(["a", "a", "a", "b", "b", "c"])
GIVEN = np.array(["a", "a", "b", "b", "c", "c"])


def test_average_precision_by_hand():
    assert mean_average_precision(Y, VALUES) == pytest.approx((1 + 2 / 3) / 2)


def test_area_by_hand():
    """Trapezia from recall 0 to ½ at precision 1, then from ½ to ⅔ at recall ½ … 1."""
    assert pr_auc(Y, VALUES) == pytest.approx(0.5 * 1 + 0.5 * (1 / 2 + 2 / 3) / 2)


def test_rankings_average_over_classes():
    labels = np.array([[1, 0], [0, 0], [1, 1], [0, 0]])
    values = np.column_stack([VALUES, [0.1, 0.2, 0.9, 0.3]])  # the second class is ranked without fault
    assert mean_average_precision(labels, values) == pytest.approx((5 / 6 + 1) / 2)
    assert pr_auc(labels, values) == pytest.approx((pr_auc(Y, VALUES) + 1) / 2)
    classes = np.array(["x", "z", "x", "z"])
    columns = np.column_stack([VALUES, -VALUES])
    both = (mean_average_precision(Y, VALUES) + mean_average_precision(-Y, -VALUES)) / 2
    assert mean_average_precision(classes, columns) == pytest.approx(both)
    padded = np.column_stack([VALUES, np.zeros(4), -VALUES])  # a class that the test samples lack
    assert mean_average_precision(classes, padded, classes=["x", "y", "z"]) == pytest.approx(both)


def test_mcc_by_hand():
    """a: TP 2, FN 1, FP 0, TN 3. b: TP 1, FN 1, FP 1, TN 3. c: TP 1, FN 0, FP 1, TN 4."""
    parts = [6 / sqrt(2 * 3 * 3 * 4), (3 - 1) / sqrt(2 * 2 * 4 * 4), 4 / sqrt(2 * 1 * 5 * 4)]
    assert mcc(TRUE, GIVEN) == pytest.approx(np.mean(parts))
    assert mcc(TRUE, TRUE) == pytest.approx(1)
    assert mcc(Y, -Y) == pytest.approx(-1)
    assert mcc(TRUE, np.array(["a"] * 6)) == 0


def test_mean_class_accuracy_by_hand():
    assert mean_class_accuracy(TRUE, GIVEN) == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert mean_class_accuracy(TRUE, GIVEN, classes=["a", "b", "c", "d"]) == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert mean_class_accuracy([[1, 0], [1, 1], [0, 1]], [[1, 1], [0, 1], [1, 0]]) == pytest.approx(0.5)


def test_f1_by_hand():
    macro, micro = f1(TRUE, GIVEN)
    assert macro == pytest.approx((4 / 5 + 2 / 4 + 2 / 3) / 3)
    assert micro == pytest.approx(4 / 6)
    macro, micro = f1([[1, 0], [1, 1], [0, 1]], [[1, 1], [0, 1], [1, 0]])
    assert (macro, micro) == (pytest.approx((2 / 4 + 2 / 4) / 2), pytest.approx(4 / 8))


def test_the_least_sure_are_left_out():
    values = np.array([[3.0, 1.0, 0.0], [2.0, 1.9, -1.0], [0.0, 0.5, 4.0], [1.0, 0.7, 0.1]])
    assert sure(values, 0.25).tolist() == [True, False, True, True]
    assert sure(values, 0.5).tolist() == [True, False, True, False]
    assert sure(values, 0).all()
    assert sure(np.array([-2.0, 0.1, 0.5, -0.2]), 0.5).tolist() == [True, False, True, False]
    assert sure(np.ones(100), 0.133).sum() == 87
    assert sure(np.ones(2), 0.99).tolist() == [True, False]


def test_filtered_measures_count_the_classes_of_all_samples():
    values = np.array([[2, 0, 0], [2, 0, 0], [1.0, 1.1, 0], [0, 2, 0], [0, 1.0, 1.2], [0, 0, 2.0]])
    assert filtered(f1, TRUE, GIVEN, values, share=1 / 3) == (1.0, 1.0)
    assert filtered(mean_class_accuracy, TRUE, GIVEN, values, share=1 / 6) == pytest.approx((1 + 1 / 2 + 1) / 3)
    last = np.array([[9, 0, 0]] * 5 + [[0, 0, 0.1]])  # the only sample of class c is left out: its F1 counts 0
    assert filtered(f1, TRUE, TRUE, last, share=1 / 6)[0] == pytest.approx(2 / 3)


def test_bad_input_is_refused():
    with check_refused("truth has shape (6,), predicted (4,)"):
        mcc(TRUE, Y)
    with check_refused("words, or both as numbers"):
        f1(np.array(["0", "1"]), np.array([0, 1]))
    with check_refused("values (t,) rank one class", "(t, k)"):
        pr_auc(TRUE, np.zeros(6))
    with check_refused("values of shape (6, 2)", "classes"):
        pr_auc(TRUE, np.zeros((6, 2)))
    with check_refused("no sample of any class"):
        mean_average_precision(np.zeros((3, 2)), np.zeros((3, 2)))
    with check_refused("share = 1.0"):
        sure(VALUES, 1.0)
    with check_refused("values of shape ()"):
        sure(1.0, 0.1)
    with check_refused("4 true and 4 predicted for 3 values"):
        filtered(f1, Y, Y, VALUES[:3])


@pytest.mark.parametrize("measure", [pr_auc, mean_average_precision])
def test_samples_of_one_class_are_not_taken_for_the_class_that_is_ranked(measure):
    for truth in (-np.ones(4), np.zeros(4), np.array([False] * 4)):
        with check_refused("no sample of any class"):
            measure(truth, VALUES)
    assert measure(np.ones(4), VALUES) == 1
    with check_refused("one class", "classes"):
        measure(np.array(["a"] * 4), VALUES)
    with check_refused("no sample of any class"):
        measure(np.array(["a"] * 4), VALUES, classes=["a", "b"])
    with check_refused("truth has shape (0,)"):
        measure([], [])


def test_words_may_be_objects_and_nothing_else_may():
    assert mean_class_accuracy(TRUE.astype(object), GIVEN) == mean_class_accuracy(TRUE, GIVEN)
    assert mcc(TRUE, GIVEN.astype(object)) == mcc(TRUE, GIVEN)
    assert pr_auc(np.array(["n", "y", "y"], dtype=object), [0.1, 0.2, 0.3]) == 1
    assert mcc(np.array([1, 0], dtype=object), [1, 0]) == 1
    with check_refused("truth has", "None"):
        mcc(np.array([None, 1]), [1, 1])
    with check_refused("truth has", "nan"):
        f1([np.nan, 1.0], [1.0, 1.0])


def test_a_class_that_is_neither_met_nor_given_counts_0_in_mcc_without_a_warning():
    assert mcc(["a", "b"], ["a", "b"], classes=["a", "b", "c"]) == pytest.approx(2 / 3)
