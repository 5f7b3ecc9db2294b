"""The command line on many labels, two stages and hypergraphs: solved, check_refused, predicted, written."""

import csv

import numpy as np
import pytest

from mklcvx import Instance, formulations
from mklcvx.certificate import solution
from mklcvx.cli import solve as cli_solve
from mklcvx.io.files import load_solution, save_instance
from refusals import strict
from stacks import FOR_COMMANDS

pytestmark = pytest.mark.slow

T = 5
K = FOR_COMMANDS.kernels
TEST, DIAGONALS = FOR_COMMANDS.test_kernels, FOR_COMMANDS.test_diagonals
LABELS = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 0]])
TEST_LABELS = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
CLASSES = np.array(["cat", "cat", "cat", "dog", "dog", "dog", "owl", "owl"])
TEST_CLASSES = np.array(["cat", "cat", "owl", "dog", "cat"])
NAMES = [formulation.name for formulation in formulations.FORMULATIONS]
FAMILIES = [name for name in NAMES if formulations.get(name) not in formulations.SINGLE_TASKS]
EMBEDDINGS = ["hypergraph", "hypergraph_smooth"]
CLASSIFIERS = [name for name in FAMILIES if name not in EMBEDDINGS]


def saved(path, **targets):
    save_instance(
        path, Instance(K, **targets, names=["age", "genes", "height"], test_kernels=TEST, test_diagonals=DIAGONALS)
    )
    return path


@pytest.fixture
def labelled(tmp_path):
    """An instance of many labels; the last sample has none of them."""
    return saved(tmp_path / "labels.npz", labels=LABELS, label_names=["red", "green", "blue"], test_labels=TEST_LABELS)


@pytest.fixture
def classed(tmp_path):
    """An instance of classes."""
    return saved(tmp_path / "classes.npz", classes=CLASSES, test_classes=TEST_CLASSES)


# ----------------------------------------------------------------------------------------------------------- solve
OWN_ROWS = {"ml_sum": "class_values", "ml_minimax": "gamma", "alignment": "normalised", "hypergraph": "eigenvalues"}


@pytest.mark.parametrize("name", FAMILIES)
def test_solution_of_every_family_is_shown(quiet, labelled, name):
    out = quiet("solve", labelled, "-f", name)
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    assert rows["formulation"][0] == name
    assert rows["status"] == ["certified"]
    low, high = float(rows["optimum"][1]), float(rows["optimum"][3])
    assert low <= high + 1e-8
    assert float(rows["relative"][1]) <= 1e-8
    weights = [float(rows[kernel][0]) for kernel in ("age", "genes", "height")]
    assert sum(weights) > 0
    assert OWN_ROWS.get(name, "solver") in rows
    assert ("support" in rows) == (name in CLASSIFIERS)
    noted = "1 of 8 samples have no label" in " ".join(out.split())
    assert noted == (name in EMBEDDINGS)


def test_parameters_are_shown_as_words_numbers_and_flags(run, labelled):
    shown = [
        run("solve", labelled, "-f", name, *options)[1].splitlines()[0]
        for name, *options in (
            ("hypergraph", "--set", "expansion=star", "--set", "dimensions=2"),
            ("ts", "--set", "balanced=yes", "--set", "lam=0.1"),
            ("ts",),
        )
    ]
    assert "hypergraph (expansion = star, lam = 1, dimensions = 2)" in shown[0]
    assert "ts (lam = 0.1, balanced, C = 1)" in shown[1]
    assert "ts (lam = 0.01, C = 1)" in shown[2]


@pytest.mark.parametrize("name", ["ml_sum", "ts", "hypergraph"])
def test_label_that_nobody_has_is_refused_by_name_whatever_the_name(refusal, tmp_path, name):
    path = saved(tmp_path / "empty.npz", labels=LABELS * [1, 0, 1], label_names=["red", "gre\x1ben\n", "blue"])
    message = refusal("solve", path, "-f", name)
    assert "no sample has label 'gre" in message
    assert "\x1b" not in message


# --------------------------------------------------------------------------------------------------------- predict
def table_of(text):
    """Header and columns of a CSV table, as text."""
    header, *rows = [line.split(",") for line in text.splitlines()]
    return header, [list(column) for column in zip(*rows, strict=True)]


