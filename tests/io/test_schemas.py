"""Every kind of file has one schema, and a file with another one is refused."""

import json

import numpy as np
import pytest

from mklcvx import Instance, MKLClassifier, load_model, schemas
from mklcvx.estimators.saving import is_model
from mklcvx.io.files import load_instance, load_solution, save_instance, save_solution
from mklcvx.io.solution_records import READERS, UNPROVED
from refusals import check_refused
from stacks import FOR_FILES


def renamed_schema(path, schema):
    """A file with another schema."""
    if path.suffix == ".json":
        record = {**json.loads(path.read_text(encoding="utf-8")), "schema": schema}
        path.write_text(json.dumps(record), encoding="utf-8")
        return path
    with np.load(path) as archive:
        arrays = dict(archive)
    if "record" in arrays:
        arrays["record"] = np.array(json.dumps({**json.loads(str(arrays["record"])), "schema": schema}))
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
        "solution.json": (tmp_path / "solution.json", load_solution, "solution"),
        "solution.npz": (tmp_path / "solution.npz", load_solution, "solution"),
        "instance.npz": (tmp_path / "instance.npz", load_instance, "instance"),
        "model.npz": (tmp_path / "model.npz", load_model, "model"),
    }


@pytest.mark.parametrize("name", ["solution.json", "solution.npz", "instance.npz", "model.npz"])
def test_another_schema_is_refused(written, name):
    path, load, kind = written[name]
    load(path)
    for other in (f"mklcvx.{kind}/9", "mklcvx.other/1"):
        with check_refused(f"schema '{other}' is not '{getattr(schemas, kind.upper())}'"):
            load(renamed_schema(path, other))
    if kind == "model":
        assert not is_model(path)


@pytest.mark.parametrize("schema", [None, 1, [schemas.SOLUTION], {}])
def test_what_is_no_word_is_no_schema(written, schema):
    with check_refused("solution.json: schema ", "is not 'mklcvx.solution/2'"):
        load_solution(renamed_schema(written["solution.json"][0], schema))


def test_every_field_of_a_solution_is_needed(tmp_path, solution):
    path = tmp_path / "answer.json"
    save_solution(path, solution)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert load_solution(path).certificate == solution.certificate
    for name in {name for names in READERS for name in names.split()}:
        path.write_text(json.dumps({key: value for key, value in record.items() if key != name}), encoding="utf-8")
        with check_refused(f"incomplete or damaged (KeyError: '{name}')"):
            load_solution(path)
    for name in UNPROVED:
        said = {key: value for key, value in record["certificate"].items() if key != name}
        path.write_text(json.dumps({**record, "certificate": said}), encoding="utf-8")
        with check_refused(f"incomplete or damaged (KeyError: '{name}')"):
            load_solution(path)
