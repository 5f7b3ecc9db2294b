"""Two hundred seams, and the faults that the test of seams must see."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

from mklcvx import save_solution, solve, zoo
from places import ROOT

sys.path.insert(0, str(ROOT / "validation" / "robustness"))

import seam_children
import seam_verdicts
import seams
from seam_children import OLD, Ended, Seam
from seam_conditions import CONDITIONS
from seam_verdicts import verdict
from seam_works import ONE, WORKS, Posed, Work, alike, solved

pytestmark = pytest.mark.slow
COMMAND = ROOT / "validation" / "robustness" / "seams.py"


def test_two_hundred_seams_end_in_their_answer_an_exception_or_a_status():
    words = [sys.executable, COMMAND, "--count", "200", "--problems", "24", "--seed", "3"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "**200 sequences: 0 faults.**" in done.stdout


def test_a_sequence_depends_on_its_number_alone_and_everything_is_drawn():
    drawn = [seams.drawn(0, number, seams.PROBLEMS) for number in range(3000)]
    assert all(seams.drawn(0, seam.number, seams.PROBLEMS) == seam for seam in drawn[::500])
    told = [seams.dimensions(seam) for seam in drawn]
    found = {name: {value for one in told for value in one[name]} for name in told[0]}
    assert found["work"] == {work.name for work in WORKS}
    assert found["storage"] == {storage for work in WORKS for storage in work.storages}
    assert found["condition"] == {"none"} | {one.name for one in CONDITIONS}
    assert found["interrupt"] == {*seams.IN_PYTHON, *seams.BY_COMMAND, *seams.ITSELF}
    assert found["threads"] == {"1", "2", "4", "8"}
    assert len(found["place"]) == 3


# ---------------------------------------------------------------------------------------------------- in a real process
@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    Posed(ONE[0], "npz", 0, folder).write()
    return folder


def swallows(posed):
    try:
        for _ in range(10**6):
            np.zeros(1)
    except KeyboardInterrupt:
        pass
    return solved(posed)


def filters(posed):
    warnings.simplefilter("ignore")
    return solved(posed)


def opens(posed):
    os.open(os.devnull, os.O_RDONLY)
    return solved(posed)


def listens(posed):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return solved(posed)


def prints(posed):
    os.write(1, b"iteration 1")
    return solved(posed)


def waits(posed):
    time.sleep(30)


def dies(posed):
    os.kill(os.getpid(), signal.SIGKILL)


def raises(posed):
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("run", "interrupt", "fault"),
    [
        (solved, "none", ""),
        (swallows, "after calls", "an interrupt was swallowed"),
        (filters, "none", "changed: warning filters"),
        (opens, "none", "changed: descriptors"),
        (listens, "none", "changed: signal handlers"),
        (prints, "none", "it printed 'iteration 1'"),
        (waits, "none", "it hangs"),
        (dies, "none", "died with status -9"),
        (raises, "none", "raised ZeroDivisionError"),
    ],
)
def test_what_work_may_not_do_is_seen(inputs, monkeypatch, run, interrupt, fault):
    monkeypatch.setattr(seam_children, "PATIENCE", 5.0 if run is waits else 60.0)
    right = seam_children.run(Seam(-1, "python", Work("", ("dense",), ONE, solved), 0, "dense", 0), inputs)
    seam = Seam(0, "python", Work("", ("dense",), ONE, run), 0, "dense", 0, interrupt=interrupt, share=0.5)
    ended = seam_children.run(seam, inputs, calls=100)
    check(verdict(seam, ended, right, right), "reference", fault)


def test_an_interrupt_comes_at_the_same_call_again(inputs):
    seam = Seam(0, "python", Work("", ("dense",), ONE, swallows), 0, "dense", 0, interrupt="after calls", share=0.5)
    calls = {seam_children.run(seam, inputs, calls=1000).calls for _ in range(3)}
    assert len(calls) == 1


# ------------------------------------------------------------------------------------------------------ by its ending
def python_seam(**changes):
    work = next(work for work in WORKS if work.name == "solve")
    given = {"storage": "dense", "size": 0, "interrupt": "after calls", "share": 0.9, **changes}
    return Seam(0, "python", work, 0, **given)


def command_seam(name, **changes):
    work = next(work for work in WORKS if work.name == name)
    return Seam(0, "command", work, 0, "npz", 0, **changes)


def of(*names):
    return tuple(one for one in CONDITIONS if one.name in names)


def check(found, end, fault):
    assert found[1].startswith(fault)
    assert found[0] == ("fault" if fault else end)
    assert bool(found[1]) is bool(fault)


def record(**changes):
    given = {"lower": 1.0, "upper": 1.0, "relative_gap": 0.0, "status": "certified", "message": "", **changes}
    bounds = {name: given.pop(name) for name in ("lower", "upper", "relative_gap")}
    return {"parameters": {"C": 1.0}, "alpha": [1.0], "tolerance": 1e-8, "certificate": bounds, **given}


RIGHT = Ended(0, answers=[record()])
HELD = {"status": "not_certified", "relative_gap": 0.1, "message": "it was interrupted", "lower": 0.9}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"carried": [record(**HELD)]}, ""),
        ({"carried": None}, "the interrupt carries no solution"),
        ({"carried": [record(**HELD)], "is_half_fitted": True}, "fitted after KeyboardInterrupt"),
        ({"carried": [record(**{**HELD, "upper": 0.95})]}, "bounds 0.9 and 0.95 exclude the optimum"),
        ({"carried": [record(**{**HELD, "status": "certified"})]}, "called certified, and is not"),
        ({"carried": [record(**{**HELD, "message": ""})]}, "nothing says why"),
        ({"carried": [{**record(**HELD), "zero": True}]}, "a zero function that is not called one"),
        ({"carried": [record(**HELD)], "again": [record(lower=2.0)]}, "done again afterwards"),
        ({"carried": [record(**HELD)], "changes": ["errstate"]}, "changed: errstate"),
        ({"carried": [record(**HELD)], "changes": ["errstate"], "in_errstate": True}, ""),
        ({"carried": [record(**HELD)], "changes": ["umask", "errstate"], "in_errstate": True}, "changed: umask"),
    ],
)
def test_what_an_interrupt_in_python_owes(changes, fault):
    ended = Ended(0, **{"fault": "KeyboardInterrupt", "inside": True, "fired": True, **changes})
    check(verdict(python_seam(), ended, RIGHT, RIGHT), "exception", fault)


@pytest.mark.parametrize(
    ("seam", "ended", "end", "fault"),
    [
        ({}, {"answers": [record()], "fired": True}, "", "an interrupt was swallowed"),
        ({}, {"answers": [record(upper=2.0)], "fired": True}, "", "an interrupt was swallowed, and the answer is"),
        ({"threads": 2}, {"answers": [record(), record(upper=2.0)]}, "", "another answer"),
        ({"threads": 2}, {"answers": [record(), {"raised": "ValueError"}]}, "", "a thread raised ValueError"),
        (
            {"threads": 2, "conditions": of("no new threads")},
            {"fault": "InputError", "message": "no", "answers": [{"raised": "InputError: no"}]},
            "exception",
            "",
        ),
        ({"interrupt": "none"}, {"fault": "KeyboardInterrupt"}, "", "interrupted by nobody"),
        ({}, {"fault": "InputError", "message": "too much"}, "", "refused without need"),
        ({"conditions": of("few descriptors")}, {"fault": "InputError", "message": "too much"}, "exception", ""),
        ({"conditions": of("few descriptors")}, {"fault": "InputError", "message": "a\nb"}, "", "raised InputError"),
        ({"conditions": of("few descriptors")}, {"fault": "InternalError", "message": "?"}, "", "raised InternalError"),
        ({}, {"answers": [record()], "err": "Traceback"}, "", "it said"),
        ({"storage": "dask"}, {"answers": [record()], "err": "Traceback"}, "reference", ""),
    ],
)
def test_what_other_ends_in_python_owe(seam, ended, end, fault):
    check(verdict(python_seam(**seam), Ended(0, **ended), RIGHT, RIGHT), end, fault)


PRINTED = Ended(0, out=json.dumps(record()))


@pytest.mark.parametrize(
    ("seam", "ended", "end", "fault"),
    [
        ({}, PRINTED, "reference", ""),
        ({}, Ended(None), "", "it hangs"),
        ({}, Ended(0, out=PRINTED.out[:99]), "", "status 0, and the output is not the answer"),
        ({"conditions": of("stdout full")}, Ended(0), "", "status 0, and the output is not the answer"),
        ({"conditions": of("stdout full")}, Ended(2, err="mklcvx: it is full\n"), "status", ""),
        ({"conditions": of("stdout full")}, Ended(2), "", "status 2, and nothing says why"),
        ({"conditions": of("stdout full", "stderr full")}, Ended(2), "status", ""),
        ({"conditions": of("stdout full")}, Ended(2, err="mklcvx: a\nmklcvx: b\n"), "", "a refusal of 2 lines"),
        ({"conditions": of("stdout full")}, Ended(1, err="mklcvx: a defect of mklcvx\n"), "", "called a defect"),
        ({"conditions": of("stdout's reader gone")}, Ended(141), "status", ""),
        ({}, Ended(2, err="mklcvx: no\n"), "", "status 2 without need"),
        ({}, Ended(130, err="mklcvx: interrupted\n"), "", "interrupted by nobody"),
        ({"interrupt": "twice"}, Ended(130, err="mklcvx: interrupted\n"), "status", ""),
        ({"interrupt": "twice"}, Ended(130, err="Traceback\nKeyboardInterrupt\n"), "", "a traceback"),
        ({"interrupt": "twice"}, replace(PRINTED, fired=True), "", "an interrupt was swallowed"),
        ({}, replace(PRINTED, files={"core": b""}), "", "left behind: core"),
    ],
)
def test_what_a_command_owes(seam, ended, end, fault):
    check(verdict(command_seam("solve --json", **seam), ended, PRINTED, PRINTED), end, fault)


@pytest.mark.parametrize(
    ("storage", "is_of_root", "fault"),
    [("mat", True, ""), ("mat", False, "status 2 without need"), ("npz", True, "status 2 without need")],
)
def test_nobody_may_not_begin_an_interpreter_of_root(monkeypatch, storage, is_of_root, fault):
    monkeypatch.setattr(seam_verdicts, "is_of_root", lambda: is_of_root)
    seam = replace(command_seam("solve --json", conditions=of("read-only folder")), storage=storage)
    check(verdict(seam, Ended(2, err="mklcvx: no\n"), PRINTED, PRINTED), "status", fault)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The bytes of a solution's file, and of one that was stopped early."""
    folder, instance = tmp_path_factory.mktemp("written"), zoo.by_hand()
    for name, limit in (("whole", None), ("early", 1)):
        save_solution(folder / f"{name}.json", solve(instance, "l1", solver="simplemkl", tol=1e-8, max_iter=limit))
    return {name: (folder / f"{name}.json").read_bytes() for name in ("whole", "early")}


