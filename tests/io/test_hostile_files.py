"""Files made to harm: that grow, refer to themselves, to other files or to code, or are not what they say."""

import io
import json
import struct
import zipfile
import zlib

import h5py
import numpy as np
import pytest
import scipy.io

from matlab_files import COLUMN, IN_MATLAB, K, Version73, cells
from mklcvx import InputError, Instance
from mklcvx.io import files, json_text, machine_files, matlab_apart
from mklcvx.io.archives import Archive
from mklcvx.io.folders import numbers
from mklcvx.solvers.one_against import solve_by_machines
from refusals import check_refused, refused_within
from stacks import FOR_FILES


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.mat"


def hdf5_file(path, put):
    """A file of version 7.3 with y, and kernels that `put` puts there."""
    with h5py.File(path, "w", userblock_size=512) as file:
        file["y"] = COLUMN.T
        put(file)
    Version73.head(path)
    return path


def kernels_from(path):
    return files.load_instance(path, variables={"kernels": "kernels"}).kernels


def kernels_of(path, limit=None):
    return matlab_apart.read_apart(path, lambda listing: {"kernels": ("kernels",)}, limit)[0]["kernels"]


# ------------------------------------------------------------------------------------------------------- archives
def packed(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def array_file(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


@pytest.mark.parametrize("read", [files.load_instance, files.load_solution, machine_files.load_answer, files.load_test])
def test_a_member_that_is_no_array_is_refused_by_every_reader(tmp_path, read):
    (tmp_path / "a.npz").write_bytes(packed(**{"y.npy": array_file(COLUMN), "read\nme.txt": b"x", "record": b"{}"}))
    with check_refused("a.npz: its member 'read\\nme.txt' is no array (.npy): write it with numpy.savez"):
        read(tmp_path / "a.npz")


def test_an_array_that_occurs_twice_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("y.npy", array_file(COLUMN))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("y.npy", array_file(COLUMN))
    with check_refused("a.npz: has two members 'y.npy'"):
        Archive(tmp_path / "a.npz")


def test_members_that_overlap_are_refused(tmp_path):
    """The names of a directory of many members, all of which are the same bytes."""
    content = bytearray(packed(**{f"{i}.npy": array_file(np.zeros(10**5)) for i in "ab"}))
    first = content.find(b"PK\x01\x02")
    second = content.find(b"PK\x01\x02", first + 4)
    size = struct.unpack_from("<I", content, first + 20)[0]
    content[first + 20 : first + 24] = struct.pack("<I", len(content))
    assert size < len(content)
    (tmp_path / "a.npz").write_bytes(content)
    assert second > first
    with check_refused("a.npz: damaged", "members overlap"):
        Archive(tmp_path / "a.npz")


def test_a_type_without_bytes_has_no_million_entries(tmp_path):
    header = array_file(np.zeros(3, "U1")).replace(b"'<U1'", b"'<U0'").replace(b"(3,), }     ", b"(999999999,)}")
    (tmp_path / "a.npz").write_bytes(packed(**{"names.npy": header[: -3 * 4]}))
    with check_refused("a.npz: damaged", "is not as large as its header says"):
        Archive(tmp_path / "a.npz")


# ------------------------------------------------------------------------------------------------------ version 5
def test_variables_are_added_up(path, monkeypatch):
    scipy.io.savemat(path, {f"K{i}": np.zeros((300, 300)) for i in (1, 2, 3)}, do_compression=True)
    monkeypatch.setattr(json_text, "memory", lambda: 2e6)  # two of them would fit
    assert refused_within(lambda: files.load_instance(path), "file.mat: unpacks to 2.16 MB, more than fits into") < 1e6


def element(code, content):
    return struct.pack("<II", code, len(content)) + content + bytes(-len(content) % 8)


def variable(kind, shape, name, *parts):
    head = element(6, struct.pack("<II", kind, 0)) + element(5, np.array(shape, "<i4").tobytes()) + element(1, name)
    return element(14, head + b"".join(parts))


def mat5_file(path, *variables):
    packed = [zlib.compress(one) for one in variables]
    start = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
    path.write_bytes(start + b"".join(struct.pack("<II", 15, len(one)) + one for one in packed))
    return path


LARGE = 2**31 - 1
BOMBS = {
    "text": variable(4, (1, LARGE), b"kernels", element(16, b"")),
    "numbers": variable(6, (LARGE, LARGE), b"kernels", element(9, bytes(8))),
    "cells": variable(1, (LARGE, LARGE), b"kernels"),
    "sparse": variable(
        5,
        (LARGE, 2),
        b"kernels",
        element(5, bytes(4)),
        element(5, np.array([0, 1, 1], "<i4").tobytes()),
        element(9, bytes(8)),
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_dimensions_without_contents_take_no_memory(path, bomb):
    mat5_file(path, BOMBS[bomb])
    assert refused_within(lambda: kernels_from(path), "file.mat: ") < 1e6


def test_two_variables_of_one_name_are_refused(path):
    arrays = np.eye(2), K[0, :2, :2]
    mat5_file(path, *(variable(6, (2, 2), b"kernels", element(9, array.tobytes())) for array in arrays))
    with check_refused("file.mat: not a readable MATLAB file (ValueError: ValueError: two variables 'kernels')"):
        kernels_from(path)


def test_others_are_not_unpacked(path):
    broken = zlib.compress(variable(6, (2, 2), b"other", element(9, bytes(10**5))))
    mat5_file(path, variable(6, (2, 2), b"kernels", element(9, np.eye(2).tobytes())))
    with path.open("ab") as file:
        file.write(struct.pack("<II", 15, len(broken) - 9) + broken[:-9])  # its head can be read, its end not
    np.testing.assert_array_equal(kernels_of(path), np.eye(2))


# ---------------------------------------------------------------------------------------------------- version 7.3
def filled(file, count=3, size=(4000, 4000)):
    """Cells that refer to one matrix of a fill value, as often as it says: a few kilobytes."""
    matrix = file.create_dataset("#refs#/a", size, "f8", fillvalue=1.0, chunks=(100, 100))
    cell = file.create_dataset("kernels", (count, 1), h5py.ref_dtype)
    cell[...] = np.array([matrix.ref] * count, h5py.ref_dtype)[:, None]
    cell.attrs["MATLAB_class"] = np.bytes_("cell")


def test_fill_values_count_as_numbers(path, monkeypatch):
    monkeypatch.setattr(json_text, "memory", lambda: 1e8)
    with check_refused("file.mat: unpacks to 384 MB, more than fits into memory"):
        kernels_of(hdf5_file(path, filled))


def test_references_are_added_up_before_anything_is_read(path, monkeypatch):
    def put(file):
        filled(file, 40, (100, 100))
        file["#refs#/a"][...] = 1.0

    monkeypatch.setattr(json_text, "memory", lambda: 5e6)
    with check_refused("file.mat: would need 6.42 MB, more than fits into memory"):
        kernels_of(hdf5_file(path, put))
    with check_refused("file.mat: unpacks to 3.21 MB, at most 1 MB can belong here"):
        kernels_of(path, limit=1e6)


def test_cells_in_cells_are_not_followed(path):
    """Twenty levels of twenty references each, to the level below."""

    def put(file):
        inner = file.create_dataset("#refs#/0", data=K[0])
        for level in range(1, 20):
            cell = file.create_dataset(f"#refs#/{level}" if level < 19 else "kernels", (20, 1), h5py.ref_dtype)
            cell[...] = np.array([inner.ref] * 20, h5py.ref_dtype)[:, None]
            cell.attrs["MATLAB_class"] = np.bytes_("cell")
            inner = cell

    assert [one.size for one in kernels_of(hdf5_file(path, put))] == [0] * 20


def test_links_in_circles_and_long_ways_are_refused(path):
    def circle(file):
        file["kernels"], file["other"] = h5py.SoftLink("/other"), h5py.SoftLink("/kernels")

    def long_way(file):
        file.create_group("a")["a"] = file["/"]
        file["kernels"] = h5py.SoftLink("/a" * 20_000)

    for put in (circle, long_way):
        with check_refused("file.mat: "):
            kernels_from(hdf5_file(path, put))


def test_compressed_kernels_are_read(path):
    def put(file):
        file.create_dataset("kernels", data=IN_MATLAB.T, compression="gzip", shuffle=True, fletcher32=True, chunks=True)

    np.testing.assert_array_equal(files.load_instance(hdf5_file(path, put)).kernels, K)


def test_a_reader_that_comes_to_no_end_is_ended(path, monkeypatch):
    monkeypatch.setattr(
        matlab_apart, "PROGRAM", "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile 1: 0"
    )
    Version73.write(path, {"kernels": cells(*K), "y": COLUMN})
    with check_refused("file.mat: not a readable MATLAB file", "its reader came to no end"):
        files.load_instance(path)


# ---------------------------------------------------------------------------------------------------------- texts
def test_a_table_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    file = tmp_path / "y.csv"
    file.write_text("1\n", encoding="utf-8")

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(file), "read_text", denied)
    with check_refused("y.csv: cannot be read (Permission denied): check the file"):
        numbers(file)


def test_names_with_control_characters_do_not_reach_the_message(tmp_path):
    np.savez(tmp_path / "a.npz", **{"kern\x1b[2J\nels": np.eye(2)})
    for name in ("a.npz", "b\x07\u2028.npz"):
        with pytest.raises(InputError) as caught:
            files.load_test(tmp_path / name)
        assert str(caught.value).isprintable()


def test_a_count_of_samples_is_not_believed(tmp_path):
    """It was the size of an array before it was compared with the machines."""
    instance = Instance(FOR_FILES.kernels, classes=np.repeat([0, 1, 2, 2], 2))
    record = solve_by_machines(instance, "l1", "ovr").as_dict()
    for count in (10**18, 7, "8"):
        (tmp_path / "a.json").write_text(json.dumps({**record, "samples": count}), encoding="utf-8")
        with check_refused("a.json: incomplete or damaged"):
            machine_files.load_answer(tmp_path / "a.json")
