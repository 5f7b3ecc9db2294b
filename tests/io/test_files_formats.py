"""Instances and answers as JSON, MATLAB files and folders of csv files: what goes out comes back, faults are said."""

import json
import os

import numpy as np
import pytest

from mklcvx import Instance
from mklcvx.io import json_text
from mklcvx.io.files import load_instance, load_test, read_record, save_answer, save_instance
from mklcvx.verification.answers import largest_answer, read_answer
from refusals import check_refused, strict, within_a_second
from stacks import FOR_FILES, LABELS

pytestmark = pytest.mark.slow

K, Y = FOR_FILES.kernels, FOR_FILES.y
PLACES = ["problem.npz", "problem.mat", "problem.json", "problem"]
EVERYTHING = {
    "groups": [0, 0, 1],
    "names": ["α, first", 'two "words"', "<c>"],
    "sample_weight": np.linspace(0.1, 3, 8),
    "test_kernels": FOR_FILES.test_kernels,
    "test_diagonals": FOR_FILES.test_diagonals,
}
REAL = np.column_stack([np.pi * Y / np.arange(1, 9), np.geomspace(1e-99, 1e99, 8)])
TARGETS = {
    "y": {"y": Y, "test_y": [1, -1, 1, 1, -1]},
    "classes": {"classes": [3, 1, 1, 2, 2, 3, 1, 2], "test_classes": [1, 2, 3, 1, 1], "label_names": ["a", "b", "c"]},
    "words": {"classes": list("xyzxyzxy"), "test_classes": list("xxyyz")},
    "labels": {"labels": LABELS, "test_labels": LABELS[:5], "label_names": ["rot", "grün", "two words"]},
    "one label": {"labels": LABELS[:, :1]},
    "response": {"response": REAL[:, 0], "test_response": REAL[:5, 0]},
    "named response": {"response": REAL[:, :1], "label_names": ["height, in metres"]},
    "outputs": {"response": REAL, "test_response": REAL[:5], "label_names": ["a", "two words"]},
    "none": {"test_y": [1, -1, 1, 1, -1]},
}


def check_same(one: Instance, other: Instance) -> None:
    assert np.array_equal(one.kernels, other.kernels)
    assert one.targets.kind == other.targets.kind
    assert np.array_equal(one.targets.values, other.targets.values)
    assert one.targets.names == other.targets.names
    assert one.names == other.names
    for key in ("groups", "sample_weight", "test_kernels", "test_targets", "test_diagonals"):
        given, found = getattr(one, key), getattr(other, key)
        assert (given is None) == (found is None), key
        assert given is None or np.array_equal(given, found), key


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("targets", TARGETS)
def test_an_instance_comes_back_to_the_last_bit(tmp_path, place, targets):
    instance = Instance(K, **TARGETS[targets], **EVERYTHING)
    save_instance(tmp_path / place, instance)
    check_same(instance, load_instance(tmp_path / place))
    assert np.array_equal(load_test(tmp_path / place)["test_kernels"], instance.test_kernels)
    assert [path.name for path in tmp_path.iterdir()] == [place]


@pytest.mark.parametrize("place", PLACES)
def test_the_least_instance_comes_back(tmp_path, place):
    for number, given in enumerate(({"y": [1, -1]}, {"response": [0.5, 0.5]}, {"response": [[1, 2], [3, 4]]}, {})):
        instance, folder = Instance([[[2.0, 1.0], [1.0, 3.0]]], **given), tmp_path / str(number)
        folder.mkdir()
        save_instance(folder / place, instance)
        check_same(instance, load_instance(folder / place))


@pytest.mark.parametrize("place", PLACES)
def test_single_precision_comes_back(tmp_path, place):
    """Read as doubles, the kernel is not positive semidefinite."""
    points = np.random.default_rng(1).normal(size=(40, 2))
    kernel = np.exp(-0.05 * ((points[:, None] - points) ** 2).sum(axis=-1)).astype(np.float32)
    instance = Instance([kernel, kernel**2], test_kernels=np.stack([kernel, kernel]) / 3.0)
    save_instance(tmp_path / place, instance)
    back = load_instance(tmp_path / place)
    check_same(instance, back)
    assert back.kernels.dtype == np.float32


