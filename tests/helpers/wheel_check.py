"""Build the wheel, install it into an empty environment, solve from outside the checkout: `make wheel-test`."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from places import ROOT

SOLVE = """
import numpy, mklcvx, sys
assert "site-packages" in mklcvx.formulations.__file__, mklcvx.formulations.__file__
from mklcvx import zoo
from mklcvx.io.files import save_instance
save_instance("problem.npz", zoo.by_hand())
solution = mklcvx.solve(zoo.by_hand(), "l1")
assert solution.certified and abs(solution.objective - 9 / 8) < 1e-8, solution
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run([str(installed(work)), "-c", SOLVE], work)
        run([str(work / "empty" / "bin" / "mklcvx"), "solve", "problem.npz", "-f", "ckl"], work)
    print("the wheel installs into an empty environment and solves")


def installed(work: Path, *extras: str) -> Path:
    """The Python of an empty environment in `work`, with the wheel in it."""
    run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(work), str(ROOT)], ROOT)
    (wheel,) = work.glob("mklcvx-*.whl")
    venv.create(work / "empty", with_pip=True)
    python = work / "empty" / "bin" / "python"
    wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    options = ["-q", "--no-compile", "-c", str(ROOT / "constraints.txt")]  # most of what is installed is never imported
    run([str(python), "-m", "pip", "install", *options, wanted], work)
    return python


def run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True)


if __name__ == "__main__":
    main()
