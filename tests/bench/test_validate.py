"""Validation in small, and the committed result: complete, honest, and able to find a solver that is not."""

import importlib.util
import json
import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from mklcvx import formulations, solve, zoo
from mklcvx.bench.comparison import fitting
from mklcvx.bench.conformance.references import case_of
from mklcvx.bench.matrix import FILES, LARGEST, Matrix, plan, save, validate
from mklcvx.bench.matrix.cells import ALL_SOLVERS, Cell, _dishonest, digits
from mklcvx.bench.matrix.table import Entry
from mklcvx.certificate import Certificate
from mklcvx.verification.answers import Answer
from mklcvx.verification.case import Enclosure
from places import ROOT
from refusals import strict

pytestmark = pytest.mark.slow

COMMITTED = ROOT / "validation" / "matrix"
PAIRS = [("l1", "two-samples"), ("ckl", "by-hand"), ("alignment", "by-hand")]


@pytest.fixture(scope="module")
def matrix():
    return validate(PAIRS, 5.0, None, LARGEST, lambda _: None)


@pytest.fixture(scope="module")
def case():
    return case_of(zoo.specimen("by-hand"), "l1", {}, 1e-9)


@pytest.fixture(scope="module")
def solution(case):
    return solve(case.instance, "l1", solver="interior")


def answered(solution):
    return Answer(solution.weights, solution.alpha, solution.coefficients)


# ------------------------------------------------------------------------------------------------------- the matrix
def test_every_solver_that_fits_has_run_and_agrees(matrix):
    assert {(c.formulation, c.solver) for c in matrix.cells} == {(f, s.name) for f, _ in PAIRS for s in fitting(f)}
    for cell in matrix.cells:
        assert cell.honest, cell
        assert cell.status == "certified" or cell.reason
        if cell.status == "certified":
            assert cell.gap <= cell.asked
            assert 10**-cell.digits <= 2 * cell.asked
    assert all(matrix.entry("l1", name).certified == 1 for name in ("clarabel", "scs", "interior"))
    assert matrix.entry("ckl", "ckl_alternating").certified == 0  # it is known to cycle, and says so
    assert "ckl_alternating" in {e.solver for e in matrix.filled if e.why_not}


def test_every_run_that_is_not_certified_is_counted_among_the_reasons():
    reasons = ["slow", "slow", "lost", "late", "odd", "strange"]
    cells = [Cell("l1", "clarabel", str(i), "failed", reason=reason) for i, reason in enumerate(reasons)]
    assert Entry("l1", "clarabel", tuple(cells)).why_not == "slow (2); lost (1); late (1); other reasons (2)"


def check_complete(entries):
    """No cell of the matrix is empty without a reason."""
    assert {(e["formulation"], e["solver"]) for e in entries} == {
        (f.name, solver) for f in formulations.FORMULATIONS for solver in ALL_SOLVERS
    }
    for entry in entries:
        assert entry["runs"] > 0 or entry["reason"]
        assert entry["certified"] == entry["runs"] or entry["reason"]
        assert entry["digits_median"] is not None or entry["reason"]


def test_no_cell_is_empty_without_a_reason(matrix):
    check_complete(matrix.as_dict()["entries"])
    assert matrix.entry("l1", "mirror").reason == "does not solve it"
    assert matrix.entry("l2", "clarabel").reason == "no instance of this size suits it"


def test_it_is_written_in_three_ways(matrix, tmp_path):
    save(tmp_path, matrix)
    text, record, image = (tmp_path / name for name in FILES)
    assert strict(record.read_text(encoding="utf-8"))["entries"] == matrix.as_dict()["entries"]
    rows = [line for line in text.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) == len(PAIRS) + len(matrix.filled)
    assert all(cell.strip() for row in rows for cell in row.strip("|").split("|"))
    assert "ckl_alternating" in "".join(ElementTree.parse(image).getroot().itertext())


def test_a_mark_where_a_run_was_not_honest(matrix):
    lie = replace(matrix.cells[0], honest=False, reason="its certificate contradicts the optimum")
    spoilt = Matrix.of([lie, *matrix.cells[1:]], 5.0, 100.0, 1.0)
    assert not spoilt.honest
    assert "‼" in spoilt.as_markdown()
    assert "NO: its certificate contradicts the optimum (1)" in spoilt.as_markdown()
    assert "1 were not honest" in spoilt.as_markdown()
    assert matrix.honest


