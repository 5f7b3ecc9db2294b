"""The auditor of single tasks: what a file claims is confirmed, or it says so."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cases import LOSSES, given_for, instance_for, own_parameters
from honest import claimed, written
from mklcvx import Instance, formulations, solve, zoo
from mklcvx.certificate.proving import certified
from mklcvx.checker.audit import check, evaluated, evaluated_file, point_multipliers
from mklcvx.checker.claims import audited
from mklcvx.checker.files import read_solution
from mklcvx.io.files import save_instance
from mklcvx.problem.low_rank import LowRank

pytestmark = pytest.mark.slow

INSTANCE = zoo.random(20, 3, seed=3)


def record_of(name: str, instance: Instance = INSTANCE, **given) -> dict:
    return written(solve(instance, name, tol=1e-10, **given))


def audit(folder: Path, record: dict, instance: Instance = INSTANCE) -> int:
    save_instance(folder / "problem.npz", instance)
    (folder / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    return audited([str(folder / "problem.npz"), str(folder / "answer.json")], evaluated_file, point_multipliers)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "mklcvx.checker", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


# ------------------------------------------------------------------------------------------------------ honest files
def test_an_honest_file_is_confirmed(tmp_path):
    audit(tmp_path, record_of("l1"))
    done = run(tmp_path, "problem.npz", "answer.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("confirmed\n")
    assert "np.float64" not in done.stdout
    assert "vouched for: schema, formulation" in done.stdout
    assert "seconds" in done.stdout.split("not checked: ")[1]


@pytest.mark.parametrize("kind", ["balanced", "rank one", "sizes differ by 1e9", "n = 3"])
@pytest.mark.parametrize(("name", "loss"), LOSSES)
def test_honest_files_of_all_kinds_are_confirmed(tmp_path, capsys, name, loss, kind):
    instance = instance_for(name, kind)
    own = dict(own_parameters(name)[-1])
    if "groups" in own:
        instance = instance.with_kernels(instance.kernels, groups=own.pop("groups"))
    record = record_of(name, instance, **given_for(instance, loss), **own)
    assert audit(tmp_path, record, instance) == 0, capsys.readouterr()


def test_a_stretched_classifier_is_confirmed(tmp_path):
    record = record_of("sm2")
    record["certificate"]["stretch"] = 1 + 2.0**-30
    assert audit(tmp_path, claimed(INSTANCE, record)) == 0


def test_weighted_samples_and_no_bias(tmp_path):
    weights = np.linspace(0.5, 2, 20)
    instance = INSTANCE.with_kernels(INSTANCE.kernels, sample_weight=weights)
    for given in ({"bias": False}, {"nu": 0.5, "bias": False}):
        assert audit(tmp_path, record_of("lp", instance, **given), instance) == 0


def test_functions_of_their_own_are_confirmed(tmp_path):
    record = record_of("sm1", theta=0.6)
    signed = np.array(record["alpha"]) * np.array(record["y"])
    record["coefficients"] = np.outer(record["weights"], signed).tolist()
    assert audit(tmp_path, claimed(INSTANCE, record)) == 0
    assert record["certificate"]["relative_gap"] < 1e-10


def dates(samples: int) -> Instance:
    """Features of four digits: kernels of whole numbers, of rank one and two."""
    x = np.random.default_rng(7).integers(1950, 2021, size=(samples, 2)).astype(float)
    y = np.where(np.arange(samples) % 3 == 0, 1, -1)
    return Instance(np.stack([np.outer(x[:, 0], x[:, 0]), x @ x.T]), y)


@pytest.mark.parametrize("price", [1e-6, 1e-2, 1e4])
@pytest.mark.parametrize("name", ["l1", "average", "lp", "li"])
def test_features_of_four_digits_are_confirmed(tmp_path, capsys, name, price):
    instance = dates(20)
    own = own_parameters(name)[0]
    for bias in (True, False):
        record = record_of(name, instance, C=price, bias=bias, **own)
        assert audit(tmp_path, record, instance) == 0, capsys.readouterr()


def test_many_samples_of_low_rank_need_no_ridge(tmp_path, capsys):
    instance = dates(80)
    record = record_of("l2", instance, C=1e-2)
    assert record["certificate"]["ridge"] == 0
    assert audit(tmp_path, record, instance) == 0, capsys.readouterr()


def test_a_low_part_and_both_parts_of_the_bias_are_read(tmp_path, capsys):
    features = np.random.default_rng(0).normal(size=(20, 2))
    instance = Instance((features @ features.T).astype(np.float32)[None], INSTANCE.y)
    record = record_of("l1", instance, C=0.7)
    before = evaluated(instance.kernels, instance.y, record)
    record["bias"], record["bias_low"] = 0.0, record["bias"]
    record["alpha_low"] = [0.25, -0.25] + [0.0] * 18
    record["certificate"]["stretch"] = 1.0
    moved = claimed(instance, record)
    assert moved["certificate"]["upper"] > float(before.upper)
    assert moved["certificate"]["lower"] == pytest.approx(float(before.lower))
    assert audit(tmp_path, moved, instance) == 0, capsys.readouterr()


def test_where_the_scale_vanishes_the_bounds_take_its_place(tmp_path, capsys):
    instance = Instance(np.ones((1, 14, 14)), np.where(np.arange(14) < 6, 1, -1))
    record = record_of("svm", instance, C=0.7)
    assert record["status"] == "certified"
    assert record["certificate"]["scale"] <= 2.0**-40 * record["objective"]
    assert audit(tmp_path, record, instance) == 0, capsys.readouterr()
    record["bias"] -= 1e-10
    loose = claimed(instance, record)
    assert 2.0**-40 < loose["certificate"]["relative_gap"] < 1e-9
    assert loose["status"] == "not_certified"
    loose["tolerance"] = 1e-9
    assert audit(tmp_path, loose, instance) == 0, capsys.readouterr()
    assert audit(tmp_path, {**loose, "status": "certified"}, instance) == 1


def test_a_scale_that_does_not_vanish_cannot_be_said_to(tmp_path):
    """Else a gap that is small beside a large constant would count."""
    record = record_of("sm2", theta=1e-11)
    said = record["certificate"]
    said.update(scale=0.0, relative_gap=said["gap"] / max(abs(said["lower"]), abs(said["upper"])))
    assert audit(tmp_path, {**record, "status": "certified"}) == 1


def test_functions_of_kernels_without_weight_are_no_part_of_a_certificate():
    """They would separate the samples for nothing."""
    best, formulation = solve(INSTANCE, "l1"), formulations.get("l1")
    free = np.zeros((3, 20))
    free[1] = 50 * np.linalg.solve(INSTANCE.kernels[1] + 1e-3 * np.eye(20), INSTANCE.y)
    weights = np.array([1.0, 0.0, 0.0])
    task = formulation.task(INSTANCE, {"C": 1.0})[0]
    found = certified(formulation, task, best.alpha, weights, 1e-8, coefficients=free)
    assert found.certificate.upper >= best.certificate.lower
    assert not found.coefficients.any()


def test_nu_at_its_limit_has_boxes_that_are_wide_enough(tmp_path):
    """A third of a half is no double: three boxes just below it hold no half."""
    instance = Instance(INSTANCE.kernels[:, :7, :7], [1, -1, 1, -1, 1, -1, 1])
    third = 2**51 // 3
    units = [2**49, third, 2**49, third + 1, 2**49, third + 1, 2**49]
    record = json.loads(json.dumps(solve(instance, "l1", nu=6 / 7).as_dict()))
    record.update(schema="mklcvx.solution/2", tolerance=1e-8, alpha=[x * 2.0**-52 for x in units])
    record.update(weights=[1.0, 0.0, 0.0], certificate={"ridge": 1e-12, "stretch": 1.0, "rounding": 0.0})
    assert audit(tmp_path, claimed(instance, record), instance) == 0
    record["alpha"][1], record["alpha"][3] = (third - 1) * 2.0**-52, (third + 2) * 2.0**-52
    with pytest.raises(ValueError, match="alpha leaves its box"):
        check(instance.kernels, instance.y, record)


def test_an_answer_that_is_not_certified_is_confirmed_as_that(tmp_path, capsys):
    record = record_of("l1")
    record["bias"] += 0.01
    record = claimed(INSTANCE, record)
    assert record["status"] == "not_certified"
    assert audit(tmp_path, record) == 0


def test_an_archive_is_read_as_well(tmp_path):
    record = record_of("sm2")
    audit(tmp_path, record)
    arrays = {key: np.array(record.pop(key)) for key in ("weights", "alpha", "y", "norms")}
    arrays["multiplier_zeta"] = np.array(record["multipliers"].pop("zeta"))
    np.savez(tmp_path / "answer.npz", record=np.array(json.dumps(record)), **arrays)
    assert run(tmp_path, "problem.npz", "answer.npz").returncode == 0
    assert read_solution(tmp_path / "answer.npz")["alpha"] == pytest.approx(arrays["alpha"])


def test_of_factors_the_kernels_are_the_exact_products():
    factors = [np.random.default_rng(0).normal(size=(20, rank)) for rank in (2, 3)]
    instance = Instance(LowRank(factors), INSTANCE.y)
    record = json.loads(json.dumps(solve(instance, "l1").as_dict()))
    point = evaluated(instance.kernels, instance.y, record)
    assert point.ridge == 0
    assert check(instance.kernels, instance.y, record) == pytest.approx((record["objective"],) * 2, rel=1e-7)


# --------------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize("schema", ["mklcvx.solution/1", "mklcvx.solution/3", 2, None])
def test_other_schemas_are_refused(tmp_path, capsys, schema):
    assert audit(tmp_path, record_of("l1") | {"schema": schema}) == 1
    assert capsys.readouterr().out == "NOT confirmed: schema: not 'mklcvx.solution/2', the only one that is known\n"


@pytest.mark.parametrize("tau", [-2.0, 0.0])
def test_a_multiplier_that_proves_too_much_is_refused(tau):
    record = record_of("elastic", l1_ratio=0.4)
    record["multipliers"]["tau"] = tau
    with pytest.raises(ValueError, match="tau is not positive"):
        check(INSTANCE.kernels, INSTANCE.y, record)


def test_multipliers_cannot_restate_the_problem():
    record = record_of("sm1", theta=0.5)
    before = check(INSTANCE.kernels, INSTANCE.y, record)
    record["multipliers"]["theta"] = 1.0
    assert check(INSTANCE.kernels, INSTANCE.y, record) == before


@pytest.mark.parametrize(
    ("change", "status", "fault"),
    [
        (lambda record: record["alpha"].pop(), 1, "alpha: not an array of the shape (20,)"),
        (lambda record: record.update(bias=None), 1, "bias: not a finite number"),
        (lambda record: record.pop("weights"), 2, "KeyError"),
        (lambda record: record.update(preprocessing={}), 2, "centred or scaled"),
        (lambda record: record.update(alpha=[2.0] * 20), 1, "alpha leaves its box"),
        (lambda record: record.update(schema="mklcvx.solution/3"), 1, "schema: not 'mklcvx.solution/2'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, capsys, change, status, fault):
    record = copy.deepcopy(record_of("l1"))
    change(record)
    assert audit(tmp_path, record) == status
    out, err = capsys.readouterr()
    assert fault in (out if status == 1 else err)
    assert (err if status == 2 else out).count("\n") == 1


def test_missing_files_and_words_are_said_in_one_line(tmp_path):
    save_instance(tmp_path / "problem.npz", INSTANCE)
    for arguments in (("problem.npz",), ("problem.npz", "none.json")):
        done = run(tmp_path, *arguments)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    audit(tmp_path, record_of("l1"))
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.npz").mkdir()
    for arguments in (("problem.npz", "pipe.json"), ("pipe.json", "answer.json"), ("folder.npz", "answer.json")):
        done = run(tmp_path, *arguments)
        assert done.returncode == 2
        assert "not a regular file" in done.stderr
    with pytest.raises(ValueError, match="not a regular file"):
        read_solution(os.devnull)


def test_classes_are_sent_to_the_other_checker(tmp_path, capsys):
    audit(tmp_path, record_of("l1"))
    np.savez(tmp_path / "classes.npz", kernels=INSTANCE.kernels, classes=np.where(INSTANCE.y > 0, 1, 0))
    record = {**record_of("l1"), "target": "classes"}
    assert (
        audited([str(tmp_path / "classes.npz"), str(tmp_path / "answer.json")], evaluated_file, point_multipliers) == 1
    )
    with pytest.raises(ValueError, match=r"use mklcvx\.checker\.families"):
        evaluated_file({"kernels": INSTANCE.kernels, "classes": INSTANCE.y}, record)
