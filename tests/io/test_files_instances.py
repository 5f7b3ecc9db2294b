"""Instances' files: what is written comes back the same; what is damaged or hostile is refused in a line."""

import os
import pickle
import struct
import zipfile

import numpy as np
import pytest

from mklcvx import InputError, solve, zoo
from mklcvx.io import json_text
from mklcvx.io.files import READABLE, load_instance, load_test, save_instance, save_solution
from refusals import check_refused
from stacks import FOR_FILES

N, M = 8, 3
Y, K, RNG = FOR_FILES.y, FOR_FILES.kernels, FOR_FILES.rng
TEST = FOR_FILES.test_kernels


# ------------------------------------------------------------------------------------------------- round trips
def test_an_instance_written_with_numpy_alone_is_read(tmp_path):
    np.savez(tmp_path / "plain.npz", kernels=K, y=Y, names=np.array([b"a", b"b", b"c"]), comment="unused")
    assert load_instance(tmp_path / "plain.npz").names == ("a", "b", "c")


def test_files_are_named_by_text_or_by_path(path):
    assert load_instance(str(path)).count == M
    assert load_instance(path).count == M


# ------------------------------------------------------------------------------------- what is no instance's file
def test_missing_file_is_refused(tmp_path):
    with check_refused("nowhere.npz: no such file: check the path"):
        load_instance(tmp_path / "nowhere.npz")
    with check_refused("3 is not a path: give the name of"):
        load_instance(3)


@pytest.mark.parametrize("name", ["pipe.npz", "pipe.json", "pipe.mat"])
def test_pipe_is_refused_rather_than_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with check_refused(f"{name}: is not an ordinary file: give {READABLE}"):
        load_instance(tmp_path / name)


def test_name_too_long_for_the_system_is_refused():
    with check_refused("cannot be opened", "check the path"):
        load_instance("a" * 300 + ".npz")


@pytest.mark.parametrize("name", ["problem.csv", "problem", "problem.npz.gz", "problem.NPZ"])
def test_other_endings_are_refused(path, name):
    other = path.rename(path.parent / name)
    with check_refused("unknown kind of file", "give a .npz, .mat or .json file, or a folder of .csv files"):
        load_instance(other)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("is empty", "copy or write it again")),
        (b"\x00" * 100, ("is not an .npz archive", "numpy.savez")),
        (RNG.bytes(3000), ("is not an .npz archive", "numpy.savez")),
        (b"PK\x03\x04 but no more", ("damaged, perhaps truncated", "copy or write it again")),
        (b"PK\x05\x06" + bytes(18), ("no array 'kernels' (found nothing)",)),
        (pickle.dumps({"kernels": [1.0], "y": [1]}), ("holds pickled objects, which are refused", "plain numeric")),
        (pickle.dumps({"kernels": [1.0]}, protocol=2), ("holds pickled objects, which are refused",)),
        (b"kernels,y\n1,1\n", ("is not an .npz archive",)),
    ],
)
def test_bytes_that_are_no_archive_are_refused(tmp_path, content, words):
    (tmp_path / "file.npz").write_bytes(content)
    with check_refused("file.npz: ", *words):
        load_instance(tmp_path / "file.npz")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99])
def test_truncated_file_is_refused(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with check_refused("problem.npz: damaged, perhaps truncated", "copy or write it again"):
        load_instance(path)


class Trap:
    """Unpickling this would leave a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_object_arrays_are_refused_and_nothing_in_them_is_executed(tmp_path):
    trap = np.empty(1, dtype=object)
    trap[0] = Trap(tmp_path / "sprung")
    np.savez(tmp_path / "objects.npz", kernels=trap, y=Y)
    with check_refused("objects.npz: holds pickled objects, which are refused", "store plain numeric arrays"):
        load_instance(tmp_path / "objects.npz")
    (tmp_path / "real.npz").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with check_refused("real.npz: holds pickled objects"):
        load_instance(tmp_path / "real.npz")
    assert not (tmp_path / "sprung").exists()


def header(shape, dtype="<f8"):
    """The first bytes of a `.npy` file that promises this much."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)


@pytest.mark.parametrize("shape", [(3, 8, 8), (10**6, 10**6, 10**3), (10**30, 1, 1), (-1, 8, 8)])
def test_header_that_promises_more_than_there_is_is_refused(tmp_path, shape):
    archive(tmp_path / "promise.npz", kernels=header(shape) + bytes(100), y=header((8,)) + Y.tobytes())
    with check_refused("promise.npz: damaged"):
        load_instance(tmp_path / "promise.npz")


def test_header_that_is_no_dictionary_is_refused(tmp_path):
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", 30) + b"__import__('os').system('ls')\n"
    archive(tmp_path / "code.npz", kernels=content)
    with check_refused("code.npz: damaged"):
        load_instance(tmp_path / "code.npz")


def test_archive_that_unpacks_to_more_than_memory_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    archive(tmp_path / "bomb.npz", kernels=header((10**6,)) + bytes(8 * 10**6))
    assert (tmp_path / "bomb.npz").stat().st_size < 10**5
    monkeypatch.setattr(json_text, "memory", lambda: 1e6)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("unpacked"))
    with check_refused("bomb.npz: 'kernels' unpacks to 8 MB, more than fits into memory"):
        load_instance(tmp_path / "bomb.npz")


