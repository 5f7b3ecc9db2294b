"""Commands in processes of their own."""

from __future__ import annotations

import subprocess
import sys

IMPORTED = """
import atexit, sys
heavy = ("cvxpy", "scipy", "sklearn", "h5py", "matplotlib")
atexit.register(lambda: print("imported:", [name for name in heavy if name in sys.modules], file=sys.stderr))
from mklcvx.cli.main import main
main(sys.argv[1:])
"""


def imported(*arguments):
    """Exit status and standard error of a command, the last line of which says what it imported."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in done.stderr
    *said, last = done.stderr.splitlines()
    return done.returncode, said, last
