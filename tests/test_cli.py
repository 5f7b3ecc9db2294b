"""The command line: exit status, one line per refusal, strict JSON, files, and no heavy import before solving."""

from __future__ import annotations

import csv
import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import mklcvx
from mklcvx import Instance, cli, formulations, solution, solving
from mklcvx.files import load_instance, load_solution, save_instance
from mklcvx.preprocess import Preprocessing

RNG = np.random.default_rng(9)
N, M, T = 8, 3, 5
Y = np.repeat([1, -1], N // 2)
TEST_Y = np.array([1, 1, -1, -1, 1])
FEATURES = RNG.normal(size=(M, N, 2)) + 0.7 * Y[:, None]
TEST_FEATURES = RNG.normal(size=(M, T, 2)) + 0.7 * TEST_Y[:, None]
K = FEATURES @ FEATURES.transpose(0, 2, 1) + 0.5 * np.eye(N)
TEST = TEST_FEATURES @ FEATURES.transpose(0, 2, 1)
DIAGONALS = (TEST_FEATURES**2).sum(axis=2) + 0.5
LABELS = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 0]])
TEST_LABELS = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
CLASSES = np.array(["cat", "cat", "cat", "dog", "dog", "dog", "owl", "owl"])
TEST_CLASSES = np.array(["cat", "cat", "owl", "dog", "cat"])
NAMES = [formulation.name for formulation in formulations.FORMULATIONS]
FAMILIES = [name for name in NAMES if formulations.get(name) not in formulations.SINGLE_TASKS]
EMBEDDINGS = ["hypergraph", "hypergraph_smooth"]
CLASSIFIERS = [name for name in FAMILIES if name not in EMBEDDINGS]
KEYS = {
    "schema", "formulation", "parameters", "solver", "status", "objective", "weights", "alpha", "bias",
    "coefficients", "multipliers", "certificate", "iterations", "seconds",
}  # fmt: skip


@pytest.fixture
def problem(tmp_path):
    """An instance with everything, in a file."""
    path = tmp_path / "problem.npz"
    instance = Instance(
        K,
        Y,
        groups=[0, 0, 1],
        names=["age", "genes", "height"],
        test_kernels=TEST,
        test_y=TEST_Y,
        test_diagonals=DIAGONALS,
    )
    save_instance(path, instance)
    return path


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


@pytest.fixture
def run(capsys):
    """Run a command in this process: exit status, standard output, standard error."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return call


@pytest.fixture
def refusal(run):
    """Run a command that must be refused: exit status 2, nothing on standard output, one line on standard error."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("mklcvx: ")
        assert err.count("\n") == 1
        assert err.endswith("\n")
        assert "Traceback" not in err
        return err

    return call


def strict(text):
    """JSON without NaN and Infinity, which are none of it."""
    return json.loads(text, parse_constant=lambda token: pytest.fail(f"{token} is no JSON"))


# ----------------------------------------------------------------------------------------------------------- solve
def test_certified_solution_is_shown_with_status_zero(run, problem):
    code, out, err = run("solve", problem, "-f", "l1")
    assert (code, err) == (0, "")
    for word in ("l1 (C = 1, bias)", "certified", "optimum", "relative gap", "age", "genes", "height"):
        assert word in out


def test_json_is_one_strict_object_with_every_key(run, problem):
    code, out, err = run("solve", problem, "-f", "sm1", "--set", "theta=0.5", "--set", "C=2", "--json")
    assert (code, err) == (0, "")
    content = strict(out)
    assert set(content) >= KEYS
    assert content["schema"] == "mklcvx.solution/1"
    assert content["status"] == "certified"
    assert content["parameters"] == {"C": 2.0, "theta": 0.5, "bias": True}
    assert set(content["certificate"]) == {"lower", "upper", "gap", "relative_gap", "scale"}
    assert content["certificate"]["lower"] <= content["objective"] <= content["certificate"]["upper"]
    assert len(content["weights"]) == M
    assert len(content["alpha"]) == N
    assert content["coefficients"] is None or np.shape(content["coefficients"]) == (M, N)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"svm"}))
def test_every_formulation_can_be_asked_for(run, problem, name):
    code, out, _ = run("solve", problem, "-f", name, "--json")
    content = strict(out)
    assert (code, content["formulation"], content["status"]) == (0, name, "certified")


def test_undefined_weights_are_null_and_the_coefficients_are_there(run, tmp_path):
    features = np.stack([Y * 1.0, Y * 2.0, Y * 3.0, RNG.normal(size=N)])
    np.savez(tmp_path / "ranks.npz", kernels=features[:, :, None] * features[:, None, :], y=Y)
    code, out, _ = run("solve", tmp_path / "ranks.npz", "-f", "li", "--set", "C=10", "--json")
    content = strict(out)
    assert code == 0
    assert None in content["weights"]
    assert np.shape(content["coefficients"]) == (4, N)


@pytest.mark.parametrize("limits", [("--max-iter", "1"), ("--tol", "1e-15"), ("--solver", "scs", "--max-iter", "3")])
def test_uncertified_solution_has_status_one_and_says_its_gap(run, problem, limits):
    code, out, err = run("solve", problem, "-f", "sm2", *limits, "--json")
    content = strict(out)
    assert (code, content["status"]) == (1, "not_certified")
    gap = content["certificate"]["relative_gap"]
    assert err == f"mklcvx: {content['message']}\n"
    assert f"not certified: relative gap {gap:.2e}, asked for " in err