def test_encrypted_archive_is_refused(path):
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02")
    content[at + 8] |= 1
    content[6] |= 1
    path.write_bytes(content)
    with check_refused("problem.npz: damaged", "encrypted"):
        load_instance(path)


# -------------------------------------------------------------------------------------------------- wrong contents
@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"K": K[:, :5], "y": Y}, ("no array 'kernels' (found K 3×5×8, y 8)", "store the stack under that name")),
        ({}, ("no array 'kernels' (found nothing)",)),
        ({"kernels": K, "responses": Y}, ("array 'responses' is not known: did you mean 'response'?",)),
        ({"kernels": K, "y": Y, "classes": Y}, ("give one of y, classes, labels and response: y and classes given",)),
        ({"kernels": K, "classes": [b"\xff"] * N}, ("classes has strings that are not UTF-8",)),
        ({"kernels": K, "y": 2 * Y}, ("y has whole numbers that could be classes or a response", "'classes': 'y'")),
        ({"kernels": K, "y": Y / 2}, ("y has labels -0.5, 0.5, not −1 and +1", "give real targets as response")),
        ({"kernels": K, "y": Y, "schema": "mklcvx.instance/9"}, ("schema 'mklcvx.instance/9' is not",)),
        ({"kernels": np.zeros((3, 8, 8), dtype="f8,i4"), "y": Y}, ("kernels have dtype", "give real numbers")),
    ],
)
def test_wrong_contents_are_refused_with_the_files_name(tmp_path, arrays, words):
    np.savez(tmp_path / "file.npz", **arrays)
    with check_refused("instance ", "file.npz: ", *words):
        load_instance(tmp_path / "file.npz")


def test_members_that_are_no_arrays_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "text.npz", "w") as file:
        file.writestr("kernels", "1 0 0 1")
        file.writestr("y", "1 -1")
    with check_refused("text.npz: its member 'kernels' is no array (.npy): write it with numpy.savez"):
        load_instance(tmp_path / "text.npz")


def test_test_file_needs_test_kernels(path):
    with check_refused("test ", "problem.npz: no array 'test_kernels' (found groups 3, kernels 3×8×8,", "store (M, t"):
        load_test(path)


def test_a_slip_in_a_name_is_noticed_and_a_stranger_is_left_alone(tmp_path):
    instance = zoo.random(6, 2)
    np.savez(tmp_path / "slip.npz", kernels=instance.kernels, y=instance.y, sampleweight=np.ones(6))
    with pytest.raises(InputError, match="array 'sampleweight' is not known: did you mean 'sample_weight'"):
        load_instance(tmp_path / "slip.npz")
    np.savez(tmp_path / "stranger.npz", kernels=instance.kernels, y=instance.y, notes_of_mine=np.ones(6))
    assert load_instance(tmp_path / "stranger.npz").count == 2


def test_arguments_that_are_the_wrong_way_round_are_refused(tmp_path):
    instance = zoo.by_hand()
    with check_refused("argument is a Instance, not a file: give save_instance('problem.npz', instance)"):
        save_instance(instance, tmp_path / "problem.npz")
    with check_refused("argument is a Solution, not a file: give save_solution('answer.json', solution)"):
        save_solution(solve(instance, "l1"), tmp_path / "answer.json")


def test_flipped_bits_are_noticed(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(content)
    with check_refused("problem.npz: damaged"):
        load_instance(path)