@pytest.mark.parametrize(
    ("status", "said", "file", "fault"),
    [
        (0, "", "whole", ""),
        (0, "", None, "status 0, and nothing was written"),
        (0, "", "early", "status 0, and another answer was written"),
        (0, "", "half", "the output is damaged"),
        (130, "mklcvx: interrupted; nothing was written\n", None, ""),
        (130, "mklcvx: interrupted; nothing was written\n", "whole", "something was written, and it says"),
        (130, "mklcvx: interrupted; the best point was written\n", "early", ""),
        (130, "mklcvx: interrupted; the best point was written\n", "half", "the output is damaged"),
    ],
)
@pytest.mark.parametrize("old", [False, True])
def test_what_a_file_is_after_a_command(written, status, said, file, fault, old):
    content = {"half": written["whole"][:-40], None: OLD if old else None, **written}[file]
    whole = Ended(0, files={"answer.json": written["whole"]})
    ended = Ended(status, err=said, files={} if content is None else {"answer.json": content})
    seam = command_seam("solve -o .json", interrupt="none" if status == 0 else "twice", old=old)
    check(verdict(seam, ended, whole, whole), "status" if status else "reference", fault)


def test_answers_are_compared_but_for_rounding_and_time():
    assert alike({"a": [1.0, "x"], "seconds": 1.0}, {"a": [1.0 + 1e-9, "x"], "seconds": 2.0})
    assert not alike({"a": 1.0}, {"a": 1.001})
    assert not alike({"a": 1}, {"b": 1})
    assert not alike([1], [1, 2])
