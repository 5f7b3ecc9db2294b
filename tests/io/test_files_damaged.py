"""Solutions' files that are damaged, incomplete or of another kind are refused in a line."""

import json

import numpy as np
import pytest

from mklcvx.io.files import load_solution, save_solution
from refusals import check_refused

N, M = 8, 3


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


# That every field is needed is seen in test_schemas.
DAMAGE = {
    "l1": {
        "alpha is shorter": lambda r: r["alpha"].pop(),
        "alpha has a hole": lambda r: r["alpha"].__setitem__(0, None),
        "alpha is nested": lambda r: r["alpha"].__setitem__(0, [1.0]),
        "alpha is text": lambda r: r.update(alpha="many"),
        "alpha is null": lambda r: r.update(alpha=None),
        "weights are longer": lambda r: r["weights"].append(0.0),
        "weights are nested": lambda r: r.update(weights=[[w] for w in r["weights"]]),
        "a weight is undefined": lambda r: r["weights"].__setitem__(0, None),
        "names are longer": lambda r: r["names"].append("d"),
        "norms are shorter": lambda r: r["norms"].pop(),
        "coefficients of another shape": lambda r: r.update(coefficients=[[1.0]]),
        "coefficients are ragged": lambda r: r.update(coefficients=[[1.0], [1.0, 2.0]]),
        "labels are shorter": lambda r: r["y"].pop(),
        "labels are nested": lambda r: r.update(y=[r["y"]]),
        "a label is zero": lambda r: r["y"].__setitem__(0, 0),
        "target is unknown": lambda r: r.update(target="colours"),
        "target is of many labels": lambda r: r.update(target="labels"),
        "target is of classes": lambda r: r.update(target="classes"),
        "labels have two names": lambda r: r.update(label_names=["a", "b"]),
        "names of labels are text": lambda r: r.update(label_names="y"),
        "names of labels are null": lambda r: r.update(label_names=None),
        "notes are text": lambda r: r.update(notes="none"),
        "bias is a list": lambda r: r.update(bias=[0.0]),
        "bias is null": lambda r: r.update(bias=None),
        "bias is beyond double precision": lambda r: r.update(bias=10**400),
        "iterations are text": lambda r: r.update(iterations="few"),
        "parameters are a number": lambda r: r.update(parameters=3),
        "multipliers are null": lambda r: r.update(multipliers=None),
        "certificate is a list": lambda r: r.update(certificate=[1, 2]),
        "interval has three ends": lambda r: r.update(bias_interval=[0, 1, 2]),
        "preprocessing is of another kind": lambda r: r.update(preprocessing={"steps": ["explode"]}),
    },
    "ml_sum": {
        "alpha lacks a label": lambda r: r["alpha"].pop(),
        "alpha is ragged": lambda r: r["alpha"][0].pop(),
        "alpha is that of one label": lambda r: r.update(alpha=r["alpha"][0]),
        "labels lack one": lambda r: r["y"].pop(),
        "a label is zero": lambda r: r["y"][2].__setitem__(3, 0),
        "bias is that of one label": lambda r: r.update(bias=0.0),
        "bias is nested": lambda r: r.update(bias=[[b] for b in r["bias"]]),
        "bias has a hole": lambda r: r["bias"].__setitem__(0, None),
        "names of labels lack one": lambda r: r["label_names"].pop(),
        "target is y": lambda r: r.update(target="y", label_names=["y"]),
        "target is null": lambda r: r.update(target=None),
        "classes are too few": lambda r: r.update(target="classes", classes=["a"]),
        "coefficients are those of one label": lambda r: r.update(coefficients=np.ones((M, N)).tolist()),
        "coefficients lack a label": lambda r: r.update(coefficients=np.ones((2, M, N)).tolist()),
        "a weight is undefined": lambda r: (r["weights"].__setitem__(0, None), r.update(coefficients=None)),
    },
    "hypergraph": {
        "B is null": lambda r: r["multipliers"].update(B=None),
        "B is text": lambda r: r["multipliers"].update(B="large"),
        "B is a vector": lambda r: r["multipliers"].update(B=[1.0] * N),
        "B lacks a sample": lambda r: r["multipliers"]["B"].pop(),
        "B is ragged": lambda r: r["multipliers"]["B"][0].pop(),
        "B has a hole": lambda r: r["multipliers"]["B"][0].__setitem__(0, None),
        "a weight is undefined": lambda r: r["weights"].__setitem__(0, None),
        "weights are longer": lambda r: r["weights"].append(0.0),
        "names of labels lack one": lambda r: r["label_names"].pop(),
        "labels are shorter": lambda r: r.update(y=[row[:-1] for row in r["y"]]),
    },
}


@pytest.fixture
def of(solution, families):
    """The solution of a formulation."""
    return lambda name: solution if name == "l1" else families(name)


@pytest.mark.parametrize(("name", "damage"), [(name, damage) for name in DAMAGE for damage in DAMAGE[name]])
def test_a_damaged_solution_is_refused(tmp_path, of, name, damage):
    record = json.loads(json.dumps(of(name).as_dict()))
    DAMAGE[name][damage](record)
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    with check_refused("solution ", "answer.json: incomplete or damaged (", "): write it again"):
        load_solution(tmp_path / "answer.json")


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("hypergraph", "multiplier_B", np.full((N, 3), np.nan)),
        ("hypergraph", "multiplier_B", np.ones((N - 1, 3))),
        ("hypergraph", "multiplier_B", np.array([["a"] * 3] * N)),
        ("hypergraph", "y", np.ones((2, N))),
        ("hypergraph", "weights", np.ones((M, 1))),
        ("l1", "alpha", np.full(N, np.nan)),
        ("l1", "alpha", np.ones((N, 1, 1))),
        ("l1", "alpha", np.array(1.0)),
        ("l1", "alpha", np.array(["a"] * N)),
        ("l1", "weights", np.full(M, np.inf)),
        ("l1", "y", np.zeros(N)),
        ("l1", "record", np.arange(3)),
        ("l1", "record", np.array("[]")),
    ],
)
def test_damaged_arrays_of_a_solution_are_refused(tmp_path, of, name, key, value):
    save_solution(tmp_path / "answer.npz", of(name))
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
