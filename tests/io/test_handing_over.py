"""Problems handed over to other languages, and answers taken back, through files alone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mklcvx import formulations, zoo
from mklcvx.io.files import load_instance, read_record, save_answer, save_instance
from mklcvx.verification.answers import read_answer
from mklcvx.verification.judge import judge
from places import ROOT

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples" / "handing_over"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROBLEMS = {"clouds": 1.0, "planted-l1": 1.0, "imbalanced": 4.0}
OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
COMPILER = shutil.which("g++") or shutil.which("clang++")


def check_optimal(path: Path, name: str, price: float) -> None:
    """What comes back proves itself optimal, and says the right objective and bias."""
    instance, l1 = zoo.specimen(name).instance(), formulations.get("l1")
    certificate = judge(l1, l1.task(instance, {"C": price})[0], read_answer(path, instance))
    assert certificate.relative_gap <= 1e-6
    record = read_record(path)
    assert float(record["objective"]) == pytest.approx(certificate.upper, rel=1e-6)
    known = zoo.specimen(name).optimum
    if known is not None:
        assert float(record["objective"]) == pytest.approx(known().value, rel=1e-6)
        assert float(record["bias"]) == pytest.approx(known().bias, abs=1e-4)


def run(*words: object) -> None:
    command = [str(word) for word in words]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(command, check=True, capture_output=True, timeout=60, env=environment)


@pytest.mark.parametrize("name", PROBLEMS)
def test_plain_python_takes_a_folder_and_returns_json(tmp_path, name):
    save_instance(tmp_path / "problem", zoo.specimen(name).instance())
    run(sys.executable, EXAMPLES / "solve_l1.py", tmp_path / "problem", tmp_path / "answer.json", PROBLEMS[name])
    check_optimal(tmp_path / "answer.json", name, PROBLEMS[name])


def test_the_page_about_it_runs(tmp_path, monkeypatch, capsys):
    instance = zoo.specimen("clouds").instance()
    for place in ("problem", "problem.mat"):
        save_instance(tmp_path / place, instance)
    run(sys.executable, EXAMPLES / "solve_l1.py", tmp_path / "problem", tmp_path / "answer.json", 1.0)
    for place in ("answer.mat", "answer"):
        save_answer(tmp_path / place, **read_record(tmp_path / "answer.json"))
    monkeypatch.chdir(tmp_path)
    ((language, text),) = BLOCK.findall((EXAMPLES / "README.md").read_text(encoding="utf-8"))
    assert language == "python"
    exec(compile(text, "README.md", "exec"), {})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["answer.mat", "answer", "answer.json"]
    assert all(float(row[-1]) <= 1e-6 for row in rows)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("no C++ compiler (g++ or clang++) is installed")
    path = tmp_path_factory.mktemp("cpp") / "solve_l1"
    run(COMPILER, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-o", path, EXAMPLES / "solve_l1.cpp")
    return path


@pytest.mark.parametrize("name", PROBLEMS)
def test_cpp_takes_a_folder_and_returns_one(tmp_path, program, name):
    save_instance(tmp_path / "problem", zoo.specimen(name).instance())
    run(program, tmp_path / "problem", tmp_path / "answer", PROBLEMS[name])
    check_optimal(tmp_path / "answer", name, PROBLEMS[name])


def test_cpp_takes_part_in_a_benchmark(tmp_path, program):
    from mklcvx.bench.comparison import compare
    from mklcvx.bench.external import External

    entrant = External.parse(f"cpp={program} {{instance.csv}} {{answer.csv}} {{C}}")
    found = compare(zoo.specimen("clouds").instance(), "l1", [entrant], rounds=2, time_limit=20.0, C=1.0)
    assert found.rows[0].status == "certified"


@pytest.mark.skipif(OCTAVE is None, reason="Octave (octave-cli) is not installed")
@pytest.mark.parametrize("name", PROBLEMS)
def test_octave_takes_a_mat_file_and_returns_one(tmp_path, name):
    save_instance(tmp_path / "problem.mat", zoo.specimen(name).instance())
    call = f"solve_l1('{tmp_path}/problem.mat', '{tmp_path}/answer.mat', {PROBLEMS[name]})"
    run(OCTAVE, "--norc", "--path", EXAMPLES, "--eval", call)
    check_optimal(tmp_path / "answer.mat", name, PROBLEMS[name])


@pytest.mark.skipif(OCTAVE is None, reason="Octave (octave-cli) is not installed")
def test_octave_reads_and_writes_folders(tmp_path):
    """Octave's own csv functions see the numbers that were written, and what they write is read."""
    instance = zoo.specimen("labels-rare").instance()
    save_instance(tmp_path / "problem", instance)
    (tmp_path / "again").mkdir()
    names = [*(f"K{m + 1}" for m in range(instance.count)), "labels"]
    lines = [
        f"dlmwrite('{tmp_path}/again/{name}.csv', csvread('{tmp_path}/problem/{name}.csv'), 'precision', 17)"
        for name in names
    ]
    run(OCTAVE, "--norc", "--eval", "; ".join(lines))
    assert zoo.checksum(load_instance(tmp_path / "again")) == zoo.checksum(instance)