def f1(truth, labels):
    return 2 * np.sum(truth * labels) / max(np.sum(truth) + np.sum(labels), 1)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_of_many_labels_have_two_columns_for_each(run, succeeds, labelled, tmp_path, name):
    answer = tmp_path / "answer.json"
    run("solve", labelled, "-f", name, "-q", "-o", answer)
    out, err = succeeds("predict", answer, labelled)
    model = load_solution(answer)
    header, columns = table_of(out)
    assert header == ["decision red", "decision green", "decision blue", "red", "green", "blue"]
    np.testing.assert_array_equal(np.array(columns[:3], dtype=float).T, model.decision_function(TEST))
    labels = np.array(columns[3:], dtype=int).T
    np.testing.assert_array_equal(labels, model.decision_function(TEST) >= 0)
    macro = np.mean([f1(*pair) for pair in zip(TEST_LABELS.T, labels.T, strict=True)])
    assert err == f"macro F1 {macro:.4f}, micro F1 {f1(TEST_LABELS, labels):.4f} on {T} samples\n"


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_of_classes_name_the_class(run, succeeds, classed, tmp_path, name):
    answer = tmp_path / "answer.npz"
    run("solve", classed, "-f", name, "-q", "-o", answer)
    out, err = succeeds("predict", answer, classed)
    header, columns = table_of(out)
    assert header == ["decision cat", "decision dog", "decision owl", "class"]
    largest = np.array(columns[:3], dtype=float).argmax(axis=0)
    assert columns[3] == np.array(["cat", "dog", "owl"])[largest].tolist()
    assert err == f"accuracy {np.mean(np.array(columns[3]) == TEST_CLASSES):.4f} on {T} samples\n"


@pytest.mark.parametrize(
    "given", [np.arange(T) % 3, np.arange(T) % 3.0, np.array(["zero", "one", "two"])[np.arange(T) % 3]]
)
def test_test_classes_are_compared_by_value_or_name_whatever_their_type(run, tmp_path, given):
    classes = np.repeat([0, 1, 2], [3, 3, 2])
    path = saved(tmp_path / "numbers.npz", classes=classes, label_names=["zero", "one", "two"])
    run("solve", path, "-f", "ml_sum", "-q", "-o", tmp_path / "answer.json")
    np.savez(tmp_path / "test.npz", test_kernels=TEST, test_classes=given)
    code, out, err = run("predict", tmp_path / "answer.json", tmp_path / "test.npz")
    predicted = table_of(out)[1][-1]
    expected = np.mean(np.array(predicted) == np.array(["zero", "one", "two"])[np.arange(T) % 3])
    assert (code, err) == (0, f"accuracy {expected:.4f} on {T} samples\n")


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_predictions_of_a_hypergraph_are_embeddings(run, quiet, labelled, tmp_path, name):
    answer = tmp_path / "answer.npz"
    run("solve", labelled, "-f", name, "--set", "dimensions=2", "-q", "-o", answer)
    out = quiet("predict", answer, labelled)
    header, columns = table_of(out)
    embedded = load_solution(answer).decision_function(TEST)
    assert header == ["e1", "e2"]
    np.testing.assert_array_equal(np.array(columns, dtype=float).T, embedded)
    for ending in ("csv", "json", "npz"):
        assert run("predict", answer, labelled, "-o", tmp_path / f"points.{ending}") == (0, "", "")
    assert (tmp_path / "points.csv").read_text(encoding="utf-8") == out
    content = strict((tmp_path / "points.json").read_text(encoding="utf-8"))
    assert content == {"schema": "mklcvx.prediction/1", "embedding": embedded.tolist()}
    with np.load(tmp_path / "points.npz") as arrays:
        assert arrays.files == ["embedding"]
        np.testing.assert_array_equal(arrays["embedding"], embedded)


@pytest.mark.parametrize("names", [["x", "decision x", "y"], ["a,b", 'quo"te', "two\nlines"], ["\ud800", "α", " "]])
def test_every_label_has_its_columns_whatever_its_name(run, succeeds, tmp_path, names):
    path = saved(tmp_path / "names.npz", labels=LABELS, label_names=names)
    run("solve", path, "-f", "ml_sum", "-q", "-o", tmp_path / "answer.npz")
    out, _ = succeeds("predict", tmp_path / "answer.npz", path)
    assert run("predict", tmp_path / "answer.npz", path, "-o", tmp_path / "labels.csv")[0] == 0
    for text in (out, (tmp_path / "labels.csv").read_text(encoding="utf-8")):
        header, *rows = csv.reader(text.splitlines(keepends=True))
        assert [len(row) for row in (header, *rows)] == [6] * (T + 1)
        assert [name for name in header[3:] if "\\" not in name] == [name for name in names if name != "\ud800"]


@pytest.mark.parametrize(("name", "left_out"), [("ts", "beta"), ("hypergraph", "Z and B")])
def test_arrays_too_large_for_json_are_said_to_be_left_out(run, labelled, tmp_path, monkeypatch, name, left_out):
    monkeypatch.setattr(cli_solve, "LARGE", 20)
    monkeypatch.setattr(solution, "LARGE", 20)
    code, out, err = run("solve", labelled, "-f", name, "-q", "-o", tmp_path / "answer.json")
    assert (code, out) == (0, "")
    assert f"answer.json: {left_out} left out, too large for JSON: end the name in .npz to keep all\n" in err
    assert run("solve", labelled, "-f", name, "-q", "-o", tmp_path / "answer.npz") == (0, "", "")
    assert run("predict", tmp_path / "answer.npz", labelled)[0] == 0
