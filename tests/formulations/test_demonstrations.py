"""Every formulation's file runs: it prints its theorem, and two declared values and two bounds that agree."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
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


def test_the_best_of_all_points_is_shown(monkeypatch):
    """Both bounds are as good where the dual's points are but zero; these are read in the units of the problem."""
    l1, units = get("l1"), []
    whole = demonstration(l1, small_instance(l1))

    def trivial(self, program, task, unit):
        units.append(unit)
        return self.trivial_points(task)

    monkeypatch.setattr(type(l1), "from_dual", trivial)
    found = demonstration(l1, small_instance(l1))
    assert (found.lower, found.upper) == pytest.approx((whole.lower, whole.upper), rel=1e-5)
    assert units == [1]


def test_small_instances_are_two_clouds_in_the_plane():
    """Around (1, 1) and (−1, −1), in turns; the second label is the sign of a·b; groups take turns, too."""
    plain, labelled, grouped = (small_instance(get(name)) for name in ("l1", "ml_sum", "ckl"))
    points = np.random.default_rng(0).normal(size=(16, 2)) + plain.y[:, None]
    assert plain.y.tolist() == [1, -1] * 8
    for m, kernel in enumerate(plain.kernels):
        assert kernel[0, 1] == pytest.approx(math.exp(-np.sum((points[0] - points[1]) ** 2) / 4**m))
    assert labelled.targets.values.tolist() == [[y > 0, a * b > 0] for y, (a, b) in zip(plain.y, points, strict=True)]
    assert grouped.groups.tolist() == [0, 1, 0, 1]


def test_the_range_of_the_four_values_is_relative_to_the_largest():
    assert Demonstration(1.0, 2.0, 4.0, 3.0).apart == 0.75
    assert Demonstration(-1.0, -2.0, -4.0, -3.0).apart == 0.75


def test_a_file_runs_by_its_name():
    done = subprocess.run(
        [sys.executable, "-m", "mklcvx.formulations.l1"], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith("l1 — L1-MKL")
