"""A little of the solves in threads, and the faults that they must see."""

import os
import subprocess
import sys
import warnings

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "validation" / "robustness"))

import threads
from threads import Task, ran, tasks

pytestmark = pytest.mark.slow


def test_solves_in_threads_are_those_of_one_thread_and_leave_nothing_behind(tmp_path):
    words = [sys.executable, threads.__file__, "--count", "40", "--sizes", "1", "-o", tmp_path / "page.md"]
    done = subprocess.run(words, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stdout.decode()
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "**40 solves in 8 threads: 0 differ from those of one thread.\nOf the process changed: nothing.**" in page


def test_every_solver_and_storage_is_drawn(tmp_path):
    words = [task.words for task in tasks(tmp_path, 1)]
    found = [{one[k] for one in words} for k in range(3)]
    assert found[0] >= {"auto", "clarabel", "scs", "interior", "simplemkl", "silp", "level", "fit"}
    assert found[1:] == [set(threads.STACKS), set(threads.SHARING)]


def wrong_after_the_first(wrong):
    """Work that is right when it is done alone, and does something wrong in threads."""
    calls = iter(range(100))
    return lambda: "same" if next(calls) == 0 else wrong()


def silences():
    warnings.simplefilter("ignore")
    return "same"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: "same", "20 solves in 2 threads: 0 differ"),
        (lambda: "another", "20 differ from those of one thread"),
        (lambda: 1 // 0, "a, b, c: ZeroDivisionError"),
        (silences, "Of the process changed: warning filters."),
    ],
    ids=["fine", "another answer", "an exception", "a filter"],
)
def test_what_is_wrong_is_seen(wrong, words):
    work = wrong_after_the_first(wrong)
    with warnings.catch_warnings():
        text, is_wrong = ran([Task(("a", "b", "c"), work)], [0] * 20, 2)
    assert words in text
    assert is_wrong is (words != "20 solves in 2 threads: 0 differ")
