"""Nothing old breaks: the proofs and tables of runs that an older version printed are those of today."""

from __future__ import annotations

import importlib
import json

import pytest

import toy_experiment as toy
from _harness import Cache, Setting, finished
from mklcvx import solve, verify
from mklcvx.estimators.of_instance import importance_of
from mklcvx.io.files import load_instance, load_solution
from mklcvx.io.machine_files import load_machines
from mklcvx.solvers.names import current_name
from old_files import (
    EXPECTED,
    FIRST,
    LOSSES,
    check_fields,
    file_of,
    files_of,
    known_of,
    lines_of,
    overlap,
    record_of,
    settings_of,
)
from places import TESTS
from refusals import strict

pytestmark = pytest.mark.slow

SOLUTIONS, CELLS = known_of("solutions"), EXPECTED[FIRST]["cells"]


def instance_of(stem):
    return file_of("instances", f"{stem}.npz")


@pytest.mark.parametrize("stem", files_of("proofs", ".json"))
def test_a_proof_is_of_the_same_optimum(run, stem):
    pytest.importorskip("flint")
    old = record_of(file_of("proofs", f"{stem}.json"))
    where = "two-classes" if stem == "l1" else SOLUTIONS[stem]["instance"]
    code, out, _ = run("prove", instance_of(where), "-f", old["formulation"], *settings_of(old["parameters"]), "--json")
    new = strict(out)
    assert code == 0
    check_fields(new, old, free=("semidefinite", "perturbations"))
    assert new["parameters"] == old["parameters"]
    assert overlap(*((float(proof["lower"]), float(proof["upper"])) for proof in (old, new)), old["scale"])


@pytest.mark.parametrize(
    ("place", "where", "grid"),
    [(FIRST, "two-classes", [0.1, 1, 10]), (LOSSES, "counts", [0.1, 1])],
)
def test_the_lines_of_a_path_are_solutions(tmp_path, place, where, grid):
    instance, values = load_instance(instance_of(where)), []
    for line in lines_of(place / "runs" / "path.jsonl"):
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
    assert values == grid


def test_the_lines_of_a_path_are_machines(run, tmp_path):
    (line,) = lines_of(LOSSES / "runs" / "path-of-machines.jsonl")
    (tmp_path / "point.json").write_text(json.dumps(line), encoding="utf-8")
    point = load_machines(tmp_path / "point.json")
    assert (point.multi_class, point.weights.tolist()) == ("ovo", line["weights"])
    code, out, _ = run("verify", instance_of("classes"), tmp_path / "point.json", "--json")
    assert (code, strict(out)["accepted"]) == (0, True)


@pytest.mark.parametrize(
    ("old", "where", "given"),
    [
        (FIRST / "runs" / "cv.jsonl", "two-classes", ["--folds", "3"]),
        (LOSSES / "runs" / "cv.jsonl", "response", ["--folds", "3", "--set", "loss=huber"]),
        (LOSSES / "runs" / "cv-of-machines.jsonl", "classes", ["--folds", "2"]),
    ],
)
def test_a_cross_validation_says_what_it_said(run, tmp_path, old, where, given):
    grid = ["--grid", "C=0.1,1", "--seed", "4"]
    code, _, _ = run("cv", instance_of(where), *grid, *given, "-o", tmp_path / "cv.jsonl")
    new, old = lines_of(tmp_path / "cv.jsonl"), lines_of(old)
    assert (code, len(new)) == (0, len(old))
    for after, before in zip(new, old, strict=True):
        check_fields(after, before)
        for key in ("parameters", "score", "best", "status"):
            assert after[key] == before[key]
        exactly = 0.0 if before["score"] == "accuracy" else 1e-5  # errors are as exact as the fits
        values, known = ([*line["scores"], line["mean"]] for line in (after, before))
        assert values == pytest.approx(known, rel=exactly, abs=0.0)


def test_importances_say_what_they_said(run):
    given = ["--set", "loss=squared", "--folds", "2", "--repeats", "2", "--resamples", "2", "--json", "-q"]
    code, out, _ = run("kernels", instance_of("response"), *given)
    new, old = strict(out), record_of(LOSSES / "runs" / "kernels.json")
    check_fields(new, old)
    assert code == 0
    assert [new[key] for key in ("schema", "names", "scoring")] == [old[key] for key in ("schema", "names", "scoring")]
    then = {"loss": "squared", "C": "scale", "normalise": None}  # when the command had the estimators' own default
    again = importance_of(load_instance(instance_of("response")), "l1", then, folds=2, answers=["alone"]).as_dict()
    assert again["score"] == pytest.approx(old["score"], rel=1e-5)
    assert again["columns"]["alone"] == pytest.approx(old["columns"]["alone"], rel=1e-5)


