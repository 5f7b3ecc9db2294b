"""What the checker says is read, or its status is not zero."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from mklcvx import save_instance, save_solution, solve, zoo

COMMAND = f"{sys.executable} -m mklcvx.checker problem.npz answer.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("checker")
    save_instance(place / "problem.npz", zoo.by_hand())
    save_solution(place / "answer.json", solve(zoo.by_hand(), "l1"))
    return place


def checked(folder, ending, most=resource.RLIM_INFINITY, **environment):
    """Exit status and standard error of the checker behind a shell's redirection; files may have so many bytes."""
    done = subprocess.run(
        ["bash", "-c", f"{COMMAND} {ending}"], cwd=folder, env={**os.environ, **environment}, capture_output=True,
        text=True, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("ending", "most", "status"),
    [
        ("> said", 10_000, 0),
        ("> said", 100, 2),
        ("> /dev/full", 10_000, 2),
        (">&-", 10_000, 2),
    ],
)
def test_a_verdict_that_is_lost_is_none(folder, unbuffered, ending, most, status):
    assert checked(folder, ending, most, PYTHONUNBUFFERED=unbuffered) == (status, "")


def test_names_that_the_encoding_lacks_are_no_fault(folder):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert checked(folder, "> said", PYTHONIOENCODING="ascii", **ascii_only) == (0, "")
