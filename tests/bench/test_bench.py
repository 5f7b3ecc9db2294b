"""Benchmarks in small: everybody is judged by the same certificate, and what fails, hangs or lies is said. No clock is
tested."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mklcvx import Instance, formulations, solve, zoo
from mklcvx.bench import worker as bench_worker
from mklcvx.bench.comparison import Benchmark, BenchmarkRow, compare, contestants
from mklcvx.bench.external import External
from mklcvx.bench.process import Attempt, Worker
from mklcvx.certificate import Certificate
from mklcvx.io.files import save_instance, save_solution
from mklcvx.verification.answers import read_answer
from mklcvx.verification.judge import judge
from refusals import strict

pytestmark = pytest.mark.slow

INSTANCE = zoo.random(24, 4, seed=1)
L1 = formulations.get("l1")
FAMILIES = ["l1", "li", "vskl", "ml_sum", "ml_minimax", "ts", "ts_l1", "alignment", "hypergraph", "hypergraph_smooth"]


@pytest.fixture(scope="module")
def exact():
    return solve(INSTANCE, "l1")


# ---------------------------------------------------------------------------------------------------- judging
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("ending", ["npz", "json"])
def test_the_judge_confirms_certificates_from_the_file_alone(name, ending, tmp_path):
    solution, formulation = solve(INSTANCE, name), formulations.get(name)
    save_solution(tmp_path / f"a.{ending}", solution)
    judged = judge(formulation, formulation.task(INSTANCE, {})[0], read_answer(tmp_path / f"a.{ending}"))
    assert judged.proves(1e-7)
    assert judged.lower == pytest.approx(solution.certificate.lower, rel=1e-7)
    assert judged.upper == pytest.approx(solution.certificate.upper, rel=1e-7)


# ------------------------------------------------------------------------------------------------ the contest
SOLVES = """
import json, os, sys
import numpy as np
assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
data = np.load(sys.argv[1], allow_pickle=False)
record = json.load(open({known!r}))
assert data["kernels"].shape == (4, 24, 24) and float(sys.argv[3]) == 1.0
if sys.argv[2].endswith(".npz"):
    np.savez(sys.argv[2], weights=record["weights"], alpha=np.array(record["alpha"])[:, None])
else:
    json.dump({{"weights": record["weights"], "alpha": record["alpha"]}}, open(sys.argv[2], "w"))
"""
MEDDLES = """
import json, sys
import numpy as np
np.savez(sys.argv[1], kernels=np.ones((4, 3, 3)), y=[1, 1, -1])
json.dump({"weights": [0.25] * 4}, open(sys.argv[2], "w"))
"""
LIES = """
import json, sys
answer = {"weights": [0.25] * 4, "alpha": [0.0] * 24, "objective": 1.0, "status": "certified",
          "certificate": {"lower": 1.0, "upper": 1.0, "gap": 0.0, "relative_gap": 0.0, "scale": 1.0}}
json.dump(answer, open(sys.argv[2], "w"))
"""
FUNCTIONS = """
def even(kernels, y, C=1.0):
    return [1 / len(kernels)] * len(kernels)

def lacks(kernels, y):
    return even(kernels, y)
"""
FAILS = "import sys\nprint('before', file=sys.stderr)\nsys.exit('no licence for this')"
SILENT = "pass"
NONSENSE = "import sys; open(sys.argv[2], 'w').write('weights: all of them')"
SHORT = "import json, sys; json.dump({'weights': [1.0], 'alpha': [1.0]}, open(sys.argv[2], 'w'))"
HANGS = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({noted!r}, "w").write(str(child.pid))
time.sleep(60)
"""


def command(folder: Path, name: str, text: str, answer: str = "{answer}") -> str:
    script = folder / f"{name} script.py"
    script.write_text(text, encoding="utf-8")
    return f"{name}='{sys.executable}' '{script}' {{instance}} {answer} {{C}}"