def test_uncertified_solution_is_shown_and_written_all_the_same(run, problem, tmp_path):
    code, out, err = run("solve", problem, "--max-iter", "1", "-o", tmp_path / "answer.json")
    assert code == 1
    assert "not_certified" in out
    assert "not certified: relative gap" in err
    assert not load_solution(tmp_path / "answer.json").certified


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_output_is_the_solution_that_python_finds(run, problem, tmp_path, ending):
    answer = tmp_path / f"answer{ending}"
    assert run("solve", problem, "-f", "l2", "--set", "nu=0.5", "-o", answer, "--quiet") == (0, "", "")
    found, loaded = mklcvx.solve(load_instance(problem), "l2", nu=0.5), load_solution(answer)
    np.testing.assert_allclose(loaded.weights, found.weights, rtol=1e-12)
    np.testing.assert_allclose(loaded.decision_function(TEST), found.decision_function(TEST), rtol=1e-9)
    assert loaded.parameters == found.parameters


def test_quiet_says_nothing_but_faults(run, problem):
    assert run("solve", problem, "--quiet") == (0, "", "")
    code, out, err = run("solve", problem, "--quiet", "--max-iter", "1")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1


def test_some_kernels_only(run, problem):
    code, out, _ = run("solve", problem, "--kernels", "height, 0", "--json")
    content = strict(out)
    assert (code, content["names"]) == (0, ["height", "age"])
    code, out, _ = run("solve", problem, "-f", "svm", "--kernels", "genes", "--json")
    assert (code, strict(out)["names"]) == (0, ["genes"])


def test_bias_is_switched_off_by_word_or_number(run, problem):
    for word in ("false", "0", "no"):
        code, out, _ = run("solve", problem, "--set", f"bias={word}", "--json")
        assert code == 0
        assert strict(out)["parameters"]["bias"] is False


@pytest.mark.parametrize("solver", ["exact", "silp_exact"])
def test_solvers_agree(run, problem, solver):
    code, out, _ = run("solve", problem, "--solver", solver, "--tol", "1e-7", "--json")
    content = strict(out)
    assert (code, content["solver"]) == (0, solver)
    assert content["objective"] == pytest.approx(mklcvx.solve(load_instance(problem), "l1").objective, rel=1e-6)


def test_matlab_file_gives_the_same_answer(run, problem, tmp_path):
    import scipy.io

    scipy.io.savemat(tmp_path / "problem.mat", {"kernels": np.moveaxis(K, 0, 2), "y": Y[:, None]})
    values = [strict(run("solve", file, "--json")[1])["objective"] for file in (problem, tmp_path / "problem.mat")]
    assert values[0] == values[1]


@pytest.mark.parametrize("repair", ["clip", "shift"])
def test_repair_says_what_it_changed(run, refusal, tmp_path, repair):
    indefinite = K.copy()
    indefinite[1, 0, 0] = -2.0
    np.savez(tmp_path / "bad.npz", kernels=indefinite, y=Y, names=["age", "ge\x1bnes", "height"])
    assert "not positive semidefinite" in refusal("solve", tmp_path / "bad.npz")
    for more in ((), ("--kernels", "age,1")):
        code, out, err = run("solve", tmp_path / "bad.npz", "--repair", repair, *more, "--json")
        assert (code, strict(out)["status"]) == (0, "certified")
        assert err.startswith("mklcvx: repaired kernel 'ge")
        assert f"(index 1): {'clipped' if repair == 'clip' else 'shifted'}: " in err
        assert "\x1b" not in err


def test_names_are_shown_as_they_are_and_never_obeyed(run, tmp_path):
    np.savez(tmp_path / "names.npz", kernels=K, y=Y, names=["[/red]", "[bold]loud", "\x1b[2Jclear"])
    code, out, _ = run("solve", tmp_path / "names.npz")
    assert code == 0
    assert "[/red]" in out
    assert "[bold]loud" in out
    assert "\x1b" not in out


# ------------------------------------------------------------------------- many labels, two stages and hypergraphs
OWN_ROWS = {"ml_sum": "class_values", "ml_minimax": "gamma", "alignment": "normalised", "hypergraph": "eigenvalues"}


@pytest.mark.parametrize("name", FAMILIES)
def test_solution_of_every_family_is_shown(run, labelled, name):
    code, out, err = run("solve", labelled, "-f", name)
    assert (code, err) == (0, "")
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


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_dependent_labels_are_noted(run, tmp_path, name):
    path = saved(tmp_path / "twice.npz", labels=LABELS[:, [0, 1, 1]])
    code, out, _ = run("solve", path, "-f", name)
    assert code == 0
    assert "the 3 labels are dependent" in " ".join(out.split())
    assert "has rank 2" in " ".join(out.split())


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


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_json_of_many_labels_has_a_row_for_every_label(run, labelled, name):
    code, out, err = run("solve", labelled, "-f", name, "--json")
    assert (code, err) == (0, "")
    content = strict(out)
    assert set(content) >= KEYS
    assert (content["formulation"], content["status"], content["target"]) == (name, "certified", "labels")
    assert set(content["certificate"]) == {"lower", "upper", "gap", "relative_gap", "scale"}
    assert content["objective"] in (content["certificate"]["lower"], content["certificate"]["upper"])
    assert np.shape(content["weights"]) == (M,)
    assert np.shape(content["alpha"]) == (3, N)
    assert np.shape(content["bias"]) == (3,)
    assert content["bias_interval"] is None
    assert content["coefficients"] is None or np.shape(content["coefficients"]) == (3, M, N)
    assert content["y"] == (2 * LABELS.T - 1).tolist()
    assert content["label_names"] == ["red", "green", "blue"]
    assert content["classes"] is None
    assert (content["norms"] is None) == (name in ("ts", "ts_l1", "alignment"))
    if name.startswith("ml_"):
        assert content["parameters"]["bias"] is False
        assert content["bias"] == [0, 0, 0]
        assert np.shape(content["multipliers"]["gamma"]) == (3,)


