"""Commands in processes of their own."""

import json
import subprocess
import sys

IMPORTED = """
import contextlib, io, json, sys
from mklcvx.cli.main import main
heavy = ("cvxpy", "scipy", "sklearn", "h5py", "matplotlib")
found = []
for command in json.loads(sys.argv[1]):
    out, err, status = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8"), None
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(command)
    except SystemExit as ended:
        status = ended.code
    err.seek(0)
    found.append((status, err.read().splitlines(), [name for name in heavy if name in sys.modules]))
print(json.dumps(found))
"""


def imported(*commands):
    """Exit status and lines of standard error of commands that one process runs one after another, and what of the
    heavy packages is imported after each."""
    asked = json.dumps([list(map(str, command)) for command in commands])
    done = subprocess.run([sys.executable, "-c", IMPORTED, asked], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return [tuple(one) for one in json.loads(done.stdout)]
