"""The command line's refusals and interruptions: one line, exit status, nothing half written."""

from __future__ import annotations

import os

import numpy as np
import pytest

import mklcvx
from mklcvx.cli import options
from mklcvx.problem import memory
from mklcvx.solvers import solving
from stacks import FOR_COMMANDS

Y, K = FOR_COMMANDS.y, FOR_COMMANDS.kernels


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "C"), ("--set 'C' is not KEY=VALUE", "write for example --set C=10")),
        (("--set", "=3"), ("--set '=3' is not KEY=VALUE",)),
        (("--set", "C="), ("--set 'C=' is not KEY=VALUE",)),
        (("--set", "C=1", "--set", "C=2"), ("--set C is given twice", "keep one")),
        (("--set", "biass=1"), ("unknown parameter 'biass' of l1", "did you mean 'bias'?")),
        (("--set", "C=ten"), ("parameter C = 'ten' is not a number",)),
        (("--set", "C=nan"), ("parameter C = nan is not a number",)),
        (("--set", "C=1e999"), ("parameter C = inf is not a number",)),
        (("--set", "C=-1"), ("parameter C = -1 is outside the limits of l1", "C > 0")),
        (("--set", "C=1", "--set", "nu=0.5"), ("C and nu are both given", "keep one")),
        (("-f", "sm1", "--set", "theta=0.1"), ("theta = 0.1", "θ ≥ 1/M")),
        (("-f", "elastik"), ("unknown formulation 'elastik'", "did you mean 'elastic'?")),
        (("-f", "svm"), ("svm takes one kernel, the instance has 3",)),
        (("--solver", "clarabell"), ("unknown solver 'clarabell'", "did you mean 'clarabel'?")),
        (
            ("-f", "l2", "--solver", "silp_exact"),
            ("solver silp_exact does not fit l2", "l2 is solved by auto, clarabel, scs, interior,"),
        ),
        (("--tol", "0"), ("tol = 0.0 is not between 0 and 1",)),
        (("--tol", "small"), ("--tol",)),
        (("--max-iter", "0"), ("max_iter = 0 is below 1",)),
        (("--max-iter", "1.5"), ("--max-iter",)),
        (("--time-limit", "-1"), ("time_limit = -1.0 is not positive",)),
        (("--repair", "mend"), ("--repair mend is unknown", "give 'clip' or 'shift'")),
        (("--normalise", "tracee"), ("normalise 'tracee' is unknown", "did you mean 'trace'?")),
        (("--kernels", "age,weight"), ("unknown kernel 'weight'", "one of age, genes, height")),
        (("--kernels", ""), ("unknown kernel ''",)),
        (("-o", "answer.txt"), ("output answer.txt: unknown kind of file '.txt'", ".json or .npz")),
        (("-o", "nowhere/answer.json"), ("no folder nowhere", "create it first")),
        (("-o",), ("-o",)),
        (("--colour",), ("--colour", "see mklcvx solve --help")),
        (("more.npz",), ("more.npz", "see mklcvx solve --help")),
    ],
)
def test_unusable_requests_are_refused_in_one_line(refusal, problem, arguments, words):
    message = refusal("solve", problem, *arguments)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solv",), ("solv", "solve")),
        (("solve",), ("Missing argument",)),
        (("--colour",), ("--colour",)),
        (("explain",), ("Missing argument",)),
        (("explain", "elastik"), ("unknown formulation 'elastik'", "did you mean 'elastic'?")),
        (("predict", "answer.json"), ("Missing argument",)),
        (("predict", "nowhere.json", "nowhere.npz"), ("nowhere.json: no such file",)),
        (("demo", "--samples", "1"), ("--samples",)),
    ],
)
def test_unknown_commands_and_missing_arguments_are_refused_in_one_line(refusal, arguments, words):
    message = refusal(*arguments)
    for word in words:
        assert word in message


def test_groups_are_asked_for(refusal, tmp_path):
    np.savez(tmp_path / "file.npz", kernels=K, y=Y)
    assert "ckl needs groups of kernels" in refusal("solve", tmp_path / "file.npz", "-f", "ckl")


def test_line_breaks_in_the_names_of_files_do_not_break_the_line(refusal, tmp_path):
    assert "two lines.npz: no such file" in refusal("solve", tmp_path / "two\nlines.npz")


def test_numbers_beyond_double_precision_are_said_in_one_line(refusal, problem, monkeypatch):
    def overflow(*_, **__):
        raise OverflowError(34, "Numerical result out of range")

    monkeypatch.setattr(solving, "assemble", overflow)
    assert "left the range of double precision" in refusal("solve", problem)


def test_lack_of_memory_is_said_in_one_line(refusal, problem, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr(solving, "assemble", exhausted)
    assert "not enough memory for this instance: use fewer samples" in refusal("solve", problem)


@pytest.mark.parametrize("asked", [("solve",), ("path", "--grid", "C=1"), ("report", "-o", "page.html")])
def test_what_does_not_fit_into_memory_is_refused_before_it_is_solved(refusal, tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    mklcvx.save_instance("large.npz", mklcvx.Instance(np.eye(60)[None], np.where(np.arange(60) % 2, 1, -1)))
    monkeypatch.setattr(memory, "SMALL", 0.0)
    monkeypatch.setenv(memory.VARIABLE, str(4 * 8 * 60**2))
    command, *options = asked
    message = refusal(command, "large.npz", *options)
    assert "solutions for 60 samples by solver auto need about 0.115 MB of memory, 0.104 MB are available" in message
    assert "use fewer samples; in Python, mklcvx.LowRank takes factors; MKLCVX_MEMORY=unlimited tries" in message
    assert not (tmp_path / "page.html").exists()


def test_broken_promise_of_our_own_is_no_unusable_input(run, problem, monkeypatch):
    def contradiction(*_, **__):
        raise mklcvx.errors.InternalError("the bounds contradict weak duality")

    monkeypatch.setattr(solving, "assemble", contradiction)
    code, out, err = run("solve", problem)
    assert (code, out) == (1, "")
    assert err == "mklcvx: a defect of mklcvx itself: the bounds contradict weak duality; please report it\n"


def test_impossible_output_is_refused_before_the_work(refusal, problem, monkeypatch, tmp_path):
    monkeypatch.setattr(options, "loaded", lambda *_, **__: pytest.fail("read before refusing"))
    assert "create it first" in refusal("solve", problem, "-o", tmp_path / "nowhere" / "answer.json")


def test_interrupted_solve_leaves_nothing(run, problem, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(solving, "assemble", interrupted)
    (tmp_path / "old.json").write_text("old", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    for name in ("old.json", "new.json"):
        code, out, err = run("solve", problem, "-o", tmp_path / name)
        assert (code, out, err) == (130, "", "mklcvx: interrupted\n")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "old.json").read_text(encoding="utf-8") == "old"


def test_failing_write_leaves_the_old_answer(refusal, problem, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "answer.json").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "replace", full)
    assert "answer.json: could not be written (No space left on device)" in refusal(
        "solve", problem, "-q", "-o", tmp_path / "answer.json"
    )
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answer.json", "problem.npz"]
    assert (tmp_path / "answer.json").read_text(encoding="utf-8") == "old"