def test_maximum_is_reported_as_a_maximum(run, labelled):
    content = strict(run("solve", labelled, "-f", "alignment", "--json")[1])
    assert content["objective"] == content["certificate"]["lower"]
    content = strict(run("solve", labelled, "-f", "ts", "--json")[1])
    assert content["objective"] == content["certificate"]["upper"]
    assert np.shape(content["multipliers"]["beta"]) == (N * (N + 1) // 2,)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_json_of_a_hypergraph_has_its_embedding(run, labelled, name):
    code, out, err = run("solve", labelled, "-f", name, "--set", "dimensions=2", "--json")
    assert (code, err) == (0, "")
    content = strict(out)
    assert set(content) >= KEYS
    assert (content["status"], content["parameters"]["dimensions"]) == ("certified", 2)
    assert [content[key] for key in ("alpha", "coefficients", "norms", "bias_interval")] == [None] * 4
    assert np.shape(content["multipliers"]["Z"]) == (N, 3)
    assert np.shape(content["multipliers"]["B"]) == (N, 2)
    assert np.shape(content["multipliers"]["eigenvalues"]) == (3,)
    assert "1 of 8 samples" in content["notes"][0]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_solves_classes_and_plus_minus_one(run, problem, classed, name):
    for file, kind, rows in ((problem, "y", 1), (classed, "classes", 3)):
        code, out, _ = run("solve", file, "-f", name, "--json")
        content = strict(out)
        assert (code, content["status"], content["target"]) == (0, "certified", kind)
        assert np.size(content["y"]) == rows * N
    assert content["label_names"] == content["classes"] == ["cat", "dog", "owl"]


@pytest.mark.parametrize("name", ["ml_minimax", "ts", "hypergraph"])
def test_uncertified_solution_of_a_family_has_status_one(run, labelled, name):
    code, out, err = run("solve", labelled, "-f", name, "--max-iter", "1", "--json")
    content = strict(out)
    assert (code, content["status"]) == (1, "not_certified")
    assert err == f"mklcvx: {content['message']}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("l1 needs labels y in {−1, +1}, the instance has labels", "one of the 3 labels", "use ml_sum")),
        (("-f", "elastic"), ("elastic needs labels y", "or use ml_sum")),
        (("-f", "ml_sum", "--set", "nu=0.5"), ("unknown parameter 'nu' of ml_sum",)),
        (("-f", "ml_minimax", "--set", "C=0"), ("parameter C = 0 is outside the limits of ml_minimax",)),
        (("-f", "ts", "--set", "lam=0"), ("parameter lam = 0 is outside the limits of ts", "λ > 0")),
        (("-f", "ts", "--set", "balanced=perhaps"), ("parameter balanced = 'perhaps' is neither true nor false",)),
        (("-f", "alignment", "--set", "approximate=3"), ("parameter approximate = 3 is neither true nor false",)),
        (("-f", "hypergraph", "--set", "expansion=stars"), ("expansion = 'stars'", "did you mean 'star'?")),
        (("-f", "hypergraph", "--set", "dimensions=4"), ("dimensions = 4 exceeds the rank of C", "at most 3")),
        (("-f", "hypergraph", "--set", "dimensions=1.5"), ("dimensions = 1.5", "a whole number")),
        (("-f", "hypergraph_smooth", "--set", "smoothing=0"), ("smoothing = 0", "μ > 0")),
        (("-f", "hypergraf"), ("unknown formulation 'hypergraf'", "did you mean 'hypergraph'?")),
        (("-f", "ml_sum", "--solver", "silp_exact"), ("silp_exact does not fit ml_sum", "l1, sm1 and hypergraph")),
    ],
)
def test_unusable_requests_of_the_families_are_refused_in_one_line(refusal, labelled, arguments, words):
    message = refusal("solve", labelled, *arguments)
    for word in words:
        assert word in message


@pytest.mark.parametrize("name", ["ml_sum", "ts", "hypergraph"])
def test_label_that_nobody_has_is_refused_by_name_whatever_the_name(refusal, tmp_path, name):
    path = saved(tmp_path / "empty.npz", labels=LABELS * [1, 0, 1], label_names=["red", "gre\x1ben\n", "blue"])
    message = refusal("solve", path, "-f", name)
    assert "nobody has label 'gre" in message
    assert "\x1b" not in message


