"""The checker cannot be talked into anything: what a file claims is confirmed, or it says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mklcvx import solve, zoo
from mklcvx.checker import check, read_solution
from mklcvx.files import save_instance, save_solution

INSTANCE = zoo.random(20, 3, seed=3)


def record_of(name: str, **given) -> dict:
    return json.loads(json.dumps(solve(INSTANCE, name, solver="exact", **given).as_dict()))


def run(folder: Path, record: dict | None = None, *arguments: str) -> subprocess.CompletedProcess:
    save_instance(folder / "problem.npz", INSTANCE)
    if record is not None:
        (folder / "answer.json").write_text(json.dumps(record))
    command = [sys.executable, "-m", "mklcvx.checker", *(arguments or ("problem.npz", "answer.json"))]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_an_honest_file_is_confirmed(tmp_path):
    done = run(tmp_path, record_of("l1"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("confirmed\n")
    assert "np.float64" not in done.stdout


def test_an_archive_is_read_as_well(tmp_path):
    solution = solve(INSTANCE, "sm2", solver="exact")
    save_solution(tmp_path / "answer.npz", solution)
    assert run(tmp_path, None, "problem.npz", "answer.npz").returncode == 0
    assert read_solution(tmp_path / "answer.npz")["alpha"] == pytest.approx(solution.alpha)


@pytest.mark.parametrize(("part", "value"), [("lower", 1.0), ("upper", 1e3)])
def test_a_false_certificate_is_not_confirmed(tmp_path, part, value):
    record = record_of("l1")
    record["certificate"][part] = value
    done = run(tmp_path, record)
    assert done.returncode == 1
    assert "NOT confirmed" in done.stdout


def test_a_shifted_bias_is_not_confirmed(tmp_path):
    record = record_of("l1")
    record["bias"] += 0.5
    assert run(tmp_path, record).returncode == 1


@pytest.mark.parametrize("tau", [-2.0, 0.0])
def test_a_multiplier_that_proves_too_much_is_refused(tau):
    record = record_of("elastic", l1_ratio=0.4)
    record["multipliers"]["tau"] = tau
    with pytest.raises(ValueError, match="tau is not positive"):
        check(INSTANCE.kernels, INSTANCE.y, record)


def test_multipliers_cannot_restate_the_problem():
    record = record_of("sm1", theta=0.5)
    honest = check(INSTANCE.kernels, INSTANCE.y, record)
    record["multipliers"]["theta"] = 1.0
    assert check(INSTANCE.kernels, INSTANCE.y, record) == honest


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda record: record["alpha"].pop(), "ValueError"),
        (lambda record: record.update(bias=None), "TypeError"),
        (lambda record: record.pop("weights"), "KeyError"),
        (lambda record: record.update(preprocessing={}), "centred or scaled"),
        (lambda record: record.update(alpha=[2.0] * 20), "alpha leaves its box"),
    ],
)
def test_what_cannot_be_checked_is_said_in_one_line(tmp_path, change, fault):
    record = record_of("l1")
    change(record)
    done = run(tmp_path, record)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert fault in done.stderr


def test_missing_files_and_words_are_said_in_one_line(tmp_path):
    for arguments in (("problem.npz",), ("problem.npz", "none.json")):
        done = run(tmp_path, None, *arguments)
        assert done.returncode != 0
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [("pipe.json", "answer.json"), ("problem.npz", "pipe.json")])
def test_a_pipe_is_not_waited_for(tmp_path, arguments):
    os.mkfifo(tmp_path / "pipe.json")
    done = run(tmp_path, record_of("l1"), *arguments)
    assert done.returncode == 2
    assert "pipe.json is not an ordinary file" in done.stderr


def test_classes_are_sent_to_the_other_checker(tmp_path):
    np.savez(tmp_path / "classes.npz", kernels=INSTANCE.kernels, classes=np.arange(20) % 2)
    done = run(tmp_path, record_of("l1"), "classes.npz", "answer.json")
    assert "use checker_families" in done.stderr
