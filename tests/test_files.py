"""Files: what is written comes back the same; what is damaged or hostile is refused in a line; output is whole."""

from __future__ import annotations

import json
import os
import pickle
import struct
import zipfile
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from mklcvx import InputError, Instance, files, formulations, solve
from mklcvx.files import check_output, load_instance, load_solution, load_test, save_instance, save_solution
from mklcvx.preprocess import Preprocessing
from mklcvx.solving import preprocessed

RNG = np.random.default_rng(5)
N, M = 8, 3
Y = np.repeat([1, -1], N // 2)
FEATURES = RNG.normal(size=(M, N, 2)) + 0.5 * Y[:, None]
TEST_FEATURES = RNG.normal(size=(M, 5, 2))
K = FEATURES @ FEATURES.transpose(0, 2, 1) + 0.5 * np.eye(N)
TEST = TEST_FEATURES @ FEATURES.transpose(0, 2, 1)
DIAGONALS = (TEST_FEATURES**2).sum(axis=2) + 0.5
LABELS = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 0]])
CLASSES = np.repeat(["cat", "dog", "owl", "dog"], 2)
FAMILIES = [f.name for f in formulations.FORMULATIONS if f not in formulations.SINGLE_TASKS]


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


@pytest.fixture
def path(tmp_path):
    """An instance's file."""
    save_instance(tmp_path / "problem.npz", Instance(K, Y, groups=[0, 0, 1]))
    return tmp_path / "problem.npz"


@pytest.fixture(scope="module")
def solution():
    return solve(Instance(K, Y, names=["α", "two words", "<c>"]), "l1")


@pytest.fixture
def record(solution):
    """A solution's JSON object, to be damaged."""
    return json.loads(json.dumps(solution.as_dict()))


# ------------------------------------------------------------------------------------------------- round trips
def test_an_instance_comes_back_the_same(tmp_path):
    instance = Instance(
        K,
        Y,
        groups=[0, 0, 1],
        names=["α", "two words", "c"],
        sample_weight=np.arange(1, 9),
        class_weight="balanced",
        test_kernels=TEST,
        test_y=[1, 1, -1, 1, -1],
        test_diagonals=DIAGONALS,
    )
    save_instance(tmp_path / "problem.npz", instance)
    loaded = load_instance(tmp_path / "problem.npz")
    assert loaded.names == instance.names
    for key in ("kernels", "y", "groups", "sample_weight", "test_kernels", "test_y", "test_diagonals"):
        np.testing.assert_array_equal(getattr(loaded, key), getattr(instance, key))


@pytest.mark.parametrize(
    "given",
    [
        {"labels": LABELS, "label_names": ["rot", "grün", "two words"], "test_labels": LABELS[:5]},
        {"labels": LABELS > 0, "test_labels": LABELS[:5] > 0},
        {"classes": CLASSES, "test_classes": CLASSES[:5]},
        {"classes": np.arange(N) % 3, "label_names": ["cat", "dog", "owl"], "test_classes": [0, 1, 1, 2, 0]},
        {"classes": np.arange(N) / 2},
    ],
    ids=["labels", "logical", "words", "named", "floats"],
)
def test_an_instance_with_labels_or_classes_comes_back_the_same(tmp_path, given):
    instance = Instance(K, **given, test_kernels=TEST)
    save_instance(tmp_path / "problem.npz", instance)
    loaded = load_instance(tmp_path / "problem.npz")
    assert (loaded.targets.kind, loaded.targets.names) == (instance.targets.kind, instance.targets.names)
    assert loaded.targets.classes() == instance.targets.classes()
    np.testing.assert_array_equal(loaded.targets.values, instance.targets.values)
    if instance.test_targets is None:
        assert loaded.test_targets is None
    else:
        np.testing.assert_array_equal(loaded.test_targets, instance.test_targets)


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_an_instance_keeps_its_type(tmp_path, dtype):
    save_instance(tmp_path / "problem.npz", Instance(np.eye(4, dtype=dtype)[None], [1, 1, -1, -1]))
    loaded = load_instance(tmp_path / "problem.npz")
    assert loaded.kernels.dtype == dtype
    assert loaded.groups is None
    assert loaded.test_kernels is None


