"""MATLAB files as MATLAB people keep them, in both of MATLAB's formats, and damaged ones."""

from __future__ import annotations

import builtins
import struct
import sys
from contextlib import contextmanager

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from mklcvx import InputError
from mklcvx.files import load_instance, load_test

RNG = np.random.default_rng(11)
N, M, T = 6, 3, 4
Y = np.repeat([1, -1], N // 2)
FEATURES = RNG.normal(size=(M, N, 2)) + 0.5 * Y[:, None]
TEST_FEATURES = RNG.normal(size=(M, T, 2))
K = FEATURES @ FEATURES.transpose(0, 2, 1) + 0.5 * np.eye(N)
TEST = TEST_FEATURES @ FEATURES.transpose(0, 2, 1)
IN_MATLAB, TEST_IN_MATLAB = np.moveaxis(K, 0, 2), np.moveaxis(TEST, 0, 2)
COLUMN = Y[:, None].astype(float)
LABELS = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 0]])


@contextmanager
def refused(*words):
    """An InputError of one line with these words."""
    with pytest.raises(InputError) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    for word in words:
        assert word in message


def cells(*items, row=True):
    """A cell array."""
    array = np.empty((1, len(items)) if row else (len(items), 1), dtype=object)
    array.ravel()[:] = items
    return array


class Version5:
    """Files of `save`, written with SciPy."""

    @staticmethod
    def write(path, variables):
        scipy.io.savemat(path, variables)


class Version73:
    """Files of `save -v7.3`: HDF5 behind a header of 512 bytes, axes reversed, cells as references, text as codes."""

    @classmethod
    def write(cls, path, variables):
        with h5py.File(path, "w", userblock_size=512) as file:
            for name, value in variables.items():
                cls.put(file, name, value)
        cls.head(path)

    @staticmethod
    def head(path):
        with path.open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")

    @classmethod
    def put(cls, file, name, value):
        if isinstance(value, str):
            codes = np.array([[ord(letter)] for letter in value] or [0, 0], dtype=np.uint16 if value else np.uint64)
            item = cls.store(file, name, codes, "char")
            if not value:
                item.attrs["MATLAB_empty"] = np.uint8(1)
        elif isinstance(value, dict):
            item = file.create_group(name)
            for field, content in value.items():
                cls.put(item, field, content)
        elif np.asarray(value).dtype == object:
            inside = [cls.put(file.require_group("#refs#"), f"{name}{i}", v).ref for i, v in enumerate(np.ravel(value))]
            item = file.create_dataset(name, np.shape(value)[::-1], dtype=h5py.ref_dtype)
            item[...] = np.array(inside, dtype=h5py.ref_dtype).reshape(np.shape(value)[::-1])
            item.attrs["MATLAB_class"] = np.bytes_("cell")
        elif np.asarray(value).dtype == bool:
            item = cls.store(file, name, np.atleast_2d(value).T.astype(np.uint8), "logical")
        else:
            item = cls.store(file, name, np.atleast_2d(value).T, "double")
        return item

    @staticmethod
    def store(file, name, values, kind):
        item = file.create_dataset(name, data=values)
        item.attrs["MATLAB_class"] = np.bytes_(kind)
        return item


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


@pytest.mark.parametrize("row", [True, False])
def test_cell_array_of_names(saved, row):
    names = cells("age", "two words", "génes", row=row)
    assert load_instance(saved(kernels=IN_MATLAB, y=COLUMN, names=names)).names == ("age", "two words", "génes")


@pytest.mark.parametrize("row", [True, False])
def test_cell_array_of_kernels(saved, row):
    instance = load_instance(saved(kernels=cells(*K, row=row), test_kernels=cells(*TEST, row=row), y=COLUMN))
    np.testing.assert_array_equal(instance.kernels, K)
    np.testing.assert_array_equal(instance.test_kernels, TEST)


def test_single_kernel_is_a_matrix(saved):
    instance = load_instance(saved(kernels=K[1], y=COLUMN, test_kernels=TEST[1]))
    np.testing.assert_array_equal(instance.kernels, K[1:2])
    np.testing.assert_array_equal(instance.test_kernels, TEST[1:2])


def test_logical_kernels_are_zeros_and_ones(saved):
    blocks = np.kron(np.eye(2), np.ones((3, 3))) > 0
    np.testing.assert_array_equal(load_instance(saved(kernels=blocks, y=COLUMN)).kernels, blocks[None])


def test_logical_labels_are_refused_with_the_mapping(saved):
    with refused("problem.mat: y has labels 0, 1", "numpy.where(y == 1, 1, -1)"):
        load_instance(saved(kernels=IN_MATLAB, y=COLUMN > 0))


def test_logical_label_matrix_is_labels(saved):
    targets = load_instance(saved(kernels=IN_MATLAB, labels=LABELS > 0)).targets
    assert targets.kind == "labels"
    np.testing.assert_array_equal(targets.values, LABELS)


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


def test_single_label_is_a_column(saved):
    np.testing.assert_array_equal(
        load_instance(saved(kernels=IN_MATLAB, labels=LABELS[:, :1])).targets.values, LABELS[:, :1]
    )


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


@pytest.mark.parametrize("classes", [cells(*range(N)), cells("a", 1.0), cells("a", cells("b"))], ids=range(3))
def test_cells_that_are_no_words_are_no_classes(saved, classes):
    with refused("problem.mat: classes is no numeric array"):
        load_instance(saved(kernels=IN_MATLAB, classes=classes))


def test_label_names_of_another_number_are_refused(saved):
    with refused("problem.mat: label_names: 3 names for 2 labels"):
        load_instance(saved(kernels=IN_MATLAB, labels=LABELS, label_names=cells("a", "b", "c")))


