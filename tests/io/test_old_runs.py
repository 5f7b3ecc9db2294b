"""Nothing old breaks: the proofs and tables of runs that an older version printed are those of today."""

from __future__ import annotations

import importlib
import json

import pytest

import toy_experiment as toy
from _harness import Cache, Setting, finished
from mklcvx import solve, verify
from mklcvx.io.files import load_instance, load_solution
from mklcvx.solvers.names import current_name
from old_files import EXPECTED, OLD, check_fields, files_of, lines_of, overlap, record_of
from places import TESTS
from refusals import strict

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("stem", files_of("proofs", ".json"))
def test_a_proof_is_of_the_same_optimum(run, stem):
    pytest.importorskip("flint")
    old, where = record_of(f"proofs/{stem}.json"), "two-classes" if stem == "l1" else "labels"
    code, out, _ = run("prove", OLD / "instances" / f"{where}.npz", "-f", stem, "--json")
    new = strict(out)
    assert code == 0
    check_fields(new, old, free=("semidefinite", "perturbations"))
    assert new["parameters"] == old["parameters"]
    assert overlap(*((float(proof["lower"]), float(proof["upper"])) for proof in (old, new)), old["scale"])


def test_the_lines_of_a_path_are_solutions(tmp_path):
    instance, values = load_instance(OLD / "instances" / "two-classes.npz"), []
    for line in lines_of("runs/path.jsonl"):
        (tmp_path / "point.json").write_text(json.dumps(line), encoding="utf-8")
        point = load_solution(tmp_path / "point.json")
        assert point.weights.tolist() == line["weights"]
        assert (point.certificate.lower, point.certificate.upper) == tuple(
            line["certificate"][end] for end in ("lower", "upper")
        )
        assert verify(
            instance, point.formulation, weights=point.weights, alpha=point.alpha, parameters=point.parameters
        ).accepted
        values.append(point.parameters["C"])
    assert values == [0.1, 1, 10]


def test_a_cross_validation_says_what_it_said(run, tmp_path):
    given = ["--grid", "C=0.1,1", "--folds", "3", "--seed", "4"]
    code, _, _ = run("cv", OLD / "instances" / "two-classes.npz", *given, "-o", tmp_path / "cv.jsonl")
    new = [strict(line) for line in (tmp_path / "cv.jsonl").read_text(encoding="utf-8").splitlines()]
    old = lines_of("runs/cv.jsonl")
    assert (code, len(new)) == (0, len(old))
    for after, before in zip(new, old, strict=True):
        check_fields(after, before)
        assert [after[key] for key in ("parameters", "scores", "mean", "best", "status")] == [
            before[key] for key in ("parameters", "scores", "mean", "best", "status")
        ]


def test_golden_optima_are_read(monkeypatch):
    from mklcvx.bench.conformance import references
    from mklcvx.zoo import specimen

    monkeypatch.setattr(references, "GOLDEN", OLD / "runs" / "golden.json")
    rows = record_of("runs/golden.json")["optima"]
    assert len(rows) == 2
    for row in rows:
        known = references.enclosed(specimen(row["specimen"]), row["formulation"], row["parameters"])
        assert (known.lower, known.upper) == (float(row["lower"]), float(row["upper"]))
        found = solve(specimen(row["specimen"]).instance(), row["formulation"], **row["parameters"]).certificate
        assert overlap((known.lower, known.upper), (found.lower, found.upper), known.scale)


def test_the_zoo_still_has_what_it_had():
    from mklcvx.zoo import specimen

    rows = record_of("runs/zoo.json")["instances"]
    assert len(rows) > 30
    for row in rows:
        now = specimen(row["name"]).as_dict()
        check_fields(now, row)
        assert {key: now[key] for key in ("sha256", "kernels", "samples", "targets", "parameters")} == {
            key: row[key] for key in ("sha256", "kernels", "samples", "targets", "parameters")
        }
        assert set(row["suits"]) <= set(now["suits"])


def test_the_cells_of_a_validation_make_the_same_table():
    from mklcvx.bench.matrix import Cell, Matrix

    old = record_of("runs/validation.json")
    cells = [Cell(**cell) for cell in old["cells"]]
    matrix = Matrix.of(cells, old["time_limit"], old["largest"], old["elapsed"])
    new = {(entry["formulation"], entry["solver"]): entry for entry in matrix.as_dict()["entries"]}
    for entry in old["entries"]:
        now = new[entry["formulation"], current_name(entry["solver"])]
        check_fields(now, entry)
        assert (now["runs"], now["certified"], now["dishonest"]) == tuple(
            entry[key] for key in ("runs", "certified", "dishonest")
        )
    assert sum(entry["certified"] for entry in old["entries"]) > 5
    check_fields(matrix.as_dict(), old)


def test_finished_cells_are_taken_up(tmp_path):
    setting = Setting(folder=tmp_path)
    cache = Cache.of(toy.TOY, setting)
    assert cache.protocol == EXPECTED["cells"]["protocol"]
    cache.file.parent.mkdir(parents=True)
    cache.file.write_bytes((OLD / "runs" / "cells.jsonl").read_bytes())
    found = finished(toy.TOY, setting)
    assert found.complete
    assert [row["value"] for row in found.rows] == EXPECTED["cells"]["values"]
    assert [row["drawn"] for row in found.rows] == pytest.approx(EXPECTED["cells"]["drawn"], rel=1e-6)


@pytest.mark.parametrize("name", ["bucak", "govindaraj", "ji", "kumar", "xu"])
def test_no_experiment_would_start_anew(name):
    assert finished(importlib.import_module(name).EXPERIMENT, Setting()).complete


def test_a_conformance_run_says_what_it_said(run, monkeypatch):
    monkeypatch.chdir(TESTS)
    old, given = record_of("runs/conformance.json"), ["-f", "l1", "--specimens", "by-hand,two-samples"]
    code, out, _ = run("conform", "surface:by_solving", *given, "--json")
    new = strict(out)
    check_fields(new, old, free=("diagnoses",))
    assert (code, new["passed"]) == (0, old["passed"])
    assert [(trial["specimen"], trial["outcome"]) for trial in new["trials"]] == [
        (trial["specimen"], trial["outcome"]) for trial in old["trials"]
    ]


@pytest.mark.parametrize(("command", "kind"), [("list", "formulations"), ("list", "solvers"), ("conventions", None)])
def test_a_list_has_what_it_had(run, command, kind):
    kind = kind or command
    old, (_, out, _) = record_of(f"runs/{command}.json"), run(command, "--json")
    new = {name: row for row in strict(out)[kind] for name in (row["name"], *row.get("former_names", ()))}
    for row in old[kind]:
        check_fields(new[row["name"]], row)
        assert set(row.get("parameters") or ()) <= set(new[row["name"]].get("parameters") or ())


def test_a_benchmark_has_the_fields_it_had(run):
    given = ["--solvers", "interior,silp", "--rounds", "1", "--json"]
    code, out, _ = run("bench", OLD / "instances" / "two-classes.npz", *given)
    assert code == 0
    check_fields(strict(out), record_of("runs/bench.json"))