# -------------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "C"), ("--set 'C' is not KEY=VALUE", "write for example --set C=10")),
        (("--set", "=3"), ("--set '=3' is not KEY=VALUE",)),
        (("--set", "C="), ("--set 'C=' is not KEY=VALUE",)),
        (("--set", "C=1", "--set", "C=2"), ("--set C is given twice", "keep one")),
        (("--set", "biass=1"), ("unknown parameter 'biass' of l1", "did you mean 'bias'?")),
        (("--set", "C=ten"), ("parameter C = 'ten' is not a number",)),
        (("--set", "C=nan"), ("parameter C = nan is not a number",)),
        (("--set", "C=1e999"), ("parameter C = inf is not a number",)),
        (("--set", "C=-1"), ("parameter C = -1 is outside the limits of l1", "C > 0")),
        (("--set", "C=1", "--set", "nu=0.5"), ("C and nu are both given", "keep one")),
        (("-f", "sm1", "--set", "theta=0.1"), ("theta = 0.1", "θ ≥ 1/M")),
        (("-f", "elastik"), ("unknown formulation 'elastik'", "did you mean 'elastic'?")),
        (("-f", "svm"), ("svm takes one kernel, the instance has 3",)),
        (("--solver", "exakt"), ("unknown solver 'exakt'", "did you mean 'exact'?")),
        (("-f", "l2", "--solver", "silp_exact"), ("solver silp_exact does not fit l2", "use exact")),
        (("--tol", "0"), ("tol = 0.0 is not between 0 and 1",)),
        (("--tol", "small"), ("--tol",)),
        (("--max-iter", "0"), ("max_iter = 0 is below 1",)),
        (("--max-iter", "1.5"), ("--max-iter",)),
        (("--time-limit", "-1"), ("time_limit = -1.0 is not positive",)),
        (("--repair", "mend"), ("repair = 'mend' is unknown", "give 'clip' or 'shift'")),
        (("--normalise", "tracee"), ("normalise 'tracee' is unknown", "did you mean 'trace'?")),
        (("--kernels", "age,weight"), ("unknown kernel 'weight'", "one of age, genes, height")),
        (("--kernels", ""), ("unknown kernel ''",)),
        (("-o", "answer.txt"), ("output answer.txt: unknown kind of file '.txt'", ".json or .npz")),
        (("-o", "nowhere/answer.json"), ("no folder nowhere", "create it first")),
        (("-o",), ("-o",)),
        (("--colour",), ("--colour", "see mklcvx --help")),
        (("more.npz",), ("more.npz", "see mklcvx --help")),
    ],
)
def test_unusable_requests_are_refused_in_one_line(refusal, problem, arguments, words):
    message = refusal("solve", problem, *arguments)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solv",), ("solv", "solve")),
        (("solve",), ("Missing argument",)),
        (("--colour",), ("--colour",)),
        (("explain",), ("Missing argument",)),
        (("explain", "elastik"), ("unknown formulation 'elastik'", "did you mean 'elastic'?")),
        (("predict", "answer.json"), ("Missing argument",)),
        (("predict", "nowhere.json", "nowhere.npz"), ("nowhere.json: no such file",)),
        (("demo", "--samples", "1"), ("--samples",)),
    ],
)
def test_unknown_commands_and_missing_arguments_are_refused_in_one_line(refusal, arguments, words):
    message = refusal(*arguments)
    for word in words:
        assert word in message


def test_groups_are_asked_for(refusal, tmp_path):
    np.savez(tmp_path / "file.npz", kernels=K, y=Y)
    assert "ckl needs groups of kernels" in refusal("solve", tmp_path / "file.npz", "-f", "ckl")


def test_line_breaks_in_the_names_of_files_do_not_break_the_line(refusal, tmp_path):
    assert "two lines.npz: no such file" in refusal("solve", tmp_path / "two\nlines.npz")


def test_numbers_beyond_double_precision_are_said_in_one_line(refusal, problem, monkeypatch):
    def overflow(*_, **__):
        raise OverflowError(34, "Numerical result out of range")

    monkeypatch.setattr(solving, "assemble", overflow)
    assert "left the range of double precision" in refusal("solve", problem)


def test_lack_of_memory_is_said_in_one_line(refusal, problem, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr(solving, "assemble", exhausted)
    assert "not enough memory for this instance: use fewer samples" in refusal("solve", problem)


def test_broken_promise_of_our_own_is_no_unusable_input(run, problem, monkeypatch):
    def contradiction(*_, **__):
        raise mklcvx.errors.InternalError("the bounds contradict weak duality")

    monkeypatch.setattr(solving, "assemble", contradiction)
    code, out, err = run("solve", problem)
    assert (code, out) == (1, "")
    assert err == "mklcvx: a defect of mklcvx itself: the bounds contradict weak duality; please report it\n"


def test_impossible_output_is_refused_before_the_work(refusal, problem, monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "load_instance", lambda *_, **__: pytest.fail("read before refusing"))
    assert "create it first" in refusal("solve", problem, "-o", tmp_path / "nowhere" / "answer.json")


def test_interrupted_solve_leaves_nothing(run, problem, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(solving, "assemble", interrupted)
    (tmp_path / "old.json").write_text("old")
    before = sorted(tmp_path.iterdir())
    for name in ("old.json", "new.json"):
        code, out, err = run("solve", problem, "-o", tmp_path / name)
        assert (code, out, err) == (130, "", "mklcvx: interrupted; nothing was written\n")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "old.json").read_text() == "old"


def test_failing_write_leaves_the_old_answer(refusal, problem, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "answer.json").write_text("old")
    monkeypatch.setattr(os, "replace", full)
    assert "answer.json: could not be written (No space left on device)" in refusal(
        "solve", problem, "-q", "-o", tmp_path / "answer.json"
    )
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answer.json", "problem.npz"]
    assert (tmp_path / "answer.json").read_text() == "old"


# --------------------------------------------------------------------------------------------------------- predict
@pytest.fixture
def answer(run, problem, tmp_path):
    run("solve", problem, "-f", "l1", "-o", tmp_path / "answer.json", "-q")
    return tmp_path / "answer.json"


def test_predictions_are_those_of_python(run, problem, answer):
    code, out, err = run("predict", answer, problem)
    values = load_solution(answer).decision_function(TEST)
    rows = [line.split(",") for line in out.splitlines()]
    assert code == 0
    assert rows[0] == ["decision", "label"]
    assert [float(value) for value, _ in rows[1:]] == values.tolist()
    assert [int(label) for _, label in rows[1:]] == np.where(values >= 0, 1, -1).tolist()
    assert err == f"accuracy {np.mean(np.where(values >= 0, 1, -1) == TEST_Y):.4f} on {T} samples\n"


def test_without_test_labels_no_accuracy_is_said(run, answer, tmp_path):
    np.savez(tmp_path / "test.npz", test_kernels=TEST)
    code, out, err = run("predict", answer, tmp_path / "test.npz")
    assert (code, err) == (0, "")
    assert out.count("\n") == T + 1


def test_predictions_are_written_as_csv_json_or_npz(run, problem, answer, tmp_path):
    values = load_solution(answer).decision_function(TEST)
    for ending in ("csv", "json", "npz"):
        code, out, err = run("predict", answer, problem, "-o", tmp_path / f"labels.{ending}")
        assert (code, out) == (0, "")
        assert err.startswith("accuracy ")
    table = np.loadtxt(tmp_path / "labels.csv", delimiter=",", skiprows=1)
    content = strict((tmp_path / "labels.json").read_text())
    assert content["schema"] == "mklcvx.prediction/1"
    with np.load(tmp_path / "labels.npz") as arrays:
        for decision, label in ((table[:, 0], table[:, 1]), content_of(content), (arrays["decision"], arrays["label"])):
            np.testing.assert_array_equal(decision, values)
            np.testing.assert_array_equal(label, np.where(values >= 0, 1, -1))


def content_of(content):
    return np.array(content["decision"]), np.array(content["label"])


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        (("--centre",), {"centre": True}),
        (("--normalise", "trace"), {"normalise": "trace"}),
        (("--normalise", "cosine"), {"normalise": "cosine"}),
        (("--centre", "--normalise", "variance"), {"centre": True, "normalise": "variance"}),
    ],
)
def test_preprocessing_travels_with_the_solution_to_raw_test_kernels(run, problem, tmp_path, options, steps):
    for ending in ("json", "npz"):
        answer = tmp_path / f"answer.{ending}"
        assert run("solve", problem, *options, "-q", "-o", answer)[0] == 0
        code, out, _ = run("predict", answer, problem)
        chain = Preprocessing.from_options(**steps).fit(K)
        by_hand = mklcvx.solve(Instance(chain.train(K), Y), "l1").decision_function(chain.test(TEST, DIAGONALS))
        assert code == 0
        np.testing.assert_allclose([float(line.split(",")[0]) for line in out.splitlines()[1:]], by_hand, rtol=1e-9)


