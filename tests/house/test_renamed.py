"""Old names lead to the new objects, and warn whoever uses them."""

from __future__ import annotations

import subprocess
import sys
import types
import warnings
from importlib import import_module

import numpy as np
import pytest

import mklcvx
from mklcvx.bench.comparison import contestants
from mklcvx.cli.options import solvers_in
from mklcvx.formulations import RankOneCoefficients
from mklcvx.problem.stack import KernelStack
from mklcvx.renamed import renamed


@pytest.fixture
def old(monkeypatch):
    module = types.ModuleType("old_place")
    module.kept = 1
    module.__getattr__ = renamed("old_place", {"resolve": "mklcvx.solvers.solving:solve"})
    monkeypatch.setitem(sys.modules, "old_place", module)
    return module


def test_an_old_name_warns_and_is_the_new_object(old):
    with pytest.warns(
        FutureWarning, match="old_place.resolve is now mklcvx.solvers.solving.solve: use that name"
    ) as caught:
        found = old.resolve
    assert found is mklcvx.solve
    assert caught[0].filename == __file__


def test_an_old_name_can_be_imported(old):
    with pytest.warns(FutureWarning, match="is now"):
        from old_place import resolve
    assert resolve is mklcvx.solve


def test_other_names_are_as_before(old):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert old.kept == 1
        with pytest.raises(AttributeError, match="module 'old_place' has no attribute 'nothing'"):
            _ = old.nothing


def test_what_the_module_did_before_is_asked_for_the_rest(old):
    old.__getattr__ = renamed(
        "old_place", {"resolve": "mklcvx.solvers.solving:solve"}, otherwise=lambda name: name.upper()
    )
    assert old.anything == "ANYTHING"
    with pytest.warns(FutureWarning, match="is now"):
        assert old.resolve is mklcvx.solve


# ------------------------------------------------------------------------------------------------------ solvers
def test_the_old_name_of_a_solver_warns_and_solves():
    with pytest.warns(FutureWarning, match="solver 'exact' is now 'clarabel': use that name") as caught:
        found = mklcvx.solve(mklcvx.zoo.by_hand(), "l1", solver="exact")
    assert caught[0].filename == __file__
    assert (found.solver, found.certified) == ("clarabel", True)


def test_the_old_name_of_a_solver_is_a_contestant():
    with pytest.warns(FutureWarning, match="is now 'clarabel'"):
        found = contestants(mklcvx.formulations.get("l1"), ["exact", "scs"])
    assert [one.name for one in found] == ["clarabel", "scs"]


@pytest.mark.parametrize("command", [("solve",), ("path", "--grid", "C=1"), ("cv", "--grid", "C=1", "--folds", "2")])
def test_the_command_line_takes_the_old_name_of_a_solver_and_says_so(run, problem, command):
    code, _, said = run(command[0], problem, "-f", "l1", "--solver", "exact", *command[1:])
    assert code == 0
    assert said.startswith("mklcvx: solver exact is now clarabel: use that name\n")


def test_lists_of_solvers_take_the_old_name(capsys):
    assert solvers_in("interior, exact") == ["interior", "clarabel"]
    assert capsys.readouterr().err == "mklcvx: solver exact is now clarabel: use that name\n"
    assert solvers_in(None) is None


# -------------------------------------------------------------------------------------------------------- paths
@pytest.mark.parametrize("place", ["mklcvx", "mklcvx.solvers.paths"])
@pytest.mark.parametrize(("old", "new"), [("path", "solve_path"), ("Path", "RegularizationPath")])
def test_paths_have_their_old_names_too(place, old, new):
    with pytest.warns(FutureWarning, match=rf"{old} is now {place}.{new}: use that name"):
        found = getattr(import_module(place), old)
    assert found is getattr(mklcvx, new)


def test_everything_can_be_imported_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names: dict[str, object] = {}
        exec("from mklcvx import *", names)
    assert set(mklcvx.__all__) <= set(names)


@pytest.mark.parametrize(
    ("old", "name"),
    [("calibration", "probabilities"), ("parts", "BankPart"), ("restoring", "restored"), ("serving", "prediction_of")],
)
def test_a_module_that_was_merged_is_found_by_its_old_name(old, name):
    with pytest.warns(FutureWarning, match=f"mklcvx.estimators.{old} is now mklcvx.estimators"):
        module = import_module(f"mklcvx.estimators.{old}")
    assert hasattr(module, name)


def test_a_module_runs_under_its_old_name():
    """`python -m`, as old scripts have it."""
    command = [sys.executable, "-m", "mklcvx.checker_families", "nothing.npz", "nothing.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "nothing.npz: not a regular file" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("zoo.draws", "zoo.grid"),
        ("data.records", "zoo.data.records"),
        ("reporting.drawn", "reports.pages.sections"),
        ("plot.simplex", "reports.plot.weight_space"),
        ("judging.parts", "verification.case"),
        ("judging.diagnosis", "verification.diagnosis.diagnose"),
        ("judging.wrong_kernels", "verification.diagnosis.mistakes_in_data"),
        ("judging.uniqueness", "verification.uniqueness"),
        ("conventions._parameters", "verification.conventions._convention"),
    ],
)
def test_a_module_that_was_merged_into_another_leads_there(old, new):
    sys.modules.pop(f"mklcvx.{old}", None)
    with pytest.warns(FutureWarning) as caught:
        found = import_module(f"mklcvx.{old}")
    assert f"mklcvx.{old} is now mklcvx.{new}: use that name" in [str(one.message) for one in caught]
    assert found is import_module(f"mklcvx.{new}")


def test_judge_is_found_where_it_was():
    with pytest.warns(FutureWarning, match=r"answers.judge is now mklcvx.verification.judge.judge: use that name"):
        from mklcvx.verification.answers import judge
    assert judge is import_module("mklcvx.verification.judge").judge


def test_a_method_is_found_by_its_old_name():
    stack, vector = KernelStack(np.eye(3)[None]), np.arange(3.0)
    with pytest.warns(FutureWarning, match=r"^KernelStack.images is now KernelStack.matvecs: use that name$"):
        found = stack.images(vector)
    assert found.tolist() == stack.matvecs(vector).tolist()


def test_a_class_of_formulations_is_found_by_its_old_name():
    with pytest.warns(FutureWarning, match=r"formulations.Implied is now mklcvx.formulations.RankOneCoefficients"):
        from mklcvx.formulations import Implied
    assert Implied is RankOneCoefficients