def test_an_instance_written_with_numpy_alone_is_read(tmp_path):
    np.savez(tmp_path / "plain.npz", kernels=K, y=Y, names=np.array([b"a", b"b", b"c"]), comment="unused")
    assert load_instance(tmp_path / "plain.npz").names == ("a", "b", "c")


def linear_on_single_features():
    """Kernels of rank one, of which `li` leaves several without a weight."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(4, 6))
    y = np.array([1, 1, 1, -1, -1, -1])
    features[:3] = y * np.array([[1.0], [2.0], [3.0]])
    return Instance(features[:, :, None] * features[:, None, :], y), rng.normal(size=(4, 5, 6))


def with_undefined_weights():
    instance, test = linear_on_single_features()
    found = solve(instance, "li", C=10.0)
    assert np.isnan(found.weights).any()
    assert found.coefficients is not None
    return found, test, None


def with_nu():
    return solve(Instance(K, Y), "l2", nu=0.5), TEST, None


def with_preprocessing():
    steps = Preprocessing.from_options(centre=True, normalise="cosine")
    return solve(preprocessed(Instance(K, Y), steps), "l1", preprocessing=steps), TEST, DIAGONALS


def not_certified():
    return solve(Instance(K, Y), "sm2", max_iter=1), TEST, None


@pytest.mark.parametrize("make", [with_undefined_weights, with_nu, with_preprocessing, not_certified])
def test_a_solution_comes_back_with_the_same_predictions(tmp_path, make):
    found, test, diagonals = make()
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
        loaded = load_solution(tmp_path / f"answer{ending}")
        expected = found.decision_function(test, diagonals)
        np.testing.assert_array_equal(loaded.decision_function(test, diagonals), expected)
        np.testing.assert_array_equal(loaded.predict(test, diagonals), found.predict(test, diagonals))
        assert json.dumps(loaded.as_dict()) == json.dumps(found.as_dict())


@pytest.fixture(scope="module")
def families():
    """A solution of every family, for labels, one sample of which has none; solved when first asked for."""
    found = {}

    def of(name):
        if name not in found:
            found[name] = solve(Instance(K, labels=LABELS, label_names=["rot", "grün", "two words"]), name)
        return found[name]

    return of


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_solution_of_every_family_comes_back_with_the_same_predictions(tmp_path, families, name, ending):
    found = families(name)
    save_solution(tmp_path / f"answer{ending}", found)
    loaded = load_solution(tmp_path / f"answer{ending}")
    assert found.certified
    assert loaded.label_names == ("rot", "grün", "two words")
    assert loaded.embeds == found.embeds == name.startswith("hypergraph")
    assert loaded.predict(TEST).shape == (5, 3)
    np.testing.assert_array_equal(loaded.decision_function(TEST), found.decision_function(TEST))
    np.testing.assert_array_equal(loaded.predict(TEST), found.predict(TEST))
    assert loaded.as_dict() == found.as_dict()
    for key, value in found.multipliers.items():
        np.testing.assert_array_equal(loaded.multipliers[key], value)


@pytest.mark.parametrize("name", ["ml_sum", "ts", "hypergraph"])
@pytest.mark.parametrize(
    ("given", "predicted"),
    [
        ({"y": Y}, {-1, 1}),
        ({"classes": CLASSES}, {"cat", "dog", "owl"}),
        ({"classes": np.arange(N) % 2, "label_names": ["even", "odd"]}, {"even", "odd"}),
    ],
    ids=["y", "classes", "named classes"],
)
def test_a_family_keeps_the_kind_of_its_labels(tmp_path, name, given, predicted):
    found = solve(Instance(K, **given), name)
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
        loaded = load_solution(tmp_path / f"answer{ending}")
        assert (loaded.target, loaded.label_names, loaded.classes) == (found.target, found.label_names, found.classes)
        np.testing.assert_array_equal(loaded.predict(TEST), found.predict(TEST))
        if name != "hypergraph":
            assert set(loaded.predict(TEST).tolist()) <= predicted


def test_preprocessing_travels_with_the_solution_of_a_family(tmp_path):
    steps = Preprocessing.from_options(centre=True, normalise="cosine")
    found = solve(preprocessed(Instance(K, labels=LABELS), steps), "ml_sum", preprocessing=steps)
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
        loaded = load_solution(tmp_path / f"answer{ending}")
        expected = found.decision_function(TEST, DIAGONALS)
        np.testing.assert_array_equal(loaded.decision_function(TEST, DIAGONALS), expected)


def test_coefficients_of_every_label_come_back(tmp_path, families):
    found = families("ml_minimax")
    spelled_out = replace(found, coefficients=found.all_coefficients, weights=np.full(M, np.nan))
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", spelled_out)
        loaded = load_solution(tmp_path / f"answer{ending}")
        assert loaded.coefficients.shape == (3, M, N)
        np.testing.assert_array_equal(loaded.decision_function(TEST), found.decision_function(TEST))


def test_large_arrays_are_null_in_json_and_kept_in_npz(tmp_path, families):
    beta = np.linspace(0, 1, 20_001)
    found = replace(families("ts"), multipliers={"beta": beta, "short": beta[:20_000], "second_stage_gap": 0.5})
    save_solution(tmp_path / "answer.json", found)
    save_solution(tmp_path / "answer.npz", found)
    multipliers = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["multipliers"]
    assert multipliers["beta"] is None
    assert multipliers["short"] == beta[:20_000].tolist()
    light, whole = load_solution(tmp_path / "answer.json"), load_solution(tmp_path / "answer.npz")
    assert light.multipliers["beta"] is None
    np.testing.assert_array_equal(whole.multipliers["beta"], beta)
    assert whole.multipliers["second_stage_gap"] == 0.5
    np.testing.assert_array_equal(light.decision_function(TEST), found.decision_function(TEST))


def test_embedding_too_large_for_json_is_refused_with_the_remedy(tmp_path, families):
    found = families("hypergraph")
    found = replace(found, multipliers={**found.multipliers, "B": np.ones((N, 2501))})
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
    with refused("answer.json: ", "B is too large for JSON", "-o and a name that ends in .npz"):
        load_solution(tmp_path / "answer.json")
    embedded = load_solution(tmp_path / "answer.npz").decision_function(TEST)
    np.testing.assert_array_equal(embedded, found.decision_function(TEST))
    assert embedded.shape == (5, 2501)


def test_json_is_strict_and_has_a_schema(tmp_path):
    found = with_undefined_weights()[0]
    save_solution(tmp_path / "answer.json", found)
    text = (tmp_path / "answer.json").read_text(encoding="utf-8")
    content = json.loads(text, parse_constant=lambda token: pytest.fail(f"{token} is no JSON"))
    assert content["schema"] == "mklcvx.solution/1"
    assert None in content["weights"]
    assert content["coefficients"] is not None


def test_names_that_cannot_be_encoded_do_no_harm(tmp_path):
    names = ["lone \ud800 surrogate", "tab\tand\nline", "\x1b[31mred"]
    found = solve(Instance(K, Y, names=names), "l1")
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
        assert list(load_solution(tmp_path / f"answer{ending}").names) == names


def test_the_mode_of_a_file_follows_the_umask(tmp_path, solution):
    before = os.umask(0o027)
    try:
        save_solution(tmp_path / "answer.json", solution)
    finally:
        os.umask(before)
    assert (tmp_path / "answer.json").stat().st_mode & 0o777 == 0o640


# ------------------------------------------------------------------------------------- what is no instance's file
def test_missing_file_is_refused(tmp_path):
    with refused("nowhere.npz: no such file: check the path"):
        load_instance(tmp_path / "nowhere.npz")


def test_folder_is_refused(tmp_path):
    (tmp_path / "folder.npz").mkdir()
    with refused("folder.npz: is a folder: give a .npz or .mat file"):
        load_instance(tmp_path / "folder.npz")


def test_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    with refused("pipe.npz: is not an ordinary file: give a .npz or .mat file"):
        load_instance(tmp_path / "pipe.npz")


def test_dangling_link_is_a_missing_file(tmp_path):
    (tmp_path / "link.npz").symlink_to(tmp_path / "nowhere")
    with refused("link.npz: no such file"):
        load_instance(tmp_path / "link.npz")


def test_name_too_long_for_the_system_is_refused():
    with refused("cannot be opened", "check the path"):
        load_instance("a" * 300 + ".npz")


@pytest.mark.parametrize("name", ["problem.csv", "problem", "problem.npz.gz", "problem.NPZ"])
def test_other_endings_are_refused(path, name):
    other = path.rename(path.parent / name)
    with refused("unknown kind of file", "give a .npz or .mat file"):
        load_instance(other)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("is empty", "copy or write it again")),
        (b"\x00" * 100, ("is no .npz archive", "numpy.savez")),
        (RNG.bytes(3000), ("is no .npz archive", "numpy.savez")),
        (b"PK\x03\x04 but no more", ("damaged, perhaps truncated", "copy or write it again")),
        (b"PK\x05\x06" + bytes(18), ("no array 'kernels' (found nothing)",)),
        (pickle.dumps({"kernels": [1.0], "y": [1]}), ("holds pickled objects, which are refused", "plain numeric")),
        (pickle.dumps({"kernels": [1.0]}, protocol=2), ("holds pickled objects, which are refused",)),
        (b"kernels,y\n1,1\n", ("is no .npz archive",)),
    ],
)
def test_bytes_that_are_no_archive_are_refused(tmp_path, content, words):
    (tmp_path / "file.npz").write_bytes(content)
    with refused("file.npz: ", *words):
        load_instance(tmp_path / "file.npz")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99])
def test_truncated_file_is_refused(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with refused("problem.npz: damaged, perhaps truncated", "copy or write it again"):
        load_instance(path)


def test_flipped_bits_are_noticed(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(content)
    with refused("problem.npz: damaged"):
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
    with refused("objects.npz: holds pickled objects, which are refused", "store plain numeric arrays"):
        load_instance(tmp_path / "objects.npz")
    (tmp_path / "real.npz").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with refused("real.npz: holds pickled objects"):
        load_instance(tmp_path / "real.npz")
    assert not (tmp_path / "sprung").exists()


def test_single_array_renamed_is_refused(tmp_path):
    np.save(tmp_path / "kernels.npy", K)
    (tmp_path / "kernels.npy").rename(tmp_path / "kernels.npz")
    with refused("kernels.npz: holds a single array, not an archive: write it with numpy.savez"):
        load_instance(tmp_path / "kernels.npz")


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
    with refused("promise.npz: damaged"):
        load_instance(tmp_path / "promise.npz")


def test_header_that_is_no_dictionary_is_refused(tmp_path):
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", 30) + b"__import__('os').system('ls')\n"
    archive(tmp_path / "code.npz", kernels=content)
    with refused("code.npz: damaged"):
        load_instance(tmp_path / "code.npz")


def test_archive_that_unpacks_to_more_than_memory_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    archive(tmp_path / "bomb.npz", kernels=header((10**6,)) + bytes(8 * 10**6))
    assert (tmp_path / "bomb.npz").stat().st_size < 10**5
    monkeypatch.setattr(files, "_memory", lambda: 1e6)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("unpacked"))
    with refused("bomb.npz: unpacks to 0.008 GB, more than fits into memory"):
        load_instance(tmp_path / "bomb.npz")


def test_encrypted_archive_is_refused(path):
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02")
    content[at + 8] |= 1
    content[6] |= 1
    path.write_bytes(content)
    with refused("problem.npz: damaged", "encrypted"):
        load_instance(path)


# -------------------------------------------------------------------------------------------------- wrong contents
@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"K": K, "y": Y}, ("no array 'kernels' (found K, y)", "store the stack under that name")),
        ({}, ("no array 'kernels' (found nothing)",)),
        ({"kernels": K}, ("no array 'y', 'classes' or 'labels' (found kernels)", "store one of them")),
        ({"kernels": K, "Y": Y}, ("no array 'y', 'classes' or 'labels' (found Y, kernels)",)),
        ({"kernels": K, "y": Y, "classes": Y}, ("give exactly one of y, classes and labels: y and classes given",)),
        ({"kernels": K, "y": Y, "labels": LABELS}, ("y and labels given",)),
        ({"kernels": K, "labels": Y}, ("labels has shape (8,)", "give one row per sample, one column per label")),
        ({"kernels": K, "labels": 2 * LABELS}, ("labels has entries other than 0 and 1",)),
        ({"kernels": K, "labels": LABELS.T}, ("labels has 3 rows", "(samples seem to be in columns)")),
        ({"kernels": K, "labels": LABELS, "label_names": ["a"]}, ("label_names: 1 names for 3 labels",)),
        ({"kernels": K, "labels": LABELS, "label_names": "abc"}, ("label_names are no list of words",)),
        ({"kernels": K, "y": Y, "label_names": ["a", "b"]}, ("label_names are given for y", "leave them out")),
        ({"kernels": K, "classes": np.ones(N)}, ("classes has one class only",)),
        ({"kernels": K, "classes": [b"\xff"] * N}, ("classes has words that are no text",)),
        ({"kernels": K, "labels": LABELS, "test_kernels": TEST, "test_y": Y[:5]}, ("test_y is given where", "labels")),
        (
            {"kernels": K, "labels": LABELS, "test_kernels": TEST, "test_labels": LABELS[:5, :2]},
            ("test_labels has 2 columns for 3 labels",),
        ),
        ({"kernels": K, "y": (Y + 1) // 2}, ("y has labels 0, 1", "numpy.where(y == 1, 1, -1)")),
        ({"kernels": K, "y": Y, "groups": [0, 1]}, ("groups do not cover the kernels",)),
        ({"kernels": K, "y": Y, "groups": 3}, ("groups are no integers",)),
        ({"kernels": K, "y": Y, "names": "abc"}, ("names are no list of words",)),
        ({"kernels": K, "y": Y, "names": np.array([0x110000] * 3, "u4").view("U1")}, ("names are no list of words",)),
        ({"kernels": K, "y": Y, "schema": "mklcvx.instance/9"}, ("schema 'mklcvx.instance/9' is not",)),
        ({"kernels": K, "y": Y, "schema": "mklcvx.solution/1"}, ("schema 'mklcvx.solution/1' is not",)),
        ({"kernels": np.zeros((3, 8, 8), dtype="f8,i4"), "y": Y}, ("kernels have dtype", "give real numbers")),
        ({"kernels": np.array(1.0), "y": Y}, ("kernels have shape ()",)),
        ({"kernels": -K, "y": Y}, ("not positive semidefinite",)),
    ],
)
def test_wrong_contents_are_refused_with_the_files_name(tmp_path, arrays, words):
    np.savez(tmp_path / "file.npz", **arrays)
    with refused("instance ", "file.npz: ", *words):
        load_instance(tmp_path / "file.npz")


def test_members_that_are_no_arrays_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "text.npz", "w") as file:
        file.writestr("kernels", "1 0 0 1")
        file.writestr("y", "1 -1")
    with refused("kernels have dtype |S7", "give real numbers"):
        load_instance(tmp_path / "text.npz")


def test_repair_is_handed_on(tmp_path):
    indefinite = K.copy()
    indefinite[1, 0, 0] = -2.0
    np.savez(tmp_path / "file.npz", kernels=indefinite, y=Y)
    assert "kernel 'K2'" in load_instance(tmp_path / "file.npz", repair="clip").repairs[0]


def test_test_file_needs_test_kernels(path):
    with refused("test ", "problem.npz: no array 'test_kernels' (found groups, kernels,", "store (M, t, n)"):
        load_test(path)


# ------------------------------------------------------------------------------------------------------ solutions
def deep(depth):
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("not readable JSON",)),
        ("not JSON", ("not readable JSON",)),
        ('{"schema": ', ("not readable JSON",)),
        ("[1, 2]", ("holds no JSON object",)),
        ("3", ("holds no JSON object",)),
        ("{}", ("schema None is not 'mklcvx.solution/1'", "give a file of mklcvx solve -o")),
        ('{"schema": "mklcvx.solution/2"}', ("schema 'mklcvx.solution/2' is not",)),
        ('{"schema": ["mklcvx.solution/1"]}', ("schema ['mklcvx.solution/1'] is not",)),
        ('{"schema": "mklcvx.solution/1"}', ("incomplete or damaged (KeyError: 'formulation')",)),
        ('{"schema": NaN}', ("not readable JSON (NaN is no number of JSON)",)),
        (deep(100_000), ("not readable JSON",)),
        ('{"a":' * 100_000, ("not readable JSON",)),
        ("9" * 10_000, ("not readable JSON",)),
        ("\ufeff{}", ("not readable JSON",)),
    ],
    ids=range(14),
)
def test_text_that_is_no_solution_is_refused(tmp_path, text, words):
    (tmp_path / "answer.json").write_text(text, encoding="utf-8")
    with refused("solution ", "answer.json: ", *words):
        load_solution(tmp_path / "answer.json")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "answer.json").write_bytes(b"\xff\xfe\x00{")
    with refused("answer.json: not readable", "write it again"):
        load_solution(tmp_path / "answer.json")


DAMAGE = {
    "alpha is shorter": lambda r: r["alpha"].pop(),
    "weights are longer": lambda r: r["weights"].append(0.0),
    "labels are shorter": lambda r: r["y"].pop(),
    "names are longer": lambda r: r["names"].append("d"),
    "norms are shorter": lambda r: r["norms"].pop(),
    "coefficients of another shape": lambda r: r.update(coefficients=[[1.0]]),
    "coefficients are ragged": lambda r: r.update(coefficients=[[1.0], [1.0, 2.0]]),
    "a weight is undefined": lambda r: r["weights"].__setitem__(0, None),
    "alpha has a hole": lambda r: r["alpha"].__setitem__(0, None),
    "alpha is nested": lambda r: r["alpha"].__setitem__(0, [1.0]),
    "alpha is text": lambda r: r.update(alpha="many"),
    "a label is zero": lambda r: r["y"].__setitem__(0, 0),
    "alpha is missing": lambda r: r.pop("alpha"),
    "alpha is null": lambda r: r.update(alpha=None),
    "weights are missing": lambda r: r.pop("weights"),
    "weights are nested": lambda r: r.update(weights=[[w] for w in r["weights"]]),
    "labels are missing": lambda r: r.pop("y"),
    "labels are nested": lambda r: r.update(y=[r["y"]]),
    "target is unknown": lambda r: r.update(target="colours"),
    "target is of many labels": lambda r: r.update(target="labels"),
    "target is of classes": lambda r: r.update(target="classes"),
    "labels have two names": lambda r: r.update(label_names=["a", "b"]),
    "names of labels are text": lambda r: r.update(label_names="y"),
    "names of labels are null": lambda r: r.update(label_names=None),
    "notes are text": lambda r: r.update(notes="none"),
    "bias is a list": lambda r: r.update(bias=[0.0]),
    "bias is missing": lambda r: r.pop("bias"),
    "bias is null": lambda r: r.update(bias=None),
    "bias is beyond double precision": lambda r: r.update(bias=10**400),
    "iterations are text": lambda r: r.update(iterations="few"),
    "parameters are a number": lambda r: r.update(parameters=3),
    "multipliers are null": lambda r: r.update(multipliers=None),
    "certificate is a list": lambda r: r.update(certificate=[1, 2]),
    "certificate lacks its lower bound": lambda r: r["certificate"].pop("lower"),
    "interval has three ends": lambda r: r.update(bias_interval=[0, 1, 2]),
    "preprocessing is of another kind": lambda r: r.update(preprocessing={"steps": ["explode"]}),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_solution_is_refused(tmp_path, record, damage):
    DAMAGE[damage](record)
    (tmp_path / "answer.json").write_text(json.dumps(record))
    with refused("solution ", "answer.json: incomplete or damaged (", "): write it again"):
        load_solution(tmp_path / "answer.json")


def test_solution_without_alpha_says_what_is_missing(tmp_path, record):
    record.pop("alpha")
    (tmp_path / "answer.json").write_text(json.dumps(record))
    with refused("answer.json: ", "it has neither alpha nor an embedding that fits"):
        load_solution(tmp_path / "answer.json")


def test_solution_written_before_there_were_labels_is_read(tmp_path, solution, record):
    for key in ("target", "label_names", "classes", "notes"):
        record.pop(key)
    (tmp_path / "answer.json").write_text(json.dumps(record))
    loaded = load_solution(tmp_path / "answer.json")
    assert (loaded.target, loaded.label_names, loaded.notes) == ("y", ("y",), ())
    np.testing.assert_array_equal(loaded.predict(TEST), solution.predict(TEST))


DAMAGE_OF_LABELS = {
    "alpha lacks a label": lambda r: r["alpha"].pop(),
    "alpha is ragged": lambda r: r["alpha"][0].pop(),
    "alpha is that of one label": lambda r: r.update(alpha=r["alpha"][0]),
    "alpha has a hole": lambda r: r["alpha"][1].__setitem__(0, None),
    "alpha is null": lambda r: r.update(alpha=None),
    "labels lack one": lambda r: r["y"].pop(),
    "labels are those of one": lambda r: r.update(y=r["y"][0]),
    "a label is zero": lambda r: r["y"][2].__setitem__(3, 0),
    "bias is that of one label": lambda r: r.update(bias=0.0),
    "bias lacks a label": lambda r: r["bias"].pop(),
    "bias is nested": lambda r: r.update(bias=[[b] for b in r["bias"]]),
    "bias has a hole": lambda r: r["bias"].__setitem__(0, None),
    "names of labels lack one": lambda r: r["label_names"].pop(),
    "names of labels are missing": lambda r: r.pop("label_names"),
    "target is y": lambda r: r.update(target="y", label_names=["y"]),
    "target is null": lambda r: r.update(target=None),
    "classes are too few": lambda r: r.update(target="classes", classes=["a"]),
    "coefficients are those of one label": lambda r: r.update(coefficients=np.ones((M, N)).tolist()),
    "coefficients lack a label": lambda r: r.update(coefficients=np.ones((2, M, N)).tolist()),
    "a weight is undefined": lambda r: r["weights"].__setitem__(0, None),
}


@pytest.mark.parametrize("damage", DAMAGE_OF_LABELS)
def test_damaged_solution_of_many_labels_is_refused(tmp_path, families, damage):
    record = json.loads(json.dumps(families("ml_sum").as_dict()))
    DAMAGE_OF_LABELS[damage](record)
    (tmp_path / "answer.json").write_text(json.dumps(record))
    with refused("solution ", "answer.json: incomplete or damaged (", "): write it again"):
        load_solution(tmp_path / "answer.json")


DAMAGE_OF_AN_EMBEDDING = {
    "B is missing": lambda r: r["multipliers"].pop("B"),
    "B is null": lambda r: r["multipliers"].update(B=None),
    "B is a number": lambda r: r["multipliers"].update(B=1.0),
    "B is text": lambda r: r["multipliers"].update(B="large"),
    "B is a vector": lambda r: r["multipliers"].update(B=[1.0] * N),
    "B lacks a sample": lambda r: r["multipliers"]["B"].pop(),
    "B is ragged": lambda r: r["multipliers"]["B"][0].pop(),
    "B has a hole": lambda r: r["multipliers"]["B"][0].__setitem__(0, None),
    "a weight is undefined": lambda r: r["weights"].__setitem__(0, None),
    "weights are longer": lambda r: r["weights"].append(0.0),
    "names of labels lack one": lambda r: r["label_names"].pop(),
    "labels are those of one": lambda r: r.update(y=r["y"][0]),
    "labels are shorter": lambda r: r.update(y=[row[:-1] for row in r["y"]]),
}


@pytest.mark.parametrize("damage", DAMAGE_OF_AN_EMBEDDING)
def test_damaged_embedding_is_refused(tmp_path, families, damage):
    record = json.loads(json.dumps(families("hypergraph").as_dict()))
    DAMAGE_OF_AN_EMBEDDING[damage](record)
    (tmp_path / "answer.json").write_text(json.dumps(record))
    with refused("solution ", "answer.json: incomplete or damaged (", "): write it again"):
        load_solution(tmp_path / "answer.json")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("multiplier_B", np.full((N, 3), np.nan)),
        ("multiplier_B", np.ones((N - 1, 3))),
        ("multiplier_B", np.ones(N)),
        ("multiplier_B", np.array([["a"] * 3] * N)),
        ("y", np.ones((2, N))),
        ("weights", np.ones((M, 1))),
    ],
)
def test_damaged_arrays_of_an_embedding_are_refused(tmp_path, families, key, value):
    save_solution(tmp_path / "answer.npz", families("hypergraph"))
    with np.load(tmp_path / "answer.npz") as content:
        arrays = dict(content)
    assert key in arrays
    np.savez(tmp_path / "answer.npz", **(arrays | {key: value}))
    with refused("solution ", "answer.npz: "):
        load_solution(tmp_path / "answer.npz")


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(tmp_path, record, token):
    text = json.dumps(record | {"bias": "HERE"}).replace('"HERE"', token)
    (tmp_path / "answer.json").write_text(text)
    with refused("answer.json: "):
        load_solution(tmp_path / "answer.json")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("alpha", np.full(N, np.nan)),
        ("alpha", np.ones((N, 1, 1))),
        ("alpha", np.array(1.0)),
        ("alpha", np.array(["a"] * N)),
        ("weights", np.full(M, np.inf)),
        ("y", np.zeros(N)),
        ("record", np.arange(3)),
        ("record", np.array("[]")),
    ],
)
def test_damaged_arrays_of_a_solution_are_refused(tmp_path, solution, key, value):
    save_solution(tmp_path / "answer.npz", solution)
    with np.load(tmp_path / "answer.npz") as content:
        arrays = dict(content)
    np.savez(tmp_path / "answer.npz", **(arrays | {key: value}))
    with refused("solution ", "answer.npz: "):
        load_solution(tmp_path / "answer.npz")


def test_solution_files_of_other_kinds_are_refused(tmp_path, path):
    with refused("answer.txt: no such file"):
        load_solution(tmp_path / "answer.txt")
    (tmp_path / "answer.txt").touch()
    with refused("answer.txt: unknown kind of file '.txt': give a .json or .npz file"):
        load_solution(tmp_path / "answer.txt")
    (tmp_path / "folder.json").mkdir()
    with refused("folder.json: is a folder: give a .json or .npz file"):
        load_solution(tmp_path / "folder.json")
    with refused("problem.npz: no solution (found groups, kernels,", "give a file of mklcvx solve -o"):
        load_solution(path)


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_truncated_solution_is_refused(tmp_path, solution, ending):
    answer = tmp_path / f"answer{ending}"
    save_solution(answer, solution)
    answer.write_bytes(answer.read_bytes()[:-100])
    with refused(f"answer{ending}: "):
        load_solution(answer)


# --------------------------------------------------------------------------------------------------------- output
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("answer.txt", ("unknown kind of file '.txt'", "end the name in .json or .npz")),
        ("answer", ("unknown kind of file ''",)),
        ("nowhere/answer.json", ("no folder", "nowhere", "create it first")),
        ("folder.json", ("is a folder", "give a file name")),
        ("a" * 300 + ".json", ("File name too long", "choose another name")),
    ],
)
def test_impossible_output_is_refused_before_the_work(tmp_path, name, words):
    (tmp_path / "folder.json").mkdir()
    with refused("output ", *words):
        check_output(tmp_path / name, (".json", ".npz"))


def test_output_below_a_file_is_refused(path):
    with refused("no folder", "create it first"):
        check_output(path / "answer.json", (".json",))


@pytest.mark.parametrize("save", [save_instance, save_solution])
@pytest.mark.parametrize("name", ["out.txt", "nowhere/out.npz"])
def test_saving_refuses_impossible_output(tmp_path, solution, save, name):
    content = Instance(K, Y) if save is save_instance else solution
    with refused("output "):
        save(tmp_path / name, content)
    assert list(tmp_path.iterdir()) == []


class HalfWay(Exception):
    pass


def fails_half_way(fault):
    def write(file):
        file.write(b"half of ")
        raise fault

    return write


@pytest.mark.parametrize("fault", [HalfWay(), KeyboardInterrupt(), MemoryError()])
def test_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, fault):
    target = tmp_path / "answer.json"
    target.write_text("old")
    with pytest.raises(type(fault)):
        files.write_whole(target, fails_half_way(fault))
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_full_disk_is_said_in_a_line(tmp_path):
    with refused("output ", "answer.json: could not be written (No space left on device)"):
        files.write_whole(tmp_path / "answer.json", fails_half_way(OSError(28, "No space left on device")))
    assert list(tmp_path.iterdir()) == []


def test_new_file_takes_the_place_of_the_old_one_at_once(tmp_path):
    target = tmp_path / "answer.json"
    target.write_text("old")

    def write(file):
        file.write(b"new")
        file.flush()
        assert target.read_text() == "old"

    files.write_whole(target, write)
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_longest_name_that_the_system_allows_can_be_written(tmp_path):
    target = tmp_path / ("a" * 250 + ".json")
    files.write_whole(target, lambda file: file.write(b"x"))
    assert target.read_bytes() == b"x"


def test_number_that_json_has_no_word_for_is_never_written(tmp_path, solution, families):
    for broken in (replace(solution, bias=float("nan")), replace(families("ml_sum"), bias=np.array([0, 0, np.nan]))):
        with pytest.raises(ValueError, match="JSON compliant"):
            save_solution(tmp_path / "answer.json", broken)
        assert list(tmp_path.iterdir()) == []


def test_files_are_named_by_text_or_by_path(path):
    assert load_instance(str(path)).count == M
    assert load_instance(path).count == M