@pytest.mark.parametrize(("folder", "name"), [(FIRST, "GOLDEN"), (LOSSES, "LOSSES")])
def test_golden_optima_are_read(monkeypatch, folder, name):
    from mklcvx.bench.conformance import references
    from mklcvx.zoo import specimen

    monkeypatch.setattr(references, name, folder / "runs" / "golden.json")
    rows = record_of(folder / "runs" / "golden.json")["optima"]
    assert len(rows) >= 2
    for row in rows:
        known = references.enclosed(specimen(row["specimen"]), row["formulation"], row["parameters"])
        assert (known.lower, known.upper) == (float(row["lower"]), float(row["upper"]))
        found = solve(specimen(row["specimen"]).instance(), row["formulation"], **row["parameters"]).certificate
        assert overlap((known.lower, known.upper), (found.lower, found.upper), known.scale)


@pytest.mark.parametrize(("folder", "least"), [(FIRST, 31), (LOSSES, 13)])
def test_the_zoo_still_has_what_it_had(folder, least):
    from mklcvx.zoo import specimen

    rows = record_of(folder / "runs" / "zoo.json")["instances"]
    assert len(rows) >= least
    for row in rows:
        now = specimen(row["name"]).as_dict()
        check_fields(now, row)
        assert {key: now[key] for key in ("sha256", "kernels", "samples", "targets", "parameters")} == {
            key: row[key] for key in ("sha256", "kernels", "samples", "targets", "parameters")
        }
        assert set(row["suits"]) <= set(now["suits"])


def test_the_cells_of_a_validation_make_the_same_table():
    from mklcvx.bench.matrix import Cell, Matrix

    old = record_of(FIRST / "runs" / "validation.json")
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
    assert cache.protocol == CELLS["protocol"]
    cache.file.parent.mkdir(parents=True)
    cache.file.write_bytes((FIRST / "runs" / "cells.jsonl").read_bytes())
    found = finished(toy.TOY, setting)
    assert found.complete
    assert [row["value"] for row in found.rows] == CELLS["values"]
    assert [row["drawn"] for row in found.rows] == pytest.approx(CELLS["drawn"], rel=1e-6)


@pytest.mark.parametrize("name", ["bucak", "govindaraj", "ji", "kumar", "xu"])
def test_no_experiment_would_start_anew(name):
    assert finished(importlib.import_module(name).EXPERIMENT, Setting()).complete


def test_a_conformance_run_says_what_it_said(run, monkeypatch):
    monkeypatch.chdir(TESTS)
    old, given = record_of(FIRST / "runs" / "conformance.json"), ["-f", "l1", "--specimens", "by-hand,two-samples"]
    code, out, _ = run("conform", "surface:by_solving", *given, "--json")
    new = strict(out)
    check_fields(new, old, free=("diagnoses",))
    assert (code, new["passed"]) == (0, old["passed"])
    assert [(trial["specimen"], trial["outcome"]) for trial in new["trials"]] == [
        (trial["specimen"], trial["outcome"]) for trial in old["trials"]
    ]


@pytest.mark.parametrize(
    ("folder", "command", "kind"),
    [
        (FIRST, "list", "formulations"),
        (FIRST, "list", "solvers"),
        (FIRST, "conventions", "conventions"),
        (LOSSES, "list", "formulations"),
        (LOSSES, "list", "losses"),
        (LOSSES, "list", "solvers"),
        (LOSSES, "conventions", "conventions"),
    ],
)
def test_a_list_has_what_it_had(run, folder, command, kind):
    rows, (_, out, _) = record_of(folder / "runs" / f"{command}.json")[kind], run(command, "--json")
    new = {name: row for row in strict(out)[kind] for name in (row["name"], *row.get("former_names", ()))}
    assert rows
    for row in rows:
        check_fields(new[row["name"]], row)
        assert names_in(row) <= names_in(new[row["name"]])


def names_in(row):
    """Of the parameters, which losses have as records."""
    return {one["name"] if isinstance(one, dict) else one for one in row.get("parameters") or ()}


def test_a_benchmark_has_the_fields_it_had(run):
    given = ["--solvers", "interior,silp", "--rounds", "1", "--json"]
    code, out, _ = run("bench", instance_of("two-classes"), *given)
    assert code == 0
    check_fields(strict(out), record_of(FIRST / "runs" / "bench.json"))
