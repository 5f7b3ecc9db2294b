"""Standard output and error that are closed, full, or no longer read: the exit status stays true."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def shell(words, ending, problem):
    """Status of a command behind a shell's redirection, and what it says on standard error."""
    command = f"{sys.executable} -m mklcvx {words} {ending}; echo status ${{PIPESTATUS[0]}} >&3"
    done = subprocess.run(
        ["bash", "-c", f"exec 3>&1; {command.replace('@', str(problem))}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return int(done.stdout.rsplit("status ", 1)[1]), done.stderr


LOST = "mklcvx: standard output could not be written ({}): choose another place\n"


@pytest.mark.parametrize(
    ("words", "ending", "status", "said"),
    [
        ("list", "> /dev/full", 2, LOST.format("No space left on device")),
        ("list", ">&-", 2, LOST.format("it is closed")),
        ("path @ --grid C=1,2,3 -q", "| true", 141, ""),
        ("solve @ -q -o @.json", ">&-", 0, ""),
        ("solve nowhere.npz", "2> /dev/full", 2, ""),
        ("solve nowhere.npz", ">&- 2>&- <&-", 2, ""),
    ],
)
def test_the_status_stays_true(problem, words, ending, status, said):
    assert shell(words, ending, problem) == (status, said)
