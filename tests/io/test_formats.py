"""The open format: the JSON Schema fits what is written and read; the lines of its page write what `verify` reads."""

import json
import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import mklcvx
from mklcvx import Certificate, Instance, schemas, solve, zoo
from mklcvx.io.fields import ABOUT, ANSWER_FIELDS, INSTANCE_FIELDS
from mklcvx.io.files import save_answer, save_instance
from mklcvx.io.solution_records import READERS
from mklcvx.schemas import FORMATS, json_schema
from mklcvx.verification.submissions import read_submission
from places import ROOT

K, Y = zoo.random(12, 3, seed=4).kernels, zoo.random(12, 3, seed=4).y
LABELS = np.arange(12)[:, None] // [1, 2, 3] % 2
INSTANCES = {
    "labels ±1": Instance(K, Y, groups=[0, 0, 1], sample_weight=np.linspace(1, 2, 12), names=["a", "b", "c"]),
    "classes": Instance(K, classes=np.array(["u", "v", "w"] * 4), test_kernels=K[:, :3], test_classes=["u", "v", "w"]),
    "label sets": Instance(K, labels=LABELS, test_kernels=K[:, :3], test_labels=LABELS[:3]),
    "response": Instance(K, response=np.arange(12.0), test_kernels=K[:, :3], test_response=np.arange(3.0)),
    "none": Instance(K),
}
SOLVED = (
    ("labels ±1", "l1", {}), ("labels ±1", "ckl", {}), ("labels ±1", "sum", {"nu": 0.3}), ("labels ±1", "ts", {}),
    ("labels ±1", "alignment", {}), ("label sets", "ml_minimax", {}), ("label sets", "hypergraph", {}),
    ("classes", "sm2", {"loss": "softmax"}), ("response", "group_lasso", {"loss": "squared"}), ("none", "l1", {}),
)  # fmt: skip
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGE = (ROOT / "docs" / "own-certificate.md").read_text(encoding="utf-8")


def faults(kind, record):
    return [fault.message for fault in Draft202012Validator(json_schema(kind)).iter_errors(record)]


def properties(kind):
    return set(json_schema(kind)["$defs"][kind]["properties"])


@pytest.mark.parametrize("kind", FORMATS)
def test_it_is_a_schema_with_a_version(kind):
    schema = json_schema(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:mklcvx:formats:1:{kind}"
    assert faults(kind, []) != []


def test_it_is_in_the_package_and_others_are_refused():
    assert (files(mklcvx) / "formats.json").is_file()
    with pytest.raises(mklcvx.InputError, match="give one of instance"):
        json_schema("model")


def test_it_names_the_fields_that_are_read():
    assert properties("instance") == {*INSTANCE_FIELDS, *ABOUT}
    assert {*ANSWER_FIELDS, "formulation", "parameters", "multipliers", "certificate"} <= properties("answer")
    readable = {name for names in READERS for name in names.split()}
    assert {"schema", *readable} == {*json_schema("solution")["$defs"]["solution"]["required"]}
    for kind in ("solution", "instance"):
        said = json_schema(kind)["$defs"][kind]["properties"]["schema"]["const"]
        assert said == getattr(schemas, kind.upper())


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_fit(name, tmp_path):
    save_instance(tmp_path / "one.json", INSTANCES[name])
    record = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert faults("instance", record) == []
    assert set(record) <= properties("instance")
    record["y"] = [0] * 12
    assert faults("instance", record) != []


@pytest.mark.parametrize(("targets", "name", "given"), SOLVED)
def test_solutions_fit(targets, name, given):
    record = json.loads(json.dumps(solve(INSTANCES[targets], name, **given).as_dict(), allow_nan=False))
    assert faults("solution", record) == []
    assert faults("answer", record) == []
    assert set(record) == properties("solution")
    assert set(record["certificate"]) <= properties("certificate")
    for damaged in ({"status": "fine"}, {"certificate": {"lower": 1.0}}, {"weights": None}, {"schema": "other/1"}):
        assert faults("solution", {**record, **damaged}) != []


def test_a_certificate_has_no_other_fields():
    whole = Certificate(1.0, 2.0, 1.0, ridges=(0.0,), gain=1.0).as_dict()
    assert set(whole) == properties("certificate")
    assert faults("certificate", whole) == []
    assert faults("certificate", Certificate(-np.inf, np.inf, 1.0).as_dict()) == []


def test_answers_fit(tmp_path):
    save_answer(tmp_path / "one.json", {"rho": 1.0}, weights=[0.5, 0.5], alpha=[0.0, 1.0], bias=0.1, objective=2.0)
    assert faults("answer", json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))) == []
    assert faults("answer", {"multiplier_rho": 1.0}) == []
    for record in ({}, {"formulation": "l1"}, {"weights": "many"}, {"alpha": [["a"]]}, {"objective": [1]}):
        assert faults("answer", record) != []