def test_cosine_asks_for_the_test_diagonals(run, refusal, problem, tmp_path):
    run("solve", problem, "--normalise", "cosine", "-q", "-o", tmp_path / "answer.json")
    np.savez(tmp_path / "test.npz", test_kernels=TEST)
    assert "test_diagonals is missing" in refusal("predict", tmp_path / "answer.json", tmp_path / "test.npz")


def test_centring_works_where_it_takes_most_of_the_kernel_away(run, tmp_path):
    features = np.random.default_rng(0).normal(1000.0, 1.0, size=(20, 3))
    np.savez(tmp_path / "far.npz", kernels=(features @ features.T)[None], y=np.tile([1, -1], 10))
    assert run("solve", tmp_path / "far.npz", "--centre", "-q")[0] == 0


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"kernels": K}, ("no array 'test_kernels' (found kernels)",)),
        ({"test_kernels": TEST[:2]}, ("test_kernels have shape (2, 5, 8)", "give (3, t, 8)")),
        ({"test_kernels": TEST * np.nan}, ("not finite",)),
        ({"test_kernels": TEST, "test_y": [1, -1]}, ("test_y has 2 labels for 5 rows of test_kernels",)),
        ({"test_kernels": TEST, "test_y": [0, 1, 0, 1, 1]}, ("test_y has labels 0, 1", "numpy.where(test_y == 1")),
    ],
)
def test_unusable_test_files_are_refused_before_anything_is_printed(refusal, answer, tmp_path, arrays, words):
    np.savez(tmp_path / "test.npz", **arrays)
    message = refusal("predict", answer, tmp_path / "test.npz", "-o", tmp_path / "labels.csv")
    assert message.startswith("mklcvx: test ")
    for word in ("test.npz: ", *words):
        assert word in message
    assert not (tmp_path / "labels.csv").exists()


def test_decision_values_beyond_double_precision_are_refused(refusal, answer, tmp_path):
    record = json.loads(answer.read_text())
    record["coefficients"] = np.full((M, N), 1e10).tolist()
    answer.write_text(json.dumps(record))
    np.savez(tmp_path / "test.npz", test_kernels=TEST * 1e305)
    assert "test_kernels are too large for double precision" in refusal("predict", answer, tmp_path / "test.npz")


def test_no_test_samples_give_no_predictions(run, answer, tmp_path):
    np.savez(tmp_path / "test.npz", test_kernels=TEST[:, :0], test_y=TEST_Y[:0])
    assert run("predict", answer, tmp_path / "test.npz") == (0, "decision,label\n", "")


def table_of(text):
    """Header and columns of a CSV table, as text."""
    header, *rows = [line.split(",") for line in text.splitlines()]
    return header, [list(column) for column in zip(*rows, strict=True)]


