"""Nothing old breaks: what an older version wrote is read, runs, and gives the numbers it gave when it was written."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

from mklcvx import load_model
from mklcvx.checker import claims, joint
from mklcvx.checker import families as checker_families
from mklcvx.checker.audit import point_multipliers
from mklcvx.checker.files import read_solution
from mklcvx.formulations import SINGLE_TASKS
from mklcvx.io.files import load_instance, load_solution
from mklcvx.io.machine_files import load_machines
from old_files import EXPECTED, SAME, check_fields, file_of, files_of, known_of, record_of, settings_of
from refusals import strict

pytestmark = pytest.mark.slow

INSTANCES, SOLUTIONS, MACHINES, MODELS = map(known_of, ("instances", "solutions", "machines", "models"))
ENDINGS = (".npz", ".json", ".mat", "")
ONLY_NPZ = ("one-kernel", "single-features", "gaussians")
NEAR = 1e-5  # bounds may be computed in another way


def numbers(values):
    return np.array(values, dtype=float)


def near(found, known):
    """The same words or whole numbers, and nearly the same numbers."""
    found = np.asarray(found)
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, numbers(known), rtol=SAME, atol=SAME)
    else:
        assert found.tolist() == known


def place_of(stem):
    return file_of("instances", f"{(SOLUTIONS | MACHINES)[stem]['instance']}.npz")


def answer_of(stem, ending=".json"):
    return file_of("machines" if stem in MACHINES else "solutions", f"{stem}{ending}")


def new_samples(known):
    data = INSTANCES[known["instance"]]
    return data["test_kernels"], data["test_diagonals"]


def audited(stem, ending):
    """The status of the checker."""
    pair = [str(place_of(stem)), str(answer_of(stem, ending))]
    return claims.audited(pair, joint.evaluated_file, point_multipliers)


def test_no_file_has_been_lost():
    assert {folder.name: len(known["solutions"]) for folder, known in EXPECTED.items()} == {"0.1.0": 37, "0.2.0": 22}
    lists = [record_of(folder / "runs" / "list.json") for folder in EXPECTED]
    formulations, losses = (
        {row["name"] for one in lists for row in one.get(kind, ())} for kind in ("formulations", "losses")
    )
    assert {known["formulation"] for known in SOLUTIONS.values()} == formulations
    assert {known["parameters"].get("loss", "hinge") for known in SOLUTIONS.values()} >= losses - {"nu"}
    for part, known in (("solutions", SOLUTIONS), ("machines", MACHINES)):
        for ending in (".json", ".npz"):
            assert files_of(part, ending) == sorted(known)
    assert files_of("models", ".npz") == sorted([*MODELS, *["data"] * len(EXPECTED)])
    assert {known["estimator"] for known in MODELS.values()} == {
        "MKLClassifier", "MKLRegressor", "OneClassMKL", "MultiLabelMKL", "TwoStageMKL", "HypergraphEmbedding",
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
    known, found = INSTANCES[stem], load_instance(file_of("instances", f"{stem}{ending}"))
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
        place = file_of("instances", f"two-classes{ending}")
        code, _, err = run("solve", place, "-f", "l1", "--set", "C=2", "-o", tmp_path / "answer.json", "-q")
        assert (code, err) == (0, "")
        found = load_solution(tmp_path / "answer.json")
        assert found.objective == pytest.approx(known["objective"], rel=1e-7)


# ------------------------------------------------------------------------------------------------------ solutions
@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("stem", SOLUTIONS)
def test_a_solution_is_what_it_was_and_predicts_what_it_did(stem, ending):
    known, found = SOLUTIONS[stem], load_solution(answer_of(stem, ending))
    for key in ("formulation", "parameters", "solver", "status", "objective", "target", "iterations", "svm_solves"):
        assert getattr(found, key) == known[key], key
    for key in ("names", "label_names", "classes"):
        assert list(getattr(found, key)) == known[key]
    for key in (
        "weights",
        "alpha",
        "bias",
        "coefficients",
        "norms",
        *({"alpha_low", "bias_low", "slopes"} & set(known)),
    ):
        value = getattr(found, key)
        assert (value is None) == (known[key] is None)
        assert value is None or np.array_equal(value, numbers(known[key]), equal_nan=True), key
    assert set(found.multipliers) >= set(known["multipliers"])
    for key, value in known["multipliers"].items():
        np.testing.assert_array_equal(numbers(found.multipliers[key]), numbers(value))
    assert (found.certificate.lower, found.certificate.upper) == (known["lower"], known["upper"])
    near(found.decision_function(*new_samples(known)), known["decision"])
    near(found.predict(*new_samples(known)), known["predicted"])


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_intervals_of_weights_are_no_wider_than_they_were(ending):
    bounded = {stem: known for stem, known in SOLUTIONS.items() if known.get("weights_interval") is not None}
    assert len(bounded) > 15
    for stem, known in bounded.items():
        found = load_solution(answer_of(stem, ending))
        for tolerance, ends in ((None, known["weights_interval"]), (1e-3, known["weights_interval_wide"])):
            (low, high), (before, after) = found.weights_interval(tolerance).T, np.array(ends).T
            assert ((before - SAME <= low) & (high <= after + SAME)).all(), stem
            assert ((low <= found.weights) & (found.weights <= high)).all(), stem


@pytest.mark.parametrize("stem", SOLUTIONS)
def test_a_solution_is_judged_as_it_was(run, stem):
    for ending in (".json", ".npz"):
        code, out, _ = run("verify", place_of(stem), answer_of(stem, ending), "--json", "--no-diagnosis")
        report = strict(out)
        assert report["verdict"] == SOLUTIONS[stem]["verdict"]
        assert (code == 0, report["diagnosis"]) == (report["verdict"] == "accepted", None)


def test_solutions_are_accepted_but_for_those_that_stopped_early():
    rejected = {stem for stem, known in SOLUTIONS.items() if known["verdict"] != "accepted"}
    assert rejected == {"l1-silp", "sm2-not-certified"}


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("stem", [stem for stem in SOLUTIONS if not stem.endswith(("-preprocessed", "-not-certified"))])
def test_the_checker_reads_a_solution(stem, ending):
    known, record = SOLUTIONS[stem], read_solution(answer_of(stem, ending))
    single = known["formulation"] in {f.name for f in SINGLE_TASKS}
    with np.load(place_of(stem)) as file:
        lower, upper = (joint if single else checker_families).evaluated_file(dict(file), record).interval()
    room = NEAR * max(abs(known["lower"]), abs(known["upper"]), record["certificate"]["scale"])
    assert lower == pytest.approx(known["lower"], abs=room)
    assert upper == pytest.approx(known["upper"], abs=room)


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_the_checker_confirms_what_it_did(ending):
    """It did not read files of kernels that were scaled."""
    written = {stem: known["audit"] for stem, known in (SOLUTIONS | MACHINES).items() if "audit" in known}
    assert {stem for stem, status in written.items() if status != 0} == {"logistic-preprocessed", "ovo-preprocessed"}
    assert {stem: audited(stem, ending) for stem in written} == written


@pytest.mark.parametrize("ending", [".csv", ".json", ".npz"])
@pytest.mark.parametrize("stem", files_of("predictions", ".csv"))
def test_a_prediction_has_the_fields_and_numbers_it_had(run, tmp_path, stem, ending):
    old, new = file_of("predictions", f"{stem}{ending}"), tmp_path / f"new{ending}"
    code, _, _ = run("predict", answer_of(stem), place_of(stem), "-o", new)
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
    for key in {"decision", "mean", "embedding"} & set(before):
        np.testing.assert_allclose(after[key], before[key], rtol=SAME, atol=SAME)
    if "label" in before:
        assert np.array_equal(after["label"], before["label"])


# ------------------------------------------------------------------------------------------------------- machines
@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("stem", MACHINES)
def test_machines_are_what_they_were_and_predict_what_they_did(stem, ending):
    known, found = MACHINES[stem], load_machines(answer_of(stem, ending))
    assert (found.multi_class, found.status) == (known["multi_class"], known["status"])
    assert (list(found.label_names), list(found.classes)) == (known["label_names"], known["classes"])
    assert (found.preprocessing is not None) == known["preprocessed"]
    for key in ("weights", "objective"):
        assert getattr(found, key).tolist() == known[key]
    assert [part.tolist() for part in found.members] == known["members"]
    assert [found.title(machine) for machine in found.machines] == known["titles"]
    for end in ("lower", "upper"):
        assert [getattr(solution.certificate, end) for solution in found.solutions] == known[end]
    near(found.decision_function(*new_samples(known)), known["decision"])
    near(found.predict(*new_samples(known)), known["predicted"])


@pytest.mark.parametrize("stem", MACHINES)
def test_machines_are_judged_as_they_were(run, stem):
    for ending in (".json", ".npz"):
        code, out, _ = run("verify", place_of(stem), answer_of(stem, ending), "--json", "--no-diagnosis")
        assert (code, strict(out)["accepted"]) == (0, MACHINES[stem]["accepted"])


def test_a_report_of_machines_says_what_it_said(run):
    _, out, _ = run("verify", place_of("ovr"), answer_of("ovr"), "--json")
    new, old = strict(out), record_of(file_of("reports", "machines.json"))
    check_fields(new, old)
    assert [one["machine"] for one in new["machines"]] == [one["machine"] for one in old["machines"]]


# ---------------------------------------------------------------------------------------------- answers and traces
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("stem", files_of("answers", ".npz"))
def test_an_answer_is_accepted(run, stem, ending):
    given = ["-f", SOLUTIONS[stem]["formulation"], *settings_of(SOLUTIONS[stem]["parameters"])]
    code, out, _ = run("verify", place_of(stem), file_of("answers", f"{stem}{ending}"), *given, "--json")
    assert (code, strict(out)["verdict"]) == (0, "accepted")


@pytest.mark.parametrize("ending", [".json", ".csv"])
def test_a_trace_is_judged_point_by_point(run, ending):
    code, out, _ = run("verify", place_of("l1"), file_of("traces", f"l1{ending}"), "-f", "l1", "--json")
    old, new = record_of(file_of("reports", "trace.json")), strict(out)
    assert (code, new["verdict"]) == (0, "accepted")
    finer = old["optimum"]["scale"] / new["optimum"]["scale"]  # by what the measure of all differences has changed
    for before, after in zip(old["trace"], new["trace"], strict=True):
        excess = before["parts"][0]["excess"] * finer
        assert after["parts"][0]["excess"] == pytest.approx(excess, rel=1e-3, abs=1e-10)
        assert after["verdict"] == ("accepted" if excess <= 1e-6 else "rejected")
    assert len(new["trace"]) > 2


@pytest.mark.parametrize("ending", [".json", ".csv"])
def test_a_trace_ends_at_the_optimum(run, ending):
    given = ["-f", "group_lasso", "--set", "loss=squared"]
    code, out, _ = run("verify", place_of("squared"), file_of("traces", f"group_lasso{ending}"), *given, "--json")
    verdicts = [point["verdict"] for point in strict(out)["trace"]]
    assert (code, verdicts[0], verdicts[-1]) == (0, "rejected", "accepted")
    assert len(verdicts) == len(record_of(file_of("traces", "group_lasso.json"))["rows"])


@pytest.mark.parametrize(
    ("name", "where", "answer", "given"),
    [
        ("accepted", "l1", "solutions/l1.json", {}),
        ("rejected", "l1", "answers/l1.json", {"C": 1}),
        ("trace", "l1", "traces/l1.json", {}),
        ("regression", "squared", "solutions/epsilon_insensitive.json", {}),
        ("joint", "softmax", "solutions/softmax.json", {}),
        ("explained", "squared", "answers/epsilon_insensitive.json",
         {"loss": "epsilon_insensitive", "epsilon": 0.2, "C": 1}),
    ],
)  # fmt: skip
def test_a_report_says_what_it_said(run, name, where, answer, given):
    old, given = record_of(file_of("reports", f"{name}.json")), ["-f", "l1", *settings_of(given)] if given else []
    _, out, _ = run("verify", place_of(where), file_of(*answer.split("/")), *given, "--json")
    new = strict(out)
    check_fields(new, old)
    assert (new["verdict"], new["parameters"]) == (old["verdict"], old["parameters"])
    assert {part["part"] for part in new["parts"]} >= {part["part"] for part in old["parts"]}
    causes, before = (report["diagnosis"] or {} for report in (new, old))
    assert causes.get("name") == before.get("name")
    kinds, said = ([one["kinds"] for one in record.get("explanations", ())] for record in (causes, before))
    assert kinds[: len(said)] == said
    for end in ("lower", "upper"):
        assert new["optimum"][end] == pytest.approx(old["optimum"][end], rel=1e-7)


# --------------------------------------------------------------------------------------------------------- models
@pytest.mark.parametrize("stem", MODELS)
def test_a_model_predicts_what_it_did(stem):
    place = file_of("models", f"{stem}.npz")
    known, model = MODELS[stem], load_model(place)
    steps, fitted = known.get("steps"), model[-1] if known.get("steps") else model
    assert (type(fitted).__name__, model.n_features_in_) == (known["estimator"], known["features"])
    assert steps is None or [name for name, _ in model.steps] == steps
    assert list(fitted.kernel_names_) == known["names"]
    assert np.array_equal(fitted.weights_, numbers(known["weights"]), equal_nan=True)
    assert known["outputs"]
    with np.load(place.with_name("data.npz")) as file:
        data = file[known["data"]]
    if known.get("columns"):
        data = pd.DataFrame(data, columns=known["columns"])
    for method, values in known["outputs"].items():
        near(getattr(model, method)(data), values)


@pytest.mark.parametrize("stem", ["classifier", "regressor", "one-class", "search"])
def test_the_command_serves_a_model(run, tmp_path, stem):
    place, known = file_of("models", f"{stem}.npz"), MODELS[stem]["outputs"]
    code, _, _ = run("predict", place, place.with_name("data.npz"), "-o", tmp_path / "served.json")
    served = strict((tmp_path / "served.json").read_text(encoding="utf-8"))
    assert code == 0
    near(np.ravel(served["decision"]), known.get("decision_function", known["predict"]))
