"""A family is one row of every table: nothing else asks which it is, and a family that is added is served."""

import ast
import json

import numpy as np
import pytest

import mklcvx
from mklcvx import InputError, formulations, verify
from mklcvx.certificate.families import CERTIFIED
from mklcvx.formulations.families.joint import JointOutputs
from mklcvx.io.files import load_solution, save_solution
from mklcvx.solvers.assembling import FAMILIES as SOLVED
from mklcvx.verification.answers import Answer
from mklcvx.verification.diagnosis.diagnose import MISTAKES
from mklcvx.verification.families import FAMILIES as JUDGED
from mklcvx.verification.judge import judge
from places import ROOT
from stacks import FOR_COMMANDS
from toy_family import NEAREST, add

# The files beside the adapters that belong to one family: they ask which of its formulations they have.
OWN = (
    "certificate/ball_arithmetic/labels.py", "certificate/ball_arithmetic/pairs.py",
    "certificate/ball_arithmetic/penalties.py", "solvers/interior/multi_label.py", "solvers/interior/two_stage.py",
    "verification/multipliers.py",
)  # fmt: skip
APART = ("checker", "zoo", "verification/conventions")


def nodes_of(file):
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


FORMULATIONS = (node for file in (ROOT / "formulations").rglob("*.py") for node in nodes_of(file))
CLASSES = {node.name for node in FORMULATIONS if isinstance(node, ast.ClassDef)}


def words_in(node):
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def names_in(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} | {
        one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)
    }


def asks(file):
    """Lines that ask which family, formulation, task or point they have."""
    told = {formulation.name for formulation in formulations.FORMULATIONS} | set(CERTIFIED)
    for node in nodes_of(file):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            if names_in(node.args[1]) & CLASSES:
                yield node.lineno
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            compared = any(isinstance(side, ast.Attribute) and side.attr in ("name", "family") for side in sides)
            if compared and any(words_in(side) & told for side in sides):
                yield node.lineno


def test_generic_code_does_not_ask_which_family_it_has():
    asking = set()
    for file in (ROOT / "mklcvx").rglob("*.py"):
        place = file.relative_to(ROOT / "mklcvx")
        if "families" not in place.parts and not any(place.is_relative_to(apart) for apart in APART):
            asking |= {str(place) for _ in asks(file)}
    assert asking <= set(OWN)


def test_every_room_has_a_row_for_every_family():
    families = {formulation.family for formulation in formulations.FORMULATIONS} | {JointOutputs.family}
    for table in (CERTIFIED, SOLVED, JUDGED, MISTAKES):
        assert set(table) == families


# ------------------------------------------------------------------------------------------------------------- a toy
PROBLEM = mklcvx.Instance(FOR_COMMANDS.kernels, FOR_COMMANDS.y)


@pytest.fixture
def toy(monkeypatch):
    add(monkeypatch)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("solver", ["auto", "clarabel", "scs"])
def test_the_toy_is_solved_and_certified(solver):
    found = mklcvx.solve(PROBLEM, "nearest", solver=solver, tol=1e-6)
    assert (found.status, found.solver) == ("certified", "clarabel" if solver == "auto" else solver)
    task, _ = NEAREST.task(PROBLEM, {})
    pulled = np.maximum(task.a - found.multipliers["t"], 0.0)
    np.testing.assert_allclose(found.weights, pulled, atol=1e-3)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.certificate.lower <= found.objective


@pytest.mark.usefixtures("toy")
def test_the_toy_is_written_and_read(tmp_path):
    found = mklcvx.solve(PROBLEM, "nearest")
    for name in ("toy.json", "toy.npz"):
        save_solution(tmp_path / name, found)
        again = load_solution(tmp_path / name)
        np.testing.assert_array_equal(again.weights, found.weights)
        assert (again.formulation, again.certificate.upper) == ("nearest", found.certificate.upper)


@pytest.mark.usefixtures("toy")
def test_the_toys_answers_are_judged():
    found = mklcvx.solve(PROBLEM, "nearest")
    assert verify(PROBLEM, "nearest", weights=found.weights, objective=found.objective).accepted
    report = verify(PROBLEM, "nearest", weights=found.weights, objective=-found.objective)
    assert (report.verdict, report.diagnosis.name) == ("rejected", "objective_sign")
    assert not verify(PROBLEM, "nearest", weights=np.eye(PROBLEM.count)[0], diagnosis=False).accepted


def test_without_an_adapter_the_judge_knows_the_objective_only(monkeypatch):
    add(monkeypatch, judged=False)
    found = mklcvx.solve(PROBLEM, "nearest")
    assert verify(PROBLEM, "nearest", objective=found.objective).accepted
    with pytest.raises(InputError, match=r"^verify does not cover toys: give the objective alone$"):
        verify(PROBLEM, "nearest", weights=found.weights)
    with pytest.raises(InputError, match=r"^verify does not cover toys"):
        judge(NEAREST, NEAREST.task(PROBLEM, {})[0], Answer(weights=found.weights))


def test_without_a_certificate_nothing_is_solved(monkeypatch):
    add(monkeypatch)
    monkeypatch.delitem(CERTIFIED, NEAREST.family)
    with pytest.raises(InputError, match=r"^solve does not cover toys: its points have no certificate$"):
        mklcvx.solve(PROBLEM, "nearest")


@pytest.mark.usefixtures("toy")
def test_the_command_line_serves_the_toy(problem, tmp_path, run, refusal):
    answer = tmp_path / "answer.json"
    code, out, _ = run("solve", problem, "-f", "nearest", "-o", answer, "--json")
    assert (code, json.loads(out)["status"]) == (0, "certified")
    assert run("verify", problem, answer)[0] == 0
    assert run("solve", problem, "-f", "nearest")[0] == 0
    assert "nearest" in run("list")[1]
    assert "min over μ ∈ Δ" in run("explain", "nearest")[1]
    assert "does not fit nearest" in refusal("solve", problem, "-f", "nearest", "--solver", "interior")
    assert "no classifier" in refusal("predict", answer, problem)
    assert "nearest is unknown to the checker" in refusal("prove", problem, "-f", "nearest")
