"""The command line's `list` and `explain`: every formulation, its theorem, its parameters, its formulas in LaTeX."""

from __future__ import annotations

import re

import pytest

from mklcvx import formulations
from mklcvx.solvers.solving import SOLVERS
from refusals import strict

NAMES = [formulation.name for formulation in formulations.FORMULATIONS]


def test_list_shows_every_formulation_and_solver(run):
    code, out, err = run("list")
    assert (code, err) == (0, "")
    for name in (*NAMES, *(solver.name for solver in SOLVERS)):
        assert name in out


def test_list_as_json(run):
    code, out, _ = run("list", "--json")
    content = strict(out)
    assert code == 0
    assert content["schema"] == "mklcvx.list/1"
    assert [row["name"] for row in content["formulations"]] == NAMES
    rows = {row["name"]: row for row in content["formulations"]}
    assert rows["sm1"]["parameters"] == ["C", "nu", "bias", "theta"]
    assert rows["li"]["losses"] == ["c"]
    assert rows["ml_sum"]["losses"] == []
    assert rows["hypergraph_smooth"]["parameters"] == ["expansion", "lam", "smoothing", "dimensions"]
    assert {rows[name]["family"] for name in NAMES} == {"single task", "many labels", "two stages", "hypergraph"}
    solvers = {row["name"]: row["formulations"] for row in content["solvers"]}
    assert solvers == {s.name: None if s.serves is None else list(s.serves) for s in SOLVERS}
    assert solvers["clarabel"] is solvers["scs"] is None
    assert solvers["silp"] == ["l1", "sm1"]
    about = {row["name"]: row for row in content["solvers"]}
    assert about["ml_sa"]["options"] == {"delta": 0.2, "eta": None, "seed": 0}
    assert (about["clarabel"]["tolerance"], about["simplemkl"]["tolerance"]) == (1e-8, 1e-4)
    assert [name for name in NAMES if rows[name]["needs_groups"]] == ["ckl", "vskl"]
    assert set(content["solvers"][0]) == {
        "name", "former_names", "summary", "formulations", "tolerance", "options", "reference",
    }  # fmt: skip
    assert (about["clarabel"]["former_names"], about["scs"]["former_names"]) == (["exact"], [])


@pytest.mark.parametrize("name", NAMES)
def test_explain_states_the_theorem_and_every_parameter(run, name):
    code, out, err = run("explain", name)
    formulation = formulations.get(name)
    assert (code, err) == (0, "")
    assert formulation.theorem.strip() in out
    for parameter in formulation.parameter_names:
        assert f"\n    {parameter} " in out
        assert dict(formulation.described_parameters)[parameter] in out
    assert ("    nu " in out.split("Parameters\n")[-1]) == ("nu" in getattr(formulation, "losses", ()))
    assert f"mklcvx solve problem.npz -f {name}" in out


@pytest.mark.parametrize("name", NAMES)
def test_explain_in_latex_has_the_formulas_and_no_greek_letters(run, name):
    code, out, _ = run("explain", name, "--latex")
    assert code == 0
    assert out.startswith(f"% {name}: {formulations.get(name).reference}\n\\begin{{alignat*}}{{2}}\n")
    formulas, _, derivation = out.split("\n", 1)[1].partition("\\end{alignat*}")
    for kind in ("primal", "dual"):
        assert rf"\text{{{kind}}} &" in formulas
    for title in ("From one to the other", "Recovery"):
        assert f"\n\n\\textbf{{{title}.}} " in derivation
    body = out.split("\n", 1)[1]
    assert body.count("{") == body.count("}")
    assert [letter for letter in body if not letter.isascii()] == []
    assert re.findall(r"[_^][A-Za-z]{2,}", body) == []
    for part in [formulas, *re.findall(r"\$[^$]+\$|\\begin\{align\*\}.*?\\end", derivation, re.DOTALL)]:
        left = re.sub(r"\\(text|operatorname|mathrm|begin|end)\{[^{}]*\}|\\[A-Za-z]+", "", part)
        assert re.findall(r"[A-Za-z]{3,}", left) == []