@pytest.fixture(scope="module")
def contest(exact, tmp_path_factory):
    """Solvers and commands of every kind against each other, and the folder with the commands."""
    folder = tmp_path_factory.mktemp("contest")
    save_solution(folder / "known.json", exact)
    knows, hangs = SOLVES.format(known=str(folder / "known.json")), HANGS.format(noted=str(folder / "child"))
    scripts = {"json": knows, "lies": LIES, "fails": FAILS, "silent": SILENT, "nonsense": NONSENSE, "short": SHORT}
    scripts = {"meddles": MEDDLES, **scripts, "hangs": hangs}
    commands = [command(folder, name, text) for name, text in scripts.items()]
    commands += [command(folder, "npz", knows, "{answer.npz}"), "missing=/no/such/program {instance} {answer}"]
    entrants = contestants(L1, ["interior", "clarabel", "level"], commands)
    return compare(INSTANCE, "l1", entrants, rounds=2, time_limit=3.0, C=1), folder


@pytest.fixture(scope="module")
def told(contest):
    return {row.name: row for row in contest[0].rows}


def test_every_contestant_of_a_formulation_takes_part():
    names = [contestant.name for contestant in contestants(L1)]
    assert names[:2] == ["interior", "clarabel"]
    assert {"scs", "silp", "silp_exact", "simplemkl", "level", "analytic"} <= set(names)
    assert "sm1_bcd" not in names


def test_rounds_are_counted_and_solvers_are_certified(contest, told, exact):
    found = contest[0]
    assert (len(found.reference), len(found.validation)) == (2, 2)
    for name, asked in (("interior", 1e-9), ("clarabel", 1e-8), ("level", 1e-4)):
        row = told[name]
        assert (row.status, row.asked, len(row.seconds)) == ("certified", asked, 2)
        assert row.certificate.lower <= exact.certificate.upper * (1 + 1e-9)
        assert row.certificate.upper >= exact.certificate.lower * (1 - 1e-9)
        assert found.fits(row, validated=True) > found.fits(row) > 0


def test_commands_that_solve_are_certified_and_one_that_lies_is_not(told):
    assert told["json"].status == told["npz"].status == "certified"
    assert told["lies"].status == "not_certified"
    assert told["lies"].certificate.gap > 0.5
    assert told["lies"].gap is None  # alpha = 0: nothing to compare its gap with


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fails", "exit status 1: no licence for this"),
        ("meddles", "it changed the instance's file"),
        ("silent", "none was written"),
        ("nonsense", "not readable JSON"),
        ("short", "weights has shape (1,)"),
        ("missing", "cannot be started"),
    ],
)
def test_commands_that_fail_say_why(told, name, words):
    assert told[name].status == "failed"
    assert words in told[name].fault
    assert os.sep + "mklcvx." not in told[name].fault
    assert told[name].median is None


def test_a_slow_command_is_ended_with_everything_it_started(contest, told):
    slow = told["hangs"]
    assert (slow.status, len(slow.seconds), slow.gap) == ("cut_off", 1, None)
    assert gone(int((contest[1] / "child").read_text(encoding="utf-8")))


def gone(process: int) -> bool:
    """Whether a process has ended, or is about to be collected by whoever inherited it."""
    for _ in range(50):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.1)
    return False


def test_no_shell_reads_the_command():
    parsed = External.parse("a b=run {instance} {answer} '; touch x' $HOME")
    assert parsed.name == "a b"
    assert parsed.words == ("run", "{instance}", "{answer}", "; touch x", "$HOME")


def test_a_process_that_does_not_look_at_the_clock_is_ended_and_another_started(tmp_path):
    save_instance(tmp_path / "i.npz", Instance(INSTANCE.kernels, classes=np.arange(24) % 3), compressed=False)
    with Worker(tmp_path / "i.npz") as worker:
        for parameters in ({"C": 2.0}, {"nu": 0.4}, {"nu": 1.0}, {"lam": 0.1}):
            assert worker.ask({"service": "reference", "parameters": parameters})["seconds"] > 0
        assert "TypeError" in worker.ask({"service": "reference", "parameters": {"nu": "half"}})["fault"]
        assert "KeyError" in worker.ask({"service": "nosuch"})["fault"]
        first = worker.process
        assert "OPENBLAS_NUM_THREADS=1\0" in Path(f"/proc/{first.pid}/environ").read_text(encoding="utf-8")
        os.kill(first.pid, signal.SIGSTOP)
        assert worker.ask({"service": "validate"}, patience=0.2) is None
        assert first.poll() is not None
        assert worker.ask({"service": "validate"})["seconds"] > 0
        assert worker.process.pid != first.pid
        second = worker.process
        second.kill()
        second.wait()
        assert worker.ask({"service": "validate"})["fault"] == "its process died"
    assert worker.process is None


