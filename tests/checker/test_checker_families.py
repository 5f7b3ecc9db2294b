"""The auditor of many labels, two stages and hypergraphs."""

import json
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from honest import claimed, written
from labelled import synthetic
from mklcvx import Instance, solve
from mklcvx.checker import families as checker_families
from mklcvx.checker.claims import audited
from mklcvx.checker.numbers import stack_of
from mklcvx.io.files import save_instance

pytestmark = pytest.mark.slow

INSTANCE = synthetic(20, 3)


def record_of(instance: Instance, name: str, **given) -> dict:
    return written(solve(instance, name, tol=1e-10, **given))


def audit(folder, record: dict, instance: Instance) -> int:
    save_instance(folder / "problem.npz", instance)
    (folder / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    paths = [str(folder / "problem.npz"), str(folder / "answer.json")]
    return audited(paths, checker_families.evaluated_file, checker_families.point_multipliers)


@pytest.mark.parametrize("expansion", ["star", "zhou", "kcca"])
@pytest.mark.parametrize("name", ["hypergraph", "hypergraph_smooth"])
def test_every_expansion_is_built_again(tmp_path, name, expansion):
    record = record_of(INSTANCE, name, expansion=expansion, lam=0.4)
    assert record["certificate"]["relative_gap"] < 1e-9
    assert audit(tmp_path, record, INSTANCE) == 0


def test_h_may_be_turned():
    """Only HH' counts: with another H, and Z turned with it, the bound is the same."""
    record = record_of(INSTANCE, "hypergraph")
    before = checker_families.check(INSTANCE.kernels, INSTANCE.targets.values, record)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    record["multipliers"]["Z"] = (np.array(record["multipliers"]["Z"]) @ turn).tolist()
    assert checker_families.check(INSTANCE.kernels, INSTANCE.targets.values, record) == pytest.approx(before, rel=1e-13)


def test_an_alignment_that_is_not_the_best_is_measured_against_the_best(tmp_path):
    best, rough = (record_of(INSTANCE, "alignment", approximate=a)["certificate"] for a in (False, True))
    assert rough["upper"] == pytest.approx(best["upper"], rel=1e-14)
    assert rough["lower"] < best["lower"]


def test_pairs_of_kernels_with_large_entries_keep_their_signs():
    """Two samples apart, K = 2^60 throughout and weight 1: the pair's margin is −2^60, its share of three pairs 1/3."""
    record = {"formulation": "ts", "parameters": {"balanced": False}, "multipliers": {"beta": np.zeros(3)}}
    together, stack = np.array([[1, -1], [-1, 1]]), stack_of(np.full((1, 2, 2), 2.0**60))
    point = checker_families.pairs(stack, together, [Fraction(1)], record, {"lam": Fraction(1)})
    assert point.upper == Fraction(1, 2) + Fraction(1 + 2**60, 3)


def test_balanced_pairs_and_stretched_labels(tmp_path):
    assert audit(tmp_path, record_of(INSTANCE, "ts", balanced=True), INSTANCE) == 0
    record = record_of(INSTANCE, "ml_sum")
    if record["coefficients"] is None:
        record["certificate"]["stretch"] = 1 + 2.0**-30
    assert audit(tmp_path, claimed(INSTANCE, record), INSTANCE) == 0


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("ml_sum", {"weights": [0.5, 0.6, 0.1]}, "weights: they do not sum to one"),
        ("ml_sum", {"weights": [-0.5, 0.6, 0.9]}, "a weight is negative"),
        ("ml_sum", {"alpha": np.full((3, 20), 2.0).tolist()}, "alpha leaves its box"),
        ("ml_minimax", {"multipliers": {"gamma": [0.5, 0.6, 0.1]}}, "gamma: they do not sum to one"),
        ("ts", {"multipliers": {"beta": [1.0] * 210}}, "it leaves its box"),
        ("ts_l1", {"multipliers": {"beta": [0.999 / 210] * 210}}, "a sum P_m exceeds lambda"),
        ("hypergraph", {"weights": [0.5, 0.6, 0.1]}, "weights: they do not sum to one"),
    ],
)
def test_points_that_are_not_feasible_are_refused(name, change, fault):
    record = {**record_of(INSTANCE, name), **change}
    with pytest.raises(ValueError, match=fault):
        checker_families.check(INSTANCE.kernels, INSTANCE.targets.values, record)


@pytest.mark.parametrize("name", ["ml_minimax", "ts", "hypergraph"])
def test_it_runs_by_itself_on_text_and_archives(tmp_path, name):
    record = record_of(INSTANCE, name)
    audit(tmp_path, record, INSTANCE)
    arrays = {key: np.array(record.pop(key)) for key in ("weights", "y")}
    for key in ("beta", "Z", "gamma"):
        if key in record["multipliers"]:
            arrays[f"multiplier_{key}"] = np.array(record["multipliers"].pop(key))
    np.savez(tmp_path / "answer.npz", record=np.array(json.dumps(record)), **arrays)
    for answer in ("answer.json", "answer.npz"):
        command = [sys.executable, "-m", "mklcvx.checker.families", "problem.npz", answer]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith("\nconfirmed\n")
