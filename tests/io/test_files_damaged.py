"""Solutions' files that are damaged, incomplete or of another kind are refused in a line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mklcvx.io.files import load_solution, save_solution
from refusals import check_refused
from stacks import FOR_FILES

N, M = 8, 3
TEST = FOR_FILES.test_kernels


@pytest.fixture
def record(solution):
    """A solution's JSON object, to be damaged."""
    return json.loads(json.dumps(solution.as_dict()))


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
        ("{}", ("schema None is not 'mklcvx.solution/2'", "give a file of mklcvx solve -o")),
        ('{"schema": "mklcvx.solution/3"}', ("schema 'mklcvx.solution/3' is not",)),
        ('{"schema": ["mklcvx.solution/1"]}', ("schema ['mklcvx.solution/1'] is not",)),
        ('{"schema": "mklcvx.solution/2"}', ("incomplete or damaged (KeyError: 'formulation')",)),
        ('{"schema": NaN}', ("not readable JSON (NaN is not a JSON number)",)),
        (deep(100_000), ("not readable JSON",)),
        ('{"a":' * 100_000, ("not readable JSON",)),
        ("9" * 10_000, ("not readable JSON",)),
        ("\ufeff{}", ("not readable JSON",)),
    ],
    ids=range(14),
)
def test_text_that_is_no_solution_is_refused(tmp_path, text, words):
    (tmp_path / "answer.json").write_text(text, encoding="utf-8")
    with check_refused("solution ", "answer.json: ", *words):
        load_solution(tmp_path / "answer.json")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "answer.json").write_bytes(b"\xff\xfe\x00{")
    with check_refused("answer.json: not readable", "write it again"):
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
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    with check_refused("solution ", "answer.json: incomplete or damaged (", "): write it again"):
        load_solution(tmp_path / "answer.json")


def test_solution_without_alpha_says_what_is_missing(tmp_path, record):
    record["alpha"] = None
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    with check_refused("answer.json: ", "it has neither alpha nor an embedding that fits"):
        load_solution(tmp_path / "answer.json")


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
    "a weight is undefined": lambda r: (r["weights"].__setitem__(0, None), r.update(coefficients=None)),
}


@pytest.mark.parametrize("damage", DAMAGE_OF_LABELS)
def test_damaged_solution_of_many_labels_is_refused(tmp_path, families, damage):
    record = json.loads(json.dumps(families("ml_sum").as_dict()))
    DAMAGE_OF_LABELS[damage](record)
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    with check_refused("solution ", "answer.json: incomplete or damaged (", "): write it again"):
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
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    with check_refused("solution ", "answer.json: incomplete or damaged (", "): write it again"):
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
    with check_refused("solution ", "answer.npz: "):
        load_solution(tmp_path / "answer.npz")


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(tmp_path, record, token):
    text = json.dumps(record | {"bias": "HERE"}).replace('"HERE"', token)
    (tmp_path / "answer.json").write_text(text, encoding="utf-8")
    with check_refused("answer.json: "):
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
    with check_refused("solution ", "answer.npz: "):
        load_solution(tmp_path / "answer.npz")


def test_solution_files_of_other_kinds_are_refused(tmp_path, path):
    with check_refused("answer.txt: no such file"):
        load_solution(tmp_path / "answer.txt")
    (tmp_path / "answer.txt").touch()
    with check_refused("answer.txt: unknown kind of file '.txt': give a .json or .npz file"):
        load_solution(tmp_path / "answer.txt")
    (tmp_path / "folder.json").mkdir()
    with check_refused("folder.json: is a folder: give a .json or .npz file"):
        load_solution(tmp_path / "folder.json")
    with check_refused("problem.npz: no solution (found groups, kernels,", "give a file of mklcvx solve -o"):
        load_solution(path)


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_truncated_solution_is_refused(tmp_path, solution, ending):
    answer = tmp_path / f"answer{ending}"
    save_solution(answer, solution)
    answer.write_bytes(answer.read_bytes()[:-100])
    with check_refused(f"answer{ending}: "):
        load_solution(answer)
