"""Schemas: all that are known are read, with documented defaults for what older ones lack; others are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mklcvx import Instance, MKLClassifier, load_model, schemas
from mklcvx.certificate import solution
from mklcvx.estimators import saving
from mklcvx.io import files, solution_records
from mklcvx.io.files import load_instance, load_solution, save_instance, save_solution
from refusals import check_refused
from stacks import FOR_FILES

NEXT = "mklcvx.{}/9"


def renamed_schema(path, schema, **changes):
    """A file with another schema, and other fields."""
    if path.suffix == ".json":
        record = {**json.loads(path.read_text(encoding="utf-8")), "schema": schema, **changes}
        path.write_text(json.dumps(record), encoding="utf-8")
        return path
    with np.load(path) as archive:
        arrays = dict(archive)
    if "record" in arrays:
        arrays["record"] = np.array(json.dumps({**json.loads(str(arrays["record"])), "schema": schema, **changes}))
    else:
        arrays["schema"] = np.array(schema)
    np.savez(path, **arrays)
    return path


@pytest.fixture
def written(tmp_path, solution):
    """A file of every kind that says its schema, with who reads it."""
    save_solution(tmp_path / "solution.json", solution)
    save_solution(tmp_path / "solution.npz", solution)
    save_instance(tmp_path / "instance.npz", Instance(FOR_FILES.kernels, FOR_FILES.y))
    MKLClassifier().fit(FOR_FILES.kernels[0], FOR_FILES.y).save(tmp_path / "model.npz")
    return {
        "solution.json": (tmp_path / "solution.json", load_solution, solution_records, "SOLUTION"),
        "solution.npz": (tmp_path / "solution.npz", load_solution, solution_records, "SOLUTION"),
        "instance.npz": (tmp_path / "instance.npz", load_instance, files, "INSTANCE"),
        "model.npz": (tmp_path / "model.npz", load_model, saving, "MODEL"),
    }


def test_what_is_written_is_the_newest_that_is_read():
    assert schemas.SOLUTION[-1] == solution.SCHEMA
    assert schemas.INSTANCE[-1] == files.INSTANCE_SCHEMA
    assert schemas.MODEL == (saving.PLAIN, saving.WITH_SCALERS)
    for kind in ("SOLUTION", "INSTANCE", "MODEL"):
        assert getattr(schemas, kind)[0] == f"mklcvx.{kind.lower()}/1"


@pytest.mark.parametrize("name", ["solution.json", "solution.npz", "instance.npz", "model.npz"])
def test_a_new_schema_is_one_entry_more(written, monkeypatch, name):
    path, load, module, kind = written[name]
    load(path)
    following = NEXT.format(kind.lower())
    renamed_schema(path, following)
    with check_refused(f"schema '{following}' is not 'mklcvx.{kind.lower()}/1'"):
        load(path)
    monkeypatch.setattr(module, kind, (*getattr(module, kind), following))
    load(path)
    renamed_schema(path, NEXT.format("other"))
    wanted = " or ".join(repr(schema) for schema in getattr(module, kind))
    with check_refused(f"schema '{NEXT.format('other')}' is not {wanted}"):
        load(path)
    if kind == "MODEL":
        assert not saving.is_model(path)
        assert saving.is_model(renamed_schema(path, following))


@pytest.mark.parametrize("schema", [None, 1, ["mklcvx.solution/1"], {}])
def test_what_is_no_word_is_no_schema(written, schema):
    with check_refused("solution.json: schema ", "is not 'mklcvx.solution/1'"):
        load_solution(renamed_schema(written["solution.json"][0], schema))


def test_missing_fields_get_their_defaults(tmp_path, solution):
    save_solution(tmp_path / "answer.json", solution)
    record = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    for name in set(solution_records.DEFAULTS) - {"alpha"}:
        record.pop(name)
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    found = load_solution(tmp_path / "answer.json")
    assert (found.target, found.label_names, found.classes) == ("y", ("y",), ())
    assert (found.message, found.notes, found.svm_solves) == ("", (), 0)
    assert found.bias_interval is found.preprocessing is found.norms is found.coefficients is None
    assert found.weights.tolist() == solution.weights.tolist()


def test_certificates_come_back_with_and_without_an_account_of_rounding(tmp_path, solution):
    path = tmp_path / "answer.json"
    save_solution(path, solution)
    assert load_solution(path).certificate == solution.certificate
    said = {name: solution.certificate.as_dict()[name] for name in ("lower", "upper", "scale")}
    renamed_schema(path, "mklcvx.solution/1", certificate=said)
    before = load_solution(path).certificate
    assert (before.lower, before.upper, before.rounding) == (said["lower"], said["upper"], 0.0)
    said.pop("lower")
    renamed_schema(path, "mklcvx.solution/1", certificate=said)
    with check_refused("incomplete or damaged (KeyError: 'lower')"):
        load_solution(path)