def f1(truth, labels):
    return 2 * np.sum(truth * labels) / max(np.sum(truth) + np.sum(labels), 1)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_of_many_labels_have_two_columns_for_each(run, labelled, tmp_path, name):
    answer = tmp_path / "answer.json"
    run("solve", labelled, "-f", name, "-q", "-o", answer)
    code, out, err = run("predict", answer, labelled)
    model = load_solution(answer)
    header, columns = table_of(out)
    assert code == 0
    assert header == ["decision red", "decision green", "decision blue", "red", "green", "blue"]
    np.testing.assert_array_equal(np.array(columns[:3], dtype=float).T, model.decision_function(TEST))
    labels = np.array(columns[3:], dtype=int).T
    np.testing.assert_array_equal(labels, model.decision_function(TEST) >= 0)
    macro = np.mean([f1(*pair) for pair in zip(TEST_LABELS.T, labels.T, strict=True)])
    assert err == f"macro F1 {macro:.4f}, micro F1 {f1(TEST_LABELS, labels):.4f} on {T} samples\n"


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_of_classes_name_the_class(run, classed, tmp_path, name):
    answer = tmp_path / "answer.npz"
    run("solve", classed, "-f", name, "-q", "-o", answer)
    code, out, err = run("predict", answer, classed)
    header, columns = table_of(out)
    assert code == 0
    assert header == ["decision cat", "decision dog", "decision owl", "class"]
    largest = np.array(columns[:3], dtype=float).argmax(axis=0)
    assert columns[3] == np.array(["cat", "dog", "owl"])[largest].tolist()
    assert err == f"accuracy {np.mean(np.array(columns[3]) == TEST_CLASSES):.4f} on {T} samples\n"


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_of_plus_minus_one_are_the_same_table_in_every_family(run, problem, tmp_path, name):
    run("solve", problem, "-f", name, "-q", "-o", tmp_path / "answer.json")
    code, out, err = run("predict", tmp_path / "answer.json", problem)
    header, (values, labels) = table_of(out)
    assert (code, header) == (0, ["decision", "label"])
    assert [int(label) for label in labels] == [1 if float(value) >= 0 else -1 for value in values]
    assert err.startswith("accuracy ")


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
def test_predictions_of_a_hypergraph_are_embeddings(run, labelled, tmp_path, name):
    answer = tmp_path / "answer.npz"
    run("solve", labelled, "-f", name, "--set", "dimensions=2", "-q", "-o", answer)
    code, out, err = run("predict", answer, labelled)
    header, columns = table_of(out)
    embedded = load_solution(answer).decision_function(TEST)
    assert (code, err) == (0, "")
    assert header == ["e1", "e2"]
    np.testing.assert_array_equal(np.array(columns, dtype=float).T, embedded)
    for ending in ("csv", "json", "npz"):
        assert run("predict", answer, labelled, "-o", tmp_path / f"points.{ending}") == (0, "", "")
    assert (tmp_path / "points.csv").read_text() == out
    content = strict((tmp_path / "points.json").read_text())
    assert content == {"schema": "mklcvx.prediction/1", "embedding": embedded.tolist()}
    with np.load(tmp_path / "points.npz") as arrays:
        assert arrays.files == ["embedding"]
        np.testing.assert_array_equal(arrays["embedding"], embedded)


def test_predictions_of_many_labels_are_written_as_csv_json_or_npz(run, labelled, classed, tmp_path):
    for file, labels in ((labelled, (T, 3)), (classed, (T,))):
        answer = tmp_path / "answer.json"
        run("solve", file, "-f", "ml_sum", "-q", "-o", answer)
        model = load_solution(answer)
        for ending in ("csv", "json", "npz"):
            assert run("predict", answer, file, "-o", tmp_path / f"out.{ending}")[:2] == (0, "")
        content = strict((tmp_path / "out.json").read_text())
        assert np.shape(content["label"]) == labels
        assert content["decision"] == model.decision_function(TEST).tolist()
        assert content["label"] == model.predict(TEST).tolist()
        with np.load(tmp_path / "out.npz", allow_pickle=False) as arrays:
            np.testing.assert_array_equal(arrays["decision"], content["decision"])
            np.testing.assert_array_equal(arrays["label"], content["label"])
        assert len((tmp_path / "out.csv").read_text().splitlines()) == T + 1


@pytest.mark.parametrize("names", [["x", "decision x", "y"], ["a,b", 'quo"te', "two\nlines"], ["\ud800", "α", " "]])
def test_every_label_has_its_columns_whatever_its_name(run, tmp_path, names):
    path = saved(tmp_path / "names.npz", labels=LABELS, label_names=names)
    run("solve", path, "-f", "ml_sum", "-q", "-o", tmp_path / "answer.npz")
    code, out, _ = run("predict", tmp_path / "answer.npz", path)
    assert code == 0
    assert run("predict", tmp_path / "answer.npz", path, "-o", tmp_path / "labels.csv")[0] == 0
    for text in (out, (tmp_path / "labels.csv").read_text(encoding="utf-8")):
        header, *rows = csv.reader(text.splitlines(keepends=True))
        assert [len(row) for row in (header, *rows)] == [6] * (T + 1)
        assert [name for name in header[3:] if "\\" not in name] == [name for name in names if name != "\ud800"]


@pytest.mark.parametrize("name", ["ml_sum", "ts", "hypergraph"])
def test_without_test_labels_no_score_is_said(run, labelled, tmp_path, name):
    run("solve", labelled, "-f", name, "-q", "-o", tmp_path / "answer.json")
    np.savez(tmp_path / "test.npz", test_kernels=TEST)
    code, out, err = run("predict", tmp_path / "answer.json", tmp_path / "test.npz")
    assert (code, err) == (0, "")
    assert out.count("\n") == T + 1