def test_the_first_fit_of_libsvm_is_not_counted(monkeypatch):
    """It imports what it needs; the clock here moves 30 s for that, and a hundredth for a fit."""
    clock, fitted = [0.0], []

    class Machine:
        def fit(self, kernel, y, sample_weight):
            clock[0] += 0.01 if fitted else 30.0
            fitted.append((kernel, y))

    monkeypatch.setattr(bench_worker, "_libsvm", lambda *_: Machine())
    monkeypatch.setattr(bench_worker.time, "process_time", lambda: clock[0])
    assert bench_worker._reference(INSTANCE, {"parameters": {}})["seconds"] == pytest.approx(0.01)
    assert len(fitted) >= 6
    assert fitted[0][0] == pytest.approx(INSTANCE.kernels.mean(axis=0))
    assert fitted[0][1] == pytest.approx(INSTANCE.y)


@pytest.mark.parametrize("targets", [{"y": INSTANCE.y}, {"classes": np.arange(24) % 5}, {"labels": np.eye(24, 3)}])
def test_the_warm_up_has_samples_of_every_class(targets):
    part = bench_worker._part(Instance(INSTANCE.kernels, groups=INSTANCE.groups, **targets))
    signs = part.targets.signs("test")
    assert part.samples < 24
    assert all(np.ptp(row) == 2 for row in signs)


def row(*gaps: float, **changes) -> BenchmarkRow:
    made = BenchmarkRow("a", "", 1e-6, seconds=[1.0] * len(gaps), **changes)
    made.certificates = [Certificate(1.0 - gap, 1.0, 1.0) for gap in gaps]
    return made


def test_the_worst_round_decides():
    assert row(1e-9, 1e-7).status == "certified"
    assert row(1e-9, 1e-5).status == "not_certified"
    assert row(1e-9, 1e-5).gap == pytest.approx(1e-5)
    assert row(1e-9, cut=True).status == "certified"
    assert row(1e-5, cut=True).status == "cut_off"
    assert row(1e-9, fault="no").status == "failed"
    assert row().status == "not_certified"


def test_medians_and_fits():
    one = BenchmarkRow("a", "", 1e-6, seconds=[1.0, 5.0, 2.0])
    found = Benchmark("l1", {}, 24, 4, 3, 60.0, [0.5, 0.1, 0.9], [1.0, 1.0, 1.0], [one])
    assert (found.fit, found.fits(one), found.fits(one, validated=True)) == (0.5, 4.0, 6.0)
    one.add(Attempt(fault="broken"), L1, None)
    assert not one.goes_on(60.0)
    other = BenchmarkRow("b", "", 1e-6)
    for _ in range(2):
        assert other.goes_on(60.0)
        other.add(Attempt(seconds=1.0, elapsed=31.0), L1, None)
    assert not other.goes_on(60.0)


# ----------------------------------------------------------------------------------------- the command line
def test_the_command_line(run, problem):
    code, out, err = run("bench", problem, "--solvers", "interior,level", "--rounds", 1, "--json")
    record = strict(out)
    assert (code, err, record["schema"]) == (0, "", "mklcvx.bench/1")
    assert [row["status"] for row in record["contestants"]] == ["certified", "certified"]
    assert record["contestants"][0]["certificate"]["relative_gap"] <= 1e-9


def test_a_table_and_a_first_contestant_that_is_not_certified(run, problem, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    options = ("-f", "ckl", "--solvers", "mirror", "--rounds", 1, "--tol", "1e-13", "--time-limit", "0.3")
    code, out, _ = run("bench", problem, *options)
    assert code == 1
    assert "cut_off" in out
    assert "fits" in out.splitlines()[0]


def test_a_function_takes_part_by_its_name(run, problem, tmp_path, monkeypatch):
    """One that lacks a parameter without its default fails, and says so."""
    (tmp_path / "others.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = ("--set", "C=2", "--solvers", "interior,others:even,others:lacks", "--rounds", 1, "--json")
    code, out, _ = run("bench", problem, *options)
    first, even, lacks = strict(out)["contestants"]
    assert (code, first["status"]) == (0, "certified")
    assert (even["status"], even["asked"]) == ("not_certified", 1e-6)
    assert even["certificate"]["upper"] >= first["certificate"]["lower"]
    assert (lacks["status"], lacks["message"]) == ("failed", "it takes no C")
