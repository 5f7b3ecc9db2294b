"""MATLAB files as MATLAB people keep them, in both of MATLAB's formats, and damaged ones."""

import re

import numpy as np
import pytest

from matlab_files import COLUMN, IN_MATLAB, LABELS, TEST, TEST_IN_MATLAB, K, M, N, T, Version5, Version73, Y, cells
from mklcvx.io.files import load_instance, load_test
from refusals import check_refused
from stacks import FOR_MATLAB

RNG = FOR_MATLAB.rng
REAL = np.column_stack([np.linspace(-1, 2, N), np.geomspace(1, 100, N)])


@pytest.fixture(params=[Version5, Version73], ids=["v5", "v7.3"])
def saved(request, tmp_path):
    """Write variables to a file of either version; return its path."""

    def save(**variables):
        request.param.write(tmp_path / "problem.mat", variables)
        return tmp_path / "problem.mat"

    return save


# ------------------------------------------------------------------------------------------------------ as it comes
def test_kernels_come_with_their_index_last(saved):
    instance = load_instance(saved(kernels=IN_MATLAB, y=COLUMN))
    np.testing.assert_array_equal(instance.kernels, K)
    np.testing.assert_array_equal(instance.y, Y)


def test_asymmetric_test_kernels_come_the_right_way_round(saved):
    path = saved(kernels=IN_MATLAB, y=COLUMN, test_kernels=TEST_IN_MATLAB, test_y=np.array([[1.0, -1.0, 1.0, 1.0]]))
    instance = load_instance(path)
    np.testing.assert_array_equal(instance.test_kernels, TEST)
    np.testing.assert_array_equal(instance.test_y, [1, -1, 1, 1])
    content = load_test(path)
    np.testing.assert_array_equal(content["test_kernels"], TEST)
    np.testing.assert_array_equal(content["test_y"], [1, -1, 1, 1])
    assert "test_diagonals" not in content


@pytest.mark.parametrize("y", [COLUMN, COLUMN.T, COLUMN.astype(np.int8)], ids=["column", "row", "int8"])
def test_vectors_are_columns_or_rows(saved, y):
    instance = load_instance(saved(kernels=IN_MATLAB, y=y, groups=np.array([[1], [1], [2]]), sample_weight=abs(y) * 2))
    np.testing.assert_array_equal(instance.y, Y)
    np.testing.assert_array_equal(instance.groups, [0, 0, 1])
    np.testing.assert_array_equal(instance.sample_weight, np.full(N, 2.0))


@pytest.mark.parametrize("response", [REAL[:, :1], REAL[:, :1].T, REAL[:, :1].astype(np.float32)], ids=["c", "r", "f4"])
def test_a_response_is_a_column_or_a_row(saved, response):
    test = {"test_kernels": TEST_IN_MATLAB, "test_response": REAL[:T, :1]}
    instance = load_instance(saved(kernels=IN_MATLAB, response=response, **test))
    np.testing.assert_array_equal(instance.response, response.ravel())
    np.testing.assert_array_equal(instance.test_response, REAL[:T, 0])


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (cells("a", "b"), "response is not a numeric array"),
        (REAL * 1j, "response has dtype complex128"),
        (np.empty((0, 0)), "response has shape (0, 0)"),
    ],
    ids=range(3),
)
def test_a_response_that_cannot_be_used_is_refused(saved, response, words):
    with check_refused("problem.mat", words):
        load_instance(saved(kernels=IN_MATLAB, response=response))


@pytest.mark.parametrize("row", [True, False])
def test_cell_array_of_names(saved, row):
    names = cells("age", "two words", "génes", row=row)
    assert load_instance(saved(kernels=IN_MATLAB, y=COLUMN, names=names)).names == ("age", "two words", "génes")


@pytest.mark.parametrize("row", [True, False])
def test_cell_array_of_kernels(saved, row):
    instance = load_instance(saved(kernels=cells(*K, row=row), test_kernels=cells(*TEST, row=row), y=COLUMN))
    np.testing.assert_array_equal(instance.kernels, K)
    np.testing.assert_array_equal(instance.test_kernels, TEST)


def test_logical_labels_are_two_classes(saved):
    with pytest.warns(UserWarning, match=re.escape("read y as 2 classes (0, 1)")):
        targets = load_instance(saved(kernels=IN_MATLAB, y=COLUMN > 0)).targets
    np.testing.assert_array_equal(targets.values, COLUMN.ravel() > 0)