def test_y_and_labels_together_are_refused(saved):
    with refused("problem.mat: give exactly one of y, classes and labels: y and labels given"):
        load_instance(saved(kernels=IN_MATLAB, y=COLUMN, labels=LABELS))


def test_other_variables_do_no_harm(saved):
    path = saved(kernels=IN_MATLAB, y=COLUMN, options={"C": 1.0, "name": "x"}, notes="text", more=cells(1.0, "a"))
    assert load_instance(path).count == M


def test_misspelt_variable_is_listed(saved):
    with refused("problem.mat: no array 'kernels' (found kernel, y)", "store the stack under that name"):
        load_instance(saved(kernel=IN_MATLAB, y=COLUMN))


# --------------------------------------------------------------------------------------------------------- refused
@pytest.mark.parametrize(
    ("kernels", "words"),
    [
        (K, ("kernels are 3×6×6", "n×n×M, kernel index last")),
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
    with refused("problem.mat: ", *words):
        load_instance(saved(kernels=kernels, y=COLUMN))


@pytest.mark.parametrize("y", ["labels", cells(1.0, -1.0), {"a": 1.0}], ids=["text", "cells", "struct"])
def test_labels_that_are_no_numbers_are_refused(saved, y):
    with refused("problem.mat: y "):
        load_instance(saved(kernels=IN_MATLAB, y=y))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_truncated_file_is_refused(saved, share):
    path = saved(kernels=IN_MATLAB, y=COLUMN, names=cells("a", "b", "c"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with refused("problem.mat: not a readable MATLAB file (", "): save it again"):
        load_instance(path)


@pytest.mark.parametrize("content", [b"", b"x", bytes(600), b"hello world, " * 50, RNG.bytes(2000)], ids=range(5))
def test_bytes_that_are_no_matlab_file_are_refused(tmp_path, content):
    (tmp_path / "file.mat").write_bytes(content)
    with refused("file.mat: not a readable MATLAB file (", "): save it again"):
        load_instance(tmp_path / "file.mat")


def test_flipped_bytes_are_refused_or_read_but_never_crash(saved):
    path = saved(kernels=IN_MATLAB, y=COLUMN, names=cells("a", "b", "c"))
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(content)
        for place in rng.integers(128, len(content), 4):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            load_instance(path)
        except InputError as fault:
            assert "\n" not in str(fault)  # noqa: PT017 - most damage is refused, some is harmless


def test_missing_file_and_folder_are_refused(tmp_path):
    with refused("nowhere.mat: no such file"):
        load_instance(tmp_path / "nowhere.mat")
    (tmp_path / "folder.mat").mkdir()
    with refused("folder.mat: is a folder"):
        load_instance(tmp_path / "folder.mat")


# ------------------------------------------------------------------------------------------------- version 5 only
@pytest.mark.parametrize("compressed", [False, True])
def test_compressed_or_not(tmp_path, compressed):
    scipy.io.savemat(tmp_path / "file.mat", {"kernels": IN_MATLAB, "y": COLUMN}, do_compression=compressed)
    np.testing.assert_array_equal(load_instance(tmp_path / "file.mat").kernels, K)


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
    with refused("kernels have dtype complex128", "give real numbers"):
        load_instance(tmp_path / "file.mat")


@pytest.mark.parametrize("code", [0, 8, 14, 15, 19, 20, 200, 60000])
def test_element_of_unknown_type_is_refused_rather_than_looked_up(tmp_path, code):
    """Such a code, in a file that is otherwise sound, ends SciPy's reader and the process with it."""
    path = tmp_path / "file.mat"
    scipy.io.savemat(path, {"kernels": IN_MATLAB, "y": COLUMN})
    content = bytearray(path.read_bytes())
    at = content.find(struct.pack("<II", 9, K.nbytes))
    content[at : at + 4] = struct.pack("<I", code)
    path.write_bytes(content)
    with refused("file.mat: not a readable MATLAB file (ValueError: "):
        load_instance(path)


def test_complex_matrix_without_imaginary_part_is_refused(tmp_path):
    path = tmp_path / "file.mat"
    scipy.io.savemat(path, {"kernels": IN_MATLAB, "y": COLUMN})
    content = bytearray(path.read_bytes())
    at = content.find(struct.pack("<III", 6, 8, 6))
    content[at + 9] |= 0x08
    path.write_bytes(content)
    with refused("file.mat: not a readable MATLAB file (ValueError: a matrix without its numbers)"):
        load_instance(path)


def test_sparse_indices_outside_the_matrix_are_refused(tmp_path):
    path = tmp_path / "file.mat"
    scipy.io.savemat(path, {"kernels": scipy.sparse.csc_array(K[0]), "y": COLUMN})
    content = bytearray(path.read_bytes())
    rows = np.tile(np.arange(N, dtype=np.int32), N).tobytes()
    at = content.find(rows)
    content[at : at + 4] = struct.pack("<i", 10**9)
    path.write_bytes(content)
    with refused("file.mat: not a readable MATLAB file ("):
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
    with refused("file.mat: a MATLAB v7.3 file, which needs h5py", "install mklcvx[matlab], or save with -v7"):
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
        with_text,
        with_more_than_any_memory,
    ],
)
def test_hostile_hdf5_is_refused(tmp_path, put):
    with h5py.File(tmp_path / "file.mat", "w", userblock_size=512) as file:
        file["y"] = COLUMN.T
        put(file)
    Version73.head(tmp_path / "file.mat")
    with refused("file.mat: "):
        load_instance(tmp_path / "file.mat")
