"""Archives of which a member is a bomb, or has what Python cannot hold: what is not asked for is not unpacked."""

import zipfile

import numpy as np
import pytest

import mklcvx
from mklcvx import Instance, solve
from mklcvx.checker.files import arrays_of, read_solution
from mklcvx.cli.predict import read_features
from mklcvx.estimators.saving import is_model
from mklcvx.io import files, json_text, machine_files
from mklcvx.io.archives import Archive
from mklcvx.solvers.one_against import solve_by_machines
from refusals import check_refused, peak_of
from stacks import FOR_FILES

BOMB = np.zeros(2 * 10**7)  # 160 MB, in 160 KB
ROOM = 2e7  # bytes: a tenth of it, and more than what is read


def written(place):
    """Archives of every kind by name."""
    plain = Instance(FOR_FILES.kernels, FOR_FILES.y, test_kernels=FOR_FILES.test_kernels)
    classes = Instance(FOR_FILES.kernels, classes=np.repeat([0, 1, 2, 2], 2))
    files.save_instance(place / "instance.npz", plain)
    files.save_solution(place / "solution.npz", solve(plain, "l1"))
    machine_files.save_machines(place / "machines.npz", solve_by_machines(classes, "l1", "ovr"))
    X = np.random.default_rng(0).normal(size=(8, 2))
    mklcvx.save_model(place / "model.npz", mklcvx.MKLClassifier(kernels="linear").fit(X, FOR_FILES.y))
    np.savez(place / "features.npz", X=X)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The archives, each with a member beside its own that nobody has asked for."""
    place = tmp_path_factory.mktemp("archives")
    written(place)
    for file in place.iterdir():
        with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("zzz.npy", "w") as member:
            np.save(member, BOMB)
    return place


READERS = {
    "instance": files.load_instance, "test": files.load_test, "solution": files.load_solution,
    "answer": machine_files.load_answer, "machines": machine_files.load_machines, "model": mklcvx.load_model,
    "features": read_features, "is a model": is_model, "of the checker": arrays_of,
    "solution of the checker": read_solution, "machines of the checker": read_solution,
}  # fmt: skip
NAMES = {"test": "instance", "answer": "solution", "is a model": "model", "of the checker": "instance"}


@pytest.mark.parametrize("reader", READERS)
def test_a_bomb_that_is_not_asked_for_is_not_unpacked(place, reader):
    file = place / f"{NAMES.get(reader, reader.split()[0])}.npz"
    assert peak_of(lambda: READERS[reader](file)) < ROOM


def test_one_that_is_asked_for_is_refused_where_it_does_not_fit(place, monkeypatch):
    monkeypatch.setattr(json_text, "memory", lambda: 1e8)
    with check_refused("instance.npz: 'zzz' unpacks to 160 MB, more than fits into memory"):
        Archive(place / "instance.npz")["zzz"]
    with check_refused("instance.npz: unpacks to 160 MB, at most 1 MB can belong here"):
        Archive(place / "instance.npz", 1e6)


def beyond_unicode(words, count=1):
    array = np.array(words)
    array.view(np.uint32)[:count] = 0x110000
    return array


@pytest.mark.parametrize("field", ["names", "classes", "schema", "label_names"])
def test_characters_that_there_are_not_are_damage(tmp_path, field):
    content = {"kernels": FOR_FILES.kernels, "classes": np.repeat(["a", "b"], 4), field: beyond_unicode(["a", "b"] * 4)}
    np.savez(tmp_path / "problem.npz", **content)
    with check_refused(f"problem.npz: damaged, perhaps truncated (ValueError: '{field}.npy' has characters that"):
        files.load_instance(tmp_path / "problem.npz")


def test_arrays_with_characters_that_there_are_not_are_refused():
    for names in (beyond_unicode(["a", "b", "c"]), beyond_unicode(["aa", "bb", "cc"], 6)):
        with check_refused("names are not a list of strings: give one per kernel"):
            Instance(FOR_FILES.kernels, FOR_FILES.y, names=names)
        with check_refused("label_names are not a list of strings: give one per label"):
            Instance(FOR_FILES.kernels, labels=np.eye(8)[:, :3], label_names=names)
    classes = beyond_unicode(["a", "b"] * 4)
    for values in (classes, classes[:, None], classes.astype(">U1")):
        with check_refused("classes has characters that there are not: give one class for every sample"):
            Instance(FOR_FILES.kernels, classes=values)


@pytest.mark.parametrize("names", [b"abc", bytearray(b"abc"), memoryview(b"abc"), memoryview(np.eye(3))])
def test_bytes_are_no_list_of_names(names):
    with check_refused("names are not a list of strings: give one per kernel"):
        Instance(FOR_FILES.kernels, FOR_FILES.y, names=names)


@pytest.mark.parametrize("ending", [".npz", ".json", ""])
def test_half_a_pair_of_surrogates_is_a_name(tmp_path, ending):
    """JSON and NumPy can hold it; a folder of csv, which is UTF-8, has it with a backslash."""
    name = "\ud800"
    files.save_instance(tmp_path / f"a{ending}", Instance(FOR_FILES.kernels, FOR_FILES.y, names=[name, "b", "c"]))
    assert files.load_instance(tmp_path / f"a{ending}").names[0] == (name if ending else "\\ud800")
