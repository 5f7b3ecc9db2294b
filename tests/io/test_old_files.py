"""Nothing old breaks: what an older version wrote is read, runs, and gives the numbers it gave when it was written."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from mklcvx import formulations, load_model
from mklcvx.checker import audit as checker
from mklcvx.checker import families as checker_families
from mklcvx.formulations import SINGLE_TASKS
from mklcvx.io.files import load_instance, load_solution
from old_files import EXPECTED, OLD, SAME, check_fields, files_of, record_of
from refusals import strict

pytestmark = pytest.mark.slow

INSTANCES, SOLUTIONS, MODELS = EXPECTED["instances"], EXPECTED["solutions"], EXPECTED["models"]
ENDINGS = (".npz", ".json", ".mat", "")
ONLY_NPZ = ("one-kernel", "single-features")
NEAR = 1e-5  # bounds may be computed in another way
LATER = {"block_elastic", "group_lasso"}  # formulations that came after these files


def numbers(values):
    return np.array(values, dtype=float)


def place_of(stem):
    return OLD / "instances" / f"{SOLUTIONS[stem]['instance']}.npz"


def test_no_file_has_been_lost():
    assert len(SOLUTIONS) == 37
    assert {f["formulation"] for f in SOLUTIONS.values()} >= {f.name for f in formulations.FORMULATIONS} - LATER
    for ending in (".json", ".npz"):
        assert files_of("solutions", ending) == sorted(SOLUTIONS)
    assert files_of("models", ".npz") == sorted([*MODELS, "data"])
    assert {known["estimator"] for known in MODELS.values()} == {
        "MKLClassifier", "MultiLabelMKL", "TwoStageMKL", "HypergraphEmbedding",
    }  # fmt: skip
    for ending in ENDINGS:
        assert files_of("instances", ending) == sorted(
            stem for stem in INSTANCES if ending == ".npz" or stem not in ONLY_NPZ
        )


# ------------------------------------------------------------------------------------------------------ instances
@pytest.mark.parametrize(
    ("stem", "ending"),
    [(stem, ending) for stem in INSTANCES for ending in ENDINGS if ending == ".npz" or stem not in ONLY_NPZ],
)
def test_an_instance_is_what_it_was(stem, ending):
    known, found = INSTANCES[stem], load_instance(OLD / "instances" / f"{stem}{ending}")
    for key in ("kernels", "sample_weight", "test_kernels"):
        np.testing.assert_array_equal(getattr(found, key), known[key])
    for key, value in (("groups", found.groups), ("test_diagonals", found.test_diagonals)):
        assert (value is None) == (known[key] is None)
        assert value is None or value.tolist() == known[key]
    assert list(found.names) == known["names"]
    assert (found.targets.kind, list(found.targets.names)) == (known["target"], known["label_names"])
    assert found.targets.values.tolist() == known["values"]
    assert (None if found.test_targets is None else found.test_targets.tolist()) == known["test_values"]


def test_an_instance_can_be_solved_as_it_was(run, tmp_path):
    known = SOLUTIONS["l1"]
    for ending in ENDINGS:
        place = OLD / "instances" / f"two-classes{ending}"
        code, _, err = run("solve", place, "-f", "l1", "--set", "C=2", "-o", tmp_path / "answer.json", "-q")
        assert (code, err) == (0, "")
        found = load_solution(tmp_path / "answer.json")
        assert found.objective == pytest.approx(known["objective"], rel=1e-7)


# ------------------------------------------------------------------------------------------------------ solutions
@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("stem", SOLUTIONS)
def test_a_solution_is_what_it_was_and_predicts_what_it_did(stem, ending):
    known, found = SOLUTIONS[stem], load_solution(OLD / "solutions" / f"{stem}{ending}")
    for key in ("formulation", "parameters", "solver", "status", "objective", "target", "iterations", "svm_solves"):
        assert getattr(found, key) == known[key], key
    for key in ("names", "label_names", "classes"):
        assert list(getattr(found, key)) == known[key]
    for key in ("weights", "alpha", "bias", "coefficients", "norms"):
        value = getattr(found, key)
        assert (value is None) == (known[key] is None)
        assert value is None or np.array_equal(value, numbers(known[key]), equal_nan=True), key
    assert set(found.multipliers) >= set(known["multipliers"])
    for key, value in known["multipliers"].items():
        np.testing.assert_array_equal(numbers(found.multipliers[key]), numbers(value))
    assert (found.certificate.lower, found.certificate.upper) == (known["lower"], known["upper"])
    data = INSTANCES[known["instance"]]
    test = data["test_kernels"], data["test_diagonals"]
    np.testing.assert_allclose(found.decision_function(*test), known["decision"], rtol=SAME, atol=SAME)
    if found.embeds:
        np.testing.assert_allclose(found.predict(*test), known["predicted"], rtol=SAME, atol=SAME)
    else:
        assert found.predict(*test).tolist() == known["predicted"]


@pytest.mark.parametrize("stem", SOLUTIONS)
def test_a_solution_is_judged_as_it_was(run, stem):
    for ending in (".json", ".npz"):
        code, out, _ = run("verify", place_of(stem), OLD / "solutions" / f"{stem}{ending}", "--json")
        report = strict(out)
        assert report["verdict"] == SOLUTIONS[stem]["verdict"]
        assert (code == 0) == (report["verdict"] == "accepted")


def test_solutions_are_accepted_but_for_those_that_stopped_early():
    rejected = {stem for stem, known in SOLUTIONS.items() if known["verdict"] != "accepted"}
    assert rejected == {"l1-silp", "sm2-not-certified"}


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("stem", [stem for stem in SOLUTIONS if not stem.endswith(("-preprocessed", "-not-certified"))])
def test_the_checker_reads_a_solution(stem, ending):
    known, record = SOLUTIONS[stem], checker.read_solution(OLD / "solutions" / f"{stem}{ending}")
    single = known["formulation"] in {f.name for f in SINGLE_TASKS}
    with np.load(place_of(stem)) as file:
        lower, upper = (checker if single else checker_families).evaluated_file(dict(file), record).interval()
    room = NEAR * max(abs(known["lower"]), abs(known["upper"]), record["certificate"]["scale"])
    assert lower == pytest.approx(known["lower"], abs=room)
    assert upper == pytest.approx(known["upper"], abs=room)


@pytest.mark.parametrize("ending", [".csv", ".json", ".npz"])
@pytest.mark.parametrize("stem", ["l1", "ts-classes", "ml_sum", "hypergraph"])
def test_a_prediction_has_the_fields_and_numbers_it_had(run, tmp_path, stem, ending):
    old, new = OLD / "predictions" / f"{stem}{ending}", tmp_path / f"new{ending}"
    code, _, _ = run("predict", OLD / "solutions" / f"{stem}.json", place_of(stem), "-o", new)
    assert code == 0
    if ending == ".csv":
        tables = [list(csv.reader(path.read_text(encoding="utf-8").splitlines())) for path in (old, new)]
        assert tables[0][0] == tables[1][0]
        assert len(tables[0]) == len(tables[1])
        for before, after in zip(tables[0][1:], tables[1][1:], strict=True):
            assert [cell if cell.isalpha() else pytest.approx(float(cell), abs=SAME) for cell in before] == [
                cell if cell.isalpha() else float(cell) for cell in after
            ]
        return
    before, after = (dict(np.load(p)) if ending == ".npz" else strict(p.read_text("utf-8")) for p in (old, new))
    assert set(before) <= set(after)
    for key in {"decision", "embedding"} & set(before):
        np.testing.assert_allclose(after[key], before[key], rtol=SAME, atol=SAME)
    if "label" in before:
        assert np.array_equal(after["label"], before["label"])


# ---------------------------------------------------------------------------------------------- answers and traces
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("stem", "where", "given"), [("l1", "two-classes", ["--set", "C=2"]), ("ts", "labels", [])])
def test_an_answer_is_accepted(run, stem, where, given, ending):
    place, answer = OLD / "instances" / f"{where}.npz", OLD / "answers" / f"{stem}{ending}"
    code, out, _ = run("verify", place, answer, "-f", stem, *given, "--json")
    assert (code, strict(out)["verdict"]) == (0, "accepted")


@pytest.mark.parametrize("ending", [".json", ".csv"])
def test_a_trace_is_judged_point_by_point(run, ending):
    place, trace = OLD / "instances" / "two-classes.npz", OLD / "traces" / f"l1{ending}"
    code, out, _ = run("verify", place, trace, "-f", "l1", "--json")
    old, new = record_of("reports/trace.json"), strict(out)
    assert (code, new["verdict"]) == (0, "accepted")
    finer = old["optimum"]["scale"] / new["optimum"]["scale"]  # by what the measure of all differences has changed
    for before, after in zip(old["trace"], new["trace"], strict=True):
        excess = before["parts"][0]["excess"] * finer
        assert after["parts"][0]["excess"] == pytest.approx(excess, rel=1e-3, abs=1e-10)
        assert after["verdict"] == ("accepted" if excess <= 1e-6 else "rejected")
    assert len(new["trace"]) > 2


@pytest.mark.parametrize(
    ("name", "answer", "given"),
    [
        ("accepted", "solutions/l1.json", []),
        ("rejected", "answers/l1.json", ["-f", "l1", "--set", "C=1"]),
        ("trace", "traces/l1.json", []),
    ],
)
def test_a_report_says_what_it_said(run, name, answer, given):
    old = record_of(f"reports/{name}.json")
    _, out, _ = run("verify", OLD / "instances" / "two-classes.npz", OLD / answer, *given, "--json")
    new = strict(out)
    check_fields(new, old)
    assert (new["verdict"], new["parameters"]) == (old["verdict"], old["parameters"])
    assert {part["part"] for part in new["parts"]} >= {part["part"] for part in old["parts"]}
    assert (new["diagnosis"] or {}).get("name") == (old["diagnosis"] or {}).get("name")
    for end in ("lower", "upper"):
        assert new["optimum"][end] == pytest.approx(old["optimum"][end], rel=1e-7)


# --------------------------------------------------------------------------------------------------------- models
@pytest.mark.parametrize("stem", MODELS)
def test_a_model_predicts_what_it_did(stem):
    known, model = MODELS[stem], load_model(OLD / "models" / f"{stem}.npz")
    assert (type(model).__name__, model.n_features_in_) == (known["estimator"], known["features"])
    assert list(model.kernel_names_) == known["names"]
    assert np.array_equal(model.weights_, numbers(known["weights"]), equal_nan=True)
    assert known["outputs"]
    with np.load(OLD / "models" / "data.npz") as file:
        data = file[known["data"]]
    for method, values in known["outputs"].items():
        found = getattr(model, method)(data)
        if method == "predict":
            assert found.tolist() == values
        else:
            np.testing.assert_allclose(found, values, rtol=SAME, atol=SAME)


def test_the_command_serves_a_model(run, tmp_path):
    code, _, _ = run(
        "predict", OLD / "models" / "classifier.npz", OLD / "models" / "data.npz", "-o", tmp_path / "served.json"
    )
    served = strict((tmp_path / "served.json").read_text(encoding="utf-8"))
    assert code == 0
    expected = MODELS["classifier"]["outputs"]["decision_function"]
    np.testing.assert_allclose(np.ravel(served["decision"]), expected, rtol=SAME, atol=SAME)