@pytest.mark.parametrize("name", ["ml_sum", "hypergraph"])
def test_no_test_samples_give_a_header_alone(run, labelled, tmp_path, name):
    run("solve", labelled, "-f", name, "-q", "-o", tmp_path / "answer.json")
    np.savez(tmp_path / "test.npz", test_kernels=TEST[:, :0], test_labels=TEST_LABELS[:0])
    code, out, err = run("predict", tmp_path / "answer.json", tmp_path / "test.npz")
    assert (code, out.count("\n"), err) == (0, 1, "")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"test_y": TEST_Y}, ("test_y is given where the training samples have labels", "give test_labels")),
        ({"test_labels": TEST_LABELS[:, :2]}, ("test_labels has 2 columns for 3 labels", "give one per label")),
        ({"test_labels": TEST_LABELS[:2]}, ("test_labels has 2 rows for 5 rows of test_kernels",)),
        ({"test_labels": TEST_LABELS[:, 0]}, ("test_labels has shape (5,)",)),
        ({"test_labels": 2 * TEST_LABELS}, ("test_labels has entries other than 0 and 1",)),
    ],
)
@pytest.mark.parametrize("name", ["ml_sum", "hypergraph"])
def test_unusable_test_labels_are_refused_before_anything_is_printed(
    refusal, run, labelled, tmp_path, name, arrays, words
):
    run("solve", labelled, "-f", name, "-q", "-o", tmp_path / "answer.json")
    np.savez(tmp_path / "test.npz", test_kernels=TEST, **arrays)
    message = refusal("predict", tmp_path / "answer.json", tmp_path / "test.npz")
    for word in ("mklcvx: test ", "test.npz: ", *words):
        assert word in message
    assert message.count("test.npz") == 1


def test_unknown_test_classes_are_refused(refusal, run, classed, tmp_path):
    run("solve", classed, "-f", "ml_sum", "-q", "-o", tmp_path / "answer.json")
    np.savez(tmp_path / "test.npz", test_kernels=TEST, test_classes=np.arange(T))
    message = refusal("predict", tmp_path / "answer.json", tmp_path / "test.npz")
    assert "test_classes has 0, 1, 2, 3, … (5 values), the training samples have cat, dog, owl" in message


@pytest.mark.parametrize("name", ["ml_sum", "alignment", "hypergraph"])
@pytest.mark.parametrize(
    "options", [("--normalise", "cosine"), ("--centre", "--normalise", "trace")], ids=["cosine", "centred"]
)
def test_preprocessing_travels_with_the_solution_of_every_family(run, labelled, tmp_path, name, options):
    answer = tmp_path / "answer.json"
    assert run("solve", labelled, "-f", name, *options, "-q", "-o", answer)[0] == 0
    code, out, _ = run("predict", answer, labelled)
    chain = Preprocessing.from_options(centre="--centre" in options, normalise=options[-1]).fit(K)
    by_hand = mklcvx.solve(Instance(chain.train(K), labels=LABELS), name)
    expected = by_hand.decision_function(chain.test(TEST, DIAGONALS))
    assert code == 0
    np.testing.assert_allclose(np.array(table_of(out)[1][:3], dtype=float).T, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("name", "left_out"), [("ts", "beta"), ("hypergraph", "Z and B")])
def test_arrays_too_large_for_json_are_said_to_be_left_out(run, labelled, tmp_path, monkeypatch, name, left_out):
    monkeypatch.setattr(cli, "LARGE", 20)
    monkeypatch.setattr(solution, "LARGE", 20)
    code, out, err = run("solve", labelled, "-f", name, "-q", "-o", tmp_path / "answer.json")
    assert (code, out) == (0, "")
    assert f"answer.json: {left_out} left out, too large for JSON: end the name in .npz to keep all\n" in err
    assert run("solve", labelled, "-f", name, "-q", "-o", tmp_path / "answer.npz") == (0, "", "")
    assert run("predict", tmp_path / "answer.npz", labelled)[0] == 0


def test_embedding_left_out_of_json_is_asked_for_in_one_line(run, refusal, labelled, tmp_path, monkeypatch):
    monkeypatch.setattr(solution, "LARGE", 20)
    run("solve", labelled, "-f", "hypergraph", "-q", "-o", tmp_path / "answer.json")
    assert "B is too large for JSON" in refusal("predict", tmp_path / "answer.json", labelled)


def test_labels_of_a_matlab_file_give_the_same_predictions(run, labelled, tmp_path):
    import scipy.io

    variables = {
        "kernels": np.moveaxis(K, 0, 2),
        "labels": LABELS > 0,
        "label_names": np.array(["red", "green", "blue"], dtype=object),
        "test_kernels": np.moveaxis(TEST, 0, 2),
        "test_labels": TEST_LABELS > 0,
    }
    scipy.io.savemat(tmp_path / "labels.mat", variables)
    said = []
    for file in (labelled, tmp_path / "labels.mat"):
        run("solve", file, "-f", "ml_sum", "-q", "-o", tmp_path / "answer.json")
        said.append(run("predict", tmp_path / "answer.json", file))
    assert said[0] == said[1]
    assert said[0][2].startswith("macro F1 ")


def test_prediction_of_an_uncertified_solution_says_so(run, problem, tmp_path):
    run("solve", problem, "--max-iter", "1", "-q", "-o", tmp_path / "answer.json")
    code, _, err = run("predict", tmp_path / "answer.json", problem)
    assert code == 0
    assert "the solution is not certified: relative gap" in err


@pytest.mark.parametrize("name", ["labels.txt", "nowhere/labels.csv"])
def test_impossible_output_of_predictions_is_refused(refusal, problem, answer, tmp_path, name):
    assert "output " in refusal("predict", answer, problem, "-o", tmp_path / name)


# ------------------------------------------------------------------------------------------------ list and explain
def test_list_shows_every_formulation_and_solver(run):
    code, out, err = run("list")
    assert (code, err) == (0, "")
    for name in (*NAMES, "exact", "scs", "silp_exact"):
        assert name in out


