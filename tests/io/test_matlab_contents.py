"""MATLAB files as MATLAB people keep them, in both of MATLAB's formats, and damaged ones."""

import builtins
import os
import re
import struct
import sys

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from matlab_files import COLUMN, IN_MATLAB, LABELS, TEST, TEST_IN_MATLAB, K, M, N, T, Version73, Y, cells
from mklcvx.io.files import load_instance, load_test
from refusals import check_refused
from stacks import FOR_MATLAB

RNG = FOR_MATLAB.rng
REAL = np.column_stack([np.linspace(-1, 2, N), np.geomspace(1, 100, N)])


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


# ------------------------------------------------------------------------------------------------------------- versions
# ------------------------------------------------------------------------------------------------- version 5 only
def test_version_4(tmp_path):
    scipy.io.savemat(tmp_path / "file.mat", {"kernels": K[0], "y": COLUMN}, format="4")
    np.testing.assert_array_equal(load_instance(tmp_path / "file.mat").kernels, K[:1])


def test_names_as_rows_of_a_character_matrix(tmp_path):
    scipy.io.savemat(tmp_path / "file.mat", {"kernels": IN_MATLAB, "y": COLUMN, "names": ["a", "long", "c"]})
    assert load_instance(tmp_path / "file.mat").names == ("a", "long", "c")


def test_sparse_kernels_are_written_out(tmp_path):
    sparse = [scipy.sparse.csc_array(kernel) for kernel in K]
    scipy.io.savemat(tmp_path / "one.mat", {"kernels": sparse[0], "y": COLUMN})
    np.testing.assert_array_equal(load_instance(tmp_path / "one.mat").kernels, K[:1])
    scipy.io.savemat(tmp_path / "cells.mat", {"kernels": cells(K[0], *sparse[1:]), "y": COLUMN})
    np.testing.assert_array_equal(load_instance(tmp_path / "cells.mat").kernels, K)


def test_sparse_labels_are_written_out(tmp_path):
    scipy.io.savemat(tmp_path / "file.mat", {"kernels": IN_MATLAB, "labels": scipy.sparse.csc_array(LABELS > 0)})
    np.testing.assert_array_equal(load_instance(tmp_path / "file.mat").targets.values, LABELS)


def test_classes_as_rows_of_a_character_matrix(tmp_path):
    classes = ["cat", "cat", "mouse", "mouse", "owl", "owl"]
    scipy.io.savemat(tmp_path / "file.mat", {"kernels": IN_MATLAB, "classes": classes})
    assert load_instance(tmp_path / "file.mat").targets.names == ("cat", "mouse", "owl")


def test_complex_kernels_are_refused(tmp_path):
    scipy.io.savemat(tmp_path / "file.mat", {"kernels": IN_MATLAB * 1j, "y": COLUMN})
    with check_refused("kernels have dtype complex128", "give real numbers"):
        load_instance(tmp_path / "file.mat")


PLAIN, SPARSE = {"kernels": IN_MATLAB, "y": COLUMN}, {"kernels": scipy.sparse.csc_array(K[0]), "y": COLUMN}
ROWS, DOUBLES = np.tile(np.arange(N, dtype=np.int32), N).tobytes(), struct.pack("<II", 9, K.nbytes)
# Bytes that are there, and what is put so many bytes behind their begin. An element of unknown type, in a file that is
# otherwise sound, ends SciPy's reader and the process with it.
SPOILT = [
    *((PLAIN, DOUBLES, 0, struct.pack("<I", code)) for code in (0, 8, 14, 15, 19, 20, 200, 60000)),
    (PLAIN, struct.pack("<III", 6, 8, 6), 9, b"\x08"),  # complex, without an imaginary part
    (SPARSE, ROWS, 0, struct.pack("<i", 10**9)),  # an index outside the matrix
]


@pytest.mark.parametrize(("variables", "there", "behind", "put"), SPOILT, ids=range(len(SPOILT)))
def test_what_contradicts_itself_is_refused(tmp_path, variables, there, behind, put):
    path = tmp_path / "file.mat"
    scipy.io.savemat(path, variables)
    content = bytearray(path.read_bytes())
    at = content.find(there) + behind
    assert content[at : at + len(put)] != put
    content[at : at + len(put)] = put
    path.write_bytes(content)
    with check_refused("file.mat: not a readable MATLAB file ("):
        load_instance(path)


# ----------------------------------------------------------------------------------------------- version 7.3 only
def test_missing_h5py_is_said_with_the_remedy(tmp_path, monkeypatch):
    Version73.write(tmp_path / "file.mat", {"kernels": IN_MATLAB, "y": COLUMN})
    ordinary = builtins.__import__

    def without_h5py(name, *rest, **more):
        if name == "h5py":
            raise ImportError(name)
        return ordinary(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "h5py")
    monkeypatch.setattr(builtins, "__import__", without_h5py)
    with check_refused("file.mat: a MATLAB v7.3 file, which needs h5py", "install mklcvx[matlab], or save with -v7"):
        load_instance(tmp_path / "file.mat")