@pytest.mark.parametrize("dtype", ["float32", "int8", None, 7])
def test_a_precision_that_kernels_do_not_have_changes_none(tmp_path, dtype):
    kernels = [[[0.1, 0.0], [0.0, 0.1]]]
    (tmp_path / "one.json").write_text(json.dumps({"kernels": kernels, "dtype": dtype}), encoding="utf-8")
    assert load_instance(tmp_path / "one.json").kernels.tolist() == kernels


@pytest.mark.parametrize("place", PLACES)
def test_no_test_samples_and_long_doubles_can_be_written(tmp_path, place):
    none = {"test_kernels": np.zeros((3, 0, len(Y))), "test_y": [], "test_diagonals": np.zeros((3, 0))}
    instance = Instance(K.astype(np.longdouble), Y, **none)
    save_instance(tmp_path / place, instance)
    back = load_instance(tmp_path / place)
    assert np.array_equal(back.kernels, K)
    assert back.test_kernels is None or back.test_kernels.shape == (3, 0, len(Y))


@pytest.mark.parametrize("place", ["answer.npz", "answer.mat", "answer.json", "answer"])
def test_an_answer_comes_back_to_the_last_bit(tmp_path, place):
    given = {"weights": np.array([1 / 3, np.nan]), "alpha": np.array([0.1, 0.0, 1e-300])}
    given |= {"bias": -0.1, "objective": 1e30}
    gamma, coefficients = np.array([0.7, 0.3]), np.arange(6.0).reshape(2, 3) / 7
    save_answer(tmp_path / place, multipliers={"gamma": gamma}, coefficients=coefficients, **given)
    record = read_record(tmp_path / place)
    answer = read_answer(tmp_path / place)
    assert np.array_equal(answer.weights.ravel(), given["weights"], equal_nan=True)
    assert np.array_equal(answer.alpha.ravel(), given["alpha"])
    assert np.array_equal(answer.coefficients, coefficients)
    assert np.array_equal(np.ravel(answer.multipliers["gamma"]), gamma)
    assert (float(record["bias"]), float(record["objective"])) == (-0.1, 1e30)


def test_what_is_no_part_of_an_answer_is_not_written(tmp_path):
    with check_refused("answer: 'wieghts' is not a field"):
        save_answer(tmp_path / "answer.json", wieghts=[1.0])
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------------------------ folders
@pytest.fixture
def folder(tmp_path):
    save_instance(tmp_path / "problem", Instance(K, Y))
    return tmp_path / "problem"


def test_rows_and_columns_and_any_separator_will_do(folder):
    (folder / "y.csv").write_text(",".join(str(int(v)) for v in Y), encoding="utf-8")
    np.savetxt(folder / "K1.csv", K[0], fmt="%.17g")
    np.savetxt(folder / "K2.csv", K[1], fmt="%.17g", delimiter=";")
    (folder / "K3.csv").write_text(
        "\ufeff" + (folder / "K3.csv").read_text(encoding="utf-8").replace("\n", "\r\n"), encoding="utf-8"
    )
    for optional in ("schema", "names", "sample_weight"):
        (folder / f"{optional}.csv").unlink()
    (folder / "notes.csv").write_text("whatever", encoding="utf-8")
    check_same(Instance(K, Y), load_instance(folder))


@pytest.mark.parametrize(
    "classes", [["1", "3-sep"], ["nan", "x"], [1, 3], [2**53, 2**53 + 1], [1.0, 2.5]], ids=lambda pair: str(pair[0])
)
def test_classes_come_back_as_words_or_as_numbers(tmp_path, classes):
    instance = Instance(K, classes=np.resize(classes, len(Y)), test_kernels=K, test_classes=np.resize(classes, len(Y)))
    save_instance(tmp_path / "folder", instance)
    back = load_instance(tmp_path / "folder")
    check_same(instance, back)
    assert back.targets.values.dtype == instance.targets.values.dtype


