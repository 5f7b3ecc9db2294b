"""Standard output and error that are closed, full, or no longer read: the exit status stays true."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def shell(words, ending, problem, before="", **environment):
    """Status of a command behind a shell's redirection, and what it says on standard error."""
    command = f"{sys.executable} -m mklcvx {words} {ending}; echo status ${{PIPESTATUS[0]}} >&3"
    done = subprocess.run(
        ["bash", "-c", f"exec 3>&1; {before}{command.replace('@', str(problem))}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
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


@pytest.mark.parametrize("command", ["list", "list --json", "explain l1", "solve @ --json", "path @ --grid C=1"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_a_full_disk_does_not_take_is_noticed_without_a_buffer_too(problem, command, unbuffered):
    said = LOST.format("No space left on device")
    assert shell(command, "> /dev/full", problem, PYTHONUNBUFFERED=unbuffered) == (2, said)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_half_of_an_output_is_none(problem, tmp_path, unbuffered):
    """The limit lets a part of it through, of which the system says how much it was."""
    file = tmp_path / "list.json"
    done = shell("list --json", f"> {file}", problem, PYTHONUNBUFFERED=unbuffered)
    assert done == (0, "")
    half = file.stat().st_size // 2048
    assert half > 2
    done = shell("list --json", f"> {file}", problem, f"ulimit -f {half}; ", PYTHONUNBUFFERED=unbuffered)
    assert done == (2, LOST.format("File too large"))