# ---------------------------------------------------------------------------------------------------------- the page
def blocks(language):
    return [text for name, text in BLOCK.findall(PAGE) if name == language]


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    """An instance as a file, what a solver found, and the folder."""
    folder, instance = tmp_path_factory.mktemp("formats"), zoo.specimen("clouds").instance()
    save_instance(folder / "problem.json", instance)
    return folder, instance, solve(instance, "l1", C=1.0)


def check_answer(path, instance, solution):
    record = json.loads(path.read_text(encoding="utf-8"))
    assert faults("answer", record) == []
    submission = read_submission(path, instance)
    parts = {name: getattr(submission.answer, name) for name in ("weights", "alpha", "objective")}
    np.testing.assert_array_equal(parts["weights"], solution.weights)
    np.testing.assert_array_equal(parts["alpha"], solution.alpha)
    assert submission.answer.bounds == pytest.approx((solution.certificate.lower, solution.certificate.upper), rel=1e-7)
    assert submission.formulation == "l1"
    assert submission.parameters == {"C": 1.0}


def test_ten_lines_of_python(problem):
    folder, instance, solution = problem
    place: dict = {}
    exec(compile(blocks("python")[0], "own-certificate.md", "exec"), place)
    given = np.asarray(instance.kernels), instance.y, 1.0, solution.weights, solution.alpha, float(solution.bias)
    place["write_answer"](folder / "python.json", *given)
    check_answer(folder / "python.json", instance, solution)


def test_the_same_in_cpp(problem):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler (g++ or clang++) is installed")
    folder, instance, solution = problem
    (code,) = blocks("cpp")

    def vector(values):
        return "{" + ", ".join(f"{float(value):.17g}" for value in np.ravel(values)) + "}"

    kernels = "{" + ", ".join(vector(kernel) for kernel in instance.kernels) + "}"
    arguments = f"y, 1.0, {vector(solution.weights)}, {vector(solution.alpha)}, {float(solution.bias):.17g}"
    main = f"int main(int, char** v) {{ Vector y {vector(instance.y)}; write_answer(v[1], {kernels}, {arguments}); }}\n"
    (folder / "one.cpp").write_text(code + main, encoding="utf-8")
    built = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", folder / "one", folder / "one.cpp"]
    subprocess.run(built, check=True, capture_output=True, timeout=120)
    subprocess.run([folder / "one", folder / "cpp.json"], check=True, timeout=60)
    check_answer(folder / "cpp.json", instance, solution)


def test_the_same_in_octave(problem):
    octave = shutil.which("octave-cli") or shutil.which("octave")
    if octave is None:
        pytest.skip("Octave is not installed")
    folder, instance, solution = problem
    (code,) = blocks("octave")
    (folder / "write_answer.m").write_text(code, encoding="utf-8")
    save_instance(folder / "problem.mat", instance)
    save_answer(folder / "found.mat", weights=solution.weights, alpha=solution.alpha, bias=float(solution.bias))
    call = (
        "load problem.mat; load found.mat; "
        "write_answer('octave.json', kernels, double(y(:)), 1.0, weights(:), alpha(:), bias);"
    )
    subprocess.run([octave, "--quiet", "--eval", call], check=True, cwd=folder, capture_output=True, timeout=120)
    check_answer(folder / "octave.json", instance, solution)
