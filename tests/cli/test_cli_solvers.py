"""Published algorithms on the command line: traces, options, limits, and an interrupt that loses nothing."""

import json
import os
import signal
import subprocess
import sys

import pytest

from mklcvx import solve
from mklcvx.certificate.run import Row
from mklcvx.cli.display import Progress
from mklcvx.io.files import load_instance
from refusals import strict

pytestmark = pytest.mark.slow


def test_a_trace_is_written_beside_the_answer(succeeds, problem, tmp_path):
    trace, answer = tmp_path / "trace.json", tmp_path / "answer.json"
    out, _ = succeeds("solve", problem, "--solver", "simplemkl", "--trace", trace, "-o", answer)
    assert "SVMs" in out
    rows = strict(trace.read_text(encoding="utf-8"))["rows"]
    record = json.loads(answer.read_text(encoding="utf-8"))
    assert (record["solver"], record["iterations"]) == ("simplemkl", rows[-1]["iteration"])
    assert record["svm_solves"] == rows[-1]["svm_solves"]
    assert record["certificate"]["relative_gap"] <= 1e-4


def test_a_limit_is_said_and_the_best_point_kept(run, problem, tmp_path):
    answer = tmp_path / "answer.npz"
    options = ("--solver", "analytic", "--tol", "1e-12", "--max-iter", "3")
    code, _, err = run("solve", problem, *options, "-o", answer)
    assert code == 1
    assert "its limit of 3 iterations was reached" in err
    assert answer.exists()


SAYS_WHEN_IT_WORKS = """
import sys
from mklcvx.cli import display
from mklcvx.cli.main import main

said = []

def follow(self, row):
    if not said and row.iteration > 3 and row.gap < 0.5:
        said.append(print("at work", file=sys.stderr, flush=True))

display.Progress.follow = follow
main()
"""


def test_ctrl_c_returns_the_best_certified_point(problem, tmp_path):
    """A real process, interrupted while it works on a tolerance that it cannot reach."""
    answer, trace = tmp_path / "answer.json", tmp_path / "trace.json"
    command = ["solve", problem, "-f", "ckl", "--solver", "mirror", "--tol", "1e-12", "--max-iter", "100000000"]
    started = subprocess.Popen(
        [sys.executable, "-c", SAYS_WHEN_IT_WORKS, *map(str, command), "-o", str(answer), "--trace", str(trace)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A shell in the background has its children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert started.stderr.readline() == "at work\n"
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode == 130
    assert "mklcvx: interrupted; this is the best point so far: not certified: relative gap " in err
    assert "it was interrupted after" in err
    record = json.loads(answer.read_text(encoding="utf-8"))
    optimum = solve(load_instance(problem), "ckl")
    assert record["status"] == "not_certified"
    assert record["certificate"]["lower"] <= optimum.certificate.upper * (1 + 1e-9)
    assert record["certificate"]["upper"] >= optimum.certificate.lower * (1 - 1e-9)
    assert record["certificate"]["relative_gap"] < 0.5
    assert len(json.loads(trace.read_text(encoding="utf-8"))["rows"]) > 3


def test_the_bar_follows_the_gap_on_a_logarithmic_scale(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    progress = Progress(silent=False, tolerance=1e-4)
    assert not progress.disable
    for gap, done in ((1.0, 0.0), (1e-2, 0.5), (1e-5, 1.0)):
        progress.follow(Row(0, 0.0, 1.0, gap, None, 0, 0.0))
        assert progress.tasks[0].completed == pytest.approx(done)
    progress.say("l1 by silp")
    assert progress.tasks[0].description == "l1 by silp"
    assert Progress(silent=True).disable
