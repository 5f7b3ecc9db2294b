"""The command line's `list` and `explain`: every formulation, its theorem, its parameters, its formulas in LaTeX."""

import re

import pytest

from mklcvx import formulations
from mklcvx.formulations.losses import ALL, KNOWN
from mklcvx.solvers.solving import SOLVERS
from refusals import strict

LOSS_NAMES = [loss.name for loss in ALL]
NAMES = [formulation.name for formulation in formulations.FORMULATIONS]


def test_list_as_json(succeeds):
    out, _ = succeeds("list", "--json")
    content = strict(out)
    assert content["schema"] == "mklcvx.list/1"
    assert [row["name"] for row in content["formulations"]] == NAMES
    rows = {row["name"]: row for row in content["formulations"]}
    own = ["width", "epsilon", "delta", "quantile"]
    assert rows["sm1"]["parameters"] == ["loss", "C", "nu", *own, "bias", "theta"]
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
        "name", "summary", "formulations", "tolerance", "options", "reference",
    }  # fmt: skip


def test_losses_as_json(run):
    content = strict(run("list", "--json")[1])
    losses = {row["name"]: row for row in content["losses"]}
    assert list(losses) == LOSS_NAMES
    assert {name: row["targets"] for name, row in losses.items()} == {loss.name: loss.targets for loss in ALL}
    assert losses["hinge"]["also"] == ["c"]
    assert losses["huber"]["parameters"][1] == {
        "name": "delta", "meaning": "residual from which on the loss is linear", "limits": "δ > 0, in the units of y",
        "default": 1.0,
    }  # fmt: skip
    assert losses["nu"]["parameters"][0]["default"] is None
    assert [name for name in LOSS_NAMES if not losses[name]["bias"]] == ["one_class"]
    singles = [formulation.name for formulation in formulations.SINGLE_TASKS]
    assert losses["logistic"]["formulations"] == singles
    assert {*singles} - {*losses["nu"]["formulations"]} == {"group_lasso", "li", "ckl", "vskl"}
    assert losses["squared"]["reference"].startswith("Saunders, Gammerman & Vovk 1998")


@pytest.mark.parametrize("name", NAMES)
def test_explain_states_the_theorem_and_every_parameter(quiet, name):
    out = quiet("explain", name)
    formulation = formulations.get(name)
    assert formulation.theorem.strip() in out
    for parameter in formulation.parameter_names:
        assert f"\n    {parameter} " in out
        assert dict(formulation.described_parameters)[parameter] in out
    assert ("    nu " in out.split("Parameters\n")[-1]) == ("nu_svr" in formulation.loss_names)
    assert f"mklcvx solve problem.npz -f {name}" in out


# ------------------------------------------------------------------------------------------------------------- losses
@pytest.mark.parametrize("name", [*KNOWN])
def test_explain_states_the_theorem_of_a_loss(quiet, name):
    out = quiet("explain", name)
    loss = KNOWN[name]
    assert loss.theorem.strip() in out
    parameters = out.split("\nParameters\n")[1].split("\n\n")[0]
    names = [parameter.name for parameter in loss.parameters] + ["bias"] * loss.takes_bias
    assert [line.split()[0] for line in parameters.splitlines()] == names
    assert "g_i(α) = inf over z " in out
    assert out.endswith(f"Try: mklcvx solve problem.npz -f l1 --set loss={loss.name}\n")


@pytest.mark.parametrize("name", [*NAMES, *LOSS_NAMES])
def test_explain_in_latex_has_the_formulas_and_no_greek_letters(run, name):
    code, out, _ = run("explain", name, "--latex")
    title, _, body = out.partition("\n")
    about = KNOWN.get(name) or formulations.get(name)
    assert (code, title) == (0, f"% {name}: {about.reference}")
    stated, _, derivation = body.partition("\\end{align*}" if name in KNOWN else "\\end{alignat*}")
    wanted = (r"^(\\ell \(y, z\)|\\operatorname\{risk\}\(f\)) &= ", r"^g\(\\alpha \) &= ")
    wanted = wanted if name in KNOWN else (r"\\text\{primal\} &", r"\\text\{dual\} &")
    assert all(re.search(pattern, stated, re.MULTILINE) for pattern in wanted)
    assert "\n\n\\textbf{From one to the other.} " in derivation
    assert re.search(r"\n\\textbf\{((Sub)?[Gg]radient|Recovery)\.\} ", derivation)
    assert body.count("{") == body.count("}")
    assert [letter for letter in body if not letter.isascii()] == []
    for part in [stated, *re.findall(r"\$[^$]+\$|\\begin\{align\*\}.*?\\end", derivation, re.DOTALL)]:
        left = re.sub(r"\\(text|operatorname|mathrm|begin|end)\{[^{}]*\}|\\[A-Za-z]+", "", part)
        assert re.findall(r"[A-Za-z]{3,}", left) == []


HELPED = ("cv", "kernels", "path", "predict", "solve", "verify", "bench")
COMMANDS = ("list", "zoo", *(f"{name} --help" for name in HELPED))


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_cut_in_a_terminal_of_eighty_columns(succeeds, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    out, _ = succeeds(*command.split())
    assert "…" not in out