def test_kernels_may_have_names_of_files(folder):
    (folder / "kernels").mkdir()
    for m, name in enumerate(["K10", "K9", "age"]):
        (folder / f"K{m + 1}.csv").rename(folder / "kernels" / f"{name}.csv")
    (folder / "names.csv").unlink()
    check_same(Instance(K[[1, 0, 2]], Y, names=["K9", "K10", "age"]), load_instance(folder))
    (folder / "names.csv").write_text("age\nK10\nK9\n", encoding="utf-8")
    check_same(Instance(K[[2, 0, 1]], Y, names=["age", "K10", "K9"]), load_instance(folder))
    (folder / "names.csv").write_text("age\nK10\nK8\n", encoding="utf-8")
    with check_refused("names.csv and the files of kernels/ differ"):
        load_instance(folder)


# What is written into the folder, None for what is taken away, and the words.
FAULTS = {
    "gap": ({"K2.csv": None}, ("K2.csv is missing", "without gaps")),
    "no kernels": ({"K1.csv": None, "K2.csv": None, "K3.csv": None}, ("no array 'kernels'", "found")),
    "capital Y": ({"y.csv": None, "Y.csv": "1\n"}, ("array 'Y' is not known: did you mean 'y'?",)),
    "both": ({"kernels/a.csv": "1"}, ("has both K1.csv and so on, and kernels/",)),
    "empty": ({"K1.csv": " \n"}, ("K1.csv: is empty",)),
    "heading": ({"y.csv": "y\n1\n"}, ("y.csv: could not convert string 'y'", "no headings")),
    "ragged": ({"K1.csv": "1,2\n3\n"}, ("the number of columns changed", "one length")),
    "decimal commas": ({"K1.csv": "1,5;2,5\n"}, ("both commas and semicolons", "points")),
    "sizes": ({"K2.csv": "1,2\n2,5\n"}, ("K2.csv: is 2×2, K1.csv 8×8",)),
    "bytes": ({"K1.csv": "\udcff\udcfe\0"}, ("K1.csv: is not text in UTF-8",)),
    "slip": ({"group.csv": "1\n2\n3\n"}, ("array 'group' is not known", "'groups'")),
    "schema": ({"schema.csv": "mklcvx.instance/9\n"}, ("schema 'mklcvx.instance/9' is not",)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_a_folder_are_said(folder, fault):
    changes, words = FAULTS[fault]
    for name, text in changes.items():
        (folder / name).parent.mkdir(exist_ok=True)
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with check_refused("problem", *words):
        load_instance(folder)


@pytest.mark.parametrize("name", ["K2", "y", "names"])
def test_a_pipe_in_place_of_a_file_is_said(folder, name):
    (folder / f"{name}.csv").unlink()
    os.mkfifo(folder / f"{name}.csv")
    with check_refused(f"{name}.csv: is not an ordinary file"):
        load_instance(folder)


def test_a_folder_larger_than_memory_is_not_read(folder, monkeypatch):
    monkeypatch.setattr(json_text, "memory", lambda: 1e4)
    with check_refused("problem: would need", "more than fits into memory"):
        load_instance(folder)


def test_writing_a_folder_leaves_all_or_nothing(tmp_path, monkeypatch):
    from mklcvx.io import files

    def full(place, arrays):
        (place / "K1.csv").write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_csv", full)
    with check_refused("output ", "could not be written (No space left on device)"):
        save_instance(tmp_path / "problem", Instance(K, Y))
    assert list(tmp_path.iterdir()) == []


# --------------------------------------------------------------------------------------------------------------- JSON
JSON_FAULTS = [
    ("", "not readable JSON"),
    ('{"kernels": [[[1', "not readable JSON"),
    ('{"kernels": NaN}', "NaN is not a JSON number"),
    ("[1]", "holds no JSON object"),
    ("[" * 100_000, "not readable JSON"),
    ('{"kernels": [[[1, null], [2, 3]]], "y": [1, -1]}', "kernels have dtype"),
    ('{"kernels": [[[1, 0], [2]]], "y": [1, -1]}', "kernels is ragged"),
    ('{"kernels": [[[1, 0], [0, 1]]], "y": null}', "y is null: store numbers, or leave it out"),
    ('{"kernels": [[[1, 0], [0, 1]]], "y": [1, -1], "names": 5}', "names are not a list of strings"),
    ('{"kernels": [[[1e999, 0], [0, 1]]], "y": [1, -1]}', "entry inf"),
    ('{"kernels": [[[1, 0], [0, 1]]], "y": [1, -1], "schema": 3}', "schema '3' is not"),
]


@pytest.mark.parametrize(("text", "words"), JSON_FAULTS, ids=range(len(JSON_FAULTS)))
def test_faults_of_json_are_said(tmp_path, text, words):
    (tmp_path / "problem.json").write_text(text, encoding="utf-8")
    with check_refused("problem.json: ", words):
        load_instance(tmp_path / "problem.json")


# ------------------------------------------------------------------------------------- sizes, before anything is parsed
def flood(path):
    """Ten million numbers."""
    if path.suffix == ".npz":
        np.savez_compressed(path, weights=np.zeros(10**7))
    elif path.suffix == ".mat":
        from scipy.io import savemat

        savemat(path, {"weights": np.zeros(10**7)}, do_compression=True)
    elif path.suffix == ".json":
        path.write_text('{"weights": [' + "0," * (10**7 - 1) + "0]}", encoding="utf-8")
    else:
        path.mkdir()
        (path / "weights.csv").write_text("0\n" * 10**7, encoding="utf-8")


@pytest.mark.parametrize("place", ["answer.npz", "answer.mat", "answer.json", "answer"])
def test_an_answer_of_ten_million_entries_is_refused_unread(tmp_path, place):
    flood(tmp_path / place)
    instance = Instance(K, Y)
    with within_a_second(), check_refused(place, "MB can belong here", "check that it is the right file"):
        read_answer(tmp_path / place, instance)


def test_the_largest_answer_that_can_be_meant_is_read(tmp_path):
    instance = Instance(K, labels=LABELS)
    alpha, own = np.full((3, 8), -1 / 3), np.full((3, 3, 8), -1 / 3)
    given = {"weights": alpha[:, 0], "alpha": alpha, "coefficients": own}
    save_answer(tmp_path / "answer.json", multipliers={"pairs": np.full((8, 8), -1 / 3)}, **given)
    assert (tmp_path / "answer.json").stat().st_size < largest_answer(instance)
    assert read_answer(tmp_path / "answer.json", instance).alpha.shape == (3, 8)


def test_a_compressed_variable_that_would_fill_the_memory_is_refused_unpacked(tmp_path, monkeypatch):
    from scipy.io import savemat

    savemat(tmp_path / "bomb.mat", {"kernels": np.zeros((1000, 1000))}, do_compression=True)
    assert (tmp_path / "bomb.mat").stat().st_size < 10**5
    monkeypatch.setattr(json_text, "memory", lambda: 1e6)
    with check_refused("bomb.mat: unpacks to 8 MB, more than fits into memory"):
        load_instance(tmp_path / "bomb.mat")


# -------------------------------------------------------------------------------------------------------- the commands
@pytest.mark.parametrize("place", PLACES)
def test_every_command_takes_every_format(succeeds, tmp_path, place):
    save_instance(tmp_path / place, Instance(K, Y, test_kernels=FOR_FILES.test_kernels))
    out, _ = succeeds("solve", tmp_path / place, "--solver", "interior", "--json", "-o", tmp_path / "solution.json")
    assert strict(out)["status"] == "certified"
    out, _ = succeeds("predict", tmp_path / "solution.json", tmp_path / place)
    assert len(out.splitlines()) == 6