# ----------------------------------------------------------------------------------------------------------- honesty
def test_honest_runs_pass(case, solution):
    assert _dishonest(case, solution, answered(solution), 1e-9) == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s, c: {"certificate": Certificate(c.upper + 1, c.upper + 1, c.scale)}, "contradicts the optimum"),
        (lambda s, c: {"certificate": Certificate(c.lower - 1, c.lower - 1, c.scale)}, "contradicts the optimum"),
        (lambda s, c: {"certificate": Certificate(c.lower - 0.1, c.upper, c.scale)}, "certified without the gap"),
        (lambda s, c: {"status": "not_certified", "message": ""}, "no reason given"),
        (lambda s, c: {"alpha": s.alpha / 2}, "its point proves a gap of"),
        (lambda s, c: {"weights": s.weights[::-1]}, "its point proves a gap of"),
        (lambda s, c: {"weights": s.weights[:1]}, "cannot be judged"),
    ],
)
def test_lies_are_found(case, solution, change, words):
    told = replace(solution, **change(solution, solution.certificate))
    assert words in _dishonest(case, told, answered(told), 1e-9)


def test_a_contradiction_by_one_bit_is_one(case, solution):
    for end, away in ((case.known.upper, math.inf), (case.known.lower, -math.inf)):
        beyond = math.nextafter(end, away)
        told = replace(solution, certificate=Certificate(beyond, beyond, 1.0))
        assert "contradicts the optimum" in _dishonest(case, told, answered(told), 1e-9)


def test_digits_are_those_that_the_enclosure_supports():
    sharp, wide = Enclosure(2.0, 2.0, 2.0), Enclosure(1.999, 2.0, 2.0)
    assert digits(2.0, sharp) == 15
    assert digits(2.002, sharp) == pytest.approx(3)
    assert digits(2.0, wide) == pytest.approx(3.301, abs=1e-3)


def test_a_run_that_is_ended_has_no_digits_but_a_reason(matrix):
    ended = Cell("l1", "level", "two-samples", "ended", asked=1e-4, reason="ended: it did not stop at the time limit")
    text = Matrix.of([ended], 5.0, 100.0, 1.0).as_markdown()
    assert "no answer, 0/1" in text
    assert "ended: it did not stop at the time limit (1)" in text


# ------------------------------------------------------------------------------------------------- the command line
def test_the_plan_has_every_formulation_and_only_small_instances():
    assert (
        {name for name, _ in plan()}
        == {name for name, _ in plan(quick=True)}
        == {f.name for f in formulations.FORMULATIONS}
    )
    assert "breast_cancer-300" not in {one for _, one in plan()}
    assert len(plan(quick=True)) < len(plan()) / 4


def test_the_command_shows_the_matrix_and_writes_it(succeeds, monkeypatch, tmp_path):
    monkeypatch.setattr("mklcvx.bench.matrix.plan", lambda quick, largest: [("ckl", "by-hand")])
    out, _ = succeeds("validate", "-o", tmp_path / "found")
    assert "not certified: ckl_alternating, ckl: it " in " ".join(out.split())
    assert sorted(path.name for path in (tmp_path / "found").iterdir()) == sorted(FILES)


# ------------------------------------------------------------------------------------------- the committed evidence
def test_the_committed_matrix_is_complete_and_hides_nothing():
    record = json.loads((COMMITTED / FILES[1]).read_text(encoding="utf-8"))
    check_complete(record["entries"])
    assert {(cell["formulation"], cell["specimen"]) for cell in record["cells"]} == set(plan())
    assert all(cell["reason"] for cell in record["cells"] if cell["status"] != "certified" or not cell["honest"])
    dishonest = [cell for cell in record["cells"] if cell["honest"] is False]
    assert not [cell for cell in dishonest if "its point proves" not in cell["reason"]]  # no certificate is false
    text = (COMMITTED / FILES[0]).read_text(encoding="utf-8")
    assert f"{len(dishonest)} were not honest" in text
    assert text.count("NO: ") == sum(entry["dishonest"] > 0 for entry in record["entries"])


def test_the_readmes_table_is_that_of_the_committed_matrix():
    """`make matrix` writes it; whoever changes one must change the other."""
    spec = importlib.util.spec_from_file_location("matrix_readme", COMMITTED / "readme.py")
    readme = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(readme)
    record = json.loads((COMMITTED / "validation.json").read_text(encoding="utf-8"))
    text = (COMMITTED.parents[1] / "README.md").read_text(encoding="utf-8")
    assert readme.block(record) in text
    assert readme.updated(text, record) == text
    assert all(f"| `{formulation.name}` |" in readme.block(record) for formulation in formulations.FORMULATIONS)
