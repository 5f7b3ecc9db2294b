"""Smoke tests of the commands that take longer: the demonstration and the evidence."""

import numpy as np

from mklcvx.cli.demo import best_single, breast_cancer, run_demo
from mklcvx.cli.display import bars
from mklcvx.formulations import FORMULATIONS
from mklcvx.solvers.cost import estimate


def test_the_demonstration_solves_every_formulation(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "140")
    assert run_demo(samples=30, seed=1, html=tmp_path / "demo.html")
    printed = capsys.readouterr().out
    for formulation in FORMULATIONS:
        assert f" {formulation.name} " in printed
    assert "NOT CERTIFIED" not in printed
    assert "is rejected: right but for the size of the weights" in " ".join(printed.split())
    page = (tmp_path / "demo.html").read_text(encoding="utf-8")
    for formulation in FORMULATIONS:
        assert f"<code>{formulation.name}</code>" in page
    assert f"{len(FORMULATIONS)} of {len(FORMULATIONS)} certified" in page


def test_the_demonstrations_kernels_have_unit_trace_and_held_out_samples():
    instance = breast_cancer(40, 0)
    assert np.allclose(np.trace(instance.kernels, axis1=1, axis2=2), 1)
    assert instance.count == 12
    assert instance.test_kernels.shape == (12, 529, 40)
    assert best_single(instance, 40.0).count == 1


def test_bars_show_zero_undefined_and_largest():
    assert bars(np.array([0.0, 0.5, 1.0, np.nan])) == "·▄█?"
    assert bars(np.zeros(2)) == "  "


def test_the_cost_estimate_grows_with_the_problem():
    assert estimate(400, 20, "clarabel") > estimate(200, 20, "clarabel") > estimate(100, 5, "clarabel")
