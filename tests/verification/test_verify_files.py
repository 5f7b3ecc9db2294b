"""Answers from files: judged on the command line, and refused in a line where they are hostile or damaged."""

import json
import pickle

import pytest

from judged import BINARY
from mklcvx import Instance, formulations, solve
from mklcvx.io.files import load_instance, save_answer, save_solution
from mklcvx.io.traces import save_trace
from processes import imported
from refusals import peak_of, strict, within_a_second

pytestmark = pytest.mark.slow


@pytest.fixture
def right(problem):
    """The certified solution of l1 with C = 2."""
    return solve(load_instance(problem), "l1", solver="interior", C=2.0)


@pytest.fixture
def answer(tmp_path):
    """Write an answer's file: JSON of a record, or text or bytes as they are."""

    def write(content, name="answer.json"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


# ------------------------------------------------------------------------------------------------- the command line
@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_solution_of_ours_is_accepted_as_it_stands(problem, right, quiet, tmp_path, ending):
    save_solution(tmp_path / f"a.{ending}", right)
    out = quiet("verify", problem, tmp_path / f"a.{ending}", "--json")
    report = strict(out)
    assert (report["verdict"], report["formulation"], report["parameters"]["C"]) == ("accepted", "l1", 2.0)


def test_a_folder_of_csv_files_is_read(problem, right, run, quiet, tmp_path):
    given = {"weights": right.weights, "alpha": right.alpha, "bias": right.bias, "objective": right.objective}
    save_answer(tmp_path / "a", multipliers={"tau": right.multipliers["tau"]}, **given)
    out = quiet("verify", problem, tmp_path / "a", "-f", "l1", "--set", "C=2", "--json")
    assert [part["part"] for part in strict(out)["parts"]] == ["weights", "alpha", "bias", "tau", "objective"]
    (tmp_path / "a" / "formulation.csv").write_text("l1\n", encoding="utf-8")
    assert run("verify", problem, tmp_path / "a", "--set", "C=2")[0] == 0
    (tmp_path / "a" / "weights.csv").write_text("0.2\n0.3\n0.5\n", encoding="utf-8")
    code, out, _ = run("verify", problem, tmp_path / "a", "--set", "C=2", "--json", "--no-diagnosis")
    assert code == 1
    assert {part["part"]: part["verdict"] for part in strict(out)["parts"]}["weights"] == "rejected"


def test_a_wrong_answer_is_shown_with_its_diagnosis(problem, right, run, answer):
    code, out, err = run("verify", problem, answer({"objective": -right.objective}), "-f", "l1", "--set", "C=2")
    assert code == 1
    assert "objective" in out
    assert "rejected at 1e-06" in out
    assert err.count("\n") == 1
    assert err.startswith("mklcvx: rejected: right but for the objective's sign")


def test_the_command_line_overrides_the_file_and_says_so(problem, right, run, tmp_path):
    save_solution(tmp_path / "a.json", right)
    code, out, err = run("verify", problem, tmp_path / "a.json", "-f", "sum", "--set", "C=2.5", "--json")
    assert code == 1
    assert "the answer says formulation l1, judged as sum" in err
    assert "the answer says C = 2.0, judged with 2.5" in err
    assert strict(out)["parameters"]["C"] == 2.5
    assert strict(out)["diagnosis"]["name"] == "as_stated"
    assert "l1 (C = 2.0" in strict(out)["diagnosis"]["words"]
    code, out, _ = run("verify", problem, tmp_path / "a.json", "--set", "nu=0.5", "--json")
    assert code == 1
    assert "C" not in strict(out)["parameters"]


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_a_trace_from_a_file(problem, run, succeeds, tmp_path, ending):
    found = solve(load_instance(problem), "l1", solver="simplemkl", tol=1e-4)
    save_trace(tmp_path / f"t.{ending}", found)
    out, _ = succeeds("verify", problem, tmp_path / f"t.{ending}", "-f", "l1", "--tol", "1e-3", "--json")
    assert len(strict(out)["trace"]) == len(found.trace)
    assert run("verify", problem, tmp_path / f"t.{ending}", "-f", "l1", "--tol", "1e-3")[0] == 0


# ------------------------------------------------------------------------------------------------- hostile answers
LONG = '{"formulation":"l1","weights":[' + "0," * 9_999_999 + "0]}"

HOSTILE = {
    "empty": "",
    "of the wrong length": '{"formulation": "l1", "weights": [0.5, 0.5]}',
    "alpha of the wrong length": '{"formulation": "l1", "alpha": [0.5, 0.5]}',
    "with NaN": '{"formulation": "l1", "weights": [NaN, 0.5, 0.5]}',
    "with infinity": '{"formulation": "l1", "objective": 1e999}',
    "with null": '{"formulation": "l1", "weights": [null, 0.5, 0.5]}',
    "with strings": '{"formulation": "l1", "weights": ["0.2", "0.3", "0.5"]}',
    "a word for a number": '{"formulation": "l1", "objective": "large"}',
    "ragged": '{"formulation": "l1", "weights": [[0.2], [0.3, 0.1], 0.5]}',
    "no formulation": '{"weights": [0.2, 0.3, 0.5]}',
    "an unknown formulation": '{"formulation": "l9", "weights": [0.2, 0.3, 0.5]}',
    "nothing to judge": '{"formulation": "l1", "remark": "it went well"}',
    "bad parameters": '{"formulation": "l1", "parameters": {"C": [1, 2]}, "weights": [0.2, 0.3, 0.5]}',
    "ten million entries": LONG,
    "nested lists": '{"formulation": "l1", "weights": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "many empty lists": '{"formulation": "l1", "weights": [' + "[]," * 250_000 + "[]]}",
    "nested objects": '{"formulation": "l1", "multipliers": ' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "}",
    "rows of nonsense": '{"formulation": "l1", "rows": [1, 2]}',
    "no rows": '{"formulation": "l1", "rows": []}',
    "steps of nonsense": '{"formulation": "l1", "weights": [0.2, 0.3, 0.5], "preprocessing": {"steps": [7]}}',
    "pickled": pickle.dumps({"weights": [1.0]}),
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_hostile_answer_is_refused_in_a_line_and_at_once(problem, refusal, answer, fault):
    path = answer(HOSTILE[fault])
    with within_a_second():
        err = refusal("verify", problem, path)
    assert len(err) < 400


@pytest.mark.parametrize("fault", ["ten million entries", "nested lists", "many empty lists", "nested objects"])
def test_a_bomb_takes_no_memory(problem, refusal, answer, fault):
    path = answer(HOSTILE[fault])
    assert peak_of(lambda: refusal("verify", problem, path)) < 100e6


def test_an_answer_that_is_no_file_or_missing(problem, refusal, tmp_path):
    for name in ("folder.json", "folder.csv"):
        (tmp_path / name).mkdir()
        assert "is a folder" in refusal("verify", problem, tmp_path / name, "-f", "l1")
    (tmp_path / "empty").mkdir()
    assert "has none of weights" in refusal("verify", problem, tmp_path / "empty", "-f", "l1")
    assert "no such file" in refusal("verify", problem, tmp_path / "missing.json", "-f", "l1")
    assert "no such file" in refusal("verify", problem, tmp_path / "missing.csv", "-f", "l1")


def test_nothing_heavy_is_imported_for_a_refusal(problem, answer):
    commands = []
    for fault in ("empty", "ten million entries", "bad parameters", "of the wrong length"):
        commands.append(("verify", problem, answer(HOSTILE[fault], f"{fault}.json")))
    for command, (status, said, heavy) in zip(commands, imported(*commands), strict=True):
        assert (status, len(said), heavy) == (2, 1, []), command


def test_unknown_parameters_of_a_file_are_named(problem, right, run, succeeds, answer):
    """c is not C: silently dropped it would be a verdict on another problem."""
    said = {"weights": right.weights.tolist(), "parameters": {"c": 2.0, "C": 2.0, "seed\n": 1}}
    out, err = succeeds("verify", problem, answer(said), "-f", "l1", "--json")
    note = "the answer's parameters c, seed"
    assert note in err
    assert "are unknown, and not used: known are loss, C, nu" in err
    assert err.count("\n") == 1
    assert any(line.startswith(note) for line in strict(out)["notes"])
    many = {f"p{m}": m for m in range(9)}
    err = run("verify", problem, answer({**said, "parameters": many}), "-f", "l1")[2]
    assert "p0, p1, p2, p3, p4 and 4 more" in err


@pytest.mark.parametrize("name", ["l1", "smp", "vskl", "ml_sum", "ts", "alignment", "hypergraph_smooth"])
def test_the_parameters_of_our_own_solutions_are_known(name):
    grouped = Instance(BINARY.kernels, BINARY.y, groups=[0, 0, 1, 2])
    assert set(solve(grouped, name).parameters) <= set(formulations.get(name).parameter_names)