def test_list_as_json(run):
    code, out, _ = run("list", "--json")
    content = strict(out)
    assert code == 0
    assert content["schema"] == "mklcvx.list/1"
    assert [row["name"] for row in content["formulations"]] == NAMES
    rows = {row["name"]: row for row in content["formulations"]}
    assert rows["sm1"]["parameters"] == ["C", "nu", "bias", "theta"]
    assert rows["li"]["losses"] == ["c"]
    assert rows["ml_sum"]["losses"] == []
    assert rows["hypergraph_smooth"]["parameters"] == ["expansion", "lam", "smoothing", "dimensions"]
    assert {rows[name]["family"] for name in NAMES} == {"single task", "many labels", "two stages", "hypergraph"}
    solvers = {row["name"]: row["formulations"] for row in content["solvers"]}
    assert solvers == {"exact": None, "scs": None, "silp_exact": ["l1", "sm1", "hypergraph"]}
    assert [name for name in NAMES if rows[name]["needs_groups"]] == ["ckl", "vskl"]
    assert {"name", "summary", "formulations"} == set(content["solvers"][0])


@pytest.mark.parametrize("name", NAMES)
def test_explain_states_the_theorem_and_every_parameter(run, name):
    code, out, err = run("explain", name)
    formulation = formulations.get(name)
    assert (code, err) == (0, "")
    assert formulation.theorem.strip() in out
    for parameter in formulation.parameter_names:
        assert f"\n    {parameter} " in out
        assert dict(formulation.described_parameters)[parameter] in out
    assert ("    nu " in out.split("Parameters\n")[-1]) == ("nu" in getattr(formulation, "losses", ()))
    assert f"mklcvx solve problem.npz -f {name}" in out


@pytest.mark.parametrize("name", NAMES)
def test_explain_in_latex_has_the_formulas_and_no_greek_letters(run, name):
    code, out, _ = run("explain", name, "--latex")
    assert code == 0
    assert out.startswith(f"% {name}: {formulations.get(name).reference}\n\\begin{{align*}}\n")
    assert out.rstrip().endswith("\\end{align*}")
    for kind in ("primal", "dual", "recovery"):
        assert rf"\text{{{kind}}} &" in out
    body = out.split("\n", 1)[1]
    assert body.count("{") == body.count("}")
    assert [letter for letter in body if not letter.isascii()] == []
    assert re.findall(r"[_^][A-Za-z]{2,}", body) == []
    formulas = re.sub(r"\\(text|operatorname|begin|end)\{[^{}]*\}|\\[A-Za-z]+", "", body)
    assert re.findall(r"[A-Za-z]{3,}", formulas) == []


# ------------------------------------------------------------------------------------------------- as its own process
def process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "mklcvx", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


IMPORTED = """
import atexit, sys
heavy = ("cvxpy", "scipy", "sklearn", "h5py", "matplotlib")
atexit.register(lambda: print("imported:", [name for name in heavy if name in sys.modules], file=sys.stderr))
from mklcvx.cli import main
main(sys.argv[1:])
"""


def imported(*arguments):
    """Exit status and standard error of a command, the last line of which says what it imported."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in done.stderr
    *said, last = done.stderr.splitlines()
    return done.returncode, said, last


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--help",), 0),
        (("--version",), 0),
        (("solve", "--help"), 0),
        (("list",), 0),
        (("explain", "l1"), 0),
        (("solve", "{folder}/missing.npz"), 2),
        (("solve", "{folder}/truncated.npz"), 2),
        (("solve", "{folder}/pickled.npz"), 2),
        (("solve", "{folder}/problem.npz", "--set", "C=0"), 2),
        (("explain", "hypergraph", "--latex"), 0),
        (("solve", "{folder}/problem.npz", "-f", "ts", "--set", "lam=0"), 2),
        (("solve", "{folder}/problem.npz", "-f", "hypergraph", "--set", "expansion=x"), 2),
        (("predict", "{folder}/missing.json", "{folder}/problem.npz"), 2),
    ],
    ids=lambda value: None if isinstance(value, int) else " ".join(value[:2]),
)
def test_nothing_heavy_is_imported_before_something_is_solved(problem, tmp_path, arguments, status):
    (tmp_path / "truncated.npz").write_bytes(problem.read_bytes()[:500])
    (tmp_path / "pickled.npz").write_bytes(pickle.dumps({"kernels": 1}))
    code, said, last = imported(*(argument.format(folder=tmp_path) for argument in arguments))
    assert code == status
    assert len(said) == (1 if status else 0)
    assert last == "imported: []"


def test_the_probe_sees_what_is_imported(problem):
    code, _, last = imported("solve", problem, "-q")
    assert code == 0
    assert "cvxpy" in last


def test_version():
    done = process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"mklcvx {mklcvx.__version__}\n", "")


def test_help_names_every_command():
    done = process("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for command in ("list", "explain", "solve", "predict", "demo"):
        assert command in done.stdout


def test_solving_in_a_process_of_its_own(problem, tmp_path):
    done = process("solve", problem, "--json", "-o", tmp_path / "answer.npz")
    assert (done.returncode, done.stderr) == (0, "")
    assert strict(done.stdout)["status"] == "certified"
    assert load_solution(tmp_path / "answer.npz").certified


def test_terminal_without_greek_letters_gets_an_answer_too():
    for arguments in (("list",), ("explain", "sm1")):
        done = process(*arguments, PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stderr) == (0, "")
        assert "sm1" in done.stdout


def test_reader_who_leaves_early_gets_no_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "mklcvx", "explain", "l1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        child.stdout.close()
        assert child.stderr.read() == ""