def test_version_5_does_without_h5py(tmp_path, monkeypatch):
    scipy.io.savemat(tmp_path / "file.mat", {"kernels": IN_MATLAB, "y": COLUMN})
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert load_instance(tmp_path / "file.mat").count == M


def test_hdf5_without_the_header_of_matlab_is_read_too(tmp_path):
    with h5py.File(tmp_path / "file.mat", "w") as file:
        file["kernels"], file["y"] = IN_MATLAB.T, COLUMN.T
    np.testing.assert_array_equal(load_instance(tmp_path / "file.mat").kernels, K)


def test_empty_name_is_empty(tmp_path):
    Version73.write(tmp_path / "file.mat", {"kernels": IN_MATLAB, "y": COLUMN, "names": cells("a", "", "c")})
    assert load_instance(tmp_path / "file.mat").names == ("a", "", "c")


def with_reference_to_itself(file):
    item = file.create_dataset("kernels", (1, 1), dtype=h5py.ref_dtype)
    item[0, 0] = item.ref


def with_empty_reference(file):
    file.create_dataset("kernels", (1, 1), dtype=h5py.ref_dtype)


def with_link_to_another_file(file):
    file["kernels"] = h5py.ExternalLink("/etc/passwd", "/kernels")


def with_soft_link_to_another_file(file):
    file["way"] = h5py.ExternalLink("/etc/passwd", "/kernels")
    file["kernels"] = h5py.SoftLink("/way/kernels")


def with_text(file):
    file["kernels"] = "text"


def with_more_than_any_memory(file):
    file.create_dataset("kernels", (10**5, 10**5, 10**4), chunks=(1, 100, 100), dtype="f8", compression="gzip")


@pytest.mark.parametrize(
    "put",
    [
        with_reference_to_itself,
        with_empty_reference,
        with_link_to_another_file,
        with_soft_link_to_another_file,
        with_text,
        with_more_than_any_memory,
    ],
)
def test_hostile_hdf5_is_refused(tmp_path, put):
    with h5py.File(tmp_path / "file.mat", "w", userblock_size=512) as file:
        file["y"] = COLUMN.T
        put(file)
    Version73.head(tmp_path / "file.mat")
    with check_refused("file.mat: "):
        load_instance(tmp_path / "file.mat")


def stored_elsewhere(file, place, name="names"):
    item = file.create_dataset(name, (64, 3), "u1", external=[(str(place), 0, 192)])
    item.attrs["MATLAB_class"] = np.bytes_("char")
    return item


def stored_elsewhere_behind_a_cell(file, place):
    item = file.create_dataset("names", (1, 3), dtype=h5py.ref_dtype)
    item[...] = stored_elsewhere(file, place, "#inside").ref


def linked(file, place):
    file["names"] = h5py.ExternalLink(str(place), "/names")


def linked_by_way_of_a_group(file, place):
    file.create_group("#group")["way"] = h5py.ExternalLink(str(place), "/")
    file["#group/again"] = h5py.SoftLink("way/names")
    file["names"] = h5py.SoftLink("/#group/again")


def virtual(file, place):
    layout = h5py.VirtualLayout((64, 3), "u1", maxshape=(None, 3))
    source = h5py.VirtualSource(str(place), "names", (64, 3), maxshape=(None, 3))
    layout[: h5py.h5s.UNLIMITED, :] = source[: h5py.h5s.UNLIMITED, :]
    file.create_virtual_dataset("names", layout)


@pytest.mark.parametrize("waiting", [False, True], ids=["file", "pipe"])
@pytest.mark.parametrize(
    "put", [stored_elsewhere, stored_elsewhere_behind_a_cell, linked, linked_by_way_of_a_group, virtual]
)
def test_nothing_is_read_from_another_file(tmp_path, put, waiting):
    """A pipe would be waited for without end."""
    secret = tmp_path / "secret"
    if waiting:
        os.mkfifo(secret)
    else:
        with h5py.File(secret, "w") as other:
            other["names"] = np.full((64, 3), ord("s"), dtype="u1")
    with h5py.File(tmp_path / "file.mat", "w", userblock_size=512) as file:
        file["kernels"], file["y"] = IN_MATLAB.T, COLUMN.T
        put(file, secret)
    Version73.head(tmp_path / "file.mat")
    with check_refused("file.mat: not a readable MATLAB file (", "save it again"):
        load_instance(tmp_path / "file.mat")


def test_links_inside_the_file_are_followed(tmp_path):
    Version73.write(tmp_path / "file.mat", {"y": COLUMN, "data": {"stack": IN_MATLAB}})
    with h5py.File(tmp_path / "file.mat", "r+") as file:
        file["data/short"] = h5py.SoftLink("stack")
        file["kernels"] = h5py.SoftLink("/data/short")
    np.testing.assert_array_equal(load_instance(tmp_path / "file.mat").kernels, K)
