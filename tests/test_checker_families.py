"""NumPy alone finds the bounds of the families from what the JSON carries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_multi_label import synthetic

from mklcvx import Instance, checker_families, solve, zoo
from mklcvx.files import save_instance, save_solution
from mklcvx.formulations import FORMULATIONS, SINGLE_TASKS

FAMILIES = [f.name for f in FORMULATIONS if f not in SINGLE_TASKS]
INSTANCE = synthetic(20, 3)
AS_Y = Instance(INSTANCE.kernels, 2 * INSTANCE.targets.values[:, 0] - 1)


def record_of(solution) -> dict:
    return json.loads(json.dumps(solution.as_dict(), allow_nan=False))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("instance", [INSTANCE, AS_Y], ids=["labels", "y"])
def test_the_bounds_are_found_again(name, instance):
    solution = solve(instance, name, solver="exact")
    lower, upper = checker_families.check(instance.kernels, instance.targets.indicators(), record_of(solution))
    scale = solution.certificate.scale
    assert lower == pytest.approx(solution.certificate.lower, abs=2e-8 * scale)
    assert upper == pytest.approx(solution.certificate.upper, abs=2e-8 * scale)
    assert lower <= upper + 1e-12 * scale


@pytest.mark.parametrize("expansion", ["star", "zhou", "kcca"])
def test_every_expansion_is_built_again(expansion):
    solution = solve(INSTANCE, "hypergraph", solver="exact", expansion=expansion, lam=0.4)
    lower, upper = checker_families.check(INSTANCE.kernels, INSTANCE.targets.values, record_of(solution))
    assert (lower, upper) == pytest.approx((solution.certificate.lower, solution.certificate.upper), abs=1e-7)


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("ml_sum", {"weights": [0.5, 0.6, 0.1]}, "the weights do not sum to one"),
        ("ml_sum", {"weights": [-0.5, 0.6, 0.9]}, "a weight is negative"),
        ("ml_sum", {"alpha": np.full((3, 20), 2.0).tolist()}, "alpha leaves its box"),
        ("ml_minimax", {"multipliers": {"gamma": [0.5, 0.6, 0.1]}}, "gamma leaves the simplex"),
        ("ts", {"multipliers": {"beta": [1.0] * 210}}, "beta leaves its box"),
        ("ts_l1", {"multipliers": {"beta": [1 / 210] * 210}}, "a pull exceeds lambda"),
        ("hypergraph", {"weights": [0.5, 0.6, 0.1]}, "the weights do not sum to one"),
    ],
)
def test_points_that_are_not_feasible_are_refused(name, change, fault):
    record = {**record_of(solve(INSTANCE, name, solver="exact")), **change}
    with pytest.raises(ValueError, match=fault):
        checker_families.check(INSTANCE.kernels, INSTANCE.targets.values, record)


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("name", ["ml_minimax", "ts", "hypergraph"])
def test_it_runs_by_itself_and_confirms_what_the_file_claims(tmp_path, name, ending):
    save_instance(tmp_path / "problem.npz", INSTANCE)
    save_solution(tmp_path / f"answer{ending}", solve(INSTANCE, name, solver="exact"))
    command = [sys.executable, "-m", "mklcvx.checker_families", "problem.npz", f"answer{ending}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "confirmed" in done.stdout


def test_it_depends_on_numpy_and_the_other_checker_alone():
    lines = Path(checker_families.__file__).read_text(encoding="utf-8").splitlines()
    imports = {line.split()[1] for line in lines if line.strip().startswith(("import ", "from "))}
    assert imports == {"numpy", "mklcvx.checker"}


@pytest.mark.parametrize("solver", ["interior", "exact"])
@pytest.mark.parametrize("specimen", ["labels-missing", "labels-rare", "four-classes"])
@pytest.mark.parametrize("name", ["ml_sum", "ml_minimax"])
def test_the_certificate_of_many_labels_is_what_the_checker_computes(name, specimen, solver):
    """To rounding, whatever the gap: the weights in the file are those that made the functions."""
    instance = zoo.specimen(specimen).instance()
    found = solve(instance, name, solver=solver)
    lower, upper = checker_families.check(
        instance.kernels, instance.targets.indicators(), record_of(found), instance.sample_weight
    )
    certificate = found.certificate
    assert abs(lower - certificate.lower) <= 1e-12 * certificate.scale
    assert abs(upper - certificate.upper) <= 1e-12 * certificate.scale