def test_labels_come_with_their_names_and_with_those_of_test_samples(saved):
    path = saved(
        kernels=IN_MATLAB,
        labels=LABELS,
        label_names=cells("red", "two words"),
        test_kernels=TEST_IN_MATLAB,
        test_labels=LABELS[:T] > 0,
    )
    instance = load_instance(path)
    assert instance.targets.names == ("red", "two words")
    np.testing.assert_array_equal(instance.test_targets, LABELS[:T])
    np.testing.assert_array_equal(load_test(path)["test_labels"], LABELS[:T])


def test_classes_are_numbers_in_a_column_or_a_row(saved):
    column = np.repeat([1.0, 2.0, 3.0], 2)[:, None]
    path = saved(
        kernels=IN_MATLAB, classes=column, test_kernels=TEST_IN_MATLAB, test_classes=np.array([[1.0, 2.0, 3.0, 3.0]])
    )
    instance = load_instance(path)
    np.testing.assert_array_equal(instance.targets.values, column.ravel())
    assert instance.targets.names == ("1", "2", "3")
    np.testing.assert_array_equal(instance.test_targets, [1, 2, 3, 3])


@pytest.mark.parametrize("row", [True, False])
def test_classes_are_words_in_a_cell_array(saved, row):
    path = saved(kernels=IN_MATLAB, classes=cells("cat", "cat", "dog", "dog", "owl", "owl", row=row))
    targets = load_instance(path).targets
    assert targets.names == ("cat", "dog", "owl")
    np.testing.assert_array_equal(targets.values, np.repeat(["cat", "dog", "owl"], 2))


def test_other_variables_do_no_harm(saved):
    path = saved(kernels=IN_MATLAB, y=COLUMN, options={"C": 1.0, "name": "x"}, notes="text", more=cells(1.0, "a"))
    assert load_instance(path).count == M


# ------------------------------------------------------------------------------------------------ refused
@pytest.mark.parametrize(
    ("kernels", "words"),
    [
        (K[:, :5], ("kernels are 3×5×6", "n×n×M, kernel index last")),
        (K[0, :4], ("kernels are 4×6", "n×n×M")),
        (cells(K[0], K[1][:4, :4]), ("kernels are of different sizes", "same samples")),
        (cells(K[0], "K2"), ("kernels hold something other than matrices", "store full numeric ones")),
        (cells(K[0], cells(K[1])), ("kernels hold something other than matrices",)),
        ("K1", ("kernels",)),
        ({"first": 1.0}, ("kernels",)),
        (-IN_MATLAB, ("kernel 'K1' (index 0) is not positive semidefinite",)),
        (IN_MATLAB * np.nan, ("entry nan at [0, 0]",)),
    ],
)
def test_kernels_that_are_no_stack_are_refused(saved, kernels, words):
    with check_refused("problem.mat: ", *words):
        load_instance(saved(kernels=kernels, y=COLUMN))


@pytest.mark.parametrize("y", ["labels", cells(1.0, -1.0), {"a": 1.0}], ids=["text", "cells", "struct"])
def test_labels_that_are_no_numbers_are_refused(saved, y):
    with check_refused("problem.mat: y "):
        load_instance(saved(kernels=IN_MATLAB, y=y))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_truncated_file_is_refused(saved, share):
    path = saved(kernels=IN_MATLAB, y=COLUMN, names=cells("a", "b", "c"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with check_refused("problem.mat: not a readable MATLAB file (", "): save it again"):
        load_instance(path)


@pytest.mark.parametrize("content", [b"", b"x", bytes(600), b"hello world, " * 50, RNG.bytes(2000)], ids=range(5))
def test_bytes_that_are_no_matlab_file_are_refused(tmp_path, content):
    (tmp_path / "file.mat").write_bytes(content)
    with check_refused("file.mat: not a readable MATLAB file (", "): save it again"):
        load_instance(tmp_path / "file.mat")


@pytest.mark.parametrize("classes", [cells(*range(N)), cells("a", 1.0), cells("a", cells("b"))], ids=range(3))
def test_cells_that_are_no_words_are_no_classes(saved, classes):
    with check_refused("problem.mat: classes is not a numeric array"):
        load_instance(saved(kernels=IN_MATLAB, classes=classes))
