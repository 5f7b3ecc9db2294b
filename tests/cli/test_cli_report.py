"""Pages that the command line writes: of a solution, a verdict and a trace."""

import json

import pytest

from mklcvx import Instance, zoo
from mklcvx.io.files import save_instance
from read_pages import read

pytestmark = pytest.mark.slow

THREE = zoo.random(n=16, M=3, overlap=0.6, seed=3)


@pytest.fixture
def problem(tmp_path):
    save_instance(tmp_path / "problem.npz", Instance(THREE.kernels, THREE.y, names=["<script>x</script>", "b", "c"]))
    return tmp_path / "problem.npz"


def test_report_writes_a_page(quiet, problem, tmp_path):
    target = tmp_path / "report.html"
    given = ("--set", "C=2", "--solvers", "clarabel,silp", "--time-limit", "10", "--centre", "-o", target)
    out = quiet("report", problem, "-f", "l1", *given)
    assert out.startswith(f"{target}: l1, optimum ")
    found = read(target.read_text(encoding="utf-8"))
    assert "C = 2" in found.text
    assert "clarabel" in found.text
    assert "problem.npz --centre" in found.text
    assert "simplemkl" not in found.text


def test_verify_writes_the_page_of_its_verdict(run, problem, tmp_path):
    answer, target = tmp_path / "answer.json", tmp_path / "page.html"
    answer.write_text(json.dumps({"formulation": "l1", "weights": [2.0, 0.0, 0.0]}), encoding="utf-8")
    code, _, err = run("verify", problem, answer, "--html", target)
    assert code == 1
    found = read(target.read_text(encoding="utf-8"))
    assert "answer.json: rejected" in found.text
    assert err.split("rejected: ")[1].strip() in found.text


def test_verify_writes_the_page_of_a_trace(run, succeeds, problem, tmp_path):
    trace, target = tmp_path / "trace.csv", tmp_path / "page.html"
    run("solve", problem, "-f", "l1", "--solver", "silp", "--trace", trace)
    _, _ = succeeds("verify", problem, trace, "-f", "l1", "--tol", "1e-2", "--html", target)
    found = read(target.read_text(encoding="utf-8"))
    assert "Trace" in found.text
    assert "candidate" in found.text


def test_without_matplotlib_reports_are_refused(refusal, problem, monkeypatch):
    monkeypatch.setattr("mklcvx.cli.options.find_spec", lambda name: None)
    assert "pip install 'mklcvx[plot]'" in refusal("report", problem)
