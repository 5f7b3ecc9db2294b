"""Every formulation's file runs: it prints its theorem, and two declared values and two bounds that agree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mklcvx import formulations
from mklcvx.formulations import FORMULATIONS, get
from mklcvx.formulations._formulation import Demonstration, demonstration, small_instance

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", [formulation.name for formulation in FORMULATIONS])
def test_every_file_runs(name, capsys):
    file = Path(formulations.__file__).parent / f"{name}.py"
    program = compile(file.read_text(encoding="utf-8"), str(file), "exec")
    exec(program, {"__name__": "__main__", "__package__": formulations.__name__})
    said = capsys.readouterr().out
    assert said.startswith(f"{name} — ")
    assert "    primal   " in said
    assert "    dual     " in said
    assert "From one to the other" not in said
    *_, declared, recomputed, apart = said.splitlines()
    values = [float(word) for line in (declared, recomputed) for word in line.split()[2::2]]
    assert max(values) - min(values) <= 1e-5 * max(abs(value) for value in values)
    assert float(apart.split()[1].rstrip(",")) <= 1e-5


@pytest.mark.parametrize("name", [formulation.name for formulation in FORMULATIONS])
def test_the_bounds_lie_around_the_optimum(name):
    found = demonstration(get(name), small_instance(get(name)))
    assert found.lower <= found.upper + 1e-12
    assert found.apart <= 1e-5


def test_the_range_of_the_four_values_is_relative_to_the_largest():
    assert Demonstration(1.0, 2.0, 4.0, 3.0).apart == 0.75
    assert Demonstration(-1.0, -2.0, -4.0, -3.0).apart == 0.75


def test_a_file_runs_by_its_name():
    done = subprocess.run(
        [sys.executable, "-m", "mklcvx.formulations.l1"], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith("l1 — L1-MKL")
